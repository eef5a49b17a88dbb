//! The fixed limits of the crate, in one table. What a user can set is in `ClientOptions` and `ServerOptions`.

/// Longer bodies are compressed and decompressed on a blocking thread, in bytes.
#[cfg(feature = "gzip")]
pub(crate) const MAX_INLINE_BYTES: usize = 256 * 1024;

/// The quota of decompressed bytes is charged in steps of this many bytes.
#[cfg(feature = "gzip")]
pub(crate) const QUOTA_STEP: u64 = 64 << 10;

/// Buffer capacity that is allocated because `Content-Length` announces it; beyond, the buffer grows with the bytes that arrive.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const MAX_ANNOUNCED_BYTES: u64 = 8 << 20;

/// How long the rest of a refused request is read, so that the client sees the response.
#[cfg(feature = "server")]
pub(crate) const LINGER_TIME: std::time::Duration = std::time::Duration::from_secs(2);

/// How many frames of the rest of a refused request are read.
#[cfg(feature = "server")]
pub(crate) const LINGER_FRAMES: usize = 256;
