//! The program as its users run it: results are lines of JSON, unknown names are errors.

use std::process::{Command, Output};

use serde_json::Value;

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bsoap-bench"));
    command
        .args(arguments)
        .output()
        .expect("the program starts")
}

#[test]
fn results_are_a_line_of_json_for_each_case_and_engine() {
    let output = bench(&[
        "decode", "--quick", "--json", "--case", "dhard/*", "--engine", "bsoap", "--engine",
        "baseline",
    ]);
    assert!(output.status.success(), "{output:?}");
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4, "two cases, two engines");
    for line in &lines {
        assert_eq!(line["bench"], "decode");
        assert_eq!(line["checked"], true);
        assert!(
            line["ns"].is_u64()
                && line["values"].is_u64()
                && line["spread"].is_number()
                && line["runs"].is_u64(),
            "{line}"
        );
        let other = if line["engine"] == "bsoap" {
            "baseline"
        } else {
            "bsoap"
        };
        assert!(line["vs"][other].is_number(), "{line}");
    }
}

#[test]
fn unknown_benchmarks_are_refused_and_known_ones_listed() {
    assert_eq!(bench(&["decod"]).status.code(), Some(2));
    let list = bench(&["--list"]);
    let text = String::from_utf8_lossy(&list.stdout);
    assert!(
        list.status.success() && text.contains("dhard/100000") && text.contains("decode"),
        "{list:?}"
    );
}
