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
use crate::send::chunk::Text;
use crate::send::deflate::Folds;
use crate::send::plain;
use crate::send::template::{Match, Outgoing, Pieces, Template};
use crate::stats::SendStats;

/// From this share of the values on, writing them into a template costs more than a message from first to last.
const MOST: f64 = 0.8;

/// What a message is to be written with.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    pub(super) stream: Stream,
    pub(super) pace: Pace,
    pub(super) is_timed: bool,
    /// Templates given up to make room for it.
    pub(super) evicted: u64,
    pub(super) with: With,
    /// Where the text goes if it is large and there is no template.
    pub(super) buffer: Option<Box<Text>>,
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
    pub folds: Option<Arc<Mutex<Folds>>>,
}

/// What comes back of a [`Lease`].
#[derive(Debug)]
#[must_use]
pub struct Settled {
    pub(super) stream: Stream,
    pub(super) pace: Option<Pace>,
    pub(super) evicted: u64,
    pub(super) use_of: Use,
    pub(super) buffer: Option<Box<Text>>,
    /// The template that was lent, and one that was made.
    pub(super) lent: [Option<Box<Lent>>; 2],
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

    /// Writes the message. Where a template was lent `record` gets the values of the message before in exchange, a buffer for
    /// those of the next. What was lent is to be given back by [`Store::settle`](super::Store::settle), also after an error.
    pub fn send(self, record: &mut Record) -> (Result<Sent, Error>, Settled) {
        let begun = self.is_timed.then(Instant::now);
        let mut settled = Settled {
            stream: self.stream,
            pace: None,
            evicted: self.evicted,
            use_of: Use::Later,
            buffer: self.buffer,
            lent: [None, None],
        };
        let timing = Timing {
            pace: self.pace,
            begun,
        };
        // Filled where it stands: it is large, and moving it takes time.
        let mut sent = Sent {
            outgoing: Outgoing::default(),
            counts: SendCounts::default(),
            folds: None,
        };
        let written = match self.with {
            With::Plain { aside } => settled.plain(record, aside, timing, &mut sent),
            With::Template(lent) => settled.write(lent, record, timing, &mut sent),
        };
        if written.is_ok() {
            sent.counts.evicted = std::mem::take(&mut settled.evicted);
        }
        (written.map(|()| sent), settled)
    }
}

/// What the clock said before, and when the message was begun, if it is timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pace: Pace,
    begun: Option<Instant>,
}

impl Settled {
    /// Writes a message without a template.
    fn plain(
        &mut self,
        record: &Record,
        aside: bool,
        timing: Timing,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        sent.outgoing = plain_text(record, &mut self.buffer)?;
        sent.counts.plain = u64::from(!aside);
        sent.counts.aside = u64::from(aside);
        let taken = timing.begun.map(|begun| begun.elapsed());
        self.pace = taken.map(|taken| timing.pace.plain(taken, sent.outgoing.length));
        Ok(())
    }

    /// Writes a message by a template, or by one that is made for it.
    #[inline]
    fn write(
        &mut self,
        lent: Box<Lent>,
        record: &mut Record,
        timing: Timing,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        let lent = self.lent[0].insert(lent);
        let before = *lent.template.stats();
        let Some(matched) = lent.update(record)? else {
            return self.stranger(record, timing, sent);
        };
        lent.tell(&before, sent);
        self.use_of = use_of(&lent.template, matched, &sent.counts.matches);
        if matched != Match::FirstTime {
            let pace = timing
                .begun
                .map(|begun| timing.pace.updated(begun.elapsed()));
            self.pace = pace;
            sent.counts.saved = pace.unwrap_or(timing.pace).saved(sent.outgoing.length);
        }
        Ok(())
    }

    /// Writes a message that has another structure than the template that was lent: plainly, the first time.
    #[cold]
    fn stranger(
        &mut self,
        record: &mut Record,
        timing: Timing,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        if let [Some(lent), made] = &mut self.lent {
            let structure = lent.structure(record);
            if lent.strangers.has(structure) {
                let (policy, options) = (*lent.template.policy(), *lent.template.options());
                let made = made.insert(Lent::new(Template::new(policy, options), &lent.account));
                made.update(record)?;
                made.tell(&SendStats::default(), sent);
                return Ok(());
            }
            lent.strangers.add(structure);
        }
        self.use_of = Use::Stranger;
        self.plain(record, false, timing, sent)
    }
}

/// What a template was good for, by what had to be written: the clock would judge the same stream this way or that on a busy
/// machine. A value of the length it had costs about what it costs in a message written from first to last, one of another
/// length twice that, and so does a chunk that is encoded anew.
pub(super) fn use_of(template: &Template, matched: Match, counted: &SendStats) -> Use {
    let is_useless = match matched {
        Match::Content => false,
        Match::FirstTime => return Use::Later,
        Match::PerfectStructural | Match::PartialStructural => {
            let moved = counted.stolen + counted.shifted + counted.rewritten;
            let values = (counted.values + moved) as f64 / template.values().max(1) as f64;
            let chunks = counted.encoded_chunks as f64 / template.chunks().len().max(1) as f64;
            values + 2.0 * chunks > MOST
        }
    };
    if is_useless { Use::None } else { Use::Some }
}

impl Sent {
    /// A message written from first to last, of which nothing is kept; not counted.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn plain(record: &Record) -> Result<Self, Error> {
        Ok(Self {
            outgoing: plain_text(record, &mut None)?,
            counts: SendCounts::default(),
            folds: None,
        })
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

pub(super) fn plain_text(
    record: &Record,
    buffer: &mut Option<Box<Text>>,
) -> Result<Outgoing, Error> {
    let text = plain::text(record, buffer)?;
    Ok(Outgoing {
        length: text.len() as u64,
        chunks: Pieces::from_buf([text]),
    })
}
