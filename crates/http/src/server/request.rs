//! Serves one request: reads its body within the limits, calls the handler of its path, and compresses the answer if that
//! makes it shorter.

use std::future::poll_fn;
use std::net::{Ipv6Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

#[cfg(feature = "gzip")]
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body as HttpBody;
use hyper::header;
#[cfg(feature = "gzip")]
use hyper::header::HeaderValue;
use hyper::{Method, StatusCode, Uri, Version};
use tokio::time::error::Elapsed;
use tracing::{Instrument, Span};

use super::answered::Observed;
use super::connection::Connection;
use super::dispatch::Dispatch;
use super::head;
use super::health::{self, Readiness};
use super::message::{PageRequest, Request, Response};
#[cfg(feature = "gzip")]
use super::options::ServerOptions;
use super::pool::Network;
use super::routes::{Client, Handler, Refusal, RequestHead};
use crate::body::{AnyError, Body};
use crate::collect::{CollectError, CollectOptions, collect, read};
use crate::encoding::{ContentEncoding, content_encoding};
use crate::error::SUPPORTED_ENCODINGS;
#[cfg(feature = "gzip")]
use crate::gzip::{self, GzipError};
use crate::limits::{LINGER_FRAMES, LINGER_TIME};
use crate::reading::{BodyRefusal, ReadBody};
use crate::work::{Charge, Owner, WorkError};

/// The body of a request: that of this crate's server, or that of another.
pub(super) trait RequestBody:
    HttpBody<Data: Send, Error: Into<AnyError> + Send> + Send + Unpin + 'static
{
}

impl<B: HttpBody<Data: Send, Error: Into<AnyError> + Send> + Send + Unpin + 'static> RequestBody
    for B
{
}

/// The answer to a request that is not passed to the routes: because it asks for the state of the server, because its head is
/// not allowed, or because its client has sent too many.
pub(super) fn check<B>(
    dispatch: &Dispatch,
    incoming: &hyper::Request<B>,
    connection: &Connection,
    readiness: Readiness,
) -> Option<hyper::Response<Body>> {
    if *incoming.method() != Method::POST
        && let Some(state) = health::answer(incoming.uri().path(), &dispatch.options, readiness)
    {
        return Some(state.into());
    }
    let refusal = head::check(incoming).or_else(|| {
        let rate = dispatch.rate.as_ref()?;
        let client = dispatch.client(incoming.headers(), connection);
        (!rate.allows(Network::of(client.ip()))).then(head::too_many)
    })?;
    Some(refuse(dispatch, incoming, connection, refusal).into())
}

/// Called with true when a request begins to wait for its peer, and with false when it goes on.
pub(super) type OnWait<'w> = &'w mut (dyn FnMut(bool) + Send);

pub(super) async fn answer<B: RequestBody>(
    dispatch: &Dispatch,
    incoming: hyper::Request<B>,
    connection: &Connection,
    on_wait: OnWait<'_>,
) -> hyper::Response<Body> {
    #[cfg(feature = "gzip")]
    let accepts_gzip = incoming
        .headers()
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(gzip::is_accepted);
    let response = match *incoming.method() {
        Method::POST => post(dispatch, incoming, connection, on_wait).await,
        Method::GET | Method::HEAD => match get(dispatch, &incoming, connection) {
            page if page.status.is_client_error() => refuse(dispatch, &incoming, connection, page),
            page => page,
        },
        _ => {
            let response = Response::plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "method not allowed: expected GET, HEAD or POST",
            )
            .with(header::ALLOW, "GET, HEAD, POST");
            refuse(dispatch, &incoming, connection, response)
        }
    };
    #[cfg(feature = "gzip")]
    let response = compress(response, accepts_gzip, &dispatch.options).await;
    response.into()
}

/// Reports a request that is refused with this response, if anybody wants to know.
pub(super) fn refuse<B>(
    dispatch: &Dispatch,
    request: &hyper::Request<B>,
    connection: &Connection,
    response: Response,
) -> Response {
    let client = dispatch.client(request.headers(), connection);
    report(
        dispatch,
        (request.method(), request.uri()),
        client,
        &response,
    );
    response
}

/// Reports a refused request.
fn report(
    dispatch: &Dispatch,
    (method, uri): (&Method, &Uri),
    client: SocketAddr,
    response: &Response,
) {
    if let Some(report) = &dispatch.routes.on_refusal {
        let text = response.body.clone().into_bytes();
        report(&Refusal {
            peer: client,
            method: method.as_str(),
            path: uri.path(),
            status: response.status.as_u16(),
            reason: String::from_utf8_lossy(&text).trim_end(),
        });
    }
}

async fn post<B: RequestBody>(
    dispatch: &Dispatch,
    incoming: hyper::Request<B>,
    connection: &Connection,
    on_wait: OnWait<'_>,
) -> Response {
    let Some(handler) = dispatch.routes.handlers.get(incoming.uri().path()) else {
        return refuse(dispatch, &incoming, connection, not_found());
    };
    let handler = &**handler;
    let (mut head, incoming) = incoming.into_parts();
    let client = Client {
        address: dispatch.client(&head.headers, connection),
        connection,
    };
    let owner = match handler.identify(&mut head, &client) {
        Ok(owner) => owner,
        Err(response) => {
            linger(incoming);
            let request = (&head.method, &head.uri);
            report(dispatch, request, client.address, &response);
            return response.with(header::CONNECTION, "close");
        }
    };
    let owner = owner.unwrap_or_else(|| Owner::of(&Network::of(client.address.ip())));
    let charge = dispatch.options.work.charge(owner);
    let span = handler.span(&head, connection);
    let arrived = Arrived {
        head,
        client,
        charge,
        span: span.clone(),
    };
    let receiving = receive(dispatch, handler, arrived, incoming, on_wait);
    if span.is_disabled() {
        return receiving.await;
    }
    // Boxed because it is a second copy of a large future.
    let response = Box::pin(receiving.instrument(span.clone())).await;
    span.record("http.response.status_code", response.status.as_u16());
    response
}

/// A request whose head has arrived.
struct Arrived<'c> {
    head: RequestHead,
    client: Client<'c>,
    charge: Arc<Charge>,
    span: Span,
}

/// Receives the body of a request and calls the handler.
async fn receive<B: RequestBody>(
    dispatch: &Dispatch,
    handler: &dyn Handler,
    arrived: Arrived<'_>,
    mut incoming: B,
    on_wait: OnWait<'_>,
) -> Response {
    let Arrived {
        mut head,
        client,
        charge,
        span,
    } = arrived;
    let reading = body(handler, &head, &mut incoming, dispatch, &charge, on_wait);
    let ReadBody { body, extensions } = match reading.await {
        Ok(read) => read,
        Err(response) => {
            span.record("error.type", response.status.as_str());
            linger(incoming);
            report(
                dispatch,
                (&head.method, &head.uri),
                client.address,
                &response,
            );
            return response.with(header::CONNECTION, "close");
        }
    };
    head.extensions.extend(extensions);
    let request = Request {
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        headers: head.headers,
        body,
        peer: client.address,
        connection: client.connection.clone(),
        extensions: head.extensions,
        charge: Arc::clone(&charge),
        span,
    };
    let mut response = guarded(handler, request).await;
    // What is left is the answer.
    match charge.resize(response.body.len()) {
        Ok(()) => {
            response.body.hold(charge);
            response
        }
        Err(error) => no_memory(error),
    }
}

/// Reads the request's body. The error is the answer that says which limit the body exceeds.
async fn body<B: RequestBody>(
    handler: &dyn Handler,
    head: &RequestHead,
    incoming: &mut B,
    dispatch: &Dispatch,
    charge: &Arc<Charge>,
    on_wait: OnWait<'_>,
) -> Result<ReadBody, Response> {
    let options = &dispatch.options;
    let limit = options.max_body;
    let encoding = content_encoding(&head.headers);
    if let ContentEncoding::Other(found) = encoding {
        return Err(unsupported_encoding(&found));
    }
    let reading = CollectOptions {
        limit,
        pace: Some(options.pace),
        charge: Arc::clone(charge),
        count: head.extensions.get::<Observed>().map(Observed::count),
    };
    let reader = match encoding {
        ContentEncoding::Identity => handler.reader(head).map_err(refused)?,
        _ => None,
    };
    let collecting = async {
        match reader {
            Some(reader) => Box::pin(read(incoming, reader, &reading, on_wait)).await,
            None => collect(incoming, &reading, on_wait)
                .await
                .map(ReadBody::from),
        }
    };
    let Ok(collected) = within(options.body_timeout, collecting).await else {
        let text = "the body took too long to arrive (body_timeout)";
        return Err(Response::plain(StatusCode::REQUEST_TIMEOUT, text));
    };
    let body = collected.map_err(|reason| match reason {
        CollectError::Refused(refusal) => refused(refusal),
        CollectError::TooLarge => too_large(limit),
        CollectError::TooSlow => {
            let text = format!(
                "the body arrives more slowly than {} bytes a second (pace)",
                options.pace.rate
            );
            Response::plain(StatusCode::REQUEST_TIMEOUT, &text)
        }
        CollectError::NoMemory(error) => no_memory(error),
        CollectError::Broken(error) => {
            let error: AnyError = error.into();
            tracing::debug!(%error, "the body of a request is incomplete");
            let text = "the body is incomplete: the connection ended before the announced length or the last chunk";
            Response::plain(StatusCode::BAD_REQUEST, text)
        }
    })?;
    #[cfg(feature = "gzip")]
    if let ContentEncoding::Gzip = encoding {
        let decompressing = Box::pin(decompress(body.body, options.max_body, charge));
        return decompressing.await.map(ReadBody::from);
    }
    Ok(body)
}

/// The answer to a request whose reader does not take its body.
fn refused(refusal: BodyRefusal) -> Response {
    Response::plain(refusal.status, &refusal.reason)
}

/// The answer to a request for whose message there is no memory.
fn no_memory(error: WorkError) -> Response {
    let text = error.to_string();
    match error {
        WorkError::TooLarge { .. } => Response::plain(StatusCode::PAYLOAD_TOO_LARGE, &text),
        WorkError::UsedUp { .. } => {
            Response::plain(StatusCode::SERVICE_UNAVAILABLE, &text).with(header::RETRY_AFTER, "1")
        }
    }
}

/// The output of a future, if it completes in time. No clock is read for one that completes at once.
async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    let first = poll_fn(|context| Poll::Ready(future.as_mut().poll(context)));
    match first.await {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Box::pin(tokio::time::timeout(limit, future)).await,
    }
}

/// The answer to a request whose `Content-Encoding` is not supported.
fn unsupported_encoding(found: &str) -> Response {
    let text =
        format!("Content-Encoding {found:?} is not supported, expected {SUPPORTED_ENCODINGS}");
    let accepted = match cfg!(feature = "gzip") {
        true => "gzip",
        false => "identity",
    };
    Response::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, &text)
        .with(header::ACCEPT_ENCODING, accepted)
}

fn too_large(limit: u64) -> Response {
    let text = format!("the body is longer than the limit of {limit} bytes");
    Response::plain(StatusCode::PAYLOAD_TOO_LARGE, &text)
}

/// Decompresses a gzip body. The error is the answer that says which limit the body exceeds.
#[cfg(feature = "gzip")]
async fn decompress(bytes: Bytes, limit: u64, charge: &Arc<Charge>) -> Result<Bytes, Response> {
    gzip::decompress(bytes, limit, charge)
        .await
        .map_err(|error| match error {
            GzipError::TooLarge => too_large(limit),
            GzipError::NoMemory(error) => no_memory(error),
            GzipError::Malformed => Response::plain(
                StatusCode::BAD_REQUEST,
                "the body is not a gzip stream although Content-Encoding says so",
            ),
        })
}

/// Reads and discards the rest of a refused request for a while. Closing the connection at once would reset it, and a peer
/// that is still sending might never see the answer. (RFC 9112 §9.6)
fn linger<B: RequestBody>(mut incoming: B) {
    tokio::spawn(tokio::time::timeout(LINGER_TIME, async move {
        for _ in 0..LINGER_FRAMES {
            if !matches!(incoming.frame().await, Some(Ok(_))) {
                break;
            }
        }
    }));
}

/// The handler's answer, or 500 if the handler panics. A panic ends neither the connection nor the server. The request is not
/// part of this future, which is moved for each call.
fn guarded(handler: &dyn Handler, request: Request) -> impl Future<Output = Response> {
    let mut answering = catch_unwind(AssertUnwindSafe(|| handler.handle(request)));
    poll_fn(move |context| {
        let polled = match &mut answering {
            Ok(answer) => catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context))).ok(),
            Err(_) => None,
        };
        polled.unwrap_or_else(|| Poll::Ready(panicked()))
    })
}

fn panicked() -> Response {
    tracing::error!("a handler panicked");
    Response::plain(StatusCode::INTERNAL_SERVER_ERROR, "the service failed")
}

fn get<B>(dispatch: &Dispatch, incoming: &hyper::Request<B>, connection: &Connection) -> Response {
    let path = incoming.uri().path();
    let is_served = dispatch.routes.handlers.contains_key(path);
    let routes = &dispatch.routes;
    let single = routes.pages_by_path.get(path);
    match single.or(routes.pages.as_ref()) {
        None if is_served => {
            Response::plain(StatusCode::METHOD_NOT_ALLOWED, "send messages by POST")
                .with(header::ALLOW, "POST")
        }
        Some(pages) if single.is_some() || is_served || path == "/" => {
            match base(dispatch, incoming, connection.local()) {
                Some(base) => pages(&PageRequest {
                    base: &base,
                    path,
                    query: incoming.uri().query(),
                }),
                None => Response::plain(
                    StatusCode::BAD_REQUEST,
                    "the Host header is missing, repeated or not a host name",
                ),
            }
        }
        _ => not_found(),
    }
}

fn not_found() -> Response {
    Response::plain(StatusCode::NOT_FOUND, "nothing is served at this path")
}

/// The address that the client used, as `http://host:port`.
fn base<B>(
    dispatch: &Dispatch,
    incoming: &hyper::Request<B>,
    local: Option<SocketAddr>,
) -> Option<String> {
    if let Some(public) = &dispatch.options.public_address {
        return Some(public.trim_end_matches('/').to_owned());
    }
    let scheme = dispatch.scheme();
    let mut hosts = incoming.headers().get_all(header::HOST).iter();
    let host = match (hosts.next(), local) {
        (Some(host), _) => host.to_str().ok()?,
        // An HTTP/1.0 request has no Host header: use the address that the client connected to.
        (None, Some(local)) if incoming.version() < Version::HTTP_11 => {
            return Some(format!("{scheme}://{local}"));
        }
        (None, _) => return None,
    };
    (hosts.next().is_none() && is_host(host)).then(|| format!("{scheme}://{host}"))
}

/// True if the text is a host name or an IP address with an optional port. It is copied into published documents.
fn is_host(text: &str) -> bool {
    let name_end = match text.strip_prefix('[') {
        Some(rest) => match rest.find(']') {
            Some(end) if rest[..end].parse::<Ipv6Addr>().is_ok() => end + 2,
            _ => return false,
        },
        None => text.find(':').unwrap_or(text.len()),
    };
    let (name, port) = text.split_at(name_end);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let named = text.starts_with('[') || name.bytes().all(is_name);
    let ported = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| !port.starts_with('+') && port.parse::<u16>().is_ok());
    !name.is_empty() && named && ported
}

/// Compresses the answer with gzip, if the peer accepts that (`accepted`) and it makes the answer shorter.
#[cfg(feature = "gzip")]
async fn compress(mut response: Response, accepted: bool, options: &ServerOptions) -> Response {
    let Some(threshold) = options.gzip_from else {
        return response;
    };
    if !response.body.is_whole()
        || response.body.len() < threshold as u64
        || response.headers.contains_key(header::CONTENT_ENCODING)
    {
        return response;
    }
    response
        .headers
        .insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if accepted {
        let compressed = Box::pin(gzip::compress(response.body.clone())).await;
        if compressed.len() < response.body.len() {
            response
                .headers
                .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response.body = compressed;
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_at_most_a_port() {
        for (text, good) in [
            ("localhost", true),
            ("example.com:8080", true),
            ("127.0.0.1:0", true),
            ("[::1]:80", true),
            ("[::1]", true),
            ("", false),
            (":80", false),
            ("a b", false),
            ("evil.com/\"><script>", false),
            ("user@host", false),
            ("[::1", false),
            ("[x]", false),
            ("[]", false),
            ("[]:80", false),
            ("[::1::]", false),
            ("[12345::]", false),
            ("[::ffff:127.0.0.1]:8080", true),
            (":+80", false),
            ("host:+80", false),
            ("[::1]x", false),
            ("host:99999", false),
            ("host:", false),
        ] {
            assert_eq!(is_host(text), good, "{text:?}");
        }
    }
}
