//! What a receiver of an array could take at the least: `bound_speed [doubles|strings|small] [COUNT] [WORD…]`, of the cases
//! that have all words in their names.
//!
//! The bare loop knows where every changed value stands in either text: it compares what lies between them with `memcmp`
//! (where changes are scattered, all of the texts, without a branch), has a kernel read those values or copies them, and
//! puts them in their slots. It learns nothing, keeps no places and tells no changes. Two regimes, as what is in the cache
//! differs: `turns`, each engine once after the others, and `alone`, each sixteen times in a row, as `bsoap bench` does it.
//! The bound of a share P of changed values is `P · full + compare`.
//!
//! `small` is a stream of small messages that does not repeat: a decoder, the same that hands out its Record shared, and the
//! receiver.

#![allow(clippy::print_stdout)]

#[path = "../../codec/tests/common/by_hand.rs"]
mod by_hand;
#[path = "../../datatypes/tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_datatypes::kernel::{Kernel, Number, Separator};
use bsoap_differential::receive::{Stream, Way};
use bytes::Bytes;

use by_hand::{MANY, ONCE, Schema};
use random::Random;

const GAP: &str = "</item><item>";

/// A text, and where its values begin and another would behind the last.
struct Text {
    bytes: Bytes,
    starts: Vec<usize>,
}

impl Text {
    fn new(values: &[String]) -> Self {
        let mut text = String::from("<values><item>");
        let mut starts = Vec::new();
        for value in values {
            starts.push(text.len());
            text.push_str(value);
            text.push_str(GAP);
        }
        text.truncate(text.len() - "<item>".len());
        starts.push(text.len());
        text.push_str("</values>");
        let bytes = Bytes::from(text);
        Self { bytes, starts }
    }
}

/// Which values change, and of what kind they are.
struct Case {
    name: String,
    share: f64,
    set: Vec<bool>,
    is_kept: bool,
    is_scattered: bool,
}

/// The loop that knows all.
struct Bare {
    texts: [Text; 2],
    runs: Vec<Range<usize>>,
    /// By 256 values, those that change.
    others: Vec<Vec<usize>>,
    is_scattered: bool,
    is_text: bool,
    slots: Vec<u64>,
    heap: Vec<u8>,
    read: Vec<u64>,
    lengths: Vec<u32>,
    places: Vec<u32>,
    separator: Separator,
}

impl Bare {
    fn new(texts: [Text; 2], case: &Case, is_text: bool) -> Self {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, _) in case.set.iter().enumerate().filter(|(_, is)| **is) {
            match runs.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => runs.push(at..at + 1),
            }
        }
        let others = case.set.chunks(256).enumerate().map(|(chunk, set)| {
            let all = set.iter().enumerate().filter(|(_, is)| **is);
            all.map(|(at, _)| 256 * chunk + at).collect()
        });
        Self {
            runs,
            others: others.collect(),
            is_scattered: case.is_scattered,
            is_text,
            slots: vec![0; case.set.len()],
            heap: vec![0; 64 * case.set.len()],
            read: Vec::new(),
            lengths: Vec::new(),
            places: Vec::new(),
            separator: Separator::new(GAP.as_bytes()),
            texts,
        }
    }

    /// Reads a text that comes after the other.
    fn step(&mut self, to: usize) {
        match self.is_scattered {
            true => self.by_blocks(to),
            false => self.by_runs(to),
        }
    }

    fn by_runs(&mut self, to: usize) {
        let (old, new) = (&self.texts[1 - to], &self.texts[to]);
        let (mut o, mut n) = (0, 0);
        for run in &self.runs {
            let at = new.starts[run.start];
            assert!(old.bytes[o..old.starts[run.start]] == new.bytes[n..at]);
            (o, n) = (old.starts[run.end], new.starts[run.end]);
            if self.is_text {
                assert!(simdutf8::basic::from_utf8(&new.bytes[at..n]).is_ok());
                for value in run.clone() {
                    let text = &new.bytes[new.starts[value]..new.starts[value + 1] - GAP.len()];
                    self.heap[64 * value..][..text.len()].copy_from_slice(text);
                    self.slots[value] = (64 * value as u64) << 32 | text.len() as u64;
                }
                continue;
            }
            self.read.clear();
            self.read.reserve(run.len());
            let (read, separator) = (&mut self.read, &self.separator);
            let kernel = Kernel::best();
            let number = Number::Double;
            kernel.read_array(
                &new.bytes,
                at,
                number,
                separator,
                run.len(),
                read,
                |_, _| {},
            );
            self.slots[run.start..][..read.len()].copy_from_slice(read);
        }
        assert!(old.bytes[o..] == new.bytes[n..]);
    }

    fn by_blocks(&mut self, to: usize) {
        let (old, new) = (&self.texts[1 - to], &self.texts[to]);
        let (mut base, mut o, mut n, mut all) = (0, 0, 0, 0);
        for others in &self.others {
            base = (base + 256).min(self.slots.len());
            let (from, at) = (o, n);
            (o, n) = (old.starts[base], new.starts[base]);
            all |= difference(&old.bytes[from..o], &new.bytes[at..n]);
            self.places.clear();
            self.places
                .extend(others.iter().map(|&it| new.starts[it] as u32));
            self.read.clear();
            self.lengths.clear();
            Kernel::best().read_places(
                &new.bytes,
                &self.places,
                Number::Double,
                &self.separator,
                &mut self.read,
                &mut self.lengths,
            );
            for (&slot, &value) in others.iter().zip(&self.read) {
                self.slots[slot] = value;
            }
        }
        black_box(all);
    }
}

/// The bits that differ anywhere, at all speed.
fn difference(one: &[u8], other: &[u8]) -> u64 {
    let mut all = [0; 8];
    let pieces = one
        .as_chunks::<64>()
        .0
        .iter()
        .zip(other.as_chunks::<64>().0);
    for (one, other) in pieces {
        let words = one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
        for (all, (one, other)) in all.iter_mut().zip(words) {
            *all |= u64::from_ne_bytes(*one) ^ u64::from_ne_bytes(*other);
        }
    }
    all.into_iter().fold(0, |all, some| all | some)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn plan(datatype: Datatype) -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let item = schema.field("item", datatype, MANY);
    let root = schema.record(vec![item]);
    let root = schema.element("", "values", root);
    (schema.finish(), root)
}

fn hard(random: &mut Random) -> String {
    let mut out = Vec::new();
    bsoap_datatypes::double::write(random.hard(), &mut out);
    String::from_utf8(out).expect("a number")
}

fn cases(count: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for (share, is_kept) in [0.25, 0.5, 0.75]
        .map(|share| [(share, true), (share, false)])
        .concat()
    {
        let length = if is_kept { "kept" } else { "other" };
        let mut case = |name, set, is_scattered| {
            cases.push(Case {
                name: format!("P{} {name} {length} ", share * 100.0),
                share,
                set,
                is_kept,
                is_scattered,
            });
        };
        for partitions in [1, 100, 200, 500] {
            let mut set = vec![false; count];
            for partition in 0..partitions {
                let from = partition * count / partitions;
                let size = (partition + 1) * count / partitions - from;
                let changed = (size as f64 * share).round() as usize;
                set[from + (size - changed) / 2..][..changed].fill(true);
            }
            case(format!("T{partitions}"), set, false);
        }
        let (mut set, mut random) = (vec![false; count], Random(42));
        set[..(count as f64 * share) as usize].fill(true);
        for place in (1..count).rev() {
            set.swap(place, random.below(place + 1));
        }
        case("scattered".to_owned(), set, true);
    }
    cases
}

/// Two texts of a case, by turns.
fn texts(case: &Case, value: fn(&mut Random) -> String) -> [Text; 2] {
    let mut random = Random(7);
    let one: Vec<String> = case.set.iter().map(|_| value(&mut random)).collect();
    let mut other = one.clone();
    for (other, _) in other.iter_mut().zip(&case.set).filter(|(_, is)| **is) {
        let mut news = (0..1_000_000).map(|_| value(&mut random));
        *other = news
            .find(|new| new != other && (!case.is_kept || new.len() == other.len()))
            .expect("another");
    }
    [Text::new(&one), Text::new(&other)]
}

fn run(
    case: &Case,
    (plan, root): &(Arc<Plan>, ElementId),
    value: fn(&mut Random) -> String,
    is_text: bool,
) {
    let mut bare = Bare::new(texts(case, value), case, is_text);
    // Engines share no memory.
    let copy = |text: &Text| Bytes::from(text.bytes.to_vec());
    let [own, theirs] = [(); 2].map(|()| bare.texts.each_ref().map(copy));
    let copies = [own[0].to_vec(), own[0].to_vec()];
    let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
    let mut record = Record::new(plan.clone(), *root);
    let mut exact = Stream::new(Way::default(), plan.clone(), DecodeOptions::default());
    for to in [0, 1, 0, 1] {
        let received = exact.receive(*root, theirs[to].clone()).expect("valid");
        decoder
            .decode_into(*root, &own[to], &mut record)
            .expect("valid");
        assert!(*received.record == record);
    }
    let mut engines: [Box<dyn FnMut(usize)>; 4] = [
        Box::new(|round| {
            let read = decoder.decode_into(*root, &own[round % 2], &mut record);
            read.expect("valid");
        }),
        Box::new(|_| {
            black_box(black_box(&copies[0]) == black_box(&copies[1]));
        }),
        Box::new(|round| bare.step(round % 2)),
        Box::new(|round| {
            black_box(
                exact
                    .receive(*root, theirs[round % 2].clone())
                    .expect("valid"),
            );
        }),
    ];
    for (regime, rounds, repeat) in [("turns", 151, 1), ("alone", 25, 16)] {
        let mut times = [const { Vec::new() }; 4];
        for round in 0..rounds {
            for (engine, times) in engines.iter_mut().zip(&mut times) {
                let start = Instant::now();
                (0..repeat).for_each(|again| engine(round + again));
                times.push(start.elapsed().as_nanos() as f64 / f64::from(repeat as u32) / 1e3);
            }
        }
        let [full, compare, bare, exact] = times.map(median);
        let bound = case.share * full + compare;
        println!(
            "{:6} {:20} {regime}  full {full:7.1}  compare {compare:6.1}  bare {bare:7.1} us = {:.2} x bound  exact {exact:7.1} us = {:.2} x bound",
            case.set.len(),
            case.name,
            bare / bound,
            exact / bound,
        );
    }
}

/// Messages of four numbers and nine words, of which no two are alike.
fn small() {
    let mut schema = Schema::new();
    let kinds = [
        Datatype::Int,
        Datatype::Double,
        Datatype::String,
        Datatype::String,
    ];
    let fields = (0..13).map(|at| schema.field(&format!("field{at}"), kinds[at % 4], ONCE));
    let fields = fields.collect();
    let root = schema.record(fields);
    let root = schema.element("", "small", root);
    let plan = schema.finish();
    let mut random = Random(3);
    let mut message = || {
        let mut text = String::from("<small>");
        for at in 0..13 {
            let value = match at % 4 {
                0 => format!("{}", random.next() as i32),
                1 => format!("{}", random.small()),
                _ => random.word(),
            };
            text.push_str(&format!("<field{at}>{value}</field{at}>"));
        }
        Bytes::from(text + "</small>")
    };
    let texts: Vec<Bytes> = (0..8).map(|_| message()).collect();
    let new = || Decoder::new(plan.clone(), DecodeOptions::default());
    let (mut decoder, mut sharing) = (new(), new());
    let mut record = Record::new(plan.clone(), root);
    let mut shared = Arc::new(record.clone());
    let mut exact = Stream::new(Way::default(), plan.clone(), DecodeOptions::default());
    let mut engines: [Box<dyn FnMut(usize)>; 3] = [
        Box::new(|round| {
            let read = decoder.decode_into(root, &texts[round % 8], &mut record);
            read.expect("valid");
        }),
        Box::new(|round| {
            let text = texts[round % 8].clone();
            let record = Arc::get_mut(&mut shared).expect("nobody else has it");
            sharing.decode_into(root, &text, record).expect("valid");
            black_box(shared.clone());
        }),
        Box::new(|round| {
            black_box(
                exact
                    .receive(root, texts[round % 8].clone())
                    .expect("valid"),
            );
        }),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..51 {
        for (engine, times) in engines.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (0..33 * 40).for_each(&mut *engine);
            times.push(start.elapsed().as_nanos() as f64 / (33.0 * 40.0));
        }
    }
    let [full, shared, exact] = times.map(median);
    println!(
        "small, none alike: full {full:.0} ns, shared {shared:.0} ns = {:.3} x full, exact {exact:.0} ns = {:.3} x full",
        shared / full,
        exact / full,
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_default();
    if kind == "small" {
        return small();
    }
    let count = arguments.next().and_then(|it| it.parse().ok());
    let words: Vec<String> = arguments.collect();
    let is_text = kind == "strings";
    for case in cases(count.unwrap_or(25_000)) {
        let is_wanted = words.iter().all(|word| case.name.contains(word.as_str()));
        match is_text {
            _ if !is_wanted || is_text && case.is_scattered => {}
            true => run(&case, &plan(Datatype::String), Random::word, true),
            false => run(&case, &plan(Datatype::Double), hard, false),
        }
    }
}
