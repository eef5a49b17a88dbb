//! Checks the derivations of complex types. (§3.4.6)

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};

use crate::ExpandedName;
use crate::components::{
    ComplexContent, ComplexDefinition, Derivation, DerivationSet, TypeKind, TypeNumber, TypeUse,
};
use crate::document::Position;

use super::super::resolve::TypeKey;
use super::model::{Content, ModelTerm, Particle};
use super::{Checker, place_of_use};

impl Checker<'_> {
    pub(super) fn check_complex(&mut self, number: TypeNumber, complex: &ComplexDefinition) {
        if self.circular.contains(&number) {
            return;
        }
        let place = self.set.type_definition(number).place;
        self.check_type_attributes(number);
        match &complex.content {
            ComplexContent::Simple {
                base,
                derivation,
                simple,
                ..
            } => {
                let Some(key) = self.used(base) else { return };
                self.check_final(key, *derivation, base);
                if !self.is_simple_base(key, *derivation, simple.is_some()) {
                    let problem = format!(
                        "{} cannot be the base of this simpleContent",
                        self.set.type_name(key)
                    );
                    return self.broken("src-ct.2", problem, place_of_use(self.set, base));
                }
                let made = self.simple.simple(self.set, TypeKey::Defined(number));
                self.noted(made);
            }
            ComplexContent::Complex {
                base, derivation, ..
            } => {
                if let Some(base) = base {
                    let Some(key) = self.used(base) else { return };
                    self.check_final(key, *derivation, base);
                    if self.set.is_simple(key) {
                        let problem = format!("{} is not a complex type", self.set.type_name(key));
                        return self.broken("src-ct.1", problem, place_of_use(self.set, base));
                    }
                    self.check_derived_content(number, key, *derivation, place);
                } else {
                    self.content(number);
                }
                if let Some(content) = self.content(number) {
                    self.check_consistent(&content, place);
                    if let Content::Elements {
                        particle: Some(particle),
                        ..
                    } = &*content
                    {
                        self.check_determinism(particle, place);
                    }
                }
            }
        }
    }

    fn check_final(&mut self, base: TypeKey, derivation: Derivation, base_use: &TypeUse) {
        if self
            .set
            .definition(base)
            .is_some_and(|definition| definition.is_final.meets(DerivationSet::from(derivation)))
        {
            let problem = format!(
                "{} is final: it forbids this derivation",
                self.set.type_name(base)
            );
            self.broken(
                "cos-ct-extends.1.1",
                problem,
                place_of_use(self.set, base_use),
            );
        }
    }

    /// Whether simple content can be derived from this base type. (src-ct.2)
    fn is_simple_base(
        &mut self,
        base: TypeKey,
        derivation: Derivation,
        has_own_type: bool,
    ) -> bool {
        let Some(number) = base.number().filter(|_| !self.set.is_simple(base)) else {
            return self.set.is_simple(base) && derivation == Derivation::Extension;
        };
        match self.content(number).as_deref() {
            Some(Content::Simple) => true,
            Some(Content::Elements {
                particle,
                mixed: true,
            }) => {
                derivation == Derivation::Restriction
                    && has_own_type
                    && particle.as_ref().is_none_or(Particle::is_emptiable)
            }
            Some(_) => false,
            None => true,
        }
    }

    fn check_derived_content(
        &mut self,
        number: TypeNumber,
        base: TypeKey,
        derivation: Derivation,
        place: Position,
    ) {
        let (Some(content), Some(base_content)) = (self.content(number), self.content_of(base))
        else {
            return;
        };
        match derivation {
            Derivation::Extension => {
                let mixed = |content: &Content| match content {
                    Content::Elements { mixed, .. } => Some(*mixed),
                    Content::Any => Some(true),
                    Content::Simple => None,
                };
                let declared = matches!(&self.set.type_definition(number).kind, TypeKind::Complex(complex) if complex.mixed);
                let adds = !matches!(
                    &self.set.type_definition(number).kind,
                    TypeKind::Complex(ComplexDefinition {
                        content: ComplexContent::Complex { particle: None, .. },
                        ..
                    })
                );
                if matches!(*base_content, Content::Simple) {
                    if adds {
                        self.broken(
                            "cos-ct-extends.1.4",
                            "the base type has simple content, so an extension cannot add elements",
                            place,
                        );
                    }
                } else if !base_content.is_empty()
                    && base != TypeKey::AnyType
                    && mixed(&base_content) != Some(declared)
                    && (adds || declared)
                {
                    self.broken(
                        "cos-ct-extends.1.4.2.2.2",
                        "an extension must be mixed exactly if its base type is mixed",
                        place,
                    );
                }
            }
            Derivation::Restriction => {
                self.check_restricted_content(&content, &base_content, place);
            }
        }
    }

    fn check_restricted_content(&mut self, content: &Content, base: &Content, place: Position) {
        let (particle, mixed) = match content {
            Content::Elements { particle, mixed } => (particle, *mixed),
            _ => return,
        };
        let problem = match base {
            Content::Any => return,
            Content::Simple if content.is_empty() || particle.is_none() => return,
            Content::Simple => {
                "the base type has simple content, so a restriction cannot have elements"
            }
            Content::Elements { mixed: false, .. } if mixed => {
                "the base type is not mixed, so a restriction cannot be mixed"
            }
            Content::Elements { particle: base, .. } => match (particle, base) {
                (None, None) => return,
                (None, Some(base)) if base.is_emptiable() => return,
                (None, Some(_)) => {
                    "the base type requires elements, so a restriction cannot have empty content"
                }
                (Some(_), None) => {
                    "the base type allows no elements, so a restriction cannot have elements"
                }
                (Some(particle), Some(base)) if self.restricts(particle, base) => return,
                _ => {
                    "the content model is not a valid restriction of the base type's content model"
                }
            },
        };
        self.broken("derivation-ok-restriction.5", problem, place);
    }

    fn content_of(&mut self, key: TypeKey) -> Option<Arc<Content>> {
        match key {
            TypeKey::Defined(number) => self.content(number),
            TypeKey::AnyType => Some(Arc::new(Content::Any)),
            TypeKey::BuiltIn(_) => None,
        }
    }

    /// Elements with the same name in a content model must have the same type. (cos-element-consistent)
    fn check_consistent(&mut self, content: &Content, place: Position) {
        let set = self.set;
        let Content::Elements {
            particle: Some(particle),
            ..
        } = content
        else {
            return;
        };
        let mut types: HashMap<&ExpandedName, TypeKey> = HashMap::new();
        for leaf in particle.leaves() {
            let ModelTerm::Element(number) = &leaf.term else {
                continue;
            };
            let element = set.element_declaration(*number);
            let Ok(key) = set.type_of(element) else {
                continue;
            };
            if *types.entry(&element.name).or_insert(key) != key {
                let problem = format!(
                    "two elements {} of the content model have different types",
                    element.name
                );
                return self.broken("cos-element-consistent", problem, place);
            }
        }
    }
}
