//! The files of `deploy/`, checked by the programs that read them, where those are installed.

#![cfg(unix)]

use std::process::{Command, Output};

/// A file of `deploy/`.
fn shipped(name: &str) -> String {
    format!(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/{}"),
        name
    )
}

fn read(name: &str) -> String {
    std::fs::read_to_string(shipped(name)).expect("the file is there")
}

/// The output of a program; `None`, and a note, if it is not installed.
fn output(program: &str, arguments: &[&str]) -> Option<Output> {
    let output = Command::new(program).args(arguments).output();
    if output.is_err() {
        eprintln!("skipped: {program} is not installed");
    }
    output.ok()
}

fn assert_success(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn haproxy_accepts_its_configuration() {
    if let Some(output) = output("haproxy", &["-c", "-f", &shipped("haproxy.cfg")]) {
        assert_success(&output);
    }
}

#[test]
fn envoy_accepts_its_configuration() {
    let file = shipped("envoy.yaml");
    if let Some(output) = output("envoy", &["--mode", "validate", "-c", &file]) {
        assert_success(&output);
    }
}

#[test]
fn yaml_files_can_be_parsed() {
    let has_yaml = output("python3", &["-c", "import yaml"]);
    if !has_yaml.is_some_and(|output| output.status.success()) {
        return eprintln!("skipped: there is no Python with the module yaml");
    }
    let parse =
        "import sys, yaml\nfor name in sys.argv[1:]: assert list(yaml.safe_load_all(open(name)))";
    let files = [shipped("envoy.yaml"), shipped("kubernetes.yaml")];
    let parsed = output("python3", &["-c", parse, &files[0], &files[1]]);
    assert_success(&parsed.expect("it was there before"));
}

#[test]
fn systemd_accepts_the_unit_and_finds_it_confined() {
    let folder = tempfile::tempdir().expect("a folder");
    let unit = folder.path().join("bsoap.service");
    let text = read("bsoap.service").replace("/usr/local/bin/bsoap", env!("CARGO_BIN_EXE_bsoap"));
    std::fs::write(&unit, text).expect("written");
    let unit = unit.display().to_string();
    let Some(verified) = output("systemd-analyze", &["verify", &unit]) else {
        return;
    };
    assert_success(&verified);
    // The exposure of the unit in tenths, of 100 at most. systemd before 250 cannot look at a file.
    let judged = output(
        "systemd-analyze",
        &[
            "security",
            "--offline=true",
            "--threshold=20",
            "--no-pager",
            &unit,
        ],
    );
    let judged = judged.expect("it was there before");
    if String::from_utf8_lossy(&judged.stderr).contains("unrecognized option") {
        return eprintln!("skipped: this systemd-analyze cannot judge a file");
    }
    assert_success(&judged);
}

#[test]
fn operations_that_are_repeated_are_those_of_the_example() {
    let wsdl = read("../examples/mesh/mesh.wsdl");
    let proxies = [read("haproxy.cfg"), read("envoy.yaml")];
    for operation in ["sumInts", "sumDoubles", "echoInts"] {
        assert!(wsdl.contains(&format!("soapAction=\"urn:bsoap:mesh#{operation}\"")));
        assert!(
            proxies.iter().all(|text| text.contains(operation)),
            "{operation}"
        );
    }
    assert!(proxies.iter().all(|text| !text.contains("echoDoubles")));
}

#[test]
fn what_is_started_has_options_that_exist() {
    let help = output(env!("CARGO_BIN_EXE_bsoap"), &["serve", "--help"]).expect("it starts");
    let help = String::from_utf8_lossy(&help.stdout);
    for file in [
        "bsoap.service",
        "bsoap.env",
        "Containerfile",
        "kubernetes.yaml",
        "haproxy.cfg",
    ] {
        let text = read(file);
        let lines = text
            .lines()
            .filter(|line| !line.contains("podman") && !line.contains("kubectl"));
        let options = lines
            .flat_map(|line| line.split(|c: char| !(c.is_ascii_lowercase() || c == '-')))
            .filter(|word| word.starts_with("--") && !word.ends_with('-'));
        for option in options.filter(|option| !is_elsewhere(option)) {
            assert!(help.contains(option), "{file}: {option}");
        }
    }
}

/// Options of other programs, and those of `bsoap serve --metrics`, which is optional.
fn is_elsewhere(option: &str) -> bool {
    matches!(
        option,
        "--metrics"
            | "--release"
            | "--locked"
            | "--package"
            | "--bin"
            | "--from"
            | "--no-cache"
            | "--now"
    )
}
