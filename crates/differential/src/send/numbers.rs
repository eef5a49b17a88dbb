//! The dirty numbers of a table in which every number has as much room as it takes.
//!
//! ```text
//! old, new   . x . . x x .        which differ, found without a branch for each
//! list       1 4 5
//! texts      12.5 | -7 | 3        formatted side by side: none waits for the length of another
//! text       all fit:  each is put into its place
//!            else:     the table is put together of old text and new in one pass
//! ```
//!
//! Value by value, with a branch for each, the processor guesses wrong as often as values have changed or not in no
//! order; that alone would cost as much as formatting a short number.

use super::leaves::{Cell, Kind};
use super::lexical::{self, Number};
use super::stuff;

/// So many numbers are formatted, then put into their places: the processor is still about that, waiting for memory, while
/// it formats the next.
const BLOCK: usize = 32;
/// Slots that are compared at once where most are the same.
const SAME: usize = 32;
/// Slots that are listed together.
const STEP: usize = 8;

/// The numbers of a table that have changed. Kept from one table to the next for its room.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    /// Their slots, counted from the table's first, in order; as many as `count` says.
    list: Vec<u32>,
    count: usize,
    /// Those before are done; of so many from there on the text is known.
    done: usize,
    held: usize,
    texts: Vec<Number>,
    lengths: Vec<u8>,
    /// The lengths of all numbers of a table that is written again.
    pub(crate) all: Vec<u8>,
}

/// What numbers are formatted from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) cells: &'s [Cell],
    /// What is written now.
    pub(crate) lengths: &'s [u8],
    /// What is to be.
    pub(crate) slots: &'s [u64],
}

/// What came of formatting some.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Formatted {
    /// How many have another length than before.
    pub(crate) misfits: usize,
    /// By how much all of them are longer.
    pub(crate) grown: isize,
}

impl Fresh {
    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.list.capacity() * size_of::<u32>()
            + self.texts.capacity() * size_of::<Number>()
            + self.lengths.capacity()
            + self.all.capacity()
    }

    /// How many have changed.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// How many of them are not done.
    pub(crate) fn left(&self) -> usize {
        self.count - self.done
    }

    /// Of how many of those the text is known.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Slot, text and length of those whose text is known.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Number, usize)> {
        let texts = self.texts.iter().zip(&self.lengths);
        let all = self.list[self.done..self.done + self.held]
            .iter()
            .zip(texts);
        all.map(|(&index, (text, &length))| (index as usize, text, usize::from(length)))
    }

    /// Whether of the numbers from the first to the last of those most have changed.
    pub(crate) fn are_dense(&self) -> bool {
        match &self.list[self.done..self.done + self.held] {
            [first, .., last] => ((last - first) as usize) < 2 * self.held,
            _ => false,
        }
    }

    /// Finds which numbers differ. `old` and `new` are of equal length.
    #[inline(never)]
    pub(crate) fn find(&mut self, old: &[u64], new: &[u64]) {
        if self.list.len() < new.len() + SAME {
            self.list.resize(new.len() + SAME, 0);
        }
        let (old_blocks, old_rest) = old.as_chunks::<SAME>();
        let (new_blocks, new_rest) = new.as_chunks::<SAME>();
        let (mut count, mut first) = (0, 0);
        let mut is_quiet = true;
        for (old, new) in old_blocks.iter().zip(new_blocks) {
            // Where much has changed, it is not worth asking.
            if !is_quiet || old != new {
                let before = count;
                for (old, new) in old.as_chunks().0.iter().zip(new.as_chunks().0) {
                    count += differing(old, new, first, &mut self.list[count..]);
                    first += STEP as u32;
                }
                is_quiet = count == before;
            } else {
                first += SAME as u32;
            }
        }
        for ((number, old), new) in (first..).zip(old_rest).zip(new_rest) {
            self.list[count] = number;
            count += usize::from(old != new);
        }
        (self.count, self.done, self.held) = (count, 0, 0);
    }

    /// Those whose text is known are done; formats the next ones.
    pub(crate) fn next(&mut self, source: Source<'_>) -> Formatted {
        self.done += self.held;
        self.held = 0;
        self.more(source)
    }

    /// Formats more, and keeps those whose text is known.
    pub(crate) fn more(&mut self, source: Source<'_>) -> Formatted {
        let begin = self.held;
        self.held = self.left().min(begin + BLOCK);
        if self.texts.len() < self.held {
            self.texts.resize(self.held.max(BLOCK), [0; 32]);
            self.lengths.resize(self.held.max(BLOCK), 0);
        }
        let list = &self.list[self.done + begin..self.done + self.held];
        let texts = &mut self.texts[begin..self.held];
        let lengths = &mut self.lengths[begin..self.held];
        format(source, list, texts, lengths);
        let (mut misfits, mut grown) = (0_u32, 0_i32);
        for (&index, &length) in list.iter().zip(&*lengths) {
            let before = source.lengths[index as usize];
            misfits += u32::from(before != length);
            grown += i32::from(length) - i32::from(before);
        }
        Formatted {
            misfits: misfits as usize,
            grown: grown as isize,
        }
    }

    /// Formats them block by block. Each block is handed on, slots, texts and lengths, and is the last one if the answer
    /// is no.
    pub(crate) fn in_blocks(
        &mut self,
        source: Source<'_>,
        mut block: impl FnMut(&[u32], &[Number], &[u8]) -> bool,
    ) {
        if self.texts.len() < BLOCK {
            self.texts.resize(BLOCK, [0; 32]);
            self.lengths.resize(BLOCK, 0);
        }
        for list in self.list[..self.count].chunks(BLOCK) {
            let texts = &mut self.texts[..list.len()];
            let lengths = &mut self.lengths[..list.len()];
            format(source, list, texts, lengths);
            if !block(list, texts, lengths) {
                return;
            }
        }
    }

    /// Puts those whose text is known where they stand in `text`, the table's: they have the lengths that they had.
    #[inline]
    pub(crate) fn put(&self, text: &mut [u8], offsets: &[u16]) {
        for (index, number, length) in self.iter() {
            let from = usize::from(offsets[index]);
            stuff::put(&mut text[from..], number, length);
        }
    }
}

/// Lists the slots that differ, `first` being the number of the first. Returns how many. A branch for each would be guessed
/// wrong too often.
#[inline(always)]
fn differing(old: &[u64; STEP], new: &[u64; STEP], first: u32, list: &mut [u32]) -> usize {
    let Some(list) = list.first_chunk_mut::<STEP>() else {
        return 0;
    };
    let mut count = 0;
    for at in 0..STEP {
        // Written in any case, and kept if it counts.
        list[count % STEP] = first + at as u32;
        count += usize::from(old[at] != new[at]);
    }
    count
}

/// Formats the numbers listed.
fn format(source: Source<'_>, list: &[u32], texts: &mut [Number], lengths: &mut [u8]) {
    let slots = source.slots;
    match source.cells {
        [cell] => match cell.kind {
            Kind::Double => each(slots, list, texts, lengths, |slot, out| {
                lexical::number(Kind::Double, slot, out)
            }),
            Kind::Signed => each(slots, list, texts, lengths, |slot, out| {
                lexical::number(Kind::Signed, slot, out)
            }),
            kind => each(slots, list, texts, lengths, |slot, out| {
                lexical::number(kind, slot, out)
            }),
        },
        cells => by_kind(cells, slots, list, texts, lengths),
    }
}

#[inline(always)]
fn each(
    slots: &[u64],
    list: &[u32],
    texts: &mut [Number],
    lengths: &mut [u8],
    format: impl Fn(u64, &mut Number) -> usize,
) {
    for ((&index, text), length) in list.iter().zip(texts).zip(lengths) {
        *length = format(slots[index as usize], text) as u8;
    }
}

/// Numbers of several kinds: the doubles first, then the others, as which one is which follows no order.
fn by_kind(cells: &[Cell], slots: &[u64], list: &[u32], texts: &mut [Number], lengths: &mut [u8]) {
    let column = Column::of(cells.len());
    let kind = |index: u32| cells[column.of_slot(index)].kind;
    let (mut doubles, mut others) = ([0_u8; BLOCK], [0_u8; BLOCK]);
    let (mut count, mut other_count) = (0, 0);
    for (at, &index) in list.iter().take(BLOCK).enumerate() {
        let is_double = kind(index) == Kind::Double;
        doubles[count % BLOCK] = at as u8;
        count += usize::from(is_double);
        others[other_count % BLOCK] = at as u8;
        other_count += usize::from(!is_double);
    }
    for &at in &doubles[..count] {
        let at = usize::from(at);
        let slot = slots[list[at] as usize];
        lengths[at] = lexical::number(Kind::Double, slot, &mut texts[at]) as u8;
    }
    for &at in &others[..other_count] {
        let at = usize::from(at);
        let (slot, kind) = (slots[list[at] as usize], kind(list[at]));
        lengths[at] = lexical::number(kind, slot, &mut texts[at]) as u8;
    }
}

/// Which column a slot of a table is in, without a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    columns: u32,
    /// 2³² by the number of columns, rounded up: right for slots below 2³² by that number.
    inverse: u64,
}

impl Column {
    pub(crate) fn of(columns: usize) -> Self {
        Self {
            columns: columns as u32,
            inverse: (1 << 32_u64) / columns as u64 + 1,
        }
    }

    #[inline(always)]
    fn of_slot(self, slot: u32) -> usize {
        self.row_and_column(slot).1
    }

    /// The row a slot is in, and its column.
    #[inline(always)]
    pub(crate) fn row_and_column(self, slot: u32) -> (usize, usize) {
        let row = (u64::from(slot) * self.inverse) >> 32;
        (row as usize, (slot - row as u32 * self.columns) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_listed() {
        for length in [0, 1, 31, 32, 33, 200] {
            let old = vec![7; length];
            let mut new = old.clone();
            let places = [0, 3, 31, 32, 130, 199].map(|place| place % length.max(1));
            if length > 0 {
                places.iter().for_each(|&place| new[place] = 8);
            }
            let mut fresh = Fresh::default();
            fresh.find(&old, &new);
            let differs = |&index: &u32| old[index as usize] != new[index as usize];
            let expected: Vec<u32> = (0..length as u32).filter(differs).collect();
            assert_eq!(&fresh.list[..fresh.len()], expected);
        }
    }

    #[test]
    fn the_column_of_a_slot_is_the_rest_of_a_division() {
        for columns in 1..300 {
            let column = Column::of(columns);
            for slot in (0..1 << 16).step_by(7).chain([(1 << 16) - 1]) {
                assert_eq!(column.of_slot(slot), slot as usize % columns);
            }
        }
    }
}
