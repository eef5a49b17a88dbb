//! Lightweight checkpointing (LCP): a state is saved as a group and a number within it, and each group has one base checkpoint.
//!
//! Abu-Ghazaleh and Lewis, *Lightweight Checkpointing for Faster SOAP Deserialization* (2006), §4. The codec's [`Places`] have
//! the base checkpoints and the stack of those that are open, and note places while the decoder reads. This file stores the
//! places, and saves complete states where two interrupts in a row had no place.

use std::collections::HashMap;

use bsoap_codec::decode::{Decoder, LocatedPlace, Loop, Place, Places};
use bsoap_codec::{Plan, Record};

use super::checkpointer::{Checkpointer, Reading};
use super::interrupt::Interrupts;
use super::portion::{Entry, Mark, Sameness};
use super::portioning::Portioning;
use crate::receive::carry::Carry;
use crate::receive::received::Fail;

/// Saves each state as a place: a group, and a number within the group.
#[derive(Debug)]
pub(super) struct Lightweight {
    places: Places,
    /// The distance between two interrupts in bytes.
    every: usize,
    /// The ends of buffers. Places are noted without an interrupt.
    interrupts: Interrupts,
    /// Whether a state may be saved inside a text, with the text read so far: not if no text is kept.
    keeps_text: bool,
    /// New groups by the old ones from which they have been carried over.
    carried: HashMap<u32, u32>,
}

/// The checkpoint at a place that was noted.
fn entry(found: LocatedPlace) -> Entry<Place> {
    let LocatedPlace {
        offset,
        slots,
        place,
    } = found;
    Entry {
        mark: Mark { offset, slots },
        saved: place,
    }
}

/// Up to this number of groups, unused ones are not dropped.
const FEW: usize = 8;

impl Checkpointer for Lightweight {
    type Saved = Place;

    fn new(way: &Portioning) -> Self {
        Self {
            places: Places::new(way.interrupt),
            every: way.interrupt,
            interrupts: Interrupts::new(way.buffer.max(way.interrupt), way.buffer),
            keeps_text: way.sameness != Sameness::Keyed,
            carried: HashMap::new(),
        }
    }

    fn clear(&mut self) {
        self.places.clear();
        self.interrupts.restart(0);
    }

    fn save(&mut self, decoder: &mut Decoder, record: &Record) -> Place {
        self.interrupts.restart(decoder.offset() as usize);
        self.places.add(decoder, record)
    }

    fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    fn read_to(
        &mut self,
        reading: &mut Reading<'_>,
        end: usize,
        entries: &mut Vec<Entry<Place>>,
    ) -> Result<(), Fail> {
        let read = reading.read_to(end, Some(&mut self.places));
        let before = entries.len();
        entries.extend(self.places.drain().map(entry));
        if let Some(last) = entries[before..].last() {
            self.interrupts.restart(last.mark.offset as usize);
        }
        read
    }

    /// After two of the papers' interrupts without a place, the complete state is saved at the end of a buffer.
    fn interrupt(&mut self, reading: &mut Reading<'_>, entries: &mut Vec<Entry<Place>>) {
        let here = reading.offset();
        let is_small = self.keeps_text || reading.decoder.is_between();
        // A state that depends on the text behind it cannot be continued with another text.
        let is_usable = is_small && reading.decoder.is_steady();
        if is_usable && self.interrupts.is_far(here, 2 * self.every) {
            let mark = reading.mark();
            let saved = self.places.add(reading.decoder, reading.record);
            entries.push(Entry { mark, saved });
            self.interrupts.save_inside(here);
        }
    }

    fn restore(&mut self, decoder: &mut Decoder, saved: &Place, mark: Mark) -> bool {
        self.interrupts.restart(mark.offset as usize);
        self.places.resume(decoder, *saved, mark.offset.into())
    }

    fn agrees(&mut self, decoder: &mut Decoder, saved: &Place) -> bool {
        // Within a group nothing is compared.
        self.places.agree(decoder, *saved)
    }

    fn loops(&self, saved: &Place, plan: &Plan) -> Vec<Loop> {
        self.places.loops(*saved, plan)
    }

    fn depth(&self, saved: &Place) -> usize {
        self.places.depth(*saved)
    }

    fn carry(&mut self, saved: &mut Place, plan: &Plan, carry: &Carry) {
        if self.places.counts(saved.group) {
            // The number of the place is the count of the innermost loop.
            let mut change = carry.renumber();
            for mut it in self.places.loops(*saved, plan) {
                change(&mut it);
                saved.at = it.count;
            }
        }
        saved.group = self.carried_group(saved.group, plan, carry);
    }

    fn carried(&mut self) {
        self.carried.clear();
    }

    fn memory(&self, _: &[Entry<Place>]) -> usize {
        self.places.memory()
    }

    fn tidy(&mut self, entries: &mut [Entry<Place>]) {
        if self.places.groups() > FEW {
            self.keep_wanted(entries);
        }
        self.places.fit();
    }
}

impl Lightweight {
    /// The group that corresponds to `group` after renumbering. The groups around it are renumbered, too, because reading
    /// continues in them where this group ends.
    fn carried_group(&mut self, group: u32, plan: &Plan, carry: &Carry) -> u32 {
        if let Some(&known) = self.carried.get(&group) {
            return known;
        }
        let around = std::iter::successors(Some(group), |&group| self.places.around(group));
        let new: Vec<u32> = around
            .take_while(|group| !self.carried.contains_key(group))
            .collect();
        let known = new.last().and_then(|&last| self.places.around(last));
        let mut outer = known.and_then(|known| self.carried.get(&known).copied());
        for &group in new.iter().rev() {
            let carried = self.places.carry(group, outer, plan, carry.renumber());
            self.carried.insert(group, carried);
            outer = Some(carried);
        }
        outer.unwrap_or(group)
    }

    /// Drops unused groups, if they are more than half of all.
    fn keep_wanted(&mut self, entries: &mut [Entry<Place>]) {
        let mut wanted = vec![false; self.places.groups()];
        for entry in entries.iter() {
            if let Some(wanted) = wanted.get_mut(entry.saved.group as usize) {
                *wanted = true;
            }
        }
        if wanted.iter().filter(|&&wanted| wanted).count() * 2 < wanted.len() {
            let numbers = self.places.keep(&wanted);
            for entry in entries {
                let number = numbers.get(entry.saved.group as usize);
                entry.saved.group = number.copied().unwrap_or(u32::MAX);
            }
        }
    }
}
