//! Bytes to be recognised in a text, with one compare if they are few.

use bsoap_datatypes::kernel::Separator;

/// Some bytes, laid out to be compared with those at a place of a text.
///
/// Up to 32 bytes are compared as two words of 16 under a mask, whatever their number: no loop, no branch on the length. Up
/// to 64 are these and the last 32.
#[derive(Clone, Debug, Default)]
pub(super) struct Spelling {
    words: [u128; 2],
    masks: [u128; 2],
    /// The last 32 bytes, if there are more than that.
    tail: [u128; 2],
    separator: Separator,
}

/// How many bytes two words hold.
const SHORT: usize = 32;

impl Spelling {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let (mut head, mut mask) = ([0u8; SHORT], [0u8; SHORT]);
        for (at, &byte) in bytes.iter().take(SHORT).enumerate() {
            (head[at], mask[at]) = (byte, 0xff);
        }
        Self {
            words: halves(&head),
            masks: halves(&mask),
            tail: bytes.last_chunk().map_or([0; 2], halves),
            separator: Separator::new(bytes),
        }
    }

    /// The same for kernels that read many values at once.
    pub(super) fn separator(&self) -> &Separator {
        &self.separator
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        self.separator.as_bytes()
    }

    /// How many bytes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Whether the bytes of another are the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }

    /// Whether `text` has these bytes at `at`.
    #[inline(always)]
    pub(super) fn is_at(&self, text: &[u8], at: usize) -> bool {
        let Some(rest) = text.get(at..) else {
            return false;
        };
        match rest.first_chunk::<SHORT>() {
            Some(head) => {
                let [low, high] = halves(head);
                let differ = ((low ^ self.words[0]) & self.masks[0])
                    | ((high ^ self.words[1]) & self.masks[1]);
                differ == 0 && (self.len() <= SHORT || self.is_rest(rest))
            }
            None => rest.starts_with(self.bytes()),
        }
    }

    /// The same of more than 32 bytes, the first of which are there.
    #[inline(always)]
    fn is_rest(&self, text: &[u8]) -> bool {
        let length = self.len();
        if length > 2 * SHORT {
            return text.starts_with(self.bytes());
        }
        let tail = text
            .get(length - SHORT..length)
            .and_then(|tail| tail.first_chunk());
        tail.is_some_and(|tail| halves(tail) == self.tail)
    }
}

#[inline(always)]
fn halves(bytes: &[u8; SHORT]) -> [u128; 2] {
    let (low, high) = bytes.split_at(16);
    let word = |half: &[u8]| {
        half.first_chunk::<16>()
            .map_or(0, |half| u128::from_le_bytes(*half))
    };
    [word(low), word(high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_is_where_its_bytes_are() {
        let text: Vec<u8> = (0..200).map(|n| n as u8).collect();
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65] {
            for at in [0, 1, 100, 130, 150, 190] {
                let Some(bytes) = text.get(at..at + length) else {
                    continue;
                };
                let spelling = Spelling::new(bytes);
                assert!(spelling.is_at(&text, at), "{length} at {at}");
                assert_eq!(spelling.is_at(&text, at + 1), length == 0);
                if length > 0 {
                    let mut other = text.clone();
                    other[at + length - 1] ^= 1;
                    assert!(!spelling.is_at(&other, at));
                    assert!(!spelling.is_at(&text[..at + length - 1], at));
                }
            }
        }
        assert!(!Spelling::new(b"").is_at(b"", 1));
    }
}
