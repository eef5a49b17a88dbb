//! Finds values of the last message at other slots of the next one.

use std::ops::Range;

use super::chunk::Chunk;
use super::compare::{Values, range};
use super::dut_table::Segment;

/// The number of consecutive values that are searched for.
const LENGTH: usize = 6;

/// The number of values that must be the same for the whole chunk to have moved: flags and enumerations of few values repeat by
/// chance, but not as often.
const CONFIRMED: usize = 32;

/// The first values of a chunk.
pub(crate) struct Needle<'v> {
    old: Values<'v>,
    segment: &'v Segment,
    /// The index of the first value in its segment, and its slot in the old message.
    first: usize,
    slot: usize,
}

impl<'v> Needle<'v> {
    /// The first values of a chunk of the old message; `None` if it does not begin with values.
    pub(crate) fn of(chunk: &'v Chunk, old: Values<'v>) -> Option<Self> {
        let has_location = |segment: &Segment| {
            (0..segment.slots().min(LENGTH)).position(|at| segment.kind(at).has_location())
        };
        let mut segments = chunk.segments.iter();
        let (segment, first) = segments.find_map(|it| Some((it, has_location(it)?)))?;
        let slot = chunk.state.slot() + segment.first + first;
        (slot < old.slots.len()).then_some(Self {
            old,
            segment,
            first,
            slot,
        })
    }

    /// The slot of the first value.
    pub(crate) fn slot(&self) -> usize {
        self.slot
    }

    /// Whether the values are at `slot` of the new message.
    pub(crate) fn is_at(&self, new: Values<'_>, slot: usize) -> bool {
        self.are_at(new, slot, LENGTH)
    }

    /// Whether so many of the values are at `slot` of the new message that the whole chunk has probably moved there.
    pub(crate) fn is_confirmed_at(&self, new: Values<'_>, slot: usize) -> bool {
        self.are_at(new, slot, CONFIRMED)
    }

    fn are_at(&self, new: Values<'_>, slot: usize, length: usize) -> bool {
        let length = length.min(self.segment.slots() - self.first);
        (0..length).all(|nth| {
            let old = (self.old, self.slot + nth);
            is_same(self.segment, self.first + nth, old, (new, slot + nth))
        })
    }

    /// The first slot of a range of the new message at which the values are.
    pub(crate) fn find(&self, new: Values<'_>, slots: Range<usize>) -> Option<usize> {
        let needle = self.old.slots[self.slot];
        let is_heap = self.segment.kind(self.first).is_heap();
        let mut at = slots.start;
        loop {
            let found = new.slots.get(at..slots.end)?.iter().position(|&slot| {
                if is_heap {
                    slot >> 32 == needle >> 32
                } else {
                    slot == needle
                }
            })?;
            at += found;
            if self.is_at(new, at) {
                return Some(at);
            }
            at += 1;
        }
    }
}

/// Whether a slot of the old message has the same value as one of the new message. `index` is that of the old slot in its
/// segment.
pub(crate) fn is_same(
    segment: &Segment,
    index: usize,
    (old, old_slot): (Values<'_>, usize),
    (new, new_slot): (Values<'_>, usize),
) -> bool {
    let (Some(&old_slot), Some(&new_slot)) = (old.slots.get(old_slot), new.slots.get(new_slot))
    else {
        return false;
    };
    if !segment.kind(index).is_heap() {
        return old_slot == new_slot;
    }
    range(old_slot).1 == range(new_slot).1 && old.octets(old_slot) == new.octets(new_slot)
}
