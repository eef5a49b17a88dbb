//! Values of an array that differ here and there: found by one compare of each with the one before, with no branch for any,
//! and then read together.
//!
//! ```text
//! old   <i>1.5</i><i>2.5</i><i>3.5</i><i>4.5</i><i>5.5</i>
//! new   <i>1.5</i><i>2.7</i><i>3.5</i><i>4.5</i><i>9.5</i>
//!          =         ≠         =         =         ≠          others: 1, 4
//! ```
//!
//! Where a value that differs ends, and so where the next begins, the next `<` tells; that it does is found out when it is
//! read.

use bsoap_codec::decode::Decoder;
use bsoap_datatypes::kernel::{Kernel, Listed, Stepped, Steps};

use super::follow::Until;
use super::in_step::Before;
use super::pass::{LONG, Pass};
use super::stretch::{BLOCK, Stretch};
use super::texts::Read;
use crate::receive::change::note_each;

/// So many eighths of a block differ, and it is better read as a whole.
const DENSE: usize = 5;

impl Pass {
    /// Goes on with values of the array at hand, of which some differ; `o` and `n` are where one of field `index` begins. As
    /// long as they are neither all the same nor nearly all others. Whether it has gone on at all.
    pub(super) fn scattered(
        &mut self,
        decoder: &mut Decoder,
        mut index: usize,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        let (begin, mut was_dense) = (self.cursor, false);
        loop {
            let stepped = self.sift(index, old, new);
            let (listed, values) = (stepped.listed, stepped.seen);
            if values == 0 {
                self.stretch.is_not_scattered();
                break;
            }
            if listed > 1 && 8 * listed > DENSE * values {
                if !was_dense
                    && index == 0
                    && let Some(next) = self.dense(decoder, values, old, new)
                {
                    (was_dense, index) = (true, next);
                    continue;
                }
                self.stretch.is_not_scattered();
                break;
            }
            was_dense = false;
            let done = self.read_others(decoder, index, stepped, old, new);
            index = self.stretch.pattern.ahead(index, done);
            if done < values {
                break;
            }
            if listed == 0 {
                self.stretch.is_not_scattered();
                break;
            }
        }
        self.cursor > begin
    }

    /// Reads so many of the next values, most of which differ, together. Which field comes next, if that was possible and
    /// some are the same.
    fn dense(&mut self, decoder: &Decoder, values: usize, old: &[u8], new: &[u8]) -> Option<usize> {
        let width = self.stretch.pattern.slots.max(1);
        let (begin, mut others, mut next) = (self.cursor, 0, None);
        while let left = (values + begin).saturating_sub(self.cursor)
            && left >= width
            && next.unwrap_or(0) == 0
            && let Some(block) = self.block(decoder, Until::Rows(left / width), old, new)
        {
            others += block.others;
            next = Some(block.next);
        }
        next.filter(|_| others < self.cursor - begin)
    }

    /// Lists which of the next values differ. How many were looked at.
    fn sift(&mut self, index: usize, old: &[u8], new: &[u8]) -> Stepped {
        let shift = self.shift();
        let trace = &self.history.trace;
        let stretch = &mut self.stretch;
        let starts = trace.starts.get(self.cursor..).unwrap_or_default();
        let before = Before::new(trace, self.cursor, old);
        let most = before.of_rows(&stretch.pattern, index, BLOCK);
        let steps = Steps {
            old,
            new,
            starts: starts.get(..=most).unwrap_or_default(),
            shift,
            gaps: &stretch.pattern.gaps,
            first: index,
        };
        for list in [
            &mut stretch.numbers,
            &mut stretch.others,
            &mut stretch.places,
        ] {
            list.resize(BLOCK, 0);
        }
        let mut listed = Listed {
            numbers: &mut stretch.numbers,
            others: &mut stretch.others,
            places: &mut stretch.places,
        };
        Kernel::best().list_changed(steps, &mut listed)
    }

    /// Reads those again that were listed, and passes all that were looked at; or up to one that cannot be read alone. How
    /// many it has passed.
    fn read_others(
        &mut self,
        decoder: &mut Decoder,
        index: usize,
        stepped: Stepped,
        old: &[u8],
        new: &[u8],
    ) -> usize {
        let read = self.read_places(index, stepped.listed, new);
        if read == stepped.listed && self.take_over(index, stepped, old) {
            return stepped.seen;
        }
        let begin = self.cursor;
        let mut done = stepped.seen;
        for number in 0..stepped.listed {
            let (value, place) = (self.stretch.numbers[number], self.stretch.others[number]);
            let read = (number < read).then(|| {
                let (slot, length) = (self.stretch.slots[number], self.stretch.lengths[number]);
                Read {
                    slot: Some(slot),
                    length: length as usize,
                }
            });
            let slot = begin + value as usize;
            self.go_to(slot, place as usize);
            let field = self.stretch.pattern.ahead(index, value as usize);
            if !self.read_other(decoder, field, slot, read, old, new) {
                done = value as usize;
                break;
            }
        }
        if done == stepped.seen {
            let slot = begin + done;
            let place = self.history.trace.starts[slot] as usize;
            self.go_to(slot, place.wrapping_add(stepped.shift));
        }
        done
    }

    /// Goes on to where a value begins, in the new text at `place`; what is in between is the same.
    #[inline]
    fn go_to(&mut self, slot: usize, place: usize) {
        (self.o, self.n) = (self.history.trace.starts[slot] as usize, place);
        self.hold_checkpoints(self.o);
        self.move_starts(slot);
    }

    /// Lets a kernel read the others, so many, if they are numbers. How many it has read.
    fn read_places(&mut self, index: usize, listed: usize, new: &[u8]) -> usize {
        let stretch = &mut self.stretch;
        let [column] = &*stretch.pattern.columns else {
            return match self.read_columns(index, listed, new) {
                Some(()) => listed,
                None => 0,
            };
        };
        let (number, separator) = (column.number, &column.separator);
        stretch.slots.clear();
        stretch.lengths.clear();
        let (slots, lengths) = (&mut stretch.slots, &mut stretch.lengths);
        let others = &stretch.others[..listed];
        Kernel::best().read_places(new, others, number, separator, slots, lengths)
    }

    /// The same for values of several fields, those of one field after those of another. Nothing if not all could be read.
    fn read_columns(&mut self, index: usize, listed: usize, new: &[u8]) -> Option<()> {
        let Stretch {
            pattern,
            numbers,
            others,
            slots,
            lengths,
            column: it,
            ..
        } = &mut self.stretch;
        let columns = &pattern.columns;
        if columns.is_empty() {
            return None;
        }
        slots.clear();
        slots.resize(listed, 0);
        lengths.clear();
        lengths.resize(listed, 0);
        it.fields.clear();
        let fields = numbers[..listed].iter();
        it.fields
            .extend(fields.map(|&number| pattern.ahead(index, number as usize)));
        for (field, column) in columns.iter().enumerate() {
            it.take(field, &others[..listed]);
            let (number, separator) = (column.number, &column.separator);
            let (read, places) = (&mut it.slots, &it.places);
            let kernel = Kernel::best();
            let count = kernel.read_places(new, places, number, separator, read, &mut it.lengths);
            if count < it.places.len() {
                return None;
            }
            let read = it.slots.iter().zip(&it.lengths);
            for (&at, (&slot, &length)) in it.which.iter().zip(read) {
                (slots[at as usize], lengths[at as usize]) = (slot, length);
            }
        }
        Some(())
    }

    /// Takes over all that a kernel has read, if the old text has such values there, too: what of it has not been looked at
    /// is where they end.
    fn take_over(&mut self, index: usize, stepped: Stepped, old: &[u8]) -> bool {
        let (begin, end) = (self.cursor, self.cursor + stepped.seen);
        let pattern = &self.stretch.pattern;
        let others = &self.stretch.numbers[..stepped.listed];
        let Some(starts) = self.history.trace.starts.get(begin..=end) else {
            return false;
        };
        let around = |value: u32| (starts[value as usize], starts[value as usize + 1]);
        let stand = match &*pattern.fields {
            [field] => others.iter().all(|&value| {
                let (start, next) = around(value);
                field.end(start, next, old).is_some()
            }),
            fields => others.iter().all(|&value| {
                let (start, next) = around(value);
                let field = fields.get(pattern.ahead(index, value as usize));
                field.is_some_and(|field| field.end(start, next, old).is_some())
            }),
        };
        if !stand {
            return false;
        }
        self.hold_among(stepped);
        // Hardly any is the same, if not spelled alike; those are passed without a branch.
        let (slots, others) = (&mut self.slots[begin..end], &mut self.stretch.numbers);
        let mut count = 0;
        for (number, &read) in self.stretch.slots[..stepped.listed].iter().enumerate() {
            let value = others[number];
            let slot = &mut slots[value as usize];
            others[count] = value;
            count += usize::from(*slot != read);
            *slot = read;
        }
        note_each(&mut self.changed, begin, &others[..count]);
        let (starts, places) = (&mut self.history.trace.starts, &self.stretch.places);
        starts[begin..end].copy_from_slice(&places[..stepped.seen]);
        self.cursor = end;
        self.touched += stepped.listed;
        self.in_blocks += stepped.listed;
        true
    }

    /// Goes on behind the values looked at. Checkpoints among them hold: they stand in gaps, which are the same, and where
    /// the value behind each stood and stands is known.
    #[inline]
    fn hold_among(&mut self, stepped: Stepped) {
        let starts = &self.history.trace.starts[self.cursor..=self.cursor + stepped.seen];
        let behind = starts[stepped.seen] as usize;
        while self.next_checkpoint() <= behind {
            let checkpoint = self.next_checkpoint();
            let starts = &self.history.trace.starts[self.cursor..=self.cursor + stepped.seen];
            let value = starts.partition_point(|&start| (start as usize) < checkpoint);
            self.o = starts[value] as usize;
            self.n = match value < stepped.seen {
                true => self.stretch.places[value] as usize,
                false => self.o.wrapping_add(stepped.shift),
            };
            self.hold(self.o);
        }
        (self.o, self.n) = (behind, behind.wrapping_add(stepped.shift));
    }

    /// Takes over the value at `o` and `n`, which has been `read` or is to be, and goes on behind its gap. Whether that was
    /// possible; if not, nothing is changed.
    #[inline]
    fn read_other(
        &mut self,
        decoder: &mut Decoder,
        index: usize,
        slot: usize,
        read: Option<Read>,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        let pattern = &self.stretch.pattern;
        let before = Before::new(&self.history.trace, 0, old);
        let (Some(field), Some(stands)) = (
            pattern.fields.get(index),
            before.value(pattern, index, slot),
        ) else {
            return false;
        };
        let (gap, kind) = (field.gap.len(), field.kind);
        if kind.is_in_heap() && stands.end - stands.start > LONG {
            return false;
        }
        let Some(read) = read.or_else(|| self.read_value(decoder, index, new)) else {
            return false;
        };
        let length = read.length;
        // A gap begins with a tag, and no value reaches beyond the first: where the next one stands was told by that.
        debug_assert!(!new[self.n..self.n + length].contains(&b'<'));
        self.keep_value(slot, read, kind, new);
        self.history.trace.starts[slot] = self.n as u32;
        self.cursor = slot + 1;
        self.touched += 1;
        self.in_blocks += 1;
        (self.o, self.n) = (stands.next, self.n + length + gap);
        true
    }
}
