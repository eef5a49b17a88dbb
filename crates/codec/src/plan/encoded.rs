//! What the elements of encoded messages have beyond their declarations. (SOAP 1.1 §5; SOAP 1.2 Part 2 §3)
//!
//! The start tag of an encoded value states its type, so the type's name is a constant part of the tag. A value can be
//! replaced by a reference: an empty element that names the `id` of the value. Items of arrays and independent elements have
//! any name.

use std::sync::Arc;

use bsoap_xml::NameId;

use super::{AttributeId, Content, ElementId, Plan, Term, TypeId};

/// The names that one version of the encoding uses, and the type of its references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodingRules {
    /// The type of an element that is a reference. Its only attribute is the reference: `href`, or `enc:ref`.
    pub reference: TypeId,
    /// The attribute with the name of a value: `id`, or `enc:id`.
    pub id: NameId,
    /// The attribute with the index of an array's first item; SOAP 1.2 has none.
    pub offset: Option<NameId>,
    /// The attribute with the index of an item; SOAP 1.2 has none.
    pub position: Option<NameId>,
}

/// What an element of an encoded message has beyond its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The names of the encoding.
    pub rules: Arc<EncodingRules>,
    /// How its start tag states its type.
    pub stated_type: StatedType,
    /// Another name of the element: accessors are unqualified, but some peers qualify them as their schema says.
    pub alias: Option<NameId>,
    /// Whether elements of any other name are taken for this one.
    pub has_any_name: bool,
    /// Whether the element may be a reference.
    pub may_refer: bool,
    /// An attribute that its start tag always has, and its value: `encodingStyle`.
    pub style: Option<(NameId, String)>,
}

/// How the start tag of an encoded element states the type of its value, when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedType {
    /// The type cannot vary: its name is a constant part of the tag.
    Constant(NameId),
    /// By the name of the actual type.
    Actual,
    /// Only if it is another one than the array around it says. (SOAP 1.1 §5.1, rule 2; SOAP 1.2 Part 2 §3.1.4)
    ByArray,
}

/// The attribute with the size of an array. Its text begins with the type of the items, or another attribute states that;
/// only the size is a value of the Record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySize {
    /// The index of the attribute among those of its type.
    pub attribute: usize,
    /// The name of the type of the items.
    pub item: NameId,
    /// How many levels of arrays there are: 1, and one more for each array that is an item.
    pub levels: usize,
    /// The attribute that states the type of the items, in SOAP 1.2.
    pub item_type: Option<NameId>,
}

impl Plan {
    /// What an element of an encoded message has beyond its declaration. `None` for elements of literal messages.
    #[inline]
    pub fn encoded(&self, element: ElementId) -> Option<&Encoded> {
        self.element(element).encoded.as_deref()
    }

    /// Whether an attribute is the size of an array.
    #[inline]
    pub fn is_array_size(&self, attribute: AttributeId) -> bool {
        self.attribute(attribute).array.is_some()
    }

    /// Whether a type is an array of an encoded message.
    pub(crate) fn is_encoded_array(&self, ty: TypeId) -> bool {
        let mut attributes = self.ty(ty).attribute_ids();
        attributes.any(|id| self.is_array_size(id))
    }

    /// The type of the references that may replace a value of this element.
    #[inline]
    pub(crate) fn reference_of(&self, element: ElementId) -> Option<TypeId> {
        let encoded = self.encoded(element)?;
        encoded.may_refer.then_some(encoded.rules.reference)
    }

    /// The array type among the alternatives of an `anyType` whose items are of this type, with so many levels of arrays
    /// around them.
    pub(crate) fn array_of(&self, any: TypeId, item: NameId, levels: usize) -> Option<TypeId> {
        let is_it = |ty: &&TypeId| {
            let mut attributes = self.ty(**ty).attribute_ids();
            let size = attributes.find_map(|id| self.attribute(id).array.as_deref());
            size.is_some_and(|size| size.item == item && size.levels == levels)
        };
        self.ty(any).alternatives.iter().find(is_it).copied()
    }

    /// Whether values of two array types have the same slots.
    pub(crate) fn are_like_arrays(&self, one: TypeId, other: TypeId) -> bool {
        let item = |ty: TypeId| match self.ty(ty).content {
            Content::Particle(particle) if self.is_encoded_array(ty) => {
                match self.particle(particle).term {
                    Term::Element(element) => Some(self.element(element)),
                    _ => None,
                }
            }
            _ => None,
        };
        match (item(one), item(other)) {
            (Some(one), Some(other)) => one.ty == other.ty && one.has_state == other.has_state,
            _ => false,
        }
    }

    /// Whether the state marker of an element may have this type.
    pub(crate) fn admits_type(&self, element: ElementId, ty: TypeId) -> bool {
        let declared = self.element(element).ty;
        ty == declared
            || self.ty(declared).alternatives.contains(&ty)
            || self.reference_of(element) == Some(ty)
    }
}
