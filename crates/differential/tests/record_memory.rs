//! The limits on the memory of a Record hold whichever way a message is read.

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_differential::hint::{NAMESPACE, SkeletonCache};
use bsoap_differential::receive::{HistoryCache, HistoryCachePolicy, Portioning, Stream, Way};
use bsoap_testkit::hint::place_for_block;
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::plan::random_envelope_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, OPTIONAL, Schema};
use bytes::Bytes;

fn ways() -> [Way; 5] {
    [
        Way::default(),
        Way::Portions(Portioning::full()),
        Way::Portions(Portioning::differential()),
        Way::Portions(Portioning::lightweight()),
        Way::Portions(Portioning::hashed()),
    ]
}

/// `<r>` with any number of `<w>`, which have a string and forty optional numbers.
fn root() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let mut children = vec![schema.field("s", Datatype::String, OPTIONAL)];
    let names = (0..40).map(|index| format!("f{index}"));
    children.extend(names.map(|name| schema.field(&name, Datatype::Int, OPTIONAL)));
    let ty = schema.structure(children);
    let element = schema.element("w", ty);
    let many = schema.of(MANY, element);
    schema.rooted("r", vec![many])
}

/// A message with some of these elements, whose string makes up for their absent numbers or does not.
fn text(random: &mut Random) -> Bytes {
    let item = |random: &mut Random| {
        let length = [0, 3, 10, 30][random.below(4)];
        let number = random.below(100);
        format!("<w><s>{}</s><f3>{number}</f3></w>", "x".repeat(length))
    };
    let items: String = (0..18 + random.below(4)).map(|_| item(random)).collect();
    format!("<r>{items}</r>").into()
}

#[test]
fn a_message_read_differentially_has_the_limits_of_one_decoded_in_full() {
    let (plan, root) = root();
    let mut options = DecodeOptions::default();
    (options.record_floor, options.record_per_byte) = (1000, 19);
    for way in ways() {
        let random = &mut Random::new(7);
        let mut stream = Stream::new(way, plan.clone(), options);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..400 {
            let message = text(random);
            let full = Decoder::new(plan.clone(), options).decode(root, &message);
            let found = stream
                .receive(root, message)
                .map(|read| Record::clone(&read.record));
            match &full {
                Ok(_) => accepted += 1,
                Err(_) => refused += 1,
            }
            assert_eq!(found, full, "{way:?}");
        }
        assert!(accepted > 40 && refused > 40, "{accepted} {refused}");
    }
}

/// Receives a message with a cache and a limit on its Record.
fn receive(
    cache: &mut HistoryCache,
    (plan, root): &(Arc<Plan>, ElementId),
    message: &Bytes,
    most: usize,
) -> Result<Arc<Record>, Error> {
    let mut checkout = cache.check_out(*root, message);
    checkout.limit_record(most);
    let new = || Decoder::new(plan.clone(), DecodeOptions::default());
    let (received, _) = checkout.receive(*root, message, &mut None, new);
    cache.check_in(checkout);
    received.map(|received| received.record)
}

#[test]
fn the_limit_of_the_caller_holds_in_every_way_and_only_for_one_message() {
    let all = root();
    for way in ways() {
        let mut policy = HistoryCachePolicy::default();
        policy.way = way;
        let mut cache = HistoryCache::new(policy);
        let random = &mut Random::new(3);
        for _ in 0..50 {
            let message = text(random);
            let full = Decoder::new(all.0.clone(), DecodeOptions::default());
            let expected = { full }.decode(all.1, &message).expect("valid");
            let bytes = size_of_val(expected.slots()) + expected.heap().len();
            let refused = receive(&mut cache, &all, &message, bytes - 1);
            assert!(
                refused.is_err_and(|error| error.is_record_memory()),
                "{way:?}"
            );
            let found = receive(&mut cache, &all, &message, usize::MAX);
            assert_eq!(*found.expect("no limit"), expected);
        }
    }
}

#[test]
fn the_limit_of_the_caller_holds_for_messages_with_a_known_hint() {
    let (plan, root) = random_envelope_plan(4);
    let random = &mut Random::new(4);
    let style = Style {
        gap: "",
        noise: 0,
        size: 50,
    };
    let mut text = message(&plan, root, random, style);
    let block = format!("<b:hint xmlns:b=\"{NAMESPACE}\" key=\"{:032x}\"/>", 777);
    match place_for_block(&text).expect("an Envelope") {
        (at, true) => text.insert_str(at, &block),
        (at, false) => text.insert_str(at, &format!("<Header>{block}</Header>")),
    }
    let mut cache = SkeletonCache::default();
    let mut read = |most| {
        let checkout = cache.check_out(root, text.as_bytes());
        let mut checkout = checkout.expect("the message has a hint");
        checkout.limit_record(most);
        let new = || Decoder::new(plan.clone(), DecodeOptions::default());
        let read = checkout.read(root, text.as_bytes(), &mut None, &new);
        cache.check_in(checkout);
        read
    };
    let (learned, counts) = read(usize::MAX);
    assert_eq!((learned.is_ok(), counts.learned), (true, 1));
    let (followed, counts) = read(usize::MAX);
    assert_eq!((followed, counts.followed), (learned, 1));
    let (refused, counts) = read(100);
    assert!(refused.is_err_and(|error| error.is_record_memory()));
    assert_eq!(counts.followed, 0);
    let (followed, counts) = read(usize::MAX);
    assert_eq!((followed.is_ok(), counts.followed), (true, 1));
}
