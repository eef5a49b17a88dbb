//! Runs the cases of `testdata/`: each built-in type's lexical forms, valid and not, and the
//! canonical forms of their values.

use std::collections::BTreeMap;

use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{AtomicValue, Datatype, SimpleType, Width};
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    valid: Vec<(String, String)>,
    invalid: Vec<String>,
}

fn cases() -> BTreeMap<String, Cases> {
    let files = [
        include_str!("../testdata/strings.toml"),
        include_str!("../testdata/numbers.toml"),
        include_str!("../testdata/calendar.toml"),
    ];
    files
        .into_iter()
        .flat_map(|file| toml::from_str::<BTreeMap<String, Cases>>(file).unwrap())
        .collect()
}

fn each(mut check: impl FnMut(Datatype, &Cases)) {
    for (name, cases) in cases() {
        check(Datatype::from_name(&name).expect(&name), &cases);
    }
}

#[test]
fn every_built_in_type_has_cases() {
    let cases = cases();
    for datatype in Datatype::ALL {
        let name = datatype.name();
        let found = cases.get(name).expect(name);
        assert!(!found.valid.is_empty(), "{datatype:?}");
    }
}

#[test]
fn valid_texts_have_the_value_of_their_canonical_form() {
    each(|datatype, cases| {
        let simple_type = SimpleType::builtin(datatype);
        for (text, canonical) in &cases.valid {
            let value = simple_type.validate(text, &NoNamespaces);
            let value = value.unwrap_or_else(|error| panic!("{datatype:?} {text:?}: {error}"));
            assert_eq!(
                simple_type.canonical(&value),
                *canonical,
                "{datatype:?} {text:?}"
            );
            if matches!(datatype, Datatype::QName | Datatype::Notation) {
                continue;
            }
            assert_eq!(
                simple_type.validate(canonical, &NoNamespaces).as_ref(),
                Ok(&value),
                "{datatype:?} {text:?}"
            );
            let short = value.to_string();
            assert_eq!(
                simple_type.validate(&short, &NoNamespaces).as_ref(),
                Ok(&value),
                "{datatype:?} {short:?}"
            );
        }
    });
}

#[test]
fn invalid_texts_are_refused_with_their_type_and_text() {
    each(|datatype, cases| {
        for text in &cases.invalid {
            let simple_type = SimpleType::builtin(datatype);
            let error = simple_type.validate(text, &NoNamespaces);
            assert!(error.is_err(), "{datatype:?} {text:?}");
            assert!(
                AtomicValue::parse(datatype, text, &NoNamespaces).is_err(),
                "{datatype:?} {text:?}"
            );
        }
    });
}

#[test]
fn checking_agrees_with_making_a_value() {
    let all: Vec<String> = cases()
        .into_values()
        .flat_map(|cases| {
            cases
                .valid
                .into_iter()
                .map(|case| case.0)
                .chain(cases.invalid)
        })
        .collect();
    for datatype in Datatype::ALL
        .into_iter()
        .filter(|datatype| datatype.item().is_none())
    {
        for text in &all {
            let text = datatype.white_space().apply(text);
            let is_name = matches!(datatype, Datatype::QName | Datatype::Notation);
            let namespaces = [("unbound", "urn:bound")];
            let value = AtomicValue::parse(datatype, &text, &namespaces);
            if !(is_name && text.contains(':')) {
                assert_eq!(
                    datatype.check(&text).is_ok(),
                    value.is_ok(),
                    "{datatype:?} {text:?}"
                );
            }
            // What a derived type takes, its base takes too, with the same value.
            if let (Ok(value), Some(base)) = (
                value,
                datatype
                    .base()
                    .filter(|base| *base != Datatype::AnySimpleType),
            ) {
                assert_eq!(
                    AtomicValue::parse(base, &text, &namespaces),
                    Ok(value),
                    "{datatype:?} {text:?}"
                );
            }
        }
    }
}

#[test]
fn canonical_forms_of_bounded_types_fit_their_width() {
    each(|datatype, cases| {
        let Width::AtMost(width) = datatype.width() else {
            return;
        };
        for (text, _) in &cases.valid {
            let value = SimpleType::builtin(datatype)
                .validate(text, &NoNamespaces)
                .unwrap();
            assert!(
                value.to_string().len() <= usize::from(width),
                "{datatype:?} {value}"
            );
        }
    });
}
