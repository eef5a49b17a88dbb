//! Runs of strings: they are found in blocks of bytes, validated as UTF-8 together, and copied, or decoded if they have
//! references.

use bsoap_codec::decode::Decoder;
use bsoap_codec::plan::LeafKind;
use bsoap_xml::{Limits, scan};

use super::pass::{LONG_STRING, Pass, differs};
use super::rows::{Field, RowPattern};
use super::run::DecodedTexts;

/// The maximum number of strings in a block at the beginning of a run. It grows with the length of the run.
const MIN_TEXTS: usize = 64;
/// The maximum number of strings in any block.
const MAX_TEXTS: usize = 256;

impl Pass {
    /// Reads strings of an array at `o` and `n`, up to one after which the next seems unchanged, or up to a checkpoint.
    /// Returns the number of strings read; if it is 0, nothing is changed.
    pub(super) fn text_run(
        &mut self,
        decoder: &Decoder,
        pattern: &RowPattern,
        old: &[u8],
        new: &[u8],
    ) -> usize {
        let ([field], 1) = (&*pattern.fields, pattern.width) else {
            return 0;
        };
        if field.kind != LeafKind::Text || !decoder.reads_verbatim(field.site) {
            return 0;
        }
        let mut decoded = std::mem::take(&mut self.run.decoded);
        let limits = &decoder.options().limits;
        let end = self.find_texts(field, limits, &mut decoded, old, new);
        let count = self.put_texts(&decoded, end, new);
        self.run.decoded = decoded;
        count
    }

    /// Stores the strings found, which end at `end`, in their slots. Returns their number.
    fn put_texts(&mut self, decoded: &DecodedTexts, end: usize, new: &[u8]) -> usize {
        let count = self.run.changed.places.len();
        let text = new.get(self.n..end).unwrap_or_default();
        let octets = self.fresh.heap().len() + text.len();
        // The text between the strings equals the old one, which is valid.
        let is_valid = u32::try_from(octets).is_ok() && simdutf8::basic::from_utf8(text).is_ok();
        if count == 0 || !is_valid {
            return 0;
        }
        let places = std::mem::take(&mut self.run.changed.places);
        let (mut others, mut begin, mut ends) = (0, 0, decoded.ends.iter().peekable());
        for (number, &place) in places.iter().enumerate() {
            let (slot, place) = (self.cursor + number, place as usize);
            let length = self.run.changed.now[number] as usize;
            let mut text = &new[place..place + length];
            if let Some(&(_, end)) = ends.next_if(|(of, _)| *of == number) {
                text = &decoded.octets[begin..end];
                begin = end;
            }
            if self.put(slot, text) {
                self.mark(slot);
                others += 1;
            }
        }
        let starts = &mut self.history.trace.starts;
        starts[self.cursor..self.cursor + count].copy_from_slice(&places);
        self.run.changed.places = places;
        self.cursor += count;
        (self.o, self.n) = (starts[self.cursor] as usize, end);
        self.touched += others;
        self.in_blocks += others;
        count
    }

    /// Finds the next strings in the new text: their offsets and lengths go to `run.changed`. Returns the offset of the string
    /// after them.
    fn find_texts(
        &mut self,
        field: &Field,
        limits: &Limits,
        decoded: &mut DecodedTexts,
        old: &[u8],
        new: &[u8],
    ) -> usize {
        let checkpoint = self.next_checkpoint();
        let most = self.run.values.clamp(MIN_TEXTS, MAX_TEXTS);
        let trace = &self.history.trace;
        let sites = trace.sites.get(self.cursor..).unwrap_or_default();
        let starts = trace.starts.get(self.cursor..).unwrap_or_default();
        let mut before = sites.windows(2).zip(starts.windows(2)).take(most);
        let (places, lengths) = (&mut self.run.changed.places, &mut self.run.changed.now);
        places.clear();
        lengths.clear();
        decoded.clear();
        let (mut behind, gap) = (self.n, field.gap.len());
        scan::each_text(new, behind, |at, mut length| {
            let (sites, starts) = before.next()?;
            let (start, next) = (starts[0], starts[1]);
            let (end, text) = (field.end(start, next, old)?, new.get(at..)?);
            let is_next = sites == [field.site; 2]
                && end - start as usize <= LONG_STRING
                && (start as usize) < checkpoint;
            if !is_next {
                return None;
            }
            if text.get(length) != Some(&b'<') {
                length = decoded.add(places.len(), text, length, limits)?;
            }
            let is_valid = (1..=limits.text_length).contains(&length);
            if !is_valid || !field.gap.matches_at(text, length) {
                return None;
            }
            places.push(at as u32);
            lengths.push(length as u32);
            behind = at + length + gap;
            differs(old, next as usize, new, behind).then_some(behind)
        });
        behind
    }
}
