//! What answers requests: routes and their options, for the server of this crate and, as a tower service, for others.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Body as HttpBody;

use super::connection::Connection;
use super::options::ServerOptions;
use super::request;
use super::routes::Routes;
use crate::body::{AnyError, Body};
#[cfg(feature = "gzip")]
use crate::gzip::Quota;

/// Routes with the options that apply to each request.
pub(super) struct Dispatch {
    pub(super) routes: Routes,
    pub(super) options: ServerOptions,
    /// Limits the memory of decompressed bodies.
    #[cfg(feature = "gzip")]
    pub(super) quota: Arc<Quota>,
}

impl Dispatch {
    pub(super) fn new(routes: Routes, options: ServerOptions) -> Self {
        Self {
            #[cfg(feature = "gzip")]
            quota: Quota::new(options.max_decompressed),
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
            let request = request.map(Box::pin);
            Ok(request::answer(&dispatch, request, &connection).await)
        })
    }
}

impl fmt::Debug for RouteService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RouteService").field(&self.0.routes).finish()
    }
}
