//! Serves one connection, from its handshake to its last answer.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures_util::future::{Either, select};
use hyper::Version;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::activity::Activity;
use super::answer_body::AnswerBody;
use super::connection::Connection;
use super::forwarded::{is_trusted, read_proxy_header};
use super::health::Readiness;
use super::pool::{Membership, Network};
use super::request;
use super::shared::Shared;
use super::stall::StallGuard;
use crate::limits::{DRAIN_TIME, MAX_BUFFER};

/// Serves a connection until it ends, is closed to make space for others, or the time of a stopped server is over.
pub(super) async fn serve(
    shared: &Arc<Shared>,
    stream: TcpStream,
    peer: SocketAddr,
    membership: &Membership,
) {
    let closed = pin!(membership.activity.closed());
    let killed = pin!(shared.killed.cancelled());
    let serving = pin!(serve_open(shared, stream, peer, membership));
    if let Either::Left(_) = select(select(closed, killed), serving).await {
        tracing::debug!(%peer, "closed although it was used");
    }
}

async fn serve_open(
    shared: &Arc<Shared>,
    mut stream: TcpStream,
    peer: SocketAddr,
    membership: &Membership,
) {
    let options = &shared.dispatch.options;
    let local = stream.local_addr().ok();
    let mut client = peer;
    if options.proxy_protocol && is_trusted(&options.trusted_proxies, peer.ip()) {
        match greeting(shared, read_proxy_header(&mut stream)).await {
            Some(Ok(named)) => client = named.unwrap_or(peer),
            Some(Err(error)) => return tracing::debug!(%peer, %error, "no PROXY protocol"),
            None => return,
        }
        if client != peer && membership.belongs_to(Network::of(client.ip())).is_err() {
            return tracing::debug!(%client, "too many connections from this address");
        }
    }
    let activity = &membership.activity;
    let stream = StallGuard::new(stream, options.pace, activity.clone());
    #[cfg(feature = "tls")]
    if let Some(tls) = &shared.tls {
        let acceptor = tls.acceptor();
        match greeting(shared, acceptor.accept(stream)).await {
            Some(Ok(stream)) => {
                let session = stream.get_ref().1;
                let certificate = session.peer_certificates().and_then(<[_]>::first);
                let certificate = certificate.map(|der| der.as_ref().to_vec());
                #[cfg(feature = "http2")]
                let is_http2 = session.alpn_protocol() == Some(b"h2");
                let connection = Connection::new(client, local).with_certificate(certificate);
                let exchange = Exchange::new(shared, connection, activity);
                #[cfg(feature = "http2")]
                if is_http2 {
                    return Arc::new(exchange).run_http2(stream).await;
                }
                exchange.run(stream).await;
            }
            Some(Err(error)) => tracing::debug!(%peer, %error, "TLS handshake failed"),
            None => {}
        }
        return;
    }
    let connection = Connection::new(client, local);
    Exchange::new(shared, connection, activity)
        .run(stream)
        .await;
}

/// The output of what comes before the first request. `None` if it takes too long, or the server is being stopped.
async fn greeting<T>(
    shared: &Shared,
    greeting: impl Future<Output = io::Result<T>>,
) -> Option<io::Result<T>> {
    let limit = shared.dispatch.options.head_timeout;
    let greeting = pin!(tokio::time::timeout(limit, greeting));
    match select(pin!(shared.closing.cancelled()), greeting).await {
        Either::Left(_) => None,
        Either::Right((ended, _)) => ended.ok(),
    }
}

/// The exchanges of requests and answers on one connection.
pub(super) struct Exchange {
    pub(super) shared: Arc<Shared>,
    connection: Connection,
    pub(super) activity: Arc<Activity>,
    /// When it began, if its age is limited.
    begun: Option<Instant>,
    requests: AtomicU64,
}

impl Exchange {
    fn new(shared: &Arc<Shared>, connection: Connection, activity: &Arc<Activity>) -> Self {
        let max_age = shared.dispatch.options.max_connection_age;
        Self {
            shared: Arc::clone(shared),
            connection,
            activity: Arc::clone(activity),
            begun: max_age.map(|_| Instant::now()),
            requests: AtomicU64::new(0),
        }
    }

    /// Answers the requests of an HTTP/1 connection until the peer or the server closes it.
    async fn run<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) {
        let options = &self.shared.dispatch.options;
        let exchanges = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(options.head_timeout)
            .max_headers(options.max_headers)
            .max_header_size(options.max_head.max(8192))
            // Each connection may have a buffer of this size, whose memory is not charged.
            .max_buf_size(MAX_BUFFER.max(options.max_head))
            .half_close(false)
            .serve_connection(
                TokioIo::new(stream),
                service_fn(|incoming| self.answer(incoming)),
            );
        let mut exchanges = pin!(exchanges);
        let ended = match select(exchanges.as_mut(), pin!(self.drained())).await {
            Either::Left((ended, _)) => ended,
            Either::Right(_) => {
                exchanges.as_mut().graceful_shutdown();
                exchanges.await
            }
        };
        self.log_end(ended);
    }

    /// Completes when the server is being stopped, and no request has come for a while: one may have been on its way.
    async fn drained(&self) {
        self.shared.closing.cancelled().await;
        loop {
            let before = self.requests.load(Ordering::Relaxed);
            tokio::time::sleep(DRAIN_TIME).await;
            let is_idle = self.activity.in_work() == 0;
            if is_idle && self.requests.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }

    pub(super) async fn answer(
        &self,
        mut incoming: hyper::Request<Incoming>,
    ) -> Result<hyper::Response<AnswerBody>, Infallible> {
        let count = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let mut request = self.activity.begin();
        let version = incoming.version();
        let readiness = match self.shared.closing.is_cancelled() {
            true => Readiness::Stopping,
            false => Readiness::Serving,
        };
        let dispatch = &self.shared.dispatch;
        let mut observation = dispatch.observe(&mut incoming, &self.connection);
        let mut response = match request::check(dispatch, &incoming, &self.connection, readiness) {
            Some(response) => response,
            None => {
                let on_wait = &mut |waits| request.waits_for_peer(waits);
                request::answer(dispatch, incoming, &self.connection, on_wait).await
            }
        };
        let is_http1 = version <= Version::HTTP_11;
        if is_http1 && (readiness == Readiness::Stopping || self.is_over(count)) {
            let headers = response.headers_mut();
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(observation) = &mut observation {
            observation.answered(&mut response);
        }
        Ok(response.map(|body| AnswerBody::new(body, request, version, observation)))
    }

    /// Whether the connection has had its requests, or its time.
    fn is_over(&self, requests: u64) -> bool {
        let options = &self.shared.dispatch.options;
        let max = options.max_requests_per_connection;
        let age = self.begun.map(|begun| begun.elapsed());
        max.is_some_and(|max| requests >= max) || age > options.max_connection_age
    }

    /// The same, whatever the next request is.
    #[cfg(feature = "http2")]
    pub(super) fn is_over_now(&self) -> bool {
        self.is_over(self.requests.load(Ordering::Relaxed))
    }

    pub(super) fn log_end(&self, ended: Result<(), hyper::Error>) {
        if let Err(error) = ended {
            tracing::debug!(peer = %self.connection.peer(), %error, "connection ended early");
        }
    }
}
