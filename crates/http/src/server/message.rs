//! The requests that the server passes to handlers, and the responses they return.

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::connection::Connection;
use crate::Body;

/// A POST to a path that has a handler: complete, and with gzip decompressed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The path it was sent to.
    pub path: String,
    /// The query, without its `?`.
    pub query: Option<String>,
    /// Its headers, as they came.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Who sent it.
    pub peer: SocketAddr,
    /// The connection that it arrived on.
    pub connection: Connection,
}

impl Request {
    /// A header's text, if there is one and it is ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A GET or HEAD request for a page.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PageRequest<'a> {
    /// The address that the client used, as `http://host:port`.
    pub base: &'a str,
    /// The path.
    pub path: &'a str,
    /// The query, without its `?`.
    pub query: Option<&'a str>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its status.
    pub status: StatusCode,
    /// Its headers; `Content-Length` and `Date` are added.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Body,
}

impl Response {
    /// An answer with a body. An invalid status becomes 500; a content type that is not a valid header value is left out.
    pub fn new(status: u16, content_type: &str, body: impl Into<Body>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut headers = HeaderMap::new();
        if let Ok(content_type) = HeaderValue::try_from(content_type) {
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    /// An answer without a body.
    pub fn empty(status: u16) -> Self {
        let mut response = Self::new(status, "", Body::default());
        response.headers.clear();
        response
    }

    /// An answer with a line of plain text.
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
