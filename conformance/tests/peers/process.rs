//! Peers that are servers, as processes.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A service as a process; ends with this value.
pub(crate) struct Peer {
    child: Child,
    pub(crate) port: u16,
}

impl Peer {
    /// Starts a server that prints its port.
    pub(crate) fn start(program: &mut Command) -> Self {
        let child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut peer = Self {
            child: child.expect("the server starts"),
            port: 0,
        };
        let output = peer.child.stdout.take().expect("its output is a pipe");
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        peer.port = read
            .ok()
            .and_then(|_| line.trim().parse().ok())
            .unwrap_or(0);
        assert_ne!(peer.port, 0, "the server prints its port, not {line:?}");
        peer
    }

    /// Starts a server that listens at this port, and waits until it does.
    pub(crate) fn start_at(program: &mut Command, port: u16) -> Self {
        let quiet = program
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = quiet.spawn().expect("the server starts");
        let peer = Self { child, port };
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "the server does not listen at {port}");
            std::thread::sleep(Duration::from_millis(20));
        }
        peer
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nothing listens at. Another program can take it before it is used.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound").port()
}
