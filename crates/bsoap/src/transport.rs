//! The transport of a client: HTTP by default, or one of the program's own, with layers over it.
//!
//! Layers add what HTTP itself does not have: authentication with a challenge or a token, cookies, repetitions. Their order is fixed,
//! so that each attempt has the cookies and the token of its moment:
//!
//! ```text
//! client ─► retries ─► layers of the program ─► recording ─► Digest or Bearer ─► cookies ─► transport
//! ```

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bsoap_http::{Address, AnyError, Body, ErrorKind, Fetched, HeaderMap, ReadAnswer};
use bsoap_protocol::Target;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, Request, Response};
use tower_layer::Layer;
use tower_service::Service;

mod bearer;
mod carrying;
mod context;
#[cfg(feature = "cookies")]
mod cookies;
#[cfg(feature = "digest")]
mod digest;
mod files;
#[cfg(feature = "server")]
mod in_process;
#[cfg(feature = "retry")]
mod retry;

use crate::attachments::Attachments;
pub(crate) use bearer::Bearer;
pub use bearer::{ObtainingToken, Token, TokenSource};
pub(crate) use carrying::{Authentication, Carrying};
pub use context::CallContext;
#[cfg(feature = "cookies")]
pub(crate) use cookies::Cookies;
#[cfg(feature = "digest")]
pub(crate) use digest::Digest;
pub use files::FileTransport;
pub(crate) use files::Recorder;
#[cfg(feature = "server")]
pub use in_process::InProcess;
#[cfg(feature = "retry")]
pub use retry::Retries;
#[cfg(feature = "retry")]
pub(crate) use retry::Retrying;

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

/// A message to deliver.
pub(crate) struct Outbound<'m> {
    pub(crate) target: &'m Target,
    pub(crate) is_idempotent: bool,
    pub(crate) address: &'m Address,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
    /// The time limit of the whole call.
    pub(crate) limit: Duration,
    /// How packages in the answer are read.
    pub(crate) attachments: &'m Attachments,
}

/// The answer to a message.
pub(crate) struct Delivered {
    pub(crate) fetched: Fetched,
    /// How often a layer attempted to deliver the message; 0 if nothing counted.
    pub(crate) attempts: u32,
}

impl Carrier {
    /// Posts a message within its time limit.
    pub(crate) async fn post(&self, message: Outbound<'_>) -> Result<Delivered, crate::Error> {
        let (address, limit) = (message.address, message.limit);
        let (transport, defaults) = match self {
            Self::Http(client) => {
                let (headers, body) = (message.headers, message.body);
                let reading: Option<&dyn ReadAnswer> = Some(message.attachments);
                let posted = client.post_reading(limit, address, headers, body, reading);
                return Ok(Delivered {
                    fetched: posted.await?,
                    attempts: 0,
                });
            }
            Self::Own { transport, headers } => (transport, headers),
        };
        let context = CallContext::new(message.target.clone(), message.is_idempotent, limit);
        let mut request = request(address, defaults, message.headers, message.body);
        request.extensions_mut().insert(context.clone());
        // For HTTP below the layers.
        request.extensions_mut().insert(message.attachments.clone());
        let response = match tokio::time::timeout(limit, transport.send(request)).await {
            Ok(response) => response.map_err(|error| failed(address, error)),
            Err(_) => Err(Failed::Transport(bsoap_http::Error::new(
                ErrorKind::Timeout(limit),
                address.as_str(),
            ))),
        };
        let attempts = context.attempts();
        let (head, body) = response
            .map_err(|failed| failed.after(attempts))?
            .into_parts();
        let fetched = Fetched::new(address.clone(), head.status, head.headers, body);
        Ok(Delivered {
            fetched: fetched.with_extensions(head.extensions),
            attempts,
        })
    }
}

/// For an error: how often a message was sent. `None` if it was sent once.
pub(crate) fn attempts_note(attempts: u32) -> Option<String> {
    (attempts > 1).then(|| format!("after {attempts} attempts"))
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

/// The error of a transport or a layer.
enum Failed {
    Transport(bsoap_http::Error),
    /// An error of another kind, such as of a client that the transport uses.
    Other(crate::Error),
}

impl Failed {
    fn after(self, attempts: u32) -> crate::Error {
        match (self, attempts_note(attempts)) {
            (Self::Transport(error), Some(note)) => error.noting(note).into(),
            (Self::Transport(error), None) => error.into(),
            (Self::Other(error), _) => error,
        }
    }
}

/// The error of a transport: our own, or another's in one of our own.
fn failed(address: &Address, error: AnyError) -> Failed {
    let error = match error.downcast::<bsoap_http::Error>() {
        Ok(error) => return Failed::Transport(*error),
        Err(error) => error,
    };
    match error.downcast::<crate::Error>() {
        Ok(error) => match *error {
            crate::Error::Transport(error) => Failed::Transport(error),
            error => Failed::Other(error),
        },
        Err(error) => Failed::Transport(
            bsoap_http::Error::new(ErrorKind::Custom, address.as_str()).because(error),
        ),
    }
}

/// In the extensions of requests whose `Authorization` a layer of the client has added.
#[derive(Clone, Copy, Debug)]
struct AddedAuthorization;

fn set_authorization(request: &mut Request<Body>, value: HeaderValue) {
    request.headers_mut().insert(AUTHORIZATION, value);
    request.extensions_mut().insert(AddedAuthorization);
}

/// Whether the caller has given a request credentials of its own, in a header or in the address. Layers do not replace them.
fn has_credentials(request: &Request<Body>) -> bool {
    let address = request.extensions().get::<Address>();
    request.headers().contains_key(AUTHORIZATION)
        || address.is_some_and(|address| address.credentials().is_some())
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
            let attachments = head.extensions.remove::<Attachments>();
            let readers = attachments.as_ref().map(|it| it as &dyn ReadAnswer);
            let posted = client.post_reading(Duration::MAX, &address, head.headers, body, readers);
            let fetched = posted.await?;
            let mut response = Response::new(fetched.body);
            *response.status_mut() = fetched.status;
            *response.headers_mut() = fetched.headers;
            *response.extensions_mut() = fetched.extensions;
            Ok(response)
        })
    }
}
