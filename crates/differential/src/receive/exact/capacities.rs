//! The capacity that strings have in the heap: the longest length that a slot had there.
//!
//! ```text
//! heap   …│one of nineteen, aga│in the next one…            at first
//!         │one of fourteen     │                            it is shorter: 5 octets are left
//!         │one of seventeen, a │                            which is enough for it
//! ```
//!
//! A string that is longer goes to the end of the heap. So values that are now longer and now shorter make the heap grow a
//! few times, not with each message.

/// How many octets behind each string of the heap belong to it.
#[derive(Debug, Default)]
pub(super) struct Capacities {
    /// By slot; the last ones without any are left out. No more are remembered than a byte holds.
    left: Vec<u8>,
}

impl Capacities {
    /// How long the string of a slot may become where it is, if its length is this.
    #[inline]
    pub(super) fn of(&self, slot: usize, length: usize) -> usize {
        length + self.left.get(slot).map_or(0, |&left| usize::from(left))
    }

    /// The string of a slot has this length now, where it is or elsewhere, and this capacity there.
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

    /// By slot, for all slots, to be moved as those are; nothing if no string has any.
    pub(super) fn of_all(&mut self, slots: usize) -> Option<&mut Vec<u8>> {
        if self.left.is_empty() {
            return None;
        }
        self.left.resize(slots, 0);
        Some(&mut self.left)
    }

    pub(super) fn memory(&self) -> usize {
        self.left.capacity()
    }
}
