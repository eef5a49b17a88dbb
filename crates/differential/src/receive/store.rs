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

mod lease;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bsoap_codec::plan::ElementId;

use super::kind::{Likeness, Sample, tail};
use super::stream::{Stream, Way};
use crate::stats::ReceiveStats;

pub use lease::{Arrived, Lease, Reading, Settled};

use lease::{Kin, Terms, With};

/// So many histories are tried, also if none is of use.
const FREE: usize = 4;
/// Messages of a kind that are read without a history, where there is no room for one.
const STARVED: u32 = 32;
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
    /// Eight for each kind of message, 64 MiB in all.
    fn default() -> Self {
        Self {
            way: Way::default(),
            histories: 8,
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
    /// Whether any was of use since one more was wanted.
    is_of_use: bool,
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

impl Kind {
    /// The history of the message that this one is most like.
    fn likeliest(&self, sample: &Sample, message: &[u8]) -> Option<(Likeness, usize)> {
        let mut likeliest = None;
        for (index, entry) in self.entries.iter().enumerate().rev() {
            let likeness = entry.sample.likeness(sample, message);
            if likeliest.is_none_or(|(most, _)| likeness > most) {
                likeliest = Some((likeness, index));
            }
            if likeness.is_full() {
                break;
            }
        }
        likeliest
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
        let is_short = message.len() < SHORT;
        let lease = |kind: &Kind, with| Lease {
            terms: Terms {
                kind: kind.number,
                cost: kind.cost,
                is_timed: !is_short || clock.is_multiple_of(TIMED),
                weight: if is_short { TIMED as u32 } else { 1 },
            },
            with,
        };
        if is_new || kind.starved > 0 {
            kind.starved = kind.starved.saturating_sub(1);
            return lease(kind, With::Plain { aside: !is_new });
        }
        if let Some(last) = kind.entries.last_mut()
            && last.stream.pass()
        {
            // What it looks like does not matter, and nothing of it is needed.
            last.last_used = clock;
            return lease(kind, With::Plain { aside: true });
        }
        let sample = Sample::of(message);
        let likeliest = kind.likeliest(&sample, message);
        let all = kind.entries.len() + kind.lent;
        match likeliest {
            Some((likeness, index)) if likeness.is_full() || all >= kind.wanted => {
                // If it is like none, it takes the place of what has not been of use for longest.
                let kin = if likeness.is_high() {
                    Kin::Like
                } else {
                    Kin::Unlike
                };
                let index = if likeness.is_low() { 0 } else { index };
                let mut entry = kind.entries.remove(index);
                entry.sample = sample;
                *held -= entry.memory;
                kind.lent += 1;
                lease(kind, With::History { entry, kin })
            }
            // All may be lent; then there are more than were wanted.
            _ if all < policy.histories => {
                kind.lent += 1;
                let sample = Box::new(sample);
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
            is_of_use: false,
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
        kind.is_of_use |= settled.was_of_use;
        if settled.was_unlike && (kind.is_of_use || kind.wanted < FREE) {
            // Perhaps there are several streams that look alike from outside.
            kind.wanted = (kind.wanted + 1).min(self.policy.histories.max(1));
            kind.is_of_use = false;
        }
        entry.last_used = self.clock;
        if !settled.is_as_large {
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
