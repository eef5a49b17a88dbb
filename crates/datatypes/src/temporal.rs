//! The eight calendar types as Rust types of their own, each a [`Calendar`] of one datatype.
//!
//! Text → value → text keeps the zone as it was written, all digits of the fraction, and years of any size.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use crate::convert::{DIGITS, NO_ZONE, RANGE};
use crate::datetime::Calendar;
use crate::moment::{Moment, Zone, civil_from_days};
use crate::{ConversionError, Datatype, LexicalError};

/// The accessors of a group of fields.
macro_rules! accessors {
    ($($group:ident)*) => {
        $(accessors!(@$group);)*

        /// The time zone, if there is one.
        pub fn zone(&self) -> Option<Zone> {
            self.0.moment().zone
        }

        /// The same fields with another zone, or without one. (The instant is another one then.)
        #[must_use]
        pub fn with_zone(self, zone: Option<Zone>) -> Self {
            self.changed(|moment| moment.zone = zone)
        }

        /// The lexical form of all equal values: in UTC.
        pub fn canonical(&self) -> String {
            self.0.canonical()
        }

        /// The value with its datatype.
        pub fn as_calendar(&self) -> &Calendar {
            &self.0
        }

        /// Changes fields to values that are in range.
        fn changed(self, change: impl FnOnce(&mut Moment)) -> Self {
            let (datatype, mut moment) = (self.0.datatype(), self.0.moment().clone());
            change(&mut moment);
            Calendar::new(datatype, moment).map_or(self, Self)
        }
    };
    (@year) => {
        /// The year; negative before Christ, never zero.
        pub fn year(&self) -> i64 {
            self.0.moment().year
        }
    };
    (@month) => {
        /// The month, from 1.
        pub fn month(&self) -> u8 {
            self.0.moment().month
        }
    };
    (@day) => {
        /// The day of the month, from 1.
        pub fn day(&self) -> u8 {
            self.0.moment().day
        }
    };
    (@time) => {
        /// The hour, to 23.
        pub fn hour(&self) -> u8 {
            self.0.moment().hour
        }

        /// The minute, to 59.
        pub fn minute(&self) -> u8 {
            self.0.moment().minute
        }

        /// The second, to 59.
        pub fn second(&self) -> u8 {
            self.0.moment().second
        }

        /// The digits behind the dot of the seconds, without zeros at their end.
        pub fn fraction(&self) -> &str {
            &self.0.moment().fraction
        }

        /// The fraction of the second in nanoseconds. `None` if it has more than nine digits.
        pub fn nanosecond(&self) -> Option<u32> {
            let digits = self.fraction();
            (digits.len() <= 9).then(|| format!("{digits:0<9}").parse().ok())?
        }

        /// The same with another fraction of the second, in nanoseconds below 1 000 000 000; a greater number changes nothing.
        #[must_use]
        pub fn with_nanosecond(self, nanosecond: u32) -> Self {
            match nanosecond < 1_000_000_000 {
                true => self.changed(|moment| moment.fraction = format!("{nanosecond:09}").into()),
                false => self,
            }
        }
    };
}

macro_rules! temporal {
    ($(#[$documentation:meta])* $name:ident: [$($group:ident)*], ($($field:ident: $ty:ty),*), $default_zone:expr) => {
        $(#[$documentation])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Calendar);

        impl $name {
            /// A value without a zone. `None` if a field is out of range.
            #[allow(clippy::too_many_arguments)] // the fields of the type, from the greatest to the least
            pub fn new($($field: $ty),*) -> Option<Self> {
                let moment = Moment { $($field,)* ..Moment::default() };
                Calendar::new(Datatype::$name, moment).map(Self)
            }

            /// The value of a lexical form, white space already processed.
            pub fn parse(text: &str) -> Result<Self, LexicalError> {
                Calendar::parse(Datatype::$name, text).map(Self)
            }

            accessors!($($group)*);
        }

        /// The start of 1970.
        impl Default for $name {
            fn default() -> Self {
                let moment = Moment { year: 1970, zone: $default_zone, ..Moment::default() };
                // The reference year has every day, and so has 1970 its first.
                Calendar::new(Datatype::$name, moment).map(Self).expect("the start of 1970 is in range")
            }
        }

        impl FromStr for $name {
            type Err = LexicalError;

            fn from_str(text: &str) -> Result<Self, LexicalError> {
                Self::parse(text)
            }
        }

        /// The lexical form, with the zone as it was written.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        /// The order of XML Schema: a value with a zone and one without may be in no order.
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.0.partial_cmp(&other.0)
            }
        }

        impl From<$name> for Calendar {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        /// It is an error if the value has another datatype.
        impl TryFrom<Calendar> for $name {
            type Error = ConversionError;

            fn try_from(value: Calendar) -> Result<Self, ConversionError> {
                match value.datatype() {
                    Datatype::$name => Ok(Self(value)),
                    _ => Err(ConversionError::new(value, stringify!($name), "it has another datatype")),
                }
            }
        }
    };
}

temporal! {
    /// An `xs:dateTime`: a date and a time of day, with a zone or without.
    ///
    /// ```
    /// use bsoap_datatypes::DateTime;
    /// use bsoap_datatypes::datetime::Zone;
    ///
    /// let here: DateTime = "2002-10-10T12:00:00.50-05:00".parse()?;
    /// assert_eq!((here.year(), here.hour(), here.nanosecond()), (2002, 12, Some(500_000_000)));
    /// assert_eq!(here, "2002-10-10T17:00:00.5Z".parse()?);
    /// assert_eq!(here.to_string(), "2002-10-10T12:00:00.5-05:00");
    ///
    /// let made = DateTime::new(2024, 2, 29, 8, 30, 0).unwrap().with_zone(Some(Zone::UTC));
    /// assert_eq!(made.to_string(), "2024-02-29T08:30:00Z");
    /// assert_eq!(DateTime::new(2023, 2, 29, 8, 30, 0), None);
    /// # Ok::<(), bsoap_datatypes::LexicalError>(())
    /// ```
    DateTime: [year month day time], (year: i64, month: u8, day: u8, hour: u8, minute: u8, second: u8), Some(Zone::UTC)
}
temporal! {
    /// An `xs:date`: a day, with a zone or without.
    ///
    /// ```
    /// use bsoap_datatypes::Date;
    ///
    /// let date: Date = "2002-10-10+13:00".parse()?;
    /// assert_eq!((date.year(), date.month(), date.day()), (2002, 10, 10));
    /// assert_eq!(date.zone().map(|zone| zone.minutes()), Some(780));
    /// # Ok::<(), bsoap_datatypes::LexicalError>(())
    /// ```
    Date: [year month day], (year: i64, month: u8, day: u8), None
}
temporal! {
    /// An `xs:time`: a time of day, with a zone or without.
    ///
    /// ```
    /// use bsoap_datatypes::Time;
    ///
    /// assert_eq!(Time::new(9, 5, 0).unwrap().with_nanosecond(1_000).to_string(), "09:05:00.000001");
    /// ```
    Time: [time], (hour: u8, minute: u8, second: u8), None
}
temporal! {
    /// An `xs:gYearMonth`: a month of one year, such as `2002-10`.
    GYearMonth: [year month], (year: i64, month: u8), None
}
temporal! {
    /// An `xs:gYear`: a year, such as `2002`.
    GYear: [year], (year: i64), None
}
temporal! {
    /// An `xs:gMonthDay`: a day of each year, such as `--02-29`.
    GMonthDay: [month day], (month: u8, day: u8), None
}
temporal! {
    /// An `xs:gDay`: a day of each month, such as `---31`.
    GDay: [day], (day: u8), None
}
temporal! {
    /// An `xs:gMonth`: a month of each year, such as `--10`.
    GMonth: [month], (month: u8), None
}

impl DateTime {
    /// The instant this many seconds after 1970-01-01T00:00:00Z, in UTC. `None` if its year has more than 18 digits.
    pub fn from_timestamp(seconds: i64, nanosecond: u32) -> Option<Self> {
        let seconds = i128::from(seconds);
        let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400) as u32;
        // There is no year zero: what astronomers call 0 is -1 here.
        let year = i64::try_from(if year <= 0 { year - 1 } else { year }).ok()?;
        let [hour, minute, second] =
            [of_day / 3600, of_day / 60 % 60, of_day % 60].map(|field| field as u8);
        let made = Self::new(year, month, day, hour, minute, second)?;
        Some(made.with_zone(Some(Zone::UTC)).with_nanosecond(nanosecond))
    }

    /// The whole seconds since 1970-01-01T00:00:00Z, rounded down. `None` without a zone: it is not known which instant it is.
    pub fn timestamp(&self) -> Option<i128> {
        self.zone().map(|_| self.as_calendar().moment().seconds())
    }
}

/// The instant, in UTC.
impl From<SystemTime> for DateTime {
    fn from(time: SystemTime) -> Self {
        let (seconds, nanosecond) = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => (i128::from(since.as_secs()), since.subsec_nanos()),
            Err(before) => {
                let before = before.duration();
                match before.subsec_nanos() {
                    0 => (-i128::from(before.as_secs()), 0),
                    nanosecond => (
                        -i128::from(before.as_secs()) - 1,
                        1_000_000_000 - nanosecond,
                    ),
                }
            }
        };
        // No system counts more than an i64 of seconds, and that has years of at most 12 digits.
        let seconds =
            i64::try_from(seconds).unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX });
        Self::from_timestamp(seconds, nanosecond).unwrap_or_default()
    }
}

/// It is an error if the value has no zone, more than nine digits of a second, or the system cannot count so far.
impl TryFrom<&DateTime> for SystemTime {
    type Error = ConversionError;

    fn try_from(value: &DateTime) -> Result<Self, ConversionError> {
        use std::time::Duration;

        let wrong = |reason| ConversionError::new(value, "SystemTime", reason);
        let seconds = value.timestamp().ok_or_else(|| wrong(NO_ZONE))?;
        let nanosecond = value.nanosecond().ok_or_else(|| wrong(DIGITS))?;
        let far = || wrong(RANGE);
        let whole = Duration::from_secs(u64::try_from(seconds.unsigned_abs()).map_err(|_| far())?);
        let whole = match seconds < 0 {
            true => Self::UNIX_EPOCH.checked_sub(whole),
            false => Self::UNIX_EPOCH.checked_add(whole),
        };
        let instant =
            whole.and_then(|whole| whole.checked_add(Duration::from_nanos(nanosecond.into())));
        instant.ok_or_else(far)
    }
}

impl TryFrom<DateTime> for SystemTime {
    type Error = ConversionError;

    fn try_from(value: DateTime) -> Result<Self, ConversionError> {
        Self::try_from(&value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::*;

    #[test]
    fn lexical_forms_come_back_as_they_were_written() {
        macro_rules! same {
            ($($ty:ident $text:literal),*) => {$(
                assert_eq!($ty::parse($text).unwrap().to_string(), $text);
            )*};
        }
        same!(
            DateTime "-0044-03-15T12:00:00", DateTime "12002-10-10T12:00:00.1234567890123-14:00", Date "2002-10-10Z",
            Time "13:20:00.25+05:30", GYearMonth "1999-05", GYear "-0001", GMonthDay "--02-29", GDay "---31Z", GMonth "--12"
        );
        for wrong in [
            "2002-10-10",
            "0000-01-01T00:00:00Z",
            "2016-12-31T23:59:60Z",
            "yesterday",
        ] {
            let error = wrong.parse::<DateTime>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("\"{wrong}\" is not a xs:dateTime")
            );
        }
    }

    #[test]
    fn the_default_is_the_start_of_1970() {
        assert_eq!(
            SystemTime::try_from(DateTime::default()),
            Ok(SystemTime::UNIX_EPOCH)
        );
        assert_eq!(DateTime::default().to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Date::default().to_string(), "1970-01-01");
        assert_eq!(
            (Time::default().to_string(), GDay::default().to_string()),
            ("00:00:00".into(), "---01".into())
        );
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let instants = [
            "2024-01-01T00:00:00Z",
            "2024-01-01T02:00:00+02:00",
            "2024-01-01T00:00:00",
        ];
        let distinct: HashSet<DateTime> =
            instants.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(distinct.len(), 2);
        let times = ["00:30:00+01:00", "23:30:00Z"];
        let distinct: HashSet<Time> = times.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(distinct.len(), 1);
    }

    #[test]
    fn instants_of_the_system_come_back() {
        for seconds in [0_i64, 1, -1, 1_700_000_000, -100_000_000_000] {
            for nanosecond in [0, 1, 999_999_999] {
                let value = DateTime::from_timestamp(seconds, nanosecond).unwrap();
                assert_eq!(value.timestamp(), Some(seconds.into()), "{value}");
                let time = SystemTime::try_from(&value).unwrap();
                assert_eq!(DateTime::from(time), value);
            }
        }
        let early = SystemTime::UNIX_EPOCH - Duration::from_millis(1_500);
        assert_eq!(DateTime::from(early).to_string(), "1969-12-31T23:59:58.5Z");
        assert_eq!(
            DateTime::from_timestamp(-62_167_219_200, 0)
                .unwrap()
                .to_string(),
            "-0001-01-01T00:00:00Z"
        );
    }

    #[test]
    fn conversions_that_would_lose_something_are_errors() {
        let reason = |text: &str| {
            SystemTime::try_from(text.parse::<DateTime>().unwrap())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            reason("2024-01-01T00:00:00"),
            "\"2024-01-01T00:00:00\" cannot be a SystemTime: it has no time zone"
        );
        assert!(
            reason("2024-01-01T00:00:00.0000000001Z")
                .ends_with("it has more than nine digits of a second")
        );
        assert!(reason("999999999999999-01-01T00:00:00Z").ends_with("it is out of range"));
        let date: Calendar = Date::default().into();
        let error = DateTime::try_from(date).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"1970-01-01\" cannot be a DateTime: it has another datatype"
        );
    }
}
