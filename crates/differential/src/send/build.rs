//! From what the encoder tells while it writes a piece to the segments of a chunk.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::encode::{Holder, LeafForm, LeafRef, PadPlace, Places, Rows, Stuffing as Rooms};
use bsoap_codec::plan::LeafKind;

use super::leaves::{Cell, Columns, Entry, Kind, Leaves, Mixed, Segment, Table};
use super::policy::{Pad, Policy, Stuffing};

/// Fewer numbers than this are not worth a table.
const FEW: usize = 16;
/// A table ends when its values stand this far from its first, so that they can grow.
const FAR: usize = 1 << 15;
/// Messages of at most so many slots mostly have no table.
const SMALL: usize = 512;
/// The start of a segment that has no value yet.
const UNKNOWN: usize = usize::MAX;

/// The rooms that a policy gives.
pub(crate) struct Room<'p>(pub(crate) &'p Policy);

impl Rooms for Room<'_> {
    #[inline]
    fn width(&self, leaf: &LeafForm, length: usize) -> usize {
        self.0.stuffing.room(length, widest(leaf).into())
    }

    #[inline]
    fn place(&self) -> PadPlace {
        pad_place(self.0)
    }
}

fn pad_place(policy: &Policy) -> PadPlace {
    match policy.pad {
        Pad::Inside => PadPlace::Inside,
        Pad::AfterTag => PadPlace::AfterTag,
    }
}

/// The longest text of a type, where it is short enough to be worth it.
#[inline]
fn widest(leaf: &LeafForm) -> u8 {
    leaf.widest()
        .and_then(|widest| u8::try_from(widest).ok())
        .unwrap_or(0)
}

/// What entries need to know of a leaf.
#[derive(Clone, Copy, Debug)]
struct Spec {
    kind: Kind,
    pads: bool,
    widest: u8,
    close: u16,
}

/// What has been looked up of a Plan's leaves, kept from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Specs {
    known: Vec<Option<Spec>>,
    /// Entries and columns of chunks that are encoded again, for their memory.
    spare: Vec<Mixed>,
    spare_columns: Vec<Columns>,
    /// The cells of the table met last, and the leaf it begins with.
    cells: Option<(LeafRef, Arc<[Cell]>)>,
}

/// So many entries are kept for chunks to come.
const SPARE: usize = 4;

impl Specs {
    /// Takes what can be used again of a chunk.
    pub(crate) fn recycle(&mut self, segments: Vec<Segment>) {
        for segment in segments {
            match segment.leaves {
                Leaves::Mixed(mixed) if self.spare.len() < SPARE => self.spare.push(mixed),
                Leaves::Table(Table {
                    columns:
                        Columns::Dense {
                            mut offsets,
                            mut lengths,
                            mut widths,
                        },
                    ..
                }) if self.spare_columns.len() < SPARE => {
                    offsets.clear();
                    lengths.clear();
                    widths.clear();
                    self.spare_columns.push(Columns::Dense {
                        offsets,
                        lengths,
                        widths,
                    });
                }
                _ => {}
            }
        }
    }

    /// No entries yet.
    fn mixed(&mut self) -> Mixed {
        let mut mixed = self.spare.pop().unwrap_or_default();
        mixed.offsets.clear();
        mixed.entries.clear();
        mixed.masks.clear();
        mixed
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        let spare: usize = self.spare.iter().map(Mixed::memory).sum();
        let columns: usize = self.spare_columns.iter().map(Columns::memory).sum();
        self.known.capacity() * size_of::<Option<Spec>>() + spare + columns
    }

    fn get(&mut self, plan: &Plan, policy: &Policy, leaf: LeafRef) -> Spec {
        let index = leaf.0 as usize;
        if let Some(Some(spec)) = self.known.get(index) {
            return *spec;
        }
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        let spec = Spec::of(plan, policy, leaf);
        self.known[index] = Some(spec);
        spec
    }
}

impl Spec {
    fn of(plan: &Plan, policy: &Policy, leaf: LeafRef) -> Self {
        let hidden = Self {
            kind: Kind::Hidden,
            pads: false,
            widest: 0,
            close: 0,
        };
        let Some(form) = plan.leaf_form(leaf) else {
            return hidden;
        };
        let in_attribute = matches!(form.holder(), Holder::Attribute | Holder::AttributeList);
        let kind = match (form.holder(), form.leaf().map(|leaf| plan.leaf(leaf).kind)) {
            (Holder::Xml, _) => Kind::Fragment,
            (_, None) => Kind::Text,
            (_, Some(kind)) => match kind {
                LeafKind::Boolean => Kind::Boolean,
                LeafKind::Signed { .. } => Kind::Signed,
                LeafKind::Unsigned { .. } => Kind::Unsigned,
                LeafKind::Float => Kind::Float,
                LeafKind::Double => Kind::Double,
                LeafKind::Text if in_attribute => Kind::Attribute,
                LeafKind::Text => Kind::Text,
                LeafKind::Base64 => Kind::Base64,
                LeafKind::Hex => Kind::Hex,
                _ => return hidden,
            },
        };
        let pads = policy.stuffing != Stuffing::None && form.may_pad(pad_place(policy));
        let close = match form.holder() {
            Holder::Element { close } if pads && policy.pad == Pad::AfterTag => close,
            _ => 0,
        };
        Self {
            kind,
            pads,
            widest: widest(form),
            close: close as u16,
        }
    }
}

/// Collects the segments of a chunk.
pub(crate) struct Builder<'b> {
    plan: &'b Plan,
    policy: &'b Policy,
    specs: &'b mut Specs,
    /// The chunk's first slot, and the next one to be told of.
    first: usize,
    next: usize,
    /// How many the message has.
    slots: usize,
    segments: Vec<Segment>,
    /// The entries being collected, where the first of them that has a place stands ([`UNKNOWN`] before
    /// it), and the first slot; they become a segment when something else begins.
    mixed: Mixed,
    start: usize,
    mixed_first: usize,
    /// Of the table that is being collected.
    leaf: Option<LeafRef>,
    pub(crate) has_heap: bool,
}

impl<'b> Builder<'b> {
    /// For a chunk that begins with slot `first`, of a message of so many.
    pub(crate) fn new(
        plan: &'b Plan,
        policy: &'b Policy,
        specs: &'b mut Specs,
        first: usize,
        slots: usize,
    ) -> Self {
        let mixed = specs.mixed();
        Self {
            plan,
            policy,
            specs,
            first,
            next: first,
            slots,
            segments: Vec::new(),
            mixed,
            start: UNKNOWN,
            mixed_first: first,
            leaf: None,
            has_heap: false,
        }
    }

    /// The segments of a chunk that ends before slot `end`, and whose text this is.
    pub(crate) fn finish(mut self, end: usize, text: &[u8]) -> (Vec<Segment>, bool) {
        self.markers(end);
        self.end_mixed();
        for segment in &mut self.segments {
            segment.start = segment.start.min(text.len());
            finish(segment, text);
        }
        self.segments.shrink_to_fit();
        (self.segments, self.has_heap)
    }

    /// Ends the entries being collected, if there are any.
    fn end_mixed(&mut self) {
        if !self.mixed.offsets.is_empty() {
            let mixed = std::mem::replace(&mut self.mixed, self.specs.mixed());
            self.segments.push(Segment {
                first: self.mixed_first - self.first,
                start: self.start,
                leaves: Leaves::Mixed(mixed),
            });
        }
        self.start = UNKNOWN;
        self.mixed_first = self.next;
    }

    /// The slots up to `slot` have no place.
    #[inline]
    fn markers(&mut self, slot: usize) {
        while self.next < slot {
            self.begin_mixed();
            let offset = self.last_offset();
            self.mixed.push(offset, Entry::placeless(Kind::Marker));
            self.next += 1;
        }
    }

    /// Entries follow, not a table.
    #[inline]
    fn begin_mixed(&mut self) {
        self.leaf = None;
        if self.mixed.offsets.is_empty() {
            self.mixed_first = self.next;
            if self.slots <= SMALL {
                self.mixed.reserve(self.slots.saturating_sub(self.next));
            }
        }
    }

    #[inline]
    fn last_offset(&self) -> u32 {
        self.mixed.offsets.last().copied().unwrap_or(0)
    }

    /// The entry of a slot, and where it stands if it has a place.
    #[inline]
    fn entry(&mut self, slot: usize, offset: Option<usize>, entry: Entry) {
        self.markers(slot);
        self.begin_mixed();
        self.has_heap |= entry.kind.is_heap();
        let offset = match offset {
            Some(offset) => {
                if self.start == UNKNOWN {
                    self.start = offset;
                }
                // Values come in the order of the text.
                offset.saturating_sub(self.start) as u32
            }
            None => self.last_offset(),
        };
        if slot == self.next {
            self.mixed.push(offset, entry);
            self.next += 1;
        } else if let Some(index) = slot.checked_sub(self.mixed_first) {
            // Told of again: what is told last counts.
            self.mixed.set(index, offset, entry);
        }
    }

    fn cells(&mut self, rows: &Rows<'_>) -> Arc<[Cell]> {
        if let Some((leaf, cells)) = &self.specs.cells
            && *leaf == rows.leaf
            && cells.len() == rows.cells
        {
            return Arc::clone(cells);
        }
        let cells: Arc<[Cell]> = (0..rows.cells)
            .map(|index| {
                let spec = self.specs.get(self.plan, self.policy, rows.leaf_of(index));
                Cell {
                    kind: spec.kind,
                    pads: spec.pads,
                    widest: spec.widest,
                    // Until the text is at hand.
                    close: vec![0; spec.close.into()].into(),
                    offset: 0,
                }
            })
            .collect();
        self.specs.cells = Some((rows.leaf, Arc::clone(&cells)));
        cells
    }

    /// Whether the table being collected goes on with these rows.
    fn continues(&self, rows: &Rows<'_>) -> bool {
        self.leaf == Some(rows.leaf)
            && self.next == rows.slot
            && matches!(self.segments.last(), Some(Segment { start, leaves: Leaves::Table(table), .. })
                if rows.offset - start < FAR && table.cells.len() == rows.cells)
    }
}

impl Places for Builder<'_> {
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef) {
        let spec = self.specs.get(self.plan, self.policy, leaf);
        let (Ok(length), Ok(width), true) = (
            u32::try_from(length),
            u32::try_from(width),
            u32::try_from(offset).is_ok(),
        ) else {
            // Further than can be counted: encoded anew whenever it changes.
            return self.entry(slot, None, Entry::placeless(Kind::Hidden));
        };
        let entry = Entry {
            length,
            width,
            kind: spec.kind,
            pads: spec.pads,
            widest: spec.widest,
            close: spec.close,
        };
        self.entry(slot, Some(offset), entry);
    }

    fn hidden(&mut self, slot: usize) {
        self.entry(slot, None, Entry::placeless(Kind::Hidden));
    }

    fn rows(&mut self, rows: Rows<'_>) {
        self.markers(rows.slot);
        if !self.continues(&rows) {
            if rows.places.len() < FEW || self.next != rows.slot {
                for (index, place) in rows.places.iter().enumerate() {
                    self.value(
                        rows.slot + index,
                        rows.offset + place.offset as usize,
                        place.length.into(),
                        place.width.into(),
                        rows.leaf_of(index),
                    );
                }
                return;
            }
            let cells = self.cells(&rows);
            self.end_mixed();
            self.leaf = Some(rows.leaf);
            let columns = self.specs.spare_columns.pop().unwrap_or_default();
            self.segments.push(Segment {
                first: self.next - self.first,
                start: rows.offset,
                leaves: Leaves::Table(Table::new(cells, columns)),
            });
        }
        let Some(Segment {
            start,
            leaves:
                Leaves::Table(Table {
                    columns:
                        Columns::Dense {
                            offsets,
                            lengths,
                            widths,
                        },
                    ..
                }),
            ..
        }) = self.segments.last_mut()
        else {
            unreachable!("a table was begun")
        };
        let base = rows.offset - *start;
        offsets.extend(
            rows.places
                .iter()
                .map(|place| base as u16 + place.offset as u16),
        );
        lengths.extend(rows.places.iter().map(|place| place.length));
        if self.policy.stuffing.keeps_room() {
            widths.extend(rows.places.iter().map(|place| place.width));
        }
        self.next += rows.places.len();
    }
}

/// Gives back what was reserved too much, and finds a fixed stride.
fn finish(segment: &mut Segment, text: &[u8]) {
    match &mut segment.leaves {
        Leaves::Mixed(mixed) => {
            // A little more than is needed does no harm.
            if mixed.offsets.capacity() > mixed.offsets.len() * 3 / 2 {
                mixed.offsets.shrink_to_fit();
                mixed.entries.shrink_to_fit();
                mixed.masks.shrink_to_fit();
            }
        }
        Leaves::Table(table) => finish_table(table, text.get(segment.start..).unwrap_or_default()),
    }
}

/// Notes the end tags of a table's cells, where a pad may follow them, and whether all its rows are alike. `text` begins with
/// its first number.
fn finish_table(table: &mut Table, text: &[u8]) {
    let Columns::Dense {
        offsets,
        lengths,
        widths,
    } = &mut table.columns
    else {
        return;
    };
    offsets.shrink_to_fit();
    lengths.shrink_to_fit();
    widths.shrink_to_fit();
    if widths.is_empty() {
        return;
    }
    let cells = table.cells.iter().enumerate().map(|(index, cell)| {
        let close = usize::from(offsets[index]) + usize::from(lengths[index]);
        let close = &text[close..close + cell.close.len()];
        Cell {
            close: close.into(),
            offset: offsets[index],
            ..cell.clone()
        }
    });
    let cells: Arc<[Cell]> = cells.collect();
    let columns = match strided(&cells, offsets, widths) {
        Some(strided) => strided,
        None => std::mem::take(&mut table.columns),
    };
    *table = Table::new(cells, columns);
}

/// The columns as ones of fixed stride, if all numbers are as wide as their types.
fn strided(cells: &[Cell], offsets: &[u16], widths: &[u8]) -> Option<Columns> {
    let stride = usize::from(*offsets.get(cells.len())?);
    let all = offsets.chunks(cells.len()).zip(widths.chunks(cells.len()));
    let mut rows = all.clone().enumerate();
    let is_strided = rows.all(|(row, (offsets, widths))| {
        let numbers = cells.iter().zip(offsets).zip(widths);
        let is_regular = |((cell, &offset), &width): ((&Cell, &u16), &u8)| {
            let regular = row * stride + usize::from(cell.offset);
            width == cell.widest && usize::from(offset) == regular
        };
        numbers.map(is_regular).all(|is_regular| is_regular)
    });
    let rows = all.len();
    is_strided.then_some(Columns::Strided { rows, stride })
}
