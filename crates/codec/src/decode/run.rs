//! The general road: events of the reader, one after the other, and what is learned from them.

use bsoap_xml::{Event, ScopeId, Scopes, State, Tag};

use crate::index::Sink;

use super::builder::Builder;
use super::error::{Error, ErrorKind};
use super::frame::{Frame, Inside, Last};
use super::learned::{Learned, Start, What};
use super::options::Fast;
use super::spelling::Spelling;
use super::{XSI, builder};

/// A decoding on its way.
pub(super) struct Run<'r, S> {
    pub(super) reader: &'r mut State,
    pub(super) scopes: &'r mut Scopes,
    pub(super) learned: &'r mut Learned,
    pub(super) builder: Builder<'r, S>,
}

/// A part of the message: what has been read may have been let go.
#[derive(Clone, Copy)]
pub(super) struct Window<'t> {
    pub(super) text: &'t str,
    /// Where it begins in the message.
    pub(super) base: u64,
    /// Whether the message ends where it ends.
    pub(super) last: bool,
}

impl Window<'_> {
    #[inline]
    fn at(&self, offset: u64) -> usize {
        (offset - self.base) as usize
    }

    /// The text between two places, if it has not been let go.
    fn between(&self, from: u64, to: u64) -> Option<&str> {
        let from = usize::try_from(from.checked_sub(self.base)?).ok()?;
        self.text.get(from..self.at(to))
    }
}

impl<S: Sink> Run<'_, S> {
    /// Reads on until more text is needed or all is read.
    pub(super) fn run(&mut self, window: Window<'_>) -> Result<(), Error> {
        let is_fast = self.builder.options.fast == Fast::On && self.builder.violations.is_none();
        let plan = self.builder.plan;
        loop {
            if is_fast && self.reader.in_content() {
                self.fast(&window);
            }
            let input = &window.text[window.at(self.reader.offset())..];
            let outer = self.reader.scope();
            let event = match self
                .reader
                .next(&plan.vocabulary, self.scopes, input, window.last)
            {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.xml_error(error)),
            };
            match event {
                Event::Start(tag) => {
                    let (last, from) = (self.builder.machine.last, self.builder.machine.tag_end);
                    let to = tag.offset + tag.raw.len() as u64;
                    self.builder.start_tag(&tag)?;
                    if is_fast {
                        learn_start(
                            self.learned,
                            &self.builder,
                            last,
                            outer,
                            window.between(from, to),
                            &tag,
                        );
                    }
                    self.builder.machine.tag_end = to;
                }
                Event::End(tag) => {
                    let (last, from) = (self.builder.machine.last, self.builder.machine.tag_end);
                    let to = tag.offset + tag.raw.len() as u64;
                    let is_copy = self.builder.machine.fragment.is_some()
                        || self.builder.machine.skipping > 0;
                    if is_fast && !is_copy && ends_model(&self.builder) {
                        learn_end(
                            self.learned,
                            last,
                            tag.scope,
                            window.between(from, to),
                            tag.raw,
                            tag.qname,
                        );
                    }
                    self.builder.end_tag(&tag)?;
                    self.builder.machine.tag_end = to;
                }
                Event::Text(text) => {
                    let end = window.at(text.offset + text.raw.len() as u64);
                    let ends = !text.is_cdata && window.text[end..].starts_with("</");
                    self.builder.text(&text, ends)?;
                }
                Event::EndOfDocument => return Ok(()),
                _ => {}
            }
        }
    }

    #[cold]
    fn xml_error(&self, error: bsoap_xml::Error) -> Error {
        let offset = error.offset();
        Error::new(ErrorKind::Xml(error), self.builder.path(), offset)
    }
}

/// Whether the innermost element has elements for content.
fn ends_model<S: Sink>(builder: &Builder<'_, S>) -> bool {
    match builder.machine.frames.last() {
        Some(Frame::Element(frame)) => matches!(frame.inside, Inside::Model { .. }),
        Some(Frame::Group(group)) => !group.silent,
        None => false,
    }
}

/// White space and a tag, if that is what these bytes are.
fn gap_and_tag<'t>(bytes: Option<&'t str>, raw: &str) -> Option<&'t [u8]> {
    let bytes = bytes?;
    let gap = bytes.get(..bytes.len().checked_sub(raw.len())?)?;
    (!raw.is_empty() && builder::is_blank(gap)).then_some(bytes.as_bytes())
}

fn learn_start<S: Sink>(
    learned: &mut Learned,
    builder: &Builder<'_, S>,
    last: Last,
    outer: ScopeId,
    bytes: Option<&str>,
    tag: &Tag<'_>,
) {
    let machine = &builder.machine;
    let (Some(name), Some(Frame::Element(frame))) = (tag.name, machine.frames.last()) else {
        return;
    };
    let Some(bytes) = gap_and_tag(bytes, tag.raw) else {
        return;
    };
    if machine.skipping > 0 || (machine.fragment.is_some() && frame.inside != Inside::Any) {
        return;
    }
    let (mut ty, mut nil) = (None, false);
    for attribute in tag.attributes() {
        match attribute.local {
            "type" if attribute.namespace() == XSI => ty = Some((frame.element, frame.ty)),
            "nil" if attribute.namespace() == XSI => {
                nil = frame.inside == Inside::Empty && matches!(&*attribute.value(), "true" | "1");
            }
            _ => return,
        }
        if attribute.local == "nil" && !nil {
            return;
        }
    }
    learned.learn(last, outer, bytes, || {
        let close = Spelling::new(format!("</{}>", tag.qname()).as_bytes());
        What::Start(Box::new(Start {
            name,
            ty,
            nil,
            is_empty: tag.is_empty,
            qname: tag.qname().into(),
            inner: tag.scope,
            again: close.and(&Spelling::new(bytes)),
            close,
            rows: None,
            failures: 0,
        }))
    });
}

fn learn_end(
    learned: &mut Learned,
    last: Last,
    scope: ScopeId,
    bytes: Option<&str>,
    raw: &str,
    qname: &str,
) {
    if let Some(bytes) = gap_and_tag(bytes, raw) {
        learned.learn(last, scope, bytes, || What::End(qname.into()));
    }
}
