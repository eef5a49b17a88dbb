//! Layers of tower around a transport.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bsoap_http::{AnyError, Body};
use bytes::Bytes;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::interface::{Transport, Transporting};

/// A [`Transport`] as a tower service, for [layers](crate::ClientBuilder::layer).
///
/// ```
/// use bsoap::Client;
/// use bsoap::transport::TransportService;
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
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
