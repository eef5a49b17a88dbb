//! The server against clients good and bad.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bsoap_http::{
    Body, Client, ClientOptions, HeaderMap, Pace, PageRequest, Request, Response, Routes,
    ServerOptions, WorkBudget,
};
use common::{echo, raw, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or(answer)
}

fn request(method: &str, path: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n{body}").into()
}

#[tokio::test]
async fn statuses_say_what_is_wrong() {
    let mut options = ServerOptions::default();
    options.max_body = 100;
    options.max_headers = 20;
    let server = start(
        echo().at("/panic", async |_: Request| panic!("a handler's own fault")),
        options,
    )
    .await;
    let many = "X-A: b\r\n".repeat(50);
    let long = format!("X-A: {}\r\n", "b".repeat(100_000));
    for (bytes, expected) in [
        (request("POST", "/echo", "", "<a/>"), "200"),
        (request("POST", "/nowhere", "", "<a/>"), "404"),
        (request("GET", "/echo", "", ""), "405"),
        (request("GET", "/nowhere", "", ""), "404"),
        (request("DELETE", "/echo", "", ""), "405"),
        (request("POST", "/echo", "", &"x".repeat(101)), "413"),
        (
            request("POST", "/echo", "Content-Encoding: br\r\n", "x"),
            "415",
        ),
        (
            request("POST", "/echo", "Content-Encoding: gzip\r\n", "x"),
            "400",
        ),
        (request("POST", "/panic", "", "<a/>"), "500"),
        (request("POST", "/echo", &many, ""), "431"),
        (request("POST", "/echo", &long, ""), "431"),
        (b"nonsense\r\n\r\n".to_vec(), "400"),
        (
            b"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_vec(),
            "400",
        ),
        (
            b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n".to_vec(),
            "413",
        ),
    ] {
        let answer = raw(server.address, &bytes).await;
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned();
        assert_eq!(status(&answer), expected, "{head} got {answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_sender_of_too_much_sees_the_refusal() {
    let server = start(echo(), {
        let mut options = ServerOptions::default();
        options.max_body = 1000;
        options
    })
    .await;
    let client = Client::new(ClientOptions::default()).expect("a client");
    for _ in 0..20 {
        let body = Body::from(vec![b' '; 3 << 20]);
        let answer = client
            .post(&server.at("/echo"), HeaderMap::new(), body)
            .await
            .expect("answered");
        assert_eq!(answer.status, 413);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_gzip_bomb_stops_at_the_limit() {
    let mut options = ServerOptions::default();
    options.max_body = 1 << 20;
    let server = start(echo(), options).await;
    let mut options = ClientOptions::default();
    options.gzip_requests = true;
    let client = Client::new(options).expect("a client");
    let bomb = Body::from(vec![b' '; 50 << 20]);
    let answer = client
        .post(&server.at("/echo"), HeaderMap::new(), bomb)
        .await
        .expect("answered");
    assert_eq!(answer.status, 413);
    server.stop().await;
}

#[tokio::test]
async fn all_bodies_in_work_share_a_budget() {
    let (release, released) = tokio::sync::watch::channel(false);
    let entered = Arc::new(tokio::sync::Notify::new());
    let inside = Arc::clone(&entered);
    let routes = echo().at("/hold", move |request: Request| {
        let mut released = released.clone();
        inside.notify_one();
        async move {
            let _ = released.wait_for(|released| *released).await;
            Response::new(200, "text/plain", request.body.len().to_string())
        }
    });
    let mut options = ServerOptions::default();
    options.max_body = 8 << 20;
    options.work = WorkBudget::new(32 << 20);
    let server = start(routes, options).await;
    let mut options = ClientOptions::default();
    options.gzip_requests = true;
    let client = Client::new(options).expect("a client");
    let post = |path: &str, length: usize| {
        let (client, address) = (client.clone(), server.at(path));
        async move {
            let body = Body::from(vec![b' '; length]);
            let answer = client.post(&address, HeaderMap::new(), body).await;
            answer.expect("answered")
        }
    };
    let held = tokio::spawn(post("/hold", 8 << 20));
    entered.notified().await;
    let refused = post("/echo", 8 << 20).await;
    assert_eq!(refused.status, 503);
    assert_eq!(refused.headers["retry-after"], "1");
    let shown = String::from_utf8_lossy(&refused.body).into_owned();
    assert!(
        shown.contains("the 33554432 bytes of memory that they may have (work)"),
        "{shown}"
    );
    // There is still space for less.
    assert_eq!(post("/echo", 3 << 20).await.status, 200);
    release.send(true).expect("the handler waits");
    assert_eq!(&held.await.expect("no panic").body[..], b"8388608");
    assert_eq!(post("/echo", 8 << 20).await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn who_dawdles_is_cut_off() {
    let mut options = ServerOptions::default();
    options.head_timeout = Duration::from_millis(200);
    options.body_timeout = Duration::from_millis(200);
    let server = start(echo(), options).await;
    let begun = Instant::now();
    // A head that never ends; a body that never ends; nothing at all.
    assert_ne!(
        status(&raw(server.address, b"POST /echo HTTP/1.1\r\nHost: h\r\n").await),
        "200"
    );
    let stuck = b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc";
    assert_eq!(status(&raw(server.address, stuck).await), "408");
    assert_eq!(raw(server.address, b"").await, "");
    assert!(begun.elapsed() < Duration::from_secs(3));
    server.stop().await;
}

#[tokio::test]
async fn who_takes_nothing_of_an_answer_is_cut_off() {
    let routes = Routes::new().at("/", async |_: Request| {
        Response::new(200, "text/xml", vec![b'x'; 64 << 20])
    });
    let mut options = ServerOptions::default();
    options.pace = Pace::new(Duration::from_millis(200), 1 << 20);
    options.gzip_from = None;
    let server = start(routes, options).await;
    let mut stream = TcpStream::connect(server.address).await.expect("connected");
    stream
        .write_all(&request("POST", "/", "", ""))
        .await
        .expect("sent");
    tokio::time::sleep(Duration::from_millis(900)).await;
    let mut taken = 0;
    let mut buffer = vec![0; 1 << 20];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        taken += length;
    }
    assert!(taken < 64 << 20, "{taken}");
    server.stop().await;
}

#[tokio::test]
async fn a_running_request_ends_well_when_the_server_stops() {
    let routes = Routes::new().at("/", async |_: Request| {
        tokio::time::sleep(Duration::from_millis(300)).await;
        Response::new(200, "text/plain", "done")
    });
    let server = start(routes, ServerOptions::default()).await;
    let (address, host) = (server.at("/"), server.address);
    let client = Client::new(ClientOptions::default()).expect("a client");
    let running = tokio::spawn(async move {
        client
            .post(&address, HeaderMap::new(), Body::default())
            .await
    });
    // An idle connection must not hold the server up.
    let idle = TcpStream::connect(host).await.expect("connected");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    server.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(
        &running.await.expect("no panic").expect("answered").body[..],
        b"done"
    );
    assert!(TcpStream::connect(host).await.is_err());
    drop(idle);
}

#[tokio::test]
async fn grace_has_an_end() {
    let routes = Routes::new().at("/", async |_: Request| {
        std::future::pending::<Response>().await
    });
    let server = start(routes, {
        let mut options = ServerOptions::default();
        options.shutdown_timeout = Duration::from_millis(100);
        options
    })
    .await;
    let mut stream = TcpStream::connect(server.address).await.expect("connected");
    stream
        .write_all(&request("POST", "/", "", ""))
        .await
        .expect("sent");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    server.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn an_idle_connection_gives_way_to_a_new_one() {
    let server = start(echo(), {
        let mut options = ServerOptions::default();
        options.max_connections = 1;
        options
    })
    .await;
    let mut idle = TcpStream::connect(server.address).await.expect("connected");
    idle.write_all(b"POST /echo HTTP/1.1\r\n")
        .await
        .expect("sent");
    tokio::time::sleep(Duration::from_millis(50)).await;
    let answer = raw(server.address, &request("POST", "/echo", "", "<a/>")).await;
    assert_eq!(status(&answer), "200");
    assert_eq!(idle.read(&mut [0; 10]).await.expect("closed"), 0);
    server.stop().await;
}

#[tokio::test]
async fn a_connection_past_the_limit_waits_while_all_others_are_in_work() {
    let (release, released) = tokio::sync::watch::channel(false);
    let routes = echo().at("/hold", move |_: Request| {
        let mut released = released.clone();
        async move {
            let _ = released.wait_for(|released| *released).await;
            Response::new(200, "text/plain", "done")
        }
    });
    let server = start(routes, {
        let mut options = ServerOptions::default();
        options.max_connections = 1;
        options
    })
    .await;
    let address = server.address;
    let send = move |path: &'static str| {
        tokio::spawn(async move { raw(address, &request("POST", path, "", "<a/>")).await })
    };
    let first = send("/hold");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let second = send("/echo");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!second.is_finished());
    release.send(true).expect("the handler waits");
    for answer in [first, second] {
        assert_eq!(status(&answer.await.expect("no panic")), "200");
    }
    server.stop().await;
}

#[tokio::test]
async fn pages_get_the_address_that_the_client_used() {
    let pages = |request: &PageRequest<'_>| {
        let text = format!("{}{} {:?}", request.base, request.path, request.query);
        Response::new(200, "text/html", text)
    };
    let server = start(echo().pages(pages), ServerOptions::default()).await;
    let get = |target: &str, host: &str| {
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").into_bytes()
    };
    let answer = raw(server.address, &get("/echo?wsdl", "example.com:80")).await;
    assert!(
        status(&answer) == "200"
            && answer.contains("text/html")
            && answer.ends_with("http://example.com:80/echo Some(\"wsdl\")")
    );
    assert_eq!(
        status(&raw(server.address, &get("/echo", "h")).await),
        "200"
    );
    assert_eq!(status(&raw(server.address, &get("/", "h")).await), "200");
    assert_eq!(
        status(&raw(server.address, &get("/other?wsdl", "h")).await),
        "404"
    );
    assert_eq!(
        status(&raw(server.address, &get("/echo?wsdl", "evil\"<script>")).await),
        "400"
    );
    assert_eq!(
        status(
            &raw(
                server.address,
                b"GET /echo?wsdl HTTP/1.1\r\nConnection: close\r\n\r\n"
            )
            .await
        ),
        "400"
    );
    let answer = raw(server.address, b"GET /echo?wsdl HTTP/1.0\r\n\r\n").await;
    assert!(
        status(&answer) == "200" && answer.contains(&format!("http://{}/echo", server.address)),
        "{answer}"
    );
    server.stop().await;
}

#[tokio::test]
async fn short_answers_and_those_who_do_not_ask_get_no_gzip() {
    let server = start(echo(), ServerOptions::default()).await;
    let long = "<d>1.5</d>".repeat(1000);
    for (accept, body, compressed) in [
        ("gzip", long.as_str(), true),
        ("gzip;q=0", &long, false),
        ("gzip", "<a/>", false),
    ] {
        let answer = raw(
            server.address,
            &request(
                "POST",
                "/echo",
                &format!("Accept-Encoding: {accept}\r\n"),
                body,
            ),
        )
        .await;
        assert_eq!(
            answer.contains("content-encoding: gzip"),
            compressed,
            "{accept}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn what_is_kept_of_a_connection_ends_with_it_and_is_no_other_connections() {
    struct Count(AtomicUsize);
    impl Drop for Count {
        fn drop(&mut self) {
            GONE.fetch_add(1, Ordering::SeqCst);
        }
    }
    static GONE: AtomicUsize = AtomicUsize::new(0);
    let count = async |request: Request| {
        let kept = request
            .connection
            .keep(|| Count(AtomicUsize::new(usize::from(request.path == "/b"))));
        Response::new(
            200,
            "text/plain",
            kept.0.fetch_add(1, Ordering::SeqCst).to_string(),
        )
    };
    let server = start(
        Routes::new().at("/a", count).at("/b", count),
        ServerOptions::default(),
    )
    .await;
    let keep_alive =
        |path: &str| format!("POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    for _ in 0..2 {
        let requests = [keep_alive("/a"), keep_alive("/b"), keep_alive("/a")].concat();
        let last = String::from_utf8(request("POST", "/a", "", "")).expect("text");
        let answers = raw(server.address, format!("{requests}{last}").as_bytes()).await;
        let counts: Vec<&str> = answers
            .split("\r\n\r\n")
            .skip(1)
            .filter_map(|body| body.get(..1))
            .collect();
        assert_eq!(counts, ["0", "1", "2", "3"], "{answers}");
    }
    server.stop().await;
    assert_eq!(GONE.load(Ordering::SeqCst), 2);
}
