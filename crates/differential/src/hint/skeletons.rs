//! The cache of skeletons of one owner.
//!
//! ```text
//! message ──► begins like the skeleton used last?   check it out   ──► follow              ──► check it in
//!               │  a skeleton with its key?         check it out   ──► follow              ──► check it in
//!               │  another key                      decode, and make a skeleton            ──► check it in
//!               └─ no key                           the message has no hint
//! ```
//!
//! While a skeleton is checked out, the next message with its key makes another one. A skeleton is made of the first message
//! with a key. If several skeletons were useless, it is made of the second message with a key.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;

use super::block::{HintBlock, Key};
use super::reader::Lazy;
use super::skeleton::{Skeleton, learn};
use crate::bypass::{Backoff, Bypass};
use crate::cache::{Cache, Checkout, Entry, Limits};
use crate::stats::HintCounts;

/// After this number of skeletons in a row that no message followed, a key must be seen twice before a skeleton is made.
const USELESS_SKELETONS: u32 = 8;
/// The number of keys that are remembered for that.
const SEEN_KEYS: usize = 64;
/// The number of times in a row that a skeleton is made again because a message did not follow it.
const MAX_MISSES: u32 = 2;

/// The limits of a [`SkeletonCache`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkeletonCachePolicy {
    /// The maximum number of skeletons.
    pub skeletons: usize,
    /// The maximum size of all skeletons in bytes. The least recently used ones are evicted.
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

/// The skeletons of one owner, for messages of one Plan.
#[derive(Debug)]
pub struct SkeletonCache {
    policy: SkeletonCachePolicy,
    /// All skeletons are in one group, because a message is recognised by its first bytes.
    cache: Cache<Keys, Skeleton>,
}

/// What is known about the structure keys of an owner's messages.
#[derive(Debug, Default)]
struct Keys {
    /// The number of skeletons made since a message last followed one.
    useless: u32,
    /// The last keys that had no skeleton.
    seen: Vec<Key>,
}

impl Keys {
    /// Whether a skeleton is to be made of a message with this key, which has none yet.
    fn is_worth_learning(&mut self, key: Key) -> bool {
        let is_worth_it = self.useless < USELESS_SKELETONS || self.seen.contains(&key);
        if self.seen.len() >= SEEN_KEYS {
            self.seen.remove(0);
        }
        self.seen.push(key);
        is_worth_it
    }
}

/// What one message with a hint is read with: a skeleton, or only a decoder.
#[derive(Debug)]
#[must_use]
pub struct SkeletonCheckout {
    /// Contains a skeleton if the message begins with its head.
    saved: Checkout<Skeleton>,
    /// The block of the message, if there is no skeleton and one is to be made of the message.
    block: Option<HintBlock>,
    /// Whether the message followed the skeleton.
    was_followed: bool,
    /// The largest number of bytes of the Record.
    most_memory: usize,
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

    /// Chooses what the next message is read with. `None` if it has no hint. The result has to be [checked in](Self::check_in)
    /// afterwards, also after an error.
    #[inline]
    pub fn check_out(&mut self, root: ElementId, message: &[u8]) -> Option<SkeletonCheckout> {
        let no_memory = self.cache.next_message();
        let new = || (Keys::default(), Bypass::new(Backoff::RECEIVE));
        let (index, _) = self.cache.group_of(|_| true, new);
        let group = self.cache.group(index);
        let entries = group.entries();
        let is_it = |entry: &Entry<Skeleton>| {
            let skeleton = &entry.value;
            skeleton.root == root && skeleton.begins(message)
        };
        if let Some(last) = entries.last()
            && is_it(last)
        {
            let last = entries.len() - 1;
            return Some(SkeletonCheckout::new(
                self.cache.check_out(index, last, false),
                None,
            ));
        }
        let block = HintBlock::find(message)?;
        let has_key = |entry: &Entry<Skeleton>| entry.value.key == block.key && is_it(entry);
        if let Some(entry) = entries.iter().rposition(|entry| has_key(entry)) {
            return Some(SkeletonCheckout::new(
                self.cache.check_out(index, entry, false),
                None,
            ));
        }
        let is_worth_it = group.stream.is_worth_learning(block.key);
        let learns = is_worth_it && self.policy.skeletons > 0 && !no_memory;
        let saved = match learns {
            true => self.cache.check_out_new(index, false),
            false => self.cache.check_out_nothing(index, false),
        };
        Some(SkeletonCheckout::new(saved, learns.then_some(block)))
    }

    /// Takes back what was checked out. Returns the number of skeletons that were evicted.
    #[inline]
    pub fn check_in(&mut self, checkout: SkeletonCheckout) -> u64 {
        let SkeletonCheckout {
            saved,
            was_followed,
            ..
        } = checkout;
        if let (Some(group), true) = (self.cache.group_with(&saved), saved.entry.is_some()) {
            match was_followed {
                true => group.stream.useless = 0,
                false => group.stream.useless += u32::from(saved.is_new),
            }
        }
        self.cache.check_in(saved)
    }

    /// Drops all skeletons because the budget has no memory for them. No skeletons are made of the next messages.
    pub fn pause(&mut self) {
        self.cache.pause();
    }

    /// The size in bytes of the skeletons that are not checked out.
    pub fn memory(&self) -> usize {
        self.cache.memory() + SEEN_KEYS * size_of::<Key>()
    }

    /// The number of skeletons that are not checked out.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Whether there are no skeletons that are not checked out.
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
    fn new(saved: Checkout<Skeleton>, block: Option<HintBlock>) -> Self {
        Self {
            saved,
            block,
            was_followed: false,
            most_memory: usize::MAX,
        }
    }

    /// Limits the memory of the message's Record; see [`Decoder::limit_record`].
    pub fn limit_record(&mut self, bytes: usize) {
        self.most_memory = bytes;
    }

    /// Whether [`read`](Self::read) certainly needs a decoder.
    pub fn wants_decoder(&self) -> bool {
        self.saved.entry.is_none()
    }

    /// Reads the message for which this was checked out. If a decoder is needed, `decoder` is used, or a `new` one if there is
    /// none; it is in `decoder` afterwards. Returns the values, and what is to be added to the counts.
    ///
    /// Values and errors are the same as those of a new decoder.
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

    /// Reads the message with the skeleton. `None` if there is no skeleton, or if the message does not follow it.
    #[inline]
    fn follow(&mut self, message: &[u8], lazy: &mut Lazy<'_>) -> Option<Arc<Record>> {
        let entry = self.saved.entry.as_mut()?;
        entry.value.read(message, self.most_memory, lazy)?;
        self.was_followed = true;
        Some(Arc::clone(&entry.value.values))
    }

    /// Decodes a message, and makes a skeleton of it if there is reason to.
    #[cold]
    fn decode(
        &mut self,
        root: ElementId,
        message: &[u8],
        lazy: &mut Lazy<'_>,
        counts: &mut HintCounts,
    ) -> Result<Arc<Record>, Error> {
        let (block, misses) = match &mut self.saved.entry {
            Some(entry) => {
                counts.missed = 1;
                let misses = entry.value.misses.saturating_add(1);
                entry.value.misses = misses;
                let is_tried = misses <= MAX_MISSES || misses.is_power_of_two();
                (is_tried.then(|| HintBlock::find(message)).flatten(), misses)
            }
            None => (self.block, 0),
        };
        let decoder = lazy.get();
        decoder.limit_record(self.most_memory);
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

    /// Saves a skeleton made of this message. It replaces the one that the message did not follow, if any.
    fn save(&mut self, mut skeleton: Skeleton, misses: u32) {
        skeleton.misses = misses;
        let mut entry = Entry::new(skeleton);
        entry.memory = size_of::<Entry<Skeleton>>() + entry.value.memory();
        self.saved.entry = Some(entry);
    }
}
