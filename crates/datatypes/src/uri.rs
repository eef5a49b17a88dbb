//! `xs:anyURI` (XSD 1.0 Part 2 §3.2.17).
//!
//! Nearly any text is one: characters that a URI may not have stand for their escapes. What no
//! escaping mends is looked for here: an escape that is broken, and a second `#`. Whether the
//! scheme, host and path are sensible is for whoever follows the URI.

/// Is this a lexical form of `xs:anyURI`?
pub(crate) fn is_valid(text: &str) -> bool {
    let hashes = text.bytes().filter(|byte| *byte == b'#').take(2).count();
    hashes < 2 && text.split('%').skip(1).all(starts_with_two_hex_digits)
}

fn starts_with_two_hex_digits(text: &str) -> bool {
    matches!(text.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_broken_escapes_and_a_second_fragment_are_refused() {
        for text in [
            "",
            "urn:a b",
            "http://[::1]/ä?q=%20#f",
            "../x",
            "{a}|b\\c^d`",
            "1:2",
        ] {
            assert!(is_valid(text), "{text}");
        }
        for text in ["100%", "%2", "%zz", "a%2", "a#b#c"] {
            assert!(!is_valid(text), "{text}");
        }
    }
}
