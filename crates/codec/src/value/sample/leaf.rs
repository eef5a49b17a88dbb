//! Makes plausible simple values.
//!
//! Candidates are lexical forms: enumerated ones, usual ones of the datatype, those at its bounds, and texts of its patterns.
//! The first that is valid in the form in which it will be written is taken.

use std::collections::HashMap;

use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{
    AtomicValue, Datatype, Facets, SimpleType, Value as SimpleValue, Variety, binary, boolean,
    double, float, integer,
};

use crate::plan::{Leaf, LeafId, LeafKind, Plan};
use crate::value::Value;

/// The longest text in characters. Longer ones are not made, even if a facet requires them.
const LONGEST: u64 = 10_000;
/// The most candidates of one leaf.
const MOST_TRIES: usize = 1000;
/// The most candidates of all leaves of a sample, where a long candidate counts as several.
const MOST_TRIES_OF_ALL: usize = 100_000;
/// The number of bytes of a candidate that count as one more.
const BYTES_OF_TRY: usize = 100;
/// How many lengths are tried for a pattern, from the least on.
const LENGTHS: usize = 16;
/// How many texts of a length are tried for a pattern, from readable to varied.
const MANNERS: u32 = 24;

/// Makes values of leaves, each once.
#[derive(Debug, Default)]
pub(super) struct LeafSampler {
    known: HashMap<LeafId, Value>,
    tries: usize,
    ids: usize,
}

impl LeafSampler {
    /// A value of a leaf that satisfies its facets, if one is found.
    pub(super) fn sample(&mut self, plan: &Plan, id: LeafId) -> Value {
        let leaf = plan.leaf(id);
        if leaf.simple.datatype() == Some(Datatype::Id) && !leaf.simple.has_facets() {
            return self.unique();
        }
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let value = self.found(plan, leaf);
        self.known.insert(id, value.clone());
        value
    }

    /// An `xs:ID`: no two of a document are the same.
    fn unique(&mut self) -> Value {
        self.ids += 1;
        Value::from(format!("id{}", self.ids))
    }

    fn found(&mut self, plan: &Plan, leaf: &Leaf) -> Value {
        if let Some(name) = enumerated_name(leaf) {
            return name;
        }
        let most = MOST_TRIES.min(MOST_TRIES_OF_ALL.saturating_sub(self.tries));
        let mut first = None;
        for text in candidates(&leaf.simple).take(most.max(1)) {
            if self.tries > MOST_TRIES_OF_ALL && first.is_some() {
                break;
            }
            self.tries += 1 + text.len() / BYTES_OF_TRY;
            let Some((value, written)) = typed(plan, leaf, &text) else {
                continue;
            };
            if leaf.simple.check(&written, &NoNamespaces).is_ok() {
                return value;
            }
            first = first.or(Some(value));
        }
        first.unwrap_or_else(|| Value::from(""))
    }
}

/// The first name of an enumeration of names, whose lexical form has a prefix that nothing declares here.
fn enumerated_name(leaf: &Leaf) -> Option<Value> {
    match leaf.simple.facets().enumeration()?.values().first()? {
        SimpleValue::Atomic(name @ (AtomicValue::QName(_) | AtomicValue::Notation(_))) => {
            Some(Value::from(name.to_string()))
        }
        _ => None,
    }
}

/// How many bytes a value takes, as a rough count.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(octets) | Value::Hex(octets) => octets.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        _ => size_of::<u64>(),
    }
}

/// Whether a value of the type depends on others in the document or its DTD, so that none can be made up.
pub(super) fn is_reference(simple: &SimpleType) -> bool {
    let datatype = match simple.variety() {
        Variety::List(item) => item.datatype(),
        _ => simple.datatype(),
    };
    datatype.is_some_and(|datatype| {
        [Datatype::IdRef, Datatype::Entity, Datatype::Notation]
            .iter()
            .any(|&reference| datatype.is_derived_from(reference))
    })
}

/// The value of a lexical form, and the lexical form that is written for it. `None` if it is none of this kind of leaf.
fn typed(plan: &Plan, leaf: &Leaf, text: &str) -> Option<(Value, String)> {
    let mut written = Vec::new();
    let value = match leaf.kind {
        LeafKind::Boolean => {
            let value = boolean::parse(text.as_bytes()).ok()?;
            written.extend_from_slice(boolean::text(value).as_bytes());
            Value::Bool(value)
        }
        LeafKind::Signed { .. } => {
            let value = text.parse().ok()?;
            integer::write_i64(value, &mut written);
            Value::Int(value)
        }
        LeafKind::Unsigned { .. } => {
            let value: u64 = text.parse().ok()?;
            integer::write_u64(value, &mut written);
            Value::from(value)
        }
        LeafKind::Float => {
            let value = float::parse(text.as_bytes()).ok()?;
            float::write(value, &mut written);
            Value::Float(value)
        }
        LeafKind::Double => {
            let value = double::parse(text.as_bytes()).ok()?;
            double::write(value, &mut written);
            Value::Double(value)
        }
        LeafKind::Base64 => {
            let mut octets = Vec::new();
            binary::parse_base64(text.as_bytes(), &mut octets).ok()?;
            binary::write_base64(&octets, &mut written);
            Value::Bytes(octets)
        }
        LeafKind::Hex => {
            let mut octets = Vec::new();
            binary::parse_hex(text.as_bytes(), &mut octets).ok()?;
            binary::write_hex(&octets, &mut written);
            Value::Hex(octets)
        }
        LeafKind::List(item) => return typed_list(plan, plan.leaf(item), text),
        LeafKind::Text | LeafKind::Name => {
            let processed = leaf.simple.white_space().apply(text);
            return Some((Value::from(&*processed), processed.into_owned()));
        }
    };
    Some((value, String::from_utf8(written).ok()?))
}

fn typed_list(plan: &Plan, item: &Leaf, text: &str) -> Option<(Value, String)> {
    let items = text.split_ascii_whitespace();
    let items: Option<Vec<_>> = items.map(|text| typed(plan, item, text)).collect();
    let (values, texts): (Vec<_>, Vec<_>) = items?.into_iter().unzip();
    Some((Value::Array(values), texts.join(" ")))
}

type Candidates<'t> = Box<dyn Iterator<Item = String> + 't>;

/// Lexical forms that might be valid, the most plausible first. (Lists and unions nest no deeper than the datatypes allow.)
fn candidates(simple: &SimpleType) -> Candidates<'_> {
    let facets = simple.facets();
    if let Some(enumeration) = facets.enumeration() {
        return Box::new(enumeration.lexical_forms().map(str::to_owned));
    }
    let of_patterns = of_patterns(simple);
    match simple.variety() {
        Variety::Atomic(datatype) => Box::new(
            of_datatype(*datatype, facets)
                .into_iter()
                .chain(of_patterns),
        ),
        Variety::List(item) => Box::new(lists(item, facets).chain(of_patterns)),
        Variety::Union(members) => {
            // Some of each, since those of the first may all be excluded by a facet of the union.
            let of_members = members
                .iter()
                .flat_map(|member| candidates(member).take(MOST_TRIES / members.len().max(4)));
            Box::new(of_members.chain(of_patterns))
        }
    }
}

/// Lists of as many items as the facets ask for: the same item again and again.
fn lists<'t>(item: &'t SimpleType, facets: &Facets) -> impl Iterator<Item = String> + use<'t> {
    let (least, most) = lengths(facets);
    let count = most.min(least.max(1));
    let is_valid = |text: &String| item.check(text, &NoNamespaces).is_ok();
    candidates(item)
        .take(MOST_TRIES)
        .filter(is_valid)
        .take(4)
        .map(move |text| {
            let count = count.min(LONGEST as usize / (1 + text.len())).max(1);
            vec![text; count].join(" ")
        })
}

/// The usual values of a datatype, those at its bounds, and both at the lengths that the facets ask for.
fn of_datatype(datatype: Datatype, facets: &Facets) -> Vec<String> {
    let usual = usual(datatype).iter().map(|&text| text.to_owned());
    let mut texts: Vec<String> = usual.chain(at_bounds(facets)).collect();
    let (least, most) = lengths(facets);
    if least == 0 && most == LONGEST as usize {
        return texts;
    }
    match datatype {
        Datatype::HexBinary | Datatype::Base64Binary => texts = vec![octets(datatype, least, most)],
        _ => {
            let fitted = |text: &String| -> String {
                let length = text.chars().count().clamp(least, most);
                text.chars().cycle().take(length).collect()
            };
            let fitting: Vec<String> = texts.iter().map(fitted).collect();
            texts.extend(fitting);
            if facets.patterns().next().is_none() {
                texts.extend(["a", "A", "1"].map(|one| one.repeat(least.max(1).min(most))));
            }
        }
    }
    texts
}

fn usual(datatype: Datatype) -> &'static [&'static str] {
    match datatype.primitive() {
        _ if datatype.is_derived_from(Datatype::Integer) => &["1", "0", "-1", "10", "100"],
        Datatype::Boolean => &["true", "false"],
        Datatype::Decimal | Datatype::Float | Datatype::Double => &["1.5", "1", "0.5", "0", "-1"],
        Datatype::Duration => &["P1D", "PT1S", "P1Y", "PT0S", "P1Y1M1DT1H1M1S", "-P1D"],
        Datatype::DateTime => &[
            "2026-01-31T12:00:00Z",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00.000Z",
            "2026-01-31T12:00:00+01:00",
            "2026-01-31T00:00:00",
            "1999-12-31T23:59:59",
        ],
        Datatype::Time => &["12:00:00", "12:00:00Z", "12:00:00.000", "12:00:00+01:00"],
        Datatype::Date => &[
            "2026-01-31",
            "2026-01-31Z",
            "2026-01-31+01:00",
            "1999-12-31",
        ],
        Datatype::GYearMonth => &["2026-01", "2026-01Z"],
        Datatype::GYear => &["2026", "2026Z"],
        Datatype::GMonthDay => &["--01-31", "--01-31Z"],
        Datatype::GDay => &["---31", "---31Z"],
        Datatype::GMonth => &["--01", "--01Z"],
        Datatype::HexBinary => &["6f6374657473"],
        Datatype::Base64Binary => &["b2N0ZXRz"],
        Datatype::AnyUri => &["http://example.org/", "urn:example:name", "text"],
        Datatype::QName | Datatype::Notation => &["name"],
        _ if datatype == Datatype::Language => &["en", "en-US"],
        _ => &["text", "Text", "TEXT"],
    }
}

/// The bounds, values next to them and between them.
fn at_bounds(facets: &Facets) -> Vec<String> {
    let mut texts = Vec::new();
    let mut ends = Vec::new();
    for bound in [facets.min(), facets.max()].into_iter().flatten() {
        let lexical = bound.lexical();
        texts.push(lexical.to_owned());
        if let Ok(number) = lexical.parse::<i128>() {
            let next_to = [number.checked_add(1), number.checked_sub(1)];
            texts.extend(next_to.iter().flatten().map(i128::to_string));
        }
        if let Ok(number) = lexical.parse::<f64>()
            && number.is_finite()
        {
            ends.push(number);
            let close_to = [
                number + 1.0,
                number - 1.0,
                number + 0.5,
                number - 0.5,
                number + 0.01,
                number - 0.01,
            ];
            texts.extend(close_to.map(|number| number.to_string()));
        }
    }
    if let [min, max] = ends[..] {
        texts.push((min / 2.0 + max / 2.0).to_string());
    }
    texts
}

/// Texts of the patterns, of lengths that the facets allow. All steps of the derivation must be satisfied, so those of each
/// are tried.
fn of_patterns(simple: &SimpleType) -> impl Iterator<Item = String> + '_ {
    let facets = simple.facets();
    let (least, most) = match simple.variety() {
        Variety::Atomic(Datatype::HexBinary | Datatype::Base64Binary) | Variety::List(_) => {
            (0, LONGEST as usize)
        }
        _ => lengths(facets),
    };
    // The pattern of the derived type first: it is the narrowest.
    let steps: Vec<_> = facets.patterns().collect();
    let patterns = steps.into_iter().rev().flatten();
    patterns.flat_map(move |pattern| {
        let examples = pattern.examples();
        let shortest = *examples.lengths().start();
        let longest = most.min(*examples.lengths().end());
        let lengths = (shortest.max(least)..=longest).take(LENGTHS);
        let ends = (longest < LONGEST as usize).then_some(longest);
        lengths.chain(ends).flat_map(move |length| {
            let texts = (0..MANNERS).filter_map(|manner| examples.text(length, manner));
            texts.collect::<Vec<_>>()
        })
    })
}

/// The least and the greatest length.
fn lengths(facets: &Facets) -> (usize, usize) {
    let least = facets.length().or(facets.min_length()).unwrap_or(0);
    let most = facets.length().or(facets.max_length()).unwrap_or(LONGEST);
    let least = least.min(LONGEST);
    (least as usize, most.clamp(least, LONGEST) as usize)
}

/// Octets of an allowed number, as text.
fn octets(datatype: Datatype, least: usize, most: usize) -> String {
    let wished = b"octets";
    let octets: Vec<u8> = wished
        .iter()
        .copied()
        .cycle()
        .take(wished.len().clamp(least, most))
        .collect();
    let mut text = Vec::new();
    match datatype {
        Datatype::HexBinary => binary::write_hex(&octets, &mut text),
        _ => binary::write_base64(&octets, &mut text),
    }
    String::from_utf8_lossy(&text).into_owned()
}
