//! Builds the DUT table of a chunk from the locations that the encoder reports.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::encode::{
    Holder, LeafForm, LeafRef, PadPlace, Places, Rows, Stuffing as WidthPolicy,
};
use bsoap_codec::plan::LeafKind;

use super::dut_table::{Columns, LeafSpec, Locations, Mixed, MixedEntry, Segment, SlotKind, Table};
use super::policy::{Pad, Policy, Stuffing};

/// Fewer numbers than this get entries instead of a table.
const FEW: usize = 16;
/// A table ends at this distance from its first value, in bytes, so that offsets of 16 bits have space to grow.
const FAR: usize = 1 << 15;
/// Messages of at most this number of slots mostly have no table.
const SMALL: usize = 512;
/// The start of a segment that has no value yet.
const UNKNOWN: usize = usize::MAX;

/// Gives values the widths of a policy.
pub(crate) struct PolicyWidths<'p>(pub(crate) &'p Policy);

impl WidthPolicy for PolicyWidths<'_> {
    #[inline]
    fn width(&self, leaf: &LeafForm, length: usize) -> usize {
        self.0.stuffing.width(length, widest(leaf).into())
    }

    #[inline]
    fn fixed_width(&self, leaf: &LeafForm) -> Option<usize> {
        Some(self.0.stuffing.width(0, widest(leaf).into()))
    }

    #[inline]
    fn place(&self) -> PadPlace {
        pad_place(self.0)
    }
}

pub(super) fn pad_place(policy: &Policy) -> PadPlace {
    match policy.pad {
        Pad::Inside => PadPlace::Inside,
        Pad::AfterTag => PadPlace::AfterTag,
    }
}

/// The length of the longest lexical form of a type; 0 if there is none, or it is too long.
#[inline]
fn widest(leaf: &LeafForm) -> u8 {
    leaf.widest()
        .and_then(|widest| u8::try_from(widest).ok())
        .unwrap_or(0)
}

/// The facts about the leaves of a Plan that have been looked up, kept for the next chunk.
#[derive(Debug, Default)]
pub(crate) struct LeafSpecs {
    known: Vec<Option<LeafSpec>>,
    /// Segments of chunks that are encoded again, kept to use their memory.
    spare_mixed: Vec<Mixed>,
    spare_columns: Vec<Columns>,
    /// The cells of the last table, and the leaf that it begins with.
    cells: Option<(LeafRef, Arc<[LeafSpec]>)>,
}

/// The largest number of unused segments of each kind (mixed, table) that are kept so that their memory can be reused.
const SPARE: usize = 4;

impl LeafSpecs {
    /// Takes the segments of a chunk, to use their memory again.
    pub(crate) fn recycle(&mut self, segments: Vec<Segment>) {
        for segment in segments {
            match segment.locations {
                Locations::Mixed(mut mixed) if self.spare_mixed.len() < SPARE => {
                    mixed.clear();
                    self.spare_mixed.push(mixed);
                }
                Locations::Table(mut table) if self.spare_columns.len() < SPARE => {
                    table.columns.clear();
                    self.spare_columns.push(table.columns);
                }
                _ => {}
            }
        }
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        let mixed: usize = self.spare_mixed.iter().map(Mixed::memory).sum();
        let columns: usize = self.spare_columns.iter().map(Columns::memory).sum();
        self.known.capacity() * size_of::<Option<LeafSpec>>() + mixed + columns
    }

    #[inline]
    fn get(&mut self, plan: &Plan, policy: &Policy, leaf: LeafRef) -> LeafSpec {
        match self.known.get(leaf.0 as usize) {
            Some(Some(spec)) => *spec,
            _ => self.look_up(plan, policy, leaf),
        }
    }

    #[cold]
    fn look_up(&mut self, plan: &Plan, policy: &Policy, leaf: LeafRef) -> LeafSpec {
        let index = leaf.0 as usize;
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        let spec = spec(plan, policy, leaf);
        self.known[index] = Some(spec);
        spec
    }
}

fn spec(plan: &Plan, policy: &Policy, leaf: LeafRef) -> LeafSpec {
    let hidden = LeafSpec::without_location(SlotKind::Hidden);
    let Some(form) = plan.leaf_form(leaf) else {
        return hidden;
    };
    let in_attribute = matches!(form.holder(), Holder::Attribute | Holder::AttributeList);
    let kind = match (form.holder(), form.leaf().map(|leaf| plan.leaf(leaf).kind)) {
        (Holder::Xml, _) => SlotKind::Fragment,
        (_, None) => SlotKind::Text,
        (_, Some(kind)) => match kind {
            LeafKind::Boolean => SlotKind::Boolean,
            LeafKind::Signed { .. } => SlotKind::Signed,
            LeafKind::Unsigned { .. } => SlotKind::Unsigned,
            LeafKind::Float => SlotKind::Float,
            LeafKind::Double => SlotKind::Double,
            LeafKind::Text if in_attribute => SlotKind::Attribute,
            LeafKind::Text => SlotKind::Text,
            LeafKind::Base64 => SlotKind::Base64,
            LeafKind::Hex => SlotKind::Hex,
            _ => return hidden,
        },
    };
    let pads = policy.stuffing != Stuffing::None && form.may_pad(pad_place(policy));
    let close = match form.holder() {
        Holder::Element { close } if pads && policy.pad == Pad::AfterTag => close,
        _ => 0,
    };
    LeafSpec {
        kind,
        pads,
        widest: widest(form),
        close: close as u16,
    }
}

/// Collects the segments of a chunk.
pub(crate) struct SegmentBuilder<'b> {
    plan: &'b Plan,
    policy: &'b Policy,
    specs: &'b mut LeafSpecs,
    /// The first slot of the chunk, and the next slot to be reported.
    first: usize,
    next: usize,
    /// The number of slots of the message.
    slots: usize,
    segments: Vec<Segment>,
    /// The entries being collected, the offset of the first value among them ([`UNKNOWN`] if there is none yet), and their
    /// first slot. They become a segment when a table begins, or the chunk ends.
    mixed: Mixed,
    start: usize,
    mixed_first: usize,
    /// The leaf that the table being collected begins with; `None` if there is no table.
    leaf: Option<LeafRef>,
    pub(crate) has_heap: bool,
}

impl<'b> SegmentBuilder<'b> {
    /// A builder for a chunk that begins with slot `first`, of a message of `slots` slots.
    pub(crate) fn new(
        plan: &'b Plan,
        policy: &'b Policy,
        specs: &'b mut LeafSpecs,
        first: usize,
        slots: usize,
    ) -> Self {
        let mixed = specs.spare_mixed.pop().unwrap_or_default();
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

    /// The segments of a chunk that ends before slot `end` and has `text_length` bytes, and whether any slot points into
    /// the heap.
    pub(crate) fn finish(mut self, end: usize, text_length: usize) -> (Vec<Segment>, bool) {
        self.markers(end);
        self.end_mixed();
        for segment in &mut self.segments {
            segment.start = segment.start.min(text_length);
            segment.locations.shrink();
        }
        self.segments.shrink_to_fit();
        (self.segments, self.has_heap)
    }

    /// Makes a segment of the entries being collected, if there are any.
    fn end_mixed(&mut self) {
        if !self.mixed.offsets.is_empty() {
            let next = self.specs.spare_mixed.pop().unwrap_or_default();
            let mixed = std::mem::replace(&mut self.mixed, next);
            self.segments.push(Segment {
                first: self.mixed_first - self.first,
                start: self.start,
                locations: Locations::Mixed(mixed),
            });
        }
        self.start = UNKNOWN;
        self.mixed_first = self.next;
    }

    /// Adds markers for the slots before `slot` that were not reported.
    #[inline]
    fn markers(&mut self, slot: usize) {
        while self.next < slot {
            self.begin_mixed();
            let offset = self.last_offset();
            self.mixed
                .push(offset, MixedEntry::without_location(SlotKind::Marker));
            self.next += 1;
        }
    }

    /// Ends the table being collected: entries follow.
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

    /// Adds the entry of a slot, with its offset if it has a location.
    #[inline(never)]
    fn entry(&mut self, slot: usize, offset: Option<usize>, entry: MixedEntry) {
        self.markers(slot);
        self.begin_mixed();
        self.has_heap |= entry.spec.kind.is_heap();
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
            // If a slot is reported again, the last report counts.
            self.mixed.set(index, offset, entry);
        }
    }

    fn cells(&mut self, rows: &Rows<'_>) -> Arc<[LeafSpec]> {
        if let Some((leaf, cells)) = &self.specs.cells
            && *leaf == rows.leaf
            && cells.len() == rows.cells
        {
            return Arc::clone(cells);
        }
        let cells = (0..rows.cells).map(|index| rows.leaf_of(index));
        let cells: Arc<[LeafSpec]> = cells
            .map(|leaf| self.specs.get(self.plan, self.policy, leaf))
            .collect();
        self.specs.cells = Some((rows.leaf, Arc::clone(&cells)));
        cells
    }

    /// Whether these rows continue the table being collected.
    fn continues(&self, rows: &Rows<'_>) -> bool {
        self.leaf == Some(rows.leaf)
            && self.next == rows.slot
            && matches!(self.segments.last(), Some(Segment { start, locations: Locations::Table(table), .. })
                if rows.offset - start < FAR && table.cells.len() == rows.cells)
    }
}

impl Places for SegmentBuilder<'_> {
    #[inline]
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef) {
        let spec = self.specs.get(self.plan, self.policy, leaf);
        // An offset or length beyond 32 bits cannot be stored: the value gets no location, so its chunk is encoded again
        // when it changes.
        let is_far = (offset | length | width) as u64 > u32::MAX.into();
        if is_far || slot != self.next || self.leaf.is_some() || self.start == UNKNOWN {
            let hidden = MixedEntry::without_location(SlotKind::Hidden);
            let entry = MixedEntry {
                length: length as u32,
                width: width as u32,
                spec,
            };
            return match is_far {
                true => self.entry(slot, None, hidden),
                false => self.entry(slot, Some(offset), entry),
            };
        }
        // The most common case: the slot behind that of the last value.
        let (length, width) = (length as u32, width as u32);
        let offset = offset.saturating_sub(self.start) as u32;
        self.has_heap |= spec.kind.is_heap();
        self.mixed.push(
            offset,
            MixedEntry {
                length,
                width,
                spec,
            },
        );
        self.next += 1;
    }

    fn hidden(&mut self, slot: usize) {
        self.entry(slot, None, MixedEntry::without_location(SlotKind::Hidden));
    }

    fn rows(&mut self, rows: Rows<'_>) {
        self.markers(rows.slot);
        if !self.continues(&rows) {
            if rows.lengths.len() < FEW || self.next != rows.slot {
                for (index, &length) in rows.lengths.iter().enumerate() {
                    let offset = rows.offset + rows.offsets[index] as usize;
                    let width = rows.widths.get(index).copied().unwrap_or(length);
                    let leaf = rows.leaf_of(index);
                    self.value(rows.slot + index, offset, length.into(), width.into(), leaf);
                }
                return;
            }
            let cells = self.cells(&rows);
            self.end_mixed();
            self.leaf = Some(rows.leaf);
            let columns = self.specs.spare_columns.pop().unwrap_or_default();
            let mut table = Table::new(cells, columns);
            table.widths_vary = matches!(
                self.policy.stuffing,
                Stuffing::Exact | Stuffing::Intermediate
            );
            self.segments.push(Segment {
                first: self.next - self.first,
                start: rows.offset,
                locations: Locations::Table(table),
            });
        }
        let Some(Segment {
            start,
            locations: Locations::Table(Table { columns, .. }),
            ..
        }) = self.segments.last_mut()
        else {
            unreachable!("a table was begun")
        };
        let base = rows.offset - *start;
        let offsets = rows.offsets.iter();
        let offsets = offsets.map(|&offset| base as u16 + offset as u16);
        columns.offsets.extend(offsets);
        columns.lengths.extend_from_slice(rows.lengths);
        if self.policy.stuffing.keeps_width() {
            let is_padded = !rows.widths.is_empty();
            columns
                .widths
                .extend_from_slice(if is_padded { rows.widths } else { rows.lengths });
        }
        self.next += rows.lengths.len();
    }
}
