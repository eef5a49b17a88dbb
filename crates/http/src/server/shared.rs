//! The state that all connections of a server share.

use tokio_util::sync::CancellationToken;

use super::dispatch::Dispatch;
use super::options::ServerOptions;
use super::routes::Routes;
#[cfg(feature = "tls")]
use super::tls;
use crate::Error;

/// The state that all connections of a server share.
pub(super) struct Shared {
    pub(super) dispatch: Dispatch,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<tokio_rustls::TlsAcceptor>,
    /// Cancelled when the server stops accepting requests.
    pub(super) closing: CancellationToken,
    /// Cancelled when the time that running requests have to end is over.
    pub(super) killed: CancellationToken,
}

impl Shared {
    pub(super) fn new(routes: Routes, options: ServerOptions) -> Result<Self, Error> {
        Ok(Self {
            #[cfg(feature = "tls")]
            tls: tls::acceptor(&options)?,
            dispatch: Dispatch::new(routes, options),
            closing: CancellationToken::new(),
            killed: CancellationToken::new(),
        })
    }
}
