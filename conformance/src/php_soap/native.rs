//! PHP's values in our convention, as the Plan says what is an attribute, a child, a list or an integer.

use bsoap_codec::plan::{Content, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId};
use bsoap_datatypes::Datatype;
use serde_json::{Map, Value};

/// A child element and its key.
struct Child {
    element: ElementId,
    key: String,
    repeats: bool,
}

/// Translates for the types of a Plan.
pub(super) struct Native<'p> {
    plan: &'p Plan,
}

impl<'p> Native<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }

    /// Whether an element has this name.
    pub(super) fn is_called(&self, element: ElementId, namespace: &str, local: &str) -> bool {
        let name = self.plan.element(element).name;
        let vocabulary = self.plan.vocabulary();
        (vocabulary.namespace(name), vocabulary.local(name)) == (namespace, local)
    }

    /// The value of an element.
    pub(super) fn element(&self, element: ElementId, value: &Value) -> Value {
        self.ty(self.plan.element(element).ty, value)
    }

    fn ty(&self, ty: TypeId, value: &Value) -> Value {
        let value = plain(value);
        if value.is_null() {
            return Value::Null;
        }
        if let Some("SoapVar") = value["__new__"].as_str() {
            return self.variant(ty, &value["args"]);
        }
        match (self.plan.ty(ty).content.clone(), value) {
            (Content::Simple(leaf), Value::Object(members)) => {
                let mut object = self.attributes(ty, members);
                let text = members.get("_").unwrap_or(&Value::Null);
                object.insert("#text".into(), self.leaf(leaf, text));
                Value::Object(object)
            }
            (Content::Simple(leaf), value) => self.leaf(leaf, value),
            (Content::Particle(_) | Content::Empty, Value::Object(members)) => {
                let mut object = self.attributes(ty, members);
                for child in self.children(ty) {
                    if let Some(value) = members.get(local(&child.key)) {
                        let value = match (plain(value), child.repeats) {
                            (Value::Array(values), true) => values
                                .iter()
                                .map(|value| self.element(child.element, value))
                                .collect(),
                            (value, _) => self.element(child.element, value),
                        };
                        object.insert(child.key, value);
                    }
                }
                Value::Object(object)
            }
            (Content::Particle(_), Value::Array(values)) => match &self.children(ty)[..] {
                // An array of SOAP's encoding; several dimensions lie one behind the other.
                [Child { element, key, .. }] => {
                    let flat = self.flat(*element, values);
                    let values = flat.iter().map(|value| self.element(*element, value));
                    Value::Object([(key.clone(), values.collect())].into_iter().collect())
                }
                _ => Value::Object(Map::new()),
            },
            (_, other) => other.clone(),
        }
    }

    /// `SoapVar(data, encoding, type name, type namespace)`: a value of a derived type.
    fn variant(&self, declared: TypeId, arguments: &Value) -> Value {
        let text = |index: usize| arguments[index].as_str().unwrap_or_default();
        let (namespace, local) = (text(3), text(2));
        let named = self
            .plan
            .ty(declared)
            .alternatives
            .iter()
            .copied()
            .find(|&ty| {
                let name = self.plan.ty(ty).name;
                let vocabulary = self.plan.vocabulary();
                name.is_some_and(|name| {
                    (vocabulary.namespace(name), vocabulary.local(name)) == (namespace, local)
                })
            });
        let mut value = self.ty(named.unwrap_or(declared), &arguments[0]);
        if let (Value::Object(object), Some(_)) = (&mut value, named) {
            object.insert("@xsi:type".into(), format!("{{{namespace}}}{local}").into());
        }
        value
    }

    fn flat(&self, element: ElementId, values: &[Value]) -> Vec<Value> {
        let is_simple = matches!(
            self.plan.ty(self.plan.element(element).ty).content,
            Content::Simple(_)
        );
        let mut flat: Vec<Value> = values.to_vec();
        while is_simple && flat.iter().any(Value::is_array) {
            flat = flat
                .into_iter()
                .flat_map(|value| match value {
                    Value::Array(values) => values,
                    one => vec![one],
                })
                .collect();
        }
        flat
    }

    fn attributes(&self, ty: TypeId, members: &Map<String, Value>) -> Map<String, Value> {
        let mut object = Map::new();
        for id in self.plan.ty(ty).attribute_ids() {
            let attribute = self.plan.attribute(id);
            let name = self.plan.vocabulary().local(attribute.name);
            if let Some(value) = members.get(name) {
                object.insert(format!("@{name}"), self.leaf(attribute.leaf, value));
            }
        }
        object
    }

    /// The child elements of a type.
    fn children(&self, ty: TypeId) -> Vec<Child> {
        let Content::Particle(content) = self.plan.ty(ty).content else {
            return Vec::new();
        };
        let (mut found, mut particles): (_, Vec<ParticleId>) = (Vec::new(), vec![content]);
        while let Some(particle) = particles.pop() {
            match &self.plan.particle(particle).term {
                Term::Element(element) => found.push(Child {
                    element: *element,
                    key: self.plan.key(ty, *element).to_owned(),
                    repeats: self.plan.particle(particle).max > 1,
                }),
                Term::Sequence(children) | Term::Choice(children) | Term::All(children) => {
                    particles.extend(self.plan.group(children).iter().rev());
                }
                Term::Any(_) => {}
            }
        }
        found
    }

    fn leaf(&self, leaf: LeafId, value: &Value) -> Value {
        let is_integer = |leaf: LeafId| {
            let datatype = self.plan.leaf(leaf).simple.datatype();
            datatype.is_some_and(|datatype| datatype.is_derived_from(Datatype::Integer))
        };
        match (self.plan.leaf(leaf).kind, plain(value)) {
            (LeafKind::List(item), Value::Array(values)) => {
                values.iter().map(|value| self.leaf(item, value)).collect()
            }
            (_, Value::Array(values)) => {
                let items: Vec<String> = values.iter().map(text).collect();
                items.join(" ").into()
            }
            // PHP cuts floats to integers.
            (_, Value::Number(number)) if number.is_f64() && is_integer(leaf) => {
                (number.as_f64().unwrap_or_default() as i64).into()
            }
            (LeafKind::Boolean, Value::Number(number)) => (number.as_f64() != Some(0.0)).into(),
            (LeafKind::Base64, Value::String(text)) => {
                json(bsoap_codec::Value::Bytes(octets(text)))
            }
            (LeafKind::Hex, Value::String(text)) => json(bsoap_codec::Value::Hex(octets(text))),
            (LeafKind::Text, value) if !value.is_null() => text(value).into(),
            (_, value) => value.clone(),
        }
    }
}

/// A value out of PHP's wrappers.
fn plain(value: &Value) -> &Value {
    match value.get("__object__") {
        Some(object) => object,
        None if value["__new__"] == "SoapParam" => &value["args"][0],
        None => value,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn local(key: &str) -> &str {
    key.rsplit_once('}').map_or(key, |(_, local)| local)
}

/// PHP's strings are octets; in the suite they are written as characters of Latin-1.
fn octets(text: &str) -> Vec<u8> {
    let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    latin.unwrap_or_else(|| text.as_bytes().to_vec())
}

fn json(value: bsoap_codec::Value) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
