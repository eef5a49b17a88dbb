//! Short names: found by their bytes as one number.
//!
//! ```text
//! "item>1</it"  ──►  0x…3e 6d 65 74 69   the first byte that ends a name, in all eight at once
//!                      └─ 0 ┘ "meti"  ──►  one product gives the slot, one compare whether the name is there
//! ```
//!
//! Most names have no more than 16 bytes, so most of the time no byte is looked at alone.

use crate::chars::is_delimiter;

/// Some names of a [`Trie`](crate::Trie), each in a slot that its bytes determine. Of two with the same slot, one is left to the trie.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShortNames {
    places: Box<[ShortEntry]>,
    factor: u64,
    shift: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct ShortEntry {
    /// Behind the name there are zeros; a free place has nothing else.
    key: [u64; 2],
    id: u32,
}

/// More names would take more memory than they are worth.
const MOST: usize = 2048;
/// The longest that is short.
const LONGEST: usize = 16;
/// The number of factors that are tried.
const TRIES: u64 = 32;

impl ShortNames {
    pub(crate) fn new(names: &[(Vec<u8>, u32)]) -> Self {
        let is_name = |byte: &u8| *byte != 0 && !is_delimiter(*byte);
        let is_short =
            |name: &[u8]| !name.is_empty() && name.len() <= LONGEST && name.iter().all(is_name);
        let short = names.iter().filter(|(name, _)| is_short(name));
        let short: Vec<_> = short.map(|(name, id)| (key_of(name), *id)).collect();
        if short.is_empty() || short.len() > MOST {
            return Self::default();
        }
        let bits = (4 * short.len()).next_power_of_two().ilog2();
        let factor = |seed: u64| (2 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut best = Self::with(&short, factor(0), 64 - bits);
        for seed in 1..TRIES {
            if best.0 == 0 {
                break;
            }
            let other = Self::with(&short, factor(seed), 64 - bits);
            if other.0 < best.0 {
                best = other;
            }
        }
        best.1
    }

    /// The table that a factor makes, and how many names have no place in it.
    fn with(names: &[([u64; 2], u32)], factor: u64, shift: u32) -> (usize, Self) {
        let places = vec![ShortEntry::default(); 1 << (64 - shift)].into();
        let mut table = Self {
            places,
            factor,
            shift,
        };
        let mut left = 0;
        for &(key, id) in names {
            let at = table.place(key);
            let place = &mut table.places[at];
            if place.key == [0; 2] {
                *place = ShortEntry { key, id };
            } else {
                left += 1;
            }
        }
        (left, table)
    }

    #[inline(always)]
    fn place(&self, [low, high]: [u64; 2]) -> usize {
        ((low ^ high.rotate_left(29)).wrapping_mul(self.factor) >> self.shift) as usize
    }

    /// The name that the bytes begin with, if it is one of these: its length and id. `None` says nothing.
    #[inline(always)]
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<(usize, u32)> {
        let low = word(bytes)?;
        let ends = ends(low);
        let (length, key) = match ends {
            0 => {
                let high = word(bytes.get(8..)?)?;
                let ends = self::ends(high);
                (8 + count(ends), [low, high & before(ends)])
            }
            _ => (count(ends), [low & before(ends), 0]),
        };
        let place = self.places.get(self.place(key))?;
        // No name is empty, and what is not a character of XML ends none.
        let is_it = length > 0 && place.key == key && is_delimiter(*bytes.get(length)?);
        is_it.then_some((length, place.id))
    }
}

#[inline(always)]
fn word(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The bytes that may end a name, marked in their highest bits. The first is right, those behind it need not be.
#[inline(always)]
fn ends(word: u64) -> u64 {
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x21) | is(b'/') | is(b':') | is(b'=') | is(b'>')
}

/// How many bytes precede the first that is marked; eight, if none is.
///
/// It is counted and not computed: where names come in the order in which they came before, the processor predicts how long
/// the next one is, and continues after it while it is still being looked up (a quarter less for rows; benchmark `trie`).
#[inline(always)]
fn count(ends: u64) -> usize {
    let (mut rest, mut length) = (ends >> 7, 0);
    while rest & 1 == 0 && length < 8 {
        rest >>= 8;
        length += 1;
    }
    length
}

/// A mask of the bytes before the first that is marked; of all, if none is.
#[inline(always)]
fn before(ends: u64) -> u64 {
    match ends {
        0 => u64::MAX,
        ends => (1 << (ends.trailing_zeros() & !7)) - 1,
    }
}

fn key_of(name: &[u8]) -> [u64; 2] {
    let mut bytes = [0; LONGEST];
    bytes[..name.len()].copy_from_slice(name);
    let whole = u128::from_le_bytes(bytes);
    [whole as u64, (whole >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(names: &[&[u8]]) -> ShortNames {
        let names: Vec<_> = names
            .iter()
            .zip(0..)
            .map(|(name, id)| (name.to_vec(), id))
            .collect();
        ShortNames::new(&names)
    }

    #[test]
    fn short_names_are_found_where_they_end() {
        let names: [&[u8]; 6] = [
            b"x",
            b"item",
            b"Envelope",
            b"temperature",
            b"sixteenBytesLong",
            b"seventeenBytesLon",
        ];
        let table = table(&names);
        for (name, id) in names[..5].iter().zip(0..) {
            for end in [" ", "\t", "\r", "\n", "/", ">", "=", ":"] {
                let tag = [name, end.as_bytes(), b"........................"].concat();
                let found = table.find(&tag);
                let is_far = name.len() == LONGEST;
                assert!(
                    found == Some((name.len(), id)) || is_far && found.is_none(),
                    "{tag:?}"
                );
            }
            for other in ["s>........", "\0>........", "\u{1}>.........", ".........."] {
                assert_eq!(
                    table.find(&[name, other.as_bytes(), b"............"].concat()),
                    None
                );
            }
        }
        assert_eq!(table.find(b"x>"), None);
        assert_eq!(table.find(b">xxxxxxxxxxx"), None);
        assert_eq!(ShortNames::default().find(b"item>.........."), None);
    }

    proptest! {
        #[test]
        fn the_first_end_is_marked(bytes in any::<[u8; 8]>()) {
            let marked = ends(u64::from_le_bytes(bytes));
            let expected = bytes.iter().position(|&byte| byte <= 0x20 || b"/:=>".contains(&byte));
            let found = (marked != 0).then(|| marked.trailing_zeros() as usize / 8);
            prop_assert_eq!(found, expected);
        }
    }
}
