//! How slowly a peer may send and receive.

use std::time::Duration;

/// The least speed of a transfer: after `grace`, at least `rate` bytes a second on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pace {
    /// The time that a transfer may take however little is transferred.
    pub grace: Duration,
    /// The bytes a second that must be transferred in the time beyond that.
    pub rate: u64,
}

impl Pace {
    /// A pace of `rate` bytes a second after `grace`.
    pub fn new(grace: Duration, rate: u64) -> Self {
        Self { grace, rate }
    }

    /// The longest time that the transfer of this number of bytes may take.
    pub(crate) fn allowed(&self, bytes: u64) -> Duration {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.rate.max(1));
        let transfer = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        self.grace.saturating_add(transfer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_gives_more_time() {
        let pace = Pace::new(Duration::from_secs(5), 1000);
        assert_eq!(pace.allowed(0), Duration::from_secs(5));
        assert_eq!(pace.allowed(2500), Duration::from_millis(7500));
        assert!(pace.allowed(u64::MAX) > Duration::from_secs(1 << 30));
        assert!(Pace::new(Duration::ZERO, 0).allowed(1) > Duration::ZERO);
    }
}
