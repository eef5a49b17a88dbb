//! The arguments and results of handlers.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bsoap_codec::{Object, Pack, Record, Unpack, Value};
use bsoap_http::{Extensions, HeaderMap, Request};
use bsoap_protocol::{Fault, HeaderBlock, ReceivedRequest, Target};

use crate::error::report;
use crate::{Changes, Streamed};

/// A decoded request that is passed to a handler.
#[derive(Clone)]
pub struct Message {
    received: ReceivedRequest,
    changes: Changes,
    headers: HeaderMap,
    extensions: Extensions,
    peer: SocketAddr,
}

impl Message {
    pub(super) fn new(received: ReceivedRequest, changes: Changes, request: Request) -> Self {
        Self {
            received,
            changes,
            headers: request.headers,
            extensions: request.extensions,
            peer: request.peer,
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

    /// The arguments: an object with the children of the wrapper element, or with the parts by name if there is no wrapper.
    /// Header blocks are under `@headers`.
    pub fn value(&self) -> Value {
        self.received.value()
    }

    /// The arguments as a Rust value: the contents of the wrapper element, or of the only part if there is no wrapper.
    ///
    /// # Errors
    /// A fault with [`Code::Receiver`](crate::protocol::Code::Receiver) if the type was generated for another WSDL.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Fault> {
        self.received
            .unpack()
            .map_err(|error| Fault::receiver(report(&error)))
    }

    /// The header blocks as an object: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.received.headers()
    }

    /// The header blocks, each with its name and SOAP attributes.
    pub fn blocks(&self) -> &[HeaderBlock] {
        self.received.blocks()
    }

    /// The Record of the request Envelope.
    pub fn record(&self) -> &Record {
        self.received.record()
    }

    /// The Record of the request Envelope. It is never modified, so a handler may keep the `Arc`.
    pub fn shared_record(&self) -> &Arc<Record> {
        self.received.shared_record()
    }

    /// The changes since the previous similar message.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The HTTP headers.
    pub fn http_headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// What the tower layers around the service attached to the request, such as the user that they authenticated.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// The address of the client. `0.0.0.0:0` if the service is mounted under another server that does not put a
    /// [`Connection`](crate::http::Connection) into the extensions of requests.
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
    /// An object with the children of the wrapper element, or with the parts by name. Header blocks are under `@headers`.
    Value(Value),
    /// A Record of the response Envelope.
    Record(Record),
    /// A Rust value: the contents of the wrapper element, or of the only part if there is no wrapper.
    Packed(Box<dyn Pack + Send>),
    /// A value, and the rows of one array in it. The rows are produced while the answer is sent.
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

/// A Rust value as the answer of a handler: a type generated from the WSDL, or another that implements [`Pack`].
#[derive(Clone, Copy, Debug)]
pub struct Typed<T>(pub T);

impl<T: Pack + Send + 'static> IntoReply for Typed<T> {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(Payload::Packed(Box::new(self.0)))
    }
}

/// A type that a handler can return: a [`Value`], a [`Record`] of the response Envelope, a [`Typed`] Rust value, `()`, or a
/// `Result` of one of these and an error that converts into a [`Fault`].
pub trait IntoReply {
    /// The answer to encode, or the fault to answer with.
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

/// An operation's handler, stored without its type.
#[derive(Clone)]
pub(super) struct Operation {
    handler: Arc<dyn Fn(Message) -> Answering + Send + Sync>,
    /// The length of the operation's last answer in bytes.
    last_length: Arc<AtomicUsize>,
    quickness: Quickness,
}

/// How many times in a row a handler has answered without waiting, and in a short time.
#[derive(Clone, Debug, Default)]
pub(super) struct Quickness(Arc<AtomicUsize>);

/// After this many quick answers in a row, the next is expected to be quick.
const QUICK_ANSWERS: usize = 32;

/// An answer that takes longer is not quick.
const QUICK: Duration = Duration::from_millis(1);

impl Quickness {
    /// Whether the next answer is expected to be quick.
    pub(super) fn is_quick(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= QUICK_ANSWERS
    }

    /// The same future, whose first step is noted as quick or not.
    pub(super) fn watch(
        &self,
        mut answering: Answering,
    ) -> impl Future<Output = Result<Payload, Fault>> + Send + Unpin + 'static {
        let mut watching = Some(self.clone());
        std::future::poll_fn(move |context| {
            let Some(quickness) = watching.take() else {
                return answering.as_mut().poll(context);
            };
            let begun = Instant::now();
            let polled = answering.as_mut().poll(context);
            match polled.is_ready() && begun.elapsed() < QUICK {
                true => quickness.0.fetch_add(1, Ordering::Relaxed),
                false => quickness.0.swap(0, Ordering::Relaxed),
            };
            polled
        })
    }
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
            quickness: Quickness::default(),
        }
    }

    /// The length of the operation's last answer in bytes.
    pub(super) fn last_length(&self) -> usize {
        self.last_length.load(Ordering::Relaxed)
    }

    pub(super) fn quickness(&self) -> &Quickness {
        &self.quickness
    }

    /// Stores the length of an answer in bytes.
    pub(super) fn answered(&self, length: usize) {
        self.last_length.store(length, Ordering::Relaxed);
    }

    pub(super) fn call(&self, message: Message) -> Answering {
        (self.handler)(message)
    }
}
