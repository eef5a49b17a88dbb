//! What comparing costs and saves: `receive_speed [ROUNDS] [--forced] [WORD…]`, of the cases that have all words in their
//! names; forced: never standing aside.
//!
//! Each line is the time of a message that differs from the one before as told, against a full decode of it and one compare
//! of its bytes with others; all three by turns, and medians. The bound of a share P of changed values is
//! `P · full + compare`.

#![allow(clippy::print_stdout)]

#[path = "../../datatypes/tests/common/random.rs"]
mod random;

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
use bsoap_differential::receive::{Policy, Stream, Way};
use bytes::Bytes;
use random::Random;

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

/// The leaves of a message.
type Leaves = Vec<String>;

struct Workload {
    name: String,
    plan: Arc<Plan>,
    root: ElementId,
    leaves: Leaves,
    /// A text with these leaves.
    text: fn(&[String]) -> String,
    /// Another value for a leaf.
    value: fn(&mut Random, usize) -> String,
    /// How many leaves come and go together.
    row: usize,
}

impl Workload {
    /// Another value for a leaf, as long as this one or not.
    fn other(&self, random: &mut Random, leaf: usize, old: &str, length: Length) -> String {
        let mut news = (0..1000).map(|_| (self.value)(random, leaf));
        let new = news.find(|new| new != old && (length == Length::Any || new.len() == old.len()));
        // `true` has no other as long.
        new.unwrap_or_else(|| old.to_owned())
    }
}

/// Of a value that takes the place of another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Kept,
    Any,
}

fn hard(random: &mut Random, _: usize) -> String {
    format!("{:e}", random.hard())
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
        leaves: (0..count).map(|_| hard(&mut random, 0)).collect(),
        text: array_text,
        value: hard,
        row: 1,
    }
}

/// An array of a name's kind, of so many values.
fn array(
    name: &str,
    datatype: Datatype,
    count: usize,
    value: fn(&mut Random, usize) -> String,
) -> Workload {
    let mut schema = Schema(PlanBuilder::new());
    let item = schema.field("item", datatype, 0, UNBOUNDED);
    let (plan, root) = schema.rooted("values", vec![item]);
    let mut random = Random(0x517c_c1b7);
    Workload {
        name: format!("{name}-{count}"),
        plan,
        root,
        leaves: (0..count).map(|_| value(&mut random, 0)).collect(),
        text: array_text,
        value,
        row: 1,
    }
}

fn int(random: &mut Random, _: usize) -> String {
    format!("{}", random.next() as i32)
}

fn words(random: &mut Random, _: usize) -> String {
    let length = 5 + random.below(36);
    (0..length)
        .map(|_| char::from(b'a' + random.below(26) as u8))
        .collect()
}

/// Words of which every fifth string has a reference.
fn referring(random: &mut Random, leaf: usize) -> String {
    let words = words(random, leaf);
    match random.below(5) {
        0 => format!("{}&amp;{}", &words[..2], &words[2..]),
        _ => words,
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

fn mio(random: &mut Random, leaf: usize) -> String {
    match leaf % 3 {
        2 => hard(random, leaf),
        _ => format!("{}", random.next() as i32),
    }
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
        leaves: (0..rows * 3).map(|leaf| mio(&mut random, leaf)).collect(),
        text: mio_text,
        value: mio,
        row: 3,
    }
}

const PARTS: [(&str, Datatype); 7] = [
    ("sku", Datatype::String),
    ("description", Datatype::String),
    ("quantity", Datatype::Int),
    ("weight", Datatype::Double),
    ("price", Datatype::Decimal),
    ("gift", Datatype::Boolean),
    ("shipBy", Datatype::Date),
];

fn order_text(leaves: &[String]) -> String {
    let mut text = String::from("<order>");
    for line in leaves.chunks(PARTS.len()) {
        text.push_str("\n  <line>");
        for ((name, _), value) in PARTS.iter().zip(line) {
            text.push_str(&format!("\n    <{name}>{value}</{name}>"));
        }
        text.push_str("\n  </line>");
    }
    text + "\n</order>"
}

fn part(random: &mut Random, leaf: usize) -> String {
    let number = random.next() >> 30;
    match leaf % PARTS.len() {
        0 => format!("SKU-{:06x}", number & 0xff_ffff),
        1 => format!("a text that tells {number:x}"),
        2 => format!("{}", number % 1000),
        3 => format!("{}", (number % 100_000) as f64 / 1000.0),
        4 => format!("{}.{:02}", number % 1000, (number >> 20) % 100),
        5 => ["true", "false"][number as usize % 2].to_owned(),
        _ => format!(
            "20{:02}-0{}-1{}",
            number % 90 + 10,
            number % 9 + 1,
            (number >> 9) % 10
        ),
    }
}

fn order() -> Workload {
    let mut schema = Schema(PlanBuilder::new());
    let fields = PARTS
        .iter()
        .enumerate()
        .map(|(index, &(name, datatype))| schema.field(name, datatype, (index % 2) as u32, 1))
        .collect();
    let lines = schema.nested("line", fields, 0, UNBOUNDED);
    let (plan, root) = schema.rooted("order", vec![lines]);
    let mut random = Random(3);
    Workload {
        name: "order".to_owned(),
        plan,
        root,
        leaves: (0..16 * PARTS.len())
            .map(|leaf| part(&mut random, leaf))
            .collect(),
        text: order_text,
        value: part,
        row: PARTS.len(),
    }
}

const POLLED: [&str; 4] = ["now", "tested", "passed", "estimated"];

/// An answer with XML in a string, as recorded services give it.
fn polls_text(leaves: &[String]) -> String {
    let mut text = String::from("<answer>\n  <command>GetResultInfo</command>\n  <session>");
    text.push_str(&"0".repeat(134));
    text.push_str("</session>\n  <id>6215</id>\n  <xml>&lt;result_infos&gt;");
    for round in 0..6 {
        for (name, leaf) in POLLED.iter().zip(leaves) {
            let value = if round == 0 { leaf } else { "0" };
            text.push_str(&format!("&lt;{name}&gt;{value}&lt;/{name}&gt;\n"));
        }
    }
    text + "&lt;/result_infos&gt;</xml>\n</answer>"
}

fn polled(random: &mut Random, leaf: usize) -> String {
    match leaf {
        0 => format!("2015/09/05 05:45:{} GMT-0000", 10 + random.below(50)),
        _ => format!("{}", random.below(12)),
    }
}

fn polls() -> Workload {
    let mut schema = Schema(PlanBuilder::new());
    let fields = ["command", "session", "id", "xml"].map(|name| {
        let datatype = match name {
            "id" => Datatype::Int,
            _ => Datatype::String,
        };
        schema.field(name, datatype, 0, 1)
    });
    let (plan, root) = schema.rooted("answer", fields.to_vec());
    let mut random = Random(9);
    Workload {
        name: "polls".to_owned(),
        plan,
        root,
        leaves: (0..POLLED.len())
            .map(|leaf| polled(&mut random, leaf))
            .collect(),
        text: polls_text,
        value: polled,
        row: POLLED.len(),
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What a line is about.
struct Case<'w> {
    name: &'w str,
    /// How much of the values changes.
    share: f64,
    policy: Policy,
}

/// Messages in a ring, each as it is told after the one before.
fn run(
    plan: &Arc<Plan>,
    root: ElementId,
    name: &str,
    case: &Case<'_>,
    texts: &[Bytes],
    rounds: usize,
) {
    let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
    let mut exact = Stream::new(
        Way::Exact(case.policy),
        plan.clone(),
        DecodeOptions::default(),
    );
    let copies = [texts[0].to_vec(), texts[0].to_vec()];
    let longest = texts.iter().map(Bytes::len).max().unwrap_or(0);
    let count = texts.len();
    // Long ones one by one, so that the machine's moods meet all three alike.
    let repeat = if longest < 100_000 {
        count * 200usize.div_ceil(count)
    } else {
        count
    };
    for text in texts.iter().chain(texts) {
        let found = exact.receive(root, text.clone()).expect("valid");
        let expected = decoder.decode(root, text).expect("valid");
        assert!(*found.record == expected);
    }
    let mut times = [const { Vec::new() }; 3];
    let time = |work: &mut dyn FnMut(usize)| {
        let start = Instant::now();
        for round in 0..repeat {
            work(round % count);
        }
        start.elapsed().as_nanos() as f64 / repeat as f64
    };
    for _ in 0..rounds {
        times[0].push(time(&mut |round| {
            let text = texts[round].clone();
            black_box(Arc::new(decoder.decode(root, &text).expect("valid")));
        }));
        times[1].push(time(&mut |_| {
            black_box(black_box(&copies[0]) == black_box(&copies[1]));
        }));
        times[2].push(time(&mut |round| {
            let text = texts[round].clone();
            black_box(exact.receive(root, text).expect("valid"));
        }));
    }
    let ratios: Vec<f64> = (0..rounds).map(|it| times[0][it] / times[2][it]).collect();
    let faster = median(&mut ratios.clone());
    let [full, compare, found] = times.map(|mut times| median(&mut times));
    let bound = case.share * full + compare;
    let totals = exact.totals();
    println!(
        "{name:15} {:26} full {:8.2}  compare {:7.2}  exact {:8.2} us  {:5.2} x compare  {:5.2} x bound  {:+6.1} %  {faster:5.1} x faster  {} aside, {} failed",
        case.name,
        full / 1e3,
        compare / 1e3,
        found / 1e3,
        found / compare,
        found / bound,
        (faster - 1.0) * 100.0,
        totals.aside,
        totals.failed,
    );
}

/// The cases asked for.
struct Bench {
    rounds: usize,
    words: Vec<String>,
    /// Whether nothing is left aside.
    is_forced: bool,
}

impl Bench {
    fn is_wanted(&self, work: &str, name: &str) -> bool {
        let all = format!("{work} {name} ");
        self.words.iter().all(|word| all.contains(word.as_str()))
    }

    /// Two messages by turns: that of the workload, and another with these leaves.
    fn pair(&self, work: &Workload, name: &str, share: f64, other: impl FnOnce() -> Leaves) {
        if self.is_wanted(&work.name, name) {
            let texts = [(work.text)(&work.leaves), (work.text)(&other())].map(Bytes::from);
            let mut policy = Policy::default();
            policy.stands_aside = !self.is_forced;
            self.ring(work, name, share, &texts, policy);
        }
    }

    fn ring(&self, work: &Workload, name: &str, share: f64, texts: &[Bytes], policy: Policy) {
        let case = Case {
            name,
            share,
            policy,
        };
        run(&work.plan, work.root, &work.name, &case, texts, self.rounds);
    }

    fn table_1(&self, work: &Workload) {
        for share in [0.25, 0.5, 0.75] {
            for partitions in [1, 100, 200, 500] {
                for (length, kept) in [(Length::Kept, "kept"), (Length::Any, "other")] {
                    let name = format!("P{} T{partitions} {kept}", share * 100.0);
                    self.pair(work, &name, share, || {
                        partitioned(work, share, partitions, length)
                    });
                }
            }
            for (length, kept) in [(Length::Kept, "kept"), (Length::Any, "other")] {
                let name = format!("scattered {} {kept}", share * 100.0);
                self.pair(work, &name, share, || scattered(work, share, length));
            }
        }
    }

    /// Streams without likeness: many messages, each another.
    fn unlike(&self, work: &Workload) {
        let mut forced = Policy::default();
        forced.stands_aside = false;
        let mut dense = forced;
        dense.spacing = Some(128);
        for (name, policy) in [
            ("P100", Policy::default()),
            ("P100 forced", forced),
            ("P100 N128, forced", dense),
        ] {
            if !self.is_wanted(&work.name, name) {
                continue;
            }
            let mut random = Random(0x7531);
            let mut text = |_| {
                let leaves: Leaves = (0..work.leaves.len())
                    .map(|leaf| (work.value)(&mut random, leaf))
                    .collect();
                Bytes::from((work.text)(&leaves))
            };
            let texts: Vec<Bytes> = (0..5).map(&mut text).collect();
            // Enough for it to notice.
            let rounds = self.rounds.max(15);
            let case = Case {
                name,
                share: 1.0,
                policy,
            };
            run(&work.plan, work.root, &work.name, &case, &texts, rounds);
        }
    }

    /// Rows are inserted at the front, and left out again.
    fn front(&self, work: &Workload) {
        for rows in [1, 10] {
            self.pair(
                work,
                &format!("insert, delete {rows} in front"),
                0.0,
                || {
                    let mut random = Random(0x1111);
                    let more = (0..rows * work.row).map(|leaf| (work.value)(&mut random, leaf));
                    more.chain(work.leaves.iter().cloned()).collect()
                },
            );
        }
    }

    fn array(&self, work: &Workload) {
        self.pair(work, "identical", 0.0, || work.leaves.clone());
        self.table_1(work);
        self.pair(work, "scattered 1 other", 0.01, || {
            scattered(work, 0.01, Length::Any)
        });
        self.pair(work, "first value shorter", 0.0, || {
            let mut first = work.leaves.clone();
            first[0] = "1".to_owned();
            first
        });
        self.front(work);
        self.unlike(work);
    }

    fn polls(&self, work: &Workload) {
        for (length, kept) in [(Length::Kept, "kept"), (Length::Any, "other")] {
            for leaf in [0, 3] {
                self.pair(work, &format!("leaf {leaf} {kept}"), 0.0, || {
                    let mut leaves = work.leaves.clone();
                    leaves[leaf] = work.other(&mut Random(5), leaf, &leaves[leaf], length);
                    leaves
                });
            }
        }
    }

    fn order(&self, work: &Workload) {
        self.pair(work, "identical", 0.0, || work.leaves.clone());
        for (length, kept) in [(Length::Kept, "kept"), (Length::Any, "other")] {
            for leaf in [0, 51, work.leaves.len() - 1] {
                self.pair(work, &format!("leaf {leaf} {kept}"), 0.0, || {
                    let mut leaves = work.leaves.clone();
                    leaves[leaf] = work.other(&mut Random(5), leaf, &leaves[leaf], length);
                    leaves
                });
            }
            for share in [0.1, 0.25] {
                self.pair(
                    work,
                    &format!("scattered {} {kept}", share * 100.0),
                    share,
                    || scattered(work, share, length),
                );
            }
        }
        self.front(work);
        self.unlike(work);
    }
}

/// `share` of the values, in `partitions` stretches, each around the centre of its partition.
fn partitioned(work: &Workload, share: f64, partitions: usize, length: Length) -> Leaves {
    let mut random = Random(0xabcd_ef01);
    let mut leaves = work.leaves.clone();
    let size = leaves.len() / partitions;
    let changed = (size as f64 * share).round() as usize;
    for partition in 0..partitions {
        let from = partition * size + (size - changed) / 2;
        for (leaf, value) in leaves.iter_mut().enumerate().skip(from).take(changed) {
            *value = work.other(&mut random, leaf, value, length);
        }
    }
    leaves
}

fn scattered(work: &Workload, share: f64, length: Length) -> Leaves {
    let mut random = Random(0x1357_9bdf);
    let mut leaves = work.leaves.clone();
    for (leaf, value) in leaves.iter_mut().enumerate() {
        if random.below(1000) < (share * 1000.0) as usize {
            *value = work.other(&mut random, leaf, value, length);
        }
    }
    leaves
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut bench = Bench {
        is_forced: false,
        rounds: arguments
            .next()
            .and_then(|it| it.parse().ok())
            .unwrap_or(11),
        words: arguments.collect(),
    };
    let all = bench.words.len();
    bench.words.retain(|word| word != "--forced");
    bench.is_forced = bench.words.len() < all;
    for count in [100_000, 50_000, 25_000, 1000] {
        bench.array(&doubles(count));
    }
    bench.array(&array("ints", Datatype::Int, 100_000, int));
    bench.array(&array("strings", Datatype::String, 100_000, words));
    bench.array(&array("references", Datatype::String, 50_000, referring));
    bench.array(&structs(33_000));
    bench.order(&order());
    bench.polls(&polls());
}
