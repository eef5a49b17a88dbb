//! Header blocks and WS-Addressing: what `call` sends, and what `describe` shows.

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use common::worker::{Worker, free_address};
use common::{mesh, run, run_with};
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

/// An Envelope with header blocks around the Body of a request of mesh.wsdl.
fn with_headers(blocks: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:a='http://www.w3.org/2005/08/addressing'>\
         <s:Header>{blocks}</s:Header><s:Body><m:echoInts xmlns:m='urn:bsoap:mesh'><values><item>1</item></values></m:echoInts>\
         </s:Body></s:Envelope>"
    )
}

/// What an echo service with these options answers to an Envelope with each of these header blocks.
fn answers<const N: usize>(options: &[&str], requests: [&str; N]) -> [String; N] {
    let worker = Worker::start(free_address(), 256, options, Stdio::null());
    requests.map(|blocks| {
        let body = with_headers(blocks);
        let mut stream = TcpStream::connect(worker.address).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "POST /mesh HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    })
}

#[test]
fn a_service_plays_roles_and_understands_names_that_options_say() {
    let block = "<t:trace xmlns:t='urn:t' s:mustUnderstand='1'>7</t:trace>";
    let other = "<t:trace xmlns:t='urn:t' s:mustUnderstand='1' s:actor='urn:audit'>7</t:trace>";
    let [refused, ignored] = answers(&[], [block, other]);
    assert!(refused.contains("MustUnderstand"), "{refused}");
    assert!(ignored.contains("echoIntsResponse"), "{ignored}");
    let [refused] = answers(&["--role", "urn:audit"], [other]);
    assert!(refused.contains("MustUnderstand"), "{refused}");
    let options = ["--role", "urn:audit", "--understands", "{urn:t}trace"];
    for answer in answers(&options, [block, other]) {
        assert!(answer.contains("echoIntsResponse"), "{answer}");
    }
}

#[test]
fn a_service_uses_addressing_as_options_say() {
    let id = "<a:Action>urn:bsoap:mesh#echoInts</a:Action><a:MessageID>urn:uuid:1</a:MessageID>";
    let reply =
        |host: &str| format!("{id}<a:ReplyTo><a:Address>http://{host}/</a:Address></a:ReplyTo>");
    let [answer] = answers(&[], [id]);
    assert!(!answer.contains("RelatesTo"), "{answer}");
    let (known, unknown) = (reply("127.0.0.1:9"), reply("a.example"));
    let [answer, plain, refused] = answers(&["--addressing"], [id, "", &known]);
    assert!(
        answer.contains(":RelatesTo") && answer.contains("urn:uuid:1"),
        "{answer}"
    );
    assert!(plain.contains("echoIntsResponse"), "{plain}");
    assert!(
        refused.contains("is not one that answers may be sent to"),
        "{refused}"
    );
    let [refused] = answers(&["--addressing=required"], [""]);
    assert!(
        refused.contains("MessageAddressingHeaderRequired"),
        "{refused}"
    );
    let [accepted, refused] = answers(&["--allow-replies-to", "127.0.0.1:9"], [&known, &unknown]);
    assert!(accepted.starts_with("HTTP/1.1 202"), "{accepted}");
    assert!(
        refused.contains("is not one that answers may be sent to"),
        "{refused}"
    );
    let to = |address: &str| format!("{id}<a:To>http://{address}/mesh</a:To>");
    let (ours, theirs) = (to("mesh.example"), to("b.example"));
    let options = ["--serving", "http://mesh.example/mesh"];
    let [answer, refused] = answers(&options, [&ours, &theirs]);
    assert!(answer.contains("echoIntsResponse"), "{answer}");
    assert!(refused.contains("DestinationUnreachable"), "{refused}");
    let ran = run(&[
        "serve",
        &mesh(),
        "--addressing=off",
        "--serving",
        "http://a.example/",
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn decode_shows_the_addressing_of_an_answer() {
    let id = "<a:Action>urn:x</a:Action><a:RelatesTo>urn:uuid:7</a:RelatesTo>";
    let ran = run_with(&["decode", &mesh(), "--json"], &with_headers(id));
    let found = &ran.json()["addressing"];
    assert_eq!(found["answers"], "urn:uuid:7");
    assert_eq!(found["action"], "urn:x");
    let ran = run_with(&["decode", &mesh(), "--json"], &with_headers(""));
    assert!(ran.json().get("addressing").is_none());
}
