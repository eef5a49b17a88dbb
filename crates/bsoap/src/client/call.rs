//! One call with options of its own, and its answer.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::{Attachment, DecodeOptions, Object, Pack, Record, Unpack, Value};
use bsoap_http::HeaderMap;
use bsoap_protocol::package;
use bsoap_protocol::{Contents, Reply, Request, Target};
use bsoap_schema::Definitions;
use bytes::Bytes;

use super::Client;
use crate::addressing::{Addressing, MessageAddressing};
use crate::blocks::{self, Schemas};
use crate::typed::{Blocks, Headers};
use crate::{Changes, Error, Warning};

/// The running call of a [`Call`]: a future that can be moved to another thread and borrows nothing.
///
/// ```
/// use bsoap::client::Calling;
/// # use bsoap::{Client, Message, Service, Value};
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// # let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// # let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
/// # let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
/// # tokio::spawn(service.run(std::future::pending()));
/// # let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
///
/// let running: Vec<Calling> = (0..3).map(|_| client.operation("sumDoubles").call(&numbers)).collect();
/// for call in running {
///     assert_eq!(call.await?.value()["sum"].as_f64(), Some(4.0));
/// }
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
pub type Calling = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send>>;

/// A call with options of its own. [`Client::operation`] starts one, [`call`](Self::call) sends it.
///
/// ```
/// use std::time::Duration;
/// # use bsoap::{Client, Message, Service, Value};
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// # let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// # let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
/// # let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
/// # tokio::spawn(service.run(std::future::pending()));
/// # let arguments = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
///
/// let answer = client
///     .operation("sumDoubles")
///     .soap_header_xml("<t:trace xmlns:t=\"urn:trace\">7</t:trace>")
///     .http_header("X-Request-Id", "7")
///     .timeout(Duration::from_secs(5))
///     .keep_envelopes()
///     .call(&arguments)
///     .await?;
/// assert_eq!(answer.value()["sum"].as_f64(), Some(4.0));
/// assert_eq!(answer.status(), 200);
/// assert!(answer.sent().is_some_and(|envelope| envelope.windows(9).any(|part| part == b"urn:trace")));
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a call does nothing until `call` or `call_record`"]
pub struct Call {
    client: Client,
    operation: String,
    options: CallOptions,
}

/// Options of calls: SOAP and HTTP headers, a time limit, another address. A generated client has them for all calls of
/// [`with`](crate::typed::TypedClient::with), or for one call; [`Client::operation`] sets the same for one dynamic call.
///
/// ```
/// use std::time::Duration;
/// use bsoap::CallOptions;
///
/// let options = CallOptions::new().http_header("X-Request-Id", "7").timeout(Duration::from_secs(5));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct CallOptions {
    headers: Object,
    /// Header blocks that are Rust values, by the name of their part.
    typed_headers: TypedHeaders,
    pub(super) http_headers: HeaderMap,
    pub(super) timeout: Option<Duration>,
    pub(super) keeps_envelopes: bool,
    pub(super) is_idempotent: bool,
    /// What is sent beside the message.
    pub(super) attachments: Vec<Attachment>,
    endpoint: Option<String>,
    /// The addressing headers. `None` for those of the client.
    pub(super) addressing: Option<Addressing>,
    /// A description of the first invalid option.
    problem: Option<String>,
}

/// Header blocks that are Rust values, by the name of their part. They are packed when the operation is known.
pub(super) type TypedHeaders = Vec<(String, Arc<dyn Pack + Send + Sync>)>;

/// The methods that set options, for types with a field or method `options` that is a [`CallOptions`].
macro_rules! call_option_methods {
    ($($options:ident)?) => {
        /// Adds a SOAP header block that the operation declares, by the name of its part. It replaces the client's default of
        /// the same name.
        pub fn soap_header(mut self, part: &str, value: impl Into<$crate::Value>) -> Self {
            self$(.$options)?.add_header(part, value.into());
            self
        }

        /// Adds a SOAP header block that the operation declares, as a Rust value generated from the WSDL, by the name of its
        /// part.
        pub fn soap_header_typed(
            mut self,
            part: &str,
            block: impl $crate::typed::Pack + Send + Sync + 'static,
        ) -> Self {
            self$(.$options)?.add_typed_header(part, ::std::sync::Arc::new(block));
            self
        }

        /// Adds a SOAP header block as XML: one element, with the declarations of its namespaces. The operation need not
        /// declare it.
        pub fn soap_header_xml(mut self, xml: impl Into<String>) -> Self {
            self$(.$options)?.add_header_xml(xml.into());
            self
        }

        /// Sets an HTTP header of the request. It replaces the client's default of the same name.
        pub fn http_header(mut self, name: &str, value: &str) -> Self {
            self$(.$options)?.add_http_header(name, value);
            self
        }

        /// Sets the time limit of a call, from sending the message to the last byte of the answer.
        pub fn timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self$(.$options)?.set_timeout(timeout);
            self
        }

        /// Sends the message to another address. Nothing is saved for it: use [`Client::at`](crate::Client::at) for several
        /// calls to one address.
        pub fn endpoint(mut self, address: impl Into<String>) -> Self {
            self$(.$options)?.set_endpoint(address.into());
            self
        }

        /// Says that the operation may run twice, so that [retries](crate::transport) may repeat the call although the peer may
        /// have received it.
        pub fn idempotent(mut self) -> Self {
            self$(.$options)?.set_idempotent();
            self
        }

        /// Sends an attachment beside the message, that no binary value of it refers to (SOAP with Attachments). It may be named by an
        /// element of type `swaRef`: give that the value `cid:` and the content id.
        pub fn attach(mut self, attachment: $crate::attachments::Attachment) -> Self {
            self$(.$options)?.add_attachment(attachment);
            self
        }

        /// Sends addressing headers with these options, instead of those of the client.
        pub fn addressing(mut self, addressing: $crate::addressing::Addressing) -> Self {
            self$(.$options)?.set_addressing(addressing);
            self
        }

        /// Keeps the texts of both messages for [`Answer::sent`](crate::Answer::sent) and
        /// [`Answer::received`](crate::Answer::received).
        pub fn keep_envelopes(mut self) -> Self {
            self$(.$options)?.set_keeps_envelopes();
            self
        }
    };
}
pub(crate) use call_option_methods;

impl CallOptions {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    call_option_methods!();

    pub(crate) fn add_header(&mut self, part: &str, value: Value) {
        self.typed_headers.retain(|(known, _)| known != part);
        self.headers.insert(part, value);
    }

    pub(crate) fn add_typed_header(&mut self, part: &str, block: Arc<dyn Pack + Send + Sync>) {
        self.typed_headers.retain(|(known, _)| known != part);
        self.headers.remove(part);
        self.typed_headers.push((part.to_owned(), block));
    }

    pub(crate) fn add_header_xml(&mut self, xml: String) {
        add_xml(&mut self.headers, xml);
    }

    pub(crate) fn add_http_header(&mut self, name: &str, value: &str) {
        if let Err(problem) = super::append_header(&mut self.http_headers, name, value) {
            self.problem.get_or_insert(problem);
        }
    }

    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    pub(crate) fn set_endpoint(&mut self, address: String) {
        self.endpoint = Some(address);
    }

    pub(crate) fn set_idempotent(&mut self) {
        self.is_idempotent = true;
    }

    pub(crate) fn add_attachment(&mut self, attachment: Attachment) {
        self.attachments.push(attachment);
    }

    pub(crate) fn set_addressing(&mut self, addressing: Addressing) {
        self.addressing = Some(addressing);
    }

    pub(crate) fn set_keeps_envelopes(&mut self) {
        self.keeps_envelopes = true;
    }

    /// The client that sends the message: another one if the options have an address.
    pub(crate) fn client(&self, client: Client) -> Result<Client, Error> {
        match (&self.problem, &self.endpoint) {
            (Some(problem), _) => Err(Error::Setup(problem.clone())),
            (None, Some(address)) => client.once_at(address),
            (None, None) => Ok(client),
        }
    }

    /// The header blocks for an operation, by the names of their parts.
    pub(crate) fn headers(&self, target: &Target) -> Result<Object, Error> {
        let mut headers = self.headers.clone();
        pack_headers(&mut headers, &self.typed_headers, target)?;
        Ok(headers)
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Adds header blocks that are Rust values to others.
pub(super) fn pack_headers(
    headers: &mut Object,
    typed: &[(String, Arc<dyn Pack + Send + Sync>)],
    target: &Target,
) -> Result<(), Error> {
    for (part, block) in typed {
        let (part, value) = target.packed_request_header(part, &**block)?;
        headers.insert(part, value);
    }
    Ok(())
}

/// What an exchange returned.
pub(super) struct Exchanged {
    pub(super) reply: Reply,
    pub(super) changes: Option<Changes>,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) sent: Option<Bytes>,
    pub(super) received: Option<Bytes>,
    pub(super) message_id: Option<String>,
}

impl Call {
    pub(super) fn new(client: Client, operation: &str) -> Self {
        Self {
            client,
            operation: operation.to_owned(),
            options: CallOptions::new(),
        }
    }

    call_option_methods!(options);

    /// Sends the call and waits for its answer. The arguments are as for [`Client::call`]. The message is made before this
    /// method returns, so the future does not borrow them.
    ///
    /// # Errors
    /// The errors of [`Client::call`]. Also if an option is not valid.
    pub fn call<'v>(self, arguments: impl Into<Contents<'v>>) -> Calling {
        let contents = arguments.into();
        self.send(|client, operation, options| {
            let headers = options.headers(&client.target(operation)?)?;
            client.request(operation, contents.with_more_headers(&headers))
        })
    }

    /// Sends the call with a Rust value as its arguments, as [`Client::call_typed`] does. [`Answer::unpack`] returns the result
    /// as a Rust value.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub fn call_packed(self, arguments: &dyn Pack) -> Calling {
        self.call(Contents::packed(arguments))
    }

    /// Sends the Record of a request Envelope. It contains its header blocks itself: those of the call are not added.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub fn call_record(self, envelope: Record) -> Calling {
        self.send(|client, operation, _| Ok(client.target(operation)?.request_of(envelope)))
    }

    fn send(
        self,
        make: impl FnOnce(&Client, &str, &CallOptions) -> Result<Request, Error>,
    ) -> Calling {
        let Self {
            client,
            operation,
            options,
        } = self;
        let made = options.client(client).and_then(|client| {
            let request = make(&client, &operation, &options)?;
            Ok((client, request))
        });
        Box::pin(async move {
            let (client, request) = made?;
            client.answer(request, &options).await
        })
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation)
            .field("timeout", &self.options.timeout)
            .finish_non_exhaustive()
    }
}

/// Adds a header block as XML to header blocks.
pub(super) fn add_xml(headers: &mut Object, xml: String) {
    match headers.get_mut("#any") {
        Some(Value::Array(blocks)) => blocks.push(xml.into()),
        _ => {
            headers.insert("#any", Value::Array(vec![xml.into()]));
        }
    }
}

/// The answer to a [`Call`], with what came with it.
///
/// ```
/// # use bsoap::{Client, Message, Service, Value};
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// # let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// # let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
/// # let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
/// # tokio::spawn(service.run(std::future::pending()));
/// # let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// let answer = client.operation("sumDoubles").call(&numbers).await?;
/// assert_eq!(answer.value()["sum"].as_f64(), Some(4.0));
/// assert_eq!(answer.status(), 200);
/// assert!(answer.http_headers().contains_key("content-type"));
/// assert!(answer.soap_headers().is_empty());
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Answer {
    definitions: Arc<Definitions>,
    decoding: DecodeOptions,
    target: Target,
    /// `None` if the peer accepted a one-way message.
    answer: Option<bsoap_protocol::Answer>,
    changes: Option<Changes>,
    status: u16,
    headers: HeaderMap,
    sent: Option<Bytes>,
    received: Option<Bytes>,
    message_id: Option<String>,
}

impl Answer {
    pub(super) fn of(
        definitions: &Arc<Definitions>,
        decoding: DecodeOptions,
        target: Target,
        exchanged: Exchanged,
    ) -> Result<Self, Error> {
        let answer = match exchanged.reply {
            Reply::Answer(answer) => Some(answer),
            Reply::Accepted => None,
            Reply::Fault(fault) => return Err(Error::Fault(fault)),
        };
        Ok(Self {
            definitions: Arc::clone(definitions),
            decoding,
            target,
            answer,
            changes: exchanged.changes,
            status: exchanged.status,
            headers: exchanged.headers,
            sent: exchanged.sent,
            received: exchanged.received,
            message_id: exchanged.message_id,
        })
    }

    /// The result, as [`Client::call`] returns it. Nil for a one-way message.
    pub fn value(&self) -> Value {
        let answer = self.answer.as_ref();
        answer.map_or(Value::Nil, bsoap_protocol::Answer::value)
    }

    /// The result as a Rust value: the contents of the wrapper element, or of the only part if there is no wrapper.
    ///
    /// # Errors
    /// If the type was generated for another WSDL, or the message was one-way.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Error> {
        match &self.answer {
            Some(answer) => Ok(answer.unpack()?),
            None => Err(self.target.one_way().into()),
        }
    }

    /// The attachments that came with the answer: those that binary values refer to, and all others.
    pub fn attachments(&self) -> &[Attachment] {
        self.answer
            .as_ref()
            .map_or(&[], |answer| answer.record().attachments())
    }

    /// The attachment with a content id, or that a `cid:` URI names.
    pub fn attachment(&self, id: &str) -> Option<&Attachment> {
        package::find(self.attachments(), id)
    }

    /// The Record of the response Envelope. `None` for a one-way message. It is never modified, so the `Arc` may be kept.
    pub fn record(&self) -> Option<&Arc<Record>> {
        let answer = self.answer.as_ref();
        answer.map(bsoap_protocol::Answer::shared_record)
    }

    /// The deviations from the WSDL that were accepted in the answer, by the [tolerance](crate::ClientBuilder::tolerance) of the
    /// client.
    pub fn warnings(&self) -> &[Warning] {
        self.record().map_or(&[], |record| record.warnings())
    }

    /// The SOAP header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn soap_headers(&self) -> Object {
        let answer = self.answer.as_ref();
        answer.map_or_else(Object::new, bsoap_protocol::Answer::headers)
    }

    /// The SOAP header block of this name as a Rust value: one generated from the WSDL, or of a simple type. The name is that of a
    /// declared part, or the local or expanded name of the block (`{namespace}local`). A block that the operation does not declare
    /// is read by the schemas of the WSDL. `None` if the answer has no such block.
    ///
    /// ```no_run
    /// # async fn example(client: bsoap::Client) -> Result<(), bsoap::Error> {
    /// let answer = client.operation("secured").call(&bsoap::Value::Nil).await?;
    /// let stamp: Option<String> = answer.header("stamp")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the block does not match the type or the schemas, or the schemas have no element of its name.
    pub fn header<T: Unpack>(&self, name: &str) -> Result<Option<T>, Error> {
        let block = self.answer.as_ref().and_then(|answer| answer.header(name));
        let unpacked = blocks::unpack(self.schemas(), name, block);
        unpacked.map_err(|error| Error::Type(Box::new(error)))
    }

    /// The SOAP header block of this name as a value; the name is as for [`header`](Self::header). A block that the schemas of
    /// the WSDL do not know is its XML. `None` if the answer has no such block.
    ///
    /// # Errors
    /// If the block does not match the schemas.
    pub fn header_value(&self, name: &str) -> Result<Option<Value>, Error> {
        let block = self.answer.as_ref().and_then(|answer| answer.header(name));
        let value = blocks::value(self.schemas(), name, block);
        value.map_err(|error| Error::Type(Box::new(error)))
    }

    fn schemas(&self) -> Schemas<'_> {
        Schemas {
            definitions: &self.definitions,
            version: self.target.version(),
            options: self.decoding,
        }
    }

    /// The declared SOAP header blocks as the type generated for those of the operation's answer, such as `CookAnswerHeaders`.
    ///
    /// # Errors
    /// If the type was generated for another WSDL, or the message was one-way.
    pub fn unpack_headers<T: Headers>(&self) -> Result<T, Error> {
        let Some(record) = self.record() else {
            return Err(self.target.one_way().into());
        };
        let read = Blocks::of(record).read();
        read.map_err(|error| Error::Type(Box::new(error)))
    }

    /// What the addressing headers of the answer say. `None` if it has none, or the call sent none.
    pub fn addressing(&self) -> Option<&MessageAddressing> {
        let answer = self.answer.as_ref()?;
        answer.addressing()
    }

    /// The `MessageID` of the request. `None` if the call sent no addressing headers. If the answer goes to another endpoint, its
    /// `RelatesTo` is this.
    pub fn message_id(&self) -> Option<&str> {
        self.message_id.as_deref()
    }

    /// The changes since the last similar answer. `None` for a one-way message.
    pub fn changes(&self) -> Option<&Changes> {
        self.changes.as_ref()
    }

    /// The operation that was called.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The HTTP headers.
    pub fn http_headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The text of the request, if the call [keeps](Call::keep_envelopes) it.
    pub fn sent(&self) -> Option<&Bytes> {
        self.sent.as_ref()
    }

    /// The text of the answer as it arrived, if the call [keeps](Call::keep_envelopes) it.
    pub fn received(&self) -> Option<&Bytes> {
        self.received.as_ref()
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("operation", &self.target.operation().name)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}
