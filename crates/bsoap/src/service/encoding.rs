//! Encodes the answers of handlers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bsoap_codec::{Object, Record, Value};
use bsoap_http::Body;
use bsoap_protocol::addressing;
use bsoap_protocol::package::Packing;
use bsoap_protocol::{AwaitingAnswer, Contents, Fault, HEADERS, Target};

use super::handler::{Extras, Payload};
use super::path::Path;
use super::reply::{Encoded, Reply, refusal};
use super::running::failed;
use crate::error::report;
use crate::offload::{is_short, offload, weight_of_record, weight_of_value};
use crate::scope::PeerScope;
use crate::{Error, insertion, sending};

/// What is known of the client that an answer is sent to.
pub(super) struct Receiver {
    pub(super) scope: PeerScope,
    pub(super) packing: Packing,
    /// True if the client uses hints.
    pub(super) has_hint: bool,
}

/// What a handler answers: its payload or a fault, and what it sends beside it.
pub(super) struct Answer {
    pub(super) payload: Result<Payload, Fault>,
    pub(super) extras: Extras,
}

impl Answer {
    /// The approximate length in bytes of its text.
    pub(super) fn weight(&self, last_length: usize) -> usize {
        match &self.payload {
            Ok(Payload::Value(value) | Payload::Streamed(value, _)) => weight_of_value(value),
            Ok(Payload::Record(record)) => weight_of_record(record),
            // The length is unknown before the value is packed; that of the last answer is the best estimate.
            Ok(Payload::Packed(_)) => last_length,
            Err(_) => 0,
        }
    }
}

impl Path {
    /// The reply with a handler's answer. Converting the answer runs code of the service, which may panic.
    pub(super) async fn encode(
        self: &Arc<Self>,
        awaiting: AwaitingAnswer,
        answer: Answer,
        weight: usize,
        to: Receiver,
    ) -> Reply {
        if is_short(weight) {
            return self.encode_guarded(awaiting, answer, &to);
        }
        let path = Arc::clone(self);
        offload(move || path.encode_guarded(awaiting, answer, &to)).await
    }

    /// The reply with a handler's answer or fault, or with the fault that says that converting the answer panicked.
    fn encode_guarded(&self, awaiting: AwaitingAnswer, answer: Answer, to: &Receiver) -> Reply {
        let target = awaiting.target().clone();
        let encode = AssertUnwindSafe(|| self.encode_answer(awaiting, answer, to));
        let reply = self.meter.converting(|| catch_unwind(encode));
        reply.unwrap_or_else(|_| {
            let operation = &target.operation().name;
            tracing::error!(operation, "packing an answer panicked");
            target.fault(&failed()).map(Encoded::from)
        })
    }

    /// The reply with a handler's answer or fault. If the answer cannot be encoded, the reply is a fault.
    fn encode_answer(&self, awaiting: AwaitingAnswer, answer: Answer, to: &Receiver) -> Reply {
        let blocks = |fault| awaiting.addressing_blocks(fault);
        let encoded = match answer.payload {
            Ok(payload) => Ok(self.encode_payload(
                awaiting.target(),
                payload,
                answer.extras,
                blocks(None),
                to,
            )),
            Err(fault) => Err(fault),
        };
        match encoded {
            Ok(Ok(encoded)) => awaiting.answered(encoded),
            Ok(Err(error @ Error::Hook { .. })) => {
                awaiting.fault(&refusal(error)).map(Encoded::from)
            }
            Ok(Err(error)) => {
                // A client can do nothing about an answer that does not match the WSDL: inform the operator.
                let operation = &awaiting.target().operation().name;
                tracing::error!(operation, "{}", report(&error));
                let fault =
                    Fault::receiver("the service returned an answer that its WSDL does not allow");
                awaiting.fault(&fault).map(Encoded::from)
            }
            Err(fault) => {
                let root = awaiting.target().binding().response;
                let encode = |record: Record| {
                    let stream = sending::faults(root);
                    sending::write(&to.scope, stream, &self.meter, record, false).ok()
                };
                let addressing = blocks(Some(&fault));
                let body = awaiting.target().fault_record(&fault).and_then(encode);
                match body.and_then(|body| with_blocks(awaiting.target(), body, addressing).ok()) {
                    Some(body) => awaiting.faulted(&fault, body.into()),
                    None => awaiting.fault(&fault).map(Encoded::from),
                }
            }
        }
    }

    /// Encodes a handler's answer as the body of the response Envelope.
    fn encode_payload(
        &self,
        target: &Target,
        payload: Payload,
        extras: Extras,
        addressing_blocks: Vec<String>,
        to: &Receiver,
    ) -> Result<Encoded, Error> {
        let headers = (!extras.headers.is_empty()).then_some(extras.headers);
        let mut record = match (payload, headers) {
            (Payload::Value(value), None) => target.response(value)?,
            (Payload::Value(value), Some(headers)) => {
                target.response(with_headers(value, headers))?
            }
            (Payload::Record(record), None) => record,
            // Generated services answer with Records. Few answers have header blocks, so the detour by a value is rare.
            (Payload::Record(record), Some(headers)) => {
                target.response(with_headers(target.response_value(&record), headers))?
            }
            (Payload::Packed(pack), headers) => {
                let contents = Contents::packed(&*pack);
                target.response(contents.with_headers(headers.unwrap_or_default()))?
            }
            (Payload::Streamed(value, rows), headers) => {
                let contents = with_headers(value, headers.unwrap_or_default());
                // The text has no place yet where blocks could be inserted later.
                let addressing = addressing::as_headers(addressing_blocks);
                let record = target.response(contents.with_more_headers(&addressing))?;
                if !record.attachments().is_empty() || !extras.attachments.is_empty() {
                    return Err(Error::Setup(
                        "a message with an array that is streamed cannot have attachments: give the binary values as octets".into(),
                    ));
                }
                let checked = record.check_with(to.scope.validation());
                checked.map_err(|error| target.unwritable(error))?;
                return Ok(rows.body(&record)?.into());
            }
        };
        self.hooks.before_encode(target, &mut record)?;
        if !Arc::ptr_eq(record.plan(), target.plan()) || record.root() != target.binding().response
        {
            return Err(Error::Setup(
                "the Record of the answer is not one of the response Envelope".into(),
            ));
        }
        let mut attachments = self.attachments.detach(&mut record, to.packing);
        attachments.extend(extras.attachments);
        let stream = sending::stream(0, target.binding().response, target);
        // A hint has locations in the text, which references to attachments move.
        let has_hint = to.has_hint && attachments.is_empty();
        let body = sending::write(&to.scope, stream, &self.meter, record, has_hint);
        let body = body.map_err(|error| target.unwritable(error))?;
        Ok(Encoded {
            text: with_blocks(target, body, addressing_blocks)?,
            attachments,
            packing: to.packing,
        })
    }
}

/// An encoded answer with header blocks of WS-Addressing, each as XML.
fn with_blocks(target: &Target, body: Body, blocks: Vec<String>) -> Result<Body, Error> {
    match blocks.is_empty() {
        true => Ok(body),
        false => insertion::insert(body, target.version(), blocks.concat()),
    }
}

/// The contents of an answer with header blocks in addition to those in its value, which they replace.
fn with_headers(mut value: Value, mut headers: Object) -> Contents<'static> {
    if let Value::Object(members) = &mut value
        && let Some(Value::Object(own)) = members.remove(HEADERS)
    {
        for (name, block) in own {
            if headers.get(&name).is_none() {
                headers.insert(name, block);
            }
        }
    }
    Contents::from(value).with_headers(headers)
}
