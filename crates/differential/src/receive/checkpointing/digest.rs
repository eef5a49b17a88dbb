//! Digests: two portions are compared by 128 bits each.
//!
//! The usual one is keyed, by a key that is new in each process and never leaves it. Then nobody can look for two texts
//! that have the same digest: whatever two different portions of `n` bytes are chosen, they have it with a probability of
//! less than `n / 2¹²⁰` over the keys.
//!
//! ```text
//! portion   block │ block │ rest, filled up with zeros
//! sums      a  b    a  b    a  b                                        of products of words with secret ones: two of 64 bits
//! digest    (a, b) + length, if there is one block;
//!           else a polynomial of all sums and of the length at a secret point, mod 2¹²⁷ - 1
//! ```
//!
//! The sums are those of [`Carryless`], if this machine is quick with these: two blocks of the same length that differ have
//! the same for one key in 2¹²⁸. Otherwise they are sums of products of integers, of 128 bits each:
//!
//! ```text
//! words m₀ m₁ m₂ …, keys k₀ k₁ k₂ …     a = Σ (m₂ᵢ + k₂ᵢ)(m₂ᵢ₊₁ + k₂ᵢ₊₁) mod 2¹²⁸, b the same with keys two words further on
//! ```
//!
//! That is the universal hash of UMAC (Black, Halevi, Krawczyk, Krovetz, Rogaway 1999; RFC 4418) with words of 64 bits: two
//! blocks that differ have the same `a` for one key in 2⁶⁴, and both for one in 2¹²⁸. A polynomial of degree `d` has
//! at most `d` roots. It is no signature and no random function, and need not be: nobody outside sees a digest.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use bsoap_datatypes::kernel::Carryless;

/// Distinguishes portions.
pub trait Digest {
    /// 128 bits that are the same for the same text.
    fn digest(&self, text: &[u8]) -> u128;
}

/// Bytes of a block of integers.
const BLOCK: usize = 1024;
/// Words of a key for it, and two more for the second sum.
const KEYS: usize = BLOCK / 8 + 2;
/// 2¹²⁷ - 1, a prime.
const P: u128 = (1 << 127) - 1;

/// A keyed digest.
pub struct Keyed {
    sums: Sums,
    /// The secret point and its powers: `powers[i]` is its (i + 1)-th.
    powers: [u128; 4],
}

/// What blocks are summed up with.
enum Sums {
    Carryless(Carryless),
    Integers(Box<[u64; KEYS]>),
}

impl std::fmt::Debug for Keyed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyed(…)")
    }
}

impl Keyed {
    /// That of this process.
    pub fn of_process() -> &'static Self {
        static KEYED: OnceLock<Keyed> = OnceLock::new();
        KEYED.get_or_init(Self::random)
    }

    /// What blocks are summed up with, if that is as fast as to read them.
    pub(crate) fn wide(&self) -> Option<&Carryless> {
        match &self.sums {
            Sums::Carryless(sums) if sums.is_wide() => Some(sums),
            _ => None,
        }
    }

    /// With a new random key.
    fn random() -> Self {
        // SipHash is a pseudo-random function; its keys come from the operating system.
        let (one, other) = (RandomState::new(), RandomState::new());
        let mut count = 0_u64;
        let mut next = || {
            count += 1;
            one.hash_one(count) ^ other.hash_one(!count)
        };
        let sums = match Carryless::new(std::array::from_fn(|_| next())) {
            Some(sums) => Sums::Carryless(sums),
            None => Sums::Integers(Box::new(std::array::from_fn(|_| next()))),
        };
        let point = (u128::from(next()) << 64 | u128::from(next())) & P;
        let mut power = point;
        let powers = std::array::from_fn(|_| {
            let this = power;
            power = multiply(power, point);
            this
        });
        Self { sums, powers }
    }

    #[inline]
    fn with_carryless(&self, text: &[u8], sums: &Carryless) -> u128 {
        let length = text.len() as u128;
        if text.len() <= Carryless::MOST {
            let [a, b] = sums.sums(text);
            return (u128::from(b) << 64 | u128::from(a)) ^ length;
        }
        let [r, r2, ..] = self.powers;
        let absorb = |value, block| {
            let [a, b] = sums.sums(block).map(u128::from);
            add(add(multiply(value, r2), multiply(a, r)), b)
        };
        text.chunks(Carryless::MOST).fold(length, absorb)
    }

    fn with_integers(&self, text: &[u8], keys: &[u64; KEYS]) -> u128 {
        let mut blocks = text.chunks_exact(BLOCK);
        let mut value = text.len() as u128;
        for block in &mut blocks {
            value = self.absorb(value, sums(block, keys));
        }
        let rest = blocks.remainder();
        let (even, odd) = rest.split_at(rest.len() & !15);
        let (a, b) = sums(even, keys);
        let mut last = [0; 16];
        last[..odd.len()].copy_from_slice(odd);
        let (c, d) = match odd {
            [] => (0, 0),
            _ => sums(&last, &keys[even.len() / 8..]),
        };
        self.absorb(value, (a.wrapping_add(c), b.wrapping_add(d)))
    }

    /// The polynomial with four more coefficients.
    #[inline(always)]
    fn absorb(&self, value: u128, (a, b): (u128, u128)) -> u128 {
        let [r, r2, r3, r4] = self.powers;
        let sum = [
            multiply(value, r4),
            multiply(a >> 64, r3),
            multiply(a & HALF, r2),
            multiply(b >> 64, r),
        ];
        sum.into_iter().fold(b & HALF, add)
    }
}

const HALF: u128 = u64::MAX as u128;

/// The two sums of a block, which is a multiple of sixteen bytes long.
#[inline(always)]
fn sums(block: &[u8], keys: &[u64]) -> (u128, u128) {
    let (mut a, mut b) = (0_u128, 0_u128);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    for (pair, keys) in block.chunks_exact(16).zip(keys.windows(4).step_by(2)) {
        let (m, n) = (word(&pair[..8]), word(&pair[8..]));
        let product =
            |k: u64, l: u64| u128::from(m.wrapping_add(k)) * u128::from(n.wrapping_add(l));
        a = a.wrapping_add(product(keys[0], keys[1]));
        b = b.wrapping_add(product(keys[2], keys[3]));
    }
    (a, b)
}

impl Digest for Keyed {
    #[inline]
    fn digest(&self, text: &[u8]) -> u128 {
        match &self.sums {
            Sums::Carryless(sums) => self.with_carryless(text, sums),
            Sums::Integers(keys) => self.with_integers(text, keys),
        }
    }
}

/// A sum mod P of numbers of at most 2¹²⁷.
#[inline(always)]
fn add(one: u128, other: u128) -> u128 {
    let sum = one + other;
    reduce(sum & P, sum >> 127)
}

#[inline(always)]
fn reduce(low: u128, high: u128) -> u128 {
    let sum = low + high;
    if sum >= P { sum - P } else { sum }
}

/// A product mod P of numbers below 2¹²⁷.
#[inline(always)]
fn multiply(one: u128, other: u128) -> u128 {
    let (a, b) = (one >> 64, one & HALF);
    let (c, d) = (other >> 64, other & HALF);
    let low = b * d;
    // Below 2¹²⁸: a and c are below 2⁶³.
    let middle = a * d + b * c;
    let (low, carry) = low.overflowing_add(middle << 64);
    let high = a * c + (middle >> 64) + u128::from(carry);
    // 2¹²⁷ is 1: the product is high · 2¹²⁸ + low.
    reduce(low & P, (high << 1) | (low >> 127))
}

/// CRC-32, as the papers use. Anyone can make two texts that have the same: for reproducing their figures, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Crc32ForReproduction;

impl Digest for Crc32ForReproduction {
    fn digest(&self, text: &[u8]) -> u128 {
        u128::from(crc32fast::hash(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slowly, by doubling.
    fn product(one: u128, mut other: u128) -> u128 {
        let (mut sum, mut power) = (0, one % P);
        while other > 0 {
            if other & 1 == 1 {
                sum = (sum + power) % P;
            }
            power = (power * 2) % P;
            other >>= 1;
        }
        sum
    }

    #[test]
    fn products_are_those_mod_the_prime() {
        let mut value = 0x1234_5678_9abc_def0_u128;
        let some = [0, 1, 2, HALF, HALF + 1, P - 1, P - 2, 1 << 126];
        for one in some {
            for other in some {
                assert_eq!(multiply(one, other), product(one, other), "{one} {other}");
            }
        }
        for _ in 0..200 {
            let other = value.rotate_left(61) & (P - 1);
            assert_eq!(
                multiply(value & (P - 1), other),
                product(value & (P - 1), other)
            );
            value = value.wrapping_mul(0xd1342543de82ef95_d1342543de82ef95) + 1;
        }
    }

    fn with_integers() -> Keyed {
        let mut keyed = Keyed::random();
        let mut word = keyed.powers[0] as u64;
        keyed.sums = Sums::Integers(Box::new(std::array::from_fn(|_| {
            word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            word ^ word >> 29
        })));
        keyed
    }

    fn every_byte_and_the_length_count(new: fn() -> Keyed) {
        let keyed = new();
        let most = Carryless::MOST;
        for length in [
            1,
            15,
            16,
            17,
            31,
            64,
            512,
            1023,
            1024,
            1025,
            most,
            most + 1,
            5000,
        ] {
            let text = vec![b'x'; length];
            let digest = keyed.digest(&text);
            assert_eq!(digest, keyed.digest(&text.clone()));
            assert_ne!(digest, new().digest(&text), "another key");
            for at in 0..length {
                let mut other = text.clone();
                other[at] ^= 1;
                assert_ne!(digest, keyed.digest(&other), "{length} {at}");
            }
            let mut longer = text.clone();
            longer.push(0);
            assert_ne!(digest, keyed.digest(&longer));
        }
        assert_ne!(keyed.digest(b""), keyed.digest(b"\0"));
    }

    #[test]
    fn every_byte_and_the_length_count_in_a_digest() {
        every_byte_and_the_length_count(Keyed::random);
    }

    #[test]
    fn every_byte_and_the_length_count_in_a_digest_with_integers() {
        every_byte_and_the_length_count(with_integers);
    }
}
