//! The kernel for `xs:double`: text → `f64` and back (XSD 1.0 Part 2 §3.2.5).
//!
//! The way in for common forms is `real`, for all others fast-float2, whose grammar is almost that of `xs:double`: digits with
//! an optional dot, an optional exponent. It also takes `inf`, `Infinity` and `nan` in any case. Those end in
//! a letter and no number does, so one compare of the last byte distinguishes them.
//!
//! The way out is zmij: the shortest digits that read back as the same bits. Notation:
//!
//! ```text
//! 1e-5 <= |x| < 1e16   fixed, no dot without a fraction     0.00001   12.5   1   -0   1000000000000000
//! otherwise            scientific                            1.5e+300   5e-324
//! ```
//!
//! `1` and not `1.0`: it is what most peers write, reads the same, and saves two bytes per value.
//! `e+300` is as zmij writes it: taking the sign out again costs more time than its byte does.

use crate::nearest::Double;
use crate::{Datatype, LexicalError, real};

/// The longest text [`format()`] writes: sign, 17 digits, dot, `e-308`.
pub const WIDTH: usize = 24;

/// The value of a lexical form of `xs:double`: a number, `INF`, `-INF` or `NaN`. White space is
/// not part of it. Too large a number is an infinity, too small a number a zero.
///
/// ```
/// use bsoap_datatypes::double;
///
/// assert_eq!(double::parse(b"12.5e-1").unwrap(), 1.25);
/// assert_eq!(double::parse(b"-INF").unwrap(), f64::NEG_INFINITY);
/// assert!(double::parse(b"inf").is_err() && double::parse(b"+INF").is_err());
/// ```
#[inline]
pub fn parse(text: &[u8]) -> Result<f64, LexicalError> {
    match parse_prefix(text) {
        Some((value, length)) if length == text.len() => Ok(value),
        _ => special(text).ok_or_else(|| LexicalError::new(Datatype::Double, text)),
    }
}

/// The number that `text` starts with and how many bytes it takes; the text goes on behind it.
/// `None` if there is no plain number: the caller takes the general way.
///
/// ```
/// use bsoap_datatypes::double;
///
/// assert_eq!(double::parse_prefix(b"12.5</item>"), Some((12.5, 4)));
/// assert_eq!(double::parse_prefix(b"INF</item>"), None);
/// ```
#[inline]
pub fn parse_prefix(text: &[u8]) -> Option<(f64, usize)> {
    match real::parse_prefix::<Double>(text) {
        Some((bits, length)) => Some((f64::from_bits(bits), length)),
        None => parse_prefix_slowly(text),
    }
}

#[inline(never)]
fn parse_prefix_slowly(text: &[u8]) -> Option<(f64, usize)> {
    let (value, length) = fast_float2::parse_partial::<f64, _>(text).ok()?;
    // `inf` and `nan` end in a letter, a number ends in a digit or its dot.
    let last = *text.get(length.wrapping_sub(1))?;
    (last <= b'9').then_some((value, length))
}

/// The values without digits, which double and float have in common.
#[cold]
pub(crate) fn special(text: &[u8]) -> Option<f64> {
    match text {
        b"INF" => Some(f64::INFINITY),
        b"-INF" => Some(f64::NEG_INFINITY),
        b"NaN" => Some(f64::NAN),
        _ => None,
    }
}

/// The special value that a text means which is not a lexical form: `inf`, `Infinity` or `nan` in any case, with or without a
/// sign, as C, Java, JavaScript and others print them. `None` for any other text, also for `INF`, `-INF` and `NaN`.
///
/// ```
/// use bsoap_datatypes::double;
///
/// assert_eq!(double::foreign_special(b"-Infinity"), Some(f64::NEG_INFINITY));
/// assert!(double::foreign_special(b"NAN").is_some_and(f64::is_nan));
/// assert!(double::foreign_special(b"NaN").is_none() && double::foreign_special(b"infinite").is_none());
/// ```
#[cold]
pub fn foreign_special(text: &[u8]) -> Option<f64> {
    if special(text).is_some() {
        return None;
    }
    let (is_negative, word) = match text {
        [b'-', word @ ..] => (true, word),
        [b'+', word @ ..] => (false, word),
        word => (false, word),
    };
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    if is(b"nan") {
        return Some(f64::NAN);
    }
    let infinity = match is_negative {
        true => f64::NEG_INFINITY,
        false => f64::INFINITY,
    };
    (is(b"inf") || is(b"infinity")).then_some(infinity)
}

/// Writes the shortest text that reads back as the same bits into `out` and returns its length.
/// The bytes of `out` after it are unspecified.
///
/// ```
/// use bsoap_datatypes::double;
///
/// let mut out = [0; 32];
/// let length = double::format(0.1 + 0.2, &mut out);
/// assert_eq!(&out[..length], b"0.30000000000000004");
/// ```
#[inline]
pub fn format(value: f64, out: &mut [u8; 32]) -> usize {
    if !value.is_finite() {
        return format_special(value, out);
    }
    let mut buffer = Line(zmij::Buffer::new());
    let text = buffer.0.format_finite(value).as_bytes();
    copy_short(text, out);
    if text.ends_with(b".0") {
        return without_fraction(text);
    }
    text.len()
}

/// A buffer within one line of the cache. The digits of a fixed form are moved by a byte right after they
/// are written: where they lie in two lines, that waits for both (`dunit` of the benchmarks: 47 ns and 25).
#[repr(align(64))]
pub(crate) struct Line(pub(crate) zmij::Buffer);

/// Apart, so that the length does not wait for the text: what is written next needs to know where.
#[cold]
#[inline(never)]
fn without_fraction(text: &[u8]) -> usize {
    text.len() - b".0".len()
}

/// Appends the shortest text that reads back as the same bits. Where capacity is reserved already,
/// [`format()`] into it is faster.
#[inline]
pub fn write(value: f64, out: &mut Vec<u8>) {
    if !value.is_finite() {
        let mut text = [0; 32];
        let length = format_special(value, &mut text);
        return out.extend_from_slice(&text[..length]);
    }
    let mut buffer = Line(zmij::Buffer::new());
    let text = buffer.0.format_finite(value).as_bytes();
    out.extend_from_slice(text.strip_suffix(b".0").unwrap_or(text));
}

/// Does the same as [`write()`] for a finite number, but writes `.0` behind a whole one, by which JSON readers tell it from an
/// integer. JSON has no other numbers.
#[inline]
pub fn write_with_fraction(value: f64, out: &mut Vec<u8>) {
    debug_assert!(value.is_finite());
    let mut buffer = Line(zmij::Buffer::new());
    out.extend_from_slice(buffer.0.format_finite(value).as_bytes());
}

#[cold]
fn format_special(value: f64, out: &mut [u8; 32]) -> usize {
    let text: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value > 0.0 {
        b"INF"
    } else {
        b"-INF"
    };
    out[..text.len()].copy_from_slice(text);
    text.len()
}

/// Copies up to 32 bytes by two overlapping copies of fixed size, which the length's rough
/// magnitude alone chooses: a call of memcpy with a length that varies mispredicts.
#[inline]
pub(crate) fn copy_short(text: &[u8], out: &mut [u8; 32]) {
    match text.len() {
        16.. => copy_ends::<16>(text, out),
        8..16 => copy_ends::<8>(text, out),
        4..8 => copy_ends::<4>(text, out),
        1..4 => {
            out[0] = text[0];
            out[text.len() / 2] = text[text.len() / 2];
            out[text.len() - 1] = text[text.len() - 1];
        }
        0 => {}
    }
}

#[inline]
fn copy_ends<const N: usize>(text: &[u8], out: &mut [u8; 32]) {
    let (Some(head), Some(tail)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) else {
        return;
    };
    out[..N].copy_from_slice(head);
    out[text.len() - N..text.len()].copy_from_slice(tail);
}

/// The canonical form (XSD 1.0 Part 2 §3.2.5.2): one digit before the dot, at least one behind
/// it, `E`, an exponent without sign or leading zeros. Both zeros are `0.0E0`, as XSD knows one.
///
/// ```
/// use bsoap_datatypes::double;
///
/// assert_eq!(double::canonical(100.0), "1.0E2");
/// assert_eq!(double::canonical(0.001255), "1.255E-3");
/// ```
pub fn canonical(value: f64) -> String {
    let mut out = [0; 32];
    let length = format(value, &mut out);
    if value.is_finite() {
        canonical_form(&out[..length])
    } else {
        text_of(&out[..length])
    }
}

/// A finite number's text in either notation, rewritten as the canonical form of float and double.
pub(crate) fn canonical_form(text: &[u8]) -> String {
    let (negative, digits, exponent) = digits_and_exponent(text);
    if digits.is_empty() {
        return "0.0E0".to_owned();
    }
    let (first, rest) = digits.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    format!(
        "{}{first}.{rest}E{exponent}",
        if negative { "-" } else { "" }
    )
}

/// Sign, significant digits without zeros at either end, and the exponent of the first digit.
pub(crate) fn digits_and_exponent(text: &[u8]) -> (bool, String, i32) {
    let text = text_of(text);
    let negative = text.starts_with('-');
    let unsigned = text.trim_start_matches('-');
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let exponent = exponent.parse::<i32>().unwrap_or(0) + whole.len() as i32 - 1 - leading as i32;
    (negative, digits.trim_matches('0').to_owned(), exponent)
}

pub(crate) fn text_of(ascii: &[u8]) -> String {
    ascii.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: f64) -> String {
        let mut out = Vec::new();
        write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_notation_is_fixed_in_the_middle_and_scientific_outside() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-12.5, "-12.5"),
            (1e15, "1000000000000000"),
            (1e16, "1e+16"),
            (1e-5, "0.00001"),
            (1e-6, "1e-6"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "NaN"),
            (-f64::NAN, "NaN"),
            (f64::INFINITY, "INF"),
            (f64::NEG_INFINITY, "-INF"),
        ];
        for (value, expected) in cases {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn the_longest_texts_are_as_long_as_the_width() {
        assert_eq!(text(-f64::MIN_POSITIVE).len(), WIDTH);
        assert_eq!(text(-1.2345678901234567e-5).len(), WIDTH);
    }

    #[test]
    fn only_numbers_are_taken_from_the_front_of_a_text() {
        let none: [&[u8]; 12] = [
            b"",
            b"<",
            b"-",
            b"+",
            b".",
            b"-.",
            b"e5",
            b"inf<",
            b"-INFINITY<",
            b"NaN<",
            b"nan",
            b"INF",
        ];
        for text in none {
            assert_eq!(parse_prefix(text), None);
        }
        assert_eq!(parse_prefix(b".5<"), Some((0.5, 2)));
        assert_eq!(parse_prefix(b"5.<"), Some((5.0, 2)));
        assert_eq!(parse_prefix(b"5e<"), Some((5.0, 1)));
        assert_eq!(parse_prefix(b"-1E+2 <"), Some((-100.0, 5)));
    }

    #[test]
    fn what_is_a_lexical_form_is_not_a_foreign_spelling() {
        for text in [
            "INF", "-INF", "NaN", "", "-", "+", "1", "in", "infinit", "nano", "--inf",
        ] {
            assert_eq!(foreign_special(text.as_bytes()), None, "{text}");
        }
        for (text, value) in [
            ("+INF", f64::INFINITY),
            ("inf", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
            ("Infinity", f64::INFINITY),
            ("-INFINITY", f64::NEG_INFINITY),
        ] {
            assert_eq!(foreign_special(text.as_bytes()), Some(value));
            assert!(parse(text.as_bytes()).is_err());
        }
        for text in ["NAN", "nan", "-nan"] {
            assert!(foreign_special(text.as_bytes()).is_some_and(f64::is_nan));
            assert!(parse(text.as_bytes()).is_err());
        }
    }

    #[test]
    fn what_is_out_of_range_rounds_to_infinity_or_zero() {
        assert_eq!(parse(b"1e999").unwrap(), f64::INFINITY);
        assert_eq!(parse(b"-1e-999").unwrap().to_bits(), (-0.0_f64).to_bits());
        assert_eq!(parse(b"1e99999999999999999999").unwrap(), f64::INFINITY);
    }

    #[test]
    fn canonical_forms_have_one_digit_before_the_dot() {
        for (value, expected) in [
            (0.0, "0.0E0"),
            (-0.0, "0.0E0"),
            (1.0, "1.0E0"),
            (-325.325, "-3.25325E2"),
            (1e16, "1.0E16"),
            (12e-9, "1.2E-8"),
        ] {
            assert_eq!(canonical(value), expected);
        }
        assert_eq!(canonical(f64::NAN), "NaN");
    }
}
