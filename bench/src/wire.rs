//! HTTP as a sender of messages sees it: a head, then the message in as many pieces as it lies in, by vectored writes.

use std::io::{IoSlice, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::sink::DRAIN;

/// Everything before the length. Each sender says about this much.
const HEAD: &str = "POST /bench HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: \"\"\r\n";
/// Pieces in one call: the most that Linux takes.
const MOST_PIECES: usize = 1024;

/// A connection that messages are sent over.
pub(crate) struct Wire {
    stream: TcpStream,
    /// What leaves with the next piece: a head, or the text between two HTTP chunks.
    head: Vec<u8>,
    is_chunked: bool,
}

impl Wire {
    /// Connects.
    ///
    /// # Errors
    /// No one is there.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(address)
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        Ok(Self {
            stream: stream.map_err(|error| format!("{address}: {error}"))?,
            head: HEAD.into(),
            is_chunked: false,
        })
    }

    /// Sends a message whose length is known.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) fn send<'p>(
        &mut self,
        pieces: impl Iterator<Item = &'p [u8]> + Clone,
    ) -> Result<(), String> {
        let length: usize = pieces.clone().map(<[u8]>::len).sum();
        self.begin(Some(length as u64));
        let mut slices =
            Vec::with_capacity(pieces.size_hint().0.saturating_add(1).min(MOST_PIECES));
        slices.push(IoSlice::new(&self.head));
        for piece in pieces {
            if slices.len() == MOST_PIECES {
                write_all(&mut self.stream, &mut slices)?;
                slices.clear();
            }
            slices.push(IoSlice::new(piece));
        }
        write_all(&mut self.stream, &mut slices)
    }

    /// Begins a message that is sent piece by piece; in HTTP chunks if its length is not known. What is written here leaves
    /// with the first piece.
    pub(crate) fn begin(&mut self, length: Option<u64>) {
        self.head.truncate(HEAD.len());
        match length {
            Some(length) => {
                self.head.extend_from_slice(b"Content-Length: ");
                let mut digits = itoa::Buffer::new();
                self.head
                    .extend_from_slice(digits.format(length).as_bytes());
            }
            None => self.head.extend_from_slice(b"Transfer-Encoding: chunked"),
        }
        self.head.extend_from_slice(b"\r\n\r\n");
        self.is_chunked = length.is_none();
    }

    /// Sends a piece of such a message.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) fn piece(&mut self, text: &[u8]) -> Result<(), String> {
        if !self.is_chunked {
            let sent = write_all(
                &mut self.stream,
                &mut [&self.head[..], text].map(IoSlice::new),
            );
            self.head.clear();
            return sent;
        }
        // Writing to a Vec cannot fail.
        let _ = write!(self.head, "{:x}\r\n", text.len());
        let mut slices = [&self.head[..], text].map(IoSlice::new);
        write_all(&mut self.stream, &mut slices)?;
        self.head.clear();
        self.head.extend_from_slice(b"\r\n");
        Ok(())
    }

    /// Ends such a message.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        if self.is_chunked {
            self.head.extend_from_slice(b"0\r\n\r\n");
            write_all(&mut self.stream, &mut [IoSlice::new(&self.head)])?;
        }
        self.head = HEAD.into();
        Ok(())
    }

    /// Waits until the other end has read everything.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) fn drain(&mut self) -> Result<(), String> {
        let mut answer = [0; 1];
        self.stream
            .write_all(DRAIN)
            .and_then(|()| self.stream.read_exact(&mut answer))
            .map_err(|error| broken(&error))
    }
}

fn broken(error: &std::io::Error) -> String {
    format!("the connection broke: {error}")
}

fn write_all(stream: &mut TcpStream, mut slices: &mut [IoSlice<'_>]) -> Result<(), String> {
    while !slices.is_empty() {
        match stream.write_vectored(slices) {
            Ok(0) => return Err("the connection takes no more".into()),
            Ok(written) => IoSlice::advance_slices(&mut slices, written),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(broken(&error)),
        }
    }
    Ok(())
}

/// The messages in what was received, without what HTTP put around them.
///
/// # Errors
/// Not HTTP.
pub(crate) fn bodies(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut bodies = Vec::new();
    while !bytes.is_empty() {
        let end = memchr::memmem::find(bytes, b"\r\n\r\n").ok_or("a head without an end")?;
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        bytes = &bytes[end + 4..];
        let field = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim().to_owned())
        };
        let body = if field("transfer-encoding:").as_deref() == Some("chunked") {
            chunked(&mut bytes)?
        } else {
            let length = field("content-length:").and_then(|length| length.parse().ok());
            taken(&mut bytes, length.ok_or("a message of no known length")?)?.to_vec()
        };
        bodies.push(body);
    }
    Ok(bodies)
}

fn chunked(bytes: &mut &[u8]) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        let end = memchr::memmem::find(bytes, b"\r\n").ok_or("a chunk without a size")?;
        let size = String::from_utf8_lossy(taken(bytes, end)?).into_owned();
        taken(bytes, 2)?;
        let size =
            usize::from_str_radix(&size, 16).map_err(|_| format!("a chunk of size {size:?}"))?;
        body.extend_from_slice(taken(bytes, size)?);
        taken(bytes, 2)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn taken<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8], String> {
    bytes
        .split_off(..length)
        .ok_or_else(|| "a message that ends early".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Capture;

    #[test]
    fn what_is_sent_is_what_is_read() {
        let capture = Capture::start().unwrap();
        let mut wire = Wire::connect(capture.address()).unwrap();
        let pieces: Vec<Vec<u8>> = (0..3000).map(|size| vec![b'x'; size % 50]).collect();
        wire.send(pieces.iter().map(Vec::as_slice)).unwrap();
        for length in [None, Some(6)] {
            wire.begin(length);
            for text in ["one", "two"] {
                wire.piece(text.as_bytes()).unwrap();
            }
            wire.end().unwrap();
        }
        wire.send(std::iter::empty()).unwrap();
        drop(wire);
        let bodies = bodies(&capture.all().unwrap()).unwrap();
        let pieces = pieces.concat();
        assert_eq!(bodies, [&pieces[..], b"onetwo", b"onetwo", b""]);
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        for text in [
            "POST / HTTP/1.1",
            "POST / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        ] {
            assert!(bodies(text.as_bytes()).is_err(), "{text}");
        }
    }
}
