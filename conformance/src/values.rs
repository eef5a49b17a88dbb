//! Whether a value in another toolkit's convention is the same as ours.
//!
//! | theirs | ours |
//! |---|---|
//! | node-soap: `{"attributes": {"p:a": 1}, "$value": 2}` | `{"@a": 1, "#text": 2}` |
//! | PHP: `{"a": 1, "_": 2}` | `{"@a": 1, "#text": 2}` |
//! | one value where there may be more | an array of one |
//! | an array | an object whose only member is an array (an array of SOAP's encoding) |
//! | `null`, `{}`, `[]`, `""`, or nothing at all | any of these |
//! | `{"attributes": {"a": 1}}`, an attribute that is not declared | `{"@any": {"a": 1}}` |
//! | `"1"` | `1` |
//! | a date, as JavaScript's `JSON.stringify` writes it | its text, in any form that JavaScript reads |
//! | minutes of a day, which a deserializer of node-soap's tests makes of a text | that text, `02:30` |
//! | `{"attributes": {"SOAP-ENC:arrayType": "xsd:int[2]"}}` | nothing, if it only counts the items |
//!
//! Ours may say more by `@type` and `#order`. What we keep as XML is read to node-soap's form before.

use bsoap_datatypes::DateTime;
use bsoap_schema::XSI_NAMESPACE;
use roxmltree::{Attribute, Document, Node};
use serde_json::{Map, Value};

/// Compares theirs with ours.
///
/// # Errors
/// The first difference.
pub fn same(theirs: &Value, ours: &Value) -> Result<(), String> {
    same_at("", theirs, ours)
}

fn same_at(path: &str, theirs: &Value, ours: &Value) -> Result<(), String> {
    match (theirs, ours) {
        _ if is_nothing(theirs) && is_nothing(ours) => Ok(()),
        (Value::Array(theirs), Value::Array(ours)) => same_arrays(path, theirs, ours),
        (_, Value::Array(ours)) => same_arrays(path, std::slice::from_ref(theirs), ours),
        (Value::Array(members), Value::Object(object)) => match only_array(object) {
            Some(ours) => same_arrays(path, members, &items_of(ours)),
            None => same_arrays(path, members, std::slice::from_ref(ours)),
        },
        (Value::Array(members), _) => same_arrays(path, members, std::slice::from_ref(ours)),
        (Value::Object(theirs), Value::Object(object)) => match xml_in(ours) {
            Some(xml) => same_objects(path, theirs, xml.as_object().unwrap_or(object)),
            None => same_objects(path, theirs, object),
        },
        (Value::Object(members), _) => match text_of(members) {
            Some(text) => same_at(path, text, ours),
            None => Err(differ(path, theirs, ours)),
        },
        (_, Value::Object(members)) => match members.get("#text").or_else(|| only_array(members)) {
            Some(text)
                if members
                    .keys()
                    .all(|key| key == "@type" || !key.starts_with('@')) =>
            {
                same_at(path, theirs, text)
            }
            _ => Err(differ(path, theirs, ours)),
        },
        _ if same_scalar(&scalar(theirs), &scalar(ours)) => Ok(()),
        _ => Err(differ(path, theirs, ours)),
    }
}

fn same_arrays(path: &str, theirs: &[Value], ours: &[Value]) -> Result<(), String> {
    if theirs.len() != ours.len() {
        let (theirs, ours) = (theirs.len(), ours.len());
        return Err(format!("{path}: expected {theirs} values, found {ours}"));
    }
    theirs
        .iter()
        .zip(ours)
        .enumerate()
        .try_for_each(|(index, (theirs, ours))| {
            same_at(&format!("{path}[{}]", index + 1), theirs, ours)
        })
}

fn same_objects(
    path: &str,
    theirs: &Map<String, Value>,
    ours: &Map<String, Value>,
) -> Result<(), String> {
    let mut left: Map<String, Value> = ours.clone();
    if let Some(Value::Object(undeclared)) = left.remove("@any") {
        let undeclared = undeclared.into_iter();
        left.extend(undeclared.map(|(name, value)| (format!("@{name}"), value)));
    }
    for (key, value) in theirs {
        let attributes = match (key.as_str(), value) {
            ("attributes", Value::Object(attributes)) => attributes.clone(),
            _ => Map::new(),
        };
        for (name, value) in &attributes {
            let key = format!("@{}", local(name));
            if key != "@type" || !name.contains(':') {
                let ours = left.remove(&key).unwrap_or(Value::Null);
                if key == "@arrayType" && ours.is_null() && counts(value, theirs) {
                    continue;
                }
                same_at(&format!("{path}/{key}"), value, &ours)?;
            }
        }
        if !attributes.is_empty() {
            continue;
        }
        let names = match key.as_str() {
            "$value" | "_" => vec!["#text".to_owned()],
            _ => vec![local(key).to_owned(), format!("@{}", local(key))],
        };
        let ours = names.iter().find_map(|name| left.remove(name));
        same_at(
            &format!("{path}/{key}"),
            value,
            &ours.unwrap_or(Value::Null),
        )?;
    }
    let is_more = |(key, value): &(&String, &Value)| {
        !["@type", "#order"].contains(&key.as_str()) && !is_nothing(value)
    };
    match left.iter().find(is_more) {
        Some((key, value)) => Err(format!("{path}/{key}: expected nothing, found {value}")),
        None => Ok(()),
    }
}

/// Whether an `arrayType` says the number of items of an array, which is its only child.
fn counts(array_type: &Value, array: &Map<String, Value>) -> bool {
    let size = array_type.as_str().and_then(|it| it.split_once('['));
    let mut children = array.iter().filter(|(key, _)| *key != "attributes");
    let count = children.next().map_or(0, |(_, items)| match items {
        Value::Array(items) => items.len(),
        _ => 1,
    });
    children.next().is_none() && size.is_some_and(|(_, size)| size == format!("{count}]"))
}

/// The array of an object that has nothing else.
fn only_array(object: &Map<String, Value>) -> Option<&Value> {
    let mut children = object.iter().filter(|(key, _)| !key.starts_with('@'));
    let (_, only) = children.next()?;
    (only.is_array() && children.next().is_none()).then_some(only)
}

/// The items of an array; those of other names than the schema's are kept as XML.
fn items_of(ours: &Value) -> Vec<Value> {
    let read = |item: &Value| {
        let document = Document::parse(item.as_str()?).ok()?;
        Some(object_of(document.root_element()))
    };
    let items = ours.as_array().into_iter().flatten();
    items
        .map(|item| read(item).unwrap_or_else(|| item.clone()))
        .collect()
}

/// The text of an element whose attributes we do not keep.
fn text_of(members: &Map<String, Value>) -> Option<&Value> {
    let is_type = |attributes: &Map<String, Value>| attributes.keys().all(|key| key.contains(':'));
    match members.get("attributes") {
        None => {}
        Some(Value::Object(attributes)) if is_type(attributes) => {}
        Some(_) => return None,
    }
    members.get("$value").or_else(|| members.get("_"))
}

/// The content of `anyType` that we keep as XML, in node-soap's form.
fn xml_in(ours: &Value) -> Option<Value> {
    let pieces = ours
        .get("#mixed")
        .or_else(|| ours.get("#any"))?
        .as_array()?;
    let xml: String = pieces
        .iter()
        .map(|piece| piece.get("#any").unwrap_or(piece))
        .filter_map(Value::as_str)
        .collect();
    let document = format!("<any>{xml}</any>");
    let document = Document::parse(&document).ok()?;
    let mut read = match object_of(document.root_element()) {
        Value::Object(read) => read,
        text => Map::from_iter([("#text".to_owned(), text)]),
    };
    let others = ours
        .as_object()?
        .iter()
        .filter(|(key, _)| !key.starts_with('#'));
    read.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    Some(Value::Object(read))
}

fn object_of(node: Node<'_, '_>) -> Value {
    let mut object = Map::new();
    let is_meant = |attribute: &Attribute<'_, '_>| attribute.namespace() != Some(XSI_NAMESPACE);
    for attribute in node.attributes().filter(is_meant) {
        object.insert(format!("@{}", attribute.name()), attribute.value().into());
    }
    for child in node.children().filter(Node::is_element) {
        let name = child.tag_name().name().to_owned();
        let value = object_of(child);
        match object.get_mut(&name) {
            Some(Value::Array(values)) => values.push(value),
            _ => drop(object.insert(name, Value::Array(vec![value]))),
        }
    }
    match node.text().map(str::trim) {
        Some(text) if !text.is_empty() && object.is_empty() => text.into(),
        Some(text) if !text.is_empty() => {
            object.insert("#text".into(), text.into());
            Value::Object(object)
        }
        _ => Value::Object(object),
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.iter().all(is_nothing),
        Value::Object(members) => members
            .iter()
            .all(|(key, value)| key == "@type" || is_nothing(value)),
        _ => false,
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    }
}

fn same_scalar(theirs: &str, ours: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let midnight = |date: &str| format!("{date}T00:00:00.000Z");
    let millis = |time: &str| time.strip_suffix('Z').map(|time| format!("{time}.000Z"));
    // A float prints as the double that it is.
    let is_same = |theirs: f64, ours: f64| {
        theirs == ours || f64::from(ours as f32) == ours && theirs as f32 == ours as f32
    };
    theirs == ours
        || number(theirs).is_some_and(|it| number(ours).is_some_and(|ours| is_same(it, ours)))
        || theirs == midnight(ours)
        || minutes(ours).is_some_and(|it| theirs == it.to_string())
        || javascript_date(ours).is_some_and(|it| theirs == it)
        || millis(ours).is_some_and(|ours| ours == theirs)
}

/// The minutes of a day at a time `02:30`.
fn minutes(time: &str) -> Option<u32> {
    let (hours, minutes) = time.split_once(':')?;
    Some(60 * hours.parse::<u32>().ok()? + minutes.parse::<u32>().ok()?)
}

/// The instant of `Thu Jun 19 2014 19:04:12 GMT-0700 (PDT)`, the form of JavaScript's `Date`, in UTC.
fn javascript_date(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split(' ').collect();
    let &[_, month, day, year, time, zone, ..] = &words[..] else {
        return None;
    };
    let month = 1 + MONTHS.iter().position(|it| *it == month)?;
    let zone = zone.strip_prefix("GMT")?;
    let zone = format!("{}:{}", zone.get(..3)?, zone.get(3..5)?);
    let local = DateTime::parse(&format!("{year}-{month:02}-{day}T{time}{zone}")).ok()?;
    Some(local.canonical().replace('Z', ".000Z"))
}

fn differ(path: &str, theirs: &Value, ours: &Value) -> String {
    format!("{path}: expected {theirs}, found {ours}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conventions_are_different_words_for_the_same() {
        for (theirs, ours) in [
            (
                json!({"attributes": {"p:a": "1"}, "$value": "x"}),
                json!({"@a": 1, "#text": "x"}),
            ),
            (json!({"a": 1, "_": 2}), json!({"@a": 1, "#text": 2})),
            (json!({"a": {"b": 1}}), json!({"a": [{"b": 1, "c": null}]})),
            (json!([1, 2]), json!({"item": [1, 2]})),
            (json!(null), json!({"item": []})),
            (json!({"a": "1.10"}), json!({"a": 1.1})),
            (
                json!({"x": {"attributes": {"i": "7"}}}),
                json!({"#any": ["<x i='7'/>"]}),
            ),
        ] {
            assert_eq!(same(&theirs, &ours), Ok(()), "{theirs} {ours}");
        }
    }

    #[test]
    fn what_differs_is_reported_with_its_path() {
        for (theirs, ours) in [
            (json!({"a": {"b": 1}}), json!({"a": {"b": 2}})),
            (json!({"a": {}}), json!({"a": {"b": 2}})),
            (json!({"a": [1, 2]}), json!({"a": [1]})),
            (json!({"attributes": {"a": 1}}), json!({})),
        ] {
            let report = same(&theirs, &ours).expect_err("they differ");
            assert!(report.starts_with('/'), "{report}");
        }
    }
}
