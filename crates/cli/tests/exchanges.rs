//! `serve`, `call` and `demo`: over HTTP, on the loopback.

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use common::{Ran, bsoap, mesh, run, run_with};
use serde_json::{Value, json};

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/library.wsdl");

/// A service that ends with the test.
struct Served {
    child: Child,
    log: BufReader<ChildStdout>,
    url: String,
}

impl Served {
    fn new(arguments: &[&str]) -> Self {
        Self::of(&mesh(), "127.0.0.1:0", arguments)
    }

    fn of(wsdl: &str, listen: &str, arguments: &[&str]) -> Self {
        let mut child = bsoap()
            .args(["serve", wsdl, "--listen", listen, "--json"])
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

    /// Sends a request as it is, and returns the status of the answer.
    fn send(&self, head: &str, body: &str) -> String {
        let address = self.url.split('/').nth(2).expect("a URL");
        let mut stream = TcpStream::connect(address).expect("it listens");
        let length = body.len();
        let request = format!(
            "{head}\r\nhost: h\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
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
fn an_answer_of_which_no_sample_can_be_made_is_a_fault_with_the_limit() {
    let huge = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/testdata/errors/huge.wsdl"
    );
    let huge = std::fs::read_to_string(huge).expect("it is there");
    // Only the answer is huge.
    let wsdl = huge
        .replace(
            "</xs:schema>",
            r#"<xs:element name="ask" type="xs:string"/></xs:schema>"#,
        )
        .replace(
            "<portType",
            r#"<message name="ask"><part name="p" element="t:ask"/></message><portType"#,
        )
        .replace(r#"<input message="t:q"/>"#, r#"<input message="t:ask"/>"#);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("huge.wsdl");
    std::fs::write(&file, wsdl).expect("it is written");
    let mut served = Served::of(&file.display().to_string(), "127.0.0.1:0", &[]);
    let answer = post(&served.url, "<ask xmlns='urn:t'/>");
    let reason = "what its schema requires exceeds the limit `sample_bytes`";
    assert!(answer.contains(reason), "{answer}");
    let line = served.next_line();
    let fault = line["fault"].as_str().unwrap_or_default();
    assert!(fault.contains(reason), "{line}");
}

/// Posts an Envelope with this Body to an address, and returns the response.
fn post(url: &str, body: &str) -> String {
    let text = format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>"
    );
    let (host, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .expect("a URL");
    let mut stream = TcpStream::connect(host).expect("it listens");
    let head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: text/xml\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    write!(stream, "{head}{text}").expect("it is sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it answers");
    response
}

#[test]
fn a_service_accepts_what_its_mode_accepts_and_logs_warnings() {
    let request = |more: &str| {
        format!(
            "<m:sumDoubles xmlns:m='urn:bsoap:mesh'><values><item>nan</item>{more}</values></m:sumDoubles>"
        )
    };
    for (mode, more, is_answered, count) in [
        (None, "", true, 1),
        (None, "<new/>", false, 0),
        (Some("--lenient"), "<new/>", true, 2),
        (Some("--strict"), "", false, 0),
    ] {
        let mut served = Served::new(mode.as_slice());
        let response = post(&served.url, &request(more));
        assert_eq!(
            response.starts_with("HTTP/1.1 200"),
            is_answered,
            "{response}"
        );
        if is_answered {
            let warnings = served.next_line()["warnings"].clone();
            assert_eq!(warnings.as_array().map(Vec::len), Some(count), "{warnings}");
            assert_eq!(warnings[0]["warning"], "special-float");
            assert_eq!(
                warnings[0]["path"],
                "/Envelope/Body/sumDoubles/values/item[1]"
            );
        }
    }
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
fn every_refused_request_has_a_line_with_the_reason_also_if_quiet() {
    const XML: &str = "POST /mesh HTTP/1.1\r\ncontent-type: text/xml";
    const ENVELOPE: &str = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'>";
    let must = format!(
        "{ENVELOPE}<e:Header><x xmlns='urn:x' e:mustUnderstand='1'/></e:Header><e:Body/></e:Envelope>"
    );
    for options in [&[][..], &["--quiet"]] {
        let mut served = Served::new(options);
        for (head, body, status, reason) in [
            (XML, "<a/>", "500", "<a>"),
            (XML, "<a", "500", "byte"),
            (XML, "", "500", ""),
            (XML, &must, "500", "x"),
            (
                XML,
                &format!("{ENVELOPE}<e:Body><y/></e:Body></e:Envelope>"),
                "500",
                "<y>",
            ),
            (
                "POST /mesh HTTP/1.1\r\ncontent-type: application/json",
                "{}",
                "415",
                "\"application/json\" is not that of a SOAP message, expected text/xml",
            ),
            (
                "POST /other HTTP/1.1\r\ncontent-type: text/xml",
                "<a/>",
                "404",
                "nothing is served at this path",
            ),
            (
                "GET /other HTTP/1.1",
                "",
                "404",
                "nothing is served at this path",
            ),
            (
                "GET /mesh?other HTTP/1.1",
                "",
                "404",
                "?wsdl returns the WSDL",
            ),
            (
                "PUT /mesh HTTP/1.1",
                "",
                "405",
                "expected GET, HEAD or POST",
            ),
            (
                "POST /mesh HTTP/1.1\r\ncontent-encoding: br",
                "x",
                "415",
                "Content-Encoding \"br\" is not supported",
            ),
        ] {
            assert_eq!(served.send(head, body), status, "{head} {body}");
            let line = served.next_line();
            let words: Vec<&str> = head.split([' ', '?']).collect();
            assert_eq!(
                (&line["method"], &line["path"]),
                (&json!(words[0]), &json!(words[1]))
            );
            assert_eq!(line["status"].to_string(), status, "{line}");
            let found = line["refused"].as_str().expect("a reason");
            assert!(
                found.contains(reason) && !found.is_empty(),
                "{reason}: {line}"
            );
        }
    }
}

#[test]
fn a_port_alone_is_one_of_this_machine() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let port = free.expect("a free port").port().to_string();
    let served = Served::of(&mesh(), &port, &[]);
    assert!(served.url.starts_with(&format!("http://127.0.0.1:{port}/")));
    let taken = run(&["serve", &mesh(), "--listen", &port]);
    assert_eq!(taken.code, 2, "{taken:?}");
    let message = format!("cannot listen at 127.0.0.1:{port} (--listen)");
    assert!(taken.err.contains(&message), "{taken:?}");
}

#[test]
fn a_one_way_call_prints_nothing() {
    let mut served = Served::of(LIBRARY, "127.0.0.1:0", &[]);
    let call = [
        "call",
        LIBRARY,
        "report",
        "text=torn",
        "--endpoint",
        &served.url,
    ];
    for json in [&[][..], &["--json"]] {
        let ran = run(&[&call[..], json].concat());
        assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", ""), "{ran:?}");
    }
    assert_eq!(served.next_line()["operation"], "report");
}

#[test]
fn a_float_has_the_digits_of_a_float() {
    let served = Served::of(LIBRARY, "127.0.0.1:0", &["--echo"]);
    let call = [
        "call",
        LIBRARY,
        "rate",
        "stars=0.1",
        "--endpoint",
        &served.url,
    ];
    assert_eq!(
        run(&[&call[..], &["--json"]].concat()).out,
        "{\"stars\":0.1}\n"
    );
    assert_eq!(run(&call).out, "{\n  \"stars\": 0.1\n}\n");
    let message = run(&["encode", LIBRARY, "rate", "stars=0.1"]).out;
    let decoded = run_with(&["decode", LIBRARY, "--json"], &message).out;
    assert!(decoded.contains("{\"stars\":0.1}"), "{decoded}");
}

#[test]
fn a_header_block_that_the_wsdl_does_not_declare_is_given_as_xml() {
    let block = "<t:trace xmlns:t=\"urn:trace\"><id>7</id></t:trace>";
    let served = Served::of(LIBRARY, "127.0.0.1:0", &[]);
    let call = [
        "call",
        LIBRARY,
        "lend",
        "book.title=Emma",
        "nameOfTheReaderWhoHasACard=Ann",
        "--header",
        "session.card=9",
        "--header",
        block,
        "--endpoint",
        &served.url,
    ];
    let sent = run(&[&call[..], &["--dry-run", "--show=raw"]].concat());
    let header = sent.out.split("Body>").next().unwrap_or_default();
    assert!(
        header.contains(block) && header.contains("<card>9</card>"),
        "{sent:?}"
    );
    assert_eq!(run(&call).code, 0);
    let broken = run(&[
        "call",
        LIBRARY,
        "report",
        "text=x",
        "--header",
        "<t:trace/>",
        "--dry-run",
    ]);
    assert_eq!((broken.code, &*broken.out), (3, ""), "{broken:?}");
}

#[test]
fn a_wsdl_without_a_soap_port_is_bad_input_of_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("abstract.wsdl");
    let wsdl = std::fs::read_to_string(LIBRARY).unwrap();
    let service = wsdl.find("<wsdl:service").unwrap();
    std::fs::write(&file, format!("{}</wsdl:definitions>", &wsdl[..service])).unwrap();
    let file = file.display().to_string();
    let message = folder.path().join("message.xml").display().to_string();
    std::fs::write(&message, "<a/>").unwrap();
    for command in [
        &["describe", &file][..],
        &["describe", &file, "--json"],
        &["call", &file, "rate", "stars=1"],
        &["serve", &file],
        &["encode", &file, "rate", "stars=1"],
        &["decode", &file, &message],
        &["validate", &file, &message],
        &["replay", &file, &message],
        &["generate", &file],
    ] {
        let ran = run(command);
        assert_eq!((ran.code, &*ran.out), (3, ""), "{command:?}: {ran:?}");
        assert!(
            ran.err.contains("abstract.wsdl has no SOAP port"),
            "{command:?}: {ran:?}"
        );
    }
}

#[test]
fn a_schema_is_no_wsdl_but_messages_are_checked_against_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.xsd");
    std::fs::write(
        &file,
        "<schema xmlns='http://www.w3.org/2001/XMLSchema'><element name='a' type='int'/></schema>",
    )
    .unwrap();
    let file = file.display().to_string();
    for command in ["describe", "serve"] {
        let ran = run(&[command, &file]);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(
            ran.err.contains("a.xsd is a schema, expected a WSDL"),
            "{ran:?}"
        );
    }
    assert_eq!(run_with(&["validate", &file, "-"], "<a>1</a>").code, 0);
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
    // The first two messages are always processed in full.
    assert_eq!(
        text.out.matches("  saved: nothing\n").count(),
        2,
        "{}",
        text.out
    );
    let reason = "  not saved: 1 without a similar message before, 1 in full, and kept to compare later ones with it; messages of ";
    assert_eq!(text.out.matches(reason).count(), 2, "{}", text.out);
    let more = served.call(&["echoInts", "values.item=1", "--repeat", "20"]);
    let saved = "of 18 of 20 messages only what changed was ";
    assert_eq!(more.out.matches(saved).count(), 2, "{}", more.out);
    let off = served.call(&[
        "echoInts",
        "values.item=1",
        "--repeat",
        "2",
        "--no-templates",
        "--no-histories",
    ]);
    for what in ["templates", "histories"] {
        assert!(
            off.out.contains(&format!("not saved: {what} are off")),
            "{}",
            off.out
        );
    }
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

#[test]
fn a_session_is_recorded_and_replayed_without_the_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = folder.path().join("session");
    let session = session.to_str().expect("a name");
    let (mesh, arguments) = (mesh(), ["sumInts", "values.item=1", "values.item=2"]);
    let recorded = {
        let served = Served::new(&[]);
        served
            .call(&[&arguments[..], &["--record", session]].concat())
            .json()
    };
    let replayed = run(&[&["call", &mesh], &arguments[..], &["--replay", session]].concat());
    assert_eq!(replayed.json(), recorded);
    let other = run(&[
        "call",
        &mesh,
        "sumDoubles",
        "values.item=1",
        "--replay",
        session,
    ]);
    assert!(
        other.code != 0 && other.err.contains("0001-sumDoubles-response.xml"),
        "{other:?}"
    );
}

#[test]
fn calls_say_how_often_they_were_attempted_and_how_the_peer_wants_to_be_authenticated() {
    let mesh = mesh();
    let call = ["call", &mesh, "sumInts", "values.item=1"];
    let refused = run(&[
        &call[..],
        &["--endpoint", "http://127.0.0.1:1/", "--retries", "2"],
    ]
    .concat());
    assert!(refused.err.contains("(after 3 attempts)"), "{refused:?}");

    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let peer = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut request = vec![0; 64 << 10];
            let length = stream.read(&mut request).expect("a request");
            requests.push(String::from_utf8_lossy(&request[..length]).into_owned());
            let answer = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\
                www-authenticate: Digest realm=\"r\", qop=\"auth\", nonce=\"n\"\r\n\r\n";
            stream.write_all(answer.as_bytes()).expect("it reads");
        }
        requests
    });
    let refused = run(&[&call[..], &["--endpoint", &url]].concat());
    assert!(refused.err.contains("`--digest`"), "{refused:?}");
    let digest = ["--user", "jo", "--password", "secret", "--digest"];
    let refused = run(&[&call[..], &["--endpoint", &url], &digest[..]].concat());
    assert!(refused.err.contains("401"), "{refused:?}");
    let requests = peer.join().expect("no panic");
    let has = |number: usize| {
        requests[number]
            .to_lowercase()
            .contains("authorization: digest username=\"jo\"")
    };
    assert_eq!(
        [has(0), has(1), has(2)],
        [false, false, true],
        "{requests:?}"
    );
}

#[test]
fn a_call_sends_addressing_headers_if_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().to_str().expect("a name");
    let ran = Served::new(&[]).call(&[
        "sumInts",
        "values.item=1",
        "--addressing",
        "--record",
        record,
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let texts = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|file| {
            let file = file.expect("a file");
            std::fs::read_to_string(file.path()).expect("a text")
        });
    let texts: String = texts.collect();
    assert!(
        texts.contains(">urn:bsoap:mesh#sumInts</wsa:Action>") && texts.contains(">urn:uuid:"),
        "{texts}"
    );
}
