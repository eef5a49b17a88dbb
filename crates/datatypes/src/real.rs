//! Doubles and floats, read eight digits at a time with the operations of ordinary registers.
//!
//! ```text
//! -1.2345678901234567e+300</item>
//!  ─ ──────────────── ───          digits before the dot, behind it, of the exponent: a word each, or more
//! ```
//!
//! Where the digits of the significand end is found by branches, which processors predict well, so that the next part need not
//! wait for it. No branch depends on a sign or on the digits of the exponent, which they cannot predict. What is not a number in
//! this form, has too many digits or is near the end of the text is left to fast-float2. Earned by `decode dhard` with
//! `BSOAP_KERNEL=portable`.

use crate::integer::{eight_digits, short_digits};
use crate::nearest::{Format, nearest};

/// The most digits that a `u64` holds.
const MAX_DIGITS: usize = 19;
/// The bytes from a number's first digit on that may be looked at: indices need no comparison with the length of the text.
const WINDOW: usize = 40;

/// Powers of ten that are exact as doubles, and quotients by which are therefore rounded only once.
static TENS: [f64; 9] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// The bits of the number that `text` starts with, and its length; `None` if the slow path must decide.
#[inline]
pub(crate) fn parse_prefix<F: Format>(text: &[u8]) -> Option<(u64, usize)> {
    let negative = *text.first()? == b'-';
    let start = usize::from(negative);
    let text = text.get(start..)?.first_chunk()?;
    let (mut digits, mut at) = add_digits(text, 0, 0)?;
    let mut count = if digits == 0 { 0 } else { at };
    let mut power = 0;
    if at == 0 {
        return None;
    }
    if text[at] == b'.' {
        let first = at + 1;
        (digits, at) = add_fraction(text, first, digits)?;
        count += at - first;
        power = first as i32 - at as i32;
    }
    if count > MAX_DIGITS {
        return None;
    }
    if text[at] | 0x20 == b'e' {
        let (exponent, end) = exponent(text, at + 1)?;
        (power, at) = (power + exponent, end);
    }
    let bits = match TENS.get(power.wrapping_neg() as usize) {
        Some(divisor) if F::DIVIDES && digits <= u64::from(u32::MAX) => {
            (digits as f64 / divisor).to_bits()
        }
        _ => nearest::<F>(digits, power)?,
    };
    Some((bits | u64::from(negative) << F::SIGN, start + at))
}

/// Appends the digits at `text[at..]` to a number, and returns it and where they end. `None` if there are too many.
#[inline(always)]
fn add_digits(text: &[u8; WINDOW], mut at: usize, mut number: u64) -> Option<(u64, usize)> {
    loop {
        let digit = text.get(at)?.wrapping_sub(b'0');
        if digit > 9 {
            return (at < WINDOW - 16).then_some((number, at));
        }
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        at += 1;
    }
}

/// The same, up to sixteen of them in words.
#[inline(always)]
fn add_fraction(text: &[u8; WINDOW], mut at: usize, mut number: u64) -> Option<(u64, usize)> {
    for _ in 0..2 {
        let Some(digits) = eight_digits(text, at) else {
            break;
        };
        number = number.wrapping_mul(100_000_000).wrapping_add(digits);
        at += 8;
    }
    add_digits(text, at, number)
}

/// The exponent at `text[at..]` and where it ends.
#[inline(always)]
fn exponent(text: &[u8; WINDOW], at: usize) -> Option<(i32, usize)> {
    let sign = text[at];
    let negative = sign == b'-';
    let at = at + usize::from(negative | (sign == b'+'));
    let (digits, count) = short_digits(text, at)?;
    let flip = -i32::from(negative);
    Some(((digits as i32 ^ flip).wrapping_sub(flip), at + count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nearest::{Double, Float};

    #[test]
    fn a_number_before_other_text_is_what_the_standard_library_reads() {
        let wholes = ["0", "7", "00012", "12345678", "1234567890123456789"];
        let fractions = [
            "",
            ".",
            ".0",
            ".5",
            ".12345678",
            ".0123456789012345",
            ".123456789012345678",
        ];
        let exponents = ["", "e0", "E+7", "e-12", "e300", "e-330", "e99999999999"];
        let mut read = 0;
        for (whole, fraction) in wholes.iter().flat_map(|w| fractions.map(|f| (w, f))) {
            for (sign, exponent) in ["", "-"].iter().flat_map(|s| exponents.map(|e| (s, e))) {
                let form = format!("{sign}{whole}{fraction}{exponent}");
                let text = format!("{form}</item><item>{}", "x".repeat(WINDOW));
                if let Some(found) = parse_prefix::<Double>(text.as_bytes()) {
                    let value = form.parse::<f64>().unwrap();
                    assert_eq!(found, (value.to_bits(), form.len()), "{form}");
                    read += 1;
                }
                if let Some(found) = parse_prefix::<Float>(text.as_bytes()) {
                    let value = form.parse::<f32>().unwrap();
                    assert_eq!(found, (value.to_bits().into(), form.len()), "{form}");
                }
            }
        }
        assert!(read > 200, "{read}");
    }

    #[test]
    fn other_texts_are_left_to_the_slow_path() {
        for form in ["", "-", "+1", ".5", "INF", "NaN", "1e", "1e+", "1e<", "--1"] {
            let text = format!("{form}<{}", " ".repeat(WINDOW));
            assert_eq!(parse_prefix::<Double>(text.as_bytes()), None, "{form}");
        }
        assert_eq!(parse_prefix::<Double>(b"1.5</a>"), None);
    }
}
