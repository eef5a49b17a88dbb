//! Sums of products of a text's words, as polynomials over GF(2), with secret words: the inner loop of a keyed digest.
//!
//! ```text
//! words of the text   m₀ m₁   m₂ m₃   m₄ m₅   …         filled up with zeros to a multiple of eight
//! secret words        k₀ k₁   k₂ k₃   k₄ k₅   …
//! first sum           Σ (m₂ᵢ + k₂ᵢ)(m₂ᵢ₊₁ + k₂ᵢ₊₁)       in the field of 2⁶⁴ elements: + is XOR
//! second sum          Σ (m₂ᵢ + k₂ᵢ₊₈)(m₂ᵢ₊₁ + k₂ᵢ₊₉)     the same, eight secret words further on: as many as are multiplied at a time
//! ```
//!
//! Whatever two texts of the same length are chosen, and whatever two differences: the first sums of both have the first
//! difference for one of 2⁶⁴ keys, as the secret words that a changed word is multiplied with are as good as any; and so
//! have the second sums, whose last secret words of a change are not in the first. So both have for one of 2¹²⁸.
//! If the texts are of different lengths, it is one of 2¹²⁶ at most.
//!
//! x86-64 has had an instruction for such products since 2010, and does four at a time since 2019; aarch64 has one, too. Elsewhere a product takes about
//! eighty ordinary operations.

use super::products::{self, WORDS};

/// The secret words, each eight of them in one line of the cache.
#[derive(Clone)]
#[repr(align(64))]
struct Words([u64; Carryless::SECRET]);

/// Secret words, and the best set of instructions that this machine has for such products.
///
/// ```
/// use bsoap_datatypes::kernel::Carryless;
///
/// let words = std::array::from_fn(|at| !(at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)); // of a random source
/// let secret = Carryless::new(words);
/// assert_ne!(secret.sums(b"one text"), secret.sums(b"another"));
/// assert_eq!(secret.sums(b"one text"), Carryless::portable(words).sums(b"one text"));
/// ```
#[derive(Clone)]
pub struct Carryless {
    words: Box<Words>,
    level: Level,
}

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Rust that runs anywhere, slowly.
    Portable,
    /// PCLMULQDQ or PMULL: one product at a time.
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    One,
    /// AVX-512 and VPCLMULQDQ: four.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Four,
}

impl std::fmt::Debug for Carryless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Carryless({:?}, …)", self.level)
    }
}

impl Carryless {
    /// Bytes of a text that are summed up at most.
    pub const MOST: usize = products::MOST;
    /// How many secret words there are.
    pub const SECRET: usize = products::SECRET;

    /// Sums with these secret words, by the best instructions that this machine has.
    pub fn new(words: [u64; Self::SECRET]) -> Self {
        Self {
            words: Box::new(Words(words)),
            level: Self::levels().next_back().unwrap_or(Level::Portable),
        }
    }

    /// Whether sums take no longer than to read a text from memory: four products are done at a time.
    pub fn is_wide(&self) -> bool {
        match self.level {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Four => true,
            _ => false,
        }
    }

    /// The same without special instructions.
    pub fn portable(words: [u64; Self::SECRET]) -> Self {
        Self {
            words: Box::new(Words(words)),
            level: Level::Portable,
        }
    }

    /// What this machine has, the best last.
    fn levels() -> impl DoubleEndedIterator<Item = Level> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        let levels = [
            super::x86::has_carryless().then_some(Level::One),
            super::x86::has_wide_carryless().then_some(Level::Four),
        ];
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        let levels = [super::wide::has_carryless().then_some(Level::One)];
        #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
        let levels: [Option<Level>; 0] = [];
        levels.into_iter().flatten()
    }

    /// Both sums of a text of [`MOST`](Self::MOST) bytes at most: of a longer one, of those.
    #[inline]
    pub fn sums(&self, text: &[u8]) -> [u64; 2] {
        let text = text.get(..Self::MOST).unwrap_or(text);
        match self.level {
            Level::Portable => products::sums(text, &self.words.0),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::One => super::x86::sums(text, &self.words.0),
            #[cfg(all(target_arch = "aarch64", not(miri)))]
            Level::One => super::wide::sums(text, &self.words.0),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Four => super::x86::wide_sums(text, &self.words.0),
        }
    }
}

impl Carryless {
    /// Both sums of the bytes of some words, the lowest first, as of a text.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::Carryless;
    ///
    /// let secret = Carryless::portable(std::array::from_fn(|at| at as u64 * at as u64));
    /// assert_eq!(secret.sums_of_words(&[1, 2]), secret.sums(b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"));
    /// ```
    #[inline]
    pub fn sums_of_words(&self, words: &[u64]) -> [u64; 2] {
        let words = words.get(..WORDS).unwrap_or(words);
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        if self.level != Level::Portable {
            return self.sums(super::wide::bytes(words));
        }
        let mut text = [0; Self::MOST];
        let (places, _) = text.as_chunks_mut::<8>();
        for (place, word) in places.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        self.sums(&text[..words.len() * 8])
    }
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
    fn every_set_of_instructions_gives_the_same_sums() {
        let mut next = random(1);
        let words: [u64; Carryless::SECRET] = std::array::from_fn(|_| next());
        let text: Vec<u8> = (0..3000).map(|_| next() as u8).collect();
        let step = if cfg!(miri) { 331 } else { 1 };
        for length in (0..=2100).step_by(step) {
            let text = &text[length % 7..][..length];
            let expected = Carryless::portable(words).sums(text);
            for level in Carryless::levels() {
                let words = Box::new(Words(words));
                assert_eq!(
                    Carryless { words, level }.sums(text),
                    expected,
                    "{level:?} {length}"
                );
            }
        }
    }

    #[test]
    fn words_are_summed_as_their_bytes() {
        let mut next = random(5);
        let words: [u64; Carryless::SECRET] = std::array::from_fn(|_| next());
        let text: Vec<u64> = (0..WORDS + 3).map(|_| next()).collect();
        for length in [0, 1, 7, 8, 9, 100, WORDS - 1, WORDS, WORDS + 3] {
            let text = &text[..length];
            let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
            let expected = Carryless::portable(words).sums(&bytes);
            let levels = Carryless::levels().chain([Level::Portable]);
            for level in levels {
                let words = Box::new(Words(words));
                let secret = Carryless { words, level };
                assert_eq!(secret.sums_of_words(text), expected, "{level:?} {length}");
            }
        }
    }

    #[test]
    fn every_bit_counts_in_both_sums() {
        let mut next = random(3);
        let secret = Carryless::portable(std::array::from_fn(|_| next()));
        let text = [7_u8; 130];
        let [a, b] = secret.sums(&text);
        for bit in 0..text.len() * 8 {
            let mut other = text;
            other[bit / 8] ^= 1 << (bit % 8);
            let [c, d] = secret.sums(&other);
            assert!(a != c && b != d, "{bit}");
        }
    }
}
