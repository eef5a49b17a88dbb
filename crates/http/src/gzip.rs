//! gzip both ways. Reading stops at a given number of bytes: a small body may unfold to any size.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::Body;

/// Bodies longer than this are (un)folded on a thread where blocking does no harm.
const LONG: usize = 256 * 1024;

/// Room for what unfolds is taken in steps of so many bytes.
const STEP: u64 = 64 << 10;

/// Why a body did not unfold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is longer than allowed.
    TooLarge,
    /// It is no gzip stream.
    Malformed,
    /// Too much is unfolded already.
    Crowded,
}

/// How many unfolded bytes there may be at a time, of all requests together: each may be small, and unfold to much.
#[derive(Debug)]
pub(crate) struct Room {
    limit: u64,
    used: AtomicU64,
}

impl Room {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicU64::new(0),
        })
    }
}

/// The part of a [`Room`] that one body takes, until it is dropped.
#[derive(Debug)]
struct Share {
    room: Option<Arc<Room>>,
    bytes: u64,
}

impl Share {
    fn of(room: Option<&Arc<Room>>) -> Self {
        Self {
            room: room.cloned(),
            bytes: 0,
        }
    }

    /// Takes what is missing to so many bytes, or gives back what is more.
    fn resize(&mut self, bytes: u64) -> Result<(), Refusal> {
        if let Some(room) = &self.room {
            let others = |used: u64| used - self.bytes;
            let resized = |used: u64| {
                let sum = others(used).checked_add(bytes)?;
                (sum <= room.limit || bytes < self.bytes).then_some(sum)
            };
            room.used
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, resized)
                .map_err(|_| Refusal::Crowded)?;
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(room) = &self.room {
            room.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// An unfolded body with its share of the room.
struct Unfolded {
    bytes: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for Unfolded {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
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
    if let Some(folded) = body.folded() {
        return folded;
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

/// What a gzip stream unfolds to, if that is at most `limit` bytes and there is room for it, which is taken until it is
/// dropped.
pub(crate) async fn decompress(
    bytes: Bytes,
    limit: u64,
    room: Option<&Arc<Room>>,
) -> Result<Bytes, Refusal> {
    let is_short = bytes.len() <= LONG;
    let mut unfolding = Unfolding::new(bytes, limit, Share::of(room));
    // How long it takes is known when it is done: what is long is gone on with where blocking does no harm. (Input may be
    // long and unfold to nothing: millions of empty members.)
    if is_short && unfolding.go_on(LONG)? {
        return unfolding.finish();
    }
    let rest = tokio::task::spawn_blocking(move || {
        unfolding.go_on(usize::MAX)?;
        unfolding.finish()
    });
    rest.await.unwrap_or(Err(Refusal::Malformed))
}

/// A body that is being unfolded.
struct Unfolding {
    decoder: MultiGzDecoder<Reader<Bytes>>,
    unfolded: Vec<u8>,
    limit: u64,
    share: Share,
}

impl Unfolding {
    fn new(bytes: Bytes, limit: u64, share: Share) -> Self {
        Self {
            decoder: MultiGzDecoder::new(bytes.reader()),
            unfolded: Vec::new(),
            limit,
            share,
        }
    }

    /// Unfolds until all is done, which it tells, or there are so many bytes.
    fn go_on(&mut self, until: usize) -> Result<bool, Refusal> {
        while self.unfolded.len() < until {
            let length = self.unfolded.len() as u64;
            // One byte more than allowed tells "exactly the limit" from "longer".
            let step = STEP.min(self.limit.saturating_add(1) - length);
            self.reserve(length + step)?;
            let mut some = self.decoder.by_ref().take(step);
            let read = some
                .read_to_end(&mut self.unfolded)
                .map_err(|_| Refusal::Malformed)?;
            if self.unfolded.len() as u64 > self.limit {
                return Err(Refusal::TooLarge);
            }
            if (read as u64) < step {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sees to it that there is memory for so many bytes, which is taken of the room before it is asked for.
    fn reserve(&mut self, bytes: u64) -> Result<(), Refusal> {
        let before = self.unfolded.capacity() as u64;
        if before >= bytes {
            return Ok(());
        }
        // Twice as much each time, as long as there is room for that: what is there already may be moved.
        let most = self.limit.saturating_add(1);
        let mut wanted = before.saturating_mul(2).clamp(bytes, most.max(bytes));
        if self.share.resize(wanted.min(self.limit)).is_err() {
            wanted = bytes;
            self.share.resize(wanted.min(self.limit))?;
        }
        let more = wanted as usize - self.unfolded.len();
        self.unfolded.reserve_exact(more);
        Ok(())
    }

    fn finish(mut self) -> Result<Bytes, Refusal> {
        self.unfolded.shrink_to_fit();
        self.share.resize(self.unfolded.capacity() as u64)?;
        Ok(Bytes::from_owner(Unfolded {
            bytes: self.unfolded,
            _share: self.share,
        }))
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
        assert_eq!(all(&folded, 10_000), Ok(Bytes::from(text)));
        assert_eq!(all(&folded, 9_999), Err(Refusal::TooLarge));
        let long = vec![b' '; 3 << 20];
        let folded = fold(&Body::from(long.clone())).into_bytes();
        assert_eq!(all(&folded, 3 << 20), Ok(Bytes::from(long)));
        assert_eq!(all(&folded, (3 << 20) - 1), Err(Refusal::TooLarge));
        assert_eq!(all(&folded, 0), Err(Refusal::TooLarge));
    }

    fn unfold(bytes: &[u8], limit: u64, room: Option<&Arc<Room>>) -> Result<Bytes, Refusal> {
        let bytes = Bytes::copy_from_slice(bytes);
        let mut unfolding = Unfolding::new(bytes, limit, Share::of(room));
        // In several goes it is the same.
        while !unfolding.go_on(unfolding.unfolded.len() + 100_000)? {}
        unfolding.finish()
    }

    fn all(bytes: &[u8], limit: u64) -> Result<Bytes, Refusal> {
        unfold(bytes, limit, None)
    }

    #[tokio::test]
    async fn what_unfolds_to_much_is_gone_on_with_elsewhere() {
        for length in [0, 1, LONG - 1, LONG, LONG + 1, 5 * LONG] {
            let text = vec![b' '; length];
            let folded = fold(&Body::from(text.clone())).into_bytes();
            let unfolded = decompress(folded.clone(), 5 * LONG as u64, None).await;
            assert!(unfolded == Ok(text.into()), "{length}");
            if let Some(limit) = (length as u64).checked_sub(1) {
                let refused = decompress(folded, limit, None).await;
                assert_eq!(refused, Err(Refusal::TooLarge));
            }
        }
    }

    #[test]
    fn all_bodies_share_a_room_until_they_are_dropped() {
        let folded = fold(&Body::from(vec![b' '; 300_000])).into_bytes();
        let room = Room::new(700_000);
        let unfold = || unfold(&folded, 1 << 20, Some(&room));
        let first = unfold().expect("room for one");
        let second = unfold().expect("room for two");
        assert_eq!(room.used.load(Ordering::Relaxed), 600_000);
        assert_eq!(unfold(), Err(Refusal::Crowded));
        let part = first.slice(..10);
        drop(first);
        assert_eq!(unfold(), Err(Refusal::Crowded));
        drop(part);
        assert!(unfold().is_ok());
        drop(second);
        assert_eq!(
            self::unfold(b"<a/>", 100, Some(&room)),
            Err(Refusal::Malformed)
        );
        assert_eq!(room.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn memory_is_taken_of_the_room_before_it_is_asked_for() {
        let folded = fold(&Body::from(vec![b' '; 3_000_000])).into_bytes();
        let room = Room::new(4_000_000);
        let mut unfolding = Unfolding::new(folded, 1 << 30, Share::of(Some(&room)));
        while !unfolding.go_on(unfolding.unfolded.len() + 1).expect("room") {
            let held = unfolding.unfolded.capacity() as u64;
            assert_eq!(room.used.load(Ordering::Relaxed), held);
        }
        let unfolded = unfolding.finish().expect("room");
        assert_eq!(room.used.load(Ordering::Relaxed), unfolded.len() as u64);
    }

    #[test]
    fn a_room_no_larger_than_the_limit_is_used_to_its_last_byte() {
        for room in [10, 100_000, STEP, STEP + 1] {
            for (length, expected) in [(room, None), (room + 1, Some(Refusal::TooLarge))] {
                let folded = fold(&Body::from(vec![b' '; length as usize])).into_bytes();
                let found = unfold(&folded, room, Some(&Room::new(room)));
                assert_eq!(found.err(), expected, "{length} in {room}");
            }
        }
    }

    #[test]
    fn a_truncated_or_foreign_stream_is_malformed() {
        let folded = fold(&Body::from("<a/>")).into_bytes();
        assert_eq!(
            all(&folded[..folded.len() - 3], 100),
            Err(Refusal::Malformed)
        );
        assert_eq!(all(b"<a/>", 100), Err(Refusal::Malformed));
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
