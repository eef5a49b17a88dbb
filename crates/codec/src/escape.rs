//! Escapes text for character data and for attribute values: special characters are replaced by references.

use bsoap_xml::scan;

/// A character that XML does not allow, not even as a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadCharacter(pub(crate) u32);

/// The first character of a text that XML cannot carry, not even as a reference: most control characters, U+FFFE and U+FFFF.
///
/// ```
/// use bsoap_codec::encode::forbidden_character;
///
/// assert_eq!(forbidden_character("a\tb\u{1}"), Some('\u{1}'));
/// assert_eq!(forbidden_character("a < b"), None);
/// ```
pub fn forbidden_character(text: &str) -> Option<char> {
    let is_forbidden = |c: &char| match c {
        '\t' | '\n' | '\r' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        c => *c < ' ',
    };
    text.chars().find(is_forbidden)
}

/// Appends `text` as character data.
#[inline]
pub(crate) fn text(text: &[u8], out: &mut Vec<u8>) -> Result<(), BadCharacter> {
    let clean = scan::find_text_escape(text);
    out.extend_from_slice(&text[..clean]);
    if clean == text.len() {
        Ok(())
    } else {
        rest(&text[clean..], out, scan::find_text_escape)
    }
}

/// Appends `text` as the value of an attribute, between double quotes.
#[inline]
pub(crate) fn value(text: &[u8], out: &mut Vec<u8>) -> Result<(), BadCharacter> {
    let clean = scan::find_value_escape(text);
    out.extend_from_slice(&text[..clean]);
    if clean == text.len() {
        Ok(())
    } else {
        rest(&text[clean..], out, scan::find_value_escape)
    }
}

/// Appends the rest of a text, which begins with a byte that may need escaping.
fn rest(mut text: &[u8], out: &mut Vec<u8>, find: fn(&[u8]) -> usize) -> Result<(), BadCharacter> {
    while let Some(&byte) = text.first() {
        let reference = reference(byte);
        if reference.is_empty() {
            if byte < b' ' {
                return Err(BadCharacter(byte.into()));
            }
            // U+FFFE and U+FFFF are EF BF BE and EF BF BF.
            if let [0xef, 0xbf, last @ (0xbe | 0xbf), ..] = text {
                return Err(BadCharacter(0xff40 | u32::from(*last)));
            }
            out.push(byte);
        } else {
            out.extend_from_slice(reference);
        }
        text = &text[1..];
        let clean = find(text);
        out.extend_from_slice(&text[..clean]);
        text = &text[clean..];
    }
    Ok(())
}

/// The reference that replaces a byte; empty if the byte is written unchanged, or is not allowed.
#[inline]
fn reference(byte: u8) -> &'static [u8] {
    match byte {
        b'<' => b"&lt;",
        b'>' => b"&gt;",
        b'&' => b"&amp;",
        b'"' => b"&quot;",
        // A reader would replace these characters by line feeds or spaces (XML 1.0 §2.11, §3.3.3).
        b'\t' => b"&#9;",
        b'\n' => b"&#10;",
        b'\r' => b"&#13;",
        _ => b"",
    }
}

/// Writes `text` as character data to the start of `space`, and returns the length written. `None` if it does not fit, or
/// has a character that may not be allowed.
pub(crate) fn text_into(mut text: &[u8], space: &mut [u8]) -> Option<usize> {
    let mut end = 0;
    loop {
        let (clean, rest) = text.split_at(scan::find_text_escape(text));
        space
            .get_mut(end..)?
            .get_mut(..clean.len())?
            .copy_from_slice(clean);
        end += clean.len();
        let Some((&byte, rest)) = rest.split_first() else {
            return Some(end);
        };
        let reference = reference(byte);
        if reference.is_empty() {
            return None;
        }
        space
            .get_mut(end..)?
            .get_mut(..reference.len())?
            .copy_from_slice(reference);
        end += reference.len();
        text = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(
        with: fn(&[u8], &mut Vec<u8>) -> Result<(), BadCharacter>,
        input: &str,
    ) -> Result<String, BadCharacter> {
        let mut out = Vec::new();
        with(input.as_bytes(), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_markup_would_take_for_its_own_becomes_a_reference() {
        assert_eq!(
            escaped(text, "a<b>&c\"\t\n\r").unwrap(),
            "a&lt;b&gt;&amp;c\"\t\n&#13;"
        );
        assert_eq!(
            escaped(value, "a<b>&c\"'\t\n\r").unwrap(),
            "a&lt;b&gt;&amp;c&quot;'&#9;&#10;&#13;"
        );
        assert_eq!(
            escaped(text, "größe \u{fffd} ﷺ 𝄞").unwrap(),
            "größe \u{fffd} ﷺ 𝄞"
        );
    }

    #[test]
    fn characters_that_xml_cannot_carry_are_refused() {
        for code in [0, 1, 8, 0xb, 0xc, 0x1f, 0xfffe, 0xffff] {
            let input = format!(
                "some text of more than sixteen bytes {}",
                char::from_u32(code).unwrap()
            );
            assert_eq!(escaped(text, &input), Err(BadCharacter(code)));
            assert_eq!(escaped(value, &input), Err(BadCharacter(code)));
        }
        assert_eq!(escaped(text, "\u{7f}\u{85}").unwrap(), "\u{7f}\u{85}");
    }

    #[test]
    fn into_a_width_goes_the_same_or_nothing() {
        let mut space = [0; 64];
        for input in [
            "",
            "a<b>&c\"\t\n\r",
            "größe <",
            "fifteen letters&sixteen letters <<",
        ] {
            let length = text_into(input.as_bytes(), &mut space);
            let expected = escaped(text, input).unwrap();
            assert_eq!(
                length.map(|length| &space[..length]),
                Some(expected.as_bytes())
            );
            assert_eq!(
                text_into(input.as_bytes(), &mut space[..expected.len() / 2]).is_some(),
                input.is_empty()
            );
        }
        assert_eq!(text_into(b"\x01", &mut space), None);
        assert_eq!(text_into("\u{fffe}".as_bytes(), &mut space), None);
    }
}
