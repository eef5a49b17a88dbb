//! Whatever a hint says: a message read with it is read as a fresh decoder reads it, or refused for the same reason; and a
//! Record that was handed out stays as it was.
//!
//! The input is a seed, which gives a Plan and options, and a list of operations of ten bytes: each changes the text,
//! perhaps has a sender write what it says, gives it a block, true or with a lie in it, and perhaps changes a byte of the
//! whole.

#![cfg_attr(feature = "libfuzzer", no_main)]

#[allow(dead_code)] // it serves other targets too
mod streams;

use std::sync::Arc;

use bsoap_codec::decode::{Decoder, Piece, Trace};
use bsoap_codec::encode::{EncodeOptions, Encoder};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_differential::hint::{NAMESPACE, SkeletonCachePolicy, Writer};
use bsoap_testkit::hint::{HintReader, key_and_lengths, place_for_block};
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::random::Random;
use bsoap_testkit::plan::{random_envelope_plan};
use bsoap_fuzz::fuzz_target;

/// What is allowed in a block as a length, and what is not.
const LIES: [&[u8]; 16] = [
    b"@", b"A", b"}", b"~", b"~3e;", b"~ffffffffffffffff;", b"~0;", b"*", b"*3", b"*99999999999999999999A", b"*18446744073709551615}",
    b";", b"&lt;", b"<", b"\"", b"\xc3\xa4",
];

/// The true hint of a message, as far as it can be read.
fn hint(decoder: &mut Decoder, root: ElementId, text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut record, mut trace) = (Record::new(decoder.plan().clone(), root), Trace::default());
    let text = std::str::from_utf8(text).ok()?;
    decoder.start(root);
    decoder.read(Piece { text, base: 0, last: true, beyond: 0 }, &mut record, Some(&mut trace)).ok()?;
    let (at, has_header) = place_for_block(text)?;
    let (key, lengths) = key_and_lengths(text, &trace);
    let block = format!("<b:hint xmlns:b=\"{NAMESPACE}\" key=\"{key:032x}\" at=\"{lengths}\"/>");
    let block = if has_header { block } else { format!("<Header>{block}</Header>") };
    Some((block.into_bytes(), at))
}

/// What the sender of a stream makes of a message: its text, a block and where that goes. Nothing, where the message cannot
/// be read, or the sender gives no hint.
fn sent(writer: &mut Writer, decoder: &mut Decoder, root: ElementId, text: &[u8]) -> Option<(Vec<u8>, Vec<u8>, usize)> {
    let record = decoder.decode(root, text).ok()?;
    let (options, mut own, mut plain) = (EncodeOptions::default(), Vec::new(), Vec::new());
    Encoder::new(options).encode(&record, &mut plain).ok()?;
    let found = writer.write(&record, options, &mut own).expect("it can be written");
    let found = found.map(|found| (found.text.to_vec(), found.at));
    assert_eq!(own, plain);
    // It need not be that of the text: a QName is a value there, and markup to the sender, who has to declare its prefix.
    found.map(|(block, at)| (own, block, at))
}

/// A block of the same spelling for messages that are in no order.
fn stray(key: u8) -> Vec<u8> {
    format!("<Header><b:hint xmlns:b=\"{NAMESPACE}\" key=\"{key:032x}\" at=\"A\"/></Header>").into_bytes()
}

/// Changes a block.
fn lie(block: &mut Vec<u8>, [what, place, byte]: [u8; 3]) {
    let from = find(block, b" at=\"").map_or(block.len() - 3, |at| at + 5);
    let to = block[from..].iter().position(|&byte| byte == b'"').map_or(from, |length| from + length);
    let at = from + usize::from(place) % (to - from + 1);
    let end = (at + 1).min(to);
    match what % 8 {
        // Most often a length; then a byte anywhere.
        0 | 1 => drop(block.splice(at..end, LIES[usize::from(byte % 16)].iter().copied())),
        2 => drop(block.splice(at..end, [byte])),
        3 => drop(block.splice(at..at, [byte])),
        4 => drop(block.drain(at..to)),
        5 => drop(block.splice(at..at, std::iter::repeat_n(byte, 4 * usize::from(place)))),
        6 => {
            let at = usize::from(place) % block.len();
            block[at] = byte;
        }
        _ => {}
    }
}

/// The offset of the first occurrence of some bytes.
fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|it| it == what)
}

/// All messages of an input, read by one reader.
fn read(input: &[u8]) {
    let Some((seed, operations)) = input.split_first_chunk::<8>() else { return };
    let seed = u64::from_le_bytes(*seed);
    let (plan, root): (Arc<Plan>, ElementId) = random_envelope_plan(seed >> 8);
    let options = streams::options(seed);
    let gap = ["", "\n  ", "", "\r\n"][(seed >> 6 & 3) as usize];
    let fresh = |seed: u64, size: usize| {
        message(&plan, root, &mut Random::new(seed), Style { gap, noise: 0, size }).into_bytes()
    };
    let mut reader = HintReader::new(Arc::clone(&plan), options, SkeletonCachePolicy::default());
    let (mut decoder, mut writer) = (Decoder::new(Arc::clone(&plan), options), Writer::new());
    let (mut text, mut before) = (fresh(seed, 60), Vec::new());
    let mut kept: Vec<(Arc<Record>, Record)> = Vec::new();
    for &[how, a, b, c, d, e, f, g, h, i] in operations.as_chunks::<10>().0.iter().take(64) {
        let last = text.clone();
        if how & 1 != 0 {
            streams::change(&mut text, &before, fresh, [a, b, c, d]);
        }
        text.truncate(1 << 13);
        let sent = (how & 64 != 0).then(|| sent(&mut writer, &mut decoder, root, &text)).flatten();
        let (mut block, at) = match sent {
            Some((own, block, at)) => {
                text = own;
                (block, at)
            }
            None => hint(&mut decoder, root, &text).unwrap_or_else(|| (stray(f), usize::from(g).min(text.len()))),
        };
        if how & 2 != 0 {
            lie(&mut block, [e, f, g]);
        }
        let mut whole = [&text[..at], &block, &text[at..]].concat();
        if how & 4 != 0 {
            let at = usize::from(u16::from_le_bytes([h, i])) % whole.len();
            whole[at] = g;
        }
        if how & 8 != 0 {
            whole.truncate(usize::from(u16::from_le_bytes([h, i])) % whole.len());
        }
        // Nothing is behind its last byte that may be read.
        let whole = whole.into_boxed_slice();
        let expected = decoder.decode(root, &whole);
        let found = reader.receive(root, &whole);
        assert_eq!(found.as_deref().map_err(Clone::clone), expected.as_ref().map_err(Clone::clone));
        if how & 16 != 0 {
            kept.extend(found.ok().map(|record| (record.clone(), (*record).clone())));
        }
        // Most often on from one that is valid.
        if expected.is_err() && how & 32 != 0 {
            text.clone_from(&last);
        }
        before = last;
        if kept.len() > 4 {
            kept.remove(0);
        }
        for (record, was) in &kept {
            assert_eq!(**record, *was);
        }
    }
}

fuzz_target!(|input: &[u8]| read(input));
