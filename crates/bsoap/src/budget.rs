//! The limit on the total memory of saved messages, over all peers.
//!
//! A [scope](crate::scope) charges the memory of its saved messages to the budget. If that exceeds the budget, the least
//! recently used scopes drop their saved messages. If that frees too little, the scope that needs memory saves nothing.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use crate::limits::PROCESS_BUDGET;

/// The limit on the memory of saved messages, summed over all clients and services that share this budget. Cloning shares
/// the budget. Clients and services without a budget of their own share that of the [process](Self::process).
///
/// Messages being processed are not counted: they have other limits.
///
/// ```
/// use bsoap::Client;
/// use bsoap::tuning::Budget;
///
/// let budget = Budget::new(8 << 20);
/// let client = Client::builder(include_str!("../../../examples/mesh/mesh.wsdl")).budget(&budget).build()?;
/// assert!(budget.used() <= budget.limit());
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone)]
pub struct Budget {
    inner: Arc<Inner>,
}

struct Inner {
    limit: usize,
    used: AtomicUsize,
    /// The time of the budget in uses: it increases by one with each use of a scope.
    clock: AtomicU64,
    /// The keepers that charge this budget. Keepers that were dropped are removed later.
    keepers: Mutex<Vec<Weak<dyn Keeper>>>,
}

/// Holds memory that is charged to a budget and can be freed at any time.
pub(crate) trait Keeper: Send + Sync {
    /// When the memory was last used, by the budget's clock.
    fn last_used(&self) -> u64;

    /// Frees the memory, unless it is in use.
    fn forget(&self);
}

impl Budget {
    /// A budget of `bytes`. If `bytes` is 0, no messages are saved.
    pub fn new(bytes: usize) -> Self {
        Self {
            inner: Arc::new(Inner {
                limit: bytes,
                used: AtomicUsize::new(0),
                clock: AtomicU64::new(0),
                keepers: Mutex::default(),
            }),
        }
    }

    /// The budget of clients and services that have no other: 256 MiB.
    pub fn process() -> &'static Self {
        static SHARED: LazyLock<Budget> = LazyLock::new(|| Budget::new(PROCESS_BUDGET));
        &SHARED
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.inner.limit
    }

    /// The approximate number of bytes that saved messages use now.
    pub fn used(&self) -> usize {
        self.inner.used.load(Ordering::Relaxed)
    }

    /// Returns the time of the budget's clock, and advances the clock by one.
    pub(crate) fn now(&self) -> u64 {
        self.inner.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a keeper, whose memory the budget may free.
    pub(crate) fn join(&self, keeper: Weak<dyn Keeper>) {
        let mut keepers = self.keepers();
        if keepers.len() == keepers.capacity() {
            // Remove dropped keepers only when the vector is full: its capacity doubles, so this is rare.
            keepers.retain(|keeper| keeper.strong_count() > 0);
            let length = keepers.len();
            keepers.reserve(length.max(8));
        }
        keepers.push(keeper);
    }

    /// Charges bytes to the budget. Returns false, and charges nothing, if that would exceed the limit.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let more = |used: usize| {
            used.checked_add(bytes)
                .filter(|sum| *sum <= self.inner.limit)
        };
        self.inner
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    /// Releases charged bytes.
    pub(crate) fn give(&self, bytes: usize) {
        self.inner.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Frees the memory of the least recently used keepers until `bytes` can be charged, and at least an eighth of the
    /// limit, so that this is rarely needed. The caller must not hold its own lock: it may be one of the keepers.
    pub(crate) fn free_bytes(&self, bytes: usize) {
        if bytes > self.inner.limit {
            return;
        }
        let mut keepers: Vec<(u64, Arc<dyn Keeper>)> = self
            .keepers()
            .iter()
            .filter_map(Weak::upgrade)
            .map(|keeper| (keeper.last_used(), keeper))
            .collect();
        keepers.sort_unstable_by_key(|(last_used, _)| *last_used);
        let wanted = bytes.max(self.inner.limit / 8);
        for (_, keeper) in keepers {
            if self.inner.limit.saturating_sub(self.used()) >= wanted {
                break;
            }
            keeper.forget();
        }
    }

    fn keepers(&self) -> std::sync::MutexGuard<'_, Vec<Weak<dyn Keeper>>> {
        self.inner
            .keepers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<&Budget> for Budget {
    fn from(budget: &Budget) -> Self {
        budget.clone()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("limit", &self.limit())
            .field("used", &self.used())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed {
        budget: Budget,
        last_used: u64,
        held: AtomicUsize,
    }

    impl Keeper for Fixed {
        fn last_used(&self) -> u64 {
            self.last_used
        }

        fn forget(&self) {
            self.budget.give(self.held.swap(0, Ordering::Relaxed));
        }
    }

    #[test]
    fn keepers_used_least_recently_forget_first() {
        let budget = Budget::new(800);
        let keepers: Vec<Arc<Fixed>> = [3, 1, 2]
            .map(|last_used| {
                assert!(budget.take(250));
                let (budget, held) = (budget.clone(), AtomicUsize::new(250));
                Arc::new(Fixed {
                    budget,
                    last_used,
                    held,
                })
            })
            .into();
        for keeper in &keepers {
            let keeper: Arc<dyn Keeper> = keeper.clone();
            budget.join(Arc::downgrade(&keeper));
        }
        let held = || {
            keepers
                .iter()
                .map(|one| one.held.load(Ordering::Relaxed))
                .collect::<Vec<_>>()
        };
        assert!(!budget.take(100));
        budget.free_bytes(100);
        assert_eq!(held(), [250, 0, 250]);
        assert!(budget.take(100));
        budget.free_bytes(400);
        assert_eq!(held(), [250, 0, 0]);
        // A request for more than the whole budget frees nothing.
        budget.free_bytes(801);
        assert_eq!((budget.used(), budget.limit()), (350, 800));
    }
}
