//! The graph of an encoded message: shared, and expanded to a tree.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::graph::{GraphError, GraphErrorKind, REFERENCE_EXPANSION, expand, share};
use bsoap_codec::{DecodeOptions, Decoder, Record, View};
use bsoap_schema::{Chain, Definitions, MemoryLoader, WellKnown};
use bsoap_testkit::encoded::envelope;
use serde_json::{Value as Json, json};

fn record(body: &str) -> Record {
    let mut loader = MemoryLoader::default();
    loader.add("encoded.wsdl", include_str!("testdata/encoded.wsdl"));
    let loader = Chain::new().then(loader).then(WellKnown);
    let definitions = Definitions::load("encoded.wsdl", &loader).expect("a WSDL");
    let (_, port) = definitions.ports().next().expect("a port");
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), DecodeOptions::default());
    let decoded = decoder.decode(port.binding.request, envelope(body).as_bytes());
    decoded.expect("a message")
}

/// The argument.
fn argument(record: &Record) -> Json {
    let value = View::of(record).to_value().expect("a value");
    let value = serde_json::to_value(value).expect("JSON");
    let body = value["Body"].as_object().expect("a Body");
    body.values().next().expect("a wrapper")["in"].clone()
}

fn tree(body: &str) -> Result<Json, GraphError> {
    expand(&record(body), REFERENCE_EXPANSION).map(|tree| argument(&tree))
}

const PEOPLE: &str = "<t:echoPeople><in E:arrayType=\"t:Person[3]\"><item href=\"#a\"/><item href=\"#b\"/><item href=\"#a\"/></in></t:echoPeople>\
    <multiRef id=\"a\" xsi:type=\"t:Person\"><name>Ada</name></multiRef>\
    <multiRef id=\"b\" xsi:type=\"t:Person\"><name>Bob</name><friend href=\"#a\"/></multiRef>";

#[test]
fn a_tree_has_a_copy_for_each_reference() {
    let ada = json!({"name": "Ada"});
    let expected = json!({"item": [ada, {"name": "Bob", "friend": ada}, ada]});
    assert_eq!(tree(PEOPLE), Ok(expected.clone()));
    // Also of the shared form.
    let record = record(PEOPLE);
    let shared = share(&record).expect("a graph");
    let tree = expand(&shared, REFERENCE_EXPANSION).expect("a tree");
    assert_eq!(argument(&tree), expected);
}

#[test]
fn a_record_without_references_is_not_copied() {
    let record = record("<t:echoPerson><in id=\"a\"><name>Ada</name></in></t:echoPerson>");
    assert!(matches!(share(&record), Ok(Cow::Borrowed(_))));
    assert!(matches!(expand(&record, 0), Ok(Cow::Borrowed(_))));
}

#[test]
fn only_ids_that_a_reference_names_remain() {
    // Nothing refers to the second value, which refers to the first.
    let record = record(
        "<t:echoPerson><in href=\"#a\"/></t:echoPerson>\
         <multiRef id=\"a\" xsi:type=\"t:Person\"><name>Ada</name></multiRef>\
         <multiRef id=\"b\" xsi:type=\"t:Person\"><friend href=\"#a\"/></multiRef>",
    );
    let shared = share(&record).expect("a graph");
    assert_eq!(argument(&shared), json!({"name": "Ada"}));
    assert!(matches!(share(&shared), Ok(Cow::Borrowed(_))));
}

#[test]
fn a_cycle_is_no_tree() {
    let error = tree(
        "<t:echoPerson><in href=\"#a\"/></t:echoPerson>\
         <multiRef id=\"a\" xsi:type=\"t:Person\"><friend href=\"#b\"/></multiRef>\
         <multiRef id=\"b\" xsi:type=\"t:Person\"><friend href=\"#a\"/></multiRef>",
    );
    let error = error.expect_err("a cycle");
    assert_eq!(error.kind, GraphErrorKind::Cycle("a".into()));
    assert_eq!(error.path, "/Envelope/Body/multiRef[2]/friend");
    let inside = tree("<t:echoPerson><in id=\"a\"><friend href=\"#a\"/></in></t:echoPerson>");
    assert!(inside.is_err(), "{inside:?}");
}

#[test]
fn a_tree_takes_no_more_than_the_limit() {
    let record = record(PEOPLE);
    let error = expand(&record, 64).expect_err("a small limit");
    assert_eq!(error.kind, GraphErrorKind::Expansion(64));
    assert!(error.to_string().contains("reference_expansion"), "{error}");
    assert!(expand(&record, 4096).is_ok());
}

#[test]
fn independent_structs_need_a_type_in_whatever_order_they_are_referred_to() {
    let untyped = "<multiRef id=\"a\"><name>Ada</name></multiRef>";
    let wrapper = "<t:echoPerson><in href=\"#a\"/></t:echoPerson>";
    let typed = "<multiRef id=\"b\" xsi:type=\"t:Person\"><friend href=\"#a\"/></multiRef>";
    for rest in [format!("{untyped}{typed}"), format!("{typed}{untyped}")] {
        let error = tree(&format!("{wrapper}{rest}")).expect_err("no type");
        assert_eq!(error.kind, GraphErrorKind::Untyped("a".into()));
        assert_eq!(error.path, "/Envelope/Body/echoPerson/in");
        assert!(error.to_string().contains("xsi:type"), "{error}");
    }
}

#[test]
fn deep_chains_are_refused_without_recursion() {
    let mut body = String::from("<t:echoPerson><in href=\"#p0\"/></t:echoPerson>");
    for number in 0..5000 {
        let next = number + 1;
        body.push_str(&format!(
            "<multiRef id=\"p{number}\" xsi:type=\"t:Person\"><friend href=\"#p{next}\"/></multiRef>"
        ));
    }
    body.push_str("<multiRef id=\"p5000\" xsi:type=\"t:Person\"/>");
    let error = tree(&body).expect_err("too deep");
    assert_eq!(error.kind, GraphErrorKind::Depth);
}

#[test]
fn many_references_at_positions_take_linear_time() {
    let count = 100_000;
    let items: String = (0..count)
        .rev()
        .map(|at| format!("<item E:position=\"[{at}]\" href=\"#{}\"/>", at % 2))
        .collect();
    let body = format!(
        "<t:echoInts><in E:arrayType=\"xsd:int[{count}]\">{items}</in></t:echoInts>\
         <n id=\"0\" xsi:type=\"xsd:int\">5</n><n id=\"1\" xsi:type=\"xsd:int\">7</n>"
    );
    let start = Instant::now();
    let record = record(&body);
    let took = start.elapsed();
    // Comparing each reference to each position took minutes.
    assert!(took < Duration::from_secs(3), "{took:?}");
    let found = argument(&record);
    let items = found["item"].as_array().expect("items");
    assert_eq!(items.len(), count);
    let expected = |at: usize| json!(5 + at % 2 * 2);
    assert!((0..count).all(|at| items[at] == expected(at)));
}

#[test]
fn a_value_inside_of_one_that_nothing_refers_to_is_where_it_is_referred_to_first() {
    let wrapper = "<t:echoPeople><in E:arrayType=\"t:Person[2]\"><item href=\"#2\"/><item href=\"#2\"/></in></t:echoPeople>";
    let people = |first: &str, inner: &str| {
        format!(
            "{wrapper}<multiRef id=\"1\" xsi:type=\"t:Person\"><name>{first}</name>\
             <friend id=\"2\"><name>Bob</name>{inner}</friend></multiRef>"
        )
    };
    let alone = record(&people("Ada", ""));
    let shared = share(&alone).expect("a graph");
    let bob = json!({"name": "Bob"});
    let tree = expand(&shared, REFERENCE_EXPANSION).expect("a tree");
    assert_eq!(argument(&tree), json!({"item": [bob, bob]}));
    shared.check().expect("it can be written");

    // It refers to the value that it was in, which then refers to it.
    let cycle = record(&people("Ada", "<friend href=\"#1\"/>"));
    let shared = share(&cycle).expect("a graph");
    shared.check().expect("it can be written");
    let value = View::of(&shared).to_value().expect("a value");
    let names = format!("{value:?}");
    assert_eq!(
        (names.matches("Ada").count(), names.matches("Bob").count()),
        (1, 1),
        "{names}"
    );
    let again = share(&shared).expect("a graph again");
    assert_eq!(again.slots(), shared.slots());
}
