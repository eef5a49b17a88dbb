//! Arrays that are written while they are sent, against formatting all of them first: until the last write has returned,
//! over a loopback connection whose other end discards, and with nothing sent.
//!
//! `cargo run --release -p bsoap-differential --example overlay_speed [SHAPE] [ROWS] [ROUNDS]`, where a shape is `dhard`,
//! `dunit`, `float`, `int` or `mio`

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;
#[path = "common/wire.rs"]
mod wire;

use std::hint::black_box;
use std::io::{IoSlice, Write};
use std::time::Instant;

use bsoap_codec::frame::Frame;
use bsoap_codec::{Encoder, Record, Value, build};
use bsoap_datatypes::Datatype;
use bsoap_differential::send::{Layout, Overlay, Row};

use by_hand::{MANY, ONCE, Schema};
use random::Random;
use wire::Wire;

impl Wire {
    fn send(&mut self, head: &[u8], text: &[u8]) {
        let mut slices = &mut [head, text].map(IoSlice::new)[..];
        while !slices.is_empty() {
            let written = self.0.write_vectored(slices).expect("a connection");
            IoSlice::advance_slices(&mut slices, written);
        }
    }
}

/// The message of an array of items.
fn record(items: Vec<Value>, shape: &str) -> Record {
    let mut schema = Schema::new();
    let item = match shape {
        "mio" => {
            let fields = [
                ("x", Datatype::Int),
                ("y", Datatype::Int),
                ("value", Datatype::Double),
            ];
            let fields = fields.map(|(name, datatype)| schema.field(name, datatype, ONCE));
            let item = schema.record(fields.into());
            schema.child("item", item, MANY)
        }
        "int" => schema.field("item", Datatype::Int, MANY),
        "float" => schema.field("item", Datatype::Float, MANY),
        _ => schema.field("item", Datatype::Double, MANY),
    };
    let root = schema.record(vec![item]);
    let root = schema.element("urn:mesh", "array", root);
    schema.builder.prefix("urn:mesh", "m");
    let value = Value::object([("item", Value::Array(items))]);
    build(&schema.finish(), root, &value).expect("the values fit")
}

fn run<R: Row + Copy>(shape: &str, record: &Record, rows: &[R], rounds: usize) {
    let frame = Frame::around(record, "item").expect("a frame");
    let mut wire = Wire::new().expect("loopback");
    let encoder = Encoder::default();
    let mut text = Vec::new();
    let mut least = [[f64::MAX; 3]; 2];
    let mut note = |sends: bool, engine: usize, begun: Instant| {
        let taken = begun.elapsed().as_secs_f64() * 1e9 / rows.len() as f64;
        let least = &mut least[usize::from(sends)][engine];
        *least = least.min(taken);
    };
    for _ in 0..rounds {
        for sends in [false, true] {
            let begun = Instant::now();
            text.clear();
            encoder.encode(record, &mut text).expect("written");
            if sends {
                wire.send(b"Content-Length: 123456789\r\n\r\n", &text);
            }
            note(sends, 0, begun);
            wire.drain();
            for (engine, layout) in [(1, Layout::Plain), (2, Layout::Stuffed)] {
                let mut length = 0;
                let begun = Instant::now();
                let overlay = Overlay::new(frame.clone(), layout);
                for piece in overlay.pieces(black_box(rows)) {
                    let piece = piece.expect("rows");
                    length += piece.len();
                    if sends {
                        wire.send(format!("\r\n{:x}\r\n", piece.len()).as_bytes(), &piece);
                    }
                }
                note(sends, engine, begun);
                wire.drain();
                assert!(engine == 2 || length == text.len());
            }
        }
    }
    for (name, [full, plain, stuffed]) in ["in memory", "sent"].iter().zip(least) {
        println!(
            "{shape:6} {name:10} full {full:5.2} ns a row | overlay {plain:5.2} = {:4.2} | stuffed {stuffed:5.2} = {:4.2}",
            plain / full,
            stuffed / full
        );
    }
}

fn main() {
    let argument = |n| std::env::args().nth(n);
    let only = argument(1).unwrap_or_default();
    let number = |n| argument(n).and_then(|argument| argument.parse().ok());
    let rows: usize = number(2).unwrap_or(10_000_000);
    let rounds: usize = number(3).unwrap_or(5);
    let mut random = Random(1);
    for shape in ["dhard", "dunit", "float", "int", "mio"] {
        if !shape.contains(&only) {
            continue;
        }
        if shape == "mio" {
            let rows: Vec<(i32, i32, f64)> = (0..rows)
                .map(|_| {
                    let (x, y) = (random.below(1_000_000), random.below(1_000_000));
                    (x as i32, y as i32, random.hard())
                })
                .collect();
            let item = |&(x, y, value): &(i32, i32, f64)| {
                Value::object([
                    ("x", Value::from(i64::from(x))),
                    ("y", Value::from(i64::from(y))),
                    ("value", Value::from(value)),
                ])
            };
            let record = record(rows.iter().map(item).collect(), shape);
            run(shape, &record, &rows, rounds);
        } else if shape == "int" {
            let rows: Vec<i32> = (0..rows).map(|_| random.next() as i32).collect();
            let record = record(
                rows.iter().map(|&row| i64::from(row).into()).collect(),
                shape,
            );
            run(shape, &record, &rows, rounds);
        } else if shape == "float" {
            let rows: Vec<f32> = (0..rows).map(|_| random.unit() as f32).collect();
            let record = record(
                rows.iter().map(|&row| f64::from(row).into()).collect(),
                shape,
            );
            run(shape, &record, &rows, rounds);
        } else {
            let value = |random: &mut Random| match shape {
                "dhard" => random.hard(),
                _ => random.unit(),
            };
            let rows: Vec<f64> = (0..rows).map(|_| value(&mut random)).collect();
            let record = record(rows.iter().map(|&row| row.into()).collect(), shape);
            run(shape, &record, &rows, rounds);
        }
    }
}
