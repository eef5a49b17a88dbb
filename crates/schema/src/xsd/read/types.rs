//! Reads simple and complex type definitions.

use bsoap_datatypes::qname;
use foldhash::HashSet;
use roxmltree::Node;

use crate::components::{
    ComplexContent, ComplexDefinition, DeclaredValue, Derivation, DerivationSet, FacetDefinition,
    ParticleDeclaration, SimpleDefinition, TermDeclaration, TypeDefinition, TypeKind, TypeUse,
};
use crate::document::{Position, place_of, place_of_value};
use crate::name::{XSD_NAMESPACE, declared_namespace, declared_namespaces, draft_of, is_ncname};
use crate::names::work_of_lookup;
use crate::work::STEPS_PER_UNIT;
use crate::{ExpandedName, Result};

use super::{EXTENSION_RESTRICTION, SchemaReader, children, documentation, elements, media_types};

const SIMPLE_FINALS: DerivationSet = DerivationSet::RESTRICTION
    .with(DerivationSet::LIST)
    .with(DerivationSet::UNION)
    .with(DerivationSet::EXTENSION);

impl SchemaReader<'_, '_> {
    pub(super) fn simple_type(&mut self, node: Node<'_, '_>) -> Result<TypeDefinition> {
        let kind = self.deeper(node, |reader| reader.simple_definition(node))?;
        Ok(TypeDefinition {
            name: None,
            place: place_of(self.document, node),
            documentation: documentation(node),
            media_types: media_types(node),
            kind: TypeKind::Simple(kind),
            is_final: self.derivation_set(node, "final", &self.final_default, SIMPLE_FINALS),
        })
    }

    fn simple_definition(&mut self, node: Node<'_, '_>) -> Result<SimpleDefinition> {
        let derivation = elements(node)
            .find(|child| matches!(child.tag_name().name(), "restriction" | "list" | "union"));
        let Some(derivation) = derivation else {
            // In drafts the base and the facets are those of the `simpleType` itself.
            let base = match is_draft(node) {
                true => self.reference(node, "base")?.map(TypeUse::Named),
                false => None,
            };
            return Ok(match base {
                Some(base) => SimpleDefinition::Restriction {
                    base,
                    facets: self.facets(node)?,
                },
                None => SimpleDefinition::Restriction {
                    base: self.any_simple_type(node),
                    facets: Vec::new(),
                },
            });
        };
        match derivation.tag_name().name() {
            "list" => {
                let item = self.type_use(derivation, "itemType")?;
                Ok(SimpleDefinition::List(
                    item.unwrap_or_else(|| self.any_simple_type(derivation)),
                ))
            }
            "union" => Ok(SimpleDefinition::Union(self.union_members(derivation)?)),
            _ => {
                let base = self
                    .type_use(derivation, "base")?
                    .unwrap_or_else(|| self.any_simple_type(derivation));
                Ok(SimpleDefinition::Restriction {
                    base,
                    facets: self.facets(derivation)?,
                })
            }
        }
    }

    fn union_members(&mut self, node: Node<'_, '_>) -> Result<Vec<TypeUse>> {
        let mut members = Vec::new();
        if let Some(list) = node.attribute("memberTypes") {
            let place = place_of_value(self.document, node, "memberTypes");
            for name in list.split_ascii_whitespace() {
                // Exact if the attribute has no character references: then its value has the bytes of the document.
                let into = name.as_ptr() as usize - list.as_ptr() as usize;
                let place = Position {
                    offset: place.offset + into as u32,
                    ..place
                };
                self.builder.set.charge(work_of_lookup(node), place)?;
                members.push(TypeUse::Named(self.reference_to(node, name, place)?));
            }
        }
        for child in children(node, "simpleType") {
            let definition = self.simple_type(child)?;
            members.push(TypeUse::Defined(self.add_type(definition)));
        }
        Ok(members)
    }

    fn any_simple_type(&mut self, node: Node<'_, '_>) -> TypeUse {
        let name = self.builder.names.expanded(XSD_NAMESPACE, "anySimpleType");
        TypeUse::Named(crate::components::Reference {
            name,
            place: place_of(self.document, node),
        })
    }

    fn facets(&mut self, node: Node<'_, '_>) -> Result<Vec<FacetDefinition>> {
        let mut facets = Vec::new();
        for facet in elements(node) {
            let name = facet.tag_name().name();
            if matches!(
                name,
                "simpleType" | "attribute" | "attributeGroup" | "anyAttribute" | "annotation"
            ) {
                continue;
            }
            let value = facet.attribute("value").unwrap_or("");
            facets.push(FacetDefinition {
                name: name.into(),
                value: value.into(),
                fixed: self.flag(facet, "fixed"),
                place: place_of_value(self.document, facet, "value"),
                expanded: if name == "enumeration" {
                    self.expanded_value(facet, value)?
                } else {
                    None
                },
            });
        }
        Ok(facets)
    }

    /// A default or fixed value, with the namespaces of the prefixes that it has if it is a name, or a list of names.
    ///
    /// # Errors
    /// If the budget of loading is used up: each value may have long namespaces, and many in scope.
    pub(super) fn declared_value(
        &mut self,
        node: Node<'_, '_>,
        attribute: &str,
    ) -> Result<Option<Box<DeclaredValue>>> {
        let Some(text) = node.attribute(attribute) else {
            return Ok(None);
        };
        let names = text.split_ascii_whitespace().filter_map(qname::split);
        let prefixes: HashSet<&str> = names.map(|(prefix, _)| prefix).collect();
        let mut namespaces = Vec::new();
        if !prefixes.is_empty() {
            let mut steps = 0;
            let in_scope = declared_namespaces(node).inspect(|_| steps += 1);
            namespaces.extend(in_scope.filter(|(prefix, _)| prefixes.contains(prefix)));
            let searched: usize = namespaces.iter().map(|(_, uri)| uri.len()).sum();
            let place = place_of(self.document, node);
            let units = (steps + searched) / STEPS_PER_UNIT;
            self.builder.set.charge(units, place)?;
        }
        let has_default = namespaces.iter().any(|(prefix, _)| prefix.is_empty());
        let target = self.target.clone();
        if self.is_chameleon && prefixes.contains("") && !has_default {
            namespaces.push(("", &target));
        }
        namespaces.sort_unstable();
        let interned = namespaces
            .into_iter()
            .map(|(prefix, uri)| (prefix.into(), self.builder.names.intern(uri)));
        Ok(Some(Box::new(DeclaredValue {
            text: text.into(),
            namespaces: interned.collect(),
        })))
    }

    /// An enumerated value as a QName, if it has the form of one.
    ///
    /// # Errors
    /// If the budget of loading is used up: thousands of values may have one long namespace.
    fn expanded_value(&mut self, node: Node<'_, '_>, value: &str) -> Result<Option<ExpandedName>> {
        let (prefix, local) = match value.trim().split_once(':') {
            Some((prefix, local)) => (Some(prefix), local),
            None => (None, value.trim()),
        };
        let namespace = match declared_namespace(node, prefix) {
            Some(namespace) => namespace,
            None if prefix.is_some() => return Ok(None),
            None if self.is_chameleon => &*self.target.clone(),
            None => "",
        };
        if !is_ncname(local) {
            return Ok(None);
        }
        let name = self.builder.names.expanded(namespace, local);
        self.builder.charge_names(place_of(self.document, node))?;
        Ok(Some(name))
    }

    pub(super) fn complex_type(&mut self, node: Node<'_, '_>) -> Result<TypeDefinition> {
        let definition = self.deeper(node, |reader| reader.complex_definition(node))?;
        Ok(TypeDefinition {
            name: None,
            place: place_of(self.document, node),
            documentation: documentation(node),
            media_types: media_types(node),
            kind: TypeKind::Complex(definition),
            is_final: self.derivation_set(
                node,
                "final",
                &self.final_default,
                EXTENSION_RESTRICTION,
            ),
        })
    }

    fn complex_definition(&mut self, node: Node<'_, '_>) -> Result<ComplexDefinition> {
        let mut mixed = self.flag(node, "mixed");
        let is_abstract = self.flag(node, "abstract");
        let block = self.derivation_set(node, "block", &self.block_default, EXTENSION_RESTRICTION);
        let wrapper = elements(node)
            .find(|child| matches!(child.tag_name().name(), "simpleContent" | "complexContent"));
        let Some(wrapper) = wrapper else {
            let content = ComplexContent::Complex {
                base: None,
                derivation: Derivation::Restriction,
                particle: self.content_particle(node)?,
            };
            return Ok(ComplexDefinition {
                is_abstract,
                mixed,
                block,
                content,
                attributes: self.attribute_uses(node)?,
            });
        };
        if wrapper.has_attribute("mixed") {
            mixed = self.flag(wrapper, "mixed");
        }
        let derivation_node = elements(wrapper)
            .find(|child| matches!(child.tag_name().name(), "extension" | "restriction"))
            .unwrap_or(wrapper);
        let derivation = match derivation_node.tag_name().name() {
            "extension" => Derivation::Extension,
            _ => Derivation::Restriction,
        };
        let base = self.reference(derivation_node, "base")?.map(TypeUse::Named);
        let content = if wrapper.tag_name().name() == "simpleContent" {
            ComplexContent::Simple {
                base: base.unwrap_or_else(|| self.any_simple_type(derivation_node)),
                derivation,
                simple: self.anonymous_type(derivation_node)?,
                facets: self.facets(derivation_node)?,
            }
        } else {
            ComplexContent::Complex {
                base,
                derivation,
                particle: self.content_particle(derivation_node)?,
            }
        };
        Ok(ComplexDefinition {
            is_abstract,
            mixed,
            block,
            content,
            attributes: self.attribute_uses(derivation_node)?,
        })
    }

    fn content_particle(&mut self, node: Node<'_, '_>) -> Result<Option<ParticleDeclaration>> {
        match elements(node).find(|child| {
            matches!(
                child.tag_name().name(),
                "sequence" | "choice" | "all" | "group"
            )
        }) {
            Some(child) => self.particle(child),
            // In drafts a complex type may have its elements without a `sequence`.
            None if is_draft(node) && children(node, "element").next().is_some() => {
                Ok(Some(ParticleDeclaration {
                    min: 1,
                    max: 1,
                    term: TermDeclaration::Sequence(self.particles(node)?),
                    place: place_of(self.document, node),
                }))
            }
            None => Ok(None),
        }
    }
}

/// True if the node is an element of a draft of XML Schema.
fn is_draft(node: Node<'_, '_>) -> bool {
    node.tag_name().namespace().and_then(draft_of).is_some()
}
