//! What must hold for any Plan, any message and any way it arrives.

mod common;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error, ErrorKind, Fast, Unknown, Validation};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Index, Plan, Record};
use common::message::{Style, message};
use common::random::{self, Random};
use proptest::prelude::*;

fn options(seed: u64) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    if seed.is_multiple_of(3) {
        options.validation = Validation::Full;
    }
    if seed.is_multiple_of(5) {
        options.unknown_elements = Unknown::Skip;
    }
    options
}

fn style(random: &mut Random) -> Style {
    Style {
        gap: ["", "", "\n", "\n      ", "\r\n  "][random.below(5)],
        noise: [0, 0, 1, 5, 30][random.below(5)],
        size: [10, 50, 300][random.below(3)],
    }
}

type Outcome = Result<(Record, Index), Error>;

fn decode(decoder: &mut Decoder, plan: &Arc<Plan>, root: ElementId, text: &[u8]) -> Outcome {
    let (mut record, mut index) = (Record::new(plan.clone(), root), Index::new());
    decoder.decode_into(root, text, &mut record, Some(&mut index))?;
    Ok((record, index))
}

/// The same message fed in random pieces.
fn feed(
    decoder: &mut Decoder,
    root: ElementId,
    text: &[u8],
    random: &mut Random,
) -> Result<Record, Error> {
    decoder.begin(root);
    let largest = [1, 3, 20, 200][random.below(4)];
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.below(largest)).min(rest.len()));
        decoder.feed(piece)?;
        rest = after;
    }
    decoder.finish()
}

/// Changes a few bytes.
fn mutate(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => bytes[at] = *random.pick(b"<>&/\"' ]x0\xff\x00"),
            2 => {
                bytes.remove(at);
            }
            3 => bytes.insert(at, *random.pick(b"<>&/\"' ]x0\r")),
            4 => {
                let piece: Vec<u8> = bytes[at..(at + random.below(60)).min(bytes.len())].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                let end = (at + random.below(60)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// What is not well-formed may be told in other words if less of it was there to be seen.
fn same(one: &Result<Record, Error>, other: &Result<Record, Error>) -> bool {
    let is_xml = |error: &Error| matches!(error.kind(), ErrorKind::Xml(_));
    match (one, other) {
        (Err(one), Err(other)) => one == other || is_xml(one) || is_xml(other),
        _ => one == other,
    }
}

/// One stream of messages on every road: all must agree.
fn agree(seed: u64, broken: bool) -> Result<usize, TestCaseError> {
    let mut random = Random::new(seed ^ 0xabcd);
    let (plan, root) = random::plan(seed / 4);
    let options = options(seed);
    let mut slow_options = options;
    slow_options.fast = Fast::Off;
    let mut fast = Decoder::new(plan.clone(), options);
    let mut slow = Decoder::new(plan.clone(), slow_options);
    let mut chunked = Decoder::new(plan.clone(), options);
    let mut style = style(&mut random);
    let mut valid = 0;
    for _ in 0..6 {
        if random.chance(20) {
            style = self::style(&mut random);
        }
        let text = message(&plan, root, &mut random, style);
        let bytes = if broken {
            mutate(&text, &mut random)
        } else {
            text.into_bytes()
        };
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let expected = decode(&mut slow, &plan, root, &bytes);
        let found = decode(&mut fast, &plan, root, &bytes);
        prop_assert_eq!(
            &found,
            &expected,
            "fast and general road, seed {}: {}",
            seed,
            &shown
        );
        let fed = feed(&mut chunked, root, &bytes, &mut random);
        let expected = expected.map(|(record, _)| record);
        prop_assert!(
            same(&fed, &expected),
            "in pieces, seed {}: {:?} {:?} {}",
            seed,
            &fed,
            &expected,
            &shown
        );
        valid += usize::from(expected.is_ok());
        // Whatever is said of it, validating ends and does not contradict.
        let violations = slow.validate(root, &bytes);
        prop_assert_eq!(
            violations.is_empty(),
            expected.is_ok(),
            "{:?} {:?}",
            violations,
            expected
        );
        if let Err(error) = &expected {
            prop_assert_eq!(&violations[0], error);
        }
    }
    Ok(valid)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_road_and_every_chunking_gives_the_same_record(seed in any::<u64>()) {
        agree(seed, false)?;
    }

    #[test]
    fn a_mutated_message_gives_the_same_error_or_record_on_every_road(seed in any::<u64>()) {
        agree(seed, true)?;
    }
}

#[test]
fn most_random_messages_are_valid() {
    let valid: usize = (0..200)
        .map(|seed| agree(seed, false).expect("all roads agree"))
        .sum();
    assert!(valid > 800, "only {valid} of 1200 are valid");
}
