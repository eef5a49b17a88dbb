//! The clock of the benchmarks: time that this thread spent on a processor. What other programs do on the same core
//! meanwhile is not counted, as it would be on a clock on the wall; for work that never waits the two are the same otherwise.
//!
//! Unsafe, because the C library is.
#![allow(unsafe_code)]

use std::time::Duration;

/// Processor time of this thread so far.
#[cfg(unix)]
pub(crate) fn thread_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one timespec, which is there.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0;
    assert!(!failed, "every Unix has this clock");
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Where there is no such clock, the one on the wall must do.
#[cfg(not(unix))]
pub(crate) fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_and_waiting_does_not() {
        let start = thread_time();
        std::thread::sleep(Duration::from_millis(30));
        let slept = thread_time() - start;
        let mut bits = 1u64;
        while thread_time() - start < slept + Duration::from_millis(2) {
            bits = std::hint::black_box(bits.wrapping_mul(3));
        }
        assert!(slept < Duration::from_millis(15), "{slept:?}");
    }
}
