//! Processing interrupts: the decoder is stopped at regular distances, so that its state can be saved.
//!
//! As in the paper it is given a text that ends there for now. The place is moved back behind the last end tag
//! before it, if there is one: where nothing is begun, the state is small, and the decoder comes to no stop in the midst of
//! a value. Inside of a text that is longer than a buffer the distance doubles, since the text so far is part of the state.

use bsoap_codec::Decoder;

use super::checkpointer::Reading;
use crate::receive::received::Fail;
use crate::receive::text::cut;

/// When the decoder is to be stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupts {
    every: usize,
    buffer: usize,
    /// How far the last one was from the one before, if it was in the midst of a text.
    gap: usize,
}

impl Interrupts {
    pub(super) fn new(every: usize, buffer: usize) -> Self {
        Self {
            every,
            buffer: buffer.max(every),
            gap: 0,
        }
    }

    /// Reading begins, or is taken up elsewhere.
    pub(super) fn restart(&mut self) {
        self.gap = 0;
    }

    /// Reads on to the next interrupt. `false` if the text, or what was to be read of it, came to its end before.
    pub(super) fn next(&mut self, reading: &mut Reading<'_>) -> Result<bool, Fail> {
        let begun = reading.decoder.offset() as usize;
        loop {
            let from = reading.decoder.offset() as usize;
            let Some(stop) = self.stop(reading.text, from, reading.end) else {
                reading.read_to(reading.end, None)?;
                return Ok(false);
            };
            reading.read_to(stop, None)?;
            if reading.is_there() {
                return Ok(false);
            }
            let to = reading.decoder.offset() as usize;
            if to > from && self.is_wanted(reading.decoder, to - begun) {
                return Ok(true);
            }
            if to == from {
                // Something that ends later than it seemed to: all that is there.
                reading.read_to(reading.end, None)?;
                return Ok(false);
            }
        }
    }

    /// Whether the state is to be saved here, so far from where it was the last time.
    fn is_wanted(&mut self, decoder: &Decoder, gap: usize) -> bool {
        if decoder.is_between() {
            self.gap = 0;
            return true;
        }
        let is_far = gap >= self.buffer.max(self.gap.saturating_mul(2));
        let is_wanted = is_far && decoder.is_steady();
        if is_wanted {
            self.gap = gap;
        }
        is_wanted
    }

    /// Where to stop, if that is before the end.
    fn stop(&self, text: &[u8], from: usize, end: usize) -> Option<usize> {
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
