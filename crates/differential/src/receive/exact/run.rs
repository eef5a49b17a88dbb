//! A run: values of an array that changed one after the other, or not far from one another. What is known about it.

use bsoap_datatypes::kernel::Kernel;
use bsoap_xml::{Limits, decode_text_before};

use super::rows::RowPattern;

/// The run at hand, and what earlier ones have shown.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// The rows of the array at hand. Kept for the next message too, because it is checked wherever it is used.
    pub(super) pattern: Option<Box<RowPattern>>,
    /// How many values have been read in it.
    pub(super) values: usize,
    /// Whether the run was found to be long.
    was_long: bool,
    /// The number of values after which to check whether rows were inserted or removed.
    due: usize,
    /// How often that check found nothing.
    false_alarms: u32,
    /// How much further the new text seems to be than the old one, modulo 2⁶⁴.
    pub(super) hint: Option<usize>,
    /// The slot behind the last run.
    end: usize,
    /// How many runs in a row were short and close to one another.
    short: u32,
    /// No array is looked for before this slot; how often there was none, and where last.
    learn_from: usize,
    failures: u32,
    no_array: Option<usize>,
    /// Memory for blocks of values.
    pub(super) changed: ChangedValues,
    pub(super) slots: Vec<u64>,
    pub(super) decoded: DecodedTexts,
}

/// From this many values on a run is long, and the values after it are expected to differ too.
pub(super) const LONG_RUN: usize = 240;
/// Values up to which a run is short, slots up to which the next one is close, and how many such runs make values scattered.
const SHORT_RUN: usize = 6;
const CLOSE: usize = 32;
const SCATTERED: u32 = 4;
/// Values of a run before rows are suspected to be inserted or removed.
const FIRST_CHECK: usize = 2;

impl Run {
    /// Starts with the next message.
    pub(super) fn restart(&mut self) {
        (self.hint, self.false_alarms, self.end, self.short) = (None, 0, 0, 0);
        (self.learn_from, self.failures) = (0, 0);
        self.begin();
    }

    /// Whether the array that a slot belongs to may be looked for.
    #[inline]
    pub(super) fn may_learn(&self, slot: usize) -> bool {
        slot >= self.learn_from && self.no_array != Some(slot)
    }

    /// Records that a slot belongs to no array. The next search starts further on, each time twice as far.
    #[cold]
    pub(super) fn found_none(&mut self, slot: usize) {
        self.learn_from = slot + (16 << self.failures.min(16));
        self.no_array = Some(slot);
        self.failures += 1;
    }

    /// Records a difference at this slot, and whether it is close to a short run.
    #[inline]
    pub(super) fn find(&mut self, slot: usize) {
        let is_close = slot.saturating_sub(self.end) <= CLOSE;
        self.short = match self.values <= SHORT_RUN && is_close {
            true => self.short + 1,
            false => 0,
        };
    }

    /// Starts a run at its first value.
    #[inline]
    pub(super) fn begin(&mut self) {
        (self.values, self.was_long) = (0, false);
        self.due = FIRST_CHECK << (3 * self.false_alarms.min(8));
    }

    /// Records that the run ended before this slot.
    #[inline]
    pub(super) fn finish(&mut self, slot: usize) {
        self.end = slot;
    }

    /// Whether values that differ are scattered among others.
    #[inline]
    pub(super) fn is_scattered(&self) -> bool {
        self.short >= SCATTERED
    }

    /// Records that the values at hand are not scattered.
    pub(super) fn is_not_scattered(&mut self) {
        self.short = 0;
    }

    /// Whether to check if rows were inserted or removed.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.values >= self.due
    }

    /// How many rows to look at for that. The next check is later and looks further, so that it takes a small part of the
    /// reading's time.
    pub(super) fn reach(&mut self) -> usize {
        self.due = (4 * self.values).max(64);
        match self.values {
            0..=3 => 2,
            4..=15 => 4,
            values => (values / 8).max(16),
        }
    }

    /// It seemed so, and was not.
    pub(super) fn false_alarm(&mut self) {
        self.false_alarms += 1;
    }

    /// Whether it has just become long.
    #[inline]
    pub(super) fn is_long(&mut self) -> bool {
        let is_long = self.values >= LONG_RUN;
        is_long && !std::mem::replace(&mut self.was_long, true)
    }
}

/// A block of values: which of them differ, and what was read of those.
#[derive(Debug, Default)]
pub(super) struct ChangedValues {
    /// Where all begin in the old text, and the one behind them; and where they begin in the new one.
    pub(super) before: Vec<u32>,
    pub(super) now: Vec<u32>,
    /// The numbers of those that differ, and where they begin in the new text.
    pub(super) listed: Vec<u32>,
    pub(super) places: Vec<u32>,
    /// What was read of those, if it is a number.
    pub(super) slots: Vec<u64>,
    /// The slots that have other values now.
    pub(super) slots_changed: Vec<u32>,
    /// Those of one field among several: which they are, and where.
    which: Vec<u32>,
    column: Vec<u32>,
    column_slots: Vec<u64>,
    lengths: Vec<u32>,
}

impl ChangedValues {
    /// Reads the first values listed that are numbers. How many values can be taken over: up to a number that is not one.
    pub(super) fn read_numbers(
        &mut self,
        pattern: &RowPattern,
        index: usize,
        count: usize,
        new: &[u8],
    ) -> usize {
        let kernel = Kernel::best();
        self.slots.clear();
        self.lengths.clear();
        if let [field] = &*pattern.fields {
            let Some(number) = field.number else {
                return count;
            };
            let (slots, lengths) = (&mut self.slots, &mut self.lengths);
            let places = &self.places[..count];
            return kernel.read_places(new, places, number, &field.gap, slots, lengths);
        }
        self.slots.resize(count, 0);
        let mut readable = count;
        for (field, it) in pattern.fields.iter().enumerate() {
            let Some(number) = it.number else {
                continue;
            };
            let found = self.gather(pattern, index, field, count);
            let (slots, lengths) = (&mut self.column_slots, &mut self.lengths);
            slots.clear();
            let places = &self.column[..found];
            let read = kernel.read_places(new, places, number, &it.gap, slots, lengths);
            for (&which, &slot) in self.which.iter().zip(&*slots) {
                self.slots[which as usize] = slot;
            }
            if read < found {
                readable = readable.min(self.which[read] as usize);
            }
        }
        readable
    }

    /// Gathers those of one field, without a branch for any. How many there are.
    fn gather(&mut self, pattern: &RowPattern, index: usize, field: usize, count: usize) -> usize {
        self.which.resize(count, 0);
        self.column.resize(count, 0);
        let mut found = 0;
        let listed = self.listed[..count].iter().zip(&self.places);
        for (number, (&value, &place)) in listed.enumerate() {
            (self.which[found], self.column[found]) = (number as u32, place);
            found += usize::from(pattern.field(index, value as usize) == field);
        }
        found
    }

    /// Of the first values listed, how many end in the old text where their gap begins.
    pub(super) fn in_step(
        &self,
        pattern: &RowPattern,
        index: usize,
        count: usize,
        old: &[u8],
    ) -> usize {
        let ends = |&value: &u32| {
            let value = value as usize;
            let field = &pattern.fields[pattern.field(index, value)];
            let (start, next) = (self.before[value], self.before[value + 1]);
            field.end(start, next, old).is_some()
        };
        let listed = self.listed[..count].iter();
        listed.take_while(|value| ends(value)).count()
    }
}

/// The strings of a block that have references, decoded.
#[derive(Debug, Default)]
pub(super) struct DecodedTexts {
    pub(super) octets: Vec<u8>,
    /// Their numbers in the block, and where their octets end.
    pub(super) ends: Vec<(usize, usize)>,
}

/// Longer strings with references are read alone, because they are held twice for a while.
const MAX_DECODED: usize = 1 << 10;

impl DecodedTexts {
    pub(super) fn clear(&mut self) {
        self.octets.clear();
        self.ends.clear();
    }

    /// Decodes the string that `text` begins with, whose first `plain` bytes are copied. Its length in the text.
    pub(super) fn add(
        &mut self,
        number: usize,
        text: &[u8],
        plain: usize,
        limits: &Limits,
    ) -> Option<usize> {
        let text = &text[..text.len().min(MAX_DECODED)];
        let length = decode_text_before(text, plain, limits, &mut self.octets)?;
        self.ends.push((number, self.octets.len()));
        Some(length)
    }
}
