//! The client's side of an exchange: [`Request`] → [`AwaitingReply`] → [`UndecodedReply`] → [`Reply`].
//!
//! The caller encodes and decodes, fully or differentially:
//!
//! ```text
//! Target::request ─► Request::start ─► Record ─ encode ─► body      RequestHeaders ─► Content-Type, SOAPAction
//!                                  └─► AwaitingReply::open(status, Content-Type, body)
//!                                        └─► UndecodedReply: root, text ─ decode ─► decoded(Record) | undecodable(error) ─► Reply
//! ```
//!
//! [`Request::write`] and [`AwaitingReply::read`] include a full encoding and decoding.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_codec::plan::ElementId;
use bsoap_codec::repair::Repair;
use bsoap_codec::{Decoder, Item, Object, Record, Unpack, Value, View, decode, encode};
use bsoap_schema::SoapVersion;
use bsoap_xml::DoctypePolicy;
use bytes::Bytes;

use serde::de::DeserializeOwned;

use crate::addressing::{self, MessageAddressing, UNSPECIFIED};
use crate::arguments::{self, Contents};
use crate::fault::{self, Fault};
use crate::header::{self, HeaderBlock, HeaderLimits, Node};
use crate::media::{self, MediaType};
use crate::peek::{Peek, peek};
use crate::target::{Direction, Target, first_in_body, value_of};
use crate::{Error, ErrorKind};

/// A request whose message is not encoded yet.
#[derive(Clone, Debug)]
pub struct Request {
    target: Target,
    record: Record,
}

/// The HTTP headers that a request needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestHeaders {
    /// The `Content-Type`.
    pub content_type: Cow<'static, str>,
    /// The `SOAPAction`. `None` in SOAP 1.2, which has none.
    pub soap_action: Option<String>,
}

/// A request to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingRequest {
    /// The HTTP headers.
    pub headers: RequestHeaders,
    /// The message.
    pub body: Vec<u8>,
}

/// A client that has sent a request and waits for the reply.
#[derive(Clone, Debug)]
pub struct AwaitingReply {
    target: Target,
    header_limits: HeaderLimits,
    addressing: Option<SentAddressing>,
}

/// What the addressing headers of a request say about its reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentAddressing {
    /// The `MessageID` of the request. `None` if it is not known; then the `RelatesTo` of the reply is not checked.
    pub message_id: Option<String>,
    /// True if the answer goes to another endpoint: the reply on the connection only accepts the request.
    pub is_answered_elsewhere: bool,
}

impl SentAddressing {
    /// Those of a request.
    pub fn of(request: &MessageAddressing) -> Self {
        let endpoint = request.response_endpoint(false);
        Self {
            message_id: request.message_id.clone(),
            is_answered_elsewhere: !endpoint.is_anonymous(),
        }
    }
}

// Exhaustive: transports build it, with `..Default::default()` so that it can grow.
/// A reply as it came from the transport.
#[derive(Clone, Debug, Default)]
pub struct IncomingReply<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The message.
    pub body: Bytes,
}

// Exhaustive: a caller must handle each outcome.
/// The result of [`AwaitingReply::open`].
#[derive(Debug)]
pub enum OpenedReply<'a> {
    /// An empty reply that accepts a one-way message: there is nothing to decode.
    Accepted,
    /// A message to decode.
    Message(UndecodedReply<'a>),
}

/// A reply whose message has not been decoded yet.
#[derive(Debug)]
pub struct UndecodedReply<'a> {
    target: Target,
    status: u16,
    content_type: Option<&'a str>,
    text: Bytes,
    addressing: Option<Box<MessageAddressing>>,
    /// The header blocks for other nodes.
    others: Vec<HeaderBlock>,
}

// Exhaustive: a caller must handle each outcome of an exchange.
/// The result of an exchange.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The operation returned.
    Answer(Answer),
    /// The peer accepted a one-way message.
    Accepted,
    /// The peer refused the request or failed.
    Fault(Fault),
}

/// The response to a request, with its operation.
#[derive(Clone, Debug)]
pub struct Answer {
    target: Target,
    record: Arc<Record>,
    addressing: Option<Box<MessageAddressing>>,
    others: Vec<HeaderBlock>,
}

impl Target {
    /// Creates a request with these contents: arguments as a [`Value`], owned or borrowed, or a packed Rust value.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`] if the contents do not match the operation.
    pub fn request<'c>(&self, contents: impl Into<Contents<'c>>) -> Result<Request, Error> {
        Ok(self.request_of(self.record(Direction::Request, contents.into())?))
    }

    /// Creates a request from the Record of its Envelope.
    pub fn request_of(&self, record: Record) -> Request {
        Request {
            target: self.clone(),
            record,
        }
    }

    /// Starts an exchange whose message is encoded elsewhere, for example with a template. Returns the headers to send and
    /// the next step.
    pub fn start(&self) -> (RequestHeaders, AwaitingReply) {
        let (version, action) = (self.version(), self.operation().soap_action.as_deref());
        let headers = RequestHeaders {
            content_type: media::content_type(version, action),
            soap_action: media::soap_action(version, action),
        };
        let awaiting = AwaitingReply {
            target: self.clone(),
            header_limits: HeaderLimits::default(),
            addressing: None,
        };
        (headers, awaiting)
    }
}

impl Request {
    /// The operation that the request calls.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The Record of the request Envelope.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The Record of the request Envelope.
    pub fn into_record(self) -> Record {
        self.record
    }

    /// Starts the exchange. Returns the Record to encode, the headers to send with it, and the next step.
    pub fn start(self) -> (Record, RequestHeaders, AwaitingReply) {
        let (headers, awaiting) = self.target.start();
        (self.record, headers, awaiting)
    }

    /// Encodes the message in full and starts the exchange. Returns the request to send and the next step.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if a value cannot be represented in XML.
    pub fn write(self) -> Result<(OutgoingRequest, AwaitingReply), Error> {
        let (record, headers, awaiting) = self.start();
        let mut body = Vec::new();
        encode(&record, &mut body).map_err(|error| awaiting.target.unwritable(error))?;
        Ok((OutgoingRequest { headers, body }, awaiting))
    }
}

impl AwaitingReply {
    /// The operation that the request called.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Sets how large the Header of the reply may be.
    #[must_use]
    pub fn with_header_limits(mut self, limits: HeaderLimits) -> Self {
        self.header_limits = limits;
        self
    }

    /// Reads the addressing headers of the reply: it must answer this request.
    #[must_use]
    pub fn with_addressing(mut self, sent: SentAddressing) -> Self {
        self.addressing = Some(sent);
        self
    }

    /// Checks the status and the headers of a reply, and selects the text to decode.
    ///
    /// # Errors
    /// [`ErrorKind::NoReply`] if the reply is empty although the operation has a response, [`ErrorKind::NotSoap`] if the
    /// media type of the reply is not XML, [`ErrorKind::UnknownCharset`] if its charset is not known,
    /// [`ErrorKind::HeaderLimit`] if its Header is too large, [`ErrorKind::OtherMessage`] if it answers another message.
    pub fn open(self, reply: IncomingReply<'_>) -> Result<OpenedReply<'_>, Error> {
        let Self {
            target,
            header_limits,
            addressing,
        } = self;
        let IncomingReply {
            status,
            content_type,
            body,
        } = reply;
        if body.iter().all(u8::is_ascii_whitespace) {
            let is_success = (200..300).contains(&status);
            let is_elsewhere = addressing.is_some_and(|sent| sent.is_answered_elsewhere);
            return match target.operation().output {
                None if is_success => Ok(OpenedReply::Accepted),
                Some(_) if is_success && is_elsewhere => Ok(OpenedReply::Accepted),
                _ => Err(target.error(|operation| ErrorKind::NoReply { operation, status })),
            };
        }
        let media = content_type.and_then(MediaType::parse);
        if media.as_ref().is_some_and(|media| !media.is_xml()) {
            return Err(not_soap(status, content_type, &body));
        }
        let text = media::recoded(media.as_ref(), body).map_err(|unknown| {
            let kind = |operation| ErrorKind::UnknownCharset {
                operation,
                charset: unknown.0.clone(),
            };
            target.error(kind)
        })?;
        header_limits.check(&text).map_err(|exceeded| {
            target.error(|operation| ErrorKind::HeaderLimit {
                operation,
                name: exceeded.name,
                limit: exceeded.limit,
                offset: exceeded.offset,
            })
        })?;
        let (text, others) = header::take_others(text, &Node::new(), header_limits.bytes);
        let addressing = match addressing {
            Some(sent) => addressing_of(&target, &sent, &text)?.map(Box::new),
            None => None,
        };
        Ok(OpenedReply::Message(UndecodedReply {
            target,
            status,
            content_type,
            text,
            addressing,
            others,
        }))
    }

    /// Reads a reply and decodes its message in full.
    ///
    /// # Errors
    /// If the reply is neither the response, nor a fault, nor the empty reply to a one-way message.
    pub fn read(self, decoder: &mut Decoder, reply: IncomingReply<'_>) -> Result<Reply, Error> {
        match self.open(reply)? {
            OpenedReply::Accepted => Ok(Reply::Accepted),
            OpenedReply::Message(message) => {
                let repair = message.repair();
                match repair.decode(decoder, message.root(), message.text()) {
                    Ok(record) => message.decoded(Arc::new(record)),
                    Err(error) => message.undecodable(error),
                }
            }
        }
    }
}

impl UndecodedReply<'_> {
    /// The element of the Plan that the text is decoded as: the response Envelope.
    pub fn root(&self) -> ElementId {
        self.target.binding.response
    }

    /// The text to decode: the body itself, unless its charset had to be converted.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// How the text is rewritten if it has deviations that the decoder accepts but cannot read.
    pub fn repair(&self) -> Repair {
        let output = self.target.operation().output.as_ref();
        Repair::of_answer(output.and_then(|output| output.body.first_element()))
    }

    /// Returns the reply that a decoded message contains.
    ///
    /// # Errors
    /// [`ErrorKind::OtherReply`] if the message belongs to another operation.
    pub fn decoded(self, record: Arc<Record>) -> Result<Reply, Error> {
        let Self {
            target,
            status,
            addressing,
            others,
            ..
        } = self;
        let child = first_in_body(&record);
        if let Some(child) = &child
            && is_fault(child, target.version())
        {
            // A reference that names nothing is no reason to hide the fault.
            let shared = target.shared(Arc::clone(&record));
            let shared = shared.ok().filter(|it| !Arc::ptr_eq(it, &record));
            let fault = match shared.as_deref().and_then(first_in_body) {
                Some(shared) => value_of(&shared),
                None => value_of(child),
            };
            let mut fault = fault::from_value(fault);
            let read = shared.as_deref().unwrap_or(&record);
            target.add_fault_headers(&mut fault, Some(read), others);
            return Ok(Reply::Fault(fault.received_with(status)));
        }
        let element = child.map(|child| child.element_id());
        match &target.operation().output {
            Some(output) if output.body.first_element() == element => {
                let record = target.shared(record).map_err(|source| {
                    let kind = |operation| ErrorKind::Reply { operation };
                    target.error(kind).because(source)
                })?;
                Ok(Reply::Answer(Answer {
                    target,
                    record,
                    addressing,
                    others,
                }))
            }
            // Some SOAP stacks reply to one-way messages with an empty Envelope.
            None if element.is_none() => Ok(Reply::Accepted),
            _ => {
                let found = element
                    .map_or("nothing", |element| arguments::local(&target.plan, element))
                    .to_owned();
                Err(target.error(|operation| ErrorKind::OtherReply { operation, found }))
            }
        }
    }

    /// Returns the reply in a message that could not be decoded, if it is a fault that does not follow the schema exactly.
    ///
    /// # Errors
    /// The reason why the message is not usable, if it is not such a fault.
    pub fn undecodable(self, error: decode::Error) -> Result<Reply, Error> {
        if let Some(mut fault) = fault::read_leniently(&self.text) {
            let others = self.others;
            self.target.add_fault_headers(&mut fault, None, others);
            return Ok(Reply::Fault(fault.received_with(self.status)));
        }
        let expected = self.target.version();
        let found = match peek(&self.text, DoctypePolicy::Refuse) {
            Peek::Envelope(version) if version == expected => {
                let error_of_reply = self
                    .target
                    .error(|operation| ErrorKind::Reply { operation });
                return Err(error_of_reply.because(error));
            }
            Peek::Envelope(other) => other.envelope_namespace().to_owned(),
            Peek::ForeignEnvelope(found) => found,
            Peek::Other(_) | Peek::Nothing => {
                let not_soap = not_soap(self.status, self.content_type, &self.text);
                return Err(not_soap.because(error));
            }
        };
        Err(Error::new(ErrorKind::Version { expected, found }))
    }
}

/// The addressing headers of a reply, which must answer the request if it says what it answers. Of blocks that break a rule,
/// those that do not are taken.
fn addressing_of(
    target: &Target,
    sent: &SentAddressing,
    text: &[u8],
) -> Result<Option<MessageAddressing>, Error> {
    let found = addressing::read(text, &Node::new()).addressing;
    let answered = found.as_ref().and_then(MessageAddressing::answered_id);
    match (&sent.message_id, answered) {
        (Some(expected), Some(answered)) if answered != expected && answered != UNSPECIFIED => {
            Err(target.error(|operation| ErrorKind::OtherMessage {
                operation,
                expected: expected.clone(),
                found: answered.to_owned(),
            }))
        }
        _ => Ok(found),
    }
}

fn is_fault(child: &View<'_>, version: SoapVersion) -> bool {
    child.name() == "Fault" && child.namespace() == version.envelope_namespace()
}

fn not_soap(status: u16, content_type: Option<&str>, body: &[u8]) -> Error {
    let beginning = &body[..body.len().min(200)];
    Error::new(ErrorKind::NotSoap {
        status,
        content_type: content_type.map(str::to_owned),
        beginning: String::from_utf8_lossy(beginning).into_owned(),
    })
}

impl Answer {
    /// The Record of the response Envelope.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The Record of the response Envelope. It is copied if it is shared.
    pub fn into_record(self) -> Record {
        Arc::unwrap_or_clone(self.record)
    }

    /// The Record of the response Envelope. It is never modified, so the `Arc` may be kept.
    pub fn shared_record(&self) -> &Arc<Record> {
        &self.record
    }

    /// The result: the children of the wrapper element, or the parts by name if there is no wrapper. Header blocks are under
    /// `@headers`.
    pub fn value(&self) -> Value {
        self.target.response_value(&self.record)
    }

    /// The result as a Rust value: the contents of the wrapper element, or of the only part if there is no wrapper.
    ///
    /// # Errors
    /// [`ErrorKind::Type`] if the type does not match the schema.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Error> {
        self.target.unpack(&self.record)
    }

    /// The result as a Rust type with `serde::Deserialize`: the children of the wrapper element, or the parts by name if there is
    /// no wrapper. Fields are named as in JSON.
    ///
    /// # Errors
    /// [`ErrorKind::Type`](crate::ErrorKind::Type) if the message does not have what the type wants.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.target.deserialize(Direction::Response, &self.record)
    }

    /// The header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.target.headers(Direction::Response, &self.record)
    }

    /// The header block of this name: that of a declared part, or the local or expanded name of the block
    /// (`{namespace}local`). Undeclared blocks are XML.
    pub fn header(&self, name: &str) -> Option<Item<'_>> {
        self.target.header(Direction::Response, &self.record, name)
    }

    /// The names and SOAP attributes of the header blocks. Blocks that are addressed to other nodes come last.
    pub fn blocks(&self) -> Vec<HeaderBlock> {
        let (plan, version) = (&self.target.plan, self.target.version());
        let message = self.target.operation().output.as_ref();
        let own = header::blocks(plan, version, message, &self.record);
        own.unwrap_or_default()
            .into_iter()
            .chain(self.others.iter().cloned())
            .collect()
    }

    /// What the header blocks of WS-Addressing say. `None` if there are none, or the request had none.
    pub fn addressing(&self) -> Option<&MessageAddressing> {
        self.addressing.as_deref()
    }

    /// The operation that was called.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

impl Reply {
    /// The result of the operation; nil for a one-way message.
    ///
    /// # Errors
    /// The fault, if the peer answered with one.
    pub fn into_value(self) -> Result<Value, Fault> {
        match self {
            Self::Answer(answer) => Ok(answer.value()),
            Self::Accepted => Ok(Value::Nil),
            Self::Fault(fault) => Err(fault),
        }
    }
}
