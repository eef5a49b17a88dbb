//! A scope: whose messages are remembered together. For a service it is a connection, for a client the client itself, which
//! has one endpoint. What one scope knows no other gets to know, not even by how long a message takes.
//!
//! ```text
//! connection ──► Scope ──► Saved: decoders that know its spellings      charged to the Budget
//!                                 templates of what it was sent         forgotten when that is spent
//!                                 histories of what it sent
//! all scopes ──► Decoders: memory of those that are gone, cleared
//! ```

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use bsoap_codec::encode::{EncodeOptions, Error};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Decoder, Record, decode};
use bsoap_differential::hint::{self, HintCounts};
use bsoap_differential::receive::{self, Arrived, Reading, ReceiveCounts};
use bsoap_differential::send::{Sent, Store, Stream};
use bytes::Bytes;

use crate::budget::Keeper;
use crate::decoders::Decoders;
use crate::{Budget, Hints, Receiving, Sending};

/// What is remembered of one peer. Cloning gives the same scope.
#[derive(Clone)]
pub(crate) struct Scope {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Arc<Decoders>,
    budget: Budget,
    /// The budget's number of it, once there is something to forget.
    number: OnceLock<u64>,
    /// By the budget's clock.
    last_used: AtomicU64,
    saved: Mutex<Saved>,
}

/// What is remembered. Whatever is added here is to be told in [`memory`](Self::memory) and to be dropped in
/// [`Inner::clear`].
#[derive(Default)]
struct Saved {
    /// As many as there were messages read at the same time: one, on a connection.
    decoders: Vec<Decoder>,
    /// None, where templates are not wanted.
    store: Option<Store>,
    /// None, where messages are not to be kept.
    histories: Option<receive::Store>,
    /// None, where hints are not followed.
    skeletons: Option<hint::Store>,
    /// As many as there were hints made at the same time.
    writers: Vec<hint::Writer>,
    /// So many messages are written without templates: there was no room.
    starved: u32,
    /// So many are read without histories.
    forgetful: u32,
    /// What the store held when it was charged last.
    stored: usize,
    /// What the histories held when they were charged last.
    remembered: usize,
    /// Bytes charged to the budget for all this.
    charged: usize,
}

impl Saved {
    fn memory(&self) -> usize {
        let decoders: usize = self.decoders.iter().map(Decoder::memory).sum();
        let histories = self.histories.as_ref().map_or(0, receive::Store::memory);
        let skeletons = self.skeletons.as_ref().map_or(0, hint::Store::memory);
        let writers: usize = self.writers.iter().map(hint::Writer::memory).sum();
        let templates = self.store.as_ref().map_or(0, Store::memory);
        decoders + templates + histories + skeletons + writers
    }
}

/// What is to be remembered, and how.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keeping {
    pub(crate) sending: Sending,
    pub(crate) receiving: Receiving,
    pub(crate) hints: Hints,
}

/// How messages were read or written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Read {
    pub(crate) receiving: ReceiveCounts,
    pub(crate) hints: HintCounts,
}

/// Room is charged in steps, so that not every message that teaches a little has to ask.
const STEP: usize = 4 << 10;

/// Where there is no room for what is saved, so many messages are written and read before it is tried again.
const STARVED: u32 = 32;

impl Scope {
    pub(crate) fn new(pool: &Arc<Decoders>, budget: &Budget, keeping: Keeping) -> Self {
        Self {
            inner: Arc::new(Inner {
                pool: Arc::clone(pool),
                budget: budget.clone(),
                number: OnceLock::new(),
                last_used: AtomicU64::new(0),
                saved: Mutex::new(Saved {
                    store: keeping.sending.store(),
                    histories: keeping.receiving.store(),
                    skeletons: keeping.hints.is_on().then(hint::Store::default),
                    ..Saved::default()
                }),
            }),
        }
    }

    /// Reads a message with what is known of those before it.
    pub(crate) fn receiving(
        &self,
        root: ElementId,
        message: &Bytes,
    ) -> (Result<Arrived, decode::Error>, Read) {
        let mut saved = self.inner.saved();
        if let Some(skeletons) = &mut saved.skeletons
            && let Some(lease) = skeletons.lend(root, message)
        {
            return self.following(saved, lease, root, message);
        }
        let is_forgetful = saved.forgetful > 0;
        saved.forgetful = saved.forgetful.saturating_sub(1);
        let lease = match &mut saved.histories {
            Some(histories) if !is_forgetful => histories.lend(root, message),
            is_kept => {
                let mut counts = Read::default();
                counts.receiving.plain = u64::from(is_kept.is_some());
                drop(saved);
                let read = self.reading(|decoder| decoder.decode(root, message));
                return (read.map(Arrived::plain), counts);
            }
        };
        let mut own = None;
        if lease.wants_decoder() {
            own = saved.decoders.pop();
        }
        drop(saved);
        let Reading {
            result,
            mut counts,
            settled,
            ..
        } = lease.receive(root, message, &mut own, || self.inner.pool.take());
        let mut saved = self.inner.saved();
        let mut has_grown = own.is_some();
        saved.decoders.extend(own);
        let before = saved.remembered;
        if let Some(histories) = &mut saved.histories {
            counts.evicted = histories.settle(settled);
            has_grown |= histories.memory() != before;
        }
        let stored = saved.store.as_ref().map_or(0, Store::memory);
        if has_grown {
            self.settle(saved, Grown::Histories);
        } else if stored != saved.stored {
            // What was sent was compressed after its template had come back.
            self.settle(saved, Grown::Store);
        } else {
            self.inner.is_used();
        }
        let counts = Read {
            receiving: counts,
            ..Read::default()
        };
        (result, counts)
    }

    /// Reads a message that has a hint.
    fn following(
        &self,
        mut saved: MutexGuard<'_, Saved>,
        lease: hint::Lease,
        root: ElementId,
        message: &Bytes,
    ) -> (Result<Arrived, decode::Error>, Read) {
        let mut own = None;
        if lease.wants_decoder() {
            own = saved.decoders.pop();
        }
        drop(saved);
        let reading = lease.read(root, message, || {
            own.take().unwrap_or_else(|| self.inner.pool.take())
        });
        let mut counts = Read {
            hints: reading.counts,
            ..Read::default()
        };
        let mut saved = self.inner.saved();
        let has_grown = reading.decoder.is_some();
        saved.decoders.extend(reading.decoder.map(|boxed| *boxed));
        if let Some(skeletons) = &mut saved.skeletons {
            counts.hints.evicted = skeletons.settle(reading.settled);
        }
        if has_grown {
            self.settle(saved, Grown::Skeletons);
        } else {
            self.inner.is_used();
        }
        (reading.result.map(Arrived::plain), counts)
    }

    /// Lends a decoder that knows this peer's spellings.
    fn reading<T>(&self, read: impl FnOnce(&mut Decoder) -> T) -> T {
        let saved = self.inner.saved().decoders.pop();
        let mut decoder = saved.unwrap_or_else(|| self.inner.pool.take());
        let result = read(&mut decoder);
        let mut saved = self.inner.saved();
        saved.decoders.push(decoder);
        self.settle(saved, Grown::Decoders);
        result
    }

    /// Writes a message with what is known of those of its stream.
    pub(crate) fn sending(
        &self,
        stream: Stream,
        mut record: Record,
        hints: Hinting<'_>,
    ) -> Result<Sent, Error> {
        let mut lease = {
            let mut saved = self.inner.saved();
            let is_starved = saved.starved > 0;
            saved.starved = saved.starved.saturating_sub(1);
            match &mut saved.store {
                Some(store) if !is_starved => store.lend(stream, &record),
                None => {
                    drop(saved);
                    return match hints {
                        Hinting::Yes(given) => self.hinting(&record, given),
                        Hinting::No => Sent::plain(&record),
                    };
                }
                Some(_) => {
                    drop(saved);
                    return Sent::plain(&record).map(Sent::starved);
                }
            }
        };
        if lease.is_aside() {
            return match hints {
                Hinting::Yes(given) => self.hinting(&record, given).map(Sent::aside),
                Hinting::No => lease.send(&mut record),
            };
        }
        let mut sent = lease.send(&mut record);
        let mut saved = self.inner.saved();
        let mut evicted = 0;
        let mut stored = saved.stored;
        if let Some(store) = &mut saved.store {
            evicted = store.settle(lease);
            stored = store.memory();
        }
        if stored == saved.stored {
            self.inner.is_used();
        } else {
            self.settle(saved, Grown::Store);
        }
        if let Ok(sent) = &mut sent {
            sent.counts.evicted += evicted;
        }
        sent
    }

    /// Writes a message from first to last, with a hint. Says how many were given.
    fn hinting(&self, record: &Record, given: &mut HintCounts) -> Result<Sent, Error> {
        let mut writer = self.inner.saved().writers.pop().unwrap_or_default();
        let before = writer.memory();
        let mut text = Vec::new();
        let sent = writer.write(record, EncodeOptions::default(), &mut text);
        let sent = sent.map(|hint| {
            let mut chunks = vec![text.into()];
            if let Some(hint) = hint {
                given.given += 1;
                hint.splice(&mut chunks);
            }
            Sent::of_chunks(chunks)
        });
        let has_grown = writer.memory() != before;
        let mut saved = self.inner.saved();
        saved.writers.push(writer);
        if has_grown {
            self.settle(saved, Grown::Writers);
        } else {
            drop(saved);
        }
        sent
    }

    /// Charges the budget for what is kept now, once it was used. Without room, what has grown is not.
    fn settle(&self, mut saved: MutexGuard<'_, Saved>, grown: Grown) {
        let inner = &*self.inner;
        inner.is_used();
        inner.number.get_or_init(|| {
            let keeper: Arc<dyn Keeper> = self.inner.clone();
            inner.budget.join(Arc::downgrade(&keeper))
        });
        let Err(missing) = inner.charge(&mut saved) else {
            return;
        };
        // Others must be able to make us forget while they look for room, as we them.
        drop(saved);
        inner.budget.make_room(missing);
        let mut saved = inner.saved();
        if inner.charge(&mut saved).is_ok() {
            return;
        }
        match grown {
            Grown::Decoders => inner.clear_decoders(&mut saved),
            Grown::Store => inner.starve(&mut saved),
            Grown::Histories => {
                saved.forgetful = STARVED;
                saved.histories.as_mut().map(receive::Store::clear);
            }
            Grown::Skeletons => {
                saved.skeletons.as_mut().map(hint::Store::clear);
            }
            Grown::Writers => saved.writers.clear(),
        }
        if inner.charge(&mut saved).is_err() {
            inner.starve(&mut saved);
            inner.clear(&mut saved);
            saved.forgetful = STARVED;
        }
    }
}

/// What may have grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grown {
    Decoders,
    Store,
    Histories,
    Skeletons,
    Writers,
}

/// Whether a message is to have a hint; then it is told how many were given.
#[derive(Debug)]
pub(crate) enum Hinting<'h> {
    No,
    Yes(&'h mut HintCounts),
}

impl Inner {
    fn saved(&self) -> MutexGuard<'_, Saved> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It was used now.
    fn is_used(&self) {
        self.last_used.store(self.budget.now(), Ordering::Relaxed);
    }

    /// Brings the charge up to date, or says how much room is missing.
    fn charge(&self, saved: &mut Saved) -> Result<(), usize> {
        let holds = saved.memory().next_multiple_of(STEP);
        if holds > saved.charged {
            let more = holds - saved.charged;
            if !self.budget.take(more) {
                return Err(more);
            }
        } else {
            self.budget.give(saved.charged - holds);
        }
        saved.charged = holds;
        saved.stored = saved.store.as_ref().map_or(0, Store::memory);
        saved.remembered = saved.histories.as_ref().map_or(0, receive::Store::memory);
        Ok(())
    }

    /// Forgets the templates, for which there is no room, and makes none for a while.
    fn starve(&self, saved: &mut Saved) {
        if let Some(store) = &mut saved.store {
            store.clear();
            saved.starved = STARVED;
        }
    }

    fn clear_decoders(&self, saved: &mut Saved) {
        for decoder in std::mem::take(&mut saved.decoders) {
            self.pool.give(decoder);
        }
    }

    fn clear(&self, saved: &mut Saved) {
        self.clear_decoders(saved);
        if let Some(store) = &mut saved.store {
            store.clear();
        }
        if let Some(histories) = &mut saved.histories {
            histories.clear();
        }
        if let Some(skeletons) = &mut saved.skeletons {
            skeletons.clear();
        }
        saved.writers.clear();
        saved.stored = 0;
        saved.remembered = 0;
        self.budget.give(std::mem::take(&mut saved.charged));
    }
}

impl Keeper for Inner {
    fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    fn forget(&self) {
        match self.saved.try_lock() {
            Ok(mut saved) => self.clear(&mut saved),
            Err(TryLockError::Poisoned(saved)) => self.clear(&mut saved.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut saved = std::mem::take(&mut *self.saved());
        self.clear(&mut saved);
        if let Some(number) = self.number.get() {
            self.budget.leave(*number);
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("charged", &self.inner.saved().charged)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bsoap_codec::DecodeOptions;
    use bsoap_codec::plan::ElementId;

    use super::*;
    use crate::{Definitions, Fetch, Wsdl};

    const MESH: &str = include_str!("../../../examples/mesh/mesh.wsdl");
    const MESSAGE: &[u8] = b"<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>2</item><item>3</item></values></m:sumInts></s:Body></s:Envelope>";

    struct World {
        definitions: Arc<Definitions>,
        pool: Arc<Decoders>,
    }

    impl World {
        fn new() -> Self {
            let definitions = Wsdl::from(MESH).load(Fetch::AsAsked, &Default::default());
            let definitions = definitions.expect("the WSDL loads");
            let pool = Arc::new(Decoders::new(definitions.plan(), DecodeOptions::default()));
            Self { definitions, pool }
        }

        /// One that keeps spellings.
        fn scope(&self, budget: &Budget) -> Scope {
            let keeping = Keeping {
                receiving: Receiving::off(),
                ..Keeping::default()
            };
            Scope::new(&self.pool, budget, keeping)
        }

        fn root(&self) -> ElementId {
            let mut ports = self.definitions.ports();
            ports.next().expect("a port").1.binding.request
        }

        /// How many events the message takes: few, if the scope has met it before.
        fn events(&self, scope: &Scope) -> u64 {
            scope.reading(|decoder| {
                decoder.decode(self.root(), MESSAGE).expect("a message");
                decoder.events()
            })
        }
    }

    #[test]
    fn what_one_scope_learns_no_other_knows() {
        let world = World::new();
        let budget = Budget::new(1 << 20);
        let [first, second] = [(); 2].map(|()| world.scope(&budget));
        let new = world.events(&first);
        let known = world.events(&first);
        assert!(known < new, "{new} events, then {known}");
        assert_eq!(world.events(&second), new);
        assert_eq!(world.events(&second.clone()), known);
        // Nor does who gets the memory of one that is gone.
        drop((first, second));
        assert_eq!(world.pool.take().memory(), world.pool.take().memory());
        assert_eq!(world.events(&world.scope(&budget)), new);
    }

    #[test]
    fn what_is_kept_is_charged_until_it_is_gone() {
        let world = World::new();
        let budget = Budget::new(1 << 20);
        let scopes: Vec<Scope> = (0..3).map(|_| world.scope(&budget)).collect();
        assert_eq!(budget.used(), 0);
        for scope in &scopes {
            world.events(scope);
        }
        let used = budget.used();
        assert!(used >= 3 * STEP, "{used}");
        for scope in &scopes {
            world.events(scope);
        }
        assert_eq!(budget.used(), used);
        drop(scopes);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_spent_budget_takes_from_those_used_longest_ago_and_fails_nobody() {
        let world = World::new();
        let measure = Budget::new(1 << 20);
        let one = world.scope(&measure);
        let (new, known) = (world.events(&one), world.events(&one));
        let budget = Budget::new(measure.used() * 2);
        let [a, b, c] = [(); 3].map(|()| world.scope(&budget));
        for scope in [&a, &b, &a, &c] {
            world.events(scope);
            assert!(budget.used() <= budget.limit());
        }
        // There was room for two; b was used before a.
        assert_eq!(world.events(&c), known);
        assert_eq!(world.events(&a), known);
        assert_eq!(world.events(&b), new);
        let nothing = Budget::new(0);
        let scope = world.scope(&nothing);
        for _ in 0..3 {
            assert_eq!(world.events(&scope), new);
        }
        assert_eq!(nothing.used(), 0);
    }

    #[test]
    fn scopes_used_by_many_threads_keep_the_books() {
        let world = World::new();
        let budget = Budget::new(64 << 10);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    let shared = world.scope(&budget);
                    for round in 0..50 {
                        world.events(&shared);
                        if round % 3 == 0 {
                            world.events(&world.scope(&budget));
                        }
                        assert!(budget.used() <= budget.limit());
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
    }
}
