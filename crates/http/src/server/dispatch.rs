//! What answers requests: routes and their options, for the server of this crate and, as a tower service, for others.

use std::net::SocketAddr;

use hyper::HeaderMap;

use super::answered::Observation;
use super::connection::Connection;
use super::forwarded;
use super::options::ServerOptions;
use super::rate::RateLimit;
use super::routes::Routes;

/// Routes with the options that apply to each request.
pub(super) struct Dispatch {
    pub(super) routes: Routes,
    pub(super) options: ServerOptions,
    /// `None` if it is not limited how many requests a client may send.
    pub(super) rate: Option<RateLimit>,
}

impl Dispatch {
    pub(super) fn new(routes: Routes, options: ServerOptions) -> Self {
        Self {
            rate: options.max_requests_per_second.map(RateLimit::new),
            routes,
            options,
        }
    }

    /// The scheme of the server's URLs.
    pub(super) fn scheme(&self) -> &'static str {
        #[cfg(feature = "tls")]
        if self.options.identity.is_some() {
            return "https";
        }
        "http"
    }

    /// The address of the client that has sent a request: the one that trusted proxies name, otherwise that of the connection.
    pub(super) fn client(&self, headers: &HeaderMap, connection: &Connection) -> SocketAddr {
        let (peer, proxies) = (connection.peer(), &self.options.trusted_proxies);
        if proxies.is_empty() || !forwarded::is_trusted(proxies, peer.ip()) {
            return peer;
        }
        let client = forwarded::client(headers, proxies);
        client.map_or(peer, |address| SocketAddr::new(address, 0))
    }

    /// Begins to observe a request, if anybody wants to know.
    pub(super) fn observe<B>(
        &self,
        incoming: &mut hyper::Request<B>,
        connection: &Connection,
    ) -> Option<Observation> {
        let report = self.routes.on_answer.as_ref()?;
        let client = self.client(incoming.headers(), connection);
        Some(Observation::begin(report, client, incoming))
    }
}
