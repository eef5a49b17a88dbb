//! How much memory the Record of a message may take, in proportion to its text.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::decode::{DecodeOptions, Decoder, Error, ErrorKind, Fast};
use bsoap_codec::plan::{Content, ElementId, ParticleId};
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_testkit::decode_paths::DecodePaths;
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, OPTIONAL, Schema};
use proptest::prelude::*;

type Root = (Arc<Plan>, ElementId);

/// Bytes of slots and strings, without unused capacity.
fn used(record: &Record) -> usize {
    size_of_val(record.slots()) + record.heap().len()
}

/// `<r>` with any number of `<w>`, whose type has these children.
fn wide(children: impl Fn(&mut Schema) -> Vec<ParticleId>) -> Root {
    let mut schema = Schema::new();
    let children = children(&mut schema);
    let ty = schema.structure(children);
    let element = schema.element("w", ty);
    let many = schema.of(MANY, element);
    schema.rooted("r", vec![many])
}

/// A type with optional children of this datatype.
fn optional(number: usize, datatype: Datatype) -> Root {
    wide(|schema| {
        let names = (0..number).map(|index| format!("f{index}"));
        names
            .map(|name| schema.field(&name, datatype, OPTIONAL))
            .collect()
    })
}

/// A type whose optional children have children of their own.
fn nested(number: usize) -> Root {
    wide(|schema| {
        let field = |schema: &mut Schema, name: String| {
            let inner = schema.field("x", Datatype::Int, OPTIONAL);
            let ty = schema.structure(vec![inner]);
            schema.child(&name, ty, OPTIONAL)
        };
        (0..number)
            .map(|index| field(schema, format!("f{index}")))
            .collect()
    })
}

/// A type with optional attributes.
fn attributes(number: usize) -> Root {
    let mut schema = Schema::new();
    let ty = schema.ty(Content::Empty);
    let optional = (0..number)
        .map(|index| schema.attribute(&format!("a{index}"), Datatype::Int))
        .collect();
    schema.amend(ty).attributes = optional;
    let element = schema.element("w", ty);
    let many = schema.of(MANY, element);
    schema.rooted("r", vec![many])
}

fn empties(number: usize) -> String {
    format!("<r>{}</r>", "<w/>".repeat(number))
}

fn decode_with(
    (plan, root): &Root,
    options: DecodeOptions,
    text: &str,
) -> (Result<(), Error>, Record) {
    let mut record = Record::new(plan.clone(), *root);
    let mut decoder = Decoder::new(plan.clone(), options);
    let result = decoder.decode_into(*root, text.as_bytes(), &mut record);
    (result, record)
}

fn feed(
    (plan, root): &Root,
    options: DecodeOptions,
    text: &str,
    length: usize,
) -> Result<Record, Error> {
    let mut decoder = Decoder::new(plan.clone(), options);
    decoder.begin(*root);
    for piece in text.as_bytes().chunks(length) {
        decoder.feed(piece)?;
    }
    decoder.finish()
}

#[test]
fn a_record_far_larger_than_its_text_is_refused_early() {
    const FLOOR: usize = 16 << 20;
    for (root, text, name, limit) in [
        // 586 KB of text that became 497 MB.
        (
            optional(212, Datatype::Int),
            empties(146_500),
            "record_per_byte",
            40,
        ),
        (
            optional(1000, Datatype::String),
            empties(100_000),
            "record_floor",
            FLOOR,
        ),
        (
            optional(10_000, Datatype::Double),
            empties(1_000_000),
            "record_per_byte",
            40,
        ),
        (nested(2000), empties(1_000_000), "record_per_byte", 40),
        (attributes(500), empties(500_000), "record_per_byte", 40),
    ] {
        let begun = Instant::now();
        let (result, record) = decode_with(&root, DecodeOptions::default(), &text);
        let (elapsed, allowed) = (begun.elapsed(), FLOOR.max(40 * text.len()));
        let error = result.expect_err(name);
        let limit = limit as u64;
        assert_eq!(*error.kind(), ErrorKind::Limit { name, limit });
        assert!(error.path().starts_with("/r"), "{error}");
        // The element that exceeds the limit is cut short, but for its attributes.
        assert!(used(&record) <= allowed + 8192, "{name} {}", used(&record));
        assert!(record.memory() <= 2 * allowed + 1024, "{}", record.memory());
        assert!(elapsed < Duration::from_secs(5), "{name} {elapsed:?}");
        // In pieces it is refused for the same reason at the same tag.
        let fed = feed(&root, DecodeOptions::default(), &text, 10_000);
        assert_eq!(fed.expect_err(name), error);
    }
}

#[test]
fn an_array_of_a_thousand_nearly_empty_elements_of_a_wide_type_is_accepted() {
    let root = optional(500, Datatype::Int);
    let text = format!("<r>{}</r>", "<w><f7>1</f7></w>".repeat(1000));
    let (result, record) = decode_with(&root, DecodeOptions::default(), &text);
    result.expect("within the floor");
    assert_eq!(record.slots().len(), 1 + 1000 * 1000);
    let fed = feed(&root, DecodeOptions::default(), &text, 100);
    assert_eq!(fed.expect("within the floor"), record);
}

#[test]
fn a_message_in_pieces_waits_for_what_makes_up_for_its_empty_elements() {
    let root = optional(50, Datatype::String);
    let mut options = DecodeOptions::default();
    options.record_floor = 1000;
    // 800 bytes for each of the empty elements, and a long string behind them.
    for (length, is_accepted) in [(1500, false), (2500, true)] {
        let long = format!("<w><f0>{}</f0></w>", "x".repeat(length));
        let text = format!("<r>{}{long}</r>", "<w/>".repeat(100));
        let (result, record) = decode_with(&root, options, &text);
        assert_eq!(result.is_ok(), is_accepted, "{result:?}");
        for piece in [1, 7, 100, 1000, 100_000] {
            let fed = feed(&root, options, &text, piece);
            match &result {
                Ok(()) => assert_eq!(fed.as_ref(), Ok(&record)),
                Err(error) => assert_eq!(fed.as_ref(), Err(error)),
            }
        }
    }
    // It has decoded a fifth of what was fed, for which there is space: 800 bytes for each four bytes.
    let text = empties(100_000);
    let mut decoder = Decoder::new(root.0.clone(), options);
    decoder.begin(root.1);
    decoder.feed(&text.as_bytes()[..200_000]).expect("it waits");
    assert!(decoder.offset() < 40_010, "{}", decoder.offset());
}

#[test]
fn what_a_decoder_learned_of_refused_messages_changes_nothing() {
    let root = wide(|schema| {
        let mut children = vec![schema.field("s", Datatype::String, OPTIONAL)];
        let names = (0..40).map(|index| format!("f{index}"));
        children.extend(names.map(|name| schema.field(&name, Datatype::Int, OPTIONAL)));
        children
    });
    let mut options = DecodeOptions::default();
    (options.record_floor, options.record_per_byte) = (1000, 18);
    let mut slow = options;
    slow.fast = Fast::Off;
    let random = &mut Random::new(7);
    let mut decoder = Decoder::new(root.0.clone(), options);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..400 {
        let item = |random: &mut Random| {
            let length = [0, 3, 10, 30][random.below(4)];
            let number = random.below(100);
            format!("<w><s>{}</s><f3>{number}</f3></w>", "x".repeat(length))
        };
        let items: String = (0..18 + random.below(4)).map(|_| item(random)).collect();
        let text = format!("<r>{items}</r>");
        let found = decoder.decode(root.1, text.as_bytes());
        let (result, record) = decode_with(&root, slow, &text);
        match &result {
            Ok(()) => accepted += 1,
            Err(_) => refused += 1,
        }
        assert_eq!(found, result.map(|()| record));
    }
    assert!(accepted > 20 && refused > 20, "{accepted} {refused}");
}

#[test]
fn the_caller_can_limit_a_record_and_try_again_with_more() {
    let root = optional(10, Datatype::Int);
    let text = empties(100);
    let (_, record) = decode_with(&root, DecodeOptions::default(), &text);
    let mut decoder = Decoder::new(root.0.clone(), DecodeOptions::default());
    for _ in 0..3 {
        decoder.limit_record(used(&record) - 1);
        let error = decoder.decode(root.1, text.as_bytes()).expect_err("more");
        assert!(error.is_record_memory(), "{error}");
        assert!(error.to_string().contains("`record_memory`"), "{error}");
        decoder.begin(root.1);
        let fed = decoder.feed(text.as_bytes());
        assert!(
            fed.and_then(|()| decoder.finish())
                .is_err_and(|it| it.is_record_memory())
        );
        decoder.limit_record(used(&record));
        assert_eq!(decoder.decode(root.1, text.as_bytes()), Ok(record.clone()));
    }
    decoder.limit_record(0);
    decoder.forget();
    assert_eq!(decoder.decode(root.1, text.as_bytes()), Ok(record));
    // Other limits are not its own.
    let mut options = DecodeOptions::default();
    (options.record_floor, options.record_per_byte) = (100, 1);
    let (result, _) = decode_with(&root, options, &text);
    assert!(result.is_err_and(|error| !error.is_record_memory()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A message is refused if and only if its Record has more bytes than its limit, whichever path decodes it.
    #[test]
    fn only_records_beyond_the_proportion_are_refused(seed in any::<u64>()) {
        let random = &mut Random::new(seed);
        let (plan, root) = random_plan(random.next());
        let mut options = DecodeOptions::default();
        options.record_per_byte = random.below(6);
        options.record_floor = random.below(200);
        let mut free = options;
        free.record_floor = usize::MAX;
        let mut paths = DecodePaths::new(&plan, root, options);
        let mut decoder = Decoder::new(plan.clone(), free);
        let style = Style { gap: "", noise: 10, size: 30 };
        for _ in 0..8 {
            let text = message(&plan, root, random, style);
            let agreed = paths.agree(text.as_bytes(), random);
            let is_accepted = agreed.map_err(TestCaseError::fail)?;
            if let Ok(record) = decoder.decode(root, text.as_bytes()) {
                let allowed = options.record_memory(text.len() as u64);
                prop_assert_eq!(is_accepted, used(&record) <= allowed, "{} {}", text, used(&record));
            } else {
                prop_assert!(!is_accepted);
            }
        }
    }
}
