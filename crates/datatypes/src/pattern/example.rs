//! Texts that a pattern matches, made from its syntax tree: for sample messages.
//!
//! The tree is that of the pattern with the least and the greatest length of each part. A text of a given length is made
//! top-down: a sequence gives each part its least length and spreads what is left over, a choice takes a branch that can have
//! the length, a repetition repeats as often as it must. The lengths between least and greatest may have gaps, so a text of
//! some length may not be found although there is one; other lengths and manners are tried then.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};

use super::{Pattern, parse};

/// A length without bound.
const UNBOUNDED: usize = usize::MAX;
/// How many characters of a set are considered.
const CHOSEN: usize = 64;

/// Makes texts that a pattern matches.
///
/// ```
/// use bsoap_datatypes::Pattern;
///
/// let pattern = Pattern::parse(r"[A-Z]{3}-\d+").unwrap();
/// let examples = pattern.examples();
/// assert_eq!(examples.lengths(), 5..=usize::MAX);
/// assert_eq!(examples.text(5, 0).as_deref(), Some("ABC-1"));
/// assert_eq!(examples.text(7, 0).as_deref(), Some("ABC-123"));
/// assert!(pattern.is_match(&examples.text(9, 17).unwrap()));
/// assert_eq!(examples.text(4, 0), None);
/// ```
#[derive(Debug)]
pub struct PatternExamples(Node);

/// A part of a pattern, with its least and greatest length in characters.
#[derive(Debug)]
struct Node {
    kind: NodeKind,
    least: usize,
    most: usize,
}

#[derive(Debug)]
enum NodeKind {
    Text(String),
    /// Some characters of a set.
    Set(Vec<char>),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        inner: Box<Node>,
        min: usize,
        max: usize,
    },
}

impl Pattern {
    /// A maker of texts that this pattern matches.
    pub fn examples(&self) -> PatternExamples {
        // A pattern has been parsed before; the empty text serves for what cannot be.
        let node = parse::parse(self.source()).map(|hir| Node::new(&hir));
        PatternExamples(node.unwrap_or_else(|_| Node::text(String::new())))
    }
}

impl PatternExamples {
    /// From the least to the greatest number of characters of a text that matches; `usize::MAX` if there is no greatest.
    pub fn lengths(&self) -> std::ops::RangeInclusive<usize> {
        self.0.least..=self.0.most
    }

    /// A text of this number of characters; `None` if none was found. Texts of different manners differ, if they can: in their
    /// characters, the branches of choices and the parts that repeat. The first is the most readable.
    pub fn text(&self, length: usize, manner: u32) -> Option<String> {
        let mut writer = Writer {
            out: String::new(),
            manner,
            written: [0; KINDS],
        };
        writer.node(&self.0, length)?;
        Some(writer.out)
    }
}

impl Node {
    /// Recurses as deep as parentheses nest, which the parser limits.
    fn new(pattern: &Hir) -> Self {
        match pattern.kind() {
            // Only the ends of the whole text are looked for.
            HirKind::Empty | HirKind::Look(_) => Self::text(String::new()),
            HirKind::Literal(literal) => {
                Self::text(String::from_utf8_lossy(&literal.0).into_owned())
            }
            HirKind::Class(Class::Unicode(class)) => Self::set(class),
            HirKind::Class(Class::Bytes(_)) => Self::set(&ClassUnicode::empty()),
            HirKind::Capture(capture) => Self::new(&capture.sub),
            HirKind::Concat(parts) => Self::sequence(parts.iter().map(Self::new).collect()),
            HirKind::Alternation(parts) => Self::choice(parts.iter().map(Self::new).collect()),
            HirKind::Repetition(repetition) => {
                let max = repetition.max.map_or(UNBOUNDED, |max| max as usize);
                Self::repeat(Self::new(&repetition.sub), repetition.min as usize, max)
            }
        }
    }

    fn text(text: String) -> Self {
        let length = text.chars().count();
        Self {
            kind: NodeKind::Text(text),
            least: length,
            most: length,
        }
    }

    fn set(class: &ClassUnicode) -> Self {
        Self {
            kind: NodeKind::Set(chosen(class)),
            least: 1,
            most: 1,
        }
    }

    fn sequence(parts: Vec<Self>) -> Self {
        let sum = |length: fn(&Self) -> usize| {
            parts
                .iter()
                .map(length)
                .fold(0, |sum: usize, more| sum.saturating_add(more))
        };
        Self {
            least: sum(|part| part.least),
            most: sum(|part| part.most),
            kind: NodeKind::Sequence(parts),
        }
    }

    fn choice(branches: Vec<Self>) -> Self {
        Self {
            least: branches
                .iter()
                .map(|branch| branch.least)
                .min()
                .unwrap_or(0),
            most: branches.iter().map(|branch| branch.most).max().unwrap_or(0),
            kind: NodeKind::Choice(branches),
        }
    }

    fn repeat(inner: Self, min: usize, max: usize) -> Self {
        Self {
            least: inner.least.saturating_mul(min),
            most: inner.most.saturating_mul(max),
            kind: NodeKind::Repeat {
                inner: Box::new(inner),
                min,
                max,
            },
        }
    }

    fn can_have(&self, length: usize) -> bool {
        (self.least..=self.most).contains(&length)
    }
}

struct Writer {
    out: String,
    manner: u32,
    /// The characters of sets written so far, by kind.
    written: [u32; KINDS],
}

impl Writer {
    /// Writes a text of a node; `None` if it has none of this length that is found so.
    fn node(&mut self, node: &Node, length: usize) -> Option<()> {
        if !node.can_have(length) {
            return None;
        }
        match &node.kind {
            NodeKind::Text(text) => {
                self.out.push_str(text);
                Some(())
            }
            NodeKind::Set(characters) => self.character(characters),
            NodeKind::Sequence(parts) => {
                let parts: Vec<&Node> = parts.iter().collect();
                self.parts(&parts, length)
            }
            NodeKind::Choice(branches) => {
                let possible: Vec<&Node> = branches
                    .iter()
                    .filter(|branch| branch.can_have(length))
                    .collect();
                let nth = self.manner as usize % possible.len().max(1);
                self.node(possible.get(nth)?, length)
            }
            NodeKind::Repeat { inner, min, max } => {
                let times = self.times(inner, length, *min, *max)?;
                self.parts(&vec![&**inner; times], length)
            }
        }
    }

    /// How often a part is repeated to have a length: as seldom or, in some manners, as often as possible.
    fn times(&self, inner: &Node, length: usize, min: usize, max: usize) -> Option<usize> {
        if length == 0 {
            return Some(min.min(1));
        }
        // What may be empty need not be repeated for the least number of times.
        let min = if inner.least == 0 { 0 } else { min };
        let fewest = length.div_ceil(inner.most).max(min);
        let most = length.checked_div(inner.least).unwrap_or(fewest).min(max);
        let wished = if self.manner / 4 % 2 == 1 {
            most
        } else {
            fewest
        };
        (fewest <= most).then_some(wished)
    }

    /// Writes parts one after the other, those in front as long as possible or, in some manners, those behind.
    fn parts(&mut self, parts: &[&Node], length: usize) -> Option<()> {
        let least = parts
            .iter()
            .fold(0, |sum: usize, part| sum.saturating_add(part.least));
        let mut spare = length.checked_sub(least)?;
        let mut lengths: Vec<usize> = parts.iter().map(|part| part.least).collect();
        let mut lengthen = |nth: usize| {
            let more = spare.min(parts[nth].most - parts[nth].least);
            lengths[nth] += more;
            spare -= more;
        };
        if (self.manner / 2).is_multiple_of(2) {
            (0..parts.len()).for_each(&mut lengthen);
        } else {
            (0..parts.len()).rev().for_each(&mut lengthen);
        }
        parts
            .iter()
            .zip(lengths)
            .try_for_each(|(part, length)| self.node(part, length))
    }

    /// Writes a character of a set: letters or digits in turn, always the same, or any.
    fn character(&mut self, characters: &[char]) -> Option<()> {
        let count_of = |c: char| self.written[kind(c)] as usize;
        let in_turn = characters.first().map_or(0, |&first| count_of(first));
        let digit = characters.iter().position(char::is_ascii_digit);
        let nth = match self.manner % 6 {
            0 => in_turn % same_kind(characters),
            1 => digit.map_or(in_turn, |first| {
                first + count_of('0') % same_kind(&characters[first..])
            }),
            2 => digit.unwrap_or(0),
            3 => characters.iter().position(|&c| c == '0').unwrap_or(0),
            4 => 0,
            _ => {
                let seed = self.manner.wrapping_mul(31) + self.out.len() as u32;
                (seed.wrapping_mul(0x9E37_79B1) >> 16) as usize
            }
        };
        let nth = nth % characters.len().max(1);
        let character = *characters.get(nth)?;
        self.out.push(character);
        self.written[kind(character)] += 1;
        Some(())
    }
}

/// How many characters at the front are of the kind of the first.
fn same_kind(characters: &[char]) -> usize {
    let first = characters.first().map(|&c| kind(c));
    let is_same = |c: &&char| Some(kind(**c)) == first;
    characters.iter().take_while(is_same).count().max(1)
}

/// Some characters of a set, the most readable first; none that XML does not allow.
fn chosen(class: &ClassUnicode) -> Vec<char> {
    let all = class
        .ranges()
        .iter()
        .flat_map(|range| (range.start()..=range.end()).take(2 * CHOSEN));
    let mut chosen: Vec<char> = all.filter(|&c| is_xml(c)).take(4 * CHOSEN).collect();
    chosen.sort_by_key(|&c| (kind(c), c == '0', c));
    chosen.truncate(CHOSEN + 32);
    chosen
}

/// How many kinds of characters there are.
const KINDS: usize = 8;

/// The kind of a character. Small letters after capitals, so that `[A-Za-z]` gives capitals; white space last.
fn kind(c: char) -> usize {
    match c {
        'A'..='Z' => 0,
        'a'..='z' => 1,
        '0'..='9' => 2,
        '-' | '_' | '.' | ':' | '/' => 3,
        '!'..='~' => 4,
        _ if c.is_alphanumeric() => 5,
        _ if !c.is_whitespace() => 6,
        _ => 7,
    }
}

/// Whether XML allows a character. (XML 1.0 §2.2)
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn examples(pattern: &str) -> (Pattern, PatternExamples) {
        let pattern = Pattern::parse(pattern).expect("a pattern");
        let examples = pattern.examples();
        (pattern, examples)
    }

    #[test]
    fn the_first_manner_is_readable() {
        for (pattern, length, text) in [
            ("PO-[0-9]{6}", 9, "PO-123456"),
            ("[A-Z]{2}[0-9]{2}[A-Z0-9]{4}", 8, "AB12CDEF"),
            ("(a|bc)+", 1, "a"),
            ("(a|bc)+", 4, "bcbc"),
            ("[^A-Za-z0-9]", 1, "-"),
            ("\\p{IsGreek}{2}", 2, "\u{370}\u{371}"),
            ("", 0, ""),
        ] {
            let (_, examples) = examples(pattern);
            assert_eq!(examples.text(length, 0).as_deref(), Some(text), "{pattern}");
        }
    }

    #[test]
    fn large_repetitions_are_not_written_out_for_nothing() {
        let (pattern, examples) = examples("((a{0,50}){0,50}b){0,9}");
        assert_eq!(examples.text(3, 0).as_deref(), Some("aab"));
        assert!(pattern.is_match("aab"));
        assert_eq!(examples.text(0, 0).as_deref(), Some(""));
    }

    proptest! {
        #[test]
        fn what_is_made_matches(
            parts in proptest::collection::vec(
                (
                    proptest::sample::select(vec!["a", "[ab]", "[^b]", "\\d", "\\i", "\\C", "é", ".", "(x|yz|)", "(a|b[0-9]{2,3})", "(ab?|c*){2}", "\\p{Lu}"]),
                    proptest::sample::select(vec!["", "", "{0}", "{2}", "{1,3}", "{0,2}", "+", "*", "?"]),
                ),
                0..6,
            ),
            manner in 0u32..60,
        ) {
            let pattern: String = parts.iter().map(|(part, count)| format!("({part}){count}")).collect();
            let (pattern, examples) = examples(&pattern);
            let least = *examples.lengths().start();
            let shortest = examples.text(least, manner);
            prop_assert!(shortest.is_some(), "{pattern:?}");
            for length in least..least + 8 {
                if let Some(text) = examples.text(length, manner) {
                    prop_assert_eq!(text.chars().count(), length, "{:?}", text);
                    prop_assert!(pattern.is_match(&text), "{:?} {:?}", pattern, text);
                }
            }
        }
    }
}
