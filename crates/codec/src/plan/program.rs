//! What the encoder runs: a Plan, compiled to a list of small instructions.
//!
//! All markup between two values that never varies is one literal, so that a message is mostly
//! "copy these bytes, write this number":
//!
//! ```text
//! {int x, int y, double v}   Literal "<p><x>"  Leaf  Literal "</x><y>"  Leaf  Literal "</y><v>"  Leaf  Literal "</v></p>"
//! ```
//!
//! Each type has an entry point. It expects `<name` of its element written and stops before the end
//! tag: it writes attributes, `>` and content. Small types are copied into the elements that have
//! them, others are called. Arrays of numbers and of flat structs of numbers have an instruction of
//! their own ([`Table`]).

mod compile;
mod form;
mod reach;

pub use form::{Holder, LeafForm, LeafRef, PadPlace};

use std::sync::OnceLock;

use bsoap_xml::NamespaceId;

use bsoap_datatypes::kernel::{Column, Number};

use crate::escape;

use super::{ElementId, LeafId, LeafKind, Plan, TypeId};
use reach::Reach;

/// Literals of up to this length are copied as this many bytes, whatever their length.
pub(crate) const PAD: usize = 32;
/// The fast path writes text up to this length.
pub(crate) const SHORT_TEXT: usize = 128;

/// A Plan as the encoder runs it.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// The elements that are scalars and may be absent or nil.
    pub(crate) fields: Vec<Field>,
    /// Constant markup, and [`PAD`] bytes more, so that copies of fixed size stay inside.
    literals: Vec<u8>,
    /// Where choices jump to, by marker.
    pub(crate) targets: Vec<u32>,
    pub(crate) tables: Vec<Table>,
    /// The entry point of each type.
    pub(crate) types: Vec<u32>,
    /// How the values are written that instructions and tables refer to.
    forms: Vec<LeafForm>,
    /// ` xmlns:prefix="uri"` of each namespace of the vocabulary; the last one is that of [`XSI`].
    pub(crate) declarations: Vec<Box<[u8]>>,
    /// The types that elements of SOAP itself have.
    soap_types: Vec<bool>,
    /// The elements that declare their namespaces themselves: what SOAP's own elements carry.
    pub(crate) is_scope: Vec<bool>,
    element_namespaces: Vec<OnceLock<Box<[NamespaceId]>>>,
    type_namespaces: Vec<OnceLock<Box<[NamespaceId]>>>,
    /// The namespace of `xsi:` attributes: one of the vocabulary, or the number after its last.
    pub(crate) xsi: NamespaceId,
    pub(crate) xsi_prefix: String,
}

/// A range of `Program::literals`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.length as usize
    }
}

/// How a leaf is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Boolean,
    Signed,
    Unsigned,
    Float,
    Double,
    Text,
    Base64,
    Hex,
    Name,
    /// Items of this leaf.
    List(LeafId),
}

impl Form {
    /// What a kernel calls it.
    pub(crate) fn to_number(self) -> Option<Number> {
        Some(match self {
            Self::Double => Number::Double,
            Self::Float => Number::Float,
            Self::Signed => Number::Signed {
                min: i64::MIN,
                max: i64::MAX,
            },
            Self::Unsigned => Number::Unsigned { max: u64::MAX },
            _ => return None,
        })
    }

    pub(crate) fn of(kind: LeafKind) -> Self {
        match kind {
            LeafKind::Boolean => Self::Boolean,
            LeafKind::Signed { .. } => Self::Signed,
            LeafKind::Unsigned { .. } => Self::Unsigned,
            LeafKind::Float => Self::Float,
            LeafKind::Double => Self::Double,
            LeafKind::Text => Self::Text,
            LeafKind::Base64 => Self::Base64,
            LeafKind::Hex => Self::Hex,
            LeafKind::Name => Self::Name,
            LeafKind::List(item) => Self::List(item),
        }
    }

    /// Whether values need nothing but their slot and the heap.
    pub(crate) fn is_plain(self) -> bool {
        self.is_number() || self == Self::Text
    }

    /// Whether it is at most 24 bytes and needs nothing but its slot.
    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Boolean | Self::Signed | Self::Unsigned | Self::Float | Self::Double
        )
    }
}

/// One instruction: constant markup, then an action.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Op {
    pub(crate) before: Markup,
    pub(crate) action: Action,
    /// Bytes that the fast path writes at most, copies of fixed size included.
    pub(crate) space: u32,
    /// The form of the value that is written, if one is.
    pub(crate) leaf: LeafRef,
}

/// Markup, and its first bytes. They are padded, so that copying them has a fixed size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Markup {
    pub(crate) bytes: [u8; PAD],
    pub(crate) span: Span,
}

impl Markup {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.span.len()
    }

    fn new(span: Span) -> Self {
        let bytes = [0; PAD];
        Self { bytes, span }
    }
}

/// What an instruction does behind its markup. Those that read a slot say so first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Nothing more.
    Literal,
    /// Value: writes it as content.
    Value(Form),
    /// The same of the commonest forms, each a jump of its own.
    Text,
    Signed,
    Double,
    /// Presence or state, value: an element that is a scalar and may be absent or nil. Its number in `Program::fields`.
    Field(u32),
    /// Value: an XML fragment, written as it is.
    Fragment,
    /// Marker, value: an attribute that is written if the marker says so.
    OptionalAttribute(Form),
    /// Value: a required attribute.
    Attribute(Form),
    /// Value: the attributes of a wildcard.
    AnyAttribute,
    /// Value of QNames: declares the prefixes it needs, does not write it yet.
    DeclareNames(Form),
    /// Presence: goes on, or to `absent`.
    Optional {
        absent: u32,
    },
    /// Presence, and if absent a value: goes on before the value, or to `absent` after it.
    OptionalValue {
        absent: u32,
    },
    /// Presence and state of an element that has a state: writes its start and enters its type, or goes to `done`.
    State {
        element: ElementId,
        done: u32,
        /// Whether what it declares is forgotten by an [`Action::Leave`].
        is_scope: bool,
        is_optional: bool,
    },
    /// Count: goes on that often, or to `done`.
    Repeat {
        done: u32,
    },
    /// The end of an occurrence: back to `body`, or on.
    Again {
        body: u32,
    },
    /// Branch: goes to the target of the marker.
    Choice {
        targets: u32,
        count: u32,
    },
    /// Count, rows: an array of numbers or flat structs of numbers.
    Rows(u32),
    Jump(u32),
    /// Runs the instructions of a type; until the program is complete, `entry` is the number of that type.
    Call {
        entry: u32,
    },
    Return,
    /// Remembers which namespaces are declared ...
    Enter,
    /// ... and forgets those declared since.
    Leave,
    /// Declares the namespaces an element needs.
    Declare(ElementId),
    /// A marker that no Plan writes led here.
    Mismatch,
}

impl Op {
    fn new(before: Span, action: Action) -> Self {
        Self {
            before: Markup::new(before),
            action,
            space: 0,
            leaf: LeafRef::NONE,
        }
    }
}

/// An element that is a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Its start tag and end tag.
    pub(crate) open: Markup,
    pub(crate) close: Markup,
    pub(crate) form: Form,
    /// The marker that says that it is there.
    pub(crate) present: u64,
    pub(crate) element: ElementId,
    pub(crate) is_optional: bool,
}

/// An array of flat rows: the markup before each number, and between and behind the rows.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) first: Span,
    /// The end of a row and the start of the next.
    pub(crate) between: Span,
    pub(crate) last: Span,
    /// The numbers of a row; the markup before the first is `first` or `between`.
    pub(crate) cells: Vec<(Span, Form)>,
    /// The columns of the table for the kernels that write rows of numbers; empty if a column is not of numbers.
    pub(crate) columns: Vec<Column>,
    /// The form of the first number of a row; those of the others follow.
    pub(crate) leaf: LeafRef,
    /// Bytes a row can take, copies of fixed size included.
    pub(crate) space: usize,
}

impl Program {
    /// Whether what follows the instruction belongs to it: the end tag of a value, or the QName whose namespace it declared
    /// (the text of a piece depends on no value behind it).
    pub(crate) fn is_open_behind(&self, pc: u32) -> bool {
        let op = self.ops.get(pc as usize);
        op.is_some_and(|op| {
            matches!(
                op.action,
                Action::Text
                    | Action::Signed
                    | Action::Double
                    | Action::Value(_)
                    | Action::DeclareNames(_)
            )
        })
    }

    /// A leaf form by number.
    #[inline]
    pub(crate) fn form(&self, leaf: LeafRef) -> Option<&LeafForm> {
        self.forms.get(leaf.0 as usize)
    }

    /// The two parts of a literal before and behind `at`.
    #[inline]
    pub(crate) fn split(span: Span, at: usize) -> (Span, Span) {
        let at = span.length.min(at as u32);
        let (start, length) = (span.start + at, span.length - at);
        (Span { length: at, ..span }, Span { start, length })
    }

    /// The bytes of a literal.
    #[inline]
    pub(crate) fn literal(&self, span: Span) -> &[u8] {
        self.literals
            .get(span.start as usize..(span.start + span.length) as usize)
            .unwrap_or_default()
    }

    /// The bytes from the start of a literal of at most [`PAD`] bytes, and its length.
    #[inline]
    pub(crate) fn padded(&self, span: Span) -> Option<(&[u8; PAD], usize)> {
        let padded = self.literals.get(span.start as usize..)?.first_chunk()?;
        (span.length as usize <= PAD).then_some((padded, span.length as usize))
    }

    /// The namespaces that an element's markup can need, as far as its declaration says: not those
    /// of derived types, wildcards and values, and not those of what SOAP's own elements carry.
    pub(crate) fn namespaces_of(&self, plan: &Plan, root: ElementId) -> &[NamespaceId] {
        self.element_namespaces[root.index()].get_or_init(|| {
            let mut reach = Reach::new(plan, self);
            reach.element(root, false);
            reach.finish()
        })
    }

    /// The same of a type.
    pub(crate) fn namespaces_of_type(&self, plan: &Plan, ty: TypeId) -> &[NamespaceId] {
        self.type_namespaces[ty.index()].get_or_init(|| {
            let mut reach = Reach::new(plan, self);
            reach.ty_of(ty);
            reach.finish()
        })
    }
}

/// Appends ` xmlns:prefix="uri"`. A character that XML cannot carry is left out: no document can
/// have had it in a namespace.
pub(crate) fn declare(prefix: &str, uri: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b" xmlns:");
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(b"=\"");
    let allowed: String = uri
        .chars()
        .filter(|&c| bsoap_xml::is_char(c.into()))
        .collect();
    escape::value(allowed.as_bytes(), out).expect("only characters of XML are left");
    out.push(b'"');
}
