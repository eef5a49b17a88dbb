//! Runs: values of an array that change one after the other are read together with the old values, without a search for
//! each difference.

use bsoap_codec::decode::Decoder;

use super::pass::{LONG_STRING, Pass, Step, differs, word};
use super::rows::RowPattern;
use super::run::LONG_RUN;

impl Pass {
    /// Begins a run after the value in `slot`, which was re-read; `o` and `n` are at its end. Reads the values after it while
    /// they differ, if they belong to an array.
    pub(super) fn begin_run(
        &mut self,
        decoder: &mut Decoder,
        slot: usize,
        old: &[u8],
        new: &[u8],
    ) -> Step {
        self.run.begin();
        self.run.finish(self.cursor);
        let trace = &self.history.trace;
        // At most three markers may precede the next value.
        let next = trace.sites.get(self.cursor..).unwrap_or_default().iter();
        let next = next.take(4).position(|site| site.leaf().is_some());
        let next = next.and_then(|next| trace.starts.get(self.cursor + next));
        let Some(gap) = next.and_then(|&next| old.get(self.o..next as usize)) else {
            return Step::Read;
        };
        let (o, n) = (self.o + gap.len(), self.n + gap.len());
        if new.get(self.n..n) != Some(gap) || word(old, o) == word(new, n) {
            return Step::Read;
        }
        let site = trace.sites[slot];
        let is_of = |pattern: &RowPattern| {
            let field = pattern.field_of(slot);
            field.is_some_and(|field| pattern.fields[field].site == site)
        };
        if !self.run.pattern.as_deref().is_some_and(is_of) {
            if !self.run.may_learn(slot) {
                return Step::Read;
            }
            match RowPattern::learn(decoder.plan(), trace, slot, self.o, old) {
                Some(pattern) => self.run.pattern = Some(Box::new(pattern)),
                None => {
                    self.run.found_none(slot);
                    return Step::Read;
                }
            }
        }
        let Some(pattern) = self.run.pattern.take() else {
            return Step::Read;
        };
        let index = pattern.field_of(slot).map_or(0, |field| field + 1);
        let index = if index < pattern.fields.len() {
            index
        } else {
            0
        };
        (self.o, self.n) = (o, n);
        self.run.values = 1;
        let step = self.follow(decoder, &pattern, index, old, new);
        self.run.finish(self.cursor);
        self.run.pattern = Some(pattern);
        step.unwrap_or(Step::Read)
    }

    /// Re-reads a value of the current array, which begins at `start` in the old text, and those after it while they differ.
    /// `None` if the slot does not belong to that array; then nothing is changed.
    #[inline]
    pub(super) fn item(
        &mut self,
        decoder: &mut Decoder,
        slot: usize,
        start: usize,
        old: &[u8],
        new: &[u8],
    ) -> Option<Step> {
        let pattern = self.run.pattern.take()?;
        let step = self.item_of(decoder, &pattern, (slot, start), old, new);
        self.run.pattern = Some(pattern);
        step
    }

    fn item_of(
        &mut self,
        decoder: &mut Decoder,
        pattern: &RowPattern,
        (slot, start): (usize, usize),
        old: &[u8],
        new: &[u8],
    ) -> Option<Step> {
        let index = pattern.field_of(slot)?;
        let begin = slot.checked_sub(pattern.fields[index].lead)?;
        self.run.find(slot);
        // If values cannot be read in blocks, reading the first one alone costs less.
        let is_cheap = !pattern.columns.is_empty() || pattern.width == 1 || self.run.is_scattered();
        if begin < self.cursor || !is_cheap {
            return None;
        }
        self.move_starts(begin);
        let before = (self.o, self.n);
        (self.o, self.n) = (start, start.wrapping_add(self.shift()));
        self.run.begin();
        let step = self.follow(decoder, pattern, index, old, new);
        match step {
            Some(_) => {
                self.runs += 1;
                self.run.finish(self.cursor);
            }
            None => (self.o, self.n) = before,
        }
        step
    }

    /// Reads values from field `index` of a row on, at `o` and `n`, while they differ. `None` if not even one could be read.
    fn follow(
        &mut self,
        decoder: &mut Decoder,
        pattern: &RowPattern,
        mut index: usize,
        old: &[u8],
        new: &[u8],
    ) -> Option<Step> {
        let begin = self.cursor;
        loop {
            self.hold_checkpoints(self.o);
            if self.run.is_scattered() {
                let block = self.changed_values(decoder, pattern, index, old, new);
                index = pattern.field(index, block.values);
                self.run.values += block.read;
                if block.is_last || block.read == 0 {
                    self.run.is_not_scattered();
                    return (self.cursor > begin).then_some(Step::Read);
                }
                continue;
            }
            let mut read = 0;
            if index == 0 {
                read = self.number_run(pattern, old, new);
                if read == 0 {
                    read = self.text_run(decoder, pattern, old, new);
                }
            }
            if read == 0 {
                let value = self.next_value(decoder, pattern, index, old, new);
                read = usize::from(value.is_some());
            }
            self.run.values += read;
            index = pattern.field(index, read);
            if read == 0 {
                // The run was ended by a value that cannot be read here, not by an unchanged one.
                self.run.is_not_scattered();
            }
            if read == 0 || !differs(old, self.o, new, self.n) {
                return (self.cursor > begin).then_some(Step::Read);
            }
            if index == 0 {
                if self.run.is_due() {
                    let next = (self.cursor + pattern.fields[0].lead, self.o, self.n);
                    let reach = self.run.reach();
                    if self.find_shift(next, reach, old, new) {
                        return Some(Step::Shifted);
                    }
                }
                if self.run.is_long() && self.is_unlike(old, new) {
                    return Some(Step::Unlike);
                }
            }
        }
    }

    /// Reads one value of field `index` at `o` and `n`. `None` if that is not possible; then nothing is changed.
    fn next_value(
        &mut self,
        decoder: &mut Decoder,
        pattern: &RowPattern,
        index: usize,
        old: &[u8],
        new: &[u8],
    ) -> Option<()> {
        let (field, trace) = (&pattern.fields[index], &self.history.trace);
        if pattern.count(index, 1, trace.sites.get(self.cursor..)?) == 0 {
            return None;
        }
        let slot = self.cursor + field.lead;
        let next = *trace.starts.get(self.cursor + pattern.slot(index, 1))?;
        let end = field.end(self.o as u32, next, old)?;
        if field.kind.is_in_heap() && end - self.o > LONG_STRING {
            return None;
        }
        let (is_other, length) = self.read_into(decoder, field, slot, self.n, new)?;
        if is_other {
            self.mark(slot);
        }
        self.history.trace.starts[self.cursor..=slot].fill(self.n as u32);
        self.cursor = slot + 1;
        self.touched += 1;
        (self.o, self.n) = (next as usize, self.n + length + field.gap.len());
        Some(())
    }

    /// Whether the message is probably new as a whole: many values were re-read, at least seven eighths of all so far, and at
    /// most one sample of the text ahead is equal.
    #[cold]
    fn is_unlike(&self, old: &[u8], new: &[u8]) -> bool {
        self.touched >= LONG_RUN
            && 8 * self.touched >= 7 * self.cursor
            && self.like_ahead(old, new) < 2
    }
}
