//! The errors of the transport.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// The supported values of `Content-Encoding`, as messages list them.
pub(crate) const SUPPORTED_ENCODINGS: &str = match cfg!(feature = "gzip") {
    true => "gzip or identity",
    false => "identity (gzip is not built in)",
};

/// An error of the transport. It says what failed, at which address, and who caused it.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    /// The address that was requested or is served.
    place: String,
    /// What else is known of the exchange.
    note: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address is not an `http` or `https` URL.
    Address,
    /// A header given by the caller cannot be sent.
    Header,
    /// Certificates or keys given by the caller cannot be used.
    Certificate,
    /// The proxy's URL cannot be used.
    Proxy,
    /// The server cannot listen at the address.
    Listen,
    /// No connection could be established.
    Connect,
    /// No connection could be established in time.
    ConnectTimeout(Duration),
    /// The server's certificate is not trusted. Nothing was sent to it.
    Untrusted {
        /// The SHA-256 fingerprint of the certificate.
        fingerprint: String,
    },
    /// The answer did not arrive completely in time.
    Timeout(Duration),
    /// The connection broke before the answer was complete.
    Broken,
    /// No bearer token could be obtained, so the peer has not run the operation.
    Token,
    /// A transport that is not HTTP, or a layer over HTTP, failed.
    Custom,
    /// The body is not what its reader can take.
    Body,
    /// The body is longer than the limit.
    TooLarge {
        /// The most bytes allowed.
        limit: u64,
    },
    /// The body's `Content-Encoding` is not supported.
    ContentEncoding(String),
    /// The body is not a gzip stream although its `Content-Encoding` says so.
    Compression,
    /// The peer redirected to another address, but the redirect may not be followed.
    Redirect {
        /// The address that the redirect leads to.
        location: String,
    },
}

/// Who caused an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blame {
    /// The program that called this crate.
    Caller,
    /// The peer.
    Peer,
    /// The network.
    Transport,
}

impl Error {
    /// Creates an error for transports other than HTTP. `place` is the address that was requested.
    pub fn new(kind: ErrorKind, place: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            place: place.into(),
            note: None,
            source: None,
        }))
    }

    /// Adds what else is known of the exchange, such as how often it was attempted: the message ends with it.
    ///
    /// ```
    /// use bsoap_http::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::Connect, "http://example.com/").noting("attempt 3 of 3");
    /// assert_eq!(error.to_string(), "cannot connect to http://example.com/ (attempt 3 of 3)");
    /// ```
    #[must_use]
    pub fn noting(mut self, note: impl Into<String>) -> Self {
        self.0.note = Some(note.into());
        self
    }

    /// Adds the cause of the error.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The address that was requested or is served.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Who caused the error.
    pub fn blame(&self) -> Blame {
        match self.0.kind {
            ErrorKind::Address
            | ErrorKind::Header
            | ErrorKind::Certificate
            | ErrorKind::Proxy
            | ErrorKind::Listen => Blame::Caller,
            ErrorKind::Untrusted { .. } => Blame::Transport,
            ErrorKind::Connect
            | ErrorKind::ConnectTimeout(_)
            | ErrorKind::Timeout(_)
            | ErrorKind::Broken
            | ErrorKind::Token
            | ErrorKind::Custom => Blame::Transport,
            ErrorKind::Body
            | ErrorKind::TooLarge { .. }
            | ErrorKind::ContentEncoding(_)
            | ErrorKind::Compression
            | ErrorKind::Redirect { .. } => Blame::Peer,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_fact(f)?;
        match &self.0.note {
            Some(note) => write!(f, " ({note})"),
            None => Ok(()),
        }
    }
}

impl Error {
    fn fmt_fact(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.0.place;
        match &self.0.kind {
            ErrorKind::Address => write!(f, "{place:?} is not an http or https URL with a host"),
            ErrorKind::Header => write!(f, "{place} is not a valid HTTP header value"),
            ErrorKind::Certificate => write!(f, "{place} cannot be used"),
            ErrorKind::Proxy => write!(f, "the proxy {place} cannot be used"),
            ErrorKind::Listen => write!(f, "cannot listen at {place}"),
            ErrorKind::Connect => write!(f, "cannot connect to {place}"),
            ErrorKind::ConnectTimeout(time) => {
                write!(
                    f,
                    "cannot connect to {place} within {time:?} (connect timeout)"
                )
            }
            ErrorKind::Untrusted { fingerprint } => write!(
                f,
                "the certificate of {place} is not trusted (SHA-256 {fingerprint}): trust the authority that issued it or \
                 exactly this certificate (`trust_also`, `--cacert`), trust its fingerprint if it is the server's \
                 (`trust_pinned`, `--pin`), or check no certificate (`insecure`, `--insecure`)"
            ),
            ErrorKind::Timeout(time) => {
                write!(
                    f,
                    "no complete answer from {place} within {time:?} (timeout)"
                )
            }
            ErrorKind::Token => write!(
                f,
                "no bearer token could be obtained for {place}, so the message was not sent"
            ),
            ErrorKind::Custom => write!(f, "the transport to {place} failed"),
            ErrorKind::Broken => write!(
                f,
                "the connection to {place} broke before the answer was complete"
            ),
            ErrorKind::Body => write!(f, "the body from {place} cannot be used"),
            ErrorKind::TooLarge { limit } => {
                write!(
                    f,
                    "the body from {place} is longer than the limit of {limit} bytes"
                )
            }
            ErrorKind::ContentEncoding(found) => {
                write!(
                    f,
                    "the body from {place} has Content-Encoding {found:?}, expected {SUPPORTED_ENCODINGS}"
                )
            }
            ErrorKind::Compression => write!(
                f,
                "the body from {place} is not a gzip stream although its Content-Encoding says so"
            ),
            ErrorKind::Redirect { location } => {
                write!(
                    f,
                    "{place} redirects to {location}, which is not followed: redirects are off (`redirects`, `--redirects`), their limit is reached, or this one leads from https to http or takes a message to another origin"
                )
            }
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|source| source.as_ref() as &(dyn StdError + 'static))
    }
}
