//! What a tree is made of: dynamic values here, objects of another language elsewhere.

use std::ops::Range;

use crate::plan::{AttributeId, LeafKind, TypeId};
use crate::record::Record;
use crate::value::{Object, Text, Value};

use super::leaf::numbers;
use super::{LeafView, Rows};

/// Makes the values of an element in another form than [`Value`], by the same convention: names, arrays, nil, derived types,
/// wildcards and mixed content. [`View::make`](super::View::make) reads the Record and calls these methods.
///
/// ```
/// use bsoap_codec::{Key, LeafView, Maker, Record, View};
///
/// /// Counts the simple values.
/// struct Counter(usize);
///
/// impl<'r> Maker<'r> for Counter {
///     type Value = ();
///     type Object = ();
///
///     fn leaf(&mut self, _: LeafView<'r>) { self.0 += 1 }
///     fn text(&mut self, _: &str) {}
///     fn boolean(&mut self, _: bool) {}
///     fn nil(&mut self) {}
///     fn array(&mut self, _: Vec<()>) {}
///     fn begin(&mut self, _: &'r Record, _: Option<bsoap_codec::plan::TypeId>, _: usize) {}
///     fn push(&mut self, _: &mut (), _: Key<'_>, (): ()) {}
///     fn append(&mut self, _: &mut (), _: Key<'_>, (): ()) {}
///     fn end(&mut self, (): ()) {}
/// }
///
/// fn count(view: &View<'_>) -> usize {
///     let mut counter = Counter(0);
///     view.make(&mut counter).map_or(0, |()| counter.0)
/// }
/// ```
pub trait Maker<'r> {
    /// A value of any kind.
    type Value;
    /// An object that is being made.
    type Object;

    /// A simple value.
    fn leaf(&mut self, leaf: LeafView<'r>) -> Self::Value;

    /// A text that is no simple value: XML of a wildcard, text of mixed content, the name of a type or a child.
    fn text(&mut self, text: &str) -> Self::Value;

    /// Whether an element is nil, for those that have attributes.
    fn boolean(&mut self, value: bool) -> Self::Value;

    /// Nil.
    fn nil(&mut self) -> Self::Value;

    /// An array of values that were made before.
    fn array(&mut self, values: Vec<Self::Value>) -> Self::Value;

    /// An array of simple values of one kind whose slots follow one another. `None` if they are to be made one by one.
    fn column(
        &mut self,
        record: &'r Record,
        kind: LeafKind,
        slots: Range<usize>,
    ) -> Option<Self::Value> {
        let _ = (record, kind, slots);
        None
    }

    /// An array of flat structs. `None` if they are to be made one by one.
    fn rows(&mut self, rows: Rows<'r>) -> Option<Self::Value> {
        let _ = rows;
        None
    }

    /// Begins the object of an element of a type, with about this many members; one without a type is the attributes of a
    /// wildcard, or a part of mixed content.
    fn begin(&mut self, record: &'r Record, ty: Option<TypeId>, members: usize) -> Self::Object;

    /// Adds a member whose key the object does not have yet.
    fn push(&mut self, object: &mut Self::Object, key: Key<'_>, value: Self::Value);

    /// Adds a member that is a simple value of a child.
    fn push_leaf(&mut self, object: &mut Self::Object, key: Key<'_>, leaf: LeafView<'r>) {
        let value = self.leaf(leaf);
        self.push(object, key, value);
    }

    /// Adds a value to the array of a member, which it begins if there is none.
    fn append(&mut self, object: &mut Self::Object, key: Key<'_>, value: Self::Value);

    /// Ends an object.
    fn end(&mut self, object: Self::Object) -> Self::Value;
}

/// The key of an object's member.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Key<'p> {
    /// A child, by its index among the [members](crate::Plan::child_members) of the type.
    Child(usize, &'p Text),
    /// An attribute.
    Attribute(AttributeId, &'p Text),
    /// Something else: `#text`, `#any`, `#mixed`, `#order`, `@any`, and what says that an element is nil or of a derived type; in
    /// the attributes of a wildcard, their names.
    Other(&'p str),
}

impl Key<'_> {
    /// The text of the key.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Child(_, text) | Self::Attribute(_, text) => text,
            Self::Other(text) => text,
        }
    }

    fn to_text(self) -> Text {
        match self {
            Self::Child(_, text) | Self::Attribute(_, text) => text.clone(),
            Self::Other(text) => text.into(),
        }
    }
}

/// Makes [`Value`]s.
pub(super) struct Values;

impl<'r> Maker<'r> for Values {
    type Value = Value;
    type Object = Object;

    #[inline]
    fn leaf(&mut self, leaf: LeafView<'r>) -> Value {
        leaf.to_value()
    }

    fn text(&mut self, text: &str) -> Value {
        Value::from(text)
    }

    fn boolean(&mut self, value: bool) -> Value {
        Value::Bool(value)
    }

    fn nil(&mut self) -> Value {
        Value::Nil
    }

    fn array(&mut self, values: Vec<Value>) -> Value {
        Value::Array(values)
    }

    fn column(&mut self, record: &'r Record, kind: LeafKind, slots: Range<usize>) -> Option<Value> {
        numbers(record, kind, slots.start, slots.len())
    }

    #[inline]
    fn begin(&mut self, _: &'r Record, _: Option<TypeId>, members: usize) -> Object {
        Object::with_capacity(members)
    }

    #[inline]
    fn push(&mut self, object: &mut Object, key: Key<'_>, value: Value) {
        match key {
            Key::Child(_, key) => object.push_child(key.clone(), value),
            key => object.push(key.to_text(), value),
        }
    }

    /// Each kind is added on its own, so that values are made where they stay. Benchmark: `api-in`.
    #[inline]
    fn push_leaf(&mut self, object: &mut Object, key: Key<'_>, leaf: LeafView<'r>) {
        let Key::Child(_, key) = key else {
            return object.push(key.to_text(), leaf.to_value());
        };
        let (key, slot) = (key.clone(), leaf.bits());
        match leaf.kind() {
            LeafKind::Text => object.push_text(key, leaf.heap_text()),
            LeafKind::Signed { .. } => object.push_child(key, Value::Int(slot as i64)),
            LeafKind::Double => object.push_child(key, Value::Double(f64::from_bits(slot))),
            LeafKind::Boolean => object.push_child(key, Value::Bool(slot != 0)),
            _ => object.push_child(key, leaf.to_value()),
        }
    }

    fn append(&mut self, object: &mut Object, key: Key<'_>, value: Value) {
        object.append(key.as_str(), value);
    }

    #[inline]
    fn end(&mut self, object: Object) -> Value {
        Value::Object(object)
    }
}
