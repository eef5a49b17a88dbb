//! How fast base64Binary and hexBinary are read and written, against the bare crates and a loop by hand: a tool for whoever
//! changes `binary.rs`.
//!
//! `cargo run --release -p bsoap-datatypes --example octets_speed`

#![allow(clippy::print_stdout)] // its output is what it is for

use std::hint::black_box;
use std::time::Instant;

use bsoap_datatypes::binary;

/// Bytes a second of `octets` octets, in GB: the fastest of many rounds.
fn speed(octets: usize, mut once: impl FnMut()) -> f64 {
    let rounds = (50_000_000 / octets.max(1)).clamp(20, 200_000);
    let times = (0..rounds.div_ceil(10)).map(|_| {
        let start = Instant::now();
        (0..10).for_each(|_| once());
        start.elapsed().as_secs_f64() / 10.0
    });
    octets as f64 / times.fold(f64::MAX, f64::min) / 1e9
}

/// Base64 in lines of 76 characters, as in mail.
fn in_lines(text: &[u8]) -> Vec<u8> {
    text.chunks(76)
        .flat_map(|line| [line, b"\r\n"])
        .flatten()
        .copied()
        .collect()
}

fn by_hand(text: &[u8], out: &mut Vec<u8>) {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
    out.extend(
        text.chunks_exact(2)
            .map(|pair| digit(pair[0]) << 4 | digit(pair[1])),
    );
}

type Run<'a> = &'a mut dyn FnMut(&mut Vec<u8>);

fn row(size: usize, out: &mut Vec<u8>, name: &str, ours: Run<'_>, theirs: Run<'_>) {
    let mut best = [0_f64; 2];
    for _ in 0..3 {
        for (best, run) in best.iter_mut().zip([0, 1]) {
            let run: &mut dyn FnMut(&mut Vec<u8>) =
                if run == 0 { &mut *ours } else { &mut *theirs };
            let found = speed(size, || {
                out.clear();
                run(out);
                black_box(&mut *out);
            });
            *best = best.max(found);
        }
    }
    let [ours, theirs] = best;
    println!(
        "{name:14} {size:8} {ours:9.2} {theirs:9.2} {:8.2}",
        theirs / ours
    );
}

fn main() {
    println!("GB of octets a second      bsoap     crate    ratio");
    for size in [16, 100, 1000, 10_000, 1_000_000] {
        let octets: Vec<u8> = (0..size).map(|at| (at * 167 + at / 256) as u8).collect();
        let mut base64 = Vec::new();
        binary::write_base64(&octets, &mut base64);
        let lines = in_lines(&base64);
        let mut hex = Vec::new();
        binary::write_hex(&octets, &mut hex);
        let mut out = Vec::with_capacity(3 * size + 100);
        row(
            size,
            &mut out,
            "base64 read",
            &mut |out| binary::parse_base64(black_box(&base64), out).expect("base64"),
            &mut |out| {
                base64_simd::STANDARD
                    .decode_append(black_box(&base64), out)
                    .expect("base64");
            },
        );
        row(
            size,
            &mut out,
            "in lines",
            &mut |out| binary::parse_base64(black_box(&lines), out).expect("base64"),
            &mut |out| {
                let packed = black_box(&lines)
                    .iter()
                    .copied()
                    .filter(|byte| *byte > b' ');
                let packed: Vec<u8> = packed.collect();
                base64_simd::STANDARD
                    .decode_append(&packed, out)
                    .expect("base64");
            },
        );
        row(
            size,
            &mut out,
            "base64 write",
            &mut |out| binary::write_base64(black_box(&octets), out),
            &mut |out| {
                base64_simd::STANDARD.encode_append(black_box(&octets), out);
            },
        );
        row(
            size,
            &mut out,
            "hex read",
            &mut |out| binary::parse_hex(black_box(&hex), out).expect("hex"),
            &mut |out| {
                hex_simd::decode_append(black_box(&hex), out).expect("hex");
            },
        );
        row(
            size,
            &mut out,
            "hex write",
            &mut |out| binary::write_hex(black_box(&octets), out),
            &mut |out| {
                hex_simd::encode_append(black_box(&octets), out, hex_simd::AsciiCase::Upper);
            },
        );
        row(
            size,
            &mut out,
            "hex by hand",
            &mut |out| binary::parse_hex(black_box(&hex), out).expect("hex"),
            &mut |out| by_hand(black_box(&hex), out),
        );
    }
}
