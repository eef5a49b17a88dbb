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
use bsoap_codec::encode::{EncodeOptions, Error, PieceEncoder, Stop};
use bytes::Bytes;
use smallvec::SmallVec;

use super::chunk::{self, Chunk, ChunkText, encode_piece, estimate};
use super::dut_table::{Locations, SlotKind};
use super::policy::{Chunks, Policy};
use super::update::{Failure, Update, Work};
use crate::stats::SendStats;

/// How much of the text is that of the previous message. (HPDC-13 §3)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Match {
    /// *Message content match*: all of it.
    Content,
    /// *Perfect structural match*: all but values that fit their widths.
    PerfectStructural,
    /// *Partial structural match*: some values got another width, or elements were added or removed.
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
    /// Slots of the shadow record that were set and are not written yet.
    pub(super) pending: Vec<usize>,
    /// Octets of its heap that no slot points at any more, as far as known.
    pub(super) garbage: usize,
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

    /// Makes it the message of `record`, which gets the values of the previous message in exchange: a
    /// buffer to be filled with the next. (The first time, what it gets is empty.)
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`]. The template is empty then, `record` is as it was.
    pub fn update(&mut self, record: &mut Record) -> Result<Match, Error> {
        let matched = self.update_if(record, false)?;
        Ok(matched.expect("no structure is refused"))
    }

    /// The same, but for a message of another structure than the previous one, if that has one chunk: nothing of it would be
    /// kept, so nothing is changed, and `None` returned.
    pub(super) fn update_similar(&mut self, record: &mut Record) -> Result<Option<Match>, Error> {
        self.update_if(record, self.chunks.len() == 1)
    }

    fn update_if(&mut self, record: &mut Record, is_strict: bool) -> Result<Option<Match>, Error> {
        if !self.pending.is_empty() {
            self.write_pending()?;
        }
        self.work.near.forget();
        self.garbage = 0;
        let mut counts = SendStats::default();
        let matched = match self.change(record, is_strict, &mut counts) {
            Ok(()) => self.count(counts),
            Err(Failure::OtherStructure) => return Ok(None),
            Err(Failure::FirstTime) => {
                // Of the previous message only the values are of use: as a buffer for the caller.
                let before = self.shadow.take();
                self.encode(record)?;
                self.shadow = before;
                Match::FirstTime
            }
            Err(Failure::Encode(error)) => {
                self.clear();
                return Err(error);
            }
        };
        self.take(record);
        Ok(Some(matched))
    }

    /// Makes the text that of `record`; the shadow is still the old one. If `is_strict`, not where the structure has changed.
    fn change(
        &mut self,
        record: &Record,
        is_strict: bool,
        counts: &mut SendStats,
    ) -> Result<(), Failure> {
        let has_plan_of = |shadow: &&Record| {
            Arc::ptr_eq(shadow.plan(), record.plan()) && shadow.root() == record.root()
        };
        let shadow = self.shadow.as_ref().filter(has_plan_of);
        let update = Update {
            policy: &self.policy,
            options: self.options,
            old: shadow.ok_or(Failure::FirstTime)?,
            new: record,
            work: &mut self.work,
            counts,
            is_strict,
        };
        update.run(&mut self.chunks, self.length)?;
        self.length = chunk::length(&self.chunks);
        Ok(())
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

    /// Bytes held: text, DUT table, values and buffers.
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
            if let Locations::Mixed(mixed) = &segment.locations {
                let slots = mixed.entries.iter().zip(first + segment.first..);
                markers.extend(
                    slots
                        .filter(|(entry, _)| entry.spec.kind == SlotKind::Marker)
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
                ChunkText::default(),
            )?;
            self.length += chunk.text.bytes().len() as u64;
            self.chunks.push(chunk);
            if stop == Stop::End {
                return Ok(());
            }
        }
    }

    /// Counts what was done for a message.
    pub(super) fn count(&mut self, mut counts: SendStats) -> Match {
        counts.bytes = self.length;
        let moved = counts.encoded_chunks + counts.stolen + counts.shifted + counts.rewritten;
        let (matched, count) = if moved > 0 {
            (Match::PartialStructural, &mut counts.partial_structural)
        } else if counts.values > 0 {
            (Match::PerfectStructural, &mut counts.perfect_structural)
        } else {
            (Match::Content, &mut counts.content)
        };
        *count = 1;
        self.stats.add(&counts);
        matched
    }
}
