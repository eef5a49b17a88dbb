//! Routes as a tower service, for other servers.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Body as HttpBody;

use super::connection::Connection;
use super::dispatch::Dispatch;
use super::options::ServerOptions;
use super::request;
use super::routes::Routes;
use crate::body::{AnyError, Body};

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
            let observation = dispatch.observe(&mut request, &connection);
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
