//! How fast the numbers of a message are read and written, tags included, against the best crates in the same loop: a tool
//! for whoever changes the kernels.
//!
//! `cargo run --release -p bsoap-datatypes --example number_speed [read|write] [rounds] [shape]`

#![allow(clippy::print_stdout)] // its output is what it is for

#[path = "../tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::time::Instant;

use bsoap_datatypes::kernel::{Column, Kernel, Number, Separator};
use random::Random;

const COUNT: usize = 10_000;
const BETWEEN: &str = "</item><item>";

/// As it is written by us.
fn shortest(value: f64) -> String {
    let mut out = Vec::new();
    bsoap_datatypes::double::write(value, &mut out);
    String::from_utf8(out).expect("ASCII")
}

type Shape = (&'static str, fn(&mut Random) -> String);

const DOUBLES: [Shape; 14] = [
    ("dhard", |random| shortest(random.hard())),
    ("dhard %.16e", |random| format!("{:.16e}", random.hard())),
    ("dunit", |random| shortest(random.unit())),
    ("dunit %.17f", |random| format!("{:.17}", random.unit())),
    ("dsmall", |random| {
        shortest((1000 + random.below(99_000)) as f64 / 100.0)
    }),
    ("mixed", |random| match random.below(5) {
        0 => shortest(random.hard()),
        1 => shortest(random.unit()),
        2 => shortest(random.below(100_000) as f64 / 100.0),
        3 => random.below(1_000_000).to_string(),
        _ => shortest(random.unit() * 1e6),
    }),
    ("1", |_| "1".to_owned()),
    ("0-9", |random| random.below(10).to_string()),
    ("0-999", |random| random.below(1000).to_string()),
    ("%.3f", |random| format!("{:.3}", random.unit() * 10.0)),
    ("%.6f", |random| format!("{:.6}", random.unit() * 100.0)),
    ("%.6e", |random| format!("{:.6e}", random.hard())),
    ("below 0.001", |random| shortest(random.unit() / 1000.0)),
    ("integers < 1e12", |random| {
        random.below(1_000_000_000_000).to_string()
    }),
];

const INTEGERS: [Shape; 5] = [
    ("int", |random| (random.next() as i32).to_string()),
    ("all lengths", |random| {
        let bits = random.below(32);
        ((random.next() as i32) >> bits).to_string()
    }),
    ("0-999", |random| random.below(1000).to_string()),
    ("1", |_| "1".to_owned()),
    ("i64", |random| (random.next() as i64).to_string()),
];

/// The text, and where its first value begins.
fn text_of(shape: Shape) -> (Vec<u8>, usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let items: String = (0..COUNT + 40)
        .map(|_| format!("<item>{}</item>", shape.1(&mut random)))
        .collect();
    let text = format!("<values xmlns='urn:a'>{items}</values>").into_bytes();
    let at = text.windows(6).position(|window| window == b"<item>");
    (text, at.expect("an item") + 6)
}

#[inline(always)]
fn read_with(
    text: &[u8],
    mut at: usize,
    slots: &mut Vec<u64>,
    parse: impl Fn(&[u8]) -> Option<(u64, usize)>,
) -> usize {
    slots.resize(slots.capacity(), 0);
    for slot in slots {
        let Some((value, length)) = parse(&text[at..]) else {
            break;
        };
        *slot = value;
        at += length;
        if !stands_at(text, at, BETWEEN) {
            break;
        }
        at += BETWEEN.len();
    }
    at
}

/// Compared as bytes whose number the compiler knows.
#[inline(always)]
fn stands_at(text: &[u8], at: usize, between: &'static str) -> bool {
    text.get(at..at + between.len()) == Some(between.as_bytes())
}

#[inline(always)]
fn by_hand(text: &[u8]) -> Option<(u64, usize)> {
    let negative = text.first() == Some(&b'-');
    let mut at = usize::from(negative);
    let mut value = 0_i64;
    while let Some(digit) = text
        .get(at)
        .map(|byte| byte.wrapping_sub(b'0'))
        .filter(|&digit| digit < 10)
    {
        value = value.wrapping_mul(10).wrapping_add(digit.into());
        at += 1;
    }
    Some(((if negative { -value } else { value }) as u64, at))
}

/// The least time of some rounds, in ns per value.
struct Race<'a> {
    names: Vec<String>,
    runners: Vec<Box<dyn FnMut() -> usize + 'a>>,
}

impl<'a> Race<'a> {
    fn new() -> Self {
        Self {
            names: Vec::new(),
            runners: Vec::new(),
        }
    }

    fn add(&mut self, name: impl Into<String>, runner: impl FnMut() -> usize + 'a) {
        self.names.push(name.into());
        self.runners.push(Box::new(runner));
    }

    fn run(mut self, shape: &str, rounds: usize) {
        let mut times = vec![Vec::new(); self.runners.len()];
        for _ in 0..rounds {
            for (runner, times) in self.runners.iter_mut().zip(&mut times) {
                let start = Instant::now();
                black_box(runner());
                times.push(start.elapsed().as_secs_f64() * 1e9 / COUNT as f64);
            }
        }
        print!("{shape:<18}");
        let mut floor = f64::INFINITY;
        for (name, times) in self.names.iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            // The machine may be busy otherwise: what it does in the better rounds.
            let time = times[times.len() / 5];
            if name.starts_with('*') {
                print!("  {name} {time:5.2} ns {:4.2}x", floor / time);
            } else {
                floor = floor.min(time);
                print!("  {name} {time:5.2} ns");
            }
        }
        println!();
    }
}

fn kernels() -> Vec<(&'static str, Kernel)> {
    [
        ("*portable", Some(Kernel::PORTABLE)),
        ("*avx2", Kernel::avx2()),
        ("*avx512", Kernel::avx512()),
    ]
    .into_iter()
    .filter_map(|(name, kernel)| Some((name, kernel?)))
    .collect()
}

fn read_doubles(shape: Shape, rounds: usize) {
    let (text, at) = text_of(shape);
    let (text, separator) = (&text, &Separator::new(BETWEEN.as_bytes()));
    let mut race = Race::new();
    let mut expected = Vec::with_capacity(COUNT);
    read_with(text, at, &mut expected, fast_float);
    let mut slots = Vec::with_capacity(COUNT);
    race.add("fast-float2", move || {
        slots.clear();
        read_with(text, at, &mut slots, fast_float)
    });
    for (name, kernel) in kernels() {
        let mut slots = Vec::with_capacity(COUNT);
        kernel.read_array(
            text,
            at,
            Number::Double,
            separator,
            usize::MAX,
            &mut slots,
            |_, _| {},
        );
        assert!(slots == expected, "{name} {}", shape.0);
        race.add(name, move || {
            slots.clear();
            kernel.read_array(
                text,
                at,
                Number::Double,
                separator,
                usize::MAX,
                &mut slots,
                |_, _| {},
            )
        });
    }
    race.run(shape.0, rounds);
}

fn fast_float(text: &[u8]) -> Option<(u64, usize)> {
    let (value, length) = fast_float2::parse_partial::<f64, _>(text).ok()?;
    Some((value.to_bits(), length))
}

fn read_integers(shape: Shape, rounds: usize) {
    let (text, at) = text_of(shape);
    let (text, separator) = (&text, &Separator::new(BETWEEN.as_bytes()));
    let mut race = Race::new();
    let mut expected = Vec::with_capacity(COUNT);
    read_with(text, at, &mut expected, by_hand);
    let mut slots = Vec::with_capacity(COUNT);
    race.add("hand", move || {
        slots.clear();
        read_with(text, at, &mut slots, by_hand)
    });
    let mut slots = Vec::with_capacity(COUNT);
    race.add("lexical", move || {
        slots.clear();
        read_with(text, at, &mut slots, |text| {
            let (value, length) = lexical_core::parse_partial::<i64>(text).ok()?;
            Some((value as u64, length))
        })
    });
    let number = if shape.0 == "i64" {
        Number::Signed {
            min: i64::MIN,
            max: i64::MAX,
        }
    } else {
        Number::Signed {
            min: i32::MIN.into(),
            max: i32::MAX.into(),
        }
    };
    for (name, kernel) in kernels() {
        let mut slots = Vec::with_capacity(COUNT);
        kernel.read_array(
            text,
            at,
            number,
            separator,
            usize::MAX,
            &mut slots,
            |_, _| {},
        );
        assert!(slots == expected, "{name} {}", shape.0);
        race.add(name, move || {
            slots.clear();
            kernel.read_array(
                text,
                at,
                number,
                separator,
                usize::MAX,
                &mut slots,
                |_, _| {},
            )
        });
    }
    race.run(shape.0, rounds);
}

fn write_doubles(shape: Shape, rounds: usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let parse = |_| shape.1(&mut random).parse::<f64>().expect("a double");
    let values: &Vec<f64> = &(0..COUNT).map(parse).collect();
    let slots: &Vec<u64> = &values.iter().map(|value| value.to_bits()).collect();
    let separator = &Separator::new(BETWEEN.as_bytes());
    let mut race = Race::new();
    let mut out = Vec::with_capacity(COUNT * 64);
    race.add("zmij", move || {
        out.clear();
        for &value in values {
            out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
            out.extend_from_slice(BETWEEN.as_bytes());
        }
        out.len()
    });
    write_with_kernels(&mut race, slots, Number::Double, separator);
    race.run(shape.0, rounds);
}

fn write_with_kernels<'a>(
    race: &mut Race<'a>,
    slots: &'a [u64],
    number: Number,
    separator: &'a Separator,
) {
    for (name, kernel) in kernels() {
        let mut out = Vec::with_capacity(COUNT * 64);
        race.add(name, move || {
            out.clear();
            kernel.write_array(slots, number, separator, &mut out, |_, _| {});
            out.len()
        });
    }
}

fn write_integers(shape: Shape, rounds: usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let parse = |_| shape.1(&mut random).parse::<i64>().expect("an integer");
    let values: &Vec<i64> = &(0..COUNT).map(parse).collect();
    let slots: &Vec<u64> = &values.iter().map(|&value| value as u64).collect();
    let separator = &Separator::new(BETWEEN.as_bytes());
    let mut race = Race::new();
    let mut out = Vec::with_capacity(COUNT * 64);
    let is_short = shape.0 != "i64";
    race.add("itoa", move || {
        out.clear();
        for &value in values {
            let mut buffer = itoa::Buffer::new();
            let text = if is_short {
                buffer.format(value as i32)
            } else {
                buffer.format(value)
            };
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(BETWEEN.as_bytes());
        }
        out.len()
    });
    let number = Number::Signed {
        min: i64::MIN,
        max: i64::MAX,
    };
    write_with_kernels(&mut race, slots, number, separator);
    race.run(shape.0, rounds);
}

const MESH: [&str; 3] = ["</x><y>", "</y><value>", "</value></item><item><x>"];

/// Rows of two integers and a double; the first integer may be a time in nanoseconds.
fn read_rows(name: &str, first: u64, rounds: usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let items: String = (0..COUNT + 40)
        .map(|_| {
            let x = first + random.below(1_000_000) as u64;
            let y = random.below(1_000_000);
            let value = shortest(random.hard());
            format!("<item><x>{x}</x><y>{y}</y><value>{value}</value></item>")
        })
        .collect();
    let text = &format!("<values>{items}</values>").into_bytes();
    let at = "<values><item><x>".len();
    let long = Number::Signed {
        min: i64::MIN,
        max: i64::MAX,
    };
    let columns: Vec<Column> = [long, long, Number::Double]
        .into_iter()
        .zip(MESH)
        .map(|(number, between)| Column {
            number,
            marker: None,
            separator: Separator::new(between.as_bytes()),
        })
        .collect();
    let columns = &columns;
    let bare = move |slots: &mut Vec<u64>| {
        let mut at = at;
        slots.resize(3 * COUNT, 0);
        for [x, y, value] in slots.as_chunks_mut().0 {
            for (slot, between) in [(x, MESH[0]), (y, MESH[1])] {
                let Some((integer, length)) = by_hand(&text[at..]) else {
                    return at;
                };
                *slot = integer;
                if !stands_at(text, at + length, between) {
                    return at;
                }
                at += length + between.len();
            }
            let Some((double, length)) = fast_float(&text[at..]) else {
                return at;
            };
            *value = double;
            if !stands_at(text, at + length, MESH[2]) {
                return at;
            }
            at += length + MESH[2].len();
        }
        at
    };
    let mut race = Race::new();
    let mut expected = Vec::with_capacity(3 * COUNT + 8);
    bare(&mut expected);
    let mut slots = Vec::with_capacity(3 * COUNT + 8);
    race.add("hand, fast-float2", move || {
        slots.clear();
        bare(&mut slots)
    });
    for (name, kernel) in kernels() {
        let mut slots = Vec::with_capacity(3 * COUNT + 8);
        kernel.read_rows(text, at, columns, COUNT, &mut slots, |_, _, _| {});
        assert!(slots[..3 * COUNT] == expected, "{name} rows");
        race.add(name, move || {
            slots.clear();
            kernel
                .read_rows(text, at, columns, COUNT, &mut slots, |_, _, _| {})
                .at
        });
    }
    race.run(name, rounds);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let rounds = arguments
        .next()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(101);
    let only = arguments.next();
    let wanted = |shape: &Shape| only.as_deref().is_none_or(|only| only == shape.0);
    if what != "write" {
        println!("text to double, {COUNT} values with tags");
        DOUBLES
            .into_iter()
            .filter(wanted)
            .for_each(|shape| read_doubles(shape, rounds));
        println!("text to integer, {COUNT} values with tags");
        INTEGERS
            .into_iter()
            .filter(wanted)
            .for_each(|shape| read_integers(shape, rounds));
        read_rows("mio (a row)", 0, rounds);
        read_rows("mio, nanoseconds", 1_795_362_000_000_000_000, rounds);
    }
    if what != "read" {
        println!("double to text, {COUNT} values with tags");
        DOUBLES
            .into_iter()
            .filter(wanted)
            .for_each(|shape| write_doubles(shape, rounds));
        println!("integer to text, {COUNT} values with tags");
        INTEGERS
            .into_iter()
            .filter(wanted)
            .for_each(|shape| write_integers(shape, rounds));
    }
}
