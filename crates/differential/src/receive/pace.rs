//! How fast messages are read as a whole: whether comparing one was worth it is best told by the clock.

use std::time::Instant;

/// Texts below this size are not timed: the clock takes as long as some of their values.
const SMALL: usize = 16 << 10;

/// The time a byte takes to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// In nanoseconds; about the mean of the last few messages.
    byte: Option<f64>,
}

impl Pace {
    pub(super) fn start(self, length: usize) -> Option<Instant> {
        (length >= SMALL).then(Instant::now)
    }

    /// A message was read as a whole since then.
    pub(super) fn learn(&mut self, length: usize, since: Option<Instant>) {
        if let Some(since) = since {
            let found = since.elapsed().as_nanos() as f64 / length as f64;
            self.byte = Some(self.byte.map_or(found, |known| (3.0 * known + found) / 4.0));
        }
    }

    /// Whether a message took less time since then than reading all of it would have; nothing, if that is not known.
    pub(super) fn is_beaten(self, length: usize, since: Instant) -> Option<bool> {
        let full = self.byte? * length as f64;
        Some((since.elapsed().as_nanos() as f64) < full)
    }
}
