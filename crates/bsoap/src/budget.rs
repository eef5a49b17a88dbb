//! How many bytes may be saved of past messages, of all peers together.
//!
//! A [scope](crate::scope) charges here what it saves. When the budget is spent, the scopes used least recently forget what they
//! have saved; if that does not help, the one that asked saves nothing and goes on without.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

/// How many bytes clients and services may keep from one message to the next, so as to be faster with the next. Cloning
/// shares it. All that are not given one of their own share that of the [process](Self::process).
///
/// Messages in work are not counted: they have limits of their own.
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
    /// Goes up by one with each use of a scope.
    clock: AtomicU64,
    /// All that charge something, and some that are gone.
    keepers: Mutex<Vec<Weak<dyn Keeper>>>,
}

/// Keeps something that is charged, and can do without it.
pub(crate) trait Keeper: Send + Sync {
    /// When it was used last, by the budget's clock.
    fn last_used(&self) -> u64;

    /// Forgets everything and gives the memory back, unless it is at work.
    fn forget(&self);
}

/// The budget of the process, in bytes.
const PROCESS_BUDGET: usize = 256 << 20;

impl Budget {
    /// A budget of this size. With 0 nothing is saved.
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

    /// The one that all share who are given no other: 256 MiB.
    pub fn process() -> &'static Self {
        static SHARED: LazyLock<Budget> = LazyLock::new(|| Budget::new(PROCESS_BUDGET));
        &SHARED
    }

    /// The most bytes.
    pub fn limit(&self) -> usize {
        self.inner.limit
    }

    /// How many bytes are in use, about.
    pub fn used(&self) -> usize {
        self.inner.used.load(Ordering::Relaxed)
    }

    /// The time by the clock of uses.
    pub(crate) fn now(&self) -> u64 {
        self.inner.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a keeper that may be asked to forget.
    pub(crate) fn join(&self, keeper: Weak<dyn Keeper>) {
        let mut keepers = self.keepers();
        if keepers.len() == keepers.capacity() {
            // As many more as there are, so that this is seldom done.
            keepers.retain(|keeper| keeper.strong_count() > 0);
            let length = keepers.len();
            keepers.reserve(length.max(8));
        }
        keepers.push(keeper);
    }

    /// Takes bytes, if the budget has them.
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

    /// Gives bytes back.
    pub(crate) fn give(&self, bytes: usize) {
        self.inner.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Lets the keepers used least recently forget, until the budget has these bytes, and a few more, so that this is not
    /// done for each message. The caller must not hold a lock of its own, and may be among them.
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
        // What can never fit is no reason to forget.
        budget.free_bytes(801);
        assert_eq!((budget.used(), budget.limit()), (350, 800));
    }
}
