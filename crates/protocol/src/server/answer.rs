//! A request that has been read, and the reply to it.

use std::fmt;
use std::sync::Arc;

use bsoap_codec::plan::Plan;
use bsoap_codec::{Object, Record, Unpack, Value, build, encode};
use bsoap_schema::{Binding, SoapVersion};

use crate::Error;
use crate::arguments::{Contents, Sections};
use crate::fault::{self, Fault};
use crate::header::HeaderBlock;
use crate::media;
use crate::target::{Direction, Target};

/// A request that was decoded and may be processed: its header blocks are understood.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    target: Target,
    record: Arc<Record>,
    blocks: Vec<HeaderBlock>,
}

/// A request was received and not answered yet. Each way to answer consumes it, so there is exactly one answer.
#[derive(Debug)]
#[must_use]
pub struct AwaitingAnswer {
    target: Target,
}

/// A reply to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingReply<B = Vec<u8>> {
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type`; `None` for an empty reply.
    pub content_type: Option<String>,
    /// The message.
    pub body: B,
}

/// The answer given does not match the operation. The request can still be answered with a fault.
#[derive(Debug)]
pub struct Unanswered {
    /// The request's next step.
    pub awaiting: AwaitingAnswer,
    /// What is wrong with the answer.
    pub error: Error,
}

impl ReceivedRequest {
    pub(super) fn new(target: Target, record: Arc<Record>, blocks: Vec<HeaderBlock>) -> Self {
        Self {
            target,
            record,
            blocks,
        }
    }

    /// The operation called.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The Record of the request Envelope.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The Record of the request Envelope, to be kept: it never changes.
    pub fn shared_record(&self) -> &Arc<Record> {
        &self.record
    }

    /// The names and attributes of the header blocks.
    pub fn blocks(&self) -> &[HeaderBlock] {
        &self.blocks
    }

    /// The arguments: the children of a wrapper, otherwise the parts by name; header blocks under `@headers`.
    pub fn value(&self) -> Value {
        self.target.request_value(&self.record)
    }

    /// The arguments as a Rust value: that of the wrapper, or of the only part.
    ///
    /// # Errors
    /// [`ErrorKind::Type`](crate::ErrorKind::Type) if the type does not match the schema.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Error> {
        self.target.unpack(&self.record)
    }

    /// The header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.target.headers(Direction::Request, &self.record)
    }
}

impl AwaitingAnswer {
    pub(super) fn new(target: Target) -> Self {
        Self { target }
    }

    /// The operation called.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Whether the operation has no response: then the request is [accepted](Self::accept), not answered.
    pub fn is_one_way(&self) -> bool {
        self.target.operation().output.is_none()
    }

    /// The empty reply to a one-way message.
    pub fn accept<B: Default>(self) -> OutgoingReply<B> {
        OutgoingReply {
            status: 202,
            content_type: None,
            body: B::default(),
        }
    }

    /// The reply whose body is the encoded response Envelope.
    pub fn answered<B>(self, body: B) -> OutgoingReply<B> {
        OutgoingReply::new(200, self.target.version(), body)
    }

    /// The reply whose body is the encoded Envelope of a fault, made from [`Target::fault_record`].
    pub fn faulted<B>(self, fault: &Fault, body: B) -> OutgoingReply<B> {
        let version = self.target.version();
        OutgoingReply::new(fault.status(version), version, body)
    }

    /// Answers with these contents, encoded from start to end: the result as a [`Value`], owned or borrowed, or a packed
    /// Rust value. A one-way message is accepted.
    ///
    /// # Errors
    /// If they do not match the operation. The request is still to be answered.
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
        let body = self
            .target
            .response(contents)
            .and_then(|record| encoded(record).map_err(|error| self.target.unwritable(error)));
        match body {
            Ok(body) => Ok(self.answered(body)),
            Err(error) => Err(Box::new(Unanswered {
                awaiting: self,
                error,
            })),
        }
    }

    /// Answers with a fault, encoded from start to end. A detail that the WSDL does not declare is left out.
    pub fn fault(self, fault: &Fault) -> OutgoingReply {
        self.target.fault(fault)
    }
}

impl Target {
    /// The fault as the reply to a request for this operation, encoded from start to end.
    pub fn fault(&self, fault: &Fault) -> OutgoingReply {
        self.faults().encoded(fault, &[])
    }

    /// The Record of the Envelope of a fault; `None` if its detail does not match the schema. Then
    /// [`fault`](Self::fault) sends it without.
    pub fn fault_record(&self, fault: &Fault) -> Option<Record> {
        self.faults().record(fault, &[])
    }

    fn faults(&self) -> Faults<'_> {
        Faults {
            plan: &self.plan,
            binding: &self.binding,
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

/// Encodes the faults of a binding.
pub(super) struct Faults<'a> {
    pub(super) plan: &'a Arc<Plan>,
    pub(super) binding: &'a Arc<Binding>,
}

impl Faults<'_> {
    /// The reply with a fault; `header` is XML for its Header.
    pub(super) fn encoded(&self, fault: &Fault, header: &[String]) -> OutgoingReply {
        let version = self.binding.version;
        let mut body = Vec::new();
        match self.record(fault, header) {
            Some(record) if encode(&record, &mut body).is_ok() => {
                OutgoingReply::new(fault.status(version), version, body)
            }
            _ => OutgoingReply::of_text(fault, version, &header.concat()),
        }
    }

    /// The Record of the Envelope, if the fault matches the Plan.
    fn record(&self, fault: &Fault, header: &[String]) -> Option<Record> {
        let mut envelope = Object::new();
        if !header.is_empty() {
            let blocks = header.iter().map(|xml| Value::from(xml.as_str())).collect();
            envelope.insert("Header", Value::object([("#any", Value::Array(blocks))]));
        }
        let value = fault::to_value(fault, self.binding.version);
        let key = Sections::of(self.plan, self.binding.response).fault_key(self.binding.version);
        envelope.insert("Body", Value::object([(key, value)]));
        build(self.plan, self.binding.response, &envelope.into()).ok()
    }
}

impl<B> OutgoingReply<B> {
    fn new(status: u16, version: SoapVersion, body: B) -> Self {
        Self {
            status,
            content_type: Some(media::content_type(version, None)),
            body,
        }
    }

    /// The same reply with its body converted.
    pub fn map<C>(self, body: impl FnOnce(B) -> C) -> OutgoingReply<C> {
        OutgoingReply {
            status: self.status,
            content_type: self.content_type,
            body: body(self.body),
        }
    }
}

impl OutgoingReply {
    /// A fault that is written without a Plan.
    pub(super) fn of_text(fault: &Fault, version: SoapVersion, header: &str) -> Self {
        let body = fault::write_text(fault, version, header);
        Self::new(fault.status(version), version, body)
    }

    /// The reply to a request that is not XML.
    pub(super) fn unsupported_media_type() -> Self {
        let text = "expected text/xml (SOAP 1.1) or application/soap+xml (SOAP 1.2)\n";
        Self {
            status: 415,
            content_type: Some("text/plain; charset=utf-8".into()),
            body: text.into(),
        }
    }
}
