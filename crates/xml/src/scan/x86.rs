//! Sixteen bytes at a time with SSE2, which belongs to every x86-64. Earned by `examples/events.rs`.
#![allow(unsafe_code)]

use super::portable;
use std::arch::x86_64::{
    __m128i, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8,
    _mm_or_si128, _mm_set1_epi8,
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

#[inline]
pub(super) fn find_text_special(bytes: &[u8]) -> usize {
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
