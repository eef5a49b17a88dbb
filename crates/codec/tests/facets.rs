//! Strings and decimals under facets, which are validated quickly where that is enough: the same Records and errors as on
//! the slow path, which asks the simple type.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::decode::{DecodeOptions, Decoder, Validation};
use bsoap_codec::plan::{AttributeDef, ElementId, TypeDef, TypeId};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName as F, SimpleType};
use bsoap_testkit::decode_paths::DecodePaths;
use bsoap_testkit::random::Random;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};
use proptest::prelude::*;

type Facets = &'static [(F, &'static str)];

const KINDS: [(Datatype, Facets); 10] = [
    (
        Datatype::String,
        &[(F::MinLength, "1"), (F::MaxLength, "6")],
    ),
    (Datatype::String, &[(F::Length, "3")]),
    (Datatype::String, &[(F::Pattern, "[A-Z]{2}[0-9]*")]),
    (
        Datatype::String,
        &[(F::Pattern, "(a|é)*<?"), (F::MaxLength, "4")],
    ),
    (
        Datatype::String,
        &[
            (F::Enumeration, "AB"),
            (F::Enumeration, "AC"),
            (F::Enumeration, "a&b"),
        ],
    ),
    (
        Datatype::Token,
        &[(F::Enumeration, "AB"), (F::Enumeration, "a b")],
    ),
    (Datatype::NormalizedString, &[(F::MaxLength, "4")]),
    (
        Datatype::Decimal,
        &[(F::MinInclusive, "0"), (F::FractionDigits, "2")],
    ),
    (
        Datatype::Int,
        &[(F::MinInclusive, "0"), (F::MaxExclusive, "100")],
    ),
    (
        Datatype::Double,
        &[(F::MinInclusive, "0"), (F::MaxExclusive, "100")],
    ),
];

const FORMS: [&str; 28] = [
    "AB",
    "AC",
    "AB12",
    "a b",
    " a  b ",
    "a&amp;b",
    "",
    "a",
    "éa",
    "aé&lt;",
    "ééé",
    "äöüß",
    "abcdef",
    "abcdefg",
    "AB1x",
    "0",
    "12",
    "1.25",
    "1.250",
    "1.255",
    "-0",
    "-1.5",
    "00099",
    "100",
    "<![CDATA[AB]]>",
    "A<!-- -->B",
    "A\r\nB",
    "\tAB",
];

fn simple((datatype, facets): (Datatype, Facets)) -> Arc<SimpleType> {
    let facets: Vec<_> = facets
        .iter()
        .map(|&(name, value)| Facet::new(name, value))
        .collect();
    SimpleType::restrict(&SimpleType::builtin(datatype), &facets, &NoNamespaces).expect("a type")
}

/// A type of each kind; and of rows that have a value of each, and an attribute of each.
fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let types: Vec<Arc<SimpleType>> = KINDS.map(simple).to_vec();
    let leaves: Vec<_> = types.iter().map(|ty| schema.builder.leaf(ty)).collect();
    let define = |schema: &mut Schema, content| -> TypeId { schema.add_type(content) };
    let mut parts = Vec::new();
    let mut fields = Vec::new();
    let mut attributes = Vec::new();
    for (index, &leaf) in leaves.iter().enumerate() {
        let ty = define(
            &mut schema,
            Schema::plain(bsoap_codec::plan::Content::Simple(leaf)),
        );
        parts.push(schema.child(&format!("s{index}"), ty, MANY));
        fields.push(schema.child(&format!("f{index}"), ty, [ONCE, OPTIONAL][index % 2]));
        attributes.push(AttributeDef {
            name: schema.builder.name("", &format!("a{index}")),
            leaf,
            required: false,
            default: None,
            fixed: None,
        });
    }
    let row = schema.sequence(ONCE, fields);
    let row = define(
        &mut schema,
        TypeDef {
            attributes,
            ..Schema::plain(bsoap_codec::plan::Content::Particle(row))
        },
    );
    parts.push(schema.child("row", row, MANY));
    let root = schema.structure(parts);
    let root = schema.element("m", root);
    (schema.finish(), root)
}

fn form(index: usize, random: &mut Random, odd: usize) -> &'static str {
    if random.below(100) < odd {
        return FORMS[random.below(FORMS.len())];
    }
    let good: [&[&str]; 10] = [
        &["AB", "abcdef", "äöüß", "a&amp;b"],
        &["ééé", "abc"],
        &["AB", "AB12"],
        &["a", "aé&lt;", "éa"],
        &["AB", "AC", "a&amp;b"],
        &["AB", "a b"],
        &["a b", "", "äöüß"],
        &["0", "1.25", "00099"],
        &["12", "0", "99"],
        &["12", "1.25", "00099"],
    ];
    good[index][random.below(good[index].len())]
}

fn message(random: &mut Random, odd: usize) -> String {
    let mut text = String::from("<m>");
    for index in 0..KINDS.len() {
        for _ in 0..random.below(6) {
            text += &format!("<s{index}>{}</s{index}>", form(index, random, odd));
        }
    }
    for _ in 0..random.below(6) {
        text += "<row";
        for index in 0..KINDS.len() {
            if random.chance(5) {
                continue;
            }
            let value = form(index, random, odd);
            if !value.contains('<') {
                text += &format!(" a{index}=\"{value}\"");
            }
        }
        text += ">";
        for index in 0..KINDS.len() {
            text += &format!("<f{index}>{}</f{index}>", form(index, random, odd));
        }
        text += "</row>";
    }
    text + "</m>"
}

proptest! {
    #[test]
    fn facets_are_the_same_on_every_path(seed in any::<u64>()) {
        let (plan, root) = plan();
        let random = &mut Random::new(seed);
        let mut options = DecodeOptions::default();
        options.validation = Validation::Full;
        let mut paths = DecodePaths::new(&plan, root, options);
        for odd in [0, 0, 1, 0, 3, 20, 0] {
            let text = message(random, odd);
            let is_good = paths.agree(text.as_bytes(), random).map_err(TestCaseError::fail)?;
            prop_assert!(is_good || odd > 0, "{}", text);
            if is_good {
                // Looking at facets changes no value.
                let read = |options| Decoder::new(plan.clone(), options).decode(root, text.as_bytes());
                let [full, lexical] = [options, DecodeOptions::default()].map(read);
                prop_assert_eq!(full.expect("it is good"), lexical.expect("it is good"), "{}", text);
            }
        }
    }
}
