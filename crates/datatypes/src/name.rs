//! The types that are names: `Name`, `NCName`, `NMTOKEN`, `language`.
//!
//! Which characters a name may have is what XML 1.0 says, in its fifth edition, as everywhere in
//! this engine: it takes every name of the earlier editions that has been seen in the wild, and
//! more.

/// XML 1.0 fifth edition, production 4: what a name may start with, the colon included.
#[inline]
pub fn is_name_start(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '_' | ':' => true,
        _ if c.is_ascii() => false,
        _ => in_ranges(NAME_START, c),
    }
}

/// XML 1.0 fifth edition, production 4a: what a name may go on with, the colon included.
#[inline]
pub fn is_name_char(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | ':' | '-' | '.' => true,
        _ if c.is_ascii() => false,
        _ => in_ranges(NAME_START, c) || in_ranges(NAME_MORE, c),
    }
}

fn in_ranges(ranges: &[(char, char)], c: char) -> bool {
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&c))
}

/// NameStartChar above ASCII.
pub(crate) const NAME_START: &[(char, char)] = &[
    ('\u{c0}', '\u{d6}'),
    ('\u{d8}', '\u{f6}'),
    ('\u{f8}', '\u{2ff}'),
    ('\u{370}', '\u{37d}'),
    ('\u{37f}', '\u{1fff}'),
    ('\u{200c}', '\u{200d}'),
    ('\u{2070}', '\u{218f}'),
    ('\u{2c00}', '\u{2fef}'),
    ('\u{3001}', '\u{d7ff}'),
    ('\u{f900}', '\u{fdcf}'),
    ('\u{fdf0}', '\u{fffd}'),
    ('\u{10000}', '\u{effff}'),
];

/// What NameChar adds to it above ASCII.
pub(crate) const NAME_MORE: &[(char, char)] = &[
    ('\u{b7}', '\u{b7}'),
    ('\u{300}', '\u{36f}'),
    ('\u{203f}', '\u{2040}'),
];

/// Is this a `Name`?
pub fn is_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_char)
}

/// Is this an `NCName`, a name without colon?
///
/// ```
/// use bsoap_datatypes::name;
///
/// assert!(name::is_nc_name("größe") && name::is_nc_name("_1"));
/// assert!(!name::is_nc_name("a:b") && !name::is_nc_name("1") && !name::is_nc_name(""));
/// ```
pub fn is_nc_name(text: &str) -> bool {
    is_name(text) && !text.contains(':')
}

/// Is this an `NMTOKEN`, one or more name characters?
pub fn is_nm_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_char)
}

/// Is this a `language`: `[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*`?
pub fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let is_part = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let first = parts.next().unwrap_or("");
    is_part(first) && first.bytes().all(|byte| byte.is_ascii_alphabetic()) && parts.all(is_part)
}
