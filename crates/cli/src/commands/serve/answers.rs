//! The answers of a service without code: samples, echoes, files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bsoap::codec::Object;
use bsoap::{Message, Record, Value};
use bsoap_protocol::{Fault, Target};
use bsoap_schema::Definitions;

use crate::attachments::{self, Spelling};
use crate::error::Failure;
use crate::input;

/// How answers are made.
#[derive(Clone, Debug)]
pub(super) enum Answers {
    Sample,
    Echo,
    Folder(PathBuf),
}

/// Reports at once an answer that belongs to no operation.
pub(super) fn check_folder(folder: &Path, definitions: &Definitions) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::input(format!("cannot read folder {}", folder.display())).because(error)
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if is_json
            && definitions
                .ports()
                .all(|(_, port)| port.binding.operation(name).is_none())
        {
            return Err(Failure::input(format!(
                "{} answers an operation that the WSDL does not have: remove or rename it",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Why an answer could not be made: for the log and, as a fault, for the client.
#[derive(Debug)]
struct Unanswerable(String);

impl Unanswerable {
    fn of(error: impl std::error::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<Unanswerable> for Fault {
    fn from(problem: Unanswerable) -> Self {
        Self::receiver(problem.0)
    }
}

/// The answer to a request; a fault if the answer could not be made, or a file of --answers says so.
pub(super) fn answer(answers: &Answers, message: &Message) -> Result<Record, Fault> {
    let target = message.target();
    let sampled = || {
        Ok(record(
            target,
            target.sample_answer().map_err(Unanswerable::of)?,
        )?)
    };
    let folder = match answers {
        Answers::Sample => return sampled(),
        Answers::Echo => {
            return match echoed(target, message.value())? {
                Some(record) => Ok(with_documents(record, message)),
                None => sampled(),
            };
        }
        Answers::Folder(folder) => folder,
    };
    let file = folder.join(format!("{}.json", target.operation().name));
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return sampled(),
        Err(error) => return Err(Unanswerable(format!("{}: {error}", file.display())).into()),
    };
    let name = file.display().to_string();
    let value =
        input::parse_json(&text, &name).map_err(|failure| Unanswerable(failure.report()))?;
    if let Some(given) = value.get("@fault") {
        return Err(fault(given));
    }
    let spelling = Spelling::of(target.plan());
    let value = attachments::of_folder(Value::from_json(value), spelling, folder);
    let value = value.map_err(|failure| Unanswerable(failure.report()))?;
    let record = record(target, value);
    Ok(record.map_err(|Unanswerable(problem)| Unanswerable(format!("{name}: {problem}")))?)
}

/// An answer with the attachments of the request that it refers to by their URIs (`swaRef`).
fn with_documents(mut record: Record, message: &Message) -> Record {
    if message.attachments().is_empty() {
        return record;
    }
    let mut uris = Vec::new();
    collect_uris(&message.target().response_value(&record), &mut uris);
    for uri in uris {
        if let Some(document) = message.attachment(&uri) {
            record.attach(document);
        }
    }
    record
}

/// The URIs of attachments in a value. (A decoder bounds the depth.)
fn collect_uris(value: &Value, uris: &mut Vec<String>) {
    match value {
        Value::Text(text) if text.starts_with("cid:") => uris.push(text.to_string()),
        Value::Array(values) => values.iter().for_each(|value| collect_uris(value, uris)),
        Value::Object(members) => members
            .iter()
            .for_each(|(_, value)| collect_uris(value, uris)),
        _ => {}
    }
}

/// A fault from a file: an object with `code` (`Sender` or `Receiver`), `reason` and `detail`, each optional.
fn fault(given: &serde_json::Value) -> Fault {
    let reason = given["reason"].as_str().unwrap_or("the service failed");
    let fault = match given["code"].as_str() {
        Some("Sender" | "Client") => Fault::sender(reason),
        _ => Fault::receiver(reason),
    };
    match given.get("detail") {
        Some(detail) => fault.with_detail(Value::from_json(detail.clone())),
        None => fault,
    }
}

/// The Record of an answer.
fn record(target: &Target, value: Value) -> Result<Record, Unanswerable> {
    target.response(value).map_err(|error| {
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
            error.source()
        });
        Unanswerable(
            causes
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(": "),
        )
    })
}

/// An answer of the request's members: those of the same name; if both have one member, that one. Members that the request does
/// not have are left out, unless the answer must have them.
///
/// # Errors
/// If there can be no sample of the answer.
fn echoed(target: &Target, request: Value) -> Result<Option<Record>, Unanswerable> {
    let given = match request {
        Value::Object(given) => given,
        Value::Nil => Object::new(),
        _ => return Ok(None),
    };
    let sampled = target.sample_answer().map_err(Unanswerable::of)?;
    let Value::Object(sampled) = sampled else {
        return Ok(record(target, Value::Object(given)).ok());
    };
    Ok(echo_of(target, &given, &sampled))
}

/// The answer made of the members given and those of a sample.
fn echo_of(target: &Target, given: &Object, sampled: &Object) -> Option<Record> {
    let is_argument = |name: &&str| !name.starts_with('@');
    let same = |(name, _): &(&str, &Value)| given.get(name).is_some();
    if !sampled.iter().any(|member| same(&member))
        && let ([only], [place]) = (
            &given.keys().filter(is_argument).collect::<Vec<_>>()[..],
            &sampled.keys().collect::<Vec<_>>()[..],
        )
        && let Some(value) = given.get(only)
        && let Ok(record) = record(
            target,
            Value::object([((*place).to_owned(), value.clone())]),
        )
    {
        return Some(record);
    }
    let of_request: Object = sampled
        .iter()
        .filter(same)
        .filter_map(|(name, _)| Some((name.to_owned(), given.get(name)?.clone())))
        .collect();
    let completed: Object = sampled
        .iter()
        .map(|(name, sample)| (name.to_owned(), given.get(name).unwrap_or(sample).clone()))
        .collect();
    [of_request, completed]
        .into_iter()
        .find_map(|members| record(target, Value::Object(members)).ok())
}
