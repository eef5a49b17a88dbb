//! The limit on the memory of all messages in work: bodies as they arrive, decompressed text, records, answers.
//!
//! Each request has a [`Charge`], which grows with its memory and is returned when the request has been answered. If the
//! budget is used up, requests are refused with 503, the largest first:
//!
//! ```text
//! charge grows ──► fits: charged
//!              └─► does not fit: the largest charge whose body is still arriving is cancelled, and the one that grows
//!                  waits a moment for its memory; if that does not help, or it is the largest itself, it is refused
//! ```
//!
//! The last eighth of the budget is for charges below [`LARGE_CHARGE`], so that large messages do not keep out small ones.
//! One owner (an address, or a principal) has at most half of the budget in large charges.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use crate::limits::{LARGE_CHARGE, WORK_PATIENCE, WORK_RETRY};
use crate::memory;

/// The limit on the memory of all messages in work, in bytes. Clones share it. Saved messages are not counted here: they
/// have a budget of their own.
///
/// ```
/// use bsoap_http::{ServerOptions, WorkBudget};
///
/// let mut options = ServerOptions::default();
/// options.work = WorkBudget::new(1 << 30);
/// assert_eq!((options.work.limit(), options.work.used()), (1 << 30, 0));
/// ```
#[derive(Clone)]
pub struct WorkBudget(Arc<Inner>);

struct Inner {
    limit: u64,
    used: AtomicU64,
    /// How many requests were refused because the budget was used up.
    refused: AtomicU64,
    /// The large charges, and some that were dropped.
    large: Mutex<Vec<Weak<Charge>>>,
}

impl WorkBudget {
    /// A budget of this many bytes.
    pub fn new(bytes: u64) -> Self {
        Self(Arc::new(Inner {
            limit: bytes,
            used: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            large: Mutex::default(),
        }))
    }

    /// The budget that servers share unless their options have another one: a quarter of the memory that the process may
    /// use, which is the limit of its control group or the memory of the machine. 1 GiB where neither is known.
    pub fn process() -> &'static Self {
        static PROCESS: LazyLock<WorkBudget> = LazyLock::new(|| WorkBudget::new(memory::quarter()));
        &PROCESS
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// The bytes that messages in work use now.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// How many requests were refused so far because the budget was used up.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// An empty charge of an owner.
    pub(crate) fn charge(&self, owner: Owner) -> Arc<Charge> {
        Arc::new(Charge::new(Some(self.clone()), owner))
    }

    /// Adds to the bytes used, if they stay within `limit`.
    fn take(&self, bytes: u64, limit: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= limit);
        let used = &self.0.used;
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    fn give(&self, bytes: u64) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The bytes that large charges may use together.
    fn limit_of_large(&self) -> u64 {
        self.0.limit - self.0.limit / 8
    }

    fn large(&self) -> MutexGuard<'_, Vec<Weak<Charge>>> {
        let large = &self.0.large;
        large.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels the largest charge that may be cancelled, unless those that were cancelled before will return the bytes that `own`
    /// needs: of the owner with the most bytes, the charge with the most. Returns false if that would be `own`, or nothing may
    /// be cancelled.
    fn cancel_largest(&self, own: &Arc<Charge>, needed: u64) -> bool {
        let charges: Vec<Arc<Charge>> = self.large().iter().filter_map(Weak::upgrade).collect();
        let cancelled = charges.iter().filter(|charge| charge.is_cancelled());
        let returning: u64 = cancelled.map(|charge| charge.bytes()).sum();
        if returning >= needed {
            return true;
        }
        let of_owner = |owner: Owner| -> u64 {
            let same = charges.iter().filter(|charge| charge.owner == owner);
            same.map(|charge| charge.bytes()).sum()
        };
        let open = charges.iter().filter(|charge| charge.may_be_cancelled());
        match open.max_by_key(|one| (of_owner(one.owner), one.bytes())) {
            Some(largest) if !Arc::ptr_eq(own, largest) => {
                largest.is_cancelled.store(true, Ordering::Relaxed);
                largest.cancelled.notify_one();
                true
            }
            _ => false,
        }
    }
}

impl From<&WorkBudget> for WorkBudget {
    fn from(budget: &WorkBudget) -> Self {
        budget.clone()
    }
}

impl fmt::Debug for WorkBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkBudget")
            .field("limit", &self.limit())
            .field("used", &self.used())
            .finish_non_exhaustive()
    }
}

/// Why memory is refused to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkError {
    /// The message alone needs more than messages of its size may have: it would be refused later, too.
    TooLarge {
        /// The most bytes that a message may have.
        limit: u64,
    },
    /// Other messages in work use the memory.
    UsedUp {
        /// The limit of the budget.
        limit: u64,
    },
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(
                f,
                "the message needs more memory than the {limit} bytes that one message may have (work)"
            ),
            Self::UsedUp { limit } => write!(
                f,
                "the messages in work use the {limit} bytes of memory that they may have (work): try again later"
            ),
        }
    }
}

impl std::error::Error for WorkError {}

/// Who sent a message: what the shares of a [`WorkBudget`] are counted by.
///
/// ```
/// use bsoap_http::Owner;
///
/// assert_eq!(Owner::of("mary"), Owner::of("mary"));
/// assert_ne!(Owner::of("mary"), Owner::of("jo"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    /// The owner with this identity: a user name, a network.
    pub fn of(identity: &(impl Hash + ?Sized)) -> Self {
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The memory of one message in work, charged to a [`WorkBudget`] until it is dropped.
pub struct Charge {
    /// `None` if nothing limits the memory.
    budget: Option<WorkBudget>,
    owner: Owner,
    bytes: AtomicU64,
    /// True as soon as it is among the large charges of the budget.
    is_large: AtomicBool,
    /// False as soon as the whole body has arrived: the request is then finished rather than cancelled.
    is_arriving: AtomicBool,
    is_cancelled: AtomicBool,
    cancelled: Notify,
}

impl Charge {
    fn new(budget: Option<WorkBudget>, owner: Owner) -> Self {
        Self {
            budget,
            owner,
            bytes: AtomicU64::new(0),
            is_large: AtomicBool::new(false),
            is_arriving: AtomicBool::new(true),
            is_cancelled: AtomicBool::new(false),
            cancelled: Notify::new(),
        }
    }

    /// A charge without a limit.
    pub fn unlimited() -> Arc<Self> {
        Arc::new(Self::new(None, Owner(0)))
    }

    /// The bytes charged.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Charges `bytes` in total. Fewer than before always succeed. Only one task at a time may change a charge.
    ///
    /// # Errors
    /// If the budget is used up, or the message is too large for it. Then the charge is what it was.
    pub fn resize(self: &Arc<Self>, bytes: u64) -> Result<(), WorkError> {
        self.try_resize(bytes).inspect_err(|_| self.count_refusal())
    }

    /// Charges `bytes` in addition to those charged so far.
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub fn add(self: &Arc<Self>, bytes: u64) -> Result<(), WorkError> {
        self.resize(self.bytes().saturating_add(bytes))
    }

    /// Moves all bytes to a new charge, which is returned: the memory is used longer than the request is in work.
    #[must_use]
    pub fn split(self: &Arc<Self>) -> Arc<Self> {
        let moved = Arc::new(Self::new(self.budget.clone(), self.owner));
        moved.has_arrived();
        let Some(budget) = &self.budget else {
            return moved;
        };
        // The lock makes the sum of an owner exact.
        let mut large = budget.large();
        let bytes = self.bytes.swap(0, Ordering::Relaxed);
        moved.bytes.store(bytes, Ordering::Relaxed);
        if bytes >= LARGE_CHARGE {
            moved.is_large.store(true, Ordering::Relaxed);
            large.push(Arc::downgrade(&moved));
        }
        drop(large);
        moved
    }

    /// As [`resize`](Self::resize), but waits a moment for the memory of others.
    pub(crate) async fn grow(self: &Arc<Self>, bytes: u64) -> Result<(), WorkError> {
        let Err(mut error) = self.try_resize(bytes) else {
            return Ok(());
        };
        let begun = tokio::time::Instant::now();
        while let (WorkError::UsedUp { .. }, Some(budget)) = (error, &self.budget)
            && !self.is_cancelled()
            && begun.elapsed() < WORK_PATIENCE
            && budget.cancel_largest(self, bytes.saturating_sub(self.bytes()))
        {
            tokio::time::sleep(WORK_RETRY).await;
            match self.try_resize(bytes) {
                Ok(()) => return Ok(()),
                Err(again) => error = again,
            }
        }
        self.count_refusal();
        Err(error)
    }

    /// Completes when the memory is needed for others, with the error to refuse the request with.
    pub(crate) async fn cancelled(&self) -> WorkError {
        while !self.is_cancelled() {
            self.cancelled.notified().await;
        }
        self.count_refusal();
        self.used_up()
    }

    /// The whole body has arrived: from now on the request is rather finished than cancelled.
    pub(crate) fn has_arrived(&self) {
        self.is_arriving.store(false, Ordering::Relaxed);
    }

    /// Whether it may be cancelled for others.
    fn may_be_cancelled(&self) -> bool {
        self.is_arriving.load(Ordering::Relaxed) && !self.is_cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn used_up(&self) -> WorkError {
        let limit = self.budget.as_ref().map_or(0, WorkBudget::limit);
        WorkError::UsedUp { limit }
    }

    fn count_refusal(&self) {
        if let Some(budget) = &self.budget {
            budget.0.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn try_resize(self: &Arc<Self>, bytes: u64) -> Result<(), WorkError> {
        let before = self.bytes();
        match &self.budget {
            Some(budget) if bytes <= before => budget.give(before - bytes),
            Some(budget) if bytes >= LARGE_CHARGE => return self.take_large(budget, bytes),
            Some(budget) => self.take_small(budget, bytes - before)?,
            None => {}
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Charges more bytes, up to the last of the budget.
    fn take_small(&self, budget: &WorkBudget, more: u64) -> Result<(), WorkError> {
        let fits = !self.is_cancelled() && budget.take(more, budget.limit());
        fits.then_some(()).ok_or_else(|| self.used_up())
    }

    /// Charges more than before, as a large charge.
    fn take_large(self: &Arc<Self>, budget: &WorkBudget, bytes: u64) -> Result<(), WorkError> {
        let limit = budget.limit_of_large();
        if bytes > limit / 2 {
            return Err(WorkError::TooLarge { limit: limit / 2 });
        }
        // The lock makes the sum of an owner exact.
        let mut large = budget.large();
        if !self.is_large.swap(true, Ordering::Relaxed) {
            large.retain(|charge| charge.strong_count() > 0);
            large.push(Arc::downgrade(self));
        }
        // A charge locks the list when it is dropped, and any of these may outlive its request here: they are dropped after the
        // lock.
        let others: Vec<Arc<Self>> = large.iter().filter_map(Weak::upgrade).collect();
        let same_owner = others
            .iter()
            .filter(|other| other.owner == self.owner && !Arc::ptr_eq(other, self));
        let sum: u64 = same_owner.map(|other| other.bytes()).sum();
        let fits = !self.is_cancelled()
            && sum + bytes <= limit / 2
            && budget.take(bytes - self.bytes(), limit);
        if fits {
            self.bytes.store(bytes, Ordering::Relaxed);
        }
        drop(large);
        drop(others);
        fits.then_some(()).ok_or_else(|| self.used_up())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Some(budget) = &self.budget else { return };
        budget.give(self.bytes());
        if *self.is_large.get_mut() {
            let mut large = budget.large();
            large.retain(|charge| charge.strong_count() > 0);
        }
    }
}

impl fmt::Debug for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charge")
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_is_charged_is_returned() {
        let budget = WorkBudget::new(64 * MIB);
        let one = budget.charge(Owner(1));
        let other = budget.charge(Owner(2));
        one.resize(1000).unwrap();
        other.resize(9 * MIB).unwrap();
        assert_eq!(budget.used(), 1000 + 9 * MIB);
        other.resize(2 * MIB).unwrap();
        drop(one);
        assert_eq!(budget.used(), 2 * MIB);
        drop(other);
        assert_eq!((budget.used(), budget.refused()), (0, 0));
        assert!(budget.large().is_empty());
    }

    #[test]
    fn an_owner_has_at_most_half_and_small_messages_always_fit() {
        let budget = WorkBudget::new(64 * MIB);
        let greedy = [budget.charge(Owner(1)), budget.charge(Owner(1))];
        assert_eq!(
            greedy[0].resize(29 * MIB),
            Err(WorkError::TooLarge { limit: 28 * MIB })
        );
        greedy[0].resize(20 * MIB).unwrap();
        let used_up = Err(WorkError::UsedUp { limit: 64 * MIB });
        assert_eq!(greedy[1].resize(9 * MIB), used_up);
        let other = budget.charge(Owner(2));
        other.resize(28 * MIB).unwrap();
        assert_eq!(greedy[1].resize(8 * MIB + 1), used_up);
        let small: Vec<Arc<Charge>> = (0..8).map(|_| budget.charge(Owner(3))).collect();
        for charge in &small {
            charge.resize(MIB - 1).unwrap();
        }
        assert_eq!(budget.refused(), 3);
    }

    #[test]
    fn a_moved_charge_counts_for_its_owner() {
        let budget = WorkBudget::new(64 * MIB);
        let request = budget.charge(Owner(1));
        request.resize(20 * MIB).unwrap();
        let moved = request.split();
        assert_eq!(
            (request.bytes(), moved.bytes(), budget.used()),
            (0, 20 * MIB, 20 * MIB)
        );
        assert!(request.resize(9 * MIB).is_err());
        drop(moved);
        request.resize(9 * MIB).unwrap();
        drop(request);
        assert_eq!((budget.used(), budget.large().len()), (0, 0));
    }

    #[test]
    fn large_charges_of_several_owners_are_dropped_while_others_grow() {
        let budget = WorkBudget::new(1 << 40);
        let (done, all_done) = std::sync::mpsc::channel();
        for owner in 0..4 {
            let (budget, done) = (budget.clone(), done.clone());
            std::thread::spawn(move || {
                for _ in 0..200_000 {
                    budget.charge(Owner(owner)).resize(LARGE_CHARGE).unwrap();
                }
                done.send(()).unwrap();
            });
        }
        for _ in 0..4 {
            let waited = all_done.recv_timeout(std::time::Duration::from_secs(60));
            waited.expect("no thread waits for ever");
        }
        assert_eq!((budget.used(), budget.large().len()), (0, 0));
    }

    #[tokio::test]
    async fn the_largest_arriving_message_is_cancelled_for_others() {
        let budget = WorkBudget::new(64 * MIB);
        let finished = budget.charge(Owner(1));
        finished.resize(25 * MIB).unwrap();
        finished.has_arrived();
        let largest = budget.charge(Owner(2));
        largest.resize(24 * MIB).unwrap();
        let honest = budget.charge(Owner(3));
        honest.resize(2 * MIB).unwrap();
        let growing = tokio::spawn(async move { (honest.grow(12 * MIB).await, honest) });
        while !largest.is_cancelled() {
            tokio::task::yield_now().await;
        }
        assert!(largest.resize(25 * MIB).is_err());
        drop(largest);
        let (grown, honest) = growing.await.unwrap();
        assert_eq!((grown, honest.bytes()), (Ok(()), 12 * MIB));
        assert!(!finished.is_cancelled());
    }

    #[tokio::test]
    async fn no_more_messages_are_cancelled_than_are_needed() {
        let budget = WorkBudget::new(64 * MIB);
        let arriving = [2, 3, 4].map(|owner| budget.charge(Owner(owner)));
        for charge in &arriving {
            charge.resize(17 * MIB).unwrap();
        }
        // Those that are cancelled do not end: the one that grows is refused after a while.
        let honest = budget.charge(Owner(1));
        assert!(honest.grow(12 * MIB).await.is_err());
        let cancelled = arriving.iter().filter(|charge| charge.is_cancelled());
        assert_eq!(cancelled.count(), 1);
    }
}
