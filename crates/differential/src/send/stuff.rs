//! Writing a value into its room, and the pad behind it.
//!
//! ```text
//! width 8   <x>1234567 </x><y>      ->  2.5   <x>2.5     </x><y>     pad inside
//! width 8   <x>1234567</x> <y>      ->  2.5   <x>2.5</x>     <y>     pad behind the end tag, which moves
//! ```

use super::leaves::Place;
use super::lexical::Number;

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
pub(crate) const WINDOW: usize = 32;

/// Formats a number into its room at the start of `text`, which goes on for two windows at least, and
/// blanks the rest of the room. If it is longer, the number is returned, and what follows the room is as
/// it was.
///
/// The formatter writes more than the number takes: what follows is put back, by copies of fixed size.
#[inline(always)]
pub(crate) fn write_number(
    text: &mut [u8],
    width: usize,
    format: impl FnOnce(&mut Number) -> usize,
) -> Result<usize, (Number, usize)> {
    let mut rest = [0; WINDOW];
    rest.copy_from_slice(&text[width..width + WINDOW]);
    let Some(room) = text.first_chunk_mut::<WINDOW>() else {
        unreachable!("there are two windows")
    };
    let length = format(room);
    let mut result = Ok(length);
    if length != width {
        if length < width {
            text[length..length + WINDOW].copy_from_slice(&[b' '; WINDOW]);
        } else {
            result = Err((*room, length));
        }
    }
    text[width..width + WINDOW].copy_from_slice(&rest);
    result
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
