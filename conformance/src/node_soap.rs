//! node-soap's samples: what it sends for given arguments, and what it makes of given answers.
//!
//! A case is a folder `<operation>__<what>` with a WSDL. Its arguments and results are in node-soap's convention:
//! `attributes` beside children, text under `$value`, XML under `$xml`, a derived type under `xsi_type`.

use std::path::{Path, PathBuf};

use bsoap_codec::decode::{Deviation, Tolerance};
use bsoap_codec::{DecodeOptions, Value as Ours};
use bsoap_protocol::{Answer, Reply, Target};
use bsoap_schema::Body;
use serde_json::{Map, Value};

use crate::compare::{Rules, compare};
use crate::known::{Outcome, Score};
use crate::{message, values};

/// What is written for given arguments.
///
/// # Panics
/// If the folder of the cases cannot be read.
pub fn requests(folder: &Path) -> Score {
    run("node-soap-requests", folder, request)
}

/// What is read from given answers, in each mode: the deviations from their WSDLs that are accepted make the difference.
///
/// # Panics
/// If the folder of the cases cannot be read.
pub fn responses(folder: &Path) -> Vec<Score> {
    let modes = [Tolerance::Strict, Tolerance::Default, Tolerance::Lenient];
    let score = |mode: Tolerance| {
        let mut options = DecodeOptions::default();
        options.accepted = mode.into();
        let suite = format!("node-soap-responses-{mode}");
        run(&suite, folder, |case| response(case, options))
    };
    modes.into_iter().map(score).collect()
}

fn run(suite: &str, folder: &Path, judge: impl Fn(&Case) -> Outcome) -> Score {
    let mut score = Score::new(suite);
    let entries = std::fs::read_dir(folder.join("request-response-samples"));
    let mut folders: Vec<PathBuf> = entries
        .expect("the suite has its samples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    folders.sort();
    for folder in folders {
        let case = Case::new(folder);
        score.record(&case.name, judge(&case));
    }
    score
}

/// A folder of samples.
struct Case {
    folder: PathBuf,
    name: String,
    operation: String,
}

impl Case {
    fn new(folder: PathBuf) -> Self {
        let name = folder.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let operation = name.split("__").next().unwrap_or_default().to_owned();
        Self {
            folder,
            name,
            operation,
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.join(name)).ok()
    }

    fn json(&self, name: &str) -> Result<Value, String> {
        let text = self.text(name).unwrap_or_else(|| "null".to_owned());
        serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))
    }

    fn target(&self) -> Result<Target, String> {
        let definitions = message::definitions(&self.folder.join("soap.wsdl"))?;
        message::target(&definitions, &self.operation)
    }
}

fn request(case: &Case) -> Outcome {
    let Some(expected) = case.text("request.xml") else {
        return Outcome::Skip("without a request");
    };
    let written = case.json("request.json").and_then(|arguments| {
        let arguments = Ours::from_json(ours(&arguments));
        message::request(&case.target()?, arguments)
    });
    written
        .and_then(|found| {
            compare(&expected, &found, Rules::Literal)
                .map_err(|difference| format!("{difference} in {found}"))
        })
        .into()
}

/// node-soap's convention in ours.
fn ours(theirs: &Value) -> Value {
    match theirs {
        Value::Array(values) => values.iter().map(ours).collect(),
        Value::Object(members) => {
            if let Some(xml) = members.get("$xml") {
                return xml.clone();
            }
            let mut object = Map::new();
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("attributes", Value::Object(attributes)) => {
                        object.extend(attributes.iter().map(attribute));
                    }
                    ("$value", value) => drop(object.insert("#text".to_owned(), value.clone())),
                    (key, value) => drop(object.insert(key.to_owned(), ours(value))),
                }
            }
            Value::Object(object)
        }
        scalar => scalar.clone(),
    }
}

/// The results of a case whose option `valueKey` names the text of an element, with the usual name for it.
fn with_value_key(theirs: &Value, key: &str) -> Value {
    match theirs {
        Value::Array(values) => values.iter().map(|it| with_value_key(it, key)).collect(),
        Value::Object(members) => {
            let renamed = members.iter().map(|(name, value)| {
                let name = if name == key { "$value" } else { name };
                (name.to_owned(), with_value_key(value, key))
            });
            Value::Object(renamed.collect())
        }
        scalar => scalar.clone(),
    }
}

fn attribute((name, value): (&String, &Value)) -> (String, Value) {
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    match name.as_str() {
        "xsi_type" => {
            let name = format!("{{{}}}{}", text("xmlns"), text("type"));
            ("@xsi:type".to_owned(), name.into())
        }
        _ => (format!("@{name}"), value.clone()),
    }
}

fn response(case: &Case, options: DecodeOptions) -> Outcome {
    let Some(text) = case.text("response.xml") else {
        return Outcome::Skip("without a response");
    };
    let read = || {
        let text = message::root_of_package(&text)?;
        let reply = message::reply(&case.target()?, &text, options)?;
        let (found, expected) = match reply {
            Reply::Answer(answer) => (result(&answer)?, case.json("response.json")?),
            Reply::Accepted => (Value::Null, case.json("response.json")?),
            Reply::Fault(fault) => {
                let reason = fault.reason().to_owned();
                let expected = case.json("error_response.json")?;
                let said = expected.to_string();
                return match said.contains(&reason) {
                    true => Ok(()),
                    false => Err(format!("expected {said}, found the fault {reason}")),
                };
            }
        };
        let options = case.json("wsdl_options.json")?;
        let key = options["valueKey"].as_str();
        values::same(
            &key.map_or(expected.clone(), |key| with_value_key(&expected, key)),
            &found,
        )
    };
    read().into()
}

/// node-soap's result: without header blocks, and the content of a single part that is an element. Of an answer without Envelope,
/// the element with its name.
fn result(answer: &Answer) -> Result<Value, String> {
    let value = serde_json::to_value(content(answer)).map_err(|error| error.to_string())?;
    let mut warnings = answer.record().warnings().iter();
    let has_envelope = warnings.all(|it| it.deviation() != Deviation::MissingEnvelope);
    let body = answer.target().operation().output.as_ref();
    let element = body.and_then(|output| output.body.first_element());
    Ok(match element {
        Some(element) if !has_envelope => {
            let plan = answer.target().plan();
            let name = plan.vocabulary().local(plan.element(element).name);
            Value::Object(Map::from_iter([(name.to_owned(), value)]))
        }
        _ => value,
    })
}

fn content(answer: &Answer) -> Ours {
    let mut value = answer.value();
    let body = answer.target().operation().output.as_ref();
    if let Ours::Object(members) = &mut value {
        members.remove("@headers");
        // An rpc answer without its wrapper is the only part alone.
        let mut warnings = answer.record().warnings().iter();
        let has_wrapper = warnings.all(|it| it.deviation() != Deviation::OtherAnswer);
        let parts = match body.map(|output| &output.body) {
            Some(Body::Bare { parts }) => &parts[..],
            Some(Body::Rpc { parts, .. }) if !has_wrapper => &parts[..],
            _ => &[],
        };
        if let [part] = parts {
            return members.remove(&part.name).unwrap_or_default();
        }
    }
    value
}
