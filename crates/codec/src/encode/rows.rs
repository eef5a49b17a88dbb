//! Writes arrays of numbers and of flat structs of numbers, many rows at once.

use bsoap_datatypes::kernel::{Kernel, PaddedColumn, Separator};

use crate::plan::program::{Form, LeafRef, PAD, Program, Span, Table};

use super::control::Control;
use super::error::{ErrorKind, Result};
use super::interpreter::{Interpreter, PadBehind};
use super::leaf::number;
use super::places::{Places, Rows};
use super::state::Loop;

/// The most numbers of one call that formats numbers one by one.
const MAX_CELLS: usize = 128;
/// The most bytes of rows written at once, if locations are reported or the interpreter may be stopped.
const MAX_BATCH: usize = 32 << 10;
/// Fewer numbers than this are padded one by one.
const MIN_PADDED: usize = 16;
/// The greatest width of a number in a row.
const MAX_WIDTH: usize = 32;

/// The locations of the numbers of a batch; kept for the next batch to use its memory again.
#[derive(Default)]
pub(super) struct Locations {
    /// The offsets from the first number.
    offsets: Vec<u32>,
    lengths: Vec<u8>,
    /// The widths; empty if each number has its own length.
    widths: Vec<u8>,
}

impl Locations {
    fn clear(&mut self, numbers: usize) {
        self.offsets.clear();
        self.lengths.clear();
        self.widths.clear();
        self.offsets.reserve(numbers);
        self.lengths.reserve(numbers);
    }

    /// Adds numbers that begin at `starts` in a text; the first number of the batch begins at `begin`.
    #[inline]
    fn extend(&mut self, begin: usize, starts: &[usize], lengths: &[u8]) {
        let offsets = starts.iter().map(|&start| (start - begin) as u32);
        self.offsets.extend(offsets);
        self.lengths.extend_from_slice(lengths);
    }

    /// Sets the widths: each row has those of the columns.
    fn repeat_widths(&mut self, columns: &[PaddedColumn]) {
        let (widths, numbers) = (&mut self.widths, self.lengths.len());
        let row = columns.iter().map(|column| column.width as u8);
        widths.extend(row.take(numbers));
        while widths.len() < numbers {
            let more = widths.len().min(numbers - widths.len());
            widths.extend_from_within(..more);
        }
    }
}

/// Rows of a table that are written together.
#[derive(Clone, Copy)]
struct Batch<'r> {
    slots: &'r [u64],
    /// The index of the first slot.
    first: usize,
    is_reported: bool,
}

impl<C: Control, P: Places> Interpreter<'_, '_, C, P> {
    /// Writes the rows of the table of the instruction at `pc`, or the rest of them. If it is stopped between two rows,
    /// returns the rows done.
    pub(super) fn rows(
        &mut self,
        pc: u32,
        table: &Table,
        rows: Option<Loop>,
    ) -> Result<Option<Loop>> {
        let cells = table.cells.len();
        let Loop { count, mut done } = match rows {
            Some(rows) => rows,
            None => {
                let count = self.at;
                self.next()?;
                Loop { count, done: 0 }
            }
        };
        let all = *self.slots.get(count).ok_or(ErrorKind::Mismatch)?;
        let left = all.checked_sub(done);
        let end = left
            .and_then(|left| usize::try_from(left).ok()?.checked_mul(cells))
            .and_then(|left| left.checked_add(self.at))
            .filter(|&end| end <= self.slots.len())
            .ok_or(ErrorKind::Mismatch)?;
        let slots = self.slots;
        let padded = self.padded_columns(table, end - self.at);
        while self.at < end {
            let is_reported = P::LISTENS && self.places.wanted_numbers() > 0;
            let rows = self.rows_at_once(table, end, is_reported);
            let first = self.at;
            self.at += rows * cells;
            done += rows as u64;
            let slots = &slots[first..self.at];
            self.batch(
                (table, &padded),
                Batch {
                    slots,
                    first,
                    is_reported,
                },
            );
            if C::STOPS && self.at < end && self.is_stopped(pc, true) {
                return Ok(Some(Loop { count, done }));
            }
        }
        Ok(None)
    }

    /// The number of rows to write before checking whether to stop or to report.
    fn rows_at_once(&self, table: &Table, end: usize, is_reported: bool) -> usize {
        let cells = table.cells.len();
        let mut rows = (end - self.at) / cells;
        if is_reported {
            rows = rows.min(self.places.wanted_numbers().div_ceil(cells));
        }
        if !is_for_kernel::<C>(table) {
            rows = rows.min(MAX_CELLS / cells);
        } else if is_reported || C::STOPS {
            rows = rows.min(MAX_BATCH / space::<C>(table));
        }
        if C::STOPS {
            let (length, slot) = self.control.limits();
            // A piece may be somewhat longer: writing its last rows one by one costs more.
            let left = length.saturating_sub(self.out.len()).max(length / 8);
            rows = rows.min(left / space::<C>(table));
            if slot > self.at {
                rows = rows.min((slot - self.at).div_ceil(cells));
            }
        }
        rows.max(1)
    }

    fn batch(&mut self, (table, padded): (&Table, &[PaddedColumn]), batch: Batch<'_>) {
        let mut located = std::mem::take(&mut self.located);
        if P::LISTENS {
            located.clear(if batch.is_reported {
                batch.slots.len()
            } else {
                0
            });
        }
        let begin = self.out.len();
        let written = match is_for_kernel::<C>(table) {
            true => Some(self.write_rows(table, batch, &mut located)),
            false => self.write_padded_rows(table, padded, batch, &mut located),
        };
        let offset = written.unwrap_or_else(|| match table.cells.as_slice() {
            // With a single kind of number, the kind is not looked at for each number.
            [(_, Form::Double)] => self.format_rows(table, batch, &mut located, |slot, _, out| {
                number(Form::Double, slot, out)
            }),
            [(_, Form::Signed)] => self.format_rows(table, batch, &mut located, |slot, _, out| {
                number(Form::Signed, slot, out)
            }),
            _ => self.format_rows(table, batch, &mut located, |slot, form, out| {
                number(form, slot, out)
            }),
        });
        if P::LISTENS {
            self.places.rows(Rows {
                slot: batch.first,
                numbers: batch.slots.len(),
                leaf: table.leaf,
                cells: table.cells.len(),
                offset: begin + offset - self.start,
                offsets: &located.offsets,
                lengths: &located.lengths,
                widths: &located.widths,
            });
            self.located = located;
        }
    }

    /// Writes rows without pads. Returns where the first number begins.
    fn write_rows(&mut self, table: &Table, batch: Batch<'_>, located: &mut Locations) -> usize {
        let (program, out) = (self.program, &mut *self.out);
        let first = program.literal(table.first);
        out.extend_from_slice(first);
        let kernel = Kernel::best();
        if batch.is_reported {
            let begin = out.len();
            kernel.write_rows(batch.slots, &table.columns, out, |at, lengths| {
                located.extend(begin, at, lengths);
            });
        } else {
            kernel.write_rows(batch.slots, &table.columns, out, |_, _| {});
        }
        out.extend_from_slice(program.literal(table.last));
        first.len()
    }

    /// The columns of padded rows; empty if rows are not padded, or a width depends on its value.
    fn padded_columns(&self, table: &Table, numbers: usize) -> Vec<PaddedColumn> {
        if !C::STUFFS || numbers < MIN_PADDED {
            return Vec::new();
        }
        let cells = table.cells.iter().enumerate();
        let columns = cells.map(|(index, &(_, form))| {
            let leaf = LeafRef(table.leaf.0 + index as u32);
            let (width, close) = self.control.fixed_width(leaf)?;
            // The markup behind the number, up to the next one.
            let next = table.cells.get(index + 1);
            let after = next.map_or(table.between, |&(before, _)| before);
            let (close, rest) = Program::split(after, close);
            Some(PaddedColumn {
                number: form.to_number().filter(|_| width <= MAX_WIDTH)?,
                width,
                close: Separator::new(self.program.literal(close)),
                separator: Separator::new(self.program.literal(rest)),
            })
        });
        columns.collect::<Option<_>>().unwrap_or_default()
    }

    /// Writes rows whose numbers have these widths. Returns where the first number begins; `None`, without writing
    /// anything, if some number is longer.
    fn write_padded_rows(
        &mut self,
        table: &Table,
        columns: &[PaddedColumn],
        batch: Batch<'_>,
        located: &mut Locations,
    ) -> Option<usize> {
        let close = columns.last()?.close.as_bytes().len();
        let (start, program, out) = (self.out.len(), self.program, &mut *self.out);
        let first = program.literal(table.first);
        out.extend_from_slice(first);
        let begin = out.len();
        let fit = Kernel::best().write_padded_rows(batch.slots, columns, out, |at, lengths| {
            if batch.is_reported {
                located.extend(begin, at, lengths);
            }
        });
        if !fit {
            out.truncate(start);
            located.clear(0);
            return None;
        }
        located.repeat_widths(columns);
        out.extend_from_slice(program.literal(Program::split(table.last, close).1));
        Some(first.len())
    }

    /// Formats rows with their tags and pads into reserved space. Returns where the first number begins.
    #[inline(always)]
    fn format_rows(
        &mut self,
        table: &Table,
        batch: Batch<'_>,
        located: &mut Locations,
        format: impl Fn(u64, Form, &mut [u8; 32]) -> usize,
    ) -> usize {
        let program = self.program;
        let per_row = table.cells.len();
        let rows = batch.slots.len() / per_row;
        let begin = self.out.len();
        let ends = program.literal(table.first).len() + program.literal(table.last).len();
        let length = begin + ends + 4 * PAD + rows * space::<C>(table);
        self.out.resize(length, b' ');
        let window = &mut self.out[begin..];
        let mut end = copy(program, table.first, window, 0);
        let offset = end;
        // The pad of the last number, if it goes behind the end tag.
        let mut pad = PadBehind::default();
        for (row, cells) in batch.slots.chunks_exact(per_row).enumerate() {
            for (index, (&slot, &(before, form))) in cells.iter().zip(&table.cells).enumerate() {
                if index > 0 {
                    end += copy_padded(program, before, window, end, &mut pad);
                }
                let Some(free) = window[end..].first_chunk_mut() else {
                    unreachable!("a row has its space")
                };
                let length = format(slot, form, free);
                let mut width = length;
                if C::STUFFS {
                    let close;
                    let leaf = LeafRef(table.leaf.0 + index as u32);
                    (width, close) = self.control.width(leaf, length);
                    width = width.clamp(length, MAX_WIDTH);
                    match close {
                        Some(close) => {
                            let spaces = width - length;
                            pad = PadBehind { close, spaces };
                        }
                        None => window[end + length..][..PAD].fill(b' '),
                    }
                }
                if P::LISTENS && batch.is_reported {
                    located.offsets.push((end - offset) as u32);
                    located.lengths.push(length as u8);
                    if C::STUFFS {
                        located.widths.push(width as u8);
                    }
                }
                // A pad behind the end tag is written with the next markup.
                end += if pad.spaces == 0 { width } else { length };
            }
            let after = if row + 1 < rows {
                table.between
            } else {
                table.last
            };
            end += copy_padded(program, after, window, end, &mut pad);
        }
        self.out.truncate(begin + end);
        offset
    }
}

fn is_for_kernel<C: Control>(table: &Table) -> bool {
    !C::STUFFS && !table.columns.is_empty()
}

/// The most bytes of a row, with those of copies of a fixed size.
fn space<C: Control>(table: &Table) -> usize {
    if C::STUFFS {
        table.space + table.cells.len() * 3 * PAD
    } else {
        table.space
    }
}

/// Copies a literal to `window[at..]`, with a fixed size if it is short, and returns its length.
#[inline(always)]
fn copy(program: &Program, span: Span, window: &mut [u8], at: usize) -> usize {
    match program.padded(span) {
        Some((bytes, length)) => {
            window[at..at + PAD].copy_from_slice(bytes);
            length
        }
        None => {
            let bytes = program.literal(span);
            window[at..at + bytes.len()].copy_from_slice(bytes);
            bytes.len()
        }
    }
}

/// Copies a literal to `window[at..]`, with a pad behind the end tag at its beginning. Returns the length of both.
#[inline(always)]
fn copy_padded(
    program: &Program,
    span: Span,
    window: &mut [u8],
    at: usize,
    pad: &mut PadBehind,
) -> usize {
    if pad.spaces == 0 {
        return copy(program, span, window, at);
    }
    let PadBehind { close, spaces } = std::mem::take(pad);
    let (close, rest) = Program::split(span, close);
    let length = copy(program, close, window, at);
    window[at + length..][..PAD].fill(b' ');
    length + spaces + copy(program, rest, window, at + length + spaces)
}
