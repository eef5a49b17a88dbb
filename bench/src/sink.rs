//! The other end of a connection: a process on a core of its own that reads and discards, or a thread that keeps what it
//! reads, so that it can be checked.
//!
//! Nothing of the connection is set but `TCP_NODELAY`: loopback, with the kernel's buffers as they are. The sink never
//! answers, except that it says when it has read everything (see [`DRAIN`]).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::thread::{self, JoinHandle};

use crate::machine;

/// Sent between messages, while no time is taken: the sink answers with one byte once it has read this, and so all before
/// it. No message has a zero byte.
pub(crate) const DRAIN: &[u8; 8] = b"\0drain?\0";

/// Bytes that the sink reads at a time.
const PIECE: usize = 256 << 10;

/// The sink's process; ends with this one.
pub(crate) struct Sink {
    address: SocketAddr,
    _child: Child,
    // The sink ends when its input does.
    _input: Option<ChildStdin>,
}

impl Sink {
    /// The sink, started when first asked for.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn shared() -> Result<SocketAddr, String> {
        static SINK: OnceLock<Result<Sink, String>> = OnceLock::new();
        match SINK.get_or_init(Self::start) {
            Ok(sink) => Ok(sink.address),
            Err(error) => Err(error.clone()),
        }
    }

    fn start() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the sink does not start: {error}");
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["--sink", &machine::other_core().to_string()]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the sink has no output")?;
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .map_err(failed)?;
        let address = line
            .trim()
            .parse()
            .map_err(|_| format!("the sink does not start: it said {line:?}"))?;
        Ok(Self {
            address,
            _child: child,
            _input: input,
        })
    }
}

/// What the sink's process does: says its address, reads and discards until its input ends.
///
/// # Errors
/// Loopback cannot be used.
pub(crate) fn run(core: usize) -> std::io::Result<()> {
    machine::pin_to(core);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || discard(stream));
        }
    });
    let mut out = std::io::stdout();
    writeln!(out, "{address}")?;
    out.flush()?;
    // Nothing is said here; the end is what is waited for.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

/// Reads and discards until the connection ends.
fn discard(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    // The last bytes read are kept before the next, so that the question is seen wherever it is cut.
    let mut piece = vec![0; DRAIN.len() + PIECE];
    loop {
        let length = stream.read(&mut piece[DRAIN.len()..])?;
        if length == 0 {
            return Ok(());
        }
        let last = length..length + DRAIN.len();
        if piece[last.clone()] == *DRAIN {
            stream.write_all(b".")?;
        }
        piece.copy_within(last, 0);
    }
}

/// A thread that keeps all that is sent to it over one connection.
pub(crate) struct Capture {
    address: SocketAddr,
    reader: JoinHandle<std::io::Result<Vec<u8>>>,
}

impl Capture {
    /// Waits for a connection.
    ///
    /// # Errors
    /// Loopback cannot be used.
    pub(crate) fn start() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("no connection can be waited for: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let reader = thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            let (mut all, mut piece) = (Vec::new(), vec![0; PIECE]);
            loop {
                let length = stream.read(&mut piece)?;
                if length == 0 {
                    return Ok(all);
                }
                all.extend_from_slice(&piece[..length]);
                if all.ends_with(DRAIN) {
                    all.truncate(all.len() - DRAIN.len());
                    stream.write_all(b".")?;
                }
            }
        });
        Ok(Self { address, reader })
    }

    /// Where to send to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// All that was sent, once the sender has closed the connection.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) fn all(self) -> Result<Vec<u8>, String> {
        let read = self.reader.join().map_err(|_| "the reader panicked")?;
        read.map_err(|error| format!("what was sent cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sink_says_when_it_has_read_everything() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let reader = thread::spawn(move || discard(listener.accept().unwrap().0));
        let mut stream = TcpStream::connect(address).unwrap();
        for length in [0, 1, 7, 100, 3 * PIECE] {
            stream.write_all(&vec![b'x'; length]).unwrap();
            let (head, tail) = DRAIN.split_at(length % DRAIN.len());
            stream.write_all(head).unwrap();
            stream.flush().unwrap();
            stream.write_all(tail).unwrap();
            let mut answer = [0; 1];
            stream.read_exact(&mut answer).unwrap();
        }
        drop(stream);
        reader.join().unwrap().unwrap();
    }

    #[test]
    fn a_capture_keeps_everything() {
        let capture = Capture::start().unwrap();
        let mut stream = TcpStream::connect(capture.address()).unwrap();
        stream.write_all(b"one").unwrap();
        stream.write_all(DRAIN).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        stream.write_all(b"two").unwrap();
        drop(stream);
        assert_eq!(capture.all().unwrap(), b"onetwo");
    }
}
