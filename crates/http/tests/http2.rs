//! HTTP/2 over TLS: the limits of HTTP/1.1 hold, and those of its own.
#![cfg(feature = "http2")]

mod common;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bsoap_http::http::{Request as HttpRequest, Response as HttpResponse};
use bsoap_http::{Bytes, Identity, Pace, Request, Response, Routes, ServerOptions};
use common::{Running, echo, start};
use h2::client::SendRequest;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;

/// A server, and what its clients must trust.
struct Served {
    server: Running,
    certificate: CertificateDer<'static>,
}

async fn serve(routes: Routes, mut options: ServerOptions) -> Served {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("made");
    let key = made.signing_key.serialize_pem();
    options.identity = Some(Identity::new(made.cert.pem(), key));
    Served {
        server: start(routes, options).await,
        certificate: made.cert.der().clone(),
    }
}

impl Served {
    fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// A connection that speaks HTTP/2, and a task that ends with it.
    async fn connect(
        &self,
        builder: h2::client::Builder,
    ) -> (
        SendRequest<Bytes>,
        tokio::task::JoinHandle<Result<(), h2::Error>>,
    ) {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let stream = TcpStream::connect(self.address()).await.expect("connected");
        let name = ServerName::try_from("localhost").expect("a name");
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = connector.connect(name, stream).await.expect("trusted");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (client, connection) = builder.handshake(stream).await.expect("HTTP/2");
        (client, tokio::spawn(connection))
    }
}

fn post(path: &str) -> HttpRequest<()> {
    let request = HttpRequest::post(format!("https://localhost{path}"));
    request.body(()).expect("a request")
}

async fn text(answer: HttpResponse<h2::RecvStream>) -> (u16, String) {
    let (head, mut body) = answer.into_parts();
    let mut bytes = Vec::new();
    while let Some(Ok(data)) = body.data().await {
        let _ = body.flow_control().release_capacity(data.len());
        bytes.extend_from_slice(&data);
    }
    (
        head.status.as_u16(),
        String::from_utf8_lossy(&bytes).into_owned(),
    )
}

#[tokio::test]
async fn requests_are_answered_side_by_side() {
    let served = serve(echo(), ServerOptions::default()).await;
    let (client, _connection) = served.connect(h2::client::Builder::new()).await;
    let calls = (0..90).map(|number| {
        let client = client.clone();
        async move {
            let mut client = client.ready().await.expect("the connection is open");
            let (answer, mut body) = client.send_request(post("/echo"), false).expect("sent");
            body.send_data(format!("<a>{number}</a>").into(), true)
                .expect("sent");
            let (status, text) = text(answer.await.expect("answered")).await;
            assert_eq!((status, text), (200, format!("<a>{number}</a>")));
        }
    });
    for call in calls.map(tokio::spawn).collect::<Vec<_>>() {
        call.await.expect("right");
    }
    served.server.stop().await;
}

#[tokio::test]
async fn the_limits_on_bodies_and_heads_hold() {
    let mut options = ServerOptions::default();
    options.max_body = 100;
    options.max_head = 10_000;
    let served = serve(echo(), options).await;
    let (client, _connection) = served.connect(h2::client::Builder::new()).await;
    let mut client = client.ready().await.expect("open");
    let (answer, mut body) = client.send_request(post("/echo"), false).expect("sent");
    body.send_data(vec![b' '; 101].into(), true).expect("sent");
    let (status, text) = text(answer.await.expect("answered")).await;
    assert_eq!(status, 413, "{text}");
    let mut client = client.ready().await.expect("open");
    let mut flood = post("/echo");
    for number in 0..200 {
        let name: bsoap_http::header::HeaderName = format!("x-{number}").parse().expect("a name");
        flood
            .headers_mut()
            .insert(name, "x".repeat(100).parse().expect("a value"));
    }
    let (answer, _) = client.send_request(flood, true).expect("sent");
    match answer.await {
        Ok(answer) => assert_eq!(answer.status(), 431),
        Err(error) => assert!(error.is_remote() || error.is_io(), "{error}"),
    }
    served.server.stop().await;
}

#[tokio::test]
async fn a_client_that_resets_its_requests_is_cut_off() {
    let handled = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&handled);
    let routes = Routes::new().at("/", move |_: Request| {
        counter.fetch_add(1, Ordering::Relaxed);
        std::future::pending::<Response>()
    });
    let served = serve(routes, ServerOptions::default()).await;
    let (mut client, connection) = served.connect(h2::client::Builder::new()).await;
    let mut sent = 0;
    while sent < 20_000 && !connection.is_finished() {
        let Ok(ready) = client.ready().await else {
            break;
        };
        client = ready;
        let Ok((answer, mut body)) = client.send_request(post("/"), true) else {
            break;
        };
        body.send_reset(h2::Reason::CANCEL);
        drop(answer);
        sent += 1;
        if sent % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let ended = tokio::time::timeout(Duration::from_secs(5), connection).await;
    eprintln!(
        "{sent} requests reset, {} handled",
        handled.load(Ordering::Relaxed)
    );
    assert!(ended.is_ok(), "the connection is still open");
    assert!(sent < 20_000);
    served.server.stop().await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_an_answer_is_cut_off() {
    let long = Bytes::from(vec![b' '; 4 << 20]);
    let routes = Routes::new().at("/", move |_: Request| {
        let body = bsoap_http::Body::from(long.clone());
        async move { Response::new(200, "text/xml", body) }
    });
    let mut options = ServerOptions::default();
    options.pace = Pace::new(Duration::from_millis(500), 1 << 20);
    options.gzip_from = None;
    let served = serve(routes, options).await;
    let (client, connection) = served.connect(h2::client::Builder::new()).await;
    let mut client = client.ready().await.expect("open");
    let (answer, _) = client.send_request(post("/"), true).expect("sent");
    // The window of the stream is never enlarged.
    let _answer = answer.await.expect("its head has arrived");
    let begun = Instant::now();
    let ended = tokio::time::timeout(Duration::from_secs(10), connection).await;
    assert!(ended.is_ok(), "the connection is still open");
    eprintln!("cut off after {:?}", begun.elapsed());
    served.server.stop().await;
}

#[tokio::test]
async fn a_request_in_work_is_answered_when_the_server_stops() {
    let routes = Routes::new().at("/", async |_: Request| {
        tokio::time::sleep(Duration::from_millis(300)).await;
        Response::new(200, "text/plain", "done")
    });
    let served = serve(routes, ServerOptions::default()).await;
    let (client, _connection) = served.connect(h2::client::Builder::new()).await;
    let mut client = client.ready().await.expect("open");
    let (answer, _) = client.send_request(post("/"), true).expect("sent");
    tokio::time::sleep(Duration::from_millis(50)).await;
    let begun = Instant::now();
    let stopping = served.server.stopping();
    assert_eq!(
        text(answer.await.expect("answered")).await,
        (200, "done".to_owned())
    );
    stopping.await.expect("it ends");
    assert!(begun.elapsed() < Duration::from_secs(3));
}
