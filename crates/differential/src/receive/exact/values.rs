//! What was read of a value, put where it belongs. A string for which there is capacity where the one before is, or a longer
//! one before that, takes its place in the heap, so that the heap does not grow with each message.

use bsoap_codec::decode::Decoder;
use bsoap_codec::plan::LeafKind;
use bsoap_xml::scan;

use super::pass::{Pass, word};
use super::rows::Field;

impl Pass {
    /// Reads the value of a field that is at a place of the new text, and followed by its gap, into a slot. Whether it is
    /// another, and its length; nothing if it could not be read, and then nothing is changed.
    #[inline]
    pub(super) fn read_into(
        &mut self,
        decoder: &mut Decoder,
        field: &Field,
        slot: usize,
        place: usize,
        new: &[u8],
    ) -> Option<(bool, usize)> {
        let text = new.get(place..)?;
        if field.kind == LeafKind::Text && decoder.reads_verbatim(field.site) {
            let length = scan::find_text_special(text);
            let is_plain = length > 0
                && length <= decoder.options().limits.text_length
                && field.gap.matches_at(text, length)
                && u32::try_from(self.fresh.heap().len() + length).is_ok()
                && (text[..length].is_ascii() || std::str::from_utf8(&text[..length]).is_ok());
            if is_plain {
                return Some((self.put(slot, &text[..length]), length));
            }
        }
        let (value, length) = decoder.read_again(field.site, new, place, &mut self.fresh)?;
        let is_followed = field.gap.matches_at(text, length);
        is_followed.then(|| (self.keep(slot, value, field.kind), length))
    }

    /// Puts a string into a slot that has one: in its place, if it fits. Whether it is another.
    #[inline]
    pub(super) fn put(&mut self, slot: usize, text: &[u8]) -> bool {
        let (heap, capacities) = (self.fresh.parts_mut().1, &mut self.history.capacities);
        let (from, length) = octets(self.slots[slot]);
        let capacity = capacities.of(slot, length);
        if text.len() <= capacity
            && let Some(kept) = heap.get_mut(from..from + text.len())
        {
            // Most often the first bytes differ.
            if text.len() == length && word(kept, 0) == word(text, 0) && *kept == *text {
                return false;
            }
            kept.copy_from_slice(text);
            capacities.set(slot, text.len(), capacity);
            self.slots[slot] = slot_of(from, text.len()).unwrap_or_default();
            return true;
        }
        capacities.set(slot, text.len(), text.len());
        let from = heap.len();
        heap.extend_from_slice(text);
        self.slots[slot] = slot_of(from, text.len()).unwrap_or_default();
        true
    }

    /// Puts a value that was read again into its slot. If it is a string, its octets are at the end of the heap. Whether it
    /// is another.
    #[inline]
    pub(super) fn keep(&mut self, slot: usize, value: u64, kind: LeafKind) -> bool {
        let before = self.slots[slot];
        let mut value = value;
        if kind.is_in_heap() {
            let (heap, capacities) = (self.fresh.parts_mut().1, &mut self.history.capacities);
            let ((from, length), (to, was)) = (octets(value), octets(before));
            let capacity = capacities.of(slot, was);
            if length <= capacity && to + capacity <= from {
                let (kept, added) = heap.split_at_mut(from);
                let is_same = length == was && kept[to..to + was] == *added;
                kept[to..to + length].copy_from_slice(added);
                heap.truncate(from);
                if is_same {
                    return false;
                }
                capacities.set(slot, length, capacity);
                value = slot_of(to, length).unwrap_or_default();
            } else {
                capacities.set(slot, length, length);
            }
        }
        self.slots[slot] = value;
        value != before || kind.is_in_heap()
    }
}

/// Where a string is in the heap, by its slot.
#[inline]
pub(super) fn octets(slot: u64) -> (usize, usize) {
    ((slot & 0xffff_ffff) as usize, (slot >> 32) as usize)
}

/// The slot of a string that is there.
#[inline]
pub(super) fn slot_of(from: usize, length: usize) -> Option<u64> {
    let (from, length) = (u32::try_from(from).ok()?, u32::try_from(length).ok()?);
    Some(u64::from(from) | u64::from(length) << 32)
}
