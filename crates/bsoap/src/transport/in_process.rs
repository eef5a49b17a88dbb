//! A service in the same program as a transport: no sockets, no HTTP on a wire.

use std::net::{Ipv4Addr, SocketAddr};

use bsoap_http::{Body, Connection};
use http::{Request, Response};
use tower_service::Service as _;

use super::interface::{Transport, Transporting};
use crate::Service;

/// A transport to a [`Service`] in the same program, for tests and for programs that contain both. Messages are encoded, decoded and
/// checked as over HTTP; there are no sockets. Of the client's address, only the path matters.
///
/// ```
/// use bsoap::transport::InProcess;
/// use bsoap::{Client, Message, Service, Value};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?;
/// let client = Client::builder(wsdl).transport(InProcess::new(service)).build()?;
/// let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// assert_eq!(client.call("sumDoubles", &numbers).await?["sum"].as_f64(), Some(4.0));
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct InProcess {
    service: Service,
    /// What the service sees as the client's connection, so that it saves messages for it.
    connection: Connection,
}

impl InProcess {
    /// A transport to a service. Each one is a connection of its own to the service.
    pub fn new(service: Service) -> Self {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            service,
            connection: Connection::new(nowhere, None),
        }
    }
}

impl Transport for InProcess {
    fn send(&self, mut request: Request<Body>) -> Transporting {
        let mut service = self.service.clone();
        request.extensions_mut().insert(self.connection.clone());
        Box::pin(async move {
            let (head, body) = service.call(request).await?.into_parts();
            Ok(Response::from_parts(head, body.collect().await?))
        })
    }
}
