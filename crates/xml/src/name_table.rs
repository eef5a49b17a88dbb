//! A table of names: local name → id. A name is read up to its delimiter and looked up at once.
//!
//! ```text
//! "item>1</it"  ──►  0x…3e 6d 65 74 69   the first byte that ends a name, in all eight at once
//!                      └─ 0 ┘ "meti"  ──►  one product gives the entry, one compare whether the name is there
//! ```
//!
//! Most names have no more than 16 bytes, so most of the time no byte is looked at alone. All others are in a `HashMap`.

use std::collections::HashMap;

use crate::chars::is_delimiter;

/// Maps names to ids.
///
/// ```
/// let table = bsoap_xml::NameTable::new([("Body", 1), ("Bodies", 2)]);
/// assert_eq!(table.get(b"Body"), Some(1));
/// assert_eq!(table.scan(b"Bodies>"), (6, Some(2)));
/// assert_eq!(table.scan(b"Bod id='7'"), (3, None));
/// ```
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    all: HashMap<Box<[u8]>, u32>,
    /// Those of [`all`](Self::all) that are found by their bytes.
    short: ShortNames,
}

impl NameTable {
    /// The table of these names. Of two ids for one name the last stays.
    pub fn new<'a>(names: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let names = names.into_iter();
        let all: HashMap<_, _> = names
            .map(|(name, id)| (name.as_bytes().into(), id))
            .collect();
        let short = ShortNames::new(&all);
        Self { all, short }
    }

    /// The id of a whole name.
    pub fn get(&self, name: &[u8]) -> Option<u32> {
        self.all.get(name).copied()
    }

    /// The name that `bytes` begins with: its length up to the first of space, tab, CR, LF, `/`, `>`, `=`, `:` (or the
    /// end), and its id if it is in the table.
    #[inline]
    pub fn scan(&self, bytes: &[u8]) -> (usize, Option<u32>) {
        match self.short.find(bytes) {
            Some((length, id)) => (length, Some(id)),
            None => self.scan_any(bytes),
        }
    }

    fn scan_any(&self, bytes: &[u8]) -> (usize, Option<u32>) {
        let end = bytes.iter().position(|&byte| is_delimiter(byte));
        let length = end.unwrap_or(bytes.len());
        (length, self.get(&bytes[..length]))
    }
}

/// Some names, each in the entry that its bytes determine. Of two with the same entry, one is left to the map.
#[derive(Clone, Debug, Default)]
struct ShortNames {
    entries: Box<[ShortEntry]>,
    factor: u64,
    shift: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct ShortEntry {
    /// Behind the name there are zeros; a free entry has nothing else.
    key: [u64; 2],
    id: u32,
}

/// More names would take more memory than they are worth.
const MAX_SHORT_NAMES: usize = 2048;
/// The longest that is short.
const MAX_SHORT_LENGTH: usize = 16;
/// The number of factors that are tried.
const FACTORS: u64 = 32;

impl ShortNames {
    fn new(names: &HashMap<Box<[u8]>, u32>) -> Self {
        let is_name = |byte: &u8| *byte != 0 && !is_delimiter(*byte);
        let is_short = |name: &[u8]| {
            !name.is_empty() && name.len() <= MAX_SHORT_LENGTH && name.iter().all(is_name)
        };
        let short = names.iter().filter(|(name, _)| is_short(name));
        let mut short: Vec<_> = short.map(|(name, id)| (key_of(name), *id)).collect();
        // The same table for the same names: a map has no order.
        short.sort_unstable();
        if short.is_empty() || short.len() > MAX_SHORT_NAMES {
            return Self::default();
        }
        let bits = (4 * short.len()).next_power_of_two().ilog2();
        let factor = |seed: u64| (2 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut best = Self::with(&short, factor(0), 64 - bits);
        for seed in 1..FACTORS {
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

    /// The table that a factor makes, and how many names have no entry in it.
    fn with(names: &[([u64; 2], u32)], factor: u64, shift: u32) -> (usize, Self) {
        let entries = vec![ShortEntry::default(); 1 << (64 - shift)].into();
        let mut table = Self {
            entries,
            factor,
            shift,
        };
        let mut left = 0;
        for &(key, id) in names {
            let at = table.entry(key);
            let entry = &mut table.entries[at];
            if entry.key == [0; 2] {
                *entry = ShortEntry { key, id };
            } else {
                left += 1;
            }
        }
        (left, table)
    }

    #[inline(always)]
    fn entry(&self, [low, high]: [u64; 2]) -> usize {
        ((low ^ high.rotate_left(29)).wrapping_mul(self.factor) >> self.shift) as usize
    }

    /// The name that the bytes begin with, if it is one of these: its length and id. `None` says nothing.
    #[inline(always)]
    fn find(&self, bytes: &[u8]) -> Option<(usize, u32)> {
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
        let entry = self.entries.get(self.entry(key))?;
        // No name is empty, and what is not a character of XML ends none.
        let is_it = length > 0 && entry.key == key && is_delimiter(*bytes.get(length)?);
        is_it.then_some((length, entry.id))
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
    let mut bytes = [0; MAX_SHORT_LENGTH];
    bytes[..name.len()].copy_from_slice(name);
    let whole = u128::from_le_bytes(bytes);
    [whole as u64, (whole >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(names: &[&[u8]]) -> ShortNames {
        let names: HashMap<_, _> = names
            .iter()
            .zip(0..)
            .map(|(name, id)| (name.to_vec().into(), id))
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
                let is_far = name.len() == MAX_SHORT_LENGTH;
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

    #[test]
    fn a_prefix_of_a_name_is_not_the_name() {
        let names = ["item", "items", "it", "quantity", "longerThanSixteenBytes"];
        let table = NameTable::new(names.into_iter().zip(0..));
        assert_eq!(table.get(b"item"), Some(0));
        assert_eq!(table.get(b"ite"), None);
        assert_eq!(table.get(b"itemsx"), None);
        assert_eq!(table.get(b""), None);
        assert_eq!(table.scan(b"quantit>"), (7, None));
        assert_eq!(table.scan(b"items>"), (5, Some(1)));
        assert_eq!(table.scan(b"it"), (2, Some(2)));
        assert_eq!(table.scan(b"itemitem="), (8, None));
        assert_eq!(table.scan(b"longerThanSixteenBytes xx"), (22, Some(4)));
        assert_eq!(table.scan(b"longerThanSixteenByte xx"), (21, None));
    }

    #[test]
    fn an_empty_table_still_finds_where_a_name_ends() {
        assert_eq!(NameTable::default().scan(b"name='1'"), (4, None));
        assert_eq!(NameTable::default().scan(b""), (0, None));
    }

    proptest! {
        #[test]
        fn a_table_is_a_map(names in prop::collection::vec("[a-c]{0,6}", 0..40), probes in prop::collection::vec("[a-d]{0,7}", 0..40)) {
            let map: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
            let table = NameTable::new(names.iter().map(String::as_str).zip(0..));
            for probe in probes.iter().chain(&names) {
                prop_assert_eq!(table.get(probe.as_bytes()), map.get(probe.as_str()).copied());
                for tag in [format!("{probe}/>"), format!("{probe}>................")] {
                    prop_assert_eq!(table.scan(tag.as_bytes()), (probe.len(), map.get(probe.as_str()).copied()));
                }
            }
        }

        #[test]
        fn the_first_end_is_marked(bytes in any::<[u8; 8]>()) {
            let marked = ends(u64::from_le_bytes(bytes));
            let expected = bytes.iter().position(|&byte| byte <= 0x20 || b"/:=>".contains(&byte));
            let found = (marked != 0).then(|| marked.trailing_zeros() as usize / 8);
            prop_assert_eq!(found, expected);
        }
    }
}
