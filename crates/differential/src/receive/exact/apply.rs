//! The end of a comparison: what was read is put where it belongs, and the message becomes the history of the next.

use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::decode::{Checkpoint, DecodeOptions, Decoder};
use bsoap_codec::{Plan, Record};

use super::history::History;
use super::pass::{Held, Pass, Splice};
use crate::receive::change::{Changes, Span};
use crate::receive::received::Fail;
use crate::receive::text::Text;

impl Pass {
    /// The history that the message has become, and what changed; fails if it is too much for a Record.
    pub(super) fn finish(
        &mut self,
        decoder: &Decoder,
        text: Text,
    ) -> Result<(History, Changes), Fail> {
        self.lost = 0;
        if !self.begun {
            // Nothing differs: either text will do.
            return Ok((std::mem::take(&mut self.history), Changes::default()));
        }
        if !self.ended {
            self.hold(self.o);
            self.move_starts(self.slots.len());
        }
        let splices = std::mem::take(&mut self.splices);
        let layout = Layout::new(&splices, self.slots.len());
        let options: &DecodeOptions = decoder.options();
        if layout.slots > options.record_slots || self.fresh.heap().len() > options.record_heap {
            return Err(Fail);
        }
        let changes = self.changes(&layout);
        self.move_checkpoints(decoder.plan(), &layout, text.bytes().len());
        let trace = &mut self.history.trace;
        let fresh = self.fresh.slots();
        if !splices.is_empty()
            && let Some(left) = self.history.capacities.of_all(self.slots.len())
        {
            put(left, &layout, &vec![0; fresh.len()]);
        }
        put(&mut self.slots, &layout, fresh);
        put(&mut trace.starts, &layout, &self.fresh_trace.starts);
        put(&mut trace.sites, &layout, &self.fresh_trace.sites);
        self.history.text = text;
        let mut record = self.history.record.take();
        let mut fill = |record: &mut Record| {
            let (slots, heap) = record.parts_mut();
            std::mem::swap(slots, &mut self.slots);
            std::mem::swap(heap, self.fresh.parts_mut().1);
        };
        match record.as_mut().and_then(Arc::get_mut) {
            Some(own) => fill(own),
            None => {
                let mut new = Record::new(decoder.plan().clone(), self.history.root.0);
                fill(&mut new);
                record = Some(Arc::new(new));
            }
        }
        self.history.record = record;
        self.splices = splices;
        Ok((std::mem::take(&mut self.history), changes))
    }

    fn changes(&mut self, layout: &Layout<'_>) -> Changes {
        if layout.splices.is_empty() && self.counts.is_empty() {
            // The next message's will be about as many.
            let next = Vec::with_capacity(self.changed.len());
            return Changes::in_place(std::mem::replace(&mut self.changed, next));
        }
        let mut spans: Vec<Span> = Vec::with_capacity(self.changed.len() + layout.splices.len());
        let mut same_place = |before: Range<usize>| {
            let start = layout.now(before.start);
            let now = start..start + before.len();
            spans.push(Span { before, now });
        };
        let changed = self.changed.drain(..);
        changed.for_each(|slots| same_place(slots.start as usize..slots.end as usize));
        let replaced = |slot: usize| {
            layout
                .splices
                .iter()
                .any(|splice| splice.old.contains(&slot))
        };
        self.counts.sort_unstable();
        self.counts.dedup();
        let counts = self.counts.iter().copied();
        counts
            .filter(|&slot| !replaced(slot))
            .for_each(|slot| same_place(slot..slot + 1));
        for (splice, &begin) in layout.splices.iter().zip(&layout.begins) {
            let (old, fresh) = (
                &self.slots[splice.old.clone()],
                &self.fresh.slots()[splice.fresh.clone()],
            );
            // What was read again and is the same has not changed. (Strings, which lie elsewhere now, count as changed.)
            // What had been read again in place before is not what it was.
            let reread = splice.reread.len().min(old.len());
            let pairs = old.iter().zip(fresh);
            let front = match reread {
                0 => pairs.take_while(|(a, b)| a == b).count(),
                _ => 0,
            };
            let (old, fresh) = (&old[front.max(reread)..], &fresh[front..]);
            let pairs = old.iter().rev().zip(fresh.iter().rev());
            let back = pairs.take_while(|(a, b)| a == b).count();
            let span = Span {
                before: splice.old.start + front..splice.old.end - back,
                now: begin + front..begin + splice.fresh.len() - back,
            };
            if !span.before.is_empty() || !span.now.is_empty() {
                spans.push(span);
            }
        }
        spans.sort_unstable_by_key(|span| (span.now.start, span.before.start));
        Changes::of(spans)
    }

    /// Checkpoints of the old text that still hold, and those taken, by their place in the new text.
    fn move_checkpoints(&mut self, plan: &Plan, layout: &Layout<'_>, length: usize) {
        let is_in_place = |held: &Held| {
            let checkpoint = &self.history.checkpoints[held.index];
            checkpoint.offset() as usize == held.offset
        };
        if layout.splices.is_empty() && self.held.iter().all(is_in_place) {
            return;
        }
        let mut moved = std::mem::take(&mut self.history.checkpoints);
        // Those that hold keep their order: each moves to the front, behind those that moved before.
        let mut kept = 0;
        for held in &self.held {
            moved.swap(kept, held.index);
            let it = &mut moved[kept];
            self.carry(it, plan, held.joins);
            // Each join ends a splice. One that only inserts has the same slot at its end as at its beginning.
            let slots = layout.behind(held.joins, it.slots());
            it.renumber(plan, slots, held.offset as u64, |it| {
                it.slot = layout.place(it.slot);
            });
            kept += 1;
        }
        moved.truncate(kept);
        for (index, checkpoint) in std::mem::take(&mut self.taken) {
            let splice = &layout.splices[index];
            let (slots, offset) = (checkpoint.slots(), checkpoint.offset());
            let base = splice.fresh.start;
            let mut it = self.placed(checkpoint, plan, base, &splice.loops);
            let slots = layout.begins[index] + (slots - base);
            it.renumber(plan, slots, offset, |it| it.slot = layout.place(it.slot));
            moved.push(it);
        }
        if !moved.is_sorted_by_key(Checkpoint::offset) {
            moved.sort_by_key(Checkpoint::offset);
        }
        moved.dedup_by_key(|it| it.offset());
        // Where much was inserted and left out there may be too many by and by.
        while moved.len() > 4 * (length / self.policy.spacing(length)) + 16 {
            let mut index = 0;
            moved.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
        self.history.checkpoints = moved;
    }
}

/// Where the slots of the old Record, and the fresh ones, are in the new Record.
struct Layout<'s> {
    splices: &'s [Splice],
    /// Where each splice begins.
    begins: Vec<usize>,
    /// How many slots the old Record had, and the new one has.
    old: usize,
    slots: usize,
}

impl<'s> Layout<'s> {
    fn new(splices: &'s [Splice], old: usize) -> Self {
        let (mut begins, mut kept, mut slots) = (Vec::with_capacity(splices.len()), 0, 0);
        for splice in splices {
            slots += splice.old.start - kept;
            begins.push(slots);
            slots += splice.fresh.len();
            kept = splice.old.end;
        }
        Self {
            splices,
            begins,
            old,
            slots: slots + old - kept,
        }
    }

    /// Where a slot of the old Record is now, if it was not replaced.
    fn now(&self, slot: usize) -> usize {
        let splices = self
            .splices
            .partition_point(|splice| splice.old.end <= slot);
        self.behind(splices, slot)
    }

    /// The same for a slot behind this number of splices and before the next.
    fn behind(&self, splices: usize, slot: usize) -> usize {
        match splices.checked_sub(1) {
            None => slot,
            Some(last) => {
                let splice = &self.splices[last];
                self.begins[last] + splice.fresh.len() + (slot - splice.old.end)
            }
        }
    }

    /// The same for slots that are counted on from those of the old Record: fresh ones.
    fn place(&self, slot: u32) -> u32 {
        let Some(fresh) = (slot as usize).checked_sub(self.old) else {
            return self.now(slot as usize) as u32;
        };
        let index = self
            .splices
            .partition_point(|splice| splice.fresh.start <= fresh);
        match index.checked_sub(1) {
            None => 0,
            Some(index) => (self.begins[index] + fresh - self.splices[index].fresh.start) as u32,
        }
    }
}

/// Replaces what was read again.
fn put<T: Copy>(values: &mut Vec<T>, layout: &Layout<'_>, fresh: &[T]) {
    match layout.splices {
        [] => {}
        [one] => {
            let with = fresh[one.fresh.clone()].iter().copied();
            values.splice(one.old.clone(), with);
        }
        splices => {
            let mut all = Vec::with_capacity(layout.slots);
            let mut kept = 0;
            for splice in splices {
                all.extend_from_slice(&values[kept..splice.old.start]);
                all.extend_from_slice(&fresh[splice.fresh.clone()]);
                kept = splice.old.end;
            }
            all.extend_from_slice(&values[kept..]);
            *values = all;
        }
    }
}
