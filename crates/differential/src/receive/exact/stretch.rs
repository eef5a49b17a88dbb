//! A stretch of an array whose values are others than before: what follows what in it, and the suspicion that they are only
//! shifted.
//!
//! ```text
//! <row><x>  1  </x><y>  2  </y><v>  0.5  </v></row><row><x>  3  </x>…
//!          field 0      field 1      field 2                field 0
//!               └ gap 0 ┘    └ gap 1 ┘    └──── gap 2 ─────┘
//! ```

use bsoap_codec::Plan;
use bsoap_codec::decode::{Site, Trace};
use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::kernel::{Column, Separator};
use memchr::memchr;

use super::locate::Gap;
use super::texts::Decoded;

/// A value of a row, and what is behind it.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) site: Site,
    pub(super) kind: LeafKind,
    /// What stands between it and the next value, be it of the next row.
    pub(super) gap: Gap,
    /// Its slot, counted from the row's first. The slots in between are markers.
    pub(super) at: usize,
    /// How many markers precede it.
    pub(super) lead: usize,
    /// How many slots further the next value is.
    pub(super) step: usize,
}

/// What follows what in an array of values, or of rows of values.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    pub(super) fields: Vec<Field>,
    /// How many slots a row has.
    pub(super) slots: usize,
    /// The slot with which some row begins.
    first: usize,
    /// The same for a kernel, if all values are numbers.
    pub(super) columns: Vec<Column>,
    /// How long the gaps are, by field.
    pub(super) gaps: Vec<u32>,
    /// The sites of a block of values, from each field on, where rows have nothing but their values; and the next.
    pub(super) run: Vec<Site>,
    /// Which field is so many values behind the first: a division for each value would take longer than to read some.
    order: Vec<u8>,
}

/// At most so many values are looked at together.
pub(super) const BLOCK: usize = 256;

/// More fields are not looked for, nor so many markers before one of them.
const MOST_FIELDS: usize = 24;
const MOST_MARKERS: usize = 3;

impl Pattern {
    /// That of the array which the value at `slot` belongs to; its text ends at `end`. Nothing, if the values that follow it
    /// do not recur.
    pub(super) fn learn(
        plan: &Plan,
        trace: &Trace,
        slot: usize,
        end: usize,
        old: &[u8],
    ) -> Option<Self> {
        let mut fields: Vec<(usize, Site, &[u8])> = Vec::new();
        let (mut slot, mut end) = (slot, end);
        let count = loop {
            let site = *trace.sites.get(slot)?;
            let markers = trace.sites.get(slot + 1..)?.iter();
            let step = 1 + markers.take_while(|&&site| site == Site::NONE).count();
            let start = *trace.starts.get(slot + step)? as usize;
            let gap = old.get(end..start)?;
            // A value that goes on behind a comment or in a section ends elsewhere.
            let is_whole = gap.starts_with(b"</");
            if site.is_attribute() || step > MOST_MARKERS + 1 || !is_whole {
                return None;
            }
            let (first, front) = fields.first().map_or((slot, None), |it| (it.0, Some(it)));
            if front.is_some_and(|front| (front.1, front.2) == (site, gap)) {
                fields.push((slot, site, gap));
                break slot - first;
            }
            if fields.len() == MOST_FIELDS {
                return None;
            }
            fields.push((slot, site, gap));
            slot += step;
            end = start + memchr(b'<', old.get(start..)?)?;
        };
        Self::of(plan, &fields, count)
    }

    /// `found`: the fields of a row of `slots`, and the first of the next.
    fn of(plan: &Plan, found: &[(usize, Site, &[u8])], slots: usize) -> Option<Self> {
        let steps = found.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let lead = steps.clone().next_back()? - 1;
        let first = found.first()?.0.checked_sub(lead)?;
        let (mut fields, mut columns, mut before) = (Vec::new(), Vec::new(), lead);
        for (&(slot, site, gap), step) in found.iter().zip(steps) {
            let kind = plan.leaf(site.leaf()?).kind;
            if let Some(number) = kind.number()
                && before <= 1
            {
                columns.push(Column {
                    number,
                    marker: (before == 1).then_some(0),
                    separator: Separator::new(gap),
                });
            }
            fields.push(Field {
                site,
                kind,
                gap: Gap::new(gap)?,
                at: slot - first,
                lead: before,
                step,
            });
            before = step - 1;
        }
        if columns.len() < fields.len() {
            columns.clear();
        }
        let gaps = fields.iter().map(|field| field.gap.len() as u32);
        let sites = fields.iter().map(|field| field.site).cycle();
        let run = match fields.len() == slots {
            true => BLOCK + fields.len(),
            false => 0,
        };
        Some(Self {
            gaps: gaps.collect(),
            run: sites.take(run).collect(),
            order: (0..fields.len() as u8).cycle().take(run).collect(),
            fields,
            slots,
            first,
            columns,
        })
    }

    /// The field behind another.
    #[inline]
    pub(super) fn next(&self, index: usize) -> usize {
        match index + 1 < self.fields.len() {
            true => index + 1,
            false => 0,
        }
    }

    /// Which field is so many values behind another.
    #[inline]
    pub(super) fn ahead(&self, index: usize, values: usize) -> usize {
        match self.order.get(index + values) {
            Some(&field) => field.into(),
            None => (index + values) % self.fields.len().max(1),
        }
    }

    /// Which field a slot is, if it belongs to a row of this array.
    #[inline]
    pub(super) fn field_of(&self, slot: usize) -> Option<usize> {
        if let [only] = &*self.fields
            && self.slots == 1
        {
            return (slot >= self.first).then_some(only.lead);
        }
        let from = slot.checked_sub(self.first)?.checked_rem(self.slots)?;
        self.fields.iter().position(|field| field.at == from)
    }
}

/// The array at hand.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    pub(super) pattern: Pattern,
    /// A block of values: their slots and where they begin, markers among them.
    pub(super) slots: Vec<u64>,
    pub(super) starts: Vec<u32>,
    /// Where the rows passed in this stretch began in the old text.
    pub(super) passed: Vec<u32>,
    /// How many values have been read again in it.
    pub(super) values: usize,
    /// Whether that was found to be many.
    was_long: bool,
    /// So many rows, and it is time to look whether they were shifted.
    due: usize,
    /// How often it seemed so and was not.
    alarms: u32,
    /// How much further the new text seems to be than the old one, modulo 2⁶⁴.
    pub(super) hint: Option<usize>,
    /// The slot behind the last value that was read again, and about how many stay the same between two, in eighths.
    last: usize,
    sparse: usize,
    /// How many stretches in a row were short and close to one another.
    short: usize,
    /// Of a block of values, which differ and where those stand; where all stand; and how long those are that were read.
    pub(super) numbers: Vec<u32>,
    pub(super) others: Vec<u32>,
    pub(super) places: Vec<u32>,
    pub(super) lengths: Vec<u32>,
    pub(super) column: Gathered,
    /// Of a block of strings, those with references.
    pub(super) decoded: Decoded,
    /// No array is looked for before this slot; and how often there was none.
    learn_from: usize,
    failures: u32,
    /// Where there was none last, in this message or the one before.
    barren: Option<usize>,
}

/// Of values of several fields that differ, those of one field.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Which field each is of that differs.
    pub(super) fields: Vec<usize>,
    /// Which of them are gathered, and where those stand.
    pub(super) which: Vec<u32>,
    pub(super) places: Vec<u32>,
    /// What was read of them.
    pub(super) slots: Vec<u64>,
    pub(super) lengths: Vec<u32>,
}

impl Gathered {
    /// Gathers those of a field: no branch hangs on which they are.
    pub(super) fn take(&mut self, field: usize, others: &[u32]) {
        self.which.resize(others.len(), 0);
        self.places.resize(others.len(), 0);
        let mut count = 0;
        for (number, (&of, &place)) in self.fields.iter().zip(others).enumerate() {
            (self.which[count], self.places[count]) = (number as u32, place);
            count += usize::from(of == field);
        }
        self.which.truncate(count);
        self.places.truncate(count);
        self.slots.clear();
        self.lengths.clear();
    }
}

/// So many rows are read again before anything is suspected.
const FIRST: usize = 2;

impl Stretch {
    /// Another message. What follows what in it may be as it was in the one before: that is looked at wherever it is used.
    pub(super) fn restart(&mut self) {
        (self.hint, self.alarms, self.last, self.sparse) = (None, 0, 0, 8 * APART);
        (self.learn_from, self.failures, self.short) = (0, 0, 0);
        self.again();
    }

    /// Whether the array that a slot belongs to is worth a look.
    #[inline]
    pub(super) fn may_learn(&self, slot: usize) -> bool {
        slot >= self.learn_from && self.barren != Some(slot)
    }

    /// There was none, and is not likely to be soon.
    #[cold]
    pub(super) fn found_none(&mut self, slot: usize) {
        self.learn_from = slot + (16 << self.failures.min(16));
        self.barren = Some(slot);
        self.failures += 1;
    }

    /// The first value of an array.
    pub(super) fn begin(&mut self, pattern: Pattern) {
        self.pattern = pattern;
        self.again();
    }

    /// The first value of another stretch of it.
    #[inline]
    pub(super) fn again(&mut self) {
        self.passed.clear();
        (self.values, self.was_long) = (0, false);
        self.due = FIRST << (3 * self.alarms.min(8));
    }

    /// One more row.
    #[inline]
    pub(super) fn pass(&mut self, start: usize) {
        self.passed.push(start as u32);
    }

    /// The values passed since there were so many: only the first of each row is remembered.
    #[inline]
    pub(super) fn keep_rows(&mut self, begin: usize) {
        let width = self.pattern.slots.max(1);
        if width > 1 {
            let rows = (self.passed.len() - begin).div_ceil(width);
            for row in 1..rows {
                self.passed[begin + row] = self.passed[begin + row * width];
            }
            self.passed.truncate(begin + rows);
        }
    }

    /// Values were read again, from this slot on.
    #[inline]
    pub(super) fn note(&mut self, slot: usize) {
        let between = slot.saturating_sub(self.last).min(4 * APART);
        let is_short = self.values <= SHORT && between <= 2 * APART;
        self.short = if is_short { self.short + 1 } else { 0 };
        self.sparse += between;
        self.sparse -= self.sparse / 8;
    }

    /// ... and up to here.
    #[inline]
    pub(super) fn left(&mut self, slot: usize) {
        self.last = slot;
    }

    /// Whether so few values stay the same between those that do not that all are better read.
    #[inline]
    pub(super) fn is_dense(&self) -> bool {
        self.sparse < 8 * CLOSE
    }

    /// Whether values that differ are scattered among others, each row having nothing but its values.
    #[inline]
    pub(super) fn is_scattered(&self) -> bool {
        self.short >= OFTEN && self.pattern.fields.len() == self.pattern.slots
    }

    /// They are not, or not here.
    pub(super) fn is_not_scattered(&mut self) {
        self.short = 0;
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.passed.len() >= self.due
    }

    /// Whether it has just become long.
    #[inline]
    pub(super) fn is_long(&mut self) -> bool {
        let is_long = self.values >= LONG;
        is_long && !std::mem::replace(&mut self.was_long, true)
    }

    /// How far to look, this time; the next time is later, and further. Looking takes a fiftieth of the reading's time.
    pub(super) fn probe(&mut self) -> usize {
        let passed = self.passed.len();
        self.due = (4 * passed).max(64);
        match passed {
            0..=3 => 2,
            4..=15 => 4,
            _ => (passed / 8).max(16),
        }
    }

    /// The suspicion was wrong.
    pub(super) fn false_alarm(&mut self) {
        self.alarms += 1;
    }
}

/// So many values tell whether those that follow will be others too.
pub(super) const LONG: usize = 240;
/// Where so many values stay the same in between, values are far apart,
const APART: usize = 16;
/// and with so few, close.
const CLOSE: usize = 3;
/// Stretches up to so many values are short; and so many of them tell that the next will be, too.
const SHORT: usize = 6;
const OFTEN: usize = 4;
