//! Values as serde's data: their lexical forms, which lose nothing. Numbers are also read from numbers.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{
    Date, DateTime, Decimal, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth, Integer,
    LexicalError, Time,
};

/// Reads a lexical form.
struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err = LexicalError>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Reads a lexical form or a number.
struct Number<T>(PhantomData<T>);

impl<T> Visitor<'_> for Number<T>
where
    T: FromStr<Err = LexicalError>
        + From<i64>
        + From<u64>
        + From<i128>
        + From<u128>
        + TryFrom<Decimal>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or its text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Ok(number.into())
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<T, E> {
        Ok(number.into())
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<T, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        let decimal = Decimal::try_from(number).map_err(E::custom)?;
        T::try_from(decimal).map_err(|_| E::custom(format_args!("{number} has a fraction")))
    }
}

macro_rules! as_text {
    ($visitor:ident: $($ty:ident),*) => {$(
        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // Formats that do not describe themselves have what was written: a text.
                match deserializer.is_human_readable() {
                    true => deserializer.deserialize_any($visitor(PhantomData)),
                    false => deserializer.deserialize_str($visitor(PhantomData)),
                }
            }
        }
    )*};
}

as_text!(Text: DateTime, Date, Time, GYearMonth, GYear, GMonthDay, GDay, GMonth, Duration);
as_text!(Number: Decimal, Integer);
