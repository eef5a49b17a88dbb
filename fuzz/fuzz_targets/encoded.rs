//! Any rpc/encoded messages: every way to read them agrees, a differential receiver too, and what was read is written as
//! the same graph.
//!
//! The first byte chooses. Odd: the rest are the contents of Bodies, one on each line. Even: eight bytes are a seed, and what
//! follows are operations of four bytes that make and change a Body.

#![cfg_attr(feature = "libfuzzer", no_main)]

use std::sync::{Arc, OnceLock};

use bsoap_codec::plan::ElementId;
use bsoap_codec::{DecodeOptions, Plan};
use bsoap_fuzz::fuzz_target;
use bsoap_schema::{Chain, LoadOptions, MemoryLoader, WellKnown, load};
use bsoap_testkit::encoded::{EncodedPaths, envelope, random_body};
use bsoap_testkit::random::Random;

/// Pieces that mean something in an encoded message.
const PIECES: [&str; 12] = [
    "<item href=\"#p0\"/>",
    " id=\"p0\"",
    " href=\"#p1\"",
    " E:position=\"[2]\"",
    " E:offset=\"[1]\"",
    " E:arrayType=\"xsd:int[2,3]\"",
    " xsi:type=\"t:Pupil\"",
    " xsi:type=\"E:Array\"",
    " xsi:nil=\"true\"",
    "<item>1</item>",
    "<multiRef id=\"p1\" xsi:type=\"t:Person\"/>",
    "]",
];

/// The Plan of requests, and their Envelope.
fn plan() -> (Arc<Plan>, ElementId) {
    static PLAN: OnceLock<(Arc<Plan>, ElementId)> = OnceLock::new();
    let make = || {
        let mut memory = MemoryLoader::default();
        let wsdl = include_str!("../../crates/protocol/tests/testdata/encoded.wsdl");
        memory.add("encoded.wsdl", wsdl);
        let loader = Chain::new().then(memory).then(WellKnown);
        let definitions = load("encoded.wsdl", &loader, &LoadOptions::default()).expect("a WSDL");
        let (_, port) = definitions.ports().next().expect("a port");
        (Arc::clone(definitions.plan()), port.binding.request)
    };
    PLAN.get_or_init(make).clone()
}

fn agree(paths: &mut EncodedPaths, message: &[u8], random: &mut Random) {
    if let Err(error) = paths.agree(message, random) {
        panic!("{error}");
    }
}

/// Changes a Body. Only what is ASCII is touched, so that it stays a text.
fn change(body: &mut String, [what, a, b, c]: [u8; 4]) {
    let place = usize::from(u16::from_le_bytes([a, b]));
    let at = place % (body.len() + 1);
    if !body.is_char_boundary(at) {
        return;
    }
    match what % 4 {
        0 => *body = random_body(&mut Random::new(place as u64)),
        1 => body.insert_str(at, PIECES[usize::from(c) % PIECES.len()]),
        2 => {
            let end = (at + usize::from(what >> 2)).min(body.len());
            if body.is_char_boundary(end) {
                body.replace_range(at..end, "");
            }
        }
        _ => {
            let digit = body[at..].find(|it: char| it.is_ascii_digit());
            if let Some(digit) = digit.map(|digit| at + digit) {
                body.replace_range(digit..=digit, &(c % 12).to_string());
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let (plan, root) = plan();
    let mut paths = EncodedPaths::new(&plan, root, DecodeOptions::default());
    match input.split_first() {
        Some((choice, bodies)) if choice % 2 == 1 => {
            let mut random = Random::new(u64::from(*choice));
            for body in bodies.split(|byte| *byte == b'\n').take(16) {
                let body = String::from_utf8_lossy(body);
                agree(&mut paths, envelope(&body).as_bytes(), &mut random);
            }
        }
        _ => {
            let Some((seed, operations)) = input.split_first_chunk::<8>() else { return };
            let mut random = Random::new(u64::from_le_bytes(*seed));
            let mut body = random_body(&mut random);
            for operation in operations.as_chunks().0.iter().take(32) {
                change(&mut body, *operation);
                body.truncate(body.floor_char_boundary(8192));
                agree(&mut paths, envelope(&body).as_bytes(), &mut random);
            }
        }
    }
});
