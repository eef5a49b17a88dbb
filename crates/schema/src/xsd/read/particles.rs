//! Reads particles: elements, wildcards and groups.

use bsoap_codec::plan::UNBOUNDED;
use roxmltree::Node;

use crate::Result;
use crate::components::{ParticleDeclaration, TermDeclaration};
use crate::document::place_of;

use super::{SchemaReader, elements};

impl SchemaReader<'_, '_> {
    /// The particle that a node declares; `None` if it declares none or has `maxOccurs="0"`.
    pub(super) fn particle(&mut self, node: Node<'_, '_>) -> Result<Option<ParticleDeclaration>> {
        let (min, max) = self.occurrence(node);
        let term = match node.tag_name().name() {
            "element" => match self.reference(node, "ref")? {
                Some(reference) => {
                    self.builder.mention_component(&reference.name.namespace);
                    TermDeclaration::ElementRef(reference)
                }
                None => TermDeclaration::Element(self.local_element(node)?),
            },
            "group" => match self.reference(node, "ref")? {
                Some(reference) => TermDeclaration::Group(reference),
                None => return Ok(None),
            },
            "sequence" => {
                TermDeclaration::Sequence(self.deeper(node, |reader| reader.particles(node))?)
            }
            "choice" => {
                TermDeclaration::Choice(self.deeper(node, |reader| reader.particles(node))?)
            }
            "all" => TermDeclaration::All(self.deeper(node, |reader| reader.particles(node))?),
            "any" => TermDeclaration::Any(self.wildcard(node)?),
            _ => return Ok(None),
        };
        if max == 0 {
            return Ok(None);
        }
        Ok(Some(ParticleDeclaration {
            min,
            max,
            term,
            place: place_of(self.document, node),
        }))
    }

    pub(super) fn particles(&mut self, group: Node<'_, '_>) -> Result<Vec<ParticleDeclaration>> {
        let mut particles = Vec::new();
        for node in elements(group) {
            particles.extend(self.particle(node)?);
        }
        Ok(particles)
    }

    fn occurrence(&mut self, node: Node<'_, '_>) -> (u32, u32) {
        let min = match node.attribute("minOccurs").map(count) {
            None => 1,
            Some(Some(min)) => min,
            Some(None) => {
                self.bad_value(node, "minOccurs", "a non-negative integer");
                1
            }
        };
        let max = match node.attribute("maxOccurs") {
            None => 1,
            // Drafts write `*`.
            Some(text) if matches!(text.trim(), "unbounded" | "*") => UNBOUNDED,
            Some(text) => count(text).unwrap_or_else(|| {
                self.bad_value(node, "maxOccurs", "a non-negative integer or \"unbounded\"");
                1
            }),
        };
        if min > max {
            let problem = format!("minOccurs ({min}) is greater than maxOccurs ({max})");
            self.broken(
                "p-props-correct.2.1",
                problem,
                place_of(self.document, node),
            );
            return (min, if max == 1 { min } else { max });
        }
        (min, max)
    }
}

/// Parses a nonNegativeInteger; numbers that are too large become the largest count.
fn count(text: &str) -> Option<u32> {
    let digits = text.trim();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(UNBOUNDED).min(UNBOUNDED - 1))
}
