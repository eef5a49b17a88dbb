//! AVX-512 with its byte instructions.

use std::arch::x86_64::{
    __m256i, _bzhi_u32, _mm256_cmpeq_epi8_mask, _mm256_cmpgt_epu8_mask, _mm256_loadu_si256,
    _mm256_maskz_compress_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_sub_epi8,
    _mm512_loadu_si512, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_storeu_si512,
};

use super::super::form::{Blank, Filled, Form, Sheet, Way};
use super::super::found::{Found, FoundInRow, Stop};
use super::abreast::Abreast;
use super::form::{self, Fill, Special};
use super::nearest;
use super::nearest::Format;
use super::read::{Array, Classes, Isa, Real, Significand, real};
use super::rows::Rows;

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, AVX-512 F, BW, VL, VBMI2.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
pub(super) unsafe fn doubles(
    array: Array<'_>,
    at: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.reals::<Avx512, nearest::Double>(at, slots, found) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, AVX-512 F, BW, VL, VBMI2.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
pub(super) unsafe fn floats(
    array: Array<'_>,
    at: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.reals::<Avx512, nearest::Float>(at, slots, found) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, AVX-512 F, BW, VL, DQ, CD, VBMI, VBMI2, VPOPCNTDQ.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
pub(super) unsafe fn rows(
    rows: Rows<'_>,
    at: usize,
    most: usize,
    slots: &mut Vec<u64>,
    found: &mut impl FoundInRow,
) -> Stop {
    // SAFETY: the features are enabled.
    unsafe { rows.read::<Avx512, Abreast>(at, most, slots, found) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, AVX-512 F, BW, VL, VBMI, VBMI2; what [`form::fill`] needs.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn fill(
    form: &Form,
    text: (&[u8], usize),
    told: (&[u8], u8),
    sheet: Sheet<'_>,
) -> Option<Filled> {
    // SAFETY: the features are enabled; form, lengths and sheet are what they have to be.
    unsafe { form::fill::<Avx512>(form, text, told, sheet) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, AVX-512 F, BW, VL, VBMI2.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
pub(super) unsafe fn doubles_at(
    array: Array<'_>,
    places: &[u32],
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.numbers_at::<Avx512, _>(Real(nearest::Double), places, slots, lengths) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, AVX-512 F, BW, VL, VBMI2.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
pub(super) unsafe fn floats_at(
    array: Array<'_>,
    places: &[u32],
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.numbers_at::<Avx512, _>(Real(nearest::Float), places, slots, lengths) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, AVX-512 F, BW, VL, VBMI2; what [`form::one`] needs.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
pub(super) unsafe fn one<N: Format>(text: *const u8, end: u8) -> Option<(u64, u32)> {
    // SAFETY: the features are enabled; all else as it has to be.
    unsafe { form::one::<Avx512, N>(text, end) }
}

struct Avx512;

impl Isa for Avx512 {
    #[inline(always)]
    unsafe fn classes(text: *const u8, end: u8) -> Classes {
        // SAFETY: 32 bytes can be read.
        unsafe {
            let bytes = _mm256_loadu_si256(text.cast());
            let is = |bytes, byte: u8| _mm256_cmpeq_epi8_mask(bytes, _mm256_set1_epi8(byte as i8));
            let digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8));
            Classes {
                bytes: digits,
                ends: is(bytes, end),
                others: _mm256_cmpgt_epu8_mask(digits, _mm256_set1_epi8(9)),
                dots: is(bytes, b'.'),
            }
        }
    }

    #[inline(always)]
    unsafe fn exponents(classes: &Classes) -> u32 {
        // SAFETY: only registers are used.
        unsafe {
            // (Of the bytes, `0` has been taken away: from `E`, that makes 0x15.)
            let lower = _mm256_or_si256(classes.bytes, _mm256_set1_epi8(0x20));
            _mm256_cmpeq_epi8_mask(lower, _mm256_set1_epi8((b'e' - b'0') as i8))
        }
    }

    #[inline(always)]
    unsafe fn ends(text: *const u8, end: u8) -> u64 {
        // SAFETY: 64 bytes can be read.
        unsafe {
            // Not one load of 64 bytes: that would hardly ever lie in one line of the cache.
            let end = _mm256_set1_epi8(end as i8);
            let low = _mm256_cmpeq_epi8_mask(_mm256_loadu_si256(text.cast()), end);
            let high = _mm256_cmpeq_epi8_mask(_mm256_loadu_si256(text.add(32).cast()), end);
            u64::from(low) | u64::from(high) << 32
        }
    }

    #[inline(always)]
    unsafe fn digits(_: *const u8, classes: &Classes, place: Significand) -> __m256i {
        // SAFETY: only registers are used.
        unsafe {
            let digits = _bzhi_u32(!classes.others, place.end) & (u32::MAX << place.start);
            _mm256_maskz_compress_epi8(digits, classes.bytes)
        }
    }
}

impl Fill for Avx512 {
    #[inline(always)]
    unsafe fn copy(text: *const u8, to: *mut u8, special: &Special) -> u64 {
        // SAFETY: 64 bytes can be read and written; a table has twice as many.
        unsafe {
            let bytes = _mm512_loadu_si512(text.cast());
            _mm512_storeu_si512(to.cast(), bytes);
            let table = special.table.as_ptr();
            let (low, high) = (
                _mm512_loadu_si512(table.cast()),
                _mm512_loadu_si512(table.add(64).cast()),
            );
            // What is not ASCII has its highest bit, too.
            let found = _mm512_permutex2var_epi8(low, bytes, high);
            _mm512_movepi8_mask(_mm512_or_si512(found, bytes))
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
    unsafe fn rare<N: Format>(text: *const u8, length: u32) -> Option<u64> {
        // SAFETY: the features are enabled.
        unsafe { real::<Self, N>(text, &Self::classes(text, b'<'), length) }
    }

    #[cold]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2"
    )]
    unsafe fn near(
        of: (&Form, &Blank, Way),
        text: (&[u8], usize, usize),
        room: *mut u8,
    ) -> Option<u64> {
        // SAFETY: the features are enabled; all else as it has to be.
        unsafe { form::near::<Self>(of, text, room) }
    }
}
