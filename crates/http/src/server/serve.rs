//! Serves one connection, from its handshake to its last answer.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::connection::Connection;
use super::request;
use super::shared::Shared;
use super::stall::StallGuard;

pub(super) async fn serve(shared: Arc<Shared>, stream: TcpStream, peer: SocketAddr) {
    let connection = Connection::new(peer, stream.local_addr().ok());
    let stream = StallGuard::new(stream, shared.dispatch.options.write_timeout);
    #[cfg(feature = "tls")]
    if let Some(tls) = &shared.tls {
        let handshake =
            tokio::time::timeout(shared.dispatch.options.head_timeout, tls.accept(stream));
        match select(pin!(shared.closing.cancelled()), pin!(handshake)).await {
            Either::Left(_) => {}
            Either::Right((Ok(Ok(stream)), _)) => exchange(&shared, stream, &connection).await,
            Either::Right((Ok(Err(error)), _)) => {
                tracing::debug!(%peer, %error, "TLS handshake failed");
            }
            Either::Right((Err(_), _)) => tracing::debug!(%peer, "TLS handshake took too long"),
        }
        return;
    }
    exchange(&shared, stream, &connection).await;
}

/// Answers requests until the peer or the server closes the connection.
async fn exchange<S>(shared: &Arc<Shared>, stream: S, connection: &Connection)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let service = service_fn(|incoming| async move {
        Ok::<_, Infallible>(request::answer(&shared.dispatch, incoming, connection).await)
    });
    let options = &shared.dispatch.options;
    let exchanges = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.head_timeout)
        .max_headers(options.max_headers)
        .max_header_size(options.max_head.max(8192))
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut exchanges = pin!(exchanges);
    let closing = pin!(shared.closing.cancelled());
    let ended = match select(exchanges.as_mut(), closing).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => {
            exchanges.as_mut().graceful_shutdown();
            match select(exchanges, pin!(shared.killed.cancelled())).await {
                Either::Left((ended, _)) => ended,
                Either::Right(_) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %connection.peer(), %error, "connection ended early");
    }
}
