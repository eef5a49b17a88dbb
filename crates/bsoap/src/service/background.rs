//! What runs on after a request has its reply: the handlers of one-way operations, and answers to other endpoints.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};

/// Running handlers of one-way operations, and answers that are being sent to other endpoints. They may run on after the client has its
/// reply.
#[derive(Clone, Debug)]
pub(super) struct Background {
    running: Arc<tokio::sync::Mutex<JoinSet<()>>>,
    permits: Arc<Semaphore>,
}

/// Permits one task to run.
#[derive(Debug)]
pub(super) struct BackgroundPermit(
    #[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit,
);

impl Background {
    /// At most `max` tasks run at a time. More wait, and so do their clients.
    pub(super) fn new(max: usize) -> Self {
        Self {
            running: Arc::default(),
            permits: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// The permit for a task, once fewer than the maximum run. It takes as long as another task runs: nothing that other requests
    /// need may be held meanwhile.
    pub(super) async fn permit(&self) -> BackgroundPermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        BackgroundPermit(permit.expect("the semaphore is never closed"))
    }

    /// Runs a task.
    pub(super) async fn spawn(
        &self,
        permit: BackgroundPermit,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut running = self.running.lock().await;
        while let Some(ended) = running.try_join_next() {
            log_failure(&ended);
        }
        running.spawn(async move {
            task.await;
            drop(permit);
        });
    }

    /// Waits for the tasks, and aborts those that do not end within `limit`.
    pub(super) async fn finish(&self, limit: Duration) {
        let mut running = std::mem::take(&mut *self.running.lock().await);
        let ends = async {
            while let Some(ended) = running.join_next().await {
                log_failure(&ended);
            }
        };
        if tokio::time::timeout(limit, ends).await.is_err() {
            tracing::warn!(
                "{} handlers of one-way operations, or answers to other endpoints, did not end within the shutdown_timeout and are aborted",
                running.len()
            );
        }
    }
}

/// Logs that a task failed. The client cannot be informed: it has its reply already.
fn log_failure(ended: &Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "the handler of a one-way operation, or an answer to another endpoint, failed");
    }
}
