//! What always holds, for values and texts nobody thought of.

use std::cmp::Ordering;

use bsoap_datatypes::datetime::{Calendar, Moment, Zone};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{
    AtomicValue, Datatype, Decimal, Duration, LexicalError, Pattern, WhiteSpace, Width, binary,
    double, float, integer,
};
use num_bigint::BigInt;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// Digits with dots, signs and exponents: texts that are numbers more often than not.
fn number_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[+-]?[0-9]{1,25}(\\.[0-9]{0,25})?([eE][+-]?[0-9]{1,4})?",
        "[+-]?\\.[0-9]{1,30}([eE][+-]?[0-9]{1,3})?",
        "[+-]?[0-9.eE+-]{0,12}",
        "[+-]?(INF|inf|NaN|nan|Infinity|infinity|1|<)",
    ]
}

fn zone() -> impl Strategy<Value = Option<Zone>> {
    prop_oneof![Just(None), (-840_i16..=840).prop_map(Zone::from_minutes)]
}

prop_compose! {
    fn date_time()(
        year in prop_oneof![1990_i64..2030, -3000_i64..3000, -100_000_000_000_000_000_i64..100_000_000_000_000_000],
        month in 1_u8..=12, day in 1_u8..=31, hour in 0_u8..24, minute in 0_u8..60, second in 0_u8..60,
        fraction in "[0-9]{0,12}", zone in zone()
    ) -> Calendar {
        let year = if year == 0 { 1 } else { year };
        let on = |day| {
            let fraction = fraction.as_str().into();
            Calendar::new(Datatype::DateTime, Moment { year, month, day, hour, minute, second, fraction, zone })
        };
        on(day).or_else(|| on(28)).unwrap()
    }
}

prop_compose! {
    fn time()(hour in 0_u8..24, minute in 0_u8..60, fraction in "[0-9]{0,3}", zone in zone()) -> Calendar {
        let fraction = fraction.into();
        Calendar::new(Datatype::Time, Moment { hour, minute, fraction, zone, ..Moment::default() }).unwrap()
    }
}

fn duration() -> impl Strategy<Value = Duration> {
    let counts = prop_oneof![
        (0_i64..40, 0_i64..4_000_000),
        (0..i64::MAX / 12, 0..i64::MAX)
    ];
    (counts, any::<bool>(), "[0-9]{0,9}").prop_map(|((months, seconds), back, fraction)| {
        let sign = if back { -1 } else { 1 };
        Duration::new(months * sign, seconds * sign, &fraction).unwrap()
    })
}

/// Reflexive, antisymmetric, transitive where it says anything; and equal values are in no other
/// order to a third.
fn is_partial_order<T: PartialOrd + std::fmt::Debug>(
    a: &T,
    b: &T,
    c: &T,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.partial_cmp(a), Some(Ordering::Equal));
    prop_assert_eq!(a.partial_cmp(b), b.partial_cmp(a).map(Ordering::reverse));
    prop_assert_eq!(a == b, a.partial_cmp(b) == Some(Ordering::Equal));
    if a <= b && b <= c {
        prop_assert!(a <= c, "{:?} <= {:?} <= {:?}", a, b, c);
    }
    if a == b {
        prop_assert_eq!(a.partial_cmp(c), b.partial_cmp(c));
    }
    Ok(())
}

fn displays_and_parses<T: ToString + PartialEq + std::fmt::Debug>(
    value: &T,
    parse: impl Fn(&str) -> Result<T, LexicalError>,
) -> Result<(), TestCaseError> {
    let text = value.to_string();
    let again = parse(&text).unwrap();
    prop_assert_eq!(&again, value);
    prop_assert_eq!(again.to_string(), text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_double_reads_back_bit_for_bit(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        let text = written(|out| double::write(value, out));
        prop_assert!(text.len() <= double::WIDTH);
        let mut out = [b'x'; 32];
        let length = double::format(value, &mut out);
        prop_assert_eq!(&out[..length], &text[..]);
        let back = double::parse(&text).unwrap();
        prop_assert!(back.to_bits() == bits || value.is_nan() && back.is_nan());
        let canonical = double::canonical(value);
        let back = double::parse(canonical.as_bytes()).unwrap();
        prop_assert!(back == value || value.is_nan() && back.is_nan());
        prop_assert_eq!(double::canonical(back), canonical);
    }

    #[test]
    fn every_float_reads_back_bit_for_bit(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        let text = written(|out| float::write(value, out));
        prop_assert!(text.len() <= float::WIDTH);
        let back = float::parse(&text).unwrap();
        prop_assert!(back.to_bits() == bits || value.is_nan() && back.is_nan());
        let canonical = float::canonical(value);
        let back = float::parse(canonical.as_bytes()).unwrap();
        prop_assert!(back == value || value.is_nan() && back.is_nan());
    }

    #[test]
    fn doubles_and_floats_are_what_the_standard_library_reads(text in number_text()) {
        // The grammar of std without `inf`, `nan` and similar words is that of xs:double.
        let is_number = !text.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E'));
        let expected = text.parse::<f64>().ok().filter(|_| is_number).map(f64::to_bits);
        let special = matches!(&*text, "INF" | "-INF" | "NaN");
        prop_assert_eq!(double::parse(text.as_bytes()).ok().filter(|_| !special).map(f64::to_bits), expected);
        let expected = text.parse::<f32>().ok().filter(|_| is_number).map(f32::to_bits);
        prop_assert_eq!(float::parse(text.as_bytes()).ok().filter(|_| !special).map(f32::to_bits), expected);
        prop_assert_eq!(Datatype::Double.check(&text).is_ok(), double::parse(text.as_bytes()).is_ok());
        let before_tag = format!("{text}</item>");
        let prefix = double::parse_prefix(before_tag.as_bytes()).filter(|(_, length)| *length == text.len());
        let whole = double::parse(text.as_bytes()).ok().filter(|_| !special);
        prop_assert_eq!(prefix.map(|(value, _)| value.to_bits()), whole.map(f64::to_bits));
    }

    #[test]
    fn bytes_of_any_kind_are_no_harm_to_the_kernels(text in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = double::parse(&text);
        let _ = float::parse(&text);
        let _ = integer::parse_i64(&text, Datatype::Long);
        let _ = integer::parse_u64(&text, Datatype::UnsignedLong);
        if let Some((_, length)) = double::parse_prefix(&text) {
            prop_assert!((1..=text.len()).contains(&length));
        }
        if let Some((_, length)) = integer::parse_prefix_i64(&text) {
            prop_assert!((1..=text.len()).contains(&length));
        }
    }

    #[test]
    fn integers_read_back_whatever_follows(value in any::<i64>(), shift in 0..64, tail in proptest::collection::vec(any::<u8>(), 0..20)) {
        let value = value >> shift;
        let mut text = written(|out| integer::write_i64(value, out));
        let length = text.len();
        prop_assert!(length <= integer::WIDTH);
        prop_assert_eq!(integer::parse_i64(&text, Datatype::Long).unwrap(), value);
        let mut out = [b'x'; 32];
        prop_assert_eq!(integer::format_i64(value, &mut out), length);
        prop_assert_eq!(&out[..length], &text[..]);
        text.extend(tail);
        if !text.get(length).is_some_and(u8::is_ascii_digit) {
            prop_assert_eq!(integer::parse_prefix_i64(&text), Some((value, length)));
        }
        let magnitude = value.unsigned_abs();
        let text = written(|out| integer::write_u64(magnitude, out));
        prop_assert_eq!(integer::parse_u64(&text, Datatype::UnsignedLong).unwrap(), magnitude);
    }

    #[test]
    fn integers_are_what_the_standard_library_reads(text in "[+-]?[0-9]{0,22}") {
        prop_assert_eq!(integer::parse_i64(text.as_bytes(), Datatype::Long).ok(), text.parse::<i64>().ok());
        prop_assert_eq!(integer::parse_i64(text.as_bytes(), Datatype::Short).ok(), text.parse::<i16>().ok().map(i64::from));
        let zero = text.parse::<BigInt>().is_ok_and(|value| value == BigInt::ZERO);
        let expected = if zero { Some(0) } else { text.parse::<u64>().ok() };
        prop_assert_eq!(integer::parse_u64(text.as_bytes(), Datatype::UnsignedLong).ok(), expected);
        prop_assert_eq!(Datatype::Int.check(&text).is_ok(), text.parse::<i32>().is_ok());
        prop_assert_eq!(Datatype::Integer.check(&text).is_ok(), text.parse::<BigInt>().is_ok());
    }

    #[test]
    fn decimals_agree_with_big_integers(left in "-?[0-9]{1,30}\\.[0-9]{12}", right in "-?[0-9]{1,30}\\.[0-9]{12}") {
        // With the dot at the same place, decimals are in the order of the integers without it.
        let scaled = |text: &str| text.replace('.', "").parse::<BigInt>().unwrap();
        let [a, b] = [&left, &right].map(|text| text.parse::<Decimal>().unwrap());
        prop_assert_eq!(a.cmp(&b), scaled(&left).cmp(&scaled(&right)));
        displays_and_parses(&a, Decimal::parse)?;
        prop_assert_eq!(a.canonical().parse::<Decimal>().unwrap(), a.clone());
        prop_assert_eq!(a.to_i64(), a.is_integer().then(|| scaled(&left) / BigInt::from(10).pow(12)).and_then(|value| value.try_into().ok()));
    }

    #[test]
    fn octets_read_back_from_both_binary_types(octets in proptest::collection::vec(any::<u8>(), 0..200), space in 0..50_usize) {
        let mut text = written(|out| binary::write_base64(&octets, out));
        let back = written(|out| binary::parse_base64(&text, out).unwrap());
        prop_assert_eq!(&back, &octets);
        text.insert(space.min(text.len()), b' ');
        let back = written(|out| binary::parse_base64(&text, out).unwrap());
        prop_assert_eq!(&back, &octets);
        prop_assert!(Datatype::Base64Binary.check(std::str::from_utf8(&text).unwrap()).is_ok());
        let text = written(|out| binary::write_hex(&octets, out));
        let back = written(|out| binary::parse_hex(&text, out).unwrap());
        prop_assert_eq!(&back, &octets);
    }

    #[test]
    fn checking_and_decoding_agree_on_what_base64_is(text in "[A-Da-b+/= ]{0,12}") {
        let mut octets = Vec::new();
        let decoded = binary::parse_base64(text.as_bytes(), &mut octets);
        prop_assert_eq!(Datatype::Base64Binary.check(&text).is_ok(), decoded.is_ok());
    }

    #[test]
    fn instants_are_partially_ordered(a in date_time(), b in date_time(), c in date_time()) {
        is_partial_order(&a, &b, &c)?;
        displays_and_parses(&a, |text| Calendar::parse(Datatype::DateTime, text))?;
    }

    #[test]
    fn a_canonical_instant_is_the_same_instant(value in date_time()) {
        let canonical = Calendar::parse(Datatype::DateTime, &value.canonical()).unwrap();
        prop_assert_eq!(&canonical, &value);
        prop_assert_eq!(canonical.canonical(), value.canonical());
    }

    #[test]
    fn times_of_day_are_partially_ordered(a in time(), b in time(), c in time()) {
        is_partial_order(&a, &b, &c)?;
        displays_and_parses(&a, |text| Calendar::parse(Datatype::Time, text))?;
        let canonical = Calendar::parse(Datatype::Time, &a.canonical()).unwrap();
        prop_assert_eq!(&canonical, &a);
        prop_assert_eq!(canonical.partial_cmp(&b), a.partial_cmp(&b));
    }

    #[test]
    fn days_are_partially_ordered(days in proptest::collection::vec((1990_i64..1992, 1_u8..=12, 1_u8..=28, zone()), 3)) {
        let days: Vec<Calendar> = days.iter().map(|&(year, month, day, zone)| {
            Calendar::new(Datatype::Date, Moment { year, month, day, zone, ..Moment::default() }).unwrap()
        }).collect();
        is_partial_order(&days[0], &days[1], &days[2])?;
        let canonical = Calendar::parse(Datatype::Date, &days[0].canonical()).unwrap();
        prop_assert_eq!(&canonical, &days[0]);
        prop_assert_eq!(canonical.canonical(), days[0].canonical());
    }

    #[test]
    fn durations_are_partially_ordered(a in duration(), b in duration(), c in duration()) {
        is_partial_order(&a, &b, &c)?;
        displays_and_parses(&a, Duration::parse)?;
    }

    #[test]
    fn any_text_is_taken_or_refused_by_every_type(text in any::<String>()) {
        for datatype in Datatype::ALL {
            let text = datatype.white_space().apply(&text);
            let value = AtomicValue::parse(datatype, &text, &NoNamespaces);
            if value.is_ok() {
                prop_assert!(datatype.check(&text).is_ok());
            }
        }
    }

    #[test]
    fn texts_that_look_like_dates_are_taken_or_refused(text in "[-]{0,2}[0-9]{0,5}[-]?[0-9]{0,2}[-]?[0-9]{0,2}T?[0-9:]{0,8}(\\.[0-9]*)?[Z+-]?[0-9:]{0,5}") {
        for datatype in Datatype::ALL {
            if let Ok(value) = AtomicValue::parse(datatype, &text, &NoNamespaces) {
                let canonical = value.canonical(datatype);
                let again = AtomicValue::parse(datatype, &canonical, &NoNamespaces).unwrap();
                prop_assert_eq!(again.canonical(datatype), canonical);
                prop_assert_eq!(again, value);
            }
        }
    }

    #[test]
    fn white_space_processing_done_twice_is_done_once(text in "[ \t\n\ra\u{a0}é]{0,20}") {
        for white_space in [WhiteSpace::Preserve, WhiteSpace::Replace, WhiteSpace::Collapse] {
            let once = white_space.apply(&text);
            prop_assert_eq!(white_space.apply(&once), once.clone());
        }
        let collapsed: Vec<&str> = text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()).collect();
        prop_assert_eq!(WhiteSpace::Collapse.apply(&text), collapsed.join(" "));
    }

    #[test]
    fn integers_fit_the_width_of_their_type(value in any::<i64>(), shift in 0..64_u32) {
        let text = (value >> shift).to_string();
        for datatype in Datatype::ALL {
            if let Width::AtMost(width) = datatype.width() && datatype.check(&text).is_ok() && datatype.is_derived_from(Datatype::Integer) {
                prop_assert!(text.len() <= usize::from(width));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_pattern_or_an_error(source in any::<String>(), text in any::<String>()) {
        if let Ok(pattern) = Pattern::parse(&source) {
            let _ = pattern.is_match(&text);
        }
    }

    #[test]
    fn texts_that_look_like_patterns_are_a_pattern_or_an_error(source in "([a-c^$.|?*+(){}\\[\\]-]|\\\\[a-zA-Z.]|\\{[0-9],?[0-9]?\\}|\\\\p\\{(L|Nd|IsGreek)\\}){0,12}", text in "[a-c^$-]{0,8}") {
        if let Ok(pattern) = Pattern::parse(&source) {
            let _ = pattern.is_match(&text);
        }
    }

    #[test]
    fn a_text_with_its_special_characters_escaped_matches_itself(text in "[ -~é𝄞\t]{0,20}") {
        let escape = |c: char| if r"\|.?*+(){}-[]^".contains(c) { format!("\\{c}") } else { c.to_string() };
        let source: String = text.chars().map(escape).collect();
        let pattern = Pattern::parse(&source).unwrap();
        prop_assert!(pattern.is_match(&text));
        let longer = format!("{text}x");
        prop_assert!(!pattern.is_match(&longer));
    }
}
