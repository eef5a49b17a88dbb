//! `&lt;`, `&#xE9;`, `&name;` (XML 1.0 §4.1), and the normalisation of attribute values (§3.3.3).

use super::doctype::Doctype;
use crate::chars::{is_char, ncname_length};
use crate::error::{ErrorKind, Stop};
use crate::scan;
use std::borrow::Cow;

/// A reference: what it denotes and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// A character reference, or one of the five entities of XML itself.
    Char(char),
    /// Any other entity.
    Entity(&'a str),
}

/// Reads the reference that begins with the `&` at `at`; also its length.
pub(crate) fn scan_reference(input: &str, at: usize) -> Result<(Reference<'_>, usize), Stop> {
    let rest = &input[at + 1..];
    if let Some(number) = rest.strip_prefix('#') {
        return scan_character(input, at, number);
    }
    let length = ncname_length(rest);
    let name = &rest[..length];
    match rest.as_bytes().get(length) {
        Some(b';') if length > 0 => {
            let reference = predefined(name).map_or(Reference::Entity(name), Reference::Char);
            Ok((reference, length + 2))
        }
        Some(_) if length == 0 => Err(Stop::expected(
            "the name of an entity after '&'",
            input,
            at + 1,
        )),
        _ => Err(Stop::expected(
            "';' after the name of an entity",
            input,
            at + 1 + length,
        )),
    }
}

/// The five entities that need no declaration (§4.6).
fn predefined(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

fn scan_character<'a>(
    input: &'a str,
    at: usize,
    number: &'a str,
) -> Result<(Reference<'a>, usize), Stop> {
    let (digits, radix, before) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16, 3),
        None => (number, 10, 2),
    };
    let length = digits
        .bytes()
        .position(|byte| !(byte as char).is_digit(radix))
        .unwrap_or(digits.len());
    if length == 0 || digits.as_bytes().get(length) != Some(&b';') {
        return Err(Stop::expected(
            "digits and ';' of a character reference",
            input,
            at + before + length,
        ));
    }
    let code = digits[..length].chars().try_fold(0u32, |code, digit| {
        // Whatever is this large stays so.
        Some((code * radix + digit.to_digit(radix)?).min(0x11_0000))
    });
    let code = code.unwrap_or(0);
    match char::from_u32(code) {
        Some(c) if is_char(code) => Ok((Reference::Char(c), before + length + 1)),
        _ => Err(Stop::fault(ErrorKind::InvalidChar(code), at)),
    }
}

/// The byte at `at` is 0xEF: is it the beginning of U+FFFE or U+FFFF, which no document can hold?
pub(crate) fn check_noncharacter(bytes: &[u8], at: usize) -> Result<(), Stop> {
    match bytes.get(at + 1..at + 3) {
        Some([0xBF, last @ (0xBE | 0xBF)]) => Err(Stop::fault(
            ErrorKind::InvalidChar(0xFF40 + u32::from(*last)),
            at,
        )),
        _ => Ok(()),
    }
}

/// All of `text[from..to]` are characters that XML can carry, line ends among them.
pub(crate) fn check_chars(text: &str, from: usize, to: usize) -> Result<(), Stop> {
    let bytes = &text.as_bytes()[..to];
    let mut at = from;
    loop {
        at += scan::find_control(&bytes[at..]);
        match bytes.get(at) {
            None => return Ok(()),
            Some(b'\r') => {}
            Some(0xEF) => check_noncharacter(bytes, at)?,
            Some(&byte) => return Err(Stop::fault(ErrorKind::InvalidChar(u32::from(byte)), at)),
        }
        at += 1;
    }
}

/// CR LF and CR alone as LF (§2.11).
pub(crate) fn normalise_line_ends(text: &str, to: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
        to.push_str(&rest[..at]);
        to.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    to.push_str(rest);
}

/// How the declared type of an attribute changes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Normalisation {
    /// White space becomes spaces.
    Cdata,
    /// ... and these are trimmed and collapsed as well.
    Tokens,
}

/// The value of an attribute whose literal has been checked.
pub(crate) fn normalise_value<'a>(
    raw: &'a str,
    how: Normalisation,
    doctype: Option<&Doctype>,
) -> Cow<'a, str> {
    let plain = raw.bytes().all(|byte| byte != b'&' && byte >= b' ');
    let value = if plain {
        Cow::Borrowed(raw)
    } else {
        let mut value = String::with_capacity(raw.len());
        append_value(raw, doctype, &mut value, 0);
        Cow::Owned(value)
    };
    match how {
        Normalisation::Cdata => value,
        Normalisation::Tokens => Cow::Owned(
            value
                .split(' ')
                .filter(|token| !token.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
        ),
    }
}

/// How deep entities may refer to entities; the check of the declaration refuses more.
pub(crate) const ENTITY_DEPTH: usize = 64;

fn append_value(raw: &str, doctype: Option<&Doctype>, to: &mut String, depth: usize) {
    let mut rest = raw;
    while let Some(at) = rest.bytes().position(|byte| byte == b'&' || byte < b' ') {
        to.push_str(&rest[..at]);
        let mut length = 1;
        match rest.as_bytes()[at] {
            b'&' => {
                if let Ok((reference, reference_length)) = scan_reference(rest, at) {
                    length = reference_length;
                    append_reference(reference, doctype, to, depth);
                }
            }
            // A literal CR LF is one line end. In the text of an entity line ends have been normalised already.
            b'\r' if rest[at + 1..].starts_with('\n') && depth == 0 => {}
            _ => to.push(' '),
        }
        rest = &rest[at + length..];
    }
    to.push_str(rest);
}

fn append_reference(
    reference: Reference<'_>,
    doctype: Option<&Doctype>,
    to: &mut String,
    depth: usize,
) {
    match reference {
        Reference::Char(c) => to.push(c),
        Reference::Entity(name) => {
            if let Some(text) = doctype
                .and_then(|doctype| doctype.text(name))
                .filter(|_| depth < ENTITY_DEPTH)
            {
                append_value(text, doctype, to, depth + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_or_refused() {
        assert_eq!(
            scan_reference("&lt;", 0).unwrap(),
            (Reference::Char('<'), 4)
        );
        assert_eq!(
            scan_reference("a&#233;", 1).unwrap(),
            (Reference::Char('é'), 6)
        );
        assert_eq!(
            scan_reference("&#x1F600;", 0).unwrap(),
            (Reference::Char('😀'), 9)
        );
        assert_eq!(
            scan_reference("&other;", 0).unwrap(),
            (Reference::Entity("other"), 7)
        );
        for wrong in [
            "& ",
            "&;",
            "&#;",
            "&#x;",
            "&#x110000;",
            "&#0;",
            "&#xFFFE;",
            "&#99999999999999999999;",
            "&a b;",
            "&#XA;",
        ] {
            assert!(
                matches!(scan_reference(wrong, 0), Err(Stop::Fault(_))),
                "{wrong}"
            );
        }
        for short in ["&", "&l", "&#", "&#x", "&#12"] {
            assert!(
                matches!(scan_reference(short, 0), Err(Stop::More)),
                "{short}"
            );
        }
    }

    #[test]
    fn white_space_in_a_value_becomes_spaces() {
        assert_eq!(
            normalise_value("a\tb\r\nc&#10;d", Normalisation::Cdata, None),
            "a b c\nd"
        );
        assert_eq!(
            normalise_value("  a\n b ", Normalisation::Tokens, None),
            "a b"
        );
    }
}
