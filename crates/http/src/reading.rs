//! Bodies that are read while they arrive, instead of being collected in memory.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use hyper::http::Extensions;
use hyper::{HeaderMap, StatusCode};

/// Takes a body piece by piece while it arrives: one with parts that do not fit into memory.
pub trait BodyReader: Send {
    /// Takes the next bytes. The next ones are read from the connection when the future has completed.
    fn read(&mut self, bytes: Bytes) -> Reading<'_>;

    /// The bytes of memory that are in use for the body so far.
    fn memory(&self) -> u64;

    /// The body has ended.
    fn finish(self: Box<Self>) -> FinishedReading;
}

/// The future of [`BodyReader::read`].
pub type Reading<'r> = Pin<Box<dyn Future<Output = Result<(), BodyRefusal>> + Send + 'r>>;

/// The future of [`BodyReader::finish`].
pub type FinishedReading = Pin<Box<dyn Future<Output = Result<ReadBody, BodyRefusal>> + Send>>;

/// What a [`BodyReader`] has made of a body.
#[derive(Clone, Debug, Default)]
pub struct ReadBody {
    /// What the handler or the caller gets as the body.
    pub body: Bytes,
    /// What it gets besides.
    pub extensions: Extensions,
}

impl From<Bytes> for ReadBody {
    fn from(body: Bytes) -> Self {
        Self {
            body,
            extensions: Extensions::new(),
        }
    }
}

/// Why a [`BodyReader`] does not take a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyRefusal {
    /// The HTTP status that a server answers with.
    pub status: StatusCode,
    /// What is wrong, and what may be done.
    pub reason: String,
}

impl fmt::Display for BodyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for BodyRefusal {}

/// Selects the readers for the bodies of answers.
pub trait ReadAnswer: Send + Sync {
    /// The reader for the body of an answer with these headers. `None` means that it is collected in memory.
    fn reader(&self, headers: &HeaderMap) -> Option<Box<dyn BodyReader>>;
}
