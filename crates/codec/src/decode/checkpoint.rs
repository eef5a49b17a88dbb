//! A checkpoint: all that a decoder remembers at a place of a message, as data.
//!
//! Two checkpoints *agree* if decoding the same text from either of them gives the same values. They need not be equal: the
//! numbers of bytes read, of slots written and of items so far in an open loop may differ. When values that were decoded
//! from one checkpoint are used behind the other, these numbers must be adjusted:
//!
//! ```text
//! old   … <item>a</item>|<item>b</item> …      slots 5,  item* count slot 2, 1 so far
//! new   … <item>x</item><item>a</item>|…       slots 6,  item* count slot 2, 2 so far
//! ```

use bsoap_xml::{Scopes, State};

use crate::plan::{Plan, Term};
use crate::record::Record;

use super::frame::{ElementFrame, Frame, Gathered, GroupFrame, Inside, Machine};

/// The complete state of a [`Decoder`](super::Decoder) at one place of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    pub(super) reader: State,
    pub(super) machine: Machine,
    slots: usize,
    heap: usize,
}

/// An array, or another repeating group, that has begun: its count is not final yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The slot of the count.
    pub slot: u32,
    /// The number of occurrences so far.
    pub count: u32,
    /// The least number of occurrences that the schema allows.
    pub least: u32,
}

impl Checkpoint {
    /// A copy of a decoder's state where the Record has this number of slots, and of bytes of strings.
    pub(super) fn new(reader: &State, machine: &Machine, (slots, heap): (usize, usize)) -> Self {
        Self {
            reader: reader.clone(),
            machine: machine.clone(),
            slots,
            heap,
        }
    }

    /// How much of the text had been read.
    pub fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// How many slots had been written.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many bytes of strings had been written.
    pub fn heap(&self) -> usize {
        self.heap
    }

    /// Whether it is between two tags or values, inside the root element, with nothing begun.
    pub fn is_between(&self) -> bool {
        self.reader.is_between() && self.machine.is_between()
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.reader.memory() + self.machine.memory()
    }

    /// Truncates a Record of the same message to the slots and strings that it had here. The slots with the counts of open
    /// [loops](Self::loops) keep later values.
    pub fn cut(&self, record: &mut Record) {
        record.slots.truncate(self.slots);
        record.heap.truncate(self.heap);
    }

    /// The open loops, outermost first. Checkpoints that agree have the same number of them.
    pub fn loops(&self, plan: &Plan) -> Vec<Loop> {
        self.machine.loops(plan)
    }

    /// Changes the numbers of slots written and bytes read, and the counts of the loops.
    pub fn renumber(
        &mut self,
        plan: &Plan,
        slots: usize,
        offset: u64,
        change: impl FnMut(&mut Loop),
    ) {
        let by = offset.wrapping_sub(self.offset());
        self.slots = slots;
        self.reader.move_by(by);
        self.machine.move_by(by);
        self.machine.renumber(plan, change);
    }

    /// Whether the checkpoints agree: decoding the same text from either gives the same values, apart from counts of open
    /// loops.
    pub(super) fn agrees(&self, other: &Self, plan: &Plan, scopes: &Scopes) -> bool {
        self.agrees_with(&other.reader, &other.machine, plan, scopes)
    }

    /// Whether this checkpoint agrees with the current state of a decoder.
    pub(super) fn agrees_with(
        &self,
        reader: &State,
        machine: &Machine,
        plan: &Plan,
        scopes: &Scopes,
    ) -> bool {
        let (a, b) = (&self.machine, machine);
        a.seen == b.seen
            && a.agrees_but_for_frames(b)
            && a.frames.len() == b.frames.len()
            && a.frames
                .iter()
                .zip(b.frames.iter())
                .all(|(a, b)| same_frame(a, b, plan))
            && self.reader.agrees(reader, scopes)
    }
}

impl Machine {
    /// Whether everything but the stack of elements and groups is the same.
    pub(super) fn agrees_but_for_frames(&self, other: &Self) -> bool {
        let (a, b) = (self, other);
        a.root == b.root
            && a.skipping == b.skipping
            && a.done == b.done
            && a.check == b.check
            && same_text(&a.text, &b.text)
            && match (&a.fragment, &b.fragment) {
                (None, None) => true,
                (Some(a), Some(b)) => a.agrees(b),
                _ => false,
            }
    }

    /// The loops that have begun, outermost first.
    pub(super) fn loops(&self, plan: &Plan) -> Vec<Loop> {
        let mut loops = Vec::new();
        for frame in self.frames.iter() {
            each_loop(&mut frame.clone(), plan, &mut |it| loops.push(*it));
        }
        loops
    }

    pub(super) fn renumber(&mut self, plan: &Plan, mut change: impl FnMut(&mut Loop)) {
        for frame in self.frames.all_mut() {
            each_loop(frame, plan, &mut change);
        }
    }

    /// Adds `bytes` to all its offsets, modulo 2⁶⁴, as if that much more text had been read before.
    pub(super) fn move_by(&mut self, bytes: u64) {
        self.tag_end = self.tag_end.wrapping_add(bytes);
        if self.text.begun {
            self.text.from = self.text.from.wrapping_add(bytes);
            self.text.to = self.text.to.wrapping_add(bytes);
        }
    }

    /// Whether the decoder is between two tags: no text, copy or skipped element has begun.
    pub(super) fn is_between(&self) -> bool {
        !self.text.begun
            && self.fragment.is_none()
            && self.skipping == 0
            && !self.done
            && !self.frames.is_empty()
    }
}

fn same_text(a: &Gathered, b: &Gathered) -> bool {
    a.begun == b.begun && a.value == b.value
}

pub(super) fn same_frame(a: &Frame, b: &Frame, plan: &Plan) -> bool {
    match (a, b) {
        (Frame::Element(a), Frame::Element(b)) => {
            let same = (a.element, a.particle, a.ty) == (b.element, b.particle, b.ty);
            same && match (a.inside, b.inside) {
                (
                    Inside::Mixed {
                        particle, entered, ..
                    },
                    Inside::Mixed {
                        particle: other,
                        entered: other_entered,
                        ..
                    },
                ) => particle == other && entered == other_entered,
                (a, b) => a == b,
            }
        }
        (Frame::Group(a), Frame::Group(b)) => {
            // If the number of occurrences is limited, the number so far decides what may follow.
            let particle = plan.particle(a.particle);
            let may_differ = !a.silent && particle.is_unlimited();
            let key = |group: &GroupFrame| (group.particle, group.at, group.seen, group.silent);
            let is_same_run = !particle.joins_runs || a.children == b.children;
            key(a) == key(b) && is_same_run && (may_differ || a.count == b.count)
        }
        _ => false,
    }
}

/// Calls `see` with each open loop of a frame; changes that it makes are stored in the frame.
pub(super) fn each_loop(frame: &mut Frame, plan: &Plan, see: &mut dyn FnMut(&mut Loop)) {
    let mut show = |slot: &mut u32, count: u32, least: u32| {
        let mut it = Loop {
            slot: *slot,
            count,
            least,
        };
        see(&mut it);
        *slot = it.slot;
        it.count
    };
    match frame {
        Frame::Element(ElementFrame {
            inside: Inside::Mixed { marker, items, .. },
            ..
        }) => *items = show(marker, *items, 0),
        Frame::Group(group) if !group.silent => {
            let particle = plan.particle(group.particle);
            if particle.repeats() {
                group.count = show(&mut group.marker, group.count, particle.min);
            }
            if let Term::All(_) = particle.term {
                // For an `all`, the number of children so far is part of the position.
                show(&mut group.children, group.at, 0);
            }
        }
        _ => {}
    }
}
