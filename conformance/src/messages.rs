//! Messages that somebody recorded or keeps as samples, each read by the WSDL beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bsoap_codec::decode::Deviation;
use bsoap_codec::{DecodeOptions, Decoder, View};
use bsoap_protocol::Target;
use bsoap_schema::Definitions;

use crate::known::Score;
use crate::message;

/// Messages and the WSDL that describes them.
struct Samples {
    wsdl: &'static str,
    /// A file, or a folder with all that is in it.
    messages: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A request if its name says so (`request`, `RQ`), otherwise a reply.
    Exchange,
    /// The same, where the service writes empty elements for integers it does not have, against its own WSDL: they are
    /// taken for absent.
    ExchangeWithEmptyIntegers,
    /// An element of the schemas, without an Envelope.
    Element,
}

const ALL: [Samples; 4] = [
    Samples {
        wsdl: "recorded-polling/console.wsdl",
        messages: "recorded-polling",
        kind: Kind::ExchangeWithEmptyIntegers,
    },
    Samples {
        wsdl: "xsdata/calculator/services.wsdl",
        messages: "xsdata/calculator",
        kind: Kind::Exchange,
    },
    Samples {
        wsdl: "ruby-savon-wasabi-nori/savon/wsdl/authentication.xml",
        messages: "ruby-savon-wasabi-nori/savon/response/soap_fault.xml",
        kind: Kind::Exchange,
    },
    Samples {
        wsdl: "waterml/cuahsi/wof/usgs_wsdl.xml",
        messages: "waterml/cuahsi/wof/get_values_1_0_MuddyRiver_MuddyRiver_14_MR_MuddyRiver_ACID.xml",
        kind: Kind::Element,
    },
];

/// Reads all messages.
pub fn run(root: &Path) -> Score {
    let mut score = Score::new("messages");
    for samples in &ALL {
        let definitions = message::definitions(&root.join(samples.wsdl));
        for path in files(&root.join(samples.messages)) {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
            let result = definitions
                .as_ref()
                .map_err(String::clone)
                .and_then(|definitions| read(definitions, &path, samples.kind));
            score.record(&name, result);
        }
    }
    score
}

/// The XML files of a folder, in order.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut paths) = (Vec::new(), vec![root.to_owned()]);
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(definitions: &Definitions, path: &Path, kind: Kind) -> Result<(), String> {
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut options = DecodeOptions::default();
    match kind {
        Kind::Element => return read_element(definitions, &text),
        Kind::Exchange => {}
        Kind::ExchangeWithEmptyIntegers => {
            options.accepted = options.accepted.with(Deviation::EmptyValue);
        }
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_request = name.contains("request") || name.contains("RQ");
    let mut problem = "the WSDL has no operation".to_owned();
    // Which operation it belongs to, only its body says.
    for binding in definitions.bindings() {
        for operation in &binding.operations {
            let target = Target::new(definitions.plan(), binding, &operation.name)
                .map_err(|error| error.to_string())?;
            let read = match is_request {
                true => message::receive(&target, &text, options).map(drop),
                false => message::reply(&target, &text, options).map(drop),
            };
            match read {
                Ok(()) => return Ok(()),
                Err(error) => problem = error,
            }
        }
    }
    Err(problem)
}

fn read_element(definitions: &Definitions, text: &[u8]) -> Result<(), String> {
    let document = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    let document = roxmltree::Document::parse(document).map_err(|error| error.to_string())?;
    let name = document.root_element().tag_name();
    let element = definitions
        .element(name.namespace().unwrap_or_default(), name.name())
        .ok_or_else(|| format!("the schemas have no element {}", name.name()))?;
    let options = DecodeOptions::default();
    let record = Decoder::new(Arc::clone(definitions.plan()), options)
        .decode(element, text)
        .map_err(|error| message::report(&error))?;
    let value = View::of(&record).to_value();
    value.map(drop).map_err(|error| message::report(&error))
}
