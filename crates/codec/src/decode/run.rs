//! The general road: events of the reader, one after the other, and what is learned from them.

use bsoap_xml::{EndTag, Event, ScopeId, Scopes, State, Tag};

use super::sink::Sink;
use crate::plan::{Content, ElementId, TypeId};

use super::builder;
use super::builder::Builder;
use super::error::{Error, ErrorKind};
use super::frame::{ElementFrame, Frame, Inside, Last};
use super::learned::{Hole, Learned, MOST_HOLES, Start, What};
use super::opening::Openings;
use super::options::{Fast, Validation};
use super::piece::Piece;
use super::spelling::Spelling;
use crate::expanded::XSI;

/// A decoding on its way.
pub(super) struct Run<'r, S> {
    pub(super) reader: &'r mut State,
    pub(super) scopes: &'r mut Scopes,
    pub(super) learned: &'r mut Learned,
    pub(super) openings: &'r mut Openings,
    pub(super) builder: Builder<'r, S>,
}

impl Piece<'_> {
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
    pub(super) fn run(&mut self, window: Piece<'_>) -> Result<(), Error> {
        let is_fast = self.builder.options.fast == Fast::On && self.builder.violations.is_none();
        let plan = self.builder.plan;
        if is_fast && window.base == 0 && self.reader.offset() == 0 {
            let (machine, record) = (&mut *self.builder.machine, &mut *self.builder.record);
            let text = window.text.as_bytes();
            self.openings
                .reopen(text, S::LISTENS, self.scopes, self.reader, machine, record);
        }
        loop {
            if is_fast && self.reader.in_content() {
                self.fast(&window)?;
            }
            if self.builder.is_there()
                && self.reader.is_between()
                && self.builder.machine.is_between()
            {
                return Ok(());
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
            self.builder.machine.events.0 += 1;
            let is_root =
                matches!(event, Event::Start(_)) && self.builder.machine.frames.is_empty();
            match event {
                Event::Start(tag) => {
                    let learned = is_fast.then_some((&mut *self.learned, outer));
                    start(&mut self.builder, learned, &window, &tag)?;
                }
                Event::End(tag) => {
                    let learned = is_fast.then_some(&mut *self.learned);
                    end(&mut self.builder, learned, &window, &tag)?;
                }
                Event::Text(text) => {
                    let end = window.at(text.offset + text.raw.len() as u64);
                    let ends = !text.is_cdata && window.text[end..].starts_with("</");
                    self.builder.text(&text, ends)?;
                }
                Event::EndOfDocument => return Ok(()),
                _ => {}
            }
            self.note(self.reader.offset());
            if is_root && is_fast && window.base == 0 {
                self.openings.remember(
                    window.text,
                    self.reader,
                    self.builder.machine,
                    self.builder.record,
                );
            }
        }
    }

    /// Notes the place, if one is wanted: nothing is begun there.
    #[inline(always)]
    pub(super) fn note(&mut self, offset: u64) {
        self.builder.note(self.reader, offset);
    }

    #[cold]
    fn xml_error(&self, error: bsoap_xml::Error) -> Error {
        let offset = error.offset();
        Error::new(ErrorKind::Xml(error), self.builder.path(), offset)
    }
}

/// A start tag is taken in, and learned if that is wanted: in which scope it stands is told with what learns.
fn start<S: Sink>(
    builder: &mut Builder<'_, S>,
    learned: Option<(&mut Learned, ScopeId)>,
    window: &Piece<'_>,
    tag: &Tag<'_>,
) -> Result<(), Error> {
    let (last, from) = (builder.machine.last, builder.machine.tag_end);
    let to = tag.offset + tag.raw.len() as u64;
    builder.start_tag(tag)?;
    if let Some((learned, outer)) = learned {
        let bytes = window.between(from, to);
        learn_start(learned, builder, last, outer, bytes, tag);
    }
    builder.machine.tag_end = to;
    Ok(())
}

/// The same for an end tag.
fn end<S: Sink>(
    builder: &mut Builder<'_, S>,
    learned: Option<&mut Learned>,
    window: &Piece<'_>,
    tag: &EndTag<'_>,
) -> Result<(), Error> {
    let (last, from) = (builder.machine.last, builder.machine.tag_end);
    let to = tag.offset + tag.raw.len() as u64;
    let is_copy = builder.machine.fragment.is_some() || builder.machine.skipping > 0;
    if let Some(learned) = learned
        && !is_copy
        && ends_model(builder)
    {
        let bytes = window.between(from, to);
        learn_end(learned, last, tag.scope, bytes, tag.raw, tag.qname);
    }
    builder.end_tag(tag)?;
    builder.machine.tag_end = to;
    Ok(())
}

impl<S: Sink> Builder<'_, S> {
    /// Notes the place, if one is wanted: nothing is begun there.
    #[inline(always)]
    pub(super) fn note(&mut self, reader: &State, offset: u64) {
        if let Some(places) = self.sink.places()
            && offset >= places.due()
            && reader.is_between()
            && self.machine.is_between()
        {
            places.note(self.plan, reader, self.machine, self.record, offset);
        }
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
    // The element just opened; its content may have been entered.
    let opened = machine.frames.iter().rev().find_map(|frame| match frame {
        Frame::Element(frame) => Some(frame),
        Frame::Group(_) => None,
    });
    let (Some(name), Some(frame)) = (tag.name, opened) else {
        return;
    };
    if last == Last::NOTHING {
        return;
    }
    let Some(bytes) = gap_and_tag(bytes, tag.raw) else {
        return;
    };
    if machine.skipping > 0 || (machine.fragment.is_some() && frame.inside != Inside::Any) {
        return;
    }
    let Some(varying) = varying(builder, frame, tag) else {
        return;
    };
    let tag_at = bytes.len() - tag.raw.len();
    // The pieces between the values: the first is the spelling, each other belongs to the value before it.
    let starts = varying.values.iter().map(|value| tag_at + value.1);
    let ends = varying
        .values
        .iter()
        .map(|value| tag_at + value.0)
        .skip(1)
        .chain([bytes.len()]);
    let front = &bytes[..varying
        .values
        .first()
        .map_or(bytes.len(), |value| tag_at + value.0)];
    let pieces: Vec<(u8, &[u8])> = starts
        .zip(ends)
        .map(|(start, end)| (bytes[start], &bytes[start..end]))
        .collect();
    let same = |what: &What| matches!(what, What::Start(start) if start.has(&pieces) && start.ty == varying.ty && start.nil == varying.nil);
    learned.learn(last, outer, front, bytes.len(), same, || {
        let close = Spelling::new(format!("</{}>", tag.qname()).as_bytes());
        What::Start(Box::new(Start {
            name,
            ty: varying.ty,
            holes: pieces
                .iter()
                .map(|(quote, after)| Hole {
                    quote: *quote,
                    after: Spelling::new(after),
                })
                .collect(),
            // A nil element has no attribute slots.
            values: if varying.nil {
                [].into()
            } else {
                varying.holes.as_slice().into()
            },
            nil: varying.nil,
            is_empty: tag.is_empty,
            qname: tag.qname().into(),
            inner: tag.scope,
            again: close.and(&Spelling::new(front)),
            close,
            rows: None,
            failures: 0,
        }))
    });
}

/// What of a start tag may be different next time.
struct Varying {
    ty: Option<(ElementId, TypeId)>,
    nil: bool,
    /// Where in the tag the values of its attributes stand.
    values: Vec<(usize, usize)>,
    /// By attribute of the type: which of them is its value.
    holes: Vec<Option<u8>>,
}

/// What of a start tag may be different next time; `None` if such a tag is not to be learned.
fn varying<S: Sink>(
    builder: &Builder<'_, S>,
    frame: &ElementFrame,
    tag: &Tag<'_>,
) -> Option<Varying> {
    let plan = builder.plan;
    let ty = plan.ty(frame.ty);
    let has_attributes = tag.attributes().len() > 0;
    let mut found = Varying {
        ty: has_attributes.then_some((frame.element, frame.ty)),
        nil: false,
        values: Vec::new(),
        holes: vec![
            None;
            if has_attributes {
                ty.attributes.len()
            } else {
                0
            }
        ],
    };
    for attribute in tag.attributes() {
        if !attribute.prefix.is_empty() && attribute.namespace() == XSI {
            let is_nil =
                attribute.local == "nil" && matches!(attribute.value().trim(), "true" | "1");
            found.nil |= is_nil;
            // An `anyType` keeps its `xsi:type` among its attributes.
            if attribute.local == "type" && ty.content == Content::Any {
                return None;
            }
            continue;
        }
        let index = ty
            .attribute_ids()
            .position(|id| Some(plan.attribute(id).name) == attribute.name)?;
        let from = usize::try_from(attribute.offset.checked_sub(tag.offset)?).ok()?;
        *found.holes.get_mut(index)? = Some(u8::try_from(found.values.len()).ok()?);
        found.values.push((from, from + attribute.raw.len()));
    }
    // What is not there must be plainly absent.
    let is_plain = ty.attribute_ids().enumerate().all(|(index, id)| {
        let (attribute, is_there) = (
            plan.attribute(id),
            found.holes.get(index).is_some_and(Option::is_some),
        );
        let is_fixed = attribute.fixed.is_some() && builder.options.validation == Validation::Full;
        if is_there {
            !is_fixed
        } else {
            !attribute.required && attribute.default.is_none() && attribute.fixed.is_none()
        }
    });
    // A nil element has no attributes; one with values is left to the general road, which drops them.
    let may_learn = if found.nil {
        found.values.is_empty()
    } else {
        is_plain
    };
    (may_learn && found.values.len() <= MOST_HOLES).then_some(found)
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
        learned.learn(
            last,
            scope,
            bytes,
            bytes.len(),
            |what| matches!(what, What::End(_)),
            || What::End(qname.into()),
        );
    }
}
