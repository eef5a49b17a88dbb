//! The requests that the server passes to handlers, and the responses that handlers return.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::Extensions;

use super::answered::Observed;
use super::connection::Connection;
use crate::Body;
use crate::work::Charge;

/// A complete POST request to a path that has a handler, decompressed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The path of the requested URL.
    pub path: String,
    /// The query of the URL, without its `?`. `None` if there is none.
    pub query: Option<String>,
    /// The headers as received.
    pub headers: HeaderMap,
    /// The body after decompression.
    pub body: Bytes,
    /// The address of the client: the one that trusted proxies name (with port 0), otherwise that of the connection.
    pub peer: SocketAddr,
    /// The connection that it arrived on.
    pub connection: Connection,
    /// What the layers of a tower stack attached to the request.
    pub extensions: Extensions,
    /// What its memory is charged to: at first that of the body. A handler that needs more memory changes it.
    pub charge: Arc<Charge>,
    /// The span of the request, which its handler made ([`Handler::span`](super::Handler::span)). The handler runs in it.
    pub span: tracing::Span,
}

impl Request {
    /// The value of a header. `None` if there is no such header, or it is not visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether the answer is reported to the function of [`Routes::on_answer`](super::Routes::on_answer): then the handler may
    /// attach what that function wants to know to its response.
    pub fn is_observed(&self) -> bool {
        self.extensions.get::<Observed>().is_some()
    }
}

/// A GET or HEAD request for a page.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PageRequest<'a> {
    /// The address that the client used, as `http://host:port`.
    pub base: &'a str,
    /// The path of the requested URL.
    pub path: &'a str,
    /// The query of the URL, without its `?`. `None` if there is none.
    pub query: Option<&'a str>,
}

/// The response to a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers. The server adds `Content-Length` and `Date`.
    pub headers: HeaderMap,
    /// The body of the response.
    pub body: Body,
    /// What the function of [`Routes::on_answer`](super::Routes::on_answer) gets to know of the answer. It is not sent.
    pub extensions: Extensions,
}

impl Response {
    /// A response with a body. An invalid status becomes 500. A content type that is not a valid header value is left out.
    pub fn new(
        status: u16,
        content_type: impl Into<Cow<'static, str>>,
        body: impl Into<Body>,
    ) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut headers = HeaderMap::new();
        let content_type = match content_type.into() {
            Cow::Borrowed(content_type) => Bytes::from_static(content_type.as_bytes()),
            Cow::Owned(content_type) => content_type.into(),
        };
        if let Ok(content_type) = HeaderValue::from_maybe_shared(content_type) {
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        Self {
            status,
            headers,
            body: body.into(),
            extensions: Extensions::new(),
        }
    }

    /// A response without a body.
    pub fn empty(status: u16) -> Self {
        let mut response = Self::new(status, "", Body::default());
        response.headers.clear();
        response
    }

    /// A response with a line of plain text.
    pub fn plain(status: StatusCode, text: &str) -> Self {
        Self::new(
            status.as_u16(),
            "text/plain; charset=utf-8",
            format!("{text}\n"),
        )
    }

    /// Adds a header.
    pub(super) fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

impl From<Response> for hyper::Response<Body> {
    fn from(response: Response) -> Self {
        let mut answer = Self::new(response.body);
        *answer.status_mut() = response.status;
        *answer.headers_mut() = response.headers;
        *answer.extensions_mut() = response.extensions;
        answer
    }
}
