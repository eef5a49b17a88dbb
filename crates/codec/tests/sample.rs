//! Samples are valid: facets, patterns, wildcards and recursion are honoured, and their size is bounded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::decode::Validation;
use bsoap_codec::plan::{
    Content, ElementId, NamespaceConstraint, Plan, ProcessContents, TypeId, UNBOUNDED, Wildcard,
};
use bsoap_codec::{DecodeOptions, Decoder, Value, build, encode, sample};
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
    let value = sample(plan, root);
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
    sample(&schema.finish(), root);
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

/// 64 levels of ten required elements each are 10⁶⁴ elements.
#[test]
fn the_size_of_a_sample_is_bounded() {
    let mut schema = Schema::new();
    let mut ty: TypeId = schema.builtin(Datatype::String);
    for _ in 0..60 {
        let child = schema.child("child", ty, (10, UNBOUNDED));
        ty = schema.structure(vec![child]);
    }
    let root = schema.element("root", ty);
    let json = sample(&schema.finish(), root).to_json();
    assert!(json.len() < 2 << 20, "{}", json.len());
    // A group of nothing, often.
    let mut schema = Schema::new();
    let nothing = schema.sequence((u32::MAX - 1, UNBOUNDED), vec![]);
    let (plan, root) = schema.rooted("root", vec![nothing]);
    assert_eq!(sample(&plan, root), Value::object::<&str>([]));
}
