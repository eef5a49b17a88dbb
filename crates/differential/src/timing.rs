//! The time that saved messages save. It is only reported; no decision depends on it.

use std::time::{Duration, Instant};

/// One in this number of short messages is timed, because reading the clock takes as long as converting some of their values.
const SAMPLED: u64 = 16;
/// The number of fraction bits of a cost.
const FRACTION: u32 = 10;

/// A first conversion, and one whose result is kept, can take about twice as long as the same conversion without saved
/// messages: memory is allocated, and caches are cold. Until the cost is measured, their time is divided by this.
const COLD: u64 = 2;
/// Once saved messages have saved this many whole conversions, one is made to measure its time; and again when they have
/// saved twice and four times as many.
const WORTH: u64 = 16;
/// The number of these measurements.
const MEASUREMENTS: u32 = 3;

/// The cost of converting a stream's messages without a saved message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// The least cost of a byte of text that was found, in 1/1024 ns; 0 if none was.
    byte: u64,
    /// The number of conversions that were made to measure it.
    measured: u32,
    /// The time saved so far, in nanoseconds.
    saved: u64,
}

impl Cost {
    #[inline]
    pub(crate) fn is_unknown(self) -> bool {
        self.byte == 0
    }

    /// That of a message of this number of bytes, in nanoseconds.
    fn of(self, bytes: usize) -> u64 {
        let found = self.byte.saturating_mul(bytes as u64) >> FRACTION;
        match self.measured {
            0 => found / COLD,
            _ => found,
        }
    }

    /// Disturbances only add time, so the least cost is kept.
    fn add(&mut self, taken: Duration, bytes: usize) {
        let found = ((nanoseconds(taken) << FRACTION) / bytes.max(1) as u64).max(1);
        self.byte = match self.byte {
            0 => found,
            known => known.min(found),
        };
    }
}

/// Times the conversion of one message.
//
// In integers: converting counts to floating-point numbers and back took as long as the rest of the bookkeeping for a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    cost: Cost,
    is_on: bool,
    /// The number of messages that this one is a sample of.
    weight: u32,
}

impl Timer {
    /// A timer for the `nth` message of a stream whose messages have this cost. A message that `is_long`, or whose time
    /// `is_needed`, is timed in any case.
    #[inline]
    pub(crate) fn new(cost: Cost, is_long: bool, nth: u64, is_needed: bool) -> Self {
        Self {
            cost,
            is_on: is_long || is_needed || nth.is_multiple_of(SAMPLED),
            weight: if is_long { 1 } else { SAMPLED as u32 },
        }
    }

    /// A timer for a message that is not timed.
    #[inline]
    pub(crate) fn off() -> Self {
        Self {
            cost: Cost::default(),
            is_on: false,
            weight: 0,
        }
    }

    /// The cost as far as it is known now.
    #[inline]
    pub(crate) fn cost(self) -> Cost {
        self.cost
    }

    /// The current time; `None` if this message is not timed.
    #[inline]
    pub(crate) fn start(self) -> Option<Instant> {
        self.is_on.then(Instant::now)
    }

    /// Records that a message of this number of bytes was converted without a saved one since `start`, or was kept.
    #[inline]
    pub(crate) fn learn(&mut self, start: Option<Instant>, bytes: usize) {
        if let Some(start) = start {
            self.cost.add(start.elapsed(), bytes);
        }
    }

    /// The approximate time saved by a message that was converted with a saved one since `start`, and by those it is a sample
    /// of. `convert` converts it without the saved one; it is called to measure the time if that is a small part of what was
    /// saved, and returns whether it succeeded.
    #[inline]
    pub(crate) fn saved(
        &mut self,
        start: Option<Instant>,
        bytes: usize,
        convert: impl FnOnce() -> bool,
    ) -> Duration {
        let Some(start) = start else {
            return Duration::ZERO;
        };
        let saved = self.saved_in(start.elapsed(), bytes);
        if !self.is_due(bytes) {
            return saved;
        }
        let start = Instant::now();
        let is_converted = convert();
        let taken = start.elapsed();
        if is_converted {
            self.cost.add(taken, bytes);
            self.cost.measured += 1;
        }
        saved.saturating_sub(taken)
    }

    fn saved_in(&mut self, taken: Duration, bytes: usize) -> Duration {
        let saved = self.cost.of(bytes).saturating_sub(nanoseconds(taken));
        let saved = saved.saturating_mul(self.weight.into());
        self.cost.saved = self.cost.saved.saturating_add(saved);
        Duration::from_nanos(saved)
    }

    /// Whether so much was saved that the cost should be measured.
    fn is_due(self, bytes: usize) -> bool {
        let Cost {
            measured, saved, ..
        } = self.cost;
        let worth = self.cost.of(bytes).saturating_mul(WORTH << measured);
        measured < MEASUREMENTS && worth > 0 && saved >= worth
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
        let nanos = Duration::from_nanos;
        let mut timer = Timer::new(Cost::default(), true, 1, false);
        assert!(timer.start().is_some() && timer.cost().is_unknown());
        for taken in [4000, 9000] {
            timer.cost.add(nanos(taken), 4000);
        }
        assert_eq!(timer.saved_in(nanos(100), 4000), nanos(1900));
        assert_eq!(timer.saved_in(nanos(100), 100), Duration::ZERO);
        // Of short messages one in sixteen is timed, for all.
        let short = |nth| Timer::new(timer.cost(), false, nth, false);
        assert!(short(15).start().is_none());
        assert_eq!(short(16).saved_in(nanos(100), 4000), nanos(16 * 1900));
        let mut longest = Timer::new(Cost::default(), true, 1, false);
        longest.cost.add(Duration::MAX, 0);
        assert_eq!(longest.saved_in(Duration::MAX, 0), Duration::ZERO);
        assert!(longest.saved_in(Duration::ZERO, usize::MAX) > Duration::ZERO);
    }

    #[test]
    fn the_cost_is_measured_three_times_once_that_takes_a_sixteenth_of_what_was_saved() {
        let mut timer = Timer::new(Cost::default(), true, 1, false);
        timer.cost.add(Duration::from_nanos(2000), 1000);
        let mut measured_at = Vec::new();
        for message in 1..200 {
            timer.saved_in(Duration::ZERO, 1000);
            if timer.is_due(1000) {
                measured_at.push(message);
                timer.cost.add(Duration::from_nanos(1500), 1000);
                timer.cost.measured += 1;
            }
        }
        // Before, half of the first time is taken for the cost.
        assert_eq!(measured_at, [16, 38, 70]);
        assert_eq!(timer.saved_in(Duration::ZERO, 1000).as_nanos(), 1500);
    }
}
