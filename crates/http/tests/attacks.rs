//! Attacks on the server's connections and memory, each with its bound: honest clients are served meanwhile.
//!
//! `BSOAP_HOSTILE` sets the number of hostile sockets of each kind (5 000 by default, less if file descriptors are scarce).

mod common;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bsoap_http::{
    Body, Bytes, Client, ClientOptions, HeaderMap, Pace, Request, Response, Routes, ServerOptions,
    WorkBudget,
};
use common::{Running, echo, raw, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// What a hostile client does with its connection.
#[derive(Clone, Copy, Debug)]
enum Slow {
    /// It keeps the connection open after an answer.
    Idle,
    /// It sends a byte of a head now and then.
    Head,
    /// It sends a byte of a body now and then.
    Body,
    /// It reads nothing of a long answer.
    Reader,
}

const HEAD: &str = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: ";

/// Below this, the time of a call is noise of the machine.
const NOISE: Duration = Duration::from_millis(40);

fn hostile_sockets() -> usize {
    let wanted = std::env::var("BSOAP_HOSTILE");
    let wanted = wanted.ok().and_then(|number| number.parse().ok());
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let open_files = limits
        .lines()
        .find_map(|line| {
            line.strip_prefix("Max open files")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or(1024_usize);
    wanted.unwrap_or(5000).min(open_files.saturating_sub(1500))
}

fn routes() -> Routes {
    // The buffers of the system take half of it.
    let long = Bytes::from(vec![b' '; 6 << 20]);
    echo().at("/long", move |_: Request| {
        let body = Body::from(long.clone());
        async move { Response::new(200, "text/xml", body) }
    })
}

impl Slow {
    /// The time between two hostile sockets. Each answer of megabytes costs a millisecond of processor time.
    fn arrival(self) -> Duration {
        match self {
            Self::Reader => Duration::from_millis(1),
            _ => Duration::from_micros(400),
        }
    }

    /// Opens a connection and uses it in this way until the server closes it.
    async fn attack(self, server: SocketAddr) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(server).await?;
        let begin = match self {
            Self::Idle => format!("{HEAD}4\r\n\r\n<a/>"),
            Self::Head => "POST /echo HTTP/1.1\r\nX-Slow: ".to_owned(),
            Self::Body => format!("{HEAD}100000\r\n\r\n<a>"),
            Self::Reader => {
                "POST /long HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
        };
        stream.write_all(begin.as_bytes()).await?;
        loop {
            match self {
                Self::Head | Self::Body => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    stream.write_all(b"x").await?;
                }
                Self::Idle => {
                    if stream.read(&mut [0; 256]).await? == 0 {
                        return Ok(());
                    }
                }
                Self::Reader => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    if stream.read(&mut [0; 1]).await? == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Calls one after the other until told to stop. Returns the time that each took.
async fn honest(server: &Running, until: Duration) -> Vec<Duration> {
    let mut clients = JoinSet::new();
    for _ in 0..4 {
        let client = Client::new(ClientOptions::default()).expect("a client");
        let address = server.at("/echo");
        clients.spawn(async move {
            let begun = Instant::now();
            let mut times = Vec::new();
            while begun.elapsed() < until {
                let sent = Instant::now();
                let answer = client
                    .post(&address, HeaderMap::new(), Body::from("<honest/>"))
                    .await
                    .expect("an honest client is answered");
                assert_eq!(
                    (answer.status.as_u16(), &answer.body[..]),
                    (200, &b"<honest/>"[..])
                );
                times.push(sent.elapsed());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            times
        });
    }
    let mut times = clients.join_all().await.concat();
    times.sort_unstable();
    times
}

fn p99(times: &[Duration]) -> Duration {
    times[times.len() * 99 / 100]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_sockets_keep_nobody_out() {
    let sockets = hostile_sockets();
    for slow in [Slow::Idle, Slow::Head, Slow::Body, Slow::Reader] {
        let server = start(routes(), ServerOptions::default()).await;
        let quiet = p99(&honest(&server, Duration::from_secs(1)).await);
        let (attacking, attacks) = (
            Arc::new(AtomicBool::new(true)),
            Arc::new(AtomicUsize::new(0)),
        );
        let mut hostile = JoinSet::new();
        for number in 0..sockets {
            let (attacking, attacks) = (Arc::clone(&attacking), Arc::clone(&attacks));
            let address = server.address;
            hostile.spawn(async move {
                // They come within a few seconds, and again when they were closed.
                tokio::time::sleep(slow.arrival() * number as u32).await;
                while attacking.load(Ordering::Relaxed) {
                    attacks.fetch_add(1, Ordering::Relaxed);
                    let _ = slow.attack(address).await;
                    tokio::time::sleep(Duration::from_secs(2)).await;
                }
            });
        }
        let attacked = honest(&server, Duration::from_secs(4)).await;
        attacking.store(false, Ordering::Relaxed);
        hostile.shutdown().await;
        let (worst, calls) = (p99(&attacked), attacked.len());
        eprintln!(
            "{slow:?}: {} connections of {sockets} sockets; {calls} honest calls, p99 {quiet:?} quiet, {worst:?} attacked",
            attacks.load(Ordering::Relaxed)
        );
        assert!(
            worst < (2 * quiet).max(NOISE),
            "{slow:?}: {quiet:?} quiet, {worst:?} attacked"
        );
        server.stop().await;
    }
}

#[tokio::test]
async fn one_address_cannot_have_all_connections() {
    let mut options = ServerOptions::default();
    options.max_connections_per_address = Some(2);
    options.max_requests_per_second = Some(5);
    let server = start(echo(), options).await;
    let mut idle = Vec::new();
    for _ in 0..4 {
        idle.push(TcpStream::connect(server.address).await.expect("connected"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The two oldest gave way.
    for (place, stream) in idle.iter_mut().enumerate() {
        let mut byte = [0; 1];
        let read = stream.read(&mut byte);
        let closed = tokio::time::timeout(Duration::from_millis(100), read).await;
        assert_eq!(closed.is_ok(), place < 2, "{place}");
    }
    let request = format!("{HEAD}4\r\nConnection: close\r\n\r\n<a/>");
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(raw(server.address, request.as_bytes()).await[9..12].to_owned());
    }
    assert_eq!(
        statuses.iter().filter(|status| *status == "200").count(),
        5,
        "{statuses:?}"
    );
    assert_eq!(statuses[7], "429");
    server.stop().await;
}

#[tokio::test]
async fn a_connection_ends_after_its_requests_and_its_age() {
    let mut options = ServerOptions::default();
    options.max_requests_per_connection = Some(2);
    options.max_connection_age = Some(Duration::from_secs(3600));
    let server = start(echo(), options).await;
    let request = format!("{HEAD}4\r\n\r\n<a/>");
    let answer = raw(server.address, request.repeat(3).as_bytes()).await;
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 2, "{answer}");
    assert_eq!(answer.matches("connection: close").count(), 1, "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn a_slow_body_is_refused_with_the_pace_it_must_have() {
    let mut options = ServerOptions::default();
    options.pace = Pace::new(Duration::from_millis(200), 100_000);
    let server = start(echo(), options).await;
    let begun = Instant::now();
    let answer = raw(
        server.address,
        format!("{HEAD}100000\r\n\r\n<a>").as_bytes(),
    )
    .await;
    assert!(
        answer.starts_with("HTTP/1.1 408") && answer.contains("(pace)"),
        "{answer}"
    );
    assert!(begun.elapsed() < Duration::from_secs(3));
    server.stop().await;
}

#[tokio::test]
async fn bodies_stay_within_the_memory_for_work() {
    const BUDGET: u64 = 64 << 20;
    let mut options = ServerOptions::default();
    options.work = WorkBudget::new(BUDGET);
    let work = options.work.clone();
    let server = start(echo(), options).await;
    let (sending, most) = (
        Arc::new(AtomicBool::new(true)),
        Arc::new(AtomicUsize::new(0)),
    );
    let watching = tokio::spawn({
        let (sending, most) = (Arc::clone(&sending), Arc::clone(&most));
        async move {
            while sending.load(Ordering::Relaxed) {
                most.fetch_max(work.used() as usize, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            work
        }
    });
    let mut hostile = JoinSet::new();
    for _ in 0..100 {
        let address = server.address;
        hostile.spawn(async move {
            let Ok(mut stream) = TcpStream::connect(address).await else {
                return;
            };
            let _ = stream
                .write_all(format!("{HEAD}60000000\r\n\r\n").as_bytes())
                .await;
            let block = vec![b' '; 1 << 16];
            while stream.write_all(&block).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
    let times = honest(&server, Duration::from_secs(2)).await;
    hostile.shutdown().await;
    eprintln!(
        "{} honest calls, p99 {:?}, at most {most:?} bytes in work",
        times.len(),
        p99(&times)
    );
    server.stop().await;
    sending.store(false, Ordering::Relaxed);
    let work = watching.await.expect("no panic");
    assert!(most.load(Ordering::Relaxed) as u64 <= BUDGET);
    assert_eq!(work.used(), 0, "all memory was returned");
    assert!(work.refused() > 0);
}

#[tokio::test]
async fn heads_that_leave_doubts_are_refused() {
    let server = start(echo(), ServerOptions::default()).await;
    for (head, expected) in [
        ("POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "400"),
        (
            "POST /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 0\r\n\r\n",
            "400",
        ),
        (
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "501",
        ),
        (
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "400",
        ),
        ("POST /echo HTTP/1.0\r\nContent-Length: 0\r\n\r\n", "200"),
    ] {
        let answer = raw(server.address, head.as_bytes()).await;
        assert_eq!(answer.get(9..12), Some(expected), "{head}: {answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_client_behind_a_trusted_proxy_is_known() {
    let routes = Routes::new().at("/who", async |request: Request| {
        Response::new(200, "text/plain", request.peer.ip().to_string())
    });
    let ask = |more: &str| {
        format!(
            "POST /who HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n{more}\r\n"
        )
    };
    let forwarded = ask("Forwarded: for=192.0.2.7\r\n");
    let untrusting = start(routes.clone(), ServerOptions::default()).await;
    assert!(
        raw(untrusting.address, forwarded.as_bytes())
            .await
            .ends_with("127.0.0.1")
    );
    untrusting.stop().await;
    let mut options = ServerOptions::default();
    options.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a range")];
    let trusting = start(routes.clone(), options.clone()).await;
    assert!(
        raw(trusting.address, forwarded.as_bytes())
            .await
            .ends_with("192.0.2.7")
    );
    trusting.stop().await;
    options.proxy_protocol = true;
    let proxied = start(routes, options).await;
    let header = "PROXY TCP4 192.0.2.8 192.0.2.9 1000 80\r\n";
    let answer = raw(proxied.address, format!("{header}{}", ask("")).as_bytes()).await;
    assert!(answer.ends_with("192.0.2.8"), "{answer}");
    assert_eq!(
        raw(proxied.address, ask("").as_bytes()).await,
        "",
        "the header is missing"
    );
    proxied.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_that_was_sent_goes_unanswered_when_the_server_stops() {
    for _ in 0..3 {
        let routes = Routes::new().at("/", async |request: Request| {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Response::new(200, "text/plain", request.body)
        });
        let server = start(routes, ServerOptions::default()).await;
        let address = server.address;
        let mut clients = JoinSet::new();
        for number in 0..50 {
            clients.spawn(async move { call_until_refused(address, number).await });
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let begun = Instant::now();
        server.stop().await;
        assert!(begun.elapsed() < Duration::from_secs(5));
        let ended = clients.join_all().await;
        let answered: usize = ended.iter().map(|(answered, _)| answered).sum();
        let lost: usize = ended.iter().map(|(_, lost)| lost).sum();
        eprintln!("{answered} calls answered, {lost} lost");
        assert!(
            answered > 500 && lost == 0,
            "{answered} answered, {lost} lost"
        );
    }
}

/// Calls over one connection, and over new ones when the server says that it closes it, until no connection is accepted any more.
/// Returns how many calls were answered, and how many were sent but not answered.
async fn call_until_refused(address: SocketAddr, number: usize) -> (usize, usize) {
    let mut answered = 0;
    let body = format!("client {number}");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    while let Ok(mut stream) = TcpStream::connect(address).await {
        loop {
            if stream.write_all(request.as_bytes()).await.is_err() {
                // It was not fully sent.
                break;
            }
            let mut answer = Vec::new();
            while !answer.ends_with(body.as_bytes()) {
                match stream.read_buf(&mut answer).await {
                    Ok(1..) => {}
                    _ => return (answered, 1),
                }
            }
            answered += 1;
            if String::from_utf8_lossy(&answer).contains("connection: close") {
                break;
            }
        }
    }
    (answered, 0)
}

#[cfg(feature = "gzip")]
#[tokio::test]
async fn gzip_bombs_stay_within_the_memory_for_work() {
    let mut options = ServerOptions::default();
    options.work = WorkBudget::new(32 << 20);
    let work = options.work.clone();
    let server = start(echo(), options).await;
    let mut options = ClientOptions::default();
    options.gzip_requests = true;
    let client = Client::new(options).expect("a client");
    let answer = client
        .post(
            &server.at("/echo"),
            HeaderMap::new(),
            Body::from(vec![b' '; 60 << 20]),
        )
        .await
        .expect("answered");
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(answer.status, 413, "{text}");
    assert!(text.contains("one message may have (work)"), "{text}");
    server.stop().await;
    assert_eq!(work.used(), 0);
}
