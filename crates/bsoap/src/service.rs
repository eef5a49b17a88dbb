//! The service: a WSDL's operations and their handlers.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bsoap_http::{AnyError, Body, RouteService, Routes, Server, ServerOptions};
use bsoap_schema::Definitions;
use http::{Request, Response};
use http_body::Body as HttpBody;

use crate::tuning::Meter;
use crate::{Error, Wsdl};

mod background;
mod builder;
mod called;
mod decoding;
mod documents;
mod elsewhere;
mod encoding;
mod handler;
mod handling;
mod load;
mod page;
mod path;
mod ports;
mod reply;
mod running;
mod site;
mod spans;
mod stop;

use background::Background;
use site::Site;

pub use builder::ServiceBuilder;
pub use called::Called;
pub use handler::{IntoReply, Message, Payload, Typed};
pub use stop::stop_signal;

/// The services of a WSDL, with a handler for each operation.
///
/// ```no_run
/// use bsoap::{Fault, Message, Service, Value};
///
/// async fn sum(message: Message) -> Result<Value, Fault> {
///     let arguments = message.value();
///     let Some(numbers) = arguments["values"]["item"].as_doubles() else {
///         return Err(Fault::sender("values is missing"));
///     };
///     Ok(Value::object([("sum", Value::from(numbers.iter().sum::<f64>()))]))
/// }
///
/// # async fn example() -> Result<(), bsoap::Error> {
/// let service = Service::builder("examples/mesh/mesh.wsdl").handle("sumDoubles", sum).build()?;
/// service.serve("127.0.0.1:8080").await
/// # }
/// ```
///
/// A service is also a [`tower_service::Service`] of HTTP requests: it can be mounted beside other routes, under axum with
/// `Router::route_service` for each of its [`paths`](Self::paths) or `Router::fallback_service`. Then the limits on bodies,
/// gzip and the public address of its [options](ServiceBuilder::options) apply; connections, TLS and the other limits are
/// those of the server around it. It runs in that server's [span](tracing) and sees its
/// [extensions](Message::extensions). Messages are saved for each [principal](ServiceBuilder::principal), or for each
/// [`Connection`](crate::http::Connection) in the extensions of requests; otherwise they are not saved.
#[derive(Clone)]
pub struct Service {
    definitions: Arc<Definitions>,
    routes: Routes,
    sites: Vec<Arc<Site>>,
    paths: Vec<String>,
    options: ServerOptions,
    backgrounds: Vec<Background>,
    meter: Meter,
    /// The meters of this service and of those merged into it.
    #[cfg(feature = "metrics")]
    meters: Vec<Meter>,
    mounted: RouteService,
}

impl Service {
    /// A builder for a service of this WSDL: a path, a URL or the text of the WSDL.
    pub fn builder(wsdl: impl Into<Wsdl>) -> ServiceBuilder {
        ServiceBuilder::new(wsdl.into())
    }

    /// Serves at an address such as `127.0.0.1:8080` until the program ends.
    ///
    /// # Errors
    /// If the server cannot listen at the address.
    pub async fn serve(self, address: &str) -> Result<(), Error> {
        self.bind(address).await?.run(std::future::pending()).await;
        Ok(())
    }

    /// Listens at an address; port 0 selects a free one. No connection is accepted before [`Bound::run`].
    ///
    /// # Errors
    /// If the server cannot listen at the address.
    pub async fn bind(self, address: &str) -> Result<Bound, Error> {
        let server = Server::bind(address, self.routes, self.options.clone()).await?;
        Ok(Bound {
            base: format!("{}://{}", server.scheme(), server.address()),
            server,
            paths: self.paths,
            backgrounds: self.backgrounds,
            #[cfg(feature = "metrics")]
            meters: self.meters,
            shutdown_timeout: self.options.shutdown_timeout,
        })
    }

    /// Serves another service at the same address, with the options of this one. `definitions` and `meter` remain those of
    /// this service; a clone of the other one still has its own.
    ///
    /// ```
    /// use bsoap::Service;
    ///
    /// # let mesh = include_str!("../../../examples/mesh/mesh.wsdl");
    /// # let sensors = include_str!("../../../examples/sensors/sensors.wsdl");
    /// let service = Service::builder(mesh).build()?.merge(Service::builder(sensors).build()?)?;
    /// assert_eq!(service.paths().len(), 3);
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    ///
    /// # Errors
    /// If both services have the same path.
    pub fn merge(mut self, other: Self) -> Result<Self, Error> {
        if let Some(path) = other.paths.iter().find(|path| self.paths.contains(path)) {
            return Err(Error::Setup(format!(
                "two services cannot be served at the same path {path}"
            )));
        }
        self.paths.extend(other.paths);
        self.sites.extend(other.sites);
        self.backgrounds.extend(other.backgrounds);
        #[cfg(feature = "metrics")]
        self.meters.extend(other.meters);
        let routes = self.routes.merge(other.routes);
        (self.routes, self.mounted) = mount(routes, &self.sites, &self.options);
        Ok(self)
    }

    /// Waits for the handlers of one-way operations, up to the time of [`shutdown_timeout`](ServerOptions::shutdown_timeout), and aborts those
    /// that are still running. [`Bound::run`] does so at its end; under another server, call it after that has ended.
    pub async fn finish(&self) {
        for background in &self.backgrounds {
            background.finish(self.options.shutdown_timeout).await;
        }
    }

    /// The loaded WSDL.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// The counts of messages and bytes so far.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The paths of the URLs that are served, one for each port.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }
}

/// The routes with the pages of all services, and the same as a tower service.
fn mount(routes: Routes, sites: &[Arc<Site>], options: &ServerOptions) -> (Routes, RouteService) {
    let sites = sites.to_vec();
    let routes = routes.pages(move |request| site::answer(&sites, request));
    (routes.clone(), RouteService::new(routes, options.clone()))
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: HttpBody<Data: Send, Error: Into<AnyError> + Send> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.mounted.call(request)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

/// A service that listens at an address, but does not accept connections before [`run`](Self::run).
///
/// ```
/// use bsoap::{Message, Service, Value};
///
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
/// assert!(service.urls()[0].starts_with("http://127.0.0.1:"));
/// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
/// let running = tokio::spawn(service.run(async { stopped.await.unwrap_or_default() }));
/// drop(stop);
/// running.await.expect("it ended");
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Bound {
    server: Server,
    base: String,
    paths: Vec<String>,
    backgrounds: Vec<Background>,
    #[cfg(feature = "metrics")]
    meters: Vec<Meter>,
    shutdown_timeout: Duration,
}

impl Bound {
    /// The address that the service listens at.
    pub fn address(&self) -> std::net::SocketAddr {
        self.server.address()
    }

    /// The URLs of the ports.
    pub fn urls(&self) -> Vec<String> {
        self.paths
            .iter()
            .map(|path| format!("{}{path}", self.base))
            .collect()
    }

    /// The scheme and the address, such as `http://127.0.0.1:8080`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The certificates of the service, to replace them while it runs. `None` over plain HTTP.
    #[cfg(feature = "tls")]
    pub fn certificates(&self) -> Option<bsoap_http::Certificates> {
        self.server.certificates()
    }

    /// What happens at the server, to look at while it runs: open connections, memory in work.
    pub fn watch(&self) -> bsoap_http::Watch {
        self.server.watch()
    }

    /// Records the state of the server and the work that saved messages avoid, for the crate `metrics`.
    #[cfg(feature = "metrics")]
    pub fn sampler(&self) -> crate::metrics::Sampler {
        crate::metrics::Sampler::new(self.watch(), self.meters.clone(), self.address())
    }

    /// Serves until `stop` completes, for example at a [signal](stop_signal). Then accepts no more connections, answers the
    /// requests that were sent, waits for the handlers of one-way operations, each up to the time of [`shutdown_timeout`](ServerOptions::shutdown_timeout), and returns.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        self.server.run(stop).await;
        for background in &self.backgrounds {
            background.finish(self.shutdown_timeout).await;
        }
    }
}
