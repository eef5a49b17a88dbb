//! Arrays of numbers, of strings and of rows, of which runs change, come and go.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::plan::ElementId;
use bsoap_datatypes::Datatype;

use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, Schema};

/// Rows of three fields, one of which may be missing; and an array of each kind.
pub(crate) struct Rows {
    rows: Vec<[Option<String>; 4]>,
    arrays: [Vec<String>; 4],
    /// Rows with nothing but their values.
    pairs: Vec<[String; 2]>,
    gap: &'static str,
    /// What is behind the value in a field of all rows.
    tail: (usize, &'static str),
}

const ARRAYS: [(&str, Datatype); 4] = [
    ("d", Datatype::Double),
    ("i", Datatype::Int),
    ("s", Datatype::String),
    ("f", Datatype::Float),
];
const PAIR: [(&str, Datatype); 2] = [("k", Datatype::Int), ("w", Datatype::Double)];
const FIELDS: [(&str, Datatype, u32); 4] = [
    ("x", Datatype::Int, 1),
    ("y", Datatype::Int, 0),
    ("name", Datatype::String, 0),
    ("value", Datatype::Double, 1),
];

fn value(random: &mut Random, datatype: Datatype) -> String {
    match (random.below(200), datatype) {
        // Not plain, or wrong.
        (0, _) => " 7 ".to_owned(),
        (1, _) => "7<!-- seven -->".to_owned(),
        (2, _) => "&#55;".to_owned(),
        (3, _) if random.chance(1) => {
            ["", "x", "1e", "99999999999999999999"][random.below(4)].into()
        }
        (_, Datatype::Double) => match random.below(3) {
            0 => format!("{:e}", f64::from(random.below(1 << 30) as u32) / 7.0),
            1 => format!("{}", random.below(1000)),
            _ => format!("0.{:017}", random.below(1 << 40)),
        },
        (_, Datatype::Float) => format!("{}", random.below(100_000) as f32 / 16.0),
        (_, Datatype::Int) => match random.chance(50) {
            true => format!("{}", random.below(10)),
            false => format!("-{}", random.below(1 << 31)),
        },
        _ => [
            "",
            "a",
            "some words",
            "&amp;",
            "a longer string, of which there may be several that are the same",
        ][random.below(5)]
        .to_owned(),
    }
}

fn row(random: &mut Random, is_whole: bool) -> [Option<String>; 4] {
    FIELDS.map(|(_, datatype, least)| {
        let is_there = least == 1 || (datatype == Datatype::Int && (is_whole || random.chance(95)));
        is_there.then(|| value(random, datatype))
    })
}

fn pair(random: &mut Random) -> [String; 2] {
    PAIR.map(|(_, datatype)| value(random, datatype))
}

impl Rows {
    pub(crate) fn plan(most: u32) -> (Arc<Plan>, ElementId) {
        let mut schema = Schema::new();
        let fields = FIELDS.map(|(name, datatype, least)| schema.field(name, datatype, (least, 1)));
        let row = schema.structure(fields.to_vec());
        let row = schema.element("row", row);
        let mut children = vec![schema.of((0, most), row)];
        for (name, datatype) in ARRAYS {
            children.push(schema.field(name, datatype, MANY));
        }
        let fields = PAIR.map(|(name, datatype)| schema.field(name, datatype, ONCE));
        let pair = schema.structure(fields.to_vec());
        let pair = schema.element("pair", pair);
        children.push(schema.of(MANY, pair));
        schema.rooted("rows", children)
    }

    pub(crate) fn new(random: &mut Random, most: usize) -> Self {
        let count = [3, 40, 120][random.below(3)].min(most);
        let is_whole = random.chance(50);
        Self {
            rows: (0..count).map(|_| row(random, is_whole)).collect(),
            arrays: ARRAYS.map(|(_, datatype)| {
                let count = [0, 5, 60, 300][random.below(4)];
                (0..count).map(|_| value(random, datatype)).collect()
            }),
            pairs: (0..[0, 8, 150][random.below(3)])
                .map(|_| pair(random))
                .collect(),
            gap: ["", "\n", "\n      ", "<!-- -->"][random.below(4)],
            tail: match random.below(4) {
                0 => (
                    random.below(4),
                    ["<![CDATA[7]]>", "<!-- -->7", "<!---->"][random.below(3)],
                ),
                _ => (0, ""),
            },
        }
    }

    pub(crate) fn text(&self) -> String {
        let (mut text, gap) = (String::from("<rows>"), self.gap);
        for row in &self.rows {
            text.push_str(&format!("{gap}<row>"));
            for (field, ((name, _, _), value)) in FIELDS.iter().zip(row).enumerate() {
                let tail = if field == self.tail.0 {
                    self.tail.1
                } else {
                    ""
                };
                if let Some(value) = value {
                    text.push_str(&format!("{gap}<{name}>{value}{tail}</{name}>"));
                }
            }
            text.push_str(&format!("{gap}</row>"));
        }
        for ((name, _), array) in ARRAYS.iter().zip(&self.arrays) {
            for value in array {
                text.push_str(&format!("{gap}<{name}>{value}</{name}>"));
            }
        }
        for pair in &self.pairs {
            text.push_str(&format!("{gap}<pair>"));
            for (field, ((name, _), value)) in PAIR.iter().zip(pair).enumerate() {
                let tail = if field == self.tail.0 {
                    self.tail.1
                } else {
                    ""
                };
                text.push_str(&format!("{gap}<{name}>{value}{tail}</{name}>"));
            }
            text.push_str(&format!("{gap}</pair>"));
        }
        text + "</rows>"
    }

    /// Some values, in one run or scattered; or some more, or less.
    pub(crate) fn change(&mut self, random: &mut Random) {
        match random.below(8) {
            6 => change(&mut self.pairs, random, pair),
            7 => {
                let share = [2, 20, 50][random.below(3)];
                for value in self.pairs.iter_mut().flatten() {
                    if random.chance(share) {
                        *value = format!("{}", random.below(1000));
                    }
                }
            }
            0 => change(&mut self.rows, random, |random| row(random, true)),
            1 if !self.rows.is_empty() => {
                // A column.
                let field = [0, 3][random.below(2)];
                for row in &mut self.rows {
                    row[field] = Some(value(random, FIELDS[field].1));
                }
            }
            _ => {
                let which = random.below(4);
                let other = |random: &mut Random| value(random, ARRAYS[which].1);
                change(&mut self.arrays[which], random, other);
            }
        }
    }
}

fn change<T>(values: &mut Vec<T>, random: &mut Random, other: impl Fn(&mut Random) -> T) {
    let from = random.below(values.len() + 1);
    let length = [1, 2, 10, 100][random.below(4)].min(values.len() - from);
    match random.below(6) {
        0 => drop(values.drain(from..from + length)),
        1 => {
            let more: Vec<T> = (0..[1, 10][random.below(2)])
                .map(|_| other(random))
                .collect();
            values.splice(from..from, more);
        }
        2 => {
            let share = [2, 20, 50, 80][random.below(4)];
            for value in values.iter_mut() {
                if random.chance(share) {
                    *value = other(random);
                }
            }
        }
        _ => {
            for value in &mut values[from..from + length] {
                *value = other(random);
            }
        }
    }
}
