//! Integers and runs of digits, parsed from 16 bytes at a time.

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_madd_epi16, _mm_maddubs_epi16,
    _mm_or_si128, _mm_packus_epi32, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_sub_epi8,
    _mm_subs_epu8, _mm_testz_si128,
};

/// The slot of an integer within bounds; `None` if it is not one or the slow path must decide.
///
/// # Safety
/// AVX2; `length` is below 32; the byte at `text` and 32 before the end of the number can be read.
#[inline(always)]
pub(super) unsafe fn integer(text: *const u8, length: u32, (min, max): (i64, i64)) -> Option<u64> {
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
        let is_whole = _mm_testz_si128(others, others) == 1 && magnitude <= i64::MAX as u64;
        (is_whole && (min..=max).contains(&value)).then_some(value as u64)
    }
}

/// The values of two groups of eight digits, in the lower two 32-bit words.
///
/// # Safety
/// SSE4.1.
#[inline(always)]
pub(super) unsafe fn sixteen(digits: __m128i) -> __m128i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x01_0a));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
        let fours = _mm_packus_epi32(fours, fours);
        _mm_madd_epi16(fours, _mm_set1_epi32(0x0001_2710))
    }
}

/// The value of the `count` digits before `end`, and a register that is not zero if other bytes are among them. `count` is at
/// most 19 if the number may be long, else 16.
///
/// # Safety
/// SSE4.1; 32 bytes before `end` can be read.
#[inline(always)]
pub(super) unsafe fn magnitude(end: *const u8, count: u32, may_be_long: bool) -> (u64, __m128i) {
    // SAFETY: the caller guarantees 32 bytes before `end`.
    unsafe {
        let (bytes, others) = last_digits(end, count);
        let low = whole(bytes);
        if !may_be_long || count <= 16 {
            return (low, others);
        }
        let (bytes, more) = last_digits(end.sub(16), count - 16);
        (
            low.wrapping_add(whole(bytes).wrapping_mul(10_000_000_000_000_000)),
            _mm_or_si128(others, more),
        )
    }
}

/// The `count` bytes before `end` as digits, right-aligned in 16 bytes, and a register that is not zero if other bytes are
/// among them.
///
/// # Safety
/// SSE4.1; 16 bytes before `end` can be read; `count` is below 64.
#[inline(always)]
unsafe fn last_digits(end: *const u8, count: u32) -> (__m128i, __m128i) {
    // SAFETY: the caller guarantees 16 bytes before `end`, and a count below 64: `MASK` has 16 bytes from each of its
    // first 64 on.
    unsafe {
        let bytes = _mm_loadu_si128(end.sub(16).cast());
        let mask = _mm_loadu_si128(MASK.as_ptr().add(count as usize).cast());
        let bytes = _mm_and_si128(_mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8)), mask);
        (bytes, _mm_subs_epu8(bytes, _mm_set1_epi8(9)))
    }
}

/// The value of sixteen digits.
///
/// # Safety
/// SSE4.1.
#[inline(always)]
unsafe fn whole(digits: __m128i) -> u64 {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let eights = _mm_cvtsi128_si64(sixteen(digits)) as u64;
        // Bytes that are not digits are detected later, so the sum may overflow.
        (eights & 0xffff_ffff)
            .wrapping_mul(100_000_000)
            .wrapping_add(eights >> 32)
    }
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
