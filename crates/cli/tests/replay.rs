//! `replay`: recorded messages, read and sent as what differs from those before.

mod common;

use std::path::Path;

use common::{Ran, mesh, run};
use serde_json::Value;
use tempfile::TempDir;

/// A folder of requests and answers; the third answer is broken.
fn recorded() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let envelope = |body: &str| {
        format!(
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>{body}</s:Body></s:Envelope>"
        )
    };
    for (place, last) in ["3", "4", "4", "55"].iter().enumerate() {
        let request = run(&[
            "encode",
            &mesh(),
            "sumInts",
            "values.item=1",
            &format!("values.item={last}"),
        ]);
        assert_eq!(request.code, 0, "{request:?}");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(format!("{place}-{name}.xml")), text).unwrap();
        };
        write("request", &request.out);
        if place == 2 {
            write("response", &envelope("<broken/>"));
        }
    }
    folder
}

fn lines(ran: &Ran) -> Vec<Value> {
    ran.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn each_message_is_shown_with_what_it_has_in_common_with_the_one_before() {
    let folder = recorded();
    let ran = run(&[
        "replay",
        &mesh(),
        &path(folder.path(), "*-request.xml"),
        "--json",
        "--repeat",
        "2",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = lines(&ran);
    assert_eq!(lines.len(), 5, "four messages and their sum");
    let [first, second, third, fourth, sum] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert!(
        first["mode"] == "regular" && first["values_changed"].is_null(),
        "{first}"
    );
    assert!(
        second["mode"] == "fast" && second["values_changed"] == 1,
        "{second}"
    );
    assert!(
        third["values_changed"] == 0 && third["bytes_equal"] == third["bytes"],
        "{third}"
    );
    assert!(
        fourth["same_as_fresh"] == true && fourth["operation"] == "sumInts",
        "{fourth}"
    );
    for line in &lines[..4] {
        assert!(
            line["ns"].is_number() && line["full_ns"].is_number() && line["memory"].is_u64(),
            "{line}"
        );
    }
    assert!(
        sum["summary"]["messages"] == 4 && sum["summary"]["modes"]["fast"] == 3,
        "{sum}"
    );
}

#[test]
fn messages_may_be_read_in_full() {
    let folder = recorded();
    let requests = path(folder.path(), "*-request.xml");
    let ran = run(&["replay", &mesh(), &requests, "--way", "off"]);
    assert!(ran.code == 0 && ran.out.contains("4 messages"), "{ran:?}");
    assert!(!ran.out.contains("not saved"), "{ran:?}");
}

#[test]
fn the_summary_says_in_words_why_something_was_not_saved() {
    let folder = recorded();
    let requests = path(folder.path(), "*-request.xml");
    for (option, reason) in [
        (
            &[][..],
            "not saved: 1 in full, and kept to compare later ones with it; messages of ",
        ),
        (
            &["--sending"],
            "not saved: 1 without a similar message before, 1 in full, and kept to compare later ones",
        ),
    ] {
        let ran = run(&[&["replay", &mesh(), &requests][..], option].concat());
        assert!(ran.code == 0 && ran.out.contains(reason), "{ran:?}");
    }
}

#[test]
fn what_is_sent_is_what_would_have_been_sent_without_templates() {
    let folder = recorded();
    let ran = run(&[
        "replay",
        &mesh(),
        &path(folder.path(), "*-request.xml"),
        "--sending",
        "--json",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = lines(&ran);
    assert_eq!(lines.len(), 5, "four messages and their sum");
    assert_eq!(lines[0]["match"], "plain", "the first of its kind");
    for line in &lines[..4] {
        assert!(
            line["same_as_fresh"] == true && line["match"].is_string(),
            "{line}"
        );
        assert!(
            line["ns"].is_number() && line["bytes_rewritten"].is_u64(),
            "{line}"
        );
    }
}

#[test]
fn every_way_to_receive_and_every_stuffing_to_send_can_be_chosen() {
    let folder = recorded();
    let (wsdl, requests) = (mesh(), path(folder.path(), "*-request.xml"));
    let choices = [
        (
            "--way",
            &[
                "exact",
                "full",
                "differential",
                "lightweight",
                "hashed",
                "off",
            ][..],
        ),
        ("--stuffing", &["none", "exact", "intermediate", "maximum"]),
    ];
    for (option, values) in choices {
        for value in values {
            let mut all = vec!["replay", &wsdl, &requests, "--json", option, value];
            if option == "--stuffing" {
                all.push("--sending");
            }
            let ran = run(&all);
            assert_eq!(ran.code, 0, "{ran:?}");
            let lines = lines(&ran);
            for line in &lines[..4] {
                assert!(
                    line["same_as_fresh"] == true && line["memory"].is_u64(),
                    "{line}"
                );
            }
            assert!(
                lines[0]["bytes_equal"].is_null(),
                "{option} {value}: {lines:?}"
            );
            assert!(
                lines[2]["bytes_equal"].as_u64() > Some(100),
                "{option} {value}: {lines:?}"
            );
        }
    }
    let without = run(&["replay", &wsdl, &requests, "--stuffing", "maximum"]);
    assert_eq!(without.code, 2, "{without:?}");
}

#[test]
fn messages_that_are_not_valid_are_reported_and_the_others_replayed() {
    let folder = recorded();
    let ran = run(&["replay", &mesh(), &folder.path().display().to_string()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains("2-response.xml:1:") && ran.out.contains("4 messages"),
        "{ran:?}"
    );
    assert!(ran.err.contains("1 of 5 messages are not valid"), "{ran:?}");
    let ran = run(&["replay", &mesh(), &path(folder.path(), "none.xml")]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(
        run(&["replay", &mesh(), "x.xml", "--sending", "--way", "off"]).code,
        2
    );
}
