//! The key: a plain 128-bit hash of a text without its values.
//!
//! Two lanes that multiply and XOR the halves, sixteen bytes at a time. It proves nothing, and need not: a receiver compares
//! the bytes.

use super::block::Key;

/// A key being computed. How the text is cut into pieces makes no difference; where values are in it does.
#[derive(Debug)]
pub(super) struct Hasher {
    lanes: [u64; 2],
    rest: [u8; 16],
    filled: usize,
    length: u64,
}

const FACTORS: [u64; 4] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
];

/// In place of a value.
const VALUE: &[u8] = b"\0";

impl Hasher {
    pub(super) fn new() -> Self {
        Self {
            lanes: [FACTORS[0], FACTORS[1]],
            rest: [0; 16],
            filled: 0,
            length: 0,
        }
    }

    /// More of the text.
    pub(super) fn text(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if self.filled > 0 {
            let more = bytes.len().min(16 - self.filled);
            self.rest[self.filled..self.filled + more].copy_from_slice(&bytes[..more]);
            self.filled += more;
            bytes = &bytes[more..];
            if self.filled < 16 {
                return;
            }
            self.block(self.rest);
        }
        let (blocks, rest) = bytes.as_chunks();
        blocks.iter().for_each(|&block| self.block(block));
        self.rest[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// A value, whatever it is.
    pub(super) fn value(&mut self) {
        self.text(VALUE);
    }

    fn block(&mut self, block: [u8; 16]) {
        let both = u128::from_le_bytes(block);
        let (low, high) = (both as u64, (both >> 64) as u64);
        let [one, two] = self.lanes;
        self.lanes = [
            fold(low ^ one, high ^ FACTORS[2]),
            fold(high ^ two, low ^ FACTORS[3]),
        ];
    }

    pub(super) fn finish(mut self) -> Key {
        let mut last = [0; 16];
        last[..self.filled].copy_from_slice(&self.rest[..self.filled]);
        self.block(last);
        let [one, two] = self.lanes;
        let low = fold(one ^ self.length, two ^ FACTORS[0]);
        let high = fold(two ^ self.length, one ^ FACTORS[1]);
        Key(u128::from(high) << 64 | u128::from(low))
    }
}

/// The product, both halves together.
fn fold(one: u64, two: u64) -> u64 {
    let product = u128::from(one) * u128::from(two);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(pieces: &[&[u8]]) -> Key {
        let mut hasher = Hasher::new();
        pieces.iter().for_each(|piece| hasher.text(piece));
        hasher.finish()
    }

    #[test]
    fn where_a_text_is_cut_makes_no_difference() {
        let text: Vec<u8> = (0..100).collect();
        let whole = key(&[&text]);
        for at in 0..=text.len() {
            for then in [at, (at + 5).min(100), 100] {
                assert_eq!(key(&[&text[..at], &text[at..then], &text[then..]]), whole);
            }
        }
    }

    #[test]
    fn any_other_byte_or_length_makes_another_key() {
        let text = [b'x'; 70];
        let mut keys: Vec<u128> = (0..=70).map(|length| key(&[&text[..length]]).0).collect();
        for at in 0..70 {
            let mut other = text;
            other[at] = b'y';
            keys.push(key(&[&other]).0);
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
        let halves = keys
            .iter()
            .flat_map(|key| [*key as u64, (key >> 64) as u64]);
        let mut halves: Vec<u64> = halves.collect();
        halves.sort_unstable();
        halves.dedup();
        assert_eq!(halves.len(), 2 * count);
    }
}
