//! The system's allocator or that of the `bsoap` command, counting while a benchmark asks it to. Not counting, it costs two
//! relaxed loads for each allocation.
//!
//! Unsafe, because [`GlobalAlloc`] is: every call is passed on to one of them as it came.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU8, Ordering::Relaxed};

use mimalloc::MiMalloc;

/// The environment variable that names the allocator of a process.
pub(crate) const VARIABLE: &str = "BSOAP_BENCH_ALLOCATOR";

/// The system's allocator.
pub(crate) const SYSTEM: &str = "system";

/// The allocator of the `bsoap` command.
pub(crate) const CHOSEN: &str = "mimalloc";

/// Which allocator this process has: 0 before the first allocation, then 1 for the system's, 2 for the chosen one.
static WHICH: AtomicU8 = AtomicU8::new(0);

#[inline]
fn is_chosen() -> bool {
    match WHICH.load(Relaxed) {
        0 => choose(),
        which => which == 2,
    }
}

/// Decides by the environment, without an allocation. All threads that are here at the same time decide the same.
#[cold]
fn choose() -> bool {
    // SAFETY: the name is a C string; the value, if there is one, too, and nobody changes the environment before `main`.
    let is_chosen = unsafe {
        let value = libc::getenv(c"BSOAP_BENCH_ALLOCATOR".as_ptr());
        !value.is_null() && libc::strcmp(value, c"mimalloc".as_ptr()) == 0
    };
    WHICH.store(1 + u8::from(is_chosen), Relaxed);
    is_chosen
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: all methods pass their arguments unchanged to one allocator, always the same one in a process, and return what it
// returned; counting touches atomics only and does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller promises a layout of non-zero size, which is what allocators ask for.
        unsafe {
            match is_chosen() {
                true => MiMalloc.alloc(layout),
                false => System.alloc(layout),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller promises a layout of non-zero size, which is what allocators ask for.
        unsafe {
            match is_chosen() {
                true => MiMalloc.alloc_zeroed(layout),
                false => System.alloc_zeroed(layout),
            }
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller promises that the memory came from this allocator with this layout, and so from the same one.
        unsafe {
            match is_chosen() {
                true => MiMalloc.dealloc(memory, layout),
                false => System.dealloc(memory, layout),
            }
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller promises that the memory came from this allocator, and so from the same one, with this layout,
        // and a size that is not zero and does not overflow.
        unsafe {
            match is_chosen() {
                true => MiMalloc.realloc(memory, layout, size),
                false => System.realloc(memory, layout, size),
            }
        }
    }
}

#[inline]
fn count(change: isize) {
    if IS_COUNTING.load(Relaxed) {
        let live = LIVE.fetch_add(change, Relaxed) + change;
        PEAK.fetch_max(live, Relaxed);
    }
}

/// Bytes that a piece of work allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// The most at one time, above the start.
    pub(crate) peak: u64,
    /// What was still held at the end.
    pub(crate) kept: u64,
}

/// Does a piece of work and counts what this process allocates meanwhile. What it returns counts as kept.
pub(crate) fn measure<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    IS_COUNTING.store(true, Relaxed);
    let result = work();
    IS_COUNTING.store(false, Relaxed);
    let bytes = |count: &AtomicIsize| u64::try_from(count.load(Relaxed)).unwrap_or(0);
    (
        result,
        Memory {
            peak: bytes(&PEAK),
            kept: bytes(&LIVE),
        },
    )
}

/// Resident memory of this process in bytes, and from here on the most of it; memory that was given back to the allocator
/// is given back to the system first. `None` where the system does not report it.
pub(crate) fn resident() -> Option<u64> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call has no conditions.
    unsafe {
        libc::malloc_trim(0);
    }
    // 5: the peak starts again. (proc(5))
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

/// The most resident memory since [`resident`] was called.
pub(crate) fn most_resident() -> Option<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_and_kept_bytes_are_counted() {
        // Other tests allocate meanwhile, so only lower bounds hold.
        let (kept, memory) = measure(|| {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 28)));
            std::hint::black_box(vec![1u8; 1 << 16])
        });
        assert_eq!(kept.len(), 1 << 16);
        assert!(memory.peak >= 1 << 27, "{memory:?}");
    }
}
