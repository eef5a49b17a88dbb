//! The state that all connections of a server share.

#[cfg(feature = "gzip")]
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::options::ServerOptions;
use super::routes::Routes;
#[cfg(feature = "tls")]
use super::tls;
use crate::Error;
#[cfg(feature = "gzip")]
use crate::gzip::Quota;

/// The state that all connections of a server share.
pub(super) struct Shared {
    pub(super) routes: Routes,
    pub(super) options: ServerOptions,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<tokio_rustls::TlsAcceptor>,
    /// Limits the memory of decompressed bodies.
    #[cfg(feature = "gzip")]
    pub(super) quota: Arc<Quota>,
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
            #[cfg(feature = "gzip")]
            quota: Quota::new(options.max_decompressed),
            routes,
            options,
            closing: CancellationToken::new(),
            killed: CancellationToken::new(),
        })
    }

    /// The URL scheme that the server speaks.
    pub(super) fn scheme(&self) -> &'static str {
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            return "https";
        }
        "http"
    }
}
