//! What facets cost: orders, readings and strings, read with a schema that has facets on nearly every value, which are checked
//! or not. Interleaved; the fastest of many short runs, as the machine is never quiet.
//!
//! `cargo run --release -p bsoap-schema --example validate_speed [ROUNDS]`

#![allow(clippy::print_stdout)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::decode::Validation;
use bsoap_codec::{DecodeOptions, Decoder, Record};
use bsoap_schema::{Definitions, MemoryLoader};

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len() as u64) as usize]
    }

    fn words(&mut self, least: u64, most: u64) -> String {
        let length = least + self.below(most - least);
        let letters = (0..length).map(|at| match (at, self.below(7)) {
            (1.., 0) => ' ',
            _ => char::from(b'a' + self.below(26) as u8),
        });
        letters.collect::<String>().trim_end().to_owned()
    }
}

fn address(random: &mut Random, name: &str) -> String {
    let (who, street, city) = (
        random.words(8, 20),
        random.words(8, 20),
        random.words(5, 12),
    );
    format!(
        "<{name}><name>{who}</name><street>{street}</street><house>{}</house><city>{city}</city><postcode>{:05}</postcode>\
         <country>{}</country><latitude>{}.{:06}</latitude><longitude>-{}.{:06}</longitude></{name}>",
        1 + random.below(900),
        random.below(100_000),
        random.pick(&["DE", "IT", "US", "CH"]),
        random.below(90),
        random.below(1_000_000),
        random.below(180),
        random.below(1_000_000),
    )
}

fn line(random: &mut Random, number: u64) -> String {
    format!(
        "<line number=\"{number}\"><sku>{}</sku><description>{}</description><quantity>{}</quantity><price>{}.{:02}</price>\
         <weight>{}.{:03}</weight><taxRate>0.19</taxRate><inStock>{}</inStock><due>2026-11-{:02}</due></line>",
        random.words(8, 14),
        random.words(30, 80),
        1 + random.below(99),
        random.below(1000),
        random.below(100),
        random.below(50),
        random.below(1000),
        random.pick(&["true", "false"]),
        1 + random.below(28),
    )
}

fn order(random: &mut Random) -> String {
    let mut text = format!(
        "<b:order id=\"{}\" currency=\"{}\"><number>PO-{:06}-{:03}</number><placed>2026-11-21T10:{:02}:00Z</placed>\
         <priority>{}</priority><express>true</express><note>{}</note><customer><number>{}</number><name>{}</name>\
         <email>{}</email><vat>DE{:09}</vat></customer>",
        random.below(1_000_000),
        random.pick(&["EUR", "USD", "CHF"]),
        random.below(1_000_000),
        random.below(1000),
        random.below(60),
        1 + random.below(9),
        random.words(20, 60),
        random.below(100_000),
        random.words(8, 20),
        random.words(12, 20),
        random.below(1_000_000_000),
    );
    text += &address(random, "billing");
    text += &address(random, "shipping");
    (1..=10).for_each(|number| text += &line(random, number));
    let _ = write!(
        text,
        "<totals><net>{0}.10</net><tax>{1}.20</tax><gross>{0}.30</gross><weight>{1}.5</weight><parcels>3</parcels></totals>\
         <payment><method>{2}</method><reference>{3}</reference><due>2026-12-01</due><signature>aGVsbG8gd29ybGQh</signature>\
         </payment></b:order>",
        random.below(10_000),
        random.below(1000),
        random.pick(&["invoice", "card", "transfer"]),
        random.words(10, 20),
    );
    text
}

fn strings(random: &mut Random) -> String {
    let items = (0..1000).map(|_| format!("<item>{}</item>", random.words(5, 40)));
    format!("<b:strings>{}</b:strings>", items.collect::<String>())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(50), |rounds| rounds.parse())?;
    let mut loader = MemoryLoader::default();
    loader.add(
        "validate.wsdl",
        include_str!("../../../bench/validate.wsdl"),
    );
    let definitions = Definitions::load("validate.wsdl", &loader)?;
    let port = definitions.ports().next().ok_or("no port")?.1;
    let (plan, root) = (definitions.plan(), port.binding.request);
    let mut random = Random(7);
    type Make = fn(&mut Random) -> String;
    let shapes: [(&str, usize, Make); 2] = [("order", 50, order), ("strings", 1, strings)];
    for (name, count, make) in shapes {
        let messages: Vec<String> = (0..count)
            .map(|_| {
                let body = make(&mut random);
                format!(
                    "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:b=\"urn:bsoap:bench\">\
                     <s:Body>{body}</s:Body></s:Envelope>"
                )
            })
            .collect();
        let mut readers = [Validation::Lexical, Validation::Full].map(|validation| {
            let mut options = DecodeOptions::default();
            options.validation = validation;
            (
                Decoder::new(Arc::clone(plan), options),
                Record::new(Arc::clone(plan), root),
                f64::MAX,
            )
        });
        for _ in 0..rounds {
            for (decoder, record, best) in &mut readers {
                let begun = Instant::now();
                for message in &messages {
                    decoder.decode_into(root, message.as_bytes(), record)?;
                    black_box(&record);
                }
                *best = best.min(begun.elapsed().as_nanos() as f64 / count as f64);
            }
        }
        let [lexical, full] = readers.map(|(_, _, best)| best);
        println!(
            "{name:10} lexical {lexical:9.0} ns  full {full:9.0} ns  {:.3}",
            full / lexical
        );
    }
    Ok(())
}
