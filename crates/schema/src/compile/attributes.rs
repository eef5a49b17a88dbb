//! Attribute uses and attribute wildcards, including those of attribute groups and base types.

use bsoap_codec::plan::{AttributeDef, NamespaceConstraint, ProcessContents, Wildcard};
use bsoap_datatypes::Datatype;
use foldhash::{HashMap, HashSet, HashSetExt as _};

use crate::components::{
    AttributeDeclaration, AttributeItem, AttributeTerm, AttributeUse, AttributeUses,
    ComplexDefinition, Derivation, GroupNumber, Usage, WildcardDeclaration,
};
use crate::document::Position;
use crate::wildcard::{cost, intersection, union};
use crate::xsd::resolve::TypeKey;
use crate::{Result, Sort};

use super::Compiler;
use super::types::{TypeContent, TypeShape};

/// The attributes of a type and of the attribute groups it refers to, without the attributes of its base type.
#[derive(Default)]
struct Own<'s> {
    uses: Vec<&'s AttributeUse>,
    wildcards: Vec<&'s WildcardDeclaration>,
}

impl<'s> Compiler<'s> {
    /// The shape of a type from its body, its own attributes and the shape of its base type.
    pub(super) fn with_attributes(
        &mut self,
        complex: &'s ComplexDefinition,
        body: TypeContent,
        derivation: Derivation,
        base: &TypeShape,
        place: Position,
    ) -> Result<TypeShape> {
        let mut own = Own::default();
        self.collect(&complex.attributes, &mut own, place)?;
        // Each derived type has copies of all attributes and wildcards of its base type: here, in its definition and in the Plan.
        let own_wildcards = own.wildcards.iter().map(|it| &it.namespaces);
        let of_base = base.any_attribute.iter().map(|it| &it.namespaces);
        let copied = base.attributes.len() + own.uses.len() + cost(own_wildcards.chain(of_base));
        self.set.charge(3 * copied, place)?;
        let mut attributes = base.attributes.clone();
        let mut index: HashMap<_, _> = attributes
            .iter()
            .enumerate()
            .map(|(at, attribute)| (attribute.name, at))
            .collect();
        let mut prohibited = HashSet::new();
        for attribute_use in own.uses {
            let attribute = self.attribute(attribute_use)?;
            if attribute_use.usage == Usage::Prohibited {
                prohibited.insert(attribute.name);
                continue;
            }
            match index.get(&attribute.name) {
                Some(&at) => attributes[at] = attribute,
                None => {
                    index.insert(attribute.name, attributes.len());
                    attributes.push(attribute);
                }
            }
        }
        if derivation == Derivation::Restriction && !prohibited.is_empty() {
            attributes.retain(|attribute| !prohibited.contains(&attribute.name));
        }
        let own = complete(&complex.attributes, &own.wildcards);
        let any_attribute = match (derivation, &base.any_attribute, own) {
            (Derivation::Restriction, _, own) => own,
            (Derivation::Extension, base, None) => base.clone(),
            (Derivation::Extension, None, own) => own,
            (Derivation::Extension, Some(base), Some(own)) => {
                let namespaces =
                    union(&own.namespaces, &base.namespaces).unwrap_or(NamespaceConstraint::Any);
                Some(Wildcard {
                    namespaces,
                    process: own.process,
                })
            }
        };
        Ok(TypeShape {
            body,
            attributes,
            any_attribute,
        })
    }

    /// Collects the attribute uses and wildcards of a type and of its groups. Each group is visited once, so circular groups
    /// are allowed.
    fn collect(&self, uses: &'s AttributeUses, own: &mut Own<'s>, place: Position) -> Result<()> {
        let set = self.set;
        let mut seen: HashSet<GroupNumber> = HashSet::new();
        let mut waiting = vec![uses];
        while let Some(uses) = waiting.pop() {
            let mut groups = Vec::new();
            set.charge(1 + uses.items.len(), place)?;
            for item in &uses.items {
                let number = match item {
                    AttributeItem::Use(attribute) => {
                        own.uses.push(attribute);
                        continue;
                    }
                    AttributeItem::Group(reference) => set.resolve_attribute_group(reference)?,
                    AttributeItem::Resolved(number) => *number,
                };
                if seen.insert(number) {
                    groups.push(&set.attribute_groups[number.0 as usize].attributes);
                }
            }
            own.wildcards.extend(&uses.wildcard);
            waiting.extend(groups.into_iter().rev());
        }
        Ok(())
    }

    fn attribute(&mut self, attribute_use: &'s AttributeUse) -> Result<AttributeDef> {
        let set = self.set;
        let declaration: &AttributeDeclaration = match &attribute_use.attribute {
            AttributeTerm::Local(declaration) => declaration,
            AttributeTerm::Global(reference) => set
                .attributes
                .get(&reference.name)
                .ok_or_else(|| set.undefined(Sort::Attribute, reference))?,
        };
        let key = match &declaration.ty {
            Some(ty) => set.resolve_use(ty)?,
            None => TypeKey::BuiltIn(Datatype::AnySimpleType),
        };
        let simple = self.simple.simple(set, key)?;
        let fixed = attribute_use
            .fixed
            .as_deref()
            .or(declaration.fixed.as_deref());
        let default = match fixed {
            Some(_) => None,
            None => attribute_use
                .default
                .as_deref()
                .or(declaration.default.as_deref()),
        };
        let place = declaration.place;
        let fixed = self.given_value(key, fixed, place)?;
        let default = self.given_value(key, default, place)?;
        Ok(AttributeDef {
            name: self
                .builder
                .name(&declaration.name.namespace, &declaration.name.local),
            leaf: self.builder.leaf(&simple),
            required: attribute_use.usage == Usage::Required,
            default,
            fixed,
        })
    }
}

impl Compiler<'_> {
    /// For a validator: adds the global attributes that a wildcard admits. A strict wildcard admits no others.
    pub(super) fn add_admitted_attributes(
        &mut self,
        attributes: &mut Vec<AttributeDef>,
        any_attribute: &mut Option<Wildcard>,
        place: Position,
    ) -> Result<()> {
        let set = self.set;
        let Some(wildcard) = any_attribute
            .as_ref()
            .filter(|wildcard| wildcard.process != ProcessContents::Skip)
        else {
            return Ok(());
        };
        set.charge(attributes.len() + set.attributes.len(), place)?;
        let mut known: HashSet<_> = attributes.iter().map(|attribute| attribute.name).collect();
        let mut admitted: Vec<_> = set
            .attributes
            .values()
            .filter(|one| wildcard.namespaces.admits(&one.name.namespace))
            .collect();
        admitted.sort_by(|a, b| a.name.cmp(&b.name));
        for declaration in admitted {
            let name = self
                .builder
                .name(&declaration.name.namespace, &declaration.name.local);
            if known.insert(name) {
                let key = declaration
                    .ty
                    .as_ref()
                    .map_or(Ok(TypeKey::BuiltIn(Datatype::AnySimpleType)), |ty| {
                        set.resolve_use(ty)
                    })?;
                let leaf = self.simple.simple(set, key)?;
                let leaf = self.builder.leaf(&leaf);
                let fixed =
                    self.given_value(key, declaration.fixed.as_deref(), declaration.place)?;
                attributes.push(AttributeDef {
                    name,
                    leaf,
                    required: false,
                    default: None,
                    fixed,
                });
            }
        }
        if wildcard.process == ProcessContents::Strict {
            *any_attribute = None;
        }
        Ok(())
    }
}

/// The intersection of the wildcards of a type and its attribute groups. (§3.4.2, complete wildcard)
fn complete(uses: &AttributeUses, wildcards: &[&WildcardDeclaration]) -> Option<Wildcard> {
    let first = uses.wildcard.as_ref().or(wildcards.first().copied())?;
    let mut namespaces = first.namespaces.clone();
    for other in wildcards {
        namespaces = intersection(&namespaces, &other.namespaces).unwrap_or(namespaces);
    }
    Some(Wildcard {
        namespaces,
        process: first.process,
    })
}
