//! Values that do not fit their rooms: one or two steal from a neighbour or shift what follows; if there are more, the chunk
//! is written again in one pass.

use super::compare::Values;
use super::leaves::{Kind, Place, Segment};
use super::lexical::{self, Number, Unwritable};
use super::patch::{Patched, Tools};
use super::policy::Policy;
use super::rewrite::rewrite;
use super::shift::{Resize, shift};
use super::steal::steal;
use super::stuff;

/// A value that does not fit its room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Misfit {
    pub(crate) segment: u32,
    /// Its slot in the segment.
    pub(crate) index: u32,
    /// The length of its text, and the room it is to have.
    pub(crate) length: u32,
    pub(crate) width: u32,
    /// The room it has.
    pub(crate) before: u32,
    /// Which of [`Tools::numbers`] its text is.
    pub(crate) number: u32,
}

impl Misfit {
    /// By how much its room grows.
    #[inline]
    pub(crate) fn grows(&self) -> isize {
        self.width as isize - self.before as isize
    }
}

/// A chunk in which some values do not fit their rooms, and what they are to be.
pub(crate) struct Cramped<'c> {
    pub(crate) text: &'c mut Vec<u8>,
    pub(crate) segments: &'c mut [Segment],
    pub(crate) policy: &'c Policy,
    pub(crate) new: &'c Values<'c>,
}

impl Cramped<'_> {
    /// Gives the misfits room, if they can have it, and writes them.
    pub(crate) fn finish(
        mut self,
        tools: &mut Tools,
        patched: &mut Patched,
    ) -> Result<(), Unwritable> {
        if patched.too_large || tools.misfits.is_empty() {
            return Ok(());
        }
        if have_room(self.text.len(), self.segments, &tools.misfits) {
            self.resize(tools, patched)?;
            patched.too_large = self.text.len() > self.policy.chunks.split;
        } else {
            patched.too_large = true;
        }
        Ok(())
    }

    /// Gives the misfits their rooms, and writes them.
    fn resize(&mut self, tools: &mut Tools, patched: &mut Patched) -> Result<(), Unwritable> {
        let Self {
            text,
            segments,
            policy,
            new,
        } = self;
        if tools.misfits.len() > policy.shifts {
            patched.rewritten += tools.misfits.len();
            return rewrite_misfits(text, segments, new, tools);
        }
        let Tools {
            misfits,
            numbers,
            escaped,
            ..
        } = tools;
        for misfit in misfits.iter() {
            let place = (misfit.segment as usize, misfit.index as usize);
            let room = (misfit.length as usize, misfit.width as usize);
            if take_room(*text, segments, policy, place, room)? {
                patched.stolen += 1;
            } else {
                patched.shifted += 1;
            }
            let segment = &mut segments[misfit.segment as usize];
            write_misfit(text, segment, misfit, new, numbers, escaped)?;
        }
        Ok(())
    }
}

/// Whether the places of all segments can still be counted when the misfits have got their rooms.
fn have_room(length: usize, segments: &[Segment], misfits: &[Misfit]) -> bool {
    let mut rest = misfits;
    while let Some(&Misfit {
        segment: number, ..
    }) = rest.first()
    {
        let own = rest.partition_point(|misfit| misfit.segment <= number);
        let grown: isize = rest[..own].iter().map(Misfit::grows).sum();
        rest = &rest[own..];
        let segment = &segments[number as usize];
        // No value stands behind the end of the text.
        if length.saturating_add_signed(grown) <= segment.furthest() {
            continue;
        }
        let last = (0..segment.slots())
            .rev()
            .find_map(|index| segment.place(index));
        let end = last.map_or(0, |last| last.offset.saturating_add_signed(grown));
        if end > segment.furthest() {
            return false;
        }
    }
    true
}

/// Whether a text of `length` bytes may be written into the room of a value.
#[inline(always)]
pub(crate) fn fits(policy: &Policy, place: Place, length: usize) -> bool {
    let keeps_room = policy.stuffing.keeps_room() && place.may_pad(length);
    length == place.width || length < place.width && keeps_room
}

/// The room that a text of `length` bytes is to have where it does not fit.
#[inline]
pub(crate) fn width(policy: &Policy, place: Place, length: usize) -> usize {
    if place.may_pad(length) {
        policy.stuffing.room(length, place.widest)
    } else {
        length
    }
}

/// Writes the chunk again in one pass, with a room for each misfit.
fn rewrite_misfits(
    text: &mut Vec<u8>,
    segments: &mut [Segment],
    new: &Values<'_>,
    tools: &mut Tools,
) -> Result<(), Unwritable> {
    let Tools {
        misfits,
        numbers,
        escaped,
        spare,
        ..
    } = tools;
    let mut failed = false;
    let mut write = |misfit: &Misfit, kind: Kind, slot: u64, out: &mut [u8]| {
        if kind.is_number() {
            out[..32].copy_from_slice(&numbers[misfit.number as usize]);
        } else {
            match lexical::text(kind, slot, new, escaped) {
                Ok(text) => out[..text.len()].copy_from_slice(text),
                Err(Unwritable) => failed = true,
            }
        }
    };
    let length = rewrite(text, segments, misfits, new.slots, spare, &mut write);
    spare.truncate(length);
    std::mem::swap(text, spare);
    if failed { Err(Unwritable) } else { Ok(()) }
}

/// Gives a value that does not fit another room: from a neighbour, which it says, or by moving what follows. `length` is
/// that of its text, `width` of the room it is to have.
pub(crate) fn take_room(
    text: &mut impl Resize,
    segments: &mut [Segment],
    policy: &Policy,
    (number, index): (usize, usize),
    (length, width): (usize, usize),
) -> Result<bool, Unwritable> {
    let segment = &mut segments[number];
    let Some(place) = segment.place(index) else {
        return Err(Unwritable);
    };
    // Another one may have taken of this one's room.
    let need = length.saturating_sub(place.width);
    if need > 0 && policy.stuffing.keeps_room() {
        let own = &mut text[segment.start..];
        if steal(own, segment, index, need, policy.steal) {
            return Ok(true);
        }
    }
    let reserve = policy.chunks.reserve;
    shift(text, segments, (number, index), width, reserve);
    Ok(false)
}

/// Writes a misfit into the room that it has got.
fn write_misfit(
    text: &mut [u8],
    segment: &mut Segment,
    misfit: &Misfit,
    new: &Values<'_>,
    numbers: &[Number],
    escaped: &mut Vec<u8>,
) -> Result<(), Unwritable> {
    let (index, length) = (misfit.index as usize, misfit.length as usize);
    let Some(place) = segment.place(index) else {
        return Err(Unwritable);
    };
    let kind = segment.kind(index);
    let own = &mut text[segment.start..];
    if kind.is_number() {
        let number = &numbers[misfit.number as usize];
        stuff::place(own, place, &number[..length]);
    } else {
        let slot = new.slots[segment.first + index];
        let octets = new.octets(slot).ok_or(Unwritable)?;
        let is_plain = matches!(kind, Kind::Text | Kind::Attribute) && octets.len() == length;
        let lexical = if is_plain {
            octets // every reference is longer than its character
        } else {
            lexical::text(kind, slot, new, escaped)?
        };
        stuff::place(own, place, lexical);
    }
    segment.resize(index, length, place.width);
    Ok(())
}
