//! A chunk: the text of a part of the message, its DUT table, and the encoder's state at its first byte.
//!
//! Chunks are copied on write: if a message that is still being sent holds the text of a chunk, a patch changes a copy.
//! Templates for several endpoints share chunks in the same way.

use std::mem;

use bsoap_codec::Record;
use bsoap_codec::encode::{EncodeOptions, Error, PieceEncoder, State, Stop};
use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;

use super::build::{LeafSpecs, PolicyWidths, SegmentBuilder};
use super::dut_table::Segment;
use super::policy::{Policy, Stuffing};
use crate::stats::SendStats;

/// The approximate number of bytes of text for each slot.
const SLOT: usize = 32;

/// The approximate number of bytes that the encoder needs beyond the end of a text.
const AHEAD: usize = 4 << 10;

/// A part of a message.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) text: ChunkText,
    /// The state of the encoder at its first byte.
    pub(crate) state: State,
    pub(crate) slots: usize,
    /// The number of its slots that are values.
    pub(crate) values: usize,
    pub(crate) segments: Vec<Segment>,
    /// Whether any of its slots points into the heap.
    pub(crate) has_heap: bool,
}

/// The text of a chunk, which messages being sent share. If nobody shares it, it is changed in place.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkText {
    bytes: Bytes,
    /// The memory of the text in bytes, with spare capacity.
    memory: usize,
    /// Whether the reference count of the bytes is kept when they are edited. (That of bytes made of a `Vec` is not.)
    is_kept: bool,
}

impl ChunkText {
    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A shared reference to the bytes, which will never change.
    #[inline]
    pub(crate) fn share(&self) -> Bytes {
        self.bytes.clone()
    }

    /// Changes the bytes. If they are shared, a copy is changed, with capacity for `reserve` more bytes.
    //
    // The changed bytes stay where they were written: moving them would read wider words than were written, which waits for
    // the stores.
    #[inline]
    pub(crate) fn edit<R>(&mut self, reserve: usize, edit: impl FnOnce(&mut BytesMut) -> R) -> R {
        let (mut own, mut is_kept) = match mem::take(&mut self.bytes).try_into_mut() {
            Ok(own) => (own, self.is_kept),
            Err(shared) => {
                let mut own = BytesMut::with_capacity(shared.len() + reserve);
                own.extend_from_slice(&shared);
                (own, false)
            }
        };
        let place = own.as_ptr();
        let result = edit(&mut own);
        is_kept &= own.as_ptr() == place;
        if !is_kept {
            // Splitting off even an empty part gives the bytes a reference count, which they keep.
            drop(own.split_off(own.capacity()));
        }
        self.is_kept = true;
        self.memory = own.capacity();
        self.bytes = own.freeze();
        result
    }

    /// Replaces the text, in the same memory if it is not shared.
    #[inline]
    pub(crate) fn write<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let mut own = Vec::new();
        if self.bytes.is_unique() {
            // The bytes are removed first, since converting to a `Vec` would copy them.
            self.bytes.clear();
            own = mem::take(&mut self.bytes).into();
        }
        let result = write(&mut own);
        self.memory = own.capacity();
        self.bytes = own.into();
        self.is_kept = false;
        result
    }

    /// Bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }
}

impl Chunk {
    /// Bytes held, without the text.
    pub(crate) fn steady_memory(&self) -> usize {
        let segments: usize = self
            .segments
            .iter()
            .map(|segment| size_of::<Segment>() + segment.locations.memory())
            .sum();
        size_of::<Self>() + segments + self.state.memory()
    }
}

/// An estimate of the length of a message's text, in bytes.
pub(super) fn estimate(record: &Record) -> usize {
    record
        .slots()
        .len()
        .saturating_mul(SLOT)
        .saturating_add(record.heap().len())
}

/// The length of the text of some chunks.
pub(crate) fn length(chunks: &[Chunk]) -> u64 {
    let lengths = chunks.iter().map(|chunk| chunk.text.bytes().len() as u64);
    lengths.sum()
}

/// Encodes the next piece to a chunk of about `size` bytes, or up to the state `until`. `text` gives its memory.
pub(crate) fn encode_piece(
    encoder: &mut PieceEncoder<'_>,
    record: &Record,
    policy: &Policy,
    specs: &mut LeafSpecs,
    (size, until): (usize, Option<&State>),
    mut text: ChunkText,
) -> Result<(Chunk, Stop), Error> {
    let state = encoder.state().clone();
    let first = state.slot();
    let slots = record.slots().len();
    let mut builder = SegmentBuilder::new(record.plan(), policy, specs, first, slots);
    let before = text.bytes().len();
    let stop = text.write(|text| {
        let is_first = text.capacity() == 0;
        // A text that is encoded again mostly has about the same length.
        let expected = if is_first {
            size.min(estimate(record))
        } else {
            before + before / 8 + AHEAD
        };
        text.reserve_exact(expected);
        let stop = if matches!(policy.stuffing, Stuffing::None | Stuffing::Exact) {
            encoder.run(text, size, until, &(), &mut builder)
        } else {
            encoder.run(text, size, until, &PolicyWidths(policy), &mut builder)
        };
        let needed = text.len() + policy.chunks.reserve;
        let spare = if is_first { 0 } else { needed / 4 + AHEAD };
        if text.capacity() > needed + spare {
            text.shrink_to(needed);
        }
        stop
    })?;
    let end = encoder.state().slot();
    let (mut segments, has_heap) = builder.finish(end, text.bytes().len());
    for segment in &mut segments {
        segment.see_order(record.slots(), first);
    }
    let chunk = Chunk {
        text,
        state,
        slots: end - first,
        values: segments.iter().map(Segment::values).sum(),
        segments,
        has_heap,
    };
    Ok((chunk, stop))
}

/// Encodes a chunk again in which only values have changed. It becomes several chunks if it has grown too long. Returns
/// their number; `None` if the encoder would not stop at the end of the chunk.
pub(crate) fn reencode(
    chunks: &mut Vec<Chunk>,
    number: usize,
    record: &Record,
    policy: &Policy,
    options: EncodeOptions,
    specs: &mut LeafSpecs,
    counts: &mut SendStats,
) -> Result<Option<usize>, Error> {
    let until = chunks.get(number + 1).map(|next| next.state.clone());
    if until.as_ref().is_some_and(|until| !until.agrees(until)) {
        // Between occurrences without slots the encoder cannot stop at a particular one.
        return Ok(None);
    }
    let chunk = &mut chunks[number];
    let (values, length) = (chunk.values, chunk.text.bytes().len());
    let size = policy.chunks.size_for(length);
    let mut encoder = PieceEncoder::resume(record, chunk.state.clone(), options)?;
    let mut text = mem::take(&mut chunk.text);
    specs.recycle(mem::take(&mut chunk.segments));
    let mut encoded = SmallVec::<[Chunk; 1]>::new();
    let mut now = 0;
    let is_end = loop {
        let end = (size, until.as_ref());
        let text = mem::take(&mut text);
        let (chunk, stop) = encode_piece(&mut encoder, record, policy, specs, end, text)?;
        now += chunk.text.bytes().len();
        encoded.push(chunk);
        if stop != Stop::Size {
            break stop == Stop::End;
        }
    };
    counts.values += values as u64;
    if now != length {
        counts.rewritten += values as u64;
    }
    let count = encoded.len();
    let end = if is_end { chunks.len() } else { number + 1 };
    chunks.splice(number..end, encoded);
    Ok(Some(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> ChunkText {
        let mut text = ChunkText::default();
        text.write(|text| {
            text.reserve_exact(16);
            text.extend_from_slice(bytes);
        });
        text
    }

    #[test]
    fn what_is_sent_never_sees_a_later_edit() {
        let mut text = text(b"<x>1</x>");
        let before = text.bytes().as_ptr();
        for digit in b'2'..b'5' {
            drop(text.share());
            text.edit(8, |text| text[3] = digit);
            assert_eq!((text.bytes().as_ptr(), text.memory()), (before, 16));
        }
        let sent = text.share();
        text.edit(8, |text| text[3] = b'5');
        assert_eq!((&*sent, text.bytes()), (&b"<x>4</x>"[..], &b"<x>5</x>"[..]));
        let after = text.bytes().as_ptr();
        text.edit(8, |text| text.extend_from_slice(b"<y/>"));
        assert_eq!(
            (text.bytes(), text.bytes().as_ptr()),
            (&b"<x>5</x><y/>"[..], after)
        );
        let sent = text.share();
        text.edit(8, |text| text.truncate(8));
        assert_eq!((sent.len(), text.bytes()), (12, &b"<x>5</x>"[..]));
        let other = text.clone();
        assert_eq!(other.bytes().as_ptr(), text.bytes().as_ptr());
        text.edit(8, |text| text[3] = b'6');
        assert_eq!(other.bytes(), b"<x>5</x>");
    }

    #[test]
    fn what_is_sent_never_sees_another_text_which_has_its_memory_if_it_has_left() {
        let mut text = text(b"<x>1</x>");
        let before = text.bytes().as_ptr();
        for _ in 0..2 {
            drop(text.share());
            text.write(|text| text.extend_from_slice(b"<y/>"));
            assert_eq!(text.bytes(), b"<y/>");
            assert_eq!((text.bytes().as_ptr(), text.memory()), (before, 16));
        }
        let sent = text.share();
        text.write(|text| text.extend_from_slice(b"<z/>"));
        assert_eq!((&*sent, text.bytes()), (&b"<y/>"[..], &b"<z/>"[..]));
    }
}
