//! Simple patterns: a sequence of character sets, each with a fixed or open number of repetitions: `PO-[0-9]{6}`, `[A-Z]{2}\d+`.
//!
//! Most patterns of schemas are of this kind. Where a set that repeats has nothing in common with the one behind it, there
//! is one way to match, and a loop finds it, without an automaton's start. Only ASCII is looked at: what has other
//! characters, or does not match, is left to the automaton.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A pattern, step by step.
#[derive(Debug)]
pub(super) struct Sequence(Box<[PatternStep]>);

/// A set of characters and its number of repetitions.
#[derive(Clone, Copy, Debug)]
struct PatternStep {
    /// The ASCII characters of the set, a bit each.
    set: [u64; 2],
    min: u32,
    max: u32,
}

/// More steps are no simple pattern.
const MOST: usize = 64;

impl Sequence {
    /// `None` if the pattern is not that simple.
    pub(super) fn new(pattern: &Hir) -> Option<Self> {
        let mut steps = Vec::new();
        add(pattern, &mut steps)?;
        let is_clear = steps.windows(2).all(|pair| {
            let [one, next] = pair else { return true };
            one.min == one.max || (next.min > 0 && !one.meets(next))
        });
        is_clear.then(|| Self(steps.into()))
    }

    /// Whether a text surely matches.
    #[inline]
    pub(super) fn takes(&self, text: &[u8]) -> bool {
        let mut rest = text;
        for step in &self.0 {
            let most = rest.len().min(step.max as usize);
            let mut count = 0;
            while count < most && step.has(rest[count]) {
                count += 1;
            }
            if count < step.min as usize {
                return false;
            }
            rest = &rest[count..];
        }
        rest.is_empty()
    }
}

impl PatternStep {
    #[inline(always)]
    fn has(&self, byte: u8) -> bool {
        byte.is_ascii() && self.set[usize::from(byte >> 6) & 1] >> (byte & 63) & 1 != 0
    }

    fn meets(&self, other: &Self) -> bool {
        self.set[0] & other.set[0] != 0 || self.set[1] & other.set[1] != 0
    }
}

fn add(pattern: &Hir, steps: &mut Vec<PatternStep>) -> Option<()> {
    match pattern.kind() {
        // Only the ends of the whole text are looked for.
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => {
            for &byte in &literal.0 {
                steps.push(once(set_of([(byte, byte)])).filter(|_| byte.is_ascii())?);
            }
        }
        HirKind::Class(_) => steps.push(once(class(pattern)?)?),
        HirKind::Capture(capture) => add(&capture.sub, steps)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| add(part, steps))?,
        HirKind::Repetition(repetition) => {
            let step = PatternStep {
                set: class(&repetition.sub)?,
                min: repetition.min,
                max: repetition.max.unwrap_or(u32::MAX),
            };
            steps.push(step);
        }
        HirKind::Alternation(_) => return None,
    }
    (steps.len() <= MOST).then_some(())
}

fn once(set: [u64; 2]) -> Option<PatternStep> {
    Some(PatternStep {
        set,
        min: 1,
        max: 1,
    })
}

/// The ASCII characters of a set of characters.
fn class(pattern: &Hir) -> Option<[u64; 2]> {
    match pattern.kind() {
        HirKind::Capture(capture) => class(&capture.sub),
        HirKind::Literal(literal) => match *literal.0 {
            [byte @ 0..0x80] => Some(set_of([(byte, byte)])),
            _ => None,
        },
        HirKind::Class(Class::Unicode(class)) => {
            let ascii = class
                .ranges()
                .iter()
                .filter(|range| range.start().is_ascii());
            let ascii = ascii.map(|range| (range.start() as u8, range.end().min('\x7f') as u8));
            Some(set_of(ascii))
        }
        _ => None,
    }
}

fn set_of(ranges: impl IntoIterator<Item = (u8, u8)>) -> [u64; 2] {
    let mut set = [0; 2];
    for byte in ranges.into_iter().flat_map(|(first, last)| first..=last) {
        set[usize::from(byte >> 6) & 1] |= 1 << (byte & 63);
    }
    set
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{build, parse};
    use super::*;

    fn sequence(pattern: &str) -> Option<Sequence> {
        Sequence::new(&parse::parse(pattern).expect("a pattern"))
    }

    #[test]
    fn simple_patterns_are_known_by_their_steps() {
        for (pattern, fits) in [
            ("PO-[0-9]{6}-[0-9]{3}", "PO-123456-789"),
            ("[A-Z]{3}\\d{4}", "ABC1234"),
            ("[A-Z]*\\d+(x)", "7x"),
            ("(a{2})([bc])?", "aa"),
            ("", ""),
            ("\\c{1,20}", "name"),
            (".{0,9}", "<&>"),
        ] {
            let sequence = sequence(pattern).unwrap_or_else(|| panic!("{pattern}"));
            assert!(sequence.takes(fits.as_bytes()), "{pattern} {fits}");
            assert!(!sequence.takes(b"POX 1234567890"), "{pattern}");
        }
        for pattern in [
            "a|bc",
            "(ab)+",
            "[a-z]*e",
            "a?a",
            "\\d*[0-9]",
            "é+x",
            "a*b?",
        ] {
            assert!(sequence(pattern).is_none(), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn what_steps_take_the_automaton_takes(
            parts in proptest::collection::vec(
                (
                    proptest::sample::select(vec!["a", "[ab]", "[^b]", "\\d", "[0-3]", "é", ".", "(x)", "(a|b)", "ab"]),
                    proptest::sample::select(vec!["", "", "{0}", "{2}", "{1,3}", "{0,2}", "+", "*", "?"]),
                ),
                0..5,
            ),
            texts in proptest::collection::vec("[ab0-4éx]{0,6}", 1..30),
        ) {
            let pattern: String = parts.iter().flat_map(|(part, count)| [*part, *count]).collect();
            let hir = parse::parse(&pattern).expect("a pattern");
            let regex = build(&hir, None).expect("an automaton");
            if let Some(sequence) = Sequence::new(&hir) {
                for text in &texts {
                    let input = regex_automata::Input::new(text).anchored(regex_automata::Anchored::Yes);
                    let matches = regex.is_match(input);
                    prop_assert!(!sequence.takes(text.as_bytes()) || matches, "{} {}", pattern, text);
                    // Of ASCII it is certain.
                    prop_assert!(!text.is_ascii() || sequence.takes(text.as_bytes()) == matches, "{} {}", pattern, text);
                }
            }
        }
    }
}
