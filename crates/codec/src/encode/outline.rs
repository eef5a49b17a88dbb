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
//! told: straight to where they are sent from.

use crate::record::{Record, heap_range};

use super::program::{Program, Table};
use super::watch::Watch;

/// What [`Encoder::encode_outlined`](super::Encoder::encode_outlined) tells of a message, besides writing it.
#[derive(Clone, Debug)]
pub struct Outline {
    lengths: [u8; Self::TOLD],
    /// How many of them are told.
    told: usize,
    /// Those of values that are longer than a byte says.
    longer: Vec<usize>,
    structure: u64,
    /// The slots that were digested, and what they hold.
    decided: Vec<(u32, u64)>,
    /// Whether they are all that was digested.
    is_few: bool,
}

impl Default for Outline {
    fn default() -> Self {
        Self {
            lengths: [0; Self::TOLD],
            told: 0,
            longer: Vec::new(),
            structure: 0,
            decided: Vec::new(),
            is_few: false,
        }
    }
}

/// Decisions up to this number are noted.
const FEW: usize = 64;

impl Outline {
    /// Of so many values the lengths are told.
    pub const TOLD: usize = 48;

    /// The lengths of the first values, in the order of the text: those that [`Places`](super::Places) are told of.
    pub fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        let mut longer = self.longer.iter();
        let lengths = self.lengths[..self.told].iter();
        lengths.map(move |&length| match length {
            u8::MAX => longer.next().copied().unwrap_or_default(),
            length => length.into(),
        })
    }

    /// How many lengths are told.
    pub fn told(&self) -> usize {
        self.told
    }

    /// The lengths as bytes, zero behind the last; 255 stands for what is as long or longer.
    pub fn bytes(&self) -> &[u8; Self::TOLD] {
        &self.lengths
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
        self.lengths = [0; Self::TOLD];
        self.told = 0;
        self.longer.clear();
        self.structure = 0;
        self.decided.clear();
        self.is_few = true;
    }
}

/// Makes an outline.
pub(super) struct Tracer<'r> {
    record: &'r Record,
    program: &'r Program,
    /// The instruction that was begun last.
    pc: u32,
    /// The slot behind the value told last.
    next: usize,
    outline: &'r mut Outline,
}

impl<'r> Tracer<'r> {
    pub(super) fn new(record: &'r Record, outline: &'r mut Outline) -> Self {
        outline.clear();
        Self {
            record,
            program: record.plan.program(),
            pc: u32::MAX,
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
    fn tell(&mut self, length: usize) {
        if let Some(told) = self.outline.lengths.get_mut(self.outline.told) {
            *told = length.min(u8::MAX.into()) as u8;
            self.outline.told += 1;
            if length >= u8::MAX.into() {
                self.outline.longer.push(length);
            }
        }
    }

    /// Digests what is left.
    pub(super) fn finish(mut self) {
        self.digest(self.record.slots.len());
    }
}

impl Watch for Tracer<'_> {
    const FOLLOWS: bool = false;

    #[inline(always)]
    fn place(&mut self, slot: usize, _: u64, length: usize) {
        if self.program.leaf_of(self.pc).is_none() {
            return self.hidden(slot);
        }
        self.plain(slot, 0, length);
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

    #[inline(always)]
    fn instruction(&mut self, pc: u32) {
        self.pc = pc;
    }

    #[inline(always)]
    fn plain(&mut self, slot: usize, _: u64, length: usize) {
        self.pass(slot);
        self.tell(length);
    }

    #[inline]
    fn told_of(&mut self, _: &Table, numbers: usize) -> usize {
        numbers.min(Outline::TOLD - self.outline.told)
    }

    #[inline]
    fn rows_end(&mut self, first: usize, end: usize) {
        if self.next < first {
            self.digest(first);
        }
        self.next = end;
    }
}

/// Where [`Encoder::encode_told`](super::Encoder::encode_told) tells how long values are: a byte each.
#[derive(Debug)]
pub struct Told<'t> {
    room: std::slice::IterMut<'t, u8>,
    zero: u8,
    longest: usize,
    longer: &'t mut Vec<usize>,
}

impl<'t> Told<'t> {
    /// Of as many values as `room` has bytes, the lengths are written over it: each as `zero` and its length, up to
    /// `longest`. Longer ones are written as one more than that, and put into `longer`.
    #[inline]
    pub fn new(room: &'t mut [u8], zero: u8, longest: u8, longer: &'t mut Vec<usize>) -> Self {
        longer.clear();
        Self {
            room: room.iter_mut(),
            zero,
            longest: longest.into(),
            longer,
        }
    }

    #[inline(always)]
    fn tell(&mut self, length: usize) {
        if let Some(told) = self.room.next() {
            *told = self.zero.wrapping_add(length.min(self.longest + 1) as u8);
            if length > self.longest {
                self.push(length);
            }
        }
    }

    #[cold]
    fn push(&mut self, length: usize) {
        self.longer.push(length);
    }

    /// Tells of several.
    #[inline]
    fn tell_all(&mut self, lengths: &[u8]) {
        let room = std::mem::take(&mut self.room).into_slice();
        let (now, rest) = room.split_at_mut(lengths.len().min(room.len()));
        self.room = rest.iter_mut();
        let lengths = &lengths[..now.len()];
        let longest = u8::try_from(self.longest).unwrap_or(u8::MAX);
        let mut is_longer = false;
        let mut tell = |told: &mut u8, length: u8| {
            is_longer |= length > longest;
            *told = self.zero.wrapping_add(length);
        };
        // They come eight by eight, most often.
        let (eights, ones) = now.as_chunks_mut::<8>();
        let (many, few) = lengths.as_chunks::<8>();
        for (eight, lengths) in eights.iter_mut().zip(many) {
            for (told, &length) in eight.iter_mut().zip(lengths) {
                tell(told, length);
            }
        }
        for (told, &length) in ones.iter_mut().zip(few) {
            tell(told, length);
        }
        if is_longer {
            self.tell_again(now, lengths);
        }
    }

    /// The same, where some are longer than a byte tells.
    #[cold]
    fn tell_again(&mut self, room: &'t mut [u8], lengths: &[u8]) {
        let rest = std::mem::replace(&mut self.room, room.iter_mut());
        lengths.iter().for_each(|&length| self.tell(length.into()));
        self.room = rest;
    }

    /// Whether all were told that there was room for.
    pub(super) fn is_full(&self) -> bool {
        self.room.as_slice().is_empty()
    }
}

/// Tells lengths, and nothing else.
pub(super) struct Teller<'r, 't> {
    program: &'r Program,
    /// The instruction that was begun last.
    pc: u32,
    pub(super) told: Told<'t>,
}

impl<'r, 't> Teller<'r, 't> {
    pub(super) fn new(record: &'r Record, told: Told<'t>) -> Self {
        Self {
            program: record.plan.program(),
            pc: u32::MAX,
            told,
        }
    }
}

impl Watch for Teller<'_, '_> {
    const FOLLOWS: bool = false;

    #[inline(always)]
    fn place(&mut self, _: usize, _: u64, length: usize) {
        if self.program.leaf_of(self.pc).is_some() {
            self.told.tell(length);
        }
    }

    #[inline(always)]
    fn instruction(&mut self, pc: u32) {
        self.pc = pc;
    }

    #[inline(always)]
    fn plain(&mut self, _: usize, _: u64, length: usize) {
        self.told.tell(length);
    }

    #[inline]
    fn plains(&mut self, _: usize, lengths: &[u8]) {
        self.told.tell_all(lengths);
    }

    #[inline]
    fn told_of(&mut self, _: &Table, numbers: usize) -> usize {
        numbers.min(self.told.room.len())
    }
}
