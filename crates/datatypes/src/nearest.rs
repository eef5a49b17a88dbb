//! From digits to the nearest number: the algorithm of Eisel and Lemire.
//!
//! `w · 10^q` with 64 bits of `w` and 128 bits of the power is known to 128 bits and more, which decides how to round in all
//! cases except a number exactly halfway between two, and a few that cannot be distinguished from it here. (D. Lemire, "Number
//! parsing at a gigabyte per second"; N. Mushtak and D. Lemire, "Fast number parsing without fallback", proves that the
//! 128 bits suffice.) Both products are always made: a branch on whether the second is needed costs more than it.

use crate::powers::{LEAST, POWERS};

/// A binary format.
pub(crate) trait Format {
    /// Bits of the fraction.
    const FRACTION: u32;
    /// The exponent field of 1.0.
    const BIAS: i32;
    /// The exponent field of infinity.
    const INFINITE: i32;
    /// Whether digits up to 10^8 and powers of ten up to 10^8 are exact, and their quotient is rounded once.
    const DIVIDES: bool;
    /// The place of the sign.
    const SIGN: u32;
}

/// `xs:double`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Double;

impl Format for Double {
    const FRACTION: u32 = 52;
    const BIAS: i32 = 1023;
    const INFINITE: i32 = 0x7ff;
    const DIVIDES: bool = true;
    const SIGN: u32 = 63;
}

/// `xs:float`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Float;

impl Format for Float {
    const FRACTION: u32 = 23;
    const BIAS: i32 = 127;
    const INFINITE: i32 = 0xff;
    const DIVIDES: bool = false;
    const SIGN: u32 = 31;
}

/// The powers as this algorithm wants them: the reciprocals that are exact in their 128 bits but for the rounding, rounded
/// up.
pub(crate) static ROUNDED: [[u64; 2]; COUNT] = rounded();

const COUNT: usize = (MOST - LEAST + 1) as usize;
/// The greatest power of ten that a finite number may have to be multiplied by.
const MOST: i32 = 308;
/// 5^27 is the greatest power of five in 64 bits.
const EXACT: i32 = -27;

const fn rounded() -> [[u64; 2]; COUNT] {
    let mut all = [[0, 0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        let power = LEAST + at as i32;
        let (high, low) = POWERS[at];
        all[at] = if power < 0 && power >= EXACT {
            let (low, carries) = low.overflowing_add(1);
            [high + carries as u64, low]
        } else {
            [high, low]
        };
        at += 1;
    }
    all
}

/// The bits of the number nearest to `w · 10^q`. `None` for zero, for what is subnormal or too large, and for what may lie
/// halfway between two numbers.
#[inline(always)]
pub(crate) fn nearest<F: Format>(w: u64, q: i32) -> Option<u64> {
    let &[high, low] = ROUNDED.get(q.wrapping_sub(LEAST) as u32 as usize)?;
    if w == 0 {
        return None;
    }
    let zeros = w.leading_zeros();
    let w = w << zeros;
    let product = u128::from(w) * u128::from(high) + ((u128::from(w) * u128::from(low)) >> 64);
    let (upper, lower) = ((product >> 64) as u64, product as u64);
    let first = upper >> 63;
    // The significand and one bit more.
    let shift = first + u64::from(61 - F::FRACTION);
    let significand = upper >> shift;
    // The binary exponent of 5^q · 2^q.
    let power = (q.wrapping_mul(217_706) >> 16) + 63;
    let exponent = power + first as i32 - zeros as i32 + F::BIAS;
    if exponent.wrapping_sub(1) as u32 >= (F::INFINITE - 1) as u32 {
        return None;
    }
    if (lower <= 1) & (significand & 3 == 1) & (significand << shift == upper) {
        return None;
    }
    let rounded = (significand + (significand & 1)) >> 1;
    // The first bit of the significand adds one to the exponent, and so does a carry out of it, even to infinity.
    Some(((exponent as u64 - 1) << F::FRACTION) + rounded)
}
