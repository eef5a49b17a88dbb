//! Decodes requests.

use std::sync::Arc;

use bsoap_codec::decode;
use bsoap_codec::plan::ElementId;
use bsoap_codec::repair::Repair;
use bsoap_differential::receive;
use bsoap_http::{Charge, Request, StatusCode, WorkError};
use bsoap_protocol::package::Packing;
use bsoap_protocol::{AwaitingAnswer, Fault, IncomingRequest, OutgoingReply, ReceivedRequest};
use bytes::Bytes;

use super::path::Path;
use super::reply::refusal;
use crate::attachments::Received;
use crate::limits::{LEAST_RECORD, USUAL_RECORD};
use crate::offload::{is_short, offload};
use crate::scope::PeerScope;
use crate::{Changes, receiving};

/// A decoded request, or the reply that refuses it.
pub(super) type Decoded = Result<DecodedRequest, Box<OutgoingReply>>;

/// A decoded request, its changes and the next step of the exchange.
pub(super) struct DecodedRequest {
    pub(super) received: ReceivedRequest,
    pub(super) changes: Changes,
    pub(super) awaiting: AwaitingAnswer,
    /// How attachments of the answer travel.
    pub(super) packing: Packing,
}

impl Path {
    /// Decodes a request, whose body is taken out of it.
    pub(super) async fn decode(
        self: &Arc<Self>,
        mut request: Request,
        scope: &PeerScope,
    ) -> (Decoded, Request) {
        // The body is freed as soon as it is decoded: the handler works with the Record.
        let body = std::mem::take(&mut request.body);
        let content_type = request.header("content-type").map(str::to_owned);
        let extensions = &mut request.extensions;
        let package = Received::of(
            extensions,
            content_type.as_deref(),
            &body,
            &self.attachments,
        );
        let package = match package {
            Ok(package) => package,
            Err(refusal) => {
                let reply = OutgoingReply::refused(refusal.status.as_u16(), refusal.reason);
                return (Err(Box::new(reply)), request);
            }
        };
        let body = package
            .as_ref()
            .map_or(body, |package| package.root().clone());
        if is_short(body.len()) {
            return (self.receive(&request, body, package, scope), request);
        }
        let (path, scope) = (Arc::clone(self), scope.clone());
        offload(move || (path.receive(&request, body, package, &scope), request)).await
    }

    fn receive(
        &self,
        request: &Request,
        body: Bytes,
        mut package: Option<Received>,
        scope: &PeerScope,
    ) -> Decoded {
        let of_root = package
            .as_ref()
            .map(|package| package.content_type().to_owned());
        let mut incoming = IncomingRequest {
            content_type: of_root
                .as_deref()
                .or_else(|| request.header("content-type")),
            soap_action: request.header("soapaction"),
            body,
        };
        let body = std::mem::take(&mut incoming.body);
        match self.hooks.after_receive(None, None, &request.headers, body) {
            Ok(body) => incoming.body = body,
            Err(error) => return Err(Box::new(self.endpoint.refuse(&incoming, &refusal(error)))),
        }
        if let Some(package) = &mut package {
            let root = std::mem::take(&mut incoming.body);
            match package.text(root.clone(), &self.decoders.options()) {
                Ok(text) => incoming.body = text,
                Err(error) => {
                    incoming.body = root;
                    let fault = Fault::sender(error.to_string());
                    return Err(Box::new(self.endpoint.refuse(&incoming, &fault)));
                }
            }
        }
        let charge = &request.charge;
        let read = || self.read(incoming, package, scope, charge);
        let decoded = self.meter.converting(read)?;
        let target = decoded.received.target();
        match self.hooks.after_decode(target, decoded.received.record()) {
            Ok(()) => Ok(decoded),
            Err(error) => Err(Box::new(decoded.awaiting.fault(&refusal(error)))),
        }
    }

    fn read(
        &self,
        incoming: IncomingRequest<'_>,
        package: Option<Received>,
        scope: &PeerScope,
        charge: &Arc<Charge>,
    ) -> Decoded {
        let attached = package.as_ref().map_or(0, Received::memory);
        let content_type = incoming.content_type;
        let body = incoming.body.as_ptr();
        let mut undecoded = self.endpoint.open(incoming)?;
        // A copy: in another encoding, or without the blocks for other nodes.
        let text = undecoded.text();
        let copied = if text.as_ptr() == body { 0 } else { text.len() };
        let no_memory = |text: &Bytes, error| {
            let request = IncomingRequest {
                content_type,
                body: text.clone(),
                ..IncomingRequest::default()
            };
            Err(Box::new(self.no_memory(&request, error)))
        };
        if let Err(error) = charge.add(copied as u64) {
            return no_memory(text, error);
        }
        loop {
            match self.read_charged(undecoded.root(), undecoded.text(), attached, scope, charge) {
                Ok(Ok(read)) => {
                    let changes = Changes::of(&read);
                    let is_mtom = package.as_ref().is_some_and(Received::is_mtom);
                    let is_required = self.mtom_requests.contains(&undecoded.root());
                    let record = match package {
                        Some(package) => package.attach(read.record),
                        None => read.record,
                    };
                    let (received, awaiting) = undecoded.decoded(record)?;
                    return Ok(DecodedRequest {
                        received,
                        changes,
                        awaiting,
                        packing: self.attachments.packing(is_mtom, is_required),
                    });
                }
                Ok(Err(error)) => undecoded = undecoded.undecodable(&error)?,
                Err(error) => return no_memory(undecoded.text(), error),
            }
        }
    }

    /// Decodes a message. The memory of its Record is charged before it is used: most Records need a few times as much as their
    /// text, and only those of sparse types are read again, with as much as the options of decoding allow. So is that for rewriting a
    /// message, which only lenient services do.
    fn read_charged(
        &self,
        root: ElementId,
        text: &Bytes,
        attached: u64,
        scope: &PeerScope,
        charge: &Arc<Charge>,
    ) -> Result<Result<receive::Received, decode::Error>, WorkError> {
        let body = charge.bytes();
        let options = self.decoders.options();
        let allowed = text.len().saturating_mul(options.record_per_byte);
        let allowed = allowed.max(options.record_floor);
        let mut limit = text.len().saturating_mul(USUAL_RECORD) + LEAST_RECORD;
        let (repair, mut is_repaired, mut rewriting) = (Repair::default(), false, 0);
        let read = loop {
            charge.resize(body + (limit + rewriting) as u64)?;
            let repair_now = if is_repaired { repair } else { repair.off() };
            let read = receiving::read(scope, &self.meter, root, text, repair_now, limit);
            match &read {
                Err(error) if error.is_record_memory() && limit < allowed => limit = allowed,
                Err(error)
                    if !is_repaired && repair.helps(error, self.definitions.plan(), &options) =>
                {
                    (is_repaired, rewriting) = (true, Repair::memory(text));
                }
                _ => break read,
            }
        };
        charge.resize(match &read {
            Ok(read) => read.record.memory() as u64 + attached,
            // The text may be read in another way.
            Err(_) => body,
        })?;
        Ok(read)
    }

    /// The reply to a request for whose Record there is no memory.
    fn no_memory(&self, request: &IncomingRequest<'_>, error: WorkError) -> OutgoingReply {
        match error {
            WorkError::TooLarge { .. } => self
                .endpoint
                .refuse(request, &Fault::sender(error.to_string())),
            _ => {
                let fault = Fault::receiver(error.to_string());
                let mut reply = self.endpoint.refuse(request, &fault);
                reply.status = StatusCode::SERVICE_UNAVAILABLE.as_u16();
                reply
            }
        }
    }
}
