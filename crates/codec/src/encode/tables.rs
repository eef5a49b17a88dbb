//! Arrays of numbers and of flat structs of numbers, at once: the tightest loop there is.

use bsoap_datatypes::kernel::{Kernel, Memory};
use smallvec::SmallVec;

use super::error::ErrorKind;
use super::machine::{Machine, Result, number};
use super::program::{Form, PAD, Program, Span, Table};
use super::watch::Watch;

/// Rows of a table formatted into reserved space at once.
const BLOCK: usize = 64;

impl<P: Watch> Machine<'_, '_, P> {
    pub(super) fn rows(&mut self, table: &Table) -> Result<()> {
        let count = usize::try_from(self.next()?).map_err(|_| ErrorKind::Misfit)?;
        let slots = count
            .checked_mul(table.cells.len())
            .and_then(|length| self.slots[self.at..].get(..length))
            .ok_or(ErrorKind::Misfit)?;
        if count == 0 {
            return Ok(());
        }
        self.literal(table.first);
        let begin = self.at;
        if !table.columns.is_empty() {
            self.numbers(table, slots);
            self.at = begin + slots.len();
            if P::LISTENS {
                self.places.rows_end(begin, self.at);
            }
            self.literal(table.last);
            return Ok(());
        }
        self.blocks(table, slots, |slot, form, out| number(form, slot, out));
        self.at = begin + slots.len();
        if P::LISTENS {
            self.places.rows_end(begin, self.at);
        }
        // The last row is followed by what stands between rows: take that back.
        self.out
            .truncate(self.out.len() - self.program.literal(table.between).len());
        self.literal(table.last);
        Ok(())
    }

    /// Rows of numbers, with what stands between rows between them.
    fn numbers(&mut self, table: &Table, slots: &[u64]) {
        let mut rest = slots;
        if P::LISTENS {
            let cells = table.cells.len();
            let told = self.places.told_of(table, slots.len()).div_ceil(cells) * cells;
            let front;
            (front, rest) = slots.split_at(told.min(slots.len()));
            let (places, start, mut at) = (&mut self.places, self.start, self.at);
            let (kernel, columns) = (Kernel::best(), &table.columns);
            if P::FOLLOWS {
                kernel.write_rows(front, columns, self.out, |offset, length| {
                    places.plain(at, (offset - start) as u64, length);
                    at += 1;
                });
            } else {
                // (These are the first few.)
                kernel.write_rows_in_blocks(
                    front,
                    columns,
                    Memory::Near,
                    self.out,
                    |_, lengths| {
                        places.plains(at, lengths);
                        at += lengths.len();
                    },
                );
            }
            if !front.is_empty() && !rest.is_empty() {
                self.literal(table.between);
            }
        }
        Kernel::best().write_rows(rest, &table.columns, self.out, |_, _| {});
    }

    /// Formats rows, each followed by what stands between rows, straight into space made for a block of them.
    #[inline(always)]
    fn blocks(
        &mut self,
        table: &Table,
        slots: &[u64],
        format: impl Fn(u64, Form, &mut [u8; 32]) -> usize,
    ) {
        let literal = |span| Literal::new(self.program, span);
        let between = literal(table.between);
        let cells: SmallVec<[_; 4]> = table
            .cells
            .iter()
            .map(|&(before, form)| (literal(before), form))
            .collect();
        let mut end = self.out.len();
        for rows in slots.chunks(BLOCK * cells.len()) {
            // What the block before left of its space is used first.
            let room = end + rows.len() / cells.len() * table.room + PAD;
            if self.out.len() < room {
                self.out.resize(room, 0);
            }
            let window = self.out.as_mut_slice();
            for row in rows.chunks_exact(cells.len()) {
                for (index, (&slot, (before, form))) in row.iter().zip(&cells).enumerate() {
                    if index > 0 {
                        end = before.write(window, end);
                    }
                    let Some(room) = window[end..].first_chunk_mut() else {
                        unreachable!("a row has its room")
                    };
                    let length = format(slot, *form, room);
                    if P::LISTENS {
                        let offset = (end - self.start) as u64;
                        self.places.plain(self.at, offset, length);
                        self.at += 1;
                    }
                    end += length;
                }
                end = between.write(window, end);
            }
        }
        self.out.truncate(end);
    }
}

/// Markup, padded if it is short.
struct Literal<'p> {
    bytes: &'p [u8],
    padded: Option<&'p [u8; PAD]>,
}

impl<'p> Literal<'p> {
    fn new(program: &'p Program, span: Span) -> Self {
        Self {
            bytes: program.literal(span),
            padded: program.padded(span).map(|(padded, _)| padded),
        }
    }

    /// Copies it to `window[end..]`, with a fixed size if it is short, and returns where it ends.
    #[inline(always)]
    fn write(&self, window: &mut [u8], end: usize) -> usize {
        match self.padded {
            Some(padded) => window[end..end + PAD].copy_from_slice(padded),
            None => window[end..end + self.bytes.len()].copy_from_slice(self.bytes),
        }
        end + self.bytes.len()
    }
}
