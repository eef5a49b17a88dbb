//! Long arrays through templates: tables of numbers that change, grow and shrink, get longer and
//! shorter, in chunks of any size.

use std::sync::Arc;

use bsoap_codec::plan::ElementId;
use bsoap_codec::{EncodeOptions, Plan, Record, Value, build};
use bsoap_datatypes::Datatype;
use bsoap_differential::send::{Chunks, Match, Pad, Policy, Template};
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, Schema};
use bsoap_testkit::template::assert_consistent;

/// An array of doubles, one of {int, int, double} and one of strings, with texts around them.
fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let fields = [
        ("x", Datatype::Int),
        ("y", Datatype::Int),
        ("value", Datatype::Double),
    ];
    let fields = fields
        .map(|(name, datatype)| schema.field(name, datatype, ONCE))
        .to_vec();
    let mesh = schema.structure(fields);
    let children = vec![
        schema.field("title", Datatype::String, ONCE),
        schema.field("item", Datatype::Double, MANY),
        schema.field("middle", Datatype::String, ONCE),
        schema.child("mesh", mesh, MANY),
        schema.field("word", Datatype::String, MANY),
    ];
    schema.rooted_in_mesh("arrays", children)
}

#[derive(Clone)]
struct Arrays {
    title: String,
    items: Vec<f64>,
    meshes: Vec<(i64, i64, f64)>,
    words: Vec<String>,
}

impl Arrays {
    fn record(&self, plan: &Arc<Plan>, root: ElementId) -> Record {
        let mesh = |&(x, y, value): &(i64, i64, f64)| {
            Value::object([
                ("x", Value::from(x)),
                ("y", Value::from(y)),
                ("value", Value::from(value)),
            ])
        };
        let words = self.words.iter().map(|word| Value::from(word.as_str()));
        let value = Value::object([
            ("title", Value::from(self.title.as_str())),
            ("item", Value::from(self.items.clone())),
            ("middle", Value::from("in between")),
            ("mesh", Value::Array(self.meshes.iter().map(mesh).collect())),
            ("word", Value::Array(words.collect())),
        ]);
        build(plan, root, &value).expect("the values fit")
    }

    fn random(random: &mut Random, size: usize) -> Self {
        Self {
            title: "a title".into(),
            items: (0..size).map(|_| double(random)).collect(),
            meshes: (0..size / 2).map(|_| mesh(random)).collect(),
            words: (0..size / 3).map(|_| word(random)).collect(),
        }
    }

    fn mutate(&mut self, random: &mut Random) {
        let rate = [0, 1, 10, 300, 1000][random.below(5)];
        change(&mut self.items, random, rate, double);
        let rate = [0, 0, 10, 300, 1000][random.below(5)];
        change(&mut self.meshes, random, rate, mesh);
        let rate = [0, 0, 10, 300, 1000][random.below(5)];
        change(&mut self.words, random, rate, word);
        if random.below(3) == 0 {
            self.title = word(random);
        }
    }
}

fn change<T: Clone>(
    values: &mut Vec<T>,
    random: &mut Random,
    rate: usize,
    make: impl Fn(&mut Random) -> T,
) {
    for value in values.iter_mut() {
        if random.below(1000) < rate {
            *value = make(random);
        }
    }
    let at = match random.below(8) {
        0 => 0,
        1 => values.len(),
        2 => random.below(values.len()),
        _ => return,
    };
    let count = 1 + random.below(40);
    match random.below(4) {
        0 => drop(values.drain(at..(at + count).min(values.len()))),
        1 if !values.is_empty() => {
            let middle = count % values.len();
            values.rotate_left(middle);
        }
        _ => {
            let new: Vec<T> = (0..count).map(|_| make(random)).collect();
            values.splice(at..at, new);
        }
    }
}

fn double(random: &mut Random) -> f64 {
    match random.below(3) {
        0 => random.below(10) as f64,
        1 => random.below(100_000) as f64 / 100.0,
        _ => f64::from_bits(random.next()),
    }
}

fn mesh(random: &mut Random) -> (i64, i64, f64) {
    let shift = random.below(31);
    let int = |random: &mut Random| i64::from(random.next() as i32) >> shift;
    (int(random), int(random), double(random))
}

fn word(random: &mut Random) -> String {
    (0..random.below(60))
        .map(|_| ['a', 'b', '<', 'é', '&'][random.below(30).saturating_sub(25)])
        .collect()
}

#[test]
fn a_patched_array_means_what_a_fresh_one_means() {
    let (plan, root) = plan();
    for seed in 0..120 {
        let random = &mut Random::new(seed);
        let size = [20, 100, 700][random.below(3)];
        let chunk = [64, 500, 8 << 10, 32 << 10, 1 << 20][random.below(5)];
        let policies = [
            Policy::IDENTICAL,
            Policy::IDENTICAL,
            Policy::EXACT,
            Policy::INTERMEDIATE,
            Policy::MAXIMUM,
        ];
        let pad = [Pad::Inside, Pad::AfterTag][random.below(2)];
        let policy = policies[random.below(5)]
            .with_pad(pad)
            .with_chunks(Chunks::of(chunk));
        let mut arrays = Arrays::random(random, size);
        let mut template =
            Template::first(policy, EncodeOptions::default(), arrays.record(&plan, root))
                .expect("it can be encoded");
        assert_consistent(&template);
        for _ in 0..10 {
            arrays.mutate(random);
            let record = arrays.record(&plan, root);
            let sent = template.outgoing();
            let before = sent.chunks.concat();
            let matched = template
                .update(&mut record.clone())
                .expect("it can be encoded");
            assert_consistent(&template);
            assert_ne!(matched, Match::FirstTime);
            assert_eq!(template.record(), Some(&record));
            assert!(
                sent.chunks.concat() == before,
                "what is sent stays as it was"
            );
        }
    }
}

#[test]
fn an_array_of_which_many_values_are_set_means_what_a_fresh_one_means() {
    let (plan, root) = plan();
    for seed in 0..60 {
        let random = &mut Random::new(seed);
        let size = [20, 100, 700, 3000][random.below(4)];
        let chunk = [500, 8 << 10, 32 << 10, 1 << 20][random.below(4)];
        let policies = [
            Policy::IDENTICAL,
            Policy::EXACT,
            Policy::INTERMEDIATE,
            Policy::MAXIMUM,
        ];
        let policy = policies[random.below(6) % 4];
        let policy = policy.with_chunks(Chunks::of(chunk));
        let first = Arrays::random(random, size).record(&plan, root);
        let mut template =
            Template::first(policy, EncodeOptions::default(), first).expect("it can be encoded");
        for _ in 0..6 {
            let other = Arrays::random(random, size).record(&plan, root);
            let rate = [2, 30, 200, 700, 1000][random.below(5)];
            for (slot, &bits) in other.slots().iter().enumerate() {
                // Whichever kind it is.
                if random.below(1000) < rate
                    && template.set(slot, f64::from_bits(bits)).is_err()
                    && template.set(slot, bits as i64).is_err()
                    && random.below(4) == 0
                {
                    let _ = template.set_text(slot, &word(random));
                }
            }
            template.commit().expect("it can be encoded");
            assert_consistent(&template);
        }
    }
}

#[test]
fn an_array_of_doubles_takes_at_most_fourteen_bytes_a_value_beside_its_text() {
    let (plan, root) = plan();
    let random = &mut Random::new(1);
    let arrays = Arrays {
        title: String::new(),
        items: (0..20_000).map(|_| f64::from_bits(random.next())).collect(),
        meshes: Vec::new(),
        words: Vec::new(),
    };
    let record = arrays.record(&plan, root);
    for policy in [Policy::IDENTICAL, Policy::EXACT, Policy::MAXIMUM] {
        let mut template = Template::new(policy, EncodeOptions::default());
        template
            .update(&mut record.clone())
            .expect("it can be encoded");
        let beside = template.memory() as u64 - template.length();
        assert!(beside <= 14 * 20_000, "{beside} bytes");
    }
}

#[test]
fn what_is_inserted_costs_what_it_is_not_the_whole() {
    let (plan, root) = plan();
    let random = &mut Random::new(2);
    let mut arrays = Arrays::random(random, 6000);
    let policy = Policy::IDENTICAL.with_chunks(Chunks::of(4 << 10));
    let mut template =
        Template::first(policy, EncodeOptions::default(), arrays.record(&plan, root))
            .expect("it can be encoded");
    let changes: [fn(&mut Arrays); 8] = [
        |arrays| arrays.items.insert(0, 1.25),
        |arrays| arrays.items.insert(3000, 1.25),
        |arrays| arrays.items.push(1.25),
        |arrays| drop(arrays.items.drain(1000..1010)),
        |arrays| arrays.meshes.insert(5, (1, 2, 3.5)),
        |arrays| drop(arrays.words.remove(77)),
        |arrays| {
            // A window that slides: as long as before.
            arrays.items.remove(0);
            arrays.items.push(2.5);
        },
        |arrays| {
            arrays.items.insert(500, 1.5);
            arrays.items.insert(4000, 2.5);
            arrays.meshes.remove(1500);
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        change(&mut arrays);
        let before = *template.stats();
        template
            .update(&mut arrays.record(&plan, root))
            .expect("it can be encoded");
        assert_consistent(&template);
        let stats = template.stats();
        let encoded = stats.encoded_chunks - before.encoded_chunks;
        let values = stats.values - before.values;
        assert!(
            encoded <= 8 && values <= 500,
            "change {number}: {encoded} chunks, {values} values"
        );
    }
}

#[test]
fn a_sliding_window_gets_small_chunks_of_which_few_are_encoded_again_until_it_is_over() {
    let (plan, root) = plan();
    let random = &mut Random::new(3);
    let slide: [fn(&mut Arrays, usize); 3] = [
        |arrays, rows| drop(arrays.items.drain(..rows)),
        |arrays, rows| drop(arrays.items.drain(1000..1000 + rows)),
        |arrays, rows| arrays.items.truncate(2000 - rows),
    ];
    for (number, slide) in slide.iter().enumerate() {
        let mut arrays = Arrays::random(random, 2000);
        let first = arrays.record(&plan, root);
        let mut template = Template::first(Policy::IDENTICAL, EncodeOptions::default(), first)
            .expect("it can be encoded");
        let usual = template.chunks().len();
        for step in 0..12 {
            let rows = 1 + random.below(20);
            slide(&mut arrays, rows);
            let at = if number == 2 { 0 } else { arrays.items.len() };
            let new = (0..rows).map(|_| f64::from_bits(random.next() >> 2));
            arrays.items.splice(at..at, new);
            let before = *template.stats();
            let mut record = arrays.record(&plan, root);
            template.update(&mut record).expect("it can be encoded");
            assert_consistent(&template);
            let encoded = template.stats().encoded_chunks - before.encoded_chunks;
            let chunks = template.chunks().len();
            if step > 0 {
                let case =
                    format!("case {number}, step {step}: {encoded} of {chunks}, not {usual}");
                assert!(chunks > 2 * usual && encoded <= 4, "{case}");
            }
        }
        let other = Arrays::random(random, 2000);
        template
            .update(&mut other.record(&plan, root))
            .expect("it can be encoded");
        assert_consistent(&template);
        assert!(template.chunks().len() <= usual + 1);
    }
}

#[test]
fn a_message_that_was_the_same_for_long_is_found_out_when_it_is_not() {
    let (plan, root) = plan();
    for seed in 0..12 {
        let random = &mut Random::new(seed);
        let mut arrays = Arrays::random(random, 9000);
        arrays.words[70] = "one of some length".into();
        arrays.words[2999] = "one at the end".into();
        let mut template = Template::first(
            Policy::IDENTICAL,
            EncodeOptions::default(),
            arrays.record(&plan, root),
        )
        .expect("it can be encoded");
        for _ in 0..8 {
            let mut record = arrays.record(&plan, root);
            for _ in 0..random.below(6) {
                let matched = template.update(&mut record);
                assert_eq!(matched.expect("it can be encoded"), Match::Content);
            }
            let place = random.below(9000);
            let digit = char::from(b'0' + random.below(10) as u8);
            match random.below(6) {
                0 => arrays.items[place] = double(random),
                1 => arrays.meshes[place / 2].1 ^= 1,
                2 => arrays.words[70].replace_range(3..4, digit.encode_utf8(&mut [0; 4])),
                3 => arrays.words[2999].replace_range(13..14, digit.encode_utf8(&mut [0; 4])),
                4 => {
                    // Set by itself: the next compare is with what was set.
                    template.set(2 + place, 2.75).expect("it is a double");
                    if random.below(2) == 0 {
                        template.commit().expect("it can be encoded");
                    }
                }
                _ => drop(arrays.words.swap_remove(place / 3)),
            }
            if arrays.words.len() < 3000 {
                arrays.words.push("one at the end".into());
            }
            let record = arrays.record(&plan, root);
            template
                .update(&mut record.clone())
                .expect("it can be encoded");
            assert_consistent(&template);
            assert_eq!(template.record(), Some(&record));
        }
    }
}
