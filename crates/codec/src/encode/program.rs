//! What the encoder runs: a Plan, compiled to a row of small instructions.
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
mod reach;

use std::sync::OnceLock;

use bsoap_xml::NamespaceId;

use super::leaf::{LeafForm, LeafRef};
use super::straight::Steps;
use bsoap_datatypes::kernel::{Column, Number};

use crate::plan::{ElementId, LeafId, LeafKind, Plan, TypeId};
use reach::Reach;

/// `xsi:nil` and `xsi:type` are in it.
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

const NO_FORM: u32 = u32::MAX;
/// Literals of up to this length are copied as so many bytes, whatever their length.
pub(crate) const PAD: usize = 32;

/// A Plan as the encoder runs it.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// The same for the fast road.
    pub(super) steps: Steps,
    /// Constant markup, and [`PAD`] bytes more, so that copies of fixed size stay inside.
    literals: Vec<u8>,
    /// Where choices jump to, by marker.
    pub(crate) targets: Vec<u32>,
    pub(crate) tables: Vec<Table>,
    /// The entry point of each type.
    pub(crate) types: Vec<u32>,
    /// How the values are written that instructions and tables refer to.
    forms: Vec<LeafForm>,
    /// The form of the value that an instruction writes, by instruction; [`NO_FORM`] if it writes none.
    form_of: Vec<u32>,
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

/// A stretch of `Program::literals`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    #[inline]
    pub(super) fn len(self) -> usize {
        self.length as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.length == 0
    }

    /// As if it were so much longer.
    pub(super) fn longer(self, bytes: usize) -> Self {
        let length = self.length + bytes as u32;
        Self { length, ..self }
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
    pub(super) fn to_number(self) -> Option<Number> {
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

    /// Whether it is at most 24 bytes and needs nothing but its slot.
    pub(super) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Boolean | Self::Signed | Self::Unsigned | Self::Float | Self::Double
        )
    }
}

/// One instruction. Those that read a slot say so first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Writes constant markup.
    Literal(Span),
    /// Value: writes it as content, after constant markup.
    Leaf {
        before: Span,
        form: Form,
    },
    /// The same of the commonest forms, each a jump of its own.
    Text(Span),
    Signed(Span),
    Double(Span),
    /// Presence, value: an optional element that is a scalar, tags included.
    OptionalField(Field),
    /// State, value: an element that is a scalar and can be nil, tags included.
    NillableField {
        field: Field,
        element: ElementId,
        optional: bool,
    },
    /// Value: an XML fragment, written as it is.
    Fragment,
    /// Marker, value: an attribute that is written if the marker says so.
    OptionalAttribute {
        open: Span,
        form: Form,
    },
    /// Value: a required attribute.
    Attribute {
        open: Span,
        form: Form,
    },
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
    /// (`scoped`: what it declares is forgotten by a [`Op::Leave`].)
    State {
        element: ElementId,
        done: u32,
        scoped: bool,
    },
    /// The same where the element may be missing.
    OptionalState {
        element: ElementId,
        done: u32,
        scoped: bool,
    },
    /// Count: goes on that often, or to `done`.
    Repeat {
        done: u32,
    },
    /// The end of an occurrence, after constant markup: back to `body`, or on.
    Again {
        before: Span,
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
    Call(TypeId),
    Return,
    /// Remembers which namespaces are declared ...
    Enter,
    /// ... and forgets those declared since.
    Leave,
    /// Declares the namespaces an element needs.
    Declare(ElementId),
    /// A marker that no Plan writes led here.
    Misfit,
}

/// An element that is a scalar: what stands before it, its tags, its form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) before: Span,
    pub(crate) open: Span,
    pub(crate) close: Span,
    pub(crate) form: Form,
}

/// An array of flat rows: what stands before each number, and between and behind the rows.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) first: Span,
    /// The end of a row and the start of the next.
    pub(crate) between: Span,
    pub(crate) last: Span,
    /// The numbers of a row; what stands before the first is `first` or `between`.
    pub(crate) cells: Vec<(Span, Form)>,
    /// The numbers as kernels write them; none if some value is no number.
    pub(crate) columns: Vec<Column>,
    /// The form of the first number of a row; those of the others follow.
    pub(super) leaf: LeafRef,
    /// Bytes a row can take, copies of fixed size included.
    pub(crate) room: usize,
}

impl Program {
    /// How the value of an instruction is written.
    #[inline]
    pub(super) fn leaf_of(&self, pc: u32) -> Option<LeafRef> {
        let leaf = self.form_of.get(pc as usize).copied().unwrap_or(NO_FORM);
        (leaf != NO_FORM).then_some(LeafRef(leaf))
    }

    /// Whether what follows the instruction belongs to it: the end tag of a value, or the QName whose namespace it declared
    /// (the text of a piece depends on no value behind it).
    pub(super) fn is_open_behind(&self, pc: u32) -> bool {
        let op = self.ops.get(pc as usize);
        matches!(
            op,
            Some(
                Op::Text(_) | Op::Signed(_) | Op::Double(_) | Op::Leaf { .. } | Op::DeclareNames(_)
            )
        )
    }

    /// A leaf form by number.
    #[inline]
    pub(super) fn form(&self, leaf: LeafRef) -> Option<&LeafForm> {
        self.forms.get(leaf.0 as usize)
    }

    /// The two stretches of a literal before and behind `at`.
    #[inline]
    pub(super) fn split(span: Span, at: usize) -> (Span, Span) {
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

    /// The namespaces that an element's markup can need, as far as its declaration tells: not those
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
    super::escape::value(allowed.as_bytes(), out).expect("only characters of XML are left");
    out.push(b'"');
}
