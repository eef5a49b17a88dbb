//! Storing re-read values. A new string replaces the old one in the heap if the capacity there is sufficient, so the heap does
//! not grow with each message.

use bsoap_codec::decode::Decoder;
use bsoap_codec::plan::LeafKind;
use bsoap_xml::scan;

use super::pass::{Pass, word};
use super::rows::Field;

impl Pass {
    /// Reads the value of a field at the offset `place` of the new text into a slot. Returns whether the value has changed,
    /// and the length of its text. `None` if it cannot be read, or is not followed by the field's gap; then nothing is changed.
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

    /// Stores a string in a slot that has one, in the old string's place if it fits. Returns whether the string has changed.
    #[inline]
    pub(super) fn put(&mut self, slot: usize, text: &[u8]) -> bool {
        let (heap, capacities) = (self.fresh.parts_mut().1, &mut self.history.capacities);
        let (from, length) = octets(self.slots[slot]);
        let capacity = capacities.of(slot, length);
        if text.len() <= capacity
            && let Some(kept) = heap.get_mut(from..from + text.len())
        {
            // Usually the first bytes differ.
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

    /// Stores a re-read value in its slot. If it is a string, its octets are at the end of the heap and are moved to the old
    /// string's place if they fit. Returns whether the value has changed.
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

/// The offset in the heap and the length of the string in a slot.
#[inline]
pub(super) fn octets(slot: u64) -> (usize, usize) {
    ((slot & 0xffff_ffff) as usize, (slot >> 32) as usize)
}

/// The slot of a string at this offset in the heap and of this length. `None` if one of them exceeds 32 bits.
#[inline]
pub(super) fn slot_of(from: usize, length: usize) -> Option<u64> {
    let (from, length) = (u32::try_from(from).ok()?, u32::try_from(length).ok()?);
    Some(u64::from(from) | u64::from(length) << 32)
}
