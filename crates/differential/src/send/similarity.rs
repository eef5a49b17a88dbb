//! Estimates how similar two messages are from a few of their values, before a template is made.
//!
//! Most slots of a small message are markers, which are the same in all messages with the same structure. So small numbers,
//! which may be markers, count only if there are few other values.

use bsoap_codec::Record;

use super::compare::range;

/// Number of slots sampled.
const SLOTS: usize = 32;
/// Numbers below this may be markers.
const MAX_MARKER: u64 = 1 << 16;
/// The share of a small message that must be unchanged for a template to be tried.
pub(super) const WORTH_A_TEMPLATE: f32 = 0.25;
/// With this number of values that cannot be markers, possible markers are not counted.
const ENOUGH_VALUES: u32 = 3;

/// Some values of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ValueSample {
    slots: usize,
    /// The sampled values: a number as its slot, a string as a digest.
    values: [u64; SLOTS],
}

impl ValueSample {
    /// The number of slots of the message.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// A sample of a message.
    pub(super) fn of(record: &Record) -> Self {
        Self::of_first(record, record.slots().len())
    }

    /// A sample of the first `slots` slots of a message.
    pub(super) fn of_first(record: &Record, slots: usize) -> Self {
        let mut values = [0; SLOTS];
        for (nth, value) in values.iter_mut().enumerate().take(slots) {
            *value = value_at(record, sampled_slot(nth, slots));
        }
        Self { slots, values }
    }

    /// The share of values that are equal, from 0 to 1. The other message must have the same number of slots.
    pub(super) fn similarity(&self, other: &Self) -> f32 {
        let (mut values, mut markers) = (Tally::default(), Tally::default());
        let both = self.values.iter().zip(&other.values);
        for (&own, &other) in both.take(self.slots) {
            let tally = if own.max(other) < MAX_MARKER {
                &mut markers
            } else {
                &mut values
            };
            tally.seen += 1;
            tally.equal += u32::from(own == other);
        }
        if values.seen < ENOUGH_VALUES {
            values.seen += markers.seen;
            values.equal += markers.equal;
        }
        values.equal as f32 / values.seen.max(1) as f32
    }

    /// Whether a template of one message is worth trying for the other.
    pub(super) fn is_similar(&self, other: &Self) -> bool {
        self.slots == other.slots && self.similarity(other) >= WORTH_A_TEMPLATE
    }
}

#[derive(Default)]
struct Tally {
    seen: u32,
    equal: u32,
}

/// The `nth` slot of a sample: all slots if there are few, otherwise one of each run of slots. Its position in the run
/// varies, so that not always the same field of a row is sampled.
fn sampled_slot(nth: usize, slots: usize) -> usize {
    if slots <= SLOTS {
        return nth;
    }
    let within = nth * 13 % SLOTS;
    ((nth * SLOTS + within) * slots) / (SLOTS * SLOTS)
}

/// The value of a slot, without looking at the Plan: a slot that looks like a range of the heap is treated as a string. (If
/// it is none, it is treated the same way in other messages.)
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

/// A digest of a string from its length and both of its ends, enough to distinguish most strings.
fn digest(text: &[u8]) -> u64 {
    let ends = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29)
        }
        _ => text.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    (ends ^ text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | MAX_MARKER
}
