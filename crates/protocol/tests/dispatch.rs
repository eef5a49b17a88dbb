//! Which operation a request is for, if several have the same Body or Bodies with the same first element.

use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder};
use bsoap_protocol::header::Node;
use bsoap_protocol::{Endpoint, IncomingRequest};
use bsoap_schema::{Definitions, MemoryLoader};

/// Two operations have the Body `word`, two others an empty one.
const SAME_BODY: &str = r#"<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:tns="urn:same" targetNamespace="urn:same">
  <wsdl:types><xsd:schema targetNamespace="urn:same"><xsd:element name="word" type="xsd:string"/></xsd:schema></wsdl:types>
  <wsdl:message name="Word"><wsdl:part name="word" element="tns:word"/></wsdl:message>
  <wsdl:message name="Nothing"/>
  <wsdl:portType name="Same">
    <wsdl:operation name="Say"><wsdl:input message="tns:Word"/></wsdl:operation>
    <wsdl:operation name="Sing"><wsdl:input message="tns:Word"/></wsdl:operation>
    <wsdl:operation name="Start"><wsdl:input message="tns:Nothing"/></wsdl:operation>
    <wsdl:operation name="Stop"><wsdl:input message="tns:Nothing"/></wsdl:operation>
  </wsdl:portType>
  <wsdl:binding name="Same" type="tns:Same">
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <wsdl:operation name="Say"><soap:operation soapAction="urn:say"/><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation>
    <wsdl:operation name="Sing"><soap:operation soapAction="urn:sing"/><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation>
    <wsdl:operation name="Start"><soap:operation soapAction="urn:start"/><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation>
    <wsdl:operation name="Stop"><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation>
  </wsdl:binding>
  <wsdl:service name="Same">
    <wsdl:port name="Same" binding="tns:Same"><soap:address location="http://localhost/same"/></wsdl:port>
  </wsdl:service>
</wsdl:definitions>"#;

/// The operation of a request, or the reason of the fault.
fn operation_of(wsdl: &str, body: &str, soap_action: Option<&str>) -> Result<String, String> {
    let mut loader = MemoryLoader::default();
    loader.add("service.wsdl", wsdl);
    let definitions = Definitions::load("service.wsdl", &loader).expect("the WSDL loads");
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), DecodeOptions::default());
    let endpoint = Endpoint::new(
        definitions.plan(),
        definitions.bindings().to_vec(),
        Node::new(),
    );
    let text = format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{body}</e:Body></e:Envelope>"
    );
    let request = IncomingRequest {
        content_type: Some("text/xml"),
        soap_action,
        body: text.into(),
    };
    match endpoint.receive(&mut decoder, request) {
        Ok((received, _)) => Ok(received.target().operation().name.clone()),
        Err(reply) => Err(reply.reason.unwrap_or_default()),
    }
}

#[test]
fn the_action_decides_between_operations_with_the_same_body() {
    let word = "<word xmlns='urn:same'>la</word>";
    for (action, expected) in [("\"urn:say\"", "Say"), ("urn:sing", "Sing")] {
        let found = operation_of(SAME_BODY, word, Some(action));
        assert_eq!(found.as_deref(), Ok(expected));
    }
    let found = operation_of(SAME_BODY, "", Some("urn:start"));
    assert_eq!(found.as_deref(), Ok("Start"));
    for none in [None, Some("\"\"")] {
        assert_eq!(operation_of(SAME_BODY, "", none).as_deref(), Ok("Stop"));
    }
}

#[test]
fn a_request_is_refused_if_its_action_does_not_decide() {
    let word = "<word xmlns='urn:same'>la</word>";
    for (body, action, expected) in [
        (
            word,
            None,
            "the Body has <{urn:same}word>, which several operations have, and the action of the request does not select \
             one of them: it has none, expected that of operation Say (action \"urn:say\") or operation Sing (action \"urn:sing\")",
        ),
        (
            word,
            Some("\"urn:shout\""),
            "the Body has <{urn:same}word>, which several operations have, and the action of the request does not select \
             one of them: found \"urn:shout\", expected that of operation Say (action \"urn:say\") or operation Sing (action \"urn:sing\")",
        ),
        (
            "",
            Some("urn:pause"),
            "the Body is empty, which several operations have, and the action of the request does not select one of them: \
             found \"urn:pause\", expected that of operation Start (action \"urn:start\") or operation Stop (no action)",
        ),
    ] {
        assert_eq!(
            operation_of(SAME_BODY, body, action),
            Err(expected.to_owned())
        );
    }
}

#[test]
fn the_first_operation_is_called_if_all_have_the_same_action() {
    let alike = SAME_BODY.replace("urn:sing", "urn:say");
    let word = "<word xmlns='urn:same'>la</word>";
    for action in [None, Some("urn:say"), Some("urn:shout")] {
        assert_eq!(operation_of(&alike, word, action).as_deref(), Ok("Say"));
    }
}

#[test]
fn all_elements_of_a_body_decide_before_the_request_is_refused() {
    let shared = include_str!("testdata/shared_parts.wsdl");
    let words = "<words xmlns='urn:shared'>w</words>";
    let maybe = "<maybe xmlns='urn:shared'>3</maybe>";
    for (body, expected) in [
        (words.to_owned(), "Words"),
        (format!("{words}{maybe}"), "Both"),
        (maybe.to_owned(), "Maybe"),
        (format!("{maybe}{words}"), "Swapped"),
    ] {
        assert_eq!(operation_of(shared, &body, None).as_deref(), Ok(expected));
    }
}
