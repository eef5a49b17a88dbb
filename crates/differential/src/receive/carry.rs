//! How slots and loops are renumbered where the old and the new text are resynchronised.
//!
//! ```text
//! old   ─────│ slots 5, item* 1 so far    │ slots 9, item* 3 so far
//! new   ─────────│ slots 7, item* 2 so far    │ slots 11, item* 4 so far
//!             resynchronised: slots + 2, count of item 1 → 2
//! ```

use bsoap_codec::decode::{Decoder, Loop};

/// How slots and counts of loops behind a resynchronisation are renumbered from the old message to the new one.
#[derive(Clone, Debug)]
pub(super) struct Carry {
    /// The number of slots before the resynchronisation in the old Record.
    slots: u32,
    /// The difference between new and old slot numbers, modulo 2³².
    by: u32,
    /// The loops open there in the old message, outermost first.
    before: Vec<Loop>,
    /// The same loops in the new message.
    now: Vec<Loop>,
}

impl Carry {
    /// The renumbering at the decoder's current state. `slots` have been written now; in the same state of the old message,
    /// `before.0` slots were written and the loops `before.1` were open.
    pub(super) fn new(decoder: &Decoder, slots: usize, before: (usize, Vec<Loop>)) -> Self {
        Self {
            slots: before.0 as u32,
            by: (slots as u32).wrapping_sub(before.0 as u32),
            before: before.1,
            now: decoder.loops(),
        }
    }

    /// Whether no number changes.
    pub(super) fn is_none(&self) -> bool {
        self.by == 0 && self.before == self.now
    }

    /// A function that renumbers the loops open at a later place. It is to be called for each of them, outermost first.
    pub(super) fn renumber(&self) -> impl FnMut(&mut Loop) + '_ {
        let mut pairs = self.before.iter().zip(&self.now);
        move |it| {
            if it.slot >= self.slots {
                it.slot = it.slot.wrapping_add(self.by);
            } else if let Some((before, now)) = pairs.next() {
                it.slot = now.slot;
                it.count = it.count.wrapping_add(now.count).wrapping_sub(before.count);
            }
        }
    }

    /// The new slot number of an old one behind the resynchronisation.
    pub(super) fn moved(&self, slots: u32) -> u32 {
        slots.wrapping_add(self.by)
    }

    /// The old slot number of a new one behind the resynchronisation.
    pub(super) fn old_slots(&self, slots: usize) -> usize {
        (slots as u32).wrapping_sub(self.by) as usize
    }

    /// The slots of the open loops' counts and the final counts: those of the `old` slots, plus the difference at the
    /// resynchronisation. `None` if a count would violate the schema.
    pub(super) fn counts(&self, old: &[u64]) -> Option<Vec<(u32, u64)>> {
        let count = |(before, now): (&Loop, &Loop)| {
            let total = old
                .get(before.slot as usize)?
                .wrapping_add(u64::from(now.count))
                .wrapping_sub(u64::from(before.count));
            let is_right = total >= u64::from(now.least) && total < u64::from(u32::MAX);
            is_right.then_some((now.slot, total))
        };
        let pairs = self.before.iter().zip(&self.now);
        match self.before.len() == self.now.len() {
            true => pairs.map(count).collect(),
            false => None,
        }
    }
}
