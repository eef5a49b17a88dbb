//! Runs of numbers: each number is read, checked against the old text and stored in one loop. Only the branch at the end of the
//! loop cannot be predicted, which matters because most runs are short.

use bsoap_datatypes::kernel::{Found, FoundInRow, Kernel};

use super::pass::{Pass, differs};
use super::rows::{Field, RowPattern};
use crate::receive::change::note;

/// The maximum number of values in a block: at most the bits of a word, and a multiple of three, because kernels read three
/// integers at a time.
const MAX_VALUES: usize = 63;

impl Pass {
    /// Reads numbers at `o` and `n`, at the start of a row of numbers, up to an unchanged number that is followed by an
    /// unchanged one, or up to a checkpoint. Returns the number of values read; if it is 0, nothing is changed.
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

/// Stores numbers while a kernel reads them.
struct Taken<'t> {
    /// The first field of a row.
    field: &'t Field,
    /// All fields of a row.
    fields: &'t [Field],
    old: &'t [u8],
    new: &'t [u8],
    /// The offset of the next value in the old text.
    start: u32,
    /// The offsets of the values: in the new text for those stored, in the old text for the others.
    starts: &'t mut [u32],
    /// The slots of the values.
    slots: &'t mut [u64],
    /// The number of values stored.
    count: usize,
    /// A bit for each value stored, the first lowest: whether it is unchanged.
    same: u64,
    /// The offset in the new text of the first number that was read but not stored.
    refused: Option<usize>,
}

impl Taken<'_> {
    /// Stores a value of a field, which is at `at` in the new text. Returns whether it has changed. `None` if it was not
    /// stored, because the old text has no such value there.
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

    /// Whether the next value, at `at` in the new text, differs from the old one.
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
        // Within a row, reading always continues; at its end, if the next row may be stored and differs.
        column + 1 < self.fields.len()
            || (self.count < self.slots.len() && self.goes_on(at + length + field.gap.len()))
    }
}
