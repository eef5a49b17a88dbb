//! Many values of a chunk do not fit: the chunk is written again in one pass from left to right, into
//! a buffer that is used again and again. What lies between two of them is copied as it is.
//!
//! Shifting for each of them would move the rest of the chunk each time.

use bsoap_xml::scan;

use super::compare::{Values, range};
use super::leaves::{Kind, Leaves, Mixed, Segment};
use super::lexical::{self, Unwritable};
use super::misfit::Misfit;
use super::numbers::Fresh;

/// Bytes behind the end of the output that copies of fixed size may write.
const SLACK: usize = 192;
/// The size of such copies, where little stands between two values that are written again, and where more
/// does.
const FIXED: usize = 32;
const FAR: usize = 128;

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
    pass.copy::<FIXED>(text.len());
    debug_assert_eq!(pass.written, length);
    length
}

/// A chunk on its way from one text to the next, table by table: what stands before `read` is written, what stands behind
/// may still be changed where it lies.
#[derive(Debug, Default)]
pub(crate) struct Rewrite {
    /// A buffer; what is in it means something if `read` is known.
    pub(crate) out: Vec<u8>,
    read: Option<usize>,
}

impl Rewrite {
    /// Of which nothing is written yet, into a buffer.
    pub(crate) fn into(out: Vec<u8>) -> Self {
        Self { out, read: None }
    }

    /// How much further what stands behind is in the new text than in the old.
    #[inline]
    pub(crate) fn moved(&self) -> isize {
        let moved = |read| self.out.len() as isize - read as isize;
        self.read.map_or(0, moved)
    }

    /// Copies the old text up to `to`.
    pub(crate) fn up_to(&mut self, text: &[u8], to: usize) {
        if self.read.is_none() {
            self.out.clear();
            self.room(text.len() + SLACK);
        }
        let read = self.read.unwrap_or(0);
        self.out.extend_from_slice(&text[read..to]);
        self.read = Some(to);
    }

    /// The old text up to `to` is written in other words.
    pub(crate) fn skip_to(&mut self, to: usize) {
        self.read = Some(to);
    }

    /// Takes room for so many bytes more.
    fn room(&mut self, more: usize) {
        if self.out.capacity() - self.out.len() < more {
            self.out.reserve_exact(more);
        }
    }

    /// Makes `text` the new text, if there is one. Returns by how much it has grown.
    pub(crate) fn finish(&mut self, text: &mut Vec<u8>) -> isize {
        if self.read.is_none() {
            return 0;
        }
        self.up_to(text, text.len());
        self.read = None;
        std::mem::swap(text, &mut self.out);
        text.len() as isize - self.out.len() as isize
    }

    /// Writes a table in which every number has as much room as it takes, of which those of `fresh` have changed and make it
    /// `grown` bytes longer. Places are those of all its numbers.
    pub(crate) fn table(
        &mut self,
        text: &[u8],
        start: usize,
        (offsets, lengths): (&mut [u16], &mut [u8]),
        fresh: &mut Fresh,
        grown: isize,
    ) {
        let (Some((first, ..)), Some((&offset, &length))) =
            (fresh.iter().next(), offsets.last().zip(lengths.last()))
        else {
            return;
        };
        let from = start + usize::from(offsets[first]);
        let to = start + usize::from(offset) + usize::from(length);
        self.up_to(text, from);
        let begin = self.out.len();
        let end = begin + (to - from).wrapping_add_signed(grown);
        self.room(end - begin + SLACK);
        self.out.resize(end + SLACK, 0);
        let mut pass = Pass {
            text,
            out: &mut self.out,
            read: from,
            written: begin,
        };
        let places = (start, to, &*offsets, &*lengths);
        if fresh.are_dense() {
            pass.numbers::<FIXED>(places, fresh);
        } else {
            pass.numbers::<FAR>(places, fresh);
        }
        debug_assert_eq!(pass.written, end);
        self.out.truncate(end);
        self.read = Some(to);
        replace(offsets, lengths, fresh);
    }
}

/// Gives the numbers of a table the places that they have when those of `fresh` have got their lengths: in a pass of its
/// own, which has no branches.
fn replace(offsets: &mut [u16], lengths: &mut [u8], fresh: &mut Fresh) {
    let mut all = std::mem::take(&mut fresh.all);
    all.clear();
    all.extend_from_slice(lengths);
    for (index, _, length) in fresh.iter() {
        all[index] = length as u8;
    }
    let mut moved = 0_u16;
    for ((offset, length), &now) in offsets.iter_mut().zip(lengths).zip(&all) {
        *offset = offset.wrapping_add(moved);
        moved = moved.wrapping_add(u16::from(now).wrapping_sub((*length).into()));
        *length = now;
    }
    fresh.all = all;
}

/// Writes all values of a mixed segment again, in which every value has as much room as it takes. Nothing is compared;
/// `new` are the segment's values. Returns by how much the text has grown.
pub(crate) fn rewrite_mixed(
    text: &mut Vec<u8>,
    start: usize,
    mixed: &mut Mixed,
    new: &Values<'_>,
    escaped: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<isize, Unwritable> {
    let mut read = 0;
    let mut written = 0;
    let mut clean = Clean::default();
    let mut last = 0;
    let places = mixed.offsets.iter_mut().zip(&mut mixed.entries);
    for ((offset, entry), &slot) in places.zip(new.slots) {
        if !entry.kind.has_place() {
            *offset = last;
            continue;
        }
        let from = start + *offset as usize;
        let (gap, behind) = (from - read, from + entry.length as usize);
        let value = match entry.kind {
            Kind::Text if clean.has(slot, new.heap) => new.octets(slot).ok_or(Unwritable)?,
            kind if kind.is_number() => {
                escaped.resize(FIXED, 0);
                let Some(room) = escaped.first_chunk_mut() else {
                    return Err(Unwritable);
                };
                let length = lexical::number(kind, slot, room);
                &escaped[..length]
            }
            kind => lexical::text(kind, slot, new, escaped)?,
        };
        let need = written + gap + value.len() + SLACK;
        if out.len() < need {
            out.resize(need.max(text.len() + text.len() / 4), 0);
        }
        let short = text.get(read..).and_then(<[u8]>::first_chunk::<FIXED>);
        match short {
            Some(short) if gap <= FIXED => {
                out[written..written + FIXED].copy_from_slice(short);
            }
            _ => out[written..written + gap].copy_from_slice(&text[read..from]),
        }
        written += gap;
        copy_value(value, slot, new.heap, entry.kind, &mut out[written..]);
        last = (written - start) as u32;
        *offset = last;
        (entry.length, entry.width) = (value.len() as u32, value.len() as u32);
        written += value.len();
        read = behind;
    }
    let length = written + text.len() - read;
    out.resize(length.max(out.len()), 0);
    out[written..length].copy_from_slice(&text[read..]);
    out.truncate(length);
    std::mem::swap(text, out);
    Ok(length as isize - out.len() as isize)
}

/// Copies a value to the front of `out`, by a copy of fixed size where it is short and lies in the heap as it is written.
#[inline(always)]
fn copy_value(value: &[u8], slot: u64, heap: &[u8], kind: Kind, out: &mut [u8]) {
    let (start, length) = range(slot);
    if kind == Kind::Text
        && length == value.len()
        && length <= FIXED
        && let Some(short) = heap.get(start..).and_then(<[u8]>::first_chunk::<FIXED>)
    {
        // Every reference is longer than its character, so this is the value.
        out[..FIXED].copy_from_slice(short);
    } else {
        out[..value.len()].copy_from_slice(value);
    }
}

/// A stretch of the heap without anything that has to be escaped in content.
#[derive(Clone, Copy, Default)]
struct Clean {
    start: usize,
    end: usize,
}

impl Clean {
    /// Whether the text of a slot needs no reference. Texts mostly lie in order, so one long look ahead does for many.
    #[inline]
    fn has(&mut self, slot: u64, heap: &[u8]) -> bool {
        const AHEAD: usize = 2048;
        let (start, length) = range(slot);
        if start >= self.start && start + length <= self.end {
            return true;
        }
        // Where they do not, each is looked at by itself.
        let ahead = if start >= self.start { AHEAD } else { 0 };
        let until = start.saturating_add(ahead.max(length)).min(heap.len());
        let ahead = heap.get(start..until).unwrap_or_default();
        *self = Self {
            start,
            end: start + scan::find_text_escape(ahead),
        };
        start + length <= self.end
    }
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
            self.copy::<FIXED>(from);
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

    /// Writes the text of a table, up to `to`, with numbers of it replaced.
    #[inline(always)]
    fn numbers<const STEP: usize>(
        &mut self,
        (start, to, offsets, lengths): (usize, usize, &[u16], &[u8]),
        fresh: &Fresh,
    ) {
        for (index, number, length) in fresh.iter() {
            let from = start + usize::from(offsets[index]);
            self.copy::<STEP>(from);
            self.out[self.written..self.written + number.len()].copy_from_slice(number);
            self.written += length;
            self.read = from + usize::from(lengths[index]);
        }
        self.copy::<STEP>(to);
    }

    /// Copies the old text up to `to`, by copies of fixed size where it is not far.
    #[inline(always)]
    fn copy<const STEP: usize>(&mut self, to: usize) {
        let length = to - self.read;
        if length <= 4 * STEP && to + STEP <= self.text.len() {
            let mut done = 0;
            while done < length {
                let (read, written) = (self.read + done, self.written + done);
                self.out[written..written + STEP].copy_from_slice(&self.text[read..read + STEP]);
                done += STEP;
            }
        } else {
            self.out[self.written..self.written + length]
                .copy_from_slice(&self.text[self.read..to]);
        }
        self.written += length;
        self.read = to;
    }
}
