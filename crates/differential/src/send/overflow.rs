//! Overflows: values whose new lexical form is longer (or, without stuffing, shorter) than their width.

use super::dut_table::{Location, Segment};
use super::policy::Policy;

/// A value that overflows its width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overflow {
    pub(crate) segment: u32,
    /// Its slot in the segment.
    pub(crate) index: u32,
    /// The length of its new lexical form, and the index of that in the list of forms.
    length: u32,
    form: u32,
    /// Its new width, and its old one.
    width: u32,
    before: u32,
}

impl Overflow {
    /// The overflow of a value by a lexical form of `length` bytes.
    #[inline]
    pub(crate) fn of(
        segment: usize,
        index: usize,
        location: Location,
        length: usize,
        policy: &Policy,
    ) -> Self {
        Self {
            segment: segment as u32,
            index: index as u32,
            length: length as u32,
            form: 0,
            width: width(policy, location, length) as u32,
            before: location.width as u32,
        }
    }

    /// Adds it to `overflows`, and its lexical form to `forms`.
    #[inline(never)]
    pub(crate) fn list(mut self, form: &[u8], overflows: &mut Vec<Self>, forms: &mut Vec<u8>) {
        self.form = forms.len() as u32;
        forms.extend_from_slice(form);
        overflows.push(self);
    }

    /// The range of its lexical form in the list of forms.
    pub(crate) fn form(&self) -> std::ops::Range<usize> {
        self.form as usize..(self.form + self.length) as usize
    }

    /// The change of its width.
    pub(crate) fn grows(&self) -> isize {
        self.width as isize - self.before as isize
    }
}

/// Whether a lexical form of `length` bytes fits the width of a value.
#[inline(always)]
pub(crate) fn fits(policy: &Policy, location: Location, length: usize) -> bool {
    let keeps_width = policy.stuffing.keeps_width() && location.may_pad(length);
    length == location.width || length < location.width && keeps_width
}

/// The new width for a lexical form of `length` bytes that does not fit.
#[inline]
pub(crate) fn width(policy: &Policy, location: Location, length: usize) -> usize {
    if location.may_pad(length) {
        policy.stuffing.width(length, location.widest)
    } else {
        length
    }
}

/// Whether the locations of all segments can still be stored after the overflows, which are in order, have been resized in
/// a text of `length` bytes.
pub(crate) fn can_move(segments: &[Segment], overflows: &[Overflow], length: usize) -> bool {
    let mut by_segment = overflows.chunk_by(|one, next| one.segment == next.segment);
    by_segment.all(|own| {
        let grown = own.iter().map(Overflow::grows).sum();
        segments[own[0].segment as usize].can_move(grown, length)
    })
}

/// Writes `text` to `out` with all overflows replaced, in one pass from left to right. (Shifting for each of them would
/// move the rest of the chunk each time.)
pub(crate) fn rewrite(
    text: &[u8],
    segments: &mut [Segment],
    overflows: &[Overflow],
    forms: &[u8],
    out: &mut Vec<u8>,
) {
    let grown: isize = overflows.iter().map(Overflow::grows).sum();
    out.reserve(text.len().saturating_add_signed(grown));
    // The number of bytes of `text` that are done, and by how much the rest is moved in `out`.
    let (mut read, mut moved) = (0, 0);
    let mut rest = overflows;
    for (number, segment) in segments.iter_mut().enumerate() {
        let count = rest.partition_point(|overflow| overflow.segment as usize <= number);
        let (own, later) = rest.split_at(count);
        rest = later;
        let start = segment.start;
        let moved_before = moved;
        segment.start = start.wrapping_add_signed(moved);
        let mut next = 0;
        for overflow in own {
            let index = overflow.index as usize;
            let Some(location) = segment.location(index) else {
                continue;
            };
            let from = start + location.offset;
            let close = from + location.length;
            out.extend_from_slice(&text[read..from]);
            out.extend_from_slice(&forms[overflow.form()]);
            out.extend_from_slice(&text[close..close + location.close]);
            let pad = (overflow.width - overflow.length) as usize;
            out.resize(out.len() + pad, b' ');
            read = from + location.extent();
            segment.move_values(next..index + 1, moved - moved_before);
            segment.resize(index, overflow.length as usize, overflow.width as usize);
            moved += overflow.grows();
            next = index + 1;
        }
        segment.move_values(next..segment.slots(), moved - moved_before);
    }
    out.extend_from_slice(&text[read..]);
}
