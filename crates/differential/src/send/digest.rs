//! Digests of the values of a message. With them only the values of the next message have to be read to find out that it is
//! the same.
//!
//! ```text
//! by compare   the message's values │ those of the one before     both from memory
//! by digests   the message's values │ 16 bytes for each 2 KB
//! ```
//!
//! The values of a large message are no longer in the nearer caches when the next one comes, since the kernel has copied
//! its text meanwhile. Comparing is then limited by reading memory. Digests are made of a message that was sent several
//! times in a row, and are dropped with the first message that differs, which is compared with the old values: digests only
//! show that nothing has changed.
//!
//! The digests are sums of [`Carryless`] with a secret key of this process; nobody sees a sum. Two different blocks have
//! the same two sums for one key in 2¹²⁸. Machines on which summing is slower than reading do not use digests.

use bsoap_datatypes::kernel::Carryless;

use super::compare::Values;
use crate::receive::Keyed;

/// Messages with fewer bytes of values are compared directly: the values are still in a near cache.
const LARGE: usize = 64 << 10;
/// After this many equal messages in a row, more of them are expected.
const STEADY: u8 = 3;
/// The number of slots of a block.
const SLOTS: usize = Carryless::MOST / 8;

/// The digests of the last message, if they are known.
#[derive(Debug, Default)]
pub(crate) struct Digests {
    /// The number of equal messages in a row.
    steady: u8,
    /// The numbers of slots and of heap bytes of the last message.
    slots: usize,
    heap: usize,
    /// The digests of its slots, then those of its heap; empty if they are not known.
    sums: Vec<[u64; 2]>,
}

/// The result of comparing a message by digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SameDigests {
    /// Nothing is known.
    Nothing,
    /// This many slots at its front are the same as before, but not the whole message.
    Front(usize),
    /// The whole message is the same.
    Same,
}

impl Digests {
    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.sums.capacity() * size_of::<[u64; 2]>()
    }

    /// Called for a message that differs: drops the digests.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.steady = 0;
        self.sums.clear();
    }

    /// Compares a message with the last one by their digests. If it differs, the digests are dropped.
    #[inline]
    pub(crate) fn compare(&mut self, new: Values<'_>) -> SameDigests {
        if self.sums.is_empty() {
            return SameDigests::Nothing;
        }
        let same = match Keyed::of_process().wide() {
            Some(secret) => self.compare_with(secret, new),
            None => SameDigests::Nothing,
        };
        if same != SameDigests::Same {
            self.forget();
        }
        same
    }

    fn compare_with(&self, secret: &Carryless, new: Values<'_>) -> SameDigests {
        if (self.slots, self.heap) != (new.slots.len(), new.heap.len()) {
            return SameDigests::Nothing;
        }
        let (slots, heap) = self.sums.split_at(self.slots.div_ceil(SLOTS));
        let mut blocks = new.slots.chunks(SLOTS).zip(slots);
        if let Some(block) = blocks.position(|(block, sums)| secret.sums_of_words(block) != *sums) {
            return SameDigests::Front(block * SLOTS);
        }
        let mut blocks = new.heap.chunks(Carryless::MOST).zip(heap);
        if blocks.all(|(block, sums)| secret.sums(block) == *sums) {
            SameDigests::Same
        } else {
            SameDigests::Front(new.slots.len())
        }
    }

    /// Called for a message that was found to be the same by comparing it: makes digests if this has happened often enough.
    #[inline]
    pub(crate) fn same(&mut self, values: Values<'_>) {
        if size_of_val(values.slots) + values.heap.len() < LARGE {
            return;
        }
        self.steady = self.steady.saturating_add(1);
        if self.steady >= STEADY
            && let Some(secret) = Keyed::of_process().wide()
        {
            self.make(secret, values);
        }
    }

    fn make(&mut self, secret: &Carryless, values: Values<'_>) {
        (self.slots, self.heap) = (values.slots.len(), values.heap.len());
        let slots = values.slots.chunks(SLOTS);
        let heap = values.heap.chunks(Carryless::MOST);
        self.sums.clear();
        self.sums.reserve_exact(slots.len() + heap.len());
        self.sums
            .extend(slots.map(|block| secret.sums_of_words(block)));
        self.sums.extend(heap.map(|block| secret.sums(block)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'v>(slots: &'v [u64], heap: &'v [u8]) -> Values<'v> {
        Values { slots, heap }
    }

    /// Of a message sent often enough, on any machine.
    fn digests(secret: &Carryless, values: Values<'_>) -> Digests {
        let mut digests = Digests::default();
        digests.make(secret, values);
        digests
    }

    #[test]
    fn every_value_counts_and_the_front_is_reported() {
        let secret = Carryless::portable(std::array::from_fn(|at| (at as u64 + 3).pow(7)));
        let (slots, heap) = (vec![7; SLOTS + 40], vec![b'x'; Carryless::MOST + 9]);
        let kept = digests(&secret, values(&slots, &heap));
        assert_eq!(
            kept.compare_with(&secret, values(&slots, &heap)),
            SameDigests::Same
        );
        for slot in [0, SLOTS - 1, SLOTS, SLOTS + 39] {
            let mut other = slots.clone();
            other[slot] ^= 1 << (slot % 64);
            let front = SameDigests::Front(slot / SLOTS * SLOTS);
            assert_eq!(kept.compare_with(&secret, values(&other, &heap)), front);
        }
        for byte in [0, Carryless::MOST - 1, Carryless::MOST, heap.len() - 1] {
            let mut other = heap.clone();
            other[byte] ^= 0x10;
            let front = SameDigests::Front(slots.len());
            assert_eq!(kept.compare_with(&secret, values(&slots, &other)), front);
        }
        let shorter = values(&slots[1..], &heap);
        assert_eq!(kept.compare_with(&secret, shorter), SameDigests::Nothing);
    }

    #[test]
    fn they_are_made_of_what_is_steady_and_large_and_forgotten_with_what_differs() {
        let slots = vec![1; LARGE / 8];
        let (message, other) = (values(&slots, b""), values(&slots, b"x"));
        let mut digests = Digests::default();
        for _ in 0..STEADY {
            assert_eq!(digests.compare(message), SameDigests::Nothing);
            digests.same(message);
            digests.same(values(&slots[1..], b""));
        }
        let is_quick = Keyed::of_process().wide().is_some();
        let expected = if is_quick {
            SameDigests::Same
        } else {
            SameDigests::Nothing
        };
        assert_eq!(digests.compare(message), expected);
        assert_eq!(digests.compare(other), SameDigests::Nothing);
        assert_eq!(digests.compare(message), SameDigests::Nothing);
    }
}
