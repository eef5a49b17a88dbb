//! Writing a value into its room, and the pad behind it.
//!
//! ```text
//! width 8   <x>1234567 </x><y>      ->  2.5   <x>2.5     </x><y>     pad inside
//! width 8   <x>1234567</x> <y>      ->  2.5   <x>2.5</x>     <y>     pad behind the end tag, which moves
//! ```

use super::leaves::{Cell, Place};
use super::lexical::Number;
use super::numbers::Grid;

/// The longest end tag that moves by copies of fixed size.
const TAG: usize = 32;

/// Writes a text that fits. `text` is the segment's text, from its start.
#[inline]
pub(crate) fn place(text: &mut [u8], place: Place, lexical: &[u8]) {
    let (from, length) = (place.offset, lexical.len());
    if length != place.length {
        pad(text, place, length);
    }
    text[from..from + length].copy_from_slice(lexical);
}

/// The size of copies of numbers, whatever their length.
const WINDOW: usize = 32;

/// For each length of a number, which of the bytes are behind it.
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

/// Writes a number of at most `width` bytes at the start of `text`, and blanks behind it up to `width`.
#[inline(always)]
pub(crate) fn lay(text: &mut [u8], width: usize, number: &Number, length: usize) {
    if width <= 16
        && let Some(room) = text.first_chunk_mut::<16>()
    {
        blend(room, width, number, length);
    } else if width <= WINDOW
        && let Some(room) = text.first_chunk_mut::<WINDOW>()
    {
        blend(room, width, number, length);
    } else {
        let (value, pad) = text[..width].split_at_mut(length);
        value.copy_from_slice(&number[..length]);
        pad.fill(b' ');
    }
}

/// One store of fixed size: number, blanks, and from `width` on what was there.
#[inline(always)]
fn blend<const N: usize>(room: &mut [u8; N], width: usize, number: &Number, length: usize) {
    let (blank, kept) = (&BEHIND[length], &BEHIND[width]);
    for at in 0..N {
        let value = number[at] & !blank[at] | b' ' & blank[at];
        room[at] = value & !kept[at] | room[at] & kept[at];
    }
}

/// The rooms of a table of fixed stride.
#[derive(Debug)]
pub(crate) struct Rows<'c> {
    cells: &'c [Cell],
    /// The cells' end tags, where they stand before the pad, with blanks behind them.
    tags: Vec<[u8; TAG]>,
    stride: usize,
    grid: Grid,
}

impl<'c> Rows<'c> {
    /// Of these cells.
    pub(crate) fn of(cells: &'c [Cell], stride: usize) -> Self {
        let tag = |cell: &Cell| {
            let mut tag = [b' '; TAG];
            if let Some(front) = tag.get_mut(..cell.close.len()) {
                front.copy_from_slice(&cell.close);
            }
            tag
        };
        let has_tags = cells.iter().any(|cell| !cell.close.is_empty());
        Self {
            cells,
            tags: if has_tags {
                cells.iter().map(tag).collect()
            } else {
                Vec::new()
            },
            stride,
            grid: Grid::of(cells.len()),
        }
    }

    /// Writes numbers into their rooms. `text` is the table's; the slots count from its first. Says whether all fit; if
    /// not, the text is good for nothing.
    pub(crate) fn lay<'n>(
        &self,
        text: &mut [u8],
        numbers: impl Iterator<Item = (usize, &'n Number, usize)>,
    ) -> bool {
        for (slot, number, length) in numbers {
            let (row, column) = match self.cells {
                [_] => (slot, 0),
                _ => self.grid.row_and_column(slot as u32),
            };
            let cell = &self.cells[column];
            let width = usize::from(cell.widest);
            if length > width {
                return false;
            }
            let text = &mut text[row * self.stride + usize::from(cell.offset)..];
            match self.tags.get(column) {
                Some(tag) if !cell.close.is_empty() => {
                    lay_tagged(text, cell, tag, number, length);
                }
                _ => lay(text, width, number, length),
            }
        }
        true
    }
}

/// The same with an end tag between number and pad. Copies of fixed size write too much, which is put back.
#[inline(always)]
fn lay_tagged(text: &mut [u8], cell: &Cell, tag: &[u8; TAG], number: &Number, length: usize) {
    let extent = usize::from(cell.widest) + cell.close.len();
    let window = text.get_mut(..extent + WINDOW);
    let (Some(window), true) = (window, cell.close.len() <= TAG) else {
        let room = &mut text[..extent];
        let end = length + cell.close.len();
        room[..length].copy_from_slice(&number[..length]);
        room[length..end].copy_from_slice(&cell.close);
        room[end..].fill(b' ');
        return;
    };
    let mut rest = [0; WINDOW];
    rest.copy_from_slice(&window[extent..]);
    window[..WINDOW].copy_from_slice(number);
    window[length..length + TAG].copy_from_slice(tag);
    if extent > length + TAG {
        window[length + TAG..length + TAG + WINDOW].fill(b' ');
    }
    window[extent..].copy_from_slice(&rest);
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

/// Writes a number that fits at the start of `text`. Where the text before is not known in length, the
/// end tag is given.
pub(crate) fn place_number(
    text: &mut [u8],
    place: Place,
    tag: Option<&[u8]>,
    number: &Number,
    length: usize,
) {
    let room = &mut text[..place.extent()];
    if let Some(tag) = tag {
        room[length..length + place.close].copy_from_slice(tag);
        room[length + place.close..].fill(b' ');
    } else {
        let place = Place { offset: 0, ..place };
        pad(room, place, length);
    }
    room[..length].copy_from_slice(&number[..length]);
}

/// Moves the end tag, if it stands before the pad, and blanks what is left of the room.
#[inline]
fn pad(text: &mut [u8], place: Place, length: usize) {
    let (from, old) = (place.offset, place.length);
    let close = place.close;
    if close > 0 {
        let tag = from + old..from + old + close;
        if close <= TAG && from + old.max(length) + TAG <= text.len() && length < old {
            // Towards the front, what a copy of fixed size writes too much is old or blanked below.
            move_tag(text, from + old, from + length, close);
        } else {
            text.copy_within(tag, from + length);
        }
    }
    let blank = from + length + close..from + old.max(length) + close;
    text[blank].fill(b' ');
}

#[inline]
fn move_tag(text: &mut [u8], from: usize, to: usize, close: usize) {
    let mut tag = [0; TAG];
    tag.copy_from_slice(&text[from..from + TAG]);
    text[to..to + close].copy_from_slice(&tag[..close]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::leaves::Kind;

    const NUMBER: &Number = b"-123456789.0123456789E+10garbage";

    #[test]
    fn a_number_fills_its_room_and_touches_nothing_else() {
        for size in [40, 24, 16, 11] {
            for width in 1..=size.min(24) {
                for length in 1..=width {
                    let mut text = vec![b'x'; size];
                    lay(&mut text, width, NUMBER, length);
                    let mut expected = NUMBER[..length].to_vec();
                    expected.resize(width, b' ');
                    expected.resize(size, b'x');
                    assert_eq!(text, expected, "{size} {width} {length}");
                }
            }
        }
    }

    #[test]
    fn rows_are_laid_with_tags_before_or_behind_the_pad() {
        for close in [
            "",
            "</i>",
            "</a-long-name-that-still-moves>",
            "</a-name-that-is-longer-than-copies-are>",
        ] {
            let cell = |offset, widest| Cell {
                kind: Kind::Signed,
                pads: true,
                widest,
                close: close.as_bytes().into(),
                offset,
            };
            let extents = [11 + close.len(), 24 + close.len()];
            let cells = [cell(1, 11), cell(2 + extents[0] as u16, 24)];
            let stride = extents[0] + extents[1] + 2;
            let rows = Rows::of(&cells, stride);
            let mut text = vec![b'|'; 3 * stride + 1];
            let lengths = [1, 24, 11, 2, 5, 20];
            let numbers = lengths.into_iter().enumerate();
            let numbers = numbers.map(|(slot, length)| (slot, NUMBER, length));
            assert!(rows.lay(&mut text, numbers));
            let mut expected = vec![b'|'];
            for (number, length) in lengths.into_iter().enumerate() {
                let begin = expected.len();
                expected.extend_from_slice(&NUMBER[..length]);
                expected.extend_from_slice(close.as_bytes());
                expected.resize(begin + extents[number % 2], b' ');
                expected.push(b'|');
            }
            assert_eq!(
                String::from_utf8_lossy(&text),
                String::from_utf8_lossy(&expected)
            );
            assert!(!rows.lay(&mut text, [(2, NUMBER, 12)].into_iter()));
        }
    }
}
