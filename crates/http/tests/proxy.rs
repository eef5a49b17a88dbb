//! Requests through a proxy, and limits on the connections of a client.

mod common;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bsoap_http::{
    Body, Client, ClientOptions, ErrorKind, HeaderMap, Identity, Proxy, Request, Response, Roots,
    Routes, Server, ServerOptions,
};
use common::{echo, start};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The heads of the requests that a proxy saw.
type Heads = Arc<Mutex<Vec<String>>>;

/// A proxy that sends everything to one server, whatever the name that the client asks for. It opens no tunnel without
/// the right password.
async fn proxy(server: SocketAddr) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    let heads = Heads::default();
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let mut client = BufReader::new(client);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    if client.read_line(&mut head).await.expect("text") == 0 {
                        return;
                    }
                }
                seen.lock().expect("not poisoned").push(head.clone());
                let mut upstream = TcpStream::connect(server).await.expect("connected");
                if !head
                    .to_lowercase()
                    .contains("proxy-authorization: basic am86c2vjcmv0")
                {
                    let refusal =
                        b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
                    client.write_all(refusal).await.expect("written");
                    return;
                }
                if head.starts_with("CONNECT ") {
                    client
                        .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
                        .await
                        .expect("written");
                } else {
                    let (request, rest) = head.split_once("\r\n").expect("a request line");
                    let path = request
                        .split(' ')
                        .nth(1)
                        .and_then(|url| url.split_once("//"));
                    let path = path.and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
                    let line =
                        format!("POST {} HTTP/1.1\r\n{rest}", path.expect("an absolute URL"));
                    upstream.write_all(line.as_bytes()).await.expect("written");
                }
                let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
            });
        }
    });
    (address, heads)
}

fn through(proxy: &str, except: &str) -> ClientOptions {
    let mut options = ClientOptions::default();
    options.proxy = Proxy::url(proxy, except).expect("a proxy");
    options
}

async fn post(options: ClientOptions, address: &str) -> Result<(), bsoap_http::Error> {
    let client = Client::new(options).expect("a client");
    let address = address.parse().expect("an address");
    let answer = client
        .post(&address, HeaderMap::new(), Body::from("<a/>"))
        .await?;
    assert_eq!(
        (answer.status.as_u16(), &answer.body[..]),
        (200, &b"<a/>"[..])
    );
    Ok(())
}

#[tokio::test]
async fn plain_requests_go_through_a_proxy_with_the_whole_address_and_the_password() {
    let server = start(echo(), ServerOptions::default()).await;
    let (proxy, heads) = proxy(server.address).await;
    let proxied = through(&format!("http://jo:secret@{proxy}"), "");
    post(proxied, "http://service.invalid:81/echo")
        .await
        .expect("answered");
    let head = heads.lock().expect("not poisoned").remove(0);
    assert!(
        head.starts_with("POST http://service.invalid:81/echo HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("host: service.invalid:81\r\n"), "{head}");
}

#[tokio::test]
async fn https_goes_through_a_tunnel_that_carries_no_secret_but_the_proxys_own() {
    let made =
        rcgen::generate_simple_self_signed(["service.invalid".to_owned()]).expect("a certificate");
    let mut options = ServerOptions::default();
    options.identity = Some(Identity::new(
        made.cert.pem(),
        made.signing_key.serialize_pem(),
    ));
    let server = Server::bind("127.0.0.1:0", echo(), options)
        .await
        .expect("a free port");
    let (proxy, heads) = proxy(server.address()).await;
    tokio::spawn(server.run(std::future::pending()));
    let mut proxied = through(&format!("jo:secret@{proxy}"), "");
    proxied.roots = Roots::Pem(made.cert.pem().into_bytes());
    post(proxied.clone(), "https://u:p@service.invalid/echo")
        .await
        .expect("answered");
    let head = heads.lock().expect("not poisoned").remove(0);
    assert!(
        head.starts_with("CONNECT service.invalid:443 HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(!head.to_lowercase().contains("\r\nauthorization"), "{head}");

    proxied.proxy = Proxy::url(&format!("http://jo:wrong@{proxy}"), "").expect("a proxy");
    let error = post(proxied, "https://service.invalid/echo")
        .await
        .expect_err("refused");
    assert_eq!(*error.kind(), ErrorKind::Connect);
    let shown = format!("{error:?}");
    assert!(
        shown.contains(&proxy.to_string()) && shown.contains("ProxyAuthRequired"),
        "{shown}"
    );
    assert!(!shown.contains("wrong"), "{shown}");
}

#[tokio::test]
async fn excepted_hosts_are_reached_directly() {
    let server = start(echo(), ServerOptions::default()).await;
    let (proxy, heads) = proxy(server.address).await;
    for except in ["127.0.0.1", "10.0.0.0/8, 127.0.0.0/8"] {
        let options = through(&format!("http://jo:secret@{proxy}"), except);
        post(options, server.at("/echo").as_str())
            .await
            .expect("answered");
        assert!(heads.lock().expect("not poisoned").is_empty(), "{except}");
    }
    let options = through(&format!("http://jo:secret@{proxy}"), "localhost");
    post(options, server.at("/echo").as_str())
        .await
        .expect("answered");
    assert_eq!(heads.lock().expect("not poisoned").len(), 1);
}

#[test]
fn only_http_proxies_are_accepted_and_no_password_is_shown() {
    for url in [
        "https://jo:secret@proxy:3128",
        "socks5://jo:secret@proxy",
        "http://",
        "jo:secret@",
    ] {
        let error = Proxy::url(url, "").expect_err(url);
        assert_eq!(*error.kind(), ErrorKind::Proxy);
        assert!(
            !format!("{error} {error:?}").contains("secret"),
            "{error:?}"
        );
    }
    let shown = format!("{:?}", through("http://jo:secret@proxy:3128", "localhost"));
    assert!(!shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn no_more_requests_run_at_once_than_connections_are_allowed() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counter, peak) = (Arc::clone(&running), Arc::clone(&most));
    let routes = Routes::new().at("/", move |_: Request| {
        let (counter, peak) = (Arc::clone(&counter), Arc::clone(&peak));
        async move {
            peak.fetch_max(counter.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            counter.fetch_sub(1, Ordering::SeqCst);
            Response::empty(202)
        }
    });
    let server = start(routes, ServerOptions::default()).await;
    let mut options = ClientOptions::default();
    options.max_connections = 3;
    let client = Client::new(options).expect("a client");
    let address = server.at("/");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let (client, address) = (client.clone(), address.clone());
        calls.spawn(async move {
            client
                .post(&address, HeaderMap::new(), Body::from("x"))
                .await
        });
    }
    for answer in calls.join_all().await {
        assert_eq!(answer.expect("answered").status.as_u16(), 202);
    }
    assert_eq!(most.load(Ordering::SeqCst), 3);
    server.stop().await;
}
