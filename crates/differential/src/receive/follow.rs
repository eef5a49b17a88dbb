//! Values of an array that change one after the other: read in step with those they take the place of, without a search for
//! each.
//!
//! What stands between two values leads from inside an element to inside the next, in either text; so as long as it is the
//! same, both are in step. It begins with an end tag, so nothing but the value can have come before it since its element
//! began.

use bsoap_codec::decode::{Decoder, parse_number};
use bsoap_datatypes::kernel::Kernel;
use bsoap_xml::scan;

use super::pass::{ALIKE, LONG, Pass, Step, word};
use super::stretch::Pattern;

/// What has been read of a block of values.
struct Block {
    /// How many values, and how many of them are others.
    values: usize,
    others: usize,
    /// How many are the same at its end.
    same: usize,
}

/// Rows in a block: at first, and at most.
const FIRST: usize = 8;
const MOST: usize = 64;
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
        if !self.value(decoder, index, front, old, new) {
            (self.o, self.n) = before;
            return None;
        }
        self.runs += 1;
        self.stretch.note(slot);
        self.stretch.again();
        let next = self.next_field(index);
        let step = self.follow(decoder, next, old, new);
        self.stretch.left(self.cursor);
        Some(step)
    }

    #[inline]
    fn next_field(&self, index: usize) -> usize {
        match index + 1 < self.stretch.pattern.fields.len() {
            true => index + 1,
            false => 0,
        }
    }

    /// Goes on with values of the array at hand, while they differ. `o` and `n` are where the next begins, that of field
    /// `index`.
    fn follow(&mut self, decoder: &mut Decoder, mut index: usize, old: &[u8], new: &[u8]) -> Step {
        let mut are_all_read = self.stretch.is_dense();
        loop {
            if !are_all_read && word(old, self.o) == word(new, self.n) {
                return Step::Read;
            }
            if index == 0 {
                if self.stretch.is_due() && self.is_shifted(old, new) {
                    return Step::Shifted;
                }
                if self.stretch.is_long() && self.is_unlike(old, new) {
                    return Step::Unlike;
                }
                if let Some(block) = self.block(old, new) {
                    are_all_read = block.others < block.values && block.same < SAME;
                    continue;
                }
                are_all_read = false;
                self.stretch.pass(self.o);
            }
            if !self.value(decoder, index, self.o, old, new) {
                return Step::Read;
            }
            index = self.next_field(index);
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
        let trace = &self.history.trace;
        let fields = &self.stretch.pattern.fields;
        let (field, after) = (&fields[index], &fields[self.next_field(index)]);
        let slot = self.cursor + field.lead;
        let next = slot + field.step;
        let (Some(&start), Some(&site)) = (trace.starts.get(next), trace.sites.get(next)) else {
            return false;
        };
        let end = (start as usize).wrapping_sub(field.gap.len());
        if trace.sites[slot] != field.site
            || (field.kind.is_in_heap() && end.wrapping_sub(self.o) > LONG)
            || site != after.site
            || end < differs
            || end >= old.len()
            || !field.gap.stands_at(old, end)
        {
            return false;
        }
        let (kind, site, gap) = (field.kind, field.site, field.gap);
        let text = new.get(self.n..).unwrap_or_default();
        let read = match kind.is_in_heap() {
            false => parse_number(kind, text),
            true => decoder.read_again(site, new, self.n, &mut self.fresh),
        };
        let Some((value, length)) = read.filter(|(_, length)| gap.stands_at(text, *length)) else {
            return false;
        };
        self.hold_checkpoints(self.o);
        self.keep(slot, value, kind);
        self.history.trace.starts[self.cursor..=slot].fill(self.n as u32);
        self.cursor = slot + 1;
        self.touched += 1;
        self.stretch.values += 1;
        (self.o, self.n) = (start as usize, self.n + length + gap.len());
        true
    }

    /// Checkpoints up to a place of the old text hold, if there are any more.
    #[inline]
    fn hold_checkpoints(&mut self, place: usize) {
        if self.next_checkpoint() <= place {
            self.hold(place);
        }
    }

    /// Reads rows at `o` and `n` together, as many as seem right. Nothing if not even one is plain, and in step with the old
    /// text; then nothing is changed.
    fn block(&mut self, old: &[u8], new: &[u8]) -> Option<Block> {
        if self.stretch.pattern.columns.is_empty() {
            return None;
        }
        let rows = (self.stretch.values / 8).clamp(FIRST, MOST);
        let (rows, end) = self.read_block(rows, new);
        let rows = self.in_step(rows, old);
        let slots = rows * self.stretch.pattern.slots;
        let lead = self.stretch.pattern.fields.first()?.lead;
        let (o, n) = (
            *self.history.trace.starts.get(self.cursor + slots + lead)? as usize,
            self.stretch
                .starts
                .get(slots + lead)
                .copied()
                .unwrap_or(end) as usize,
        );
        if rows == 0 {
            return None;
        }
        self.hold_block(slots);
        let block = self.keep_block(slots);
        self.history.trace.starts[self.cursor..self.cursor + slots]
            .copy_from_slice(&self.stretch.starts[..slots]);
        (self.o, self.n) = (o, n);
        self.cursor += slots;
        self.touched += block.values;
        self.stretch.values += block.values;
        Some(block)
    }

    /// Lets a kernel read rows of the new text. How many there are, and where the next begins.
    fn read_block(&mut self, rows: usize, new: &[u8]) -> (usize, u32) {
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
        let kernel = Kernel::best();
        if let ([column], [field]) = (&**columns, &**fields)
            && field.lead == 0
        {
            let (number, separator) = (column.number, &column.separator);
            let end = kernel.read_array(new, self.n, number, separator, rows, slots, |at, _| {
                starts.push(at as u32);
            });
            return (slots.len(), end as u32);
        }
        let stop = kernel.read_rows(new, self.n, columns, rows, slots, |column, at, _| {
            if fields.get(column).is_some_and(|field| field.lead == 1) {
                starts.push(at as u32);
            }
            starts.push(at as u32);
        });
        (stop.rows, stop.at as u32)
    }

    /// How many of the rows just read stand where the old text has such rows too.
    fn in_step(&mut self, rows: usize, old: &[u8]) -> usize {
        let trace = &self.history.trace;
        let pattern = &self.stretch.pattern;
        let Some(first) = pattern.fields.first() else {
            return 0;
        };
        let from = self.cursor.min(trace.starts.len());
        let (starts, sites) = (&trace.starts[from..], &trace.sites[from..]);
        // The first value of the row behind them must be there, too.
        let most = starts.len().saturating_sub(first.lead + 1) / pattern.slots;
        let rows = rows.min(most);
        for row in 0..rows {
            let row_at = row * pattern.slots;
            for field in &pattern.fields {
                let slot = row_at + field.at;
                let (start, next) = (starts[slot] as usize, starts[slot + field.step] as usize);
                let end = next.wrapping_sub(field.gap.len());
                if sites[slot] != field.site
                    || end < start
                    || end >= old.len()
                    || !field.gap.stands_at(old, end)
                {
                    return row;
                }
            }
            if sites[row_at + pattern.slots + first.lead] != first.site {
                return row;
            }
        }
        rows
    }

    /// Checkpoints between the rows just read hold in the new text, each moved as what is behind it.
    fn hold_block(&mut self, slots: usize) {
        let pattern = &self.stretch.pattern;
        let lead = pattern.fields.first().map_or(0, |field| field.lead);
        let rows = (0..slots).step_by(pattern.slots.max(1));
        for row in rows {
            let start = self.history.trace.starts[self.cursor + row + lead];
            self.stretch.passed.push(start);
        }
        let Some(&last) = self.history.trace.starts[self.cursor..self.cursor + slots].last() else {
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
        let (fields, width) = (&self.stretch.pattern.fields, self.stretch.pattern.slots);
        let (mut others, mut same) = (0, 0);
        let old = &mut self.slots[self.cursor..self.cursor + slots];
        let new = &self.stretch.slots[..slots];
        if width == 1 {
            for (index, (old, new)) in old.iter_mut().zip(new).enumerate() {
                let is_other = *old != *new;
                *old = *new;
                others += usize::from(is_other);
                same = if is_other { 0 } else { same + 1 };
                if is_other {
                    let slot = self.cursor + index;
                    match self.changed.last_mut() {
                        Some(last) if last.end == slot => last.end += 1,
                        _ => self.changed.push(slot..slot + 1),
                    }
                }
            }
            return Block {
                values: slots,
                others,
                same,
            };
        }
        for row in (0..slots).step_by(width.max(1)) {
            for field in fields {
                let at = row + field.at;
                if old[at] == new[at] {
                    same += 1;
                    continue;
                }
                old[at] = new[at];
                (others, same) = (others + 1, 0);
                let slot = self.cursor + at;
                match self.changed.last_mut() {
                    Some(last) if last.end == slot => last.end += 1,
                    _ => self.changed.push(slot..slot + 1),
                }
            }
        }
        Block {
            values: slots / width.max(1) * fields.len(),
            others,
            same,
        }
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
