//! Sums of carry-less products without special instructions, and the sizes that all sets of instructions share.

/// Bytes of a text that are summed up at most.
pub(super) const MOST: usize = 2048;
/// Words of a text that are summed up at most.
pub(super) const WORDS: usize = MOST / 8;
/// The distance of the second sum's secret words from the first sum's.
pub(super) const APART: usize = 8;
/// How many secret words there are.
pub(super) const SECRET: usize = WORDS + APART;

/// The sums, with plain shifts.
pub(super) fn sums(text: &[u8], words: &[u64; SECRET]) -> [u64; 2] {
    sums_by(text, words, product)
}

/// The sums of these products.
#[inline(always)]
pub(super) fn sums_by(
    text: &[u8],
    words: &[u64; SECRET],
    product: impl Fn(u64, u64) -> u128,
) -> [u64; 2] {
    let (mut a, mut b) = (0, 0);
    let mut padded = [0; WORDS];
    for (word, bytes) in padded.iter_mut().zip(text.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    let length = text.len().div_ceil(64) * 8;
    for (pair, keys) in padded[..length]
        .chunks_exact(2)
        .zip(words.windows(APART + 2).step_by(2))
    {
        a ^= product(pair[0] ^ keys[0], pair[1] ^ keys[1]);
        b ^= product(pair[0] ^ keys[APART], pair[1] ^ keys[APART + 1]);
    }
    [reduce(a), reduce(b)]
}

/// A product of polynomials, by multiplication of integers: with only every fifth bit set, no sum of bits reaches the next
/// such bit.
fn product(one: u64, other: u64) -> u128 {
    const FIFTH: u128 = ((u128::MAX >> 3) / 31) | (1 << 125);
    let part = |value: u64, class: usize| u128::from(value) & FIFTH << class;
    let mut sums = [0; 5];
    for class in 0..25 {
        let (one_class, other_class) = (class / 5, class % 5);
        let product = part(one, one_class) * part(other, other_class);
        sums[(one_class + other_class) % 5] ^= product;
    }
    let masked = sums.iter().enumerate();
    masked.fold(0, |all, (class, sum)| all ^ (sum & FIFTH << class))
}

/// The remainder by x⁶⁴ + x⁴ + x³ + x + 1, which has no factors.
fn reduce(value: u128) -> u64 {
    let (low, high) = (value as u64, (value >> 64) as u64);
    // What goes beyond x⁶³ again when x⁶⁴ is replaced by x⁴ + x³ + x + 1.
    let high = high ^ high >> 63 ^ high >> 61 ^ high >> 60;
    low ^ high ^ high << 1 ^ high << 3 ^ high << 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
            let mixed = (state ^ state >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            mixed ^ mixed >> 29
        }
    }

    #[test]
    fn remainders_are_those_of_long_division() {
        let mut next = random(2);
        for _ in 0..1000 {
            let value = u128::from(next()) << 64 | u128::from(next());
            let mut rest = value;
            for bit in (64..128).rev() {
                if rest >> bit & 1 == 1 {
                    rest ^= 0x1_0000_0000_0000_001B << (bit - 64);
                }
            }
            assert_eq!(reduce(value), rest as u64);
        }
    }

    #[test]
    fn the_modulus_has_no_factors() {
        // x^(2^64) = x, and x^(2^32) - x has no factor in common with it: so all its factors have 64 as their degree.
        let square = |value: u64| reduce(product(value, value));
        let power = |times: usize| (0..times).fold(2, |value, _| square(value));
        assert_eq!(power(64), 2);
        let (mut one, mut other) = (0x1_0000_0000_0000_001B_u128, u128::from(power(32) ^ 2));
        while other != 0 {
            while one != 0 && one.ilog2() >= other.ilog2() {
                one ^= other << (one.ilog2() - other.ilog2());
            }
            (one, other) = (other, one);
        }
        assert_eq!(one, 1);
    }
}
