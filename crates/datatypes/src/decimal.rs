//! `xs:decimal` and the integers without bounds, which are decimals (XSD 1.0 Part 2 §3.2.3).
//!
//! A value is its digits, kept as text: nothing is lost, however many there are, and reading,
//! comparing and writing are linear in their number. (A binary big integer is not: turning a
//! million digits into one is work a peer could make us do.)

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::{ConversionError, Datatype, LexicalError};

/// A decimal number of any size and precision.
///
/// ```
/// use bsoap_datatypes::Decimal;
///
/// let price: Decimal = "+0012.50".parse().unwrap();
/// assert_eq!(price, "12.5".parse().unwrap());
/// assert_eq!(price.to_string(), "12.5");
/// assert_eq!(price.canonical(), "12.5");
/// assert!(price < "100000000000000000000000000000000000000.1".parse().unwrap());
/// assert_eq!(Decimal::from(-7_i64).to_i64(), Some(-7));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// How many of the digits are before the dot.
    whole: usize,
    /// ASCII digits; those before the dot do not start with a zero, those behind it do not end
    /// with one. Zero has none.
    digits: Box<str>,
}

impl Decimal {
    /// Whether a text is a lexical form of `xs:decimal` without white space, found out in one pass over its bytes.
    ///
    /// ```
    /// use bsoap_datatypes::Decimal;
    ///
    /// assert!(Decimal::is_form(b"-12.50") && Decimal::is_form(b"+.5"));
    /// assert!(!Decimal::is_form(b"1e5") && !Decimal::is_form(b".") && !Decimal::is_form(b" 1"));
    /// ```
    #[inline]
    pub fn is_form(text: &[u8]) -> bool {
        let unsigned = match text {
            [b'+' | b'-', unsigned @ ..] => unsigned,
            unsigned => unsigned,
        };
        let (mut digits, mut dots) = (0, 0);
        for &byte in unsigned {
            digits += usize::from(byte.is_ascii_digit());
            dots += usize::from(byte == b'.');
        }
        digits > 0 && dots <= 1 && digits + dots == unsigned.len()
    }

    /// Zero.
    pub fn zero() -> Self {
        Parts::default().to_decimal()
    }

    /// The value of a lexical form of `xs:decimal`: sign, digits with an optional dot.
    pub fn parse(text: &str) -> Result<Self, LexicalError> {
        Parts::parse(text)
            .map(Parts::to_decimal)
            .ok_or_else(|| LexicalError::new(Datatype::Decimal, text))
    }

    /// Is it less than zero?
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Has it no fraction?
    pub fn is_integer(&self) -> bool {
        self.digits.len() == self.whole
    }

    /// How many digits its value has, as the `totalDigits` facet counts: at least as many as
    /// there are after the dot.
    pub fn total_digits(&self) -> u64 {
        self.parts().total_digits()
    }

    /// How many digits are after the dot.
    pub fn fraction_digits(&self) -> u64 {
        self.parts().fraction_digits()
    }

    /// The value, if it is an integer that fits.
    pub fn to_i64(&self) -> Option<i64> {
        self.is_integer().then(|| self.to_string().parse().ok())?
    }

    /// The nearest `f64`; infinite if the value is greater than all of them.
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The canonical form as a decimal: a dot, and at least one digit at each of its sides. (That
    /// of an integer is what `Display` writes.)
    pub fn canonical(&self) -> String {
        let text = self.to_string();
        if self.is_integer() {
            format!("{text}.0")
        } else {
            text
        }
    }

    pub(crate) fn parts(&self) -> Parts<'_> {
        let (whole, fraction) = self.digits.split_at(self.whole);
        Parts {
            negative: self.negative,
            whole,
            fraction,
        }
    }
}

impl FromStr for Decimal {
    type Err = LexicalError;

    fn from_str(text: &str) -> Result<Self, LexicalError> {
        Self::parse(text)
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Decimal {
            fn from(value: $integer) -> Self {
                let mut buffer = itoa::Buffer::new();
                Parts::parse(buffer.format(value)).unwrap_or_default().to_decimal()
            }
        }
    )*};
}
from_integer!(
    i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize
);

impl Default for Decimal {
    fn default() -> Self {
        Self::zero()
    }
}

/// The shortest decimal that the number is the nearest `f64` of. It is an error if the number is not finite.
impl TryFrom<f64> for Decimal {
    type Error = ConversionError;

    fn try_from(number: f64) -> Result<Self, ConversionError> {
        // `Display` of floats never uses an exponent.
        let text = number.is_finite().then(|| number.to_string());
        text.as_deref()
            .and_then(Parts::parse)
            .map(Parts::to_decimal)
            .ok_or_else(|| ConversionError::new(number, "decimal", "it is not finite"))
    }
}

/// The shortest form: no dot without a fraction, a zero before a dot that starts the number.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts {
            negative,
            whole,
            fraction,
        } = self.parts();
        let sign = if negative { "-" } else { "" };
        let whole = if whole.is_empty() { "0" } else { whole };
        if fraction.is_empty() {
            write!(f, "{sign}{whole}")
        } else {
            write!(f, "{sign}{whole}.{fraction}")
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A decimal as slices of its lexical form, without the zeros that say nothing: what facets are
/// checked on, so that checking allocates nothing.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Parts<'a> {
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let are_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() && fraction.is_empty() || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (
            whole.trim_start_matches('0'),
            fraction.trim_end_matches('0'),
        );
        let zero = whole.is_empty() && fraction.is_empty();
        Some(Self {
            negative: !zero && text.starts_with('-'),
            whole,
            fraction,
        })
    }

    pub(crate) fn total_digits(self) -> u64 {
        let significant = match self.whole {
            "" => self.fraction.trim_start_matches('0').len(),
            whole => whole.len() + self.fraction.len(),
        };
        significant.max(self.fraction.len()) as u64
    }

    pub(crate) fn fraction_digits(self) -> u64 {
        self.fraction.len() as u64
    }

    fn to_decimal(self) -> Decimal {
        let digits = match self.fraction {
            "" => Cow::Borrowed(self.whole),
            fraction => Cow::Owned(format!("{}{fraction}", self.whole)),
        };
        Decimal {
            negative: self.negative,
            whole: self.whole.len(),
            digits: digits.into(),
        }
    }

    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        let lengths = self.whole.len().cmp(&other.whole.len());
        // A fraction without zeros at its end compares as its text does.
        lengths
            .then_with(|| self.whole.cmp(other.whole))
            .then_with(|| self.fraction.cmp(other.fraction))
    }
}

impl Ord for Parts<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
            (negative, _) => {
                if negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for Parts<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn zeros_that_say_nothing_are_not_part_of_the_value() {
        for (text, expected) in [
            ("-0", "0"),
            ("+00.00", "0"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-007.070", "-7.07"),
            ("100", "100"),
        ] {
            assert_eq!(decimal(text).to_string(), expected);
            assert_eq!(decimal(text), decimal(expected));
        }
    }

    #[test]
    fn decimals_are_ordered_by_value() {
        let ascending = [
            "-100", "-99.9", "-1", "-0.11", "-0.1", "0", "0.09", "0.1", "1", "1.01", "9", "10",
            "100",
        ];
        for pair in ascending.windows(2) {
            assert!(decimal(pair[0]) < decimal(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn digits_are_counted_as_the_facets_count_them() {
        for (text, total, fraction) in [
            ("0", 0, 0),
            ("100", 3, 0),
            ("0.001", 3, 3),
            ("12.50", 3, 1),
            ("-012.05", 4, 2),
            ("00.100", 1, 1),
        ] {
            let decimal = decimal(text);
            assert_eq!(
                (decimal.total_digits(), decimal.fraction_digits()),
                (total, fraction),
                "{text}"
            );
        }
    }

    #[test]
    fn floats_come_back() {
        for number in [0.1, -2.5e-7, 1e23, 0.0, f64::MAX] {
            assert_eq!(Decimal::try_from(number).unwrap().to_f64(), number);
        }
        let error = Decimal::try_from(f64::NAN).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"NaN\" cannot be a decimal: it is not finite"
        );
    }

    #[test]
    fn an_integer_that_does_not_fit_is_none() {
        assert_eq!(decimal("9223372036854775808").to_i64(), None);
        assert_eq!(decimal("-9223372036854775808").to_i64(), Some(i64::MIN));
        assert_eq!(decimal("1.5").to_i64(), None);
    }
}
