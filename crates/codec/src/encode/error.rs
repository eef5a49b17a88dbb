//! Why a Record could not be written.

use std::fmt;

use crate::escape::BadCharacter;

/// A Record that could not be written, and where in it.
///
/// An incomplete text is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    slot: usize,
    path: String,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A character that XML does not allow, not even as a reference.
    Character(u32),
    /// A text that is not a lexical form of its type, or a value that its enumeration does not list.
    Value(String),
    /// The slots do not fit the Plan: the Record was not made for it.
    Mismatch,
    /// A QName whose local part is not a valid name.
    Name(String),
    /// XML kept for a wildcard or its attributes is not well-formed.
    Fragment,
    /// Elements nest deeper than [`EncodeOptions::depth`](super::EncodeOptions::depth).
    Depth(usize),
}

pub(super) type Result<T> = std::result::Result<T, ErrorKind>;

impl From<BadCharacter> for ErrorKind {
    fn from(bad: BadCharacter) -> Self {
        Self::Character(bad.0)
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, slot: usize, path: String) -> Self {
        Self { kind, slot, path }
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The slot of the Record that could not be written.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The path of the element, such as `/order/item[3]/note`; empty if it is not known.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Character(code) => write!(f, "XML cannot carry U+{code:04X}")?,
            ErrorKind::Value(problem) => f.write_str(problem)?,
            ErrorKind::Mismatch => f.write_str("the record does not fit its plan")?,
            ErrorKind::Name(name) => write!(f, "{name:?} is not an expanded name")?,
            ErrorKind::Fragment => f.write_str("a value stored as XML is not well-formed")?,
            ErrorKind::Depth(limit) => {
                write!(f, "elements nest deeper than the limit `depth` ({limit})")?;
            }
        }
        match self.path.as_str() {
            "" => write!(f, " (slot {})", self.slot),
            path => write!(f, " at {path} (slot {})", self.slot),
        }
    }
}

impl std::error::Error for Error {}
