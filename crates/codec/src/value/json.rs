//! Values as JSON, by the convention of `docs/design/between-crates.md`.
//!
//! JSON has no INF and NaN: they are strings. Octets are base64.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use bsoap_datatypes::binary;

use crate::value::{Object, Value};

impl Value {
    /// The value of a JSON document.
    ///
    /// # Errors
    /// When it is not JSON, or nests too deep.
    pub fn from_json_str(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// The value of parsed JSON.
    pub fn from_json(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Nil,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => Self::Int(value),
                (None, Some(value)) => Self::UInt(value),
                (None, None) => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::Text(text),
            Json::Array(values) => {
                let mut gathered = Gathered::default();
                values
                    .into_iter()
                    .for_each(|value| gathered.push(Self::from_json(value)));
                gathered.finish()
            }
            Json::Object(members) => Self::object(
                members
                    .into_iter()
                    .map(|(key, value)| (key, Self::from_json(value))),
            ),
        }
    }

    /// As a JSON document on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nil => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::UInt(value) => serializer.serialize_u64(*value),
            Self::Float(value) => Float(*value).serialize(serializer),
            Self::Double(value) => Double(*value).serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(octets) => Octets(octets).serialize(serializer),
            Self::Array(values) => serializer.collect_seq(values),
            Self::Doubles(values) => {
                serializer.collect_seq(values.iter().map(|&value| Double(value)))
            }
            Self::Floats(values) => {
                serializer.collect_seq(values.iter().map(|&value| Float(value)))
            }
            Self::Ints(values) => serializer.collect_seq(values),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// A number as JSON; what JSON does not have is a string, as XSD spells it.
struct Double(f64);

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(special(self.0))
        }
    }
}

/// The same of 32 bits.
struct Float(f32);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f32(self.0)
        } else {
            serializer.serialize_str(special(self.0.into()))
        }
    }
}

fn special(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "INF",
        f64::NEG_INFINITY => "-INF",
        _ => "NaN",
    }
}

/// Octets as base64.
struct Octets<'o>(&'o [u8]);

impl Serialize for Octets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::new();
        binary::write_base64(self.0, &mut text);
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Double(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_bytes<E>(self, octets: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(octets.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut gathered = Gathered::default();
        while let Some(value) = sequence.next_element()? {
            gathered.push(value);
        }
        Ok(gathered.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// The values of an array so far, as numbers as long as all are.
#[derive(Default)]
enum Gathered {
    #[default]
    Empty,
    Ints(Vec<i64>),
    Doubles(Vec<f64>),
    Mixed(Vec<Value>),
}

impl Gathered {
    fn push(&mut self, value: Value) {
        match (&mut *self, value) {
            (Self::Empty, Value::Int(value)) => *self = Self::Ints(vec![value]),
            (Self::Empty, Value::Double(value)) => *self = Self::Doubles(vec![value]),
            (Self::Ints(values), Value::Int(value)) => values.push(value),
            (Self::Doubles(values), Value::Double(value)) => values.push(value),
            // A writer of JSON may leave off `.0`.
            (Self::Doubles(values), Value::Int(value)) if is_exact(value) => {
                values.push(value as f64);
            }
            (Self::Ints(values), Value::Double(value))
                if values.iter().all(|&value| is_exact(value)) =>
            {
                let doubles = values
                    .iter()
                    .map(|&value| value as f64)
                    .chain([value])
                    .collect();
                *self = Self::Doubles(doubles);
            }
            (Self::Mixed(values), value) => values.push(value),
            (_, value) => {
                let mut values = match std::mem::take(self).finish() {
                    Value::Array(values) => values,
                    Value::Ints(values) => values.into_iter().map(Value::Int).collect(),
                    Value::Doubles(values) => values.into_iter().map(Value::Double).collect(),
                    one => vec![one],
                };
                values.push(value);
                *self = Self::Mixed(values);
            }
        }
    }

    fn finish(self) -> Value {
        match self {
            Self::Empty => Value::Array(Vec::new()),
            Self::Ints(values) => Value::Ints(values),
            Self::Doubles(values) => Value::Doubles(values),
            Self::Mixed(values) => Value::Array(values),
        }
    }
}

/// Whether an `f64` holds this integer exactly, and no other integer rounds to it.
fn is_exact(value: i64) -> bool {
    value.unsigned_abs() < 1 << 53
}
