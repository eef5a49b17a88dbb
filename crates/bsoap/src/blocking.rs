//! Clients and services without `async`, for scripts and programs that have no runtime.

#[cfg(feature = "server")]
use tokio::runtime::Builder;

use crate::Error;
#[cfg(feature = "server")]
use crate::Service;

#[cfg(feature = "client")]
mod client;

#[cfg(feature = "client")]
pub use client::Client;

/// Serves `service` at `address` until the program ends. The runtime has one thread for each processor.
///
/// # Errors
/// If the server cannot listen at the address.
#[cfg(feature = "server")]
pub fn serve(service: Service, address: &str) -> Result<(), Error> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(no_runtime)?;
    runtime.block_on(service.serve(address))
}

fn no_runtime(error: std::io::Error) -> Error {
    Error::Setup(format!("cannot start a runtime: {error}"))
}
