//! The types of `jiff`: an instant for a dateTime, a civil date and time for the others.

use jiff::{SignedDuration, Timestamp, civil};

use super::{DIGITS, NO_ZONE, RANGE, YEAR, ZONE};
use crate::{ConversionError, Date, DateTime, Duration, Time};

/// The instant. The offset is not part of it. It is an error if there is no zone.
impl TryFrom<&DateTime> for Timestamp {
    type Error = ConversionError;

    fn try_from(value: &DateTime) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "jiff::Timestamp", reason);
        let seconds = value.timestamp().ok_or_else(|| wrong(NO_ZONE))?;
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        let nanosecond = value.nanosecond().ok_or_else(|| wrong(DIGITS))?;
        let second = i64::try_from(seconds).map_err(|_| wrong(RANGE))?;
        // Below a billion.
        Self::new(second, nanosecond as i32).map_err(|_| wrong(RANGE))
    }
}

/// The instant, in UTC.
impl TryFrom<&Timestamp> for DateTime {
    type Error = ConversionError;

    fn try_from(value: &Timestamp) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "dateTime", reason);
        // Both parts have the sign of the instant.
        let (mut second, mut nanosecond) = (value.as_second(), value.subsec_nanosecond());
        if nanosecond < 0 {
            (second, nanosecond) = (second - 1, nanosecond + 1_000_000_000);
        }
        let made =
            Self::from_timestamp(second, nanosecond.unsigned_abs()).ok_or_else(|| wrong(RANGE))?;
        if made.year() < 1 {
            Err(wrong(YEAR))
        } else {
            Ok(made)
        }
    }
}

/// It is an error if the date has a zone.
impl TryFrom<&Date> for civil::Date {
    type Error = ConversionError;

    fn try_from(value: &Date) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "jiff::civil::Date", reason);
        if value.zone().is_some() {
            return Err(wrong(ZONE));
        }
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        let year = i16::try_from(value.year()).map_err(|_| wrong(RANGE))?;
        Self::new(year, value.month() as i8, value.day() as i8).map_err(|_| wrong(RANGE))
    }
}

/// The date, without a zone.
impl TryFrom<&civil::Date> for Date {
    type Error = ConversionError;

    fn try_from(value: &civil::Date) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "date", reason);
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        let (month, day) = (value.month().unsigned_abs(), value.day().unsigned_abs());
        Self::new(value.year().into(), month, day).ok_or_else(|| wrong(RANGE))
    }
}

/// It is an error if the time has a zone.
impl TryFrom<&Time> for civil::Time {
    type Error = ConversionError;

    fn try_from(value: &Time) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "jiff::civil::Time", reason);
        if value.zone().is_some() {
            return Err(wrong(ZONE));
        }
        let nanosecond = value.nanosecond().ok_or_else(|| wrong(DIGITS))?;
        let [hour, minute, second] =
            [value.hour(), value.minute(), value.second()].map(|field| field as i8);
        Self::new(hour, minute, second, nanosecond as i32).map_err(|_| wrong(RANGE))
    }
}

/// The time, without a zone.
impl TryFrom<&civil::Time> for Time {
    type Error = ConversionError;

    fn try_from(value: &civil::Time) -> Result<Self, ConversionError> {
        let [hour, minute, second] =
            [value.hour(), value.minute(), value.second()].map(i8::unsigned_abs);
        let made = Self::new(hour, minute, second);
        let made = made.ok_or_else(|| ConversionError::new(value, "time", RANGE))?;
        Ok(made.with_nanosecond(value.subsec_nanosecond().unsigned_abs()))
    }
}

/// It is an error if the duration has months, or more than nine digits of a second.
impl TryFrom<&Duration> for SignedDuration {
    type Error = ConversionError;

    fn try_from(value: &Duration) -> Result<Self, ConversionError> {
        let (seconds, nanoseconds) = value.to_seconds()?;
        Ok(Self::new(seconds, nanoseconds))
    }
}

impl From<SignedDuration> for Duration {
    fn from(value: SignedDuration) -> Self {
        Self::from_seconds(value.as_secs(), value.subsec_nanos()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        for text in [
            "2024-02-29T23:59:59.000000001Z",
            "0001-01-01T00:00:00Z",
            "9999-12-30T22:00:00Z",
            "1969-12-31T23:59:59.5Z",
        ] {
            let value: DateTime = text.parse().unwrap();
            let instant = Timestamp::try_from(&value).unwrap();
            assert_eq!(instant.to_string(), text);
            assert_eq!(DateTime::try_from(&instant), Ok(value));
        }
        let east: DateTime = "2024-01-01T01:00:00+01:00".parse().unwrap();
        assert_eq!(
            Timestamp::try_from(&east).unwrap().to_string(),
            "2024-01-01T00:00:00Z"
        );
        let date: Date = "2024-02-29".parse().unwrap();
        assert_eq!(
            Date::try_from(&civil::Date::try_from(&date).unwrap()),
            Ok(date)
        );
        let time: Time = "23:59:59.25".parse().unwrap();
        assert_eq!(
            Time::try_from(&civil::Time::try_from(&time).unwrap()),
            Ok(time)
        );
        for text in ["PT90.5S", "-PT0.25S", "P1D"] {
            let duration: Duration = text.parse().unwrap();
            assert_eq!(
                Duration::from(SignedDuration::try_from(&duration).unwrap()),
                duration
            );
        }
    }

    #[test]
    fn what_would_be_lost_is_an_error() {
        let instant = |text: &str| {
            Timestamp::try_from(&text.parse::<DateTime>().unwrap())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            instant("2024-01-01T00:00:00"),
            "\"2024-01-01T00:00:00\" cannot be a jiff::Timestamp: it has no time zone"
        );
        assert!(instant("-0001-01-01T00:00:00Z").ends_with(YEAR));
        assert!(instant("10000-01-01T00:00:00Z").ends_with(RANGE));
        assert!(instant("2024-01-01T00:00:00.1234567891Z").ends_with(DIGITS));
        let zoned: Date = "2024-01-01Z".parse().unwrap();
        assert!(
            civil::Date::try_from(&zoned)
                .unwrap_err()
                .to_string()
                .ends_with(ZONE)
        );
        let zero =
            DateTime::try_from(&"0000-06-01T00:00:00Z".parse::<Timestamp>().unwrap()).unwrap_err();
        assert_eq!(
            zero.to_string(),
            format!("\"0000-06-01T00:00:00Z\" cannot be a dateTime: {YEAR}")
        );
        assert!(Date::try_from(&civil::Date::new(0, 1, 1).unwrap()).is_err());
        assert!(SignedDuration::try_from(&"P1M".parse::<Duration>().unwrap()).is_err());
    }
}
