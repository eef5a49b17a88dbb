//! One request: its body is read within the limits, its path finds the handler, its answer is folded if that pays.

use std::net::{Ipv6Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode, Version};

use super::{BoxedAnswer, Connection, Handler, Request, Response, ServerOptions, Shared};
use crate::Body;
use crate::client::{Collect, collect};
use crate::gzip::{self, Refusal};

pub(super) async fn answer(
    shared: &Arc<Shared>,
    incoming: hyper::Request<Incoming>,
    connection: &Connection,
) -> hyper::Response<Body> {
    let accepts_gzip = incoming
        .headers()
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(gzip::is_accepted);
    let response = match *incoming.method() {
        Method::POST => post(shared, incoming, connection).await,
        Method::GET | Method::HEAD => get(shared, &incoming, connection),
        _ => Response::plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "only GET, HEAD and POST are understood here",
        )
        .with(header::ALLOW, "GET, HEAD, POST"),
    };
    let response = fold(response, accepts_gzip, &shared.options).await;
    let mut answer = hyper::Response::new(response.body);
    *answer.status_mut() = response.status;
    *answer.headers_mut() = response.headers;
    answer
}

async fn post(
    shared: &Shared,
    incoming: hyper::Request<Incoming>,
    connection: &Connection,
) -> Response {
    let Some(handler) = shared.routes.handlers.get(incoming.uri().path()) else {
        return Response::plain(StatusCode::NOT_FOUND, "nothing is served at this path");
    };
    let (head, mut incoming) = incoming.into_parts();
    let body = match body(&head.headers, &mut incoming, shared).await {
        Ok(body) => body,
        Err(response) => {
            linger(incoming);
            return response.with(header::CONNECTION, "close");
        }
    };
    let request = Request {
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        headers: head.headers,
        body,
        peer: connection.peer(),
        connection: connection.clone(),
    };
    guarded(&**handler, request).await
}

/// The request's body within the limits, or the answer that says which one it passes.
async fn body(
    headers: &HeaderMap,
    incoming: &mut Incoming,
    shared: &Shared,
) -> Result<Bytes, Response> {
    let options = &shared.options;
    let limit = options.max_body;
    let too_large = |limit: u64| {
        let text = format!("a body may be {limit} bytes at most");
        Response::plain(StatusCode::PAYLOAD_TOO_LARGE, &text)
    };
    let folded = match encoding(headers) {
        Encoding::Identity => false,
        Encoding::Gzip => true,
        Encoding::Other => {
            let response = Response::plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "only gzip and identity are understood",
            );
            return Err(response.with(header::ACCEPT_ENCODING, "gzip"));
        }
    };
    let collecting = tokio::time::timeout(options.body_timeout, collect(incoming, limit));
    let Ok(collected) = collecting.await else {
        let text = "the body took too long to arrive";
        return Err(Response::plain(StatusCode::REQUEST_TIMEOUT, text));
    };
    let bytes = collected.map_err(|reason| match reason {
        Collect::TooLarge => too_large(limit),
        Collect::Broken(_) => Response::plain(StatusCode::BAD_REQUEST, "the body is incomplete"),
    })?;
    if !folded {
        return Ok(bytes);
    }
    // What never fits is not asked to come again.
    let limit = limit.min(options.max_unfolded);
    gzip::decompress(bytes, limit, Some(&shared.room))
        .await
        .map_err(|refusal| match refusal {
            Refusal::TooLarge => too_large(limit),
            Refusal::Crowded => crowded(options.max_unfolded),
            Refusal::Malformed => Response::plain(
                StatusCode::BAD_REQUEST,
                "the body is not the gzip stream it claims to be",
            ),
        })
}

/// Asks to come again when others are done.
fn crowded(limit: u64) -> Response {
    let text = format!(
        "the gzip bodies of all requests may unfold to {limit} bytes (max_unfolded) at a time, and others are at it"
    );
    Response::plain(StatusCode::SERVICE_UNAVAILABLE, &text).with(header::RETRY_AFTER, "1")
}

/// Takes a little more of a body nobody wants. Closing at once would reset the connection, and the peer,
/// still sending, might never see the answer. (RFC 9112 §9.6)
fn linger(mut incoming: Incoming) {
    const TIME: Duration = Duration::from_secs(2);
    const FRAMES: usize = 256;
    tokio::spawn(tokio::time::timeout(TIME, async move {
        for _ in 0..FRAMES {
            if !matches!(incoming.frame().await, Some(Ok(_))) {
                break;
            }
        }
    }));
}

enum Encoding {
    Identity,
    Gzip,
    Other,
}

fn encoding(headers: &HeaderMap) -> Encoding {
    let mut values = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .map(HeaderValue::as_bytes);
    match (values.next(), values.next()) {
        (None, _) => Encoding::Identity,
        (Some(name), None) if name.is_empty() || name.eq_ignore_ascii_case(b"identity") => {
            Encoding::Identity
        }
        (Some(name), None)
            if name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip") =>
        {
            Encoding::Gzip
        }
        _ => Encoding::Other,
    }
}

/// The handler's answer; 500 if it panics. The panic ends neither the connection nor the server.
async fn guarded(handler: &dyn Handler, request: Request) -> Response {
    let mut answer: Option<BoxedAnswer<'_>> = None;
    let mut request = Some(request);
    std::future::poll_fn(|context| {
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| {
            if let Some(request) = request.take() {
                answer = Some(handler.handle(request));
            }
            answer.as_mut().map(|answer| answer.as_mut().poll(context))
        }));
        match polled {
            Ok(Some(polled)) => polled,
            Ok(None) | Err(_) => {
                tracing::error!("a handler panicked");
                Poll::Ready(Response::plain(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the service failed",
                ))
            }
        }
    })
    .await
}

fn get(shared: &Shared, incoming: &hyper::Request<Incoming>, connection: &Connection) -> Response {
    let path = incoming.uri().path();
    let Some(site) = &shared.routes.site else {
        return if shared.routes.handlers.contains_key(path) {
            Response::plain(StatusCode::METHOD_NOT_ALLOWED, "send a message by POST")
                .with(header::ALLOW, "POST")
        } else {
            Response::plain(StatusCode::NOT_FOUND, "nothing is served at this path")
        };
    };
    if path != "/" && !shared.routes.handlers.contains_key(path) {
        return Response::plain(StatusCode::NOT_FOUND, "nothing is served at this path");
    }
    match base(shared, incoming, connection.local()) {
        Some(base) => site.answer(&base, path, incoming.uri().query()),
        None => Response::plain(
            StatusCode::BAD_REQUEST,
            "the Host header does not name a host",
        ),
    }
}

/// Where the request came in, as `http://host:port`.
fn base(
    shared: &Shared,
    incoming: &hyper::Request<Incoming>,
    local: Option<SocketAddr>,
) -> Option<String> {
    if let Some(public) = &shared.options.public_address {
        return Some(public.trim_end_matches('/').to_owned());
    }
    let scheme = if shared.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let mut hosts = incoming.headers().get_all(header::HOST).iter();
    let host = match (hosts.next(), local) {
        (Some(host), _) => host.to_str().ok()?,
        // HTTP/1.0 knows no Host; then the address that was connected to is as good as any.
        (None, Some(local)) if incoming.version() < Version::HTTP_11 => {
            return Some(format!("{scheme}://{local}"));
        }
        (None, _) => return None,
    };
    (hosts.next().is_none() && is_host(host)).then(|| format!("{scheme}://{host}"))
}

/// Whether this is a host name or address with at most a port: it ends up in documents others read.
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

/// The answer as gzip, where the peer accepts that and it gets shorter by it.
async fn fold(mut response: Response, accepted: bool, options: &ServerOptions) -> Response {
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
        let folded = gzip::compress(response.body.clone()).await;
        if folded.len() < response.body.len() {
            response
                .headers
                .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response.body = folded;
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
