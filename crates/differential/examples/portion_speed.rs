//! What receiving by portions costs and saves: `portion_speed [ROUNDS]`.
//!
//! Arrays of hard doubles. First the cost of checkpoints where nothing repeats, against a full decode; then the cells of
//! table 1 of the paper, as the improvement in percent; then memory.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::Plan;
use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_codec::plan::{
    Content, ElementDef, ElementId, ParticleDef, PlanBuilder, Role, TermDef, TypeDef, TypeId,
    UNBOUNDED,
};
use bsoap_datatypes::{Datatype, SimpleType};
use bsoap_differential::receive::{Portioning, Sameness, Stream, Way};
use bytes::Bytes;

fn ty(builder: &mut PlanBuilder, content: Content) -> TypeId {
    let id = builder.reserve_type();
    let definition = TypeDef {
        name: None,
        attributes: Vec::new(),
        any_attribute: None,
        content,
        alternatives: Vec::new(),
        base: None,
        is_abstract: false,
    };
    builder.define_type(id, definition);
    id
}

fn element(builder: &mut PlanBuilder, name: &str, ty: TypeId) -> ElementId {
    let name = builder.name("", name);
    builder.element(ElementDef {
        name,
        ty,
        nillable: false,
        is_abstract: false,
        default: None,
        fixed: None,
        role: Role::Application,
    })
}

fn plan() -> (Arc<Plan>, ElementId) {
    let mut builder = PlanBuilder::new();
    let leaf = builder.leaf(&SimpleType::builtin(Datatype::Double));
    let number = ty(&mut builder, Content::Simple(leaf));
    let item = element(&mut builder, "item", number);
    let items = builder.particle(ParticleDef {
        min: 0,
        max: UNBOUNDED,
        term: TermDef::Element(item),
    });
    let sequence = builder.particle(ParticleDef {
        min: 1,
        max: 1,
        term: TermDef::Sequence(vec![items]),
    });
    let array = ty(&mut builder, Content::Particle(sequence));
    let root = element(&mut builder, "array", array);
    (Arc::new(builder.finish().expect("a plan")), root)
}

struct Random(u64);

impl Random {
    fn hard(&mut self) -> String {
        loop {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            let value = f64::from_bits(self.0);
            let text = format!("{:.16e}", value.abs());
            if value.is_finite() && text.len() == 22 {
                return text;
            }
        }
    }
}

/// Two messages of `count` values, of which `percent` % around the centres of `partitions` are others.
fn messages(count: usize, percent: usize, partitions: usize) -> [Bytes; 2] {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let one: Vec<String> = (0..count).map(|_| random.hard()).collect();
    let size = count / partitions;
    let (from, to) = ((size - size * percent / 100) / 2, size * percent / 100);
    let is_other = |at: usize| (from..from + to).contains(&(at % size));
    let other = |(at, value): (usize, &String)| match is_other(at) {
        true => random.hard(),
        false => value.clone(),
    };
    let two: Vec<String> = one.iter().enumerate().map(other).collect();
    [one, two].map(|values| {
        let items = values.iter().map(|value| format!("<item>{value}</item>"));
        Bytes::from(format!("<array>{}</array>", items.collect::<String>()))
    })
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The time of a full decode, and that of each way, message after message.
fn times(ways: &[Portioning], messages: &[Bytes; 2], rounds: usize) -> (f64, Vec<f64>) {
    let (plan, root) = plan();
    let options = DecodeOptions::default();
    let mut decoder = Decoder::new(plan.clone(), options);
    let mut record = decoder.decode(root, &messages[0]).expect("valid");
    let mut receivers: Vec<Stream> = ways
        .iter()
        .map(|&way| Stream::new(Way::Portions(way), plan.clone(), options))
        .collect();
    let mut full = Vec::new();
    let mut all = vec![Vec::new(); ways.len()];
    for round in 0..rounds + 4 {
        let message = &messages[round % 2];
        let start = Instant::now();
        decoder
            .decode_into(root, message, &mut record)
            .expect("valid");
        let time = start.elapsed().as_secs_f64();
        if round >= 4 {
            full.push(time);
        }
        for (receiver, times) in receivers.iter_mut().zip(&mut all) {
            let start = Instant::now();
            let received = black_box(receiver.receive(root, message.clone()).expect("valid"));
            let time = start.elapsed().as_secs_f64();
            if round >= 4 {
                times.push(time);
            }
            assert_eq!(received.record.slots(), record.slots());
        }
    }
    let all = all.iter_mut().map(|times| median(times)).collect();
    (median(&mut full), all)
}

fn way(mut way: Portioning, interrupt: usize, sameness: Sameness) -> Portioning {
    way.interrupt = interrupt;
    way.sameness = sameness;
    way.stands_aside = false;
    way
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .unwrap_or(21);
    let ways = [
        Portioning::full(),
        Portioning::differential(),
        Portioning::lightweight(),
    ];
    println!("overhead where nothing repeats, %: FCP, DCP, LCP with text; LCP with digests");
    for interrupt in [32, 128, 512] {
        let mut tried: Vec<Portioning> = ways
            .iter()
            .map(|&it| way(it, interrupt, Sameness::Text))
            .collect();
        tried.push(way(Portioning::lightweight(), interrupt, Sameness::Keyed));
        let (full, all) = times(&tried, &messages(100_000, 100, 1), rounds);
        let overhead = all
            .iter()
            .map(|time| format!("{:8.1}", (time / full - 1.0) * 100.0));
        println!(
            "N = {interrupt:4}  T_full {:6.0} us {}",
            full * 1e6,
            overhead.collect::<String>()
        );
    }
    println!("improvement of LCP, N = 512, %: with text; with digests; FCP; DCP with text");
    for count in [25_000, 100_000] {
        for percent in [25, 50, 75] {
            for partitions in [1, 100, 500] {
                let tried = [
                    way(ways[2], 512, Sameness::Text),
                    way(ways[2], 512, Sameness::Keyed),
                    way(ways[0], 512, Sameness::Text),
                    way(ways[1], 512, Sameness::Text),
                ];
                let (full, all) = times(&tried, &messages(count, percent, partitions), rounds);
                let better = all
                    .iter()
                    .map(|time| format!("{:8.1}", (full / time - 1.0) * 100.0));
                println!(
                    "{count:6} P{percent} T{partitions:<3} {}",
                    better.collect::<String>()
                );
            }
        }
    }
    memory(&ways);
}

fn memory(ways: &[Portioning; 3]) {
    println!("bytes of a checkpoint: FCP, DCP, LCP; of hashed, % of the text");
    let (plan, root) = plan();
    let [text, _] = messages(100_000, 25, 1);
    for interrupt in [32, 128, 512, 1024] {
        let of = |it: Portioning| {
            let mut receiver =
                Stream::new(Way::Portions(it), plan.clone(), DecodeOptions::default());
            receiver.receive(root, text.clone()).expect("valid");
            let (count, bytes) = receiver.checkpoints();
            (bytes as f64 / count as f64, receiver.history_memory())
        };
        let each = ways.map(|it| format!("{:8.1}", of(way(it, interrupt, Sameness::Text)).0));
        let hashed = of(way(Portioning::lightweight(), interrupt, Sameness::Keyed)).1;
        println!(
            "N = {interrupt:4} {}  {:5.2} %",
            each.concat(),
            hashed as f64 * 100.0 / text.len() as f64
        );
    }
}
