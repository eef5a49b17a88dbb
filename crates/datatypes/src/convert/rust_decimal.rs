//! The decimals of `rust_decimal`, of up to 28 digits.

use crate::{ConversionError, Decimal};

/// It is an error if the value has more digits than the other type: nothing is rounded.
impl TryFrom<&Decimal> for rust_decimal::Decimal {
    type Error = ConversionError;

    fn try_from(value: &Decimal) -> Result<Self, ConversionError> {
        let made = Self::from_str_exact(&value.to_string());
        made.map_err(|_| {
            ConversionError::new(value, "rust_decimal::Decimal", "it has too many digits")
        })
    }
}

impl From<&rust_decimal::Decimal> for Decimal {
    fn from(value: &rust_decimal::Decimal) -> Self {
        // It writes a sign, digits, and a dot before more digits.
        Self::parse(&value.to_string()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_come_back_or_are_an_error() {
        for text in [
            "0",
            "-0.0000000000000000000000000001",
            "79228162514264337593543950335",
            "12.5",
        ] {
            let value: Decimal = text.parse().unwrap();
            let other = rust_decimal::Decimal::try_from(&value).unwrap();
            assert_eq!(Decimal::from(&other), value);
        }
        for text in [
            "79228162514264337593543950336",
            "0.00000000000000000000000000001",
            "1.00000000000000000000000000001",
        ] {
            let value: Decimal = text.parse().unwrap();
            let error = rust_decimal::Decimal::try_from(&value).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("\"{text}\" cannot be a rust_decimal::Decimal: it has too many digits")
            );
        }
    }
}
