//! The kernel for the integers of at most 64 bits: text → `i64` or `u64` and back.
//!
//! Digits are read eight at a time. A run of digits of unknown length is loaded with what follows
//! it, the first byte that is no digit is found with one subtraction, and the digits are shifted
//! to the end of the word, where leading zero bytes do no harm:
//!
//! ```text
//! load     '-' '2' '5' '<' '/' 'i' 't' 'e'      first byte lowest
//! ^ 0x30    .   2   5   12  ...                 a sign and 2 digits; 12 is seen by a carry into bit 7
//! << 5*8    0   0   0   0   0   0   2   5       00000025
//! ```
//!
//! No branch depends on the number of digits below eight, which is what mispredicts in real data.
//! For integers without bound see [`crate::Decimal`].

use std::ops::RangeInclusive;

use crate::{Datatype, LexicalError};

/// The longest text of any 64-bit integer: `-9223372036854775808`, `18446744073709551615`.
pub const WIDTH: usize = 20;

/// The values of an integer type that fits `i64`; `None` for any other type.
///
/// ```
/// use bsoap_datatypes::{Datatype, integer};
///
/// assert_eq!(integer::i64_range(Datatype::Byte), Some(-128..=127));
/// assert_eq!(integer::i64_range(Datatype::UnsignedLong), None);
/// ```
#[inline]
pub const fn i64_range(datatype: Datatype) -> Option<RangeInclusive<i64>> {
    Some(match datatype {
        Datatype::Long => i64::MIN..=i64::MAX,
        Datatype::Int => i32::MIN as i64..=i32::MAX as i64,
        Datatype::Short => i16::MIN as i64..=i16::MAX as i64,
        Datatype::Byte => i8::MIN as i64..=i8::MAX as i64,
        Datatype::UnsignedInt => 0..=u32::MAX as i64,
        Datatype::UnsignedShort => 0..=u16::MAX as i64,
        Datatype::UnsignedByte => 0..=u8::MAX as i64,
        _ => return None,
    })
}

/// The greatest value of an unsigned integer type that fits `u64`; `None` for any other type.
#[inline]
pub const fn u64_max(datatype: Datatype) -> Option<u64> {
    Some(match datatype {
        Datatype::UnsignedLong => u64::MAX,
        Datatype::UnsignedInt => u32::MAX as u64,
        Datatype::UnsignedShort => u16::MAX as u64,
        Datatype::UnsignedByte => u8::MAX as u64,
        _ => return None,
    })
}

/// The value of a lexical form of a type with an [`i64_range`]: sign, digits, within the range.
/// A type without one takes any `i64`.
///
/// ```
/// use bsoap_datatypes::{Datatype, integer};
///
/// assert_eq!(integer::parse_i64(b"+007", Datatype::Byte).unwrap(), 7);
/// assert!(integer::parse_i64(b"128", Datatype::Byte).is_err());
/// ```
#[inline]
pub fn parse_i64(text: &[u8], datatype: Datatype) -> Result<i64, LexicalError> {
    let range = i64_range(datatype).unwrap_or(i64::MIN..=i64::MAX);
    match parse_prefix_i64(text) {
        Some((value, length)) if length == text.len() && range.contains(&value) => Ok(value),
        _ => Err(LexicalError::new(datatype, text)),
    }
}

/// The value of a lexical form of a type with a [`u64_max`]. A type without one takes any `u64`.
///
/// ```
/// use bsoap_datatypes::{Datatype, integer};
///
/// assert_eq!(integer::parse_u64(b"18446744073709551615", Datatype::UnsignedLong).unwrap(), u64::MAX);
/// assert_eq!(integer::parse_u64(b"-0", Datatype::UnsignedLong).unwrap(), 0);
/// assert!(integer::parse_u64(b"-1", Datatype::UnsignedLong).is_err());
/// ```
#[inline]
pub fn parse_u64(text: &[u8], datatype: Datatype) -> Result<u64, LexicalError> {
    let max = u64_max(datatype).unwrap_or(u64::MAX);
    match parse_prefix_u64(text) {
        Some((value, length)) if length == text.len() && value <= max => Ok(value),
        _ => Err(LexicalError::new(datatype, text)),
    }
}

/// The integer that `text` starts with and how many bytes it takes. `None` where there is none or
/// it does not fit. A sign `+` and leading zeros are part of it.
///
/// ```
/// use bsoap_datatypes::integer;
///
/// assert_eq!(integer::parse_prefix_i64(b"-125</item>"), Some((-125, 4)));
/// assert_eq!(integer::parse_prefix_i64(b"</item>"), None);
/// ```
#[inline(always)]
pub fn parse_prefix_i64(text: &[u8]) -> Option<(i64, usize)> {
    let (negative, magnitude, length) = sign_and_digits(text)?;
    // The magnitude of the least i64 is one more than that of the greatest.
    if magnitude > i64::MAX as u64 + u64::from(negative) {
        return None;
    }
    let flip = -i64::from(negative);
    Some((((magnitude as i64) ^ flip).wrapping_sub(flip), length))
}

/// The integer that `text` starts with, if it is not negative, and how many bytes it takes.
///
/// ```
/// use bsoap_datatypes::integer;
///
/// assert_eq!(integer::parse_prefix_u64(b"18446744073709551615<"), Some((u64::MAX, 20)));
/// ```
#[inline(always)]
pub fn parse_prefix_u64(text: &[u8]) -> Option<(u64, usize)> {
    let (negative, magnitude, length) = sign_and_digits(text)?;
    if negative && magnitude != 0 {
        return None;
    }
    Some((magnitude, length))
}

const POWERS_OF_TEN: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// Is it negative, its magnitude, and how many bytes sign and digits take; `None` if there are no
/// digits or too many.
#[inline(always)]
fn sign_and_digits(text: &[u8]) -> Option<(bool, u64, usize)> {
    let Some(words) = text.first_chunk::<16>() else {
        return sign_and_digits_slowly(text);
    };
    let word = word_at(words, 0);
    // A sign counts as a digit, whose value is 0. No branch: signs are hard to predict.
    let negative = word & 0xff == u64::from(b'-' ^ b'0');
    // The length is what the next value waits for, so it does not wait for the sign: it is at
    // least 1, and whether the first byte is allowed there is checked separately.
    let length = ((other_bytes(word) & !0x80).trailing_zeros() / 8) as usize;
    let word = word & !(u64::from(negative) * 0xff);
    if word & 0xff > 9 || length <= usize::from(negative) {
        return sign_and_digits_slowly(text);
    }
    let value = first_digits(word, length);
    if length < 8 {
        return Some((negative, value, length));
    }
    let word = word_at(words, 8);
    match (other_bytes(word).trailing_zeros() / 8) as usize {
        0 => Some((negative, value, 8)),
        8 => sign_and_digits_slowly(text),
        more => Some((
            negative,
            value * POWERS_OF_TEN[more] + first_digits(word, more),
            8 + more,
        )),
    }
}

/// Eight bytes, each minus `0`, the first lowest.
#[inline(always)]
fn word_at(text: &[u8; 16], at: usize) -> u64 {
    match text[at..].first_chunk() {
        Some(word) => u64::from_le_bytes(*word) ^ ZEROS,
        None => unreachable!("all callers are in front of the last eight bytes"),
    }
}

/// The number that the digits at `text[at..]` make, and how many there are: one to seven.
#[inline(always)]
pub(crate) fn short_digits(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*text.get(at..)?.first_chunk()?) ^ ZEROS;
    let length = (other_bytes(word).trailing_zeros() / 8) as usize;
    (length.wrapping_sub(1) < 7).then(|| (first_digits(word, length), length))
}

/// The number at `text[at..]` if it has eight digits.
#[inline(always)]
pub(crate) fn eight_digits(text: &[u8], at: usize) -> Option<u64> {
    let word = u64::from_le_bytes(*text.get(at..)?.first_chunk()?) ^ ZEROS;
    (other_bytes(word) == 0).then(|| first_digits(word, 8))
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Bit 7 of each byte that is above 9. A carry can set bits of bytes behind the first such byte,
/// but not before it. (`word` has had `ZEROS` taken away.)
#[inline]
fn other_bytes(word: u64) -> u64 {
    (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
}

/// The number that the first `length` bytes of `word` make, 1 to 8 of them, each 0 to 9.
#[inline]
fn first_digits(word: u64, length: usize) -> u64 {
    let word = word << (64 - 8 * length);
    // Pairs, then fours, then all eight: 10·a + b in lanes twice as wide each time.
    let word = word.wrapping_mul(10).wrapping_add(word >> 8);
    let pairs = word & 0x0000_00ff_0000_00ff;
    let others = (word >> 16) & 0x0000_00ff_0000_00ff;
    let value = pairs
        .wrapping_mul(0x000f_4240_0000_0064)
        .wrapping_add(others.wrapping_mul(0x0000_2710_0000_0001));
    value >> 32
}

/// Digit by digit: near the end of a text, and for more than 15 digits.
#[cold]
#[inline(never)]
fn sign_and_digits_slowly(text: &[u8]) -> Option<(bool, u64, usize)> {
    let (negative, start) = sign(text);
    let mut value = 0_u64;
    let mut length = start;
    for byte in text
        .get(start..)?
        .iter()
        .copied()
        .take_while(u8::is_ascii_digit)
    {
        value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
        length += 1;
    }
    (length > start).then_some((negative, value, length))
}

/// Is it negative, and where do the digits start?
fn sign(text: &[u8]) -> (bool, usize) {
    let first = text.first().copied().unwrap_or(0);
    let negative = first == b'-';
    (negative, usize::from(negative | (first == b'+')))
}

/// Writes the canonical form into `out` and returns its length.
///
/// ```
/// use bsoap_datatypes::integer;
///
/// let mut out = [0; 32];
/// let length = integer::format_i64(-125, &mut out);
/// assert_eq!(&out[..length], b"-125");
/// ```
#[inline]
pub fn format_i64(value: i64, out: &mut [u8; 32]) -> usize {
    out[0] = b'-';
    let start = usize::from(value < 0);
    start + format_magnitude(value.unsigned_abs(), start, out)
}

/// Writes the canonical form into `out` and returns its length.
#[inline]
pub fn format_u64(value: u64, out: &mut [u8; 32]) -> usize {
    format_magnitude(value, 0, out)
}

/// Writes digits to `out[start..]`, `start` being 0 or 1, and returns how many. They are stored as whole words: bytes stored
/// one by one cannot be forwarded to a load of several, so copying them waits until they are in the cache.
#[inline(always)]
fn format_magnitude(value: u64, start: usize, out: &mut [u8; 32]) -> usize {
    const EIGHT: u64 = 100_000_000;
    if value < EIGHT {
        return store_front(value, start, out);
    }
    if value >= EIGHT * EIGHT {
        return format_long(value, start, out);
    }
    let length = store_front(value / EIGHT, start, out);
    store(eight_bytes(value % EIGHT), start + length, out);
    length + 8
}

/// Writes a number below 10⁸ without leading zeros, and returns its length.
#[inline(always)]
fn store_front(value: u64, start: usize, out: &mut [u8; 32]) -> usize {
    let digits = eight_bytes(value);
    // The last digit stays, even if it is zero.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    store(digits >> (8 * zeros), start, out);
    8 - zeros as usize
}

#[inline(always)]
fn store(digits: u64, at: usize, out: &mut [u8; 32]) {
    // At most the sign and eight digits are in front.
    out[at % 16..][..8].copy_from_slice(&(digits ^ ZEROS).to_le_bytes());
}

/// The eight digits of a number below 10⁸, leading zeros too, the first in the lowest byte: the inverse of [`first_digits`].
#[inline(always)]
fn eight_bytes(value: u64) -> u64 {
    // Two lanes of four digits, four of two, eight of one. The factors are reciprocals that are exact for such short numbers.
    let fours = (value / 10_000) | (value % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - tens * 10) << 8
}

#[cold]
#[inline(never)]
fn format_long(value: u64, start: usize, out: &mut [u8; 32]) -> usize {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(value).as_bytes();
    out[start..start + text.len()].copy_from_slice(text);
    text.len()
}

/// Appends the canonical form.
#[inline]
pub fn write_i64(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends the canonical form.
#[inline]
pub fn write_u64(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Is this an optional sign and at least one digit, and is its value one of `datatype`'s?
/// Works for every type derived from `integer`, those without bounds too.
pub(crate) fn is_valid(datatype: Datatype, text: &[u8]) -> bool {
    if i64_range(datatype).is_some() {
        return parse_i64_in(text, datatype);
    }
    let (negative, start) = sign(text);
    let digits = &text[start..];
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let zero = || digits.iter().all(|digit| *digit == b'0');
    match datatype {
        Datatype::UnsignedLong => {
            matches!(parse_prefix_u64(text), Some((_, length)) if length == text.len())
        }
        Datatype::NonNegativeInteger => !negative || zero(),
        Datatype::PositiveInteger => !negative && !zero(),
        Datatype::NonPositiveInteger => negative || zero(),
        Datatype::NegativeInteger => negative && !zero(),
        _ => true,
    }
}

fn parse_i64_in(text: &[u8], datatype: Datatype) -> bool {
    let range = i64_range(datatype).unwrap_or(i64::MIN..=i64::MAX);
    matches!(parse_prefix_i64(text), Some((value, length)) if length == text.len() && range.contains(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_digits_is_read_with_anything_behind_it() {
        let digits = "12345678901234567890";
        for length in 1..=19 {
            for tail in ["", "<", "</item><item>", ":", "/", "\u{e9}", " "] {
                let text = format!("{}{tail}", &digits[..length]);
                let value = digits[..length].parse::<u64>().unwrap();
                assert_eq!(
                    parse_prefix_u64(text.as_bytes()),
                    Some((value, length)),
                    "{text}"
                );
                let negative = format!("-{text}");
                let expected = i64::try_from(value).ok().map(|value| (-value, length + 1));
                assert_eq!(
                    parse_prefix_i64(negative.as_bytes()),
                    expected,
                    "{negative}"
                );
            }
        }
    }

    #[test]
    fn the_first_byte_that_is_no_digit_ends_the_number() {
        for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
            for at in 1..12 {
                let mut text = *b"1234567890123456789012";
                text[at] = byte;
                let value = std::str::from_utf8(&text[..at]).unwrap().parse().unwrap();
                assert_eq!(parse_prefix_u64(&text), Some((value, at)), "{byte:#x}");
            }
        }
    }

    #[test]
    fn the_bounds_themselves_are_inside() {
        assert_eq!(
            parse_prefix_i64(b"-9223372036854775808<"),
            Some((i64::MIN, 20))
        );
        assert_eq!(parse_prefix_i64(b"-9223372036854775809<"), None);
        assert_eq!(
            parse_prefix_i64(b"9223372036854775807<"),
            Some((i64::MAX, 19))
        );
        assert_eq!(parse_prefix_i64(b"9223372036854775808<"), None);
        assert_eq!(parse_prefix_u64(b"18446744073709551616<"), None);
        assert_eq!(
            parse_prefix_u64(b"000000000000000000000000000000007<"),
            Some((7, 33))
        );
    }

    #[test]
    fn integers_of_all_lengths_are_written_as_the_standard_library_writes_them() {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        for value in powers
            .flat_map(|power| [power - 1, power, power + 1, power / 7])
            .chain([u64::MAX])
        {
            let mut out = [0; 32];
            let length = format_u64(value, &mut out);
            assert_eq!(out[..length], *value.to_string().as_bytes());
            for value in [value as i64, (value as i64).wrapping_neg()] {
                let length = format_i64(value, &mut out);
                assert_eq!(out[..length], *value.to_string().as_bytes());
            }
        }
        let mut out = [0; 32];
        let length = format_i64(i64::MIN, &mut out);
        assert_eq!(out[..length], *b"-9223372036854775808");
    }

    #[test]
    fn eight_digits_are_those_of_the_number() {
        for value in (0..100_000_000)
            .step_by(9_973)
            .chain([9_999, 10_000, 99_999_999])
        {
            let text = format!("{value:08}");
            assert_eq!(
                eight_bytes(value) ^ ZEROS,
                u64::from_le_bytes(text.as_bytes().try_into().unwrap())
            );
        }
    }

    #[test]
    fn a_sign_alone_is_no_number() {
        for text in ["", "-", "+", "+-1", "--1", "- 1", "<"] {
            assert_eq!(parse_prefix_i64(text.as_bytes()), None);
            assert_eq!(parse_prefix_u64(text.as_bytes()), None);
        }
    }
}
