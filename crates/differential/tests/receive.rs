//! Whatever came before, a message read differentially is the message that a fresh decoder reads.

#[path = "../../codec/tests/common/mod.rs"]
mod common;
mod streams;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_differential::receive::{Exact, Mode, Policy, Received};
use bytes::Bytes;
use common::message::{Style, message};
use common::random::{self, Random};
use proptest::prelude::*;
use streams::{Order, check_changes, next, options, order_plan, same, shown_record, style};

fn policy(random: &mut Random) -> Policy {
    let mut policy = Policy::default();
    policy.stands_aside = random.chance(20);
    policy.spacing = [None, Some(16), Some(64), Some(300), Some(1000)][random.below(5)];
    policy
}

fn feed(
    exact: &mut Exact,
    root: ElementId,
    text: &[u8],
    random: &mut Random,
) -> Result<Received, Error> {
    exact.begin(root);
    let largest = [1, 7, 200, 3000][random.below(4)];
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.below(largest)).min(rest.len()));
        exact.feed(piece)?;
        rest = after;
    }
    exact.finish()
}

struct Stream {
    plan: Arc<Plan>,
    root: ElementId,
    options: DecodeOptions,
    whole: Exact,
    fed: Exact,
    both: Exact,
    /// Records that are kept, and what they were.
    kept: Vec<(Arc<Record>, Record)>,
    before: [Option<Arc<Record>>; 3],
}

impl Stream {
    fn check(&mut self, bytes: &[u8], random: &mut Random) -> Result<bool, String> {
        let shown = String::from_utf8_lossy(bytes);
        let mut fresh = Decoder::new(self.plan.clone(), self.options);
        let expected = fresh.decode(self.root, bytes);
        let message = Bytes::copy_from_slice(bytes);
        let whole = self.whole.receive(self.root, message.clone());
        let fed = feed(&mut self.fed, self.root, bytes, random);
        let both = match random.chance(50) {
            true => self.both.receive(self.root, message),
            false => feed(&mut self.both, self.root, bytes, random),
        };
        for (name, found) in [("whole", &whole), ("fed", &fed), ("both", &both)] {
            let is_same = match (name, found, &expected) {
                ("whole", Err(found), Err(expected)) => found == expected,
                _ => same(found, &expected),
            };
            if !is_same {
                let found = found.as_ref().map(|it| shown_record(&it.record));
                let expected = expected.as_ref().map(shown_record);
                return Err(format!("{name} {found:?}\nfresh {expected:?}\n{shown}"));
            }
        }
        for (index, found) in [&whole, &fed, &both].into_iter().enumerate() {
            let Ok(found) = found else {
                continue;
            };
            if let Some(before) = &self.before[index] {
                check_changes(&found.changes, before, &found.record)
                    .map_err(|what| format!("{what}\n{shown}"))?;
            }
            if random.chance(30) {
                self.kept
                    .push((found.record.clone(), (*found.record).clone()));
            }
            // What is not held may be changed in place.
            self.before[index] = Some(Arc::new((*found.record).clone()));
        }
        Ok(expected.is_ok())
    }
}

fn check(seed: u64) -> Result<[u64; 4], TestCaseError> {
    let mut random = Random::new(seed ^ 0x5151);
    let (plan, root) = random::plan(seed / 4);
    let options = options(seed);
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
    let style = style(&mut random);
    let mut text = message(&plan, root, &mut random, style);
    for round in 0..12 {
        let other = message(&plan, root, &mut random, style);
        let bytes = match random.below(12) {
            _ if round == 0 => text.clone().into_bytes(),
            0 => other.clone().into_bytes(),
            1 => text.clone().into_bytes(),
            _ => next(&text, &other, &mut random),
        };
        let is_valid = stream
            .check(&bytes, &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        if let (true, Ok(valid)) = (is_valid, String::from_utf8(bytes)) {
            text = valid;
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

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_read_differentially_is_the_message_read_afresh(seed in any::<u64>()) {
        check(seed)?;
    }

    #[test]
    fn an_order_read_differentially_is_the_order_read_afresh(seed in any::<u64>()) {
        check_orders(seed)?;
    }
}

fn check_orders(seed: u64) -> Result<[u64; 4], TestCaseError> {
    let mut random = Random::new(seed ^ 0x0de2);
    let (plan, root) = order_plan();
    let options = options(seed);
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
    let mut order = Order::new(&mut random);
    let gap = ["", "\n  "][random.below(2)];
    for _ in 0..12 {
        stream
            .check(order.text(gap).as_bytes(), &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        for _ in 0..[0, 1, 1, 2, 5, 20][random.below(6)] {
            order.change(&mut random);
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

fn sum(check: impl Fn(u64) -> Result<[u64; 4], TestCaseError>) -> [u64; 4] {
    let mut sums = [0; 4];
    for seed in 0..150 {
        let found = check(seed).expect("they agree");
        for (sum, found) in sums.iter_mut().zip(found) {
            *sum += found;
        }
    }
    eprintln!("messages, fast, values touched, restructured: {sums:?}");
    sums
}

#[test]
fn many_random_messages_are_read_as_what_differs() {
    let [messages, fast, touched, restructured] = sum(check);
    assert!(fast * 3 > messages && touched > 100 && restructured > 200);
}

#[test]
fn most_orders_are_read_as_what_differs() {
    let [messages, fast, touched, restructured] = sum(check_orders);
    assert!(fast * 3 > messages * 2 && touched > 3000 && restructured > 1000);
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
