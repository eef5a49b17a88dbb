//! Records as JSON and back.

use std::sync::Arc;

use bsoap_codec::plan::{
    Content, ElementId, NamespaceConstraint, ProcessContents, UNBOUNDED, Wildcard,
};
use bsoap_codec::{Decoder, Object, Plan, Record, Value, View, build};
use bsoap_datatypes::{Datatype, SimpleType};

use bsoap_testkit::message::{Style, message, strict};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

fn json(record: &Record) -> String {
    let view = View::of(record);
    let json = view.to_json().unwrap_or_else(|error| panic!("{error}"));
    let serialized = serde_json::to_string(&view).unwrap_or_else(|error| panic!("{error}"));
    assert!(json == serialized, "{}", difference(&json, &serialized));
    json
}

/// The part where two texts differ.
fn difference(x: &str, y: &str) -> String {
    let at = x
        .bytes()
        .zip(y.bytes())
        .position(|(a, b)| a != b)
        .unwrap_or(x.len().min(y.len()));
    let show = |text: &str| {
        let bytes = &text.as_bytes()[at.saturating_sub(150)..(at + 80).min(text.len())];
        String::from_utf8_lossy(bytes).into_owned()
    };
    format!("{}\n{}", show(x), show(y))
}

/// The slots around the first that differs.
fn slots(a: &Record, b: &Record) -> String {
    let at = a
        .slots()
        .iter()
        .zip(b.slots())
        .position(|(a, b)| a != b)
        .unwrap_or(0);
    let near = |record: &Record| {
        format!(
            "{:x?}",
            record
                .slots()
                .iter()
                .skip(at.saturating_sub(3))
                .take(6)
                .collect::<Vec<_>>()
        )
    };
    format!(
        "slot {at} of {} and {}: {} {}\n",
        a.slots().len(),
        b.slots().len(),
        near(a),
        near(b)
    )
}

fn records(seeds: std::ops::Range<u64>, mut check: impl FnMut(u64, &Arc<Plan>, ElementId, Record)) {
    for seed in seeds {
        let random = &mut Random::new(seed);
        let (plan, root) = random_plan(seed);
        let style = Style {
            gap: "",
            noise: (seed % 3) as usize,
            size: 40 + (seed % 100) as usize,
        };
        let text = message(&plan, root, random, style);
        let mut decoder = Decoder::new(plan.clone(), strict());
        if let Ok(record) = decoder.decode(root, text.as_bytes()) {
            check(seed, &plan, root, record);
        }
    }
}

#[test]
fn a_record_becomes_a_value_and_the_same_record_again() {
    let mut checked = 0;
    records(0..3000, |seed, plan, root, record| {
        let text = json(&record);
        let value = View::of(&record).to_value().unwrap();
        assert_eq!(value.to_json(), text, "seed {seed}: streamed and collected");
        let defaults = (0..plan.element_count() as u32)
            .any(|id| plan.element(ElementId(id)).default.is_some());
        let again = match build(plan, root, &value) {
            // An empty value of an element with a default becomes that, which may be none of its values.
            Err(_) if defaults => return,
            result => result.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}")),
        };
        let text_again = json(&again);
        if !defaults {
            assert!(
                text_again == text,
                "seed {seed}: {}",
                difference(&text, &text_again)
            );
        }
        // Defaults of attributes are given now; all else is as it was.
        if !text.contains("@defaulted") && !defaults {
            assert!(again == record, "seed {seed}: {text}");
        }
        checked += 1;
    });
    assert!(checked > 1000, "only {checked} messages");
}

#[test]
fn json_text_becomes_the_same_record() {
    records(0..1000, |seed, plan, root, record| {
        let text = json(&record);
        let value = View::of(&record).to_value().unwrap();
        assert_eq!(value.to_json(), text, "seed {seed}");
        let value = Value::from_json_str(&text).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            Value::from_json(parsed).to_json(),
            value.to_json(),
            "seed {seed}"
        );
        if let Ok(again) = build(plan, root, &value) {
            let third = build(plan, root, &Value::from_json_str(&json(&again)).unwrap()).unwrap();
            assert!(third == again, "seed {seed}");
        }
    });
}

/// Changes a value somewhere.
fn mutate(value: &mut Value, random: &mut Random) {
    let fresh = |random: &mut Random| {
        let mut other = Object::new();
        other.insert("x", 1.5);
        random
            .pick(&[
                Value::Nil,
                Value::Bool(true),
                Value::Int(-5),
                Value::UInt(u64::MAX),
                Value::Double(f64::NAN),
                Value::from("text"),
                Value::from("<a/>"),
                Value::from(""),
                Value::Array(vec![]),
                Value::from(vec![1.5, 2.0]),
                Value::from(vec![1i64]),
                Value::Object(other.clone()),
                Value::Array(vec![Value::Object(other), Value::Nil]),
                Value::Bytes(vec![1, 2]),
            ])
            .clone()
    };
    match value {
        Value::Object(object) if !object.is_empty() && random.chance(85) => {
            let keys: Vec<String> = object.keys().map(str::to_owned).collect();
            let key = random.pick(&keys).clone();
            match random.below(12) {
                0 => drop(object.remove(&key)),
                1 => drop(object.insert(format!("{key}x"), 1)),
                2 => drop(object.insert(
                    *random.pick(&[
                        "#order",
                        "#any",
                        "#mixed",
                        "#text",
                        "@any",
                        "@type",
                        "@nil",
                        "@xsi:type",
                    ]),
                    fresh(random),
                )),
                3 => {
                    let moved = object.remove(&key).unwrap_or_default();
                    object.insert(key, moved);
                }
                _ => {
                    if let Some(member) = object.get_mut(&key) {
                        mutate(member, random);
                    }
                }
            }
        }
        Value::Array(values) if !values.is_empty() && random.chance(85) => {
            let at = random.below(values.len());
            match random.below(5) {
                0 => drop(values.remove(at)),
                1 => values.push(values[at].clone()),
                _ => mutate(&mut values[at], random),
            }
        }
        other => *other = fresh(random),
    }
}

#[test]
fn a_value_of_any_shape_is_an_error_or_a_message_that_can_be_sent() {
    let (mut built, mut refused) = (0, 0);
    records(0..1500, |seed, plan, root, record| {
        let original = View::of(&record).to_value().unwrap();
        let random = &mut Random::new(seed + 77);
        for _ in 0..8 {
            let mut value = original.clone();
            for _ in 0..1 + random.below(2) {
                mutate(&mut value, random);
            }
            match build(plan, root, &value) {
                Ok(record) => {
                    built += 1;
                    let mut text = Vec::new();
                    bsoap_codec::encode(&record, &mut text)
                        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                    let mut decoder = Decoder::new(plan.clone(), strict());
                    let defaults = (0..plan.element_count() as u32)
                        .any(|id| plan.element(ElementId(id)).default.is_some());
                    match decoder.decode(root, &text) {
                        Ok(again) => assert!(
                            defaults || again == record,
                            "seed {seed}: {}",
                            slots(&record, &again) + &difference(&json(&record), &json(&again))
                        ),
                        Err(_) if defaults => {}
                        Err(error) => panic!(
                            "seed {seed}: {error}\n{}\n{}",
                            value.to_json(),
                            String::from_utf8_lossy(&text)
                        ),
                    }
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().contains(" at /root"), "{error}");
                }
            }
        }
    });
    assert!(
        built > 500 && refused > 500,
        "{built} built, {refused} refused"
    );
}

#[test]
fn a_sample_is_a_message() {
    for seed in 0..3000 {
        let (plan, root) = random_plan(seed);
        let value = bsoap_codec::sample(&plan, root).unwrap();
        // Random schemas have defaults that are none of the type's values.
        let defaults = (0..plan.element_count() as u32)
            .any(|id| plan.element(ElementId(id)).default.is_some());
        if let Err(error) = build(&plan, root, &value) {
            assert!(
                defaults || error.to_string().starts_with("#any"),
                "seed {seed}: {error}\n{}",
                value.to_json()
            );
        }
    }
}

#[test]
fn the_order_of_repeated_groups_is_shown_only_where_it_cannot_be_guessed() {
    let mut schema = Schema::new();
    let a = schema.field("a", Datatype::Int, ONCE);
    let b = schema.field("b", Datatype::String, ONCE);
    let choice = schema.choice((0, UNBOUNDED), vec![a, b]);
    let ty = schema.ty(Content::Particle(choice));
    let root = schema.element("e", ty);
    let plan = schema.finish();
    let round = |json_text: &str| {
        let record = build(&plan, root, &Value::from_json_str(json_text).unwrap()).unwrap();
        (
            String::from_utf8({
                let mut out = Vec::new();
                bsoap_codec::encode(&record, &mut out).unwrap();
                out
            })
            .unwrap(),
            json(&record),
        )
    };
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    let (text, back) = round(r#"{"b":["x"],"a":[1,2]}"#);
    assert_eq!(text, format!("{head}<e><a>1</a><a>2</a><b>x</b></e>"));
    assert_eq!(back, r#"{"a":[1,2],"b":["x"]}"#);
    let (text, back) = round(r##"{"a":[1,2],"b":"x","#order":["a","b","a"]}"##);
    assert_eq!(text, format!("{head}<e><a>1</a><b>x</b><a>2</a></e>"));
    assert_eq!(back, r##"{"a":[1,2],"b":["x"],"#order":["a","b","a"]}"##);
}

#[test]
fn children_in_the_order_of_the_text_give_the_same_record() {
    let mut checked = 0;
    records(0..1000, |seed, plan, root, record| {
        let view = View::of(&record);
        let Ok(Value::Object(mut object)) = view.to_value() else {
            return;
        };
        let key = |child: View<'_>| Value::from(plan.key(view.type_id(), child.element_id()));
        let order: Vec<_> = view.children().map(key).collect();
        if order.is_empty() || object.keys().any(|key| key.starts_with('#')) {
            return;
        }
        let placed = build(plan, root, &Value::Object(object.clone()));
        object.insert("#order", order);
        let ordered = build(plan, root, &Value::Object(object));
        assert_eq!(placed.is_ok(), ordered.is_ok(), "seed {seed}");
        if let (Ok(placed), Ok(ordered)) = (placed, ordered) {
            assert!(
                placed == ordered,
                "seed {seed}: {}",
                slots(&placed, &ordered)
            );
            checked += 1;
        }
    });
    assert!(checked > 100, "only {checked} messages");
}

#[test]
fn children_without_a_place_are_an_error() {
    let mut schema = Schema::new();
    let number = schema.field("number", Datatype::Int, ONCE);
    let items = schema.field("item", Datatype::String, (0, 2));
    let a = schema.field("a", Datatype::Int, ONCE);
    let b = schema.field("b", Datatype::Int, ONCE);
    let choice = schema.choice(ONCE, vec![a, b]);
    let content = schema.sequence(ONCE, vec![number, items, choice]);
    let ty = schema.ty(Content::Particle(content));
    let root = schema.element("r", ty);
    let plan = schema.finish();
    let built = |text: &str| build(&plan, root, &Value::from_json_str(text).expect("JSON"));
    for text in [
        r#"{"number":[1],"a":1}"#,
        r#"{"a":null,"b":1,"number":1,"item":null}"#,
        r#"{"item":"x","number":"1","b":[1],"a":[]}"#,
    ] {
        assert!(built(text).is_ok(), "{text}: {:?}", built(text));
    }
    for (text, expected) in [
        (
            r#"{"number":[1,2],"a":1}"#,
            "1 more items than are allowed at /r/number",
        ),
        (
            r#"{"number":1,"a":1,"b":2}"#,
            "1 more items than are allowed at /r/b",
        ),
        (
            r#"{"number":1,"item":["x","y","z"],"a":1}"#,
            "1 more items than are allowed at /r/item",
        ),
        (r#"{"number":1}"#, "one of a, b is missing at /r"),
        (
            r#"{"number":1,"a":1,"c":2}"#,
            "c is not known at /r, which has number, item, a, b",
        ),
    ] {
        assert_eq!(built(text).expect_err(text).to_string(), expected);
    }
}

#[test]
fn an_element_that_occurs_too_rarely_is_counted_and_not_called_missing() {
    let mut schema = Schema::new();
    let fields = vec![schema.field("e", Datatype::String, (2, 5))];
    let ty = schema.structure(fields);
    let root = schema.element("r", ty);
    let plan = schema.finish();
    for (text, expected) in [
        (r#"{"e":["x"]}"#, "1 of e, expected at least 2 at /r"),
        (r#"{"e":[]}"#, "e (string) is missing at /r"),
        (r#"{}"#, "e (string) is missing at /r"),
    ] {
        let error = build(&plan, root, &Value::from_json_str(text).expect("JSON"));
        assert_eq!(error.expect_err(text).to_string(), expected);
    }
}

#[test]
fn numbers_and_texts_replace_each_other() {
    let mut schema = Schema::new();
    let fields = vec![
        schema.field("i", Datatype::Int, ONCE),
        schema.field("d", Datatype::Double, ONCE),
        schema.field("b", Datatype::Boolean, ONCE),
        schema.field("m", Datatype::Decimal, ONCE),
        schema.field("s", Datatype::String, OPTIONAL),
        schema.field("o", Datatype::Base64Binary, OPTIONAL),
        schema.field("v", Datatype::Double, MANY),
    ];
    let ty = schema.structure(fields);
    let root = schema.element("e", ty);
    let plan = schema.finish();
    let built = |text: &str| build(&plan, root, &Value::from_json_str(text).unwrap());
    let record = built(r#"{"i":"12","d":"INF","b":"1","m":1e21,"s":7,"o":"AQI=","v":2}"#).unwrap();
    assert_eq!(
        json(&record),
        r#"{"i":12,"d":"INF","b":true,"m":"1000000000000000000000","s":"7","o":"AQI=","v":[2.0]}"#
    );
    let view = View::of(&record);
    assert_eq!(
        view.column::<f64>("v").and_then(|column| column.as_slice()),
        Some(&[2.0][..])
    );
    assert_eq!(view.child("i").and_then(|child| child.as_i64()), Some(12));
    assert!(view.column::<i32>("v").is_none());
    assert_eq!(
        json(&built(r#"{"i":-3.0,"d":1,"b":0,"m":"12.50","s":null}"#).unwrap()),
        r#"{"i":-3,"d":1.0,"b":false,"m":"12.50"}"#
    );
    let errors = [
        (
            r#"{"i":"12,5","d":1,"b":0,"m":1}"#,
            r#""12,5" is not an xs:int at /e/i"#,
        ),
        (
            r#"{"i":2147483648,"d":1,"b":0,"m":1}"#,
            r#""2147483648" is not an xs:int at /e/i"#,
        ),
        (r#"{"i":1,"d":1,"b":0}"#, "m (decimal) is missing at /e"),
        (
            r#"{"i":1,"d":1,"b":0,"m":1,"S":"x"}"#,
            "S is not known (did you mean s?) at /e, which has i, d, b, m, s, o, v",
        ),
        (
            r#"{"i":[1,2],"d":1,"b":0,"m":1}"#,
            "1 more items than are allowed at /e/i",
        ),
        (
            r#"{"i":{"x":1},"d":1,"b":0,"m":1}"#,
            "x is not known at /e/i, which has #text",
        ),
        (
            r#"[1]"#,
            "an array of numbers where an object is expected at /e",
        ),
    ];
    for (text, message) in errors {
        assert_eq!(built(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn rows_of_structs_are_columns() {
    let mut schema = Schema::new();
    let fields = vec![
        schema.field("x", Datatype::Int, ONCE),
        schema.field("note", Datatype::String, OPTIONAL),
        schema.field("v", Datatype::Double, ONCE),
    ];
    let point = schema.structure(fields);
    let points = schema.child("p", point, MANY);
    let ty = schema.structure(vec![points]);
    let root = schema.element("e", ty);
    let plan = schema.finish();
    let text = r#"{"p":[{"x":1,"v":0.5},{"x":2,"note":"n","v":1.5}]}"#;
    let record = build(&plan, root, &Value::from_json_str(text).unwrap()).unwrap();
    let rows = View::of(&record).rows("p").unwrap();
    assert_eq!((rows.len(), rows.stride()), (2, 4));
    assert_eq!(rows.column::<i32>("x").unwrap().to_vec(), [1, 2]);
    assert_eq!(rows.column::<f64>("v").unwrap().to_vec(), [0.5, 1.5]);
    assert!(rows.column::<i32>("v").is_none() && rows.column::<f64>("note").is_none());
    assert_eq!(
        rows.row(1)
            .unwrap()
            .child("note")
            .unwrap()
            .text()
            .as_deref(),
        Some("n")
    );
    assert_eq!(json(&record), text);
}

#[test]
fn a_type_named_twice_or_not_by_a_name_is_refused() {
    let mut schema = Schema::new();
    let [shape, circle] = ["Shape", "Circle"].map(|name| {
        let content = vec![schema.field("radius", Datatype::Int, OPTIONAL)];
        let ty = schema.structure(content);
        schema.amend(ty).name = Some(schema.builder.name("urn:s", name));
        ty
    });
    schema.amend(shape).alternatives = vec![shape, circle];
    let element = schema.element("shape", shape);
    let child = schema.of(ONCE, element);
    let fixed = schema.element("circle", circle);
    let fixed = schema.of(OPTIONAL, fixed);
    let (plan, root) = schema.rooted("r", vec![child, fixed]);
    let made = |json: &str| {
        let value = Value::from_json_str(json).unwrap();
        build(&plan, root, &value).map_err(|error| error.to_string())
    };
    for json in [
        r#"{"shape":{"@type":"Circle"}}"#,
        r#"{"shape":{"@type":null},"circle":{"@xsi:type":"Circle"}}"#,
    ] {
        made(json).unwrap_or_else(|error| panic!("{json}: {error}"));
    }
    for (json, problem) in [
        (
            r#"{"shape":{"@xsi:type":"Circle","@type":"Shape"}}"#,
            "@type is not known at /r/shape, which has radius",
        ),
        (
            r#"{"shape":{"@type":5}}"#,
            "an integer where the name of a type is expected at /r/shape/@type",
        ),
        (
            r#"{"shape":{},"circle":{"@xsi:type":"Shape"}}"#,
            "the type Shape is not allowed here at /r/circle",
        ),
    ] {
        let error = made(json).unwrap_err();
        assert!(error.contains(problem), "{json}: {error}");
    }
}

#[test]
fn octets_have_the_lexical_form_of_their_type_in_both_directions() {
    let mut schema = Schema::new();
    let hexes = SimpleType::list_of(&SimpleType::builtin(Datatype::HexBinary));
    let hexes = schema.simple(&hexes.unwrap_or_else(|error| panic!("{error}")));
    let fields = vec![
        schema.field("hex", Datatype::HexBinary, ONCE),
        schema.field("base", Datatype::Base64Binary, ONCE),
        schema.child("hexes", hexes, ONCE),
    ];
    let (plan, root) = schema.rooted("r", fields);
    let text = r#"{"hex":"DEAD","base":"3q0=","hexes":["00","FF"]}"#;
    let value = Value::from_json_str(text).unwrap_or_default();
    let record = build(&plan, root, &value).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(json(&record), text);
    let back = View::of(&record).to_value().unwrap_or_default();
    assert_eq!(back["hex"], Value::Hex(vec![0xde, 0xad]));
    assert_eq!(back["base"], Value::Bytes(vec![0xde, 0xad]));
    assert_eq!(back.to_json(), text);
    // Octets are octets, and small digits are digits.
    let octets = Value::object([
        ("hex", Value::Bytes(vec![0xde, 0xad])),
        ("base", Value::Hex(vec![0xde, 0xad])),
        ("hexes", Value::from(" 00 ff ")),
    ]);
    let same = build(&plan, root, &octets).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(json(&same), text);
    for (key, wrong, expected) in [
        ("hex", "3q0=", "hexadecimal digits"),
        ("base", "=", "base64 text"),
    ] {
        let mut members = value.as_object().cloned().unwrap_or_default();
        members.insert(key, wrong);
        let error = build(&plan, root, &Value::Object(members)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

fn admitting(namespace: &str) -> Wildcard {
    Wildcard {
        namespaces: NamespaceConstraint::OneOf(vec![namespace.to_owned()]),
        process: ProcessContents::Lax,
    }
}

/// The text of a message of these JSON children.
fn text_of(plan: &Arc<Plan>, root: ElementId, json_text: &str) -> String {
    let value = Value::from_json_str(json_text).unwrap();
    let record = build(plan, root, &value).unwrap_or_else(|error| panic!("{json_text}: {error}"));
    let mut out = Vec::new();
    bsoap_codec::encode(&record, &mut out).unwrap();
    String::from_utf8(out)
        .unwrap()
        .replace("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "")
}

#[test]
fn an_element_goes_to_the_wildcard_that_allows_its_namespace() {
    let mut schema = Schema::new();
    let schemas = schema.any((0, UNBOUNDED), admitting("urn:schema"));
    let rows = schema.any(ONCE, admitting("urn:rows"));
    let (plan, root) = schema.rooted("set", vec![schemas, rows]);
    for (json_text, inner) in [
        (
            r##"{"#any":["<r xmlns='urn:rows'/>"]}"##,
            "<r xmlns='urn:rows'/>",
        ),
        (
            r##"{"#any":["<s xmlns='urn:schema'/>","<s xmlns='urn:schema'/>","<r xmlns='urn:rows'/>"]}"##,
            "<s xmlns='urn:schema'/><s xmlns='urn:schema'/><r xmlns='urn:rows'/>",
        ),
    ] {
        assert_eq!(
            text_of(&plan, root, json_text),
            format!("<set>{inner}</set>")
        );
    }
}

#[test]
fn of_branches_with_common_children_that_is_taken_of_which_all_is_given() {
    let mut schema = Schema::new();
    let a = schema.field("a", Datatype::Int, ONCE);
    let b = schema.field("b", Datatype::Int, ONCE);
    let both = schema.sequence(ONCE, vec![a, b]);
    let choice = schema.choice(ONCE, vec![both, b]);
    let ty = schema.ty(Content::Particle(choice));
    let root = schema.element("e", ty);
    let plan = schema.finish();
    assert_eq!(text_of(&plan, root, r#"{"b":2}"#), "<e><b>2</b></e>");
    assert_eq!(
        text_of(&plan, root, r#"{"b":2,"a":1}"#),
        "<e><a>1</a><b>2</b></e>"
    );
}
