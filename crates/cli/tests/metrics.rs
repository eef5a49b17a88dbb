//! What can be seen of `bsoap serve` from outside: metrics, the dashboard for them, and the access log.

#![cfg(unix)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use common::{bsoap, mesh, run};
use serde_json::Value;

const DASHBOARD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../deploy/grafana/bsoap.json"
);

/// A service that ends with the test.
struct Served {
    child: Child,
    output: BufReader<ChildStdout>,
    start: Value,
}

impl Served {
    fn new(arguments: &[&str]) -> Self {
        let mut child = bsoap()
            .args(["serve", &mesh(), "--listen", "127.0.0.1:0", "--json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let mut line = String::new();
        output
            .read_line(&mut line)
            .expect("it says where it serves");
        Self {
            child,
            output,
            start: serde_json::from_str(&line).expect("in JSON"),
        }
    }

    fn url(&self) -> &str {
        self.start["urls"][0].as_str().expect("a URL")
    }

    fn address(&self) -> &str {
        self.url().split('/').nth(2).expect("a host")
    }

    fn call(&self, arguments: &[&str]) -> Value {
        let (mesh, endpoint) = (mesh(), ["--endpoint", self.url(), "--json"]);
        run(&[&["call", &mesh], arguments, &endpoint].concat()).json()
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.is_ok_and(|status| status.success()));
    }

    /// Stops it, and returns what it wrote on standard error.
    fn stop(mut self) -> String {
        self.signal("TERM");
        let mut notes = String::new();
        let errors = self.child.stderr.take();
        let read = errors.expect("a pipe").read_to_string(&mut notes);
        read.expect("UTF-8");
        notes
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer to a request, head and body.
fn send(address: &str, request_line: &str, more: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    let head = format!(
        "{request_line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    stream.write_all(body.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// The samples of a scrape, by name and labels.
fn scrape(url: &str) -> BTreeMap<String, f64> {
    let rest = url.strip_prefix("http://").expect("a URL");
    let (address, path) = rest.split_at(rest.find('/').expect("a path"));
    let answer = send(address, &format!("GET {path}"), "", "");
    assert!(answer.contains("text/plain; version=0.0.4"), "{answer}");
    let (_, text) = answer.split_once("\r\n\r\n").expect("a body");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect()
}

/// The sum of the samples of this name whose labels contain all of these texts.
fn sum(samples: &BTreeMap<String, f64>, name: &str, labels: &[&str]) -> f64 {
    let matching = samples.iter().filter(|(sample, _)| {
        let base = sample.split('{').next();
        base == Some(name) && labels.iter().all(|label| sample.contains(label))
    });
    matching.map(|(_, value)| value).sum()
}

/// Waits until a condition holds.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Three calls, a fault, a request to nowhere and one that is not XML.
fn exercise(served: &Served) {
    for _ in 0..3 {
        let ran = served.call(&["sumInts", "values.item=1", "values.item=2"]);
        assert_eq!(ran, serde_json::json!({"sum": 1}));
    }
    let address = served.address();
    let agent = "User-Agent: \"evil\\\r\nReferer: http://here/\r\nContent-Type: text/xml\r\n";
    send(address, "POST /mesh?q=%22", agent, "<nonsense");
    send(address, "POST /nowhere-evil", "", "<a/>");
    send(address, "GET /mesh?wsdl", "", "");
}

#[test]
fn a_scrape_counts_requests_by_operation_and_code() {
    let served = Served::new(&["--metrics", "127.0.0.1:0"]);
    let url = served.start["metrics"].as_str().expect("a URL").to_owned();
    assert_eq!(sum(&scrape(&url), "soap_requests_total", &[]), 0.0);
    exercise(&served);
    let requests = |labels: &[&str]| sum(&scrape(&url), "soap_requests_total", labels);
    wait_until("five requests are counted", || requests(&[]) >= 5.0);
    assert_eq!(requests(&["operation=\"sumInts\"", "code=\"ok\""]), 3.0);
    assert_eq!(requests(&["operation=\"\"", "code=\"Sender\""]), 1.0);
    assert_eq!(requests(&["operation=\"\"", "code=\"404\""]), 1.0);
    assert_eq!(requests(&[]), 5.0, "pages are not counted");
    let samples = scrape(&url);
    assert!(
        samples
            .keys()
            .all(|name| !name.contains("evil") && !name.contains("nowhere"))
    );
    let of_sum = &["operation=\"sumInts\""];
    let count = |name: &str, labels: &[&str]| sum(&samples, name, labels);
    assert_eq!(count("soap_request_duration_seconds_count", of_sum), 3.0);
    assert!(count("soap_request_duration_seconds_sum", of_sum) > 0.0);
    assert!(count("soap_request_bytes_total", of_sum) > 300.0);
    assert!(count("soap_response_bytes_total", of_sum) > 300.0);
    assert!(count("soap_conversion_nanoseconds_total", &[]) > 0.0);
    assert!(count("soap_work_memory_limit_bytes", &[]) > 1e6);
    assert_eq!(count("soap_sent_messages_total", &[]), 3.0);
    assert_eq!(
        count("soap_received_messages_total", &["mode=\"error\""]),
        1.0
    );
}

#[test]
fn metrics_may_be_at_a_path_of_the_service() {
    let served = Served::new(&["--metrics", "/observed"]);
    let url = served.start["metrics"].as_str().expect("a URL");
    assert_eq!(url, format!("http://{}/observed", served.address()));
    assert_eq!(sum(&scrape(url), "soap_connections", &[]), 1.0);
}

#[test]
fn a_path_without_metrics_is_not_found() {
    let served = Served::new(&[]);
    assert_eq!(served.start["metrics"], Value::Null);
    let answer = send(served.address(), "GET /metrics", "", "");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
}

#[test]
fn the_dashboard_shows_metrics_that_exist() {
    let text = std::fs::read_to_string(DASHBOARD).expect("it is there");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let expressions = targets
        .flatten()
        .filter_map(|target| target["expr"].as_str());
    let shown: BTreeSet<String> = expressions.flat_map(names).collect();
    assert!(shown.len() > 15, "{shown:?}");

    let served = Served::new(&["--metrics", "127.0.0.1:0"]);
    let url = served.start["metrics"].as_str().expect("a URL");
    exercise(&served);
    wait_until("all metrics are exported", || {
        let samples = scrape(url);
        let exported: BTreeSet<&str> = samples
            .keys()
            .filter_map(|name| name.split('{').next())
            .collect();
        shown.iter().all(|name| exported.contains(&**name))
    });
}

/// The metrics in an expression.
fn names(expression: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = expression.split(|c| !is_name(c));
    words
        .filter(|word| word.starts_with("soap_"))
        .map(str::to_owned)
        .collect()
}

/// The lines of a file, as soon as there are so many.
fn lines(file: &Path, count: usize) -> Vec<String> {
    let read = || std::fs::read_to_string(file).unwrap_or_default();
    wait_until("the lines are written", || read().lines().count() >= count);
    read().lines().map(str::to_owned).collect()
}

#[test]
fn the_combined_format_is_that_of_apache() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("access.log");
    let served = Served::new(&["--access-log", &file.display().to_string()]);
    exercise(&served);
    let lines = lines(&file, 6);
    let pattern = concat!(
        r#"^127\.0\.0\.1 - - \[\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} \+0000\] "#,
        r#""(GET|POST) (/[^ "]*) HTTP/1\.1" (\d{3}) (\d+|-) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$"#
    );
    let pattern = regex(pattern);
    assert!(lines.iter().all(|line| pattern(line)), "{lines:#?}");
    assert!(
        lines[0].contains("\"POST /mesh HTTP/1.1\" 200 "),
        "{lines:#?}"
    );
    assert!(
        lines[3].contains(r#"/mesh?q=%22 HTTP/1.1" 500 "#),
        "{lines:#?}"
    );
    assert!(
        lines[3].ends_with(r#""http://here/" "\"evil\\""#),
        "{lines:#?}"
    );
    assert!(
        lines[4].contains("\"POST /nowhere-evil HTTP/1.1\" 404 "),
        "{lines:#?}"
    );
    drop(served);
}

/// Whether a text matches a pattern.
fn regex(pattern: &str) -> impl Fn(&str) -> bool {
    let compiled = regex_automata::meta::Regex::new(pattern).expect("a pattern");
    move |text| compiled.is_match(text)
}

#[test]
fn the_json_format_has_operation_fault_and_duration() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("access.log");
    let name = file.display().to_string();
    let served = Served::new(&["--access-log", &name, "--access-log-format", "json"]);
    exercise(&served);
    let lines: Vec<Value> = lines(&file, 6)
        .iter()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let time = regex(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$");
    for line in &lines {
        assert!(time(line["time"].as_str().expect("a time")), "{line}");
        assert!(
            line["duration_seconds"]
                .as_f64()
                .is_some_and(|time| time > 0.0),
            "{line}"
        );
        assert!(
            line["peer"]
                .as_str()
                .is_some_and(|peer| peer.starts_with("127.0.0.1:"))
        );
    }
    assert_eq!(lines[0]["operation"], "sumInts");
    assert_eq!(lines[0]["status"], 200);
    assert!(
        lines[0]["received"]
            .as_u64()
            .is_some_and(|bytes| bytes > 100)
    );
    assert!(lines[0]["sent"].as_u64().is_some_and(|bytes| bytes > 100));
    assert_eq!(lines[3]["fault"], "Sender");
    assert_eq!(lines[3]["user_agent"], "\"evil\\");
    assert_eq!(lines[4]["operation"], Value::Null);
    drop(served);
}

#[test]
fn standard_output_is_a_file_too() {
    let mut served = Served::new(&["--access-log", "-"]);
    exercise(&served);
    let mut line = String::new();
    served.output.read_line(&mut line).expect("UTF-8");
    assert!(line.contains("\"POST /mesh HTTP/1.1\" 200 "), "{line}");
}

#[test]
fn a_hangup_opens_the_file_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, rotated) = (folder.path().join("log"), folder.path().join("log.1"));
    let served = Served::new(&["--access-log", &file.display().to_string()]);
    exercise(&served);
    lines(&file, 6);
    std::fs::rename(&file, &rotated).expect("renamed");
    served.signal("HUP");
    wait_until("the file is there again", || file.exists());
    exercise(&served);
    lines(&file, 6);
    assert_eq!(lines(&rotated, 6).len(), 6);
}

#[test]
fn a_pipe_that_nobody_reads_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let served = Served::new(&["--quiet", "--access-log", &pipe.display().to_string()]);
    let mut stream = TcpStream::connect(served.address()).expect("it listens");
    let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(100);
    let mut answers = stream.try_clone().expect("a stream");
    let reader = std::thread::spawn(move || {
        let (mut total, mut buffer) = (0, [0; 65536]);
        while let Ok(length @ 1..) = answers.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
            total += text.matches("HTTP/1.1 200").count();
            if total >= 11_500 {
                break;
            }
        }
        total
    });
    for _ in 0..120 {
        stream.write_all(request.as_bytes()).expect("it reads");
    }
    assert!(reader.join().expect("no panic") >= 11_500);
    drop(stream);
    let begun = Instant::now();
    let notes = served.stop();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(
        notes.contains("lines of the access log were dropped"),
        "{notes}"
    );
}

#[test]
fn a_full_disk_stops_nothing() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let served = Served::new(&["--quiet", "--access-log", "/dev/full"]);
    exercise(&served);
    exercise(&served);
    let notes = served.stop();
    let expected = "the access log cannot be written";
    assert_eq!(notes.matches(expected).count(), 1, "{notes}");
    assert!(
        notes.contains("12 lines of the access log were dropped"),
        "{notes}"
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_reported_at_once() {
    let ran = run(&[
        "serve",
        &mesh(),
        "--listen",
        "0",
        "--access-log",
        "/nowhere/log",
    ]);
    assert_ne!(ran.code, 0);
    assert!(
        ran.err.contains("cannot open /nowhere/log (--access-log)"),
        "{ran:?}"
    );
}
