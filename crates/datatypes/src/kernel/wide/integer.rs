//! Integers and runs of digits, parsed from 16 bytes at a time.

use super::registers::{Half, is_half_zero, last_digits, or_halves, whole};

/// The slot of an integer within bounds; `None` if it is not one or the slow path must decide.
///
/// # Safety
/// The instructions; `length` is below 32; the byte at `text` and 32 before the end of the number can be read.
#[inline(always)]
pub(crate) unsafe fn integer(text: *const u8, length: u32, (min, max): (i64, i64)) -> Option<u64> {
    // SAFETY: the caller guarantees the byte at `text` and 32 before the end of the number.
    unsafe {
        let negative = *text == b'-';
        let digits = length.wrapping_sub(u32::from(negative));
        if digits.wrapping_sub(1) >= 19 {
            return None;
        }
        let (magnitude, others) = magnitude(text.add(length as usize), digits, true);
        let flip = -i64::from(negative);
        let value = (magnitude as i64 ^ flip).wrapping_sub(flip);
        let is_whole = is_half_zero(others) && magnitude <= i64::MAX as u64;
        (is_whole && (min..=max).contains(&value)).then_some(value as u64)
    }
}

/// The value of the `count` digits before `end`, and a register that is not zero if other bytes are among them. `count` is at
/// most 19 if the number may be long, else 16.
///
/// # Safety
/// The instructions; 32 bytes before `end` can be read.
#[inline(always)]
pub(super) unsafe fn magnitude(end: *const u8, count: u32, may_be_long: bool) -> (u64, Half) {
    // SAFETY: the caller guarantees 32 bytes before `end`.
    unsafe {
        let (bytes, others) = digits_before(end, count);
        let low = whole(bytes);
        if !may_be_long || count <= 16 {
            return (low, others);
        }
        let (bytes, more) = digits_before(end.sub(16), count - 16);
        (
            low.wrapping_add(whole(bytes).wrapping_mul(10_000_000_000_000_000)),
            or_halves(others, more),
        )
    }
}

/// The `count` bytes before `end` as digits, right-aligned in 16 bytes, and a register that is not zero if other bytes are
/// among them.
///
/// # Safety
/// The instructions; 16 bytes before `end` can be read; `count` is below 64.
#[inline(always)]
unsafe fn digits_before(end: *const u8, count: u32) -> (Half, Half) {
    // SAFETY: the caller guarantees 16 bytes before `end`, and a count below 64: `MASK` has 16 bytes from each of its
    // first 64 on.
    unsafe { last_digits(end, MASK.as_ptr().add(count as usize)) }
}

/// The value of an integer of one to three digits and its length, or 0 for anything else. The length depends on branches: if
/// it is predicted correctly, the next value does not wait for it.
///
/// # Safety
/// 4 bytes can be read.
#[inline(always)]
pub(super) unsafe fn tiny(text: *const u8) -> (u64, usize) {
    // SAFETY: the caller guarantees that 4 bytes can be read; the load is unaligned.
    let word = unsafe { text.cast::<u32>().read_unaligned() } ^ 0x3030_3030;
    let byte = |at: u32| u64::from(word >> (8 * at) & 0xff);
    if byte(0) > 9 {
        return (0, 0);
    }
    if byte(1) > 9 {
        return (byte(0), 1);
    }
    if byte(2) > 9 {
        return (byte(0) * 10 + byte(1), 2);
    }
    if byte(3) > 9 {
        return (byte(0) * 100 + byte(1) * 10 + byte(2), 3);
    }
    (0, 0)
}

/// Loaded from `n`: 16 bytes of which the last `n` are set, for `n` up to 16.
static MASK: [u8; 80] = {
    let mut mask = [0xff; 80];
    let mut at = 0;
    while at < 16 {
        mask[at] = 0;
        at += 1;
    }
    mask
};
