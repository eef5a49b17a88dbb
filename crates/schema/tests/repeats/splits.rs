//! Values without `#order`: what can be split over the occurrences of the groups is sent, and nothing else.

use std::collections::BTreeSet;

use bsoap_codec::{View, build};

use super::{
    MANY, MODELS, Model, Random, accepts, decoder, definitions, refused, send_value, values,
};

/// The number of `a`, `b` and `c`.
type Numbers = [usize; 3];

const LETTERS: [char; 3] = ['a', 'b', 'c'];

impl Model {
    /// The numbers of letters that it can have, at most `most` of each: by trying all.
    fn numbers(&self, most: usize) -> BTreeSet<Numbers> {
        let one = match self {
            Self::Letter(name, _) => BTreeSet::from([LETTERS.map(|it| usize::from(it == *name))]),
            Self::Choice(branches, _) => branches.iter().flat_map(|it| it.numbers(most)).collect(),
            Self::Sequence(children, _) => {
                let none = BTreeSet::from([[0; 3]]);
                let children = children.iter().map(|it| it.numbers(most));
                children.fold(none, |sums, it| added(&sums, &it, most))
            }
        };
        let (min, max) = self.range();
        let (mut sums, mut found) = (BTreeSet::from([[0; 3]]), BTreeSet::new());
        // More occurrences than letters have an empty one.
        for times in 0..=max.min(min + 3 * most as u32 + 1) {
            if times >= min {
                found.extend(&sums);
            }
            sums = added(&sums, &one, most);
        }
        found
    }
}

fn added(some: &BTreeSet<Numbers>, more: &BTreeSet<Numbers>, most: usize) -> BTreeSet<Numbers> {
    let sum = |a: Numbers, b: &Numbers| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    let sums = some
        .iter()
        .flat_map(|a| more.iter().map(move |b| sum(*a, b)));
    sums.filter(|sum| sum.iter().all(|it| *it <= most))
        .collect()
}

/// Compares what is sent without an order with the model, for all numbers of the first letters up to these. What is sent is read as
/// the same Record. Returns how many of them are possible, and how many were wrong.
fn wrong_splits(model: &Model, letters: usize, most: usize) -> (usize, usize) {
    let possible = model.numbers(most);
    let schema = model.schema();
    let definitions = definitions(&schema);
    let root = definitions.element("", "r").expect("r is declared");
    let mut decoder = decoder(&definitions);
    let (mut tried, mut wrong) = (0, 0);
    for number in 0..(most + 1).pow(letters as u32) {
        let digit = |at: usize| match at < letters {
            true => number / (most + 1).pow(at as u32) % (most + 1),
            false => 0,
        };
        let numbers = [digit(0), digit(1), digit(2)];
        let members = [("a", numbers[0]), ("b", numbers[1]), ("c", numbers[2])];
        let declared = |name: &str| schema.contains(&format!("name='{name}'"));
        let given = members
            .into_iter()
            .filter(|(name, count)| *count > 0 || declared(name));
        let value = values(&given.collect::<Vec<_>>());
        let is_possible = possible.contains(&numbers);
        tried += usize::from(is_possible);
        let built = build(definitions.plan(), root, &value);
        if built.is_ok() != is_possible {
            eprintln!("{numbers:?} in {schema}: {:?}", built.err());
            wrong += 1;
            continue;
        }
        let Ok(record) = built else { continue };
        let sent = send_value(&definitions, &value).expect("it is sent");
        let count = |letter| sent.chars().filter(|it| *it == letter).count();
        assert_eq!(LETTERS.map(count), numbers, "{sent} in {schema}");
        let text: String = sent.chars().map(|it| format!("<{it}/>")).collect();
        let read = decoder.decode(root, format!("<r>{text}</r>").as_bytes());
        let read = read.unwrap_or_else(|error| panic!("{error}: {sent} in {schema}"));
        assert_eq!(read.slots(), record.slots(), "{sent} in {schema}");
        // The order of what is read is the one that it gets without `#order`.
        let value = View::of(&read).to_value().expect("it has a value");
        let has_order = value
            .as_object()
            .is_some_and(|it| it.get("#order").is_some());
        assert!(!has_order, "{sent} in {schema}");
    }
    (tried, wrong)
}

#[track_caller]
fn are_exact(models: impl IntoIterator<Item = (Model, usize)>, letters: usize) {
    let all = models
        .into_iter()
        .map(|(model, most)| wrong_splits(&model, letters, most));
    let sum = all.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    eprintln!("{} splits, {} wrong", sum.0, sum.1);
    assert_eq!(sum.1, 0, "of {}", sum.0);
}

const RANGES: [(u32, u32); 10] = [
    (0, 1),
    (0, 2),
    (0, MANY),
    (1, 1),
    (1, 2),
    (1, MANY),
    (2, 2),
    (2, 3),
    (3, 4),
    (3, 5),
];

const OUTER: [(u32, u32); 7] = [(0, 2), (0, MANY), (1, 2), (1, 3), (2, 3), (2, MANY), (3, 3)];

fn letter(name: char, range: (u32, u32)) -> Model {
    Model::Letter(name, range)
}

#[test]
fn each_occurrence_takes_what_leaves_enough_for_the_others() {
    for (a, b, times, given, expected) in [
        ((3, 4), (0, 2), (1, 3), (9, 3), "aaabbaaaaaab"),
        ((3, 4), (0, 2), (1, 3), (10, 6), "aaaabbaaabbaaabb"),
        ((0, 1), (1, 2), (1, 2), (2, 2), "abab"),
        ((1, MANY), (1, 1), (0, MANY), (5, 3), "aaababab"),
    ] {
        let model = Model::Sequence(vec![letter('a', a), letter('b', b)], times);
        let values = values(&[("a", given.0), ("b", given.1)]);
        let sent = send_value(&definitions(&model.schema()), &values);
        assert_eq!(sent.expect("it is sent"), expected);
    }
}

#[test]
fn values_of_two_children_are_split_wherever_they_can_be() {
    let ranges = RANGES
        .iter()
        .flat_map(|a| RANGES.iter().map(move |b| (*a, *b)));
    let models = ranges.flat_map(|(a, b)| {
        OUTER.iter().flat_map(move |&times| {
            let children = vec![letter('a', a), letter('b', b)];
            let nested = Model::Sequence(vec![letter('a', a)], (0, 2));
            [
                (Model::Sequence(children.clone(), times), 10),
                (Model::Choice(children, times), 7),
                (Model::Sequence(vec![nested, letter('b', b)], times), 8),
            ]
        })
    });
    are_exact(models, 2);
}

#[test]
fn values_of_three_children_are_split_wherever_they_can_be() {
    const RANGES: [(u32, u32); 5] = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)];
    let mut models = Vec::new();
    for a in RANGES {
        for b in RANGES {
            for c in RANGES {
                for times in [(0, 2), (1, 3), (2, MANY)] {
                    let (a, b, c) = (letter('a', a), letter('b', b), letter('c', c));
                    models.push((
                        Model::Sequence(vec![a.clone(), b.clone(), c.clone()], times),
                        6,
                    ));
                    for inner in [(0, 1), (1, 2), (2, 2)] {
                        let group = Model::Sequence(vec![a.clone(), b.clone()], inner);
                        models.push((Model::Sequence(vec![group.clone(), c.clone()], times), 4));
                        models.push((Model::Choice(vec![group, c.clone()], times), 5));
                        let group = Model::Choice(vec![b.clone(), c.clone()], inner);
                        models.push((Model::Sequence(vec![a.clone(), group], times), 5));
                    }
                }
            }
        }
    }
    are_exact(models, 3);
}

#[test]
fn values_of_random_models_are_split_wherever_they_can_be() {
    let models = (1..20 * MODELS).filter_map(|seed| {
        let mut random = Random(seed as u64 * 7919);
        let model = random.model(&mut LETTERS.into_iter(), 4)?;
        Some((Model::Sequence(vec![model], (1, 1)), 6))
    });
    are_exact(models, 3);
}

#[test]
fn values_are_split_in_linear_time() {
    let children = vec![
        letter('a', (3, 4)),
        letter('b', (0, 2)),
        letter('c', (0, 1)),
    ];
    let definitions = definitions(&Model::Sequence(children, (1, MANY)).schema());
    let value = values(&[("a", 70_000), ("b", 25_000), ("c", 20_000)]);
    let begun = std::time::Instant::now();
    let sent = send_value(&definitions, &value).expect("it is sent");
    let time = begun.elapsed();
    assert!(time < std::time::Duration::from_secs(2), "{time:?}");
    assert!(accepts(&mut decoder(&definitions), &definitions, &sent));
}

/// Each place of such a name takes all it can (`docs/design/schema.md`): two of the first `a` leave none for the last.
#[test]
fn values_of_a_name_with_two_places_in_a_group_may_need_an_order() {
    let children = vec![
        letter('a', (1, 2)),
        letter('b', (1, 1)),
        letter('a', (1, 1)),
    ];
    let model = Model::Sequence(children, (0, 2));
    assert!(model.numbers(2).contains(&[2, 1, 0]));
    assert_eq!(
        refused(&model, &[("a", 2), ("b", 1)]),
        "a (string) is missing at /r"
    );
}
