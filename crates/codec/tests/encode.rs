//! Records become text that reads back as the same Record.

use std::collections::HashMap;
use std::sync::Arc;

use bsoap_codec::decode::{Piece, Trace};
use bsoap_codec::encode::{Error, LeafForm, LeafRef, PieceEncoder, Places, Stuffing};
use bsoap_codec::plan::{
    Content, ElementDef, ElementId, NamespaceConstraint, ProcessContents, Role, Wildcard,
};
use bsoap_codec::{Decoder, EncodeOptions, Encoder, Plan, Record, Value, View, build, encode};
use bsoap_datatypes::Datatype;

use bsoap_testkit::hint::values;
use bsoap_testkit::message::{Style, message, strict};
use bsoap_testkit::plan::random_plan;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

fn text(plan: &Arc<Plan>, root: ElementId, value: &Value) -> String {
    let record = build(plan, root, value).unwrap_or_else(|error| panic!("{error}"));
    let mut out = Vec::new();
    let encoder = Encoder::new(EncodeOptions::without_declaration());
    encoder
        .encode(&record, &mut out)
        .unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8(out).unwrap();
    let mut decoder = Decoder::new(plan.clone(), strict());
    let back = decoder
        .decode(root, text.as_bytes())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(back == record, "{text}");
    text
}

/// The reported locations of values: offset and length by slot.
#[derive(Default)]
struct Located(HashMap<usize, (usize, usize)>);

impl Places for Located {
    fn value(&mut self, slot: usize, offset: usize, length: usize, _: usize, _: LeafRef) {
        self.0.insert(slot, (offset, length));
    }
}

/// The text of a Record, and where its values are.
fn located(record: &Record) -> Result<(Vec<u8>, Located), Error> {
    let (mut text, mut located) = (Vec::new(), Located::default());
    let mut encoder = PieceEncoder::new(record, EncodeOptions::default());
    encoder.run(&mut text, usize::MAX, None, &(), &mut located)?;
    Ok((text, located))
}

/// The differences of two Records, to find their cause.
fn difference(a: &Record, b: &Record) -> String {
    let [x, y] = [a, b].map(|record| serde_json::to_string(&View::of(record)).unwrap());
    let at = x
        .bytes()
        .zip(y.bytes())
        .position(|(a, b)| a != b)
        .unwrap_or(x.len().min(y.len()));
    let slot = a.slots().iter().zip(b.slots()).position(|(a, b)| a != b);
    let show = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(120)..(at + 80).min(text.len())])
            .into_owned()
    };
    format!(
        "slot {slot:?} of {} and {}\n{}\n{}",
        a.slots().len(),
        b.slots().len(),
        show(&x),
        show(&y)
    )
}

/// Gives every value the width it takes.
struct AsLongAsItIs;

impl Stuffing for AsLongAsItIs {
    fn width(&self, _: &LeafForm, length: usize) -> usize {
        length
    }
}

#[test]
fn pads_of_no_width_change_nothing() {
    let mut valid = 0;
    for seed in 0..3000 {
        let random = &mut Random::new(seed);
        let (plan, root) = random_plan(seed);
        let style = Style {
            gap: "",
            noise: 20,
            size: 100,
        };
        let given = message(&plan, root, random, style);
        let mut decoder = Decoder::new(plan.clone(), strict());
        let Ok(record) = decoder.decode(root, given.as_bytes()) else {
            continue;
        };
        valid += 1;
        let (mut plain, mut stuffed) = (Vec::new(), Vec::new());
        let plain_end = encode(&record, &mut plain);
        let options = EncodeOptions::default();
        let stuffed_end = PieceEncoder::new(&record, options).run(
            &mut stuffed,
            usize::MAX,
            None,
            &AsLongAsItIs,
            &mut (),
        );
        assert_eq!(plain_end.err(), stuffed_end.err(), "seed {seed}");
        assert!(
            plain == stuffed,
            "seed {seed}:\n{}\n{}",
            String::from_utf8_lossy(&plain),
            String::from_utf8_lossy(&stuffed)
        );
    }
    assert!(valid > 1000, "{valid}");
}

#[test]
fn text_of_any_length_with_anything_in_it_is_written_anywhere_in_the_buffer() {
    let mut schema = Schema::new();
    let fields = vec![
        schema.field("a", Datatype::String, ONCE),
        schema.field(
            "anElementWithANameThatTakesMoreThanThirtyTwoBytes",
            Datatype::String,
            OPTIONAL,
        ),
        schema.field("n", Datatype::Int, OPTIONAL),
    ];
    let line = schema.structure(fields);
    let line = schema.child("line", line, MANY);
    let root = schema.structure(vec![line]);
    let root = schema.element_in("urn:text", "lines", root);
    schema.builder.prefix("urn:text", "t");
    let plan = schema.finish();
    let special = ["", "<", "&&&&", "ü", "\u{fffd}", "\t\n", "\r"];
    let texts: Vec<String> = (0..280)
        .map(|length| {
            let rest = "x".repeat(length * 7 % 140);
            let (front, back) = rest.split_at(rest.len() * (length % 5) / 5);
            format!("{front}{}{back}", special[length % special.len()])
        })
        .collect();
    let lines = texts.iter().enumerate().map(|(number, text)| {
        let mut members = vec![("a", Value::from(text.as_str()))];
        if number % 3 > 0 {
            let name = "anElementWithANameThatTakesMoreThanThirtyTwoBytes";
            members.push((name, Value::from(text.as_str())));
        }
        if number % 2 > 0 {
            members.push(("n", Value::from(number as i32 - 100)));
        }
        Value::object(members)
    });
    let value = Value::object([("line", Value::Array(lines.collect()))]);
    let escape = |text: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        text.replace('\r', "&#13;")
    };
    let mut expected = "<t:lines xmlns:t=\"urn:text\">".to_owned();
    for (number, line) in texts.iter().enumerate() {
        expected += &format!("<line><a>{}</a>", escape(line));
        if number % 3 > 0 {
            let name = "anElementWithANameThatTakesMoreThanThirtyTwoBytes";
            expected += &format!("<{name}>{}</{name}>", escape(line));
        }
        if number % 2 > 0 {
            expected += &format!("<n>{}</n>", number as i32 - 100);
        }
        expected += "</line>";
    }
    expected += "</t:lines>";
    assert_eq!(text(&plan, root, &value), expected);
}

/// Random messages of random Plans: read, written, read again.
#[test]
fn what_is_encoded_decodes_to_the_same_record() {
    let mut valid = 0;
    for seed in 0..4000 {
        let random = &mut Random::new(seed);
        let (plan, root) = random_plan(seed);
        for noise in [0, 20] {
            let style = Style {
                gap: if noise == 0 { "" } else { "\n " },
                noise,
                size: 60,
            };
            let given = message(&plan, root, random, style);
            let mut decoder = Decoder::new(plan.clone(), strict());
            let Ok(mut record) = decoder.decode(root, given.as_bytes()) else {
                continue;
            };
            valid += 1;
            let (mut out, mut places) =
                located(&record).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{given}"));
            // An empty value of an element that has a default cannot be written: it would read as the default, which may be
            // none of its values.
            let defaults = (0..plan.element_count() as u32)
                .any(|id| plan.element(ElementId(id)).default.is_some());
            let read = decoder.decode(root, &out);
            if read.is_err() && defaults {
                continue;
            }
            let mut again = read.unwrap_or_else(|error| {
                panic!(
                    "seed {seed}: {error}\n{given}\n{}",
                    String::from_utf8_lossy(&out)
                )
            });
            if defaults && again != record {
                record = again;
                (out, places) = located(&record).unwrap();
                again = decoder.decode(root, &out).unwrap();
            }
            assert!(
                again == record,
                "seed {seed}: {}",
                difference(&record, &again)
            );
            // The locations that reading the text finds are those reported.
            let (mut trace, mut same) = (Trace::default(), Record::new(plan.clone(), root));
            let text = std::str::from_utf8(&out).unwrap();
            decoder.start(root);
            let piece = Piece {
                text,
                base: 0,
                last: true,
                beyond: 0,
            };
            decoder.read(piece, &mut same, Some(&mut trace)).unwrap();
            for (slot, at) in values(&trace, &out) {
                let reported = places.0.get(&slot);
                assert_eq!(
                    reported,
                    Some(&(at.start, at.len())),
                    "seed {seed} slot {slot}\n{text}"
                );
            }
            // The text without places is the same.
            let mut plain = Vec::new();
            encode(&record, &mut plain).unwrap();
            assert_eq!(plain, out);
        }
    }
    assert!(valid > 1000, "only {valid} messages were valid");
}

#[test]
fn arrays_of_structs_are_rows() {
    let mut schema = Schema::new();
    let fields = vec![
        schema.field("x", Datatype::Int, ONCE),
        schema.field("ok", Datatype::Boolean, ONCE),
        schema.field("v", Datatype::Double, ONCE),
    ];
    let point = schema.structure(fields);
    let points = schema.child("p", point, MANY);
    let after = schema.field("note", Datatype::String, OPTIONAL);
    let root = schema.structure(vec![points, after]);
    let root = schema.element_in("urn:m", "mesh", root);
    schema.builder.prefix("urn:m", "m");
    let plan = schema.finish();
    let point = |x: i64, v: f64| {
        Value::object([
            ("x", Value::from(x)),
            ("ok", Value::from(x > 1)),
            ("v", Value::from(v)),
        ])
    };
    let value = Value::object([
        ("p", Value::Array(vec![point(1, 0.5), point(-2, f64::NAN)])),
        ("note", Value::from("a<b & c")),
    ]);
    assert_eq!(
        text(&plan, root, &value),
        "<m:mesh xmlns:m=\"urn:m\"><p><x>1</x><ok>false</ok><v>0.5</v></p><p><x>-2</x><ok>false</ok><v>NaN</v></p>\
         <note>a&lt;b &amp; c</note></m:mesh>"
    );
    assert_eq!(
        text(&plan, root, &Value::object([("p", Value::Array(vec![]))])),
        "<m:mesh xmlns:m=\"urn:m\"></m:mesh>"
    );
}

#[test]
fn namespaces_of_names_are_declared_where_they_are_needed() {
    let mut schema = Schema::new();
    let id = schema.attribute("ref", Datatype::QName);
    let leaf = schema
        .builder
        .leaf(&bsoap_datatypes::SimpleType::builtin(Datatype::QName));
    let name = schema.add_type(bsoap_codec::plan::TypeDef {
        attributes: vec![id],
        ..Schema::plain(Content::Simple(leaf))
    });
    let name = schema.child("name", name, MANY);
    let root = schema.structure(vec![name]);
    let root = schema.element_in("urn:a", "names", root);
    schema.builder.prefix("urn:a", "a");
    let plan = schema.finish();
    let one = |text: &str, reference: &str| {
        Value::object([
            ("#text", Value::from(text)),
            ("@ref", Value::from(reference)),
        ])
    };
    let value = Value::object([(
        "name",
        Value::Array(vec![
            one("{urn:a}x", "y"),
            one("{urn:b}x", "{urn:c}y"),
            one("{urn:b}x", "{urn:b}y"),
            one("{urn:}d}x", "y"),
        ]),
    )]);
    assert_eq!(
        text(&plan, root, &value),
        "<a:names xmlns:a=\"urn:a\"><name ref=\"y\">a:x</name>\
         <name xmlns:q1=\"urn:c\" ref=\"q1:y\" xmlns:q2=\"urn:b\">q2:x</name>\
         <name xmlns:q1=\"urn:b\" ref=\"q1:y\">q1:x</name>\
         <name ref=\"y\" xmlns:q1=\"urn:}d\">q1:x</name></a:names>"
    );
}

#[test]
fn what_soap_carries_declares_its_own_namespaces() {
    let mut schema = Schema::new();
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    schema.builder.prefix(soap, "soap");
    let [first, second] = ["urn:one", "urn:two"].map(|namespace| {
        let field = schema.builtin(Datatype::Int);
        let field = schema.element_in(namespace, "n", field);
        let field = schema.of(OPTIONAL, field);
        let ty = schema.structure(vec![field]);
        let element = schema.element_in(namespace, "op", ty);
        schema.of(ONCE, element)
    });
    let choice = schema.choice(OPTIONAL, vec![first, second]);
    let body = schema.ty(Content::Particle(choice));
    let body = schema.element_with(soap, "Body", body, |def| def.role = Role::Soap);
    let body = schema.of(ONCE, body);
    let envelope = schema.structure(vec![body]);
    let root = schema.element_with(soap, "Envelope", envelope, |def| def.role = Role::Soap);
    let plan = schema.finish();
    let value = Value::object([(
        "Body",
        Value::object([("{urn:two}op", Value::object([("n", Value::from(7))]))]),
    )]);
    assert_eq!(
        text(&plan, root, &value),
        "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>\
         <ns2:op xmlns:ns2=\"urn:two\"><ns2:n>7</ns2:n></ns2:op></soap:Body></soap:Envelope>"
    );
}

#[test]
fn attributes_of_wildcards_get_prefixes_that_mean_the_same() {
    let mut schema = Schema::new();
    let any = Wildcard {
        namespaces: NamespaceConstraint::Any,
        process: ProcessContents::Skip,
    };
    let leaf = schema
        .builder
        .leaf(&bsoap_datatypes::SimpleType::builtin(Datatype::String));
    let own = schema.attribute("own", Datatype::String);
    let ty = schema.add_type(bsoap_codec::plan::TypeDef {
        attributes: vec![own],
        any_attribute: Some(any),
        ..Schema::plain(Content::Simple(leaf))
    });
    let root = schema.element_in("urn:a", "e", ty);
    let plan = schema.finish();
    let any = Value::object([
        ("{urn:x}k", Value::from("1 < \"2\"")),
        ("{urn:a}l", Value::from("é")),
        ("{urn:x}m", Value::from("")),
    ]);
    let value = Value::object([("@any", any), ("#text", Value::from("t"))]);
    assert_eq!(
        text(&plan, root, &value),
        "<ns1:e xmlns:ns1=\"urn:a\" xmlns:q1=\"urn:x\" q1:k=\"1 &lt; &quot;2&quot;\" ns1:l=\"é\" q1:m=\"\">t</ns1:e>"
    );

    // A declaration is no attribute, and what is declared, or of `xsi:`, has a key of its own.
    let xsi = "{http://www.w3.org/2001/XMLSchema-instance}";
    for key in [
        "xmlns",
        "{http://www.w3.org/2000/xmlns/}p",
        &format!("{xsi}type"),
        &format!("{xsi}nil"),
        "own",
    ] {
        let any = Value::object([(key, Value::from("urn:z"))]);
        let value = Value::object([("@any", any), ("#text", Value::from("t"))]);
        assert!(build(&plan, root, &value).is_err(), "{key}");
    }

    // A name that is given twice is one attribute too many.
    let any = Value::object([("k", Value::from("1")), ("{}k", Value::from("2"))]);
    let value = Value::object([("@any", any), ("#text", Value::from("t"))]);
    assert!(build(&plan, root, &value).is_err());

    // As many namespaces as fit in a tag are no trouble.
    let any = (0..500).map(|n| (format!("{{urn:{n}}}k"), Value::from(n.to_string())));
    let any = Value::object(any);
    let value = Value::object([("@any", any), ("#text", Value::from("t"))]);
    let begun = std::time::Instant::now();
    let written = text(&plan, root, &value);
    assert!(
        written.contains(" xmlns:q500=\"urn:499\" q500:k=\"499\""),
        "{written}"
    );
    assert!(begun.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn characters_that_xml_cannot_carry_are_refused_with_their_place() {
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
    let mut out = b"before".to_vec();
    let error = encode(&record, &mut out).unwrap_err();
    assert_eq!(
        error.to_string(),
        "XML cannot carry U+0007 at /order/line[2]/note (slot 4)"
    );
    assert_eq!(out, b"before");
}

#[test]
fn what_an_any_type_is_said_to_be_keeps_its_namespace() {
    const XSI: &str = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance'";
    let mut schema = Schema::new();
    let any = Wildcard {
        namespaces: NamespaceConstraint::Any,
        process: ProcessContents::Skip,
    };
    let ty = schema.add_type(bsoap_codec::plan::TypeDef {
        any_attribute: Some(any),
        ..Schema::plain(Content::Any)
    });
    let root = schema.element_in("urn:a", "e", ty);
    let plan = schema.finish();
    let written = |given: &str| {
        let mut decoder = Decoder::new(plan.clone(), strict());
        let record = decoder.decode(root, given.as_bytes()).unwrap();
        let value = View::of(&record).to_value().unwrap();
        assert!(build(&plan, root, &value).unwrap() == record, "{value:?}");
        text(&plan, root, &value)
    };
    // The default namespace is the type's, not that of what is inside.
    assert_eq!(
        written(&format!(
            "<e xmlns='urn:a' {XSI} i:type='T'><c xmlns=''/></e>"
        )),
        "<ns1:e xmlns:ns1=\"urn:a\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"ns1:T\"><c xmlns=''/></ns1:e>"
    );
    assert_eq!(
        written(&format!("<a:e xmlns:a='urn:a' {XSI} i:type=' T '>5</a:e>")),
        "<ns1:e xmlns:ns1=\"urn:a\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"T\">5</ns1:e>"
    );

    // A prefix means nothing in a value.
    let any = Value::object([(
        "{http://www.w3.org/2001/XMLSchema-instance}type",
        Value::from("a:T"),
    )]);
    let value = Value::object([("@any", any)]);
    let error = build(&plan, root, &value).unwrap_err();
    assert!(error.to_string().contains("\"a:T\""), "{error}");
}

#[test]
fn an_empty_value_means_the_default_which_is_reported_as_its_type_is() {
    let mut schema = Schema::new();
    let ty = schema.builtin(Datatype::HexBinary);
    let name = schema.builder.name("", "e");
    let root = schema.builder.element(ElementDef {
        name,
        ty,
        nillable: false,
        is_abstract: false,
        default: Some("2A".to_owned()),
        fixed: None,
        role: Role::Application,
    });
    let plan = schema.finish();
    for empty in [Value::Bytes(Vec::new()), Value::from("")] {
        assert_eq!(text(&plan, root, &empty), "<e>2A</e>");
    }
}
