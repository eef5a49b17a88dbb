//! gzip both ways. Reading stops at a given number of bytes: a small body may unfold to any size.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::Body;

/// Bodies longer than this are (un)folded on a thread where blocking does no harm.
const LONG: usize = 256 * 1024;

/// Why a body did not unfold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is longer than allowed.
    TooLarge,
    /// It is no gzip stream.
    Malformed,
}

/// The body as a gzip stream. Level 1: SOAP bodies are repetitive, and time is what is short.
pub(crate) async fn compress(body: Body) -> Body {
    if body.len() <= LONG as u64 {
        return fold(&body);
    }
    let shared = body.clone();
    tokio::task::spawn_blocking(move || fold(&shared))
        .await
        .unwrap_or(body)
}

fn fold(body: &Body) -> Body {
    let mut encoder = GzEncoder::new(
        Vec::with_capacity(body.len() as usize / 4 + 64),
        Compression::fast(),
    );
    for chunk in body.chunks() {
        encoder
            .write_all(chunk)
            .expect("writing to a Vec does not fail");
    }
    encoder
        .finish()
        .expect("writing to a Vec does not fail")
        .into()
}

/// What a gzip stream unfolds to, if that is at most `limit` bytes.
pub(crate) async fn decompress(bytes: Bytes, limit: u64) -> Result<Bytes, Refusal> {
    if bytes.len() <= LONG / 8 {
        return unfold(&bytes, limit);
    }
    match tokio::task::spawn_blocking(move || unfold(&bytes, limit)).await {
        Ok(unfolded) => unfolded,
        Err(_) => Err(Refusal::Malformed),
    }
}

fn unfold(bytes: &[u8], limit: u64) -> Result<Bytes, Refusal> {
    let mut unfolded = Vec::new();
    // One byte more than allowed tells "exactly the limit" from "longer".
    match MultiGzDecoder::new(bytes)
        .take(limit.saturating_add(1))
        .read_to_end(&mut unfolded)
    {
        Err(_) => Err(Refusal::Malformed),
        Ok(length) if length as u64 > limit => Err(Refusal::TooLarge),
        Ok(_) => Ok(unfolded.into()),
    }
}

/// Whether an `Accept-Encoding` admits gzip. (RFC 9110 §12.5.3)
pub(crate) fn is_accepted(accept_encoding: &str) -> bool {
    let mut wildcard = false;
    for coding in accept_encoding.split(',') {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|parameter| {
            let weight = parameter
                .strip_prefix("q=")
                .or_else(|| parameter.strip_prefix("Q="));
            weight.and_then(|weight| weight.trim().parse::<f32>().ok()) == Some(0.0)
        });
        if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            return !refused;
        }
        wildcard |= name == "*" && !refused;
    }
    wildcard
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_folded_unfolds_to_itself_up_to_the_limit() {
        let text = "<d>1.5</d>".repeat(1000);
        let folded = fold(&Body::from(text.clone())).into_bytes();
        assert!(folded.len() < 200);
        assert_eq!(unfold(&folded, 10_000), Ok(Bytes::from(text)));
        assert_eq!(unfold(&folded, 9_999), Err(Refusal::TooLarge));
    }

    #[test]
    fn a_truncated_or_foreign_stream_is_malformed() {
        let folded = fold(&Body::from("<a/>")).into_bytes();
        assert_eq!(
            unfold(&folded[..folded.len() - 3], 100),
            Err(Refusal::Malformed)
        );
        assert_eq!(unfold(b"<a/>", 100), Err(Refusal::Malformed));
    }

    #[test]
    fn gzip_is_accepted_by_name_or_wildcard_unless_its_weight_is_zero() {
        for (header, accepted) in [
            ("gzip, deflate, br", true),
            ("GZIP", true),
            ("deflate, gzip;q=0.5", true),
            ("*", true),
            ("gzip;q=0, *", false),
            ("gzip; q=0.000", false),
            ("identity", false),
            ("", false),
            ("*;q=0", false),
        ] {
            assert_eq!(is_accepted(header), accepted, "{header}");
        }
    }
}
