//! What a store of histories costs and saves, for small messages above all: `histories_speed [ROUNDS]`.
//!
//! Each line is the time of a message, read with a store and with a decoder that knows its spelling.

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::Plan;
use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_codec::plan::{ElementId, UNBOUNDED};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{ReceiveCounts, Store, StorePolicy};
use bytes::Bytes;

fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = common::schema::Schema::new();
    let children = vec![
        schema.field(1, 1, "name", Datatype::String),
        schema.field(1, 1, "number", Datatype::Int),
        schema.field(0, UNBOUNDED, "v", Datatype::Double),
    ];
    schema.rooted("reading", children)
}

fn message(seed: u64, values: usize, changed: usize) -> Bytes {
    let value = |number: usize| {
        let seed = if number < changed { seed } else { 0 };
        let bits = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ seed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (bits >> 11) as f64 / 1e10
    };
    let values: String = (0..values)
        .map(|number| format!("<v>{}</v>", value(number)))
        .collect();
    let text = format!(
        "<reading><name>the one in the north</name><number>{}</number>{values}</reading>",
        1000 + seed % 9000
    );
    Bytes::from(text.into_bytes())
}

fn main() {
    let rounds: usize = std::env::args()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .unwrap_or(2000);
    let (plan, root) = plan();
    println!("nanoseconds a message                  decoder      store    ratio");
    for values in [2, 20, 200, 5000] {
        for (what, changed) in [
            ("same", 0),
            ("1 value", 1),
            ("a tenth", values / 10),
            ("all", values),
        ] {
            let rounds = (rounds * 20 / (values + 20)).max(64);
            let seeds: Vec<u64> = (0..64)
                .map(|it| if changed == 0 { 0 } else { it })
                .collect();
            let messages: Vec<Bytes> = seeds
                .iter()
                .map(|seed| message(*seed, values, changed))
                .collect();
            let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
            let mut store = Store::new(StorePolicy::default());
            let mut spare = vec![Decoder::new(plan.clone(), DecodeOptions::default())];
            let (mut full, mut kept) = (f64::MAX, f64::MAX);
            let mut counts = ReceiveCounts::default();
            for _ in 0..8 {
                let begun = Instant::now();
                for round in 0..rounds {
                    let message = &messages[round % messages.len()];
                    black_box(decoder.decode(root, message).expect("a message"));
                }
                full = full.min(begun.elapsed().as_nanos() as f64 / rounds as f64);
                let begun = Instant::now();
                for round in 0..rounds {
                    let message = &messages[round % messages.len()];
                    let lease = store.lend(root, message);
                    let new = || Decoder::new(plan.clone(), DecodeOptions::default());
                    let mut own = match lease.wants_decoder() {
                        true => spare.pop(),
                        false => None,
                    };
                    let reading = lease.receive(root, message, &mut own, new);
                    store.settle(reading.settled);
                    spare.extend(own);
                    counts.add(&reading.counts);
                    black_box(reading.result.expect("a message"));
                }
                kept = kept.min(begun.elapsed().as_nanos() as f64 / rounds as f64);
            }
            let length = messages[0].len();
            println!(
                "{values:6} values, {length:7} bytes, {what:8} {full:10.0} {kept:10.0} {:8.3}  {} aside, {} kept, {} compared",
                kept / full,
                counts.aside,
                counts.reads.regular,
                counts.reads.fast
            );
        }
    }
}
