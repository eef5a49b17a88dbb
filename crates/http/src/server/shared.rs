//! The state that all connections of a server share.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::dispatch::Dispatch;
use super::options::ServerOptions;
use super::pool::Pool;
use super::routes::Routes;
#[cfg(feature = "tls")]
use super::tls::Certificates;
use crate::Error;

/// The state that all connections of a server share.
pub(super) struct Shared {
    pub(super) dispatch: Dispatch,
    pub(super) pool: Arc<Pool>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<Certificates>,
    /// Cancelled when the server stops accepting connections.
    pub(super) closing: CancellationToken,
    /// Cancelled when the time that running requests have to end is over.
    pub(super) killed: CancellationToken,
}

impl Shared {
    pub(super) fn new(routes: Routes, options: ServerOptions) -> Result<Self, Error> {
        let (max, per_address) = (options.max_connections, options.max_connections_per_address);
        Ok(Self {
            #[cfg(feature = "tls")]
            tls: Certificates::new(&options)?,
            pool: Pool::new(max, per_address),
            dispatch: Dispatch::new(routes, options),
            closing: CancellationToken::new(),
            killed: CancellationToken::new(),
        })
    }
}
