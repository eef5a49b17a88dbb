//! The DUT table (data-update-tracking table) of a chunk: for each of its slots what it is, and the location of its
//! lexical form. The dirty bits of the paper are not stored: they are found when needed.
//!
//! ```text
//! chunk     | segment         | segment                      | segment |
//! leaves      Mixed             Table                          Mixed
//!             an entry per      a u16 and a byte or two per    …
//!             slot, markers     number
//!             included
//! ```
//!
//! Slots count from the chunk's first slot, segments from the chunk's first byte, and values from the segment's
//! first byte. So nothing here changes when text before it moves or slots are inserted before it.

use std::ops::Range;
use std::sync::Arc;

use super::compare;

/// What a slot is to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// A count, presence or choice: a change of it changes markup.
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

impl SlotKind {
    /// Whether the slot points into the heap.
    #[inline]
    pub(crate) fn is_heap(self) -> bool {
        matches!(
            self,
            Self::Hidden | Self::Text | Self::Attribute | Self::Base64 | Self::Hex | Self::Fragment
        )
    }

    /// Whether the slot's text can be written again in its location.
    #[inline]
    pub(crate) fn has_location(self) -> bool {
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

/// Consecutive slots of a chunk, and their text.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Its first slot, counted from the chunk's first.
    pub(crate) first: usize,
    /// Where its offsets count from, in the chunk's text.
    pub(crate) start: usize,
    pub(crate) locations: Locations,
}

#[derive(Clone, Debug)]
pub(crate) enum Locations {
    Mixed(Mixed),
    Table(Table),
}

/// The location of a value's lexical form, counted from the segment's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
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

impl Location {
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
    pub(crate) entries: Vec<MixedEntry>,
    /// All bits where the slot points into the heap, none elsewhere.
    pub(crate) masks: Vec<u64>,
    /// Whether heap slots lie in the order of the heap, none in another.
    pub(crate) in_order: bool,
}

/// What is the same for all values of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafSpec {
    pub(crate) kind: SlotKind,
    /// Whether its padding would be insignificant white space.
    pub(crate) pads: bool,
    /// The length of the longest lexical form of its type, 0 if there is none.
    pub(crate) widest: u8,
    /// As in [`Location`].
    pub(crate) close: u16,
}

/// All of a slot but its offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MixedEntry {
    pub(crate) length: u32,
    pub(crate) width: u32,
    pub(crate) spec: LeafSpec,
}

/// Rows of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The leaves of a row.
    pub(crate) cells: Arc<[LeafSpec]>,
    /// 2³² by the number of cells, rounded up: the cell of a slot is found without a division.
    inverse: u64,
    pub(crate) columns: Columns,
    /// Whether the widths depend on the values that were there: they would be lost if the table were encoded again.
    pub(crate) widths_vary: bool,
}

/// The locations of the numbers of a table. `widths` is empty where none is padded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) offsets: Vec<u16>,
    pub(crate) lengths: Vec<u8>,
    pub(crate) widths: Vec<u8>,
}

impl Segment {
    /// How many slots it has.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        match &self.locations {
            Locations::Mixed(mixed) => mixed.offsets.len(),
            Locations::Table(table) => table.slots(),
        }
    }

    /// How many of them are values.
    pub(crate) fn values(&self) -> usize {
        match &self.locations {
            Locations::Mixed(mixed) => {
                let kinds = mixed.entries.iter().map(|entry| entry.spec.kind);
                kinds.filter(|&kind| kind != SlotKind::Marker).count()
            }
            Locations::Table(table) => table.slots(),
        }
    }

    /// Notes whether its heap slots are in the order of the heap. `slots` are those of the message from
    /// slot `first` of the chunk's on.
    pub(crate) fn see_order(&mut self, slots: &[u64], first: usize) {
        if let Locations::Mixed(mixed) = &mut self.locations {
            let own = slots.get(first + self.first..);
            mixed.in_order = own.is_some_and(|slots| compare::in_order(mixed, slots));
        }
    }

    /// The same where they were not. `slots` are the chunk's.
    pub(crate) fn see_order_again(&mut self, slots: &[u64]) {
        if matches!(&self.locations, Locations::Mixed(mixed) if !mixed.in_order) {
            self.see_order(slots, 0);
        }
    }

    /// The kind of a slot, counted from the segment's first.
    pub(crate) fn kind(&self, index: usize) -> SlotKind {
        match &self.locations {
            Locations::Mixed(mixed) => mixed.entries[index].spec.kind,
            Locations::Table(table) => table.cell(index).kind,
        }
    }

    /// The location of a slot that has one.
    #[inline]
    pub(crate) fn location(&self, index: usize) -> Option<Location> {
        match &self.locations {
            Locations::Mixed(mixed) => mixed.location(index),
            Locations::Table(table) => Some(table.location(index)),
        }
    }

    /// Moves the values of these slots by `delta` bytes.
    #[inline]
    pub(crate) fn move_values(&mut self, slots: Range<usize>, delta: isize) {
        match &mut self.locations {
            Locations::Mixed(mixed) => {
                for offset in &mut mixed.offsets[slots] {
                    *offset = offset.wrapping_add(delta as u32);
                }
            }
            Locations::Table(table) => {
                for offset in &mut table.columns.offsets[slots] {
                    *offset = offset.wrapping_add(delta as u16);
                }
            }
        }
    }

    /// Gives a value another length and width.
    #[inline]
    pub(crate) fn resize(&mut self, index: usize, length: usize, width: usize) {
        match &mut self.locations {
            Locations::Mixed(mixed) => {
                mixed.entries[index].length = length as u32;
                mixed.entries[index].width = width as u32;
            }
            Locations::Table(table) => {
                table.columns.lengths[index] = length as u8;
                if let Some(own) = table.columns.widths.get_mut(index) {
                    *own = width as u8;
                }
            }
        }
    }

    /// Whether its last location can still be counted when it moves by `grown` bytes, in a text of `length` bytes.
    #[inline]
    pub(crate) fn can_move(&self, grown: isize, length: usize) -> bool {
        match &self.locations {
            Locations::Mixed(_) => length.saturating_add_signed(grown) <= u32::MAX as usize,
            Locations::Table(table) => {
                let last = table.columns.offsets.last().copied().unwrap_or(0);
                usize::from(last).saturating_add_signed(grown) <= u16::MAX.into()
            }
        }
    }
}

impl Locations {
    /// Bytes held beside itself.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Mixed(mixed) => mixed.memory(),
            Self::Table(table) => table.columns.memory(),
        }
    }

    /// Gives back reserved memory, if there is much of it.
    pub(crate) fn shrink(&mut self) {
        match self {
            Self::Mixed(mixed) if mixed.offsets.capacity() > mixed.offsets.len() * 3 / 2 => {
                mixed.offsets.shrink_to_fit();
                mixed.entries.shrink_to_fit();
                mixed.masks.shrink_to_fit();
            }
            Self::Mixed(_) => {}
            Self::Table(Table { columns, .. }) => {
                columns.offsets.shrink_to_fit();
                columns.lengths.shrink_to_fit();
                columns.widths.shrink_to_fit();
            }
        }
    }
}

impl Mixed {
    #[inline]
    pub(crate) fn location(&self, index: usize) -> Option<Location> {
        let entry = self.entries.get(index)?;
        let LeafSpec {
            kind,
            pads,
            widest,
            close,
        } = entry.spec;
        kind.has_location().then(|| Location {
            offset: self.offsets[index] as usize,
            length: entry.length as usize,
            width: entry.width as usize,
            close: close.into(),
            pads,
            widest: widest.into(),
        })
    }

    /// Bytes held beside itself.
    pub(crate) fn memory(&self) -> usize {
        self.offsets.capacity() * size_of::<u32>()
            + self.entries.capacity() * size_of::<MixedEntry>()
            + self.masks.capacity() * size_of::<u64>()
    }

    /// Forgets all slots.
    pub(crate) fn clear(&mut self) {
        self.offsets.clear();
        self.entries.clear();
        self.masks.clear();
    }

    /// Reserves memory for more slots.
    pub(crate) fn reserve(&mut self, slots: usize) {
        self.offsets.reserve(slots);
        self.entries.reserve(slots);
        self.masks.reserve(slots);
    }

    /// Gives a slot another entry.
    pub(crate) fn set(&mut self, index: usize, offset: u32, entry: MixedEntry) {
        if index < self.offsets.len() {
            self.offsets[index] = offset;
            self.entries[index] = entry;
            self.masks[index] = entry.mask();
        }
    }

    /// Adds the next slot.
    #[inline]
    pub(crate) fn push(&mut self, offset: u32, entry: MixedEntry) {
        self.offsets.push(offset);
        self.entries.push(entry);
        self.masks.push(entry.mask());
    }
}

impl MixedEntry {
    /// A slot without a location.
    pub(crate) fn without_location(kind: SlotKind) -> Self {
        Self {
            length: 0,
            width: 0,
            spec: LeafSpec::without_location(kind),
        }
    }

    /// All bits if the slot points into the heap.
    #[inline]
    fn mask(&self) -> u64 {
        if self.spec.kind.is_heap() {
            u64::MAX
        } else {
            0
        }
    }
}

impl LeafSpec {
    /// A slot without a location.
    pub(crate) fn without_location(kind: SlotKind) -> Self {
        Self {
            kind,
            pads: false,
            widest: 0,
            close: 0,
        }
    }
}

impl Columns {
    /// Bytes held beside itself.
    pub(crate) fn memory(&self) -> usize {
        self.offsets.capacity() * 2 + self.lengths.capacity() + self.widths.capacity()
    }

    /// Forgets all numbers.
    pub(crate) fn clear(&mut self) {
        self.offsets.clear();
        self.lengths.clear();
        self.widths.clear();
    }
}

impl Table {
    /// Rows of these cells.
    pub(crate) fn new(cells: Arc<[LeafSpec]>, columns: Columns) -> Self {
        let inverse = (1 << 32_u64) / cells.len().max(1) as u64 + 1;
        Self {
            cells,
            inverse,
            columns,
            widths_vary: false,
        }
    }

    /// How many numbers.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.columns.offsets.len()
    }

    /// The cell that a slot is in; slots have at most 32 bits with the number of cells.
    #[inline(always)]
    pub(crate) fn cell(&self, index: usize) -> LeafSpec {
        match &*self.cells {
            [cell] => *cell,
            cells => {
                let row = ((index as u64 * self.inverse) >> 32) as usize;
                cells[index - row * cells.len()]
            }
        }
    }

    #[inline(always)]
    pub(crate) fn location(&self, index: usize) -> Location {
        let cell = self.cell(index);
        let Columns {
            offsets,
            lengths,
            widths,
        } = &self.columns;
        let length = lengths[index].into();
        Location {
            offset: offsets[index].into(),
            length,
            width: widths.get(index).map_or(length, |&width| width.into()),
            close: cell.close.into(),
            pads: cell.pads,
            widest: cell.widest.into(),
        }
    }

    /// Whether its values may be shorter than their widths.
    pub(crate) fn is_padded(&self) -> bool {
        !self.columns.widths.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cell_of_a_slot_is_the_remainder_of_a_division() {
        for cells in 1..300 {
            let all = (0..cells).map(|cell| LeafSpec {
                close: cell as u16,
                ..LeafSpec::without_location(SlotKind::Double)
            });
            let table = Table::new(all.collect(), Columns::default());
            for slot in (0..1 << 16).step_by(7).chain([(1 << 16) - 1]) {
                assert_eq!(usize::from(table.cell(slot).close), slot % cells);
            }
        }
    }
}
