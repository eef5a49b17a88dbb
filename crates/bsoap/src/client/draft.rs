//! A message that is kept, changed in places that are known, and sent again.

use std::sync::Arc;

use bsoap_codec::plan::{Leaf, LeafId, LeafKind};
use bsoap_codec::{LeafView, Plan, Record, Value, View, build_leaf};
use bsoap_differential::receive::Stamp;
use bsoap_differential::send::{Part, SendCounts, Template};
use bsoap_differential::stats::SendStats;
use bsoap_protocol::Target;

use crate::{Changes, Error};

/// A request that is kept, changed in places that are known, and sent again: nothing has to be compared to find out what has
/// changed.
///
/// ```no_run
/// # async fn example(client: bsoap::Client, field: bsoap::Value) -> Result<(), bsoap::Error> {
/// let mut draft = client.draft("jacobiStep", &field)?;
/// client.send(&mut draft).await?;
/// draft.set("field.item[17]", 3.5)?;
/// client.send(&mut draft).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Draft {
    pub(super) target: Target,
    pub(super) template: Template,
    /// What its arguments are those of.
    relayed: Option<Relayed>,
    /// What was written already of the next message.
    written: SendCounts,
}

/// A message whose arguments were taken over.
#[derive(Clone, Debug)]
struct Relayed {
    stamp: Stamp,
    part: Part,
}

/// If more than one value in so many has changed, comparing all is faster.
const LITTLE: usize = 32;

/// How the arguments of a message were taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relay {
    /// It is known what changed since the message that was taken over before: so many values. Nothing else was looked at.
    Changed(usize),
    /// Its values lie as those of the draft do: they were compared with them.
    Compared,
    /// They do not: the arguments were built anew, without header blocks.
    Built,
}

impl Draft {
    pub(super) fn new(target: Target, template: Template) -> Self {
        Self {
            target,
            template,
            relayed: None,
            written: SendCounts::default(),
        }
    }

    /// Takes the arguments of another message over, such as one that a service [received](crate::Message::changes) and
    /// passes on. If what changed since the message before is known, and that is the one taken over before, only the
    /// changes are looked at: reading, relaying and sending all cost what changed, and no more.
    ///
    /// Whether the changes are counted from that message is checked: relaying is right in any order, from any number of
    /// senders, with values [set](Self::set) in between.
    ///
    /// ```no_run
    /// use bsoap::{Client, Draft, Fault, Message, Value};
    /// use tokio::sync::Mutex;
    ///
    /// async fn forward(message: Message, next: &Client, draft: &Mutex<Draft>) -> Result<Value, Fault> {
    ///     let mut draft = draft.lock().await;
    ///     let broken = |error: bsoap::Error| Fault::receiver(error.to_string());
    ///     draft.relay(message.changes()).map_err(broken)?;
    ///     next.send(&mut draft).await.map_err(broken)
    /// }
    /// ```
    ///
    /// # Errors
    /// If the arguments are none of this operation's, or hold what XML cannot carry. After the latter the draft is lost.
    pub fn relay(&mut self, message: &Changes) -> Result<Relay, Error> {
        self.record()?;
        let Some(last) = &self.relayed else {
            return self.relay_all(message);
        };
        if message.stamp == Some(last.stamp) {
            return Ok(Relay::Changed(0));
        }
        let is_little = message.count() <= message.record().slots().len() / LITTLE;
        if message.since != Some(last.stamp) || !message.keeps_places() || !is_little {
            return self.relay_all(message);
        }
        let part = last.part.clone();
        self.relayed = None;
        let changed = message.spans().map(|span| span.now);
        let taken = self.template.take_changed(&part, message.record(), changed);
        let Some(values) = taken else {
            return self.relay_all(message);
        };
        self.remember(message, part);
        Ok(Relay::Changed(values))
    }

    /// Takes arguments over that may be any.
    fn relay_all(&mut self, message: &Changes) -> Result<Relay, Error> {
        self.relayed = None;
        let before = *self.template.stats();
        let part = arguments(message.record()).zip(arguments(self.record()?));
        if let Some((from, own)) = part
            && lie_alike(&from, &own)
        {
            let mut part = Part {
                own: own.slots(),
                from: from.slots(),
            };
            let taken = self.template.take_part(&part, message.record());
            if taken.map_err(|error| Error::Type(error.into()))?.is_some() {
                self.count_since(&before);
                part.own.end = part.own.start + part.from.len();
                self.remember(message, part);
                return Ok(Relay::Compared);
            }
        }
        let value = arguments(message.record()).map(|view| view.to_value());
        let value = value.and_then(Result::ok).ok_or_else(|| {
            Error::Setup("the message to be relayed has no arguments that are values".into())
        })?;
        let mut record = self.target.request(value)?.into_record();
        let updated = self.template.update(&mut record);
        updated.map_err(|error| Error::Type(error.into()))?;
        self.count_since(&before);
        Ok(Relay::Built)
    }

    /// The message is held no longer than this takes: its Record may be used again for the next.
    fn remember(&mut self, message: &Changes, part: Part) {
        self.relayed = message.stamp.map(|stamp| Relayed { stamp, part });
    }

    fn count_since(&mut self, before: &SendStats) {
        let mut counts = SendCounts::default();
        counts.matches = self.template.stats().since(before);
        self.written.add(&counts);
    }

    /// Sets a value: an element by its path from the arguments on, `[n]` for one of several (the first has the number 0),
    /// `@name` at the end for an attribute. It must be in the message.
    ///
    /// # Errors
    /// If it is not, or the value is none of its type.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) -> Result<(), Error> {
        let place = self.place(path)?;
        self.set_at(&place, value)
    }

    /// Where the value at a path stands, for [`set_at`](Self::set_at): a path that is needed again and again is looked up once.
    ///
    /// # Errors
    /// If it is not in the message.
    pub fn place(&self, path: &str) -> Result<DraftPlace, Error> {
        let record = self.record()?;
        let leaf = find(record, path).ok_or_else(|| {
            Error::Setup(format!(
                "the message has no single value {path} that could be set"
            ))
        })?;
        Ok(DraftPlace {
            plan: Arc::clone(record.plan()),
            slot: leaf.slot(),
            leaf: leaf.leaf_id(),
        })
    }

    /// Sets the value at a place.
    ///
    /// # Errors
    /// If the value is none of its type, or the place is one of another draft and this has no such value there.
    pub fn set_at(&mut self, place: &DraftPlace, value: impl Into<Value>) -> Result<(), Error> {
        let DraftPlace { plan, slot, leaf } = place;
        if !Arc::ptr_eq(plan, self.record()?.plan()) {
            return Err(Error::Setup(
                "a place of another service's message cannot be set in this".into(),
            ));
        }
        self.relayed
            .take_if(|relayed| relayed.part.own.contains(slot));
        let (slot, template, value) = (*slot, &mut self.template, value.into());
        let Leaf {
            kind, has_facets, ..
        } = *plan.leaf(*leaf);
        let set = match (kind, &value) {
            (LeafKind::Double, &Value::Double(value)) if !has_facets => template.set(slot, value),
            (LeafKind::Signed { min, max }, &Value::Int(value))
                if !has_facets && (min..=max).contains(&value) =>
            {
                template.set(slot, value)
            }
            (LeafKind::Boolean, &Value::Bool(value)) if !has_facets => template.set(slot, value),
            (kind, value) => {
                let made = build_leaf(plan, *leaf, value);
                let made = made.map_err(|error| Error::Type(error.into()))?;
                let bits = made.slots().first().copied().unwrap_or(0);
                match kind {
                    LeafKind::Boolean => template.set(slot, bits != 0),
                    LeafKind::Signed { .. } => template.set(slot, bits as i64),
                    LeafKind::Unsigned { .. } => template.set(slot, bits),
                    LeafKind::Float => template.set(slot, f32::from_bits(bits as u32)),
                    LeafKind::Double => template.set(slot, f64::from_bits(bits)),
                    _ => template.set_text(slot, made.text(bits)),
                }
            }
        };
        set.map_err(|error| Error::Type(error.into()))
    }

    /// The values of the message as it is to be sent next.
    ///
    /// # Errors
    /// If it could not be written the last time: then there is none any more.
    pub fn record(&self) -> Result<&Record, Error> {
        self.template.record().ok_or_else(|| {
            Error::Setup("the draft could not be written and is lost: make another one".into())
        })
    }

    /// Makes the text what the values are.
    pub(super) fn write(&mut self) -> Result<SendCounts, Error> {
        self.record()?;
        let before = *self.template.stats();
        let mut counts = std::mem::take(&mut self.written);
        // Of one that is written already there may be nothing left to do.
        if self.template.is_pending() || counts.messages() == 0 {
            let committed = self.template.commit();
            committed.map_err(|error| Error::Type(error.into()))?;
            counts.matches.add(&self.template.stats().since(&before));
        }
        Ok(counts)
    }
}

/// The element of the Body, whose children arguments are.
fn arguments(record: &Record) -> Option<View<'_>> {
    View::of(record).child("Body")?.children().next()
}

/// Whether the slots of two elements mean the same.
fn lie_alike(one: &View<'_>, other: &View<'_>) -> bool {
    let (plan, others) = (one.record().plan(), other.record().plan());
    let (element, others_element) = (one.element_id(), other.element_id());
    let is_plain = |view: &View<'_>, plan: &Plan| {
        !view.is_nil() && plan.element(view.element_id()).ty == view.type_id()
    };
    let is_same = Arc::ptr_eq(plan, others)
        && plan.element(element).ty == others.element(others_element).ty
        || plan.content_fingerprint(element) == others.content_fingerprint(others_element);
    is_plain(one, plan) && is_plain(other, others) && is_same
}

/// Where a value stands in a [`Draft`], until that [relays](Draft::relay) a message of another structure.
///
/// ```no_run
/// # async fn example(client: bsoap::Client, field: bsoap::Value) -> Result<(), bsoap::Error> {
/// let mut draft = client.draft("jacobiStep", &field)?;
/// let place = draft.place("field.item[17]")?;
/// for step in 0..1000 {
///     draft.set_at(&place, f64::from(step) / 8.0)?;
///     client.send(&mut draft).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DraftPlace {
    plan: Arc<Plan>,
    slot: usize,
    leaf: LeafId,
}

/// The value at a path from the arguments on: from the first element of the Body, whose children they are.
fn find<'r>(record: &'r Record, path: &str) -> Option<LeafView<'r>> {
    let mut view = View::of(record).child("Body")?.children().next()?;
    let mut steps = path.split('.').peekable();
    while let Some(step) = steps.next() {
        if let Some(name) = step.strip_prefix('@') {
            return view.attribute(name).filter(|_| steps.peek().is_none());
        }
        let (name, index) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
            Some((name, index)) => (name, index.parse::<usize>().ok()?),
            None => (step, 0),
        };
        view = match view.rows(name) {
            Some(rows) => rows.row(index)?,
            None => view.all(name).nth(index)?,
        };
    }
    view.leaf()
        .filter(|leaf| !matches!(leaf.kind(), LeafKind::List(_)))
}
