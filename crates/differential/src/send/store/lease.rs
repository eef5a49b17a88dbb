//! From what is lent for a message to what is given back: the message is written meanwhile, and the store is not needed.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use bsoap_codec::Record;
use bsoap_codec::encode::Error;
use bytes::Bytes;

use super::Stream;
use super::counts::SendCounts;
use super::lent::Lent;
use super::pace::Pace;
use super::worth::use_of;
use crate::send::chunk::Text;
use crate::send::gzip::GzipCache;
use crate::send::plain;
use crate::send::template::{Match, Outgoing, Template};
use crate::stats::SendStats;

/// What a message is to be written with. It goes back to the store by [`Store::settle`](super::Store::settle), with what was
/// learned.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    pub(super) stream: Stream,
    pub(super) with: With,
    /// Where the text goes if it is large and there is no template.
    pub(super) buffer: Option<Box<Text>>,
    /// A template that was made.
    pub(super) made: Option<Box<Lent>>,
    pub(super) pace: Pace,
    /// Whether the clock said something new.
    pub(super) is_paced: bool,
    pub(super) is_timed: bool,
    pub(super) use_of: Use,
    /// Templates given up to make room for it, that nobody was told of.
    pub(super) evicted: u64,
}

#[derive(Debug)]
pub(super) enum With {
    /// Nothing.
    Plain {
        aside: bool,
    },
    Template(Box<Lent>),
}

/// A message that was written.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sent {
    /// The text.
    pub outgoing: Outgoing,
    /// What was there already.
    pub counts: SendCounts,
    /// What its chunks are compressed to, if that is kept.
    pub folds: Option<Arc<Mutex<GzipCache>>>,
}

/// What a template was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Some of the message was there already.
    Some,
    /// As good as nothing.
    None,
    /// It was not used: the message has another structure.
    Stranger,
    /// It is the first message.
    Later,
}

impl Lease {
    /// Whether nothing is lent and nothing will be learned: the message is to be written, and that is all.
    #[inline]
    pub fn is_aside(&self) -> bool {
        matches!(self.with, With::Plain { aside: true }) && self.buffer.is_none()
    }

    /// Writes the message. Where a template was lent `record` gets the values of the message before in exchange, a buffer
    /// for those of the next. What was lent is to be given back also after an error.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn send(&mut self, record: &mut Record) -> Result<Sent, Error> {
        let begun = self.is_timed.then(Instant::now);
        let mut sent = Sent::new();
        match self.with {
            With::Plain { aside } => self.plain(record, aside, begun, &mut sent)?,
            With::Template(_) => self.write(record, begun, &mut sent)?,
        }
        sent.counts.evicted = std::mem::take(&mut self.evicted);
        Ok(sent)
    }

    /// Writes a message without a template.
    #[inline]
    fn plain(
        &mut self,
        record: &Record,
        aside: bool,
        begun: Option<Instant>,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        plain::prepare(record, &mut self.buffer, &mut sent.outgoing)?;
        sent.counts.plain = u64::from(!aside);
        sent.counts.aside = u64::from(aside);
        if let Some(begun) = begun {
            self.pace = self.pace.plain(begun.elapsed(), sent.outgoing.length);
            self.is_paced = true;
        }
        Ok(())
    }

    /// Writes a message by the template that was lent, or by one that is made for it.
    #[inline]
    fn write(
        &mut self,
        record: &mut Record,
        begun: Option<Instant>,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        let With::Template(lent) = &mut self.with else {
            unreachable!("a template was lent");
        };
        let before = *lent.template.stats();
        let Some(matched) = lent.update(record)? else {
            return self.stranger(record, begun, sent);
        };
        lent.tell(&before, sent);
        self.use_of = use_of(&lent.template, matched, &sent.counts.matches);
        if matched != Match::FirstTime {
            if let Some(begun) = begun {
                self.pace = self.pace.updated(begun.elapsed());
                self.is_paced = true;
            }
            sent.counts.saved = self.pace.saved(sent.outgoing.length);
        }
        Ok(())
    }

    /// Writes a message that has another structure than the template that was lent: plainly, the first time.
    #[cold]
    fn stranger(
        &mut self,
        record: &mut Record,
        begun: Option<Instant>,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        if let With::Template(lent) = &mut self.with {
            let structure = lent.structure(record);
            if lent.strangers.has(structure) {
                let (policy, options) = (*lent.template.policy(), *lent.template.options());
                let account = lent.account.as_ref();
                let made = Lent::new(Template::new(policy, options), account);
                let made = self.made.insert(made);
                made.update(record)?;
                made.tell(&SendStats::default(), sent);
                return Ok(());
            }
            lent.strangers.add(structure);
        }
        self.use_of = Use::Stranger;
        self.plain(record, false, begun, sent)
    }
}

impl Sent {
    #[inline]
    fn new() -> Self {
        Self {
            outgoing: Outgoing::default(),
            counts: SendCounts::default(),
            folds: None,
        }
    }

    /// A message written from first to last, of which nothing is kept; not counted.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn plain(record: &Record) -> Result<Self, Error> {
        let mut sent = Self::new();
        plain::prepare(record, &mut None, &mut sent.outgoing)?;
        Ok(sent)
    }

    /// A message that was written by others, of which nothing is kept; not counted.
    pub fn of_chunks(chunks: Vec<Bytes>) -> Self {
        let outgoing = Outgoing {
            length: chunks.iter().map(|chunk| chunk.len() as u64).sum(),
            chunks: chunks.into(),
        };
        Self {
            outgoing,
            counts: SendCounts::default(),
            folds: None,
        }
    }

    /// Counts it as one of a stream whose messages have nothing in common.
    #[must_use]
    pub fn aside(mut self) -> Self {
        self.counts.aside = 1;
        self
    }

    /// Counts a [plain](Self::plain) message as one for whose template there was no room.
    #[must_use]
    pub fn starved(mut self) -> Self {
        self.counts.starved = 1;
        self
    }
}
