//! Doubles and floats, parsed from 32 bytes without a branch that depends on their digits; see the [overview](super).

use super::classes::{Classes, compute_now};
use super::registers::{Bytes, first_bits, first_eight, nineteen, significand};
use crate::nearest::{Format, nearest};

/// The location of a number's significand in its text.
#[derive(Clone, Copy)]
pub(super) struct Significand {
    /// 1 after a sign, else 0.
    pub(super) start: u32,
    /// Digits before the dot.
    pub(super) whole: u32,
    pub(super) digits: u32,
}

impl Significand {
    /// The digits as numbers, left-aligned, with zeros after them.
    ///
    /// # Safety
    /// The instructions; 34 bytes of the number's text can be read; there are at most 19 digits.
    #[inline(always)]
    pub(super) unsafe fn digits(self, text: *const u8) -> Bytes {
        // SAFETY: the caller guarantees the instructions and 34 readable bytes, and `start` is at most 1 or lies that far before the
        // end; `from` reads 32 of the 64 bytes of `FROM`.
        unsafe {
            let from = |digits: u32| FROM.as_ptr().add(32 - (digits & 31) as usize);
            significand(
                text.add(self.start as usize),
                from(self.whole),
                from(self.digits),
            )
        }
    }
}

/// Loaded from `32 - n`: 32 bytes of which all but the first `n` are set.
static FROM: [u8; 64] = {
    let mut mask = [0; 64];
    let mut at = 32;
    while at < 64 {
        mask[at] = 0xff;
        at += 1;
    }
    mask
};

/// A number split into its parts: only the nearest double or float is still to be found.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// The digits, or the bits of the result if `power` is [`CONVERTED`].
    digits: u64,
    /// The power of ten to multiply by, or [`CONVERTED`].
    power: i32,
    /// The sign bit, in its position.
    sign: u64,
}

/// In place of a power: the number is converted already.
const CONVERTED: i32 = i32::MAX;

impl Parts {
    /// The bits of the number, unless the slow path must decide how to round.
    #[inline(always)]
    pub(super) fn slot<N: Format>(self) -> Option<u64> {
        let bits = match self.power {
            CONVERTED => self.digits,
            power => nearest::<N>(self.digits, power)?,
        };
        Some(bits | self.sign)
    }
}

/// The bits of the number in `text[..length]`; `None` if it is not a number or the slow path must decide.
///
/// # Safety
/// As [`parts`].
#[inline(always)]
pub(super) unsafe fn real<N: Format>(
    text: *const u8,
    classes: &Classes,
    length: u32,
) -> Option<u64> {
    // SAFETY: the caller guarantees what `parts` needs.
    unsafe { parts::<N>(text, classes, length)?.slot::<N>() }
}

/// Splits the number in `text[..length]`; `None` if it is not a number or has too many digits.
///
/// # Safety
/// The instructions; `length` is below 32; from 8 bytes before the end of the number on, and 34 from its start, all bytes can be
/// read.
#[inline(always)]
pub(super) unsafe fn parts<N: Format>(
    text: *const u8,
    classes: &Classes,
    length: u32,
) -> Option<Parts> {
    // SAFETY: the caller guarantees 8 bytes before the end of the text and 34 from its start; where `TENS` is read there
    // are at most 8 digits, so `whole` is at most 8.
    unsafe {
        let negative = u32::from(*text == b'-');
        // Everything but digits and the leading sign: a dot, and the `e` and sign of an exponent.
        let others = first_bits(classes.others, length) & !negative;
        let dot = (others | 1 << length).trailing_zeros();
        let has_dot = u32::from(classes.dots & (others & others.wrapping_neg()) != 0);
        let (mut end, mut exponent) = (length, 0);
        let marks = others.count_ones();
        if compute_now(marks.into()) > 1 || marks != has_dot {
            let exponents = first_bits(classes.exponents(), length);
            let signed;
            end = exponents.trailing_zeros();
            (exponent, signed) = exponent_of(text, end, length)?;
            if others.count_ones() != has_dot + 1 + signed {
                return None;
            }
        }
        let mut whole = dot.min(end).wrapping_sub(negative) as i32;
        let mut place = Significand {
            start: negative,
            whole: whole as u32,
            digits: end.wrapping_sub(negative + has_dot),
        };
        if place.digits.wrapping_sub(1) >= 19 {
            (whole, place) = without_zeros(text, place)?;
        }
        let sign = u64::from(negative) << N::SIGN;
        let digits = place.digits(text);
        if N::DIVIDES && end == length && place.digits <= 8 {
            // Dividend and divisor are exact, so the quotient is rounded only once.
            let number = f64::from(first_eight(digits) as i32);
            let divisor = TENS.get_unchecked((8 - place.whole) as usize);
            return Some(Parts {
                digits: compute_now((number / divisor).to_bits()),
                power: CONVERTED,
                sign,
            });
        }
        Some(Parts {
            digits: compute_now(nineteen(digits)),
            power: whole - 19 + exponent,
            sign,
        })
    }
}

/// Skips the leading zeros of `0.000123…` with more than nineteen digits. Returns the number of digits before the dot
/// (negative after zeros) and the location of the other digits.
///
/// # Safety
/// 16 bytes after the dot can be read.
#[inline(always)]
unsafe fn without_zeros(text: *const u8, place: Significand) -> Option<(i32, Significand)> {
    // SAFETY: the caller guarantees 16 bytes after the dot, which is at `start + 1` where a word is read.
    unsafe {
        if place.whole != 1 || *text.add(place.start as usize) != b'0' {
            return None;
        }
        let dot = place.start + 1;
        let word = text.add(dot as usize + 1).cast::<u64>().read_unaligned();
        let zeros = (word ^ 0x3030_3030_3030_3030).trailing_zeros() / 8;
        let digits = place.digits.wrapping_sub(1 + zeros);
        let place = Significand {
            start: dot + 1 + zeros,
            whole: digits,
            digits,
        };
        (digits.wrapping_sub(1) < 19).then_some((-(zeros as i32), place))
    }
}

static TENS: [f64; 9] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// The value of the exponent after the `e` at `at`, up to `length`, and 1 if it has a sign. The caller checks that the other
/// bytes are digits.
///
/// # Safety
/// All bytes from 8 before `length` on can be read; `at` is at most 32.
#[inline(always)]
unsafe fn exponent_of(text: *const u8, at: u32, length: u32) -> Option<(i32, u32)> {
    // SAFETY: the caller guarantees 8 bytes before `length`, and 34 from the start; the byte at `at + 1` may be one of
    // the two after the number.
    unsafe {
        let sign = *text.add(at as usize + 1);
        let negative = u32::from(sign == b'-');
        let signed = negative | u32::from(sign == b'+');
        let digits = length.wrapping_sub(at + 1 + signed);
        if digits.wrapping_sub(1) >= 3 {
            return None;
        }
        // The last three bytes, the first of them lowest; bytes before the digits become zeros.
        let word = text
            .add(length as usize)
            .sub(4)
            .cast::<u32>()
            .read_unaligned()
            >> 8;
        let word = word & (0x0f_0f_0f << (8 * (3 - digits)));
        let value = (word & 0xff) * 100 + ((word >> 8) & 0xff) * 10 + (word >> 16);
        let value = (value as i32 ^ -(negative as i32)) + negative as i32;
        Some((value, signed))
    }
}
