//! What a transport is.

use std::pin::Pin;

use bsoap_http::{AnyError, Body};
use bytes::Bytes;
use http::{Request, Response};

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
/// let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
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
