//! Arguments and results of bare operations whose messages have elements in common.

use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder, Value};
use bsoap_protocol::{Request, Target};
use bsoap_schema::{Definitions, MemoryLoader};

/// `Maybe` sends `maybe`, `Words` sends `words`, `Both` sends `words` and `maybe`, `Swapped` sends them in the other order.
const SHARED_PARTS: &str = include_str!("testdata/shared_parts.wsdl");

fn definitions() -> Definitions {
    let mut loader = MemoryLoader::default();
    loader.add("shared_parts.wsdl", SHARED_PARTS);
    Definitions::load("shared_parts.wsdl", &loader).expect("the WSDL loads")
}

fn target(definitions: &Definitions, operation: &str) -> Target {
    let binding = &definitions.bindings()[0];
    Target::new(definitions.plan(), binding, operation).expect("an operation")
}

#[test]
fn each_message_is_built_by_its_own_branch_whatever_other_operations_have() {
    let definitions = definitions();
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), DecodeOptions::default());
    let (words, maybe) = (("words", Value::from("w")), ("maybe", Value::from(3)));
    // The end tags from the Body on.
    let ends = |text: &str| {
        let (_, after) = text.split_once("Body>").expect("a Body");
        after.matches("</").count()
    };
    for (operation, arguments, elements) in [
        ("Maybe", vec![maybe.clone()], 1),
        ("Words", vec![words.clone()], 1),
        ("Both", vec![words.clone(), maybe.clone()], 2),
        ("Swapped", vec![words.clone(), maybe.clone()], 2),
    ] {
        let target = target(&definitions, operation);
        let arguments = Value::object(arguments);
        let (request, _) = target
            .request(&arguments)
            .and_then(Request::write)
            .unwrap_or_else(|error| panic!("{operation}: {error:?}"));
        let text = String::from_utf8(request.body.clone()).expect("UTF-8");
        // The elements, the Body and the Envelope end.
        assert_eq!(ends(&text), elements + 2, "{text}");
        let record = decoder
            .decode(target.binding().request, &request.body)
            .unwrap_or_else(|error| panic!("{operation}: {error}"));
        let value = target.request_value(&record);
        assert_eq!(
            value["words"],
            arguments.get("words").cloned().unwrap_or_default()
        );
        assert_eq!(
            value["maybe"],
            arguments.get("maybe").cloned().unwrap_or_default()
        );
    }
}

#[test]
fn a_part_of_another_message_is_an_error_and_a_missing_one_is_named() {
    let definitions = definitions();
    for (operation, arguments, expected) in [
        ("Both", vec![("maybe", Value::from(1))], "words"),
        ("Swapped", vec![("words", Value::from("w"))], "maybe"),
    ] {
        let target = target(&definitions, operation);
        let error = target
            .request(Value::object(arguments))
            .expect_err(operation);
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(
            source.as_ref().is_some_and(|it| it.contains(expected)),
            "{source:?}"
        );
    }
}
