//! Groups that repeat and contain what repeats: the messages that are accepted are those that the schema describes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::{BuildError, DecodeOptions, Decoder, Value, View, build, encode};
use bsoap_schema::{Definitions, MemoryLoader};

#[path = "repeats/splits.rs"]
mod splits;

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
    is_exact_for(model, &['a', 'b'], longest);
}

/// Compares the decoder with the model on all words of these letters up to a length.
#[track_caller]
fn is_exact_for(model: &Model, letters: &[char], longest: u32) {
    let definitions = definitions(&model.schema());
    let mut decoder = decoder(&definitions);
    for length in 0..=longest {
        for number in 0..letters.len().pow(length) {
            let digit = |at| number / letters.len().pow(at) % letters.len();
            let word: Vec<char> = (0..length).map(|at| letters[digit(at)]).collect();
            let is_valid = model
                .ends(&word, &BTreeSet::from([0]))
                .contains(&word.len());
            let text: String = word.iter().collect();
            let accepted = accepts(&mut decoder, &definitions, &text);
            assert_eq!(accepted, is_valid, "{text} in {}", model.schema());
            let sent = send(&definitions, &text);
            assert_eq!(
                sent.is_ok(),
                is_valid,
                "{text} in {}: {sent:?}",
                model.schema()
            );
            if let Ok(sent) = sent {
                assert_eq!(sent, text, "in {}", model.schema());
            }
        }
    }
}

/// Sends these children in this order. Returns those that were sent.
fn send(definitions: &Definitions, children: &str) -> Result<String, BuildError> {
    let names = BTreeSet::from_iter(children.chars());
    let mut members: Vec<(String, Value)> = Vec::new();
    for name in names {
        let values = children.chars().filter(|it| *it == name);
        let values: Vec<Value> = values.map(|_| Value::from("")).collect();
        members.push((name.to_string(), Value::Array(values)));
    }
    let order = children.chars().map(|name| Value::from(name.to_string()));
    members.push(("#order".to_owned(), Value::Array(order.collect())));
    send_value(definitions, &Value::object(members))
}

/// Sends a value. Returns the children that were sent.
fn send_value(definitions: &Definitions, value: &Value) -> Result<String, BuildError> {
    let root = definitions.element("", "r").expect("r is declared");
    let record = build(definitions.plan(), root, value)?;
    let mut text = Vec::new();
    encode(&record, &mut text).expect("it is encoded");
    let text = String::from_utf8_lossy(&text).into_owned();
    let names = text.split('<').filter_map(|tag| tag.chars().next());
    Ok(names.filter(|name| ('a'..='c').contains(name)).collect())
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

#[test]
fn choices_in_choices_do_not_exceed_the_outer_one() {
    for inner in [(1, 1), (2, 2), (2, 3)] {
        for middle in [(1, 2), (2, 2)] {
            for outer in [(1, 2), (2, 2), (2, 3)] {
                let branches = vec![Model::Letter('a', inner), Model::Letter('b', (1, 1))];
                let nested = Model::Choice(branches, middle);
                let other = Model::Letter('c', (1, 1));
                let choice = Model::Choice(vec![nested, other], outer);
                is_exact_for(&choice, &['a', 'b', 'c'], 7);
            }
        }
    }
}

const OUTER: [(u32, u32); 8] = [
    (0, 2),
    (0, MANY),
    (1, 2),
    (1, MANY),
    (2, 2),
    (2, 3),
    (2, MANY),
    (3, MANY),
];

#[test]
fn repeated_sequences_of_a_repeated_and_optional_children_are_exact() {
    let ranges = [
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
        (2, 2),
        (2, 3),
        (3, 3),
        (3, 4),
        (3, 5),
        (2, MANY),
    ];
    for a in ranges {
        for b in [(0, 1), (0, 2), (0, MANY), (1, 1), (2, 2)] {
            for times in OUTER {
                let (a, b) = (Model::Letter('a', a), Model::Letter('b', b));
                for children in [vec![a.clone(), b.clone()], vec![b, a]] {
                    let sequence = Model::Sequence(children, times);
                    is_exact(&sequence, 8);
                    if times == (1, 2) || times == (2, 3) {
                        is_exact(&Model::Sequence(vec![sequence], (2, 2)), 8);
                    }
                }
            }
        }
    }
}

#[test]
fn repeated_sequences_of_three_children_are_exact() {
    for b in [(1, 1), (1, 2), (2, 2), (2, 3), (3, 4)] {
        for times in OUTER {
            let side = |name| Model::Letter(name, (0, 1));
            let children = vec![side('a'), Model::Letter('b', b), side('c')];
            is_exact_for(&Model::Sequence(children, times), &['a', 'b', 'c'], 6);
        }
    }
}

#[test]
fn repeated_sequences_of_optional_nested_repeats_are_exact() {
    let optional = |name, range| Model::Sequence(vec![Model::Letter(name, range)], (0, 1));
    for a in [(2, 2), (2, 3), (3, 4)] {
        for b in [(1, 2), (2, 2), (3, 4)] {
            for times in OUTER {
                let children = vec![optional('a', a), optional('b', b)];
                is_exact(&Model::Sequence(children, times), 10);
            }
        }
    }
}

#[test]
fn runs_in_choices_and_sequences_inside_of_a_repeated_sequence_are_exact() {
    for a in [(1, 2), (2, 2), (2, 3), (3, 4)] {
        for times in [(0, 2), (0, MANY), (1, 2), (2, 2), (2, MANY)] {
            let (a, b) = (Model::Letter('a', a), Model::Letter('b', (0, 1)));
            let c = Model::Letter('c', (1, 1));
            for once in [(0, 1), (1, 1), (1, 2), (2, 2)] {
                let choice = Model::Choice(vec![a.clone(), c.clone()], once);
                let sequence = Model::Sequence(vec![choice, b.clone()], times);
                is_exact_for(&sequence, &['a', 'b', 'c'], 6);
                let inner = Model::Sequence(vec![a.clone(), b.clone()], once);
                let optional = Model::Letter('c', (0, 1));
                let sequence = Model::Sequence(vec![inner.clone(), optional], times);
                is_exact_for(&sequence, &['a', 'b', 'c'], 6);
                let choice = Model::Choice(vec![inner, c.clone()], times);
                is_exact_for(&choice, &['a', 'b', 'c'], 6);
            }
        }
    }
}

/// The error when these values are sent, without an order.
fn refused(model: &Model, values: &[(&str, usize)]) -> String {
    let definitions = definitions(&model.schema());
    let root = definitions.element("", "r").expect("r is declared");
    match build(definitions.plan(), root, &self::values(values)) {
        Ok(_) => panic!("it is sent"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn occurrences_of_groups_with_runs_are_checked_before_they_are_sent() {
    let letter = |name, range| Model::Letter(name, range);
    let choice = Model::Choice(vec![letter('a', (2, 2)), letter('b', (1, 1))], (2, 3));
    for (a, b, found) in [
        (2, 0, "at most 1"),
        (0, 1, "at most 1"),
        (4, 2, "more than 3"),
    ] {
        assert_eq!(
            refused(&choice, &[("a", a), ("b", b)]),
            format!("a choice of a, b occurs {found} times, expected 2 to 3 at /r")
        );
    }
    assert_eq!(
        refused(&choice, &[("a", 3)]),
        "3 of a, expected at least 4 at /r"
    );
    let sequence = Model::Sequence(vec![letter('a', (3, 4)), letter('b', (0, 1))], (2, 2));
    assert_eq!(
        refused(&sequence, &[("a", 9)]),
        "a sequence that begins with a occurs more than 2 times, expected 2 at /r"
    );
    assert_eq!(
        refused(&sequence, &[("a", 4)]),
        "a sequence that begins with a occurs at most 1 times, expected 2 at /r"
    );
}

#[test]
fn values_without_an_order_are_placed_so_that_all_have_a_place() {
    let letter = |name, range| Model::Letter(name, range);
    let model = Model::Sequence(vec![letter('a', (3, 4)), letter('b', (0, 1))], (0, MANY));
    let definitions = definitions(&model.schema());
    for (a, b, expected) in [
        (6, 0, "aaaaaa"),
        (6, 1, "aaaaaab"),
        (6, 2, "aaabaaab"),
        (7, 2, "aaaabaaab"),
        (12, 2, "aaaabaaaaaaaab"),
        (9, 3, "aaabaaabaaab"),
    ] {
        let values = |count: usize| Value::Array(vec![Value::from(""); count]);
        let value = Value::object([("a".to_owned(), values(a)), ("b".to_owned(), values(b))]);
        let sent = send_value(&definitions, &value).expect("it is sent");
        assert_eq!(sent, expected);
        assert!(accepts(&mut decoder(&definitions), &definitions, &sent));
    }
}

/// Values of these names, so many of each.
fn values(counts: &[(&str, usize)]) -> Value {
    let members = counts.iter().map(|(name, count)| {
        let values = vec![Value::from(""); *count];
        ((*name).to_owned(), Value::Array(values))
    });
    Value::object(members)
}

#[test]
fn siblings_of_a_group_do_not_shorten_its_runs() {
    let letter = |name, range| Model::Letter(name, range);
    let beside = |a, b, times| {
        let group = Model::Sequence(vec![letter('a', a), letter('b', b)], times);
        Model::Sequence(vec![group, letter('c', (0, MANY))], (1, 1))
    };
    for (model, counts, expected) in [
        (beside((1, 3), (0, 1), (2, 2)), (6, 0), "aaaaaa"),
        (beside((1, 3), (0, 1), (2, 2)), (6, 2), "aaabaaab"),
        (beside((1, 3), (0, 1), (2, 2)), (4, 2), "aaabab"),
        (beside((3, 4), (0, 1), (1, 2)), (8, 0), "aaaaaaaa"),
        (beside((3, 4), (0, 1), (1, 2)), (8, 2), "aaaabaaaab"),
        (beside((3, 4), (0, 1), (1, 2)), (7, 2), "aaaabaaab"),
        // Two of `b` need one occurrence.
        (beside((2, 3), (0, 2), (1, 2)), (6, 2), "aaaaaabb"),
        (beside((2, 3), (0, 2), (1, 2)), (6, 3), "aaabbaaab"),
    ] {
        let definitions = definitions(&model.schema());
        for siblings in [0, 1, 100] {
            let values = values(&[("a", counts.0), ("b", counts.1), ("c", siblings)]);
            let sent = send_value(&definitions, &values);
            let sent = sent.unwrap_or_else(|error| panic!("{error}: {}", model.schema()));
            assert_eq!(sent, format!("{expected}{}", "c".repeat(siblings)));
            assert!(accepts(&mut decoder(&definitions), &definitions, &sent));
        }
    }
    // Not every number of `a` is possible in one occurrence: from 3 to 4, and from 6 to 8.
    let nested = Model::Sequence(vec![letter('a', (3, 4))], (1, 2));
    let model = Model::Sequence(vec![nested, letter('b', (0, 1))], (2, 3));
    let sent = send_value(
        &definitions(&model.schema()),
        &values(&[("a", 8), ("b", 2)]),
    );
    assert_eq!(sent.expect("it is sent"), "aaaabaaaab");
    // What comes before a run needs another occurrence for each that is left.
    let model = Model::Sequence(vec![letter('b', (0, 1)), letter('a', (2, 3))], (1, MANY));
    let sent = send_value(
        &definitions(&model.schema()),
        &values(&[("a", 5), ("b", 2)]),
    );
    assert_eq!(sent.expect("it is sent"), "baaabaa");
}

#[test]
fn only_a_group_that_values_are_left_for_is_blamed() {
    let letter = |name, range| Model::Letter(name, range);
    let runs = Model::Sequence(vec![letter('a', (3, 4)), letter('b', (0, 1))], (1, 2));
    let group = Model::Sequence(vec![runs, letter('d', (1, 1))], (1, 2));
    let model = Model::Sequence(vec![group, letter('c', (0, 1))], (1, 1));
    let too_many_c = refused(&model, &[("a", 14), ("d", 2), ("c", 3)]);
    assert_eq!(too_many_c, "2 more items than are allowed at /r/c");
    let too_many_a = refused(&model, &[("a", 17), ("d", 2), ("c", 1)]);
    assert!(
        too_many_a.contains("a sequence that begins with a"),
        "{too_many_a}"
    );
}

#[test]
fn runs_through_sequences_are_read_in_linear_time() {
    let letter = |name, range| Model::Letter(name, range);
    let children = vec![letter('a', (3, 4)), letter('b', (0, 1))];
    let mut model = Model::Sequence(children, (2, MANY));
    for _ in 0..20 {
        model = Model::Sequence(vec![model, letter('c', (0, 1))], (1, MANY));
    }
    let definitions = definitions(&model.schema());
    let mut decoder = decoder(&definitions);
    let begun = Instant::now();
    assert!(accepts(&mut decoder, &definitions, &"a".repeat(200_000)));
    assert!(accepts(
        &mut decoder,
        &definitions,
        &"aaaaaabc".repeat(25_000)
    ));
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn repeated_groups_that_may_be_empty_are_exact_in_others() {
    for a in [(2, 2), (2, 3), (3, 4)] {
        for times in [(0, 2), (0, MANY), (1, 2), (2, MANY)] {
            for inner in [(0, 1), (1, 2), (2, 2), (0, 3)] {
                let runs = Model::Sequence(vec![Model::Letter('a', a)], (0, 1));
                let group = Model::Sequence(vec![runs, Model::Letter('b', (0, 1))], inner);
                let children = vec![group.clone(), Model::Letter('c', (0, 1))];
                is_exact_for(&Model::Sequence(children, times), &['a', 'b', 'c'], 6);
                let branches = vec![group, Model::Letter('c', (1, 1))];
                is_exact_for(&Model::Choice(branches, times), &['a', 'b', 'c'], 6);
            }
        }
    }
}

#[test]
fn runs_of_an_unbounded_choice_are_no_occurrences_of_the_sequence_around_it() {
    for b in [(2, 2), (3, 4)] {
        let branches = vec![Model::Letter('b', b), Model::Letter('c', (1, 1))];
        for choice in [(0, MANY), (0, 2)] {
            let choice = Model::Choice(branches.clone(), choice);
            let children = vec![Model::Letter('a', (2, 3)), choice];
            is_exact_for(&Model::Sequence(children, (2, MANY)), &['a', 'b', 'c'], 6);
        }
    }
}

/// Pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn range(&mut self) -> (u32, u32) {
        const RANGES: [(u32, u32); 12] = [
            (0, 1),
            (1, 1),
            (1, 1),
            (1, 2),
            (2, 2),
            (2, 3),
            (3, 4),
            (0, 2),
            (0, MANY),
            (1, MANY),
            (2, MANY),
            (1, 3),
        ];
        RANGES[self.below(RANGES.len())]
    }

    /// A model in which each letter occurs once, so that it is deterministic.
    fn model(&mut self, letters: &mut impl Iterator<Item = char>, depth: usize) -> Option<Model> {
        let range = self.range();
        if depth == 0 || self.below(4) == 0 {
            return Some(Model::Letter(letters.next()?, range));
        }
        let count = 1 + self.below(3);
        let children: Vec<Model> = (0..count)
            .filter_map(|_| self.model(letters, depth - 1))
            .collect();
        match (children.is_empty(), self.below(2)) {
            (true, _) => None,
            (_, 0) => Some(Model::Choice(children, range)),
            _ => Some(Model::Sequence(children, range)),
        }
    }
}

#[test]
fn random_models_are_exact() {
    let mut random = Random(1);
    for _ in 0..MODELS {
        let Some(model) = random.model(&mut ['a', 'b', 'c'].into_iter(), 4) else {
            continue;
        };
        let model = Model::Sequence(vec![model], (1, 1));
        is_exact_for(&model, &['a', 'b', 'c'], 5);
        for letter in ['a', 'b', 'c'] {
            is_exact_for(&model, &[letter], 14);
        }
    }
}

#[test]
fn names_are_looked_up_in_wide_models_as_they_are_searched_in_others() {
    let models = (1..MODELS).filter_map(|seed| {
        let mut random = Random(seed as u64 * 7919);
        random.model(&mut ['a', 'b', 'c'].into_iter(), 4)
    });
    for model in models {
        let model = Model::Sequence(vec![model], (1, 1));
        let schema = model.schema();
        // Each sequence begins with many children that may be absent.
        let mut wide = String::new();
        for (group, part) in schema.split("<sequence ").enumerate().skip(1) {
            let (attributes, rest) = part.split_once('>').expect("a start tag");
            let others =
                (0..20).map(|n| element('x', (0, 1)).replace("'x'", &format!("'x{group}.{n}'")));
            let others: String = others.collect();
            wide += &format!("<sequence {attributes}>{others}{rest}");
        }
        let (narrow, wide) = (definitions(&schema), definitions(&wide));
        let (mut narrow_decoder, mut wide_decoder) = (decoder(&narrow), decoder(&wide));
        for number in 0..5_usize.pow(5) {
            let letter = |at| ["", "a", "b", "c", "y"][number / 5_usize.pow(at) % 5];
            let children: String = (0..5).map(letter).collect();
            let accepted = accepts(&mut narrow_decoder, &narrow, &children);
            let found = accepts(&mut wide_decoder, &wide, &children);
            assert_eq!(found, accepted, "{children} in {schema}");
        }
    }
}

#[test]
fn what_was_received_is_sent_as_the_same_record() {
    let models = (1..MODELS).chain([25, 196]).filter_map(|seed| {
        let mut random = Random(seed as u64 * 7919);
        random.model(&mut ['a', 'b', 'c'].into_iter(), 4)
    });
    for model in models {
        let definitions = definitions(&Model::Sequence(vec![model], (1, 1)).schema());
        let root = definitions.element("", "r").expect("r is declared");
        let mut decoder = decoder(&definitions);
        for number in 0..4_usize.pow(5) {
            let letter =
                |at| ["", "<a>x</a>", "<b>x</b>", "<c>x</c>"][number / 4_usize.pow(at) % 4];
            let children: String = (0..5).map(letter).collect();
            let text = format!("<r>{children}</r>");
            let Ok(record) = decoder.decode(root, text.as_bytes()) else {
                continue;
            };
            let value = View::of(&record).to_value().expect("it has a value");
            let again = build(definitions.plan(), root, &value).expect("it is sent");
            assert_eq!(again.slots(), record.slots(), "{text}");
        }
    }
}

/// How many random models are compared.
const MODELS: usize = 60;
