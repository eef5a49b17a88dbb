//! One message compared with the one before.
//!
//! ```text
//! old   ───────────────●━━━●──────────────●━━━━━━●────────── end
//! new   ───────────────●━━━━━●──────────────●━━●──────────── end
//!        same          leaf   same, moved    markup  same, moved again
//! ```
//!
//! Two places, `o` in the old text and `n` in the new, go forward together. What lies before them has been read; the decoder
//! would be in the same state at both, except for counts of loops. While the bytes are the same, so is what follows. Where they
//! differ inside a value, that value is read again, and the places go on behind it. Anything else is
//! [restructuring](super::restructure): the decoder itself reads on, from a checkpoint before the difference.

use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::decode::{Checkpoint, Trace};
use bsoap_codec::{Plan, Record, plan::ElementId};

use super::history::History;
use super::run::Run;
use crate::receive::carry::Carry;
use crate::receive::change::Region;
use crate::receive::policy::Policy;
use crate::receive::received::Fail;

/// A message on its way.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) policy: Policy,
    pub(super) history: History,
    pub(super) o: usize,
    pub(super) n: usize,
    /// Whether the values have been taken out of the history, to be changed.
    pub(super) begun: bool,
    /// The slots of the old Record, with what was read again in place.
    pub(super) slots: Vec<u64>,
    /// The Record of the message as far as the decoder has read markup that differs, empty before; and the heap.
    pub(super) fresh: Record,
    pub(super) fresh_trace: Trace,
    /// How many slots of the old Record are in it, or replaced.
    pub(super) moved: usize,
    /// From this slot of the old Record on, the trace is still that of the old text.
    pub(super) cursor: usize,
    /// The checkpoint of the old text that comes next. Those before hold in the new text, and are numbered as there, ...
    pub(super) next: usize,
    /// ... but for these.
    pub(super) dropped: Vec<Range<usize>>,
    /// Checkpoints taken where the decoder read.
    pub(super) taken: Vec<Checkpoint>,
    /// What the decoder read, and how what follows is numbered.
    pub(super) regions: Vec<Region>,
    pub(super) carry: Option<Carry>,
    /// Slots of the old Record whose values changed in place.
    pub(super) changed: Vec<Range<u32>>,
    /// Slots of counts of loops that were open behind a region.
    pub(super) counts: Vec<u32>,
    /// The array at hand.
    pub(super) run: Run,
    /// How many values were read again alone, and in how many runs.
    pub(super) touched: usize,
    pub(super) runs: usize,
    /// How many of those in blocks.
    pub(super) in_blocks: usize,
    /// Up to this number of runs comparing is not given up.
    pub(super) patience: usize,
    pub(super) gave_up: bool,
    /// How many messages in a row had nothing in common behind the first difference of their structure.
    pub(super) lost: u32,
    /// The rest has been read by the decoder.
    pub(super) ended: bool,
}

/// What became of a difference.
pub(super) enum Step {
    /// The value it was in has been read again.
    Read,
    /// Values have been inserted or left out.
    Shifted,
    /// So far hardly any value has been the same.
    Unlike,
    /// It is not in a value, or that is not plain.
    Other,
    /// Most of the message is a string that is another.
    Lost,
}

impl Pass {
    /// For the messages of a Plan, one after the other.
    pub(super) fn new(policy: Policy, plan: &Arc<Plan>) -> Self {
        Self {
            policy,
            history: History::default(),
            o: 0,
            n: 0,
            begun: false,
            slots: Vec::new(),
            fresh: Record::new(plan.clone(), ElementId(0)),
            fresh_trace: Trace::default(),
            moved: 0,
            cursor: 0,
            next: 0,
            dropped: Vec::new(),
            taken: Vec::new(),
            regions: Vec::new(),
            carry: None,
            changed: Vec::new(),
            counts: Vec::new(),
            run: Run::default(),
            touched: 0,
            runs: 0,
            in_blocks: 0,
            patience: MIN_RUNS,
            gave_up: false,
            lost: 0,
            ended: false,
        }
    }

    /// Begins a message that is to be compared; keeps the memory.
    pub(super) fn start(&mut self, history: History) {
        self.fresh.clear(history.root.unwrap_or(ElementId(0)));
        self.history = history;
        (self.o, self.n, self.cursor, self.next, self.moved) = (0, 0, 0, 0, 0);
        (self.touched, self.runs, self.patience) = (0, 0, MIN_RUNS);
        (self.begun, self.gave_up, self.ended) = (false, false, false);
        self.in_blocks = 0;
        self.slots.clear();
        self.fresh_trace.clear();
        self.dropped.clear();
        self.taken.clear();
        self.regions.clear();
        self.carry = None;
        self.changed.clear();
        self.counts.clear();
        self.run.restart();
    }

    /// Memory that a large message took is not kept for ever.
    pub(super) fn give_back(&mut self) {
        self.history = History::default();
        if self.slots.capacity() > MAX_KEPT || self.fresh.memory() > MAX_KEPT {
            *self = Self::new(self.policy, &self.fresh.plan().clone());
        }
    }

    /// At the first difference: moves the values of the old Record here, so that they can be changed in place. If somebody else
    /// holds the Record, they are copied.
    pub(super) fn begin(&mut self) -> Result<(), Fail> {
        if self.o < self.history.opened {
            return Err(Fail);
        }
        let record = self.history.record.as_mut().ok_or(Fail)?;
        if u32::try_from(record.slots().len()).is_err() {
            return Err(Fail);
        }
        let (slots, heap) = self.fresh.parts_mut();
        match Arc::get_mut(record) {
            Some(record) => {
                let (own_slots, own_heap) = record.parts_mut();
                std::mem::swap(&mut self.slots, own_slots);
                std::mem::swap(heap, own_heap);
            }
            None => {
                self.slots.extend_from_slice(record.slots());
                heap.extend_from_slice(record.heap());
            }
        }
        slots.clear();
        self.begun = true;
        Ok(())
    }

    /// How much further the new text is than the old, modulo 2⁶⁴.
    #[inline]
    pub(super) fn shift(&self) -> usize {
        self.n.wrapping_sub(self.o)
    }

    /// Checkpoints up to a place of the old text hold in the new text, moved as the text is.
    #[inline]
    pub(super) fn hold(&mut self, place: usize) {
        let shift = self.shift();
        while let Some(checkpoint) = self.history.checkpoints.get_mut(self.next)
            && checkpoint.offset() <= place as u64
        {
            let (plan, slots) = (self.fresh.plan(), checkpoint.slots());
            let offset = checkpoint.offset().wrapping_add(shift as u64);
            match &self.carry {
                Some(carry) => {
                    let slots = carry.moved(slots as u32) as usize;
                    checkpoint.renumber(plan, slots, offset, carry.renumber());
                }
                None if shift != 0 => checkpoint.renumber(plan, slots, offset, |_| {}),
                None => {}
            }
            self.next += 1;
        }
    }

    /// Moves where values begin, up to a slot, to where they begin in the new text.
    #[inline]
    pub(super) fn move_starts(&mut self, to: usize) {
        let shift = self.shift() as u32;
        if let (true, Some(starts)) = (
            shift != 0,
            self.history.trace.starts.get_mut(self.cursor..to),
        ) {
            for start in starts {
                *start = start.wrapping_add(shift);
            }
        }
        self.cursor = self.cursor.max(to);
    }

    #[inline]
    pub(super) fn mark(&mut self, slot: usize) {
        let slot = slot as u32;
        match self.changed.last_mut() {
            Some(last) if last.end == slot => last.end += 1,
            _ => self.changed.push(slot..slot + 1),
        }
    }

    /// Checkpoints up to a place of the old text hold, if there are any more.
    #[inline]
    pub(super) fn hold_checkpoints(&mut self, place: usize) {
        if self.next_checkpoint() <= place {
            self.hold(place);
        }
    }

    /// How many of these values begin before the next checkpoint.
    #[inline]
    pub(super) fn before_checkpoint(&self, starts: &[u32]) -> usize {
        let checkpoint = self.next_checkpoint();
        match starts.last() {
            Some(&last) if last as usize >= checkpoint => {
                starts.partition_point(|&start| (start as usize) < checkpoint)
            }
            _ => starts.len(),
        }
    }

    /// Where the next checkpoint is in the old text.
    #[inline]
    pub(super) fn next_checkpoint(&self) -> usize {
        let next = self.history.checkpoints.get(self.next);
        next.map_or(usize::MAX, |next| next.offset() as usize)
    }
}

/// Of longer strings only the part that differs is read again.
pub(super) const LONG_STRING: usize = 64;

/// This many bytes must be the same for a text to be taken for another.
pub(super) const MIN_COMMON: usize = 48;

/// Runs before which comparing is not given up.
pub(super) const MIN_RUNS: usize = 16;

/// Buffers up to this size are kept between messages.
const MAX_KEPT: usize = 16 << 20;

/// The eight bytes at a place.
#[inline(always)]
pub(super) fn word(text: &[u8], at: usize) -> Option<u64> {
    let word = text.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word))
}

/// Whether a value differs from the one that was at `place`, by its first bytes.
#[inline(always)]
pub(super) fn differs(old: &[u8], place: usize, new: &[u8], at: usize) -> bool {
    word(old, place) != word(new, at)
}
