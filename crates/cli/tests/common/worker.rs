//! A service process: `bsoap serve` as operators run it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::mesh;

/// A process that serves the mesh WSDL and answers with what it was sent. It is killed with the test.
pub(crate) struct Worker {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

/// A port that was free a moment ago.
pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address")
}

impl Worker {
    /// Starts it, with at most this many open files, and waits until it is ready.
    pub(crate) fn start(
        address: SocketAddr,
        open_files: usize,
        arguments: &[&str],
        output: Stdio,
    ) -> Self {
        let limited = format!("ulimit -n {open_files}; exec \"$0\" \"$@\"");
        let child = Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_bsoap"), "serve"])
            .arg(mesh())
            .args(["--echo", "--health", "--listen", &address.to_string()])
            .args(arguments)
            // Freed memory is returned to the system at once, as the guide says for tight limits.
            .env("MIMALLOC_PURGE_DELAY", "0")
            .env_remove("BSOAP_LOG")
            .env_remove("RUST_LOG")
            .stdout(output)
            .stderr(Stdio::null())
            .spawn()
            .expect("the service starts");
        let worker = Self { child, address };
        let begun = Instant::now();
        while worker.get("/readyz") != "200" {
            assert!(begun.elapsed() < Duration::from_secs(20), "it is not ready");
            std::thread::sleep(Duration::from_millis(20));
        }
        worker
    }

    /// The URL of its SOAP 1.1 port.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mesh", self.address)
    }

    /// The status of a page; empty if there is no answer.
    pub(crate) fn get(&self, path: &str) -> String {
        let Ok(mut stream) = TcpStream::connect(self.address) else {
            return String::new();
        };
        let mut answer = String::new();
        let _ = write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n"
        );
        let _ = stream.read_to_string(&mut answer);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("kill is there").success());
    }

    /// Its exit status, if it ends in time.
    pub(crate) fn exit(&mut self, within: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        while begun.elapsed() < within {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// A line of `/proc/ID/status` that is a number of KiB, such as `VmHWM`, in bytes. 0 where there is none.
    pub(crate) fn memory(&self, name: &str) -> u64 {
        let file = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
        number.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
