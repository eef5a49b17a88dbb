//! A client for programs without `async`: its methods block until the answer is there.

use std::fmt;
use std::panic::resume_unwind;

use bsoap_codec::Value;
use bsoap_protocol::{Reply, Request};
use tokio::runtime::{Builder, Handle, Runtime};

use super::no_runtime;
use crate::{ClientBuilder, Error, Wsdl};

/// A [`Client`](crate::Client) whose methods block the calling thread until the answer is there.
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
/// Several threads may call at the same time. Inside an async runtime it works too, but blocks the runtime's thread: use
/// [`bsoap::Client`](crate::Client) there.
pub struct Client {
    client: crate::Client,
    /// The runtime that the calls run on. It keeps connections alive between calls.
    runtime: Runtime,
}

impl Client {
    /// A client of the WSDL's first port that has an address: see [`Client::from_wsdl`](crate::Client::from_wsdl).
    ///
    /// # Errors
    /// If the WSDL cannot be loaded, or has no port with an address.
    pub fn from_wsdl(wsdl: impl Into<Wsdl>) -> Result<Self, Error> {
        Self::new(crate::Client::builder(wsdl))
    }

    /// A client with the settings of a builder.
    ///
    /// # Errors
    /// The errors of [`ClientBuilder::build`].
    pub fn new(builder: ClientBuilder) -> Result<Self, Error> {
        Ok(Self {
            client: builder.build()?,
            runtime: runtime()?,
        })
    }

    /// Calls an operation and returns its result: see [`Client::call`](crate::Client::call).
    ///
    /// # Errors
    /// [`Error::Fault`] if the peer answers with a fault, others if there is no usable answer.
    pub fn call(&self, operation: &str, arguments: &Value) -> Result<Value, Error> {
        self.wait(self.client.call(operation, arguments))
    }

    /// Sends a request and waits for the reply: see [`Client::exchange`](crate::Client::exchange).
    ///
    /// # Errors
    /// If the request cannot be encoded or sent, or the reply cannot be used.
    pub fn exchange(&self, request: Request) -> Result<Reply, Error> {
        self.wait(self.client.exchange(request))
    }

    /// Blocks until a future completes, such as that of a method of the [inner](Self::inner) client, and returns its output.
    pub fn wait<T: Send>(&self, calling: impl Future<Output = T> + Send) -> T {
        if Handle::try_current().is_err() {
            return self.runtime.block_on(calling);
        }
        // A runtime cannot be entered on a thread of another one.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| self.runtime.block_on(calling));
            waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
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
