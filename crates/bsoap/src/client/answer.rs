//! The answer to a call.

use std::fmt;
use std::sync::Arc;

use bsoap_codec::{Attachment, DecodeOptions, Object, Record, Unpack, Value};
use bsoap_http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use bsoap_http::{Fetched, StatusCode};
use bsoap_protocol::package;
use bsoap_protocol::{HeaderBlock, IncomingReply, Reply, SentAddressing, Target};
use bsoap_schema::Definitions;
use bytes::Bytes;

use super::exchange::{Arrived, Exchanged, read_reply};
use super::{Client, Inner};
use crate::addressing::MessageAddressing;
use crate::blocks::{self, Schemas};
use crate::typed::{Blocks, Headers};
use crate::{Changes, Error, Warning};

impl Client {
    /// Reads an answer that arrived at an endpoint of the program, to which the request had asked to send it
    /// ([`Addressing::reply_to`](crate::addressing::Addressing::reply_to)). [`Answer::addressing`] says which request it answers.
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
            address,
            hooks,
            ..
        } = &*self.inner;
        let target = self.target(operation)?;
        let (_, awaiting) = target.start();
        let awaiting = awaiting
            .with_header_limits(*header_limits)
            .with_addressing(SentAddressing::default());
        let mut headers = HeaderMap::new();
        if let Some(Ok(content_type)) = content_type.map(HeaderValue::try_from) {
            headers.insert(CONTENT_TYPE, content_type);
        }
        let fetched = Fetched::new(address.clone(), StatusCode::OK, headers, body.into());
        let Arrived {
            fetched, package, ..
        } = self.arrived(fetched, &target, false)?;
        let status = fetched.status.as_u16();
        let of_root = package.as_ref().map(|it| it.content_type().to_owned());
        let incoming = IncomingReply {
            status,
            content_type: of_root.as_deref().or(content_type),
            body: fetched.body,
        };
        let read = || read_reply(awaiting, incoming, package, scope, meter);
        let (reply, changes) = meter.converting(read)?;
        if let Reply::Answer(answer) = &reply {
            hooks.after_decode(answer.target(), answer.record())?;
        }
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
}

/// The answer to a [`Call`](super::Call), with what came with it.
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

    /// The names and SOAP attributes of the header blocks. A block that is addressed to another node is neither validated nor
    /// decoded: it is among these alone, with its XML.
    pub fn blocks(&self) -> Vec<HeaderBlock> {
        let answer = self.answer.as_ref();
        answer.map_or_else(Vec::new, bsoap_protocol::Answer::blocks)
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

    /// The text of the request, if the call [keeps](super::Call::keep_envelopes) it.
    pub fn sent(&self) -> Option<&Bytes> {
        self.sent.as_ref()
    }

    /// The text of the answer as it arrived, if the call [keeps](super::Call::keep_envelopes) it.
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
