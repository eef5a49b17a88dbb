//! The fixed limits of the crate. What a user can set is in `ClientOptions` and `ServerOptions`.

/// Bodies of more than this many bytes are compressed and decompressed on a blocking thread.
#[cfg(feature = "gzip")]
pub(crate) const MAX_INLINE_BYTES: usize = 256 * 1024;

/// The quota of decompressed bytes is charged in multiples of this many bytes.
#[cfg(feature = "gzip")]
pub(crate) const QUOTA_STEP: u64 = 64 << 10;

/// The maximum buffer capacity in bytes that is allocated because `Content-Length` announces it. For longer bodies, the
/// buffer grows as bytes arrive.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const MAX_ANNOUNCED_BYTES: u64 = 8 << 20;

/// Bodies of at most this many bytes are copied out of the connection's buffer, which may have 400 KB.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const MAX_COPIED_BYTES: usize = 16 << 10;

/// The time for which the rest of a refused request is read, so that the client sees the response.
#[cfg(feature = "server")]
pub(crate) const LINGER_TIME: std::time::Duration = std::time::Duration::from_secs(2);

/// The maximum number of frames read of the rest of a refused request.
#[cfg(feature = "server")]
pub(crate) const LINGER_FRAMES: usize = 256;

/// Answers of at most this many bytes are delayed until the requests that are ready have been processed. A longer one costs
/// much more to process and to copy than to announce.
#[cfg(feature = "server")]
pub(crate) const MAX_DELAYED_BYTES: usize = 64 << 10;
