//! Registers of 32 bytes: two of NEON.

use std::arch::aarch64::{
    uint8x16_t, uint8x16x2_t, uint32x4_t, vandq_u8, vbicq_u8, vbslq_u8, vceqq_u8, vcltq_s8,
    vcltq_u8, vdupq_n_s8, vdupq_n_u8, veorq_u8, vget_low_u8, vget_low_u16, vgetq_lane_u32,
    vgetq_lane_u64, vld1q_u8, vld1q_u8_x2, vld1q_u16, vld1q_u32, vmaxvq_u8, vmull_high_u8,
    vmull_high_u16, vmull_p64, vmull_u8, vmull_u16, vmulq_u32, vorrq_u8, vpaddq_u8, vpaddq_u16,
    vpaddq_u32, vqsubq_u8, vreinterpretq_s8_u8, vreinterpretq_u32_u8, vreinterpretq_u64_u32,
    vst1q_u8_x2, vsubq_u8,
};

use super::super::products::{SECRET, sums_by};
use crate::datetime::is_plain_date_time;

/// 32 bytes.
pub(super) type Bytes = uint8x16x2_t;
/// Half of them.
pub(super) type Half = uint8x16_t;

/// # Safety
/// NEON; 32 bytes can be read.
#[inline(always)]
pub(super) unsafe fn load(bytes: *const u8) -> Bytes {
    // SAFETY: the caller guarantees NEON and that 32 bytes can be read.
    unsafe { vld1q_u8_x2(bytes) }
}

/// # Safety
/// NEON; 32 bytes can be written.
#[inline(always)]
pub(super) unsafe fn store(bytes: Bytes, to: *mut u8) {
    // SAFETY: the caller guarantees NEON and that 32 bytes can be written.
    unsafe { vst1q_u8_x2(to, bytes) }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn zero() -> Bytes {
    uint8x16x2_t(vdupq_n_u8(0), vdupq_n_u8(0))
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn or(one: Bytes, other: Bytes) -> Bytes {
    uint8x16x2_t(vorrq_u8(one.0, other.0), vorrq_u8(one.1, other.1))
}

/// The bits of both, those of `half` in the first 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn or_half(bytes: Bytes, half: Half) -> Bytes {
    uint8x16x2_t(vorrq_u8(bytes.0, half), bytes.1)
}

/// The bytes equal to `byte`.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn equal(bytes: Bytes, byte: u8) -> Bytes {
    let byte = vdupq_n_u8(byte);
    same(bytes, uint8x16x2_t(byte, byte))
}

/// The bytes equal to those of the other register.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn same(one: Bytes, other: Bytes) -> Bytes {
    uint8x16x2_t(vceqq_u8(one.0, other.0), vceqq_u8(one.1, other.1))
}

/// The bytes that are digits.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn digits(bytes: Bytes) -> Bytes {
    let (zero, ten) = (vdupq_n_u8(b'0'), vdupq_n_u8(10));
    uint8x16x2_t(
        vcltq_u8(vsubq_u8(bytes.0, zero), ten),
        vcltq_u8(vsubq_u8(bytes.1, zero), ten),
    )
}

/// The bytes that are `e` or `E`.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn exponents(bytes: Bytes) -> Bytes {
    let bit = vdupq_n_u8(0x20);
    equal(or(bytes, uint8x16x2_t(bit, bit)), b'e')
}

/// The bytes that are control characters or not ASCII.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn outside(bytes: Bytes) -> Bytes {
    // The compare is signed: bytes from 0x80 on are below a space, too.
    let space = vdupq_n_s8(0x20);
    uint8x16x2_t(
        vcltq_s8(vreinterpretq_s8_u8(bytes.0), space),
        vcltq_s8(vreinterpretq_s8_u8(bytes.1), space),
    )
}

/// One bit per byte of a comparison's result.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn mask(bytes: Bytes) -> u32 {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: `BITS` has 16 bytes.
    let bits = unsafe { vld1q_u8(BITS.as_ptr()) };
    // Neighbours are added until there is a byte for each eight.
    let pairs = vpaddq_u8(vandq_u8(bytes.0, bits), vandq_u8(bytes.1, bits));
    let fours = vpaddq_u8(pairs, pairs);
    vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vpaddq_u8(fours, fours)))
}

/// The bits of `mask` in which the others differ.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn difference(one: Bytes, other: Bytes, mask: Bytes) -> Bytes {
    uint8x16x2_t(
        vandq_u8(veorq_u8(one.0, other.0), mask.0),
        vandq_u8(veorq_u8(one.1, other.1), mask.1),
    )
}

/// Whether they differ in no bit of `mask`.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn agree(one: Bytes, other: Bytes, mask: Bytes) -> bool {
    is_zero(difference(one, other, mask))
}

/// Whether no bit is set.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn is_zero(bits: Bytes) -> bool {
    is_half_zero(vorrq_u8(bits.0, bits.1))
}

/// Whether no bit is set.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn is_half_zero(bits: Half) -> bool {
    vmaxvq_u8(bits) == 0
}

/// The bits of both.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn or_halves(one: Half, other: Half) -> Half {
    vorrq_u8(one, other)
}

/// The first `count` bits of a mask, the lowest first.
#[inline]
pub(super) fn first_bits(mask: u32, count: u32) -> u32 {
    mask & !u32::MAX.checked_shl(count).unwrap_or(0)
}

/// The first `count` bits of a wide mask, the lowest first.
#[inline]
pub(super) fn first_bits_of_64(mask: u64, count: u32) -> u64 {
    mask & !u64::MAX.checked_shl(count).unwrap_or(0)
}

/// The digits of a significand as numbers: those at `text`, but where `behind` is set, those one byte further on, so that they
/// move over the dot. Zeros where `beyond` is set.
///
/// # Safety
/// NEON; 33 bytes of text and 32 of each mask can be read.
#[inline(always)]
pub(super) unsafe fn significand(text: *const u8, behind: *const u8, beyond: *const u8) -> Bytes {
    // SAFETY: the caller guarantees NEON and the bytes.
    unsafe {
        let (before, after) = (load(text), load(text.add(1)));
        let (behind, beyond) = (load(behind), load(beyond));
        let digit = vdupq_n_u8(0x0f);
        uint8x16x2_t(
            vbicq_u8(
                vandq_u8(vbslq_u8(behind.0, after.0, before.0), digit),
                beyond.0,
            ),
            vbicq_u8(
                vandq_u8(vbslq_u8(behind.1, after.1, before.1), digit),
                beyond.1,
            ),
        )
    }
}

/// The value of the first eight digits.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn first_eight(digits: Bytes) -> u32 {
    vgetq_lane_u32::<0>(sixteen(digits.0))
}

/// The value of the first nineteen digits.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn nineteen(digits: Bytes) -> u64 {
    let three = vgetq_lane_u32::<0>(vreinterpretq_u32_u8(digits.1));
    let three = (three & 0xff) * 100 + (three >> 8 & 0xff) * 10 + (three >> 16 & 0xff);
    whole(digits.0) * 1000 + u64::from(three)
}

/// The 16 bytes before `end` as digits where `mask` is set, else zeros, and a register that is not zero if other bytes are among
/// them.
///
/// # Safety
/// NEON; 16 bytes before `end` and of the mask can be read.
#[inline(always)]
pub(super) unsafe fn last_digits(end: *const u8, mask: *const u8) -> (Half, Half) {
    // SAFETY: the caller guarantees NEON and the bytes.
    unsafe {
        let digits = vsubq_u8(vld1q_u8(end.sub(16)), vdupq_n_u8(b'0'));
        let digits = vandq_u8(digits, vld1q_u8(mask));
        (digits, vqsubq_u8(digits, vdupq_n_u8(9)))
    }
}

/// The values of two groups of eight digits, in the lower two words. (No sum of other bytes overflows before the last.)
#[inline]
#[target_feature(enable = "neon")]
fn sixteen(digits: Half) -> uint32x4_t {
    const TENS: [u8; 16] = [10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1];
    const HUNDREDS: [u16; 8] = [100, 1, 100, 1, 100, 1, 100, 1];
    const TEN_THOUSANDS: [u32; 4] = [10_000, 1, 10_000, 1];
    // SAFETY: each of them has 16 bytes.
    let (tens, hundreds, ten_thousands) = unsafe {
        (
            vld1q_u8(TENS.as_ptr()),
            vld1q_u16(HUNDREDS.as_ptr()),
            vld1q_u32(TEN_THOUSANDS.as_ptr()),
        )
    };
    let (low, high) = (
        vmull_u8(vget_low_u8(digits), vget_low_u8(tens)),
        vmull_high_u8(digits, tens),
    );
    let pairs = vpaddq_u16(low, high);
    let (low, high) = (
        vmull_u16(vget_low_u16(pairs), vget_low_u16(hundreds)),
        vmull_high_u16(pairs, hundreds),
    );
    let fours = vmulq_u32(vpaddq_u32(low, high), ten_thousands);
    vpaddq_u32(fours, fours)
}

/// The value of sixteen digits; any value if other bytes are among them.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn whole(digits: Half) -> u64 {
    let eights = vgetq_lane_u64::<0>(vreinterpretq_u64_u32(sixteen(digits)));
    (eights & 0xffff_ffff) * 100_000_000 + (eights >> 32)
}

/// Whether the first 19 bytes are those of a `dateTime`, as [`is_plain_date_time`] has it.
///
/// # Safety
/// 19 bytes can be read.
#[inline]
pub(super) unsafe fn date_time(text: *const u8) -> bool {
    // SAFETY: the caller guarantees 19 bytes.
    is_plain_date_time(unsafe { std::slice::from_raw_parts(text, 19) })
}

/// Both sums of [`super::super::Carryless`].
#[target_feature(enable = "neon,aes")]
pub(super) fn sums(text: &[u8], secret: &[u64; SECRET]) -> [u64; 2] {
    sums_by(text, secret, |one, other| vmull_p64(one, other))
}
