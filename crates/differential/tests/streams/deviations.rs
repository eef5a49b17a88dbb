//! Messages some of which do not follow their schema exactly.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::plan::ElementId;
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

/// A line: its texts, and an element that the schema does not have.
#[derive(Clone)]
struct Line {
    kind: &'static str,
    number: &'static str,
    weight: String,
    extra: Option<u64>,
}

/// Lines of which few, or none, deviate.
pub(crate) struct Deviating {
    lines: Vec<Line>,
    /// One value in this number deviates.
    rarity: usize,
}

impl Line {
    fn new(random: &mut Random, rarity: usize) -> Self {
        let deviates = |random: &mut Random| random.below(rarity) == 0;
        Self {
            kind: match deviates(random) {
                true => "green",
                false => *random.pick(&["red", "blue", "dark red"]),
            },
            number: match deviates(random) {
                true => " ",
                false => *random.pick(&["1", "22", "-333"]),
            },
            weight: match deviates(random) {
                true => (*random.pick(&["nan", "-inf", "Infinity"])).to_owned(),
                false => (*random.pick(&["NaN", "INF", "1.5", "0.0625"])).to_owned(),
            },
            extra: deviates(random).then(|| random.below(1000) as u64),
        }
    }
}

impl Deviating {
    pub(crate) fn plan() -> (Arc<Plan>, ElementId) {
        let mut schema = Schema::new();
        let facets = ["red", "blue", "dark red"].map(|it| Facet::new(FacetName::Enumeration, it));
        let string = SimpleType::builtin(Datatype::String);
        let kind = SimpleType::restrict(&string, &facets, &NoNamespaces).expect("an enumeration");
        let kind = schema.simple(&kind);
        let fields = vec![
            schema.child("kind", kind, ONCE),
            schema.field("number", Datatype::Int, OPTIONAL),
            schema.field("weight", Datatype::Double, ONCE),
        ];
        let ty = schema.structure(fields);
        let line = schema.child("line", ty, MANY);
        let end = schema.field("weight", Datatype::Double, MANY);
        schema.rooted("lines", vec![line, end])
    }

    pub(crate) fn new(random: &mut Random) -> Self {
        let rarity = [10, 40, 200, 1_000_000][random.below(4)];
        let lines = (0..random.below(40)).map(|_| Line::new(random, rarity));
        Self {
            lines: lines.collect(),
            rarity,
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = "<lines>".to_owned();
        for line in &self.lines {
            let extra = line
                .extra
                .map(|it| format!("<extra n='{it}'><a>{it}</a></extra>"));
            text.push_str(&format!(
                "<line><kind>{}</kind><number>{}</number>{}<weight>{}</weight></line>",
                line.kind,
                line.number,
                extra.unwrap_or_default(),
                line.weight
            ));
        }
        for line in &self.lines {
            text.push_str(&format!("<weight>{}</weight>", line.weight));
        }
        text.push_str("</lines>");
        text
    }

    pub(crate) fn change(&mut self, random: &mut Random) {
        let count = self.lines.len();
        let at = random.below(count.max(1));
        let new = Line::new(random, self.rarity);
        match random.below(12) {
            0 => self.lines.insert(at.min(count), new),
            _ if count == 0 => {}
            1 => drop(self.lines.remove(at)),
            2..=4 => self.lines[at].kind = new.kind,
            5..=7 => self.lines[at].weight = new.weight,
            8..=9 => self.lines[at].number = new.number,
            10 => self.lines[at].extra = new.extra,
            _ => self.lines[at] = new,
        }
    }
}
