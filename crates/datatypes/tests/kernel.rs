//! The kernels of whole arrays against the standard library and against one another: the wide ones, which hurry, against
//! the plain one, and all of them against `str::parse` and the formatters of single values.
//!
//! `cargo test --release -p bsoap-datatypes --test kernel -- --ignored` tries many more values, and all `f32`.

use bsoap_datatypes::double;
use bsoap_datatypes::kernel::{
    Column, Found, Kernel, Listed, Number, PaddedColumn, RowsEnd, Separator, Steps,
};
use proptest::prelude::*;

const BETWEEN: &str = "</item><item>";
const INT: Number = Number::Signed {
    min: i32::MIN as i64,
    max: i32::MAX as i64,
};
const LONG: Number = Number::Signed {
    min: i64::MIN,
    max: i64::MAX,
};

/// All kernels that this machine has.
fn kernels() -> Vec<Kernel> {
    [
        Some(Kernel::PORTABLE),
        Kernel::neon(),
        Kernel::avx2(),
        Kernel::avx512(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a kernel found: slots, places, and where it stopped.
type Read = (Vec<u64>, Vec<(usize, usize)>, usize);

fn read(kernel: Kernel, text: &[u8], at: usize, number: Number, between: &str) -> Read {
    let mut slots = Vec::with_capacity(text.len());
    let mut places = Vec::new();
    let separator = Separator::new(between.as_bytes());
    let end = kernel.read_array(
        (text, at),
        number,
        &separator,
        usize::MAX,
        &mut slots,
        |at, length| {
            places.push((at, length));
        },
    );
    (slots, places, end)
}

/// Stops after a number of values.
struct Few<'p> {
    places: &'p mut Vec<(usize, usize)>,
    slots: Vec<u64>,
    most: usize,
}

impl Found for Few<'_> {
    fn value(&mut self, at: usize, length: usize, slot: u64) -> bool {
        self.places.push((at, length));
        self.slots.push(slot);
        self.places.len() != self.most
    }
}

/// An array of these lexical forms with much behind it, so that the wide loops read all of them.
fn array(forms: &[String], between: &str) -> (Vec<u8>, usize) {
    let head = "<Envelope><Body><item>";
    let text = format!("{head}{}{between}{}", forms.join(between), "x".repeat(200));
    (text.into_bytes(), head.len())
}

/// What a kernel finds if `count` values make a row.
fn read_rows(kernel: Kernel, text: &[u8], at: usize, column: &Column, count: usize) -> Vec<u64> {
    let columns = vec![column.clone(); count];
    let mut slots = Vec::new();
    kernel.read_rows(text, at, &columns, usize::MAX, &mut slots, |_, _, _| {});
    slots
}

/// Whether each kernel reads these forms as these slots.
fn all_read(forms: &[String], number: Number, expected: &[u64], between: &str) {
    let (text, at) = array(forms, between);
    for kernel in kernels() {
        let (slots, places, _) = read(kernel, &text, at, number, between);
        for ((slot, expected), form) in slots.iter().zip(expected).zip(forms) {
            assert_eq!(slot, expected, "{form} ({kernel:?})");
        }
        assert_eq!(
            slots.len(),
            forms.len(),
            "{kernel:?}: {:?}",
            forms.get(slots.len())
        );
        for ((at, length), form) in places.into_iter().zip(forms) {
            assert_eq!(&text[at..at + length], form.as_bytes());
        }
        let column = Column {
            number,
            marker: None,
            separator: Separator::new(between.as_bytes()),
        };
        for count in 1..3 {
            let rows = read_rows(kernel, &text, at, &column, count);
            assert!(rows == slots, "{kernel:?}: {count} in a row");
        }
    }
}

fn doubles_are_read(forms: &[String]) {
    let expected: Vec<u64> = forms
        .iter()
        .map(|form| form.parse::<f64>().unwrap().to_bits())
        .collect();
    all_read(forms, Number::Double, &expected, BETWEEN);
    let expected: Vec<u64> = forms
        .iter()
        .map(|form| u64::from(form.parse::<f32>().unwrap().to_bits()))
        .collect();
    all_read(forms, Number::Float, &expected, BETWEEN);
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn finite(&mut self) -> f64 {
        loop {
            let value = f64::from_bits(self.next());
            if value.is_finite() {
                return value;
            }
        }
    }

    fn digits(&mut self, most: u64) -> String {
        let count = 1 + self.below(most);
        (0..count)
            .map(|_| char::from(b'0' + self.below(10) as u8))
            .collect()
    }

    /// A number of some kind.
    fn form(&mut self) -> String {
        let sign = ["", "", "-", "+"][self.below(4) as usize];
        let fixed = |value: f64| value.clamp(-1e300, 1e300);
        match self.below(18) {
            0 => format!("{:?}", self.finite()),
            1 => format!("{:e}", self.finite()),
            2 => format!("{:.16e}", self.finite()),
            3 => format!("{:.6E}", self.finite()),
            4 => format!("{}", self.next() as f64 / u64::MAX as f64),
            5 => format!("{:.17}", self.next() as f64 / u64::MAX as f64),
            6 => format!("{}", self.below(100_000) as f64 / 100.0),
            7 => format!("{sign}{}", self.digits(22)),
            8 => format!("{sign}{}.{}", self.digits(12), self.digits(12)),
            9 => format!("{sign}.{}", self.digits(20)),
            10 => format!("{sign}{}.", self.digits(20)),
            11 => format!("{sign}{}e{}", self.digits(20), self.below(350) as i64 - 330),
            12 => format!("{sign}0.000{}", self.digits(20)),
            13 => format!(
                "{sign}{}.{}E+{}",
                self.digits(3),
                self.digits(14),
                self.below(30)
            ),
            14 => format!("{:e}", f64::from_bits(self.next() >> 12)),
            15 => format!("{}", self.next() as i32),
            16 => format!(
                "{}",
                fixed(f64::from_bits(
                    self.next() & !(0x7ff << 52) | (1000 + self.below(60)) << 52
                ))
            ),
            _ => format!("{sign}000{}.{}00", self.digits(4), self.digits(4)),
        }
    }
}

fn many_doubles(seed: u64, count: usize) {
    let mut random = Random(seed);
    let mut left = count;
    while left > 0 {
        let forms: Vec<String> = (0..left.min(1000)).map(|_| random.form()).collect();
        doubles_are_read(&forms);
        left -= forms.len();
    }
}

#[test]
fn doubles_and_floats_of_many_kinds_are_what_the_standard_library_reads() {
    many_doubles(0x9e37_79b9_7f4a_7c15, 20_000);
}

#[test]
#[ignore = "a minute"]
fn millions_of_doubles_and_floats_are_what_the_standard_library_reads() {
    many_doubles(0x1234_5678_9abc_def1, 20_000_000);
}

/// The digits of a number halfway between a value and the next, exactly.
fn halfway(value: f64) -> String {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    // (2m + 1) · 2^(e - 1)
    let odd = num_bigint::BigUint::from(2 * significand + 1);
    let exponent = exponent - 1;
    if exponent >= 0 {
        return (odd << exponent as u32).to_string();
    }
    let places = exponent.unsigned_abs();
    let digits = (odd * num_bigint::BigUint::from(5_u8).pow(places)).to_string();
    format!("{digits}e-{places}")
}

#[test]
fn what_lies_halfway_between_two_doubles_goes_to_the_even_one() {
    let mut random = Random(77);
    let mut forms = Vec::new();
    for exponent in (1..2046).step_by(7).chain(1023..1100) {
        let value = f64::from_bits((exponent << 52) | (random.next() >> 12));
        forms.push(halfway(value));
    }
    // Short ones, with at most 19 digits: integers above 2^53, quarters and eighths below.
    for _ in 0..2000 {
        let integer = (1_u64 << 53) + 2 * random.below(1 << 52) + 1;
        forms.push(integer.to_string());
        forms.push(format!("{integer}e0"));
        forms.push(format!("{integer}.0"));
        let value = (1_u64 << 52) + random.below(1 << 50);
        forms.push(format!("{value}.5"));
        let integer = (1_u64 << 54) + 4 * random.below(1 << 52) + 2;
        forms.push(integer.to_string());
        let quarter = (1_u64 << 51) + random.below(1 << 50);
        forms.push(format!("{quarter}.25"));
        forms.push(format!("{quarter}.75"));
        // Halfway between two floats.
        let float = f32::from_bits(random.below(0xff << 23) as u32);
        let next = f32::from_bits(float.to_bits() + 1);
        forms.push(format!("{:e}", (f64::from(float) + f64::from(next)) / 2.0));
        forms.push(((1_u64 << 24) + 2 * random.below(1 << 23) + 1).to_string());
    }
    let forms: Vec<String> = forms
        .into_iter()
        .filter(|form| form.parse::<f32>().unwrap().is_finite() || !form.contains("inf"))
        .collect();
    doubles_are_read(&forms);
}

/// Numbers of at most 19 digits, times a power of ten, that lie closest to halfway between two doubles: those that test sets
/// for parsers are made of. Their digits are denominators of the convergents of 10^power / 2^shift, whose numerators are odd
/// and have 54 bits.
fn nearly_halfway(power: i32, shift: i32) -> Vec<String> {
    let two = |by: i32| num_bigint::BigUint::from(1_u8) << by.max(0).unsigned_abs();
    let ten = |by: i32| num_bigint::BigUint::from(10_u8).pow(by.max(0).unsigned_abs());
    let (mut above, mut below) = (ten(power) * two(-shift), ten(-power) * two(shift));
    let (mut numerators, mut denominators) = ([0_u128, 1], [1_u128, 0]);
    let mut forms = Vec::new();
    while below.bits() > 0 {
        let Ok(quotient) = u64::try_from(&above / &below) else {
            break;
        };
        (above, below) = (below.clone(), above % below);
        let next = |[before, last]: [u128; 2]| [last, u128::from(quotient) * last + before];
        (numerators, denominators) = (next(numerators), next(denominators));
        let [numerator, denominator] = [numerators[1], denominators[1]];
        if numerator >= 1 << 54 || denominator >= 10_u128.pow(19) {
            break;
        }
        if numerator >= 1 << 53 && numerator % 2 == 1 {
            forms.push(format!("{denominator}e{power}"));
        }
    }
    forms
}

#[test]
fn what_lies_closest_to_halfway_goes_to_the_nearer_double() {
    let mut forms = Vec::new();
    for power in -345..=292 {
        let bits = (17.5 + f64::from(power)) * std::f64::consts::LOG2_10;
        for shift in -6..=6 {
            forms.extend(nearly_halfway(power, bits as i32 - 53 + shift));
        }
    }
    assert!(forms.len() > 1000, "{}", forms.len());
    doubles_are_read(&forms);
}

#[test]
fn the_bounds_of_doubles_and_what_is_beyond_them_are_read() {
    let forms = [
        "0",
        "-0",
        "0.0",
        "-0.0",
        "0e0",
        "0e999",
        "00000000000",
        "0.00000000000000000000",
        "-0.000000000000",
        "5e-324",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2e-324",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.2250738585072009e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e309",
        "1e999",
        "1e-400",
        "1e-999",
        "9007199254740993",
        "9007199254740992",
        "9007199254740991",
        "9999999999999999999",
        "18446744073709551615",
        "99999999",
        "999999999",
        "0.00000001",
        "0.1",
        "100000000",
        "12345678",
        "1234567.8",
        ".12345678",
        "1.2345678",
        "123456789012345678901234567890",
        "0.000000000000000000000000000001",
        "1e0",
        "1e+0",
        "1e-0",
        "1E5",
        "1e005",
        "1e22",
        "1e23",
        "8.5e22",
        "1e-5",
        "1.",
        ".5",
        "-.5",
        "-5.",
        "+7",
        "+7.5e3",
        "3.4028235e38",
        "3.4028236e38",
        "1.1754944e-38",
        "1e-45",
        "7e-46",
        "7.0064923216240853e-46",
        "1.4e-45",
        "16777217",
        "16777216",
        "1.00000005960464477539",
        "1.000000059604644775",
        "9.5e-7",
        "1e-342",
        "1e-343",
        "1e-361",
        "1000e-345",
    ];
    let forms: Vec<String> = forms.into_iter().map(str::to_owned).collect();
    doubles_are_read(&forms);
}

#[test]
fn what_is_no_number_ends_the_array() {
    let bad = [
        "",
        " ",
        "-",
        "+",
        ".",
        "-.",
        "+.",
        "e",
        "e5",
        "1e",
        "1e+",
        "1e-",
        "1 ",
        " 1",
        "1.2.3",
        "1..2",
        "1-2",
        "--1",
        "+-1",
        "-+1",
        "1e5e5",
        "1e5.5",
        "1ee5",
        "1e--5",
        "1e+-5",
        "1,5",
        "0x10",
        "1f",
        "1d",
        "inf",
        "-inf",
        "infinity",
        "nan",
        "NAN",
        "INF",
        "-INF",
        "+INF",
        "NaN",
        "1\u{660}",
        "1_000",
        "\u{ff11}",
        "1\n",
        "\t1",
        "12345678.-9",
        "1.-5",
        "-1.e",
        "1e.5",
        ".e5",
        "-.e5",
        "1:",
        "1/",
        "1;2",
        "&#49;",
        "1&#49;",
        "١",
    ];
    for bad in bad {
        for number in [Number::Double, Number::Float, INT, LONG] {
            let good = ["7".to_owned(), "12".to_owned(), "-345".to_owned()];
            for count in 0..=3 {
                let mut forms = good[..count].to_vec();
                forms.push(bad.to_owned());
                forms.extend_from_slice(&good);
                let (text, at) = array(&forms, BETWEEN);
                for kernel in kernels() {
                    let (slots, _, end) = read(kernel, &text, at, number, BETWEEN);
                    assert_eq!(slots.len(), count, "{bad:?} ({kernel:?}, {number:?})");
                    assert!(text[end..].starts_with(format!("{bad}{BETWEEN}").as_bytes()));
                }
            }
        }
    }
}

#[test]
fn integers_of_all_lengths_are_read_within_their_bounds() {
    let mut random = Random(5);
    let mut forms = Vec::new();
    for _ in 0..20_000 {
        let value = random.next() as i64 >> random.below(64);
        forms.push(value.to_string());
    }
    let expected: Vec<u64> = forms
        .iter()
        .map(|form| form.parse::<i64>().unwrap() as u64)
        .collect();
    for between in [
        BETWEEN,
        "<",
        "</a>\r\n      <a xsi:type=\"xsd:long\">",
        "</a><b/><a>",
    ] {
        all_read(&forms, LONG, &expected, between);
    }
    let ints: Vec<String> = forms
        .into_iter()
        .filter(|form| form.parse::<i32>().is_ok())
        .collect();
    let expected: Vec<u64> = ints
        .iter()
        .map(|form| form.parse::<i64>().unwrap() as u64)
        .collect();
    for between in [
        BETWEEN,
        "<",
        "</a>\r\n      <a xsi:type=\"xsd:int\">",
        "</a><b/><a>",
    ] {
        all_read(&ints, INT, &expected, between);
    }
    let edges = [
        "-9223372036854775808",
        "9223372036854775807",
        "-9223372036854775807",
        "999999999999999999",
        "0000000000000000007",
        "+5",
        "-0",
        "00",
        "1000000000000000000",
        "9999999999999999",
        "99999999999999999",
    ];
    let edges: Vec<String> = edges.into_iter().map(str::to_owned).collect();
    let expected: Vec<u64> = edges
        .iter()
        .map(|form| form.parse::<i64>().unwrap() as u64)
        .collect();
    all_read(&edges, LONG, &expected, BETWEEN);
}

#[test]
fn an_integer_out_of_its_bounds_ends_the_array() {
    let unsigned = |max| Number::Unsigned { max };
    for (number, form) in [
        (INT, "2147483648"),
        (INT, "-2147483649"),
        (INT, "99999999999999999999"),
        (LONG, "9223372036854775808"),
        (LONG, "-9223372036854775809"),
        (LONG, "9999999999999999999"),
        (unsigned(255), "256"),
        (unsigned(255), "-1"),
        (unsigned(u64::MAX), "18446744073709551616"),
        (unsigned(u64::MAX), "-1"),
        (
            Number::Signed {
                min: -128,
                max: 127,
            },
            "128",
        ),
        (
            Number::Signed {
                min: -128,
                max: 127,
            },
            "-129",
        ),
    ] {
        for count in 0..4 {
            let mut forms = vec!["1".to_owned(); count];
            forms.push(form.to_owned());
            forms.extend(["2".to_owned(), "3".to_owned(), "4".to_owned()]);
            let (text, at) = array(&forms, BETWEEN);
            for kernel in kernels() {
                assert_eq!(
                    read(kernel, &text, at, number, BETWEEN).0.len(),
                    count,
                    "{form} ({kernel:?})"
                );
            }
        }
    }
    let most = [
        "18446744073709551615".to_owned(),
        "9223372036854775808".to_owned(),
        "-0".to_owned(),
    ];
    all_read(&most, unsigned(u64::MAX), &[u64::MAX, 1 << 63, 0], BETWEEN);
}

/// What a kernel writes, and the locations that it reports.
fn written(
    kernel: Kernel,
    slots: &[u64],
    number: Number,
    between: &str,
) -> (Vec<u8>, Vec<(usize, usize)>) {
    let mut out = b"<item>".to_vec();
    let mut places = Vec::new();
    kernel.write_rows(
        slots,
        &[column(number, between)],
        &mut out,
        |starts, lengths| {
            places.extend(
                starts
                    .iter()
                    .copied()
                    .zip(lengths.iter().map(|&length| length.into())),
            );
        },
    );
    (out, places)
}

/// The only column of rows.
fn column(number: Number, between: &str) -> Column {
    Column {
        number,
        marker: None,
        separator: Separator::new(between.as_bytes()),
    }
}

/// Whether all kernels write these slots the same, and `text` is the result.
fn all_write(slots: &[u64], number: Number, text: impl Fn(u64) -> Vec<u8>) {
    for kernel in kernels() {
        let (out, places) = written(kernel, slots, number, BETWEEN);
        assert_eq!(places.len(), slots.len());
        let mut end = 6;
        for (&(at, length), &slot) in places.iter().zip(slots) {
            let expected = text(slot);
            let found = &out[at..at + length];
            assert!(
                found == expected,
                "{slot:#x} ({kernel:?}): {} and not {}",
                found.escape_ascii(),
                expected.escape_ascii()
            );
            assert_eq!(at, end);
            end = at + length + BETWEEN.len();
        }
        assert_eq!(
            out.len() + BETWEEN.len(),
            end.max(6 + BETWEEN.len()),
            "{kernel:?}"
        );
    }
}

fn double_text(slot: u64) -> Vec<u8> {
    let mut text = Vec::new();
    double::write(f64::from_bits(slot), &mut text);
    text
}

fn integer_text(slot: u64) -> Vec<u8> {
    (slot as i64).to_string().into_bytes()
}

fn many_are_written(seed: u64, count: usize) {
    let mut random = Random(seed);
    let mut left = count;
    while left > 0 {
        let slots: Vec<u64> = (0..left.min(1000))
            .map(|_| match random.below(4) {
                0 => random.next(),
                _ => random.form().parse::<f64>().unwrap().to_bits(),
            })
            .collect();
        all_write(&slots, Number::Double, double_text);
        let slots: Vec<u64> = slots
            .into_iter()
            .map(|slot| (slot as i64 >> random.below(64)) as u64)
            .collect();
        all_write(&slots, LONG, integer_text);
        left -= slots.len();
    }
}

#[test]
fn doubles_and_integers_of_many_kinds_are_written_as_one_by_one() {
    many_are_written(3, 20_000);
}

#[test]
#[ignore = "a minute"]
fn millions_of_doubles_and_integers_are_written_as_one_by_one() {
    many_are_written(0x0fed_cba9_8765_4321, 20_000_000);
}

#[test]
fn all_powers_of_two_and_their_neighbours_are_written_as_one_by_one() {
    for sign in [0, 1 << 63] {
        let slots: Vec<u64> = (0..=0x7ff_u64)
            .flat_map(|exponent| {
                [-2, -1, 0, 1, 2].map(|step| (exponent << 52).wrapping_add_signed(step))
            })
            .map(|bits| bits & !(1 << 63) | sign)
            .collect();
        all_write(&slots, Number::Double, double_text);
    }
}

#[test]
fn all_powers_of_ten_and_short_numbers_are_written_as_one_by_one() {
    let mut slots = Vec::new();
    for exponent in -324..=308 {
        for digits in [
            "1",
            "9",
            "15",
            "99",
            "123456789",
            "1234567890123456",
            "9999999999999998",
            "12345678901234567",
        ] {
            let value: f64 = format!("{digits}e{exponent}").parse().unwrap();
            slots.extend((-1..=1).map(|step| value.to_bits().wrapping_add_signed(step)));
        }
    }
    slots.extend((0..100_000).map(|n| (f64::from(n) / 100.0).to_bits()));
    slots.extend((0..100_000).map(|n| (f64::from(n) * 1e10).to_bits()));
    all_write(&slots, Number::Double, double_text);
}

#[test]
fn what_is_written_has_no_more_digits_than_the_standard_library_writes() {
    let mut random = Random(99);
    let slots: Vec<u64> = (0..20_000).map(|_| random.finite().to_bits()).collect();
    let digits = |text: &str| -> String {
        let mantissa = text.split('e').next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').to_owned()
    };
    for kernel in kernels() {
        let (out, places) = written(kernel, &slots, Number::Double, BETWEEN);
        for ((at, length), slot) in places.into_iter().zip(&slots) {
            let text = std::str::from_utf8(&out[at..at + length]).unwrap();
            let value = f64::from_bits(*slot);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), *slot);
            // (Of two that are equally near, it may write the other.)
            assert_eq!(
                digits(text).len(),
                digits(&format!("{value:e}")).len(),
                "{value:e}"
            );
        }
    }
}

#[test]
fn integers_are_written_up_to_their_bounds() {
    let mut slots = vec![
        0,
        1,
        u64::MAX,
        i64::MIN as u64,
        i64::MAX as u64,
        i32::MIN as i64 as u64,
    ];
    let mut power = 1_i64;
    for _ in 0..19 {
        slots.extend((-1..=1).flat_map(|step| [(power + step) as u64, (-power - step) as u64]));
        power = power.wrapping_mul(10);
    }
    all_write(&slots, LONG, integer_text);
    all_write(
        &[u64::MAX, 0, 1 << 63],
        Number::Unsigned { max: u64::MAX },
        |slot| slot.to_string().into_bytes(),
    );
    all_write(
        &[0, 1 << 32],
        Number::Unsigned {
            max: u32::MAX.into(),
        },
        integer_text,
    );
}

/// What a kernel writes of some slots, with what wide loads want around it.
fn padded(kernel: Kernel, slots: &[u64], number: Number, text: &mut Vec<u8>) {
    text.clear();
    text.extend_from_slice(&[b' '; 32]);
    kernel.write_rows(slots, &[column(number, "<")], text, |_, _| {});
    text.extend_from_slice(&[b'<'; 200]);
}

/// Whether all kernels write these slots the same, and all read them back.
fn is_read_and_written(
    slots: &[u64],
    number: Number,
    texts: &mut [Vec<u8>; 2],
    again: &mut Vec<u64>,
) {
    let [text, other] = texts;
    padded(Kernel::PORTABLE, slots, number, text);
    padded(Kernel::best(), slots, number, other);
    assert!(text == other, "{number:?} {:#x}", slots[0]);
    for kernel in kernels() {
        again.clear();
        let separator = Separator::new(b"<");
        kernel.read_array((text, 32), number, &separator, usize::MAX, again, |_, _| {});
        assert!(again == slots, "{kernel:?} {number:?} {:#x}", slots[0]);
    }
}

/// Floats, and the doubles that they are as well, bit for bit; the standard library reads what is written as the same.
fn float_is_read_and_written(bits: impl Iterator<Item = u32>) {
    let mut slots: Vec<u64> = Vec::with_capacity(1000);
    let mut bits = bits
        .filter(|bits| f32::from_bits(*bits).is_finite())
        .peekable();
    let mut texts = [Vec::new(), Vec::new()];
    let mut again = Vec::with_capacity(2000);
    while bits.peek().is_some() {
        slots.clear();
        slots.extend(bits.by_ref().take(1000).map(u64::from));
        is_read_and_written(&slots, Number::Float, &mut texts, &mut again);
        let text = std::str::from_utf8(&texts[0][32..]).unwrap();
        for (form, slot) in text.split('<').zip(&slots) {
            assert_eq!(u64::from(form.parse::<f32>().unwrap().to_bits()), *slot);
        }
        for slot in &mut slots {
            *slot = f64::from(f32::from_bits(*slot as u32)).to_bits();
        }
        is_read_and_written(&slots, Number::Double, &mut texts, &mut again);
    }
}

#[test]
fn some_floats_read_back_bit_for_bit() {
    float_is_read_and_written((0..=u32::MAX).step_by(99_991));
}

#[test]
#[ignore = "a quarter of an hour"]
fn all_floats_read_back_bit_for_bit() {
    float_is_read_and_written(0..=u32::MAX);
}

/// Lexical forms, most of them of numbers.
fn form() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "-?[0-9]{1,3}",
        6 => "-?[0-9]{1,20}",
        6 => "[+-]?[0-9]{0,12}\\.[0-9]{0,12}",
        6 => "[+-]?[0-9]{1,2}\\.[0-9]{1,17}[eE][+-]?[0-9]{1,3}",
        1 => "[+-]?[0-9.eE+-]{0,12}",
        1 => "[ -~]{0,8}",
    ]
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        Just(Number::Double),
        Just(Number::Float),
        Just(INT),
        Just(LONG),
        Just(Number::Unsigned { max: 65535 }),
        Just(Number::Unsigned { max: u64::MAX }),
    ]
}

fn between() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(BETWEEN.to_owned()),
        Just("<".to_owned()),
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        Just(String::new()),
        Just("e".to_owned()),
        Just("</ns1:item>\r\n\t\t<ns1:item xsi:type=\"xsd:double\">".to_owned()),
    ]
}

/// Numbers that are hardly ever left to the general way.
fn plain_form() -> impl Strategy<Value = String> {
    prop_oneof![
        200 => "-?[0-9]{1,5}",
        200 => "-?[0-9]{1,16}",
        200 => "-?0\\.0{0,4}[0-9]{1,17}",
        200 => "-?[0-9]{1,4}\\.[0-9]{1,12}",
        200 => "-?[0-9]\\.[0-9]{0,16}[eE][+-]?[0-9]{1,3}",
        1 => form(),
    ]
}

/// The text between two values of rows: mostly tags.
fn tags() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "</[a-z]{1,9}><[a-z]{1,9}>",
        2 => "</[a-z]{1,9}></[a-z]{1,9}>\n<[a-z]{1,9}><[a-z]{1,9} [a-z]{1,9}='[a-z:]{0,12}'>",
        1 => between(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_kernels_stop_at_the_same_place_with_the_same_slots(
        forms in prop::collection::vec(form(), 0..12), number in number(), between in between(),
        tail in "[ -~]{0,300}", head in 0_usize..70, capacity in 0_usize..14, stop in 1_usize..28
    ) {
        let mut text = "x".repeat(head);
        for form in &forms {
            text.push_str(form);
            text.push_str(&between);
        }
        text.push_str(&tail);
        // A buffer of exactly this length: reading beyond it would be reading beyond the allocation.
        let text = text.into_bytes().into_boxed_slice();
        let separator = Separator::new(between.as_bytes());
        let read = |kernel: Kernel| {
            let mut slots = Vec::with_capacity(capacity);
            let mut places = Vec::new();
            let mut few = Few { places: &mut places, slots: Vec::new(), most: stop };
            let end = kernel.read_array_while((&text, head), number, &separator, usize::MAX, &mut slots, &mut few);
            assert_eq!(few.slots, slots);
            // (A vector of this capacity may have more; none takes it.)
            (slots, places, end)
        };
        let expected = read(Kernel::PORTABLE);
        prop_assert!(expected.0.len() <= stop);
        for kernel in kernels() {
            prop_assert_eq!(&read(kernel), &expected, "{:?}", kernel);
        }
    }

    #[test]
    fn all_kernels_read_the_same_at_places(
        forms in prop::collection::vec(form(), 0..60), number in number(), behind in 0_usize..300, odd in prop::option::of(0_usize..2000)
    ) {
        let (mut text, mut places) = (String::from("<Envelope>"), Vec::new());
        for form in &forms {
            places.push(text.len() as u32);
            text.push_str(form);
            text.push_str("</i><i>");
        }
        text.push_str(&" ".repeat(behind));
        places.extend(odd.map(|odd| odd as u32));
        let separator = Separator::new(b"</i><i>");
        let read = |kernel: Kernel| {
            let (mut slots, mut lengths) = (Vec::new(), Vec::new());
            let count = kernel.read_places(text.as_bytes(), &places, number, &separator, &mut slots, &mut lengths);
            (count, slots, lengths)
        };
        let expected = read(Kernel::PORTABLE);
        prop_assert!(expected.0 == expected.1.len() && expected.0 == expected.2.len());
        for kernel in kernels() {
            prop_assert_eq!(&read(kernel), &expected, "{:?}", kernel);
        }
    }

    #[test]
    fn all_kernels_list_the_values_that_changed(
        values in prop::collection::vec(("[0-9]{0,20}", prop::option::weighted(0.3, "[0-9]{0,20}")), 0..80),
        gaps in prop::collection::vec("</[a-z ]{1,12}>(</[a-z]{1,3}>){0,2}(<[a-z]{1,3}>){0,2}", 1..4), first in 0_usize..3, odd in prop::option::of(0_usize..80),
        front in 0_usize..3, lost in 0_usize..100
    ) {
        let first = first % gaps.len();
        let (mut old, mut new) = (String::from("<v>"), format!("{}<v>", &"  "[..front.min(2)]));
        let (mut starts, mut expected) = (vec![old.len() as u32], Vec::new());
        for (number, (before, now)) in values.iter().enumerate() {
            let gap = &gaps[(first + number) % gaps.len()];
            let now = now.as_ref().unwrap_or(before);
            if now != before {
                expected.push((number as u32, new.len() as u32));
            }
            old.push_str(&format!("{before}{gap}"));
            // Only the first byte decides where a value ends.
            let gap = if odd == Some(number) { gap.to_uppercase() } else { gap.clone() };
            new.push_str(&format!("{now}{gap}"));
            starts.push(old.len() as u32);
        }
        // Or a text may be too short for the values of the old one.
        for text in [&mut old, &mut new] {
            text.push_str(&"x".repeat(64));
        }
        let lengths: Vec<u32> = gaps.iter().map(|gap| gap.len() as u32).collect();
        for new in [new.as_bytes(), &new.as_bytes()[..new.len().saturating_sub(lost)]] {
            let steps = Steps { old: old.as_bytes(), new, starts: &starts, shift: front.min(2), gaps: &lengths, first };
            let step = |kernel: Kernel| {
                let [mut numbers, mut others, mut places] = [0; 3].map(|none| vec![none; values.len()]);
                let mut list = Listed { numbers: &mut numbers, others: &mut others, places: &mut places };
                let stepped = kernel.list_changed(steps, &mut list);
                let list: Vec<_> = numbers.into_iter().zip(others).take(stepped.listed).collect();
                places.truncate(stepped.seen);
                (stepped, list, places)
            };
            let portable = step(Kernel::PORTABLE);
            let listed = |it: &&(u32, u32)| (it.0 as usize) < portable.0.seen;
            if odd.is_none() {
                prop_assert_eq!(&portable.1, &expected.iter().take_while(listed).copied().collect::<Vec<_>>());
            }
            if lost == 0 {
                prop_assert_eq!(portable.0.seen, values.len());
            }
            for &(value, place) in &portable.1 {
                prop_assert_eq!(portable.2.get(value as usize).copied().unwrap_or(place), place);
            }
            let passed = starts.windows(2).zip(portable.2.windows(2)).enumerate();
            for (value, (start, place)) in passed {
                let is_other = portable.1.iter().any(|other| other.0 as usize == value);
                prop_assert!(is_other || start[1] - start[0] == place[1] - place[0]);
            }
            for kernel in kernels() {
                prop_assert_eq!(&step(kernel), &portable, "{:?}", kernel);
            }
        }
    }

    #[test]
    fn all_kernels_write_the_same(
        slots in prop::collection::vec(prop_oneof![any::<u64>(), any::<f64>().prop_map(f64::to_bits), 0_u64..999], 0..200),
        number in number(), between in "[<>/ a-z]{0,70}"
    ) {
        let expected = written(Kernel::PORTABLE, &slots, number, &between);
        for kernel in kernels() {
            prop_assert_eq!(&written(kernel, &slots, number, &between), &expected, "{:?}", kernel);
        }
    }

    #[test]
    fn all_kernels_write_the_same_rows(
        slots in prop::collection::vec(prop_oneof![any::<u64>(), any::<f64>().prop_map(f64::to_bits), 0_u64..999], 0..200),
        columns in prop::collection::vec((number(), "[<>/ a-z]{0,70}"), 1..10)
    ) {
        let columns: Vec<Column> = columns
            .into_iter()
            .map(|(number, between)| Column { number, marker: None, separator: Separator::new(between.as_bytes()) })
            .collect();
        let slots = &slots[..slots.len() / columns.len() * columns.len()];
        let write = |kernel: Kernel| {
            let (mut out, mut places) = (b"<a>".to_vec(), Vec::new());
            kernel.write_rows(slots, &columns, &mut out, |starts, lengths| {
                places.extend(starts.iter().copied().zip(lengths.iter().copied()));
            });
            (out, places)
        };
        let expected = write(Kernel::PORTABLE);
        prop_assert_eq!(expected.1.len(), slots.len());
        for kernel in kernels() {
            prop_assert_eq!(&write(kernel), &expected, "{:?}", kernel);
        }
    }

    #[test]
    fn all_kernels_read_the_same_rows(
        rows in prop_oneof![
            prop::collection::vec((any::<i32>(), -999_i64..999, form()), 0..12),
            // Enough to be read in batches.
            prop::collection::vec((any::<i32>(), -999_i64..999, plain_form()), 0..150),
        ],
        bad in prop_oneof![0_usize..40, 0_usize..200],
        columns in prop::collection::vec((number(), prop::option::of(any::<u64>()), tags()), 1..5),
        most in prop_oneof![0_usize..14, 0_usize..200], stop in prop_oneof![1_usize..28, 1_usize..200],
        head in 0_usize..70, tail in 0_usize..300
    ) {
        let columns: Vec<Column> = columns
            .into_iter()
            .map(|(number, marker, between)| Column { number, marker, separator: Separator::new(between.as_bytes()) })
            .collect();
        let mut text = "x".repeat(head);
        for (n, (int, small, form)) in rows.iter().enumerate() {
            for (index, column) in columns.iter().enumerate() {
                let is_real = matches!(column.number, Number::Double | Number::Float);
                if is_real || n == bad {
                    text.push_str(form);
                } else if index == 0 {
                    text.push_str(&int.to_string());
                } else {
                    text.push_str(&small.to_string());
                }
                text.push_str(std::str::from_utf8(column.separator.as_bytes()).unwrap());
            }
        }
        text.push_str(&"y".repeat(tail));
        let text = text.into_bytes().into_boxed_slice();
        let read = |kernel: Kernel| -> (RowsEnd, Vec<u64>, Vec<(usize, usize, usize)>) {
            let (mut slots, mut places) = (Vec::new(), Vec::new());
            let mut found = |column, at, length| {
                places.push((column, at, length));
                places.len() != stop * columns.len()
            };
            let stop = kernel.read_rows_while(&text, head, &columns, most, &mut slots, &mut found);
            (stop, slots, places)
        };
        let expected = read(Kernel::PORTABLE);
        prop_assert!(expected.0.rows <= most.min(stop));
        for kernel in kernels() {
            prop_assert_eq!(&read(kernel), &expected, "{:?}", kernel);
        }
    }

    #[test]
    fn all_kernels_list_what_differs(
        slots in prop::collection::vec((any::<u64>(), prop::bool::weighted(0.2), 0_u32..64), 0..200), quiet in 0_usize..200
    ) {
        let old: Vec<u64> = slots.iter().map(|&(slot, ..)| slot).collect();
        let mut new = old.clone();
        for (slot, &(_, differs, bit)) in new.iter_mut().zip(&slots).skip(quiet) {
            *slot ^= u64::from(differs) << bit;
        }
        let expected: Vec<u32> = (0..).zip(old.iter().zip(&new)).filter(|(_, (old, new))| old != new).map(|(at, _)| at).collect();
        for kernel in kernels() {
            let mut list = vec![0; new.len()].into_boxed_slice();
            let count = kernel.list_differing(&old, &new, &mut list);
            prop_assert_eq!(&list[..count], &expected, "{:?}", kernel);
        }
    }

    #[test]
    fn all_kernels_find_the_first_slot_that_differs(
        slots in prop::collection::vec((any::<u64>(), any::<bool>()), 0..200),
        delta in prop::option::of(any::<u64>()),
        changed in prop::collection::vec((0_usize..400, any::<u64>()), 0..4)
    ) {
        let delta = delta.unwrap_or(0);
        let (old, is_text): (Vec<u64>, Vec<bool>) = slots.into_iter().unzip();
        let masks: Vec<u64> = is_text.iter().map(|&is_text| if is_text { u64::MAX } else { 0 }).collect();
        let mut new: Vec<u64> = old.iter().zip(&masks).map(|(old, mask)| old.wrapping_add(delta & mask)).collect();
        let expected = changed.iter().filter(|(at, bits)| *at < old.len() && *bits != 0).map(|(at, _)| *at).min();
        for at in changed.iter().map(|(at, _)| *at).filter(|&at| at < old.len()) {
            let bits = changed.iter().find(|(other, bits)| *other == at && *bits != 0).map_or(0, |(_, bits)| *bits);
            new[at] = old[at].wrapping_add(delta & masks[at]) ^ bits;
        }
        for kernel in kernels() {
            let found = kernel.first_differing(&old, &new, &masks, delta);
            prop_assert_eq!(found, expected.unwrap_or(old.len()), "{:?}", kernel);
        }
    }

    #[test]
    fn all_kernels_format_the_same(slots in prop::collection::vec((any::<u64>(), 0_u32..64), 0..300), number in number()) {
        let slots: Vec<u64> = slots.iter().map(|&(slot, shift)| slot >> shift).collect();
        for kernel in kernels() {
            let (mut forms, mut lengths) = (Vec::new(), Vec::new());
            kernel.format_array(&slots, number, &mut forms, &mut lengths);
            prop_assert_eq!((forms.len(), lengths.len()), (slots.len() * 32, slots.len()));
            for ((slot, form), &length) in slots.iter().zip(forms.chunks(32)).zip(&lengths) {
                let mut expected = Vec::new();
                kernel.write_rows(&[*slot], &[column(number, "")], &mut expected, |_, _| {});
                prop_assert_eq!(&form[..length.into()], &expected, "{:?}", kernel);
            }
        }
    }

    #[test]
    fn all_kernels_write_the_same_padded_rows(
        slots in prop::collection::vec((any::<u64>(), 0_u32..64), 0..300),
        columns in prop::collection::vec((number(), 1_usize..40, between(), between()), 1..10), head in 0_usize..40
    ) {
        let columns: Vec<PaddedColumn> = columns
            .into_iter()
            .map(|(number, width, close, between)| PaddedColumn {
                number,
                width,
                close: Separator::new(close.as_bytes()),
                separator: Separator::new(between.as_bytes()),
            })
            .collect();
        let rows = slots.len() / columns.len();
        let slots: Vec<u64> = slots.into_iter().take(rows * columns.len()).map(|(slot, shift)| slot >> shift).collect();
        let write = |kernel: Kernel| {
            let mut text = vec![b'x'; head];
            let mut places = Vec::new();
            let fits = kernel.write_padded_rows(&slots, &columns, &mut text, |starts, lengths| {
                places.extend(starts.iter().copied().zip(lengths.iter().copied()));
            });
            // If not all fit, the text is unspecified.
            (fits, if fits { (text, places) } else { Default::default() })
        };
        let expected = write(Kernel::PORTABLE);
        for kernel in kernels() {
            prop_assert_eq!(&write(kernel), &expected, "{:?}", kernel);
        }
    }
}
