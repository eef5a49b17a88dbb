//! Makes plausible simple values.

use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facets, SimpleType, Variety};

use crate::plan::{LeafId, LeafKind, NamespaceConstraint, Plan, Wildcard};
use crate::value::Value;

/// Longer texts are not made, even if a facet requires them.
const LONGEST: u64 = 1000;

/// A value of a leaf that satisfies its facets, if one is found easily.
pub(super) fn sample(plan: &Plan, leaf: LeafId) -> Value {
    let leaf = plan.leaf(leaf);
    let text = text_of(&leaf.simple);
    let number = match leaf.kind {
        LeafKind::Boolean => Some(Value::Bool(text == "true" || text == "1")),
        LeafKind::Signed { .. } => text.parse().ok().map(Value::Int),
        LeafKind::Unsigned { .. } => text.parse::<u64>().ok().map(Value::from),
        LeafKind::Double => text.parse().ok().map(Value::Double),
        LeafKind::Float => text.parse().ok().map(Value::Float),
        _ => None,
    };
    match leaf.kind {
        LeafKind::Base64 => Value::Bytes(octets(leaf.simple.facets())),
        LeafKind::Hex => Value::Hex(octets(leaf.simple.facets())),
        LeafKind::List(item) => Value::Array(vec![sample(plan, item)]),
        _ => number.unwrap_or_else(|| Value::from(text)),
    }
}

/// A lexical form. (Lists and unions nest no deeper than the datatypes allow.)
fn text_of(simple: &SimpleType) -> String {
    if let Some(first) = simple
        .facets()
        .enumeration()
        .and_then(|enumeration| enumeration.lexical_forms().next())
    {
        return first.to_owned();
    }
    let datatype = match simple.variety() {
        Variety::Atomic(datatype) => *datatype,
        Variety::List(item) => return text_of(item),
        Variety::Union(members) => {
            return members
                .first()
                .map(|member| text_of(member))
                .unwrap_or_default();
        }
    };
    let candidates = candidates(datatype, simple.facets());
    let valid = candidates
        .iter()
        .find(|text| simple.check(text, &NoNamespaces).is_ok());
    valid.or(candidates.first()).cloned().unwrap_or_default()
}

/// Texts that might be valid, the most plausible first.
fn candidates(datatype: Datatype, facets: &Facets) -> Vec<String> {
    let mut texts: Vec<String> = plain(datatype)
        .iter()
        .map(|&text| text.to_owned())
        .collect();
    for bound in [facets.min(), facets.max()].into_iter().flatten() {
        texts.push(bound.lexical().to_owned());
        if let Ok(number) = bound.lexical().parse::<f64>() {
            texts.extend(
                [number + 1.0, number - 1.0, number + 0.5].map(|number| number.to_string()),
            );
        }
    }
    let (least, most) = lengths(facets);
    let fitted = |text: &String| -> String {
        let cut: String = text.chars().take(most).collect();
        let missing = least.saturating_sub(cut.chars().count());
        cut + &"0".repeat(missing)
    };
    let length_matters = least > 0 || most < LONGEST as usize;
    if length_matters {
        let mut fitting: Vec<String> = texts.iter().map(fitted).collect();
        fitting.extend(["A", "a", "1", "0"].map(|one| one.repeat(least.max(1))));
        texts.extend(fitting);
    }
    // Guesses at patterns: codes of a few letters or digits.
    if facets.patterns().next().is_some() {
        let letters = [
            "A",
            "a",
            "1",
            "0",
            "AB",
            "Ab",
            "en",
            "en-US",
            "USD",
            "DE",
            "A1",
            "1A",
            "a@b.c",
            "a.b",
            "1.0",
            "1.00",
            "http://a.example/",
        ];
        texts.extend(letters.map(str::to_owned));
        for length in 2..=20 {
            texts.extend(["A", "a", "1", "0"].map(|one| one.repeat(length)));
        }
        texts.extend(
            [
                "00000000-0000-0000-0000-000000000000",
                "123-45-6789",
                "12345-6789",
                "2026-01-01",
                "12:00:00",
                "+1 555 0100",
            ]
            .map(str::to_owned),
        );
    }
    texts
}

fn plain(datatype: Datatype) -> &'static [&'static str] {
    match datatype.primitive() {
        _ if datatype.is_derived_from(Datatype::Integer) => &["1", "0", "-1", "10", "100"],
        Datatype::Boolean => &["true"],
        Datatype::Decimal => &["1.5", "1", "0.5", "0"],
        Datatype::Float | Datatype::Double => &["1.5", "1", "0.5", "0"],
        Datatype::Duration => &["P1D"],
        Datatype::DateTime => &["2026-01-31T12:00:00Z"],
        Datatype::Time => &["12:00:00"],
        Datatype::Date => &["2026-01-31"],
        Datatype::GYearMonth => &["2026-01"],
        Datatype::GYear => &["2026"],
        Datatype::GMonthDay => &["--01-31"],
        Datatype::GDay => &["---31"],
        Datatype::GMonth => &["--01"],
        Datatype::AnyUri => &["http://example.org/"],
        Datatype::QName | Datatype::Notation => &["name"],
        _ if datatype == Datatype::Language => &["en"],
        _ => &["text"],
    }
}

/// The least and the greatest length.
fn lengths(facets: &Facets) -> (usize, usize) {
    let least = facets.length().or(facets.min_length()).unwrap_or(0);
    let most = facets.length().or(facets.max_length()).unwrap_or(LONGEST);
    (least.min(LONGEST) as usize, most.min(LONGEST) as usize)
}

fn octets(facets: &Facets) -> Vec<u8> {
    let wished = b"octets";
    let (least, most) = lengths(facets);
    let mut octets = wished[..wished.len().min(most)].to_vec();
    octets.resize(octets.len().max(least), 0);
    octets
}

/// An element that a wildcard allows.
pub(super) fn element(wildcard: &Wildcard) -> String {
    let namespace = match &wildcard.namespaces {
        NamespaceConstraint::OneOf(list) => list.first().map_or("", String::as_str),
        NamespaceConstraint::Any | NamespaceConstraint::Not(_) => "http://example.org/any",
    };
    let mut out = b"<any".to_vec();
    if !namespace.is_empty() {
        out.extend_from_slice(b" xmlns=\"");
        // A namespace from a schema document has no characters that XML does not allow.
        if bsoap_xml::escape_attribute(namespace, &mut out).is_err() {
            return "<any/>".to_owned();
        }
        out.push(b'"');
    }
    out.extend_from_slice(b"/>");
    String::from_utf8_lossy(&out).into_owned()
}
