//! Scattered changes in an array: a kernel compares each value with the old one, without a branch per value, and lists those
//! that differ. Then these are read together and stored.
//!
//! ```text
//! old   <i>1.5</i><i>2.5</i><i>3.5</i><i>4.5</i><i>5.5</i>
//! new   <i>1.5</i><i>2.7</i><i>3.5</i><i>4.5</i><i>9.5</i>
//!          =         ≠         =         =         ≠          listed: 1, 4
//! ```
//!
//! The next `<` shows where a changed value ends, and so where the next value begins. Whether the value is followed by its gap
//! is checked when it is read.

use bsoap_codec::decode::Decoder;
use bsoap_datatypes::kernel::{Kernel, Listed, Stepped, Steps};

use super::pass::Pass;
use super::rows::{BLOCK, RowPattern};
use super::run::ChangedValues;
use crate::receive::change::note_each;

/// The result of reading a block of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The number of values passed.
    pub(super) values: usize,
    /// The number of those that were read.
    pub(super) read: usize,
    /// Whether the block ended because the next value does not match the old text, or could not be read.
    pub(super) is_last: bool,
}

impl Pass {
    /// Passes a block of values from field `index` of a row on, at `o` and `n`, at most up to a checkpoint, and reads those
    /// that differ.
    pub(super) fn changed_values(
        &mut self,
        decoder: &mut Decoder,
        pattern: &RowPattern,
        index: usize,
        old: &[u8],
        new: &[u8],
    ) -> Block {
        let mut values = std::mem::take(&mut self.run.changed);
        let stepped = self.list(pattern, index, &mut values, old, new);
        let mut read = values.read_numbers(pattern, index, stepped.listed, new);
        read = values.in_step(pattern, index, read, old);
        read = self.put_values(decoder, pattern, index, &mut values, read, new);
        let is_cut = read < stepped.listed;
        let seen = match is_cut {
            true => values.listed[read] as usize,
            false => stepped.seen,
        };
        if seen > 0 {
            self.o = values.before[seen] as usize;
            self.n = match is_cut {
                true => values.places[read] as usize,
                false => self.o.wrapping_add(stepped.shift),
            };
            self.pass_values(pattern, index, &values.now[..seen]);
        }
        (self.touched, self.in_blocks) = (self.touched + read, self.in_blocks + read);
        self.run.changed = values;
        Block {
            values: seen,
            read,
            is_last: is_cut || seen == 0,
        }
    }

    /// Lists in `values` which of the next values differ.
    fn list(
        &mut self,
        pattern: &RowPattern,
        index: usize,
        values: &mut ChangedValues,
        old: &[u8],
        new: &[u8],
    ) -> Stepped {
        let (trace, shift) = (&self.history.trace, self.shift());
        let sites = trace.sites.get(self.cursor..).unwrap_or_default();
        let count = pattern.count(index, BLOCK, sites);
        let before = &mut values.before;
        before.clear();
        if let (true, Some(starts)) = (count > 0, trace.starts.get(self.cursor..)) {
            match pattern.width == pattern.fields.len() {
                true => before.extend_from_slice(&starts[..=count]),
                false => before.extend((0..=count).map(|it| starts[pattern.slot(index, it)])),
            }
        }
        let all = before.split_last().map_or(&[][..], |(_, all)| all);
        let count = self.before_checkpoint(all);
        for list in [&mut values.listed, &mut values.places, &mut values.now] {
            list.resize(BLOCK, 0);
        }
        let steps = Steps {
            old,
            new,
            starts: before.get(..=count).unwrap_or_default(),
            shift,
            gaps: &pattern.gaps,
            first: index,
        };
        let mut listed = Listed {
            numbers: &mut values.listed,
            others: &mut values.places,
            places: &mut values.now,
        };
        Kernel::best().list_changed(steps, &mut listed)
    }

    /// Stores the first `count` values listed in their slots. Returns the number stored, which ends before a value that cannot
    /// be read.
    fn put_values(
        &mut self,
        decoder: &mut Decoder,
        pattern: &RowPattern,
        index: usize,
        values: &mut ChangedValues,
        count: usize,
        new: &[u8],
    ) -> usize {
        let (mut put, mut changed) = (count, 0);
        values.slots_changed.resize(BLOCK, 0);
        for number in 0..count {
            let value = values.listed[number] as usize;
            let field = &pattern.fields[pattern.field(index, value)];
            let slot = self.cursor + pattern.slot(index, value);
            let is_other = match field.number {
                Some(_) => {
                    let read = values.slots[number];
                    std::mem::replace(&mut self.slots[slot], read) != read
                }
                None => {
                    let place = values.places[number] as usize;
                    let Some((is_other, _)) = self.read_into(decoder, field, slot, place, new)
                    else {
                        put = number;
                        break;
                    };
                    is_other
                }
            };
            // No branch: which values have changed cannot be predicted.
            values.slots_changed[changed] = slot as u32;
            changed += usize::from(is_other);
        }
        note_each(&mut self.changed, 0, &values.slots_changed[..changed]);
        put
    }

    /// Moves the cursor behind some values, and stores their new offsets `places`.
    fn pass_values(&mut self, pattern: &RowPattern, index: usize, places: &[u32]) {
        let starts = &mut self.history.trace.starts;
        let count = places.len();
        if pattern.width == pattern.fields.len() {
            starts[self.cursor..self.cursor + count].copy_from_slice(places);
            self.cursor += count;
            return;
        }
        let begin = self.cursor;
        for (value, &place) in places.iter().enumerate() {
            let behind = begin + pattern.slot(index, value) + 1;
            starts[self.cursor..behind].fill(place);
            self.cursor = behind;
        }
    }
}
