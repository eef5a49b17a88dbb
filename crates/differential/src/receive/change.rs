//! Change sets: which slots of a message differ from those of the previous message.

use std::ops::Range;

/// The slots that changed since the previous message.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Whether everything may have changed. Then there are no spans.
    all: bool,
    /// The changed slots, if no slot moved. This form is compact, because large messages can have many changes.
    in_place: Vec<Range<u32>>,
    /// The changed slots, if slots moved.
    moved: Vec<Span>,
}

impl PartialEq for Changes {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all && self.spans().eq(other.spans())
    }
}

impl Eq for Changes {}

/// A range of slots that changed. Slots outside of all spans did not change and are in the same order as before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The slots in the previous Record.
    pub before: Range<usize>,
    /// The slots in the new Record. If there are as many as before, nothing was inserted or removed.
    pub now: Range<usize>,
}

/// A part of a message that the decoder has read again because its markup differed.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// The slots of the old Record that were replaced.
    pub(super) old: Range<usize>,
    /// The slots that the decoder wrote instead.
    pub(super) now: Range<usize>,
    /// The number of old slots, from the first on, that count as changed because they may have been changed in place before.
    pub(super) reread: usize,
}

impl Region {
    /// The slots that changed in this region. Strings count as changed, because their place in the heap is new.
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
    /// A change set that says that everything may have changed: there was no previous message, or it was not compared.
    pub fn all() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// A change set of these slots, which are in ascending order. No slot moved.
    pub(super) fn in_place(in_place: Vec<Range<u32>>) -> Self {
        Self {
            in_place,
            ..Self::default()
        }
    }

    /// A change set of a message of which the decoder read `regions` again. `changed`: the slots of the old Record that
    /// changed in place, in ascending order, outside of the regions. `counts`: the new slots of the counts of loops that were
    /// open behind a region. The last argument has the old and the new slots.
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

    /// Whether everything may have changed.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        !self.all && self.in_place.is_empty() && self.moved.is_empty()
    }

    /// Whether all values are in the same slots as before.
    pub fn keeps_places(&self) -> bool {
        let stays = |span: &Span| span.before.len() == span.now.len();
        !self.all && self.moved.iter().all(stays)
    }

    /// The ranges of slots that changed, in ascending order; empty if [everything](Self::is_all) may have changed.
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

    /// The number of slots of the new Record, which has `slots`, that may have changed.
    pub fn count(&self, slots: usize) -> usize {
        match self.all {
            true => slots,
            false => self.spans().map(|span| span.now.len()).sum(),
        }
    }
}

/// Appends to `changed` the slots whose bits are set in `bits`; the lowest bit is slot `from`.
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
    // The first bit of each run of ones, and the bit behind its last.
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

/// Appends the slots `from` + `numbers`, which are in ascending order, to `changed`. No branch depends on which slots are
/// consecutive.
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
