//! Streams of rpc/encoded messages: every way to read them agrees, and what is written is the same graph.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::decode::DecodeOptions;
use bsoap_codec::plan::ElementId;
use bsoap_schema::{Chain, Definitions, MemoryLoader, WellKnown};
use bsoap_testkit::encoded::{EncodedPaths, envelope, random_body};
use bsoap_testkit::random::Random;

/// The Plan of requests by SOAP 1.1.
fn plan() -> (Arc<Plan>, ElementId) {
    let mut loader = MemoryLoader::default();
    loader.add("encoded.wsdl", include_str!("testdata/encoded.wsdl"));
    let loader = Chain::new().then(loader).then(WellKnown);
    let definitions = Definitions::load("encoded.wsdl", &loader).expect("a WSDL");
    let (_, port) = definitions.ports().next().expect("a port");
    (Arc::clone(definitions.plan()), port.binding.request)
}

#[test]
fn every_way_to_read_random_graphs_agrees_and_they_are_written_as_they_are() {
    let (plan, root) = plan();
    let mut valid = 0;
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut paths = EncodedPaths::new(&plan, root, DecodeOptions::default());
        let mut body = random_body(&mut random);
        for round in 0..12 {
            if random.chance(40) {
                body = random_body(&mut random);
            } else if let Some(at) = body.find(|byte: char| byte.is_ascii_digit()) {
                // Another size, id or value.
                body.replace_range(at..=at, &random.below(10).to_string());
            }
            let message = envelope(&body);
            match paths.agree(message.as_bytes(), &mut random) {
                Ok(is_valid) => valid += usize::from(is_valid),
                Err(error) => panic!("seed {seed}, round {round}: {error}"),
            }
        }
    }
    assert!(valid > 500, "{valid} of 1800 messages are valid");
}

#[test]
fn the_size_of_an_array_alone_may_change() {
    let (plan, root) = plan();
    let mut paths = EncodedPaths::new(&plan, root, DecodeOptions::default());
    let items = "<item xsi:type=\"xsd:double\">0.25</item>".repeat(40);
    let mut random = Random::new(1);
    for size in [
        "[40]", "[99]", "[41]", "[,40]", "[40] ", "[]", "[][40]", "[7]",
    ] {
        let body = format!(
            "<t:echoDoubles><in E:arrayType=\"xsd:double{size}\" xsi:type=\"E:Array\">{items}</in></t:echoDoubles>"
        );
        for _ in 0..3 {
            let agreed = paths.agree(envelope(&body).as_bytes(), &mut random);
            let is_valid = agreed.unwrap_or_else(|error| panic!("{size}: {error}"));
            assert_eq!(is_valid, size != "[7]", "{size}");
        }
    }
}
