//! Messages of several streams, received with the histories of a store, are the messages that a fresh decoder reads.

use std::collections::HashMap;
use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_differential::receive::{
    Changes, HistoryCache, HistoryCachePolicy, HistoryCheckout, Mode, ReceiveCounts, Received,
    Stamp,
};
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, Schema};
use bytes::Bytes;
use proptest::prelude::*;

fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("name", Datatype::String, ONCE),
        schema.field("v", Datatype::Double, MANY),
    ];
    schema.rooted("values", children)
}

fn text(name: &str, values: &[f64]) -> String {
    let values: String = values.iter().map(|it| format!("<v>{it}</v>")).collect();
    format!("<values><name>{name}</name>{values}</values>")
}

/// One owner's messages.
struct Owner {
    plan: Arc<Plan>,
    root: ElementId,
    store: HistoryCache,
    #[allow(clippy::vec_box)] // as the checkouts take them
    decoders: Vec<Box<Decoder>>,
    counts: ReceiveCounts,
}

impl Owner {
    fn new(policy: HistoryCachePolicy) -> Self {
        let (plan, root) = plan();
        Self {
            plan,
            root,
            store: HistoryCache::new(policy),
            decoders: Vec::new(),
            counts: ReceiveCounts::default(),
        }
    }

    fn receive(&mut self, text: &str) -> Result<Received, Error> {
        let message = Bytes::copy_from_slice(text.as_bytes());
        let mut checkout = self.store.check_out(self.root, &message);
        let mut decoder = match checkout.wants_decoder() {
            true => self.decoders.pop(),
            false => None,
        };
        let new = || Decoder::new(self.plan.clone(), DecodeOptions::default());
        let (result, mut counts) = checkout.receive(self.root, &message, &mut decoder, new);
        counts.evicted = self.store.check_in(checkout);
        self.decoders.extend(decoder);
        self.counts.add(&counts);
        result
    }

    fn fresh(&self, text: &str) -> Result<Record, Error> {
        let mut decoder = Decoder::new(self.plan.clone(), DecodeOptions::default());
        decoder.decode(self.root, text.as_bytes())
    }
}

/// Slots outside of the spans are what they were.
fn are_right(changes: &Changes, before: &Record, now: &Record) -> bool {
    let (mut b, mut n) = (0, 0);
    let ends = (before.slots().len(), now.slots().len());
    let spans = changes.spans().map(|span| (span.before, span.now));
    for (old, new) in spans.chain([(ends.0..ends.0, ends.1..ends.1)]) {
        let same = old.start.checked_sub(b) == new.start.checked_sub(n)
            && (b..old.start).zip(n..new.start).all(|(b, n)| {
                let (b, n) = (before.slots()[b], now.slots()[n]);
                b == n || before.octets(b) == now.octets(n)
            });
        if !same {
            return false;
        }
        (b, n) = (old.end, new.end);
    }
    true
}

#[test]
fn the_third_message_of_a_kind_is_compared_with_the_second() {
    let mut owner = Owner::new(HistoryCachePolicy::default());
    let values: Vec<f64> = (0..300).map(|it| f64::from(it) / 3.0).collect();
    let modes: Vec<Mode> = (0..5)
        .map(|round| {
            let mut values = values.clone();
            values[17] = f64::from(round);
            owner.receive(&text("a", &values)).expect("a message").mode
        })
        .collect();
    assert_eq!(
        modes,
        [
            Mode::Bypassed,
            Mode::Regular,
            Mode::Fast,
            Mode::Fast,
            Mode::Fast
        ]
    );
    let counts = owner.counts;
    assert_eq!(
        (counts.plain, counts.reads.regular, counts.reads.fast),
        (1, 1, 3)
    );
    assert_eq!(counts.reads.values, 3);
    assert_eq!(counts.reads.slots - counts.reads.unchanged_slots, 3);
    assert_eq!(counts.messages(), 5);
}

#[test]
fn streams_that_look_the_same_from_outside_get_a_history_each() {
    let mut owner = Owner::new(HistoryCachePolicy::default());
    let stream = |seed: u64| -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..500)
            .map(|_| random.below(1 << 30) as f64 / 1024.0)
            .collect()
    };
    let streams = [stream(1), stream(2), stream(3)];
    for round in 0..20 {
        for values in &streams {
            let mut values = values.clone();
            values[round * 7] = 0.5;
            let arrived = owner.receive(&text("a", &values)).expect("a message");
            if round > 10 {
                assert_eq!(arrived.mode, Mode::Fast);
                assert!(arrived.changes.count(arrived.record.slots().len()) < 5);
            }
        }
    }
    assert!(
        (3..=4).contains(&owner.store.len()),
        "{}",
        owner.store.len()
    );
}

#[test]
fn a_message_that_comes_again_byte_for_byte_is_only_compared() {
    let mut owner = Owner::new(HistoryCachePolicy::default());
    let [one, other] = [1.5, 2.5].map(|value| text("a", &[value; 20]));
    for message in [&one, &one, &one, &other, &one, &one] {
        let arrived = owner.receive(message).expect("a message");
        assert_eq!(*arrived.record, owner.fresh(message).expect("a message"));
    }
    let arrived = owner.receive(&one).expect("a message");
    assert!(arrived.changes.is_none() && arrived.since.is_some());
    assert!(owner.receive(&one[..one.len() - 1]).is_err());
    // With a byte order mark it is another text of the same values.
    let marked = format!("\u{feff}{one}");
    for _ in 0..3 {
        let arrived = owner.receive(&marked).expect("a message");
        assert_eq!(*arrived.record, owner.fresh(&one).expect("a message"));
    }
}

#[test]
fn a_stream_that_does_not_repeat_is_hardly_ever_compared() {
    let mut owner = Owner::new(HistoryCachePolicy::default());
    let mut random = Random::new(7);
    for _ in 0..400 {
        let length = 50 + random.below(100);
        let values: Vec<f64> = (0..length)
            .map(|_| random.below(1 << 30) as f64 / 1024.0)
            .collect();
        owner.receive(&text("a", &values)).expect("a message");
    }
    let counts = owner.counts;
    assert!(counts.bypassed > 300, "{counts:?}");
    assert!(counts.reads.fast + counts.reads.failed < 50, "{counts:?}");
    assert!(owner.store.len() <= 4, "{}", owner.store.len());
}

#[test]
fn windows_that_slide_get_a_history_each() {
    let mut owner = Owner::new(HistoryCachePolicy::default());
    let window = |stream: usize, from: usize| {
        let value = |row: usize| ((row * 7919 + stream * 104_729) % 100_000) as f64;
        let values: Vec<f64> = (from..from + 1000).map(value).collect();
        text("window", &values)
    };
    let mut unchanged = Vec::new();
    for from in (0..100).step_by(4) {
        for stream in 0..3 {
            let text = window(stream, from);
            let before = owner.counts.reads.unchanged_slots;
            let received = owner.receive(&text).unwrap();
            assert_eq!(*received.record, owner.fresh(&text).unwrap());
            unchanged.push(owner.counts.reads.unchanged_slots - before);
        }
    }
    // Once each of them has a history, all but the new rows are unchanged.
    assert!(
        unchanged[30..].iter().all(|&slots| slots > 900),
        "{unchanged:?}"
    );
}

#[test]
fn the_least_recently_used_history_is_evicted_and_counted_when_the_limit_is_reached() {
    let mut policy = HistoryCachePolicy::default();
    policy.bytes = 100_000;
    let mut owner = Owner::new(policy);
    for round in 0..30 {
        for stream in 0..20 {
            // An end of its own makes a kind of its own.
            let text = text("a", &[f64::from(round); 300]);
            let text = text + &"\n".repeat(stream);
            let arrived = owner.receive(&text).expect("a message");
            assert_eq!(*arrived.record, owner.fresh(&text).expect("a message"));
            assert!(owner.store.memory() < 120_000, "{}", owner.store.memory());
        }
    }
    assert!(owner.counts.evicted > 0);
    owner.store.pause();
    assert!(owner.store.is_empty());
}

#[test]
fn a_history_is_checked_out_by_one_at_a_time() {
    let mut owner = Owner::new(HistoryCachePolicy::default());
    let text = text("a", &[1.5; 300]);
    for _ in 0..3 {
        owner.receive(&text).expect("a message");
    }
    let message = Bytes::copy_from_slice(text.as_bytes());
    let checkouts: Vec<_> = (0..10)
        .map(|_| owner.store.check_out(owner.root, &message))
        .collect();
    let wants: Vec<bool> = checkouts
        .iter()
        .map(HistoryCheckout::wants_decoder)
        .collect();
    assert_eq!(wants, [[false].as_slice(), &[true; 9]].concat());
    for mut checkout in checkouts {
        let new = || Decoder::new(owner.plan.clone(), DecodeOptions::default());
        let (result, _) = checkout.receive(owner.root, &message, &mut None, new);
        assert_eq!(
            *result.expect("a message").record,
            owner.fresh(&text).unwrap()
        );
        owner.store.check_in(checkout);
    }
    assert_eq!(owner.store.len(), HistoryCachePolicy::default().histories);
}

fn check(seed: u64) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed);
    let mut policy = HistoryCachePolicy::default();
    policy.histories = 1 + random.below(4);
    policy.kinds = [1, 3, 64][random.below(3)];
    policy.bytes = [20_000, 1 << 20][random.below(2)];
    let mut owner = Owner::new(policy);
    let mut streams: Vec<Vec<f64>> = (0..3)
        .map(|_| {
            (0..random.below(200))
                .map(|_| random.below(1000) as f64)
                .collect()
        })
        .collect();
    let mut known: HashMap<Stamp, Arc<Record>> = HashMap::new();
    for _ in 0..60 {
        let which = random.below(streams.len());
        let values = &mut streams[which];
        for _ in 0..random.below(4) {
            let at = random.below(values.len() + 1);
            match random.below(8) {
                0 => values.insert(at, 0.25),
                1 if at < values.len() => drop(values.remove(at)),
                _ if at < values.len() => values[at] = random.below(100_000) as f64 / 8.0,
                _ => {}
            }
        }
        let mut text = text(["a", "bc"][random.below(2)], values);
        if random.chance(10) {
            text.truncate(random.below(text.len()));
        } else if random.chance(5) {
            text = text.replacen("<v>", "<v>x", 1);
        }
        let (found, expected) = (owner.receive(&text), owner.fresh(&text));
        match (found, expected) {
            (Ok(found), Ok(expected)) => {
                prop_assert_eq!(&*found.record, &expected);
                if let Some(since) = found.since {
                    let before = &known[&since];
                    prop_assert!(
                        are_right(&found.changes, before, &found.record),
                        "{:?}",
                        found.changes
                    );
                } else {
                    prop_assert!(found.changes.is_all());
                }
                if let Some(stamp) = found.stamp {
                    // A copy: what nobody holds may be changed in place.
                    known.insert(stamp, Arc::new(expected));
                }
            }
            (Err(found), Err(expected)) => prop_assert_eq!(found, expected),
            (found, expected) => prop_assert!(false, "{:?} is not {:?}", found, expected),
        }
    }
    prop_assert_eq!(owner.counts.messages(), 60);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_of_interleaved_streams_are_those_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        check(seed)?;
    }
}
