//! Samples are valid: facets, patterns, wildcards and recursion are honoured, and their size is bounded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::decode::Validation;
use bsoap_codec::plan::{
    Content, ElementId, NamespaceConstraint, Plan, ProcessContents, TypeId, UNBOUNDED, Wildcard,
};
use bsoap_codec::{DecodeOptions, Decoder, Value, View, build, encode, sample, samples};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
use bsoap_testkit::schema::{ONCE, OPTIONAL, Schema};

fn restrict(base: &Arc<SimpleType>, facets: &[(FacetName, &str)]) -> Arc<SimpleType> {
    let facets: Vec<Facet<'_>> = facets
        .iter()
        .map(|&(name, value)| Facet::new(name, value))
        .collect();
    SimpleType::restrict(base, &facets, &NoNamespaces).expect("a type")
}

/// The text of a valid sample.
fn valid(plan: &Arc<Plan>, root: ElementId) -> String {
    let value = sample(plan, root).expect("a sample");
    let record = build(plan, root, &value).unwrap_or_else(|error| panic!("{error}: {value:?}"));
    let mut text = Vec::new();
    encode(&record, &mut text).expect("a sample can be written");
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    let violations = Decoder::new(plan.clone(), options).validate(root, &text);
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(violations.is_empty(), "{violations:?}: {text}");
    text.replace("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "")
}

fn valid_text(simple: &Arc<SimpleType>) -> String {
    let mut schema = Schema::new();
    let ty = schema.simple(simple);
    let root = schema.element("e", ty);
    let text = valid(&schema.finish(), root);
    let inner = text
        .strip_prefix("<e>")
        .and_then(|text| text.strip_suffix("</e>"));
    inner.unwrap_or_default().to_owned()
}

#[test]
fn texts_are_made_from_patterns() {
    use FacetName::{FractionDigits, MaxExclusive, MaxLength, MinExclusive, MinLength, Pattern};
    for (datatype, facets, expected) in [
        (Datatype::String, &[(Pattern, r"[A-Z]{3}-\d+")][..], "ABC-1"),
        (Datatype::String, &[(Pattern, ".*")], "text"),
        (
            Datatype::Token,
            &[(Pattern, "(a|b)c?"), (MinLength, "2")],
            "ac",
        ),
        (
            Datatype::String,
            &[(Pattern, "[a-z]+"), (MinLength, "9"), (MaxLength, "9")],
            "texttextt",
        ),
        (
            Datatype::String,
            &[(Pattern, "[0-9]+"), (MinLength, "12")],
            "123456789012",
        ),
        (Datatype::Int, &[(Pattern, r"\d{3}")], "100"),
        (Datatype::Double, &[(Pattern, r"[0-9]\.[0-9]{3}")], "1.234"),
        (Datatype::Date, &[(Pattern, "19[0-9]{2}-.*")], "1999-12-31"),
        (
            Datatype::DateTime,
            &[(Pattern, "[^Z]*")],
            "2026-01-31T12:00:00",
        ),
        (Datatype::HexBinary, &[(Pattern, "[A-F0-9]{4}")], "ABCD"),
        (Datatype::Base64Binary, &[(MinLength, "8")], "b2N0ZXRzb2M="),
        (
            Datatype::Decimal,
            &[
                (MinExclusive, "0"),
                (MaxExclusive, "0.1"),
                (FractionDigits, "2"),
            ],
            "0.01",
        ),
    ] {
        let simple = restrict(&SimpleType::builtin(datatype), facets);
        assert_eq!(valid_text(&simple), expected, "{facets:?}");
    }
}

#[test]
fn all_patterns_of_a_derivation_match() {
    let string = SimpleType::builtin(Datatype::String);
    let base = restrict(&string, &[(FacetName::Pattern, "[A-Z].*")]);
    let derived = restrict(
        &base,
        &[
            (FacetName::Pattern, r".*\d{2}"),
            (FacetName::MaxLength, "4"),
        ],
    );
    assert_eq!(valid_text(&derived).len(), 3);
    let list = SimpleType::list_of(&derived).expect("a list");
    let list = restrict(&list, &[(FacetName::Length, "3")]);
    assert_eq!(valid_text(&list).split(' ').count(), 3);
    let int = SimpleType::builtin(Datatype::Int);
    let union = SimpleType::union_of(&[int, base]).expect("a union");
    let union = restrict(&union, &[(FacetName::Pattern, "[A-Z]-.")]);
    assert_eq!(valid_text(&union), "A-B");
}

#[test]
fn a_text_that_no_pattern_allows_takes_no_time() {
    let string = SimpleType::builtin(Datatype::String);
    let base = restrict(&string, &[(FacetName::Pattern, "a{0,5000}")]);
    let empty = restrict(&base, &[(FacetName::Pattern, "b+(c|d|(e{3}f?){0,50})*")]);
    let mut schema = Schema::new();
    let ty = schema.simple(&empty);
    let root = schema.element("e", ty);
    let start = Instant::now();
    sample(&schema.finish(), root).expect("a sample, if not a valid one");
    assert!(start.elapsed() < Duration::from_secs(10));
}

fn strict(namespaces: NamespaceConstraint) -> Wildcard {
    Wildcard {
        namespaces,
        process: ProcessContents::Strict,
    }
}

#[test]
fn a_strict_wildcard_gets_a_declared_element() {
    let mut schema = Schema::new();
    let only_a = NamespaceConstraint::OneOf(vec!["urn:a".to_owned()]);
    let required = schema.any(ONCE, strict(only_a));
    let left_out = schema.any(OPTIONAL, strict(NamespaceConstraint::Any));
    let root_type = schema.structure(vec![required, left_out]);
    let root = schema.element("root", root_type);
    let int = schema.builtin(Datatype::Int);
    let of_b = schema.element_in("urn:b", "other", int);
    // An element that would contain the wildcard again is no answer.
    let again = schema.any(ONCE, strict(NamespaceConstraint::Any));
    let again = schema.structure(vec![again]);
    let again = schema.element_in("urn:a", "again", again);
    let of_a = schema.element_in("urn:a", "quantity", int);
    schema.builder.prefix("urn:a", "a");
    for global in [of_b, again, of_a] {
        schema.builder.global(global);
    }
    let text = valid(&schema.finish(), root);
    assert_eq!(
        text,
        r#"<root><a:quantity xmlns:a="urn:a">1</a:quantity></root>"#
    );
}

#[test]
fn a_lax_wildcard_gets_an_element_that_nothing_declares() {
    let mut schema = Schema::new();
    let wildcard = Wildcard {
        namespaces: NamespaceConstraint::Not("http://example.org/any".to_owned()),
        process: ProcessContents::Lax,
    };
    let any = schema.any(ONCE, wildcard);
    let (plan, root) = schema.rooted("root", vec![any]);
    assert_eq!(
        valid(&plan, root),
        r#"<root><any xmlns="http://example.org/other"/></root>"#
    );
}

#[test]
fn what_contains_itself_ends_where_it_can() {
    let mut schema = Schema::new();
    let list = schema.builder.reserve_type();
    let next = schema.element_with("", "next", list, |def| def.nillable = true);
    let number = schema.field("number", Datatype::Int, ONCE);
    let next = schema.of(ONCE, next);
    let sequence = schema.sequence(ONCE, vec![number, next]);
    schema.define(list, Content::Particle(sequence));
    let root = schema.element("list", list);
    let text = valid(&schema.finish(), root);
    assert!(
        text.contains("<number>1</number><next xsi:nil=\"true\"></next></list>"),
        "{text}"
    );
}

#[test]
fn as_many_as_are_required_are_there() {
    let mut schema = Schema::new();
    let five = schema.field("five", Datatype::Int, (5, UNBOUNDED));
    let (plan, root) = schema.rooted("root", vec![five]);
    assert_eq!(valid(&plan, root).matches("<five>").count(), 5);
}

#[test]
fn a_default_of_another_type_is_not_used() {
    let mut schema = Schema::new();
    let hex = schema.builtin(Datatype::HexBinary);
    let root = schema.element_with("", "e", hex, |def| def.default = Some("0xFF".to_owned()));
    assert_eq!(valid(&schema.finish(), root), "<e>6F6374657473</e>");
}

#[test]
fn attributes_of_an_element_with_a_default_are_there() {
    let mut schema = Schema::new();
    let mut unit = schema.attribute("unit", Datatype::String);
    unit.required = true;
    let id = schema.attribute("ref", Datatype::IdRef);
    let int = schema.builder.leaf(&SimpleType::builtin(Datatype::Int));
    let ty = schema.ty(Content::Simple(int));
    schema.amend(ty).attributes = vec![unit, id];
    let root = schema.element_with("", "e", ty, |def| def.default = Some("7".to_owned()));
    assert_eq!(valid(&schema.finish(), root), r#"<e unit="text">7</e>"#);
}

/// What a schema can require without end, and the limit that ends it.
#[test]
fn a_sample_that_is_required_to_be_large_is_refused() {
    let string = SimpleType::builtin(Datatype::String);
    let long = restrict(&string, &[(FacetName::MinLength, "10000")]);
    type Make = Box<dyn Fn(&mut Schema) -> TypeId>;
    let cases: [(&str, &str, Make); 5] = [
        (
            "a million elements",
            "sample_bytes",
            Box::new(|schema| {
                let many = schema.field("x", Datatype::Int, (1_000_000, UNBOUNDED));
                schema.structure(vec![many])
            }),
        ),
        (
            "64 levels of ten elements each: 10⁶⁴",
            "sample_bytes",
            Box::new(|schema| {
                let mut ty = schema.builtin(Datatype::String);
                for _ in 0..60 {
                    let child = schema.child("child", ty, (10, UNBOUNDED));
                    ty = schema.structure(vec![child]);
                }
                ty
            }),
        ),
        (
            "groups in groups",
            "sample_bytes",
            Box::new(|schema| {
                let mut inner = schema.field("x", Datatype::Int, ONCE);
                for _ in 0..20 {
                    inner = schema.sequence((1_000_000, UNBOUNDED), vec![inner]);
                }
                schema.structure(vec![inner])
            }),
        ),
        (
            "long texts",
            "sample_bytes",
            Box::new(move |schema| {
                let ty = schema.simple(&long);
                let child = schema.child("child", ty, (1_000, UNBOUNDED));
                schema.structure(vec![child])
            }),
        ),
        (
            "elements that leave out many others",
            "sample_steps",
            Box::new(|schema| {
                let optional: Vec<_> = (0..10_000)
                    .map(|n| schema.field(&format!("x{n}"), Datatype::Int, OPTIONAL))
                    .collect();
                let wide = schema.structure(optional);
                let child = schema.child("child", wide, (10_000, UNBOUNDED));
                schema.structure(vec![child])
            }),
        ),
    ];
    for (name, limit, make) in cases {
        let mut schema = Schema::new();
        let ty = make(&mut schema);
        let root = schema.element("root", ty);
        let plan = schema.finish();
        let start = Instant::now();
        let found = sample(&plan, root);
        let time = start.elapsed();
        let error = found.expect_err(name);
        assert_eq!(error.limit, limit, "{name}");
        assert_eq!(
            error.to_string(),
            format!(
                "no sample of <root> can be made: what its schema requires exceeds the limit `{limit}` ({})",
                error.value
            ),
            "{name}"
        );
        assert!(time < Duration::from_secs(20), "{name}: {time:?}");
    }
}

#[test]
fn several_samples_share_the_limits() {
    let mut schema = Schema::new();
    let many = schema.field("x", Datatype::Int, (5_000, UNBOUNDED));
    let (plan, root) = schema.rooted("root", vec![many]);
    assert_eq!(
        samples(&plan, [root, root]).map(|values| values.len()),
        Ok(2)
    );
    assert!(samples(&plan, [root; 10]).is_err());
}

#[test]
fn optional_elements_leave_space_for_what_is_required() {
    let string = SimpleType::builtin(Datatype::String);
    let long = restrict(&string, &[(FacetName::MinLength, "9999")]);
    let mut schema = Schema::new();
    let ty = schema.simple(&long);
    let mut children: Vec<_> = (0..400)
        .map(|n| schema.child(&format!("x{n}"), ty, OPTIONAL))
        .collect();
    children.push(schema.field("last", Datatype::Int, ONCE));
    let (plan, root) = schema.rooted("root", children);
    let text = valid(&plan, root);
    assert!(text.len() < 1 << 20 && text.ends_with("<last>1</last></root>"));
}

/// A message that lacks two billion values gets them from the default, unless that is too much.
#[test]
fn defaults_are_not_filled_in_without_end() {
    let mut schema = Schema::new();
    let int = schema.builtin(Datatype::Int);
    let element = schema.element_with("", "x", int, |def| def.default = Some("7".to_owned()));
    let few = schema.of((3, UNBOUNDED), element);
    let (plan, root) = schema.rooted("root", vec![few]);
    let nothing = Value::object::<&str>([]);
    assert!(build(&plan, root, &nothing).is_ok());

    let mut schema = Schema::new();
    let int = schema.builtin(Datatype::Int);
    let element = schema.element_with("", "x", int, |def| def.default = Some("7".to_owned()));
    let many = schema.of((2_000_000_000, UNBOUNDED), element);
    let (plan, root) = schema.rooted("root", vec![many]);
    let error = build(&plan, root, &nothing).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x is missing, and the values that are filled in from defaults exceed the limit `filled_bytes` (16777216) at /root"
    );
}

/// A group of nothing, often.
#[test]
fn a_group_of_nothing_is_there_once() {
    let mut schema = Schema::new();
    let nothing = schema.sequence((u32::MAX - 1, UNBOUNDED), vec![]);
    let (plan, root) = schema.rooted("root", vec![nothing]);
    assert_eq!(sample(&plan, root), Ok(Value::object::<&str>([])));
}

/// 60 000 elements in an order that the schema does not have: read, made a value, and built again.
#[test]
fn an_xs_all_takes_time_linear_in_its_children() {
    const CHILDREN: usize = 60_000;
    let mut schema = Schema::new();
    let children = (0..CHILDREN).map(|n| schema.field(&format!("x{n}"), Datatype::Int, OPTIONAL));
    let children: Vec<_> = children.collect();
    let all = schema.all(1, children);
    let (plan, root) = schema.rooted("root", vec![all]);
    let text: String = (0..CHILDREN)
        .rev()
        .map(|n| format!("<x{n}>1</x{n}>"))
        .collect();
    let text = format!("<root>{text}</root>");
    let start = Instant::now();
    let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
    let record = decoder.decode(root, text.as_bytes()).expect("a message");
    let value = View::of(&record).to_value().expect("a value");
    let again = build(&plan, root, &value).expect("a Record");
    let time = start.elapsed();
    assert_eq!(again, record);
    assert!(time < Duration::from_secs(5), "{time:?}");
}
