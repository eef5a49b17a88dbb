//! A set of texts, found by a trie that compares no more bytes than are needed to distinguish them.
//!
//! ```text
//! length 2 ── byte 0 ── D ── "DE"        DE, IT, US, CH, invoice, card
//!                    ├─ I ── "IT"
//!                    └─ …
//! length 4 ── "card"
//! ```
//!
//! The length comes first, for it is known; then, for the texts of that length, the first byte by which some of them differ,
//! and so on. One text is left, and is compared: once.

/// Texts to be found among.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// By length: where to go. Beyond them, texts are too long.
    by_length: Box<[Next]>,
    nodes: Vec<WordNode>,
    words: Vec<Box<str>>,
}

/// Where to go in the trie.
#[derive(Clone, Copy, Debug)]
enum Next {
    Nowhere,
    Word(u32),
    Node(u32),
}

/// A byte by which texts of the same length differ.
#[derive(Clone, Debug)]
struct WordNode {
    at: u32,
    /// In order of the bytes.
    edges: Box<[(u8, Next)]>,
}

/// Texts longer than this are not distinguished by their length.
const LONGEST: usize = 255;
/// Up to this many edges are searched one after another.
const FEW: usize = 8;

impl Words {
    /// `None`, if a text is longer than is of use.
    pub(crate) fn new(words: impl IntoIterator<Item = Box<str>>) -> Option<Self> {
        let mut words: Vec<Box<str>> = words.into_iter().collect();
        words.sort_unstable_by(|one, other| {
            let by_length = one.len().cmp(&other.len());
            by_length.then_with(|| one.cmp(other))
        });
        words.dedup();
        let longest = words.last().map_or(0, |last| last.len());
        if longest > LONGEST {
            return None;
        }
        let mut trie = Self {
            by_length: vec![Next::Nowhere; longest + 1].into(),
            nodes: Vec::new(),
            words: Vec::new(),
        };
        let mut from = 0;
        for group in words.chunk_by(|one, other| one.len() == other.len()) {
            trie.by_length[group[0].len()] = trie.next(&words, from..from + group.len());
            from += group.len();
        }
        trie.words = words;
        Some(trie)
    }

    /// Where to go for some of the words, which have the same length and are sorted. Recurses as often as words differ in a
    /// byte, but no deeper than one is long.
    fn next(&mut self, words: &[Box<str>], range: std::ops::Range<usize>) -> Next {
        let (Some(first), Some(last)) = (words.get(range.start), words.get(range.end - 1)) else {
            return Next::Nowhere;
        };
        // Sorted, so the outermost differ first.
        let mut bytes = first.bytes().zip(last.bytes());
        let Some(at) = bytes.position(|(one, other)| one != other) else {
            return Next::Word(range.start as u32);
        };
        let node = self.nodes.len();
        self.nodes.push(WordNode {
            at: at as u32,
            edges: Box::default(),
        });
        let (mut edges, mut from) = (Vec::new(), range.start);
        for group in words[range].chunk_by(|one, other| one.as_bytes()[at] == other.as_bytes()[at])
        {
            let next = self.next(words, from..from + group.len());
            edges.push((group[0].as_bytes()[at], next));
            from += group.len();
        }
        self.nodes[node].edges = edges.into();
        Next::Node(node as u32)
    }

    /// Whether the text is one of them.
    #[inline]
    pub(crate) fn contains(&self, text: &str) -> bool {
        let mut next = self.by_length.get(text.len()).copied();
        loop {
            match next {
                Some(Next::Word(word)) => {
                    let word = self.words.get(word as usize);
                    return word.is_some_and(|word| **word == *text);
                }
                Some(Next::Node(node)) => {
                    let node = self.nodes.get(node as usize);
                    next = node.and_then(|node| node.next(text.as_bytes()));
                }
                Some(Next::Nowhere) | None => return false,
            }
        }
    }
}

impl WordNode {
    #[inline]
    fn next(&self, text: &[u8]) -> Option<Next> {
        let byte = *text.get(self.at as usize)?;
        if self.edges.len() <= FEW {
            let mut edges = self.edges.iter();
            return edges.find(|(edge, _)| *edge == byte).map(|(_, next)| *next);
        }
        let found = self.edges.binary_search_by_key(&byte, |(edge, _)| *edge);
        found.ok().map(|index| self.edges[index].1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_trie_has_the_words_it_was_made_of_and_no_others(
            words in proptest::collection::vec("[abé]{0,6}|[a-z]{1,3}x", 0..60),
            others in proptest::collection::vec("[abé]{0,6}|[a-z]{1,3}x", 0..60),
        ) {
            let set: HashSet<&str> = words.iter().map(String::as_str).collect();
            let trie = Words::new(words.iter().map(|word| word.as_str().into())).expect("short ones");
            for text in words.iter().chain(&others) {
                prop_assert_eq!(trie.contains(text), set.contains(text.as_str()), "{}", text);
            }
        }
    }

    #[test]
    fn long_texts_are_not_for_it() {
        assert!(Words::new(["x".repeat(LONGEST + 1).into()]).is_none());
        let longest = "x".repeat(LONGEST);
        let trie = Words::new([longest.as_str().into(), "y".into()]).expect("short ones");
        assert!(trie.contains(&longest) && trie.contains("y") && !trie.contains(""));
        assert!(!Words::new([]).expect("none is long").contains(""));
    }
}
