//! Places: where reading can be resumed, described by a few numbers.
//!
//! The states of a decoder between any two items of an array, or between any two children of a sequence, differ in one
//! number: how many items there were, or which child comes next. So a place is that number and a *base*, a checkpoint taken
//! at the first such place that was needed. Places with the same base are a *group*.
//!
//! ```text
//! <rows> | <row> … </row> | <row> <x>1</x> | <y>2</y> | <z>3</z> | </row> | <row> …
//!        └ group 0: rows, 0 so far         └ group 1: of the second row, child 1
//!                         └ group 0, 1     │          └ group 1, child 2
//! ```
//!
//! Places are noted during decoding, also inside the loop over an array: this costs a comparison for each item, and 16
//! bytes for each place.
//!
//! The bases of equal structures, such as all orders in a list, differ only in the counts of their loops. They share one
//! *shape*, a complete state; a base consists of these counts, stored as the difference from the base before ([`Bases`]). A
//! new group costs more than another place of an open group, so noting a place waits for an open group, at most until the
//! place after it is due.

use bsoap_xml::State;

use crate::plan::{Plan, Term};
use crate::record::Record;

use super::checkpoint::{Checkpoint, Loop, same_frame};
use super::frame::{Frame, GroupFrame, Machine};
use super::shortened::{Base, Bases, NONE, Numbers};

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

/// The state that several groups share: all but the counts of loops and the number of the place.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) checkpoint: Checkpoint,
    pub(super) varies: Varies,
}

/// A group that new places may still belong to: nothing below its innermost level has changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// How many levels are open at its base.
    pub(super) levels: usize,
    pub(super) group: u32,
    shape: u32,
    /// The slot and the count of its innermost loop.
    innermost: Option<Numbers>,
}

/// The number of the latest shapes that are compared before a new one is made.
const SHAPES: usize = 64;

/// The largest number of open groups, one inside the other, since resuming at a place looks up all groups around it. Deeper
/// structures have no places of their own.
const NESTED: usize = 64;

/// Which number of the innermost level tells the places of a group apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Varies {
    /// The number of its occurrences.
    Count,
    /// The child that comes next.
    Child,
    /// None: the group has only one place.
    Nothing,
}

/// Notes places at regular distances in the text, each where the next place of a group is.
#[derive(Clone, Debug)]
pub struct Places {
    every: u64,
    due: u64,
    shapes: Vec<Shape>,
    /// The state that the places of a group share, by group.
    bases: Bases,
    /// The open groups, outermost first.
    pub(super) open: Vec<Open>,
    found: Vec<LocatedPlace>,
}

/// Where decoding is. It is passed separately because the loop over an array does not update the decoder's state.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// The number of open levels there; at most the number of frames in the `Machine`.
    pub(super) levels: usize,
    pub(super) offset: u64,
    pub(super) at: u32,
}

impl Places {
    /// For a place about every `every` bytes.
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

    /// Counts the distance to the next place from this offset.
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

    /// The offset from which on a place is wanted.
    #[inline(always)]
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// Adds a place of a group where `slots` slots have been written; nothing if there is no group.
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

    /// Adds the place where the decoder is, if it belongs to a group.
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
        // White space behind the tag would be part of the state: there is no place then.
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

    /// The group of the place `here`, where the Record has `written` slots and bytes of strings. A new group is made if
    /// none is open there; `None` if it is better to wait for an open group, or no place is possible.
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
        // A place of an open group, or between two items, may follow soon enough.
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

    /// Adds a group inside the innermost open group, and returns its number.
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

    /// A function that gives the loops of a state the slots and counts of this group.
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

    /// Closes the groups that have ended, or whose outer levels have changed.
    pub(super) fn prune(&mut self, machine: &mut Machine, levels: usize) {
        self.shut(machine, levels);
        machine.frames.watch();
    }

    /// As [`prune`](Self::prune), but the stack goes on tracking changes from where it did before.
    pub(super) fn shut(&mut self, machine: &Machine, levels: usize) {
        let same = machine.frames.same();
        while let Some(open) = self.open.last()
            && (open.levels > levels || open.levels > same + 1)
        {
            self.open.pop();
        }
    }

    /// Whether the innermost level is that of an open group, apart from the number that varies.
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

    /// Opens a group and the groups around it, and closes all others.
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

    /// The group around a group; `None` if it is the outermost.
    pub fn around(&self, group: u32) -> Option<u32> {
        let (_, outer) = self.bases.head(group)?;
        // A group has a higher number than those around it.
        (outer < group).then_some(outer)
    }

    /// Makes a new group with the places of `group` after its loops have changed, and returns its number. `outer` is the
    /// group around it, changed likewise, in which decoding continues when the level of the group ends.
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

    /// Whether the places of a group are told apart by the count of their innermost loop (and not by the child that comes
    /// next).
    pub fn counts(&self, group: u32) -> bool {
        let shape = self.shape(group);
        shape.is_some_and(|shape| shape.varies == Varies::Count)
    }

    /// Removes the groups that are not wanted. Returns the new number of each old group.
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
    /// Sets the number that varies in a state.
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

/// Whether the places between two items at this level differ in the number of items. In a sequence that repeats they differ
/// in the child that comes next, and those of another item are of another group.
pub(super) fn counts_items(plan: &Plan, machine: &Machine, levels: usize) -> bool {
    let level = levels.checked_sub(1).and_then(|at| machine.frames.get(at));
    matches!(level, Some(Frame::Group(top)) if varies(plan, top) == Some(Varies::Count))
}

/// The number that varies between the places of a group; `None` if the level has no places.
fn varies(plan: &Plan, top: &GroupFrame) -> Option<Varies> {
    let particle = plan.particle(top.particle);
    match particle.term {
        _ if top.silent || particle.joins_runs => None,
        Term::All(_) => None,
        Term::Sequence(_) => Some(Varies::Child),
        _ => Some(Varies::Count),
    }
}

impl Checkpoint {
    /// Whether it is the same state, apart from the loops' slots and counts and its offset.
    fn is_shaped_like(&self, other: &Self, plan: &Plan) -> bool {
        let (a, b) = (&self.machine, &other.machine);
        a.frames.len() == b.frames.len()
            && a.frames
                .iter()
                .zip(b.frames.iter())
                // Most often the innermost level differs.
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

/// Where decoding is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// It stops at the first place between two tags where this many slots have been written
    pub slots: usize,
    /// and at most this many levels are open.
    pub depth: usize,
}

impl Until {
    /// Decoding does not stop before the end.
    pub const END: Self = Self {
        slots: usize::MAX,
        depth: 0,
    };
}
