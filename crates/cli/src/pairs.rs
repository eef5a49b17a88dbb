//! Arguments on the command line: `key=value` pairs into a JSON value.
//!
//! | pair | means |
//! |---|---|
//! | `name=text` | a value as text; the schema gives it its type |
//! | `order.customer.name=x` | a member of a member (`\.` is a dot in a name) |
//! | `item=1 item=2` | the same key again: an array |
//! | `line[0].sku=x line[1].sku=y` | a member of an array's element |
//! | `key=@file` | the text of a file; if it is called `*.json`, the value in it (text that starts with `@`: `key=@@text`) |
//! | `key:=json` | a value as JSON: `key:=null`, `key:=[1,2]` |
//! | `key.@attachment=file` | a file that is sent beside the message, or as base64 text in it (`@bsoap:attachment` where `attachment` is an attribute) |

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::attachments::Spelling;
use crate::error::Failure;
use crate::limits::MAX_ELEMENTS;

/// Where header blocks are in arguments.
pub(crate) const HEADERS: &str = "@headers.";

/// Adds pairs to a value.
pub(crate) fn add(pairs: &[String], value: &mut Value, spelling: Spelling) -> Result<(), Failure> {
    for pair in pairs {
        let (path, given) = split(pair, spelling)?;
        let steps = steps(path).map_err(|problem| Failure::usage(format!("{pair}: {problem}")))?;
        place(value, &steps, given)
            .map_err(|problem| Failure::usage(format!("{pair}: {problem}")))?;
    }
    Ok(())
}

/// A pair's path and value.
fn split(pair: &str, spelling: Spelling) -> Result<(&str, Value), Failure> {
    let Some((path, text)) = pair.split_once('=') else {
        let pair = pair.trim_start_matches(HEADERS);
        let hint = match pair.ends_with(".json") || pair == "-" {
            true => format!("; for arguments from a file write --json=@{pair}").replace("@-", "-"),
            false => String::new(),
        };
        return Err(Failure::usage(format!(
            "{pair:?} is not an argument; expected key=value, such as name=Ada{hint}"
        )));
    };
    if let Some(path) = path.strip_suffix(':') {
        let value = serde_json::from_str(text).map_err(|error| {
            Failure::usage(format!(
                "the value of {pair} is not JSON; for text use = instead of :="
            ))
            .because(error)
        })?;
        return Ok((path, value));
    }
    match text.strip_prefix('@') {
        None => Ok((path, text.into())),
        Some(literal) if literal.starts_with('@') => Ok((path, literal.into())),
        Some(file) => Ok((path, file_value(Path::new(file), spelling)?)),
    }
}

fn file_value(file: &Path, spelling: Spelling) -> Result<Value, Failure> {
    let name = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::input(format!("cannot read {name}")).because(error))?;
    if file
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    {
        let value = crate::input::parse_json(&text, &name.to_string())?;
        crate::attachments::refuse_files(&value, spelling, &name.to_string())?;
        return Ok(value);
    }
    Ok(text.into())
}

/// A step of a path: a member by name, perhaps an element of it.
#[derive(Debug, PartialEq, Eq)]
struct PathStep {
    name: String,
    index: Option<usize>,
}

fn steps(path: &str) -> Result<Vec<PathStep>, String> {
    let mut names = vec![String::new()];
    let mut characters = path.chars();
    while let Some(c) = characters.next() {
        match c {
            '.' => names.push(String::new()),
            _ => names
                .last_mut()
                .unwrap_or(&mut String::new())
                .push(if c == '\\' {
                    characters.next().unwrap_or(c)
                } else {
                    c
                }),
        }
    }
    names.into_iter().map(step).collect()
}

fn step(name: String) -> Result<PathStep, String> {
    let step = match name
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['))
    {
        None => PathStep { name, index: None },
        Some((name, index)) => {
            let index = index.parse().ok().filter(|&index| index < MAX_ELEMENTS);
            PathStep {
                name: name.to_owned(),
                index: Some(index.ok_or("the index in brackets is not a number below 100000")?),
            }
        }
    };
    if step.name.is_empty() {
        Err("a name is empty; use \\. for a dot in a name".into())
    } else {
        Ok(step)
    }
}

/// Puts a value at the end of a path. A value that is there already becomes the first element of an array.
fn place(root: &mut Value, steps: &[PathStep], value: Value) -> Result<(), String> {
    let Some((last, steps)) = steps.split_last() else {
        return Ok(());
    };
    let mut here = root;
    for step in steps {
        here = element(member(here, &step.name)?, step.index)?;
    }
    let place = member(here, &last.name)?;
    if last.index.is_some() {
        *element(place, last.index)? = value;
        return Ok(());
    }
    match place {
        // New, or given as null: nothing to keep.
        Value::Null => *place = value,
        Value::Array(elements) => elements.push(value),
        first => *first = Value::Array(vec![first.take(), value]),
    }
    Ok(())
}

fn member<'v>(value: &'v mut Value, name: &str) -> Result<&'v mut Value, String> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(members) => Ok(members.entry(name).or_insert(Value::Null)),
        _ => Err(format!(
            "cannot set {name}: another argument gave its parent a value that is not an object"
        )),
    }
}

fn element(value: &mut Value, index: Option<usize>) -> Result<&mut Value, String> {
    let Some(index) = index else { return Ok(value) };
    if value.is_null() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(elements) => {
            let length = elements.len().max(index + 1);
            elements.resize(length, Value::Null);
            elements
                .get_mut(index)
                .ok_or_else(|| "no such element".to_owned())
        }
        _ => Err("an index needs an array, but another argument set another value there".into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(pairs: &[&str]) -> Result<Value, Failure> {
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.to_owned()).collect();
        let mut value = Value::Null;
        add(&pairs, &mut value, Spelling::default()).map(|()| value)
    }

    #[test]
    fn pairs_become_members_arrays_and_members_of_members() {
        let cases = [
            (vec!["a=1", "b=x=y"], json!({"a": "1", "b": "x=y"})),
            (
                vec!["a.b.c=1", "a.b.d="],
                json!({"a": {"b": {"c": "1", "d": ""}}}),
            ),
            (vec!["a=1", "a=2", "a=3"], json!({"a": ["1", "2", "3"]})),
            (
                vec!["l[1].n=b", "l[0].n=a"],
                json!({"l": [{"n": "a"}, {"n": "b"}]}),
            ),
            (
                vec!["a\\.b=1", "@id=7", "@headers.token=t"],
                json!({"a.b": "1", "@id": "7", "@headers": {"token": "t"}}),
            ),
            (
                vec!["a:=[1,2]", "b:=null", "c=@@x"],
                json!({"a": [1, 2], "b": null, "c": "@x"}),
            ),
        ];
        for (pairs, expected) in cases {
            assert_eq!(value(&pairs).unwrap(), expected, "{pairs:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for pairs in [
            vec!["a"],
            vec!["=1"],
            vec!["a..b=1"],
            vec!["a=1", "a.b=2"],
            vec!["a[x]=1"],
            vec!["a[999999999]=1"],
            vec!["a:={"],
            vec!["a=@no/such/file"],
        ] {
            assert!(value(&pairs).is_err(), "{pairs:?}");
        }
    }
}
