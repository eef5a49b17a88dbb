//! `xs:base64Binary` and `xs:hexBinary` (XSD 1.0 Part 2 §3.2.16, §3.2.15).

use crate::white_space::is_white_space;
use crate::{Datatype, LexicalError};

/// The octets of a lexical form of `xs:base64Binary`, appended to `out`. White space is allowed
/// anywhere in it, as mail-style line breaks do.
///
/// After the last padding nothing may follow, and the bits that padding leaves over must be zero,
/// so that no two forms differ in more than white space. `out` is as it was if there is an error.
///
/// ```
/// use bsoap_datatypes::binary;
///
/// let mut octets = Vec::new();
/// binary::parse_base64(b"aGVs\nbG8=", &mut octets).unwrap();
/// assert_eq!(octets, b"hello");
/// assert!(binary::parse_base64(b"aGVsbG9=", &mut octets).is_err());
/// ```
pub fn parse_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), LexicalError> {
    let start = out.len();
    // (The crates reserve exactly what they add: many small values would be copied again and again.)
    out.reserve(text.len() / 4 * 3 + 3);
    // Most forms have no white space, and looking for it would take longer than reading them.
    if base64_simd::STANDARD.decode_append(text, out).is_ok() {
        return Ok(());
    }
    out.truncate(start);
    let problem = || LexicalError::new(Datatype::Base64Binary, text);
    let packed = without_white_space(text).ok_or_else(problem)?;
    base64_simd::STANDARD
        .decode_append(&packed, out)
        .map_err(|_| {
            out.truncate(start);
            problem()
        })
}

/// A text without its white space; `None` if it has none.
fn without_white_space(text: &[u8]) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(text.len());
    // Blocks without white space, such as most of a mail's lines, are copied as they are.
    for block in text.chunks(BLOCK) {
        let is_plain = |plain, byte: &u8| plain & (*byte > b' ');
        if block.iter().fold(true, is_plain) {
            packed.extend_from_slice(block);
        } else {
            packed.extend(block.iter().filter(|byte| !is_white_space(**byte)));
        }
    }
    (packed.len() < text.len()).then_some(packed)
}

/// The number of bytes that are searched for white space at once.
const BLOCK: usize = 16;

/// The number of octets in a lexical form of `xs:base64Binary`, without decoding it.
pub(crate) fn base64_length(text: &[u8]) -> Option<usize> {
    let length = |text: &[u8]| {
        base64_simd::STANDARD.check(text).ok()?;
        base64_simd::STANDARD.decoded_length(text).ok()
    };
    length(text).or_else(|| length(&without_white_space(text)?))
}

/// Appends the canonical form of `xs:base64Binary`: no white space.
///
/// ```
/// use bsoap_datatypes::binary;
///
/// let mut text = Vec::new();
/// binary::write_base64(b"hello", &mut text);
/// assert_eq!(text, b"aGVsbG8=");
/// ```
pub fn write_base64(octets: &[u8], out: &mut Vec<u8>) {
    out.reserve(base64_simd::STANDARD.encoded_length(octets.len()));
    base64_simd::STANDARD.encode_append(octets, out);
}

/// The octets of a lexical form of `xs:hexBinary`, appended to `out`: pairs of hex digits of
/// either case. `out` is as it was if there is an error.
///
/// ```
/// use bsoap_datatypes::binary;
///
/// let mut octets = Vec::new();
/// binary::parse_hex(b"0fB7", &mut octets).unwrap();
/// assert_eq!(octets, [0x0f, 0xb7]);
/// ```
pub fn parse_hex(text: &[u8], out: &mut Vec<u8>) -> Result<(), LexicalError> {
    let start = out.len();
    out.reserve(text.len() / 2);
    hex_simd::decode_append(text, out).map_err(|_| {
        out.truncate(start);
        LexicalError::new(Datatype::HexBinary, text)
    })
}

pub(crate) fn is_hex(text: &[u8]) -> bool {
    text.len().is_multiple_of(2) && hex_simd::check(text).is_ok()
}

/// Appends the canonical form of `xs:hexBinary`: upper case.
///
/// ```
/// use bsoap_datatypes::binary;
///
/// let mut text = Vec::new();
/// binary::write_hex(&[0x0f, 0xb7], &mut text);
/// assert_eq!(text, b"0FB7");
/// ```
pub fn write_hex(octets: &[u8], out: &mut Vec<u8>) {
    out.reserve(2 * octets.len());
    hex_simd::encode_append(octets, out, hex_simd::AsciiCase::Upper);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_decoders_agree_on_what_base64_is() {
        let cases = [
            "",
            "AA==",
            "AAA=",
            "AAAA",
            "AB==",
            "AAB=",
            "A===",
            "====",
            "AA=",
            "A",
            "AA",
            "AAA",
            "AA==AAAA",
            "AA=A",
            "A=AA",
            "AAAAA",
            "AA-_",
            "AAA\u{e9}",
            "/+8=",
        ];
        for text in cases {
            let mut octets = Vec::new();
            let decoded = parse_base64(text.as_bytes(), &mut octets)
                .ok()
                .map(|()| octets.len());
            assert_eq!(decoded, base64_length(text.as_bytes()), "{text}");
            let spaced = format!("{text} ");
            assert_eq!(
                decoded,
                base64_length(spaced.as_bytes()),
                "{text} with a space"
            );
        }
    }

    #[test]
    fn a_text_that_fails_leaves_the_output_alone() {
        let mut out = b"kept".to_vec();
        assert!(parse_base64(b"AAAAAAAA*", &mut out).is_err());
        assert!(parse_hex(b"0g", &mut out).is_err());
        assert!(parse_hex(b"000", &mut out).is_err());
        assert_eq!(out, b"kept");
    }
}
