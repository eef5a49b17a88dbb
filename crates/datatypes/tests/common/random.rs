//! Random values for tests and for the tools that take times. A seed tells all that follows.

#![allow(dead_code)] // nobody needs all of it

/// SplitMix64, with the values that messages are made of.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// A double of any finite exponent, most often of 17 digits.
    pub(crate) fn hard(&mut self) -> f64 {
        loop {
            let value = f64::from_bits(self.next());
            if value.is_finite() {
                return value;
            }
        }
    }

    /// A double from 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A double below 100 with two digits behind the point.
    pub(crate) fn small(&mut self) -> f64 {
        self.below(10_000) as f64 / 100.0
    }

    /// 5 to 40 small letters.
    pub(crate) fn word(&mut self) -> String {
        let length = 5 + self.below(36);
        (0..length)
            .map(|_| char::from(b'a' + self.below(26) as u8))
            .collect()
    }
}
