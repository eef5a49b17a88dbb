//! Character data without markup, apart from a document: its references and line ends replaced, a part of a text alone.
//!
//! A [`Reader`](crate::Reader) finds the same in the same text. What is wrong, or needs more than the text itself to be
//! understood, is left to it.

use memchr::memchr2;

use crate::options::Limits;
use crate::reader::{Reference, check_noncharacter, scan_reference};
use crate::scan;

/// Longer references are left to a reader.
const LONGEST: usize = 16;

/// Decodes character data and appends the result to `to`: character references, the five predefined entities and line ends
/// are replaced, all other text is copied unchanged.
///
/// Returns `None` if the text contains markup, another entity or an error. A [`Reader`](crate::Reader) must then read it;
/// part of the text may already have been appended.
///
/// ```
/// let mut text = Vec::new();
/// assert!(bsoap_xml::decode_text("a &lt; b", &bsoap_xml::Limits::default(), &mut text).is_some());
/// assert_eq!(text, b"a < b");
/// ```
pub fn decode_text(raw: &str, limits: &Limits, to: &mut Vec<u8>) -> Option<()> {
    let bytes = raw.as_bytes();
    let end = decode_plain(bytes, scan::find_text_special(bytes), limits, to)?;
    (end == bytes.len()).then_some(())
}

/// The same for character data that a `<` ends: how long it is. `plain`: what
/// [`scan::find_text_special`] says of it. Whether it is UTF-8 is not looked at: what is appended is, if that is.
///
/// ```
/// let mut text = Vec::new();
/// let limits = bsoap_xml::Limits::default();
/// assert_eq!(bsoap_xml::decode_text_before(b"a &lt; b</v>", 2, &limits, &mut text), Some(8));
/// assert_eq!(text, b"a < b");
/// ```
#[inline]
pub fn decode_text_before(
    text: &[u8],
    plain: usize,
    limits: &Limits,
    to: &mut Vec<u8>,
) -> Option<usize> {
    let end = decode_plain(text, plain, limits, to)?;
    (end < text.len()).then_some(end)
}

/// Appends the value of character data, up to a `<` or the end of the text; returns that location.
fn decode_plain(bytes: &[u8], mut at: usize, limits: &Limits, to: &mut Vec<u8>) -> Option<usize> {
    let mut copied = 0;
    loop {
        let length = match bytes.get(at) {
            None | Some(b'<') => break,
            Some(b'&') => {
                let (octet, length) = match entity(&bytes[at..]) {
                    Some((octet, length)) => (u32::from(octet), length),
                    None => numbered(&bytes[at..])?,
                };
                // The bytes between `&` and `;` count as a name.
                if length > limits.name_length.saturating_add(2) {
                    return None;
                }
                to.extend_from_slice(&bytes[copied..at]);
                match u8::try_from(octet) {
                    Ok(octet) if octet.is_ascii() => to.push(octet),
                    _ => {
                        let c = char::from_u32(octet)?;
                        to.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
                copied = at + length;
                length
            }
            Some(b'\r') => {
                to.extend_from_slice(&bytes[copied..at]);
                to.push(b'\n');
                let length = 1 + usize::from(bytes.get(at + 1) == Some(&b'\n'));
                copied = at + length;
                length
            }
            Some(b']') if !bytes[at..].starts_with(b"]]>") => 1,
            Some(0xEF) => {
                check_noncharacter(bytes, at).ok()?;
                1
            }
            Some(_) => return None,
        };
        at += length;
        at += scan::find_text_special(bytes.get(at..)?);
    }
    to.extend_from_slice(bytes.get(copied..at)?);
    Some(at)
}

/// The character that a reference at the front denotes, and its length, unless that is too long.
#[cold]
fn numbered(bytes: &[u8]) -> Option<(u32, usize)> {
    let length = 1 + bytes.iter().take(LONGEST).position(|&byte| byte == b';')?;
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    match scan_reference(text, 0) {
        Ok((Reference::Char(c), length)) => Some((u32::from(c), length)),
        _ => None,
    }
}

/// Appends the characters of a CDATA section, line ends replaced; `None` if one is not allowed in a document.
pub fn decode_cdata(raw: &str, to: &mut Vec<u8>) -> Option<()> {
    let bytes = raw.as_bytes();
    let (mut at, mut copied) = (0, 0);
    loop {
        at += scan::find_control(bytes.get(at..)?);
        match bytes.get(at) {
            None => break,
            Some(b'\r') => {
                to.extend_from_slice(&bytes[copied..at]);
                to.push(b'\n');
                copied = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'\n'));
                at = copied;
                continue;
            }
            Some(0xEF) => check_noncharacter(bytes, at).ok()?,
            Some(_) => return None,
        }
        at += 1;
    }
    to.extend_from_slice(bytes.get(copied..)?);
    Some(())
}

/// How many octets [`decode_text`] would append for a text that is known to be right, of a document that declares no
/// entities of its own. Names that begin as one of XML's entities are taken for it.
///
/// ```
/// assert_eq!(bsoap_xml::decoded_length(b"a &lt; &#xE9;\r\n"), Some(7));
/// ```
pub fn decoded_length(raw: &[u8]) -> Option<usize> {
    if raw.len() >= MANY
        && let Some(length) = plain_length(raw)
    {
        return Some(length);
    }
    let (mut at, mut less) = (0, 0);
    while let Some(found) = memchr2(b'&', b'\r', raw.get(at..)?) {
        at += found;
        let rest = &raw[at..];
        if let Some((_, length)) = entity(rest) {
            less += length - 1;
            at += length;
        } else if rest[0] == b'\r' {
            less += usize::from(rest.get(1) == Some(&b'\n'));
            at += 1;
        } else {
            let (octet, length) = numbered(rest)?;
            less += length - char::from_u32(octet)?.len_utf8();
            at += length;
        }
    }
    Some(raw.len() - less)
}

/// In longer texts references are counted together.
const MANY: usize = 64;

/// The same for a text that has no references but to XML's own entities, and no line ends of two characters: the first
/// letters of a reference determine how much longer it is than its value, so no branch is needed.
fn plain_length(raw: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let (fronts, end) = raw.split_at(raw.len().checked_sub(2)?);
    let (seconds, thirds) = (raw.get(1..)?, raw.get(2..)?);
    let blocks = fronts.chunks(BLOCK).zip(seconds.chunks(BLOCK));
    // The last two cannot begin a reference.
    let (mut less, mut others) = (0, end.contains(&b'\r'));
    for ((fronts, seconds), thirds) in blocks.zip(thirds.chunks(BLOCK)) {
        let (mut sum, mut other) = (0u8, 0u8);
        for ((&front, &second), &third) in fronts.iter().zip(seconds).zip(thirds) {
            let is = |is: bool, less: u8| if is { less } else { 0 };
            let begins = is(front == b'&', u8::MAX);
            let longer = is((second == b'l' || second == b'g') && third == b't', 3)
                | is(second == b'a' && third == b'm', 4)
                | is(second == b'a' && third == b'p', 5)
                | is(second == b'q' && third == b'u', 5);
            sum = sum.wrapping_add(begins & longer);
            other |= (begins & is(longer == 0, 1)) | is(front == b'\r', 1);
        }
        less += usize::from(sum);
        others |= other != 0;
    }
    (!others).then_some(raw.len() - less)
}

/// The same of a CDATA section.
pub fn cdata_length(raw: &[u8]) -> usize {
    let ends = memchr::memmem::find_iter(raw, b"\r\n");
    raw.len() - ends.count()
}

/// The octet that a reference to one of XML's own entities denotes, and its length.
#[inline]
fn entity(text: &[u8]) -> Option<(u8, usize)> {
    // One load distinguishes most of them.
    let word = match text.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            let length = text.len().min(8);
            word[..length].copy_from_slice(&text[..length]);
            u64::from_le_bytes(word)
        }
    };
    let is = |name: &[u8; 8], length: u32| {
        let mask = u64::MAX >> (64 - 8 * length);
        word & mask == u64::from_le_bytes(*name) & mask
    };
    match (word >> 8) as u8 {
        b'l' if is(b"&lt;\0\0\0\0", 4) => Some((b'<', 4)),
        b'g' if is(b"&gt;\0\0\0\0", 4) => Some((b'>', 4)),
        b'a' if is(b"&amp;\0\0\0", 5) => Some((b'&', 5)),
        b'a' if is(b"&apos;\0\0", 6) => Some((b'\'', 6)),
        b'q' if is(b"&quot;\0\0", 6) => Some((b'"', 6)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::{Event, Options, Reader, Vocabulary};

    /// What a reader finds in an element with this content, if it is all text.
    fn read(content: &str) -> Option<String> {
        let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
        reader.feed(format!("<v>{content}</v>").as_bytes()).ok()?;
        reader.finish().ok()?;
        let mut found = String::new();
        while let Some(event) = reader.next().ok()? {
            match event {
                Event::Text(text) => found.push_str(&text.value),
                Event::EndOfDocument => break,
                _ => {}
            }
        }
        Some(found)
    }

    fn text() -> impl Strategy<Value = String> {
        let parts = [
            "a",
            "plain text",
            "&lt;",
            "&gt;",
            "&amp;",
            "&apos;",
            "&quot;",
            "&#65;",
            "&#x1F600;",
            "&other;",
            "&",
            ";",
            "\r",
            "\n",
            "\r\n",
            "]]>",
            "]",
            "]]",
            "é",
            "\u{FFFD}",
            "\u{FFFE}",
            "\u{1}",
            "\t",
            "&lt",
            "&#xD;",
            "&#0;",
            "]]&gt;",
            "&#000000000000000000065;",
        ];
        let part = prop::sample::select(parts.to_vec());
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn text_alone_has_the_value_that_it_has_in_a_document(raw in text()) {
            let mut found = Vec::new();
            match decode_text(&raw, &Limits::default(), &mut found) {
                Some(()) => {
                    prop_assert_eq!(decoded_length(raw.as_bytes()), Some(found.len()));
                    prop_assert_eq!(Some(String::from_utf8(found).unwrap()), read(&raw));
                }
                None => prop_assert!(read(&raw).is_none() || raw.contains("&#0000000")),
            }
        }

        #[test]
        fn text_up_to_a_tag_has_the_value_that_it_has_alone(raw in text()) {
            let limits = Limits::default();
            let (mut alone, mut before) = (Vec::new(), Vec::new());
            let is_text = decode_text(&raw, &limits, &mut alone).is_some();
            let text = format!("{raw}</v>");
            let plain = scan::find_text_special(text.as_bytes());
            let length = decode_text_before(text.as_bytes(), plain, &limits, &mut before);
            prop_assert_eq!(length, is_text.then_some(raw.len()));
            if is_text {
                prop_assert_eq!(alone, before);
            }
            prop_assert_eq!(decode_text_before(raw.as_bytes(), plain, &limits, &mut Vec::new()), None);
        }

        #[test]
        fn references_of_a_long_text_are_counted_as_they_are_replaced(parts in prop::collection::vec(text(), 0..40)) {
            // Most of them have something that is not allowed in a text.
            let right = parts.iter().filter(|part| decode_text(part, &Limits::default(), &mut Vec::new()).is_some());
            let raw: String = right.map(String::as_str).collect();
            let mut found = Vec::new();
            if decode_text(&raw, &Limits::default(), &mut found).is_some() {
                prop_assert_eq!(decoded_length(raw.as_bytes()), Some(found.len()));
            }
        }

        #[test]
        fn a_section_alone_has_the_value_that_it_has_in_a_document(raw in text()) {
            prop_assume!(!raw.contains("]]>"));
            let mut found = Vec::new();
            let expected = read(&format!("<![CDATA[{raw}]]>"));
            match decode_cdata(&raw, &mut found) {
                Some(()) => {
                    prop_assert_eq!(cdata_length(raw.as_bytes()), found.len());
                    prop_assert_eq!(Some(String::from_utf8(found).unwrap()), expected);
                }
                None => prop_assert!(expected.is_none()),
            }
        }
    }
}
