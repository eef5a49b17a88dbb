//! A model of the Rust types to be generated: their fields, and the layout of these in a record.

use bsoap_codec::plan::TypeId;
use proc_macro2::Ident;

/// A type to be generated.
#[derive(Debug)]
pub(crate) struct TypeItem {
    pub(crate) name: Ident,
    pub(crate) documentation: Option<String>,
    /// The fingerprint of the schema type whose attributes and content this is; `None` if it is not exactly one.
    pub(crate) fingerprint: Option<u64>,
    pub(crate) kind: ItemKind,
}

/// The number of an [`TypeItem`].
pub(crate) type ItemId = usize;

#[derive(Debug)]
pub(crate) enum ItemKind {
    /// Not determined yet.
    Pending,
    /// Attributes, then content.
    Struct {
        fields: Vec<StructField>,
        layout: ItemLayout,
        /// Which field the `id` of an encoded value precedes. It is no field: a tree of Rust values has no references.
        id_at: Option<usize>,
    },
    /// One of several branches.
    Choice(Vec<Variant>),
    /// Text and elements mixed: one item.
    Mixed(Vec<Variant>),
    /// A type or one derived from it; `xsi:type` says which.
    Alternatives(Vec<Alternative>),
    /// One of several strings.
    Enumeration {
        values: Vec<(Ident, String)>,
        /// The variant for strings that are not listed; `None` if they are refused.
        other: Option<Ident>,
    },
}

impl ItemKind {
    /// The number of its fields or variants.
    pub(crate) fn members(&self) -> usize {
        match self {
            Self::Pending => 0,
            Self::Struct { fields, .. } => fields.len(),
            Self::Choice(variants) | Self::Mixed(variants) => variants.len(),
            Self::Alternatives(alternatives) => alternatives.len(),
            Self::Enumeration { values, .. } => values.len(),
        }
    }
}

/// The layout of a struct's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemLayout {
    /// One after the other.
    Sequence,
    /// The fields from this one on may be in any order; each follows its number.
    AllFrom(usize),
}

#[derive(Debug)]
pub(crate) struct StructField {
    pub(crate) name: Ident,
    pub(crate) documentation: Option<String>,
    pub(crate) place: FieldSlot,
    pub(crate) json: JsonKey,
}

/// Where a field or a variant is in a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonKey {
    /// The member of this key.
    Member(String),
    /// A group, whose members are those of the object.
    Flat,
    /// The elements of a wildcard, or inner XML.
    Any,
    /// The attributes of a wildcard.
    AnyAttribute,
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) name: Ident,
    pub(crate) documentation: Option<String>,
    /// Its content; `None` if it has none.
    pub(crate) place: FieldSlot,
    pub(crate) json: JsonKey,
}

#[derive(Debug)]
pub(crate) struct Alternative {
    pub(crate) name: Ident,
    pub(crate) ty: TypeId,
    pub(crate) value: Ty,
    /// Whether it is the declared type itself, which JSON does not name.
    pub(crate) is_declared: bool,
    /// The key and the text by which JSON names the type.
    pub(crate) tag: Option<(&'static str, String)>,
}

/// A field: its type, how often it occurs, whether it may be nil.
#[derive(Clone, Debug)]
pub(crate) struct FieldSlot {
    pub(crate) ty: Ty,
    pub(crate) occurs: Occurs,
    pub(crate) is_attribute: bool,
    /// The declared type, if the element may be nil.
    pub(crate) nillable: Option<TypeId>,
    /// Whether nil and absent mean the same, as in encoded messages.
    pub(crate) nil_is_absent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurs {
    Once,
    Optional,
    Many,
}

/// The Rust type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    /// A type of Rust's or of the runtime's: `f64`, `String`, `bsoap::Octets`.
    Plain(&'static str),
    /// A type of another crate, for dates or decimals. serde has to be told how to write it.
    Foreign {
        path: &'static str,
        has_default: bool,
    },
    /// A list type: its items.
    List(Box<Ty>),
    /// A generated type.
    Item(ItemId),
}

/// The message of an operation in one direction.
#[derive(Debug)]
pub(crate) struct Payload {
    /// Which branch of the Body it is.
    pub(crate) branch: Option<u32>,
    /// Whether the element is encoded, so that independent values may follow it.
    pub(crate) is_encoded: bool,
    /// The Rust type; `None` for an empty Body, or an element that has no content.
    pub(crate) place: Option<FieldSlot>,
    /// The header blocks declared: name, branch, value.
    pub(crate) headers: Vec<(Ident, u32, FieldSlot)>,
}

/// A fault that an operation declares.
#[derive(Debug)]
pub(crate) struct DeclaredFault {
    /// Its name in the WSDL.
    pub(crate) name: String,
    pub(crate) variant: Ident,
    pub(crate) documentation: Option<String>,
    pub(crate) place: FieldSlot,
}

impl FieldSlot {
    /// A value that is always there.
    pub(crate) fn once(ty: Ty) -> Self {
        Self {
            ty,
            occurs: Occurs::Once,
            is_attribute: false,
            nillable: None,
            nil_is_absent: false,
        }
    }

    /// Whether absent and nil are told apart: the value is a `Nillable`.
    pub(crate) fn is_nillable(&self) -> bool {
        self.occurs == Occurs::Optional && self.nillable.is_some() && !self.nil_is_absent
    }

    /// The generated type that this holds directly, not behind a `Vec`.
    pub(crate) fn held_item(&self) -> Option<ItemId> {
        match (&self.ty, self.occurs) {
            (Ty::Item(item), Occurs::Once | Occurs::Optional) => Some(*item),
            _ => None,
        }
    }
}
