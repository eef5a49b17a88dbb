//! What comparing saves of recorded sessions of small messages: `sessions_speed [ROUNDS] [WORD…]`, of the sessions that have
//! a word in their names.
//!
//! The messages of a session are read over and over, in order, by a decoder, by comparing each with the one before, and with
//! a store of histories, as clients and services do: the least time of each (with the 20 ns of a clock), and their sum. They
//! are those of `recorded-polling` in the folder `BSOAP_CORPUS`, by default `../shared/corpus`.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::decode::{DecodeOptions, Decoder, Empty, Unknown};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_differential::receive::{Store, StorePolicy, Stream, Way};
use bsoap_schema::{Chain, FileLoader, LoadOptions, WellKnown, load};
use bytes::Bytes;

const SESSION: &str = "6.2.314.3321/ask_manual_question_complex_query1";

fn folder() -> PathBuf {
    let corpus = std::env::var_os("BSOAP_CORPUS").unwrap_or_else(|| "../shared/corpus".into());
    Path::new(&corpus).join("recorded-polling")
}

fn texts(ending: &str) -> Vec<Bytes> {
    let files = std::fs::read_dir(folder().join(SESSION)).expect("BSOAP_CORPUS is set");
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    files.sort();
    let read = |file| Bytes::from(std::fs::read(file).expect("a file"));
    files.iter().map(read).collect()
}

/// The time of each message: by the decoder, by comparing, with a store.
type Times = [f64; 3];

fn time(
    plan: &Arc<Plan>,
    root: ElementId,
    options: DecodeOptions,
    texts: &[Bytes],
    rounds: usize,
) -> (Vec<Times>, Stream) {
    let mut decoder = Decoder::new(plan.clone(), options);
    let mut exact = Stream::new(Way::default(), plan.clone(), options);
    let mut record = Record::new(plan.clone(), root);
    let mut store = Store::new(StorePolicy::default());
    let mut spare = None;
    let mut times = vec![[f64::MAX; 3]; texts.len()];
    for _ in 0..64 * rounds {
        for (text, [full, ..]) in texts.iter().zip(&mut times) {
            let begun = Instant::now();
            decoder.decode_into(root, text, &mut record).expect("valid");
            black_box(&record);
            *full = full.min(begun.elapsed().as_nanos() as f64);
        }
        for (text, [_, kept, _]) in texts.iter().zip(&mut times) {
            let begun = Instant::now();
            black_box(exact.receive(root, text.clone()).expect("valid"));
            *kept = kept.min(begun.elapsed().as_nanos() as f64);
        }
        for (text, [.., stored]) in texts.iter().zip(&mut times) {
            let begun = Instant::now();
            let lease = store.lend(root, text);
            let new = || Decoder::new(plan.clone(), options);
            let reading = lease.receive(root, text, &mut spare, new);
            store.settle(reading.settled);
            black_box(reading.result.expect("valid"));
            *stored = stored.min(begun.elapsed().as_nanos() as f64);
        }
    }
    (times, exact)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().and_then(|it| it.parse().ok());
    let words: Vec<String> = arguments.collect();
    let wsdl = folder().join("console.wsdl");
    let loader = Chain::new().then(FileLoader::new()).then(WellKnown);
    let definitions = load(&wsdl.to_string_lossy(), &loader, &LoadOptions::default());
    let definitions = definitions.expect("BSOAP_CORPUS is set");
    let (_, port) = definitions.ports().next().expect("a port");
    let (requests, answers) = (texts("-request.xml"), texts("-response.xml"));
    // The server writes empty elements for integers that it does not have, and some that its WSDL does not have.
    let mut options = DecodeOptions::default();
    options.unknown_elements = Unknown::Skip;
    options.empty_values = Empty::Absent;
    let sessions = [
        ("polls", port.binding.response, &answers[6..15]),
        ("answers", port.binding.response, &answers[..]),
        ("requests", port.binding.request, &requests[..]),
    ];
    println!(
        "nanoseconds a message      decoder      exact      store   times faster: exact, store"
    );
    for (name, root, texts) in sessions {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let plan = definitions.plan();
        let (times, exact) = time(plan, root, options, texts, rounds.unwrap_or(15));
        let line = |name: &str, [full, kept, stored]: Times| {
            let (exact, store) = (full / kept, full / stored);
            println!(
                "{name:20} {full:10.0} {kept:10.0} {stored:10.0}      {exact:9.2} {store:9.2}"
            );
        };
        for (text, times) in texts.iter().zip(&times) {
            line(&format!("  {:6} bytes", text.len()), *times);
        }
        let sum = |nth: usize| times.iter().map(|times| times[nth]).sum();
        line(name, [sum(0), sum(1), sum(2)]);
        println!("{:?}", exact.totals());
    }
}
