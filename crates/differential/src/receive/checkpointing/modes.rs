//! Fast mode and regular mode, and the switches between them.
//!
//! ```text
//! old   │ portion │ portion │ portion │ portion │ portion │
//!       0         1         2         3         4
//! new   │ same    │ differs           ·         │ same    │
//!        fast      regular, from the state at 1  fast, if the decoder is in the state at 4
//! ```
//!
//! The new Record is built from its start: the slots of unchanged portions are copied, the others are decoded. Slots therefore
//! have their final numbers, and a saved state need not be renumbered as long as the number of slots before it is unchanged.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Until};
use bsoap_codec::plan::ElementId;

use super::checkpointer::{Checkpointer, Reading};
use super::digest::Digest;
use super::matching::Candidates;
use super::portion::{Entry, Mark, Portions};
use crate::receive::carry::Carry;
use crate::receive::change::{Changes, Region};
use crate::receive::received::Fail;
use crate::receive::text::{Text, cut};

/// A message that was read, with all that is needed to read only the changed portions of the next one.
#[derive(Debug)]
pub(super) struct Saved<S> {
    pub(super) root: ElementId,
    /// The first bytes of the text, which determine its encoding.
    pub(super) opening: Box<[u8]>,
    /// The length of the byte order mark in bytes.
    pub(super) mark: usize,
    /// The text; `None` if digests are kept instead.
    pub(super) text: Option<Text>,
    pub(super) portions: Portions<S>,
    pub(super) record: Arc<Record>,
    /// The number of heap octets when a whole message was last decoded.
    pub(super) heap: usize,
}

/// The reading of one message in both modes by turns.
pub(super) struct Modes<'m, C: Checkpointer> {
    /// Saves and restores states.
    keeper: &'m mut C,
    decoder: &'m mut Decoder,
    /// The digest by which portions are compared; `None` if they are compared by their text.
    digest: Option<&'m dyn Digest>,
    /// The new text.
    text: &'m [u8],
    /// The previous message, without its checkpoints.
    old: Saved<C::Saved>,
    /// The old checkpoints that have not been moved to `new`.
    rest: std::vec::IntoIter<Entry<C::Saved>>,
    /// The number of entries at the front of `rest` whose portions are unchanged.
    passed: usize,
    /// The number of old checkpoints that are no longer in `rest`.
    index: usize,
    /// The portions of the new message.
    new: Portions<C::Saved>,
    /// The new Record.
    record: Record,
    /// Whether a difference was found.
    begun: bool,
    /// The number of old slots that were copied to the new Record or replaced in it.
    copied: usize,
    /// The difference between new and old offsets of unchanged text, modulo 2⁶⁴.
    shift: usize,
    /// How slots and loops behind the last region are renumbered; `None` if they keep their numbers.
    carry: Option<Carry>,
    /// The parts that were read in regular mode.
    regions: Vec<Region>,
    /// The new slots of the counts of loops that were open behind a region.
    counts: Vec<u32>,
    /// The number of bytes read by the decoder.
    pub(super) read: usize,
    /// The number of times that regular mode was entered.
    pub(super) switches: u64,
}

/// The message to compare the next one with, the changes, and a Record whose memory is free.
type Finished<S> = (Saved<S>, Changes, Option<Record>);

/// The start of a part that is read in regular mode.
#[derive(Clone, Copy, Debug)]
struct RegionBegin {
    /// The number of slots before it in the old Record.
    before: usize,
    /// The number of slots before it in the new Record.
    now: usize,
    /// The number of portions that are read before fast mode is tried.
    chunk: usize,
    /// Its offset in the new text.
    from: usize,
}

/// The maximum number of bytes that are read before fast mode is tried.
const MAX_CHUNK: usize = 256 << 10;

/// An old checkpoint is expected at most this number of bytes, and the length to be read, behind its old distance.
const SLACK: usize = 4096;

impl<'m, C: Checkpointer> Modes<'m, C> {
    /// Starts in fast mode at the first portion of a text. `record` is empty.
    pub(super) fn new(
        mut old: Saved<C::Saved>,
        record: Record,
        (keeper, decoder): (&'m mut C, &'m mut Decoder),
        digest: Option<&'m dyn Digest>,
        text: &'m [u8],
    ) -> Self {
        let rest = std::mem::take(&mut old.portions.entries).into_iter();
        Self {
            keeper,
            decoder,
            digest,
            text,
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
            regions: Vec::new(),
            counts: Vec::new(),
            read: 0,
            switches: 0,
        }
    }

    /// The old portions that have not been passed.
    fn candidates(&self) -> Candidates<'_, C::Saved> {
        let digests = self.old.portions.digests.get(self.index + self.passed..);
        Candidates {
            entries: self.rest.as_slice().get(self.passed..).unwrap_or_default(),
            digests: digests.unwrap_or_default(),
            length: self.old.portions.length,
            old: self.old.text.as_ref().map_or(&[], Text::bytes),
            digest: self.digest,
            text: self.text,
        }
    }

    /// The number of bytes that the decoder has read.
    fn offset(&self) -> usize {
        self.decoder.offset() as usize
    }

    /// Reads the text to its end.
    pub(super) fn read(&mut self) -> Result<(), Fail> {
        loop {
            self.passed += self.candidates().same(self.shift);
            if self.passed == self.rest.as_slice().len() {
                return Ok(());
            }
            let region = self.leave()?;
            if !self.regular(region)? {
                return Ok(());
            }
        }
    }

    /// Moves the old entries that were passed since the last flush to the new message's entries, with their digests.
    fn flush(&mut self) {
        let passed = std::mem::take(&mut self.passed);
        let digests = &self.old.portions.digests;
        if self.new.entries.capacity() == 0 {
            self.new.entries.reserve(self.rest.len() + 8);
            self.new.digests.reserve(digests.len() + 8);
        }
        let from = self.new.entries.len();
        self.new.entries.extend(self.rest.by_ref().take(passed));
        if !digests.is_empty() {
            let range = self.index..(self.index + passed).min(digests.len());
            self.new.digests.extend_from_slice(&digests[range]);
        }
        self.index += passed;
        self.place(from);
    }

    /// Corrects the locations of the new message's entries from `from` on by how far its text has moved.
    fn place(&mut self, from: usize) {
        if self.shift == 0 && self.carry.is_none() {
            return;
        }
        for entry in &mut self.new.entries[from..] {
            entry.mark.offset = (entry.mark.offset as usize).wrapping_add(self.shift) as u32;
            if let Some(carry) = &self.carry {
                entry.mark.slots = carry.moved(entry.mark.slots);
                let plan = self.decoder.plan();
                self.keeper.carry(&mut entry.saved, plan, carry);
            }
        }
    }

    /// Switches from fast mode to regular mode, because the next portion has changed.
    fn leave(&mut self) -> Result<RegionBegin, Fail> {
        self.flush();
        self.switches += 1;
        if !self.begun {
            self.begun = true;
            let heap = self.old.record.heap();
            self.record.parts_mut().1.extend_from_slice(heap);
        }
        let entry = self.rest.next().ok_or(Fail)?;
        self.index += 1;
        let before = entry.mark.slots as usize;
        let same = self.old.record.slots().get(self.copied..before);
        let slots = self.record.parts_mut().0;
        slots.extend_from_slice(same.ok_or(Fail)?);
        self.copied = before;
        let now = slots.len();
        let offset = (entry.mark.offset as usize).wrapping_add(self.shift);
        let mark = Mark {
            offset: offset as u32,
            slots: now as u32,
        };
        if !self.keeper.restore(self.decoder, &entry.saved, mark) {
            return Err(Fail);
        }
        if let Some(carry) = &self.carry {
            self.decoder.renumber(carry.renumber());
        }
        self.new.entries.push(entry);
        self.place(self.new.entries.len() - 1);
        Ok(RegionBegin {
            before,
            now,
            chunk: 1,
            from: offset,
        })
    }

    /// Reads on until fast mode can continue, or to the end of the text. Returns whether fast mode continues.
    fn regular(&mut self, mut region: RegionBegin) -> Result<bool, Fail> {
        loop {
            let begin = self.offset();
            let found = self.candidates().find(begin, self.shift, region.chunk);
            if let Some((index, at)) = found {
                self.decode(at, false, Until::END)?;
                if self.offset() == at && self.join(region, index)? {
                    // This portion was found to be unchanged.
                    self.passed = 1;
                    return Ok(true);
                }
            }
            let target = self.target(region);
            let (end, until) = match target {
                Some((index, until)) => (self.bound(begin, index), until),
                None => (self.text.len(), Until::END),
            };
            self.decode(end, end == self.text.len(), until)?;
            if self.decoder.is_finished() {
                self.copied = self.old.record.slots().len();
                self.end_region(region, self.copied);
                return Ok(false);
            }
            let here = self.offset();
            if let Some((index, until)) = target
                && self.record.slots().len() == until.slots
                && self.decoder.is_between()
            {
                let place = self.rest.as_slice()[index].mark.offset as usize;
                if self.candidates().is_same(index, here) && self.join(region, index)? {
                    self.passed = 1;
                    return Ok(true);
                }
                self.shift = here.wrapping_sub(place);
                self.skip(index);
            } else if here == begin {
                return Err(Fail);
            }
            if here - region.from < MAX_CHUNK {
                region.chunk = (region.chunk * 2).min(self.rest.len().max(1));
            }
        }
    }

    /// The index of the old entry up to which to read, and the slots and levels at which the decoder is to stop for that.
    /// `None` if there is none.
    fn target(&self, region: RegionBegin) -> Option<(usize, Until)> {
        let (rest, slots) = (self.rest.as_slice(), self.record.slots().len());
        let wanted = |entry: &Entry<C::Saved>| {
            let slots = entry.mark.slots as usize;
            slots.wrapping_sub(region.before).wrapping_add(region.now)
        };
        let next = rest
            .iter()
            .take(MAX_CHUNK)
            .position(|entry| wanted(entry) > slots)?;
        let index = (next + region.chunk - 1).min(rest.len() - 1);
        let until = Until {
            slots: wanted(&rest[index]),
            depth: self.keeper.depth(&rest[index].saved),
        };
        Some((index, until))
    }

    /// The end of the text to decode next, from `begin` on, so that the old entry `index` is found in it: a little behind the
    /// entry's expected place in the new text.
    fn bound(&self, begin: usize, index: usize) -> usize {
        let place = self.rest.as_slice()[index].mark.offset as usize;
        let at = place.wrapping_add(self.shift);
        let length = at.saturating_sub(begin).min(MAX_CHUNK);
        let end = begin + 2 * length + SLACK;
        let end = (end < self.text.len()).then(|| cut(self.text, begin, end));
        let end = end.flatten().filter(|&end| end > begin);
        end.unwrap_or(self.text.len())
    }

    /// Lets the decoder read up to `end`, or to where it is to stop. `last`: the text ends there.
    fn decode(&mut self, end: usize, last: bool, until: Until) -> Result<(), Fail> {
        let from = self.offset();
        let reading = Reading {
            decoder: &mut *self.decoder,
            record: &mut self.record,
            text: self.text,
            end,
            last,
            until,
        };
        let read = self.keeper.read(reading, &mut self.new.entries);
        self.read += self.offset() - from;
        self.new.digest_closed(self.digest, self.text);
        read
    }

    /// Drops the old entries up to `index`, including it.
    fn skip(&mut self, index: usize) {
        self.index += index + 1;
        let _ = self.rest.nth(index);
    }

    /// Resynchronises the texts if the decoder is in the state of the old entry `index`. Returns `false` if it is not.
    fn join(&mut self, region: RegionBegin, index: usize) -> Result<bool, Fail> {
        let entry = self.rest.as_slice().get(index).ok_or(Fail)?;
        if !self.keeper.agrees(self.decoder, &entry.saved) {
            return Ok(false);
        }
        let (place, slots) = (entry.mark.offset, entry.mark.slots);
        let loops = self.keeper.loops(&entry.saved, self.decoder.plan());
        let here = self.record.slots().len();
        let carry = Carry::new(self.decoder, here, (slots as usize, loops));
        let Some(counts) = carry.counts(self.old.record.slots()) else {
            return Ok(false);
        };
        for (slot, total) in counts {
            self.record.set_slot(slot as usize, total);
            self.counts.push(slot);
        }
        self.carry = Some(carry).filter(|carry| !carry.is_none());
        self.keeper.carried();
        let at = self.offset();
        while let Some(last) = self.new.entries.last()
            && last.mark.offset as usize >= at
            && last.mark.offset as usize > region.from
        {
            self.new.entries.pop();
        }
        self.new.reopen();
        self.new.digest(self.digest, self.text, at);
        self.end_region(region, slots as usize);
        self.copied = slots as usize;
        if index > 0 {
            self.skip(index - 1);
        }
        self.shift = at.wrapping_sub(place as usize);
        Ok(true)
    }

    /// Records that the region that began at `region` replaces the old slots up to `before`.
    fn end_region(&mut self, region: RegionBegin, before: usize) {
        self.regions.push(Region {
            old: region.before..before,
            now: region.now..self.record.slots().len(),
            reread: usize::MAX,
        });
    }

    /// Completes the Record. Fails if it exceeds its limits.
    pub(super) fn finish(mut self, text: Text) -> Result<Finished<C::Saved>, Fail> {
        if !self.begun {
            let mut old = self.old;
            old.portions.entries = self.rest.collect();
            return Ok((old, Changes::default(), Some(self.record)));
        }
        self.flush();
        let rest = self.old.record.slots().get(self.copied..);
        let (slots, heap) = self.record.parts_mut();
        slots.extend_from_slice(rest.unwrap_or_default());
        if !(self.decoder).allows(slots.len(), heap.len(), self.text.len() as u64) {
            return Err(Fail);
        }
        self.new.digest(self.digest, self.text, self.text.len());
        self.new.length = self.text.len();
        self.keeper.tidy(&mut self.new.entries);
        let both = (self.old.record.slots(), self.record.slots());
        let changes = Changes::in_regions(&self.regions, std::iter::empty(), &self.counts, both);
        self.record.assume_checked();
        let saved = Saved {
            root: self.old.root,
            opening: self.old.opening,
            mark: text.mark(),
            text: self.digest.is_none().then_some(text),
            portions: self.new,
            record: Arc::new(self.record),
            heap: self.old.heap,
        };
        let spare = Arc::try_unwrap(self.old.record).ok();
        Ok((saved, changes, spare))
    }
}
