//! Encoded header blocks, encoded details of faults, and encoded messages of the style `document`.

use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder, Value};
use bsoap_protocol::header::Node;
use bsoap_protocol::{
    Contents, Endpoint, Fault, IncomingReply, IncomingRequest, ReceivedRequest, Reply, Target,
};
use bsoap_schema::{Chain, Definitions, LoadOptions, MemoryLoader, WellKnown, load};
use serde_json::{Value as Json, json};

fn definitions() -> Definitions {
    let mut loader = MemoryLoader::default();
    loader.add("parts.wsdl", include_str!("testdata/encoded-parts.wsdl"));
    let loader = Chain::new().then(loader).then(WellKnown);
    load("parts.wsdl", &loader, &LoadOptions::default()).expect("the WSDL loads")
}

fn target(port: &str, operation: &str) -> Target {
    let definitions = definitions();
    let mut ports = definitions.ports();
    let (_, port) = ports.find(|(_, it)| it.name == port).expect("a port");
    Target::new(definitions.plan(), &port.binding, operation).expect("an operation")
}

fn json(value: Value) -> Json {
    serde_json::to_value(value).expect("JSON")
}

fn write(target: &Target, contents: Contents<'_>) -> String {
    let request = target.request(contents).expect("a request");
    let (written, _) = request.write().expect("a text");
    String::from_utf8(written.body).expect("text")
}

fn receive(target: &Target, text: &str) -> ReceivedRequest {
    let bindings = vec![Arc::clone(target.binding())];
    let endpoint = Endpoint::new(target.plan(), bindings, Node::new());
    let mut decoder = Decoder::new(Arc::clone(target.plan()), DecodeOptions::default());
    let incoming = IncomingRequest {
        content_type: None,
        soap_action: None,
        body: text.as_bytes().to_vec().into(),
    };
    match endpoint.receive(&mut decoder, incoming) {
        Ok((received, _)) => received,
        Err(reply) => panic!("{}", String::from_utf8_lossy(&reply.body)),
    }
}

fn reply(target: &Target, text: &str) -> Reply {
    let request = target.request(Value::object([("in", Value::Nil)]));
    let (_, awaiting) = request.expect("a request").write().expect("a text");
    let mut decoder = Decoder::new(Arc::clone(target.plan()), DecodeOptions::default());
    let incoming = IncomingReply {
        status: 500,
        content_type: Some("text/xml; charset=utf-8"),
        body: text.as_bytes().to_vec().into(),
    };
    awaiting.read(&mut decoder, incoming).expect("a reply")
}

const HEAD: &str = "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xmlns:t=\"urn:t\" xmlns:h=\"urn:h\">";

#[test]
fn encoded_header_blocks_state_types_and_take_members_in_any_order() {
    let target = target("rpc", "echo");
    let headers = Value::from_json(json!({
        "session": {"user": "ada", "count": 3},
        "trace": {"user": "bob", "count": 4, "@mustUnderstand": "1"},
    }));
    let Value::Object(headers) = headers else {
        panic!("an object")
    };
    let body = Value::from_json(json!({"in": {"name": "Ada", "age": 1}}));
    let text = write(&target, Contents::from(&body).with_more_headers(&headers));
    for part in [
        "<h:session",
        r#"xsi:type="t:Session""#,
        r#"<count xsi:type="xsd:int">3</count>"#,
        "<t:trace",
    ] {
        assert!(
            text.contains(part) || text.contains(&part.replace("h:", "ns1:")),
            "{part}: {text}"
        );
    }
    let received = receive(&target, &text);
    assert_eq!(json(Value::Object(received.headers()))["trace"]["count"], 4);
    let text = format!(
        "{HEAD}<S:Header><h:session xsi:type=\"t:Session\"><count>5</count><user xsi:type=\"xsd:string\">eve</user></h:session></S:Header>\
         <S:Body><t:echo><in><name>Ada</name></in></t:echo></S:Body></S:Envelope>"
    );
    let received = receive(&target, &text);
    assert_eq!(
        json(Value::Object(received.headers()))["session"],
        json!({"user": "eve", "count": 5})
    );
}

#[test]
fn encoded_details_are_written_and_their_references_are_followed() {
    let target = target("rpc", "echo");
    let detail = json!({"failure": {"name": "Ada", "age": 7}});
    let fault = Fault::receiver("no").with_detail(Value::from_json(detail.clone()));
    let text = String::from_utf8(target.fault(&fault).body).expect("text");
    assert!(
        text.contains(r#"<age xsi:type="xsd:int">7</age>"#),
        "{text}"
    );
    let Reply::Fault(read) = reply(&target, &text) else {
        panic!("a fault")
    };
    assert_eq!(json(read.detail.clone().expect("a detail")), detail);
    // As Axis 1 writes it.
    let text = format!(
        "{HEAD}<S:Body><S:Fault><faultcode>S:Server</faultcode><faultstring>no</faultstring>\
         <detail><t:failure href=\"#id0\"/></detail></S:Fault>\
         <multiRef id=\"id0\" xsi:type=\"t:Person\"><age href=\"#id1\"/><friend href=\"#id2\"/></multiRef>\
         <multiRef id=\"id1\" xsi:type=\"xsd:int\">7</multiRef>\
         <multiRef id=\"id2\" xsi:type=\"t:Person\"><name>Bob</name></multiRef></S:Body></S:Envelope>"
    );
    let Reply::Fault(read) = reply(&target, &text) else {
        panic!("a fault")
    };
    assert_eq!(
        json(read.detail.clone().expect("a detail"))["failure"],
        json!({"age": 7, "friend": {"name": "Bob"}})
    );
}

#[test]
fn documents_may_be_encoded() {
    let ask = target("document", "ask");
    let person = json!({"name": "Ada", "age": 1, "friend": {"name": "Bob", "age": 2}});
    let text = write(&ask, Contents::from(&Value::from_json(person.clone())));
    assert!(text.contains("<t:ask"), "{text}");
    assert!(text.contains("soap:encodingStyle="), "{text}");
    assert!(
        text.contains(r#"<age xsi:type="xsd:int">1</age>"#),
        "{text}"
    );
    assert_eq!(json(receive(&ask, &text).value()), person);
    let text = format!(
        "{HEAD}<S:Body><t:ask id=\"id1\" xsi:type=\"t:Person\"><friend href=\"#id2\"/><name>Ada</name></t:ask>\
         <t:Person id=\"id2\" xsi:type=\"t:Person\"><name>Bob</name><friend href=\"#id1\"/></t:Person></S:Body></S:Envelope>"
    );
    let cyclic = json(receive(&ask, &text).value());
    assert_eq!(cyclic["friend"]["friend"]["@href"], "#id1");
    // The part has a type: its element has the name of the part, in the namespace of `soap:body`.
    let tell = target("document", "tell");
    let body = Value::object([("person", Value::from_json(person.clone()))]);
    let text = write(&tell, Contents::from(&body));
    assert!(text.contains("<t:person"), "{text}");
    assert_eq!(json(receive(&tell, &text).value())["person"], person);
}
