//! savon's answers: faults as services write them, header blocks, lists, multi-ref values.
//!
//! They come without WSDLs, so one is made for each answer: its result is of any type. What is read from an answer is compared
//! with what another parser of XML reads, with references replaced by what they refer to. An answer without a Body, or one
//! that is not well-formed, must be refused.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use bsoap_codec::decode::Tolerance;
use bsoap_codec::{DecodeOptions, Value as Ours};
use bsoap_protocol::Reply;
use bsoap_schema::{LoadOptions, MemoryLoader, load};
use roxmltree::{Document, Node};
use serde_json::{Map, Value};

use crate::known::Score;
use crate::{message, values};

const ENVELOPE_12: &str = "http://www.w3.org/2003/05/soap-envelope";
/// References that are followed one in another.
const MAX_DEPTH: usize = 64;

/// Reads all answers.
pub fn run(folder: &Path) -> Score {
    let mut score = Score::new("savon");
    for path in answers(&folder.join("savon/response")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        score.record(&name, text.and_then(|text| check(&text)));
    }
    score
}

fn answers(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|it| it == "xml"));
    found.sort();
    found
}

/// Reads an answer.
///
/// # Errors
/// What is not as the other parser reads it.
pub fn check(text: &str) -> Result<(), String> {
    let document = Document::parse(text).ok();
    let body = document.as_ref().and_then(|document| {
        let mut parts = document.root_element().children();
        parts.find(|part| part.tag_name().name() == "Body")
    });
    let first = body.and_then(|body| body.first_element_child());
    let is_12 = document.as_ref().is_some_and(|document| {
        document.root_element().tag_name().namespace() == Some(ENVELOPE_12)
    });
    let wsdl = wsdl(first, is_12);
    let mut loader = MemoryLoader::default();
    loader.add("answer.wsdl", wsdl);
    let definitions = load("answer.wsdl", &loader, &LoadOptions::default());
    let definitions = definitions.map_err(|error| error.to_string())?;
    let target = message::target(&definitions, "Call")?;
    let mut options = DecodeOptions::default();
    options.accepted = Tolerance::Lenient.into();
    let reply = message::reply(&target, text.as_bytes(), options);
    let Some(first) = first else {
        return match reply {
            Ok(reply) => Err(format!("expected an error, found {reply:?}")),
            Err(_) => Ok(()),
        };
    };
    match reply? {
        Reply::Fault(fault) if first.tag_name().name() == "Fault" => {
            same_fault(first, fault.reason())
        }
        Reply::Answer(answer) => {
            let mut found = answer.value();
            if let Ours::Object(members) = &mut found {
                members.remove("@headers");
            }
            let found = serde_json::to_value(&found).map_err(|error| error.to_string())?;
            let found = match is_encoded(first) {
                true => found,
                false => found["answer"].clone(),
            };
            values::same(&expanded(first, &identified(first), 0)?, &found)
        }
        other => Err(format!("found {other:?}")),
    }
}

fn same_fault(fault: Node<'_, '_>, found: &str) -> Result<(), String> {
    let mut parts = fault.descendants();
    let reason = parts.find(|it| ["faultstring", "Text"].contains(&it.tag_name().name()));
    let expected = reason.and_then(|it| it.text()).unwrap_or_default().trim();
    match found.trim() == expected {
        true => Ok(()),
        false => Err(format!("expected the fault {expected:?}, found {found:?}")),
    }
}

/// Whether the answer has references.
fn is_encoded(first: Node<'_, '_>) -> bool {
    first.descendants().any(|it| it.has_attribute("href"))
}

/// The elements that references name.
fn identified<'d, 'i>(first: Node<'d, 'i>) -> HashMap<&'d str, Node<'d, 'i>> {
    let all = first.document().descendants();
    all.filter_map(|it| Some((it.attribute("id")?, it)))
        .collect()
}

/// A value as another parser reads it: children by their names, texts, references followed.
fn expanded(
    node: Node<'_, '_>,
    identified: &HashMap<&str, Node<'_, '_>>,
    depth: usize,
) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("its references are too deep".to_owned());
    }
    if let Some(reference) = node.attribute("href") {
        let id = reference.trim_start_matches('#');
        let value = identified.get(id).ok_or("it has a dangling reference")?;
        return expanded(*value, identified, depth + 1);
    }
    let mut object = Map::new();
    for child in node.children().filter(Node::is_element) {
        let value = expanded(child, identified, depth + 1)?;
        let name = child.tag_name().name().to_owned();
        match object.get_mut(&name) {
            Some(Value::Array(values)) => values.push(value),
            _ => drop(object.insert(name, Value::Array(vec![value]))),
        }
    }
    match node.text().map(str::trim) {
        Some(text) if object.is_empty() && !text.is_empty() => Ok(text.into()),
        _ => Ok(Value::Object(object)),
    }
}

/// A WSDL whose only operation has this answer: an element of any type or, if it has references, an encoded one whose parts are
/// of any type.
fn wsdl(first: Option<Node<'_, '_>>, is_12: bool) -> String {
    let first = first.filter(|first| first.tag_name().name() != "Fault");
    let (namespace, local) = first.map_or(("urn:answer", "answer"), |first| {
        let name = first.tag_name();
        (name.namespace().unwrap_or("urn:answer"), name.name())
    });
    let soap = match is_12 {
        true => "http://schemas.xmlsoap.org/wsdl/soap12/",
        false => "http://schemas.xmlsoap.org/wsdl/soap/",
    };
    let mut parts = String::new();
    let (mut style, mut body) = ("document", "use='literal'".to_owned());
    match first.filter(|first| is_encoded(*first)) {
        None => parts = format!("<part name='answer' element='t:{local}'/>"),
        Some(first) => {
            style = "rpc";
            let encoding = "http://schemas.xmlsoap.org/soap/encoding/";
            body = format!("use='encoded' namespace='{namespace}' encodingStyle='{encoding}'");
            let mut names: Vec<&str> = Vec::new();
            for child in first.children().filter(Node::is_element) {
                let name = child.tag_name().name();
                if !names.contains(&name) {
                    let _ = write!(parts, "<part name='{name}' type='xsd:anyType'/>");
                    names.push(name);
                }
            }
        }
    }
    format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='{soap}' xmlns:xsd='http://www.w3.org/2001/XMLSchema' \
         xmlns:t='{namespace}' targetNamespace='{namespace}'>\
         <types><xsd:schema targetNamespace='{namespace}'><xsd:element name='{local}' type='xsd:anyType'/></xsd:schema></types>\
         <message name='In'/><message name='Out'>{parts}</message>\
         <portType name='P'><operation name='Call'><input message='t:In'/><output message='t:Out'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding style='{style}' transport='http://schemas.xmlsoap.org/soap/http'/>\
         <operation name='Call'><input><soap:body {body}/></input><output><soap:body {body}/></output></operation></binding>\
         <service name='S'><port name='P' binding='t:B'><soap:address location='http://localhost/'/></port></service></definitions>"
    )
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn answers_of_the_kinds_that_savon_knows_are_read() {
        let envelope = |body: &str| {
            format!(
                "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
                 xmlns:xsd='http://www.w3.org/2001/XMLSchema'>{body}</s:Envelope>"
            )
        };
        let multi_ref = "<s:Body><n:CallResponse xmlns:n='urn:n' s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'>\
            <result href='#id0'/></n:CallResponse>\
            <multiRef id='id0' xsi:type='xsd:string'>a</multiRef></s:Body>";
        for body in [
            "<s:Body><s:Fault><faultcode>s:Server</faultcode><faultstring>x</faultstring></s:Fault></s:Body>",
            "<s:Body><s:Fault><faultstring>x</faultstring><faultcode/></s:Fault></s:Body>",
            "<s:Body><s:Fault><faultcode/><faultstring/></s:Fault></s:Body>",
            "<s:Body><a xmlns='urn:n'><b>1</b><b>2</b><c/></a></s:Body>",
            "<s:Header><k xmlns='urn:k'>1</k></s:Header><s:Body><a xmlns='urn:n'>1</a></s:Body>",
            multi_ref,
            "",
        ] {
            assert_eq!(check(&envelope(body)), Ok(()), "{body}");
        }
        assert_eq!(check("<broken"), Ok(()));
    }
}
