//! One byte at a time: the definition of what the faster twin finds, and the end of what it looks at.

// On x86-64 and aarch64 a part of these is used by tests only.
#![allow(dead_code)]

#[inline]
fn find(bytes: &[u8], special: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|&byte| special(byte))
        .unwrap_or(bytes.len())
}

/// A control character other than tab and line feed, or the first byte of U+FFFE and U+FFFF.
#[inline]
pub(super) fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t' && byte != b'\n') || byte == 0xEF
}

#[inline]
pub(super) fn find_markup(bytes: &[u8]) -> usize {
    find(bytes, |byte| byte == b'<' || byte == b'&')
}

#[inline]
pub(super) fn find_text_special(bytes: &[u8]) -> usize {
    find(bytes, |byte| {
        matches!(byte, b'<' | b'&' | b']') || is_control(byte)
    })
}

#[inline]
pub(super) fn each_text(bytes: &[u8], at: usize, next: impl FnMut(usize, usize) -> Option<usize>) {
    each_text_by(bytes, at, find_text_special, next);
}

/// [`each_text`] with another [`find_text_special`].
#[inline]
pub(super) fn each_text_by(
    bytes: &[u8],
    mut at: usize,
    find: impl Fn(&[u8]) -> usize,
    mut next: impl FnMut(usize, usize) -> Option<usize>,
) {
    while let Some(rest) = bytes.get(at..)
        && let Some(behind) = next(at, find(rest))
    {
        at = behind;
    }
}

#[inline]
pub(super) fn find_value_special(bytes: &[u8], quote: u8) -> usize {
    find(bytes, |byte| {
        byte == quote || matches!(byte, b'<' | b'&' | 0xEF) || byte < 0x20
    })
}

#[inline]
pub(super) fn find_control(bytes: &[u8]) -> usize {
    find(bytes, is_control)
}

#[inline]
pub(super) fn find_text_escape(bytes: &[u8]) -> usize {
    find(bytes, |byte| {
        matches!(byte, b'<' | b'>' | b'&') || is_control(byte)
    })
}

#[inline]
pub(super) fn find_value_escape(bytes: &[u8]) -> usize {
    find(bytes, |byte| {
        matches!(byte, b'<' | b'>' | b'&' | b'"' | 0xEF) || byte < 0x20
    })
}

pub(super) fn find_difference(one: &[u8], other: &[u8]) -> usize {
    let same = |(one, other): (&u8, &u8)| one == other;
    let length = one.len().min(other.len());
    one.iter()
        .zip(other)
        .position(|pair| !same(pair))
        .unwrap_or(length)
}
