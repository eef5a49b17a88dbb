//! `bsoap serve` as a process: its signals, its certificates, its output.
#![cfg(target_os = "linux")]

mod common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use bsoap::{Client, Value};
use common::mesh;
use common::worker::{Worker, free_address};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const FILES: usize = 1024;

fn client(url: &str) -> Client {
    let builder = Client::builder(bsoap::Wsdl::Location(mesh()));
    builder.endpoint(url).build().expect("a client")
}

fn blocking(builder: bsoap::ClientBuilder) -> bsoap::blocking::Client {
    bsoap::blocking::Client::new(builder).expect("a client")
}

fn numbers(count: i32) -> Value {
    let items: Vec<i32> = (0..count).collect();
    Value::object([("values", Value::object([("item", Value::from(items))]))])
}

#[test]
fn the_signals_that_stop_answer_what_was_sent() {
    for signal in ["TERM", "INT"] {
        let mut worker = Worker::start(free_address(), FILES, &["--quiet"], Stdio::null());
        let url = worker.url();
        let runtime = Runtime::new().expect("a runtime");
        let mut calling = JoinSet::new();
        for number in 0..50 {
            let client = client(&url);
            let call = async move {
                let sent = numbers(number + 1);
                let mut answered = 0;
                loop {
                    match client.call("echoInts", &sent).await {
                        Ok(answer) => assert_eq!(answer, sent),
                        // The next call finds nobody.
                        Err(error) if error.is_connect() => return (answered, None),
                        Err(error) => return (answered, Some(error.to_string())),
                    }
                    answered += 1;
                }
            };
            calling.spawn_on(call, runtime.handle());
        }
        std::thread::sleep(Duration::from_millis(700));
        worker.signal(signal);
        let ended = worker
            .exit(Duration::from_secs(10))
            .expect("it ends in time");
        assert_eq!(ended.code(), Some(0));
        let ends = runtime.block_on(calling.join_all());
        let answered: usize = ends.iter().map(|(answered, _)| answered).sum();
        eprintln!("SIG{signal}: {answered} calls answered");
        assert!(answered > 50);
        let lost: Vec<_> = ends
            .iter()
            .filter_map(|(_, error)| error.as_ref())
            .collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut worker = Worker::start(free_address(), FILES, &[], Stdio::null());
    // A request that never ends.
    let mut stuck = std::net::TcpStream::connect(worker.address).expect("connected");
    std::io::Write::write_all(
        &mut stuck,
        b"POST /mesh HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\n<a>",
    )
    .expect("sent");
    std::thread::sleep(Duration::from_millis(100));
    worker.signal("TERM");
    assert!(
        worker.exit(Duration::from_millis(500)).is_none(),
        "it waits for the request"
    );
    worker.signal("TERM");
    let ended = worker
        .exit(Duration::from_secs(2))
        .expect("it ends at once");
    assert_eq!(ended.code(), Some(143));
}

#[test]
fn a_server_that_is_stopped_is_not_ready_but_alive() {
    let worker = Worker::start(free_address(), FILES, &[], Stdio::null());
    assert_eq!(
        (worker.get("/livez"), worker.get("/readyz")),
        ("200".into(), "200".into())
    );
    let mut open = std::net::TcpStream::connect(worker.address).expect("connected");
    std::thread::sleep(Duration::from_millis(50));
    worker.signal("TERM");
    std::thread::sleep(Duration::from_millis(100));
    let mut ask = |path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\n\r\n");
        std::io::Write::write_all(&mut open, request.as_bytes()).expect("sent");
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut open, &mut answer).expect("answered");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(ask("/readyz"), "503");
}

#[test]
fn output_that_nobody_reads_stops_nothing() {
    // A pipe takes 64 KiB; each line has about a hundred bytes.
    let worker = Worker::start(free_address(), FILES, &["--json"], Stdio::piped());
    let client = blocking(Client::builder(bsoap::Wsdl::Location(mesh())).endpoint(worker.url()));
    let sent = numbers(3);
    let begun = Instant::now();
    for _ in 0..3000 {
        assert_eq!(client.call("echoInts", &sent).expect("answered"), sent);
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// A certificate for localhost with its key, as files in a folder.
fn certificate(folder: &std::path::Path, name: &str) -> String {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("made");
    let pem = made.cert.pem();
    std::fs::write(folder.join("cert.pem"), &pem).expect("written");
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).expect("written");
    std::fs::write(folder.join(name), &pem).expect("written");
    pem
}

#[test]
fn certificates_are_read_again_at_sighup() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let first = certificate(folder.path(), "first.pem");
    let address = free_address();
    let mut child = common::bsoap()
        .args(["serve", &mesh(), "--echo", "--listen", &address.to_string()])
        .args([
            "--tls-cert",
            &path("cert.pem"),
            "--tls-key",
            &path("key.pem"),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the service starts");
    let works = |authority: &str| {
        let url = format!("https://localhost:{}/mesh", address.port());
        let builder = Client::builder(bsoap::Wsdl::Location(mesh())).endpoint(url);
        let client = blocking(builder.trust_only(authority));
        client.call("echoInts", &numbers(2)).is_ok()
    };
    let becomes_true = |check: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if check() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    };
    assert!(becomes_true(&|| works(&first)));
    let second = certificate(folder.path(), "second.pem");
    assert!(!works(&second));
    let hang_up = || {
        let id = child.id().to_string();
        std::process::Command::new("kill")
            .args(["-s", "HUP", &id])
            .status()
            .expect("sent");
    };
    hang_up();
    assert!(becomes_true(&|| works(&second)));
    assert!(!works(&first));
    // A file that cannot be used changes nothing.
    std::fs::write(folder.path().join("cert.pem"), "nonsense").expect("written");
    hang_up();
    std::thread::sleep(Duration::from_millis(200));
    assert!(works(&second));
    let _ = child.kill();
    let _ = child.wait();
}
