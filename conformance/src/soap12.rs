//! The W3C SOAP 1.2 test collection: a request in, the reply that the collection demands out.
//!
//! The service is made here of the protocol crate alone, without HTTP. Replies are compared by what they mean: a fault by
//! its code, an answer by the names and texts of its header blocks and of its body's leaves. What belongs to SOAP
//! encoding alone (`xsi:type`, `encodingStyle`, `rpc:result`, array attributes) is left out of the comparison: messages
//! are literal here.

use std::path::Path;

use bsoap_codec::decode::Validation;
use bsoap_codec::{DecodeOptions, Decoder, Object, Value};
use bsoap_protocol::header::Node;
use bsoap_protocol::{
    Contents, Endpoint, Fault, IncomingRequest, Name, ReceivedRequest, SoapVersion,
};
use bsoap_schema::{Chain, Definitions, LoadOptions, MemoryLoader, WellKnown, load};
use roxmltree::{Document, Node as Xml};

use crate::known::{Outcome, Score};

const TESTS: &str = "http://example.org/ts-tests";
const SOAP: &str = "http://www.w3.org/2003/05/soap-envelope";
const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";

/// The faults that the specification demands for cases whose recorded reply has another one. The replies are those of PHP's server, which
/// blames itself for messages that break the rules of encoding (SOAP 1.2 Part 2 §3.1.5.3 demands `Sender`), and also speaks SOAP 1.1
/// (T30 is for a node that does not: Part 1 §5.4.7).
const FAULTS: [(&str, &str); 5] = [
    ("T27", "Sender"),
    ("T30", "VersionMismatch"),
    ("T56", "Sender"),
    ("T59", "Sender"),
    ("T61", "Sender"),
];

/// Runs the cases of `php-soap/cases/soap12`; `folder` is `php-soap`.
///
/// # Panics
/// If the suite's WSDL does not load.
pub fn run(folder: &Path) -> Score {
    let mut score = Score::new("soap12");
    let mut service = collection(&folder.join("wsdl/soap12/soap12-test.wsdl"), Node::new());
    // All that the schema and the encoding demand is checked, such as the sizes of arrays.
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    service.decoder = Decoder::new(service.decoder.plan().clone(), options);
    let mut cases: Vec<_> = std::fs::read_dir(folder.join("cases/soap12"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    cases.sort();
    for case in cases {
        let name = case
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let read = |file: &str| std::fs::read_to_string(case.join(file)).unwrap_or_default();
        let (request, expected) = (read("request.xml"), read("response.xml"));
        let demanded = FAULTS.iter().find(|(case, _)| *case == name);
        let expected = match demanded {
            Some((_, code)) => Ok(Meaning::Fault((*code).to_owned())),
            None => meaning(&expected),
        };
        score.record(&name, service.judge(&request, expected));
    }
    score
}

/// A service under test.
pub(crate) struct Service {
    endpoint: Endpoint,
    node: Node,
    decoder: Decoder,
    serve: Serve,
}

/// What a service does with what it received.
type Serve = fn(&Node, &ReceivedRequest) -> Result<Contents<'static>, Fault>;

/// The service that the collection asks for, by its WSDL.
///
/// # Panics
/// If that does not load.
pub(crate) fn collection(wsdl: &Path, node: Node) -> Service {
    let text = std::fs::read_to_string(wsdl).unwrap_or_default();
    // What the collection's services understand, in any operation.
    let node = ["echoOk", "echoResolvedRef"]
        .into_iter()
        .fold(node, |node, local| {
            node.understanding(Name::new(TESTS, local))
        });
    Service::new(&definitions(&text), node, serve)
}

/// The suite's WSDL without the header blocks that it calls unknown and yet declares (with a type that they do not have).
pub(crate) fn definitions(text: &str) -> Definitions {
    let lines = text
        .lines()
        .filter(|line| !(line.contains("header") && line.contains("UnknownHdrBlock")));
    let mut memory = MemoryLoader::default();
    memory.add("soap12-test.wsdl", lines.collect::<Vec<_>>().join("\n"));
    load(
        "soap12-test.wsdl",
        &Chain::new().then(memory).then(WellKnown),
        &LoadOptions::default(),
    )
    .unwrap_or_else(|error| panic!("the suite's WSDL does not load: {error}"))
}

impl Service {
    pub(crate) fn new(definitions: &Definitions, node: Node, serve: Serve) -> Self {
        let bindings = definitions
            .ports()
            .map(|(_, port)| port.binding.clone())
            .collect();
        Self {
            endpoint: Endpoint::new(definitions.plan(), bindings, node.clone()),
            node,
            decoder: Decoder::new(definitions.plan().clone(), DecodeOptions::default()),
            serve,
        }
    }

    /// Whether it answers a request as expected.
    pub(crate) fn judge(&mut self, request: &str, expected: Result<Meaning, String>) -> Outcome {
        let incoming = IncomingRequest {
            content_type: Some("application/soap+xml"),
            soap_action: None,
            body: request.trim_start().as_bytes().to_vec().into(),
        };
        let reply = match self.endpoint.receive(&mut self.decoder, incoming) {
            Err(reply) => *reply,
            Ok((received, awaiting)) => match (self.serve)(&self.node, &received) {
                Err(fault) => awaiting.fault(&fault),
                Ok(contents) => match awaiting.answer(contents) {
                    Ok(reply) => reply,
                    Err(unanswered) => {
                        return Outcome::Fail(format!("no answer: {}", unanswered.error));
                    }
                },
            },
        };
        let actual = String::from_utf8_lossy(&reply.body);
        match (meaning(&actual), expected) {
            (Ok(actual), Ok(expected)) if actual == expected => Outcome::Pass,
            (found, expected) => {
                Outcome::Fail(format!("got {found:?}, expected {expected:?}: {actual}"))
            }
        }
    }
}

/// What the services of the collection do.
fn serve(node: &Node, received: &ReceivedRequest) -> Result<Contents<'static>, Fault> {
    let arguments = received.value();
    let first = arguments
        .as_object()
        .and_then(|members| members.iter().next().map(|(_, value)| value.clone()));
    let first = first.unwrap_or_default();
    let name = received.target().operation().name.as_str();
    let value = match name {
        "emptyBody" | "returnVoid" => Value::object::<&str>([]),
        "echoOk" => Value::object([("responseOk", first)]),
        "isNil" => Value::object([("return", Value::from(first.is_nil()))]),
        "countItems" => Value::object([("return", Value::from(items(&first) as i64))]),
        "echoStructAsSimpleTypes" => Value::object([
            ("outputString", first["varString"].clone()),
            ("outputInteger", first["varInt"].clone()),
            ("outputFloat", first["varFloat"].clone()),
        ]),
        "echoSimpleTypesAsStruct" => {
            // An id that nothing refers to is an attribute of a value.
            let given = |name: &str| match &arguments[name] {
                Value::Object(object) => object.get("#text").cloned().unwrap_or_default(),
                value => value.clone(),
            };
            let members = [
                ("varString", given("inputString")),
                ("varInt", given("inputInteger")),
                ("varFloat", given("inputFloat")),
            ];
            Value::object([("return", Value::object(members))])
        }
        _ => Value::object([("return", first)]),
    };
    Ok(Contents::from(value).with_headers(reply_headers(node, received)))
}

fn items(array: &Value) -> usize {
    let members = array.as_object().into_iter().flat_map(Object::iter);
    members
        .filter(|(key, _)| !key.starts_with('@'))
        .map(|(_, value)| value.len())
        .sum()
}

/// The blocks that answer those of the request which are for us.
fn reply_headers(node: &Node, received: &ReceivedRequest) -> Object {
    let (given, mut blocks) = (received.headers(), Vec::<Value>::new());
    let any = given.get("#any").cloned().unwrap_or_default();
    let mut raw = any
        .as_array()
        .map_or(&[][..], |values| values)
        .iter()
        .filter_map(Value::as_str);
    for block in received.blocks() {
        let local = block.name.local.as_str();
        let xml = if block.is_declared { None } else { raw.next() };
        if !node.plays(SoapVersion::Soap12, block.role.as_deref()) {
            continue;
        }
        let (name, text) = match (local, given.get(local), xml) {
            ("echoOk", Some(value), _) => ("responseOk", text_of(value)),
            ("echoOk", None, Some(xml)) => (
                "responseOk",
                read(xml, |root| root.text().unwrap_or_default().to_owned()),
            ),
            ("echoResolvedRef", Some(value), _) => {
                let reference = &value["RelativeReference"];
                let base = reference["@base"].as_str().unwrap_or_default();
                (
                    "responseResolvedRef",
                    format!("{base}{}", reference["@href"].as_str().unwrap_or_default()),
                )
            }
            ("echoResolvedRef", None, Some(xml)) => ("responseResolvedRef", read(xml, resolved)),
            _ => continue,
        };
        blocks.push(format!("<t:{name} xmlns:t=\"{TESTS}\">{text}</t:{name}>").into());
    }
    let mut headers = Object::new();
    if !blocks.is_empty() {
        headers.insert("#any", blocks);
    }
    headers
}

fn read(xml: &str, take: impl Fn(Xml<'_, '_>) -> String) -> String {
    Document::parse(xml)
        .map(|document| take(document.root_element()))
        .unwrap_or_default()
}

/// The text of simple content, with or without attributes beside it.
fn text_of(value: &Value) -> String {
    value
        .as_str()
        .or_else(|| value["#text"].as_str())
        .unwrap_or_default()
        .to_owned()
}

/// `xml:base` and `xlink:href` of the reference in a block, joined.
fn resolved(root: Xml<'_, '_>) -> String {
    let Some(reference) = root.first_element_child() else {
        return String::new();
    };
    let base = reference
        .attribute((roxmltree::NS_XML_URI, "base"))
        .unwrap_or_default();
    format!(
        "{base}{}",
        reference
            .attribute(("http://www.w3.org/1999/xlink", "href"))
            .unwrap_or_default()
    )
}

/// What a message says, as far as it is compared.
#[derive(Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A fault of this code.
    Fault(String),
    /// Names and texts of header blocks and of the body's leaves, sorted: members of a struct may come in any order.
    Answer(Vec<String>),
}

pub(crate) fn meaning(text: &str) -> Result<Meaning, String> {
    let document = Document::parse(text).map_err(|error| format!("no XML: {error}"))?;
    // An unknown version is answered in SOAP 1.1.
    let value = document
        .descendants()
        .find(|node| node.has_tag_name((SOAP, "Value")) || node.has_tag_name("faultcode"));
    if let Some(value) = value {
        let code = value.text().unwrap_or_default().trim();
        return Ok(Meaning::Fault(
            code.split_once(':')
                .map_or(code, |(_, local)| local)
                .to_owned(),
        ));
    }
    let leaves = document
        .descendants()
        .filter(|node| node.is_element() && node.first_element_child().is_none());
    let said = leaves.filter(|leaf| {
        leaf.tag_name().namespace() != Some(RPC) && leaf.tag_name().namespace() != Some(SOAP)
    });
    let mut said: Vec<String> = said
        .map(|leaf| format!("{:?}={}", leaf.tag_name(), plain(&leaf)))
        .collect();
    said.sort();
    Ok(Meaning::Answer(said))
}

/// A leaf's text; numbers and truth values by value.
fn plain(leaf: &Xml<'_, '_>) -> String {
    let text = match leaf.text().unwrap_or_default().trim() {
        "true" => "1",
        "false" => "0",
        text => text,
    };
    text.parse::<f32>()
        .map_or_else(|_| text.to_owned(), |number| number.to_string())
}
