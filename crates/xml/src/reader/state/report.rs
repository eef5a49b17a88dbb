//! From what was found to the events that are returned.

use super::{Expansion, FoundEvent, State, What};
use crate::names::Vocabulary;
use crate::reader::event::{Declaration, EndTag, Event, Tag, Text};
use crate::reader::scopes::Scopes;
use std::borrow::Cow;

impl State {
    /// The event of what was found; the input began at byte `begin` of the document.
    #[inline]
    pub(super) fn event<'e>(
        &'e self,
        found: FoundEvent,
        begin: u64,
        vocabulary: &'e Vocabulary,
        scopes: &'e Scopes,
        input: &'e str,
    ) -> Event<'e> {
        let (raw, offset) = match self.expansions.last() {
            None => {
                let to = (self.offset - begin) as usize;
                (
                    &input[to - found.length..to],
                    self.offset - found.length as u64,
                )
            }
            Some(expansion) => (self.raw_in_entity(expansion, found.length), self.offset),
        };
        let scratch = &self.scratch;
        let text = |value, is_cdata| {
            Event::Text(Text {
                value: Cow::Borrowed(value),
                offset,
                raw,
                is_cdata,
            })
        };
        match found.what {
            What::Text => text(raw, false),
            What::Start => Event::Start(Tag {
                name: scratch.tag.expanded.id(),
                scope: scratch.tag.scope,
                is_empty: scratch.tag.is_empty,
                offset,
                raw,
                spans: &scratch.tag,
                vocabulary,
                scopes,
                doctype: self.doctype.as_deref(),
            }),
            What::End => self.end_event(offset, raw, scopes),
            What::DecodedText => text(&scratch.text, false),
            What::Cdata { front, behind } => {
                text(&raw[front as usize..raw.len() - behind as usize], true)
            }
            What::DecodedCdata => text(&scratch.text, true),
            What::Comment => Event::Comment(&raw["<!--".len()..raw.len() - "-->".len()]),
            What::DecodedComment => Event::Comment(&scratch.text),
            What::Declaration | What::Instruction | What::DecodedInstruction => {
                self.prolog_event(found.what, raw)
            }
            What::Reference | What::Skipped | What::EndOfDocument => Event::EndOfDocument,
        }
    }

    #[cold]
    fn prolog_event<'e>(&'e self, what: What, raw: &'e str) -> Event<'e> {
        let (declaration, instruction) = (&self.scratch.declaration, &self.scratch.instruction);
        if what == What::Declaration {
            return Event::Declaration(Declaration {
                version: &raw[declaration.version.0..declaration.version.1],
                encoding: declaration.encoding.map(|(from, to)| &raw[from..to]),
                standalone: declaration.standalone,
            });
        }
        let data = match what {
            What::DecodedInstruction => self.scratch.text.as_str(),
            _ => &raw[instruction.data..raw.len() - "?>".len()],
        };
        Event::ProcessingInstruction {
            target: &raw["<?".len()..instruction.target],
            data,
        }
    }

    #[inline]
    fn end_event<'e>(&'e self, offset: u64, raw: &'e str, scopes: &'e Scopes) -> Event<'e> {
        let Some(closed) = &self.scratch.closed else {
            return Event::EndOfDocument;
        };
        Event::End(EndTag {
            name: closed.name.id(),
            qname: self.open.closed_name(closed),
            scope: closed.scope,
            offset,
            raw,
            prefix: closed.prefix,
            uri: closed.uri,
            scopes,
        })
    }

    #[cold]
    fn raw_in_entity(&self, expansion: &Expansion, length: usize) -> &str {
        let text = self
            .doctype
            .as_deref()
            .map_or("", |doctype| doctype.entity_text(expansion.entity));
        &text[expansion.at - length..expansion.at]
    }
}
