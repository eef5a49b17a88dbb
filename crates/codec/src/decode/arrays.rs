//! Arrays on the fast road: many values in one tight loop, as long as what stands between them stays the same.

use bsoap_datatypes::{NamespaceContext, double, float, integer};
use bsoap_xml::State;

use crate::index::Sink;
use crate::plan::{Element, LeafId, LeafKind};

use super::builder::Builder;
use super::fast::Done;
use super::frame::Frame;
use super::learned::Start;
use super::options::Validation;
use super::place::{Here, Place};
use super::rows::Rows;
use super::run::Window;
use super::trace::Site;

impl<S: Sink> Builder<'_, S> {
    #[inline(always)]
    pub(super) fn place(&mut self, window: &Window<'_>, at: usize, length: usize, site: Site) {
        if S::LISTENS {
            let slot = self.record.slots.len();
            self.sink.found(slot, window.base + at as u64, length, site);
        }
    }

    /// Numbers of an array, as long as each is followed by the same bytes: the end tag and the next start tag. Returns where
    /// the first value stands that is not.
    pub(super) fn array(
        &mut self,
        window: &Window<'_>,
        id: LeafId,
        element: &Element,
        at: usize,
        start: &Start,
        reader: &State,
    ) -> usize {
        let leaf = self.plan.leaf(id);
        let is_checked = leaf.has_facets || element.fixed.is_some();
        if is_checked && self.options.validation == Validation::Full {
            return at;
        }
        let site = Site::content(id);
        let way = (start, reader);
        match leaf.kind {
            LeafKind::Double => self.numbers(window, at, site, way, double_slot),
            LeafKind::Float => self.numbers(window, at, site, way, float_slot),
            LeafKind::Signed { min, max } => {
                self.numbers(window, at, site, way, |text| signed_slot(text, min, max))
            }
            LeafKind::Unsigned { max } => {
                self.numbers(window, at, site, way, |text| unsigned_slot(text, max))
            }
            LeafKind::Boolean => self.numbers(window, at, site, way, boolean_slot),
            _ => at,
        }
    }

    #[inline(always)]
    fn numbers(
        &mut self,
        window: &Window<'_>,
        mut at: usize,
        site: Site,
        (start, reader): (&Start, &State),
        parse: impl Fn(&[u8]) -> Option<(u64, usize)>,
    ) -> usize {
        let bytes = window.text.as_bytes();
        let again = &start.again;
        let Some(Frame::Group(group)) = self.machine.frames.last() else {
            return at;
        };
        let (begun, mut place) = (group.count, None);
        let max = self.plan.particle(group.particle).max;
        let most = (max - begun) as usize;
        let most = match self.until.slots.checked_sub(self.record.slots.len()) {
            Some(slots) if slots > 0 => most.min(slots - 1),
            _ => most,
        };
        let most = most.min(
            self.options
                .record_slots
                .saturating_sub(self.record.slots.len()),
        );
        let mut count = 0;
        // Some values tell how long one is; then there is room for all.
        for (stretch, measure) in [(most.min(MEASURED), true), (most, false)] {
            let from = at;
            while count < stretch {
                let Some((slot, length)) = bytes.get(at..).and_then(&parse) else {
                    break;
                };
                if !again.stands_at(bytes, at + length) {
                    break;
                }
                self.place(window, at, length, site);
                self.record.push(slot);
                at += length + again.len();
                count += 1;
                if let Some(places) = self.sink.places() {
                    let offset = window.base + (at + start.close.len() - again.len()) as u64;
                    if offset >= places.due() {
                        let item = begun + count as u32 - 1;
                        let machine = &mut *self.machine;
                        let group = place.or_else(|| {
                            let here = Here {
                                levels: machine.frames.len(),
                                above: 0,
                                offset,
                                at: item,
                            };
                            places.group(self.plan, reader, machine, self.record, here)
                        });
                        place = group;
                        if let Some(group) = group {
                            places.push(Place {
                                offset: offset as u32,
                                slots: self.record.slots.len() as u32,
                                group,
                                at: item,
                            });
                        }
                    }
                }
            }
            if count < stretch {
                break;
            }
            if measure {
                let rest = bytes.len() - at + window.beyond;
                self.reserve((at - from) / count.max(1), 1, rest);
            }
        }
        if let Some(Frame::Group(group)) = self.machine.frames.last_mut() {
            group.count += count as u32;
        }
        at
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
        window: &Window<'_>,
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
        let mut place = None;
        let most = u64::from(self.plan.particle(group.particle).max - begun);
        let most = match self.until.slots.checked_sub(self.record.slots.len()) {
            Some(slots) if slots > 0 => most.min((slots as u64 - 1) / rows.slots.max(1) as u64),
            _ => most,
        };
        let from = at;
        let mut done = Done {
            rows: 0,
            field: 0,
            at: at + rows.head.len(),
        };
        loop {
            match self.row(window, rows, done.at, done.rows < most, bindings) {
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
                    let item = begun + done.rows as u32 - 1;
                    let machine = &mut *self.machine;
                    let group = place.or_else(|| {
                        let here = Here {
                            levels: array + 1,
                            above: 1,
                            offset,
                            at: item,
                        };
                        places.group(self.plan, reader, machine, self.record, here)
                    });
                    place = group;
                    if let Some(group) = group {
                        places.push(Place {
                            offset: offset as u32,
                            slots: self.record.slots.len() as u32,
                            group,
                            at: item,
                        });
                    }
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

    /// One row: the field at which it left the known way, or their number; and where that field or the next row begins.
    #[inline(always)]
    fn row(
        &mut self,
        window: &Window<'_>,
        rows: &Rows,
        mut at: usize,
        may_follow: bool,
        bindings: &dyn NamespaceContext,
    ) -> (usize, usize) {
        let bytes = window.text.as_bytes();
        for (index, field) in rows.fields.iter().enumerate() {
            if let Some(marker) = field.marker {
                self.record.push(marker);
            }
            // Another row must be allowed, and have room.
            let is_last = index + 1 == rows.fields.len();
            if is_last && !(may_follow && self.record.slots.len() < self.options.record_slots) {
                return (index, at);
            }
            let length = match number(field.kind, bytes.get(at..).unwrap_or_default()) {
                Some((slot, length)) if field.after.stands_at(bytes, at + length) => {
                    self.place(window, at, length, Site::content(field.leaf));
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

/// So many elements are measured before room is made for the rest.
const MEASURED: usize = 16;

/// The slot of the number at the front of a text, and its length.
#[inline(always)]
pub(super) fn number(kind: LeafKind, text: &[u8]) -> Option<(u64, usize)> {
    match kind {
        LeafKind::Double => double_slot(text),
        LeafKind::Float => float_slot(text),
        LeafKind::Signed { min, max } => signed_slot(text, min, max),
        LeafKind::Unsigned { max } => unsigned_slot(text, max),
        LeafKind::Boolean => boolean_slot(text),
        _ => None,
    }
}

#[inline(always)]
fn double_slot(text: &[u8]) -> Option<(u64, usize)> {
    double::parse_prefix(text).map(|(value, length)| (value.to_bits(), length))
}

#[inline(always)]
fn float_slot(text: &[u8]) -> Option<(u64, usize)> {
    float::parse_prefix(text).map(|(value, length)| (u64::from(value.to_bits()), length))
}

#[inline(always)]
fn signed_slot(text: &[u8], min: i64, max: i64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_i64(text)?;
    (min <= value && value <= max).then_some((value as u64, length))
}

#[inline(always)]
fn unsigned_slot(text: &[u8], max: u64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_u64(text)?;
    (value <= max).then_some((value, length))
}

#[inline(always)]
fn boolean_slot(text: &[u8]) -> Option<(u64, usize)> {
    match text {
        [b't', b'r', b'u', b'e', ..] => Some((1, 4)),
        [b'f', b'a', b'l', b's', b'e', ..] => Some((0, 5)),
        [bit @ (b'0' | b'1'), ..] => Some((u64::from(bit - b'0'), 1)),
        _ => None,
    }
}
