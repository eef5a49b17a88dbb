//! Change sets: which slots of a message differ from those of the previous message.

use std::ops::Range;

/// What changed since the previous message, by slots of both Records.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    all: bool,
    /// If no slot moved, as is most often the case: a compact form, because large messages have many changes.
    in_place: Vec<Range<u32>>,
    /// Otherwise.
    moved: Vec<Span>,
}

impl PartialEq for Changes {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all && self.spans().eq(other.spans())
    }
}

impl Eq for Changes {}

/// Slots that changed. Slots outside of all spans are the same as before, the next to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where they were in the previous Record.
    pub before: Range<usize>,
    /// Where they are now. If there are as many, nothing was inserted or removed.
    pub now: Range<usize>,
}

/// Slots of the old Record that the decoder has read again, and those it wrote instead.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) old: Range<usize>,
    pub(super) now: Range<usize>,
    /// How many of the old ones, from the first on, count as changed, since they may have been changed in place before.
    pub(super) reread: usize,
}

impl Region {
    /// What changed of it. (Strings, which are elsewhere in the heap now, count as changed.)
    fn changed(&self, old: &[u64], new: &[u64]) -> Span {
        let (old, new) = (&old[self.old.clone()], &new[self.now.clone()]);
        let front = match self.reread {
            0 => old.iter().zip(new).take_while(|(a, b)| a == b).count(),
            _ => 0,
        };
        let (old, new) = (&old[front.max(self.reread.min(old.len()))..], &new[front..]);
        let pairs = old.iter().rev().zip(new.iter().rev());
        let back = pairs.take_while(|(a, b)| a == b).count();
        Span {
            before: self.old.start + front..self.old.end - back,
            now: self.now.start + front..self.now.end - back,
        }
    }
}

impl Changes {
    /// There is no previous message, or it was not compared: everything may have changed.
    pub fn all() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// These slots, in their order; no slot moved.
    pub(super) fn in_place(in_place: Vec<Range<u32>>) -> Self {
        Self {
            in_place,
            ..Self::default()
        }
    }

    /// What changed where the decoder read regions again. `changed`: slots of the old Record that changed in place; they are in no
    /// region, and in ascending order. `counts`: slots, now, of the counts of loops that were open behind a region.
    pub(super) fn in_regions(
        regions: &[Region],
        changed: impl Iterator<Item = Range<usize>>,
        counts: &[u32],
        (old, new): (&[u64], &[u64]),
    ) -> Self {
        let now = |slot: usize| {
            let behind = regions.partition_point(|region| region.old.end <= slot);
            let last = behind.checked_sub(1).map(|last| &regions[last]);
            last.map_or(slot, |last| slot - last.old.end + last.now.end)
        };
        let in_place = changed.map(|before| {
            let start = now(before.start);
            Span {
                now: start..start + before.len(),
                before,
            }
        });
        // The old slot of a count that is in no region follows from the region before it.
        let count = |&slot: &u32| {
            let slot = slot as usize;
            let behind = regions.partition_point(|region| region.now.start <= slot);
            let before = match behind.checked_sub(1).map(|last| &regions[last]) {
                Some(region) if slot < region.now.end => return None,
                Some(region) => slot - region.now.end + region.old.end,
                None => slot,
            };
            (old.get(before) != new.get(slot)).then(|| Span {
                before: before..before + 1,
                now: slot..slot + 1,
            })
        };
        let counts = counts.iter().filter_map(count);
        let read = regions.iter().map(|region| region.changed(old, new));
        let mut moved: Vec<Span> = in_place.chain(counts).chain(read).collect();
        moved.retain(|span| !(span.before.is_empty() && span.now.is_empty()));
        moved.sort_by_key(|span| (span.now.start, span.before.start, span.now.end));
        moved.dedup();
        Self {
            moved,
            ..Self::default()
        }
    }

    /// Whether everything may have changed, and no more is known.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        !self.all && self.in_place.is_empty() && self.moved.is_empty()
    }

    /// Whether all values are still in the slots they were in.
    pub fn keeps_places(&self) -> bool {
        let stays = |span: &Span| span.before.len() == span.now.len();
        !self.all && self.moved.iter().all(stays)
    }

    /// What changed, in the order of the slots; nothing if [all](Self::is_all) did.
    pub fn spans(&self) -> impl DoubleEndedIterator<Item = Span> + Clone {
        let in_place = self.in_place.iter().map(|slots| {
            let slots = slots.start as usize..slots.end as usize;
            Span {
                before: slots.clone(),
                now: slots,
            }
        });
        in_place.chain(self.moved.iter().cloned())
    }

    /// How many slots of the Record now may have changed, of `slots`.
    pub fn count(&self, slots: usize) -> usize {
        match self.all {
            true => slots,
            false => self.spans().map(|span| span.now.len()).sum(),
        }
    }
}

/// Adds the slots whose bits are set, from a slot on, to those that changed.
#[inline]
pub(super) fn note(changed: &mut Vec<Range<u32>>, from: usize, mut bits: u64) {
    let from = from as u32;
    if let Some(last) = changed.last_mut()
        && last.end == from
    {
        let more = bits.trailing_ones();
        last.end += more;
        bits = bits.checked_shr(more).unwrap_or(0) << (more % 64);
    }
    // Each run of ones: its first, and what is behind its last.
    let (mut firsts, mut ends) = (bits & !(bits << 1), !bits & (bits << 1));
    while firsts != 0 {
        let end = match ends {
            0 => 64,
            _ => ends.trailing_zeros(),
        };
        changed.push(from + firsts.trailing_zeros()..from + end);
        firsts &= firsts - 1;
        ends &= ends.wrapping_sub(1);
    }
}

/// Adds slots in ascending order, numbered from one on, without a branch that depends on which are consecutive.
#[inline]
pub(super) fn note_each(changed: &mut Vec<Range<u32>>, from: usize, numbers: &[u32]) {
    let Some(&first) = numbers.first() else {
        return;
    };
    let first = from as u32 + first;
    let mut last = changed.pop().unwrap_or(first..first);
    let begin = changed.len();
    changed.resize(begin + 1 + numbers.len(), 0..0);
    let (out, mut at) = (&mut changed[begin..], 0);
    out[0] = last.clone();
    for &number in numbers {
        let slot = from as u32 + number;
        let is_next = slot == last.end;
        at += usize::from(!is_next);
        last.start = if is_next { last.start } else { slot };
        last.end = slot + 1;
        out[at] = last.clone();
    }
    changed.truncate(begin + at + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_are_set_are_slots_that_changed() {
        for bits in [
            0,
            1,
            0b1011_0110,
            u64::MAX,
            1 << 63,
            u64::MAX << 60,
            !1,
            0x5555_5555_5555_5555,
        ] {
            for before in [None, Some(0..3), Some(5..10)] {
                let mut changed = Vec::from_iter(before.clone());
                note(&mut changed, 10, bits);
                let ones = (0..64).filter(|bit| bits >> bit & 1 == 1);
                let numbers: Vec<u32> = ones.collect();
                let found: Vec<u32> = changed.iter().cloned().flatten().collect();
                let now = numbers.iter().map(|number| 10 + number);
                let expected: Vec<u32> = before.iter().cloned().flatten().chain(now).collect();
                assert_eq!(found, expected, "{bits:b}");
                assert!(changed.windows(2).all(|pair| pair[0].end < pair[1].start));
                let mut each = Vec::from_iter(before);
                note_each(&mut each, 10, &numbers);
                assert_eq!(each, changed, "{bits:b}");
            }
        }
    }
}
