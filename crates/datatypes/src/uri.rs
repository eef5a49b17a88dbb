//! `xs:anyURI` (XSD 1.0 Part 2 §3.2.17).
//!
//! Nearly any text is one: characters that a URI may not have represent their escapes. Errors that no
//! escaping repairs are looked for here: an escape that is broken, a second `#`, a scheme without a
//! name or with nothing after it. Whether host and path make sense is up to the user of the
//! URI; peers send `10.0.0.1:8080` where RFC 2396 wants a scheme, and XSD 1.1 allows it.

/// Is this a lexical form of `xs:anyURI`?
pub(crate) fn is_valid(text: &str) -> bool {
    is_plain(text.as_bytes()) || is_valid_in_parts(text)
}

/// Nothing that could be wrong: no `#`, no `%`, and no colon at an end.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first(), text.last()) else {
        return true;
    };
    // To look at every byte is faster than to stop at the first.
    let is_odd = |any, &byte: &u8| any | (byte == b'#') | (byte == b'%');
    !text.iter().fold(false, is_odd) & (*first != b':') & (*last != b':')
}

fn is_valid_in_parts(text: &str) -> bool {
    let (mut hashes, mut has_escapes) = (0, false);
    for byte in text.bytes() {
        hashes += usize::from(byte == b'#');
        has_escapes |= byte == b'%';
    }
    let are_escapes_whole = || text.split('%').skip(1).all(starts_with_two_hex_digits);
    hashes < 2 && has_good_scheme(text) && (!has_escapes || are_escapes_whole())
}

/// A colon before any other delimiter ends a scheme.
fn has_good_scheme(text: &str) -> bool {
    let is_delimiter = |byte: &u8| matches!(byte, b':' | b'/' | b'?' | b'#');
    let text = text.as_bytes();
    match text.iter().position(is_delimiter) {
        Some(at) if text[at] == b':' => at > 0 && at + 1 < text.len(),
        _ => true,
    }
}

fn starts_with_two_hex_digits(text: &str) -> bool {
    matches!(text.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_escaping_repairs_is_refused() {
        for text in [
            "",
            "urn:a b",
            "http://[::1]/ä?q=%20#f",
            "../x",
            "{a}|b\\c^d`",
            "1:2",
        ] {
            assert!(is_valid(text) && is_valid_in_parts(text), "{text}");
        }
        for text in ["100%", "%2", "%zz", "a%2", "a#b#c", ":a", "b:", ":"] {
            assert!(!is_valid(text), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_is_valid_in_parts(text in "[a:/?#%2é]{0,7}") {
            proptest::prop_assert_eq!(is_valid(&text), is_valid_in_parts(&text), "{}", text);
        }
    }
}
