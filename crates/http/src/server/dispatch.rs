//! What answers requests: routes and their options, for the server of this crate and, as a tower service, for others.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Body as HttpBody;
use hyper::{HeaderMap, Method};

use super::answered::Observation;
use super::connection::Connection;
use super::health::{self, Readiness};
use super::options::ServerOptions;
use super::pool::Network;
use super::rate::RateLimit;
use super::routes::Routes;
use super::{forwarded, head, request};
use crate::body::{AnyError, Body};

/// Routes with the options that apply to each request.
pub(super) struct Dispatch {
    pub(super) routes: Routes,
    pub(super) options: ServerOptions,
    /// `None` if it is not limited how many requests a client may send.
    rate: Option<RateLimit>,
}

impl Dispatch {
    pub(super) fn new(routes: Routes, options: ServerOptions) -> Self {
        Self {
            rate: options.max_requests_per_second.map(RateLimit::new),
            routes,
            options,
        }
    }

    /// The scheme of the server's URLs.
    pub(super) fn scheme(&self) -> &'static str {
        #[cfg(feature = "tls")]
        if self.options.identity.is_some() {
            return "https";
        }
        "http"
    }

    /// The address of the client that has sent a request: the one that trusted proxies name, otherwise that of the connection.
    pub(super) fn client(&self, headers: &HeaderMap, connection: &Connection) -> SocketAddr {
        let (peer, proxies) = (connection.peer(), &self.options.trusted_proxies);
        if proxies.is_empty() || !forwarded::is_trusted(proxies, peer.ip()) {
            return peer;
        }
        let client = forwarded::client(headers, proxies);
        client.map_or(peer, |address| SocketAddr::new(address, 0))
    }

    /// The answer to a request that is not passed to the routes: because it asks for the state of the server, because its head is
    /// not allowed, or because its client has sent too many.
    pub(super) fn check<B>(
        &self,
        incoming: &hyper::Request<B>,
        connection: &Connection,
        readiness: Readiness,
    ) -> Option<hyper::Response<Body>> {
        if *incoming.method() != Method::POST
            && let Some(state) = health::answer(incoming.uri().path(), &self.options, readiness)
        {
            return Some(state.into());
        }
        let refusal = head::check(incoming).or_else(|| {
            let rate = self.rate.as_ref()?;
            let client = self.client(incoming.headers(), connection);
            (!rate.allows(Network::of(client.ip()))).then(head::too_many)
        })?;
        Some(request::refuse(self, incoming, connection, refusal).into())
    }
}

/// Routes as a tower service of HTTP requests, to be mounted under any server that takes one.
///
/// Of the options, those about bodies, gzip and the public address apply; the others are those of the server around it. The
/// connection of a request is the [`Connection`] in its extensions. Without one, its peer is `0.0.0.0:0`.
///
/// ```
/// use bsoap_http::{Body, Request, Response, RouteService, Routes, ServerOptions};
/// use tower_service::Service;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let routes = Routes::new().at("/echo", async |request: Request| Response::new(200, "text/xml", request.body));
/// let mut service = RouteService::new(routes, ServerOptions::default());
///
/// let request = hyper::Request::post("/echo").body(Body::from("<a/>"))?;
/// let response = service.call(request).await.expect("it cannot fail");
/// assert_eq!(response.into_body().into_bytes(), "<a/>");
/// # Ok::<(), hyper::http::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct RouteService(Arc<Dispatch>);

impl RouteService {
    /// Creates a service of these routes.
    pub fn new(routes: Routes, options: ServerOptions) -> Self {
        Self(Arc::new(Dispatch::new(routes, options)))
    }
}

impl<B> tower_service::Service<hyper::Request<B>> for RouteService
where
    B: HttpBody<Data: Send, Error: Into<AnyError> + Send> + Send + 'static,
{
    type Response = hyper::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: hyper::Request<B>) -> Self::Future {
        let dispatch = Arc::clone(&self.0);
        Box::pin(async move {
            let known = request.extensions().get::<Connection>().cloned();
            let connection = known.unwrap_or_else(Connection::unknown);
            let mut request = request.map(Box::pin);
            let observation = Observation::begin(&dispatch, &mut request, &connection);
            let mut response = request::answer(&dispatch, request, &connection, &mut |_| {}).await;
            if let Some(mut observation) = observation {
                observation.answered(&mut response);
                observation.sent(response.body().len());
            }
            Ok(response)
        })
    }
}

impl fmt::Debug for RouteService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RouteService").field(&self.0.routes).finish()
    }
}
