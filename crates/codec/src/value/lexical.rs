//! Values that are stored as their lexical form: the dates and numbers of XML Schema, and the types of other crates that these
//! convert to.

use bsoap_datatypes::{
    ConversionError, Date, DateTime, Decimal, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth,
    Integer, Time,
};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeSeq as _, Serializer};

use super::nillable::Nillable;
use super::pack::{Pack, PackError, Packer};
use super::unpack::{Unpack, Unpacker};

macro_rules! lexical {
    ($($ty:ty),*) => {$(
        impl Pack for $ty {
            fn pack(&self, packer: &mut Packer<'_>) {
                packer.display(self);
            }

            fn is_scalar() -> bool {
                true
            }
        }

        impl Unpack for $ty {
            fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
                Self::parse(from.text()?).map_err(|error| ConversionError::from(error).into())
            }

            fn is_scalar() -> bool {
                true
            }
        }
    )*};
}

lexical!(
    DateTime, Date, Time, GYearMonth, GYear, GMonthDay, GDay, GMonth, Duration, Decimal, Integer
);

/// A type of another crate, stored as the lexical form of the type of XML Schema that it converts to. For serde it is that
/// text, too.
pub trait Foreign: Sized {
    /// The lexical form.
    ///
    /// # Errors
    /// If XML Schema has no such value.
    fn to_lexical(&self) -> Result<String, ConversionError>;

    /// The value of a lexical form.
    ///
    /// # Errors
    /// If it is none, or the type cannot represent the value.
    fn from_lexical(text: &str) -> Result<Self, ConversionError>;
}

/// What serde reads and writes for fields of a [`Foreign`] type: `#[serde(with = "bsoap::typed::as_text")]`.
pub trait AsText: Sized {
    /// Serializes lexical forms.
    ///
    /// # Errors
    /// If a value has no lexical form, or the serializer fails.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Deserializes lexical forms.
    ///
    /// # Errors
    /// If the type cannot represent a value, or the deserializer fails.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// A value inside an option or a sequence.
struct Inner<T>(T);

impl<T: AsText> Serialize for Inner<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: AsText> Deserialize<'de> for Inner<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

impl<T: AsText> AsText for Option<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => serializer.serialize_some(&Inner(value)),
            None => serializer.serialize_none(),
        }
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value: Option<Inner<T>> = Deserialize::deserialize(deserializer)?;
        Ok(value.map(|value| value.0))
    }
}

impl<T: AsText> AsText for Nillable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_option() {
            Some(value) => serializer.serialize_some(&Inner(value)),
            None => serializer.serialize_none(),
        }
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value: Nillable<Inner<T>> = Deserialize::deserialize(deserializer)?;
        Ok(value.map(|value| value.0))
    }
}

impl<T: AsText> AsText for Vec<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(Some(self.len()))?;
        self.iter()
            .try_for_each(|item| items.serialize_element(&Inner(item)))?;
        items.end()
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items: Vec<Inner<T>> = Deserialize::deserialize(deserializer)?;
        Ok(items.into_iter().map(|item| item.0).collect())
    }
}

#[allow(unused_macros)] // without the features there is nothing to convert to
macro_rules! foreign {
    ($($ty:ty as $own:ty),*) => {$(
        impl Foreign for $ty {
            fn to_lexical(&self) -> Result<String, ConversionError> {
                Ok(<$own>::try_from(self).map_err(ConversionError::from)?.to_string())
            }

            fn from_lexical(text: &str) -> Result<Self, ConversionError> {
                Self::try_from(&<$own>::parse(text)?)
            }
        }

        impl Pack for $ty {
            fn pack(&self, packer: &mut Packer<'_>) {
                match self.to_lexical() {
                    Ok(text) => packer.text(&text),
                    Err(error) => packer.refuse(error),
                }
            }

            fn is_scalar() -> bool {
                true
            }
        }

        impl Unpack for $ty {
            fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
                Ok(Self::from_lexical(from.text()?)?)
            }

            fn is_scalar() -> bool {
                true
            }
        }

        impl AsText for $ty {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text = self.to_lexical().map_err(serde::ser::Error::custom)?;
                serializer.serialize_str(&text)
            }

            fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let own: $own = Deserialize::deserialize(deserializer)?;
                Self::try_from(&own).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

#[cfg(feature = "jiff")]
foreign!(
    jiff::Timestamp as DateTime,
    jiff::civil::Date as Date,
    jiff::civil::Time as Time
);
#[cfg(feature = "chrono")]
foreign!(
    chrono::DateTime<chrono::FixedOffset> as DateTime,
    chrono::NaiveDate as Date,
    chrono::NaiveTime as Time
);
#[cfg(feature = "time")]
foreign!(
    time::OffsetDateTime as DateTime,
    time::Date as Date,
    time::Time as Time
);
#[cfg(feature = "rust_decimal")]
foreign!(rust_decimal::Decimal as Decimal);
