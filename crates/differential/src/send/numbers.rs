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

use std::ops::Range;

use bsoap_datatypes::kernel::{self, Column, Kernel, Memory, Room, Separator};

use super::in_place;
use super::leaves::{Cell, Kind};
use super::lexical::{self, Number};
use super::stuff;

/// So many numbers are formatted, then put into their places: the processor is still about that, waiting for memory, while
/// it formats the next.
pub(super) const BLOCK: usize = 64;
/// So many are written at once where all are; fewer at first, to guess how long all will be.
const AT_ONCE: usize = 1024;
const FIRST: usize = 48;
/// So many next to each other are looked at in two places to guess how many have changed.
const SAMPLE: usize = 32;
/// From this percentage on, all are written sooner than those that have changed are found and put into their places: of a
/// table with doubles only, of one of integers only, and of one of both, whose numbers are the cheaper ones to write and the
/// dearer ones to find; and the same for rooms of fixed stride.
const MANY: usize = 50;
const MANY_INTEGERS: usize = 34;
const MANY_OF_BOTH: usize = 30;
pub(crate) const MANY_IN_ROOMS: usize = 30;
/// The same if many change their lengths.
const MISFITS: usize = 24;
const MISFITS_OF_INTEGERS: usize = 5;
/// Bytes that a text is copied by.
const WINDOW: usize = size_of::<Number>();

/// The numbers of a table that have changed. Kept from one table to the next for its room.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// What formats many at once, if this machine has it.
    kernel: Option<Kernel>,
    /// Their slots, counted from the table's first, in order; as many as `count` says.
    list: Vec<u32>,
    count: usize,
    /// Those before are done; of so many from there on the text is known.
    done: usize,
    held: usize,
    /// Whether none of a table has been found that is not as long as what is there.
    are_fitting: bool,
    /// Their texts, where each begins, and its length. Behind each is room for a window.
    texts: Vec<u8>,
    starts: Vec<u32>,
    lengths: Vec<u8>,
    /// Values to be formatted at once.
    values: Vec<u64>,
    /// The lengths of all numbers of a table that is written again, and where they begin.
    pub(crate) all: Vec<u8>,
    offsets: Vec<u16>,
    /// What stands in a row of such a table.
    columns: Vec<Column>,
}

impl Default for Fresh {
    fn default() -> Self {
        Self {
            kernel: Some(Kernel::best()).filter(|best| Kernel::avx512() == Some(*best)),
            list: Vec::new(),
            count: 0,
            done: 0,
            held: 0,
            are_fitting: true,
            texts: Vec::new(),
            starts: Vec::new(),
            lengths: Vec::new(),
            values: Vec::new(),
            all: Vec::new(),
            offsets: Vec::new(),
            columns: Vec::new(),
        }
    }
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
        (self.list.capacity() + self.starts.capacity()) * size_of::<u32>()
            + self.texts.capacity()
            + self.lengths.capacity()
            + self.values.capacity() * size_of::<u64>()
            + self.all.capacity()
            + self.offsets.capacity() * size_of::<u16>()
    }

    /// How many have changed.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whether none of them is formatted.
    pub(crate) fn is_at_first(&self) -> bool {
        self.done + self.held == 0
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
        let places = self.starts.iter().zip(&self.lengths);
        let all = self.list[self.done..self.done + self.held]
            .iter()
            .zip(places);
        all.map(|(&index, (&start, &length))| {
            let window = self.texts[start as usize..].first_chunk();
            let Some(text) = window else {
                unreachable!("behind each there is room for a window")
            };
            (index as usize, text, usize::from(length))
        })
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
        if self.list.len() < new.len() {
            self.list.resize(new.len(), 0);
        }
        self.count = Kernel::best().list_differing(old, new, &mut self.list);
        self.begin();
    }

    /// Takes these to differ, given in order.
    pub(crate) fn list(&mut self, dirty: impl Iterator<Item = u32>) {
        self.list.clear();
        self.list.extend(dirty);
        self.count = self.list.len();
        self.begin();
    }

    fn begin(&mut self) {
        (self.done, self.held, self.are_fitting) = (0, 0, true);
    }

    /// Writes the next ones over what stands in `text`, the table's, if they are as long as that; says whether they are, and
    /// are done so. If not, some may be written: they stand where they belong.
    pub(crate) fn overwrite(
        &mut self,
        source: Source<'_>,
        text: &mut [u8],
        offsets: &[u16],
        memory: Memory,
    ) -> bool {
        let Some(kernel) = self.kernel.filter(|_| self.are_fitting) else {
            return false;
        };
        self.done += self.held;
        self.held = 0;
        let next = self.count.min(self.done + BLOCK);
        if memory == Memory::Far {
            self.fetch_from(next, text, offsets, source.lengths);
        }
        let list = &self.list[self.done..next];
        self.are_fitting = in_place::overwrite(kernel, source, list, offsets, text);
        if self.are_fitting {
            self.done = next;
        }
        self.are_fitting
    }

    /// Those whose text is known are done; formats the next ones.
    pub(crate) fn next(&mut self, source: Source<'_>) -> Formatted {
        self.done += self.held;
        self.held = 0;
        self.texts.clear();
        self.more(source)
    }

    /// Asks for the places of those that are formatted next in `text`, the table's.
    #[inline]
    pub(crate) fn fetch(&self, text: &[u8], offsets: &[u16], lengths: &[u8]) {
        self.fetch_from(self.done + self.held, text, offsets, lengths);
    }

    /// The same, of those from one on.
    #[inline]
    fn fetch_from(&self, next: usize, text: &[u8], offsets: &[u16], lengths: &[u8]) {
        let until = (next + BLOCK).min(self.count);
        for &index in &self.list[next..until] {
            let offset = usize::from(offsets[index as usize]);
            kernel::fetch(text, offset);
            kernel::fetch(text, offset + usize::from(lengths[index as usize]));
        }
    }

    /// Formats more, and keeps those whose text is known.
    pub(crate) fn more(&mut self, source: Source<'_>) -> Formatted {
        let begin = self.held;
        self.hold(source);
        let list = &self.list[self.done + begin..self.done + self.held];
        let (mut misfits, mut grown) = (0_u32, 0_i32);
        for (&index, &length) in list.iter().zip(&self.lengths[begin..self.held]) {
            let before = source.lengths[index as usize];
            misfits += u32::from(before != length);
            grown += i32::from(length) - i32::from(before);
        }
        Formatted {
            misfits: misfits as usize,
            grown: grown as isize,
        }
    }

    /// Formats more; what is written now does not matter.
    fn hold(&mut self, source: Source<'_>) {
        let begin = self.held;
        self.held = self.left().min(begin + BLOCK);
        if self.starts.len() < self.held {
            self.starts.resize(self.held, 0);
            self.lengths.resize(self.held, 0);
        }
        let list = &self.list[self.done + begin..self.done + self.held];
        let out = Out {
            kernel: self.kernel,
            texts: &mut self.texts,
            starts: &mut self.starts[begin..self.held],
            lengths: &mut self.lengths[begin..self.held],
            values: &mut self.values,
        };
        format(source, list, out);
    }

    /// Formats them block by block. Each block is handed on, and is the last one if the answer is no. What is written now
    /// does not matter.
    pub(crate) fn in_blocks(&mut self, source: Source<'_>, mut block: impl FnMut(&Self) -> bool) {
        while self.left() > 0 {
            self.texts.clear();
            self.held = 0;
            self.hold(source);
            if !block(self) {
                return;
            }
            self.done += self.held;
        }
        self.held = 0;
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

/// Where all numbers of a table are written.
pub(crate) struct Whole<'w> {
    pub(crate) cells: &'w [Cell],
    /// Appended to; what there is of it stands before the first number.
    pub(crate) out: &'w mut Vec<u8>,
    /// How much longer it may get.
    pub(crate) most: usize,
    /// Where the first number stands.
    pub(crate) first: u16,
    /// Where the text is.
    pub(crate) memory: Memory,
    /// Where all of them stand now, and how long they are: this is written next.
    pub(crate) before: (&'w [u16], &'w [u8]),
}

impl Fresh {
    /// Whether all numbers of a table can be written at once, and are enough for that.
    pub(crate) fn can_write_all(&self, cells: &[Cell], count: usize) -> bool {
        let enough = 4 * SAMPLE.max(cells.len());
        let can_be_written = cells.iter().all(|cell| number(cell.kind).is_some());
        self.kernel.is_some() && count >= enough && can_be_written
    }

    /// Whether more than `many` percent of the numbers of a table have changed.
    pub(crate) fn are_many(&self, cells: &[Cell], old: &[u64], new: &[u64], many: usize) -> bool {
        if !self.can_write_all(cells, new.len()) {
            return false;
        }
        // Of all columns; and next to each other, as nearly all of what is looked at comes from far away.
        let run = SAMPLE.max(cells.len());
        let changed = |at: usize| {
            let both = old.iter().zip(new).skip(at).take(run);
            both.map(|(old, new)| usize::from(old != new))
                .sum::<usize>()
        };
        let quarter = new.len() / 4;
        let changed = changed(quarter) + changed(new.len() - quarter - run.min(quarter));
        changed * 100 > 2 * run * many
    }

    /// Learns what stands behind the numbers of a row. `between` tells what stands behind a number of the first row.
    pub(crate) fn learn<'t>(&mut self, cells: &[Cell], between: impl Fn(usize) -> &'t [u8]) {
        self.columns.truncate(cells.len());
        for (index, cell) in cells.iter().enumerate() {
            let (bytes, number) = (between(index), number(cell.kind));
            let number = number.unwrap_or(kernel::Number::Double);
            match self.columns.get(index) {
                Some(own) if own.number == number && own.separator.as_bytes() == bytes => {}
                _ => {
                    self.columns.truncate(index);
                    self.columns.push(Column {
                        number,
                        marker: None,
                        separator: Separator::new(bytes),
                    });
                }
            }
        }
    }

    /// Writes all numbers of a table, with what stands between them as [`Self::learn`] has found it. Returns where each
    /// begins and its length; `None` if there is no room.
    pub(crate) fn write_all(&mut self, slots: &[u64], whole: Whole<'_>) -> Option<(&[u16], &[u8])> {
        let Whole {
            cells,
            out,
            most,
            first,
            memory,
            before,
        } = whole;
        let between = self.columns.last()?.separator.as_bytes();
        let begin = out.len();
        let origin = begin.wrapping_sub(first.into());
        self.all.resize(slots.len().max(self.all.len()), 0);
        self.offsets.resize(slots.len().max(self.offsets.len()), 0);
        let (offsets, lengths) = (&mut *self.offsets, &mut *self.all);
        let mut told = 0;
        let mut placed = |starts: &[usize], own: &[u8]| {
            let places = told..told + starts.len();
            fetch_places(before, places.clone());
            for (offset, &start) in offsets[places.clone()].iter_mut().zip(starts) {
                *offset = start.wrapping_sub(origin) as u16;
            }
            lengths[places].copy_from_slice(own);
            told += starts.len();
        };
        let mut seen = 0;
        for rows in [FIRST, AT_ONCE] {
            let block = (rows / cells.len()).max(1) * cells.len();
            for slots in slots[seen..].chunks(block) {
                if seen > 0 {
                    out.extend_from_slice(between);
                }
                let columns = &self.columns;
                Kernel::best().write_rows_in_blocks(slots, columns, memory, out, &mut placed);
                seen += slots.len();
                if rows == FIRST {
                    break;
                }
                if out.len() - begin > most {
                    return None;
                }
            }
            let guess = (out.len() - begin) * slots.len() / seen;
            if guess > most {
                return None;
            }
        }
        Some((&self.offsets[..seen], &self.all[..seen]))
    }
}

/// Asks for the places of some numbers.
fn fetch_places((offsets, lengths): (&[u16], &[u8]), numbers: Range<usize>) {
    const LINE: usize = 64;
    let lines = |item: usize| numbers.clone().step_by(LINE / item);
    lines(size_of::<u16>()).for_each(|at| kernel::fetch(offsets, at));
    lines(size_of::<u8>()).for_each(|at| kernel::fetch(lengths, at));
}

/// Writes all numbers of a table of fixed stride, `text` being its text. Says whether all fit; if not, what was appended is
/// good for nothing.
pub(crate) fn write_rooms(
    cells: &[Cell],
    stride: usize,
    text: &[u8],
    slots: &[u64],
    memory: Memory,
    out: &mut Vec<u8>,
) -> bool {
    let next = cells.iter().skip(1).map(|cell| usize::from(cell.offset));
    let next = next.chain(
        cells
            .first()
            .map(|first| stride + usize::from(first.offset)),
    );
    let room = |(cell, next): (&Cell, usize)| {
        let width = usize::from(cell.widest);
        let end = usize::from(cell.offset) + width + cell.close.len();
        Some(Room {
            number: number(cell.kind)?,
            width,
            close: Separator::new(&cell.close),
            separator: Separator::new(text.get(end..next)?),
        })
    };
    let rooms: Option<Vec<Room>> = cells.iter().zip(next).map(room).collect();
    rooms.is_some_and(|rooms| Kernel::best().write_rooms(slots, &rooms, memory, out))
}

/// The percentage of changed numbers of a table in which each has as much room as it takes from which on all are written.
pub(crate) fn many(cells: &[Cell]) -> usize {
    let is_double = |cell: &Cell| cell.kind == Kind::Double;
    if cells.iter().all(is_double) {
        MANY
    } else if has_doubles(cells) {
        MANY_OF_BOTH
    } else {
        MANY_INTEGERS
    }
}

fn has_doubles(cells: &[Cell]) -> bool {
    cells.iter().any(|cell| cell.kind == Kind::Double)
}

/// Whether among so many numbers of a table, which change their lengths, all are written sooner than the text put together
/// of what is new and what stays.
pub(crate) fn are_many_misfits(cells: &[Cell], changed: usize, all: usize) -> bool {
    let many = if has_doubles(cells) {
        MISFITS
    } else {
        MISFITS_OF_INTEGERS
    };
    changed * 100 > all * many
}

/// Where formatted numbers go.
struct Out<'o> {
    kernel: Option<Kernel>,
    texts: &'o mut Vec<u8>,
    starts: &'o mut [u32],
    lengths: &'o mut [u8],
    values: &'o mut Vec<u64>,
}

/// Formats the numbers listed.
fn format(source: Source<'_>, list: &[u32], mut out: Out<'_>) {
    let slots = source.slots;
    match source.cells {
        [cell] => {
            let slots = list.iter().map(|&index| slots[index as usize]);
            out.some(cell.kind, slots, 0..list.len());
        }
        cells => by_kind(cells, slots, list, out),
    }
}

/// Numbers of several kinds: the doubles first, then the others, as which one is which follows no order.
fn by_kind(cells: &[Cell], slots: &[u64], list: &[u32], mut out: Out<'_>) {
    let grid = Grid::of(cells.len());
    let kind = |index: u32| cells[grid.of_slot(index)].kind;
    let (mut doubles, mut others) = ([0_u8; BLOCK], [0_u8; BLOCK]);
    let (mut count, mut other_count) = (0, 0);
    let mut are_signed = true;
    for (at, &index) in list.iter().take(BLOCK).enumerate() {
        let kind = kind(index);
        let is_double = kind == Kind::Double;
        are_signed &= is_double | (kind == Kind::Signed);
        doubles[count % BLOCK] = at as u8;
        count += usize::from(is_double);
        others[other_count % BLOCK] = at as u8;
        other_count += usize::from(!is_double);
    }
    let slot = |at: &u8| slots[list[usize::from(*at)] as usize];
    let place = |at: &u8| usize::from(*at);
    let (doubles, others) = (&doubles[..count], &others[..other_count]);
    out.some(
        Kind::Double,
        doubles.iter().map(slot),
        doubles.iter().map(place),
    );
    if are_signed {
        out.some(
            Kind::Signed,
            others.iter().map(slot),
            others.iter().map(place),
        );
    } else {
        for at in others {
            let kind = kind(list[place(at)]);
            out.some(kind, std::iter::once(slot(at)), std::iter::once(place(at)));
        }
    }
}

impl Out<'_> {
    /// Formats numbers of one kind. `places` are theirs among the starts and lengths.
    #[inline(always)]
    fn some(
        &mut self,
        kind: Kind,
        slots: impl ExactSizeIterator<Item = u64>,
        places: impl Iterator<Item = usize>,
    ) {
        match (self.kernel, number(kind)) {
            (Some(kernel), Some(number)) => self.at_once(kernel, number, slots, places),
            _ => match kind {
                Kind::Double => self.each(slots, places, |slot, out| {
                    lexical::number(Kind::Double, slot, out)
                }),
                Kind::Signed => self.each(slots, places, |slot, out| {
                    lexical::number(Kind::Signed, slot, out)
                }),
                kind => self.each(slots, places, |slot, out| lexical::number(kind, slot, out)),
            },
        }
    }

    fn at_once(
        &mut self,
        kernel: Kernel,
        number: kernel::Number,
        slots: impl Iterator<Item = u64>,
        mut places: impl Iterator<Item = usize>,
    ) {
        self.values.clear();
        self.values.extend(slots);
        let (starts, lengths) = (&mut *self.starts, &mut *self.lengths);
        let nothing = Separator::new(b"");
        kernel.write_array(
            self.values,
            number,
            &nothing,
            self.texts,
            |start, length| {
                if let Some(place) = places.next() {
                    starts[place] = start as u32;
                    lengths[place] = length as u8;
                }
            },
        );
        self.texts.extend_from_slice(&[0; WINDOW]);
    }

    #[inline(always)]
    fn each(
        &mut self,
        slots: impl ExactSizeIterator<Item = u64>,
        places: impl Iterator<Item = usize>,
        format: impl Fn(u64, &mut Number) -> usize,
    ) {
        let begin = self.texts.len();
        self.texts.resize(begin + slots.len() * WINDOW, 0);
        let (windows, _) = self.texts[begin..].as_chunks_mut::<WINDOW>();
        let starts = (begin as u32..).step_by(WINDOW);
        for (((slot, place), window), start) in slots.zip(places).zip(windows).zip(starts) {
            self.lengths[place] = format(slot, window) as u8;
            self.starts[place] = start;
        }
    }
}

/// What a kind of numbers is to a kernel that writes them.
pub(super) fn number(kind: Kind) -> Option<kernel::Number> {
    match kind {
        Kind::Double => Some(kernel::Number::Double),
        Kind::Signed => Some(kernel::Number::Signed {
            min: i64::MIN,
            max: i64::MAX,
        }),
        Kind::Unsigned => Some(kernel::Number::Unsigned { max: u64::MAX }),
        _ => None,
    }
}

/// Which column a slot of a table is in, without a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    columns: u32,
    /// 2³² by the number of columns, rounded up: right for slots below 2³² by that number.
    inverse: u64,
}

impl Grid {
    pub(crate) fn of(columns: usize) -> Self {
        Self {
            columns: columns as u32,
            inverse: (1 << 32_u64) / columns as u64 + 1,
        }
    }

    #[inline(always)]
    pub(crate) fn of_slot(self, slot: u32) -> usize {
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

    fn cell(kind: Kind) -> Cell {
        Cell {
            kind,
            pads: false,
            widest: 24,
            close: Box::default(),
            offset: 0,
        }
    }

    /// All texts of the numbers of a table of which every other has changed.
    fn texts(kernel: Option<Kernel>, kinds: &[Kind], slots: &[u64]) -> Vec<(usize, Vec<u8>)> {
        let cells: Vec<Cell> = kinds.iter().map(|&kind| cell(kind)).collect();
        let changed = |(at, &slot): (usize, &u64)| slot ^ (at as u64 & 1);
        let old: Vec<u64> = slots.iter().enumerate().map(changed).collect();
        let mut fresh = Fresh {
            kernel,
            ..Fresh::default()
        };
        fresh.find(&old, slots);
        let source = Source {
            cells: &cells,
            lengths: &vec![1; slots.len()],
            slots,
        };
        let mut all = Vec::new();
        let copy = |(index, text, length): (usize, &Number, usize)| (index, text[..length].into());
        fresh.next(source);
        all.extend(fresh.iter().map(copy));
        fresh.next(source);
        while fresh.held() < fresh.left() {
            fresh.more(source);
        }
        all.extend(fresh.iter().map(copy));
        all
    }

    #[test]
    fn numbers_formatted_at_once_are_those_formatted_one_by_one() {
        let mut random = 1_u64;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random ^ random >> 29) >> (random >> 58)
        };
        let slots: Vec<u64> = (0..500).map(|_| next()).collect();
        let tables: [&[Kind]; 5] = [
            &[Kind::Double],
            &[Kind::Signed],
            &[Kind::Unsigned],
            &[Kind::Signed, Kind::Signed, Kind::Double],
            &[Kind::Boolean, Kind::Double, Kind::Unsigned, Kind::Float],
        ];
        for kinds in tables {
            let one_by_one = texts(None, kinds, &slots);
            assert_eq!(one_by_one.len(), 250);
            for (index, text) in &one_by_one {
                let mut out = [0; 32];
                let length = lexical::number(kinds[index % kinds.len()], slots[*index], &mut out);
                assert_eq!(text, &out[..length]);
            }
            assert_eq!(texts(Kernel::avx512(), kinds, &slots), one_by_one);
        }
    }

    /// The text of a table, a blank behind each number, with where they stand and how long they are.
    fn table(kinds: &[Kind], slots: &[u64]) -> (Vec<u8>, Vec<u16>, Vec<u8>) {
        let (mut text, mut offsets, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for (at, &slot) in slots.iter().enumerate() {
            let mut out = [0; 32];
            let length = lexical::number(kinds[at % kinds.len()], slot, &mut out);
            offsets.push(text.len() as u16);
            lengths.push(length as u8);
            text.extend_from_slice(&out[..length]);
            text.push(b' ');
        }
        (text, offsets, lengths)
    }

    /// Writes what has changed over what was there, and says how many are done. What is not stands as it was, or as it will.
    fn over(kernel: Kernel, kinds: &[Kind], old: &[u64], new: &[u64], memory: Memory) -> usize {
        let cells: Vec<Cell> = kinds.iter().map(|&kind| cell(kind)).collect();
        let (mut text, offsets, lengths) = table(kinds, old);
        let (before, (after, _, own)) = (text.clone(), table(kinds, new));
        let mut fresh = Fresh {
            kernel: Some(kernel),
            ..Fresh::default()
        };
        fresh.find(old, new);
        let source = Source {
            cells: &cells,
            lengths: &lengths,
            slots: new,
        };
        while fresh.left() > 0 && fresh.overwrite(source, &mut text, &offsets, memory) {}
        if lengths == own {
            assert_eq!((&text, fresh.left()), (&after, 0));
        }
        let done = fresh.done;
        let mut expected = before;
        for (at, &index) in fresh.list[..fresh.count].iter().enumerate() {
            let (from, length) = (
                usize::from(offsets[index as usize]),
                lengths[index as usize],
            );
            let place = from..from + usize::from(length);
            let mut form = [0; 32];
            let kind = kinds[index as usize % kinds.len()];
            let length = lexical::number(kind, new[index as usize], &mut form);
            if at < done || text[place.clone()] == form[..length] {
                expected[place].copy_from_slice(&form[..length]);
            }
        }
        assert_eq!(text, expected);
        done
    }

    #[test]
    fn numbers_that_keep_their_lengths_are_written_over_those_before() {
        let number = |kind: Kind, value: i64| match kind {
            Kind::Double => (value as f64 / 100.0).to_bits(),
            _ => value as u64,
        };
        let tables: [&[Kind]; 4] = [
            &[Kind::Double],
            &[Kind::Signed],
            &[Kind::Unsigned],
            &[Kind::Signed, Kind::Signed, Kind::Double],
        ];
        for kinds in tables {
            let slots = |add: i64, other: usize| -> Vec<u64> {
                let value =
                    |at: usize| 1111 + at as i64 * 20 + if at.is_multiple_of(3) { add } else { 0 };
                let value = |at: usize| if at == other { 7 } else { value(at) };
                (0..400)
                    .map(|at| number(kinds[at % kinds.len()], value(at)))
                    .collect()
            };
            // One that does not fit, or none, from the first of those that have changed to the last.
            for other in [0, 3, 63, 64, 191, 192, 300, 399, usize::MAX] {
                let (old, new) = (slots(1, usize::MAX), slots(2, other));
                let all = [Some(Kernel::PORTABLE), Kernel::avx2(), Kernel::avx512()];
                for kernel in all.into_iter().flatten() {
                    for memory in [Memory::Near, Memory::Far] {
                        let done = over(kernel, kinds, &old, &new, memory);
                        // All blocks before the one that it is in.
                        let changed = 134 + usize::from(!other.is_multiple_of(3) && other < 400);
                        let before = (other.div_ceil(3)) / BLOCK * BLOCK;
                        assert_eq!(done, before.min(changed), "{kernel:?} {kinds:?} {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_column_of_a_slot_is_the_rest_of_a_division() {
        for columns in 1..300 {
            let grid = Grid::of(columns);
            for slot in (0..1 << 16).step_by(7).chain([(1 << 16) - 1]) {
                assert_eq!(grid.of_slot(slot), slot as usize % columns);
            }
        }
    }
}
