//! What can be wrong with a message, and where.

use std::fmt;

use bsoap_datatypes::{Datatype, double};
use bsoap_xml::NameId;

use crate::plan::Plan;

use super::tolerance::{Deviation, Tolerance};

/// A message that is not what its Plan says, with its place.
///
/// Prints the fact, the path and the byte, as in
/// `"12,5" is not an xs:int at /order/item[3]/quantity (byte 412)`. If another [mode](Tolerance) accepts it, that is added:
/// `…; default mode keeps it`.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

/// What [`Decoder::validate`](super::Decoder::validate) finds: the errors that decoding would have ended at.
pub type Violation = Error;

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    path: String,
    offset: u64,
    /// What it is, if some mode accepts it.
    deviation: Option<Deviation>,
}

impl Error {
    /// An error at a byte of the message, inside the element that `path` names.
    #[cold]
    pub(crate) fn new(kind: ErrorKind, path: String, offset: u64) -> Self {
        let deviation = kind.deviation();
        Self(Box::new(Inner {
            kind,
            path,
            offset,
            deviation,
        }))
    }

    /// The same error, which is about this deviation.
    #[cold]
    pub(crate) fn about(mut self, deviation: Option<Deviation>) -> Self {
        self.0.deviation = deviation.or(self.0.deviation);
        self
    }

    /// The same error at another byte.
    #[cold]
    pub(crate) fn moved(mut self, offset: u64) -> Self {
        self.0.offset = offset;
        self
    }

    /// The same error, which no mode accepts.
    #[cold]
    pub(super) fn of_no_mode(mut self) -> Self {
        self.0.deviation = None;
        self
    }

    /// The deviation that the error is about, if there is a [mode](Deviation::mode) that accepts it.
    pub fn deviation(&self) -> Option<Deviation> {
        self.0.deviation
    }

    /// The strictest mode that accepts what the error is about. `None` if no mode does.
    pub fn accepted_in(&self) -> Option<Tolerance> {
        self.0.deviation.map(Deviation::mode)
    }

    /// What the [mode](Self::accepted_in) does that accepts it, such as `lenient mode skips it`.
    pub fn advice(&self) -> Option<String> {
        self.0.deviation.map(Deviation::advice)
    }

    /// The fact and its location.
    pub(super) fn fmt_fact(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        if !self.0.path.is_empty() {
            write!(f, " at {}", self.0.path)?;
        }
        write!(f, " (byte {})", self.0.offset)
    }

    /// The fact.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Whether the Record became larger than the caller [allows](super::Decoder::limit_record). The message may be valid.
    pub fn is_record_memory(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Limit {
                name: "record_memory",
                ..
            }
        )
    }

    /// The elements open, as `/Envelope/Body/order/item[3]`; an attribute is a last step `@name`.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The byte in the message, as UTF-8 without its byte order mark.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }
}

impl From<bsoap_xml::Error> for Error {
    #[cold]
    fn from(error: bsoap_xml::Error) -> Self {
        let (path, offset) = (error.path().to_owned(), error.offset());
        Self::new(ErrorKind::Xml(error), path, offset)
    }
}

/// An expanded name in an error. Prints as `local` or `{namespace}local`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The namespace name; empty for none.
    pub namespace: Box<str>,
    /// The local name.
    pub local: Box<str>,
}

impl Name {
    /// The name of these parts, each cut to a bounded length.
    #[cold]
    pub(crate) fn new(namespace: &str, local: &str) -> Self {
        Self {
            namespace: bounded(namespace, 200),
            local: bounded(local, 100),
        }
    }

    /// A name of the vocabulary.
    #[cold]
    pub(crate) fn known(plan: &Plan, name: NameId) -> Self {
        let vocabulary = &plan.vocabulary;
        Self::new(vocabulary.namespace(name), vocabulary.local(name))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => f.write_str(&self.local),
            namespace => write!(f, "{{{namespace}}}{}", self.local),
        }
    }
}

/// What is allowed at a place: a bounded list of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expected {
    /// The first names, in schema order.
    pub names: Vec<Name>,
    /// Whether there were more names than were kept.
    pub more: bool,
    /// Whether a wildcard would take some elements.
    pub any: bool,
    /// Whether the element may end here.
    pub end: bool,
}

impl Expected {
    /// As many names as an error carries.
    const KEPT: usize = 8;

    /// Adds a name that is allowed here.
    pub(crate) fn add(&mut self, name: Name) {
        if self.names.len() == Self::KEPT {
            self.more = true;
            return;
        }
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = self.names.iter().map(|name| format!("<{name}>")).collect();
        if self.more {
            words.push("…".into());
        }
        if self.any {
            words.push("an element of a wildcard".into());
        }
        if self.end {
            words.push("the end of the element".into());
        }
        match words.split_last() {
            None => f.write_str("nothing"),
            Some((last, [])) => f.write_str(last),
            Some((last, others)) => write!(f, "{} or {last}", others.join(", ")),
        }
    }
}

/// The facts of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not well-formed, or past a limit of the reader.
    Xml(bsoap_xml::Error),
    /// The message ends before its root element does.
    UnexpectedEnd,
    /// The root element is another one.
    RootMismatch {
        /// The name of the root element.
        found: Name,
        /// The name it must have.
        expected: Name,
    },
    /// A text is not a lexical form of its datatype.
    Lexical {
        /// The datatype.
        datatype: Datatype,
        /// The text, cut to a bounded length.
        found: Box<str>,
    },
    /// A text is a lexical form, but outside what the facets of its type allow, or of none of the types of a union.
    Value {
        /// What is wrong, as the datatype says it.
        problem: Box<str>,
    },
    /// A value that the enumeration of its type does not list.
    Unlisted {
        /// The value and some of those that are listed.
        problem: Box<str>,
    },
    /// A value differs from the only one allowed.
    Fixed {
        /// The only value allowed.
        expected: Box<str>,
        /// The value, cut to a bounded length.
        found: Box<str>,
    },
    /// A prefix in a QName is bound to nothing.
    UnboundPrefix(Box<str>),
    /// An element that is not allowed here.
    Unexpected {
        /// Its name.
        found: Name,
        /// What is allowed here.
        expected: Expected,
    },
    /// An element without a declaration and without an `xsi:type`, at a wildcard that is strict. Only the Plan of a validator
    /// looks for it.
    Undeclared(Name),
    /// The element ends too early.
    Missing {
        /// What must come first.
        expected: Expected,
    },
    /// Too few of an element or group.
    Occurrence {
        /// How many there are.
        found: u32,
        /// How many there must be.
        min: u32,
        /// What there must be more of.
        expected: Expected,
    },
    /// Character data where only elements, or nothing, are allowed.
    Text {
        /// Its beginning.
        found: Box<str>,
    },
    /// An attribute the type does not have.
    UnknownAttribute(Name),
    /// An attribute that must be there is not.
    MissingAttribute(Name),
    /// An abstract type, or an element of one, without an `xsi:type` that names a derived one.
    AbstractType(Name),
    /// An abstract element; only its substitutes may appear.
    AbstractElement(Name),
    /// An `xsi:type` that names no type, or none that may replace the declared one.
    UnknownType(Name),
    /// `xsi:nil="true"` on an element that is not nillable.
    NotNillable,
    /// A reference of an encoded message to an id that no value has.
    DanglingReference(Box<str>),
    /// An `encodingStyle` of SOAP 1.2 that is not known. (SOAP 1.2 Part 1 §5.4.6)
    UnknownEncoding(Box<str>),
    /// The `offset` of an array in an encoded message, or the `position` of an item, is not as it must be.
    ArrayIndex {
        /// The attribute's value, cut to a bounded length.
        found: Box<str>,
        /// What it must be.
        expected: &'static str,
    },
    /// A limit of [`DecodeOptions`](super::DecodeOptions) was passed.
    Limit {
        /// The name of the limit.
        name: &'static str,
        /// Its value.
        limit: u64,
    },
}

impl ErrorKind {
    /// The deviation that an error is about. An empty value is known only where it is found.
    fn deviation(&self) -> Option<Deviation> {
        match self {
            Self::Lexical {
                datatype: Datatype::Float | Datatype::Double,
                found,
            } => double::foreign_special(found.as_bytes()).map(|_| Deviation::SpecialFloat),
            Self::Unlisted { .. } => Some(Deviation::UnlistedValue),
            Self::Unexpected { .. } | Self::Undeclared(_) => Some(Deviation::UnknownElement),
            Self::UnknownAttribute(_) => Some(Deviation::UnknownAttribute),
            _ => None,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xml(error) => write!(f, "{}", error.kind()),
            Self::UnexpectedEnd => {
                f.write_str("the message ends before the end tag of its root element")
            }
            Self::RootMismatch { found, expected } => {
                write!(f, "found root element <{found}>, expected <{expected}>")
            }
            Self::Lexical { datatype, found } => {
                write!(
                    f,
                    "{}",
                    bsoap_datatypes::LexicalError::new(*datatype, found.as_bytes())
                )
            }
            Self::Value { problem } | Self::Unlisted { problem } => f.write_str(problem),
            Self::Fixed { expected, found } => {
                write!(f, "found {found:?}, expected the fixed value {expected:?}")
            }
            Self::UnboundPrefix(prefix) => write!(f, "the prefix {prefix:?} is not declared"),
            Self::Unexpected { found, expected } => {
                write!(f, "found <{found}>, expected {expected}")
            }
            Self::Undeclared(name) => write!(
                f,
                "element <{name}> has no declaration, which its strict wildcard requires, expected a declared element or an xsi:type"
            ),
            Self::Missing { expected } => write!(f, "the element ends here, expected {expected}"),
            Self::Occurrence {
                found,
                min,
                expected,
            } => {
                write!(f, "found {found} of {expected}, expected at least {min}")
            }
            Self::Text { found } => write!(f, "found text {found:?} where text is not allowed"),
            Self::UnknownAttribute(name) => write!(f, "unknown attribute {name}"),
            Self::MissingAttribute(name) => write!(f, "the attribute {name} is missing"),
            Self::AbstractType(name) => write!(
                f,
                "type {name} is abstract, expected an xsi:type derived from it"
            ),
            Self::AbstractElement(name) => write!(
                f,
                "element <{name}> is abstract, expected one of its substitutes"
            ),
            Self::UnknownType(name) => {
                write!(
                    f,
                    "xsi:type {name} is not allowed here: it is unknown or not derived from the declared type"
                )
            }
            Self::NotNillable => f.write_str("xsi:nil on an element that is not nillable"),
            Self::DanglingReference(id) => {
                write!(f, "the reference \"#{id}\" names no value of the message")
            }
            Self::UnknownEncoding(found) => {
                write!(
                    f,
                    "the encodingStyle {found:?} is unknown, expected that of SOAP 1.2 or none"
                )
            }
            Self::ArrayIndex { found, expected } => {
                write!(f, "found the array index {found:?}, expected {expected}")
            }
            Self::Limit { name, limit } => write!(f, "the limit `{name}` ({limit}) is exceeded"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("path", &self.0.path)
            .field("offset", &self.0.offset)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_fact(f)?;
        match self.0.deviation {
            Some(deviation) => write!(f, "; {}", deviation.advice()),
            None => Ok(()),
        }
    }
}

// An error of the reader is part of the kind, and not a source: it would give the location again.
impl std::error::Error for Error {}

/// The first `length` bytes of a text, at a character boundary; `…` shows that there was more.
pub(crate) fn bounded(text: &str, length: usize) -> Box<str> {
    if text.len() <= length {
        return text.into();
    }
    let end = (0..=length)
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    format!("{}…", &text[..end]).into()
}
