//! rpc/encoded messages: what is written, and what is read of the forms that peers use.

use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder, Value};
use bsoap_protocol::header::Node;
use bsoap_protocol::{Endpoint, IncomingRequest, ReceivedRequest, SoapVersion, Target};
use bsoap_schema::{Chain, Definitions, LoadOptions, MemoryLoader, WellKnown, load};
use serde_json::{Value as Json, json};

const WSDL: &str = include_str!("testdata/encoded.wsdl");

struct World {
    definitions: Definitions,
}

impl World {
    fn new() -> Self {
        let mut loader = MemoryLoader::default();
        loader.add("encoded.wsdl", WSDL);
        let loader = Chain::new().then(loader).then(WellKnown);
        let definitions = load("encoded.wsdl", &loader, &LoadOptions::default());
        Self {
            definitions: definitions.expect("the WSDL loads"),
        }
    }

    fn target(&self, version: SoapVersion, operation: &str) -> Target {
        let mut ports = self.definitions.ports();
        let port = ports.find(|(_, port)| port.binding.version == version);
        let (_, port) = port.expect("a port of each version");
        Target::new(self.definitions.plan(), &port.binding, operation).expect("an operation")
    }

    /// The text of a request.
    fn write(&self, version: SoapVersion, operation: &str, argument: Json) -> String {
        self.try_write(version, operation, argument)
            .expect("a request")
    }

    fn try_write(
        &self,
        version: SoapVersion,
        operation: &str,
        argument: Json,
    ) -> Result<String, String> {
        let arguments = Value::object([("in", Value::from_json(argument))]);
        let target = self.target(version, operation);
        let (request, _) = target
            .request(&arguments)
            .and_then(bsoap_protocol::Request::write)
            .map_err(|error| report(&error))?;
        Ok(String::from_utf8(request.body).expect("text"))
    }

    fn receive(&self, version: SoapVersion, text: &str) -> Result<ReceivedRequest, String> {
        let target = self.target(version, "echoPerson");
        let bindings = vec![Arc::clone(target.binding())];
        let endpoint = Endpoint::new(target.plan(), bindings, Node::new());
        let mut decoder = Decoder::new(Arc::clone(target.plan()), DecodeOptions::default());
        let incoming = IncomingRequest {
            content_type: None,
            soap_action: None,
            body: text.as_bytes().to_vec().into(),
        };
        match endpoint.receive(&mut decoder, incoming) {
            Ok((received, _)) => Ok(received),
            Err(reply) => Err(String::from_utf8_lossy(&reply.body).into_owned()),
        }
    }

    /// The argument in a request.
    fn read(&self, version: SoapVersion, text: &str) -> Json {
        let received = self.receive(version, text).expect("a request");
        let value = serde_json::to_value(received.value()).expect("JSON");
        value["in"].clone()
    }

    /// Reads a request of SOAP 1.1 whose Body is `body`.
    fn read_body(&self, body: &str) -> Json {
        self.read(SoapVersion::Soap11, &envelope(body))
    }

    /// The fault for a request of SOAP 1.1 whose Body is `body`.
    fn refuse(&self, body: &str) -> String {
        match self.receive(SoapVersion::Soap11, &envelope(body)) {
            Ok(received) => panic!("accepted: {:?}", received.value()),
            Err(fault) => fault,
        }
    }
}

fn report(error: &dyn std::error::Error) -> String {
    let mut report = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        report = format!("{report}: {cause}");
        source = cause.source();
    }
    report
}

fn envelope(body: &str) -> String {
    format!(
        r#"<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/" xmlns:E="http://schemas.xmlsoap.org/soap/encoding/"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t"><S:Body>{body}</S:Body></S:Envelope>"#
    )
}

const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

/// Items have no `xsi:type`, so an array that was received without `arrayType` gets one when its Record is sent again.
#[test]
fn an_array_received_without_its_type_is_sent_with_it() {
    let world = World::new();
    let body = r#"<t:echoInts><in xsi:type="t:ArrayOfInt"><i>1</i><i>2</i></in></t:echoInts>"#;
    let received = world.receive(SoapVersion::Soap11, &envelope(body));
    let record = received.expect("a request").record().clone();
    let target = world.target(SoapVersion::Soap11, "echoInts");
    let record = target.completed(record).expect("no references");
    let (sent, _) = target.request_of(record).write().expect("a request");
    let text = String::from_utf8(sent.body).expect("text");
    let array = r#"soapenc:arrayType="xsd:int[2]"><item>1</item><item>2</item>"#;
    assert!(text.contains(array), "{text}");
}

#[test]
fn an_array_of_doubles_states_its_size_and_types() {
    let world = World::new();
    let text = world.write(
        SoapVersion::Soap11,
        "echoDoubles",
        json!({"item": [1.5, 2.5]}),
    );
    for part in [
        "soap:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"",
        "soapenc:arrayType=\"xsd:double[2]\"",
        "xsi:type=\"t:ArrayOfDouble\"",
        "<item>1.5</item><item>2.5</item>",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = world.write(SoapVersion::Soap12, "echoDoubles", json!([1.5, 2.5]));
    let size = "enc:itemType=\"xsd:double\" enc:arraySize=\"2\"";
    assert!(text.contains(size), "{text}");
}

#[test]
fn what_is_written_is_read() {
    let world = World::new();
    let person = json!({"name": "Ada", "age": 36, "friend": {"name": "Bob", "age": 3}, "scores": {"item": [1.0, 2.0]}});
    for version in BOTH {
        for (operation, value) in [
            ("echoPerson", person.clone()),
            ("echoDoubles", json!({"item": [1.5, -2.0]})),
            ("echoInts", json!({"item": [1, 2, 3]})),
            ("echoStrings", json!({"item": ["a", null, "c"]})),
            (
                "echoRagged",
                json!({"item": [{"item": [1, 2]}, {"item": [3]}]}),
            ),
            ("echoPeople", json!({"item": [person.clone(), null]})),
        ] {
            let text = world.write(version, operation, value.clone());
            let mut found = world.read(version, &text);
            strip_sizes(&mut found);
            assert_eq!(found, value, "{text}");
        }
    }
}

/// Removes the sizes of arrays.
fn strip_sizes(value: &mut Json) {
    match value {
        Json::Object(members) => {
            members.remove("@arrayType");
            members.remove("@arraySize");
            members.values_mut().for_each(strip_sizes);
        }
        Json::Array(items) => items.iter_mut().for_each(strip_sizes),
        _ => {}
    }
}

#[test]
fn values_are_shared_and_cycles_end() {
    let world = World::new();
    let found = world.read_body(
        r##"<t:echoPerson><in href="#1"/></t:echoPerson>
        <multiRef id="1" xsi:type="t:Person"><name xsi:type="xsd:string">Ada</name><friend href="#2"/></multiRef>
        <x:any xmlns:x="urn:x" id="2" xsi:type="t:Person"><friend href="#1"/><name>Bob</name></x:any>"##,
    );
    let expected =
        json!({"@id": "1", "name": "Ada", "friend": {"friend": {"@href": "#1"}, "name": "Bob"}});
    assert_eq!(found, expected);
}

#[test]
fn references_to_simple_values_are_replaced() {
    let world = World::new();
    let found = world.read_body(
        r##"<t:echoPerson><in href="#p"/></t:echoPerson>
        <multiRef id="p" xsi:type="t:Person"><name href="#n"/><age href="#a"/><scores href="#s"/></multiRef>
        <multiRef id="n" xsi:type="E:string">Ada &amp; Bob</multiRef><multiRef id="a" xsi:type="xsd:int">36</multiRef>
        <multiRef id="s" xsi:type="E:Array" E:arrayType="xsd:double[2]"><x href="#d"/><y>2</y></multiRef>
        <multiRef id="d" xsi:type="xsd:double">1.5</multiRef>"##,
    );
    let expected = json!({"name": "Ada & Bob", "age": 36, "scores": {"item": [1.5, 2.0]}});
    assert_eq!(found, expected);
    // The value may also be an accessor itself.
    let found = world.read_body(
        r##"<t:echoStrings><in E:arrayType="xsd:string[2]"><a id="1">x</a><b href="#1"/></in></t:echoStrings>"##,
    );
    assert_eq!(found, json!({"item": ["x", "x"]}));
}

#[test]
fn items_have_any_name_and_sizes_may_be_missing() {
    let world = World::new();
    for items in [
        "<in><a>1</a><xsd:int>2</xsd:int></in>",
        r#"<in E:arrayType="xsd:int[2]" xsi:type="E:Array"><item>1</item><item>2</item></in>"#,
        r#"<in E:arrayType="xsd:int[]"><E:int xsi:type="E:int">1</E:int><item xsi:type="xsd:int">2</item></in>"#,
        r#"<in xsi:type="t:ArrayOfInt"><i>1</i><i>2</i></in>"#,
    ] {
        let found = world.read_body(&format!("<t:echoInts>{items}</t:echoInts>"));
        assert_eq!(found["item"], json!([1, 2]), "{items}");
    }
}

#[test]
fn omitted_items_are_nil_or_zero() {
    let world = World::new();
    let ints = |array: &str| world.read_body(&format!("<t:echoInts>{array}</t:echoInts>"));
    let offset = r#"<in E:arrayType="xsd:int[5]" E:offset="[2]"><i>3</i><i>4</i></in>"#;
    assert_eq!(
        ints(offset),
        json!({"@arrayType": "[5]", "item": [0, 0, 3, 4]})
    );
    let sparse = r#"<in E:arrayType="xsd:int[5]"><i E:position="[1]">1</i><i>2</i><i E:position="[4]">4</i></in>"#;
    assert_eq!(ints(sparse), json!({"item": [0, 1, 2, 0, 4]}));
    let strings = r#"<t:echoStrings><in E:arrayType="xsd:string[3]"><s E:position="[2]">c</s></in></t:echoStrings>"#;
    assert_eq!(world.read_body(strings), json!({"item": [null, null, "c"]}));
    let grid = r#"<t:echoGrid><in E:arrayType="xsd:double[2,3]"><v>1</v><v E:position="[1,2]">6</v></in></t:echoGrid>"#;
    let found = world.receive(SoapVersion::Soap11, &envelope(grid));
    let Value::Object(grid) = found.expect("a grid").value()["in"].clone() else {
        panic!("an array is an object");
    };
    let Some(Value::Doubles(items)) = grid.get("item") else {
        panic!("items are a column: {grid:?}");
    };
    assert_eq!((items[0], items[5]), (1.0, 6.0));
    assert!(items[1..5].iter().all(|item| item.is_nan()));
}

#[test]
fn arrays_of_several_dimensions_keep_their_sizes() {
    let world = World::new();
    let value = json!({"@arrayType": "[2,3]", "item": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]});
    let text = world.write(SoapVersion::Soap11, "echoGrid", value.clone());
    assert!(
        text.contains("soapenc:arrayType=\"xsd:double[2,3]\""),
        "{text}"
    );
    assert_eq!(world.read(SoapVersion::Soap11, &text), value);
    let value = json!({"@arraySize": "2 3", "item": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]});
    let text = world.write(SoapVersion::Soap12, "echoGrid", value.clone());
    assert!(text.contains("enc:arraySize=\"2 3\""), "{text}");
    assert_eq!(world.read(SoapVersion::Soap12, &text), value);
}

#[test]
fn shared_values_and_cycles_are_written_as_they_are_given() {
    let world = World::new();
    let value =
        json!({"@id": "a", "name": "Ada", "friend": {"name": "Bob", "friend": {"@href": "#a"}}});
    let text = world.write(SoapVersion::Soap11, "echoPerson", value.clone());
    assert!(text.contains("<friend href=\"#a\">"), "{text}");
    assert_eq!(world.read(SoapVersion::Soap11, &text), value);
    let value = json!({"@id": "a", "name": "Ada", "friend": {"@ref": "a"}});
    let text = world.write(SoapVersion::Soap12, "echoPerson", value.clone());
    assert_eq!(world.read(SoapVersion::Soap12, &text), value);
    let dangling = json!({"friend": {"@href": "#b"}});
    let error = world.try_write(SoapVersion::Soap11, "echoPerson", dangling);
    let error = error.expect_err("no value has the id");
    assert!(
        error.contains("\"#b\" names no value") && error.contains("/friend"),
        "{error}"
    );
}

#[test]
fn derived_types_are_stated() {
    let world = World::new();
    let value = json!({"@type": "Pupil", "name": "Ada", "school": "here"});
    let text = world.write(SoapVersion::Soap11, "echoPerson", value.clone());
    assert!(text.contains("xsi:type=\"t:Pupil\""), "{text}");
    assert_eq!(world.read(SoapVersion::Soap11, &text), value);
    let text = world.write(
        SoapVersion::Soap11,
        "echoAny",
        json!({"@type": "Person", "name": "Ada"}),
    );
    let found = world.read(SoapVersion::Soap11, &text);
    assert_eq!(found["name"], json!("Ada"), "{text}");
}

#[test]
fn dangling_references_are_errors_with_their_location() {
    let world = World::new();
    let fault = world.refuse(r##"<t:echoPerson><in><friend href="#x"/></in></t:echoPerson>"##);
    assert!(
        fault.contains("\"#x\" names no value of the message"),
        "{fault}"
    );
    assert!(
        fault.contains("/Envelope/Body/echoPerson/in/friend"),
        "{fault}"
    );
    let fault = world.refuse(r##"<t:echoPerson><in><age href="#x"/></in></t:echoPerson>"##);
    assert!(
        fault.contains("\"#x\" names no value") && fault.contains("/in/age"),
        "{fault}"
    );
    let twice = r##"<t:echoPerson><in href="#1"/></t:echoPerson><a id="1" xsi:type="t:Person"/><b id="1" xsi:type="t:Person"/>"##;
    assert!(world.refuse(twice).contains("two values have the id"));
    let array =
        r##"<t:echoPerson><in href="#1"/></t:echoPerson><a id="1" xsi:type="t:ArrayOfInt"/>"##;
    assert!(world.refuse(array).contains("type is not allowed here"));
}

#[test]
fn hostile_sizes_and_positions_are_refused_at_once() {
    let world = World::new();
    let ints = |array: &str| format!("<t:echoInts>{array}</t:echoInts>");
    // A size alone costs nothing.
    let found = world.read_body(&ints(r#"<in E:arrayType="xsd:int[2000000000]"/>"#));
    assert_eq!(found, json!({"@arrayType": "[2000000000]"}));
    for array in [
        r#"<in E:arrayType="xsd:int[2000000000]"><i E:position="[1999999999]">1</i></in>"#,
        r#"<in E:arrayType="xsd:int[2000000000]" E:offset="[1999999999]"><i>1</i></in>"#,
        r#"<in E:arrayType="xsd:int[9]"><i E:position="[18446744073709551615]">1</i></in>"#,
    ] {
        let fault = world.refuse(&ints(array));
        assert!(fault.contains("omitted_items"), "{fault}");
    }
    for array in [
        r#"<in E:arrayType="xsd:int[9]"><i E:position="[2]">1</i><i E:position="[2]">1</i></in>"#,
        r#"<in E:arrayType="xsd:int[9]"><i E:position="[2]">1</i><i>1</i><i E:position="[3]">1</i></in>"#,
        r#"<in E:arrayType="xsd:int[9]"><i E:position="[-1]">1</i></in>"#,
        r#"<in E:arrayType="xsd:int[9]"><i E:position="x">1</i></in>"#,
        r#"<in E:arrayType="xsd:int[3,3]"><i E:position="[3,0]">1</i></in>"#,
    ] {
        let fault = world.refuse(&ints(array));
        assert!(fault.contains("array index"), "{fault}");
    }
}

#[test]
fn items_may_come_in_any_order() {
    let world = World::new();
    let strings = |array: &str| world.read_body(&format!("<t:echoStrings>{array}</t:echoStrings>"));
    let found = strings(
        r#"<in E:arrayType="xsd:string[4]"><s E:position="[2]">c</s><s>d</s><s E:position="[0]" id="1">a</s></in>"#,
    );
    assert_eq!(found, json!({"item": ["a", null, "c", "d"]}));
    let ragged = r##"<t:echoRagged><in E:arrayType="xsd:int[][2]"><a E:arrayType="xsd:int[3]" E:position="[1]"><i E:position="[2]">5</i><i E:position="[0]" href="#n"/></a>
        <a E:arrayType="xsd:int[1]" E:position="[0]"><i href="#n"/></a></in></t:echoRagged><n id="n" xsi:type="xsd:int">7</n>"##;
    let expected = json!({"item": [{"item": [7]}, {"item": [7, 0, 5]}]});
    assert_eq!(world.read_body(ragged), expected);
}

#[test]
fn more_items_than_an_array_has_are_refused() {
    let world = World::new();
    for array in [
        r#"<in E:arrayType="xsd:int[1]"><i>1</i><i>2</i></in>"#,
        r#"<in E:arrayType="xsd:int[3]" E:offset="[2]"><i>1</i><i>2</i></in>"#,
    ] {
        let fault = world.refuse(&format!("<t:echoInts>{array}</t:echoInts>"));
        assert!(fault.contains("items in an array of the size"), "{fault}");
    }
}

/// A message whose tree doubles with each of its values.
fn bomb(levels: usize) -> String {
    let mut body = "<t:echoPeople><in href=\"#0\"/></t:echoPeople>".to_owned();
    for level in 0..levels {
        let next = level + 1;
        body += &format!(
            r##"<m id="{level}" xsi:type="t:ArrayOfPerson"><i xsi:type="t:Person"><friend href="#f{level}"/></i></m>
            <m id="f{level}" xsi:type="t:Person"><friend href="#f{next}"/></m>"##
        );
    }
    body + &format!(r#"<m id="f{levels}" xsi:type="t:Person"/>"#)
}

#[test]
fn a_chain_of_references_nests_within_the_limit() {
    let world = World::new();
    world.read_body(&bomb(20));
    let fault = world.refuse(&bomb(5000));
    assert!(fault.contains("MAX_DEPTH"), "{fault}");
}

#[test]
fn many_references_to_one_value_take_linear_time() {
    let world = World::new();
    let time = |count: usize| {
        let items = "<i href=\"#1\"/>".repeat(count);
        let people = format!(
            r#"<t:echoPeople><in E:arrayType="t:Person[{count}]">{items}</in></t:echoPeople><m id="1" xsi:type="t:Person"><name>Ada</name></m>"#
        );
        let text = envelope(&people);
        let begin = std::time::Instant::now();
        let found = world.read(SoapVersion::Soap11, &text);
        assert_eq!(found["item"].as_array().map(Vec::len), Some(count));
        assert_eq!(found["item"][0], json!({"@id": "1", "name": "Ada"}));
        assert_eq!(found["item"][count - 1], json!({"@href": "#1"}));
        begin.elapsed()
    };
    time(10_000);
    let (few, many) = (time(10_000), time(80_000));
    assert!(many < few * 40, "{few:?} for 10 000, {many:?} for 80 000");
}
