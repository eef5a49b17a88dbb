//! The client's side: [`Request`] → [`AwaitingReply`] → [`Reply`].

use std::sync::Arc;

use bsoap_codec::decode;
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Decoder, Object, Record, Unpack, Value, View, encode};
use bsoap_schema::SoapVersion;

use super::{Direction, Target, body_child, value_of};
use crate::arguments::Contents;
use crate::{Error, ErrorKind, Fault, MediaType, Peek, arguments, fault, media};

/// A message ready to be written.
#[derive(Clone, Debug)]
pub struct Request {
    target: Target,
    record: Record,
}

/// A message to send, and what to say beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingRequest<B = Vec<u8>> {
    /// The `Content-Type`.
    pub content_type: String,
    /// The `SOAPAction`, where the version has one.
    pub soap_action: Option<String>,
    /// The message.
    pub body: B,
}

/// A request is on its way.
#[derive(Clone, Debug)]
pub struct AwaitingReply {
    target: Target,
}

/// What came back, as the transport tells it.
#[derive(Clone, Copy, Debug)]
pub struct IncomingReply<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The message.
    pub body: &'a [u8],
}

/// How an exchange ended.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With the operation's answer.
    Answer(Answer),
    /// A one-way message was taken.
    Accepted,
    /// The peer says why not.
    Fault(Fault),
}

/// The answer of an operation.
#[derive(Clone, Debug)]
pub struct Answer {
    target: Target,
    record: Arc<Record>,
}

impl Target {
    /// A request with these contents: arguments as a [`Value`], given or lent, or a packed Rust value.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`] if they do not fit.
    pub fn request<'c>(&self, contents: impl Into<Contents<'c>>) -> Result<Request, Error> {
        Ok(self.request_of(self.record(Direction::Request, contents.into())?))
    }

    /// A request that is the Record of an Envelope already.
    pub fn request_of(&self, record: Record) -> Request {
        Request {
            target: self.clone(),
            record,
        }
    }
}

impl Request {
    /// What it asks for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The message's values.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The message's values.
    pub fn into_record(self) -> Record {
        self.record
    }

    /// Writes the message.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if it holds what XML cannot carry.
    pub fn write(self) -> Result<(OutgoingRequest, AwaitingReply), Error> {
        self.write_by(super::written)
    }

    /// Lets somebody else write the message, who may know most of its text already.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if that fails.
    pub fn write_by<B>(
        self,
        write: impl FnOnce(Record) -> Result<B, encode::Error>,
    ) -> Result<(OutgoingRequest<B>, AwaitingReply), Error> {
        let Self { target, record } = self;
        let body = write(record).map_err(|source| {
            Error::new(ErrorKind::Unwritable {
                operation: target.operation().name.clone(),
            })
            .because(source)
        })?;
        let (version, action) = (
            target.binding.version,
            target.operation().soap_action.as_deref(),
        );
        let content_type = media::content_type(version, action);
        let soap_action = media::soap_action(version, action);
        Ok((
            OutgoingRequest {
                content_type,
                soap_action,
                body,
            },
            AwaitingReply { target },
        ))
    }
}

impl AwaitingReply {
    /// What was asked.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Reads what came back.
    ///
    /// # Errors
    /// If it is neither the answer, nor a fault, nor the empty reply to a one-way message.
    pub fn read(self, decoder: &mut Decoder, reply: IncomingReply<'_>) -> Result<Reply, Error> {
        self.read_by(super::read(decoder), reply)
    }

    /// Lets somebody else read what came back, who may know most of it already: `read` is given the root element and the
    /// text, which lies in the reply's body unless it had to be recoded.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_by(
        self,
        read: impl FnOnce(ElementId, &[u8]) -> Result<Arc<Record>, decode::Error>,
        reply: IncomingReply<'_>,
    ) -> Result<Reply, Error> {
        let operation = self.target.operation();
        let is_success = (200..300).contains(&reply.status);
        if reply.body.iter().all(u8::is_ascii_whitespace) {
            return match &operation.output {
                None if is_success => Ok(Reply::Accepted),
                _ => Err(self.target.error(|operation| ErrorKind::NoReply {
                    operation,
                    status: reply.status,
                })),
            };
        }
        let media = reply.content_type.and_then(MediaType::parse);
        if media.as_ref().is_some_and(|media| !media.is_xml()) {
            return Err(not_soap(reply));
        }
        let text = media::recoded(media.as_ref(), reply.body);
        match read(self.target.binding.response, &text) {
            Ok(record) => self.reply(record),
            Err(error) => self.other_reply(&text, reply, error),
        }
    }

    /// The reply in a message that is one of this binding's.
    fn reply(self, record: Arc<Record>) -> Result<Reply, Error> {
        let output = self.target.operation().output.as_ref();
        let child = body_child(&record);
        match child.map(|child| child.element_id()) {
            Some(_) if child.is_some_and(|child| is_fault(&child, self.target.version())) => {
                let value = child.map(|fault| value_of(&fault)).unwrap_or_default();
                Ok(Reply::Fault(fault::from_value(value)))
            }
            element => match output {
                Some(output) if output.body.first_element() == element => {
                    Ok(Reply::Answer(Answer {
                        target: self.target,
                        record,
                    }))
                }
                // Some stacks answer one-way messages with an empty Envelope.
                None if element.is_none() => Ok(Reply::Accepted),
                _ => {
                    let plan = &self.target.plan;
                    let found = element
                        .map_or("nothing", |element| arguments::local(plan, element))
                        .to_owned();
                    Err(self
                        .target
                        .error(|operation| ErrorKind::OtherReply { operation, found }))
                }
            },
        }
    }

    /// What there is to say about a message that does not decode.
    fn other_reply(
        self,
        text: &[u8],
        reply: IncomingReply<'_>,
        error: decode::Error,
    ) -> Result<Reply, Error> {
        if let Some(fault) = fault::read_leniently(text) {
            return Ok(Reply::Fault(fault));
        }
        let expected = self.target.binding.version;
        match crate::peek(text) {
            Peek::Envelope(version) if version == expected => Err(self
                .target
                .error(|operation| ErrorKind::Reply { operation })
                .because(error)),
            Peek::Envelope(other) => {
                let found = other.envelope_namespace().to_owned();
                Err(Error::new(ErrorKind::Version { expected, found }))
            }
            Peek::ForeignEnvelope(found) => Err(Error::new(ErrorKind::Version { expected, found })),
            Peek::Other(_) | Peek::Nothing => Err(not_soap(reply).because(error)),
        }
    }
}

fn is_fault(child: &View<'_>, version: SoapVersion) -> bool {
    child.name() == "Fault" && child.namespace() == version.envelope_namespace()
}

fn not_soap(reply: IncomingReply<'_>) -> Error {
    let beginning = &reply.body[..reply.body.len().min(200)];
    Error::new(ErrorKind::NotSoap {
        status: reply.status,
        content_type: reply.content_type.map(str::to_owned),
        beginning: String::from_utf8_lossy(beginning).into_owned(),
    })
}

impl Answer {
    /// The whole message: a Record of the response Envelope.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The whole message; a copy, if somebody else holds it too.
    pub fn into_record(self) -> Record {
        Arc::unwrap_or_clone(self.record)
    }

    /// The whole message, to be kept: it never changes.
    pub fn shared_record(&self) -> &Arc<Record> {
        &self.record
    }

    /// The result: the children of a wrapper, otherwise the parts by name; header blocks under `@headers`.
    pub fn value(&self) -> Value {
        self.target.response_value(&self.record)
    }

    /// The result as a Rust value: the wrapper's, or the only part's.
    ///
    /// # Errors
    /// [`ErrorKind::Type`] if the type was not made for it.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Error> {
        self.target.unpack(&self.record)
    }

    /// The header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.target.headers(Direction::Response, &self.record)
    }

    /// What was asked.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

impl Reply {
    /// The answer's value; nil for a one-way message.
    ///
    /// # Errors
    /// The fault.
    pub fn into_value(self) -> Result<Value, Fault> {
        match self {
            Self::Answer(answer) => Ok(answer.value()),
            Self::Accepted => Ok(Value::Nil),
            Self::Fault(fault) => Err(fault),
        }
    }
}
