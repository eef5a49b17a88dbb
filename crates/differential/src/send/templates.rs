//! The templates of one owner: several for each stream of messages, chosen by structure and similarity.
//!
//! ```text
//! message ──► its stream: (endpoint, operation)
//!               │  nothing in common so far?      bypass 8, 32, 128, 512 messages
//!               │  a template of this structure?  check it out                          ─► update ─► check it in
//!               │  one of another endpoint?       a copy of it, which shares its chunks ─► update ─► check it in
//!               │  a similar message seen before? a new template                        ─► encode ─► check it in
//!               └─ otherwise                      encode it; remember what it was like
//! ```
//!
//! A template is made only of the second of two similar messages, so that a message sent once does not pay for one. *Small*
//! messages, which fit into one chunk, are similar if they have the same structure and some equal values: a chunk whose
//! structure changes is encoded again, so its template would be of no use. *Large* messages are similar if they have about
//! the same number of slots: equal parts may have moved.

use bsoap_codec::Record;
use bsoap_codec::encode::EncodeOptions;
use bsoap_codec::plan::ElementId;

use super::chunk::ChunkText;
use super::plain;
use super::policy::Policy;
use super::similarity::{ValueSample, WORTH_A_TEMPLATE};
use super::template::Template;
use crate::bypass::{Backoff, Bypass};
use crate::cache::{Cache, Checkout, Entry, Group, Limits};

mod checkout;
mod cost;
mod saved;

pub use checkout::{NoTemplate, Sent, TemplateCheckout};

use checkout::Outcome;
use saved::SavedTemplate;

/// The largest number of slots of a small message, and of bytes in its heap: it fits into one chunk.
const SMALL_MESSAGE: (usize, usize) = (1024, 32 << 10);

/// Limits of a template cache, and how its templates are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplateCachePolicy {
    /// The policy of the templates.
    pub template: Policy,
    /// The largest number of templates of one stream.
    pub templates: usize,
    /// The largest number of bytes of all templates. Those used least recently are evicted.
    pub bytes: usize,
    /// The largest number of streams.
    pub streams: usize,
    /// Whether compressed chunks are kept, for messages that are sent with gzip.
    pub keeps_compressed: bool,
}

impl Default for TemplateCachePolicy {
    /// Messages are byte for byte the same as without templates; four templates for each stream, 64 MiB in all.
    fn default() -> Self {
        Self {
            template: Policy::default(),
            templates: 4,
            bytes: 64 << 20,
            streams: 256,
            keeps_compressed: false,
        }
    }
}

/// Identifies a stream: messages that are expected to be similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// The number of the receiving endpoint. Templates of several endpoints share chunks.
    pub endpoint: u32,
    /// The root element.
    pub root: ElementId,
    /// A number that the caller chooses for each operation. Faults have a number of their own.
    pub operation: u32,
}

/// Templates of one owner.
#[derive(Debug)]
pub struct TemplateCache {
    policy: TemplateCachePolicy,
    cache: Cache<Stream, SavedTemplate>,
    /// The text of the last large message without a template, which may still be being sent, and its memory in bytes.
    buffer: Option<(Box<ChunkText>, usize)>,
}

/// What the cache knows about a stream.
#[derive(Debug)]
struct Stream {
    key: StreamKey,
    /// The last messages that had no template, newest last.
    seen: Vec<Seen>,
    /// Whether messages with the same number of slots have had different structures.
    varies: bool,
}

/// What is remembered of a message without a template.
#[derive(Debug)]
enum Seen {
    Small(Box<ValueSample>),
    Large { slots: usize },
}

type StreamGroup = Group<Stream, SavedTemplate>;

impl TemplateCache {
    /// An empty cache.
    pub fn new(policy: TemplateCachePolicy) -> Self {
        Self {
            policy,
            cache: Cache::new(Limits {
                bytes: policy.bytes,
                groups: policy.streams,
                entries: policy.templates,
            }),
            buffer: None,
        }
    }

    /// Chooses a template for the next message of a stream, if there is one. The result must be [checked
    /// in](Self::check_in) afterwards, also after an error.
    #[inline]
    pub fn check_out(&mut self, stream: StreamKey, record: &Record) -> TemplateCheckout {
        if self.cache.next_message() {
            return TemplateCheckout::new(Checkout::none(), NoTemplate::NoMemory, None);
        }
        let backoff = Backoff::send(self.policy.templates);
        let (index, _) = self.cache.group_of(
            |it: &Stream| it.key == stream,
            || (Stream::new(stream), Bypass::new(backoff)),
        );
        let is_large = plain::is_large(record);
        let group = self.cache.group(index);
        if group.is_bypassed() {
            let buffer = is_large.then(|| self.take_buffer());
            return TemplateCheckout::new(Checkout::none(), NoTemplate::Bypassed, buffer);
        }
        let saved = match choose(group, record) {
            Some(entry) => self.cache.check_out(index, entry, is_large),
            None => self.new_template(index, record, is_large),
        };
        if is_large && saved.entry.is_some() {
            // The buffer will not be needed for a while.
            self.free_buffer();
        }
        TemplateCheckout::new(saved, NoTemplate::First, None)
    }

    /// A copy of another endpoint's template, or an empty template, if more messages like this one are likely to follow.
    fn new_template(
        &mut self,
        index: usize,
        record: &Record,
        is_large: bool,
    ) -> Checkout<SavedTemplate> {
        let most = self.policy.templates;
        let other = self.of_another_endpoint(index, record);
        let template = match other {
            Some(template) => template,
            None if most > 0 && self.cache.group(index).has_seen(record, most) => {
                Template::new(self.policy.template, EncodeOptions::default())
            }
            None => return self.cache.check_out_nothing(index, is_large),
        };
        let mut saved = self.cache.check_out_new(index, is_large);
        let account = self.policy.keeps_compressed.then(|| self.cache.extra());
        saved.entry = Some(Entry::new(SavedTemplate::new(template, account)));
        saved
    }

    /// A copy of the template of another endpoint that is most similar to a message.
    fn of_another_endpoint(&mut self, index: usize, record: &Record) -> Option<Template> {
        let own = self.cache.group(index).stream.key;
        let others = self.cache.groups().filter(|group| {
            let other = group.stream.key;
            other.endpoint != own.endpoint
                && (other.root, other.operation) == (own.root, own.operation)
                && !group.entries().is_empty()
        });
        let mut others = others.peekable();
        others.peek()?;
        let sample = ValueSample::of(record);
        let similar = others.filter_map(|group| {
            let saved = &group.entries()[choose(group, record)?].value;
            Some((saved.similarity(record, &sample).1, &saved.template))
        });
        let most = similar.max_by(|(one, _), (other, _)| one.total_cmp(other));
        most.map(|(_, template)| template.clone())
    }

    /// Takes back what was checked out. Returns how many templates were evicted.
    #[inline]
    pub fn check_in(&mut self, checkout: TemplateCheckout) -> u64 {
        if let Some(buffer) = checkout.buffer {
            self.keep_buffer(buffer);
        }
        let mut saved = checkout.saved;
        saved.is_new = matches!(checkout.outcome, Outcome::First);
        saved.entry = saved.entry.filter(|it| !it.value.template.is_empty());
        if let Some(group) = self.cache.group_with(&saved) {
            match checkout.outcome {
                Outcome::Useful => group.bypass.useful(),
                Outcome::Useless => group.bypass.useless(),
                Outcome::OtherStructure(seen) => {
                    group.bypass.dissimilar();
                    group.stream.varies = true;
                    group.stream.add(seen, self.policy.templates);
                }
                Outcome::EndOfWindow => {
                    group.bypass.dissimilar();
                }
                Outcome::First => {}
            }
        }
        self.cache.check_in(saved)
    }

    /// The buffer for the text of a large message.
    fn take_buffer(&mut self) -> Box<ChunkText> {
        let (buffer, memory) = self.buffer.take().unwrap_or_default();
        self.cache.extra().replace(memory, 0);
        buffer
    }

    fn free_buffer(&mut self) {
        drop(self.take_buffer());
    }

    /// Keeps the buffer, unless that would evict templates.
    fn keep_buffer(&mut self, buffer: Box<ChunkText>) {
        self.free_buffer();
        let memory = buffer.memory();
        if self.cache.held() + memory <= self.policy.bytes {
            self.cache.extra().replace(0, memory);
            self.buffer = Some((buffer, memory));
        }
    }

    /// Bytes held by the templates that are not checked out, by the buffer, and by what is known of streams.
    pub fn memory(&self) -> usize {
        let seen = self.policy.templates * (size_of::<Seen>() + size_of::<ValueSample>());
        self.cache.memory() + self.cache.groups().count() * seen
    }

    /// How many templates are not checked out.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes everything, since memory is short, and makes no templates of the next messages.
    pub fn pause(&mut self) {
        self.free_buffer();
        self.cache.pause();
    }
}

impl Default for TemplateCache {
    fn default() -> Self {
        Self::new(TemplateCachePolicy::default())
    }
}

impl Stream {
    fn new(key: StreamKey) -> Self {
        Self {
            key,
            seen: Vec::new(),
            varies: false,
        }
    }

    fn add(&mut self, seen: Seen, most: usize) {
        if self.seen.len() >= most {
            self.seen.remove(0);
        }
        self.seen.push(seen);
    }
}

impl StreamGroup {
    /// Whether a similar message without a template has been seen. If not, remembers this one.
    fn has_seen(&mut self, record: &Record, most: usize) -> bool {
        let new = Seen::of(record);
        if self.stream.seen.iter().any(|seen| seen.is_similar(&new)) {
            return true;
        }
        self.bypass.dissimilar();
        self.stream.add(new, most);
        false
    }
}

impl Seen {
    fn of(record: &Record) -> Self {
        let slots = record.slots().len();
        if slots <= SMALL_MESSAGE.0 && record.heap().len() <= SMALL_MESSAGE.1 {
            Self::Small(Box::new(ValueSample::of(record)))
        } else {
            Self::Large { slots }
        }
    }

    fn is_similar(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Small(own), Self::Small(other)) => own.is_similar(other),
            (Self::Large { slots }, Self::Large { slots: others }) => is_close(*slots, *others),
            _ => false,
        }
    }
}

/// Whether these numbers of slots are so close that one message may be made from the other.
fn is_close(slots: usize, others: usize) -> bool {
    slots.abs_diff(others) <= slots.max(others) / 4
}

/// The index of the template whose message is most similar to this one and has its structure, if structure matters.
fn choose(group: &StreamGroup, record: &Record) -> Option<usize> {
    let is_trusted = group.bypass.last_pause() == 0;
    if let [only] = group.entries()
        && is_trusted
        && !group.stream.varies
    {
        return only.value.has_slots_of(record).then_some(0);
    }
    let fits = |saved: &SavedTemplate| saved.has_slots_of(record) && saved.has_structure_of(record);
    let entries = group.entries().iter().enumerate();
    let mut fitting = entries.rev().filter(|(_, entry)| fits(&entry.value));
    let first = fitting.next()?;
    let second = fitting.next();
    if second.is_none() && is_trusted {
        return Some(first.0);
    }
    let sample = ValueSample::of(record);
    let fitting = std::iter::once(first).chain(second).chain(fitting);
    // Messages that alternate are each equal to one before.
    let is_same = |saved: &SavedTemplate| saved.sample() == Some(&sample);
    if let Some((index, _)) = fitting.clone().find(|(_, entry)| is_same(&entry.value)) {
        return Some(index);
    }
    let mut best: Option<(usize, (bool, f32))> = None;
    for (index, entry) in fitting {
        let similarity = entry.value.similarity(record, &sample);
        // For a small message, trying a template costs much.
        let is_worth_it =
            is_trusted || !entry.value.is_single() || similarity.1 >= WORTH_A_TEMPLATE;
        if is_worth_it && best.is_none_or(|(_, best)| similarity > best) {
            best = Some((index, similarity));
        }
    }
    best.map(|(index, _)| index)
}
