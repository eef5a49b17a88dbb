//! Formats the numbers of a table in batches, so that no number waits for the length of another.

use bsoap_datatypes::kernel::{self, Kernel};

use super::dut_table::{SlotKind, Table};
use super::lexical::{self, Number};

/// The most numbers in a batch.
pub(crate) const BLOCK: usize = 256;

/// The indexes of all numbers of a batch.
const ALL: [u8; BLOCK] = {
    let mut all = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        all[at] = at as u8;
        at += 1;
    }
    all
};

/// The lexical forms of the numbers of a batch; kept for the next batch to use its memory again.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The lexical forms, a [`Number`] each.
    forms: Vec<u8>,
    lengths: Vec<u8>,
    /// The index of the form of each number, since numbers of the same kind are formatted together.
    order: Vec<u8>,
    /// Values of one kind, to be formatted.
    values: Vec<u64>,
}

impl Batch {
    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        let bytes = self.forms.capacity() + self.lengths.capacity() + self.order.capacity();
        bytes + self.values.capacity() * size_of::<u64>()
    }

    /// The slot, lexical form and length of each number of the batch; `slots` are those that were formatted.
    #[inline]
    pub(crate) fn iter<'b>(
        &'b self,
        slots: &'b [u32],
    ) -> impl Iterator<Item = (usize, &'b Number, usize)> {
        let forms = self.forms.as_chunks().0;
        slots.iter().zip(&self.order).map(move |(&slot, &at)| {
            let at = usize::from(at);
            (slot as usize, &forms[at], usize::from(self.lengths[at]))
        })
    }

    /// Formats the numbers in these slots of a table, at most [`BLOCK`]. `values` are the slots of the table.
    pub(crate) fn format(&mut self, table: &Table, values: &[u64], slots: &[u32]) {
        self.forms.clear();
        self.lengths.clear();
        self.order.clear();
        self.order.extend_from_slice(&ALL[..slots.len()]);
        if let [cell] = &*table.cells {
            self.some(cell.kind, values, slots, &ALL[..slots.len()]);
            return;
        }
        let kinds = table.cells.iter().map(|cell| cell.kind);
        for (column, kind) in kinds.clone().enumerate() {
            // Each kind is formatted once.
            if kinds.clone().take(column).any(|before| before == kind) {
                continue;
            }
            let (members, count) = members(table, slots, kind);
            let formatted = self.lengths.len();
            for (index, &member) in members[..count].iter().enumerate() {
                self.order[usize::from(member)] = (formatted + index) as u8;
            }
            self.some(kind, values, slots, &members[..count]);
        }
    }

    /// Formats the slots with the indexes `members`, which are all of one kind.
    fn some(&mut self, kind: SlotKind, values: &[u64], slots: &[u32], members: &[u8]) {
        let values = members
            .iter()
            .map(|&at| values[slots[usize::from(at)] as usize]);
        if let Some(number) = number(kind) {
            self.values.clear();
            self.values.extend(values);
            let kernel = Kernel::best();
            kernel.format_array(&self.values, number, &mut self.forms, &mut self.lengths);
        } else {
            for value in values {
                let mut form = [0; size_of::<Number>()];
                self.lengths
                    .push(lexical::number(kind, value, &mut form) as u8);
                self.forms.extend_from_slice(&form);
            }
        }
    }
}

/// The indexes of the slots that are of a kind, and their number. (The kinds come in no order, so the loop does not branch
/// on them.)
fn members(table: &Table, slots: &[u32], kind: SlotKind) -> ([u8; BLOCK], usize) {
    let mut members = [0; BLOCK];
    let mut count = 0;
    for (at, &slot) in slots.iter().take(BLOCK).enumerate() {
        members[count % BLOCK] = at as u8;
        count += usize::from(table.cell(slot as usize).kind == kind);
    }
    (members, count)
}

/// The kind of number for the vectorised kernels; `None` if they cannot write it.
fn number(kind: SlotKind) -> Option<kernel::Number> {
    match kind {
        SlotKind::Double => Some(kernel::Number::Double),
        SlotKind::Signed => Some(kernel::Number::Signed {
            min: i64::MIN,
            max: i64::MAX,
        }),
        SlotKind::Unsigned => Some(kernel::Number::Unsigned { max: u64::MAX }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::dut_table::{Columns, LeafSpec};
    use super::*;

    #[test]
    fn numbers_formatted_in_a_batch_are_those_formatted_one_by_one() {
        let mut random = 1_u64;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random ^ random >> 29) >> (random >> 58)
        };
        let values: Vec<u64> = (0..500).map(|_| next()).collect();
        let slots: Vec<u32> = (0..500).filter(|slot| slot % 7 > 2).collect();
        let kinds: [&[SlotKind]; 5] = [
            &[SlotKind::Double],
            &[SlotKind::Signed],
            &[SlotKind::Unsigned],
            &[SlotKind::Signed, SlotKind::Signed, SlotKind::Double],
            &[
                SlotKind::Boolean,
                SlotKind::Double,
                SlotKind::Unsigned,
                SlotKind::Float,
            ],
        ];
        for kinds in kinds {
            let cells = kinds.iter().map(|&kind| LeafSpec::without_location(kind));
            let table = Table::new(cells.collect(), Columns::default());
            let mut batch = Batch::default();
            for slots in slots.chunks(BLOCK) {
                batch.format(&table, &values, slots);
                assert_eq!(batch.iter(slots).count(), slots.len());
                for ((slot, form, length), &expected) in batch.iter(slots).zip(slots) {
                    let mut out = [0; 32];
                    let kind = kinds[slot % kinds.len()];
                    let expected_length = lexical::number(kind, values[slot], &mut out);
                    assert_eq!(slot, expected as usize);
                    assert_eq!(form[..length], out[..expected_length]);
                }
            }
        }
    }
}
