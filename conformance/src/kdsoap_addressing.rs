//! KDSoap's WSDL for WS-Addressing, and messages of the form that its clients send: with every header block, `RelatesTo` of two
//! kinds, and reference parameters and metadata as header blocks of their own.

use std::path::Path;

use bsoap_codec::{DecodeOptions, Decoder};
use bsoap_protocol::addressing::{ANONYMOUS, AddressingPolicy, AddressingVersion};
use bsoap_protocol::header::Node;
use bsoap_protocol::{Endpoint, IncomingRequest};
use bsoap_schema::{Chain, Definitions, LoadOptions, MemoryLoader, WellKnown, load};

use crate::known::{Outcome, Score};

const SERVICE: &str = "http://www.ecerami.com/wsdl/HelloService.wsdl";

/// Loads the WSDL in `folder` and reads a message in each version.
pub fn run(folder: &Path) -> Score {
    let mut score = Score::new("kdsoap-addressing");
    let loaded = definitions(&folder.join("wsaddressing.wsdl"));
    score.record(
        "wsaddressing.wsdl",
        loaded.as_ref().map(drop).map_err(Clone::clone),
    );
    let Ok(definitions) = loaded else {
        return score;
    };
    let cases = [
        ("1.0", AddressingVersion::Recommendation),
        ("2004/08", AddressingVersion::Submission),
    ];
    for (name, version) in cases {
        score.record(name, Outcome::from(read(&definitions, version)));
    }
    score
}

fn definitions(file: &Path) -> Result<Definitions, String> {
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    let mut memory = MemoryLoader::default();
    memory.add("wsaddressing.wsdl", text);
    let loader = Chain::new().then(memory).then(WellKnown);
    let loaded = load("wsaddressing.wsdl", &loader, &LoadOptions::default());
    let definitions = loaded.map_err(|error| error.to_string())?;
    let (_, port) = definitions.ports().next().ok_or("no port")?;
    let using = port.addressing.ok_or("addressing is not used")?;
    let action = &port.binding.operations[0].input.action;
    match using.is_required && action == "http://localhost:8081/hello" {
        true => Ok(definitions),
        false => Err(format!("{using:?}, action {action}")),
    }
}

fn message(version: AddressingVersion) -> String {
    let (soap, wsa) = (
        "http://schemas.xmlsoap.org/soap/envelope/",
        version.namespace(),
    );
    format!(
        "<s:Envelope xmlns:s='{soap}' xmlns:w='{wsa}' xmlns:n='{SERVICE}' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' \
         xmlns:x='http://www.w3.org/2001/XMLSchema'><s:Header><w:To>urn:to</w:To><w:From><w:Address>urn:from</w:Address></w:From>\
         <w:ReplyTo><w:Address>{ANONYMOUS}</w:Address></w:ReplyTo><w:FaultTo><w:Address>http://fault.example/</w:Address></w:FaultTo>\
         <w:Action>sayHello</w:Action><w:MessageID>uuid:1</w:MessageID><w:RelatesTo>uuid:0</w:RelatesTo>\
         <w:RelatesTo RelationshipType='Other'>uuid:2</w:RelatesTo>\
         <w:ReferenceParameters><w:a>1</w:a><w:b><w:c>2</w:c></w:b></w:ReferenceParameters><w:Metadata><w:d>3</w:d></w:Metadata>\
         </s:Header><s:Body><n:sayHello><msg i:type='x:string'>hello</msg></n:sayHello></s:Body></s:Envelope>"
    )
}

fn read(definitions: &Definitions, version: AddressingVersion) -> Result<(), String> {
    let bindings = definitions
        .ports()
        .map(|(_, port)| port.binding.clone())
        .collect();
    let policy = AddressingPolicy::new().allowing(|address| address == "http://fault.example/");
    let endpoint = Endpoint::new(definitions.plan(), bindings, Node::new()).with_addressing(policy);
    let mut decoder = Decoder::new(definitions.plan().clone(), DecodeOptions::default());
    let request = IncomingRequest {
        content_type: Some("text/xml"),
        soap_action: Some("\"sayHello\""),
        body: message(version).into(),
    };
    let received = endpoint.receive(&mut decoder, request);
    let (received, _) =
        received.map_err(|reply| String::from_utf8_lossy(&reply.body).into_owned())?;
    let read = received.addressing().ok_or("no addressing headers")?;
    let fault_to = read.fault_to.as_ref().map(|it| &*it.address);
    let is_right = read.version == version
        && read.message_id.as_deref() == Some("uuid:1")
        && fault_to == Some("http://fault.example/")
        && read.answered_id() == Some("uuid:0")
        && read.relates_to.len() == 2
        && received.value()["msg"].as_str() == Some("hello");
    is_right
        .then_some(())
        .ok_or_else(|| format!("{read:?} {:?}", received.value()))
}
