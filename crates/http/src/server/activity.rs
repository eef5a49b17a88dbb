//! What a connection is doing, so that the slowest can be closed when connections run out.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::limits::MAX_COPIED_BYTES;
use crate::work::Charge;

/// The time that the others are measured from.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A peer is credited with so many bytes and so much time: one that has just begun is not slow.
const CREDIT_BYTES: f64 = 1500.0;
const CREDIT_SECONDS: f64 = 0.01;

/// What a connection is doing. The server waits for the peer if no request is in work, or if each of those in work waits: for
/// the rest of its body, or for the peer to take the answer. (Over HTTP/2, several requests are in work at a time.)
#[derive(Debug)]
pub(super) struct Activity {
    /// The requests whose heads have arrived and whose answers were not taken yet.
    in_work: AtomicU32,
    /// How many of them wait for the peer.
    on_peer: AtomicU32,
    /// When it last began to wait for the peer, in nanoseconds from [`START`].
    since: AtomicU64,
    /// The bytes received and sent since then.
    bytes: AtomicU64,
    /// The memory of answers that may not have been sent yet.
    unsent: Mutex<Vec<Arc<Charge>>>,
    has_unsent: AtomicBool,
    /// Cancelled to close the connection at once.
    closed: CancellationToken,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            in_work: AtomicU32::new(0),
            on_peer: AtomicU32::new(0),
            since: AtomicU64::new(now()),
            bytes: AtomicU64::new(0),
            unsent: Mutex::default(),
            has_unsent: AtomicBool::new(false),
            closed: CancellationToken::new(),
        }
    }

    /// The head of a request has arrived.
    pub(super) fn begin(self: &Arc<Self>) -> InWork {
        self.in_work.fetch_add(1, Ordering::Relaxed);
        InWork {
            activity: Arc::clone(self),
            is_on_peer: false,
        }
    }

    /// How many requests are in work.
    pub(super) fn in_work(&self) -> u32 {
        self.in_work.load(Ordering::Relaxed)
    }

    /// Bytes were received or sent.
    pub(super) fn moved(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Keeps the charge of an answer until it has been sent. Short ones fit the buffers of the system.
    pub(super) fn keep_until_sent(&self, charge: Arc<Charge>) {
        if charge.bytes() > MAX_COPIED_BYTES as u64 {
            self.unsent().push(charge);
            self.has_unsent.store(true, Ordering::Relaxed);
        }
    }

    /// All that was to be sent has been sent.
    pub(super) fn flushed(&self) {
        if self.has_unsent.load(Ordering::Relaxed) && self.in_work() == 0 {
            self.has_unsent.store(false, Ordering::Relaxed);
            let sent = std::mem::take(&mut *self.unsent());
            drop(sent);
        }
    }

    fn unsent(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Charge>>> {
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server waits for the peer.
    pub(super) fn waits_for_peer(&self) -> bool {
        self.on_peer.load(Ordering::Relaxed) >= self.in_work()
    }

    /// For how long it has waited for the peer, and the bytes that were moved meanwhile.
    pub(super) fn wait(&self) -> (Duration, u64) {
        let since = self.since.load(Ordering::Relaxed);
        let waited = Duration::from_nanos(now().saturating_sub(since));
        (waited, self.bytes.load(Ordering::Relaxed))
    }

    /// The speed of the peer in bytes a second while the server waits for it; that of one that sends nothing decreases with
    /// time. `None` if the server does not wait for it.
    pub(super) fn speed(&self) -> Option<f64> {
        if !self.waits_for_peer() {
            return None;
        }
        let (waited, bytes) = self.wait();
        Some((bytes as f64 + CREDIT_BYTES) / (waited.as_secs_f64() + CREDIT_SECONDS))
    }

    /// Closes the connection at once.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Completes when the connection is to be closed.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// From now on the server waits for the peer.
    fn wait_from_now(&self) {
        self.since.store(now(), Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }
}

fn now() -> u64 {
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// A request in work: from its head on until its answer was taken.
#[derive(Debug)]
pub(super) struct InWork {
    activity: Arc<Activity>,
    is_on_peer: bool,
}

impl InWork {
    /// The request waits for its peer, or does not any more.
    pub(super) fn waits_for_peer(&mut self, waits: bool) {
        if std::mem::replace(&mut self.is_on_peer, waits) == waits {
            return;
        }
        match waits {
            true => {
                self.activity.wait_from_now();
                self.activity.on_peer.fetch_add(1, Ordering::Relaxed);
            }
            false => {
                self.activity.on_peer.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Keeps the charge of the answer until it has been sent.
    pub(super) fn keep_until_sent(&self, charge: Arc<Charge>) {
        self.activity.keep_until_sent(charge);
    }
}

impl Drop for InWork {
    fn drop(&mut self) {
        self.waits_for_peer(false);
        if self.activity.in_work.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.activity.wait_from_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_waits_for_the_peer_unless_a_request_is_processed() {
        let activity = Arc::new(Activity::new());
        assert!(activity.speed().is_some());
        let mut request = activity.begin();
        assert!(activity.speed().is_none());
        request.waits_for_peer(true);
        assert!(activity.speed().is_some());
        let other = activity.begin();
        assert!(activity.speed().is_none());
        drop(other);
        request.waits_for_peer(false);
        assert!(activity.speed().is_none());
        request.waits_for_peer(true);
        drop(request);
        assert!(activity.waits_for_peer());
        assert_eq!(activity.in_work(), 0);
    }

    #[test]
    fn a_peer_that_sends_nothing_becomes_slower() {
        let activity = Activity::new();
        let early = activity.speed().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let late = activity.speed().unwrap();
        assert!(late < early);
        activity.moved(1 << 20);
        assert!(activity.speed().unwrap() > early);
    }
}
