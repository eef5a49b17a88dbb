//! Lightweight checkpointing (LCP): a place within a group is two numbers, and a group has one complete state.
//!
//! Abu-Ghazaleh and Lewis, *Lightweight Checkpointing for Faster SOAP Deserialization* (2006), §4. The base checkpoints, the
//! stack of those that are open, and the loops that note places are the codec's [`Places`]; here is what is kept of them,
//! and the rule that a processing interrupt is not passed over twice in a row.

use std::collections::HashMap;

use bsoap_codec::decode::{Decoder, Loop, Place, Places};
use bsoap_codec::{Plan, Record};

use super::checkpointer::{Checkpointer, Reading};
use super::portion::{Entry, Mark, Sameness};
use super::portioning::Portioning;
use crate::receive::carry::Carry;
use crate::receive::received::Fail;
use crate::receive::text::cut;

/// Keeps where in its group a place is.
#[derive(Debug)]
pub(super) struct Lightweight {
    places: Places,
    every: usize,
    buffer: usize,
    /// Whether what is read of a long text so far may be kept with a state: not where no text is kept.
    keeps_text: bool,
    /// Where the last place was, and how far from the one before if its state is complete.
    last: usize,
    gap: usize,
    /// Groups whose base has been carried over.
    carried: HashMap<u32, u32>,
}

/// What is kept of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Light {
    group: u32,
    at: u32,
}

impl Light {
    fn place(self, mark: Mark) -> Place {
        Place {
            offset: mark.offset,
            slots: mark.slots,
            group: self.group,
            at: self.at,
        }
    }

    /// The place, wherever it is.
    fn somewhere(self) -> Place {
        self.place(Mark {
            offset: 0,
            slots: 0,
        })
    }
}

impl From<Place> for Entry<Light> {
    fn from(place: Place) -> Self {
        Self {
            mark: Mark {
                offset: place.offset,
                slots: place.slots,
            },
            saved: Light {
                group: place.group,
                at: place.at,
            },
        }
    }
}

impl Lightweight {
    /// After two interrupts without a place there is one wherever the decoder is. In a text that goes on, and is part
    /// of the state, each is twice as far from the one before as that from its own.
    fn save_complete(&mut self, reading: &Reading<'_>, entries: &mut Vec<Entry<Light>>) {
        let here = reading.decoder.offset() as usize;
        let gap = here.saturating_sub(self.last);
        let is_wanted = gap >= 2 * self.every && gap >= 2 * self.gap;
        let is_small = self.keeps_text || reading.decoder.is_between();
        // What depends on the text behind is no state to go on from with another text.
        if is_wanted && is_small && !reading.is_there() && reading.decoder.is_steady() {
            let place = self.places.add(reading.decoder, reading.record);
            entries.push(place.into());
            (self.last, self.gap) = (here, gap);
        }
    }
}

/// Up to this number groups are kept, needed or not.
const FEW: usize = 8;

impl Checkpointer for Lightweight {
    type Saved = Light;

    fn new(way: &Portioning) -> Self {
        Self {
            places: Places::new(way.interrupt),
            every: way.interrupt,
            buffer: way.buffer.max(way.interrupt),
            keeps_text: way.sameness != Sameness::Keyed,
            last: 0,
            gap: 0,
            carried: HashMap::new(),
        }
    }

    fn clear(&mut self) {
        self.places.clear();
        (self.last, self.gap) = (0, 0);
    }

    fn save(&mut self, decoder: &mut Decoder, record: &Record) -> Light {
        let place = self.places.add(decoder, record);
        (self.last, self.gap) = (decoder.offset() as usize, 0);
        Entry::from(place).saved
    }

    fn read(
        &mut self,
        mut reading: Reading<'_>,
        entries: &mut Vec<Entry<Light>>,
    ) -> Result<(), Fail> {
        loop {
            let from = reading.decoder.offset() as usize;
            let most = from.saturating_add(self.buffer);
            let end = match most < reading.end {
                true => cut(reading.text, from, most).unwrap_or_else(|| {
                    let is_inner = |at: &usize| {
                        let byte = reading.text.get(*at);
                        byte.is_some_and(|byte| byte & 0xC0 == 0x80)
                    };
                    (most..reading.end)
                        .find(|at| !is_inner(at))
                        .unwrap_or(reading.end)
                }),
                false => reading.end,
            };
            let read = reading.read_to(end, Some(&mut self.places));
            let before = entries.len();
            entries.extend(self.places.drain().map(Entry::from));
            if let Some(last) = entries[before..].last() {
                (self.last, self.gap) = (last.mark.offset as usize, 0);
            }
            read?;
            self.save_complete(&reading, entries);
            if end == reading.end || reading.is_there() {
                return Ok(());
            }
            if reading.decoder.offset() as usize == from {
                // One tag that is longer than a buffer, say, or a comment with tags in it.
                let read = reading.read_to(reading.end, Some(&mut self.places));
                entries.extend(self.places.drain().map(Entry::from));
                return read;
            }
        }
    }

    fn restore(&mut self, decoder: &mut Decoder, saved: &Light, mark: Mark) -> bool {
        (self.last, self.gap) = (mark.offset as usize, 0);
        self.places.resume(decoder, saved.place(mark))
    }

    fn agrees(&mut self, decoder: &mut Decoder, saved: &Light) -> bool {
        // Within a group nothing is compared.
        self.places.agree(decoder, saved.somewhere())
    }

    fn loops(&self, saved: &Light, plan: &Plan) -> Vec<Loop> {
        self.places.loops(saved.somewhere(), plan)
    }

    fn depth(&self, saved: &Light) -> usize {
        self.places.depth(saved.somewhere())
    }

    fn carry(&mut self, saved: &mut Light, plan: &Plan, carry: &Carry) {
        if self.places.counts(saved.group) {
            // The place is a count of the innermost loop.
            let mut change = carry.renumber();
            for mut it in self.places.loops(saved.somewhere(), plan) {
                change(&mut it);
                saved.at = it.count;
            }
        }
        saved.group = self.carried_group(saved.group, plan, carry);
    }

    fn carried(&mut self) {
        self.carried.clear();
    }

    fn memory(&self, _: &[Entry<Light>]) -> usize {
        self.places.memory()
    }

    fn tidy(&mut self, entries: &mut [Entry<Light>]) {
        if self.places.groups() > FEW {
            self.keep_wanted(entries);
        }
        self.places.fit();
    }
}

impl Lightweight {
    /// A group carried over, and so those around it, in which reading goes on where it ends.
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

    /// Forgets groups that have no place any more.
    fn keep_wanted(&mut self, entries: &mut [Entry<Light>]) {
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
