//! Simple types: the built-ins, and what schemas derive from them by restriction, list and union.
//!
//! A text goes through the stages that XSD 1.0 Part 2 §4.1.4 names:
//!
//! ```text
//! text --white space--> normalized text --lexical form of the built-in--> value
//!                             |                                             |
//!                       pattern facets                        all other facets
//! ```
//!
//! A type is immutable and shared by `Arc`. Its facets are those of the whole derivation, merged
//! when the type was made (`restrict.rs`), so that checking does not climb to its base types.

use std::cmp::Ordering;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

use crate::decimal::Parts;
use crate::facet::{Bound, Facets};
use crate::qname::{self, ExpandedName, NamespaceContext};
use crate::validity::{FacetErrorKind, not_lexical};
use crate::white_space::{is_collapsed_text, is_replaced_text};
use crate::{
    AtomicValue, Datatype, FacetError, FacetName, Pattern, ValidityError, Value, WhiteSpace, binary,
};

/// How many steps a type may be derived in, and how deep unions may nest.
pub(crate) const MAX_DEPTH: usize = 200;
/// How many members a union may have, those of its members included: each may be tried on a text.
const MAX_MEMBERS: usize = 10_000;

/// A simple type of XML Schema.
///
/// ```
/// use std::sync::Arc;
/// use bsoap_datatypes::qname::NoNamespaces;
/// use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
///
/// let int = SimpleType::builtin(Datatype::Int);
/// let facets = [Facet::new(FacetName::MinInclusive, "1"), Facet::new(FacetName::MaxInclusive, "6")];
/// let die = SimpleType::restrict(&int, &facets, &NoNamespaces).unwrap();
///
/// assert_eq!(die.validate(" 6 ", &NoNamespaces).unwrap().to_string(), "6");
/// let error = die.check("7", &NoNamespaces).unwrap_err();
/// assert_eq!(error.to_string(), r#""7" is not 6 or less"#);
/// let error = die.check("six", &NoNamespaces).unwrap_err();
/// assert_eq!(error.to_string(), r#""six" is not an xs:int"#);
/// ```
#[derive(Clone)]
pub struct SimpleType {
    name: Option<ExpandedName>,
    base: Option<Arc<SimpleType>>,
    variety: Variety,
    pub(crate) white_space: WhiteSpace,
    pub(crate) facets: Facets,
    /// Steps to the built-in types, through bases, items and members.
    depth: usize,
    /// How many atomic types a text may be tried against.
    members: usize,
}

// Exhaustive: XML Schema 1.0 has no other.
/// What the values of a simple type are made of.
#[derive(Clone, Debug)]
pub enum Variety {
    /// One value of the built-in type, or of one derived from it. Also `anySimpleType`.
    Atomic(Datatype),
    /// Any number of values of the item type.
    List(Arc<SimpleType>),
    /// A value of any of the member types; the first that takes a text gives it its value.
    Union(Vec<Arc<SimpleType>>),
}

/// The namespace of XML Schema, from which the names of the built-in types are.
pub const NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";

static BUILTINS: LazyLock<Vec<Arc<SimpleType>>> = LazyLock::new(|| {
    let mut types: Vec<Arc<SimpleType>> = Vec::with_capacity(Datatype::ALL.len());
    for datatype in Datatype::ALL {
        // The items of a list and the base of a type precede it.
        let of = |earlier: Datatype| types.get(earlier as usize).cloned();
        let item = datatype.item().and_then(of);
        let variety = item.map_or(Variety::Atomic(datatype), Variety::List);
        let base = datatype.base().and_then(of);
        let mut simple_type = SimpleType {
            variety,
            ..SimpleType::atomic(datatype, base)
        };
        if datatype.item().is_some() {
            simple_type.facets.min_length = Some(1);
        }
        types.push(Arc::new(simple_type));
    }
    types
});

impl SimpleType {
    /// The built-in type: always the same `Arc`.
    pub fn builtin(datatype: Datatype) -> Arc<Self> {
        BUILTINS[datatype as usize].clone()
    }

    fn atomic(datatype: Datatype, base: Option<Arc<Self>>) -> Self {
        Self {
            name: Some(ExpandedName::new(Some(NAMESPACE), datatype.name())),
            base,
            variety: Variety::Atomic(datatype),
            white_space: datatype.white_space(),
            facets: Facets::default(),
            depth: 0,
            members: 1,
        }
    }

    /// The list type with these items. Its items may be of a union, but not of a list.
    pub fn list_of(item: &Arc<Self>) -> Result<Arc<Self>, FacetError> {
        if item.may_be_list() {
            return Err(FacetErrorKind::ListOfLists.into());
        }
        let any = Self::builtin(Datatype::AnySimpleType);
        let variety = Variety::List(item.clone());
        Self {
            name: None,
            white_space: WhiteSpace::Collapse,
            ..Self::atomic(Datatype::AnySimpleType, Some(any))
        }
        .with_variety(variety)
    }

    /// The union of these types. Members that are unions without facets are replaced by their
    /// own members; a type that comes twice counts once.
    pub fn union_of(members: &[Arc<Self>]) -> Result<Arc<Self>, FacetError> {
        let mut flat: Vec<Arc<Self>> = Vec::new();
        for member in members {
            let inner = match &member.variety {
                Variety::Union(inner) if member.facets.is_empty() => inner.as_slice(),
                _ => std::slice::from_ref(member),
            };
            for member in inner {
                if !flat.iter().any(|known| Arc::ptr_eq(known, member)) {
                    flat.push(member.clone());
                }
                if flat.len() > MAX_MEMBERS {
                    return Err(FacetErrorKind::TooManyMembers { limit: MAX_MEMBERS }.into());
                }
            }
        }
        let any = Self::builtin(Datatype::AnySimpleType);
        Self {
            name: None,
            ..Self::atomic(Datatype::AnySimpleType, Some(any))
        }
        .with_variety(Variety::Union(flat))
    }

    /// The same type with another variety, its depth and number of members counted again.
    fn with_variety(self, variety: Variety) -> Result<Arc<Self>, FacetError> {
        let parts = match &variety {
            Variety::Atomic(_) => &[],
            Variety::List(item) => std::slice::from_ref(item),
            Variety::Union(members) => members.as_slice(),
        };
        let depth = parts.iter().map(|part| part.depth + 1).max().unwrap_or(0);
        let members = parts.iter().map(|part| part.members).sum();
        Ok(Arc::new(
            Self { variety, ..self }.within_limits(depth, members)?,
        ))
    }

    /// A type derived from `base` that has its facets, to which more may be added.
    pub(crate) fn step(base: &Arc<Self>) -> Result<Self, FacetError> {
        let derived = Self {
            name: None,
            base: Some(base.clone()),
            ..Self::clone(base)
        };
        // The facets of a union look for the member again, once to check and once for the value.
        let again = if matches!(base.variety, Variety::Union(_)) {
            3
        } else {
            1
        };
        derived.within_limits(base.depth + 1, base.members.saturating_mul(again))
    }

    fn within_limits(self, depth: usize, members: usize) -> Result<Self, FacetError> {
        if depth > MAX_DEPTH {
            return Err(FacetErrorKind::TooDeep { limit: MAX_DEPTH }.into());
        }
        if members > MAX_MEMBERS {
            return Err(FacetErrorKind::TooManyMembers { limit: MAX_MEMBERS }.into());
        }
        Ok(Self {
            depth,
            members,
            ..self
        })
    }

    fn may_be_list(&self) -> bool {
        match &self.variety {
            Variety::Atomic(_) => false,
            Variety::List(_) => true,
            Variety::Union(members) => members.iter().any(|member| member.may_be_list()),
        }
    }

    /// The type under this name.
    pub fn named(self: Arc<Self>, name: ExpandedName) -> Arc<Self> {
        let mut simple_type = Arc::unwrap_or_clone(self);
        simple_type.name = Some(name);
        Arc::new(simple_type)
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<&ExpandedName> {
        self.name.as_ref()
    }

    /// The type it restricts; `anySimpleType` for a list or union itself.
    pub fn base(&self) -> Option<&Arc<Self>> {
        self.base.as_ref()
    }

    /// What its values are made of.
    pub fn variety(&self) -> &Variety {
        &self.variety
    }

    /// Whether an empty text is no lexical form of what it is made of, whatever its facets say.
    ///
    /// ```
    /// use bsoap_datatypes::{Datatype, SimpleType};
    ///
    /// assert!(SimpleType::builtin(Datatype::Int).needs_text());
    /// assert!(!SimpleType::builtin(Datatype::String).needs_text());
    /// ```
    pub fn needs_text(&self) -> bool {
        match &self.variety {
            Variety::Atomic(datatype) => datatype.check("").is_err(),
            Variety::List(_) => false,
            Variety::Union(members) => members.iter().all(|member| member.needs_text()),
        }
    }

    /// The built-in type that an atomic type is, or is derived from.
    pub fn datatype(&self) -> Option<Datatype> {
        match self.variety {
            Variety::Atomic(datatype) => Some(datatype),
            _ => None,
        }
    }

    /// What happens to white space first. A union leaves it to its members.
    pub fn white_space(&self) -> WhiteSpace {
        self.white_space
    }

    /// Its facets, those of its base types included.
    pub fn facets(&self) -> &Facets {
        &self.facets
    }

    /// Does it need more than the check of the built-in type underneath?
    pub fn has_facets(&self) -> bool {
        !self.facets.is_empty()
    }

    /// May a value of this type be used where one of `ancestor` is expected? True if it is
    /// `ancestor`, derived from it in any number of steps, or from a member of that union
    /// (XSD 1.0 Part 1 §3.14.6, *Type Derivation OK (Simple)*).
    pub fn is_derived_from(self: &Arc<Self>, ancestor: &Arc<Self>) -> bool {
        let mut next = Some(self);
        while let Some(this) = next {
            if Arc::ptr_eq(this, ancestor) {
                return true;
            }
            next = this.base.as_ref();
        }
        match &ancestor.variety {
            Variety::Union(members) => members.iter().any(|member| self.is_derived_from(member)),
            _ => false,
        }
    }

    /// The value of a text: white space is processed, then the lexical form looked at, then the
    /// facets.
    pub fn validate(
        &self,
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<Value, ValidityError> {
        self.check(text, namespaces)?;
        self.value(text, namespaces)
    }

    /// Is the text valid? As [`validate`](Self::validate), but makes a value only for facets that
    /// need one.
    pub fn check(
        &self,
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<(), ValidityError> {
        if let Variety::Union(members) = &self.variety {
            return self.check_union(members, text, namespaces);
        }
        let text = &*self.white_space.apply(text);
        match &self.variety {
            Variety::Atomic(datatype) => {
                check_form(*datatype, text, namespaces)?;
                self.check_patterns(text)?;
                self.check_atomic_facets(*datatype, text, namespaces)
            }
            Variety::List(item) => {
                items(text).try_for_each(|text| item.check(text, namespaces))?;
                self.check_patterns(text)?;
                self.check_length(text, || items(text).count() as u64)?;
                self.check_enumeration(text, namespaces)
            }
            Variety::Union(_) => Ok(()),
        }
    }

    /// Whether its values are listed by an `enumeration` facet: its own, that of its items, or that of a member.
    pub fn is_listed(&self) -> bool {
        let parts = match &self.variety {
            Variety::Atomic(_) => &[],
            Variety::List(item) => std::slice::from_ref(item),
            Variety::Union(members) => members.as_slice(),
        };
        self.facets.enumeration.is_some() || parts.iter().any(|part| part.is_listed())
    }

    /// Is the value of a text one of those that its own `enumeration` facet lists? Other facets are not looked at. The white
    /// space of the text has been processed, and it is a lexical form of the built-in type.
    ///
    /// ```
    /// use bsoap_datatypes::qname::NoNamespaces;
    /// use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
    ///
    /// let string = SimpleType::builtin(Datatype::String);
    /// let facets = [Facet::new(FacetName::Enumeration, "red"), Facet::new(FacetName::Enumeration, "blue")];
    /// let colour = SimpleType::restrict(&string, &facets, &NoNamespaces)?;
    /// assert!(colour.check_listed("red", &NoNamespaces).is_ok());
    /// let error = colour.check_listed("green", &NoNamespaces).unwrap_err();
    /// assert_eq!(error.to_string(), r#""green" is not one of red, blue"#);
    /// # Ok::<(), bsoap_datatypes::FacetError>(())
    /// ```
    #[inline]
    pub fn check_listed(
        &self,
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<(), ValidityError> {
        match self.facets.enumeration {
            Some(_) => self.check_enumeration(text, namespaces),
            None => Ok(()),
        }
    }

    /// If the text is a value of no member of this union: the member that would accept it if it listed it.
    pub fn unlisted_member(&self, text: &str) -> Option<&Arc<Self>> {
        let Variety::Union(members) = &self.variety else {
            return None;
        };
        members.iter().find(|member| {
            let processed = member.white_space.apply(text);
            let datatype = member.datatype();
            member.is_listed() && datatype.is_some_and(|it| it.check(&processed).is_ok())
        })
    }

    /// Whether a text is certainly valid, found out quickly and without a copy. `false` says nothing: [`check`](Self::check)
    /// does.
    ///
    /// ```
    /// use bsoap_datatypes::qname::NoNamespaces;
    /// use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
    ///
    /// let string = SimpleType::builtin(Datatype::String);
    /// let facets = [Facet::new(FacetName::Pattern, "[A-Z]{2}"), Facet::new(FacetName::Enumeration, "DE")];
    /// let country = SimpleType::restrict(&string, &facets, &NoNamespaces)?;
    /// assert!(country.surely_takes("DE") && !country.surely_takes("US"));
    /// # Ok::<(), bsoap_datatypes::FacetError>(())
    /// ```
    #[inline]
    pub fn surely_takes(&self, text: &str) -> bool {
        match self.variety {
            Variety::Atomic(Datatype::String | Datatype::NormalizedString | Datatype::Token) => {
                is_processed(self.white_space, text) && self.facets.take_string(text)
            }
            Variety::Atomic(Datatype::Decimal) => self.facets.take_decimal(text.as_bytes()),
            _ => false,
        }
    }

    /// If it is a string that has facets of length and no others: of how many bytes a text surely is valid. Each character
    /// takes one to four.
    pub fn sure_length(&self) -> Option<RangeInclusive<u32>> {
        let Facets {
            length,
            min_length,
            max_length,
            ..
        } = self.facets;
        let others = Facets {
            length: None,
            min_length: None,
            max_length: None,
            ..self.facets.clone()
        };
        let is_string = matches!(self.variety, Variety::Atomic(Datatype::String));
        let is_verbatim = is_string && self.white_space == WhiteSpace::Preserve;
        if !is_verbatim || !self.has_facets() || !others.is_empty() {
            return None;
        }
        let least = length.or(min_length).unwrap_or(0);
        let most = length.or(max_length).unwrap_or(u64::MAX);
        let least = least.saturating_mul(4).saturating_sub(3);
        Some(u32::try_from(least).ok()?..=u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// White space is that of the first member which takes the text. (XSD 1.0 Part 2 §4.1.4)
    fn check_union(
        &self,
        members: &[Arc<Self>],
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<(), ValidityError> {
        let Some(member) = members
            .iter()
            .find(|member| member.check(text, namespaces).is_ok())
        else {
            return Err(ValidityError::union(text));
        };
        if !self.has_facets() {
            return Ok(());
        }
        let normalized = &*member.white_space.apply(text);
        self.check_patterns(normalized)?;
        self.check_enumeration(text, namespaces)
    }

    /// The value of a text that has been checked.
    fn value(&self, text: &str, namespaces: &dyn NamespaceContext) -> Result<Value, ValidityError> {
        match &self.variety {
            Variety::Atomic(datatype) => {
                let text = self.white_space.apply(text);
                Ok(Value::Atomic(AtomicValue::parse(
                    *datatype, &text, namespaces,
                )?))
            }
            Variety::List(item) => {
                let text = self.white_space.apply(text);
                let values = items(&text).map(|text| match item.value(text, namespaces)? {
                    Value::Atomic(value) => Ok(value),
                    Value::List(_) => Err(not_lexical(Datatype::AnySimpleType, text)),
                });
                Ok(Value::List(values.collect::<Result<_, _>>()?))
            }
            Variety::Union(members) => members
                .iter()
                .find(|member| member.check(text, namespaces).is_ok())
                .ok_or_else(|| ValidityError::union(text))?
                .value(text, namespaces),
        }
    }

    /// The canonical form of a value of this type: that of all equal values. See
    /// [`AtomicValue::canonical`].
    pub fn canonical(&self, value: &Value) -> String {
        match value {
            Value::Atomic(value) => self.canonical_atomic(value),
            Value::List(items) => {
                let item = self.item();
                let forms: Vec<String> = items
                    .iter()
                    .map(|value| item.canonical_atomic(value))
                    .collect();
                forms.join(" ")
            }
        }
    }

    /// The item type, if its values, or those of a member, are lists.
    fn item(&self) -> &Self {
        match &self.variety {
            Variety::Atomic(_) => self,
            Variety::List(item) => item,
            Variety::Union(members) => members
                .iter()
                .find(|member| member.may_be_list())
                .map_or(self, |list| list.item()),
        }
    }

    fn canonical_atomic(&self, value: &AtomicValue) -> String {
        let as_integer = match &self.variety {
            Variety::Atomic(datatype) => datatype.is_derived_from(Datatype::Integer),
            // The member that has it may be an integer type; then the form of integers will do.
            _ => self
                .check(&value.canonical(Datatype::Decimal), &qname::NoNamespaces)
                .is_err(),
        };
        value.canonical(if as_integer {
            Datatype::Integer
        } else {
            Datatype::Decimal
        })
    }

    fn check_patterns(&self, text: &str) -> Result<(), ValidityError> {
        for step in &self.facets.patterns {
            if !step.iter().any(|pattern| pattern.is_match(text)) {
                let sources = joined(step.iter().map(Pattern::source), "|");
                return Err(ValidityError::facet(
                    FacetName::Pattern,
                    &sources,
                    None,
                    text,
                ));
            }
        }
        Ok(())
    }

    fn check_atomic_facets(
        &self,
        datatype: Datatype,
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<(), ValidityError> {
        // How long a name is depends on its prefix: every name is as long as these facets want.
        if !matches!(datatype, Datatype::QName | Datatype::Notation) {
            self.check_length(text, || length(datatype, text))?;
        }
        self.check_digits(text)?;
        self.check_bounds(datatype, text, namespaces)?;
        self.check_enumeration(text, namespaces)
    }

    fn check_length(&self, text: &str, count: impl FnOnce() -> u64) -> Result<(), ValidityError> {
        let Facets {
            length,
            min_length,
            max_length,
            ..
        } = self.facets;
        if length.is_none() && min_length.is_none() && max_length.is_none() {
            return Ok(());
        }
        let count = count();
        let broken = match (length, min_length, max_length) {
            (Some(limit), ..) if count != limit => (FacetName::Length, limit),
            (_, Some(limit), _) if count < limit => (FacetName::MinLength, limit),
            (.., Some(limit)) if count > limit => (FacetName::MaxLength, limit),
            _ => return Ok(()),
        };
        Err(ValidityError::facet(
            broken.0,
            &broken.1.to_string(),
            Some(count),
            text,
        ))
    }

    fn check_digits(&self, text: &str) -> Result<(), ValidityError> {
        let Facets {
            total_digits,
            fraction_digits,
            ..
        } = self.facets;
        if total_digits.is_none() && fraction_digits.is_none() {
            return Ok(());
        }
        let parts = Parts::parse(text).ok_or_else(|| not_lexical(Datatype::Decimal, text))?;
        let (total, fraction) = (parts.total_digits(), parts.fraction_digits());
        let (facet, limit, count) = match (total_digits, fraction_digits) {
            (Some(limit), _) if total > limit => (FacetName::TotalDigits, limit, total),
            (_, Some(limit)) if fraction > limit => (FacetName::FractionDigits, limit, fraction),
            _ => return Ok(()),
        };
        Err(ValidityError::facet(
            facet,
            &limit.to_string(),
            Some(count),
            text,
        ))
    }

    fn check_bounds(
        &self,
        datatype: Datatype,
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<(), ValidityError> {
        let Facets { min, max, .. } = &self.facets;
        if min.is_none() && max.is_none() {
            return Ok(());
        }
        let order = Comparable::new(datatype, text, namespaces)?;
        if let Some(min) = min
            .as_ref()
            .filter(|min| !min.allows(order.compare(min), Ordering::Greater))
        {
            let facet = if min.inclusive {
                FacetName::MinInclusive
            } else {
                FacetName::MinExclusive
            };
            return Err(ValidityError::facet(facet, &min.lexical, None, text));
        }
        if let Some(max) = max
            .as_ref()
            .filter(|max| !max.allows(order.compare(max), Ordering::Less))
        {
            let facet = if max.inclusive {
                FacetName::MaxInclusive
            } else {
                FacetName::MaxExclusive
            };
            return Err(ValidityError::facet(facet, &max.lexical, None, text));
        }
        Ok(())
    }

    fn check_enumeration(
        &self,
        text: &str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<(), ValidityError> {
        let Some(enumeration) = self.facets.enumeration() else {
            return Ok(());
        };
        let found = match (&enumeration.strings, self.datatype()) {
            (Some(strings), Some(_)) => strings.contains(text),
            _ => enumeration.values.contains(&self.value(text, namespaces)?),
        };
        if found {
            return Ok(());
        }
        let limit = joined(enumeration.lexical_forms(), ", ");
        Err(ValidityError::facet(
            FacetName::Enumeration,
            &limit,
            None,
            text,
        ))
    }
}

/// Without the base types, whose facets it has.
impl fmt::Debug for SimpleType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            variety,
            white_space,
            facets,
            ..
        } = self;
        f.debug_struct("SimpleType")
            .field("name", &name.as_ref().map(ToString::to_string))
            .field("variety", variety)
            .field("white_space", white_space)
            .field("facets", facets)
            .finish()
    }
}

/// As many of these as an error shows.
#[cold]
fn joined<'a>(texts: impl Iterator<Item = &'a str>, separator: &str) -> String {
    let mut all = String::new();
    for text in texts.take(20) {
        all.push_str(if all.is_empty() { "" } else { separator });
        all.push_str(text);
    }
    all
}

/// The lexical form alone; of a QName also the prefix.
fn check_form(
    datatype: Datatype,
    text: &str,
    namespaces: &dyn NamespaceContext,
) -> Result<(), ValidityError> {
    datatype.check(text)?;
    if matches!(datatype, Datatype::QName | Datatype::Notation)
        && let Some((prefix, _)) = qname::split(text)
        && !qname::is_bound(prefix, namespaces)
    {
        return Err(ValidityError::unbound_prefix(prefix));
    }
    Ok(())
}

/// The items of a list, white space collapsed.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|item| !item.is_empty())
}

impl Facets {
    /// Whether they surely admit a string, whose white space has been processed.
    #[inline]
    fn take_string(&self, text: &str) -> bool {
        self.has_length(text)
            && self.min.is_none()
            && self.max.is_none()
            && self.enumeration.as_ref().is_none_or(|enumeration| {
                let strings = enumeration.strings.as_ref();
                strings.is_some_and(|strings| strings.contains(text))
            })
            && self
                .patterns
                .iter()
                .all(|step| step.iter().any(|pattern| pattern.is_match(text)))
    }

    /// The length facets, without counting where the bytes say enough: a character takes one to four.
    #[inline]
    fn has_length(&self, text: &str) -> bool {
        let least = self.length.or(self.min_length).unwrap_or(0);
        let most = self.length.or(self.max_length).unwrap_or(u64::MAX);
        let bytes = text.len() as u64;
        if least <= bytes.div_ceil(4) && bytes <= most {
            return true;
        }
        let count = characters(text.as_bytes());
        let is_between = |least: Option<u64>, most: Option<u64>| {
            least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most)
        };
        is_between(self.length, self.length) && is_between(self.min_length, self.max_length)
    }

    /// Whether they surely admit a decimal of the plain kind: digits, a dot and digits, no more of them than a number holds.
    fn take_decimal(&self, text: &[u8]) -> bool {
        let dot = text.iter().position(|&byte| byte == b'.');
        let (whole, fraction) = text.split_at(dot.unwrap_or(text.len()));
        let fraction = fraction.get(1..).unwrap_or_default();
        let digits = (whole.len() + fraction.len()) as u64;
        let are_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
        let is_plain =
            !whole.is_empty() && digits <= 18 && are_digits(whole) && are_digits(fraction);
        if !is_plain || self.enumeration.is_some() || !self.patterns.is_empty() {
            return false;
        }
        // Zeros at the ends count here, too.
        let has_digits = self.total_digits.is_none_or(|most| digits <= most)
            && (self.fraction_digits).is_none_or(|most| fraction.len() as u64 <= most);
        let is_over = self.min.as_ref().is_none_or(|min| {
            let is_some = |byte| matches!(byte, b'1'..=b'9');
            let is_negative = min.lexical.starts_with('-') && min.lexical.bytes().any(is_some);
            is_negative || min.inclusive && min.lexical.bytes().all(|byte| byte == b'0')
        });
        has_digits && is_over && self.max.is_none()
    }
}

/// Whether processing leaves a text as it is.
#[inline]
fn is_processed(white_space: WhiteSpace, text: &str) -> bool {
    match white_space {
        WhiteSpace::Preserve => true,
        WhiteSpace::Replace => is_replaced_text(text),
        WhiteSpace::Collapse => is_collapsed_text(text),
    }
}

/// How many characters a text has: the number of bytes that do not continue one.
#[inline]
fn characters(text: &[u8]) -> u64 {
    let goes_on = |byte: &&u8| **byte & 0xc0 == 0x80;
    (text.len() - text.iter().filter(goes_on).count()) as u64
}

/// What the length facets count: octets of binary types, characters of all others.
fn length(datatype: Datatype, text: &str) -> u64 {
    let length = match datatype {
        Datatype::HexBinary => text.len() / 2,
        Datatype::Base64Binary => binary::base64_length(text.as_bytes()).unwrap_or(0),
        _ => return characters(text.as_bytes()),
    };
    length as u64
}

impl Bound {
    /// Is a value in the range that compares so with the bound? Values in no order with it are
    /// not, as XSD 1.0 Part 2 §4.3.7 demands.
    fn allows(&self, found: Option<Ordering>, inside: Ordering) -> bool {
        found == Some(inside) || self.inclusive && found == Some(Ordering::Equal)
    }
}

/// A text made ready to be compared with bounds; decimals without allocation.
enum Comparable<'a> {
    Decimal(Parts<'a>),
    Other(AtomicValue),
}

impl<'a> Comparable<'a> {
    fn new(
        datatype: Datatype,
        text: &'a str,
        namespaces: &dyn NamespaceContext,
    ) -> Result<Self, ValidityError> {
        if datatype.primitive() == Datatype::Decimal {
            let parts = Parts::parse(text).ok_or_else(|| not_lexical(datatype, text))?;
            return Ok(Self::Decimal(parts));
        }
        Ok(Self::Other(AtomicValue::parse(datatype, text, namespaces)?))
    }

    fn compare(&self, bound: &Bound) -> Option<Ordering> {
        match (self, &bound.value) {
            (Self::Decimal(left), AtomicValue::Decimal(right)) => left.partial_cmp(&right.parts()),
            (Self::Decimal(_), _) => None,
            (Self::Other(left), right) => left.partial_cmp(right),
        }
    }
}
