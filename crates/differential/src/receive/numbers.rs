//! Numbers of an array that change one after the other: each is read, held against the old text and put in its place in one
//! loop, at whose end is the only branch that cannot be foretold. Most stretches are short.

use std::iter::Zip;
use std::slice::{Iter, IterMut};

use bsoap_datatypes::kernel::{Found, Kernel};

use super::follow::{Block, Until, differs, note};
use super::in_step::Before;
use super::pass::Pass;
use super::stretch::{Field, Stretch};

/// Numbers in a block: no more than a word has bits, and as many as kernels read by threes.
const BLOCK: usize = 63;

impl Pass {
    /// Reads numbers of the array at hand together, from `o` and `n` on, as [`block`](Self::block) does rows; up to one that is the
    /// same, and the next, too. Nothing if not even one is plain, and in step with the old text; then nothing is changed.
    pub(super) fn block_of_numbers(
        &mut self,
        until: Until,
        old: &[u8],
        new: &[u8],
    ) -> Option<Block> {
        let (rows, is_full) = until.rows(BLOCK);
        let (cursor, begin) = (self.cursor, self.stretch.passed.len());
        let Stretch {
            pattern,
            passed,
            slots: read,
            ..
        } = &mut self.stretch;
        let ([field], [column]) = (&*pattern.fields, &*pattern.columns) else {
            return None;
        };
        let before = Before::new(&self.history.trace, cursor, old);
        let most = before.of_field(field, rows.min(BLOCK));
        let starts = self.history.trace.starts.get_mut(cursor..=cursor + most)?;
        let slots = self.slots.get_mut(cursor..cursor + most)?;
        passed.extend_from_slice(starts);
        let stood = passed.get(begin..)?;
        let nexts = stood.get(1..)?;
        read.clear();
        read.reserve(most + 1);
        let mut taken = Taken {
            field,
            old,
            new,
            is_full,
            most,
            places: stood.iter().zip(nexts).zip(starts.iter_mut()).zip(slots),
            refused: None,
            same: 0,
        };
        let (number, separator) = (column.number, &column.separator);
        let kernel = Kernel::best();
        let end = kernel.read_array_while(new, self.n, number, separator, most, read, &mut taken);
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
        let block = Block {
            values: count,
            others: others.count_ones() as usize,
            same: count - (u64::BITS - others.leading_zeros()) as usize,
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
    field: &'t Field,
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
    /// A value is the same. Whether the one behind it, at a place of either text, is not.
    #[inline(always)]
    fn goes_on(&mut self, next: usize, at: usize) -> bool {
        self.same |= 1 << (self.most - 1 - self.places.len());
        self.is_full || differs(self.old, next, self.new, at)
    }
}

impl Found for Taken<'_> {
    #[inline(always)]
    fn value(&mut self, at: usize, length: usize, slot: u64) -> bool {
        let Some((((&start, &next), place), kept)) = self.places.next() else {
            self.refused = Some((self.most, at));
            return false;
        };
        if self.field.end(start, next, self.old).is_none() {
            self.refused = Some((self.most - 1 - self.places.len(), at));
            return false;
        }
        let before = std::mem::replace(kept, slot);
        *place = at as u32;
        before != slot || self.goes_on(next as usize, at + length + self.field.gap.len())
    }
}
