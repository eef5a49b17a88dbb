//! HAProxy as a process, with `deploy/haproxy.cfg`: what is shipped is what is tested and measured. Addresses and the admin
//! socket are replaced, and nothing else.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// The configuration as it is shipped.
pub const SHIPPED: &str = include_str!("../../deploy/haproxy.cfg");

/// What is replaced in it.
const BIND: &str = "bind :8080";
const SOCKET: &str = "stats socket /run/haproxy/admin.sock";
const WORKERS: [&str; 4] = [
    "server worker1 10.0.0.11:8080",
    "server worker2 10.0.0.12:8080",
    "server worker3 10.0.0.13:8080",
    "server worker4 10.0.0.14:8080",
];

/// The time in which HAProxy must start, and a worker must be found to be up or down.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running HAProxy. It ends with this value.
#[derive(Debug)]
pub struct Haproxy {
    child: Child,
    folder: PathBuf,
    /// Where clients connect to.
    pub address: SocketAddr,
}

/// Whether HAProxy is installed.
pub fn is_installed() -> bool {
    let mut command = Command::new("haproxy");
    command
        .arg("-v")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The shipped configuration (or a variant of it) for these addresses, of one to four workers. Nothing else is changed.
///
/// # Errors
/// A line that is to be replaced does not occur exactly once.
pub fn configuration(
    shipped: &str,
    listen: SocketAddr,
    socket: &Path,
    workers: &[SocketAddr],
) -> Result<String, String> {
    let mut text = replaced(shipped, BIND, &format!("bind {listen}"))?;
    text = replaced(&text, SOCKET, &format!("stats socket {}", socket.display()))?;
    for (index, line) in WORKERS.iter().enumerate() {
        text = match workers.get(index) {
            Some(worker) => replaced(&text, line, &format!("server worker{} {worker}", index + 1))?,
            None => replaced(&text, &format!("    {line}\n"), "")?,
        };
    }
    Ok(text)
}

/// A text in which something that occurs once is replaced.
///
/// # Errors
/// It does not occur exactly once.
pub fn replaced(text: &str, old: &str, new: &str) -> Result<String, String> {
    match text.matches(old).count() {
        1 => Ok(text.replace(old, new)),
        count => Err(format!(
            "expected {old:?} once in deploy/haproxy.cfg, found it {count} times"
        )),
    }
}

/// A free port that no outgoing connection gets: a server that is stopped finds it free when it starts again.
///
/// # Errors
/// There is none.
pub fn free_address() -> io::Result<SocketAddr> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Below the ports of outgoing connections, which begin at 32768; each process begins elsewhere.
    let begin = (std::process::id() % 600) as u16 * 20;
    for _ in 0..12_000 {
        let offset = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 20_000 + offset));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    Err(io::Error::from(io::ErrorKind::AddrInUse))
}

impl Haproxy {
    /// Starts HAProxy with a configuration (as [`SHIPPED`], or a variant of it), in front of these workers.
    ///
    /// # Errors
    /// It cannot be started, or refuses the configuration: what it said.
    pub fn start(shipped: &str, workers: &[SocketAddr]) -> Result<Self, String> {
        let failed = |error: io::Error| format!("haproxy: {error}");
        let address = free_address().map_err(failed)?;
        let name = format!("bsoap-haproxy-{}-{}", std::process::id(), address.port());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).map_err(failed)?;
        let file = folder.join("haproxy.cfg");
        let text = configuration(shipped, address, &folder.join("admin.sock"), workers)?;
        fs::write(&file, text).map_err(failed)?;
        let log = fs::File::create(folder.join("log")).map_err(failed)?;
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(&file).stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(failed)?).stderr(log);
        let child = command.spawn().map_err(failed)?;
        let proxy = Self {
            child,
            folder,
            address,
        };
        match proxy.wait_until("HAProxy answers", || proxy.admin("show info").is_ok()) {
            Ok(()) => Ok(proxy),
            Err(error) => Err(format!("{error}\n{}", proxy.log())),
        }
    }

    /// What HAProxy has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The answer to a command of the admin socket.
    ///
    /// # Errors
    /// HAProxy does not answer.
    pub fn admin(&self, command: &str) -> io::Result<String> {
        let mut stream = UnixStream::connect(self.folder.join("admin.sock"))?;
        writeln!(stream, "{command}")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Whether the last check of a worker (from 0) found it ready.
    pub fn is_up(&self, worker: usize) -> bool {
        self.status(worker) == Some(("UP".to_owned(), "L7OK".to_owned()))
    }

    /// State and last check of a worker, from the columns of `show stat`.
    fn status(&self, worker: usize) -> Option<(String, String)> {
        let table = self.admin("show stat").ok()?;
        let mut lines = table
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>());
        let titles = lines.next()?;
        let column = |name: &str| titles.iter().position(|title| title.ends_with(name));
        let [name, status, check] = ["svname", "status", "check_status"].map(column);
        let row = lines
            .find(|row| row.get(name.unwrap_or(1)) == Some(&&*format!("worker{}", worker + 1)))?;
        // A check that is being made is marked: `* L7OK`.
        let check = row.get(check?)?.trim_start_matches("* ");
        Some(((*row.get(status?)?).to_owned(), check.to_owned()))
    }

    /// Waits until a worker is up.
    ///
    /// # Errors
    /// It takes too long.
    pub fn wait_until_up(&self, worker: usize) -> Result<(), String> {
        let what = format!("worker {} is up", worker + 1);
        self.wait_until(&what, || self.is_up(worker))
    }

    /// Waits until HAProxy has noticed that a worker is down.
    ///
    /// # Errors
    /// It takes too long.
    pub fn wait_until_down(&self, worker: usize) -> Result<(), String> {
        let what = format!("worker {} is down", worker + 1);
        let is_down =
            || matches!(self.status(worker), Some((state, _)) if state.starts_with("DOWN"));
        self.wait_until(&what, is_down)
    }

    fn wait_until(&self, what: &str, holds: impl Fn() -> bool) -> Result<(), String> {
        let begun = Instant::now();
        while !holds() {
            if begun.elapsed() > PATIENCE {
                return Err(format!("waited {PATIENCE:?} in vain until {what}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_the_socket_are_replaced() {
        let workers = [1, 2].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let text = configuration(SHIPPED, workers[0], Path::new("/x"), &workers).unwrap();
        let is_same = |(new, old): &(&str, &str)| new == old;
        let old: Vec<_> = SHIPPED.lines().collect();
        let new: Vec<_> = text.lines().collect();
        let same = new.iter().copied().zip(old.iter().copied()).filter(is_same);
        // `bind`, the socket and two workers; two more workers are gone.
        assert_eq!(same.count(), new.len() - 4);
        assert_eq!(new.len(), old.len() - 2);
        assert!(text.contains("server worker2 127.0.0.1:2\n"), "{text}");
        assert!(configuration("", workers[0], Path::new("/x"), &workers).is_err());
    }
}
