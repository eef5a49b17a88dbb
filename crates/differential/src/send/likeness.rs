//! How alike two messages are, told from a few of their values: without a template, and before it is paid for.
//!
//! Most slots of a small message are markers, and those of messages of one structure are the same whatever their values.
//! So small numbers count only where there is little else.

use bsoap_codec::Record;

use super::compare::range;

/// Slots that are looked at.
const SLOTS: usize = 32;
/// Numbers below this may be markers.
const MARKER: u64 = 1 << 16;
/// Of a small message so much must be as it was for a template to be tried.
pub(super) const WORTH: f32 = 0.25;
/// So many of the others are enough to judge by.
const ENOUGH: u32 = 3;

/// Some values of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    slots: usize,
    /// A number as its slot is, a text as its digest.
    values: [u64; SLOTS],
}

impl Sample {
    /// How many slots it was told of.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Of the first `slots` slots of a message.
    pub(super) fn of(record: &Record, slots: usize) -> Self {
        let mut values = [0; SLOTS];
        for (nth, value) in values.iter_mut().enumerate().take(slots) {
            *value = value_at(record, place(nth, slots));
        }
        Self { slots, values }
    }

    /// How much another one, of as many slots, is like this, from 0 to 1.
    pub(super) fn likeness(&self, other: &Self) -> f32 {
        let (mut values, mut markers) = (Tally::default(), Tally::default());
        let both = self.values.iter().zip(&other.values);
        for (&own, &other) in both.take(self.slots) {
            let tally = if own.max(other) < MARKER {
                &mut markers
            } else {
                &mut values
            };
            tally.seen += 1;
            tally.equal += u32::from(own == other);
        }
        if values.seen < ENOUGH {
            values.seen += markers.seen;
            values.equal += markers.equal;
        }
        values.equal as f32 / values.seen.max(1) as f32
    }

    /// Whether a template of one is worth trying for the other.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.slots == other.slots && self.likeness(other) >= WORTH
    }
}

#[derive(Default)]
struct Tally {
    seen: u32,
    equal: u32,
}

/// The `nth` slot that is looked at: all, if there are few; otherwise one of each stretch, not always at the same place of
/// it, for rows have a length, too.
fn place(nth: usize, slots: usize) -> usize {
    if slots <= SLOTS {
        return nth;
    }
    let within = nth * 13 % SLOTS;
    ((nth * SLOTS + within) * slots) / (SLOTS * SLOTS)
}

/// The value of a slot, told without the Plan: what looks like a stretch of the heap is taken for that. (If it is none,
/// other messages are taken the same way.)
fn value_at(record: &Record, slot: usize) -> u64 {
    let Some(&slot) = record.slots().get(slot) else {
        return 0;
    };
    let (start, length) = range(slot);
    if length == 0 {
        return slot;
    }
    match record.heap().get(start..start.saturating_add(length)) {
        Some(text) => digest(text),
        None => slot,
    }
}

/// Ends and length of a text: enough to tell most from one another.
fn digest(text: &[u8]) -> u64 {
    let ends = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29)
        }
        _ => text.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    (ends ^ text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | MARKER
}
