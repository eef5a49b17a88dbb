//! The part of the Index that belongs to a chunk: for each of its slots what it is and where its
//! text stands. The DUT table of the paper, but for the dirty bits, which are found when needed.
//!
//! ```text
//! chunk     | segment         | segment                      | segment |
//! leaves      Mixed             Table                          Mixed
//!             an entry per      a u16 and a byte or two per    …
//!             slot, markers     number; none if stuffed to a
//!             included          fixed stride
//! ```
//!
//! Slots count from the chunk's first slot, segments' text from the chunk's first byte and values'
//! text from the segment's first byte. So nothing here changes when text before it moves or slots are
//! inserted before it.

use std::sync::Arc;

use super::compare;

/// What a slot is to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number that says what else there is: a change of it changes markup.
    Marker,
    /// A heap slot that cannot be patched: a QName, free attributes, a value that is not in the text.
    Hidden,
    Boolean,
    Signed,
    Unsigned,
    Float,
    Double,
    /// Text as content.
    Text,
    /// Text as the value of an attribute.
    Attribute,
    Base64,
    Hex,
    /// XML, written as it is.
    Fragment,
}

impl Kind {
    /// Whether the slot points into the heap.
    #[inline]
    pub(crate) fn is_heap(self) -> bool {
        matches!(
            self,
            Self::Hidden | Self::Text | Self::Attribute | Self::Base64 | Self::Hex | Self::Fragment
        )
    }

    /// Whether the slot's text can be written again in its place.
    #[inline]
    pub(crate) fn has_place(self) -> bool {
        !matches!(self, Self::Marker | Self::Hidden)
    }

    /// Whether its text has at most 32 bytes and needs nothing but the slot.
    #[inline]
    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Boolean | Self::Signed | Self::Unsigned | Self::Float | Self::Double
        )
    }
}

/// A stretch of a chunk's slots and of its text.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Its first slot, counted from the chunk's first.
    pub(crate) first: usize,
    /// Where its offsets count from, in the chunk's text.
    pub(crate) start: usize,
    pub(crate) leaves: Leaves,
}

#[derive(Clone, Debug)]
pub(crate) enum Leaves {
    Mixed(Mixed),
    Table(Table),
}

/// Where a value stands, counted from the segment's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) length: usize,
    /// The bytes it may have, pad included.
    pub(crate) width: usize,
    /// The bytes of the end tag between value and pad; 0 if the pad follows the value.
    pub(crate) close: usize,
    /// Whether it may have a pad.
    pub(crate) pads: bool,
    /// The longest text of its type, 0 if there is none.
    pub(crate) widest: usize,
}

impl Place {
    /// The bytes of value, end tag and pad.
    #[inline]
    pub(crate) fn extent(&self) -> usize {
        self.width + self.close
    }

    /// Whether a text of `length` bytes may have a pad here. An empty one not in its element, which would not be empty then:
    /// a default would not be taken for it.
    #[inline]
    pub(crate) fn may_pad(&self, length: usize) -> bool {
        self.pads && (length > 0 || self.close > 0)
    }
}

/// Slots of any kind, with an entry each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixed {
    pub(crate) offsets: Vec<u32>,
    pub(crate) entries: Vec<Entry>,
    /// All bits where the slot points into the heap, none elsewhere.
    pub(crate) masks: Vec<u64>,
    /// Whether heap slots lie in the order of the heap, none in another.
    pub(crate) in_order: bool,
}

/// All of a slot but its offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) length: u32,
    pub(crate) width: u32,
    pub(crate) kind: Kind,
    /// Whether white space may stand where its pad would.
    pub(crate) pads: bool,
    /// The longest text of its type, 0 if there is none.
    pub(crate) widest: u8,
    /// As in [`Place`].
    pub(crate) close: u16,
}

/// Rows of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) cells: Arc<[Cell]>,
    /// 2³² by the number of cells, rounded up: which row a slot is in is found without a division.
    inverse: u64,
    pub(crate) columns: Columns,
}

/// The places of the numbers of a table.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// One by one. `widths` is empty where none has a pad.
    Dense {
        offsets: Vec<u16>,
        lengths: Vec<u8>,
        widths: Vec<u8>,
    },
    /// All rows alike, every cell as wide as its type.
    Strided { rows: usize, stride: usize },
}

/// What the numbers of a column have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    pub(crate) pads: bool,
    pub(crate) widest: u8,
    /// The end tag between value and pad; empty if the pad follows the value.
    pub(crate) close: Box<[u8]>,
    /// Where the cell stands in a row of fixed stride.
    pub(crate) offset: u16,
}

impl Segment {
    /// How many slots it has.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        match &self.leaves {
            Leaves::Mixed(mixed) => mixed.offsets.len(),
            Leaves::Table(table) => table.slots(),
        }
    }

    /// How many of them are values.
    pub(crate) fn values(&self) -> usize {
        match &self.leaves {
            Leaves::Mixed(mixed) => {
                let kinds = mixed.entries.iter().map(|entry| entry.kind);
                kinds.filter(|&kind| kind != Kind::Marker).count()
            }
            Leaves::Table(table) => table.slots(),
        }
    }

    /// Notes whether its heap slots are in the order of the heap. `slots` are those of the message from
    /// slot `first` of the chunk's on.
    pub(crate) fn see_order(&mut self, slots: &[u64], first: usize) {
        if let Leaves::Mixed(mixed) = &mut self.leaves {
            let own = slots.get(first + self.first..);
            mixed.in_order = own.is_some_and(|slots| compare::in_order(mixed, slots));
        }
    }

    /// The same where they were not. `slots` are the chunk's.
    pub(crate) fn see_order_again(&mut self, slots: &[u64]) {
        if matches!(&self.leaves, Leaves::Mixed(mixed) if !mixed.in_order) {
            self.see_order(slots, 0);
        }
    }

    /// The kind of a slot, counted from the segment's first.
    pub(crate) fn kind(&self, index: usize) -> Kind {
        match &self.leaves {
            Leaves::Mixed(mixed) => mixed.entries[index].kind,
            Leaves::Table(table) => table.cell(index).kind,
        }
    }

    /// The place of a slot that has one. Of a number of fixed stride, length is not known: it is
    /// given as the width.
    #[inline]
    pub(crate) fn place(&self, index: usize) -> Option<Place> {
        match &self.leaves {
            Leaves::Mixed(mixed) => mixed.place(index),
            Leaves::Table(table) => Some(table.place(index)),
        }
    }

    /// Moves the values of these slots by `delta` bytes.
    #[inline]
    pub(crate) fn move_values(&mut self, slots: std::ops::Range<usize>, delta: isize) {
        match &mut self.leaves {
            Leaves::Mixed(mixed) => {
                for offset in &mut mixed.offsets[slots] {
                    *offset = offset.wrapping_add(delta as u32);
                }
            }
            Leaves::Table(Table {
                columns: Columns::Dense { offsets, .. },
                ..
            }) => {
                for offset in &mut offsets[slots] {
                    *offset = offset.wrapping_add(delta as u16);
                }
            }
            Leaves::Table(_) => debug_assert!(delta == 0, "rows of fixed stride do not move"),
        }
    }

    /// Gives a value another length and width.
    pub(crate) fn resize(&mut self, index: usize, length: usize, width: usize) {
        match &mut self.leaves {
            Leaves::Mixed(mixed) => {
                mixed.entries[index].length = length as u32;
                mixed.entries[index].width = width as u32;
            }
            Leaves::Table(Table {
                columns: Columns::Dense {
                    lengths, widths, ..
                },
                ..
            }) => {
                lengths[index] = length as u8;
                if let Some(own) = widths.get_mut(index) {
                    *own = width as u8;
                }
            }
            Leaves::Table(_) => debug_assert!(length <= width, "the widest text fits"),
        }
    }

    /// Whether its last location can still be counted when it moves by `grown` bytes, in a text of `length` bytes.
    #[inline]
    pub(crate) fn can_move(&self, grown: isize, length: usize) -> bool {
        let last = match &self.leaves {
            Leaves::Mixed(_) => return length.saturating_add_signed(grown) <= u32::MAX as usize,
            Leaves::Table(Table {
                columns: Columns::Dense { offsets, .. },
                ..
            }) => offsets.last().copied().unwrap_or(0),
            Leaves::Table(_) => return grown == 0,
        };
        usize::from(last).saturating_add_signed(grown) <= u16::MAX.into()
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>()
            + match &self.leaves {
                Leaves::Mixed(mixed) => mixed.memory(),
                Leaves::Table(table) => table.columns.memory(),
            }
    }
}

impl Mixed {
    #[inline]
    pub(crate) fn place(&self, index: usize) -> Option<Place> {
        let entry = self.entries.get(index)?;
        entry.kind.has_place().then(|| Place {
            offset: self.offsets[index] as usize,
            length: entry.length as usize,
            width: entry.width as usize,
            close: entry.close.into(),
            pads: entry.pads,
            widest: entry.widest.into(),
        })
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.offsets.capacity() * size_of::<u32>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.masks.capacity() * size_of::<u64>()
    }

    /// Makes room for so many slots more.
    pub(crate) fn reserve(&mut self, slots: usize) {
        self.offsets.reserve(slots);
        self.entries.reserve(slots);
        self.masks.reserve(slots);
    }

    /// Gives a slot another entry.
    pub(crate) fn set(&mut self, index: usize, offset: u32, entry: Entry) {
        if let (Some(own_offset), Some(own), Some(mask)) = (
            self.offsets.get_mut(index),
            self.entries.get_mut(index),
            self.masks.get_mut(index),
        ) {
            *own_offset = offset;
            *own = entry;
            *mask = if entry.kind.is_heap() { u64::MAX } else { 0 };
        }
    }

    /// Adds the next slot.
    #[inline]
    pub(crate) fn push(&mut self, offset: u32, entry: Entry) {
        self.offsets.push(offset);
        self.entries.push(entry);
        self.masks
            .push(if entry.kind.is_heap() { u64::MAX } else { 0 });
    }
}

impl Entry {
    /// A slot without a place.
    pub(crate) fn placeless(kind: Kind) -> Self {
        Self {
            length: 0,
            width: 0,
            kind,
            pads: false,
            widest: 0,
            close: 0,
        }
    }
}

impl Table {
    /// Rows of these cells.
    pub(crate) fn new(cells: Arc<[Cell]>, columns: Columns) -> Self {
        let inverse = (1 << 32_u64) / cells.len().max(1) as u64 + 1;
        Self {
            cells,
            inverse,
            columns,
        }
    }

    /// How many numbers.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        match &self.columns {
            Columns::Dense { offsets, .. } => offsets.len(),
            Columns::Strided { rows, .. } => rows * self.cells.len(),
        }
    }

    /// The row and the cell that a slot is in; slots have at most 32 bits with the number of cells.
    #[inline(always)]
    fn row_and_cell(&self, index: usize) -> (usize, usize) {
        match &*self.cells {
            [_] => (index, 0),
            cells => {
                let row = (index as u64 * self.inverse >> 32) as usize;
                (row, index - row * cells.len())
            }
        }
    }

    #[inline(always)]
    pub(crate) fn cell(&self, index: usize) -> &Cell {
        &self.cells[self.row_and_cell(index).1]
    }

    #[inline(always)]
    pub(crate) fn place(&self, index: usize) -> Place {
        let (row, cell) = self.row_and_cell(index);
        let cell = &self.cells[cell];
        let widest = cell.widest.into();
        let (offset, length, width) = match &self.columns {
            Columns::Dense {
                offsets,
                lengths,
                widths,
            } => {
                let length = lengths[index].into();
                let width = widths.get(index).map_or(length, |&width| width.into());
                (offsets[index].into(), length, width)
            }
            Columns::Strided { stride, .. } => {
                (row * stride + usize::from(cell.offset), widest, widest)
            }
        };
        Place {
            offset,
            length,
            width,
            close: cell.close.len(),
            pads: cell.pads,
            widest,
        }
    }

    /// Whether its values cannot move against one another.
    pub(crate) fn is_strided(&self) -> bool {
        matches!(self.columns, Columns::Strided { .. })
    }

    /// Gives a number that fits its width another length.
    #[inline]
    pub(crate) fn set_length(&mut self, index: usize, length: usize) {
        if let Columns::Dense { lengths, .. } = &mut self.columns {
            lengths[index] = length as u8;
        }
    }
}

impl Columns {
    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Dense {
                offsets,
                lengths,
                widths,
            } => offsets.capacity() * 2 + lengths.capacity() + widths.capacity(),
            Self::Strided { .. } => 0,
        }
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self::Dense {
            offsets: Vec::new(),
            lengths: Vec::new(),
            widths: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cell_of_a_slot_is_the_remainder_of_a_division() {
        let cell = Cell {
            kind: Kind::Double,
            pads: false,
            widest: 24,
            close: Box::default(),
            offset: 0,
        };
        for cells in 1..300 {
            let table = Table::new(vec![cell.clone(); cells].into(), Columns::default());
            for slot in (0..1 << 16).step_by(7).chain([(1 << 16) - 1]) {
                assert_eq!(table.row_and_cell(slot), (slot / cells, slot % cells));
            }
        }
    }
}
