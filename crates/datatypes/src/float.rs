//! The kernel for `xs:float`: text → `f32` and back (XSD 1.0 Part 2 §3.2.4).
//!
//! The twin of [`crate::double`] for 32 bits. A text is read as the nearest `f32` directly, never
//! through `f64`: rounding twice can miss the nearest one.

use crate::double::{Line, canonical_form, copy_short, digits_and_exponent, special, text_of};
use crate::nearest::Float;
use crate::{Datatype, LexicalError, real};

/// The longest text [`format()`] writes: `-1.17549435e-38`, that is sign, 9 digits, dot, `e-38`.
///
/// zmij alone writes up to 17 bytes, for it keeps fixed notation down to 1e-6
/// (`-0.00000123456789`). Where that is longer than 15 we write scientific notation, so that a
/// stuffed float takes two bytes less.
pub const WIDTH: usize = 15;

/// The value of a lexical form of `xs:float`: a number, `INF`, `-INF` or `NaN`. White space is
/// not part of it.
///
/// ```
/// use bsoap_datatypes::float;
///
/// assert_eq!(float::parse(b"1.5E1").unwrap(), 15.0);
/// assert!(float::parse(b"Infinity").is_err());
/// ```
#[inline]
pub fn parse(text: &[u8]) -> Result<f32, LexicalError> {
    match parse_prefix(text) {
        Some((value, length)) if length == text.len() => Ok(value),
        _ => match special(text) {
            Some(value) => Ok(value as f32),
            None => Err(LexicalError::new(Datatype::Float, text)),
        },
    }
}

/// The number that `text` starts with and how many bytes it takes, or `None` if there is no plain
/// number: the caller takes the general way.
///
/// ```
/// use bsoap_datatypes::float;
///
/// assert_eq!(float::parse_prefix(b"12.5</item>"), Some((12.5, 4)));
/// ```
#[inline]
pub fn parse_prefix(text: &[u8]) -> Option<(f32, usize)> {
    match real::parse_prefix::<Float>(text) {
        Some((bits, length)) => Some((f32::from_bits(bits as u32), length)),
        None => parse_prefix_slowly(text),
    }
}

#[inline(never)]
fn parse_prefix_slowly(text: &[u8]) -> Option<(f32, usize)> {
    let (value, length) = fast_float2::parse_partial::<f32, _>(text).ok()?;
    // `inf` and `nan` end in a letter, a number ends in a digit or its dot.
    let last = *text.get(length.wrapping_sub(1))?;
    (last <= b'9').then_some((value, length))
}

/// Writes the shortest digits that read back as the same bits into `out` and returns the length
/// of the text.
///
/// ```
/// use bsoap_datatypes::float;
///
/// let mut out = [0; 32];
/// let length = float::format(0.1, &mut out);
/// assert_eq!(&out[..length], b"0.1");
/// ```
#[inline]
pub fn format(value: f32, out: &mut [u8; 32]) -> usize {
    if !value.is_finite() {
        return format_special(value, out);
    }
    let mut buffer = Line(zmij::Buffer::new());
    let text = buffer.0.format_finite(value).as_bytes();
    copy_short(text, out);
    let length = text.len() - 2 * usize::from(text.ends_with(b".0"));
    if length > WIDTH {
        format_scientific(length, out)
    } else {
        length
    }
}

/// Appends the shortest text that reads back as the same bits.
#[inline]
pub fn write(value: f32, out: &mut Vec<u8>) {
    let mut text = [0; 32];
    let length = format(value, &mut text);
    out.extend_from_slice(&text[..length]);
}

#[cold]
fn format_special(value: f32, out: &mut [u8; 32]) -> usize {
    crate::double::format(f64::from(value), out)
}

/// `-0.00000123456789` → `-1.23456789e-6`
#[cold]
fn format_scientific(length: usize, out: &mut [u8; 32]) -> usize {
    let (negative, digits, exponent) = digits_and_exponent(&out[..length]);
    let (first, rest) = digits.split_at(1);
    let text = format!(
        "{}{first}.{rest}e{exponent}",
        if negative { "-" } else { "" }
    );
    copy_short(text.as_bytes(), out);
    text.len()
}

/// The canonical form (XSD 1.0 Part 2 §3.2.4.2), as [`crate::double::canonical`].
///
/// ```
/// use bsoap_datatypes::float;
///
/// assert_eq!(float::canonical(325.325), "3.25325E2");
/// ```
pub fn canonical(value: f32) -> String {
    let mut out = [0; 32];
    let length = format(value, &mut out);
    if value.is_finite() {
        canonical_form(&out[..length])
    } else {
        text_of(&out[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: f32) -> String {
        let mut out = Vec::new();
        write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn small_numbers_turn_scientific_where_fixed_notation_is_longer_than_the_width() {
        assert_eq!(text(-1.234_567_9e-6), "-1.2345679e-6");
        assert_eq!(text(1e-6), "0.000001");
        assert_eq!(text(1e-7), "1e-7");
        assert_eq!(text(-f32::MIN_POSITIVE), "-1.1754944e-38");
        assert_eq!(text(1e12), "1000000000000");
    }

    #[test]
    fn special_values_are_written_as_xsd_spells_them() {
        assert_eq!(text(f32::NAN), "NaN");
        assert_eq!(text(f32::INFINITY), "INF");
        assert_eq!(text(f32::NEG_INFINITY), "-INF");
        assert_eq!(text(-0.0), "-0");
    }

    #[test]
    fn a_text_is_not_rounded_twice() {
        // Halfway between two floats, plus a little that an f64 cannot hold.
        let text = b"1.00000005960464477539062500000000001";
        assert_eq!(parse(text).unwrap(), 1.000_000_1);
        assert_ne!(
            parse(text).unwrap(),
            crate::double::parse(text).unwrap() as f32
        );
    }

    /// Four thousand million values take a minute: run it by name in a release build.
    #[test]
    #[ignore = "exhaustive"]
    fn every_float_fits_the_width_and_reads_back() {
        let mut out = [0; 32];
        for bits in 0..=u32::MAX {
            let value = f32::from_bits(bits);
            let length = format(value, &mut out);
            assert!(length <= WIDTH);
            let back = parse(&out[..length]).unwrap();
            assert!(back.to_bits() == bits || value.is_nan() && back.is_nan());
        }
    }
}
