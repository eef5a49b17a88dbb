//! Messages with the right elements in the wrong form, which lenient mode rewrites before it reads them.

use std::sync::Arc;

use bsoap_codec::decode::{
    DecodeOptions, Decoder, Deviation, Deviations, Error, Tolerance, Warning,
};
use bsoap_codec::plan::ElementId;
use bsoap_codec::repair::Repair;
use bsoap_codec::{Plan, Record, View};
use bsoap_datatypes::Datatype;
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

type Root = (Arc<Plan>, ElementId);

const XSI: &str = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";

fn options(accepted: impl Into<Deviations>) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.accepted = accepted.into();
    options
}

fn decode((plan, root): &Root, options: DecodeOptions, text: &str) -> Result<Record, Error> {
    let mut decoder = Decoder::new(plan.clone(), options);
    Repair::default().decode(&mut decoder, *root, text.as_bytes())
}

fn lenient(root: &Root, text: &str) -> Record {
    let decoded = decode(root, options(Tolerance::Lenient), text);
    decoded.unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn json(record: &Record) -> String {
    View::of(record).to_json().expect("JSON")
}

fn warnings(record: &Record) -> Vec<String> {
    record.warnings().iter().map(ToString::to_string).collect()
}

/// `<r><a>1</a><b>x</b><c>1</c>…<d/>?</r>`, in the order a, b, c, d.
fn sequence() -> Root {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("a", Datatype::Int, ONCE),
        schema.field("b", Datatype::String, ONCE),
        schema.field("c", Datatype::Int, MANY),
        schema.field("d", Datatype::Int, OPTIONAL),
    ];
    schema.rooted("r", children)
}

#[test]
fn elements_in_any_order_are_read_as_those_in_order() {
    let root = sequence();
    let parts = ["<a>1</a>", "<b>x</b>", "<c>2</c>", "<c>3</c>", "<d>4</d>"];
    let expected = lenient(&root, &format!("<r>{}</r>", parts.concat()));
    assert!(expected.warnings().is_empty());
    let mut random = Random::new(7);
    for _ in 0..200 {
        let mut order = [0, 1, 2, 3, 4];
        for at in (1..5).rev() {
            order.swap(at, random.below(at + 1));
        }
        // The items of an array keep their order.
        let (second, third) = (
            order.iter().position(|&it| it == 2),
            order.iter().position(|&it| it == 3),
        );
        if second > third {
            continue;
        }
        let text: String = order
            .iter()
            .map(|&it| format!("\n  {}", parts[it]))
            .collect();
        let text = format!("<r>{text}\n</r>");
        let found = lenient(&root, &text);
        assert_eq!(found.slots(), expected.slots(), "{text}");
        let moved = order.windows(2).any(|pair| pair[0] > pair[1]);
        assert_eq!(!found.warnings().is_empty(), moved, "{text}");
        for warning in found.warnings() {
            assert_eq!(warning.deviation(), Deviation::MisplacedElement);
            assert!(text[warning.offset() as usize..].starts_with('<'), "{text}");
        }
    }
}

#[test]
fn a_refused_message_says_which_mode_would_read_it() {
    let root = sequence();
    let cases = [
        (
            "<r><b>x</b><a>1</a></r>",
            "lenient mode moves it to its place",
        ),
        ("<r><a>1</a></r>", "lenient mode reads it as nil or empty"),
        (
            "<r><n:a xmlns:n='urn:n'>1</n:a><b/></r>",
            "lenient mode reads it as that element",
        ),
    ];
    for (text, advice) in cases {
        let error = decode(&root, DecodeOptions::default(), text).unwrap_err();
        assert_eq!(error.accepted_in(), Some(Tolerance::Lenient));
        assert!(error.to_string().ends_with(advice), "{error}");
    }
    // A number that is missing has no value that could stand for it, so no mode reads it.
    let error = decode(&root, options(Tolerance::Lenient), "<r><b>x</b></r>").unwrap_err();
    assert!(error.to_string().contains("expected <a>"), "{error}");
    let error = decode(&root, DecodeOptions::default(), "<r/>").unwrap_err();
    assert_eq!(error.accepted_in(), None);
}

#[test]
fn missing_texts_are_empty_and_nil_values_absent() {
    let root = sequence();
    let text = format!("<r {XSI}><a>1</a><d xsi:nil='true'/></r>");
    assert!(text[77..].starts_with("true") && text[84..].starts_with("</r>"));
    let record = lenient(&root, &text);
    assert_eq!(json(&record), r#"{"a":1,"b":""}"#);
    assert_eq!(
        warnings(&record),
        [
            "xsi:nil on an element that is not nillable at /r/d/@nil (byte 77): read as absent or empty",
            "the element ends here, expected <b> at /r (byte 84): read as nil or empty",
        ]
    );
    let text = format!("<r {XSI}><a>1</a><b xsi:nil='1' x='2'/></r>");
    let record = lenient(&root, &text);
    assert_eq!(json(&record), r#"{"a":1,"b":""}"#);
    assert_eq!(record.warnings().len(), 2);
}

#[test]
fn items_of_other_names_and_qualified_elements_are_read_as_those_that_are_meant() {
    let mut schema = Schema::new();
    let item = schema.field("item", Datatype::Int, MANY);
    let list = schema.structure(vec![item]);
    let children = vec![
        schema.child("list", list, ONCE),
        schema.field("b", Datatype::String, ONCE),
    ];
    let root = schema.rooted("r", children);
    let text = "<r xmlns:x='urn:x'><list><x:int>1</x:int><x:int>2</x:int></list><x:b>t</x:b></r>";
    let record = lenient(&root, text);
    assert_eq!(json(&record), r#"{"list":{"item":[1,2]},"b":"t"}"#);
    let deviations: Vec<Deviation> = record.warnings().iter().map(Warning::deviation).collect();
    let item = Deviation::OtherItemName;
    assert_eq!(deviations, [item, item, Deviation::OtherNamespace]);
    assert_eq!(record.warnings()[1].path(), "/r/list");
    assert!(text[record.warnings()[1].offset() as usize..].starts_with("<x:int>2"));

    // A default namespace does not get into what is renamed, nor out of it.
    let text = "<r xmlns=''><list xmlns='urn:x'><int>1</int></list><b>t</b></r>";
    assert_eq!(
        json(&lenient(&root, text)),
        r#"{"list":{"item":[1]},"b":"t"}"#
    );
    // Beside items of the right name, another one is unknown.
    for items in ["<new/><item>1</item>", "<item>1</item><new/>"] {
        let record = lenient(&root, &format!("<r><list>{items}</list><b>t</b></r>"));
        assert_eq!(json(&record), r#"{"list":{"item":[1]},"b":"t"}"#);
        assert_eq!(record.warnings()[0].deviation(), Deviation::UnknownElement);
    }
    // One deviation alone.
    let only = Deviations::from(Tolerance::Strict).with(item);
    let text = "<r><list><x>1</x></list><b/></r>";
    assert!(decode(&root, options(only), text).is_ok());
    let error = decode(&root, options(only), "<r><b/><list/></r>").unwrap_err();
    assert_eq!(error.deviation(), Some(Deviation::MisplacedElement));
}

#[test]
fn errors_and_other_warnings_have_the_places_of_the_message_that_arrived() {
    let root = sequence();
    let text = "<r>\n<b>x</b>\n<a>1</a>\n<c>2</c><c>oops</c></r>";
    let error = decode(&root, options(Tolerance::Lenient), text).unwrap_err();
    assert_eq!(error.path(), "/r/c[2]");
    assert!(
        text[error.offset() as usize..].starts_with("oops"),
        "{error}"
    );
    let text = "<r>\n<b>x</b>\n<a>1</a>\n<new/><c>2</c></r>";
    let record = lenient(&root, text);
    let places: Vec<&str> = (record.warnings().iter())
        .map(|it| &text[it.offset() as usize..][..4])
        .collect();
    assert_eq!(places, ["<a>1", "<new"]);
}

#[test]
fn a_valid_message_is_read_alike_in_every_mode_and_a_broken_one_never_panics() {
    let (mut random, mut valid) = (Random::new(11), 0);
    for seed in 0..300 {
        let root = random_plan(seed);
        let style = Style {
            gap: "\n ",
            noise: 5,
            size: 50,
        };
        let text = message(&root.0, root.1, &mut random, style);
        let Ok(strict) = decode(&root, options(Tolerance::Strict), &text) else {
            continue;
        };
        valid += 1;
        let record = lenient(&root, &text);
        assert_eq!(strict.slots(), record.slots(), "{text}");
        assert!(record.warnings().is_empty(), "{text}");
        // Two neighbouring pieces of it change their places.
        let cuts: Vec<usize> = text.match_indices('<').map(|(at, _)| at).collect();
        let first = random.below(cuts.len());
        let second = (first + 1 + random.below(4)).min(cuts.len() - 1);
        let third = (second + 1 + random.below(4)).min(cuts.len() - 1);
        let [a, b, c] = [cuts[first], cuts[second], cuts[third]];
        let mixed = [&text[..a], &text[b..c], &text[a..b], &text[c..]].concat();
        if let Ok(record) = decode(&root, options(Tolerance::Lenient), &mixed) {
            record.check().expect("what was read can be written");
        }
    }
    assert!(valid > 100, "{valid}");
}

#[test]
fn messages_in_other_encodings_are_converted_once() {
    let (plan, root) = sequence();
    let read = |accepted: Tolerance, bytes: &[u8]| {
        let mut decoder = Decoder::new(plan.clone(), options(accepted));
        Repair::default().decode(&mut decoder, root, bytes)
    };
    let text = |encoding: &str| {
        format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n<r><b>é</b><a>1</a></r>")
    };
    let latin: Vec<u8> = text("ISO-8859-1").chars().map(|c| c as u8).collect();
    let wide = format!("\u{feff}{}", text("UTF-16"));
    let wide: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let plain = text("UTF-8").into_bytes();
    for bytes in [latin, wide, plain] {
        let record = read(Tolerance::Lenient, &bytes).expect("a message");
        assert_eq!(json(&record), r#"{"a":1,"b":"é"}"#);
        // The element that comes too early is where the error is, and the one behind it is moved.
        let error = read(Tolerance::Strict, &bytes).expect_err("the order is wrong");
        let warning = &record.warnings()[0];
        assert_eq!(warning.deviation(), Deviation::MisplacedElement);
        assert_eq!(warning.offset(), error.offset() + "<b>é</b>".len() as u64);
    }
}

#[test]
fn a_message_may_use_the_prefix_of_renamed_elements() {
    let mut schema = Schema::new();
    let mut child = |name, datatype| {
        let ty = schema.builtin(datatype);
        let element = schema.element_in("urn:t", name, ty);
        schema.of(ONCE, element)
    };
    let children = vec![child("a", Datatype::Int), child("b", Datatype::String)];
    let root = schema.rooted("r", children);
    for prefix in ["bsoap-repaired", "bsoap-repaired1", "p"] {
        let text = format!(
            "<r xmlns:t='urn:t' xmlns:bsoap-repaired='urn:o'>\
             <{prefix}:a xmlns:{prefix}='urn:x'>1</{prefix}:a><t:b>x</t:b></r>"
        );
        assert_eq!(json(&lenient(&root, &text)), r#"{"a":1,"b":"x"}"#, "{text}");
    }
}

#[test]
fn warnings_of_many_misplaced_elements_of_a_large_type_cost_little() {
    let mut schema = Schema::new();
    let count = 2000;
    let names: Vec<String> = (0..count).map(|at| format!("e{at}")).collect();
    let children = names
        .iter()
        .map(|name| schema.field(name, Datatype::Int, MANY))
        .collect();
    let root = schema.rooted("r", children);
    let items: String = names
        .iter()
        .rev()
        .map(|it| format!("<{it}>1</{it}>"))
        .collect();
    let start = std::time::Instant::now();
    let record = lenient(&root, &format!("<r>{items}</r>"));
    let took = start.elapsed();
    assert_eq!(
        record.warnings().len(),
        options(Tolerance::Lenient).warnings
    );
    assert!(took < std::time::Duration::from_secs(2), "{took:?}");
}

/// A type with many declared children, in a message with many elements that it does not know: each is looked up once.
#[test]
fn many_unknown_elements_and_many_declared_children_take_linear_time() {
    let mut schema = Schema::new();
    let names: Vec<String> = (0..20_000).map(|number| format!("c{number}")).collect();
    let fields = names.iter();
    let fields = fields.map(|name| schema.field(name, Datatype::String, OPTIONAL));
    let fields = fields.collect();
    let root = schema.rooted("r", fields);
    let unknown: String = (0..60_000).map(|number| format!("<u{number}/>")).collect();
    let begun = std::time::Instant::now();
    // The misplaced one at the end has the message rewritten.
    let text = format!("<r><c7>x</c7>{unknown}<c5>y</c5></r>");
    let record = lenient(&root, &text);
    assert!(json(&record).contains("\"c5\":\"y\""), "{}", json(&record));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// A few bytes stand for an element with many required children.
#[test]
fn missing_elements_are_not_inserted_without_end() {
    let mut schema = Schema::new();
    let names: Vec<String> = (0..2000).map(|number| format!("c{number}")).collect();
    let fields = names.iter();
    let fields = fields.map(|name| schema.field(name, Datatype::String, ONCE));
    let fields = fields.collect();
    let row = schema.structure(fields);
    let rows = vec![schema.child("row", row, MANY)];
    let root = schema.rooted("r", rows);
    let of = |count: usize| format!("<r>{}</r>", "<row/>".repeat(count));
    let record = lenient(&root, &of(2));
    assert!(json(&record).contains("\"c1999\":\"\""));
    let begun = std::time::Instant::now();
    let refused = decode(&root, options(Tolerance::Lenient), &of(100_000));
    let refused = refused.expect_err("too many are missing");
    assert!(refused.to_string().contains("c0"), "{refused}");
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
