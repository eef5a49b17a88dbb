//! What sending costs besides the kernel's own work: messages in which nothing changed, or everything did, written to a
//! loopback connection whose other end discards, by chunks of several sizes, against one `writev` of the same bytes in one
//! piece.
//!
//! `cargo run --release -p bsoap-differential --example wire_speed [N] [ROUNDS] [double|int|string]`

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;
#[path = "common/wire.rs"]
mod wire;

use std::hint::black_box;
use std::io::{IoSlice, Write};
use std::time::{Duration, Instant};

use bsoap_codec::{EncodeOptions, Record, Value, build};
use bsoap_datatypes::Datatype;
use bsoap_differential::send::{Chunks, Policy, Template};

use by_hand::{MANY, Schema};
use random::Random;
use wire::Wire;

impl Wire {
    fn send<'p>(&mut self, pieces: impl Iterator<Item = &'p [u8]>, most: usize) -> usize {
        let mut slices: Vec<IoSlice<'_>> = pieces.map(IoSlice::new).collect();
        let mut slices = &mut slices[..];
        let mut calls = 0;
        while !slices.is_empty() {
            let now = slices.len().min(most);
            let written = self.0.write_vectored(&slices[..now]).expect("a connection");
            IoSlice::advance_slices(&mut slices, written);
            calls += 1;
        }
        calls
    }
}

/// An array of a type.
fn array(count: usize, kind: &str) -> Record {
    let mut random = Random(1);
    let datatype = match kind {
        "int" => Datatype::Int,
        "string" => Datatype::String,
        _ => Datatype::Double,
    };
    let mut schema = Schema::new();
    let item = schema.field("item", datatype, MANY);
    let root = schema.record(vec![item]);
    let root = schema.element("urn:mesh", "array", root);
    schema.builder.prefix("urn:mesh", "m");
    let plan = schema.finish();
    let mut word = || {
        let length = 5 + random.below(36);
        let letters = (0..length).map(|_| char::from(b'a' + random.below(26) as u8));
        letters.collect::<String>()
    };
    let values: Vec<Value> = match datatype {
        Datatype::String => (0..count).map(|_| Value::from(word())).collect(),
        Datatype::Int => (0..count)
            .map(|_| Value::from(i64::from(random.next() as i32)))
            .collect(),
        _ => (0..count).map(|_| Value::from(random.hard())).collect(),
    };
    let value = Value::object([("item", Value::Array(values))]);
    build(&plan, root, &value).expect("the values fit")
}

/// Sends before the one that is timed.
const WARM: usize = 20;
/// Sends that are timed.
const TIMED: usize = 10;

struct Times(Vec<Duration>);

impl Times {
    fn median(&mut self) -> f64 {
        self.0.sort_unstable();
        self.0[self.0.len() / 2].as_nanos() as f64 / 1000.0
    }
}

fn main() {
    let number = |n| std::env::args().nth(n).and_then(|arg| arg.parse().ok());
    let count: usize = number(1).unwrap_or(100_000);
    let rounds: usize = number(2).unwrap_or(60);
    let kind = std::env::args().nth(3).unwrap_or_default();
    let record = array(count, &kind);
    let options = EncodeOptions::default();
    let mut wire = Wire::new().expect("loopback");
    let sizes = [32, 64, 128, 256];
    let mut templates: Vec<(usize, Template, Record)> = sizes
        .iter()
        .map(|&size| {
            let policy = Policy::default().with_chunks(Chunks::of(size << 10));
            let template = Template::first(policy, options, record.clone());
            (size, template.expect("a message"), record.clone())
        })
        .collect();
    let text = templates[0].1.text();
    let halves: Vec<Vec<u8>> = text.chunks(32 << 10).map(<[u8]>::to_vec).collect();
    let mut names: Vec<(String, Times)> = Vec::new();
    for round in 0..rounds {
        let mut at = 0;
        let mut note = |name: &dyn Fn() -> String, time: Duration| {
            if names.len() <= at {
                names.push((name(), Times(Vec::new())));
            }
            if round > 0 {
                names[at].1.0.push(time);
            }
            at += 1;
        };
        // Those before have filled the caches with theirs.
        let mut send = |name: &dyn Fn() -> String, run: &mut dyn FnMut(&mut Wire) -> usize| {
            for _ in 0..WARM {
                run(&mut wire);
                wire.drain();
            }
            let mut least = Duration::MAX;
            for _ in 0..TIMED {
                let begin = Instant::now();
                black_box(run(&mut wire));
                least = least.min(begin.elapsed());
                wire.drain();
            }
            note(name, least);
        };
        send(&|| "writev".into(), &mut |wire| {
            wire.send(std::iter::once(&text[..]), 1)
        });
        send(&|| "one text, pieces of 32k".into(), &mut |wire| {
            wire.send(text.chunks(32 << 10), 1024)
        });
        send(&|| "texts of 32k".into(), &mut |wire| {
            wire.send(halves.iter().map(|half| &half[..]), 1024)
        });
        for (size, template, other) in &mut templates {
            send(&|| format!("{size}k chunks as they lie"), &mut |wire| {
                wire.send(template.chunks(), 1024)
            });
            send(&|| format!("{size}k outgoing"), &mut |wire| {
                let outgoing = template.outgoing();
                wire.send(outgoing.chunks.iter().map(AsRef::as_ref), 1024)
            });
            for most in [1024, 32, 16, 8, 4] {
                if *size < 128 && most < 16 {
                    continue;
                }
                send(
                    &|| format!("{size}k update, {most} in a call"),
                    &mut |wire| {
                        template.update(other).expect("a message");
                        let outgoing = template.outgoing();
                        wire.send(outgoing.chunks.iter().map(AsRef::as_ref), most)
                    },
                );
            }
        }
    }
    let floor = names[0].1.median();
    for (name, times) in &mut names {
        let median = times.median();
        println!("{name:28} {median:8.1} us  {:5.2}", median / floor);
    }
}
