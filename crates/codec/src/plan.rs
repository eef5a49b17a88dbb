//! The Plan: a flat, immutable table that says how the messages of a service are written and read.
//!
//! A Plan knows elements, types, particles, attributes and leaves by number and refers to them by
//! number; it knows nothing of schema documents. `bsoap-schema` compiles it, once, through
//! [`PlanBuilder`]; encoder, decoder and views only read it. How a message described here lies in
//! memory is described in `docs/design/record-layout.md`.
//!
//! The enums here are exhaustive: who walks a Plan must handle all that it can contain.
//!
//! ```text
//! Element ──type──► Type ──attributes──► Attribute ──► Leaf
//!    ▲                └──content──► Simple(Leaf) | Particle | Mixed | Any | Empty
//!    └──────────────term──────────────────────────────┘
//! ```

use std::collections::HashMap;
use std::ops::Range;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, OnceLock};

use bsoap_datatypes::SimpleType;
use bsoap_datatypes::kernel::Number;
use bsoap_xml::{NameId, Vocabulary};

use crate::decode::Validation;
use crate::plan::shape::Shapes;

mod bounds;
mod build;
mod checks;
mod counts;
pub(crate) mod declared;
mod encoded;
mod fingerprint;
mod first;
pub(crate) mod program;
pub(crate) mod shape;

pub(crate) use bounds::{Bounds, Range as RealRange};
pub use build::{AttributeDef, ElementDef, ParticleDef, PlanBuilder, PlanError, TermDef, TypeDef};
pub(crate) use checks::{Checks, Segment};
pub use counts::Counts;
pub use encoded::{ArraySize, Encoded, EncodingRules, StatedType};
pub use first::{FirstSet, Step};
pub use shape::ChildMember;

use declared::Declared;
use program::Program;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into the table of the Plan.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An element declaration of a Plan.
    ElementId,
    /// A simple or complex type of a Plan.
    TypeId,
    /// A particle of a Plan.
    ParticleId,
    /// An attribute use of a Plan.
    AttributeId,
    /// A leaf of a Plan: how one simple value is read, kept and written.
    LeafId,
}

/// How the messages of a service are written and read. Built by [`PlanBuilder`], shared by `Arc`.
#[derive(Debug)]
pub struct Plan {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) elements: Vec<Element>,
    pub(crate) types: Vec<Type>,
    pub(crate) particles: Vec<Particle>,
    /// The children of group particles; a [`Term`] has the range of its children.
    pub(crate) children: Vec<ParticleId>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) leaves: Vec<Leaf>,
    /// The global elements: those that a wildcard can stand for.
    pub(crate) globals: Vec<ElementId>,
    /// Of a validator: what elements without a declaration are checked as, at wildcards that have their content checked.
    pub(crate) undeclared: Option<ElementId>,
    /// A prefix for each namespace of the vocabulary, by `NamespaceId`; the empty string for no namespace.
    pub(crate) prefixes: Vec<String>,
    /// What encoder and views derive from the tables above when they first need it.
    pub(crate) derived: Derived,
}

/// What is derived from a Plan when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    program: OnceLock<Program>,
    shapes: OnceLock<Shapes>,
    checks: OnceLock<Checks>,
    all_checks: OnceLock<Checks>,
    /// By type.
    declared: OnceLock<Box<[OnceLock<Declared>]>>,
    pub(crate) fingerprints: Mutex<HashMap<ElementId, u64>>,
    /// By type.
    pub(crate) type_fingerprints: OnceLock<Box<[OnceLock<u64>]>>,
}

impl Plan {
    /// The names this Plan knows, shared with the reader.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// An element by number.
    #[inline]
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.index()]
    }

    /// A type by number.
    #[inline]
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// A particle by number.
    #[inline]
    pub fn particle(&self, id: ParticleId) -> &Particle {
        &self.particles[id.index()]
    }

    /// An attribute by number.
    #[inline]
    pub fn attribute(&self, id: AttributeId) -> &Attribute {
        &self.attributes[id.index()]
    }

    /// A leaf by number.
    #[inline]
    pub fn leaf(&self, id: LeafId) -> &Leaf {
        &self.leaves[id.index()]
    }

    /// The children of a group particle, in schema order.
    #[inline]
    pub fn group(&self, children: &Range<u32>) -> &[ParticleId] {
        &self.children[children.start as usize..children.end as usize]
    }

    /// The global elements: those that a wildcard can stand for.
    pub fn globals(&self) -> &[ElementId] {
        &self.globals
    }

    /// How many element declarations the Plan has.
    pub fn element_count(&self) -> usize {
        self.elements.len()
    }

    /// How many types the Plan has.
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    /// How many attributes all types have.
    pub fn attribute_count(&self) -> usize {
        self.attributes.len()
    }

    /// How many simple types the Plan has.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// The Plan as the encoder runs it.
    pub(crate) fn program(&self) -> &Program {
        self.derived.program.get_or_init(|| Program::compile(self))
    }

    /// Which values have to be checked before they are sent.
    pub(crate) fn checks(&self, validation: Validation) -> &Checks {
        let checks = match validation {
            Validation::Lexical => &self.derived.checks,
            Validation::Full => &self.derived.all_checks,
        };
        checks.get_or_init(|| Checks::new(self, validation))
    }

    /// What a type declares as its children.
    pub(crate) fn declared(&self, ty: TypeId) -> &Declared {
        let types = self.derived.declared.get_or_init(|| {
            let types = std::iter::repeat_with(OnceLock::new);
            types.take(self.types.len()).collect()
        });
        types[ty.index()].get_or_init(|| Declared::of(self, ty))
    }

    /// The shapes of types as objects.
    pub(crate) fn shapes(&self) -> &Shapes {
        self.derived.shapes.get_or_init(|| Shapes::new(self))
    }

    /// The key of a child in the [`Value`](crate::Value) of an element of type `parent`: its local name, or
    /// `{namespace}local` where two children share that.
    pub fn key(&self, parent: TypeId, child: ElementId) -> &str {
        self.shapes().of(parent).key(self, self.element(child).name)
    }

    /// The prefix this Plan writes for a namespace of its vocabulary; empty for no namespace.
    pub fn prefix(&self, namespace: bsoap_xml::NamespaceId) -> &str {
        &self.prefixes[namespace.0 as usize]
    }
}

/// An element declaration, global or local.
#[derive(Debug)]
#[non_exhaustive]
pub struct Element {
    /// Its expanded name (a local, unqualified element is in no namespace).
    pub name: NameId,
    /// Its declared type.
    pub ty: TypeId,
    /// Whether `xsi:nil="true"` may replace the content.
    pub nillable: bool,
    /// Whether the element itself may not appear (only its substitutes).
    pub is_abstract: bool,
    /// The value of an element that is present but empty. Names are `{namespace}local`, here and in all default and fixed values.
    pub default: Option<Box<str>>,
    /// The only value allowed.
    pub fixed: Option<Box<str>>,
    /// The beginning of the start tag, `<prefix:local`, as the encoder writes it.
    pub open_tag: Box<[u8]>,
    /// The end tag as the encoder writes it.
    pub close_tag: Box<[u8]>,
    /// Whether a state marker precedes the value: nillable, or a type with alternatives.
    pub has_state: bool,
    /// Whether the value is always exactly one slot, even when absent or nil.
    pub is_scalar: bool,
    /// The number of slots of a value, with its state marker, if it is the same for all values.
    pub stride: Option<u32>,
    /// Whether values of this element are header blocks or otherwise belong to SOAP itself; free for
    /// the layers above.
    pub role: Role,
    /// What it has beyond its declaration, if it is an element of encoded messages.
    pub(crate) encoded: Option<Box<Encoded>>,
}

/// The role of an element in SOAP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Part of the application's message.
    #[default]
    Application,
    /// The Envelope, Header, Body or Fault of SOAP.
    Soap,
    /// A declared header block.
    HeaderBlock,
}

/// A simple or complex type.
#[derive(Debug)]
#[non_exhaustive]
pub struct Type {
    /// Its expanded name, if it has one: what `xsi:type` says.
    pub name: Option<NameId>,
    /// Its attribute uses, in schema order (inherited ones first).
    pub attributes: Range<u32>,
    /// Which undeclared attributes are allowed and kept, if any.
    pub any_attribute: Option<Wildcard>,
    /// The content of its elements.
    pub content: Content,
    /// The types that `xsi:type` may name in its place, itself included; empty if there is no choice.
    pub alternatives: Box<[TypeId]>,
    /// The type this one is derived from.
    pub base: Option<TypeId>,
    /// Whether only a derived type may appear.
    pub is_abstract: bool,
    /// The number of slots of attributes and content, if it is the same for all values.
    pub stride: Option<u32>,
}

impl Type {
    /// The attribute uses by number.
    pub fn attribute_ids(&self) -> impl ExactSizeIterator<Item = AttributeId> + use<> {
        self.attributes.clone().map(AttributeId)
    }
}

/// What is between the tags of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing but white space.
    Empty,
    /// A simple value.
    Simple(LeafId),
    /// Elements only.
    Particle(ParticleId),
    /// Text and elements mixed. The particle is what validation checks; the elements (in
    /// [`Content::Mixed::elements`], each a particle of one element or wildcard) is what items refer to.
    Mixed {
        /// The content model.
        particle: ParticleId,
        /// All element particles and wildcards of the model, a range of `Plan::children`.
        elements: Range<u32>,
    },
    /// Anything (`xs:anyType`): kept as XML.
    Any,
}

/// How often a term occurs.
#[derive(Debug)]
#[non_exhaustive]
pub struct Particle {
    /// The least number of occurrences.
    pub min: u32,
    /// The most, or [`UNBOUNDED`].
    pub max: u32,
    /// What occurs.
    pub term: Term,
    /// Whether it can be absent altogether.
    pub is_emptiable: bool,
    /// The number of slots of the particle if it is absent, all of them zero; meaningful if it is emptiable.
    pub absent: u32,
    /// Which names an occurrence can start with, and through which child.
    pub first: FirstSet,
    /// The number of slots of the particle with its markers, if it is always the same.
    pub stride: Option<u32>,
    /// The numbers of occurrences that are possible, if not all from `min` to `max` are.
    pub counts: Option<Box<Counts>>,
    /// Whether it is a choice or a sequence that repeats and joins the runs of some children: a run goes on over the occurrences
    /// that begin with the same child.
    pub joins_runs: bool,
    /// Whether it is such a child. The outermost of its [counts](Self::counts) are the occurrences of the group that a run is.
    pub is_run: bool,
}

/// `maxOccurs="unbounded"`.
pub const UNBOUNDED: u32 = u32::MAX;

impl Particle {
    /// Whether it occurs exactly once; it has no marker then.
    #[inline]
    pub fn is_required_once(&self) -> bool {
        self.min == 1 && self.max == 1
    }

    /// Whether it may end with a number of occurrences between these.
    #[inline]
    pub fn may_end(&self, fewest: u32, most: u32) -> bool {
        match &self.counts {
            None => most >= self.min || self.is_emptiable,
            Some(counts) => counts.allow_one_of(fewest, most),
        }
    }

    /// The fewest and the most occurrences of the group around it that a run is, of which the number is between these. `None` if it
    /// is no run.
    pub(crate) fn run_of(&self, fewest: u32, most: u32) -> Option<(u32, u32)> {
        let counts = self.counts.as_deref().filter(|_| self.is_run)?;
        counts.units(fewest, most)
    }

    /// Whether any number of occurrences may follow any other: no number so far decides what may follow.
    #[inline]
    pub fn is_unlimited(&self) -> bool {
        self.max == UNBOUNDED && self.counts.is_none() && !self.joins_runs
    }

    /// Whether it may occur more than once; it has a count marker then.
    #[inline]
    pub fn repeats(&self) -> bool {
        self.max > 1
    }
}

/// What a particle repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// An element.
    Element(ElementId),
    /// Children one after the other; a range of `Plan::children`, see [`Plan::group`].
    Sequence(Range<u32>),
    /// One of the children.
    Choice(Range<u32>),
    /// The children in any order, each at most once.
    All(Range<u32>),
    /// Any element that the wildcard admits, kept as XML.
    Any(Wildcard),
}

/// A wildcard, `any` or `anyAttribute`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard {
    /// The namespaces that it allows.
    pub namespaces: NamespaceConstraint,
    /// How strictly content is checked against declarations.
    pub process: ProcessContents,
}

/// The `namespace` of a wildcard. (XML Schema Part 1 §3.10.1)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceConstraint {
    /// `##any`
    Any,
    /// `##other`: neither this namespace nor none.
    Not(String),
    /// A list; the empty string means no namespace.
    OneOf(Vec<String>),
}

impl NamespaceConstraint {
    /// Whether names of a namespace are allowed; the empty string is no namespace.
    pub fn admits(&self, namespace: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Not(other) => !namespace.is_empty() && namespace != other,
            Self::OneOf(list) => list.iter().any(|one| one == namespace),
        }
    }
}

/// `processContents` of a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessContents {
    /// The content must have a declaration and be valid.
    Strict,
    /// The content must be valid if it has a declaration.
    Lax,
    /// The content is not checked.
    Skip,
}

/// An attribute use.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attribute {
    /// Its expanded name.
    pub name: NameId,
    /// How its value is read and kept.
    pub leaf: LeafId,
    /// Whether it must be there.
    pub required: bool,
    /// The value that it has if it is absent.
    pub default: Option<Box<str>>,
    /// The only value allowed.
    pub fixed: Option<Box<str>>,
    /// ` prefix:local="` as the encoder writes it. That of an array's size in an encoded message has the type of the items
    /// too.
    pub open: Box<[u8]>,
    /// The array whose size it is, in an encoded message.
    pub(crate) array: Option<Box<ArraySize>>,
}

/// How one simple value is read, kept and written.
#[derive(Debug)]
#[non_exhaustive]
pub struct Leaf {
    /// How its values are stored in their slot.
    pub kind: LeafKind,
    /// The simple type: white space, lexical form, facets.
    pub simple: Arc<SimpleType>,
    /// Whether the type has more rules than `kind` checks: facets, or a union.
    pub has_facets: bool,
    /// The bounds of its numbers, if it has no other rules.
    pub(crate) bounds: Option<Bounds>,
    /// Whether its value is its text unchanged: an atomic type that preserves white space.
    pub(crate) is_verbatim: bool,
    /// The lengths in bytes at which a text is certainly valid, if its value is its text unchanged and a length is its only
    /// facet.
    pub(crate) sure: Option<RangeInclusive<u32>>,
    /// Whether an enumeration lists its values.
    pub is_listed: bool,
    /// Whether values are checked before they are sent: some texts, or some values of its kind, are wrong. Every number has a
    /// lexical form, and the encoder checks names.
    pub(crate) is_checked: bool,
}

impl Leaf {
    /// Whether a value in a message can be read again alone: names need the namespaces in scope, and of enumerations only texts
    /// are checked then.
    #[inline]
    pub(crate) fn is_read_alone(&self) -> bool {
        match self.kind {
            LeafKind::Text => true,
            LeafKind::Name | LeafKind::List(_) => false,
            _ => !self.is_listed,
        }
    }

    /// Whether the value of a text is its characters, which need no check.
    pub fn is_any_text(&self) -> bool {
        self.is_verbatim && !self.is_listed
    }
}

/// How a simple value is stored in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafKind {
    /// 0 or 1.
    Boolean,
    /// A signed integer of at most 64 bits.
    Signed {
        /// The least value of the type.
        min: i64,
        /// The greatest value of the type.
        max: i64,
    },
    /// An unsigned integer of at most 64 bits.
    Unsigned {
        /// The greatest value of the type.
        max: u64,
    },
    /// 32-bit floating point, in the low half.
    Float,
    /// 64-bit floating point.
    Double,
    /// The lexical form after white-space processing, in the heap.
    Text,
    /// Octets, in the heap; written as base64.
    Base64,
    /// Octets, in the heap; written as hexadecimal digits.
    Hex,
    /// `{namespace}local`, in the heap.
    Name,
    /// A count, then items of this leaf, separated by spaces in the text.
    List(LeafId),
}

impl LeafKind {
    /// The kind of number for the vectorised kernels; `None` if they cannot convert it.
    pub fn number(self) -> Option<Number> {
        Some(match self {
            Self::Double => Number::Double,
            Self::Float => Number::Float,
            Self::Signed { min, max } => Number::Signed { min, max },
            Self::Unsigned { max } => Number::Unsigned { max },
            _ => return None,
        })
    }

    /// The longest lexical form of a number or boolean, in bytes.
    pub fn max_width(self) -> Option<usize> {
        let digits = |number: i128| number.to_string().len();
        Some(match self {
            Self::Boolean => "false".len(),
            Self::Signed { min, max } => digits(min.into()).max(digits(max.into())),
            Self::Unsigned { max } => digits(max.into()),
            Self::Double => bsoap_datatypes::double::WIDTH,
            Self::Float => bsoap_datatypes::float::WIDTH,
            _ => return None,
        })
    }

    /// Whether the slot points into the heap.
    pub fn is_in_heap(self) -> bool {
        matches!(self, Self::Text | Self::Base64 | Self::Hex | Self::Name)
    }
}
