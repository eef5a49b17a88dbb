//! The template: the text of the last message, the location of each value in it, and the values. The next message is made
//! by changing it.
//!
//! ```text
//!   new Record ──compare──► shadow Record        dirty slots
//!                                │ DUT table
//!                                ▼
//!   chunk │ chunk │ chunk │ chunk               patched, then sent as they lie
//! ```
//!
//! Values are written to their locations. If a marker has changed (a count, a presence, a choice), the encoder is set to
//! its state at the start of the chunk, and encodes until its state is that of a later chunk; see
//! [`restructure`](super::restructure).

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

// Exhaustive: the four cases of the paper.
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

/// The chunks of a message. A single one, as in most messages, needs no allocation for the list.
pub type Pieces = SmallVec<[Bytes; 1]>;

/// A message ready to be sent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outgoing {
    /// The chunks of the text, in order. Later messages do not change them.
    pub chunks: Pieces,
    /// The length of the text in bytes: the Content-Length.
    pub length: u64,
}

/// A saved message that is changed into the next one.
///
/// After an error it is empty, and the next message is a first-time send. A clone shares the text with its original until
/// one of them changes it.
#[derive(Clone, Debug)]
pub struct Template {
    /// The policy, with the chunk sizes for this message.
    pub(super) policy: Policy,
    /// The chunk sizes of the given policy.
    chunks_wanted: Chunks,
    /// Whether its chunks have the sizes of a sliding window.
    is_window: bool,
    pub(super) options: EncodeOptions,
    /// The values of the last message; `None` before the first.
    pub(super) shadow: Option<Record>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) length: u64,
    pub(super) work: Work,
    stats: SendStats,
    /// The slots of the shadow record that were set and have not been written yet.
    pub(super) pending: Vec<usize>,
    /// The number of octets of its heap that no slot points to any more, as far as known.
    pub(super) garbage: usize,
}

impl Template {
    /// An empty template.
    pub fn new(policy: Policy, options: EncodeOptions) -> Self {
        Self {
            policy,
            chunks_wanted: policy.chunks,
            is_window: false,
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

    /// A template of a message.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn first(policy: Policy, options: EncodeOptions, record: Record) -> Result<Self, Error> {
        let mut template = Self::new(policy, options);
        template.encode(&record)?;
        template.shadow = Some(record);
        Ok(template)
    }

    /// Changes it into the message of `record`. In exchange `record` gets the values of the last message, as a buffer for
    /// the next ones; the first time it is emptied.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`]. The template is empty then, `record` is as it was.
    pub fn update(&mut self, record: &mut Record) -> Result<Match, Error> {
        let matched = self.update_if(record, false)?;
        Ok(matched.expect("no structure is refused"))
    }

    /// As [`update`](Self::update). But if the last message has one chunk, and the new one another structure, nothing of
    /// the text could be kept: then nothing is changed, and the result is `None`.
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
            Err(Failure::FirstTime) => self.encode_again(record, false)?,
            Err(Failure::OtherChunks { is_window }) => self.encode_again(record, is_window)?,
            Err(Failure::Encode(error)) => {
                self.clear();
                return Err(error);
            }
        };
        self.take(record);
        Ok(Some(matched))
    }

    /// Encodes a whole message. Of the last one only the memory of its values is used, as a buffer for the caller.
    fn encode_again(&mut self, record: &Record, is_window: bool) -> Result<Match, Error> {
        let before = self.shadow.take();
        let length = self.length;
        self.is_window = is_window;
        self.encode_in(record, is_window.then_some(length))?;
        self.shadow = before;
        Ok(Match::FirstTime)
    }

    /// Changes the text to that of `record`; the shadow record is still the old one. If `is_strict`, a change of structure
    /// is refused.
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
            is_window: self.is_window,
        };
        update.run(&mut self.chunks, self.length)?;
        self.length = chunk::length(&self.chunks);
        Ok(())
    }

    /// Stores the values of the new message in the shadow record.
    fn take(&mut self, record: &mut Record) {
        match &mut self.shadow {
            Some(shadow) => std::mem::swap(shadow, record),
            None => {
                let empty = Record::new(Arc::clone(record.plan()), record.root());
                self.shadow = Some(std::mem::replace(record, empty));
            }
        }
    }

    /// Whether its chunks have the sizes of a sliding window.
    pub(super) fn is_window(&self) -> bool {
        self.is_window
    }

    /// Whether it has no message.
    pub fn is_empty(&self) -> bool {
        self.shadow.is_none()
    }

    /// Removes the message.
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

    /// Its policy, with the chunk sizes for this message.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The options of the encoder.
    pub fn options(&self) -> &EncodeOptions {
        &self.options
    }

    /// The length of the message in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The message, ready to be sent. Later changes of the template do not affect it.
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

    /// The texts of the chunks of the message.
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

    /// The statistics of all its messages.
    pub fn stats(&self) -> &SendStats {
        &self.stats
    }

    /// The memory it holds in bytes: text, DUT table, values and buffers.
    pub fn memory(&self) -> usize {
        self.steady_memory() + self.moving_memory()
    }

    /// The part of its memory that stays the same unless the template [has grown](Self::take_grown).
    pub(super) fn steady_memory(&self) -> usize {
        self.chunks.iter().map(Chunk::steady_memory).sum::<usize>() + self.work.steady_memory()
    }

    /// The part of its memory that any message can change: texts, values, and buffers for a few changes.
    pub(super) fn moving_memory(&self) -> usize {
        let texts: usize = self.chunks.iter().map(|chunk| chunk.text.memory()).sum();
        let pending = self.pending.capacity() * size_of::<usize>();
        let shadow = self.shadow.as_ref().map_or(0, Record::memory);
        texts + shadow + pending + self.work.moving_memory()
    }

    /// Whether more has happened, since the last call, than changes of a few values in place.
    pub(super) fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.work.has_grown)
    }

    /// The marker slots of its message.
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

    /// The number of its slots that are values.
    pub(crate) fn values(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.values).sum()
    }

    /// Encodes a whole message. After an error the template is empty.
    pub(super) fn encode(&mut self, record: &Record) -> Result<(), Error> {
        self.is_window = false;
        self.encode_in(record, None)
    }

    /// As [`encode`](Self::encode), in the chunks of a sliding window of this length if there is one.
    fn encode_in(&mut self, record: &Record, window: Option<u64>) -> Result<(), Error> {
        self.clear();
        self.work.has_grown = true;
        self.policy.chunks = match window {
            Some(length) => self.chunks_wanted.for_window(length),
            None => self.chunks_wanted.for_message(estimate(record)),
        };
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

    /// Adds the statistics of a message.
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
