//! The capacity of strings in the heap: the greatest length that a slot's string has had at its place.
//!
//! ```text
//! heap   …│nineteen characters│the next string…             the first message
//!         │fourteen chars     │                             the second one: 5 octets are left
//!         │seventeen charact  │                             the third one fits, too
//! ```
//!
//! A longer string goes to the end of the heap. If the lengths of values vary, the heap therefore grows a few times, and not
//! with each message.

/// The number of unused octets behind each string in the heap that belong to it.
#[derive(Debug, Default)]
pub(super) struct Capacities {
    /// The number of octets by slot, at most 255. Slots at the end without any are left out.
    left: Vec<u8>,
}

impl Capacities {
    /// The capacity of the string in a slot, which has this length.
    #[inline]
    pub(super) fn of(&self, slot: usize, length: usize) -> usize {
        length + self.left.get(slot).map_or(0, |&left| usize::from(left))
    }

    /// Records that the string in a slot has this length now, and this capacity at its place.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, length: usize, capacity: usize) {
        let left = u8::try_from(capacity.saturating_sub(length)).unwrap_or(u8::MAX);
        match self.left.get_mut(slot) {
            Some(it) => *it = left,
            None if left > 0 => self.add(slot, left),
            None => {}
        }
    }

    #[cold]
    fn add(&mut self, slot: usize, left: u8) {
        self.left.resize(slot, 0);
        self.left.push(left);
    }

    /// The unused octets of all slots, to be renumbered like the slots. `None` if there are none.
    pub(super) fn of_all(&mut self, slots: usize) -> Option<&mut Vec<u8>> {
        if self.left.is_empty() {
            return None;
        }
        self.left.resize(slots, 0);
        Some(&mut self.left)
    }

    /// The number of bytes held.
    pub(super) fn memory(&self) -> usize {
        self.left.capacity()
    }
}
