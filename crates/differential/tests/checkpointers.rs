//! Whatever way checkpoints are kept, and whatever came before, a message is the one that a fresh decoder reads.

#[path = "../../codec/tests/common/mod.rs"]
mod common;
mod streams;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_differential::receive::{
    Checkpoints, Crc32ForReproduction, Digest, Mode, Portioned, Portioning, Received, Sameness,
};
use bytes::Bytes;
use common::message::message;
use common::random::{self, Random};
use proptest::prelude::*;
use streams::{Order, check_changes, next, options, order_plan, same, shown_record, style};

/// FCP, DCP, LCP and hashed, as often as not with digests and at other places than usual.
fn ways(random: &mut Random) -> [Portioning; 4] {
    let mut ways = [
        Portioning::full(),
        Portioning::differential(),
        Portioning::lightweight(),
        Portioning::hashed(),
    ];
    for way in &mut ways {
        way.interrupt = [16, 32, 64, 128, 300, 1024][random.below(6)];
        way.buffer = [16, 100, 1000, 32 << 10][random.below(4)];
        way.stands_aside = random.chance(20);
        if random.chance(40) {
            way.sameness = [
                Sameness::Text,
                Sameness::Keyed,
                Sameness::Crc32ForReproduction,
            ][random.below(3)];
        }
    }
    ways
}

fn feed(
    portioned: &mut Portioned,
    root: ElementId,
    text: &[u8],
    random: &mut Random,
) -> Result<Received, Error> {
    portioned.begin(root);
    let largest = [1, 7, 200, 3000][random.below(4)];
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.below(largest)).min(rest.len()));
        portioned.feed(piece)?;
        rest = after;
    }
    portioned.finish()
}

/// One receiver, with what it gave for the message before.
struct One {
    way: Portioning,
    receiver: Portioned,
    before: Option<Record>,
}

struct Stream {
    plan: Arc<Plan>,
    root: ElementId,
    options: DecodeOptions,
    receivers: Vec<One>,
    /// Records that are kept, and what they were.
    kept: Vec<(Arc<Record>, Record)>,
}

impl Stream {
    fn new(plan: Arc<Plan>, root: ElementId, options: DecodeOptions, random: &mut Random) -> Self {
        let one = |way| One {
            way,
            receiver: Portioned::new(plan.clone(), options, way),
            before: None,
        };
        let receivers = ways(random).map(one).into();
        Self {
            plan,
            root,
            options,
            receivers,
            kept: Vec::new(),
        }
    }

    fn check(&mut self, bytes: &[u8], random: &mut Random) -> Result<bool, String> {
        let shown = String::from_utf8_lossy(bytes);
        let mut fresh = Decoder::new(self.plan.clone(), self.options);
        let expected = fresh.decode(self.root, bytes);
        for one in &mut self.receivers {
            let is_whole = random.chance(50);
            let found = match is_whole {
                true => one
                    .receiver
                    .receive(self.root, Bytes::copy_from_slice(bytes)),
                false => feed(&mut one.receiver, self.root, bytes, random),
            };
            let is_same = match (is_whole, &found, &expected) {
                (true, Err(found), Err(expected)) => found == expected,
                _ => same(&found, &expected),
            };
            if !is_same {
                let found = found.as_ref().map(|it| shown_record(&it.record));
                let expected = expected.as_ref().map(shown_record);
                return Err(format!(
                    "{:?} {is_whole} {found:?}\nfresh {expected:?}\n{shown}",
                    one.way
                ));
            }
            let Ok(found) = found else {
                continue;
            };
            if let Some(before) = &one.before {
                check_changes(&found.changes, before, &found.record)
                    .map_err(|what| format!("{:?} {what}\n{shown}", one.way))?;
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

    /// Messages, those in fast mode, and switches to regular mode, by way.
    fn sums(&self) -> Result<[[u64; 3]; 4], TestCaseError> {
        for (kept, was) in &self.kept {
            prop_assert_eq!(&**kept, was, "a Record that is kept was changed");
        }
        let mut sums = [[0; 3]; 4];
        for (sum, one) in sums.iter_mut().zip(&self.receivers) {
            let totals = one.receiver.totals();
            *sum = [totals.messages, totals.fast, totals.restructured];
        }
        Ok(sums)
    }
}

fn check(seed: u64) -> Result<[[u64; 3]; 4], TestCaseError> {
    let mut random = Random::new(seed ^ 0xcc77);
    let (plan, root) = random::plan(seed / 4);
    let mut stream = Stream::new(plan.clone(), root, options(seed), &mut random);
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
    stream.sums()
}

fn check_orders(seed: u64) -> Result<[[u64; 3]; 4], TestCaseError> {
    let mut random = Random::new(seed ^ 0x0dc2);
    let (plan, root) = order_plan();
    let mut stream = Stream::new(plan, root, options(seed), &mut random);
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
    stream.sums()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_read_by_portions_is_the_message_read_afresh(seed in any::<u64>()) {
        check(seed)?;
    }

    #[test]
    fn an_order_read_by_portions_is_the_order_read_afresh(seed in any::<u64>()) {
        check_orders(seed)?;
    }
}

fn sum(check: impl Fn(u64) -> Result<[[u64; 3]; 4], TestCaseError>) -> [[u64; 3]; 4] {
    let mut sums = [[0; 3]; 4];
    for seed in 0..100 {
        let found = check(seed).expect("they agree");
        for (sums, found) in sums.iter_mut().zip(found) {
            for (sum, found) in sums.iter_mut().zip(found) {
                *sum += found;
            }
        }
    }
    eprintln!("messages, in fast mode, switches to regular mode: {sums:?}");
    sums
}

#[test]
fn every_way_is_at_work_on_random_messages() {
    for [messages, fast, switches] in sum(check) {
        assert!(fast * 3 > messages && switches > 100);
    }
}

#[test]
fn every_way_is_at_work_on_orders() {
    for [messages, fast, switches] in sum(check_orders) {
        assert!(fast * 2 > messages && switches > 300);
    }
}

/// Numbers from `from` on, in an order without lines.
fn values(count: usize, changed: impl Fn(usize) -> bool) -> String {
    let mut text = String::from("<order><number>1</number>");
    for index in 0..count {
        let last = if changed(index) { 7 } else { 5 };
        text.push_str(&format!("<v>{}.{index:05}{last}</v>", index % 10));
    }
    text + "</order>"
}

fn all(interrupt: usize) -> [Portioning; 4] {
    let ways = [
        Portioning::full(),
        Portioning::differential(),
        Portioning::lightweight(),
        Portioning::hashed(),
    ];
    ways.map(|mut way| {
        way.interrupt = interrupt;
        way.stands_aside = false;
        way
    })
}

#[test]
fn an_invalid_message_after_a_valid_one_is_told_as_by_a_fresh_decoder_and_the_next_is_right() {
    let (plan, root) = order_plan();
    let valid = values(2000, |_| false);
    let invalid = valid.replacen("1.00001", "1.0x001", 1);
    let late = valid.replacen("</order>", "<v>x</v></order>", 1);
    let mut fresh = Decoder::new(plan.clone(), DecodeOptions::default());
    let expected = fresh.decode(root, valid.as_bytes()).expect("valid");
    for way in all(128) {
        let mut portioned = Portioned::new(plan.clone(), DecodeOptions::default(), way);
        for wrong in [&invalid, &late] {
            for _ in 0..2 {
                let found = portioned
                    .receive(root, valid.clone().into())
                    .expect("valid");
                assert_eq!(*found.record, expected, "{way:?}");
            }
            let told = fresh.decode(root, wrong.as_bytes()).unwrap_err();
            let found = portioned.receive(root, wrong.clone().into()).unwrap_err();
            assert_eq!(found, told, "{way:?}");
        }
    }
}

#[test]
fn a_message_that_comes_again_is_the_same_record_in_fast_mode() {
    let (plan, root) = order_plan();
    let text: Bytes = values(2000, |_| false).into();
    for way in all(128) {
        let mut portioned = Portioned::new(plan.clone(), DecodeOptions::default(), way);
        let one = portioned.receive(root, text.clone()).expect("valid");
        let two = portioned.receive(root, text.clone()).expect("valid");
        assert!(Arc::ptr_eq(&one.record, &two.record) && two.changes.is_none());
        assert_eq!((one.mode, two.mode), (Mode::Regular, Mode::Fast), "{way:?}");
        for piece in [1, 32 << 10] {
            portioned.begin(root);
            for bytes in text.chunks(piece) {
                portioned.feed(bytes).expect("valid");
            }
            let three = portioned.finish().expect("valid");
            assert!(Arc::ptr_eq(&one.record, &three.record), "{way:?}");
        }
    }
}

#[test]
fn what_is_between_changes_is_read_in_fast_mode() {
    let (plan, root) = order_plan();
    let before: Bytes = values(10_000, |_| false).into();
    let after: Bytes = values(10_000, |index| index % 1000 < 50).into();
    for way in all(128) {
        let mut portioned = Portioned::new(plan.clone(), DecodeOptions::default(), way);
        portioned.receive(root, before.clone()).expect("valid");
        let found = portioned.receive(root, after.clone()).expect("valid");
        assert_eq!(found.mode, Mode::Fast);
        let changed = found.changes.count(found.record.slots().len());
        assert!((500..900).contains(&changed), "{way:?} {changed}");
        assert_eq!(portioned.totals().restructured, 10, "{way:?}");
    }
}

#[test]
fn lightweight_checkpoints_are_a_small_part_of_the_others() {
    let (plan, root) = order_plan();
    let text: Bytes = values(100_000, |_| false).into();
    for interrupt in [32, 64, 128, 256, 512, 1024] {
        let [full, differential, lightweight, hashed] = all(interrupt).map(|way| {
            let mut portioned = Portioned::new(plan.clone(), DecodeOptions::default(), way);
            portioned.receive(root, text.clone()).expect("valid");
            let (count, bytes) = portioned.checkpoints();
            (count, bytes, portioned.history_memory())
        });
        eprintln!(
            "N = {interrupt}: checkpoints and bytes: {full:?} {differential:?} {lightweight:?} {hashed:?}"
        );
        assert!(
            lightweight.1 * 10 <= differential.1,
            "a tenth of differential ones"
        );
        assert!(lightweight.1 * 100 <= full.1 * 3, "3 % of full ones");
        assert!(lightweight.1 <= lightweight.0 * 24 + 4096);
        assert!(
            interrupt < 1024 || hashed.2 * 100 <= text.len() * 6,
            "6 % of the text"
        );
    }
}

/// Two texts of digits, as long as each other, that have the same CRC-32: found by linear algebra over their bits.
///
/// CRC-32 is affine: flipping bits of the text flips bits of the sum, those of each place always the same ones. The lowest
/// bit of a digit may be flipped and leaves a digit. Any 33 places have a set whose flips cancel out.
fn forged(template: &str) -> String {
    let crc = |bytes: &[u8]| Crc32ForReproduction.digest(bytes) as u32;
    let bytes = template.as_bytes();
    let digits: Vec<usize> = (0..bytes.len())
        .filter(|&at| bytes[at].is_ascii_digit())
        .take(40)
        .collect();
    let mut rows: Vec<(u32, u64)> = Vec::new();
    for (index, &at) in digits.iter().enumerate() {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1;
        let (mut sum, mut set) = (crc(&flipped) ^ crc(bytes), 1_u64 << index);
        for &(row, members) in &rows {
            if sum >> row.ilog2() & 1 == 1 {
                (sum, set) = (sum ^ row, set ^ members);
            }
        }
        if sum == 0 {
            let mut forged = bytes.to_vec();
            for (index, &at) in digits.iter().enumerate() {
                if set >> index & 1 == 1 {
                    forged[at] ^= 1;
                }
            }
            return String::from_utf8(forged).expect("digits");
        }
        rows.push((sum, set));
    }
    unreachable!("33 vectors of 32 bits are never independent")
}

#[test]
fn a_forged_pair_fools_the_crc_of_the_papers_and_nothing_else() {
    let (plan, root) = order_plan();
    let value = "<v>1234567890123456789012345678901234567890</v>";
    // One portion, so that the forger need not know where they end.
    let one = format!("<order><number>1</number>{value}</order>");
    let other = forged(&one);
    assert_ne!(one, other);
    assert_eq!(
        Crc32ForReproduction.digest(one.as_bytes()),
        Crc32ForReproduction.digest(other.as_bytes())
    );
    let mut fresh = Decoder::new(plan.clone(), DecodeOptions::default());
    let [first, second] =
        [&one, &other].map(|text| fresh.decode(root, text.as_bytes()).expect("valid"));
    assert_ne!(first, second);
    for checkpoints in [
        Checkpoints::Full,
        Checkpoints::Differential,
        Checkpoints::Lightweight,
    ] {
        for sameness in [
            Sameness::Text,
            Sameness::Keyed,
            Sameness::Crc32ForReproduction,
        ] {
            let mut way = Portioning::hashed();
            (way.checkpoints, way.sameness) = (checkpoints, sameness);
            let mut portioned = Portioned::new(plan.clone(), DecodeOptions::default(), way);
            portioned.receive(root, one.clone().into()).expect("valid");
            let found = portioned
                .receive(root, other.clone().into())
                .expect("valid");
            let is_fooled = *found.record == first;
            assert_eq!(
                is_fooled,
                sameness == Sameness::Crc32ForReproduction,
                "{way:?}"
            );
            assert!(is_fooled || *found.record == second);
        }
    }
}
