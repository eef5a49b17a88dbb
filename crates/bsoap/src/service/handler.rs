//! The arguments and results of handlers.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bsoap_codec::{Object, Pack, Record, Unpack, Value};
use bsoap_http::HeaderMap;
use bsoap_protocol::{Fault, HeaderBlock, ReceivedRequest, Target};

use crate::error::report;
use crate::{Changes, Streamed};

/// A decoded request, passed to a handler.
#[derive(Clone)]
pub struct Message {
    received: ReceivedRequest,
    changes: Changes,
    headers: HeaderMap,
    peer: SocketAddr,
}

impl Message {
    pub(super) fn new(
        received: ReceivedRequest,
        changes: Changes,
        headers: HeaderMap,
        peer: SocketAddr,
    ) -> Self {
        Self {
            received,
            changes,
            headers,
            peer,
        }
    }

    /// The name of the operation called.
    pub fn operation(&self) -> &str {
        &self.received.target().operation().name
    }

    /// The operation called, with its binding and Plan.
    pub fn target(&self) -> &Target {
        self.received.target()
    }

    /// The arguments: the children of a wrapper, otherwise the parts by name; header blocks under `@headers`.
    pub fn value(&self) -> Value {
        self.received.value()
    }

    /// The arguments as a Rust value: that of the wrapper, or of the only part.
    ///
    /// # Errors
    /// A fault with [`Code::Receiver`](crate::protocol::Code::Receiver) if the type was generated for another WSDL.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Fault> {
        self.received
            .unpack()
            .map_err(|error| Fault::receiver(report(&error)))
    }

    /// The header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.received.headers()
    }

    /// The names and SOAP attributes of the header blocks.
    pub fn blocks(&self) -> &[HeaderBlock] {
        self.received.blocks()
    }

    /// The Record of the request Envelope.
    pub fn record(&self) -> &Record {
        self.received.record()
    }

    /// The Record of the request Envelope, to be kept: it never changes.
    pub fn shared_record(&self) -> &Arc<Record> {
        self.received.shared_record()
    }

    /// What changed since the previous message.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The HTTP headers.
    pub fn http_headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The address of the client.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("operation", &self.operation())
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

/// The answer of a handler.
pub enum Payload {
    /// The children of the wrapper, otherwise the parts by name; header blocks under `@headers`.
    Value(Value),
    /// A Record of the response Envelope.
    Record(Record),
    /// A Rust value: that of the wrapper, or of the only part.
    Packed(Box<dyn Pack + Send>),
    /// A value, and the rows of an array in it, which are produced while the answer is sent.
    Streamed(Value, Streamed),
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.debug_tuple("Value").field(value).finish(),
            Self::Record(_) => f.write_str("Record"),
            Self::Packed(_) => f.write_str("Packed"),
            Self::Streamed(_, rows) => rows.fmt(f),
        }
    }
}

/// A Rust value as an answer: a type generated from the WSDL, or another that implements [`Pack`].
#[derive(Clone, Copy, Debug)]
pub struct Typed<T>(pub T);

impl<T: Pack + Send + 'static> IntoReply for Typed<T> {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(Payload::Packed(Box::new(self.0)))
    }
}

/// The result of a handler: a [`Value`], a [`Record`] of the response Envelope, a [`Typed`] Rust value, nothing, or a `Result` of these and
/// something that becomes a [`Fault`].
pub trait IntoReply {
    /// The answer, or the fault.
    fn into_reply(self) -> Result<Payload, Fault>;
}

impl IntoReply for Payload {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(self)
    }
}

impl IntoReply for Value {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(Payload::Value(self))
    }
}

impl IntoReply for (Value, Streamed) {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(Payload::Streamed(self.0, self.1))
    }
}

impl IntoReply for Record {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(Payload::Record(self))
    }
}

impl IntoReply for () {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(Payload::Value(Value::Nil))
    }
}

impl<T: IntoReply, E: Into<Fault>> IntoReply for Result<T, E> {
    fn into_reply(self) -> Result<Payload, Fault> {
        self.map_err(Into::into)?.into_reply()
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Payload, Fault>> + Send>>;

/// A handler without its type.
#[derive(Clone)]
pub(super) struct Operation {
    handler: Arc<dyn Fn(Message) -> Answering + Send + Sync>,
    /// The length of its last answer in bytes.
    last_length: Arc<AtomicUsize>,
}

impl Operation {
    pub(super) fn new<F, Answer>(handler: F) -> Self
    where
        F: Fn(Message) -> Answer + Send + Sync + 'static,
        Answer: Future<Output: IntoReply> + Send + 'static,
    {
        let handler = Arc::new(handler);
        Self {
            handler: Arc::new(move |message| {
                let handler = Arc::clone(&handler);
                Box::pin(async move { handler(message).await.into_reply() })
            }),
            last_length: Arc::default(),
        }
    }

    /// The length of its last answer in bytes.
    pub(super) fn last_length(&self) -> usize {
        self.last_length.load(Ordering::Relaxed)
    }

    /// Stores the length of an answer in bytes.
    pub(super) fn answered(&self, length: usize) {
        self.last_length.store(length, Ordering::Relaxed);
    }

    pub(super) fn call(&self, message: Message) -> Answering {
        (self.handler)(message)
    }
}
