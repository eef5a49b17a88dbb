//! A run of numbers that all changed: each is read, checked against the old text and put in its place in one loop. The end
//! of the loop is the only branch that cannot be predicted, which matters because most runs are short.

use bsoap_datatypes::kernel::{Found, FoundInRow, Kernel};

use super::pass::{Pass, differs};
use super::rows::{Field, RowPattern};
use crate::receive::change::note;

/// Values in a block: no more than a word has bits, and a multiple of three, since kernels read integers by threes.
const MAX_VALUES: usize = 63;

impl Pass {
    /// Reads numbers at `o` and `n`, where a row begins that has nothing else, up to one that is the same with the same
    /// behind it, or to a checkpoint. Returns how many; if none, nothing is changed.
    pub(super) fn number_run(&mut self, pattern: &RowPattern, old: &[u8], new: &[u8]) -> usize {
        let (cursor, width) = (self.cursor, pattern.width);
        if pattern.columns.is_empty() || width > MAX_VALUES {
            return 0;
        }
        let trace = &self.history.trace;
        let sites = trace.sites.get(cursor..).unwrap_or_default();
        let count = pattern.count(0, MAX_VALUES / width * width, sites);
        let starts = trace.starts.get(cursor..cursor + count);
        let count = self.before_checkpoint(starts.unwrap_or_default());
        let rows = count / width;
        let most = rows * width;
        if rows == 0 {
            return 0;
        }
        let (Some(starts), Some(slots), Some(field)) = (
            self.history.trace.starts.get_mut(cursor..=cursor + most),
            self.slots.get_mut(cursor..cursor + most),
            pattern.fields.first(),
        ) else {
            return 0;
        };
        let read = &mut self.run.slots;
        read.clear();
        read.reserve(most + width);
        let mut taken = Taken {
            field,
            fields: &pattern.fields,
            old,
            new,
            start: starts.first().copied().unwrap_or(0),
            starts,
            slots,
            count: 0,
            same: 0,
            refused: None,
        };
        let kernel = Kernel::best();
        let end = match &*pattern.columns {
            [column] => {
                let (number, separator) = (column.number, &column.separator);
                kernel.read_array_while((new, self.n), number, separator, most, read, &mut taken)
            }
            columns => {
                let stop = kernel.read_rows_while(new, self.n, columns, rows, read, &mut taken);
                stop.at
            }
        };
        let (count, o, n) = (
            taken.count,
            taken.start as usize,
            taken.refused.unwrap_or(end),
        );
        if count == 0 {
            return 0;
        }
        let others = !taken.same & ((1 << count) - 1);
        note(&mut self.changed, cursor, others);
        (self.o, self.n) = (o, n);
        self.cursor += count;
        self.touched += others.count_ones() as usize;
        self.in_blocks += others.count_ones() as usize;
        count
    }
}

/// Takes numbers over as they are read.
struct Taken<'t> {
    /// The first of a row, and all.
    field: &'t Field,
    fields: &'t [Field],
    old: &'t [u8],
    new: &'t [u8],
    /// Where the next value begins in the old text.
    start: u32,
    /// Where values begin: those taken over in the new text, the others in the old one.
    starts: &'t mut [u32],
    slots: &'t mut [u64],
    /// How many were taken over.
    count: usize,
    /// Which of them are the same, as bits.
    same: u64,
    /// Where the next is in the new text, if it is a number that was not taken over.
    refused: Option<usize>,
}

impl Taken<'_> {
    /// Takes over a value of a field. Whether it is another; nothing if it was not taken over.
    #[inline(always)]
    fn take(&mut self, field: &Field, at: usize, slot: u64) -> Option<bool> {
        let (Some(kept), Some(&next)) = (
            self.slots.get_mut(self.count),
            self.starts.get(self.count + 1),
        ) else {
            self.refused.get_or_insert(at);
            return None;
        };
        if field.end(self.start, next, self.old).is_none() {
            self.refused.get_or_insert(at);
            return None;
        }
        let is_same = std::mem::replace(kept, slot) == slot;
        self.starts[self.count] = at as u32;
        self.same |= u64::from(is_same) << self.count;
        self.count += 1;
        self.start = next;
        Some(!is_same)
    }

    /// Whether the next value differs from the one that it takes the place of.
    #[inline(always)]
    fn goes_on(&self, at: usize) -> bool {
        differs(self.old, self.start as usize, self.new, at)
    }
}

impl Found for Taken<'_> {
    #[inline(always)]
    fn value(&mut self, at: usize, length: usize, slot: u64) -> bool {
        let field = self.field;
        match self.take(field, at, slot) {
            Some(is_other) => is_other || self.goes_on(at + length + field.gap.len()),
            None => false,
        }
    }
}

impl FoundInRow for Taken<'_> {
    #[inline(always)]
    fn value(&mut self, column: usize, at: usize, length: usize, slot: u64) -> bool {
        let Some(field) = self.fields.get(column).filter(|_| self.refused.is_none()) else {
            return false;
        };
        if self.take(field, at, slot).is_none() {
            return false;
        }
        // The next row, if it may be taken over, or the next value of this one.
        column + 1 < self.fields.len()
            || (self.count < self.slots.len() && self.goes_on(at + length + field.gap.len()))
    }
}
