//! Places: where reading can be taken up again, told by a few numbers.
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

use bsoap_xml::State;

use crate::index::Sink;
use crate::plan::{Plan, Term, UNBOUNDED};
use crate::record::Record;

use super::checkpoint::{Checkpoint, Loop};
use super::frame::{ElementFrame, Frame, GroupFrame, Inside, Last, Machine};
use super::run::Window;
use super::{Decoder, Error, Piece};

/// A place of a message between two tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// How much of the text was read.
    pub offset: u32,
    /// How many slots were written.
    pub slots: u32,
    /// The group it belongs to.
    pub group: u32,
    /// Which of the group it is: how many items there were, or which child comes next; [`Place::ITSELF`] if the group is
    /// this one place.
    pub at: u32,
}

impl Place {
    /// The number of a place that has its group for itself.
    pub const ITSELF: u32 = u32::MAX;
}

/// The state that the places of a group share.
#[derive(Clone, Debug)]
struct Base {
    checkpoint: Checkpoint,
    /// The group around it, if there was one.
    outer: Option<u32>,
    varies: Varies,
}

/// What of the innermost level is the number of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Varies {
    /// How often it has come round.
    Count,
    /// Which child comes next.
    Child,
    /// Nothing: the group is one place.
    Nothing,
}

/// Notes a place every so many bytes of text, at the next one that belongs to a group.
#[derive(Clone, Debug)]
pub struct Places {
    every: u64,
    due: u64,
    bases: Vec<Base>,
    /// The groups whose base holds still, outermost first, with the levels of their bases.
    open: Vec<(usize, u32)>,
    found: Vec<Place>,
}

/// Where a decoder stands, while its own numbers are behind.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// Levels of the stack that are open there, at most as many as the machine has.
    pub(super) levels: usize,
    /// Elements that the reader has open and that are not, there.
    pub(super) above: usize,
    pub(super) offset: u64,
    pub(super) at: u32,
}

impl Places {
    /// One place every so many bytes.
    pub fn new(every: usize) -> Self {
        Self {
            every: every.max(1) as u64,
            due: 0,
            bases: Vec::new(),
            open: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Forgets all groups and places.
    pub fn clear(&mut self) {
        self.due = 0;
        self.bases.clear();
        self.open.clear();
        self.found.clear();
    }

    /// The next place is wanted so many bytes behind this one.
    pub fn start(&mut self, offset: u64) {
        self.due = offset.saturating_add(self.every);
    }

    /// The places noted since the last time.
    pub fn drain(&mut self) -> impl Iterator<Item = Place> {
        self.found.drain(..)
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.bases.len()
    }

    /// About how many bytes the bases hold.
    pub fn memory(&self) -> usize {
        let spare = (self.bases.capacity() - self.bases.len()) * size_of::<Base>();
        let own =
            |base: &Base| base.checkpoint.memory() + size_of::<Base>() - size_of::<Checkpoint>();
        spare + self.bases.iter().map(own).sum::<usize>()
    }

    /// Gives back memory that was reserved for more than came.
    pub fn fit(&mut self) {
        self.bases.shrink_to_fit();
        self.found = Vec::new();
    }

    /// A group of one place, which may be anywhere in the message.
    pub fn add(&mut self, decoder: &Decoder, record: &Record) -> Place {
        let group = self.bases.len() as u32;
        self.bases.push(Base {
            checkpoint: decoder.checkpoint(record),
            outer: self.open.last().map(|open| open.1),
            varies: Varies::Nothing,
        });
        self.start(decoder.offset());
        Place {
            offset: decoder.offset() as u32,
            slots: record.slots().len() as u32,
            group,
            at: Place::ITSELF,
        }
    }

    /// From where on a place is wanted.
    #[inline(always)]
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// A place of a group, if there is one, where so many slots have been written.
    pub(super) fn note_item(&mut self, group: Option<u32>, slots: usize, here: Here) {
        let Some(group) = group else {
            return;
        };
        self.start(here.offset);
        self.found.push(Place {
            offset: here.offset as u32,
            slots: slots as u32,
            group,
            at: here.at,
        });
    }

    /// Notes where the decoder stands, if that is a place that belongs to a group.
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
            above: 0,
            offset,
            at,
        };
        let written = (record.slots.len(), record.heap.len());
        let group = self.group(plan, reader, machine, written, here);
        self.note_item(group, written.0, here);
    }

    /// The group of a place where so many slots and bytes of strings have been written; it is a new one if there is none yet.
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
        if let Some(&(levels, group)) = self.open.last()
            && levels == here.levels
            && self.is_of(group, &top)
        {
            return Some(group);
        }
        let mut checkpoint = Checkpoint::new(reader, machine, written);
        checkpoint.cut_to(here, varies == Varies::Count);
        let group = self.bases.len() as u32;
        self.bases.push(Base {
            checkpoint,
            outer: self.open.last().map(|open| open.1),
            varies,
        });
        self.open.push((here.levels, group));
        Some(group)
    }

    /// Forgets the groups that are over, or have changed below.
    fn prune(&mut self, machine: &mut Machine, levels: usize) {
        let same = machine.frames.same();
        while let Some(&(open, _)) = self.open.last()
            && (open > levels || open > same + 1)
        {
            self.open.pop();
        }
        machine.frames.watch();
    }

    /// Whether the innermost level is that of a group's base, but for what varies.
    fn is_of(&self, group: u32, top: &GroupFrame) -> bool {
        let Some(base) = self.bases.get(group as usize) else {
            return false;
        };
        match (base.checkpoint.machine.frames.last(), base.varies) {
            (Some(Frame::Group(own)), Varies::Count) => {
                GroupFrame {
                    count: top.count,
                    ..*own
                } == *top
            }
            (Some(Frame::Group(own)), Varies::Child) => GroupFrame { at: top.at, ..*own } == *top,
            _ => false,
        }
    }

    /// Sets the decoder to a place. `false` if that cannot be done any more; then nothing is changed.
    ///
    /// Within a group nothing is restored but the number.
    #[must_use]
    pub fn resume(&mut self, decoder: &mut Decoder, place: Place) -> bool {
        if !self.stands_in(decoder, place.group) {
            let Some(base) = self.bases.get(place.group as usize) else {
                return false;
            };
            if !decoder.resume(&base.checkpoint) {
                return false;
            }
            decoder.machine.frames.watch();
            self.reopen(place.group);
        }
        self.set(decoder, place);
        self.start(u64::from(place.offset));
        true
    }

    /// The groups open at a base: itself and those around it.
    fn reopen(&mut self, group: u32) {
        self.open.clear();
        let mut next = Some(group);
        while let Some(group) = next
            && let Some(base) = self.bases.get(group as usize)
        {
            if base.varies != Varies::Nothing {
                self.open
                    .push((base.checkpoint.machine.frames.len(), group));
            }
            next = base.outer.filter(|&outer| outer < group);
        }
        self.open.reverse();
    }

    /// Whether the decoder stands at some place of this group, so that nothing need be compared.
    pub fn stands_in(&mut self, decoder: &mut Decoder, group: u32) -> bool {
        let machine = &mut decoder.machine;
        let levels = machine.frames.len();
        let Some(Frame::Group(top)) = machine.frames.last().copied() else {
            return false;
        };
        if !(decoder.reader.is_between() && machine.is_between()) {
            return false;
        }
        self.prune(machine, levels);
        self.open.last() == Some(&(levels, group)) && self.is_of(group, &top)
    }

    fn set(&self, decoder: &mut Decoder, place: Place) {
        decoder.move_to(u64::from(place.offset));
        let varies = self.bases.get(place.group as usize).map(|base| base.varies);
        let plan = &decoder.plan;
        let machine = &mut decoder.machine;
        machine.last = Last::NOTHING;
        machine.tag_end = u64::from(place.offset);
        let Some(Frame::Group(top)) = machine.frames.last_mut() else {
            return;
        };
        let children = plan.children_of(top.particle);
        let before = match varies {
            Some(Varies::Count) => {
                top.count = place.at;
                Some(top.particle)
            }
            Some(Varies::Child) => {
                top.at = place.at;
                let before = (place.at as usize).checked_sub(1);
                before.and_then(|index| children.get(index)).copied()
            }
            _ => None,
        };
        if let Some(before) = before
            && matches!(plan.particle(before).term, Term::Element(_))
        {
            machine.last = Last::closed(before);
        }
    }

    /// Whether reading on from where the decoder stands finds the same as reading on from a place, but for the counts of
    /// loops; if it does, whether those are the same as well. For a place of the group it stands in nothing is compared but
    /// its number.
    pub fn agree(&mut self, decoder: &mut Decoder, place: Place) -> Option<bool> {
        let is_inside = self.stands_in(decoder, place.group);
        let base = self.bases.get(place.group as usize)?;
        match decoder.machine.frames.last() {
            Some(Frame::Group(top)) if is_inside => {
                let number = match base.varies {
                    Varies::Child => top.at,
                    _ => top.count,
                };
                let may_differ = base.varies == Varies::Count
                    && decoder.plan.particle(top.particle).max == UNBOUNDED;
                (number == place.at || may_differ).then_some(number == place.at)
            }
            _ => {
                let checkpoint = base.at(place.at);
                decoder
                    .stands_at(&checkpoint)
                    .then(|| decoder.counts_alike(&checkpoint))
            }
        }
    }

    /// The loops that a place stands in, outermost first.
    pub fn loops(&self, place: Place, plan: &Plan) -> Vec<Loop> {
        self.bases
            .get(place.group as usize)
            .map_or_else(Vec::new, |base| base.at(place.at).loops(plan))
    }

    /// How many levels are open at a place.
    pub fn depth(&self, place: Place) -> usize {
        self.bases
            .get(place.group as usize)
            .map_or(0, |base| base.checkpoint.depth())
    }

    /// The same place of a group whose base has its loops changed, which is a new group.
    pub fn carry(&mut self, group: u32, plan: &Plan, change: impl FnMut(&mut Loop)) -> u32 {
        let Some(base) = self.bases.get(group as usize) else {
            return group;
        };
        let mut base = base.clone();
        let (slots, offset) = (base.checkpoint.slots(), base.checkpoint.offset());
        base.checkpoint.renumber(plan, slots, offset, change);
        self.bases.push(base);
        self.bases.len() as u32 - 1
    }

    /// Whether the number of a group's places is that of its innermost loop.
    pub fn counts(&self, group: u32) -> bool {
        let base = self.bases.get(group as usize);
        base.is_some_and(|base| base.varies == Varies::Count)
    }

    /// Keeps only the groups wanted, and says for each what its number is now.
    pub fn keep(&mut self, wanted: &[bool]) -> Vec<u32> {
        self.open.clear();
        let mut numbers = vec![u32::MAX; self.bases.len()];
        let mut kept: Vec<Base> = Vec::new();
        for (index, base) in self.bases.drain(..).enumerate() {
            if wanted.get(index) == Some(&true) {
                numbers[index] = kept.len() as u32;
                kept.push(base);
            }
        }
        for base in &mut kept {
            let outer = base.outer.and_then(|outer| numbers.get(outer as usize));
            base.outer = outer.copied().filter(|&outer| outer != u32::MAX);
        }
        self.bases = kept;
        numbers
    }
}

impl Base {
    /// The whole state at a place of the group.
    fn at(&self, at: u32) -> Checkpoint {
        let mut checkpoint = self.checkpoint.clone();
        if let Some(Frame::Group(top)) = checkpoint.machine.frames.last_mut() {
            match self.varies {
                Varies::Count => top.count = at,
                Varies::Child => top.at = at,
                Varies::Nothing => {}
            }
        }
        checkpoint
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
    /// What was taken with more levels open, as it is at a place before.
    fn cut_to(&mut self, here: Here, is_count: bool) {
        for _ in 0..here.above {
            self.reader.close(0);
        }
        self.reader.skip(0);
        let by = here.offset.wrapping_sub(self.reader.offset());
        self.reader.move_by(by);
        self.machine.frames.truncate(here.levels);
        self.machine.tag_end = here.offset;
        if let Some(Frame::Group(top)) = self.machine.frames.last_mut()
            && is_count
        {
            top.count = here.at;
        }
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
    fn place(&mut self, _: usize, _: u64, _: usize) {}

    #[inline(always)]
    fn places(&mut self) -> Option<&mut Places> {
        Some(self)
    }
}

/// Where reading is to stop, if it comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// At the first place between two tags at which so many slots have been written,
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

impl Decoder {
    /// As [`read`](Self::read); it may stop before the end of the piece, and notes places.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn read_until(
        &mut self,
        piece: Piece<'_>,
        record: &mut Record,
        until: Until,
        places: Option<&mut Places>,
    ) -> Result<(), Error> {
        let window = Window {
            text: piece.text,
            base: piece.base,
            last: piece.last,
            beyond: piece.beyond,
        };
        self.until = until;
        let read = match places {
            None => self.run(window, record, (), None),
            Some(places) => self.run(window, record, places, None),
        };
        self.until = Until::END;
        read
    }

    /// Whether reading on from where it stands finds the same as reading on from a checkpoint, but for the counts of loops.
    pub fn stands_at(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.agrees_with(&self.reader, &self.machine, &self.plan, &self.scopes)
    }

    /// Whether the counts of loops are those of a checkpoint that it stands at, and their slots.
    pub fn counts_alike(&self, checkpoint: &Checkpoint) -> bool {
        self.machine.frames == checkpoint.machine.frames
    }

    /// The loops it stands in, outermost first.
    pub fn loops(&self) -> Vec<Loop> {
        self.machine.loops(&self.plan)
    }

    /// As if its loops had come round more often, or less, or had their counts elsewhere.
    pub fn renumber(&mut self, change: impl FnMut(&mut Loop)) {
        self.machine.renumber(&self.plan, change);
    }

    /// Whether what it remembers comes from the text before its offset alone, inside the root element. It may be in the midst
    /// of a text. It is not steady where it has looked ahead: at a tag that has no end yet, or at the end tag behind a value.
    pub fn is_steady(&self) -> bool {
        let is_read = matches!(
            self.machine.frames.last(),
            Some(Frame::Element(ElementFrame {
                inside: Inside::Read,
                ..
            }))
        );
        self.reader.is_between() && !is_read && self.machine.pending.is_none() && !self.machine.done
    }

    /// Whether the message has come to its end.
    pub fn is_finished(&self) -> bool {
        self.reader.is_finished()
    }

    /// As if it had read so much text, wherever it stands.
    pub fn move_to(&mut self, offset: u64) {
        let by = offset.wrapping_sub(self.reader.offset());
        self.reader.move_by(by);
        self.machine.move_by(by);
    }

    /// How many levels are open: elements, and groups in them.
    pub fn depth(&self) -> usize {
        self.machine.frames.len()
    }
}
