//! Arrays of numbers and of flat structs of numbers, in pieces.

use bsoap_datatypes::kernel::Kernel;
use bsoap_datatypes::{double, integer};

use super::error::ErrorKind;
use super::leaf::LeafRef;
use super::machine::{Machine, Result, number};
use super::places::CellPlace;
use super::program::{self, Form, PAD, Program, Span};
use super::state::Loop;
use super::watch::Watch;

/// The most numbers told of at once.
const CELLS: usize = 128;
/// The most room a number in a row gets.
const WIDEST: usize = 32;

impl<P: Watch> Machine<'_, '_, P> {
    /// Writes the rows of the table that the instruction at `pc` is, or those that are left. Returns what is done if it is
    /// stopped between two rows.
    pub(super) fn rows_in_pieces(
        &mut self,
        pc: u32,
        table: &program::Table,
        rows: Option<Loop>,
    ) -> Result<Option<Loop>> {
        let cells = table.cells.len();
        let Loop { count, mut done } = match rows {
            Some(rows) => rows,
            None => {
                self.next()?;
                let count = self.at - 1;
                Loop { count, done: 0 }
            }
        };
        let all = *self.slots.get(count).ok_or(ErrorKind::Misfit)?;
        let left = all
            .checked_sub(done)
            .and_then(|left| usize::try_from(left).ok());
        let end = left
            .and_then(|left| left.checked_mul(cells)?.checked_add(self.at))
            .filter(|&end| end <= self.slots.len())
            .ok_or(ErrorKind::Misfit)?;
        while self.at < end {
            let rows = self.rows_to_write(table, end);
            let (slots, at) = (self.slots, self.at + rows * cells);
            let slots = Slots {
                slots: &slots[self.at..at],
                first: self.at,
                start: self.start,
            };
            write_rows(self.program, table, slots, self.out, &mut self.places);
            self.at = at;
            done += rows as u64;
            let (length, slot) = self.places.limits();
            if at < end && (self.out.len() >= length || at >= slot) && self.asks(pc, true) {
                return Ok(Some(Loop { count, done }));
            }
        }
        Ok(None)
    }

    /// How many rows to write before asking whether to stop.
    fn rows_to_write(&self, table: &program::Table, end: usize) -> usize {
        let cells = table.cells.len();
        let (length, slot) = self.places.limits();
        let fit = length.saturating_sub(self.out.len()) / room(table, P::STUFFS);
        let mut rows = ((end - self.at) / cells).min(CELLS / cells);
        if slot > self.at {
            rows = rows.min((slot - self.at).div_ceil(cells));
        }
        rows.min(fit).max(1)
    }
}

/// Bytes a row can take, copies of fixed size included.
fn room(table: &program::Table, stuffs: bool) -> usize {
    if stuffs {
        table.room + table.cells.len() * 3 * PAD
    } else {
        table.room
    }
}

/// Some rows to be written.
#[derive(Clone, Copy)]
struct Slots<'r> {
    slots: &'r [u64],
    /// The number of the first slot.
    first: usize,
    /// The length of the text that places are counted from.
    start: usize,
}

/// Writes at most [`CELLS`] numbers with their tags.
fn write_rows<P: Watch>(
    program: &Program,
    table: &program::Table,
    slots: Slots<'_>,
    out: &mut Vec<u8>,
    watch: &mut P,
) {
    if !P::STUFFS && !table.columns.is_empty() {
        return write_numbers(program, table, slots, out, watch);
    }
    match table.cells.as_slice() {
        [(_, Form::Double)] => format_rows(program, table, slots, out, watch, |slot, _, out| {
            double::format(f64::from_bits(slot), out)
        }),
        [(_, Form::Signed)] => format_rows(program, table, slots, out, watch, |slot, _, out| {
            integer::format_i64(slot as i64, out)
        }),
        _ => format_rows(program, table, slots, out, watch, |slot, form, out| {
            number(form, slot, out)
        }),
    }
}

/// Numbers without pads.
fn write_numbers<P: Watch>(
    program: &Program,
    table: &program::Table,
    slots: Slots<'_>,
    out: &mut Vec<u8>,
    watch: &mut P,
) {
    out.extend_from_slice(program.literal(table.first));
    let begin = out.len();
    let mut places = [CellPlace::default(); CELLS];
    let mut told = 0;
    Kernel::best().write_rows(slots.slots, &table.columns, out, |at, length| {
        if P::LISTENS
            && let Some(place) = places.get_mut(told)
        {
            *place = CellPlace {
                offset: (at - begin) as u32,
                length: length as u8,
                width: length as u8,
            };
            told += 1;
        }
    });
    out.extend_from_slice(program.literal(table.last));
    if P::LISTENS {
        watch.rows(table, slots.first, begin - slots.start, &places[..told]);
    }
}

/// Formats rows with their tags straight into reserved space.
#[inline(always)]
fn format_rows<P: Watch>(
    program: &Program,
    table: &program::Table,
    slots: Slots<'_>,
    out: &mut Vec<u8>,
    watch: &mut P,
    format: impl Fn(u64, Form, &mut [u8; 32]) -> usize,
) {
    let per_row = table.cells.len();
    let rows = slots.slots.len() / per_row;
    let begin = out.len();
    let ends = program.literal(table.first).len() + program.literal(table.last).len();
    out.resize(begin + ends + 4 * PAD + rows * room(table, P::STUFFS), b' ');
    let window = &mut out[begin..];
    let mut places = [CellPlace::default(); CELLS];
    let mut told = places.iter_mut();
    let mut end = copy(program, table.first, window, 0);
    let offset = end;
    // Bytes of the end tag before the pad of the last number, and the pad.
    let mut behind = (0, 0);
    for (row, cells) in slots.slots.chunks_exact(per_row).enumerate() {
        for (index, (&slot, &(before, form))) in cells.iter().zip(&table.cells).enumerate() {
            if index > 0 {
                end += copy_padded::<P>(program, before, window, end, &mut behind);
            }
            let Some(room) = window[end..].first_chunk_mut() else {
                unreachable!("a row has its room")
            };
            let length = format(slot, form, room);
            let mut width = length;
            if P::STUFFS {
                let leaf = LeafRef(table.leaf.0 + index as u32);
                let close;
                (width, close) = watch.room(leaf, length);
                width = width.clamp(length, WIDEST);
                if let Some(close) = close {
                    behind = (close, width - length);
                } else {
                    window[end + length..][..PAD].fill(b' ');
                }
            }
            if P::LISTENS
                && let Some(place) = told.next()
            {
                *place = CellPlace {
                    offset: (end - offset) as u32,
                    length: length as u8,
                    width: width as u8,
                };
            }
            // A pad behind the end tag is written with what follows.
            end += if P::STUFFS && behind.1 == 0 {
                width
            } else {
                length
            };
        }
        let after = if row + 1 < rows {
            table.between
        } else {
            table.last
        };
        end += copy_padded::<P>(program, after, window, end, &mut behind);
    }
    out.truncate(begin + end);
    if P::LISTENS {
        let told = rows * per_row;
        watch.rows(
            table,
            slots.first,
            begin + offset - slots.start,
            &places[..told.min(CELLS)],
        );
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

/// Copies a literal to `window[at..]`, a pad behind the end tag it begins with, and returns the length of both.
#[inline(always)]
fn copy_padded<P: Watch>(
    program: &Program,
    span: Span,
    window: &mut [u8],
    at: usize,
    behind: &mut (usize, usize),
) -> usize {
    if !P::STUFFS || behind.1 == 0 {
        return copy(program, span, window, at);
    }
    let (close, pad) = std::mem::take(behind);
    let (close, rest) = Program::split(span, close);
    let length = copy(program, close, window, at);
    window[at + length..][..PAD].fill(b' ');
    length + pad + copy(program, rest, window, at + length + pad)
}
