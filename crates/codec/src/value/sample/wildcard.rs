//! An element for a wildcard, as XML: one that the schemas declare if it must be declared, otherwise an empty one.

use crate::decode::Validation;
use crate::plan::{ElementId, NamespaceConstraint, ParticleId, ProcessContents, Wildcard};
use crate::value::build::{BuildOptions, build_with};
use crate::{EncodeOptions, Encoder};

use super::Sampler;

/// How deep declared elements may nest that are there for wildcards.
const DEEPEST_WILDCARDS: usize = 2;
/// How many declared elements are tried for a wildcard.
const MOST_CANDIDATES: usize = 8;
/// The namespaces of elements that nothing declares.
const UNDECLARED: [&str; 2] = ["http://example.org/any", "http://example.org/other"];

impl Sampler<'_> {
    /// An element that a wildcard allows. If it must be declared but none is, it is one that is not.
    pub(super) fn fragment(&mut self, id: ParticleId, wildcard: &Wildcard) -> String {
        let declared = match wildcard.process {
            ProcessContents::Strict => self.declared(id, wildcard),
            ProcessContents::Lax | ProcessContents::Skip => None,
        };
        let xml = declared.unwrap_or_else(|| self.undeclared(wildcard));
        self.spend(super::BYTES_OF_ELEMENT + xml.len());
        xml
    }

    /// The XML of a declared element, the simplest first.
    fn declared(&mut self, id: ParticleId, wildcard: &Wildcard) -> Option<String> {
        if let Some(known) = self.fragments.get(&id) {
            return known.clone();
        }
        if self.wildcards >= DEEPEST_WILDCARDS {
            return None;
        }
        let vocabulary = &self.plan.vocabulary;
        let is_allowed = |&id: &ElementId| {
            let element = self.plan.element(id);
            !element.is_abstract
                && wildcard
                    .namespaces
                    .admits(vocabulary.namespace(element.name))
        };
        let globals = self.plan.globals().iter().copied();
        let mut candidates: Vec<ElementId> = globals.filter(is_allowed).collect();
        candidates.sort_by_key(|&id| {
            let shape = self.plan.shapes().of(self.plan.element(id).ty);
            (shape.has_any, shape.children.len())
        });
        let tried = candidates.into_iter().take(MOST_CANDIDATES);
        let xml = { tried }.find_map(|element| self.xml(element));
        self.fragments.insert(id, xml.clone());
        xml
    }

    /// The XML of a sample of an element, if that is valid.
    fn xml(&mut self, element: ElementId) -> Option<String> {
        let open = std::mem::take(&mut self.open);
        self.wildcards += 1;
        let value = self.element(element);
        self.wildcards -= 1;
        self.open = open;
        let options = BuildOptions {
            validation: Validation::Full,
        };
        let record = build_with(self.plan, element, &value, &options).ok()?;
        let mut xml = Vec::new();
        let encoder = Encoder::new(EncodeOptions::without_declaration());
        encoder.encode(&record, &mut xml).ok()?;
        String::from_utf8(xml).ok()
    }

    /// An empty element that no schema declares, if there is a namespace for one.
    fn undeclared(&self, wildcard: &Wildcard) -> String {
        let namespace = match &wildcard.namespaces {
            NamespaceConstraint::OneOf(list) => list.first().map_or("", String::as_str),
            other => UNDECLARED
                .into_iter()
                .find(|one| other.admits(one))
                .unwrap_or_default(),
        };
        let local = ["any", "other", "undeclared"].into_iter().find(|local| {
            let name = self.plan.vocabulary.lookup(namespace, local);
            name.is_none()
        });
        let local = local.unwrap_or("any");
        let mut attribute = Vec::new();
        // A namespace from a schema document has no characters that XML does not allow.
        if bsoap_xml::escape_attribute(namespace, &mut attribute).is_err() || namespace.is_empty() {
            return format!("<{local}/>");
        }
        format!(
            "<{local} xmlns=\"{}\"/>",
            String::from_utf8_lossy(&attribute)
        )
    }
}
