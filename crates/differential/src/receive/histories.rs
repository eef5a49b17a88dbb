//! The histories of one owner: several for each kind of message, chosen by similarity.
//!
//! ```text
//! message ──► its kind: root element, and the last tags: </m:temperature></s:Body></s:Envelope>
//!               │  a history of a similar message?   check it out   ──► compare         ──► check it in
//!               │  such a message seen before?       begin one      ──► decode and keep ──► check it in
//!               └─ otherwise                         decode it; remember the kind
//! ```
//!
//! Each history decides itself when it is [bypassed](crate::bypass). A kind is bypassed if its messages are similar to none of
//! its histories. Otherwise this module only chooses the history that a message is compared with. A history is made only of the
//! second of two messages of a kind: for a message that occurs once, it would be a cost without a benefit.

mod checkout;

use bsoap_codec::plan::ElementId;

use super::similarity::{MAX_TAIL, Similarity, TextSample, tail};
use super::stream::Way;
use crate::bypass::{Backoff, Bypass};
use crate::cache::{Cache, Checkout, Entry, Limits};

pub use checkout::HistoryCheckout;

use checkout::{FirstMessage, SavedHistory, With};

/// Up to this number of histories are made for one kind of message even if none is useful.
const FREE_HISTORIES: usize = 4;
/// Messages of at least this size in bytes are all timed.
const LONG_MESSAGE: usize = 16 << 10;

/// The limits of a [`HistoryCache`], and the way messages are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryCachePolicy {
    /// The way messages with a history are received.
    pub way: Way,
    /// The maximum number of histories for one kind of message.
    pub histories: usize,
    /// The maximum size of all histories in bytes. The least recently used ones are evicted.
    pub bytes: usize,
    /// The maximum number of kinds of messages.
    pub kinds: usize,
}

impl Default for HistoryCachePolicy {
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

/// The histories of one owner, for messages of one Plan.
#[derive(Debug)]
pub struct HistoryCache {
    policy: HistoryCachePolicy,
    cache: Cache<Kind, SavedHistory>,
}

/// The messages with the same root element and the same last end tags.
#[derive(Debug)]
struct Kind {
    root: ElementId,
    /// The last end tags.
    tail: Box<[u8]>,
    /// The number of histories to keep: one, and one more for each time that a message was compared in vain.
    wanted: usize,
    /// Whether any history was useful since `wanted` last grew.
    is_useful: bool,
    /// The first message, until there is a history.
    first: Option<FirstMessage>,
}

impl Kind {
    fn of(root: ElementId, message: &[u8]) -> Self {
        Self {
            root,
            tail: tail(message).into(),
            wanted: 1,
            is_useful: false,
            first: None,
        }
    }

    /// Records whether comparing a message saved work, or whether it `was_in_vain` because the messages were not similar. Then
    /// there may be several streams of this kind, and one more history is wanted, up to `most`.
    fn learn(&mut self, was_useful: bool, was_in_vain: bool, most: usize) {
        self.is_useful |= was_useful;
        if was_in_vain && (self.is_useful || self.wanted < FREE_HISTORIES) {
            self.wanted = (self.wanted + 1).min(most.max(1));
            self.is_useful = false;
        }
    }
}

impl HistoryCache {
    /// An empty cache.
    pub fn new(policy: HistoryCachePolicy) -> Self {
        Self {
            policy,
            cache: Cache::new(Limits {
                bytes: policy.bytes,
                groups: policy.kinds,
                entries: policy.histories,
            }),
        }
    }

    /// Chooses what the next message is decoded with. The result has to be [checked in](Self::check_in) afterwards, also after
    /// an error.
    pub fn check_out(&mut self, root: ElementId, message: &[u8]) -> HistoryCheckout {
        if self.cache.next_message() {
            return HistoryCheckout::plain(Checkout::none(), false);
        }
        let (index, is_new) = self.cache.group_of(
            |kind: &Kind| kind.root == root && message.ends_with(&kind.tail),
            || (Kind::of(root, message), Bypass::new(Backoff::KIND)),
        );
        let is_long = message.len() >= LONG_MESSAGE;
        match is_new {
            true => HistoryCheckout::new(self.cache.check_out_nothing(index, is_long), With::First),
            false => self.choose(index, message, is_long),
        }
    }

    /// Chooses what a message of a known kind is decoded with.
    fn choose(&mut self, index: usize, message: &[u8], is_long: bool) -> HistoryCheckout {
        let group = self.cache.group(index);
        // A bypassed kind or stream is not looked at.
        if group.is_bypassed() || group.latest().is_some_and(|last| last.stream.pass()) {
            return HistoryCheckout::plain(Checkout::none(), true);
        }
        let sample = TextSample::of(message);
        let may_add = group.count() < group.stream.wanted;
        let most = most_similar(group.entries(), &sample, message);
        let chosen = most.and_then(|(similarity, entry)| {
            if similarity.is_high() && !may_add || similarity.is_full() {
                return Some((similarity, entry));
            }
            let mut saved = group.entries().iter();
            match saved.rposition(|saved| saved.value.sample.is_shifted(message)) {
                Some(shifted) => {
                    let shifted_sample = &group.entries()[shifted].value.sample;
                    Some((shifted_sample.similarity(&sample, message), shifted))
                }
                None if may_add => None,
                // A message that is similar to none replaces the least recently used history.
                None if similarity.is_low() => Some((similarity, 0)),
                None => Some((similarity, entry)),
            }
        });
        match chosen {
            Some((similarity, entry)) => {
                let mut saved = self.cache.check_out(index, entry, is_long);
                if let Some(entry) = &mut saved.entry {
                    entry.value.sample = sample;
                }
                let is_similar = similarity.is_high();
                HistoryCheckout::new(saved, With::History { is_similar })
            }
            // If all are checked out, there may be more histories than wanted.
            None if group.count() < self.policy.histories => {
                let first = group.stream.first.take();
                let saved = self.cache.check_out_new(index, is_long);
                let (way, sample) = (self.policy.way, Box::new(sample));
                HistoryCheckout {
                    first,
                    ..HistoryCheckout::new(saved, With::New { way, sample })
                }
            }
            None => HistoryCheckout::plain(self.cache.check_out_nothing(index, is_long), false),
        }
    }

    /// Takes back what was checked out. Returns the number of histories that were evicted.
    pub fn check_in(&mut self, checkout: HistoryCheckout) -> u64 {
        if checkout.saved.is_none() {
            return 0;
        }
        if let Some(group) = self.cache.group_with(&checkout.saved) {
            if matches!(checkout.with, With::First) {
                group.stream.first = checkout.first;
            }
            let most = self.policy.histories;
            let (was_useful, was_in_vain) = (checkout.was_useful, checkout.was_in_vain);
            group.stream.learn(was_useful, was_in_vain, most);
            if was_useful || was_in_vain {
                group.bypass.learn(was_useful);
            }
        }
        self.cache.check_in(checkout.saved)
    }

    /// The size in bytes of the histories that are not checked out.
    pub fn memory(&self) -> usize {
        self.cache.memory() + self.cache.groups().count() * MAX_TAIL
    }

    /// The number of histories that are not checked out.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Whether there are no histories that are not checked out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops all histories because the budget has no memory for them. Nothing of the next messages is saved.
    pub fn pause(&mut self) {
        self.cache.pause();
    }
}

impl Default for HistoryCache {
    fn default() -> Self {
        Self::new(HistoryCachePolicy::default())
    }
}

/// The entry whose message is most similar to `message`, which has these samples, and its similarity. Of several, the most
/// recently used one is chosen.
fn most_similar(
    entries: &[Box<Entry<SavedHistory>>],
    sample: &TextSample,
    message: &[u8],
) -> Option<(Similarity, usize)> {
    let mut most: Option<(Similarity, usize)> = None;
    for (index, entry) in entries.iter().enumerate().rev() {
        let similarity = entry.value.sample.similarity(sample, message);
        if most.is_none_or(|(most, _)| similarity > most) {
            most = Some((similarity, index));
        }
        if similarity.is_full() {
            break;
        }
    }
    most
}
