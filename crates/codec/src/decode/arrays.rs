//! Arrays of numbers, and of rows of numbers, read by the vectorised kernels of `datatypes`.
//!
//! ```text
//! <item><x> 1 </x><y> 2 </y><v> 0.5 </v></item><item><x> 3 </x>…
//!             └ gap ─┘└ gap ──┘      └────── gap ───────┘
//! ```
//!
//! A cycle of nodes from the first value of an item to that of the next is the columns of a kernel: what it reads, the marker
//! before it, and the gap behind it. A kernel stops at the first value that is not plain, or is followed by something else.

use bsoap_datatypes::kernel::{Kernel, RowsEnd};
use bsoap_xml::State;

use super::sink::Sink;
use crate::plan::Plan;

use super::builder::Builder;
use super::frame::Machine;
use super::piece::Piece;
use super::place::{Here, Places, counts_items};
use super::skeleton::{Cycle, Node, NodeId, OpenLoop};
use super::trace::Site;

impl Cycle {
    /// The index of the first item with a value outside its range; `None` if all are inside.
    fn find_wrong(&self, slots: &[u64]) -> Option<usize> {
        match (&*self.ranges, self.slots) {
            ([], _) => return None,
            ([(_, range)], 1) if range.has_all(slots) => return None,
            _ => {}
        }
        let is_wrong = |item: &[u64]| {
            let mut ranges = self.ranges.iter();
            ranges.any(|(slot, range)| item.get(*slot).is_some_and(|slot| !range.has(*slot)))
        };
        slots.chunks(self.slots).position(is_wrong)
    }
}

impl<S: Sink> Builder<'_, S> {
    #[inline(always)]
    pub(super) fn place(&mut self, window: &Piece<'_>, at: usize, site: Site) {
        let slot = self.record.slots.len();
        self.sink.found(slot, window.base + at as u64, site);
    }

    /// Whether the next place for a checkpoint is due within this piece of the text.
    #[inline(always)]
    fn notes_within(&mut self, window: &Piece<'_>) -> bool {
        let end = window.base + window.text.len() as u64;
        S::NOTES && self.sink.places().is_some_and(|places| places.due() <= end)
    }

    /// Reads items of an array as long as their values are plain, beginning with an item's first value at `at`. Returns
    /// where it stopped, and the node of the value there, or `None` if that is the node it began at.
    pub(super) fn cycle(
        &mut self,
        window: &Piece<'_>,
        (node, cycle): (&Node, &Cycle),
        at: usize,
        loops: &mut [OpenLoop],
        reader: &mut State,
    ) -> (Option<NodeId>, usize) {
        let Some(&OpenLoop { count, most, .. }) = loops.last() else {
            return (None, at);
        };
        if self.notes_within(window) {
            let offset = window.base + at as u64;
            if offset != reader.offset() {
                node.restore(reader, self.machine, self.plan, loops, offset);
            }
            if !counts_items(self.plan, self.machine, cycle.levels) {
                return (None, at);
            }
        }
        let Some(stop) = self.items_of(window, cycle, (at, count), most - count, reader) else {
            return (None, at);
        };
        if let Some(innermost) = loops.last_mut() {
            innermost.count += stop.rows as u32;
        }
        let to = cycle.nodes.get(stop.column).copied();
        (to.filter(|_| stop.column > 0), stop.at)
    }

    /// Reads items as long as they are plain. The first one is at `at` and is the item number `begun`; at most `most` more
    /// may begin. Returns where it stopped, or `None` if the items cannot be read this way.
    fn items_of(
        &mut self,
        window: &Piece<'_>,
        cycle: &Cycle,
        (at, begun): (usize, u32),
        most: u32,
        reader: &State,
    ) -> Option<RowsEnd> {
        let mut most = self.most(most, cycle);
        // Values that have been reported to a trace or as places cannot be taken back if one of them is out of range.
        if most == 0 || (!cycle.ranges.is_empty() && (S::LISTENS || S::NOTES)) {
            return None;
        }
        // The first items show how long an item is. Then capacity is reserved for all items.
        let slots = &mut self.record.slots;
        let is_measured = slots.capacity() - slots.len() <= MEASURED * cycle.slots;
        if is_measured {
            slots.reserve((MEASURED + 1) * cycle.slots);
            most = most.min(MEASURED);
        }
        // A kernel writes the marker of each value. In front of the first value another slot may be there instead.
        let has_marker = cycle.columns.first()?.marker.is_some();
        let before = slots.pop_if(|_| has_marker);
        let first = slots.len();
        let mut run = CycleRun {
            cycle,
            reader,
            begun,
            group: None,
        };
        let mut stop = self.items(window, &mut run, at, most);
        while let Some(wrong) = cycle.find_wrong(&self.record.slots[first..]) {
            // Reads again, up to the item with the value that is out of range.
            self.record.slots.truncate(first);
            let is_row = cycle.columns.len() > 1 || has_marker;
            let Some(fewer) = wrong.checked_sub(usize::from(is_row)) else {
                self.record.slots.extend(before);
                return None;
            };
            stop = self.items(window, &mut run, at, fewer);
        }
        if let (Some(slot), Some(before)) = (self.record.slots.get_mut(first), before) {
            *slot = before;
        }
        if is_measured && stop.rows == MEASURED {
            let rest = window.text.len().saturating_sub(stop.at) + window.beyond;
            self.reserve((stop.at - at) / MEASURED, cycle.slots, rest);
        }
        Some(stop)
    }

    /// How many more items may be read: at most `most`, within the limits of the Record, and not beyond the place to stop
    /// at.
    #[inline]
    fn most(&self, most: u32, cycle: &Cycle) -> usize {
        // The limit must leave space for the item at which the kernel stops, too.
        let slots = self.record.slots.len();
        let free = self.most_fast_slots().saturating_sub(slots) / cycle.slots.max(1);
        let most = (most as usize).min(free.saturating_sub(1));
        match self.until.slots.checked_sub(slots) {
            Some(wanted) => most.min(wanted.saturating_sub(1) / cycle.slots.max(1)),
            // Decoding may have to stop between two items, if so few levels are open there.
            None if cycle.levels <= self.until.depth => 0,
            None => most,
        }
    }

    /// Reads at most `most` items, and of the next item the values that are not followed by another item.
    fn items(
        &mut self,
        window: &Piece<'_>,
        run: &mut CycleRun<'_>,
        at: usize,
        most: usize,
    ) -> RowsEnd {
        let (text, cycle) = (window.text.as_bytes(), run.cycle);
        let heap = self.record.heap.len();
        let slots = &mut self.record.slots;
        let (plan, machine) = (self.plan, &mut *self.machine);
        let (first, mut slot, mut count) = (slots.len(), slots.len(), 0);
        let columns = &*cycle.columns;
        // The slot in front of the first value has been reported, if it has a location.
        let mut is_reported = columns.first().is_some_and(|it| it.marker.is_some());
        let mut batch = ValueBatch::new(&mut self.sink, slot, &cycle.sites, window.base);
        (batch.slot, batch.next) = (slot + usize::from(is_reported), usize::from(is_reported));
        let mut due = batch.due(cycle.end);
        let mut found = |column: usize, at: usize, length: usize| {
            if S::LISTENS {
                if columns[column].marker.is_some() && !std::mem::take(&mut is_reported) {
                    batch.push(at);
                }
                batch.push(at);
            }
            if S::NOTES && column + 1 == columns.len() {
                (slot, count) = (slot + cycle.slots, count + 1);
                if at + length >= due
                    && let Some(places) = batch.sink.places()
                {
                    let offset = window.base + (at + length + cycle.end) as u64;
                    let written = (slot + cycle.end_slots, heap);
                    run.note(places, plan, machine, written, count, offset);
                    due = batch.due(cycle.end);
                }
            }
        };
        let stop = match columns {
            [column] if column.marker.is_none() => {
                let found = |at: usize, length: usize| found(0, at, length);
                let (number, separator) = (column.number, &column.separator);
                let at =
                    Kernel::best().read_array((text, at), number, separator, most, slots, found);
                RowsEnd {
                    rows: slots.len() - first,
                    column: 0,
                    at,
                }
            }
            _ => Kernel::best().read_rows(text, at, columns, most, slots, found),
        };
        if S::LISTENS {
            batch.report();
        }
        stop
    }

    /// Reserves slots for the `rest` of the text, in bytes: `slots` slots for each `length` bytes, as in the items read so
    /// far.
    fn reserve(&mut self, length: usize, slots: usize, rest: usize) {
        let more = (rest / length.max(1)).saturating_mul(slots);
        let space = self.most_fast_slots();
        let record = &mut self.record.slots;
        // What was reserved before, by the length of other items, is nearly enough.
        if record.capacity() - record.len() >= more - more / 8 {
            return;
        }
        let free = space.saturating_sub(record.len());
        record.reserve_exact(more.saturating_add(64).min(free));
    }
}

/// How many items are measured before slots are reserved for the rest.
const MEASURED: usize = 16;

/// The reading of a cycle: what is the same for all its items.
struct CycleRun<'a> {
    cycle: &'a Cycle,
    reader: &'a State,
    /// The number of items begun when the cycle was entered.
    begun: u32,
    /// The group of the places noted in this cycle, once one has been noted.
    group: Option<u32>,
}

impl CycleRun<'_> {
    /// Notes the place behind the first `items` items of this cycle, where the Record has `written` slots and bytes of
    /// strings.
    #[cold]
    #[inline(never)]
    fn note(
        &mut self,
        places: &mut Places,
        plan: &Plan,
        machine: &mut Machine,
        written: (usize, usize),
        items: u32,
        offset: u64,
    ) {
        let here = Here {
            levels: self.cycle.levels,
            offset,
            at: self.begun + items - 1,
        };
        let group = self.group;
        self.group = group.or_else(|| places.group(plan, self.reader, machine, written, here));
        places.note_item(self.group, written.0, here);
    }
}

/// Reports the values of an array to the sink in batches: reporting them one by one would take as long as reading short
/// numbers.
struct ValueBatch<'s, S> {
    sink: &'s mut S,
    /// How each slot of an item can be read again.
    sites: &'s [Site],
    /// The index in `sites` of the next slot to be reported.
    next: usize,
    /// The offset of the window in the message.
    base: u64,
    /// The first slot that has not been reported.
    slot: usize,
    /// Where the values that have not been reported begin.
    found: [u32; BATCH],
    /// The number of values that have not been reported.
    count: usize,
}

/// How many values are reported together.
const BATCH: usize = 64;

impl<'s, S: Sink> ValueBatch<'s, S> {
    fn new(sink: &'s mut S, slot: usize, sites: &'s [Site], base: u64) -> Self {
        Self {
            sink,
            sites,
            next: 0,
            base,
            slot,
            found: [0; BATCH],
            count: 0,
        }
    }

    /// Adds a value, or the marker before one, that was found at `at`. (Texts that are traced are shorter than 4 GiB.)
    #[inline(always)]
    fn push(&mut self, at: usize) {
        self.found[self.count % BATCH] = (self.base + at as u64) as u32;
        self.count += 1;
        if self.count == BATCH {
            self.report();
        }
    }

    #[inline(never)]
    fn report(&mut self) {
        let count = std::mem::take(&mut self.count);
        let found = self.found.get(..count).unwrap_or_default();
        self.sink.found_all(self.slot, found, self.sites, self.next);
        self.slot += count;
        self.next = (self.next + count) % self.sites.len().max(1);
    }

    /// The offset in the window from which on a value's end makes a place due that lies `behind` bytes after it.
    #[inline(always)]
    fn due(&mut self, behind: usize) -> usize {
        let due = self.sink.places().map_or(u64::MAX, |places| places.due());
        due.saturating_sub(self.base + behind as u64) as usize
    }
}
