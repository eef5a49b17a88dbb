//! Places: where reading can be resumed, described by a few numbers.
//!
//! Between two items of an array, and between two children of a sequence, a decoder remembers all it remembered between the
//! two before, but for one number: how many items there were, or which child comes next. So a place is that number and the
//! *base* it belongs to, a checkpoint taken at the first such place that was wanted; places with the same base are a *group*.
//!
//! ```text
//! <rows> | <row> … </row> | <row> <x>1</x> | <y>2</y> | <z>3</z> | </row> | <row> …
//!        └ group 0: rows, 0 so far         └ group 1: of the second row, child 1
//!                         └ group 0, 1     │          └ group 1, child 2
//! ```
//!
//! Places are noted while reading goes on, in the midst of an array's loop: one compare an item, sixteen bytes a place.
//!
//! The bases of all orders of a catalogue differ in the numbers of loops alone, so they share one *shape*, a complete state,
//! and a base is those numbers, stored as what differs from the base before ([`Bases`]). And a place may wait: rather than a new group, one that goes on is preferred, if it comes
//! round before the place behind is due.

use bsoap_xml::State;

use super::sink::Sink;
use crate::plan::{Plan, Term};
use crate::record::Record;

use super::checkpoint::{Checkpoint, Loop, same_frame};
use super::frame::{Frame, GroupFrame, Machine};
use super::shortened::{Base, Bases, NONE, Numbers};
use super::trace::Site;

/// A place of a message between two tags, without its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The group it belongs to.
    pub group: u32,
    /// Which place of the group it is: how many items there were, or which child comes next. 0 if the group has only this place.
    pub at: u32,
}

/// A place, and where it is in the text and in the Record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocatedPlace {
    /// The number of bytes read.
    pub offset: u32,
    /// The number of slots written.
    pub slots: u32,
    /// The place.
    pub place: Place,
}

/// A state as far as groups share it: all but the numbers of loops, and the number of a place.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) checkpoint: Checkpoint,
    pub(super) varies: Varies,
}

/// A group whose base holds still.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// How many levels are open at its base.
    pub(super) levels: usize,
    pub(super) group: u32,
    shape: u32,
    /// The numbers of its innermost loop.
    innermost: Option<Numbers>,
}

/// How many of the last shapes are looked at before there is another.
const SHAPES: usize = 64;

/// How many groups may be open, one in another: those around a place are found again one by one when reading is taken up there.
/// What is deeper has no places of its own.
const NESTED: usize = 64;

/// What of the innermost level is the number of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Varies {
    /// How often it has come round.
    Count,
    /// Which child comes next.
    Child,
    /// Nothing: the group is one place.
    Nothing,
}

/// Notes a place at regular distances in the text, at the next one that belongs to a group.
#[derive(Clone, Debug)]
pub struct Places {
    every: u64,
    due: u64,
    shapes: Vec<Shape>,
    /// The state that the places of a group share, by group.
    bases: Bases,
    /// The groups whose base holds still, outermost first.
    pub(super) open: Vec<Open>,
    found: Vec<LocatedPlace>,
}

/// Where a decoder is, while its own numbers are behind.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// Levels of the stack that are open there, at most as many as the machine has.
    pub(super) levels: usize,
    pub(super) offset: u64,
    pub(super) at: u32,
}

impl Places {
    /// The number of bytes from one place to the next.
    pub fn new(every: usize) -> Self {
        Self {
            every: every.max(1) as u64,
            due: 0,
            shapes: Vec::new(),
            bases: Bases::default(),
            open: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Forgets all groups and places.
    pub fn clear(&mut self) {
        self.due = 0;
        self.shapes.clear();
        self.bases.clear();
        self.open.clear();
        self.found.clear();
    }

    /// The next place is wanted that many bytes behind this one.
    pub fn start(&mut self, offset: u64) {
        self.due = offset.saturating_add(self.every);
    }

    /// The places noted since the last time.
    pub fn drain(&mut self) -> impl Iterator<Item = LocatedPlace> {
        self.found.drain(..)
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.bases.len()
    }

    /// About how many bytes the bases hold.
    pub fn memory(&self) -> usize {
        let spare = (self.shapes.capacity() - self.shapes.len()) * size_of::<Shape>();
        let own = |shape: &Shape| {
            shape.checkpoint.memory() + size_of::<Shape>() - size_of::<Checkpoint>()
        };
        self.bases.memory() + spare + self.shapes.iter().map(own).sum::<usize>()
    }

    /// Gives back memory that was reserved for more than came.
    pub fn fit(&mut self) {
        self.shapes.shrink_to_fit();
        self.bases.fit();
        self.found = Vec::new();
    }

    /// From where on a place is wanted.
    #[inline(always)]
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// A place of a group, if there is one, where that many slots have been written.
    pub(super) fn note_item(&mut self, group: Option<u32>, slots: usize, here: Here) {
        let Some(group) = group else {
            return;
        };
        self.start(here.offset);
        self.found.push(LocatedPlace {
            offset: here.offset as u32,
            slots: slots as u32,
            place: Place { group, at: here.at },
        });
    }

    /// Notes where the decoder is, if that is a place that belongs to a group.
    pub(super) fn note(
        &mut self,
        plan: &Plan,
        reader: &State,
        machine: &mut Machine,
        record: &Record,
        offset: u64,
    ) {
        let Some(Frame::Group(top)) = machine.frames.last() else {
            return;
        };
        // White space behind the tag would be part of the state.
        if machine.tag_end != offset {
            return;
        }
        let at = match varies(plan, top) {
            Some(Varies::Count) => top.count,
            Some(Varies::Child) => top.at,
            _ => return,
        };
        let here = Here {
            levels: machine.frames.len(),
            offset,
            at,
        };
        let written = (record.slots.len(), record.heap.len());
        let group = self.group(plan, reader, machine, written, here);
        self.note_item(group, written.0, here);
    }

    /// The group of a place where these numbers of slots and of bytes of strings have been written; it is a new one if there is none yet.
    #[cold]
    #[inline(never)]
    pub(super) fn group(
        &mut self,
        plan: &Plan,
        reader: &State,
        machine: &mut Machine,
        written: (usize, usize),
        here: Here,
    ) -> Option<u32> {
        let Some(Frame::Group(top)) = machine.frames[..here.levels].last().copied() else {
            return None;
        };
        let varies = varies(plan, &top)?;
        self.prune(machine, here.levels);
        if let Some(open) = self.open.last()
            && open.levels == here.levels
            && self.is_of(plan, open, &top)
        {
            return Some(open.group);
        }
        // One that is open, or a loop's, may come by in time.
        let may_wait = !self.open.is_empty() || varies == Varies::Child;
        if may_wait && here.offset < self.due.saturating_add(self.every) {
            return None;
        }
        if self.open.len() >= NESTED {
            return None;
        }
        let mut checkpoint = Checkpoint::new(reader, machine, written);
        let Checkpoint {
            reader, machine, ..
        } = &mut checkpoint;
        machine.cut_to(reader, plan, here.levels, here.offset);
        let group = self.push(plan, checkpoint, varies);
        let base = self.base(group)?;
        self.open.push(Open {
            levels: here.levels,
            group,
            shape: base.shape,
            innermost: base.loops.last().copied(),
        });
        Some(group)
    }

    /// A new group inside of the innermost that is open.
    pub(super) fn push(&mut self, plan: &Plan, mut checkpoint: Checkpoint, varies: Varies) -> u32 {
        varies.set(&mut checkpoint, 0);
        let loops = checkpoint.loops(plan);
        let from = self.shapes.len().saturating_sub(SHAPES);
        let known = self.shapes[from..].iter().position(|shape| {
            let is_group = varies != Varies::Nothing && shape.varies == varies;
            is_group && shape.checkpoint.is_shaped_like(&checkpoint, plan)
        });
        let shape = known.map_or(self.shapes.len(), |known| from + known);
        if known.is_none() {
            self.shapes.push(Shape { checkpoint, varies });
        }
        let outer = self.open.last().map_or(NONE, |open| open.group);
        self.push_base(shape as u32, outer, &loops)
    }

    fn push_base(&mut self, shape: u32, outer: u32, loops: &[Loop]) -> u32 {
        let loops = loops.iter().map(|it| (it.slot, it.count)).collect();
        self.bases.push(Base {
            shape,
            outer,
            loops,
        })
    }

    pub(super) fn base(&self, group: u32) -> Option<Base> {
        self.bases.of(group)
    }

    pub(super) fn shape(&self, group: u32) -> Option<&Shape> {
        let (shape, _) = self.bases.head(group)?;
        self.shapes.get(shape as usize)
    }

    /// Takes over the numbers of a group's loops.
    pub(super) fn renumber(&self, group: u32) -> impl FnMut(&mut Loop) + use<> {
        let base = self.base(group);
        let mut numbers = base.map(|base| base.loops).unwrap_or_default().into_iter();
        move |it| {
            if let Some((slot, count)) = numbers.next() {
                (it.slot, it.count) = (slot, count);
            }
        }
    }

    /// The whole state at a place of a group.
    pub(super) fn checkpoint(&self, plan: &Plan, group: u32, at: u32) -> Option<Checkpoint> {
        let shape = self.shape(group)?;
        let mut checkpoint = shape.checkpoint.clone();
        checkpoint.machine.renumber(plan, self.renumber(group));
        shape.varies.set(&mut checkpoint, at);
        Some(checkpoint)
    }

    /// Forgets the groups that are over, or have changed below.
    pub(super) fn prune(&mut self, machine: &mut Machine, levels: usize) {
        self.shut(machine, levels);
        machine.frames.watch();
    }

    /// The same, while it stays known which levels have changed.
    pub(super) fn shut(&mut self, machine: &Machine, levels: usize) {
        let same = machine.frames.same();
        while let Some(open) = self.open.last()
            && (open.levels > levels || open.levels > same + 1)
        {
            self.open.pop();
        }
    }

    /// Whether the innermost level is that of a group's base, but for what varies.
    pub(super) fn is_of(&self, plan: &Plan, open: &Open, top: &GroupFrame) -> bool {
        let Some(shape) = self.shapes.get(open.shape as usize) else {
            return false;
        };
        let Some(Frame::Group(own)) = shape.checkpoint.machine.frames.last() else {
            return false;
        };
        let mut own = *own;
        if plan.particle(own.particle).repeats()
            && let Some((marker, count)) = open.innermost
        {
            (own.marker, own.count) = (marker, count);
        }
        match shape.varies {
            Varies::Count => own.count = top.count,
            Varies::Child => own.at = top.at,
            Varies::Nothing => return false,
        }
        own == *top
    }

    /// The groups open at a base: itself and those around it.
    pub(super) fn reopen(&mut self, group: u32) {
        self.open.clear();
        let mut group = group;
        while let Some(base) = self.base(group)
            && let Some(shape) = self.shapes.get(base.shape as usize)
        {
            if shape.varies != Varies::Nothing {
                self.open.push(Open {
                    levels: shape.checkpoint.machine.frames.len(),
                    group,
                    shape: base.shape,
                    innermost: base.loops.last().copied(),
                });
            }
            if base.outer >= group {
                break;
            }
            group = base.outer;
        }
        self.open.reverse();
    }

    /// The loops around a place, outermost first.
    pub fn loops(&self, place: Place, plan: &Plan) -> Vec<Loop> {
        let Some(shape) = self.shape(place.group) else {
            return Vec::new();
        };
        let machine = &shape.checkpoint.machine;
        let mut loops = machine.loops(plan);
        loops.iter_mut().for_each(self.renumber(place.group));
        if let (Varies::Count, Some(Frame::Group(top))) = (shape.varies, machine.frames.last())
            && plan.particle(top.particle).repeats()
            && let Some(innermost) = loops.last_mut()
        {
            innermost.count = place.at;
        }
        loops
    }

    /// How many levels are open at a place.
    pub fn depth(&self, place: Place) -> usize {
        self.shape(place.group)
            .map_or(0, |shape| shape.checkpoint.depth())
    }

    /// The group around a group's base.
    pub fn around(&self, group: u32) -> Option<u32> {
        let (_, outer) = self.bases.head(group)?;
        // A group is newer than those around it.
        (outer < group).then_some(outer)
    }

    /// The same places of a group whose base has its loops changed, which is a new group inside of `outer`: reading goes on
    /// there where its own level ends, so that must have its loops changed as well.
    pub fn carry(
        &mut self,
        group: u32,
        outer: Option<u32>,
        plan: &Plan,
        change: impl FnMut(&mut Loop),
    ) -> u32 {
        let Some((shape_of, _)) = self.bases.head(group) else {
            return group;
        };
        let Some(shape) = self.shapes.get(shape_of as usize) else {
            return group;
        };
        let mut loops = shape.checkpoint.loops(plan);
        loops.iter_mut().for_each(self.renumber(group));
        loops.iter_mut().for_each(change);
        self.push_base(shape_of, outer.unwrap_or(NONE), &loops)
    }

    /// Whether the number of a group's places is that of its innermost loop.
    pub fn counts(&self, group: u32) -> bool {
        let shape = self.shape(group);
        shape.is_some_and(|shape| shape.varies == Varies::Count)
    }

    /// Keeps only the groups wanted, and says for each what its number is now.
    pub fn keep(&mut self, wanted: &[bool]) -> Vec<u32> {
        self.open.clear();
        let mut names = vec![NONE; self.bases.len()];
        let mut shapes = vec![NONE; self.shapes.len()];
        let mut kept = Self::new(self.every as usize);
        kept.due = self.due;
        let old = &*self;
        for group in (0..names.len()).filter(|&group| wanted.get(group) == Some(&true)) {
            let Some(base) = old.base(group as u32) else {
                continue;
            };
            let number = &mut shapes[base.shape as usize];
            if *number == NONE {
                *number = kept.shapes.len() as u32;
                kept.shapes.push(old.shapes[base.shape as usize].clone());
            }
            let outer = names.get(base.outer as usize);
            names[group] = kept.bases.push(Base {
                shape: *number,
                outer: outer.copied().unwrap_or(NONE),
                loops: base.loops,
            });
        }
        *self = kept;
        names
    }
}

impl Varies {
    /// Sets what varies of a state.
    fn set(self, checkpoint: &mut Checkpoint, at: u32) {
        if let Some(Frame::Group(top)) = checkpoint.machine.frames.last_mut() {
            match self {
                Self::Count => top.count = at,
                Self::Child => top.at = at,
                Self::Nothing => {}
            }
        }
    }
}

/// What of a group varies from one of its places to the next.
fn varies(plan: &Plan, top: &GroupFrame) -> Option<Varies> {
    match plan.particle(top.particle).term {
        _ if top.silent => None,
        Term::All(_) => None,
        Term::Sequence(_) => Some(Varies::Child),
        _ => Some(Varies::Count),
    }
}

impl Checkpoint {
    /// Whether it is the same but for the numbers of loops, and where it is.
    fn is_shaped_like(&self, other: &Self, plan: &Plan) -> bool {
        let (a, b) = (&self.machine, &other.machine);
        a.frames.len() == b.frames.len()
            && a.frames
                .iter()
                .zip(b.frames.iter())
                // What differs is most often the innermost.
                .rev()
                .all(|(a, b)| same_frame(a, b, plan))
            && a.seen == b.seen
            && a.agrees_but_for_frames(b)
            && self.reader.is_like(&other.reader)
    }

    /// How many levels are open: elements, and groups in them.
    pub fn depth(&self) -> usize {
        self.machine.frames.len()
    }
}

impl Sink for &mut Places {
    const LISTENS: bool = false;
    const NOTES: bool = true;

    #[inline(always)]
    fn found(&mut self, _: usize, _: u64, _: Site) {}

    #[inline(always)]
    fn places(&mut self) -> Option<&mut Places> {
        Some(self)
    }
}

/// Where reading is to stop, if it comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// At the first place between two tags at which that many slots have been written,
    pub slots: usize,
    /// and no more levels than these are open.
    pub depth: usize,
}

impl Until {
    /// Not before the end.
    pub const END: Self = Self {
        slots: usize::MAX,
        depth: 0,
    };
}
