//! The client: posts a message, fetches a document; keeps connections alive between them.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::gzip::{self, Refusal};
use crate::{Body, Error, ErrorKind};

pub(crate) mod address;
mod connector;
mod tls;

pub use address::{Address, Credentials};
pub use tls::Roots;

use connector::{Connector, TimedOut};

/// How a [`Client`] behaves.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// How long a connection may take to come about, TLS included.
    pub connect_timeout: Duration,
    /// How long a request may take, from its start to the answer's last byte.
    pub timeout: Duration,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
    /// How many unused connections are kept for one origin.
    pub idle_connections: usize,
    /// The longest answer taken, in bytes, after any gzip is undone.
    pub max_response: u64,
    /// Send bodies as gzip. Only for peers known to understand it: HTTP has no way to ask first.
    pub gzip_requests: bool,
    /// Say that answers may be gzip. Those that are, are understood in any case.
    pub accept_gzip: bool,
    /// How the length of a request's body is told.
    pub transfer: Transfer,
    /// How many redirects are followed. Credentials and the caller's headers stay with the first origin.
    pub redirects: u32,
    /// `User-Agent`.
    pub user_agent: String,
    /// Whom to trust over HTTPS.
    pub roots: Roots,
    /// Basic authentication, for addresses that carry none.
    pub credentials: Option<Credentials>,
    /// Headers sent with every request.
    pub headers: HeaderMap,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(300),
            // Below what servers commonly keep (Apache 5 s excepted): a connection closed under a request is an error.
            idle_timeout: Duration::from_secs(20),
            idle_connections: 32,
            max_response: 256 << 20,
            gzip_requests: false,
            accept_gzip: false,
            transfer: Transfer::Length,
            redirects: 0,
            user_agent: concat!("bsoap/", env!("CARGO_PKG_VERSION")).into(),
            roots: Roots::System,
            credentials: None,
            headers: HeaderMap::new(),
        }
    }
}

/// How the length of a body is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// Beforehand, by `Content-Length`.
    #[default]
    Length,
    /// As it goes, by `Transfer-Encoding: chunked`.
    Chunked,
}

/// Posts messages and fetches documents. Cloning shares the connections.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: legacy::Client<Connector, Body>,
    options: ClientOptions,
    /// What every request carries.
    headers: HeaderMap,
}

/// An answer, complete and with any gzip undone.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Who gave it: the address asked, or where redirects led.
    pub address: Address,
    /// Its status.
    pub status: StatusCode,
    /// Its headers, as they came.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Fetched {
    /// The `Content-Type`, if there is one and it is text.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE)?.to_str().ok()
    }
}

impl Client {
    /// A client. Connections are made when needed.
    ///
    /// # Errors
    /// [`ErrorKind::Certificate`] if `roots` cannot be used, [`ErrorKind::Header`] if `user_agent` is no header value.
    pub fn new(options: ClientOptions) -> Result<Self, Error> {
        let connector = Connector::new(tls::Trust::new(&options.roots)?, options.connect_timeout);
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
        if options.accept_gzip {
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(Self {
            inner: Arc::new(Inner {
                pool,
                options,
                headers,
            }),
        })
    }

    /// Posts a body. `headers` go to this origin only, `Content-Type` and `SOAPAction` excepted.
    ///
    /// # Errors
    /// What keeps the answer from arriving in full. A status such as 500 is an answer, not an error.
    pub async fn post(
        &self,
        address: &Address,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Fetched, Error> {
        self.within_time(address, self.send(Method::POST, address, headers, body))
            .await
    }

    /// Fetches a document.
    ///
    /// # Errors
    /// As for [`Client::post`].
    pub async fn get(&self, address: &Address) -> Result<Fetched, Error> {
        self.within_time(
            address,
            self.send(Method::GET, address, HeaderMap::new(), Body::default()),
        )
        .await
    }

    async fn within_time(
        &self,
        address: &Address,
        sent: impl Future<Output = Result<Fetched, Error>>,
    ) -> Result<Fetched, Error> {
        let limit = self.inner.options.timeout;
        match tokio::time::timeout(limit, sent).await {
            Ok(result) => result,
            Err(_) => Err(Error::new(ErrorKind::Timeout(limit), address.as_str())),
        }
    }

    async fn send(
        &self,
        method: Method,
        address: &Address,
        mut headers: HeaderMap,
        mut body: Body,
    ) -> Result<Fetched, Error> {
        let options = &self.inner.options;
        if options.gzip_requests && body.is_whole() && !body.is_empty() {
            body = gzip::compress(body).await;
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if options.transfer == Transfer::Chunked && method == Method::POST && body.is_whole() {
            body = body.chunked();
        }
        let mut target = address.clone();
        for redirects_left in (0..=options.redirects).rev() {
            let is_home = target.is_same_origin(address);
            let response = self
                .send_once(&method, &target, is_home, &headers, body.clone())
                .await?;
            let Some(location) = redirection(&response, &method) else {
                return self.collect(&target, response).await;
            };
            // What a source gave is gone.
            let redirects_left = if body.is_whole() { redirects_left } else { 0 };
            target = self.follow(&target, location, redirects_left)?;
        }
        unreachable!("the last round does not follow a redirect")
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
        self.inner
            .pool
            .request(request)
            .await
            .map_err(|error| request_error(target, &self.inner.options, error))
    }

    /// What a request carries: our own headers, and at home also the caller's and the credentials.
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
        }
        let travels = |name: &HeaderName| {
            is_home
                || name == header::CONTENT_TYPE
                || name == header::CONTENT_ENCODING
                || name == "soapaction"
        };
        if is_home {
            set_all(&mut headers, given);
        } else {
            for (name, value) in given.iter().filter(|(name, _)| travels(name)) {
                headers.insert(name, value.clone());
            }
        }
        headers
    }

    /// The address a redirect leads to, if it may be followed.
    fn follow(
        &self,
        from: &Address,
        location: Redirection,
        redirects_left: u32,
    ) -> Result<Address, Error> {
        let refused = |location: &str| {
            Error::new(
                ErrorKind::Redirect {
                    location: address::without_credentials(location),
                },
                from.as_str(),
            )
        };
        match location {
            Redirection::To(location) => match from.join(&location) {
                Some(target) if redirects_left > 0 && (target.is_secure() || !from.is_secure()) => {
                    Ok(target)
                }
                _ => Err(refused(&location)),
            },
            Redirection::ByGet(location) => Err(refused(&location)),
        }
    }

    /// The whole answer, within the limits.
    async fn collect(
        &self,
        target: &Address,
        response: hyper::Response<Incoming>,
    ) -> Result<Fetched, Error> {
        let limit = self.inner.options.max_response;
        let too_large = || Error::new(ErrorKind::TooLarge { limit }, target.as_str());
        let (head, mut incoming) = response.into_parts();
        let body = match collect(&mut incoming, limit).await {
            Ok(body) => body,
            Err(Collect::TooLarge) => return Err(too_large()),
            Err(Collect::Broken(source)) => {
                return Err(Error::new(ErrorKind::Broken, target.as_str()).because(source));
            }
        };
        let encoding = head
            .headers
            .get(header::CONTENT_ENCODING)
            .map(HeaderValue::as_bytes)
            .unwrap_or_default();
        let body = match encoding {
            _ if body.is_empty() => body,
            b"" => body,
            name if name.eq_ignore_ascii_case(b"identity") => body,
            name if name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip") => {
                match gzip::decompress(body, limit, None).await {
                    Ok(body) => body,
                    Err(Refusal::TooLarge) => return Err(too_large()),
                    Err(Refusal::Malformed | Refusal::Crowded) => {
                        return Err(Error::new(ErrorKind::Compression, target.as_str()));
                    }
                }
            }
            other => {
                let found = String::from_utf8_lossy(other).into_owned();
                return Err(Error::new(
                    ErrorKind::ContentEncoding(found),
                    target.as_str(),
                ));
            }
        };
        Ok(Fetched {
            address: target.clone(),
            status: head.status,
            headers: head.headers,
            body,
        })
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

/// What a status of 3xx asks for.
enum Redirection {
    /// The same request, there.
    To(String),
    /// A GET there, which is no way to send a message.
    ByGet(String),
}

/// The redirect a response asks for, if it does. SOAP has no use for the old habit of turning a POST
/// into a GET on 301 and 302, so those repeat the request as 307 and 308 do. (SOAP 1.2 Part 2 §7.5.1.2)
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
    let kind = match () {
        () if is_caused_by::<TimedOut>(&error) => {
            ErrorKind::ConnectTimeout(options.connect_timeout)
        }
        () if error.is_connect() => ErrorKind::Connect,
        () => ErrorKind::Broken,
    };
    Error::new(kind, target.as_str()).because(error)
}

fn is_caused_by<E: std::error::Error + 'static>(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(<dyn std::error::Error>::is::<E>)
}

/// Why a body was not collected.
pub(crate) enum Collect {
    /// It is longer than allowed.
    TooLarge,
    /// The connection broke.
    Broken(hyper::Error),
}

/// A body in one piece, if it is at most `limit` bytes. A body that came as one piece is not copied.
pub(crate) async fn collect(incoming: &mut Incoming, limit: u64) -> Result<Bytes, Collect> {
    use hyper::body::Body as _;

    /// The announced length is believed up to here; beyond, the buffer grows with what arrives.
    const BELIEVED: u64 = 8 << 20;

    let announced = incoming.size_hint().lower();
    if announced > limit {
        return Err(Collect::TooLarge);
    }
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(Collect::Broken)?.into_data() else {
            continue;
        };
        if (first.len() + all.len() + data.len()) as u64 > limit {
            return Err(Collect::TooLarge);
        }
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        if all.is_empty() {
            all.reserve(announced.min(BELIEVED) as usize);
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&data);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}
