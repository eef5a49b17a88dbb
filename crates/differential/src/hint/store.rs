//! The skeletons of one owner, within a budget.
//!
//! ```text
//! message ──► begins as those of the skeleton used last?   lend it             ─► follow             ─► take it back
//!               │  a key that is known?                    lend that           ─► follow             ─► take it back
//!               │  a key                                   read it, and learn  ─► skeleton           ─► take it in
//!               └─ none                                    nothing to do with hints
//! ```
//!
//! A skeleton is lent, not used in place, so that messages of one owner are read at the same time; while one is lent, the
//! next message of its key makes another. The first message of a key is learned from at once, until that turns out to be
//! wasted several times: then the second.

use std::sync::Arc;

use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{DecodeOptions, Record};

use super::block::{Block, Key};
use super::reader::Lazy;
use super::skeleton::{Skeleton, learn};

/// So many skeletons that nothing followed, and keys are to be seen twice.
const WASTED: u32 = 8;
/// So many keys are remembered for that.
const SEEN: usize = 64;
/// So often in a row a skeleton is learned anew because a message did not follow it.
const MISSES: u32 = 2;

/// What is kept, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorePolicy {
    /// How many skeletons.
    pub skeletons: usize,
    /// Bytes that all may hold. Those used longest ago go first.
    pub bytes: usize,
}

impl Default for StorePolicy {
    /// 64 of them, 16 MiB in all.
    fn default() -> Self {
        Self {
            skeletons: 64,
            bytes: 16 << 20,
        }
    }
}

/// Skeletons of one owner. They belong to the decoders of one Plan.
#[derive(Debug, Default)]
pub struct Store {
    policy: StorePolicy,
    /// The one used last is last.
    #[allow(clippy::vec_box)] // they are lent: moved out and in with each message
    entries: Vec<Box<Entry>>,
    held: usize,
    /// Skeletons that went without a message that followed them, since one did not.
    wasted: u32,
    /// The keys learned from or passed over last.
    seen: Vec<Key>,
}

/// A skeleton at rest.
#[derive(Debug)]
struct Entry {
    skeleton: Skeleton,
    /// Whether a message followed it.
    is_used: bool,
    memory: usize,
}

/// What a message with a hint is to be read with.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    with: With,
}

#[derive(Debug)]
enum With {
    /// A skeleton it begins like.
    Skeleton(Box<Entry>),
    /// Nothing; a skeleton is to be made of it.
    New(Block),
    /// Nothing.
    Plain,
}

/// For [`Store::settle`].
#[derive(Debug, Default)]
#[must_use]
pub struct Settled {
    entry: Option<Box<Entry>>,
}

/// What became of a message, and of what was lent to read it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// Its values. They may be kept: they are never changed.
    pub result: Result<Arc<Record>, Error>,
    /// How it was read.
    pub counts: HintCounts,
    /// For [`Store::settle`].
    pub settled: Settled,
    /// The decoder, if one was needed. (Boxed, for most messages need none, and it is large to move.)
    pub decoder: Option<Box<Decoder>>,
}

/// What became of messages with hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HintCounts {
    /// Messages that followed a skeleton.
    pub followed: u64,
    /// Messages read as any other, of which skeletons were made: the first of their key, and those that ...
    pub learned: u64,
    /// ... began like a skeleton, and did not follow it.
    pub missed: u64,
    /// Messages read as any other, of which no skeleton was made.
    pub plain: u64,
    /// Messages with errors.
    pub errors: u64,
    /// Bytes of the messages that followed a skeleton.
    pub followed_bytes: u64,
    /// Skeletons given up for lack of room.
    pub evicted: u64,
    /// Of the messages sent, those with a hint.
    pub given: u64,
}

impl HintCounts {
    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        let Self {
            followed,
            learned,
            missed,
            plain,
            errors,
            followed_bytes,
            evicted,
            given,
        } = self;
        *followed += other.followed;
        *learned += other.learned;
        *missed += other.missed;
        *plain += other.plain;
        *errors += other.errors;
        *followed_bytes += other.followed_bytes;
        *evicted += other.evicted;
        *given += other.given;
    }

    /// How many messages with hints were received.
    pub fn messages(&self) -> u64 {
        self.followed + self.learned + self.plain + self.errors
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

    /// What the next message is to be read with; nothing if it has no hint.
    #[inline]
    pub fn lend(&mut self, root: ElementId, message: &[u8]) -> Option<Lease> {
        let is_it =
            |entry: &mut Box<Entry>| entry.skeleton.root == root && entry.skeleton.begins(message);
        match self.entries.pop_if(is_it) {
            Some(entry) => Some(self.lease(entry)),
            None => self.seek(root, message),
        }
    }

    fn lease(&mut self, entry: Box<Entry>) -> Lease {
        self.held -= entry.memory;
        Lease {
            with: With::Skeleton(entry),
        }
    }

    fn seek(&mut self, root: ElementId, message: &[u8]) -> Option<Lease> {
        let block = Block::find(message)?;
        #[allow(clippy::borrowed_box)] // it is what the iterator gives
        let is_it = |entry: &Box<Entry>| {
            let skeleton = &entry.skeleton;
            skeleton.key == block.key && skeleton.root == root && skeleton.begins(message)
        };
        if let Some(index) = self.entries.iter().rposition(is_it) {
            let entry = self.entries.remove(index);
            return Some(self.lease(entry));
        }
        let is_worth_it =
            self.policy.skeletons > 0 && (self.wasted < WASTED || self.seen.contains(&block.key));
        if self.seen.len() >= SEEN {
            self.seen.remove(0);
        }
        self.seen.push(block.key);
        let with = if is_worth_it {
            With::New(block)
        } else {
            With::Plain
        };
        Some(Lease { with })
    }

    /// Takes back what was lent. Answers with how many skeletons were given up to make room.
    #[inline]
    pub fn settle(&mut self, settled: Settled) -> u64 {
        let Some(entry) = settled.entry else {
            return 0;
        };
        if entry.is_used {
            self.wasted = 0;
        }
        self.held += entry.memory;
        self.entries.push(entry);
        if self.held > self.policy.bytes || self.entries.len() > self.policy.skeletons {
            return self.shrink(self.policy.bytes);
        }
        0
    }

    /// Gives skeletons up, those used longest ago first, until no more than so many bytes are held. Answers with how many.
    pub fn shrink(&mut self, bytes: usize) -> u64 {
        let mut gone = 0;
        while !self.entries.is_empty()
            && (self.held > bytes || self.entries.len() > self.policy.skeletons)
        {
            let entry = self.entries.remove(0);
            self.held -= entry.memory;
            self.wasted += u32::from(!entry.is_used);
            gone += 1;
        }
        gone
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.policy);
    }

    /// Bytes held by skeletons at rest.
    pub fn memory(&self) -> usize {
        self.held + self.entries.capacity() * size_of::<Box<Entry>>() + SEEN * size_of::<Key>()
    }

    /// How many skeletons are at rest.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Entry {
    fn new(skeleton: Skeleton) -> Box<Self> {
        Box::new(Self {
            memory: size_of::<Self>() + skeleton.memory(),
            skeleton,
            is_used: false,
        })
    }
}

impl Lease {
    /// Whether a decoder will be needed for sure.
    pub fn wants_decoder(&self) -> bool {
        !matches!(self.with, With::Skeleton(_))
    }

    /// Reads a message, which must be the one that this was lent for. `decoder` is asked for one if that is needed.
    ///
    /// The values are those that a fresh decoder gives, and so are the errors.
    pub fn read(
        self,
        root: ElementId,
        message: &[u8],
        decoder: impl FnOnce() -> Decoder,
    ) -> Reading {
        let mut lazy = Lazy::new(decoder);
        let mut counts = HintCounts::default();
        let (block, misses) = match self.with {
            With::Skeleton(mut entry) => {
                if entry.skeleton.follow(message, &mut lazy) {
                    counts.followed = 1;
                    counts.followed_bytes = message.len() as u64;
                    (entry.is_used, entry.skeleton.misses) = (true, 0);
                    return Reading {
                        result: Ok(entry.skeleton.values.keep()),
                        counts,
                        settled: Settled { entry: Some(entry) },
                        decoder: lazy.decoder.map(Box::new),
                    };
                }
                counts.missed = 1;
                return entry.missed(root, message, counts, lazy);
            }
            With::New(block) => (Some(block), 0),
            With::Plain => (None, 0),
        };
        read(root, message, block, misses, counts, lazy)
    }
}

impl Entry {
    /// A message did not follow.
    #[cold]
    fn missed<F: FnOnce() -> Decoder>(
        mut self: Box<Self>,
        root: ElementId,
        message: &[u8],
        counts: HintCounts,
        lazy: Lazy<F>,
    ) -> Reading {
        let misses = self.skeleton.misses.saturating_add(1);
        self.skeleton.misses = misses;
        let is_tried = misses <= MISSES || misses.is_power_of_two();
        let block = is_tried.then(|| Block::find(message)).flatten();
        let mut reading = read(root, message, block, misses, counts, lazy);
        if reading.settled.entry.is_none() {
            reading.settled.entry = Some(self);
        }
        reading
    }
}

/// Reads a message as any other, and learns from it.
#[cold]
fn read<F: FnOnce() -> Decoder>(
    root: ElementId,
    message: &[u8],
    block: Option<Block>,
    misses: u32,
    mut counts: HintCounts,
    mut lazy: Lazy<F>,
) -> Reading {
    let mut settled = Settled::default();
    let result = match (lazy.get(), block) {
        (Some(decoder), Some(block)) => learn(decoder, root, message, &block),
        (Some(decoder), None) => decoder
            .decode(root, message)
            .map(|record| (Arc::new(record), None)),
        (None, _) => unreachable!("a decoder is made when it is asked for"),
    };
    let result = result.map(|(record, skeleton)| {
        match skeleton {
            Some(mut skeleton) => {
                skeleton.misses = misses;
                settled.entry = Some(Entry::new(*skeleton));
                counts.learned = 1;
            }
            None => counts.plain = 1,
        }
        record
    });
    counts.errors = u64::from(result.is_err());
    Reading {
        result,
        counts,
        settled,
        decoder: lazy.decoder.map(Box::new),
    }
}

/// Reads the messages of a stream with the help of the hints in them, as far as they have any.
#[derive(Debug)]
pub struct Reader {
    plan: Arc<Plan>,
    options: DecodeOptions,
    decoder: Option<Box<Decoder>>,
    store: Store,
    counts: HintCounts,
    /// A message that followed no skeleton.
    last: Option<Arc<Record>>,
}

impl Reader {
    /// For messages that are read by this Plan.
    pub fn new(plan: Arc<Plan>, options: DecodeOptions, policy: StorePolicy) -> Self {
        Self {
            plan,
            options,
            decoder: None,
            store: Store::new(policy),
            counts: HintCounts::default(),
            last: None,
        }
    }

    /// Reads a whole message, whose root element must be `root`.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn receive(&mut self, root: ElementId, message: &[u8]) -> Result<Arc<Record>, Error> {
        let lease = self
            .store
            .lend(root, message)
            .unwrap_or(Lease { with: With::Plain });
        let (plan, options, own) = (&self.plan, self.options, &mut self.decoder);
        let reading = lease.read(root, message, || match own.take() {
            Some(decoder) => *decoder,
            None => Decoder::new(plan.clone(), options),
        });
        self.counts.add(&reading.counts);
        self.counts.evicted += self.store.settle(reading.settled);
        if reading.decoder.is_some() {
            self.decoder = reading.decoder;
        }
        reading.result
    }

    /// The same; the values are there until the next message is read, and their memory is used again.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn read(&mut self, root: ElementId, message: &[u8]) -> Result<&Record, Error> {
        if let Some(entry) = self.store.entries.last_mut()
            && entry.skeleton.root == root
            && entry.skeleton.begins(message)
        {
            let mut lazy = Lazy::new(|| match self.decoder.take() {
                Some(decoder) => *decoder,
                None => Decoder::new(self.plan.clone(), self.options),
            });
            entry.skeleton.values.take_back();
            let follows = entry.skeleton.follow(message, &mut lazy);
            if let Some(decoder) = lazy.decoder {
                self.decoder = Some(Box::new(decoder));
            }
            if follows {
                (entry.is_used, entry.skeleton.misses) = (true, 0);
                self.counts.followed += 1;
                self.counts.followed_bytes += message.len() as u64;
                return match self.store.entries.last() {
                    Some(entry) => Ok(entry.skeleton.values.get()),
                    None => unreachable!("it was there just now"),
                };
            }
        }
        self.last = Some(self.receive(root, message)?);
        match &self.last {
            Some(record) => Ok(record),
            None => unreachable!("it was put there just now"),
        }
    }

    /// What has been done so far.
    pub fn counts(&self) -> &HintCounts {
        &self.counts
    }

    /// The skeletons kept.
    pub fn store(&self) -> &Store {
        &self.store
    }
}
