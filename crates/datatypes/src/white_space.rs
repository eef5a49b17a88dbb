//! White space processing: what happens to a text before it is looked at as a lexical form
//! (XSD 1.0 Part 2 §4.3.6).

use std::borrow::Cow;

// Exhaustive: XML Schema 1.0 has no others.
/// The values of the `whiteSpace` facet, from the weakest to the strongest.
///
/// ```
/// use bsoap_datatypes::WhiteSpace;
///
/// assert_eq!(WhiteSpace::Preserve.apply(" a\tb "), " a\tb ");
/// assert_eq!(WhiteSpace::Replace.apply(" a\tb "), " a b ");
/// assert_eq!(WhiteSpace::Collapse.apply(" a\t \nb "), "a b");
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WhiteSpace {
    /// The text stays as it is.
    Preserve,
    /// Each tab, line feed and carriage return becomes a space.
    Replace,
    /// As `Replace`; then runs of spaces become one, and those at the ends go.
    Collapse,
}

impl WhiteSpace {
    /// The word of the facet with this value, `preserve`, `replace` or `collapse`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "preserve" => Some(Self::Preserve),
            "replace" => Some(Self::Replace),
            "collapse" => Some(Self::Collapse),
            _ => None,
        }
    }

    /// The word for it in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preserve => "preserve",
            Self::Replace => "replace",
            Self::Collapse => "collapse",
        }
    }

    /// `text` after white space processing; borrowed wherever no byte inside it changes.
    #[inline]
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Preserve => Cow::Borrowed(text),
            Self::Replace => replace(text),
            Self::Collapse => collapse(text),
        }
    }
}

/// Is this byte one of XML's four white space characters?
#[inline]
pub fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// `text` without XML white space at its ends.
#[inline]
pub fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}

fn is_replaced(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r')
}

fn replace(text: &str) -> Cow<'_, str> {
    if text.bytes().any(is_replaced) {
        Cow::Owned(text.replace(['\t', '\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

#[inline]
fn collapse(text: &str) -> Cow<'_, str> {
    // Most have no white space at all; to look at every byte is faster than to stop at the first.
    let has_none = text.bytes().fold(true, |none, byte| none & (byte > b' '));
    if has_none {
        return Cow::Borrowed(text);
    }
    let text = trim(text);
    if is_collapsed_inside(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(collapse_slowly(text))
    }
}

/// A trimmed text is collapsed if its white space is single spaces.
fn is_collapsed_inside(text: &str) -> bool {
    let mut previous = b'x';
    text.bytes().all(|byte| {
        let double = byte == b' ' && previous == b' ';
        previous = byte;
        !double && !is_replaced(byte)
    })
}

fn collapse_slowly(trimmed: &str) -> String {
    let mut out = String::with_capacity(trimmed.len());
    for word in trimmed
        .split([' ', '\t', '\n', '\r'])
        .filter(|word| !word.is_empty())
    {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Has this text no tab, line feed or carriage return?
pub(crate) fn is_replaced_text(text: &str) -> bool {
    !text.bytes().any(is_replaced)
}

/// Is this text what `Collapse` would leave of it?
pub(crate) fn is_collapsed_text(text: &str) -> bool {
    !text.starts_with(' ') && !text.ends_with(' ') && is_collapsed_inside(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_work_to_do_is_borrowed() {
        for text in ["", "a", "a b", "  a b \n"] {
            assert!(
                matches!(WhiteSpace::Collapse.apply(text), Cow::Borrowed(_)),
                "{text:?}"
            );
        }
        assert!(matches!(
            WhiteSpace::Replace.apply(" a  b "),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn only_the_white_space_of_xml_is_white_space() {
        let text = "\u{a0}a\u{2003}\u{b}";
        assert_eq!(WhiteSpace::Collapse.apply(text), text);
        assert_eq!(WhiteSpace::Replace.apply(text), text);
    }

    #[test]
    fn a_text_of_white_space_only_collapses_to_nothing() {
        assert_eq!(WhiteSpace::Collapse.apply(" \t\r\n "), "");
        assert_eq!(WhiteSpace::Replace.apply(" \t\r\n"), "    ");
    }
}
