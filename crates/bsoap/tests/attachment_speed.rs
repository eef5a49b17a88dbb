//! MTOM of 100 MB against a plain upload of the same octets by hyper, both over the loopback device: `cargo test --release --package bsoap
//! --test attachment_speed -- --ignored --nocapture`. The server keeps the octets in memory, or in a file. Each answer is the number of
//! octets and their checksum, and is checked.

mod common;

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::time::{Duration, Instant};

use bsoap::attachments::{Attachment, Attachments};
use bsoap::http::Bytes;
use bsoap::{Client, Message, Service, Value};
use common::start;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

const PHOTOS: &str = include_str!("../../../examples/photos/photos.wsdl");

/// How many octets are sent.
const LENGTH: usize = 100_000_000;

/// How often each is timed, one after the other.
const ROUNDS: usize = 11;

/// How much slower MTOM may be.
const MAX_RATIO: f64 = 1.2;

/// This much is written to a file at once.
const WRITE_STEP: usize = 256 << 10;

/// Where the server keeps the octets.
#[derive(Clone, Copy, Debug)]
enum Place {
    Memory,
    File,
}

/// The number of octets, and a checksum of some of them.
fn checked(octets: impl Iterator<Item = Bytes>) -> u64 {
    let (mut hasher, mut at) = (DefaultHasher::new(), 0);
    for octets in octets {
        // Those at multiples of a page, whatever the chunks are.
        let first = at % 4096;
        let skipped = (4096 - first) % 4096;
        octets
            .iter()
            .skip(skipped)
            .step_by(4096)
            .for_each(|octet| hasher.write_u8(*octet));
        at += octets.len();
    }
    hasher.write_usize(at);
    hasher.finish() >> 1
}

/// A file in pieces.
fn pieces(mut file: impl std::io::Read) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let mut piece = vec![0; WRITE_STEP];
        let count = file.read(&mut piece).expect("it can be read");
        piece.truncate(count);
        (count > 0).then(|| Bytes::from(piece))
    })
}

/// A server that only takes bodies: in the chunks in which they arrive, or in a file.
async fn plain(place: Place, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let mut body = request.into_body();
    let mut chunks = Vec::new();
    let mut waiting = 0;
    let mut file = tempfile::tempfile().expect("a file");
    let write = |mut file: std::fs::File, chunks: Vec<Bytes>| {
        tokio::task::spawn_blocking(move || {
            for chunk in chunks {
                file.write_all(&chunk).expect("it can be written");
            }
            file
        })
    };
    while let Some(frame) = body.frame().await {
        let Ok(chunk) = frame.expect("a frame").into_data() else {
            continue;
        };
        waiting += chunk.len();
        chunks.push(chunk);
        if matches!(place, Place::File) && waiting >= WRITE_STEP {
            waiting = 0;
            file = write(file, std::mem::take(&mut chunks))
                .await
                .expect("written");
        }
    }
    let sum = match place {
        // Copied in pieces, as the reader of an attachment does.
        Place::Memory => checked(chunks.iter().map(|chunk| Bytes::copy_from_slice(chunk))),
        Place::File => {
            let mut file = write(file, chunks).await.expect("written");
            std::io::Seek::rewind(&mut file).expect("it can be read");
            let summed = tokio::task::spawn_blocking(move || checked(pieces(file)));
            summed.await.expect("a checksum")
        }
    };
    Response::new(Full::new(sum.to_string().into()))
}

/// Uploads octets to a plain server.
async fn upload(
    sender: &mut hyper::client::conn::http1::SendRequest<Full<Bytes>>,
    octets: &Bytes,
) -> u64 {
    sender.ready().await.expect("a connection");
    let request = Request::post("/").header("host", "localhost");
    let request = request.body(Full::new(octets.clone())).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    let answer = response.into_body().collect().await.expect("a body");
    let text = answer.to_bytes();
    String::from_utf8_lossy(&text).parse().expect("a number")
}

/// A connection to a plain server.
async fn connected(place: Place) -> hyper::client::conn::http1::SendRequest<Full<Bytes>> {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it listens");
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let service =
            service_fn(
                move |request| async move { Ok::<_, Infallible>(plain(place, request).await) },
            );
        let server = hyper::server::conn::http1::Builder::new();
        // It ends with the client.
        let _ = server.serve_connection(TokioIo::new(stream), service).await;
    });
    let stream = TcpStream::connect(address).await.expect("it accepts");
    stream.set_nodelay(true).expect("an option");
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .expect("a connection");
    tokio::spawn(connection);
    sender
}

/// A service that answers with the checksum of what it got.
async fn store(message: Message) -> Value {
    let photo = message.value()["photo"].as_attachment().cloned();
    let photo = photo.expect("it came as an attachment");
    let summed = tokio::task::spawn_blocking(move || match photo.open() {
        Ok(reader) => checked(pieces(reader)),
        Err(error) => panic!("{error}"),
    });
    let sum = summed.await.expect("a checksum");
    Value::object([("size", Value::from(sum))])
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

async fn compare(place: Place) -> f64 {
    let octets: Vec<u8> = (0..LENGTH).map(|at| (at * 7 + at / 251) as u8).collect();
    let memory = match place {
        Place::Memory => LENGTH * 2,
        Place::File => 1 << 20,
    };
    let service = Service::builder(PHOTOS)
        .handle("store", store)
        .attachments(Attachments::new().memory(memory));
    let running = start(service).await;
    let client = Client::builder(PHOTOS)
        .endpoint(&running.urls[0])
        .attachments(Attachments::mtom())
        .build()
        .expect("a client");
    let attachment = Attachment::from_bytes(octets.clone());
    let request = Value::object([("name", "a".into()), ("photo", attachment.into())]);
    let octets = Bytes::from(octets);
    let expected = checked(octets.chunks(WRITE_STEP).map(Bytes::copy_from_slice));
    let mut plain = connected(place).await;
    let (mut by_mtom, mut by_hyper) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        let answer = client.call("store", &request).await.expect("an answer");
        let mtom = begun.elapsed();
        assert_eq!(answer["size"].as_u64(), Some(expected));
        let begun = Instant::now();
        assert_eq!(upload(&mut plain, &octets).await, expected);
        // The first round warms up.
        if round > 0 {
            by_mtom.push(mtom);
            by_hyper.push(begun.elapsed());
        }
    }
    running.stop().await;
    let (mtom, hyper) = (median(by_mtom), median(by_hyper));
    println!(
        "{place:?}: MTOM {mtom:.1} ms, hyper {hyper:.1} ms, {:.3}x",
        mtom / hyper
    );
    mtom / hyper
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run it alone, in a release build"]
async fn mtom_is_about_as_fast_as_a_plain_upload() {
    let ratios = [compare(Place::Memory).await, compare(Place::File).await];
    assert!(ratios.iter().all(|ratio| *ratio <= MAX_RATIO), "{ratios:?}");
}
