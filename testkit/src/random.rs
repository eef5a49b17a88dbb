//! Pseudo-random numbers, and the values that messages are made of.

/// A xorshift generator. Everything it returns follows from the seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator of the numbers that belong to a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 bits.
    #[expect(
        clippy::should_implement_trait,
        reason = "an endless sequence needs no `Option`"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below the bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 33) as usize) % bound.max(1)
    }

    /// True in this percentage of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A finite double of any exponent; most have 17 digits.
    pub fn any_double(&mut self) -> f64 {
        loop {
            let value = f64::from_bits(self.next());
            if value.is_finite() {
                return value;
            }
        }
    }

    /// A double below 100 with two decimals.
    pub fn two_decimals(&mut self) -> f64 {
        self.below(10_000) as f64 / 100.0
    }

    /// 5 to 40 lower-case letters.
    pub fn word(&mut self) -> String {
        let length = 5 + self.below(36);
        (0..length)
            .map(|_| char::from(b'a' + self.below(26) as u8))
            .collect()
    }
}
