//! Durations of months and seconds, and those of seconds alone.

use std::time;

use super::{DIGITS, RANGE};
use crate::{ConversionError, Duration};

impl Duration {
    /// The whole seconds and the nanoseconds, both less than zero in a negative duration.
    ///
    /// # Errors
    /// If it has months, more than nine digits of a second, or more seconds than an `i64` counts.
    pub fn to_seconds(&self) -> Result<(i64, i32), ConversionError> {
        let nanoseconds = self.nanoseconds()? as i32; // below a billion
        let seconds = i64::try_from(self.seconds()).map_err(|_| self.unlike(RANGE))?;
        Ok((
            seconds,
            if self.is_negative() {
                -nanoseconds
            } else {
                nanoseconds
            },
        ))
    }

    /// The nanoseconds of a duration without months.
    fn nanoseconds(&self) -> Result<u32, ConversionError> {
        let digits = self.fraction();
        match digits.len() {
            _ if self.months() != 0 => Err(self.unlike("it has months, whose length is not fixed")),
            ..=9 => format!("{digits:0<9}")
                .parse()
                .map_err(|_| self.unlike(DIGITS)),
            _ => Err(self.unlike(DIGITS)),
        }
    }

    fn unlike(&self, reason: &'static str) -> ConversionError {
        ConversionError::new(self, "duration of seconds", reason)
    }

    /// A duration of seconds and nanoseconds of the same sign, these below 1 000 000 000. `None` if they are not.
    pub fn from_seconds(seconds: i64, nanoseconds: i32) -> Option<Self> {
        let differ = seconds != 0 && nanoseconds != 0 && (seconds < 0) != (nanoseconds < 0);
        if differ || nanoseconds.unsigned_abs() >= 1_000_000_000 {
            return None;
        }
        let sign = if seconds < 0 || nanoseconds < 0 {
            "-"
        } else {
            ""
        };
        let text = format!(
            "{sign}PT{}.{:09}S",
            seconds.unsigned_abs(),
            nanoseconds.unsigned_abs()
        );
        Self::parse(&text).ok()
    }
}

impl Default for Duration {
    fn default() -> Self {
        time::Duration::ZERO.into()
    }
}

impl From<time::Duration> for Duration {
    fn from(duration: time::Duration) -> Self {
        let text = format!("PT{}.{:09}S", duration.as_secs(), duration.subsec_nanos());
        Self::parse(&text).expect("a u64 of seconds and nine digits are a lexical form")
    }
}

/// It is an error if the duration has months, is negative, or has more than nine digits of a second.
impl TryFrom<&Duration> for time::Duration {
    type Error = ConversionError;

    fn try_from(duration: &Duration) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(duration, "std::time::Duration", reason);
        if duration.is_negative() {
            return Err(wrong("it is negative"));
        }
        let nanoseconds = duration.nanoseconds()?;
        let seconds = u64::try_from(duration.seconds()).map_err(|_| wrong(RANGE))?;
        Ok(Self::new(seconds, nanoseconds))
    }
}

impl TryFrom<Duration> for time::Duration {
    type Error = ConversionError;

    fn try_from(duration: Duration) -> Result<Self, ConversionError> {
        Self::try_from(&duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_seconds_come_back() {
        for (seconds, nanoseconds) in [(0, 0), (5, 1), (u64::MAX, 999_999_999)] {
            let given = time::Duration::new(seconds, nanoseconds);
            assert_eq!(time::Duration::try_from(Duration::from(given)), Ok(given));
        }
        for pair in [(0, 0), (90, 500_000_000), (-90, -1), (0, -1), (i64::MIN, 0)] {
            assert_eq!(
                Duration::from_seconds(pair.0, pair.1).unwrap().to_seconds(),
                Ok(pair)
            );
        }
        assert_eq!(Duration::from_seconds(1, -1), None);
        assert_eq!(Duration::default().to_string(), "PT0S");
    }

    #[test]
    fn what_no_such_duration_has_is_an_error() {
        let reason = |text: &str| {
            time::Duration::try_from(text.parse::<Duration>().unwrap())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            reason("P1M"),
            "\"P1M\" cannot be a duration of seconds: it has months, whose length is not fixed"
        );
        assert_eq!(
            reason("-PT1S"),
            "\"-PT1S\" cannot be a std::time::Duration: it is negative"
        );
        assert!(reason("PT0.0000000001S").ends_with(DIGITS));
        assert!(reason("P999999999999999999D").ends_with(RANGE));
    }
}
