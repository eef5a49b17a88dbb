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

/// What a slot stands for in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// A count, presence or choice: a change of it changes markup.
    Marker,
    /// A heap slot that cannot be patched: a QName, attributes of a wildcard, or a value that is not in the text.
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

    /// Whether the slot has a lexical form in the text that can be written again.
    #[inline]
    pub(crate) fn has_location(self) -> bool {
        !matches!(self, Self::Marker | Self::Hidden)
    }

    /// Whether its lexical form has at most 32 bytes and depends on the slot alone.
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
    /// The offset in the chunk's text from which its own offsets count.
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
    /// The number of bytes it may have, with padding.
    pub(crate) width: usize,
    /// The length of the end tag between value and padding; 0 if the padding follows the value.
    pub(crate) close: usize,
    /// Whether it may be padded.
    pub(crate) pads: bool,
    /// The length of the longest lexical form of its type; 0 if there is none.
    pub(crate) widest: usize,
}

impl Location {
    /// The number of bytes of value, end tag and padding.
    #[inline]
    pub(crate) fn extent(&self) -> usize {
        self.width + self.close
    }

    /// Whether a text of `length` bytes may be padded here. An empty text may not be padded inside its element: a reader
    /// would not use the default of the element then.
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
    /// For each slot: all bits set if it points into the heap, otherwise none.
    pub(crate) masks: Vec<u64>,
    /// Whether all heap slots point into the heap in ascending order.
    pub(crate) in_order: bool,
}

/// The facts that all values of a leaf share.
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

/// All that is stored for a slot, except its offset.
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
    /// 2³² divided by the number of cells, rounded up, so that the cell of a slot is found without a division.
    inverse: u64,
    pub(crate) columns: Columns,
    /// Whether the widths depend on earlier values. They would be lost if the table were encoded again.
    pub(crate) widths_vary: bool,
}

/// The locations of the numbers of a table. `widths` is empty if no number is padded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) offsets: Vec<u16>,
    pub(crate) lengths: Vec<u8>,
    pub(crate) widths: Vec<u8>,
}

impl Segment {
    /// The number of its slots.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        match &self.locations {
            Locations::Mixed(mixed) => mixed.offsets.len(),
            Locations::Table(table) => table.slots(),
        }
    }

    /// The number of its slots that are values.
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

    /// Checks the order of its heap slots again if they were not in order. `slots` are those of the chunk.
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

    /// The location of a slot; `None` if it has none.
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

    /// Sets the length and the width of a value.
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

    /// Whether its last offset can still be stored if it grows by `grown` bytes, in a text of `length` bytes.
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
    /// The memory it holds in bytes, without its own size.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Mixed(mixed) => mixed.memory(),
            Self::Table(table) => table.columns.memory(),
        }
    }

    /// Frees spare capacity, if there is much of it.
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

    /// The memory it holds in bytes, without its own size.
    pub(crate) fn memory(&self) -> usize {
        self.offsets.capacity() * size_of::<u32>()
            + self.entries.capacity() * size_of::<MixedEntry>()
            + self.masks.capacity() * size_of::<u64>()
    }

    /// Removes all slots; keeps the memory.
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

    /// Replaces the offset and the entry of a slot.
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
    /// For a slot without a location.
    pub(crate) fn without_location(kind: SlotKind) -> Self {
        Self {
            length: 0,
            width: 0,
            spec: LeafSpec::without_location(kind),
        }
    }

    /// All bits set if the slot points into the heap, otherwise none.
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
    /// For a slot without a location.
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
    /// The memory it holds in bytes, without its own size.
    pub(crate) fn memory(&self) -> usize {
        self.offsets.capacity() * 2 + self.lengths.capacity() + self.widths.capacity()
    }

    /// Removes all numbers; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.offsets.clear();
        self.lengths.clear();
        self.widths.clear();
    }
}

impl Table {
    /// A table of rows of these cells.
    pub(crate) fn new(cells: Arc<[LeafSpec]>, columns: Columns) -> Self {
        let inverse = (1 << 32_u64) / cells.len().max(1) as u64 + 1;
        Self {
            cells,
            inverse,
            columns,
            widths_vary: false,
        }
    }

    /// The number of numbers.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.columns.offsets.len()
    }

    /// The cell of a slot. (`index` times the number of cells must fit into 32 bits.)
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

    /// Whether its values may be padded.
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
