//! The state of a run: a series of changed values of an array, one after the other or close to one another.

use bsoap_datatypes::kernel::Kernel;
use bsoap_xml::{Limits, decode_text_before};

use super::rows::RowPattern;

/// The current run, and what was learned from earlier ones.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// The row pattern of the current array. It is kept for the next message, because it is checked wherever it is used.
    pub(super) pattern: Option<Box<RowPattern>>,
    /// The number of values read in the run.
    pub(super) values: usize,
    /// Whether the run was found to be long.
    was_long: bool,
    /// The number of values after which to check whether rows were inserted or removed.
    due: usize,
    /// The number of times that rows seemed inserted or removed, but were not.
    false_alarms: u32,
    /// The number of single values that were re-read since the last check for inserted or removed rows, and the number at
    /// which the next check is made.
    singles: (usize, usize),
    /// The number of messages in a row whose first difference was checked in vain.
    vain: u32,
    /// The difference between new and old offsets after rows were inserted or removed, modulo 2⁶⁴; `None` if none seem to be.
    pub(super) hint: Option<usize>,
    /// The slot after the last run.
    end: usize,
    /// The number of runs in a row that were short and close to one another.
    short: u32,
    /// No row pattern is learned before this slot.
    learn_from: usize,
    /// The number of times that no row pattern was found.
    failures: u32,
    /// The slot at which none was found last.
    no_array: Option<usize>,
    /// Memory for a block of values.
    pub(super) changed: ChangedValues,
    /// Memory for the slots of a block of numbers.
    pub(super) slots: Vec<u64>,
    /// Memory for the strings of a block that are decoded.
    pub(super) decoded: DecodedTexts,
}

/// From this number of values on, a run is long, and the values after it are expected to differ too.
pub(super) const LONG_RUN: usize = 240;
/// A run is short up to this number of values.
const SHORT_RUN: usize = 6;
/// A run is close to the last one up to this number of slots between them.
const CLOSE: usize = 32;
/// After this number of short and close runs, changed values are expected to be scattered.
const SCATTERED: u32 = 4;
/// The number of values of a run after which to check whether rows were inserted or removed.
const FIRST_CHECK: usize = 2;
/// The number of rows to look at when the first difference of a message is found.
const FIRST_REACH: usize = 32;
/// After this number of messages in a row whose first difference was checked in vain, only some are checked.
const TRUSTING: u32 = 3;
/// One in this number.
const WARY: u32 = 16;

impl Run {
    /// Prepares for the next message.
    pub(super) fn restart(&mut self) {
        (self.hint, self.false_alarms, self.end, self.short) = (None, 0, 0, 0);
        (self.learn_from, self.failures) = (0, 0);
        self.singles = (0, 0);
        self.begin();
    }

    /// Whether to try to learn the row pattern of the array that a slot belongs to.
    #[inline]
    pub(super) fn may_learn(&self, slot: usize) -> bool {
        slot >= self.learn_from && self.no_array != Some(slot)
    }

    /// Records that a slot belongs to no array. The next attempt is made further on, each time twice as far.
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

    /// Whether changed values are expected to be scattered among unchanged ones.
    #[inline]
    pub(super) fn is_scattered(&self) -> bool {
        self.short >= SCATTERED
    }

    /// Records that changed values are not scattered.
    pub(super) fn is_not_scattered(&mut self) {
        self.short = 0;
    }

    /// Whether to check if rows were inserted or removed.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.values >= self.due
    }

    /// The number of rows to look at in this check for inserted or removed rows. The next check is later and looks further, so
    /// that checks take a small part of the time.
    pub(super) fn reach(&mut self) -> usize {
        self.due = (4 * self.values).max(64);
        match self.values {
            0..=3 => 2,
            4..=15 => 4,
            values => (values / 8).max(16),
        }
    }

    /// The number of rows to look at before a value is re-read alone: none except for the first one of a message, and for
    /// some of those close to one another.
    pub(super) fn single_reach(&mut self, slot: usize) -> usize {
        let (count, due) = self.singles;
        if count == 0 {
            self.singles = (1, 2);
            self.vain = self.vain.wrapping_add(1);
            let is_due = self.vain <= TRUSTING || self.vain.is_multiple_of(WARY);
            return if is_due { FIRST_REACH } else { 0 };
        }
        if self.pattern.is_some() || slot.saturating_sub(self.end) > CLOSE {
            self.singles.0 = 1;
            return 0;
        }
        self.singles.0 += 1;
        if count < due {
            return 0;
        }
        self.singles.1 = 4 * due;
        FIRST_REACH
    }

    /// Records that rows were inserted or removed, so the first difference of the next message is checked.
    pub(super) fn found_shift(&mut self) {
        self.vain = 0;
    }

    /// Records that rows seemed to be inserted or removed, but were not.
    pub(super) fn false_alarm(&mut self) {
        self.false_alarms += 1;
    }

    /// Whether the run has become long since the last call.
    #[inline]
    pub(super) fn is_long(&mut self) -> bool {
        let is_long = self.values >= LONG_RUN;
        is_long && !std::mem::replace(&mut self.was_long, true)
    }
}

/// A block of values of which some differ from the old ones. Values are numbered within the block.
#[derive(Debug, Default)]
pub(super) struct ChangedValues {
    /// The offsets of all values in the old text, and of the value after them.
    pub(super) before: Vec<u32>,
    /// The offsets of all values in the new text; the lengths in a block of strings.
    pub(super) now: Vec<u32>,
    /// The numbers of the values that differ.
    pub(super) listed: Vec<u32>,
    /// The offsets of the listed values in the new text.
    pub(super) places: Vec<u32>,
    /// The slots of the listed values that are numbers.
    pub(super) slots: Vec<u64>,
    /// The slots of the Record that have changed.
    pub(super) slots_changed: Vec<u32>,
    /// The indices in `listed` of the values of one field.
    which: Vec<u32>,
    /// The offsets of these values.
    column: Vec<u32>,
    /// The slots of these values.
    column_slots: Vec<u64>,
    /// The lengths of the numbers read, which are not used.
    lengths: Vec<u32>,
}

impl ChangedValues {
    /// Reads the numbers among the first `count` listed values into `slots`. Returns how many of these values may be stored:
    /// those before the first number that is invalid.
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

    /// Gathers the values of one field among the first `count` listed ones in `which` and `column`, without a branch per
    /// value. Returns their number.
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

    /// Returns how many of the first `count` listed values are followed by their gap in the old text, up to the first that is
    /// not.
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

/// The decoded strings of a block, of those that contain references.
#[derive(Debug, Default)]
pub(super) struct DecodedTexts {
    /// The octets of all these strings.
    pub(super) octets: Vec<u8>,
    /// For each of these strings, its number in the block and the end of its octets.
    pub(super) ends: Vec<(usize, usize)>,
}

/// Strings with references that are longer than this number of bytes are re-read alone, because a block holds them twice.
const MAX_DECODED: usize = 1 << 10;

impl DecodedTexts {
    pub(super) fn clear(&mut self) {
        self.octets.clear();
        self.ends.clear();
    }

    /// Decodes the string at the front of `text`, whose first `plain` bytes have no references. Returns its length in the
    /// text; `None` if it is invalid or too long.
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
