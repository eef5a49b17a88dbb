//! Checks the base, item and member types of simple types. (§3.14.6)

use bsoap_datatypes::{Datatype, SimpleType, Variety};

use crate::Sort;
use crate::components::{DerivationSet, FacetDefinition, SimpleDefinition, TypeNumber, TypeUse};
use crate::document::Position;

use super::super::resolve::TypeKey;
use super::{Checker, place_of_use};

impl Checker<'_> {
    pub(super) fn check_simple(&mut self, number: TypeNumber, definition: &SimpleDefinition) {
        if self.circular.contains(&number) {
            return;
        }
        match definition {
            SimpleDefinition::Restriction { base, facets } => {
                self.check_base(base, DerivationSet::RESTRICTION, "st-props-correct.3");
                if let Ok(TypeKey::BuiltIn(Datatype::AnySimpleType)) = self.set.resolve_use(base) {
                    self.broken(
                        "cos-st-restricts.1.1",
                        "xs:anySimpleType cannot be restricted",
                        place_of_use(self.set, base),
                    );
                }
                self.check_notations(number, facets);
            }
            SimpleDefinition::List(item) => {
                self.check_base(item, DerivationSet::LIST, "cos-st-restricts.2.3.1.1");
            }
            SimpleDefinition::Union(members) => {
                for member in members {
                    self.check_base(member, DerivationSet::UNION, "cos-st-restricts.3.3.1.1");
                }
            }
        }
        let made = self.simple.simple(self.set, TypeKey::Defined(number));
        self.noted(made);
    }

    /// Checks that a base, item or member type does not forbid this use by `final`.
    fn check_base(&mut self, ty: &TypeUse, derivation: DerivationSet, rule: &'static str) {
        let place = place_of_use(self.set, ty);
        // Building the datatype reports a type that is undefined or not simple.
        let Ok(key) = self.set.resolve_use(ty) else {
            return;
        };
        if self
            .set
            .definition(key)
            .is_some_and(|definition| definition.is_final.meets(derivation))
        {
            let problem = format!(
                "{} is final: it forbids this derivation",
                self.set.type_name(key)
            );
            self.broken(rule, problem, place);
        }
    }

    /// The enumerated values of a NOTATION must be declared notations. (§3.14.4, enumeration-valid)
    fn check_notations(&mut self, number: TypeNumber, facets: &[FacetDefinition]) {
        let is_notation = self
            .simple
            .simple(self.set, TypeKey::Defined(number))
            .is_ok_and(|simple| is_notation(&simple));
        if !is_notation {
            return;
        }
        for facet in facets.iter().filter(|facet| &*facet.name == "enumeration") {
            let known = facet
                .expanded
                .as_ref()
                .is_some_and(|name| self.set.notations.contains_key(name));
            if !known {
                let name = facet
                    .expanded
                    .clone()
                    .unwrap_or_else(|| crate::ExpandedName::new("", &*facet.value));
                let reference = crate::components::Reference {
                    name,
                    place: facet.place,
                };
                let error = self.set.undefined(Sort::Notation, &reference);
                self.errors.push(error);
            }
        }
    }

    /// NOTATION itself must not be used, only types derived from it by enumeration. (enumeration-required-notation)
    pub(super) fn check_no_bare_notation(&mut self, key: TypeKey, place: Position) {
        if !self.set.is_simple(key) {
            return;
        }
        let Ok(simple) = self.simple.simple(self.set, key) else {
            return;
        };
        if is_notation(&simple) && simple.facets().enumeration().is_none() {
            self.broken(
                "enumeration-required-notation",
                "a type derived from xs:NOTATION must list the notations it allows",
                place,
            );
        }
    }
}

fn is_notation(simple: &SimpleType) -> bool {
    matches!(simple.variety(), Variety::Atomic(Datatype::Notation))
}

/// Whether the type is xs:ID or derived from it.
pub(super) fn is_id(simple: &SimpleType) -> bool {
    matches!(simple.variety(), Variety::Atomic(Datatype::Id))
}
