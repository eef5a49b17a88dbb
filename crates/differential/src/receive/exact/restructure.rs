//! Where markup differs: the decoder reads on, from a checkpoint before the difference until its state is that of a
//! checkpoint of the old text behind it.
//!
//! ```text
//! old   ──|────────x──────|──────────────|───────
//!         c1       ·      c2             c3
//! new   ──|────────x━━━━━━━━━━━|─────────────────
//!         resume            the text that follows c2: does the decoder agree with it?
//! ```
//!
//! What it reads goes into slots of its own. The counts of loops that are open where it begins are before them; those
//! still open where the texts join are carried over.

use bsoap_codec::Plan;
use bsoap_codec::decode::{Checkpoint, Decoder, Loop, Piece};
use memchr::memmem;

use super::pass::{Held, Join, Pass, Splice};
use crate::receive::received::Fail;
use crate::receive::text::cut;

/// This many bytes must be the same for a place to be taken for another.
const ANCHOR: usize = 48;

/// Places that are looked for where nothing is known to be the same.
const LOST: u32 = 8;

/// To look for them takes as long as to read a short message. Where nothing was found in the message before, it is done for
/// one message in this number.
const WARY: u32 = 32;

/// Text in which the place is looked for first.
const WINDOW: usize = 64 << 10;

impl Pass {
    /// Reads on with the decoder from before `n`. Then `o` and `n` are together again behind it, or all is read.
    pub(super) fn restructure(
        &mut self,
        decoder: &mut Decoder,
        old: &[u8],
        new: &[u8],
    ) -> Result<(), Fail> {
        let (shift, hint) = (self.shift(), self.run.hint.take());
        if self.is_lost(old, new, hint) {
            self.gave_up = true;
            return Err(Fail);
        }
        let plan = decoder.plan().clone();
        let base = self.resume(decoder, &plan)?;
        let (mut index, mut step, mut tries) = (self.next, 1, 0);
        while !self.gave_up && index < self.history.checkpoints.len() {
            let place = self.history.checkpoints[index].offset() as usize;
            if let Some(target) = self.find(old, new, place, decoder.offset() as usize, tries, hint)
            {
                self.run_to(decoder, new, target)?;
                if decoder.offset() == target as u64
                    && decoder.is_between()
                    && self.join(decoder, &plan, base, index)
                {
                    if hint.is_some() && self.shift() == shift {
                        self.run.false_alarm();
                    }
                    return Ok(());
                }
            }
            tries += 1;
            index += step;
            // The further it is to the next place, the fewer are tried.
            step += usize::from(tries % 2 == 0) * step;
        }
        self.run_out(decoder, new, base)
    }

    /// Whether hardly anything of it is the same, as far as can be seen: no checkpoint holds but near the beginning, and
    /// what was at those behind is not there any more, or only near the end. Then it is better read as a message of its
    /// own. (If the distance of checkpoints was chosen, they are to be used.)
    fn is_lost(&mut self, old: &[u8], new: &[u8], hint: Option<usize>) -> bool {
        let little = new.len() / 4;
        let held = self.held.last().map_or(0, |held| held.offset);
        if !self.joins.is_empty() || held > little || self.policy.spacing.is_some() {
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

    /// Sets the decoder to the last checkpoint that holds. Returns where its fresh slots begin.
    fn resume(&mut self, decoder: &mut Decoder, plan: &Plan) -> Result<usize, Fail> {
        let held = self.held.last().copied();
        let (from, mut at) = match held.filter(|held| held.joins == self.joins.len()) {
            Some(held) => {
                let old = &self.history.checkpoints[held.index];
                let mut new = self.carried(old, plan, held.joins);
                new.renumber(plan, new.slots(), held.offset as u64, |_| {});
                (old.slots(), new)
            }
            None => {
                let join = self.joins.last().ok_or(Fail)?;
                (join.old.slots(), join.new.clone())
            }
        };
        if self.cursor < from {
            self.move_starts(from);
        }
        let mut reread = from..from;
        while let Some(last) = self.changed.last_mut()
            && last.end as usize > from
        {
            reread.end = reread.end.max(last.end as usize);
            last.end = last.start.max(from as u32);
            if last.start == last.end {
                self.changed.pop();
            }
        }
        let loops = at.loops(plan);
        let begin = self.fresh.slots().len();
        let base = begin + loops.len();
        self.fresh.parts_mut().0.resize(base, 0);
        self.fresh_trace.fit(base, at.offset() as u32);
        let mut next = begin as u32;
        at.renumber(plan, base, at.offset(), |it| {
            it.slot = next;
            next += 1;
        });
        self.splices.push(Splice {
            old: from..self.slots.len(),
            fresh: base..base,
            reread,
            loops,
        });
        match decoder.resume(&at) {
            true => Ok(base),
            false => Err(Fail),
        }
    }

    /// A checkpoint of the old text as it is in the new one, behind this number of joins: loops that were open where the texts
    /// joined last have come round more often, or less, and may have their counts elsewhere.
    pub(super) fn carried(&self, old: &Checkpoint, plan: &Plan, joins: usize) -> Checkpoint {
        let mut carried = old.clone();
        self.carry(&mut carried, plan, joins);
        carried
    }

    /// The same in place.
    pub(super) fn carry(&self, old: &mut Checkpoint, plan: &Plan, joins: usize) {
        let Some(join) = joins.checked_sub(1).and_then(|last| self.joins.get(last)) else {
            return;
        };
        let mut loops = join.old_loops.iter().zip(&join.new_loops);
        old.renumber(plan, old.slots(), old.offset(), |it| {
            let pair = loops.next();
            if let Some((before, now)) = pair.filter(|_| (it.slot as usize) < join.old.slots()) {
                it.slot = now.slot;
                it.count = it.count.wrapping_add(now.count).wrapping_sub(before.count);
            }
        });
    }

    /// Where in the new text, from `from` on, that is which is at `place` of the old one.
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
        let anchor = old.get(place..place + ANCHOR)?;
        // One that was passed already is no distance away.
        let window = place
            .saturating_sub(self.o)
            .saturating_add(WINDOW << tries.min(20));
        let end = from.saturating_add(window).min(new.len());
        memmem::find(new.get(from..end)?, anchor).map(|at| from + at)
    }

    /// The same, if it is as far from here as before, or from the end, or where it is thought to be: one look at each.
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

    /// Lets the decoder read up to a place, taking checkpoints on the way.
    fn run_to(&mut self, decoder: &mut Decoder, new: &[u8], target: usize) -> Result<(), Fail> {
        let spacing = self.policy.spacing(new.len());
        let mut end = decoder.offset() as usize;
        while end < target {
            let from = decoder.offset() as usize;
            let next = (end + spacing).min(target);
            end = match next < target {
                true => cut(new, end, next).unwrap_or(target),
                false => target,
            };
            self.read(decoder, new, from..end, false)?;
            if end < target && decoder.is_between() {
                let checkpoint = decoder.checkpoint(&self.fresh);
                self.taken.push((self.splices.len() - 1, checkpoint));
            }
        }
        Ok(())
    }

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

    /// Reads all that is left.
    fn run_out(&mut self, decoder: &mut Decoder, new: &[u8], base: usize) -> Result<(), Fail> {
        if let Some(end) = cut(new, decoder.offset() as usize, new.len()) {
            self.run_to(decoder, new, end)?;
        }
        let from = decoder.offset() as usize;
        self.read(decoder, new, from..new.len(), true)?;
        let slots = self.fresh.slots().len();
        self.fresh_trace.fit(slots, new.len() as u32);
        let Some(splice) = self.splices.last_mut() else {
            return Err(Fail);
        };
        splice.fresh = base..slots;
        let loops = splice.loops.clone();
        self.close(base, &loops, &[]);
        (self.o, self.n, self.ended) = (usize::MAX, usize::MAX, true);
        self.cursor = self.slots.len();
        Ok(())
    }

    /// Loops that were open where the decoder began and are not any more: their counts are known.
    fn close(&mut self, base: usize, loops: &[Loop], open: &[Loop]) {
        let begin = base - loops.len();
        for (index, it) in loops.iter().enumerate() {
            let is_open = open
                .get(index)
                .is_some_and(|open| open.slot as usize == begin + index);
            if !is_open {
                self.store(it.slot, self.fresh.slots()[begin + index]);
            }
        }
    }

    /// Whether the decoder is in the state of a checkpoint of the old text. Then both go on from there.
    fn join(&mut self, decoder: &Decoder, plan: &Plan, base: usize, index: usize) -> bool {
        let here = decoder.checkpoint(&self.fresh);
        let old = &self.history.checkpoints[index];
        let there = self.carried(old, plan, self.joins.len());
        if !decoder.agree(&here, &there) {
            return false;
        }
        let open = here.loops(plan);
        let Some(splice) = self.splices.last() else {
            return false;
        };
        let loops = splice.loops.clone();
        let new = self.placed(here, plan, base, &loops);
        let new_loops = new.loops(plan);
        // In the end each loop has come round as often as in the old message, and as much more as it has now.
        let mut totals = Vec::with_capacity(new_loops.len());
        for (now, before) in new_loops.iter().zip(there.loops(plan)) {
            let total = self
                .load(before.slot)
                .wrapping_add(u64::from(now.count))
                .wrapping_sub(u64::from(before.count));
            if total < u64::from(now.least) || total >= u64::from(u32::MAX) {
                return false;
            }
            totals.push((now.slot, total));
        }
        self.close(base, &loops, &open);
        for (slot, total) in totals {
            self.store(slot, total);
        }
        let (slots, target) = (self.fresh.slots().len(), new.offset() as usize);
        self.fresh_trace.fit(slots, target as u32);
        let old = self.history.checkpoints[index].clone();
        if let Some(splice) = self.splices.last_mut() {
            splice.old.end = old.slots();
            splice.fresh = base..slots;
        }
        (self.cursor, self.o, self.n) = (old.slots(), old.offset() as usize, target);
        let old_loops = old.loops(plan);
        self.joins.push(Join {
            old,
            old_loops,
            new,
            new_loops,
        });
        self.next = index + 1;
        self.held.push(Held {
            index,
            offset: target,
            joins: self.joins.len(),
        });
        true
    }

    /// A checkpoint of the decoder that reads fresh slots, with its loops counted as [`load`](Self::load) does.
    pub(super) fn placed(
        &self,
        mut checkpoint: Checkpoint,
        plan: &Plan,
        base: usize,
        loops: &[Loop],
    ) -> Checkpoint {
        let (begin, old) = (base - loops.len(), self.slots.len());
        let (slots, offset) = (checkpoint.slots(), checkpoint.offset());
        checkpoint.renumber(plan, slots, offset, |it| {
            let slot = it.slot as usize;
            it.slot = match slot.checked_sub(begin).and_then(|index| loops.get(index)) {
                Some(outer) if slot < base => outer.slot,
                _ => (old + slot) as u32,
            };
        });
        checkpoint
    }
}
