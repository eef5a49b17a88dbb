//! HTTP/2, over TLS connections that have agreed on it (ALPN).

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::serve::Exchange;
use crate::limits::{
    MAX_HTTP2_BUFFER, MAX_HTTP2_RESETS, MAX_HTTP2_STREAMS, PING_INTERVAL, STALL_CHECK,
};

impl Exchange {
    /// Answers the requests of an HTTP/2 connection until the peer or the server closes it.
    pub(super) async fn run_http2<S>(self: Arc<Self>, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let options = &self.shared.dispatch.options;
        let max_head = u32::try_from(options.max_head.max(8192)).unwrap_or(u32::MAX);
        let exchanges = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_HTTP2_STREAMS)
            .max_pending_accept_reset_streams(MAX_HTTP2_RESETS)
            .max_local_error_reset_streams(Some(MAX_HTTP2_RESETS))
            .max_header_list_size(max_head)
            .max_send_buf_size(MAX_HTTP2_BUFFER)
            .keep_alive_interval(Some(PING_INTERVAL))
            .keep_alive_timeout(options.head_timeout)
            .serve_connection(
                TokioIo::new(stream),
                service_fn(|incoming| {
                    let exchange = Arc::clone(&self);
                    async move { exchange.answer(incoming).await }
                }),
            );
        let mut exchanges = pin!(exchanges);
        let ended = match select(exchanges.as_mut(), pin!(self.ends())).await {
            Either::Left((ended, _)) => ended,
            Either::Right((End::AtOnce, _)) => Ok(()),
            Either::Right((End::Gracefully, _)) => {
                exchanges.as_mut().graceful_shutdown();
                match select(exchanges, pin!(self.stalled())).await {
                    Either::Left((ended, _)) => ended,
                    Either::Right(_) => Ok(()),
                }
            }
        };
        self.log_end(ended);
    }

    /// Completes when the connection is to end, and says how.
    async fn ends(&self) -> End {
        let over = pin!(async {
            while !self.is_over_now() {
                tokio::time::sleep(STALL_CHECK).await;
            }
        });
        let closing = pin!(self.shared.closing.cancelled());
        let gracefully = select(closing, over);
        match select(gracefully, pin!(self.stalled())).await {
            Either::Left(_) => End::Gracefully,
            Either::Right(_) => End::AtOnce,
        }
    }

    /// Completes when the peer has been slower than allowed: it takes no answers, sends no bodies, or no requests at all. (Over
    /// HTTP/1, the stream notices that. Here it has nothing to write while the peer opens no window.)
    async fn stalled(&self) {
        let options = &self.shared.dispatch.options;
        loop {
            tokio::time::sleep(STALL_CHECK).await;
            let (waited, bytes) = self.activity.wait();
            let allowed = match self.activity.in_work() {
                0 => options.pace.allowed(bytes).max(options.head_timeout),
                _ => options.pace.allowed(bytes),
            };
            if self.activity.waits_for_peer() && waited > allowed.max(Duration::from_secs(1)) {
                return;
            }
        }
    }
}

/// How a connection ends.
enum End {
    /// The requests in work are answered.
    Gracefully,
    /// The peer does not take the answers.
    AtOnce,
}
