//! The speed of decoding whole messages. For long messages, the measured time decides whether a comparison saved work, because
//! the cost of a value depends on its type, its length and the machine.

use std::time::Instant;

/// Texts below this size in bytes are not timed, because reading the clock takes as long as decoding some of their values.
const SMALL: usize = 16 << 10;

/// If a message is decoded and kept, at least this share of the time is for decoding. If it is more, a pause follows, in which
/// the time of decoding alone is measured.
const READ: f64 = 0.6;

/// The time of decoding one byte of a stream's messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// The time in nanoseconds, close to the least one measured; `None` if none was measured.
    byte: Option<f64>,
    /// The number of measurements. The first one is longer, because memory is allocated.
    found: u32,
}

impl Pace {
    /// The current time; `None` if a text of this length is not timed.
    pub(super) fn start(self, length: usize) -> Option<Instant> {
        (length >= SMALL).then(Instant::now)
    }

    /// Records that a whole message was decoded since `since`, and whether it was kept.
    pub(super) fn learn(&mut self, length: usize, since: Option<Instant>, is_kept: bool) {
        if let Some(since) = since {
            let share = if is_kept { READ } else { 1.0 };
            let found = share * since.elapsed().as_nanos() as f64 / length as f64;
            let slower = |known: f64| found.min((7.0 * known + found) / 8.0);
            self.byte = Some(self.byte.map_or(found, slower));
            self.found += 1;
        }
    }

    /// Whether a message took less time since `since` than decoding all of it would have taken; `None` if that time is unknown.
    pub(super) fn is_beaten(self, length: usize, since: Instant) -> Option<bool> {
        Some((since.elapsed().as_nanos() as f64) < self.full(length)?)
    }

    /// Whether one more whole message should be decoded to measure the time: there is only one measurement, and the comparison
    /// since `since` took more than half of it.
    pub(super) fn is_uncertain(self, length: usize, since: Instant) -> bool {
        let taken = since.elapsed().as_nanos() as f64;
        self.found == 1 && self.full(length).is_some_and(|full| 2.0 * taken > full)
    }

    /// Whether the decoding of a whole message was measured.
    pub(super) fn is_known(self) -> bool {
        self.found > 0
    }

    /// The expected time in nanoseconds of decoding a message of this length; `None` if it is unknown.
    fn full(self, length: usize) -> Option<f64> {
        Some(self.byte? * length as f64)
    }
}
