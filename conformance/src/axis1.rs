//! The SOAP 1.2 messages that Axis 1 was tested with: those of the W3C collection and of the White Mesa services, the latter
//! as they went over the wire.
//!
//! `X-request.xml` is sent to a service made here of the protocol crate, and what it answers compared with `X-response.xml`
//! by what it means (see [`soap12`]). What a template leaves open is filled with a word, the same on both sides. Requests
//! without a reply are judged by the fault code that the collection demands.

use std::path::{Path, PathBuf};

use bsoap_codec::Value;
use bsoap_protocol::{Contents, Fault, Node, ReceivedRequest};

use crate::known::{Outcome, Score};
use crate::soap12::{self, Meaning, Service, meaning};

/// The services of namespace `http://soapinterop.org/`, of which the suite has no WSDL: they were document/literal, say the
/// folders' notes, and White Mesa's `echoString` answered with the element it was asked with.
const INTEROP: &str = r#"<definitions targetNamespace="http://soapinterop.org/" xmlns:t="http://soapinterop.org/"
    xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap12/">
  <types><xs:schema targetNamespace="http://soapinterop.org/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="echoString"><xs:complexType><xs:sequence>
      <xs:element name="inputString" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="echoInteger"><xs:complexType><xs:sequence>
      <xs:element name="inputInteger" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="echoVoid"><xs:complexType/></xs:element>
    <xs:element name="echoReceiverFault" type="xs:string"/>
  </xs:schema></types>
  <message name="echoString"><part name="parameters" element="t:echoString"/></message>
  <message name="echoInteger"><part name="parameters" element="t:echoInteger"/></message>
  <message name="echoVoid"><part name="parameters" element="t:echoVoid"/></message>
  <message name="echoReceiverFault"><part name="parameters" element="t:echoReceiverFault"/></message>
  <portType name="Interop">
    <operation name="echoString"><input message="t:echoString"/><output message="t:echoString"/></operation>
    <operation name="echoInteger"><input message="t:echoInteger"/><output message="t:echoInteger"/></operation>
    <operation name="echoVoid"><input message="t:echoVoid"/><output message="t:echoVoid"/></operation>
    <operation name="echoReceiverFault"><input message="t:echoReceiverFault"/><output message="t:echoVoid"/></operation>
  </portType>
  <binding name="Interop" type="t:Interop">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="echoString"><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
    <operation name="echoInteger"><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
    <operation name="echoVoid"><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
    <operation name="echoReceiverFault"><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
  </binding>
  <service name="Interop"><port name="Interop" binding="t:Interop"><soap:address location="http://localhost/"/></port></service>
</definitions>"#;

/// The fault codes demanded of requests that have no reply beside them.
const CODES: [(&str, &str); 4] = [
    ("XMLP-5", "VersionMismatch"),
    ("XMLP-9", "DataEncodingUnknown"),
    ("XMLP-11", "Sender"),
    ("XMLP-12", "Sender"),
];

/// Runs the cases of `axis1-interop-mock`, which `folder` is.
///
/// # Panics
/// If the suite's WSDL does not load.
pub fn run(folder: &Path) -> Score {
    let mut score = Score::new("axis1");
    let mut collection = soap12::collection(
        &folder.join("wsdl/soap12-test.wsdl"),
        Node::new().playing("http://example.org/ts-tests/C"),
    );
    let mut interop = Service::new(&soap12::definitions(INTEROP), Node::new(), serve);
    for path in messages(folder) {
        let name = path.strip_prefix(folder).unwrap_or(&path);
        let name = name.to_string_lossy().replace('\\', "/");
        let Some(case) = name.strip_suffix("-request.xml") else {
            if !name.ends_with("-response.xml") {
                let reason = "what an intermediary passes on, which bsoap is not";
                score.record(&name, Outcome::Skip(reason));
            }
            continue;
        };
        let read = |path: &Path| std::fs::read_to_string(path).map(|text| filled(&text));
        let Ok(request) = read(&path) else { continue };
        let reply = read(&folder.join(format!("{case}-response.xml"))).ok();
        let local = case.rsplit('/').next().unwrap_or_default();
        let expected = match (reply, CODES.iter().find(|(case, _)| *case == local)) {
            (Some(reply), _) => meaning(&reply),
            (None, Some((_, code))) => Ok(Meaning::Fault((*code).to_owned())),
            (None, None) => Err("nothing says what to answer".to_owned()),
        };
        let outcome = if request.contains("http://soapinterop.org/") {
            interop.judge(&request, expected)
        } else if request.contains("http://example.org/ts-tests") {
            collection.judge(&request, expected)
        } else {
            Outcome::Skip("no WSDL")
        };
        score.record(case, outcome);
    }
    score
}

/// What the services of White Mesa do: they answer with what they were asked.
fn serve(_: &Node, received: &ReceivedRequest) -> Result<Contents<'static>, Fault> {
    match received.target().operation().name.as_str() {
        "echoReceiverFault" => Err(Fault::receiver("as asked for")),
        _ => {
            let mut value = received.value();
            if let Value::Object(arguments) = &mut value {
                arguments.remove("@headers");
            }
            Ok(value.into())
        }
    }
}

/// The XML files of a folder and those in it, in order.
fn messages(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = path.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "xml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A template with a word where it leaves a text open, and the name that the replies have where it leaves a name open.
fn filled(text: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<t:") {
        filled.push_str(&rest[..at]);
        let end = rest[at..].find('>').map_or(rest.len(), |end| at + end + 1);
        match &rest[at..end] {
            tag if tag.starts_with("<t:value") => filled.push_str("words"),
            _ => filled.push_str(
                "<h:Unknown xmlns:h='http://example.org/' xmlns:env='http://www.w3.org/2003/05/soap-envelope' env:mustUnderstand='1'>",
            ),
        }
        rest = &rest[end..];
    }
    filled.push_str(rest);
    filled.replace("</t:element>", "</h:Unknown>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_template_leaves_open_is_filled() {
        let text = "<a><t:element t:name='${n}'><t:value expression='${x}'/></t:element></a>";
        let filled = filled(text);
        assert!(roxmltree::Document::parse(&filled).is_ok(), "{filled}");
        assert!(filled.contains(">words</h:Unknown>"), "{filled}");
    }
}
