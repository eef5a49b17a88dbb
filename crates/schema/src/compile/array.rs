//! Arrays of the SOAP encodings, treated as literal content with items of any name. (SOAP 1.1 §5.4.2)
//!
//! `<restriction base="soapenc:Array"><attribute ref="soapenc:arrayType" wsdl:arrayType="xsd:int[]"/></restriction>`
//! does not declare the names of items; most peers write `<item>`. So the content model is a repeated choice of an
//! `item` element of the item type and any other element, which is stored as XML.

use bsoap_codec::plan::{ProcessContents, Role, TypeId, UNBOUNDED};

use crate::components::{
    ArrayType, AttributeItem, ComplexDefinition, DerivationSet, ParticleDeclaration,
    TermDeclaration, TypeNumber,
};
use crate::name::{ENCODING_NAMESPACE, ENCODING12_NAMESPACE};
use crate::xsd::resolve::TypeKey;
use crate::{ExpandedName, Result};

use super::Compiler;
use super::envelope::any;
use super::types::TypeContent;

/// What an array of a SOAP encoding contains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrayInfo {
    /// The type of the innermost items. `None` if only the content says it.
    pub(crate) item: Option<TypeId>,
    /// 1 for an array, 2 for an array of arrays.
    pub(crate) levels: usize,
}

impl Compiler<'_> {
    /// What a type contains that is an array of a SOAP encoding. `None` for all other types.
    pub(super) fn array_info(
        &mut self,
        number: TypeNumber,
        complex: &ComplexDefinition,
    ) -> Result<Option<ArrayInfo>> {
        if !self.is_array(number) {
            return Ok(None);
        }
        let Some(array) = array_type(complex) else {
            let item = None;
            return Ok(Some(ArrayInfo { item, levels: 1 }));
        };
        let key = self.set.resolve_type(&array.item)?;
        Ok(Some(ArrayInfo {
            item: Some(self.reserve(key, DerivationSet::NONE)),
            levels: array.dimensions.matches('[').count().max(1),
        }))
    }

    /// The content of a type that restricts `soapenc:Array` without declaring elements. `None` for all other types.
    pub(super) fn array_body(
        &mut self,
        number: TypeNumber,
        complex: &ComplexDefinition,
        particle: Option<&ParticleDeclaration>,
    ) -> Result<Option<TypeContent>> {
        if particle.is_some_and(declares_elements) {
            return Ok(None);
        }
        let Some(array) = array_type(complex) else {
            return Ok(None);
        };
        if !self.is_array(number) {
            return Ok(None);
        }
        let place = self.set.type_definition(number).place;
        let item = self.item_type(array)?;
        let item = self.element_of_type(
            &ExpandedName::new("", "item"),
            item,
            true,
            Role::Application,
        );
        let item = self.element_particle(1, 1, item, place)?;
        let other = self.any(1, 1, any(ProcessContents::Skip), place)?;
        let items = self.choice(0, UNBOUNDED, &[item, other], place)?;
        Ok(Some(TypeContent::Elements {
            particle: Some(items),
            mixed: false,
        }))
    }

    /// True if the type is derived from `Array` of a SOAP encoding.
    fn is_array(&self, number: TypeNumber) -> bool {
        let mut key = TypeKey::Defined(number);
        for _ in 0..=self.set.types.len() {
            let name = self
                .set
                .definition(key)
                .and_then(|definition| definition.name.as_ref());
            if name.is_some_and(is_array_of_an_encoding) {
                return true;
            }
            match self.set.base_of(key) {
                Some((base, _)) => key = base,
                None => return false,
            }
        }
        false
    }

    /// The item type. The items of an array of arrays have the type `anyType`.
    fn item_type(&mut self, array: &ArrayType) -> Result<TypeId> {
        let dimensions = array.dimensions.matches('[').count();
        let key = if dimensions > 1 {
            TypeKey::AnyType
        } else {
            self.set.resolve_type(&array.item)?
        };
        Ok(self.reserve(key, DerivationSet::NONE))
    }
}

fn is_array_of_an_encoding(name: &ExpandedName) -> bool {
    name.is(ENCODING_NAMESPACE, "Array") || name.is(ENCODING12_NAMESPACE, "Array")
}

fn array_type(complex: &ComplexDefinition) -> Option<&ArrayType> {
    complex.attributes.items.iter().find_map(|item| match item {
        AttributeItem::Use(attribute) => attribute.array_type.as_ref(),
        _ => None,
    })
}

/// True if the particle declares an element. The group of `soapenc:Array` and wildcards do not count.
fn declares_elements(particle: &ParticleDeclaration) -> bool {
    match &particle.term {
        TermDeclaration::Element(_) | TermDeclaration::ElementRef(_) => true,
        TermDeclaration::Group(reference) => !is_array_of_an_encoding(&reference.name),
        TermDeclaration::Resolved(_) => true,
        TermDeclaration::Any(_) => false,
        TermDeclaration::Sequence(children)
        | TermDeclaration::Choice(children)
        | TermDeclaration::All(children) => children.iter().any(declares_elements),
    }
}
