//! Numbers of an array, or of rows of numbers, that change one after the other: each is read, held against the old text and
//! put in its place in one loop, at whose end is the only branch that cannot be foretold. Most stretches are short.

use std::iter::Zip;
use std::slice::{Iter, IterMut};

use bsoap_datatypes::kernel::{Found, FoundInRow, Kernel};

use super::follow::{Block, Until, differs};
use super::in_step::Before;
use super::pass::Pass;
use super::stretch::{Field, Stretch};
use crate::receive::change::note;

/// Numbers in a block: no more than a word has bits, and as many as kernels read by threes.
const MOST: usize = 63;

impl Pass {
    /// Reads numbers of the array at hand together, of rows that have nothing else, from `o` and `n` on, as
    /// [`block`](Self::block) does; up to one, or a row, that is the same with the same behind it. A block may end within a
    /// row. Nothing if not even one is plain, and in step with the old text; then nothing is changed.
    pub(super) fn block_of_numbers(
        &mut self,
        until: Until,
        old: &[u8],
        new: &[u8],
    ) -> Option<Block> {
        let (cursor, begin) = (self.cursor, self.stretch.passed.len());
        let Stretch {
            pattern,
            passed,
            slots: read,
            ..
        } = &mut self.stretch;
        let (fields, width) = (&*pattern.fields, pattern.slots.max(1));
        let (rows, is_full) = until.rows(MOST);
        let before = Before::new(&self.history.trace, cursor, old);
        let values = rows.min(MOST / width) * width;
        let rows = before.of_rows(pattern, 0, values) / width;
        let most = rows * width;
        if most == 0 {
            return None;
        }
        let starts = self.history.trace.starts.get_mut(cursor..=cursor + most)?;
        let slots = self.slots.get_mut(cursor..cursor + most)?;
        passed.extend_from_slice(starts);
        let stood = passed.get(begin..)?;
        let nexts = stood.get(1..)?;
        read.clear();
        read.reserve(most + width);
        let mut taken = Taken {
            field: fields.first()?,
            fields,
            old,
            new,
            is_full,
            most,
            places: stood.iter().zip(nexts).zip(starts.iter_mut()).zip(slots),
            refused: None,
            same: 0,
        };
        let kernel = Kernel::best();
        let end = match &*pattern.columns {
            [column] => {
                let (number, separator) = (column.number, &column.separator);
                kernel.read_array_while(new, self.n, number, separator, most, read, &mut taken)
            }
            columns => {
                let stop = kernel.read_rows_while(new, self.n, columns, rows, read, &mut taken);
                stop.at
            }
        };
        let all = (most - taken.places.len(), end);
        let (count, n) = taken.refused.unwrap_or(all);
        let o = *stood.get(count)? as usize;
        let others = !taken.same & ((1 << count) - 1);
        passed.truncate(begin + count);
        if count == 0 {
            return None;
        }
        note(&mut self.changed, cursor, others);
        self.hold_passed(begin);
        self.stretch.keep_rows(begin);
        let block = Block {
            values: count,
            others: others.count_ones() as usize,
            same: count - (u64::BITS - others.leading_zeros()) as usize,
            next: self.stretch.pattern.ahead(0, count),
        };
        self.pass_block(count, (o, n), &block);
        Some(block)
    }

    /// Checkpoints between the values just taken over hold. Those stood where is told from `begin` on.
    #[inline]
    fn hold_passed(&mut self, begin: usize) {
        let last = self.stretch.passed.last();
        if last.is_none_or(|&last| self.next_checkpoint() > last as usize) {
            return;
        }
        for value in begin..self.stretch.passed.len() {
            let start = self.stretch.passed[value] as usize;
            if self.next_checkpoint() <= start {
                let place = self.history.trace.starts[self.cursor + value - begin];
                (self.o, self.n) = (start, place as usize);
                self.hold(start);
            }
        }
    }
}

/// Takes numbers over as they are read.
struct Taken<'t> {
    /// The first of a row, and all.
    field: &'t Field,
    fields: &'t [Field],
    old: &'t [u8],
    new: &'t [u8],
    is_full: bool,
    /// How many there may be.
    most: usize,
    /// Of each: where it stood, and the one behind it; where its own place is noted; and its slot.
    places: Places<'t>,
    /// How many were taken over, and where the next stands, if that was not though it is a number.
    refused: Option<(usize, usize)>,
    /// Which of them are the same, by bits: hardly any.
    same: u64,
}

type Places<'t> = Zip<Zip<Zip<Iter<'t, u32>, Iter<'t, u32>>, IterMut<'t, u32>>, IterMut<'t, u64>>;

impl Taken<'_> {
    /// Takes over a value of a field. Whether it is another; nothing if it was not taken over.
    #[inline(always)]
    fn take(&mut self, field: &Field, at: usize, slot: u64) -> Option<(bool, usize)> {
        let Some((((&start, &next), place), kept)) = self.places.next() else {
            self.refuse(self.most, at);
            return None;
        };
        if field.end(start, next, self.old).is_none() {
            self.refuse(self.most - 1 - self.places.len(), at);
            return None;
        }
        let is_other = std::mem::replace(kept, slot) != slot;
        *place = at as u32;
        if !is_other {
            self.same |= 1 << (self.most - 1 - self.places.len());
        }
        Some((is_other, next as usize))
    }

    /// The first that is not taken over.
    #[cold]
    fn refuse(&mut self, count: usize, at: usize) {
        self.refused.get_or_insert((count, at));
    }

    /// Whether to go on, by where the next value stood and stands.
    #[inline(always)]
    fn goes_on(&self, next: usize, at: usize) -> bool {
        self.is_full || differs(self.old, next, self.new, at)
    }
}

impl Found for Taken<'_> {
    #[inline(always)]
    fn value(&mut self, at: usize, length: usize, slot: u64) -> bool {
        let field = self.field;
        let Some((is_other, next)) = self.take(field, at, slot) else {
            return false;
        };
        is_other || self.goes_on(next, at + length + field.gap.len())
    }
}

impl FoundInRow for Taken<'_> {
    #[inline(always)]
    fn value(&mut self, column: usize, at: usize, length: usize, slot: u64) -> bool {
        let Some(field) = self.fields.get(column).filter(|_| self.refused.is_none()) else {
            return false;
        };
        let Some((_, next)) = self.take(field, at, slot) else {
            return false;
        };
        // The next row, if there is room for it, or within this one.
        column + 1 < self.fields.len()
            || (self.places.len() > 0 && self.goes_on(next, at + length + field.gap.len()))
    }
}
