//! Finds the dirty slots of a chunk: those with another value than in the previous message.
//!
//! Numbers are compared by their slots, many at once. Texts are in the heap, and one that changes its length moves all
//! that follow:
//!
//! ```text
//! before   [ann|    bob  |carol|dave]
//! now      [ann|roberta|carol|dave]      slots of carol and dave: offset + 3
//! ```
//!
//! So heap slots are compared with their old value plus a running delta, and the texts of a run of slots that agree are
//! compared at once, as one range of the heap. Slots that do not agree, such as those of texts in another order, are
//! compared one by one.

use bsoap_datatypes::kernel::Kernel;

use super::dut_table::{Locations, Mixed, Segment, SlotKind, Table};

/// The slots and the heap of one message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'r> {
    pub(crate) slots: &'r [u64],
    pub(crate) heap: &'r [u8],
}

impl<'r> Values<'r> {
    /// The octets that a heap slot points to.
    #[inline]
    pub(crate) fn octets(&self, slot: u64) -> Option<&'r [u8]> {
        let (start, length) = range(slot);
        self.heap.get(start..start + length)
    }

    /// A range of the slots, with the same heap.
    #[inline]
    pub(crate) fn part(&self, first: usize, slots: usize) -> Option<Self> {
        Some(Self {
            slots: self.slots.get(first..first.checked_add(slots)?)?,
            heap: self.heap,
        })
    }
}

/// The bits of a heap slot that hold its length.
const LENGTH: u64 = 0xffff_ffff_0000_0000;

/// The start and length of the octets that a heap slot points to.
#[inline]
pub(crate) fn range(slot: u64) -> (usize, usize) {
    ((slot & 0xffff_ffff) as usize, (slot >> 32) as usize)
}

/// Where the text of a heap slot ends.
#[inline]
fn end(slot: u64) -> u64 {
    (slot & 0xffff_ffff) + (slot >> 32)
}

/// The dirty slots of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    /// The dirty slots with a location, in order, counted from the first slot of their segment. Only the first `count` are
    /// valid.
    slots: Vec<u32>,
    count: usize,
    /// The segments that have dirty slots, each with the number of entries in `slots` up to the end of its own.
    segments: Vec<(u32, u32)>,
    /// The dirty slots without a location, counted from the first slot of the chunk.
    pub(crate) markers: Vec<u32>,
    /// Whether so much is dirty that the chunk is better encoded again. Then not all dirty values are listed, but all
    /// markers.
    pub(crate) is_most: bool,
    /// Whether numbers of tables are dirty.
    pub(crate) tables: bool,
}

impl Dirty {
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.segments.clear();
        self.markers.clear();
        (self.is_most, self.tables) = (false, false);
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.slots.capacity() * 4 + self.segments.capacity() * 8 + self.markers.capacity() * 4
    }

    /// Whether no slot with a location is dirty.
    pub(crate) fn has_no_values(&self) -> bool {
        self.count == 0 && !self.is_most
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.has_no_values() && self.markers.is_empty()
    }

    /// The number of dirty slots with a location.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Adds a slot with a location.
    #[inline]
    pub(crate) fn push(&mut self, segment: usize, slot: usize) {
        match self.slots.get_mut(self.count) {
            Some(next) => *next = slot as u32,
            None => self.slots.push(slot as u32),
        }
        self.extend(segment, 1);
    }

    /// Assigns the next `more` entries of `slots` to a segment.
    #[inline]
    fn extend(&mut self, segment: usize, more: usize) {
        self.count += more;
        match self.segments.last_mut() {
            Some((last, end)) if *last as usize == segment => *end = self.count as u32,
            _ => self.segments.push((segment as u32, self.count as u32)),
        }
    }

    /// Adds the dirty numbers of a table, unless they are so many that the chunk is better encoded again.
    fn table(&mut self, segment: usize, table: &Table, old: &[u64], new: &[u64]) {
        if !table.widths_vary && are_most(old, new) {
            (self.is_most, self.tables) = (true, true);
            return;
        }
        let end = self.count + new.len();
        if self.slots.len() < end {
            self.slots.resize(end, 0);
        }
        let list = &mut self.slots[self.count..end];
        let differing = Kernel::best().list_differing(old, new, list);
        if differing > 0 {
            self.tables = true;
            self.extend(segment, differing);
            self.is_most |= is_most_of_table(table, differing);
        }
    }

    /// The dirty slots with a location, for each segment that has any.
    pub(crate) fn by_segment(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut begin = 0;
        self.segments.iter().map(move |&(segment, end)| {
            let slots = &self.slots[begin..end as usize];
            begin = end as usize;
            (segment as usize, slots)
        })
    }
}

/// If more than this percentage of a table's numbers is dirty, its chunk is encoded again: that costs less than patching
/// them. (`ready=dunit/*/dirty75`, `ready=int/*/dirty75`)
const MOST: usize = 70;
/// If more than this percentage of a sample is dirty, the rest is not compared.
const MOST_OF_SAMPLE: usize = 85;
/// Tables of fewer numbers are always patched.
const SHORT: usize = 160;
/// The length of the two runs that are compared to estimate how many differ.
const SAMPLE: usize = 32;

/// Whether so many numbers of a table are dirty that it is better encoded again.
pub(crate) fn is_most_of_table(table: &Table, dirty: usize) -> bool {
    let numbers = table.slots();
    !table.widths_vary && numbers >= SHORT && dirty * 100 > numbers * MOST
}

/// Whether most numbers of a table differ, judged by two samples. The samples are runs, since most of the time is spent on
/// loading them from memory.
fn are_most(old: &[u64], new: &[u64]) -> bool {
    if new.len() < SHORT {
        return false;
    }
    let differing = |at: usize| {
        let both = old.iter().zip(new).skip(at).take(SAMPLE);
        both.filter(|(old, new)| old != new).count()
    };
    let quarter = new.len() / 4;
    let differing = differing(quarter) + differing(new.len() - 2 * quarter);
    differing * 100 > 2 * SAMPLE * MOST_OF_SAMPLE
}

/// The number of texts of a run that are compared together where some differ.
const RUN: usize = 64;
/// If more than this percentage of the values is dirty (checked from the first [`RUN`] values on), the chunk is encoded
/// again. A text with another length counts twice.
const MANY: usize = 60;

/// The change of heap offsets, which is added to the low half of a heap slot.
pub(crate) type Delta = u64;

/// Compares the slots of a chunk; `old` and `new` have the same number. `delta` is carried from chunk to chunk.
pub(crate) fn chunk(
    segments: &mut [Segment],
    has_heap: bool,
    old: &Values<'_>,
    new: &Values<'_>,
    delta: &mut Delta,
    dirty: &mut Dirty,
) {
    dirty.clear();
    if !has_heap && old.slots == new.slots {
        return;
    }
    for (number, segment) in segments.iter_mut().enumerate() {
        let (first, slots) = (segment.first, segment.slots());
        let Some(old) = old.part(first, slots) else {
            return;
        };
        let Some(new) = new.part(first, slots) else {
            return;
        };
        match &mut segment.locations {
            Locations::Table(_) if dirty.is_most => {}
            Locations::Table(table) => dirty.table(number, table, old.slots, new.slots),
            Locations::Mixed(mixed) => {
                let mut scan = Scan {
                    old,
                    new,
                    delta: *delta,
                    first,
                    number,
                    weight: 0,
                    dirty,
                };
                if scan.dirty.is_most {
                    scan.markers(mixed, 0);
                } else {
                    scan.mixed(mixed);
                }
                *delta = scan.delta;
            }
        }
    }
}

/// The comparison of a mixed segment.
struct Scan<'s> {
    old: Values<'s>,
    new: Values<'s>,
    delta: Delta,
    first: usize,
    number: usize,
    /// The number of dirty values so far; a text with another length counts twice.
    weight: usize,
    dirty: &'s mut Dirty,
}

impl<'s> Scan<'s> {
    fn mixed(&mut self, mixed: &mut Mixed) {
        let mut at = 0;
        let mut ordered = true;
        while at < mixed.masks.len() {
            let stop = self.mismatch(mixed, at);
            self.texts(mixed, at, stop);
            if stop < mixed.masks.len() {
                ordered &= self.single(mixed, stop);
            }
            at = stop + 1;
            if at < mixed.masks.len() && self.is_much(at) {
                self.dirty.is_most = true;
            }
            if self.dirty.is_most {
                return self.markers(mixed, at);
            }
        }
        // Slots inside a run have the same order as before.
        mixed.in_order &= ordered;
    }

    /// The first slot from `at` on that is not equal to its old value plus the delta.
    #[inline]
    fn mismatch(&self, mixed: &Mixed, at: usize) -> usize {
        let (old, new) = (&self.old.slots[at..], &self.new.slots[at..]);
        at + Kernel::best().first_differing(old, new, &mixed.masks[at..], self.delta)
    }

    /// Compares the texts of a run of slots that are equal to their old values plus the delta.
    fn texts(&mut self, mixed: &Mixed, from: usize, to: usize) {
        let masks = &mixed.masks[from..to];
        let slots = &self.new.slots[from..to];
        // An empty text may point anywhere into the heap.
        let has_text = |(mask, slot): (&u64, &u64)| mask & slot & LENGTH != 0;
        let mut texts = masks.iter().zip(slots);
        let Some(first) = texts.position(has_text) else {
            return;
        };
        let first = from + first;
        let last = texts
            .rposition(has_text)
            .map_or(first, |last| first + 1 + last);
        if mixed.in_order {
            match self.texts_between(first, last) {
                Some((old, new)) if old == new => return,
                Some((old, new)) => return self.differing(mixed, first, last, (old, new)),
                None => {}
            }
        }
        for index in first..=last {
            self.text(mixed, index);
        }
    }

    /// Compares the text of a slot.
    fn text(&mut self, mixed: &Mixed, index: usize) {
        if mixed.masks[index] != 0 && !self.same_text(index) {
            self.push(mixed.entries[index].spec.kind, index);
        }
    }

    /// The ranges of the old and the new heap from the text of one slot to that of another.
    #[inline]
    fn texts_between(&self, first: usize, last: usize) -> Option<(&'s [u8], &'s [u8])> {
        let texts = |values: Values<'s>| {
            let (start, end) = (range(values.slots[first]).0, end(values.slots[last]));
            values.heap.get(start..end as usize)
        };
        Some((texts(self.old)?, texts(self.new)?))
    }

    /// Finds the texts from `first` to `last` that differ, by the places where the heaps differ.
    fn differing(&mut self, mixed: &Mixed, first: usize, last: usize, (old, new): (&[u8], &[u8])) {
        let base = range(self.new.slots[first]).0;
        let mut index = first;
        let mut at = 0;
        let mut next = first + RUN;
        while let (Some(rest_old), Some(rest_new)) = (old.get(at..), new.get(at..))
            && let Some(found) = mismatch(rest_old, rest_new)
        {
            let location = at + found;
            let slots = &self.new.slots[index..=last];
            let mut texts = mixed.masks[index..=last].iter().zip(slots);
            let Some(further) = texts.position(|(mask, &slot)| {
                mask & slot & LENGTH != 0 && end(slot) as usize > base + location
            }) else {
                return;
            };
            index += further;
            let (start, length) = range(self.new.slots[index]);
            if start > base + location {
                // Between two texts there may be bytes that belong to neither.
                at = start - base;
                continue;
            }
            self.push(mixed.entries[index].spec.kind, index);
            self.weight += 1;
            at = start + length - base;
            index += 1;
            if index > last {
                return;
            }
            if index >= next {
                next = index + RUN;
                if self.is_much(index) {
                    self.dirty.is_most = true;
                    return;
                }
            }
        }
    }

    /// Whether so many of the values before `index` are dirty that the chunk is better encoded again.
    #[inline]
    fn is_much(&self, index: usize) -> bool {
        index >= RUN && self.weight * 100 > index * MANY
    }

    /// Adds the dirty slots without a location from `at` on.
    fn markers(&mut self, mixed: &Mixed, at: usize) {
        for index in at..mixed.masks.len() {
            let kind = mixed.entries[index].spec.kind;
            let is_same = || match mixed.masks[index] {
                0 => self.old.slots[index] == self.new.slots[index],
                _ => self.same_text(index),
            };
            if !kind.has_location() && !is_same() {
                self.push(kind, index);
            }
        }
    }

    fn same_text(&self, index: usize) -> bool {
        let (old, new) = (
            self.old.octets(self.old.slots[index]),
            self.new.octets(self.new.slots[index]),
        );
        old.is_some() && old == new
    }

    /// Handles a slot that is not equal to its old value plus the delta. Returns whether heap slots are still in order.
    fn single(&mut self, mixed: &Mixed, index: usize) -> bool {
        let kind = mixed.entries[index].spec.kind;
        if mixed.masks[index] == 0 {
            self.push(kind, index);
            self.weight += usize::from(kind.has_location());
            return true;
        }
        let (old, new) = (self.old.slots[index], self.new.slots[index]);
        if old >> 32 != new >> 32 || !self.same_text(index) {
            self.push(kind, index);
            self.weight += 2;
        }
        let expected = old.wrapping_add(self.delta) & !LENGTH;
        self.delta = if old & LENGTH == 0 || new & LENGTH == 0 {
            // An empty text may point anywhere, so only its length changes the delta.
            self.delta.wrapping_add(new >> 32).wrapping_sub(old >> 32)
        } else {
            end(new).wrapping_sub(end(old))
        };
        if new & LENGTH == 0 {
            return true;
        }
        let slots = &self.new.slots[..index];
        let mut texts = mixed.masks[..index].iter().zip(slots);
        let before = texts.rfind(|(mask, slot)| **mask & **slot & LENGTH != 0);
        let is_behind = before.is_none_or(|(_, &before)| end(before) <= range(new).0 as u64);
        // If the slots were in order before, this one cannot overlap the next one, by the delta.
        is_behind && (old & LENGTH != 0 || range(new).0 as u64 == expected)
    }

    fn push(&mut self, kind: SlotKind, index: usize) {
        if kind.has_location() {
            self.dirty.push(self.number, index);
        } else {
            self.dirty.markers.push((self.first + index) as u32);
        }
    }
}

/// The index of the first difference of two texts of equal length.
#[inline]
fn mismatch(old: &[u8], new: &[u8]) -> Option<usize> {
    let (old_blocks, old_rest) = old.as_chunks::<32>();
    let (new_blocks, new_rest) = new.as_chunks::<32>();
    let mut blocks = old_blocks.iter().zip(new_blocks);
    if let Some(block) = blocks.position(|(old, new)| old != new) {
        let (old, _) = old_blocks[block].as_chunks::<8>();
        let (new, _) = new_blocks[block].as_chunks::<8>();
        let words = old.iter().zip(new).enumerate();
        let mut differ = words.map(|(at, (old, new))| {
            let differ = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new);
            (at, differ)
        });
        let (at, differ) = differ.find(|(_, differ)| *differ != 0)?;
        return Some(block * 32 + at * 8 + differ.trailing_zeros() as usize / 8);
    }
    let mut rest = old_rest.iter().zip(new_rest);
    let found = rest.position(|(old, new)| old != new)?;
    Some(old_blocks.len() * 32 + found)
}

/// The number of slots at the front of a message that are the same, in whole blocks.
pub(crate) fn same_front(old: &[u64], new: &[u64]) -> usize {
    const BLOCK: usize = 2048;
    let mut blocks = old.chunks(BLOCK).zip(new.chunks(BLOCK));
    let same = blocks.position(|(old, new)| old != new);
    same.map_or(old.len(), |same| same * BLOCK)
}

/// Whether the heap slots of a segment point into the heap in ascending order.
pub(crate) fn in_order(mixed: &Mixed, slots: &[u64]) -> bool {
    let mut reached = 0;
    mixed
        .masks
        .iter()
        .zip(slots)
        .filter(|(mask, slot)| **mask & **slot & LENGTH != 0)
        .all(|(_, &slot)| {
            let ordered = range(slot).0 as u64 >= reached;
            reached = end(slot);
            ordered
        })
}

#[cfg(test)]
mod tests {
    use super::super::dut_table::MixedEntry;
    use super::*;

    fn mixed(kinds: &[SlotKind]) -> Mixed {
        let mut mixed = Mixed::default();
        for &kind in kinds {
            mixed.push(0, MixedEntry::without_location(kind));
        }
        mixed
    }

    /// Numbers, and texts in the order given.
    fn values(kinds: &[SlotKind], texts: &[&str], backwards: bool) -> (Vec<u64>, Vec<u8>) {
        let mut slots = vec![0; kinds.len()];
        let mut heap = Vec::new();
        let mut indices: Vec<usize> = (0..kinds.len()).collect();
        if backwards {
            indices.reverse();
        }
        for index in indices {
            if kinds[index].is_heap() {
                slots[index] = heap.len() as u64 | (texts[index].len() as u64) << 32;
                heap.extend_from_slice(texts[index].as_bytes());
            } else {
                slots[index] = texts[index].len() as u64;
            }
        }
        (slots, heap)
    }

    const KINDS: [SlotKind; 6] = [
        SlotKind::Text,
        SlotKind::Signed,
        SlotKind::Text,
        SlotKind::Marker,
        SlotKind::Hidden,
        SlotKind::Text,
    ];

    fn dirty(old: &[&str], new: &[&str], backwards: (bool, bool)) -> (Vec<u32>, Vec<u32>, bool) {
        let (old_slots, old_heap) = values(&KINDS, old, backwards.0);
        let (new_slots, new_heap) = values(&KINDS, new, backwards.1);
        let mut mixed = mixed(&KINDS);
        mixed.in_order = in_order(&mixed, &old_slots);
        let mut segments = [Segment {
            first: 0,
            start: 0,
            locations: Locations::Mixed(mixed),
        }];
        let mut found = Dirty::default();
        let old = Values {
            slots: &old_slots,
            heap: &old_heap,
        };
        let new = Values {
            slots: &new_slots,
            heap: &new_heap,
        };
        chunk(&mut segments, true, &old, &new, &mut 0, &mut found);
        let Locations::Mixed(mixed) = &segments[0].locations else {
            unreachable!()
        };
        if mixed.in_order {
            assert!(in_order(mixed, &new_slots));
        }
        let leaves = found.slots[..found.count].to_vec();
        (leaves, found.markers, mixed.in_order)
    }

    #[test]
    fn exactly_what_differs_is_dirty_in_whatever_order_texts_lie() {
        let old = ["ann", "1", "bob", "1", "carol", "dave"];
        let news: [([&str; 6], &[u32], &[u32]); 7] = [
            (old, &[], &[]),
            (["ann", "1", "roberta", "1", "carol", "dave"], &[2], &[]),
            (["", "1", "bob", "1", "carol", "dave"], &[0], &[]),
            (["amn", "12", "bob", "1", "carol", "dave"], &[0, 1], &[]),
            (["ann", "1", "bob", "11", "carla", "dave"], &[], &[3, 4]),
            (["bob", "1", "ann", "1", "carol", "dav"], &[0, 2, 5], &[]),
            (["annb", "1", "ob", "1", "carol", "dave"], &[0, 2], &[]),
        ];
        for (new, leaves, markers) in news {
            for backwards in [(false, false), (false, true), (true, false), (true, true)] {
                let (found, marked, in_order) = dirty(&old, &new, backwards);
                assert_eq!(
                    (&*found, &*marked),
                    (leaves, markers),
                    "{new:?} {backwards:?}"
                );
                if backwards == (false, false) {
                    assert!(in_order);
                }
            }
        }
    }
}
