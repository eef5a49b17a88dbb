//! Strings on the fast road: copied as they stand, or with their references replaced, as long as what follows them is known.

use std::ops::RangeInclusive;

use bsoap_xml::scan;

use super::sink::Sink;
use crate::plan::Leaf;
use crate::record::heap_slot;

use super::arrays::Items;
use super::builder::Builder;
use super::piece::Piece;
use super::spelling::Spelling;

impl<S: Sink> Builder<'_, S> {
    /// Strings of an array, `most` at the most, as long as each is followed by the same bytes. Returns where the first one
    /// stands that is not.
    pub(super) fn strings(
        &mut self,
        window: &Piece<'_>,
        items: &mut Items<'_>,
        (has_default, checked): (bool, Option<&Leaf>),
        mut at: usize,
        most: usize,
    ) -> usize {
        for _ in 0..most {
            let read = self.text_before(window, at, items.again, has_default, checked);
            let Some((slot, length)) = read else { break };
            self.place(window, at, length, items.site);
            self.record.push(slot);
            at += length + items.again.len();
            if let Some(places) = self.sink.places() {
                let offset = window.base + (at - items.lead) as u64;
                if offset >= places.due() {
                    let written = (self.record.slots.len(), self.record.heap.len());
                    items.note(places, self.plan, self.machine, written, offset);
                }
            }
        }
        at
    }

    /// A text that stands at `at` and is followed by `close`, appended to the heap: its slot, and how long it is where it
    /// stands. Nothing is changed if it is not that simple, or does not surely have the facets of the leaf that is to be
    /// checked.
    #[inline]
    pub(super) fn text_before(
        &mut self,
        window: &Piece<'_>,
        at: usize,
        close: &Spelling,
        has_default: bool,
        checked: Option<&Leaf>,
    ) -> Option<(u64, usize)> {
        let bytes = window.text.as_bytes();
        let rest = bytes.get(at..)?;
        let plain = scan::find_text_special(rest);
        let mut length = plain;
        while *rest.get(length)? != b'<' {
            length += 1 + scan::find_markup(&rest[length + 1..]);
        }
        if !close.stands_at(bytes, at + length)
            || length > self.options.limits.text_length
            || (length == 0 && has_default)
        {
            return None;
        }
        let start = self.record.heap.len();
        if plain == length {
            self.record.heap.extend_from_slice(&rest[..length]);
        } else {
            self.replaced(window.text.get(at..at + length)?)?;
        }
        if let Some(leaf) = checked
            && !self.surely_takes(leaf, start)
        {
            self.record.heap.truncate(start);
            return None;
        }
        let heap = &mut self.record.heap;
        let slot = heap_slot(start, heap.len() - start);
        if slot.is_none() || heap.len() > self.options.record_heap {
            heap.truncate(start);
            return None;
        }
        Some((slot?, length))
    }

    /// Whether what stands in the heap from `start` on surely has the facets of a leaf.
    #[inline]
    fn surely_takes(&self, leaf: &Leaf, start: usize) -> bool {
        let text = self.record.heap.get(start..).unwrap_or_default();
        let is_sure = |sure: &RangeInclusive<u32>| {
            u32::try_from(text.len()).is_ok_and(|length| sure.contains(&length))
        };
        leaf.sure.as_ref().is_some_and(is_sure)
            || std::str::from_utf8(text).is_ok_and(|text| leaf.simple.surely_takes(text))
    }

    /// Appends a text whose references and line ends are replaced, and nothing if there is more to it.
    #[inline(never)]
    fn replaced(&mut self, raw: &str) -> Option<()> {
        let start = self.record.heap.len();
        let replaced = bsoap_xml::decode_text(raw, &self.options.limits, &mut self.record.heap);
        if replaced.is_none() {
            self.record.heap.truncate(start);
        }
        replaced
    }
}
