//! The span of a request, with the names of OpenTelemetry's semantic conventions for remote procedure calls.
//!
//! A span that no subscriber is interested in costs one load of an atomic variable, and nothing is formatted for it.

use bsoap_http::{Connection, RequestHead};
use bsoap_protocol::{OutgoingReply, Target};
use tracing::Span;
use tracing::field::{Empty, display};

/// The span of a request whose head has arrived. The other functions record what is known later.
pub(super) fn request(head: &RequestHead, connection: &Connection) -> Span {
    tracing::info_span!(
        target: "bsoap",
        "soap request",
        otel.name = Empty,
        otel.kind = "server",
        otel.status_code = Empty,
        rpc.system = "soap",
        rpc.service = Empty,
        rpc.method = Empty,
        http.request.method = head.method.as_str(),
        url.path = head.uri.path(),
        network.peer.address = %connection.peer().ip(),
        http.response.status_code = Empty,
        "error.type" = Empty,
    )
}

/// Records the operation that the request calls.
pub(super) fn calls(span: &Span, target: &Target) {
    if span.is_disabled() {
        return;
    }
    let (service, method) = (&target.binding().port_type, &target.operation().name);
    span.record("otel.name", display(format_args!("{service}/{method}")));
    span.record("rpc.service", service.as_str());
    span.record("rpc.method", method.as_str());
}

/// Records how the request was answered: with the code of the fault, or with the HTTP status of another error.
pub(super) fn answered<B>(span: &Span, reply: &OutgoingReply<B>) {
    if span.is_disabled() || (reply.fault.is_none() && reply.status < 400) {
        return;
    }
    span.record("otel.status_code", "ERROR");
    match &reply.fault {
        Some(code) => span.record("error.type", display(code)),
        None => span.record("error.type", reply.status.to_string()),
    };
}
