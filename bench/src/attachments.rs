//! `attachments`: MTOM of 100 MB beside a plain upload of the same octets by hyper, over the loopback device. The server keeps the
//! octets in memory or in a temporary file and answers with their number; before any time is taken, with their checksum.

use std::convert::Infallible;
use std::error::Error;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{Read, Seek as _, Write as _};
use std::time::Instant;

use bsoap::attachments::{Attachment, Attachments};
use bsoap::{Client, Fault, Message, Service, Value};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use crate::measure::quantile;
use crate::report;
use crate::run::Failure;

/// The name on the command line.
pub(crate) const NAME: &str = "attachments";

const WSDL: &str = include_str!("../../examples/photos/photos.wsdl");

/// How many octets are written to a file at once, and read.
const STEP: usize = 512 << 10;

type Failed = Box<dyn Error + Send + Sync>;

/// Where the server keeps the octets.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Memory,
    File,
}

/// Sends octets in both ways by turns, and reports the medians and their ratio.
///
/// # Errors
/// If an answer is wrong, or no connection can be made.
pub(crate) fn run(cases: &glob::Pattern, quick: bool, is_json: bool) -> Result<(), Failure> {
    let (length, rounds) = if quick {
        (1_000_000, 3)
    } else {
        (100_000_000, 15)
    };
    let octets: Vec<u8> = (0..length).map(|at| (at * 7 + at / 251) as u8).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Engine(error.to_string()))?;
    for (name, place) in [("memory", Place::Memory), ("file", Place::File)] {
        if cases.matches(name) {
            let times = runtime.block_on(compare(place, octets.clone(), rounds));
            let times = times.map_err(|error| Failure::Engine(format!("{name}: {error}")))?;
            for line in lines(name, length, times, is_json) {
                report::line(&line)?;
            }
        }
    }
    Ok(())
}

/// A line for each way, with the times of one upload in nanoseconds.
fn lines(name: &str, length: usize, [mtom, plain]: [Vec<f64>; 2], is_json: bool) -> [String; 2] {
    let rounds = mtom.len();
    let (mtom, plain) = (quantile(mtom, 0.5), quantile(plain, 0.5));
    let line = |engine, time: f64| {
        let ratio = time / plain;
        if is_json {
            let line = json!({
                "bench": NAME, "case": name, "engine": engine, "ns": time.round(), "octets": length, "runs": rounds,
                "ratio": (ratio * 1e3).round() / 1e3, "checked": true,
            });
            return line.to_string();
        }
        let milliseconds = time / 1e6;
        format!("{milliseconds:>9.2} ms  {name:<8} {engine:<8} {ratio:.2} of a plain upload")
    };
    [line("bsoap", mtom), line("hyper", plain)]
}

async fn compare(place: Place, octets: Vec<u8>, rounds: usize) -> Result<[Vec<f64>; 2], Failed> {
    let length = octets.len() as u64;
    let expected = checksum(&octets[..])?;
    let client = client(place, octets.len()).await?;
    let plain = connected(place).await?;
    let body = Bytes::from(octets);
    let attachment = Attachment::from_bytes(body.clone());
    let request =
        |name: &str| Value::object([("name", name.into()), ("photo", attachment.clone().into())]);
    let mut plain = Plain(plain);
    let checked = client.call("store", &request("check")).await?;
    same(checked["size"].as_u64(), expected)?;
    same(plain.upload("/check", &body).await?, expected)?;
    let (mut by_mtom, mut by_hyper) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begun = Instant::now();
        let answer = client.call("store", &request("")).await?;
        let mtom = begun.elapsed();
        same(answer["size"].as_u64(), length)?;
        let begun = Instant::now();
        let stored = plain.upload("/", &body).await?;
        let hyper = begun.elapsed();
        same(stored, length)?;
        // The first round warms up.
        if round > 0 {
            by_mtom.push(mtom.as_nanos() as f64);
            by_hyper.push(hyper.as_nanos() as f64);
        }
    }
    Ok([by_mtom, by_hyper])
}

fn same(found: Option<u64>, expected: u64) -> Result<(), Failed> {
    match found == Some(expected) {
        true => Ok(()),
        false => Err(format!("the answer is {found:?}, expected {expected}").into()),
    }
}

/// A checksum of octets and of their number.
fn checksum(mut octets: impl Read) -> std::io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    let (mut buffer, mut length) = (vec![0; STEP], 0);
    loop {
        let count = octets.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.write(&buffer[..count]);
        length += count;
    }
    hasher.write_usize(length);
    Ok(hasher.finish() >> 1)
}

/// A client of a service that keeps the octets of a photo.
async fn client(place: Place, length: usize) -> Result<Client, Failed> {
    let attachments = match place {
        Place::Memory => Attachments::new().memory(2 * length),
        // The default, but less than the length of a quick run.
        Place::File => Attachments::new().memory(length.min(2 << 20) / 2),
    };
    let service = Service::builder(WSDL)
        .attachments(attachments)
        .handle("store", store);
    let bound = service.build()?.bind("127.0.0.1:0").await?;
    let url = bound.urls().swap_remove(0);
    tokio::spawn(bound.run(std::future::pending()));
    let client = Client::builder(WSDL).endpoint(url);
    Ok(client.attachments(Attachments::mtom()).build()?)
}

async fn store(message: Message) -> Result<Value, Fault> {
    let value = message.value();
    let Some(photo) = value["photo"].as_attachment().cloned() else {
        return Err(Fault::sender("the photo is no attachment"));
    };
    let size = match value["name"].as_str() {
        Some("check") => {
            let summed = tokio::task::spawn_blocking(move || checksum(photo.open()?)).await;
            let sum = summed.map_err(std::io::Error::other).flatten();
            sum.map_err(|error| Fault::receiver(error.to_string()))?
        }
        _ => photo.len().unwrap_or_default(),
    };
    Ok(Value::object([("size", Value::from(size))]))
}

/// A connection to a server that only takes bodies.
struct Plain(SendRequest<Full<Bytes>>);

impl Plain {
    /// Uploads octets. Returns what the server answers.
    async fn upload(&mut self, path: &str, octets: &Bytes) -> Result<Option<u64>, Failed> {
        self.0.ready().await?;
        let request = Request::post(path).header("host", "localhost");
        let response = self
            .0
            .send_request(request.body(Full::new(octets.clone()))?);
        let answer = response.await?.into_body().collect().await?.to_bytes();
        Ok(std::str::from_utf8(&answer)?.parse().ok())
    }
}

async fn connected(place: Place) -> Result<SendRequest<Full<Bytes>>, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        let service = service_fn(move |request| async move {
            let answer = plain(place, request).await;
            let answer = answer.unwrap_or_else(|error| error.to_string());
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(answer))))
        });
        let server = hyper::server::conn::http1::Builder::new();
        // It ends with the client.
        let _ = server.serve_connection(TokioIo::new(stream), service).await;
    });
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Keeps a body in the chunks in which it arrives, or in a file. Returns how long it is, or its checksum.
async fn plain(place: Place, request: Request<Incoming>) -> Result<String, Failed> {
    let is_check = request.uri().path() == "/check";
    let mut body = request.into_body();
    let mut kept = Kept::new(place)?;
    let mut waiting = 0;
    while let Some(frame) = body.frame().await {
        let Ok(chunk) = frame?.into_data() else {
            continue;
        };
        waiting += chunk.len();
        kept.chunks.push(chunk);
        if place == Place::File && waiting >= STEP {
            waiting = 0;
            kept = tokio::task::spawn_blocking(move || kept.written()).await??;
        }
    }
    let number = tokio::task::spawn_blocking(move || kept.number(is_check)).await??;
    Ok(number.to_string())
}

/// What a plain server has of a body.
struct Kept {
    chunks: Vec<Bytes>,
    file: Option<std::fs::File>,
}

impl Kept {
    fn new(place: Place) -> std::io::Result<Self> {
        let file = match place {
            Place::Memory => None,
            Place::File => Some(tempfile::tempfile()?),
        };
        Ok(Self {
            chunks: Vec::new(),
            file,
        })
    }

    fn written(mut self) -> std::io::Result<Self> {
        if let Some(file) = &mut self.file {
            for chunk in self.chunks.drain(..) {
                file.write_all(&chunk)?;
            }
        }
        Ok(self)
    }

    fn number(self, is_check: bool) -> std::io::Result<u64> {
        let mut kept = self.written()?;
        match (&mut kept.file, is_check) {
            (Some(file), true) => {
                file.rewind()?;
                checksum(file)
            }
            (Some(file), false) => Ok(file.metadata()?.len()),
            (None, true) => checksum(&kept.chunks.concat()[..]),
            (None, false) => Ok(kept.chunks.iter().map(|chunk| chunk.len() as u64).sum()),
        }
    }
}
