//! Derivation by restriction: which facets may be stated, with what values, and how they go
//! together with each other and with those of the base type (XSD 1.0 Part 2 §4.3).

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::bounded;
use crate::facet::{Bound, Enumeration, Facets};
use crate::qname::NamespaceContext;
use crate::simple_type::Variety;
use crate::validity::FacetErrorKind as Kind;
use crate::white_space::trim;
use crate::{
    AtomicValue, Datatype, Facet, FacetError, FacetName, Pattern, SimpleType, ValidityError,
    WhiteSpace,
};

impl SimpleType {
    /// The type derived from `base` by these facets. The namespaces are those in scope in the
    /// schema, for enumerated QNames.
    ///
    /// ```
    /// use bsoap_datatypes::qname::NoNamespaces;
    /// use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
    ///
    /// let byte = SimpleType::builtin(Datatype::Byte);
    /// let facet = Facet::new(FacetName::MaxInclusive, "1000");
    /// let error = SimpleType::restrict(&byte, &[facet], &NoNamespaces).unwrap_err();
    /// assert_eq!(error.to_string(), "the value of maxInclusive is not a value of the base type");
    /// ```
    pub fn restrict(
        base: &Arc<Self>,
        facets: &[Facet<'_>],
        namespaces: &dyn NamespaceContext,
    ) -> Result<Arc<Self>, FacetError> {
        let mut step = RestrictionStep {
            base,
            namespaces,
            stated: Vec::new(),
            derived: Self::step(base)?,
        };
        facets.iter().try_for_each(|facet| step.state(facet))?;
        step.add_patterns(facets)?;
        step.add_enumeration(facets)?;
        step.check_lengths()?;
        step.check_digits()?;
        step.check_bounds()?;
        Ok(Arc::new(step.derived))
    }
}

/// A restriction in the making.
struct RestrictionStep<'a> {
    base: &'a Arc<SimpleType>,
    namespaces: &'a dyn NamespaceContext,
    /// The facets of this step so far.
    stated: Vec<FacetName>,
    /// Has the facets of the base type, as far as this step does not state its own.
    derived: SimpleType,
}

impl RestrictionStep<'_> {
    fn facets(&mut self) -> &mut Facets {
        &mut self.derived.facets
    }

    fn states(&self, facet: FacetName) -> bool {
        self.stated.contains(&facet)
    }

    /// Takes one facet of the schema; patterns and enumerations are only noted.
    fn state(&mut self, facet: &Facet<'_>) -> Result<(), FacetError> {
        use FacetName as F;
        check_applies(self.base.variety(), facet.name)?;
        let repeats = matches!(facet.name, F::Pattern | F::Enumeration);
        if self.states(facet.name) {
            return if repeats {
                Ok(())
            } else {
                Err(Kind::Duplicate(facet.name).into())
            };
        }
        self.stated.push(facet.name);
        match facet.name {
            F::Pattern | F::Enumeration => {}
            F::Length => self.facets().length = Some(count(facet, 0)?),
            F::MinLength => self.facets().min_length = Some(count(facet, 0)?),
            F::MaxLength => self.facets().max_length = Some(count(facet, 0)?),
            F::TotalDigits => self.facets().total_digits = Some(count(facet, 1)?),
            F::FractionDigits => self.facets().fraction_digits = Some(count(facet, 0)?),
            F::WhiteSpace => self.state_white_space(facet)?,
            F::MinInclusive | F::MinExclusive => self.facets().min = Some(self.bound(facet)?),
            F::MaxInclusive | F::MaxExclusive => self.facets().max = Some(self.bound(facet)?),
        }
        self.check_fixed(facet.name)?;
        if facet.fixed {
            self.facets().fixed.insert(facet.name);
        }
        Ok(())
    }

    /// A facet that a base type has fixed may only be stated again with its value.
    fn check_fixed(&self, facet: FacetName) -> Result<(), FacetError> {
        use FacetName as F;
        let (base, derived) = (&self.base.facets, &self.derived.facets);
        let same_bound = |left: &Option<Bound>, right: &Option<Bound>| match (left, right) {
            (Some(left), Some(right)) => {
                left.value == right.value && left.inclusive == right.inclusive
            }
            _ => false,
        };
        let same = match facet {
            F::Length => base.length == derived.length,
            F::MinLength => base.min_length == derived.min_length,
            F::MaxLength => base.max_length == derived.max_length,
            F::TotalDigits => base.total_digits == derived.total_digits,
            F::FractionDigits => base.fraction_digits == derived.fraction_digits,
            F::WhiteSpace => self.base.white_space == self.derived.white_space,
            F::MinInclusive | F::MinExclusive => same_bound(&base.min, &derived.min),
            F::MaxInclusive | F::MaxExclusive => same_bound(&base.max, &derived.max),
            F::Pattern | F::Enumeration => true,
        };
        // The two ends of a range mirror each other.
        let group = match facet {
            F::MinInclusive | F::MinExclusive => [F::MinInclusive, F::MinExclusive],
            F::MaxInclusive | F::MaxExclusive => [F::MaxInclusive, F::MaxExclusive],
            _ => [facet, facet],
        };
        match group.into_iter().find(|facet| base.fixed.contains(*facet)) {
            Some(fixed) if !same => Err(Kind::Fixed(fixed).into()),
            _ => Ok(()),
        }
    }

    fn state_white_space(&mut self, facet: &Facet<'_>) -> Result<(), FacetError> {
        let white_space = WhiteSpace::from_name(trim(facet.value))
            .ok_or_else(|| wrong_value(facet, "preserve, replace or collapse"))?;
        if white_space < self.base.white_space {
            return Err(looser_than(facet.name, facet.name));
        }
        self.derived.white_space = white_space;
        Ok(())
    }

    /// The value of a bound is one of the built-in type underneath. (It need not satisfy the
    /// facets of the base type: `minExclusive` may repeat that of the base, whose value is not in
    /// its own range.)
    fn bound(&self, facet: &Facet<'_>) -> Result<Bound, FacetError> {
        let datatype = self.base.datatype().unwrap_or(Datatype::AnySimpleType);
        let lexical = self.base.white_space.apply(facet.value);
        let value = AtomicValue::parse(datatype, &lexical, self.namespaces)
            .map_err(|error| not_in_base(facet.name, error.into()))?;
        let inclusive = matches!(
            facet.name,
            FacetName::MinInclusive | FacetName::MaxInclusive
        );
        Ok(Bound {
            value,
            lexical: lexical.into(),
            inclusive,
        })
    }

    /// The patterns of one step are alternatives.
    fn add_patterns(&mut self, facets: &[Facet<'_>]) -> Result<(), FacetError> {
        let stated = facets
            .iter()
            .filter(|facet| facet.name == FacetName::Pattern);
        let patterns: Result<Vec<_>, _> = stated.map(|facet| Pattern::parse(facet.value)).collect();
        let patterns = patterns.map_err(Kind::Pattern)?;
        if !patterns.is_empty() {
            self.facets().patterns.push(patterns.into());
        }
        Ok(())
    }

    /// Enumerated values must be valid for the base type; they replace those it lists.
    fn add_enumeration(&mut self, facets: &[Facet<'_>]) -> Result<(), FacetError> {
        if !self.states(FacetName::Enumeration) {
            return Ok(());
        }
        let mut members = Vec::new();
        for facet in facets
            .iter()
            .filter(|facet| facet.name == FacetName::Enumeration)
        {
            let value = self.base.validate(facet.value, self.namespaces);
            let value = value.map_err(|error| not_in_base(facet.name, error))?;
            members.push((self.base.white_space.apply(facet.value).into(), value));
        }
        self.facets().enumeration = Some(Arc::new(Enumeration::new(members)));
        Ok(())
    }

    fn check_lengths(&self) -> Result<(), FacetError> {
        use FacetName as F;
        let (base, derived) = (&self.base.facets, &self.derived.facets);
        let changes_length = base.length.is_some() && derived.length != base.length;
        for (facet, is_looser) in [
            (F::Length, changes_length),
            (F::MinLength, greater(base.min_length, derived.min_length)),
            (F::MaxLength, greater(derived.max_length, base.max_length)),
        ] {
            if is_looser {
                return Err(looser_than(facet, facet));
            }
        }
        // §4.3.1.4: length is allowed beside another only if that is inherited.
        for (facet, own, inherited) in [
            (F::MinLength, derived.min_length, base.min_length),
            (F::MaxLength, derived.max_length, base.max_length),
        ] {
            let is_inherited = inherited.is_some() && inherited == own;
            if derived.length.is_some() && self.states(facet) && !is_inherited {
                return Err(conflict(F::Length, facet));
            }
        }
        for (least, most, facet, with) in [
            (
                derived.min_length,
                derived.max_length,
                F::MinLength,
                F::MaxLength,
            ),
            (derived.min_length, derived.length, F::MinLength, F::Length),
            (derived.length, derived.max_length, F::Length, F::MaxLength),
        ] {
            if greater(least, most) {
                return Err(conflict(facet, with));
            }
        }
        Ok(())
    }

    fn check_digits(&self) -> Result<(), FacetError> {
        use FacetName as F;
        let (base, derived) = (&self.base.facets, &self.derived.facets);
        if greater(derived.total_digits, base.total_digits) {
            return Err(looser_than(F::TotalDigits, F::TotalDigits));
        }
        // The integer types have fractionDigits fixed at 0.
        let datatype = self.base.datatype();
        let base_digits = match datatype.is_some_and(|one| one.is_derived_from(Datatype::Integer)) {
            true => Some(0),
            false => base.fraction_digits,
        };
        if greater(derived.fraction_digits, base_digits) {
            return Err(looser_than(F::FractionDigits, F::FractionDigits));
        }
        if greater(derived.fraction_digits, derived.total_digits) {
            return Err(conflict(F::FractionDigits, F::TotalDigits));
        }
        Ok(())
    }

    fn check_bounds(&self) -> Result<(), FacetError> {
        use FacetName as F;
        for (facet, with) in [
            (F::MinInclusive, F::MinExclusive),
            (F::MaxInclusive, F::MaxExclusive),
        ] {
            if self.states(facet) && self.states(with) {
                return Err(conflict(facet, with));
            }
        }
        let (base, derived) = (&self.base.facets, &self.derived.facets);
        if let (Some(min), Some(max)) = (&derived.min, &derived.max)
            && leaves_no_value(min, max)
        {
            return Err(conflict(
                bound_name(min, Ordering::Less),
                bound_name(max, Ordering::Greater),
            ));
        }
        for (own, base, outside) in [
            (&derived.min, &base.min, Ordering::Less),
            (&derived.max, &base.max, Ordering::Greater),
        ] {
            let name = |bound: &Bound| bound_name(bound, outside);
            if let (Some(own), Some(base)) = (own, base)
                && self.states(name(own))
                && is_looser(own, base, outside)
            {
                return Err(looser_than(name(base), name(own)));
            }
        }
        Ok(())
    }
}

/// Is there a left one that is greater than a right one there is?
fn greater(left: Option<u64>, right: Option<u64>) -> bool {
    matches!((left, right), (Some(left), Some(right)) if left > right)
}

/// The facet that states a bound, `outside` being the way to leave the range.
fn bound_name(bound: &Bound, outside: Ordering) -> FacetName {
    match (outside, bound.inclusive) {
        (Ordering::Less, true) => FacetName::MinInclusive,
        (Ordering::Less, false) => FacetName::MinExclusive,
        (_, true) => FacetName::MaxInclusive,
        (_, false) => FacetName::MaxExclusive,
    }
}

fn looser_than(base: FacetName, facet: FacetName) -> FacetError {
    Kind::LooserThanBase { facet, base }.into()
}

fn conflict(facet: FacetName, with: FacetName) -> FacetError {
    Kind::Conflict { facet, with }.into()
}

/// §4.3.7–4.3.10: min may equal max if both are inclusive or both exclusive.
fn leaves_no_value(min: &Bound, max: &Bound) -> bool {
    match min.value.partial_cmp(&max.value) {
        Some(Ordering::Greater) => true,
        Some(Ordering::Equal) => min.inclusive != max.inclusive,
        _ => false,
    }
}

/// Is the derived bound outside of that of the base, `outside` being the way to leave the range?
fn is_looser(derived: &Bound, base: &Bound, outside: Ordering) -> bool {
    match derived.value.partial_cmp(&base.value) {
        Some(Ordering::Equal) => derived.inclusive && !base.inclusive,
        order => order == Some(outside),
    }
}

fn count(facet: &Facet<'_>, least: u64) -> Result<u64, FacetError> {
    let (expected, datatype) = match least {
        0 => ("a number of 0 or more", Datatype::NonNegativeInteger),
        _ => ("a number of 1 or more", Datatype::PositiveInteger),
    };
    let lexical = trim(facet.value);
    datatype
        .check(lexical)
        .map_err(|_| wrong_value(facet, expected))?;
    // Nothing is longer than what we can count.
    Ok(crate::integer::parse_prefix_u64(lexical.as_bytes()).map_or(u64::MAX, |(value, _)| value))
}

fn wrong_value(facet: &Facet<'_>, expected: &'static str) -> FacetError {
    Kind::Value {
        facet: facet.name,
        found: bounded(facet.value),
        expected,
    }
    .into()
}

fn not_in_base(facet: FacetName, source: ValidityError) -> FacetError {
    Kind::NotInBase { facet, source }.into()
}

/// The table of §4.1.5: which facets apply to which types.
fn check_applies(variety: &Variety, facet: FacetName) -> Result<(), FacetError> {
    use Datatype as D;
    use FacetName as F;
    let is_length = matches!(facet, F::Length | F::MinLength | F::MaxLength);
    let is_bound = matches!(
        facet,
        F::MinInclusive | F::MinExclusive | F::MaxInclusive | F::MaxExclusive
    );
    let is_common = matches!(facet, F::Pattern | F::Enumeration | F::WhiteSpace);
    let (applies, of) = match variety {
        Variety::List(_) => (is_length || is_common, "list"),
        Variety::Union(_) => (matches!(facet, F::Pattern | F::Enumeration), "union"),
        Variety::Atomic(datatype) => {
            let primitive = datatype.primitive();
            let applies = match primitive {
                D::AnySimpleType => false,
                D::Boolean => matches!(facet, F::Pattern | F::WhiteSpace),
                D::Decimal => {
                    is_common || is_bound || matches!(facet, F::TotalDigits | F::FractionDigits)
                }
                D::String | D::HexBinary | D::Base64Binary | D::AnyUri | D::QName | D::Notation => {
                    is_common || is_length
                }
                _ => is_common || is_bound,
            };
            (applies, primitive.name())
        }
    };
    if applies {
        Ok(())
    } else {
        Err(Kind::NotApplicable { facet, of }.into())
    }
}
