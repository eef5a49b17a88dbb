//! The types of `time`: a dateTime with its offset, dates and times without.

use time::{Duration as TimeDuration, Month, OffsetDateTime, UtcOffset};

use super::{DIGITS, NO_ZONE, RANGE, YEAR, ZONE};
use crate::datetime::Zone;
use crate::{ConversionError, Date, DateTime, Duration, Time};

/// The fields of a date. `Err` has the reason.
fn date(year: i64, month: u8, day: u8) -> Result<time::Date, &'static str> {
    if year < 1 {
        return Err(YEAR);
    }
    let (year, month) = (
        i32::try_from(year).map_err(|_| RANGE)?,
        Month::try_from(month).map_err(|_| RANGE)?,
    );
    time::Date::from_calendar_date(year, month, day).map_err(|_| RANGE)
}

/// The instant with its offset. It is an error if there is no zone.
impl TryFrom<&DateTime> for OffsetDateTime {
    type Error = ConversionError;

    fn try_from(value: &DateTime) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "time::OffsetDateTime", reason);
        let zone = value.zone().ok_or_else(|| wrong(NO_ZONE))?;
        let date = date(value.year(), value.month(), value.day()).map_err(wrong)?;
        let nanosecond = value.nanosecond().ok_or_else(|| wrong(DIGITS))?;
        let time =
            time::Time::from_hms_nano(value.hour(), value.minute(), value.second(), nanosecond);
        let time = time.map_err(|_| wrong(RANGE))?;
        let offset = UtcOffset::from_whole_seconds(i32::from(zone.minutes()) * 60)
            .map_err(|_| wrong(RANGE))?;
        Ok(Self::new_in_offset(date, time, offset))
    }
}

/// It is an error if the offset is not a number of minutes.
impl TryFrom<&OffsetDateTime> for DateTime {
    type Error = ConversionError;

    fn try_from(value: &OffsetDateTime) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "dateTime", reason);
        let offset = value.offset().whole_seconds();
        let zone = (offset % 60 == 0)
            .then(|| i16::try_from(offset / 60).ok().and_then(Zone::from_minutes));
        let zone = zone
            .flatten()
            .ok_or_else(|| wrong("its offset is not one that XML Schema has"))?;
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        let (hour, minute, second, nanosecond) = value.time().as_hms_nano();
        let made = Self::new(
            value.year().into(),
            value.month().into(),
            value.day(),
            hour,
            minute,
            second,
        );
        let made = made.ok_or_else(|| wrong(RANGE))?;
        Ok(made.with_zone(Some(zone)).with_nanosecond(nanosecond))
    }
}

/// It is an error if the date has a zone.
impl TryFrom<&Date> for time::Date {
    type Error = ConversionError;

    fn try_from(value: &Date) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "time::Date", reason);
        if value.zone().is_some() {
            return Err(wrong(ZONE));
        }
        date(value.year(), value.month(), value.day()).map_err(wrong)
    }
}

/// The date, without a zone.
impl TryFrom<&time::Date> for Date {
    type Error = ConversionError;

    fn try_from(value: &time::Date) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "date", reason);
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        Self::new(value.year().into(), value.month().into(), value.day())
            .ok_or_else(|| wrong(RANGE))
    }
}

/// It is an error if the time has a zone.
impl TryFrom<&Time> for time::Time {
    type Error = ConversionError;

    fn try_from(value: &Time) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "time::Time", reason);
        if value.zone().is_some() {
            return Err(wrong(ZONE));
        }
        let nanosecond = value.nanosecond().ok_or_else(|| wrong(DIGITS))?;
        Self::from_hms_nano(value.hour(), value.minute(), value.second(), nanosecond)
            .map_err(|_| wrong(RANGE))
    }
}

/// The time, without a zone.
impl TryFrom<&time::Time> for Time {
    type Error = ConversionError;

    fn try_from(value: &time::Time) -> Result<Self, ConversionError> {
        let (hour, minute, second, nanosecond) = value.as_hms_nano();
        let made = Self::new(hour, minute, second);
        let made = made.ok_or_else(|| ConversionError::new(value, "time", RANGE))?;
        Ok(made.with_nanosecond(nanosecond))
    }
}

/// It is an error if the duration has months, or more than nine digits of a second.
impl TryFrom<&Duration> for TimeDuration {
    type Error = ConversionError;

    fn try_from(value: &Duration) -> Result<Self, ConversionError> {
        let (seconds, nanoseconds) = value.to_seconds()?;
        Ok(Self::new(seconds, nanoseconds))
    }
}

impl From<TimeDuration> for Duration {
    fn from(value: TimeDuration) -> Self {
        Self::from_seconds(value.whole_seconds(), value.subsec_nanoseconds()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        for text in [
            "2024-02-29T23:59:59.000000001-05:30",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.5+14:00",
        ] {
            let value: DateTime = text.parse().unwrap();
            let other = OffsetDateTime::try_from(&value).unwrap();
            assert_eq!(DateTime::try_from(&other).unwrap().to_string(), text);
        }
        let date: Date = "2024-02-29".parse().unwrap();
        assert_eq!(
            Date::try_from(&time::Date::try_from(&date).unwrap()),
            Ok(date)
        );
        let time: Time = "23:59:59.25".parse().unwrap();
        assert_eq!(
            Time::try_from(&time::Time::try_from(&time).unwrap()),
            Ok(time)
        );
        for text in ["PT90.5S", "-PT0.25S", "P1D"] {
            let duration: Duration = text.parse().unwrap();
            assert_eq!(
                Duration::from(TimeDuration::try_from(&duration).unwrap()),
                duration
            );
        }
    }

    #[test]
    fn what_would_be_lost_is_an_error() {
        let reason = |text: &str| {
            OffsetDateTime::try_from(&text.parse().unwrap())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            reason("2024-01-01T00:00:00"),
            "\"2024-01-01T00:00:00\" cannot be a time::OffsetDateTime: it has no time zone"
        );
        assert!(reason("-0001-01-01T00:00:00Z").ends_with(YEAR));
        assert!(reason("9999999-01-01T00:00:00Z").ends_with(RANGE));
        assert!(reason("2024-01-01T00:00:00.1234567891Z").ends_with(DIGITS));
        let zoned: Date = "2024-01-01Z".parse().unwrap();
        assert!(
            time::Date::try_from(&zoned)
                .unwrap_err()
                .to_string()
                .ends_with(ZONE)
        );
        let odd = OffsetDateTime::UNIX_EPOCH.to_offset(UtcOffset::from_whole_seconds(61).unwrap());
        assert!(
            DateTime::try_from(&odd)
                .unwrap_err()
                .to_string()
                .ends_with("its offset is not one that XML Schema has")
        );
        let zero = time::Date::from_calendar_date(0, Month::January, 1).unwrap();
        assert_eq!(
            Date::try_from(&zero).unwrap_err().to_string(),
            format!("\"0000-01-01\" cannot be a date: {YEAR}")
        );
    }
}
