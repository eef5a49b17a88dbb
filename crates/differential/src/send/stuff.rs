//! Writing a value into its room, and the pad behind it.
//!
//! ```text
//! width 8   <x>1234567 </x><y>      ->  2.5   <x>2.5     </x><y>     pad inside
//! width 8   <x>1234567</x> <y>      ->  2.5   <x>2.5</x>     <y>     pad behind the end tag, which moves
//! ```

use super::leaves::Place;
use super::lexical::Number;

/// Writes a text that fits. `text` is the segment's text, from its start.
#[inline]
pub(crate) fn place(text: &mut [u8], place: Place, lexical: &[u8]) {
    let (from, length) = (place.offset, lexical.len());
    if length != place.length {
        pad(text, place, length);
    }
    text[from..from + length].copy_from_slice(lexical);
}

/// Copies the first `length` of at most 32 bytes by copies of fixed size.
#[inline(always)]
pub(crate) fn put(text: &mut [u8], number: &Number, length: usize) {
    let to = &mut text[..length];
    if length >= 16 {
        two::<16>(to, number, length);
    } else if length >= 8 {
        two::<8>(to, number, length);
    } else if length >= 4 {
        two::<4>(to, number, length);
    } else {
        for (to, byte) in to.iter_mut().zip(number) {
            *to = *byte;
        }
    }
}

/// The first and the last `N` bytes, which may overlap.
#[inline(always)]
fn two<const N: usize>(to: &mut [u8], number: &Number, length: usize) {
    let last = length - N;
    to[..N].copy_from_slice(&number[..N]);
    to[last..last + N].copy_from_slice(&number[last..last + N]);
}

/// Writes a number of at most `width` bytes at the start of `text`, the end tag if that comes before the pad, and the pad.
#[inline]
pub(crate) fn put_padded(
    text: &mut [u8],
    width: usize,
    close: &[u8],
    number: &Number,
    length: usize,
) {
    if close.is_empty() && width <= number.len() {
        let mut padded = [b' '; size_of::<Number>()];
        put(&mut padded, number, length);
        put(text, &padded, width);
    } else {
        let (value, rest) = text[..width + close.len()].split_at_mut(length);
        let (tag, pad) = rest.split_at_mut(close.len());
        value.copy_from_slice(&number[..length]);
        tag.copy_from_slice(close);
        pad.fill(b' ');
    }
}

/// Moves the end tag, if it comes before the pad, and blanks what is left of the width.
#[inline]
fn pad(text: &mut [u8], place: Place, length: usize) {
    let (from, old, close) = (place.offset, place.length, place.close);
    if close > 0 {
        text.copy_within(from + old..from + old + close, from + length);
    }
    text[from + length + close..from + old.max(length) + close].fill(b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_fills_its_width_and_touches_nothing_else() {
        let number: &Number = b"-123456789.0123456789E+10garbage";
        for close in ["", "</i>", "</a-name-that-is-longer-than-copies-are>"] {
            for width in (1..=24).chain([40]) {
                for length in 1..=width.min(24) {
                    let mut text = vec![b'x'; width + 60];
                    put_padded(&mut text, width, close.as_bytes(), number, length);
                    let mut expected = number[..length].to_vec();
                    expected.extend_from_slice(close.as_bytes());
                    expected.resize(width + close.len(), b' ');
                    expected.resize(width + 60, b'x');
                    assert_eq!(text, expected, "{close} {width} {length}");
                }
            }
        }
    }
}
