//! A request that is kept, modified value by value, and sent again.

use std::sync::Arc;

use bsoap_codec::plan::{Leaf, LeafId, LeafKind};
use bsoap_codec::{LeafView, Plan, Record, Value, View, build_leaf};
use bsoap_differential::receive::Stamp;
use bsoap_differential::send::{Part, SendCounts, Template};
use bsoap_differential::stats::SendStats;
use bsoap_protocol::Target;

use crate::limits::MIN_VALUES_PER_CHANGE;
use crate::{Changes, Error};

/// A request that is kept, modified value by value, and sent again. The draft records which values were set, so nothing has
/// to be compared before it is sent.
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
    /// The message whose arguments were relayed last. `None` if there is none.
    relayed: Option<Relayed>,
    /// Counts of the work done since the draft was sent last.
    written: SendCounts,
}

/// A message whose arguments were copied into a draft.
#[derive(Clone, Debug)]
struct Relayed {
    stamp: Stamp,
    part: Part,
}

/// How [`Draft::relay`] copied the arguments of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relay {
    /// Only changed values were read: the number of values that changed since the message relayed before.
    Changed(usize),
    /// The message has the structure of the draft: all values were compared.
    Compared,
    /// The message has another structure: the arguments were built again from it, without header blocks.
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

    /// Copies the arguments of another message into the draft, such as one that a service [received](crate::Message) and
    /// forwards. If the message's changes are known and counted from the message relayed before, only the changed values are
    /// read. Then decoding, relaying and sending together cost time in proportion to the number of changes.
    ///
    /// The draft checks which message the changes are counted from. So relaying is correct in any order, from any number of
    /// senders, and with values [set](Self::set) in between.
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
    /// If the arguments are not those of this operation, or cannot be represented in XML. In the second case the draft can
    /// no longer be used.
    pub fn relay(&mut self, message: &Changes) -> Result<Relay, Error> {
        self.record()?;
        let Some(last) = &self.relayed else {
            return self.relay_all(message);
        };
        if message.stamp == Some(last.stamp) {
            return Ok(Relay::Changed(0));
        }
        let is_little = message.count() <= message.record().slots().len() / MIN_VALUES_PER_CHANGE;
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

    /// Copies all arguments of a message, without using its changes.
    fn relay_all(&mut self, message: &Changes) -> Result<Relay, Error> {
        self.relayed = None;
        let before = *self.template.stats();
        let part = arguments(message.record()).zip(arguments(self.record()?));
        if let Some((from, own)) = part
            && have_same_layout(&from, &own)
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
            Error::Setup("the message to relay has no arguments: its Body is empty or nests too deep for values".into())
        })?;
        let mut record = self.target.request(value)?.into_record();
        let updated = self.template.update(&mut record);
        updated.map_err(|error| Error::Type(error.into()))?;
        self.count_since(&before);
        Ok(Relay::Built)
    }

    /// Stores which message was relayed. It keeps the stamp, not the Record, so that the Record can be reused for the next
    /// message.
    fn remember(&mut self, message: &Changes, part: Part) {
        self.relayed = message.stamp.map(|stamp| Relayed { stamp, part });
    }

    fn count_since(&mut self, before: &SendStats) {
        let mut counts = SendCounts::default();
        counts.matches = self.template.stats().since(before);
        self.written.add(&counts);
    }

    /// Sets the value at a path. The path starts at the arguments: names separated by dots, `[n]` for one of several
    /// elements (counted from 0), `@name` at the end for an attribute. The message must already have a value there.
    ///
    /// # Errors
    /// If the message has no value at the path, or `value` does not have its type.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) -> Result<(), Error> {
        let place = self.place(path)?;
        self.set_at(&place, value)
    }

    /// Looks up the location of the value at a path, for [`set_at`](Self::set_at). A path that is used often then needs to
    /// be looked up only once.
    ///
    /// # Errors
    /// If the message has no value at the path.
    pub fn place(&self, path: &str) -> Result<DraftPlace, Error> {
        let record = self.record()?;
        let leaf = find(record, path).ok_or_else(|| {
            Error::Setup(format!(
                "the message has no single value at {path:?}: a value must be in the message before it can be set"
            ))
        })?;
        Ok(DraftPlace {
            plan: Arc::clone(record.plan()),
            slot: leaf.slot(),
            leaf: leaf.leaf_id(),
        })
    }

    /// Sets the value at a location that [`place`](Self::place) returned.
    ///
    /// # Errors
    /// If `value` does not have the type of the location, or the location belongs to another draft.
    pub fn set_at(&mut self, place: &DraftPlace, value: impl Into<Value>) -> Result<(), Error> {
        let DraftPlace { plan, slot, leaf } = place;
        if !Arc::ptr_eq(plan, self.record()?.plan()) {
            return Err(Error::Setup(
                "the value location belongs to a draft of another service".into(),
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

    /// The Record of the message as it will be sent next.
    ///
    /// # Errors
    /// If the draft can no longer be used, because it could not be encoded the last time.
    pub fn record(&self) -> Result<&Record, Error> {
        self.template.record().ok_or_else(|| {
            Error::Setup(
                "the draft is lost because it could not be encoded: create another one".into(),
            )
        })
    }

    /// Writes the changed values into the text of the template, and returns the counts of this message.
    pub(super) fn write(&mut self) -> Result<SendCounts, Error> {
        self.record()?;
        let before = *self.template.stats();
        let mut counts = std::mem::take(&mut self.written);
        // `relay` may have updated the text already: then there is nothing left to write.
        if self.template.is_pending() || counts.messages() == 0 {
            let committed = self.template.commit();
            committed.map_err(|error| Error::Type(error.into()))?;
            counts.matches.add(&self.template.stats().since(&before));
        }
        Ok(counts)
    }
}

/// The element in the Body whose children are the arguments. `None` if the Body is empty.
fn arguments(record: &Record) -> Option<View<'_>> {
    View::of(record).child("Body")?.children().next()
}

/// True if the slots of both elements have the same meaning: their types have the same content, and neither is nil or of a
/// derived type.
fn have_same_layout(one: &View<'_>, other: &View<'_>) -> bool {
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

/// The location of a value in a [`Draft`]. It is valid until the draft [relays](Draft::relay) a message of another
/// structure.
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

/// The value at a path that starts at the first element of the Body, whose children are the arguments. `None` if the message
/// has no value there.
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
