//! The span of a call, with the names of OpenTelemetry's semantic conventions for remote procedure calls.
//!
//! A span that no subscriber is interested in costs one load of an atomic variable, and nothing is formatted for it.

use bsoap_http::Address;
use bsoap_protocol::{Reply, Target};
use tracing::Span;
use tracing::field::{Empty, display};

use crate::Error;

/// The span of a call whose message is about to be sent.
pub(super) fn call(target: &Target, address: &Address) -> Span {
    let (service, method) = (&target.binding().port_type, &target.operation().name);
    let uri = address.uri();
    tracing::info_span!(
        target: "bsoap",
        "soap call",
        otel.name = %format_args!("{service}/{method}"),
        otel.kind = "client",
        otel.status_code = Empty,
        rpc.system = "soap",
        rpc.service = service.as_str(),
        rpc.method = method.as_str(),
        server.address = uri.host().unwrap_or_default(),
        server.port = uri.port_u16().unwrap_or(if address.is_secure() { 443 } else { 80 }),
        http.request.method = "POST",
        http.request.resend_count = Empty,
        http.response.status_code = Empty,
        "error.type" = Empty,
    )
}

/// Records the status of the answer, and how often the message was sent again.
pub(super) fn answered(span: &Span, status: u16, attempts: u32) {
    span.record("http.response.status_code", status);
    if attempts > 1 {
        span.record("http.request.resend_count", attempts - 1);
    }
}

/// Records how the call ended.
pub(super) fn ended<T>(span: &Span, result: &Result<T, Error>, reply: impl Fn(&T) -> &Reply) {
    if span.is_disabled() {
        return;
    }
    match result.as_ref().map(reply) {
        Ok(Reply::Fault(fault)) => span.record("error.type", display(&fault.code)),
        Ok(_) => return,
        Err(error) => span.record("error.type", kind(error)),
    };
    span.record("otel.status_code", "ERROR");
}

/// A short name of an error's kind.
fn kind(error: &Error) -> &'static str {
    match error {
        error if error.is_timeout() => "timeout",
        error if error.is_connect() => "connect",
        Error::Transport(_) => "transport",
        Error::Exchange(_) => "exchange",
        Error::Hook { .. } => "hook",
        _ => "other",
    }
}
