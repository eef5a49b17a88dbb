//! Calls to a server in another process: the client of `rpc`, the same for all servers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::Decoder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::servers::{Server, ServerProcess};
use crate::clock::{Taken, Watch};
use crate::definition::Task;
use crate::job::{Calls, Engine, Job, Times};
use crate::leaves;
use crate::wire::bodies;
use crate::workload::{Answer, Workload};

/// Calls of each connection between two looks at the clock while a server warms up.
const WARM_UP_CALLS: u64 = 4;
/// Connections that were idle for longer are opened again, because servers close them. (Other engines may take that long.)
const IDLE: Duration = Duration::from_secs(10);

impl Engine for Server {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task != Task::Call {
            return Ok(None);
        }
        Ok(Some(Box::new(Session::open(self, work)?)))
    }
}

/// A server, and open connections to it.
struct Session {
    server: ServerProcess,
    runtime: Runtime,
    connections: Vec<Connection>,
    /// When the connections were used last.
    used: Instant,
    work: Arc<Workload>,
    /// Whether the server answers with what it was sent.
    echoes: bool,
    warm_up: Duration,
    times: Times,
}

/// A connection with the requests that are sent over it in turn.
pub(crate) struct Connection {
    stream: TcpStream,
    requests: Arc<Vec<Vec<u8>>>,
    next: usize,
    /// The last answer.
    answer: HttpAnswer,
    /// Nanoseconds of each call.
    times: Vec<u64>,
}

impl Session {
    fn open(server: &Server, work: &Arc<Workload>) -> Result<Self, String> {
        let failed = |error: std::io::Error| error.to_string();
        let process = server.start()?;
        let address = process.address;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let request = |body: &Vec<u8>| {
            let head = format!(
                "POST /bench HTTP/1.1\r\nHost: {}\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: \"\"\r\nContent-Length: {}\r\n\r\n",
                address,
                body.len()
            );
            [head.as_bytes(), body].concat()
        };
        let requests: Arc<Vec<_>> = Arc::new(work.messages.iter().map(request).collect());
        let open = |_| runtime.block_on(Connection::open(address, Arc::clone(&requests)));
        let connections: std::io::Result<Vec<_>> = (0..work.connections()).map(open).collect();
        Ok(Self {
            connections: connections.map_err(failed)?,
            used: Instant::now(),
            server: process,
            runtime,
            work: Arc::clone(work),
            echoes: server.echoes,
            warm_up: server.warm_up,
            times: Times::default(),
        })
    }

    /// Calls that many times on each of the first connections.
    fn call(&mut self, times: u64, count: usize) -> Result<(), String> {
        let calling = |mut connection: Connection| {
            self.runtime.spawn(async move {
                let called = connection.call(times).await;
                called.map(|()| connection)
            })
        };
        let others = self.connections.split_off(count);
        let connections = std::mem::take(&mut self.connections);
        let tasks: Vec<_> = connections.into_iter().map(calling).collect();
        for task in tasks {
            let called = self.runtime.block_on(task).map_err(text)?;
            self.connections.push(called.map_err(text)?);
        }
        self.connections.extend(others);
        Ok(())
    }

    /// Opens all connections again, and calls once on each.
    fn connect_again(&mut self) -> Result<(), String> {
        for connection in &mut self.connections {
            let stream = self.runtime.block_on(connect(self.server.address));
            connection.stream = stream.map_err(text)?;
        }
        self.call(1, self.connections.len())?;
        self.take_times();
        Ok(())
    }

    /// Whether the last answer on the first connection is valid by the WSDL and has the values of its request, by another
    /// reader than ours.
    fn check(&mut self, request: usize) -> Result<(), String> {
        let terms = &self.work.terms;
        let answer = bodies(&self.connections[0].answer.buffer)?.concat();
        let mut decoder = Decoder::new(Arc::clone(&terms.plan), terms.options);
        decoder
            .decode(terms.binding.response, &answer)
            .map_err(text)?;
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        leaves::collect(&answer, &mut found)?;
        leaves::collect(&self.work.messages[request], &mut expected)?;
        leaves::compare(&found, &expected)
    }

    /// Forgets how long the calls took until now.
    fn take_times(&mut self) -> Vec<u64> {
        let times = self.connections.iter_mut();
        times.flat_map(Connection::take_times).collect()
    }
}

async fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Job for Session {
    fn answer(&mut self) -> Result<Answer, String> {
        for request in 0..self.work.messages.len() {
            self.call(1, 1)?;
            if self.echoes {
                self.check(request)?;
            }
        }
        let start = Instant::now();
        while start.elapsed() < self.warm_up {
            self.call(WARM_UP_CALLS, self.connections.len())?;
        }
        self.take_times();
        Ok(Answer::Verdict(true))
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        let count = self.connections.len();
        let each = times.div_ceil(count as u64);
        if self.used.elapsed() > IDLE {
            self.connect_again()?;
        }
        let before = self.server.time();
        let watch = Watch::start();
        self.call(each, count)?;
        let taken = watch.taken();
        self.used = Instant::now();
        let served = self.server.time().saturating_sub(before);
        let calls = self.take_times();
        let share = times as f64 / calls.len() as f64;
        self.times.add(calls.into_iter(), taken.cpu, served);
        Ok(Taken {
            wall: taken.wall.mul_f64(share),
            cpu: served.mul_f64(share),
        })
    }

    fn calls(&mut self) -> Option<Calls> {
        Some(self.times.summary())
    }
}

impl Connection {
    /// Opens a connection over which these requests are sent in turn.
    pub(crate) async fn open(
        address: SocketAddr,
        requests: Arc<Vec<Vec<u8>>>,
    ) -> std::io::Result<Self> {
        Ok(Self {
            stream: connect(address).await?,
            requests,
            next: 0,
            answer: HttpAnswer::default(),
            times: Vec::new(),
        })
    }

    /// One of its requests, head and body.
    #[cfg(unix)]
    pub(crate) fn request(&self, number: usize) -> &[u8] {
        &self.requests[number]
    }

    /// The last answer, head and body.
    #[cfg(unix)]
    pub(crate) fn answer(&self) -> &[u8] {
        &self.answer.buffer
    }

    /// Forgets how long the calls took until now.
    pub(crate) fn take_times(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.times)
    }

    /// Calls that many times.
    pub(crate) async fn call(&mut self, times: u64) -> std::io::Result<()> {
        for _ in 0..times {
            let start = Instant::now();
            let request = &self.requests[self.next % self.requests.len()];
            self.next += 1;
            self.stream.write_all(request).await?;
            self.answer.read(&mut self.stream).await?;
            self.times.push(start.elapsed().as_nanos() as u64);
        }
        Ok(())
    }
}

/// An answer of HTTP, head and body as they came. Where it ends is all that is looked for while times are taken.
#[derive(Default)]
struct HttpAnswer {
    buffer: Vec<u8>,
}

impl HttpAnswer {
    /// Reads an answer of status 200.
    async fn read(&mut self, stream: &mut TcpStream) -> std::io::Result<()> {
        self.buffer.clear();
        let mut end = None;
        loop {
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if end.is_none()
                && let Some(head) = memchr::memmem::find(&self.buffer, b"\r\n\r\n")
            {
                end = BodyEnd::of_head(&self.buffer[..head + 4]);
                let missing = match end {
                    None => return Err(self.refused()),
                    Some(BodyEnd::At(end)) => end.saturating_sub(self.buffer.len()),
                    Some(BodyEnd::BehindChunks(_)) => 0,
                };
                self.buffer.reserve(missing);
            }
            if end.as_mut().is_some_and(|end| end.is_in(&self.buffer)) {
                return Ok(());
            }
        }
    }

    fn refused(&self) -> std::io::Error {
        let text = String::from_utf8_lossy(&self.buffer);
        std::io::Error::other(format!("not an answer of status 200: {text}"))
    }
}

/// Where a body ends.
#[derive(Debug, PartialEq)]
enum BodyEnd {
    At(usize),
    /// Behind the chunk of no length; the next chunk begins here.
    BehindChunks(usize),
}

impl BodyEnd {
    /// As the head of an answer of status 200 gives it.
    fn of_head(head: &[u8]) -> Option<Self> {
        let begin = head.len();
        let head = std::str::from_utf8(head).ok()?;
        let mut lines = head.lines();
        lines.next()?.strip_prefix("HTTP/1.1 200 ")?;
        lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            if name.eq_ignore_ascii_case("transfer-encoding") {
                return Some(Self::BehindChunks(begin));
            }
            let length = value.trim().parse::<usize>();
            let is_length = name.eq_ignore_ascii_case("content-length");
            length
                .ok()
                .filter(|_| is_length)
                .map(|it| Self::At(begin + it))
        })
    }

    /// Whether all of the body has been read.
    fn is_in(&mut self, read: &[u8]) -> bool {
        while let Self::BehindChunks(next) = *self {
            let rest = read.get(next..).unwrap_or_default();
            let Some(line) = memchr::memmem::find(rest, b"\r\n") else {
                return false;
            };
            let size = std::str::from_utf8(&rest[..line]);
            let size = size.ok().and_then(|it| usize::from_str_radix(it, 16).ok());
            // What is no size has no end; the connection will.
            let end = next + line + size.unwrap_or(usize::MAX >> 1) + 4;
            *self = match size {
                Some(0) => Self::At(end),
                _ => Self::BehindChunks(end),
            };
        }
        matches!(self, Self::At(end) if read.len() >= *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bytes must have been read until the body is known to be whole.
    fn whole(answer: &str) -> Option<usize> {
        let head = answer.find("\r\n\r\n")? + 4;
        let mut end = BodyEnd::of_head(&answer.as_bytes()[..head])?;
        (head..=answer.len()).find(|&read| end.is_in(&answer.as_bytes()[..read]))
    }

    #[test]
    fn an_answer_ends_with_its_length_or_its_last_chunk() {
        for (fields, body) in [
            ("content-length: 3", "abc"),
            ("Content-Length: 0", ""),
            (
                "Transfer-Encoding: chunked",
                "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
            ),
        ] {
            let answer = format!("HTTP/1.1 200 OK\r\nServer: x\r\n{fields}\r\n\r\n{body}");
            assert_eq!(whole(&answer), Some(answer.len()), "{answer}");
        }
        assert_eq!(whole("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"), None);
        assert_eq!(
            whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n0\r\n\r\n"),
            None
        );
    }
}
