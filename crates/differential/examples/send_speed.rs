//! How fast a message becomes the next one, against the bare loops that bound it: a compare of the
//! values, a formatter, a full encoding. Interleaved; the fastest of many short runs, as the machine is
//! never quiet.
//!
//! `cargo run --release -p bsoap-differential --example send_speed [CASE]`

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bsoap_codec::{EncodeOptions, Encoder, Record, Value, build};
use bsoap_datatypes::{Datatype, double};
use bsoap_differential::send::{Chunks, Match, Pad, Policy, Template};

use by_hand::{MANY, Schema};
use random::Random;

impl Random {
    /// One whose text has so many bytes.
    fn of_length(&mut self, length: usize) -> f64 {
        loop {
            let value = self.hard();
            if double::format(value, &mut [0; 32]) == length {
                return value;
            }
        }
    }
}

fn doubles(values: &[f64]) -> Record {
    thread_local!(static PLAN: (std::sync::Arc<bsoap_codec::Plan>, bsoap_codec::plan::ElementId) = {
        let mut schema = Schema::new();
        let item = schema.field("item", Datatype::Double, MANY);
        let root = schema.record(vec![item]);
        let root = schema.element("urn:mesh", "array", root);
        schema.builder.prefix("urn:mesh", "m");
        (schema.finish(), root)
    });
    PLAN.with(|(plan, root)| {
        build(
            plan,
            *root,
            &Value::object([("item", Value::from(values.to_vec()))]),
        )
        .expect("the values fit")
    })
}

/// Forty nested fields, most of them strings, and ten lines.
fn order(random: &mut Random) -> (Record, Vec<Record>) {
    let mut schema = Schema::new();
    let line = [
        ("number", Datatype::Int),
        ("sku", Datatype::String),
        ("description", Datatype::String),
        ("quantity", Datatype::Int),
        ("price", Datatype::Decimal),
        ("weight", Datatype::Double),
        ("due", Datatype::String),
        ("stock", Datatype::Boolean),
    ];
    let fields = line
        .iter()
        .map(|&(name, datatype)| schema.field(name, datatype, by_hand::ONCE))
        .collect();
    let line_type = schema.record(fields);
    let lines = schema.child("line", line_type, MANY);
    let mut fields: Vec<_> = (0..24)
        .map(|n| {
            let datatype = match n % 4 {
                0 => Datatype::Int,
                1 => Datatype::Double,
                _ => Datatype::String,
            };
            schema.field(&format!("field{n}"), datatype, by_hand::ONCE)
        })
        .collect();
    fields.insert(12, lines);
    let root = schema.record(fields);
    let root = schema.element("urn:mesh", "order", root);
    schema.builder.prefix("urn:mesh", "m");
    let plan = schema.finish();
    let mut make = |change: Option<usize>, base: &Value| {
        let mut value = base.clone();
        if let (Some(change), Value::Object(object)) = (change, &mut value) {
            let key = format!("field{}", [2, 3, 6, 7, 10, 11, 14, 15, 18, 19][change % 10]);
            object.insert(key, random.word());
        }
        value
    };
    let mut random2 = Random(5);
    let text = |random: &mut Random| Value::from(random.word());
    let mut members: Vec<(String, Value)> = (0..24)
        .map(|n| {
            let value = match n % 4 {
                0 => Value::from((random2.next() % 100_000) as i64),
                1 => Value::from((random2.next() % 10_000) as f64 / 100.0),
                _ => text(&mut random2),
            };
            (format!("field{n}"), value)
        })
        .collect();
    let lines = (0..10)
        .map(|n| {
            Value::object([
                ("number", Value::from(n)),
                ("sku", text(&mut random2)),
                ("description", text(&mut random2)),
                ("quantity", Value::from((random2.next() % 100) as i64)),
                ("price", Value::from("12.50")),
                (
                    "weight",
                    Value::from((random2.next() % 10_000) as f64 / 100.0),
                ),
                ("due", text(&mut random2)),
                ("stock", Value::from(true)),
            ])
        })
        .collect::<Vec<_>>();
    members.push(("line".to_owned(), Value::Array(lines)));
    let mut base = Value::object(members);
    let first = build(&plan, root, &base).expect("an order");
    let others = (0..32)
        .map(|n| {
            base = make(Some(n), &base);
            build(&plan, root, &base).expect("an order")
        })
        .collect();
    (first, others)
}

/// The least time of many runs.
struct Least(Duration);

impl Least {
    fn new() -> Self {
        Self(Duration::MAX)
    }

    fn time<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = black_box(run());
        self.0 = self.0.min(begin.elapsed());
        result
    }

    fn per(&self, values: usize) -> f64 {
        self.0.as_nanos() as f64 / values as f64
    }
}

const N: usize = 10_000;
const ROUNDS: usize = 100;

fn template(policy: Policy, record: &Record) -> Template {
    Template::first(policy, EncodeOptions::default(), record.clone()).expect("it can be encoded")
}

fn content() {
    let mut random = Random(1);
    let values: Vec<f64> = (0..N).map(|_| random.hard()).collect();
    let record = doubles(&values);
    let mut template = template(Policy::default(), &record);
    let mut other = record.clone();
    let copy = record.clone();
    let (mut ours, mut compare, mut full) = (Least::new(), Least::new(), Least::new());
    let mut out = Vec::with_capacity(8 << 20);
    for _ in 0..ROUNDS {
        ours.time(|| template.update(&mut other).unwrap());
        compare.time(|| black_box(copy.slots()) == black_box(record.slots()));
        out.clear();
        full.time(|| Encoder::default().encode(&record, &mut out).unwrap());
    }
    println!(
        "content          {:6.3} ns/value = {:.2} x compare ({:.3}); full {:.2} ns; memory {:.1} bytes/value of text {:.1}",
        ours.per(N),
        ours.per(N) / compare.per(N),
        compare.per(N),
        full.per(N),
        template.memory() as f64 / N as f64,
        out.len() as f64 / N as f64,
    );
}

/// `percent` of the values get others, of the same length or of any.
fn dirty(percent: usize, same_length: bool, policy: Policy, name: &str) {
    let mut random = Random(2);
    let pool: Vec<f64> = (0..4096).map(|_| random.of_length(22)).collect();
    let make = |random: &mut Random| {
        if same_length {
            pool[random.next() as usize % pool.len()]
        } else {
            random.hard()
        }
    };
    let values: Vec<f64> = (0..N).map(|_| make(&mut random)).collect();
    let mut changed = values.clone();
    let mut touched = Vec::new();
    for value in &mut changed {
        if (random.next() % 100) < percent as u64 {
            *value = make(&mut random);
            touched.push(*value);
        }
    }
    let (record, next) = (doubles(&values), doubles(&changed));
    let mut template = template(policy, &record);
    let mut other = next.clone();
    let (mut ours, mut compare, mut bare, mut full) =
        (Least::new(), Least::new(), Least::new(), Least::new());
    let mut out = Vec::with_capacity(8 << 20);
    for _ in 0..ROUNDS {
        ours.time(|| template.update(&mut other).unwrap());
        let copy = other.clone();
        compare.time(|| black_box(copy.slots()) == black_box(other.slots()));
        let mut buffer = vec![0u8; touched.len() * 24 + 64];
        bare.time(|| {
            let mut end = 0;
            for &value in &touched {
                let Some(room) = buffer[end..].first_chunk_mut() else {
                    break;
                };
                end += double::format(value, room);
            }
            buffer[end / 2]
        });
        out.clear();
        full.time(|| Encoder::default().encode(&next, &mut out).unwrap());
    }
    let bound = bare.per(N) + compare.per(N);
    println!(
        "{name} {percent:3} %  {:6.2} ns/value = {:.2} x (bare {:.2} + compare {:.2}); full {:.2}",
        ours.per(N),
        ours.per(N) / bound,
        bare.per(N),
        compare.per(N),
        full.per(N)
    );
}

/// Every value grows from 1 to 24 characters.
fn grow(chunk: usize) {
    let mut random = Random(3);
    let small: Vec<f64> = (0..N).map(|n| (n % 9 + 1) as f64).collect();
    let pool: Vec<f64> = (0..4096).map(|_| random.of_length(24)).collect();
    let mut large = |_| pool[random.next() as usize % pool.len()];
    let (large, other): (Vec<f64>, Vec<f64>) = (
        (0..N).map(&mut large).collect(),
        (0..N).map(&mut large).collect(),
    );
    let (small, large, other) = (doubles(&small), doubles(&large), doubles(&other));
    let policy = Policy::default().with_chunks(Chunks::of(chunk));
    let first = template(policy, &small);
    let mut flat = template(policy, &large);
    let (mut ours, mut same) = (Least::new(), Least::new());
    let mut flip = [other.clone(), large.clone()];
    for round in 0..ROUNDS {
        let mut grown = template(policy, &small);
        let mut next = large.clone();
        ours.time(|| grown.update(&mut next).unwrap());
        same.time(|| flat.update(&mut flip[round % 2]).unwrap());
        flip = [other.clone(), large.clone()];
    }
    drop(first);
    println!(
        "grow {:2}k         {:6.2} ns/value = {:.2} x no shift ({:.2})",
        chunk >> 10,
        ours.per(N),
        ours.per(N) / same.per(N),
        same.per(N)
    );
}

fn ints(values: &[i64]) -> Record {
    thread_local!(static PLAN: (std::sync::Arc<bsoap_codec::Plan>, bsoap_codec::plan::ElementId) = {
        let mut schema = Schema::new();
        let item = schema.field("item", Datatype::Int, MANY);
        let root = schema.record(vec![item]);
        let root = schema.element("urn:mesh", "array", root);
        schema.builder.prefix("urn:mesh", "m");
        (schema.finish(), root)
    });
    PLAN.with(|(plan, root)| {
        let items = values.iter().map(|&value| Value::from(value)).collect();
        build(plan, *root, &Value::object([("item", Value::Array(items))])).expect("they fit")
    })
}

/// One-character values over the longest in the widest room, against a template where they fit exactly, and against
/// writing the message in full.
fn tag_shift(name: &str, pad: Pad, large: &Record, [ones, twos]: [&Record; 2]) {
    let mut stuffed = template(Policy::MAXIMUM.with_pad(pad), large);
    let mut again = template(Policy::MAXIMUM.with_pad(pad), ones);
    let mut plain = template(Policy::default(), ones);
    let (mut shift, mut next, mut bare, mut full) =
        (Least::new(), Least::new(), Least::new(), Least::new());
    let mut out = Vec::with_capacity(8 << 20);
    for round in 0..ROUNDS {
        let other = if round % 2 == 0 { twos } else { ones };
        let mut record = ones.clone();
        shift.time(|| stuffed.update(&mut record).unwrap());
        stuffed.update(&mut large.clone()).unwrap();
        let mut record = other.clone();
        next.time(|| again.update(&mut record).unwrap());
        let mut record = other.clone();
        bare.time(|| plain.update(&mut record).unwrap());
        out.clear();
        full.time(|| Encoder::default().encode(ones, &mut out).unwrap());
    }
    println!(
        "tag shift {name:7} {pad:?}  {:6.2} ns/value = {:.2} x in full ({:.2}); ones over ones {:.2} = {:.2} x unstuffed ({:.2}); memory {:.1} bytes/value",
        shift.per(N),
        shift.per(N) / full.per(N),
        full.per(N),
        next.per(N),
        next.per(N) / bare.per(N),
        bare.per(N),
        stuffed.memory() as f64 / N as f64,
    );
}

fn tag_shifts() {
    let mut random = Random(4);
    let large: Vec<f64> = (0..N).map(|_| random.of_length(24)).collect();
    let digit = |n: usize| (n % 9 + 1) as i64;
    let digits = |by| (0..N).map(move |n| digit(n + by));
    let [ones, twos] = [0, 3].map(|by| doubles(&digits(by).map(|n| n as f64).collect::<Vec<_>>()));
    for pad in [Pad::Inside, Pad::AfterTag] {
        tag_shift("doubles", pad, &doubles(&large), [&ones, &twos]);
    }
    let large: Vec<i64> = (0..N).map(|n| -2_000_000_000 - n as i64).collect();
    let [ones, twos] = [0, 3].map(|by| ints(&digits(by).collect::<Vec<_>>()));
    for pad in [Pad::Inside, Pad::AfterTag] {
        tag_shift("ints", pad, &ints(&large), [&ones, &twos]);
    }
}

fn strings() {
    let mut random = Random(6);
    let (first, others) = order(&mut random);
    let mut template = template(Policy::default(), &first);
    let (mut ours, mut full) = (Least::new(), Least::new());
    let mut out = Vec::with_capacity(1 << 16);
    let mut matched = Match::Content;
    let mut copies: Vec<Record> = others.to_vec();
    for round in 0..ROUNDS * rounds() {
        for (copy, other) in copies.iter_mut().zip(&others) {
            copy.copy_from(other);
        }
        ours.time(|| {
            for copy in &mut copies {
                matched = template.update(copy).unwrap();
            }
        });
        if round < 100 {
            full.time(|| {
                for other in &others {
                    out.clear();
                    Encoder::default().encode(other, &mut out).unwrap();
                }
            });
        }
    }
    println!(
        "order, 1 string  {:6.1} ns = {:.3} x full ({:.1}), {} bytes, {} slots, {matched:?}",
        ours.per(others.len()),
        ours.per(others.len()) / full.per(others.len()),
        full.per(others.len()),
        out.len(),
        first.slots().len(),
    );
}

/// Lines come and go: a small message changes in structure each time.
fn lines() {
    let mut random = Random(8);
    let (first, _) = order(&mut random);
    let mut value = bsoap_codec::View::of(&first).to_value().expect("an order");
    if let Value::Object(object) = &mut value
        && let Some(Value::Array(lines)) = object.get_mut("line")
    {
        lines.pop();
    }
    let second = build(first.plan(), first.root(), &value).expect("an order");
    let mut template = template(Policy::default(), &first);
    let (mut ours, mut full) = (Least::new(), Least::new());
    let mut out = Vec::with_capacity(1 << 16);
    let mut copies = [second.clone(), first.clone()];
    for _ in 0..ROUNDS * rounds() {
        copies[0].copy_from(&second);
        copies[1].copy_from(&first);
        ours.time(|| {
            for copy in &mut copies {
                template.update(copy).unwrap();
            }
        });
        full.time(|| {
            for record in [&second, &first] {
                out.clear();
                Encoder::default().encode(record, &mut out).unwrap();
            }
        });
    }
    println!(
        "order, 1 line    {:6.1} ns = {:.3} x full ({:.1})",
        ours.per(2),
        ours.per(2) / full.per(2),
        full.per(2)
    );
}

fn insert(at: usize, count: usize) {
    let mut random = Random(7);
    let values: Vec<f64> = (0..N).map(|_| random.hard()).collect();
    let mut longer = values.clone();
    longer.splice(at..at, (0..count).map(|_| 1.5));
    let (values, longer) = (doubles(&values), doubles(&longer));
    let mut template = template(Policy::default(), &values);
    let (mut ours, mut full) = (Least::new(), Least::new());
    let mut out = Vec::with_capacity(8 << 20);
    for round in 0..ROUNDS {
        let mut next = if round % 2 == 0 {
            longer.clone()
        } else {
            values.clone()
        };
        ours.time(|| template.update(&mut next).unwrap());
        out.clear();
        full.time(|| Encoder::default().encode(&longer, &mut out).unwrap());
    }
    println!(
        "insert {count:3} at {at:6} {:8.1} us = {:.3} x full; {:?}",
        ours.0.as_nanos() as f64 / 1000.0,
        ours.per(1) / full.per(1),
        template.stats()
    );
}

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    let wanted = |name: &str| case.is_empty() || name.contains(&case);
    if wanted("content") {
        content();
    }
    if wanted("dirty") {
        for percent in [1, 25, 50, 75, 100] {
            dirty(percent, true, Policy::default(), "dirty, same length");
        }
        for percent in [1, 25, 100] {
            dirty(percent, false, Policy::default(), "dirty, any length");
            dirty(percent, false, Policy::EXACT, "dirty, exact rooms");
        }
    }
    if case == "same100" {
        for _ in 0..20 {
            dirty(100, true, Policy::default(), "dirty, same length");
        }
    }
    if case == "same25" {
        for _ in 0..20 {
            dirty(25, true, Policy::default(), "dirty, same length");
        }
    }
    if wanted("grow") {
        grow(8 << 10);
        grow(32 << 10);
    }
    if wanted("tag") {
        tag_shifts();
    }
    if wanted("order") {
        strings();
        lines();
    }
    if wanted("insert") {
        insert(0, 1);
        insert(N / 2, 10);
        insert(N, 1);
    }
}

/// More of them for a profiler.
fn rounds() -> usize {
    let times = std::env::args().nth(2).and_then(|times| times.parse().ok());
    20 * times.unwrap_or(1)
}
