//! Restructuring: if markup differs, the decoder reads on from a checkpoint before the difference, until its state is that of
//! a checkpoint of the old text behind the difference.
//!
//! ```text
//! old   ──|────────x──────|──────────────|───────
//!         c1       ·      c2             c3
//! new   ──|────────x━━━━━━━━━━━|─────────────────
//!         resume            the text at c2 was found here: is the decoder in the state c2?
//! ```
//!
//! The decoder writes to a new Record, behind the old slots that come before. Slots therefore have their final numbers. Slots
//! and checkpoints behind the place where the texts are resynchronised are [renumbered](Carry).

use bsoap_codec::decode::{Decoder, Piece};
use memchr::{memmem, memrchr};

use super::pass::Pass;
use crate::receive::carry::Carry;
use crate::receive::change::Region;
use crate::receive::received::Fail;
use crate::receive::text::cut;

/// A place of the old text is found in the new text by this number of equal bytes.
const ANCHOR: usize = 48;

/// The number of checkpoints that are searched for to decide whether anything is the same.
const LOST: u32 = 8;

/// Searching for them takes as long as decoding a short message. If nothing was found in the previous message, only one
/// message in this number is searched.
const WARY: u32 = 32;

/// The number of bytes that are searched for the first place; it doubles with each further place.
const WINDOW: usize = 64 << 10;

/// In a sliding window, new checkpoints are at least this number of bytes apart.
const DENSE: usize = 256;

/// In a sliding window, at most this number of checkpoints are that near to one another. A checkpoint of a deeply nested
/// message takes kilobytes.
const MAX_DENSE: usize = 16;

/// A checkpoint is taken before a difference if that saves reading this number of bytes.
const WORTH: usize = 64;

/// The distance in bytes between new checkpoints.
struct Spacing {
    /// The distance before the offset `until` of the new text.
    near: usize,
    until: usize,
    /// The distance behind it.
    far: usize,
}

impl Spacing {
    /// The same distance everywhere.
    fn even(distance: usize) -> Self {
        Self {
            near: distance,
            until: 0,
            far: distance,
        }
    }

    /// The first checkpoints behind `from` are `by` bytes apart, or nearly.
    fn denser_at(self, from: usize, by: usize) -> Self {
        let near = by.clamp(DENSE.min(self.far), self.far);
        Self {
            near,
            until: from.saturating_add(MAX_DENSE * near),
            far: self.far,
        }
    }

    fn at(&self, offset: usize) -> usize {
        match offset < self.until {
            true => self.near,
            false => self.far,
        }
    }
}

impl Pass {
    /// Reads on with the decoder from a checkpoint before `n`. Afterwards, `o` and `n` are at the place where the texts are
    /// resynchronised, or the whole text has been read.
    pub(super) fn restructure(
        &mut self,
        decoder: &mut Decoder,
        old: &[u8],
        new: &[u8],
    ) -> Result<(), Fail> {
        if !self.history.warnings.is_empty() {
            // Their paths may change, and markup with warnings may go.
            return Err(Fail);
        }
        let (shift, hint) = (self.shift(), self.run.hint.take());
        if self.is_lost(old, new, hint) {
            self.gave_up = true;
            return Err(Fail);
        }
        self.resume(decoder)?;
        let mut spacing = Spacing::even(self.policy.spacing(new.len()));
        self.hold_difference(decoder, new, &spacing)?;
        if let Some(hint) = hint
            && self.policy.spacing.is_none()
        {
            // A window that slides will slide on, to a place as near.
            let by = (hint.wrapping_sub(shift) as isize).unsigned_abs();
            spacing = spacing.denser_at(decoder.offset() as usize, by);
        }
        let (mut index, mut step, mut tries) = (self.next, 1, 0);
        if let Some(hint) = hint {
            // Checkpoints of rows that were removed are not searched for.
            let from = (self.n as u64).wrapping_sub(hint as u64);
            let rest = &self.history.checkpoints[self.next..];
            index += rest.partition_point(|it| (it.offset().wrapping_sub(from) as i64) < 0);
        }
        while !self.gave_up && index < self.history.checkpoints.len() {
            let place = self.history.checkpoints[index].offset() as usize;
            if let Some(target) = self.find(old, new, place, decoder.offset() as usize, tries, hint)
            {
                self.run_to(decoder, new, target, &spacing)?;
                if decoder.offset() == target as u64
                    && decoder.is_between()
                    && self.join(decoder, index)
                {
                    if hint.is_some() && self.shift() == shift {
                        self.run.false_alarm();
                    }
                    return Ok(());
                }
            }
            tries += 1;
            index += step;
            // The further away a place is, the larger is the step to the next.
            step += usize::from(tries % 2 == 0) * step;
        }
        self.run_out(decoder, new, &spacing)
    }

    /// Reads up to the last tag before the difference, and takes a checkpoint there: the next message often differs at the same
    /// place, or a few rows later.
    fn hold_difference(
        &mut self,
        decoder: &mut Decoder,
        new: &[u8],
        spacing: &Spacing,
    ) -> Result<(), Fail> {
        let from = decoder.offset() as usize;
        let Some(tag) = new.get(from..self.n).and_then(|text| memrchr(b'<', text)) else {
            return Ok(());
        };
        if tag < WORTH {
            return Ok(());
        }
        self.run_to(decoder, new, from + tag, spacing)?;
        if decoder.offset() == (from + tag) as u64 && decoder.is_between() {
            self.taken.push(decoder.checkpoint(&self.fresh));
            // The one that was taken here for the last message is not needed any more. If the one before it is dropped, their
            // distance is not known: one offset is of the old text, the other of the new one.
            let offset = |index: usize| self.history.checkpoints[index].offset() as usize;
            let is_dropped =
                |index: usize| self.dropped.last().is_some_and(|it| it.contains(&index));
            if let Some(last) = self.next.checked_sub(1).filter(|&last| last > 0)
                && !is_dropped(last - 1)
                && offset(last) < offset(last - 1) + spacing.at(offset(last)) / 2
            {
                self.dropped.push(last..last + 1);
            }
        }
        Ok(())
    }

    /// Whether nearly nothing is the same, so that the whole message should be decoded: no checkpoint is valid except in the
    /// first quarter, and the text at the next ones is not found, or only in the last quarter. Always `false` if the user
    /// chose the distance of checkpoints.
    fn is_lost(&mut self, old: &[u8], new: &[u8], hint: Option<usize>) -> bool {
        let little = new.len() / 4;
        let held = self.next.checked_sub(1);
        let held = held.map_or(0, |last| self.history.checkpoints[last].offset() as usize);
        if !self.regions.is_empty() || held > little || self.policy.spacing.is_some() {
            self.lost = 0;
            return false;
        }
        let is_wary = !self.lost.is_multiple_of(WARY);
        let behind = self.history.checkpoints.get(self.next..);
        let mut behind = behind.unwrap_or_default().iter().zip(0..LOST);
        let is_lost = !behind.any(|(checkpoint, tries)| {
            let place = checkpoint.offset() as usize;
            let found = match is_wary {
                true => self.find_aligned(old, new, place, self.n, hint),
                false => self.find(old, new, place, self.n, tries, hint),
            };
            found.is_some_and(|at| new.len() - at > little)
        });
        self.lost = match is_lost {
            true => self.lost.wrapping_add(1),
            false => 0,
        };
        is_lost
    }

    /// Sets the decoder to the last valid checkpoint, and begins a region there.
    fn resume(&mut self, decoder: &mut Decoder) -> Result<(), Fail> {
        let last = self.next.checked_sub(1).ok_or(Fail)?;
        let held = &self.history.checkpoints[last];
        let (slots, offset) = (held.slots(), held.offset() as u32);
        let from = match &self.carry {
            Some(carry) => carry.old_slots(slots),
            None => slots,
        };
        if !decoder.resume(held) {
            return Err(Fail);
        }
        if self.cursor < from {
            self.move_starts(from);
        }
        self.move_slots(from);
        // Slots without text have the location of the next text, which has changed.
        let starts = self.fresh_trace.starts.iter_mut().rev();
        starts
            .take_while(|start| **start > offset)
            .for_each(|start| *start = offset);
        let mut reread = from;
        while let Some(last) = self.changed.last_mut()
            && last.end as usize > from
        {
            reread = reread.max(last.end as usize);
            last.end = last.start.max(from as u32);
            if last.start == last.end {
                self.changed.pop();
            }
        }
        self.regions.push(Region {
            old: from..self.slots.len(),
            now: slots..slots,
            reread: reread - from,
        });
        Ok(())
    }

    /// The offset in the new text, from `from` on, of the text at `place` of the old one. `tries`: the number of places
    /// searched for before. `None` if it is not found near where it was.
    fn find(
        &self,
        old: &[u8],
        new: &[u8],
        place: usize,
        from: usize,
        tries: u32,
        hint: Option<usize>,
    ) -> Option<usize> {
        let aligned = self.find_aligned(old, new, place, from, hint);
        if aligned.is_some() {
            return aligned;
        }
        let from = from.max(self.n);
        // If rows were removed, this place was among them, or among those that were read meanwhile.
        if hint.is_some_and(|shift| (place.wrapping_add(shift) as isize) < from as isize) {
            return None;
        }
        let anchor = old.get(place..place + ANCHOR)?;
        // A place that was passed already has no distance.
        let window = place
            .saturating_sub(self.o)
            .saturating_add(WINDOW << tries.min(20));
        let end = from.saturating_add(window).min(new.len());
        memmem::find(new.get(from..end)?, anchor).map(|at| from + at)
    }

    /// Does the same as [`find`](Self::find), but checks only three offsets: at the distance `hint`, at the current distance
    /// between the texts, and at the same distance from the end.
    fn find_aligned(
        &self,
        old: &[u8],
        new: &[u8],
        place: usize,
        from: usize,
        hint: Option<usize>,
    ) -> Option<usize> {
        let from = from.max(self.n);
        let rest = &old[place..];
        let anchor = &rest[..rest.len().min(ANCHOR)];
        let at_end = new.len().wrapping_sub(old.len());
        let shifts = hint.into_iter().chain([self.shift(), at_end]);
        let targets = shifts.map(|shift| place.wrapping_add(shift));
        targets.filter(|&target| target >= from).find(|&target| {
            let follows = new.get(target..);
            follows.is_some_and(|text| text.starts_with(anchor))
        })
    }

    /// Lets the decoder read up to an offset, and takes checkpoints on the way.
    fn run_to(
        &mut self,
        decoder: &mut Decoder,
        new: &[u8],
        target: usize,
        spacing: &Spacing,
    ) -> Result<(), Fail> {
        let mut end = decoder.offset() as usize;
        while end < target {
            let from = decoder.offset() as usize;
            let next = (end + spacing.at(end)).min(target);
            end = match next < target {
                true => cut(new, end, next).unwrap_or(target),
                false => target,
            };
            self.read(decoder, new, from..end, false)?;
            if end < target && decoder.is_between() {
                self.taken.push(decoder.checkpoint(&self.fresh));
            }
        }
        Ok(())
    }

    /// Lets the decoder read a range of the new text. `last`: the text ends there.
    fn read(
        &mut self,
        decoder: &mut Decoder,
        new: &[u8],
        range: std::ops::Range<usize>,
        last: bool,
    ) -> Result<(), Fail> {
        let piece = Piece {
            text: std::str::from_utf8(new.get(range.clone()).ok_or(Fail)?).map_err(|_| Fail)?,
            base: range.start as u64,
            last,
            beyond: new.len() - range.end,
        };
        let read = decoder.read(piece, &mut self.fresh, Some(&mut self.fresh_trace));
        // A decoder that reads all of it reports the error.
        read.map_err(|_| Fail)
    }

    /// Lets the decoder read the rest of the text.
    fn run_out(
        &mut self,
        decoder: &mut Decoder,
        new: &[u8],
        spacing: &Spacing,
    ) -> Result<(), Fail> {
        if let Some(end) = cut(new, decoder.offset() as usize, new.len()) {
            self.run_to(decoder, new, end, spacing)?;
        }
        let from = decoder.offset() as usize;
        self.read(decoder, new, from..new.len(), true)?;
        self.end_region(self.slots.len(), self.history.checkpoints.len(), new.len());
        (self.o, self.n, self.ended) = (usize::MAX, usize::MAX, true);
        Ok(())
    }

    /// Ends a region at the offset `place` of the new text. It replaces everything up to a slot and a checkpoint of the old
    /// message.
    fn end_region(&mut self, slot: usize, checkpoint: usize, place: usize) {
        let slots = self.fresh.slots().len();
        self.fresh_trace.fit(slots, place as u32);
        if let Some(region) = self.regions.last_mut() {
            (region.old.end, region.now.end) = (slot, slots);
        }
        self.dropped.push(self.next..checkpoint);
        (self.cursor, self.moved, self.next) = (slot, slot, checkpoint);
    }

    /// Resynchronises the texts if the decoder is in the state of this old checkpoint. Returns `false` if it is not.
    fn join(&mut self, decoder: &Decoder, index: usize) -> bool {
        let old = &self.history.checkpoints[index];
        if !decoder.is_at(old) {
            return false;
        }
        let before = (old.slots(), old.loops(decoder.plan()));
        let (slots, place) = (old.slots(), old.offset() as usize);
        let carry = Carry::new(decoder, self.fresh.slots().len(), before);
        let Some(counts) = carry.counts(&self.slots) else {
            return false;
        };
        for (slot, total) in counts {
            self.fresh.set_slot(slot as usize, total);
            self.counts.push(slot);
        }
        self.carry = Some(carry).filter(|carry| !carry.is_none());
        let target = decoder.offset() as usize;
        self.end_region(slots, index, target);
        // The next changed slot is not joined with the last one before.
        self.changed.push(slots as u32..slots as u32);
        (self.o, self.n) = (place, target);
        self.hold(place);
        true
    }
}
