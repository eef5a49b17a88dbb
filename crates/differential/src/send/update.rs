//! Makes the chunks of one message those of the next.

use bsoap_codec::Record;
use bsoap_codec::encode::{EncodeOptions, Error};

use super::build::LeafSpecs;
use super::chunk::{Chunk, reencode};
use super::compare::{self, Delta, Values};
use super::digest::{Digests, SameDigests};
use super::lexical::Unwritable;
use super::patch::{self, Outcome, Tools};
use super::policy::Policy;
use super::restructure::{BackOff, restructure};
use super::set::LastTable;
use crate::stats::SendStats;

/// What is kept from message to message to work with.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) tools: Tools,
    pub(crate) specs: LeafSpecs,
    pub(crate) back_off: BackOff,
    /// The same for messages of as many values as the one before.
    slides: BackOff,
    /// Of the values of the previous message.
    pub(super) digests: Digests,
    /// Where a value was set last.
    pub(crate) near: LastTable,
    /// Whether more was done than to change few values: what else it takes memory for has to be asked for again.
    pub(super) has_grown: bool,
}

impl Work {
    /// Bytes held by what changes only if more is done than to change few values.
    pub(super) fn steady_memory(&self) -> usize {
        self.tools.steady_memory() + self.specs.memory()
    }

    /// Bytes held by all else.
    pub(super) fn moving_memory(&self) -> usize {
        self.tools.moving_memory() + self.digests.memory()
    }
}

impl Clone for Work {
    /// Nothing of it means anything to a clone.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Why a template cannot become another message.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It has to be encoded from first to last, which reports what is wrong, if anything is.
    FirstTime,
    /// It has another structure, and nothing of the text would be kept. Nothing was changed.
    OtherStructure,
    Encode(Error),
}

impl From<Unwritable> for Failure {
    fn from(_: Unwritable) -> Self {
        Self::FirstTime
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Encode(error)
    }
}

/// The update of a template from one message to the next.
pub(crate) struct Update<'c> {
    pub(crate) policy: &'c Policy,
    pub(crate) options: EncodeOptions,
    pub(crate) old: &'c Record,
    pub(crate) new: &'c Record,
    pub(crate) work: &'c mut Work,
    pub(crate) counts: &'c mut SendStats,
    /// Whether a message of another structure is refused, so that the caller may use another template for it.
    pub(crate) is_strict: bool,
}

impl Update<'_> {
    /// Makes the chunks those of the new message. `length` is that of the old one.
    pub(crate) fn run(mut self, chunks: &mut Vec<Chunk>, length: u64) -> Result<(), Failure> {
        let same_slots = self.old.slots().len() == self.new.slots().len();
        if !same_slots {
            self.work.digests.forget();
        }
        if self.is_strict && !same_slots {
            return Err(Failure::OtherStructure);
        }
        let mut from = 0;
        if same_slots {
            from = self.values(chunks, length)?;
        }
        if from < chunks.len() {
            self.work.has_grown = true;
            restructure(&mut self, chunks, from)?;
        }
        Ok(())
    }

    /// Patches chunk by chunk, up to the first whose structure has changed: its number, or that of
    /// all.
    fn values(&mut self, chunks: &mut Vec<Chunk>, length: u64) -> Result<usize, Failure> {
        let (old, new) = (values(self.old), values(self.new));
        // Of a message that is as it was, nothing but the values is looked at.
        let Some(same) = self.same_front(old, new) else {
            self.counts.unchanged_bytes += length;
            return Ok(chunks.len());
        };
        self.work.digests.forget();
        let mut delta = 0;
        let mut first = 0;
        let mut number = 0;
        while let Some(chunk) = chunks.get_mut(number) {
            let slots = first..first + chunk.slots;
            first = slots.end;
            let before = chunk.text.bytes().len() as u64;
            if slots.end <= same && !chunk.has_heap {
                self.counts.unchanged_bytes += before;
                number += 1;
                continue;
            }
            let old = old.part(slots.start, chunk.slots);
            let new = new.part(slots.start, chunk.slots);
            let (Some(old), Some(new)) = (old, new) else {
                return Err(Failure::FirstTime);
            };
            self.compare(chunk, &old, &new, &mut delta);
            if self.work.tools.dirty.is_clean() {
                self.counts.unchanged_bytes += before;
                number += 1;
                continue;
            }
            if !self.work.tools.dirty.markers.is_empty() {
                return if self.is_strict {
                    Err(Failure::OtherStructure)
                } else {
                    Ok(number)
                };
            }
            if self.slides(&old, &new) {
                return Ok(number);
            }
            let count = match self.patch(chunk, &new)? {
                Outcome::Patched => 1,
                Outcome::Reencode => match self.reencode(chunks, number)? {
                    Some(count) => count,
                    None => return Ok(number),
                },
            };
            number += count;
        }
        Ok(chunks.len())
    }

    /// How many slots at the front of a message are the same as before; `None` if all of the message is.
    #[inline]
    fn same_front(&mut self, old: Values<'_>, new: Values<'_>) -> Option<usize> {
        if old.heap.len() != new.heap.len() {
            return Some(0);
        }
        let digests = &mut self.work.digests;
        let same = match digests.compare(new) {
            SameDigests::Same => return None,
            SameDigests::Front(same) => same,
            SameDigests::Nothing => compare::same_front(old.slots, new.slots),
        };
        if same == old.slots.len() && old.heap == new.heap {
            digests.same(new);
            return None;
        }
        Some(same)
    }

    /// Whether the numbers are those of other slots (a window that slides over a series): then it costs less to move
    /// chunks.
    fn slides(&mut self, old: &Values<'_>, new: &Values<'_>) -> bool {
        let work = &mut *self.work;
        if !work.tools.dirty.tables || !work.slides.is_out() {
            return false;
        }
        let found = compare::slides(old.slots, new.slots);
        work.slides.note(found);
        if found {
            work.back_off = BackOff::default();
        }
        found
    }

    /// Finds what is dirty in a chunk.
    pub(crate) fn compare(
        &mut self,
        chunk: &mut Chunk,
        old: &Values<'_>,
        new: &Values<'_>,
        delta: &mut Delta,
    ) {
        let dirty = &mut self.work.tools.dirty;
        compare::chunk(&mut chunk.segments, chunk.has_heap, old, new, delta, dirty);
    }

    /// Writes what is dirty in a chunk.
    pub(crate) fn patch(
        &mut self,
        chunk: &mut Chunk,
        new: &Values<'_>,
    ) -> Result<Outcome, Failure> {
        let (policy, work) = (self.policy, &mut *self.work);
        let tools = &mut work.tools;
        work.has_grown |= tools.dirty.tables || tools.dirty.len() > policy.shifts;
        let Chunk { text, segments, .. } = chunk;
        let outcome = patch::patch(text, segments, policy, new, tools, self.counts)?;
        for segment in &mut chunk.segments {
            segment.see_order_again(new.slots);
        }
        Ok(outcome)
    }

    fn reencode(&mut self, chunks: &mut Vec<Chunk>, number: usize) -> Result<Option<usize>, Error> {
        self.work.has_grown = true;
        let (policy, options, specs) = (self.policy, self.options, &mut self.work.specs);
        reencode(
            chunks,
            number,
            self.new,
            policy,
            options,
            specs,
            self.counts,
        )
    }
}

/// The values of a Record.
pub(crate) fn values(record: &Record) -> Values<'_> {
    Values {
        slots: record.slots(),
        heap: record.heap(),
    }
}
