//! Counters of messages, bytes and conversion time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bsoap_differential::hint::HintCounts;
use bsoap_differential::receive::ReceiveCounts;
use bsoap_differential::send::SendCounts;

use crate::scope::ReadCounts;

/// Counts messages, bytes and conversion time. Cloning shares the counts.
///
/// ```
/// # use bsoap::{Client, Message, Service, Value};
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// # let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// # let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
/// # let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
/// # tokio::spawn(service.run(std::future::pending()));
/// # let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// client.call("sumDoubles", &numbers).await?;
/// client.call("sumDoubles", &numbers).await?;
/// let meter = client.meter();
/// assert_eq!(meter.read().messages_sent, 2);
/// println!("{:?}", meter.sending());
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
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

/// The work that templates, histories and hints avoided.
#[derive(Debug, Default)]
struct Savings {
    sending: SendCounts,
    receiving: ReceiveCounts,
    hints: HintCounts,
}

/// The counts of a [`Meter`].
///
/// ```
/// use bsoap::tuning::{Meter, Traffic};
///
/// let meter = Meter::default();
/// let Traffic { sent, received, .. } = meter.read();
/// println!("{sent} bytes sent, {received} bytes received");
/// assert_eq!(meter.read(), Traffic::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes of the messages sent, counted before compression.
    pub sent: u64,
    /// Bytes of the messages received, counted after decompression.
    pub received: u64,
    /// Time spent on converting values to text and text to values.
    pub converting: Duration,
}

impl Meter {
    /// The counts so far.
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

    /// Counts of how messages were encoded, and of the work that templates avoided.
    pub fn sending(&self) -> SendCounts {
        self.savings().sending
    }

    /// Counts of how messages were decoded, and of the work that histories avoided.
    pub fn receiving(&self) -> ReceiveCounts {
        self.savings().receiving
    }

    /// Counts of the hints sent, and of how received hints were used.
    pub fn hints(&self) -> HintCounts {
        self.savings().hints
    }

    /// Adds the counts of a message that was decoded.
    pub(crate) fn reads(&self, counts: &ReadCounts) {
        let mut savings = self.savings();
        savings.receiving.add(&counts.receiving);
        savings.hints.add(&counts.hints);
    }

    /// Adds the counts of a message that was encoded.
    pub(crate) fn writes(&self, counts: &SendCounts, hints: &HintCounts) {
        let mut savings = self.savings();
        savings.sending.add(counts);
        savings.hints.add(hints);
    }

    fn savings(&self) -> std::sync::MutexGuard<'_, Savings> {
        let savings = &self.counts.savings;
        savings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a conversion, adds its time, and returns its result.
    pub(crate) fn converting<T>(&self, convert: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = convert();
        let taken = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counts.nanoseconds.fetch_add(taken, Ordering::Relaxed);
        result
    }

    /// Counts a message of this length as sent.
    pub(crate) fn sends(&self, bytes: u64) {
        self.counts.messages_sent.fetch_add(1, Ordering::Relaxed);
        self.counts.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a message of this length as received.
    pub(crate) fn receives(&self, bytes: usize) {
        self.counts
            .messages_received
            .fetch_add(1, Ordering::Relaxed);
        self.counts
            .received
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
