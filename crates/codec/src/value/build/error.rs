//! Why a value does not fit an element.

use std::fmt;

use crate::plan::{Content, Leaf, ParticleId, Plan, Term, TypeId, UNBOUNDED};
use crate::value::Value;
use crate::value::pack::PackError;

/// The most names an error offers.
pub(super) const SHOWN: usize = 3;
/// The most known names an error lists.
pub(super) const LISTED: usize = 12;
/// The most characters of a wrong text an error carries.
const LONGEST: usize = 64;

/// A value that does not fit its element, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildError(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    kind: BuildErrorKind,
    /// Innermost first.
    path: Vec<String>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildErrorKind {
    /// A required element, attribute or text is missing.
    Missing {
        /// Its key.
        name: String,
        /// Its type.
        ty: String,
    },
    /// Fewer values than the element must occur.
    TooFew {
        /// The key of the element.
        name: String,
        /// How many there are.
        found: u64,
        /// How many there must be.
        min: u64,
    },
    /// Too many or too few occurrences of a repeated group.
    Occurrences {
        /// The group, such as `a choice of a, b` or `a sequence that begins with a`.
        group: String,
        /// How many there are, such as `more than 3` or `at most 1`: values may be grouped in several ways.
        found: String,
        /// How many are allowed, such as `2 to 3` or `at least 2`.
        allowed: String,
    },
    /// One of several elements must be present, and none is.
    MissingChoice {
        /// Their keys.
        possible: Vec<String>,
    },
    /// A key that the type does not have.
    UnknownKey {
        /// The key.
        key: String,
        /// Keys that look like it.
        nearest: Vec<String>,
        /// The first keys that the type has.
        known: Vec<String>,
        /// How many more keys the type has.
        more: usize,
    },
    /// The wrong kind of value.
    Mismatch {
        /// The kind of value that is expected.
        expected: String,
        /// The kind of value that was found.
        found: &'static str,
    },
    /// A text that is not a lexical form of the type, a number out of range, or a value that a facet forbids.
    Lexical(String),
    /// More values than the element may occur.
    TooMany {
        /// Values for which there is no place.
        left: usize,
    },
    /// Null, where the element is not nillable.
    NotNillable,
    /// A derived type has to be named.
    Abstract {
        /// The abstract type.
        ty: String,
        /// Types that may be named.
        possible: Vec<String>,
    },
    /// `@type` names no type that is allowed here.
    UnknownType {
        /// What it names.
        name: String,
        /// Types that may be named.
        possible: Vec<String>,
    },
    /// XML that is not well-formed, or has a character that XML does not allow.
    Xml(String),
    /// An element in a namespace that the wildcard does not allow.
    Namespace(String),
    /// Values nest deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    Depth(usize),
    /// More than 4 GiB of text.
    TooLarge,
    /// The values that are missing and would be filled in from the defaults of the schema are too many.
    Filled {
        /// The key of the last element.
        name: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A value of a Rust type that could not be packed.
    Packed(PackError),
}

impl BuildErrorKind {
    pub(super) fn mismatch(expected: impl Into<String>, found: &Value) -> Self {
        Self::Mismatch {
            expected: expected.into(),
            found: found.kind(),
        }
    }
}

impl From<BuildErrorKind> for BuildError {
    fn from(kind: BuildErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            path: Vec::new(),
        }))
    }
}

impl BuildError {
    /// What is wrong.
    pub fn kind(&self) -> &BuildErrorKind {
        &self.0.kind
    }

    /// The path of the wrong value, such as `/order/item[3]/quantity`.
    pub fn path(&self) -> String {
        self.0
            .path
            .iter()
            .rev()
            .map(|step| format!("/{step}"))
            .collect()
    }

    /// Whether something is missing directly in this object, not further inside.
    pub(super) fn is_missing_here(&self) -> bool {
        self.0.path.is_empty()
            && matches!(
                self.0.kind,
                BuildErrorKind::Missing { .. }
                    | BuildErrorKind::TooFew { .. }
                    | BuildErrorKind::MissingChoice { .. }
            )
    }

    /// Adds the step of the element around to the path.
    /// The same error, of a value inside of an object: `step` is its key there.
    #[must_use]
    pub fn inside(mut self, step: impl Into<String>) -> Self {
        self.0.path.push(step.into());
        self
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| names.join(", ");
        match &self.0.kind {
            BuildErrorKind::Missing { name, ty } => write!(f, "{name} ({ty}) is missing")?,
            BuildErrorKind::TooFew { name, found, min } => {
                write!(f, "{found} of {name}, expected at least {min}")?;
            }
            BuildErrorKind::Occurrences {
                group,
                found,
                allowed,
            } => write!(f, "{group} occurs {found} times, expected {allowed}")?,
            BuildErrorKind::MissingChoice { possible } => {
                write!(f, "one of {} is missing", list(possible))?;
            }
            BuildErrorKind::UnknownKey { key, nearest, .. } if nearest.is_empty() => {
                write!(f, "{key} is not known")?;
            }
            BuildErrorKind::UnknownKey { key, nearest, .. } => {
                write!(f, "{key} is not known (did you mean {}?)", list(nearest))?;
            }
            BuildErrorKind::Mismatch { expected, found } => {
                write!(f, "{found} where {expected} is expected")?;
            }
            BuildErrorKind::Lexical(problem) => f.write_str(problem)?,
            BuildErrorKind::TooMany { left } => write!(f, "{left} more items than are allowed")?,
            BuildErrorKind::NotNillable => f.write_str("null, but the element is not nillable")?,
            BuildErrorKind::Abstract { ty, possible } if possible.is_empty() => {
                write!(f, "{ty} is abstract and has no derived type")?;
            }
            BuildErrorKind::Abstract { ty, possible } => write!(
                f,
                "{ty} is abstract: @type must name one of {}",
                list(possible)
            )?,
            BuildErrorKind::UnknownType { name, possible } if possible.is_empty() => {
                write!(f, "the type {name} is not allowed here")?;
            }
            BuildErrorKind::UnknownType { name, possible } => write!(
                f,
                "the type {name} is not allowed here, expected one of {}",
                list(possible)
            )?,
            BuildErrorKind::Xml(problem) => f.write_str(problem)?,
            BuildErrorKind::Namespace(namespace) => {
                write!(
                    f,
                    "an element of namespace {namespace:?} is not allowed here"
                )?;
            }
            BuildErrorKind::Depth(limit) => {
                write!(f, "values nest deeper than the limit of {limit}")?;
            }
            BuildErrorKind::TooLarge => f.write_str("more than 4 GiB of text")?,
            BuildErrorKind::Filled { name, limit } => write!(
                f,
                "{name} is missing, and the values that are filled in from defaults exceed the limit `filled_bytes` ({limit})"
            )?,
            BuildErrorKind::Packed(problem) => write!(f, "{problem}")?,
        }
        write!(f, " at {}", self.path())?;
        match &self.0.kind {
            BuildErrorKind::UnknownKey { known, more, .. } if !known.is_empty() => {
                write!(f, ", which has {}", list(known))?;
                match more {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for BuildError {}

/// The error for a choice of which no branch is given.
#[cold]
pub(super) fn missing_choice(plan: &Plan, id: ParticleId) -> BuildError {
    let names = plan.particle(id).first.names();
    let possible = names
        .map(|(name, _)| plan.vocabulary.local(name).to_owned())
        .take(SHOWN * 4)
        .collect();
    BuildErrorKind::MissingChoice { possible }.into()
}

/// The error for a missing occurrence: that there are too few, if there are some.
#[cold]
pub(super) fn or_too_few(error: BuildError, plan: &Plan, id: ParticleId, found: u64) -> BuildError {
    match error.is_missing_here() {
        true => too_few(plan, id, found).unwrap_or(error),
        false => error,
    }
}

/// The error for an element that occurs, but not often enough. `None` if it does not occur, or `id` is a group.
fn too_few(plan: &Plan, id: ParticleId, found: u64) -> Option<BuildError> {
    let particle = plan.particle(id);
    let Term::Element(element) = particle.term else {
        return None;
    };
    let name = plan.element(element).name;
    let name = plan.vocabulary.local(name).to_owned();
    let min = particle.min.into();
    (found > 0).then(|| BuildErrorKind::TooFew { name, found, min }.into())
}

/// Checks that a group that joins runs has enough occurrences: their number is between these.
pub(super) fn check_runs(
    plan: &Plan,
    id: ParticleId,
    (fewest, most): (u32, u32),
) -> Result<(), BuildError> {
    match plan.particle(id).may_end(fewest, most) {
        true => Ok(()),
        false => Err(occurrences(plan, id, format!("at most {most}"))),
    }
}

/// The error for a group that joins runs and that values are left for.
#[cold]
pub(super) fn too_many(plan: &Plan, id: ParticleId) -> BuildError {
    let max = plan.particle(id).max;
    occurrences(plan, id, format!("more than {max}"))
}

#[cold]
fn occurrences(plan: &Plan, id: ParticleId, found: String) -> BuildError {
    let particle = plan.particle(id);
    let kind = match particle.term {
        Term::Choice(_) => "choice of",
        _ => "sequence that begins with",
    };
    let names = particle.first.names().take(SHOWN * 4);
    let names: Vec<&str> = names.map(|(name, _)| plan.vocabulary.local(name)).collect();
    let allowed = match (particle.min, particle.max) {
        (min, UNBOUNDED) => format!("at least {min}"),
        (min, max) if min == max => format!("{min}"),
        (min, max) => format!("{min} to {max}"),
    };
    BuildErrorKind::Occurrences {
        group: format!("a {kind} {}", names.join(", ")),
        found,
        allowed,
    }
    .into()
}

/// Checks a number of occurrences, of which not all between the least and the most are possible.
pub(super) fn check_count(plan: &Plan, id: ParticleId, found: u64) -> Result<(), BuildError> {
    let particle = plan.particle(id);
    let Some(counts) = particle.counts.as_deref().filter(|_| !particle.joins_runs) else {
        return Ok(());
    };
    let count = u32::try_from(found).unwrap_or(u32::MAX);
    if counts.allow(count) {
        return Ok(());
    }
    let name = match particle.term {
        Term::Element(element) => plan.vocabulary.local(plan.element(element).name),
        _ => "a group",
    };
    let (name, min) = (name.to_owned(), counts.next(count).into());
    Err(BuildErrorKind::TooFew { name, found, min }.into())
}

/// The name of a type for error messages: `int`, `Order`, `an anonymous type`.
pub(super) fn type_label(plan: &Plan, id: TypeId) -> String {
    let ty = plan.ty(id);
    match (ty.name, &ty.content) {
        (Some(name), _) => plan.vocabulary.local(name).to_owned(),
        (None, Content::Simple(leaf)) => leaf_label(plan.leaf(*leaf)),
        (None, Content::Empty) => "an empty element".to_owned(),
        (None, _) => "an object".to_owned(),
    }
}

/// The name of a simple type, or of the built-in type it is derived from.
pub(super) fn leaf_label(leaf: &Leaf) -> String {
    match (leaf.simple.name(), leaf.simple.datatype()) {
        (Some(name), _) => name.local().to_owned(),
        (None, Some(datatype)) => datatype.name().to_owned(),
        (None, None) => "text".to_owned(),
    }
}

/// The first characters of a text.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
