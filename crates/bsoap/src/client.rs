//! The client: sends messages to a port of a service.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bsoap_codec::decode::Validation;
use bsoap_codec::encode::EncodeOptions;
use bsoap_codec::plan::Plan;
use bsoap_codec::{Attachment, Object, Pack, Record, Unpack, Value};
use bsoap_differential::send::{StreamKey, Template};
use bsoap_http::header::{self, HeaderMap, HeaderName, HeaderValue};
use bsoap_http::{Address, Body, BodyRefusal};
use bsoap_protocol::{
    AwaitingReply, Contents, HeaderLimits, IncomingReply, OpenedReply, Reply, Request,
    RequestHeaders, SentAddressing, SoapVersion, Target,
};
use bsoap_schema::{Definitions, Operation, Port};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::addressing::Addressing;
use crate::attachments::{Attachments, Prepared, Received, refusal};
use crate::decoders::Decoders;
use crate::hooks::Hooks;
use crate::offload::{convert, weight_of_record};
use crate::scope::{Keeping, PeerScope};
#[cfg(feature = "wsse")]
use crate::security::{self, UsernameToken};
use crate::transport::{Carrier, Delivered, Outbound};
use crate::tuning::{Budget, Hints, Meter, Receiving, Sending};
use crate::{Changes, Error, Streamed, Wsdl, hints, insertion, receiving, sending};

use crate::tuning::{HintCounts, ReceiveCounts, SendCounts, SendPolicy};
use call::Exchanged;
use tracing::{Instrument, Span};

mod builder;
mod call;
mod draft;
mod refusal;
mod spans;

pub use builder::ClientBuilder;
pub(crate) use call::call_option_methods;
pub use call::{Answer, Call, CallOptions, Calling};
pub use draft::{Draft, DraftPath, DraftPlace, Relay};

/// A client of one port of a service. Cloning shares its connections.
///
/// ```no_run
/// use bsoap::{Client, Value};
///
/// # async fn example() -> Result<(), bsoap::Error> {
/// let client = Client::from_wsdl("examples/mesh/mesh.wsdl")?;
/// let arguments = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// let answer = client.call("sumDoubles", &arguments).await?;
/// assert_eq!(answer["sum"].as_f64(), Some(4.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    definitions: Arc<Definitions>,
    service: String,
    port: Port,
    address: Address,
    transport: Carrier,
    /// The time limit of calls.
    timeout: Duration,
    hooks: Hooks,
    /// The SOAP header blocks of every request.
    headers: Object,
    /// The addressing headers. `None` if messages have none.
    addressing: Option<Addressing>,
    #[cfg(feature = "wsse")]
    token: Option<UsernameToken>,
    /// Saved answers of the endpoint.
    scope: PeerScope,
    /// Saved templates of requests. Clients made with [`at`](Client::at) share them.
    templates: PeerScope,
    decoders: Arc<Decoders>,
    budget: Budget,
    /// The template policy of drafts.
    policy: SendPolicy,
    /// Whether and how answers are saved.
    receiving: Receiving,
    /// How large the Header of an answer may be.
    header_limits: HeaderLimits,
    /// How attachments are sent and received.
    attachments: Attachments,
    /// Whether hints are used and sent.
    hints: Hints,
    /// True if the peer has announced that it uses hints.
    follows_hints: AtomicBool,
    /// The number of this endpoint among the clients that share the templates.
    endpoint: u32,
    /// The number of endpoints that share the templates.
    endpoints: Arc<AtomicU32>,
    meter: Meter,
}

/// Shows the endpoint without the credentials that its address may contain.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("service", &self.service())
            .field("port", &self.port().name)
            .field("endpoint", &self.endpoint())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the WSDL's first port that has an address. `wsdl` is a path, a URL or the text of the WSDL.
    ///
    /// # Errors
    /// If the WSDL cannot be loaded, or has no port with an address.
    pub fn from_wsdl(wsdl: impl Into<Wsdl>) -> Result<Self, Error> {
        Self::builder(wsdl).build()
    }

    /// A builder for a client of this WSDL: a path, a URL or the text of the WSDL.
    pub fn builder(wsdl: impl Into<Wsdl>) -> ClientBuilder {
        ClientBuilder::new(wsdl.into())
    }

    /// A client of the same port at another address. It shares connections, counts and the templates of messages with this
    /// one.
    ///
    /// # Errors
    /// If `address` is not an `http` or `https` URL.
    pub fn at(&self, address: &str) -> Result<Self, Error> {
        let inner = &*self.inner;
        let endpoint = inner.endpoints.fetch_add(1, Ordering::Relaxed);
        self.with_address(
            address.parse()?,
            inner.templates.clone(),
            endpoint,
            Keeping {
                sending: Sending::off(),
                receiving: inner.receiving,
                hints: inner.hints,
            },
        )
    }

    /// A client of the same port at another address that saves nothing.
    fn once_at(&self, address: &str) -> Result<Self, Error> {
        let inner = &*self.inner;
        let keeping = Keeping {
            sending: Sending::off(),
            receiving: Receiving::off(),
            hints: Hints::default(),
        };
        let templates = PeerScope::new(&inner.decoders, &inner.budget, keeping);
        self.with_address(address.parse()?, templates, 0, keeping)
    }

    fn with_address(
        &self,
        address: Address,
        templates: PeerScope,
        endpoint: u32,
        keeping: Keeping,
    ) -> Result<Self, Error> {
        let inner = &*self.inner;
        let inner = Inner {
            address,
            // Answers are saved for each endpoint: no endpoint can find out, by measuring time, what another one answered.
            scope: PeerScope::new(&inner.decoders, &inner.budget, keeping),
            templates,
            endpoint,
            endpoints: Arc::clone(&inner.endpoints),
            definitions: Arc::clone(&inner.definitions),
            service: inner.service.clone(),
            port: inner.port.clone(),
            transport: inner.transport.clone(),
            timeout: inner.timeout,
            hooks: inner.hooks.clone(),
            headers: inner.headers.clone(),
            addressing: inner.addressing.clone(),
            #[cfg(feature = "wsse")]
            token: inner.token.clone(),
            decoders: Arc::clone(&inner.decoders),
            budget: inner.budget.clone(),
            policy: inner.policy,
            receiving: keeping.receiving,
            header_limits: inner.header_limits,
            attachments: inner.attachments.clone(),
            hints: keeping.hints,
            follows_hints: AtomicBool::new(false),
            meter: inner.meter.clone(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Calls an operation and returns its result. Arguments and result are objects with the children of the wrapper element,
    /// or with the parts by name if there is no wrapper. Header blocks are under `@headers`. The result of a one-way
    /// operation is nil.
    ///
    /// # Errors
    /// [`Error::Fault`] if the peer answers with a fault, others if there is no usable answer.
    pub async fn call(&self, operation: &str, arguments: &Value) -> Result<Value, Error> {
        let reply = self.exchange(self.request(operation, arguments)?).await?;
        let weight = match &reply {
            Reply::Answer(answer) => weight_of_record(answer.record()),
            _ => 0,
        };
        let value = convert(weight, || reply.into_value()).await;
        value.map_err(Error::Fault)
    }

    /// Calls an operation with Rust values: types generated from the WSDL, or others that implement [`Pack`] and [`Unpack`].
    /// `arguments` and `R` are the contents of the wrapper element, or of the only part if there is no wrapper.
    ///
    /// The arguments are written to a message at once, so the returned future does not borrow them. It can be moved to
    /// another thread.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). Also if a type was generated for another WSDL.
    pub fn call_typed<R: Unpack>(
        &self,
        operation: &str,
        arguments: &dyn Pack,
    ) -> impl Future<Output = Result<R, Error>> + Send + use<'_, R> {
        let request = self.request(operation, Contents::packed(arguments));
        async move {
            let request = request?;
            let target = request.target().clone();
            match self.exchange(request).await? {
                Reply::Answer(answer) => Ok(answer.unpack()?),
                // The message was sent and may have run.
                Reply::Accepted => Err(target.one_way().into()),
                Reply::Fault(fault) => Err(Error::Fault(fault)),
            }
        }
    }

    /// Sends a one-way message whose arguments are a Rust value.
    ///
    /// # Errors
    /// The errors of [`call_typed`](Self::call_typed).
    pub fn notify_typed(
        &self,
        operation: &str,
        arguments: &dyn Pack,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<'_> {
        let request = self.request(operation, Contents::packed(arguments));
        async move {
            match self.exchange(request?).await? {
                Reply::Answer(_) | Reply::Accepted => Ok(()),
                Reply::Fault(fault) => Err(Error::Fault(fault)),
            }
        }
    }

    /// Calls an operation with types of the program: the arguments implement `serde::Serialize`, the result implements
    /// `serde::Deserialize`. Fields are named as in JSON: `@name` is an attribute, `#text` is the value of an element with
    /// attributes, a sequence is a repeated element.
    ///
    /// ```no_run
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize)]
    /// struct Sum { values: Items }
    /// #[derive(Serialize)]
    /// struct Items { item: Vec<f64> }
    /// #[derive(Deserialize)]
    /// struct Answer { sum: f64 }
    ///
    /// # async fn example(client: bsoap::Client) -> Result<(), bsoap::Error> {
    /// let arguments = Sum { values: Items { item: vec![1.5, 2.5] } };
    /// let answer: Answer = client.call_serde("sumDoubles", &arguments).await?;
    /// assert_eq!(answer.sum, 4.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). Also if the result does not have what `R` wants; the error names the path.
    pub fn call_serde<R: DeserializeOwned, A: Serialize + ?Sized>(
        &self,
        operation: &str,
        arguments: &A,
    ) -> impl Future<Output = Result<R, Error>> + Send + use<'_, R, A> {
        let request = Value::from_serialize(arguments)
            .map_err(Error::from)
            .and_then(|arguments| self.request(operation, arguments));
        async move {
            match self.exchange(request?).await? {
                Reply::Answer(answer) => Ok(answer.deserialize()?),
                Reply::Accepted => Ok(Value::Nil.deserialize_as::<R>()?),
                Reply::Fault(fault) => Err(Error::Fault(fault)),
            }
        }
    }

    /// Creates the request that [`call`](Self::call) would send.
    ///
    /// # Errors
    /// If the WSDL has no such operation, or the arguments do not match it.
    pub fn request<'c>(
        &self,
        operation: &str,
        contents: impl Into<Contents<'c>>,
    ) -> Result<Request, Error> {
        let target = self.target(operation)?;
        let contents = contents.into().with_more_headers(&self.inner.headers);
        Ok(self.inner.meter.converting(|| target.request(contents))?)
    }

    /// Starts a call with options of its own: SOAP and HTTP headers, a time limit, another address. Its [`Answer`] has the
    /// headers, the status and the changes.
    pub fn operation(&self, name: &str) -> Call {
        Call::new(self.clone(), name)
    }

    /// Sends a request and waits for the reply. A fault is a reply, not an error. A reply has the [`Record`] of the
    /// response.
    ///
    /// # Errors
    /// If the request cannot be encoded or sent, if it was made for another WSDL or port, or if the reply cannot be used.
    pub async fn exchange(&self, request: Request) -> Result<Reply, Error> {
        Ok(self.exchange_as(request, None).await?.reply)
    }

    /// Sends a request and waits for the answer.
    pub(crate) async fn answer(
        &self,
        request: Request,
        options: &CallOptions,
    ) -> Result<Answer, Error> {
        let target = request.target().clone();
        let exchanged = self.exchange_as(request, Some(options)).await?;
        let decoding = self.inner.decoders.options();
        Answer::of(&self.inner.definitions, decoding, target, exchanged)
    }

    /// The SOAP header blocks of every request, by the names of their parts.
    pub(crate) fn default_headers(&self) -> &Object {
        &self.inner.headers
    }

    async fn exchange_as(
        &self,
        mut request: Request,
        options: Option<&CallOptions>,
    ) -> Result<Exchanged, Error> {
        self.check_target(request.target())?;
        self.check_record(request.record())?;
        if self.inner.hooks.change_records() {
            let target = request.target().clone();
            let mut record = request.into_record();
            self.inner.hooks.before_encode(&target, &mut record)?;
            self.check_record(&record)?;
            request = target.request_of(record);
        }
        let (weight, stream) = (weight_of_record(request.record()), self.stream(&request));
        let (mut record, headers, awaiting) = request.start();
        let client = self.clone();
        let more = options.map(|options| options.attachments.clone());
        let is_addressed = options.is_some_and(|options| options.addressing.is_some());
        let encode = move || {
            let Inner {
                templates,
                meter,
                attachments,
                ..
            } = &*client.inner;
            let mut attached = attachments.detach(&mut record, attachments.packing(false));
            attached.extend(more.unwrap_or_default());
            // A hint has locations in the text, which references to attachments and later header blocks move.
            let has_hint = !is_addressed && client.gives_hints() && attached.is_empty();
            let written =
                meter.converting(|| sending::write(templates, stream, meter, record, has_hint));
            written.map(|body| (body, attached))
        };
        let encoded = convert(weight, encode).await;
        let (body, attachments) = encoded.map_err(|error| awaiting.target().unwritable(error))?;
        let outgoing = Outgoing {
            headers,
            body,
            attachments,
        };
        self.deliver(outgoing, awaiting, options).await
    }

    /// Calls an operation with an array that is encoded while it is sent: the memory used does not grow with the array. The
    /// other arguments are as for [`call`](Self::call).
    ///
    /// ```no_run
    /// use bsoap::{Streamed, Value};
    ///
    /// # async fn example(client: bsoap::Client) -> Result<(), bsoap::Error> {
    /// let readings = (0..10_000_000).map(|number: i32| f64::from(number) / 7.0);
    /// let arguments = Value::object([("values", Value::object([("item", Value::Array(vec![]))]))]);
    /// let answer = client.call_streamed("sumDoubles", &arguments, Streamed::new("values.item", readings)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). Also if the rows do not have the type of the array's elements.
    pub async fn call_streamed(
        &self,
        operation: &str,
        arguments: &Value,
        rows: Streamed,
    ) -> Result<Value, Error> {
        // The text has no place yet where a block could be inserted later.
        let target = self.target(operation)?;
        let addressed = self.addressed(&target, None)?;
        let mut blocks = self.security()?;
        if let Some(addressed) = &addressed {
            for block in &addressed.blocks {
                call::add_xml(&mut blocks, block.clone());
            }
        }
        let contents = Contents::from(arguments).with_more_headers(&blocks);
        let request = self.request(operation, contents)?;
        if !request.record().attachments().is_empty() {
            return Err(Error::Setup(
                "a message with an array that is streamed cannot have attachments: give the binary values as octets".into(),
            ));
        }
        let checked = request.record().check_with(self.inner.scope.validation());
        checked.map_err(|error| request.target().unwritable(error))?;
        let body = rows.body(request.record())?;
        let (_, headers, mut awaiting) = request.start();
        if let Some(addressed) = addressed {
            awaiting = awaiting.with_addressing(addressed.sent);
        }
        let outgoing = Outgoing::alone(headers, body);
        let exchanged = self.deliver(outgoing, awaiting, None).await?;
        exchanged.reply.into_value().map_err(Error::Fault)
    }

    /// Creates a request to be sent several times, with changes in between. `arguments` are as for [`call`](Self::call).
    ///
    /// # Errors
    /// If the WSDL has no such operation, or the arguments do not match it or cannot be represented in XML.
    pub fn draft<'c>(
        &self,
        operation: &str,
        contents: impl Into<Contents<'c>>,
    ) -> Result<Draft, Error> {
        let request = self.request(operation, contents)?;
        let target = request.target().clone();
        let checked = request.record().check();
        checked.map_err(|error| target.unwritable(error))?;
        let (policy, options) = (self.inner.policy, EncodeOptions::default());
        let start = Instant::now();
        let mut record = request.into_record();
        let attachments = &self.inner.attachments;
        let attached = attachments.detach(&mut record, attachments.packing(false));
        let make = || Template::first(policy, options, record);
        let template = self.inner.meter.converting(make);
        let taken = start.elapsed();
        let template = template.map_err(|error| Error::Type(error.into()))?;
        Ok(Draft::new(target, template, attached, taken))
    }

    /// Sends a draft and returns the result as [`call`](Self::call) does. Only the values set since the last time are
    /// encoded.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call). If the draft cannot be encoded, it can no longer be used.
    pub async fn send(&self, draft: &mut Draft) -> Result<Value, Error> {
        self.check_target(&draft.target)?;
        if self.inner.scope.validation() == Validation::Full {
            // What was set has been checked, but not for all facets.
            let checked = draft.record()?.check_with(Validation::Full);
            checked.map_err(|error| draft.target.unwritable(error))?;
        }
        let meter = &self.inner.meter;
        let counts = meter.converting(|| draft.write())?;
        meter.writes(&counts, &HintCounts::default());
        let body = Body::from_chunks(draft.template.outgoing().chunks);
        let (headers, awaiting) = draft.target.start();
        let outgoing = Outgoing {
            headers,
            body,
            attachments: draft.attachments.clone(),
        };
        let exchanged = self.deliver(outgoing, awaiting, None).await?;
        exchanged.reply.into_value().map_err(Error::Fault)
    }

    /// Sends an encoded request and decodes the reply with the saved answers, in a span.
    async fn deliver(
        &self,
        outgoing: Outgoing,
        awaiting: AwaitingReply,
        options: Option<&CallOptions>,
    ) -> Result<Exchanged, Error> {
        let span = spans::call(awaiting.target(), &self.inner.address);
        let awaiting = awaiting.with_header_limits(self.inner.header_limits);
        let delivered = self
            .deliver_in(&span, outgoing, awaiting, options)
            .instrument(span.clone())
            .await;
        spans::ended(&span, &delivered, |exchanged| &exchanged.reply);
        delivered
    }

    async fn deliver_in(
        &self,
        span: &Span,
        outgoing: Outgoing,
        awaiting: AwaitingReply,
        options: Option<&CallOptions>,
    ) -> Result<Exchanged, Error> {
        let Inner {
            transport,
            address,
            timeout,
            hooks,
            hints,
            follows_hints,
            meter,
            scope,
            attachments,
            decoders,
            ..
        } = &*self.inner;
        let Outgoing {
            headers,
            body,
            attachments: attached,
        } = outgoing;
        let mut headers = http_headers(headers)?;
        hints.offer(&mut headers);
        if let Some(options) = options {
            set_all(&mut headers, &options.http_headers);
        }
        let (body, awaiting, message_id) = self.with_addressing(body, awaiting, options)?;
        let body = self.secured(body)?;
        let prepared = Prepared::new(body, &attached, attachments.packing(false));
        let mut prepared = prepared.map_err(|error| Error::Setup(error.to_string()))?;
        let body = std::mem::take(&mut prepared.body);
        prepared.body = hooks.before_send(awaiting.target(), &mut headers, body)?;
        let body = &prepared.body;
        let keeps = options.is_some_and(|options| options.keeps_envelopes);
        let sent = (keeps && body.is_whole()).then(|| body.clone().into_bytes());
        let body = prepared.frame(&mut headers);
        meter.sends(body.len());
        let message = Outbound {
            target: awaiting.target(),
            is_idempotent: options.is_some_and(|options| options.is_idempotent),
            address,
            headers,
            body,
            limit: options
                .and_then(|options| options.timeout)
                .unwrap_or(*timeout),
            attachments,
        };
        let Delivered {
            mut fetched,
            attempts,
        } = transport.post(message).await?;
        let status = fetched.status.as_u16();
        spans::answered(span, status, attempts);
        if hints.is_on() {
            follows_hints.store(hints::are_wanted(&fetched.headers), Ordering::Relaxed);
        }
        meter.receives(fetched.body.len());
        let broken = |refusal: BodyRefusal| {
            bsoap_http::Error::new(bsoap_http::ErrorKind::Body, address.as_str()).because(refusal)
        };
        let content_type = fetched.content_type().map(str::to_owned);
        let extensions = &mut fetched.extensions;
        let package = Received::of(
            extensions,
            content_type.as_deref(),
            &fetched.body,
            attachments,
        );
        let mut package = package.map_err(broken)?;
        if let Some(package) = &package {
            fetched.body = package.root().clone();
        }
        let received = keeps.then(|| fetched.body.clone());
        let target = Some(awaiting.target());
        fetched.body = hooks.after_receive(target, Some(status), &fetched.headers, fetched.body)?;
        if let Some(package) = &mut package {
            let text = package.text(fetched.body, &decoders.options());
            fetched.body = text.map_err(|error| broken(refusal(error)))?;
        }
        let (length, scope, meter) = (fetched.body.len(), scope.clone(), meter.clone());
        let decode = move || {
            let of_root = package.as_ref().map(|it| it.content_type().to_owned());
            let incoming = IncomingReply {
                status,
                content_type: of_root.as_deref().or_else(|| fetched.content_type()),
                body: fetched.body.clone(),
            };
            let read = meter.converting(|| read_reply(awaiting, incoming, package, &scope, &meter));
            let read = read.map_err(|error| refusal::explained(error, &fetched.headers, attempts));
            read.map(|(reply, changes)| (reply, changes, fetched.headers))
        };
        let (reply, changes, headers) = convert(length, decode).await?;
        if let Reply::Answer(answer) = &reply {
            hooks.after_decode(answer.target(), answer.record())?;
        }
        Ok(Exchanged {
            reply,
            changes,
            status,
            headers,
            sent,
            received,
            message_id,
        })
    }

    /// Checks that a request was made for the port of this client: other messages may have another structure.
    fn check_target(&self, target: &Target) -> Result<(), Error> {
        let binding = &self.inner.port.binding;
        let is_own =
            Arc::ptr_eq(target.plan(), self.plan()) && target.binding().request == binding.request;
        if is_own {
            return Ok(());
        }
        Err(Error::Setup(format!(
            "the request for operation {} was made for another WSDL or another port: make it with this client, or load the WSDL once and share it",
            target.operation().name
        )))
    }

    /// Checks that a Record is a request Envelope of this client's port.
    fn check_record(&self, record: &Record) -> Result<(), Error> {
        let (plan, root) = (self.plan(), self.inner.port.binding.request);
        let is_own = match Arc::ptr_eq(record.plan(), plan) {
            true => record.root() == root,
            false => record.plan().fingerprint(record.root()) == plan.fingerprint(root),
        };
        if is_own {
            return Ok(());
        }
        Err(Error::Setup(
            "the Record is not a request Envelope of this client's port: it belongs to another WSDL, another port or another message".into(),
        ))
    }

    /// Reads an answer that arrived at an endpoint of the program, to which the request had asked to send it
    /// ([`Addressing::reply_to`]). [`Answer::addressing`] says which request it answers.
    ///
    /// ```no_run
    /// # fn example(client: bsoap::Client, content_type: &str, body: Vec<u8>) -> Result<(), bsoap::Error> {
    /// let answer = client.read_answer("sumDoubles", Some(content_type), body)?;
    /// let request = answer.addressing().and_then(|addressing| addressing.answered_id());
    /// println!("{request:?}: {}", answer.value()["sum"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Fault`] if it is a fault, others if it is not an answer of the operation.
    pub fn read_answer(
        &self,
        operation: &str,
        content_type: Option<&str>,
        body: impl Into<Bytes>,
    ) -> Result<Answer, Error> {
        let Inner {
            scope,
            meter,
            decoders,
            definitions,
            header_limits,
            ..
        } = &*self.inner;
        let target = self.target(operation)?;
        let (_, awaiting) = target.start();
        let awaiting = awaiting
            .with_header_limits(*header_limits)
            .with_addressing(SentAddressing::default());
        let (status, body) = (200, body.into());
        meter.receives(body.len());
        let incoming = IncomingReply {
            status,
            content_type,
            body,
        };
        let read = || read_reply(awaiting, incoming, None, scope, meter);
        let (reply, changes) = meter.converting(read)?;
        let exchanged = Exchanged {
            reply,
            changes,
            status,
            headers: HeaderMap::new(),
            sent: None,
            received: None,
            message_id: None,
        };
        Answer::of(definitions, decoders.options(), target, exchanged)
    }

    /// The addressing headers of a message that is sent now. `None` if it has none: they are not used, or the operation declares
    /// header blocks of WS-Addressing, which the program sets itself.
    fn addressed(
        &self,
        target: &Target,
        options: Option<&CallOptions>,
    ) -> Result<Option<Addressed>, Error> {
        let own = options.and_then(|options| options.addressing.as_ref());
        let of_client = self.inner.addressing.as_ref();
        let of_client = of_client.filter(|_| !target.declares_addressing());
        let Some(addressing) = own.or(of_client) else {
            return Ok(None);
        };
        let message = addressing.message(target, self.endpoint());
        let blocks = message.header_blocks(self.version(), addressing.is_mandatory());
        let blocks = blocks.map_err(|error| Error::Setup(error.to_string()))?;
        Ok(Some(Addressed {
            sent: SentAddressing::of(&message),
            blocks,
        }))
    }

    /// The message with its addressing headers, the next step, which checks those of the reply, and the `MessageID`.
    fn with_addressing(
        &self,
        body: Body,
        awaiting: AwaitingReply,
        options: Option<&CallOptions>,
    ) -> Result<(Body, AwaitingReply, Option<String>), Error> {
        let is_own = options.is_some_and(|options| options.addressing.is_some());
        let is_used = is_own || self.inner.addressing.is_some();
        // A streamed message already has its header blocks, and a program may have set those of WS-Addressing itself.
        if !is_used || !body.is_whole() || insertion::has_addressing(body.first()) {
            return Ok((body, awaiting, None));
        }
        let Some(Addressed { sent, blocks }) = self.addressed(awaiting.target(), options)? else {
            return Ok((body, awaiting, None));
        };
        let body = insertion::insert(body, self.version(), blocks.concat())?;
        let message_id = sent.message_id.clone();
        Ok((body, awaiting.with_addressing(sent), message_id))
    }

    /// The message with the security header block that the client was configured with.
    #[cfg(feature = "wsse")]
    fn secured(&self, body: Body) -> Result<Body, Error> {
        match &self.inner.token {
            Some(token) if body.is_whole() => {
                let block = security::block(self.version(), token)?;
                insertion::insert(body, self.version(), block)
            }
            _ => Ok(body),
        }
    }

    #[cfg(not(feature = "wsse"))]
    fn secured(&self, body: Body) -> Result<Body, Error> {
        Ok(body)
    }

    #[cfg(not(feature = "wsse"))]
    fn security(&self) -> Result<Object, Error> {
        Ok(Object::new())
    }

    /// The security header block as a header block of a request.
    #[cfg(feature = "wsse")]
    fn security(&self) -> Result<Object, Error> {
        let mut headers = Object::new();
        if let Some(token) = &self.inner.token {
            call::add_xml(&mut headers, security::block(self.version(), token)?);
        }
        Ok(headers)
    }

    fn gives_hints(&self) -> bool {
        let inner = &*self.inner;
        // Hints contain locations in the text, which header blocks that are inserted later move.
        if inner.addressing.is_some() {
            return false;
        }
        #[cfg(feature = "wsse")]
        if inner.token.is_some() {
            return false;
        }
        inner
            .hints
            .gives(inner.follows_hints.load(Ordering::Relaxed))
    }

    fn stream(&self, request: &Request) -> StreamKey {
        sending::stream(
            self.inner.endpoint,
            request.record().root(),
            request.target(),
        )
    }

    /// Sends the Record of a request Envelope and returns the Record of the response Envelope, or `None` for a one-way
    /// operation. The returned Record is never modified and may be kept.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub async fn call_record(
        &self,
        operation: &str,
        envelope: Record,
    ) -> Result<Option<Arc<Record>>, Error> {
        let request = self.target(operation)?.request_of(envelope);
        match self.exchange(request).await? {
            Reply::Answer(answer) => Ok(Some(Arc::clone(answer.shared_record()))),
            Reply::Accepted => Ok(None),
            Reply::Fault(fault) => Err(Error::Fault(fault)),
        }
    }

    /// The operation of this name, with the Plan of its messages.
    ///
    /// # Errors
    /// If the WSDL has no such operation.
    pub fn target(&self, operation: &str) -> Result<Target, Error> {
        Ok(Target::new(
            self.inner.definitions.plan(),
            &self.inner.port.binding,
            operation,
        )?)
    }

    /// The operations that can be called.
    pub fn operations(&self) -> &[Operation] {
        &self.inner.port.binding.operations
    }

    /// Counts of how requests were encoded with templates, and of the work that templates avoided.
    pub fn sender_stats(&self) -> SendCounts {
        self.inner.meter.sending()
    }

    /// Counts of how answers were decoded with histories, and of the work that histories avoided.
    pub fn receiver_stats(&self) -> ReceiveCounts {
        self.inner.meter.receiving()
    }

    /// Counts of the hints sent, and of how received hints were used.
    pub fn hint_stats(&self) -> HintCounts {
        self.inner.meter.hints()
    }

    /// The counts of messages and bytes so far.
    pub fn meter(&self) -> &Meter {
        &self.inner.meter
    }

    /// The loaded WSDL.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.inner.definitions
    }

    /// The Plan of all messages.
    pub fn plan(&self) -> &Arc<Plan> {
        self.inner.definitions.plan()
    }

    /// The name of the service.
    pub fn service(&self) -> &str {
        &self.inner.service
    }

    /// The port that the client calls.
    pub fn port(&self) -> &Port {
        &self.inner.port
    }

    /// The version of SOAP of the port.
    pub fn version(&self) -> SoapVersion {
        self.inner.port.binding.version
    }

    /// The address that messages are sent to.
    pub fn endpoint(&self) -> &str {
        self.inner.address.as_str()
    }
}

/// The addressing headers of a message.
struct Addressed {
    sent: SentAddressing,
    /// Each as XML.
    blocks: Vec<String>,
}

/// Replaces the headers that `more` has.
pub(crate) fn set_all(headers: &mut HeaderMap, more: &HeaderMap) {
    for name in more.keys() {
        headers.remove(name);
    }
    for (name, value) in more {
        headers.append(name, value.clone());
    }
}

/// Adds a header. The error says why it cannot be sent.
fn append_header(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    match (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(builder::is_secret(&name));
            headers.append(name, value);
            Ok(())
        }
        _ => Err(format!(
            "header {name:?} is not valid: its name or its value has characters that HTTP does not allow"
        )),
    }
}

/// The HTTP headers of a request.
fn http_headers(headers: RequestHeaders) -> Result<HeaderMap, Error> {
    let pairs = [
        (header::CONTENT_TYPE, Some(headers.content_type)),
        (
            HeaderName::from_static("soapaction"),
            headers.soap_action.map(Into::into),
        ),
    ];
    let mut headers = HeaderMap::with_capacity(4);
    for (name, value) in pairs {
        let Some(value) = value else { continue };
        let value = HeaderValue::try_from(&*value).map_err(|_| {
            Error::Setup(format!(
                "the operation's soapAction {value:?} cannot be sent: it has characters that HTTP headers do not allow"
            ))
        })?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// A message to send.
struct Outgoing {
    headers: RequestHeaders,
    body: Body,
    attachments: Vec<Attachment>,
}

impl Outgoing {
    /// A message without attachments.
    fn alone(headers: RequestHeaders, body: Body) -> Self {
        Self {
            headers,
            body,
            attachments: Vec::new(),
        }
    }
}

/// Decodes a reply with the earlier answers saved in the scope. Returns the reply and its changes since the last similar
/// one.
fn read_reply(
    awaiting: AwaitingReply,
    incoming: IncomingReply<'_>,
    package: Option<Received>,
    scope: &PeerScope,
    meter: &Meter,
) -> Result<(Reply, Option<Changes>), Error> {
    let undecoded = match awaiting.open(incoming)? {
        OpenedReply::Accepted => return Ok((Reply::Accepted, None)),
        OpenedReply::Message(undecoded) => undecoded,
    };
    match receiving::read(scope, meter, undecoded.root(), undecoded.text(), usize::MAX) {
        Ok(read) => {
            let changes = Changes::of(&read);
            let record = match package {
                Some(package) => package.attach(read.record),
                None => read.record,
            };
            let reply = undecoded.decoded(record)?;
            let is_answer = matches!(reply, Reply::Answer(_));
            Ok((reply, is_answer.then_some(changes)))
        }
        Err(error) => Ok((undecoded.undecodable(error)?, None)),
    }
}
