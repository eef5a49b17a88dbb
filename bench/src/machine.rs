//! The machine a benchmark runs on: said beside every result, and one core of it taken.

use std::fs;

/// Processor, cores, system and compiler, in one line.
pub(crate) fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or(std::env::consts::ARCH, |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = read("/proc/sys/kernel/osrelease");
    let profile = if cfg!(debug_assertions) {
        "a debug build: figures mean nothing"
    } else {
        "a release build"
    };
    format!(
        "{cpu}, {cores} cores, {} {}, bsoap {} ({profile})",
        std::env::consts::OS,
        system.trim(),
        env!("CARGO_PKG_VERSION")
    )
}

/// A core that the measuring thread does not take; the same if there is only one. Not only of those that this process may
/// use: who has pinned us to one core did not mean the other end.
pub(crate) fn other_core() -> usize {
    let own = core_affinity::get_core_ids().and_then(|cores| cores.last().map(|core| core.id));
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    // Such as `0-3,6`.
    let ranges = online.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<usize>().ok()?..=last.parse().ok()?)
    });
    ranges
        .flatten()
        .rfind(|core| Some(*core) != own)
        .or(own)
        .unwrap_or(0)
}

/// Takes a core for this thread and those it starts, if that is allowed.
pub(crate) fn pin_to(core: usize) {
    core_affinity::set_for_current(core_affinity::CoreId { id: core });
}

/// Takes one core for this thread and the processes it starts. Says which.
pub(crate) fn pin() -> String {
    // The last core: the first serves most interrupts.
    match core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
        Some(core) if core_affinity::set_for_current(core) => format!("pinned to core {}", core.id),
        _ => "not pinned to a core".to_owned(),
    }
}
