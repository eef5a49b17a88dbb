//! The templates of one owner: several for each stream of messages, chosen by structure, within a budget.
//!
//! ```text
//! message ──► its stream: (endpoint, operation)
//!               │  nothing in common so far?      stand aside for 8, 32, 128, 512 messages
//!               │  a template of this structure?  lend it                                ─► update  ─► give it back
//!               │  one of another endpoint?       lend a copy that shares its chunks     ─► update  ─► give it back
//!               │  such a message seen before?    lend an empty one                      ─► first   ─► give it back
//!               └─ otherwise                      plain text; remember what it was like
//! ```
//!
//! A template is lent, not used in place, so that messages of one owner are written at the same time; whoever finds all of
//! them lent makes another one, as for a message of another structure.
//!
//! A template is only made of the second of two messages alike: what is sent once would pay for it and have nothing of it.
//! Small messages are alike if they have as many slots and some of the same values, told by a few of them. (Of a message
//! of one chunk that changes in structure a template has nothing but work.) Large ones have as good as any number of slots:
//! what they have in common may have moved.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bsoap_codec::Record;
use bsoap_codec::encode::{EncodeOptions, Error};
use bsoap_codec::plan::ElementId;

use super::aside::Aside;
use super::deflate::Folds;
use super::likeness::{Sample, WORTH};
use super::plain;
use super::policy::Policy;
use super::template::{Match, Outgoing, Template};
use crate::stats::SendStats;

/// Messages of at most so many slots, and octets in the heap, are small: as good as all of one chunk.
const SMALL: (usize, usize) = (1024, 32 << 10);
/// One message in so many is timed.
const TIMED: u64 = 16;
/// From this share of the values on, writing them into a template costs more than a message from first to last.
const MOST: f64 = 0.8;

/// What is kept, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorePolicy {
    /// How templates are kept.
    pub template: Policy,
    /// How many for one stream.
    pub templates: usize,
    /// Bytes that all may hold. Those used longest ago go first.
    pub bytes: usize,
    /// How many streams are known.
    pub streams: usize,
}

impl Default for StorePolicy {
    /// Messages byte for byte as without templates; four for each stream, 64 MiB in all.
    fn default() -> Self {
        Self {
            template: Policy::default(),
            templates: 4,
            bytes: 64 << 20,
            streams: 256,
        }
    }
}

/// Which messages are expected to be alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    /// To whom they go; streams of several endpoints share chunks.
    pub endpoint: u32,
    /// The element they are.
    pub root: ElementId,
    /// The operation, by any number; faults by another.
    pub operation: u32,
}

/// Templates of one owner.
#[derive(Debug, Default)]
pub struct Store {
    policy: StorePolicy,
    streams: HashMap<Stream, Known, BuildHasherDefault<Mix>>,
    /// Goes up by one with each message.
    clock: u64,
    held: usize,
    /// Templates given up that nobody was told of yet.
    evicted: u64,
}

/// What is known of a stream.
#[derive(Debug)]
struct Known {
    templates: Vec<Entry>,
    /// The last messages that had no template, newest last.
    seen: Vec<Seen>,
    aside: Aside,
    pace: Pace,
    last_used: u64,
}

/// A message that was looked at.
#[derive(Debug)]
enum Seen {
    Small(Box<Sample>),
    Large { slots: usize },
}

/// A template at rest.
#[derive(Debug)]
struct Entry {
    lent: Box<Lent>,
    last_used: u64,
    /// What it takes, with what it was compressed to.
    memory: usize,
}

/// Digests of structures, newest last.
#[derive(Clone, Copy, Debug, Default)]
struct Strangers([u64; 4]);

/// What writing costs, by the clock, in nanoseconds; 0: not known.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// A byte of text without a template.
    byte: f64,
    /// A message with one.
    message: f64,
}

/// What a message is to be written with.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    stream: Stream,
    pace: Pace,
    is_timed: bool,
    /// Templates given up to make room for it.
    evicted: u64,
    with: With,
}

#[derive(Debug)]
enum With {
    /// Nothing.
    Plain {
        aside: bool,
    },
    Template(Box<Lent>),
}

/// A template that is lent.
#[derive(Debug)]
struct Lent {
    template: Template,
    folds: Arc<Mutex<Folds>>,
    /// What the template takes.
    memory: usize,
    /// If it has one chunk: the slots of its message that say what there is.
    markers: Option<Arc<[u32]>>,
    /// The structures of the last messages that had as many slots, and another structure.
    strangers: Strangers,
}

/// A message that was written.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sent {
    /// The text.
    pub outgoing: Outgoing,
    /// What was there already.
    pub counts: SendCounts,
    /// What its chunks are compressed to, if that is kept.
    pub folds: Option<Arc<Mutex<Folds>>>,
}

/// What was saved by templates, and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendCounts {
    /// What templates have done.
    pub matches: SendStats,
    /// Messages written without one: the first of their kind, and ...
    pub plain: u64,
    /// ... those of streams that have nothing in common, and ...
    pub aside: u64,
    /// ... those for which there was no room.
    pub starved: u64,
    /// Templates given up for lack of room.
    pub evicted: u64,
    /// About how much longer it would have taken without templates.
    pub saved: Duration,
}

impl SendCounts {
    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        self.matches.add(&other.matches);
        self.plain += other.plain;
        self.aside += other.aside;
        self.starved += other.starved;
        self.evicted += other.evicted;
        self.saved += other.saved;
    }

    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.matches.messages() + self.plain + self.aside + self.starved
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

    /// What the next message of a stream is to be written with.
    pub fn lend(&mut self, stream: Stream, record: &Record) -> Lease {
        self.clock += 1;
        let structures = self.policy.templates;
        let clock = self.clock;
        if self.streams.len() >= self.policy.streams.max(1) {
            self.bound_streams(stream);
        }
        let known = self
            .streams
            .entry(stream)
            .or_insert_with(|| Known::new(structures));
        known.last_used = clock;
        let pace = known.pace;
        let mut lease = Lease {
            stream,
            pace,
            is_timed: false,
            evicted: 0,
            with: With::Plain { aside: true },
        };
        if known.aside.passes() {
            return lease;
        }
        lease.is_timed = clock.is_multiple_of(TIMED);
        lease.with = match fitting(known, record) {
            Some(index) => {
                let entry = known.templates.swap_remove(index);
                self.held -= entry.memory;
                lease.is_timed |= pace.message == 0.0;
                With::Template(entry.lent)
            }
            None => self.lend_new(stream, record),
        };
        lease.is_timed |= pace.byte == 0.0;
        lease.evicted = std::mem::take(&mut self.evicted);
        lease
    }

    /// A copy of another endpoint's template, or an empty one, if the message is likely to be followed by others like it.
    fn lend_new(&mut self, stream: Stream, record: &Record) -> With {
        if let Some(template) = self.of_another_endpoint(stream, record) {
            return With::Template(Lent::new(template.clone()));
        }
        let structures = self.policy.templates;
        let known = self.streams.get_mut(&stream);
        if structures == 0 || !known.is_some_and(|known| known.has_seen(record, structures)) {
            return With::Plain { aside: false };
        }
        let options = EncodeOptions::default();
        With::Template(Lent::new(Template::new(self.policy.template, options)))
    }

    /// The template of another endpoint that is most like a message.
    fn of_another_endpoint(&self, stream: Stream, record: &Record) -> Option<&Template> {
        if self.streams.len() < 2 {
            return None;
        }
        let others = self.streams.iter().filter(|(other, known)| {
            other.endpoint != stream.endpoint
                && (other.root, other.operation) == (stream.root, stream.operation)
                && !known.templates.is_empty()
        });
        let alike = others.filter_map(|(_, known)| {
            let template = &known.templates[fitting(known, record)?].lent.template;
            Some((likeness(template, record).1, template))
        });
        let most = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
        most.map(|(_, template)| template)
    }

    /// Takes back what was lent. Answers with how many templates were given up to make room.
    pub fn settle(&mut self, settled: Settled) -> u64 {
        let Settled {
            stream,
            pace,
            evicted,
            use_of,
            lent,
        } = settled;
        let [first, second] = lent;
        if first.is_none() && pace.is_none() {
            self.evicted += evicted;
            return 0;
        }
        self.evicted += evicted;
        let structures = self.policy.templates;
        if let Some(known) = self.streams.get_mut(&stream) {
            known.pace = pace.unwrap_or(known.pace);
            match use_of {
                Use::None => known.aside.useless(structures),
                Use::Some => known.aside.useful(structures),
                Use::Stranger => known.aside.unlike(structures),
                Use::Later => {}
            }
        }
        let before = self.evicted;
        if let Some(lent) = first {
            self.keep(stream, lent);
        }
        if let Some(lent) = second {
            self.keep(stream, lent);
        }
        if self.evicted > before
            && use_of == Use::Later
            && let Some(known) = self.streams.get_mut(&stream)
        {
            // Templates that push one another out are worth little: not with each message.
            known.aside.useless(structures);
        }
        std::mem::take(&mut self.evicted)
    }

    /// Keeps a template, if there is room.
    fn keep(&mut self, stream: Stream, mut lent: Box<Lent>) {
        if lent.template.is_empty() {
            return;
        }
        let memory = lent.memory() + lent.folds.try_lock().map_or(0, |folds| folds.size());
        let Some(known) = self.streams.get_mut(&stream) else {
            // Forgotten meanwhile, and its templates with it.
            self.evicted += 1;
            return;
        };
        if memory > self.policy.bytes {
            // It would be made again and again, and given up each time.
            known.aside.hopeless();
            self.evicted += 1;
            return;
        }
        if known.templates.len() >= self.policy.templates.max(1) {
            let oldest = oldest(&known.templates);
            self.held -= known.templates.swap_remove(oldest).memory;
            self.evicted += 1;
        }
        self.held += memory;
        known.templates.push(Entry {
            lent,
            last_used: self.clock,
            memory,
        });
        self.shrink(self.policy.bytes);
    }

    /// Gives templates up, those used longest ago first, until no more than so many bytes are held.
    pub fn shrink(&mut self, bytes: usize) {
        while self.held > bytes {
            let oldest = self
                .streams
                .values_mut()
                .filter(|known| !known.templates.is_empty())
                .min_by_key(|known| known.templates[oldest(&known.templates)].last_used);
            let Some(known) = oldest else {
                return;
            };
            let index = self::oldest(&known.templates);
            self.held -= known.templates.swap_remove(index).memory;
            self.evicted += 1;
        }
    }

    /// Bytes held by templates at rest, and by what is known of streams.
    pub fn memory(&self) -> usize {
        let looked_at = self.policy.templates * (size_of::<Seen>() + size_of::<Sample>());
        let streams = self.streams.capacity() * size_of::<(Stream, Known)>();
        self.held + streams + self.streams.len() * looked_at
    }

    /// How many templates are at rest.
    pub fn len(&self) -> usize {
        self.streams
            .values()
            .map(|known| known.templates.len())
            .sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything. That templates are given up is told with the next message.
    pub fn clear(&mut self) {
        self.evicted += self.len() as u64;
        self.streams = HashMap::default();
        self.held = 0;
    }

    /// Forgets the stream used longest ago, if there are too many to add this one.
    fn bound_streams(&mut self, new: Stream) {
        if self.streams.contains_key(&new) {
            return;
        }
        let oldest = self.streams.iter().min_by_key(|(_, known)| known.last_used);
        let Some(stream) = oldest.map(|(stream, _)| *stream) else {
            return;
        };
        if let Some(known) = self.streams.remove(&stream) {
            self.held -= known
                .templates
                .iter()
                .map(|entry| entry.memory)
                .sum::<usize>();
            self.evicted += known.templates.len() as u64;
        }
    }
}

impl Lent {
    fn new(template: Template) -> Box<Self> {
        Box::new(Self {
            template,
            folds: Arc::default(),
            memory: 0,
            markers: None,
            strangers: Strangers::default(),
        })
    }

    /// Makes it the message of a record, if that has its structure, or structure does not matter.
    #[inline]
    fn update(&mut self, record: &mut Record) -> Result<Option<Match>, Error> {
        let matched = self.template.update_alike(record)?;
        if matched.is_some_and(|matched| matched != Match::Content) {
            // What is told of it has to be found out again.
            self.memory = 0;
            if matched == Some(Match::FirstTime) || self.template.chunks().len() != 1 {
                self.markers = None;
            }
        }
        Ok(matched)
    }

    /// Its message, ready to be sent, and what it has done since.
    #[inline]
    fn tell(&self, before: &SendStats, sent: &mut Sent) {
        sent.outgoing = self.template.outgoing();
        sent.counts.matches = self.template.stats().since(before);
        sent.folds = Some(Arc::clone(&self.folds));
    }

    fn memory(&mut self) -> usize {
        if self.memory == 0 {
            if self.markers.is_none() && self.template.chunks().len() == 1 {
                self.markers = Some(self.template.markers().into());
            }
            let markers = self.markers.as_ref().map_or(0, |markers| markers.len() * 4);
            self.memory = self.template.memory() + markers;
        }
        self.memory
    }

    /// Whether nothing of the message is kept when it changes in structure.
    fn is_single(&self) -> bool {
        self.markers.is_some()
    }

    /// Whether a message can be made of this one's without a look at its structure.
    fn has_slots_of(&self, record: &Record) -> bool {
        let (slots, shadow) = (record.slots().len(), self.template.record());
        shadow.is_some_and(|shadow| {
            let own = shadow.slots().len();
            own == slots || !self.is_single() && is_close(own, slots)
        })
    }

    /// Whether a message has the structure of this one's, if that matters.
    fn has_structure_of(&self, record: &Record) -> bool {
        let (Some(markers), Some(shadow)) = (&self.markers, self.template.record()) else {
            return true;
        };
        let (old, new) = (shadow.slots(), record.slots());
        old.len() == new.len()
            && markers
                .iter()
                .all(|&marker| old.get(marker as usize) == new.get(marker as usize))
    }

    /// What tells the structure of a message from others of as many slots.
    fn structure(&self, record: &Record) -> u64 {
        let mut mix = Mix::default();
        for &marker in self.markers.iter().flat_map(|markers| &**markers) {
            let slot = record.slots().get(marker as usize);
            mix.write_u64(slot.copied().unwrap_or_default());
        }
        mix.finish() | 1
    }
}

impl Strangers {
    fn has(&self, structure: u64) -> bool {
        self.0.contains(&structure)
    }

    fn add(&mut self, structure: u64) {
        self.0.rotate_left(1);
        self.0[3] = structure;
    }
}

impl Known {
    fn new(structures: usize) -> Self {
        Self {
            templates: Vec::new(),
            seen: Vec::new(),
            aside: Aside::new(structures),
            pace: Pace::default(),
            last_used: 0,
        }
    }

    /// Whether a message like this one was looked at before. If not, it will have been.
    fn has_seen(&mut self, record: &Record, structures: usize) -> bool {
        let mut templates = self.templates.iter_mut().map(|entry| &mut entry.lent);
        let other = templates.find(|lent| lent.is_single() && lent.has_slots_of(record));
        if let Some(other) = other
            && !other.has_structure_of(record)
        {
            let structure = other.structure(record);
            let is_known = other.strangers.has(structure);
            if !is_known {
                other.strangers.add(structure);
                self.aside.unlike(structures);
            }
            return is_known;
        }
        let new = Seen::of(record);
        if self.seen.iter().any(|seen| seen.is_like(&new)) {
            return true;
        }
        self.aside.unlike(structures);
        if self.seen.len() >= structures {
            self.seen.remove(0);
        }
        self.seen.push(new);
        false
    }
}

impl Seen {
    fn of(record: &Record) -> Self {
        let slots = record.slots().len();
        if slots <= SMALL.0 && record.heap().len() <= SMALL.1 {
            Self::Small(Box::new(Sample::of(record, slots)))
        } else {
            Self::Large { slots }
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Small(own), Self::Small(other)) => own.is_like(other),
            (Self::Large { slots }, Self::Large { slots: others }) => is_close(*slots, *others),
            _ => false,
        }
    }
}

fn oldest(entries: &[Entry]) -> usize {
    let by_age = entries
        .iter()
        .enumerate()
        .min_by_key(|(_, entry)| entry.last_used);
    by_age.map_or(0, |(index, _)| index)
}

/// The template whose message is most like this one, if there is one of about its structure.
fn fitting(known: &Known, record: &Record) -> Option<usize> {
    let is_trusted = known.aside.is_trusted();
    if let [only] = &*known.templates
        && is_trusted
    {
        return only.lent.has_slots_of(record).then_some(0);
    }
    let mut alike = known.templates.iter().enumerate().filter(|(_, entry)| {
        entry.lent.has_slots_of(record) && entry.lent.has_structure_of(record)
    });
    let first = alike.next()?;
    let second = alike.next();
    if second.is_none() && is_trusted {
        return Some(first.0);
    }
    std::iter::once(first)
        .chain(second)
        .chain(alike)
        .map(
            |(
                index,
                Entry {
                    lent, last_used, ..
                },
            )| {
                let (alike, share) = likeness(&lent.template, record);
                (index, lent, alike, share, last_used)
            },
        )
        .filter(|(_, lent, _, share, _)| {
            // To try whether it is of use costs a small message dear.
            is_trusted || !lent.is_single() || *share >= WORTH
        })
        .max_by(
            |(_, _, alike, share, used), (.., other, others, others_used)| {
                let by_likeness = alike.cmp(other).then(share.total_cmp(others));
                by_likeness.then(used.cmp(others_used))
            },
        )
        .map(|(index, ..)| index)
}

/// Whether messages of so many slots may be made of one another.
fn is_close(slots: usize, others: usize) -> bool {
    slots.abs_diff(others) <= slots.max(others) / 4
}

/// How alike two messages are: whether they have as many slots, and the share of a few slots that are equal.
fn likeness(template: &Template, record: &Record) -> (bool, f32) {
    let Some(shadow) = template.record() else {
        return (false, 0.0);
    };
    let (old, new) = (shadow.slots().len(), record.slots().len());
    let shorter = old.min(new);
    let likeness = Sample::of(shadow, shorter).likeness(&Sample::of(record, shorter));
    (old == new, likeness)
}

/// Mixes the few numbers that a [`Stream`] is. They are the program's own, not a peer's: nobody can choose them so that they
/// collide.
#[derive(Clone, Copy, Debug, Default)]
struct Mix(u64);

impl Hasher for Mix {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(29) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// What comes back of a [`Lease`].
#[derive(Debug)]
#[must_use]
pub struct Settled {
    stream: Stream,
    pace: Option<Pace>,
    evicted: u64,
    use_of: Use,
    /// The template that was lent, and one that was made.
    lent: [Option<Box<Lent>>; 2],
}

/// What a template was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Some of the message was there already.
    Some,
    /// As good as nothing.
    None,
    /// It was not used: the message has another structure.
    Stranger,
    /// It is the first message.
    Later,
}

impl Lease {
    /// Whether nothing is lent and nothing will be learned: the message is to be written, and that is all.
    #[inline]
    pub fn is_aside(&self) -> bool {
        matches!(self.with, With::Plain { aside: true })
    }

    /// Writes the message. What was lent is to be given back by [`Store::settle`], also after an error.
    pub fn send(self, mut record: Record) -> (Result<Sent, Error>, Settled) {
        let begun = self.is_timed.then(Instant::now);
        let mut settled = Settled {
            stream: self.stream,
            pace: None,
            evicted: self.evicted,
            use_of: Use::Later,
            lent: [None, None],
        };
        let timing = Timing {
            pace: self.pace,
            begun,
        };
        // Filled where it stands: it is large, and moving it takes time.
        let mut sent = Sent {
            outgoing: Outgoing::default(),
            counts: SendCounts::default(),
            folds: None,
        };
        let written = match self.with {
            With::Plain { aside } => settled.plain(&record, aside, timing, &mut sent),
            With::Template(lent) => settled.write(lent, &mut record, timing, &mut sent),
        };
        if written.is_ok() {
            sent.counts.evicted = std::mem::take(&mut settled.evicted);
        }
        (written.map(|()| sent), settled)
    }
}

/// What the clock said before, and when the message was begun, if it is timed.
#[derive(Clone, Copy, Debug)]
struct Timing {
    pace: Pace,
    begun: Option<Instant>,
}

impl Settled {
    /// Writes a message without a template.
    fn plain(
        &mut self,
        record: &Record,
        aside: bool,
        timing: Timing,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        sent.outgoing = plain_text(record)?;
        sent.counts.plain = u64::from(!aside);
        sent.counts.aside = u64::from(aside);
        let taken = timing.begun.map(|begun| begun.elapsed());
        self.pace = taken.map(|taken| timing.pace.plain(taken, sent.outgoing.length));
        Ok(())
    }

    /// Writes a message by a template, or by one that is made for it.
    #[inline]
    fn write(
        &mut self,
        lent: Box<Lent>,
        record: &mut Record,
        timing: Timing,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        let lent = self.lent[0].insert(lent);
        let before = *lent.template.stats();
        let Some(matched) = lent.update(record)? else {
            return self.stranger(record, timing, sent);
        };
        lent.tell(&before, sent);
        self.use_of = use_of(&lent.template, matched, &sent.counts.matches);
        if matched != Match::FirstTime {
            let pace = timing
                .begun
                .map(|begun| timing.pace.updated(begun.elapsed()));
            self.pace = pace;
            sent.counts.saved = pace.unwrap_or(timing.pace).saved(sent.outgoing.length);
        }
        Ok(())
    }

    /// Writes a message that has another structure than the template that was lent: plainly, the first time.
    #[cold]
    fn stranger(
        &mut self,
        record: &mut Record,
        timing: Timing,
        sent: &mut Sent,
    ) -> Result<(), Error> {
        if let [Some(lent), made] = &mut self.lent {
            let structure = lent.structure(record);
            if lent.strangers.has(structure) {
                let (policy, options) = (*lent.template.policy(), *lent.template.options());
                let made = made.insert(Lent::new(Template::new(policy, options)));
                made.update(record)?;
                made.tell(&SendStats::default(), sent);
                return Ok(());
            }
            lent.strangers.add(structure);
        }
        self.use_of = Use::Stranger;
        self.plain(record, false, timing, sent)
    }
}

/// What a template was good for, by what had to be written: the clock would judge the same stream this way or that on a busy
/// machine. A value of the length it had costs about what it costs in a message written from first to last, one of another
/// length twice that, and so does a chunk that is encoded anew.
fn use_of(template: &Template, matched: Match, counted: &SendStats) -> Use {
    let is_useless = match matched {
        Match::Content => false,
        Match::FirstTime => return Use::Later,
        Match::PerfectStructural | Match::PartialStructural => {
            let moved = counted.stolen + counted.shifted + counted.rewritten;
            let values = (counted.values + moved) as f64 / template.values().max(1) as f64;
            let chunks = counted.encoded_chunks as f64 / template.chunks().len().max(1) as f64;
            values + 2.0 * chunks > MOST
        }
    };
    if is_useless { Use::None } else { Use::Some }
}

impl Pace {
    /// With a message written without a template. The least counts: nothing makes a message faster than it is, much makes it
    /// slower.
    fn plain(self, taken: Duration, bytes: u64) -> Self {
        let found = taken.as_nanos() as f64 / bytes.max(1) as f64;
        let byte = if self.byte > 0.0 {
            self.byte.min(found)
        } else {
            found
        };
        Self { byte, ..self }
    }

    /// With a message written by a template: about the mean of the last few.
    fn updated(self, taken: Duration) -> Self {
        let found = taken.as_nanos() as f64;
        let message = if self.message > 0.0 {
            (3.0 * self.message + found) / 4.0
        } else {
            found
        };
        Self { message, ..self }
    }

    /// About how much longer a message of so many bytes would have taken without a template.
    fn saved(self, bytes: u64) -> Duration {
        let plain = self.byte * bytes as f64;
        Duration::from_nanos((plain - self.message).max(0.0) as u64)
    }
}

impl Sent {
    /// A message written from first to last, of which nothing is kept; not counted.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn plain(record: &Record) -> Result<Self, Error> {
        Ok(Self {
            outgoing: plain_text(record)?,
            counts: SendCounts::default(),
            folds: None,
        })
    }

    /// Counts a [plain](Self::plain) message as one for whose template there was no room.
    #[must_use]
    pub fn starved(mut self) -> Self {
        self.counts.starved = 1;
        self
    }
}

fn plain_text(record: &Record) -> Result<Outgoing, Error> {
    let text = plain::text(record)?;
    Ok(Outgoing {
        length: text.len() as u64,
        chunks: vec![text],
    })
}
