//! The templates of one owner: several for each stream of messages, chosen by structure, within a budget.
//!
//! ```text
//! message ──► its stream: (endpoint, operation)
//!               │  nothing in common last time?   stand aside for 1, 2, 4 … 32 messages
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

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bsoap_codec::Record;
use bsoap_codec::encode::{EncodeOptions, Encoder, Error};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::deflate::Folds;
use super::policy::Policy;
use super::template::{Match, Outgoing, Template};
use crate::stats::SendStats;

/// Longest time of standing aside, in messages.
const LONGEST_ASIDE: u32 = 32;
/// Slots of two Records that are compared to see how alike they are.
const SAMPLES: usize = 64;

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
    streams: HashMap<Stream, Known>,
    /// Goes up by one with each message.
    clock: u64,
    held: usize,
    evicted: u64,
}

/// What is known of a stream.
#[derive(Debug, Default)]
struct Known {
    templates: Vec<Entry>,
    /// Slots of the last messages that had no template, newest last.
    seen: Vec<usize>,
    /// So many messages are not looked at.
    aside: u32,
    /// How many that were the last time.
    pause: u32,
    /// What a byte of text costs that is written without a template, in nanoseconds; 0: not known.
    cost: f64,
    last_used: u64,
}

/// A template at rest.
#[derive(Debug)]
struct Entry {
    template: Box<Template>,
    folds: Arc<Mutex<Folds>>,
    last_used: u64,
    memory: usize,
}

/// What a message is to be written with.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    stream: Stream,
    cost: f64,
    with: With,
}

#[derive(Debug)]
enum With {
    /// Nothing.
    Plain { aside: bool },
    Template {
        template: Box<Template>,
        folds: Arc<Mutex<Folds>>,
    },
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
    /// ... those of streams that have nothing in common.
    pub aside: u64,
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
        self.evicted += other.evicted;
        self.saved += other.saved;
    }

    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.matches.messages() + self.plain + self.aside
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
        self.bound_streams(stream);
        let known = self.streams.entry(stream).or_default();
        known.last_used = self.clock;
        let cost = known.cost;
        if known.aside > 0 {
            known.aside -= 1;
            let with = With::Plain { aside: true };
            return Lease { stream, cost, with };
        }
        let with = match fitting(&known.templates, record) {
            Some(index) => {
                let entry = known.templates.swap_remove(index);
                self.held -= entry.memory;
                With::Template {
                    template: entry.template,
                    folds: entry.folds,
                }
            }
            None => self.lend_new(stream, record),
        };
        Lease { stream, cost, with }
    }

    /// A copy of another endpoint's template, or an empty one, if the message is likely to be followed by others like it.
    fn lend_new(&mut self, stream: Stream, record: &Record) -> With {
        let other = self.streams.iter().filter(|(other, _)| {
            other.endpoint != stream.endpoint
                && (other.root, other.operation) == (stream.root, stream.operation)
        });
        let copy = other
            .filter_map(|(_, known)| {
                let index = fitting(&known.templates, record)?;
                Some(&*known.templates[index].template)
            })
            .max_by_key(|template| likeness(template, record));
        if let Some(template) = copy {
            return With::Template {
                template: Box::new(template.clone()),
                folds: Arc::default(),
            };
        }
        let known = self.streams.entry(stream).or_default();
        let slots = record.slots().len();
        let is_known = known.seen.iter().any(|&seen| is_close(seen, slots));
        if !is_known || self.policy.templates == 0 {
            known.seen.push(slots);
            if known.seen.len() > self.policy.templates.max(1) {
                known.seen.remove(0);
            }
            return With::Plain { aside: false };
        }
        let options = EncodeOptions::default();
        With::Template {
            template: Box::new(Template::new(self.policy.template, options)),
            folds: Arc::default(),
        }
    }

    /// Takes back what was lent. Answers with how many templates were given up to make room.
    pub fn settle(&mut self, settled: Settled) -> u64 {
        let Some(known) = self.streams.get_mut(&settled.stream) else {
            return 0;
        };
        if settled.cost > 0.0 {
            known.cost = settled.cost;
        }
        if settled.was_useless {
            known.pause = (known.pause * 2).clamp(1, LONGEST_ASIDE);
            known.aside = known.pause;
        } else if settled.lent.is_some() && !settled.was_first {
            known.pause = 0;
        }
        let before = self.evicted;
        if let Some((template, folds)) = settled.lent
            && !template.is_empty()
        {
            let kept = folds.try_lock().map_or(0, |folds| folds.size());
            let memory = template.memory() + kept;
            if memory > self.policy.bytes {
                // It would be made again and again, and given up each time.
                known.pause = LONGEST_ASIDE;
                known.aside = LONGEST_ASIDE;
                self.evicted += 1;
                return 1;
            }
            if known.templates.len() >= self.policy.templates {
                let oldest = oldest(&known.templates);
                self.held -= known.templates.swap_remove(oldest).memory;
                self.evicted += 1;
            }
            self.held += memory;
            known.templates.push(Entry {
                template,
                folds,
                last_used: self.clock,
                memory,
            });
        }
        self.shrink(self.policy.bytes);
        let evicted = self.evicted - before;
        if evicted > 0
            && settled.was_first
            && let Some(known) = self.streams.get_mut(&settled.stream)
        {
            // Templates that push one another out are worth little: not with each message.
            known.pause = (known.pause * 2).clamp(1, LONGEST_ASIDE);
            known.aside = known.pause;
        }
        evicted
    }

    /// Gives templates up, those used longest ago first, until no more than so many bytes are held.
    pub fn shrink(&mut self, bytes: usize) {
        while self.held > bytes {
            let oldest = self
                .streams
                .iter()
                .flat_map(|(stream, known)| {
                    known.templates.iter().map(move |entry| (stream, entry))
                })
                .min_by_key(|(_, entry)| entry.last_used)
                .map(|(stream, _)| *stream);
            let Some(known) = oldest.and_then(|stream| self.streams.get_mut(&stream)) else {
                return;
            };
            let index = oldest_of(known);
            self.held -= known.templates.swap_remove(index).memory;
            self.evicted += 1;
        }
    }

    /// Bytes held by templates at rest.
    pub fn memory(&self) -> usize {
        let streams = self.streams.capacity() * size_of::<(Stream, Known)>();
        self.held + streams
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

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.streams = HashMap::new();
        self.held = 0;
    }

    /// Forgets the stream used longest ago, if there are too many to add this one.
    fn bound_streams(&mut self, new: Stream) {
        if self.streams.len() < self.policy.streams.max(1) || self.streams.contains_key(&new) {
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

fn oldest_of(known: &Known) -> usize {
    oldest(&known.templates)
}

fn oldest(entries: &[Entry]) -> usize {
    let by_age = entries
        .iter()
        .enumerate()
        .min_by_key(|(_, entry)| entry.last_used);
    by_age.map_or(0, |(index, _)| index)
}

/// The template whose message is most like this one, if there is one of about its structure.
fn fitting(entries: &[Entry], record: &Record) -> Option<usize> {
    let alike = entries.iter().enumerate().filter(|(_, entry)| {
        let shadow = entry.template.record();
        shadow.is_some_and(|shadow| is_close(shadow.slots().len(), record.slots().len()))
    });
    alike
        .max_by_key(|(_, entry)| (likeness(&entry.template, record), entry.last_used))
        .map(|(index, _)| index)
}

/// Whether messages of so many slots may be made of one another.
fn is_close(slots: usize, others: usize) -> bool {
    slots.abs_diff(others) <= slots.max(others) / 4
}

/// How alike two messages are: whether they have as many slots, and how many of a few slots are equal.
fn likeness(template: &Template, record: &Record) -> (bool, usize) {
    let Some(shadow) = template.record() else {
        return (false, 0);
    };
    let (old, new) = (shadow.slots(), record.slots());
    let shorter = old.len().min(new.len());
    let step = (shorter / SAMPLES).max(1);
    let equal = (0..shorter).step_by(step).filter(|&at| old[at] == new[at]);
    (old.len() == new.len(), equal.count())
}

/// What comes back of a [`Lease`].
#[derive(Debug)]
#[must_use]
pub struct Settled {
    stream: Stream,
    cost: f64,
    was_useless: bool,
    was_first: bool,
    lent: Option<(Box<Template>, Arc<Mutex<Folds>>)>,
}

impl Lease {
    /// Writes the message. What was lent is to be given back by [`Store::settle`], also after an error.
    pub fn send(self, mut record: Record) -> (Result<Sent, Error>, Settled) {
        let begun = Instant::now();
        let mut settled = Settled {
            stream: self.stream,
            cost: 0.0,
            was_useless: false,
            was_first: false,
            lent: None,
        };
        let (mut template, folds) = match self.with {
            With::Plain { aside } => {
                let mut written = Sent::plain(&record);
                if let Ok(sent) = &mut written {
                    sent.counts.plain = u64::from(!aside);
                    sent.counts.aside = u64::from(aside);
                    settled.cost = cost(self.cost, begun.elapsed(), sent.outgoing.length);
                }
                return (written, settled);
            }
            With::Template { template, folds } => (template, folds),
        };
        let before = *template.stats();
        let updated = template.update(&mut record);
        let counted = template.stats().since(&before);
        let result = updated.map(|matched| {
            let length = template.length();
            let taken = begun.elapsed();
            let saved = match matched {
                Match::FirstTime => Duration::ZERO,
                _ => Duration::from_nanos((self.cost * length as f64) as u64).saturating_sub(taken),
            };
            settled.was_first = matched == Match::FirstTime;
            settled.was_useless = is_useless(&template, matched, &counted);
            Sent {
                outgoing: template.outgoing(),
                counts: SendCounts {
                    matches: counted,
                    saved,
                    ..SendCounts::default()
                },
                folds: Some(Arc::clone(&folds)),
            }
        });
        settled.lent = Some((template, folds));
        (result, settled)
    }
}

/// Whether as good as all of the message had to be written.
fn is_useless(template: &Template, matched: Match, counted: &SendStats) -> bool {
    let slots = template.record().map_or(0, |record| record.slots().len()) as u64;
    let chunks = template.chunks().len() as u64;
    match matched {
        Match::Content | Match::FirstTime => false,
        Match::PerfectStructural | Match::PartialStructural => {
            counted.values * 8 > slots * 7 || counted.encoded_chunks * 8 > chunks * 7
        }
    }
}

impl Sent {
    /// A message written from first to last, of which nothing is kept; not counted.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn plain(record: &Record) -> Result<Self, Error> {
        let mut text = Vec::new();
        Encoder::default().encode(record, &mut text)?;
        let length = text.len() as u64;
        Ok(Self {
            outgoing: Outgoing {
                chunks: vec![Bytes::from(text)],
                length,
            },
            counts: SendCounts::default(),
            folds: None,
        })
    }
}

/// The cost of a byte, with one more message taken into account. The least counts: nothing makes a message faster than
/// it is, much makes it slower.
fn cost(known: f64, taken: Duration, bytes: u64) -> f64 {
    let found = taken.as_nanos() as f64 / bytes.max(1) as f64;
    if known > 0.0 { known.min(found) } else { found }
}
