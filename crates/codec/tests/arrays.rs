//! Arrays and rows of numbers and strings, which are read many at a time: the same Record, Index, places and errors as one
//! by one.

use std::sync::Arc;

use bsoap_codec::decode::{
    DecodeOptions, Decoder, Deviation, Fast, LocatedPlace, Piece, Places, Trace, Until, Validation,
};
use bsoap_codec::plan::{ElementId, ParticleId, TypeId, UNBOUNDED};
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
use bsoap_testkit::decode_paths::DecodePaths;
use bsoap_testkit::hint::values;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::Schema;
use proptest::prelude::*;

const KINDS: [Datatype; 14] = [
    Datatype::Double,
    Datatype::Double,
    Datatype::Float,
    Datatype::Int,
    Datatype::Int,
    Datatype::Long,
    Datatype::Short,
    Datatype::Byte,
    Datatype::UnsignedLong,
    Datatype::UnsignedShort,
    Datatype::Boolean,
    Datatype::Decimal,
    Datatype::String,
    Datatype::String,
];

const NAMES: [&str; 5] = ["x", "y", "value", "aRatherLongNameOfAnElementInARow", "e"];

/// A type of these values, now and then with facets that most of them have.
fn value_type(schema: &mut Schema, datatype: Datatype, random: &mut Random) -> TypeId {
    use FacetName as F;
    if random.chance(60) {
        return schema.builtin(datatype);
    }
    let facets: &[&[(F, &str)]] = match datatype {
        Datatype::Double => &[
            &[(F::MinInclusive, "-1e300"), (F::MaxExclusive, "1e300")],
            &[(F::MinExclusive, "-1e306")],
            &[(F::MaxInclusive, "1.5e306"), (F::Pattern, "[^7].*|7.*")],
        ],
        Datatype::Float => &[&[(F::MaxInclusive, "1e38")], &[(F::MinExclusive, "-1e37")]],
        Datatype::Int | Datatype::Long => &[
            &[
                (F::MinInclusive, "-2000000000"),
                (F::MaxExclusive, "2000000000"),
            ],
            &[(F::MaxInclusive, "2000000000"), (F::TotalDigits, "10")],
        ],
        Datatype::Short => &[&[(F::MinExclusive, "-32000")], &[(F::Pattern, "-?[0-9]+")]],
        Datatype::UnsignedLong => &[
            &[(F::MaxInclusive, "18446744073709551000")],
            &[(F::MinInclusive, "1")],
        ],
        Datatype::String => &[&[(F::MaxLength, "45")], &[(F::MinLength, "1")]],
        _ => &[&[]],
    };
    let facets: Vec<_> = random
        .pick(facets)
        .iter()
        .map(|&(name, value)| Facet::new(name, value))
        .collect();
    let base = SimpleType::builtin(datatype);
    let simple = SimpleType::restrict(&base, &facets, &NoNamespaces).expect("a type");
    schema.simple(&simple)
}

/// What a message is: arrays and arrays of rows.
struct Model {
    plan: Arc<Plan>,
    root: ElementId,
    parts: Vec<Part>,
}

struct Part {
    name: &'static str,
    /// The fields of a row; one without a name is a plain array.
    fields: Vec<(Option<&'static str>, Datatype, bool)>,
}

fn model(random: &mut Random) -> Model {
    let mut schema = Schema::new();
    let mut parts = Vec::new();
    let mut children = Vec::new();
    for &name in ["a", "item", "rows"].iter().take(1 + random.below(3)) {
        let max = *random.pick(&[UNBOUNDED, UNBOUNDED, UNBOUNDED, 17, 40]);
        let columns = random.below(4);
        let fields: Vec<_> = match columns {
            0 => vec![(None, *random.pick(&KINDS), false)],
            _ => (0..=columns)
                .map(|column| {
                    let may_be_missing = random.chance(10);
                    (Some(NAMES[column]), *random.pick(&KINDS), may_be_missing)
                })
                .collect(),
        };
        children.push(part(&mut schema, name, max, &fields, random));
        parts.push(Part { name, fields });
    }
    let (plan, root) = schema.rooted("m", children);
    Model { plan, root, parts }
}

fn part(
    schema: &mut Schema,
    name: &str,
    max: u32,
    fields: &[(Option<&'static str>, Datatype, bool)],
    random: &mut Random,
) -> ParticleId {
    if let [(None, datatype, _)] = fields {
        let ty = value_type(schema, *datatype, random);
        let element = schema.element(name, ty);
        return schema.of((0, max), element);
    }
    let children = fields
        .iter()
        .map(|&(name, datatype, may_be_missing)| {
            let min = u32::from(!may_be_missing);
            let ty = value_type(schema, datatype, random);
            let element = schema.element(name.unwrap_or_default(), ty);
            schema.of((min, 1), element)
        })
        .collect();
    let ty = schema.structure(children);
    let element = schema.element(name, ty);
    schema.of((0, max), element)
}

/// A string: mostly plain, now and then with what is replaced, looked at twice, or wrong.
fn string(random: &mut Random, odd: usize) -> String {
    let word = "none but letters are in here, up to forty of them"[..random.below(40)].to_owned();
    if random.below(1000) >= odd {
        return match random.below(8) {
            0 => format!("{word}&lt;&amp;{word}"),
            1 => format!("&#233;{word}"),
            2 => format!("{word}é語"),
            _ => word,
        };
    }
    if random.chance(20) {
        return word.repeat(20);
    }
    let special = [
        "]",
        "]]",
        "]]>",
        "\r",
        "\r\n",
        "\u{ff5e}",
        "\u{ffff}",
        "<![CDATA[<]]>",
        "<!---->",
        "&amp",
        "&#x0;",
        "&#xD;",
        "&nbsp;",
        "\u{1}",
        "&gt;",
    ];
    format!("{word}{}{word}", random.pick(&special))
}

/// A lexical form: mostly plain, sometimes one for the slow path, or wrong.
fn form(datatype: Datatype, random: &mut Random, odd: usize) -> String {
    if datatype == Datatype::String {
        return string(random, odd);
    }
    let bits = random.next();
    let real = |bits: u64| match datatype {
        Datatype::Double => f64::from_bits(bits).to_string(),
        Datatype::Float => f32::from_bits(bits as u32).to_string(),
        _ => (bits >> 8).to_string(),
    };
    if random.below(1000) < odd {
        let text = form(datatype, random, 0);
        return match random.below(14) {
            0 => format!(" {text}"),
            1 => format!("{text}  "),
            2 => format!("<!-- {text} -->{text}"),
            3 => format!("+{text}"),
            4 => format!("00{text}"),
            5 => format!("{text}0000000000000000000000000000001"),
            6 => format!("&#x31;{text}"),
            7 => String::new(),
            8 => "INF".to_owned(),
            9 => "-INF".to_owned(),
            10 => "NaN".to_owned(),
            11 => format!("{text}x"),
            12 => "99999999999999999999".to_owned(),
            _ => format!("-{text}"),
        };
    }
    let short = bits >> random.below(64);
    match datatype {
        Datatype::Double | Datatype::Float => match random.below(6) {
            0 => real(bits).replace("inf", "INF"),
            1 => format!("{:e}", f64::from(bits as u32) / 1e3),
            2 => format!("{}.{:03}", short % 1000, bits % 1000),
            3 => format!("0.{}", bits >> 10),
            4 => (short % 100).to_string(),
            _ => format!("{}", (bits >> 11) as f64 / (1u64 << 53) as f64),
        },
        Datatype::Int => (short as i32).to_string(),
        Datatype::Long => (short as i64).to_string(),
        Datatype::Short => (short as i16).to_string(),
        Datatype::Byte => (short as i8).to_string(),
        Datatype::UnsignedLong => short.to_string(),
        Datatype::UnsignedShort => (short as u16).to_string(),
        Datatype::Boolean => (*random.pick(&["true", "false", "0", "1"])).to_owned(),
        _ => format!("{}.{}", short % 1000, bits % 10),
    }
}

/// How a message is spelled, and how much of it is not plain.
#[derive(Clone, Copy)]
struct Style {
    gap: &'static str,
    /// Of a thousand values.
    odd: usize,
    size: usize,
}

fn style(random: &mut Random) -> Style {
    Style {
        gap: ["", "", "\n", "\n      ", "\r\n\t"][random.below(5)],
        odd: [0, 0, 3, 20, 300][random.below(5)],
        size: [5, 30, 200][random.below(3)],
    }
}

fn message(model: &Model, random: &mut Random, style: Style) -> String {
    let gap = style.gap;
    let mut text = String::from("<m>");
    for part in &model.parts {
        for _ in 0..random.below(style.size) {
            text += &format!("{gap}<{}>", part.name);
            for &(name, datatype, may_be_missing) in &part.fields {
                if may_be_missing && random.below(1000) < style.odd {
                    continue;
                }
                let form = form(datatype, random, style.odd);
                text += &match name {
                    Some(name) => format!("{gap}<{name}>{form}</{name}>"),
                    None => form,
                };
            }
            let inner = if part.fields[0].0.is_some() { gap } else { "" };
            text += &format!("{inner}</{}>", part.name);
        }
    }
    text + gap + "</m>"
}

fn options(random: &mut Random) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    if random.chance(30) {
        options.record_slots = 10 + random.below(300);
    }
    if random.chance(10) {
        options.record_heap = random.below(1000);
    }
    if random.chance(20) {
        options.record_floor = random.below(1000);
        options.record_per_byte = random.below(8);
    }
    if random.chance(10) {
        // Numbers are shorter: how long they are is not asked where many are read at once.
        options.limits.text_length = 500 + random.below(500);
    }
    if random.chance(50) {
        options.validation = Validation::Full;
    }
    if random.chance(20) {
        options.accepted = options.accepted.with(Deviation::EmptyValue);
    }
    options
}

/// A checkpoint every few bytes: each must follow a tag, and resuming from each must give the same result.
fn places_hold(
    model: &Model,
    decoder: &mut Decoder,
    text: &str,
    every: usize,
) -> Result<(), TestCaseError> {
    let piece = Piece {
        text,
        base: 0,
        last: true,
        beyond: 0,
    };
    let mut whole = Record::new(model.plan.clone(), model.root);
    let expected = decoder.decode_into(model.root, text.as_bytes(), &mut whole);
    let mut traced = Record::new(model.plan.clone(), model.root);
    let mut trace = Trace::default();
    decoder.start(model.root);
    let read = decoder.read(piece, &mut traced, Some(&mut trace));
    prop_assert_eq!(&read, &expected);

    let mut record = Record::new(model.plan.clone(), model.root);
    let mut places = Places::new(every);
    decoder.begin(model.root);
    places.start(0);
    let read = decoder.read_until(piece, &mut record, Until::END, Some(&mut places));
    prop_assert_eq!(&read, &expected);
    let noted: Vec<LocatedPlace> = places.drain().collect();
    // (In an array there is one after each item that passes the next distance.)
    for pair in noted.windows(2) {
        prop_assert!(pair[0].offset + every as u32 <= pair[1].offset);
        prop_assert!(pair[0].slots <= pair[1].slots);
    }
    for place in &noted {
        prop_assert_eq!(text.as_bytes()[place.offset as usize - 1], b'>');
        if read.is_ok() {
            // All that is written precedes it, and nothing follows.
            let before =
                |slot: usize, offset: u32| (slot < place.slots as usize) == (offset < place.offset);
            let mut values = values(&trace, text.as_bytes());
            prop_assert!(values.all(|(slot, it)| before(slot, it.start as u32)));
        }
    }
    // A Record resumed here has the strings that follow already, so it needs twice the capacity for them.
    let options = decoder.options();
    let memory = size_of_val(record.slots()) + 2 * record.heap().len();
    if options.record_heap < 2 * text.len() || options.record_memory(text.len() as u64) < memory {
        return Ok(());
    }
    for place in noted.iter().rev() {
        let mut resumed = record.clone();
        if read.is_ok() {
            resumed.parts_mut().0.truncate(place.slots as usize);
        } else {
            // What was written before the error is not to be had; only the error is.
            resumed.parts_mut().0.resize(place.slots as usize, 0);
        }
        prop_assert!(places.resume(decoder, place.place, place.offset.into()));
        let again = decoder.read_until(piece, &mut resumed, Until::END, None);
        prop_assert_eq!(&again, &read);
        if read.is_ok() {
            prop_assert_eq!(&resumed, &record);
        }
        // To the next one only.
        places.drain().for_each(drop);
    }
    Ok(())
}

/// Stops at every number of slots, and continues.
fn stops_hold(
    model: &Model,
    decoder: &mut Decoder,
    text: &str,
    random: &mut Random,
) -> Result<(), TestCaseError> {
    let mut whole = Record::new(model.plan.clone(), model.root);
    let expected = decoder.decode_into(model.root, text.as_bytes(), &mut whole);
    let mut record = Record::new(model.plan.clone(), model.root);
    decoder.begin(model.root);
    let piece = Piece {
        text,
        base: 0,
        last: true,
        beyond: 0,
    };
    loop {
        let until = Until {
            slots: record.slots().len() + 1 + random.below(100),
            depth: usize::MAX,
        };
        let read = decoder.read_until(piece, &mut record, until, None);
        if read.is_err() || decoder.is_finished() {
            prop_assert_eq!(&read, &expected);
            break;
        }
        // A row of a few numbers may have been begun.
        prop_assert!(record.slots().len() < until.slots + 20);
    }
    if expected.is_ok() {
        prop_assert_eq!(&record, &whole);
    }
    Ok(())
}

fn agree(seed: u64) -> Result<usize, TestCaseError> {
    let mut random = Random::new(seed);
    let model = model(&mut random);
    let options = options(&mut random);
    let mut paths = DecodePaths::new(&model.plan, model.root, options);
    let mut decoder = Decoder::new(model.plan.clone(), options);
    let mut general = options;
    general.fast = Fast::Off;
    let mut slow = Decoder::new(model.plan.clone(), general);
    let mut style = style(&mut random);
    let mut valid = 0;
    for _ in 0..5 {
        if random.chance(20) {
            style = self::style(&mut random);
        }
        let text = message(&model, &mut random, style);
        match paths.agree(text.as_bytes(), &mut random) {
            Ok(is_valid) => valid += usize::from(is_valid),
            Err(difference) => {
                return Err(TestCaseError::fail(format!("seed {seed}: {difference}")));
            }
        }
        let every = [1, 30, 128, 1024][random.below(4)];
        places_hold(&model, &mut decoder, &text, every)?;
        places_hold(&model, &mut slow, &text, every)?;
        stops_hold(&model, &mut decoder, &text, &mut random)?;
    }
    Ok(valid)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_read_many_at_a_time_are_those_read_one_by_one(seed in any::<u64>()) {
        agree(seed)?;
    }
}

#[test]
fn most_arrays_of_the_test_are_valid() {
    let valid: usize = (0..40)
        .map(|seed| agree(seed).expect("all paths agree"))
        .sum();
    assert!(valid > 80, "only {valid} of 200 are valid");
}
