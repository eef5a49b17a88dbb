//! Selects the handler for a path.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use super::answered::OnAnswer;
use super::connection::Connection;
use super::message::{PageRequest, Request, Response};
use crate::reading::{BodyReader, BodyRefusal};
use crate::work::Owner;

/// The future that [`Handler::handle`] returns.
pub type BoxedAnswer<'a> = Pin<Box<dyn Future<Output = Response> + Send + 'a>>;

/// Answers the requests to one path. Any `async fn(Request) -> Response` is a handler.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request.
    fn handle(&self, request: Request) -> BoxedAnswer<'_>;

    /// The span of a request, made as soon as its head has arrived. It has a field `http.response.status_code` that is set
    /// when the request is answered; if the request is refused before it reaches the handler, also `error.type`. By default
    /// there is none.
    fn span(&self, _head: &RequestHead, _connection: &Connection) -> tracing::Span {
        tracing::Span::none()
    }

    /// The sender of a request, as soon as its head has arrived: memory is shared out between senders. By default (`None`) it is
    /// the network of its address. What is put into the extensions of the head is in those of the request.
    ///
    /// # Errors
    /// The response that refuses the request.
    fn identify(
        &self,
        _head: &mut RequestHead,
        _client: &Client<'_>,
    ) -> Result<Option<Owner>, Box<Response>> {
        Ok(None)
    }

    /// The reader of a request's body, if it is not to be collected in memory. It has limits of its own; the maximum length of a
    /// body does not apply. A compressed body is always collected.
    ///
    /// # Errors
    /// Why a body with these headers is not accepted.
    fn reader(&self, _head: &RequestHead) -> Result<Option<Box<dyn BodyReader>>, BodyRefusal> {
        Ok(None)
    }
}

/// Who has sent a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Client<'r> {
    /// The address of the client: the one that trusted proxies name, otherwise that of the connection.
    pub address: SocketAddr,
    /// The connection.
    pub connection: &'r Connection,
}

/// The method, the address and the headers of a request.
pub type RequestHead = hyper::http::request::Parts;

impl<F, Answer> Handler for F
where
    F: Fn(Request) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Response> + Send + 'static,
{
    fn handle(&self, request: Request) -> BoxedAnswer<'_> {
        Box::pin(self(request))
    }
}

/// A request that was not processed, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal<'r> {
    /// The address of the client.
    pub peer: SocketAddr,
    /// The method of the request.
    pub method: &'r str,
    /// The path of the request.
    pub path: &'r str,
    /// The HTTP status of the response.
    pub status: u16,
    /// Why the request is refused.
    pub reason: &'r str,
}

impl<'r> Refusal<'r> {
    /// A request that a handler refuses.
    pub fn new(request: &'r Request, status: u16, reason: &'r str) -> Self {
        Self {
            peer: request.peer,
            method: "POST",
            path: &request.path,
            status,
            reason,
        }
    }
}

/// A function to which refused requests are reported.
pub type OnRefusal = Arc<dyn Fn(&Refusal<'_>) + Send + Sync>;

/// The handlers of a server by path, and the function that answers GET requests.
#[derive(Clone, Default)]
pub struct Routes {
    pub(super) handlers: HashMap<String, Arc<dyn Handler>>,
    pub(super) pages: Option<Arc<Pages>>,
    pub(super) pages_by_path: HashMap<String, Arc<Pages>>,
    pub(super) on_refusal: Option<OnRefusal>,
    pub(super) on_answer: Option<OnAnswer>,
}

pub(super) type Pages = dyn Fn(&PageRequest<'_>) -> Response + Send + Sync;

impl Routes {
    /// Creates routes without any path.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes requests for `path` to `handler`.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>, handler: impl Handler) -> Self {
        self.handlers.insert(path.into(), Arc::new(handler));
        self
    }

    /// Adds the handlers and the single pages of other routes. The functions for GET requests, refusals and answers remain those of
    /// these routes.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.handlers.extend(other.handlers);
        self.pages_by_path.extend(other.pages_by_path);
        self
    }

    /// Sets the function to which requests are reported that are refused before they reach a handler: because of their path, their
    /// method or their body.
    #[must_use]
    pub fn on_refusal(mut self, report: OnRefusal) -> Self {
        self.on_refusal = Some(report);
        self
    }

    /// Sets the function to which every answered request is reported, refused ones and pages included, when its answer has been
    /// sent: for access logs and metrics. A request whose head is malformed is not reported, nor is one whose client is gone before
    /// there is an answer. Under another server ([`RouteService`](super::RouteService)) it is called when the answer is passed on.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use bsoap_http::{Request, Response, Routes};
    ///
    /// let routes = Routes::new()
    ///     .at("/echo", async |request: Request| Response::new(200, "text/xml", request.body))
    ///     .on_answer(Arc::new(|answered| {
    ///         println!("{} {} {:?}", answered.uri.path(), answered.status, answered.duration);
    ///     }));
    /// ```
    #[must_use]
    pub fn on_answer(mut self, report: OnAnswer) -> Self {
        self.on_answer = Some(report);
        self
    }

    /// Sets the function that answers GET requests for `/` and for the paths of handlers. Without it, they are refused.
    #[must_use]
    pub fn pages(
        mut self,
        pages: impl Fn(&PageRequest<'_>) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.pages = Some(Arc::new(pages));
        self
    }

    /// Sets the function that answers GET requests for one path, such as `/metrics`.
    ///
    /// ```
    /// use bsoap_http::{PageRequest, Response, Routes};
    ///
    /// let robots = |_: &PageRequest<'_>| Response::new(200, "text/plain", "User-agent: *\nDisallow: /\n");
    /// let routes = Routes::new().page("/robots.txt", robots);
    /// ```
    #[must_use]
    pub fn page(
        mut self,
        path: impl Into<String>,
        page: impl Fn(&PageRequest<'_>) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.pages_by_path.insert(path.into(), Arc::new(page));
        self
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("paths", &self.handlers.keys())
            .finish_non_exhaustive()
    }
}
