//! Simple types from outside: facets of every kind, on every kind of type, and the restrictions
//! that make no sense.

use std::sync::Arc;

use bsoap_datatypes::FacetName::*;
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{
    Datatype, ExpandedName, Facet, FacetError, FacetErrorKind, FacetName, NAMESPACE, SimpleType,
    ValidityErrorKind, Variety,
};

type Result = std::result::Result<Arc<SimpleType>, FacetError>;

fn restrict(base: &Arc<SimpleType>, facets: &[(FacetName, &str)]) -> Result {
    let facets: Vec<Facet<'_>> = facets
        .iter()
        .map(|(name, value)| Facet::new(*name, value))
        .collect();
    SimpleType::restrict(base, &facets, &NoNamespaces)
}

fn of(datatype: Datatype, facets: &[(FacetName, &str)]) -> Arc<SimpleType> {
    restrict(&SimpleType::builtin(datatype), facets).unwrap()
}

fn error(datatype: Datatype, facets: &[(FacetName, &str)]) -> FacetErrorKind {
    restrict(&SimpleType::builtin(datatype), facets)
        .unwrap_err()
        .kind()
        .clone()
}

fn takes(simple_type: &SimpleType, text: &str) -> bool {
    let checked = simple_type.check(text, &NoNamespaces);
    assert_eq!(
        checked.is_ok(),
        simple_type.validate(text, &NoNamespaces).is_ok(),
        "{text:?}"
    );
    checked.is_ok()
}

fn says(simple_type: &SimpleType, text: &str) -> String {
    simple_type
        .check(text, &NoNamespaces)
        .unwrap_err()
        .to_string()
}

#[test]
fn length_counts_characters_octets_and_items() {
    let two = [(Length, "2")];
    assert!(takes(&of(Datatype::String, &two), "𝄞é") && !takes(&of(Datatype::String, &two), "abc"));
    assert!(takes(&of(Datatype::Token, &two), "  ab ") && takes(&of(Datatype::AnyUri, &two), "ab"));
    assert!(
        takes(&of(Datatype::HexBinary, &two), "00ff")
            && !takes(&of(Datatype::HexBinary, &two), "00")
    );
    assert!(
        takes(&of(Datatype::Base64Binary, &two), "AA A=")
            && !takes(&of(Datatype::Base64Binary, &two), "AAAA")
    );
    let list = SimpleType::list_of(&SimpleType::builtin(Datatype::Int)).unwrap();
    assert!(
        takes(&restrict(&list, &two).unwrap(), " 1\n22 ")
            && !takes(&restrict(&list, &two).unwrap(), "1")
    );
    assert!(takes(&of(Datatype::QName, &two), "longer"));
}

#[test]
fn messages_say_what_was_found_and_what_was_expected() {
    let code = of(
        Datatype::String,
        &[(MinLength, "2"), (MaxLength, "3"), (Pattern, "[A-Z]*")],
    );
    assert_eq!(says(&code, "A"), r#""A" has length 1, expected 2 or more"#);
    assert_eq!(
        says(&code, "ABCD"),
        r#""ABCD" has length 4, expected 3 or less"#
    );
    assert_eq!(
        says(&code, "ab"),
        r#""ab" does not match the pattern [A-Z]*"#
    );
    assert_eq!(
        says(&of(Datatype::String, &[(Length, "2")]), "A"),
        r#""A" has length 1, expected 2"#
    );
    let price = of(
        Datatype::Decimal,
        &[
            (TotalDigits, "4"),
            (FractionDigits, "2"),
            (MinExclusive, "0"),
        ],
    );
    assert_eq!(
        says(&price, "123.45"),
        r#""123.45" has 5 digits, expected 4 or less"#
    );
    assert_eq!(
        says(&price, "0.125"),
        r#""0.125" has 3 fraction digits, expected 2 or less"#
    );
    assert_eq!(says(&price, "0.0"), r#""0.0" is not greater than 0"#);
    let colour = of(
        Datatype::Token,
        &[(Enumeration, "red"), (Enumeration, "green")],
    );
    assert_eq!(says(&colour, "blue"), r#""blue" is not one of red, green"#);
    assert_eq!(
        says(&SimpleType::builtin(Datatype::QName), "p:a"),
        r#"the prefix "p" is not declared"#
    );
    let long = says(
        &of(Datatype::String, &[(Length, "2")]),
        &"x".repeat(1_000_000),
    );
    assert!(long.len() < 200);
}

#[test]
fn bounds_of_every_kind_hold() {
    let range = of(Datatype::Int, &[(MinInclusive, "-5"), (MaxExclusive, "5")]);
    assert!(
        takes(&range, "-5") && takes(&range, "+004") && !takes(&range, "5") && !takes(&range, "-6")
    );
    let floats = of(
        Datatype::Double,
        &[(MinExclusive, "0"), (MaxInclusive, "1e3")],
    );
    assert!(
        takes(&floats, "1e-9")
            && takes(&floats, "1000.0")
            && !takes(&floats, "-0")
            && !takes(&floats, "INF")
    );
    assert!(!takes(&floats, "NaN"));
    let dates = of(
        Datatype::Date,
        &[(MinInclusive, "2000-01-01Z"), (MaxInclusive, "2000-12-31Z")],
    );
    assert!(takes(&dates, "2000-06-01") && takes(&dates, "2000-01-01Z"));
    assert!(
        !takes(&dates, "2000-01-01"),
        "without a zone it may be earlier: not in order is not inside"
    );
    let durations = of(Datatype::Duration, &[(MaxExclusive, "P1M")]);
    assert!(takes(&durations, "P27D") && !takes(&durations, "P30D") && !takes(&durations, "P1M"));
    let big = of(
        Datatype::Integer,
        &[(MaxInclusive, "100000000000000000000000000")],
    );
    assert!(
        takes(&big, "100000000000000000000000000") && !takes(&big, "100000000000000000000000001")
    );
}

#[test]
fn digits_are_those_of_the_value() {
    let digits = of(
        Datatype::Decimal,
        &[(TotalDigits, "3"), (FractionDigits, "2")],
    );
    for text in ["1.23", "123", "000123.000", "-0.10", "0.05"] {
        assert!(takes(&digits, text), "{text}");
    }
    for text in ["1234", "12.34", "0.001"] {
        assert!(!takes(&digits, text), "{text}");
    }
}

#[test]
fn enumerations_are_compared_as_values() {
    let floats = of(
        Datatype::Float,
        &[(Enumeration, "325.325"), (Enumeration, "NaN")],
    );
    assert!(takes(&floats, "3.25325E2") && takes(&floats, "NaN") && !takes(&floats, "325"));
    let times = of(Datatype::DateTime, &[(Enumeration, "2000-01-01T12:00:00Z")]);
    assert!(takes(&times, "2000-01-01T13:00:00+01:00") && !takes(&times, "2000-01-01T12:00:00"));
    let tokens = of(Datatype::Token, &[(Enumeration, " a  b ")]);
    assert!(takes(&tokens, "a b") && takes(&tokens, "\na\tb"));
    let strings = of(Datatype::String, &[(Enumeration, " a")]);
    assert!(takes(&strings, " a") && !takes(&strings, "a"));
    let list = SimpleType::list_of(&SimpleType::builtin(Datatype::Decimal)).unwrap();
    let lists = restrict(&list, &[(Enumeration, "1 2.0"), (Enumeration, "")]).unwrap();
    assert!(takes(&lists, "1.0  2") && takes(&lists, " ") && !takes(&lists, "1"));
}

#[test]
fn names_in_enumerations_are_those_of_the_schemas_prefixes() {
    let facets = [Facet::new(Enumeration, "s:Client")];
    let base = SimpleType::builtin(Datatype::QName);
    let codes = SimpleType::restrict(&base, &facets, &[("s", "urn:soap")]).unwrap();
    assert!(codes.check("e:Client", &[("e", "urn:soap")]).is_ok());
    assert!(codes.check("s:Client", &[("s", "urn:other")]).is_err());
    assert!(matches!(
        SimpleType::restrict(&base, &facets, &NoNamespaces)
            .unwrap_err()
            .kind(),
        FacetErrorKind::NotInBase {
            facet: Enumeration,
            ..
        }
    ));
}

#[test]
fn patterns_of_one_step_are_alternatives_and_steps_add_up() {
    let first = of(Datatype::String, &[(Pattern, "a.*"), (Pattern, "b.*")]);
    assert!(takes(&first, "a1") && takes(&first, "b1") && !takes(&first, "c1"));
    let second = restrict(&first, &[(Pattern, ".*1")]).unwrap();
    assert!(takes(&second, "a1") && !takes(&second, "a2") && !takes(&second, "c1"));
    assert_eq!(second.facets().patterns().count(), 2);
    // The pattern sees the text after white space processing, but not the value.
    let numbers = of(Datatype::Int, &[(Pattern, "0\\d")]);
    assert!(takes(&numbers, " 07 ") && !takes(&numbers, "7"));
}

#[test]
fn white_space_can_only_get_stronger() {
    let replaced = of(Datatype::String, &[(WhiteSpace, "replace")]);
    assert_eq!(replaced.white_space(), bsoap_datatypes::WhiteSpace::Replace);
    assert_eq!(
        replaced
            .validate("a\tb", &NoNamespaces)
            .unwrap()
            .to_string(),
        "a b"
    );
    let error = restrict(&replaced, &[(WhiteSpace, "preserve")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "whiteSpace allows what whiteSpace of the base type does not"
    );
    assert!(restrict(&replaced, &[(WhiteSpace, " collapse")]).is_ok());
    assert!(
        restrict(
            &SimpleType::builtin(Datatype::Int),
            &[(WhiteSpace, "replace")]
        )
        .is_err()
    );
}

#[test]
fn the_first_member_that_takes_a_text_gives_it_its_value() {
    let members = [Datatype::Int, Datatype::Boolean, Datatype::String].map(SimpleType::builtin);
    let union = SimpleType::union_of(&members).unwrap();
    let value = |text: &str| union.validate(text, &NoNamespaces).unwrap().to_string();
    assert_eq!(value(" 01 "), "1");
    assert_eq!(value(" true "), "true");
    assert_eq!(value(" text "), " text ");
    let listed = restrict(&union, &[(Enumeration, "1"), (Enumeration, " x")]).unwrap();
    assert!(
        takes(&listed, " +1")
            && takes(&listed, " x")
            && !takes(&listed, "x")
            && !takes(&listed, "2")
    );
    let matched = restrict(&union, &[(Pattern, "\\d+")]).unwrap();
    assert!(takes(&matched, " 12 ") && !takes(&matched, "true"));
    let numbers = SimpleType::union_of(&members[..2]).unwrap();
    assert_eq!(
        says(&numbers, "x"),
        r#""x" is not a value of any member type of the union"#
    );
}

#[test]
fn unions_without_facets_dissolve_in_unions() {
    let [int, boolean] = [Datatype::Int, Datatype::Boolean].map(SimpleType::builtin);
    let inner = SimpleType::union_of(&[int.clone(), boolean]).unwrap();
    let outer = SimpleType::union_of(&[inner.clone(), int.clone()]).unwrap();
    assert!(matches!(outer.variety(), Variety::Union(members) if members.len() == 2));
    let faceted = restrict(&inner, &[(Pattern, "1")]).unwrap();
    let outer = SimpleType::union_of(&[faceted.clone(), int.clone()]).unwrap();
    assert!(matches!(outer.variety(), Variety::Union(members) if members.len() == 2));
    assert!(
        int.is_derived_from(&inner)
            && faceted.is_derived_from(&inner)
            && !inner.is_derived_from(&int)
    );
    assert!(faceted.is_derived_from(&outer));
}

#[test]
fn lists_have_items_of_any_type_but_lists() {
    let int_or_name = [Datatype::Int, Datatype::NcName].map(SimpleType::builtin);
    let union = SimpleType::union_of(&int_or_name).unwrap();
    let list = SimpleType::list_of(&union).unwrap();
    assert_eq!(
        list.validate(" 01\n a ", &NoNamespaces)
            .unwrap()
            .to_string(),
        "1 a"
    );
    assert!(!takes(&list, "1 :"));
    assert!(takes(&list, ""));
    assert_eq!(
        SimpleType::list_of(&list).unwrap_err().kind(),
        &FacetErrorKind::ListOfLists
    );
    let union = SimpleType::union_of(&[list]).unwrap();
    assert_eq!(
        SimpleType::list_of(&union).unwrap_err().kind(),
        &FacetErrorKind::ListOfLists
    );
    assert!(SimpleType::list_of(&SimpleType::builtin(Datatype::NmTokens)).is_err());
}

#[test]
fn built_in_types_are_simple_types_with_names_and_bases() {
    let byte = SimpleType::builtin(Datatype::Byte);
    assert_eq!(
        byte.name(),
        Some(&ExpandedName::new(Some(NAMESPACE), "byte"))
    );
    assert!(byte.is_derived_from(&SimpleType::builtin(Datatype::Decimal)));
    assert!(byte.is_derived_from(&SimpleType::builtin(Datatype::AnySimpleType)));
    assert!(!byte.is_derived_from(&SimpleType::builtin(Datatype::UnsignedByte)));
    assert!(!byte.has_facets() && SimpleType::builtin(Datatype::NmTokens).has_facets());
    assert_eq!(
        says(&SimpleType::builtin(Datatype::IdRefs), " "),
        r#""" has length 0, expected 1 or more"#
    );
    let named = of(Datatype::Byte, &[]).named(ExpandedName::new(Some("urn:x"), "Small"));
    assert_eq!(named.name().unwrap().to_string(), "{urn:x}Small");
    assert!(named.is_derived_from(&byte));
}

#[test]
fn facets_apply_to_the_types_the_specification_says() {
    let applies = |datatype: Datatype, facet: FacetName, value: &str| {
        restrict(&SimpleType::builtin(datatype), &[(facet, value)]).is_ok()
    };
    assert!(!applies(Datatype::Int, Length, "1") && !applies(Datatype::String, MinInclusive, "a"));
    assert!(
        !applies(Datatype::Boolean, Enumeration, "true")
            && applies(Datatype::Boolean, Pattern, "true|false")
    );
    assert!(
        !applies(Datatype::Double, TotalDigits, "3") && applies(Datatype::Byte, TotalDigits, "2")
    );
    assert!(
        !applies(Datatype::AnySimpleType, Pattern, "a")
            && applies(Datatype::NmTokens, MaxLength, "2")
    );
    assert!(
        applies(Datatype::GMonthDay, MinInclusive, "--02-29")
            && applies(Datatype::HexBinary, Enumeration, "00")
    );
    let union = SimpleType::union_of(&[SimpleType::builtin(Datatype::Int)]).unwrap();
    let error = restrict(&union, &[(MaxInclusive, "1")]).unwrap_err();
    assert_eq!(error.to_string(), "maxInclusive does not apply to union");
}

#[test]
fn values_of_facets_must_be_values() {
    for value in ["", "-1", "1.5", "x"] {
        assert!(matches!(
            error(Datatype::String, &[(Length, value)]),
            FacetErrorKind::Value { facet: Length, .. }
        ));
    }
    assert!(matches!(
        error(Datatype::Int, &[(TotalDigits, "0")]),
        FacetErrorKind::Value { .. }
    ));
    assert!(matches!(
        error(Datatype::String, &[(WhiteSpace, "trim")]),
        FacetErrorKind::Value { .. }
    ));
    assert!(matches!(
        error(Datatype::Byte, &[(MinInclusive, "-129")]),
        FacetErrorKind::NotInBase { .. }
    ));
    assert!(matches!(
        error(Datatype::String, &[(Pattern, "(")]),
        FacetErrorKind::Pattern(_)
    ));
    let huge = of(
        Datatype::String,
        &[(MaxLength, "99999999999999999999999999")],
    );
    assert!(takes(&huge, "a"));
    let listed = of(Datatype::Int, &[(Enumeration, "1")]);
    assert!(matches!(
        restrict(&listed, &[(Enumeration, "2")]).unwrap_err().kind(),
        FacetErrorKind::NotInBase { facet: Enumeration, source }
            if matches!(source.kind(), ValidityErrorKind::Facet { facet: Enumeration, .. })
    ));
}

#[test]
fn facets_that_contradict_each_other_are_refused() {
    use FacetErrorKind::{Conflict, Duplicate};
    let decimal = |facets: &[(FacetName, &str)]| error(Datatype::Decimal, facets);
    let string = |facets: &[(FacetName, &str)]| error(Datatype::String, facets);
    assert_eq!(
        string(&[(MinLength, "3"), (MaxLength, "2")]),
        Conflict {
            facet: MinLength,
            with: MaxLength
        }
    );
    assert_eq!(
        string(&[(Length, "3"), (MaxLength, "3")]),
        Conflict {
            facet: Length,
            with: MaxLength
        }
    );
    assert_eq!(string(&[(Length, "3"), (Length, "3")]), Duplicate(Length));
    assert_eq!(
        decimal(&[(MinInclusive, "3"), (MaxInclusive, "2")]),
        Conflict {
            facet: MinInclusive,
            with: MaxInclusive
        }
    );
    assert_eq!(
        decimal(&[(MinInclusive, "3"), (MaxExclusive, "3")]),
        Conflict {
            facet: MinInclusive,
            with: MaxExclusive
        }
    );
    assert_eq!(
        decimal(&[(MinInclusive, "3"), (MinExclusive, "3")]),
        Conflict {
            facet: MinInclusive,
            with: MinExclusive
        }
    );
    assert_eq!(
        decimal(&[(FractionDigits, "3"), (TotalDigits, "2")]),
        Conflict {
            facet: FractionDigits,
            with: TotalDigits
        }
    );
    assert!(
        restrict(
            &SimpleType::builtin(Datatype::Decimal),
            &[(MinExclusive, "3"), (MaxExclusive, "3")]
        )
        .is_ok()
    );
}

#[test]
fn a_derived_type_allows_nothing_its_base_does_not() {
    let base = of(
        Datatype::Decimal,
        &[
            (MinInclusive, "0"),
            (MaxExclusive, "10"),
            (FractionDigits, "2"),
        ],
    );
    for facet in [
        (MinInclusive, "-1"),
        (MaxInclusive, "10"),
        (MaxExclusive, "11"),
        (FractionDigits, "3"),
        (MaxInclusive, "-1"),
    ] {
        assert!(restrict(&base, &[facet]).is_err(), "{facet:?}");
    }
    for facet in [
        (MinInclusive, "0"),
        (MinExclusive, "0"),
        (MaxExclusive, "10"),
        (MaxInclusive, "9.99"),
        (FractionDigits, "2"),
    ] {
        assert!(restrict(&base, &[facet]).is_ok(), "{facet:?}");
    }
    let base = of(Datatype::String, &[(MinLength, "2"), (MaxLength, "5")]);
    for facet in [
        (MinLength, "1"),
        (MaxLength, "6"),
        (Length, "1"),
        (Length, "6"),
    ] {
        assert!(restrict(&base, &[facet]).is_err(), "{facet:?}");
    }
    assert!(takes(&restrict(&base, &[(Length, "3")]).unwrap(), "abc"));
    assert!(
        restrict(
            &SimpleType::builtin(Datatype::Int),
            &[(FractionDigits, "1")]
        )
        .is_err()
    );
    let exact = of(Datatype::String, &[(Length, "2")]);
    assert!(
        restrict(&exact, &[(Length, "3")]).is_err() && restrict(&exact, &[(Length, "2")]).is_ok()
    );
}

#[test]
fn a_fixed_facet_stays_as_it_is() {
    let fixed = Facet {
        name: MaxInclusive,
        value: "10",
        fixed: true,
    };
    let base =
        SimpleType::restrict(&SimpleType::builtin(Datatype::Int), &[fixed], &NoNamespaces).unwrap();
    assert_eq!(
        restrict(&base, &[(MaxInclusive, "9")]).unwrap_err().kind(),
        &FacetErrorKind::Fixed(MaxInclusive)
    );
    assert_eq!(
        restrict(&base, &[(MaxExclusive, "9")]).unwrap_err().kind(),
        &FacetErrorKind::Fixed(MaxInclusive)
    );
    assert!(restrict(&base, &[(MaxInclusive, "10"), (MinInclusive, "1")]).is_ok());
}

#[test]
fn hostile_derivations_meet_a_limit_and_not_the_end_of_the_stack() {
    let mut simple_type = SimpleType::builtin(Datatype::String);
    let error = loop {
        match restrict(&simple_type, &[]) {
            Ok(derived) => simple_type = derived,
            Err(error) => break error,
        }
    };
    assert_eq!(
        error.to_string(),
        "the type is derived in more steps than the limit of 200"
    );

    // Each union doubles the ways to read a text.
    let mut union = SimpleType::union_of(&[SimpleType::builtin(Datatype::Int)]).unwrap();
    let error = loop {
        let faceted = [
            restrict(&union, &[(Pattern, "x")]),
            restrict(&union, &[(Pattern, "y")]),
        ];
        let step = faceted
            .into_iter()
            .collect::<std::result::Result<Vec<_>, _>>();
        match step.and_then(|members| SimpleType::union_of(&members)) {
            Ok(next) => union = next,
            Err(error) => break error,
        }
    };
    assert_eq!(
        error.to_string(),
        "the union has more members than the limit of 10000"
    );
    assert!(!takes(&union, "z"));
}

#[test]
fn white_space_of_types_is_that_of_their_base() {
    assert_eq!(
        of(Datatype::Token, &[]).white_space(),
        bsoap_datatypes::WhiteSpace::Collapse
    );
    assert_eq!(
        of(Datatype::String, &[]).white_space(),
        bsoap_datatypes::WhiteSpace::Preserve
    );
    let list = SimpleType::list_of(&SimpleType::builtin(Datatype::String)).unwrap();
    assert_eq!(list.white_space(), bsoap_datatypes::WhiteSpace::Collapse);
}

/// Types made of random facets, and texts that are nearly right.
mod quick_validation {
    use std::sync::Arc;

    use bsoap_datatypes::qname::NoNamespaces;
    use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
    use proptest::prelude::*;

    fn of_strings() -> impl Strategy<Value = (Datatype, Vec<(FacetName, String)>)> {
        use FacetName as F;
        let datatype = prop_oneof![
            Just(Datatype::String),
            Just(Datatype::NormalizedString),
            Just(Datatype::Token),
            Just(Datatype::NmToken),
        ];
        let length =
            |name: FacetName| (0..9_u32).prop_map(move |length| (name, length.to_string()));
        let facet = prop_oneof![
            length(F::Length),
            length(F::MinLength),
            length(F::MaxLength),
            proptest::sample::select(vec![
                "[ab]+",
                "[aé ]*",
                "a?[^a]{2}",
                "[a-z ]{0,5}",
                "(a|b|é)*",
                "a[b ]+"
            ])
            .prop_map(|it| (F::Pattern, it.to_owned())),
            "[abé ]{0,4}".prop_map(|it| (F::Enumeration, it)),
            "[abé ]{0,4}".prop_map(|it| (F::Enumeration, it)),
        ];
        (datatype, proptest::collection::vec(facet, 0..5))
    }

    fn of_decimals() -> impl Strategy<Value = (Datatype, Vec<(FacetName, String)>)> {
        use FacetName as F;
        let facet = prop_oneof![
            (1..5_u32).prop_map(|it| (F::TotalDigits, it.to_string())),
            (0..3_u32).prop_map(|it| (F::FractionDigits, it.to_string())),
            "-?[0-9]{1,2}(\\.[0-5])?".prop_map(|it| (F::MinInclusive, it)),
            "-?[0-9]{1,2}(\\.[0-5])?|0|-0".prop_map(|it| (F::MinExclusive, it)),
            "[0-9]{1,3}".prop_map(|it| (F::MaxInclusive, it)),
        ];
        (
            Just(Datatype::Decimal),
            proptest::collection::vec(facet, 0..4),
        )
    }

    fn made((datatype, facets): &(Datatype, Vec<(FacetName, String)>)) -> Option<Arc<SimpleType>> {
        let facets: Vec<_> = facets
            .iter()
            .map(|(name, value)| Facet::new(*name, value))
            .collect();
        SimpleType::restrict(&SimpleType::builtin(*datatype), &facets, &NoNamespaces).ok()
    }

    proptest! {
        #[test]
        fn what_is_surely_taken_is_valid(
            kinds in proptest::collection::vec(prop_oneof![of_strings(), of_decimals()], 1..12),
            texts in proptest::collection::vec("[abé \t]{0,9}|-?[0-9]{0,4}\\.?[0-9]{0,3}|[ab]{1,4}", 1..40),
        ) {
            for simple in kinds.iter().filter_map(made) {
                for text in &texts {
                    let is_valid = simple.check(text, &NoNamespaces).is_ok();
                    prop_assert!(!simple.surely_takes(text) || is_valid, "{:?} {:?}", simple, text);
                }
            }
        }
    }

    #[test]
    fn plain_texts_are_validated_quickly() {
        use FacetName as F;
        for (datatype, facets, texts) in [
            (
                Datatype::String,
                vec![(F::MinLength, "1"), (F::MaxLength, "5")],
                ["a", "äöü", " äa "],
            ),
            (
                Datatype::String,
                vec![(F::Enumeration, "DE"), (F::Enumeration, "IT")],
                ["DE", "IT", "DE"],
            ),
            (
                Datatype::Token,
                vec![(F::Pattern, "[A-Z]{2}[0-9]*")],
                ["AB1", "XY", "XY999"],
            ),
            (
                Datatype::String,
                vec![(F::Length, "3")],
                ["äöü", "abc", "  x"],
            ),
            (
                Datatype::Decimal,
                vec![(F::MinInclusive, "0"), (F::FractionDigits, "2")],
                ["1.25", "0", "12345.5"],
            ),
        ] {
            let facets: Vec<_> = facets
                .iter()
                .map(|&(name, value)| (name, value.to_owned()))
                .collect();
            let simple = made(&(datatype, facets)).expect("a type");
            for text in texts {
                assert!(simple.surely_takes(text), "{simple:?} {text}");
            }
        }
    }
}
