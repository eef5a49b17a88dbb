//! The service: operations of a WSDL, each with a handler.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bsoap_http::{Routes, Server, ServerOptions};
use bsoap_schema::Definitions;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

use crate::{Error, Meter, Wsdl};

mod builder;
mod documents;
mod handler;
mod page;
mod path;
mod site;

pub use builder::ServiceBuilder;
pub use handler::{IntoReply, Message, Payload, Typed};

/// A WSDL's services with a handler for each operation.
///
/// ```no_run
/// use bsoap::{Fault, Message, Service, Value};
///
/// async fn sum(message: Message) -> Result<Value, Fault> {
///     let arguments = message.value();
///     let Some(numbers) = arguments["values"]["item"].as_doubles() else {
///         return Err(Fault::sender("there is nothing to add up"));
///     };
///     Ok(Value::object([("sum", Value::from(numbers.iter().sum::<f64>()))]))
/// }
///
/// # async fn example() -> Result<(), bsoap::Error> {
/// let service = Service::builder("examples/mesh/mesh.wsdl").handle("sumDoubles", sum).build()?;
/// service.serve("127.0.0.1:8080").await
/// # }
/// ```
#[derive(Clone)]
pub struct Service {
    definitions: Arc<Definitions>,
    routes: Routes,
    paths: Vec<String>,
    options: ServerOptions,
    background: Background,
    meter: Meter,
}

impl Service {
    /// Sets a service up: a location, or the text itself.
    pub fn builder(wsdl: impl Into<Wsdl>) -> ServiceBuilder {
        ServiceBuilder::new(wsdl.into())
    }

    /// Serves at an address such as `127.0.0.1:8080`, for ever.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub async fn serve(self, address: &str) -> Result<(), Error> {
        self.bind(address).await?.run(std::future::pending()).await;
        Ok(())
    }

    /// Takes an address; port 0 takes a free one. Nothing is accepted before [`Bound::run`].
    ///
    /// # Errors
    /// If the address cannot be had.
    pub async fn bind(self, address: &str) -> Result<Bound, Error> {
        let server = Server::bind(address, self.routes, self.options.clone()).await?;
        let scheme = if self.options.identity.is_some() {
            "https"
        } else {
            "http"
        };
        Ok(Bound {
            base: format!("{scheme}://{}", server.address()),
            server,
            paths: self.paths,
            background: self.background,
            grace: self.options.grace,
        })
    }

    /// The WSDL.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// What went over the wire so far.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The paths served, one for each port.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

/// A service that has its address.
#[derive(Debug)]
pub struct Bound {
    server: Server,
    base: String,
    paths: Vec<String>,
    background: Background,
    grace: Duration,
}

impl Bound {
    /// The address taken.
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

    /// Serves until `stop` is done; then lets running requests end, and what one-way operations still do, each within the
    /// time of [grace](ServerOptions::grace), and returns.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        self.server.run(stop).await;
        self.background.finish(self.grace).await;
    }
}

/// Handlers of one-way operations, which go on when the client has its answer.
#[derive(Clone, Debug)]
struct Background {
    running: Arc<tokio::sync::Mutex<JoinSet<()>>>,
    room: Arc<Semaphore>,
}

impl Background {
    /// So many may run at a time; others wait, and their clients with them.
    fn new(most: usize) -> Self {
        Self {
            running: Arc::default(),
            room: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
        }
    }

    async fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let place = Arc::clone(&self.room)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let mut running = self.running.lock().await;
        while let Some(ended) = running.try_join_next() {
            tell(&ended);
        }
        running.spawn(async move {
            task.await;
            drop(place);
        });
    }

    async fn finish(&self, grace: Duration) {
        let mut running = std::mem::take(&mut *self.running.lock().await);
        let ends = async {
            while let Some(ended) = running.join_next().await {
                tell(&ended);
            }
        };
        if tokio::time::timeout(grace, ends).await.is_err() {
            tracing::warn!("{} one-way operations are given up", running.len());
        }
    }
}

/// Nobody waits for the answer of a one-way operation: only whoever runs the service can hear that it failed.
fn tell(ended: &Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "the handler of a one-way operation failed");
    }
}
