//! The slow path: handles the events of the reader one by one, and calls the fast path wherever a known node is reached.

use bsoap_xml::{Event, Scopes, State};

use super::sink::Sink;

use super::builder::Builder;
use super::error::{Error, ErrorKind};
use super::frame::Inside;
use super::options::Fast;
use super::piece::Piece;
use super::skeleton::{Lowest, NodeId, NodeLoops, Origin, Skeleton};

/// The decoding of one piece.
pub(super) struct Run<'r, S> {
    pub(super) reader: &'r mut State,
    pub(super) scopes: &'r mut Scopes,
    pub(super) skeleton: &'r mut Skeleton,
    /// The node that the slow path started from, and what had been written there.
    pub(super) origin: Option<Origin>,
    /// Set if the fast path came to the end of an item at the end of the text: how many levels are open there.
    pub(super) stops_at: Option<usize>,
    /// Whether the fast path reached the end of the message.
    pub(super) is_at_end: bool,
    pub(super) loops: &'r mut NodeLoops,
    /// The number of events of the reader in this message so far.
    pub(super) events: &'r mut u64,
    pub(super) builder: Builder<'r, S>,
}

impl Piece<'_> {
    #[inline]
    fn at(&self, offset: u64) -> usize {
        (offset - self.base) as usize
    }

    /// The text between two offsets of the message; `None` if it is not in this piece.
    pub(super) fn between(&self, from: u64, to: u64) -> Option<&str> {
        let from = usize::try_from(from.checked_sub(self.base)?).ok()?;
        self.text.get(from..self.at(to))
    }
}

impl<S: Sink> Run<'_, S> {
    /// Reads until more text is needed or the piece has been read.
    pub(super) fn run(&mut self, window: Piece<'_>) -> Result<(), Error> {
        let is_fast = self.builder.options.fast == Fast::On && self.builder.violations.is_none();
        let plan = self.builder.plan;
        if is_fast && window.base == 0 && self.reader.offset() == 0 {
            self.skeleton.begin(self.scopes);
        }
        loop {
            if !window.last && self.builder.waits() {
                return Ok(());
            }
            if is_fast && self.is_at_value() {
                self.learn_and_follow(&window);
                if self.is_at_end {
                    return self.builder.resolve_links();
                }
            }
            if self.builder.is_there()
                && self.reader.is_between()
                && self.builder.machine.is_between()
            {
                return Ok(());
            }
            let input = &window.text[window.at(self.reader.offset())..];
            let event = match self
                .reader
                .next(&plan.vocabulary, self.scopes, input, window.last)
            {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.xml_error(error)),
            };
            *self.events += 1;
            match event {
                Event::Start(tag) => {
                    self.builder.start_tag(&tag)?;
                    self.builder.machine.tag_end = tag.offset + tag.raw.len() as u64;
                }
                Event::End(tag) => {
                    self.builder.end_tag(&tag)?;
                    self.builder.machine.tag_end = tag.offset + tag.raw.len() as u64;
                }
                Event::Text(text) => self.builder.text(&text)?,
                Event::EndOfDocument => {
                    if let Some(node) = self.node() {
                        self.learn(&window, node);
                    }
                    return self.builder.resolve_links();
                }
                _ => {}
            }
            self.log_state();
            self.builder.note(self.reader, self.reader.offset());
        }
    }

    /// In front of a value: learns what the slow path did since the last node, and takes the fast path.
    fn learn_and_follow(&mut self, window: &Piece<'_>) {
        if let Some(node) = self.node() {
            self.learn(window, node);
            self.follow(window, node);
        }
    }

    /// Whether a value comes next, or the first byte of a message.
    #[inline]
    fn is_at_value(&self) -> bool {
        let machine = &self.builder.machine;
        let is_start = machine.frames.is_empty() && self.reader.offset() == 0;
        is_start || matches!(machine.inside(), Some(Inside::Leaf(_))) && !machine.is_noting()
    }

    /// The node of the decoder's state; `None` if it has no node.
    fn node(&mut self) -> Option<NodeId> {
        let (plan, options) = (self.builder.plan, self.builder.options);
        let machine = &*self.builder.machine;
        self.skeleton.node(plan, options, self.reader, machine)
    }

    fn learn(&mut self, window: &Piece<'_>, node: NodeId) {
        let Some(origin) = self.origin.take() else {
            return;
        };
        let builder = &self.builder;
        let NodeLoops { here, before } = &mut *self.loops;
        builder.machine.open_loops(builder.plan, before);
        self.skeleton.learn(
            (builder.plan, builder.options),
            (origin, here),
            builder.log,
            (window, builder.record),
            (node, self.reader.offset(), before),
        );
    }

    /// Notes what learning needs: which loops are open behind a tag with attributes, and the least number of levels open
    /// between two tags.
    #[inline]
    fn log_state(&mut self) {
        let builder = &mut self.builder;
        let (log, machine) = (&mut *builder.log, &*builder.machine);
        if !log.is_on {
            return;
        }
        if log.attributes.len() > log.tags.last().map_or(0, |(count, _)| *count) {
            let mut loops = Vec::new();
            machine.open_loops(builder.plan, &mut loops);
            log.tags.push((log.attributes.len(), loops));
        }
        log.limit();
        let levels = machine.frames.len();
        if log.lowest.is_none_or(|lowest| levels < lowest.levels)
            && self.reader.is_between()
            && machine.is_between()
        {
            log.lowest = Some(Lowest {
                levels,
                offset: self.reader.offset(),
                slots: builder.record.slots.len(),
            });
        }
    }

    #[cold]
    fn xml_error(&self, error: bsoap_xml::Error) -> Error {
        let offset = error.offset();
        Error::new(ErrorKind::Xml(error), self.builder.path(), offset)
    }
}

impl<S: Sink> Builder<'_, S> {
    /// Notes the place where the decoder is, if one is due and the decoder is between two tags.
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
