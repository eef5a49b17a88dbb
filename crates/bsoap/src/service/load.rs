//! How many handlers may run at a time, and how many requests may wait for their turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limit on running handlers. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct HandlerLimit(Option<Arc<Limited>>);

#[derive(Debug)]
struct Limited {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    max_waiting: usize,
    patience: Duration,
}

/// Permits one handler to run.
#[derive(Debug)]
pub(super) struct HandlerPlace(
    #[expect(dead_code, reason = "held until it is dropped")] Option<OwnedSemaphorePermit>,
);

/// The error if too many handlers are running, and too many requests wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overloaded;

impl HandlerLimit {
    /// At most `max` handlers run at a time; `max_waiting` requests wait for their turn, each for at most `patience`.
    pub(super) fn new(max: Option<usize>, max_waiting: usize, patience: Duration) -> Self {
        Self(max.map(|max| {
            Arc::new(Limited {
                permits: Arc::new(Semaphore::new(max.clamp(1, Semaphore::MAX_PERMITS))),
                waiting: AtomicUsize::new(0),
                max_waiting,
                patience,
            })
        }))
    }

    /// A place for a handler to run.
    pub(super) async fn place(&self) -> Result<HandlerPlace, Overloaded> {
        let Some(limited) = &self.0 else {
            return Ok(HandlerPlace(None));
        };
        let permits = Arc::clone(&limited.permits);
        let permit = match Arc::clone(&permits).try_acquire_owned() {
            Ok(permit) => permit,
            // Boxed because few requests wait.
            Err(_) => Box::pin(limited.wait(permits)).await?,
        };
        Ok(HandlerPlace(Some(permit)))
    }
}

impl Limited {
    async fn wait(&self, permits: Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Overloaded> {
        let waiting = Waiting::new(&self.waiting);
        if waiting.number > self.max_waiting {
            return Err(Overloaded);
        }
        match tokio::time::timeout(self.patience, permits.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Overloaded),
        }
    }
}

/// A request that waits; it is not counted any more when it is dropped, for example because its client is gone.
struct Waiting<'w> {
    count: &'w AtomicUsize,
    /// Which of the waiting requests it is, from 1.
    number: usize,
}

impl<'w> Waiting<'w> {
    fn new(count: &'w AtomicUsize) -> Self {
        let number = count.fetch_add(1, Ordering::Relaxed) + 1;
        Self { count, number }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_wait_for_their_turn_up_to_a_number_and_a_time() {
        let limit = HandlerLimit::new(Some(1), 1, Duration::from_millis(50));
        let running = limit.place().await.unwrap();
        let waiting = tokio::spawn({
            let limit = limit.clone();
            async move { limit.place().await.map(drop) }
        });
        tokio::task::yield_now().await;
        assert_eq!(limit.place().await.unwrap_err(), Overloaded);
        drop(running);
        assert_eq!(waiting.await.unwrap(), Ok(()));
        let _running = limit.place().await.unwrap();
        let begun = std::time::Instant::now();
        assert!(limit.place().await.is_err() && begun.elapsed() >= Duration::from_millis(50));
    }

    #[tokio::test]
    async fn without_a_limit_all_run() {
        let limit = HandlerLimit::new(None, 0, Duration::ZERO);
        let places = [limit.place().await, limit.place().await];
        assert!(places.iter().all(Result::is_ok));
    }
}
