//! Splits a multipart body at its boundaries. (RFC 2046 §5.1.1)
//!
//! ```text
//! Preamble ──delimiter──► Head ──empty line──► Body ──delimiter──► Head
//!    └──────close delimiter──────► Epilogue ◄──close delimiter──┘
//! ```
//!
//! A delimiter is CRLF, `--`, the boundary, perhaps white space, and CRLF. A chunk without one is passed on without copying it,
//! except for an end that may be the beginning of a delimiter.

use bytes::{Bytes, BytesMut};
use memchr::memmem;

use super::{PackageError, PackageErrorKind, PackageLimits};

/// The most white space between a boundary and the end of its line. With more, the line is not a delimiter.
const MAX_PADDING: usize = 64;

/// A part of a multipart body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A part begins; these are its headers without the empty line.
    Head(Bytes),
    /// More octets of the part.
    Octets(Bytes),
    /// The part has ended.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Preamble,
    Head,
    Body,
    Epilogue,
}

/// Splits a multipart body that arrives in chunks.
#[derive(Debug)]
pub(super) struct Multipart {
    /// CRLF, `--` and the boundary.
    delimiter: memmem::Finder<'static>,
    state: State,
    /// Bytes that have arrived and were not passed on.
    pending: Bytes,
    /// True if the pending bytes follow a line end, so that a delimiter needs none.
    at_line_start: bool,
    /// The bytes before the pending ones.
    offset: u64,
    /// The bytes before the first delimiter.
    preamble: usize,
    parts: usize,
    has_ended: bool,
    limits: PackageLimits,
}

/// What follows a boundary.
enum After {
    /// The delimiter ends after this many bytes, and a part follows.
    Part(usize),
    /// The body ends.
    Close,
    /// It is no delimiter, but content that begins like one.
    Content,
    /// More bytes are needed.
    NeedMore,
}

impl Multipart {
    /// # Errors
    /// If `boundary` is not one.
    pub(super) fn new(boundary: &str, limits: PackageLimits) -> Result<Self, PackageError> {
        // (RFC 2046 allows fewer characters; those that are not visible could not be recognised in headers.)
        let is_allowed = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        if !(1..=70).contains(&boundary.len()) || !boundary.bytes().all(is_allowed) {
            return Err(PackageError::new(PackageErrorKind::Boundary, 0));
        }
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        Ok(Self {
            delimiter: memmem::Finder::new(&delimiter).into_owned(),
            state: State::Preamble,
            pending: Bytes::new(),
            at_line_start: true,
            offset: 0,
            preamble: 0,
            parts: 0,
            has_ended: false,
            limits,
        })
    }

    /// Where it is: the number of bytes that were passed on or skipped.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next chunk.
    pub(super) fn feed(&mut self, chunk: Bytes) -> Result<(), PackageError> {
        let arrived = self.offset + (self.pending.len() + chunk.len()) as u64;
        if arrived > self.limits.total_bytes {
            return Err(self.limit("total_bytes", self.limits.total_bytes));
        }
        self.pending = match self.pending.is_empty() {
            true => chunk,
            false => {
                let mut joined = BytesMut::with_capacity(self.pending.len() + chunk.len());
                joined.extend_from_slice(&self.pending);
                joined.extend_from_slice(&chunk);
                joined.freeze()
            }
        };
        Ok(())
    }

    /// The body has ended.
    pub(super) fn finish(&mut self) {
        self.has_ended = true;
    }

    /// The next piece. `None` if more bytes are needed, or the last part has ended.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, PackageError> {
        loop {
            let piece = match self.state {
                State::Preamble => self.preamble()?,
                State::Head => return self.head(),
                State::Body => return self.body(),
                State::Epilogue => {
                    self.skip(self.pending.len());
                    return Ok(None);
                }
            };
            if piece.is_none() {
                return Ok(None);
            }
        }
    }

    /// Skips what precedes the first delimiter. Returns `Some` if it was found.
    fn preamble(&mut self) -> Result<Option<()>, PackageError> {
        let Some((at, length)) = self.find() else {
            let skipped = self.pending.len() - self.held();
            self.skip_preamble(skipped)?;
            return self.at_end("it has no boundary of its Content-Type");
        };
        self.skip_preamble(at)?;
        match self.after(length) {
            After::Part(end) => {
                self.skip(end);
                self.begin_part()?;
            }
            After::Close => return Err(self.framing("it has no parts")),
            After::Content => {
                self.skip_preamble(length)?;
            }
            After::NeedMore => return self.at_end("it ends within a boundary"),
        }
        Ok(Some(()))
    }

    /// Skips bytes before the first part. The limit does not depend on the chunks in which they arrive.
    fn skip_preamble(&mut self, length: usize) -> Result<(), PackageError> {
        self.preamble += length;
        self.skip(length);
        match self.preamble > self.limits.header_bytes {
            true => Err(self.limit("header_bytes", self.limits.header_bytes as u64)),
            false => Ok(()),
        }
    }

    fn head(&mut self) -> Result<Option<Piece>, PackageError> {
        let limit = self.limits.header_bytes;
        // A part may have no headers at all.
        let found = match self.pending.starts_with(b"\r\n") {
            true => Some((0, 2)),
            false => memmem::find(&self.pending, b"\r\n\r\n").map(|at| (at, at + 4)),
        };
        match found {
            Some((length, end)) if length <= limit => {
                let head = self.pending.slice(..length);
                self.skip(end);
                self.at_line_start = true;
                self.state = State::Body;
                Ok(Some(Piece::Head(head)))
            }
            None if self.pending.len() <= limit + 3 => {
                self.at_end("it ends within the headers of a part")
            }
            _ => Err(self.limit("header_bytes", limit as u64)),
        }
    }

    fn body(&mut self) -> Result<Option<Piece>, PackageError> {
        let Some((at, length)) = self.find() else {
            let passed = self.pending.len() - self.held();
            if passed == 0 {
                return self.at_end("it ends before the boundary that ends a part");
            }
            return Ok(Some(self.pass(passed)));
        };
        if at > 0 {
            return Ok(Some(self.pass(at)));
        }
        match self.after(length) {
            After::Part(end) => {
                self.skip(end);
                self.begin_part()?;
                Ok(Some(Piece::End))
            }
            After::Close => {
                self.skip(length + 2);
                self.state = State::Epilogue;
                Ok(Some(Piece::End))
            }
            After::Content => Ok(Some(self.pass(length))),
            After::NeedMore => self.at_end("it ends within a boundary"),
        }
    }

    /// Where the pending bytes have the next boundary, and the length of the delimiter up to its end.
    fn find(&self) -> Option<(usize, usize)> {
        let delimiter = self.delimiter.needle();
        if self.at_line_start && self.pending.starts_with(&delimiter[2..]) {
            return Some((0, delimiter.len() - 2));
        }
        let at = self.delimiter.find(&self.pending)?;
        Some((at, delimiter.len()))
    }

    /// How many of the last pending bytes may be the beginning of a delimiter.
    fn held(&self) -> usize {
        let delimiter = self.delimiter.needle();
        let pending = &self.pending[..];
        if self.at_line_start && delimiter[2..].starts_with(pending) {
            return pending.len();
        }
        let tail = &pending[pending.len().saturating_sub(delimiter.len() - 1)..];
        let begins = |&at: &usize| delimiter.starts_with(&tail[at..]);
        memchr::memchr_iter(b'\r', tail)
            .find(begins)
            .map_or(0, |at| tail.len() - at)
    }

    /// What follows a boundary that ends at `end` in the pending bytes.
    fn after(&self, end: usize) -> After {
        let rest = &self.pending[end..];
        if rest.starts_with(b"--") {
            return After::Close;
        }
        let is_padding = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let padding = rest.iter().take(MAX_PADDING).take_while(is_padding).count();
        match &rest[padding..] {
            [b'\r', b'\n', ..] => After::Part(end + padding + 2),
            [] | [b'\r'] => After::NeedMore,
            [b'-'] if padding == 0 => After::NeedMore,
            _ => After::Content,
        }
    }

    fn begin_part(&mut self) -> Result<(), PackageError> {
        self.parts += 1;
        if self.parts > self.limits.parts {
            return Err(self.limit("parts", self.limits.parts as u64));
        }
        self.state = State::Head;
        Ok(())
    }

    fn pass(&mut self, length: usize) -> Piece {
        let octets = self.pending.slice(..length);
        self.skip(length);
        Piece::Octets(octets)
    }

    fn skip(&mut self, length: usize) {
        if length > 0 {
            self.at_line_start = false;
            self.offset += length as u64;
            self.pending = self.pending.slice(length..);
        }
    }

    /// Nothing, or the error that no more bytes will come.
    fn at_end<T>(&self, problem: &'static str) -> Result<Option<T>, PackageError> {
        match self.has_ended {
            true => Err(self.framing(problem)),
            false => Ok(None),
        }
    }

    fn framing(&self, problem: &'static str) -> PackageError {
        PackageError::new(PackageErrorKind::Framing(problem), self.offset)
    }

    fn limit(&self, name: &'static str, limit: u64) -> PackageError {
        PackageError::new(PackageErrorKind::Limit { name, limit }, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The heads and octets of all parts, with the body fed in chunks of this length.
    fn parts(body: &[u8], chunk: usize) -> Result<Vec<(String, String)>, PackageError> {
        let mut multipart = Multipart::new("b-1", PackageLimits::default())?;
        let (mut parts, mut is_open) = (Vec::new(), false);
        let mut chunks = body.chunks(chunk);
        loop {
            match multipart.next()? {
                Some(Piece::Head(head)) => {
                    is_open = true;
                    parts.push((text(&head), String::new()));
                }
                Some(Piece::Octets(octets)) => {
                    parts.last_mut().expect("a head").1 += &text(&octets);
                }
                Some(Piece::End) => is_open = false,
                None => match chunks.next() {
                    Some(chunk) => multipart.feed(Bytes::copy_from_slice(chunk))?,
                    None if multipart.has_ended => break,
                    None => multipart.finish(),
                },
            }
        }
        assert!(!is_open);
        Ok(parts)
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn parts_are_the_same_however_the_body_arrives() {
        let body = b"preamble\r\n--b-1 \t\r\nA: 1\r\nB: 2\r\n\r\none\r\n--b-\r\n--b-1x\r\n\r\r\n--b-1\r\n\r\n\r\n--b-1\r\nC: 3\r\n\r\n--b-1--\r\nepilogue\r\n--b-1\r\n";
        let expected = [
            ("A: 1\r\nB: 2", "one\r\n--b-\r\n--b-1x\r\n\r"),
            ("", ""),
            ("C: 3", ""),
        ];
        for chunk in 1..=body.len() {
            let found = parts(body, chunk).expect("a multipart body");
            let found: Vec<_> = found
                .iter()
                .map(|(head, octets)| (head.as_str(), octets.as_str()))
                .collect();
            assert_eq!(found, expected, "in chunks of {chunk}");
        }
    }

    #[test]
    fn a_body_that_is_not_framed_is_refused() {
        let cases = [
            ("", "no boundary"),
            ("--b-2\r\n\r\n", "no boundary"),
            ("--b-1--", "no parts"),
            ("--b-1\r\nA: 1", "headers"),
            ("--b-1\r\nA: 1\r\n\r\nabc", "ends a part"),
            ("--b-1\r\n\r\nabc\r\n--b-1", "within a boundary"),
            ("--b-1\r\n\r\nabc\r\n--b-1-", "within a boundary"),
        ];
        for (body, problem) in cases {
            for chunk in [1, 1000] {
                let error = parts(body.as_bytes(), chunk).expect_err(body);
                assert!(error.to_string().contains(problem), "{body:?}: {error}");
            }
        }
    }

    #[test]
    fn floods_exceed_a_limit() {
        let limits = PackageLimits::default();
        let cases = [
            (vec![b'x'; limits.header_bytes + 100], "header_bytes"),
            (
                [
                    &vec![b'x'; limits.header_bytes + 1],
                    &b"\r\n--b-1\r\n\r\n\r\n--b-1--"[..],
                ]
                .concat(),
                "header_bytes",
            ),
            (
                [&b"--b-1\r\nA: "[..], &vec![b'x'; limits.header_bytes + 1]].concat(),
                "header_bytes",
            ),
            (b"--b-1\r\n\r\n\r\n".repeat(limits.parts + 1), "parts"),
        ];
        for (body, limit) in cases {
            for chunk in [100, usize::MAX] {
                let error = parts(&body, chunk).expect_err(limit);
                assert!(
                    error.is_limit() && error.to_string().contains(limit),
                    "{error}"
                );
            }
        }
        for boundary in ["", "a\r\nb", &"x".repeat(71), "\u{e9}"] {
            assert!(Multipart::new(boundary, limits).is_err());
        }
    }
}
