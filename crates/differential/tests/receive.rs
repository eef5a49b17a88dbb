//! Whatever came before, a message read differentially is the message that a fresh decoder reads.

mod streams;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{Mode, Policy, Stream, Way};
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, OPTIONAL, Schema};
use bytes::Bytes;
use proptest::prelude::*;
use streams::order_plan;
use streams::session::{deviations, messages, orders, rows, strings, sums};

fn policy(random: &mut Random) -> Policy {
    let mut policy = Policy::default();
    policy.may_bypass = random.chance(20);
    policy.spacing = [None, Some(16), Some(64), Some(300), Some(1000)][random.below(5)];
    policy
}

fn ways(random: &mut Random) -> Vec<Way> {
    (0..3).map(|_| Way::Exact(policy(random))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_read_differentially_is_the_message_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        messages(seed, ways)?;
    }

    #[test]
    fn an_order_read_differentially_is_the_order_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        orders(seed, ways)?;
    }

    #[test]
    fn arrays_and_rows_read_differentially_are_those_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        rows(seed, ways)?;
    }

    #[test]
    fn strings_read_differentially_are_those_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        strings(seed, ways)?;
    }

    #[test]
    fn a_message_read_differentially_has_the_warnings_of_a_fresh_decoder(seed in any::<u64>()) {
        deviations(seed, ways)?;
    }
}

#[test]
fn messages_with_warnings_are_compared_too() {
    let fast = sums(100, |seed| deviations(seed, ways));
    assert!(fast.iter().all(|sum| sum.reads.fast * 3 > sum.messages()));
}

#[test]
fn a_checkpoint_that_was_passed_is_no_distance_away() {
    orders(15925723107017602096, ways).expect("as a fresh decoder reads it");
}

#[test]
fn many_random_messages_are_read_as_what_differs() {
    for sum in sums(150, |seed| messages(seed, ways)) {
        assert!(sum.reads.fast * 3 > sum.messages());
        assert!(sum.reads.values > 100 && sum.reads.restructured > 100);
    }
}

#[test]
fn most_orders_are_read_as_what_differs() {
    for sum in sums(150, |seed| orders(seed, ways)) {
        assert!(sum.reads.fast * 3 > sum.messages() * 2);
        assert!(sum.reads.values > 3000 && sum.reads.restructured > 1000);
    }
}

#[test]
fn the_same_message_again_is_the_same_record() {
    let (plan, root) = random_plan(5);
    let mut random = Random::new(5);
    let style = Style {
        gap: "",
        noise: 0,
        size: 100,
    };
    let text = (0..)
        .map(|_| message(&plan, root, &mut random, style))
        .find(|text| {
            Decoder::new(plan.clone(), DecodeOptions::default())
                .decode(root, text.as_bytes())
                .is_ok()
        })
        .expect("one is valid");
    let mut exact = Stream::new(Way::default(), plan, DecodeOptions::default());
    let message = Bytes::from(text);
    let one = exact.receive(root, message.clone()).expect("valid");
    let two = exact.receive(root, message).expect("valid");
    assert!(Arc::ptr_eq(&one.record, &two.record) && two.changes.is_none());
    assert_eq!((one.mode, two.mode), (Mode::Regular, Mode::Fast));
}

#[test]
fn strings_with_references_and_sections_are_read_as_what_differs() {
    for sum in sums(600, |seed| strings(seed, ways)) {
        assert!(sum.reads.fast * 3 > sum.messages() && sum.reads.values > sum.reads.restructured);
    }
}

#[test]
fn arrays_and_rows_are_read_as_what_differs() {
    for sum in sums(300, |seed| rows(seed, ways)) {
        assert!(sum.reads.fast * 2 > sum.messages() && sum.reads.values > 10 * sum.messages());
    }
}

#[test]
fn a_value_where_others_have_a_marker_is_read_again() {
    messages(14808871335890364776, ways).expect("as a fresh decoder reads it");
}

#[test]
fn white_space_behind_an_empty_string_is_none_of_it() {
    let (plan, root) = order_plan();
    let mut exact = Stream::new(Way::default(), plan.clone(), DecodeOptions::default());
    for gap in ["", "\n", "\n ", "  \n", "<!-- -->"] {
        let text = format!(
            "<order><number>1</number><line sku='a' quantity='1'><tag></tag>{gap}</line><v>1</v></order>"
        );
        let found = exact.receive(root, Bytes::from(text.clone()));
        let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
        let expected = decoder.decode(root, text.as_bytes()).expect("valid");
        assert!(*found.expect("valid").record == expected, "{text}");
    }
    messages(14062961115511806074, ways).expect("as a fresh decoder reads it");
}

#[test]
fn a_value_read_twice_has_changed() {
    messages(4127243780777447291, ways).expect("as a fresh decoder reads it");
}

/// A string of any length, now and then with what is replaced, or looked at.
fn word(random: &mut Random) -> String {
    let most = [8, 40, 40, 90][random.below(4)];
    let length = 1 + random.below(most);
    let mut word: String = (0..length)
        .map(|_| char::from(b'a' + random.below(26) as u8))
        .collect();
    match random.below(12) {
        0 => word.push_str("&amp;"),
        1 => word.insert(0, 'é'),
        2 => word.push_str("]]"),
        3 => word.insert_str(0, "\r\n&#x41;"),
        _ => {}
    }
    word
}

#[test]
fn strings_that_are_now_longer_and_now_shorter_keep_their_capacity() {
    let mut schema = Schema::new();
    let items = schema.field("item", Datatype::String, MANY);
    let behind = schema.field("behind", Datatype::String, OPTIONAL);
    let (plan, root) = schema.rooted("values", vec![items, behind]);
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut words: Vec<String> = (0..300).map(|_| word(&mut random)).collect();
        let mut exact = Stream::new(Way::default(), plan.clone(), DecodeOptions::default());
        let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
        let mut held = Vec::new();
        for round in 0..60 {
            // Runs and single ones; sometimes one more or less.
            for _ in 0..random.below(4) {
                let from = random.below(words.len());
                let to = (from + [1, 1, 30, 200][random.below(4)]).min(words.len());
                words[from..to].fill_with(|| word(&mut random));
            }
            match random.below(20) {
                0 => drop(words.pop()),
                1 => words.insert(random.below(words.len()), word(&mut random)),
                _ => {}
            }
            let items: String = words
                .iter()
                .map(|word| format!("<item>{word}</item>"))
                .collect();
            let text = format!(
                "<values>{items}<behind>{}</behind></values>",
                word(&mut random)
            );
            let found = exact
                .receive(root, Bytes::from(text.clone()))
                .expect("valid");
            let expected = decoder.decode(root, text.as_bytes()).expect("valid");
            assert!(*found.record == expected, "seed {seed}, round {round}");
            // Somebody may hold it for a while; it does not change.
            if random.chance(20) {
                held.push((found.record, expected));
            }
            if random.chance(20) {
                held.clear();
            }
            assert!(held.iter().all(|(one, other)| **one == *other));
        }
    }
}

#[test]
fn two_messages_by_turns_make_the_heap_grow_once() {
    let mut schema = Schema::new();
    let items = schema.field("item", Datatype::String, MANY);
    let (plan, root) = schema.rooted("values", vec![items]);
    let mut random = Random::new(3);
    let mut words: Vec<String> = (0..1000).map(|_| word(&mut random)).collect();
    let text = |words: &[String]| {
        let items = words.iter().map(|word| format!("<item>{word}</item>"));
        Bytes::from(format!("<values>{}</values>", items.collect::<String>()))
    };
    let one = text(&words);
    words[300..600].fill_with(|| word(&mut random));
    let texts = [one, text(&words)];
    let mut policy = Policy::default();
    policy.may_bypass = false;
    let mut exact = Stream::new(Way::Exact(policy), plan, DecodeOptions::default());
    let heaps = (0..40).map(|round| {
        let found = exact.receive(root, texts[round % 2].clone());
        let record = found.expect("valid").record;
        record.heap().len()
    });
    let heaps: Vec<usize> = heaps.collect();
    assert!(heaps[4..].iter().all(|&heap| heap == heaps[4]), "{heaps:?}");
    assert!(exact.counts().reads.fast > 30);
}
