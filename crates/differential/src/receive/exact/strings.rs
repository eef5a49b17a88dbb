//! Re-reading the part of a string that differs, including its references.
//!
//! ```text
//! old   <v>&lt;now&gt;05:45:24&lt;/now&gt;…</v>      text
//! new   <v>&lt;now&gt;05:45:29&lt;/now&gt;…</v>
//!          └──── front ────┘ │└──── back ────┘
//! octets   <now>05:45:24</now>…                        the decoded value
//! ```
//!
//! The part neither begins nor ends inside a reference, a character, or a line end of two characters. The octets before and
//! after it are therefore unchanged.

use std::ops::Range;

use bsoap_codec::decode::{Decoder, Site};
use bsoap_xml::{Limits, cdata_length, decode_cdata, decode_text, decoded_length, scan};
use memchr::{memchr, memmem, memrchr2};
use smallvec::SmallVec;

use super::pass::Pass;
use super::values::{octets, slot_of};

/// The form of a string in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringForm {
    /// Character data, up to the next `<`.
    Text,
    /// One CDATA section.
    Section,
}

/// The start of a CDATA section.
const OPEN: &[u8] = b"<![CDATA[";
/// The end of a CDATA section.
const CLOSE: &[u8] = b"]]>";

/// A string in a text.
struct Literal {
    form: StringForm,
    /// The range of its characters.
    chars: Range<usize>,
    /// The offset of the `</` after it.
    end: usize,
}

impl Literal {
    /// The string whose text begins at `start` and reaches at least to `at`. A CDATA section does not end before `open`.
    /// `None` if the string is not the whole content of an element.
    fn find(text: &[u8], start: usize, at: usize, open: usize) -> Option<Self> {
        let form = match text.get(start..)?.starts_with(OPEN) {
            true => StringForm::Section,
            false => StringForm::Text,
        };
        let (chars, end) = match form {
            // An empty string ends where it begins, so `at` is not in it.
            StringForm::Text if at > start && text.get(start) == Some(&b'<') => return None,
            StringForm::Text => {
                let end = at + memchr(b'<', text.get(at..)?)?;
                (start..end, end)
            }
            StringForm::Section => {
                let from = start + OPEN.len();
                let sought = open.saturating_sub(CLOSE.len() - 1).max(from);
                let end = sought + memmem::find(text.get(sought..)?, CLOSE)?;
                (from..end, end + CLOSE.len())
            }
        };
        let ends = text.get(end..end + 2) == Some(b"</");
        (ends && at <= chars.end && chars.start <= at).then_some(Self { form, chars, end })
    }

    /// The number of octets that raw text decodes to; `None` if that is not known.
    fn length(&self, raw: &[u8]) -> Option<usize> {
        match self.form {
            StringForm::Text => decoded_length(raw),
            StringForm::Section => Some(cdata_length(raw)),
        }
    }

    /// Appends the octets that raw text decodes to. `None` if the text is invalid or exceeds the limits.
    fn decode(&self, raw: &str, limits: &Limits, to: &mut Vec<u8>) -> Option<()> {
        match self.form {
            StringForm::Text => decode_text(raw, limits, to),
            StringForm::Section => decode_cdata(raw, to),
        }
    }
}

/// A string of which a part was re-read.
pub(super) struct Reread {
    /// The new contents of its slot.
    pub(super) value: u64,
    /// Whether its octets have changed.
    pub(super) is_other: bool,
    /// The ends of the string in the old and in the new text.
    pub(super) ends: (usize, usize),
}

impl Pass {
    /// Re-reads the part of a string that differs. `start` is the offset of the string in the old text, before `o`. `None` if
    /// that is not possible, or if the part is more than half of the message; then `gave_up` is set.
    pub(super) fn string(
        &mut self,
        decoder: &Decoder,
        site: Site,
        slot: usize,
        start: usize,
        old: &[u8],
        new: &[u8],
    ) -> Option<Reread> {
        if site.is_attribute() || !decoder.reads_verbatim(site) {
            return None;
        }
        let limits = &decoder.options().limits;
        let at = start.wrapping_add(self.shift());
        let (was, is) = (
            Literal::find(old, start, self.o, start)?,
            // The texts before `n` and `o` are equal.
            Literal::find(new, at, self.n, self.n)?,
        );
        let (before, now) = (old.get(was.chars.clone())?, new.get(is.chars.clone())?);
        // An empty text may stand for a default value.
        if now.is_empty() || is.end - at > limits.text_length {
            return None;
        }
        let differs = self.o - was.chars.start;
        if let Some(is_other) = self.patch(slot, was.form, before, now, differs) {
            return Some(Reread {
                value: self.slots[slot],
                is_other,
                ends: (was.end, is.end),
            });
        }
        let (front, back) = common(before, now, differs, was.form)?;
        let (changed, added) = (
            &before[front..before.len() - back],
            &now[front..now.len() - back],
        );
        if added.len() > LARGE && 2 * added.len() > new.len() {
            // Too little of the message can be the same.
            self.gave_up = true;
            return None;
        }
        if is.form == StringForm::Text {
            let around = front.saturating_sub(2)..(now.len() - back + 2).min(now.len());
            if memmem::find(&now[around], CLOSE).is_some() {
                return None;
            }
        }
        let length = octets(self.slots[slot]).1;
        let removed = was.length(changed)?;
        // The offset of the part is found from the shorter one of front and back.
        let kept = match front <= back {
            true => was.length(&before[..front])?,
            false => length.checked_sub(was.length(&before[before.len() - back..])? + removed)?,
        };
        let added = std::str::from_utf8(added).ok()?;
        let decode = |heap: &mut Vec<u8>| is.decode(added, limits, heap);
        let (value, is_other) = self.splice(self.slots[slot], kept..kept + removed, decode)?;
        Some(Reread {
            value,
            is_other,
            ends: (was.end, is.end),
        })
    }

    /// Replaces a part of the string in `slot` by the octets that `decode` appends. Returns the new contents of the slot,
    /// which differ if the length does, and whether the octets have changed.
    fn splice(
        &mut self,
        slot: u64,
        part: Range<usize>,
        decode: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> Option<(u64, bool)> {
        let (from, length) = octets(slot);
        let (part, all) = (from + part.start..from + part.end, from..from + length);
        let heap = self.fresh.parts_mut().1;
        let end = heap.len();
        decode(heap)?;
        let added = heap.len() - end;
        if part.end > all.end || all.end > end {
            heap.truncate(end);
            return None;
        }
        if added == part.len() {
            let (kept, fresh) = heap.split_at_mut(end);
            let is_other = kept[part.clone()] != *fresh;
            kept[part].copy_from_slice(fresh);
            heap.truncate(end);
            return Some((slot, is_other));
        }
        // The string is copied to the end: front, part, back.
        heap.extend_from_within(all.start..part.start);
        heap[end..].rotate_left(added);
        heap.extend_from_within(part.end..all.end);
        Some((slot_of(end, heap.len() - end)?, true))
    }
}

impl Pass {
    /// Patches a string of unchanged length in which only some plain characters differ: these are written to their places.
    /// Returns whether the octets have changed. `None` if the string is not of this kind; then nothing is changed.
    fn patch(
        &mut self,
        slot: usize,
        form: StringForm,
        before: &[u8],
        now: &[u8],
        differs: usize,
    ) -> Option<bool> {
        if form != StringForm::Text || before.len() != now.len() {
            return None;
        }
        let (from, length) = octets(self.slots[slot]);
        let all = self.fresh.parts_mut().1.get_mut(from..from + length)?;
        let mut parts: SmallVec<[(usize, &[u8]); MOST_PARTS]> = SmallVec::new();
        // The texts are equal up to `at`, and decode to the same `octet` octets.
        let (mut at, mut octet) = (0, 0);
        let mut same = differs;
        loop {
            let gap = before.get(at..at + same)?;
            if open_reference(gap).is_some() || parts.len() == MOST_PARTS {
                return None;
            }
            octet += decoded_length(gap)?;
            at += same;
            let pairs = before[at..].iter().zip(&now[at..]);
            let others = pairs.take_while(|(one, other)| one != other);
            let (mut length, mut are_plain) = (0, true);
            for (&one, &other) in others {
                are_plain &= is_plain(one) && is_plain(other);
                length += 1;
            }
            if !are_plain || all.get(octet..octet + length)? != &before[at..at + length] {
                return None;
            }
            parts.push((octet, &now[at..at + length]));
            (at, octet) = (at + length, octet + length);
            same = scan::find_difference(&before[at..], &now[at..]);
            if at + same == now.len() {
                break;
            }
        }
        for (octet, part) in &parts {
            all[*octet..octet + part.len()].copy_from_slice(part);
        }
        Some(!parts.is_empty())
    }
}

/// If the changed part has more bytes than this, and is more than half of the message, the whole message is decoded.
const LARGE: usize = 1 << 10;

/// The maximum number of parts of a string that are patched.
const MOST_PARTS: usize = 24;

/// Whether a character outside of references decodes to itself, whatever is around it.
fn is_plain(byte: u8) -> bool {
    byte == b' ' || (byte.is_ascii_graphic() && !matches!(byte, b'&' | b'<' | b'>' | b']'))
}

/// The numbers of equal bytes at the front and at the back of two strings, of which the first `front` are known to be equal.
/// The counts are reduced so that the part between them neither begins nor ends inside a reference, a character or a line end.
fn common(old: &[u8], new: &[u8], mut front: usize, form: StringForm) -> Option<(usize, usize)> {
    let is_within = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0xc0 == 0x80);
    while front > 0 && (is_within(old.get(front)) || is_within(new.get(front))) {
        front -= 1;
    }
    if form == StringForm::Text
        && let Some(at) = open_reference(old.get(..front)?)
    {
        front = at;
    }
    if front > 0 && old[front - 1] == b'\r' {
        front -= 1;
    }
    let mut back = same_behind(old.get(front..)?, new.get(front..)?);
    while back > 0 && is_within(old.get(old.len() - back)) {
        back -= 1;
    }
    if form == StringForm::Text {
        for text in [old, new] {
            if open_reference(&text[front..text.len() - back]).is_some() {
                back -= 1 + memchr(b';', &text[text.len() - back..])?;
            }
        }
    }
    let ends_line = |text: &[u8]| text[front..text.len() - back].ends_with(b"\r");
    if back > 0 && old[old.len() - back] == b'\n' && (ends_line(old) || ends_line(new)) {
        back -= 1;
    }
    Some((front, back))
}

/// The offset of a reference that begins in the text and does not end there; `None` if there is none.
fn open_reference(text: &[u8]) -> Option<usize> {
    memrchr2(b'&', b';', text).filter(|&at| text[at] == b'&')
}

/// The number of equal bytes at the ends of two texts.
fn same_behind(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let most = one.len().min(other.len());
    let (one, other) = (&one[one.len() - most..], &other[other.len() - most..]);
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[..most - same].iter().rev();
    let pairs = rest.zip(other[..most - same].iter().rev());
    same + pairs.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_differs_is_cut_around_references_characters_and_line_ends() {
        let part = |old: &str, new: &str, form| {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            let (front, back) = common(old, new, front, form).expect("they can be divided");
            let text = |text: &[u8]| String::from_utf8(text[front..text.len() - back].to_vec());
            (text(old).expect("cut well"), text(new).expect("cut well"))
        };
        let both = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        let text = |old, new| part(old, new, StringForm::Text);
        assert_eq!(text("a&lt;b", "a&gt;b"), both("&lt;", "&gt;"));
        assert_eq!(text("12:45:24 x", "12:45:29 x"), both("4", "9"));
        assert_eq!(text("a&lt;b", "at;b"), both("&lt;", "t;"));
        assert_eq!(text("aéb", "aèb"), both("é", "è"));
        assert_eq!(text("x\r\ny", "x\ry"), both("\r\n", "\r"));
        assert_eq!(text("x\ny", "x\r\ny"), both("\n", "\r\n"));
        assert_eq!(text("1111", "11111"), both("", "1"));
        assert_eq!(
            part("a&lt;b", "a&gt;b", StringForm::Section),
            both("l", "g")
        );
    }

    #[test]
    fn texts_have_as_much_in_common_at_the_end_as_bytes_are_the_same() {
        let one: Vec<u8> = (0..200).collect();
        for at in 0..200 {
            let mut other = one.clone();
            other[at] ^= 1;
            assert_eq!(same_behind(&one, &other), 199 - at);
            assert_eq!(same_behind(&one[at..], &one), 200 - at);
        }
    }
}
