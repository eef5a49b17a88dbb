//! The server: listens on an address and hands whole requests to the handler of their path.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::gzip::Room;
use crate::{Body, Error, ErrorKind};

mod connection;
mod kept;
mod page;
mod request;
mod site;
mod stall;
mod tls;

pub use kept::Connection;
pub use site::{Document, PortInfo, ServiceInfo, Site};
pub use tls::Identity;

/// How a [`Server`] behaves.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The longest request body taken, in bytes, before and after any gzip is undone.
    pub max_body: u64,
    /// The most bytes that the gzip bodies of all requests may take together once they are unfolded, from then until they
    /// have been read. Who comes when it is spent is asked to come again (503).
    pub max_unfolded: u64,
    /// The longest request head (request line and headers) taken, in bytes; at least 8 KiB.
    pub max_head: usize,
    /// The most headers of a request.
    pub max_headers: usize,
    /// How long a connection may take to send a request's head, also while it waits between requests.
    pub head_timeout: Duration,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// How long a peer may take nothing of an answer before the connection is given up.
    pub write_timeout: Duration,
    /// The most connections at a time; others wait to be accepted.
    pub max_connections: usize,
    /// Answers from this many bytes on are sent as gzip to those who accept it; `None`: never.
    pub gzip_from: Option<usize>,
    /// How long running requests may take to end once the server is told to stop.
    pub grace: Duration,
    /// Certificate and key: speak HTTPS.
    pub identity: Option<Identity>,
    /// Where the world reaches this server, as `https://example.com`, if not where requests say (behind a proxy).
    pub public_address: Option<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            max_body: 64 << 20,
            max_unfolded: 256 << 20,
            max_head: 32 << 10,
            max_headers: 100,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            max_connections: 1024,
            gzip_from: Some(1024),
            grace: Duration::from_secs(30),
            identity: None,
            public_address: None,
        }
    }
}

/// A request: a POST to a path that has a handler, complete and with any gzip undone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The path it was sent to.
    pub path: String,
    /// The query, without its `?`.
    pub query: Option<String>,
    /// Its headers, as they came.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Who sent it.
    pub peer: SocketAddr,
    /// What it came in by.
    pub connection: Connection,
}

impl Request {
    /// A header's text, if there is one and it is ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its status.
    pub status: StatusCode,
    /// Its headers; `Content-Length` and `Date` are added.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Body,
}

impl Response {
    /// An answer with a body. What is no status becomes 500, what is no header value is left out.
    pub fn new(status: u16, content_type: &str, body: impl Into<Body>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut headers = HeaderMap::new();
        if let Ok(content_type) = HeaderValue::try_from(content_type) {
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    /// An answer without a body.
    pub fn empty(status: u16) -> Self {
        let mut response = Self::new(status, "", Body::default());
        response.headers.clear();
        response
    }

    /// A line of plain text.
    pub(crate) fn plain(status: StatusCode, text: &str) -> Self {
        Self::new(
            status.as_u16(),
            "text/plain; charset=utf-8",
            format!("{text}\n"),
        )
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

/// What [`Handler::handle`] returns.
pub type BoxedAnswer<'a> = Pin<Box<dyn Future<Output = Response> + Send + 'a>>;

/// Answers the requests to one path. Any `async fn(Request) -> Response` does.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request.
    fn handle(&self, request: Request) -> BoxedAnswer<'_>;
}

impl<F, Answer> Handler for F
where
    F: Fn(Request) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Response> + Send + 'static,
{
    fn handle(&self, request: Request) -> BoxedAnswer<'_> {
        Box::pin(self(request))
    }
}

/// Which path has which handler, and what a GET shows.
#[derive(Clone, Default)]
pub struct Routes {
    handlers: HashMap<String, Arc<dyn Handler>>,
    site: Option<Arc<site::Published>>,
}

impl Routes {
    /// No paths yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests to `path` go to `handler`.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>, handler: impl Handler) -> Self {
        self.handlers.insert(path.into(), Arc::new(handler));
        self
    }

    /// A GET of any path here, or of `/`, shows what is served; with `?wsdl` or `?xsd=NAME`, the documents.
    #[must_use]
    pub fn with_site(mut self, site: &Site) -> Self {
        self.site = Some(Arc::new(site::Published::new(site)));
        self
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("paths", &self.handlers.keys())
            .finish_non_exhaustive()
    }
}

/// A server that has its address but accepts nobody before [`Server::run`].
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What all connections of a server share.
struct Shared {
    routes: Routes,
    options: ServerOptions,
    tls: Option<tokio_rustls::TlsAcceptor>,
    /// What gzip bodies may unfold to.
    room: Arc<Room>,
    /// No more requests are wanted.
    closing: CancellationToken,
    /// The time of grace is over.
    killed: CancellationToken,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Takes an address such as `127.0.0.1:8080`; port 0 takes a free one.
    ///
    /// # Errors
    /// [`ErrorKind::Listen`] if it cannot be had, [`ErrorKind::Certificate`] if the identity is unusable.
    pub async fn bind(
        address: &str,
        routes: Routes,
        options: ServerOptions,
    ) -> Result<Self, Error> {
        let error = |source: std::io::Error| Error::new(ErrorKind::Listen, address).because(source);
        let listener = TcpListener::bind(address).await.map_err(error)?;
        let local = listener.local_addr().map_err(error)?;
        let tls = options.identity.as_ref().map(tls::acceptor).transpose()?;
        let (closing, killed) = (CancellationToken::new(), CancellationToken::new());
        let shared = Arc::new(Shared {
            room: Room::new(options.max_unfolded),
            routes,
            options,
            tls,
            closing,
            killed,
        });
        Ok(Self {
            listener,
            address: local,
            shared,
        })
    }

    /// The address taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is done; then accepts nobody new, lets running requests end within the
    /// time of grace, and returns.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self {
            listener, shared, ..
        } = self;
        let connections = TaskTracker::new();
        let most = shared.options.max_connections.min(Semaphore::MAX_PERMITS);
        let room = Arc::new(Semaphore::new(most));
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = accept(&listener, &room) => accepted,
            };
            let shared = Arc::clone(&shared);
            connections.spawn(async move {
                let (stream, peer, _place) = accepted;
                connection::serve(shared, stream, peer).await;
            });
        }
        drop(listener);
        shared.closing.cancel();
        connections.close();
        if tokio::time::timeout(shared.options.grace, connections.wait())
            .await
            .is_err()
        {
            shared.killed.cancel();
            connections.wait().await;
        }
    }
}

/// The next connection, once there is room for it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit) {
    let place = Arc::clone(room)
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Answers are written whole; waiting to fill a packet would only delay them.
                let _ = stream.set_nodelay(true);
                return (stream, peer, place);
            }
            Err(error) => {
                // Out of file descriptors, most likely: others must end before more can come.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
