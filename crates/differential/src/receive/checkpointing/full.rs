//! Full checkpointing (FCP): at each checkpoint, a complete copy of the decoder's state.
//!
//! Abu-Ghazaleh and Lewis, *Lightweight Checkpointing for Faster SOAP Deserialization* (2006), §2.

use bsoap_codec::decode::{Checkpoint, Decoder, Loop};
use bsoap_codec::{Plan, Record};

use super::checkpointer::{Checkpointer, Reading};
use super::interrupt::Interrupts;
use super::portion::{Entry, Mark};
use super::portioning::Portioning;
use crate::receive::carry::Carry;
use crate::receive::received::Fail;

/// Keeps complete states.
#[derive(Debug)]
pub(super) struct Full {
    interrupts: Interrupts,
}

impl Checkpointer for Full {
    type Saved = Box<Checkpoint>;

    fn new(way: &Portioning) -> Self {
        Self {
            interrupts: Interrupts::new(way.interrupt, way.buffer),
        }
    }

    fn clear(&mut self) {
        self.interrupts.restart();
    }

    fn save(&mut self, decoder: &mut Decoder, record: &Record) -> Self::Saved {
        Box::new(decoder.checkpoint(record))
    }

    fn read(
        &mut self,
        reading: Reading<'_>,
        entries: &mut Vec<Entry<Self::Saved>>,
    ) -> Result<(), Fail> {
        self.interrupts.read(reading, entries, |decoder, record| {
            Box::new(decoder.checkpoint(record))
        })
    }

    fn restore(&mut self, decoder: &mut Decoder, saved: &Self::Saved, mark: Mark) -> bool {
        self.interrupts.restart();
        let is_known = decoder.resume(saved);
        decoder.move_to(u64::from(mark.offset));
        is_known
    }

    fn agrees(&mut self, decoder: &mut Decoder, saved: &Self::Saved) -> bool {
        decoder.is_at(saved)
    }

    fn loops(&self, saved: &Self::Saved, plan: &Plan) -> Vec<Loop> {
        saved.loops(plan)
    }

    fn depth(&self, saved: &Self::Saved) -> usize {
        saved.depth()
    }

    fn carry(&mut self, saved: &mut Self::Saved, plan: &Plan, carry: &Carry) {
        let slots = carry.moved(saved.slots() as u32);
        let offset = saved.offset();
        saved.renumber(plan, slots as usize, offset, carry.renumber());
    }

    fn memory(&self, entries: &[Entry<Self::Saved>]) -> usize {
        entries.iter().map(|entry| entry.saved.memory()).sum()
    }
}
