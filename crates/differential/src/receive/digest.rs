//! Digests: whether two portions are the same, told by 128 bits each.
//!
//! The usual one is keyed, by a key that is new in each process and never leaves it. Then nobody can look for two texts
//! that have the same digest: whatever two different portions of `n` bytes are chosen, they have it with a probability of
//! less than `n / 2¹²⁰` over the keys.
//!
//! ```text
//! portion   1024 bytes │ 1024 bytes │ rest, filled up with zeros        words m₀ m₁ m₂ …, keys k₀ k₁ k₂ …
//! NH        a₀ b₀        a₁ b₁        a₂ b₂                             a = Σ (m₂ᵢ + k₂ᵢ)(m₂ᵢ₊₁ + k₂ᵢ₊₁) mod 2¹²⁸, b the same
//! digest    a polynomial of all halves of these and of the length,          with keys two words further on
//!           at a secret point, mod 2¹²⁷ - 1
//! ```
//!
//! That is the universal hash of UMAC (Black, Halevi, Krawczyk, Krovetz, Rogaway 1999; RFC 4418) with words of 64 bits: two
//! blocks that differ have the same `a` for one key in 2⁶⁴, and both alike for one in 2¹²⁸; a polynomial of degree `d` has
//! at most `d` roots. It is no signature and no random function, and need not be: nobody outside sees a digest.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Tells portions apart.
pub trait Digest {
    /// 128 bits that are the same for the same text.
    fn digest(&self, text: &[u8]) -> u128;
}

/// Bytes of a block.
const BLOCK: usize = 1024;
/// Words of a key for it, and two more for the second sum.
const KEYS: usize = BLOCK / 8 + 2;
/// 2¹²⁷ - 1, a prime.
const P: u128 = (1 << 127) - 1;

/// A keyed digest.
pub struct Keyed {
    keys: [u64; KEYS],
    /// The secret point and its powers: `powers[i]` is its (i + 1)-th.
    powers: [u128; 4],
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

    /// With a new random key.
    fn random() -> Self {
        // SipHash is a pseudo-random function; its keys come from the operating system.
        let (one, other) = (RandomState::new(), RandomState::new());
        let mut count = 0_u64;
        let mut next = || {
            count += 1;
            one.hash_one(count) ^ other.hash_one(!count)
        };
        let keys = std::array::from_fn(|_| next());
        let point = (u128::from(next()) << 64 | u128::from(next())) & P;
        let mut power = point;
        let powers = std::array::from_fn(|_| {
            let this = power;
            power = multiply(power, point);
            this
        });
        Self { keys, powers }
    }

    /// The two sums of a block, which is a multiple of sixteen bytes long.
    #[inline(always)]
    fn sums(&self, block: &[u8]) -> (u128, u128) {
        let (mut a, mut b) = (0_u128, 0_u128);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        for (pair, keys) in block.chunks_exact(16).zip(self.keys.windows(4).step_by(2)) {
            let (m, n) = (word(&pair[..8]), word(&pair[8..]));
            let product = |k: u64, l: u64| {
                u128::from(m.wrapping_add(k)).wrapping_mul(u128::from(n.wrapping_add(l)))
            };
            a = a.wrapping_add(product(keys[0], keys[1]));
            b = b.wrapping_add(product(keys[2], keys[3]));
        }
        (a, b)
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

impl Digest for Keyed {
    #[inline]
    fn digest(&self, text: &[u8]) -> u128 {
        let mut blocks = text.chunks_exact(BLOCK);
        let mut value = text.len() as u128;
        for block in &mut blocks {
            value = self.absorb(value, self.sums(block));
        }
        let rest = blocks.remainder();
        let (even, odd) = rest.split_at(rest.len() & !15);
        let (mut a, mut b) = self.sums(even);
        if !odd.is_empty() {
            let mut last = [0; 16];
            last[..odd.len()].copy_from_slice(odd);
            let keys = &self.keys[even.len() / 8..];
            let words = u128::from_le_bytes(last);
            let (m, n) = (words as u64, (words >> 64) as u64);
            let product = |k: u64, l: u64| {
                u128::from(m.wrapping_add(k)).wrapping_mul(u128::from(n.wrapping_add(l)))
            };
            a = a.wrapping_add(product(keys[0], keys[1]));
            b = b.wrapping_add(product(keys[2], keys[3]));
        }
        self.absorb(value, (a, b))
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

    #[test]
    fn every_byte_and_the_length_count() {
        let keyed = Keyed::random();
        for length in [1, 15, 16, 17, 31, 512, 1023, 1024, 1025, 3000] {
            let text = vec![b'x'; length];
            let digest = keyed.digest(&text);
            assert_eq!(digest, keyed.digest(&text.clone()));
            assert_ne!(digest, Keyed::random().digest(&text), "another key");
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
}
