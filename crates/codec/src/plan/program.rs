//! The program that the encoder runs: a Plan compiled to a list of small instructions.
//!
//! Constant markup between two values is one literal, so encoding a message is mostly copying literals and writing values:
//!
//! ```text
//! {int x, int y, double v}   Literal "<p><x>"  Leaf  Literal "</x><y>"  Leaf  Literal "</y><v>"  Leaf  Literal "</v></p>"
//! ```
//!
//! Each type has an entry point. When it is called, `<name` of the element has been written; it writes attributes, `>` and
//! content, but not the end tag. Small types are copied into the elements that have them, others are called. Arrays of
//! numbers and of flat structs of numbers have an instruction of their own ([`Table`]).

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
    /// All constant markup, followed by [`PAD`] spare bytes, so that copies of a fixed size stay inside.
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
    /// Whether a type is that of one of SOAP's own elements, by type.
    soap_types: Vec<bool>,
    /// Whether an element declares its namespaces itself, by element: header blocks, bodies and details do.
    pub(crate) is_scope: Vec<bool>,
    element_namespaces: Vec<OnceLock<Box<[NamespaceId]>>>,
    type_namespaces: Vec<OnceLock<Box<[NamespaceId]>>>,
    /// The number of the namespace of `xsi:` attributes: that in the vocabulary, or the number after the last one.
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

/// How values of a leaf are written.
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
    /// A list: each item is written like a value of this leaf, with a space between items.
    List(LeafId),
}

impl Form {
    /// The kind of number for the vectorised kernels; `None` if they cannot write it.
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

    /// Whether writing a value needs only its slot and the heap, and no namespaces.
    pub(crate) fn is_plain(self) -> bool {
        self.is_number() || self == Self::Text
    }

    /// Whether values are numbers or booleans: at most 24 bytes, written from the slot alone.
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
    /// The most bytes that the fast path writes, with those of copies of a fixed size.
    pub(crate) space: u32,
    /// The leaf form of the value that is written; [`LeafRef::NONE`] if there is none.
    pub(crate) leaf: LeafRef,
}

/// Markup, with a copy of its first bytes that is padded to a fixed size.
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

/// What an instruction does after its markup. The comments name the slots that it reads first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Nothing.
    Literal,
    /// Reads a value: writes it as content.
    Value(Form),
    /// As `Value`, for the most common forms.
    Text,
    Signed,
    Double,
    /// Reads presence or state, and a value: an element that is a scalar and may be absent or nil. The number is the
    /// element's index in `Program::fields`.
    Field(u32),
    /// Reads a value: an XML fragment, written unchanged.
    Fragment,
    /// Reads a marker and a value: an attribute that is written if the marker says so.
    OptionalAttribute(Form),
    /// Reads a value: a required attribute.
    Attribute(Form),
    /// Reads a value: the attributes of a wildcard.
    AnyAttribute,
    /// Looks at a value of QNames and declares the prefixes it needs; another instruction writes the value.
    DeclareNames(Form),
    /// Reads presence: goes on, or to `absent`.
    Optional {
        absent: u32,
    },
    /// Reads presence: goes on if present; otherwise skips a value and goes to `absent`.
    OptionalValue {
        absent: u32,
    },
    /// Reads the state of an element: writes its start tag and enters its type, or goes to `done` if it is absent or nil.
    State {
        element: ElementId,
        done: u32,
        /// Whether an [`Action::Leave`] follows, which forgets the namespaces declared here.
        is_scope: bool,
        is_optional: bool,
    },
    /// Reads a count: repeats what follows that many times, then goes to `done`.
    Repeat {
        done: u32,
    },
    /// The end of an occurrence: goes back to `body`, or on after the last one.
    Again {
        body: u32,
    },
    /// Reads the marker of a choice: goes to the target of its branch.
    Choice {
        targets: u32,
        count: u32,
    },
    /// Reads a count and rows: an array of numbers or flat structs of numbers. Has the index of its table.
    Rows(u32),
    Jump(u32),
    /// Runs the instructions of a type; until the program is complete, `entry` is the number of that type.
    Call {
        entry: u32,
    },
    Return,
    /// Notes which namespaces have been declared.
    Enter,
    /// Forgets the namespaces declared since [`Action::Enter`].
    Leave,
    /// Declares the namespaces an element needs.
    Declare(ElementId),
    /// Reached by a marker that is not valid: an error.
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
    /// The marker that says that it is present.
    pub(crate) present: u64,
    pub(crate) element: ElementId,
    pub(crate) is_optional: bool,
}

/// An array of flat rows: the markup before each number, between the rows and behind them.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) first: Span,
    /// The end of a row and the start of the next.
    pub(crate) between: Span,
    pub(crate) last: Span,
    /// The numbers of a row; the markup before the first is `first` or `between`.
    pub(crate) cells: Vec<(Span, Form)>,
    /// The columns for the kernels that write rows of numbers; empty if a column has no numbers.
    pub(crate) columns: Vec<Column>,
    /// The form of the first number of a row; those of the others follow.
    pub(crate) leaf: LeafRef,
    /// The most bytes of a row, with those of copies of a fixed size.
    pub(crate) space: usize,
}

impl Program {
    /// Whether the text after this instruction belongs to its value: an end tag, or a QName whose prefix it declared. The
    /// encoder does not stop there, so that the text of a piece depends on no later value.
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

    /// Splits a literal at `at`.
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

    /// A copy of fixed size from the start of a literal, and the literal's length; `None` if it is longer than [`PAD`]
    /// bytes.
    #[inline]
    pub(crate) fn padded(&self, span: Span) -> Option<(&[u8; PAD], usize)> {
        let padded = self.literals.get(span.start as usize..)?.first_chunk()?;
        (span.length as usize <= PAD).then_some((padded, span.length as usize))
    }

    /// The namespaces that the markup of an element can need by its declaration: not those of derived types, wildcards and
    /// values, and not those inside SOAP's own elements.
    pub(crate) fn namespaces_of(&self, plan: &Plan, root: ElementId) -> &[NamespaceId] {
        self.element_namespaces[root.index()].get_or_init(|| {
            let mut reach = Reach::new(plan, self);
            reach.element(root, false);
            reach.finish()
        })
    }

    /// The namespaces that the markup of a type's content can need.
    pub(crate) fn namespaces_of_type(&self, plan: &Plan, ty: TypeId) -> &[NamespaceId] {
        self.type_namespaces[ty.index()].get_or_init(|| {
            let mut reach = Reach::new(plan, self);
            reach.ty_of(ty);
            reach.finish()
        })
    }
}

/// Appends ` xmlns:prefix="uri"`. Characters that XML does not allow are left out: no document can have them in a
/// namespace.
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
