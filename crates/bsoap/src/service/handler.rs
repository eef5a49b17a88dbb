//! The arguments and results of handlers.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bsoap_codec::{Attachment, Object, Pack, Record, Unpack, Value};
use bsoap_http::{Extensions, HeaderMap, Request};
use bsoap_protocol::addressing::MessageAddressing;
use bsoap_protocol::header::BlockAttributes;
use bsoap_protocol::package;
use bsoap_protocol::{Fault, HeaderBlock, ReceivedRequest, Target};
use bsoap_schema::Definitions;

use serde::de::DeserializeOwned;

use crate::blocks::{self, BlockError, Schemas};
use crate::decoders::Decoders;
use crate::error::report;
use crate::typed::{Blocks, Headers};
use crate::{Changes, Streamed, Warning};

/// A decoded request that is passed to a handler.
///
/// ```
/// use bsoap::{Fault, Message, Service, Value};
///
/// async fn sum(message: Message) -> Result<Value, Fault> {
///     assert_eq!(message.operation(), "sumDoubles");
///     println!("from {}, {:?}", message.peer(), message.headers().get("user-agent"));
///     let arguments = message.value();
///     let numbers = arguments["values"]["item"].as_doubles().unwrap_or_default();
///     Ok(Value::object([("sum", Value::from(numbers.iter().sum::<f64>()))]))
/// }
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone)]
pub struct Message {
    received: ReceivedRequest,
    changes: Changes,
    headers: HeaderMap,
    extensions: Extensions,
    peer: SocketAddr,
    definitions: Arc<Definitions>,
    decoders: Arc<Decoders>,
    extras: SharedExtras,
}

/// What a handler sends beside its payload.
#[derive(Debug, Default)]
pub(super) struct Extras {
    /// Header blocks, by the names of their parts.
    pub(super) headers: Object,
    pub(super) attachments: Vec<Attachment>,
}

/// The extras of an answer, to which a handler adds while it runs.
#[derive(Clone, Default)]
pub(super) struct SharedExtras(Arc<OnceLock<Mutex<Extras>>>);

impl SharedExtras {
    pub(super) fn take(&self) -> Extras {
        let extras = self
            .0
            .get()
            .map(|extras| std::mem::take(&mut *lock(extras)));
        extras.unwrap_or_default()
    }

    fn edit(&self) -> MutexGuard<'_, Extras> {
        lock(self.0.get_or_init(Mutex::default))
    }
}

/// Locks a mutex, whose value is complete at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fault for a header block that is not the value that a handler wants.
fn block_fault(error: BlockError) -> Fault {
    match error {
        BlockError::Invalid(..) => Fault::sender(error.to_string()),
        BlockError::Type(..) | BlockError::Unknown(_) => Fault::receiver(error.to_string()),
    }
}

impl Message {
    pub(super) fn new(
        received: ReceivedRequest,
        changes: Changes,
        request: Request,
        (definitions, decoders): (&Arc<Definitions>, &Arc<Decoders>),
    ) -> Self {
        Self {
            definitions: Arc::clone(definitions),
            decoders: Arc::clone(decoders),
            extras: SharedExtras::default(),
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

    /// The arguments as a Rust type with `serde::Deserialize`: the children of the wrapper element, or the parts by name if there
    /// is no wrapper. Fields are named as in JSON.
    ///
    /// ```
    /// use bsoap::{Fault, Message, Value};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Deserialize)]
    /// struct Sum { values: Items }
    /// #[derive(Deserialize)]
    /// struct Items { #[serde(default)] item: Vec<f64> }
    /// #[derive(Serialize)]
    /// struct Answer { sum: f64 }
    ///
    /// async fn sum(message: Message) -> Result<Value, Fault> {
    ///     let numbers: Sum = message.deserialize()?;
    ///     Ok(Value::from_serialize(&Answer { sum: numbers.values.item.iter().sum() })?)
    /// }
    /// ```
    ///
    /// # Errors
    /// A fault with [`Code::Receiver`](crate::protocol::Code::Receiver) if the message does not have what the type wants.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.received
            .deserialize()
            .map_err(|error| Fault::receiver(report(&error)))
    }

    /// The deviations from the WSDL that were accepted in the request, by the [tolerance](crate::ServiceBuilder::tolerance) of the
    /// service.
    pub fn warnings(&self) -> &[Warning] {
        self.record().warnings()
    }

    /// The header blocks as an object: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.received.headers()
    }

    /// The header blocks, each with its name and SOAP attributes. A block that is addressed to another node is neither validated
    /// nor decoded: it is among these alone, with its XML.
    pub fn blocks(&self) -> &[HeaderBlock] {
        self.received.blocks()
    }

    /// What the header blocks of WS-Addressing say. `None` if the message has none, or the service does not use WS-Addressing.
    pub fn addressing(&self) -> Option<&MessageAddressing> {
        self.received.addressing()
    }

    /// The header block of this name as a Rust value: one generated from the WSDL, or of a simple type. The name is that of a
    /// declared part, or the local or expanded name of the block (`{namespace}local`). A block that the operation does not
    /// declare is read by the schemas of the WSDL. `None` if the message has no such block.
    ///
    /// ```
    /// use bsoap::{Fault, Message, Value};
    ///
    /// async fn secured(message: Message) -> Result<Value, Fault> {
    ///     let token: Option<String> = message.header("token")?;
    ///     let token = token.ok_or_else(|| Fault::sender("the header block token is missing"))?;
    ///     message.set_answer_header("stamp", format!("seen {token}"))?;
    ///     Ok(Value::object([("value", Value::from("done"))]))
    /// }
    /// ```
    ///
    /// # Errors
    /// A fault, if the block does not match the type or the schemas, or the schemas have no element of its name.
    pub fn header<T: Unpack>(&self, name: &str) -> Result<Option<T>, Fault> {
        blocks::unpack(self.schemas(), name, self.received.header(name)).map_err(block_fault)
    }

    /// The declared header blocks as the type generated for those of the operation, such as `CookHeaders`.
    ///
    /// # Errors
    /// A fault, if the type was generated for another WSDL.
    pub fn unpack_headers<T: Headers>(&self) -> Result<T, Fault> {
        Blocks::of(self.record())
            .read()
            .map_err(|error| Fault::receiver(error.to_string()))
    }

    /// The header block of this name as a value; the name is as for [`header`](Self::header). A block that the schemas of the
    /// WSDL do not know is its XML. `None` if the message has no such block.
    ///
    /// # Errors
    /// A fault, if the block does not match the schemas.
    pub fn header_value(&self, name: &str) -> Result<Option<Value>, Fault> {
        blocks::value(self.schemas(), name, self.received.header(name)).map_err(block_fault)
    }

    fn schemas(&self) -> Schemas<'_> {
        Schemas {
            definitions: &self.definitions,
            version: self.target().version(),
            options: self.decoders.options(),
        }
    }

    /// Sets a header block of the answer by the name of its declared part or of the part's element, replacing one that was set before. The answer
    /// may contain more under `@headers`. A fault is sent without them: it has its own ([`Fault::with_header`]).
    ///
    /// # Errors
    /// A fault, if the answer declares no such block, or the value does not match its declaration.
    pub fn set_answer_header(&self, name: &str, value: impl Into<Value>) -> Result<(), Fault> {
        let value = value.into();
        let part = self.target().response_header(name, &value);
        let part = part.map_err(|error| Fault::receiver(report(&error)))?;
        // It is valid as one block, so an array is one that has a list.
        let block = match value.is_array() {
            true => Value::Array(vec![value]),
            false => value,
        };
        self.extras.edit().headers.insert(part, block);
        Ok(())
    }

    /// Sets a header block of the answer to a Rust value generated from the WSDL.
    ///
    /// # Errors
    /// As for [`set_answer_header`](Self::set_answer_header).
    pub fn set_answer_header_typed(&self, name: &str, block: &impl Pack) -> Result<(), Fault> {
        let value = self.target().packed_response_header(name, block);
        self.set_answer_header(
            name,
            value.map_err(|error| Fault::receiver(report(&error)))?,
        )
    }

    /// Addresses a declared header block of the answer, by the names of [`set_answer_header`](Self::set_answer_header), to a role,
    /// or says that it must be understood.
    ///
    /// # Errors
    /// A fault, if the answer declares no such block, it is not set, or it is nil.
    pub fn set_answer_header_attributes(
        &self,
        name: &str,
        attributes: &BlockAttributes,
    ) -> Result<(), Fault> {
        let part = self.target().response_header_part(name);
        let part = part.map_err(|error| Fault::receiver(report(&error)))?;
        let headers = &mut self.extras.edit().headers;
        blocks::set_attributes(headers, part, attributes, self.target().version())
            .map_err(|problem| Fault::receiver(format!("header block {name} {problem}")))
    }

    /// Adds a header block to the answer that the WSDL does not declare, as XML.
    ///
    /// # Errors
    /// A fault, if the XML is not one well-formed element.
    pub fn add_answer_header_xml(&self, xml: &str) -> Result<(), Fault> {
        let checked = self.target().undeclared_response_header(xml);
        checked.map_err(|error| Fault::receiver(report(&error)))?;
        let headers = &mut self.extras.edit().headers;
        match headers.get_mut("#any") {
            Some(Value::Array(blocks)) => blocks.push(xml.into()),
            _ => {
                headers.insert("#any", Value::Array(vec![xml.into()]));
            }
        }
        Ok(())
    }

    /// The attachments of the request: those that binary values refer to, and all others.
    pub fn attachments(&self) -> &[Attachment] {
        self.record().attachments()
    }

    /// The attachment with a content id, or that a `cid:` URI names: the value of an element of type `swaRef`.
    pub fn attachment(&self, id: &str) -> Option<&Attachment> {
        package::find(self.attachments(), id)
    }

    /// Sends an attachment beside the answer, that no binary value of it refers to (SOAP with Attachments). Binary values that are
    /// [attachments](Value::Attachment) need not be added.
    pub fn add_answer_attachment(&self, attachment: Attachment) {
        self.extras.edit().attachments.push(attachment);
    }

    /// Where the handler puts what it sends beside its answer.
    pub(super) fn extras(&self) -> SharedExtras {
        self.extras.clone()
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
///
/// ```
/// use bsoap::service::Payload;
/// use bsoap::{Message, Service, Value};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let service = Service::builder(wsdl)
///     .handle("sumDoubles", |message: Message| async move {
///         match message.value()["values"]["item"].as_doubles() {
///             Some(numbers) => Payload::Packed(Box::new(numbers.iter().sum::<f64>())),
///             None => Payload::Value(Value::object([("sum", Value::from(0.0))])),
///         }
///     })
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[non_exhaustive]
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
///
/// ```
/// use bsoap::service::Typed;
/// use bsoap::{Client, Message, Service, Value};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// // The answer has one element, of type xs:double.
/// let service = Service::builder(wsdl).handle("sumDoubles", |_: Message| async { Typed(4.0) });
/// let service = service.build()?.bind("127.0.0.1:0").await?;
/// let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
/// tokio::spawn(service.run(std::future::pending()));
/// # let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// assert_eq!(client.call("sumDoubles", &numbers).await?["sum"].as_f64(), Some(4.0));
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Typed<T>(pub T);

impl<T: Pack + Send + 'static> IntoReply for Typed<T> {
    fn into_reply(self) -> Result<Payload, Fault> {
        Ok(Payload::Packed(Box::new(self.0)))
    }
}

/// A type that a handler can return: a [`Value`], a [`Record`] of the response Envelope, a [`Typed`] Rust value, `()`, or a
/// `Result` of one of these and an error that converts into a [`Fault`].
///
/// ```
/// use bsoap::service::{IntoReply, Payload};
/// use bsoap::{Fault, Message, Service, Value};
///
/// /// A sum that may have overflowed.
/// struct Sum(f64);
///
/// impl IntoReply for Sum {
///     fn into_reply(self) -> Result<Payload, Fault> {
///         if self.0.is_infinite() {
///             return Err(Fault::sender("the sum is too large"));
///         }
///         Value::object([("sum", Value::from(self.0))]).into_reply()
///     }
/// }
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let service = Service::builder(wsdl).handle("sumDoubles", |_: Message| async { Sum(4.0) }).build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
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
