//! What went over the wire, and what turning it into values took.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counts of a [`Client`](crate::Client) or a [`Service`](crate::Service) since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes of messages sent, before any gzip.
    pub sent: u64,
    /// Bytes of messages received, after any gzip was undone.
    pub received: u64,
    /// Time spent between Records and text, in both directions.
    pub converting: Duration,
}

/// Counts [`Traffic`]. Cloning shares the counts.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    messages_sent: AtomicU64,
    messages_received: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    converting: AtomicU64,
}

impl Meter {
    /// The counts as they stand.
    pub fn read(&self) -> Traffic {
        Traffic {
            messages_sent: self.0.messages_sent.load(Relaxed),
            messages_received: self.0.messages_received.load(Relaxed),
            sent: self.0.sent.load(Relaxed),
            received: self.0.received.load(Relaxed),
            converting: Duration::from_nanos(self.0.converting.load(Relaxed)),
        }
    }

    pub(crate) fn sends(&self, bytes: usize) {
        self.0.messages_sent.fetch_add(1, Relaxed);
        self.0.sent.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn receives(&self, bytes: usize) {
        self.0.messages_received.fetch_add(1, Relaxed);
        self.0.received.fetch_add(bytes as u64, Relaxed);
    }

    /// Does a conversion and counts its time.
    pub(crate) fn converts<T>(&self, convert: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = convert();
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.converting.fetch_add(nanoseconds, Relaxed);
        result
    }
}
