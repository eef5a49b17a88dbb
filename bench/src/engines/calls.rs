//! Calls to a server in another process: the client of `rpc`.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::{Decoder, View};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::allocator;
use crate::clock::{Taken, Watch, process_time};
use crate::definition::Task;
use crate::job::{Calls, Engine, Job};
use crate::machine;
use crate::measure::quantile;
use crate::workload::{Answer, Workload};

/// Calls of which each takes part in a run, so that a run is long enough for the clocks.
const CALLS: u64 = 20;

/// A server that is called.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    /// As the server's process is told.
    engine: String,
    allocator: &'static str,
}

impl Called {
    /// The server of this name, if it is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (engine, allocator) = match name.strip_suffix(":system") {
            Some(engine) => (engine, allocator::SYSTEM),
            None => (name, allocator::CHOSEN),
        };
        let is_known = matches!(engine, "bsoap" | "bsoap:value" | "bsoap:off" | "hyper");
        is_known.then(|| Self {
            engine: engine.to_owned(),
            allocator,
        })
    }
}

impl Engine for Called {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task != Task::Call {
            return Ok(None);
        }
        Ok(Some(Box::new(Session::open(self, work)?)))
    }
}

/// The server's process; ends with this one.
struct ServerProcess {
    address: SocketAddr,
    child: Child,
    // The server ends when its input does.
    _input: Option<ChildStdin>,
}

impl ServerProcess {
    fn start(called: &Called) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the server does not start: {error}");
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .args(["--serve", &called.engine])
            .args(["--core", &machine::other_core().to_string()])
            .env(allocator::VARIABLE, called.allocator)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .map_err(failed)?;
        let address = line
            .trim()
            .parse()
            .map_err(|_| format!("the server does not start: it said {line:?}"))?;
        Ok(Self {
            address,
            child,
            _input: input,
        })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server, and open connections to it.
struct Session {
    server: ServerProcess,
    runtime: Runtime,
    connections: Vec<Connection>,
    work: Arc<Workload>,
    /// Whether the server answers with what it was sent.
    echoes: bool,
    /// The client's processor time in nanoseconds, and the calls that it was spent on.
    client: (f64, u64),
}

/// A connection with the requests that are sent over it in turn.
struct Connection {
    stream: TcpStream,
    requests: Arc<Vec<Vec<u8>>>,
    next: usize,
    /// Of the last answer: head and body.
    buffer: Vec<u8>,
    /// Where the body begins.
    body: usize,
    /// Nanoseconds of each call.
    times: Vec<u32>,
}

impl Session {
    fn open(called: &Called, work: &Arc<Workload>) -> Result<Self, String> {
        let failed = |error: std::io::Error| error.to_string();
        let server = ServerProcess::start(called)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let request = |body: &Vec<u8>| {
            let head = format!(
                "POST /bench HTTP/1.1\r\nHost: {}\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: \"\"\r\nContent-Length: {}\r\n\r\n",
                server.address,
                body.len()
            );
            [head.as_bytes(), body].concat()
        };
        let requests: Arc<Vec<_>> = Arc::new(work.messages.iter().map(request).collect());
        let scenario = work.case.scenario.as_deref().unwrap_or("one");
        let count = scenario.split('/').next().unwrap_or_default();
        let count = count.parse().unwrap_or(1);
        let connect = |_| {
            let stream = runtime.block_on(TcpStream::connect(server.address))?;
            stream.set_nodelay(true)?;
            Ok(Connection {
                stream,
                requests: Arc::clone(&requests),
                next: 0,
                buffer: Vec::new(),
                body: 0,
                times: Vec::new(),
            })
        };
        let connections: std::io::Result<Vec<_>> = (0..count).map(connect).collect();
        Ok(Self {
            connections: connections.map_err(failed)?,
            server,
            runtime,
            work: Arc::clone(work),
            echoes: called.engine != "hyper",
            client: (0.0, 0),
        })
    }

    /// Calls that many times on each connection.
    fn call(&mut self, times: u64) -> Result<(), String> {
        let calling = |mut connection: Connection| {
            self.runtime.spawn(async move {
                let called = connection.call(times).await;
                called.map(|()| connection)
            })
        };
        let connections = std::mem::take(&mut self.connections);
        let tasks: Vec<_> = connections.into_iter().map(calling).collect();
        for task in tasks {
            let called = self.runtime.block_on(task).map_err(text)?;
            self.connections.push(called.map_err(text)?);
        }
        Ok(())
    }

    /// Whether the last answer on the first connection says what its request said.
    fn is_right(&mut self, request: usize) -> Result<bool, String> {
        let terms = &self.work.terms;
        let mut decoder = Decoder::new(Arc::clone(&terms.plan), terms.options);
        let mut said = |root, message: &[u8]| {
            let record = decoder.decode(root, message).map_err(text)?;
            let body = View::of(&record).child("Body");
            let body = body.and_then(|body| body.child(self.work.body_element()));
            let value = body.ok_or("the answer is another one")?.to_value();
            value.map_err(text)
        };
        let connection = &self.connections[0];
        let answer = &connection.buffer[connection.body..];
        let asked = said(terms.root, &self.work.messages[request])?;
        Ok(said(terms.binding.response, answer)? == asked)
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Job for Session {
    fn answer(&mut self) -> Result<Answer, String> {
        for request in 0..self.work.messages.len() {
            self.call(1)?;
            if self.echoes && !self.is_right(request)? {
                return Ok(Answer::Verdict(false));
            }
        }
        Ok(Answer::Verdict(true))
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        let count = self.connections.len() as u64;
        let each = (times * CALLS).div_ceil(count);
        let before = process_time(self.server.child.id());
        let watch = Watch::start();
        self.call(each)?;
        let taken = watch.taken();
        let served = process_time(self.server.child.id()).saturating_sub(before);
        self.client.0 += taken.cpu.as_nanos() as f64;
        self.client.1 += each * count;
        let share = times as f64 / (each * count) as f64;
        Ok(Taken {
            wall: taken.wall.mul_f64(share),
            cpu: served.mul_f64(share),
        })
    }

    fn calls(&mut self) -> Option<Calls> {
        let times = self.connections.iter().flat_map(|it| &it.times);
        let times: Vec<f64> = times.map(|&time| f64::from(time)).collect();
        Some(Calls {
            p50_ns: quantile(times.clone(), 0.5),
            p99_ns: quantile(times, 0.99),
            client_ns: self.client.0 / self.client.1.max(1) as f64,
        })
    }
}

impl Connection {
    async fn call(&mut self, times: u64) -> std::io::Result<()> {
        for _ in 0..times {
            let start = Instant::now();
            let request = &self.requests[self.next % self.requests.len()];
            self.next += 1;
            self.stream.write_all(request).await?;
            self.read().await?;
            let time = start.elapsed().as_nanos();
            self.times.push(u32::try_from(time).unwrap_or(u32::MAX));
        }
        Ok(())
    }

    /// Reads an answer of status 200.
    async fn read(&mut self) -> std::io::Result<()> {
        self.buffer.clear();
        let mut end = usize::MAX;
        while self.buffer.len() < end {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if end == usize::MAX
                && let Some(head) = memchr::memmem::find(&self.buffer, b"\r\n\r\n")
            {
                self.body = head + 4;
                let length = content_length(&self.buffer[..head]).ok_or_else(|| {
                    let head = String::from_utf8_lossy(&self.buffer);
                    std::io::Error::other(format!("not an answer of status 200: {head}"))
                })?;
                end = self.body + length;
                self.buffer.reserve(length);
            }
        }
        Ok(())
    }
}

/// The length that the head of an answer of status 200 gives.
fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.lines();
    lines.next()?.strip_prefix("HTTP/1.1 200 ")?;
    lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_it = name.eq_ignore_ascii_case("content-length");
        value.trim().parse().ok().filter(|_| is_it)
    })
}
