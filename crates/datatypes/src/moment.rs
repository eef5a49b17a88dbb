//! The fields of the eight calendar types: one value with every field, read and written by a pattern for each type, and placed
//! on one time line.
//!
//! ```text
//!              year month day  hour minute second zone
//! dateTime      x     x    x    x     x      x     ?        what a type lacks is filled in from a
//! date          x     x    x                       ?        fixed leap year, so that all types
//! gMonthDay           x    x                       ?        compare as instants
//! ```

use std::cmp::Ordering;
use std::fmt;

use crate::Datatype;

/// A time zone: minutes ahead of UTC, at most 14 hours either way.
///
/// ```
/// use bsoap_datatypes::datetime::Zone;
///
/// assert_eq!(Zone::from_minutes(-330).unwrap().to_string(), "-05:30");
/// assert_eq!(Zone::UTC.to_string(), "Z");
/// assert_eq!(Zone::from_minutes(841), None);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Zone(i16);

impl Zone {
    /// Universal time, written `Z`.
    pub const UTC: Self = Self(0);

    /// The zone that is this many minutes ahead of UTC, from -840 to 840.
    pub fn from_minutes(minutes: i16) -> Option<Self> {
        (-840..=840).contains(&minutes).then_some(Self(minutes))
    }

    /// Minutes ahead of UTC.
    pub fn minutes(self) -> i16 {
        self.0
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("Z");
        }
        let sign = if self.0 < 0 { '-' } else { '+' };
        let minutes = self.0.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// All fields of all calendar types.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The year; negative before Christ, never zero.
    pub year: i64,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
    /// To 23: an hour 24 has become the next day's 0.
    pub hour: u8,
    /// To 59.
    pub minute: u8,
    /// To 59.
    pub second: u8,
    /// Digits behind the dot of the seconds, in a value without zeros at their end.
    pub fraction: Box<str>,
    /// The time zone, if there is one.
    pub zone: Option<Zone>,
}

/// A year of 29 February in which fields that a type lacks are set; 31 days for `gDay`.
const REFERENCE_YEAR: i64 = 1972;

/// The years of this engine end here either way: 18 digits, and one year left over, into which a
/// change of zone may lead.
const MAX_YEAR: i64 = 999_999_999_999_999_998;

/// The start of the reference year, without a zone.
impl Default for Moment {
    fn default() -> Self {
        Self {
            year: REFERENCE_YEAR,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            fraction: Box::default(),
            zone: None,
        }
    }
}

/// Which fields a calendar type has.
#[derive(Copy, Clone)]
struct Fields {
    year: bool,
    month: bool,
    day: bool,
    time: bool,
}

fn fields(datatype: Datatype) -> Option<Fields> {
    let of = |year, month, day, time| Fields {
        year,
        month,
        day,
        time,
    };
    Some(match datatype {
        Datatype::DateTime => of(true, true, true, true),
        Datatype::Time => of(false, false, false, true),
        Datatype::Date => of(true, true, true, false),
        Datatype::GYearMonth => of(true, true, false, false),
        Datatype::GYear => of(true, false, false, false),
        Datatype::GMonthDay => of(false, true, true, false),
        Datatype::GDay => of(false, false, true, false),
        Datatype::GMonth => of(false, true, false, false),
        _ => return None,
    })
}

/// Reads a lexical form of one of the eight calendar types.
pub(crate) fn parse(datatype: Datatype, text: &str) -> Option<Moment> {
    let mut moment = Moment::default();
    let mut text = Scanner { rest: text };
    let has = fields(datatype)?;
    if has.year {
        moment.year = text.year()?;
    } else if !has.time {
        text.skip("-")?;
    }
    if has.month {
        text.skip("-")?;
        moment.month = text.two_digits(1, 12)?;
    } else if has.day {
        text.skip("-")?;
    }
    if has.day {
        text.skip("-")?;
        moment.day = text.two_digits(1, days_in_month(moment.year, moment.month))?;
    }
    if has.time {
        if has.day {
            text.skip("T")?;
        }
        let day = text.time(&mut moment)?;
        if has.day && day == Day::Next {
            moment.shift_days(1);
        }
    }
    moment.zone = text.zone()?;
    text.rest.is_empty().then_some(moment)
}

/// The day of a time that was read: 24:00:00 is the start of the next.
#[derive(PartialEq, Eq)]
enum Day {
    Same,
    Next,
}

/// Takes one field after the other from the front of a text.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn skip(&mut self, prefix: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(prefix)?;
        Some(())
    }

    /// The digits at the front, maybe none.
    fn digits(&mut self) -> &'a str {
        let end = self
            .rest
            .bytes()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits
    }

    fn two_digits(&mut self, least: u8, most: u8) -> Option<u8> {
        let [tens, ones, ..] = *self.rest.as_bytes() else {
            return None;
        };
        if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
            return None;
        }
        self.rest = &self.rest[2..];
        let value = (tens - b'0') * 10 + (ones - b'0');
        (least..=most).contains(&value).then_some(value)
    }

    /// Four digits or more; more only if needed; no year zero (XSD 1.0 Part 2 §3.2.7.1).
    fn year(&mut self) -> Option<i64> {
        let negative = self.skip("-").is_some();
        let digits = self.digits();
        if !(4..=18).contains(&digits.len()) || digits.len() > 4 && digits.starts_with('0') {
            return None;
        }
        let year: i64 = digits.parse().ok()?;
        (1..=MAX_YEAR)
            .contains(&year)
            .then_some(if negative { -year } else { year })
    }

    /// `hh:mm:ss` with a fraction; 24:00:00 is the start of the next day.
    fn time(&mut self, moment: &mut Moment) -> Option<Day> {
        moment.hour = self.two_digits(0, 24)?;
        self.skip(":")?;
        moment.minute = self.two_digits(0, 59)?;
        self.skip(":")?;
        moment.second = self.two_digits(0, 59)?;
        if self.skip(".").is_some() {
            let digits = self.digits();
            if digits.is_empty() {
                return None;
            }
            moment.fraction = digits.trim_end_matches('0').into();
        }
        if moment.hour == 24 {
            let exact = moment.minute == 0 && moment.second == 0 && moment.fraction.is_empty();
            exact.then_some(())?;
            moment.hour = 0;
            return Some(Day::Next);
        }
        Some(Day::Same)
    }

    fn zone(&mut self) -> Option<Option<Zone>> {
        if self.rest.is_empty() {
            return Some(None);
        }
        if self.skip("Z").is_some() {
            return Some(Some(Zone::UTC));
        }
        let negative = self.rest.starts_with('-');
        self.rest = self.rest.strip_prefix(['+', '-'])?;
        let hours = i16::from(self.two_digits(0, 14)?);
        self.skip(":")?;
        let minutes = hours * 60 + i16::from(self.two_digits(0, 59)?);
        Zone::from_minutes(if negative { -minutes } else { minutes }).map(Some)
    }
}

impl Moment {
    /// The same with the fields that a calendar type has; the others are the default.
    pub(crate) fn of_type(self, datatype: Datatype) -> Option<Self> {
        let has = fields(datatype)?;
        let mut moment = Self {
            zone: self.zone,
            ..Self::default()
        };
        if has.year {
            moment.year = self.year;
        }
        if has.month {
            moment.month = self.month;
        }
        if has.day {
            moment.day = self.day;
        }
        if has.time {
            (moment.hour, moment.minute, moment.second) = (self.hour, self.minute, self.second);
            moment.fraction = self.fraction.trim_end_matches('0').into();
        }
        Some(moment)
    }

    /// Whether all fields are in range, and the fraction is digits.
    pub(crate) fn is_valid(&self) -> bool {
        self.year != 0
            && self.year.unsigned_abs() <= MAX_YEAR as u64
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
            && self.fraction.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn shift_days(&mut self, days: i128) {
        let day = days_from_civil(astronomical(self.year), self.month, self.day) + days;
        let (year, month, day) = civil_from_days(day);
        (self.year, self.month, self.day) =
            (if year <= 0 { year - 1 } else { year } as i64, month, day);
    }

    /// Seconds since 1970 in UTC; without a zone, as if it were UTC.
    pub(crate) fn seconds(&self) -> i128 {
        let days = days_from_civil(astronomical(self.year), self.month, self.day);
        let minutes = i128::from(self.hour) * 60 + i128::from(self.minute);
        let zone = self.zone.map_or(0, |zone| i128::from(zone.0));
        days * 86_400 + (minutes - zone) * 60 + i128::from(self.second)
    }

    /// The order of XSD 1.0 Part 2 §3.2.7.3: where only one of two has a zone, the other could be
    /// anywhere within 14 hours, and the two are in order only if that does not matter.
    pub(crate) fn compare(&self, other: &Self, datatype: Datatype) -> Option<Ordering> {
        const FOURTEEN_HOURS: i128 = 14 * 3600;
        let (mut left, mut right) = (self.seconds(), other.seconds());
        if datatype == Datatype::Time {
            // A time of day comes again every day: 00:30+01:00 is 23:30Z.
            (left, right) = (left.rem_euclid(86_400), right.rem_euclid(86_400));
        }
        let fractions = self.fraction.cmp(&other.fraction);
        let earliest = right - FOURTEEN_HOURS;
        let latest = right + FOURTEEN_HOURS;
        match (self.zone, other.zone) {
            (Some(_), None) if left.cmp(&earliest).then(fractions).is_lt() => Some(Ordering::Less),
            (Some(_), None) if left.cmp(&latest).then(fractions).is_gt() => Some(Ordering::Greater),
            (Some(_), None) => None,
            (None, Some(_)) => other.compare(self, datatype).map(Ordering::reverse),
            _ => Some(left.cmp(&right).then(fractions)),
        }
    }

    /// The same instant in UTC, for dateTime and time; `date` has its own rule: the day's start
    /// stays the same instant, and the zone is brought to -11:59 … +12:00 (§3.2.9.2).
    pub(crate) fn canonical(mut self, datatype: Datatype) -> Self {
        let Some(Zone(minutes)) = self.zone else {
            return self;
        };
        match datatype {
            Datatype::DateTime | Datatype::Time => {
                let of_day =
                    i128::from(self.hour) * 60 + i128::from(self.minute) - i128::from(minutes);
                let minute_of_day = of_day.rem_euclid(1440);
                if datatype == Datatype::DateTime {
                    self.shift_days(of_day.div_euclid(1440));
                }
                (self.hour, self.minute) = ((minute_of_day / 60) as u8, (minute_of_day % 60) as u8);
                self.zone = Some(Zone::UTC);
            }
            Datatype::Date if minutes > 720 => {
                self.shift_days(-1);
                self.zone = Some(Zone(minutes - 1440));
            }
            Datatype::Date if minutes <= -720 => {
                self.shift_days(1);
                self.zone = Some(Zone(minutes + 1440));
            }
            _ => {}
        }
        self
    }

    /// Writes the lexical form of the fields `datatype` has.
    pub(crate) fn write(&self, datatype: Datatype, f: &mut impl fmt::Write) -> fmt::Result {
        let has = fields(datatype).ok_or(fmt::Error)?;
        if has.year {
            let sign = if self.year < 0 { "-" } else { "" };
            write!(f, "{sign}{:04}", self.year.unsigned_abs())?;
        } else if !has.time {
            f.write_char('-')?;
        }
        if has.month {
            write!(f, "-{:02}", self.month)?;
        } else if has.day {
            f.write_char('-')?;
        }
        if has.day {
            write!(f, "-{:02}", self.day)?;
        }
        if has.time {
            let separator = if has.day { "T" } else { "" };
            write!(
                f,
                "{separator}{:02}:{:02}:{:02}",
                self.hour, self.minute, self.second
            )?;
            if !self.fraction.is_empty() {
                write!(f, ".{}", self.fraction)?;
            }
        }
        self.zone.map_or(Ok(()), |zone| write!(f, "{zone}"))
    }
}

/// Years as astronomers count them: XSD 1.0 has no year zero, so its -0001 is their 0.
pub(crate) fn astronomical(year: i64) -> i128 {
    i128::from(if year < 0 { year + 1 } else { year })
}

pub(crate) fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(astronomical(year)) => 29,
        2 => 28,
        _ => 31,
    }
}

fn is_leap(year: i128) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days since 1970-01-01 in the Gregorian calendar, which is taken to reach back for ever.
///
/// Years start in March here, so that the leap day comes last: month m (March = 0) starts on day
/// (153·m + 2) / 5, and 400 years have 146097 days.
pub(crate) fn days_from_civil(year: i128, month: u8, day: u8) -> i128 {
    let month = i128::from(month);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i128::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_civil`].
pub(crate) fn civil_from_days(days: i128) -> (i128, u8, u8) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    (year, month as u8, day as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for days in (-1_000_000..1_000_000).step_by(97).chain(700_000..701_000) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
        assert_eq!(days_from_civil(1970, 1, 1), 0);
        assert_eq!(days_from_civil(2000, 3, 1), 11_017);
    }

    #[test]
    fn the_day_after_the_last_of_the_year_before_christ_is_in_year_one() {
        let moment = parse(Datatype::DateTime, "-0001-12-31T24:00:00").unwrap();
        assert_eq!((moment.year, moment.month, moment.day), (1, 1, 1));
    }
}
