//! The server: listens at an address and passes complete requests to the handler of their path.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::{Error, ErrorKind};

mod connection;
mod dispatch;
mod message;
mod options;
mod request;
mod routes;
mod serve;
mod shared;
mod stall;
#[cfg(feature = "tls")]
mod tls;
mod turn;

pub use connection::Connection;
pub use dispatch::RouteService;
pub use message::{PageRequest, Request, Response};
pub use options::ServerOptions;
pub use routes::{BoxedAnswer, Handler, OnRefusal, Refusal, RequestHead, Routes};

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

    /// Serves until `stop` completes. Then accepts no more connections, waits for running requests up to the time of
    /// [`grace`](ServerOptions::grace), and returns.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self {
            listener, shared, ..
        } = self;
        // Each connection has a sender, through which nothing is sent: the channel closes when the last one has ended.
        let (open, mut all_ended) = mpsc::channel::<Infallible>(1);
        let most = shared
            .dispatch
            .options
            .max_connections
            .min(Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(most));
        let mut stop = pin!(stop);
        loop {
            let accepting = pin!(accept(&listener, &permits));
            let accepted = match select(&mut stop, accepting).await {
                Either::Left(_) => break,
                Either::Right((accepted, _)) => accepted,
            };
            let (shared, open) = (Arc::clone(&shared), open.clone());
            tokio::spawn(async move {
                let (stream, peer, _permit) = accepted;
                let _open = open;
                serve::serve(shared, stream, peer).await;
            });
        }
        drop(listener);
        shared.closing.cancel();
        drop(open);
        if tokio::time::timeout(shared.dispatch.options.grace, all_ended.recv())
            .await
            .is_err()
        {
            shared.killed.cancel();
            all_ended.recv().await;
        }
    }
}

/// Accepts the next connection, as soon as fewer than `max_connections` are open.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    let permit = Arc::clone(permits)
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Answers are written at once; waiting to fill a packet would only delay them.
                let _ = stream.set_nodelay(true);
                return (stream, peer, permit);
            }
            Err(error) => {
                // The likely cause is that no file descriptors are left: some connections must end first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
