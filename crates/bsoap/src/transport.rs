//! The transport of a client: HTTP by default, or one of the program's own, with tower layers over it.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bsoap_http::{Address, AnyError, Body, ErrorKind, Fetched, HeaderMap};
use bytes::Bytes;
use http::{Method, Request, Response};
use tower_layer::Layer;
use tower_service::Service;

/// The future of a [`Transport`].
///
/// ```
/// use bsoap::http::{Body, http::Request};
/// use bsoap::transport::{Transport, Transporting};
///
/// /// For tests: nothing gets through.
/// struct Offline;
///
/// impl Transport for Offline {
///     fn send(&self, _: Request<Body>) -> Transporting {
///         Box::pin(async { Err("offline".into()) })
///     }
/// }
/// ```
pub type Transporting = Pin<Box<dyn Future<Output = Result<Response<Bytes>, AnyError>> + Send>>;

/// Delivers the messages of a client and returns the answers. A request has the method, the address, the headers and the
/// message; a response has the status, the headers and the message. Closures that return a future are transports.
///
/// If no message could be sent, return an [`http::Error`](crate::http::Error) of kind
/// [`Connect`](crate::http::ErrorKind::Connect), so that [`Error::was_not_sent`](crate::Error::was_not_sent) is true.
///
/// ```
/// use bsoap::{Client, Value};
/// use bsoap::http::{AnyError, Body, Bytes, http};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// // A peer in the same program.
/// let transport = |request: http::Request<Body>| async move {
///     assert_eq!(request.uri(), "http://mesh.local/");
///     let answer = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
///         <m:sumDoublesResponse xmlns:m='urn:bsoap:mesh'><sum>4</sum></m:sumDoublesResponse></s:Body></s:Envelope>";
///     let answer = http::Response::builder().header("Content-Type", "text/xml").body(Bytes::from(answer))?;
///     Ok::<_, AnyError>(answer)
/// };
/// let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// let client = Client::builder(wsdl).endpoint("http://mesh.local/").transport(transport).build()?;
/// let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// assert_eq!(client.call("sumDoubles", &numbers).await?["sum"].as_f64(), Some(4.0));
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
pub trait Transport: Send + Sync {
    /// Delivers a message and returns the complete answer. A status such as 500 is an answer, not an error.
    fn send(&self, request: Request<Body>) -> Transporting;
}

impl<F, Sending> Transport for F
where
    F: Fn(Request<Body>) -> Sending + Send + Sync,
    Sending: Future<Output = Result<Response<Bytes>, AnyError>> + Send + 'static,
{
    fn send(&self, request: Request<Body>) -> Transporting {
        Box::pin(self(request))
    }
}

/// A [`Transport`] as a tower service, for [layers](crate::ClientBuilder::layer).
///
/// ```
/// use bsoap::Client;
/// use bsoap::transport::TransportService;
///
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// // A layer that changes nothing; those of tower limit, retry and log.
/// let layer = tower::layer::layer_fn(|inner: TransportService| inner);
/// let client = Client::builder(wsdl).endpoint("http://mesh.local/").layer(layer).build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone)]
pub struct TransportService(Arc<dyn Transport>);

impl Service<Request<Body>> for TransportService {
    type Response = Response<Bytes>;
    type Error = AnyError;
    type Future = Transporting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), AnyError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Transporting {
        self.0.send(request)
    }
}

impl fmt::Debug for TransportService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TransportService").finish_non_exhaustive()
    }
}

/// A tower service as a transport. Each message is sent by a clone of it.
struct Layered<S>(Mutex<S>);

impl<S> Transport for Layered<S>
where
    S: Service<
            Request<Body>,
            Response = Response<Bytes>,
            Error: Into<AnyError>,
            Future: Send + 'static,
        > + Clone
        + Send
        + 'static,
{
    fn send(&self, request: Request<Body>) -> Transporting {
        let mut service = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        Box::pin(async move {
            poll_fn(|context| service.poll_ready(context))
                .await
                .map_err(Into::into)?;
            service.call(request).await.map_err(Into::into)
        })
    }
}

/// Puts a layer around a transport.
pub(crate) type Wrap = Arc<dyn Fn(Arc<dyn Transport>) -> Arc<dyn Transport> + Send + Sync>;

/// The function that puts `layer` around a transport.
pub(crate) fn wrap<L, S>(layer: L) -> Wrap
where
    L: Layer<TransportService, Service = S> + Send + Sync + 'static,
    S: Service<
            Request<Body>,
            Response = Response<Bytes>,
            Error: Into<AnyError>,
            Future: Send + 'static,
        > + Clone
        + Send
        + 'static,
{
    Arc::new(move |inner| {
        let service = layer.layer(TransportService(inner));
        Arc::new(Layered(Mutex::new(service)))
    })
}

/// What delivers the messages of a client. HTTP without layers needs no allocation for the trait's future.
#[derive(Clone)]
pub(crate) enum Carrier {
    Http(bsoap_http::Client),
    Own {
        transport: Arc<dyn Transport>,
        /// The default HTTP headers of the client.
        headers: HeaderMap,
    },
}

impl Carrier {
    /// Posts a message within a time limit.
    pub(crate) async fn post(
        &self,
        address: &Address,
        headers: HeaderMap,
        body: Body,
        limit: Duration,
    ) -> Result<Fetched, crate::Error> {
        let (transport, defaults) = match self {
            Self::Http(client) => {
                return Ok(client.post_within(limit, address, headers, body).await?);
            }
            Self::Own { transport, headers } => (transport, headers),
        };
        let request = request(address, defaults, headers, body);
        let response = match tokio::time::timeout(limit, transport.send(request)).await {
            Ok(response) => response.map_err(|error| failed(address, error))?,
            Err(_) => {
                let late = bsoap_http::Error::new(ErrorKind::Timeout(limit), address.as_str());
                return Err(late.into());
            }
        };
        let (head, body) = response.into_parts();
        Ok(Fetched::new(
            address.clone(),
            head.status,
            head.headers,
            body,
        ))
    }
}

fn request(
    address: &Address,
    defaults: &HeaderMap,
    headers: HeaderMap,
    body: Body,
) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = address.uri().clone();
    let mut all = defaults.clone();
    crate::client::set_all(&mut all, &headers);
    *request.headers_mut() = all;
    // The address with its credentials, for HTTP below the layers.
    request.extensions_mut().insert(address.clone());
    request
}

/// The error of a transport: our own, or another's in one of our own.
fn failed(address: &Address, error: AnyError) -> crate::Error {
    let error = match error.downcast::<bsoap_http::Error>() {
        Ok(error) => return (*error).into(),
        Err(error) => error,
    };
    match error.downcast::<crate::Error>() {
        Ok(error) => *error,
        Err(error) => bsoap_http::Error::new(ErrorKind::Custom, address.as_str())
            .because(error)
            .into(),
    }
}

/// HTTP as a transport, below the layers of a client.
pub(crate) struct HttpTransport(pub(crate) bsoap_http::Client);

impl Transport for HttpTransport {
    fn send(&self, request: Request<Body>) -> Transporting {
        let client = self.0.clone();
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            let known = head.extensions.remove::<Address>();
            let address = match known.filter(|address| *address.uri() == head.uri) {
                Some(address) => address,
                None => head.uri.to_string().parse()?,
            };
            // The time limit is that of the whole call, around the layers.
            let posted = client.post_within(Duration::MAX, &address, head.headers, body);
            let fetched = posted.await?;
            let mut response = Response::new(fetched.body);
            *response.status_mut() = fetched.status;
            *response.headers_mut() = fetched.headers;
            Ok(response)
        })
    }
}
