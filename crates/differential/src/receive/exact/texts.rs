//! Strings that stand in a text as they are, or with references: copied, or what they stand for, many one after the other.
//!
//! A string for which there is room where the one before stands, or a longer one before that, takes its place in the heap,
//! so that the heap does not grow with each message.

use std::ops::Range;

use bsoap_codec::decode::{Decoder, parse_number};
use bsoap_codec::plan::LeafKind;
use bsoap_xml::{Limits, decode_text_before, scan};

use super::follow::{Block, Until, differs};
use super::in_step::Before;
use super::pass::{LONG, Pass, word};
use super::stretch::Field;
use super::strings::{octets, slot_of};
use crate::receive::change::note;

/// A value that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    /// Nothing if it is a string that is to be copied.
    pub(super) slot: Option<u64>,
    /// How long it is in the text.
    pub(super) length: usize,
}

/// Longer strings with references, or whatever else is not copied, are read alone: what they stand for is held twice for a while.
const SHORT: usize = 1 << 10;

/// Strings of a block that have references: what they stand for.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    octets: Vec<u8>,
    /// Which of the block each is, and its octets.
    parts: Vec<(usize, Range<usize>)>,
}

impl Decoded {
    fn clear(&mut self) {
        self.octets.clear();
        self.parts.clear();
    }

    /// One more, by its number in the block, of which so many bytes are copied as they stand. How long it is; nothing if it is in
    /// doubt.
    fn add(&mut self, number: usize, text: &[u8], plain: usize, limits: &Limits) -> Option<usize> {
        let from = self.octets.len();
        let text = &text[..text.len().min(SHORT)];
        let length = decode_text_before(text, plain, limits, &mut self.octets)?;
        self.parts.push((number, from..self.octets.len()));
        Some(length)
    }
}

impl Pass {
    /// Reads strings of the array at hand together, from `o` and `n` on, as [`block`](Self::block) does numbers. Nothing if
    /// not even one is plain, and in step with the old text; then nothing is changed.
    pub(super) fn block_of_texts(
        &mut self,
        decoder: &Decoder,
        until: Until,
        old: &[u8],
        new: &[u8],
    ) -> Option<Block> {
        let (count, end) = self.find_texts(decoder, until, old, new)?;
        // What is between them is the same as before.
        let text = new.get(self.n..end)?;
        if !self.has_room(text.len()) || simdutf8::basic::from_utf8(text).is_err() {
            return None;
        }
        self.take_block(count, end as u32, |pass| pass.keep_texts(count, new))
    }

    /// Where the next strings stand in the new text, and how long they are. How many there are, and where the one behind
    /// them begins; nothing if it is no array of plain strings.
    fn find_texts(
        &mut self,
        decoder: &Decoder,
        until: Until,
        old: &[u8],
        new: &[u8],
    ) -> Option<(usize, usize)> {
        let (most, is_full) = until.rows(self.far());
        let before = Before::new(&self.history.trace, self.cursor, old);
        let stretch = &mut self.stretch;
        let pattern = &stretch.pattern;
        let ([field], 1) = (&*pattern.fields, pattern.slots) else {
            return None;
        };
        if !may_be_plain(decoder, field) {
            return None;
        }
        let (limits, gap) = (&decoder.options().limits, field.gap.len());
        let (places, lengths) = (&mut stretch.starts, &mut stretch.lengths);
        let decoded = &mut stretch.decoded;
        places.clear();
        lengths.clear();
        decoded.clear();
        let mut behind = self.n;
        let mut stood = before.array(pattern, most);
        scan::each_text(new, behind, |at, mut length| {
            let (start, next) = stood.next()?;
            let end = field.end(start, next, old)?;
            if end - start as usize > LONG {
                return None;
            }
            let text = new.get(at..)?;
            if text.get(length) != Some(&b'<') {
                length = decoded.add(places.len(), text, length, limits)?;
            }
            if length == 0 || length > limits.text_length || !field.gap.stands_at(text, length) {
                return None;
            }
            places.push(at as u32);
            lengths.push(length as u32);
            behind = at + length + gap;
            let goes_on = is_full || differs(old, next as usize, new, behind);
            goes_on.then_some(behind)
        });
        Some((places.len(), behind))
    }

    /// Takes over the strings just found.
    fn keep_texts(&mut self, count: usize, new: &[u8]) -> Block {
        let mut block = Block::of(count, count);
        let decoded = std::mem::take(&mut self.stretch.decoded);
        let mut parts = decoded.parts.iter();
        let mut part = parts.next();
        for chunk in (0..count).step_by(64) {
            let mut mask = 0;
            for at in chunk..count.min(chunk + 64) {
                let (place, length) = (self.stretch.starts[at], self.stretch.lengths[at]);
                let mut text = &new[place as usize..(place + length) as usize];
                if let Some((number, octets)) = part
                    && *number == at
                {
                    text = &decoded.octets[octets.clone()];
                    part = parts.next();
                }
                let is_other = self.put(self.cursor + at, text);
                mask |= u64::from(is_other) << (at - chunk);
            }
            if mask != 0 {
                block.count(count, chunk, mask);
                note(&mut self.changed, self.cursor + chunk, mask);
            }
        }
        self.stretch.decoded = decoded;
        block
    }

    /// Puts a string, for which there is room, into a slot that has one: in its place, if it fits. Whether it is another.
    #[inline]
    fn put(&mut self, slot: usize, text: &[u8]) -> bool {
        let (heap, rooms) = (self.fresh.parts_mut().1, &mut self.history.rooms);
        let (from, length) = octets(self.slots[slot]);
        let room = rooms.room(slot, length);
        if text.len() <= room
            && let Some(kept) = heap.get_mut(from..from + text.len())
        {
            // Most often the first bytes tell.
            if text.len() == length && word(kept, 0) == word(text, 0) && *kept == *text {
                return false;
            }
            kept.copy_from_slice(text);
            rooms.set(slot, text.len(), room);
            self.slots[slot] = slot_of(from, text.len()).unwrap_or_default();
            return true;
        }
        rooms.set(slot, text.len(), text.len());
        let from = heap.len();
        heap.extend_from_slice(text);
        self.slots[slot] = slot_of(from, text.len()).unwrap_or_default();
        true
    }

    /// Reads the value of a field that stands at `n` and is followed by its gap. What is appended to the heap is to be kept,
    /// or of no use.
    #[inline]
    pub(super) fn read_value(
        &mut self,
        decoder: &mut Decoder,
        index: usize,
        new: &[u8],
    ) -> Option<Read> {
        let field = &self.stretch.pattern.fields[index];
        if field.kind.is_in_heap()
            && let Some(length) = self.plain_length(decoder, field, new)
        {
            let read = Read { slot: None, length };
            return field.gap.stands_at(new, self.n + length).then_some(read);
        }
        let (slot, length) = match field.kind.is_in_heap() {
            false => parse_number(field.kind, new.get(self.n..)?)?,
            true => decoder.read_again(field.site, new, self.n, &mut self.fresh)?,
        };
        let slot = Some(slot);
        let is_followed = field.gap.stands_at(new, self.n + length);
        is_followed.then_some(Read { slot, length })
    }

    /// Takes it over.
    #[inline]
    pub(super) fn keep_value(&mut self, slot: usize, read: Read, kind: LeafKind, new: &[u8]) {
        match read.slot {
            Some(value) => self.keep(slot, value, kind),
            None if self.put(slot, &new[self.n..self.n + read.length]) => self.mark(slot),
            None => {}
        }
    }

    /// How long the string of a field is that stands at `n`, if it is plain.
    #[inline]
    fn plain_length(&self, decoder: &Decoder, field: &Field, new: &[u8]) -> Option<usize> {
        let text = new.get(self.n..)?;
        let length = match may_be_plain(decoder, field) {
            true => scan::find_text_special(text),
            false => 0,
        };
        let is_plain = length > 0
            && length <= decoder.options().limits.text_length
            && text.get(length) == Some(&b'<')
            && self.has_room(length)
            && (text[..length].is_ascii() || std::str::from_utf8(&text[..length]).is_ok());
        is_plain.then_some(length)
    }

    /// Whether slots can tell of so much more in the heap.
    fn has_room(&self, octets: usize) -> bool {
        let taken = self.fresh.heap().len();
        u32::try_from(taken.saturating_add(octets)).is_ok()
    }
}

/// Whether strings of a field are copied as they stand, if they are plain.
#[inline]
fn may_be_plain(decoder: &Decoder, field: &Field) -> bool {
    field.kind == LeafKind::Text && decoder.reads_as_it_stands(field.site)
}
