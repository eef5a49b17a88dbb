//! Simple values within a Record.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

use bsoap_datatypes::{binary, boolean, double, float, integer};

use crate::attachment::Attachment;
use crate::plan::{LeafId, LeafKind};
use crate::record::walk::octets;
use crate::record::{Record, Scalar};
use crate::value::Value;
use crate::value::json::{Attached, Base64, Double, Float, Hex};

/// A simple value within a Record: the content of an element, or the value of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct LeafView<'r> {
    record: &'r Record,
    leaf: LeafId,
    at: usize,
}

impl<'r> LeafView<'r> {
    pub(crate) fn new(record: &'r Record, leaf: LeafId, at: usize) -> Self {
        Self { record, leaf, at }
    }

    /// How the value is stored in its slot.
    #[inline]
    pub fn kind(&self) -> LeafKind {
        self.record.plan.leaf(self.leaf).kind
    }

    /// The leaf of the Plan that it belongs to.
    pub fn leaf_id(&self) -> LeafId {
        self.leaf
    }

    /// The Record that it belongs to.
    pub(super) fn record(&self) -> &'r Record {
        self.record
    }

    /// The index of its slot.
    pub fn slot(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn bits(&self) -> u64 {
        self.record.slots.get(self.at).copied().unwrap_or(0)
    }

    /// What is in the heap, if it is text.
    #[inline]
    pub(super) fn heap_text(&self) -> &'r str {
        self.record.text(self.bits())
    }

    /// The number or boolean as a value; nil if it is neither.
    fn scalar(&self) -> Value {
        match self.kind() {
            LeafKind::Boolean => Value::Bool(self.bits() != 0),
            LeafKind::Signed { .. } => Value::Int(self.bits() as i64),
            LeafKind::Unsigned { .. } => Value::from(self.bits()),
            LeafKind::Float => Value::Float(f32::from_slot(self.bits())),
            LeafKind::Double => Value::Double(f64::from_bits(self.bits())),
            _ => Value::Nil,
        }
    }

    /// The number; integers as the nearest `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        self.scalar().as_f64()
    }

    /// The integer.
    pub fn as_i64(&self) -> Option<i64> {
        self.scalar().as_i64()
    }

    /// The integer, if it is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.scalar().as_u64()
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        self.scalar().as_bool()
    }

    /// The text, if the value is stored as text.
    pub fn as_str(&self) -> Option<&'r str> {
        match self.kind() {
            LeafKind::Text | LeafKind::Name => {
                std::str::from_utf8(octets(self.record, self.at)?).ok()
            }
            _ => None,
        }
    }

    /// The attachment that has the octets of a binary value. `None` if they are in the message.
    pub fn attachment(&self) -> Option<&'r Attachment> {
        match self.kind() {
            LeafKind::Base64 => self.record.attachment(self.record.octets(self.bits())),
            _ => None,
        }
    }

    /// The octets of a binary value. Of one that is an [attachment](Self::attachment), they are its reference.
    pub fn octets(&self) -> Option<&'r [u8]> {
        match self.kind() {
            LeafKind::Base64 | LeafKind::Hex => octets(self.record, self.at),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> impl ExactSizeIterator<Item = LeafView<'r>> + use<'r> {
        let (record, at) = (self.record, self.at);
        let (item, count) = match self.kind() {
            LeafKind::List(item) => (
                item,
                (self.bits() as usize).min(record.slots.len().saturating_sub(at + 1)),
            ),
            _ => (self.leaf, 0),
        };
        (0..count).map(move |index| LeafView {
            record,
            leaf: item,
            at: at + 1 + index,
        })
    }

    /// Its text, or the lexical form of its value.
    pub fn text(&self) -> Cow<'r, str> {
        let mut out = Vec::new();
        match self.kind() {
            LeafKind::Text | LeafKind::Name => {
                return Cow::Borrowed(self.as_str().unwrap_or_default());
            }
            LeafKind::Boolean => return Cow::Borrowed(boolean::text(self.bits() != 0)),
            LeafKind::Signed { .. } => integer::write_i64(self.bits() as i64, &mut out),
            LeafKind::Unsigned { .. } => integer::write_u64(self.bits(), &mut out),
            LeafKind::Float => float::write(f32::from_slot(self.bits()), &mut out),
            LeafKind::Double => double::write(f64::from_bits(self.bits()), &mut out),
            LeafKind::Base64 => binary::write_base64(self.octets().unwrap_or_default(), &mut out),
            LeafKind::Hex => binary::write_hex(self.octets().unwrap_or_default(), &mut out),
            LeafKind::List(_) => {
                for (index, item) in self.items().enumerate() {
                    if index > 0 {
                        out.push(b' ');
                    }
                    out.extend_from_slice(item.text().as_bytes());
                }
            }
        }
        Cow::Owned(String::from_utf8_lossy(&out).into_owned())
    }

    /// The value as a dynamic value.
    pub fn to_value(&self) -> Value {
        let slot = self.bits();
        match self.record.plan.leaf(self.leaf).kind {
            LeafKind::Text | LeafKind::Name => Value::from(self.record.text(slot)),
            LeafKind::Double => Value::Double(f64::from_bits(slot)),
            LeafKind::Signed { .. } => Value::Int(slot as i64),
            LeafKind::Base64 => match self.attachment() {
                Some(attachment) => Value::Attachment(attachment.clone()),
                None => Value::Bytes(self.record.octets(slot).to_vec()),
            },
            LeafKind::Hex => Value::Hex(self.record.octets(slot).to_vec()),
            LeafKind::List(item) => {
                let items = self.items();
                let at = self.at + 1;
                numbers(
                    self.record,
                    self.record.plan.leaf(item).kind,
                    at,
                    items.len(),
                )
                .unwrap_or_else(|| Value::Array(items.map(|item| item.to_value()).collect()))
            }
            _ => self.scalar(),
        }
    }
}

/// Consecutive numbers as an array of their kind; `None` for other kinds.
pub(super) fn numbers(record: &Record, kind: LeafKind, at: usize, count: usize) -> Option<Value> {
    let slots = record.slots.get(at..at.checked_add(count)?)?;
    match kind {
        LeafKind::Double => Some(Value::Doubles(
            slots.iter().map(|&slot| f64::from_bits(slot)).collect(),
        )),
        LeafKind::Float => Some(Value::Floats(
            slots.iter().map(|&slot| f32::from_slot(slot)).collect(),
        )),
        LeafKind::Unsigned { max } if i64::try_from(max).is_err() => None,
        LeafKind::Signed { .. } | LeafKind::Unsigned { .. } => {
            Some(Value::Ints(slots.iter().map(|&slot| slot as i64).collect()))
        }
        _ => None,
    }
}

impl Serialize for LeafView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let slot = self.bits();
        match &self.record.plan.leaf(self.leaf).kind {
            LeafKind::Text | LeafKind::Name => serializer.serialize_str(self.record.text(slot)),
            LeafKind::Double => Double(f64::from_bits(slot)).serialize(serializer),
            LeafKind::Signed { .. } => serializer.serialize_i64(slot as i64),
            LeafKind::Unsigned { .. } => serializer.serialize_u64(slot),
            LeafKind::Boolean => serializer.serialize_bool(slot != 0),
            LeafKind::Float => Float(f32::from_slot(slot)).serialize(serializer),
            LeafKind::Base64 => match self.attachment() {
                Some(attachment) => Attached(attachment).serialize(serializer),
                None => Base64(self.record.octets(slot)).serialize(serializer),
            },
            LeafKind::Hex => Hex(self.record.octets(slot)).serialize(serializer),
            LeafKind::List(_) => self.to_value().serialize(serializer),
        }
    }
}
