//! Reads `redefine`: definitions that replace others and build on them. (XML Schema Part 1 §4.2.2)
//!
//! The redefined document is read like an included one. The redefinitions are applied when all documents are read:
//! the old definition loses its name, and references of the new one to its own name refer to the old one.

use roxmltree::Node;

use crate::components::{
    AttributeItem, ComplexContent, GroupNumber, ParticleDeclaration, Reference, SimpleDefinition,
    TermDeclaration, TypeKind, TypeNumber, TypeUse,
};
use crate::{ExpandedName, Result};

use super::super::load::SchemaSetBuilder;
use super::{SchemaReader, elements};

/// A definition that will replace another.
#[derive(Debug)]
pub(crate) enum Redefinition {
    Type(TypeNumber),
    Group(GroupNumber),
    AttributeGroup(GroupNumber),
}

impl SchemaReader<'_, '_> {
    pub(super) fn redefine(&mut self, node: Node<'_, '_>) -> Result<()> {
        for child in elements(node) {
            let redefinition = match child.tag_name().name() {
                "simpleType" | "complexType" => {
                    let mut definition = if child.tag_name().name() == "simpleType" {
                        self.simple_type(child)?
                    } else {
                        self.complex_type(child)?
                    };
                    definition.name = Some(self.own_name(child)?);
                    Redefinition::Type(self.add_type(definition))
                }
                "group" => {
                    let definition = self.group_definition(child)?;
                    Redefinition::Group(self.add_group(definition))
                }
                "attributeGroup" => {
                    let definition = self.attribute_group_definition(child)?;
                    Redefinition::AttributeGroup(self.add_attribute_group(definition))
                }
                _ => continue,
            };
            self.builder.redefinitions.push(redefinition);
        }
        Ok(())
    }
}

impl SchemaSetBuilder<'_> {
    /// Applies all redefinitions, those read last (the innermost) first.
    pub(in super::super) fn redefine(&mut self) {
        while let Some(redefinition) = self.redefinitions.pop() {
            match redefinition {
                Redefinition::Type(number) => self.redefine_type(number),
                Redefinition::Group(number) => self.redefine_group(number),
                Redefinition::AttributeGroup(number) => self.redefine_attribute_group(number),
            }
        }
    }

    fn redefine_type(&mut self, number: TypeNumber) {
        let Some(name) = self.set.types[number.0 as usize].name.clone() else {
            return;
        };
        let Some(old) = self.set.named_types.insert(name.clone(), number) else {
            return self.nothing_to_redefine(&name, self.set.types[number.0 as usize].place);
        };
        self.set.types[old.0 as usize].name = None;
        let base = match &mut self.set.types[number.0 as usize].kind {
            TypeKind::Simple(SimpleDefinition::Restriction { base, .. }) => Some(base),
            TypeKind::Simple(_) => None,
            TypeKind::Complex(complex) => match &mut complex.content {
                ComplexContent::Simple { base, .. } => Some(base),
                ComplexContent::Complex { base, .. } => base.as_mut(),
            },
        };
        match base {
            Some(base) if is_named(base, &name) => *base = TypeUse::Defined(old),
            _ => {
                let place = self.set.types[number.0 as usize].place;
                let error = self.set.broken(
                    "src-redefine.5",
                    format!("a type that redefines {name} must be derived from {name}"),
                    place,
                );
                self.errors.push(error);
            }
        }
    }

    fn redefine_group(&mut self, number: GroupNumber) {
        let name = self.set.groups[number.0 as usize].name.clone();
        let Some(old) = self.set.named_groups.insert(name.clone(), number) else {
            return self.nothing_to_redefine(&name, self.set.groups[number.0 as usize].place);
        };
        if let Some(particle) = &mut self.set.groups[number.0 as usize].particle
            && resolve_in_particle(particle, &name, old) == 0
        {
            self.set.redefined_groups.push((number, old));
        }
    }

    fn redefine_attribute_group(&mut self, number: GroupNumber) {
        let name = self.set.attribute_groups[number.0 as usize].name.clone();
        let Some(old) = self.set.named_attribute_groups.insert(name.clone(), number) else {
            return self
                .nothing_to_redefine(&name, self.set.attribute_groups[number.0 as usize].place);
        };
        let mut references = 0;
        for item in &mut self.set.attribute_groups[number.0 as usize]
            .attributes
            .items
        {
            if matches!(item, AttributeItem::Group(reference) if reference.name == name) {
                *item = AttributeItem::Resolved(old);
                references += 1;
            }
        }
        if references == 0 {
            self.set.redefined_attribute_groups.push((number, old));
        }
    }

    fn nothing_to_redefine(&mut self, name: &ExpandedName, place: crate::Position) {
        let error = self.set.broken(
            "src-redefine",
            format!("the redefined document does not define {name}"),
            place,
        );
        self.errors.push(error);
    }
}

fn is_named(base: &TypeUse, name: &ExpandedName) -> bool {
    matches!(base, TypeUse::Named(Reference { name: found, .. }) if found == name)
}

/// Returns the number of replaced references. (The reader has limited the nesting depth.)
fn resolve_in_particle(
    particle: &mut ParticleDeclaration,
    name: &ExpandedName,
    old: GroupNumber,
) -> usize {
    let is_self =
        matches!(&particle.term, TermDeclaration::Group(reference) if reference.name == *name);
    match &mut particle.term {
        term if is_self => {
            *term = TermDeclaration::Resolved(old);
            1
        }
        TermDeclaration::Sequence(children)
        | TermDeclaration::Choice(children)
        | TermDeclaration::All(children) => children
            .iter_mut()
            .map(|child| resolve_in_particle(child, name, old))
            .sum(),
        _ => 0,
    }
}
