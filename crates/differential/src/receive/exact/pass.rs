//! One message compared with the one before.
//!
//! ```text
//! old   ───────────────●━━━●──────────────●━━━━━━●────────── end
//! new   ───────────────●━━━━━●──────────────●━━●──────────── end
//!        same          leaf   same, moved    markup  same, moved again
//! ```
//!
//! Two places, `o` in the old text and `n` in the new, go forward together. What lies before them has been read; the decoder
//! would be in the same state at both, counts of loops aside. While the bytes are the same, so is what follows. Where they
//! differ inside a value, that value is read again, and the places go on behind it. Anything else is
//! [restructuring](super::restructure): the decoder itself reads on, from a checkpoint before the difference.

use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::decode::{Checkpoint, Decoder, Loop, Site, Trace};
use bsoap_codec::plan::LeafKind;
use bsoap_codec::{Plan, Record, plan::ElementId};
use bsoap_xml::scan;
use memchr::memchr;

use super::history::History;
use super::locate::locate;
use super::stretch::{self, Stretch};
use super::strings::{Reread, octets, slot_of};
use crate::receive::policy::Policy;
use crate::receive::received::Fail;

/// Slots of the old Record that were read again by the decoder, and what they became.
#[derive(Clone, Debug)]
pub(super) struct Splice {
    /// The slots of the old Record that are replaced.
    pub(super) old: Range<usize>,
    /// What replaces them.
    pub(super) fresh: Range<usize>,
    /// Those of the old ones, from the first on, among which some had been read again in place: they are not what they were.
    pub(super) reread: Range<usize>,
    /// The loops open where it begins. In the fresh slots, as many before its own hold their counts.
    pub(super) loops: Vec<Loop>,
}

/// Where both texts came together again.
#[derive(Clone, Debug)]
pub(super) struct Join {
    /// The decoder's state in the message before, there.
    pub(super) old: Checkpoint,
    pub(super) old_loops: Vec<Loop>,
    /// Its state in this message; slots as [`Pass::load`] counts them.
    pub(super) new: Checkpoint,
    pub(super) new_loops: Vec<Loop>,
}

/// A checkpoint of the old text that holds in the new text too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) index: usize,
    /// Where it is in the new text.
    pub(super) offset: usize,
    /// How many joins come before it.
    pub(super) joins: usize,
}

/// A message on its way.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) policy: Policy,
    pub(super) history: History,
    pub(super) o: usize,
    pub(super) n: usize,
    /// Whether the values have been taken out of the history, to be changed.
    pub(super) begun: bool,
    /// The slots of the old Record, with what was read again in place.
    pub(super) slots: Vec<u64>,
    /// What the decoder reads: slots to be inserted. Its heap is that of the message.
    pub(super) fresh: Record,
    pub(super) fresh_trace: Trace,
    /// From this slot of the old Record on, the trace is still that of the old text.
    pub(super) cursor: usize,
    /// The checkpoint of the old text that comes next.
    pub(super) next: usize,
    /// So many checkpoints hold where they are; then come those held elsewhere.
    pub(super) in_place: usize,
    pub(super) held: Vec<Held>,
    pub(super) joins: Vec<Join>,
    pub(super) splices: Vec<Splice>,
    /// Checkpoints taken where the decoder read, and in which splice.
    pub(super) taken: Vec<(usize, Checkpoint)>,
    /// Slots of the old Record whose values changed in place.
    pub(super) changed: Vec<Range<u32>>,
    /// Counts among them, in no order.
    pub(super) counts: Vec<usize>,
    /// The array at hand.
    pub(super) stretch: Stretch,
    /// How many values were read again alone, and in how many stretches.
    pub(super) touched: usize,
    pub(super) runs: usize,
    /// How many of those in blocks.
    pub(super) in_blocks: usize,
    /// Before so many stretches nothing is given up.
    patience: usize,
    pub(super) gave_up: bool,
    /// How many messages in a row had nothing in common behind the first difference of their structure.
    pub(super) lost: u32,
    /// The rest has been read by the decoder.
    pub(super) ended: bool,
}

/// What became of a difference.
pub(super) enum Step {
    /// The value it was in has been read again.
    Read,
    /// Values have been inserted or left out.
    Shifted,
    /// So far hardly any value has been the same.
    Unlike,
    /// It is not in a value, or that is not plain.
    Other,
    /// Most of the message is a string that is another.
    Lost,
}

impl Pass {
    /// For the messages of a Plan, one after the other.
    pub(super) fn new(policy: Policy, plan: &Arc<Plan>) -> Self {
        Self {
            policy,
            history: History::default(),
            o: 0,
            n: 0,
            begun: false,
            slots: Vec::new(),
            fresh: Record::new(plan.clone(), ElementId(0)),
            fresh_trace: Trace::default(),
            cursor: 0,
            next: 0,
            in_place: 0,
            held: Vec::new(),
            joins: Vec::new(),
            splices: Vec::new(),
            taken: Vec::new(),
            changed: Vec::new(),
            counts: Vec::new(),
            stretch: Stretch::default(),
            touched: 0,
            runs: 0,
            in_blocks: 0,
            patience: FEW,
            gave_up: false,
            lost: 0,
            ended: false,
        }
    }

    /// Begins a message that is to be compared; keeps the memory.
    pub(super) fn start(&mut self, history: History) {
        self.fresh.clear(history.root.0);
        self.history = history;
        (self.o, self.n, self.cursor, self.next) = (0, 0, 0, 0);
        (self.touched, self.runs, self.patience) = (0, 0, FEW);
        (self.begun, self.gave_up, self.ended) = (false, false, false);
        (self.in_place, self.in_blocks) = (0, 0);
        self.slots.clear();
        self.fresh_trace.clear();
        self.held.clear();
        self.joins.clear();
        self.splices.clear();
        self.taken.clear();
        self.changed.clear();
        self.counts.clear();
        self.stretch.restart();
    }

    /// Memory that a large message took is not kept for ever.
    pub(super) fn give_back(&mut self) {
        self.history = History::default();
        if self.slots.capacity() > LARGE || self.fresh.memory() > LARGE {
            *self = Self::new(self.policy, &self.fresh.plan().clone());
        }
    }

    /// Reads a new text, as what differs from the old one.
    pub(super) fn advance(&mut self, decoder: &mut Decoder, new: &[u8]) -> Result<(), Fail> {
        let text = std::mem::take(&mut self.history.text);
        let result = self.compare(decoder, text.bytes(), new);
        self.history.text = text;
        result
    }

    fn compare(&mut self, decoder: &mut Decoder, old: &[u8], new: &[u8]) -> Result<(), Fail> {
        loop {
            let same = match (old.get(self.o..), new.get(self.n..)) {
                (Some(old), Some(new)) => scan::find_difference(old, new),
                _ => return Err(Fail),
            };
            (self.o, self.n) = (self.o + same, self.n + same);
            if self.n == new.len() && self.o == old.len() {
                return Ok(());
            }
            if !self.begun {
                self.begin()?;
            }
            self.hold(self.o);
            match self.leaf(decoder, old, new) {
                Step::Read if self.is_worth_it() || self.will_be(old, new) => continue,
                Step::Read | Step::Unlike => {
                    self.gave_up = true;
                    if self.is_early() {
                        return Err(Fail);
                    }
                }
                Step::Shifted => self.hold(self.o),
                Step::Other => {}
                Step::Lost => {
                    self.gave_up = true;
                    return Err(Fail);
                }
            }
            self.restructure(decoder, old, new)?;
            if self.ended {
                return Ok(());
            }
        }
    }

    /// The first difference: the values are taken out, to be changed. Those that somebody else holds are copied.
    fn begin(&mut self) -> Result<(), Fail> {
        if self.o < self.history.opened {
            return Err(Fail);
        }
        let record = self.history.record.as_mut().ok_or(Fail)?;
        if u32::try_from(record.slots().len()).is_err() {
            return Err(Fail);
        }
        let (slots, heap) = self.fresh.parts_mut();
        match Arc::get_mut(record) {
            Some(record) => {
                let (own_slots, own_heap) = record.parts_mut();
                std::mem::swap(&mut self.slots, own_slots);
                std::mem::swap(heap, own_heap);
            }
            None => {
                self.slots.extend_from_slice(record.slots());
                heap.extend_from_slice(record.heap());
            }
        }
        slots.clear();
        self.begun = true;
        Ok(())
    }

    /// How much further the new text is than the old, modulo 2⁶⁴.
    #[inline]
    pub(super) fn shift(&self) -> usize {
        self.n.wrapping_sub(self.o)
    }

    /// Checkpoints up to a place of the old text hold in the new text, moved as the text is.
    #[inline]
    pub(super) fn hold(&mut self, place: usize) {
        let shift = self.shift();
        while let Some(checkpoint) = self.history.checkpoints.get(self.next)
            && checkpoint.offset() <= place as u64
        {
            // The first ones stay where they are, most often all of them: that need not be noted.
            if shift != 0 || !self.joins.is_empty() || !self.held.is_empty() {
                self.held.push(Held {
                    index: self.next,
                    offset: (checkpoint.offset() as usize).wrapping_add(shift),
                    joins: self.joins.len(),
                });
            } else {
                self.in_place = self.next + 1;
            }
            self.next += 1;
        }
    }

    /// Whether comparing has been cheaper so far than reading all would have been. A stretch costs about as much as two
    /// values.
    #[inline]
    fn is_worth_it(&self) -> bool {
        self.runs < self.patience || 2 * self.runs + self.touched <= self.cursor
    }

    /// Whether so little has been compared that all may as well be read from the beginning.
    fn is_early(&self) -> bool {
        EARLY * self.cursor <= self.slots.len()
    }

    /// Whether so far hardly any value has been the same, though there were enough to tell, and what follows looks no
    /// better.
    #[cold]
    pub(super) fn is_unlike(&self, old: &[u8], new: &[u8]) -> bool {
        self.touched >= stretch::LONG
            && 8 * self.touched >= 7 * self.cursor
            && self.like_ahead(old, new) < 2
    }

    /// Whether comparing has not been cheaper so far, but will be, by the look of what is ahead.
    #[cold]
    fn will_be(&mut self, old: &[u8], new: &[u8]) -> bool {
        self.patience = 2 * self.runs;
        2 * self.like_ahead(old, new) > SAMPLES
    }

    /// How many samples of the text ahead are the same, at the same distance from here or from the end.
    fn like_ahead(&self, old: &[u8], new: &[u8]) -> usize {
        let length = old.len() - self.o;
        let at_end = new.len().wrapping_sub(old.len());
        let places = (1..SAMPLES).map(|sample| self.o + length / SAMPLES * sample);
        let is_like = |place: &usize| {
            let sample = old.get(*place..*place + ALIKE);
            [self.shift(), at_end].into_iter().any(|shift| {
                let place = place.wrapping_add(shift);
                let other = new.get(place..place.wrapping_add(ALIKE));
                sample.is_some() && sample == other
            })
        };
        places.filter(is_like).count()
    }

    /// The texts differ at `o` and `n`: if that is in a value, or where it ends, it is read again.
    fn leaf(&mut self, decoder: &mut Decoder, old: &[u8], new: &[u8]) -> Step {
        let trace = &self.history.trace;
        let Some(slot) = locate(&trace.starts, self.cursor, self.o) else {
            return Step::Other;
        };
        let (start, site) = (trace.starts[slot] as usize, trace.sites[slot]);
        let Some(leaf) = site.leaf() else {
            return Step::Other;
        };
        if let Some(step) = self.item(decoder, slot, start, old, new) {
            return step;
        }
        let kind = decoder.plan().leaf(leaf).kind;
        let is_string = kind == LeafKind::Text && !site.is_attribute();
        if is_string && old.get(start) == Some(&b'<') {
            return match self.string(decoder, site, slot, start, old, new) {
                Some(reread) => self.reread(slot, reread),
                None if self.gave_up => Step::Lost,
                None => Step::Other,
            };
        }
        let end = if site.is_attribute() {
            old[start - 1]
        } else {
            b'<'
        };
        // Behind the end of the value it is in markup.
        if memchr(end, &old[start..self.o]).is_some() {
            return Step::Other;
        }
        let Some(rest) = memchr(end, &old[self.o..]) else {
            return Step::Other;
        };
        if is_string && self.o + rest - start > LONG {
            match self.string(decoder, site, slot, start, old, new) {
                Some(reread) => return self.reread(slot, reread),
                None if self.gave_up => return Step::Lost,
                None => {}
            }
        }
        let at = start.wrapping_add(self.shift());
        let Some((value, length)) = decoder.read_again(site, new, at, &mut self.fresh) else {
            return Step::Other;
        };
        self.keep(slot, value, kind);
        self.move_starts(slot + 1);
        (self.o, self.n) = (self.o + rest, at + length);
        (self.touched, self.runs) = (self.touched + 1, self.runs + 1);
        if !site.is_attribute() {
            return self.begin_stretch(decoder, slot, old, new);
        }
        Step::Read
    }

    /// A string has been read again.
    fn reread(&mut self, slot: usize, reread: Reread) -> Step {
        match reread.value == self.slots[slot] {
            true if reread.is_other => self.mark(slot),
            true => {}
            false => self.keep(slot, reread.value, LeafKind::Text),
        }
        self.move_starts(slot + 1);
        (self.o, self.n) = reread.ends;
        (self.touched, self.runs) = (self.touched + 1, self.runs + 1);
        Step::Read
    }

    /// Moves where values begin, up to a slot, to where they begin in the new text.
    #[inline]
    pub(super) fn move_starts(&mut self, to: usize) {
        let shift = self.shift() as u32;
        if let (true, Some(starts)) = (
            shift != 0,
            self.history.trace.starts.get_mut(self.cursor..to),
        ) {
            for start in starts {
                *start = start.wrapping_add(shift);
            }
        }
        self.cursor = self.cursor.max(to);
    }

    /// A value was read again. If it is a string, its octets are at the end of the heap.
    #[inline]
    pub(super) fn keep(&mut self, slot: usize, value: u64, kind: LeafKind) {
        let before = self.slots[slot];
        let mut value = value;
        if kind.is_in_heap() {
            let (heap, rooms) = (self.fresh.parts_mut().1, &mut self.history.rooms);
            let ((from, length), (to, was)) = (octets(value), octets(before));
            let room = rooms.room(slot, was);
            if length <= room && to + room <= from {
                let (kept, added) = heap.split_at_mut(from);
                let is_same = length == was && kept[to..to + was] == *added;
                kept[to..to + length].copy_from_slice(added);
                heap.truncate(from);
                if is_same {
                    return;
                }
                rooms.set(slot, length, room);
                value = slot_of(to, length).unwrap_or_default();
            } else {
                rooms.set(slot, length, length);
            }
        } else if value == before {
            return;
        }
        self.slots[slot] = value;
        self.mark(slot);
    }

    #[inline]
    pub(super) fn mark(&mut self, slot: usize) {
        let slot = slot as u32;
        match self.changed.last_mut() {
            Some(last) if last.end == slot => last.end += 1,
            _ => self.changed.push(slot..slot + 1),
        }
    }

    #[inline]
    pub(super) fn next_checkpoint(&self) -> usize {
        let next = self.history.checkpoints.get(self.next);
        next.map_or(usize::MAX, |next| next.offset() as usize)
    }

    /// A count, of the old Record or of the fresh slots, which are counted on from it.
    pub(super) fn load(&self, slot: u32) -> u64 {
        let slot = slot as usize;
        match slot.checked_sub(self.slots.len()) {
            None => self.slots[slot],
            Some(fresh) => self.fresh.slots().get(fresh).copied().unwrap_or(0),
        }
    }

    pub(super) fn store(&mut self, slot: u32, value: u64) {
        let slot = slot as usize;
        match slot.checked_sub(self.slots.len()) {
            None if self.slots[slot] == value => {}
            None => {
                self.slots[slot] = value;
                self.counts.push(slot);
            }
            Some(fresh) => {
                if let Some(slot) = self.fresh.parts_mut().0.get_mut(fresh) {
                    *slot = value;
                }
            }
        }
    }

    /// Whether it was less work than reading all of it is: a value that is read alone is as much as two, a stretch as much
    /// as two more.
    pub(super) fn was_worth_it(&self) -> bool {
        let (slots, fresh) = (self.slots.len(), self.fresh.slots().len());
        let work = 2 * self.runs + 2 * self.touched - self.in_blocks;
        if 4 * (work + 2 * fresh) <= slots {
            return true;
        }
        let sites = &self.history.trace.sites;
        let values = sites.iter().map(|&site| usize::from(site != Site::NONE));
        let values: usize = values.sum();
        // Slots the decoder has read are moved, and compared; there are markers among them.
        let fresh = fresh * values / slots.max(1);
        work + fresh + fresh / 2 <= values - values / 8
    }
}

/// Before so many stretches nothing is given up, to begin with.
const FEW: usize = 16;

/// That part of the values is soon read once more.
const EARLY: usize = 4;

/// So many pieces of what is ahead are looked at.
const SAMPLES: usize = 32;

/// Of longer strings only the part that differs is read again.
pub(super) const LONG: usize = 64;

/// So much text must be the same for values to be taken for others.
pub(super) const ALIKE: usize = 48;

/// Buffers up to this many bytes are kept between messages.
const LARGE: usize = 16 << 20;

/// The eight bytes at a place.
#[inline(always)]
pub(super) fn word(text: &[u8], at: usize) -> Option<u64> {
    let word = text.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word))
}
