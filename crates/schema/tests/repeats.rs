//! Groups that repeat and contain what repeats: the messages that are accepted are those that the schema describes.

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
fn a_repeated_group_of_one_repeated_element_is_exact_if_the_numbers_have_no_gap() {
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
            let possible: Vec<u32> = (0..=MOST).filter(|&count| is_possible(count)).collect();
            let gapless = possible.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            for count in (0..=MOST).filter(|_| gapless) {
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
