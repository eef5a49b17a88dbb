//! One exchange: a request is encoded and sent, its reply is read.

use std::sync::atomic::Ordering;

use bsoap_codec::Attachment;
use bsoap_differential::send::StreamKey;
use bsoap_http::HeaderMap;
use bsoap_http::{Body, BodyRefusal, Fetched};
use bsoap_protocol::{
    AwaitingReply, IncomingReply, OpenedReply, Reply, Request, RequestHeaders, Target,
};
use bytes::Bytes;
use tracing::{Instrument, Span};

use super::options::CallOptions;
use super::{Client, Inner, refusal, spans};
use crate::attachments::{Prepared, Received};
use crate::offload::{convert, weight_of_record};
use crate::scope::PeerScope;
use crate::transport::{Delivered, Outbound};
use crate::tuning::Meter;
use crate::{Changes, Error, attachments, hints, http_headers, receiving, sending};

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

/// An encoded message to send.
pub(super) struct Outgoing {
    pub(super) headers: RequestHeaders,
    pub(super) body: Body,
    pub(super) attachments: Vec<Attachment>,
}

/// A message as it is sent.
struct Ready {
    headers: HeaderMap,
    body: Body,
    /// The message without its attachments, if the call keeps it.
    kept: Option<Bytes>,
    awaiting: AwaitingReply,
    message_id: Option<String>,
}

/// A reply that has arrived.
pub(super) struct Arrived {
    /// Its body is the text to decode.
    pub(super) fetched: Fetched,
    pub(super) package: Option<Received>,
    /// The message without its attachments, as it was received, if the call keeps it.
    kept: Option<Bytes>,
}

impl Client {
    pub(super) async fn exchange_as(
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
            let mut attached = attachments.detach(&mut record, attachments.packing(false, false));
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

    /// Sends an encoded request and decodes the reply with the saved answers, in a span.
    pub(super) async fn deliver(
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
        let inner = &*self.inner;
        let keeps = options.is_some_and(|options| options.keeps_envelopes);
        let ready = self.ready(outgoing, awaiting, options)?;
        let message = Outbound {
            target: ready.awaiting.target(),
            is_idempotent: options.is_some_and(|options| options.is_idempotent),
            address: &inner.address,
            headers: ready.headers,
            body: ready.body,
            limit: options
                .and_then(|options| options.timeout)
                .unwrap_or(inner.timeout),
            attachments: &inner.attachments,
        };
        let Delivered { fetched, attempts } = inner.transport.post(message).await?;
        let status = fetched.status.as_u16();
        spans::answered(span, status, attempts);
        if inner.hints.is_on() {
            let wants = hints::are_wanted(&fetched.headers);
            inner.follows_hints.store(wants, Ordering::Relaxed);
        }
        let arrived = self.arrived(fetched, ready.awaiting.target(), keeps)?;
        let (fetched, package) = (arrived.fetched, arrived.package);
        let (length, scope, meter) = (fetched.body.len(), inner.scope.clone(), inner.meter.clone());
        let awaiting = ready.awaiting;
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
            inner.hooks.after_decode(answer.target(), answer.record())?;
        }
        Ok(Exchanged {
            reply,
            changes,
            status,
            headers,
            sent: ready.kept,
            received: arrived.kept,
            message_id: ready.message_id,
        })
    }

    /// Adds to an encoded message what is added when it is sent: HTTP headers, header blocks, what hooks change, attachments.
    fn ready(
        &self,
        outgoing: Outgoing,
        awaiting: AwaitingReply,
        options: Option<&CallOptions>,
    ) -> Result<Ready, Error> {
        let inner = &*self.inner;
        let mut headers = http_headers::of_request(outgoing.headers)?;
        inner.hints.offer(&mut headers);
        if let Some(options) = options {
            http_headers::set_all(&mut headers, &options.http_headers);
        }
        let (body, awaiting, message_id) =
            self.with_addressing(outgoing.body, awaiting, options)?;
        let body = self.secured(body)?;
        let packing = inner.attachments.packing(false, false);
        let prepared = Prepared::new(body, &outgoing.attachments, packing);
        let mut prepared = prepared.map_err(|error| Error::Setup(error.to_string()))?;
        let body = std::mem::take(&mut prepared.body);
        let body = inner
            .hooks
            .before_send(awaiting.target(), &mut headers, body)?;
        let keeps = options.is_some_and(|options| options.keeps_envelopes);
        let kept = (keeps && body.is_whole()).then(|| body.clone().into_bytes());
        prepared.body = body;
        let body = prepared.frame(&mut headers);
        inner.meter.sends(body.len());
        Ok(Ready {
            headers,
            body,
            kept,
            awaiting,
            message_id,
        })
    }

    /// Takes the message out of a reply's package, and what hooks make of it.
    pub(super) fn arrived(
        &self,
        mut fetched: Fetched,
        target: &Target,
        keeps: bool,
    ) -> Result<Arrived, Error> {
        let inner = &*self.inner;
        inner.meter.receives(fetched.body.len());
        let broken = |refusal: BodyRefusal| {
            let kind = bsoap_http::ErrorKind::Body;
            bsoap_http::Error::new(kind, inner.address.as_str()).because(refusal)
        };
        let content_type = fetched.content_type().map(str::to_owned);
        let (extensions, content_type) = (&mut fetched.extensions, content_type.as_deref());
        let package = Received::of(extensions, content_type, &fetched.body, &inner.attachments);
        let mut package = package.map_err(broken)?;
        if let Some(package) = &package {
            fetched.body = package.root().clone();
        }
        let kept = keeps.then(|| fetched.body.clone());
        let status = Some(fetched.status.as_u16());
        let (hooks, headers) = (&inner.hooks, &fetched.headers);
        fetched.body = hooks.after_receive(Some(target), status, headers, fetched.body)?;
        if let Some(package) = &mut package {
            let text = package.text(fetched.body, &inner.decoders.options());
            fetched.body = text.map_err(|error| broken(attachments::refusal(error)))?;
        }
        Ok(Arrived {
            fetched,
            package,
            kept,
        })
    }
}

/// Decodes a reply with the earlier answers saved in the scope. Returns the reply and its changes since the last similar
/// one.
pub(super) fn read_reply(
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
    let (root, text, repair) = (undecoded.root(), undecoded.text(), undecoded.repair());
    match receiving::read(scope, meter, root, text, repair, usize::MAX) {
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
