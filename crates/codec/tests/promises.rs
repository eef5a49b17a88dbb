//! What must hold for any Plan, any message and any way it arrives.

use bsoap_codec::decode::{DecodeOptions, Deviation, Tolerance, Validation};
use bsoap_testkit::decode_paths::DecodePaths;
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use proptest::prelude::*;

fn options(seed: u64) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    if seed.is_multiple_of(7) {
        options.accepted = Tolerance::Strict.into();
    }
    options.warnings = 1 + (seed % 4) as usize * 30;
    if seed.is_multiple_of(3) {
        options.validation = Validation::Full;
    }
    if seed.is_multiple_of(5) {
        options.accepted = (options.accepted)
            .with(Deviation::UnknownElement)
            .with(Deviation::UnknownAttribute);
    }
    if seed.is_multiple_of(2) {
        options.accepted = options.accepted.with(Deviation::EmptyValue);
    }
    if seed.is_multiple_of(11) {
        options.record_floor = 200;
        options.record_per_byte = (seed / 11 % 6) as usize;
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

/// Changes a few bytes.
fn mutate(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => bytes[at] = *random.pick(b"<>&/\"' ]x0\xff\x00"),
            2 => {
                bytes.remove(at);
            }
            3 => bytes.insert(at, *random.pick(b"<>&/\"' ]x0\r")),
            // Nothing is left between two tags.
            4 => {
                let next = |byte: u8, from: usize| {
                    let found = bytes[from..].iter().position(|&other| other == byte);
                    found.map_or(bytes.len(), |at| from + at)
                };
                let from = (next(b'>', at) + 1).min(bytes.len());
                let to = next(b'<', from);
                bytes.drain(from..to);
            }
            5 => {
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

/// One stream of messages on every path: all must agree.
fn agree(seed: u64, broken: bool) -> Result<usize, TestCaseError> {
    let mut random = Random::new(seed ^ 0xabcd);
    let (plan, root) = random_plan(seed / 4);
    let mut paths = DecodePaths::new(&plan, root, options(seed));
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
        match paths.agree(&bytes, &mut random) {
            Ok(is_valid) => valid += usize::from(is_valid),
            Err(difference) => {
                return Err(TestCaseError::fail(format!("seed {seed}: {difference}")));
            }
        }
    }
    Ok(valid)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_path_and_every_chunking_gives_the_same_record(seed in any::<u64>()) {
        agree(seed, false)?;
    }

    #[test]
    fn a_mutated_message_gives_the_same_error_or_record_on_every_path(seed in any::<u64>()) {
        agree(seed, true)?;
    }
}

#[test]
fn most_random_messages_are_valid() {
    let valid: usize = (0..200)
        .map(|seed| agree(seed, false).expect("all paths agree"))
        .sum();
    assert!(valid > 800, "only {valid} of 1200 are valid");
}
