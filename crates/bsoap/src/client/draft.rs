//! A request that is kept, modified value by value, and sent again.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::decode::Validation;
use bsoap_codec::encode::{EncodeOptions, forbidden_character};
use bsoap_codec::plan::{Leaf, LeafId, LeafKind};
use bsoap_codec::{Attachment, LeafView, Plan, Record, Region, Value, View, build, build_leaf};
use bsoap_differential::receive::Stamp;
use bsoap_differential::send::{Part, Savings, SendCounts, Template};
use bsoap_differential::stats::SendStats;
use bsoap_http::Body;
use bsoap_protocol::{Contents, Target};

use super::Client;
use super::exchange::Outgoing;
use crate::limits::MIN_VALUES_PER_CHANGE;
use crate::tuning::HintCounts;
use crate::{Changes, Error};

impl Client {
    /// Creates a request to be sent several times, with changes in between. `arguments` are as for [`call`](Self::call).
    ///
    /// # Errors
    /// If the WSDL has no such operation, or the arguments do not match it or cannot be represented in XML.
    pub fn draft<'c>(
        &self,
        operation: &str,
        contents: impl Into<Contents<'c>>,
    ) -> Result<Draft, Error> {
        let request = self.request(operation, contents)?;
        let target = request.target().clone();
        let checked = request.record().check();
        checked.map_err(|error| target.unwritable(error))?;
        let (policy, options) = (self.inner.policy, EncodeOptions::default());
        let start = Instant::now();
        let mut record = request.into_record();
        let attachments = &self.inner.attachments;
        let attached = attachments.detach(&mut record, attachments.packing(false, false));
        let make = || Template::first(policy, options, record);
        let template = self.inner.meter.converting(make);
        let taken = start.elapsed();
        let template = template.map_err(|error| Error::Type(error.into()))?;
        Ok(Draft::new(target, template, attached, taken))
    }

    /// Sends a draft and returns the result as [`call`](Self::call) does. Only the values set since the last time are
    /// encoded.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). If the draft cannot be encoded, it can no longer be used.
    pub async fn send(&self, draft: &mut Draft) -> Result<Value, Error> {
        self.check_target(&draft.target)?;
        if self.inner.scope.validation() == Validation::Full {
            // What was set has been checked, but not for all facets.
            let checked = draft.record()?.check_with(Validation::Full);
            checked.map_err(|error| draft.target.unwritable(error))?;
        }
        let meter = &self.inner.meter;
        let counts = meter.converting(|| draft.write())?;
        meter.writes(&counts, &HintCounts::default());
        let body = Body::from_chunks(draft.template.outgoing().chunks);
        let (headers, awaiting) = draft.target.start();
        let outgoing = Outgoing {
            headers,
            body,
            attachments: draft.attachments.clone(),
        };
        let exchanged = self.deliver(outgoing, awaiting, None).await?;
        exchanged.reply.into_value().map_err(Error::Fault)
    }
}

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
    /// What is sent beside the message.
    pub(super) attachments: Vec<Attachment>,
    /// The message whose arguments were relayed last. `None` if there is none.
    relayed: Option<Relayed>,
    /// Counts of the work done since the draft was sent last.
    written: SendCounts,
    /// The time that relaying has taken since the draft was sent last.
    relaying: Duration,
    savings: Savings,
}

/// A message whose arguments were copied into a draft.
#[derive(Clone, Debug)]
struct Relayed {
    stamp: Stamp,
    part: Part,
}

/// How [`Draft::relay`] copied the arguments of a message.
///
/// ```
/// use bsoap::Relay;
///
/// fn report(relay: Relay) -> String {
///     match relay {
///         Relay::Changed(values) => format!("{values} changed values were copied"),
///         _ => "all values were read".to_owned(),
///     }
/// }
/// assert_eq!(report(Relay::Changed(2)), "2 changed values were copied");
/// ```
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
    /// `taken`: the time in which the template was made.
    pub(super) fn new(
        target: Target,
        template: Template,
        attachments: Vec<Attachment>,
        taken: Duration,
    ) -> Self {
        Self {
            savings: Savings::new(&template, taken),
            relaying: Duration::ZERO,
            target,
            template,
            attachments,
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
    /// If the arguments are not those of this operation, or cannot be represented in XML.
    pub fn relay(&mut self, message: &Changes) -> Result<Relay, Error> {
        let start = Instant::now();
        let relayed = self.copy_arguments(message);
        self.relaying += start.elapsed();
        relayed
    }

    fn copy_arguments(&mut self, message: &Changes) -> Result<Relay, Error> {
        self.record()?;
        let Some(last) = &self.relayed else {
            return self.relay_all(message);
        };
        if message.stamp == Some(last.stamp) {
            return Ok(Relay::Changed(0));
        }
        if !message.record().warnings().is_empty() {
            return self.relay_all(message);
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
        // Texts that were accepted with a warning are not copied unchecked.
        if let Some((from, own)) = part
            && message.record().warnings().is_empty()
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
        let record = self.target.request(value)?.into_record();
        let replaced = self.replace(record);
        replaced.map_err(|error| Error::Type(error.into()))?;
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

    /// Sets the value at a [path](DraftPath), such as `field.item[17]`, or at a [`Region`] of a message's
    /// [changes](Changes::regions). If the message has no value there yet, such as an absent optional element, the message is
    /// built again with it. The same happens for elements with children, lists and nil.
    ///
    /// # Errors
    /// If the operation has no value at the path, or `value` does not have its type or cannot be written in XML. The draft
    /// stays as it was.
    pub fn set<'p>(
        &mut self,
        path: impl Into<DraftPath<'p>>,
        value: impl Into<Value>,
    ) -> Result<(), Error> {
        let (path, value) = (path.into(), value.into());
        match self.find(&path)? {
            Some(place) if !value.is_nil() => self.set_at(&place, value),
            _ => self.build_with(&path, value),
        }
    }

    /// Looks up the location of the value at a path, for [`set_at`](Self::set_at). A path that is used often then needs to
    /// be looked up only once.
    ///
    /// # Errors
    /// If the message has no value at the path.
    pub fn place<'p>(&self, path: impl Into<DraftPath<'p>>) -> Result<DraftPlace, Error> {
        let path = path.into();
        self.find(&path)?.ok_or_else(|| {
            Error::Setup(format!(
                "the message has no single value at {path}: set it by its path first"
            ))
        })
    }

    fn find(&self, path: &DraftPath<'_>) -> Result<Option<DraftPlace>, Error> {
        let record = self.record()?;
        let leaf = path.0.as_deref().and_then(|path| find(record, path));
        Ok(leaf.map(|leaf| DraftPlace {
            plan: Arc::clone(record.plan()),
            slot: leaf.slot(),
            leaf: leaf.leaf_id(),
            path: path.to_string(),
        }))
    }

    /// Builds the message again, with another value at a path.
    fn build_with(&mut self, path: &DraftPath<'_>, value: Value) -> Result<(), Error> {
        let wrong =
            |error: Box<dyn StdError + Send + Sync>| AtPath::error(&path.to_string(), error);
        let record = self.record()?;
        let mut envelope = View::of(record)
            .to_value()
            .map_err(|error| wrong(error.into()))?;
        let target = path
            .0
            .as_deref()
            .and_then(|path| member(&mut envelope, path))
            .ok_or_else(|| {
                Error::Setup(format!(
                    "the message has no place {path}: of an array, only the item behind the last one can be added"
                ))
            })?;
        *target = value;
        let built = build(record.plan(), record.root(), &envelope);
        let built = built.map_err(|error| wrong(error.into()))?;
        self.relayed = None;
        self.replace(built).map_err(|error| wrong(error.into()))
    }

    /// Makes the draft the message of `record`. After an error it is what it was.
    fn replace(&mut self, mut record: Record) -> Result<(), bsoap_codec::encode::Error> {
        let before = *self.template.stats();
        let mut template = self.template.clone();
        template.update(&mut record)?;
        self.template = template;
        self.count_since(&before);
        Ok(())
    }

    /// Sets the value at a location that [`place`](Self::place) returned.
    ///
    /// # Errors
    /// If `value` does not have the type of the location or cannot be written in XML, or the location belongs to another
    /// draft. The draft stays as it was.
    pub fn set_at(&mut self, place: &DraftPlace, value: impl Into<Value>) -> Result<(), Error> {
        let DraftPlace {
            plan,
            slot,
            leaf,
            path,
        } = place;
        if !Arc::ptr_eq(plan, self.record()?.plan()) {
            return Err(Error::Setup(
                "the value location belongs to a draft of another service".into(),
            ));
        }
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
                let made = made.map_err(|error| AtPath::error(path, error.into()))?;
                let bits = made.slots().first().copied().unwrap_or(0);
                match kind {
                    LeafKind::Boolean => template.set(slot, bits != 0),
                    LeafKind::Signed { .. } => template.set(slot, bits as i64),
                    LeafKind::Unsigned { .. } => template.set(slot, bits),
                    LeafKind::Float => template.set(slot, f32::from_bits(bits as u32)),
                    LeafKind::Double => template.set(slot, f64::from_bits(bits)),
                    _ => {
                        let text = made.text(bits);
                        if let Some(found) = forbidden_character(text) {
                            let error = format!("XML cannot carry U+{:04X}", u32::from(found));
                            return Err(AtPath::error(path, error.into()));
                        }
                        template.set_text(slot, text)
                    }
                }
            }
        };
        set.map_err(|error| AtPath::error(path, error.into()))?;
        self.relayed
            .take_if(|relayed| relayed.part.own.contains(&slot));
        Ok(())
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
        let start = Instant::now();
        let before = *self.template.stats();
        let mut counts = std::mem::take(&mut self.written);
        // `relay` may have updated the text already: then there is nothing left to write.
        if self.template.is_pending() || counts.messages() == 0 {
            let committed = self.template.commit();
            committed.map_err(|error| Error::Type(error.into()))?;
            counts.matches.add(&self.template.stats().since(&before));
        }
        let taken = start.elapsed() + std::mem::take(&mut self.relaying);
        counts.saved = self.savings.add(&self.template, taken);
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
    /// For errors.
    path: String,
}

/// A path to a value of a [`Draft`]. It starts at the arguments: names separated by dots, `[n]` for one of several elements
/// (counted from 0), `@name` at the end for an attribute. It is made from a text, or from a [`Region`] of changes.
///
/// ```no_run
/// # fn example(changes: &bsoap::Changes, draft: &mut bsoap::Draft) -> Result<(), bsoap::Error> {
/// draft.set("field.item[17]", 3.5)?;
/// for region in changes.regions() {
///     draft.set(&region, 0.0)?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DraftPath<'p>(
    /// `None` for a region that is no single value of the arguments.
    Option<Cow<'p, str>>,
);

impl<'p> From<&'p str> for DraftPath<'p> {
    fn from(path: &'p str) -> Self {
        Self(Some(path.into()))
    }
}

impl<'p> From<&'p String> for DraftPath<'p> {
    fn from(path: &'p String) -> Self {
        Self(Some(path.into()))
    }
}

impl From<String> for DraftPath<'_> {
    fn from(path: String) -> Self {
        Self(Some(path.into()))
    }
}

impl From<&Region> for DraftPath<'_> {
    fn from(region: &Region) -> Self {
        Self(region.argument_path().map(Cow::Owned))
    }
}

impl fmt::Display for DraftPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(path) => write!(f, "{path:?}"),
            None => f.write_str("a region that is no single value of the arguments"),
        }
    }
}

/// An error with the path of the value that it is about.
#[derive(Debug)]
struct AtPath {
    path: String,
    source: Box<dyn StdError + Send + Sync>,
}

impl AtPath {
    fn error(path: &str, source: Box<dyn StdError + Send + Sync>) -> Error {
        let path = path.to_owned();
        Error::Type(Box::new(Self { path, source }))
    }
}

impl fmt::Display for AtPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the value set at {}", self.path)
    }
}

impl StdError for AtPath {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

/// The place of a path in the value of an Envelope, added if it is not there. `None` if it cannot be added.
fn member<'v>(envelope: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let body = object(envelope)?.get_mut("Body")?;
    let body = object(body)?;
    let key = body.keys().find(|key| !key.starts_with('@'))?.to_owned();
    let mut at = body.get_mut(&key)?;
    let mut steps = path.split('.').peekable();
    while let Some(step) = steps.next() {
        let (name, index) = step_of(step)?;
        let members = object(at)?;
        if members.get(name).is_none() {
            members.insert(name, Value::Nil);
        }
        at = members.get_mut(name)?;
        // The path of an array is that of its first item, unless the whole array is set.
        let first = || (at.is_array() && steps.peek().is_some()).then_some(0);
        if let Some(index) = index.or_else(first) {
            at = item(at, index)?;
        }
    }
    Some(at)
}

/// The members of an object. Nil becomes an object without members, a simple value that of an element with attributes.
fn object(value: &mut Value) -> Option<&mut bsoap_codec::Object> {
    if value.is_nil() {
        *value = Value::Object(bsoap_codec::Object::new());
    }
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// An item of an array, of which the one behind the last is added.
fn item(array: &mut Value, index: usize) -> Option<&mut Value> {
    let items: Vec<Value> = match std::mem::take(array) {
        Value::Nil => Vec::new(),
        Value::Array(items) => items,
        one @ Value::Object(_) => vec![one],
        numbers => numbers.items().map(Cow::into_owned).collect(),
    };
    *array = Value::Array(items);
    let Value::Array(items) = array else {
        return None;
    };
    if index == items.len() {
        items.push(Value::Nil);
    }
    items.get_mut(index)
}

/// The name and the index of a step.
fn step_of(step: &str) -> Option<(&str, Option<usize>)> {
    match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
        Some((name, index)) => Some((name, Some(index.parse().ok()?))),
        None => Some((step, None)),
    }
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
        let (name, index) = step_of(step)?;
        let index = index.unwrap_or(0);
        view = match view.rows(name) {
            Some(rows) => rows.row(index)?,
            None => view.all(name).nth(index)?,
        };
    }
    view.leaf()
        .filter(|leaf| !matches!(leaf.kind(), LeafKind::List(_)))
}
