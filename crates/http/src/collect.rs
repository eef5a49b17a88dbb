//! Reads a body into memory, up to a limit.

use crate::limits::{MAX_ANNOUNCED_BYTES, MAX_COPIED_BYTES};
use bytes::{Buf, Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;

/// The reason why a body could not be read into memory.
pub(crate) enum CollectError<E> {
    /// The body is longer than allowed.
    TooLarge,
    /// The connection broke.
    Broken(E),
}

/// Reads a body of at most `limit` bytes in one piece. A long body that arrived in one piece is not copied. A short one is: it is
/// a part of the connection's buffer, all of which would stay in memory for as long as somebody keeps the body.
pub(crate) async fn collect<B: Body + Unpin>(
    incoming: &mut B,
    limit: u64,
) -> Result<Bytes, CollectError<B::Error>> {
    let announced = incoming.size_hint().lower();
    if announced > limit {
        return Err(CollectError::TooLarge);
    }
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = incoming.frame().await {
        let Ok(mut data) = frame.map_err(CollectError::Broken)?.into_data() else {
            continue;
        };
        // Nothing is copied if the data are `Bytes`, as those of hyper are.
        let data = data.copy_to_bytes(data.remaining());
        if (first.len() + all.len() + data.len()) as u64 > limit {
            return Err(CollectError::TooLarge);
        }
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        if all.is_empty() {
            all.reserve(announced.min(MAX_ANNOUNCED_BYTES) as usize);
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&data);
    }
    Ok(match (all.is_empty(), first.len()) {
        (false, _) => all.freeze(),
        (true, 0..=MAX_COPIED_BYTES) => Bytes::copy_from_slice(&first),
        (true, _) => first,
    })
}
