//! The time that saved messages save. It is only reported; no decision depends on it.

use std::time::{Duration, Instant};

/// One in this number of short messages is timed, because reading the clock takes as long as converting some of their values.
const SAMPLED: u64 = 16;
/// The number of fraction bits of a cost.
const FRACTION: u32 = 10;

/// Times the conversion of one message.
//
// In integers: converting counts to floating-point numbers and back took as long as the rest of the bookkeeping for a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// What a byte of text costs without a saved message, in 1/1024 ns; 0 if unknown.
    byte_cost: u64,
    is_on: bool,
    /// The number of messages that this one is a sample of.
    weight: u32,
}

impl Timer {
    /// A timer for the `nth` message. `byte_cost`: the known cost of a byte, 0 if unknown. A message that `is_long`, or whose
    /// time `is_needed`, is timed in any case.
    #[inline]
    pub(crate) fn new(byte_cost: u64, is_long: bool, nth: u64, is_needed: bool) -> Self {
        Self {
            byte_cost,
            is_on: is_long || is_needed || nth.is_multiple_of(SAMPLED),
            weight: if is_long { 1 } else { SAMPLED as u32 },
        }
    }

    /// A timer for a message that is not timed.
    #[inline]
    pub(crate) fn off() -> Self {
        Self {
            byte_cost: 0,
            is_on: false,
            weight: 0,
        }
    }

    /// The known cost of a byte, in 1/1024 ns; 0 if unknown.
    #[inline]
    pub(crate) fn byte_cost(self) -> u64 {
        self.byte_cost
    }

    /// The current time; `None` if this message is not timed.
    #[inline]
    pub(crate) fn start(self) -> Option<Instant> {
        self.is_on.then(Instant::now)
    }

    /// Records that a message of this number of bytes was converted without a saved one since `start`. The least cost is kept,
    /// because disturbances only add time.
    #[inline]
    pub(crate) fn learn(&mut self, start: Option<Instant>, bytes: usize) {
        if let Some(start) = start {
            self.learn_cost(start.elapsed(), bytes);
        }
    }

    fn learn_cost(&mut self, taken: Duration, bytes: usize) {
        let found = ((nanoseconds(taken) << FRACTION) / bytes.max(1) as u64).max(1);
        self.byte_cost = match self.byte_cost {
            0 => found,
            known => known.min(found),
        };
    }

    /// The approximate time saved by a message that was converted with a saved one since `start`, and by those it is a sample
    /// of.
    #[inline]
    pub(crate) fn saved(self, start: Option<Instant>, bytes: usize) -> Duration {
        start.map_or(Duration::ZERO, |start| {
            self.saved_in(start.elapsed(), bytes)
        })
    }

    fn saved_in(self, taken: Duration, bytes: usize) -> Duration {
        let without = self.byte_cost.saturating_mul(bytes as u64) >> FRACTION;
        Duration::from_nanos(without.saturating_sub(nanoseconds(taken))) * self.weight
    }
}

/// A duration in nanoseconds, at most some days, so that products do not overflow.
fn nanoseconds(taken: Duration) -> u64 {
    u64::try_from(taken.as_nanos()).map_or(1 << 50, |nanoseconds| nanoseconds.min(1 << 50))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_the_cost_without_a_saved_message_minus_the_time_taken() {
        let mut timer = Timer::new(0, true, 1, false);
        assert!(timer.start().is_some());
        for taken in [2000, 9000] {
            timer.learn_cost(Duration::from_nanos(taken), 4000);
        }
        let saved = |timer: Timer, taken, bytes| timer.saved_in(Duration::from_nanos(taken), bytes);
        assert_eq!(saved(timer, 100, 4000), Duration::from_nanos(1900));
        assert_eq!(saved(timer, 100, 100), Duration::ZERO);
        // Of short messages one in sixteen is timed, for all.
        let short = |nth| Timer::new(timer.byte_cost(), false, nth, false);
        assert!(short(15).start().is_none());
        assert_eq!(saved(short(16), 100, 4000), Duration::from_nanos(16 * 1900));
        let mut longest = Timer::new(0, true, 1, false);
        longest.learn_cost(Duration::MAX, 0);
        assert_eq!(longest.saved_in(Duration::MAX, 0), Duration::ZERO);
        assert!(longest.saved_in(Duration::ZERO, usize::MAX) > Duration::ZERO);
    }
}
