//! How fast messages are read as a whole. Whether comparing a long one paid is decided by the clock: what a value costs
//! depends on its type, on its length and on the machine.

use std::time::Instant;

/// Texts below this size are not timed: the clock takes as long as some of their values.
const SMALL: usize = 16 << 10;

/// Where a message is kept, this part of the time is for reading it.
const READ: f64 = 0.875;

/// The time a byte takes to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// In nanoseconds; hardly more than the least that was found.
    byte: Option<f64>,
    /// How often it was found. The first time memory is new, and it takes longer.
    found: u32,
}

impl Pace {
    pub(super) fn start(self, length: usize) -> Option<Instant> {
        (length >= SMALL).then(Instant::now)
    }

    /// A message was read as a whole since then, and kept or not.
    pub(super) fn learn(&mut self, length: usize, since: Option<Instant>, is_kept: bool) {
        if let Some(since) = since {
            let share = if is_kept { READ } else { 1.0 };
            let found = share * since.elapsed().as_nanos() as f64 / length as f64;
            let slower = |known: f64| found.min((7.0 * known + found) / 8.0);
            self.byte = Some(self.byte.map_or(found, slower));
            self.found += 1;
        }
    }

    /// Whether a message took less time since then than reading all of it would have; nothing, if that is not known.
    pub(super) fn is_beaten(self, length: usize, since: Instant) -> Option<bool> {
        Some((since.elapsed().as_nanos() as f64) < self.full(length)?)
    }

    /// Whether that is still uncertain: all of one more message should be read, to know the time.
    pub(super) fn is_uncertain(self, length: usize, since: Instant) -> bool {
        let taken = since.elapsed().as_nanos() as f64;
        self.found == 1 && self.full(length).is_some_and(|full| 2.0 * taken > full)
    }

    /// Whether any message was read as a whole.
    pub(super) fn is_known(self) -> bool {
        self.found > 0
    }

    fn full(self, length: usize) -> Option<f64> {
        Some(self.byte? * length as f64)
    }
}
