//! Serves one connection, from its handshake to its last answer.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

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
        return tokio::select! {
            () = shared.closing.cancelled() => {}
            handshake = handshake => match handshake {
                Ok(Ok(stream)) => exchange(&shared, stream, &connection).await,
                Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS handshake failed"),
                Err(_) => tracing::debug!(%peer, "TLS handshake took too long"),
            },
        };
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
    let ended = tokio::select! {
        biased;
        ended = exchanges.as_mut() => ended,
        () = shared.closing.cancelled() => {
            exchanges.as_mut().graceful_shutdown();
            tokio::select! {
                ended = exchanges => ended,
                () = shared.killed.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %connection.peer(), %error, "connection ended early");
    }
}
