//! The clients: each has one connection and a stream of ready requests, so that they cost little.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::Stream;
use crate::engines::Connection;
use crate::leaves;
use crate::random::Random;
use crate::wire::bodies;

/// The messages of a stream; then it begins again.
const MESSAGES: usize = 16;

/// The clients of a cluster.
pub(super) struct Clients {
    runtime: Runtime,
    connections: Vec<Connection>,
}

impl Clients {
    pub(super) fn connect(
        address: SocketAddr,
        count: usize,
        stream: Stream,
    ) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let connect = |client| {
            let requests = requests(client, stream);
            runtime.block_on(Connection::open(address, Arc::new(requests)))
        };
        let connections = (0..count).map(connect).collect::<Result<_, _>>();
        Ok(Self {
            connections: connections.map_err(|error| error.to_string())?,
            runtime,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.connections.len()
    }

    /// Sends all messages once, and compares the values of each answer with those of its request, by another reader than
    /// ours.
    pub(super) fn check(&mut self) -> Result<(), String> {
        for connection in &mut self.connections {
            for message in 0..MESSAGES {
                let called = self.runtime.block_on(connection.call(1));
                called.map_err(|error| error.to_string())?;
                let sent = bodies(connection.request(message))?.concat();
                let answer = bodies(connection.answer())?.concat();
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                leaves::collect(&answer, &mut found)?;
                leaves::collect(&sent, &mut expected)?;
                leaves::compare(&found, &expected)
                    .map_err(|error| format!("a wrong answer: {error}"))?;
            }
        }
        Ok(())
    }

    /// Calls on all connections for this long. The number of calls, and the time until the last was answered.
    pub(super) fn call_for(&mut self, duration: Duration) -> Result<(usize, Duration), String> {
        let begun = Instant::now();
        let calling = |mut connection: Connection| {
            self.runtime.spawn(async move {
                let mut calls = 0;
                while calls == 0 || begun.elapsed() < duration {
                    connection.call(1).await?;
                    calls += 1;
                }
                Ok::<_, std::io::Error>((connection, calls))
            })
        };
        let connections = std::mem::take(&mut self.connections);
        let tasks: Vec<_> = connections.into_iter().map(calling).collect();
        let mut sum = 0;
        for task in tasks {
            let called = self
                .runtime
                .block_on(task)
                .map_err(|error| error.to_string())?;
            let (mut connection, calls) = called.map_err(|error| error.to_string())?;
            connection.take_times();
            self.connections.push(connection);
            sum += calls;
        }
        Ok((sum, begun.elapsed()))
    }
}

/// The requests of a client, with credentials by which the proxy knows it.
fn requests(client: usize, stream: Stream) -> Vec<Vec<u8>> {
    let mut random = Random::new(client as u64 + 1);
    let mut values: Vec<f64> = (0..stream.values).map(|_| random.unit()).collect();
    let next = |_| {
        for _ in 0..stream.changed {
            let place = random.below(stream.values as u64) as usize;
            values[place] = random.unit();
        }
        request(client, &values)
    };
    (0..MESSAGES).map(next).collect()
}

fn request(client: usize, values: &[f64]) -> Vec<u8> {
    let mut body = String::from(
        "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><b:doubles xmlns:b=\"urn:bsoap:bench\">",
    );
    for value in values {
        let _ = write!(body, "<item>{value}</item>");
    }
    body.push_str("</b:doubles></e:Body></e:Envelope>");
    let head = format!(
        "POST /bench HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer client{client}\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: \"\"\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}
