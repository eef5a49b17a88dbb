//! Reading a message whose skeleton is known.
//!
//! ```text
//! head = head?   lengths   piece = piece?  value  piece = piece?  value  …  tail = tail?
//! ```
//!
//! The given lengths say where each value is before the previous values have been read, so the processor reads several values
//! at the same time. Each value must have the given length, and all bytes between the values are compared. If anything
//! differs, a decoder reads the message.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, parse_number};
use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::datetime;
use bsoap_datatypes::kernel::form::{Blank, FillTarget, Filled, Filling, Form, LengthBytes};
use bsoap_datatypes::kernel::{self, Kernel};
use bsoap_xml::scan;

use super::block::{AT, CLOSE, DIGITS, Lengths, OPEN, ZERO, is_block_byte, lengths};
use super::skeleton::{BlockSpace, Info, Skeleton};

/// The bytes of a block after its key that are copied in one step.
const COPY: usize = 64;

/// The number of bytes of a message that are prefetched; the processor prefetches the rest of longer messages.
const PREFETCHED: usize = 1024;

/// A decoder for values that are not plain, which is made when it is needed first.
pub(super) struct Lazy<'d> {
    pub(super) decoder: &'d mut Option<Box<Decoder>>,
    pub(super) new: &'d dyn Fn() -> Decoder,
}

impl Lazy<'_> {
    /// The decoder.
    pub(super) fn get(&mut self) -> &mut Decoder {
        self.decoder.get_or_insert_with(|| Box::new((self.new)()))
    }
}

impl Skeleton {
    /// Whether a message begins with this skeleton's head, which ends with the key.
    #[inline]
    pub(super) fn begins(&self, message: &[u8]) -> bool {
        let head = self.head.len();
        if let Some(rest) = message.get(head..) {
            kernel::prefetch_all(&rest[..rest.len().min(PREFETCHED)]);
        }
        message.starts_with(&self.head)
    }

    /// Whether the Record of a message of this length is certainly within its limits and has at most `most` bytes.
    fn has_space(&self, length: usize, most: usize) -> bool {
        let slots = size_of_val(self.values.slots());
        // Values that do not fit their space are appended to the heap.
        let bytes = slots.saturating_add(self.heap).saturating_add(length);
        length <= self.longest && bytes <= self.options.record_memory(length as u64).min(most)
    }

    /// Reads a message that [begins](Self::begins) with the head into `values`. `None` if the message does not follow the
    /// skeleton, or its Record may exceed a limit or `most` bytes; then the contents of `values` are unspecified.
    pub(super) fn read(
        &mut self,
        message: &[u8],
        most: usize,
        decoder: &mut Lazy<'_>,
    ) -> Option<()> {
        if !self.has_space(message.len(), most) {
            return None;
        }
        let (at, at_end, to) = self.lengths(message)?;
        let lengths = message.get(at..at_end)?;
        let record = Arc::make_mut(&mut self.values);
        let (slots, heap) = record.parts_mut();
        if heap.len() != self.heap {
            // Not called if the length is right: reading a length that was just written in parts would stall.
            heap.truncate(self.heap);
        }
        let mut filled = None;
        if self.is_plain {
            let target = FillTarget { slots, heap };
            let lengths = LengthBytes {
                bytes: lengths,
                zero: ZERO,
            };
            filled = Kernel::best().fill(&self.form, (message, to), lengths, target);
        }
        let undecided = match filled {
            Some(Filled { is_same: false, .. }) => return None,
            Some(filled) => filled.undecided,
            // Up to here only the end of the lengths has been checked.
            None if !lengths.iter().copied().all(is_block_byte) => return None,
            None => u64::MAX,
        };
        if undecided != 0 {
            let mut reading = Reading {
                message,
                at: to,
                form: &self.form,
                infos: &self.infos,
                text_length: self.text_length,
                record,
            };
            let lengths = if self.is_left_alone { &[] } else { lengths };
            reading.read(lengths, undecided, decoder)?;
        }
        keep((self.head.len(), self.block), record, message, to)?;
        record.assume_checked();
        self.misses = 0;
        Some(())
    }

    /// Where the lengths begin and end, and where the block ends. `None` if the block has another form.
    #[inline]
    fn lengths(&self, message: &[u8]) -> Option<(usize, usize, usize)> {
        let behind = self.head.len();
        // Usually one byte gives the length of each value.
        let short = behind + AT.len();
        let end = short + self.form.blanks().len();
        let is_short = message.get(behind..short) == Some(AT)
            && message.get(end..end + CLOSE.len()) == Some(CLOSE)
            && end > short;
        match is_short {
            true => Some((short, end, end + CLOSE.len())),
            false => lengths(message, behind),
        }
    }
}

/// Stores the block, which ends at `to`, in its space in the heap, or at the end of the heap if it is longer. The space already
/// contains the block's first bytes, up to the key. `head` is the offset of the end of the key.
#[inline]
fn keep(
    (head, (slot, space)): (usize, (u32, BlockSpace)),
    record: &mut Record,
    message: &[u8],
    to: usize,
) -> Option<()> {
    let from = head - DIGITS - OPEN.len();
    let (known, length) = (head - from, to - from);
    let (slots, heap) = record.parts_mut();
    let mut at = space.at as usize;
    let free = heap.get_mut(at + known..at + space.width as usize)?;
    if let (true, Some(to), Some(new)) = (
        length <= known + COPY,
        free.first_chunk_mut::<COPY>(),
        message.get(head..).and_then(|rest| rest.first_chunk()),
    ) {
        *to = *new;
    } else if let Some(free) = free.get_mut(..length - known) {
        free.copy_from_slice(message.get(head..to)?);
    } else {
        at = heap.len();
        heap.extend_from_slice(message.get(from..to)?);
    }
    *slots.get_mut(slot as usize)? = at as u64 | (length as u64) << 32;
    Some(())
}

/// The part of a message after the block, while its values are read one by one.
struct Reading<'r> {
    message: &'r [u8],
    /// The offset up to which the message has been read.
    at: usize,
    form: &'r Form,
    infos: &'r [Info],
    text_length: usize,
    record: &'r mut Record,
}

impl Reading<'_> {
    /// Compares all pieces, and reads the values whose bit is set in `undecided`, the first value lowest; from the 64th value
    /// on, all. `lengths` are the given lengths of the values; the end of a value without one is searched for. `None` if the
    /// message does not follow the skeleton.
    #[inline(never)]
    fn read(&mut self, lengths: &[u8], undecided: u64, decoder: &mut Lazy<'_>) -> Option<()> {
        let mut given = Lengths::new(lengths);
        for (index, field) in self.form.blanks().iter().enumerate() {
            let given = given.next();
            let at = self.at.checked_add(field.length as usize)?;
            if self.message.get(self.at..at)? != self.form.piece(field) {
                return None;
            }
            let length = match given {
                Some(given) if index < 64 && undecided >> index & 1 == 0 => given,
                _ => self.value(field, at, decoder)?,
            };
            if given.is_some_and(|given| given != length) {
                return None;
            }
            self.at = at.checked_add(length)?;
        }
        let is_same = self.message.get(self.at..)? == self.form.tail();
        is_same.then_some(())
    }

    /// Reads the value of a field at an offset of the message into its slot, and returns its length. The byte after it is
    /// checked with the next piece.
    #[inline(always)]
    fn value(&mut self, field: &Blank, at: usize, decoder: &mut Lazy<'_>) -> Option<usize> {
        let info = self.infos.get(field.kind as usize)?;
        let (rest, end) = (self.message.get(at..)?, info.end());
        let fast = match info.kind {
            LeafKind::Text => self.string(field, info, rest),
            kind => parse_number(kind, rest),
        };
        let (slot, length) = match fast {
            Some(found) if rest.get(found.1) == Some(&end) => found,
            _ => {
                let decoder = decoder.get();
                decoder.read_again(info.site, self.message, at, self.record)?
            }
        };
        *self.record.parts_mut().0.get_mut(field.slot as usize)? = slot;
        Some(length)
    }

    /// The slot and the length of the string that `rest` begins with, copied to the field's space in the heap. `None` if the
    /// decoder has to read it because it is empty, too long or not plain ASCII.
    #[inline(always)]
    fn string(&mut self, field: &Blank, info: &Info, rest: &[u8]) -> Option<(u64, usize)> {
        let length = match info.quote {
            0 => scan::find_text_special(rest),
            quote => scan::find_value_special(rest, quote),
        };
        let text = &rest[..length];
        let is_valid = match info.filling {
            Filling::Text | Filling::Quoted(_) => !text.is_empty(),
            Filling::DateTime => datetime::is_plain_date_time(text),
            Filling::Uri => is_plain_uri(text),
            _ => false,
        };
        let has_space = length <= self.text_length.min(field.width as usize);
        if !(is_valid && has_space && text.is_ascii()) {
            return None;
        }
        let heap = self.record.parts_mut().1.get_mut(field.heap as usize..)?;
        heap.get_mut(..length)?.copy_from_slice(text);
        Some((u64::from(field.heap) | (length as u64) << 32, length))
    }
}

/// Whether a text is certainly an `anyURI` without white space to remove: it begins with a letter or digit, does not end with a
/// colon, and contains none of the characters that have to be looked at.
#[inline(always)]
fn is_plain_uri(text: &[u8]) -> bool {
    let has_special = text.iter().fold(false, |any, &byte| {
        any | (byte <= b' ') | (byte == b'%') | (byte == b'#')
    });
    text.first().is_some_and(u8::is_ascii_alphanumeric) && !text.ends_with(b":") && !has_special
}
