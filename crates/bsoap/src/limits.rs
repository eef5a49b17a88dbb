//! The fixed limits and thresholds of clients and services, in one table. What a user can set is in [`tuning`](crate::tuning).

#[cfg(feature = "server")]
use std::time::Duration;

/// Conversions of at least this many bytes of text run on a blocking thread: they take one or two milliseconds.
pub(crate) const MAX_INLINE_BYTES: usize = 2 << 20;

/// The budget of the process for saved messages, in bytes.
pub(crate) const PROCESS_BUDGET: usize = 256 << 20;

/// Budgets are charged in steps of this many bytes, so that small growth does not access the budget for each message.
pub(crate) const BUDGET_STEP: usize = 4 << 10;

/// The maximum number of decoders in the pool. More than one for each thread are not useful.
pub(crate) const MAX_POOLED_DECODERS: usize = 64;

/// Decoders that use more bytes are not put into the pool.
pub(crate) const MAX_POOLED_DECODER_BYTES: usize = 256 << 10;

/// The maximum number of principals with saved messages; beyond it, the least recently used one is dropped.
#[cfg(feature = "server")]
pub(crate) const MAX_PRINCIPALS: usize = 1024;

/// The default time limit of a handler: as long as the default timeout of a client.
#[cfg(feature = "server")]
pub(crate) const HANDLER_TIMEOUT: Duration = Duration::from_secs(300);

/// A relayed message is compared as a whole if more than one value in this many has changed: that is faster then.
#[cfg(feature = "client")]
pub(crate) const MIN_VALUES_PER_CHANGE: usize = 32;
