//! The types of `chrono`: a dateTime with a fixed offset, naive dates and times.

use chrono::{
    DateTime as ChronoDateTime, Datelike as _, FixedOffset, NaiveDate, NaiveTime, TimeDelta,
    Timelike as _,
};

use super::{DIGITS, NO_ZONE, RANGE, YEAR, ZONE};
use crate::datetime::Zone;
use crate::{ConversionError, Date, DateTime, Duration, Time};

const LEAP: &str = "it is a leap second, which XML Schema does not have";

/// The instant with its offset. It is an error if there is no zone.
impl TryFrom<&DateTime> for ChronoDateTime<FixedOffset> {
    type Error = ConversionError;

    fn try_from(value: &DateTime) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "chrono::DateTime", reason);
        let zone = value.zone().ok_or_else(|| wrong(NO_ZONE))?;
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        let nanosecond = value.nanosecond().ok_or_else(|| wrong(DIGITS))?;
        let year = i32::try_from(value.year()).map_err(|_| wrong(RANGE))?;
        let date = NaiveDate::from_ymd_opt(year, value.month().into(), value.day().into());
        let [hour, minute, second] = [value.hour(), value.minute(), value.second()].map(u32::from);
        let local = date.and_then(|date| date.and_hms_nano_opt(hour, minute, second, nanosecond));
        let offset = FixedOffset::east_opt(i32::from(zone.minutes()) * 60);
        let made = local.zip(offset);
        made.and_then(|(local, offset)| local.and_local_timezone(offset).single())
            .ok_or_else(|| wrong(RANGE))
    }
}

/// It is an error if the offset is not a number of minutes, or the second is a leap second.
impl TryFrom<&ChronoDateTime<FixedOffset>> for DateTime {
    type Error = ConversionError;

    fn try_from(value: &ChronoDateTime<FixedOffset>) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "dateTime", reason);
        let offset = value.offset().local_minus_utc();
        let zone = (offset % 60 == 0)
            .then(|| i16::try_from(offset / 60).ok().and_then(Zone::from_minutes));
        let zone = zone
            .flatten()
            .ok_or_else(|| wrong("its offset is not one that XML Schema has"))?;
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        if value.nanosecond() >= 1_000_000_000 {
            return Err(wrong(LEAP));
        }
        let [month, day, hour, minute, second] = [
            value.month(),
            value.day(),
            value.hour(),
            value.minute(),
            value.second(),
        ]
        .map(|field| field as u8);
        let made = Self::new(value.year().into(), month, day, hour, minute, second)
            .ok_or_else(|| wrong(RANGE))?;
        Ok(made
            .with_zone(Some(zone))
            .with_nanosecond(value.nanosecond()))
    }
}

/// It is an error if the date has a zone.
impl TryFrom<&Date> for NaiveDate {
    type Error = ConversionError;

    fn try_from(value: &Date) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "chrono::NaiveDate", reason);
        if value.zone().is_some() {
            return Err(wrong(ZONE));
        }
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        let year = i32::try_from(value.year()).map_err(|_| wrong(RANGE))?;
        Self::from_ymd_opt(year, value.month().into(), value.day().into())
            .ok_or_else(|| wrong(RANGE))
    }
}

/// The date, without a zone.
impl TryFrom<&NaiveDate> for Date {
    type Error = ConversionError;

    fn try_from(value: &NaiveDate) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "date", reason);
        if value.year() < 1 {
            return Err(wrong(YEAR));
        }
        let [month, day] = [value.month(), value.day()].map(|field| field as u8);
        Self::new(value.year().into(), month, day).ok_or_else(|| wrong(RANGE))
    }
}

/// It is an error if the time has a zone.
impl TryFrom<&Time> for NaiveTime {
    type Error = ConversionError;

    fn try_from(value: &Time) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "chrono::NaiveTime", reason);
        if value.zone().is_some() {
            return Err(wrong(ZONE));
        }
        let nanosecond = value.nanosecond().ok_or_else(|| wrong(DIGITS))?;
        let [hour, minute, second] = [value.hour(), value.minute(), value.second()].map(u32::from);
        Self::from_hms_nano_opt(hour, minute, second, nanosecond).ok_or_else(|| wrong(RANGE))
    }
}

/// The time, without a zone. It is an error if the second is a leap second.
impl TryFrom<&NaiveTime> for Time {
    type Error = ConversionError;

    fn try_from(value: &NaiveTime) -> Result<Self, ConversionError> {
        let wrong = |reason| ConversionError::new(value, "time", reason);
        if value.nanosecond() >= 1_000_000_000 {
            return Err(wrong(LEAP));
        }
        let [hour, minute, second] =
            [value.hour(), value.minute(), value.second()].map(|field| field as u8);
        let made = Self::new(hour, minute, second).ok_or_else(|| wrong(RANGE))?;
        Ok(made.with_nanosecond(value.nanosecond()))
    }
}

/// It is an error if the duration has months, or more than nine digits of a second.
impl TryFrom<&Duration> for TimeDelta {
    type Error = ConversionError;

    fn try_from(value: &Duration) -> Result<Self, ConversionError> {
        let (seconds, nanoseconds) = value.to_seconds()?;
        let whole = Self::try_seconds(seconds);
        let made =
            whole.and_then(|whole| whole.checked_add(&Self::nanoseconds(nanoseconds.into())));
        made.ok_or_else(|| ConversionError::new(value, "chrono::TimeDelta", RANGE))
    }
}

impl From<TimeDelta> for Duration {
    fn from(value: TimeDelta) -> Self {
        Self::from_seconds(value.num_seconds(), value.subsec_nanos()).unwrap_or_default()
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
            "12024-12-31T23:59:59.5+14:00",
        ] {
            let value: DateTime = text.parse().unwrap();
            let other = ChronoDateTime::try_from(&value).unwrap();
            let back = DateTime::try_from(&other).unwrap();
            assert_eq!(back.to_string(), text);
        }
        let date: Date = "2024-02-29".parse().unwrap();
        assert_eq!(
            Date::try_from(&NaiveDate::try_from(&date).unwrap()),
            Ok(date)
        );
        let time: Time = "23:59:59.25".parse().unwrap();
        assert_eq!(
            Time::try_from(&NaiveTime::try_from(&time).unwrap()),
            Ok(time)
        );
        for text in ["PT90.5S", "-PT0.25S", "P1D"] {
            let duration: Duration = text.parse().unwrap();
            assert_eq!(
                Duration::from(TimeDelta::try_from(&duration).unwrap()),
                duration
            );
        }
    }

    #[test]
    fn what_would_be_lost_is_an_error() {
        let reason = |text: &str| {
            ChronoDateTime::try_from(&text.parse().unwrap())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            reason("2024-01-01T00:00:00"),
            "\"2024-01-01T00:00:00\" cannot be a chrono::DateTime: it has no time zone"
        );
        assert!(reason("-0001-01-01T00:00:00Z").ends_with(YEAR));
        assert!(reason("999999-01-01T00:00:00Z").ends_with(RANGE));
        assert!(reason("2024-01-01T00:00:00.1234567891Z").ends_with(DIGITS));
        let zoned: Time = "10:00:00Z".parse().unwrap();
        assert!(
            NaiveTime::try_from(&zoned)
                .unwrap_err()
                .to_string()
                .ends_with(ZONE)
        );
    }

    #[test]
    fn what_xml_schema_does_not_have_is_an_error() {
        let leap = NaiveDate::from_ymd_opt(2016, 12, 31)
            .unwrap()
            .and_hms_nano_opt(23, 59, 59, 1_500_000_000)
            .unwrap();
        let leap = leap
            .and_local_timezone(FixedOffset::east_opt(0).unwrap())
            .unwrap();
        assert!(
            DateTime::try_from(&leap)
                .unwrap_err()
                .to_string()
                .ends_with(LEAP)
        );
        assert!(
            Time::try_from(&leap.time())
                .unwrap_err()
                .to_string()
                .ends_with(LEAP)
        );
        let odd = leap
            .with_nanosecond(0)
            .unwrap()
            .with_timezone(&FixedOffset::east_opt(61).unwrap());
        assert!(
            DateTime::try_from(&odd)
                .unwrap_err()
                .to_string()
                .ends_with("its offset is not one that XML Schema has")
        );
        let zero = NaiveDate::from_ymd_opt(0, 1, 1).unwrap();
        assert_eq!(
            Date::try_from(&zero).unwrap_err().to_string(),
            format!("\"0000-01-01\" cannot be a date: {YEAR}")
        );
    }
}
