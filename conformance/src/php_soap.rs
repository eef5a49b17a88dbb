//! PHP's tests as data: what its client sends for given arguments, what its server reads, what an echo server answers.
//!
//! Arguments are PHP's values: one map for attributes, children and text (`_`), arrays for SOAP's arrays, floats for
//! integers (cut), times as numbers. The Plan says what is what.
//!
//! All cases must pass. Those on which a second implementation agrees, and those of literal and of encoded messages, have a
//! score each. In encoded messages, `xsi:type`, references and the attributes of arrays are not compared.

mod dump;
mod native;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use bsoap_codec::{DecodeOptions, Value as Ours};
use bsoap_protocol::{HEADERS, Reply, Target};
use bsoap_schema::{Body, Message};
use serde_json::{Map, Value};

use crate::compare::{Rules, compare};
use crate::known::{Outcome, Score};
use crate::{message, values};

use native::Native;

/// Runs all cases; gives their scores: those agreed on, the literal and the encoded ones.
///
/// # Panics
/// If the suite's lists cannot be read.
pub fn run(folder: &Path) -> [Score; 3] {
    let agreed = std::fs::read_to_string(folder.join("agreed_with_zeep.txt"));
    let agreed = agreed.expect("the suite has its list of agreed cases");
    let agreed: HashSet<&str> = agreed.lines().map(str::trim).collect();
    let mut scores = ["php-soap-agreed", "php-soap-literal", "php-soap-encoded"].map(Score::new);
    let mut loaded = BTreeMap::new();
    for path in cases(&folder.join("cases")) {
        let Some(case) = Case::read(folder, &path) else {
            continue;
        };
        let definitions = loaded
            .entry(case.wsdl.clone())
            .or_insert_with(|| message::definitions(&case.wsdl));
        let target = match definitions {
            Ok(definitions) => message::target(definitions, &case.operation),
            Err(error) => Err(error.clone()),
        };
        let is_literal = matches!(&target, Ok(target) if !target.operation().encoded);
        let score = match (agreed.contains(case.id.as_str()), is_literal) {
            (true, _) => &mut scores[0],
            (false, true) => &mut scores[1],
            (false, false) => &mut scores[2],
        };
        case.judge(target.as_ref().map_err(String::as_str), score);
    }
    scores
}

/// The folders of the cases that have a WSDL.
fn cases(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("schema"), root.join("interop")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        if entries.iter().any(|path| path.ends_with("case.json")) {
            found.push(folder);
        } else {
            folders.extend(entries.into_iter().filter(|path| path.is_dir()));
        }
    }
    found.sort();
    found
}

/// A folder of the suite.
struct Case {
    folder: PathBuf,
    id: String,
    operation: String,
    wsdl: PathBuf,
    arguments: Vec<Value>,
    headers: Vec<Value>,
}

impl Case {
    /// `None` if it has no WSDL: it tests what PHP does without.
    fn read(suite: &Path, folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join("case.json")).ok()?;
        let case: Value = serde_json::from_str(&text).ok()?;
        let text = |key: &str| case[key].as_str().map(str::to_owned);
        let beside = folder.join("service.wsdl");
        let wsdl = match text("wsdl") {
            Some(wsdl) => suite.join("wsdl").join(wsdl),
            None if beside.is_file() => beside,
            None => return None,
        };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut arguments = list(&case["args"]);
        let mut headers = Vec::new();
        if text("args_are").is_some() {
            // [arguments, options, one header or several]
            headers = match arguments.get(2) {
                Some(Value::Array(headers)) => headers.clone(),
                Some(header) => vec![header.clone()],
                None => Vec::new(),
            };
            arguments = arguments.first().map(list).unwrap_or_default();
        }
        Some(Self {
            folder: folder.to_owned(),
            id: text("id")?,
            operation: text("operation")?,
            wsdl,
            arguments,
            headers,
        })
    }

    fn judge(&self, target: Result<&Target, &str>, score: &mut Score) {
        let steps: [(&str, &str, Step); 3] = [
            ("request", "request.xml", Self::request),
            ("decoded", "decoded.txt", Self::decoded),
            ("response", "response.xml", Self::response),
        ];
        for (name, file, step) in steps {
            let Ok(expected) = std::fs::read_to_string(self.folder.join(file)) else {
                continue;
            };
            let result = target
                .map_err(str::to_owned)
                .and_then(|target| step(self, target, &expected));
            score.record(&format!("{} {name}", self.id), Outcome::from(result));
        }
    }

    /// What is written for the arguments.
    fn request(&self, target: &Target, expected: &str) -> Result<(), String> {
        let input = &target.operation().input;
        let native = Native::new(target.plan());
        let mut arguments = match &input.body {
            Body::Empty => Map::new(),
            Body::Wrapped { wrapper } => {
                let argument = self.arguments.first().unwrap_or(&Value::Null);
                match native.element(*wrapper, argument) {
                    Value::Object(members) => members,
                    _ => Map::new(),
                }
            }
            Body::Bare { parts } | Body::Rpc { parts, .. } => parts
                .iter()
                .zip(&self.arguments)
                .map(|(part, argument)| (part.name.clone(), native.element(part.element, argument)))
                .collect(),
        };
        if !self.headers.is_empty() {
            arguments.insert(HEADERS.to_owned(), self.header_blocks(&native, input));
        }
        let arguments = Ours::from_json(Value::Object(arguments));
        let found = message::request(target, arguments)?;
        let rules = match target.operation().encoded {
            true => Rules::Encoded,
            false => Rules::Literal,
        };
        compare(expected.trim(), &found, rules)
            .map_err(|difference| format!("{difference} in {found}"))
    }

    /// `SoapHeader(namespace, name, data, mustUnderstand, actor)`, each.
    fn header_blocks(&self, native: &Native<'_>, input: &Message) -> Value {
        let mut blocks = Map::new();
        for header in &self.headers {
            let argument = |index: usize| header["args"].get(index).unwrap_or(&Value::Null);
            let text = |index: usize| argument(index).as_str().unwrap_or_default();
            let part = input
                .headers
                .iter()
                .find(|part| native.is_called(part.element, text(0), text(1)));
            let must_understand = argument(3) == 1;
            match part {
                Some(part) => {
                    let mut block = native.element(part.element, argument(2));
                    if let (Value::Object(block), true) = (&mut block, must_understand) {
                        block.insert("@mustUnderstand".into(), true.into());
                    }
                    if let (Value::Object(block), "SOAP_ACTOR_NEXT") = (
                        &mut block,
                        argument(4)["__const__"].as_str().unwrap_or_default(),
                    ) {
                        let next = "http://schemas.xmlsoap.org/soap/actor/next";
                        block.insert("@actor".into(), next.into());
                    }
                    blocks.insert(part.name.clone(), block);
                }
                None => {
                    let understand = match must_understand {
                        true => {
                            " xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' s:mustUnderstand='1'"
                        }
                        false => "",
                    };
                    let xml = format!(
                        "<h:{1} xmlns:h='{0}'{understand}>{2}</h:{1}>",
                        text(0),
                        text(1),
                        text(2)
                    );
                    blocks.insert("#any".into(), vec![xml].into());
                }
            }
        }
        Value::Object(blocks)
    }

    /// What is read of the request, against PHP's dump of the first argument.
    fn decoded(&self, target: &Target, expected: &str) -> Result<(), String> {
        let expected = dump::read(expected).ok_or("the dump cannot be read")?;
        let request =
            std::fs::read(self.folder.join("request.xml")).map_err(|error| error.to_string())?;
        let arguments =
            message::receive(target, request.trim_ascii(), DecodeOptions::default())?.value();
        let first = match &target.operation().input.body {
            Body::Rpc { parts, .. } | Body::Bare { parts } => parts
                .first()
                .map(|part| arguments[part.name.as_str()].clone()),
            _ => None,
        };
        let found = first.unwrap_or(arguments);
        let found = serde_json::to_value(&found).map_err(|error| error.to_string())?;
        values::same(&expected, &found)
    }

    /// Whether an answer or a fault can be read.
    fn response(&self, target: &Target, text: &str) -> Result<(), String> {
        match message::reply(target, text.trim().as_bytes(), DecodeOptions::default())? {
            Reply::Answer(_) | Reply::Accepted | Reply::Fault(_) => Ok(()),
        }
    }
}

type Step = fn(&Case, &Target, &str) -> Result<(), String>;
