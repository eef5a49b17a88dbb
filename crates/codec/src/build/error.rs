//! Why a value does not fit an element.

use std::fmt;

use crate::pack::PackError;
use crate::plan::{Content, Leaf, Plan, TypeId};
use crate::value::Value;

/// The most names an error offers.
pub(super) const SHOWN: usize = 3;
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
    /// A required element, attribute or text is not there.
    Missing {
        /// Its key.
        name: String,
        /// Its type.
        ty: String,
    },
    /// One of several elements has to be there, and none is.
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
    },
    /// The wrong kind of value.
    Mismatch {
        /// What belongs here.
        expected: String,
        /// What is here.
        found: &'static str,
    },
    /// A text that is not a lexical form of the type, or a number out of its range, or what a facet forbids.
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
    /// `@type` names no type that may stand here.
    UnknownType {
        /// What it names.
        name: String,
        /// Types that may be named.
        possible: Vec<String>,
    },
    /// XML that is not well-formed, or holds what XML cannot carry.
    Xml(String),
    /// An element of a namespace that the wildcard does not admit.
    Namespace(String),
    /// Values nest deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    Depth(usize),
    /// More than 4 GiB of text.
    TooLarge,
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

    /// Where it is wrong, such as `/order/item[3]/quantity`.
    pub fn path(&self) -> String {
        self.0
            .path
            .iter()
            .rev()
            .map(|step| format!("/{step}"))
            .collect()
    }

    /// Whether something is missing from the very object that was looked at.
    pub(super) fn is_missing_here(&self) -> bool {
        self.0.path.is_empty()
            && matches!(
                self.0.kind,
                BuildErrorKind::Missing { .. } | BuildErrorKind::MissingChoice { .. }
            )
    }

    /// The error, seen from further outside.
    pub(super) fn inside(mut self, step: impl Into<String>) -> Self {
        self.0.path.push(step.into());
        self
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| names.join(", ");
        match &self.0.kind {
            BuildErrorKind::Missing { name, ty } => write!(f, "{name} ({ty}) is missing")?,
            BuildErrorKind::MissingChoice { possible } => {
                write!(f, "one of {} is missing", list(possible))?;
            }
            BuildErrorKind::UnknownKey { key, nearest } if nearest.is_empty() => {
                write!(f, "{key} is not known")?;
            }
            BuildErrorKind::UnknownKey { key, nearest } => {
                write!(f, "{key} is not known (near: {})", list(nearest))?;
            }
            BuildErrorKind::Mismatch { expected, found } => {
                write!(f, "{found} where {expected} is expected")?;
            }
            BuildErrorKind::Lexical(problem) => f.write_str(problem)?,
            BuildErrorKind::TooMany { left } => write!(f, "{left} more than there is place for")?,
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
                write!(f, "no type {name} may stand here")?;
            }
            BuildErrorKind::UnknownType { name, possible } => write!(
                f,
                "no type {name} may stand here (possible: {})",
                list(possible)
            )?,
            BuildErrorKind::Xml(problem) => f.write_str(problem)?,
            BuildErrorKind::Namespace(namespace) => {
                write!(f, "no element of namespace {namespace:?} may stand here")?;
            }
            BuildErrorKind::Depth(limit) => write!(f, "values nest deeper than {limit}")?,
            BuildErrorKind::TooLarge => f.write_str("more than 4 GiB of text")?,
            BuildErrorKind::Packed(problem) => write!(f, "{problem}")?,
        }
        write!(f, " at {}", self.path())
    }
}

impl std::error::Error for BuildError {}

/// A type as a reader knows it: `int`, `Order`, `an anonymous type`.
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

/// The known names that look like a name.
pub(super) fn nearest(name: &str, known: &[&str]) -> Vec<String> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let distance = |other: &&str| {
        let other = other.to_lowercase();
        let related = !lower.is_empty()
            && (other.contains(&lower) || lower.contains(&*other) && !other.is_empty());
        if other.trim_start_matches('@') == lower {
            0
        } else if related {
            1
        } else {
            edits(&lower, &other)
        }
    };
    let allowed = (1 + name.len() / 4).min(name.len().saturating_sub(1));
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .filter(|other| other.len() <= LONGEST)
        .map(|other| (distance(other), *other))
        .filter(|near| near.0 <= allowed)
        .collect();
    near.sort_by_key(|near| near.0);
    near.into_iter()
        .take(SHOWN)
        .map(|near| near.1.to_owned())
        .collect()
}

/// How many letters have to be added, taken away or changed.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The first characters of a text.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_offered() {
        let known = ["quantity", "price", "@currency", "item"];
        assert_eq!(nearest("quantiy", &known), ["quantity"]);
        assert_eq!(nearest("currency", &known), ["@currency"]);
        assert_eq!(nearest("Price", &known), ["price"]);
        assert_eq!(nearest("zzz", &known), Vec::<String>::new());
        assert_eq!(nearest("items", &known), ["item"]);
    }
}
