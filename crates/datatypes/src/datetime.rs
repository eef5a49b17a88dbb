//! The eight calendar types, `xs:dateTime` to `xs:gMonth` (XSD 1.0 Part 2 §3.2.7–3.2.14).
//!
//! - The zone is optional, and is kept as it was written; `canonical` brings a value to UTC.
//! - `==` and `<` go by the instant: `12:00:00Z` equals `13:00:00+01:00`. The order is partial:
//!   with a zone on one side only, values less than 14 hours apart are in no order.
//! - Years may be negative or have up to 18 digits; there is no year zero in XSD 1.0.
//! - Fractions of a second are kept in full, however many digits they have.
//! - `24:00:00` is the start of the next day.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

pub use crate::moment::Zone;

use crate::moment::{self, Moment};
use crate::{Datatype, LexicalError};

/// Whether a text is certainly a lexical form of `xs:dateTime`: one of the usual notation, of the first 28 days of a month,
/// in universal time or without a zone. The check takes a few nanoseconds; `false` says nothing.
///
/// ```
/// use bsoap_datatypes::datetime::is_plain_date_time;
///
/// assert!(is_plain_date_time(b"2006-01-02T15:04:05.25Z"));
/// assert!(!is_plain_date_time(b"2006-02-30T15:04:05Z"));
/// assert!(!is_plain_date_time(b"2006-01-31T15:04:05+01:00")); // it is one, but for others to say
/// ```
#[inline]
pub fn is_plain_date_time(text: &[u8]) -> bool {
    let Some((front, rest)) = text.split_first_chunk() else {
        return false;
    };
    let rest = rest.strip_suffix(b"Z").unwrap_or(rest);
    let has_good_fraction = match rest {
        [] => true,
        [b'.', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_plain_to_the_second(front) & has_good_fraction
}

/// The same of the first 19 bytes, eight at a time: `2006-01-`, `02T15:04`, and `15:04:05` once more.
#[inline]
fn is_plain_to_the_second(text: &[u8; 19]) -> bool {
    /// The greatest difference of a byte from a zero, or from the fixed character at its position.
    const fn most(form: u64) -> u64 {
        let (mut most, mut at) = (0, 0);
        while at < 64 {
            most |= if form >> at & 0xff == b'0' as u64 {
                9 << at
            } else {
                0
            };
            at += 8;
        }
        most
    }
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = |at: usize, form: &[u8; 8]| {
        let found = text[at..]
            .first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word));
        let form = u64::from_le_bytes(*form);
        let digits = found ^ form;
        // What has no high bit carries nothing into its neighbour.
        let wrong = (digits.wrapping_add(!HIGH - most(form)) | digits) & HIGH;
        (digits, wrong)
    };
    let (date, wrong_date) = word(0, b"0000-00-");
    let (day, wrong_day) = word(8, b"00T00:00");
    let (time, wrong_time) = word(11, b"00:00:00");
    // The number that the digits at a byte and behind it make.
    let two = |digits: u64, at: u32| {
        let both = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        (both >> (8 * at)) as u8
    };
    let is_day = (date as u32 != 0)
        & (two(date, 5).wrapping_sub(1) <= 11)
        & (two(day, 0).wrapping_sub(1) <= 27);
    let is_time = (two(time, 0) <= 23) & (two(time, 3) <= 59) & (two(time, 6) <= 59);
    (wrong_date | wrong_day | wrong_time == 0) & is_day & is_time
}

/// The same of a date: a day that all months have, in universal time or without a zone.
#[inline]
pub(crate) fn is_plain_date(text: &[u8]) -> bool {
    let date = text.strip_suffix(b"Z").unwrap_or(text);
    let mut midnight = *b"0000-00-00T00:00:00";
    let (Some(front), Ok(date)) = (midnight.first_chunk_mut(), <&[u8; 10]>::try_from(date)) else {
        return false;
    };
    *front = *date;
    is_plain_date_time(&midnight)
}

macro_rules! calendar_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Moment<Box<str>>);

        impl $name {
            /// The value of a lexical form, white space already processed.
            pub fn parse(text: &str) -> Result<Self, LexicalError> {
                match moment::parse(Datatype::$name, text) {
                    Some(moment) => Ok(Self(moment.with_fraction(Box::from))),
                    None => Err(LexicalError::new(Datatype::$name, text)),
                }
            }

            /// The time zone, if it says one.
            pub fn zone(&self) -> Option<Zone> {
                self.0.zone
            }

            /// The canonical form: that of all equal values.
            pub fn canonical(&self) -> String {
                Self(self.0.clone().canonical(Datatype::$name)).to_string()
            }

            /// A value of fields that are in range.
            fn of<T: AsRef<str>>(moment: Moment<T>) -> Option<Self> {
                moment.is_valid().then(|| Self(moment.with_fraction(|fraction| fraction.as_ref().into())))
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
                self.0.write(Datatype::$name, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.partial_cmp(other) == Some(Ordering::Equal)
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.0.compare(&other.0, Datatype::$name)
            }
        }
    };
}

macro_rules! fields {
    ($name:ident: $($(#[$doc:meta])* $field:ident: $type:ty),*) => {
        impl $name {
            $($(#[$doc])* pub fn $field(&self) -> $type { self.0.$field })*
        }
    };
}

calendar_type! {
    /// An instant, or a local time without zone: `2002-10-10T12:00:00.5-05:00`.
    ///
    /// ```
    /// use bsoap_datatypes::datetime::{DateTime, Zone};
    ///
    /// let here: DateTime = "2002-10-10T12:00:00.50-05:00".parse().unwrap();
    /// assert_eq!((here.year(), here.hour(), here.fraction()), (2002, 12, "5"));
    /// assert_eq!(here.canonical(), "2002-10-10T17:00:00.5Z");
    /// assert_eq!(here, DateTime::new((2002, 10, 10), (17, 0, 0), "5", Some(Zone::UTC)).unwrap());
    ///
    /// // Without a zone, noon could be up to 14 hours earlier or later.
    /// let somewhere: DateTime = "2002-10-10T12:00:00".parse().unwrap();
    /// assert_eq!(here.partial_cmp(&somewhere), None);
    /// ```
    DateTime
}
calendar_type! {
    /// A time of day: `13:20:00-05:00`.
    Time
}
calendar_type! {
    /// A day of the calendar: `2002-10-10+13:00`.
    ///
    /// ```
    /// use bsoap_datatypes::datetime::Date;
    ///
    /// // A date is the day that starts at an instant, so zones 24 hours apart can say the same.
    /// let date: Date = "2002-10-10+13:00".parse().unwrap();
    /// assert_eq!(date.canonical(), "2002-10-09-11:00");
    /// assert_eq!(date, "2002-10-09-11:00".parse().unwrap());
    /// ```
    Date
}
calendar_type! {
    /// A month of a year: `1999-05`.
    GYearMonth
}
calendar_type! {
    /// A year: `1999`.
    GYear
}
calendar_type! {
    /// A day that comes every year: `--05-31`.
    GMonthDay
}
calendar_type! {
    /// A day that comes every month: `---31`.
    GDay
}
calendar_type! {
    /// A month that comes every year: `--05`.
    GMonth
}

fields! { DateTime:
    /// The year; negative before Christ, never zero.
    year: i64,
    /// From 1.
    month: u8,
    /// From 1.
    day: u8,
    /// To 23: an hour 24 has become the next day's 0.
    hour: u8,
    /// To 59.
    minute: u8,
    /// To 59.
    second: u8
}
fields! { Time:
    /// To 23: an hour 24 has become 0.
    hour: u8,
    /// To 59.
    minute: u8,
    /// To 59.
    second: u8
}
fields! { Date:
    /// The year; negative before Christ, never zero.
    year: i64,
    /// From 1.
    month: u8,
    /// From 1.
    day: u8
}
fields! { GYearMonth:
    /// The year; negative before Christ, never zero.
    year: i64,
    /// From 1.
    month: u8
}
fields! { GYear:
    /// The year; negative before Christ, never zero.
    year: i64
}
fields! { GMonthDay:
    /// From 1.
    month: u8,
    /// From 1.
    day: u8
}
fields! { GDay:
    /// From 1.
    day: u8
}
fields! { GMonth:
    /// From 1.
    month: u8
}

impl DateTime {
    /// A value of these fields; `fraction` is the digits behind the dot of the seconds. `None`
    /// where one is out of range.
    pub fn new(
        (year, month, day): (i64, u8, u8),
        (hour, minute, second): (u8, u8, u8),
        fraction: &str,
        zone: Option<Zone>,
    ) -> Option<Self> {
        let fraction = fraction.trim_end_matches('0');
        Self::of(Moment {
            year,
            month,
            day,
            hour,
            minute,
            second,
            fraction,
            zone,
        })
    }

    /// The digits behind the dot of the seconds, without zeros at their end.
    pub fn fraction(&self) -> &str {
        &self.0.fraction
    }
}

impl Time {
    /// A value of these fields; `fraction` is the digits behind the dot of the seconds. `None`
    /// where one is out of range.
    pub fn new(
        hour: u8,
        minute: u8,
        second: u8,
        fraction: &str,
        zone: Option<Zone>,
    ) -> Option<Self> {
        let fraction = fraction.trim_end_matches('0');
        Self::of(Moment {
            hour,
            minute,
            second,
            fraction,
            zone,
            ..Moment::REFERENCE
        })
    }

    /// The digits behind the dot of the seconds, without zeros at their end.
    pub fn fraction(&self) -> &str {
        &self.0.fraction
    }
}

impl Date {
    /// A value of these fields. `None` where one is out of range.
    pub fn new(year: i64, month: u8, day: u8, zone: Option<Zone>) -> Option<Self> {
        Self::of(Moment {
            year,
            month,
            day,
            zone,
            ..Moment::REFERENCE
        })
    }
}

impl GYearMonth {
    /// A value of these fields. `None` where one is out of range.
    pub fn new(year: i64, month: u8, zone: Option<Zone>) -> Option<Self> {
        Self::of(Moment {
            year,
            month,
            zone,
            ..Moment::REFERENCE
        })
    }
}

impl GYear {
    /// A value of these fields. `None` where one is out of range.
    pub fn new(year: i64, zone: Option<Zone>) -> Option<Self> {
        Self::of(Moment {
            year,
            zone,
            ..Moment::REFERENCE
        })
    }
}

impl GMonthDay {
    /// A value of these fields. `None` where one is out of range.
    pub fn new(month: u8, day: u8, zone: Option<Zone>) -> Option<Self> {
        Self::of(Moment {
            month,
            day,
            zone,
            ..Moment::REFERENCE
        })
    }
}

impl GDay {
    /// A value of these fields. `None` where one is out of range.
    pub fn new(day: u8, zone: Option<Zone>) -> Option<Self> {
        Self::of(Moment {
            day,
            zone,
            ..Moment::REFERENCE
        })
    }
}

impl GMonth {
    /// A value of these fields. `None` where one is out of range.
    pub fn new(month: u8, zone: Option<Zone>) -> Option<Self> {
        Self::of(Moment {
            month,
            zone,
            ..Moment::REFERENCE
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> DateTime {
        text.parse().unwrap()
    }

    /// Byte by byte.
    fn is_to_the_second(text: &[u8; 19]) -> bool {
        let form = b"0000-00-00T00:00:00".iter().zip(text);
        let is_formed = form.clone().all(|(&form, &byte)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        });
        let two = |at: usize| u32::from(text[at] - b'0') * 10 + u32::from(text[at + 1] - b'0');
        is_formed
            && &text[..4] != b"0000"
            && (1..=12).contains(&two(5))
            && (1..=28).contains(&two(8))
            && two(11) < 24
            && two(14) < 60
            && two(17) < 60
    }

    proptest::proptest! {
        #[test]
        fn eight_bytes_at_a_time_say_what_each_says(
            text in "[02][0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]",
            at in 0_usize..19,
            flaw in proptest::option::weighted(0.3, proptest::prelude::any::<u8>()),
        ) {
            let mut bytes: [u8; 19] = text.as_bytes().try_into().expect("19 bytes");
            bytes[at] = flaw.unwrap_or(bytes[at]);
            proptest::prop_assert_eq!(is_plain_to_the_second(&bytes), is_to_the_second(&bytes), "{:?}", bytes);
        }
    }

    // XSD 1.0 Part 2 §3.2.7.3, the table of determinate and indeterminate examples.
    #[test]
    fn the_examples_of_the_specification_are_in_its_order() {
        let less = [
            ("2000-01-15T00:00:00", "2000-02-15T00:00:00"),
            ("2000-01-15T12:00:00", "2000-01-16T12:00:00Z"),
        ];
        for (left, right) in less {
            assert!(instant(left) < instant(right), "{left} {right}");
        }
        let indeterminate = [
            ("2000-01-01T12:00:00", "1999-12-31T23:00:00Z"),
            ("2000-01-16T12:00:00", "2000-01-16T12:00:00Z"),
            ("2000-01-16T00:00:00", "2000-01-16T12:00:00Z"),
        ];
        for (left, right) in indeterminate {
            assert_eq!(
                instant(left).partial_cmp(&instant(right)),
                None,
                "{left} {right}"
            );
        }
    }

    #[test]
    fn exactly_fourteen_hours_apart_is_not_in_order() {
        let local = instant("2000-01-16T00:00:00");
        assert_eq!(local.partial_cmp(&instant("2000-01-16T14:00:00Z")), None);
        assert!(local < instant("2000-01-16T14:00:00.0001Z"));
        assert_eq!(local.partial_cmp(&instant("2000-01-15T10:00:00Z")), None);
        assert!(local > instant("2000-01-15T09:59:59.9Z"));
    }

    #[test]
    fn hour_24_is_the_start_of_the_next_day() {
        assert_eq!(
            instant("1999-12-31T24:00:00").to_string(),
            "2000-01-01T00:00:00"
        );
        assert_eq!("24:00:00".parse::<Time>().unwrap().to_string(), "00:00:00");
        assert!("24:00:01".parse::<Time>().is_err());
    }

    #[test]
    fn a_time_of_day_wraps_around_midnight() {
        let time: Time = "00:30:00+01:00".parse().unwrap();
        assert_eq!(time.canonical(), "23:30:00Z");
        assert_eq!(time, "23:30:00Z".parse().unwrap());
    }

    #[test]
    fn fields_out_of_range_make_no_value() {
        assert!(Date::new(2001, 2, 29, None).is_none());
        assert!(Date::new(2004, 2, 29, None).is_some());
        assert!(GMonthDay::new(2, 29, None).is_some());
        assert!(GYear::new(0, None).is_none());
        assert!(Time::new(24, 0, 0, "", None).is_none());
        assert!(Time::new(23, 0, 0, "12x", None).is_none());
        assert_eq!(Time::new(23, 0, 0, "120", None).unwrap().fraction(), "12");
    }

    #[test]
    fn what_is_plainly_a_date_is_one() {
        for text in ["2006-01-02", "2006-12-28Z", "0001-01-01"] {
            assert!(is_plain_date(text.as_bytes()) && Date::parse(text).is_ok());
        }
        let others = [
            "2006-02-30",
            "2006-01-31",
            "0000-01-01",
            "06-01-02",
            "2006-01-02ZZ",
        ];
        for text in others
            .into_iter()
            .chain(["2006-01-02T00:00:00", "2006/01/02", ""])
        {
            assert!(!is_plain_date(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_plainly_a_date_time_is_one() {
        let plain = b"2006-01-02T15:04:05.25Z";
        assert!(is_plain_date_time(plain) && is_plain_date_time(&plain[..19]));
        let mut found = 0;
        for at in 0..plain.len() {
            for byte in 0..=255 {
                for length in [19, 20, 21, 22, 23] {
                    let mut text = plain.to_vec();
                    text[at] = byte;
                    text.truncate(length);
                    if is_plain_date_time(&text) {
                        let text = std::str::from_utf8(&text).unwrap();
                        assert!(DateTime::parse(text).is_ok(), "{text}");
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 500, "{found}");
        for text in [
            "0000-01-02T15:04:05",
            "2006-00-02T15:04:05",
            "2006-13-02T15:04:05",
        ] {
            assert!(!is_plain_date_time(text.as_bytes()), "{text}");
        }
    }
}
