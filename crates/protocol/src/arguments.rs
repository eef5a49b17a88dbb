//! Converts between the arguments and results of an operation as programs see them and the Values of Envelopes.
//!
//! | style | arguments | under `Body` |
//! |---|---|---|
//! | wrapped | the children of the wrapper | `{"wrapper": {…}}` |
//! | rpc | the parts by name, which are the children of the wrapper | `{"wrapper": {…}}` |
//! | bare | the parts by name | `{"element of the part": …}` |
//!
//! Header blocks are in the member `@headers`: declared ones by the name of their part, others as XML under `#any`.

use std::fmt;
use std::sync::Arc;

use bsoap_codec::plan::{Content, ElementId, Plan, Term, TypeId};
use bsoap_codec::{BuildError, BuildOptions, Object, Pack, Record, Value, build_with};
use bsoap_schema::{Body, Message, Part, SoapVersion};

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

/// The Value of an Envelope to build, without those contents that need no copy.
pub(crate) struct Wrapped<'c> {
    envelope: Value,
    separate: Separate<'c>,
}

/// Contents that are encoded directly, without a copy in the Envelope's Value.
enum Separate<'c> {
    Nothing,
    Value(ElementId, &'c Value),
    Packed(ElementId, &'c dyn Pack),
}

impl Wrapped<'_> {
    /// Builds the Record of the Envelope `root`.
    pub(crate) fn build(&self, plan: &Arc<Plan>, root: ElementId) -> Result<Record, BuildError> {
        let mut options = BuildOptions::default();
        match self.separate {
            Separate::Nothing => {}
            Separate::Value(element, value) => options.borrowed = Some((element, value)),
            Separate::Packed(element, pack) => options.typed = Some((element, pack)),
        }
        build_with(plan, root, &self.envelope, &options)
    }
}

/// True if the arguments are the content of one wrapper element.
fn is_wrapped(message: &Message) -> bool {
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
    header: Option<TypeId>,
    body: Option<TypeId>,
}

impl<'p> Sections<'p> {
    /// Finds the Header and the Body of the Envelope `root`.
    pub(crate) fn of(plan: &'p Plan, root: ElementId) -> Self {
        let mut sections = Self {
            plan,
            header: None,
            body: None,
        };
        let Content::Particle(content) = plan.ty(plan.element(root).ty).content else {
            return sections;
        };
        let Term::Sequence(children) = &plan.particle(content).term else {
            return sections;
        };
        for &child in plan.group(children) {
            let Term::Element(element) = plan.particle(child).term else {
                continue;
            };
            let place = match local(plan, element) {
                "Header" => &mut sections.header,
                _ => &mut sections.body,
            };
            *place = Some(plan.element(element).ty);
        }
        sections
    }

    /// The key in a Value for an element of the Header.
    fn header_key(&self, element: ElementId) -> &'p str {
        self.header
            .map_or("", |header| self.plan.key(header, element))
    }

    /// The key in a Value for an element of the Body.
    pub(crate) fn body_key(&self, element: ElementId) -> &'p str {
        self.body.map_or("", |body| self.plan.key(body, element))
    }

    /// The key in a Value for the SOAP Fault. It includes the namespace if another element has the same local name.
    pub(crate) fn fault_key(&self, version: SoapVersion) -> String {
        let namespace = version.envelope_namespace();
        let names = self
            .body
            .into_iter()
            .flat_map(|body| elements(self.plan, body));
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
        let mut envelope = Object::new();
        let inside = match &mut body {
            BodyContents::Value(Value::Object(members)) if headers.is_none() => {
                members.remove(HEADERS)
            }
            _ => None,
        };
        if let Some(headers) = headers.map(Value::Object).or(inside) {
            envelope.insert("Header", self.wrap_headers(message, headers));
        }
        // A placeholder: the separate contents take its place when the Record is built.
        let placeholder = || Value::Object(Object::new());
        let (body, separate) = match (body, message.body.first_element()) {
            (BodyContents::Value(value), _) => (self.wrap_body(message, value), Separate::Nothing),
            (BodyContents::Borrowed(value), Some(wrapper))
                if is_wrapped(message) && !needs_conversion(value) =>
            {
                (
                    Value::object([(self.body_key(wrapper), placeholder())]),
                    Separate::Value(wrapper, value),
                )
            }
            (BodyContents::Borrowed(value), _) => return self.wrap(message, value.clone().into()),
            (BodyContents::Packed(pack), Some(element)) => (
                Value::object([(self.body_key(element), placeholder())]),
                Separate::Packed(element, pack),
            ),
            (BodyContents::Packed(_), None) => (placeholder(), Separate::Nothing),
        };
        envelope.insert("Body", body);
        Wrapped {
            envelope: envelope.into(),
            separate,
        }
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
