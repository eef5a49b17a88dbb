//! Wide registers of x86-64. Earned by the benchmark `numbers`.
//!
//! How a double is read, in 32 bytes and without a branch that depends on its digits:
//!
//! ```text
//!   -12.75e-3</item><item>…       one load
//!   ·dd·dd··d·                    digits; all others must be a sign in front, a dot, an e, the sign behind it
//!            ^                    the end: the first byte of the separator
//!   1275000000000000000           the digits of the significand, moved together, zeros behind: always 19
//!   12.75e-3 = 1275000000000000000 · 10^(2 - 19 - 3)
//! ```
//!
//! The zeros make the power of ten depend on the number of digits before the dot only. One count of the bytes that are no
//! digits tells whether all of them stand where they may.
#![allow(unsafe_code)]

mod abreast;
mod avx2;
mod avx512;
mod carryless;
mod differ;
mod eight;
mod form;
mod nearest;
mod powers;
mod read;
mod ready;
mod rows;
mod write;

use read::Array;
use ready::{Doubles, Integers};
use rows::Rows;

use super::carryless::Carryless;
use super::form::{Filled, Form, Sheet};
use super::found::{Found, FoundInRow, Stop};
use super::memory::Memory;
use super::number::{Column, Number, Room};
use super::separator::Separator;
use super::steps::{Listed, Stepped, Steps};

/// [`super::fetch`].
#[inline(always)]
pub(super) fn fetch<T>(items: &[T], at: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    if let Some(item) = items.get(at) {
        // SAFETY: SSE is part of x86-64; nothing is read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
}

/// [`super::summon`].
#[inline(always)]
pub(super) fn summon(bytes: &[u8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let range = bytes.as_ptr_range();
    let mut line = range.start;
    while line < range.end {
        // SAFETY: SSE is part of x86-64; nothing is read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
        line = line.wrapping_add(64);
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
    // SAFETY: a `Carryless` of this level is only made where the instructions are there.
    unsafe { carryless::one(text, secret) }
}

/// The same, four at a time.
#[inline]
pub(super) fn wide_sums(text: &[u8], secret: &[u64; Carryless::SECRET]) -> [u64; 2] {
    debug_assert!(has_wide_carryless());
    // SAFETY: a `Carryless` of this level is only made where the CPU has the instructions.
    unsafe { carryless::four(text, secret) }
}

/// [`super::Kernel::read_array_while`], until there are `limit` slots, all but the last values. `is_wide` is whether AVX-512
/// is there; AVX2 is.
#[inline]
pub(super) fn read_array(
    is_wide: bool,
    (text, at): (&[u8], usize),
    number: Number,
    separator: &Separator,
    limit: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    debug_assert!(if is_wide { has_avx512() } else { has_avx2() });
    let array = Array {
        text,
        separator,
        number,
        limit: limit.min(slots.capacity()),
    };
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    unsafe {
        match (number, is_wide) {
            (Number::Double, true) => avx512::doubles(array, at, slots, found),
            (Number::Double, false) => avx2::doubles(array, at, slots, found),
            (Number::Float, true) => avx512::floats(array, at, slots, found),
            (Number::Float, false) => avx2::floats(array, at, slots, found),
            // Masks in registers of their own take longer to get at than they save.
            (Number::Signed { .. } | Number::Unsigned { .. }, _) => {
                avx2::integers(array, number.bounds(), at, slots, found)
            }
        }
    }
}

/// [`super::Kernel::read_places`], up to one that is none. `is_wide` is whether AVX-512 is there; AVX2 is.
#[inline]
pub(super) fn read_places(
    is_wide: bool,
    (text, places): (&[u8], &[u32]),
    number: Number,
    separator: &Separator,
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    debug_assert!(if is_wide { has_avx512() } else { has_avx2() });
    let array = Array {
        text,
        separator,
        number,
        limit: 0,
    };
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    unsafe {
        match (number, is_wide) {
            (Number::Double, true) => avx512::doubles_at(array, places, slots, lengths),
            (Number::Double, false) => avx2::doubles_at(array, places, slots, lengths),
            (Number::Float, true) => avx512::floats_at(array, places, slots, lengths),
            (Number::Float, false) => avx2::floats_at(array, places, slots, lengths),
            (Number::Signed { .. } | Number::Unsigned { .. }, _) => {
                avx2::integers_at(array, number.bounds(), places, slots, lengths)
            }
        }
    }
}

/// [`super::Kernel::write_array`], with AVX-512 and a separator behind the last, too. What it does not do is left to do.
#[inline]
pub(super) fn write_array<'s>(
    slots: &'s [u64],
    number: Number,
    separator: &Separator,
    memory: Memory,
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) -> &'s [u64] {
    debug_assert!(has_avx512());
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    unsafe {
        match number {
            Number::Double => write::numbers::<Doubles>(slots, separator, memory, out, placed),
            Number::Signed { .. } => {
                write::numbers::<Integers<true>>(slots, separator, memory, out, placed);
            }
            Number::Unsigned { .. } => {
                write::numbers::<Integers<false>>(slots, separator, memory, out, placed);
            }
            Number::Float => return slots,
        }
    }
    &[]
}

/// [`super::Kernel::write_rows`], with AVX-512 and a separator behind the last number, too. What it does not do is left to
/// do.
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
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    unsafe { write::rows(slots, columns, out, placed) };
    &[]
}

/// [`super::Kernel::write_rooms`], with AVX-512 and what stands behind the last room, too; `None` if it is left to do.
#[inline]
pub(super) fn write_rooms(
    slots: &[u64],
    rooms: &[Room],
    memory: Memory,
    out: &mut Vec<u8>,
) -> Option<bool> {
    debug_assert!(has_avx512());
    let is_left = |room: &Room| room.number == Number::Float || room.width > 32;
    if rooms.len() > write::COLUMNS || rooms.iter().any(is_left) {
        return None;
    }
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    Some(unsafe { write::rooms(slots, rooms, memory, out) })
}

/// [`super::Kernel::list_differing`], of all but the last. Returns how many differ, and of how many.
#[inline]
pub(super) fn list_differing(old: &[u64], new: &[u64], list: &mut [u32]) -> (usize, usize) {
    debug_assert!(has_avx512());
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    unsafe { differ::list(old, new, list) }
}

/// [`super::Kernel::first_differing`].
#[inline]
pub(super) fn first_differing(old: &[u64], new: &[u64], masks: &[u64], delta: u64) -> usize {
    debug_assert!(has_avx512());
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    unsafe {
        match delta {
            0 => differ::first::<false>(old, new, masks, delta),
            _ => differ::first::<true>(old, new, masks, delta),
        }
    }
}

/// [`super::Kernel::list_changed`], from where it has come to.
#[inline]
pub(super) fn list_changed(steps: Steps<'_>, stepped: Stepped, list: &mut Listed<'_>) -> Stepped {
    debug_assert!(has_avx512());
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
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
) -> Stop {
    debug_assert!(if is_wide { has_avx512() } else { has_avx2() });
    let rows = Rows { text, columns, end };
    // SAFETY: a `Kernel` of this level is only made where the instructions are there.
    unsafe {
        match is_wide {
            true => avx512::rows(rows, at, most, slots, found),
            false => avx2::rows(rows, at, most, slots, found),
        }
    }
}

/// [`super::Kernel::read_real`]. `is_wide` is whether AVX-512 is there; AVX2 is.
#[inline]
pub(super) fn read_real(
    is_wide: bool,
    number: Number,
    (text, at): (&[u8], usize),
    end: u8,
) -> Option<(u64, usize)> {
    debug_assert!(if is_wide { has_avx512() } else { has_avx2() });
    if at < form::BEFORE || at + form::WIDEST > text.len() {
        return None;
    }
    // SAFETY: a `Kernel` of this level is only made where the instructions are there; so many bytes can be read.
    let (slot, length) = unsafe {
        let text = text.as_ptr().add(at);
        match (number, is_wide) {
            (Number::Double, true) => avx512::one::<nearest::Double>(text, end),
            (Number::Double, false) => avx2::one::<nearest::Double>(text, end),
            (Number::Float, true) => avx512::one::<nearest::Float>(text, end),
            (Number::Float, false) => avx2::one::<nearest::Float>(text, end),
            (Number::Signed { .. } | Number::Unsigned { .. }, _) => None,
        }
    }?;
    Some((slot, length as usize))
}

/// [`super::Kernel::fill`]. `is_wide` is whether AVX-512 is there; AVX2 is.
#[inline]
pub(super) fn fill(
    is_wide: bool,
    form: &Form,
    text: (&[u8], usize),
    told: (&[u8], u8),
    sheet: Sheet<'_>,
) -> Option<Filled> {
    debug_assert!(if is_wide { has_avx512() } else { has_avx2() });
    // SAFETY: a `Kernel` of this level is only made where the instructions are there; who calls has seen how many blanks
    // there are, how many lengths, and how large the sheet is.
    unsafe {
        match is_wide {
            true => avx512::fill(form, text, told, sheet),
            false => avx2::fill(form, text, told, sheet),
        }
    }
}
