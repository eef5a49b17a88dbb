//! A decoded request, and the reply to it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::plan::Plan;
use bsoap_codec::{Item, Object, Record, Unpack, Value, build, encode, graph};
use bsoap_schema::{Binding, Operation, SoapVersion};

use serde::de::DeserializeOwned;

use crate::Error;
use crate::addressing::{self, AddressingProblem, EndpointReference, MessageAddressing};
use crate::arguments::{self, Contents, Sections};
use crate::excerpt::is_element;
use crate::fault::{self, Code, Fault, SenderStatus};
use crate::header::HeaderBlock;
use crate::media::{self, UnknownCharset};
use crate::target::{Direction, Target};

/// A decoded request that may be processed: this node understands all header blocks that it must understand.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    target: Target,
    record: Arc<Record>,
    blocks: Vec<HeaderBlock>,
    addressing: Option<Arc<MessageAddressing>>,
}

/// The next step after a request was received. Each way to answer consumes the value, so there is exactly one answer.
#[derive(Debug)]
#[must_use]
pub struct AwaitingAnswer {
    target: Target,
    /// The addressing headers of the request.
    addressing: Option<Arc<MessageAddressing>>,
}

/// A reply to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingReply<B = Vec<u8>> {
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type`; `None` for an empty reply.
    pub content_type: Option<Cow<'static, str>>,
    /// The message.
    pub body: B,
    /// The code of the fault in the message. `None` if the message is not a fault.
    pub fault: Option<Code>,
    /// The reason of the fault, or why the request is refused. `None` for other replies.
    pub reason: Option<String>,
    /// The SOAP version of the message. `None` if there is no message.
    pub version: Option<SoapVersion>,
}

/// The error for an answer that does not match the operation. The request can still be answered with a fault.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unanswered {
    /// The next step of the request, which still needs an answer.
    pub awaiting: AwaitingAnswer,
    /// What is wrong with the answer.
    pub error: Error,
}

impl ReceivedRequest {
    pub(super) fn new(
        target: Target,
        record: Arc<Record>,
        blocks: Vec<HeaderBlock>,
        addressing: Option<Arc<MessageAddressing>>,
    ) -> Self {
        Self {
            target,
            record,
            blocks,
            addressing,
        }
    }

    /// The operation that the request calls.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The Record of the request Envelope.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The Record of the request Envelope. It is never modified, so the `Arc` may be kept.
    pub fn shared_record(&self) -> &Arc<Record> {
        &self.record
    }

    /// The names and attributes of the request's header blocks.
    pub fn blocks(&self) -> &[HeaderBlock] {
        &self.blocks
    }

    /// What the header blocks of WS-Addressing say. `None` if the request has none, or the endpoint does not use them.
    pub fn addressing(&self) -> Option<&MessageAddressing> {
        self.addressing.as_deref()
    }

    /// The first header block of this name: the name of a declared part, or the local or expanded name of the block. It is an
    /// [`Item::Element`] if some operation of the binding declares it, otherwise an [`Item::Xml`].
    pub fn header(&self, name: &str) -> Option<Item<'_>> {
        self.target.header(Direction::Request, &self.record, name)
    }

    /// The arguments: the children of the wrapper element, or the parts by name if there is no wrapper. Header blocks are
    /// under `@headers`.
    pub fn value(&self) -> Value {
        self.target.request_value(&self.record)
    }

    /// The arguments as a Rust value: the contents of the wrapper element, or of the only part if there is no wrapper.
    ///
    /// # Errors
    /// [`ErrorKind::Type`](crate::ErrorKind::Type) if the type does not match the schema.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Error> {
        self.target.unpack(&self.record)
    }

    /// The arguments as a Rust type with `serde::Deserialize`: the children of the wrapper element, or the parts by name if there is
    /// no wrapper. Fields are named as in JSON.
    ///
    /// # Errors
    /// [`ErrorKind::Type`](crate::ErrorKind::Type) if the message does not have what the type wants.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.target.deserialize(Direction::Request, &self.record)
    }

    /// The header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.target.headers(Direction::Request, &self.record)
    }
}

impl AwaitingAnswer {
    pub(super) fn new(target: Target, addressing: Option<Arc<MessageAddressing>>) -> Self {
        Self { target, addressing }
    }

    /// The operation that the request calls.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// True if the operation has no response. Then the request is [accepted](Self::accept), not answered.
    pub fn is_one_way(&self) -> bool {
        self.target.operation().output.is_none()
    }

    /// Where the answer goes, or the fault. `None` if the request has no addressing headers: then it goes back on the connection.
    pub fn response_endpoint(&self, is_fault: bool) -> Option<EndpointReference> {
        let request = self.addressing.as_ref()?;
        Some(request.response_endpoint(is_fault))
    }

    /// The header blocks of WS-Addressing of the answer, or of a fault, each as XML. A reply that is made of an encoded body must
    /// have them in its Header. Empty if the request has no addressing headers.
    pub fn addressing_blocks(&self, fault: Option<&Fault>) -> Vec<String> {
        let Some(request) = &self.addressing else {
            return Vec::new();
        };
        let operation = self.target.operation();
        let action = match fault {
            None => operation.output.as_ref().map(|output| &*output.action),
            Some(fault) => self.declared_action(fault),
        };
        let fault = fault.map(|fault| &**fault);
        request.answer_blocks(self.target.version(), action, fault)
    }

    /// The fault for a request that the service cannot process now, but after this time: with addressing headers it is
    /// `EndpointUnavailable`. (WS-Addressing 1.0 - SOAP Binding §6.4.5)
    pub fn unavailable(&self, reason: &str, retry_after: Duration) -> Fault {
        let Some(request) = &self.addressing else {
            return Fault::receiver(reason);
        };
        let problem = AddressingProblem::EndpointUnavailable {
            address: request.to.clone(),
            retry_after: Some(retry_after),
        };
        let mut fault = problem.fault(self.target.version(), request.version);
        fault.reasons = Fault::receiver(reason).reasons.clone();
        fault
    }

    /// The action of the declared fault whose element is in the detail.
    fn declared_action(&self, fault: &Fault) -> Option<&str> {
        let detail = fault.detail.as_ref()?;
        let mut declared = self.target.operation().faults.iter();
        let found = declared.find(|declared| {
            let element = declared.detail;
            element.is_some_and(|it| {
                detail
                    .get(arguments::local(&self.target.plan, it))
                    .is_some()
            })
        });
        found.map(|declared| &*declared.action)
    }

    /// Creates the empty reply to a one-way message.
    pub fn accept<B: Default>(self) -> OutgoingReply<B> {
        OutgoingReply::accepted()
    }

    /// Creates the reply whose body is the encoded response Envelope.
    pub fn answered<B>(self, body: B) -> OutgoingReply<B> {
        OutgoingReply::new(200, self.target.version(), body)
    }

    /// Creates the reply whose body is the encoded Envelope of a fault. [`Target::fault_record`] makes the Record to encode.
    pub fn faulted<B>(self, fault: &Fault, body: B) -> OutgoingReply<B> {
        let version = self.target.version();
        OutgoingReply::of_fault(fault, version, body)
    }

    /// Creates the reply with these contents, encoded in full: the result as a [`Value`], owned or borrowed, or a packed
    /// Rust value. A one-way message is accepted, whatever the contents.
    ///
    /// # Errors
    /// If the contents do not match the operation. The request then still needs an answer.
    pub fn answer<'c>(
        self,
        contents: impl Into<Contents<'c>>,
    ) -> Result<OutgoingReply, Box<Unanswered>> {
        if self.is_one_way() {
            return Ok(self.accept());
        }
        let encoded = |record: Record| {
            let mut body = Vec::new();
            encode(&record, &mut body).map(|()| body)
        };
        let blocks = addressing::as_headers(self.addressing_blocks(None));
        let body = self
            .target
            .response(contents.into().with_more_headers(&blocks))
            .and_then(|record| encoded(record).map_err(|error| self.target.unwritable(error)));
        match body {
            Ok(body) => Ok(self.answered(body)),
            Err(error) => Err(Box::new(Unanswered {
                awaiting: self,
                error,
            })),
        }
    }

    /// Creates the reply with a fault, encoded in full. A detail that the WSDL does not declare is left out.
    pub fn fault(self, fault: &Fault) -> OutgoingReply {
        let blocks = self.addressing_blocks(Some(fault));
        self.target.faults().encoded(fault, &blocks)
    }
}

impl Target {
    /// Creates the reply with a fault to a request for this operation, encoded in full.
    pub fn fault(&self, fault: &Fault) -> OutgoingReply {
        self.faults().encoded(fault, &[])
    }

    /// The Record of a fault's Envelope. `None` if the detail does not match the schema; then use [`fault`](Self::fault),
    /// which sends the fault without the detail.
    pub fn fault_record(&self, fault: &Fault) -> Option<Record> {
        self.faults().record(fault, &[])
    }

    fn faults(&self) -> Faults<'_> {
        Faults {
            plan: &self.plan,
            binding: &self.binding,
            called: Some(self.operation()),
        }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Unanswered {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

/// Encodes faults for one binding.
pub(super) struct Faults<'a> {
    pub(super) plan: &'a Arc<Plan>,
    pub(super) binding: &'a Arc<Binding>,
    /// The operation that was called. `None` if it is not known yet.
    pub(super) called: Option<&'a Operation>,
}

impl Faults<'_> {
    /// The reply with a fault. `header` is the content of its Header as XML.
    pub(super) fn encoded(&self, fault: &Fault, header: &[String]) -> OutgoingReply {
        let version = self.binding.version;
        if let Some(body) = self.written(fault, header) {
            return OutgoingReply::of_fault(fault, version, body);
        }
        let mut header = header.to_vec();
        header.extend(xml_blocks(fault));
        // A wrong header block is left out: it must not hide the detail.
        let mut without_blocks = fault.clone();
        without_blocks.headers = Object::new();
        match self.written(&without_blocks, &header) {
            Some(body) => OutgoingReply::of_fault(fault, version, body),
            None => OutgoingReply::of_text(fault, version, &header.concat()),
        }
    }

    /// The Envelope of a fault. `None` if the fault does not match the Plan.
    fn written(&self, fault: &Fault, header: &[String]) -> Option<Vec<u8>> {
        let record = self.record(fault, header)?;
        let mut body = Vec::new();
        encode(&record, &mut body).ok()?;
        Some(body)
    }

    /// The Record of the fault's Envelope. `None` if the fault does not match the Plan.
    fn record(&self, fault: &Fault, header: &[String]) -> Option<Record> {
        let mut envelope = Object::new();
        let sections = Sections::of(self.plan, self.binding.response);
        let headers = sections.wrap_fault_headers(self.binding, self.called, &fault.headers);
        let headers = arguments::with_blocks(headers, addressing::as_headers(header.to_vec()));
        if !headers.is_empty() {
            envelope.insert("Header", headers);
        }
        let value = fault::to_value(fault, self.binding.version);
        let key = sections.fault_key(self.binding.version);
        envelope.insert("Body", Value::object([(key, value)]));
        let mut record = build(self.plan, self.binding.response, &envelope.into()).ok()?;
        if self.binding.operations.iter().any(|it| it.encoded) {
            graph::complete(&mut record).ok()?;
        }
        Some(record)
    }
}

/// The undeclared header blocks of a fault, as far as they are XML.
pub(super) fn xml_blocks(fault: &Fault) -> Vec<String> {
    let blocks = fault.headers.get("#any").and_then(Value::as_array);
    let blocks = blocks.unwrap_or_default().iter().filter_map(Value::as_str);
    blocks
        .filter(|xml| is_element(xml))
        .map(str::to_owned)
        .collect()
}

impl<B: Default> OutgoingReply<B> {
    /// The empty reply to a one-way message, or to one whose answer goes elsewhere.
    pub fn accepted() -> Self {
        Self {
            status: 202,
            content_type: None,
            body: B::default(),
            fault: None,
            reason: None,
            version: None,
        }
    }
}

impl<B> OutgoingReply<B> {
    fn new(status: u16, version: SoapVersion, body: B) -> Self {
        Self {
            status,
            content_type: Some(media::content_type(version, None)),
            body,
            fault: None,
            reason: None,
            version: Some(version),
        }
    }

    /// The reply with a fault, which `body` contains.
    fn of_fault(fault: &Fault, version: SoapVersion, body: B) -> Self {
        let status = fault.status(version, SenderStatus::default());
        Self {
            fault: Some(fault.code.clone()),
            reason: Some(fault.reason().to_owned()),
            ..Self::new(status, version, body)
        }
    }

    /// Sets the HTTP status of a SOAP 1.2 fault whose code is [`Code::Sender`]. Other replies are not changed.
    #[must_use]
    pub fn with_sender_status(mut self, sender: SenderStatus) -> Self {
        if let (Some(code @ Code::Sender), Some(version)) = (&self.fault, self.version) {
            self.status = Fault::new(code.clone(), "").status(version, sender);
        }
        self
    }

    /// Converts the body of the reply.
    pub fn map<C>(self, body: impl FnOnce(B) -> C) -> OutgoingReply<C> {
        OutgoingReply {
            status: self.status,
            content_type: self.content_type,
            body: body(self.body),
            fault: self.fault,
            reason: self.reason,
            version: self.version,
        }
    }
}

impl OutgoingReply {
    /// The reply with a fault whose text is written without a Plan.
    pub(super) fn of_text(fault: &Fault, version: SoapVersion, header: &str) -> Self {
        let body = fault::write_text(fault, version, header);
        Self::of_fault(fault, version, body)
    }

    /// The reply to a request whose media type, as its `Content-Type` states it, is not XML.
    pub(super) fn unsupported_media_type(found: Option<&str>) -> Self {
        let found = found.map_or_else(
            || "there is no Content-Type".to_owned(),
            |found| format!("Content-Type {found:?} is not that of a SOAP message"),
        );
        let text =
            format!("{found}, expected text/xml (SOAP 1.1) or application/soap+xml (SOAP 1.2)");
        Self::unsupported(text)
    }

    /// The reply to a request whose charset is not known.
    pub(super) fn unknown_charset(unknown: &UnknownCharset) -> Self {
        Self::unsupported(format!("the Content-Type of the request: {unknown}"))
    }

    /// The reply to a request that cannot be read because of its `Content-Type`.
    fn unsupported(text: String) -> Self {
        Self::refused(415, text)
    }

    /// The reply to a request that is refused before there is a message: a line of plain text with this status.
    pub fn refused(status: u16, text: String) -> Self {
        Self {
            status,
            content_type: Some("text/plain; charset=utf-8".into()),
            body: format!("{text}\n").into(),
            fault: None,
            reason: Some(text),
            version: None,
        }
    }
}
