//! What can be wrong with a document, and where.

use std::fmt;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A violation of XML, of its namespaces, or of a [limit](crate::Limits), with its place.
///
/// ```
/// use std::sync::Arc;
/// use bsoap_xml::{Options, Reader, Vocabulary};
///
/// let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
/// reader.feed(b"<order><id>7</name></order>").unwrap();
/// reader.finish().unwrap();
/// let error = loop {
///     if let Err(error) = reader.next() {
///         break error;
///     }
/// };
/// assert_eq!(error.to_string(), "found </name>, expected </id> at /order/id (byte 12)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    offset: u64,
    path: String,
}

/// The facts of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A [limit](crate::Limits) was passed.
    Limit {
        /// The field of [`Limits`](crate::Limits).
        name: &'static str,
        /// Its value.
        limit: u64,
    },
    /// A production of the grammar was left.
    Syntax {
        /// What the grammar demands here.
        expected: &'static str,
        /// What was found; `None` at the end of the text.
        found: Option<char>,
    },
    /// The document ends inside something.
    UnexpectedEnd {
        /// What was begun.
        within: &'static str,
    },
    /// A character that XML cannot carry, spelled out or by reference.
    InvalidChar(u32),
    /// Not a name, or not one that namespaces allow.
    InvalidName(String),
    /// An end tag that is not the one of the element open.
    MismatchedEndTag {
        /// The name of the element open.
        expected: String,
        /// The name in the end tag.
        found: String,
    },
    /// A prefix that no declaration in scope binds.
    UnboundPrefix(String),
    /// The state's scope is not, or no longer, one of the [`Scopes`](crate::Scopes) it is read with.
    UnknownScope,
    /// Two attributes of a tag with one expanded name.
    DuplicateAttribute(String),
    /// A namespace declaration that Namespaces in XML 1.0 forbids.
    Declaration {
        /// The prefix declared; empty for the default namespace.
        prefix: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A reference to an entity nobody declared.
    UndeclaredEntity(String),
    /// A reference to an entity that is not allowed here.
    Entity {
        /// The entity's name.
        name: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A document type declaration, where the [policy](crate::DoctypePolicy) is to refuse it.
    Doctype,
    /// The bytes are not text in the encoding they claim.
    Encoding {
        /// The encoding's name.
        encoding: String,
        /// What is wrong.
        problem: &'static str,
    },
}

/// The kind of an error and its byte offset in the input of the function that found it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) at: usize,
}

/// Why a scanning function has no result: the text ends too early, or it is wrong.
#[derive(Debug)]
pub(crate) enum Stop {
    /// What is begun here does not end in the text at hand.
    More,
    /// It is wrong whatever follows.
    Fault(Box<Fault>),
}

impl Stop {
    #[cold]
    pub(crate) fn fault(kind: ErrorKind, at: usize) -> Stop {
        Stop::Fault(Box::new(Fault { kind, at }))
    }

    /// The text at byte `at` of `input` is not what the grammar demands, or ends there.
    #[cold]
    pub(crate) fn expected(expected: &'static str, input: &str, at: usize) -> Stop {
        match input.get(at..).and_then(|rest| rest.chars().next()) {
            Some(found) => Stop::fault(
                ErrorKind::Syntax {
                    expected,
                    found: Some(found),
                },
                at,
            ),
            None => Stop::More,
        }
    }

    #[cold]
    pub(crate) fn limit(name: &'static str, limit: usize) -> Stop {
        Stop::fault(
            ErrorKind::Limit {
                name,
                limit: limit as u64,
            },
            0,
        )
    }

    /// The same, met `by` bytes further on.
    #[cold]
    pub(crate) fn shifted(self, by: usize) -> Stop {
        match self {
            Stop::More => Stop::More,
            Stop::Fault(mut fault) => {
                fault.at += by;
                Stop::Fault(fault)
            }
        }
    }
}

impl Error {
    /// An error at a byte of the document, inside the element that `path` names.
    #[cold]
    pub fn new(kind: ErrorKind, offset: u64, path: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            offset,
            path: path.into(),
        }))
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The location of the error: a byte offset into the document after conversion to UTF-8, not counting a byte order mark.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The open elements, as `/order/item`; empty outside the root element.
    pub fn path(&self) -> &str {
        &self.0.path
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("offset", &self.0.offset)
            .field("path", &self.0.path)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        if !self.0.path.is_empty() {
            write!(f, " at {}", self.0.path)?;
        }
        write!(f, " (byte {})", self.0.offset)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Limit { name, limit } => {
                write!(f, "the limit `{name}` ({limit}) is exceeded")
            }
            ErrorKind::Syntax {
                expected,
                found: Some(found),
            } => write!(f, "found {found:?}, expected {expected}"),
            ErrorKind::Syntax {
                expected,
                found: None,
            } => write!(f, "found the end of the document, expected {expected}"),
            ErrorKind::UnexpectedEnd { within } => write!(f, "the document ends within {within}"),
            ErrorKind::InvalidChar(code) => {
                write!(f, "U+{code:04X} is not allowed in an XML document")
            }
            ErrorKind::InvalidName(name) => write!(f, "{name:?} is not a name"),
            ErrorKind::MismatchedEndTag { expected, found } => {
                write!(f, "found </{found}>, expected </{expected}>")
            }
            ErrorKind::UnboundPrefix(prefix) => write!(f, "the prefix {prefix:?} is not declared"),
            ErrorKind::UnknownScope => {
                f.write_str("the namespaces in scope at this place are not available any more")
            }
            ErrorKind::DuplicateAttribute(name) => write!(f, "the attribute {name:?} is repeated"),
            ErrorKind::Declaration { prefix, rule } if prefix.is_empty() => {
                write!(f, "the default namespace declaration is wrong: {rule}")
            }
            ErrorKind::Declaration { prefix, rule } => {
                write!(f, "the declaration of prefix {prefix:?} is wrong: {rule}")
            }
            ErrorKind::UndeclaredEntity(name) => write!(f, "the entity {name:?} is not declared"),
            ErrorKind::Entity { name, rule } => {
                write!(f, "the entity {name:?} cannot be used here: {rule}")
            }
            ErrorKind::Doctype => f.write_str("a document type declaration is not allowed here"),
            ErrorKind::Encoding { encoding, problem } => {
                write!(f, "encoding {encoding}: {problem}")
            }
        }
    }
}
