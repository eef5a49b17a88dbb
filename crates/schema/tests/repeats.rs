//! Groups that repeat and contain what repeats: the messages that are accepted are those that the schema describes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::{DecodeOptions, Decoder};
use bsoap_schema::{Definitions, MemoryLoader};

/// A schema of `r` with this content model of elements `a` and `b`.
fn definitions(model: &str) -> Definitions {
    let schema = format!(
        "<schema xmlns='http://www.w3.org/2001/XMLSchema'><element name='r'><complexType>{model}</complexType></element></schema>"
    );
    let mut loader = MemoryLoader::default();
    loader.add("t.xsd", schema);
    Definitions::load("t.xsd", &loader).unwrap_or_else(|error| panic!("{error}: {model}"))
}

/// Whether the content model accepts these children, each a letter.
fn accepts(decoder: &mut Decoder, definitions: &Definitions, children: &str) -> bool {
    let children: String = children.chars().map(|name| format!("<{name}/>")).collect();
    let root = definitions.element("", "r").expect("r is declared");
    decoder
        .decode(root, format!("<r>{children}</r>").as_bytes())
        .is_ok()
}

fn decoder(definitions: &Definitions) -> Decoder {
    Decoder::new(Arc::clone(definitions.plan()), DecodeOptions::default())
}

fn most(max: u32) -> String {
    match max {
        u32::MAX => "unbounded".to_owned(),
        max => max.to_string(),
    }
}

/// An element `name` of any content, from `min` to `max` times.
fn element(name: char, (min, max): (u32, u32)) -> String {
    let max = most(max);
    format!("<element name='{name}' type='string' minOccurs='{min}' maxOccurs='{max}'/>")
}

fn group(kind: &str, (min, max): (u32, u32), content: &str) -> String {
    let max = most(max);
    format!("<{kind} minOccurs='{min}' maxOccurs='{max}'>{content}</{kind}>")
}

const MANY: u32 = u32::MAX;

#[test]
fn a_repeated_group_of_one_repeated_element_is_exact() {
    const MOST: u32 = 14;
    let ranges = [
        (0, 1),
        (0, 3),
        (1, 1),
        (1, 2),
        (1, MANY),
        (2, 2),
        (2, 3),
        (2, MANY),
        (3, 5),
        (0, MANY),
    ];
    for outer in ranges {
        for inner in ranges {
            let model = group("sequence", outer, &element('a', inner));
            let definitions = definitions(&model);
            let mut decoder = decoder(&definitions);
            let is_possible = |count: u32| {
                (outer.0..=outer.1.min(MOST.max(outer.0))).any(|times| {
                    let fits = |most: u32| count <= times.saturating_mul(most);
                    count >= times * inner.0 && fits(inner.1) || count == 0 && times == 0
                })
            };
            for count in 0..=MOST {
                let children = "a".repeat(count as usize);
                let accepted = accepts(&mut decoder, &definitions, &children);
                assert_eq!(accepted, is_possible(count), "{count} in {model}");
            }
        }
    }
}

#[test]
fn a_choice_may_take_a_repeated_branch_several_times_in_a_row() {
    let models = [
        // The issue's own: from 3 to 5 of `a`, or a `b`, any number of times.
        (
            group(
                "choice",
                (0, MANY),
                &format!("{}{}", element('a', (3, 5)), element('b', (1, 1))),
            ),
            3,
            0,
        ),
        (
            group(
                "choice",
                (1, MANY),
                &format!("{}{}", element('a', (2, 3)), element('b', (1, 1))),
            ),
            2,
            1,
        ),
        (
            group(
                "choice",
                (3, MANY),
                &format!("{}{}", element('a', (1, 4)), element('b', (1, 1))),
            ),
            1,
            3,
        ),
        (
            group(
                "sequence",
                (2, MANY),
                &group(
                    "choice",
                    (1, MANY),
                    &format!("{}{}", element('a', (1, MANY)), element('b', (1, 1))),
                ),
            ),
            1,
            2,
        ),
    ];
    for (model, fewest, units) in models {
        let definitions = definitions(&model);
        let mut decoder = decoder(&definitions);
        for bits in 0_u32..1 << 9 {
            let length = bits.leading_zeros().abs_diff(32) as usize;
            let letters =
                (0..length.saturating_sub(1)).map(|at| if bits >> at & 1 == 1 { 'a' } else { 'b' });
            let children: String = letters.collect();
            let mut runs = children.split('b').filter(|run| !run.is_empty());
            let is_valid = runs.all(|run| run.len() >= fewest) && children.len() >= units;
            let accepted = accepts(&mut decoder, &definitions, &children);
            assert_eq!(accepted, is_valid, "{children} in {model}");
        }
    }
}

#[test]
fn nested_repeats_take_time_linear_in_the_children() {
    let mut model = element('a', (1, MANY));
    for _ in 0..50 {
        model = group("sequence", (2, MANY), &model);
    }
    // More occurrences are required than any message has.
    let definitions_of_many = definitions(&model);
    let mut refusing = decoder(&definitions_of_many);
    assert!(!accepts(&mut refusing, &definitions_of_many, "aaaa"));

    let model = group(
        "sequence",
        (2, MANY),
        &group(
            "choice",
            (1, MANY),
            &format!("{}{}", element('a', (1, MANY)), element('b', (1, 1))),
        ),
    );
    let definitions = definitions(&model);
    let mut decoder = decoder(&definitions);
    let begun = Instant::now();
    assert!(accepts(&mut decoder, &definitions, &"ab".repeat(200_000)));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

/// The words of letters that a content model describes, up to a length: by trying all groupings.
#[derive(Clone)]
enum Model {
    Letter(char, (u32, u32)),
    Choice(Vec<Model>, (u32, u32)),
    Sequence(Vec<Model>, (u32, u32)),
}

impl Model {
    fn schema(&self) -> String {
        let all = |models: &[Model]| models.iter().map(Self::schema).collect::<String>();
        match self {
            Self::Letter(name, range) => element(*name, *range),
            Self::Choice(branches, range) => group("choice", *range, &all(branches)),
            Self::Sequence(children, range) => group("sequence", *range, &all(children)),
        }
    }

    fn range(&self) -> (u32, u32) {
        let (Self::Letter(_, range) | Self::Choice(_, range) | Self::Sequence(_, range)) = self;
        *range
    }

    /// Where one occurrence that begins at one of these positions of the text may end.
    fn ends_of_one(&self, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        match self {
            Self::Letter(name, _) => {
                let fits = starts.iter().filter(|&&at| text.get(at) == Some(name));
                fits.map(|at| at + 1).collect()
            }
            Self::Choice(branches, _) => {
                let branches = branches.iter();
                branches.flat_map(|it| it.ends(text, starts)).collect()
            }
            Self::Sequence(children, _) => {
                let children = children.iter();
                children.fold(starts.clone(), |starts, it| it.ends(text, &starts))
            }
        }
    }

    /// Where the words that begin at one of these positions of the text may end.
    fn ends(&self, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        let (min, max) = self.range();
        let (mut at, mut found) = (starts.clone(), BTreeSet::new());
        for times in 0..=max.min(min + text.len() as u32 + 1) {
            if times >= min {
                found.extend(&at);
            }
            at = self.ends_of_one(text, &at);
        }
        found
    }
}

/// Compares the decoder with the model on all words of `a` and `b` up to a length.
fn is_exact(model: &Model, longest: u32) {
    let definitions = definitions(&model.schema());
    let mut decoder = decoder(&definitions);
    for length in 0..=longest {
        for bits in 0..1_u32 << length {
            let word: Vec<char> = (0..length)
                .map(|at| if bits >> at & 1 == 1 { 'b' } else { 'a' })
                .collect();
            let is_valid = model
                .ends(&word, &BTreeSet::from([0]))
                .contains(&word.len());
            let text: String = word.iter().collect();
            let accepted = accepts(&mut decoder, &definitions, &text);
            assert_eq!(accepted, is_valid, "{text} in {}", model.schema());
        }
    }
}

#[test]
fn choices_of_repeated_branches_are_exact_whatever_their_numbers() {
    let ranges = [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 5), (2, MANY)];
    let outer = [
        (0, 2),
        (0, MANY),
        (1, 2),
        (2, 2),
        (2, 3),
        (2, MANY),
        (3, MANY),
    ];
    for a in ranges {
        for b in [(1, 1), (1, MANY), (2, 2), (3, 4)] {
            for times in outer {
                let branches = vec![Model::Letter('a', a), Model::Letter('b', b)];
                is_exact(&Model::Choice(branches.clone(), times), 9);
                let choice = Model::Choice(branches, times);
                is_exact(&Model::Sequence(vec![choice], (0, 2)), 7);
            }
        }
    }
}

#[test]
fn nested_repeats_in_choices_are_exact() {
    let a = |range| Model::Letter('a', range);
    let b = Model::Letter('b', (1, 1));
    let nested = |inner, outer| Model::Sequence(vec![a(inner)], outer);
    for (inner, middle) in [
        ((2, 2), (3, 3)),
        ((3, 3), (1, 2)),
        ((2, 3), (0, 2)),
        ((3, 4), (2, MANY)),
    ] {
        for outer in [(1, 1), (0, 1), (1, 2), (2, 2), (0, MANY), (2, MANY)] {
            let branches = vec![nested(inner, middle), b.clone()];
            is_exact(&Model::Choice(branches, outer), 9);
            let children = vec![nested(inner, middle), b.clone()];
            is_exact(&Model::Sequence(children, outer), 9);
        }
    }
}

#[test]
fn a_choice_that_is_a_branch_of_a_choice_is_exact() {
    let b = Model::Letter('b', (1, 1));
    for inner in [(2, 2), (2, 3), (1, 2)] {
        for middle in [(2, 2), (1, 2), (2, 3), (1, MANY)] {
            for outer in [(1, 2), (2, 2), (2, 3), (0, MANY), (2, MANY)] {
                let branches = vec![Model::Letter('a', inner), b.clone()];
                let nested = Model::Choice(branches, middle);
                let other = Model::Letter('c', (1, 1));
                is_exact(&Model::Choice(vec![nested, other], outer), 9);
            }
        }
    }
}

#[test]
fn a_choice_that_occurs_once_keeps_the_counts_of_its_branches() {
    for (inner, middle) in [((2, 2), (2, 3)), ((3, 3), (1, 2)), ((2, 3), (0, 2))] {
        for once in [(0, 1), (1, 1)] {
            for outer in [(0, 2), (1, 2), (2, 2), (1, 5), (0, MANY), (2, MANY)] {
                let nested = Model::Sequence(vec![Model::Letter('a', inner)], middle);
                let branches = vec![nested, Model::Letter('b', (1, 1))];
                let choice = Model::Choice(branches, once);
                is_exact(&Model::Sequence(vec![choice], outer), 9);
            }
        }
    }
}
