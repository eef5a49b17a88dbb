//! The reply to a request, and the HTTP response with it.

use std::time::Duration;

use bsoap_codec::Attachment;
use bsoap_http::{Body, Response, StatusCode};
use bsoap_protocol::package::Packing;
use bsoap_protocol::{AwaitingAnswer, Fault, OutgoingReply};
use http::HeaderValue;

use crate::Error;
use crate::attachments::Prepared;

pub(super) type Reply = OutgoingReply<Encoded>;

/// The body of an answer before it is put together with its attachments.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) text: Body,
    pub(super) attachments: Vec<Attachment>,
    pub(super) packing: Packing,
}

impl From<Vec<u8>> for Encoded {
    fn from(text: Vec<u8>) -> Self {
        Self::from(Body::from(text))
    }
}

impl From<Body> for Encoded {
    fn from(text: Body) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// The fault for a message that a hook refused. If the hook's error is a fault, it is that; the text of any other error is
/// logged, but not shown to the client.
pub(super) fn refusal(error: Error) -> Fault {
    let source = match error {
        Error::Hook { source, .. } => source,
        other => Box::new(other),
    };
    match source.downcast::<Fault>() {
        Ok(fault) => *fault,
        Err(error) => {
            tracing::warn!(%error, "a hook refused a message");
            Fault::receiver("the service refused the message")
        }
    }
}

/// The response to a request, before hooks; what it becomes with its attachments.
pub(super) fn response(reply: Reply) -> (Response, Prepared) {
    let Encoded {
        text,
        attachments,
        packing,
    } = reply.body;
    let mut prepared = match Prepared::new(text, &attachments, packing) {
        Ok(prepared) => prepared,
        Err(error) => {
            tracing::error!(%error, "the attachments of an answer cannot be sent");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            let text = "the service failed while it sent attachments";
            return (Response::plain(status, text), Prepared::default());
        }
    };
    let text = std::mem::take(&mut prepared.body);
    let mut response = match reply.content_type {
        Some(content_type) => Response::new(reply.status, content_type, text),
        None => Response::empty(reply.status),
    };
    if response.status == StatusCode::SERVICE_UNAVAILABLE {
        let second = HeaderValue::from_static("1");
        response.headers.insert("retry-after", second);
    }
    (response, prepared)
}

/// The reply to a request that can be sent again later.
pub(super) fn unavailable(awaiting: AwaitingAnswer, text: &str) -> Reply {
    let fault = awaiting.unavailable(text, Duration::from_secs(1));
    let mut reply = awaiting.fault(&fault);
    reply.status = StatusCode::SERVICE_UNAVAILABLE.as_u16();
    reply.map(Encoded::from)
}
