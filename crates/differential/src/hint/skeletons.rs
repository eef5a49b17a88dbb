//! The skeletons of one owner.
//!
//! ```text
//! message ──► begins like the skeleton used last?   check it out   ──► follow              ──► check it in
//!               │  a known key?                     check that out ──► follow              ──► check it in
//!               │  a key                            decode, and learn a skeleton           ──► check it in
//!               └─ none                             nothing to do with hints
//! ```
//!
//! While a skeleton is checked out, the next message of its key makes another one. The first message of a key is learned from
//! at once, until that was useless several times: then the second.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;

use super::block::{HintBlock, Key};
use super::reader::Lazy;
use super::skeleton::{Skeleton, learn};
use crate::bypass::{Backoff, Bypass};
use crate::cache::{Cache, Entry, GroupId, Limits, Return};
use crate::stats::HintCounts;
use crate::timing::Timer;

/// After this many skeletons in a row that no message followed, keys have to be seen twice.
const USELESS_SKELETONS: u32 = 8;
/// Keys remembered for that.
const SEEN_KEYS: usize = 64;
/// How often in a row a skeleton is learned again because a message did not follow it.
const MAX_MISSES: u32 = 2;

/// What is kept, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkeletonCachePolicy {
    /// Number of skeletons.
    pub skeletons: usize,
    /// Bytes of all skeletons. Those used least recently are evicted.
    pub bytes: usize,
}

impl Default for SkeletonCachePolicy {
    /// 64 skeletons, 16 MiB in all.
    fn default() -> Self {
        Self {
            skeletons: 64,
            bytes: 16 << 20,
        }
    }
}

/// Skeletons of one owner. They belong to the decoders of one Plan.
#[derive(Debug)]
pub struct SkeletonCache {
    policy: SkeletonCachePolicy,
    /// With one group: a message is recognised by its first bytes.
    cache: Cache<Keys, Skeleton>,
}

/// What is known of keys.
#[derive(Debug, Default)]
struct Keys {
    /// Skeletons made since one was followed.
    useless: u32,
    /// The last keys that had no skeleton.
    seen: Vec<Key>,
}

impl Keys {
    /// Whether a message of this key is to be learned from.
    fn is_worth_learning(&mut self, key: Key) -> bool {
        let is_worth_it = self.useless < USELESS_SKELETONS || self.seen.contains(&key);
        if self.seen.len() >= SEEN_KEYS {
            self.seen.remove(0);
        }
        self.seen.push(key);
        is_worth_it
    }
}

/// What a message with a hint is read with.
#[derive(Debug)]
#[must_use]
pub struct SkeletonCheckout {
    group: GroupId,
    with: With,
    /// Whether the skeleton was made of this message.
    is_new: bool,
    was_followed: bool,
}

#[derive(Debug)]
enum With {
    /// A skeleton that the message begins like.
    Skeleton(Box<Entry<Skeleton>>),
    /// A decoder; a skeleton is to be made of the message.
    New(HintBlock),
    /// A decoder.
    Plain,
}

impl SkeletonCache {
    /// An empty cache.
    pub fn new(policy: SkeletonCachePolicy) -> Self {
        Self {
            policy,
            cache: Cache::new(Limits {
                bytes: policy.bytes,
                groups: 1,
                entries: policy.skeletons,
            }),
        }
    }

    /// Chooses what the next message is read with; none if it has no hint. The result is to be
    /// [checked in](Self::check_in) afterwards, also after an error.
    #[inline]
    pub fn check_out(&mut self, root: ElementId, message: &[u8]) -> Option<SkeletonCheckout> {
        let no_memory = self.cache.next_message();
        let new = || (Keys::default(), Bypass::new(Backoff::RECEIVE));
        let (index, _) = self.cache.group_of(|_| true, new);
        let group = self.cache.group(index);
        let (id, entries) = (group.id(), group.entries());
        let is_it = |entry: &Entry<Skeleton>| {
            let skeleton = &entry.value;
            skeleton.root == root && skeleton.begins(message)
        };
        if let Some(last) = entries.last()
            && is_it(last)
        {
            let last = entries.len() - 1;
            let skeleton = With::Skeleton(self.cache.check_out(index, last));
            return Some(SkeletonCheckout::new(id, skeleton));
        }
        let block = HintBlock::find(message)?;
        let has_key = |entry: &Entry<Skeleton>| entry.value.key == block.key && is_it(entry);
        let with = match entries.iter().rposition(|entry| has_key(entry)) {
            Some(entry) => With::Skeleton(self.cache.check_out(index, entry)),
            None => {
                let is_worth_it = group.stream.is_worth_learning(block.key);
                match is_worth_it && self.policy.skeletons > 0 && !no_memory {
                    true => With::New(block),
                    false => With::Plain,
                }
            }
        };
        Some(SkeletonCheckout::new(id, with))
    }

    /// Takes a skeleton back. Returns how many were evicted.
    #[inline]
    pub fn check_in(&mut self, checkout: SkeletonCheckout) -> u64 {
        let With::Skeleton(entry) = checkout.with else {
            return 0;
        };
        if let Some(group) = self.cache.first_group() {
            match checkout.was_followed {
                true => group.stream.useless = 0,
                false => group.stream.useless += u32::from(checkout.is_new),
            }
        }
        self.cache.check_in(Return {
            group: checkout.group,
            entry: Some(entry),
            was_out: !checkout.is_new,
            is_new: false,
            timer: Timer::off(),
        })
    }

    /// Forgets everything, since there is no memory for it, and learns nothing of the next messages.
    pub fn pause(&mut self) {
        self.cache.pause();
    }

    /// Bytes held by the skeletons that are not checked out.
    pub fn memory(&self) -> usize {
        self.cache.memory() + SEEN_KEYS * size_of::<Key>()
    }

    /// How many skeletons are not checked out.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for SkeletonCache {
    fn default() -> Self {
        Self::new(SkeletonCachePolicy::default())
    }
}

impl SkeletonCheckout {
    fn new(group: GroupId, with: With) -> Self {
        Self {
            group,
            with,
            is_new: false,
            was_followed: false,
        }
    }

    /// Whether a decoder is certainly needed.
    pub fn wants_decoder(&self) -> bool {
        !matches!(self.with, With::Skeleton(_))
    }

    /// Reads a message, which must be the one that this was checked out for. A `decoder` is used, or a `new` one if there is
    /// none, only where it is needed; it is there afterwards.
    ///
    /// The values are those that a fresh decoder gives, and so are the errors.
    pub fn read(
        &mut self,
        root: ElementId,
        message: &[u8],
        decoder: &mut Option<Box<Decoder>>,
        new: &dyn Fn() -> Decoder,
    ) -> (Result<Arc<Record>, Error>, HintCounts) {
        let mut lazy = Lazy { decoder, new };
        let mut counts = HintCounts::default();
        let result = match self.follow(message, &mut lazy) {
            Some(record) => {
                counts.followed = 1;
                counts.followed_bytes = message.len() as u64;
                Ok(record)
            }
            None => self.decode(root, message, &mut lazy, &mut counts),
        };
        (result, counts)
    }

    #[inline]
    fn follow(&mut self, message: &[u8], lazy: &mut Lazy<'_>) -> Option<Arc<Record>> {
        let With::Skeleton(entry) = &mut self.with else {
            return None;
        };
        entry.value.read(message, lazy)?;
        self.was_followed = true;
        Some(Arc::clone(&entry.value.values))
    }

    /// Reads a message as any other, and learns from it.
    #[cold]
    fn decode(
        &mut self,
        root: ElementId,
        message: &[u8],
        lazy: &mut Lazy<'_>,
        counts: &mut HintCounts,
    ) -> Result<Arc<Record>, Error> {
        let (block, misses) = match &mut self.with {
            With::Skeleton(entry) => {
                counts.missed = 1;
                let misses = entry.value.misses.saturating_add(1);
                entry.value.misses = misses;
                let is_tried = misses <= MAX_MISSES || misses.is_power_of_two();
                (is_tried.then(|| HintBlock::find(message)).flatten(), misses)
            }
            With::New(block) => (Some(*block), 0),
            With::Plain => (None, 0),
        };
        let decoder = lazy.get();
        let result = match block {
            Some(block) => learn(decoder, root, message, &block),
            None => decoder
                .decode(root, message)
                .map(|record| (Arc::new(record), None)),
        };
        counts.errors = u64::from(result.is_err());
        let (record, skeleton) = result?;
        match skeleton {
            Some(skeleton) => {
                counts.learned = 1;
                self.save(*skeleton, misses);
            }
            None => counts.plain = 1,
        }
        Ok(record)
    }

    /// Puts a skeleton made of this message in the place of the one that it did not follow.
    fn save(&mut self, mut skeleton: Skeleton, misses: u32) {
        skeleton.misses = misses;
        let memory = size_of::<Entry<Skeleton>>() + skeleton.memory();
        match &mut self.with {
            With::Skeleton(entry) => {
                entry.value = skeleton;
                entry.memory = memory;
            }
            _ => {
                let mut entry = Entry::new(skeleton);
                entry.memory = memory;
                self.with = With::Skeleton(entry);
                self.is_new = true;
            }
        }
    }
}
