//! Small documents over a connection of the loopback device: posted one after the other to our HTTP server, which reads them
//! by their hints, reads them in full, or throws the bytes away. The answers are the same.
//!
//! The client is a socket and ready requests, so that nearly all of the time is the server's and the system's.

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use bsoap_codec::{Decoder, Record};
use bsoap_differential::hint::SkeletonCachePolicy;
use bsoap_http::{Bytes, Request, Response, Routes, Server, ServerOptions};
use bsoap_testkit::hint::HintReader;
use tokio::sync::oneshot;

use super::hints::hinted;
use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::terms::Terms;
use crate::workload::{Answer, Workload};

/// What the server does with a document.
#[derive(Clone, Copy)]
pub(crate) enum Served {
    /// Nothing at all.
    Discarded,
    /// Follows its hint.
    Hints,
    /// Reads it as if it had none.
    Decoded,
}

/// What it answers.
const ANSWER: &str = "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><taken/></e:Body></e:Envelope>";

/// A server on a thread of its own, and a connection to it. It ends when nobody holds this any more.
struct Session {
    stream: TcpStream,
    /// Of an answer: head and body.
    buffer: Vec<u8>,
    requests: Vec<Vec<u8>>,
    desk: Arc<Mutex<Desk>>,
    _stop: oneshot::Sender<()>,
}

/// What reads the documents.
struct Desk {
    kind: Served,
    terms: Terms,
    reader: HintReader,
    decoder: Decoder,
    record: Record,
    /// Copies of all that is read, as long as they are asked for.
    copies: Option<Vec<Record>>,
}

impl Desk {
    fn new(kind: Served, terms: &Terms) -> Self {
        Self {
            kind,
            reader: HintReader::new(
                terms.plan.clone(),
                terms.options,
                SkeletonCachePolicy::default(),
            ),
            decoder: Decoder::new(terms.plan.clone(), terms.options),
            record: Record::new(terms.plan.clone(), terms.root),
            terms: terms.clone(),
            copies: None,
        }
    }

    /// Whether a document has been taken.
    fn take(&mut self, document: &[u8]) -> bool {
        let root = self.terms.root;
        let hinted;
        let read = match self.kind {
            Served::Discarded => return !black_box(document).is_empty(),
            Served::Hints => {
                hinted = self.reader.receive(root, document).ok();
                hinted.as_deref()
            }
            Served::Decoded => self
                .decoder
                .decode_into(root, document, &mut self.record)
                .ok()
                .map(|()| &self.record),
        };
        if let (Some(read), Some(copies)) = (read, &mut self.copies) {
            copies.push(read.clone());
        }
        read.is_some()
    }
}

fn locked(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine for Served {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task != Task::Decode {
            return Ok(None);
        }
        let session = Session::open(*self, work)?;
        let work = Arc::clone(work);
        let answer = move |session: &mut Session| session.verdict(&work);
        Ok(Local::new(session, Session::post_all, answer).boxed())
    }
}

impl Session {
    fn open(kind: Served, work: &Workload) -> Result<Self, String> {
        let desk = Arc::new(Mutex::new(Desk::new(kind, &work.terms)));
        let (stop, stopped) = oneshot::channel();
        let address = serve(Arc::clone(&desk), stopped)?;
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        let request = |body: Vec<u8>| {
            let head = format!(
                "POST /taken HTTP/1.1\r\nHost: {address}\r\nContent-Type: text/xml; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            [head.into_bytes(), body].concat()
        };
        Ok(Self {
            stream,
            buffer: Vec::new(),
            requests: hinted(work)?.into_iter().map(request).collect(),
            desk,
            _stop: stop,
        })
    }

    fn post_all(&mut self) -> Result<(), String> {
        for request in &self.requests {
            let posted = post(&mut self.stream, request, &mut self.buffer);
            if !posted.map_err(|error| error.to_string())? {
                return Err(String::from_utf8_lossy(&self.buffer).into_owned());
            }
        }
        Ok(())
    }

    /// Posts all, and looks at what was read.
    fn verdict(&mut self, work: &Workload) -> Result<Answer, String> {
        locked(&self.desk).copies = Some(Vec::new());
        let before = locked(&self.desk).reader.counts().followed;
        self.post_all()?;
        let mut desk = locked(&self.desk);
        let found = desk.copies.take().unwrap_or_default();
        let followed = desk.reader.counts().followed - before;
        let count = self.requests.len();
        let is_read = match desk.kind {
            Served::Discarded => return Ok(Answer::Verdict(found.is_empty())),
            Served::Hints => followed + 1 >= count as u64,
            Served::Decoded => followed == 0,
        };
        let mut fresh = Decoder::new(work.terms.plan.clone(), work.terms.options);
        for (message, found) in hinted(work)?.iter().zip(&found) {
            let expected = fresh.decode(work.terms.root, message);
            if expected.map_err(|error| error.to_string())? != *found {
                return Ok(Answer::Verdict(false));
            }
        }
        Ok(Answer::Verdict(is_read && found.len() == count))
    }
}

/// Posts a request and reads the answer. Whether it is the right one.
fn post(stream: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> std::io::Result<bool> {
    stream.write_all(request)?;
    buffer.clear();
    loop {
        let begin = buffer.len();
        buffer.resize(begin + 4096, 0);
        let read = stream.read(&mut buffer[begin..])?;
        buffer.truncate(begin + read);
        // The answer is known, and nothing follows it.
        if read == 0 || buffer.ends_with(ANSWER.as_bytes()) {
            return Ok(buffer.starts_with(b"HTTP/1.1 200 ") && read > 0);
        }
    }
}

/// A server on a thread of its own.
fn serve(desk: Arc<Mutex<Desk>>, stopped: oneshot::Receiver<()>) -> Result<SocketAddr, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let routes = Routes::new().at("/taken", move |request: Request| {
        let is_taken = locked(&desk).take(&request.body);
        let body = Bytes::from_static(ANSWER.as_bytes());
        async move { Response::new([400, 200][usize::from(is_taken)], "text/xml", body) }
    });
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        runtime.block_on(async {
            match Server::bind("127.0.0.1:0", routes, ServerOptions::default()).await {
                Ok(server) => {
                    let _ = sender.send(Ok(server.address()));
                    server.run(async { drop(stopped.await) }).await;
                }
                Err(error) => drop(sender.send(Err(error.to_string()))),
            }
        });
    });
    receiver.recv().map_err(|error| error.to_string())?
}
