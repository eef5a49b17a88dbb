//! The client against servers good and bad.

mod common;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bsoap_http::{
    Address, Blame, Body, Client, ClientOptions, Credentials, Error, ErrorKind, Fetched, HeaderMap,
    Identity, Request, Response, Roots, Routes, Server, ServerOptions, Transfer,
};
use common::{canned, echo, start};

fn client(options: ClientOptions) -> Client {
    Client::new(options).expect("a client")
}

fn with(change: impl FnOnce(&mut ClientOptions)) -> ClientOptions {
    let mut options = ClientOptions::default();
    change(&mut options);
    options
}

async fn post(client: &Client, address: &Address, body: impl Into<Body>) -> Result<Fetched, Error> {
    client.post(address, HeaderMap::new(), body.into()).await
}

fn address(host: std::net::SocketAddr) -> Address {
    format!("http://{host}/").parse().expect("an address")
}

/// Requests as they arrived, each as its head's headers.
type Seen = Arc<Mutex<Vec<Request>>>;

fn recording() -> (Routes, Seen) {
    let seen = Seen::default();
    let record = Arc::clone(&seen);
    let routes = Routes::new().at("/", move |request: Request| {
        record.lock().expect("not poisoned").push(request);
        async { Response::empty(202) }
    });
    (routes, seen)
}

#[tokio::test]
async fn a_body_comes_back_whole_by_length_and_in_chunks() {
    let server = start(echo(), ServerOptions::default()).await;
    let text = "<d>0.12345678901234567</d>".repeat(50_000);
    for transfer in [Transfer::Length, Transfer::Chunked] {
        let client = client(with(|options| {
            options.transfer = transfer;
        }));
        let pieces = text
            .as_bytes()
            .chunks(10_007)
            .map(bsoap_http::Bytes::copy_from_slice);
        let answer = post(&client, &server.at("/echo"), Body::from_chunks(pieces))
            .await
            .expect("answered");
        assert!(answer.body == text.as_bytes());
        assert_eq!(
            (answer.status.as_u16(), answer.content_type()),
            (200, Some("text/xml"))
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn gzip_works_both_ways() {
    let server = start(echo(), ServerOptions::default()).await;
    let text = "<d>1.5</d>".repeat(100_000);
    let client = client(with(|options| {
        options.gzip_requests = true;
        options.accept_gzip = true;
    }));
    let answer = post(&client, &server.at("/echo"), text.clone())
        .await
        .expect("answered");
    assert_eq!(answer.headers["content-encoding"], "gzip");
    assert!(answer.body == text.as_bytes());
    server.stop().await;
}

#[tokio::test]
async fn an_answer_past_the_cap_is_refused_announced_or_not_plain_or_gzip() {
    let server = start(echo(), ServerOptions::default()).await;
    for accept_gzip in [false, true] {
        let client = client(with(|options| {
            options.max_response = 10_000;
            options.accept_gzip = accept_gzip;
        }));
        let error = post(&client, &server.at("/echo"), " ".repeat(10_001))
            .await
            .expect_err("too large");
        assert_eq!(*error.kind(), ErrorKind::TooLarge { limit: 10_000 });
        assert_eq!(error.blame(), Blame::Peer);
        assert!(
            post(&client, &server.at("/echo"), " ".repeat(10_000))
                .await
                .is_ok()
        );
    }
    let endless = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        format!("1000\r\n{}\r\n", "x".repeat(4096)).repeat(10)
    );
    let (host, _) = canned(endless).await;
    let client = client(with(|options| {
        options.max_response = 10_000;
    }));
    let error = post(&client, &address(host), "")
        .await
        .expect_err("too large");
    assert_eq!(*error.kind(), ErrorKind::TooLarge { limit: 10_000 });
    server.stop().await;
}

#[tokio::test]
async fn broken_answers_are_the_transports_doing() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "garbage\r\n\r\n",
    ] {
        let (host, _) = canned(answer).await;
        let error = post(&client(ClientOptions::default()), &address(host), "x")
            .await
            .expect_err("broken");
        assert_eq!(*error.kind(), ErrorKind::Broken, "{answer:?}");
        assert_eq!(error.blame(), Blame::Transport);
    }
    for (encoding, kind) in [
        ("gzip", ErrorKind::Compression),
        ("br", ErrorKind::ContentEncoding("br".into())),
    ] {
        let (host, _) = canned(format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: 3\r\n\r\nabc"
        ))
        .await;
        let error = post(&client(ClientOptions::default()), &address(host), "x")
            .await
            .expect_err("broken");
        assert_eq!(*error.kind(), kind);
    }
}

#[tokio::test]
async fn a_silent_server_runs_into_the_timeout() {
    let routes = Routes::new().at("/echo", async |_: Request| {
        std::future::pending::<Response>().await
    });
    let server = start(routes, {
        let mut options = ServerOptions::default();
        options.shutdown_timeout = Duration::from_millis(50);
        options
    })
    .await;
    let timeout = Duration::from_millis(100);
    let client = client(with(|options| {
        options.timeout = timeout;
    }));
    let error = post(&client, &server.at("/echo"), "x")
        .await
        .expect_err("no answer");
    assert_eq!(*error.kind(), ErrorKind::Timeout(timeout));
    server.stop().await;
}

#[tokio::test]
async fn an_unreachable_host_is_a_connect_error_and_says_why() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let host = listener.local_addr().expect("bound");
    drop(listener);
    let error = post(&client(ClientOptions::default()), &address(host), "x")
        .await
        .expect_err("refused");
    assert_eq!(*error.kind(), ErrorKind::Connect);
    assert!(
        error.to_string().contains(&host.to_string())
            && std::error::Error::source(&error).is_some()
    );
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_a_connect_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let host = listener.local_addr().expect("bound");
    let address: Address = format!("https://{host}/").parse().expect("an address");
    let connect_timeout = Duration::from_millis(100);
    let client = client(with(|options| {
        options.connect_timeout = connect_timeout;
    }));
    let error = post(&client, &address, "x")
        .await
        .expect_err("no handshake");
    assert_eq!(*error.kind(), ErrorKind::ConnectTimeout(connect_timeout));
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let (host, connections) = canned(answer).await;
    let own = client(ClientOptions::default());
    post(&own, &address(host), "").await.expect("answered");
    assert_eq!(connections.load(Ordering::SeqCst), 1);

    let peers = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&peers);
    let routes = Routes::new().at("/", move |request: Request| {
        record.lock().expect("not poisoned").push(request.peer);
        async { Response::empty(202) }
    });
    let server = start(routes, ServerOptions::default()).await;
    for _ in 0..20 {
        post(&own, &server.at("/"), "x").await.expect("answered");
    }
    let peers = std::mem::take(&mut *peers.lock().expect("not poisoned"));
    assert_eq!(peers.len(), 20);
    assert!(peers.iter().all(|peer| *peer == peers[0]));
    server.stop().await;
}

#[tokio::test]
async fn headers_user_agent_and_basic_authentication_arrive() {
    let (routes, seen) = recording();
    let server = start(routes, ServerOptions::default()).await;
    let mut always = HeaderMap::new();
    always.insert("x-key", "k".parse().expect("a value"));
    let credentials = Some(Credentials::new("Aladdin", "open sesame"));
    let client = client(with(|options| {
        options.headers = always;
        options.credentials = credentials;
    }));
    let mut headers = HeaderMap::new();
    headers.insert("soapaction", "\"a\"".parse().expect("a value"));
    client
        .post(&server.at("/"), headers, "x".into())
        .await
        .expect("answered");
    let with_own: Address = format!("http://u:p@{}/", server.address)
        .parse()
        .expect("an address");
    post(&client, &with_own, "x").await.expect("answered");
    {
        let seen = seen.lock().expect("not poisoned");
        assert_eq!(
            seen[0].header("authorization"),
            Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        );
        assert_eq!(seen[0].header("x-key"), Some("k"));
        assert_eq!(seen[0].header("soapaction"), Some("\"a\""));
        assert_eq!(seen[0].header("content-length"), Some("1"));
        assert!(
            seen[0]
                .header("user-agent")
                .is_some_and(|agent| agent.starts_with("bsoap/"))
        );
        assert_eq!(seen[1].header("authorization"), Some("Basic dTpw"));
        assert_eq!(seen[1].header("host"), Some(&*server.address.to_string()));
    }
    server.stop().await;
}

#[tokio::test]
async fn redirects_are_followed_only_when_asked_and_messages_stay_home() {
    let (routes, seen) = recording();
    let abroad = start(routes, ServerOptions::default()).await;
    let (routes, seen_home) = recording();
    let target = abroad.at("/").to_string();
    let routes = routes.at("/away", move |_: Request| {
        let mut response = Response::empty(307);
        response
            .headers
            .insert("location", target.parse().expect("a value"));
        async { response }
    });
    let routes = routes.at("/near", async |_: Request| {
        let mut response = Response::empty(308);
        response
            .headers
            .insert("location", "/".parse().expect("a value"));
        response
    });
    let routes = routes.at("/loop", async |_: Request| {
        let mut response = Response::empty(302);
        response
            .headers
            .insert("location", "/loop".parse().expect("a value"));
        response
    });
    let home = start(routes, ServerOptions::default()).await;

    let error = post(&client(ClientOptions::default()), &home.at("/near"), "x")
        .await
        .expect_err("off by default");
    assert!(
        matches!(error.kind(), ErrorKind::Redirect { location } if location == "/"),
        "{error}"
    );

    let credentials = Some(Credentials::new("u", "p"));
    let client = client(with(|options| {
        options.redirects = 3;
        options.credentials = credentials;
    }));
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "text/xml"),
        ("soapaction", "\"a\""),
        ("x-secret", "s"),
        ("cookie", "c"),
    ] {
        headers.insert(name, value.parse().expect("a value"));
    }
    let near = client
        .post(&home.at("/near"), headers.clone(), "body".into())
        .await
        .expect("followed");
    assert_eq!(near.address.as_str(), home.at("/").as_str());
    let error = client
        .post(&home.at("/away"), headers, "body".into())
        .await
        .expect_err("a message does not leave its origin");
    assert!(
        matches!(error.kind(), ErrorKind::Redirect { location } if *location == abroad.at("/").to_string())
    );
    let error = post(&client, &home.at("/loop"), "x")
        .await
        .expect_err("too often");
    assert!(matches!(error.kind(), ErrorKind::Redirect { .. }));
    {
        let near = seen_home.lock().expect("not poisoned");
        assert_eq!(
            (near[0].header("x-secret"), near[0].header("authorization")),
            (Some("s"), Some("Basic dTpw"))
        );
        assert_eq!(&near[0].body[..], b"body");
        assert!(seen.lock().expect("not poisoned").is_empty());
    }
    home.stop().await;
    abroad.stop().await;
}

#[tokio::test]
async fn https_trusts_the_given_authority_and_nobody_else() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let certificate = made.cert.pem().into_bytes();
    let identity = Identity::new(certificate.clone(), made.signing_key.serialize_pem());
    let mut options = ServerOptions::default();
    options.identity = Some(identity);
    let server = Server::bind("127.0.0.1:0", echo(), options)
        .await
        .expect("a free port");
    let address: Address = format!("https://localhost:{}/echo", server.address().port())
        .parse()
        .expect("an address");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async move { drop(stopped.await) }));

    let trusting = client(with(|options| {
        options.roots = Roots::Pem(certificate);
    }));
    assert_eq!(
        &post(&trusting, &address, "<a/>")
            .await
            .expect("trusted")
            .body[..],
        b"<a/>"
    );
    let wary = client(ClientOptions::default());
    let error = post(&wary, &address, "<a/>")
        .await
        .expect_err("not trusted");
    assert!(matches!(error.kind(), ErrorKind::Untrusted { .. }));
    assert!(
        Client::new(with(|options| {
            options.roots = Roots::Pem(b"nothing".to_vec());
        }))
        .is_err()
    );
    drop((stop, trusting));
    serving.await.expect("the server ends");
}
