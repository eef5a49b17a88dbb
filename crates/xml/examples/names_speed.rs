//! What it costs to resolve the names of tags: by the trie, and by maps that have to be told where a name ends.
//! The fastest of many short runs.
//!
//! `cargo run --release -p bsoap-xml --example names_speed`

#![allow(clippy::print_stdout)] // its output is what it is for

#[path = "../../../bench/src/names.rs"]
mod names;

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::time::Instant;

use bsoap_xml::TrieBuilder;
use memchr::memchr;
use names::NAMES;

fn name_end(text: &[u8]) -> usize {
    let ends = |byte: &u8| {
        matches!(
            byte,
            b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>' | b'=' | b':'
        )
    };
    text.iter().position(ends).unwrap_or(text.len())
}

/// Nanoseconds a tag.
fn time(tags: &[Vec<u8>], mut find: impl FnMut(&[u8]) -> Option<u32>) -> f64 {
    let rounds = (0..2000).map(|_| {
        let begun = Instant::now();
        for tag in tags {
            black_box(find(black_box(tag)));
        }
        begun.elapsed().as_nanos() as f64 / tags.len() as f64
    });
    rounds.fold(f64::MAX, f64::min)
}

/// Rows of a mesh, as in a message.
fn rows(count: u64) -> Vec<u8> {
    let rows = (0..count).map(|row| {
        let [x, y, value] = [1_u64, 7, 31].map(|by| {
            let mixed = (row * 40 + by).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((mixed ^ (mixed >> 29)) % 1_000_000) >> (mixed % 7)
        });
        format!("<item><x>{x}</x><y>{y}</y><value>{value}</value></item>")
    });
    rows.collect::<String>().into_bytes()
}

/// Nanoseconds a tag of a text that is read from its first byte to its last: tags, and numbers behind some of them.
fn time_streamed(text: &[u8], mut find: impl FnMut(&[u8]) -> (usize, Option<u32>)) -> f64 {
    let rounds = (0..300).map(|_| {
        let (begun, text) = (Instant::now(), black_box(text));
        let (mut at, mut count, mut sum) = (0, 0, 0);
        while let Some(found) = text.get(at..).and_then(|rest| memchr(b'<', rest)) {
            at += found + 1;
            let is_end = text.get(at) == Some(&b'/');
            at += usize::from(is_end);
            let (length, name) = find(&text[at..]);
            at += length;
            at += memchr(b'>', &text[at..]).map_or(0, |found| found + 1);
            if matches!(name, Some(8..=10)) && !is_end {
                let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit());
                let number = |number: u64, digit: &u8| number * 10 + u64::from(digit - b'0');
                sum += digits.fold(0, number);
            }
            count += 1;
        }
        black_box(sum);
        begun.elapsed().as_nanos() as f64 / f64::from(count)
    });
    rounds.fold(f64::MAX, f64::min)
}

fn main() {
    let mut builder = TrieBuilder::default();
    (0..)
        .zip(NAMES)
        .for_each(|(id, name)| builder.insert(name.as_bytes(), id));
    let trie = builder.build();
    let map: HashMap<&[u8], u32> = NAMES.iter().map(|name| name.as_bytes()).zip(0..).collect();
    let tree: BTreeMap<&[u8], u32> = NAMES.iter().map(|name| name.as_bytes()).zip(0..).collect();
    let mesh = ["item", "x", "x", "y", "y", "value", "value", "item"];
    for (what, names) in [("mesh", &mesh[..]), ("all", &NAMES[..])] {
        let names = (0..100).flat_map(|round| names.iter().skip(round % 3));
        let tags: Vec<_> = names
            .map(|name| format!("{name}>0.25</value>......").into_bytes())
            .collect();
        // With nothing behind the name, it is not found at once.
        let cut: Vec<_> = tags
            .iter()
            .map(|tag| tag[..=name_end(tag)].to_vec())
            .collect();
        println!(
            "{what:6} trie {:5.2}  its walk {:5.2}  hash map {:5.2}  btree map {:5.2} ns a name",
            time(&tags, |tag| trie.scan(tag).1),
            time(&cut, |tag| trie.scan(tag).1),
            time(&tags, |tag| map.get(&tag[..name_end(tag)]).copied()),
            time(&tags, |tag| tree.get(&tag[..name_end(tag)]).copied()),
        );
    }
    let text = rows(10_000);
    println!(
        "rows   trie {:5.2}                   hash map {:5.2}  btree map {:5.2}",
        time_streamed(&text, |tag| trie.scan(tag)),
        time_streamed(&text, |tag| {
            let end = name_end(tag);
            (end, map.get(&tag[..end]).copied())
        }),
        time_streamed(&text, |tag| {
            let end = name_end(tag);
            (end, tree.get(&tag[..end]).copied())
        }),
    );
}
