//! The `pattern` facet: regular expressions of XSD (XSD 1.0 Part 2 Appendix F).
//!
//! They are not those of Perl: a pattern always matches the whole text, `^` and `$` are ordinary
//! characters, `\i` and `\c` are the characters of XML names, `[a-z-[aeiou]]` subtracts, and there
//! are no lazy quantifiers and no references back. What is left is regular in the mathematical
//! sense, so an automaton matches it in time linear in the text, whatever the pattern:
//!
//! ```text
//! pattern --parse.rs--> HIR of regex-syntax --> automata of regex-automata --> yes or no
//! ```
//!
//! Simple ones are tried by `sequence.rs` first. To build the automata takes 30 µs to 50 ms, to parse a pattern some µs.
//! Schemas have thousands of patterns and messages use few, so the automata of a pattern are built when it first matches;
//! except for large ones, which are built at once, to see that they keep the limit.

mod blocks;
mod class;
mod example;
mod parse;
mod sequence;

use std::fmt;
use std::sync::{Arc, OnceLock};

use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Anchored, Input, meta};
use regex_syntax::hir::{Class, Hir, HirKind};

pub use example::PatternExamples;
use sequence::Sequence;

/// The longest pattern, in bytes.
const MAX_LENGTH: usize = 1 << 16;
/// How deep parentheses and subtractions may nest.
const MAX_DEPTH: usize = 100;
/// How many bytes the automaton of one pattern may have.
const MAX_AUTOMATON: usize = 10 << 20;

/// From this [`weight`] on, automata are built at once. Below it they stay below 40 MB for sure,
/// for no range of characters needs more than 2 KB; a few hundred KB are usual.
const HEAVY: u64 = 20_000;

/// A pattern. A clone shares its automata.
///
/// ```
/// use bsoap_datatypes::Pattern;
///
/// let consonants = Pattern::parse("[a-z-[aeiou]]{2,}").unwrap();
/// assert!(consonants.is_match("xsd"));
/// assert!(!consonants.is_match("soap") && !consonants.is_match("xsd "));
///
/// let error = Pattern::parse("a(b").unwrap_err();
/// assert_eq!(error.to_string(), "the pattern ends where ) was expected, at byte 3");
/// ```
#[derive(Clone)]
pub struct Pattern(Arc<Shared>);

struct Shared {
    source: Box<str>,
    /// How it is matched if it is simple.
    sequence: Option<Sequence>,
    /// `None` inside if it cannot be built, which parsing has ruled out.
    regex: OnceLock<Option<meta::Regex>>,
}

impl Pattern {
    /// Parses a pattern as written in a schema.
    pub fn parse(source: &str) -> Result<Self, PatternError> {
        if source.len() > MAX_LENGTH {
            return Err(PatternError::new(
                0,
                PatternErrorKind::TooLong { limit: MAX_LENGTH },
            ));
        }
        let hir = parse::parse(source)?;
        let regex = OnceLock::new();
        if weight(&hir) >= HEAVY {
            let limit = MAX_AUTOMATON;
            let heavy = build(&hir, Some(limit));
            let heavy =
                heavy.ok_or_else(|| PatternError::new(0, PatternErrorKind::TooLarge { limit }))?;
            regex.get_or_init(|| Some(heavy));
        }
        Ok(Self(Arc::new(Shared {
            source: source.into(),
            sequence: Sequence::new(&hir),
            regex,
        })))
    }

    /// Does the pattern match all of `text`?
    pub fn is_match(&self, text: &str) -> bool {
        let sequence = self.0.sequence.as_ref();
        sequence.is_some_and(|sequence| sequence.takes(text.as_bytes())) || self.automaton(text)
    }

    fn automaton(&self, text: &str) -> bool {
        let regex = self
            .0
            .regex
            .get_or_init(|| build(&parse::parse(&self.0.source).ok()?, None));
        regex
            .as_ref()
            .is_some_and(|regex| regex.is_match(Input::new(text).anchored(Anchored::Yes)))
    }

    /// The pattern as written in the schema.
    pub fn source(&self) -> &str {
        &self.0.source
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.0.source)
    }
}

/// The automata, unless they are larger than the limit.
fn build(hir: &Hir, limit: Option<usize>) -> Option<meta::Regex> {
    let config = meta::Config::new()
        .nfa_size_limit(limit)
        .which_captures(WhichCaptures::None);
    meta::Builder::new()
        .configure(config)
        .build_from_hir(hir)
        .ok()
}

/// How many bytes and ranges of characters a pattern comes to when its repetitions are written
/// out. Recurses as deep as parentheses nest, of which `MAX_DEPTH` is the limit.
fn weight(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Capture(capture) => weight(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(weight).fold(1, u64::saturating_add)
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            weight(&repetition.sub)
                .saturating_add(1)
                .saturating_mul(u64::from(times))
        }
    }
}

/// A text is no pattern, or passes a limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternError {
    offset: usize,
    kind: PatternErrorKind,
}

impl PatternError {
    fn new(offset: usize, kind: PatternErrorKind) -> Self {
        Self { offset, kind }
    }

    /// The byte of the pattern at which it went wrong.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong.
    pub fn kind(&self) -> &PatternErrorKind {
        &self.kind
    }
}

/// What is wrong with a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PatternErrorKind {
    /// The pattern ends too early.
    End {
        /// What was still to come.
        expected: &'static str,
    },
    /// A character that must be escaped here.
    Unexpected(char),
    /// A quantifier has nothing before it to repeat.
    NothingToRepeat,
    /// A `{` is not followed by `n}`, `n,}` or `n,m}` with n ≤ m.
    Quantity,
    /// There is no such escape in XSD.
    Escape(char),
    /// There is no general category or block of this name.
    Property(Box<str>),
    /// A character class without characters.
    EmptyClass,
    /// A range in a character class whose end comes before its start.
    Range {
        /// The start of the range.
        first: char,
        /// Its end.
        last: char,
    },
    /// The pattern is longer than the limit.
    TooLong {
        /// In bytes.
        limit: usize,
    },
    /// Parentheses or subtractions nest deeper than the limit.
    TooDeep {
        /// In levels.
        limit: usize,
    },
    /// The automaton would be larger than the limit.
    TooLarge {
        /// In bytes.
        limit: usize,
    },
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PatternErrorKind::End { expected } => {
                write!(f, "the pattern ends where {expected} was expected")
            }
            PatternErrorKind::Unexpected(c) => write!(f, "the character {c:?} must be escaped"),
            PatternErrorKind::NothingToRepeat => f.write_str("a quantifier has nothing to repeat"),
            PatternErrorKind::Quantity => {
                f.write_str("a quantity must be {n}, {n,} or {n,m} with n ≤ m")
            }
            PatternErrorKind::Escape(c) => write!(f, "the escape \\{c} does not exist"),
            PatternErrorKind::Property(name) => write!(f, "there is no category or block {name:?}"),
            PatternErrorKind::EmptyClass => f.write_str("a character class is empty"),
            PatternErrorKind::Range { first, last } => {
                write!(f, "the range {first:?} to {last:?} is empty")
            }
            PatternErrorKind::TooLong { limit } => {
                write!(f, "the pattern is longer than the limit of {limit} bytes")
            }
            PatternErrorKind::TooDeep { limit } => {
                write!(f, "the pattern nests deeper than the limit of {limit}")
            }
            PatternErrorKind::TooLarge { limit } => {
                write!(
                    f,
                    "the automaton of the pattern is larger than the limit of {limit} bytes"
                )
            }
        }?;
        write!(f, ", at byte {}", self.offset)
    }
}

impl std::error::Error for PatternError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::parse(pattern)
            .unwrap_or_else(|error| panic!("{pattern}: {error}"))
            .is_match(text)
    }

    fn error(pattern: &str) -> PatternErrorKind {
        Pattern::parse(pattern).expect_err(pattern).kind
    }

    #[test]
    fn a_pattern_matches_the_whole_text_or_nothing() {
        assert!(matches("a|bc", "bc") && matches("a|bc", "a"));
        assert!(!matches("a|bc", "abc") && !matches("a|bc", "b") && !matches("a", "a\n"));
        assert!(matches("", "") && !matches("", "a"));
        assert!(matches("(|a)b", "b") && matches("()", ""));
    }

    #[test]
    fn circumflex_and_dollar_are_ordinary_characters() {
        assert!(matches("^a$", "^a$") && !matches("^a$", "a"));
        assert!(matches("[a^$]+", "^$a"));
    }

    #[test]
    fn the_dot_is_any_character_of_a_line() {
        assert!(
            matches(".", "x") && matches(".", "𝄞") && matches(".", "\u{85}") && matches(".", "\t")
        );
        assert!(!matches(".", "\n") && !matches(".", "\r"));
    }

    #[test]
    fn quantifiers_count() {
        for (pattern, fits, fails) in [
            ("a?", ["", "a"], ["aa", "b"]),
            ("a+", ["a", "aaa"], ["", "b"]),
            ("a*", ["", "aaa"], ["b", "ab"]),
            ("a{2}", ["aa", "aa"], ["a", "aaa"]),
            ("a{2,}", ["aa", "aaaaa"], ["a", ""]),
            ("(ab){1,2}", ["ab", "abab"], ["", "ababab"]),
            ("a{0,0}", ["", ""], ["a", "b"]),
        ] {
            for text in fits {
                assert!(matches(pattern, text), "{pattern} {text}");
            }
            for text in fails {
                assert!(!matches(pattern, text), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn classes_subtract_negate_and_nest() {
        assert!(matches("[a-z-[aeiou]]+", "xyz") && !matches("[a-z-[aeiou]]+", "xyza"));
        assert!(matches("[^a-z-[0-9]]", "A") && !matches("[^a-z-[0-9]]", "5"));
        assert!(matches("[a-z-[b-y-[m]]]+", "amz") && !matches("[a-z-[b-y-[m]]]", "n"));
        assert!(matches("[-a]+", "a-") && matches("[a-]+", "a-") && matches("[\\-a]+", "-a"));
        assert!(matches("[A-Z,a-z,-,0-9]{1,10}", "a,Z,0"));
        assert!(
            matches("[\\i-[:]][\\c-[:]]*", "name") && !matches("[\\i-[:]][\\c-[:]]*", "p:name")
        );
        assert!(matches("[.*+?(){}|]+", "*.|({?+})"));
    }

    #[test]
    fn escapes_mean_what_xsd_says() {
        assert!(matches(r"\d+", "12٣") && !matches(r"\d", "²"));
        assert!(matches(r"\w+", "aé1+€") && !matches(r"\w", "_") && !matches(r"\w", " "));
        assert!(matches(r"\s+", " \t\n\r") && !matches(r"\s", "\u{a0}"));
        assert!(matches(r"\i\c*", "a-1.é:") && !matches(r"\i", "1"));
        assert!(matches(r"\I\C", "1 ") && matches(r"\D\S\W", "ax_"));
        assert!(matches(
            r"\n\r\t\\\|\.\?\*\+\(\)\{\}\-\[\]\^",
            "\n\r\t\\|.?*+(){}-[]^"
        ));
        assert!(matches(r"\p{Lu}\P{Lu}[\p{Nd}-[5]]", "Aa4") && !matches(r"\p{Lu}", "a"));
        assert!(matches(
            r"\p{IsBasicLatin}\P{IsBasicLatin}\p{IsGreek}",
            "aéα"
        ));
        assert!(matches(r"\p{IsPrivateUse}", "\u{10fffd}"));
    }

    #[test]
    fn what_is_no_pattern_says_what_is_wrong() {
        use PatternErrorKind as K;
        assert_eq!(error("*a"), K::NothingToRepeat);
        assert_eq!(error("a**"), K::NothingToRepeat);
        assert_eq!(error("a|?"), K::NothingToRepeat);
        assert_eq!(error("(?:a)"), K::NothingToRepeat);
        assert_eq!(error("a)"), K::Unexpected(')'));
        assert_eq!(error("a]"), K::Unexpected(']'));
        assert_eq!(error("a}"), K::Unexpected('}'));
        assert_eq!(error("[a[b]]"), K::Unexpected('['));
        assert_eq!(error("[a-z-[b]c]"), K::Unexpected('c'));
        assert_eq!(error("[a"), K::End { expected: "]" });
        assert_eq!(
            error("a\\"),
            K::End {
                expected: "an escape"
            }
        );
        for quantity in [
            "a{", "a{}", "a{,2}", "a{2,1}", "a{x}", "a{1", "a{1,2,3}", "a{-1}",
        ] {
            assert_eq!(error(quantity), K::Quantity, "{quantity}");
        }
        assert_eq!(error("[]"), K::EmptyClass);
        assert_eq!(error("[^]"), K::EmptyClass);
        assert_eq!(
            error("[b-a]"),
            K::Range {
                first: 'b',
                last: 'a'
            }
        );
        assert_eq!(error(r"[a-\d]"), K::Escape('d'));
        for escape in ['b', 'B', 'z', 'Z', '1', 'u', 'x', '$', 'é'] {
            assert_eq!(error(&format!("\\{escape}")), K::Escape(escape));
        }
        assert_eq!(error(r"\p{Lx}"), K::Property("Lx".into()));
        assert_eq!(error(r"\p{IsKlingon}"), K::Property("IsKlingon".into()));
        assert_eq!(error(r"\p{Greek}"), K::Property("Greek".into()));
        assert_eq!(error(r"\p{"), K::End { expected: "}" });
        assert_eq!(error(r"\pL"), K::Escape('p'));
    }

    #[test]
    fn limits_hold_and_are_named() {
        use PatternErrorKind as K;
        assert_eq!(
            error(&"a".repeat(MAX_LENGTH + 1)),
            K::TooLong { limit: MAX_LENGTH }
        );
        let deep = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(error(&deep(MAX_DEPTH + 1)), K::TooDeep { limit: MAX_DEPTH });
        assert!(matches(&deep(MAX_DEPTH), "a"));
        assert_eq!(
            error(&"[a-".repeat(MAX_DEPTH + 2)),
            K::TooDeep { limit: MAX_DEPTH }
        );
        assert_eq!(
            error("(((a{1000}){1000}){1000}){1000}"),
            K::TooLarge {
                limit: MAX_AUTOMATON
            }
        );
        assert_eq!(
            error("a{4294967295}"),
            K::TooLarge {
                limit: MAX_AUTOMATON
            }
        );
        assert_eq!(
            error("a{4294967296}"),
            K::TooLarge {
                limit: MAX_AUTOMATON
            }
        );
        assert_eq!(
            error(&r"\w".repeat(30_000)),
            K::TooLarge {
                limit: MAX_AUTOMATON
            }
        );
        assert!(matches("(){1000000}", ""));
        assert_eq!(
            error("(a|(b|(c{0,30000}){0,30000}){0,30000}){0,30000}"),
            K::TooLarge {
                limit: MAX_AUTOMATON
            }
        );
    }

    #[test]
    fn patterns_of_common_schemas_keep_the_limit() {
        for pattern in [
            r"\c{1,255}",
            ".{0,4000}",
            r"[^\s]{1,1000}",
            r"\w{1,64}",
            r"\p{L}{1,100}",
            r"\d{1,100}",
        ] {
            assert!(matches(pattern, "5") || matches(pattern, "a"), "{pattern}");
        }
    }

    #[test]
    fn every_block_is_known() {
        for (name, _) in blocks::BLOCKS {
            assert!(
                Pattern::parse(&format!(r"\p{{Is{name}}}")).is_ok(),
                "{name}"
            );
        }
    }
}
