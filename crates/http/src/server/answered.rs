//! Reports answered requests, for access logs and metrics. Without a function to report to, nothing is recorded and no clock
//! is read.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hyper::http::Extensions;
use hyper::{HeaderMap, Method, Response, StatusCode, Uri, Version};

use crate::body::Body;

/// A request that was answered, or refused.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answered<'r> {
    /// The address of the client: the one that trusted proxies name (with port 0), otherwise that of the connection.
    pub peer: SocketAddr,
    /// The method of the request.
    pub method: &'r Method,
    /// The path and the query of the request.
    pub uri: &'r Uri,
    /// The version of HTTP.
    pub version: Version,
    /// The headers of the request.
    pub headers: &'r HeaderMap,
    /// The HTTP status of the response.
    pub status: StatusCode,
    /// The bytes of the request's body that were received, before decompression.
    pub received: u64,
    /// The bytes of the response's body that were sent, after compression.
    pub sent: u64,
    /// The time from the head of the request until the connection has taken the last byte of the response.
    pub duration: Duration,
    /// What the handler attached to its [`Response`](super::Response).
    pub extensions: &'r Extensions,
}

/// A function to which answered requests are reported. It must not block.
pub type OnAnswer = Arc<dyn Fn(&Answered<'_>) + Send + Sync>;

/// In the extensions of a request whose answer is reported: counts the bytes of its body.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed(Arc<AtomicU64>);

impl Observed {
    pub(super) fn count(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0)
    }
}

/// A request whose answer is reported, from its head on until it is dropped. Boxed, since most servers report nothing.
pub(super) struct Observation(Box<Inner>);

struct Inner {
    report: OnAnswer,
    begun: Instant,
    peer: SocketAddr,
    method: Method,
    uri: Uri,
    version: Version,
    headers: HeaderMap,
    received: Observed,
    sent: u64,
    /// `None` if the connection has ended before there was an answer. Then nothing is reported.
    status: Option<StatusCode>,
    extensions: Extensions,
}

impl Observation {
    /// Begins to observe a request of a client.
    pub(super) fn begin<B>(
        report: &OnAnswer,
        client: SocketAddr,
        incoming: &mut hyper::Request<B>,
    ) -> Self {
        let begun = Instant::now();
        let received = Observed::default();
        incoming.extensions_mut().insert(received.clone());
        Self(Box::new(Inner {
            report: Arc::clone(report),
            begun,
            peer: client,
            method: incoming.method().clone(),
            uri: incoming.uri().clone(),
            version: incoming.version(),
            headers: incoming.headers().clone(),
            received,
            sent: 0,
            status: None,
            extensions: Extensions::new(),
        }))
    }

    /// The request has this answer, which is sent now.
    pub(super) fn answered(&mut self, response: &mut Response<Body>) {
        self.0.status = Some(response.status());
        self.0.extensions = std::mem::take(response.extensions_mut());
    }

    /// The connection has taken this number of further bytes of the answer.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.0.sent += bytes;
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        let inner = &*self.0;
        let Some(status) = inner.status else { return };
        (inner.report)(&Answered {
            peer: inner.peer,
            method: &inner.method,
            uri: &inner.uri,
            version: inner.version,
            headers: &inner.headers,
            status,
            received: inner.received.0.load(Ordering::Relaxed),
            sent: inner.sent,
            duration: inner.begun.elapsed(),
            extensions: &inner.extensions,
        });
    }
}
