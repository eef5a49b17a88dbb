//! Digests of 128 bits, by which two portions are compared.
//!
//! The usual digest depends on a key that is chosen when the process starts and never leaves it, so nobody can search for two
//! texts with the same digest. Two different portions of `n` bytes have the same digest with a probability of less than `n /
//! 2¹²⁰` over the keys.
//!
//! ```text
//! portion   block │ block │ rest, filled up with zeros
//! sums      a  b    a  b    a  b                                        of products of words with secret ones: two of 64 bits
//! digest    (a, b) + length, if there is one block;
//!           else a polynomial of all sums and of the length at a secret point, mod 2¹²⁷ - 1
//! ```
//!
//! The sums are those of [`Carryless`]: two blocks of the same length that differ have the same for one key in 2¹²⁸. A
//! polynomial of degree `d` has at most `d` roots. The digest is no signature and no random function, and need not be:
//! nobody outside sees a digest. `docs/design/checkpointing.md` has the proof.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use bsoap_datatypes::kernel::Carryless;

/// A digest by which portions of a text are compared.
pub trait Digest {
    /// The digest of a text; equal for equal texts.
    fn digest(&self, text: &[u8]) -> u128;
}

/// 2¹²⁷ - 1, a prime.
const P: u128 = (1 << 127) - 1;

/// The digest by which portions are compared: it depends on a secret key.
pub struct Keyed {
    sums: Carryless,
    /// The secret point and its square.
    powers: [u128; 2],
}

impl std::fmt::Debug for Keyed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyed(…)")
    }
}

impl Keyed {
    /// The digest with the key of this process.
    pub fn of_process() -> &'static Self {
        static KEYED: OnceLock<Keyed> = OnceLock::new();
        KEYED.get_or_init(Self::random)
    }

    /// The sums of blocks, if this machine adds up a text as fast as it reads it; else `None`.
    pub(crate) fn wide(&self) -> Option<&Carryless> {
        Some(&self.sums).filter(|sums| sums.is_wide())
    }

    /// A digest with a new random key.
    fn random() -> Self {
        // SipHash is a pseudo-random function; its keys come from the operating system.
        let (one, other) = (RandomState::new(), RandomState::new());
        let mut count = 0_u64;
        let mut next = || {
            count += 1;
            one.hash_one(count) ^ other.hash_one(!count)
        };
        let sums = Carryless::new(std::array::from_fn(|_| next()));
        let point = (u128::from(next()) << 64 | u128::from(next())) & P;
        let powers = [point, multiply(point, point)];
        Self { sums, powers }
    }
}

impl Digest for Keyed {
    #[inline]
    fn digest(&self, text: &[u8]) -> u128 {
        let length = text.len() as u128;
        if text.len() <= Carryless::MOST {
            let [a, b] = self.sums.sums(text);
            return (u128::from(b) << 64 | u128::from(a)) ^ length;
        }
        let [point, square] = self.powers;
        let absorb = |value, block| {
            let [a, b] = self.sums.sums(block).map(u128::from);
            add(add(multiply(value, square), multiply(a, point)), b)
        };
        text.chunks(Carryless::MOST).fold(length, absorb)
    }
}

/// A sum mod P of numbers of at most 2¹²⁷.
#[inline(always)]
fn add(one: u128, other: u128) -> u128 {
    let sum = one + other;
    reduce(sum & P, sum >> 127)
}

/// The sum of the lower 127 bits of a number and the rest, mod P.
#[inline(always)]
fn reduce(low: u128, high: u128) -> u128 {
    let sum = low + high;
    if sum >= P { sum - P } else { sum }
}

/// The lower half of a number.
const HALF: u128 = u64::MAX as u128;

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

/// CRC-32, as in the papers. Anyone can construct two texts with the same CRC-32. Only for reproducing the papers' figures.
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
    fn every_byte_and_the_length_count_in_a_digest() {
        let keyed = Keyed::random();
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
