//! The options of a server.

use std::borrow::Cow;
use std::time::Duration;

use super::forwarded::AddressRange;
use crate::pace::Pace;

#[cfg(feature = "tls")]
use crate::tls::Identity;
use crate::work::WorkBudget;

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
    /// The memory of all messages in work: bodies as they arrive, decompressed text, records, answers. Requests that would
    /// exceed it are answered with 503 and `Retry-After`, the largest first. By default it is that of the
    /// [process](WorkBudget::process).
    pub work: WorkBudget,
    /// The maximum length of a request head (request line and headers) in bytes. It is at least 8 KiB.
    pub max_head: usize,
    /// The maximum number of headers of a request.
    pub max_headers: usize,
    /// The time limit for receiving a request's head, including the time that a connection waits between requests.
    pub head_timeout: Duration,
    /// The time limit for receiving a request's body.
    pub body_timeout: Duration,
    /// How slowly a client may send a body and take an answer. A slower one is answered with 408, or its connection is closed.
    pub pace: Pace,
    /// The maximum number of open connections. For one more, the slowest one whose client sends nothing or takes no answer is
    /// closed. If all have requests in work, the new one waits.
    pub max_connections: usize,
    /// The maximum number of open connections from one address (from one /64 network of IPv6), so that one client cannot
    /// have them all. For one more, its slowest is closed; if all have requests in work, the new one is refused. `None`
    /// means no limit. It does not apply to trusted proxies, but to the clients that the PROXY protocol names.
    pub max_connections_per_address: Option<usize>,
    /// The maximum number of requests a second from one address, on average over a second. More are answered with 429 and
    /// `Retry-After`. `None` means no limit.
    pub max_requests_per_second: Option<u32>,
    /// The number of requests after which a connection is closed. `None` means no limit.
    pub max_requests_per_connection: Option<u64>,
    /// The age at which a connection is closed after its next answer. Clients then connect again, perhaps to another machine.
    /// `None` means no limit.
    pub max_connection_age: Option<Duration>,
    /// The proxies whose `Forwarded` (or `X-Forwarded-For`) headers are believed: the address in them is that of the client.
    pub trusted_proxies: Vec<AddressRange>,
    /// Whether the trusted proxies send the PROXY protocol (version 1 or 2) at the start of each connection.
    pub proxy_protocol: bool,
    /// The paths at which load balancers ask whether the server lives and whether it is ready. `None` means that there are
    /// none.
    pub health: Option<HealthPaths>,
    /// Answers of at least this many bytes are compressed with gzip for clients that accept it. `None` means never.
    #[cfg(feature = "gzip")]
    pub gzip_from: Option<usize>,
    /// The time that requests have to end after the server is stopped.
    pub shutdown_timeout: Duration,
    /// Certificate and key for HTTPS. `None` means plain HTTP.
    #[cfg(feature = "tls")]
    pub identity: Option<Identity>,
    /// The certificate authorities (PEM) of clients. Clients without a certificate of one of them are refused. `None` means
    /// that clients need no certificate.
    #[cfg(feature = "tls")]
    pub client_authorities: Option<Vec<u8>>,
    /// Whether HTTP/2 is offered to clients over HTTPS (ALPN).
    #[cfg(feature = "http2")]
    pub http2: bool,
    /// The address that clients use, such as `https://example.com`. It is needed if requests do not contain it (behind a
    /// proxy).
    pub public_address: Option<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            max_body: 64 << 20,
            work: WorkBudget::process().clone(),
            max_head: 32 << 10,
            max_headers: 100,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(300),
            pace: Pace::new(Duration::from_secs(20), 1024),
            max_connections: 1024,
            max_connections_per_address: None,
            max_requests_per_second: None,
            max_requests_per_connection: None,
            max_connection_age: None,
            trusted_proxies: Vec::new(),
            proxy_protocol: false,
            health: None,
            #[cfg(feature = "gzip")]
            gzip_from: Some(1024),
            shutdown_timeout: Duration::from_secs(30),
            #[cfg(feature = "tls")]
            identity: None,
            #[cfg(feature = "tls")]
            client_authorities: None,
            #[cfg(feature = "http2")]
            http2: true,
            public_address: None,
        }
    }
}

/// The paths at which load balancers ask for the state of a server. Both answer 200 or 503 to GET.
///
/// ```
/// use bsoap_http::{HealthPaths, ServerOptions};
///
/// let mut options = ServerOptions::default();
/// options.health = Some(HealthPaths::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HealthPaths {
    /// Answers 200 as long as the process serves: by default `/livez`.
    pub live: Cow<'static, str>,
    /// Answers 200 if requests may be sent, 503 as soon as the server is being stopped or the memory for messages in work is
    /// used up: by default `/readyz`.
    pub ready: Cow<'static, str>,
}

impl Default for HealthPaths {
    fn default() -> Self {
        Self {
            live: "/livez".into(),
            ready: "/readyz".into(),
        }
    }
}
