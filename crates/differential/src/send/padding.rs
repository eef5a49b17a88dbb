//! Writes a lexical form to its location, and the padding behind it.
//!
//! ```text
//! width 8   <x>1234567 </x><y>      ->  2.5   <x>2.5     </x><y>     pad inside
//! width 8   <x>1234567</x> <y>      ->  2.5   <x>2.5</x>     <y>     pad behind the end tag, which moves
//! ```

use super::dut_table::Location;
use super::lexical::Number;

/// Writes a lexical form that fits its width. `text` is the text of the segment, from its start.
#[inline]
pub(crate) fn write(text: &mut [u8], location: Location, lexical: &[u8]) {
    let (from, length) = (location.offset, lexical.len());
    if length != location.length {
        pad(text, location, length);
    }
    text[from..from + length].copy_from_slice(lexical);
}

/// Copies the first `length` bytes of a number, by copies of a fixed size.
#[inline(always)]
pub(crate) fn put(text: &mut [u8], number: &Number, length: usize) {
    /// Copies the first and the last bytes as two words, which may overlap. (The compiler would merge copies of single
    /// bytes into a slow call.)
    macro_rules! two_words {
        ($to:ident, $word:ty) => {{
            const SIZE: usize = size_of::<$word>();
            let last = length - SIZE;
            let head = <$word>::from_ne_bytes(*number.first_chunk().expect("32 bytes"));
            let tail = number[last..].first_chunk().expect("a number has a length");
            let tail = <$word>::from_ne_bytes(*tail);
            $to[..SIZE].copy_from_slice(&head.to_ne_bytes());
            $to[last..].copy_from_slice(&tail.to_ne_bytes());
        }};
    }
    let to = &mut text[..length];
    if length >= 16 {
        two_words!(to, u128);
    } else if length >= 8 {
        two_words!(to, u64);
    } else if length >= 4 {
        two_words!(to, u32);
    } else {
        for (to, byte) in to.iter_mut().zip(number) {
            *to = *byte;
        }
    }
}

/// The size of a [`Number`].
const WINDOW: usize = size_of::<Number>();

/// For each length of a number, a mask of the bytes behind it.
static BEHIND: [Number; WINDOW + 1] = {
    let mut masks = [[0; WINDOW]; WINDOW + 1];
    let mut length = 0;
    while length <= WINDOW {
        let mut at = length;
        while at < WINDOW {
            masks[length][at] = 0xff;
            at += 1;
        }
        length += 1;
    }
    masks
};

/// Writes a number and its padding with one store of fixed size; the bytes from `width` on stay the same. (Two overlapping
/// copies would wait for one another.)
#[inline(always)]
fn blend<const N: usize>(window: &mut [u8; N], width: usize, number: &Number, length: usize) {
    let (blank, kept) = (&BEHIND[length], &BEHIND[width]);
    for at in 0..N {
        let value = number[at] & !blank[at] | b' ' & blank[at];
        window[at] = value & !kept[at] | window[at] & kept[at];
    }
}

/// Writes a number and its padding at the start of `text`, by copies of a fixed size. Returns `false`, without a change, if
/// the end tag comes before the padding.
#[inline]
pub(crate) fn put_padded(
    text: &mut [u8],
    location: Location,
    number: &Number,
    length: usize,
) -> bool {
    let is_possible = location.close == 0 && location.width <= WINDOW;
    if is_possible {
        let width = location.width;
        if width <= 16
            && let Some(window) = text.first_chunk_mut::<16>()
        {
            blend(window, width, number, length);
        } else if let Some(window) = text.first_chunk_mut::<WINDOW>() {
            blend(window, width, number, length);
        } else {
            let (value, pad) = text[..width].split_at_mut(length);
            value.copy_from_slice(&number[..length]);
            pad.fill(b' ');
        }
    }
    is_possible
}

/// Moves the end tag, if it comes before the padding, and fills the rest of the width with spaces.
#[inline]
fn pad(text: &mut [u8], location: Location, length: usize) {
    let (from, old, close) = (location.offset, location.length, location.close);
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
        for close in ["", "</i>"] {
            for width in 1..=24 {
                for (length, before) in
                    (1..=width).flat_map(|length| [(length, 1), (length, width)])
                {
                    let location = Location {
                        offset: 0,
                        length: before,
                        width,
                        close: close.len(),
                        pads: true,
                        widest: 24,
                    };
                    let mut text = vec![b'1'; before];
                    text.extend_from_slice(close.as_bytes());
                    text.resize(width + close.len(), b' ');
                    text.resize(width + 60, b'x');
                    if !put_padded(&mut text, location, number, length) {
                        write(&mut text, location, &number[..length]);
                    }
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
