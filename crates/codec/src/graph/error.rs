//! What is wrong with the references of an encoded message.

use crate::record::walk::Mismatch;
use crate::value::MAX_DEPTH;

/// What is wrong with the references of an encoded message, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphError {
    /// The fact.
    pub kind: GraphErrorKind,
    /// The element with the reference, as `/Envelope/Body/order/item[3]`.
    pub path: String,
}

/// The facts of a [`GraphError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphErrorKind {
    /// No value has the id.
    Dangling(String),
    /// Two values have the same id.
    Duplicate(String),
    /// The value is of a type that the element cannot have.
    Type(String),
    /// The value is an independent element that states no type.
    Untyped(String),
    /// The value contains itself, so it is no tree.
    Cycle(String),
    /// An array has more items than its size says.
    Size {
        /// How many items there are.
        found: usize,
        /// The size.
        size: String,
    },
    /// The tree is larger than this number of bytes.
    Expansion(usize),
    /// Values nest deeper than [`MAX_DEPTH`].
    Depth,
    /// The slots do not fit the Plan.
    Mismatch,
}

impl std::fmt::Display for GraphError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            GraphErrorKind::Dangling(id) => {
                write!(f, "the reference \"#{id}\" names no value of the message")?;
            }
            GraphErrorKind::Duplicate(id) => write!(f, "two values have the id \"{id}\"")?,
            GraphErrorKind::Type(id) => write!(
                f,
                "the reference \"#{id}\" names a value whose type is not allowed here"
            )?,
            GraphErrorKind::Untyped(id) => write!(
                f,
                "the reference \"#{id}\" names a value without a type: it needs an xsi:type"
            )?,
            GraphErrorKind::Cycle(id) => write!(
                f,
                "the value \"#{id}\" contains itself; only a dynamic value can hold a cycle"
            )?,
            GraphErrorKind::Size { found, size } => {
                write!(f, "found {found} items in an array of the size {size:?}")?;
            }
            GraphErrorKind::Expansion(limit) => write!(
                f,
                "the references expand to more than {limit} bytes (limit `reference_expansion`)"
            )?,
            GraphErrorKind::Depth => {
                write!(f, "values nest deeper than {MAX_DEPTH} (limit `MAX_DEPTH`)")?;
            }
            GraphErrorKind::Mismatch => f.write_str("the record does not fit its plan")?,
        }
        match self.path.as_str() {
            "" => Ok(()),
            path => write!(f, " at {path}"),
        }
    }
}

impl std::error::Error for GraphError {}

impl From<Mismatch> for GraphError {
    fn from(_: Mismatch) -> Self {
        GraphErrorKind::Mismatch.at(String::new())
    }
}

impl GraphErrorKind {
    pub(super) fn at(self, path: String) -> GraphError {
        GraphError { kind: self, path }
    }
}
