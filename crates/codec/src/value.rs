//! Dynamic values, for programs that do not know the schema at compile time.

use std::borrow::Cow;

use crate::attachment::Attachment;

pub mod build;
pub(crate) mod convert;
mod json;
pub(crate) mod lexical;
pub(crate) mod nearest;
pub(crate) mod nillable;
mod object;
pub(crate) mod octets;
pub(crate) mod pack;
pub(crate) mod sample;
pub(crate) mod serde_error;
mod serialize;
pub mod typed_serde;
pub(crate) mod unpack;
pub(crate) mod view;

pub use object::Object;

/// The text of a value, or the key of an object's member: a string that holds up to 24 bytes without an allocation. It is
/// used like a `&str`; `Text::from` takes `&str` and `String`.
///
/// ```
/// use bsoap_codec::{Text, Value};
///
/// let text = Text::from("short");
/// assert_eq!(Value::Text(text), Value::from("short"));
/// ```
pub type Text = compact_str::CompactString;

/// How deep values may nest, when messages are built and when they are read. Programs walk such trees by recursion; real
/// messages are far less deep.
pub const MAX_DEPTH: usize = 256;

/// How many groups of content models (sequences, choices) may be open in all elements together, when a message is converted
/// from or to values. A message as deep as allowed may have a few in each element.
pub(crate) const MAX_GROUPS: usize = 4 * MAX_DEPTH;

/// A value of any type.
///
/// Arrays of numbers have a form of their own, without a `Value` per number.
///
/// ```
/// use bsoap_codec::Value;
///
/// let order = Value::object([("id", Value::from(7)), ("prices", Value::from(vec![1.5, 2.25]))]);
/// assert_eq!(order["id"].as_i64(), Some(7));
/// assert_eq!(order["prices"].as_doubles(), Some(&[1.5, 2.25][..]));
/// assert_eq!(order.to_json(), r#"{"id":7,"prices":[1.5,2.25]}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nil: the element is present with `xsi:nil`; `null` in JSON.
    #[default]
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// A number of 32 bits.
    Float(f32),
    /// A number of 64 bits.
    Double(f64),
    /// Text, and all values without a variant of their own: decimals, dates, names.
    Text(Text),
    /// Octets, base64 in JSON.
    Bytes(Vec<u8>),
    /// Octets of `xs:hexBinary`, hexadecimal digits in JSON. To send such octets, `Bytes` will do.
    Hex(Vec<u8>),
    /// Octets of `xs:base64Binary` that travel beside the message; an object with the member `@attachment` in JSON.
    Attachment(Attachment),
    /// Values of any kind.
    Array(Vec<Value>),
    /// Numbers of 64 bits.
    Doubles(Vec<f64>),
    /// Numbers of 32 bits.
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i64>),
    /// Named values.
    Object(Object),
}

static NIL: Value = Value::Nil;

impl Value {
    /// An object of these members.
    pub fn object<K: Into<Text>>(members: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Object(members.into_iter().collect())
    }

    /// The member of an object with a key; `None` if there is none, or it is no object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// Whether it is nil.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if it is one that fits into `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::UInt(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The integer, if it is one that is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::UInt(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is one; integers as the nearest `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Double(value) => Some(*value),
            Self::Float(value) => Some((*value).into()),
            Self::Int(value) => Some(*value as f64),
            Self::UInt(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// The octets, if it has the variant `Bytes` or `Hex`.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(octets) | Self::Hex(octets) => Some(octets),
            _ => None,
        }
    }

    /// The attachment, if it is one.
    pub fn as_attachment(&self) -> Option<&Attachment> {
        match self {
            Self::Attachment(attachment) => Some(attachment),
            _ => None,
        }
    }

    /// The numbers, if it is an array of `f64`.
    pub fn as_doubles(&self) -> Option<&[f64]> {
        match self {
            Self::Doubles(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The numbers, if it is an array of integers.
    pub fn as_ints(&self) -> Option<&[i64]> {
        match self {
            Self::Ints(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The values, if it has the variant `Array`.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    /// The number of values of an array; 1 for anything else.
    pub fn len(&self) -> usize {
        match self {
            Self::Array(values) => values.len(),
            Self::Doubles(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Ints(values) => values.len(),
            _ => 1,
        }
    }

    /// The value at an index of an array of any kind. Anything else counts as an array with one value.
    pub(crate) fn item(&self, index: usize) -> Option<Cow<'_, Value>> {
        let owned = match self {
            Self::Array(values) => return values.get(index).map(Cow::Borrowed),
            Self::Doubles(values) => values.get(index).map(|&value| Self::Double(value)),
            Self::Floats(values) => values.get(index).map(|&value| Self::Float(value)),
            Self::Ints(values) => values.get(index).map(|&value| Self::Int(value)),
            one => return (index == 0).then_some(Cow::Borrowed(one)),
        };
        owned.map(Cow::Owned)
    }

    /// The values of an array of any kind. Anything else counts as an array with one value.
    pub fn items(&self) -> impl Iterator<Item = Cow<'_, Value>> {
        (0..self.len()).filter_map(|index| self.item(index))
    }

    /// Whether it is an array without values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is neither nil, nor an array, nor an object.
    pub(crate) fn is_single(&self) -> bool {
        !matches!(self, Self::Nil | Self::Object(_)) && !self.is_array()
    }

    /// Whether it is an array of any kind.
    pub fn is_array(&self) -> bool {
        matches!(
            self,
            Self::Array(_) | Self::Doubles(_) | Self::Floats(_) | Self::Ints(_)
        )
    }

    /// The kind of value in one or two words, for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::UInt(_) => "an integer",
            Self::Float(_) | Self::Double(_) => "a number",
            Self::Text(_) => "a text",
            Self::Bytes(_) | Self::Hex(_) => "octets",
            Self::Attachment(_) => "an attachment",
            Self::Array(_) => "an array",
            Self::Doubles(_) | Self::Floats(_) | Self::Ints(_) => "an array of numbers",
            Self::Object(_) => "an object",
        }
    }
}

/// The member of an object; [`Value::Nil`] if there is none.
impl std::ops::Index<&str> for Value {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NIL)
    }
}

/// The value at an index of the variant `Array`; [`Value::Nil`] if there is none.
impl std::ops::Index<usize> for Value {
    type Output = Value;

    fn index(&self, index: usize) -> &Value {
        self.as_array()
            .and_then(|values| values.get(index))
            .unwrap_or(&NIL)
    }
}

macro_rules! from {
    ($($ty:ty => |$value:ident| $make:expr;)*) => {$(
        impl From<$ty> for Value {
            fn from($value: $ty) -> Self {
                $make
            }
        }
    )*};
}

from! {
    bool => |value| Self::Bool(value);
    i64 => |value| Self::Int(value);
    i32 => |value| Self::Int(value.into());
    u32 => |value| Self::Int(value.into());
    u64 => |value| i64::try_from(value).map_or(Self::UInt(value), Self::Int);
    f32 => |value| Self::Float(value);
    f64 => |value| Self::Double(value);
    &str => |value| Self::Text(value.into());
    String => |value| Self::Text(value.into());
    Text => |value| Self::Text(value);
    Object => |value| Self::Object(value);
    Vec<u8> => |value| Self::Bytes(value);
    Attachment => |value| Self::Attachment(value);
    Vec<f64> => |value| Self::Doubles(value);
    Vec<f32> => |value| Self::Floats(value);
    Vec<i64> => |value| Self::Ints(value);
    Vec<i32> => |value| Self::Ints(value.into_iter().map(i64::from).collect());
    Vec<Value> => |value| Self::Array(value);
}

/// `None` becomes nil.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nil, Into::into)
    }
}
