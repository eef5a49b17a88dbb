//! What serde reads and writes for generated types, where a derive would not follow the convention of JSON.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, SerializeMap as _, Serializer};

use crate::record::kept;
use crate::value::build::leaf::text_of;
use crate::value::lexical::AsText;
use crate::value::view::tree::kept_attributes;
use crate::value::{Object, Value};

/// The XML of wildcards: an array of texts. `#[serde(rename = "#any", with = "bsoap::typed::any")]`.
pub mod any {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    /// What holds the elements of a wildcard: a `String`, an `Option` or a `Vec` of it.
    pub trait Fragments: Sized {
        /// The elements.
        fn all(&self) -> impl Iterator<Item = &String>;

        /// The same of these elements; `None` if there are too many or too few.
        fn of(fragments: Vec<String>) -> Option<Self>;
    }

    impl Fragments for String {
        fn all(&self) -> impl Iterator<Item = &String> {
            std::iter::once(self)
        }

        fn of(fragments: Vec<String>) -> Option<Self> {
            <[String; 1]>::try_from(fragments).ok().map(|[one]| one)
        }
    }

    impl Fragments for Option<String> {
        fn all(&self) -> impl Iterator<Item = &String> {
            self.iter()
        }

        fn of(mut fragments: Vec<String>) -> Option<Self> {
            let one = fragments.pop();
            fragments.is_empty().then_some(one)
        }
    }

    impl Fragments for Vec<String> {
        fn all(&self) -> impl Iterator<Item = &String> {
            self.iter()
        }

        fn of(fragments: Vec<String>) -> Option<Self> {
            Some(fragments)
        }
    }

    /// Serializes the elements.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Fragments, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.all().collect::<Vec<_>>().serialize(serializer)
    }

    /// Deserializes the elements.
    ///
    /// # Errors
    /// If their number is not one that the field has place for.
    pub fn deserialize<'de, T: Fragments, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let fragments = Vec::deserialize(deserializer)?;
        let count = fragments.len();
        T::of(fragments).ok_or_else(|| {
            let found = format!("{count} elements");
            serde::de::Error::invalid_value(serde::de::Unexpected::Other(&found), &"one element")
        })
    }
}

/// The attributes of `anyAttribute`: an object. `#[serde(rename = "@any", with = "bsoap::typed::any_attribute")]`.
pub mod any_attribute {
    use super::*;

    /// Serializes `<a …/>`.
    ///
    /// # Errors
    /// If the text is no such element.
    pub fn serialize<S: Serializer>(xml: &str, serializer: S) -> Result<S::Ok, S::Error> {
        match kept_attributes(xml) {
            Some(attributes) => attributes.serialize(serializer),
            None if xml.is_empty() => Object::new().serialize(serializer),
            None => Err(S::Error::custom("any_attribute is not an element <a …/>")),
        }
    }

    /// Deserializes `<a …/>`.
    ///
    /// # Errors
    /// If it is no object of texts.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        let attributes = Value::deserialize(deserializer)?;
        written(&attributes)
            .ok_or_else(|| D::Error::custom("the attributes under @any are not texts"))
    }

    /// Attributes as `<a …/>`.
    pub(super) fn written(attributes: &Value) -> Option<String> {
        let mut parts = Vec::new();
        for (name, value) in attributes.as_object()?.iter() {
            let (namespace, local) = crate::expanded::split(name).unwrap_or(("", name));
            parts.push((namespace, local, value.as_str()?));
        }
        kept::write(parts.into_iter()).ok()
    }
}

/// The content of an `anyType`: its inner XML under `#any`, or a text alone.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_xml<S: Serializer>(
    attributes: &str,
    xml: &str,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let attributes = kept_attributes(attributes);
    if attributes.is_none() && !xml.contains(['<', '&']) {
        return serializer.serialize_str(xml);
    }
    let mut members = serializer.serialize_map(None)?;
    if let Some(attributes) = attributes {
        members.serialize_entry("@any", &attributes)?;
    }
    if !xml.is_empty() {
        members.serialize_entry("#any", &[xml])?;
    }
    members.end()
}

/// The attributes (as `<a …/>`) and the inner XML of an `anyType`.
///
/// # Errors
/// If it is neither a simple value nor an object with nothing but `@any` and `#any`.
pub fn deserialize_xml<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<(String, String), D::Error> {
    let wrong = || D::Error::custom("expected a text, or XML under #any");
    match Value::deserialize(deserializer)? {
        Value::Object(members) => {
            let attributes = members
                .get("@any")
                .map_or(Some(String::new()), any_attribute::written);
            let pieces = members
                .get("#any")
                .map_or(&[][..], |pieces| pieces.as_array().unwrap_or_default());
            let xml: Option<String> = pieces.iter().map(Value::as_str).collect();
            attributes.zip(xml).ok_or_else(wrong)
        }
        value => escaped(&value)
            .map(|xml| (String::new(), xml))
            .ok_or_else(wrong),
    }
}

/// A simple value as XML.
fn escaped(value: &Value) -> Option<String> {
    let mut xml = Vec::new();
    bsoap_xml::escape_text(&text_of(value)?, &mut xml).ok()?;
    String::from_utf8(xml).ok()
}

/// Serializes a value of a derived type: an object whose member `key` is the name of the type.
///
/// # Errors
/// If the value cannot be serialized.
pub fn serialize_derived<T: Serialize, S: Serializer>(
    (key, name): (&str, &str),
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let value = Value::from_serialize(value).map_err(S::Error::custom)?;
    let mut members = serializer.serialize_map(None)?;
    members.serialize_entry(key, name)?;
    match &value {
        Value::Object(object) => {
            object
                .iter()
                .try_for_each(|(key, value)| members.serialize_entry(key, value))?;
        }
        simple => members.serialize_entry("#text", simple)?,
    }
    members.end()
}

/// A value of a type or of one derived from it: its name if it has one among `names`, and its members without the name.
pub fn take_type<'n>(mut value: Value, names: &[(&str, &'n str)]) -> (Option<&'n str>, Value) {
    let Value::Object(object) = &mut value else {
        return (None, value);
    };
    let is_given =
        |(key, name): &&(&str, &str)| object.get(key).and_then(Value::as_str) == Some(*name);
    let found = names.iter().find(is_given).copied();
    if let Some((key, _)) = found {
        object.remove(key);
    }
    (found.map(|(_, name)| name), value)
}

/// The Rust value of members, of which a simple value is `#text`.
///
/// # Errors
/// If they are not those of the type.
pub fn from_members<T: DeserializeOwned, E: serde::de::Error>(value: &Value) -> Result<T, E> {
    let text = value
        .as_object()
        .filter(|object| object.len() == 1)
        .and_then(|object| object.get("#text"));
    match (value.deserialize_as(), text) {
        (Ok(value), _) => Ok(value),
        (Err(_), Some(text)) => text.deserialize_as().map_err(E::custom),
        (Err(error), None) => Err(E::custom(error)),
    }
}

/// Fields of types of other crates: `#[serde(with = "bsoap::typed::as_text")]`.
pub mod as_text {
    use super::{AsText, Deserializer, Serializer};

    /// Serializes lexical forms.
    ///
    /// # Errors
    /// If a value has no lexical form, or the serializer fails.
    pub fn serialize<T: AsText, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    /// Deserializes lexical forms.
    ///
    /// # Errors
    /// If the type cannot represent a value, or the deserializer fails.
    pub fn deserialize<'de, T: AsText, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }
}

/// A value of a type of another crate, as its lexical form.
#[derive(Debug)]
pub struct Text<T>(pub T);

impl<T: AsText> Serialize for Text<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: AsText> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

/// The elements of a wildcard.
#[derive(Debug)]
pub struct Any<T>(pub T);

impl<T: any::Fragments> Serialize for Any<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        any::serialize(self.0, serializer)
    }
}

impl<'de, T: any::Fragments> Deserialize<'de> for Any<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        any::deserialize(deserializer).map(Self)
    }
}

/// Serializes an object with one member: a branch of a choice.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_member<T: Serialize, S: Serializer>(
    key: &str,
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(Some(1))?;
    members.serialize_entry(key, value)?;
    members.end()
}

/// The members of an object, of which some are a branch of a choice.
///
/// # Errors
/// If it is no object.
pub fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Object(members) => Ok(members),
        other => Err(D::Error::custom(format_args!(
            "expected an object, found {}",
            other.kind()
        ))),
    }
}

/// An item of mixed content: a text, or the members of an object.
///
/// # Errors
/// If it is neither.
pub fn text_or_members<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Result<String, Object>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Text(text) => Ok(Ok(text.into())),
        Value::Object(members) => Ok(Err(members)),
        other => Err(D::Error::custom(format_args!(
            "expected a text or an object, found {}",
            other.kind()
        ))),
    }
}

/// Whether an object has one of these members.
pub fn has_any(members: &Object, keys: &[&str]) -> bool {
    keys.iter().any(|key| members.get(key).is_some())
}

/// The Rust value of a member.
///
/// # Errors
/// If the value does not have what the type wants.
pub fn from_value<T: DeserializeOwned, E: serde::de::Error>(value: &Value) -> Result<T, E> {
    value.deserialize_as().map_err(E::custom)
}

/// The error for an object of which no branch of a choice is made.
pub fn no_branch<E: serde::de::Error>(name: &str) -> E {
    E::custom(format_args!("no member belongs to {name}"))
}

/// Deserializes the text of an enumeration.
///
/// # Errors
/// If the enumeration is closed and does not list it.
pub fn deserialize_parsed<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
    D: Deserializer<'de>,
{
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    text.parse().map_err(D::Error::custom)
}
