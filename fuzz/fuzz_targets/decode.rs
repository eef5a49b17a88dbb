//! Whatever the Plan and whatever the message: every way to a Record ends, without a panic, at the same Record or error.
//!
//! The input is a seed, which gives a Plan and a message of it, and a list of edits: place, length, byte.

#![cfg_attr(feature = "libfuzzer", no_main)]

use bsoap_codec::decode::{DecodeOptions, Deviation, Validation};
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::random::Random;
use bsoap_testkit::decode_paths::DecodePaths;
use bsoap_testkit::plan::{random_plan};
use bsoap_fuzz::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((seed, edits)) = input.split_first_chunk::<8>() else { return };
    let seed = u64::from_le_bytes(*seed);
    let mut random = Random::new(seed);
    let (plan, root) = random_plan(seed >> 8);
    let mut options = DecodeOptions::default();
    if seed & 1 != 0 {
        options.validation = Validation::Full;
    }
    if seed & 2 != 0 {
        options.accepted = (options.accepted)
            .with(Deviation::UnknownElement)
            .with(Deviation::UnknownAttribute);
    }
    if seed & 8 != 0 {
        options.accepted = options.accepted.with(Deviation::EmptyValue);
    }
    let style = Style { gap: if seed & 4 != 0 { "\n  " } else { "" }, noise: 2, size: 40 };
    let mut paths = DecodePaths::new(&plan, root, options);
    for edited in [false, true, false] {
        let mut bytes = message(&plan, root, &mut random, style).into_bytes();
        for edit in edits.chunks_exact(4).take(if edited { 16 } else { 0 }) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % (bytes.len() + 1);
            let end = (at + usize::from(edit[2] % 32)).min(bytes.len());
            bytes.splice(at..end, (edit[3] != 0).then_some(edit[3]));
        }
        if let Err(difference) = paths.agree(&bytes, &mut random) {
            panic!("{difference}");
        }
    }
});
