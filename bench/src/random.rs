//! SplitMix64: a documented generator, so that anyone can make the same workloads. (Steele, Lea,
//! Flood: Fast splittable pseudorandom number generators, 2014.) Not for secrets.

/// A stream of random numbers; the same seed gives the same stream, everywhere and always.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to but not including `bound` (which is not 0).
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Uniform in [0, 1): 53 random bits.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Puts the items into an order of which all are equally likely (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for left in (2..=items.len()).rev() {
            items.swap(left - 1, self.below(left as u64) as usize);
        }
    }

    /// One of the words given.
    pub(crate) fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_up() {
        let mut random = Random::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 6);
        random.shuffle::<u8>(&mut []);
    }

    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1234567);
        assert_eq!(
            [random.bits(), random.bits(), random.bits()],
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423
            ]
        );
    }
}
