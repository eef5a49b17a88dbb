//! Slots are named by their place in the message.

#![allow(clippy::single_range_in_vec_init)] // there may be several

use bsoap_codec::decode::{DecodeOptions, Decoder};
use bsoap_codec::{Record, regions};
use bsoap_datatypes::Datatype;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

fn order() -> Record {
    let mut schema = Schema::new();
    let point = vec![
        schema.field("x", Datatype::Double, ONCE),
        schema.field("y", Datatype::Double, ONCE),
    ];
    let point = schema.structure(point);
    let point = schema.element("point", point);
    let tags = vec![schema.field("tag", Datatype::String, MANY)];
    let sku = vec![schema.attribute("sku", Datatype::Token)];
    let line = schema.structure(tags);
    schema.amend(line).attributes = sku;
    let line = schema.element("line", line);
    let children = vec![
        schema.field("note", Datatype::String, OPTIONAL),
        schema.of(MANY, point),
        schema.of(MANY, line),
        schema.field("v", Datatype::Double, MANY),
    ];
    let (plan, root) = schema.rooted("order", children);
    let text = "<order><note>n</note>\
        <point><x>1</x><y>2</y></point><point><x>3</x><y>4</y></point><point><x>5</x><y>6</y></point>\
        <line sku='a'><tag>t</tag><tag>u</tag></line><line sku='b'/>\
        <v>7</v><v>8</v><v>9</v><v>10</v></order>";
    let mut decoder = Decoder::new(plan, DecodeOptions::default());
    decoder.decode(root, text.as_bytes()).expect("a message")
}

/// The slot of a number or a text.
fn slot(record: &Record, value: &str) -> usize {
    let number = value.parse::<f64>().ok().map(f64::to_bits);
    let is_it =
        |&slot: &u64| Some(slot) == number || number.is_none() && record.text(slot) == value;
    record.slots().iter().position(is_it).expect("a slot")
}

fn shown(record: &Record, slots: &[std::ops::Range<usize>]) -> Vec<String> {
    let regions = regions(record, slots);
    regions.iter().map(ToString::to_string).collect()
}

#[test]
fn a_value_is_named_by_its_path() {
    let record = order();
    for (value, path) in [
        ("n", "/order/note"),
        ("1", "/order/point/x"),
        ("4", "/order/point[2]/y"),
        ("a", "/order/line/@sku"),
        ("u", "/order/line/tag[2]"),
        ("b", "/order/line[2]/@sku"),
        ("7", "/order/v[1]"),
        ("10", "/order/v[4]"),
    ] {
        let at = slot(&record, value);
        let found = shown(&record, &[at..at + 1]);
        assert_eq!(found, [path], "{value}");
    }
}

#[test]
fn values_next_to_one_another_are_named_together() {
    let record = order();
    let at = |value| slot(&record, value);
    let (v, x, note) = (at("8"), at("3"), at("n"));
    assert_eq!(
        shown(&record, &[v..v + 1, v + 1..v + 2]),
        ["/order/v[2 to 3]"]
    );
    assert_eq!(shown(&record, &[x..x + 4]), ["/order/point[2 to 3]"]);
    assert_eq!(
        shown(&record, &[note..note + 1, x..x + 2, v..v + 3]),
        ["/order/note", "/order/point[2]", "/order/v[2 to 4]"]
    );
    let all = 0..record.slots().len();
    assert_eq!(shown(&record, &[all]), ["/order"]);
    assert_eq!(shown(&record, &[]), [""; 0]);
    assert_eq!(shown(&record, &[3..3, 5..5]), [""; 0]);
}

#[test]
fn whatever_slots_there_are_each_is_named_and_no_other() {
    let record = order();
    let slots = record.slots().len();
    for from in 0..slots {
        for to in from + 1..=slots + 2 {
            assert!(!shown(&record, &[from..to]).is_empty(), "{from}..{to}");
        }
    }
    assert!(shown(&record, &[slots..slots + 5]).is_empty());
}
