//! The errors of simple types: a text that is not valid, and a restriction that makes no sense.

use std::fmt;

use crate::error::bounded;
use crate::{Datatype, FacetName, LexicalError, PatternError};

/// A text is not valid as a value of a simple type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValidityError(Box<ValidityErrorKind>);

/// Why a text is not valid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ValidityErrorKind {
    /// It is not a lexical form of the built-in type underneath.
    Lexical(LexicalError),
    /// It is one, but a facet does not allow it.
    Facet {
        /// The facet.
        facet: FacetName,
        /// Its value, as the schema spells it.
        limit: Box<str>,
        /// What was counted of the text, where the facet is about a number of things.
        count: Option<u64>,
        /// The text, cut to a bounded length.
        found: Box<str>,
    },
    /// It is not valid as any member of a union.
    Union {
        /// The text, cut to a bounded length.
        found: Box<str>,
    },
    /// It is a QName whose prefix is not bound.
    UnboundPrefix {
        /// The prefix.
        prefix: Box<str>,
    },
}

impl ValidityError {
    /// Why it is not valid.
    pub fn kind(&self) -> &ValidityErrorKind {
        &self.0
    }

    /// Whether the only thing wrong is that an `enumeration` does not list the value.
    pub fn is_unlisted(&self) -> bool {
        let enumeration = FacetName::Enumeration;
        matches!(self.kind(), ValidityErrorKind::Facet { facet, .. } if *facet == enumeration)
    }

    #[cold]
    pub(crate) fn facet(facet: FacetName, limit: &str, count: Option<u64>, found: &str) -> Self {
        let (limit, found) = (bounded(limit), bounded(found));
        Self(Box::new(ValidityErrorKind::Facet {
            facet,
            limit,
            count,
            found,
        }))
    }

    #[cold]
    pub(crate) fn union(found: &str) -> Self {
        Self(Box::new(ValidityErrorKind::Union {
            found: bounded(found),
        }))
    }

    #[cold]
    pub(crate) fn unbound_prefix(prefix: &str) -> Self {
        Self(Box::new(ValidityErrorKind::UnboundPrefix {
            prefix: bounded(prefix),
        }))
    }
}

impl From<LexicalError> for ValidityError {
    fn from(error: LexicalError) -> Self {
        Self(Box::new(ValidityErrorKind::Lexical(error)))
    }
}

impl fmt::Display for ValidityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ValidityErrorKind::Lexical(error) => error.fmt(f),
            ValidityErrorKind::Union { found } => {
                write!(
                    f,
                    "\"{found}\" is not a value of any member type of the union"
                )
            }
            ValidityErrorKind::UnboundPrefix { prefix } => {
                write!(f, "the prefix \"{prefix}\" is not declared")
            }
            ValidityErrorKind::Facet {
                facet,
                limit,
                count,
                found,
            } => {
                let count = count.unwrap_or(0);
                write!(f, "\"{found}\" ")?;
                match facet {
                    FacetName::Length => write!(f, "has length {count}, expected {limit}"),
                    FacetName::MinLength => {
                        write!(f, "has length {count}, expected {limit} or more")
                    }
                    FacetName::MaxLength => {
                        write!(f, "has length {count}, expected {limit} or less")
                    }
                    FacetName::TotalDigits => {
                        write!(f, "has {count} digits, expected {limit} or less")
                    }
                    FacetName::FractionDigits => {
                        write!(f, "has {count} fraction digits, expected {limit} or less")
                    }
                    FacetName::MinInclusive => write!(f, "is not {limit} or more"),
                    FacetName::MinExclusive => write!(f, "is not greater than {limit}"),
                    FacetName::MaxInclusive => write!(f, "is not {limit} or less"),
                    FacetName::MaxExclusive => write!(f, "is not less than {limit}"),
                    FacetName::Enumeration => write!(f, "is not one of {limit}"),
                    FacetName::Pattern => write!(f, "does not match the pattern {limit}"),
                    FacetName::WhiteSpace => {
                        write!(f, "has white space that whiteSpace={limit} does not allow")
                    }
                }
            }
        }
    }
}

impl std::error::Error for ValidityError {}

/// A simple type cannot be made as a schema asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FacetError(Box<FacetErrorKind>);

/// Why a simple type cannot be made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FacetErrorKind {
    /// Types of this kind do not have the facet.
    NotApplicable {
        /// The facet.
        facet: FacetName,
        /// The primitive type, or `list` or `union`.
        of: &'static str,
    },
    /// The facet may be stated once in a step.
    Duplicate(FacetName),
    /// The facet's value is not one.
    Value {
        /// The facet.
        facet: FacetName,
        /// What was found, cut to a bounded length.
        found: Box<str>,
        /// What it should have been.
        expected: &'static str,
    },
    /// The facet's value is not valid as a value of the base type.
    NotInBase {
        /// The facet.
        facet: FacetName,
        /// Why not.
        source: ValidityError,
    },
    /// Two facets leave no value or must not be combined.
    Conflict {
        /// One facet.
        facet: FacetName,
        /// The other.
        with: FacetName,
    },
    /// The facet allows what the base type does not.
    LooserThanBase {
        /// The facet.
        facet: FacetName,
        /// The facet of the base type.
        base: FacetName,
    },
    /// The base type has fixed the facet at another value.
    Fixed(FacetName),
    /// The value of a `pattern` is no pattern.
    Pattern(PatternError),
    /// The items of a list may not be lists themselves.
    ListOfLists,
    /// More steps of derivation than the limit.
    TooDeep {
        /// In steps.
        limit: usize,
    },
    /// A union has more members, those of its members included, than the limit.
    TooManyMembers {
        /// In members.
        limit: usize,
    },
}

impl FacetError {
    /// Why it cannot be made.
    pub fn kind(&self) -> &FacetErrorKind {
        &self.0
    }
}

impl From<FacetErrorKind> for FacetError {
    fn from(kind: FacetErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Display for FacetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            FacetErrorKind::NotApplicable { facet, of } => {
                write!(f, "{} does not apply to {of}", facet.name())
            }
            FacetErrorKind::Duplicate(facet) => write!(f, "{} is stated twice", facet.name()),
            FacetErrorKind::Value {
                facet,
                found,
                expected,
            } => {
                write!(f, "{} is \"{found}\", expected {expected}", facet.name())
            }
            FacetErrorKind::NotInBase { facet, .. } => {
                write!(
                    f,
                    "the value of {} is not a value of the base type",
                    facet.name()
                )
            }
            FacetErrorKind::Conflict { facet, with } => {
                write!(f, "{} conflicts with {}", facet.name(), with.name())
            }
            FacetErrorKind::LooserThanBase { facet, base } => {
                write!(
                    f,
                    "{} allows what {} of the base type does not",
                    facet.name(),
                    base.name()
                )
            }
            FacetErrorKind::Fixed(facet) => write!(f, "{} is fixed in the base type", facet.name()),
            FacetErrorKind::Pattern(_) => {
                f.write_str("the value of pattern is not a regular expression of XML Schema")
            }
            FacetErrorKind::ListOfLists => f.write_str("the item type of a list cannot be a list"),
            FacetErrorKind::TooDeep { limit } => {
                write!(
                    f,
                    "the type is derived in more steps than the limit of {limit}"
                )
            }
            FacetErrorKind::TooManyMembers { limit } => {
                write!(f, "the union has more members than the limit of {limit}")
            }
        }
    }
}

impl std::error::Error for FacetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            FacetErrorKind::NotInBase { source, .. } => Some(source),
            FacetErrorKind::Pattern(source) => Some(source),
            _ => None,
        }
    }
}

/// The lexical error of a text that was to be `datatype`.
pub(crate) fn not_lexical(datatype: Datatype, text: &str) -> ValidityError {
    LexicalError::new(datatype, text).into()
}
