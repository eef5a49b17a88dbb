//! Blocks of sixteen bytes with NEON; long texts by 64 bytes. (Tested in an emulator only: its speed is unknown.)
#![allow(unsafe_code)]

use super::blocks::{Halves, find_text_special};
use super::portable;
use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vbicq_u8, vceqq_u8, vcltq_u8, vdupq_n_u8, vget_lane_u64, vld1q_u8,
    vmaxvq_u8, vminvq_u8, vmvnq_u8, vorrq_u8, vqtbl1q_u8, vreinterpret_u64_u8,
    vreinterpretq_u16_u8, vshrn_n_u16, vshrq_n_u8, vtstq_u8,
};

/// Sixteen bytes.
pub(super) type Block = uint8x16_t;

#[inline]
pub(super) fn load(bytes: &[u8; 16]) -> Block {
    // SAFETY: the 16 bytes are read; NEON is enabled where this file is compiled.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// The bytes equal to `byte`.
#[inline]
pub(super) fn equal(block: Block, byte: u8) -> Block {
    // SAFETY: NEON is enabled where this file is compiled.
    unsafe { vceqq_u8(block, vdupq_n_u8(byte)) }
}

#[inline]
pub(super) fn or(a: Block, b: Block) -> Block {
    // SAFETY: NEON is enabled where this file is compiled.
    unsafe { vorrq_u8(a, b) }
}

/// The bytes below 0x20.
#[inline]
pub(super) fn below_space(block: Block) -> Block {
    // SAFETY: NEON is enabled where this file is compiled.
    unsafe { vcltq_u8(block, vdupq_n_u8(0x20)) }
}

/// The bits of `block` that `other` does not have.
#[inline]
pub(super) fn and_not(block: Block, other: Block) -> Block {
    // SAFETY: NEON is enabled where this file is compiled.
    unsafe { vbicq_u8(block, other) }
}

/// The first byte that is marked by all its bits.
#[inline]
pub(super) fn first(marks: Block) -> Option<usize> {
    // Four bits are left of each byte.
    // SAFETY: NEON is enabled where this file is compiled.
    let mask = unsafe {
        let narrow = vshrn_n_u16::<4>(vreinterpretq_u16_u8(marks));
        vget_lane_u64::<0>(vreinterpret_u64_u8(narrow))
    };
    (mask != 0).then(|| mask.trailing_zeros() as usize / 4)
}

/// The first byte in which two blocks differ.
#[inline]
pub(super) fn differing(one: &[u8; 16], other: &[u8; 16]) -> Option<usize> {
    // SAFETY: NEON is enabled where this file is compiled.
    first(unsafe { vmvnq_u8(vceqq_u8(load(one), load(other))) })
}

/// The first byte that is special by its halves; blocks of 64, then `rest` for what is left.
#[inline(never)]
pub(super) fn find_long(bytes: &[u8], halves: &Halves, rest: fn(&[u8]) -> usize) -> usize {
    let (lower, upper) = (load(halves), load(&UPPER));
    let special = |block: &[u8; 16]| {
        let block = load(block);
        // SAFETY: NEON is enabled where this file is compiled.
        unsafe {
            let low = vqtbl1q_u8(lower, vandq_u8(block, vdupq_n_u8(0x0F)));
            vtstq_u8(low, vqtbl1q_u8(upper, vshrq_n_u8::<4>(block)))
        }
    };
    let mut at = 0;
    for block in bytes.as_chunks::<64>().0 {
        let &[a, b, c, d] = quarters(block);
        let marks = [special(&a), special(&b), special(&c), special(&d)];
        let any = or(or(marks[0], marks[1]), or(marks[2], marks[3]));
        // SAFETY: NEON is enabled where this file is compiled.
        if unsafe { vmaxvq_u8(any) } != 0 {
            break;
        }
        at += block.len();
    }
    at + rest(&bytes[at..])
}

/// The bit of each upper half, as in [`Halves`].
const UPPER: Halves = [1, 2, 4, 8, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0];

#[inline]
fn quarters(block: &[u8; 64]) -> &[[u8; 16]; 4] {
    match block.as_chunks().0.first_chunk() {
        Some(quarters) => quarters,
        None => unreachable!("64 bytes are four times sixteen"),
    }
}

#[inline]
pub(super) fn each_text(bytes: &[u8], at: usize, next: impl FnMut(usize, usize) -> Option<usize>) {
    portable::each_text_by(bytes, at, find_text_special, next);
}

/// 64 bytes at a time.
#[inline(never)]
pub(super) fn find_far_difference(one: &[u8], other: &[u8]) -> usize {
    let length = one.len().min(other.len());
    let (one, other) = (&one[..length], &other[..length]);
    let mut at = 0;
    let blocks = one
        .as_chunks::<64>()
        .0
        .iter()
        .zip(other.as_chunks::<64>().0);
    for (a, b) in blocks {
        let (a, b) = (quarters(a), quarters(b));
        // SAFETY: NEON is enabled where this file is compiled.
        let least = unsafe {
            let same = |at: usize| vceqq_u8(load(&a[at]), load(&b[at]));
            let (front, back) = (vandq_u8(same(0), same(1)), vandq_u8(same(2), same(3)));
            vminvq_u8(vandq_u8(front, back))
        };
        if least == 0 {
            break;
        }
        at += 64;
    }
    while let (Some(a), Some(b)) = (one[at..].first_chunk(), other[at..].first_chunk()) {
        match differing(a, b) {
            Some(length) => return at + length,
            None => at += a.len(),
        }
    }
    at + portable::find_difference(&one[at..], &other[at..])
}
