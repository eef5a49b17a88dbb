//! The template: the text of the previous message, the location of each value in it, and the values
//! themselves. The next message is made by changing it.
//!
//! ```text
//!   new Record ──compare──► shadow Record        dirty slots
//!                                │ DUT table
//!                                ▼
//!   chunk │ chunk │ chunk │ chunk               patched, then sent as they lie
//! ```
//!
//! Values are written to their locations. Where a marker has changed (a count, a presence, a choice),
//! the encoder is set to the state it had at the start of the chunk and writes until its state is that
//! of a later chunk; see [`restructure`](super::restructure).

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::encode::{EncodeOptions, Error, PieceEncoder, State, Stop};
use bytes::Bytes;
use smallvec::SmallVec;

use super::build::{Builder, Room, Specs};
use super::chunk::Text;
use super::compare::{self, Delta, Values};
use super::digest::{Digests, SameDigests};
use super::leaves::{Kind, Leaves, Segment};
use super::lexical::Unwritable;
use super::patch::{self, Outcome, Patched, Tools};
use super::policy::{Chunks, Policy, Stuffing};
use super::restructure::{self, Patience};
use super::set::Near;
use crate::stats::SendStats;

/// Bytes of text per slot, about.
const SLOT: usize = 32;

/// How much of a message was there already. (HPDC-13 §3)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Match {
    /// *Message content match*: all of it.
    Content,
    /// *Perfect structural match*: all but values that fit their places.
    PerfectStructural,
    /// *Partial structural match*: some places had to be made larger or smaller, or to come and go.
    PartialStructural,
    /// *First-time send*: nothing.
    FirstTime,
}

/// The chunks of a message. Most messages have one, which needs no allocation of its own.
pub type Pieces = SmallVec<[Bytes; 1]>;

/// A message ready to be sent: its chunks as they lie.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The text, one after the other. Later messages do not change them.
    pub chunks: Pieces,
    /// Bytes in all: the Content-Length.
    pub length: u64,
}

/// A saved message that becomes the next one by what differs.
///
/// After an error it is empty, and the next message is a first one. A clone shares the text with its
/// original until one of them changes it.
#[derive(Clone, Debug)]
pub struct Template {
    /// With chunks of the size that this message has.
    pub(super) policy: Policy,
    /// What was asked for.
    chunks_wanted: Chunks,
    pub(super) options: EncodeOptions,
    /// The values of the message sent last; none before the first.
    pub(super) shadow: Option<Record>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) length: u64,
    pub(super) work: Work,
    stats: SendStats,
    /// Slots of the shadow that were set and not written yet.
    pub(super) pending: Vec<usize>,
    /// Octets of its heap that no slot points at any more, as far as they are known.
    pub(super) garbage: usize,
}

/// A part of the message.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) text: Text,
    /// The encoder at its first byte.
    pub(crate) state: State,
    pub(crate) slots: usize,
    /// How many of them are values.
    pub(crate) values: usize,
    pub(crate) segments: Vec<Segment>,
    /// Whether any of its slots points into the heap.
    pub(crate) has_heap: bool,
}

/// What is kept from message to message to work with.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) tools: Tools,
    pub(crate) specs: Specs,
    pub(crate) patience: Patience,
    /// The same for messages of as many values as the one before.
    slides: Patience,
    /// Of the values of the message sent last.
    pub(super) digests: Digests,
    /// Where a value was set last.
    pub(crate) near: Near,
    /// Whether more was done than to change few values: what else it takes memory for has to be asked for again.
    pub(super) has_grown: bool,
}

impl Work {
    /// Bytes held by what changes only if more is done than to change few values.
    fn steady_memory(&self) -> usize {
        self.tools.steady_memory() + self.specs.memory()
    }

    /// Bytes held by all else.
    fn moving_memory(&self) -> usize {
        self.tools.moving_memory() + self.digests.memory()
    }
}

impl Clone for Work {
    /// Nothing of it means anything to a clone.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// What an update did, before it is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) patched: Patched,
    pub(crate) encoded: usize,
    pub(crate) kept: usize,
    /// Bytes of chunks that are as they were.
    pub(crate) unchanged: u64,
}

impl Done {
    pub(crate) fn matched(&self) -> Match {
        let Patched {
            values,
            stolen,
            shifted,
            rewritten,
            ..
        } = self.patched;
        if self.encoded + stolen + shifted + rewritten > 0 {
            Match::PartialStructural
        } else if values > 0 {
            Match::PerfectStructural
        } else {
            Match::Content
        }
    }
}

/// Why a template cannot become another message.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It has to be encoded from first to last, which reports what is wrong, if anything is.
    Anew,
    /// It has another structure, and nothing of the text would be kept. Nothing was changed.
    Stranger,
    Encode(Error),
}

impl From<Unwritable> for Failure {
    fn from(_: Unwritable) -> Self {
        Self::Anew
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Encode(error)
    }
}

impl Template {
    /// An empty one.
    pub fn new(policy: Policy, options: EncodeOptions) -> Self {
        Self {
            policy,
            chunks_wanted: policy.chunks,
            options,
            shadow: None,
            chunks: Vec::new(),
            length: 0,
            work: Work::default(),
            stats: SendStats::default(),
            pending: Vec::new(),
            garbage: 0,
        }
    }

    /// One that begins with a message.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn first(policy: Policy, options: EncodeOptions, record: Record) -> Result<Self, Error> {
        let mut template = Self::new(policy, options);
        template.encode(&record)?;
        template.shadow = Some(record);
        Ok(template)
    }

    /// Makes it the message of `record`, which gets the values of the message before in exchange: a
    /// buffer to be filled with the next. (The first time, what it gets is empty.)
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`]. The template is empty then, `record` is as it was.
    pub fn update(&mut self, record: &mut Record) -> Result<Match, Error> {
        let matched = self.change(record)?;
        self.take(record);
        Ok(matched)
    }

    /// The same, but for a message of another structure than the one before, if that has one chunk: nothing of it would be
    /// kept, so nothing is changed, and `None` returned.
    pub(super) fn update_alike(&mut self, record: &mut Record) -> Result<Option<Match>, Error> {
        match self.try_change(record, self.chunks.len() == 1) {
            Ok(matched) => {
                self.take(record);
                Ok(Some(matched))
            }
            Err(Failure::Encode(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The shadow becomes the values of the message that was made.
    fn take(&mut self, record: &mut Record) {
        match &mut self.shadow {
            Some(shadow) => std::mem::swap(shadow, record),
            None => {
                let empty = Record::new(Arc::clone(record.plan()), record.root());
                self.shadow = Some(std::mem::replace(record, empty));
            }
        }
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.shadow.is_none()
    }

    /// Forgets the message.
    pub fn clear(&mut self) {
        self.shadow = None;
        self.work.near.forget();
        self.chunks.clear();
        self.length = 0;
        self.pending.clear();
        self.garbage = 0;
        self.work.digests.forget();
    }

    /// The values of the message.
    pub fn record(&self) -> Option<&Record> {
        self.shadow.as_ref()
    }

    /// How it is kept: chunks that grow with the message are as large as this message has them.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// How it is encoded.
    pub fn options(&self) -> &EncodeOptions {
        &self.options
    }

    /// Bytes of the message.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The message, ready to be sent. What is sent never sees a later change.
    pub fn outgoing(&self) -> Outgoing {
        let chunks = match &*self.chunks {
            [only] => Pieces::from_buf([only.text.share()]),
            chunks => chunks
                .iter()
                .filter(|chunk| !chunk.text.bytes().is_empty())
                .map(|chunk| chunk.text.share())
                .collect(),
        };
        Outgoing {
            chunks,
            length: self.length,
        }
    }

    /// The chunks of the message as they lie.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.chunks.iter().map(|chunk| chunk.text.bytes())
    }

    /// The message in one piece.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.length as usize);
        self.chunks()
            .for_each(|chunk| text.extend_from_slice(chunk));
        text
    }

    /// What it has done.
    pub fn stats(&self) -> &SendStats {
        &self.stats
    }

    /// Bytes held: text, places, values and buffers.
    pub fn memory(&self) -> usize {
        self.steady_memory() + self.moving_memory()
    }

    /// Of that, what stays as it is unless the template [has grown](Self::take_grown).
    pub(super) fn steady_memory(&self) -> usize {
        self.chunks.iter().map(Chunk::steady_memory).sum::<usize>() + self.work.steady_memory()
    }

    /// Of that, texts, values, and what few changes are kept in.
    pub(super) fn moving_memory(&self) -> usize {
        let texts: usize = self.chunks.iter().map(|chunk| chunk.text.memory()).sum();
        let pending = self.pending.capacity() * size_of::<usize>();
        let shadow = self.shadow.as_ref().map_or(0, Record::memory);
        texts + shadow + pending + self.work.moving_memory()
    }

    /// Whether more has been done since this was taken last than to change few values where they are.
    pub(super) fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.work.has_grown)
    }

    /// The slots that say what there is in the message besides values.
    pub(super) fn markers(&self) -> Vec<u32> {
        let segments = self.chunks.iter().flat_map(|chunk| {
            let first = chunk.state.slot();
            chunk.segments.iter().map(move |segment| (first, segment))
        });
        let mut markers = Vec::new();
        for (first, segment) in segments {
            if let Leaves::Mixed(mixed) = &segment.leaves {
                let slots = mixed.entries.iter().zip(first + segment.first..);
                markers.extend(
                    slots
                        .filter(|(entry, _)| entry.spec.kind == Kind::Marker)
                        .map(|(_, slot)| slot as u32),
                );
            }
        }
        markers
    }

    /// How many of its slots are values.
    pub(crate) fn values(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.values).sum()
    }

    pub(crate) fn chunks_for_check(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Makes the text that of `record`; the shadow is still the old one. After an error there is none.
    fn change(&mut self, record: &Record) -> Result<Match, Error> {
        match self.try_change(record, false) {
            Ok(matched) => Ok(matched),
            Err(Failure::Encode(error)) => Err(error),
            Err(Failure::Anew | Failure::Stranger) => unreachable!("no structure is refused"),
        }
    }

    /// The same; if `is_strict`, not where the structure has changed.
    fn try_change(&mut self, record: &Record, is_strict: bool) -> Result<Match, Failure> {
        if !self.pending.is_empty() {
            self.write_pending()?;
        }
        self.work.near.forget();
        self.garbage = 0;
        let done = match &self.shadow {
            Some(shadow) if is_alike(shadow, record) => {
                let mut done = Done::default();
                let change = Change {
                    policy: &self.policy,
                    options: self.options,
                    old: shadow,
                    new: record,
                    work: &mut self.work,
                    done: &mut done,
                    is_strict,
                };
                change
                    .run(&mut self.chunks, &mut self.length)
                    .map(|()| done)
            }
            _ => Err(Failure::Anew),
        };
        match done {
            Ok(done) => {
                self.count(done);
                Ok(done.matched())
            }
            Err(Failure::Anew) => {
                // Of the message before only the values are of use: as a buffer, to whom they are given in exchange.
                let before = self.shadow.take();
                self.encode(record)?;
                self.shadow = before;
                Ok(Match::FirstTime)
            }
            Err(Failure::Stranger) => Err(Failure::Stranger),
            Err(Failure::Encode(error)) => {
                self.clear();
                Err(Failure::Encode(error))
            }
        }
    }

    /// Encodes a message from first to last. After an error there is none.
    pub(super) fn encode(&mut self, record: &Record) -> Result<(), Error> {
        self.clear();
        self.work.has_grown = true;
        self.policy.chunks = self.chunks_wanted.for_message(estimate(record));
        let result = self.encode_chunks(record);
        if result.is_ok() {
            self.stats.first_time += 1;
            self.stats.bytes += self.length;
        } else {
            self.clear();
        }
        result
    }

    fn encode_chunks(&mut self, record: &Record) -> Result<(), Error> {
        let mut encoder = PieceEncoder::new(record, self.options);
        loop {
            let size = self.policy.chunks.initial;
            let (chunk, stop) = encode_piece(
                &mut encoder,
                record,
                &self.policy,
                &mut self.work.specs,
                (size, None),
                Text::default(),
            )?;
            self.length += chunk.text.bytes().len() as u64;
            self.chunks.push(chunk);
            if stop == Stop::End {
                return Ok(());
            }
        }
    }

    pub(super) fn count(&mut self, done: Done) {
        let stats = &mut self.stats;
        match done.matched() {
            Match::Content => stats.content += 1,
            Match::PerfectStructural => stats.perfect_structural += 1,
            Match::PartialStructural => stats.partial_structural += 1,
            Match::FirstTime => stats.first_time += 1,
        }
        stats.values += done.patched.values as u64;
        stats.stolen += done.patched.stolen as u64;
        stats.shifted += done.patched.shifted as u64;
        stats.rewritten += done.patched.rewritten as u64;
        stats.encoded_chunks += done.encoded as u64;
        stats.kept_chunks += done.kept as u64;
        stats.bytes += self.length;
        stats.unchanged_bytes += done.unchanged;
    }
}

/// About how long the text of a message will be.
fn estimate(record: &Record) -> usize {
    record
        .slots()
        .len()
        .saturating_mul(SLOT)
        .saturating_add(record.heap().len())
}

/// Whether a message of one can be made of a message of the other.
fn is_alike(shadow: &Record, record: &Record) -> bool {
    Arc::ptr_eq(shadow.plan(), record.plan()) && shadow.root() == record.root()
}

impl Chunk {
    /// Bytes held, without the text.
    fn steady_memory(&self) -> usize {
        let segments: usize = self
            .segments
            .iter()
            .map(|segment| size_of::<Segment>() + segment.leaves.memory())
            .sum();
        size_of::<Self>() + segments + self.state.memory()
    }
}

/// Encodes the next piece to a chunk, of `size` bytes or so, or `until` a state, in the memory of another text.
pub(crate) fn encode_piece(
    encoder: &mut PieceEncoder<'_>,
    record: &Record,
    policy: &Policy,
    specs: &mut Specs,
    (size, until): (usize, Option<&State>),
    mut text: Text,
) -> Result<(Chunk, Stop), Error> {
    let state = encoder.state().clone();
    let first = state.slot();
    let slots = record.slots().len();
    let mut builder = Builder::new(record.plan(), policy, specs, first, slots);
    let stop = text.write(|text| {
        text.reserve(size.min(estimate(record)));
        let stop = if policy.stuffing == Stuffing::None {
            encoder.run(text, size, until, &(), &mut builder)
        } else {
            encoder.run(text, size, until, &Room(policy), &mut builder)
        };
        text.shrink_to(text.len() + policy.chunks.reserve);
        stop
    })?;
    let end = encoder.state().slot();
    let (mut segments, has_heap) = builder.finish(end, text.bytes().len());
    for segment in &mut segments {
        segment.see_order(record.slots(), first);
    }
    let chunk = Chunk {
        text,
        state,
        slots: end - first,
        values: segments.iter().map(Segment::values).sum(),
        segments,
        has_heap,
    };
    Ok((chunk, stop))
}

/// Encodes a chunk again of which only values have changed; it becomes several if it has grown too long. Returns how many
/// they are; `None` if the encoder would not stop at its end.
pub(crate) fn reencode(
    chunks: &mut Vec<Chunk>,
    number: usize,
    record: &Record,
    policy: &Policy,
    options: EncodeOptions,
    work: &mut Work,
    patched: &mut Patched,
) -> Result<Option<usize>, Error> {
    work.has_grown = true;
    let until = chunks.get(number + 1).map(|next| next.state.clone());
    if until.as_ref().is_some_and(|until| !until.agrees(until)) {
        // Among occurrences without slots the encoder stops at none in particular.
        return Ok(None);
    }
    let chunk = &mut chunks[number];
    let (values, length) = (chunk.values, chunk.text.bytes().len());
    let sizes = policy.chunks;
    let size = if length <= sizes.split - sizes.split / 4 {
        sizes.split
    } else {
        sizes.initial
    };
    let mut encoder = PieceEncoder::resume(record, chunk.state.clone(), options)?;
    let mut text = std::mem::take(&mut chunk.text);
    work.specs.recycle(std::mem::take(&mut chunk.segments));
    let mut encoded = SmallVec::<[Chunk; 1]>::new();
    let mut now = 0;
    loop {
        let end = (size, until.as_ref());
        let text = std::mem::take(&mut text);
        let (chunk, stop) = encode_piece(&mut encoder, record, policy, &mut work.specs, end, text)?;
        now += chunk.text.bytes().len();
        encoded.push(chunk);
        match (stop, &until) {
            (Stop::Size, _) => {}
            (Stop::Until, _) | (Stop::End, None) => break,
            (Stop::End, Some(_)) => unreachable!("the structure is as it was"),
        }
    }
    patched.values += values;
    if now != length {
        patched.rewritten += values;
    }
    let count = encoded.len();
    chunks.splice(number..=number, encoded);
    Ok(Some(count))
}

/// A template on its way from one message to another.
pub(crate) struct Change<'c> {
    pub(crate) policy: &'c Policy,
    pub(crate) options: EncodeOptions,
    pub(crate) old: &'c Record,
    pub(crate) new: &'c Record,
    pub(crate) work: &'c mut Work,
    pub(crate) done: &'c mut Done,
    /// Whether messages of another structure are left to others.
    is_strict: bool,
}

impl Change<'_> {
    fn run(mut self, chunks: &mut Vec<Chunk>, length: &mut u64) -> Result<(), Failure> {
        let same_slots = self.old.slots().len() == self.new.slots().len();
        if !same_slots {
            self.work.digests.forget();
        }
        if self.is_strict && !same_slots {
            return Err(Failure::Stranger);
        }
        let mut from = 0;
        if same_slots {
            from = self.values(chunks, length)?;
        }
        if from < chunks.len() {
            self.work.has_grown = true;
            restructure::restructure(&mut self, chunks, from)?;
            *length = chunks
                .iter()
                .map(|chunk| chunk.text.bytes().len() as u64)
                .sum();
        }
        Ok(())
    }

    /// Patches chunk by chunk, up to the first whose structure has changed: its number, or that of
    /// all.
    fn values(&mut self, chunks: &mut Vec<Chunk>, length: &mut u64) -> Result<usize, Failure> {
        let (old, new) = (values(self.old), values(self.new));
        // Of a message that is as it was, nothing but the values is looked at.
        let Some(same) = self.same_front(old, new) else {
            self.done.unchanged += *length;
            return Ok(chunks.len());
        };
        self.work.digests.forget();
        let mut delta = 0;
        let mut first = 0;
        let mut number = 0;
        while let Some(chunk) = chunks.get_mut(number) {
            let slots = first..first + chunk.slots;
            first = slots.end;
            let before = chunk.text.bytes().len() as u64;
            if slots.end <= same && !chunk.has_heap {
                self.done.unchanged += before;
                number += 1;
                continue;
            }
            let Some(old) = old.part(slots.start, chunk.slots) else {
                return Err(Failure::Anew);
            };
            let Some(new) = new.part(slots.start, chunk.slots) else {
                return Err(Failure::Anew);
            };
            self.compare(chunk, &old, &new, &mut delta);
            if self.work.tools.dirty.is_clean() {
                self.done.unchanged += before;
                number += 1;
                continue;
            }
            if !self.work.tools.dirty.markers.is_empty() {
                return if self.is_strict {
                    Err(Failure::Stranger)
                } else {
                    Ok(number)
                };
            }
            if self.slides(&old, &new) {
                return Ok(number);
            }
            let count = match self.patch(chunk, &new)? {
                Outcome::Patched => 1,
                Outcome::Reencode => match self.reencode(chunks, number)? {
                    Some(count) => count,
                    None => return Ok(number),
                },
            };
            let now = chunks[number..number + count].iter();
            let now: u64 = now.map(|chunk| chunk.text.bytes().len() as u64).sum();
            *length = (*length + now).wrapping_sub(before);
            number += count;
        }
        Ok(chunks.len())
    }

    /// How many slots at the front of a message are the same as before; `None` if all of the message is.
    #[inline]
    fn same_front(&mut self, old: Values<'_>, new: Values<'_>) -> Option<usize> {
        if old.heap.len() != new.heap.len() {
            return Some(0);
        }
        let digests = &mut self.work.digests;
        let same = match digests.compare(new) {
            SameDigests::Same => return None,
            SameDigests::Front(same) => same,
            SameDigests::Nothing => compare::same_front(old.slots, new.slots),
        };
        if same == old.slots.len() && old.heap == new.heap {
            digests.same(new);
            return None;
        }
        Some(same)
    }

    /// Whether numbers are not other ones, but other places' (a window that slides over a series): then it costs less to
    /// move chunks.
    fn slides(&mut self, old: &Values<'_>, new: &Values<'_>) -> bool {
        let work = &mut *self.work;
        if !work.tools.dirty.tables || !work.slides.is_out() {
            return false;
        }
        let found = compare::slides(old.slots, new.slots);
        work.slides.note(found);
        if found {
            work.patience = Patience::default();
        }
        found
    }

    /// Finds what is dirty in a chunk.
    pub(crate) fn compare(
        &mut self,
        chunk: &mut Chunk,
        old: &Values<'_>,
        new: &Values<'_>,
        delta: &mut Delta,
    ) {
        let dirty = &mut self.work.tools.dirty;
        compare::chunk(&mut chunk.segments, chunk.has_heap, old, new, delta, dirty);
    }

    /// Writes what is dirty in a chunk.
    pub(crate) fn patch(
        &mut self,
        chunk: &mut Chunk,
        new: &Values<'_>,
    ) -> Result<Outcome, Failure> {
        let (policy, work) = (self.policy, &mut *self.work);
        let (tools, patched) = (&mut work.tools, &mut self.done.patched);
        work.has_grown |= tools.dirty.tables || tools.dirty.len() > policy.shifts;
        let Chunk { text, segments, .. } = chunk;
        let outcome = patch::patch(text, segments, policy, new, tools, patched)?;
        for segment in &mut chunk.segments {
            segment.see_order_again(new.slots);
        }
        Ok(outcome)
    }

    fn reencode(&mut self, chunks: &mut Vec<Chunk>, number: usize) -> Result<Option<usize>, Error> {
        let (policy, options, work) = (self.policy, self.options, &mut *self.work);
        let patched = &mut self.done.patched;
        reencode(chunks, number, self.new, policy, options, work, patched)
    }
}

/// The values of a Record.
pub(crate) fn values(record: &Record) -> Values<'_> {
    Values {
        slots: record.slots(),
        heap: record.heap(),
    }
}
