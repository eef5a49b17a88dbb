//! WSDLs as they are met: with drafts of XML Schema, names left out, broken parts, policies and ports that are not SOAP.

use bsoap_schema::{Definitions, LoadOptions, MemoryLoader, Strictness, load};

/// An operation `O` whose request has the element `t:r`.
const SERVICE: &str = "<message name='M'><part name='p' element='t:r'/></message>\
    <portType name='P'><operation name='O'><input message='t:M'/></operation></portType>\
    <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>\
    <operation name='O'><input><soap:body use='literal'/></input></operation></binding>";

const PORT: &str = "<service name='S'><port name='P' binding='t:B'><soap:address location='http://localhost/s'/></port></service>";

const TYPES: &str = "<types><schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>\
    <element name='r' type='string'/></schema></types>";

/// The start tag of a WSDL with these attributes.
fn wsdl(attributes: &str, children: &str) -> String {
    format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
         xmlns:wsp='http://schemas.xmlsoap.org/ws/2004/09/policy' \
         xmlns:wsu='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd' \
         xmlns:t='urn:t' {attributes}>{children}</definitions>"
    )
}

fn in_namespace(children: &str) -> String {
    wsdl("targetNamespace='urn:t'", children)
}

fn loaded(text: &str) -> Definitions {
    let mut loader = MemoryLoader::default();
    loader.add("t.wsdl", text);
    Definitions::load("t.wsdl", &loader).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn strict_error(text: &str) -> String {
    let mut loader = MemoryLoader::default();
    loader.add("t.wsdl", text);
    let mut options = LoadOptions::default();
    options.strictness = Strictness::Strict;
    let strict = load("t.wsdl", &loader, &options);
    strict.expect_err("a strict load refuses it").to_string()
}

fn notes(definitions: &Definitions) -> Vec<String> {
    let notes = definitions.notes().iter();
    notes.map(ToString::to_string).collect()
}

#[track_caller]
fn is_noted(definitions: &Definitions, expected: &str) {
    let notes = notes(definitions);
    let is_there = notes.iter().any(|note| note.contains(expected));
    assert!(is_there, "{expected} is not in {notes:#?}");
}

fn signature(definitions: &Definitions) -> String {
    let (_, port) = definitions.ports().next().expect("a port");
    definitions.signature(&port.binding.operations[0])
}

#[test]
fn schemas_of_drafts_are_read_as_xml_schema_1_0_with_a_note() {
    for (namespace, content, unbounded) in [
        ("http://www.w3.org/1999/XMLSchema", ("", ""), "*"),
        (
            "http://www.w3.org/2000/10/XMLSchema",
            ("<old:sequence>", "</old:sequence>"),
            "unbounded",
        ),
    ] {
        let (begin, end) = content;
        let types = format!(
            "<types><old:schema xmlns:old='{namespace}' targetNamespace='urn:t'><old:element name='r'><old:complexType>{begin}\
             <old:element name='at' type='old:timeInstant'/><old:element name='n' type='old:int' minOccurs='0' maxOccurs='{unbounded}'/>\
             {end}</old:complexType></old:element></old:schema></types>"
        );
        let text = in_namespace(&format!("{types}{SERVICE}{PORT}"));
        let definitions = loaded(&text);
        assert_eq!(signature(&definitions), "O(at: xsd:dateTime, n: xsd:int[])");
        let note = format!(
            "the schema is in the draft namespace {namespace}; it is read as XML Schema 1.0"
        );
        is_noted(&definitions, &note);
        assert!(strict_error(&text).contains("draft namespace"));
    }
}

#[test]
fn a_wsdl_may_import_a_schema_file_also_one_of_a_draft() {
    for namespace in [
        "http://www.w3.org/2001/XMLSchema",
        "http://www.w3.org/1999/XMLSchema",
    ] {
        let mut loader = MemoryLoader::default();
        let import = "<import namespace='urn:t' location='t.xsd'/>";
        loader.add("t.wsdl", in_namespace(&format!("{import}{SERVICE}{PORT}")));
        loader.add(
            "t.xsd",
            format!("<schema xmlns='{namespace}' targetNamespace='urn:t'><element name='r' type='string'/></schema>"),
        );
        let definitions = Definitions::load("t.wsdl", &loader).expect("it loads");
        assert_eq!(signature(&definitions), "O(p: xsd:string)");
    }
}

#[test]
fn a_service_without_a_name_is_called_like_the_wsdl_or_its_port() {
    let nameless = PORT.replace("<service name='S'>", "<service>");
    for (attributes, expected) in [("name='Shop'", "Shop"), ("", "P")] {
        let attributes = format!("targetNamespace='urn:t' {attributes}");
        let text = wsdl(&attributes, &format!("{TYPES}{SERVICE}{nameless}"));
        let definitions = loaded(&text);
        assert_eq!(definitions.services()[0].name, expected);
        is_noted(
            &definitions,
            &format!("wsdl:service has no name; it is called {expected:?}"),
        );
        assert!(strict_error(&text).contains("wsdl:service has no attribute name"));
    }
}

#[test]
fn without_a_target_namespace_names_with_any_prefix_are_found() {
    let definitions = loaded(&wsdl("", &format!("{TYPES}{SERVICE}{PORT}")));
    assert_eq!(signature(&definitions), "O(p: xsd:string)");
    is_noted(&definitions, "the WSDL has no targetNamespace");
}

#[test]
fn elements_with_a_prefix_that_is_not_declared_are_ignored_or_those_of_a_schema_with_a_note() {
    let odd = SERVICE.replacen(
        "<operation name='O'>",
        "<!-- <c> --><operation name='O'><odd:operation new:attribute='1'/><odd:again/>",
        1,
    );
    let types = TYPES.replace(
        "</schema>",
        "<xs:element name='read' type='string'/><element name='other' type='xs:string'/></schema>",
    );
    let text = in_namespace(&format!("{types}{odd}{PORT}"));
    let definitions = loaded(&text);
    assert_eq!(signature(&definitions), "O(p: xsd:string)");
    for expected in [
        "the prefix \"odd\" of \"odd:operation\" is not declared",
        "the prefix \"new\" of \"new:attribute\" is not declared",
        "the prefix \"xs\" of \"xs:element\" is not declared",
        "the prefix \"xs\" of \"xs:string\" is not declared",
    ] {
        is_noted(&definitions, expected);
    }
    let error = strict_error(&text);
    assert!(
        error.contains("of \"xs:element\" is not declared"),
        "{error}"
    );
    assert!(definitions.element("urn:t", "read").is_some());
    // What is published is well-formed, and loads again without a note of its own.
    let documents = definitions.documents();
    assert!(roxmltree::Document::parse(documents[0].text()).is_ok());
    // No more than a few are declared: each takes another parse.
    let many: String = (0..20).map(|number| format!("<p{number}:e/>")).collect();
    let text = in_namespace(&format!("{many}{TYPES}{SERVICE}{PORT}"));
    let mut loader = MemoryLoader::default();
    loader.add("t.wsdl", text);
    let error = Definitions::load("t.wsdl", &loader)
        .unwrap_err()
        .to_string();
    assert!(error.contains("the prefix \"p8\" of \"p8:e\""), "{error}");
}

#[test]
fn what_is_broken_and_not_used_is_noted() {
    let broken = "<message/><message name='Twice'><part name='p' element='t:r'/><part name='p' element='t:r'/></message>\
        <binding name='Loose'><soap:binding/></binding><portType name='Q'><operation name='Mute'><input/></operation></portType>";
    let types = TYPES.replace(
        "</schema>",
        "<complexType name='Odd'><complexContent><extension base='t:Nothing' xmlns:t='urn:t'/></complexContent></complexType></schema>",
    );
    let text = in_namespace(&format!("{types}{SERVICE}{broken}{PORT}"));
    let definitions = loaded(&text);
    assert_eq!(signature(&definitions), "O(p: xsd:string)");
    for expected in [
        "wsdl:message is ignored: wsdl:message has no attribute name",
        "wsdl:message \"Twice\" is ignored: part \"p\" is defined twice",
        "wsdl:binding \"Loose\" is ignored: wsdl:binding has no attribute type",
        "wsdl:portType \"Q\" is ignored: wsdl:input has no attribute message",
    ] {
        is_noted(&definitions, expected);
    }
    assert!(strict_error(&text).contains("has no attribute name"));
}

#[test]
fn a_used_operation_that_is_broken_is_left_out_with_its_reason() {
    let broken = SERVICE.replace(
        "<part name='p' element='t:r'/>",
        "<part name='p' element='t:r'/><part name='p' element='t:r'/>",
    );
    let definitions = loaded(&in_namespace(&format!("{TYPES}{broken}{PORT}")));
    let (_, port) = definitions.ports().next().expect("a port");
    assert!(port.binding.operations.is_empty());
    is_noted(
        &definitions,
        "wsdl:message \"M\" is ignored: part \"p\" is defined twice",
    );
    is_noted(&definitions, "operation \"O\" is ignored: message");
}

#[test]
fn ports_that_are_not_soap_are_listed_and_those_over_jms_are_known() {
    let ports = "<binding name='Get' type='t:P'><h:binding xmlns:h='http://schemas.xmlsoap.org/wsdl/http/' verb='GET'/></binding>\
        <binding name='Jms' type='t:P'><soap:binding transport='http://www.w3.org/2010/soapjms/'/>\
        <operation name='O'><input><soap:body use='literal'/></input></operation></binding>\
        <service name='S'><port name='Get' binding='t:Get'><h:address xmlns:h='http://schemas.xmlsoap.org/wsdl/http/' location='http://localhost/g'/></port>\
        <port name='Jms' binding='t:Jms'><soap:address location='jms:jndi:queue'/></port>\
        <port name='P' binding='t:B'><soap:address location='http://localhost/s'/></port></service>";
    let definitions = loaded(&in_namespace(&format!("{TYPES}{SERVICE}{ports}")));
    let service = &definitions.services()[0];
    let soap: Vec<(&str, bool)> = service
        .ports
        .iter()
        .map(|port| (&*port.name, port.is_http()))
        .collect();
    assert_eq!(soap, [("Jms", false), ("P", true)]);
    let [other] = &service.other_ports[..] else {
        panic!("{:?}", service.other_ports)
    };
    assert_eq!((&*other.name, &*other.binding), ("Get", "Get"));
    assert_eq!(
        other.protocol.as_deref(),
        Some("http://schemas.xmlsoap.org/wsdl/http/")
    );
    assert_eq!(other.address.as_deref(), Some("http://localhost/g"));
}

#[test]
fn policies_are_kept_as_xml_that_can_be_read_alone() {
    let policy = "<wsp:Policy wsu:Id='secure'><x:Https xmlns:x='urn:x'/></wsp:Policy>";
    let service = SERVICE.replace(
        "<soap:binding",
        "<wsp:PolicyReference URI='#secure'/><wsp:PolicyReference URI='#lost'/><soap:binding",
    );
    let port = PORT.replace(
        "<soap:address",
        "<wsp:Policy><wsp:All/></wsp:Policy><soap:address",
    );
    let definitions = loaded(&in_namespace(&format!("{policy}{TYPES}{service}{port}")));
    let (_, port) = definitions.ports().next().expect("a port");
    let [inline] = &port.policies[..] else {
        panic!("{:?}", port.policies)
    };
    assert_eq!(inline.reference, None);
    let [secure, lost] = &port.binding.policies[..] else {
        panic!("{:?}", port.binding.policies)
    };
    assert_eq!(secure.reference.as_deref(), Some("#secure"));
    for xml in [&inline.xml, &secure.xml] {
        let xml = xml.as_deref().expect("the policy is in the document");
        let document = bsoap_schema::Document::new("policy.xml", xml.as_bytes()).expect("UTF-8");
        let tree = document.parse(&bsoap_schema::LoadLimits::default());
        let tree = tree.unwrap_or_else(|error| panic!("{error}: {xml}"));
        assert_eq!(tree.root_element().tag_name().name(), "Policy");
    }
    assert!(
        secure
            .xml
            .as_deref()
            .is_some_and(|xml| xml.contains("x:Https"))
    );
    assert_eq!(
        (lost.reference.as_deref(), &lost.xml),
        (Some("#lost"), &None)
    );
    is_noted(&definitions, "the policy \"#lost\" is not in this document");
}

#[test]
fn policies_of_operations_and_messages_are_kept() {
    let policy = |id: &str| format!("<wsp:Policy wsu:Id='{id}'><wsp:All/></wsp:Policy>");
    let reference = |id: &str| format!("<wsp:PolicyReference URI='#{id}'/>");
    let bound =
        "<operation name='O'><input><soap:body use='literal'/></input></operation></binding>";
    assert!(SERVICE.contains(bound));
    let service = SERVICE.replace(
        bound,
        &format!(
            "<operation name='O'>{}<input>{}<soap:body use='literal'/></input></operation></binding>",
            reference("one"),
            policy("inner")
        ),
    );
    let service = service.replacen(
        "<input message='t:M'/>",
        &format!(
            "<input message='t:M' wsp:PolicyURIs='#two'/>{}",
            reference("two")
        ),
        1,
    );
    let policies = policy("one") + &policy("two");
    let definitions = loaded(&in_namespace(&format!("{policies}{TYPES}{service}{PORT}")));
    let (_, port) = definitions.ports().next().expect("a port");
    let operation = &port.binding.operations[0];
    let references = |policies: &[bsoap_schema::Policy]| -> Vec<String> {
        let all = policies.iter().filter(|policy| policy.xml.is_some());
        all.map(|policy| policy.reference.clone().unwrap_or_default())
            .collect()
    };
    assert_eq!(references(&operation.policies), ["#one", "#two"]);
    assert_eq!(references(&operation.input.policies), ["", "#two"]);
    assert!(port.policies.is_empty() && port.binding.policies.is_empty());
}
