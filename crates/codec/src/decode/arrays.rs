//! Arrays on the fast road: many values in one tight loop, as long as what stands between them stays the same.

use bsoap_datatypes::NamespaceContext;
use bsoap_datatypes::kernel::{Kernel, Number, Separator};
use bsoap_xml::State;

use super::sink::{MARKER, Sink};
use crate::plan::{Element, LeafId, LeafKind, Plan, RealRange};

use super::builder::Builder;
use super::frame::{Frame, Machine};
use super::learned::Start;
use super::options::Validation;
use super::piece::Piece;
use super::place::{Here, Places};
use super::plain::{Plain, boolean_slot, double_slot, float_slot};
use super::rows::{Done, Rows};
use super::spelling::Spelling;
use super::trace::Site;

impl<S: Sink> Builder<'_, S> {
    #[inline(always)]
    pub(super) fn place(&mut self, window: &Piece<'_>, at: usize, length: usize, site: Site) {
        if S::LISTENS {
            let slot = self.record.slots.len();
            self.sink.found(slot, window.base + at as u64, length, site);
        }
    }

    /// Numbers or strings of an array, as long as each is followed by the same bytes: the end tag and the next start tag.
    /// Returns where the first value stands that is not.
    pub(super) fn array(
        &mut self,
        window: &Piece<'_>,
        id: LeafId,
        element: &Element,
        at: usize,
        start: &Start,
        reader: &State,
    ) -> usize {
        let leaf = self.plan.leaf(id);
        if self.options.validation == Validation::Full && element.fixed.is_some() {
            return at;
        }
        let Some(plain) = Plain::of(leaf, self.options.validation) else {
            return at;
        };
        let values = match (plain.kind.number(), plain.kind) {
            (Some(number), _) => Values::Numbers(number, plain.range),
            (None, LeafKind::Boolean) => Values::Booleans,
            _ if leaf.is_verbatim => Values::Strings {
                has_default: element.default.is_some() || element.fixed.is_some(),
                checked: plain.is_checked.then_some(id),
            },
            _ => return at,
        };
        let Some(Frame::Group(group)) = self.machine.frames.last() else {
            return at;
        };
        let max = self.plan.particle(group.particle).max;
        let first = self.record.slots.len();
        let mut items = Items {
            values,
            site: plain.site(id),
            again: &start.again,
            lead: start.again.len() - start.close.len(),
            reader,
            first,
            begun: group.count,
            group: None,
        };
        let most = self.most(max - items.begun, 1, self.machine.frames.len());
        let most = most.min(self.options.record_slots.saturating_sub(first));
        let at = self.items(window, &mut items, at, most);
        let count = self.record.slots.len() - first;
        if let Some(Frame::Group(group)) = self.machine.frames.last_mut() {
            group.count += count as u32;
        }
        at
    }

    /// How many more items of so many slots are wanted, if there may be `most`; between two, so many levels are open.
    #[inline]
    fn most(&self, most: u32, slots: usize, levels: usize) -> usize {
        let most = most as usize;
        match self.until.slots.checked_sub(self.record.slots.len()) {
            Some(wanted) => most.min(wanted.saturating_sub(1) / slots.max(1)),
            // It is to stop between two items, unless that is too deep inside.
            None if levels <= self.until.depth => 0,
            None => most,
        }
    }

    /// At most so many items, from `at` on. Returns where the next one stands.
    fn items(
        &mut self,
        window: &Piece<'_>,
        items: &mut Items<'_>,
        mut at: usize,
        most: usize,
    ) -> usize {
        // Some values tell how long one is; then there is room for all.
        let measured = most.min(MEASURED);
        self.record.slots.reserve(measured);
        let from = at;
        at = self.stretch(window, items, at, measured);
        let mut count = self.record.slots.len() - items.first;
        if count < measured || count == most {
            return at;
        }
        let rest = window.text.len().saturating_sub(at) + window.beyond;
        self.reserve((at - from) / count.max(1), 1, rest);
        loop {
            at = self.stretch(window, items, at, most - count);
            count = self.record.slots.len() - items.first;
            if count == most || self.record.slots.len() < self.record.slots.capacity() {
                return at;
            }
            // They are shorter now.
            self.record.slots.reserve(MEASURED);
        }
    }

    /// Items as long as each is followed by the same bytes, and numbers only while there is room for their slots.
    #[inline(always)]
    fn stretch(
        &mut self,
        window: &Piece<'_>,
        items: &mut Items<'_>,
        at: usize,
        most: usize,
    ) -> usize {
        let (text, separator) = (window.text.as_bytes(), items.again.separator());
        match items.values {
            Values::Strings {
                has_default,
                checked,
            } => {
                let checked = checked.map(|id| self.plan.leaf(id));
                return self.strings(window, items, (has_default, checked), at, most);
            }
            Values::Numbers(number, Some(range)) if !(S::LISTENS || S::NOTES) => {
                return self.in_range((text, at), number, range, separator, most);
            }
            _ => {}
        }
        let heap = self.record.heap.len();
        let slots = &mut self.record.slots;
        let (plan, machine) = (self.plan, &mut *self.machine);
        let mut slot = slots.len();
        let (values, sites) = (items.values, [items.site]);
        let behind = separator.as_bytes().len() - items.lead;
        let mut told = Told::new(&mut self.sink, slot, &sites, window.base);
        // Where, in the window, the first value ends that is to be noted.
        let mut due = told.due(behind);
        let found = |at: usize, length: usize| {
            if S::LISTENS {
                told.value(at, length);
            }
            if S::NOTES {
                slot += 1;
                if at + length >= due
                    && let Some(places) = told.sink.places()
                {
                    let offset = window.base + (at + length + behind) as u64;
                    items.note(places, plan, machine, (slot, heap), offset);
                    due = told.due(behind);
                }
            }
        };
        let end = match values {
            Values::Numbers(number, None) => {
                Kernel::best().read_array(text, at, number, separator, most, slots, found)
            }
            Values::Booleans | Values::Strings { .. } => {
                one_by_one((text, at), separator, most, slots, found, boolean_slot)
            }
            // What is told cannot be taken back.
            Values::Numbers(number, Some(range)) => {
                let read =
                    |text: &[u8]| real_slot(number, text).filter(|(slot, _)| range.has(*slot));
                one_by_one((text, at), separator, most, slots, found, read)
            }
        };
        if S::LISTENS {
            told.tell();
        }
        end
    }

    /// Numbers in a range: read first, and looked at together.
    fn in_range(
        &mut self,
        (text, at): (&[u8], usize),
        number: Number,
        range: RealRange,
        separator: &Separator,
        most: usize,
    ) -> usize {
        let slots = &mut self.record.slots;
        let first = slots.len();
        let kernel = Kernel::best();
        let end = kernel.read_array(text, at, number, separator, most, slots, |_, _| {});
        let read = slots.get(first..).unwrap_or_default();
        if range.has_all(read) {
            return end;
        }
        // Up to the one that is outside, again.
        let inside = read.iter().take_while(|slot| range.has(**slot)).count();
        slots.truncate(first);
        kernel.read_array(text, at, number, separator, inside, slots, |_, _| {})
    }

    /// Makes room for what may follow, if all of it is like what came: `slots` for each `length` bytes of the `rest`.
    fn reserve(&mut self, length: usize, slots: usize, rest: usize) {
        let more = (rest / length.max(1)).saturating_mul(slots);
        // What was reserved before, by the measure of others, is right but for a little.
        if self.record.slots.capacity() - self.record.slots.len() >= more - more / 8 {
            return;
        }
        let room = self
            .options
            .record_slots
            .saturating_sub(self.record.slots.len());
        self.record
            .slots
            .reserve_exact(more.saturating_add(64).min(room));
    }

    /// Rows, as long as all between their values is what it was before. Nothing is changed if not even the first begins so.
    pub(super) fn rows(
        &mut self,
        window: &Piece<'_>,
        rows: &Rows,
        at: usize,
        bindings: &dyn NamespaceContext,
        reader: &State,
    ) -> Option<Done> {
        let bytes = window.text.as_bytes();
        // The array, the row, its sequence.
        let array = self.machine.frames.len().checked_sub(3)?;
        let Some(Frame::Group(group)) = self.machine.frames.get(array) else {
            return None;
        };
        if !rows.head.stands_at(bytes, at) {
            return None;
        }
        let begun = group.count;
        let max = self.plan.particle(group.particle).max;
        let most = self.most(max - begun, rows.slots, array + 1);
        // There is room for all that may be read, the row at which it stops included.
        let slots = self.record.slots.len();
        let room = self.options.record_slots.saturating_sub(slots) / rows.slots.max(1);
        let most = most.min(room.checked_sub(1)?);
        let mut run = RowRun {
            rows,
            reader,
            levels: array + 1,
            begun,
            group: None,
        };
        let from = at;
        let mut done = Done {
            rows: 0,
            field: 0,
            at: at + rows.head.len(),
        };
        loop {
            // The kernel leaves at a value that is not plain, with its marker there: that row is gone through one by one.
            let begun = if !rows.columns.is_empty() && done.rows >= MEASURED as u64 {
                self.many_rows(window, &mut run, &mut done, most)
            } else {
                None
            };
            let may_follow = done.rows < most as u64;
            match self.row(window, rows, done.at, begun, may_follow, bindings) {
                (field, at) if field < rows.fields.len() => {
                    (done.field, done.at) = (field, at);
                    break;
                }
                (_, at) => done.at = at,
            }
            done.rows += 1;
            if let Some(places) = self.sink.places() {
                let offset = window.base + (done.at - rows.lead) as u64;
                if offset >= places.due() {
                    let written = (self.record.slots.len(), self.record.heap.len());
                    run.note(places, self.plan, self.machine, written, done.rows, offset);
                }
            }
            if done.rows == MEASURED as u64 {
                self.reserve(
                    (done.at - from) / MEASURED,
                    rows.slots,
                    bytes.len() - done.at + window.beyond,
                );
            }
        }
        if let Some(Frame::Group(group)) = self.machine.frames.get_mut(array) {
            group.count += done.rows as u32;
        }
        if let Some(Frame::Group(sequence)) = self.machine.frames.last_mut() {
            sequence.at = done.field as u32 + 1;
        }
        Some(done)
    }

    /// Rows of numbers, as long as they are plain; there may be `most` in all. Returns the field at which it stopped, whose
    /// marker has been written; `None` if it has not begun.
    fn many_rows(
        &mut self,
        window: &Piece<'_>,
        run: &mut RowRun<'_>,
        done: &mut Done,
        most: usize,
    ) -> Option<usize> {
        let rows = run.rows;
        if !rows.ranges.is_empty() {
            // What is told cannot be taken back.
            let is_told = S::LISTENS || S::NOTES;
            return if is_told {
                None
            } else {
                self.rows_in_ranges(window, rows, done, most)
            };
        }
        let (text, columns) = (window.text.as_bytes(), &*rows.columns);
        let behind = columns.last()?.separator.as_bytes().len() - rows.lead;
        let heap = self.record.heap.len();
        let slots = &mut self.record.slots;
        let (plan, machine) = (self.plan, &mut *self.machine);
        let most = most.saturating_sub(done.rows as usize);
        let (mut slot, mut count) = (slots.len(), done.rows);
        let mut told = Told::new(&mut self.sink, slot, &rows.sites, window.base);
        let mut due = told.due(behind);
        let found = |column: usize, at: usize, length: usize| {
            if S::LISTENS {
                if columns[column].marker.is_some() {
                    told.marker(at);
                }
                told.value(at, length);
            }
            if S::NOTES && column + 1 == columns.len() {
                (slot, count) = (slot + rows.slots, count + 1);
                if at + length >= due
                    && let Some(places) = told.sink.places()
                {
                    let offset = window.base + (at + length + behind) as u64;
                    run.note(places, plan, machine, (slot, heap), count, offset);
                    due = told.due(behind);
                }
            }
        };
        let stop = Kernel::best().read_rows(text, done.at, columns, most, slots, found);
        if S::LISTENS {
            told.tell();
        }
        done.rows += stop.rows as u64;
        done.at = stop.at;
        Some(stop.column)
    }

    /// Rows some of whose numbers must be in a range: read first, and looked at together.
    fn rows_in_ranges(
        &mut self,
        window: &Piece<'_>,
        rows: &Rows,
        done: &mut Done,
        most: usize,
    ) -> Option<usize> {
        let (text, columns) = (window.text.as_bytes(), &*rows.columns);
        let slots = &mut self.record.slots;
        let first = slots.len();
        let mut most = most.saturating_sub(done.rows as usize);
        loop {
            let read = Kernel::best().read_rows(text, done.at, columns, most, slots, |_, _, _| {});
            let found = slots.get(first..).unwrap_or_default();
            let is_right = |row: &[u64]| {
                rows.ranges
                    .iter()
                    .all(|(slot, range)| row.get(*slot).is_none_or(|slot| range.has(*slot)))
            };
            let Some(wrong) = found
                .chunks(rows.slots.max(1))
                .position(|row| !is_right(row))
            else {
                done.rows += read.rows as u64;
                done.at = read.at;
                return Some(read.column);
            };
            // Again, up to the last number before that row.
            slots.truncate(first);
            most = wrong.checked_sub(1)?;
        }
    }

    /// One row, or what is left of it from the field `begun` on, whose marker is there: the field at which it left the known
    /// way, or their number; and where that field or the next row begins.
    #[inline(always)]
    fn row(
        &mut self,
        window: &Piece<'_>,
        rows: &Rows,
        mut at: usize,
        begun: Option<usize>,
        may_follow: bool,
        bindings: &dyn NamespaceContext,
    ) -> (usize, usize) {
        let bytes = window.text.as_bytes();
        let fields = rows.fields.iter().enumerate();
        for (index, field) in fields.skip(begun.unwrap_or(0)) {
            if let Some(marker) = field.marker
                && begun != Some(index)
            {
                self.record.push(marker);
            }
            // Another row must be allowed.
            if index + 1 == rows.fields.len() && !may_follow {
                return (index, at);
            }
            let length = match field.number(bytes.get(at..).unwrap_or_default()) {
                Some((slot, length)) if field.after.stands_at(bytes, at + length) => {
                    self.place(window, at, length, field.site);
                    self.record.push(slot);
                    length
                }
                _ => match self.value_before(
                    window,
                    field.leaf,
                    at,
                    &field.after,
                    field.has_default,
                    bindings,
                ) {
                    Some(end) => end - at,
                    None => return (index, at),
                },
            };
            at += length + field.after.len();
        }
        (rows.fields.len(), at)
    }
}

/// What the values of an array are.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// Numbers, which may have to be in a range.
    Numbers(Number, Option<RealRange>),
    Booleans,
    /// Strings kept as they stand. If there is a default, an empty one stands for that.
    Strings {
        has_default: bool,
        /// Its facets are to be looked at.
        checked: Option<LeafId>,
    },
}

/// An array of values being read.
pub(super) struct Items<'a> {
    values: Values,
    pub(super) site: Site,
    /// What stands between two values,
    pub(super) again: &'a Spelling,
    /// and how much of it belongs to the next item.
    pub(super) lead: usize,
    reader: &'a State,
    /// The slot of the first of them.
    first: usize,
    /// How many items there were, this first one included.
    begun: u32,
    /// The group of the places noted.
    group: Option<u32>,
}

impl Items<'_> {
    /// Notes the place behind an item, where so many slots and bytes of strings have been written.
    #[cold]
    #[inline(never)]
    pub(super) fn note(
        &mut self,
        places: &mut Places,
        plan: &Plan,
        machine: &mut Machine,
        written: (usize, usize),
        offset: u64,
    ) {
        let here = Here {
            levels: machine.frames.len(),
            above: 0,
            offset,
            at: self.begun + (written.0 - self.first) as u32 - 1,
        };
        let group = self.group;
        self.group = group.or_else(|| places.group(plan, self.reader, machine, written, here));
        places.note_item(self.group, written.0, here);
    }
}

/// Who is told of the values of an array: some at a time, for to tell of each takes as long as to read a short number.
struct Told<'s, S> {
    sink: &'s mut S,
    /// How the slots can be read again, by turns,
    sites: &'s [Site],
    /// and which of them is the next.
    next: usize,
    /// What is to be added to places in the window.
    base: u64,
    /// The first slot that has not been told of,
    slot: usize,
    /// where each of those stands, and how long it is,
    found: [(u32, u32); TOGETHER],
    /// and how many there are.
    count: usize,
}

impl<'s, S: Sink> Told<'s, S> {
    fn new(sink: &'s mut S, slot: usize, sites: &'s [Site], base: u64) -> Self {
        Self {
            sink,
            sites,
            next: 0,
            base,
            slot,
            found: [(0, 0); TOGETHER],
            count: 0,
        }
    }

    /// A value was found. (Texts of which places are told are shorter than 4 GiB.)
    #[inline(always)]
    fn value(&mut self, at: usize, length: usize) {
        self.push(at, length as u32);
    }

    /// There is a marker before the value that was found there.
    #[inline(always)]
    fn marker(&mut self, at: usize) {
        self.push(at, MARKER);
    }

    #[inline(always)]
    fn push(&mut self, at: usize, length: u32) {
        self.found[self.count % TOGETHER] = ((self.base + at as u64) as u32, length);
        self.count += 1;
        if self.count == TOGETHER {
            self.tell();
        }
    }

    #[inline(never)]
    fn tell(&mut self) {
        let count = std::mem::take(&mut self.count);
        let found = self.found.get(..count).unwrap_or_default();
        self.sink.found_all(self.slot, found, self.sites, self.next);
        self.slot += count;
        self.next = (self.next + count) % self.sites.len().max(1);
    }

    /// Where in the window a value ends behind which, so much further, a place is to be noted.
    #[inline(always)]
    fn due(&mut self, behind: usize) -> usize {
        let due = self.sink.places().map_or(u64::MAX, |places| places.due());
        due.saturating_sub(self.base + behind as u64) as usize
    }
}

/// So many values are told together.
const TOGETHER: usize = 64;

/// An array of rows being read.
struct RowRun<'a> {
    rows: &'a Rows,
    reader: &'a State,
    /// Levels open between two rows.
    levels: usize,
    /// How many rows there were, the first included.
    begun: u32,
    /// The group of the places noted.
    group: Option<u32>,
}

impl RowRun<'_> {
    /// Notes the place behind so many rows.
    #[cold]
    #[inline(never)]
    fn note(
        &mut self,
        places: &mut Places,
        plan: &Plan,
        machine: &mut Machine,
        written: (usize, usize),
        rows: u64,
        offset: u64,
    ) {
        let here = Here {
            levels: self.levels,
            above: 1,
            offset,
            at: self.begun + rows as u32 - 1,
        };
        let group = self.group;
        self.group = group.or_else(|| places.group(plan, self.reader, machine, written, here));
        places.note_item(self.group, written.0, here);
    }
}

/// Values that `parse` finds, as long as each is followed by the separator.
#[inline(always)]
fn one_by_one(
    (text, mut at): (&[u8], usize),
    separator: &Separator,
    most: usize,
    slots: &mut Vec<u64>,
    mut found: impl FnMut(usize, usize),
    parse: impl Fn(&[u8]) -> Option<(u64, usize)>,
) -> usize {
    for _ in 0..most {
        let Some((slot, length)) = text.get(at..).and_then(&parse) else {
            break;
        };
        if !text[at + length..].starts_with(separator.as_bytes()) {
            break;
        }
        found(at, length);
        slots.push(slot);
        at += length + separator.as_bytes().len();
    }
    at
}

/// So many elements are measured before room is made for the rest.
const MEASURED: usize = 16;

#[inline(always)]
fn real_slot(number: Number, text: &[u8]) -> Option<(u64, usize)> {
    match number {
        Number::Float => float_slot(text),
        _ => double_slot(text),
    }
}
