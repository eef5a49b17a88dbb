//! What writing costs by the clock: only told, nothing is decided by it.

use std::time::Duration;

/// What writing costs, by the clock, in nanoseconds; 0: not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// A byte of text without a template.
    pub(super) byte: f64,
    /// A message with one.
    pub(super) message: f64,
}

impl Pace {
    /// With a message written without a template. The least counts: nothing makes a message faster than it is, much makes it
    /// slower.
    pub(super) fn plain(self, taken: Duration, bytes: u64) -> Self {
        let found = taken.as_nanos() as f64 / bytes.max(1) as f64;
        let byte = if self.byte > 0.0 {
            self.byte.min(found)
        } else {
            found
        };
        Self { byte, ..self }
    }

    /// With a message written by a template: about the mean of the last few.
    pub(super) fn updated(self, taken: Duration) -> Self {
        let found = taken.as_nanos() as f64;
        let message = if self.message > 0.0 {
            (3.0 * self.message + found) / 4.0
        } else {
            found
        };
        Self { message, ..self }
    }

    /// About how much longer a message of so many bytes would have taken without a template.
    pub(super) fn saved(self, bytes: u64) -> Duration {
        let plain = self.byte * bytes as f64;
        Duration::from_nanos((plain - self.message).max(0.0) as u64)
    }
}
