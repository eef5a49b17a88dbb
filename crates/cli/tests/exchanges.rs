//! `serve`, `call` and `demo`: over HTTP, on the loopback.

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use common::{Ran, bsoap, mesh, run};
use serde_json::{Value, json};

/// A service that ends with the test.
struct Served {
    child: Child,
    log: BufReader<ChildStdout>,
    url: String,
}

impl Served {
    fn new(arguments: &[&str]) -> Self {
        let mut child = bsoap()
            .args(["serve", &mesh(), "--listen", "127.0.0.1:0", "--json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the service starts");
        let mut log = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let mut line = String::new();
        log.read_line(&mut line).expect("it says where it serves");
        let start: Value = serde_json::from_str(&line).expect("in JSON");
        let url = start["urls"][0].as_str().expect("a URL").to_owned();
        Self { child, log, url }
    }

    fn call(&self, arguments: &[&str]) -> Ran {
        let (mesh, endpoint) = (mesh(), ["--endpoint", &self.url]);
        run(&[&["call", &mesh], arguments, &endpoint].concat())
    }

    fn next_line(&mut self) -> Value {
        let mut line = String::new();
        self.log.read_line(&mut line).expect("it logs");
        serde_json::from_str(&line).expect("in JSON")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_service_without_code_answers_with_samples_and_logs_each_request() {
    let mut served = Served::new(&[]);
    let answer = served.call(&["sumInts", "values.item=1"]).json();
    assert!(answer["sum"].is_i64(), "{answer}");
    let line = served.next_line();
    assert_eq!(
        (&line["operation"], &line["fault"]),
        (&json!("sumInts"), &Value::Null)
    );
}

#[test]
fn an_echo_gives_back_what_it_was_asked() {
    let served = Served::new(&["--echo"]);
    let value = json!({"values": {"item": [1.5, -0.0, 1e300]}});
    let ran = served.call(&[
        "echoDoubles",
        &format!("values:={}", value["values"]),
        "--json",
    ]);
    assert_eq!(ran.json(), value);
    // What the request does not have is not invented.
    let ran = served.call(&["echoDoubles", "values:={}", "--json"]);
    assert_eq!(ran.json(), json!({"values": {}}));
    // A step of Jacobi has a field too.
    let ran = served.call(&[
        "jacobiStep",
        "rows=1",
        "columns=2",
        "field.item=7",
        "field.item=8",
    ]);
    assert_eq!(ran.json()["field"], json!({"item": [7.0, 8.0]}));
}

#[test]
fn canned_answers_come_from_their_folder_and_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sumDoubles.json");
    std::fs::write(&file, r#"{"sum": 42.5}"#).unwrap();
    let served = Served::new(&["--answers", &folder.path().display().to_string()]);
    assert_eq!(
        served.call(&["sumDoubles", "values.item=1"]).json(),
        json!({"sum": 42.5})
    );
    std::fs::write(&file, r#"{"sum": "INF"}"#).unwrap();
    assert_eq!(
        served.call(&["sumDoubles", "values.item=1"]).json(),
        json!({"sum": "INF"})
    );
    std::fs::write(&file, r#"{"total": 1}"#).unwrap();
    let ran = served.call(&["sumDoubles", "values.item=1"]);
    assert_eq!(ran.code, 1, "a bad answer is a fault: {ran:?}");
    assert!(ran.out.contains("fault"), "{}", ran.out);
}

#[test]
fn messages_are_shown_as_they_are_sent_and_received() {
    let served = Served::new(&["--echo"]);
    let ran = served.call(&["echoInts", "values.item=7", "--show"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "> content-type: text/xml",
        "< HTTP status 200",
        "<item>7</item>\n",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(
        ran.json(),
        json!({"values": {"item": [7]}}),
        "standard output has the answer alone"
    );
}

#[test]
fn a_folder_of_answers_may_have_faults() {
    let folder = tempfile::tempdir().unwrap();
    let fault = r#"{"@fault": {"code": "Sender", "reason": "no field", "detail": {"badShape": {"expected": 4, "found": 1}}}}"#;
    std::fs::write(folder.path().join("jacobiStep.json"), fault).unwrap();
    let served = Served::new(&["--answers", &folder.path().display().to_string()]);
    let ran = served.call(&[
        "jacobiStep",
        "rows=2",
        "columns=2",
        "field.item=1",
        "--json",
    ]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let fault = &answer["fault"];
    assert_eq!(fault["reason"], "no field");
    assert_eq!(fault["detail"]["badShape"]["expected"], 4);
}

#[test]
fn a_quiet_service_writes_lines_for_faults_only() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("sumInts.json"),
        r#"{"@fault": {"reason": "tired"}}"#,
    )
    .unwrap();
    let mut served = Served::new(&["--quiet", "--answers", &folder.path().display().to_string()]);
    assert_eq!(served.call(&["sumDoubles", "values.item=1"]).code, 0);
    assert_eq!(served.call(&["sumInts", "values.item=1"]).code, 1);
    let line = served.next_line();
    assert_eq!(
        (&line["operation"], &line["fault"]),
        (&json!("sumInts"), &json!("tired"))
    );
}

#[test]
fn an_answer_for_no_operation_is_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sumDuobles.json"), "{}").unwrap();
    let ran = run(&[
        "serve",
        &mesh(),
        "--listen",
        "127.0.0.1:0",
        "--answers",
        &folder.path().display().to_string(),
    ]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("sumDuobles"), "{}", ran.err);
}

#[test]
fn the_wsdl_is_published_and_can_be_called_by() {
    let served = Served::new(&[]);
    let url = format!("{}?wsdl", served.url);
    let page = run(&["describe", &url, "--json"]).json();
    // The address alone shows a page about the service; its WSDL is found all the same.
    assert_eq!(run(&["describe", &served.url, "--json"]).json(), page);
    let address = page["services"][0]["ports"][0]["address"].as_str().unwrap();
    assert!(
        address.starts_with(served.url.rsplit_once('/').unwrap().0),
        "{address}"
    );
    let answer = run(&["call", &url, "sumInts", "values.item=3"]).json();
    assert!(answer["sum"].is_i64());
}

#[test]
fn many_calls_are_reported_as_statistics() {
    let served = Served::new(&["--echo"]);
    let statistics = served
        .call(&["echoInts", "values.item=1", "--repeat", "20", "--json"])
        .json();
    assert_eq!(
        (&statistics["calls"], &statistics["faults"]),
        (&json!(20), &json!(0))
    );
    assert!(statistics["min_ms"].as_f64() <= statistics["median_ms"].as_f64());
    assert!(statistics["bytes_sent"].as_u64().unwrap() > 20 * 100);
    let text = served.call(&["echoInts", "values.item=1", "--repeat", "2"]);
    assert!(
        text.out.contains("calls/s") && text.out.contains("p99"),
        "{}",
        text.out
    );
}

#[test]
fn nobody_there_is_a_failure_of_transport() {
    let ran = run(&[
        "call",
        &mesh(),
        "sumInts",
        "values.item=1",
        "--endpoint",
        "http://127.0.0.1:9/none",
    ]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("because"), "{}", ran.err);
}

#[test]
fn the_demo_checks_every_answer_and_leaves_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let report = run(&[
        "demo", "--size", "24", "--steps", "12", "--polls", "6", "--out", &out, "--json",
    ])
    .json();
    assert_eq!(
        (&report["checked"], &report["messages"]),
        (&json!(true), &json!(24))
    );
    for name in ["field.png", "polls.png"] {
        let picture = std::fs::read(folder.path().join(name)).unwrap();
        assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
    }
    let field = &report["polls"][0];
    let re_read = &field["differential"]["receiving_client"]["values_read_again"];
    let all = field["polls"].as_u64().unwrap() * field["values"].as_u64().unwrap();
    assert!(re_read.as_u64().unwrap() < all / 2, "{field}");
    assert_eq!(
        field["full"]["receiving_client"]["values_read_again"],
        json!(0)
    );
    assert_eq!(report["polls"][1]["name"], json!("sliding window"));
}
