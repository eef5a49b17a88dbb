//! Sixteen bytes at a time, with SSE2 or NEON: one of them belongs to every x86-64 and aarch64. What these differ in, and the
//! loops over long texts, are in `registers`. Earned by the benchmark `decode`, engine `bsoap:events`, with SSE2.

use super::portable;
pub(super) use super::registers::each_text;
use super::registers::{
    Block, and_not, below_space, differing, equal, find_far_difference, find_long, first, load, or,
};

/// The bytes that `portable::is_control` names.
#[inline]
fn control(block: Block) -> Block {
    let kept = or(equal(block, b'\t'), equal(block, b'\n'));
    or(and_not(below_space(block), kept), equal(block, 0xEF))
}

/// The first byte that `special` marks; blocks of sixteen, then `rest` for what is left.
#[inline]
fn find(bytes: &[u8], special: impl Fn(Block) -> Block, rest: impl Fn(&[u8]) -> usize) -> usize {
    let mut at = 0;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        if let Some(found) = first(special(load(block))) {
            return at + found;
        }
        at += block.len();
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
pub(super) type Halves = [u8; 16];
/// Controls, `&`, `<`, `]`, 0xEF.
pub(super) const TEXT_SPECIAL: Halves = [3, 3, 3, 3, 3, 3, 7, 3, 3, 2, 2, 3, 11, 19, 3, 35];
/// Controls, `&`, `<`, `>`, 0xEF.
const TEXT_ESCAPE: Halves = [3, 3, 3, 3, 3, 3, 7, 3, 3, 2, 2, 3, 11, 3, 11, 35];

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
        match differing(a, b) {
            Some(length) => return at + length,
            None => at += a.len(),
        }
    }
    at + find_far_difference(&one[at..], &other[at..])
}
