//! The integers without bounds as a Rust type: `xs:integer`, `xs:nonNegativeInteger` and their like.

use std::fmt;
use std::str::FromStr;

use crate::{ConversionError, Datatype, Decimal, LexicalError};

/// An integer of any size.
///
/// ```
/// use bsoap_datatypes::Integer;
///
/// let number: Integer = "+0012345678901234567890123".parse()?;
/// assert_eq!(number.to_string(), "12345678901234567890123");
/// assert_eq!(i128::try_from(&number), Ok(12_345_678_901_234_567_890_123));
/// assert!(i64::try_from(&number).is_err());
/// assert!(Integer::from(-7) < number);
/// assert!("1.0".parse::<Integer>().is_err());
/// # Ok::<(), bsoap_datatypes::LexicalError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Integer(Decimal);

impl Integer {
    /// Zero.
    pub fn zero() -> Self {
        Self(Decimal::zero())
    }

    /// The value of a lexical form of `xs:integer`: sign and digits.
    pub fn parse(text: &str) -> Result<Self, LexicalError> {
        match Decimal::parse(text) {
            Ok(number) if !text.contains('.') => Ok(Self(number)),
            _ => Err(LexicalError::new(Datatype::Integer, text)),
        }
    }

    /// Is it less than zero?
    pub fn is_negative(&self) -> bool {
        self.0.is_negative()
    }

    /// The same number as a decimal.
    pub fn as_decimal(&self) -> &Decimal {
        &self.0
    }
}

impl Default for Integer {
    fn default() -> Self {
        Self::zero()
    }
}

impl FromStr for Integer {
    type Err = LexicalError;

    fn from_str(text: &str) -> Result<Self, LexicalError> {
        Self::parse(text)
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Integer> for Decimal {
    fn from(number: Integer) -> Self {
        number.0
    }
}

/// It is an error if the number has a fraction.
impl TryFrom<Decimal> for Integer {
    type Error = ConversionError;

    fn try_from(number: Decimal) -> Result<Self, ConversionError> {
        match number.is_integer() {
            true => Ok(Self(number)),
            false => Err(ConversionError::new(
                number,
                "whole number",
                "it has a fraction",
            )),
        }
    }
}

macro_rules! machine_integers {
    ($($integer:ident),*) => {$(
        impl From<$integer> for Integer {
            fn from(value: $integer) -> Self {
                Self(value.into())
            }
        }

        impl TryFrom<&Integer> for $integer {
            type Error = ConversionError;

            fn try_from(number: &Integer) -> Result<Self, ConversionError> {
                let parsed = number.to_string().parse();
                parsed.map_err(|_| ConversionError::new(number, stringify!($integer), "it is out of range"))
            }
        }

        impl TryFrom<Integer> for $integer {
            type Error = ConversionError;

            fn try_from(number: Integer) -> Result<Self, ConversionError> {
                Self::try_from(&number)
            }
        }
    )*};
}
machine_integers!(
    i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_from_the_types_of_the_machine() {
        for (text, least) in [
            ("-9223372036854775808", i64::MIN),
            ("0", 0),
            ("42", 42),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(Integer::from(least).to_string(), text);
            assert_eq!(i64::try_from(Integer::parse(text).unwrap()), Ok(least));
        }
        assert_eq!(u128::try_from(Integer::from(u128::MAX)), Ok(u128::MAX));
        let error = u8::try_from(Integer::from(-1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"-1\" cannot be a u8: it is out of range"
        );
        assert_eq!(usize::try_from(Integer::zero()), Ok(0));
    }

    #[test]
    fn a_decimal_with_a_fraction_is_no_integer() {
        let number: Decimal = "3.0".parse().unwrap();
        assert_eq!(Integer::try_from(number), Ok(Integer::from(3)));
        let error = Integer::try_from("3.5".parse::<Decimal>().unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"3.5\" cannot be a whole number: it has a fraction"
        );
        assert!(".".parse::<Integer>().is_err() && "3.".parse::<Integer>().is_err());
    }
}
