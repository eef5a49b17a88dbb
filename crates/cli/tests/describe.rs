//! `describe`: what a WSDL has, as text in lines of a width, as JSON, and as samples.

mod common;

use common::{mesh, run, run_with};
use serde_json::{Value, json};

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/library.wsdl");
const WATERML: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../conformance/testdata/waterml-1.1.wsdl"
);

/// The page about the library, of one operation and in full.
const LEND: &str = include_str!("testdata/lend.txt");

#[test]
fn an_operation_is_described_with_all_that_its_messages_carry() {
    let ran = run(&["describe", LIBRARY, "lend"]);
    assert_eq!(ran.out, LEND);
}

#[test]
fn the_overview_names_header_blocks_faults_and_what_cannot_be_called() {
    let ran = run(&["describe", LIBRARY]);
    for line in [
        "        headers session; faults notFound",
        "    report(text: xsd:string)  one-way",
        "    overdue (not callable: only the service can start it)",
    ] {
        assert!(
            ran.out.lines().any(|one| one == line),
            "{line}\n{}",
            ran.out
        );
    }
}

#[test]
fn no_line_is_longer_than_100_characters_where_no_terminal_is() {
    for wsdl in [LIBRARY, WATERML, &mesh()] {
        let operations = run(&["describe", wsdl, "--json"]).json();
        let operations = operations["services"][0]["ports"][0]["operations"]
            .as_array()
            .unwrap()
            .clone();
        let first = operations[0]["name"].as_str().unwrap();
        for more in [&[][..], &["-v"], &[first], &[first, "-v"]] {
            let ran = run(&[&["describe", wsdl][..], more].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
            for line in ran.out.lines() {
                assert!(line.chars().count() <= 100, "{more:?}: {line}");
            }
        }
    }
}

#[test]
fn documentation_is_a_line_or_with_v_all_of_it() {
    let folded = run(&["describe", LIBRARY, "lend"]).out;
    assert!(
        folded.contains("\n        Lends books. The reader must have"),
        "{folded}"
    );
    assert!(!folded.contains("returned") && !folded.contains("A book on paper."));
    let full = run(&["describe", LIBRARY, "lend", "-v"]).out;
    for part in [
        "\n        Lends books.\n        The reader must have a card",
        "returned.\n",
        "It is open on Sundays.\n",
        "\n            A book on paper.\n",
        "\n              The condition of a copy.\n",
        "\n            A book that is read aloud.\n",
    ] {
        assert!(full.contains(part), "{part}\n{full}");
    }
}

/// The members of an outline by their names.
fn member<'j>(members: &'j Value, name: &str) -> &'j Value {
    let mut members = members.as_array().expect("an array").iter();
    members
        .find(|one| one["name"] == name)
        .expect("a member of that name")
}

#[test]
fn json_has_all_that_the_text_has() {
    let page = run(&["describe", LIBRARY, "--json"]).json();
    let port = &page["services"][0]["ports"][0];
    assert_eq!(
        port["uncallable"],
        json!([{"name": "overdue", "kind": "notification"}])
    );
    let lend = member(&port["operations"], "lend");
    let request = &lend["request"];
    assert_eq!(
        request["headers"],
        json!([{"kind": "element", "name": "session", "members": [{"kind": "element", "name": "card", "type": "xsd:long"}]}])
    );
    let book = member(&request["members"], "book");
    assert_eq!(
        (&book["repeats"], &book["type"]),
        (&json!(true), &json!("l:Book*"))
    );
    assert_eq!(book["derived"], json!(["l:AudioBook"]));
    assert_eq!(book["documentation"], "A book on paper.");
    let condition = member(&book["members"], "condition");
    assert_eq!(condition["optional"], true);
    assert_eq!(condition["values"][3], "water damaged");
    let audio = member(&request["types"], "l:AudioBook");
    assert_eq!(audio["base"], "l:Book");
    assert_eq!(member(&audio["members"], "minutes")["type"], "xsd:int");
    assert_eq!(lend["answer"]["members"][0]["type"], "xsd:date");
    let fault = &lend["faults"][0];
    assert_eq!(
        (&fault["name"], &fault["documentation"]),
        (
            &json!("notFound"),
            &json!("The library does not have the book.")
        )
    );
    let detail = member(&fault["detail"]["members"], "notFound");
    assert_eq!(member(&detail["members"], "similar")["repeats"], true);
    let report = member(&port["operations"], "report");
    assert_eq!(
        (&report["oneWay"], &report["answer"]),
        (&json!(true), &Value::Null)
    );
}

#[test]
fn a_sample_is_a_valid_request() {
    for (wsdl, operation) in [
        (LIBRARY, "lend"),
        (LIBRARY, "report"),
        (&mesh(), "echoMesh"),
    ] {
        let xml = run(&["describe", wsdl, "--sample", operation]);
        assert!(xml.code == 0 && xml.out.contains("\n  "), "{xml:?}");
        let valid = run_with(&["validate", wsdl, "-"], &xml.out);
        assert_eq!(valid.code, 0, "{valid:?}\n{}", xml.out);
        let arguments = run(&["describe", wsdl, "--sample", operation, "--json"]);
        let encoded = run_with(&["encode", wsdl, operation, "--json=-"], &arguments.out).json();
        let packed = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(
            packed(encoded["envelope"].as_str().unwrap()),
            packed(&xml.out)
        );
    }
    let lend = run(&["describe", LIBRARY, "--sample", "lend"]).out;
    assert!(
        lend.contains("session>") && lend.contains("<card>"),
        "{lend}"
    );
    let unknown = run(&["describe", LIBRARY, "--sample", "land"]);
    assert!(
        unknown.code == 2 && unknown.err.contains("it has lend, rate, report"),
        "{unknown:?}"
    );
    assert_eq!(
        run(&["describe", LIBRARY, "rate", "--sample", "lend"]).code,
        2
    );
}

/// A WSDL with a schema at a URL, and what stacks in the field write.
const ODDITIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/oddities.wsdl");

/// The URL of its schema, and the folder that it is mapped to.
const MAP: &str = concat!(
    "http://odd.example/types=",
    env!("CARGO_MANIFEST_DIR"),
    "/tests/testdata/oddities"
);

#[test]
fn a_mapped_url_is_read_from_its_folder_or_file() {
    let unmapped = run(&["describe", ODDITIES]);
    assert!(!unmapped.out.contains("Say("), "{unmapped:?}");
    let file = MAP.replacen('=', "/word.xsd=", 1) + "/word.xsd";
    for map in [MAP, &file] {
        let mapped = run(&["describe", ODDITIES, "--map", map]);
        assert!(mapped.out.contains("Say(word: xsd:string)"), "{mapped:?}");
        let encoded = run(&["encode", ODDITIES, "Say", "word=la", "--map", map]);
        assert!(encoded.out.contains(">la</"), "{encoded:?}");
    }
    for wrong in ["http://odd.example", "=x", "x="] {
        let refused = run(&["describe", ODDITIES, "--map", wrong]);
        assert!(
            refused.code == 2 && refused.err.contains("expected URL=PATH"),
            "{refused:?}"
        );
    }
}

#[test]
fn what_cannot_be_called_or_is_not_applied_is_said_in_text_and_json() {
    let text = run(&["describe", ODDITIES, "--map", MAP]).out;
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "not callable: the transport is \"http://www.w3.org/2010/soapjms/\", not HTTP",
        "not callable: its binding is not SOAP (http://schemas.xmlsoap.org/wsdl/http/)",
        "policies (only WS-Addressing and MTOM are applied): #secure",
        "wsdl:message is ignored: wsdl:message has no attribute name",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let page = run(&["describe", ODDITIES, "--map", MAP, "--json"]).json();
    let service = &page["services"][0];
    let ports = service["ports"].as_array().expect("ports").iter();
    let callable: Vec<_> = ports
        .map(|port| (&port["name"], &port["callable"]))
        .collect();
    assert_eq!(
        callable,
        [
            (&json!("Queue"), &json!(false)),
            (&json!("Odd"), &json!(true))
        ]
    );
    assert_eq!(service["otherPorts"][0]["name"], "Get");
    assert_eq!(service["ports"][1]["policies"][0]["reference"], "#secure");
    let notes = page["notes"].as_array().expect("notes");
    let notes: Vec<&str> = notes.iter().filter_map(Value::as_str).collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("wsdl:message is ignored")),
        "{notes:?}"
    );
}
