//! One call with options of its own, and its answer.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::{Object, Pack, Record, Unpack, Value};
use bsoap_http::HeaderMap;
use bsoap_protocol::{Contents, Reply, Request, Target};
use bytes::Bytes;

use super::Client;
use crate::{Changes, Error};

/// The running call of a [`Call`]: a future that can be moved to another thread and borrows nothing.
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
    headers: Object,
    options: CallOptions,
    endpoint: Option<String>,
    /// A description of the first invalid option.
    problem: Option<String>,
}

/// The options of one call that matter when its message is sent.
#[derive(Default)]
pub(super) struct CallOptions {
    pub(super) http_headers: HeaderMap,
    pub(super) timeout: Option<Duration>,
    pub(super) keeps_envelopes: bool,
}

/// What an exchange returned.
pub(super) struct Exchanged {
    pub(super) reply: Reply,
    pub(super) changes: Option<Changes>,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) sent: Option<Bytes>,
    pub(super) received: Option<Bytes>,
}

impl Call {
    pub(super) fn new(client: Client, operation: &str) -> Self {
        Self {
            client,
            operation: operation.to_owned(),
            headers: Object::new(),
            options: CallOptions::default(),
            endpoint: None,
            problem: None,
        }
    }

    /// Adds a SOAP header block that the operation declares, by the name of its part. It replaces the client's default of the
    /// same name.
    pub fn soap_header(mut self, part: &str, value: impl Into<Value>) -> Self {
        self.headers.insert(part, value.into());
        self
    }

    /// Adds a SOAP header block as XML: one element, with the declarations of its namespaces. The operation need not declare
    /// it.
    pub fn soap_header_xml(mut self, xml: impl Into<String>) -> Self {
        add_xml(&mut self.headers, xml.into());
        self
    }

    /// Sets an HTTP header of the request. It replaces the client's default of the same name.
    pub fn http_header(mut self, name: &str, value: &str) -> Self {
        if let Err(problem) = super::append_header(&mut self.options.http_headers, name, value) {
            self.problem.get_or_insert(problem);
        }
        self
    }

    /// Sets the time limit of this call, from sending the message to the last byte of the answer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Sends the message to another address. Nothing is saved for it: use [`Client::at`] for several calls to one address.
    pub fn endpoint(mut self, address: impl Into<String>) -> Self {
        self.endpoint = Some(address.into());
        self
    }

    /// Keeps the texts of both messages for [`Answer::sent`] and [`Answer::received`].
    pub fn keep_envelopes(mut self) -> Self {
        self.options.keeps_envelopes = true;
        self
    }

    /// Sends the call and waits for its answer. The arguments are as for [`Client::call`]. The message is made before this
    /// method returns, so the future does not borrow them.
    ///
    /// # Errors
    /// The errors of [`Client::call`]. Also if an option is not valid.
    pub fn call<'v>(self, arguments: impl Into<Contents<'v>>) -> Calling {
        let contents = arguments.into().with_more_headers(&self.headers);
        self.send(|client, operation| client.request(operation, contents))
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
        self.send(|client, operation| Ok(client.target(operation)?.request_of(envelope)))
    }

    fn send(self, make: impl FnOnce(&Client, &str) -> Result<Request, Error>) -> Calling {
        let made = self.made(make);
        Box::pin(async move {
            let (client, request, options) = made?;
            let target = request.target().clone();
            let exchanged = client.exchange_as(request, Some(&options)).await?;
            Answer::of(target, exchanged)
        })
    }

    fn made(
        self,
        make: impl FnOnce(&Client, &str) -> Result<Request, Error>,
    ) -> Result<(Client, Request, CallOptions), Error> {
        if let Some(problem) = self.problem {
            return Err(Error::Setup(problem));
        }
        let client = match &self.endpoint {
            Some(address) => self.client.once_at(address)?,
            None => self.client,
        };
        let request = make(&client, &self.operation)?;
        Ok((client, request, self.options))
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
#[derive(Clone)]
pub struct Answer {
    target: Target,
    /// `None` if the peer accepted a one-way message.
    answer: Option<bsoap_protocol::Answer>,
    changes: Option<Changes>,
    status: u16,
    headers: HeaderMap,
    sent: Option<Bytes>,
    received: Option<Bytes>,
}

impl Answer {
    fn of(target: Target, exchanged: Exchanged) -> Result<Self, Error> {
        let answer = match exchanged.reply {
            Reply::Answer(answer) => Some(answer),
            Reply::Accepted => None,
            Reply::Fault(fault) => return Err(Error::Fault(fault)),
        };
        Ok(Self {
            target,
            answer,
            changes: exchanged.changes,
            status: exchanged.status,
            headers: exchanged.headers,
            sent: exchanged.sent,
            received: exchanged.received,
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

    /// The Record of the response Envelope. `None` for a one-way message. It is never modified, so the `Arc` may be kept.
    pub fn record(&self) -> Option<&Arc<Record>> {
        let answer = self.answer.as_ref();
        answer.map(bsoap_protocol::Answer::shared_record)
    }

    /// The SOAP header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn soap_headers(&self) -> Object {
        let answer = self.answer.as_ref();
        answer.map_or_else(Object::new, bsoap_protocol::Answer::headers)
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
