//! The options of a server.

use std::time::Duration;

#[cfg(feature = "tls")]
use super::tls::Identity;

/// The options of a [`Server`](super::Server).
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The longest request body accepted, in bytes, before and after gzip is decompressed.
    pub max_body: u64,
    /// The most bytes that the decompressed gzip bodies of all requests may take together, until they have been decoded.
    /// Beyond it, requests are answered with 503 and `Retry-After`.
    #[cfg(feature = "gzip")]
    pub max_decompressed: u64,
    /// The longest request head (request line and headers) accepted, in bytes; at least 8 KiB.
    pub max_head: usize,
    /// The most headers of a request.
    pub max_headers: usize,
    /// How long a connection may take to send a request's head, also while it waits between requests.
    pub head_timeout: Duration,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// How long a peer may stop reading an answer before the connection is closed.
    pub write_timeout: Duration,
    /// The most connections at a time; others wait to be accepted.
    pub max_connections: usize,
    /// Answers of at least this many bytes are sent as gzip to clients that accept it; `None`: never.
    #[cfg(feature = "gzip")]
    pub gzip_from: Option<usize>,
    /// How long running requests may take to end once the server is stopped.
    pub grace: Duration,
    /// Certificate and key: speak HTTPS.
    #[cfg(feature = "tls")]
    pub identity: Option<Identity>,
    /// The address that clients use, such as `https://example.com`, if requests do not show it (behind a proxy).
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
            public_address: None,
        }
    }
}
