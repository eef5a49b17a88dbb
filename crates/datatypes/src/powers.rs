//! Powers of ten to 128 bits, worked out when the crate is compiled.
//!
//! 10^q = 5^q · 2^q, and powers of two only move the point: what is kept is 5^q, its first bit moved to the top. That of a
//! negative power never ends; what is kept of it is rounded down.

/// The least power.
pub(crate) const LEAST: i32 = -342;
/// The greatest power.
pub(crate) const GREATEST: i32 = 324;

const COUNT: usize = (GREATEST - LEAST + 1) as usize;
const LIMBS: usize = 16;

/// The first 128 bits of the powers from [`LEAST`] on, rounded down: the upper and the lower word.
pub(crate) static POWERS: [(u64, u64); COUNT] = powers();

const fn powers() -> [(u64, u64); COUNT] {
    let mut all = [(0, 0); COUNT];
    let mut number = [0_u64; LIMBS];
    number[0] = 1;
    let mut power = 0;
    while power <= GREATEST {
        all[(power - LEAST) as usize] = top(&number);
        number = times_five(number);
        power += 1;
    }
    // 2^1023 has more bits than are left when it has been divided by 5^342 and 128 are taken; to divide what has been
    // rounded down by 5 and to round down again is to divide by 25 and to round down.
    number = [0; LIMBS];
    number[LIMBS - 1] = 1 << 63;
    power = -1;
    while power >= LEAST {
        number = fifth(number);
        all[(power - LEAST) as usize] = top(&number);
        power -= 1;
    }
    all
}

const fn times_five(mut number: [u64; LIMBS]) -> [u64; LIMBS] {
    let mut carry = 0;
    let mut at = 0;
    while at < LIMBS {
        let product = number[at] as u128 * 5 + carry;
        number[at] = product as u64;
        carry = product >> 64;
        at += 1;
    }
    number
}

const fn fifth(mut number: [u64; LIMBS]) -> [u64; LIMBS] {
    let mut rest = 0_u128;
    let mut at = LIMBS;
    while at > 0 {
        at -= 1;
        let dividend = (rest << 64) | number[at] as u128;
        number[at] = (dividend / 5) as u64;
        rest = dividend % 5;
    }
    number
}

/// The first 128 bits of a number that is not 0.
const fn top(number: &[u64; LIMBS]) -> (u64, u64) {
    let mut at = LIMBS - 1;
    while number[at] == 0 {
        at -= 1;
    }
    let first = number[at];
    let second = if at >= 1 { number[at - 1] } else { 0 };
    let third = if at >= 2 { number[at - 2] } else { 0 };
    let shift = first.leading_zeros();
    if shift == 0 {
        return (first, second);
    }
    (
        (first << shift) | (second >> (64 - shift)),
        (second << shift) | (third >> (64 - shift)),
    )
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn the_powers_are_those_of_another_arithmetic() {
        for power in LEAST..=GREATEST {
            let five = BigUint::from(5_u8).pow(power.unsigned_abs());
            let number = if power < 0 {
                (BigUint::from(1_u8) << 2000_u32) / five
            } else {
                five << 2000_u32
            };
            let top = &number >> (number.bits() - 128);
            let digits = top.to_u64_digits();
            let (high, low) = POWERS[(power - LEAST) as usize];
            assert_eq!([low, high], digits[..], "5^{power}");
        }
    }
}
