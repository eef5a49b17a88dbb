//! Whatever way checkpoints are kept, and whatever came before, a message is the one that a fresh decoder reads.

mod streams;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{
    Checkpoints, Crc32ForReproduction, Digest, Mode, Portioning, Sameness, Stream, Way,
};
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, Schema};
use bytes::Bytes;
use proptest::prelude::*;
use streams::order_plan;
use streams::session::{deviations, messages, orders, rows, strings, sums};

/// FCP, DCP, LCP and hashed, as often as not with digests and at other places than usual.
fn ways(random: &mut Random) -> Vec<Way> {
    let ways = [
        Portioning::full(),
        Portioning::differential(),
        Portioning::lightweight(),
        Portioning::hashed(),
    ];
    let other = |mut way: Portioning| {
        way.interrupt = [16, 32, 64, 128, 300, 1024][random.below(6)];
        way.buffer = [16, 100, 1000, 32 << 10][random.below(4)];
        way.may_bypass = random.chance(20);
        if random.chance(40) {
            way.sameness = [
                Sameness::Text,
                Sameness::Keyed,
                Sameness::Crc32ForReproduction,
            ][random.below(3)];
        }
        Way::Portions(way)
    };
    ways.map(other).into()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_read_by_portions_is_the_message_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        messages(seed, ways)?;
    }

    #[test]
    fn an_order_read_by_portions_is_the_order_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        orders(seed, ways)?;
    }

    #[test]
    fn a_message_read_by_portions_has_the_warnings_of_a_fresh_decoder(seed in any::<u64>()) {
        deviations(seed, ways)?;
    }
}

#[test]
fn every_way_is_at_work_on_random_messages() {
    for sum in sums(100, |seed| messages(seed, ways)) {
        assert!(sum.reads.fast * 3 > sum.messages() && sum.reads.restructured > 100);
    }
}

/// An item came, and values changed behind it; then values changed within what had moved.
#[test]
fn the_groups_around_one_that_is_carried_over_are_carried_over() {
    messages(14345572114336224799, ways).expect("they agree");
}

/// The tag of the root was interrupted where less of it had been seen than before: its end was passed in vain, and of two
/// errors behind it the second.
#[test]
fn of_two_errors_the_first_is_reported() {
    messages(10073095953277410506, ways).expect("they agree");
}

/// A place was noted between two occurrences of a repeated sequence by the number of occurrences, instead of the next child:
/// the optional last child was written a second time, as absent.
#[test]
fn a_sequence_that_repeats_is_resumed_behind_its_last_child() {
    messages(15905205544425644358, ways).expect("they agree");
}

/// The items of an array end with an absent child. A place behind an item was noted without the slot of that child, which
/// the next item wrote: it was written twice.
#[test]
fn an_absent_child_at_the_end_of_an_item_is_written_once() {
    messages(2631119212032553293, ways).expect("they agree");
}

#[test]
fn strings_with_references_are_read_by_portions_as_by_a_fresh_decoder() {
    sums(100, |seed| strings(seed, ways));
}

#[test]
fn arrays_and_rows_are_read_by_portions_as_by_a_fresh_decoder() {
    sums(40, |seed| rows(seed, ways));
}

#[test]
fn every_way_is_at_work_on_orders() {
    for sum in sums(100, |seed| orders(seed, ways)) {
        assert!(sum.reads.fast * 2 > sum.messages() && sum.reads.restructured > 300);
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
        way.may_bypass = false;
        way
    })
}

#[test]
fn an_invalid_message_after_a_valid_one_gives_the_error_of_a_fresh_decoder_and_the_next_is_right() {
    let (plan, root) = order_plan();
    let valid = values(2000, |_| false);
    let invalid = valid.replacen("1.00001", "1.0x001", 1);
    let late = valid.replacen("</order>", "<v>x</v></order>", 1);
    let mut fresh = Decoder::new(plan.clone(), DecodeOptions::default());
    let expected = fresh.decode(root, valid.as_bytes()).expect("valid");
    for way in all(128) {
        let mut portioned = Stream::new(Way::Portions(way), plan.clone(), DecodeOptions::default());
        for wrong in [&invalid, &late] {
            for _ in 0..2 {
                let found = portioned
                    .receive(root, valid.clone().into())
                    .expect("valid");
                assert_eq!(*found.record, expected, "{way:?}");
            }
            let expected = fresh.decode(root, wrong.as_bytes()).unwrap_err();
            let found = portioned.receive(root, wrong.clone().into()).unwrap_err();
            assert_eq!(found, expected, "{way:?}");
        }
    }
}

#[test]
fn a_message_that_comes_again_is_the_same_record_in_fast_mode() {
    let (plan, root) = order_plan();
    let text: Bytes = values(2000, |_| false).into();
    for way in all(128) {
        let mut portioned = Stream::new(Way::Portions(way), plan.clone(), DecodeOptions::default());
        let one = portioned.receive(root, text.clone()).expect("valid");
        let two = portioned.receive(root, text.clone()).expect("valid");
        assert!(Arc::ptr_eq(&one.record, &two.record) && two.changes.is_none());
        assert_eq!((one.mode, two.mode), (Mode::Regular, Mode::Fast), "{way:?}");
    }
}

#[test]
fn what_is_between_changes_is_read_in_fast_mode() {
    let (plan, root) = order_plan();
    let before: Bytes = values(10_000, |_| false).into();
    let after: Bytes = values(10_000, |index| index % 1000 < 50).into();
    for way in all(128) {
        let mut portioned = Stream::new(Way::Portions(way), plan.clone(), DecodeOptions::default());
        portioned.receive(root, before.clone()).expect("valid");
        let found = portioned.receive(root, after.clone()).expect("valid");
        assert_eq!(found.mode, Mode::Fast);
        let changed = found.changes.count(found.record.slots().len());
        assert!((500..900).contains(&changed), "{way:?} {changed}");
        assert_eq!(portioned.counts().reads.restructured, 10, "{way:?}");
    }
}

/// In a long text there is no place: after two interrupts without one, a complete state is kept wherever the decoder is.
#[test]
fn two_interrupts_in_a_row_are_never_passed_over() {
    let (plan, root) = order_plan();
    let text = |last: &str| -> Bytes {
        let note = "a long note without an end, ".repeat(20_000);
        format!("<order><number>1</number><note>{note}{last}</note><v>1</v></order>").into()
    };
    let (before, after) = (text("here"), text("there"));
    let mut fresh = Decoder::new(plan.clone(), DecodeOptions::default());
    let expected = fresh.decode(root, &after).expect("valid");
    for mut way in all(128) {
        way.buffer = 1000;
        let mut portioned = Stream::new(Way::Portions(way), plan.clone(), DecodeOptions::default());
        portioned.receive(root, before.clone()).expect("valid");
        let (count, bytes) = portioned.checkpoints();
        let found = portioned.receive(root, after.clone()).expect("valid");
        assert_eq!(*found.record, expected, "{way:?}");
        if way.sameness == Sameness::Keyed {
            // Where no text is kept, what of one is read so far is not kept either.
            assert!(bytes * 100 < before.len(), "{way:?} {bytes}");
            continue;
        }
        assert_eq!(found.mode, Mode::Fast, "{way:?}");
        // Each is twice as far from the one before as that from its own: 2⁹ buffers.
        assert!((9..40).contains(&count), "{way:?} {count}");
        assert!(bytes < 4 * before.len(), "{way:?} {bytes}");
    }
}

/// What is matched are the namespaces that are bound, not how they were declared.
#[test]
fn fast_mode_resumes_where_the_same_prefixes_are_declared_otherwise() {
    let mut schema = Schema::new();
    let item = schema.field("v", Datatype::Double, MANY);
    let (plan, root) = schema.rooted("root", vec![item]);
    let text = |declared: &str, changed: usize| -> Bytes {
        let values: String = (0..5000)
            .map(|index| {
                let last = if index == changed { 7 } else { 5 };
                format!("<v>{}.{index:05}{last}</v>", index % 10)
            })
            .collect();
        format!("<root{declared}>{values}</root>").into()
    };
    let declared = [
        " xmlns:a='urn:a' xmlns:b='urn:b'",
        " xmlns:b=\"urn:b\"  xmlns:a=\"urn:a\"",
        " xmlns:a='urn:b' xmlns:b='urn:a'",
        " xmlns:a='urn:b'",
        " xmlns:a='urn:b'",
    ];
    let has_same_bindings = [false, true, false, false, true];
    let mut fresh = Decoder::new(plan.clone(), DecodeOptions::default());
    for way in all(128) {
        let mut portioned = Stream::new(Way::Portions(way), plan.clone(), DecodeOptions::default());
        for (round, declared) in declared.iter().enumerate() {
            let text = text(declared, round * 100);
            let expected = fresh.decode(root, &text).expect("valid");
            let found = portioned.receive(root, text).expect("valid");
            assert_eq!(*found.record, expected, "{way:?} {declared}");
            let changed = found.changes.count(found.record.slots().len());
            assert_eq!(
                changed < 200,
                has_same_bindings[round],
                "{way:?} {declared}: {changed}"
            );
        }
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
            let mut portioned =
                Stream::new(Way::Portions(way), plan.clone(), DecodeOptions::default());
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
