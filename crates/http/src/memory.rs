//! How much memory the process may use.

use std::fs;

use crate::limits::UNKNOWN_MEMORY;

/// A quarter of the memory that the process may use.
pub(crate) fn quarter() -> u64 {
    available().unwrap_or(UNKNOWN_MEMORY) / 4
}

/// The limit of the process's control group, or the memory of the machine, whichever is less.
fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(total);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = limits_of_groups(&groups).min();
    machine.into_iter().chain(group).min()
}

/// The total memory in the text of `/proc/meminfo`.
fn total(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// The memory limits of the control groups in the text of `/proc/self/cgroup`, and of those around them.
fn limits_of_groups(text: &str) -> impl Iterator<Item = u64> {
    let files = text.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let (root, file) = match controllers.split(',').any(|name| name == "memory") {
            true => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            false => ("/sys/fs/cgroup", "memory.max"),
        };
        let around = std::iter::successors(Some(path.to_owned()), |path| {
            Some(path.rsplit_once('/')?.0.to_owned())
        });
        around.map(move |path| format!("{root}{}/{file}", path.trim_end_matches('/')))
    });
    files.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_machine_is_read() {
        assert_eq!(
            total("MemTotal:       16384 kB\nMemFree: 1 kB\n"),
            Some(16 << 20)
        );
        assert_eq!(total(""), None);
        assert!(quarter() > 0);
    }
}
