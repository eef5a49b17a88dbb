//! `xs:duration` (XSD 1.0 Part 2 §3.2.6): a number of months and a number of seconds. How many
//! seconds a month has is not known, so the order is partial.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::moment::days_from_civil;
use crate::{Datatype, LexicalError};

/// A length of time: `P1Y2M3DT4H5M6.7S`.
///
/// Each number in the text may be as great as a `u64`, the fraction of the seconds of any length.
///
/// ```
/// use bsoap_datatypes::Duration;
///
/// let duration: Duration = "-P1Y14MT3600.50S".parse().unwrap();
/// assert_eq!((duration.months(), duration.seconds(), duration.fraction()), (-26, -3600, "5"));
/// assert_eq!(duration.to_string(), "-P2Y2MT1H0.5S");
///
/// let [month, days]: [Duration; 2] = ["P1M", "P30D"].map(|text| text.parse().unwrap());
/// assert_eq!(month.partial_cmp(&days), None);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Duration {
    /// Never set for a duration of nothing.
    negative: bool,
    months: u128,
    seconds: u128,
    /// Digits behind the dot of the seconds, without zeros at their end.
    fraction: Box<str>,
}

impl Duration {
    /// The value of a lexical form, white space already processed.
    pub fn parse(text: &str) -> Result<Self, LexicalError> {
        match scan(text) {
            Some(found) => Ok(found.into_duration()),
            None => Err(LexicalError::new(Datatype::Duration, text)),
        }
    }

    /// A duration of months, seconds and a fraction of a second, whose decimal digits are
    /// `fraction`. The fraction has the sign of `months` and `seconds`; it is positive if both are
    /// zero. `None` if their signs differ, or if `fraction` contains anything but digits.
    pub fn new(months: i64, seconds: i64, fraction: &str) -> Option<Self> {
        let differ = months != 0 && seconds != 0 && (months < 0) != (seconds < 0);
        if differ || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self {
            negative: months < 0 || seconds < 0,
            months: u128::from(months.unsigned_abs()),
            seconds: u128::from(seconds.unsigned_abs()),
            fraction: fraction.trim_end_matches('0').into(),
        })
    }

    /// Is it a way back in time?
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The years and months, in months; less than zero in a negative duration.
    pub fn months(&self) -> i128 {
        self.signed(self.months)
    }

    /// The days, hours, minutes and whole seconds, in seconds; less than zero in a negative
    /// duration.
    pub fn seconds(&self) -> i128 {
        self.signed(self.seconds)
    }

    /// The digits behind the dot of the seconds, without zeros at their end.
    pub fn fraction(&self) -> &str {
        &self.fraction
    }

    /// Neither count reaches 2⁷⁰.
    fn signed(&self, magnitude: u128) -> i128 {
        if self.negative {
            -(magnitude as i128)
        } else {
            magnitude as i128
        }
    }

    /// The whole seconds since 1970 at which this duration ends that starts with a given month.
    fn end(&self, year: i128, month: u8) -> i128 {
        let months = year * 12 + i128::from(month) - 1 + self.months();
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u8 + 1);
        days_from_civil(year, month, 1) * 86_400 + self.seconds()
    }
}

/// XSD 1.0 Part 2 §3.2.6.2: x < y if x ends before y from each of these four months. They hold
/// the shortest and longest spans that months can be.
const STARTS: [(i128, u8); 4] = [(1696, 9), (1697, 2), (1903, 3), (1903, 7)];

impl PartialOrd for Duration {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other {
            return Some(Ordering::Equal);
        }
        let fractions = match (self.negative, other.negative) {
            (false, false) => self.fraction.cmp(&other.fraction),
            (true, true) => other.fraction.cmp(&self.fraction),
            (true, false) => return Some(Ordering::Less),
            (false, true) => return Some(Ordering::Greater),
        };
        let mut orders = STARTS
            .map(|(year, month)| {
                self.end(year, month)
                    .cmp(&other.end(year, month))
                    .then(fractions)
            })
            .into_iter();
        let first = orders.next()?;
        // 400 years end when 146097 days do, but are not the same value.
        (first != Ordering::Equal && orders.all(|order| order == first)).then_some(first)
    }
}

impl FromStr for Duration {
    type Err = LexicalError;

    fn from_str(text: &str) -> Result<Self, LexicalError> {
        Self::parse(text)
    }
}

/// The canonical form (that of XSD 1.1; 1.0 has none): months below 12, hours below 24 and so on;
/// what is zero is left out.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negative { "-P" } else { "P" })?;
        let part = |f: &mut fmt::Formatter<'_>, count: u128, unit: char| {
            if count == 0 {
                Ok(())
            } else {
                write!(f, "{count}{unit}")
            }
        };
        part(f, self.months / 12, 'Y')?;
        part(f, self.months % 12, 'M')?;
        part(f, self.seconds / 86_400, 'D')?;
        let of_day = self.seconds % 86_400;
        let nothing = self.months == 0 && self.seconds == 0;
        if of_day != 0 || !self.fraction.is_empty() || nothing {
            f.write_str("T")?;
        }
        part(f, of_day / 3600, 'H')?;
        part(f, of_day / 60 % 60, 'M')?;
        match (of_day % 60, &*self.fraction) {
            (0, "") if nothing => f.write_str("0S"),
            (seconds, "") => part(f, seconds, 'S'),
            (seconds, fraction) => write!(f, "{seconds}.{fraction}S"),
        }
    }
}

/// A duration whose fraction is still part of the text.
struct FoundDuration<'a> {
    negative: bool,
    months: u128,
    seconds: u128,
    fraction: &'a str,
}

impl FoundDuration<'_> {
    fn into_duration(self) -> Duration {
        let nothing = self.months == 0 && self.seconds == 0 && self.fraction.is_empty();
        Duration {
            negative: self.negative && !nothing,
            months: self.months,
            seconds: self.seconds,
            fraction: self.fraction.into(),
        }
    }
}

/// Is this a lexical form?
pub(crate) fn is_valid(text: &str) -> bool {
    scan(text).is_some()
}

/// `-?P(nY)?(nM)?(nD)?(T(nH)?(nM)?(n(.n)?S)?)?`: at least one number, and one behind a `T`.
fn scan(text: &str) -> Option<FoundDuration<'_>> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (date, time) = match unsigned.strip_prefix('P')?.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (unsigned.strip_prefix('P')?, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let mut found = FoundDuration {
        negative: unsigned.len() < text.len(),
        months: 0,
        seconds: 0,
        fraction: "",
    };
    let mut rest = date;
    found.months += take(&mut rest, 'Y')? * 12;
    found.months += take(&mut rest, 'M')?;
    found.seconds += take(&mut rest, 'D')? * 86_400;
    if !rest.is_empty() {
        return None;
    }
    rest = time;
    found.seconds += take(&mut rest, 'H')? * 3600;
    found.seconds += take(&mut rest, 'M')? * 60;
    if let Some((whole, fraction)) = rest.split_once('.') {
        let digits = fraction.strip_suffix('S')?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        found.fraction = digits.trim_end_matches('0');
        found.seconds += number(whole)?;
        rest = "";
    }
    found.seconds += take(&mut rest, 'S')?;
    // The canonical form must not need greater numbers than a text may have.
    let most = u128::from(u64::MAX);
    (rest.is_empty() && found.months / 12 <= most && found.seconds / 86_400 <= most)
        .then_some(found)
}

/// The number before `unit` at the front of the text; 0 if the next number has another unit.
fn take(rest: &mut &str, unit: char) -> Option<u128> {
    let end = rest
        .bytes()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(rest.len());
    let Some(behind) = rest[end..].strip_prefix(unit) else {
        return Some(0);
    };
    let value = number(&rest[..end])?;
    *rest = behind;
    Some(value)
}

fn number(digits: &str) -> Option<u128> {
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| all).map(u128::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duration(text: &str) -> Duration {
        text.parse().unwrap()
    }

    // XSD 1.0 Part 2 §3.2.6.2, the table of examples.
    #[test]
    fn the_examples_of_the_specification_are_in_its_order() {
        use Ordering::{Greater, Less};
        let rows = [
            (
                "P1Y",
                [
                    (364, Some(Greater)),
                    (365, None),
                    (366, None),
                    (367, Some(Less)),
                ]
                .as_slice(),
            ),
            (
                "P1M",
                &[
                    (27, Some(Greater)),
                    (28, None),
                    (29, None),
                    (30, None),
                    (31, None),
                    (32, Some(Less)),
                ],
            ),
            (
                "P5M",
                &[
                    (149, Some(Greater)),
                    (150, None),
                    (151, None),
                    (152, None),
                    (153, None),
                    (154, Some(Less)),
                ],
            ),
        ];
        for (text, cases) in rows {
            for (days, expected) in cases {
                let days = duration(&format!("P{days}D"));
                assert_eq!(
                    duration(text).partial_cmp(&days),
                    *expected,
                    "{text} {days}"
                );
            }
        }
    }

    #[test]
    fn equal_durations_may_be_spelt_in_many_ways() {
        for (left, right) in [
            ("P1Y", "P12M"),
            ("P1D", "PT24H"),
            ("PT1M", "PT60.000S"),
            ("-P0D", "PT0S"),
            ("P1Y0M0DT0H", "P1Y"),
        ] {
            assert_eq!(duration(left), duration(right));
            assert_eq!(duration(left).to_string(), duration(right).to_string());
        }
        assert_eq!(duration("P400Y").partial_cmp(&duration("P146097D")), None);
    }

    #[test]
    fn negative_durations_are_ordered_the_other_way_round() {
        assert!(duration("-PT1.5S") < duration("-PT1.25S"));
        assert!(duration("-P1D") < duration("PT0S"));
        assert!(duration("-P32D") < duration("-P1M"));
        assert!(duration("PT0.1S") < duration("PT0.11S"));
    }

    #[test]
    fn the_greatest_numbers_do_not_overflow() {
        let most = u64::MAX;
        let longest = duration(&format!("-P{most}Y11M{most}DT23H59M59.9S"));
        assert!(longest < duration("PT0S"));
        assert_eq!(duration(&longest.to_string()), longest);
        for text in [
            "P18446744073709551616Y",
            "P18446744073709551615Y12M",
            "P18446744073709551615DT24H",
        ] {
            assert!(text.parse::<Duration>().is_err());
        }
    }
}
