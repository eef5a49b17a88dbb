//! What writing costs by the clock: only told, nothing is decided by it.

use std::time::Duration;

/// Bits behind the point in what a byte costs.
const FRACTION: u32 = 10;

/// What writing costs, by the clock; 0: not known.
//
// In integers: to make floating-point numbers of counts, and of the result a time, takes as long as all else that a store
// does with a message that was sent before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// A byte of text without a template, in parts of a nanosecond.
    byte: u64,
    /// A message with one, in nanoseconds.
    message: u64,
}

impl Pace {
    /// Whether it is known what messages without a template cost, ...
    #[inline]
    pub(super) fn knows_plain(self) -> bool {
        self.byte != 0
    }

    /// ... and those with one.
    #[inline]
    pub(super) fn knows_updates(self) -> bool {
        self.message != 0
    }

    /// With a message written without a template. The least counts: nothing makes a message faster than it is, much makes it
    /// slower.
    pub(super) fn plain(self, taken: Duration, bytes: u64) -> Self {
        let found = ((nanos(taken) << FRACTION) / bytes.max(1)).max(1);
        let byte = match self.byte {
            0 => found,
            byte => byte.min(found),
        };
        Self { byte, ..self }
    }

    /// With a message written by a template: about the mean of the last few.
    pub(super) fn updated(self, taken: Duration) -> Self {
        let found = nanos(taken).max(1);
        let message = match self.message {
            0 => found,
            message => (3 * message + found).div_ceil(4),
        };
        Self { message, ..self }
    }

    /// About how much longer a message of so many bytes would have taken without a template.
    #[inline]
    pub(super) fn saved(self, bytes: u64) -> Duration {
        let plain = self.byte.saturating_mul(bytes) >> FRACTION;
        Duration::from_nanos(plain.saturating_sub(self.message))
    }
}

/// Some days at most, which can be multiplied.
fn nanos(taken: Duration) -> u64 {
    u64::try_from(taken.as_nanos()).map_or(1 << 50, |nanos| nanos.min(1 << 50))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_what_it_would_have_cost_without_what_it_did() {
        let pace = Pace::default();
        assert!(!pace.knows_plain() && !pace.knows_updates());
        let pace = pace.plain(Duration::from_nanos(2000), 4000);
        let pace = pace.plain(Duration::from_nanos(9000), 4000);
        let pace = pace.updated(Duration::from_nanos(100));
        assert!(pace.knows_plain() && pace.knows_updates());
        assert_eq!(pace.saved(4000), Duration::from_nanos(1900));
        assert_eq!(pace.saved(100), Duration::ZERO);
        let slower = pace.updated(Duration::from_nanos(500));
        assert_eq!(slower.saved(4000), Duration::from_nanos(1800));
        let longest = Pace::default()
            .plain(Duration::MAX, 0)
            .updated(Duration::MAX);
        assert_eq!(longest.saved(0), Duration::ZERO);
        assert!(longest.saved(u64::MAX) > Duration::ZERO);
    }
}
