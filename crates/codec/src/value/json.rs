//! Values as JSON, by the convention of `docs/design/between-crates.md`.
//!
//! INF and NaN, which JSON does not have, are strings. Octets are in the lexical form of their type: base64 or hexadecimal digits.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use bsoap_datatypes::binary;

use crate::attachment::Attachment;
use crate::value::{Object, Text, Value};

impl Value {
    /// The value of a JSON document.
    ///
    /// # Errors
    /// If it is not JSON, or nests too deep.
    pub fn from_json_str(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// The value of parsed JSON.
    pub fn from_json(json: serde_json::Value) -> Self {
        Self::deserialize(json).unwrap_or_default()
    }

    /// The value as a JSON document on one line.
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
            Self::Bytes(octets) => Base64(octets).serialize(serializer),
            Self::Hex(octets) => Hex(octets).serialize(serializer),
            Self::Attachment(attachment) => Attached(attachment).serialize(serializer),
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

/// An attachment in JSON: an object that names it.
pub(crate) struct Attached<'a>(pub(crate) &'a Attachment);

impl Serialize for Attached<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(attachment) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(ATTACHMENT, attachment.content_id().unwrap_or_default())?;
        if let Some(media_type) = attachment.media_type() {
            map.serialize_entry("@mediaType", media_type)?;
        }
        if let Some(length) = attachment.len() {
            map.serialize_entry("@length", &length)?;
        }
        map.end()
    }
}

/// The member of an object in JSON that names an attachment.
const ATTACHMENT: &str = "@attachment";

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Appends a text as a JSON string.
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let clean = unescaped(rest);
        out.extend_from_slice(&rest[..clean]);
        let Some(&byte) = rest.get(clean) else { break };
        escape(byte, out);
        rest = &rest[clean + 1..];
    }
    out.push(b'"');
}

/// The number of bytes before the first that must be escaped: `"`, `\\` and control characters.
#[inline]
fn unescaped(text: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    // The highest bit of each byte that is 0 is set; also of some bytes above one that is 0, so only the first counts.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * u64::from(b' ')) & !word;
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
        let found = (control | quote | backslash) & (ONES << 7);
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let is_escaped = |&byte: &u8| byte < b' ' || byte == b'"' || byte == b'\\';
    let at = rest.iter().position(is_escaped).unwrap_or(rest.len());
    words.len() * 8 + at
}

#[cold]
fn escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => return out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// A 64-bit number as JSON; INF and NaN are strings with their XML Schema forms.
pub(super) struct Double(pub(super) f64);

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(special(self.0))
        }
    }
}

/// A 32-bit number as JSON.
pub(super) struct Float(pub(super) f32);

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
pub(super) struct Base64<'o>(pub(super) &'o [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::new();
        binary::write_base64(self.0, &mut text);
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

/// Octets as hexadecimal digits.
pub(super) struct Hex<'o>(pub(super) &'o [u8]);

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::new();
        binary::write_hex(self.0, &mut text);
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

    fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_bytes<E>(self, octets: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(octets.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element()? {
            values.push(value);
        }
        Ok(array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some((key, value)) = map.next_entry::<Key, Value>()? {
            object.insert(key.0, value);
        }
        Ok(Value::Object(object))
    }
}

/// The key of a member, read without a `String` in between.
struct Key(Text);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Self(Text::default()))
    }
}

impl Visitor<'_> for Key {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self, E> {
        Ok(Self(text.into()))
    }

    fn visit_bytes<E: serde::de::Error>(self, text: &[u8]) -> Result<Self, E> {
        let text = std::str::from_utf8(text).map_err(E::custom)?;
        Ok(Self(text.into()))
    }
}

/// An array of numbers, if all values are numbers; otherwise an array of values.
fn array(values: Vec<Value>) -> Value {
    let int = |value: &Value| match value {
        Value::Int(value) => Some(*value),
        _ => None,
    };
    let double = |value: &Value| match value {
        Value::Double(value) => Some(*value),
        // Some JSON writers omit `.0`.
        Value::Int(value) if is_exact(*value) => Some(*value as f64),
        _ => None,
    };
    if values.is_empty() {
        return Value::Array(values);
    }
    if let Some(ints) = values.iter().map(int).collect() {
        return Value::Ints(ints);
    }
    match values.iter().map(double).collect() {
        Some(doubles) => Value::Doubles(doubles),
        None => Value::Array(values),
    }
}

/// Whether an `f64` holds this integer exactly, and no other integer rounds to it.
fn is_exact(value: i64) -> bool {
    value.unsigned_abs() < 1 << 53
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_serde_json_does() {
        for byte in 0..=0x7fu8 {
            for at in 0..20 {
                let mut text = "é".to_owned() + &"a".repeat(17);
                text.insert(
                    if at == 0 { 0 } else { at + 1 }.min(text.len()),
                    byte.into(),
                );
                let mut out = Vec::new();
                string(&text, &mut out);
                assert_eq!(
                    out,
                    serde_json::to_vec(&text).unwrap_or_default(),
                    "{text:?}"
                );
            }
        }
    }
}
