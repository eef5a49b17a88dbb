//! `describe`, `encode`, `decode`, `validate`: what the command says about messages, without a network.

mod common;

use common::{mesh, run, run_with};
use serde_json::json;

#[test]
fn describe_shows_every_operation_with_its_signature() {
    let ran = run(&["describe", &mesh()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for word in [
        "service",
        "Mesh",
        "SOAP 1.1",
        "jacobiStep(rows: xsd:int, columns: xsd:int, field: ",
    ] {
        assert!(ran.out.contains(word), "{word} is not in\n{}", ran.out);
    }
    assert!(!ran.out.contains('\u{1b}'), "colours where no terminal is");
}

#[test]
fn describe_as_json_lists_services_ports_and_operations() {
    let page = run(&["describe", &mesh(), "--json"]).json();
    let operations = page["services"][0]["ports"][0]["operations"]
        .as_array()
        .unwrap()
        .clone();
    assert!(
        operations
            .iter()
            .any(|operation| operation["name"] == "sumDoubles" && operation["oneWay"] == false)
    );
}

#[test]
fn describe_expands_one_operation_and_names_those_there_are() {
    let ran = run(&["describe", &mesh(), "jacobiStep"]);
    assert!(
        ran.out.contains("request")
            && ran.out.contains("residual")
            && !ran.out.contains("echoInts("),
        "{}",
        ran.out
    );
    let ran = run(&["describe", &mesh(), "jacobi"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("no operation jacobi") && ran.err.contains("jacobiStep"),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_encoded_decodes_to_the_same() {
    let value = json!({"rows": 1, "columns": 3, "field": {"item": [0.1, -2.5e-300, 1e22]}});
    let encoded = run_with(&["encode", &mesh(), "jacobiStep"], &value.to_string());
    assert_eq!(encoded.code, 0, "{encoded:?}");
    assert!(encoded.out.contains("<item>0.1</item>"), "{}", encoded.out);
    let decoded = run_with(&["decode", &mesh(), "--json"], &encoded.out).json();
    assert_eq!(
        decoded,
        json!({"operation": "jacobiStep", "direction": "request", "value": value, "warnings": []})
    );
}

#[test]
fn pairs_make_the_same_message_as_json() {
    let pairs = run(&[
        "encode",
        &mesh(),
        "sumInts",
        "values.item=1",
        "values.item=2",
    ]);
    let json = run_with(
        &["encode", &mesh(), "sumInts", "--json=-"],
        r#"{"values": {"item": [1, 2]}}"#,
    )
    .json();
    assert_eq!(pairs.out.trim(), json["envelope"].as_str().unwrap());
    let literal = run(&[
        "encode",
        &mesh(),
        "sumInts",
        r#"--json={"values":{"item":[1,2]}}"#,
    ])
    .json();
    assert_eq!(literal, json);
    // Without a value, the option does not take the next word.
    let output = run(&[
        "encode",
        &mesh(),
        "sumInts",
        "--json",
        "values.item=1",
        "values.item=2",
    ])
    .json();
    assert_eq!(output, json);
}

#[test]
fn a_dry_run_prints_the_request_and_sends_nothing() {
    let call = [
        "call",
        &mesh(),
        "sumInts",
        "values.item=1",
        "--dry-run",
        "--endpoint",
        "http://127.0.0.1:1/",
    ];
    let ran = run(&call);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("\n        <item>1</item>\n"),
        "{}",
        ran.out
    );
    let encoded = run(&["encode", &mesh(), "sumInts", "values.item=1"]);
    let raw = run(&[&call[..], &["--show=raw"]].concat());
    assert_eq!(raw.out, encoded.out);
    let json = run(&[&call[..], &["--json"]].concat()).json();
    assert_eq!(json["endpoint"], "http://127.0.0.1:1/");
    assert_eq!(json["envelope"].as_str().unwrap(), encoded.out.trim());
    assert!(
        json["content_type"]
            .as_str()
            .unwrap()
            .starts_with("text/xml")
    );
    let token = ["--wsse-username", "Ann", "--wsse-password", "secret"];
    let signed = run(&[&call[..], &token].concat());
    assert!(
        signed.out.contains("UsernameToken>") && signed.out.contains(">Ann<"),
        "{signed:?}"
    );
    assert!(!signed.out.contains("secret"), "a digest: {signed:?}");
    let wrong = run(&["call", &mesh(), "sumInts", "values.item=x", "--dry-run"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (3, ""), "{wrong:?}");
}

#[test]
fn answers_are_encoded_and_decoded_too() {
    let encoded = run(&[
        "encode",
        &mesh(),
        "sumInts",
        "--response",
        "sum=9007199254740993",
    ]);
    let decoded = run_with(&["decode", &mesh(), "--json"], &encoded.out).json();
    assert_eq!(decoded["direction"], "response");
    assert_eq!(decoded["value"], json!({"sum": 9007199254740993i64}));
}

#[test]
fn bad_arguments_are_reported_with_path_and_expectation() {
    let ran = run(&["encode", &mesh(), "sumInts", "values.item=12,5"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.err.contains("12,5") && ran.err.contains("item"),
        "{}",
        ran.err
    );
    let ran = run(&["encode", &mesh(), "sumInts", "values"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = run_with(&["encode", &mesh(), "sumInts"], "{\"values\":\n 1,}");
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("standard input:2:4"), "{}", ran.err);
}

#[test]
fn a_document_type_is_accepted_only_if_the_option_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("message.xml").display().to_string();
    let envelope = "<!DOCTYPE e:Envelope [<!ENTITY two '2'><!ENTITY more '<item>3</item>'><!ENTITY wrong 'x'>]>\
                    <e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><m:sumInts xmlns:m='urn:bsoap:mesh'>\
                    <values><item>1</item><item>&two;</item>&more;</values></m:sumInts></e:Body></e:Envelope>";
    std::fs::write(&file, envelope).unwrap();
    let refused = run(&["validate", &mesh(), &file]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let accepted = run(&["validate", &mesh(), &file, "--doctype"]);
    assert_eq!(accepted.code, 0, "{accepted:?}");
    std::fs::write(&file, envelope.replace("&two;", "&wrong;")).unwrap();
    let wrong = run(&["validate", &mesh(), &file, "--doctype"]);
    assert!(
        wrong.code == 1 && wrong.out.contains("item[2]"),
        "{wrong:?}"
    );
}

#[test]
fn a_valid_message_is_valid_and_every_violation_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (
        folder.path().join("good.xml"),
        folder.path().join("bad.xml"),
    );
    std::fs::write(
        &good,
        run(&["encode", &mesh(), "sumInts", "values.item=1"]).out,
    )
    .unwrap();
    let envelope = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\n<m:sumInts xmlns:m='urn:bsoap:mesh'><values>\n\
                    <item>1</item>\n<item>x</item>\n<item>99999999999</item></values></m:sumInts></e:Body></e:Envelope>";
    std::fs::write(&bad, envelope).unwrap();
    let (good, bad) = (good.display().to_string(), bad.display().to_string());
    assert_eq!(run(&["validate", &mesh(), &good]).code, 0);
    let ran = run(&["validate", &mesh(), &good, &bad]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains(&format!("{good}: valid")), "{}", ran.out);
    assert!(
        ran.out.contains(&format!("{bad}:4:")) && ran.out.contains(&format!("{bad}:5:")),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("item[2]"), "{}", ran.out);
    let ran = run(&["validate", &mesh(), &bad, "--json"]);
    let line: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(line["violations"].as_array().unwrap().len(), 2);
}

#[test]
fn identifiers_and_references_are_checked_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("family.xsd");
    std::fs::write(
        &schema,
        "<schema xmlns='http://www.w3.org/2001/XMLSchema'><element name='family'><complexType><sequence>
        <element name='person' maxOccurs='unbounded'><complexType><sequence><element name='likes' type='IDREFS' minOccurs='0'/></sequence>
        <attribute name='id' type='ID'/><attribute name='parent' type='IDREF'/></complexType></element>
        </sequence></complexType></element></schema>",
    )
    .unwrap();
    let schema = schema.display().to_string();
    let good =
        "<family><person id='a' parent='b'><likes>b a</likes></person><person id='b'/></family>";
    assert_eq!(run_with(&["validate", &schema, "-", "--ids"], good).code, 0);
    let bad = "<family>\n<person id='a' parent='x'><likes>a y</likes></person>\n<person id='a'/>\n</family>";
    assert_eq!(run_with(&["validate", &schema, "-"], bad).code, 0);
    let ran = run_with(&["validate", &schema, "-", "--ids"], bad);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(lines.len(), 3, "{ran:?}");
    assert!(
        lines[0].contains(":3:") && lines[0].contains("\"a\" is there twice at /family/person[2]"),
        "{ran:?}"
    );
    assert!(
        lines[1].contains(":2:")
            && lines[1].contains("no element has the xs:ID \"x\" at /family/person"),
        "{ran:?}"
    );
    assert!(
        lines[2].contains("\"y\" at /family/person/likes"),
        "{ran:?}"
    );
    assert_eq!(run_with(&["decode", &schema, "-", "--ids"], good).code, 0);
    assert_eq!(run_with(&["decode", &schema], bad).code, 0);
    let ran = run_with(&["decode", &schema, "-", "--ids"], bad);
    assert!(
        ran.code == 3
            && ran
                .err
                .contains("\"a\" is there twice at /family/person[2]"),
        "{ran:?}"
    );
}

#[test]
fn what_replaces_a_simple_type_or_matches_a_wildcard_is_checked_too() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("s.xsd");
    std::fs::write(
        &schema,
        "<schema xmlns='http://www.w3.org/2001/XMLSchema'><element name='n' type='int'/><simpleType name='short'>
        <restriction base='string'><maxLength value='2'/></restriction></simpleType><element name='r'><complexType>
        <sequence><element name='s' type='string'/><any/></sequence></complexType></element></schema>",
    )
    .unwrap();
    let schema = schema.display().to_string();
    let message = |s: &str, n: &str| {
        let text = format!(
            "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><s xsi:type='short'>{s}</s><n>{n}</n></r>"
        );
        run_with(&["validate", &schema, "-", "--json"], &text)
    };
    assert_eq!(message("ab", "1").json()["valid"], true);
    for (s, n, place) in [("abc", "1", "/r/s"), ("ab", "x", "/r/n")] {
        let ran = message(s, n);
        assert_eq!(ran.code, 1, "{ran:?}");
        let line: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(line["violations"][0]["path"], place, "{line}");
    }
}

#[test]
fn what_is_sloppy_decodes_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("s.xsd");
    std::fs::write(
        &schema,
        "<schema xmlns='http://www.w3.org/2001/XMLSchema'><element name='r'><complexType><sequence>
        <element name='id' type='int' minOccurs='0'/><element name='n' type='int'/></sequence></complexType></element></schema>",
    )
    .unwrap();
    let schema = schema.display().to_string();
    let text = "<r><id/><n>1</n><x/></r>";
    assert_eq!(run_with(&["decode", &schema], text).code, 3);
    let ran = run_with(&["decode", &schema, "--lenient", "--json"], text).json();
    assert_eq!(ran["value"], json!({"n": 1}));
}

#[test]
fn input_that_is_no_message_is_refused_with_its_location() {
    for (text, problem) in [
        (
            "{}",
            "standard input:1:1: the message is not well-formed XML: ",
        ),
        (
            "",
            "standard input:1:1: the message is not well-formed XML: ",
        ),
        (
            "<x",
            "standard input:1:1: the message is not well-formed XML: ",
        ),
        (
            "<a>\n <b></a>",
            "standard input:2:5: the message is not well-formed XML: found </a>, expected </b>",
        ),
        ("<a/>", "neither a SOAP Envelope nor"),
        (
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Header/></e:Envelope>",
            "the message has no Body",
        ),
        (
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body/></e:Envelope>",
            "the Body is empty, but no operation",
        ),
        (
            "<e:Envelope xmlns:e='urn:x'/>",
            "expected that of SOAP 1.1 or SOAP 1.2",
        ),
    ] {
        let ran = run_with(&["decode", &mesh()], text);
        assert_eq!(ran.code, 3);
        assert!(ran.err.contains(problem), "{}", ran.err);
        assert!(!ran.err.contains("(byte "), "two locations: {}", ran.err);
    }
}

#[test]
fn a_wsdl_that_is_missing_or_broken_is_bad_input_with_its_place() {
    let ran = run(&["describe", "no/such.wsdl"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("no/such.wsdl"), "{}", ran.err);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.wsdl");
    std::fs::write(&file, "<wsdl:definitions xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'>\n  <wsdl:types>\n</wsdl:definitions>").unwrap();
    let ran = run(&["describe", &file.display().to_string()]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("broken.wsdl:3:"), "{}", ran.err);
}

#[test]
fn generated_code_goes_to_a_file_or_to_standard_output() {
    let code = run(&["generate", &mesh(), "--lang", "rust"]);
    assert_eq!(code.code, 0, "{code:?}");
    for word in [
        "pub struct MeshInterfaceObject",
        "pub value: f64",
        "fn jacobi_step",
    ] {
        assert!(code.out.contains(word), "{word} is not in\n{}", code.out);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh.rs");
    assert_eq!(
        run(&["generate", &mesh(), "-o", &file.display().to_string()]).code,
        0
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), code.out);
}

#[test]
fn python_is_generated_and_refuses_options_of_rust() {
    let code = run(&["generate", &mesh(), "--lang", "python", "--names", "wire"]);
    assert_eq!(code.code, 0, "{code:?}");
    for word in [
        "class MeshInterfaceObject(typed.Struct):",
        "def sumDoubles(",
    ] {
        assert!(code.out.contains(word), "{word} is not in\n{}", code.out);
    }
    for options in [
        ["--lang", "python", "--derive", "serde::Serialize"],
        ["--lang", "python", "--dates", "jiff"],
        ["--lang", "python", "--decimals", "strings"],
        ["--lang", "rust", "--names", "wire"],
    ] {
        let refused = run(&[&["generate", &mesh()][..], &options].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        let reason = format!("{} has no meaning for", options[2]);
        assert!(refused.err.contains(&reason), "{refused:?}");
    }
}

#[test]
fn nothing_is_generated_of_operations_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh.rs");
    let file = file.display().to_string();
    let unknown = run(&[
        "generate",
        &mesh(),
        "-o",
        &file,
        "--operations",
        "sumInts,sumints",
    ]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(
        unknown.err.contains("\"sumints\"; it has sumInts"),
        "{unknown:?}"
    );
    assert!(!std::path::Path::new(&file).exists());
    let part = run(&[
        "generate",
        &mesh(),
        "--only",
        "client",
        "--operations",
        "sumInts",
    ]);
    assert!(part.out.contains("fn sum_ints") && !part.out.contains("trait Mesh"));
    assert!(!part.out.contains("sum_doubles"), "{}", part.out);
}

#[test]
fn help_lists_the_exit_codes_and_completions_name_the_commands() {
    let help = run(&["--help"]);
    assert!(
        help.out.contains("Exit codes") && help.out.contains("validate"),
        "{}",
        help.out
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert!(script.code == 0 && script.out.contains("describe"));
    }
    assert_eq!(run(&["no-such-command"]).code, 2);
}
