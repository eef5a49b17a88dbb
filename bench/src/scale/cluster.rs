//! Workers, each a process, behind HAProxy, and what they count.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bsoap_testkit::haproxy::{Haproxy, SHIPPED, replaced};
use serde::Deserialize;

use super::worker::{NAMED, SHARED, Said};
use crate::allocator;
use crate::clock::process_time;

/// Which worker gets a call.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Balance {
    /// That of the client, as the shipped configuration has it.
    Hash,
    /// The next one.
    RoundRobin,
    /// The next one, and clients share connections.
    Shared,
}

impl Balance {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::RoundRobin => "round-robin",
            Self::Shared => "shared",
        }
    }

    /// HAProxy's configuration: that which is shipped, but for the lines that make the difference.
    fn configuration(self) -> Result<String, String> {
        let hash = "    balance hash var(txn.client)\n    hash-type consistent sdbm avalanche\n";
        let round_robin = || replaced(SHIPPED, hash, "    balance roundrobin\n");
        match self {
            Self::Hash => Ok(SHIPPED.to_owned()),
            Self::RoundRobin => round_robin(),
            Self::Shared => {
                let text = replaced(
                    &round_robin()?,
                    "\n    http-reuse never\n",
                    "\n    http-reuse always\n",
                )?;
                // With the address of a client in front of it, no connection can be shared.
                replaced(&text, " send-proxy-v2 check-send-proxy\n", "\n")
            }
        }
    }

    fn worker(self) -> &'static str {
        match self {
            Self::Hash | Self::RoundRobin => NAMED,
            Self::Shared => SHARED,
        }
    }
}

/// Workers behind HAProxy. They end with this value.
pub(super) struct Cluster {
    proxy: Haproxy,
    workers: Vec<Worker>,
}

/// What all workers of a cluster and HAProxy have counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Processor time of all workers.
    pub(super) server_ns: f64,
    pub(super) proxy_ns: f64,
    /// What was not read again, in messages.
    pub(super) unread: f64,
    /// Messages written by a template, and the values written into their texts.
    pub(super) patched: f64,
    pub(super) written: f64,
    /// Bytes of saved messages now.
    pub(super) saved_memory: f64,
}

impl Counts {
    /// What was counted since then.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            server_ns: self.server_ns - earlier.server_ns,
            proxy_ns: self.proxy_ns - earlier.proxy_ns,
            unread: self.unread - earlier.unread,
            patched: self.patched - earlier.patched,
            written: self.written - earlier.written,
            saved_memory: self.saved_memory,
        }
    }
}

impl Cluster {
    /// Starts the workers and HAProxy, and waits until all are up.
    pub(super) fn start(balance: Balance, workers: usize) -> Result<Self, String> {
        let start = |_| Worker::start(balance.worker());
        let workers = (0..workers).map(start).collect::<Result<Vec<_>, _>>()?;
        let addresses: Vec<_> = workers.iter().map(|worker| worker.address).collect();
        let proxy = Haproxy::start(&balance.configuration()?, &addresses)?;
        for worker in 0..workers.len() {
            proxy.wait_until_up(worker)?;
        }
        Ok(Self { proxy, workers })
    }

    /// Where clients connect to.
    pub(super) fn address(&self) -> SocketAddr {
        self.proxy.address
    }

    pub(super) fn counts(&mut self) -> Result<Counts, String> {
        let mut counts = Counts {
            proxy_ns: process_time(self.proxy.id()).as_nanos() as f64,
            ..Counts::default()
        };
        for worker in &mut self.workers {
            let said = worker.ask()?;
            // All messages have as many slots.
            let slots = said.slots.max(1) as f64 / said.compared.max(1) as f64;
            counts.server_ns += process_time(worker.child.id()).as_nanos() as f64;
            counts.unread += said.unchanged_slots as f64 / slots;
            counts.patched += said.patched as f64;
            counts.written += said.written as f64;
            counts.saved_memory += said.saved_memory as f64;
        }
        Ok(counts)
    }
}

struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Worker {
    fn start(engine: &str) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .args(["--serve", engine, "--core", "0"])
            .env(allocator::VARIABLE, allocator::CHOSEN)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("a worker does not start: {error}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or("a worker has no pipes")?;
        let mut worker = Self {
            child,
            input,
            output: BufReader::new(output),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        let line = worker.line()?;
        worker.address = line
            .trim()
            .parse()
            .map_err(|_| format!("a worker said {line:?}, not its address"))?;
        Ok(worker)
    }

    fn ask(&mut self) -> Result<Said, String> {
        writeln!(self.input).map_err(|error| format!("a worker has ended: {error}"))?;
        let line = self.line()?;
        serde_json::from_str(&line).map_err(|error| format!("a worker said {line:?}: {error}"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        read.map_err(|error| error.to_string()).map(|_| line)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
