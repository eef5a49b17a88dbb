//! Following a skeleton: what a message costs whose skeleton is known.
//!
//! ```text
//! head = head?   lengths   piece = piece?  value  piece = piece?  value  …  tail = tail?
//! ```
//!
//! A value's location is known from the given lengths, before the values before it have been read: so nothing waits for
//! anything, and the processor reads several values at the same time. Each must be read completely and have the given
//! length, and all bytes between are compared. If anything differs, the hint is not followed, and an ordinary
//! reading says what it is.

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, parse_number};
use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::datetime;
use bsoap_datatypes::kernel::form::{Blank, FillTarget, Filled, Filling, Form, LengthBytes};
use bsoap_datatypes::kernel::{self, Kernel};
use bsoap_xml::scan;

use super::block::{AT, CLOSE, DIGITS, Lengths, OPEN, ZERO, is_block_byte, lengths};
use super::skeleton::{BlockSpace, Info, STEP, Skeleton};

/// The bytes of a block after its key that are copied in one step.
const COPY: usize = 64;

/// How many bytes of a message are prefetched at once; the processor prefetches the rest of longer ones.
const PREFETCHED: usize = 1024;

/// What decodes the values that are not plain; made when it is needed.
pub(super) struct Lazy<'d> {
    pub(super) decoder: &'d mut Option<Box<Decoder>>,
    pub(super) new: &'d dyn Fn() -> Decoder,
}

impl Lazy<'_> {
    pub(super) fn get(&mut self) -> &mut Decoder {
        self.decoder.get_or_insert_with(|| Box::new((self.new)()))
    }
}

impl Skeleton {
    /// Whether a message begins as those of this skeleton do, up to the key.
    #[inline]
    pub(super) fn begins(&self, message: &[u8]) -> bool {
        let head = self.head.len();
        if let Some(rest) = message.get(head..) {
            kernel::prefetch_all(&rest[..rest.len().min(PREFETCHED)]);
        }
        message.starts_with(&self.head)
    }

    /// Reads a message that begins as those of this skeleton do: afterwards its values are there. `None` if it has to be read
    /// otherwise; the values of the message before are then lost.
    pub(super) fn read(&mut self, message: &[u8], decoder: &mut Lazy<'_>) -> Option<()> {
        self.follow(message, decoder)?;
        self.misses = 0;
        Some(())
    }

    fn follow(&mut self, message: &[u8], decoder: &mut Lazy<'_>) -> Option<()> {
        if message.len() > self.longest {
            return None;
        }
        let (at, at_end, to) = self.lengths(message)?;
        let lengths = message.get(at..at_end)?;
        let record = self.values.get_mut();
        let (slots, heap) = record.parts_mut();
        if heap.len() != self.heap {
            // (Not if it is that long: what has just been written is slow to read in other portions, and all waits for it.)
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
        if filled != Some(Self::ALL) {
            let mut reading = Reading {
                message,
                at: to,
                form: &self.form,
                infos: &self.infos,
                text_length: self.text_length,
                record,
            };
            match filled {
                Some(filled) if !filled.is_same => return None,
                Some(filled) => reading.undecided(lengths, filled.undecided, decoder)?,
                None => reading.all(lengths, self.is_left_alone, decoder)?,
            }
        }
        keep((self.head.len(), self.block), record, message, to)
    }

    /// Nothing is left to do.
    const ALL: Filled = Filled {
        is_same: true,
        undecided: 0,
    };

    /// Where the lengths begin and end, and where the block ends.
    #[inline]
    fn lengths(&self, message: &[u8]) -> Option<(usize, usize, usize)> {
        let behind = self.head.len();
        // Most often, a byte for each value.
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

/// Puts the block, which ends at `to`, into its space, which has its first bytes already, or at the end of the heap. `head` are
/// the bytes up to the end of its key.
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

/// A message on its way.
struct Reading<'r> {
    message: &'r [u8],
    /// Up to here it has been read, and all pieces have been the same.
    at: usize,
    form: &'r Form,
    infos: &'r [Info],
    text_length: usize,
    record: &'r mut Record,
}

impl Reading<'_> {
    /// Reads the undecided fields, where all else is as it should be.
    #[inline(never)]
    fn undecided(&mut self, lengths: &[u8], undecided: u64, decoder: &mut Lazy<'_>) -> Option<()> {
        for (index, (field, &length)) in self.form.blanks().iter().zip(lengths).enumerate() {
            let length = usize::from(length.wrapping_sub(ZERO));
            self.at += field.length as usize;
            if undecided >> index & 1 == 1 {
                let info = self.infos.get(field.kind as usize)?;
                let found = self.value(field, info, self.at, Some(length), decoder)?;
                if found != length {
                    return None;
                }
            }
            self.at += length;
        }
        Some(())
    }

    /// All fields, one after the other.
    #[inline(never)]
    fn all(&mut self, lengths: &[u8], is_left_alone: bool, decoder: &mut Lazy<'_>) -> Option<()> {
        // So far only the end of the lengths has been checked.
        if !lengths.iter().copied().all(is_block_byte) {
            return None;
        }
        let mut given = Lengths::new(if is_left_alone { &[] } else { lengths });
        for field in self.form.blanks() {
            self.field(field, given.next(), decoder)?;
        }
        let is_it = self.message.get(self.at..)? == self.form.tail();
        is_it.then_some(())
    }

    /// One field, and the piece before it.
    #[inline]
    fn field(&mut self, field: &Blank, given: Option<usize>, decoder: &mut Lazy<'_>) -> Option<()> {
        let at = self.at.checked_add(field.length as usize)?;
        if self.message.get(self.at..at)? != self.form.piece(field) {
            return None;
        }
        let info = self.infos.get(field.kind as usize)?;
        let length = self.value(field, info, at, given, decoder)?;
        if given.is_some_and(|given| given != length) {
            return None;
        }
        self.at = at.checked_add(length)?;
        Some(())
    }

    /// Reads the value at a place and returns its length. What follows it is seen when the next piece is compared.
    #[inline(always)]
    fn value(
        &mut self,
        field: &Blank,
        info: &Info,
        at: usize,
        given: Option<usize>,
        decoder: &mut Lazy<'_>,
    ) -> Option<usize> {
        if matches!(info.filling, Filling::Number(_)) || info.kind == LeafKind::Boolean {
            let number = parse_number(info.kind, self.message.get(at..)?);
            if let Some((slot, length)) = number
                && given.unwrap_or(length) == length
            {
                self.store(field, slot)?;
                return Some(length);
            }
        } else if info.filling != Filling::Other {
            let length = match given {
                Some(length) => length,
                None => {
                    let rest = self.message.get(at..)?;
                    match info.quote {
                        0 => scan::find_text_special(rest),
                        quote => scan::find_value_special(rest, quote),
                    }
                }
            };
            if let Some(slot) = self.string(field, info, at, length) {
                self.store(field, slot)?;
                return Some(length);
            }
        }
        let (slot, length) = decoder
            .get()
            .read_again(info.site, self.message, at, self.record)?;
        self.store(field, slot)?;
        Some(length)
    }

    #[inline(always)]
    fn store(&mut self, field: &Blank, slot: u64) -> Option<()> {
        *self.record.parts_mut().0.get_mut(field.slot as usize)? = slot;
        Some(())
    }

    /// A string of plain characters that fits its space.
    #[inline(always)]
    fn string(&mut self, field: &Blank, info: &Info, at: usize, length: usize) -> Option<u64> {
        let text = self.message.get(at..at.checked_add(length)?)?;
        if length > field.width as usize || length > self.text_length {
            return None;
        }
        if length == 0 {
            let is_string = matches!(info.filling, Filling::Text | Filling::Quoted(_));
            return (info.may_be_empty && is_string).then_some(u64::from(field.heap));
        }
        let is_good = match info.filling {
            Filling::DateTime => datetime::is_plain_date_time(text),
            Filling::Uri => is_plain_uri(text),
            _ => true,
        };
        if !is_good {
            return None;
        }
        let to = field.heap as usize;
        let heap = self.record.parts_mut().1;
        let mut done = 0;
        while done < length {
            let step = (length - done).min(STEP);
            let from: [u8; STEP] = match self.message.get(at + done..)?.first_chunk() {
                Some(chunk) => *chunk,
                None => {
                    let mut chunk = [0; STEP];
                    chunk[..step].copy_from_slice(text.get(done..done + step)?);
                    chunk
                }
            };
            if !is_plain(&from, step, info.quote) {
                return None;
            }
            *heap.get_mut(to + done..)?.first_chunk_mut()? = from;
            done += STEP;
        }
        Some(u64::from(field.heap) | (length as u64) << 32)
    }
}

/// By length, the bytes of a string.
static MASKS: [[u8; STEP]; STEP + 1] = {
    let mut masks = [[0; STEP]; STEP + 1];
    let mut length = 0;
    while length <= STEP {
        let mut at = 0;
        while at < length {
            masks[length][at] = 0xff;
            at += 1;
        }
        length += 1;
    }
    masks
};

/// Whether the first bytes are all ASCII that is allowed literally, in content or in an attribute.
#[inline(always)]
fn is_plain(bytes: &[u8; STEP], length: usize, quote: u8) -> bool {
    let mask = &MASKS[length.min(STEP)];
    let mut special = 0;
    for (&byte, &mask) in bytes.iter().zip(mask) {
        let is_special = (byte.wrapping_sub(0x20) >= 0x5f)
            | (byte == b'<')
            | (byte == b'&')
            | (byte == b']')
            | (byte == quote);
        special |= u8::from(is_special) & mask;
    }
    special == 0
}

/// Whether a text is certainly an `anyURI` that needs no white space taken away: a letter or digit in front, and nothing in
/// it that could be wrong.
#[inline(always)]
fn is_plain_uri(text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first(), text.last()) else {
        return false;
    };
    let special = text.iter().fold(false, |any, &byte| {
        any | (byte <= b' ') | (byte == b'%') | (byte == b'#')
    });
    first.is_ascii_alphanumeric() && *last != b':' && !special
}
