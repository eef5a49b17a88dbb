//! Values of any type, for those who learn the type at run time: equality and order are those of
//! the value space, so `1.0` and `1` are one decimal, and 12:00 UTC is 13:00 an hour further east.

use std::cmp::Ordering;
use std::fmt;

use crate::datetime::Calendar;
use crate::qname::{self, ExpandedName, NamespaceContext};
use crate::{Datatype, Decimal, Duration, LexicalError, binary, boolean, double, float};

/// A value of an atomic type. The variant is its primitive type: types derived from one another
/// share their values.
///
/// ```
/// use bsoap_datatypes::{AtomicValue, Datatype};
/// use bsoap_datatypes::qname::NoNamespaces;
///
/// let [a, b] = ["325.325", "3.25325E2"]
///     .map(|text| AtomicValue::parse(Datatype::Float, text, &NoNamespaces).unwrap());
/// assert_eq!(a, b);
/// assert_eq!(a.to_string(), "325.325");
/// assert_eq!(a.canonical(Datatype::Float), "3.25325E2");
/// ```
#[derive(Clone, Debug)]
#[allow(missing_docs)] // each is called as its type
pub enum AtomicValue {
    /// Also of `anySimpleType`, whose values we do not interpret.
    String(Box<str>),
    Boolean(bool),
    /// Also of all integer types.
    Decimal(Decimal),
    Float(f32),
    Double(f64),
    Duration(Duration),
    /// Of all eight calendar types.
    Calendar(Calendar),
    HexBinary(Box<[u8]>),
    Base64Binary(Box<[u8]>),
    AnyUri(Box<str>),
    QName(ExpandedName),
    Notation(ExpandedName),
}

impl AtomicValue {
    /// The value of a lexical form of `datatype`, whose white space has been processed. A prefix
    /// that is not bound makes a QName no lexical form; so does any text for a list type, which
    /// has no atomic values.
    pub fn parse(
        datatype: Datatype,
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<Self, LexicalError> {
        datatype.check(text)?;
        let name =
            || qname::resolve(text, namespaces).ok_or_else(|| LexicalError::new(datatype, text));
        let bytes = text.as_bytes();
        Ok(match datatype.primitive() {
            Datatype::AnySimpleType if datatype.item().is_some() => {
                return Err(LexicalError::new(datatype, text));
            }
            Datatype::Boolean => Self::Boolean(boolean::parse(bytes)?),
            Datatype::Decimal => Self::Decimal(Decimal::parse(text)?),
            Datatype::Float => Self::Float(float::parse(bytes)?),
            Datatype::Double => Self::Double(double::parse(bytes)?),
            Datatype::Duration => Self::Duration(Duration::parse(text)?),
            Datatype::DateTime
            | Datatype::Time
            | Datatype::Date
            | Datatype::GYearMonth
            | Datatype::GYear
            | Datatype::GMonthDay
            | Datatype::GDay
            | Datatype::GMonth => Self::Calendar(Calendar::parse(datatype, text)?),
            Datatype::HexBinary => Self::HexBinary(octets(binary::parse_hex, bytes)?),
            Datatype::Base64Binary => Self::Base64Binary(octets(binary::parse_base64, bytes)?),
            Datatype::AnyUri => Self::AnyUri(text.into()),
            Datatype::QName => Self::QName(name()?),
            Datatype::Notation => Self::Notation(name()?),
            _ => Self::String(text.into()),
        })
    }

    /// The primitive type whose value it is.
    pub fn primitive(&self) -> Datatype {
        match self {
            Self::String(_) => Datatype::String,
            Self::Boolean(_) => Datatype::Boolean,
            Self::Decimal(_) => Datatype::Decimal,
            Self::Float(_) => Datatype::Float,
            Self::Double(_) => Datatype::Double,
            Self::Duration(_) => Datatype::Duration,
            Self::Calendar(value) => value.datatype(),
            Self::HexBinary(_) => Datatype::HexBinary,
            Self::Base64Binary(_) => Datatype::Base64Binary,
            Self::AnyUri(_) => Datatype::AnyUri,
            Self::QName(_) => Datatype::QName,
            Self::Notation(_) => Datatype::Notation,
        }
    }

    /// The canonical form as a value of `datatype`, which distinguishes the integer 1 from the decimal
    /// 1.0. Names have none, as their prefixes are free: they are as `Display` shows them.
    pub fn canonical(&self, datatype: Datatype) -> String {
        match self {
            Self::Decimal(value) if !datatype.is_derived_from(Datatype::Integer) => {
                value.canonical()
            }
            Self::Float(value) => float::canonical(*value),
            Self::Double(value) => double::canonical(*value),
            Self::Calendar(value) => value.canonical(),
            _ => self.to_string(),
        }
    }
}

fn octets(
    parse: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), LexicalError>,
    text: &[u8],
) -> Result<Box<[u8]>, LexicalError> {
    let mut octets = Vec::new();
    parse(text, &mut octets)?;
    Ok(octets.into())
}

/// Equal in the value space. XSD differs from IEEE 754 here: NaN equals NaN. Values of different
/// primitive types are never equal.
impl PartialEq for AtomicValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::String(left), Self::String(right))
            | (Self::AnyUri(left), Self::AnyUri(right)) => left == right,
            (Self::Boolean(left), Self::Boolean(right)) => left == right,
            (Self::HexBinary(left), Self::HexBinary(right))
            | (Self::Base64Binary(left), Self::Base64Binary(right)) => left == right,
            (Self::QName(left), Self::QName(right))
            | (Self::Notation(left), Self::Notation(right)) => left == right,
            _ => self.partial_cmp(other) == Some(Ordering::Equal),
        }
    }
}

impl Eq for AtomicValue {}

/// The order of the types that have one; `None` for all others and for values in no order.
impl PartialOrd for AtomicValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Decimal(left), Self::Decimal(right)) => left.partial_cmp(right),
            (Self::Float(left), Self::Float(right)) => {
                compare_floats(f64::from(*left), f64::from(*right))
            }
            (Self::Double(left), Self::Double(right)) => compare_floats(*left, *right),
            (Self::Duration(left), Self::Duration(right)) => left.partial_cmp(right),
            (Self::Calendar(left), Self::Calendar(right)) => left.partial_cmp(right),
            _ if self.primitive() == other.primitive() && !self.has_order() => {
                (self == other).then_some(Ordering::Equal)
            }
            _ => None,
        }
    }
}

impl AtomicValue {
    fn has_order(&self) -> bool {
        !matches!(
            self,
            Self::String(_)
                | Self::Boolean(_)
                | Self::HexBinary(_)
                | Self::Base64Binary(_)
                | Self::AnyUri(_)
                | Self::QName(_)
                | Self::Notation(_)
        )
    }
}

fn compare_floats(left: f64, right: f64) -> Option<Ordering> {
    if left.is_nan() && right.is_nan() {
        Some(Ordering::Equal)
    } else {
        left.partial_cmp(&right)
    }
}

/// A lexical form, as short as it can be; of names, the expanded name.
impl fmt::Display for AtomicValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        match self {
            Self::String(value) | Self::AnyUri(value) => return f.write_str(value),
            Self::Boolean(value) => return f.write_str(boolean::text(*value)),
            Self::Decimal(value) => return value.fmt(f),
            Self::Duration(value) => return value.fmt(f),
            Self::Calendar(value) => return value.fmt(f),
            Self::QName(value) | Self::Notation(value) => return value.fmt(f),
            Self::Float(value) => float::write(*value, &mut text),
            Self::Double(value) => double::write(*value, &mut text),
            Self::HexBinary(value) => binary::write_hex(value, &mut text),
            Self::Base64Binary(value) => binary::write_base64(value, &mut text),
        }
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// A value of a simple type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Of an atomic type.
    Atomic(AtomicValue),
    /// Of a list type; the items may be of several types if the list is one of a union.
    List(Vec<AtomicValue>),
}

/// The items with a space between them.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atomic(value) => value.fmt(f),
            Self::List(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                f.write_str(if index == 0 { "" } else { " " })?;
                item.fmt(f)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qname::NoNamespaces;

    fn value(datatype: Datatype, text: &str) -> AtomicValue {
        AtomicValue::parse(datatype, text, &NoNamespaces).unwrap()
    }

    #[test]
    fn nan_equals_itself_and_is_in_no_order_with_others() {
        let nan = value(Datatype::Double, "NaN");
        assert_eq!(nan, value(Datatype::Double, "NaN"));
        assert_eq!(nan.partial_cmp(&value(Datatype::Double, "INF")), None);
        assert_eq!(value(Datatype::Double, "-0"), value(Datatype::Double, "0"));
    }

    #[test]
    fn values_of_different_primitive_types_are_never_equal() {
        assert_ne!(value(Datatype::Float, "1"), value(Datatype::Double, "1"));
        assert_ne!(value(Datatype::String, "a"), value(Datatype::AnyUri, "a"));
        assert_ne!(
            value(Datatype::HexBinary, "AAAA"),
            value(Datatype::Base64Binary, "qqo=")
        );
        assert_eq!(
            value(Datatype::Byte, "+01"),
            value(Datatype::Decimal, "1.0")
        );
    }

    #[test]
    fn names_are_equal_by_namespace_not_by_prefix() {
        let parse = |text: &str, context: [(&str, &str); 1]| {
            AtomicValue::parse(Datatype::QName, text, &context)
        };
        assert_eq!(
            parse("a:x", [("a", "urn:1")]).unwrap(),
            parse("b:x", [("b", "urn:1")]).unwrap()
        );
        assert_ne!(
            parse("a:x", [("a", "urn:1")]).unwrap(),
            parse("x", [("a", "urn:1")]).unwrap()
        );
        assert_eq!(
            parse("x", [("", "urn:1")]).unwrap(),
            parse("a:x", [("a", "urn:1")]).unwrap()
        );
        assert!(parse("c:x", [("a", "urn:1")]).is_err());
    }
}
