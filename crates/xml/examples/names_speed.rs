//! What it costs to resolve the names of tags: by the trie, and by maps that have to be told where a name ends.
//! The fastest of many short runs.
//!
//! `cargo run --release -p bsoap-xml --example names_speed`

#![allow(clippy::print_stdout)] // its output is what it is for

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::time::Instant;

use bsoap_xml::TrieBuilder;

const NAMES: [&str; 28] = [
    "Envelope",
    "Header",
    "Body",
    "Fault",
    "faultcode",
    "faultstring",
    "detail",
    "item",
    "x",
    "y",
    "value",
    "values",
    "mesh",
    "doubles",
    "ints",
    "strings",
    "order",
    "orderLine",
    "customer",
    "address",
    "street",
    "city",
    "quantity",
    "price",
    "currency",
    "reading",
    "station",
    "temperature",
];

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
}
