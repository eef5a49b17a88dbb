//! Header blocks and WS-Addressing: what `call` sends, and what `describe` shows.

mod common;

use common::{mesh, run};
use serde_json::Value;

const TOUR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../bsoap/tests/common/tour.wsdl"
);

/// The message that a call would send.
fn sent(wsdl: &str, call: &[&str]) -> String {
    let options = ["--dry-run", "--show=raw", "--endpoint", "http://localhost/"];
    let ran = run(&[&["call", wsdl], call, &options].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

#[test]
fn a_call_names_the_version_of_addressing_and_endpoints_for_answers() {
    let call = ["sumInts", "values.item=1"];
    let text = sent(&mesh(), &[&call[..], &["--addressing=2004/08"]].concat());
    assert!(text.contains("ws/2004/08/addressing"), "{text}");
    let endpoints = [
        "--reply-to",
        "http://a.example/",
        "--fault-to",
        "http://b.example/",
    ];
    let text = sent(&mesh(), &[&call[..], &endpoints].concat());
    for part in [
        "2005/08/addressing",
        ":ReplyTo",
        "http://a.example/",
        ":FaultTo",
        "http://b.example/",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
}

#[test]
fn a_declared_block_is_sent_with_its_soap_attributes() {
    let call = [
        "secured",
        "value=1",
        "--port=Secured11",
        "--header=token.#text=abc",
        "--header=token.@mustUnderstand=1",
        "--header=token.@actor=urn:audit",
    ];
    let text = sent(TOUR, &call);
    for part in [">abc<", ":mustUnderstand=\"1\"", ":actor=\"urn:audit\""] {
        assert!(text.contains(part), "{part} {text}");
    }
}

#[test]
fn describe_shows_whether_addressing_is_used_and_the_actions() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mesh.wsdl");
    let wsdl = std::fs::read_to_string(mesh()).expect("a WSDL");
    let using = "<w:UsingAddressing xmlns:w='http://www.w3.org/2006/05/addressing/wsdl'/>";
    let wsdl = wsdl.replacen("<soap:binding", &format!("{using}<soap:binding"), 1);
    std::fs::write(&file, wsdl).expect("written");
    let file = file.to_str().expect("a name");
    let text = run(&["describe", file]).out;
    assert!(text.contains("WS-Addressing 1.0 is used"), "{text}");
    assert!(text.contains("action urn:bsoap:mesh#sumInts"), "{text}");
    let page: Value = run(&["describe", file, "--json"]).json();
    let ports = &page["services"][0]["ports"];
    assert_eq!(ports[0]["addressing"]["required"], false);
    assert_eq!(ports[1]["addressing"], Value::Null);
    let operations = ports[0]["operations"].as_array().expect("operations");
    let found = operations.iter().find(|one| one["name"] == "sumInts");
    let found = found.expect("the operation");
    assert_eq!(found["action"], "urn:bsoap:mesh#sumInts");
    assert_eq!(found["answerAction"], "urn:bsoap:mesh:Mesh:sumIntsResponse");
}
