//! Where the memory is that is read and written next, and what is asked for ahead.

/// Where the memory is that numbers of one column are written to. Far memory is asked for ahead, which wins 10 % of the time
/// of doubles and 25 % of that of integers, and costs 3 and up to 22 % where it was near. (That of rows is asked for in any
/// case.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// In the cache.
    Near,
    /// Most likely not in the cache.
    Far,
}

impl Memory {
    /// From so many numbers on their text is not in the cache, if nothing else is known of it.
    const MANY: usize = 1 << 15;

    /// That of the text of so many numbers.
    pub const fn of(numbers: usize) -> Self {
        if numbers >= Self::MANY {
            Self::Far
        } else {
            Self::Near
        }
    }
}

/// Asks for the line of memory in which an item stands, to be read or written soon. If there is no such item, nothing
/// happens. What is not in the nearest cache, and is read after many were asked for, waits behind them.
#[inline(always)]
pub fn fetch<T>(items: &[T], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    super::x86::fetch(items, at);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (items, at);
}

/// Asks for all lines of memory in which some bytes stand, at once: else none would be asked for before it is known that
/// those before it lead to it.
#[inline(always)]
pub fn summon(bytes: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    super::x86::summon(bytes);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = bytes;
}
