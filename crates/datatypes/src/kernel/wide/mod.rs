//! Vectorised kernels with registers of 32 bytes: AVX2 on x86-64, NEON on aarch64. Earned by the benchmark `numbers` with AVX2.
//! (NEON has been tested in an emulator only: its speed is unknown.)
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
//!
//! `registers` has the few operations in which the two sets of instructions differ; the loops are the same. *The instructions*
//! in the conditions of safety are AVX2, BMI1, BMI2, LZCNT and POPCNT on x86-64, and NEON on aarch64, where the loops
//! need no attribute that enables it: all targets that have floating-point registers enable it for everything.
#![allow(unsafe_code)]

mod array;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod classes;
mod form;
mod integer;
#[cfg(target_arch = "aarch64")]
mod neon;
mod real;
mod registers;
mod rows;

use array::Array;

use super::form::{FillTarget, Filled, Form, LengthBytes};
use super::found::{Found, FoundInRow, RowsEnd};
use super::number::{Column, Number};
#[cfg(target_arch = "aarch64")]
use super::products::SECRET;
use super::separator::Separator;

#[cfg(target_arch = "x86_64")]
pub(super) use {array::BEFORE, classes::LoadedSeparator, integer::integer, registers::is_zero};

pub(super) use rows::RowReader;

/// Whether this machine has the instructions.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Whether this machine has the instructions. (The kernels assume that the lowest byte of a word comes first.)
#[cfg(target_arch = "aarch64")]
#[inline]
pub(super) fn is_available() -> bool {
    cfg!(target_endian = "little") && std::arch::is_aarch64_feature_detected!("neon")
}

/// The bytes of some words, the lowest first.
#[inline]
pub(super) fn bytes(words: &[u64]) -> &[u8] {
    // SAFETY: a word has eight bytes, all of which may be read as such; on this machine the lowest comes first.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// Whether this machine has PMULL.
#[cfg(target_arch = "aarch64")]
#[inline]
pub(super) fn has_carryless() -> bool {
    is_available() && std::arch::is_aarch64_feature_detected!("aes")
}

/// Both sums of [`super::Carryless`], with PMULL.
#[cfg(target_arch = "aarch64")]
#[inline]
pub(super) fn sums(text: &[u8], secret: &[u64; SECRET]) -> [u64; 2] {
    debug_assert!(has_carryless());
    // SAFETY: a `Carryless` of this level is only made where the CPU has the instructions.
    unsafe { registers::sums(text, secret) }
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
    debug_assert!(is_available());
    let array = Array {
        text,
        separator,
        number,
        limit: limit.min(slots.capacity()),
    };
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions; the limit is within the capacity.
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
    debug_assert!(is_available());
    let array = Array {
        text,
        separator,
        number,
        limit: 0,
    };
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { array.read_at(places, slots, lengths) }
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
    debug_assert!(is_available());
    let rows = RowReader { text, columns, end };
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions.
    unsafe { rows.read(at, most, slots, found) }
}

/// [`super::Kernel::read_real`].
#[inline]
pub(super) fn read_real(
    number: Number,
    (text, at): (&[u8], usize),
    end: u8,
) -> Option<(u64, usize)> {
    debug_assert!(is_available());
    if at < form::BEFORE || at + form::WIDEST > text.len() {
        return None;
    }
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions; 64 bytes can be read, and 32 before them.
    let (slot, length) = unsafe {
        let text = text.as_ptr().add(at);
        match number {
            Number::Double => form::one::<crate::nearest::Double>(text, end),
            Number::Float => form::one::<crate::nearest::Float>(text, end),
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
    debug_assert!(is_available());
    // SAFETY: a `Kernel` of this level is only made where the CPU has the instructions; the caller has checked the number of blanks and
    // lengths and the size of the target.
    unsafe { form::fill(form, text, lengths, target) }
}
