//! The outline of a message: how long its first values are, and which of the texts around values it has.
//!
//! ```text
//! slots   ABSENT │ PRESENT │ 2 │ value value │ BRANCH │ value │ …        all but values: what was decided on the way
//!         └────────── digested ┘  └ lengths ┘ └ digested ┘
//! ```
//!
//! From the same Plan, root, options and decisions comes the same text but for the values. So an outline is made from slots,
//! not from text, and costs next to nothing where one value follows another. If what was decided is but a few slots, they
//! are noted: whether the next message decides the same is then seen before it is written, and only lengths remain to be
//! recorded: straight where they are sent from.

use crate::plan::program::LeafRef;
use crate::record::{Record, heap_range};

use super::places::{Places, Rows};

/// What [`Encoder::encode_outlined`](super::Encoder::encode_outlined) records of a message, besides writing it.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    lengths: Vec<usize>,
    structure: u64,
    /// The slots that were digested, and what they hold.
    decided: Vec<(u32, u64)>,
    /// Whether they are all that was digested.
    is_few: bool,
}

/// Decisions up to this number are noted.
const FEW: usize = 64;

impl Outline {
    /// The lengths of this many values are recorded.
    pub const MAX_LENGTHS: usize = 48;

    /// The lengths of the first values, in the order of the text: those that [`Places`](super::Places) record.
    pub fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.lengths.iter().copied()
    }

    /// How many lengths are recorded.
    pub fn count(&self) -> usize {
        self.lengths.len()
    }

    /// A digest of all that is no value: if it is the same, then, but for forgeries, so is the text between the values of
    /// two messages with the same Plan, root and options.
    pub fn structure(&self) -> u64 {
        self.structure
    }

    /// All slots that are no values, with what they hold, if they are few: a message with as many slots, and the same in
    /// these, has the same text between its values.
    pub fn decided(&self) -> Option<&[(u32, u64)]> {
        self.is_few.then_some(&self.decided)
    }

    fn clear(&mut self) {
        self.lengths.clear();
        self.structure = 0;
        self.decided.clear();
        self.is_few = true;
    }
}

/// Makes an outline.
pub(super) struct OutlineRecorder<'r> {
    record: &'r Record,
    /// The slot behind the value recorded last.
    next: usize,
    outline: &'r mut Outline,
}

impl<'r> OutlineRecorder<'r> {
    pub(super) fn new(record: &'r Record, outline: &'r mut Outline) -> Self {
        outline.clear();
        Self {
            record,
            next: 0,
            outline,
        }
    }

    /// Digests the slots before one, as far as they are of no value, and goes behind it.
    #[inline(always)]
    fn pass(&mut self, slot: usize) {
        if slot != self.next {
            self.digest(slot);
        }
        self.next = slot + 1;
    }

    #[inline(never)]
    fn digest(&mut self, slot: usize) {
        let slots = self.record.slots.get(self.next..slot);
        for (&value, at) in slots.unwrap_or_default().iter().zip(self.next..) {
            self.add(value);
            match u32::try_from(at) {
                Ok(at) if self.outline.decided.len() < FEW => {
                    self.outline.decided.push((at, value));
                }
                _ => self.outline.is_few = false,
            }
        }
    }

    fn add(&mut self, word: u64) {
        let mixed = (self.outline.structure ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.outline.structure = mixed ^ mixed >> 32;
    }

    #[inline(always)]
    fn record(&mut self, length: usize) {
        if self.outline.lengths.len() < Outline::MAX_LENGTHS {
            self.outline.lengths.push(length);
        }
    }

    /// Digests what is left.
    pub(super) fn finish(mut self) {
        self.digest(self.record.slots.len());
    }
}

impl Places for OutlineRecorder<'_> {
    #[inline(always)]
    fn value(&mut self, slot: usize, _: usize, length: usize, _: usize, _: LeafRef) {
        self.pass(slot);
        self.record(length);
    }

    /// Its text is part of the structure; where in the heap that lies is not.
    #[cold]
    fn hidden(&mut self, slot: usize) {
        self.pass(slot);
        self.outline.is_few = false;
        let value = self.record.slots.get(slot).copied().unwrap_or_default();
        let (start, length) = heap_range(value);
        let text = self.record.heap.get(start..start + length);
        let (words, rest) = text.unwrap_or_default().as_chunks();
        self.add(length as u64);
        for &word in words {
            self.add(u64::from_le_bytes(word));
        }
        for &byte in rest {
            self.add(byte.into());
        }
    }

    #[inline]
    fn wanted_numbers(&self) -> usize {
        Outline::MAX_LENGTHS - self.outline.lengths.len()
    }

    #[inline]
    fn rows(&mut self, rows: Rows<'_>) {
        if self.next < rows.slot {
            self.digest(rows.slot);
        }
        self.next = rows.slot + rows.numbers;
        for &length in rows.lengths {
            self.record(length.into());
        }
    }
}

/// Where [`Encoder::encode_with_lengths`](super::Encoder::encode_with_lengths) records how long values are: a byte each.
#[derive(Debug)]
pub struct LengthSpace<'t> {
    space: std::slice::IterMut<'t, u8>,
    zero: u8,
    longest: usize,
    longer: &'t mut Vec<usize>,
}

impl<'t> LengthSpace<'t> {
    /// The lengths of as many values as `space` has bytes are written over it: each as `zero` and its length, up to
    /// `longest`. Longer ones are written as one more than that, and put into `longer`.
    #[inline]
    pub fn new(space: &'t mut [u8], zero: u8, longest: u8, longer: &'t mut Vec<usize>) -> Self {
        longer.clear();
        Self {
            space: space.iter_mut(),
            zero,
            longest: longest.into(),
            longer,
        }
    }

    #[inline(always)]
    fn record(&mut self, length: usize) {
        if let Some(place) = self.space.next() {
            *place = self.zero.wrapping_add(length.min(self.longest + 1) as u8);
            if length > self.longest {
                self.push(length);
            }
        }
    }

    #[cold]
    fn push(&mut self, length: usize) {
        self.longer.push(length);
    }

    /// Whether all were recorded that there was space for.
    pub(super) fn is_full(&self) -> bool {
        self.space.as_slice().is_empty()
    }
}

/// Records lengths, and nothing else.
pub(super) struct LengthRecorder<'t>(pub(super) LengthSpace<'t>);

impl Places for LengthRecorder<'_> {
    #[inline(always)]
    fn value(&mut self, _: usize, _: usize, length: usize, _: usize, _: LeafRef) {
        self.0.record(length);
    }

    #[inline]
    fn wanted_numbers(&self) -> usize {
        self.0.space.len()
    }

    #[inline]
    fn rows(&mut self, rows: Rows<'_>) {
        for &length in rows.lengths {
            self.0.record(length.into());
        }
    }
}
