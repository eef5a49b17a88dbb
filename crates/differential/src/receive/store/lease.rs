//! From what is lent for a message to what is given back: the message is read meanwhile, and the store is not needed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::{Entry, ReceiveCounts, Stamp};
use crate::receive::change::Changes;
use crate::receive::kind::Sample;
use crate::receive::received::{Mode, Received, Totals};
use crate::receive::stream::{Stream, Way};

/// Shorter messages are copied to be kept: what they came in may be much larger.
const COPIED: usize = 64 << 10;

/// What a message is to be read with.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    pub(super) terms: Terms,
    pub(super) with: With,
}

/// Of which kind it is, and how it is timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) kind: u64,
    pub(super) cost: f64,
    pub(super) is_timed: bool,
    /// How many messages this one is timed for.
    pub(super) weight: u32,
}

#[derive(Debug)]
pub(super) enum With {
    /// A decoder.
    Plain { aside: bool },
    /// A decoder, which the history will keep.
    New { way: Way, sample: Box<Sample> },
    /// A history.
    History { entry: Box<Entry>, kin: Kin },
}

/// What a history that is lent has to do with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kin {
    /// It begins with it.
    New,
    /// Its message is like it ...
    Like,
    /// ... or not.
    Unlike,
}

/// A message that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Arrived {
    /// Its values. They may be kept: they are never changed.
    pub record: Arc<Record>,
    /// What changed since the message before.
    pub changes: Changes,
    /// Which message it is; none if it has no history.
    pub stamp: Option<Stamp>,
    /// Which one the changes are counted from.
    pub since: Option<Stamp>,
    /// How it was read.
    pub mode: Mode,
}

/// What comes back of a [`Lease`].
#[derive(Debug)]
#[must_use]
pub struct Settled {
    pub(super) kind: u64,
    pub(super) cost: f64,
    pub(super) was_lent: bool,
    pub(super) was_new: bool,
    pub(super) was_unlike: bool,
    /// Whether most of the message was there already.
    pub(super) was_of_use: bool,
    /// Whether the history takes as much memory as before.
    pub(super) is_as_large: bool,
    pub(super) entry: Option<Box<Entry>>,
}

/// What became of a message, and of what was lent to read it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The message.
    pub result: Result<Arrived, Error>,
    /// How it was read.
    pub counts: ReceiveCounts,
    /// For [`Store::settle`](super::Store::settle).
    pub settled: Settled,
}

impl Lease {
    /// Whether a decoder is needed to read the message.
    pub fn wants_decoder(&self) -> bool {
        !matches!(self.with, With::History { .. })
    }

    /// Reads the message, with a `decoder` if one is [wanted](Self::wants_decoder), or a `new` one if there is none; it is
    /// there afterwards unless it is kept with the history. What was lent is to be given back by
    /// [`Store::settle`](super::Store::settle), also after an error.
    pub fn receive(
        self,
        root: ElementId,
        message: &Bytes,
        decoder: &mut Option<Decoder>,
        new: impl FnOnce() -> Decoder,
    ) -> Reading {
        let terms = self.terms;
        let begun = terms.is_timed.then(Instant::now);
        match self.with {
            With::Plain { aside } => {
                let decoder = decoder.get_or_insert_with(new);
                terms.plain(decoder.decode(root, message), message.len(), aside, begun)
            }
            With::New { way, sample } => {
                let decoder = decoder.take().unwrap_or_else(new);
                let entry = Box::new(Entry {
                    stream: Box::new(Stream::with_decoder(way, decoder)),
                    sample: *sample,
                    stamp: Stamp(0),
                    last_used: 0,
                    memory: 0,
                });
                terms.kept(entry, Kin::New, root, message, begun)
            }
            With::History { entry, kin } => terms.kept(entry, kin, root, message, begun),
        }
    }
}

impl Terms {
    fn settled(self, cost: f64) -> Settled {
        Settled {
            kind: self.kind,
            cost,
            was_lent: false,
            was_new: false,
            was_unlike: false,
            was_of_use: false,
            is_as_large: false,
            entry: None,
        }
    }

    /// A message has been read without a history.
    fn plain(
        self,
        read: Result<Record, Error>,
        length: usize,
        aside: bool,
        begun: Option<Instant>,
    ) -> Reading {
        let mut counts = ReceiveCounts::default();
        let mut found = 0.0;
        match &read {
            Ok(_) => {
                found = cost(self.cost, begun.map(|begun| begun.elapsed()), length);
                counts.plain = u64::from(!aside);
                counts.aside = u64::from(aside);
            }
            Err(_) => counts.errors = 1,
        }
        Reading {
            result: read.map(Arrived::plain),
            counts,
            settled: self.settled(found),
        }
    }

    /// Reads a message with a history.
    fn kept(
        self,
        mut entry: Box<Entry>,
        kin: Kin,
        root: ElementId,
        message: &Bytes,
        begun: Option<Instant>,
    ) -> Reading {
        let length = message.len();
        let before = entry.stream.totals();
        let stood_aside = entry.stream.stands_aside();
        let since = entry.stamp;
        let (is_again, result) = read(&mut entry.stream, root, message);
        if result.is_ok() {
            // After an error the history is that of the message before, or none.
            entry.stamp = Stamp::next();
        }
        let after = entry.stream.totals();
        // Not, where there was nothing to compare with: after an error, or when a history was given up to be made anew.
        let gave_up = kin == Kin::Unlike && entry.stream.stands_aside();
        let is_in_vain = kin != Kin::New && (after.failed > before.failed || gave_up);
        let mut counts = count(&before, &after, &result, length);
        let mut settled = self.settled(0.0);
        let taken = begun.map(|begun| begun.elapsed());
        let result = result.map(|received| {
            match received.mode {
                Mode::Fast if self.cost > 0.0 => {
                    let plain = Duration::from_nanos((self.cost * length as f64) as u64);
                    counts.saved = plain.saturating_sub(taken.unwrap_or(plain)) * self.weight;
                }
                Mode::Regular | Mode::Aside => settled.cost = cost(self.cost, taken, length),
                Mode::Fast => {}
            }
            Arrived {
                since: (!received.changes.is_all()).then_some(since),
                stamp: Some(entry.stamp),
                record: received.record,
                changes: received.changes,
                mode: received.mode,
            }
        });
        settled.was_lent = true;
        settled.was_new = kin == Kin::New;
        settled.is_as_large = is_again;
        settled.was_unlike = is_in_vain && !stood_aside;
        settled.was_of_use = counts.reads.unchanged_slots * 2 > counts.reads.slots;
        settled.entry = Some(entry);
        Reading {
            result,
            counts,
            settled,
        }
    }
}

impl Arrived {
    /// A message without a history.
    pub fn plain(record: impl Into<Arc<Record>>) -> Self {
        Self {
            record: record.into(),
            changes: Changes::all(),
            stamp: None,
            since: None,
            mode: Mode::Aside,
        }
    }
}

/// Reads a message; says whether it was that of the history byte for byte.
fn read(stream: &mut Stream, root: ElementId, message: &Bytes) -> (bool, Result<Received, Error>) {
    if message.len() >= COPIED {
        return (false, stream.receive(root, message.clone()));
    }
    match stream.again(root, message) {
        Some(again) => (true, Ok(again)),
        None => {
            let own = Bytes::copy_from_slice(message);
            (false, stream.receive(root, own))
        }
    }
}

/// Tells how a message was read.
fn count(
    before: &Totals,
    after: &Totals,
    result: &Result<Received, Error>,
    length: usize,
) -> ReceiveCounts {
    let mut counts = ReceiveCounts::default();
    let Ok(received) = result else {
        counts.errors = 1;
        return counts;
    };
    let reads = &mut counts.reads;
    match received.mode {
        Mode::Regular => reads.regular = 1,
        Mode::Fast => {
            reads.fast = 1;
            let slots = received.record.slots().len();
            reads.slots = slots as u64;
            reads.unchanged_slots = (slots - received.changes.count(slots).min(slots)) as u64;
            reads.fast_bytes = length as u64;
        }
        Mode::Aside => {
            counts.aside = 1;
            return counts;
        }
    }
    reads.failed = after.failed - before.failed;
    reads.values = after.touched - before.touched;
    reads.restructured = after.restructured - before.restructured;
    reads.bytes = length as u64;
    counts
}

/// The cost of a byte, with one more message taken into account. The least counts: nothing makes a message faster than
/// it is, much makes it slower.
fn cost(known: f64, taken: Option<Duration>, bytes: usize) -> f64 {
    let Some(taken) = taken else { return known };
    let found = taken.as_nanos() as f64 / bytes.max(1) as f64;
    if known > 0.0 { known.min(found) } else { found }
}
