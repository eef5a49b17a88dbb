//! A message written piece by piece is the message written at once.

use std::sync::Arc;

use bsoap_codec::encode::{
    Holder, LeafForm, LeafRef, PadPlace, PieceEncoder, Places, State, Stop, Stuffing,
    escape_attribute, escape_content,
};
use bsoap_codec::plan::{Content, ElementId, LeafKind, TypeDef};
use bsoap_codec::{Decoder, EncodeOptions, Plan, Record, Value, build, encode};
use bsoap_datatypes::{Datatype, SimpleType, binary, boolean, double, float, integer};

use bsoap_testkit::message::{Style, message, strict};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

/// A reported location: slot, offset from the first byte, length, width, leaf.
type Reported = (usize, usize, usize, usize, LeafRef);

/// Records all reports, with offsets from the first byte of the message.
#[derive(Default)]
struct Remember {
    before: usize,
    reported: Vec<Reported>,
}

impl Places for Remember {
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef) {
        let reported = (slot, self.before + offset, length, width, leaf);
        self.reported.push(reported);
    }
}

/// Random messages of random Plans.
fn records(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Record)> {
    seeds.filter_map(|seed| {
        let random = &mut Random::new(seed);
        let (plan, root) = random_plan(seed);
        let size = *random.pick(&[10, 60, 200]);
        let style = Style {
            gap: "",
            noise: 10,
            size,
        };
        let given = message(&plan, root, random, style);
        let mut decoder = Decoder::new(plan, strict());
        let record = decoder.decode(root, given.as_bytes()).ok()?;
        Some((seed, record))
    })
}

/// The message in pieces, the State at the start of each, and all places.
fn pieces<S: Stuffing>(
    record: &Record,
    size: usize,
    stuffing: &S,
) -> (Vec<(State, Vec<u8>)>, Vec<Reported>) {
    let mut encoder = PieceEncoder::new(record, EncodeOptions::default());
    let mut remember = Remember::default();
    let mut pieces = Vec::new();
    loop {
        let state = encoder.state().clone();
        let mut piece = Vec::new();
        let stop = encoder
            .run(&mut piece, size, None, stuffing, &mut remember)
            .unwrap_or_else(|error| panic!("{error}"));
        remember.before += piece.len();
        assert!(!piece.is_empty());
        pieces.push((state, piece));
        match stop {
            Stop::Size => {}
            Stop::End => break,
            Stop::Until => panic!("there is nowhere to stop"),
        }
    }
    assert!(encoder.state().is_end());
    (pieces, remember.reported)
}

fn joined(pieces: &[(State, Vec<u8>)]) -> Vec<u8> {
    pieces
        .iter()
        .flat_map(|(_, piece)| piece)
        .copied()
        .collect()
}

#[test]
fn pieces_of_any_size_joined_are_the_message() {
    let mut count = 0;
    for (seed, record) in records(0..700) {
        let mut whole = Vec::new();
        encode(&record, &mut whole).unwrap();
        for size in [0, 7, 64, 500, usize::MAX] {
            let (pieces, _) = pieces(&record, size, &());
            assert_eq!(
                String::from_utf8_lossy(&joined(&pieces)),
                String::from_utf8_lossy(&whole),
                "seed {seed} size {size}"
            );
            count += pieces.len();
        }
    }
    assert!(count > 20_000, "{count}");
}

#[test]
fn from_every_state_comes_the_same_rest() {
    for (seed, record) in records(0..600) {
        let (pieces, _) = pieces(&record, 1, &());
        let whole = joined(&pieces);
        let mut begin = 0;
        for (state, piece) in &pieces {
            let mut encoder =
                PieceEncoder::resume(&record, state.clone(), EncodeOptions::default()).unwrap();
            assert_eq!(encoder.state(), state);
            let mut rest = Vec::new();
            encoder
                .run(&mut rest, usize::MAX, None, &(), &mut ())
                .unwrap();
            assert_eq!(rest, &whole[begin..], "seed {seed}");
            begin += piece.len();
        }
    }
}

#[test]
fn places_do_not_depend_on_the_size_of_the_pieces() {
    for (seed, record) in records(0..700) {
        let (whole, expected) = pieces(&record, usize::MAX, &());
        for &reported in &expected {
            check_place(&record, &whole[0].1, reported, None);
            assert_eq!(reported.2, reported.3);
        }
        assert!(expected.windows(2).all(|two| two[0].0 < two[1].0));
        for size in [1, 100] {
            let (_, reported) = pieces(&record, size, &());
            assert_eq!(reported, expected, "seed {seed}");
        }
    }
}

/// Every value as wide as it can be, and some more.
struct Wide(PadPlace);

impl Stuffing for Wide {
    fn width(&self, leaf: &LeafForm, length: usize) -> usize {
        assert!(leaf.may_pad(self.0));
        leaf.widest().unwrap_or(length + 3)
    }

    fn place(&self) -> PadPlace {
        self.0
    }
}

fn has_defaults(plan: &Plan) -> bool {
    (0..plan.element_count() as u32).any(|id| plan.element(ElementId(id)).default.is_some())
}

/// The lexical form of a value, escaped as its place requires.
fn lexical(record: &Record, slot: usize, form: &LeafForm) -> Vec<u8> {
    let (value, mut out) = (record.slots()[slot], Vec::new());
    let octets = record.octets(value);
    let Some(leaf) = form.leaf() else {
        match form.holder() {
            Holder::Xml => out.extend_from_slice(octets),
            _ => escape_content(octets, &mut out).expect("it was written"),
        }
        return out;
    };
    match record.plan().leaf(leaf).kind {
        LeafKind::Boolean => out.extend_from_slice(boolean::text(value != 0).as_bytes()),
        LeafKind::Signed { .. } => integer::write_i64(value as i64, &mut out),
        LeafKind::Unsigned { .. } => integer::write_u64(value, &mut out),
        LeafKind::Float => float::write(f32::from_bits(value as u32), &mut out),
        LeafKind::Double => double::write(f64::from_bits(value), &mut out),
        LeafKind::Base64 => binary::write_base64(octets, &mut out),
        LeafKind::Hex => binary::write_hex(octets, &mut out),
        LeafKind::Text | LeafKind::Name | LeafKind::List(_) => {
            let escape = match form.holder() {
                Holder::Attribute | Holder::AttributeList => escape_attribute,
                _ => escape_content,
            };
            escape(octets, &mut out).expect("it was written");
        }
    }
    out
}

/// The lexical form is at the reported location, and the rest of its width is white space.
fn check_place(record: &Record, text: &[u8], reported: Reported, pad: Option<PadPlace>) {
    let (slot, offset, length, width, leaf) = reported;
    let form = record.plan().leaf_form(leaf).expect("a form");
    let lexical = lexical(record, slot, form);
    assert_eq!(&text[offset..offset + length], lexical);
    let behind = match (pad, form.holder()) {
        (Some(PadPlace::AfterTag), Holder::Element { close }) if width > length => {
            let end = String::from_utf8_lossy(&text[offset..text.len().min(offset + 60)]);
            assert!(
                text[offset + length..].starts_with(b"</"),
                "{end} {reported:?} {form:?}"
            );
            assert_eq!(text[offset + length + close - 1], b'>');
            offset + length + close
        }
        _ => offset + length,
    };
    let space = &text[behind..behind + width - length];
    assert!(space.iter().all(|&byte| byte == b' '), "{space:?}");
    if let (Some(pad), Some(widest)) = (pad, form.widest())
        && form.may_pad(pad)
    {
        assert_eq!(width, widest.max(length));
    }
}

#[test]
fn a_stuffed_message_means_the_same() {
    let (mut padded, mut compared) = (0, 0);
    for (seed, record) in records(0..700) {
        for pad in [PadPlace::Inside, PadPlace::AfterTag] {
            let (all, reported) = pieces(&record, usize::MAX, &Wide(pad));
            let text = joined(&all);
            let (small, same) = pieces(&record, 50, &Wide(pad));
            assert_eq!(joined(&small), text, "seed {seed}");
            assert_eq!(same, reported, "seed {seed}");
            for &reported in &reported {
                check_place(&record, &text, reported, Some(pad));
                padded += usize::from(reported.3 > reported.2);
            }
            let document = std::str::from_utf8(&text).unwrap();
            roxmltree::Document::parse(document).unwrap_or_else(|error| panic!("{error}"));
            if !has_defaults(record.plan()) {
                let mut decoder = Decoder::new(record.plan().clone(), strict());
                let again = decoder.decode(record.root(), &text);
                let again = again.unwrap_or_else(|error| panic!("seed {seed} {error}\n{document}"));
                assert!(again == record, "seed {seed}\n{document}");
                compared += 1;
            }
        }
    }
    assert!(padded > 5000 && compared > 500, "{padded} {compared}");
}

#[test]
fn no_piece_ends_between_a_value_and_its_end_tag() {
    for (seed, record) in records(0..800) {
        let (pieces, reported) = pieces(&record, 1, &());
        let mut ends = Vec::new();
        let mut end = 0;
        for (_, piece) in &pieces {
            end += piece.len();
            ends.push(end);
        }
        for (_, offset, length, _, leaf) in reported {
            let close = match record.plan().leaf_form(leaf).expect("a form").holder() {
                Holder::Element { close } => close,
                Holder::Attribute => 1,
                _ => 0,
            };
            // A text may be empty, and its piece end before it.
            let inside = |&&end: &&usize| offset < end && end < offset + length + close;
            assert_eq!(ends.iter().find(inside), None, "seed {seed} at {offset}");
        }
    }
}

#[test]
fn the_encoder_stops_where_it_is_to_stop() {
    for (seed, record) in records(0..500) {
        let random = &mut Random::new(seed);
        let (pieces, _) = pieces(&record, 1, &());
        for _ in 0..20 {
            let from = random.below(pieces.len());
            let to = from + random.below(pieces.len() - from);
            let (state, until) = (pieces[from].0.clone(), &pieces[to].0);
            if !until.agrees(until) {
                continue;
            }
            let mut encoder =
                PieceEncoder::resume(&record, state, EncodeOptions::default()).unwrap();
            let mut text = Vec::new();
            let stop = encoder
                .run(&mut text, usize::MAX, Some(until), &(), &mut ())
                .unwrap();
            assert_eq!(stop, Stop::Until, "seed {seed} from {from} to {to}");
            assert_eq!(encoder.state(), until);
            assert_eq!(text, joined(&pieces[from..to]));
        }
    }
}

#[test]
fn the_encoder_passes_a_limit_at_which_it_cannot_stop() {
    let mut others = Vec::new();
    for (seed, record) in records(0..500) {
        let (pieces, _) = pieces(&record, 1, &());
        let random = &mut Random::new(seed);
        let whole = joined(&pieces);
        // States of the same Plan at other slots, and those of other Plans.
        let mut strange: Vec<State> = std::mem::take(&mut others);
        for _ in 0..10 {
            let slot = random.below(record.slots().len() + 10);
            let state = random.pick(&pieces).0.before_slot(slot);
            if pieces
                .iter()
                .all(|(is, _)| is.slot() != slot || !is.agrees(&state))
            {
                strange.push(state);
            }
        }
        for state in &strange {
            if pieces
                .iter()
                .any(|(is, _)| is.slot() == state.slot() && is.agrees(state))
            {
                continue;
            }
            let mut encoder = PieceEncoder::new(&record, EncodeOptions::default());
            let mut text = Vec::new();
            let stop = encoder
                .run(&mut text, usize::MAX, Some(state), &(), &mut ())
                .unwrap();
            if stop == Stop::Until {
                // Here pieces cannot end, as nothing is written between this and the State before.
                assert!(encoder.state().agrees(state) && encoder.state().slot() == state.slot());
            } else {
                assert_eq!((stop, text.len()), (Stop::End, whole.len()), "seed {seed}");
            }
        }
        others.extend(pieces.into_iter().take(5).map(|(state, _)| state));
    }
}

#[test]
fn states_of_another_plan_are_no_danger() {
    let mut states: Vec<State> = Vec::new();
    for (seed, record) in records(0..500) {
        let random = &mut Random::new(seed);
        for state in &states {
            let slot = random.below(record.slots().len() + 2);
            for state in [state.clone(), state.before_slot(slot)] {
                if let Ok(mut encoder) =
                    PieceEncoder::resume(&record, state, EncodeOptions::default())
                {
                    let mut text = Vec::new();
                    // A message of a few hundred slots, whatever the way through it.
                    for _ in 0..10_000 {
                        match encoder.run(&mut text, 100, None, &(), &mut ()) {
                            Ok(Stop::Size) => {}
                            _ => break,
                        }
                    }
                }
            }
        }
        let (pieces, _) = pieces(&record, 1, &());
        states.push(random.pick(&pieces).0.clone());
        if states.len() > 30 {
            states.swap_remove(random.below(30));
        }
    }
}

/// A schema of all that has a State of its own: loops in loops, tables, choices, options, references, lists.
fn orders() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let numbers = vec![
        schema.field("at", Datatype::Int, ONCE),
        schema.field("value", Datatype::Double, ONCE),
    ];
    let reading = schema.structure(numbers);
    let lines = vec![
        schema.field("sku", Datatype::String, ONCE),
        schema.field("quantity", Datatype::Int, OPTIONAL),
        schema.child("reading", reading, MANY),
        schema.field("kind", Datatype::QName, OPTIONAL),
    ];
    let line = schema.structure(lines);
    let leaf = schema.builder.leaf(&SimpleType::builtin(Datatype::Double));
    let status = schema.attribute("status", Datatype::QName);
    let price = schema.add_type(TypeDef {
        attributes: vec![status],
        ..Schema::plain(Content::Simple(leaf))
    });
    let fields = vec![
        schema.field("id", Datatype::Int, ONCE),
        schema.child("line", line, MANY),
        schema.child("price", price, OPTIONAL),
        schema.field("weight", Datatype::Double, MANY),
    ];
    let order = schema.structure(fields);
    let order = schema.child("order", order, MANY);
    let note = schema.field("note", Datatype::String, OPTIONAL);
    let root = schema.structure(vec![order, note]);
    let root = schema.element_in("urn:orders", "orders", root);
    (schema.finish(), root)
}

fn order(random: &mut Random) -> Value {
    let reading = |random: &mut Random| {
        Value::object([
            ("at", Value::from(random.below(100) as i64)),
            ("value", Value::from(random.below(100_000) as f64 / 8.0)),
        ])
    };
    let line = |random: &mut Random| {
        let mut fields = vec![("sku", Value::from("x".repeat(random.below(20))))];
        if random.chance(50) {
            fields.push(("quantity", Value::from(random.below(10) as i64)));
        }
        let rows = (0..random.below(8)).map(|_| reading(random)).collect();
        fields.push(("reading", Value::Array(rows)));
        if random.chance(30) {
            fields.push(("kind", Value::from("{urn:kinds}a")));
        }
        Value::object(fields)
    };
    let mut fields = vec![("id", Value::from(random.below(1000) as i64))];
    let lines = (0..random.below(4)).map(|_| line(random)).collect();
    fields.push(("line", Value::Array(lines)));
    if random.chance(50) {
        let price = [
            ("@status", Value::from("{urn:s}t")),
            ("#text", Value::from(1.5)),
        ];
        fields.push(("price", Value::object(price)));
    }
    let weights = (0..random.below(9))
        .map(|_| Value::from(random.below(50) as f64))
        .collect();
    fields.push(("weight", Value::Array(weights)));
    Value::object(fields)
}

/// What a template does when occurrences come or go: it writes again from the piece with the first change, until
/// it is in a State from which the old text can continue; and the States of the later pieces are moved.
#[test]
fn behind_an_insertion_the_old_pieces_fit_again() {
    let (plan, root) = orders();
    let mut reused = 0;
    for seed in 0..16 {
        let random = &mut Random::new(seed);
        let mut list: Vec<Value> = (0..3 + random.below(10)).map(|_| order(random)).collect();
        let record = |list: &[Value]| {
            let value = Value::object([
                ("order", Value::Array(list.to_vec())),
                ("note", Value::from("the end")),
            ]);
            build(&plan, root, &value).unwrap()
        };
        let old = record(&list);
        let at = random.below(list.len());
        let behind = if random.chance(50) {
            list.insert(at, order(random));
            at + 1
        } else {
            list.remove(at);
            at
        };
        let new = record(&list);
        let size = *random.pick(&[1, 40, 300]);
        let (old_pieces, _) = pieces(&old, size, &());
        let mut whole = Vec::new();
        encode(&new, &mut whole).unwrap();
        let delta = new.slots().len() as isize - old.slots().len() as isize;
        // What is behind the change is as long as by itself, without its count.
        let same = record(&list[behind..]).slots().len() - 1;
        for (index, (state, _)) in old_pieces.iter().enumerate() {
            let moved = state.slot().wrapping_add_signed(delta);
            if state.slot() + same < old.slots().len() {
                continue;
            }
            let mut encoder = PieceEncoder::new(&new, EncodeOptions::default());
            let mut text = Vec::new();
            let until = state.before_slot(moved);
            let stop = encoder
                .run(&mut text, usize::MAX, Some(&until), &(), &mut ())
                .unwrap();
            if stop == Stop::End {
                continue;
            }
            // What has been done differs by what has come or gone.
            let here = encoder.into_state();
            assert!(here.agrees(state));
            text.extend(joined(&old_pieces[index..]));
            assert_eq!(
                String::from_utf8_lossy(&text),
                String::from_utf8_lossy(&whole),
                "seed {seed}"
            );
            for (old, _) in &old_pieces[index..] {
                let moved = old.moved(state, &here).unwrap();
                assert!(moved.agrees(old));
                let mut encoder = PieceEncoder::new(&new, EncodeOptions::default());
                let mut text = Vec::new();
                encoder
                    .run(&mut text, usize::MAX, Some(&moved), &(), &mut ())
                    .unwrap();
                assert_eq!(encoder.state(), &moved, "seed {seed}");
                let mut rest = Vec::new();
                let mut encoder =
                    PieceEncoder::resume(&new, moved, EncodeOptions::default()).unwrap();
                encoder
                    .run(&mut rest, usize::MAX, None, &(), &mut ())
                    .unwrap();
                assert!(whole.ends_with(&rest));
                reused += 1;
            }
        }
    }
    assert!(reused > 1000, "{reused}");
}

#[test]
fn the_forms_say_how_wide_and_where() {
    let (plan, root) = orders();
    let value = Value::object([("order", Value::Array(vec![order(&mut Random::new(3))]))]);
    let record = build(&plan, root, &value).unwrap();
    let (_, reported) = pieces(&record, usize::MAX, &());
    for (_, _, _, _, leaf) in reported {
        let form = plan.leaf_form(leaf).unwrap();
        let kind = plan.leaf(form.leaf().unwrap()).kind;
        match kind {
            LeafKind::Double => assert_eq!(form.widest(), Some(24)),
            LeafKind::Signed { .. } => assert_eq!(form.widest(), Some(11)),
            _ => assert_eq!(form.widest(), None),
        }
        assert_eq!(form.may_pad(PadPlace::Inside), kind != LeafKind::Text);
        assert_eq!(form.is_in_heap(), kind == LeafKind::Text);
    }
}

#[test]
fn what_xml_cannot_carry_is_an_error_in_its_piece() {
    let mut schema = Schema::new();
    let line = vec![schema.field("note", Datatype::String, OPTIONAL)];
    let line = schema.structure(line);
    let lines = schema.child("line", line, MANY);
    let root = schema.structure(vec![lines]);
    let root = schema.element("order", root);
    let plan = schema.finish();
    let note = |text: &str| Value::object([("note", Value::from(text))]);
    let value = Value::object([("line", Value::Array(vec![note("fine"), note("bell \u{7}")]))]);
    let record = build(&plan, root, &value).unwrap();
    let mut encoder = PieceEncoder::new(&record, EncodeOptions::without_declaration());
    let mut text = Vec::new();
    assert_eq!(
        encoder.run(&mut text, 20, None, &(), &mut ()),
        Ok(Stop::Size)
    );
    assert_eq!(text, b"<order><line><note>fine</note>");
    for _ in 0..2 {
        let error = encoder.run(&mut text, 20, None, &(), &mut ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "XML cannot carry U+0007 at /order/line[2]/note (slot 4)"
        );
        assert_eq!(text, b"<order><line><note>fine</note>");
    }
}
