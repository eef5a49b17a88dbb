//! Traces of `bsoap serve` reach a collector.

#![cfg(all(unix, feature = "otlp"))]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use common::{bsoap, mesh, run};

/// The trace of the client and its span.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// The head and the body of the next request, which is answered with 200.
fn receive(collector: &TcpListener) -> (String, Vec<u8>) {
    let (stream, _) = collector.accept().expect("a connection");
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).expect("UTF-8"), 0, "{head}");
    }
    head.make_ascii_lowercase();
    let length = head.split("content-length: ").nth(1);
    let length = length
        .and_then(|rest| rest.lines().next())
        .expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    reader.read_exact(&mut body).expect("the body");
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    reader.get_mut().write_all(answer).expect("it reads");
    (head, body)
}

#[test]
fn the_span_of_a_request_is_posted() {
    let collector = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = collector.local_addr().expect("bound");
    let receiving = std::thread::spawn(move || receive(&collector));
    let mut child = bsoap()
        .args(["serve", &mesh(), "--listen", "127.0.0.1:0", "--json"])
        .args(["--otlp", &format!("http://{address}")])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the service starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output
        .read_line(&mut line)
        .expect("it says where it serves");
    let start: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let url = start["urls"][0].as_str().expect("a URL");
    run(&[
        "call",
        &mesh(),
        "sumInts",
        "values.item=1",
        "--endpoint",
        url,
        "--http-header",
        &format!("traceparent: 00-{TRACE}-{PARENT}-01"),
        "--json",
    ])
    .json();
    let id = child.id().to_string();
    let stopped = Command::new("kill").args(["-s", "TERM", &id]).status();
    assert!(stopped.is_ok_and(|status| status.success()));
    assert!(child.wait().is_ok_and(|status| status.success()));
    let (head, body) = receiving.join().expect("no panic");
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    assert!(
        head.contains("content-type: application/x-protobuf"),
        "{head}"
    );
    // The span is a child of that of the client.
    for id in [TRACE, PARENT] {
        let octets: Vec<u8> = (0..id.len() / 2)
            .map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).expect("hexadecimal"))
            .collect();
        let mut places = body.windows(octets.len());
        assert!(places.any(|place| place == octets), "{id} in {body:?}");
    }
    let text = String::from_utf8_lossy(&body);
    assert!(
        text.contains("Mesh/sumInts") && text.contains("rpc.method"),
        "{text}"
    );
}

#[test]
fn an_address_that_is_none_is_reported() {
    let ran = run(&["serve", &mesh(), "--otlp", "nonsense"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("(--otlp)"), "{}", ran.err);
    assert!(ran.out.is_empty());
}
