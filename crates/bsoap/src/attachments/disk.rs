//! The limit on the temporary files of all messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many octets temporary files may have together. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct DiskBudget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: u64,
    used: AtomicU64,
}

/// What a temporary file is charged with, until it is dropped.
#[derive(Debug)]
pub(super) struct DiskCharge {
    budget: DiskBudget,
    bytes: u64,
}

impl DiskBudget {
    pub(super) fn new(limit: u64) -> Self {
        let used = AtomicU64::new(0);
        Self(Arc::new(Inner { limit, used }))
    }

    pub(super) fn limit(&self) -> u64 {
        self.0.limit
    }

    /// An empty charge.
    pub(super) fn charge(&self) -> DiskCharge {
        DiskCharge {
            budget: self.clone(),
            bytes: 0,
        }
    }
}

impl DiskCharge {
    pub(super) fn budget(&self) -> &DiskBudget {
        &self.budget
    }

    /// Charges more. Returns false, without a change, if that would exceed the budget.
    pub(super) fn add(&mut self, bytes: u64) -> bool {
        let Inner { limit, used } = &*self.budget.0;
        let more = |used: u64| used.checked_add(bytes).filter(|sum| sum <= limit);
        let is_charged = used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok();
        self.bytes += if is_charged { bytes } else { 0 };
        is_charged
    }
}

impl Drop for DiskCharge {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_is_returned_when_it_is_dropped() {
        let budget = DiskBudget::new(10);
        let mut first = budget.charge();
        assert!(first.add(6) && !budget.charge().add(5));
        drop(first);
        assert!(budget.charge().add(10));
    }
}
