//! gzip by chunks against one stream: how much longer the result is, and what it takes when few chunks changed.
//!
//! `cargo run --release -p bsoap-differential --example fold_speed`

#![allow(clippy::print_stdout)]

#[path = "../../datatypes/tests/common/random.rs"]
mod random;

use std::fmt::Write as _;
use std::io::Write;
use std::time::Instant;

use bsoap_differential::send::Folds;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use random::Random;

fn main() {
    println!("text       chunk   one stream  chunks   size   1 stream  all dirty  1 dirty  none");
    for (name, text) in [
        ("doubles", doubles()),
        ("small ints", integers()),
        ("orders", orders()),
    ] {
        for size in [8 << 10, 32 << 10, 128 << 10] {
            compare(name, text.as_bytes(), size);
        }
    }
}

fn compare(name: &str, text: &[u8], size: usize) {
    let one = best(|| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("a Vec takes all");
        encoder.finish().expect("a Vec takes all").len()
    });
    let cut = || -> Vec<Bytes> { text.chunks(size).map(Bytes::copy_from_slice).collect() };
    let mut chunks = cut();
    let mut folds = Folds::default();
    let mut fold =
        |chunks: &[Bytes]| -> usize { folds.fold(chunks).chunks.iter().map(Bytes::len).sum() };
    let all = best_of(|| chunks = cut(), |()| fold(&cut()));
    let mut next = 0;
    let few = {
        let mut best = (f64::MAX, 0);
        for _ in 0..20 {
            next = (next + 7) % chunks.len();
            chunks[next] = Bytes::copy_from_slice(&chunks[next]);
            let begun = Instant::now();
            let length = fold(&chunks);
            best = (best.0.min(begun.elapsed().as_secs_f64()), length);
        }
        best
    };
    let none = best(|| fold(&chunks));
    println!(
        "{name:<10} {:>4} K {:>11} {:>8} {:>+5.1} % {:>7.2} ms {:>7.2} ms {:>6.3} ms {:>6.4} ms",
        size >> 10,
        one.1,
        few.1,
        (few.1 as f64 / one.1 as f64 - 1.0) * 100.0,
        one.0 * 1e3,
        all.0 * 1e3,
        few.0 * 1e3,
        none.0 * 1e3,
    );
}

fn best(mut run: impl FnMut() -> usize) -> (f64, usize) {
    best_of(|| (), |()| run())
}

fn best_of<T>(mut prepare: impl FnMut() -> T, mut run: impl FnMut(T) -> usize) -> (f64, usize) {
    let mut best = (f64::MAX, 0);
    for _ in 0..7 {
        let prepared = prepare();
        let begun = Instant::now();
        let length = run(prepared);
        best = (best.0.min(begun.elapsed().as_secs_f64()), length);
    }
    best
}

fn doubles() -> String {
    let mut random = Random(7);
    let mut text = String::new();
    for _ in 0..100_000 {
        let value = (random.next() >> 11) as f64 / 9_007_199_254_740_992.0;
        write!(text, "<item>{value}</item>").expect("a String takes all");
    }
    text
}

fn integers() -> String {
    let mut random = Random(7);
    let mut text = String::new();
    for _ in 0..100_000 {
        let value = random.next() % 1000;
        write!(text, "<item>{value}</item>").expect("a String takes all");
    }
    text
}

fn orders() -> String {
    let mut random = Random(7);
    let mut text = String::new();
    for number in 0..8000 {
        let (sku, price) = (random.next() % 5000, random.next() % 100_000);
        write!(
            text,
            "<item number=\"{number}\"><sku>AB-{sku:05}</sku><description>Washer, steel, {}mm</description>\
             <quantity>{}</quantity><price currency=\"EUR\">{}.{:02}</price><shipped>2026-11-{:02}</shipped></item>",
            random.next() % 40,
            random.next() % 100,
            price / 100,
            price % 100,
            1 + random.next() % 28
        )
        .expect("a String takes all");
    }
    text
}
