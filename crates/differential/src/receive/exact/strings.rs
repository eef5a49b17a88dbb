//! A string of which a part is another: that part is read again, with whatever references it holds.
//!
//! ```text
//! old   <v>&lt;now&gt;05:45:24&lt;/now&gt;…</v>      text
//! new   <v>&lt;now&gt;05:45:29&lt;/now&gt;…</v>
//!          └──── front ────┘ │└──── back ────┘
//! octets   <now>05:45:24</now>…                        front and back have no references
//! ```
//!
//! The part must neither begin nor end within a reference, a character, or a line end of two characters. Then the octets
//! in front of it and behind are those they were.

use std::ops::Range;

use bsoap_codec::decode::{Decoder, Site};
use bsoap_xml::{Limits, cdata_length, decode_cdata, decode_text, decoded_length, scan};
use memchr::{memchr, memmem, memrchr2};
use smallvec::SmallVec;

use super::pass::Pass;
use super::values::{octets, slot_of};

/// What a string is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringForm {
    /// Character data, up to the next `<`.
    Text,
    /// One CDATA section.
    Section,
}

const OPEN: &[u8] = b"<![CDATA[";
const CLOSE: &[u8] = b"]]>";

/// A string in a text: its form, where its characters are, and where what ends it ends: the `</` is there.
struct Literal {
    form: StringForm,
    chars: Range<usize>,
    end: usize,
}

impl Literal {
    /// The string whose text begins at `start` and goes on at `at`, at least; it does not end before `open`. Nothing if it
    /// is not all of an element's content; or not there yet.
    fn find(text: &[u8], start: usize, at: usize, open: usize) -> Option<Self> {
        let form = match text.get(start..)?.starts_with(OPEN) {
            true => StringForm::Section,
            false => StringForm::Text,
        };
        let (chars, end) = match form {
            // An empty one ends where it begins: what is behind that is none of it.
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

    fn length(&self, raw: &[u8]) -> Option<usize> {
        match self.form {
            StringForm::Text => decoded_length(raw),
            StringForm::Section => Some(cdata_length(raw)),
        }
    }

    fn decode(&self, raw: &str, limits: &Limits, to: &mut Vec<u8>) -> Option<()> {
        match self.form {
            StringForm::Text => decode_text(raw, limits, to),
            StringForm::Section => decode_cdata(raw, to),
        }
    }
}

/// What became of a string.
pub(super) struct Reread {
    /// Its slot.
    pub(super) value: u64,
    /// Whether its octets are others.
    pub(super) is_other: bool,
    /// Where it ends in the old text, and in the new.
    pub(super) ends: (usize, usize),
}

impl Pass {
    /// Reads that part of a string again which differs. `start`: where its text begins, before `o`. Gives up if that is most
    /// of the message.
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
            // What is in front of `n` is in front of `o` too.
            Literal::find(new, at, self.n, self.n)?,
        );
        let (before, now) = (old.get(was.chars.clone())?, new.get(is.chars.clone())?);
        // An empty text may mean a default.
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
            // What is left to be the same is not worth reading this alone, and looking for it.
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
        // The shorter of the two shows where the part is.
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

    /// Replaces a part of the string in `slot` by the octets that `decode` appends. Returns the string's slot after that, which is
    /// another if the length differs, and whether its octets have changed.
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
    /// A string as long as it was in which only some plain characters are others: they are put in their places. Whether its
    /// octets are others; nothing, and nothing is done, if it is not such a string.
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
        // Texts are the same up to `at`, and mean the same `octet` octets.
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

/// A part as long as this, and half of the message, is most of the work.
const LARGE: usize = 1 << 10;

/// Parts of a string that are put in their places one by one.
const MOST_PARTS: usize = 24;

/// Whether a character means itself, whatever is around it, as long as it is in no reference.
fn is_plain(byte: u8) -> bool {
    byte == b' ' || (byte.is_ascii_graphic() && !matches!(byte, b'&' | b'<' | b'>' | b']'))
}

/// How many bytes of two strings are the same in front and behind, at least `front`, cut so that neither ends within
/// anything.
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

/// Where a reference begins that does not end.
fn open_reference(text: &[u8]) -> Option<usize> {
    memrchr2(b'&', b';', text).filter(|&at| text[at] == b'&')
}

/// How many bytes two texts have in common at their end.
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
