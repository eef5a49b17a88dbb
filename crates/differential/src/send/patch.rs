//! Writing the dirty values of a chunk into its text.
//!
//! A value that fits its room is written there and then. Those that do not are remembered: one or two
//! steal from a neighbour or shift what follows; if there are more, the chunk is written again in one
//! pass; and if that made it too large, its part of the message is encoded anew, into several chunks.

use std::sync::Arc;

use bsoap_datatypes::kernel::Memory;

use super::compare::{Dirty, Values, range};
use super::leaves::{Cell, Columns, Leaves, Mixed, Place, Segment, Table};
use super::lexical::{self, Number, Unwritable};
use super::misfit::{Cramped, Misfit, fits, width};
use super::numbers::{self, Formatted, Fresh, Source, Whole, are_many_misfits};
use super::policy::Policy;
use super::rewrite::{Rewrite, rewrite_mixed};
use super::stuff::{self, Rows};

/// After so many misfits the size of the chunk to come is guessed.
const GUESS: usize = 16;

/// Fewer values of a mixed segment are changed one by one in any case; so many are looked at to guess.
const FEW: usize = 16;
/// From this percentage of its slots on, all of it is written again ...
const MANY: usize = 40;
/// ... and from this one on if the lengths of many have changed.
const SOME: usize = 12;

/// Chunks of so many bytes are parts of messages that the cache does not hold.
const FAR: usize = 64 << 10;

/// What patching needs besides the chunk, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    pub(crate) dirty: Dirty,
    pub(crate) misfits: Vec<Misfit>,
    pub(crate) numbers: Vec<Number>,
    /// The numbers of a table that have changed.
    fresh: Fresh,
    /// The text of a string with references.
    pub(crate) escaped: Vec<u8>,
    /// The buffer that chunks are rewritten into.
    pub(crate) spare: Vec<u8>,
}

impl Tools {
    /// Bytes held by what few changes need.
    pub(crate) fn moving_memory(&self) -> usize {
        self.dirty.memory() + self.escaped.capacity()
    }

    /// Bytes held by all else.
    pub(crate) fn steady_memory(&self) -> usize {
        self.misfits.capacity() * size_of::<Misfit>()
            + self.numbers.capacity() * size_of::<Number>()
            + self.spare.capacity()
            + self.fresh.memory()
    }
}

/// What was done to chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patched {
    /// Values written.
    pub(crate) values: usize,
    /// Of those, how many took room from a neighbour, and how many moved what follows.
    pub(crate) stolen: usize,
    pub(crate) shifted: usize,
    /// Of those, how many were written in a pass over the chunk.
    pub(crate) rewritten: usize,
    /// The last chunk has become too large, or would have: it is to be encoded anew.
    pub(crate) too_large: bool,
}

/// Writes the dirty values into the text of a chunk. `dirty` is in `tools`; `old` and `new` are of
/// the chunk's slots.
pub(crate) fn patch(
    text: &mut Vec<u8>,
    segments: &mut [Segment],
    policy: &Policy,
    old: &Values<'_>,
    new: &Values<'_>,
    tools: &mut Tools,
    patched: &mut Patched,
) -> Result<(), Unwritable> {
    let mut patcher = Patcher::begin(text, policy, tools, patched);
    let mut leaves = std::mem::take(&mut tools.dirty.leaves);
    let mut rest = &*leaves;
    for (number, segment) in segments.iter_mut().enumerate() {
        let start = segment.start;
        segment.start = patcher.in_new(start);
        if patcher.patched.too_large {
            continue;
        }
        patcher.segment = number as u32;
        let (first, slots) = (segment.first, segment.slots());
        let old = old.part(first, slots).ok_or(Unwritable)?;
        let new = new.part(first, slots).ok_or(Unwritable)?;
        match &mut segment.leaves {
            Leaves::Table(table) => {
                let start = patcher.in_old(start);
                patcher.table(start, table, Changed::Before(old.slots), new.slots, tools);
            }
            Leaves::Mixed(mixed) => {
                let own = rest.partition_point(|&(segment, _)| segment as usize <= number);
                let (own, later) = rest.split_at(own);
                rest = later;
                if patcher.is_better_rewritten(mixed, own, &new) {
                    patcher.mixed(segment.start, mixed, &old, &new, own.len(), tools)?;
                } else {
                    let start = patcher.in_old(start);
                    for &(_, index) in own {
                        patcher.leaf(start, mixed, index as usize, &new, tools)?;
                    }
                }
            }
        }
    }
    patcher.end(tools);
    leaves.clear();
    tools.dirty.leaves = leaves;
    let cramped = Cramped {
        text,
        segments,
        policy,
        new,
    };
    cramped.finish(tools, patched)
}

/// Writes the values of these slots, given as segment and slot in it, in order. `new` is of the
/// chunk's slots.
pub(crate) fn patch_listed(
    text: &mut Vec<u8>,
    segments: &mut [Segment],
    policy: &Policy,
    listed: &[(usize, usize)],
    new: &Values<'_>,
    tools: &mut Tools,
    patched: &mut Patched,
) -> Result<(), Unwritable> {
    let mut patcher = Patcher::begin(text, policy, tools, patched);
    let mut rest = listed;
    let begin = listed.first().map_or(0, |&(first, _)| first);
    for (number, segment) in segments.iter_mut().enumerate().skip(begin) {
        let start = segment.start;
        segment.start = patcher.in_new(start);
        let own = rest.partition_point(|&(segment, _)| segment <= number);
        let (own, later) = rest.split_at(own);
        rest = later;
        if patcher.patched.too_large || own.is_empty() {
            continue;
        }
        patcher.segment = number as u32;
        let new = new.part(segment.first, segment.slots()).ok_or(Unwritable)?;
        let start = patcher.in_old(start);
        match &mut segment.leaves {
            Leaves::Mixed(mixed) => {
                for &(_, index) in own {
                    patcher.leaf(start, mixed, index, &new, tools)?;
                }
            }
            Leaves::Table(table) if own.len() < FEW => {
                for &(_, index) in own {
                    patcher.number(start, table, index, &new, tools);
                }
            }
            Leaves::Table(table) => {
                patcher.table(start, table, Changed::Listed(own), new.slots, tools);
            }
        }
    }
    patcher.end(tools);
    let cramped = Cramped {
        text,
        segments,
        policy,
        new,
    };
    cramped.finish(tools, patched)
}

/// How it is known which numbers of a table have changed.
#[derive(Clone, Copy)]
enum Changed<'c> {
    /// By a compare with these, the ones before.
    Before(&'c [u64]),
    /// These have, given as segment and slot in it, in order.
    Listed(&'c [(usize, usize)]),
}

impl Changed<'_> {
    /// Whether more than `many` percent have.
    fn are_many(self, fresh: &Fresh, cells: &[Cell], new: &[u64], many: usize) -> bool {
        match self {
            Self::Before(old) => fresh.are_many(cells, old, new, many),
            Self::Listed(listed) => {
                fresh.can_write_all(cells, new.len()) && listed.len() * 100 > new.len() * many
            }
        }
    }

    fn find(self, fresh: &mut Fresh, new: &[u64]) {
        match self {
            Self::Before(old) => fresh.find(old, new),
            Self::Listed(listed) => fresh.list(listed.iter().map(|&(_, index)| index as u32)),
        }
    }
}

struct Patcher<'t> {
    text: &'t mut Vec<u8>,
    policy: &'t Policy,
    /// The number of the segment.
    segment: u32,
    patched: &'t mut Patched,
    /// Tables that are written anew.
    rewrite: Rewrite,
    /// How far what is not done has moved in `text`.
    moved: isize,
}

impl<'t> Patcher<'t> {
    /// At the front of a chunk, of which nothing is patched yet.
    fn begin(
        text: &'t mut Vec<u8>,
        policy: &'t Policy,
        tools: &mut Tools,
        patched: &'t mut Patched,
    ) -> Self {
        patched.too_large = false;
        tools.misfits.clear();
        tools.numbers.clear();
        Self {
            text,
            policy,
            segment: 0,
            patched,
            rewrite: Rewrite::into(std::mem::take(&mut tools.spare)),
            moved: 0,
        }
    }

    /// At the end of a chunk: what has been written anew is its text, and the memory it was written in is kept.
    fn end(mut self, tools: &mut Tools) {
        self.finish_rewrite();
        tools.spare = self.rewrite.out;
    }

    /// Where the text that stood at a place before anything was patched stands now, ...
    fn in_old(&self, place: usize) -> usize {
        place.wrapping_add_signed(self.moved)
    }

    /// ... and where when what is being written anew is done.
    fn in_new(&self, place: usize) -> usize {
        place.wrapping_add_signed(self.moved + self.rewrite.moved())
    }

    /// Makes what has been written anew the text.
    fn finish_rewrite(&mut self) {
        self.moved += self.rewrite.finish(self.text);
    }

    fn misfit(&self, place: Place, index: usize, length: usize, number: usize) -> Misfit {
        Misfit {
            segment: self.segment,
            index: index as u32,
            length: length as u32,
            width: width(self.policy, place, length) as u32,
            before: place.width as u32,
            number: number as u32,
        }
    }

    /// Whether of a mixed segment all values had better be written again than those listed changed one by one.
    fn is_better_rewritten(&self, mixed: &Mixed, own: &[(u32, u32)], new: &Values<'_>) -> bool {
        let (dirty, slots) = (own.len(), mixed.offsets.len());
        if self.policy.stuffing.keeps_room() || dirty < FEW || dirty * 100 < slots * SOME {
            return false;
        }
        if dirty * 100 >= slots * MANY {
            return true;
        }
        let grows = |&&(_, index): &&(u32, u32)| {
            let (entry, slot) = (mixed.entries[index as usize], new.slots[index as usize]);
            entry.kind.is_heap() && range(slot).1 != entry.length as usize
        };
        let sample = own.iter().step_by(dirty / FEW);
        sample.filter(grows).count() > FEW / 4
    }

    /// Writes all values of a mixed segment again, which begins at `start` when what is being written anew is done.
    fn mixed(
        &mut self,
        start: usize,
        mixed: &mut Mixed,
        old: &Values<'_>,
        new: &Values<'_>,
        dirty: usize,
        tools: &mut Tools,
    ) -> Result<(), Unwritable> {
        self.finish_rewrite();
        let grows = |((&mask, &old), &new): ((&u64, &u64), &u64)| {
            ((mask & new) >> 32) as isize - ((mask & old) >> 32) as isize
        };
        let slots = mixed.masks.iter().zip(old.slots).zip(new.slots);
        let grown: isize = slots.map(grows).sum();
        let split = self.policy.chunks.split as isize;
        if grown > 0 && self.text.len() as isize + grown > split {
            self.patched.too_large = true;
            return Ok(());
        }
        let (escaped, spare) = (&mut tools.escaped, &mut self.rewrite.out);
        self.moved += rewrite_mixed(self.text, start, mixed, new, escaped, spare)?;
        self.patched.values += dirty;
        self.patched.rewritten += dirty;
        Ok(())
    }

    /// A dirty value of a mixed segment.
    fn leaf(
        &mut self,
        start: usize,
        mixed: &mut Mixed,
        index: usize,
        new: &Values<'_>,
        tools: &mut Tools,
    ) -> Result<(), Unwritable> {
        let Some(place) = mixed.place(index) else {
            return Ok(());
        };
        self.patched.values += 1;
        let (kind, slot) = (mixed.entries[index].kind, new.slots[index]);
        let mut number = [0; 32];
        let lexical = lexical::form(kind, slot, new, &mut number, &mut tools.escaped)?;
        if fits(self.policy, place, lexical.len()) {
            stuff::place(&mut self.text[start..], place, lexical);
            mixed.entries[index].length = lexical.len() as u32;
            return Ok(());
        }
        let misfit = self.misfit(place, index, lexical.len(), tools.numbers.len());
        tools.misfits.push(misfit);
        if kind.is_number() {
            tools.numbers.push(number);
        }
        Ok(())
    }

    /// A number of a table.
    fn number(
        &mut self,
        start: usize,
        table: &mut Table,
        index: usize,
        new: &Values<'_>,
        tools: &mut Tools,
    ) {
        self.patched.values += 1;
        self.narrow(start, table, index, new.slots[index], tools);
    }

    /// The dirty numbers of a table.
    fn table(
        &mut self,
        start: usize,
        table: &mut Table,
        changed: Changed<'_>,
        new: &[u64],
        tools: &mut Tools,
    ) {
        let mut fresh = std::mem::take(&mut tools.fresh);
        if self.policy.stuffing.keeps_room() {
            self.roomy(start, table, (changed, new), &mut fresh, tools);
        } else {
            self.exact(start, table, (changed, new), &mut fresh, tools);
        }
        tools.fresh = fresh;
    }

    /// Those of a table in which every number has as much room as it takes.
    fn exact(
        &mut self,
        start: usize,
        table: &mut Table,
        (changed, new): (Changed<'_>, &[u64]),
        fresh: &mut Fresh,
        tools: &mut Tools,
    ) {
        if changed.are_many(fresh, &table.cells, new, numbers::many(&table.cells)) {
            self.patched.values += new.len();
            return self.write_table(start, table, new, fresh);
        }
        changed.find(fresh, new);
        self.patched.values += fresh.len();
        let before = (tools.misfits.len(), tools.numbers.len());
        let mut known = 0;
        while fresh.left() > 0 {
            let Columns::Dense {
                offsets, lengths, ..
            } = &table.columns
            else {
                return;
            };
            let source = Source {
                cells: &table.cells,
                lengths,
                slots: new,
            };
            // The places of tables in large chunks are in more text than the cache holds, and where a column of several
            // changes, far from one another. Those of the next are asked for when the values of these have been read, which
            // would wait behind them.
            let memory = self.memory();
            let is_far = memory == Memory::Far;
            if is_far && fresh.is_at_first() {
                fresh.fetch(&self.text[start..], offsets, lengths);
            }
            if fresh.overwrite(source, &mut self.text[start..], offsets, memory) {
                continue;
            }
            let formatted = fresh.next(source);
            if is_far {
                fresh.fetch(&self.text[start..], offsets, lengths);
            }
            known += formatted.misfits;
            if formatted.misfits == 0 {
                fresh.put(&mut self.text[start..], offsets);
            } else if known <= self.policy.shifts {
                self.put_fitting(start, table, fresh, tools);
            } else if are_many_misfits(&table.cells, fresh.len(), new.len()) {
                tools.misfits.truncate(before.0);
                tools.numbers.truncate(before.1);
                return self.write_table(start, table, new, fresh);
            } else {
                return self.rewrite_table(start, table, new, formatted, fresh);
            }
        }
    }

    /// Where the text is.
    fn memory(&self) -> Memory {
        if self.text.len() >= FAR {
            Memory::Far
        } else {
            Memory::Near
        }
    }

    /// How long the chunk may get.
    fn longest(&self) -> usize {
        let now = self.text.len().wrapping_add_signed(self.rewrite.moved());
        now.max(self.policy.chunks.split)
    }

    /// Writes all numbers of a table.
    fn write_table(&mut self, start: usize, table: &mut Table, new: &[u64], fresh: &mut Fresh) {
        let Columns::Dense {
            offsets, lengths, ..
        } = &mut table.columns
        else {
            return;
        };
        let begin = |index: usize| start + usize::from(offsets[index]);
        let end = |index: usize| begin(index) + usize::from(lengths[index]);
        let text = &*self.text;
        fresh.learn(&table.cells, |index| &text[end(index)..begin(index + 1)]);
        let (from, to) = (begin(0), end(offsets.len() - 1));
        let first = offsets[0];
        let longest = self.longest();
        self.rewrite.up_to(self.text, from);
        let behind = self.text.len() - to;
        let most = longest - (self.rewrite.out.len() + behind).min(longest);
        let whole = Whole {
            cells: &table.cells,
            most: most.min(usize::from(u16::MAX - first)),
            first,
            memory: self.memory(),
            before: (offsets, lengths),
            out: &mut self.rewrite.out,
        };
        let begun = whole.out.len();
        let Some((places, now)) = fresh.write_all(new, whole) else {
            self.rewrite.out.truncate(begun);
            self.patched.too_large = true;
            return;
        };
        self.rewrite.skip_to(to);
        let pairs = lengths.iter().zip(now);
        let misfits: u32 = pairs.map(|(old, new)| u32::from(old != new)).sum();
        self.patched.rewritten += misfits as usize;
        offsets.copy_from_slice(places);
        lengths.copy_from_slice(now);
    }

    /// Writes the table again from the first number on that is not done. `formatted` are those whose text is known.
    fn rewrite_table(
        &mut self,
        start: usize,
        table: &mut Table,
        new: &[u64],
        formatted: Formatted,
        fresh: &mut Fresh,
    ) {
        let length = self.text.len().wrapping_add_signed(self.rewrite.moved()) as isize;
        let most = self.longest() as isize;
        let Columns::Dense {
            offsets, lengths, ..
        } = &mut table.columns
        else {
            return;
        };
        let source = Source {
            cells: &table.cells,
            lengths,
            slots: new,
        };
        let left = fresh.left();
        let is_too_large = |seen: usize, grown: isize| {
            let whole = grown.saturating_mul(left as isize) / seen as isize;
            length + whole > most
        };
        let Formatted {
            mut misfits,
            mut grown,
        } = formatted;
        while fresh.held() < left && !is_too_large(fresh.held(), grown) {
            let more = fresh.more(source);
            misfits += more.misfits;
            grown += more.grown;
        }
        let furthest = offsets.last().map_or(0, |&last| last as isize) + grown;
        if is_too_large(fresh.held(), grown) || furthest > u16::MAX as isize {
            self.patched.too_large = true;
            return;
        }
        self.patched.rewritten += misfits;
        let places = (offsets.as_mut_slice(), lengths.as_mut_slice());
        self.rewrite.table(self.text, start, places, fresh, grown);
    }

    /// Puts those numbers that fit into their places; the few that do not are remembered.
    fn put_fitting(&mut self, start: usize, table: &Table, fresh: &Fresh, tools: &mut Tools) {
        for (index, number, length) in fresh.iter() {
            let place = table.place(index);
            if place.width == length {
                stuff::put(&mut self.text[start + place.offset..], number, length);
            } else {
                self.no_room(table, index, number, length, tools);
            }
        }
    }

    /// Those of a table in which numbers may have more room than they take.
    fn roomy(
        &mut self,
        start: usize,
        table: &mut Table,
        (changed, new): (Changed<'_>, &[u64]),
        fresh: &mut Fresh,
        tools: &mut Tools,
    ) {
        let cells = Arc::clone(&table.cells);
        if let Columns::Strided { stride, .. } = table.columns
            && changed.are_many(fresh, &cells, new, numbers::MANY_IN_ROOMS)
        {
            let last = table.place(new.len() - 1);
            let length = last.offset + last.extent();
            return self.write_rooms(start, &cells, (stride, length), new);
        }
        changed.find(fresh, new);
        self.patched.values += fresh.len();
        let source = Source {
            cells: &cells,
            lengths: &[],
            slots: new,
        };
        if let Columns::Strided { stride, .. } = table.columns {
            let rows = Rows::of(&cells, stride);
            fresh.in_blocks(source, |block| {
                let fits = rows.lay(&mut self.text[start..], block.iter());
                // In a fixed stride there is no room for what is not a value of its type.
                self.patched.too_large |= !fits;
                fits
            });
            return;
        }
        let before = tools.misfits.len();
        fresh.in_blocks(source, |block| {
            let mut seen = 0;
            for (index, number, length) in block.iter() {
                self.in_room(start, table, index, (number, length), tools);
                seen = index + 1;
            }
            let own = &tools.misfits[before..];
            if own.len() >= GUESS {
                self.patched.too_large |= self.will_be_too_large(own, seen, new.len());
            }
            !self.patched.too_large
        });
    }

    /// Writes all numbers of a table of fixed stride, from the first to the last of which there are so many bytes.
    fn write_rooms(
        &mut self,
        start: usize,
        cells: &[Cell],
        (stride, length): (usize, usize),
        new: &[u64],
    ) {
        self.patched.values += new.len();
        let first = cells.first().map_or(0, |first| first.offset.into());
        let (from, to) = (start + first, start + length);
        self.rewrite.up_to(self.text, from);
        let memory = self.memory();
        let out = &mut self.rewrite.out;
        let begun = out.len();
        let fits = numbers::write_rooms(cells, stride, &self.text[start..], new, memory, out);
        if fits && out.len() - begun == to - from {
            self.rewrite.skip_to(to);
        } else {
            // In a fixed stride there is no room for what is not a value of its type.
            out.truncate(begun);
            self.patched.too_large = true;
        }
    }

    /// A number of a table that is written by itself.
    fn narrow(
        &mut self,
        start: usize,
        table: &mut Table,
        index: usize,
        slot: u64,
        tools: &mut Tools,
    ) {
        let mut number = [0; 32];
        let length = lexical::number(table.cell(index).kind, slot, &mut number);
        self.in_room(start, table, index, (&number, length), tools);
    }

    /// Writes a number of a table into its room, if it fits.
    #[inline]
    fn in_room(
        &mut self,
        start: usize,
        table: &mut Table,
        index: usize,
        (number, length): (&Number, usize),
        tools: &mut Tools,
    ) {
        let place = table.place(index);
        if !fits(self.policy, place, length) {
            return self.no_room(table, index, number, length, tools);
        }
        let text = &mut self.text[start + place.offset..];
        if length == place.width && place.close == 0 {
            stuff::put(text, number, length);
        } else if place.close == 0 {
            stuff::lay(text, place.width, number, length);
        } else {
            let tag = match &table.columns {
                Columns::Strided { .. } => Some(&*table.cell(index).close),
                Columns::Dense { .. } => None,
            };
            stuff::place_number(text, place, tag, number, length);
        }
        table.columns.set_length(index, length as u8);
    }

    /// A number of a table that does not fit its room.
    #[inline(never)]
    fn no_room(
        &mut self,
        table: &Table,
        index: usize,
        number: &Number,
        length: usize,
        tools: &mut Tools,
    ) {
        // In a fixed stride there is no room for what is not a value of its type.
        self.patched.too_large |= table.is_strided();
        let misfit = self.misfit(table.place(index), index, length, tools.numbers.len());
        tools.misfits.push(misfit);
        tools.numbers.push(*number);
    }

    /// A guess from the misfits of the first `seen` of `slots` values: whether the chunk will be too large.
    fn will_be_too_large(&self, misfits: &[Misfit], seen: usize, slots: usize) -> bool {
        let grown: isize = misfits.iter().map(Misfit::grows).sum();
        let whole = grown as f64 * slots as f64 / seen as f64;
        self.text.len() as f64 + whole > self.policy.chunks.split as f64
    }
}
