//! Bodies of chunks that others go on using, and bodies that are made while they are sent.

mod common;

use std::io::Write;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bsoap_http::{
    AnyError, Body, BodySource, Bytes, Client, ClientOptions, HeaderMap, Response, Routes,
    ServerOptions,
};
use common::{echo, start};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A chunk as templates hold it.
struct Chunk(Arc<Vec<u8>>);

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn client() -> Client {
    Client::new(ClientOptions::default()).expect("a client")
}

#[tokio::test]
async fn a_send_in_flight_keeps_its_chunks_and_lets_go_of_them_when_it_is_done() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    let address = address.parse().expect("an address");
    // Far more than the system's buffers take: most of it waits in the chunks.
    let mut chunks: Vec<Arc<Vec<u8>>> = (0..400)
        .map(|number| Arc::new(vec![b'a' + (number % 26) as u8; 64 << 10]))
        .collect();
    let expected: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.to_vec()).collect();
    let body = Body::from_chunks(
        chunks
            .iter()
            .map(|chunk| Bytes::from_owner(Chunk(chunk.clone()))),
    );
    let sending =
        tokio::spawn(async move { client().post(&address, HeaderMap::new(), body).await });
    let (mut peer, _) = listener.accept().await.expect("a connection");
    tokio::time::sleep(Duration::from_millis(50)).await;
    // The last chunk waits: patching it makes a copy.
    let last = chunks.last_mut().expect("chunks");
    assert!(Arc::get_mut(last).is_none());
    Arc::make_mut(last).fill(b'!');
    let mut found = Vec::new();
    let mut head = None;
    while head.is_none_or(|head| found.len() < head + expected.len()) {
        assert_ne!(peer.read_buf(&mut found).await.expect("read"), 0);
        head = head.or_else(|| {
            found
                .windows(4)
                .position(|end| end == b"\r\n\r\n")
                .map(|at| at + 4)
        });
    }
    assert!(found[head.expect("a head")..] == expected);
    peer.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
        .await
        .expect("written");
    sending.await.expect("no panic").expect("answered");
    for chunk in &mut chunks {
        assert!(
            Arc::get_mut(chunk).is_some(),
            "somebody still holds a chunk"
        );
    }
}

#[tokio::test]
async fn a_connection_that_drops_lets_go_of_the_chunks() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    let address = address.parse().expect("an address");
    let mut chunk = Arc::new(vec![b'x'; 16 << 20]);
    let body = Body::from_chunks([Bytes::from_owner(Chunk(chunk.clone()))]);
    let sending =
        tokio::spawn(async move { client().post(&address, HeaderMap::new(), body).await });
    let (mut peer, _) = listener.accept().await.expect("a connection");
    let mut some = vec![0; 1000];
    peer.read_exact(&mut some).await.expect("read");
    drop(peer);
    sending
        .await
        .expect("no panic")
        .expect_err("nobody answered");
    for _ in 0..100 {
        if Arc::get_mut(&mut chunk).is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("somebody still holds the chunk");
}

/// Counts down, and then ends or fails.
struct Counting {
    left: usize,
    fails: bool,
    waited: bool,
}

impl BodySource for Counting {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>> {
        if self.left == 0 {
            return Poll::Ready(self.fails.then(|| Err("out of numbers".into())));
        }
        if self.left.is_multiple_of(3) && !self.waited {
            // Nothing at the moment, and something very soon.
            self.waited = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.waited = false;
        self.left -= 1;
        Poll::Ready(Some(Ok(Bytes::from(format!("<n>{}</n>", self.left)))))
    }
}

#[tokio::test]
async fn a_body_from_a_source_arrives_whole_or_not_at_all() {
    let server = start(echo(), ServerOptions::default()).await;
    let source = |fails| Counting {
        left: 100,
        fails,
        waited: false,
    };
    let post = async |body| {
        client()
            .post(&server.at("/echo"), HeaderMap::new(), body)
            .await
    };
    let whole = post(Body::from_source(source(false), None))
        .await
        .expect("answered");
    let text = String::from_utf8(whole.body.to_vec()).expect("UTF-8");
    assert!(
        text.starts_with("<n>99</n>") && text.ends_with("<n>0</n>"),
        "{text}"
    );
    let length = text.len() as u64;
    let again = post(Body::from_source(source(false), Some(length)))
        .await
        .expect("answered");
    assert!(again.body == whole.body);
    post(Body::from_source(source(true), None))
        .await
        .expect_err("it broke off");
    post(Body::from_source(source(false), Some(length + 1)))
        .await
        .expect_err("it is too short");
}

#[tokio::test]
async fn an_answer_from_a_source_is_sent_in_chunks() {
    let routes = Routes::new().at("/", async |_| {
        let source = Counting {
            left: 50,
            fails: false,
            waited: false,
        };
        Response::new(200, "text/xml", Body::from_source(source, None))
    });
    let server = start(routes, ServerOptions::default()).await;
    let answer = client()
        .post(&server.at("/"), HeaderMap::new(), "<a/>".into())
        .await;
    let answer = answer.expect("answered");
    assert_eq!(answer.headers["transfer-encoding"], "chunked");
    assert!(answer.body.ends_with(b"<n>0</n>"));
}

#[tokio::test]
async fn a_body_may_bring_its_own_gzip_compression() {
    let server = start(echo(), ServerOptions::default()).await;
    let mut options = ClientOptions::default();
    options.gzip_requests = true;
    let client = Client::new(options);
    let client = client.expect("a client");
    // One gzip member for each chunk is one gzip stream, too.
    let compress = |chunks: &[Bytes]| {
        let compressed = chunks.iter().map(|chunk| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(chunk).expect("written");
            Bytes::from(encoder.finish().expect("written"))
        });
        compressed.collect::<Vec<_>>()
    };
    let chunks: Vec<Bytes> = (0..40)
        .map(|number| Bytes::from(format!("<item>{number}</item>").repeat(2000)))
        .collect();
    let body = Body::from_chunks(chunks.clone()).with_gzip(compress);
    let answer = client
        .post(&server.at("/echo"), HeaderMap::new(), body)
        .await;
    assert!(answer.expect("answered").body == chunks.concat());
}
