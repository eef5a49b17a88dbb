//! Following a skeleton: what a message costs whose skeleton is known.
//!
//! ```text
//! head = head?   lengths   piece = piece?  value  piece = piece?  value  …  tail = tail?
//! ```
//!
//! Where a value stands is known from the lengths told, before the values before it have been read: so nothing waits for
//! anything, and the processor reads several values at the same time. Each is read all the same, and must be as long as was
//! told; and all bytes between are compared. Whatever is not as it should be, the message is not followed, and an ordinary
//! reading says what it is.

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, parse_number};
use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::datetime;
use bsoap_datatypes::kernel::form::{Blank, Filling, Sheet, WIDEST};
use bsoap_datatypes::kernel::{self, Kernel};
use bsoap_xml::scan;

use super::block::{Lengths, SHORT, ZERO, lengths, may_stand};
use super::skeleton::{BEYOND, Info, Room, STEP, Skeleton};

/// So many bytes of a message are asked of memory at once; the processor sees by itself to those of longer ones.
const SUMMONED: usize = 1024;

/// What decodes the values that are not plain; made when it is needed.
pub(super) struct Lazy<F> {
    pub(super) decoder: Option<Decoder>,
    pub(super) make: Option<F>,
}

impl<F: FnOnce() -> Decoder> Lazy<F> {
    pub(super) fn new(make: F) -> Self {
        Self {
            decoder: None,
            make: Some(make),
        }
    }

    pub(super) fn get(&mut self) -> Option<&mut Decoder> {
        if let Some(make) = self.make.take() {
            self.decoder = Some(make());
        }
        self.decoder.as_mut()
    }
}

impl Skeleton {
    /// Whether a message begins as those of this skeleton do, up to the key.
    #[inline]
    pub(super) fn begins(&self, message: &[u8]) -> bool {
        let head = self.head.len();
        if let Some(rest) = message.get(head..) {
            kernel::summon(&rest[..rest.len().min(SUMMONED)]);
        }
        message.starts_with(&self.head)
    }

    /// Reads a message that begins as those of this skeleton do: afterwards, its values are in the Record. `false` if it has
    /// to be read otherwise; the Record is then of no use.
    pub(super) fn follow<F>(&mut self, message: &[u8], decoder: &mut Lazy<F>) -> bool
    where
        F: FnOnce() -> Decoder,
    {
        self.try_follow(message, decoder).is_some()
    }

    fn try_follow<F>(&mut self, message: &[u8], decoder: &mut Lazy<F>) -> Option<()>
    where
        F: FnOnce() -> Decoder,
    {
        if message.len() > self.longest {
            return None;
        }
        let behind = self.head.len();
        // Most often, a byte for each value.
        let short = behind + super::block::AT.len();
        let end = short + self.fields.len();
        let is_short = message.get(end) == Some(&b'"') && !self.fields.is_empty();
        let (at, at_end, to) = match is_short {
            true if message.get(behind..short)? == super::block::AT
                && message.get(end..)?.starts_with(super::block::CLOSE) =>
            {
                (short, end, end + super::block::CLOSE.len())
            }
            _ => lengths(message, behind)?,
        };
        let told = &message[at..at_end];
        let record = self.values.get_mut();
        let heap = record.parts_mut().1;
        if heap.len() != self.heap {
            // (Not if it is that long: what has just been written is slow to read in other portions, and all waits for it.)
            heap.truncate(self.heap);
        }
        let mut reading = Reading {
            message,
            at: to,
            is_same: true,
            pieces: &self.pieces,
            fields: &self.fields,
            infos: &self.infos,
            text_length: self.text_length,
            record,
        };
        if self.is_left_alone && !told.iter().copied().all(may_stand) {
            return None;
        }
        let told = if self.is_left_alone { &[] } else { told };
        match told.len() == self.fields.len() {
            true => reading.with_bytes(told, decoder)?,
            false => reading.with_some(0, Lengths::new(told), decoder)?,
        }
        let at = reading.at;
        if !reading.is_same || *message.get(at..)? != *self.pieces.get(self.tail.clone())? {
            return None;
        }
        let block = self.head.len() - super::block::DIGITS - super::block::OPEN.len();
        let slot = reading.keep(self.block.1, message.get(block..to)?, behind - block);
        *reading
            .record
            .parts_mut()
            .0
            .get_mut(self.block.0 as usize)? = slot;
        Some(())
    }
}

/// A message on its way.
struct Reading<'r> {
    message: &'r [u8],
    /// Up to here it has been read, and all pieces have been the same.
    at: usize,
    is_same: bool,
    pieces: &'r [u8],
    fields: &'r [Blank],
    infos: &'r [Info],
    text_length: usize,
    record: &'r mut Record,
}

impl Reading<'_> {
    /// All fields, for each of which a byte tells its length.
    #[inline]
    fn with_bytes<F>(&mut self, told: &[u8], decoder: &mut Lazy<F>) -> Option<()>
    where
        F: FnOnce() -> Decoder,
    {
        let kernel = Kernel::best();
        let mut done = 0;
        while done < told.len() && self.is_same {
            if self.text_length >= WIDEST {
                let (slots, heap) = self.record.parts_mut();
                let filled = kernel.fill(
                    (self.message, self.at),
                    (&told[done..], ZERO),
                    self.pieces,
                    &self.fields[done..],
                    Sheet { slots, heap },
                );
                done += filled.blanks;
                (self.at, self.is_same) = (filled.at, filled.is_same);
            }
            if let Some(&length) = told.get(done) {
                let length = usize::from(length.wrapping_sub(ZERO));
                if length > SHORT {
                    // A long value makes up for a stride: what stands here is no length. Nor need it be anything that may
                    // stand in an attribute: so far only its end has been looked at.
                    if !told.iter().copied().all(may_stand) {
                        return None;
                    }
                    return self.with_some(done, Lengths::new(told), decoder);
                }
                self.field(done, Some(length), decoder)?;
                done += 1;
            }
        }
        Some(())
    }

    /// All fields from one on, of some of which nothing is told.
    fn with_some<F>(
        &mut self,
        done: usize,
        mut told: Lengths<'_>,
        decoder: &mut Lazy<F>,
    ) -> Option<()>
    where
        F: FnOnce() -> Decoder,
    {
        for _ in 0..done {
            told.next();
        }
        for index in done..self.fields.len() {
            self.field(index, told.next(), decoder)?;
            if !self.is_same {
                return None;
            }
        }
        Some(())
    }

    /// One field, and the piece before it.
    #[inline]
    fn field<F>(&mut self, index: usize, told: Option<usize>, decoder: &mut Lazy<F>) -> Option<()>
    where
        F: FnOnce() -> Decoder,
    {
        let field = self.fields.get(index)?;
        let wrong = self.difference(field.piece as usize, field.length as usize, self.at)?;
        let at = self.at + field.length as usize;
        let info = self.infos.get(field.tag as usize)?;
        let length = self.value(field, info, at, told, decoder)?;
        self.is_same &= wrong == 0 && told.unwrap_or(length) == length;
        self.at = at.checked_add(length)?;
        Some(())
    }

    /// What differs between a piece and the text at a place: nothing, if they are the same.
    #[inline(always)]
    fn difference(&self, piece: usize, length: usize, at: usize) -> Option<u64> {
        if length <= BEYOND
            && let Some(text) = self.message.get(at..)?.first_chunk::<BEYOND>()
        {
            let piece = self.pieces.get(piece..)?.first_chunk::<BEYOND>()?;
            let mask = MASKS.get(length)?;
            let mut wrong = 0;
            for index in 0..BEYOND / 8 {
                let word = |bytes: &[u8; BEYOND]| {
                    let word = bytes[8 * index..].first_chunk();
                    word.map_or(0, |word| u64::from_le_bytes(*word))
                };
                wrong |= (word(text) ^ word(piece)) & word(mask);
            }
            return Some(wrong);
        }
        let is_same = self.message.get(at..at.checked_add(length)?)?
            == self.pieces.get(piece..piece + length)?;
        Some(u64::from(!is_same))
    }

    /// Reads the value at a place and returns its length. What follows it is seen when the next piece is compared.
    #[inline(always)]
    fn value<F>(
        &mut self,
        field: &Blank,
        info: &Info,
        at: usize,
        told: Option<usize>,
        decoder: &mut Lazy<F>,
    ) -> Option<usize>
    where
        F: FnOnce() -> Decoder,
    {
        if matches!(info.filling, Filling::Number(_)) || info.kind == LeafKind::Boolean {
            let number = parse_number(info.kind, self.message.get(at..)?);
            if let Some((slot, length)) = number
                && told.unwrap_or(length) == length
            {
                self.store(field, slot)?;
                return Some(length);
            }
        } else if info.filling != Filling::Other {
            let length = match told {
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
            .get()?
            .read_again(info.site, self.message, at, self.record)?;
        self.store(field, slot)?;
        Some(length)
    }

    #[inline(always)]
    fn store(&mut self, field: &Blank, slot: u64) -> Option<()> {
        *self.record.parts_mut().0.get_mut(field.slot as usize)? = slot;
        Some(())
    }

    /// A string of plain characters, that has room.
    #[inline(always)]
    fn string(&mut self, field: &Blank, info: &Info, at: usize, length: usize) -> Option<u64> {
        let text = self.message.get(at..at.checked_add(length)?)?;
        if length > field.width as usize || length > self.text_length {
            return None;
        }
        if length == 0 {
            let is_string = matches!(info.filling, Filling::Text | Filling::Quoted(_));
            return (info.may_be_empty && is_string).then_some(u64::from(field.room));
        }
        let is_good = match info.filling {
            Filling::DateTime => datetime::is_plain_date_time(text),
            Filling::Uri => is_plain_uri(text),
            _ => true,
        };
        if !is_good {
            return None;
        }
        let to = field.room as usize;
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
        Some(u64::from(field.room) | (length as u64) << 32)
    }

    /// Puts octets into their room, the first of which stand there already, or behind all others.
    #[inline]
    fn keep(&mut self, room: Room, octets: &[u8], known: usize) -> u64 {
        let heap = self.record.parts_mut().1;
        let mut at = room.at as usize;
        match (
            heap.get_mut(at + known..at + octets.len()),
            octets.get(known..),
        ) {
            (Some(own), Some(new)) if octets.len() <= room.width as usize => {
                own.copy_from_slice(new);
            }
            _ => {
                at = heap.len();
                heap.extend_from_slice(octets);
            }
        }
        at as u64 | (octets.len() as u64) << 32
    }
}

/// By length, the bytes of a piece.
static MASKS: [[u8; BEYOND]; BEYOND + 1] = {
    let mut masks = [[0; BEYOND]; BEYOND + 1];
    let mut length = 0;
    while length <= BEYOND {
        let mut at = 0;
        while at < length {
            masks[length][at] = 0xff;
            at += 1;
        }
        length += 1;
    }
    masks
};

/// Whether the first bytes are all ASCII that stands for itself, in content or in an attribute.
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

/// Whether a text is certainly an `anyURI` that needs no white space taken away: a letter or digit in front, and nothing in it that
/// could be wrong.
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
