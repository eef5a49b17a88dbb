//! The bounds of numbers, prepared for comparing slots. Most facets of numbers are bounds, so a validating decoder is as
//! fast as another.

use bsoap_datatypes::{AtomicValue, Bound, SimpleType, integer};

use super::LeafKind;

/// The range of the numbers of a type that has no facets but bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bounds {
    /// Integers: the leaf kind that has exactly this range.
    Integer(LeafKind),
    /// Floats and doubles: the range, without NaN.
    Real(Range),
}

/// A range of floats and doubles, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    least: f64,
    most: f64,
    is_double: bool,
}

impl Range {
    /// Whether the number in a slot is in the range.
    #[inline(always)]
    pub(crate) fn has(&self, slot: u64) -> bool {
        let value = match self.is_double {
            true => f64::from_bits(slot),
            false => f64::from(f32::from_bits(slot as u32)),
        };
        (self.least <= value) & (value <= self.most)
    }

    /// Whether the numbers in all slots are in the range.
    pub(crate) fn has_all(&self, slots: &[u64]) -> bool {
        let (least, most) = (self.least, self.most);
        match self.is_double {
            // Without a branch for each number, many are compared at once.
            true => slots.iter().fold(true, |all, &slot| {
                let value = f64::from_bits(slot);
                all & (least <= value) & (value <= most)
            }),
            false => slots.iter().all(|&slot| self.has(slot)),
        }
    }
}

impl Bounds {
    /// The bounds of a simple type of this kind; `None` if it has other facets or no bounds.
    pub(super) fn of(kind: LeafKind, simple: &SimpleType) -> Option<Self> {
        let facets = simple.facets();
        let (min, max) = (facets.min(), facets.max());
        let others = facets.length().is_some()
            || facets.min_length().is_some()
            || facets.max_length().is_some()
            || facets.total_digits().is_some()
            || facets.fraction_digits().is_some()
            || facets.enumeration().is_some()
            || facets.patterns().next().is_some();
        if others || (min.is_none() && max.is_none()) {
            return None;
        }
        match kind {
            LeafKind::Signed {
                min: low,
                max: high,
            } => {
                let least = min.map_or(Some(low), |bound| integer_in(bound, 1))?;
                let most = max.map_or(Some(high), |bound| integer_in(bound, -1))?;
                Some(Self::Integer(LeafKind::Signed {
                    min: least.max(low),
                    max: most.min(high),
                }))
            }
            // There is no leaf kind for unsigned numbers with a least value other than 0.
            LeafKind::Unsigned { max: high } => {
                let is_any =
                    |bound: &Bound| bound.is_inclusive() && integer_in(bound, 0) == Some(0);
                if !min.is_none_or(is_any) {
                    return None;
                }
                let most = max.map_or(Some(high), unsigned_in)?;
                Some(Self::Integer(LeafKind::Unsigned {
                    max: most.min(high),
                }))
            }
            LeafKind::Double | LeafKind::Float => Some(Self::Real(Range {
                least: min.map_or(Some(f64::NEG_INFINITY), |bound| real_in(bound, true))?,
                most: max.map_or(Some(f64::INFINITY), |bound| real_in(bound, false))?,
                is_double: kind == LeafKind::Double,
            })),
            _ => None,
        }
    }
}

/// The last integer inside a bound; `inwards` is the step from the bound to it if the bound is exclusive.
fn integer_in(bound: &Bound, inwards: i64) -> Option<i64> {
    let text = bound.lexical().as_bytes();
    let (value, length) = integer::parse_prefix_i64(text)?;
    let step = if bound.is_inclusive() { 0 } else { inwards };
    (length == text.len())
        .then(|| value.checked_add(step))
        .flatten()
}

fn unsigned_in(bound: &Bound) -> Option<u64> {
    let text = bound.lexical().as_bytes();
    let (value, length) = integer::parse_prefix_u64(text)?;
    let step = u64::from(!bound.is_inclusive());
    (length == text.len())
        .then(|| value.checked_sub(step))
        .flatten()
}

/// The last float or double inside a bound.
fn real_in(bound: &Bound, is_least: bool) -> Option<f64> {
    match (bound.value(), bound.is_inclusive(), is_least) {
        (AtomicValue::Double(value), ..) if value.is_nan() => None,
        (AtomicValue::Float(value), ..) if value.is_nan() => None,
        (AtomicValue::Double(value), true, _) => Some(*value),
        (AtomicValue::Float(value), true, _) => Some(f64::from(*value)),
        (AtomicValue::Double(value), ..) if value.is_infinite() => None,
        (AtomicValue::Float(value), ..) if value.is_infinite() => None,
        (AtomicValue::Double(value), _, true) => Some(value.next_up()),
        (AtomicValue::Double(value), _, false) => Some(value.next_down()),
        (AtomicValue::Float(value), _, true) => Some(f64::from(value.next_up())),
        (AtomicValue::Float(value), _, false) => Some(f64::from(value.next_down())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bsoap_datatypes::qname::NoNamespaces;
    use bsoap_datatypes::{Datatype, Facet, FacetName};

    use super::*;

    fn bounds(datatype: Datatype, kind: LeafKind, facets: &[(FacetName, &str)]) -> Option<Bounds> {
        let facets: Vec<_> = facets
            .iter()
            .map(|&(name, value)| Facet::new(name, value))
            .collect();
        let base = SimpleType::builtin(datatype);
        let simple = SimpleType::restrict(&base, &facets, &NoNamespaces).expect("a type");
        Bounds::of(kind, &simple)
    }

    const INT: LeafKind = LeafKind::Signed {
        min: i32::MIN as i64,
        max: i32::MAX as i64,
    };

    #[test]
    fn bounds_of_integers_are_those_of_their_kind() {
        use FacetName as F;
        let found = bounds(
            Datatype::Int,
            INT,
            &[(F::MinExclusive, "-5"), (F::MaxInclusive, "+7")],
        );
        let kind = LeafKind::Signed { min: -4, max: 7 };
        assert_eq!(found, Some(Bounds::Integer(kind)));
        let found = bounds(
            Datatype::Int,
            INT,
            &[(F::TotalDigits, "3"), (F::MaxInclusive, "7")],
        );
        assert_eq!(found, None);
        let byte = LeafKind::Unsigned { max: 255 };
        let found = bounds(Datatype::UnsignedByte, byte, &[(F::MaxExclusive, "100")]);
        assert_eq!(found, Some(Bounds::Integer(LeafKind::Unsigned { max: 99 })));
        let found = bounds(Datatype::UnsignedByte, byte, &[(F::MinInclusive, "1")]);
        assert_eq!(found, None);
    }

    #[test]
    fn bounds_of_doubles_hold_what_the_type_holds() {
        use FacetName as F;
        let facets = [(F::MinExclusive, "0"), (F::MaxInclusive, "1")];
        let Some(Bounds::Real(range)) = bounds(Datatype::Double, LeafKind::Double, &facets) else {
            panic!("a range");
        };
        let has = |value: f64| range.has(value.to_bits());
        assert!(!has(0.0) && !has(-0.0) && has(5e-324) && has(1.0));
        assert!(!has(1.0_f64.next_up()) && !has(f64::NAN) && !has(f64::INFINITY));
        assert!(range.has_all(&[1.0_f64.to_bits(), 0.5_f64.to_bits()]));
        assert!(!range.has_all(&[1.0_f64.to_bits(), f64::NAN.to_bits()]));
    }
}
