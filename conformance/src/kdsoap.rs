//! KDSoap's WSDLs, each written for a feature of a WSDL compiler: `testdata/kdsoap.toml` has values and messages for each.
//!
//! A value is written and must give the message; the message is read and must give the value, or, of optional things, `read`.

use std::path::Path;
use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder, Value as Ours};
use bsoap_protocol::{Reply, Target};
use serde::Deserialize;
use serde_json::Value;

use crate::compare::{Rules, compare};
use crate::known::Score;
use crate::{message, values};

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// A message of an operation.
#[derive(Deserialize)]
struct Case {
    /// The feature that it shows.
    feature: String,
    wsdl: String,
    operation: String,
    kind: Kind,
    /// The value, as JSON.
    value: String,
    /// The value that is read, if it is another one.
    read: Option<String>,
    /// The content of the Body.
    body: String,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Written by a client and read again.
    Request,
    /// Read by a client.
    Answer,
    /// The service has no operation that is called: what it has is listed under `value`.
    Listed,
}

/// Writes and reads all messages.
///
/// # Panics
/// If the cases cannot be read: they belong to this crate.
pub fn run(folder: &Path) -> Score {
    let mut score = Score::new("kdsoap");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kdsoap.toml");
    let text = std::fs::read_to_string(path).expect("the cases are in testdata");
    let cases: Cases = toml::from_str(&text).unwrap_or_else(|error| panic!("kdsoap.toml: {error}"));
    for case in cases.case {
        score.record(&case.feature, case.check(folder));
    }
    score
}

impl Case {
    fn check(&self, folder: &Path) -> Result<(), String> {
        let definitions = message::definitions(&folder.join(&self.wsdl))?;
        if self.kind == Kind::Listed {
            let operations = definitions.bindings().iter().flat_map(|it| &it.operations);
            let names: Vec<&str> = operations.map(|it| it.name.as_str()).collect();
            return values::same(&json(&self.value)?, &names.into());
        }
        let target = message::target(&definitions, &self.operation)?;
        let text = self.envelope(&target);
        let options = DecodeOptions::default();
        let found = match self.kind {
            Kind::Request => {
                let written = message::request(&target, Ours::from_json(json(&self.value)?))?;
                compare(&text, &written, Rules::Literal)
                    .map_err(|difference| format!("{difference} in {written}"))?;
                let mut decoder = Decoder::new(Arc::clone(target.plan()), options);
                let root = target.binding().request;
                let record = decoder.decode(root, written.as_bytes());
                target.request_value(&record.map_err(|error| format!("decode: {error}"))?)
            }
            _ => match message::reply(&target, text.as_bytes(), options)? {
                Reply::Answer(answer) => answer.value(),
                other => return Err(format!("found {other:?}")),
            },
        };
        let found = serde_json::to_value(&found).map_err(|error| error.to_string())?;
        values::same(&json(self.read.as_ref().unwrap_or(&self.value))?, &found)
    }

    fn envelope(&self, target: &Target) -> String {
        let namespace = target.version().envelope_namespace();
        format!(
            "<s:Envelope xmlns:s=\"{namespace}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">{}</s:Envelope>",
            match self.body.contains("<s:Body") {
                true => self.body.clone(),
                false => format!("<s:Body>{}</s:Body>", self.body),
            }
        )
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{text}: {error}"))
}
