//! Changes the width of a value by moving the rest of its chunk (shifting). Other chunks do not move.

use bytes::BytesMut;

use super::dut_table::Segment;

/// Changes the width of a value: moves the rest of the chunk's text, and its locations. Bytes that the value gains are
/// spaces.
pub(crate) fn shift(
    text: &mut BytesMut,
    segments: &mut [Segment],
    (segment, index): (usize, usize),
    width: usize,
    reserve: usize,
) {
    let own = &mut segments[segment];
    let Some(location) = own.location(index) else {
        return;
    };
    let rest = own.start + location.offset + location.extent();
    let delta = width as isize - location.width as isize;
    if delta > 0 {
        let end = text.len();
        lengthen(text, delta as usize, reserve);
        text.copy_within(rest..end, rest + delta as usize);
        text[rest..rest + delta as usize].fill(b' ');
    } else {
        text.copy_within(rest.., rest - delta.unsigned_abs());
        text.truncate(text.len() - delta.unsigned_abs());
    }
    own.resize(index, location.length.min(width), width);
    own.move_values(index + 1..own.slots(), delta);
    for later in &mut segments[segment + 1..] {
        later.start = later.start.wrapping_add_signed(delta);
    }
}

/// Appends spaces to a text. If that needs new memory, `reserve` more bytes are allocated.
fn lengthen(text: &mut BytesMut, by: usize, reserve: usize) {
    let length = text.len() + by;
    if length > text.capacity() {
        // By itself the buffer would double its capacity.
        let mut longer = BytesMut::with_capacity(length + reserve);
        longer.extend_from_slice(text);
        *text = longer;
    }
    text.resize(length, b' ');
}
