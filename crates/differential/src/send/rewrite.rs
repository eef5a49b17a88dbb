//! Many values of a chunk do not fit: the chunk is written again in one pass from left to right, into
//! a buffer that is used again and again. What lies between two of them is copied as it is.
//!
//! Shifting for each of them would move the rest of the chunk each time.

use super::leaves::{Kind, Leaves, Segment};
use super::patch::Misfit;

/// Bytes behind the end of the output that copies of fixed size may write.
const SLACK: usize = 64;
/// The size of such copies.
const FIXED: usize = 32;

/// Writes `text` with the misfits in it replaced to the front of `out`, and returns the length.
/// `write` is called with each misfit, its kind and slot, and a place for its text, of the length that
/// the misfit says and 32 bytes that may be overwritten.
pub(crate) fn rewrite(
    text: &[u8],
    segments: &mut [Segment],
    misfits: &[Misfit],
    slots: &[u64],
    out: &mut Vec<u8>,
    write: &mut impl FnMut(&Misfit, Kind, u64, &mut [u8]),
) -> usize {
    let grown: isize = misfits.iter().map(Misfit::grows).sum();
    let length = text.len().wrapping_add_signed(grown);
    if out.len() < length + SLACK {
        out.resize(length + SLACK, 0);
    }
    let mut pass = Pass {
        text,
        out,
        read: 0,
        written: 0,
    };
    let mut misfits = misfits;
    for (number, segment) in segments.iter_mut().enumerate() {
        let own = misfits.partition_point(|misfit| misfit.segment as usize <= number);
        let (own, rest) = misfits.split_at(own);
        misfits = rest;
        pass.segment(segment, own, slots, write);
    }
    pass.copy(text.len());
    debug_assert_eq!(pass.written, length);
    length
}

struct Pass<'t> {
    text: &'t [u8],
    out: &'t mut [u8],
    /// How far the old text is done.
    read: usize,
    written: usize,
}

impl Pass<'_> {
    fn segment(
        &mut self,
        segment: &mut Segment,
        misfits: &[Misfit],
        slots: &[u64],
        write: &mut impl FnMut(&Misfit, Kind, u64, &mut [u8]),
    ) {
        let start = segment.start;
        let moved = self.delta();
        let mut next = 0;
        for misfit in misfits {
            let index = misfit.index as usize;
            let Some(place) = segment.place(index) else {
                continue;
            };
            let (length, width) = (misfit.length as usize, misfit.width as usize);
            let from = start + place.offset;
            self.copy(from);
            segment.move_values(next..index + 1, self.delta() - moved);
            next = index + 1;
            let at = self.written;
            let slot = slots[segment.first + index];
            write(misfit, segment.kind(index), slot, &mut self.out[at..]);
            let mut end = at + length;
            if place.close > 0 {
                let tag = from + place.length;
                self.out[end..end + place.close]
                    .copy_from_slice(&self.text[tag..tag + place.close]);
                end += place.close;
            }
            if width > length {
                self.out[end..end + width - length].fill(b' ');
            }
            self.read = from + place.extent();
            self.written = at + width + place.close;
            segment.resize(index, length, width);
        }
        let last = self.delta() - moved;
        if !matches!(&segment.leaves, Leaves::Table(table) if table.is_strided()) {
            segment.move_values(next..segment.slots(), last);
        }
        segment.start = start.wrapping_add_signed(moved);
    }

    /// How much further the new text is than the old.
    #[inline]
    fn delta(&self) -> isize {
        self.written as isize - self.read as isize
    }

    /// Copies the old text up to `to`.
    #[inline]
    fn copy(&mut self, to: usize) {
        let length = to - self.read;
        if length <= FIXED && self.read + FIXED <= self.text.len() {
            self.out[self.written..self.written + FIXED]
                .copy_from_slice(&self.text[self.read..self.read + FIXED]);
        } else {
            self.out[self.written..self.written + length]
                .copy_from_slice(&self.text[self.read..to]);
        }
        self.written += length;
        self.read = to;
    }
}
