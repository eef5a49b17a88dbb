//! What a message costs that comes with a hint: a sensor's reading of ten values, all of them others each time; against an
//! ordinary reading, the comparing one, and a copy of the values from known places, which is the least that can be done.
//! Interleaved; the fastest of many short runs, as the machine is never quiet.
//!
//! `cargo run --release -p bsoap-differential --example hint_speed [ROUNDS] [ENGINE] [DOCUMENTS]` (1000 of them stay in a
//! cache, 100000 come from memory); `hint_speed given [ROUNDS]`: what giving a hint costs, from one value to 100000

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::encode::{LeafRef, PieceEncoder, Places};
use bsoap_codec::plan::{
    ElementId, NamespaceConstraint, ProcessContents, Role, TermDef, TypeId, Wildcard,
};
use bsoap_codec::{DecodeOptions, Decoder, EncodeOptions, Encoder, Plan, Record, Value, build};
use bsoap_datatypes::Datatype;
use bsoap_differential::hint::{Reader, StorePolicy, Writer};
use bsoap_differential::receive::{Policy, Stream, Way};
use bytes::Bytes;

use by_hand::{MANY, ONCE, OPTIONAL, Schema};
use random::Random;

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// A reading in an Envelope.
fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let reading = reading_type(&mut schema);
    enveloped(schema, "reading", reading)
}

/// Doubles in an Envelope.
fn array_plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let items = schema.field("item", Datatype::Double, MANY);
    let array = schema.record(vec![items]);
    enveloped(schema, "array", array)
}

fn reading_type(schema: &mut Schema) -> TypeId {
    let fields = [
        ("station", Datatype::String),
        ("sensor", Datatype::AnyUri),
        ("time", Datatype::DateTime),
        ("sequence", Datatype::Long),
        ("latitude", Datatype::Double),
        ("longitude", Datatype::Double),
        ("altitude", Datatype::Double),
        ("value", Datatype::Double),
        ("unit", Datatype::String),
        ("quality", Datatype::Int),
    ];
    let fields = fields
        .map(|(name, datatype)| schema.field(name, datatype, ONCE))
        .to_vec();
    schema.record(fields)
}

fn enveloped(mut schema: Schema, name: &str, content: TypeId) -> (Arc<Plan>, ElementId) {
    let content = schema.element("urn:bsoap:bench", name, content);
    let content = schema.particle(ONCE, TermDef::Element(content));
    let body = schema.record(vec![content]);
    let any = schema.particle(
        MANY,
        TermDef::Any(Wildcard {
            namespaces: NamespaceConstraint::Any,
            process: ProcessContents::Skip,
        }),
    );
    let header = schema.record(vec![any]);
    let [header, body] = [("Header", header), ("Body", body)]
        .map(|(name, ty)| schema.any_element(SOAP, name, ty, false, Role::Soap));
    let header = schema.particle(OPTIONAL, TermDef::Element(header));
    let body = schema.particle(ONCE, TermDef::Element(body));
    let envelope = schema.record(vec![header, body]);
    let envelope = schema.any_element(SOAP, "Envelope", envelope, false, Role::Soap);
    schema.builder.prefix(SOAP, "soap");
    schema.builder.prefix("urn:bsoap:bench", "tns");
    (schema.finish(), envelope)
}

fn decimals(random: &mut Random, range: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    let unit = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
    (unit * range * scale).round() / scale
}

fn reading(random: &mut Random) -> Value {
    let unit = [
        "degree Celsius",
        "metre per second",
        "hectopascal",
        "percent",
    ];
    Value::object([
        (
            "station",
            Value::from(format!(
                "Observatory {} at {}",
                random.next() % 1000,
                random.word()
            )),
        ),
        (
            "sensor",
            Value::from(format!(
                "urn:sensor:{:016x}-{:016x}",
                random.next(),
                random.next()
            )),
        ),
        (
            "time",
            Value::from(format!(
                "20{:02}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                random.next() % 100,
                1 + random.next() % 12,
                1 + random.next() % 28,
                random.next() % 24,
                random.next() % 60,
                random.next() % 60
            )),
        ),
        ("sequence", Value::from((random.next() >> 24) as i64)),
        ("latitude", Value::from(decimals(random, 180.0, 6) - 90.0)),
        ("longitude", Value::from(decimals(random, 360.0, 6) - 180.0)),
        ("altitude", Value::from(decimals(random, 4000.0, 1))),
        (
            "value",
            Value::from((random.next() >> 11) as f64 / (1u64 << 53) as f64 * 100.0),
        ),
        ("unit", Value::from(unit[(random.next() % 4) as usize])),
        ("quality", Value::from((random.next() % 5) as i64)),
    ])
}

/// Where the values of a message are.
#[derive(Default)]
struct Located(Vec<(u32, u32)>);

impl Places for Located {
    fn value(&mut self, _: usize, offset: usize, length: usize, _: usize, _: LeafRef) {
        self.0.push((offset as u32, length as u32));
    }
}

struct Document {
    record: Record,
    plain: Bytes,
    hinted: Bytes,
    /// The same without lengths.
    keyed: Bytes,
    places: Vec<(u32, u32)>,
}

fn without_lengths(text: &[u8]) -> Bytes {
    let text = String::from_utf8(text.to_vec()).expect("text");
    let at = text.find(" at=").expect("lengths");
    let end = at + text[at..].find("/>").expect("an end");
    Bytes::from([&text[..at], &text[end..]].concat())
}

fn documents(count: usize) -> (Arc<Plan>, ElementId, Vec<Document>) {
    let (plan, root) = plan();
    let mut random = Random(7);
    let mut writer = Writer::new();
    let documents = (0..count)
        .map(|_| {
            let value =
                Value::object([("Body", Value::object([("reading", reading(&mut random))]))]);
            let record = build(&plan, root, &value).expect("it fits");
            let (mut plain, mut located, mut text) = (Vec::new(), Located::default(), Vec::new());
            PieceEncoder::new(&record, EncodeOptions::default())
                .run(&mut plain, usize::MAX, None, &(), &mut located)
                .expect("it is written");
            let hint = writer.write(&record, EncodeOptions::default(), &mut text);
            assert_eq!(plain, text);
            let hint = hint.expect("it is written").expect("it is worth it");
            let hinted = hint.within(&text);
            Document {
                places: located.0,
                keyed: without_lengths(&hinted),
                plain: plain.into(),
                hinted,
                record,
            }
        })
        .collect();
    (plan, root, documents)
}

/// Puts texts behind one another, as those of a stream lie in memory.
fn side_by_side(documents: &mut [Document]) {
    let copies: Vec<_> = documents.iter().map(|it| it.hinted.to_vec()).collect();
    for (document, copy) in documents.iter_mut().zip(copies) {
        document.hinted = copy.into();
    }
    let copies: Vec<_> = documents.iter().map(|it| it.plain.to_vec()).collect();
    for (document, copy) in documents.iter_mut().zip(copies) {
        document.plain = copy.into();
    }
}

/// The fastest of some rounds, in nanoseconds a document.
struct Timing {
    name: &'static str,
    best: f64,
}

/// What it costs to write a message, and to write it with its hint: medians of some rounds.
fn give(name: &str, rounds: usize, records: &[Record]) {
    let (mut writer, mut text) = (Writer::new(), Vec::new());
    let mut times = [Vec::new(), Vec::new()];
    let values: usize = records.iter().map(|it| it.slots().len()).sum();
    let again = (200_000 / values).max(1);
    for _ in 0..rounds {
        for (with_hint, times) in times.iter_mut().enumerate() {
            let begun = Instant::now();
            for record in (0..again).flat_map(|_| records) {
                text.clear();
                if with_hint == 1 {
                    let hint = writer.write(record, EncodeOptions::default(), &mut text);
                    assert!(black_box(hint.expect("it is written")).is_some());
                } else {
                    let plain = Encoder::default().encode(record, &mut text);
                    plain.expect("it is written");
                }
                black_box(&text);
            }
            let messages = (again * records.len()) as f64;
            times.push(begun.elapsed().as_nanos() as f64 / messages);
        }
    }
    let [plain, hinted] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let more = hinted - plain;
    println!(
        "{name:16} {plain:10.1} ns, the hint {more:6.1} ns, {:6.2} %",
        more / plain * 100.0
    );
}

/// The table of what hints cost who gives them.
fn given(rounds: usize) {
    let records: Vec<_> = documents(100).2.into_iter().map(|it| it.record).collect();
    give("a reading", rounds, &records);
    let (plan, root) = array_plan();
    let mut random = Random(7);
    for count in [1, 10, 48, 49, 100, 1000, 10_000, 100_000] {
        let records: Vec<_> = (0..(20_000_usize / count).clamp(2, 100))
            .map(|_| {
                let items: Vec<_> = (0..count).map(|_| Value::from(random.unit())).collect();
                let array = Value::object([("item", Value::from(items))]);
                let value = Value::object([("Body", Value::object([("array", array)]))]);
                build(&plan, root, &value).expect("it fits")
            })
            .collect();
        give(&format!("{count} doubles"), rounds, &records);
    }
}

/// All that read or write the documents.
struct Engines {
    root: ElementId,
    hints: Reader,
    keys: Reader,
    decoder: Decoder,
    exact: Stream,
    record: Record,
    writer: Writer,
    text: Vec<u8>,
}

impl Engines {
    /// Which have seen all documents, and found in them what is there.
    fn new(plan: &Arc<Plan>, root: ElementId, documents: &[Document]) -> Self {
        let options = DecodeOptions::default();
        let reader = || Reader::new(plan.clone(), options, StorePolicy::default());
        let (mut hints, mut keys) = (reader(), reader());
        let mut fresh = Decoder::new(plan.clone(), options);
        for document in documents {
            for (reader, text) in [(&mut hints, &document.hinted), (&mut keys, &document.keyed)] {
                let expected = fresh.decode(root, text).expect("a message");
                assert_eq!(*reader.receive(root, text).expect("a message"), expected);
            }
        }
        println!("{:?}", hints.counts());
        Self {
            root,
            hints,
            keys,
            decoder: Decoder::new(plan.clone(), options),
            exact: Stream::new(Way::Exact(Policy::default()), plan.clone(), options),
            record: Record::new(plan.clone(), root),
            writer: Writer::new(),
            text: Vec::new(),
        }
    }

    /// What can be done at the least.
    fn bounds(&mut self, timings: &mut Timings<'_>) {
        let copy = &mut self.text;
        timings.run("copy of the values (lower bound)", &mut |it| {
            copy.clear();
            for &(at, length) in &it.places {
                copy.extend_from_slice(&it.plain[at as usize..(at + length) as usize]);
            }
            black_box(&copy);
        });
        timings.run("a byte of each line (memory)", &mut |it| {
            let sum = it.hinted.iter().step_by(64).map(|&byte| u64::from(byte));
            black_box(sum.sum::<u64>());
        });
    }

    fn read(&mut self, timings: &mut Timings<'_>) {
        let root = self.root;
        timings.run("hints", &mut |it| {
            black_box(self.hints.read(root, &it.hinted).expect("a message"));
        });
        timings.run("hints, Records to be kept", &mut |it| {
            black_box(self.hints.receive(root, &it.hinted).expect("a message"));
        });
        timings.run("keys alone", &mut |it| {
            black_box(self.keys.receive(root, &it.keyed).expect("a message"));
        });
        timings.run("decoder", &mut |it| {
            let read = self.decoder.decode_into(root, &it.plain, &mut self.record);
            read.expect("a message");
            black_box(&self.record);
        });
        timings.run("exact", &mut |it| {
            let read = self.exact.receive(root, it.plain.clone());
            black_box(read.expect("a message"));
        });
    }

    fn write(&mut self, timings: &mut Timings<'_>) {
        let (writer, text) = (&mut self.writer, &mut self.text);
        timings.run("encoder", &mut |it| {
            text.clear();
            let written = Encoder::default().encode(&it.record, text);
            written.expect("it is written");
            black_box(&text);
        });
        timings.run("encoder with hints", &mut |it| {
            text.clear();
            let hint = writer.write(&it.record, EncodeOptions::default(), text);
            black_box(hint.expect("it is written"));
            black_box(&text);
        });
    }
}

/// The best of each.
struct Timings<'t> {
    documents: &'t [Document],
    /// How the names of those begin that are wanted.
    only: String,
    all: Vec<Timing>,
}

impl Timings<'_> {
    /// Times one, if it is wanted or what the others are compared with.
    fn run(&mut self, name: &'static str, work: &mut dyn FnMut(&Document)) {
        if !name.starts_with(&self.only) && !name.starts_with("copy") {
            return;
        }
        let begun = Instant::now();
        self.documents.iter().for_each(&mut *work);
        let taken = begun.elapsed().as_nanos() as f64 / self.documents.len() as f64;
        match self.all.iter_mut().find(|it| it.name == name) {
            Some(timing) => timing.best = timing.best.min(taken),
            None => self.all.push(Timing { name, best: taken }),
        }
    }

    fn print(&self) {
        let bound = self.all[0].best;
        for Timing { name, best } in &self.all {
            println!("{name:36} {best:8.1} ns {:6.2}", best / bound);
        }
    }
}

fn main() {
    let number = |at: usize, otherwise: usize| {
        let given = std::env::args().nth(at);
        given.map_or(otherwise, |it| it.parse().expect("a number"))
    };
    if std::env::args().nth(1).as_deref() == Some("given") {
        return given(number(2, 61));
    }
    let (rounds, count) = (number(1, 60), number(3, 1000));
    let (plan, root, mut documents) = documents(count);
    side_by_side(&mut documents);
    let bytes: usize = documents.iter().map(|it| it.hinted.len()).sum();
    println!(
        "{} bytes a document, {} values",
        bytes / documents.len(),
        documents[0].places.len()
    );
    println!("{}", String::from_utf8_lossy(&documents[0].hinted));
    let mut engines = Engines::new(&plan, root, &documents);
    let mut timings = Timings {
        documents: &documents,
        only: std::env::args().nth(2).unwrap_or_default(),
        all: Vec::new(),
    };
    for _ in 0..rounds {
        engines.bounds(&mut timings);
        engines.read(&mut timings);
        engines.write(&mut timings);
    }
    timings.print();
}
