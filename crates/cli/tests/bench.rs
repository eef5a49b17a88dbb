//! `bench`: results in the format that figures are kept in.

#[expect(dead_code, reason = "other tests use the rest")]
mod common;

use common::run;
use serde_json::Value;

#[test]
fn results_are_a_line_of_json_for_each_case_and_engine() {
    let ran = run(&[
        "bench", "decode", "--quick", "--json", "--case", "dhard/*", "--engine", "bsoap",
        "--engine", "floor",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<Value> = ran
        .out
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
            "floor"
        } else {
            "bsoap"
        };
        assert!(line["vs"][other].is_number(), "{line}");
    }
}

#[test]
fn unknown_benchmarks_are_refused_and_known_ones_listed() {
    assert_eq!(run(&["bench", "decod"]).code, 2);
    let list = run(&["bench", "--list"]);
    assert!(
        list.code == 0 && list.out.contains("dhard/100000") && list.out.contains("floor"),
        "{list:?}"
    );
}
