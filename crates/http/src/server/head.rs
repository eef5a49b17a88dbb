//! The checks of a request's head that hyper leaves to its users.

use hyper::header::{self, HeaderMap};
use hyper::{Request, StatusCode, Version};

use super::message::Response;

/// The refusal of a head that is not allowed. `None` if it is allowed.
pub(super) fn check<B>(request: &Request<B>) -> Option<Response> {
    if request.version() > Version::HTTP_11 {
        // Over HTTP/2 there are neither `Host` nor `Transfer-Encoding`.
        return None;
    }
    check_encoding(request.headers()).or_else(|| check_host(request))
}

/// A request must have one `Host` header (RFC 9112 §3.2); one of HTTP/1.0 may have none.
fn check_host<B>(request: &Request<B>) -> Option<Response> {
    let reason = match request.headers().get_all(header::HOST).iter().count() {
        1 => return None,
        0 if request.version() < Version::HTTP_11 => return None,
        0 => "the Host header is missing",
        _ => "there is more than one Host header",
    };
    Some(closing(StatusCode::BAD_REQUEST, reason))
}

/// Only `chunked` is understood (RFC 9112 §6.1).
fn check_encoding(headers: &HeaderMap) -> Option<Response> {
    let mut encodings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let is_chunked = |value: &header::HeaderValue| {
        value
            .as_bytes()
            .trim_ascii()
            .eq_ignore_ascii_case(b"chunked")
    };
    match (encodings.next(), encodings.next()) {
        (None, _) => None,
        (Some(one), None) if is_chunked(one) => None,
        _ => Some(closing(
            StatusCode::NOT_IMPLEMENTED,
            "of transfer encodings, only chunked is understood: compress with Content-Encoding: gzip",
        )),
    }
}

/// The answer to a client that has sent too many requests.
pub(super) fn too_many() -> Response {
    let text = "this address has sent too many requests (max_requests_per_second): try again later";
    Response::plain(StatusCode::TOO_MANY_REQUESTS, text).with(header::RETRY_AFTER, "1")
}

/// A refusal after which the connection is closed: where the next request begins is uncertain.
fn closing(status: StatusCode, reason: &str) -> Response {
    Response::plain(status, reason).with(header::CONNECTION, "close")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_and_no_unknown_transfer_encoding() {
        for (version, headers, refused) in [
            (Version::HTTP_11, &[("host", "a")][..], None),
            (Version::HTTP_11, &[], Some(400)),
            (Version::HTTP_10, &[], None),
            (Version::HTTP_11, &[("host", "a"), ("host", "a")], Some(400)),
            (Version::HTTP_10, &[("host", "a"), ("host", "b")], Some(400)),
            (Version::HTTP_2, &[], None),
            (
                Version::HTTP_11,
                &[("host", "a"), ("transfer-encoding", "Chunked")],
                None,
            ),
            (
                Version::HTTP_11,
                &[("host", "a"), ("transfer-encoding", "gzip, chunked")],
                Some(501),
            ),
            (
                Version::HTTP_11,
                &[
                    ("host", "a"),
                    ("transfer-encoding", "gzip"),
                    ("transfer-encoding", "chunked"),
                ],
                Some(501),
            ),
            (
                Version::HTTP_11,
                &[("host", "a"), ("transfer-encoding", "identity")],
                Some(501),
            ),
        ] {
            let mut request = Request::new(());
            *request.version_mut() = version;
            for (name, value) in headers {
                request.headers_mut().append(*name, value.parse().unwrap());
            }
            let found = check(&request).map(|response| response.status.as_u16());
            assert_eq!(found, refused, "{version:?} {headers:?}");
        }
    }
}
