//! Changes the chunks of one message into those of the next.

use bsoap_codec::Record;
use bsoap_codec::encode::{EncodeOptions, Error};

use super::build::LeafSpecs;
use super::chunk::{Chunk, reencode};
use super::compare::{self, Delta, Values};
use super::digest::{Digests, SameDigests};
use super::lexical::Unwritable;
use super::needle::Needle;
use super::patch::{self, Outcome, Tools};
use super::policy::Policy;
use super::restructure::{BackOff, restructure};
use super::set::LastTable;
use crate::stats::SendStats;

/// Buffers and estimates that are kept from message to message.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) tools: Tools,
    pub(crate) specs: LeafSpecs,
    pub(crate) back_off: BackOff,
    /// The wait before searching for a sliding window again.
    slides: BackOff,
    /// By how many slots the last sliding window moved.
    pub(super) slide: isize,
    /// The digests of the values of the last message.
    pub(super) digests: Digests,
    /// The table in which a value was set last.
    pub(crate) near: LastTable,
    /// Whether more was done than changing a few values, so that its memory has to be measured again.
    pub(super) has_grown: bool,
}

impl Work {
    /// The memory that changes only if more is done than changing a few values, in bytes.
    pub(super) fn steady_memory(&self) -> usize {
        self.tools.steady_memory() + self.specs.memory()
    }

    /// The memory of all other parts, in bytes.
    pub(super) fn moving_memory(&self) -> usize {
        self.tools.moving_memory() + self.digests.memory()
    }
}

impl Clone for Work {
    /// A clone starts with empty buffers.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Why a template could not be changed into another message.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The whole message has to be encoded, which also reports an error if there is one.
    FirstTime,
    /// It has another structure, and nothing of the text could be kept. Nothing was changed.
    OtherStructure,
    /// The whole message has to be encoded, in chunks of another size: a sliding window begins, or is over.
    OtherChunks {
        is_window: bool,
    },
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

/// If more than one in this number of a chunk's values is dirty, a sliding window is looked for.
const MUCH: usize = 8;

/// The update of a template from one message to the next.
pub(crate) struct Update<'c> {
    pub(crate) policy: &'c Policy,
    pub(crate) options: EncodeOptions,
    pub(crate) old: &'c Record,
    pub(crate) new: &'c Record,
    pub(crate) work: &'c mut Work,
    pub(crate) counts: &'c mut SendStats,
    /// Whether a message with another structure is refused, so that the caller can use another template.
    pub(crate) is_strict: bool,
    /// Whether the chunks have the sizes of a sliding window.
    pub(crate) is_window: bool,
}

impl Update<'_> {
    /// Changes the chunks into those of the new message. `length` is the length of the old one.
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

    /// Patches chunk by chunk, up to the first chunk whose structure has changed. Returns the index of that chunk, or the
    /// number of chunks.
    fn values(&mut self, chunks: &mut Vec<Chunk>, length: u64) -> Result<usize, Failure> {
        let (old, new) = (values(self.old), values(self.new));
        // If nothing has changed, only the values have been looked at.
        let Some(same) = self.same_front(old, new) else {
            self.counts.unchanged_bytes += length;
            return Ok(chunks.len());
        };
        self.work.digests.forget();
        let message = (old, new);
        let mut delta = 0;
        let mut first = 0;
        let mut number = 0;
        let mut may_slide = true;
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
            if may_slide && self.is_much(chunk) {
                may_slide = false;
                if self.slides(&chunks[number..], message, length)? {
                    return Ok(number);
                }
            }
            let chunk = &mut chunks[number];
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

    /// The number of slots at the front of a message that are the same as before; `None` if the whole message is.
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

    /// Whether many values of a chunk are dirty.
    fn is_much(&self, chunk: &Chunk) -> bool {
        let dirty = &self.work.tools.dirty;
        dirty.is_most || dirty.len() * MUCH > chunk.values
    }

    /// Whether the values from the first of these chunks on have moved to other slots, as in a sliding window. Then moving
    /// chunks costs less than patching. `length` is the length of the old message.
    fn slides(
        &mut self,
        chunks: &[Chunk],
        (old, new): (Values<'_>, Values<'_>),
        length: u64,
    ) -> Result<bool, Failure> {
        let window = Failure::OtherChunks { is_window: true };
        let unlike = Failure::OtherChunks { is_window: false };
        let last = chunks.len() - 1;
        if last == 0 || !(self.is_window || self.work.slides.is_out()) {
            return Ok(false);
        }
        // The next chunk's values may have left the window, and those of a far one may belong to something else.
        let by = [1, last - last / 4]
            .into_iter()
            .find_map(|index| self.find_slide(&chunks[index], old, new));
        if !self.is_window {
            self.work.slides.note(by.is_some());
        }
        let Some(by) = by else {
            return if self.is_window {
                Err(unlike)
            } else {
                Ok(false)
            };
        };
        if by == 0 {
            return Ok(false);
        }
        self.work.slide = by;
        self.work.back_off = BackOff::default();
        let sizes = self.policy.chunks;
        if !self.is_window && sizes.for_window(length) != sizes {
            return Err(window);
        }
        Ok(true)
    }

    /// By how many slots the first values of a chunk have moved.
    fn find_slide(&self, chunk: &Chunk, old: Values<'_>, new: Values<'_>) -> Option<isize> {
        let needle = Needle::of(chunk, old)?;
        let here = needle.slot() as isize;
        let known = [0, self.work.slide];
        let known = known
            .into_iter()
            .find(|by| usize::try_from(here + by).is_ok_and(|at| needle.is_at(new, at)));
        let found =
            known.or_else(|| Some(needle.find(new, 0..new.slots.len())? as isize - here))?;
        let is_moved = found == 0 || needle.is_confirmed_at(new, (here + found) as usize);
        is_moved.then_some(found)
    }

    /// Finds the dirty slots of a chunk.
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

    /// Writes the dirty values of a chunk.
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
