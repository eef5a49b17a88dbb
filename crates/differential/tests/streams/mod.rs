//! Streams of messages of which each is like the one before, in one of many ways.

mod deviations;
mod rows;
pub(crate) mod session;
mod strings;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Deviation, Tolerance, Validation};
use bsoap_codec::plan::{ElementId, UNBOUNDED};
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::Changes;

use bsoap_testkit::message::Style;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

pub(crate) fn options(seed: u64) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    if seed.is_multiple_of(7) {
        options.accepted = Tolerance::Strict.into();
    }
    if seed.is_multiple_of(3) {
        options.validation = Validation::Full;
    }
    if seed.is_multiple_of(5) {
        options.accepted = (options.accepted)
            .with(Deviation::UnknownElement)
            .with(Deviation::UnknownAttribute);
    }
    if seed.is_multiple_of(11) {
        options.record_floor = 300;
        options.record_per_byte = 1 + (seed / 11 % 6) as usize;
    }
    options
}

pub(crate) fn style(random: &mut Random) -> Style {
    Style {
        gap: ["", "", "\n", "\n      ", "\r\n  "][random.below(5)],
        noise: [0, 0, 0, 1, 10][random.below(5)],
        size: [10, 50, 300, 1500][random.below(4)],
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// An element without children of its own name, by the bytes of its tags; or nothing.
fn element(text: &str, random: &mut Random) -> Option<(usize, usize)> {
    let starts: Vec<usize> = text
        .match_indices('<')
        .map(|(at, _)| at)
        .filter(|&at| {
            text[at + 1..]
                .chars()
                .next()
                .is_some_and(char::is_alphabetic)
        })
        .collect();
    if starts.is_empty() {
        return None;
    }
    let from = *random.pick(&starts);
    let name_end = text[from + 1..].find([' ', '>', '/', '\n'])? + from + 1;
    let close = format!("</{}>", &text[from + 1..name_end]);
    let to = text[from..].find(&close)? + from + close.len();
    Some((from, to))
}

/// Characters between tags, or in the values of attributes that declare nothing.
fn in_values(text: &str, wanted: impl Fn(char) -> bool) -> Vec<usize> {
    let (mut in_tag, mut quote, mut name) = (false, None, 0);
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match (in_tag, quote, c) {
            (false, _, '<') => in_tag = true,
            (true, None, '>') => in_tag = false,
            (true, None, '"' | '\'') => quote = Some(c),
            (true, None, ' ') => name = at + 1,
            (true, Some(open), _) if open == c => quote = None,
            (true, Some(_), _) if text[name..].starts_with("xmlns") => {}
            (true, None, _) => {}
            _ if wanted(c) => found.push(at),
            _ => {}
        }
    }
    found
}

/// A message that is like the one before, in one of many ways.
pub(crate) fn next(before: &str, other: &str, random: &mut Random) -> Vec<u8> {
    let mut text = before.to_owned();
    let changes = [1, 1, 1, 2, 5][random.below(5)];
    for _ in 0..changes {
        if text.is_empty() {
            break;
        }
        let at = boundary(&text, random.below(text.len()));
        let kinds = if random.chance(70) { 12 } else { 20 };
        match random.below(kinds) {
            // Values: other digits, more of them, fewer.
            0..=7 => {
                let digits = in_values(&text, |c| c.is_ascii_digit());
                if digits.is_empty() {
                    continue;
                }
                let at = *random.pick(&digits);
                match random.below(4) {
                    0 | 1 => text.replace_range(at..=at, ["1", "2", "7"][random.below(3)]),
                    2 => text.insert_str(at, ["1", "12", "345"][random.below(3)]),
                    _ => text.replace_range(at..=at, ""),
                }
            }
            8..=9 => {
                let letters = in_values(&text, |c| c.is_ascii_lowercase());
                if !letters.is_empty() {
                    let at = *random.pick(&letters);
                    text.insert_str(at, ["x", "yy", "é", "&amp;", " "][random.below(5)]);
                }
            }
            10..=11 => {
                if let Some((from, to)) = element(&text, random) {
                    let copy = text[from..to].repeat(1 + random.below(3));
                    text.insert_str(from, &copy);
                }
            }
            12..=13 => {
                if let Some((from, to)) = element(&text, random) {
                    text.replace_range(from..to, "");
                }
            }
            14 => {
                if let Some(at) = text[at..].find('<').map(|found| at + found) {
                    text.insert_str(at, ["\n", " ", "<!-- c -->"][random.below(3)]);
                }
            }
            15 => text = text.replace("a:", "x:"),
            16 => text = text.replacen("x:", "a:", 1 + random.below(6)),
            17 => {
                let mut bytes = text.into_bytes();
                let at = random.below(bytes.len());
                bytes[at] = *random.pick(b"<>&/\"' ]x0\xff\x00");
                match String::from_utf8(bytes) {
                    Ok(changed) => text = changed,
                    Err(bytes) => return bytes.into_bytes(),
                }
            }
            18 => {
                let to = boundary(other, random.below(other.len() + 1));
                text = format!("{}{}", &text[..at], &other[to..]);
            }
            _ => match random.below(3) {
                0 => text.truncate(at),
                1 => text.push_str(["\n", "<!-- end -->", "x"][random.below(3)]),
                _ => {
                    text = ["\u{feff}", "<?xml version='1.0'?>", " "][random.below(3)].to_owned()
                        + &text;
                }
            },
        }
    }
    text.into_bytes()
}

pub(crate) fn shown_record(record: &Record) -> Vec<String> {
    let shown = |&slot: &u64| match record.octets(slot) {
        [] => format!("{slot:x}"),
        octets => format!("{slot:x} {:?}", String::from_utf8_lossy(octets)),
    };
    record.slots().iter().map(shown).collect()
}

/// Slots outside of the spans are what they were.
pub(crate) fn check_changes(
    changes: &Changes,
    before: &Record,
    now: &Record,
) -> Result<(), String> {
    if changes.is_all() {
        return Ok(());
    }
    let (mut b, mut n) = (0, 0);
    let kept = |b: &mut usize, n: &mut usize, before_end: usize, now_end: usize| {
        if before_end.wrapping_sub(*b) != now_end.wrapping_sub(*n) || before_end < *b {
            return Err(format!(
                "{before_end} - {b} is not {now_end} - {n}: {changes:?}"
            ));
        }
        while *b < before_end {
            let (old, new) = (before.slots()[*b], now.slots()[*n]);
            if old != new && before.octets(old) != now.octets(new) {
                return Err(format!("slot {b} is {n} and not the same: {changes:?}"));
            }
            (*b, *n) = (*b + 1, *n + 1);
        }
        Ok(())
    };
    for span in changes.spans() {
        kept(&mut b, &mut n, span.before.start, span.now.start)?;
        (b, n) = (span.before.end, span.now.end);
    }
    kept(&mut b, &mut n, before.slots().len(), now.slots().len())
}

/// A message whose changes are always valid: optional elements, arrays in arrays, attributes, strings.
#[derive(Clone)]
pub(crate) struct Order {
    number: usize,
    note: Option<String>,
    lines: Vec<Line>,
    values: Vec<String>,
}

#[derive(Clone)]
struct Line {
    sku: String,
    quantity: usize,
    weight: Option<String>,
    tags: Vec<String>,
    swapped: bool,
}

pub(crate) fn order_plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let attributes = vec![
        schema.attribute("sku", Datatype::Token),
        schema.attribute("quantity", Datatype::Int),
    ];
    let fields = vec![
        schema.field("weight", Datatype::Double, OPTIONAL),
        schema.field("tag", Datatype::String, MANY),
    ];
    let ty = schema.structure(fields);
    schema.amend(ty).attributes = attributes;
    let line = schema.element("line", ty);
    let lines = schema.of(MANY, line);
    let children = vec![
        schema.field("number", Datatype::Int, ONCE),
        schema.field("note", Datatype::String, OPTIONAL),
        lines,
        schema.field("v", Datatype::Double, (1, UNBOUNDED)),
    ];
    schema.rooted("order", children)
}

fn number(random: &mut Random) -> String {
    match random.below(5) {
        0 => format!("{}", random.below(10)),
        1 => format!(" {} ", random.below(1000)),
        2 => "INF".to_owned(),
        _ => format!("{:?}", f64::from_bits(random.next() >> 2)),
    }
}

fn word(random: &mut Random) -> String {
    let words = [
        "",
        "a",
        "new",
        "old thing",
        "äöü",
        "a &amp; b",
        "<![CDATA[x]]>",
        "a<!-- c -->b",
    ];
    (*random.pick(&words)).to_owned()
}

impl Line {
    fn new(random: &mut Random) -> Self {
        Self {
            sku: format!("S{}", random.below(100_000)),
            quantity: random.below(100),
            weight: random.chance(50).then(|| number(random)),
            tags: (0..random.below(3)).map(|_| word(random)).collect(),
            swapped: random.chance(10),
        }
    }
}

impl Order {
    pub(crate) fn new(random: &mut Random) -> Self {
        let (lines, values) = (random.below(60), 1 + random.below(120));
        Self {
            number: random.below(1000),
            note: None,
            lines: (0..lines).map(|_| Line::new(random)).collect(),
            values: (0..values).map(|_| number(random)).collect(),
        }
    }

    pub(crate) fn text(&self, gap: &str) -> String {
        let mut text = format!("<order>{gap}<number>{}</number>", self.number);
        if let Some(note) = &self.note {
            text.push_str(&format!("{gap}<note>{note}</note>"));
        }
        for line in &self.lines {
            let (sku, quantity) = (&line.sku, line.quantity);
            text.push_str(&match line.swapped {
                false => format!("{gap}<line sku=\"{sku}\" quantity='{quantity}'>"),
                true => format!("{gap}<line  quantity='{quantity}' sku=\"{sku}\">"),
            });
            if let Some(weight) = &line.weight {
                text.push_str(&format!("{gap}<weight>{weight}</weight>"));
            }
            for tag in &line.tags {
                text.push_str(&format!("{gap}<tag>{tag}</tag>"));
            }
            text.push_str("</line>");
        }
        for value in &self.values {
            text.push_str(&format!("{gap}<v>{value}</v>"));
        }
        text.push_str("</order>");
        text
    }

    pub(crate) fn change(&mut self, random: &mut Random) {
        let (lines, values) = (self.lines.len(), self.values.len());
        let line = random.below(lines);
        match random.below(14) {
            0 => self.number = random.below(100_000),
            1 => self.note = random.chance(70).then(|| word(random)),
            2..=4 => {
                let from = random.below(values);
                let count = [1, 1, 3, 40][random.below(4)];
                for value in self.values.iter_mut().skip(from).take(count) {
                    *value = number(random);
                }
            }
            5 => {
                let at = random.below(values);
                let new = (0..1 + random.below(5)).map(|_| number(random));
                self.values.splice(at..at, new);
            }
            6 if values > 10 => {
                let at = random.below(values - 9);
                self.values.drain(at..at + 1 + random.below(8));
            }
            7 => self.lines.insert(line, Line::new(random)),
            _ if lines == 0 => {}
            8 => {
                self.lines.remove(line);
            }
            9 => self.lines[line].weight = random.chance(50).then(|| number(random)),
            10 => self.lines[line].tags.push(word(random)),
            11 => self.lines[line].quantity = random.below(100_000),
            12 => self.lines[line].sku = format!("X{}", random.below(100)),
            _ => self.lines[line] = Line::new(random),
        }
    }
}
