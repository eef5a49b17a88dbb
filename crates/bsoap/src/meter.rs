//! What went over the wire, and what turning values into text and back took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bsoap_differential::hint::HintCounts;
use bsoap_differential::receive::ReceiveCounts;
use bsoap_differential::send::SendCounts;

use crate::scope::ReadCounts;

/// Counts messages, bytes and time. Cloning shares the counts.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    messages_sent: AtomicU64,
    messages_received: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    nanoseconds: AtomicU64,
    savings: Mutex<Savings>,
}

/// What was saved by templates, histories and hints.
#[derive(Debug, Default)]
struct Savings {
    sending: SendCounts,
    receiving: ReceiveCounts,
    hints: HintCounts,
}

/// What a [`Meter`] has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes of the messages sent, before any gzip.
    pub sent: u64,
    /// Bytes of the messages received, after any gzip is undone.
    pub received: u64,
    /// Time spent between values and text, both ways.
    pub converting: Duration,
}

impl Meter {
    /// What has been counted so far.
    pub fn read(&self) -> Traffic {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic {
            messages_sent: read(&self.counts.messages_sent),
            messages_received: read(&self.counts.messages_received),
            sent: read(&self.counts.sent),
            received: read(&self.counts.received),
            converting: Duration::from_nanos(read(&self.counts.nanoseconds)),
        }
    }

    /// What of the messages sent had been written before, and what that saved.
    pub fn sending(&self) -> SendCounts {
        self.savings().sending
    }

    /// What of the messages received was known from those before, and what that saved.
    pub fn receiving(&self) -> ReceiveCounts {
        self.savings().receiving
    }

    /// What became of hints: of those given, and of those that came.
    pub fn hints(&self) -> HintCounts {
        self.savings().hints
    }

    /// A message was read.
    pub(crate) fn reads(&self, counts: &ReadCounts) {
        let mut savings = self.savings();
        savings.receiving.add(&counts.receiving);
        savings.hints.add(&counts.hints);
    }

    /// A message was written.
    pub(crate) fn writes(&self, counts: &SendCounts, hints: &HintCounts) {
        let mut savings = self.savings();
        savings.sending.add(counts);
        savings.hints.add(hints);
    }

    fn savings(&self) -> std::sync::MutexGuard<'_, Savings> {
        let savings = &self.counts.savings;
        savings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Times a conversion.
    pub(crate) fn converting<T>(&self, convert: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = convert();
        let taken = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counts.nanoseconds.fetch_add(taken, Ordering::Relaxed);
        result
    }

    /// A message is sent.
    pub(crate) fn sends(&self, bytes: u64) {
        self.counts.messages_sent.fetch_add(1, Ordering::Relaxed);
        self.counts.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A message was received.
    pub(crate) fn receives(&self, bytes: usize) {
        self.counts
            .messages_received
            .fetch_add(1, Ordering::Relaxed);
        self.counts
            .received
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
