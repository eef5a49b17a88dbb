//! The fixed limits of the crate. What a user can set is in `ClientOptions` and `ServerOptions`.

/// Bodies of more than this many bytes are compressed and decompressed on a blocking thread.
#[cfg(feature = "gzip")]
pub(crate) const MAX_INLINE_BYTES: usize = 256 * 1024;

/// Bodies are decompressed, and charged, in steps of this many bytes.
#[cfg(feature = "gzip")]
pub(crate) const DECOMPRESS_STEP: u64 = 64 << 10;

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

/// A charge of at least this many bytes is a large one: it may use seven eighths of a [`WorkBudget`](crate::WorkBudget) only,
/// and may be cancelled for others.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const LARGE_CHARGE: u64 = 1 << 20;

/// The time for which a body that arrives waits for memory before it is refused, and the time between two tries.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const WORK_PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const WORK_RETRY: std::time::Duration = std::time::Duration::from_millis(20);

/// The memory that is assumed where the system does not say how much there is.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) const UNKNOWN_MEMORY: u64 = 4 << 30;

/// The number of networks whose requests are counted.
#[cfg(feature = "server")]
pub(crate) const MAX_COUNTED_NETWORKS: usize = 16 << 10;

/// After the server was stopped, idle connections stay open for this time: a request may be on its way.
#[cfg(feature = "server")]
pub(crate) const DRAIN_TIME: std::time::Duration = std::time::Duration::from_secs(1);

/// The requests that may be in work on one HTTP/2 connection.
#[cfg(feature = "http2")]
pub(crate) const MAX_HTTP2_STREAMS: u32 = 100;

/// The streams that an HTTP/2 client may reset before they are answered, at a time. (CVE-2023-44487)
#[cfg(feature = "http2")]
pub(crate) const MAX_HTTP2_RESETS: usize = 20;

/// The bytes that are buffered for sending on one HTTP/2 stream.
#[cfg(feature = "http2")]
pub(crate) const MAX_HTTP2_BUFFER: usize = 256 << 10;

/// How often an HTTP/2 client is asked whether it is still there.
#[cfg(feature = "http2")]
pub(crate) const PING_INTERVAL: std::time::Duration = std::time::Duration::from_secs(20);

/// How often it is checked whether an HTTP/2 client is too slow.
#[cfg(feature = "http2")]
pub(crate) const STALL_CHECK: std::time::Duration = std::time::Duration::from_secs(1);

/// The size in bytes to which the read buffer of a connection may grow: longer bodies arrive in pieces of it.
#[cfg(feature = "server")]
pub(crate) const MAX_BUFFER: usize = 256 << 10;

/// The bytes of an answer that the system buffers although the client does not take them.
#[cfg(all(feature = "server", target_os = "linux"))]
pub(crate) const MAX_UNSENT: u32 = 256 << 10;

/// The bytes of an answer that one HTTP/2 stream takes at a time.
#[cfg(feature = "server")]
pub(crate) const MAX_HTTP2_PIECE: usize = 64 << 10;
