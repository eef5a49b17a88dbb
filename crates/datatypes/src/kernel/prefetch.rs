//! Prefetching memory into the cache.

/// Prefetches the cache line of an item that will be read or written soon. If there is no such item, nothing happens. A load that
/// misses the nearest cache waits for the prefetches before it.
#[inline(always)]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    super::x86::prefetch(items, at);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (items, at);
}

/// Prefetches all cache lines of some bytes at once.
#[inline(always)]
pub fn prefetch_all(bytes: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    super::x86::prefetch_all(bytes);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = bytes;
}
