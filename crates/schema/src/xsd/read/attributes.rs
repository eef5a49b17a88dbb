//! Reads attribute uses and wildcards.

use bsoap_codec::plan::{NamespaceConstraint, ProcessContents};
use roxmltree::Node;

use crate::Result;
use crate::components::{
    ArrayType, AttributeItem, AttributeTerm, AttributeUse, AttributeUses, Usage,
    WildcardDeclaration,
};
use crate::document::{Position, place_of};
use crate::name::WSDL_NAMESPACE;
use crate::work::CHARACTERS_PER_UNIT;

use super::{SchemaReader, elements};

impl SchemaReader<'_, '_> {
    /// The attributes declared among the children of a node.
    pub(super) fn attribute_uses(&mut self, node: Node<'_, '_>) -> Result<AttributeUses> {
        let mut uses = AttributeUses::default();
        for child in elements(node) {
            match child.tag_name().name() {
                "attribute" => uses
                    .items
                    .push(AttributeItem::Use(self.attribute_use(child)?)),
                "attributeGroup" => uses
                    .items
                    .extend(self.reference(child, "ref")?.map(AttributeItem::Group)),
                "anyAttribute" => uses.wildcard = Some(self.wildcard(child)?),
                _ => {}
            }
        }
        Ok(uses)
    }

    fn attribute_use(&mut self, node: Node<'_, '_>) -> Result<AttributeUse> {
        let attribute = match self.reference(node, "ref")? {
            Some(reference) => AttributeTerm::Global(reference),
            None => AttributeTerm::Local(self.local_attribute(node)?),
        };
        let usage = match node.attribute("use").map(str::trim) {
            None | Some("optional") => Usage::Optional,
            Some("required") => Usage::Required,
            Some("prohibited") => Usage::Prohibited,
            Some(_) => {
                self.bad_value(node, "use", "optional, required or prohibited");
                Usage::Optional
            }
        };
        Ok(AttributeUse {
            attribute,
            usage,
            default: self.declared_value(node, "default")?,
            fixed: self.declared_value(node, "fixed")?,
            array_type: self.array_type(node)?,
            place: place_of(self.document, node),
        })
    }

    /// `wsdl:arrayType="tns:Item[]"` (WSDL 1.1 §2.2), for SOAP 1.2 `wsdl:itemType="tns:Item"`.
    fn array_type(&mut self, node: Node<'_, '_>) -> Result<Option<ArrayType>> {
        let stated = |name| node.attribute_node((WSDL_NAMESPACE, name));
        let Some(found) = stated("arrayType").or_else(|| stated("itemType")) else {
            return Ok(None);
        };
        let value = found.value().trim();
        let (item, dimensions) = value.split_at(value.find('[').unwrap_or(value.len()));
        let place = Position {
            document: self.document,
            offset: found.range_value().start as u32,
        };
        Ok(Some(ArrayType {
            item: self.reference_to(node, item, place)?,
            dimensions: dimensions.into(),
        }))
    }

    /// `any` or `anyAttribute`.
    ///
    /// # Errors
    /// If the budget of loading is used up: each wildcard has copies of its namespaces.
    pub(super) fn wildcard(&mut self, node: Node<'_, '_>) -> Result<WildcardDeclaration> {
        let place = place_of(self.document, node);
        let set = &self.builder.set;
        let target = || {
            let units = self.target.len() / CHARACTERS_PER_UNIT;
            set.charge(units, place).map(|()| self.target.to_string())
        };
        let namespaces = match node.attribute("namespace").map(str::trim) {
            None | Some("##any") => NamespaceConstraint::Any,
            Some("##other") => NamespaceConstraint::Not(target()?),
            Some(list) => {
                let one = |token: &str| match token {
                    "##targetNamespace" => target(),
                    "##local" => Ok(String::new()),
                    uri => Ok(uri.to_owned()),
                };
                let list = list.split_ascii_whitespace().map(one);
                NamespaceConstraint::OneOf(list.collect::<Result<_>>()?)
            }
        };
        let process = match node.attribute("processContents").map(str::trim) {
            Some("lax") => ProcessContents::Lax,
            Some("skip") => ProcessContents::Skip,
            None | Some("strict") => ProcessContents::Strict,
            Some(_) => {
                self.bad_value(node, "processContents", "strict, lax or skip");
                ProcessContents::Lax
            }
        };
        Ok(WildcardDeclaration {
            namespaces,
            process,
            place,
        })
    }
}
