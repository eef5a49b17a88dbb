//! A decoder can be asked for its state anywhere, set back to it, and go on as if nothing had happened.

use std::sync::Arc;

use bsoap_codec::decode::{
    Checkpoint, DecodeOptions, Decoder, Deviation, Error, ErrorKind, Piece, Trace, Validation,
};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, Schema};
use proptest::prelude::*;

type Outcome = Result<Record, Error>;

/// Text that is not well-formed may be reported in other words if less of it was there to be seen.
fn same(one: &Outcome, other: &Outcome) -> bool {
    let is_xml = |error: &Error| matches!(error.kind(), ErrorKind::Xml(_));
    match (one, other) {
        (Err(one), Err(other)) => one == other || is_xml(one) || is_xml(other),
        _ => one == other,
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Reads on to the end in random pieces, and takes checkpoints on the way.
fn read(
    decoder: &mut Decoder,
    text: &str,
    mut record: Record,
    random: &mut Random,
    mut see: impl FnMut(Checkpoint),
) -> Outcome {
    let largest = [3, 20, 200, 2000][random.below(4)];
    let mut cut = decoder.offset() as usize;
    loop {
        cut = boundary(text, (cut + 1 + random.below(largest)).min(text.len()));
        // What has been read may have been let go.
        let base = boundary(text, random.below(decoder.offset() as usize + 1));
        let base = base.min(decoder.offset() as usize);
        let piece = Piece {
            text: &text[base..cut],
            base: base as u64,
            last: cut == text.len(),
            beyond: 0,
        };
        let last = piece.last;
        decoder.read(piece, &mut record, None)?;
        see(decoder.checkpoint(&record));
        if last {
            return Ok(record);
        }
    }
}

/// From a checkpoint to the end, into a Record that has nothing but what comes then; put together afterwards.
fn read_detached(
    decoder: &mut Decoder,
    text: &str,
    from: &Checkpoint,
    whole: &Record,
    random: &mut Random,
) -> Outcome {
    let plan = decoder.plan().clone();
    let loops = from.loops(&plan);
    let mut rest = whole.clone();
    {
        let (slots, heap) = rest.parts_mut();
        slots.clear();
        slots.resize(loops.len(), 0);
        heap.truncate(from.heap());
    }
    let mut detached = from.clone();
    let mut next = 0;
    detached.renumber(&plan, loops.len(), from.offset(), |it| {
        it.slot = next;
        next += 1;
    });
    assert!(decoder.resume(&detached));
    let rest = read(decoder, text, rest, random, |_| {})?;
    let mut record = whole.clone();
    let (slots, heap) = record.parts_mut();
    slots.truncate(from.slots());
    for (index, it) in loops.iter().enumerate() {
        slots[it.slot as usize] = rest.slots()[index];
    }
    slots.extend_from_slice(&rest.slots()[loops.len()..]);
    *heap = rest.heap().to_vec();
    Ok(record)
}

fn options(seed: u64) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    if seed.is_multiple_of(3) {
        options.validation = Validation::Full;
    }
    if seed.is_multiple_of(5) {
        options.accepted = (options.accepted)
            .with(Deviation::UnknownElement)
            .with(Deviation::UnknownAttribute);
    }
    options
}

fn text(plan: &Plan, root: ElementId, random: &mut Random, broken: bool) -> String {
    let style = Style {
        gap: ["", "\n   "][random.below(2)],
        noise: [0, 1, 20][random.below(3)],
        size: [10, 50, 300][random.below(3)],
    };
    let mut text = message(plan, root, random, style);
    if broken {
        let at = boundary(&text, random.below(text.len()));
        match random.below(3) {
            0 => text.truncate(at),
            1 => text.insert_str(at, ["<", "&", "x", "</a>", "]]>"][random.below(5)]),
            _ => {
                let end = boundary(&text, (at + random.below(40)).min(text.len()));
                text.replace_range(at..end, "");
            }
        }
    }
    text
}

fn check(seed: u64, broken: bool) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed ^ 0x1234);
    let (plan, root) = random_plan(seed / 4);
    let mut decoder = Decoder::new(plan.clone(), options(seed));
    for _ in 0..3 {
        let text = text(&plan, root, &mut random, broken);
        let expected = Decoder::new(plan.clone(), options(seed)).decode(root, text.as_bytes());
        let mut checkpoints = Vec::new();
        decoder.start(root);
        checkpoints.push(decoder.checkpoint(&Record::new(plan.clone(), root)));
        let record = Record::new(plan.clone(), root);
        let found = read(&mut decoder, &text, record, &mut random, |it| {
            checkpoints.push(it);
        });
        prop_assert!(same(&found, &expected), "{found:?}\n{expected:?}\n{text}");
        for _ in 0..12 {
            let from = random.pick(&checkpoints);
            prop_assert!(decoder.agree(from, from));
            prop_assert!(decoder.resume(from));
            let Ok(whole) = &found else {
                // Up to the error there is no Record to compare: the error must come again.
                let mut record = Record::new(plan.clone(), root);
                record.parts_mut().0.resize(from.slots(), 0);
                record.parts_mut().1.resize(from.heap(), 0);
                let again = read(&mut decoder, &text, record, &mut random, |_| {});
                prop_assert!(same(&again, &expected), "{again:?}\n{expected:?}\n{text}");
                continue;
            };
            let mut record = whole.clone();
            from.cut(&mut record);
            let again = read(&mut decoder, &text, record, &mut random, |_| {});
            prop_assert!(same(&again, &expected), "{again:?}\n{expected:?}\n{text}");
            let again = read_detached(&mut decoder, &text, from, whole, &mut random);
            prop_assert!(same(&again, &expected), "{again:?}\n{expected:?}\n{text}");
        }
    }
    Ok(())
}

/// The trace's location of a value is right, and the value can be read again from it.
fn check_trace(seed: u64) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed ^ 0x77);
    let (plan, root) = random_plan(seed / 4);
    let mut decoder = Decoder::new(plan.clone(), options(seed));
    for _ in 0..3 {
        let text = text(&plan, root, &mut random, false);
        let mut expected = Record::new(plan.clone(), root);
        let mut fresh = Decoder::new(plan.clone(), options(seed));
        let outcome = fresh.decode_into(root, text.as_bytes(), &mut expected);
        let (mut record, mut trace) = (Record::new(plan.clone(), root), Trace::default());
        decoder.start(root);
        let piece = Piece {
            text: &text,
            base: 0,
            last: true,
            beyond: 0,
        };
        let found = decoder.read(piece, &mut record, Some(&mut trace));
        prop_assert_eq!(&found, &outcome);
        if outcome.is_err() {
            continue;
        }
        trace.fit(record.slots().len(), text.len() as u32);
        prop_assert!(trace.starts.is_sorted());
        for (slot, (&start, &site)) in trace.starts.iter().zip(&trace.sites).enumerate() {
            if site.leaf().is_none() {
                continue;
            }
            let (mut again, whole) = (record.clone(), record.clone());
            if let Some((value, _)) =
                decoder.read_again(site, text.as_bytes(), start as usize, &mut again)
            {
                again.parts_mut().0[slot] = value;
                prop_assert_eq!(&again, &whole, "slot {} at {} of\n{}", slot, start, text);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn resumed_anywhere_the_record_is_the_same(seed in any::<u64>()) {
        check(seed, false)?;
    }

    #[test]
    fn resumed_anywhere_the_error_is_the_same(seed in any::<u64>()) {
        check(seed, true)?;
    }

    #[test]
    fn a_value_read_again_where_the_trace_says_is_the_same(seed in any::<u64>()) {
        check_trace(seed)?;
    }
}

#[test]
fn checkpoints_agree_where_only_counts_differ() {
    let mut schema = Schema::new();
    let items = schema.field("i", Datatype::Double, MANY);
    let (plan, root): (Arc<Plan>, ElementId) = schema.rooted("v", vec![items]);
    let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
    let mut at = |text: &str, from: &str| {
        let mut record = Record::new(plan.clone(), root);
        decoder.start(root);
        let piece = Piece {
            text,
            base: 0,
            last: false,
            beyond: 0,
        };
        decoder.read(piece, &mut record, None).expect(from);
        decoder.checkpoint(&record)
    };
    let one = at("<v><i>1</i>", "one");
    let two = at("<v><i>1</i><i>2</i>", "two");
    let inside = at("<v><i>1</i><i>", "inside");
    let half = at("<v><i>1</i><i>2", "half");
    let bound = at("<v xmlns:p='urn:p'><i>1</i>", "bound");
    assert!(decoder.agree(&one, &two) && one.is_between() && one != two);
    assert!(!decoder.agree(&one, &inside) && inside.is_between());
    assert!(!decoder.agree(&one, &bound));
    assert!(!half.is_between() || half == inside || decoder.agree(&half, &inside));
    assert_eq!(one.loops(&plan)[0].count + 1, two.loops(&plan)[0].count);
    decoder.forget();
    assert!(!decoder.resume(&bound));
}

#[test]
fn an_opening_resumed_behind_other_slots_is_not_taken_for_that_of_a_message() {
    let mut schema = Schema::new();
    let items = schema.field("i", Datatype::String, MANY);
    let (plan, root) = schema.rooted("v", vec![items]);
    let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
    let text = "<v><i>one</i><i>two</i></v>";
    let expected = decoder.decode(root, text.as_bytes()).expect("valid");
    decoder.start(root);
    let start = decoder.checkpoint(&Record::new(plan.clone(), root));
    assert!(decoder.resume(&start));
    let mut record = expected.clone();
    let piece = Piece {
        text,
        base: 0,
        last: true,
        beyond: 0,
    };
    decoder
        .read(piece, &mut record, None)
        .expect("valid, behind other slots");
    assert_eq!(record.slots()[3], 2);
    assert_eq!(record.text(record.slots()[5]), "two");
    let again = decoder.decode(root, text.as_bytes()).expect("valid");
    assert_eq!(again.heap(), expected.heap());
    assert_eq!(again, expected);
}
