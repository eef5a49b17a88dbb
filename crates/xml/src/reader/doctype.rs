//! The document type declaration. For now none is ever read: every one is refused.

use super::reference::Normalisation;
use super::tag::NameSpan;
use crate::error::ErrorKind;
use crate::options::Limits;

/// A document type: there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Doctype {}

pub(crate) struct AttributeDeclaration {
    pub(crate) text: String,
    pub(crate) name: NameSpan,
    pub(crate) value: Option<(u32, u32)>,
    pub(crate) how: Normalisation,
}

impl AttributeDeclaration {
    pub(crate) fn qname(&self) -> &str {
        self.name.qname(&self.text)
    }
}

impl Doctype {
    pub(crate) fn text(&self, _: &str) -> Option<&str> {
        match *self {}
    }
    pub(crate) fn default_text(&self, _: u32) -> &str {
        match *self {}
    }
    pub(crate) fn entity_text(&self, _: u32) -> &str {
        match *self {}
    }
    pub(crate) fn entity_name(&self, _: u32) -> &str {
        match *self {}
    }
    pub(crate) fn attributes(&self, _: &str) -> std::iter::Empty<(u32, &AttributeDeclaration)> {
        match *self {}
    }
    pub(crate) fn find_in_content<'a>(
        _: Option<&'a Doctype>,
        name: &str,
    ) -> Result<Option<(u32, &'a str)>, ErrorKind> {
        Err(ErrorKind::UndeclaredEntity(name.to_owned()))
    }
}

pub(crate) fn check_in_value(_: Option<&Doctype>, name: &str, _: &Limits) -> Result<(), ErrorKind> {
    Err(ErrorKind::UndeclaredEntity(name.to_owned()))
}
