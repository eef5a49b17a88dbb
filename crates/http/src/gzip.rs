//! Compresses and decompresses gzip. Decompression stops at a limit, because a small body may decompress to any size.

use std::io::{Read, Write};
use std::sync::Arc;

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::body::Body;
use crate::limits::{DECOMPRESS_STEP, MAX_INLINE_BYTES};
use crate::work::{Charge, WorkError};

/// The reason why a body could not be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GzipError {
    /// The decompressed body is longer than the limit.
    TooLarge,
    /// The body is not a gzip stream.
    Malformed,
    /// There is no memory for the decompressed body.
    NoMemory(WorkError),
}

/// Compresses a body to a gzip stream. It uses level 1: SOAP bodies are repetitive, and higher levels cost more time than
/// they save.
pub(crate) async fn compress(body: Body) -> Body {
    if body.len() <= MAX_INLINE_BYTES as u64 {
        return compress_now(&body);
    }
    let shared = body.clone();
    tokio::task::spawn_blocking(move || compress_now(&shared))
        .await
        .unwrap_or(body)
}

fn compress_now(body: &Body) -> Body {
    if let Some(compressed) = body.compressed() {
        return compressed;
    }
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

/// Decompresses a gzip stream of at most `limit` decompressed bytes. They are charged before they are allocated, and replace the
/// charge of the compressed bytes at the end.
pub(crate) async fn decompress(
    bytes: Bytes,
    limit: u64,
    charge: &Arc<Charge>,
) -> Result<Bytes, GzipError> {
    let is_short = bytes.len() <= MAX_INLINE_BYTES;
    let mut decompression = Decompression::new(bytes, limit, charge);
    // The decompressed length is only known at the end. So a short part is decompressed here, and the rest on a blocking
    // thread. (A long input may decompress to nothing: millions of empty members.)
    if is_short && decompression.advance(MAX_INLINE_BYTES)? {
        return decompression.finish();
    }
    let rest = tokio::task::spawn_blocking(move || {
        decompression.advance(usize::MAX)?;
        decompression.finish()
    });
    rest.await.unwrap_or(Err(GzipError::Malformed))
}

/// The state of the decompression of one body.
struct Decompression {
    decoder: MultiGzDecoder<Reader<Bytes>>,
    decompressed: Vec<u8>,
    limit: u64,
    charge: Arc<Charge>,
    /// The charge of the compressed bytes.
    compressed: u64,
}

impl Decompression {
    fn new(bytes: Bytes, limit: u64, charge: &Arc<Charge>) -> Self {
        Self {
            charge: Arc::clone(charge),
            compressed: charge.bytes(),
            decoder: MultiGzDecoder::new(bytes.reader()),
            decompressed: Vec::new(),
            limit,
        }
    }

    /// Decompresses until there are `until` bytes. Returns true if the stream has ended.
    fn advance(&mut self, until: usize) -> Result<bool, GzipError> {
        while self.decompressed.len() < until {
            let length = self.decompressed.len() as u64;
            // One byte more than allowed distinguishes "exactly the limit" from "longer".
            let step = DECOMPRESS_STEP.min(self.limit.saturating_add(1) - length);
            self.reserve(length + step)?;
            let mut some = self.decoder.by_ref().take(step);
            let read = some
                .read_to_end(&mut self.decompressed)
                .map_err(|_| GzipError::Malformed)?;
            if self.decompressed.len() as u64 > self.limit {
                return Err(GzipError::TooLarge);
            }
            if (read as u64) < step {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the buffer large enough for `bytes`. It is charged before it is allocated.
    fn reserve(&mut self, bytes: u64) -> Result<(), GzipError> {
        let before = self.decompressed.capacity() as u64;
        if before >= bytes {
            return Ok(());
        }
        // The capacity is doubled as long as the budget allows it, because growing may copy the buffer.
        let most = self.limit.saturating_add(1);
        let mut wanted = before.saturating_mul(2).clamp(bytes, most.max(bytes));
        if self.resize(wanted.min(self.limit)).is_err() {
            wanted = bytes;
            self.resize(wanted.min(self.limit))?;
        }
        let more = wanted as usize - self.decompressed.len();
        self.decompressed.reserve_exact(more);
        Ok(())
    }

    /// Charges this many decompressed bytes.
    fn resize(&self, bytes: u64) -> Result<(), GzipError> {
        let all = self.compressed + bytes;
        self.charge.resize(all).map_err(GzipError::NoMemory)
    }

    fn finish(mut self) -> Result<Bytes, GzipError> {
        self.decompressed.shrink_to_fit();
        let length = self.decompressed.capacity() as u64;
        self.charge.resize(length).map_err(GzipError::NoMemory)?;
        Ok(self.decompressed.into())
    }
}

/// True if the value of an `Accept-Encoding` header allows gzip. (RFC 9110 §12.5.3)
#[cfg(any(feature = "server", test))]
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
    use crate::work::{Owner, WorkBudget};

    #[test]
    fn compressing_and_decompressing_gives_the_text_up_to_the_limit() {
        let text = "<d>1.5</d>".repeat(1000);
        let compressed = compress_now(&Body::from(text.clone())).into_bytes();
        assert!(compressed.len() < 200);
        assert_eq!(all(&compressed, 10_000), Ok(Bytes::from(text)));
        assert_eq!(all(&compressed, 9_999), Err(GzipError::TooLarge));
        let long = vec![b' '; 3 << 20];
        let compressed = compress_now(&Body::from(long.clone())).into_bytes();
        assert_eq!(all(&compressed, 3 << 20), Ok(Bytes::from(long)));
        assert_eq!(all(&compressed, (3 << 20) - 1), Err(GzipError::TooLarge));
        assert_eq!(all(&compressed, 0), Err(GzipError::TooLarge));
    }

    fn decompress_in_steps(
        bytes: &[u8],
        limit: u64,
        charge: &Arc<Charge>,
    ) -> Result<Bytes, GzipError> {
        let bytes = Bytes::copy_from_slice(bytes);
        let mut decompression = Decompression::new(bytes, limit, charge);
        // The number of bytes per step does not change the result.
        while !decompression.advance(decompression.decompressed.len() + 100_000)? {}
        decompression.finish()
    }

    fn all(bytes: &[u8], limit: u64) -> Result<Bytes, GzipError> {
        decompress_in_steps(bytes, limit, &Charge::unlimited())
    }

    #[tokio::test]
    async fn long_bodies_are_decompressed_on_another_thread() {
        let charge = Charge::unlimited();
        for length in [
            0,
            1,
            MAX_INLINE_BYTES - 1,
            MAX_INLINE_BYTES,
            MAX_INLINE_BYTES + 1,
            5 * MAX_INLINE_BYTES,
        ] {
            let text = vec![b' '; length];
            let compressed = compress_now(&Body::from(text.clone())).into_bytes();
            let limit = 5 * MAX_INLINE_BYTES as u64;
            let decompressed = decompress(compressed.clone(), limit, &charge).await;
            assert!(decompressed == Ok(text.into()), "{length}");
            if let Some(limit) = (length as u64).checked_sub(1) {
                let refused = decompress(compressed, limit, &charge).await;
                assert_eq!(refused, Err(GzipError::TooLarge));
            }
        }
    }

    #[test]
    fn memory_is_charged_before_it_is_allocated() {
        let compressed = compress_now(&Body::from(vec![b' '; 3_000_000])).into_bytes();
        let budget = WorkBudget::new(16_000_000);
        let charge = budget.charge(Owner::of(&0));
        let mut decompression = Decompression::new(compressed, 1 << 30, &charge);
        while !decompression
            .advance(decompression.decompressed.len() + 1)
            .expect("enough")
        {
            let held = decompression.decompressed.capacity() as u64;
            assert_eq!(budget.used(), held);
        }
        let decompressed = decompression.finish().expect("enough");
        assert_eq!(budget.used(), decompressed.len() as u64);
        drop(charge);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_body_that_does_not_fit_the_budget_is_refused() {
        let compressed = compress_now(&Body::from(vec![b' '; 700_000])).into_bytes();
        let budget = WorkBudget::new(1_000_000);
        let first = budget.charge(Owner::of(&1));
        assert!(decompress_in_steps(&compressed, 1 << 20, &first).is_ok());
        let refused = decompress_in_steps(&compressed, 1 << 20, &budget.charge(Owner::of(&2)));
        let limit = 1_000_000;
        let used_up = WorkError::UsedUp { limit };
        assert_eq!(refused, Err(GzipError::NoMemory(used_up)));
        drop(first);
        assert!(decompress_in_steps(&compressed, 1 << 20, &budget.charge(Owner::of(&2))).is_ok());
    }

    #[test]
    fn a_truncated_or_foreign_stream_is_malformed() {
        let compressed = compress_now(&Body::from("<a/>")).into_bytes();
        assert_eq!(
            all(&compressed[..compressed.len() - 3], 100),
            Err(GzipError::Malformed)
        );
        assert_eq!(all(b"<a/>", 100), Err(GzipError::Malformed));
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
