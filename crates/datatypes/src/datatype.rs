//! The built-in datatypes of XSD 1.0 Part 2 §3: their names, how they derive from one another,
//! and which texts are their lexical forms.

use crate::WhiteSpace;

// Exhaustive: XML Schema 1.0 has no others.
/// A built-in datatype.
///
/// ```
/// use bsoap_datatypes::{Datatype, Width};
///
/// let datatype = Datatype::from_name("unsignedByte").unwrap();
/// assert_eq!(datatype, Datatype::UnsignedByte);
/// assert_eq!(datatype.base(), Some(Datatype::UnsignedShort));
/// assert_eq!(datatype.primitive(), Datatype::Decimal);
/// assert_eq!(datatype.width(), Width::AtMost(3));
/// assert!(datatype.is_derived_from(Datatype::Integer));
/// assert!(datatype.check("255").is_ok() && datatype.check("256").is_err());
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // each is called as in the specification
pub enum Datatype {
    AnySimpleType,
    String,
    NormalizedString,
    Token,
    Language,
    Name,
    NcName,
    NmToken,
    NmTokens,
    Id,
    IdRef,
    IdRefs,
    Entity,
    Entities,
    Boolean,
    Decimal,
    Integer,
    NonPositiveInteger,
    NegativeInteger,
    NonNegativeInteger,
    PositiveInteger,
    Long,
    Int,
    Short,
    Byte,
    UnsignedLong,
    UnsignedInt,
    UnsignedShort,
    UnsignedByte,
    Float,
    Double,
    Duration,
    DateTime,
    Time,
    Date,
    GYearMonth,
    GYear,
    GMonthDay,
    GDay,
    GMonth,
    HexBinary,
    Base64Binary,
    AnyUri,
    QName,
    Notation,
}

/// The most bytes that a value takes in a message, which is what stuffing reserves.
///
/// For numbers it is the longest form *this crate writes*: XSD allows any number of leading zeros
/// and of digits behind the dot, so no number is bounded otherwise.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// No value is longer than this many bytes.
    AtMost(u8),
    /// There is no longest value.
    Unbounded,
}

impl Width {
    /// The number of bytes, where there is one.
    pub fn bytes(self) -> Option<usize> {
        match self {
            Self::AtMost(bytes) => Some(usize::from(bytes)),
            Self::Unbounded => None,
        }
    }
}

use Datatype as D;

/// Name and base type, in the order of the enum.
const ROWS: [(&str, Datatype); Datatype::ALL.len()] = [
    ("anySimpleType", D::AnySimpleType),
    ("string", D::AnySimpleType),
    ("normalizedString", D::String),
    ("token", D::NormalizedString),
    ("language", D::Token),
    ("Name", D::Token),
    ("NCName", D::Name),
    ("NMTOKEN", D::Token),
    ("NMTOKENS", D::AnySimpleType),
    ("ID", D::NcName),
    ("IDREF", D::NcName),
    ("IDREFS", D::AnySimpleType),
    ("ENTITY", D::NcName),
    ("ENTITIES", D::AnySimpleType),
    ("boolean", D::AnySimpleType),
    ("decimal", D::AnySimpleType),
    ("integer", D::Decimal),
    ("nonPositiveInteger", D::Integer),
    ("negativeInteger", D::NonPositiveInteger),
    ("nonNegativeInteger", D::Integer),
    ("positiveInteger", D::NonNegativeInteger),
    ("long", D::Integer),
    ("int", D::Long),
    ("short", D::Int),
    ("byte", D::Short),
    ("unsignedLong", D::NonNegativeInteger),
    ("unsignedInt", D::UnsignedLong),
    ("unsignedShort", D::UnsignedInt),
    ("unsignedByte", D::UnsignedShort),
    ("float", D::AnySimpleType),
    ("double", D::AnySimpleType),
    ("duration", D::AnySimpleType),
    ("dateTime", D::AnySimpleType),
    ("time", D::AnySimpleType),
    ("date", D::AnySimpleType),
    ("gYearMonth", D::AnySimpleType),
    ("gYear", D::AnySimpleType),
    ("gMonthDay", D::AnySimpleType),
    ("gDay", D::AnySimpleType),
    ("gMonth", D::AnySimpleType),
    ("hexBinary", D::AnySimpleType),
    ("base64Binary", D::AnySimpleType),
    ("anyURI", D::AnySimpleType),
    ("QName", D::AnySimpleType),
    ("NOTATION", D::AnySimpleType),
];

impl Datatype {
    /// All of them, in the order of the enum: a primitive type before those derived from it.
    #[rustfmt::skip]
    pub const ALL: [Self; 45] = [
        D::AnySimpleType, D::String, D::NormalizedString, D::Token, D::Language, D::Name, D::NcName, D::NmToken,
        D::NmTokens, D::Id, D::IdRef, D::IdRefs, D::Entity, D::Entities, D::Boolean, D::Decimal, D::Integer,
        D::NonPositiveInteger, D::NegativeInteger, D::NonNegativeInteger, D::PositiveInteger, D::Long, D::Int,
        D::Short, D::Byte, D::UnsignedLong, D::UnsignedInt, D::UnsignedShort, D::UnsignedByte, D::Float, D::Double,
        D::Duration, D::DateTime, D::Time, D::Date, D::GYearMonth, D::GYear, D::GMonthDay, D::GDay, D::GMonth,
        D::HexBinary, D::Base64Binary, D::AnyUri, D::QName, D::Notation,
    ];

    /// The built-in with this local name in the namespace of XML Schema.
    pub fn from_name(name: &str) -> Option<Self> {
        let row = ROWS.iter().position(|(known, _)| *known == name)?;
        Some(Self::ALL[row])
    }

    /// Its local name in the namespace of XML Schema.
    pub fn name(self) -> &'static str {
        ROWS[self as usize].0
    }

    /// The type it is derived from by restriction (`anySimpleType` for primitive types and lists).
    pub fn base(self) -> Option<Self> {
        (self != D::AnySimpleType).then(|| ROWS[self as usize].1)
    }

    /// The primitive type at the root of its derivation. A list and `anySimpleType`, which have
    /// none, answer `AnySimpleType`.
    pub fn primitive(self) -> Self {
        let mut datatype = self;
        while let Some(base) = datatype.base().filter(|base| *base != D::AnySimpleType) {
            datatype = base;
        }
        if datatype.item().is_some() {
            D::AnySimpleType
        } else {
            datatype
        }
    }

    /// The type of the items, of the three built-in lists.
    pub fn item(self) -> Option<Self> {
        match self {
            D::NmTokens => Some(D::NmToken),
            D::IdRefs => Some(D::IdRef),
            D::Entities => Some(D::Entity),
            _ => None,
        }
    }

    /// What happens to white space before a text is looked at.
    #[inline]
    pub fn white_space(self) -> WhiteSpace {
        match self {
            D::AnySimpleType | D::String => WhiteSpace::Preserve,
            D::NormalizedString => WhiteSpace::Replace,
            _ => WhiteSpace::Collapse,
        }
    }

    /// Is it `ancestor`, or derived from it in any number of steps?
    pub fn is_derived_from(self, ancestor: Self) -> bool {
        let mut datatype = Some(self);
        while let Some(this) = datatype {
            if this == ancestor {
                return true;
            }
            datatype = this.base();
        }
        false
    }

    /// The article a sentence needs before `xs:` and the name. It goes by the name: *an* int.
    pub(crate) fn article(self) -> &'static str {
        match self.name().as_bytes()[0] {
            b'a' | b'A' | b'e' | b'E' | b'i' | b'I' | b'o' | b'O' => "an",
            _ => match self {
                D::NcName | D::NmToken | D::NmTokens => "an",
                _ => "a",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_that_of_its_variant() {
        for (row, datatype) in Datatype::ALL.into_iter().enumerate() {
            assert_eq!(datatype as usize, row);
            assert_eq!(Datatype::from_name(datatype.name()), Some(datatype));
            assert!(
                datatype
                    .name()
                    .eq_ignore_ascii_case(&format!("{datatype:?}"))
            );
            assert!(datatype.is_derived_from(Datatype::AnySimpleType));
            if let Some(base) = datatype.base() {
                assert!((base as usize) < row);
                assert!(base.white_space() <= datatype.white_space());
            }
        }
        assert_eq!(Datatype::from_name("Int"), None);
    }

    #[test]
    fn lists_have_no_primitive_type() {
        assert_eq!(Datatype::IdRefs.primitive(), Datatype::AnySimpleType);
        assert_eq!(Datatype::Entity.primitive(), Datatype::String);
    }
}
