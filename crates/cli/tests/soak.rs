//! Honest and hostile load on `bsoap serve`, with faults injected; every answer is checked.
//!
//! It takes 30 seconds, or those that `BSOAP_SOAK` says (`make soak`: 600). The service has little memory and few file descriptors;
//! its output is first a pipe that nobody reads, and after a restart a full disk.
#![cfg(target_os = "linux")]

mod common;

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bsoap::{Client, Value};
use common::mesh;
use common::worker::{Worker, free_address};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// What the service may use for messages.
const MAX_MEMORY: u64 = 192 << 20;
/// What it needs for itself.
const OWN_MEMORY: u64 = 64 << 20;
/// The limit of `--max-memory`, as an argument.
const LIMITS: [&str; 8] = [
    "--max-memory",
    "192M",
    "--max-connections",
    "2000",
    "--shutdown-timeout",
    "10",
    "--max-handlers",
    "64",
];
/// Fewer than there are connections.
const OPEN_FILES: usize = 300;
const HONEST: usize = 6;
const HOSTILE: usize = 400;

/// What honest clients saw.
#[derive(Default)]
struct Report {
    calls: AtomicU64,
    /// Calls for which there was no memory: large ones only.
    shed: AtomicU64,
    /// Calls that reached no server while it was restarted.
    retried: AtomicU64,
    /// Wrong answers, and calls that were sent but not answered.
    wrong: Mutex<Vec<String>>,
    times: Mutex<Vec<Duration>>,
}

/// Which part of the test runs.
#[derive(Default)]
struct Phase {
    is_attacked: AtomicBool,
    is_over: AtomicBool,
}

impl Phase {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

#[test]
fn a_service_stays_up_and_right_under_attack() {
    let seconds = std::env::var("BSOAP_SOAK").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(30_u64);
    let part = Duration::from_secs(seconds) / 6;
    let address = free_address();
    // Nobody reads its output.
    let mut worker = Worker::start(address, OPEN_FILES, &LIMITS, Stdio::piped());
    let (report, phase) = (Arc::new(Report::default()), Arc::new(Phase::default()));
    let runtime = Runtime::new().expect("a runtime");
    let mut clients = JoinSet::new();
    let url = worker.url();
    for number in 0..HONEST {
        let (url, report, phase) = (url.clone(), Arc::clone(&report), Arc::clone(&phase));
        clients.spawn_on(honest(url, number, report, phase), runtime.handle());
    }
    std::thread::sleep(part);
    let quiet = p99(&report);
    phase.is_attacked.store(true, Ordering::Relaxed);
    for number in 0..HOSTILE {
        let phase = Arc::clone(&phase);
        clients.spawn_on(hostile(address, number, phase), runtime.handle());
    }
    std::thread::sleep(2 * part);
    let first_memory = worker.memory("VmHWM");
    worker.signal("TERM");
    let ended = worker
        .exit(Duration::from_secs(15))
        .expect("it ends in time");
    assert_eq!(ended.code(), Some(0), "it ends well");
    // The disk for its output is full.
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = full.expect("there is /dev/full");
    let mut worker = Worker::start(address, OPEN_FILES, &LIMITS, output.into());
    std::thread::sleep(3 * part);
    let attacked = p99(&report);
    phase.is_over.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        let end = Instant::now() + Duration::from_secs(30);
        let joining = async { while clients.join_next().await.is_some() {} };
        assert!(
            tokio::time::timeout_at(end.into(), joining).await.is_ok(),
            "a client hangs"
        );
    });
    let memory = first_memory.max(worker.memory("VmHWM"));
    worker.signal("TERM");
    let ended = worker
        .exit(Duration::from_secs(15))
        .expect("it ends in time");
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let wrong = report.wrong.lock().expect("no panic");
    eprintln!(
        "{} honest calls right, {} shed, {} sent again during the restart, {} wrong or lost; p99 {quiet:?} quiet, {attacked:?} attacked; at most {} MiB of memory",
        count(&report.calls),
        count(&report.shed),
        count(&report.retried),
        wrong.len(),
        memory >> 20
    );
    assert!(wrong.is_empty(), "{:?}", &wrong[..wrong.len().min(5)]);
    assert_eq!(ended.code(), Some(0), "it ends well");
    assert!(memory <= MAX_MEMORY + OWN_MEMORY, "{memory} bytes");
    assert!(count(&report.calls) > 100);
}

/// The time that 99 of 100 calls took at most; the times are then forgotten.
fn p99(report: &Report) -> Duration {
    let mut times = std::mem::take(&mut *report.times.lock().expect("no panic"));
    times.sort_unstable();
    times
        .get(times.len() * 99 / 100)
        .copied()
        .unwrap_or_default()
}

/// Calls with values of its own and compares the answers.
async fn honest(url: String, number: usize, report: Arc<Report>, phase: Arc<Phase>) {
    let builder = Client::builder(bsoap::Wsdl::Location(mesh()));
    let client = builder
        .endpoint(&url)
        .timeout(Duration::from_secs(20))
        .build();
    let client = client.expect("a client");
    let mut round = 0;
    while !phase.is_over() {
        round += 1;
        // Now and then a large message.
        let length = if round % 50 == 0 {
            100_000
        } else {
            1 + (round * 7 + number) % 200
        };
        let values: Vec<f64> = (0..length)
            .map(|place| (place * round + number) as f64 / 8.0)
            .collect();
        let sent = Value::object([("values", Value::object([("item", Value::from(values))]))]);
        let begun = Instant::now();
        match client.call("echoDoubles", &sent).await {
            Ok(answer) if answer == sent => {
                report.calls.fetch_add(1, Ordering::Relaxed);
                report.times.lock().expect("no panic").push(begun.elapsed());
            }
            Ok(answer) => report.wrong(format!("client {number}, round {round}: {answer}")),
            Err(error) if error.is_connect() => {
                report.retried.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) if length > 1000 && is_shed(&error) => {
                report.shed.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                let chain = std::iter::successors(Some(error), |error| error.source());
                let texts: Vec<String> = chain.map(ToString::to_string).collect();
                report.wrong(format!(
                    "client {number}, round {round}: {}",
                    texts.join(": ")
                ));
            }
        }
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

/// Whether there was no memory for a call: the answer is 503, with or without a fault.
fn is_shed(error: &bsoap::Error) -> bool {
    let has_no_memory = |fault: &bsoap::Fault| fault.reason().contains("(work): try again later");
    error.http_status() == Some(503) || error.fault().is_some_and(has_no_memory)
}

impl Report {
    fn wrong(&self, what: String) {
        self.wrong.lock().expect("no panic").push(what);
    }
}

const HEAD: &str = "POST /mesh HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: ";

/// Attacks in one of several ways, again and again.
async fn hostile(server: SocketAddr, number: usize, phase: Arc<Phase>) {
    tokio::time::sleep(Duration::from_millis(number as u64 * 5)).await;
    while !phase.is_over() {
        let attack = async {
            let mut stream = TcpStream::connect(server).await?;
            attack(&mut stream, number).await
        };
        let _ = tokio::time::timeout(Duration::from_secs(5), attack).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn attack(stream: &mut TcpStream, number: usize) -> std::io::Result<()> {
    const OPEN: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'>";
    let body = match number % 10 {
        // Idle, a slow head, a slow body.
        0 => String::new(),
        1 => {
            stream.write_all(b"POST /mesh HTTP/1.1\r\n").await?;
            return trickle(stream).await;
        }
        2 => {
            stream
                .write_all(format!("{HEAD}100000\r\n\r\n<a>").as_bytes())
                .await?;
            return trickle(stream).await;
        }
        // A long body that takes memory.
        3 => {
            stream
                .write_all(format!("{HEAD}60000000\r\n\r\n").as_bytes())
                .await?;
            let block = vec![b' '; 1 << 16];
            for _ in 0..900 {
                stream.write_all(&block).await?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            return Ok(());
        }
        // A client that is killed in the middle of a body.
        4 => {
            stream
                .write_all(format!("{HEAD}1000\r\n\r\n{OPEN}").as_bytes())
                .await?;
            return Ok(());
        }
        // Deep nesting, many header blocks, nonsense.
        5 => format!("{OPEN}<s:Body>{}", "<a>".repeat(50_000)),
        6 => format!(
            "{OPEN}<s:Header>{}</s:Header><s:Body/></s:Envelope>",
            "<b xmlns='urn:b'/>".repeat(50_000)
        ),
        7 => "\u{0}nonsense".to_owned(),
        // An answer that nobody reads.
        8 => {
            let items = "<item>1.5</item>".repeat(100_000);
            format!(
                "{OPEN}<s:Body><m:echoDoubles xmlns:m='urn:bsoap:mesh'><values>{items}</values></m:echoDoubles></s:Body></s:Envelope>"
            )
        }
        _ => format!("{OPEN}<s:Body><m:unknown xmlns:m='urn:bsoap:mesh'/></s:Body></s:Envelope>"),
    };
    let head = format!("{HEAD}{}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    if number % 10 == 8 {
        tokio::time::sleep(Duration::from_secs(4)).await;
        return Ok(());
    }
    let _ = stream.read(&mut [0; 1024]).await?;
    Ok(())
}

/// A byte now and then.
async fn trickle(stream: &mut TcpStream) -> std::io::Result<()> {
    loop {
        stream.write_all(b"x").await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
