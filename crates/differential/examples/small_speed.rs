//! How fast small messages are made ready: by a bare template, by a store of templates, and with neither. The copy of the
//! Record, which a program would have made, is timed by itself and taken off. Interleaved; the fastest of many short runs,
//! as the machine is never quiet. Then the same until it has been written to a loopback connection whose other end discards:
//! the median of all messages, without the copy.
//!
//! `cargo run --release -p bsoap-differential --example small_speed [CASE] [ENGINE] [ROUNDS]`

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;
#[path = "common/wire.rs"]
mod wire;

use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::plan::ElementId;
use bsoap_codec::{EncodeOptions, Encoder, Plan, Record, Value, build};
use bsoap_datatypes::Datatype;
use bsoap_differential::send::{Outgoing, Policy, Sent, Store, StorePolicy, Stream, Template};

use by_hand::{MANY, ONCE, OPTIONAL, Schema};
use random::Random;
use wire::Wire;

impl Random {
    fn value(&mut self, datatype: Datatype) -> Value {
        match datatype {
            Datatype::Int => Value::from((self.next() as i32) as i64),
            Datatype::Double => Value::from((self.next() % 10_000) as f64 / 100.0),
            Datatype::Boolean => Value::from(self.next().is_multiple_of(2)),
            _ => Value::from(self.word()),
        }
    }
}

/// A document of some fields and of rows, with some optional.
struct Shape {
    plan: Arc<Plan>,
    root: ElementId,
    fields: Vec<(String, Datatype, bool)>,
    rows: usize,
}

const ROW: [(&str, Datatype); 8] = [
    ("number", Datatype::Int),
    ("sku", Datatype::String),
    ("description", Datatype::String),
    ("quantity", Datatype::Int),
    ("price", Datatype::Decimal),
    ("weight", Datatype::Double),
    ("due", Datatype::String),
    ("stock", Datatype::Boolean),
];

impl Shape {
    fn new(fields: usize, rows: usize) -> Self {
        let mut schema = Schema::new();
        let cells = ROW
            .iter()
            .map(|&(name, datatype)| schema.field(name, datatype, ONCE))
            .collect();
        let row = schema.record(cells);
        let lines = schema.child("line", row, MANY);
        let fields: Vec<_> = (0..fields)
            .map(|n| {
                let datatype = match n % 4 {
                    0 => Datatype::Int,
                    1 => Datatype::Double,
                    _ => Datatype::String,
                };
                (format!("field{n}"), datatype, n % 6 == 5)
            })
            .collect();
        let mut particles: Vec<_> = fields
            .iter()
            .map(|(name, datatype, is_optional)| {
                schema.field(name, *datatype, if *is_optional { OPTIONAL } else { ONCE })
            })
            .collect();
        particles.push(lines);
        let root = schema.record(particles);
        let root = schema.element("urn:mesh", "order", root);
        schema.builder.prefix("urn:mesh", "m");
        Self {
            plan: schema.finish(),
            root,
            fields,
            rows,
        }
    }

    fn value(&self, random: &mut Random) -> Value {
        let mut members: Vec<(String, Value)> = self
            .fields
            .iter()
            .map(|(name, datatype, _)| (name.clone(), random.value(*datatype)))
            .collect();
        let rows = (0..self.rows).map(|_| {
            Value::object(ROW.map(|(name, datatype)| {
                let value = match datatype {
                    Datatype::Decimal => Value::from("12.50"),
                    datatype => random.value(datatype),
                };
                (name, value)
            }))
        });
        members.push(("line".to_owned(), Value::Array(rows.collect())));
        Value::object(members)
    }

    fn record(&self, value: &Value) -> Record {
        build(&self.plan, self.root, value).expect("it fits")
    }

    /// The messages of a stream.
    fn stream(&self, scenario: &str) -> Vec<Record> {
        let mut random = Random(7);
        let mut base = self.value(&mut random);
        let mut messages = Vec::new();
        for number in 0..32 {
            if let Value::Object(object) = &mut base {
                match scenario {
                    "strings1" => {
                        let at = [2, 3, 6, 7, 10][number % 5] % self.fields.len();
                        object.insert(self.fields[at].0.clone(), Value::from(random.word()));
                    }
                    "number" => {
                        object.insert("field0".to_owned(), Value::from(10_000 + number as i64));
                    }
                    "optional" => {
                        let name = &self.fields[5].0;
                        if number % 2 == 0 {
                            object.remove(name);
                        } else {
                            object.insert(name.clone(), Value::from(1.5));
                        }
                    }
                    "options" => {
                        for (name, datatype, is_optional) in &self.fields {
                            if *is_optional {
                                object.remove(name);
                                if random.next().is_multiple_of(2) {
                                    object.insert(name.clone(), random.value(*datatype));
                                }
                            }
                        }
                    }
                    "lines" => {
                        let rows = 1 + random.next() as usize % self.rows.max(1);
                        let whole = self.value(&mut Random(7));
                        if let Value::Object(mut whole) = whole
                            && let Some(Value::Array(mut lines)) = whole.remove("line")
                        {
                            lines.truncate(rows);
                            object.insert("line".to_owned(), Value::Array(lines));
                        }
                    }
                    "unlike" => {
                        if let Value::Object(other) = self.value(&mut random) {
                            *object = other;
                        }
                    }
                    _ => {}
                }
            }
            messages.push(self.record(&base));
        }
        messages
    }
}

/// An array of doubles.
fn doubles(count: usize, scenario: &str) -> Vec<Record> {
    let mut schema = Schema::new();
    let item = schema.field("item", Datatype::Double, MANY);
    let root = schema.record(vec![item]);
    let root = schema.element("urn:mesh", "array", root);
    schema.builder.prefix("urn:mesh", "m");
    let plan = schema.finish();
    let mut random = Random(7);
    let mut values: Vec<f64> = (0..count).map(|_| random.hard()).collect();
    (0..32)
        .map(|_| {
            if scenario == "unlike" {
                values.iter_mut().for_each(|value| *value = random.hard());
            }
            let value = Value::object([("item", Value::from(values.clone()))]);
            build(&plan, root, &value).expect("it fits")
        })
        .collect()
}

/// Makes a message ready, and sends it if there is somewhere to.
type Engine<'e> = (
    &'static str,
    Box<dyn FnMut(&mut Record, Option<&mut Wire>) -> u64 + 'e>,
);

fn send(outgoing: &Outgoing, wire: Option<&mut Wire>) -> u64 {
    if let Some(wire) = wire {
        for chunk in &outgoing.chunks {
            wire.0.write_all(chunk).expect("a connection");
        }
    }
    outgoing.length
}

fn engines(messages: &[Record]) -> Vec<Engine<'static>> {
    let mut text = Vec::new();
    let first = messages[0].clone();
    let mut template =
        Template::first(Policy::default(), EncodeOptions::default(), first).expect("a message");
    let mut store = Store::new(StorePolicy::default());
    let stream = Stream {
        endpoint: 0,
        root: messages[0].root(),
        operation: 0,
    };
    vec![
        ("copy", Box::new(|record, _| record.slots().len() as u64)),
        (
            "off",
            Box::new(move |record, wire| {
                text.clear();
                Encoder::default().encode(record, &mut text).unwrap();
                if let Some(wire) = wire {
                    wire.0.write_all(&text).expect("a connection");
                }
                text.len() as u64
            }),
        ),
        (
            "plain",
            Box::new(|record, wire| send(&Sent::plain(record).unwrap().outgoing, wire)),
        ),
        (
            "template",
            Box::new(move |record, wire| {
                template.update(record).unwrap();
                send(&template.outgoing(), wire)
            }),
        ),
        (
            "store",
            Box::new(move |record, wire| {
                let mut lease = store.lend(stream, record);
                let sent = lease.send(record);
                store.settle(lease);
                send(&sent.unwrap().outgoing, wire)
            }),
        ),
    ]
}

fn run(name: &str, messages: &[Record], only: &str, rounds: usize) {
    const LOOPS: usize = 40;
    let mut engines = engines(messages);
    engines.retain(|(name, _)| only.is_empty() || *name == only || *name == "copy");
    let mut least = vec![f64::MAX; engines.len()];
    for _ in 0..rounds {
        for ((_, engine), least) in engines.iter_mut().zip(&mut least) {
            let begun = Instant::now();
            for _ in 0..LOOPS {
                for message in messages {
                    black_box(engine(&mut black_box(message.clone()), None));
                }
            }
            let taken = begun.elapsed().as_nanos() as f64 / (LOOPS * messages.len()) as f64;
            *least = least.min(taken);
        }
    }
    let copy = least[0];
    let off = engines.iter().position(|(name, _)| *name == "off");
    let off = off.map_or(f64::NAN, |off| least[off] - copy);
    print!(
        "{name:20} {:5} slots  copy {copy:6.0} ",
        messages[0].slots().len()
    );
    for ((name, _), least) in engines.iter().zip(&least).skip(1) {
        let taken = least - copy;
        print!(" | {name} {taken:6.0} = {:4.2}", taken / off);
    }
    println!();
    sent(name, messages, engines);
}

/// The same until it is sent.
fn sent(name: &str, messages: &[Record], mut engines: Vec<Engine<'static>>) {
    const LOOPS: usize = 60;
    engines.retain(|(name, _)| *name != "copy");
    let mut wire = Wire::new().expect("loopback");
    let mut taken = vec![Vec::new(); engines.len()];
    for _ in 0..LOOPS {
        for message in messages {
            for ((_, engine), taken) in engines.iter_mut().zip(&mut taken) {
                let mut record = message.clone();
                let begun = Instant::now();
                black_box(engine(&mut record, Some(&mut wire)));
                taken.push(begun.elapsed().as_nanos() as f64);
                wire.drain();
            }
        }
    }
    let medians = taken.into_iter().map(|mut taken| {
        taken.sort_by(f64::total_cmp);
        taken[taken.len() / 2]
    });
    let medians: Vec<f64> = medians.collect();
    let off = engines.iter().position(|(name, _)| *name == "off");
    let off = off.map_or(f64::NAN, |off| medians[off]);
    print!("{name:43}sent");
    for ((name, _), taken) in engines.iter().zip(&medians) {
        print!(" | {name} {taken:6.0} = {:4.2}", taken / off);
    }
    println!();
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().unwrap_or_default();
    let only = arguments.next().unwrap_or_default();
    let rounds = arguments
        .next()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(15);
    let shapes = [("order", 24, 10), ("small", 13, 0)];
    for (name, fields, rows) in shapes {
        let shape = Shape::new(fields, rows);
        for scenario in [
            "content", "number", "strings1", "optional", "options", "lines", "unlike",
        ] {
            let name = format!("{name}/{scenario}");
            if name.contains(&case) {
                run(&name, &shape.stream(scenario), &only, rounds);
            }
        }
    }
    for count in [1, 10, 100, 1000] {
        for scenario in ["content", "unlike"] {
            let name = format!("dhard/{count}/{scenario}");
            if name.contains(&case) {
                run(&name, &doubles(count, scenario), &only, rounds);
            }
        }
    }
}
