//! What can go wrong between two peers, and whose doing it is.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// An error of the transport. What the message said is not this crate's business.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    /// The address asked, or the address served.
    place: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address is no `http` or `https` URL.
    Address,
    /// A header given by the caller cannot be sent.
    Header,
    /// Certificates or keys given by the caller cannot be used.
    Certificate,
    /// The address to listen on is not to be had.
    Listen,
    /// No connection came about.
    Connect,
    /// No connection came about in time.
    ConnectTimeout(Duration),
    /// The answer did not come, or not in full, in time.
    Timeout(Duration),
    /// The connection broke before the answer was complete.
    Broken,
    /// The body is longer than allowed.
    TooLarge {
        /// The most bytes allowed.
        limit: u64,
    },
    /// The body's `Content-Encoding` is none that is understood here.
    ContentEncoding(String),
    /// The body is not what its `Content-Encoding` says.
    Compression,
    /// The peer redirected, and that is not allowed, or not to there, or not so often.
    Redirect {
        /// Where to.
        location: String,
    },
}

/// Whose doing an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Who called this crate.
    Caller,
    /// Who is at the other end.
    Peer,
    /// What lies between.
    Transport,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, place: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            place: place.into(),
            source: None,
        }))
    }

    pub(crate) fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The address asked or served.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Whose doing it is.
    pub fn blame(&self) -> Blame {
        match self.0.kind {
            ErrorKind::Address | ErrorKind::Header | ErrorKind::Certificate | ErrorKind::Listen => {
                Blame::Caller
            }
            ErrorKind::Connect
            | ErrorKind::ConnectTimeout(_)
            | ErrorKind::Timeout(_)
            | ErrorKind::Broken => Blame::Transport,
            ErrorKind::TooLarge { .. }
            | ErrorKind::ContentEncoding(_)
            | ErrorKind::Compression
            | ErrorKind::Redirect { .. } => Blame::Peer,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.0.place;
        match &self.0.kind {
            ErrorKind::Address => write!(f, "{place:?} is not an http or https address"),
            ErrorKind::Header => write!(f, "a header for {place} cannot be sent"),
            ErrorKind::Certificate => write!(f, "{place} cannot be used"),
            ErrorKind::Listen => write!(f, "cannot listen on {place}"),
            ErrorKind::Connect => write!(f, "cannot connect to {place}"),
            ErrorKind::ConnectTimeout(time) => {
                write!(f, "no connection to {place} within {time:?}")
            }
            ErrorKind::Timeout(time) => {
                write!(f, "no complete answer from {place} within {time:?}")
            }
            ErrorKind::Broken => write!(
                f,
                "the connection to {place} broke before the answer was complete"
            ),
            ErrorKind::TooLarge { limit } => {
                write!(f, "the body from {place} is longer than {limit} bytes")
            }
            ErrorKind::ContentEncoding(found) => {
                write!(
                    f,
                    "the body from {place} has content encoding {found:?}, expected gzip or identity"
                )
            }
            ErrorKind::Compression => write!(
                f,
                "the body from {place} is not the gzip stream it claims to be"
            ),
            ErrorKind::Redirect { location } => {
                write!(f, "{place} redirects to {location}, which is not followed")
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
