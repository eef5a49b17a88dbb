//! What of a message that does not follow its schema is accepted, with which warnings, and what may be sent.

use std::sync::Arc;

use bsoap_codec::decode::{
    DecodeOptions, Decoder, Deviation, Deviations, Error, Fast, Tolerance, Validation,
};
use bsoap_codec::encode::Encoder;
use bsoap_codec::plan::{ElementId, TypeId};
use bsoap_codec::{
    BuildOptions, Pack, Packer, Plan, Record, Value, build, build_with, encode, pack,
};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

type Root = (Arc<Plan>, ElementId);

fn options(accepted: impl Into<Deviations>) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.accepted = accepted.into();
    options
}

fn decode((plan, root): &Root, options: DecodeOptions, text: &str) -> Result<Record, Error> {
    Decoder::new(plan.clone(), options).decode(*root, text.as_bytes())
}

fn warnings(record: &Record) -> Vec<String> {
    record.warnings().iter().map(ToString::to_string).collect()
}

fn listed(base: Datatype, values: &[&'static str]) -> Arc<SimpleType> {
    let facet = |value: &&'static str| Facet::new(FacetName::Enumeration, value);
    let facets: Vec<_> = values.iter().map(facet).collect();
    SimpleType::restrict(&SimpleType::builtin(base), &facets, &NoNamespaces).unwrap()
}

fn numbers() -> Root {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("d", Datatype::Double, MANY),
        schema.field("f", Datatype::Float, OPTIONAL),
    ];
    schema.rooted("r", children)
}

/// Elements of several types that list their values.
fn colours() -> Root {
    let mut schema = Schema::new();
    let string = listed(Datatype::String, &["red", "blue"]);
    let token = listed(Datatype::Token, &["red", "dark blue"]);
    let int = listed(Datatype::Int, &["1", "2"]);
    let list = SimpleType::list_of(&token).unwrap();
    let union = SimpleType::union_of(&[int.clone(), string.clone()]).unwrap();
    let types = [string, token, int, list, union].map(|simple| schema.simple(&simple));
    let names = ["string", "token", "int", "list", "union"];
    let mut children: Vec<_> = (names.iter().zip(types))
        .map(|(name, ty)| schema.child(name, ty, MANY))
        .collect();
    children.push(schema.field("end", Datatype::String, OPTIONAL));
    schema.rooted("r", children)
}

#[test]
fn foreign_spellings_of_special_floats_are_read_with_a_warning_and_refused_in_strict_mode() {
    let root = numbers();
    let text = "<r><d>NAN</d><d>+INF</d><d> -Infinity </d><f>nan</f></r>";
    let record = decode(&root, DecodeOptions::default(), text).unwrap();
    let number = |slot: usize| f64::from_bits(record.slots()[slot]);
    assert!(number(1).is_nan());
    assert_eq!((number(2), number(3)), (f64::INFINITY, f64::NEG_INFINITY));
    assert!(f32::from_bits(record.slots()[5] as u32).is_nan());
    let expected = [
        "\"NAN\" is not a xs:double at /r/d[1] (byte 6): read as that number",
        "\"+INF\" is not a xs:double at /r/d[2] (byte 16): read as that number",
        "\"-Infinity\" is not a xs:double at /r/d[3] (byte 27): read as that number",
        "\"nan\" is not a xs:float at /r/f (byte 45): read as that number",
    ];
    let found = warnings(&record);
    assert_eq!(found, expected);
    let first = &record.warnings()[0];
    assert_eq!(first.deviation(), Deviation::SpecialFloat);
    assert_eq!((first.path(), first.offset()), ("/r/d[1]", 6));
    let error = decode(&root, options(Tolerance::Strict), text).unwrap_err();
    assert_eq!(error.accepted_in(), Some(Tolerance::Default));
    assert!(
        error
            .to_string()
            .ends_with("at /r/d[1] (byte 6); default mode reads it as that number"),
        "{error}"
    );
    let proper = decode(
        &root,
        DecodeOptions::default(),
        "<r><d>NaN</d><d>-INF</d></r>",
    )
    .unwrap();
    assert!(proper.warnings().is_empty());
}

#[test]
fn warnings_are_the_same_on_the_fast_path_in_pieces_and_in_a_later_message() {
    let root = numbers();
    let mut slow = DecodeOptions::default();
    slow.fast = Fast::Off;
    let specials = ["inf", "-inf", "NAN", "Infinity", "-nan"];
    let mut fast = Decoder::new(root.0.clone(), DecodeOptions::default());
    for number in 0..40 {
        let mut values: Vec<String> = (0..200).map(|at| format!("{}.25", at * number)).collect();
        for at in 0..number % 7 {
            values[(at * 31 + number * 17) % 200] = specials[at % 5].to_owned();
        }
        let text = format!("<r><d>{}</d></r>", values.join("</d><d>"));
        let expected = decode(&root, slow, &text).unwrap();
        let found = fast.decode(root.1, text.as_bytes()).unwrap();
        assert_eq!(expected.slots(), found.slots());
        assert_eq!(expected.warnings(), found.warnings());
        assert_eq!(found.warnings().len(), number % 7);
        fast.begin(root.1);
        text.as_bytes()
            .chunks(13)
            .for_each(|it| fast.feed(it).unwrap());
        assert_eq!(fast.finish().unwrap().warnings(), expected.warnings());
    }
}

#[test]
fn unlisted_values_are_kept_with_a_warning_and_refused_in_strict_mode_and_by_full_validation() {
    let root = colours();
    for (text, value) in [
        (
            "<string>green</string>",
            "\"green\" is not one of red, blue",
        ),
        (
            "<token> green </token>",
            "\"green\" is not one of red, dark blue",
        ),
        ("<int>3</int>", "\"3\" is not one of 1, 2"),
        (
            "<list>red green</list>",
            "\"green\" is not one of red, dark blue",
        ),
        (
            "<union>green</union>",
            "\"green\" is not a value of any member type of the union",
        ),
    ] {
        let text = format!("<r>{text}<end/></r>");
        let record = decode(&root, DecodeOptions::default(), &text).unwrap();
        let [warning] = record.warnings() else {
            panic!("{text}: {:?}", record.warnings());
        };
        assert_eq!(warning.deviation(), Deviation::UnlistedValue);
        assert_eq!(warning.kind().to_string(), value);
        let strict = decode(&root, options(Tolerance::Strict), &text).unwrap_err();
        assert_eq!(strict.accepted_in(), Some(Tolerance::Default), "{strict}");
        assert!(
            strict.to_string().ends_with("; default mode keeps it"),
            "{strict}"
        );
        let mut full = options(Tolerance::Lenient);
        full.validation = Validation::Full;
        assert!(decode(&root, full, &text).is_err());
    }
    let valid = "<r><string>red</string><token>dark  blue</token><int> 2 </int><list>red red</list><union>2</union></r>";
    for accepted in [Tolerance::Strict, Tolerance::Default] {
        assert_eq!(
            warnings(&decode(&root, options(accepted), valid).unwrap()),
            [""; 0]
        );
    }
}

#[test]
fn lenient_mode_skips_what_is_unknown_and_says_so_in_each_message() {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("n", Datatype::Int, OPTIONAL),
        schema.field("a", Datatype::String, MANY),
    ];
    let root = schema.rooted("r", children);
    let text = "<r new='1'><n/><a>x</a><more>1</more><a>y</a></r>";
    let expected = [
        "unknown attribute new at /r/@new (byte 8): skipped",
        "\"\" is not an xs:int at /r/n (byte 15): read as absent or nil",
        "found <more>, expected <a> or the end of the element at /r (byte 23): skipped",
    ];
    let mut decoder = Decoder::new(root.0.clone(), options(Tolerance::Lenient));
    for _ in 0..5 {
        let record = decoder.decode(root.1, text.as_bytes()).unwrap();
        assert_eq!(warnings(&record), expected);
    }
    for (wrong, advice) in [
        ("<r new='1'/>", "; lenient mode skips it"),
        ("<r><n/></r>", "; lenient mode reads it as absent or nil"),
        ("<r><more/></r>", "; lenient mode skips it"),
    ] {
        let error = decode(&root, DecodeOptions::default(), wrong).unwrap_err();
        assert!(error.to_string().ends_with(advice), "{error}");
        assert_eq!(error.accepted_in(), Some(Tolerance::Lenient));
    }
    // No mode accepts what has no sure meaning.
    let error = decode(&root, DecodeOptions::default(), "<r><n>one</n></r>").unwrap_err();
    assert_eq!(error.accepted_in(), None);
    assert!(error.to_string().ends_with("(byte 6)"), "{error}");
}

#[test]
fn lenient_mode_reads_an_unknown_xsi_type_as_the_declared_type() {
    let root = numbers();
    let xsi = "http://www.w3.org/2001/XMLSchema-instance";
    let message = |ty: &str, number: &str| {
        format!(
            "<r xmlns:i='{xsi}' xmlns:o='urn:own'><d>1</d><d i:type='{ty}'>{number}</d><d>3</d></r>"
        )
    };
    let text = message("o:Number", "2.5");
    for accepted in [Tolerance::Strict, Tolerance::Default] {
        let error = decode(&root, options(accepted), &text).unwrap_err();
        assert_eq!(error.deviation(), Some(Deviation::OtherType), "{error}");
        assert_eq!(error.accepted_in(), Some(Tolerance::Lenient));
    }
    // In each message of a stream, and what is no number remains an error.
    let (plan, element) = root.clone();
    let mut decoder = Decoder::new(plan, options(Tolerance::Lenient));
    for _ in 0..3 {
        let record = decoder.decode(element, text.as_bytes()).unwrap();
        assert_eq!(f64::from_bits(record.slots()[2]), 2.5);
        let [warning] = record.warnings() else {
            panic!("{:?}", record.warnings());
        };
        assert_eq!(warning.deviation(), Deviation::OtherType);
        assert_eq!(warning.path(), "/r/d[2]/@type");
    }
    let error = decode(
        &root,
        options(Tolerance::Lenient),
        &message("o:Number", "two"),
    );
    assert_eq!(error.unwrap_err().path(), "/r/d[2]");
    // What is base64 cannot be read as it is.
    let text = message("x:hexBinary", "25").replace(
        "xmlns:o",
        "xmlns:x='http://www.w3.org/2001/XMLSchema' xmlns:o",
    );
    let error = decode(&root, options(Tolerance::Lenient), &text);
    assert_eq!(error.unwrap_err().deviation(), None);
    // A name whose prefix is not declared is no type at all.
    let error = decode(
        &root,
        options(Tolerance::Lenient),
        &message("p:Number", "2.5"),
    );
    assert_eq!(error.unwrap_err().deviation(), None);
}

#[test]
fn only_so_many_warnings_are_kept() {
    let root = numbers();
    let text = format!("<r>{}</r>", "<d>inf</d>".repeat(1000));
    let record = decode(&root, DecodeOptions::default(), &text).unwrap();
    assert_eq!(record.warnings().len(), 100);
    assert_eq!(record.warnings()[99].path(), "/r/d[100]");
    let mut none = DecodeOptions::default();
    none.warnings = 0;
    assert_eq!(decode(&root, none, &text).unwrap().warnings().len(), 1);
}

#[test]
fn values_that_are_not_listed_are_not_built() {
    let (plan, root) = colours();
    for (name, value) in [
        ("string", Value::from("green")),
        ("token", Value::from("green")),
        ("int", Value::from(3)),
        ("int", Value::from(vec![1_i64, 3])),
        ("list", Value::from("red green")),
        ("union", Value::from("green")),
    ] {
        let error = build(&plan, root, &Value::object([(name, value)])).unwrap_err();
        assert!(error.to_string().contains("is not "), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let valid = Value::object([
        ("token", Value::from(" dark blue")),
        ("int", Value::from(2)),
    ]);
    let record = build_with(&plan, root, &valid, &BuildOptions::default()).unwrap();
    assert_eq!(record.check(), Ok(()));
}

/// The content of an element of type [`shipment`].
struct Shipment {
    when: Vec<String>,
    colour: Option<String>,
    weights: Vec<f64>,
}

impl Pack for Shipment {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.value(&self.weights);
        packer.value(&self.when);
        packer.value(&self.colour);
    }
}

fn shipment() -> Root {
    let mut schema = Schema::new();
    let colour: TypeId = schema.simple(&listed(Datatype::String, &["red", "blue"]));
    let children = vec![
        schema.field("weight", Datatype::Double, MANY),
        schema.field("when", Datatype::DateTime, MANY),
        schema.child("colour", colour, OPTIONAL),
    ];
    schema.rooted("shipment", children)
}

#[test]
fn packed_texts_are_checked_before_they_are_sent() {
    let (plan, root) = shipment();
    let packed = |when: &[&str], colour: Option<&str>| {
        let shipment = Shipment {
            when: when.iter().map(ToString::to_string).collect(),
            colour: colour.map(str::to_owned),
            weights: vec![1.5; 3],
        };
        let record = pack(&plan, root, &shipment).unwrap();
        record.check().map_err(|error| error.to_string())
    };
    let now = "2024-02-29T12:00:00Z";
    assert_eq!(packed(&[now, now], Some("red")), Ok(()));
    assert_eq!(packed(&[], None), Ok(()));
    let wrong = packed(&[now, "yesterday"], None).unwrap_err();
    assert_eq!(
        wrong,
        "\"yesterday\" is not a xs:dateTime at /shipment/when[2] (slot 6)"
    );
    let wrong = packed(&[now], Some("green")).unwrap_err();
    assert_eq!(
        wrong,
        "\"green\" is not one of red, blue at /shipment/colour (slot 7)"
    );
}

#[test]
fn a_record_is_checked_again_after_a_change_or_if_it_was_read_with_warnings() {
    let root = shipment();
    let text = "<shipment><when>2024-02-29T12:00:00Z</when><colour>red</colour></shipment>";
    let mut record = decode(&root, DecodeOptions::default(), text).unwrap();
    assert_eq!(record.check(), Ok(()));
    let slot = record.append_octets(b"never").unwrap();
    assert!(record.set_slot(2, slot));
    let error = record.check().unwrap_err().to_string();
    assert!(error.contains("/shipment/when"), "{error}");
    let text = text.replace("red", "green");
    let record = decode(&root, DecodeOptions::default(), &text).unwrap();
    assert!(
        record
            .check()
            .unwrap_err()
            .to_string()
            .contains("\"green\"")
    );
    let text = "<shipment><weight>inf</weight></shipment>";
    let record = decode(&root, DecodeOptions::default(), text).unwrap();
    assert_eq!((record.warnings().len(), record.check()), (1, Ok(())));
    let mut sent = Vec::new();
    encode(&record, &mut sent).unwrap();
    assert!(String::from_utf8(sent).unwrap().contains(">INF<"));
}

#[test]
fn attributes_and_lists_are_checked_before_they_are_sent() {
    let mut schema = Schema::new();
    let colour = listed(Datatype::String, &["red"]);
    let list = SimpleType::list_of(&SimpleType::builtin(Datatype::Date)).unwrap();
    let list = schema.simple(&list);
    let dates = schema.child("dates", list, ONCE);
    let particle = schema.sequence(ONCE, vec![dates]);
    let mut attribute = schema.attribute("colour", Datatype::String);
    attribute.leaf = schema.builder.leaf(&colour);
    let mut ty = Schema::plain(bsoap_codec::plan::Content::Particle(particle));
    ty.attributes = vec![attribute];
    let ty = schema.add_type(ty);
    let element = schema.element("r", ty);
    let root = (schema.finish(), element);
    let text = "<r colour='red'><dates>2024-01-01 2024-01-02</dates></r>";
    let valid = decode(&root, DecodeOptions::default(), text).unwrap();
    for (slot, octets) in [(1, "green"), (4, "tomorrow")] {
        let mut record = valid.clone();
        let text = record.append_octets(octets.as_bytes()).unwrap();
        record.set_slot(slot, text);
        assert!(record.check().unwrap_err().to_string().contains(octets));
    }
}

#[test]
fn what_is_checked_is_what_a_strict_decoder_accepts() {
    let (mut valid, mut wrong) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let (plan, root) = random_plan(seed / 4);
        let style = Style {
            gap: "",
            noise: 0,
            size: 60,
        };
        let text = message(&plan, root, &mut random, style);
        let mut decoder = Decoder::new(plan.clone(), options(Tolerance::Strict));
        let Ok(mut record) = decoder.decode(root, text.as_bytes()) else {
            continue;
        };
        // A date, a time, a decimal or a colour becomes something else.
        let is_typed = |text: &str| {
            text.starts_with("20") && text.contains('-') || ["red", "green"].contains(&text)
        };
        let slots: Vec<usize> = (0..record.slots().len())
            .filter(|&slot| is_typed(record.text(record.slots()[slot])))
            .collect();
        if let (true, false) = (random.chance(70), slots.is_empty()) {
            let other = *random.pick(&["blue", "red", "2020-02-30", " 2020-01-01 "]);
            let octets = record.append_octets(other.as_bytes()).unwrap();
            record.set_slot(*random.pick(&slots), octets);
        } else {
            record.parts_mut();
        }
        let mut sent = Vec::new();
        if Encoder::default().encode(&record, &mut sent).is_err() {
            continue;
        }
        let read = decoder.decode(root, &sent);
        let sent = String::from_utf8(sent).unwrap();
        assert_eq!(
            record.check().is_ok(),
            read.is_ok(),
            "seed {seed}: {:?}, {:?}\n{sent}",
            record.check().err(),
            read.err()
        );
        match read {
            Ok(_) => valid += 1,
            Err(_) => wrong += 1,
        }
    }
    assert!(valid > 300 && wrong > 100, "{valid} valid, {wrong} wrong");
}

#[test]
fn deep_records_are_checked_too() {
    let mut schema = Schema::new();
    let node = schema.builder.reserve_type();
    let inner = schema.element("node", node);
    let inner = schema.of(OPTIONAL, inner);
    let when = schema.field("when", Datatype::Date, OPTIONAL);
    let sequence = schema.sequence(ONCE, vec![inner, when]);
    schema.define(node, bsoap_codec::plan::Content::Particle(sequence));
    let root = schema.element("node", node);
    let root = (schema.finish(), root);
    for depth in [3, 500] {
        let text = format!(
            "{}<when>2024-01-01</when>{}",
            "<node>".repeat(depth),
            "</node>".repeat(depth)
        );
        let mut options = DecodeOptions::default();
        options.limits.depth = 1000;
        let mut record = decode(&root, options, &text).unwrap();
        let never = record.append_octets(b"never").unwrap();
        let at =
            (0..record.slots().len()).find(|&at| record.text(record.slots()[at]) == "2024-01-01");
        record.set_slot(at.expect("a date"), never);
        assert!(record.check().unwrap_err().to_string().contains("never"));
    }
}
