//! The server: listens at an address and passes complete requests to the handler of their path.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::{Error, ErrorKind, WorkBudget};

mod activity;
mod answer_body;
mod answered;
mod connection;
mod dispatch;
mod forwarded;
mod head;
mod health;
#[cfg(feature = "http2")]
mod http2;
mod message;
mod options;
mod pool;
mod rate;
mod request;
mod route_service;
mod routes;
mod serve;
mod shared;
mod stall;
#[cfg(feature = "tls")]
mod tls;
mod turn;

pub use answered::{Answered, OnAnswer};
pub use connection::Connection;
pub use forwarded::{AddressRange, InvalidRange};
pub use message::{PageRequest, Request, Response};
pub use options::{HealthPaths, ServerOptions};
pub use route_service::RouteService;
pub use routes::{
    BoxedAnswer, Client as RequestClient, Handler, OnRefusal, Refusal, RequestHead, Routes,
};
#[cfg(feature = "tls")]
pub use tls::Certificates;

use pool::{Full, Membership, Network};
use shared::Shared;

/// A server that listens at an address, but accepts no connection before [`Server::run`].
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Listens at an address such as `127.0.0.1:8080`; port 0 selects a free one.
    ///
    /// # Errors
    /// [`ErrorKind::Listen`] if the address cannot be used, [`ErrorKind::Certificate`] if the identity cannot be used.
    pub async fn bind(
        address: &str,
        routes: Routes,
        options: ServerOptions,
    ) -> Result<Self, Error> {
        let error = |source: std::io::Error| Error::new(ErrorKind::Listen, address).because(source);
        let listener = TcpListener::bind(address).await.map_err(error)?;
        let local = listener.local_addr().map_err(error)?;
        bound_unsent(&listener);
        let shared = Arc::new(Shared::new(routes, options)?);
        Ok(Self {
            listener,
            address: local,
            shared,
        })
    }

    /// The address that the server listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The scheme of the server's URLs: `https` if it has an identity, otherwise `http`.
    pub fn scheme(&self) -> &'static str {
        self.shared.dispatch.scheme()
    }

    /// The certificates of the server, to replace them while it runs. `None` over plain HTTP.
    #[cfg(feature = "tls")]
    pub fn certificates(&self) -> Option<Certificates> {
        self.shared.tls.clone()
    }

    /// What happens at the server, to look at while it runs.
    pub fn watch(&self) -> Watch {
        Watch(Arc::clone(&self.shared))
    }

    /// Serves until `stop` completes. Then accepts no more connections, answers the requests that were sent, and returns, at the
    /// latest after [`shutdown_timeout`](ServerOptions::shutdown_timeout).
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self {
            listener, shared, ..
        } = self;
        // Each connection has a sender, through which nothing is sent: the channel closes when the last one has ended.
        let (open, mut all_ended) = mpsc::channel::<Infallible>(1);
        let start = |(stream, peer, membership): Accepted| {
            let (shared, open) = (Arc::clone(&shared), open.clone());
            tokio::spawn(async move {
                serve::serve(&shared, stream, peer, &membership).await;
                drop((membership, open));
            });
        };
        let mut stop = pin!(stop);
        loop {
            let accepting = pin!(accept(&listener, &shared));
            match select(&mut stop, accepting).await {
                Either::Left(_) => break,
                Either::Right((accepted, _)) => start(accepted),
            }
        }
        shared.closing.cancel();
        // The connections that the system has accepted already may have sent their requests.
        while let Some((stream, peer)) = waiting(&listener).await {
            if let Ok(membership) = shared.admit(peer) {
                start((stream, peer, membership));
            }
        }
        drop(listener);
        drop(open);
        if tokio::time::timeout(shared.dispatch.options.shutdown_timeout, all_ended.recv())
            .await
            .is_err()
        {
            shared.killed.cancel();
            all_ended.recv().await;
        }
    }
}

/// Bounds what the system buffers of an answer that its client does not take. Otherwise that is megabytes for each connection, and
/// if the memory for all of them runs out, the system drops packets of honest clients. Accepted connections inherit the option.
fn bound_unsent(listener: &TcpListener) {
    #[cfg(target_os = "linux")]
    if let Err(error) =
        socket2::SockRef::from(listener).set_tcp_notsent_lowat(crate::limits::MAX_UNSENT)
    {
        tracing::debug!(%error, "cannot bound the bytes that wait to be sent");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = listener;
}

/// A look at a server that runs.
#[derive(Clone)]
pub struct Watch(Arc<Shared>);

impl Watch {
    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.0.pool.counts().0
    }

    /// How many connections were closed so far to make space for others.
    pub fn closed_for_others(&self) -> u64 {
        self.0.pool.counts().1
    }

    /// The memory of the messages in work.
    pub fn work(&self) -> &WorkBudget {
        &self.0.dispatch.options.work
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("connections", &self.connections())
            .finish_non_exhaustive()
    }
}

/// A connection that was accepted and admitted.
type Accepted = (TcpStream, SocketAddr, Membership);

/// Accepts the next connection that may be open.
async fn accept(listener: &TcpListener, shared: &Shared) -> Accepted {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                if let Some(membership) = admit(shared, peer).await {
                    // Answers are written at once; waiting to fill a packet would only delay them.
                    let _ = stream.set_nodelay(true);
                    return (stream, peer, membership);
                }
            }
            Err(error) => {
                // The likely cause is that no file descriptors are left: some connections must end first.
                tracing::warn!(%error, "cannot accept a connection");
                shared.pool.close_slowest();
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// Admits a connection, as soon as one of the others ends or waits for its client. `None` if its address has too many.
async fn admit(shared: &Shared, peer: SocketAddr) -> Option<Membership> {
    loop {
        match shared.admit(peer) {
            Ok(membership) => return Some(membership),
            Err(Full::Network) => {
                tracing::debug!(%peer, "too many connections from this address");
                return None;
            }
            // A connection may begin to wait for its client without a notice.
            Err(Full::Server) => {
                let again = Duration::from_millis(20);
                let _ = tokio::time::timeout(again, shared.pool.left()).await;
            }
        }
    }
}

impl Shared {
    fn admit(&self, peer: SocketAddr) -> Result<Membership, Full> {
        let is_proxy = forwarded::is_trusted(&self.dispatch.options.trusted_proxies, peer.ip());
        self.pool.admit((!is_proxy).then(|| Network::of(peer.ip())))
    }
}

/// A connection that waits to be accepted now.
async fn waiting(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    std::future::poll_fn(|context| match listener.poll_accept(context) {
        std::task::Poll::Ready(accepted) => std::task::Poll::Ready(accepted.ok()),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}
