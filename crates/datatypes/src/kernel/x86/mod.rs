//! Vectorised kernels with AVX-512, carry-less products and prefetches of x86-64. Earned by the benchmark `numbers`.
#![allow(unsafe_code)]

mod carryless;
mod differ;
mod ready;
mod real_batch;
mod row_batch;
mod rows;
mod slots;
mod spans;
mod write;

use super::found::{FoundInRow, RowsEnd};
use super::number::{Column, Number, PaddedColumn};
use super::products::SECRET;
use super::steps::{Listed, Stepped, Steps};
use super::wide::RowReader;

/// [`super::prefetch`].
#[inline(always)]
pub(super) fn prefetch<T>(items: &[T], at: usize) {
    if let Some(item) = items.get(at) {
        prefetch_line(std::ptr::from_ref(item).cast());
    }
}

/// [`super::prefetch_all`].
#[inline(always)]
pub(super) fn prefetch_all(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        prefetch_line(line.as_ptr());
    }
}

/// Prefetches the cache line of a byte, which may be anywhere.
#[inline(always)]
fn prefetch_line(place: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: SSE is part of x86-64; a prefetch accesses no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
}

#[inline]
pub(super) fn has_avx512() -> bool {
    super::wide::is_available()
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

/// Both sums of [`super::Carryless`], one product at a time.
#[inline]
pub(super) fn sums(text: &[u8], secret: &[u64; SECRET]) -> [u64; 2] {
    debug_assert!(has_carryless());
    // SAFETY: a `Carryless` of this level is only made where the CPU has the instructions.
    unsafe { carryless::one(text, secret) }
}

/// The same, four at a time.
#[inline]
pub(super) fn wide_sums(text: &[u8], secret: &[u64; SECRET]) -> [u64; 2] {
    debug_assert!(has_wide_carryless());
    // SAFETY: a `Carryless` of this level is only made where the CPU has the instructions.
    unsafe { carryless::four(text, secret) }
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

/// [`super::Kernel::read_rows_while`]. `end` ends every value.
#[inline]
pub(super) fn read_rows(
    text: &[u8],
    (columns, end): (&[Column], u8),
    at: usize,
    most: usize,
    slots: &mut Vec<u64>,
    found: &mut impl FoundInRow,
) -> RowsEnd {
    debug_assert!(has_avx512());
    let rows = RowReader { text, columns, end };
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { rows.read_in_batches(at, most, slots, found) }
}
