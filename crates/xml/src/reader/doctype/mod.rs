//! What a document type declaration says that a reader who does not validate must know: entities and attribute defaults.
//!
//! Only [`DoctypePolicy::Skip`](crate::DoctypePolicy) gets here. Nothing external is ever read: a reference to an external
//! entity expands to nothing.

mod declarations;
mod subset;

use super::reference::{ENTITY_DEPTH, Normalisation, Reference, scan_reference};
use super::tag::NameSpan;
use crate::error::ErrorKind;
use std::collections::HashMap;

/// A document type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Doctype {
    entities: Vec<Entity>,
    entity_ids: HashMap<String, u32>,
    attributes: Vec<AttributeDeclaration>,
    /// Element name as spelled → its attributes.
    elements: HashMap<String, Vec<u32>>,
    /// Whether an entity may be declared where nobody looked, so that an unknown one is no error (XML 1.0 §4.1, WFC Entity
    /// Declared).
    may_be_elsewhere: bool,
    /// Whether the document says that it does not depend on such declarations.
    standalone: bool,
}

/// A general entity.
#[derive(Clone, Debug, PartialEq)]
struct Entity {
    name: String,
    content: EntityContent,
    /// Whether it was declared in a parameter entity.
    in_parameter_entity: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum EntityContent {
    /// Its replacement text.
    Internal(String),
    External,
    Unparsed,
}

/// An attribute as declared for an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttributeDeclaration {
    /// Its name, and behind it the literal of its default.
    pub(crate) text: String,
    pub(crate) name: NameSpan,
    pub(crate) value: Option<(u32, u32)>,
    pub(crate) how: Normalisation,
}

impl AttributeDeclaration {
    pub(crate) fn qname(&self) -> &str {
        self.name.qname(&self.text)
    }

    /// The literal of its default.
    fn literal(&self) -> &str {
        self.value
            .map_or("", |(from, to)| &self.text[from as usize..to as usize])
    }

    /// The work of computing the value of its default: nothing if that is the literal text.
    pub(crate) fn cost(&self) -> usize {
        match self.how {
            Normalisation::Cdata if !self.literal().contains('&') => 0,
            _ => self.literal().len(),
        }
    }
}

impl Doctype {
    /// The replacement text of an internal entity.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match &self.find(name)?.1.content {
            EntityContent::Internal(text) => Some(text),
            EntityContent::External | EntityContent::Unparsed => None,
        }
    }

    pub(crate) fn default_text(&self, declared: u32) -> &str {
        &self.attributes[declared as usize].text
    }

    pub(crate) fn entity_text(&self, entity: u32) -> &str {
        match &self.entities[entity as usize].content {
            EntityContent::Internal(text) => text,
            EntityContent::External | EntityContent::Unparsed => "",
        }
    }

    pub(crate) fn entity_name(&self, entity: u32) -> &str {
        &self.entities[entity as usize].name
    }

    /// The attributes declared for an element.
    pub(crate) fn attributes(
        &self,
        qname: &str,
    ) -> impl Iterator<Item = (u32, &AttributeDeclaration)> {
        let declared = self.elements.get(qname).map_or(&[][..], Vec::as_slice);
        declared
            .iter()
            .map(|&at| (at, &self.attributes[at as usize]))
    }

    fn find(&self, name: &str) -> Option<(u32, &Entity)> {
        let id = *self.entity_ids.get(name)?;
        Some((id, &self.entities[id as usize]))
    }

    /// The entity that a reference in content names; `None` if it expands to nothing that is ever read.
    pub(crate) fn find_in_content<'a>(
        doctype: Option<&'a Doctype>,
        name: &str,
    ) -> Result<Option<(u32, &'a str)>, ErrorKind> {
        match Doctype::declared(doctype, name)? {
            None => Ok(None),
            Some((id, entity)) => match &entity.content {
                EntityContent::Internal(text) => Ok(Some((id, text))),
                EntityContent::External => Ok(None),
                EntityContent::Unparsed => Err(entity_error(name, "it is an unparsed entity")),
            },
        }
    }

    /// The declaration of an entity; `None` if it may be where nobody looked.
    fn declared<'a>(
        doctype: Option<&'a Doctype>,
        name: &str,
    ) -> Result<Option<(u32, &'a Entity)>, ErrorKind> {
        let undeclared = || ErrorKind::UndeclaredEntity(name.to_owned());
        let doctype = doctype.ok_or_else(undeclared)?;
        match doctype.find(name) {
            Some((_, entity)) if doctype.standalone && entity.in_parameter_entity => {
                Err(undeclared())
            }
            Some(found) => Ok(Some(found)),
            None if doctype.may_be_elsewhere && !doctype.standalone => Ok(None),
            None => Err(undeclared()),
        }
    }
}

/// Checks a reference in an attribute value: everything it expands to must be text without `<` (XML 1.0 §3.1, WFC No
/// External Entity References, No < in Attribute Values). What it expands to is taken from `budget`; `None` when that is used up.
pub(crate) fn check_in_value(
    doctype: Option<&Doctype>,
    name: &str,
    budget: &mut usize,
    depth: usize,
) -> Result<Option<()>, ErrorKind> {
    let Some((_, entity)) = Doctype::declared(doctype, name)? else {
        return Ok(Some(()));
    };
    let text = match &entity.content {
        EntityContent::Internal(text) => text,
        EntityContent::External => {
            return Err(entity_error(
                name,
                "an external entity is not allowed in an attribute value",
            ));
        }
        EntityContent::Unparsed => return Err(entity_error(name, "it is an unparsed entity")),
    };
    if text.contains('<') {
        return Err(entity_error(
            name,
            "'<' is not allowed in an attribute value",
        ));
    }
    if depth >= ENTITY_DEPTH {
        return Err(entity_error(
            name,
            "the entity nests too deep or refers to itself",
        ));
    }
    let Some(left) = budget.checked_sub(text.len()) else {
        return Ok(None);
    };
    *budget = left;
    let mut at = 0;
    while let Some(found) = text[at..].find('&') {
        at += found;
        let malformed = || entity_error(name, "its text has a malformed reference");
        let (reference, length) = scan_reference(text, at).map_err(|_| malformed())?;
        if let Reference::Entity(inner) = reference
            && check_in_value(doctype, inner, budget, depth + 1)?.is_none()
        {
            return Ok(None);
        }
        at += length;
    }
    Ok(Some(()))
}

#[cold]
fn entity_error(name: &str, rule: &'static str) -> ErrorKind {
    ErrorKind::Entity {
        name: name.to_owned(),
        rule,
    }
}
