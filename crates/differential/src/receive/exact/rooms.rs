//! Room that strings have in the heap: as much as the longest of those took that a slot had one after the other.
//!
//! ```text
//! heap   …│one of nineteen, aga│in the next one…            as it was first
//!         │one of fourteen     │                            it is shorter: 5 octets are left
//!         │one of seventeen, a │                            there is room for it
//! ```
//!
//! A string that is longer goes to the end of the heap. So values that are now longer and now shorter make the heap grow a
//! few times, not with each message.

/// How many octets behind each string of the heap are its own.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    /// By slot; those that are not there have none. No more are remembered than a byte holds.
    left: Vec<u8>,
}

impl Rooms {
    /// How long the string of a slot may become where it is, that is so long.
    #[inline]
    pub(super) fn room(&self, slot: usize, length: usize) -> usize {
        length + self.left.get(slot).map_or(0, |&left| usize::from(left))
    }

    /// The string of a slot has become so long, where it is or elsewhere, and has so much room there.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, length: usize, room: usize) {
        let left = u8::try_from(room.saturating_sub(length)).unwrap_or(u8::MAX);
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

    /// By slot, of which there are so many, to be moved as those are; nothing if no string has any.
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
