//! The cache of saved messages: templates, histories and skeletons are kept by the same rules.
//!
//! ```text
//! message ──► its group ──► bypassed, or no memory?   converted without a saved message
//!                      └──► a similar saved message?  check out ──► convert, without the lock ──► check in
//! ```
//!
//! - A **group** holds the saved messages of one stream. If there are too many groups, the least recently used one is dropped.
//! - A saved message is **checked out** for one use, so several messages of one owner can be converted at the same time. If
//!   all saved messages are checked out, another one is made.
//! - The total size of all saved messages is limited. The least recently used ones are evicted.
//! - **Bypass**: a group is bypassed for a while (see [`Bypass`]) if its saved messages save no work or evict one another.
//!   The whole cache is bypassed if the budget of all caches has no memory for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::bypass::{Bypass, Turn};
use crate::timing::{Cost, Timer};

/// After the budget had no memory, this number of messages is converted without saving anything.
const NO_MEMORY_PAUSE: u32 = 32;

/// The limits of a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The size of all saved messages together.
    pub(crate) bytes: usize,
    /// The number of groups.
    pub(crate) groups: usize,
    /// The number of saved messages in one group.
    pub(crate) entries: usize,
}

/// The saved messages of one owner: a client, a connection or a principal.
#[derive(Debug)]
pub(crate) struct Cache<G, V> {
    limits: Limits,
    groups: Vec<Group<G, V>>,
    /// The index of the last message's group. The next message most likely belongs to this group, or to the one after it.
    recent: usize,
    /// The number of messages so far.
    clock: u64,
    /// The size in bytes of the saved messages that are not checked out.
    held: usize,
    /// The bytes of buffers and compressed chunks, which count against the same limit.
    extra: ByteCount,
    /// The number of saved messages evicted since it was last returned by `check_in`.
    evicted: u64,
    /// The number of messages that are still to be converted without saving anything.
    no_memory: u32,
}

/// A count of bytes that can be changed without access to the cache. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteCount(Arc<AtomicUsize>);

/// The saved messages of one stream.
#[derive(Debug)]
pub(crate) struct Group<G, V> {
    /// The key of the stream, and what the owner of the cache has learned about it.
    pub(crate) stream: G,
    pub(crate) bypass: Bypass,
    /// The cost of converting a message without a saved one.
    cost: Cost,
    /// The saved messages that are not checked out, the most recently used last.
    #[allow(clippy::vec_box)] // entries are moved with each message
    entries: Vec<Box<Entry<V>>>,
    /// The number of saved messages that are checked out or being made.
    checked_out: usize,
    id: GroupId,
    last_used: u64,
}

/// Identifies a group for as long as the cache exists; 0 is the number of no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GroupId(u64);

/// A saved message.
#[derive(Debug)]
pub(crate) struct Entry<V> {
    pub(crate) value: V,
    /// Its size in bytes when it was last used.
    pub(crate) memory: usize,
    last_used: u64,
}

/// What one message is converted with. It is returned to the cache afterwards, also after an error.
#[derive(Debug)]
pub(crate) struct Checkout<V> {
    group: GroupId,
    /// The saved message; `None` if there is none, or if it is of no further use.
    pub(crate) entry: Option<Box<Entry<V>>>,
    /// Whether the group counts a saved message as checked out.
    was_out: bool,
    /// Whether nothing of a saved message was of use: there was none, or it could not be used.
    pub(crate) is_new: bool,
    pub(crate) timer: Timer,
}

impl<V> Checkout<V> {
    /// A checkout of no group, for a message of which nothing may be kept.
    #[inline]
    pub(crate) fn none() -> Self {
        Self {
            group: GroupId(0),
            entry: None,
            was_out: false,
            is_new: false,
            timer: Timer::off(),
        }
    }

    /// Whether it is a checkout of no group.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.group == GroupId(0)
    }
}

impl<G, V> Cache<G, V> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            groups: Vec::new(),
            recent: 0,
            clock: 0,
            held: 0,
            extra: ByteCount::default(),
            evicted: 0,
            no_memory: 0,
        }
    }

    /// Counts a message. Returns `true` if it must be converted without a saved message because the budget had no memory.
    #[inline]
    pub(crate) fn next_message(&mut self) -> bool {
        self.clock += 1;
        let no_memory = self.no_memory > 0;
        self.no_memory -= u32::from(no_memory);
        no_memory
    }

    /// Returns the index of the group whose stream satisfies `is_it`, and whether the group was added by this call. The index
    /// is valid until the next call.
    #[inline]
    pub(crate) fn group_of(
        &mut self,
        is_it: impl Fn(&G) -> bool,
        new: impl FnOnce() -> (G, Bypass),
    ) -> (usize, bool) {
        let found = match self.groups.get(self.recent) {
            Some(group) if is_it(&group.stream) => Some(self.recent),
            _ => self.find(is_it),
        };
        let is_new = found.is_none();
        self.recent = found.unwrap_or_else(|| self.add(new()));
        self.groups[self.recent].last_used = self.clock;
        (self.recent, is_new)
    }

    fn find(&self, is_it: impl Fn(&G) -> bool) -> Option<usize> {
        // Alternating streams: the next message often belongs to the group that was added next.
        let next = self.recent + 1;
        match self.groups.get(next) {
            Some(group) if is_it(&group.stream) => Some(next),
            _ => self.groups.iter().position(|group| is_it(&group.stream)),
        }
    }

    fn add(&mut self, (stream, bypass): (G, Bypass)) -> usize {
        if self.groups.len() >= self.limits.groups.max(1) {
            let by_use = self.groups.iter().enumerate();
            if let Some((oldest, _)) = by_use.min_by_key(|(_, group)| group.last_used) {
                let group = self.groups.swap_remove(oldest);
                self.held -= group.held();
                self.evicted += group.entries.len() as u64;
            }
        }
        self.groups.push(Group {
            stream,
            bypass,
            cost: Cost::default(),
            entries: Vec::new(),
            checked_out: 0,
            id: GroupId(self.clock),
            last_used: self.clock,
        });
        self.groups.len() - 1
    }

    #[inline]
    pub(crate) fn group(&mut self, index: usize) -> &mut Group<G, V> {
        &mut self.groups[index]
    }

    /// The group of a checkout; `None` if it was dropped in the meantime.
    pub(crate) fn group_with(&mut self, checkout: &Checkout<V>) -> Option<&mut Group<G, V>> {
        let index = self.index_of(checkout.group)?;
        self.groups.get_mut(index)
    }

    #[inline]
    fn index_of(&self, id: GroupId) -> Option<usize> {
        match self.groups.get(self.recent) {
            Some(group) if group.id == id => Some(self.recent),
            _ => self.groups.iter().position(|group| group.id == id),
        }
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group<G, V>> {
        self.groups.iter()
    }

    /// A checkout of a group without a saved message. `is_long`: the message is long enough to be timed in any case.
    #[inline]
    pub(crate) fn check_out_nothing(&self, group: usize, is_long: bool) -> Checkout<V> {
        let group = &self.groups[group];
        let is_plain = group.cost.is_unknown();
        Checkout {
            group: group.id,
            timer: Timer::new(group.cost, is_long, self.clock, is_plain),
            ..Checkout::none()
        }
    }

    /// Takes a saved message out of a group.
    #[inline]
    pub(crate) fn check_out(&mut self, group: usize, entry: usize, is_long: bool) -> Checkout<V> {
        let group = &mut self.groups[group];
        group.checked_out += 1;
        let entry = group.entries.remove(entry);
        self.held -= entry.memory;
        Checkout {
            group: group.id,
            entry: Some(entry),
            was_out: true,
            is_new: false,
            timer: Timer::new(group.cost, is_long, self.clock, false),
        }
    }

    /// A checkout of a group for a saved message that is yet to be made.
    pub(crate) fn check_out_new(&mut self, group: usize, is_long: bool) -> Checkout<V> {
        let group = &mut self.groups[group];
        group.checked_out += 1;
        Checkout {
            group: group.id,
            entry: None,
            was_out: true,
            is_new: true,
            timer: Timer::new(group.cost, is_long, self.clock, false),
        }
    }

    /// Takes back a checkout. Returns the number of saved messages that were evicted since the last check-in.
    #[inline]
    pub(crate) fn check_in(&mut self, checkout: Checkout<V>) -> u64 {
        if checkout.is_none() {
            return 0;
        }
        match self.index_of(checkout.group) {
            Some(index) => self.take_back(index, checkout),
            None => self.evicted += u64::from(checkout.entry.is_some()),
        }
        std::mem::take(&mut self.evicted)
    }

    #[inline]
    fn take_back(&mut self, index: usize, returned: Checkout<V>) {
        let group = &mut self.groups[index];
        group.checked_out -= usize::from(returned.was_out);
        group.cost = returned.timer.cost();
        let Some(mut entry) = returned.entry else {
            return;
        };
        if entry.memory > self.limits.bytes {
            // A saved message that is too large would be made and evicted with each message.
            group.bypass.pause_longest();
            self.evicted += 1;
            return;
        }
        let before = self.evicted;
        // A saved message that makes way for another one of its stream is replaced, not evicted: memory was not the reason.
        let replaces = group.entries.len() >= self.limits.entries.max(1);
        if replaces {
            self.held -= group.entries.remove(0).memory;
        }
        self.held += entry.memory;
        entry.last_used = self.clock;
        group.entries.push(entry);
        self.shrink(self.limits.bytes);
        let group = &mut self.groups[index];
        if (replaces || self.evicted > before) && (returned.is_new || group.entries.is_empty()) {
            // Saved messages that evict one another save little.
            group.bypass.useless();
        }
    }

    /// Evicts saved messages, those used least recently first, until no more than `bytes` are held.
    fn shrink(&mut self, bytes: usize) {
        while self.held() > bytes {
            let used = self.groups.iter_mut();
            let used = used.filter(|group| !group.entries.is_empty());
            let Some(group) = used.min_by_key(|group| group.entries[0].last_used) else {
                return;
            };
            self.held -= group.entries.remove(0).memory;
            self.evicted += 1;
        }
    }

    /// Drops everything because the budget has no memory for it. Nothing of the next messages is saved.
    pub(crate) fn pause(&mut self) {
        self.evicted += self.len() as u64;
        self.groups = Vec::new();
        self.held = 0;
        self.no_memory = NO_MEMORY_PAUSE;
    }

    /// The count of the bytes of buffers and compressed chunks, which the owner of the cache keeps up to date.
    #[inline]
    pub(crate) fn extra(&self) -> &ByteCount {
        &self.extra
    }

    /// The bytes that count against the limit.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        self.held + self.extra.get()
    }

    /// The bytes that count against the limit, and those of the groups.
    pub(crate) fn memory(&self) -> usize {
        self.held() + self.groups.capacity() * size_of::<Group<G, V>>()
    }

    /// The number of saved messages that are not checked out.
    pub(crate) fn len(&self) -> usize {
        self.groups.iter().map(|group| group.entries.len()).sum()
    }
}

impl<G, V> Group<G, V> {
    /// Returns `true` if the next message is to be converted without a saved one, and counts that message.
    #[inline]
    pub(crate) fn is_bypassed(&mut self) -> bool {
        self.bypass.turn() != Turn::Compare
    }

    /// The saved messages that are not checked out, most recently used last.
    #[inline]
    pub(crate) fn entries(&self) -> &[Box<Entry<V>>] {
        &self.entries
    }

    /// The saved message that was used last, and counts it as used by this message.
    #[inline]
    pub(crate) fn latest(&mut self) -> Option<&mut V> {
        let entry = self.entries.last_mut()?;
        entry.last_used = self.last_used;
        Some(&mut entry.value)
    }

    /// The number of saved messages, including those checked out.
    pub(crate) fn count(&self) -> usize {
        self.entries.len() + self.checked_out
    }

    fn held(&self) -> usize {
        self.entries.iter().map(|entry| entry.memory).sum()
    }
}

impl<V> Entry<V> {
    pub(crate) fn new(value: V) -> Box<Self> {
        Box::new(Self {
            value,
            memory: 0,
            last_used: 0,
        })
    }
}

impl ByteCount {
    #[inline]
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Subtracts `old` from the count and adds `new`.
    pub(crate) fn replace(&self, old: usize, new: usize) {
        // If `new` is less, the addition wraps around.
        self.0.fetch_add(new.wrapping_sub(old), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bypass::Backoff;

    type Numbers = Cache<u32, u32>;

    fn cache(bytes: usize, groups: usize, entries: usize) -> Numbers {
        Cache::new(Limits {
            bytes,
            groups,
            entries,
        })
    }

    /// Saves a value of this size in bytes for a stream.
    fn save(cache: &mut Numbers, stream: u32, value: u32, memory: usize) -> u64 {
        cache.next_message();
        let (index, _) = cache.group_of(
            |&it| it == stream,
            || (stream, Bypass::new(Backoff::RECEIVE)),
        );
        let mut checkout = cache.check_out_new(index, false);
        let mut entry = Entry::new(value);
        entry.memory = memory;
        checkout.entry = Some(entry);
        cache.check_in(checkout)
    }

    fn values(cache: &Numbers) -> Vec<u32> {
        let entries = cache.groups().flat_map(Group::entries);
        let mut values: Vec<u32> = entries.map(|entry| entry.value).collect();
        values.sort_unstable();
        values
    }

    #[test]
    fn the_saved_message_used_least_recently_is_replaced_or_evicted_for_lack_of_memory() {
        let mut cache = cache(100, 8, 2);
        // The third takes the place of the first of its stream: it is not evicted.
        for (value, evicted) in [(1, 0), (2, 0), (3, 0)] {
            assert_eq!(save(&mut cache, 0, value, 10), evicted);
        }
        assert_eq!(values(&cache), [2, 3]);
        // The limit of bytes is that of all groups.
        assert_eq!(save(&mut cache, 1, 4, 75), 0);
        assert_eq!(save(&mut cache, 1, 5, 10), 1);
        assert_eq!((values(&cache), cache.held()), (vec![3, 4, 5], 95));
        // One that is too large for all of it is not kept, and evicts nothing.
        assert_eq!(save(&mut cache, 2, 6, 101), 1);
        assert_eq!(values(&cache), [3, 4, 5]);
        cache.shrink(80);
        assert_eq!(values(&cache), [5]);
    }

    #[test]
    fn the_group_used_least_recently_is_forgotten_with_its_saved_messages() {
        let mut cache = cache(100, 2, 2);
        save(&mut cache, 0, 1, 10);
        save(&mut cache, 1, 2, 10);
        save(&mut cache, 0, 3, 10);
        assert_eq!(save(&mut cache, 2, 4, 10), 1);
        assert_eq!((values(&cache), cache.held()), (vec![1, 3, 4], 30));
    }

    #[test]
    fn without_memory_messages_do_without_for_a_while() {
        let mut cache = cache(100, 2, 2);
        save(&mut cache, 0, 1, 10);
        cache.pause();
        assert_eq!((cache.len(), cache.held()), (0, 0));
        let paused = (0..100).filter(|_| cache.next_message()).count();
        assert_eq!(paused as u32, NO_MEMORY_PAUSE);
        assert_eq!(save(&mut cache, 0, 2, 10), 1);
    }
}
