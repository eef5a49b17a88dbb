//! Converts between the arguments and results of an operation as programs see them and the Values of Envelopes.
//!
//! | style | arguments | under `Body` |
//! |---|---|---|
//! | wrapped | the children of the wrapper | `{"wrapper": {…}}` |
//! | rpc | the parts by name, which are the children of the wrapper | `{"wrapper": {…}}` |
//! | bare | the parts by name | `{"element of the part": …}` |
//!
//! Header blocks are in the member `@headers`: declared ones by the name of their part, others as XML under `#any`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bsoap_codec::plan::{Content, ElementId, Plan, Term, TypeId};
use bsoap_codec::{Assembly, BuildError, Object, Pack, Record, Value, View, replace_optional};
use bsoap_schema::{Body, Message, Part, SoapVersion};

use crate::envelope::{Children, Opened};

mod fault_headers;

pub(crate) use fault_headers::{add_xml_blocks, header_faults};

/// The name of the member of arguments and results that contains the header blocks.
pub const HEADERS: &str = "@headers";

/// The contents of a message: header blocks, and a body as a [`Value`] (borrowed or owned) or a packed Rust value.
///
/// ```
/// use bsoap_codec::{Object, Value};
/// use bsoap_protocol::Contents;
///
/// let value = Value::object([("a", Value::from(1))]);
/// let borrowed: Contents = (&value).into();
/// let with_headers = Contents::from(&value).with_headers(Object::new());
/// ```
#[derive(Clone)]
pub struct Contents<'c> {
    headers: Option<Object>,
    body: BodyContents<'c>,
}

#[derive(Clone)]
enum BodyContents<'c> {
    Value(Value),
    Borrowed(&'c Value),
    Packed(&'c dyn Pack),
}

impl<'c> Contents<'c> {
    /// Contents from a Rust value, which packs the contents of the wrapper element, or those of the only part.
    pub fn packed(pack: &'c dyn Pack) -> Self {
        Self {
            headers: None,
            body: BodyContents::Packed(pack),
        }
    }

    /// Adds header blocks to the contents: declared ones by the name of their part, others as XML under `#any`.
    #[must_use]
    pub fn with_headers(mut self, headers: Object) -> Self {
        self.headers = (!headers.is_empty()).then_some(headers);
        self
    }

    /// Adds header blocks to those that the contents have, also to those in the member `@headers` of a value. Declared blocks of
    /// the contents are kept if both have one.
    #[must_use]
    pub fn with_more_headers(mut self, more: &Object) -> Self {
        if more.is_empty() {
            return self;
        }
        self.headers = Some(with_blocks(more.clone(), self.take_headers()));
        self
    }

    /// Takes the header blocks out of the contents.
    fn take_headers(&mut self) -> Object {
        if let Some(headers) = self.headers.take() {
            return headers;
        }
        if let BodyContents::Borrowed(value) = self.body
            && value.get(HEADERS).is_some()
        {
            self.body = BodyContents::Value(value.clone());
        }
        let inside = match &mut self.body {
            BodyContents::Value(Value::Object(members)) => members.remove(HEADERS),
            _ => None,
        };
        match inside {
            Some(Value::Object(headers)) => headers,
            _ => Object::new(),
        }
    }
}

/// Adds header blocks to others. Declared blocks replace those of the same name.
pub(crate) fn with_blocks(mut headers: Object, more: Object) -> Object {
    for (key, block) in more {
        match (headers.get_mut(&key), block) {
            (Some(Value::Array(blocks)), Value::Array(more)) if &*key == "#any" => {
                blocks.extend(more);
            }
            (_, block) => {
                headers.insert(key, block);
            }
        }
    }
    headers
}

impl From<Value> for Contents<'_> {
    fn from(value: Value) -> Self {
        Self {
            headers: None,
            body: BodyContents::Value(value),
        }
    }
}

impl<'c> From<&'c Value> for Contents<'c> {
    fn from(value: &'c Value) -> Self {
        Self {
            headers: None,
            body: BodyContents::Borrowed(value),
        }
    }
}

impl fmt::Debug for Contents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents")
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// An Envelope to build.
pub(crate) struct Wrapped<'c> {
    header: Option<Value>,
    body: WrappedBody<'c>,
}

/// The Body of an Envelope to build.
enum WrappedBody<'c> {
    /// By the value of the whole Body, and its branch unless it is empty.
    Whole(Option<u32>, Value),
    /// One element in a branch of its own, by its value.
    Value(Branch, Cow<'c, Value>),
    /// One element in a branch of its own, by a Rust value.
    Packed(Branch, &'c dyn Pack),
    /// One element in a branch with others, by a Rust value.
    PackedPart(Option<u32>, ElementId, &'c dyn Pack),
}

/// Adds a Body in the message's own branch: the elements of another branch may have the same names.
fn whole_body(
    envelope: &mut Assembly<'_>,
    body: ElementId,
    branch: Option<u32>,
    value: &Value,
) -> Result<(), BuildError> {
    match branch {
        Some(branch) => envelope.element_in_branch(body, branch, value),
        None => envelope.element(body, value),
    }
}

/// A Rust value as a dynamic one.
fn unpacked(plan: &Arc<Plan>, element: ElementId, value: &dyn Pack) -> Result<Value, BuildError> {
    let mut assembly = Assembly::new(plan, element);
    assembly.packed(element, value)?;
    let record = assembly.finish();
    Ok(View::of(&record).to_value().unwrap_or_default())
}

/// A branch of the Body that begins with one required element, and may end behind it.
#[derive(Clone, Copy)]
struct Branch {
    number: u32,
    element: ElementId,
    /// The number of slots of what is absent behind the element.
    rest: u32,
}

/// True if the arguments are the content of one wrapper element.
pub(crate) fn is_wrapped(message: &Message) -> bool {
    matches!(message.body, Body::Wrapped { .. } | Body::Rpc { .. })
}

/// True if `value` is nil or contains header blocks: then it is not exactly the wrapper's content and has to be converted.
fn needs_conversion(value: &Value) -> bool {
    value.is_nil() || value.get(HEADERS).is_some()
}

/// The Header and the Body of an Envelope, as the Plan describes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sections<'p> {
    plan: &'p Plan,
    header: Option<ElementId>,
    body: Option<ElementId>,
}

impl<'p> Sections<'p> {
    /// Builds the Record of an Envelope. Envelope, Header and Body allow any attributes; here they have none, which is an
    /// empty string each.
    pub(crate) fn build(
        &self,
        plan: &Arc<Plan>,
        root: ElementId,
        wrapped: &Wrapped<'_>,
    ) -> Result<Record, BuildError> {
        let mut envelope = Assembly::new(plan, root);
        self.fill(plan, &mut envelope, wrapped)
            .map_err(|error| error.inside(local(plan, root)))?;
        Ok(envelope.finish())
    }

    fn fill(
        &self,
        plan: &Arc<Plan>,
        envelope: &mut Assembly<'_>,
        wrapped: &Wrapped<'_>,
    ) -> Result<(), BuildError> {
        envelope.parent(|packer| packer.text(""))?;
        match (&wrapped.header, self.header) {
            (Some(value), Some(header)) => {
                envelope.is_present(true);
                envelope.element(header, value)?;
            }
            _ => envelope.is_present(false),
        }
        let Some(body) = self.body else {
            return Ok(());
        };
        let mut branch = |branch: Branch| {
            envelope.parent(|packer| {
                packer.text("");
                packer.branch(branch.number);
            })
        };
        let filled = match &wrapped.body {
            WrappedBody::Whole(branch, value) => {
                return whole_body(envelope, body, *branch, value);
            }
            WrappedBody::PackedPart(branch, element, pack) => {
                let value = unpacked(plan, *element, *pack)?;
                let value = Value::object([(self.body_key(*element), value)]);
                return whole_body(envelope, body, *branch, &value);
            }
            WrappedBody::Value(at, value) => branch(*at)
                .and_then(|()| envelope.element(at.element, value))
                .map(|()| envelope.absent(at.rest)),
            WrappedBody::Packed(at, pack) => branch(*at)
                .and_then(|()| envelope.packed(at.element, *pack))
                .map(|()| envelope.absent(at.rest)),
        };
        filled.map_err(|error| error.inside(local(self.plan, body)))
    }

    /// The branch of a message's Body, if it is one required element, and what may be absent behind it.
    fn branch(&self, message: &Message) -> Option<Branch> {
        let (number, element) = (message.branch?, message.body.first_element()?);
        let content = &self.plan.ty(self.plan.element(self.body?).ty).content;
        let &Content::Particle(choice) = content else {
            return None;
        };
        let branches = self.plan.children_of(choice);
        let particle = self.plan.particle(*branches.get(number as usize)?);
        let mut rest = 0;
        let first = match &particle.term {
            Term::Sequence(children) if particle.is_required_once() => {
                let (first, others) = self.plan.group(children).split_first()?;
                for &other in others {
                    let other = self.plan.particle(other);
                    other.is_emptiable.then_some(())?;
                    rest += other.absent;
                }
                self.plan.particle(*first)
            }
            _ => particle,
        };
        let is_it = first.term == Term::Element(element) && first.is_required_once();
        is_it.then_some(Branch {
            number,
            element,
            rest,
        })
    }

    /// Finds the Header and the Body of the Envelope `root`.
    pub(crate) fn of(plan: &'p Plan, root: ElementId) -> Self {
        let children = Children::of(plan, root);
        Self {
            plan,
            header: children.map(|children| children.header),
            body: children.map(|children| children.body),
        }
    }

    fn key(&self, parent: ElementId, element: ElementId) -> &'p str {
        self.plan.key(self.plan.element(parent).ty, element)
    }

    /// The key in a Value for an element of the Header.
    fn header_key(&self, element: ElementId) -> &'p str {
        self.header.map_or("", |header| self.key(header, element))
    }

    /// The key in a Value for an element of the Body.
    pub(crate) fn body_key(&self, element: ElementId) -> &'p str {
        self.body.map_or("", |body| self.key(body, element))
    }

    /// The key in a Value for the SOAP Fault. It includes the namespace if another element has the same local name.
    pub(crate) fn fault_key(&self, version: SoapVersion) -> String {
        let namespace = version.envelope_namespace();
        let names = self
            .body
            .into_iter()
            .flat_map(|body| elements(self.plan, self.plan.element(body).ty));
        let fault = names.into_iter().find(|&element| {
            let name = self.plan.element(element).name;
            let vocabulary = self.plan.vocabulary();
            (vocabulary.namespace(name), vocabulary.local(name)) == (namespace, "Fault")
        });
        fault
            .map_or("Fault", |fault| self.body_key(fault))
            .to_owned()
    }

    /// Builds the Value of an Envelope with these contents. Contents that can be encoded directly are kept separate.
    pub(crate) fn wrap<'c>(&self, message: &Message, contents: Contents<'c>) -> Wrapped<'c> {
        let Contents { headers, mut body } = contents;
        let inside = match &mut body {
            BodyContents::Value(Value::Object(members)) if headers.is_none() => {
                members.remove(HEADERS)
            }
            _ => None,
        };
        let headers = headers.map(Value::Object).or(inside);
        let branch = self.branch(message).filter(|_| is_wrapped(message));
        let body = match (body, branch) {
            (BodyContents::Packed(pack), _) => {
                match (self.branch(message), message.body.first_element()) {
                    (Some(branch), _) => WrappedBody::Packed(branch, pack),
                    (None, Some(element)) => WrappedBody::PackedPart(message.branch, element, pack),
                    (None, None) => WrappedBody::Whole(None, Object::new().into()),
                }
            }
            (BodyContents::Borrowed(value), Some(branch)) if !needs_conversion(value) => {
                WrappedBody::Value(branch, Cow::Borrowed(value))
            }
            (BodyContents::Value(value), Some(branch)) if !value.is_nil() => {
                WrappedBody::Value(branch, Cow::Owned(value))
            }
            (BodyContents::Borrowed(value), _) => {
                let owned = Contents {
                    headers: None,
                    body: BodyContents::Value(value.clone()),
                };
                let wrapped = self.wrap(message, owned);
                let header = headers.map(|headers| self.wrap_headers(message, headers));
                return Wrapped {
                    header: header.or(wrapped.header),
                    ..wrapped
                };
            }
            (BodyContents::Value(value), _) => {
                WrappedBody::Whole(message.branch, self.wrap_body(message, value))
            }
        };
        Wrapped {
            header: headers.map(|headers| self.wrap_headers(message, headers)),
            body,
        }
    }

    /// Replaces the header blocks of the Record of an Envelope.
    pub(crate) fn replace_header(
        &self,
        record: Record,
        message: &Message,
        headers: Object,
    ) -> Result<Record, BuildError> {
        let Some(header) = self.header else {
            return Ok(record);
        };
        // The attributes of the Envelope are before the marker of the Header.
        let marker = View::of(&record).first_slot() + 1;
        let opened = Opened::of(&record).and_then(|opened| opened.header);
        let end = opened.map_or(marker + 1, |header| header.slots().end);
        let value = self.wrap_headers(message, headers.into());
        replace_optional(record, marker..end, header, &value)
            .map_err(|error| error.inside("Envelope"))
    }

    fn wrap_headers(&self, message: &Message, headers: Value) -> Value {
        let Value::Object(headers) = headers else {
            return headers;
        };
        let renamed = headers.into_iter().map(|(key, block)| {
            let part = message.headers.iter().find(|part| part.name == key);
            (
                part.map_or(key, |part| self.header_key(part.element).into()),
                block,
            )
        });
        Value::object(renamed)
    }

    fn wrap_body(&self, message: &Message, arguments: Value) -> Value {
        match &message.body {
            Body::Empty => Value::Object(Object::new()),
            Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. } => {
                // A call without arguments sends an empty wrapper element, not one with `xsi:nil`.
                let arguments = if arguments.is_nil() {
                    Object::new().into()
                } else {
                    arguments
                };
                Value::object([(self.body_key(*wrapper), arguments)])
            }
            Body::Bare { parts } => self.wrap_parts(parts, arguments),
        }
    }

    fn wrap_parts(&self, parts: &[Part], arguments: Value) -> Value {
        let part_of = |key: &str| {
            parts
                .iter()
                .find(|part| part.name == key || self.body_key(part.element) == key)
        };
        let is_named = arguments
            .as_object()
            .is_some_and(|members| members.keys().any(|key| part_of(key).is_some()));
        match (parts, arguments) {
            // If there is only one part, the value may be given without its name.
            ([part], value) if !is_named => Value::object([(self.body_key(part.element), value)]),
            (_, Value::Object(members)) => {
                let renamed = members.into_iter().map(|(key, value)| {
                    let part = part_of(&key);
                    (
                        part.map_or(key, |part| self.body_key(part.element).into()),
                        value,
                    )
                });
                Value::object(renamed)
            }
            (_, value) => value,
        }
    }

    /// The arguments or the result in the Value of an Envelope.
    pub(crate) fn unwrap(&self, message: &Message, envelope: Value) -> Value {
        let Value::Object(mut envelope) = envelope else {
            return Value::Nil;
        };
        let body = envelope.remove("Body").unwrap_or_default();
        let mut arguments = self.unwrap_body(message, body);
        if let Some(header) = envelope.remove("Header") {
            let headers = self.unwrap_headers(message, header);
            if let (Value::Object(members), false) = (&mut arguments, headers.is_empty()) {
                members.insert(HEADERS, headers);
            }
        }
        arguments
    }

    fn unwrap_body(&self, message: &Message, body: Value) -> Value {
        match (&message.body, body) {
            (Body::Empty, _) => Object::new().into(),
            (Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. }, Value::Object(mut members)) => {
                members.remove(self.body_key(*wrapper)).unwrap_or_default()
            }
            (Body::Bare { parts }, Value::Object(members)) => {
                let renamed = members.into_iter().map(|(key, value)| {
                    let part = parts.iter().find(|part| self.body_key(part.element) == key);
                    (part.map_or(key, |part| part.name.as_str().into()), value)
                });
                Value::object(renamed)
            }
            (_, body) => body,
        }
    }

    /// The header blocks in the Value of a Header, by the name of their part.
    pub(crate) fn unwrap_headers(&self, message: &Message, header: Value) -> Object {
        let Value::Object(mut blocks) = header else {
            return Object::new();
        };
        remove_hint(&mut blocks);
        let named = blocks
            .into_iter()
            .filter(|(key, _)| !key.starts_with('@'))
            .map(|(key, block)| {
                let part = message
                    .headers
                    .iter()
                    .find(|part| self.header_key(part.element) == key);
                (part.map_or(key, |part| part.name.as_str().into()), block)
            });
        alone(named.collect())
    }
}

/// The first bytes of a peer's hint block. Only the decoder uses hints: programs do not see the block.
const HINT: &str = "<b:hint xmlns:b=\"urn:bsoap:hint\"";

/// Removes the hint from the header blocks, if there is one. It is the first of the blocks that are kept as XML.
fn remove_hint(blocks: &mut Object) {
    let is_hint = |block: &Value| block.as_str().is_some_and(|xml| xml.starts_with(HINT));
    let Some(Value::Array(others)) = blocks.get_mut("#any") else {
        return;
    };
    if !others.first().is_some_and(is_hint) {
        return;
    }
    others.remove(0);
    if others.is_empty() {
        blocks.remove("#any");
    }
    if let Some(Value::Array(order)) = blocks.get_mut("#order") {
        let at = order.iter().position(|name| name.as_str() == Some("#any"));
        at.map(|at| order.remove(at));
    }
}

/// Replaces each array of one member by its element. Header blocks and the elements of a detail may repeat, so the Plan
/// makes arrays of them; but they rarely repeat.
pub(crate) fn alone(members: Object) -> Object {
    let bare = |value: Value| match value {
        // Every block may have SOAP attributes. If it has none, its text alone is its value.
        Value::Object(mut members) if members.len() == 1 && members.get("#text").is_some() => {
            members.remove("#text").unwrap_or_default()
        }
        value => value,
    };
    let single = |value: Value| match value {
        Value::Array(mut values) if values.len() == 1 => bare(values.pop().unwrap_or_default()),
        Value::Ints(values) if values.len() == 1 => Value::Int(values[0]),
        Value::Doubles(values) if values.len() == 1 => Value::Double(values[0]),
        Value::Floats(values) if values.len() == 1 => Value::Float(values[0]),
        value => value,
    };
    let members = members.into_iter();
    members
        .map(|(key, value)| {
            if key.starts_with('#') {
                (key, value)
            } else {
                (key, single(value))
            }
        })
        .collect()
}

/// The elements of a choice, including those of the sequences in the choice.
fn elements(plan: &Plan, ty: TypeId) -> Vec<ElementId> {
    let Content::Particle(content) = plan.ty(ty).content else {
        return Vec::new();
    };
    let (mut found, mut particles) = (Vec::new(), vec![content]);
    while let Some(particle) = particles.pop() {
        match &plan.particle(particle).term {
            Term::Element(element) => found.push(*element),
            Term::Sequence(children) | Term::Choice(children) | Term::All(children) => {
                particles.extend(plan.group(children));
            }
            Term::Any(_) => {}
        }
    }
    found
}

/// The local name of an element.
pub(crate) fn local(plan: &Plan, element: ElementId) -> &str {
    plan.vocabulary().local(plan.element(element).name)
}
