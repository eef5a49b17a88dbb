//! The client whose calls wait.

use std::fmt;

use bsoap_codec::Value;
use bsoap_protocol::{Reply, Request};
use tokio::runtime::{Builder, Runtime};

use super::no_runtime;
use crate::{ClientBuilder, Error, Wsdl};

/// A [`Client`](crate::Client) whose calls wait for their answers.
///
/// ```no_run
/// use bsoap::{Value, blocking::Client};
///
/// let client = Client::from_wsdl("examples/mesh/mesh.wsdl")?;
/// let arguments = Value::object([("values", Value::object([("item", Value::from(vec![1, 2]))]))]);
/// println!("{}", client.call("sumInts", &arguments)?.to_json());
/// # Ok::<(), bsoap::Error>(())
/// ```
///
/// Several threads may call at the same time. It must not be used inside an async runtime, whose thread it would block.
pub struct Client {
    client: crate::Client,
    /// Keeps connections alive between calls.
    runtime: Runtime,
}

impl Client {
    /// See [`Client::from_wsdl`](crate::Client::from_wsdl).
    ///
    /// # Errors
    /// As for that method.
    pub fn from_wsdl(wsdl: impl Into<Wsdl>) -> Result<Self, Error> {
        Self::new(crate::Client::builder(wsdl))
    }

    /// A client from a builder.
    ///
    /// # Errors
    /// As [`ClientBuilder::build`].
    pub fn new(builder: ClientBuilder) -> Result<Self, Error> {
        Ok(Self {
            client: builder.build()?,
            runtime: runtime()?,
        })
    }

    /// See [`Client::call`](crate::Client::call).
    ///
    /// # Errors
    /// As for that method.
    pub fn call(&self, operation: &str, arguments: &Value) -> Result<Value, Error> {
        self.wait(self.client.call(operation, arguments))
    }

    /// See [`Client::exchange`](crate::Client::exchange).
    ///
    /// # Errors
    /// As for that method.
    pub fn exchange(&self, request: Request) -> Result<Reply, Error> {
        self.wait(self.client.exchange(request))
    }

    /// Waits for any other call of the [`Client`](crate::Client).
    pub fn wait<T>(&self, calling: impl Future<Output = T>) -> T {
        self.runtime.block_on(calling)
    }

    /// The asynchronous client.
    pub fn inner(&self) -> &crate::Client {
        &self.client
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

fn runtime() -> Result<Runtime, Error> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(no_runtime)
}
