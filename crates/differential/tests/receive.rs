//! Whatever came before, a message read differentially is the message that a fresh decoder reads.

#[path = "../../codec/tests/common/mod.rs"]
mod common;
mod streams;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_differential::receive::{Exact, Mode, Policy, Way};
use bytes::Bytes;
use common::message::{Style, message};
use common::random::{self, Random};
use proptest::prelude::*;
use streams::session::{messages, orders, sums};

fn policy(random: &mut Random) -> Policy {
    let mut policy = Policy::default();
    policy.stands_aside = random.chance(20);
    policy.spacing = [None, Some(16), Some(64), Some(300), Some(1000)][random.below(5)];
    policy
}

fn ways(random: &mut Random) -> Vec<(Way, usize)> {
    [100, 0, 50]
        .map(|whole| (Way::Exact(policy(random)), whole))
        .into()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_read_differentially_is_the_message_read_afresh(seed in any::<u64>()) {
        messages(seed, ways)?;
    }

    #[test]
    fn an_order_read_differentially_is_the_order_read_afresh(seed in any::<u64>()) {
        orders(seed, ways)?;
    }
}

#[test]
fn many_random_messages_are_read_as_what_differs() {
    for sum in sums(150, |seed| messages(seed, ways)) {
        assert!(sum.fast * 3 > sum.messages);
        assert!(sum.touched > 100 && sum.restructured > 150);
    }
}

#[test]
fn most_orders_are_read_as_what_differs() {
    for sum in sums(150, |seed| orders(seed, ways)) {
        assert!(sum.fast * 3 > sum.messages * 2);
        assert!(sum.touched > 3000 && sum.restructured > 1000);
    }
}

#[test]
fn the_same_message_again_is_the_same_record() {
    let (plan, root) = random::plan(5);
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
    let mut exact = Exact::new(plan, DecodeOptions::default());
    let message = Bytes::from(text);
    let one = exact.receive(root, message.clone()).expect("valid");
    let two = exact.receive(root, message).expect("valid");
    assert!(Arc::ptr_eq(&one.record, &two.record) && two.changes.is_none());
    assert_eq!((one.mode, two.mode), (Mode::Regular, Mode::Fast));
}

/// Pieces of a text that is full of what is replaced.
const PIECES: [&str; 18] = [
    "a",
    "some words ",
    "&lt;",
    "&gt;",
    "&amp;",
    "&apos;",
    "&quot;",
    "&#65;",
    "&#x1F600;",
    ";",
    "\r",
    "\n",
    "\r\n",
    "]",
    "é",
    "\u{FFFD}",
    "\t",
    "]]&gt;",
];
/// Those that no text can hold.
const WRONG: [&str; 7] = ["&other;", "&", "]]>", "\u{FFFE}", "&#0;", "&lt", "\u{1}"];

fn piece(random: &mut Random) -> &'static str {
    match random.chance(1) {
        true => WRONG[random.below(WRONG.len())],
        false => PIECES[random.below(PIECES.len())],
    }
}

fn check_strings(seed: u64) -> Result<[u64; 4], TestCaseError> {
    let mut random = Random::new(seed ^ 0x57a1);
    let mut schema = common::schema::Schema::new();
    let children = vec![
        schema.field(1, 1, "before", bsoap_datatypes::Datatype::Int),
        schema.field(1, 3, "text", bsoap_datatypes::Datatype::String),
        schema.field(0, 1, "token", bsoap_datatypes::Datatype::Token),
    ];
    let (plan, root) = schema.rooted("strings", children);
    let options = DecodeOptions::default();
    let exact = |random: &mut Random| Exact::with_policy(plan.clone(), options, policy(random));
    let mut stream = Stream {
        plan: plan.clone(),
        root,
        options,
        whole: exact(&mut random),
        fed: exact(&mut random),
        both: exact(&mut random),
        kept: Vec::new(),
        before: [None, None, None],
    };
    let mut texts: Vec<Vec<&str>> = (0..3)
        .map(|_| (0..random.below(60)).map(|_| piece(&mut random)).collect())
        .collect();
    let mut forms: Vec<usize> = (0..3).map(|_| random.below(8)).collect();
    for round in 0..16 {
        let mut message = String::from("<strings><before>7</before>");
        for (index, (text, form)) in texts.iter().zip(&forms).enumerate() {
            let (text, name) = (text.concat(), ["text", "text", "token"][index]);
            let (open, close) = match form {
                0 => ("<![CDATA[", "]]>"),
                1 => ("<!-- front -->", ""),
                2 => ("", "<!-- behind -->"),
                3 => ("<![CDATA[", "]]>and"),
                _ => ("", ""),
            };
            message.push_str(&format!("<{name}>{open}{text}{close}</{name}>"));
        }
        message.push_str("</strings>");
        let mut bytes = message.into_bytes();
        if random.chance(2) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let is_valid = stream
            .check(&bytes, &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        if !is_valid && round % 3 == 0 {
            texts
                .iter_mut()
                .for_each(|text| text.retain(|piece| !WRONG.contains(piece)));
        }
        for _ in 0..random.below(4) {
            let text = &mut texts[random.below(3)];
            let at = random.below(text.len() + 1);
            match random.below(3) {
                0 => text.insert(at, piece(&mut random)),
                1 if at < text.len() => drop(text.remove(at)),
                _ if at < text.len() => text[at] = piece(&mut random),
                _ => {}
            }
        }
        if random.chance(5) {
            let which = random.below(3);
            forms[which] = random.below(8);
        }
    }
    for (kept, was) in &stream.kept {
        prop_assert_eq!(&**kept, was, "a Record that is kept was changed");
    }
    let totals = stream.whole.totals();
    Ok([
        totals.messages,
        totals.fast,
        totals.touched,
        totals.restructured,
    ])
}

#[test]
fn strings_with_references_and_sections_are_read_as_what_differs() {
    let mut sums = [0; 4];
    for seed in 0..1500 {
        let found = check_strings(seed).expect("they agree");
        for (sum, found) in sums.iter_mut().zip(found) {
            *sum += found;
        }
    }
    let [messages, fast, touched, restructured] = sums;
    eprintln!("messages, fast, values touched, restructured: {sums:?}");
    assert!(fast * 3 > messages && touched > restructured);
}
