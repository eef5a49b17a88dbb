//! Builds mixed content, and the content of `anyType`.

use crate::plan::{ParticleId, Term, TypeId};
use crate::value::Value;

use super::place::{self, Head, Presence};
use super::{BuildErrorKind, Builder, Keys, Result, leaf};

/// An item of mixed content.
enum Item<'v> {
    Text(String),
    Child(&'v str, &'v Value),
}

impl Builder<'_> {
    /// Builds mixed content, given as `#mixed`, as plain text, or as children by name in schema order.
    pub(super) fn mixed(
        &mut self,
        ty: TypeId,
        particle: ParticleId,
        elements: &[ParticleId],
        value: &Value,
        keys: &mut Keys<'_>,
    ) -> Result<()> {
        let items = match (keys.take("#mixed"), value) {
            (Some(Value::Array(items)), _) => listed(items)?,
            (Some(Value::Doubles(_) | Value::Ints(_) | Value::Floats(_)), _) => Vec::new(),
            (Some(other), _) => {
                return Err(
                    BuildErrorKind::mismatch("an array of texts and objects", other).into(),
                );
            }
            (None, Value::Object(_)) => self.named(ty, keys),
            (None, text) => listed(std::slice::from_ref(text))?,
        };
        let shape = self.shapes.of(ty);
        let head = |item: &Item<'_>| match item {
            Item::Child("#any", _) => Some(Head::Any),
            Item::Child(key, _) => shape
                .children
                .iter()
                .position(|child| *child.key == **key)
                .map(Head::Child),
            Item::Text(_) => None,
        };
        let heads = items.iter().filter_map(head).collect();
        let mut took = place::check(self.plan, ty, particle, heads)?.into_iter();
        self.record.push(items.len() as u64);
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Item::Text(text) => {
                    self.record.push(0);
                    self.record.push_octets(text.as_bytes())?;
                }
                Item::Child(key, value) => {
                    let particle = took.next();
                    let done = self.mixed_child(ty, elements, particle, key, value);
                    done.map_err(|error| error.inside(format!("#mixed[{}]", index + 1)))?;
                }
            }
        }
        Ok(())
    }

    /// The children of an object, in schema order.
    fn named<'v>(&self, ty: TypeId, keys: &mut Keys<'v>) -> Vec<Item<'v>> {
        let shape = self.shapes.of(ty);
        let mut items = Vec::new();
        let Some(object) = keys.object else {
            return items;
        };
        for (key, value) in object.iter() {
            if key != "#any" && !shape.children.iter().any(|child| *child.key == *key)
                || key == "#any" && !shape.has_any
            {
                continue;
            }
            keys.used += 1;
            match value {
                Value::Array(values) => {
                    items.extend(values.iter().map(|value| Item::Child(key, value)));
                }
                value => items.push(Item::Child(key, value)),
            }
        }
        items.sort_by_key(|item| match item {
            Item::Child(key, _) => shape
                .children
                .iter()
                .position(|child| *child.key == **key)
                .unwrap_or(usize::MAX),
            Item::Text(_) => 0,
        });
        items
    }

    fn mixed_child(
        &mut self,
        ty: TypeId,
        elements: &[ParticleId],
        particle: Option<ParticleId>,
        key: &str,
        value: &Value,
    ) -> Result<()> {
        // Unknown children have not been checked before.
        let is_known = key == "#any"
            || self
                .shapes
                .of(ty)
                .children
                .iter()
                .any(|child| *child.key == *key);
        let found = elements
            .iter()
            .position(|&one| is_known && Some(one) == particle);
        let Some(index) = found else {
            return Err(self.unknown_key(ty, key));
        };
        self.record.push(1 + index as u64);
        let done = match &self.plan.particle(elements[index]).term {
            Term::Element(element) => self.element(*element, value, Presence::Named),
            _ => self.fragment(value, elements[index]),
        };
        done.map_err(|error| error.inside(key))
    }

    /// Builds the content of `anyType`, given as XML under `#any`, or as a simple value.
    pub(super) fn inner(&mut self, given: Option<&Value>, is_xml: bool) -> Result<()> {
        let mut xml = String::new();
        match given {
            None => {}
            Some(value) if !is_xml => {
                let text = leaf::text_of(value)
                    .ok_or_else(|| BuildErrorKind::mismatch("text, or XML under #any", value))?;
                let mut escaped = Vec::new();
                bsoap_xml::escape_text(&text, &mut escaped)
                    .map_err(|problem| BuildErrorKind::Xml(problem.to_string()))?;
                xml = String::from_utf8_lossy(&escaped).into_owned();
            }
            Some(Value::Text(text)) => xml = text.to_string(),
            Some(Value::Array(pieces)) => {
                for piece in pieces {
                    xml.push_str(
                        piece
                            .as_str()
                            .ok_or_else(|| BuildErrorKind::mismatch("XML", piece))?,
                    );
                }
            }
            Some(other) => return Err(BuildErrorKind::mismatch("XML", other).into()),
        }
        if is_xml {
            leaf::check_fragment(&xml, leaf::Wellformed::Content)
                .map_err(|error| error.inside("#any"))?;
        }
        Ok(self.record.push_octets(xml.as_bytes())?)
    }
}

/// The items of `#mixed`: texts, where adjacent ones become one, and objects with one member.
fn listed(values: &[Value]) -> Result<Vec<Item<'_>>> {
    let mut items = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::Object(object) => match (object.len(), object.iter().next()) {
                (1, Some((key, value))) => items.push(Item::Child(key, value)),
                _ => return Err(BuildErrorKind::mismatch("an object of one member", value).into()),
            },
            text => {
                let text =
                    leaf::text_of(text).ok_or_else(|| BuildErrorKind::mismatch("text", text))?;
                match items.last_mut() {
                    Some(Item::Text(before)) => before.push_str(&text),
                    _ if text.is_empty() => {}
                    _ => items.push(Item::Text(text.into_owned())),
                }
            }
        }
    }
    Ok(items)
}
