//! How fast the next message is made of the one before where many values differ: against the floor (a compare of all
//! values, and the formatting of those that changed, to where nothing has to move) and against encoding it all. The streams
//! are those of the benchmark `ready`: four messages in turn.
//!
//! `cargo run --release -p bsoap-differential --example dirty_speed [CASE] [VALUES] [ROUNDS]`, where a case is a part of
//! `dhard/25/same`, `mio/100/any`, `string/1/same` or the like.

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::plan::ElementId;
use bsoap_codec::{EncodeOptions, Encoder, Plan, Record, Value, build};
use bsoap_datatypes::{Datatype, double, integer};
use bsoap_differential::send::{Outgoing, Policy, Store, StorePolicy, Stream, Template};

use by_hand::{MANY, ONCE, Schema};
use random::Random;

impl Random {
    fn escaped_word(&mut self) -> String {
        let length = 5 + self.below(36);
        let mut word: Vec<char> = (0..length)
            .map(|_| char::from(b'a' + self.below(26) as u8))
            .collect();
        let at = self.below(length);
        match self.below(8) {
            0 => word[at] = ['&', '<'][self.below(2)],
            1 => word[at] = ['é', 'ß', 'Ω', '語', '🜂'][self.below(5)],
            _ => {}
        }
        word.into_iter().collect()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Hard,
    Unit,
    Int,
    Mio,
    Text,
}

#[derive(Clone, Debug)]
enum Item {
    Double(f64),
    Int(i64),
    Mio(i64, i64, f64),
    Text(String),
}

impl Shape {
    fn plan(self) -> (Arc<Plan>, ElementId) {
        let mut schema = Schema::new();
        let item = match self {
            Self::Hard | Self::Unit => schema.field("item", Datatype::Double, MANY),
            Self::Int => schema.field("item", Datatype::Int, MANY),
            Self::Text => schema.field("item", Datatype::String, MANY),
            Self::Mio => {
                let fields = [
                    ("x", Datatype::Int),
                    ("y", Datatype::Int),
                    ("value", Datatype::Double),
                ];
                let fields = fields.map(|(name, datatype)| schema.field(name, datatype, ONCE));
                let item = schema.record(fields.into());
                schema.child("item", item, MANY)
            }
        };
        let root = schema.record(vec![item]);
        let root = schema.element("urn:mesh", "array", root);
        schema.builder.prefix("urn:mesh", "m");
        (schema.finish(), root)
    }

    fn item(self, random: &mut Random) -> Item {
        match self {
            Self::Hard => Item::Double(random.hard()),
            Self::Unit => Item::Double(random.unit()),
            Self::Int => Item::Int(i64::from(random.next() as i32)),
            Self::Text => Item::Text(random.escaped_word()),
            Self::Mio => Item::Mio(
                random.below(1_000_000) as i64,
                random.below(1_000_000) as i64,
                random.hard(),
            ),
        }
    }
}

impl Item {
    fn value(&self) -> Value {
        match self {
            Self::Double(value) => Value::from(*value),
            Self::Int(value) => Value::from(*value),
            Self::Text(text) => Value::from(text.as_str()),
            Self::Mio(x, y, value) => Value::object([
                ("x", Value::from(*x)),
                ("y", Value::from(*y)),
                ("value", Value::from(*value)),
            ]),
        }
    }

    /// Another of the same length, or any.
    fn another(&self, shape: Shape, is_same_length: bool, random: &mut Random) -> Self {
        if !is_same_length {
            return match (self, shape.item(random)) {
                (Self::Mio(x, y, _), Self::Mio(_, _, value)) => Self::Mio(*x, *y, value),
                (_, other) => other,
            };
        }
        match self {
            Self::Double(value) => Self::Double(another_double(*value, random)),
            Self::Mio(x, y, value) => Self::Mio(*x, *y, another_double(*value, random)),
            Self::Int(value) => loop {
                let other = another_digit(&value.to_string(), random).parse();
                if let Ok(other) = other
                    && other != *value
                    && i32::try_from(other).is_ok()
                {
                    return Self::Int(other);
                }
            },
            Self::Text(text) => {
                let mut bytes = text.as_bytes().to_vec();
                let letters: Vec<usize> = (0..bytes.len())
                    .filter(|&at| bytes[at].is_ascii_lowercase())
                    .collect();
                if !letters.is_empty() {
                    let letter = &mut bytes[letters[random.below(letters.len())]];
                    *letter = if *letter == b'z' { b'a' } else { *letter + 1 };
                }
                Self::Text(String::from_utf8(bytes).expect("letters"))
            }
        }
    }
}

fn form(value: f64) -> String {
    let mut out = Vec::new();
    double::write(value, &mut out);
    String::from_utf8(out).expect("ASCII")
}

fn another_digit(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let end = text.find('e').unwrap_or(text.len());
    let digits: Vec<usize> = (0..end).filter(|&at| bytes[at].is_ascii_digit()).collect();
    bytes[digits[random.below(digits.len())]] = b'1' + random.below(9) as u8;
    String::from_utf8(bytes).expect("ASCII")
}

fn another_double(value: f64, random: &mut Random) -> f64 {
    let text = form(value);
    loop {
        let other = another_digit(&text, random).parse().unwrap_or(value);
        if other != value && form(other).len() == text.len() {
            return other;
        }
    }
}

/// Which values change: this share of them, anywhere.
fn scattered(count: usize, percent: usize, random: &mut Random) -> Vec<bool> {
    let mut set = vec![false; count];
    for is_in in set.iter_mut().take((count * percent / 100).max(1)) {
        *is_in = true;
    }
    for place in (1..count).rev() {
        set.swap(place, random.below(place + 1));
    }
    set
}

/// Or next to each other.
fn block(count: usize, percent: usize, at: usize) -> Vec<bool> {
    let length = count * percent / 100;
    let start = (count - length) * at;
    (0..count)
        .map(|place| (start..start + length).contains(&place))
        .collect()
}

/// Four messages of which each differs from the one before in `percent` % of the values.
fn messages(shape: Shape, count: usize, percent: usize, kind: &str) -> Vec<Record> {
    let mut random = Random(2004);
    let own: Vec<Item> = (0..count).map(|_| shape.item(&mut random)).collect();
    let is_same_length = kind != "any";
    let other: Vec<Item> = own
        .iter()
        .map(|item| item.another(shape, is_same_length, &mut random))
        .collect();
    let sets = match kind {
        "block" => [block(count, percent, 0), block(count, percent, 1)],
        _ => [(); 2].map(|()| scattered(count, percent, &mut random)),
    };
    let none = vec![false; count];
    let both: Vec<bool> = sets[0].iter().zip(&sets[1]).map(|(a, b)| a != b).collect();
    let (plan, root) = shape.plan();
    [&none, &sets[0], &both, &sets[1]]
        .into_iter()
        .map(|set| {
            let items = own.iter().zip(&other).zip(set);
            let items = items.map(|((own, other), &is_in)| if is_in { other } else { own }.value());
            let value = Value::object([("item", Value::Array(items.collect()))]);
            build(&plan, root, &value).expect("the values fit")
        })
        .collect()
}

/// What a floor does for one message.
struct Changed {
    doubles: Vec<u32>,
    ints: Vec<u32>,
}

impl Changed {
    fn between(old: &Record, new: &Record) -> Self {
        let (old, new) = (old.slots(), new.slots());
        let changed = (0..new.len()).filter(|&slot| old[slot] != new[slot]);
        let is_int = |&slot: &u32| (new[slot as usize] as i64).unsigned_abs() < 1 << 32;
        let (ints, doubles) = changed.map(|slot| slot as u32).partition(is_int);
        Self { doubles, ints }
    }

    fn format(&self, slots: &[u64], room: &mut [u8]) {
        let (rooms, _) = room.as_chunks_mut::<32>();
        let (doubles, ints) = rooms.split_at_mut(self.doubles.len());
        for (&slot, room) in self.doubles.iter().zip(doubles) {
            double::format(f64::from_bits(slots[slot as usize]), room);
        }
        for (&slot, room) in self.ints.iter().zip(ints) {
            integer::format_i64(slots[slot as usize] as i64, room);
        }
    }
}

#[inline(never)]
fn is_same(message: &Record, kept: &Record) -> bool {
    let (message, kept) = (black_box(message), black_box(kept));
    message.slots() == kept.slots() && message.heap() == kept.heap()
}

/// Time of a run, for each message.
fn time(times: usize, mut run: impl FnMut(usize)) -> f64 {
    let begin = Instant::now();
    for turn in 0..times {
        run(turn);
    }
    begin.elapsed().as_nanos() as f64 / times as f64
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn run(shape: Shape, count: usize, percent: usize, kind: &str, name: &str, rounds: usize) {
    let messages = messages(shape, count, percent, kind);
    let kept = messages.clone();
    let changed: Vec<Changed> = (0..4)
        .map(|n| Changed::between(&messages[(n + 3) % 4], &messages[n]))
        .collect();
    let most = changed
        .iter()
        .map(|one| one.doubles.len() + one.ints.len())
        .max();
    let mut room = vec![0u8; 32 * most.unwrap_or(0)];
    let mut records = messages.clone();
    let mut template = Template::new(Policy::default(), EncodeOptions::default());
    let mut current = 3;
    template.update(&mut records[3]).expect("it can be encoded");
    let mut outgoing = Outgoing::default();
    let mut text = Vec::new();
    let times = (4 * (1_000_000 / (count * 16))).max(4);
    let (mut ours, mut compare, mut floor, mut full) = (vec![], vec![], vec![], vec![]);
    let (mut stored, mut explicit) = (Stored::new(&messages), Explicit::new(&messages));
    let (mut by_store, mut by_hand) = (vec![], vec![]);
    for _ in 0..rounds {
        by_store.push(stored.time(&messages, times));
        by_hand.push(explicit.time(times));
        ours.push(time(times, |turn| {
            outgoing = Outgoing::default();
            let message = turn % 4;
            template
                .update(&mut records[message])
                .expect("it can be encoded");
            records.swap(current, message);
            current = message;
            outgoing = template.outgoing();
        }));
        compare.push(time(times, |turn| {
            black_box(is_same(&messages[turn % 4], &kept[turn % 4]));
        }));
        floor.push(time(times, |turn| {
            let message = turn % 4;
            black_box(is_same(&messages[message], &kept[message]));
            changed[message].format(messages[message].slots(), &mut room);
            black_box(&mut room);
        }));
        full.push(time(times, |turn| {
            text.clear();
            let encoder = Encoder::default();
            encoder
                .encode(&messages[turn % 4], &mut text)
                .expect("it can be encoded");
        }));
    }
    template.assert_consistent();
    if std::env::var_os("STATS").is_some() {
        println!("{:?}", template.stats());
    }
    let ratio = |a: &[f64], b: &[f64]| median(a.iter().zip(b).map(|(a, b)| a / b).collect());
    let floor_ratio = if shape == Shape::Text || percent == 0 {
        f64::NAN
    } else {
        ratio(&ours, &floor)
    };
    println!(
        "{name:18} {:9.1} us   floor {:8.1}  compare {:6.1}  off {:8.1}   / floor {:5.2}   / compare {:6.2}   / off {:5.2}  \
         store / off {:5.2}  set / off {:5.2}",
        median(ours.clone()) / 1000.0,
        median(floor.clone()) / 1000.0,
        median(compare.clone()) / 1000.0,
        median(full.clone()) / 1000.0,
        floor_ratio,
        ratio(&ours, &compare),
        ratio(&ours, &full),
        ratio(&by_store, &full),
        ratio(&by_hand, &full),
    );
}

/// A store of templates, which stands aside where they are of no use.
struct Stored {
    store: Store,
    /// Of a record that is written, the values of the one before are the buffer for those of the next.
    spare: Record,
    outgoing: Outgoing,
}

impl Stored {
    fn new(messages: &[Record]) -> Self {
        Self {
            store: Store::new(StorePolicy::default()),
            spare: messages[0].clone(),
            outgoing: Outgoing::default(),
        }
    }

    /// Time for each message; to fill the record is not in it.
    fn time(&mut self, messages: &[Record], times: usize) -> f64 {
        let mut taken = Duration::ZERO;
        for turn in 0..times {
            let record = &mut self.spare;
            record.copy_from(&messages[turn % 4]);
            let begun = Instant::now();
            self.outgoing = Outgoing::default();
            let stream = Stream {
                endpoint: 0,
                root: record.root(),
                operation: 0,
            };
            let mut lease = self.store.lend(stream, record);
            let sent = lease.send(record).expect("it can be encoded");
            self.store.settle(lease);
            self.outgoing = sent.outgoing;
            taken += begun.elapsed();
        }
        taken.as_nanos() as f64 / times as f64
    }
}

/// A template in which the values that change are set one by one.
struct Explicit {
    template: Template,
    changes: Vec<Vec<(usize, Item)>>,
}

impl Explicit {
    fn new(messages: &[Record]) -> Self {
        let change = |number: usize| {
            let (old, new) = (&messages[(number + 3) % 4], &messages[number]);
            let is_text = !new.heap().is_empty();
            let slots = 0..new.slots().len();
            let differs = |&slot: &usize| match is_text && slot > 0 {
                true => old.text(old.slots()[slot]) != new.text(new.slots()[slot]),
                false => old.slots()[slot] != new.slots()[slot],
            };
            let item = |slot: usize| {
                let bits = new.slots()[slot];
                let item = match i32::try_from(bits as i64) {
                    _ if is_text => Item::Text(new.text(bits).to_owned()),
                    Ok(int) => Item::Int(int.into()),
                    Err(_) => Item::Double(f64::from_bits(bits)),
                };
                (slot, item)
            };
            slots.filter(differs).map(item).collect()
        };
        let options = EncodeOptions::default();
        Self {
            template: Template::first(Policy::default(), options, messages[3].clone())
                .expect("it can be encoded"),
            changes: (0..4).map(change).collect(),
        }
    }

    fn time(&mut self, times: usize) -> f64 {
        let Self { template, changes } = self;
        let taken = time(times, |turn| {
            for (slot, item) in &changes[turn % 4] {
                let set = match item {
                    Item::Double(value) => template.set(*slot, *value),
                    Item::Int(value) => template.set(*slot, *value),
                    Item::Text(text) => template.set_text(*slot, text),
                    Item::Mio(..) => continue,
                };
                set.expect("a value of the message");
            }
            template.commit().expect("it can be encoded");
            black_box(template.outgoing());
        });
        template.assert_consistent();
        taken
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().unwrap_or_default();
    let mut number = |or: usize| {
        arguments
            .next()
            .map_or(or, |text| text.parse().expect("a number"))
    };
    let (count, rounds) = (number(100_000), number(31));
    let shapes = [
        (Shape::Hard, "dhard"),
        (Shape::Unit, "dunit"),
        (Shape::Int, "int"),
        (Shape::Mio, "mio"),
        (Shape::Text, "string"),
    ];
    for (shape, shape_name) in shapes {
        for (kind, shares) in [
            ("content", &[0][..]),
            ("same", &[1, 5, 25, 50, 75, 100]),
            ("block", &[25]),
            ("any", &[1, 5, 25, 50, 100]),
        ] {
            for &percent in shares {
                let name = format!("{shape_name}/{percent}/{kind}");
                if !name.contains(&case) {
                    continue;
                }
                if kind == "content" {
                    unchanged(shape, count, &name, rounds);
                } else {
                    run(shape, count, percent, kind, &name, rounds);
                }
            }
        }
    }
}

/// The same message again and again.
fn unchanged(shape: Shape, count: usize, name: &str, rounds: usize) {
    let message = messages(shape, count, 0, "same").swap_remove(0);
    let kept = message.clone();
    let mut twin = message.clone();
    let mut template =
        Template::first(Policy::default(), EncodeOptions::default(), message.clone())
            .expect("it can be encoded");
    let mut outgoing = Outgoing::default();
    let times = 40_000_000 / count / 8;
    let (mut ours, mut alone, mut compare) = (vec![], vec![], vec![]);
    for _ in 0..rounds {
        ours.push(time(times, |_| {
            outgoing = Outgoing::default();
            template.update(&mut twin).expect("it can be encoded");
            outgoing = template.outgoing();
        }));
        compare.push(time(times, |_| {
            black_box(is_same(&message, &kept));
        }));
        alone.push(time(times, |_| {
            template.update(&mut twin).expect("it can be encoded");
        }));
    }
    let ratio = |a: &[f64], b: &[f64]| median(a.iter().zip(b).map(|(a, b)| a / b).collect());
    println!(
        "{name:18} {:9.2} us   compare {:6.2}   / compare {:6.2} (without outgoing {:.2})",
        median(ours.clone()) / 1000.0,
        median(compare.clone()) / 1000.0,
        ratio(&ours, &compare),
        ratio(&alone, &compare),
    );
}
