//! Entities of the document type: going into their replacement text and out again.

use super::{Expansion, FoundEvent, Phase, State, What};
use crate::error::{ErrorKind, Stop};
use crate::names::Vocabulary;
use crate::options::DoctypePolicy;
use crate::reader::doctype::Doctype;
use crate::reader::reference::ENTITY_DEPTH;
use crate::reader::scopes::Scopes;
use std::sync::Arc;

impl State {
    /// Reads a document type declaration, or refuses it.
    #[cold]
    pub(super) fn read_doctype(&mut self, input: &str, last: bool) -> Result<FoundEvent, Stop> {
        if self.options.doctype == DoctypePolicy::Refuse {
            return Err(Stop::fault(ErrorKind::Doctype, 0));
        }
        if self.doctype.is_some() {
            return Err(Stop::expected(
                "the root element behind the document type declaration",
                input,
                0,
            ));
        }
        // Its tokens are separated only when all of it is there.
        self.partial.begin(input.as_bytes());
        if !self.partial.may_end(input.as_bytes()) && !last {
            return Err(Stop::More);
        }
        let (doctype, length) = Doctype::read(input, self.standalone, &self.options.limits)?;
        self.check_markup_length(length)?;
        self.doctype = Some(Arc::new(doctype));
        Ok(FoundEvent {
            length,
            what: What::Skipped,
        })
    }

    /// Goes into the replacement text of the entity that the reference at the front of `input` names.
    #[cold]
    pub(super) fn expand(&mut self, input: &str, length: usize) -> Result<FoundEvent, Stop> {
        let name = &input[1..length - 1];
        let found = Doctype::find_in_content(self.doctype.as_deref(), name)
            .map_err(|kind| Stop::fault(kind, 0))?;
        if let Some((entity, text)) = found {
            let rule = match () {
                () if self
                    .expansions
                    .iter()
                    .any(|expansion| expansion.entity == entity) =>
                {
                    "the entity refers to itself"
                }
                () if self.expansions.len() >= ENTITY_DEPTH => "entity references nest too deep",
                () => "",
            };
            if !rule.is_empty() {
                return Err(Stop::fault(
                    ErrorKind::Entity {
                        name: name.to_owned(),
                        rule,
                    },
                    0,
                ));
            }
            self.expanded += text.len();
            if self.expanded > self.options.limits.entity_expansion {
                return Err(Stop::limit(
                    "entity_expansion",
                    self.options.limits.entity_expansion,
                ));
            }
            self.expansions.push(Expansion {
                entity,
                at: 0,
                depth: self.open.depth(),
            });
        }
        Ok(FoundEvent {
            length,
            what: What::Skipped,
        })
    }

    #[cold]
    pub(super) fn step_in_entity(
        &mut self,
        vocabulary: &Vocabulary,
        scopes: &mut Scopes,
    ) -> Result<FoundEvent, Stop> {
        let (Some(doctype), Some(expansion)) =
            (self.doctype.clone(), self.expansions.last().copied())
        else {
            self.expansions.clear();
            return Ok(FoundEvent::SKIPPED);
        };
        let text = &doctype.entity_text(expansion.entity)[expansion.at..];
        let index = self.expansions.len() - 1;
        let found = match self.phase {
            Phase::Content if text.is_empty() => {
                self.expansions.pop();
                FoundEvent::SKIPPED
            }
            _ => self.step(vocabulary, scopes, text, true)?,
        };
        if self.open.depth() < expansion.depth
            || (self.expansions.len() == index && self.open.depth() != expansion.depth)
        {
            let name = doctype.entity_name(expansion.entity).to_owned();
            return Err(Stop::fault(
                ErrorKind::Entity {
                    name,
                    rule: "its text must contain whole elements",
                },
                0,
            ));
        }
        if let Some(expansion) = self.expansions.get_mut(index) {
            expansion.at += found.length;
        }
        Ok(found)
    }
}
