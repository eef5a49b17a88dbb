//! The fixed limits and thresholds of clients and services. What a user can set is in [`tuning`](crate::tuning).

#[cfg(feature = "server")]
use std::time::Duration;

/// Texts of at least this many bytes are converted on a blocking thread: that takes one or two milliseconds or more.
pub(crate) const MAX_INLINE_BYTES: usize = 2 << 20;

/// The memory budget for the saved messages of the process, in bytes.
pub(crate) const PROCESS_BUDGET: usize = 256 << 20;

/// Memory is charged to a budget in multiples of this many bytes, so that most messages do not change the charge.
pub(crate) const BUDGET_STEP: usize = 4 << 10;

/// The maximum number of decoders in the pool: more than one for each thread are not useful.
pub(crate) const MAX_POOLED_DECODERS: usize = 64;

/// A decoder that uses more bytes than this is not put into the pool.
pub(crate) const MAX_POOLED_DECODER_BYTES: usize = 256 << 10;

/// The maximum number of principals with saved messages. For one more, those of the least recently used are dropped.
#[cfg(feature = "server")]
pub(crate) const MAX_PRINCIPALS: usize = 1024;

/// The default time limit of a handler: the same as the default time limit of a call of a client.
#[cfg(feature = "server")]
pub(crate) const HANDLER_TIMEOUT: Duration = Duration::from_secs(300);

/// How many requests wait for a handler by default, and for how long.
#[cfg(feature = "server")]
pub(crate) const QUEUE: (usize, Duration) = (1024, Duration::from_secs(10));

/// If more than one in this many values of a relayed message has changed, all values are compared: that is faster then.
#[cfg(feature = "client")]
pub(crate) const MIN_VALUES_PER_CHANGE: usize = 32;

/// The memory that is charged for a Record before it is decoded, in bytes for each byte of its text, and in addition.
#[cfg(feature = "server")]
pub(crate) const USUAL_RECORD: usize = 3;
#[cfg(feature = "server")]
pub(crate) const LEAST_RECORD: usize = 64 << 10;
