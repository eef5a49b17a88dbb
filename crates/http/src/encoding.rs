//! The `Content-Encoding` of a body.

use std::borrow::Cow;

use hyper::header::{self, HeaderMap, HeaderValue};

/// The value of a `Content-Encoding` header.
pub(crate) enum ContentEncoding<'h> {
    /// No header, or `identity`.
    Identity,
    /// `gzip` or `x-gzip`.
    #[cfg(feature = "gzip")]
    Gzip,
    /// An unsupported encoding, or several encodings.
    Other(Cow<'h, str>),
}

/// The encoding of a body, read from its headers.
pub(crate) fn content_encoding(headers: &HeaderMap) -> ContentEncoding<'_> {
    let mut values = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .map(HeaderValue::as_bytes);
    let is = |found: &[u8], names: &[&str]| {
        let mut names = names.iter();
        names.any(|name| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    match (values.next(), values.next()) {
        (None, _) => ContentEncoding::Identity,
        (Some(name), None) if is(name, &["", "identity"]) => ContentEncoding::Identity,
        #[cfg(feature = "gzip")]
        (Some(name), None) if is(name, &["gzip", "x-gzip"]) => ContentEncoding::Gzip,
        (Some(first), None) => ContentEncoding::Other(String::from_utf8_lossy(first)),
        (Some(first), Some(second)) => {
            let (first, second) = (
                String::from_utf8_lossy(first),
                String::from_utf8_lossy(second),
            );
            ContentEncoding::Other(format!("{first}, {second}").into())
        }
    }
}
