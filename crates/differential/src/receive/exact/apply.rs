//! The end of a comparison: the new Record is completed, and the message becomes the history.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Checkpoint, Decoder};

use super::history::History;
use super::pass::Pass;
use crate::receive::change::Changes;
use crate::receive::received::Fail;
use crate::receive::text::Text;

impl Pass {
    /// Ends the comparison. Returns the history for the next message, and the changes. Fails if the Record exceeds its limits.
    pub(super) fn finish(
        &mut self,
        decoder: &Decoder,
        text: Text,
    ) -> Result<(History, Changes), Fail> {
        self.lost = 0;
        if !self.begun {
            // The texts are equal, so the old one is kept.
            return Ok((std::mem::take(&mut self.history), Changes::default()));
        }
        if !self.ended {
            self.hold(self.o);
            self.move_starts(self.slots.len());
        }
        let is_rebuilt = !self.regions.is_empty();
        if is_rebuilt {
            self.move_slots(self.slots.len());
            std::mem::swap(&mut self.history.trace, &mut self.fresh_trace);
            self.move_capacities();
            self.move_checkpoints(text.bytes().len());
        }
        let changes = self.changes();
        let (fresh, heap) = self.fresh.parts_mut();
        let slots = if is_rebuilt { fresh } else { &mut self.slots };
        if !decoder.allows(slots.len(), heap.len(), text.bytes().len() as u64) {
            return Err(Fail);
        }
        let warnings = match &self.history.record {
            Some(record) if !self.history.warnings.is_empty() => {
                self.history.moved_warnings(record, text.bytes().len())
            }
            _ => Vec::new(),
        };
        let fill = |record: &mut Record| {
            let (own_slots, own_heap) = record.parts_mut();
            std::mem::swap(own_slots, slots);
            std::mem::swap(own_heap, heap);
            record.set_warnings(warnings);
            record.assume_checked();
        };
        let mut record = self.history.record.take();
        match record.as_mut().and_then(Arc::get_mut) {
            Some(own) => fill(own),
            None => {
                let root = self.history.root.ok_or(Fail)?;
                let mut new = Record::new(decoder.plan().clone(), root);
                fill(&mut new);
                record = Some(Arc::new(new));
            }
        }
        self.history.record = record;
        self.history.text = text;
        Ok((std::mem::take(&mut self.history), changes))
    }

    /// The changes since the previous message.
    fn changes(&mut self) -> Changes {
        if self.regions.is_empty() {
            // The next message probably has as many changes.
            let next = Vec::with_capacity(self.changed.len());
            return Changes::in_place(std::mem::replace(&mut self.changed, next));
        }
        let changed = self.changed.drain(..);
        let changed = changed.map(|slots| slots.start as usize..slots.end as usize);
        let both = (&*self.slots, self.fresh.slots());
        Changes::in_regions(&self.regions, changed, &self.counts, both)
    }

    /// Copies the old slots up to `to` that are not yet in the new Record to it, with their trace.
    pub(super) fn move_slots(&mut self, to: usize) {
        let (from, trace) = (self.moved, &self.history.trace);
        let slots = &self.slots[from..to];
        self.fresh.parts_mut().0.extend_from_slice(slots);
        let fresh = &mut self.fresh_trace;
        fresh.starts.extend_from_slice(&trace.starts[from..to]);
        fresh.sites.extend_from_slice(&trace.sites[from..to]);
        self.moved = to;
    }

    /// Renumbers the capacities. Strings that the decoder has read have none left.
    fn move_capacities(&mut self) {
        let Some(left) = self.history.capacities.of_all(self.slots.len()) else {
            return;
        };
        let mut moved = Vec::with_capacity(self.fresh.slots().len());
        let mut kept = 0;
        for region in &self.regions {
            moved.extend_from_slice(&left[kept..region.old.start]);
            moved.resize(region.now.end, 0);
            kept = region.old.end;
        }
        moved.extend_from_slice(&left[kept..]);
        *left = moved;
    }

    /// Keeps the valid old checkpoints and the new ones, in a text of this length.
    fn move_checkpoints(&mut self, length: usize) {
        let all = &mut self.history.checkpoints;
        for dropped in self.dropped.drain(..).rev() {
            all.drain(dropped);
        }
        all.append(&mut self.taken);
        all.sort_by_key(Checkpoint::offset);
        all.dedup_by_key(|it| it.offset());
        // After many insertions and removals there may be too many: every second one is dropped.
        while all.len() > 4 * (length / self.policy.spacing(length)) + 16 {
            let mut index = 0;
            all.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
    }
}
