//! One stream of messages, received in several ways at once, each against a fresh decoder.

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Tolerance};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_differential::receive::{ReceiveCounts, Stream, Way};
use bytes::Bytes;
use proptest::prelude::*;

use super::deviations::Deviating;
use super::rows::Rows;
use super::strings::Strings;
use super::{Order, check_changes, next, options, order_plan, shown_record, style};
use bsoap_testkit::message::message;
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;

/// The ways to be tried.
pub(crate) type Ways = fn(&mut Random) -> Vec<Way>;

/// One receiver, with what it gave for the message before.
struct One {
    stream: Stream,
    before: Option<Record>,
}

struct Session {
    plan: Arc<Plan>,
    root: ElementId,
    options: DecodeOptions,
    receivers: Vec<One>,
    /// Records that are kept, and what they were.
    kept: Vec<(Arc<Record>, Record)>,
}

impl Session {
    fn new((plan, root): (Arc<Plan>, ElementId), options: DecodeOptions, ways: Vec<Way>) -> Self {
        let one = |way| One {
            stream: Stream::new(way, plan.clone(), options),
            before: None,
        };
        let receivers = ways.into_iter().map(one).collect();
        Self {
            plan,
            root,
            options,
            receivers,
            kept: Vec::new(),
        }
    }

    /// Receives a message in every way. Whether it is valid, or what differs.
    fn check(&mut self, bytes: &[u8], random: &mut Random) -> Result<bool, String> {
        let shown = String::from_utf8_lossy(bytes);
        let expected = Decoder::new(self.plan.clone(), self.options).decode(self.root, bytes);
        for one in &mut self.receivers {
            let message = Bytes::copy_from_slice(bytes);
            let found = one.stream.receive(self.root, message);
            let is_same = match (&found, &expected) {
                (Ok(found), Ok(expected)) => {
                    *found.record == *expected
                        && found.record.warnings() == expected.warnings()
                        && found.record.check().is_ok() == expected.check().is_ok()
                }
                (Err(found), Err(expected)) => found == expected,
                _ => false,
            };
            let way = one.stream.way();
            if !is_same {
                let found = found.as_ref().map(|it| shown_record(&it.record));
                let expected = expected.as_ref().map(shown_record);
                return Err(format!("{way:?} {found:?}\nfresh {expected:?}\n{shown}"));
            }
            let Ok(found) = found else {
                continue;
            };
            if let Some(before) = &one.before {
                check_changes(&found.changes, before, &found.record)
                    .map_err(|what| format!("{way:?} {what}\n{shown}"))?;
            }
            if random.chance(30) {
                self.kept
                    .push((found.record.clone(), (*found.record).clone()));
            }
            // What is not held may be changed in place.
            one.before = Some((*found.record).clone());
        }
        Ok(expected.is_ok())
    }

    /// What has been done in each way.
    fn end(&self) -> Result<Vec<ReceiveCounts>, TestCaseError> {
        for (kept, was) in &self.kept {
            prop_assert_eq!(&**kept, was, "a Record that is kept was changed");
        }
        Ok(self
            .receivers
            .iter()
            .map(|it| *it.stream.counts())
            .collect())
    }
}

/// Random messages of a random Plan, most of them like the one before.
pub(crate) fn messages(seed: u64, ways: Ways) -> Result<Vec<ReceiveCounts>, TestCaseError> {
    let mut random = Random::new(seed ^ 0x5151);
    let (plan, root) = random_plan(seed / 4);
    let ways = ways(&mut random);
    let mut session = Session::new((plan.clone(), root), options(seed), ways);
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
        let is_valid = session
            .check(&bytes, &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        if let (true, Ok(valid)) = (is_valid, String::from_utf8(bytes)) {
            text = valid;
        }
    }
    session.end()
}

/// An order that changes, and stays valid.
pub(crate) fn orders(seed: u64, ways: Ways) -> Result<Vec<ReceiveCounts>, TestCaseError> {
    let mut random = Random::new(seed ^ 0x0de2);
    let ways = ways(&mut random);
    let mut session = Session::new(order_plan(), options(seed), ways);
    let mut order = Order::new(&mut random);
    let gap = ["", "\n  "][random.below(2)];
    for _ in 0..12 {
        session
            .check(order.text(gap).as_bytes(), &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        for _ in 0..[0, 1, 1, 2, 5, 20][random.below(6)] {
            order.change(&mut random);
        }
    }
    session.end()
}

/// Messages that deviate from their schema here and there, in each mode.
pub(crate) fn deviations(seed: u64, ways: Ways) -> Result<Vec<ReceiveCounts>, TestCaseError> {
    let mut random = Random::new(seed ^ 0xde71);
    let ways = ways(&mut random);
    let modes = [
        Tolerance::Strict,
        Tolerance::Default,
        Tolerance::Lenient,
        Tolerance::Lenient,
    ];
    let mut options = DecodeOptions::default();
    options.accepted = (*random.pick(&modes)).into();
    options.warnings = [2, 100][random.below(2)];
    let mut session = Session::new(Deviating::plan(), options, ways);
    let mut lines = Deviating::new(&mut random);
    for _ in 0..16 {
        session
            .check(lines.text().as_bytes(), &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        for _ in 0..random.below(4) {
            lines.change(&mut random);
        }
    }
    session.end()
}

/// Strings of which parts change, some of them to what no text can hold.
pub(crate) fn strings(seed: u64, ways: Ways) -> Result<Vec<ReceiveCounts>, TestCaseError> {
    let mut random = Random::new(seed ^ 0x57a1);
    let ways = ways(&mut random);
    let mut session = Session::new(Strings::plan(), DecodeOptions::default(), ways);
    let mut strings = Strings::new(&mut random);
    for round in 0..16 {
        let mut bytes = strings.text().into_bytes();
        if random.chance(2) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let is_valid = session
            .check(&bytes, &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        if !is_valid && round % 3 == 0 {
            strings.correct();
        }
        for _ in 0..random.below(4) {
            strings.change(&mut random);
        }
    }
    session.end()
}

/// Arrays and rows of which runs change, come and go.
pub(crate) fn rows(seed: u64, ways: Ways) -> Result<Vec<ReceiveCounts>, TestCaseError> {
    let mut random = Random::new(seed ^ 0x6057);
    let ways = ways(&mut random);
    // Bounded, or unbounded.
    let most = [200, u32::MAX][random.below(2)];
    let mut session = Session::new(Rows::plan(most), options(seed), ways);
    let mut rows = Rows::new(&mut random, 150);
    for _ in 0..10 {
        let mut bytes = rows.text().into_bytes();
        if random.chance(3) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        session
            .check(&bytes, &mut random)
            .map_err(|difference| TestCaseError::fail(format!("seed {seed}: {difference}")))?;
        for _ in 0..random.below(4) {
            rows.change(&mut random);
        }
    }
    session.end()
}

/// What was done in each way for all seeds below `seeds`.
pub(crate) fn sums(
    seeds: u64,
    check: impl Fn(u64) -> Result<Vec<ReceiveCounts>, TestCaseError>,
) -> Vec<ReceiveCounts> {
    let mut sums: Vec<ReceiveCounts> = Vec::new();
    for seed in 0..seeds {
        let found = check(seed).expect("they agree");
        sums.resize(found.len(), ReceiveCounts::default());
        for (sum, found) in sums.iter_mut().zip(found) {
            sum.add(&found);
        }
    }
    eprintln!("{sums:#?}");
    sums
}
