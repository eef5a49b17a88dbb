//! Reads an element of a Record, or a [`Value`], into any Rust type with `serde::Deserialize`, by the convention of JSON.
//!
//! Of a Record no [`Value`] is made, except where children of one name can be apart in the Record, for derived types, and in
//! mixed content. Texts and octets can be borrowed from it.

use std::borrow::Cow;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::attachment::Attachment;
use crate::plan::shape::Shape;
use crate::plan::{Content, ElementId, LeafId, LeafKind};
use crate::record::walk::{Event, Walk};
use crate::record::{Record, Scalar, marker};
use crate::value::serde_error::SerdeError;
use crate::value::{MAX_DEPTH, Object, Text, Value};

use super::json::is_listed;
use super::tree::number_kind;
use super::{LeafView, TreeError, View};

type Result<T> = std::result::Result<T, SerdeError>;

impl<'r> View<'r> {
    /// The element as a Rust type with `Deserialize`. Fields are named as in JSON: `@name` is an attribute, `#text` is the
    /// value of an element with attributes, a repeated element is a sequence (`#[serde(default)]` if it may be absent), an
    /// absent or nil element is `None`. `&str` and `&[u8]` are borrowed from the Record.
    ///
    /// # Errors
    /// If the element does not have what the type wants, with the path to the value.
    pub fn deserialize_as<T: Deserialize<'r>>(&self) -> Result<T> {
        T::deserialize(Node::new(Source::Element(*self)))
    }
}

impl Value {
    /// The value as a Rust type with `Deserialize`. Fields are named as in JSON; texts may be borrowed.
    ///
    /// ```
    /// use bsoap_codec::Value;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Price { #[serde(rename = "@currency")] currency: String, #[serde(rename = "#text")] amount: f64 }
    ///
    /// let price = Value::object([("@currency", Value::from("EUR")), ("#text", Value::from(2.5))]);
    /// let price: Price = price.deserialize_as()?;
    /// assert_eq!((price.currency.as_str(), price.amount), ("EUR", 2.5));
    /// # Ok::<(), bsoap_codec::SerdeError>(())
    /// ```
    ///
    /// # Errors
    /// If the value does not have what the type wants, with the path to it.
    pub fn deserialize_as<'v, T: Deserialize<'v>>(&'v self) -> Result<T> {
        T::deserialize(Node::new(Source::Value(Cow::Borrowed(self))))
    }
}

/// A part of a message that is to be deserialized.
struct Node<'r> {
    source: Source<'r>,
    /// The number of objects around it.
    depth: usize,
}

enum Source<'r> {
    Element(View<'r>),
    Leaf(LeafView<'r>),
    Value(Cow<'r, Value>),
    /// The children of one name.
    Items(Items<'r>),
}

/// What a part of a message is.
#[allow(clippy::large_enum_variant)] // the walk: a box would be an allocation for each element
enum Kind<'r> {
    Single(Single<'r>),
    Items(Items<'r>),
    Members(Members<'r>),
}

/// A value without parts.
enum Single<'r> {
    Nil,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f32),
    Double(f64),
    Text(Cow<'r, str>),
    Octets(Cow<'r, [u8]>, OctetForm),
    /// Octets beside the message, which are read when they are wanted.
    Attachment(Attachment),
}

/// The lexical form of octets.
#[derive(Clone, Copy)]
enum OctetForm {
    Base64,
    Hex,
}

impl<'r> Node<'r> {
    fn new(source: Source<'r>) -> Self {
        Self { source, depth: 0 }
    }

    fn kind(self) -> Result<(Kind<'r>, usize)> {
        if self.depth > MAX_DEPTH {
            return Err(SerdeError::custom(TreeError::Depth));
        }
        let kind = match self.source {
            Source::Element(view) => element(view)?,
            Source::Leaf(leaf) => of_leaf(leaf),
            Source::Value(value) => of_value(value),
            Source::Items(items) => Kind::Items(items),
        };
        match kind {
            Kind::Single(Single::Attachment(attachment)) => Ok((read(&attachment)?, self.depth)),
            kind => Ok((kind, self.depth)),
        }
    }
}

/// The octets of an attachment.
#[cold]
fn read<'r>(attachment: &Attachment) -> Result<Kind<'r>> {
    let octets = attachment.read().map_err(SerdeError::custom)?;
    Ok(Kind::Single(Single::Octets(
        Cow::Owned(octets),
        OctetForm::Base64,
    )))
}

fn element(view: View<'_>) -> Result<Kind<'_>> {
    let (record, start) = (view.record, view.start);
    let plan = view.plan();
    let ty = plan.ty(start.ty);
    let is_declared = plan.element(start.element).ty == start.ty;
    let has_attributes = !ty.attributes.is_empty() || ty.any_attribute.is_some();
    if let Content::Simple(leaf) = ty.content
        && !start.nil
        && !has_attributes
        && is_declared
    {
        return Ok(of_leaf(LeafView::new(record, leaf, start.at)));
    }
    let shape = plan.shapes().of(start.ty);
    if !is_listed(plan, shape, start) || ty.any_attribute.is_some() {
        let value = view.to_value().map_err(SerdeError::custom)?;
        return Ok(of_value(Cow::Owned(value)));
    }
    Ok(Kind::Members(Members::Record(RecordMembers {
        record,
        shape,
        walk: Walk::inside(record, start),
        near: 0,
        fragments: Vec::new(),
    })))
}

fn of_leaf(leaf: LeafView<'_>) -> Kind<'_> {
    let slot = leaf.bits();
    Kind::Single(match leaf.kind() {
        LeafKind::Text | LeafKind::Name => Single::Text(Cow::Borrowed(leaf.heap_text())),
        LeafKind::Boolean => Single::Bool(slot != 0),
        LeafKind::Signed { .. } => Single::Int(slot as i64),
        LeafKind::Unsigned { .. } => Single::UInt(slot),
        LeafKind::Float => Single::Float(f32::from_slot(slot)),
        LeafKind::Double => Single::Double(f64::from_bits(slot)),
        LeafKind::Base64 | LeafKind::Hex => {
            if let Some(attachment) = leaf.attachment() {
                return of_value(Cow::Owned(Value::Attachment(attachment.clone())));
            }
            let form = match leaf.kind() {
                LeafKind::Hex => OctetForm::Hex,
                _ => OctetForm::Base64,
            };
            Single::Octets(Cow::Borrowed(leaf.octets().unwrap_or_default()), form)
        }
        LeafKind::List(item) => {
            let (record, at) = (leaf.record(), leaf.slot() + 1);
            return Kind::Items(Items::Leaves {
                record,
                leaf: item,
                at,
                left: leaf.items().len(),
            });
        }
    })
}

fn of_value(value: Cow<'_, Value>) -> Kind<'_> {
    let single = match value {
        Cow::Borrowed(value) => match value {
            Value::Text(text) => Single::Text(Cow::Borrowed(text)),
            Value::Bytes(octets) => Single::Octets(Cow::Borrowed(octets), OctetForm::Base64),
            Value::Hex(octets) => Single::Octets(Cow::Borrowed(octets), OctetForm::Hex),
            Value::Attachment(attachment) => Single::Attachment(attachment.clone()),
            Value::Object(object) => {
                return Kind::Members(Members::Borrowed(object.entries().iter()));
            }
            Value::Array(values) => return Kind::Items(Items::Borrowed(values.iter())),
            Value::Doubles(numbers) => return Kind::Items(Items::Doubles(numbers.iter())),
            number => match number_of(number) {
                Some(single) => single,
                None => {
                    let items = number.items().map(Cow::into_owned);
                    return Kind::Items(Items::Owned(items.collect::<Vec<_>>().into_iter()));
                }
            },
        },
        Cow::Owned(value) => match value {
            Value::Text(text) => Single::Text(Cow::Owned(text.into())),
            Value::Bytes(octets) => Single::Octets(Cow::Owned(octets), OctetForm::Base64),
            Value::Hex(octets) => Single::Octets(Cow::Owned(octets), OctetForm::Hex),
            Value::Attachment(attachment) => Single::Attachment(attachment),
            Value::Object(object) => return Kind::Members(Members::Owned(object.into_iter())),
            Value::Array(values) => return Kind::Items(Items::Owned(values.into_iter())),
            number => match number_of(&number) {
                Some(single) => single,
                None => {
                    let items = number.items().map(Cow::into_owned);
                    return Kind::Items(Items::Owned(items.collect::<Vec<_>>().into_iter()));
                }
            },
        },
    };
    Kind::Single(single)
}

fn number_of<'r>(value: &Value) -> Option<Single<'r>> {
    Some(match value {
        Value::Nil => Single::Nil,
        Value::Bool(value) => Single::Bool(*value),
        Value::Int(value) => Single::Int(*value),
        Value::UInt(value) => Single::UInt(*value),
        Value::Float(value) => Single::Float(*value),
        Value::Double(value) => Single::Double(*value),
        _ => return None,
    })
}

impl<'r> Single<'r> {
    /// The value as it is in JSON.
    fn visit<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Self::Nil => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Int(value) => visitor.visit_i64(value),
            Self::UInt(value) => visitor.visit_u64(value),
            Self::Float(value) if value.is_finite() => visitor.visit_f32(value),
            Self::Double(value) if value.is_finite() => visitor.visit_f64(value),
            other => match other.into_text() {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
        }
    }

    /// The lexical form.
    fn into_text(self) -> Cow<'r, str> {
        let value = match self {
            Self::Text(text) => return text,
            Self::Octets(octets, form) => {
                let mut out = Vec::new();
                match form {
                    OctetForm::Base64 => bsoap_datatypes::binary::write_base64(&octets, &mut out),
                    OctetForm::Hex => bsoap_datatypes::binary::write_hex(&octets, &mut out),
                }
                return Cow::Owned(String::from_utf8_lossy(&out).into_owned());
            }
            Self::Nil | Self::Attachment(_) => return Cow::Borrowed(""),
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::UInt(value) => Value::UInt(value),
            Self::Float(value) => Value::Float(value),
            Self::Double(value) => Value::Double(value),
        };
        let text = crate::value::build::leaf::text_of(&value);
        Cow::Owned(text.map(Cow::into_owned).unwrap_or_default())
    }
}

/// Numbers and booleans are also read from texts, such as a decimal into `f64`.
macro_rules! parsed {
    ($($method:ident $visit:ident $ty:ty,)*) => {$(
        fn $method<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
            match self.kind()?.0 {
                Kind::Single(Single::Text(text)) => match text.trim().parse::<$ty>() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => Err(SerdeError::invalid_type(Unexpected::Str(&text), &visitor)),
                },
                Kind::Single(Single::Float(value)) => visitor.visit_f32(value),
                Kind::Single(Single::Double(value)) => visitor.visit_f64(value),
                Kind::Single(single) => single.visit(visitor),
                other => Err(other.unexpected(&visitor)),
            }
        }
    )*};
}

impl<'r> Kind<'r> {
    fn unexpected<V: Visitor<'r>>(&self, visitor: &V) -> SerdeError {
        let found = match self {
            Self::Items(_) => Unexpected::Seq,
            Self::Members(_) => Unexpected::Map,
            Self::Single(_) => Unexpected::Other("a single value"),
        };
        SerdeError::invalid_type(found, visitor)
    }
}

impl<'r> Deserializer<'r> for Node<'r> {
    type Error = SerdeError;

    parsed! {
        deserialize_i8 visit_i64 i64,
        deserialize_i16 visit_i64 i64,
        deserialize_i32 visit_i64 i64,
        deserialize_i64 visit_i64 i64,
        deserialize_i128 visit_i128 i128,
        deserialize_u8 visit_u64 u64,
        deserialize_u16 visit_u64 u64,
        deserialize_u32 visit_u64 u64,
        deserialize_u64 visit_u64 u64,
        deserialize_u128 visit_u128 u128,
        deserialize_f32 visit_f64 f64,
        deserialize_f64 visit_f64 f64,
        deserialize_bool visit_bool bool,
    }

    fn deserialize_any<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        match self.kind()? {
            (Kind::Single(single), _) => single.visit(visitor),
            (Kind::Items(items), depth) => visitor.visit_seq(Sequence {
                items,
                depth,
                index: 0,
            }),
            (Kind::Members(members), depth) => visitor.visit_map(Map::new(members, depth)),
        }
    }

    fn deserialize_str<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        match self.kind()?.0 {
            Kind::Single(Single::Nil) => visitor.visit_unit(),
            Kind::Single(single) => match single.into_text() {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            other => Err(other.unexpected(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        match self.kind()? {
            (Kind::Single(Single::Octets(Cow::Borrowed(octets), _)), _) => {
                visitor.visit_borrowed_bytes(octets)
            }
            (Kind::Single(Single::Octets(Cow::Owned(octets), _)), _) => {
                visitor.visit_byte_buf(octets)
            }
            (Kind::Single(single), _) => single.visit(visitor),
            (Kind::Items(items), depth) => visitor.visit_seq(Sequence {
                items,
                depth,
                index: 0,
            }),
            (other, _) => Err(other.unexpected(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        let is_nil = match &self.source {
            Source::Element(view) => view.is_nil(),
            Source::Value(value) => value.is_nil(),
            Source::Leaf(_) | Source::Items(_) => false,
        };
        match is_nil {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'r>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    /// Octets are also a sequence of `u8`.
    fn deserialize_seq<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        match self.kind()? {
            (Kind::Single(Single::Octets(octets, _)), _) => {
                let octets = octets.into_owned().into_iter();
                visitor.visit_seq(serde::de::value::SeqDeserializer::new(octets))
            }
            (Kind::Items(items), depth) => visitor.visit_seq(Sequence {
                items,
                depth,
                index: 0,
            }),
            (Kind::Single(single), _) => single.visit(visitor),
            (other, _) => Err(other.unexpected(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'r>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'r>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    /// An object without members is also a unit.
    fn deserialize_unit<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        match self.kind()? {
            (Kind::Single(single), _) => single.visit(visitor),
            (Kind::Members(mut members), _) => match members.next()? {
                None => visitor.visit_unit(),
                Some(_) => Err(SerdeError::invalid_type(Unexpected::Map, &visitor)),
            },
            (other, _) => Err(other.unexpected(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'r>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    /// A text is the name of a variant; an object with one member is a variant with a value.
    fn deserialize_enum<V: Visitor<'r>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.kind()? {
            (Kind::Single(single), _) => {
                let text = single.into_text();
                let text: StrDeserializer<'_, SerdeError> = (&*text).into_deserializer();
                visitor.visit_enum(text)
            }
            (Kind::Members(members), depth) => {
                visitor.visit_enum(MapAccessDeserializer::new(Map::new(members, depth)))
            }
            (other, _) => Err(other.unexpected(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { <V: Visitor<'r>> map struct identifier }
}

/// The values of an array.
enum Items<'r> {
    /// Simple values, one slot each: of a list, or of an array of numbers.
    Leaves {
        record: &'r Record,
        leaf: LeafId,
        at: usize,
        left: usize,
    },
    /// Elements with a fixed number of slots.
    Rows {
        record: &'r Record,
        element: ElementId,
        at: usize,
        stride: usize,
        left: usize,
    },
    /// Other elements, which the walk is before.
    Walk {
        record: &'r Record,
        walk: Box<Walk<'r>>,
        left: usize,
    },
    /// The XML of wildcards.
    Texts(std::vec::IntoIter<&'r str>),
    Doubles(std::slice::Iter<'r, f64>),
    Borrowed(std::slice::Iter<'r, Value>),
    Owned(std::vec::IntoIter<Value>),
}

impl<'r> Items<'r> {
    fn next(&mut self) -> Result<Option<Source<'r>>> {
        let owned = |value| Source::Value(Cow::Owned(value));
        Ok(match self {
            Self::Leaves { left: 0, .. }
            | Self::Rows { left: 0, .. }
            | Self::Walk { left: 0, .. } => None,
            Self::Leaves {
                record,
                leaf,
                at,
                left,
            } => {
                *left -= 1;
                *at += 1;
                Some(Source::Leaf(LeafView::new(record, *leaf, *at - 1)))
            }
            Self::Rows {
                record,
                element,
                at,
                stride,
                left,
            } => {
                let row = View::at(record, *element, *at).ok_or_else(mismatch)?;
                *left -= 1;
                *at += *stride;
                Some(Source::Element(row))
            }
            Self::Walk { record, walk, left } => loop {
                let event = walk.next().map_err(|_| mismatch())?.ok_or_else(mismatch)?;
                if let Event::Start(start) = event {
                    walk.skip(event).map_err(|_| mismatch())?;
                    *left -= 1;
                    break Some(Source::Element(View { record, start }));
                }
            },
            Self::Texts(texts) => texts.next().map(|xml| owned(Value::from(xml))),
            Self::Doubles(numbers) => numbers.next().map(|&number| owned(Value::Double(number))),
            Self::Borrowed(values) => values.next().map(|it| Source::Value(Cow::Borrowed(it))),
            Self::Owned(values) => values.next().map(owned),
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaves { left, .. } | Self::Rows { left, .. } | Self::Walk { left, .. } => *left,
            Self::Texts(texts) => texts.len(),
            Self::Doubles(numbers) => numbers.len(),
            Self::Borrowed(values) => values.len(),
            Self::Owned(values) => values.len(),
        }
    }
}

fn mismatch() -> SerdeError {
    SerdeError::custom(TreeError::Mismatch)
}

struct Sequence<'r> {
    items: Items<'r>,
    depth: usize,
    index: usize,
}

impl<'r> SeqAccess<'r> for Sequence<'r> {
    type Error = SerdeError;

    fn next_element_seed<S: DeserializeSeed<'r>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(source) = self.items.next()? else {
            return Ok(None);
        };
        let (index, depth) = (self.index, self.depth + 1);
        self.index += 1;
        let value = seed.deserialize(Node { source, depth });
        value.map(Some).map_err(|error| error.inside_item(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The members of an object.
#[allow(clippy::large_enum_variant)] // the walk: a box would be an allocation for each element
enum Members<'r> {
    Record(RecordMembers<'r>),
    Borrowed(std::slice::Iter<'r, (Text, Value)>),
    Owned(<Object as IntoIterator>::IntoIter),
}

impl<'r> Members<'r> {
    fn next(&mut self) -> Result<Option<(Cow<'r, str>, Source<'r>)>> {
        Ok(match self {
            Self::Record(members) => members.next()?,
            Self::Borrowed(members) => members
                .next()
                .map(|(key, value)| (Cow::Borrowed(&**key), Source::Value(Cow::Borrowed(value)))),
            Self::Owned(members) => members
                .next()
                .map(|(key, value)| (Cow::Owned(key.into()), Source::Value(Cow::Owned(value)))),
        })
    }
}

/// The members of an element whose children are in the order of the Record.
struct RecordMembers<'r> {
    record: &'r Record,
    shape: &'r Shape,
    walk: Walk<'r>,
    /// The index in the shape at which the next child is expected.
    near: usize,
    /// The XML of wildcards, which is the last member.
    fragments: Vec<&'r str>,
}

impl<'r> RecordMembers<'r> {
    fn next(&mut self) -> Result<Option<(Cow<'r, str>, Source<'r>)>> {
        let (record, plan) = (self.record, self.record.plan());
        let leaf_at = |leaf, at| Source::Leaf(LeafView::new(record, leaf, at));
        while let Some(event) = self.walk.next().map_err(|_| mismatch())? {
            match event {
                Event::Attribute { id, presence, at } if presence != marker::ABSENT => {
                    let key: &str = plan.shapes().attribute_key(id);
                    return Ok(Some((key.into(), leaf_at(plan.attribute(id).leaf, at))));
                }
                Event::Leaf { leaf, at } => return Ok(Some(("#text".into(), leaf_at(leaf, at)))),
                Event::Start(start) => {
                    self.walk.skip(event).map_err(|_| mismatch())?;
                    let key = self.key(start.element)?;
                    return Ok(Some((key, Source::Element(View { record, start }))));
                }
                Event::Array { element, count, at } => {
                    let items = self.items(element, count, at);
                    self.walk.skip(event).map_err(|_| mismatch())?;
                    if count > 0 {
                        return Ok(Some((self.key(element)?, Source::Items(items))));
                    }
                }
                Event::Fragment { at } => {
                    let slot = *record.slots().get(at).ok_or_else(mismatch)?;
                    self.fragments.push(record.text(slot));
                }
                _ => {}
            }
        }
        if self.fragments.is_empty() {
            return Ok(None);
        }
        let texts = std::mem::take(&mut self.fragments).into_iter();
        Ok(Some(("#any".into(), Source::Items(Items::Texts(texts)))))
    }

    fn key(&mut self, element: ElementId) -> Result<Cow<'r, str>> {
        let name = self.record.plan().element(element).name;
        let index = self.shape.index_near(name, self.near);
        let index = index.ok_or_else(mismatch)?;
        self.near = index + 1;
        Ok(Cow::Borrowed(&self.shape.children[index].key))
    }

    /// The items of an array that the walk is before.
    fn items(&self, element: ElementId, count: usize, at: usize) -> Items<'r> {
        let (record, plan) = (self.record, self.record.plan());
        let left = count;
        if number_kind(plan, element).is_some()
            && let Content::Simple(leaf) = plan.ty(plan.element(element).ty).content
        {
            return Items::Leaves {
                record,
                leaf,
                at,
                left,
            };
        }
        match plan.element(element).stride {
            Some(stride) => Items::Rows {
                record,
                element,
                at,
                stride: stride as usize,
                left,
            },
            None => Items::Walk {
                record,
                walk: Box::new(self.walk.clone()),
                left,
            },
        }
    }
}

struct Map<'r> {
    members: Members<'r>,
    /// The member whose key was read.
    value: Option<(Cow<'r, str>, Source<'r>)>,
    depth: usize,
}

impl<'r> Map<'r> {
    fn new(members: Members<'r>, depth: usize) -> Self {
        Self {
            members,
            value: None,
            depth,
        }
    }
}

impl<'r> MapAccess<'r> for Map<'r> {
    type Error = SerdeError;

    fn next_key_seed<S: DeserializeSeed<'r>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.value = self.members.next()?;
        let Some((key, _)) = &self.value else {
            return Ok(None);
        };
        let key: serde::de::value::CowStrDeserializer<'_, SerdeError> =
            key.clone().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'r>>(&mut self, seed: S) -> Result<S::Value> {
        let (key, source) = self
            .value
            .take()
            .ok_or_else(|| SerdeError::custom("a value was asked for before its key"))?;
        let depth = self.depth + 1;
        let value = seed.deserialize(Node { source, depth });
        value.map_err(|error| error.inside(&key))
    }
}
