//! Finds the next byte that means something. The rest of the crate looks at those bytes only.
//!
//! Every function has a plain twin in `portable`; on x86-64 and aarch64, `blocks` looks at sixteen bytes together (SSE2 or NEON,
//! which every such machine has), and in long texts at sixty-four (AVX2, if there, or NEON). A property test compares the two.

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
))]
mod blocks;
mod portable;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
#[path = "neon.rs"]
mod registers;
#[cfg(target_arch = "x86_64")]
#[path = "x86.rs"]
mod registers;

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
))]
use blocks as fastest;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
)))]
use portable as fastest;

/// The first `<` or `&`; the length if there is none.
///
/// ```
/// assert_eq!(bsoap_xml::scan::find_markup(b"12.5</x>"), 4);
/// ```
#[inline]
pub fn find_markup(bytes: &[u8]) -> usize {
    fastest::find_markup(bytes)
}

/// The first byte of character data that is not simply copied: `<`, `&`, `]` (of `]]>`), a control character other than
/// tab and line feed, or 0xEF (of U+FFFE and U+FFFF); the length if there is none.
#[inline]
pub fn find_text_special(bytes: &[u8]) -> usize {
    fastest::find_text_special(bytes)
}

/// The first byte of an attribute value that is not simply copied: the quote that ends it, `<`, `&`, a control character
/// (tab and line ends become spaces), or 0xEF; the length if there is none.
#[inline]
pub fn find_value_special(bytes: &[u8], quote: u8) -> usize {
    fastest::find_value_special(bytes, quote)
}

/// The first byte that is not, or may not be, allowed literally in any markup: a control character other than tab and line
/// feed, or 0xEF; the length if there is none.
#[inline]
pub fn find_control(bytes: &[u8]) -> usize {
    fastest::find_control(bytes)
}

/// The first byte that a writer of character data must look at: `<`, `>`, `&`, a control character other than tab and
/// line feed, or 0xEF; the length if there is none.
#[inline]
pub fn find_text_escape(bytes: &[u8]) -> usize {
    fastest::find_text_escape(bytes)
}

/// The first byte that a writer of attribute values must look at: `<`, `>`, `&`, `"`, any control character, or 0xEF; the
/// length if there is none.
#[inline]
pub fn find_value_escape(bytes: &[u8]) -> usize {
    fastest::find_value_escape(bytes)
}

/// How many bytes two texts have in common at their front.
///
/// ```
/// assert_eq!(bsoap_xml::scan::find_difference(b"<x>12.5</x>", b"<x>12.75</x>"), 6);
/// ```
#[inline]
pub fn find_difference(one: &[u8], other: &[u8]) -> usize {
    fastest::find_difference(one, other)
}

/// Consecutive texts: `next` gets the location of each and what [`find_text_special`] finds in it, and returns the
/// location of the next, or nothing to stop. Most are short.
///
/// ```
/// let mut found = Vec::new();
/// bsoap_xml::scan::each_text(b"one,<two,<", 0, |at, length| {
///     found.push((at, length));
///     Some(at + length + 1)
/// });
/// assert_eq!(found, [(0, 4), (5, 4), (10, 0)]);
/// ```
#[inline]
pub fn each_text(bytes: &[u8], at: usize, next: impl FnMut(usize, usize) -> Option<usize>) {
    fastest::each_text(bytes, at, next);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes of which some are special, at all distances.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![80 => Just(b'a'), 2 => any::<u8>(), 1 => prop::sample::select(b"<>&]\"'\t\n\r\x00\x1f\x20\xef".to_vec())];
        prop::collection::vec(byte, 0..400)
    }

    proptest! {
        #[test]
        fn sixteen_bytes_at_a_time_find_what_one_at_a_time_finds(bytes in bytes(), from in 0usize..20) {
            let bytes = &bytes[from.min(bytes.len())..];
            prop_assert_eq!(fastest::find_markup(bytes), portable::find_markup(bytes));
            prop_assert_eq!(fastest::find_text_special(bytes), portable::find_text_special(bytes));
            prop_assert_eq!(fastest::find_value_special(bytes, b'"'), portable::find_value_special(bytes, b'"'));
            prop_assert_eq!(fastest::find_value_special(bytes, b'\''), portable::find_value_special(bytes, b'\''));
            prop_assert_eq!(fastest::find_control(bytes), portable::find_control(bytes));
            prop_assert_eq!(fastest::find_text_escape(bytes), portable::find_text_escape(bytes));
            prop_assert_eq!(fastest::find_value_escape(bytes), portable::find_value_escape(bytes));
        }

        #[test]
        fn texts_one_behind_the_other_are_those_found_alone(bytes in bytes(), from in 0usize..420, step in 1usize..9, most in 0usize..200) {
            let mut found = [Vec::new(), Vec::new()];
            let [fast, plain] = &mut found;
            let note = |found: &mut Vec<_>, at, length| {
                found.push((at, length));
                (found.len() < most).then_some(at + length + step)
            };
            fastest::each_text(&bytes, from, |at, length| note(fast, at, length));
            portable::each_text(&bytes, from, |at, length| note(plain, at, length));
            prop_assert_eq!(&found[0], &found[1]);
        }

        #[test]
        fn texts_differ_where_they_differ_byte_by_byte(bytes in prop::collection::vec(any::<u8>(), 0..1500), at in any::<usize>(), cut in 0usize..3) {
            let mut other = bytes.clone();
            other.truncate(bytes.len().saturating_sub(cut));
            prop_assert_eq!(fastest::find_difference(&bytes, &other), other.len());
            if !other.is_empty() {
                let at = at % other.len();
                other[at] ^= 0x20;
                prop_assert_eq!(fastest::find_difference(&bytes, &other), at);
                prop_assert_eq!(fastest::find_difference(&other, &bytes), at);
            }
            prop_assert_eq!(fastest::find_difference(&bytes, &other), portable::find_difference(&bytes, &other));
        }
    }

    #[test]
    fn every_byte_is_classified_the_same() {
        for byte in 0..=255u8 {
            for at in [0, 3, 15, 16, 20, 127, 128, 160, 191, 192, 250, 299] {
                let mut bytes = [b'a'; 300];
                bytes[at] = byte;
                assert_eq!(
                    fastest::find_text_special(&bytes),
                    portable::find_text_special(&bytes),
                    "{byte:#x}"
                );
                assert_eq!(
                    fastest::find_value_escape(&bytes),
                    portable::find_value_escape(&bytes),
                    "{byte:#x}"
                );
                assert_eq!(
                    fastest::find_text_escape(&bytes),
                    portable::find_text_escape(&bytes),
                    "{byte:#x}"
                );
            }
        }
    }
}
