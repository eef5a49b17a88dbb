//! Whatever a hint says, a message read with it is the message that a fresh decoder reads; and others read it too.

#[allow(dead_code, unused_imports)] // it serves other tests too
mod streams;

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Piece, Trace};
use bsoap_codec::encode::{EncodeOptions, Encoder};
use bsoap_codec::plan::{ElementId, NamespaceConstraint, ProcessContents, Wildcard};
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::Datatype;
use bsoap_differential::hint::{HintCounts, NAMESPACE, SkeletonCachePolicy, Writer};
use bsoap_testkit::hint::{HintReader, key_and_lengths, place_for_block};
use bsoap_testkit::message::message;
use bsoap_testkit::plan::random_envelope_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{ONCE, Schema};
use proptest::prelude::*;
use streams::{next, options, shown_record, style};

/// A block that is right, half right, or wrong.
fn block(plan: &Arc<Plan>, root: ElementId, text: &str, random: &mut Random) -> String {
    let (mut record, mut trace) = (Record::new(plan.clone(), root), Trace::default());
    let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
    decoder.start(root);
    let piece = Piece {
        text,
        base: 0,
        last: true,
        beyond: 0,
    };
    let is_read = decoder.read(piece, &mut record, Some(&mut trace));
    let (mut key, mut at) = match is_read {
        Ok(()) => key_and_lengths(text, &trace),
        Err(_) => (7, String::new()),
    };
    at.truncate(1000);
    if random.chance(15) {
        key = 3;
    }
    match random.below(12) {
        0 => at.clear(),
        1 => at.truncate(random.below(at.len() + 1)),
        2 => at.push('A'),
        3 => at = "*3E~zz;".to_owned(),
        4 if !at.is_empty() => {
            let lies = [
                "@",
                "}",
                "~",
                "*9",
                ";",
                "~ffffffffffffffff;",
                "<",
                "&",
                ":",
                "\n",
                "é",
            ];
            let lie = *random.pick(&lies);
            let from = random.below(at.len());
            at.replace_range(from..=from, lie);
        }
        _ => {}
    }
    let at = match (at.is_empty(), random.chance(3)) {
        (_, true) => " at=\"a:b &lt;\"".to_owned(),
        (true, _) => String::new(),
        (false, _) => format!(" at=\"{at}\""),
    };
    format!("<b:hint xmlns:b=\"{NAMESPACE}\" key=\"{key:032x}\"{at}/>")
}

/// A message with a block where it belongs, most often.
fn hinted(text: &str, block: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    if random.chance(3) {
        let at = (0..=text.len()).filter(|&at| text.is_char_boundary(at));
        let places: Vec<usize> = at.collect();
        text.insert_str(*random.pick(&places), block);
        return text;
    }
    match place_for_block(&text) {
        Some((at, true)) => text.insert_str(at, block),
        Some((at, false)) => text.insert_str(at, &format!("<Header>{block}</Header>")),
        None => text.push_str(block),
    }
    text
}

struct Session {
    plan: Arc<Plan>,
    root: ElementId,
    options: DecodeOptions,
    reader: HintReader,
    /// Records that are kept, and what they were.
    kept: Vec<(Arc<Record>, Record)>,
}

impl Session {
    fn new((plan, root): (Arc<Plan>, ElementId), options: DecodeOptions) -> Self {
        Self {
            reader: HintReader::new(plan.clone(), options, SkeletonCachePolicy::default()),
            plan,
            root,
            options,
            kept: Vec::new(),
        }
    }

    fn check(&mut self, bytes: &[u8], random: &mut Random) -> Result<bool, String> {
        let expected = Decoder::new(self.plan.clone(), self.options).decode(self.root, bytes);
        let found = self.reader.receive(self.root, bytes);
        let is_same = match (&found, &expected) {
            (Ok(found), Ok(expected)) => {
                **found == *expected && found.warnings() == expected.warnings()
            }
            (Err(found), Err(expected)) => found == expected,
            _ => false,
        };
        if !is_same {
            let found = found.as_ref().map(|it| shown_record(it));
            let expected = expected.as_ref().map(shown_record);
            let shown = String::from_utf8_lossy(bytes);
            return Err(format!("hinted {found:?}\nfresh {expected:?}\n{shown}"));
        }
        if let (Ok(found), true) = (found, random.chance(30)) {
            self.kept.push((found.clone(), (*found).clone()));
        }
        Ok(expected.is_ok())
    }

    fn end(self) -> Result<HintCounts, String> {
        for (kept, was) in &self.kept {
            if **kept != *was {
                return Err("a Record that is kept was changed".to_owned());
            }
        }
        Ok(*self.reader.counts())
    }
}

fn check(seed: u64) -> Result<HintCounts, String> {
    let mut random = Random::new(seed ^ 0x7171);
    let (plan, root) = random_envelope_plan(seed / 4);
    let mut session = Session::new((plan.clone(), root), options(seed));
    let style = style(&mut random);
    let mut text = message(&plan, root, &mut random, style);
    for round in 0..12 {
        let other = message(&plan, root, &mut random, style);
        let changed = match random.below(12) {
            _ if round == 0 => text.clone().into_bytes(),
            0 => other.clone().into_bytes(),
            1 => text.clone().into_bytes(),
            _ => next(&text, &other, &mut random),
        };
        let Ok(changed) = String::from_utf8(changed) else {
            continue;
        };
        let block = block(&plan, root, &changed, &mut random);
        let mut message = hinted(&changed, &block, &mut random).into_bytes();
        if random.chance(5) {
            message.truncate(random.below(message.len()));
        }
        if random.chance(5) && !message.is_empty() {
            let at = random.below(message.len());
            message[at] = [b'<', b'&', 0, 0xff, b'"', b'7'][random.below(6)];
        }
        let is_valid = session.check(&message, &mut random)?;
        if is_valid {
            text = changed;
        }
    }
    session.end()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_read_with_a_hint_is_the_message_that_a_fresh_decoder_reads(seed in any::<u64>()) {
        check(seed).map_err(|what| TestCaseError::fail(format!("seed {seed}: {what}")))?;
    }

    #[test]
    fn what_a_sender_hints_at_is_followed_and_read_by_others(seed in any::<u64>()) {
        own(seed).map_err(|what| TestCaseError::fail(format!("seed {seed}: {what}")))?;
    }
}

/// Messages of our own sender. How many were followed, of how many.
fn own(seed: u64) -> Result<[u64; 2], String> {
    let mut random = Random::new(seed ^ 0x1717);
    let (plan, root) = random_envelope_plan(seed / 4);
    let mut session = Session::new((plan.clone(), root), DecodeOptions::default());
    let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
    let (mut writer, mut hints) = (Writer::new(), 0);
    let style = style(&mut random);
    let mut before = message(&plan, root, &mut random, style);
    for _ in 0..12 {
        let other = message(&plan, root, &mut random, style);
        let text = next(&before, &other, &mut random);
        let Ok(record) = decoder.decode(root, &text) else {
            continue;
        };
        before = String::from_utf8(text).expect("it was read");
        let (mut plain, mut text) = (Vec::new(), Vec::new());
        if Encoder::default().encode(&record, &mut plain).is_err() {
            continue;
        }
        let hint = writer.write(&record, EncodeOptions::default(), &mut text);
        let Some(hint) = hint.map_err(|error| error.to_string())? else {
            continue;
        };
        hints += 1;
        if plain != text {
            return Err("the text is another with a hint".to_owned());
        }
        let whole = hint.within(&text);
        session.check(&whole, &mut random)?;
        let shown = String::from_utf8_lossy(&whole);
        let document = roxmltree::Document::parse(&shown).map_err(|error| error.to_string())?;
        let first = document
            .root_element()
            .first_element_child()
            .and_then(|header| header.first_element_child());
        if first.is_none_or(|it| it.tag_name().namespace() != Some(NAMESPACE)) {
            return Err(format!("the block is not the first of the header: {shown}"));
        }
        // Without the header, it is the message as it was.
        let rest = [&whole[..hint.at], &whole[hint.at + hint.text.len()..]].concat();
        if rest != plain {
            return Err(format!("more than the hint was added: {shown}"));
        }
    }
    session.end().map(|counts| [counts.followed, hints])
}

#[test]
fn most_true_hints_are_followed() {
    let mut sums = HintCounts::default();
    let mut own_sums = [0; 2];
    for seed in 0..300 {
        sums.add(&check(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}")));
        let own = own(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        own_sums = [0, 1].map(|index| own_sums[index] + own[index]);
    }
    assert!(
        sums.followed > 100 && sums.missed > 20 && sums.errors > 100,
        "{sums:?}"
    );
    assert!(own_sums[0] * 5 > own_sums[1], "{own_sums:?}");
}

#[test]
fn skeletons_stay_within_their_budget_and_keys_that_never_come_again_are_not_learned_for_long() {
    let (plan, root) = random_envelope_plan(4);
    let mut policy = SkeletonCachePolicy::default();
    (policy.skeletons, policy.bytes) = (4, 20_000);
    let mut reader = HintReader::new(plan.clone(), DecodeOptions::default(), policy);
    let mut random = Random::new(4);
    let style = style(&mut random);
    let text = message(&plan, root, &mut random, style);
    assert!(reader.receive(root, text.as_bytes()).is_ok(), "{text}");
    for key in 0..200 {
        let block = format!("<b:hint xmlns:b=\"{NAMESPACE}\" key=\"{key:032x}\"/>");
        let text = hinted(&text, &block, &mut Random::new(99));
        assert!(reader.receive(root, text.as_bytes()).is_ok());
        assert!(reader.cache().len() <= 4 && reader.cache().memory() <= 24_000);
    }
    let counts = reader.counts();
    assert!(counts.learned < 20 && counts.plain > 150, "{counts:?}");
    // One that comes again is.
    for _ in 0..3 {
        let block = format!("<b:hint xmlns:b=\"{NAMESPACE}\" key=\"{:032x}\"/>", 777);
        let text = hinted(&text, &block, &mut Random::new(99));
        assert!(reader.receive(root, text.as_bytes()).is_ok());
    }
    assert_eq!(reader.counts().followed, 1);
}

#[test]
fn what_an_attribute_must_not_contain_is_reported_of_a_hint_too() {
    let (plan, root) = random_envelope_plan(4);
    let mut random = Random::new(4);
    let style = style(&mut random);
    let text = message(&plan, root, &mut random, style);
    let mut session = Session::new((plan.clone(), root), DecodeOptions::default());
    let teach = (0..40).find(|_| {
        let block = block(&plan, root, &text, &mut random);
        let is_plain = block.contains("at=\"");
        let message = hinted(&text, &block, &mut Random::new(99));
        let checked = session.check(message.as_bytes(), &mut random);
        checked.unwrap_or_else(|what| panic!("{what}"));
        is_plain
    });
    assert!(teach.is_some());
    for odd in ["<", "&", ":", "\n", "\u{1}", "\"", "'", " ", "~"] {
        for _ in 0..20 {
            let block = block(&plan, root, &text, &mut random);
            let Some(at) = block.find("at=\"").map(|at| at + 4) else {
                continue;
            };
            let Some(length) = block[at..].find('"').filter(|&length| length > 0) else {
                continue;
            };
            let mut block = block;
            let from = at + random.below(length);
            if block.is_char_boundary(from) && block.is_char_boundary(from + 1) {
                block.replace_range(from..=from, odd);
            }
            let message = hinted(&text, &block, &mut Random::new(99));
            let checked = session.check(message.as_bytes(), &mut random);
            checked.unwrap_or_else(|what| panic!("{what}"));
        }
    }
}

/// What is empty points at octets of the heap, too, though at none: they must be there in the Records that follow.
#[test]
fn what_is_empty_in_the_first_message_stays_within_the_record() {
    let mut schema = Schema::new();
    let anything = Wildcard {
        namespaces: NamespaceConstraint::Any,
        process: ProcessContents::Skip,
    };
    let blocks = schema.any((0, 9), anything);
    let header = schema.structure(vec![blocks]);
    let header = schema.element("header", header);
    let header = schema.of(ONCE, header);
    let octets = schema.field("octets", Datatype::HexBinary, ONCE);
    let number = schema.field("number", Datatype::Int, ONCE);
    let (plan, root) = schema.rooted("all", vec![header, octets, number]);
    let mut session = Session::new((plan, root), DecodeOptions::default());
    let text = |at: &str, number: u32| {
        format!(
            "<all><header><b:hint xmlns:b=\"{NAMESPACE}\" key=\"{:032x}\" at=\"{at}\"/></header><octets/><number>{number}</number></all>",
            7
        )
    };
    // The block of the first is longer than the budget of the others.
    for message in [text(&"~".repeat(900), 1), text("A", 2), text("B", 34)] {
        let checked = session.check(message.as_bytes(), &mut Random::new(1));
        assert_eq!(checked, Ok(true));
    }
    assert_eq!(session.reader.counts().followed, 2);
}
