//! Vectorised kernels for x86-64, with AVX2 and AVX-512. Earned by the benchmark `numbers`.
//!
//! A double is parsed in 32 bytes, without a branch that depends on its digits:
//!
//! ```text
//!   -12.75e-3</item><item>…       one load
//!   ·dd·dd··d·                    digits; the others must be a leading sign, a dot, an e and the sign after it
//!            ^                    the end: the first byte of the separator
//!   1275000000000000000           the digits of the significand, left-aligned, padded with zeros to 19
//!   12.75e-3 = 1275000000000000000 · 10^(2 - 19 - 3)
//! ```
//!
//! Because of the zeros, the power of ten depends only on the number of digits before the dot. One count of the bytes that are
//! not digits shows whether all of them are where they may be.
#![allow(unsafe_code)]

mod array;
mod carryless;
mod classes;
mod differ;
mod form;
mod integer;
mod nearest;
mod powers;
mod ready;
mod real;
mod real_batch;
mod row_batch;
mod rows;
mod slots;
mod write;

use array::Array;
use rows::RowReader;

use super::carryless::Carryless;
use super::form::{FillTarget, Filled, Form, LengthBytes};
use super::found::{Found, FoundInRow, RowsEnd};
use super::number::{Column, Number, PaddedColumn};
use super::separator::Separator;
use super::steps::{Listed, Stepped, Steps};

/// [`super::prefetch`].
#[inline(always)]
pub(super) fn prefetch<T>(items: &[T], at: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    if let Some(item) = items.get(at) {
        // SAFETY: SSE is part of x86-64; a prefetch accesses no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
}

/// [`super::prefetch_all`].
#[inline(always)]
pub(super) fn prefetch_all(bytes: &[u8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in bytes.chunks(64) {
        // SAFETY: SSE is part of x86-64; a prefetch accesses no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}

#[inline]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[inline]
pub(super) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("avx512vpopcntdq")
}

#[inline]
pub(super) fn has_carryless() -> bool {
    is_x86_feature_detected!("pclmulqdq")
}

#[inline]
pub(super) fn has_wide_carryless() -> bool {
    has_carryless()
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

/// The bytes of some words, the lowest first.
#[inline]
pub(super) fn bytes(words: &[u64]) -> &[u8] {
    // SAFETY: a word has eight bytes, all of which may be read as such; on this machine the lowest comes first.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// Both sums of [`Carryless`], one product at a time.
#[inline]
pub(super) fn sums(text: &[u8], secret: &[u64; Carryless::SECRET]) -> [u64; 2] {
    debug_assert!(has_carryless());
    // SAFETY: a `Carryless` of this level is only made where the CPU has the instructions.
    unsafe { carryless::one(text, secret) }
}

/// The same, four at a time.
#[inline]
pub(super) fn wide_sums(text: &[u8], secret: &[u64; Carryless::SECRET]) -> [u64; 2] {
    debug_assert!(has_wide_carryless());
    // SAFETY: a `Carryless` of this level is only made where the CPU has the instructions.
    unsafe { carryless::four(text, secret) }
}

/// [`super::Kernel::read_array_while`], until there are `limit` slots, without the last values of the text.
#[inline]
pub(super) fn read_array(
    (text, at): (&[u8], usize),
    number: Number,
    separator: &Separator,
    limit: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    debug_assert!(has_avx2());
    let array = Array {
        text,
        separator,
        number,
        limit: limit.min(slots.capacity()),
    };
    // SAFETY: a `Kernel` of this level is only made where the CPU has AVX2; the limit is within the capacity.
    unsafe { array.read(at, slots, found) }
}

/// [`super::Kernel::read_places`], up to the first value that is not a number.
#[inline]
pub(super) fn read_places(
    (text, places): (&[u8], &[u32]),
    number: Number,
    separator: &Separator,
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    debug_assert!(has_avx2());
    let array = Array {
        text,
        separator,
        number,
        limit: 0,
    };
    // SAFETY: a `Kernel` of this level is only made where the CPU has AVX2.
    unsafe { array.read_at(places, slots, lengths) }
}

/// [`super::Kernel::format_array`], with AVX-512. Returns the slots not formatted.
#[inline]
pub(super) fn format_array<'s>(
    slots: &'s [u64],
    number: Number,
    forms: &mut Vec<u8>,
    lengths: &mut Vec<u8>,
) -> &'s [u64] {
    debug_assert!(has_avx512());
    if number == Number::Float {
        return slots;
    }
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { write::forms(slots, number, forms, lengths) };
    &[]
}

/// [`super::Kernel::write_rows`], with AVX-512 and with a separator after the last number. Returns the slots not written.
#[inline]
pub(super) fn write_rows<'s>(
    slots: &'s [u64],
    columns: &[Column],
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) -> &'s [u64] {
    debug_assert!(has_avx512());
    let is_float = |column: &Column| column.number == Number::Float;
    if columns.len() > write::COLUMNS || columns.iter().any(is_float) {
        return slots;
    }
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { write::rows(slots, columns, out, placed) };
    &[]
}

/// [`super::Kernel::write_padded_rows`], with AVX-512 and with the separator after the last column. `None` if it must be done
/// without.
#[inline]
pub(super) fn write_padded_rows(
    slots: &[u64],
    columns: &[PaddedColumn],
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) -> Option<bool> {
    debug_assert!(has_avx512());
    let is_left = |column: &PaddedColumn| column.number == Number::Float || column.width > 32;
    if columns.len() > write::COLUMNS || columns.iter().any(is_left) {
        return None;
    }
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { write::padded_rows(slots, columns, out, placed) }
}

/// [`super::Kernel::list_differing`], except of the last few slots. Returns how many differ, and how many were compared.
#[inline]
pub(super) fn list_differing(old: &[u64], new: &[u64], list: &mut [u32]) -> (usize, usize) {
    debug_assert!(has_avx512());
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { slots::list(old, new, list) }
}

/// [`super::Kernel::first_differing`].
#[inline]
pub(super) fn first_differing(old: &[u64], new: &[u64], masks: &[u64], delta: u64) -> usize {
    debug_assert!(has_avx512());
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { slots::first(old, new, masks, delta) }
}

/// [`super::Kernel::list_changed`], as far as 64 bytes of both texts can be compared.
#[inline]
pub(super) fn list_changed(steps: Steps<'_>, stepped: Stepped, list: &mut Listed<'_>) -> Stepped {
    debug_assert!(has_avx512());
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { differ::step(steps, stepped, list) }
}

/// [`super::Kernel::read_rows_while`]. `end` ends every value; `is_wide` is whether AVX-512 is there; AVX2 is.
#[inline]
pub(super) fn read_rows(
    is_wide: bool,
    text: &[u8],
    (columns, end): (&[Column], u8),
    at: usize,
    most: usize,
    slots: &mut Vec<u64>,
    found: &mut impl FoundInRow,
) -> RowsEnd {
    debug_assert!(if is_wide { has_avx512() } else { has_avx2() });
    let rows = RowReader { text, columns, end };
    // SAFETY: a `Kernel` of this level is only made where the CPU has AVX2, and a wide one where it has AVX-512.
    unsafe { rows.read(is_wide, at, most, slots, found) }
}

/// [`super::Kernel::read_real`].
#[inline]
pub(super) fn read_real(
    number: Number,
    (text, at): (&[u8], usize),
    end: u8,
) -> Option<(u64, usize)> {
    debug_assert!(has_avx2());
    if at < form::BEFORE || at + form::WIDEST > text.len() {
        return None;
    }
    // SAFETY: a `Kernel` of this level is only made where the CPU has AVX2; 64 bytes can be read, and 32 before them.
    let (slot, length) = unsafe {
        let text = text.as_ptr().add(at);
        match number {
            Number::Double => form::one::<nearest::Double>(text, end),
            Number::Float => form::one::<nearest::Float>(text, end),
            Number::Signed { .. } | Number::Unsigned { .. } => None,
        }
    }?;
    Some((slot, length as usize))
}

/// [`super::Kernel::fill`].
#[inline]
pub(super) fn fill(
    form: &Form,
    text: (&[u8], usize),
    lengths: LengthBytes<'_>,
    target: FillTarget<'_>,
) -> Option<Filled> {
    debug_assert!(has_avx2());
    // SAFETY: a `Kernel` of this level is only made where the CPU has AVX2; the caller has checked the number of blanks and
    // lengths and the size of the target.
    unsafe { form::fill(form, text, lengths, target) }
}
