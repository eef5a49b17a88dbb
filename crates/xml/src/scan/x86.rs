//! Sixteen bytes at a time with SSE2, which belongs to every x86-64; long texts with AVX2 where the machine has it. Earned
//! by the benchmark `decode`, engine `bsoap:events`.
#![allow(unsafe_code)]

use super::portable;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8,
    _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_setr_epi8, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_srli_epi16, _mm256_testz_si256,
};

/// The bytes equal to `byte`.
#[inline]
fn equal(block: __m128i, byte: u8) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cmpeq_epi8(block, _mm_set1_epi8(byte as i8)) }
}

#[inline]
fn or(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_or_si128(a, b) }
}

/// The bytes below 0x20.
#[inline]
fn below_space(block: __m128i) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block) }
}

/// The bytes that `portable::is_control` names.
#[inline]
fn control(block: __m128i) -> __m128i {
    let kept = or(equal(block, b'\t'), equal(block, b'\n'));
    // SAFETY: SSE2 is part of x86-64.
    let controls = unsafe { _mm_andnot_si128(kept, below_space(block)) };
    or(controls, equal(block, 0xEF))
}

/// The first byte that `special` marks; blocks of sixteen, then `rest` for what is left.
#[inline]
fn find(
    bytes: &[u8],
    special: impl Fn(__m128i) -> __m128i,
    rest: impl Fn(&[u8]) -> usize,
) -> usize {
    let mut at = 0;
    while let Some(block) = bytes.get(at..at + 16) {
        // SAFETY: the load is unaligned and reads the 16 bytes of `block`; SSE2 is part of x86-64.
        let mask = unsafe {
            let block = _mm_loadu_si128(block.as_ptr().cast());
            _mm_movemask_epi8(special(block))
        };
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 16;
    }
    at + rest(&bytes[at..])
}

#[inline]
pub(super) fn find_markup(bytes: &[u8]) -> usize {
    find(
        bytes,
        |block| or(equal(block, b'<'), equal(block, b'&')),
        portable::find_markup,
    )
}

/// From here on a text is long enough for wider registers to pay.
const LONG: usize = 128;

#[inline]
pub(super) fn find_text_special(bytes: &[u8]) -> usize {
    match bytes.split_at_checked(LONG) {
        None => find_short_text_special(bytes),
        Some((front, rest)) => match find_short_text_special(front) {
            LONG => LONG + find_long(rest, &TEXT_SPECIAL, find_short_text_special),
            found => found,
        },
    }
}

/// Which upper halves make a byte special, by its lower half. Bits: 1 for 0_, 2 for 1_, 4 for 2_, 8 for 3_, 16 for 5_,
/// 32 for E_. Tab (09) and line feed (0A) are not.
type Halves = [u8; 16];
/// Controls, `&`, `<`, `]`, 0xEF.
const TEXT_SPECIAL: Halves = [3, 3, 3, 3, 3, 3, 7, 3, 3, 2, 2, 3, 11, 19, 3, 35];
/// Controls, `&`, `<`, `>`, 0xEF.
const TEXT_ESCAPE: Halves = [3, 3, 3, 3, 3, 3, 7, 3, 3, 2, 2, 3, 11, 3, 11, 35];

#[inline(never)]
fn find_long(bytes: &[u8], halves: &Halves, rest: fn(&[u8]) -> usize) -> usize {
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
fn load(block: &[u8; 64]) -> (__m256i, __m256i) {
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
        let (front, back) = load(block);
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
                let (front, back) = load(block);
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

#[inline]
fn find_short_text_special(bytes: &[u8]) -> usize {
    let special = |block| {
        or(
            or(equal(block, b'<'), equal(block, b'&')),
            or(equal(block, b']'), control(block)),
        )
    };
    find(bytes, special, portable::find_text_special)
}

#[inline]
pub(super) fn find_value_special(bytes: &[u8], quote: u8) -> usize {
    let special = |block| {
        let marks = or(
            equal(block, quote),
            or(equal(block, b'<'), equal(block, b'&')),
        );
        or(marks, or(below_space(block), equal(block, 0xEF)))
    };
    find(bytes, special, |rest| {
        portable::find_value_special(rest, quote)
    })
}

#[inline]
pub(super) fn find_control(bytes: &[u8]) -> usize {
    find(bytes, control, portable::find_control)
}

#[inline]
pub(super) fn find_text_escape(bytes: &[u8]) -> usize {
    match bytes.split_at_checked(LONG) {
        None => find_short_text_escape(bytes),
        Some((front, rest)) => match find_short_text_escape(front) {
            LONG => LONG + find_long(rest, &TEXT_ESCAPE, find_short_text_escape),
            found => found,
        },
    }
}

#[inline]
fn find_short_text_escape(bytes: &[u8]) -> usize {
    let special = |block| {
        or(
            or(equal(block, b'<'), equal(block, b'>')),
            or(equal(block, b'&'), control(block)),
        )
    };
    find(bytes, special, portable::find_text_escape)
}

#[inline]
pub(super) fn find_value_escape(bytes: &[u8]) -> usize {
    let special = |block| {
        let marks = or(
            or(equal(block, b'<'), equal(block, b'>')),
            or(equal(block, b'&'), equal(block, b'"')),
        );
        or(marks, or(below_space(block), equal(block, 0xEF)))
    };
    find(bytes, special, portable::find_value_escape)
}

/// The bytes of two blocks that are the same.
#[inline]
fn same(one: &[u8; 16], other: &[u8; 16]) -> u32 {
    // SAFETY: the loads are unaligned and read the 16 bytes of each block; SSE2 is part of x86-64.
    unsafe {
        let (one, other) = (
            _mm_loadu_si128(one.as_ptr().cast()),
            _mm_loadu_si128(other.as_ptr().cast()),
        );
        _mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) as u32
    }
}

/// Texts that are the same so far are compared by larger steps from here on.
const NEAR: usize = 16;

#[inline]
pub(super) fn find_difference(one: &[u8], other: &[u8]) -> usize {
    let mut at = 0;
    while at < NEAR {
        let (Some(a), Some(b)) = (
            one.get(at..).and_then(<[u8]>::first_chunk),
            other.get(at..).and_then(<[u8]>::first_chunk),
        ) else {
            return at + portable::find_difference(&one[at..], &other[at..]);
        };
        let mask = same(a, b);
        if mask != 0xffff {
            return at + (!mask).trailing_zeros() as usize;
        }
        at += 16;
    }
    at + find_far_difference(&one[at..], &other[at..])
}

#[inline(never)]
fn find_far_difference(one: &[u8], other: &[u8]) -> usize {
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
        let mask = same(a, b);
        if mask != 0xffff {
            return at + (!mask).trailing_zeros() as usize;
        }
        at += 16;
    }
    at + portable::find_difference(&one[at..], &other[at..])
}
