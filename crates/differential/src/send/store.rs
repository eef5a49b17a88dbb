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

use bsoap_codec::Record;
use bsoap_codec::encode::EncodeOptions;
use bsoap_codec::plan::ElementId;

use super::chunk::Text;
use super::gzip::Account;
use super::likeness::Sample;
use super::plain;
use super::policy::Policy;
use super::template::Template;

mod counts;
mod known;
mod lease;
mod lent;
mod mix;
mod pace;
mod room;
mod streams;
mod worth;

pub use counts::SendCounts;
pub use lease::{Lease, Sent};

use known::{fitting, likeness};
use lease::{Use, With};
use lent::Lent;
use room::Room;
use streams::Streams;

/// One message in so many is timed.
const TIMED: u64 = 16;

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
    /// Whether what chunks are compressed to is kept: of use where messages are sent as gzip.
    pub folds: bool,
}

impl Default for StorePolicy {
    /// Messages byte for byte as without templates; four for each stream, 64 MiB in all.
    fn default() -> Self {
        Self {
            template: Policy::default(),
            templates: 4,
            bytes: 64 << 20,
            streams: 256,
            folds: false,
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
    streams: Streams,
    /// Goes up by one with each message.
    clock: u64,
    /// Bytes of templates at rest, without what they were compressed to, and of the buffer.
    held: usize,
    /// What templates were compressed to.
    account: Account,
    /// The text of the last large message without a template, which somebody may still hold; and what it takes.
    buffer: Option<(Box<Text>, usize)>,
    /// Templates given up that nobody was told of yet.
    evicted: u64,
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
        let most = self.policy.streams;
        let (known, forgotten) = self.streams.of_or_new(stream, most, structures);
        if let Some(forgotten) = forgotten {
            self.held -= forgotten.held();
            self.evicted += forgotten.templates.len() as u64;
        }
        known.last_used = clock;
        let pace = known.pace;
        if known.aside.passes() {
            let buffer = plain::is_large(record).then(|| self.lend_buffer());
            return Lease {
                stream,
                with: With::Plain { aside: true },
                buffer,
                made: None,
                pace,
                is_paced: false,
                is_timed: false,
                use_of: Use::Later,
                evicted: 0,
            };
        }
        let mut is_timed = clock.is_multiple_of(TIMED) || !pace.knows_plain();
        let with = match fitting(known, record) {
            Some(index) => {
                let entry = known.templates.swap_remove(index);
                self.held -= entry.memory;
                is_timed |= !pace.knows_updates();
                With::Template(entry.lent)
            }
            None => self.lend_new(stream, record),
        };
        if matches!(with, With::Template(_)) && plain::is_large(record) {
            // It will not be needed for a while.
            self.give_buffer_up();
        }
        // All at once: it is moved, and what was just written to a part of it would be waited for.
        Lease {
            stream,
            with,
            buffer: None,
            made: None,
            pace,
            is_paced: false,
            is_timed,
            use_of: Use::Later,
            evicted: std::mem::take(&mut self.evicted),
        }
    }

    /// A copy of another endpoint's template, or an empty one, if the message is likely to be followed by others like it.
    fn lend_new(&mut self, stream: Stream, record: &Record) -> With {
        if let Some(template) = self.of_another_endpoint(stream, record) {
            return With::Template(Lent::new(template.clone(), self.folding()));
        }
        let structures = self.policy.templates;
        let known = self.streams.of(stream);
        if structures == 0 || !known.is_some_and(|known| known.has_seen(record, structures)) {
            return With::Plain { aside: false };
        }
        let options = EncodeOptions::default();
        With::Template(Lent::new(
            Template::new(self.policy.template, options),
            self.folding(),
        ))
    }

    /// Where it is counted what chunks are compressed to, if that is kept.
    fn folding(&self) -> Option<&Account> {
        self.policy.folds.then_some(&self.account)
    }

    /// The template of another endpoint that is most like a message.
    fn of_another_endpoint(&self, stream: Stream, record: &Record) -> Option<&Template> {
        if self.streams.len() < 2 {
            return None;
        }
        let others = self.streams.iter().filter(|known| {
            let other = known.stream;
            other.endpoint != stream.endpoint
                && (other.root, other.operation) == (stream.root, stream.operation)
                && !known.templates.is_empty()
        });
        let mut others = others.peekable();
        others.peek()?;
        let own = Sample::of(record, record.slots().len());
        let alike = others.filter_map(|known| {
            let lent = &known.templates[fitting(known, record)?].lent;
            Some((likeness(lent, record, &own).1, &lent.template))
        });
        let most = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
        most.map(|(_, template)| template)
    }

    /// Takes back what was lent. Answers with how many templates were given up to make room.
    pub fn settle(&mut self, lease: Lease) -> u64 {
        if let Some(buffer) = lease.buffer {
            self.keep_buffer(buffer);
        }
        self.evicted += lease.evicted;
        let lent = match lease.with {
            With::Template(lent) => Some(lent),
            With::Plain { .. } if lease.is_paced => None,
            With::Plain { .. } => return 0,
        };
        let before = self.evicted;
        let kept = lent.into_iter().chain(lease.made);
        let kept = kept.filter(|lent| !lent.template.is_empty());
        let Some(known) = self.streams.of(lease.stream) else {
            // Forgotten meanwhile, and its templates with it.
            self.evicted += kept.count() as u64;
            return std::mem::take(&mut self.evicted);
        };
        known.pace = lease.pace;
        let structures = self.policy.templates;
        match lease.use_of {
            Use::None => known.aside.useless(structures),
            Use::Some => known.aside.useful(structures),
            Use::Stranger => known.aside.unlike(structures),
            Use::Later => {}
        }
        let mut room = Room {
            policy: &self.policy,
            clock: self.clock,
            account: &self.account,
            held: &mut self.held,
            evicted: &mut self.evicted,
        };
        kept.for_each(|lent| room.keep(known, lent));
        if self.held() > self.policy.bytes {
            self.shrink(self.policy.bytes);
        }
        if self.evicted > before
            && lease.use_of == Use::Later
            && let Some(known) = self.streams.of(lease.stream)
        {
            // Templates that push one another out are worth little: not with each message.
            known.aside.useless(structures);
        }
        std::mem::take(&mut self.evicted)
    }
}
