//! A scope holds the saved messages of one peer. A service has one for each connection or principal, a client has one for
//! its endpoint. Messages saved in one scope are never used in another, so not even the time of an exchange reveals
//! anything about another peer.
//!
//! ```text
//! connection ──► PeerScope ──► Saved: decoders, with predictions           charged to the Budget,
//!                                     templates of messages sent           dropped when it is exceeded
//!                                     histories and skeletons of messages received
//! all scopes ──► Decoders: cleared decoders of dropped scopes, for reuse
//! ```
//!
//! Each message locks the scope twice for a short time: to check out what its conversion needs, and to check it in.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use bsoap_codec::decode::Validation;
use bsoap_codec::encode::{EncodeOptions, Error};
use bsoap_codec::plan::ElementId;
use bsoap_codec::repair::Repair;
use bsoap_codec::{Decoder, Record, decode};
use bsoap_differential::hint::{HintCounts, SkeletonCache, SkeletonCheckout, Writer};
use bsoap_differential::receive::{HistoryCache, HistoryCheckout, ReceiveCounts, Received};
use bsoap_differential::send::{NoTemplate, Sent, StreamKey, TemplateCache};
use bytes::Bytes;

use crate::budget::Keeper;
use crate::decoders::Decoders;
use crate::limits::BUDGET_STEP;
use crate::tuning::{Budget, Hints, Receiving, Sending};

/// The saved messages of one peer. Clones share them.
#[derive(Clone)]
pub(crate) struct PeerScope {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Arc<Decoders>,
    budget: Budget,
    /// When the scope was last used, by the budget's clock.
    last_used: AtomicU64,
    saved: Mutex<Saved>,
}

/// The saved messages. [`sizes`](Self::sizes) counts the bytes of each part, [`drop_part`](Inner::drop_part) drops a part.
#[derive(Default)]
struct Saved {
    /// The decoders not in use. There are as many as messages were decoded at the same time; for a connection, one.
    #[allow(clippy::vec_box)] // they are moved with each message
    decoders: Vec<Box<Decoder>>,
    /// The hint writers not in use. There are as many as hints were written at the same time.
    writers: Vec<Writer>,
    /// The templates of sent messages. `None` if templates are off.
    templates: Option<TemplateCache>,
    /// The histories of received messages. `None` if histories are off.
    histories: Option<HistoryCache>,
    /// The skeletons for received hints. `None` if hints are off.
    skeletons: Option<SkeletonCache>,
    /// The bytes of each part at the time of the last charge to the budget.
    charged_sizes: [usize; PARTS.len()],
    /// The bytes charged to the budget for all parts together.
    charged: usize,
}

#[derive(Clone, Copy)]
enum SavedPart {
    Decoders,
    Writers,
    Templates,
    Histories,
    Skeletons,
}

const PARTS: [SavedPart; 5] = [
    SavedPart::Decoders,
    SavedPart::Writers,
    SavedPart::Templates,
    SavedPart::Histories,
    SavedPart::Skeletons,
];

/// The settings for saved messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keeping {
    pub(crate) sending: Sending,
    pub(crate) receiving: Receiving,
    pub(crate) hints: Hints,
}

#[cfg(feature = "server")]
impl Keeping {
    /// The same hints, but nothing is saved.
    pub(crate) fn off(self) -> Self {
        Self {
            sending: Sending::off(),
            receiving: Receiving::off(),
            ..self
        }
    }
}

/// Counts of how messages were decoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadCounts {
    pub(crate) receiving: ReceiveCounts,
    pub(crate) hints: HintCounts,
}

/// What was checked out to decode a message.
enum ReadWith {
    Skeleton(SkeletonCheckout),
    History(HistoryCheckout),
    Decoder,
}

impl PeerScope {
    pub(crate) fn new(pool: &Arc<Decoders>, budget: &Budget, keeping: Keeping) -> Self {
        let inner = Arc::new(Inner {
            pool: Arc::clone(pool),
            budget: budget.clone(),
            last_used: AtomicU64::new(0),
            saved: Mutex::new(Saved {
                templates: keeping.sending.cache(),
                histories: keeping.receiving.cache(),
                skeletons: keeping.hints.is_on().then(SkeletonCache::default),
                ..Saved::default()
            }),
        });
        let keeper: Arc<dyn Keeper> = inner.clone();
        budget.join(Arc::downgrade(&keeper));
        Self { inner }
    }

    /// How much is checked of messages in both directions.
    pub(crate) fn validation(&self) -> Validation {
        self.inner.pool.validation()
    }

    /// Decodes a message with the saved decoder, skeleton or history, to a Record of at most `limit` bytes. Returns the Record and
    /// its changes. What the decoder cannot read of an accepted message is repaired.
    pub(crate) fn read(
        &self,
        root: ElementId,
        message: &Bytes,
        repair: Repair,
        limit: usize,
    ) -> (Result<Received, decode::Error>, ReadCounts) {
        let mut saved = self.inner.lock();
        let mut with = saved.check_out_to_read(root, message);
        let mut decoder = match with.wants_decoder() {
            true => saved.decoders.pop(),
            false => None,
        };
        drop(saved);
        let new = || self.inner.pool.take();
        let mut counts = ReadCounts::default();
        let result = match &mut with {
            ReadWith::Skeleton(skeleton) => {
                skeleton.limit_record(limit);
                let (result, hints) = skeleton.read(root, message, &mut decoder, &new);
                counts.hints = hints;
                result.map(Received::alone)
            }
            ReadWith::History(history) => {
                history.limit_record(limit);
                let (result, receiving) = history.receive(root, message, &mut decoder, new);
                counts.receiving = receiving;
                result
            }
            ReadWith::Decoder => {
                let decoder = decoder.get_or_insert_with(|| Box::new(new()));
                decoder.limit_record(limit);
                decoder.decode(root, message).map(Received::alone)
            }
        };
        // A message that has to be rewritten cannot be compared with saved ones.
        let result = result.or_else(|error| {
            let decoder = decoder.get_or_insert_with(|| Box::new(new()));
            decoder.limit_record(limit);
            let repaired = repair.after(error, decoder, root, message);
            repaired.map(Received::alone)
        });
        self.check_in(|saved| {
            saved.decoders.extend(decoder);
            match (with, &mut saved.skeletons, &mut saved.histories) {
                (ReadWith::Skeleton(skeleton), Some(skeletons), _) => {
                    counts.hints.evicted = skeletons.check_in(skeleton);
                }
                (ReadWith::History(history), _, Some(histories)) => {
                    counts.receiving.evicted = histories.check_in(history);
                }
                _ => {}
            }
        });
        (result, counts)
    }

    /// Encodes a message with the template of its stream. If there is no template, a hint is added if `gives_hint` is true.
    pub(crate) fn write(
        &self,
        stream: StreamKey,
        mut record: Record,
        gives_hint: bool,
    ) -> Result<(Sent, HintCounts), Error> {
        let checkout = {
            let mut saved = self.inner.lock();
            let templates = saved.templates.as_mut();
            templates.map(|templates| templates.check_out(stream, &record))
        };
        let Some(mut checkout) = checkout else {
            return self.write_plain(&record, gives_hint);
        };
        if let Some(why) = checkout.is_plain() {
            let gives_hint = gives_hint && why == NoTemplate::Bypassed;
            let (sent, hints) = self.write_plain(&record, gives_hint)?;
            return Ok((sent.counted(why), hints));
        }
        let sent = checkout.send(&mut record);
        let mut evicted = 0;
        self.check_in(|saved| {
            if let Some(templates) = &mut saved.templates {
                evicted = templates.check_in(checkout);
            }
        });
        let mut sent = sent?;
        sent.counts.evicted = evicted;
        Ok((sent, HintCounts::default()))
    }

    /// Encodes a message without a template. If `gives_hint` is true, a hint is added.
    fn write_plain(&self, record: &Record, gives_hint: bool) -> Result<(Sent, HintCounts), Error> {
        let mut counts = HintCounts::default();
        if !gives_hint {
            return Ok((Sent::plain(record)?, counts));
        }
        let mut writer = self.inner.lock().writers.pop().unwrap_or_default();
        let mut text = Vec::new();
        let hint = writer.write(record, EncodeOptions::default(), &mut text);
        let chunks = hint.map(|hint| {
            let mut chunks = vec![text.into()];
            if let Some(hint) = hint {
                counts.given = 1;
                hint.splice(&mut chunks);
            }
            chunks
        });
        self.check_in(|saved| saved.writers.push(writer));
        let chunks = chunks?;
        Ok((Sent::of_chunks(chunks), counts))
    }

    /// Checks in what was checked out (`put_back`), and updates the charge to the budget if the memory of a part has
    /// changed. If the budget is exceeded, the part that has grown most is dropped.
    fn check_in(&self, put_back: impl FnOnce(&mut Saved)) {
        let inner = &*self.inner;
        let mut saved = inner.lock();
        put_back(&mut saved);
        inner.last_used.store(inner.budget.now(), Ordering::Relaxed);
        if saved.sizes() == saved.charged_sizes {
            return;
        }
        let Err(missing) = inner.charge(&mut saved) else {
            return;
        };
        // The lock is released first: other scopes may call `forget` on this one while this one calls it on them.
        drop(saved);
        inner.budget.free_bytes(missing);
        let mut saved = inner.lock();
        if inner.charge(&mut saved).is_ok() {
            return;
        }
        let grown = saved.grown_part();
        inner.drop_part(&mut saved, grown);
        if inner.charge(&mut saved).is_err() {
            inner.clear(&mut saved);
        }
    }
}

impl Saved {
    fn check_out_to_read(&mut self, root: ElementId, message: &[u8]) -> ReadWith {
        let skeletons = self.skeletons.as_mut();
        if let Some(skeleton) = skeletons.and_then(|it| it.check_out(root, message)) {
            return ReadWith::Skeleton(skeleton);
        }
        match &mut self.histories {
            Some(histories) => ReadWith::History(histories.check_out(root, message)),
            None => ReadWith::Decoder,
        }
    }

    /// The bytes of each part, in the order of [`PARTS`].
    fn sizes(&self) -> [usize; PARTS.len()] {
        let decoders = self.decoders.iter().map(|decoder| decoder.memory()).sum();
        let writers = self.writers.iter().map(Writer::memory).sum();
        let templates = self.templates.as_ref().map_or(0, TemplateCache::memory);
        let histories = self.histories.as_ref().map_or(0, HistoryCache::memory);
        let skeletons = self.skeletons.as_ref().map_or(0, SkeletonCache::memory);
        [decoders, writers, templates, histories, skeletons]
    }

    /// The part that has grown most since the last charge to the budget.
    fn grown_part(&self) -> SavedPart {
        let sizes = self.sizes();
        let growth = |&part: &SavedPart| {
            sizes[part as usize].saturating_sub(self.charged_sizes[part as usize])
        };
        PARTS
            .into_iter()
            .max_by_key(growth)
            .unwrap_or(SavedPart::Decoders)
    }
}

impl ReadWith {
    fn wants_decoder(&self) -> bool {
        match self {
            Self::Skeleton(skeleton) => skeleton.wants_decoder(),
            Self::History(history) => history.wants_decoder(),
            Self::Decoder => true,
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Saved> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges the present memory of the scope to the budget. The error is the number of bytes that the budget lacks.
    fn charge(&self, saved: &mut Saved) -> Result<(), usize> {
        let sizes = saved.sizes();
        let bytes = sizes.iter().sum::<usize>().next_multiple_of(BUDGET_STEP);
        if bytes > saved.charged {
            let more = bytes - saved.charged;
            if !self.budget.take(more) {
                return Err(more);
            }
        } else {
            self.budget.give(saved.charged - bytes);
        }
        saved.charged = bytes;
        saved.charged_sizes = sizes;
        Ok(())
    }

    /// Drops a part because memory is short. The part's cache then saves nothing for a while.
    fn drop_part(&self, saved: &mut Saved, part: SavedPart) {
        match part {
            SavedPart::Decoders => saved.decoders.drain(..).for_each(|it| self.pool.give(*it)),
            SavedPart::Writers => saved.writers.clear(),
            SavedPart::Templates => saved.templates.iter_mut().for_each(TemplateCache::pause),
            SavedPart::Histories => saved.histories.iter_mut().for_each(HistoryCache::pause),
            SavedPart::Skeletons => saved.skeletons.iter_mut().for_each(SkeletonCache::pause),
        }
    }

    /// Drops all parts.
    fn clear(&self, saved: &mut Saved) {
        PARTS
            .into_iter()
            .for_each(|part| self.drop_part(saved, part));
        saved.charged_sizes = [0; PARTS.len()];
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
        let mut saved = std::mem::take(&mut *self.lock());
        self.clear(&mut saved);
    }
}

impl fmt::Debug for PeerScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerScope")
            .field("charged", &self.inner.lock().charged)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bsoap_codec::DecodeOptions;
    use bsoap_codec::plan::ElementId;

    use super::*;
    use crate::schema::Definitions;
    use crate::{Fetch, Wsdl};

    const MESH: &str = include_str!("../../../examples/mesh/mesh.wsdl");
    const MESSAGE: &[u8] = b"<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>2</item><item>3</item></values></m:sumInts></s:Body></s:Envelope>";

    struct World {
        definitions: Arc<Definitions>,
        pool: Arc<Decoders>,
    }

    impl World {
        fn new() -> Self {
            let definitions = Wsdl::from(MESH).load(Fetch::AsAsked);
            let definitions = definitions.expect("the WSDL loads");
            let pool = Arc::new(Decoders::new(definitions.plan(), DecodeOptions::default()));
            Self { definitions, pool }
        }

        /// A scope that saves decoders, templates and histories.
        fn scope(&self, budget: &Budget) -> PeerScope {
            let keeping = Keeping {
                receiving: Receiving::off(),
                ..Keeping::default()
            };
            PeerScope::new(&self.pool, budget, keeping)
        }

        fn root(&self) -> ElementId {
            let mut ports = self.definitions.ports();
            ports.next().expect("a port").1.binding.request
        }

        /// The number of events that decoding the message takes. It is small if the scope has read a similar message before.
        fn events(&self, scope: &PeerScope) -> u64 {
            let saved = scope.inner.lock().decoders.pop();
            let mut decoder = saved.unwrap_or_else(|| Box::new(self.pool.take()));
            decoder.decode(self.root(), MESSAGE).expect("a message");
            let events = decoder.events();
            scope.check_in(|saved| saved.decoders.push(decoder));
            events
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
        // A new scope does not get the memory of a dropped one.
        drop((first, second));
        assert_eq!(world.pool.take().memory(), world.pool.take().memory());
        assert_eq!(world.events(&world.scope(&budget)), new);
    }

    #[test]
    fn what_is_kept_is_charged_until_it_is_gone() {
        let world = World::new();
        let budget = Budget::new(1 << 20);
        let scopes: Vec<PeerScope> = (0..3).map(|_| world.scope(&budget)).collect();
        assert_eq!(budget.used(), 0);
        for scope in &scopes {
            world.events(scope);
        }
        let used = budget.used();
        assert!(used >= 3 * BUDGET_STEP, "{used}");
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
        // The budget is enough for two scopes. `b` was used less recently than `a`.
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
