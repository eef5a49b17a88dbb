//! Writes one message with what was checked out of the cache. The cache is not needed meanwhile.

use std::sync::{Arc, Mutex};

use bsoap_codec::Record;
use bsoap_codec::encode::Error;
use bytes::Bytes;

use super::Seen;
use super::cost::is_useful;
use super::saved::SavedTemplate;
use crate::cache::Checkout;
use crate::send::chunk::ChunkText;
use crate::send::gzip::GzipCache;
use crate::send::plain;
use crate::send::template::{Match, Outgoing};
use crate::stats::SendCounts;

/// What was checked out for a message: a template, or a buffer.
#[derive(Debug)]
#[must_use]
pub struct TemplateCheckout {
    pub(super) saved: Checkout<SavedTemplate>,
    /// The reason if there is no template.
    why: NoTemplate,
    /// The buffer for the text of a large message without a template.
    pub(super) buffer: Option<Box<ChunkText>>,
    pub(super) outcome: Outcome,
}

/// Why a message is written without a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoTemplate {
    /// No similar message has been sent before.
    First,
    /// The stream is bypassed: its messages have nothing in common.
    Bypassed,
    /// There is no memory for templates.
    NoMemory,
}

/// Whether using a template was faster than encoding the message without one.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is the first message, or there was no template.
    First,
    /// It was faster.
    Useful,
    /// It was not.
    Useless,
    /// A sliding window is over: the message has nothing of the last one.
    EndOfWindow,
    /// The template was not used: the message has another structure.
    OtherStructure(Seen),
}

/// A message that was written.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sent {
    /// The text.
    pub outgoing: Outgoing,
    /// Counts of how it was written.
    pub counts: SendCounts,
    /// Its compressed chunks, if they are kept.
    pub compressed: Option<Arc<Mutex<GzipCache>>>,
}

impl TemplateCheckout {
    /// `why`: the reason if there is no template.
    #[inline]
    pub(super) fn new(
        saved: Checkout<SavedTemplate>,
        why: NoTemplate,
        buffer: Option<Box<ChunkText>>,
    ) -> Self {
        Self {
            saved,
            why,
            buffer,
            outcome: Outcome::First,
        }
    }

    /// The reason why the message is written without a template, if nothing has to be checked in. It may then be written by
    /// other means.
    #[inline]
    pub fn is_plain(&self) -> Option<NoTemplate> {
        (self.saved.is_none() && self.buffer.is_none()).then_some(self.why)
    }

    /// Writes the message. With a template, `record` gets the values of the last message in exchange, as a buffer for the
    /// next ones.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn send(&mut self, record: &mut Record) -> Result<Sent, Error> {
        let Checkout { entry, timer, .. } = &mut self.saved;
        let start = timer.start();
        let mut sent = Sent::new();
        if let Some(entry) = entry {
            let saved = &mut entry.value;
            let before = *saved.template.stats();
            let was_window = saved.template.is_window();
            if let Some(matched) = saved.update(record)? {
                sent.outgoing = saved.template.outgoing();
                sent.compressed = saved.compressed.clone();
                let counted = saved.template.stats().since(&before);
                self.outcome = match matched {
                    Match::FirstTime if !was_window => Outcome::First,
                    Match::FirstTime => Outcome::EndOfWindow,
                    _ if is_useful(&saved.template, matched, &counted) => Outcome::Useful,
                    _ => Outcome::Useless,
                };
                sent.counts.matches = counted;
                if matched != Match::FirstTime {
                    let length = sent.outgoing.length as usize;
                    // The values of the message before, which are about as many.
                    let rewrite = || plain::rewrite(record);
                    sent.counts.saved = timer.saved(start, length, rewrite);
                }
                entry.memory = saved.memory();
                return Ok(sent);
            }
            self.outcome = Outcome::OtherStructure(Seen::of(record));
        }
        plain::prepare(record, &mut self.buffer, &mut sent.outgoing)?;
        timer.learn(start, sent.outgoing.length as usize);
        sent.count(self.why);
        Ok(sent)
    }
}

impl Sent {
    #[inline]
    fn new() -> Self {
        Self {
            outgoing: Outgoing::default(),
            counts: SendCounts::default(),
            compressed: None,
        }
    }

    /// Writes a whole message without saving anything; it is not counted.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn plain(record: &Record) -> Result<Self, Error> {
        let mut sent = Self::new();
        plain::prepare(record, &mut None, &mut sent.outgoing)?;
        Ok(sent)
    }

    /// A message that was written by other means; it is not counted.
    pub fn of_chunks(chunks: Vec<Bytes>) -> Self {
        let mut sent = Self::new();
        sent.outgoing = Outgoing {
            length: chunks.iter().map(|chunk| chunk.len() as u64).sum(),
            chunks: chunks.into(),
        };
        sent
    }

    /// Counts it as a message without a template, for this reason.
    #[must_use]
    pub fn counted(mut self, why: NoTemplate) -> Self {
        self.count(why);
        self
    }

    #[inline]
    fn count(&mut self, why: NoTemplate) {
        match why {
            NoTemplate::First => self.counts.plain = 1,
            NoTemplate::Bypassed => self.counts.bypassed = 1,
            NoTemplate::NoMemory => self.counts.no_memory = 1,
        }
    }
}
