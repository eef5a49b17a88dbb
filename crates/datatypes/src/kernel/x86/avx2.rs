//! AVX2.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi8,
    _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_storeu_si256, _mm256_sub_epi8,
};

use super::super::form::{Blank, Filled, Form, Sheet, Way};
use super::super::found::{Found, FoundInRow, Stop};
use super::form::{self, Fill, Special};
use super::nearest;
use super::nearest::Format;
use super::read::{Array, Classes, Integer, Isa, Real, Significand, real};
use super::rows::{Nobody, Rows};

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn doubles(
    array: Array<'_>,
    at: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.reals::<Avx2, nearest::Double>(at, slots, found) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn floats(
    array: Array<'_>,
    at: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.reals::<Avx2, nearest::Float>(at, slots, found) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn integers(
    array: Array<'_>,
    (min, max): (i64, i64),
    at: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.integers::<Avx2>(min, max, at, slots, found) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn rows(
    rows: Rows<'_>,
    at: usize,
    most: usize,
    slots: &mut Vec<u64>,
    found: &mut impl FoundInRow,
) -> Stop {
    // SAFETY: the features are enabled.
    unsafe { rows.read::<Avx2, Nobody>(at, most, slots, found) }
}

/// Read from `32 - n` on: 32 bytes of which all but the first `n` are set.
static FROM: [u8; 64] = {
    let mut mask = [0; 64];
    let mut at = 32;
    while at < 64 {
        mask[at] = 0xff;
        at += 1;
    }
    mask
};

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT; what [`form::fill`] needs.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn fill(
    form: &Form,
    text: (&[u8], usize),
    told: (&[u8], u8),
    sheet: Sheet<'_>,
) -> Option<Filled> {
    // SAFETY: the features are enabled; form, lengths and sheet are what they have to be.
    unsafe { form::fill::<Avx2>(form, text, told, sheet) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn doubles_at(
    array: Array<'_>,
    places: &[u32],
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.numbers_at::<Avx2, _>(Real(nearest::Double), places, slots, lengths) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn integers_at(
    array: Array<'_>,
    (min, max): (i64, i64),
    places: &[u32],
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.numbers_at::<Avx2, _>(Integer { min, max }, places, slots, lengths) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn floats_at(
    array: Array<'_>,
    places: &[u32],
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    // SAFETY: the features are enabled.
    unsafe { array.numbers_at::<Avx2, _>(Real(nearest::Float), places, slots, lengths) }
}

/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT; what [`form::one`] needs.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn one<N: Format>(text: *const u8, end: u8) -> Option<(u64, u32)> {
    // SAFETY: the features are enabled; all else as it has to be.
    unsafe { form::one::<Avx2, N>(text, end) }
}

struct Avx2;

impl Isa for Avx2 {
    #[inline(always)]
    unsafe fn classes(text: *const u8, end: u8) -> Classes {
        // SAFETY: 32 bytes can be read.
        unsafe {
            let bytes = _mm256_loadu_si256(text.cast());
            let is = |bytes, byte: u8| -> __m256i {
                _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8))
            };
            let mask = |bytes| _mm256_movemask_epi8(bytes) as u32;
            let digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8));
            let digits = _mm256_cmpeq_epi8(digits, _mm256_min_epu8(digits, _mm256_set1_epi8(9)));
            Classes {
                bytes,
                ends: mask(is(bytes, end)),
                others: !mask(digits),
                dots: mask(is(bytes, b'.')),
            }
        }
    }

    #[inline(always)]
    unsafe fn exponents(classes: &Classes) -> u32 {
        // SAFETY: only registers are used.
        unsafe {
            let lower = _mm256_or_si256(classes.bytes, _mm256_set1_epi8(0x20));
            _mm256_movemask_epi8(is(lower, b'e')) as u32
        }
    }

    #[inline(always)]
    unsafe fn ends(text: *const u8, end: u8) -> u64 {
        // SAFETY: 64 bytes can be read.
        unsafe {
            let end = _mm256_set1_epi8(end as i8);
            let low = _mm256_cmpeq_epi8(_mm256_loadu_si256(text.cast()), end);
            let high = _mm256_cmpeq_epi8(_mm256_loadu_si256(text.add(32).cast()), end);
            let mask = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32);
            mask(low) | mask(high) << 32
        }
    }

    #[inline(always)]
    unsafe fn digits(text: *const u8, _: &Classes, place: Significand) -> __m256i {
        // SAFETY: 34 bytes can be read; at most 31 digits stand before the dot, and there are at most 19.
        unsafe {
            let text = text.add(place.start as usize);
            let from = |digits: u32| {
                _mm256_loadu_si256(FROM.as_ptr().add(32 - (digits & 31) as usize).cast())
            };
            // What stands behind the dot is moved over it.
            let before = _mm256_loadu_si256(text.cast());
            let behind = _mm256_loadu_si256(text.add(1).cast());
            let digits = _mm256_blendv_epi8(before, behind, from(place.whole));
            let digits = _mm256_and_si256(digits, _mm256_set1_epi8(0x0f));
            _mm256_andnot_si256(from(place.digits), digits)
        }
    }
}

impl Fill for Avx2 {
    #[inline(always)]
    unsafe fn copy(text: *const u8, to: *mut u8, special: &Special) -> u64 {
        // SAFETY: 64 bytes can be read and written.
        unsafe {
            let (low, high) = (
                _mm256_loadu_si256(text.cast()),
                _mm256_loadu_si256(text.add(32).cast()),
            );
            _mm256_storeu_si256(to.cast(), low);
            _mm256_storeu_si256(to.add(32).cast(), high);
            u64::from(specials(low, special)) | u64::from(specials(high, special)) << 32
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn rare<N: Format>(text: *const u8, length: u32) -> Option<u64> {
        // SAFETY: the features are enabled.
        unsafe { real::<Self, N>(text, &Self::classes(text, b'<'), length) }
    }

    #[cold]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn near(
        of: (&Form, &Blank, Way),
        text: (&[u8], usize, usize),
        room: *mut u8,
    ) -> Option<u64> {
        // SAFETY: the features are enabled; all else as it has to be.
        unsafe { form::near::<Self>(of, text, room) }
    }
}

/// The bytes that are [`Special`].
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn specials(bytes: __m256i, special: &Special) -> u32 {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let [one, two, three] = special.others;
        let markup = _mm256_or_si256(
            _mm256_or_si256(is(bytes, b'<'), is(bytes, b'&')),
            _mm256_or_si256(is(bytes, b']'), is(bytes, 0x7f)),
        );
        let others = _mm256_or_si256(is(bytes, two), is(bytes, three));
        let others = _mm256_or_si256(is(bytes, one), others);
        // Signed: what is not ASCII is less than a blank, too.
        let outside = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes);
        let special = _mm256_or_si256(_mm256_or_si256(markup, others), outside);
        _mm256_movemask_epi8(special) as u32
    }
}

/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn is(bytes: __m256i, byte: u8) -> __m256i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe { _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8)) }
}
