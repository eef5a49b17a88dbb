//! Registers of 32 bytes: AVX2.

use std::arch::x86_64::{
    __m128i, __m256i, _bzhi_u32, _bzhi_u64, _mm_and_si128, _mm_cvtsi128_si32, _mm_cvtsi128_si64,
    _mm_loadu_si128, _mm_madd_epi16, _mm_maddubs_epi16, _mm_or_si128, _mm_packus_epi32,
    _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_setr_epi8, _mm_setr_epi16, _mm_shuffle_epi8,
    _mm_sub_epi8, _mm_sub_epi16, _mm_subs_epu8, _mm_subs_epu16, _mm_testz_si128, _mm_xor_si128,
    _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8, _mm256_castsi256_si128,
    _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_setr_epi8, _mm256_setr_epi16, _mm256_setzero_si256,
    _mm256_storeu_si256, _mm256_sub_epi8, _mm256_testz_si256, _mm256_xor_si256,
    _mm256_zextsi128_si256,
};

/// 32 bytes.
pub(crate) type Bytes = __m256i;
/// Half of them.
pub(crate) type Half = __m128i;

/// # Safety
/// AVX2; 32 bytes can be read.
#[inline(always)]
pub(crate) unsafe fn load(bytes: *const u8) -> Bytes {
    // SAFETY: the caller guarantees AVX2 and that 32 bytes can be read; the load is unaligned.
    unsafe { _mm256_loadu_si256(bytes.cast()) }
}

/// # Safety
/// AVX2; 32 bytes can be written.
#[inline(always)]
pub(super) unsafe fn store(bytes: Bytes, to: *mut u8) {
    // SAFETY: the caller guarantees AVX2 and that 32 bytes can be written; the store is unaligned.
    unsafe { _mm256_storeu_si256(to.cast(), bytes) }
}

/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn zero() -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_setzero_si256() }
}

/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn or(one: Bytes, other: Bytes) -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_or_si256(one, other) }
}

/// The bits of both, those of `half` in the first 16 bytes.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn or_half(bytes: Bytes, half: Half) -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_or_si256(bytes, _mm256_zextsi128_si256(half)) }
}

/// The bytes equal to `byte`.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn equal(bytes: Bytes, byte: u8) -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8)) }
}

/// The bytes equal to those of the other register.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn same(one: Bytes, other: Bytes) -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_cmpeq_epi8(one, other) }
}

/// The bytes that are digits.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn digits(bytes: Bytes) -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe {
        let digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8));
        _mm256_cmpeq_epi8(digits, _mm256_min_epu8(digits, _mm256_set1_epi8(9)))
    }
}

/// The bytes that are `e` or `E`.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn exponents(bytes: Bytes) -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { equal(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), b'e') }
}

/// The bytes that are control characters or not ASCII.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn outside(bytes: Bytes) -> Bytes {
    // The compare is signed: bytes from 0x80 on are below a space, too.
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes) }
}

/// One bit per byte of a comparison's result.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn mask(bytes: Bytes) -> u32 {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_movemask_epi8(bytes) as u32 }
}

/// The bits of `mask` in which the others differ.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn difference(one: Bytes, other: Bytes, mask: Bytes) -> Bytes {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_and_si256(_mm256_xor_si256(one, other), mask) }
}

/// Whether they differ in no bit of `mask`.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn agree(one: Bytes, other: Bytes, mask: Bytes) -> bool {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_testz_si256(_mm256_xor_si256(one, other), mask) == 1 }
}

/// Whether no bit is set.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(crate) unsafe fn is_zero(bits: Bytes) -> bool {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_testz_si256(bits, bits) == 1 }
}

/// Whether no bit is set.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn is_half_zero(bits: Half) -> bool {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm_testz_si128(bits, bits) == 1 }
}

/// The bits of both.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn or_halves(one: Half, other: Half) -> Half {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm_or_si128(one, other) }
}

/// The first `count` bits of a mask, the lowest first.
///
/// # Safety
/// BMI2; `count` is below 256.
#[inline(always)]
pub(super) unsafe fn first_bits(mask: u32, count: u32) -> u32 {
    // SAFETY: the caller guarantees BMI2; only registers are used.
    unsafe { _bzhi_u32(mask, count) }
}

/// The first `count` bits of a wide mask, the lowest first.
///
/// # Safety
/// BMI2; `count` is below 256.
#[inline(always)]
pub(super) unsafe fn first_bits_of_64(mask: u64, count: u32) -> u64 {
    // SAFETY: the caller guarantees BMI2; only registers are used.
    unsafe { _bzhi_u64(mask, count) }
}

/// The digits of a significand as numbers: those at `text`, but where `behind` is set, those one byte further on, so that they
/// move over the dot. Zeros where `beyond` is set.
///
/// # Safety
/// AVX2; 33 bytes of text and 32 of each mask can be read.
#[inline(always)]
pub(super) unsafe fn significand(text: *const u8, behind: *const u8, beyond: *const u8) -> Bytes {
    // SAFETY: the caller guarantees AVX2 and the bytes.
    unsafe {
        let digits = _mm256_blendv_epi8(load(text), load(text.add(1)), load(behind));
        let digits = _mm256_and_si256(digits, _mm256_set1_epi8(0x0f));
        _mm256_andnot_si256(load(beyond), digits)
    }
}

/// The value of the first eight digits.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn first_eight(digits: Bytes) -> u32 {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm_cvtsi128_si32(sixteen(_mm256_castsi256_si128(digits))) as u32 }
}

/// The value of the first nineteen digits.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn nineteen(digits: Bytes) -> u64 {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe {
        let pairs = _mm256_maddubs_epi16(
            digits,
            _mm256_setr_epi8(
                10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, // sixteen
                100, 10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // and three
            ),
        );
        let fours = _mm256_madd_epi16(
            pairs,
            _mm256_setr_epi16(100, 1, 100, 1, 100, 1, 100, 1, 1, 1, 0, 0, 0, 0, 0, 0),
        );
        let three = _mm_cvtsi128_si32(_mm256_extracti128_si256::<1>(fours)) as u32;
        let fours = _mm256_castsi256_si128(fours);
        let fours = _mm_packus_epi32(fours, fours);
        let eights = _mm_madd_epi16(fours, _mm_set1_epi32(0x0001_2710));
        let eights = _mm_cvtsi128_si64(eights) as u64;
        (eights & 0xffff_ffff) * 100_000_000_000 + (eights >> 32) * 1000 + u64::from(three)
    }
}

/// The 16 bytes before `end` as digits where `mask` is set, else zeros, and a register that is not zero if other bytes are among
/// them.
///
/// # Safety
/// AVX2; 16 bytes before `end` and of the mask can be read.
#[inline(always)]
pub(super) unsafe fn last_digits(end: *const u8, mask: *const u8) -> (Half, Half) {
    // SAFETY: the caller guarantees AVX2 and the bytes; the loads are unaligned.
    unsafe {
        let bytes = _mm_loadu_si128(end.sub(16).cast());
        let mask = _mm_loadu_si128(mask.cast());
        let bytes = _mm_and_si128(_mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8)), mask);
        (bytes, _mm_subs_epu8(bytes, _mm_set1_epi8(9)))
    }
}

/// The values of two groups of eight digits, in the lower two 32-bit words.
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn sixteen(digits: Half) -> Half {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe {
        let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x01_0a));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
        let fours = _mm_packus_epi32(fours, fours);
        _mm_madd_epi16(fours, _mm_set1_epi32(0x0001_2710))
    }
}

/// The value of sixteen digits; any value if other bytes are among them.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn whole(digits: Half) -> u64 {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe {
        let eights = _mm_cvtsi128_si64(sixteen(digits)) as u64;
        // Bytes that are not digits are detected elsewhere, so the sum may overflow.
        (eights & 0xffff_ffff)
            .wrapping_mul(100_000_000)
            .wrapping_add(eights >> 32)
    }
}

/// Whether the first 19 bytes are those of a `dateTime`, as [`is_plain_date_time`](crate::datetime::is_plain_date_time) has it.
///
/// # Safety
/// AVX2; 32 bytes can be read.
#[inline(always)]
pub(super) unsafe fn date_time(text: *const u8) -> bool {
    /// XOR with it leaves at most 9 for a digit and 0 for all other bytes.
    const FORM: &[u8; 19] = b"0000-00-00T00:00:00";
    const fn most() -> [u8; 19] {
        let (mut most, mut at) = ([0; 19], 0);
        while at < 19 {
            most[at] = if FORM[at] == b'0' { 9 } else { 0 };
            at += 1;
        }
        most
    }
    const MOST: [u8; 19] = most();
    // SAFETY: the caller guarantees 32 bytes of text; sixteen bytes of each 19-byte constant are read, from its third byte
    // on at the most.
    unsafe {
        let part = |bytes: *const u8| _mm_loadu_si128(bytes.cast());
        let front = _mm_xor_si128(part(text), part(FORM.as_ptr()));
        let back = _mm_xor_si128(part(text.add(3)), part(FORM.as_ptr().add(3)));
        let wrong = _mm_or_si128(
            _mm_subs_epu8(front, part(MOST.as_ptr())),
            _mm_subs_epu8(back, part(MOST.as_ptr().add(3))),
        );
        // Month, day, hour, minute, second.
        let digits = _mm_setr_epi8(2, 3, 5, 6, 8, 9, 11, 12, 14, 15, -1, -1, -1, -1, -1, -1);
        let tens = _mm_set1_epi16(0x010a);
        let fields = _mm_maddubs_epi16(_mm_shuffle_epi8(back, digits), tens);
        let least = _mm_setr_epi16(1, 1, 0, 0, 0, 0, 0, 0);
        let span = _mm_setr_epi16(11, 27, 23, 59, 59, 0, 0, 0);
        let wrong = _mm_or_si128(wrong, _mm_subs_epu16(_mm_sub_epi16(fields, least), span));
        let has_year = _mm_cvtsi128_si32(front) != 0;
        has_year & (_mm_testz_si128(wrong, wrong) == 1)
    }
}
