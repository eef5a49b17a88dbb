//! The comparison of a message with the previous one: its main loop.
//!
//! ```text
//! old   ───────────────●━━━●──────────────●━━━━━━●────────── end
//! new   ───────────────●━━━━━●──────────────●━━●──────────── end
//!        same          leaf   same, moved    markup  same, moved again
//! ```
//!
//! Equal bytes mean equal values. If the texts differ inside a value, this value is re-read, and both positions advance to its
//! end. At any other difference the message is [restructured](super::restructure): the decoder itself reads on, from a
//! checkpoint before the difference.

use bsoap_codec::decode::{Decoder, Site};
use bsoap_codec::plan::LeafKind;
use bsoap_xml::scan;
use memchr::memchr;

use super::locate::locate;
use super::pass::{LONG_STRING, MIN_COMMON, Pass, Step};
use super::strings::Reread;
use crate::receive::received::Fail;

/// If the comparison is given up in the first `1 / EARLY` of the slots, the whole message is decoded.
const EARLY: usize = 4;

/// The number of samples taken of the text ahead.
const SAMPLES: usize = 32;

impl Pass {
    /// Compares a new text with the old one, and decodes what differs. Fails if the whole message has to be decoded.
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

    /// Whether the comparison has so far cost less than decoding would have. Finding a run costs about as much as decoding
    /// two values.
    #[inline]
    fn is_worth_it(&self) -> bool {
        self.runs < self.patience || 2 * self.runs + self.touched <= self.cursor
    }

    /// Whether so little has been compared that the whole message may as well be decoded.
    fn is_early(&self) -> bool {
        EARLY * self.cursor <= self.slots.len()
    }

    /// Whether more than half of the samples of the text ahead are equal, so the comparison is worth continuing although it
    /// has not paid so far.
    #[cold]
    fn will_be(&mut self, old: &[u8], new: &[u8]) -> bool {
        self.patience = 2 * self.runs;
        2 * self.like_ahead(old, new) > SAMPLES
    }

    /// The number of samples of the text ahead that are equal in both texts, at the same distance from the current positions
    /// or from the end.
    pub(super) fn like_ahead(&self, old: &[u8], new: &[u8]) -> usize {
        let length = old.len() - self.o;
        let at_end = new.len().wrapping_sub(old.len());
        let places = (1..SAMPLES).map(|sample| self.o + length / SAMPLES * sample);
        let is_like = |place: &usize| {
            let sample = old.get(*place..*place + MIN_COMMON);
            [self.shift(), at_end].into_iter().any(|shift| {
                let place = place.wrapping_add(shift);
                let other = new.get(place..place.wrapping_add(MIN_COMMON));
                sample.is_some() && sample == other
            })
        };
        places.filter(is_like).count()
    }

    /// Handles a difference at `o` and `n`. If it is in a value, or at its end, the value is re-read.
    fn leaf(&mut self, decoder: &mut Decoder, old: &[u8], new: &[u8]) -> Step {
        let trace = &self.history.trace;
        let Some(slot) = locate(&trace.starts, self.cursor, self.o) else {
            return Step::Other;
        };
        let (start, site) = (trace.starts[slot] as usize, trace.sites[slot]);
        let Some(leaf) = site.leaf() else {
            return Step::Other;
        };
        let reach = self.run.single_reach(slot);
        let begin = (slot, start, start.wrapping_add(self.shift()));
        if reach > 0 && self.find_shift(begin, reach, old, new) {
            return Step::Shifted;
        }
        if let Some(step) = self.item(decoder, slot, start, old, new) {
            return step;
        }
        let kind = decoder.plan().leaf(leaf).kind;
        let end = if site.is_attribute() {
            old[start - 1]
        } else {
            b'<'
        };
        let is_string = kind == LeafKind::Text && !site.is_attribute();
        // A CDATA section, or nothing.
        let is_section = is_string && old.get(start) == Some(&b'<');
        // Behind the end of the value, the difference is in markup.
        if !is_section && memchr(end, &old[start..self.o]).is_some() {
            return Step::Other;
        }
        let Some(rest) = memchr(end, &old[self.o..]) else {
            return Step::Other;
        };
        if is_string && (is_section || self.o + rest - start > LONG_STRING) {
            match self.string(decoder, site, slot, start, old, new) {
                Some(reread) => return self.reread(slot, reread),
                None if self.gave_up => return Step::Lost,
                None => {}
            }
        }
        if is_section {
            return Step::Other;
        }
        let at = start.wrapping_add(self.shift());
        let Some((value, length)) = decoder.read_again(site, new, at, &mut self.fresh) else {
            return Step::Other;
        };
        if self.keep(slot, value, kind) {
            self.mark(slot);
        }
        self.move_starts(slot + 1);
        (self.o, self.n) = (self.o + rest, at + length);
        (self.touched, self.runs) = (self.touched + 1, self.runs + 1);
        match site.is_attribute() {
            true => {
                self.run.finish(self.cursor);
                Step::Read
            }
            false => self.begin_run(decoder, slot, old, new),
        }
    }

    /// Stores a string of which a part was re-read.
    fn reread(&mut self, slot: usize, reread: Reread) -> Step {
        let is_other = match reread.value == self.slots[slot] {
            true => reread.is_other,
            false => self.keep(slot, reread.value, LeafKind::Text),
        };
        if is_other {
            self.mark(slot);
        }
        self.move_starts(slot + 1);
        (self.o, self.n) = reread.ends;
        (self.touched, self.runs) = (self.touched + 1, self.runs + 1);
        Step::Read
    }

    /// Whether the comparison was less work than decoding the message. A re-read value counts as four values (three in a
    /// block), and a run as two more. (`never-slower`, `receive=order`, `receive=dsmall`)
    pub(super) fn was_worth_it(&self) -> bool {
        let (slots, read) = (self.slots.len(), self.regions.iter());
        let fresh: usize = read.map(|region| region.now.len()).sum();
        let work = 2 * self.runs + 4 * self.touched - self.in_blocks;
        if 4 * (work + 2 * fresh) <= slots {
            return true;
        }
        let sites = &self.history.trace.sites;
        let values = sites.iter().map(|&site| usize::from(site != Site::NONE));
        let values: usize = values.sum();
        // The slots that the decoder has read are also moved and compared. Some of them are markers.
        let fresh = fresh * values / slots.max(1);
        work + 2 * fresh <= values - values / 4
    }
}
