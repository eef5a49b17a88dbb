//! Full and differential checkpointing (FCP, DCP): copies of the decoder's state at processing interrupts.
//!
//! Abu-Ghazaleh and Lewis, *Lightweight Checkpointing for Faster SOAP Deserialization* (2006), §2 and §3. With DCP, a copy
//! contains what has changed since the state was last copied completely. With FCP, each copy is complete. The codec's
//! [`Partial`] has the base copies, the tracking pointers, and the comparison that skips the shared part of two states.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bsoap_codec::decode::{Checkpoint, Decoder, Loop, Partial, Tracked};
use bsoap_codec::{Plan, Record};

use super::checkpointer::{Checkpointer, Reading};
use super::interrupt::Interrupts;
use super::portion::{Entry, Mark};
use super::portioning::{Checkpoints, Portioning};
use crate::receive::carry::Carry;
use crate::receive::received::Fail;

/// Saves each state as a copy, of its own or of what differs from a base copy.
#[derive(Debug)]
pub(super) struct Copies {
    /// Whether each state has a base copy of its own (FCP).
    is_full: bool,
    interrupts: Interrupts,
    /// The distance between two states inside a text, at least.
    buffer: usize,
    /// The base copy that the decoder's state is compared with.
    tracked: Tracked,
    /// Base copies that have been carried over: the old and the new one, by the address of the old one.
    carried: HashMap<usize, [Arc<Checkpoint>; 2]>,
}

impl Checkpointer for Copies {
    type Saved = Box<Partial>;

    fn new(way: &Portioning) -> Self {
        Self {
            is_full: way.checkpoints == Checkpoints::Full,
            interrupts: Interrupts::new(way.interrupt, way.buffer),
            buffer: way.buffer.max(way.interrupt),
            tracked: Tracked::default(),
            carried: HashMap::new(),
        }
    }

    fn clear(&mut self) {
        self.interrupts.restart(0);
        self.tracked.clear();
        self.carried.clear();
    }

    fn save(&mut self, decoder: &mut Decoder, record: &Record) -> Self::Saved {
        if self.is_full {
            self.tracked.clear();
        }
        Box::new(Partial::new(decoder, record, &mut self.tracked))
    }

    fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    fn read_to(
        &mut self,
        reading: &mut Reading<'_>,
        end: usize,
        _: &mut Vec<Entry<Self::Saved>>,
    ) -> Result<(), Fail> {
        reading.read_to(end, None)
    }

    fn interrupt(&mut self, reading: &mut Reading<'_>, entries: &mut Vec<Entry<Self::Saved>>) {
        let here = reading.offset();
        if reading.decoder.is_between() {
            self.interrupts.restart(here);
        } else if self.interrupts.is_far(here, self.buffer) && reading.decoder.is_steady() {
            self.interrupts.save_inside(here);
        } else {
            return;
        }
        let mark = reading.mark();
        let saved = self.save(reading.decoder, reading.record);
        entries.push(Entry { mark, saved });
    }

    fn restore(&mut self, decoder: &mut Decoder, saved: &Self::Saved, mark: Mark) -> bool {
        self.interrupts.restart(mark.offset as usize);
        let is_known = saved.resume(decoder, &mut self.tracked);
        decoder.move_to(u64::from(mark.offset));
        is_known
    }

    fn agrees(&mut self, decoder: &mut Decoder, saved: &Self::Saved) -> bool {
        saved.agree(decoder, &self.tracked)
    }

    fn loops(&self, saved: &Self::Saved, plan: &Plan) -> Vec<Loop> {
        saved.loops(plan)
    }

    fn depth(&self, saved: &Self::Saved) -> usize {
        saved.depth()
    }

    fn carry(&mut self, saved: &mut Self::Saved, plan: &Plan, carry: &Carry) {
        let base = saved.base().clone();
        let key = Arc::as_ptr(&base) as usize;
        let [_, carried] = self.carried.entry(key).or_insert_with(|| {
            let mut carried = Checkpoint::clone(&base);
            let (slots, offset) = (base.slots(), base.offset());
            carried.renumber(plan, slots, offset, carry.renumber());
            [base, Arc::new(carried)]
        });
        saved.renumber(plan, carried.clone(), carry.renumber());
    }

    fn carried(&mut self) {
        self.carried.clear();
    }

    fn memory(&self, entries: &[Entry<Self::Saved>]) -> usize {
        let mut bases = HashSet::new();
        let mut memory = 0;
        for entry in entries {
            memory += entry.saved.memory();
            if bases.insert(Arc::as_ptr(entry.saved.base())) {
                memory += entry.saved.base().memory();
            }
        }
        memory
    }

    fn tidy(&mut self, _: &mut [Entry<Self::Saved>]) {
        self.carried.clear();
    }
}
