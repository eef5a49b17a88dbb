//! Processing interrupts: the decoder is stopped at regular distances, so that its state can be saved.
//!
//! As in the papers, the decoder gets a text that seems to end at the interrupt. The interrupt is moved back behind the last
//! end tag before it, if there is one: between two tags the state is small. Inside a text that is longer than a buffer, states
//! are saved at distances that double each time, because the text so far is part of the state.

use crate::receive::text::cut;

/// Where the decoder is interrupted, and how far it has come since a state was saved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupts {
    /// Bytes from one interrupt to the next.
    every: usize,
    /// Bytes read at most before an interrupt, if there is no tag; at least `every`.
    buffer: usize,
    /// The offset at which a state was last saved or restored.
    last: usize,
    /// The distance in bytes from the previously saved state to the one at `last`, if that state was saved inside character
    /// data; 0 if it was saved between two tags, or restored.
    gap: usize,
}

impl Interrupts {
    pub(super) fn new(every: usize, buffer: usize) -> Self {
        Self {
            every,
            buffer: buffer.max(every),
            last: 0,
            gap: 0,
        }
    }

    /// Records that a state was saved between two tags, or restored, at this offset.
    pub(super) fn restart(&mut self, offset: usize) {
        (self.last, self.gap) = (offset, 0);
    }

    /// Whether this offset is far enough from the last state to save one inside a text: at least `least` bytes, and twice as
    /// far as that state was from the one before.
    pub(super) fn is_far(&self, offset: usize, least: usize) -> bool {
        let gap = offset.saturating_sub(self.last);
        gap >= least.max(self.gap.saturating_mul(2))
    }

    /// Records that a state was saved inside a text at this offset.
    pub(super) fn save_inside(&mut self, offset: usize) {
        (self.gap, self.last) = (offset.saturating_sub(self.last), offset);
    }

    /// The offset of the next interrupt after `from`; `None` if it is not before `end`.
    pub(super) fn next(&self, text: &[u8], from: usize, end: usize) -> Option<usize> {
        let due = from.checked_add(self.every).filter(|&due| due < end)?;
        if let Some(stop) = cut(text, from, due).filter(|&stop| stop > from) {
            return Some(stop);
        }
        let most = from.saturating_add(self.buffer).min(end);
        if let Some(next) = memchr::memchr(b'>', text.get(due..most)?) {
            return Some(due + next + 1).filter(|&stop| stop < end);
        }
        let mut stop = most;
        while stop > from && text.get(stop).is_some_and(|byte| byte & 0xC0 == 0x80) {
            stop -= 1;
        }
        (from < stop && stop < end).then_some(stop)
    }
}
