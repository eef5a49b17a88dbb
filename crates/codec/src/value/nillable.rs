//! An element that may be absent, and nil if it is there.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

/// The value of an element that is both optional (`minOccurs="0"`) and nillable (`xsi:nil="true"`).
///
/// Many peers, WCF among them, declare every string so. Most programs do not care which of the two it is that there is no
/// value: [`into_option`](Self::into_option) and [`as_option`](Self::as_option) treat absent and nil alike, and an `Option`
/// converts into it, where `None` is absent.
///
/// ```
/// use bsoap_codec::Nillable;
///
/// let note: Nillable<String> = Some("fragile".to_owned()).into();
/// assert_eq!(note.as_option().map(String::as_str), Some("fragile"));
/// assert!(Nillable::<String>::default().is_absent());
/// assert_eq!(Nillable::<String>::Nil.into_option(), None);
/// ```
// Exhaustive: XML Schema has no other state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nillable<T> {
    /// The element is not there.
    #[default]
    Absent,
    /// The element is there, without a value: `<note xsi:nil="true"/>`.
    Nil,
    /// The element has this value.
    Value(T),
}

impl<T> Nillable<T> {
    /// True if the element is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// True if the element is there without a value.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// The value; `None` if the element is absent or nil.
    pub fn as_option(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The value; `None` if the element is absent or nil.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The same with another value.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Nillable<U> {
        match self {
            Self::Absent => Nillable::Absent,
            Self::Nil => Nillable::Nil,
            Self::Value(value) => Nillable::Value(convert(value)),
        }
    }
}

impl<T> From<T> for Nillable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

/// `None` is absent.
impl<T> From<Option<T>> for Nillable<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Value)
    }
}

/// `null` is nil. An absent element is no member: `#[serde(default, skip_serializing_if = "Nillable::is_absent")]`.
impl<T: Serialize> Serialize for Nillable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_option().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nillable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value: Option<T> = Deserialize::deserialize(deserializer)?;
        Ok(value.map_or(Self::Nil, Self::Value))
    }
}
