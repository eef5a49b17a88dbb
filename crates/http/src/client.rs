//! The client: posts messages, fetches documents, and keeps connections alive between requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::Extensions;
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::address::{Address, Credentials, without_credentials};
use crate::body::Body;
use crate::collect::{CollectError, CollectOptions, collect, read};
use crate::encoding::{ContentEncoding, content_encoding};
#[cfg(feature = "gzip")]
use crate::gzip::{self, GzipError};
use crate::reading::{ReadAnswer, ReadBody};
#[cfg(feature = "tls")]
use crate::tls::Identity;
use crate::work::Charge;
use crate::{Error, ErrorKind};

mod connector;
mod proxy;
#[cfg(feature = "tls")]
mod tls;
mod turns;

pub use proxy::{Proxy, ProxyUrl};
#[cfg(feature = "tls")]
pub use tls::{Fingerprint, Roots};

use connector::{Connector, TimedOut};
use proxy::Proxies;
#[cfg(feature = "tls")]
use tls::Untrusted;
use turns::Turns;

/// The options of a [`Client`].
///
/// ```
/// use bsoap_http::ClientOptions;
///
/// let mut options = ClientOptions::default();
/// options.timeout = std::time::Duration::from_secs(20);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The time limit for establishing a connection, TLS included.
    pub connect_timeout: Duration,
    /// The time limit for a request, from its start to the last byte of the answer.
    pub timeout: Duration,
    /// The time for which an unused connection is kept open.
    pub idle_timeout: Duration,
    /// The maximum number of unused connections kept open for one origin.
    pub idle_connections: usize,
    /// The maximum number of requests that run at the same time for one origin, each on a connection of its own. Further
    /// requests wait, within their time limit.
    pub max_connections: usize,
    /// The maximum length of an answer in bytes, counted after decompression.
    pub max_response: u64,
    /// True to compress bodies with gzip. Only for peers that are known to support it: HTTP has no way to ask first.
    #[cfg(feature = "gzip")]
    pub gzip_requests: bool,
    /// True to ask for answers compressed with gzip. Compressed answers are decompressed even if it is false.
    #[cfg(feature = "gzip")]
    pub accept_gzip: bool,
    /// How the length of a request's body is sent.
    pub transfer: Transfer,
    /// The maximum number of redirects followed. A message is only sent to the origin of the first address. A document is
    /// also fetched from other origins, but without credentials and without the caller's headers.
    pub redirects: u32,
    /// The proxies to use.
    pub proxy: Proxy,
    /// The value of the header `User-Agent`.
    pub user_agent: String,
    /// The servers to trust over HTTPS.
    #[cfg(feature = "tls")]
    pub roots: Roots,
    /// The client's own certificate and key, for servers that ask for one over HTTPS.
    #[cfg(feature = "tls")]
    pub identity: Option<Identity>,
    /// The credentials for addresses that contain none (Basic authentication).
    pub credentials: Option<Credentials>,
    /// Headers sent with every request.
    pub headers: HeaderMap,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(300),
            // Shorter than the usual limits of servers (except Apache's 5 s): if the server closes a connection during a
            // request, the request fails.
            idle_timeout: Duration::from_secs(20),
            idle_connections: 32,
            max_connections: usize::MAX,
            max_response: 256 << 20,
            #[cfg(feature = "gzip")]
            gzip_requests: false,
            #[cfg(feature = "gzip")]
            accept_gzip: false,
            transfer: Transfer::Length,
            redirects: 0,
            proxy: Proxy::Environment,
            user_agent: concat!("bsoap/", env!("CARGO_PKG_VERSION")).into(),
            #[cfg(feature = "tls")]
            roots: Roots::System,
            #[cfg(feature = "tls")]
            identity: None,
            credentials: None,
            headers: HeaderMap::new(),
        }
    }
}

/// How the length of a body is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transfer {
    /// Before the body, as `Content-Length`.
    #[default]
    Length,
    /// Chunk by chunk, with `Transfer-Encoding: chunked`.
    Chunked,
}

/// Posts messages and fetches documents. Cloning shares the connections.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}

struct Inner {
    pool: legacy::Client<Connector, Body>,
    proxies: Arc<Proxies>,
    turns: Turns,
    options: ClientOptions,
    /// The headers sent with every request.
    headers: HeaderMap,
}

/// A complete answer, decompressed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fetched {
    /// The address that the answer came from: the one requested, or the one that redirects led to.
    pub address: Address,
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers as received.
    pub headers: HeaderMap,
    /// The body after decompression.
    pub body: Bytes,
    /// What the reader of the body has made of it besides.
    pub extensions: Extensions,
}

impl Fetched {
    /// An answer that another transport received.
    pub fn new(address: Address, status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            address,
            status,
            headers,
            body,
            extensions: Extensions::new(),
        }
    }

    /// Adds what came with the body.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// The `Content-Type`. `None` if there is none, or it is not visible ASCII.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE)?.to_str().ok()
    }
}

impl Client {
    /// Creates a client. It opens connections when they are needed.
    ///
    /// # Errors
    /// [`ErrorKind::Certificate`] if `roots` cannot be used, [`ErrorKind::Header`] if `user_agent` is not a valid header value.
    pub fn new(options: ClientOptions) -> Result<Self, Error> {
        let proxies = Arc::new(Proxies::new(&options.proxy));
        let connector = Connector::new(&options, Arc::clone(&proxies))?;
        let pool = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(options.idle_timeout)
            .pool_max_idle_per_host(options.idle_connections)
            .build(connector);
        let mut headers = HeaderMap::new();
        let user_agent = HeaderValue::try_from(&options.user_agent)
            .map_err(|source| Error::new(ErrorKind::Header, "User-Agent").because(source))?;
        headers.insert(header::USER_AGENT, user_agent);
        #[cfg(feature = "gzip")]
        if options.accept_gzip {
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(Self {
            inner: Arc::new(Inner {
                pool,
                proxies,
                turns: Turns::new(options.max_connections),
                options,
                headers,
            }),
        })
    }

    /// Posts a body. It is only sent to the origin of the address.
    ///
    /// # Errors
    /// If the answer does not arrive completely. A status such as 500 is an answer, not an error.
    pub async fn post(
        &self,
        address: &Address,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Fetched, Error> {
        self.post_within(self.inner.options.timeout, address, headers, body)
            .await
    }

    /// Posts a body with a time limit other than that of the options.
    ///
    /// # Errors
    /// The errors of [`post`](Self::post).
    pub async fn post_within(
        &self,
        limit: Duration,
        address: &Address,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Fetched, Error> {
        self.post_reading(limit, address, headers, body, None).await
    }

    /// Posts a body, as [`post_within`](Self::post_within) does. A body of an answer that `readers` has a reader for is passed to it
    /// while it arrives, unless it is compressed.
    ///
    /// # Errors
    /// The errors of [`post`](Self::post), and [`ErrorKind::Body`] if the reader refuses the body.
    pub async fn post_reading(
        &self,
        limit: Duration,
        address: &Address,
        headers: HeaderMap,
        body: Body,
        readers: Option<&dyn ReadAnswer>,
    ) -> Result<Fetched, Error> {
        let sent = self.send(Method::POST, address, headers, body, readers);
        within_time(limit, address, sent).await
    }

    /// Fetches the document at an address.
    ///
    /// # Errors
    /// If the answer does not arrive completely. A status such as 404 is an answer, not an error.
    pub async fn get(&self, address: &Address) -> Result<Fetched, Error> {
        let (headers, body) = (HeaderMap::new(), Body::default());
        let sent = self.send(Method::GET, address, headers, body, None);
        within_time(self.inner.options.timeout, address, sent).await
    }

    async fn send(
        &self,
        method: Method,
        address: &Address,
        headers: HeaderMap,
        body: Body,
        readers: Option<&dyn ReadAnswer>,
    ) -> Result<Fetched, Error> {
        let options = &self.inner.options;
        #[cfg(feature = "gzip")]
        let (headers, body) = self.compressed(headers, body).await;
        let body =
            if options.transfer == Transfer::Chunked && method == Method::POST && body.is_whole() {
                body.chunked()
            } else {
                body
            };
        let mut target = address.clone();
        for redirects_left in (0..=options.redirects).rev() {
            let _turn = self.inner.turns.wait(&target).await;
            let is_home = target.is_same_origin(address);
            let response = self
                .send_once(&method, &target, is_home, &headers, body.clone())
                .await?;
            let Some(location) = redirection(&response, &method) else {
                return self.collect(&target, response, readers).await;
            };
            // A body from a source cannot be sent again, so redirects are not followed.
            let redirects_left = if body.is_whole() { redirects_left } else { 0 };
            let may_leave = method == Method::GET;
            target = self.follow(&target, location, redirects_left, may_leave)?;
        }
        unreachable!("the last round does not follow a redirect")
    }

    /// Compresses the body with gzip, if the options ask for it, and adds the header that says so.
    #[cfg(feature = "gzip")]
    async fn compressed(&self, mut headers: HeaderMap, body: Body) -> (HeaderMap, Body) {
        if !self.inner.options.gzip_requests || !body.is_whole() || body.is_empty() {
            return (headers, body);
        }
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        (headers, gzip::compress(body).await)
    }

    async fn send_once(
        &self,
        method: &Method,
        target: &Address,
        is_home: bool,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<hyper::Response<Incoming>, Error> {
        let mut request = Request::new(body);
        *request.method_mut() = method.clone();
        *request.uri_mut() = target.uri().clone();
        *request.headers_mut() = self.headers_for(target, is_home, headers);
        // Through a tunnel, the proxy sees no request.
        if !target.is_secure()
            && let Some(proxy) = self.inner.proxies.proxy_for(target.uri())?
            && let Some(authorization) = proxy.basic_auth()
        {
            let headers = request.headers_mut();
            headers.insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        self.inner
            .pool
            .request(request)
            .await
            .map_err(|error| request_error(target, &self.inner.options, error))
    }

    /// The headers of a request: those of the client; if `is_home` (the first origin), also the caller's and the
    /// credentials.
    fn headers_for(&self, target: &Address, is_home: bool, given: &HeaderMap) -> HeaderMap {
        let mut headers = self.inner.headers.clone();
        if is_home {
            let credentials = target
                .credentials()
                .or(self.inner.options.credentials.as_ref());
            if let Some(credentials) = credentials {
                headers.insert(header::AUTHORIZATION, credentials.header());
            }
            set_all(&mut headers, &self.inner.options.headers);
            set_all(&mut headers, given);
        }
        headers
    }

    /// The address that a redirect leads to. The error says why it is not followed. Messages are secrets as headers are:
    /// they do not leave their origin.
    fn follow(
        &self,
        from: &Address,
        location: Redirection,
        redirects_left: u32,
        may_leave: bool,
    ) -> Result<Address, Error> {
        let refused = |location: &str| {
            Error::new(
                ErrorKind::Redirect {
                    location: without_credentials(location),
                },
                from.as_str(),
            )
        };
        match location {
            Redirection::To(location) => match from.join(&location) {
                Some(target)
                    if redirects_left > 0
                        && (may_leave || target.is_same_origin(from))
                        && (target.is_secure() || !from.is_secure()) =>
                {
                    Ok(target)
                }
                _ => Err(refused(&location)),
            },
            Redirection::ByGet(location) => Err(refused(&location)),
        }
    }

    /// Reads the complete answer, within the limits.
    async fn collect(
        &self,
        target: &Address,
        response: hyper::Response<Incoming>,
        readers: Option<&dyn ReadAnswer>,
    ) -> Result<Fetched, Error> {
        let limit = self.inner.options.max_response;
        let too_large = || Error::new(ErrorKind::TooLarge { limit }, target.as_str());
        let (head, mut incoming) = response.into_parts();
        let options = CollectOptions {
            limit,
            pace: None,
            charge: Charge::unlimited(),
            count: None,
        };
        let broken = || Error::new(ErrorKind::Broken, target.as_str());
        let error = |kind| Error::new(kind, target.as_str());
        let encoding = content_encoding(&head.headers);
        let reader = match (&encoding, readers) {
            (ContentEncoding::Identity, Some(readers)) => readers.reader(&head.headers),
            _ => None,
        };
        let collected = match reader {
            Some(reader) => Box::pin(read(&mut incoming, reader, &options, &mut |_| {})).await,
            None => collect(&mut incoming, &options, &mut |_| {})
                .await
                .map(ReadBody::from),
        };
        let ReadBody { body, extensions } = match collected {
            Ok(read) => read,
            Err(CollectError::Refused(refusal)) => {
                return Err(error(ErrorKind::Body).because(refusal));
            }
            Err(CollectError::TooLarge) => return Err(too_large()),
            Err(CollectError::Broken(source)) => return Err(broken().because(source)),
            Err(CollectError::NoMemory(error)) => return Err(broken().because(error)),
            Err(CollectError::TooSlow) => return Err(broken()),
        };
        let body = match encoding {
            _ if body.is_empty() => body,
            ContentEncoding::Identity => body,
            #[cfg(feature = "gzip")]
            ContentEncoding::Gzip => {
                let decompressed = gzip::decompress(body, limit, &options.charge).await;
                decompressed.map_err(|reason| match reason {
                    GzipError::TooLarge => too_large(),
                    GzipError::Malformed | GzipError::NoMemory(_) => error(ErrorKind::Compression),
                })?
            }
            ContentEncoding::Other(found) => {
                return Err(error(ErrorKind::ContentEncoding(found.into_owned())));
            }
        };
        Ok(Fetched {
            address: target.clone(),
            status: head.status,
            headers: head.headers,
            body,
            extensions,
        })
    }
}

async fn within_time(
    limit: Duration,
    address: &Address,
    sent: impl Future<Output = Result<Fetched, Error>>,
) -> Result<Fetched, Error> {
    match tokio::time::timeout(limit, sent).await {
        Ok(result) => result,
        Err(_) => Err(Error::new(ErrorKind::Timeout(limit), address.as_str())),
    }
}

fn set_all(headers: &mut HeaderMap, more: &HeaderMap) {
    for name in more.keys() {
        headers.remove(name);
    }
    for (name, value) in more {
        headers.append(name, value.clone());
    }
}

/// The next request after a redirect.
enum Redirection {
    /// The same request, at this address.
    To(String),
    /// A GET request at this address. It cannot carry a message.
    ByGet(String),
}

/// The redirect in a response. `None` if there is none. 301 and 302 repeat the request, as 307 and 308 do: browsers change
/// it to a GET, but a GET cannot carry a message. (SOAP 1.2 Part 2 §7.5.1.2)
fn redirection(response: &hyper::Response<Incoming>, method: &Method) -> Option<Redirection> {
    let location = response
        .headers()
        .get(header::LOCATION)?
        .to_str()
        .ok()?
        .to_owned();
    match response.status().as_u16() {
        301 | 302 | 307 | 308 => Some(Redirection::To(location)),
        303 if method == Method::GET => Some(Redirection::To(location)),
        303 => Some(Redirection::ByGet(location)),
        _ => None,
    }
}

fn request_error(target: &Address, options: &ClientOptions, error: legacy::Error) -> Error {
    #[cfg(feature = "tls")]
    if let Some(untrusted) = caused_by::<Untrusted>(&error) {
        let fingerprint = untrusted.fingerprint.to_string();
        return Error::new(ErrorKind::Untrusted { fingerprint }, target.as_str())
            .because(untrusted.clone());
    }
    let kind = match () {
        () if caused_by::<TimedOut>(&error).is_some() => {
            ErrorKind::ConnectTimeout(options.connect_timeout)
        }
        () if error.is_connect() => ErrorKind::Connect,
        () => ErrorKind::Broken,
    };
    Error::new(kind, target.as_str()).because(error)
}

fn caused_by<'e, E: std::error::Error + 'static>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e E> {
    std::iter::successors(Some(error), |error| error.source())
        .find_map(|error| error.downcast_ref())
}
