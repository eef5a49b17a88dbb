//! Fast mode and regular mode, and going from one to the other.
//!
//! ```text
//! old   │ portion │ portion │ portion │ portion │ portion │
//!       0         1         2         3         4
//! new   │ same    │ differs           ·         │ same    │
//!        fast      regular, from the state at 1  fast, if the decoder stands in the state of 4
//! ```
//!
//! The Record grows from its front: slots of portions that are the same are copied, those of the others decoded. So slots
//! have the numbers they will keep, and saved states need no change as long as as many slots lie before them.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Until};
use bsoap_codec::plan::ElementId;

use super::checkpointer::{Agreement, Carry, Checkpointer, Reading};
use super::digest::Digest;
use super::matching::Candidates;
use super::portion::{Entry, Mark, Portions};
use crate::receive::change::{Changes, Span};
use crate::receive::received::Fail;
use crate::receive::text::{Text, cut};

/// A message that was read, with all that is needed to read another like it.
#[derive(Debug)]
pub(super) struct Saved<S> {
    pub(super) root: ElementId,
    /// The first bytes of the text: what tells its encoding.
    pub(super) opening: Box<[u8]>,
    /// The length of its byte order mark.
    pub(super) mark: usize,
    /// The text, if it is kept.
    pub(super) text: Option<Text>,
    pub(super) portions: Portions<S>,
    pub(super) record: Arc<Record>,
    /// Strings of the Record when all of it was read.
    pub(super) heap: usize,
}

/// A message on its way through both modes.
#[derive(Debug)]
pub(super) struct Modes<S> {
    old: Saved<S>,
    /// The checkpoints of the old text that are not behind yet, but for the first few: those have been passed.
    rest: std::vec::IntoIter<Entry<S>>,
    passed: usize,
    /// How many were before those.
    index: usize,
    /// What the new message leaves behind.
    new: Portions<S>,
    record: Record,
    /// Whether anything differed yet.
    begun: bool,
    /// Slots of the old Record that are in the new one, or left out.
    copied: usize,
    /// How far behind the old text what is the same stands in the new one, modulo 2⁶⁴.
    shift: usize,
    carry: Option<Carry>,
    mode: Mode,
    spans: Vec<Span>,
    /// Counts of loops: their slots before and now.
    counts: Vec<(u32, u32)>,
    /// Bytes read by the decoder.
    pub(super) read: usize,
    /// How often regular mode was entered.
    pub(super) switches: u64,
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Fast,
    Regular(Stretch),
    Done,
}

/// What is being read in regular mode.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Slots before it in the old Record, and in the new one.
    before: usize,
    now: usize,
    /// How many portions are read before it is looked for a way back.
    chunk: usize,
    /// Where it began in the new text.
    from: usize,
}

/// So much text is read at most before it is looked for a way back.
const FARTHEST: usize = 256 << 10;

impl<S> Modes<S> {
    /// Begins with the first portion. `memory` is used again.
    pub(super) fn new(mut old: Saved<S>, memory: Option<Record>) -> Self {
        let record = match memory {
            Some(memory) => memory,
            None => Record::new(old.record.plan().clone(), old.root),
        };
        let rest = std::mem::take(&mut old.portions.entries).into_iter();
        Self {
            old,
            rest,
            passed: 0,
            index: 0,
            new: Portions::default(),
            record,
            begun: false,
            copied: 0,
            shift: 0,
            carry: None,
            mode: Mode::Fast,
            spans: Vec::new(),
            counts: Vec::new(),
            read: 0,
            switches: 0,
        }
    }

    /// The old text and its portions that are not behind.
    fn candidates<'a>(
        &'a self,
        digest: Option<&'a dyn Digest>,
        text: &'a [u8],
    ) -> Candidates<'a, S> {
        Candidates {
            entries: self.rest.as_slice().get(self.passed..).unwrap_or_default(),
            digests: self
                .old
                .portions
                .digests
                .get(self.index + self.passed..)
                .unwrap_or_default(),
            length: self.old.portions.length,
            old: self.old.text.as_ref().map_or(&[], Text::bytes),
            digest,
            text,
        }
    }

    /// Reads a text to its end.
    pub(super) fn advance<C: Checkpointer<Saved = S>>(
        &mut self,
        keeper: &mut C,
        decoder: &mut Decoder,
        digest: Option<&dyn Digest>,
        text: &[u8],
    ) -> Result<(), Fail> {
        loop {
            match self.mode {
                Mode::Done => return Ok(()),
                Mode::Fast => {
                    self.passed += self.candidates(digest, text).same(self.shift);
                    if self.passed == self.rest.as_slice().len() {
                        self.mode = Mode::Done;
                    } else {
                        self.leave(keeper, decoder)?;
                    }
                }
                Mode::Regular(stretch) => self.regular(keeper, decoder, digest, text, stretch)?,
            }
        }
    }

    /// Takes over the entries passed.
    fn flush<C: Checkpointer<Saved = S>>(&mut self, keeper: &mut C, plan: &bsoap_codec::Plan) {
        let passed = std::mem::take(&mut self.passed);
        if self.new.entries.capacity() == 0 {
            self.new.entries.reserve(self.rest.len() + 8);
            self.new
                .digests
                .reserve(self.old.portions.digests.len() + 8);
        }
        let from = self.new.entries.len();
        self.new.entries.extend(self.rest.by_ref().take(passed));
        if !self.old.portions.digests.is_empty() {
            let digests = &self.old.portions.digests;
            let range = self.index..(self.index + passed).min(digests.len());
            self.new.digests.extend_from_slice(&digests[range]);
        }
        self.index += passed;
        if self.shift != 0 || self.carry.is_some() {
            for entry in &mut self.new.entries[from..] {
                place(keeper, entry, self.shift, self.carry.as_ref(), plan);
            }
        }
    }

    /// From fast mode into regular mode: the next portion is not the same.
    fn leave<C: Checkpointer<Saved = S>>(
        &mut self,
        keeper: &mut C,
        decoder: &mut Decoder,
    ) -> Result<(), Fail> {
        let plan = decoder.plan().clone();
        self.flush(keeper, &plan);
        self.switches += 1;
        if !self.begun {
            self.begun = true;
            self.record.clear(self.old.root);
            self.record
                .parts_mut()
                .1
                .extend_from_slice(self.old.record.heap());
        }
        let entry = self.rest.as_slice().first().ok_or(Fail)?;
        let before = entry.mark.slots as usize;
        let same = self
            .old
            .record
            .slots()
            .get(self.copied..before)
            .ok_or(Fail)?;
        self.record.parts_mut().0.extend_from_slice(same);
        self.copied = before;
        let now = self.record.slots().len();
        let offset = (entry.mark.offset as usize).wrapping_add(self.shift);
        let mark = Mark {
            offset: offset as u32,
            slots: now as u32,
        };
        if !keeper.restore(decoder, &entry.saved, mark) {
            return Err(Fail);
        }
        if let Some(carry) = &self.carry {
            decoder.renumber(carry.renumber());
        }
        let mut entry = self.rest.next().ok_or(Fail)?;
        self.index += 1;
        place(keeper, &mut entry, self.shift, self.carry.as_ref(), &plan);
        self.new.entries.push(entry);
        self.mode = Mode::Regular(Stretch {
            before,
            now,
            chunk: 1,
            from: offset,
        });
        Ok(())
    }

    /// Reads on.
    fn regular<C: Checkpointer<Saved = S>>(
        &mut self,
        keeper: &mut C,
        decoder: &mut Decoder,
        digest: Option<&dyn Digest>,
        text: &[u8],
        mut stretch: Stretch,
    ) -> Result<(), Fail> {
        let begin = decoder.offset() as usize;
        let candidates = self.candidates(digest, text);
        if let Some((index, at)) = candidates.find(begin, self.shift, stretch.chunk) {
            self.read(keeper, decoder, digest, text, (at, false), Until::END)?;
            if decoder.offset() == at as u64
                && self.join(keeper, decoder, digest, text, stretch, index)?
            {
                // The portion has been found to be the same.
                self.passed = 1;
                return Ok(());
            }
        }
        let rest = self.rest.as_slice();
        let slots = self.record.slots().len();
        let wanted = |entry: &Entry<S>| {
            (entry.mark.slots as usize)
                .wrapping_sub(stretch.before)
                .wrapping_add(stretch.now)
        };
        let next = rest
            .iter()
            .take(FARTHEST)
            .position(|entry| wanted(entry) > slots);
        let (end, until, target) = match next.filter(|_| !rest.is_empty()) {
            Some(next) => {
                let index = (next + stretch.chunk - 1).min(rest.len() - 1);
                let until = Until {
                    slots: wanted(&rest[index]),
                    depth: keeper.depth(&rest[index].saved),
                };
                (self.bound(text, begin, index), until, Some(index))
            }
            None => (text.len(), Until::END, None),
        };
        let last = end == text.len();
        self.read(keeper, decoder, digest, text, (end, last), until)?;
        if decoder.is_finished() {
            self.end_stretch(stretch, self.old.record.slots().len());
            self.copied = self.old.record.slots().len();
            self.mode = Mode::Done;
            return Ok(());
        }
        let here = decoder.offset() as usize;
        if let Some(index) = target
            && self.record.slots().len() == until.slots
            && decoder.is_between()
        {
            let place = self.rest.as_slice()[index].mark.offset as usize;
            let shift = here.wrapping_sub(place);
            let is_same = self.candidates(digest, text).is_same(index, here);
            if is_same && self.join(keeper, decoder, digest, text, stretch, index)? {
                self.passed = 1;
                return Ok(());
            }
            self.shift = shift;
            self.skip(index);
        } else if here == begin {
            return Err(Fail);
        }
        let most = self.rest.len().max(1);
        if (here - stretch.from) < FARTHEST {
            stretch.chunk = (stretch.chunk * 2).min(most);
        }
        self.mode = Mode::Regular(stretch);
        Ok(())
    }

    /// Up to where to read, if a place is to be found on the way: not much beyond where it should be.
    fn bound(&self, text: &[u8], begin: usize, index: usize) -> usize {
        let place = self.rest.as_slice()[index].mark.offset as usize;
        let at = place.wrapping_add(self.shift);
        let stretch = at.saturating_sub(begin).min(FARTHEST);
        let end = begin + 2 * stretch + SLACK;
        match end < text.len() {
            true => cut(text, begin, end)
                .filter(|&end| end > begin)
                .unwrap_or(text.len()),
            false => text.len(),
        }
    }

    fn read<C: Checkpointer<Saved = S>>(
        &mut self,
        keeper: &mut C,
        decoder: &mut Decoder,
        digest: Option<&dyn Digest>,
        text: &[u8],
        (end, last): (usize, bool),
        until: Until,
    ) -> Result<(), Fail> {
        let from = decoder.offset();
        let reading = Reading {
            decoder,
            record: &mut self.record,
            text,
            end,
            last,
            until,
        };
        let read = keeper.read(reading, &mut self.new.entries);
        self.read += (decoder.offset() - from) as usize;
        self.new.digest_closed(digest, text);
        read
    }

    /// Passes over old entries, that at `index` among them.
    fn skip(&mut self, index: usize) {
        self.index += index + 1;
        let _ = self.rest.nth(index);
    }

    /// Whether the decoder stands in the state of an old entry. Then what follows there follows here.
    fn join<C: Checkpointer<Saved = S>>(
        &mut self,
        keeper: &mut C,
        decoder: &mut Decoder,
        digest: Option<&dyn Digest>,
        text: &[u8],
        stretch: Stretch,
        index: usize,
    ) -> Result<bool, Fail> {
        let entry = self.rest.as_slice().get(index).ok_or(Fail)?;
        let agreement = keeper.agrees(decoder, &entry.saved);
        if agreement == Agreement::None {
            return Ok(false);
        }
        let (place, slots) = (entry.mark.offset, entry.mark.slots);
        let here = self.record.slots().len();
        if agreement == Agreement::Full && here == slots as usize && self.carry.is_none() {
            self.settle(decoder, stretch);
        } else {
            let before = keeper.loops(&entry.saved, decoder.plan());
            let carry = Carry {
                slots,
                by: (here as u32).wrapping_sub(slots),
                now: decoder.loops(),
                before,
            };
            if !self.settle_carry(&carry) {
                return Ok(false);
            }
            self.carry = Some(carry).filter(|carry| !carry.is_none());
            keeper.carried();
        }
        let at = decoder.offset() as usize;
        while let Some(last) = self.new.entries.last()
            && last.mark.offset as usize >= at
            && last.mark.offset as usize > stretch.from
        {
            self.new.entries.pop();
        }
        self.new.reopen();
        self.new.digest(digest, text, at);
        self.end_stretch(stretch, slots as usize);
        self.copied = slots as usize;
        if index > 0 {
            self.skip(index - 1);
        }
        self.shift = at.wrapping_sub(place as usize);
        self.mode = Mode::Fast;
        Ok(true)
    }

    /// Nothing but values changed: loops that began in the stretch and go on come round as often as they did.
    fn settle(&mut self, decoder: &Decoder, stretch: Stretch) {
        for it in decoder.loops() {
            let slot = it.slot as usize;
            if slot >= stretch.now
                && let Some(&total) = self.old.record.slots().get(slot)
            {
                self.record.set_slot(slot, total);
            }
        }
    }

    /// In the end each loop has come round as often as in the old message, and as much more as it has now.
    fn settle_carry(&mut self, carry: &Carry) -> bool {
        if carry.before.len() != carry.now.len() {
            return false;
        }
        let total = |(before, now): (&bsoap_codec::decode::Loop, &bsoap_codec::decode::Loop)| {
            let old = self.old.record.slots().get(before.slot as usize)?;
            let total = old
                .wrapping_add(u64::from(now.count))
                .wrapping_sub(u64::from(before.count));
            let is_right = total >= u64::from(now.least) && total < u64::from(u32::MAX);
            is_right.then_some((before.slot, now.slot, total))
        };
        let pairs = carry.before.iter().zip(&carry.now);
        let Some(totals) = pairs.map(total).collect::<Option<Vec<_>>>() else {
            return false;
        };
        for (before, now, total) in totals {
            self.record.set_slot(now as usize, total);
            self.counts.push((before, now));
        }
        true
    }

    fn end_stretch(&mut self, stretch: Stretch, before: usize) {
        self.spans.push(Span {
            before: stretch.before..before,
            now: stretch.now..self.record.slots().len(),
        });
    }

    /// The history that the message has become, what changed, and memory that is not needed any more.
    pub(super) fn finish<C: Checkpointer<Saved = S>>(
        mut self,
        keeper: &mut C,
        decoder: &Decoder,
        digest: Option<&dyn Digest>,
        text: Text,
    ) -> Result<(Saved<S>, Changes, Option<Record>), Fail> {
        if !self.begun {
            let mut old = self.old;
            old.portions.entries = self.rest.collect();
            return Ok((old, Changes::default(), Some(self.record)));
        }
        self.flush(keeper, decoder.plan());
        let rest = self.old.record.slots().get(self.copied..);
        self.record
            .parts_mut()
            .0
            .extend_from_slice(rest.unwrap_or_default());
        let options = decoder.options();
        if self.record.slots().len() > options.record_slots
            || self.record.heap().len() > options.record_heap
        {
            return Err(Fail);
        }
        let length = text.bytes().len();
        self.new.digest(digest, text.bytes(), length);
        self.new.length = length;
        keeper.tidy(&mut self.new.entries);
        let changes = self.changes();
        let Self {
            old, new, record, ..
        } = self;
        let saved = Saved {
            root: old.root,
            opening: old.opening,
            mark: text.mark(),
            text: digest.is_none().then_some(text),
            portions: new,
            record: Arc::new(record),
            heap: old.heap,
        };
        let spare = Arc::try_unwrap(old.record).ok();
        Ok((saved, changes, spare))
    }

    fn changes(&mut self) -> Changes {
        let stretches = std::mem::take(&mut self.spans);
        let (before, now) = (self.old.record.slots(), self.record.slots());
        // A count that stands in what was copied: its slot of before follows from the stretch before it.
        let count = |&(_, slot): &(u32, u32)| {
            let slot = slot as usize;
            let next = stretches.partition_point(|stretch| stretch.now.start <= slot);
            let old = match next.checked_sub(1).and_then(|last| stretches.get(last)) {
                Some(stretch) if slot < stretch.now.end => return None,
                Some(stretch) => slot - stretch.now.end + stretch.before.end,
                None => slot,
            };
            (before.get(old) != now.get(slot)).then(|| Span {
                before: old..old + 1,
                now: slot..slot + 1,
            })
        };
        let mut spans: Vec<Span> = self.counts.iter().filter_map(count).collect();
        spans.extend(stretches);
        spans.retain(|span| !(span.before.is_empty() && span.now.is_empty()));
        spans.sort_by_key(|span| (span.now.start, span.before.start, span.now.end));
        spans.dedup();
        Changes::of(spans)
    }
}

/// A place should not be further behind where it is expected than this, and as much again as was to be read.
const SLACK: usize = 4096;

/// An entry, as it is in the new text.
fn place<C: Checkpointer>(
    keeper: &mut C,
    entry: &mut Entry<C::Saved>,
    shift: usize,
    carry: Option<&Carry>,
    plan: &bsoap_codec::Plan,
) {
    entry.mark.offset = (entry.mark.offset as usize).wrapping_add(shift) as u32;
    if let Some(carry) = carry {
        entry.mark.slots = carry.moved(entry.mark.slots);
        keeper.carry(&mut entry.saved, plan, carry);
    }
}
