//! Explicit changes: the caller sets single values. Nothing is compared.

use std::fmt;
use std::sync::Arc;

use bsoap_codec::encode::Error;
use bsoap_codec::plan::LeafKind;
use bsoap_codec::{HeapFull, Record, Scalar};

use super::chunk::{self, Chunk, reencode};
use super::compare::{self, Dirty, is_most_of_table};
use super::dut_table::{LeafSpec, Locations, Segment, SlotKind};
use super::lexical::Unwritable;
use super::patch::{self, Outcome};
use super::template::{Match, Template};
use super::update::values;
use crate::stats::SendStats;

/// The old text of a value that is set stays in the heap. When there are this many bytes of old text, and they are half of
/// the heap, the heap is copied without them.
const GARBAGE: usize = 64 << 10;

/// Why a value cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetError {
    /// There is no message yet, or it has no such slot.
    NoSlot(usize),
    /// The slot is not a value of this kind.
    SlotKind(usize),
    /// The strings of the message are too long for a Record.
    TooLong,
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSlot(slot) => write!(f, "the message has no slot {slot}"),
            Self::SlotKind(slot) => write!(
                f,
                "slot {slot} does not hold a value of the type that was set"
            ),
            Self::TooLong => f.write_str("the strings of a message have more than 4 GiB"),
        }
    }
}

impl std::error::Error for SetError {}

impl Template {
    /// Sets a number or boolean of the next message, which [`commit`](Self::commit) makes. Slots are those of the message's
    /// [record](Self::record). It is not checked whether the number is in the range of its type.
    ///
    /// # Errors
    /// If there is no such slot, or it is no number of this type.
    pub fn set<T: Scalar>(&mut self, slot: usize, value: T) -> Result<(), SetError> {
        let kind = self.kind_of(slot).ok_or(SetError::NoSlot(slot))?;
        let is_signed = T::holds(LeafKind::Signed { min: -1, max: 0 });
        let fits = match kind {
            SlotKind::Double => T::holds(LeafKind::Double),
            SlotKind::Float => T::holds(LeafKind::Float),
            SlotKind::Boolean => T::holds(LeafKind::Boolean),
            SlotKind::Signed => is_signed,
            SlotKind::Unsigned => !is_signed && T::holds(LeafKind::Unsigned { max: 0 }),
            _ => false,
        };
        if !fits {
            return Err(SetError::SlotKind(slot));
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.set_slot(slot, value.into_slot());
            self.pending.push(slot);
        }
        Ok(())
    }

    /// Sets a string of the next message (or a value of another type, given as its lexical form).
    ///
    /// # Errors
    /// If there is no such slot, or it is no text.
    pub fn set_text(&mut self, slot: usize, text: &str) -> Result<(), SetError> {
        let kind = self.kind_of(slot).ok_or(SetError::NoSlot(slot))?;
        if !matches!(kind, SlotKind::Text | SlotKind::Attribute) {
            return Err(SetError::SlotKind(slot));
        }
        if let Some(shadow) = &mut self.shadow {
            let before = shadow.slots()[slot];
            let value = shadow
                .append_octets(text.as_bytes())
                .map_err(|HeapFull| SetError::TooLong)?;
            shadow.set_slot(slot, value);
            self.garbage += compare::range(before).1;
            self.pending.push(slot);
            self.tidy_up();
        }
        Ok(())
    }

    /// Makes the next message, with all values that were [set](Self::set) since the last one.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`]; the template is empty then.
    pub fn commit(&mut self) -> Result<Match, Error> {
        let counts = self.write_pending()?;
        Ok(match counts {
            Some(counts) => self.count(counts),
            None => Match::FirstTime,
        })
    }

    /// Writes the values that were set; `None` if the whole message was encoded again.
    pub(crate) fn write_pending(&mut self) -> Result<Option<SendStats>, Error> {
        let mut counts = SendStats {
            unchanged_bytes: self.length,
            ..SendStats::default()
        };
        let mut pending = std::mem::take(&mut self.pending);
        self.work.near.forget();
        if !pending.is_sorted_by(|one, next| one < next) {
            pending.sort_unstable();
            pending.dedup();
        }
        let Some(shadow) = self.shadow.take_if(|_| !pending.is_empty()) else {
            return Ok(Some(counts));
        };
        self.work.digests.forget();
        self.work.has_grown = true;
        let mut rest = &*pending;
        let mut is_first = false;
        while let Some(&slot) = rest.first() {
            let number = chunk_of(&self.chunks, slot);
            let chunk = &self.chunks[number];
            let first = chunk.state.slot();
            let own = rest.partition_point(|&slot| slot < first + chunk.slots);
            let (own, later) = rest.split_at(own);
            rest = later;
            if !self.write_slots(number, own, &shadow, &mut counts) {
                is_first = true;
                break;
            }
        }
        if is_first {
            self.encode(&shadow)?;
        }
        self.length = chunk::length(&self.chunks);
        self.shadow = Some(shadow);
        pending.clear();
        self.pending = pending;
        Ok((!is_first).then_some(counts))
    }

    /// Writes the values of these slots, which are all in one chunk. Returns `false` if the chunk has to be encoded again.
    fn write_slots(
        &mut self,
        number: usize,
        slots: &[usize],
        shadow: &Record,
        counts: &mut SendStats,
    ) -> bool {
        let chunk = &mut self.chunks[number];
        let (first, tools) = (chunk.state.slot(), &mut self.work.tools);
        list(
            &chunk.segments,
            slots.iter().map(|slot| slot - first),
            &mut tools.dirty,
        );
        let before = chunk.text.bytes().len() as u64;
        counts.unchanged_bytes = counts.unchanged_bytes.saturating_sub(before);
        let Some(new) = values(shadow).part(first, chunk.slots) else {
            return false;
        };
        let (policy, Chunk { text, segments, .. }) = (&self.policy, &mut *chunk);
        match patch::patch(text, segments, policy, &new, tools, counts) {
            Ok(Outcome::Patched) => {
                for (number, _) in tools.dirty.by_segment() {
                    segments[number].see_order(shadow.slots(), first);
                }
                true
            }
            Ok(Outcome::Reencode) => {
                let (chunks, options) = (&mut self.chunks, self.options);
                let specs = &mut self.work.specs;
                let count = reencode(chunks, number, shadow, policy, options, specs, counts);
                matches!(count, Ok(Some(_)))
            }
            Err(Unwritable) => false,
        }
    }

    /// Removes the text of old values from the heap, if there is much of it.
    pub(super) fn tidy_up(&mut self) {
        let heap = self.shadow.as_ref().map_or(0, |shadow| shadow.heap().len());
        if self.garbage > GARBAGE && self.garbage * 2 > heap {
            self.tidy();
        }
    }

    /// The kind of a slot that is set. It often is in the same table as the last one.
    #[inline]
    pub(super) fn kind_of(&mut self, slot: usize) -> Option<SlotKind> {
        match self.work.near.kind(slot) {
            Some(kind) => Some(kind),
            None => self.look_up(slot),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, slot: usize) -> Option<SlotKind> {
        let (segment, index) = self.segment_of(slot)?;
        let kind = segment.kind(index);
        let near = match &segment.locations {
            Locations::Table(table) => Some(LastTable {
                first: slot - index,
                slots: table.slots(),
                cells: Some(Arc::clone(&table.cells)),
            }),
            Locations::Mixed(_) => None,
        };
        if let Some(near) = near {
            self.work.near = near;
        }
        Some(kind)
    }

    /// The kind of a slot; `None` if there is no such slot.
    pub(super) fn kind(&self, slot: usize) -> Option<SlotKind> {
        let (segment, index) = self.segment_of(slot)?;
        Some(segment.kind(index))
    }

    /// The segment that has a slot of the message, and the index of the slot in it.
    fn segment_of(&self, slot: usize) -> Option<(&Segment, usize)> {
        if slot >= self.shadow.as_ref()?.slots().len() {
            return None;
        }
        let chunk = self.chunks.get(chunk_of(&self.chunks, slot))?;
        let slot = slot - chunk.state.slot();
        let behind = chunk
            .segments
            .partition_point(|segment| segment.first <= slot);
        let segment = chunk.segments.get(behind.checked_sub(1)?)?;
        Some((segment, slot - segment.first))
    }

    /// Copies the strings of the message to a heap without the text of old values.
    fn tidy(&mut self) {
        let Some(shadow) = &mut self.shadow else {
            return;
        };
        let mut heap = Vec::with_capacity(shadow.heap().len());
        for chunk in &self.chunks {
            for segment in &chunk.segments {
                let Locations::Mixed(mixed) = &segment.locations else {
                    continue;
                };
                let first = chunk.state.slot() + segment.first;
                for (index, _) in mixed
                    .masks
                    .iter()
                    .enumerate()
                    .filter(|(_, mask)| **mask != 0)
                {
                    let slot = shadow.slots()[first + index];
                    let moved = (slot >> 32 << 32) | heap.len() as u64;
                    heap.extend_from_slice(shadow.octets(slot));
                    shadow.set_slot(first + index, moved);
                }
            }
        }
        shadow.replace_heap(heap);
        self.garbage = 0;
    }
}

/// The table in which a number was set last; valid as long as the chunks stay the same.
#[derive(Debug, Default)]
pub(crate) struct LastTable {
    /// Its first slot, and its number of slots.
    first: usize,
    slots: usize,
    cells: Option<Arc<[LeafSpec]>>,
}

impl LastTable {
    /// Forgets the table, since the chunks may change.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.cells = None;
    }

    /// The kind of a slot, if it is in the table.
    #[inline]
    fn kind(&self, slot: usize) -> Option<SlotKind> {
        let index = slot.wrapping_sub(self.first);
        let cells = self.cells.as_ref().filter(|_| index < self.slots)?;
        Some(cells[index % cells.len()].kind)
    }
}

/// The number of the chunk that has a slot.
fn chunk_of(chunks: &[Chunk], slot: usize) -> usize {
    // A chunk without slots, which begins where the next one does, is never chosen.
    chunks
        .partition_point(|chunk| chunk.state.slot() <= slot)
        .saturating_sub(1)
}

/// Adds slots of a chunk, given in order, to the dirty slots.
fn list(segments: &[Segment], slots: impl Iterator<Item = usize>, dirty: &mut Dirty) {
    dirty.clear();
    let (mut number, mut first) = (0, 0);
    for slot in slots {
        while let Some(next) = segments.get(number + 1).filter(|next| next.first <= slot) {
            (number, first) = (number + 1, next.first);
        }
        dirty.push(number, slot - first);
    }
    let is_most = dirty.by_segment().any(|(number, dirty)| {
        matches!(&segments[number].locations, Locations::Table(table) if is_most_of_table(table, dirty.len()))
    });
    dirty.is_most = is_most;
}
