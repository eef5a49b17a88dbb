//! Values of an array that change one after the other: read in step with those they take the place of, without a search for
//! each.
//!
//! What stands between two values leads from inside an element to inside the next, in either text; so as long as it is the
//! same, both are in step. It begins with an end tag, so nothing but the value can have come before it since its element
//! began.

use bsoap_codec::decode::Decoder;
use bsoap_datatypes::kernel::Kernel;
use bsoap_xml::scan;

use super::in_step::Before;
use super::pass::{ALIKE, LONG, Pass, Step, word};
use super::stretch::{Field, Pattern};
use crate::receive::change::note;

/// What has been read of a block of values.
pub(super) struct Block {
    /// How many values, and how many of them are others.
    pub(super) values: usize,
    pub(super) others: usize,
    /// How many are the same at its end.
    pub(super) same: usize,
    /// The field that comes next.
    pub(super) next: usize,
}

impl Block {
    /// So many values, in so many slots, all of which are the same.
    pub(super) fn of(values: usize, slots: usize) -> Self {
        Self {
            values,
            others: 0,
            same: slots,
            next: 0,
        }
    }

    /// From a slot on, of so many, those are others whose bits are set: one at least.
    #[inline]
    pub(super) fn count(&mut self, slots: usize, from: usize, others: u64) {
        self.others += others.count_ones() as usize;
        self.same = slots - (from + (u64::BITS - others.leading_zeros()) as usize);
    }
}

/// What ends a block of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The next row begins as it did, so that what follows may be the same.
    Same,
    /// Nothing but their number: most are others, and the rest is better read than passed.
    Rows(usize),
}

impl Until {
    /// How many rows at the most, where a block goes so `far` up to one that is the same; and whether all of them.
    #[inline]
    pub(super) fn rows(self, far: usize) -> (usize, bool) {
        match self {
            Self::Same => (far, false),
            Self::Rows(rows) => (rows, true),
        }
    }
}

/// Rows in a block up to one that is the same: at first, and at most.
const NEAR: usize = 64;
const FAR: usize = 256;
/// Rows in a block where some are the same: at least, and at most.
const FEW: usize = 8;
const MOST: usize = 32;
/// So many values that stay the same at the end of a block, and what follows is looked at first.
const SAME: usize = 3;

impl Pass {
    /// A value of an array was read again, and `o` and `n` are behind it: so are those that follow it, if they differ.
    pub(super) fn begin_stretch(
        &mut self,
        decoder: &mut Decoder,
        slot: usize,
        old: &[u8],
        new: &[u8],
    ) -> Step {
        if !self.stretch.may_learn(slot) {
            return Step::Read;
        }
        let trace = &self.history.trace;
        // The next value: behind some markers at the most.
        let next = trace.sites.get(self.cursor..).unwrap_or_default().iter();
        let Some(next) = next.take(4).position(|site| site.leaf().is_some()) else {
            return Step::Read;
        };
        let Some(gap) = trace
            .starts
            .get(self.cursor + next)
            .and_then(|&next| old.get(self.o..next as usize))
        else {
            return Step::Read;
        };
        let length = gap.len();
        let is_next = new.get(self.n..self.n + length) == Some(gap)
            && word(old, self.o + length) != word(new, self.n + length);
        if !is_next {
            return Step::Read;
        }
        let Some(pattern) = Pattern::learn(decoder.plan(), trace, slot, self.o, old) else {
            self.stretch.found_none(slot);
            return Step::Read;
        };
        self.stretch.begin(pattern);
        (self.o, self.n) = (self.o + length, self.n + length);
        let next = usize::from(self.stretch.pattern.fields.len() > 1);
        let step = self.follow(decoder, next, old, new);
        self.stretch.left(self.cursor);
        step
    }

    /// The same as [`leaf`](Self::leaf) for a value of the array at hand, in one go; nothing if it is not such a value.
    #[inline]
    pub(super) fn item(
        &mut self,
        decoder: &mut Decoder,
        slot: usize,
        start: usize,
        old: &[u8],
        new: &[u8],
    ) -> Option<Step> {
        let index = self.stretch.pattern.field_of(slot)?;
        let markers = slot.checked_sub(self.stretch.pattern.fields.get(index)?.lead)?;
        if markers < self.cursor {
            return None;
        }
        self.move_starts(markers);
        let (front, at) = (self.o, start.wrapping_add(self.shift()));
        let before = (self.o, self.n);
        (self.o, self.n) = (start, at);
        self.stretch.note(slot);
        self.stretch.again();
        if self.stretch.is_scattered() && self.scattered(decoder, index, old, new) {
            self.runs += 1;
            self.stretch.again();
            self.stretch.left(self.cursor);
            return Some(Step::Read);
        }
        let block = match index {
            0 => self.block(decoder, Until::Same, old, new),
            _ => None,
        };
        if block.is_none() && !self.value(decoder, index, front, old, new) {
            (self.o, self.n) = before;
            return None;
        }
        self.runs += 1;
        let next = block.map_or_else(|| self.stretch.pattern.next(index), |block| block.next);
        let step = self.follow(decoder, next, old, new);
        self.stretch.left(self.cursor);
        Some(step)
    }

    /// Goes on with values of the array at hand, while they differ. `o` and `n` are where the next begins, that of field
    /// `index`.
    fn follow(&mut self, decoder: &mut Decoder, mut index: usize, old: &[u8], new: &[u8]) -> Step {
        let mut until = match self.stretch.is_dense() {
            true => self.mixed(),
            false => Until::Same,
        };
        loop {
            if until == Until::Same && !differs(old, self.o, new, self.n) {
                return Step::Read;
            }
            if index == 0 {
                if self.stretch.is_due() && self.is_shifted(old, new) {
                    return Step::Shifted;
                }
                if self.stretch.is_long() && self.is_unlike(old, new) {
                    return Step::Unlike;
                }
                if let Some(block) = self.block(decoder, until, old, new) {
                    let is_mixed = block.others < block.values && block.same < SAME;
                    let is_mixed =
                        is_mixed && (until != Until::Same || differs(old, self.o, new, self.n));
                    until = if is_mixed { self.mixed() } else { Until::Same };
                    index = block.next;
                    continue;
                }
                until = Until::Same;
                self.stretch.pass(self.o);
            }
            if !self.value(decoder, index, self.o, old, new) {
                return Step::Read;
            }
            index = self.stretch.pattern.next(index);
        }
    }

    /// Reads the value of a field again, at `o` and `n`, and goes on behind what follows it. Texts are the same up to
    /// `differs`. Whether that was possible; if not, nothing is changed.
    #[inline]
    fn value(
        &mut self,
        decoder: &mut Decoder,
        index: usize,
        differs: usize,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        let pattern = &self.stretch.pattern;
        let Some(field) = pattern.fields.get(index) else {
            return false;
        };
        let before = Before::new(&self.history.trace, self.cursor, old);
        let Some(stands) = before.value(pattern, index, field.lead) else {
            return false;
        };
        if stands.end < differs || (field.kind.is_in_heap() && stands.end - stands.start > LONG) {
            return false;
        }
        let slot = self.cursor + field.lead;
        let (kind, gap) = (field.kind, field.gap.len());
        let Some(read) = self.read_value(decoder, index, new) else {
            return false;
        };
        self.hold_checkpoints(self.o);
        self.keep_value(slot, read, kind, new);
        self.history.trace.starts[self.cursor..=slot].fill(self.n as u32);
        self.cursor = slot + 1;
        self.touched += 1;
        self.stretch.values += 1;
        (self.o, self.n) = (stands.next, self.n + read.length + gap);
        true
    }

    /// Checkpoints up to a place of the old text hold, if there are any more.
    #[inline]
    pub(super) fn hold_checkpoints(&mut self, place: usize) {
        if self.next_checkpoint() <= place {
            self.hold(place);
        }
    }

    /// Reads rows at `o` and `n` together, as many as seem right or up to one that is the same. Nothing if not even one is
    /// plain, and in step with the old text; then nothing is changed.
    pub(super) fn block(
        &mut self,
        decoder: &Decoder,
        until: Until,
        old: &[u8],
        new: &[u8],
    ) -> Option<Block> {
        if self.stretch.pattern.columns.is_empty() {
            return self.block_of_texts(decoder, until, old, new);
        }
        if self.stretch.pattern.fields.len() == self.stretch.pattern.slots {
            return self.block_of_numbers(until, old, new);
        }
        let (rows, end) = self.read_block(until, old, new);
        let before = Before::new(&self.history.trace, self.cursor, old);
        let rows = before.rows(&self.stretch.pattern, rows);
        let slots = rows * self.stretch.pattern.slots;
        self.take_block(slots, end, |pass| pass.keep_block(slots))
    }

    /// Takes over the values just read, in so many slots, and goes on behind them; all that was read ends at `end`. Nothing
    /// if there are none.
    #[inline]
    pub(super) fn take_block(
        &mut self,
        slots: usize,
        end: u32,
        keep: impl FnOnce(&mut Self) -> Block,
    ) -> Option<Block> {
        let lead = self.stretch.pattern.fields.first()?.lead;
        let o = *self.history.trace.starts.get(self.cursor + slots + lead)?;
        let n = self.stretch.starts.get(slots + lead).copied();
        if slots == 0 {
            return None;
        }
        self.hold_block(slots);
        let block = keep(self);
        self.history.trace.starts[self.cursor..self.cursor + slots]
            .copy_from_slice(&self.stretch.starts[..slots]);
        self.pass_block(slots, (o as usize, n.unwrap_or(end) as usize), &block);
        Some(block)
    }

    /// Goes on behind a block, of so many slots, that has been taken over.
    #[inline]
    pub(super) fn pass_block(&mut self, slots: usize, behind: (usize, usize), block: &Block) {
        (self.o, self.n) = behind;
        self.cursor += slots;
        self.touched += block.others;
        self.in_blocks += block.others;
        self.stretch.values += block.values;
    }

    /// The next block, where most values are others but not all.
    fn mixed(&self) -> Until {
        Until::Rows((self.stretch.values / 8).clamp(FEW, MOST))
    }

    /// Rows in a block up to one that is the same: the longer a stretch has been, the more.
    #[inline]
    pub(super) fn far(&self) -> usize {
        self.stretch.values.clamp(NEAR, FAR)
    }

    /// Lets a kernel read rows of the new text. How many there are, and where the next begins.
    fn read_block(&mut self, until: Until, old: &[u8], new: &[u8]) -> (usize, u32) {
        let (rows, is_full) = until.rows(self.far());
        let stretch = &mut self.stretch;
        let Pattern {
            fields,
            slots: width,
            columns,
            ..
        } = &stretch.pattern;
        let (slots, starts) = (&mut stretch.slots, &mut stretch.starts);
        slots.clear();
        starts.clear();
        slots.reserve((rows + 1) * width);
        starts.reserve((rows + 1) * width);
        let (Some(first), Some(last)) = (fields.first(), fields.last()) else {
            return (0, 0);
        };
        // Where the next rows began. If one begins as it did, it is not read.
        let nexts = self.history.trace.starts.get(self.cursor + first.lead..);
        let nexts = nexts.and_then(|it| it.get(1..)).unwrap_or_default().iter();
        let gap = last.gap.len();
        let mut nexts = nexts.skip(width - 1).step_by(*width);
        let mut found = |column, at, length| {
            if fields
                .get(column)
                .is_some_and(|field: &Field| field.lead == 1)
            {
                starts.push(at as u32);
            }
            starts.push(at as u32);
            let next = at + length + gap;
            is_full
                || column + 1 < fields.len()
                || nexts
                    .next()
                    .is_some_and(|&place| differs(old, place as usize, new, next))
        };
        let stop = Kernel::best().read_rows_while(new, self.n, columns, rows, slots, &mut found);
        (stop.rows, stop.at as u32)
    }

    /// Checkpoints between the rows just read hold in the new text, each moved as what is behind it.
    fn hold_block(&mut self, slots: usize) {
        let pattern = &self.stretch.pattern;
        let lead = pattern.fields.first().map_or(0, |field| field.lead);
        let starts = &self.history.trace.starts[self.cursor..self.cursor + slots];
        match pattern.slots {
            1 => self.stretch.passed.extend_from_slice(starts),
            _ => {
                let rows = starts.get(lead..).unwrap_or_default();
                let rows = rows.iter().step_by(pattern.slots.max(1));
                self.stretch.passed.extend(rows);
            }
        }
        let Some(&last) = starts.last() else {
            return;
        };
        if self.next_checkpoint() > last as usize {
            return;
        }
        for slot in 0..slots {
            let start = self.history.trace.starts[self.cursor + slot] as usize;
            if self.next_checkpoint() <= start {
                (self.o, self.n) = (start, self.stretch.starts[slot] as usize);
                self.hold(start);
            }
        }
    }

    /// Takes over the values just read.
    fn keep_block(&mut self, slots: usize) -> Block {
        let (fields, width) = (
            &self.stretch.pattern.fields,
            self.stretch.pattern.slots.max(1),
        );
        let old = &mut self.slots[self.cursor..self.cursor + slots];
        let new = &mut self.stretch.slots[..slots];
        // Markers are what they were.
        for row in (0..slots).step_by(width) {
            let mut at = row;
            for field in fields {
                new[at..row + field.at].copy_from_slice(&old[at..row + field.at]);
                at = row + field.at + 1;
            }
            new[at..row + width].copy_from_slice(&old[at..row + width]);
        }
        let mut block = Block::of(slots / width * fields.len(), slots);
        let chunks = old.chunks_mut(64).zip(new.chunks(64)).enumerate();
        for (chunk, (old, new)) in chunks {
            let mut mask = 0u64;
            for (bit, (old, new)) in old.iter().zip(new).enumerate() {
                mask |= u64::from(old != new) << bit;
            }
            old.copy_from_slice(new);
            if mask != 0 {
                block.count(slots, chunk * 64, mask);
                note(&mut self.changed, self.cursor + chunk * 64, mask);
            }
        }
        block
    }

    /// Whether the value at `n` is one that was a little before or behind, so that values have been inserted or left out.
    #[cold]
    fn is_shifted(&mut self, old: &[u8], new: &[u8]) -> bool {
        let reach = self.stretch.probe();
        let sought = word(new, self.n);
        let pattern = &self.stretch.pattern;
        let lead = pattern.fields.first().map_or(0, |field| field.lead);
        let starts = &self.history.trace.starts;
        let ahead = starts.iter().skip(self.cursor + lead + pattern.slots);
        let ahead = ahead.step_by(pattern.slots.max(1)).take(reach);
        let behind = self.stretch.passed.iter().rev().take(reach);
        for &place in behind.chain(ahead) {
            let place = place as usize;
            if word(old, place) == sought {
                let same = scan::find_difference(&old[place..], &new[self.n..]);
                if same >= ALIKE {
                    self.stretch.hint = Some(self.n.wrapping_sub(place));
                    return true;
                }
            }
        }
        false
    }
}

/// Whether a value differs from the one that stood at `place`, by its first bytes.
#[inline(always)]
pub(super) fn differs(old: &[u8], place: usize, new: &[u8], at: usize) -> bool {
    word(old, place) != word(new, at)
}
