//! Where two texts joined: how what follows there is numbered in the new Record.
//!
//! ```text
//! old   ─────│ slots 5, item* 1 so far    │ slots 9, item* 3 so far
//! new   ─────────│ slots 7, item* 2 so far    │ slots 11, item* 4 so far
//!             joined: by 2, loops (1 → 2)
//! ```

use bsoap_codec::decode::{Decoder, Loop};

/// How places behind one at which two texts joined are numbered, which had other numbers in the text before.
#[derive(Clone, Debug)]
pub(super) struct Carry {
    /// Where they joined: slots before.
    slots: u32,
    /// By how many slots what follows has moved, modulo 2³².
    by: u32,
    /// The loops open there, before and now.
    before: Vec<Loop>,
    now: Vec<Loop>,
}

impl Carry {
    /// The decoder has written this many `slots` now, and is in a state in which it had written `before.0`, with the loops
    /// `before.1`.
    pub(super) fn new(decoder: &Decoder, slots: usize, before: (usize, Vec<Loop>)) -> Self {
        Self {
            slots: before.0 as u32,
            by: (slots as u32).wrapping_sub(before.0 as u32),
            before: before.1,
            now: decoder.loops(),
        }
    }

    /// Whether nothing has another number.
    pub(super) fn is_none(&self) -> bool {
        self.by == 0 && self.before == self.now
    }

    /// Takes over the loops of a later place, which come outermost first.
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

    /// Takes over the number of slots.
    pub(super) fn moved(&self, slots: u32) -> u32 {
        slots.wrapping_add(self.by)
    }

    /// Of a place behind the join, how many slots were before it in the old Record.
    pub(super) fn old_slots(&self, slots: usize) -> usize {
        (slots as u32).wrapping_sub(self.by) as usize
    }

    /// What the counts of open loops are in the end, with their slots: those of the old message, and as much more as they are
    /// now. Nothing if one cannot be that.
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
