//! The histories of one owner: several for each kind of message, chosen by likeness, within a budget.
//!
//! ```text
//! message ──► its kind: root element, and the last tags: </m:temperature></s:Body></s:Envelope>
//!               │  a history of a message like it?   lend it            ─► compare          ─► take it back
//!               │  such a message seen before?       begin one          ─► read and keep    ─► take it in
//!               └─ otherwise                         read it; remember that there was one
//! ```
//!
//! A history is lent, not used in place, so that messages of one owner are read at the same time. Standing aside is the
//! affair of each history; what is seen here is only which messages are to be compared with which.
//!
//! A history is only made of the second of two messages of a kind: what comes once would pay for it and have nothing of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::change::Changes;
use super::exact::{Mode, Received, Totals};
use super::kind::{Sample, tail};
use super::stream::{Stream, Way};
use crate::stats::ReceiveStats;

/// Messages of a kind that are read without a history, where there is no room for one.
const STARVED: u32 = 32;
/// Shorter messages are copied to be kept: what they came in may be much larger.
const COPIED: usize = 64 << 10;
/// Shorter messages are not timed, but for one in [`TIMED`]: the clock takes as long as some of their values.
const SHORT: usize = 16 << 10;
/// See [`SHORT`].
const TIMED: u64 = 16;

/// What is kept, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorePolicy {
    /// How messages of a kind are received.
    pub way: Way,
    /// How many histories for one kind of message.
    pub histories: usize,
    /// Bytes that all may hold. Those used longest ago go first.
    pub bytes: usize,
    /// How many kinds of messages are known.
    pub kinds: usize,
}

impl Default for StorePolicy {
    /// Four for each kind of message, 64 MiB in all.
    fn default() -> Self {
        Self {
            way: Way::default(),
            histories: 4,
            bytes: 64 << 20,
            kinds: 64,
        }
    }
}

/// Histories of one owner. They belong to the decoders of one Plan.
#[derive(Debug, Default)]
pub struct Store {
    policy: StorePolicy,
    kinds: Vec<Kind>,
    /// The kind of the last message.
    latest: usize,
    /// Goes up by one with each message.
    clock: u64,
    held: usize,
    evicted: u64,
}

/// Messages that are likely to be the answer to the same question.
#[derive(Debug)]
struct Kind {
    number: u64,
    root: ElementId,
    tail: Box<[u8]>,
    /// The one used last is last.
    #[allow(clippy::vec_box)] // they are lent: moved out and in with each message
    entries: Vec<Box<Entry>>,
    /// How many are lent.
    lent: usize,
    /// How many there should be: one, until messages turn out not to be like the one before.
    wanted: usize,
    /// So many messages are not looked at.
    starved: u32,
    /// What a byte of text costs that is read without a history, in nanoseconds; 0: not known.
    cost: f64,
    last_used: u64,
}

/// A history at rest.
#[derive(Debug)]
struct Entry {
    stream: Box<Stream>,
    sample: Sample,
    /// The message it is the history of.
    stamp: Stamp,
    last_used: u64,
    memory: usize,
    /// Whether the message it is lent for is only read.
    passes: bool,
}

/// Which message it is, of all that were read with a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(u64);

impl Stamp {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// What a message is to be read with.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    kind: u64,
    cost: f64,
    is_timed: bool,
    /// How many messages this one is timed for.
    weight: u32,
    with: With,
}

#[derive(Debug)]
enum With {
    /// A decoder.
    Plain { aside: bool },
    /// A decoder, which the history will keep.
    New { way: Way, sample: Box<Sample> },
    /// A history.
    History { entry: Box<Entry>, is_like: bool },
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

/// What was saved by histories, and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiveCounts {
    /// What histories have done.
    pub reads: ReceiveStats,
    /// Messages read without one: the first of their kind, and ...
    pub plain: u64,
    /// ... those of streams that do not repeat.
    pub aside: u64,
    /// Messages with errors, however they were read.
    pub errors: u64,
    /// Histories given up for lack of room.
    pub evicted: u64,
    /// About how much longer it would have taken without histories.
    pub saved: Duration,
}

impl ReceiveCounts {
    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        self.reads.add(&other.reads);
        self.plain += other.plain;
        self.aside += other.aside;
        self.errors += other.errors;
        self.evicted += other.evicted;
        self.saved += other.saved;
    }

    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.reads.messages() + self.plain + self.aside + self.errors
    }
}

impl Store {
    /// An empty store.
    pub fn new(policy: StorePolicy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// What the next message is to be read with.
    pub fn lend(&mut self, root: ElementId, message: &[u8]) -> Lease {
        self.clock += 1;
        let (clock, policy) = (self.clock, self.policy);
        let (index, is_new) = self.kind_of(root, message);
        let held = &mut self.held;
        let kind = &mut self.kinds[index];
        kind.last_used = clock;
        let lease = |kind: &Kind, with| Lease {
            kind: kind.number,
            cost: kind.cost,
            is_timed: message.len() >= SHORT || clock.is_multiple_of(TIMED),
            weight: if message.len() >= SHORT {
                1
            } else {
                TIMED as u32
            },
            with,
        };
        if is_new || kind.starved > 0 {
            kind.starved = kind.starved.saturating_sub(1);
            return lease(kind, With::Plain { aside: !is_new });
        }
        if let Some(mut entry) = kind.entries.pop_if(|last| last.stream.passes()) {
            // What it looks like does not matter.
            *held -= entry.memory;
            kind.lent += 1;
            entry.passes = true;
            let is_like = true;
            return lease(kind, With::History { entry, is_like });
        }
        let likeliest = kind
            .entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (entry.sample.likeness(message), entry.last_used, index))
            .max();
        let all = kind.entries.len() + kind.lent;
        match likeliest {
            Some((likeness, _, index)) if likeness.is_high() || all >= kind.wanted => {
                let entry = kind.entries.remove(index);
                *held -= entry.memory;
                kind.lent += 1;
                let is_like = likeness.is_high();
                lease(kind, With::History { entry, is_like })
            }
            // All may be lent; then there are more than were wanted.
            _ if all < policy.histories => {
                kind.lent += 1;
                let sample = Box::new(Sample::of(message));
                let way = policy.way;
                lease(kind, With::New { way, sample })
            }
            _ => lease(kind, With::Plain { aside: false }),
        }
    }

    /// The kind of a message, and whether it is the first of that.
    fn kind_of(&mut self, root: ElementId, message: &[u8]) -> (usize, bool) {
        let is_it = |kind: &Kind| kind.root == root && message.ends_with(&kind.tail);
        if self.kinds.get(self.latest).is_some_and(is_it) {
            return (self.latest, false);
        }
        if let Some(found) = self.kinds.iter().position(is_it) {
            self.latest = found;
            return (found, false);
        }
        if self.kinds.len() >= self.policy.kinds.max(1) {
            self.forget_kind();
        }
        self.latest = self.kinds.len();
        self.kinds.push(Kind {
            number: self.clock,
            root,
            tail: tail(message).into(),
            entries: Vec::new(),
            lent: 0,
            wanted: 1,
            starved: 0,
            cost: 0.0,
            last_used: self.clock,
        });
        (self.latest, true)
    }

    /// Forgets the kind used longest ago.
    fn forget_kind(&mut self) {
        let oldest = self.kinds.iter().enumerate();
        let oldest = oldest.min_by_key(|(_, kind)| kind.last_used);
        let Some((index, _)) = oldest else { return };
        let kind = self.kinds.swap_remove(index);
        self.held -= kind.entries.iter().map(|it| it.memory).sum::<usize>();
        self.evicted += kind.entries.len() as u64;
    }

    /// Takes back what was lent. Answers with how many histories were given up to make room.
    pub fn settle(&mut self, settled: Settled) -> u64 {
        let position = |kind: &Kind| kind.number == settled.kind;
        let Some(index) = self.kinds.iter().position(position) else {
            return 0;
        };
        let before = self.evicted;
        let kind = &mut self.kinds[index];
        if settled.cost > 0.0 {
            kind.cost = settled.cost;
        }
        let Some(mut entry) = settled.entry else {
            kind.lent -= usize::from(settled.was_lent);
            return 0;
        };
        kind.lent -= 1;
        if settled.was_unlike {
            // Perhaps there are several streams that look alike from outside.
            kind.wanted = (kind.wanted + 1).min(self.policy.histories.max(1));
        }
        entry.last_used = self.clock;
        if !std::mem::take(&mut entry.passes) {
            entry.memory = size_of::<Entry>() + entry.stream.memory();
        }
        if entry.memory > self.policy.bytes {
            // It would be made again and again, and given up each time.
            kind.starved = STARVED;
            self.evicted += 1;
            return 1;
        }
        self.held += entry.memory;
        kind.entries.push(entry);
        self.shrink(self.policy.bytes);
        let evicted = self.evicted - before;
        if evicted > 0
            && settled.was_new
            && let Some(kind) = self.kinds.get_mut(index)
        {
            // Histories that push one another out are worth little: not with each message.
            kind.starved = STARVED;
        }
        evicted
    }

    /// Gives histories up, those used longest ago first, until no more than so many bytes are held.
    pub fn shrink(&mut self, bytes: usize) {
        while self.held > bytes {
            let all = self.kinds.iter().enumerate().flat_map(|(kind, it)| {
                let entries = it.entries.iter().enumerate();
                entries.map(move |(index, entry)| (entry.last_used, kind, index))
            });
            let Some((_, kind, index)) = all.min() else {
                return;
            };
            self.held -= self.kinds[kind].entries.remove(index).memory;
            self.evicted += 1;
        }
    }

    /// Bytes held by histories at rest.
    pub fn memory(&self) -> usize {
        let tails: usize = self.kinds.iter().map(|kind| kind.tail.len()).sum();
        self.held + self.kinds.capacity() * size_of::<Kind>() + tails
    }

    /// How many histories are at rest.
    pub fn len(&self) -> usize {
        self.kinds.iter().map(|kind| kind.entries.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.kinds = Vec::new();
        self.held = 0;
    }
}

/// What comes back of a [`Lease`].
#[derive(Debug)]
#[must_use]
pub struct Settled {
    kind: u64,
    cost: f64,
    was_lent: bool,
    was_new: bool,
    was_unlike: bool,
    entry: Option<Box<Entry>>,
}

impl Lease {
    /// Whether a decoder is needed to read the message.
    pub fn wants_decoder(&self) -> bool {
        !matches!(self.with, With::History { .. })
    }

    /// Reads the message, with a decoder if one is [wanted](Self::wants_decoder), which comes back unless it is kept with
    /// the history. What was lent is to be given back by [`Store::settle`], also after an error.
    pub fn receive(
        self,
        root: ElementId,
        message: &Bytes,
        decoder: impl FnOnce() -> Decoder,
    ) -> Reading {
        let begun = self.is_timed.then(Instant::now);
        let taken = || begun.map(|begun| begun.elapsed());
        let mut settled = Settled {
            kind: self.kind,
            cost: 0.0,
            was_lent: true,
            was_new: false,
            was_unlike: false,
            entry: None,
        };
        let mut counts = ReceiveCounts::default();
        let length = message.len();
        let (mut entry, is_like) = match self.with {
            With::Plain { aside } => {
                let mut decoder = decoder();
                let read = decoder.decode(root, message);
                settled.was_lent = false;
                let result = match read {
                    Ok(record) => {
                        settled.cost = cost(self.cost, taken(), length);
                        counts.plain = u64::from(!aside);
                        counts.aside = u64::from(aside);
                        Ok(Arrived::plain(record))
                    }
                    Err(error) => {
                        counts.errors = 1;
                        Err(error)
                    }
                };
                return Reading {
                    result,
                    counts,
                    settled,
                    decoder: Some(Box::new(decoder)),
                };
            }
            With::New { way, sample } => {
                settled.was_new = true;
                let entry = Entry {
                    stream: Box::new(Stream::with_decoder(way, decoder())),
                    sample: *sample,
                    stamp: Stamp(0),
                    last_used: 0,
                    memory: 0,
                    passes: false,
                };
                (Box::new(entry), true)
            }
            With::History { mut entry, is_like } => {
                if !entry.passes {
                    entry.sample.take(message);
                }
                (entry, is_like)
            }
        };
        let before = entry.stream.totals();
        let stood_aside = entry.stream.stands_aside();
        let text = match length < COPIED && !entry.passes {
            true => Bytes::copy_from_slice(message),
            false => message.clone(),
        };
        let since = entry.stamp;
        let result = entry.stream.receive(root, text);
        if result.is_ok() {
            // After an error the history is that of the message before, or none.
            entry.stamp = Stamp::next();
        }
        settled.was_unlike = !is_like && !stood_aside && entry.stream.stands_aside();
        count(
            &mut counts,
            &before,
            &entry.stream.totals(),
            &result,
            length,
        );
        let result = result.map(|received| {
            match received.mode {
                Mode::Fast if self.cost > 0.0 => {
                    let plain = Duration::from_nanos((self.cost * length as f64) as u64);
                    counts.saved = plain.saturating_sub(taken().unwrap_or(plain)) * self.weight;
                }
                Mode::Regular | Mode::Aside => settled.cost = cost(self.cost, taken(), length),
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
        settled.entry = Some(entry);
        Reading {
            result,
            counts,
            settled,
            decoder: None,
        }
    }
}

/// What became of a message, and of what was lent to read it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The message.
    pub result: Result<Arrived, Error>,
    /// How it was read.
    pub counts: ReceiveCounts,
    /// For [`Store::settle`].
    pub settled: Settled,
    /// The decoder, if it was not kept. (Boxed, for most messages need none, and it is large to move.)
    pub decoder: Option<Box<Decoder>>,
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

/// Tells how a message was read.
fn count(
    counts: &mut ReceiveCounts,
    before: &Totals,
    after: &Totals,
    result: &Result<Received, Error>,
    length: usize,
) {
    let Ok(received) = result else {
        counts.errors = 1;
        return;
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
            return;
        }
    }
    reads.failed = after.failed - before.failed;
    reads.values = after.touched - before.touched;
    reads.restructured = after.restructured - before.restructured;
    reads.bytes = length as u64;
}

/// The cost of a byte, with one more message taken into account. The least counts: nothing makes a message faster than
/// it is, much makes it slower.
fn cost(known: f64, taken: Option<Duration>, bytes: usize) -> f64 {
    let Some(taken) = taken else { return known };
    let found = taken.as_nanos() as f64 / bytes.max(1) as f64;
    if known > 0.0 { known.min(found) } else { found }
}
