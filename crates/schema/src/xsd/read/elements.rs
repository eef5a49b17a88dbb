//! Reads element and attribute declarations.

use roxmltree::Node;

use crate::components::{AttributeDeclaration, DerivationSet, ElementDeclaration, ElementNumber};
use crate::document::place_of;
use crate::{ExpandedName, Result, Sort};

use super::{EXTENSION_RESTRICTION, SchemaReader, documentation, media_types, register};

const BLOCKS: DerivationSet = EXTENSION_RESTRICTION.with(DerivationSet::SUBSTITUTION);

impl SchemaReader<'_, '_> {
    pub(super) fn global_element(&mut self, node: Node<'_, '_>) -> Result<()> {
        let name = self.own_name(node)?;
        let mut declaration = self.element_declaration(node, name.clone())?;
        declaration.is_global = true;
        declaration.substitutes = self.reference(node, "substitutionGroup")?;
        declaration.is_abstract = self.flag(node, "abstract");
        declaration.is_final =
            self.derivation_set(node, "final", &self.final_default, EXTENSION_RESTRICTION);
        let place = declaration.place;
        if self.builder.set.named_elements.contains_key(&name) {
            self.duplicate(Sort::Element, name, place);
            return Ok(());
        }
        let head = declaration
            .substitutes
            .as_ref()
            .map(|head| head.name.clone());
        let number = self.add_element(declaration);
        if let Some(head) = head {
            self.builder
                .set
                .substitutes
                .entry(head)
                .or_default()
                .push(number);
        }
        self.builder.set.named_elements.insert(name, number);
        Ok(())
    }

    /// A local element declaration.
    pub(super) fn local_element(&mut self, node: Node<'_, '_>) -> Result<ElementNumber> {
        let qualified = match node.attribute("form").map(str::trim) {
            Some(form) => form == "qualified",
            None => self.elements_qualified,
        };
        let name = self.local_name(node, qualified)?;
        let declaration = self.element_declaration(node, name)?;
        Ok(self.add_element(declaration))
    }

    fn local_name(&mut self, node: Node<'_, '_>, qualified: bool) -> Result<ExpandedName> {
        let mut name = self.own_name(node)?;
        if !qualified {
            name.namespace = self.builder.names.intern("");
        }
        Ok(name)
    }

    fn element_declaration(
        &mut self,
        node: Node<'_, '_>,
        name: ExpandedName,
    ) -> Result<ElementDeclaration> {
        let ty = self.deeper(node, |reader| reader.type_use(node, "type"))?;
        self.identity_constraints(node)?;
        Ok(ElementDeclaration {
            name,
            is_global: false,
            ty,
            nillable: self.flag(node, "nillable"),
            is_abstract: false,
            default: self.declared_value(node, "default")?,
            fixed: self.declared_value(node, "fixed")?,
            substitutes: None,
            block: self.derivation_set(node, "block", &self.block_default, BLOCKS),
            is_final: DerivationSet::NONE,
            place: place_of(self.document, node),
            documentation: documentation(node),
            media_types: media_types(node),
        })
    }

    pub(super) fn global_attribute(&mut self, node: Node<'_, '_>) -> Result<()> {
        let name = self.own_name(node)?;
        let declaration = self.attribute_declaration(node, name.clone())?;
        let place = declaration.place;
        if !register(&mut self.builder.set.attributes, &name, declaration) {
            self.duplicate(Sort::Attribute, name, place);
        }
        Ok(())
    }

    /// A local attribute declaration.
    pub(super) fn local_attribute(&mut self, node: Node<'_, '_>) -> Result<AttributeDeclaration> {
        let qualified = match node.attribute("form").map(str::trim) {
            Some(form) => form == "qualified",
            None => self.attributes_qualified,
        };
        let name = self.local_name(node, qualified)?;
        self.attribute_declaration(node, name)
    }

    fn attribute_declaration(
        &mut self,
        node: Node<'_, '_>,
        name: ExpandedName,
    ) -> Result<AttributeDeclaration> {
        Ok(AttributeDeclaration {
            name,
            ty: self.deeper(node, |reader| reader.type_use(node, "type"))?,
            default: self.declared_value(node, "default")?,
            fixed: self.declared_value(node, "fixed")?,
            place: place_of(self.document, node),
            documentation: documentation(node),
        })
    }
}
