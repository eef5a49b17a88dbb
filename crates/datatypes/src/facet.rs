//! Constraining facets (XSD 1.0 Part 2 §4.3): their names, and what a simple type has of them.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::{AtomicValue, Pattern, Value};

// Exhaustive: XML Schema 1.0 has no others.
/// The name of a constraining facet.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // each is called as in the specification
pub enum FacetName {
    Length,
    MinLength,
    MaxLength,
    Pattern,
    Enumeration,
    WhiteSpace,
    MaxInclusive,
    MaxExclusive,
    MinInclusive,
    MinExclusive,
    TotalDigits,
    FractionDigits,
}

impl FacetName {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Length,
        Self::MinLength,
        Self::MaxLength,
        Self::Pattern,
        Self::Enumeration,
        Self::WhiteSpace,
        Self::MaxInclusive,
        Self::MaxExclusive,
        Self::MinInclusive,
        Self::MinExclusive,
        Self::TotalDigits,
        Self::FractionDigits,
    ];

    /// The facet that the element of this local name sets.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|facet| facet.name() == name)
    }

    /// The local name of the element that sets it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::MinLength => "minLength",
            Self::MaxLength => "maxLength",
            Self::Pattern => "pattern",
            Self::Enumeration => "enumeration",
            Self::WhiteSpace => "whiteSpace",
            Self::MaxInclusive => "maxInclusive",
            Self::MaxExclusive => "maxExclusive",
            Self::MinInclusive => "minInclusive",
            Self::MinExclusive => "minExclusive",
            Self::TotalDigits => "totalDigits",
            Self::FractionDigits => "fractionDigits",
        }
    }
}

/// A facet as written in a schema.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Facet<'a> {
    /// Which one.
    pub name: FacetName,
    /// The attribute `value`, as written.
    pub value: &'a str,
    /// The attribute `fixed`: derived types may not change it.
    pub fixed: bool,
}

impl<'a> Facet<'a> {
    /// A facet that derived types may make stricter.
    pub fn new(name: FacetName, value: &'a str) -> Self {
        Self {
            name,
            value,
            fixed: false,
        }
    }
}

/// The facets of a simple type, those of all its base types included. What a derived type states
/// again has replaced what it restricts; patterns add up.
#[derive(Clone, Default, Debug)]
pub struct Facets {
    pub(crate) length: Option<u64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) total_digits: Option<u64>,
    pub(crate) fraction_digits: Option<u64>,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) enumeration: Option<Arc<Enumeration>>,
    pub(crate) patterns: Vec<Arc<[Pattern]>>,
    pub(crate) fixed: Fixed,
}

impl Facets {
    /// The exact length.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// The least length.
    pub fn min_length(&self) -> Option<u64> {
        self.min_length
    }

    /// The greatest length.
    pub fn max_length(&self) -> Option<u64> {
        self.max_length
    }

    /// The greatest number of digits of a decimal.
    pub fn total_digits(&self) -> Option<u64> {
        self.total_digits
    }

    /// The greatest number of digits behind the dot.
    pub fn fraction_digits(&self) -> Option<u64> {
        self.fraction_digits
    }

    /// `minInclusive` or `minExclusive`.
    pub fn min(&self) -> Option<&Bound> {
        self.min.as_ref()
    }

    /// `maxInclusive` or `maxExclusive`.
    pub fn max(&self) -> Option<&Bound> {
        self.max.as_ref()
    }

    /// The values that are allowed, if they are listed.
    pub fn enumeration(&self) -> Option<&Enumeration> {
        self.enumeration.as_deref()
    }

    /// For each step of the derivation that has patterns, those of which one must match.
    pub fn patterns(&self) -> impl Iterator<Item = &[Pattern]> {
        self.patterns.iter().map(|step| &**step)
    }

    /// Is there nothing to check beyond the lexical form?
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
            && self.enumeration.is_none()
            && self.min.is_none()
            && self.max.is_none()
            && [
                self.length,
                self.min_length,
                self.max_length,
                self.total_digits,
                self.fraction_digits,
            ]
            .iter()
            .all(Option::is_none)
    }
}

/// The end of a range of values.
#[derive(Clone, Debug)]
pub struct Bound {
    pub(crate) value: AtomicValue,
    pub(crate) lexical: Box<str>,
    pub(crate) inclusive: bool,
}

impl Bound {
    /// The value at the end of the range.
    pub fn value(&self) -> &AtomicValue {
        &self.value
    }

    /// The value as the schema spells it.
    pub fn lexical(&self) -> &str {
        &self.lexical
    }

    /// Is that value itself in the range?
    pub fn is_inclusive(&self) -> bool {
        self.inclusive
    }
}

/// The values of an `enumeration` facet, in the order of the schema.
#[derive(Clone, Debug)]
pub struct Enumeration {
    pub(crate) lexical: Vec<Box<str>>,
    pub(crate) values: Vec<Value>,
    /// Where all values are strings: the same again, to look one up at once.
    pub(crate) strings: Option<Strings>,
}

/// The strings of an enumeration, ordered by length and then by their characters.
#[derive(Clone, Debug)]
pub(crate) struct Strings(Box<[Box<str>]>);

impl Strings {
    fn new(mut strings: Vec<Box<str>>) -> Self {
        strings.sort_unstable_by(|one, other| by_length(one, other));
        Self(strings.into())
    }

    #[inline]
    pub(crate) fn contains(&self, text: &str) -> bool {
        let found = self.0.binary_search_by(|string| by_length(string, text));
        found.is_ok()
    }
}

fn by_length(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

impl Enumeration {
    pub(crate) fn new(members: Vec<(Box<str>, Value)>) -> Self {
        let (lexical, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let strings: Option<Vec<_>> = values
            .iter()
            .map(|value| match value {
                Value::Atomic(AtomicValue::String(text)) => Some(text.clone()),
                _ => None,
            })
            .collect();
        Self {
            lexical,
            values,
            strings: strings.map(Strings::new),
        }
    }

    /// The values as the schema spells them, their white space processed.
    pub fn lexical_forms(&self) -> impl ExactSizeIterator<Item = &str> {
        self.lexical.iter().map(|text| &**text)
    }

    /// The values.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

/// A set of facets: those that are fixed.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Fixed(u16);

impl Fixed {
    pub(crate) fn insert(&mut self, facet: FacetName) {
        self.0 |= 1 << facet as u16;
    }

    pub(crate) fn contains(self, facet: FacetName) -> bool {
        self.0 & (1 << facet as u16) != 0
    }
}
