//! Relaying: a part of the message is copied from another message.
//!
//! ```text
//! message received   │ Envelope … │ part: 17.5, 2, 3.25 … │        what changed since the one before is known
//!                                   └────────┐
//! template           │ Envelope … Header … │ part │ … │            only that is written again
//! ```

use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::encode::Error;

use super::compare;
use super::dut_table::SlotKind;
use super::template::{Match, Template};

/// A part that two messages have in common: the same elements, with the same layout in both Records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its slots in the message of the template.
    pub own: Range<usize>,
    /// Its slots in the message that it is copied from.
    pub from: Range<usize>,
}

impl Template {
    /// Sets the changed values of a part to those in `from`; [`commit`](Self::commit) writes them. Returns the number of
    /// values set. `changed` are the changed slots of `from`, in order; those outside the part are ignored. All other slots
    /// of the part must be the same in both messages.
    ///
    /// `None` if that is not possible because the structure differs. Some values may have been set then, and the part must
    /// be [copied](Self::take_part) as a whole.
    pub fn take_changed(
        &mut self,
        part: &Part,
        from: &Record,
        changed: impl IntoIterator<Item = Range<usize>>,
    ) -> Option<usize> {
        let slots = self.shadow.as_ref()?.slots().len();
        if part.own.len() != part.from.len() || part.own.end > slots {
            return None;
        }
        let mut values = 0;
        for range in changed {
            for slot in range.start.max(part.from.start)..range.end.min(part.from.end) {
                let own = part.own.start + (slot - part.from.start);
                values += usize::from(self.take_slot(own, from, slot)?);
            }
        }
        self.tidy_up();
        Some(values)
    }

    /// Sets a slot. Returns whether its value has changed; `None` if it cannot be set.
    fn take_slot(&mut self, own: usize, from: &Record, slot: usize) -> Option<bool> {
        let kind = self.kind_of(own)?;
        let new = *from.slots().get(slot)?;
        let shadow = self.shadow.as_mut()?;
        let old = *shadow.slots().get(own)?;
        let is_same = match kind.is_heap() {
            true => shadow.octets(old) == from.octets(new),
            false => old == new,
        };
        if is_same {
            return Some(false);
        }
        match kind {
            SlotKind::Boolean
            | SlotKind::Signed
            | SlotKind::Unsigned
            | SlotKind::Float
            | SlotKind::Double => {
                shadow.set_slot(own, new);
            }
            SlotKind::Text | SlotKind::Attribute => {
                let value = shadow.append_octets(from.octets(new)).ok()?;
                shadow.set_slot(own, value);
                self.garbage += compare::range(old).1;
            }
            SlotKind::Marker
            | SlotKind::Hidden
            | SlotKind::Base64
            | SlotKind::Hex
            | SlotKind::Fragment => return None,
        }
        self.pending.push(own);
        Some(true)
    }

    /// Copies a whole part from `from`; the rest of the message stays the same. Differences are found by comparing.
    ///
    /// `None` if there is no message, or the two parts do not fit in one Record.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn take_part(&mut self, part: &Part, from: &Record) -> Result<Option<Match>, Error> {
        match self.joined(part, from) {
            Some(mut record) => self.update(&mut record).map(Some),
            None => Ok(None),
        }
    }

    /// The values of the message, with those of a part replaced by those of `from`.
    fn joined(&self, part: &Part, from: &Record) -> Option<Record> {
        let shadow = self.shadow.as_ref()?;
        let before = shadow.slots().get(..part.own.start)?;
        let behind = shadow.slots().get(part.own.end..)?;
        let taken = from.slots().get(part.from.clone())?;
        let mut record = Record::new(Arc::clone(shadow.plan()), shadow.root());
        let (slots, heap) = record.parts_mut();
        slots.reserve_exact(before.len() + taken.len() + behind.len());
        slots.extend_from_slice(before);
        // The strings of the part keep their order in the heap; those of the rest, which are few, follow them.
        slots.extend_from_slice(taken);
        slots.extend_from_slice(behind);
        heap.extend_from_slice(from.heap());
        let moved = part.own.start + taken.len();
        let rest = (0..part.own.start).map(|slot| (slot, slot));
        let rest = rest.chain((0..behind.len()).map(|slot| (part.own.end + slot, moved + slot)));
        for (old, new) in rest {
            if self.kind(old)?.is_heap() {
                let octets = shadow.octets(shadow.slots()[old]);
                let slot = record.append_octets(octets).ok()?;
                record.set_slot(new, slot);
            }
        }
        Some(record)
    }

    /// Whether values have been set but not written yet.
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}
