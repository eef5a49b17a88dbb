//! Which texts are lexical forms of a built-in type, and how long they can be. One line per type; the grammars are in the module of
//! each family of types.

use crate::datetime::{is_plain_date, is_plain_date_time};
use crate::white_space::{is_collapsed_text, is_replaced_text};
use crate::{
    Datatype, LexicalError, Width, binary, decimal, double, duration, float, integer, moment, name,
    qname, uri,
};

impl Datatype {
    /// The longest lexical form of a value of this type.
    pub fn width(self) -> Width {
        match self {
            Datatype::Boolean => Width::AtMost(5), // false
            Datatype::Double => Width::AtMost(double::WIDTH as u8),
            Datatype::Float => Width::AtMost(float::WIDTH as u8),
            Datatype::Long => Width::AtMost(20), // -9223372036854775808
            Datatype::Int => Width::AtMost(11),  // -2147483648
            Datatype::Short => Width::AtMost(6), // -32768
            Datatype::Byte => Width::AtMost(4),  // -128
            Datatype::UnsignedLong => Width::AtMost(20), // 18446744073709551615
            Datatype::UnsignedInt => Width::AtMost(10), // 4294967295
            Datatype::UnsignedShort => Width::AtMost(5), // 65535
            Datatype::UnsignedByte => Width::AtMost(3), // 255
            Datatype::GMonthDay => Width::AtMost(13), // --12-31-14:00
            Datatype::GDay => Width::AtMost(11), // ---31-14:00
            Datatype::GMonth => Width::AtMost(10), // --12-14:00
            _ => Width::Unbounded,
        }
    }

    /// Whether a text, whose white space has been processed, is a lexical form of the type.
    ///
    /// Exact. Allocates only for base64 with white space. For QName and NOTATION only the form is checked: whether
    /// the prefix is bound is for [`crate::qname`] to say.
    pub fn check(self, lexical: &str) -> Result<(), LexicalError> {
        if is_valid(self, lexical) {
            Ok(())
        } else {
            Err(LexicalError::new(self, lexical))
        }
    }
}

fn is_valid(datatype: Datatype, text: &str) -> bool {
    use Datatype as D;
    let bytes = text.as_bytes();
    match datatype {
        D::AnySimpleType | D::String => true,
        D::NormalizedString => is_replaced_text(text),
        D::Token => is_collapsed_text(text),
        D::Language => name::is_language(text),
        D::Name => name::is_name(text),
        D::NcName | D::Id | D::IdRef | D::Entity => name::is_nc_name(text),
        D::NmToken => name::is_nm_token(text),
        D::NmTokens => text.split(' ').all(name::is_nm_token),
        D::IdRefs | D::Entities => text.split(' ').all(name::is_nc_name),
        D::Boolean => matches!(bytes, b"true" | b"false" | b"1" | b"0"),
        D::Decimal => decimal::Parts::parse(text).is_some(),
        D::Integer
        | D::NonPositiveInteger
        | D::NegativeInteger
        | D::NonNegativeInteger
        | D::PositiveInteger
        | D::Long
        | D::Int
        | D::Short
        | D::Byte
        | D::UnsignedLong
        | D::UnsignedInt
        | D::UnsignedShort
        | D::UnsignedByte => integer::is_valid(datatype, bytes),
        D::Float => {
            is_special(bytes)
                || float::parse_prefix(bytes).is_some_and(|(_, length)| length == bytes.len())
        }
        D::Double => {
            is_special(bytes)
                || double::parse_prefix(bytes).is_some_and(|(_, length)| length == bytes.len())
        }
        D::Duration => duration::is_valid(text),
        D::DateTime if is_plain_date_time(bytes) => true,
        D::Date if is_plain_date(bytes) => true,
        D::DateTime
        | D::Time
        | D::Date
        | D::GYearMonth
        | D::GYear
        | D::GMonthDay
        | D::GDay
        | D::GMonth => moment::parse(datatype, text).is_some(),
        D::HexBinary => binary::is_hex(bytes),
        D::Base64Binary => binary::base64_length(bytes).is_some(),
        D::AnyUri => uri::is_valid(text),
        D::QName | D::Notation => qname::split(text).is_some(),
    }
}

fn is_special(text: &[u8]) -> bool {
    matches!(text, b"INF" | b"-INF" | b"NaN")
}
