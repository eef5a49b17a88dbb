//! Writes the dirty values of a chunk into its text.
//!
//! ```text
//! few dirty values     one by one; one that overflows its width takes padding from a neighbour (steal) or moves the rest (shift)
//! more                 numbers of tables in batches; overflows are listed, and resized together at the end:
//!                      a few as above, more of them in one pass over the chunk (rewrite)
//! most of the chunk    nothing is patched: its part of the message is encoded again
//! ```

use std::mem::{swap, take};

use bsoap_datatypes::kernel::prefetch;
use bytes::BytesMut;

use super::batch::{BLOCK, Batch};
use super::chunk::ChunkText;
use super::compare::{Dirty, Values, range};
use super::dut_table::{Columns, Location, Locations, Mixed, Segment};
use super::lexical::{self, Unwritable};
use super::overflow::{self, Overflow, fits, width};
use super::padding;
use super::policy::Policy;
use super::shift::shift;
use super::steal::steal;
use crate::stats::SendStats;

/// If more than this percentage of a table's numbers overflow, the chunk is encoded again.
const MANY_OVERFLOWS: usize = 16;
/// The number of dirty numbers that are written first, to see how many of them overflow. (`ready=mio/1000/dirty100/any`)
const FIRST_BATCH: usize = 64;

/// Fewer dirty values of a mixed segment than these are always patched.
const FEW: usize = 16;
/// If this percentage of a mixed segment's slots is dirty, the chunk is encoded again.
const MANY: usize = 60;
/// The same percentage if many of the dirty values have another length.
const SOME: usize = 30;

/// The buffers for patching, kept from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    pub(crate) dirty: Dirty,
    batch: Batch,
    overflows: Vec<Overflow>,
    /// The lexical forms of the overflows, one after the other.
    forms: Vec<u8>,
    /// The lexical form of a string with references.
    escaped: Vec<u8>,
    /// The old text of a rewritten chunk, whose memory is used for the next one.
    spare: ChunkText,
}

impl Tools {
    /// The memory of the buffers for a few changes, in bytes.
    pub(crate) fn moving_memory(&self) -> usize {
        self.dirty.memory() + self.escaped.capacity()
    }

    /// The memory of all other buffers, in bytes.
    pub(crate) fn steady_memory(&self) -> usize {
        self.overflows.capacity() * size_of::<Overflow>()
            + self.forms.capacity()
            + self.spare.memory()
            + self.batch.memory()
    }
}

/// The result of patching a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Patched,
    /// Not all values have been written: the chunk must be encoded again.
    Reencode,
}

/// Writes the dirty values listed in `tools` into the text of a chunk. `new` has the slots of the chunk.
pub(crate) fn patch(
    text: &mut ChunkText,
    segments: &mut [Segment],
    policy: &Policy,
    new: &Values<'_>,
    tools: &mut Tools,
    counts: &mut SendStats,
) -> Result<Outcome, Unwritable> {
    if tools.dirty.is_most {
        return Ok(Outcome::Reencode);
    }
    tools.overflows.clear();
    tools.forms.clear();
    let values = counts.values;
    let end = text.edit(policy.chunks.reserve, |text| {
        let mut patcher = Patcher {
            text,
            segments: &mut *segments,
            policy,
            counts: &mut *counts,
            at_once: tools.dirty.len() <= policy.shifts,
            overflows: &mut tools.overflows,
            forms: &mut tools.forms,
        };
        patcher.run(&tools.dirty, new, &mut tools.batch, &mut tools.escaped)
    })?;
    Ok(match end {
        End::Patched => Outcome::Patched,
        End::Reencode => {
            // All values of the chunk count as written.
            counts.values = values;
            Outcome::Reencode
        }
        End::Overflows => {
            let (overflows, forms) = (&tools.overflows, &tools.forms);
            counts.rewritten += overflows.len() as u64;
            tools
                .spare
                .write(|out| overflow::rewrite(text.bytes(), segments, overflows, forms, out));
            swap(text, &mut tools.spare);
            Outcome::Patched
        }
    })
}

/// How the values of a chunk have been written.
enum End {
    Patched,
    Reencode,
    /// All values have been written, except overflows, which are too many to be shifted one by one.
    Overflows,
}

struct Patcher<'t> {
    text: &'t mut BytesMut,
    segments: &'t mut [Segment],
    policy: &'t Policy,
    counts: &'t mut SendStats,
    /// Whether overflows are resized at once instead of being listed.
    at_once: bool,
    overflows: &'t mut Vec<Overflow>,
    forms: &'t mut Vec<u8>,
}

impl Patcher<'_> {
    fn run(
        &mut self,
        dirty: &Dirty,
        new: &Values<'_>,
        batch: &mut Batch,
        escaped: &mut Vec<u8>,
    ) -> Result<End, Unwritable> {
        let length = self.text.len();
        for (number, dirty) in dirty.by_segment() {
            let segment = &self.segments[number];
            let new = new.part(segment.first, segment.slots()).ok_or(Unwritable)?;
            let outcome = match &segment.locations {
                Locations::Mixed(mixed) if is_better_encoded(mixed, dirty, &new, self.policy) => {
                    Outcome::Reencode
                }
                Locations::Mixed(_) => self.leaves(number, dirty, &new, escaped)?,
                Locations::Table(_) => self.numbers(number, dirty, new.slots, batch),
            };
            if outcome == Outcome::Reencode {
                return Ok(End::Reencode);
            }
        }
        if self.overflows.is_empty() {
            let is_too_long = self.text.len() > length.max(self.policy.chunks.split);
            return Ok(if is_too_long {
                End::Reencode
            } else {
                End::Patched
            });
        }
        Ok(self.resize())
    }

    /// Writes the dirty values of a mixed segment.
    fn leaves(
        &mut self,
        number: usize,
        dirty: &[u32],
        new: &Values<'_>,
        escaped: &mut Vec<u8>,
    ) -> Result<Outcome, Unwritable> {
        for &index in dirty {
            let index = index as usize;
            let segment = &self.segments[number];
            let location = segment.location(index).ok_or(Unwritable)?;
            let mut digits = [0; 32];
            let (kind, slot) = (segment.kind(index), new.slots[index]);
            let lexical = lexical::form(kind, slot, new, &mut digits, escaped)?;
            if self.write(number, index, location, lexical) == Outcome::Reencode {
                return Ok(Outcome::Reencode);
            }
        }
        Ok(Outcome::Patched)
    }

    /// Writes the dirty numbers of a table.
    fn numbers(&mut self, number: usize, dirty: &[u32], new: &[u64], batch: &mut Batch) -> Outcome {
        let before = self.overflows.len();
        let (first, rest) = dirty.split_at(dirty.len().min(FIRST_BATCH));
        for dirty in std::iter::once(first).chain(rest.chunks(BLOCK)) {
            let segment = &mut self.segments[number];
            let Locations::Table(table) = &segment.locations else {
                return Outcome::Reencode;
            };
            let text = &self.text[segment.start..];
            for &index in dirty {
                prefetch(text, table.columns.offsets[index as usize].into());
            }
            batch.format(table, new, dirty);
            let outcome = if table.is_padded() || self.at_once {
                self.padded(number, dirty, batch)
            } else {
                let text = &mut self.text[segment.start..];
                let Columns {
                    offsets, lengths, ..
                } = &table.columns;
                for (index, form, length) in batch.iter(dirty) {
                    if usize::from(lengths[index]) == length {
                        padding::put(&mut text[usize::from(offsets[index])..], form, length);
                    } else {
                        let location = table.location(index);
                        let overflow = Overflow::of(number, index, location, length, self.policy);
                        overflow.list(&form[..length], self.overflows, self.forms);
                    }
                }
                self.counts.values += dirty.len() as u64;
                Outcome::Patched
            };
            let overflows = self.overflows.len() - before;
            let passed = dirty
                .last()
                .map_or(0, |&last| last as usize + 1)
                .max(FIRST_BATCH);
            if outcome == Outcome::Reencode || overflows * 100 > passed * MANY_OVERFLOWS {
                return Outcome::Reencode;
            }
        }
        Outcome::Patched
    }

    /// Writes the numbers of a batch, which may be shorter than their widths.
    fn padded(&mut self, number: usize, dirty: &[u32], batch: &Batch) -> Outcome {
        for (index, form, length) in batch.iter(dirty) {
            let segment = &mut self.segments[number];
            let Some(location) = segment.location(index) else {
                return Outcome::Reencode;
            };
            let text = &mut self.text[segment.start + location.offset..];
            if fits(self.policy, location, length)
                && padding::put_padded(text, location, form, length)
            {
                self.counts.values += 1;
                segment.resize(index, length, location.width);
            } else if self.write(number, index, location, &form[..length]) == Outcome::Reencode {
                return Outcome::Reencode;
            }
        }
        Outcome::Patched
    }

    /// Writes a lexical form to its location. If it overflows, it is resized at once, or listed.
    fn write(
        &mut self,
        number: usize,
        index: usize,
        location: Location,
        lexical: &[u8],
    ) -> Outcome {
        self.counts.values += 1;
        if fits(self.policy, location, lexical.len()) {
            let segment = &mut self.segments[number];
            padding::write(&mut self.text[segment.start..], location, lexical);
            segment.resize(index, lexical.len(), location.width);
            return Outcome::Patched;
        }
        if self.at_once {
            return self.resize_one(number, index, lexical);
        }
        let overflow = Overflow::of(number, index, location, lexical.len(), self.policy);
        overflow.list(lexical, self.overflows, self.forms);
        Outcome::Patched
    }

    /// Resizes the listed overflows, unless they are too many.
    fn resize(&mut self) -> End {
        let grown: isize = self.overflows.iter().map(Overflow::grows).sum();
        let length = self.text.len().saturating_add_signed(grown);
        if length > self.text.len().max(self.policy.chunks.split)
            || !overflow::can_move(self.segments, self.overflows, length)
        {
            return End::Reencode;
        }
        if self.overflows.len() > self.policy.shifts {
            return End::Overflows;
        }
        let (overflows, forms) = (take(self.overflows), take(self.forms));
        let is_resized = |overflow: &Overflow| {
            let (number, index) = (overflow.segment as usize, overflow.index as usize);
            self.resize_one(number, index, &forms[overflow.form()]) == Outcome::Patched
        };
        let are_resized = overflows.iter().all(is_resized);
        (*self.overflows, *self.forms) = (overflows, forms);
        if are_resized {
            End::Patched
        } else {
            End::Reencode
        }
    }

    /// Changes the width of an overflow, by stealing or shifting, and writes the value.
    fn resize_one(&mut self, number: usize, index: usize, lexical: &[u8]) -> Outcome {
        let segment = &mut self.segments[number];
        let Some(location) = segment.location(index) else {
            return Outcome::Reencode;
        };
        let length = lexical.len();
        // Another value may have stolen padding from this one.
        let need = length.saturating_sub(location.width);
        let policy = self.policy;
        if need > 0
            && policy.stuffing.keeps_width()
            && steal(
                &mut self.text[segment.start..],
                segment,
                index,
                need,
                policy.steal,
            )
        {
            self.counts.stolen += 1;
        } else {
            let width = width(policy, location, length);
            let grown = width as isize - location.width as isize;
            if !segment.can_move(grown, self.text.len()) {
                return Outcome::Reencode;
            }
            let reserve = policy.chunks.reserve;
            shift(self.text, self.segments, (number, index), width, reserve);
            self.counts.shifted += 1;
        }
        let segment = &mut self.segments[number];
        let Some(location) = segment.location(index) else {
            return Outcome::Reencode;
        };
        padding::write(&mut self.text[segment.start..], location, lexical);
        segment.resize(index, length, location.width);
        Outcome::Patched
    }
}

/// Whether so much of a mixed segment is dirty that its chunk is better encoded again.
fn is_better_encoded(mixed: &Mixed, dirty: &[u32], new: &Values<'_>, policy: &Policy) -> bool {
    let (count, slots) = (dirty.len(), mixed.offsets.len());
    if count < FEW || count * 100 < slots * SOME {
        return false;
    }
    if count * 100 >= slots * MANY || policy.stuffing.keeps_width() {
        return count * 100 >= slots * MANY;
    }
    let has_other_length = |&&index: &&u32| {
        let (entry, slot) = (mixed.entries[index as usize], new.slots[index as usize]);
        entry.spec.kind.is_heap() && range(slot).1 != entry.length as usize
    };
    let sample = dirty.iter().step_by(count / FEW);
    sample.filter(has_other_length).count() > FEW / 4
}
