//! Streams of messages, each made from the one before by operations that the input selects, received in one way and checked
//! against a fresh decoder.
//!
//! The input is a seed, which gives a Plan, options and a way to receive, and a list of operations of five bytes: each
//! changes the text, and the text is received.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{DecodeOptions, Decoder, Deviation, Validation};
use bsoap_differential::receive::{Stream, Way};
use bytes::Bytes;

use bsoap_testkit::message::{Style, message};
use bsoap_testkit::random::Random;
use bsoap_testkit::plan::{random_plan};

pub(crate) fn options(seed: u64) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    if seed & 3 == 0 {
        options.validation = Validation::Full;
    }
    if seed & 4 != 0 {
        options.accepted = (options.accepted)
            .with(Deviation::UnknownElement)
            .with(Deviation::UnknownAttribute);
    }
    options
}

/// Where the nth tag of a text begins.
fn tag(text: &[u8], n: usize) -> usize {
    let tags: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'<').collect();
    tags.get(n % tags.len().max(1)).copied().unwrap_or(0)
}

/// The end of the element that begins there, if no other of its name is inside.
fn element(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at + 1..)?;
    let length = rest.iter().position(|byte| b" >/\n".contains(byte))?;
    let close = [b"</", &rest[..length], b">"].concat();
    let found = text[at..].windows(close.len()).position(|it| it == close)?;
    Some(at + found + close.len())
}

const VALUES: [&[u8]; 17] = [
    b"1", b"25", b"1.5e-300", b"-0", b" 7 ", b"", b"true", b"INF", b"a&amp;b", b"<![CDATA[x]]>", b"a]]>b", b"<!-- c -->1",
    b"12345678901234567890", b"-inf", b"\xc3\xa4", b"\r\n", b"2020-02-30",
];

/// The text after one operation.
pub(crate) fn change(text: &mut Vec<u8>, before: &[u8], fresh: impl Fn(u64, usize) -> Vec<u8>, operation: [u8; 4]) {
    let [what, a, b, c] = operation;
    let place = usize::from(u16::from_le_bytes([a, b]));
    match what % 12 {
        0 => *text = fresh(place as u64, usize::from(c)),
        1 => {
            let at = place % (text.len() + 1);
            let end = (at + usize::from(what >> 6)).min(text.len());
            text.splice(at..end, (c != 0).then_some(c));
        }
        // A value, or the text between two tags.
        2..=5 => {
            let from = tag(text, place);
            let from = from + text[from..].iter().position(|&byte| byte == b'>').map_or(0, |it| it + 1);
            let end = text[from..].iter().position(|&byte| byte == b'<').map_or(text.len(), |it| from + it);
            let value = match c >> 4 {
                0..=3 => format!("{}", f64::from(c) / 8.0).into_bytes(),
                4..=5 => vec![b'x'; usize::from(c & 15)],
                _ => VALUES[usize::from(c & 15)].to_vec(),
            };
            text.splice(from..end, value);
        }
        // Elements are left out, doubled, moved.
        6..=8 => {
            let at = tag(text, place);
            let Some(end) = element(text, at) else { return };
            let taken = text[at..end].to_vec();
            if what % 12 == 6 {
                text.drain(at..end);
            } else {
                let to = if what % 12 == 7 { end } else { tag(text, usize::from(c)) };
                for _ in 0..1 + c % 3 {
                    text.splice(to..to, taken.iter().copied());
                }
            }
        }
        9 => {
            let to = tag(text, place);
            text.splice(to..to, [&b" "[..], b"\n", b"<!---->", b"<?a b?>", b"x"][usize::from(c % 5)].iter().copied());
        }
        10 => {
            let at = place.min(before.len());
            text.truncate(usize::from(c) * text.len() / 255);
            text.extend_from_slice(&before[at..]);
        }
        _ => before.clone_into(text),
    }
}

/// Receives all messages of an input.
pub(crate) fn receive(input: &[u8], way: fn(u64) -> Way) {
    let Some((seed, operations)) = input.split_first_chunk::<8>() else { return };
    let seed = u64::from_le_bytes(*seed);
    let (plan, root) = random_plan(seed >> 8);
    let (options, way) = (options(seed), way(seed));
    let gap = ["", "\n  ", "", "\r\n"][(seed >> 6 & 3) as usize];
    let fresh = |seed: u64, size: usize| {
        message(&plan, root, &mut Random::new(seed), Style { gap, noise: 0, size }).into_bytes()
    };
    let mut stream = Stream::new(way, Arc::clone(&plan), options);
    let mut text = fresh(seed, 60);
    let mut before = Vec::new();
    let mut kept: Vec<(Arc<Record>, Record)> = Vec::new();
    for operation in operations.chunks_exact(5).take(64) {
        let &[how, a, b, c, d] = operation else { return };
        let last = text.clone();
        change(&mut text, &before, fresh, [a, b, c, d]);
        text.truncate(1 << 14);
        let expected = Decoder::new(Arc::clone(&plan), options).decode(root, &text);
        let found = stream.receive(root, Bytes::copy_from_slice(&text));
        match (&found, &expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found.record, *expected, "{way:?}"),
            (Err(found), Err(expected)) => assert_eq!(found, expected, "{way:?}"),
            _ => panic!("{way:?}\n{found:?}\n{expected:?}"),
        }
        match found {
            Ok(found) if how & 8 != 0 => kept.push((found.record.clone(), (*found.record).clone())),
            Ok(_) => {}
            // Most often on from one that is valid.
            Err(_) if how & 16 != 0 => text.clone_from(&last),
            Err(_) => {}
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
