//! How fast Records become text, against bare loops over the same values: the best number
//! formatter, a copy, the tags. Interleaved; the fastest of many short runs, as the machine is
//! never quiet. Beside them: written in pieces, so with all values at their widest.
//!
//! `cargo run --release -p bsoap-codec --example encode_speed [CASE [bsoap|pieces|floor]]`
//!
//! With an engine it only runs that one, many times, for a profiler to count what it does.

#![allow(clippy::print_stdout)]

#[path = "../tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::time::Instant;

use bsoap_codec::encode::{LeafForm, LeafRef, PieceEncoder, Places, Stop, Stuffing};
use bsoap_codec::{EncodeOptions, Encoder, Record, Value, build};
use bsoap_datatypes::Datatype;

use by_hand::{MANY, ONCE, OPTIONAL, Schema};
use random::Random;

const N: usize = 10_000;

impl Random {
    fn escaped_word(&mut self) -> String {
        let length = 5 + self.next() % 36;
        let letter = |r: u64| match r % 60 {
            0 => '&',
            1 => '<',
            2 => 'é',
            r => char::from(b'a' + (r % 26) as u8),
        };
        (0..length).map(|_| letter(self.next())).collect()
    }
}

#[allow(clippy::type_complexity)]
struct Case {
    name: &'static str,
    record: Record,
    values: usize,
    floor: Box<dyn Fn(&mut Vec<u8>)>,
}

fn array(datatype: Datatype, values: Value) -> Record {
    let mut schema = Schema::new();
    let item = schema.field("item", datatype, MANY);
    let root = schema.record(vec![item]);
    let root = schema.element("urn:mesh", "array", root);
    schema.builder.prefix("urn:mesh", "m");
    let plan = schema.finish();
    build(&plan, root, &Value::object([("item", values)])).expect("the values fit")
}

const HEAD: &[u8] = b"<m:array xmlns:m=\"urn:mesh\">";
const TAIL: &[u8] = b"</m:array>";

fn doubles(name: &'static str, values: Vec<f64>) -> Case {
    let record = array(Datatype::Double, Value::from(values.clone()));
    let floor = move |out: &mut Vec<u8>| {
        out.extend_from_slice(HEAD);
        let mut buffer = zmij::Buffer::new();
        for &value in &values {
            out.extend_from_slice(b"<item>");
            let text = buffer.format_finite(value);
            out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
            out.extend_from_slice(b"</item>");
        }
        out.extend_from_slice(TAIL);
    };
    Case {
        name,
        record,
        values: N,
        floor: Box::new(floor),
    }
}

fn ints(name: &'static str, values: Vec<i64>) -> Case {
    let record = array(Datatype::Int, Value::from(values.clone()));
    let floor = move |out: &mut Vec<u8>| {
        out.extend_from_slice(HEAD);
        let mut buffer = itoa::Buffer::new();
        for &value in &values {
            out.extend_from_slice(b"<item>");
            out.extend_from_slice(buffer.format(value).as_bytes());
            out.extend_from_slice(b"</item>");
        }
        out.extend_from_slice(TAIL);
    };
    Case {
        name,
        record,
        values: N,
        floor: Box::new(floor),
    }
}

fn strings(name: &'static str, values: Vec<String>) -> Case {
    let record = array(
        Datatype::String,
        Value::Array(
            values
                .iter()
                .map(|text| Value::from(text.as_str()))
                .collect(),
        ),
    );
    let floor = move |out: &mut Vec<u8>| {
        out.extend_from_slice(HEAD);
        for value in &values {
            out.extend_from_slice(b"<item>");
            bsoap_xml::escape_text(value, out).expect("words are characters of XML");
            out.extend_from_slice(b"</item>");
        }
        out.extend_from_slice(TAIL);
    };
    Case {
        name,
        record,
        values: N,
        floor: Box::new(floor),
    }
}

fn structs(random: &mut Random) -> Case {
    let mut schema = Schema::new();
    let fields = vec![
        schema.field("x", Datatype::Int, ONCE),
        schema.field("y", Datatype::Int, ONCE),
        schema.field("value", Datatype::Double, ONCE),
    ];
    let mio = schema.record(fields);
    let item = schema.child("item", mio, MANY);
    let root = schema.record(vec![item]);
    let root = schema.element("urn:mesh", "array", root);
    schema.builder.prefix("urn:mesh", "m");
    let plan = schema.finish();
    let values: Vec<(i32, i32, f64)> = (0..N)
        .map(|_| (random.next() as i32, random.next() as i32, random.hard()))
        .collect();
    let rows = values.iter().map(|&(x, y, value)| {
        Value::object([
            ("x", Value::from(x)),
            ("y", Value::from(y)),
            ("value", Value::from(value)),
        ])
    });
    let record = build(
        &plan,
        root,
        &Value::object([("item", Value::Array(rows.collect()))]),
    )
    .expect("the values fit");
    let floor = move |out: &mut Vec<u8>| {
        out.extend_from_slice(HEAD);
        let (mut int, mut double) = (itoa::Buffer::new(), zmij::Buffer::new());
        for &(x, y, value) in &values {
            out.extend_from_slice(b"<item><x>");
            out.extend_from_slice(int.format(x).as_bytes());
            out.extend_from_slice(b"</x><y>");
            out.extend_from_slice(int.format(y).as_bytes());
            out.extend_from_slice(b"</y><value>");
            let text = double.format_finite(value);
            out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
            out.extend_from_slice(b"</value></item>");
        }
        out.extend_from_slice(TAIL);
    };
    Case {
        name: "mio",
        record,
        values: N * 3,
        floor: Box::new(floor),
    }
}

/// A field of the order, for schema and floor alike.
#[derive(Clone)]
enum Field {
    Text(String),
    Int(i64),
    Double(f64),
    Bool(bool),
    Absent,
    Object(Vec<(&'static str, Field)>),
    Lines(Vec<Field>),
}

fn order_fields(random: &mut Random) -> Vec<(&'static str, Field)> {
    let mut text = |length: u64| {
        Field::Text(
            (0..length)
                .map(|_| char::from(b'a' + (random.next() % 26) as u8))
                .collect(),
        )
    };
    let address = |text: &mut dyn FnMut(u64) -> Field| {
        Field::Object(vec![
            ("name", text(18)),
            ("street", text(24)),
            ("city", text(12)),
            ("zip", text(5)),
            ("country", text(2)),
            ("phone", Field::Absent),
            ("email", text(22)),
        ])
    };
    let mut fields = vec![
        ("id", Field::Int(8_812_345)),
        ("reference", text(16)),
        ("created", Field::Text("2026-11-21T09:43:58Z".into())),
        ("currency", text(3)),
        ("billTo", address(&mut text)),
        ("shipTo", address(&mut text)),
        ("priority", Field::Int(3)),
        ("express", Field::Bool(true)),
        ("gift", Field::Bool(false)),
        ("giftNote", Field::Absent),
        ("carrier", text(9)),
        ("tracking", text(20)),
        ("weight", Field::Double(12.75)),
        ("volume", Field::Double(0.082)),
        ("insured", Field::Double(1999.99)),
        ("discount", Field::Absent),
        ("subtotal", Field::Text("1845.10".into())),
        ("tax", Field::Text("350.57".into())),
        ("total", Field::Text("2195.67".into())),
        ("paid", Field::Bool(true)),
        ("payment", text(10)),
        ("terms", text(40)),
    ];
    let lines = (0..10).map(|n| {
        Field::Object(vec![
            ("sku", text(10)),
            ("description", text(32)),
            ("quantity", Field::Int(n + 1)),
            ("price", Field::Double(19.95 + n as f64)),
            (
                "discount",
                if n % 2 == 0 {
                    Field::Absent
                } else {
                    Field::Double(0.05)
                },
            ),
            ("taxed", Field::Bool(true)),
            ("note", if n % 3 == 0 { text(20) } else { Field::Absent }),
        ])
    });
    fields.push(("line", Field::Lines(lines.collect())));
    fields
}

fn declare(schema: &mut Schema, fields: &[(&'static str, Field)]) -> bsoap_codec::plan::TypeId {
    let particles = fields.iter().map(|(name, field)| match field {
        Field::Text(_) => schema.field(name, Datatype::String, OPTIONAL),
        Field::Int(_) => schema.field(name, Datatype::Int, ONCE),
        Field::Double(_) => schema.field(name, Datatype::Double, OPTIONAL),
        Field::Bool(_) => schema.field(name, Datatype::Boolean, ONCE),
        Field::Absent => schema.field(
            name,
            if *name == "discount" {
                Datatype::Double
            } else {
                Datatype::String
            },
            OPTIONAL,
        ),
        Field::Object(fields) => {
            let ty = declare(schema, fields);
            schema.child(name, ty, ONCE)
        }
        Field::Lines(lines) => {
            let Some(Field::Object(fields)) = lines.first() else {
                unreachable!("there are lines")
            };
            let ty = declare(schema, fields);
            schema.child(name, ty, MANY)
        }
    });
    let particles = particles.collect();
    schema.record(particles)
}

fn value_of(field: &Field) -> Option<Value> {
    Some(match field {
        Field::Text(text) => Value::from(text.as_str()),
        Field::Int(value) => Value::from(*value),
        Field::Double(value) => Value::from(*value),
        Field::Bool(value) => Value::from(*value),
        Field::Absent => return None,
        Field::Object(fields) => Value::object(
            fields
                .iter()
                .filter_map(|(name, field)| Some((*name, value_of(field)?))),
        ),
        Field::Lines(lines) => Value::Array(lines.iter().filter_map(value_of).collect()),
    })
}

/// What a loop written by hand would do: constant markup in one copy, then the value, which is looked through if it is a
/// string.
enum Step {
    Copy(Vec<u8>),
    Bool(bool),
    Text(String),
    Int(i64),
    Double(f64),
}

fn steps(fields: &[(&'static str, Field)], markup: &mut Vec<u8>, out: &mut Vec<Step>) {
    for (name, field) in fields {
        let mut leaf = |step: Step, markup: &mut Vec<u8>| {
            markup.extend_from_slice(format!("<{name}>").as_bytes());
            out.push(Step::Copy(std::mem::take(markup)));
            out.push(step);
            markup.extend_from_slice(format!("</{name}>").as_bytes());
        };
        match field {
            Field::Text(text) => leaf(Step::Text(text.clone()), markup),
            Field::Int(value) => leaf(Step::Int(*value), markup),
            Field::Double(value) => leaf(Step::Double(*value), markup),
            Field::Bool(value) => leaf(Step::Bool(*value), markup),
            Field::Absent => {}
            Field::Object(fields) => {
                markup.extend_from_slice(format!("<{name}>").as_bytes());
                steps(fields, markup, out);
                markup.extend_from_slice(format!("</{name}>").as_bytes());
            }
            Field::Lines(lines) => {
                for line in lines {
                    steps(&[(name, line.clone())], markup, out);
                }
            }
        }
    }
}

fn order(random: &mut Random) -> Case {
    let fields = order_fields(random);
    let mut schema = Schema::new();
    let root = declare(&mut schema, &fields);
    let root = schema.element("urn:shop", "order", root);
    schema.builder.prefix("urn:shop", "s");
    let plan = schema.finish();
    let value = value_of(&Field::Object(fields.clone())).expect("it is there");
    let record = build(&plan, root, &value).expect("the values fit");
    let mut markup = b"<s:order xmlns:s=\"urn:shop\">".to_vec();
    let mut all = Vec::new();
    steps(&fields, &mut markup, &mut all);
    markup.extend_from_slice(b"</s:order>");
    all.push(Step::Copy(markup));
    let floor = move |out: &mut Vec<u8>| {
        let (mut int, mut double) = (itoa::Buffer::new(), zmij::Buffer::new());
        for step in &all {
            match step {
                Step::Copy(bytes) => out.extend_from_slice(bytes),
                Step::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
                Step::Text(text) => {
                    bsoap_xml::escape_text(text, out).expect("words are characters of XML");
                }
                Step::Int(value) => out.extend_from_slice(int.format(*value).as_bytes()),
                Step::Double(value) => {
                    let text = double.format_finite(*value);
                    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
                }
            }
        }
    };
    Case {
        name: "order",
        record,
        values: 100,
        floor: Box::new(floor),
    }
}

fn main() {
    let wanted = std::env::args().nth(1);
    let random = &mut Random(7);
    let cases = [
        doubles("dhard", (0..N).map(|_| random.hard()).collect()),
        doubles("dunit", (0..N).map(|_| random.unit()).collect()),
        doubles("dsmall", (0..N).map(|_| random.small()).collect()),
        ints(
            "int",
            (0..N).map(|_| i64::from(random.next() as i32)).collect(),
        ),
        ints(
            "int<1000",
            (0..N).map(|_| (random.next() % 1000) as i64).collect(),
        ),
        structs(random),
        strings("string", (0..N).map(|_| random.escaped_word()).collect()),
        order(random),
    ];
    if std::env::args().nth(2).is_none() {
        println!(
            "{:10} {:>9} {:>9} {:>6} {:>9} {:>9}   ns per value",
            "case", "bsoap", "floor", "ratio", "pieces", "stuffed"
        );
    }
    for case in cases.iter().filter(|case| {
        wanted
            .as_ref()
            .is_none_or(|wanted| case.name.starts_with(wanted))
    }) {
        match std::env::args().nth(2).as_deref() {
            Some("bsoap") => repeat(case, &|out| {
                Encoder::new(EncodeOptions::without_declaration())
                    .encode(&case.record, out)
                    .expect("the record fits");
            }),
            Some("pieces") => repeat(case, &|out| pieces(&case.record, &(), out)),
            Some(_) => repeat(case, &case.floor),
            None => run(case),
        }
    }
}

fn repeat(case: &Case, work: &dyn Fn(&mut Vec<u8>)) {
    let mut out = Vec::new();
    for _ in 0..20_000_000 / case.values {
        out.clear();
        work(&mut out);
        black_box(&out);
    }
}

type Road<'r> = &'r mut dyn FnMut(&mut Vec<u8>);

fn run(case: &Case) {
    let encoder = Encoder::new(EncodeOptions::without_declaration());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    encoder
        .encode(&case.record, &mut ours)
        .expect("the record fits");
    (case.floor)(&mut theirs);
    if ours != theirs {
        let at = ours
            .iter()
            .zip(&theirs)
            .position(|(a, b)| a != b)
            .unwrap_or(0);
        let end = |text: &[u8]| {
            String::from_utf8_lossy(&text[at.saturating_sub(30)..(at + 60).min(text.len())])
                .into_owned()
        };
        println!(
            "{} differs at {at}: {:?} against {:?}",
            case.name,
            end(&ours),
            end(&theirs)
        );
    }
    let repeat = (20_000 / case.values).max(1);
    let time = |work: &mut dyn FnMut(&mut Vec<u8>), out: &mut Vec<u8>| {
        let begin = Instant::now();
        for _ in 0..repeat {
            out.clear();
            work(out);
            black_box(&out);
        }
        begin.elapsed().as_nanos() as f64 / (repeat * case.values) as f64
    };
    let mut fastest = [f64::MAX; 4];
    for _ in 0..20_000_000 / (repeat * case.values) {
        let roads: [Road<'_>; 4] = [
            &mut |out| encoder.encode(&case.record, out).expect("the record fits"),
            &mut |out| (case.floor)(out),
            &mut |out| pieces(&case.record, &(), out),
            &mut |out| pieces(&case.record, &Widest, out),
        ];
        for (fastest, road) in fastest.iter_mut().zip(roads) {
            *fastest = fastest.min(time(road, &mut ours));
        }
    }
    let [a, b, pieces, stuffed] = fastest;
    println!(
        "{:10} {a:9.2} {b:9.2} {:6.2} {pieces:9.2} {stuffed:9.2}",
        case.name,
        a / b
    );
}

/// Pieces of 32 KB, all places told.
fn pieces(record: &Record, stuffing: &impl Stuffing, out: &mut Vec<u8>) {
    let mut encoder = PieceEncoder::new(record, EncodeOptions::without_declaration());
    let mut told = Told(0);
    while encoder
        .run(out, 32 << 10, None, stuffing, &mut told)
        .expect("the record fits")
        == Stop::Size
    {}
    black_box(told.0);
}

struct Told(usize);

impl Places for Told {
    #[inline]
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef) {
        self.0 ^= slot ^ offset ^ length ^ width ^ leaf.0 as usize;
    }
}

struct Widest;

impl Stuffing for Widest {
    #[inline]
    fn width(&self, leaf: &LeafForm, length: usize) -> usize {
        leaf.widest().unwrap_or(length)
    }
}
