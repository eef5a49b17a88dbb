//! Blocks of sixteen bytes with SSE2, which belongs to every x86-64; long texts with AVX2 where the machine has it.
#![allow(unsafe_code)]

use super::blocks::{Halves, TEXT_SPECIAL, find_text_special};
use super::portable;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8,
    _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_setr_epi8, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_srli_epi16, _mm256_testz_si256,
};

/// Sixteen bytes.
pub(super) type Block = __m128i;

#[inline]
pub(super) fn load(bytes: &[u8; 16]) -> Block {
    // SAFETY: the load is unaligned and reads the 16 bytes; SSE2 is part of x86-64.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The bytes equal to `byte`.
#[inline]
pub(super) fn equal(block: Block, byte: u8) -> Block {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cmpeq_epi8(block, _mm_set1_epi8(byte as i8)) }
}

#[inline]
pub(super) fn or(a: Block, b: Block) -> Block {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_or_si128(a, b) }
}

/// The bytes below 0x20.
#[inline]
pub(super) fn below_space(block: Block) -> Block {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block) }
}

/// The bits of `block` that `other` does not have.
#[inline]
pub(super) fn and_not(block: Block, other: Block) -> Block {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_andnot_si128(other, block) }
}

/// The first byte that is marked by all its bits.
#[inline]
pub(super) fn first(marks: Block) -> Option<usize> {
    // SAFETY: SSE2 is part of x86-64.
    let mask = unsafe { _mm_movemask_epi8(marks) };
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

/// The first byte in which two blocks differ.
#[inline]
pub(super) fn differing(one: &[u8; 16], other: &[u8; 16]) -> Option<usize> {
    // SAFETY: SSE2 is part of x86-64.
    let mask = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(load(one), load(other))) };
    (mask != 0xffff).then(|| (!mask).trailing_zeros() as usize)
}

/// The first byte that is special by its halves; blocks of 64, then `rest` for what is left.
#[inline(never)]
pub(super) fn find_long(bytes: &[u8], halves: &Halves, rest: fn(&[u8]) -> usize) -> usize {
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2.
        let found = unsafe { find_avx2(bytes, halves) };
        found.unwrap_or_else(|looked| looked + rest(&bytes[looked..]))
    } else {
        rest(bytes)
    }
}

/// Which bytes are special, by their halves: those of which the bit of the upper half is among those of the lower half.
#[derive(Clone, Copy)]
struct Special {
    upper: __m256i,
    lower: __m256i,
}

impl Special {
    #[target_feature(enable = "avx2")]
    fn new(halves: &Halves) -> Self {
        // SAFETY: the load is unaligned and reads the 16 bytes of `halves`.
        let lower = unsafe { _mm_loadu_si128(halves.as_ptr().cast()) };
        let upper = _mm_setr_epi8(1, 2, 4, 8, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0);
        Self {
            upper: _mm256_broadcastsi128_si256(upper),
            lower: _mm256_broadcastsi128_si256(lower),
        }
    }

    /// Bytes that are not zero are special.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(self, block: __m256i) -> __m256i {
        let half = _mm256_set1_epi8(0x0F);
        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(block), half);
        let upper = _mm256_shuffle_epi8(self.upper, upper);
        let lower = _mm256_shuffle_epi8(self.lower, _mm256_and_si256(block, half));
        _mm256_and_si256(upper, lower)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_64(block: &[u8; 64]) -> (__m256i, __m256i) {
    // SAFETY: the loads are unaligned and read the 64 bytes of `block`.
    unsafe {
        (
            _mm256_loadu_si256(block.as_ptr().cast()),
            _mm256_loadu_si256(block.as_ptr().add(32).cast()),
        )
    }
}

/// By bits, which bytes are not zero.
#[inline]
#[target_feature(enable = "avx2")]
fn marks(front: __m256i, back: __m256i) -> u64 {
    let zeros =
        |block| _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_setzero_si256())) as u32;
    !(u64::from(zeros(front)) | u64::from(zeros(back)) << 32)
}

/// 64 bytes at a time. If none is special, how many bytes were looked at: all but the last few.
#[target_feature(enable = "avx2")]
fn find_avx2(bytes: &[u8], halves: &Halves) -> Result<usize, usize> {
    let special = Special::new(halves);
    let mut at = 0;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let (front, back) = load_64(block);
        let (front, back) = (special.of(front), special.of(back));
        if _mm256_testz_si256(_mm256_or_si256(front, back), _mm256_set1_epi8(-1)) == 0 {
            return Ok(at + marks(front, back).trailing_zeros() as usize);
        }
        at += 64;
    }
    Err(at)
}

#[inline]
pub(super) fn each_text(bytes: &[u8], at: usize, next: impl FnMut(usize, usize) -> Option<usize>) {
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2.
        unsafe { each_text_avx2(bytes, at, next) }
    } else {
        portable::each_text(bytes, at, next);
    }
}

/// 64 bytes of each together, and most are shorter: the length is found without a branch, which would be mispredicted.
#[target_feature(enable = "avx2")]
fn each_text_avx2(
    bytes: &[u8],
    mut at: usize,
    mut next: impl FnMut(usize, usize) -> Option<usize>,
) {
    let special = Special::new(&TEXT_SPECIAL);
    while let Some(rest) = bytes.get(at..) {
        let length = match rest.first_chunk() {
            Some(block) => {
                let (front, back) = load_64(block);
                match marks(special.of(front), special.of(back)) {
                    0 => block.len() + find_text_special(&rest[block.len()..]),
                    marks => marks.trailing_zeros() as usize,
                }
            }
            None => find_text_special(rest),
        };
        match next(at, length) {
            Some(behind) => at = behind,
            None => return,
        }
    }
}

#[inline(never)]
pub(super) fn find_far_difference(one: &[u8], other: &[u8]) -> usize {
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2.
        unsafe { find_difference_avx2(one, other) }
    } else {
        portable::find_difference(one, other)
    }
}

/// Four times 32 bytes at a time.
#[target_feature(enable = "avx2")]
fn find_difference_avx2(one: &[u8], other: &[u8]) -> usize {
    let length = one.len().min(other.len());
    let (one, other) = (&one[..length], &other[..length]);
    let mut at = 0;
    if let (Some(a), Some(b)) = (one.first_chunk::<32>(), other.first_chunk::<32>()) {
        // SAFETY: both have 32 bytes.
        let equal = unsafe {
            _mm256_cmpeq_epi8(
                _mm256_loadu_si256(a.as_ptr().cast()),
                _mm256_loadu_si256(b.as_ptr().cast()),
            )
        };
        let mask = !_mm256_movemask_epi8(equal) as u32;
        if mask != 0 {
            return mask.trailing_zeros() as usize;
        }
        // From here on no load of one text lies in two lines of the cache. (Where texts are shifted, those of the other do.)
        at = one.as_ptr().align_offset(32).min(32);
    }
    while let (Some(a), Some(b)) = (one.get(at..at + 128), other.get(at..at + 128)) {
        let equal = |from: usize| {
            // SAFETY: the loads are unaligned; `from` is 0, 32, 64 or 96, and both blocks have 128 bytes.
            unsafe {
                _mm256_cmpeq_epi8(
                    _mm256_loadu_si256(a.as_ptr().add(from).cast()),
                    _mm256_loadu_si256(b.as_ptr().add(from).cast()),
                )
            }
        };
        let (a, b, c, d) = (equal(0), equal(32), equal(64), equal(96));
        let all = _mm256_and_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, d));
        if _mm256_movemask_epi8(all) != -1 {
            let mask = |block| u64::from(!_mm256_movemask_epi8(block) as u32);
            let (front, back) = (mask(a) | mask(b) << 32, mask(c) | mask(d) << 32);
            // Which half it is in cannot be predicted: no branch.
            let (half, from) = if front != 0 { (front, 0) } else { (back, 64) };
            return at + from + half.trailing_zeros() as usize;
        }
        at += 128;
    }
    while let (Some(a), Some(b)) = (
        one[at..].first_chunk::<16>(),
        other[at..].first_chunk::<16>(),
    ) {
        match differing(a, b) {
            Some(length) => return at + length,
            None => at += a.len(),
        }
    }
    at + portable::find_difference(&one[at..], &other[at..])
}
