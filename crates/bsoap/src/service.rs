//! The service: a WSDL's operations and their handlers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bsoap_http::{Routes, Server, ServerOptions};
use bsoap_schema::Definitions;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

use crate::tuning::Meter;
use crate::{Error, Wsdl};

mod builder;
mod documents;
mod handler;
mod page;
mod path;
mod site;

pub use builder::ServiceBuilder;
pub use handler::{IntoReply, Message, Payload, Typed};

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
            background: self.background,
            grace: self.options.grace,
        })
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

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

/// A service that listens at an address, but does not accept connections before [`run`](Self::run).
#[derive(Debug)]
pub struct Bound {
    server: Server,
    base: String,
    paths: Vec<String>,
    background: Background,
    grace: Duration,
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

    /// Serves until `stop` completes. Then waits for running requests and for the handlers of one-way operations, each up to
    /// the time of [`grace`](ServerOptions::grace), and returns.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        self.server.run(stop).await;
        self.background.finish(self.grace).await;
    }
}

/// The running handlers of one-way operations. They may run on after the client has its reply.
#[derive(Clone, Debug)]
struct Background {
    running: Arc<tokio::sync::Mutex<JoinSet<()>>>,
    permits: Arc<Semaphore>,
}

impl Background {
    /// At most `max` handlers run at a time. More wait, and so do their clients.
    fn new(max: usize) -> Self {
        Self {
            running: Arc::default(),
            permits: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
        }
    }

    async fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let mut running = self.running.lock().await;
        while let Some(ended) = running.try_join_next() {
            log_failure(&ended);
        }
        running.spawn(async move {
            task.await;
            drop(permit);
        });
    }

    async fn finish(&self, grace: Duration) {
        let mut running = std::mem::take(&mut *self.running.lock().await);
        let ends = async {
            while let Some(ended) = running.join_next().await {
                log_failure(&ended);
            }
        };
        if tokio::time::timeout(grace, ends).await.is_err() {
            tracing::warn!(
                "{} handlers of one-way operations did not end within the grace period and are aborted",
                running.len()
            );
        }
    }
}

/// Logs that the handler of a one-way operation failed. The client cannot be informed: it has its reply already.
fn log_failure(ended: &Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "the handler of a one-way operation failed");
    }
}
