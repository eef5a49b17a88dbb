//! Registers of 32 text bytes: what each byte is, and comparison with a separator.

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_sub_epi8, _mm256_testz_si256,
    _mm256_xor_si256,
};

use super::super::separator::Separator;

/// 32 bytes of text and masks of what they are, one bit per byte.
#[derive(Clone, Copy)]
pub(super) struct Classes {
    bytes: __m256i,
    /// The bytes that end a value.
    pub(super) ends: u32,
    /// The bytes that are not digits.
    pub(super) others: u32,
    pub(super) dots: u32,
}

impl Classes {
    /// # Safety
    /// AVX2; 32 bytes can be read.
    #[inline(always)]
    pub(super) unsafe fn new(text: *const u8, end: u8) -> Self {
        // SAFETY: the caller guarantees AVX2 and 32 readable bytes; the load is unaligned.
        unsafe {
            let bytes = _mm256_loadu_si256(text.cast());
            let digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8));
            let digits = _mm256_cmpeq_epi8(digits, _mm256_min_epu8(digits, _mm256_set1_epi8(9)));
            Self {
                bytes,
                ends: mask(equal(bytes, end)),
                others: !mask(digits),
                dots: mask(equal(bytes, b'.')),
            }
        }
    }

    /// The bytes that are `e` or `E`.
    ///
    /// # Safety
    /// AVX2.
    #[inline(always)]
    pub(super) unsafe fn exponents(&self) -> u32 {
        // SAFETY: the caller guarantees AVX2; only registers are used.
        unsafe {
            let lower = _mm256_or_si256(self.bytes, _mm256_set1_epi8(0x20));
            mask(equal(lower, b'e'))
        }
    }
}

/// The bytes of 64 that are `end`.
///
/// # Safety
/// AVX2; 64 bytes can be read.
#[inline(always)]
pub(super) unsafe fn ends_of_64(text: *const u8, end: u8) -> u64 {
    // SAFETY: the caller guarantees AVX2 and 64 readable bytes; the loads are unaligned.
    unsafe {
        let low = mask(equal(_mm256_loadu_si256(text.cast()), end));
        let high = mask(equal(_mm256_loadu_si256(text.add(32).cast()), end));
        u64::from(low) | u64::from(high) << 32
    }
}

/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn equal(bytes: __m256i, byte: u8) -> __m256i {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8)) }
}

/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn mask(bytes: __m256i) -> u32 {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_movemask_epi8(bytes) as u32 }
}

/// A separator in registers: its first 32 bytes.
#[derive(Clone, Copy)]
pub(super) struct LoadedSeparator {
    head: __m256i,
    mask: __m256i,
}

impl LoadedSeparator {
    /// # Safety
    /// AVX2.
    #[inline(always)]
    pub(super) unsafe fn new(separator: &Separator) -> Self {
        // SAFETY: the caller guarantees AVX2; both arrays have 32 bytes.
        unsafe {
            Self {
                head: _mm256_loadu_si256(separator.head.as_ptr().cast()),
                mask: _mm256_loadu_si256(separator.mask.as_ptr().cast()),
            }
        }
    }

    /// Up to 32 of these bytes.
    ///
    /// # Safety
    /// AVX2.
    #[inline(always)]
    pub(super) unsafe fn of(bytes: &[u8]) -> Self {
        // SAFETY: the caller guarantees AVX2.
        unsafe { Self::new(&Separator::head_of(bytes)) }
    }

    /// The bits that differ from the text.
    ///
    /// # Safety
    /// AVX2; 32 bytes can be read.
    #[inline(always)]
    pub(super) unsafe fn difference(&self, text: *const u8) -> __m256i {
        // SAFETY: the caller guarantees AVX2 and 32 readable bytes; the load is unaligned.
        unsafe {
            let text = _mm256_loadu_si256(text.cast());
            _mm256_and_si256(_mm256_xor_si256(text, self.head), self.mask)
        }
    }

    /// # Safety
    /// AVX2; 32 bytes can be read.
    #[inline(always)]
    pub(super) unsafe fn matches_at(&self, text: *const u8) -> bool {
        // SAFETY: the caller guarantees AVX2 and 32 readable bytes; the load is unaligned.
        unsafe {
            let text = _mm256_loadu_si256(text.cast());
            _mm256_testz_si256(_mm256_xor_si256(text, self.head), self.mask) == 1
        }
    }
}

/// Whether no bit is set.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn is_zero(bits: __m256i) -> bool {
    // SAFETY: the caller guarantees AVX2; only registers are used.
    unsafe { _mm256_testz_si256(bits, bits) == 1 }
}

/// Makes the compiler compute a value here, and not later where it is used.
#[inline(always)]
pub(super) fn compute_now(mut value: u64) -> u64 {
    // SAFETY: the assembly is empty and only names the register.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}
