//! What comparing costs and saves: `receive_speed [ROUNDS] [NAME]`.
//!
//! Each line is the time of a message that differs from the one before as told, against a full decode of it and one compare
//! of its bytes with others. The bound of a share P of changed values is `P · full + compare`.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::Plan;
use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_codec::plan::{
    AttributeDef, Content, ElementDef, ElementId, ParticleDef, ParticleId, PlanBuilder, Role,
    TermDef, TypeDef, TypeId, UNBOUNDED,
};
use bsoap_datatypes::{Datatype, SimpleType};
use bsoap_differential::receive::Exact;
use bytes::Bytes;

struct Schema(PlanBuilder);

impl Schema {
    fn ty(&mut self, content: Content, attributes: Vec<AttributeDef>) -> TypeId {
        let id = self.0.reserve_type();
        self.0.define_type(
            id,
            TypeDef {
                name: None,
                attributes,
                any_attribute: None,
                content,
                alternatives: Vec::new(),
                base: None,
                is_abstract: false,
            },
        );
        id
    }

    fn element(&mut self, name: &str, ty: TypeId) -> ElementId {
        let name = self.0.name("", name);
        self.0.element(ElementDef {
            name,
            ty,
            nillable: false,
            is_abstract: false,
            default: None,
            fixed: None,
            role: Role::Application,
        })
    }

    fn of(&mut self, element: ElementId, min: u32, max: u32) -> ParticleId {
        self.0.particle(ParticleDef {
            min,
            max,
            term: TermDef::Element(element),
        })
    }

    fn field(&mut self, name: &str, datatype: Datatype, min: u32, max: u32) -> ParticleId {
        let leaf = self.0.leaf(&SimpleType::builtin(datatype));
        let ty = self.ty(Content::Simple(leaf), Vec::new());
        let element = self.element(name, ty);
        self.of(element, min, max)
    }

    fn structure(&mut self, fields: Vec<ParticleId>) -> TypeId {
        let sequence = self.0.particle(ParticleDef {
            min: 1,
            max: 1,
            term: TermDef::Sequence(fields),
        });
        self.ty(Content::Particle(sequence), Vec::new())
    }

    fn nested(&mut self, name: &str, fields: Vec<ParticleId>, min: u32, max: u32) -> ParticleId {
        let ty = self.structure(fields);
        let element = self.element(name, ty);
        self.of(element, min, max)
    }

    fn rooted(mut self, name: &str, fields: Vec<ParticleId>) -> (Arc<Plan>, ElementId) {
        let ty = self.structure(fields);
        let root = self.element(name, ty);
        (Arc::new(self.0.finish().expect("a plan")), root)
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 20) as usize % bound.max(1)
    }

    fn double(&mut self) -> f64 {
        loop {
            let value = f64::from_bits(self.next());
            if value.is_finite() {
                return value;
            }
        }
    }
}

/// The leaves of a message, and its text with them.
type Leaves = Vec<String>;

struct Workload {
    name: String,
    plan: Arc<Plan>,
    root: ElementId,
    leaves: Leaves,
    text: fn(&[String]) -> String,
    value: fn(&mut Random, bool) -> String,
}

/// A hard double; of a fixed length, or of any.
fn hard(random: &mut Random, fixed: bool) -> String {
    match fixed {
        true => loop {
            let text = format!("{:.16e}", random.double().abs());
            if text.len() == 22 {
                return text;
            }
        },
        false => format!("{:e}", random.double()),
    }
}

fn array_text(leaves: &[String]) -> String {
    let mut text = String::from("<values>");
    for leaf in leaves {
        text.push_str("<item>");
        text.push_str(leaf);
        text.push_str("</item>");
    }
    text + "</values>"
}

fn doubles(count: usize) -> Workload {
    let mut schema = Schema(PlanBuilder::new());
    let item = schema.field("item", Datatype::Double, 0, UNBOUNDED);
    let (plan, root) = schema.rooted("values", vec![item]);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    Workload {
        name: format!("doubles-{count}"),
        plan,
        root,
        leaves: (0..count).map(|_| hard(&mut random, true)).collect(),
        text: array_text,
        value: hard,
    }
}

fn mio_text(leaves: &[String]) -> String {
    let mut text = String::from("<values>");
    for row in leaves.chunks(3) {
        let [x, y, value] = row else { break };
        text.push_str(&format!(
            "<item><x>{x}</x><y>{y}</y><value>{value}</value></item>"
        ));
    }
    text + "</values>"
}

fn number(random: &mut Random, _: bool) -> String {
    format!("{}", random.next() as i32)
}

fn structs(rows: usize) -> Workload {
    let mut schema = Schema(PlanBuilder::new());
    let fields = vec![
        schema.field("x", Datatype::Int, 1, 1),
        schema.field("y", Datatype::Int, 1, 1),
        schema.field("value", Datatype::Double, 1, 1),
    ];
    let items = schema.nested("item", fields, 0, UNBOUNDED);
    let (plan, root) = schema.rooted("values", vec![items]);
    let mut random = Random(77);
    Workload {
        name: format!("structs-{rows}"),
        plan,
        root,
        leaves: (0..rows * 3).map(|_| number(&mut random, false)).collect(),
        text: mio_text,
        value: number,
    }
}

const PARTS: [&str; 6] = ["sku", "description", "quantity", "weight", "gift", "shipBy"];

fn order_text(leaves: &[String]) -> String {
    let mut text = String::from("<order>");
    for (index, line) in leaves.chunks(PARTS.len()).enumerate() {
        text.push_str("\n  <line>");
        for (name, value) in PARTS.iter().zip(line) {
            text.push_str(&format!("\n    <{name}>{value}</{name}>"));
        }
        text.push_str(&format!("\n    <position>{index}</position>\n  </line>"));
    }
    text + "\n</order>"
}

fn order() -> Workload {
    let mut schema = Schema(PlanBuilder::new());
    let fields = vec![
        schema.field("sku", Datatype::String, 1, 1),
        schema.field("description", Datatype::String, 0, 1),
        schema.field("quantity", Datatype::String, 1, 1),
        schema.field("weight", Datatype::String, 0, 1),
        schema.field("gift", Datatype::String, 1, 1),
        schema.field("shipBy", Datatype::String, 0, 1),
        schema.field("position", Datatype::Int, 1, 1),
    ];
    let lines = schema.nested("line", fields, 0, UNBOUNDED);
    let (plan, root) = schema.rooted("order", vec![lines]);
    let mut random = Random(3);
    let word = |random: &mut Random, _: bool| format!("a text {:x}", random.next() >> 30);
    Workload {
        name: "order".to_owned(),
        plan,
        root,
        leaves: (0..16 * PARTS.len())
            .map(|_| word(&mut random, false))
            .collect(),
        text: order_text,
        value: word,
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Two messages that differ as told, one after the other, over and over.
fn measure(work: &Workload, name: &str, share: f64, other: &Leaves, rounds: usize) {
    // Where lengths change, both messages have values of any length.
    let mut leaves = work.leaves.clone();
    if name.ends_with("other") {
        let mut random = Random(0x2468_ace1);
        for (leaf, other) in leaves.iter_mut().zip(other) {
            if leaf != other {
                *leaf = (work.value)(&mut random, false);
            }
        }
    }
    let texts = [(work.text)(&leaves), (work.text)(other)].map(Bytes::from);
    let mut decoder = Decoder::new(work.plan.clone(), DecodeOptions::default());
    let mut exact = Exact::new(work.plan.clone(), DecodeOptions::default());
    let repeat = if texts[0].len() < 100_000 { 100 } else { 2 };
    let copies: [Vec<u8>; 2] = [texts[0].to_vec(), texts[0].to_vec()];
    for text in texts.iter().chain(&texts) {
        let found = exact.receive(work.root, text.clone()).expect("valid");
        let expected = decoder.decode(work.root, text).expect("valid");
        assert!(*found.record == expected);
    }
    let mut times = [const { Vec::new() }; 3];
    let time = |work: &mut dyn FnMut(usize)| {
        let start = Instant::now();
        for round in 0..repeat {
            work(round);
        }
        start.elapsed().as_nanos() as f64 / repeat as f64
    };
    for _ in 0..rounds {
        times[0].push(time(&mut |round| {
            black_box(decoder.decode(work.root, &texts[round % 2]).expect("valid"));
        }));
        times[1].push(time(&mut |_| {
            black_box(black_box(&copies[0]) == black_box(&copies[1]));
        }));
        times[2].push(time(&mut |round| {
            let text = texts[round % 2].clone();
            black_box(exact.receive(work.root, text).expect("valid"));
        }));
    }
    let [full, compare, found] = times.map(|mut times| median(&mut times));
    let bound = share * full + compare;
    let totals = exact.totals();
    println!(
        "{:15} {name:24} full {:9.2}  compare {:7.2}  exact {:9.2} us   {:5.2} x compare  {:5.2} x bound  {:+7.1} %  ({:.1}x faster)  {} aside, {} failed",
        work.name,
        full / 1e3,
        compare / 1e3,
        found / 1e3,
        found / compare,
        found / bound,
        (full / found - 1.0) * 100.0,
        full / found,
        totals.aside,
        totals.failed,
    );
}

/// `share` of the values, in `partitions` stretches, each around the centre of its partition.
fn partitioned(work: &Workload, share: f64, partitions: usize, fixed: bool) -> Leaves {
    let mut random = Random(0xabcd_ef01);
    let mut leaves = work.leaves.clone();
    let size = leaves.len() / partitions;
    let changed = (size as f64 * share).round() as usize;
    for partition in 0..partitions {
        let from = partition * size + (size - changed) / 2;
        for leaf in &mut leaves[from..from + changed] {
            *leaf = (work.value)(&mut random, fixed);
        }
    }
    leaves
}

fn scattered(work: &Workload, share: f64, fixed: bool) -> Leaves {
    let mut random = Random(0x1357_9bdf);
    let mut leaves = work.leaves.clone();
    let total = leaves.len();
    for leaf in &mut leaves {
        if random.below(1000) < (share * 1000.0) as usize {
            *leaf = (work.value)(&mut random, fixed);
        }
    }
    if share * (total as f64) < 1.0 {
        leaves[total / 2] = (work.value)(&mut random, fixed);
    }
    leaves
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .unwrap_or(9);
    let only = std::env::args().nth(2);
    let is_wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    for work in [doubles(100_000), doubles(25_000)] {
        if !is_wanted(&work.name) {
            continue;
        }
        measure(&work, "identical", 0.0, &work.leaves, rounds);
        for (share, partitions) in [0.25, 0.5, 0.75]
            .into_iter()
            .flat_map(|share| [1, 100, 500].map(|t| (share, t)))
        {
            for (fixed, kept) in [(true, "kept"), (false, "other")] {
                let other = partitioned(&work, share, partitions, fixed);
                let name = format!("P{} T{partitions} {kept}", share * 100.0);
                measure(&work, &name, share, &other, rounds);
            }
        }
        for share in [0.01, 0.25] {
            for (fixed, kept) in [(true, "kept"), (false, "other")] {
                let name = format!("scattered {} {kept}", share * 100.0);
                measure(&work, &name, share, &scattered(&work, share, fixed), rounds);
            }
        }
        measure(
            &work,
            "P100",
            1.0,
            &partitioned(&work, 1.0, 1, false),
            rounds.max(40),
        );
        let mut first = work.leaves.clone();
        first[0] = "1.5".to_owned();
        measure(&work, "first value shorter", 0.0, &first, rounds);
        for (name, count) in [("insert 1 in front", 1), ("insert 10 in front", 10)] {
            let mut more = work.leaves.clone();
            let new = (0..count).map(|n| format!("{n}.25e-17"));
            more.splice(0..0, new);
            measure(&work, name, 0.0, &more, rounds);
        }
    }
    for work in [structs(33_000), order()] {
        if !is_wanted(&work.name) {
            continue;
        }
        measure(&work, "identical", 0.0, &work.leaves, rounds);
        measure(&work, "one leaf", 0.0, &scattered(&work, 0.0, true), rounds);
        for share in [0.1, 0.25] {
            measure(
                &work,
                &format!("scattered {}", share * 100.0),
                share,
                &scattered(&work, share, false),
                rounds,
            );
        }
        measure(
            &work,
            "P100",
            1.0,
            &partitioned(&work, 1.0, 1, false),
            rounds.max(40),
        );
    }
}
