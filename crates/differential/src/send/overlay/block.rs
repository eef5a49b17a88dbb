//! A block of rows: collected from their source, then written at once.
//!
//! ```text
//! source   1.5  2.25  -3  …       some hundred numbers, as the slots that a Record would have
//! chunk    …</item><item>  1.5</item><item>2.25</item><item>-3  </item><item>…
//!          └ the block before      └ one call of a kernel        └ the block behind
//! ```
//!
//! Written one by one, each number would wait for the length of the one before it; a kernel formats many at the same time.

use bsoap_codec::frame::Frame;
use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::kernel::{self, Column, Kernel, Separator};

use super::number::Range;
use super::row::{Cells, Row};
use super::{CHUNK, Layout, Offer};
use crate::send::dut_table::SlotKind;
use crate::send::lexical;

/// The most numbers that are collected, unless one row has more.
const NUMBERS: usize = 256;
/// A chunk with less free space than this, in bytes, counts as full: writing a few rows at a time costs more.
const FULL: usize = CHUNK / 16;
/// The space that a kernel needs for a number, and behind the last one, in bytes.
const NUMBER: usize = 32;
const SPARE: usize = 128;

/// The rows of an array that are written together.
#[derive(Debug)]
pub(super) struct Block {
    ranges: Vec<Range>,
    slots: Vec<u64>,
    /// The end of a row and the beginning of the next.
    between: Vec<u8>,
    form: RowForm,
    /// The space needed to write a row, in bytes.
    row_bytes: usize,
}

/// How rows are written.
#[derive(Debug)]
enum RowForm {
    Plain(Vec<Column>),
    Stuffed(Vec<kernel::PaddedColumn>),
    /// One by one, since the kernels cannot write all kinds of the numbers.
    Each(Vec<Cell>),
}

/// A number that is written one by one.
#[derive(Debug)]
struct Cell {
    kind: SlotKind,
    /// Its width; 0 if it is not padded.
    width: usize,
    /// The markup between it and the next number.
    behind: Vec<u8>,
}

/// Why no more rows were collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The number of rows asked for has been reached.
    Full,
    /// The source has none at the moment.
    Later,
    /// The source has no more.
    End,
    /// The next row has a number out of range.
    Bad,
}

impl Block {
    pub(super) fn new(frame: &Frame, layout: Layout) -> Self {
        let between = [frame.last(), frame.first()].concat();
        let cells = frame.cells();
        let next = cells.iter().skip(1).map(|cell| &*cell.before);
        let behind = || next.clone().chain([&*between]);
        let numbers = cells.iter().zip(behind());
        let numbers = numbers.map(|(cell, behind)| Some((cell, cell.kind.number()?, behind)));
        let form = match (numbers.collect::<Option<Vec<_>>>(), layout) {
            (Some(numbers), Layout::Plain) => {
                let column = |(_, number, behind)| Column {
                    number,
                    marker: None,
                    separator: Separator::new(behind),
                };
                RowForm::Plain(numbers.into_iter().map(column).collect())
            }
            (Some(numbers), Layout::Stuffed) => {
                let padded = |(cell, number, behind): (&bsoap_codec::frame::Cell, _, _)| {
                    kernel::PaddedColumn {
                        number,
                        width: cell.width(),
                        close: Separator::new(b""),
                        separator: Separator::new(behind),
                    }
                };
                RowForm::Stuffed(numbers.into_iter().map(padded).collect())
            }
            (None, _) => {
                let cells = cells.iter().zip(behind()).map(|(cell, behind)| Cell {
                    kind: kind(cell.kind),
                    width: match layout {
                        Layout::Plain => 0,
                        Layout::Stuffed => cell.width(),
                    },
                    behind: behind.to_vec(),
                });
                RowForm::Each(cells.collect())
            }
        };
        let row = cells.iter().zip(behind());
        let row = row.map(|(cell, behind)| cell.width().max(NUMBER) + behind.len());
        let row_bytes = row.sum::<usize>().max(1);
        let rows = (NUMBERS / cells.len().max(1)).min(CHUNK / 2 / row_bytes);
        Self {
            ranges: cells.iter().map(|cell| Range::of(cell.kind)).collect(),
            slots: vec![0; rows.max(1) * cells.len()],
            row_bytes,
            between,
            form,
        }
    }

    /// The number of rows that are written together.
    pub(super) fn rows(&self) -> usize {
        self.slots.len() / self.ranges.len().max(1)
    }

    /// The capacity of a chunk, in bytes.
    pub(super) fn chunk(&self) -> usize {
        CHUNK.max(self.between.len() + self.rows() * self.row_bytes + SPARE)
    }

    /// The number of rows that may be appended to a chunk; 0 if it counts as full.
    pub(super) fn fit(&self, chunk: &Vec<u8>) -> usize {
        let taken = chunk.len() + self.between.len() + SPARE;
        let fit = chunk.capacity().saturating_sub(taken) / self.row_bytes;
        if fit * self.row_bytes <= FULL {
            return 0;
        }
        fit.min(self.rows())
    }

    /// Collects at most `most` rows. Returns their number, and why it ended.
    #[inline]
    pub(super) fn gather<R: Row>(
        &mut self,
        most: usize,
        source: &mut impl FnMut() -> Offer<R>,
    ) -> (usize, Ending) {
        // The type of the rows was checked before, but later calls may use another type.
        let ranges = &*self.ranges;
        if ranges.len() != R::NUMBERS {
            return (0, Ending::Bad);
        }
        let slots = self.slots.chunks_exact_mut(R::NUMBERS.max(1)).take(most);
        let mut rows = 0;
        for slots in slots {
            let row = match source() {
                Offer::Row(row) => row,
                Offer::Later => return (rows, Ending::Later),
                Offer::End => return (rows, Ending::End),
            };
            let mut cells = Cells::new(ranges, slots);
            row.give(&mut cells);
            if !cells.are_good() {
                return (rows, Ending::Bad);
            }
            rows += 1;
        }
        (rows, Ending::Full)
    }

    /// Appends the collected rows to a chunk.
    pub(super) fn write(&self, rows: usize, text: &mut Vec<u8>) {
        let slots = &self.slots[..rows * self.ranges.len()];
        text.extend_from_slice(&self.between);
        match &self.form {
            RowForm::Plain(columns) => Kernel::best().write_rows(slots, columns, text, |_, _| {}),
            RowForm::Stuffed(padded) => {
                let kernel = Kernel::best();
                let fit = kernel.write_padded_rows(slots, padded, text, |_, _| {});
                debug_assert!(fit, "a number in range is not longer than its width");
            }
            RowForm::Each(cells) => {
                for row in slots.chunks_exact(cells.len().max(1)) {
                    for (&slot, cell) in row.iter().zip(cells) {
                        cell.write(slot, text);
                    }
                }
                text.truncate(text.len() - self.between.len());
            }
        }
    }
}

impl Cell {
    fn write(&self, slot: u64, text: &mut Vec<u8>) {
        let mut form = [b' '; NUMBER];
        let length = lexical::number(self.kind, slot, &mut form);
        let end = text.len() + length.max(self.width);
        text.extend_from_slice(&form[..length]);
        text.resize(end, b' ');
        text.extend_from_slice(&self.behind);
    }
}

fn kind(kind: LeafKind) -> SlotKind {
    match kind {
        LeafKind::Double => SlotKind::Double,
        LeafKind::Float => SlotKind::Float,
        LeafKind::Signed { .. } => SlotKind::Signed,
        LeafKind::Unsigned { .. } => SlotKind::Unsigned,
        _ => SlotKind::Boolean,
    }
}
