//! Writing a value into its room, and the pad behind it.
//!
//! ```text
//! width 8   <x>1234567 </x><y>      ->  2.5   <x>2.5     </x><y>     pad inside
//! width 8   <x>1234567</x> <y>      ->  2.5   <x>2.5</x>     <y>     pad behind the end tag, which moves
//! ```

use super::leaves::{Cell, Place};
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

/// The same of a number.
#[inline(always)]
pub(crate) fn place_number(text: &mut [u8], place: Place, number: &Number, length: usize) {
    if length == place.length || place.close > 0 {
        if length != place.length {
            pad(text, place, length);
        }
        put(text, place.offset, number, length);
    } else {
        put(
            text,
            place.offset,
            &blanked(number, length),
            length.max(place.length),
        );
    }
}

/// A number where the text before is not known in length: its room is written in full.
#[inline(always)]
pub(crate) fn place_strided(
    text: &mut [u8],
    place: Place,
    cell: &Cell,
    number: &Number,
    length: usize,
) {
    let number = blanked(number, length);
    if place.close == 0 {
        return put(text, place.offset, &number, place.width);
    }
    let room = &mut text[place.offset..place.offset + place.extent()];
    let (value, rest) = room.split_at_mut(length);
    value.copy_from_slice(&number[..length]);
    let (tag, blank) = rest.split_at_mut(place.close);
    tag.copy_from_slice(&cell.close);
    blank.fill(b' ');
}

/// A number with spaces behind it.
#[inline(always)]
fn blanked(number: &Number, length: usize) -> Number {
    let mut blanked = *number;
    for (index, byte) in blanked.iter_mut().enumerate() {
        *byte = if index < length { *byte } else { b' ' };
    }
    blanked
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

/// Copies the first `length` of at most 32 bytes by copies of fixed size.
#[inline(always)]
pub(crate) fn put(text: &mut [u8], at: usize, number: &Number, length: usize) {
    let to = &mut text[at..at + length];
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
