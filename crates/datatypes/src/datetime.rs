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
use std::hash::{Hash, Hasher};

pub use crate::moment::{Moment, Zone};

use crate::moment;
use crate::{Datatype, LexicalError};

/// A value of one of the eight calendar types.
///
/// ```
/// use bsoap_datatypes::datetime::{Calendar, Moment, Zone};
/// use bsoap_datatypes::Datatype;
///
/// let instant = |text: &str| Calendar::parse(Datatype::DateTime, text).unwrap();
/// let here = instant("2002-10-10T12:00:00.50-05:00");
/// assert_eq!((here.moment().year, here.moment().hour, &*here.moment().fraction), (2002, 12, "5"));
/// assert_eq!(here.canonical(), "2002-10-10T17:00:00.5Z");
///
/// // Without a zone, noon could be up to 14 hours earlier or later.
/// assert_eq!(here.partial_cmp(&instant("2002-10-10T12:00:00")), None);
///
/// // A date is the day that starts at an instant, so zones 24 hours apart can say the same.
/// let date = Moment { year: 2002, month: 10, day: 10, zone: Zone::from_minutes(780), ..Moment::default() };
/// let date = Calendar::new(Datatype::Date, date).unwrap();
/// assert_eq!(date.to_string(), "2002-10-10+13:00");
/// assert_eq!(date.canonical(), "2002-10-09-11:00");
/// ```
#[derive(Clone)]
pub struct Calendar {
    datatype: Datatype,
    moment: Moment,
}

impl Calendar {
    /// The value of a lexical form of one of the calendar types, white space already processed.
    pub fn parse(datatype: Datatype, text: &str) -> Result<Self, LexicalError> {
        match moment::parse(datatype, text) {
            Some(moment) => Ok(Self { datatype, moment }),
            None => Err(LexicalError::new(datatype, text)),
        }
    }

    /// A value of these fields; those that the type lacks are ignored. `None` where one is out of range, or if it is not a
    /// calendar type.
    pub fn new(datatype: Datatype, moment: Moment) -> Option<Self> {
        let moment = moment.of_type(datatype)?;
        moment.is_valid().then_some(Self { datatype, moment })
    }

    /// Its type.
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Its fields; those that the type lacks are the [default](Moment::default).
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// The canonical form: that of all equal values.
    pub fn canonical(&self) -> String {
        let moment = self.moment.clone().canonical(self.datatype);
        Self { moment, ..*self }.to_string()
    }
}

/// The lexical form, with the zone as it was written.
impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.moment.write(self.datatype, f)
    }
}

impl fmt::Debug for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Calendar {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl Eq for Calendar {}

/// Equal values have equal hashes: the instant is hashed, and whether there is a zone.
impl Hash for Calendar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let seconds = match self.datatype {
            Datatype::Time => self.moment.seconds().rem_euclid(86_400),
            _ => self.moment.seconds(),
        };
        (self.datatype, seconds, &self.moment.fraction).hash(state);
        self.moment.zone.is_some().hash(state);
    }
}

/// The order of values of one type.
impl PartialOrd for Calendar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let same = self.datatype == other.datatype;
        same.then(|| self.moment.compare(&other.moment, self.datatype))?
    }
}

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

/// The same of the first 19 bytes.
#[inline]
fn is_plain_to_the_second(text: &[u8; 19]) -> bool {
    let form = b"0000-00-00T00:00:00".iter().zip(text);
    // No branch for each byte: all of them are digits or what the form has there.
    let is_formed = form.fold(true, |is_formed, (&form, &byte)| {
        let most = if form == b'0' { 9 } else { 0 };
        is_formed & (byte.wrapping_sub(form) <= most)
    });
    let two = |at: usize| {
        let [tens, ones] = [text[at], text[at + 1]].map(|digit| digit.wrapping_sub(b'0'));
        tens.wrapping_mul(10).wrapping_add(ones)
    };
    let is_day =
        (text[..4] != *b"0000") & ((1..=12).contains(&two(5))) & ((1..=28).contains(&two(8)));
    is_formed & is_day & (two(11) < 24) & (two(14) < 60) & (two(17) < 60)
}

/// Whether a text is certainly a date: as [`is_plain_date_time`], a day that all months have, in universal time or without a zone.
#[inline]
pub fn is_plain_date(text: &[u8]) -> bool {
    let date = text.strip_suffix(b"Z").unwrap_or(text);
    let mut midnight = *b"0000-00-00T00:00:00";
    let (Some(front), Ok(date)) = (midnight.first_chunk_mut(), <&[u8; 10]>::try_from(date)) else {
        return false;
    };
    *front = *date;
    is_plain_date_time(&midnight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> Calendar {
        Calendar::parse(Datatype::DateTime, text).unwrap()
    }

    fn time(text: &str) -> Result<Calendar, LexicalError> {
        Calendar::parse(Datatype::Time, text)
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
        assert_eq!(time("24:00:00").unwrap().to_string(), "00:00:00");
        assert!(time("24:00:01").is_err());
    }

    #[test]
    fn a_time_of_day_wraps_around_midnight() {
        let late = time("00:30:00+01:00").unwrap();
        assert_eq!(late.canonical(), "23:30:00Z");
        assert_eq!(late, time("23:30:00Z").unwrap());
    }

    #[test]
    fn fields_out_of_range_make_no_value() {
        let value = |datatype, moment| Calendar::new(datatype, moment);
        let day = |year| Moment {
            year,
            month: 2,
            day: 29,
            ..Moment::default()
        };
        let hour = |hour, fraction: &str| Moment {
            hour,
            fraction: fraction.into(),
            ..Moment::default()
        };
        assert!(value(Datatype::Date, day(2001)).is_none());
        assert!(value(Datatype::Date, day(2004)).is_some());
        assert!(value(Datatype::GMonthDay, day(2001)).is_some());
        assert!(value(Datatype::GYear, day(0)).is_none());
        assert!(value(Datatype::Int, day(2004)).is_none());
        assert!(value(Datatype::Time, hour(24, "")).is_none());
        assert!(value(Datatype::Time, hour(23, "12x")).is_none());
        let time = value(Datatype::Time, hour(23, "120")).unwrap();
        assert_eq!(&*time.moment().fraction, "12");
    }

    #[test]
    fn what_is_plainly_a_date_is_one() {
        for text in ["2006-01-02", "2006-12-28Z", "0001-01-01"] {
            assert!(
                is_plain_date(text.as_bytes()) && Calendar::parse(Datatype::Date, text).is_ok()
            );
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
                        assert!(Calendar::parse(Datatype::DateTime, text).is_ok(), "{text}");
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
