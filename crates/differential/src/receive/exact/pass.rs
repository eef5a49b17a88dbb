//! The comparison of a message with the previous one: its state.
//!
//! ```text
//! old   ───────────────●━━━●──────────────●━━━━━━●────────── end
//! new   ───────────────●━━━━━●──────────────●━━●──────────── end
//!        same          leaf   same, moved    markup  same, moved again
//! ```
//!
//! Two positions, `o` in the old text and `n` in the new text, advance together. Everything before them has been read, and the
//! decoder would be in the same state at both, apart from the counts of loops. If the texts differ inside a value, this value
//! is re-read, and the positions advance to its end. At any other difference the message is
//! [restructured](super::restructure): the decoder itself reads on, from a checkpoint before the difference.

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

/// The comparison of one message with the previous one.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) policy: Policy,
    /// The previous message. It becomes the history of the new one.
    pub(super) history: History,
    /// The position in the old text.
    pub(super) o: usize,
    /// The position in the new text.
    pub(super) n: usize,
    /// Whether a difference was found, and the values were moved from the history to `slots` and `fresh`.
    pub(super) begun: bool,
    /// The slots of the old Record, in which re-read values are replaced.
    pub(super) slots: Vec<u64>,
    /// The heap of the new Record, and its slots once the decoder has read markup that differs.
    pub(super) fresh: Record,
    /// The trace of the slots in `fresh`.
    pub(super) fresh_trace: Trace,
    /// The number of old slots that have been copied to `fresh`, or replaced there.
    pub(super) moved: usize,
    /// The slot of the old Record from which on the trace still has the locations in the old text.
    pub(super) cursor: usize,
    /// The index of the next checkpoint of the old text. Those before it have been renumbered for the new text, unless they are
    /// `dropped`.
    pub(super) next: usize,
    /// Ranges of checkpoints that are not valid in the new text.
    pub(super) dropped: Vec<Range<usize>>,
    /// New checkpoints, taken while the decoder read.
    pub(super) taken: Vec<Checkpoint>,
    /// The parts that the decoder read.
    pub(super) regions: Vec<Region>,
    /// How slots and loops behind the last region are renumbered; `None` if they keep their numbers.
    pub(super) carry: Option<Carry>,
    /// The slots of the old Record whose values changed in place.
    pub(super) changed: Vec<Range<u32>>,
    /// The new slots of the counts of loops that were open behind a region.
    pub(super) counts: Vec<u32>,
    /// The current run of changed values.
    pub(super) run: Run,
    /// The number of values that were re-read.
    pub(super) touched: usize,
    /// The number of runs of re-read values.
    pub(super) runs: usize,
    /// The number of values that were re-read in blocks.
    pub(super) in_blocks: usize,
    /// The comparison is not given up before this number of runs.
    pub(super) patience: usize,
    /// Whether the comparison was given up because too little was the same.
    pub(super) gave_up: bool,
    /// The number of messages in a row that had nothing in common behind the first difference in markup.
    pub(super) lost: u32,
    /// Whether the decoder has read the rest of the message.
    pub(super) ended: bool,
}

/// The result of handling a difference between the texts.
pub(super) enum Step {
    /// The difference was in a value, which was re-read.
    Read,
    /// Values have been inserted or removed.
    Shifted,
    /// Nearly all values so far have changed.
    Unlike,
    /// The difference is in markup, or in a value that cannot be re-read alone.
    Other,
    /// More than half of the message is a string that changed.
    Lost,
}

impl Pass {
    /// A comparison that can be [started](Self::start) for messages of this Plan, one after the other.
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

    /// Starts the comparison of a message with this history. The memory of the last comparison is used again.
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

    /// Drops the history, and all memory if a large message was compared.
    pub(super) fn give_back(&mut self) {
        self.history = History::default();
        if self.slots.capacity() > MAX_KEPT || self.fresh.memory() > MAX_KEPT {
            *self = Self::new(self.policy, &self.fresh.plan().clone());
        }
    }

    /// Moves the values of the old Record here at the first difference, so that they can be changed in place. If somebody else
    /// holds the Record, they are copied. Fails if the difference is in the bytes that determine the encoding.
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

    /// The difference between the positions in the new and in the old text, modulo 2⁶⁴.
    #[inline]
    pub(super) fn shift(&self) -> usize {
        self.n.wrapping_sub(self.o)
    }

    /// Renumbers the checkpoints up to this offset of the old text for the new text.
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

    /// Changes the locations of the values up to this slot to those in the new text.
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

    /// Records that a slot of the old Record has changed.
    #[inline]
    pub(super) fn mark(&mut self, slot: usize) {
        let slot = slot as u32;
        match self.changed.last_mut() {
            Some(last) if last.end == slot => last.end += 1,
            _ => self.changed.push(slot..slot + 1),
        }
    }

    /// Does the same as [`hold`](Self::hold), if there is a checkpoint up to this offset.
    #[inline]
    pub(super) fn hold_checkpoints(&mut self, place: usize) {
        if self.next_checkpoint() <= place {
            self.hold(place);
        }
    }

    /// The number of these values, which begin at `starts` in the old text, that begin before the next checkpoint.
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

    /// The offset of the next checkpoint in the old text; `usize::MAX` if there is none.
    #[inline]
    pub(super) fn next_checkpoint(&self) -> usize {
        let next = self.history.checkpoints.get(self.next);
        next.map_or(usize::MAX, |next| next.offset() as usize)
    }
}

/// Of strings longer than this number of bytes, only the part that differs is re-read.
pub(super) const LONG_STRING: usize = 64;

/// The number of equal bytes after which two parts of the texts are taken to be the same.
pub(super) const MIN_COMMON: usize = 48;

/// The comparison is not given up before this number of runs.
pub(super) const MIN_RUNS: usize = 16;

/// Buffers up to this size in bytes are kept between messages.
const MAX_KEPT: usize = 16 << 20;

/// The eight bytes at an offset; `None` if there are fewer.
#[inline(always)]
pub(super) fn word(text: &[u8], at: usize) -> Option<u64> {
    let word = text.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word))
}

/// Whether the first bytes of the value at `at` in the new text differ from those of the value at `place` in the old text.
#[inline(always)]
pub(super) fn differs(old: &[u8], place: usize, new: &[u8], at: usize) -> bool {
    word(old, place) != word(new, at)
}
