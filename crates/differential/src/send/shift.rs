//! Making room, or giving it back, by moving what follows in the chunk. Never in another chunk: that
//! is what chunks are for.

use std::ops::DerefMut;

use bytes::BytesMut;

use super::leaves::Segment;

/// A text that can be made longer and shorter.
pub(crate) trait Resize: DerefMut<Target = [u8]> {
    /// Makes it longer, by blanks; with room for so many bytes more if it has to move.
    fn lengthen(&mut self, by: usize, reserve: usize);

    /// Makes it shorter.
    fn shorten(&mut self, by: usize);
}

impl Resize for Vec<u8> {
    fn lengthen(&mut self, by: usize, reserve: usize) {
        let length = self.len() + by;
        if length > self.capacity() {
            self.reserve_exact(by + reserve);
        }
        self.resize(length, b' ');
    }

    fn shorten(&mut self, by: usize) {
        self.truncate(self.len() - by);
    }
}

impl Resize for BytesMut {
    fn lengthen(&mut self, by: usize, reserve: usize) {
        let length = self.len() + by;
        if length > self.capacity() {
            // By itself it would take twice as much as it has.
            let mut longer = Self::with_capacity(length + reserve);
            longer.extend_from_slice(self);
            *self = longer;
        }
        self.resize(length, b' ');
    }

    fn shorten(&mut self, by: usize) {
        self.truncate(self.len() - by);
    }
}

/// Gives a value's room another width: moves the rest of the chunk's text and the places in it.
/// What the room gains is blank.
pub(crate) fn shift(
    text: &mut impl Resize,
    segments: &mut [Segment],
    (segment, index): (usize, usize),
    width: usize,
    reserve: usize,
) {
    let own = &mut segments[segment];
    let Some(place) = own.place(index) else {
        return;
    };
    let rest = own.start + place.offset + place.extent();
    let delta = width as isize - place.width as isize;
    if delta > 0 {
        let end = text.len();
        text.lengthen(delta as usize, reserve);
        text.copy_within(rest..end, rest + delta as usize);
        text[rest..rest + delta as usize].fill(b' ');
    } else {
        text.copy_within(rest.., rest - delta.unsigned_abs());
        text.shorten(delta.unsigned_abs());
    }
    own.resize(index, place.length.min(width), width);
    own.move_values(index + 1..own.slots(), delta);
    for later in &mut segments[segment + 1..] {
        later.start = later.start.wrapping_add_signed(delta);
    }
}
