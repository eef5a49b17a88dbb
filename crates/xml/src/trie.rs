//! A trie: byte strings → ids, in one pass over the bytes.
//!
//! ```text
//! Body, Bodies      node 0 ""  --B--> node 1 "od"  --y--> node 2 ""    = Body
//!                                                  --i--> node 3 "es"  = Bodies
//! ```
//!
//! A node's label is what all strings below it share, so that most of a name is compared eight bytes at a time. Where
//! strings part, the next byte finds the child in one table of all nodes: slot `base + byte` belongs to the node if its
//! `owner` says so (a double array). Nothing is compared twice.
//!
//! Short names in front of a delimiter, which nearly all are, need no walk: `short.rs` finds them at once.

use crate::chars::is_delimiter;
use crate::short::ShortNames;

/// Maps byte strings to ids.
///
/// ```
/// let mut builder = bsoap_xml::TrieBuilder::default();
/// builder.insert(b"Body", 1);
/// builder.insert(b"Bodies", 2);
/// let trie = builder.build();
/// assert_eq!(trie.get(b"Body"), Some(1));
/// assert_eq!(trie.scan(b"Bodies>"), (6, Some(2)));
/// assert_eq!(trie.scan(b"Bod id='7'"), (3, None));
/// ```
#[derive(Clone, Debug)]
pub struct Trie {
    nodes: Vec<TrieNode>,
    labels: Vec<u8>,
    slots: Vec<Slot>,
    /// Names that are found at once.
    short: ShortNames,
}

#[derive(Clone, Copy, Debug)]
struct TrieNode {
    label: u32,
    length: u32,
    base: u32,
    id: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    owner: u32,
    child: u32,
}

const NONE: u32 = u32::MAX;
const FREE: Slot = Slot {
    owner: NONE,
    child: NONE,
};

/// Collects the strings of a [`Trie`].
#[derive(Clone, Debug, Default)]
pub struct TrieBuilder {
    entries: Vec<(Vec<u8>, u32)>,
}

impl TrieBuilder {
    /// Adds a string. The id must not be `u32::MAX`. Of two ids for one string the first stays.
    pub fn insert(&mut self, bytes: &[u8], id: u32) {
        debug_assert_ne!(id, NONE, "u32::MAX marks a node without an id");
        self.entries.push((bytes.to_vec(), id));
    }

    /// Lays out the trie.
    pub fn build(mut self) -> Trie {
        self.entries.sort_by(|a, b| a.0.cmp(&b.0));
        self.entries.dedup_by(|later, earlier| later.0 == earlier.0);
        let mut layout = Layout::default();
        layout.lay(&self.entries);
        layout.trie.short = ShortNames::new(&self.entries);
        layout.trie
    }
}

/// The work of building: ranges of the sorted entries that still wait for their node.
#[derive(Default)]
struct Layout {
    trie: Trie,
    /// No slot before it is free.
    first_free: usize,
}

impl Layout {
    fn lay(&mut self, entries: &[(Vec<u8>, u32)]) {
        self.trie.nodes.clear();
        self.node(entries, 0);
        // (node, range of entries, bytes of them already on the path)
        let mut waiting = vec![(0usize, 0..entries.len(), 0usize)];
        while let Some((node, range, depth)) = waiting.pop() {
            let depth = depth + self.trie.nodes[node].length as usize;
            let mut children = Vec::new();
            let mut start = range.start;
            while start < range.end {
                let Some(&byte) = entries[start].0.get(depth) else {
                    start += 1; // the string that ends at this node
                    continue;
                };
                let same =
                    entries[start..range.end].partition_point(|entry| entry.0[depth] == byte);
                children.push((byte, start..start + same));
                start += same;
            }
            let base = self.place(&children);
            self.trie.nodes[node].base = base as u32;
            for (byte, range) in children {
                let child = self.node(&entries[range.clone()], depth + 1);
                self.trie.slots[base + byte as usize] = Slot {
                    owner: node as u32,
                    child: child as u32,
                };
                waiting.push((child, range, depth + 1));
            }
        }
    }

    /// Adds the node of some entries that agree up to `depth`; its label is what they share from there on.
    fn node(&mut self, entries: &[(Vec<u8>, u32)], depth: usize) -> usize {
        let (shared, id) = match (entries.first(), entries.last()) {
            (Some((first, id)), Some((last, _))) => {
                let shared = first[depth..]
                    .iter()
                    .zip(&last[depth..])
                    .take_while(|(a, b)| a == b)
                    .count();
                (
                    &first[depth..depth + shared],
                    if first.len() == depth + shared {
                        *id
                    } else {
                        NONE
                    },
                )
            }
            _ => (&[][..], NONE),
        };
        let label = self.trie.labels.len() as u32;
        self.trie.labels.extend_from_slice(shared);
        self.trie.nodes.push(TrieNode {
            label,
            length: shared.len() as u32,
            base: 0,
            id,
        });
        self.trie.nodes.len() - 1
    }

    /// The first base at which all children find their slots free; marks these.
    fn place<T>(&mut self, children: &[(u8, T)]) -> usize {
        let slots = &mut self.trie.slots;
        let Some((lowest, _)) = children.first() else {
            return 0;
        };
        while self.first_free < slots.len() && slots[self.first_free].owner != NONE {
            self.first_free += 1;
        }
        let mut base = self.first_free.saturating_sub(*lowest as usize);
        let mut tries = 0;
        while children.iter().any(|(byte, _)| {
            slots
                .get(base + *byte as usize)
                .is_some_and(|slot| slot.owner != NONE)
        }) {
            tries += 1;
            // A few holes stay empty, so that building takes linear time.
            base = if tries < 256 { base + 1 } else { slots.len() };
        }
        if slots.len() < base + 256 {
            slots.resize(base + 256, FREE); // so that `base + byte` always lies inside
        }
        for (byte, _) in children {
            slots[base + *byte as usize].owner = 0;
        }
        base
    }
}

impl Default for Trie {
    fn default() -> Self {
        Trie {
            nodes: vec![TrieNode {
                label: 0,
                length: 0,
                base: 0,
                id: NONE,
            }],
            labels: Vec::new(),
            slots: vec![FREE; 256],
            short: ShortNames::default(),
        }
    }
}

impl Trie {
    /// The id of a whole string.
    pub fn get(&self, bytes: &[u8]) -> Option<u32> {
        match self.walk(bytes, |_| false) {
            (length, id) if id != NONE && length == bytes.len() => Some(id),
            _ => None,
        }
    }

    /// The name that `bytes` begins with: its length up to the first of space, tab, CR, LF, `/`, `>`, `=`, `:` (or the
    /// end), and its id if it is in the trie.
    #[inline]
    pub fn scan(&self, bytes: &[u8]) -> (usize, Option<u32>) {
        if let Some((length, id)) = self.short.find(bytes) {
            return (length, Some(id));
        }
        let (length, id) = self.scan_name(bytes);
        (length, (id != NONE).then_some(id))
    }

    /// The same in two registers.
    fn scan_name(&self, bytes: &[u8]) -> (usize, u32) {
        match self.walk(bytes, is_delimiter) {
            (length, NONE) => {
                let rest = bytes[length..].iter().position(|&byte| is_delimiter(byte));
                (rest.map_or(bytes.len(), |rest| length + rest), NONE)
            }
            known => known,
        }
    }

    /// Follows `bytes` to their end or the first byte that ends a name; without an id, as far as all is known not to end.
    #[inline(always)]
    fn walk(&self, bytes: &[u8], ends: impl Fn(u8) -> bool) -> (usize, u32) {
        let (mut at, mut index) = (0, 0);
        loop {
            let node = &self.nodes[index as usize];
            let label = &self.labels[node.label as usize..][..node.length as usize];
            if !starts_with(&bytes[at..], label) {
                return (at, NONE);
            }
            let end = at + label.len();
            match bytes.get(end) {
                Some(&byte) if !ends(byte) => {
                    let slot = &self.slots[node.base as usize + byte as usize];
                    if slot.owner != index {
                        // Labels hold no delimiter, but then the trie may hold anything: let the caller look again.
                        return (at, NONE);
                    }
                    (at, index) = (end + 1, slot.child);
                }
                _ if node.id != NONE => return (end, node.id),
                _ => return (at, NONE),
            }
        }
    }
}

/// `slice::starts_with` for short needles: without the call of memcmp.
#[inline(always)]
pub(crate) fn starts_with(bytes: &[u8], mut label: &[u8]) -> bool {
    if bytes.len() < label.len() {
        return false;
    }
    let mut bytes = &bytes[..label.len()];
    while let (Some((a, bytes_rest)), Some((b, label_rest))) = (
        bytes.split_first_chunk::<8>(),
        label.split_first_chunk::<8>(),
    ) {
        if a != b {
            return false;
        }
        (bytes, label) = (bytes_rest, label_rest);
    }
    bytes.iter().zip(label).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn build(names: &[&[u8]]) -> Trie {
        let mut builder = TrieBuilder::default();
        for (id, name) in names.iter().enumerate() {
            builder.insert(name, id as u32);
        }
        builder.build()
    }

    #[test]
    fn a_prefix_of_a_name_is_not_the_name() {
        let trie = build(&[b"item", b"items", b"it", b"quantity"]);
        assert_eq!(trie.get(b"item"), Some(0));
        assert_eq!(trie.get(b"ite"), None);
        assert_eq!(trie.get(b"itemsx"), None);
        assert_eq!(trie.get(b""), None);
        assert_eq!(trie.scan(b"quantit>"), (7, None));
        assert_eq!(trie.scan(b"items>"), (5, Some(1)));
        assert_eq!(trie.scan(b"it"), (2, Some(2)));
        assert_eq!(trie.scan(b"itemitem="), (8, None));
    }

    #[test]
    fn an_empty_trie_still_finds_where_a_name_ends() {
        assert_eq!(Trie::default().scan(b"name='1'"), (4, None));
        assert_eq!(Trie::default().scan(b""), (0, None));
        assert_eq!(build(&[b""]).get(b""), Some(0));
    }

    proptest! {
        #[test]
        fn a_trie_is_a_map(names in prop::collection::vec("[a-c]{0,6}", 0..40), probes in prop::collection::vec("[a-d]{0,7}", 0..40)) {
            let mut map = HashMap::new();
            let mut builder = TrieBuilder::default();
            for (id, name) in names.iter().enumerate() {
                builder.insert(name.as_bytes(), id as u32);
                map.entry(name.clone()).or_insert(id as u32);
            }
            let trie = builder.build();
            for probe in probes.iter().chain(&names) {
                prop_assert_eq!(trie.get(probe.as_bytes()), map.get(probe).copied());
                let tag = format!("{probe}/>");
                prop_assert_eq!(trie.scan(tag.as_bytes()), (probe.len(), map.get(probe).copied()));
            }
        }
    }
}
