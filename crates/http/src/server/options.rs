//! The options of a server.

use std::time::Duration;

#[cfg(feature = "tls")]
use crate::tls::Identity;

/// The options of a [`Server`](super::Server).
///
/// ```
/// use bsoap_http::ServerOptions;
///
/// let mut options = ServerOptions::default();
/// options.max_body = 1 << 20;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The maximum length of a request body in bytes, checked before and after decompression.
    pub max_body: u64,
    /// The maximum number of bytes of all decompressed request bodies together, counted until each is decoded. Requests that
    /// would exceed it are answered with 503 and `Retry-After`.
    #[cfg(feature = "gzip")]
    pub max_decompressed: u64,
    /// The maximum length of a request head (request line and headers) in bytes. It is at least 8 KiB.
    pub max_head: usize,
    /// The maximum number of headers of a request.
    pub max_headers: usize,
    /// The time limit for receiving a request's head, including the time that a connection waits between requests.
    pub head_timeout: Duration,
    /// The time limit for receiving a request's body.
    pub body_timeout: Duration,
    /// The time after which a connection is closed if the peer does not read the answer.
    pub write_timeout: Duration,
    /// The maximum number of open connections. Further clients wait to be accepted.
    pub max_connections: usize,
    /// Answers of at least this many bytes are compressed with gzip for clients that accept it. `None` means never.
    #[cfg(feature = "gzip")]
    pub gzip_from: Option<usize>,
    /// The time that running requests have to end after the server is stopped.
    pub grace: Duration,
    /// Certificate and key for HTTPS. `None` means plain HTTP.
    #[cfg(feature = "tls")]
    pub identity: Option<Identity>,
    /// The certificate authorities (PEM) of clients. Clients without a certificate of one of them are refused. `None` means
    /// that clients need no certificate.
    #[cfg(feature = "tls")]
    pub client_authorities: Option<Vec<u8>>,
    /// The address that clients use, such as `https://example.com`. It is needed if requests do not contain it (behind a
    /// proxy).
    pub public_address: Option<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            max_body: 64 << 20,
            #[cfg(feature = "gzip")]
            max_decompressed: 256 << 20,
            max_head: 32 << 10,
            max_headers: 100,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            max_connections: 1024,
            #[cfg(feature = "gzip")]
            gzip_from: Some(1024),
            grace: Duration::from_secs(30),
            #[cfg(feature = "tls")]
            identity: None,
            #[cfg(feature = "tls")]
            client_authorities: None,
            public_address: None,
        }
    }
}
