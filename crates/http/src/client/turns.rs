//! Limits the number of requests that run at the same time for one origin.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::address::Address;

/// A semaphore for each origin.
pub(super) struct Turns {
    /// `None` means no limit.
    limit: Option<usize>,
    origins: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Turns {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: (limit < Semaphore::MAX_PERMITS).then(|| limit.max(1)),
            origins: Mutex::default(),
        }
    }

    /// Waits until fewer requests than the limit run for the address's origin.
    pub(super) async fn wait(&self, address: &Address) -> Option<OwnedSemaphorePermit> {
        let semaphore = self.semaphore(address.origin(), self.limit?);
        let permit = semaphore.acquire_owned().await;
        Some(permit.expect("the semaphore is never closed"))
    }

    fn semaphore(&self, origin: &str, limit: usize) -> Arc<Semaphore> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(semaphore) = origins.get(origin) {
            return Arc::clone(semaphore);
        }
        // Redirects may lead to any number of origins: forget those that no request runs for.
        origins.retain(|_, semaphore| semaphore.available_permits() < limit);
        let semaphore = Arc::new(Semaphore::new(limit));
        origins.insert(origin.to_owned(), Arc::clone(&semaphore));
        semaphore
    }
}
