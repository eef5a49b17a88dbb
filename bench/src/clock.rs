//! The clocks of the benchmarks: the one on the wall, and time that this thread spent on a processor. For work that never
//! waits the two are the same on a machine that does nothing else; where they differ, the figures say so.
//!
//! Unsafe, because the C library is.
#![allow(unsafe_code)]

use std::time::{Duration, Instant};

/// Processor time of this thread so far.
#[cfg(unix)]
fn thread_time() -> Duration {
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
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Processor time of a process so far, all its threads and the kernel's work for them included.
#[cfg(target_os = "linux")]
pub(crate) fn process_time(process: u32) -> Duration {
    let mut clock = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the calls write one clock and one timespec, which are there.
    let failed = unsafe {
        libc::clock_getcpuclockid(process as libc::pid_t, &raw mut clock) != 0
            || libc::clock_gettime(clock, &raw mut time) != 0
    };
    if failed {
        return Duration::ZERO;
    }
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Where there is no such clock, nothing is said.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_time(_: u32) -> Duration {
    Duration::ZERO
}

/// How long something took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    /// On the wall.
    pub(crate) wall: Duration,
    /// Of this thread's time on a processor.
    pub(crate) cpu: Duration,
}

impl std::ops::AddAssign for Taken {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

impl Taken {
    /// The time of `part` of `all` equal parts.
    pub(crate) fn share(self, part: u64, all: u64) -> Self {
        let share = |time: Duration| time.mul_f64(part as f64 / all.max(1) as f64);
        Self {
            wall: share(self.wall),
            cpu: share(self.cpu),
        }
    }
}

/// Both clocks, started together. The one on the wall is looked at last and first, so that looking at the other, a system
/// call, does not count.
pub(crate) struct Watch {
    cpu: Duration,
    wall: Instant,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self {
            cpu: thread_time(),
            wall: Instant::now(),
        }
    }

    /// What was taken since the start.
    pub(crate) fn taken(&self) -> Taken {
        Taken {
            wall: self.wall.elapsed(),
            cpu: thread_time().saturating_sub(self.cpu),
        }
    }
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
