//! WSDL 2.0 documents have the same operations as those of WSDL 1.1.

use bsoap_schema::{Body, Definitions, ErrorKind, MemoryLoader, SoapVersion};

const HOTEL: &str = include_str!("testdata/hotel.wsdl");

fn load(text: &str) -> Result<Definitions, bsoap_schema::Error> {
    let mut loader = MemoryLoader::default();
    loader.add("hotel.wsdl", text);
    Definitions::load("hotel.wsdl", &loader)
}

#[test]
fn interfaces_bindings_and_endpoints_are_read() {
    let definitions = load(HOTEL).unwrap();
    assert_eq!(definitions.documentation(), Some("Rooms of a hotel."));
    let [hotel] = definitions.services() else {
        panic!("one service")
    };
    let ports: Vec<_> = hotel
        .ports
        .iter()
        .map(|port| (&*port.name, port.binding.version, port.address.as_deref()))
        .collect();
    assert_eq!(
        ports,
        [
            (
                "New",
                SoapVersion::Soap12,
                Some("http://localhost:8080/hotel")
            ),
            (
                "Old",
                SoapVersion::Soap11,
                Some("http://localhost:8080/hotel11")
            ),
        ]
    );
    assert_eq!(
        hotel.other_ports[0].protocol.as_deref(),
        Some("http://www.w3.org/ns/wsdl/http")
    );
    let binding = &hotel.ports[0].binding;
    let names: Vec<_> = binding
        .operations
        .iter()
        .map(|operation| &*operation.name)
        .collect();
    assert_eq!(names, ["check", "log", "ping"]);
    assert_eq!(binding.transport, hotel.ports[1].binding.transport);
    assert_eq!(hotel.ports[1].binding.operations.len(), 3);
}

#[test]
fn operations_have_their_messages_headers_faults_and_actions() {
    let definitions = load(HOTEL).unwrap();
    let binding = &definitions.services()[0].ports[0].binding;
    let check = binding.operation("check").unwrap();
    assert_eq!(
        definitions.signature(check),
        "check(from: xsd:date, nights: xsd:int) -> rate: xsd:double"
    );
    assert_eq!(check.soap_action.as_deref(), Some("urn:hotel:check"));
    assert_eq!(check.documentation.as_deref(), Some("What a stay costs."));
    assert!(check.is_safe);
    assert_eq!(check.input.headers[0].name, "session");
    assert_eq!(check.faults[0].name, "full");
    assert!(check.faults[0].detail.is_some());
    let log = binding.operation("log").unwrap();
    assert!(log.output.is_none() && matches!(log.input.body, Body::Bare { .. }));
    let ping = binding.operation("ping").unwrap();
    assert!(matches!(ping.input.body, Body::Empty));
    assert!(matches!(ping.output.as_ref().unwrap().body, Body::Empty));
}

#[test]
fn what_is_not_supported_is_said() {
    let definitions = load(HOTEL).unwrap();
    let notes: Vec<_> = definitions
        .notes()
        .iter()
        .map(|note| &*note.message)
        .collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("#any") && note.contains("anything")),
        "{notes:?}"
    );
    let without = HOTEL
        .replace("interface=\"t:Reservation\" type", "type")
        .replace(
            "interface=\"t:Reservation\">\n    <endpoint",
            "interface=\"t:None\">\n    <endpoint",
        );
    let definitions = load(&without).unwrap();
    assert!(definitions.services()[0].ports.is_empty());
    assert!(format!("{:?}", definitions.notes()).contains("{urn:hotel}None"));
    let nameless = HOTEL.replace("<interface name=\"Reservation\"", "<interface");
    let notes = load(&nameless).map(|definitions| format!("{:?}", definitions.notes()));
    let said = notes.unwrap_or_else(|error| error.to_string());
    assert!(said.contains("no attribute name"), "{said}");
}

#[test]
fn interfaces_may_extend_each_other() {
    let circle = HOTEL.replace(
        "<interface name=\"Log\"",
        "<interface name=\"Log\" extends=\"t:Reservation t:Log\"",
    );
    let definitions = load(&circle).unwrap();
    assert_eq!(
        definitions.services()[0].ports[0].binding.operations.len(),
        3
    );
}

#[test]
fn many_interfaces_that_extend_one_another_exceed_the_budget() {
    let mut text = String::from(
        "<description xmlns='http://www.w3.org/ns/wsdl' targetNamespace='urn:t' xmlns:t='urn:t'>",
    );
    for index in 0..20_000 {
        text.push_str(&format!(
            "<interface name='i{}' extends='t:i{index}'><operation name='o{index}'/></interface>",
            index + 1
        ));
    }
    text.push_str("</description>");
    let error = load(&text).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Limit { name: "work", .. }),
        "{error}"
    );
}
