//! What the ways to save a decoder's states have in common.

use std::fmt::Debug;

use bsoap_codec::decode::{Decoder, Loop, Piece, Places, Until};
use bsoap_codec::{Plan, Record};

use super::interrupt::Interrupts;
use super::portion::{Entry, Mark};
use super::portioning::Portioning;
use crate::receive::carry::Carry;
use crate::receive::received::Fail;

/// A way to save states of a decoder, to restore them, and to compare them with the decoder's current state.
pub(super) trait Checkpointer: Debug + Send + Sync {
    /// What is saved of a state, besides its location.
    type Saved: Debug + Send + Sync;

    /// A checkpointer for messages that are received as `way` says.
    fn new(way: &Portioning) -> Self;

    /// Forgets all states.
    fn clear(&mut self);

    /// Saves the decoder's state.
    fn save(&mut self, decoder: &mut Decoder, record: &Record) -> Self::Saved;

    /// Where the decoder is interrupted.
    fn interrupts(&self) -> &Interrupts;

    /// Lets the decoder read up to an offset of the text. States that are saved on the way are appended to `entries`.
    fn read_to(
        &mut self,
        reading: &mut Reading<'_>,
        end: usize,
        entries: &mut Vec<Entry<Self::Saved>>,
    ) -> Result<(), Fail>;

    /// Appends the decoder's state at an interrupt to `entries`, if it is worth saving.
    fn interrupt(&mut self, reading: &mut Reading<'_>, entries: &mut Vec<Entry<Self::Saved>>);

    /// Reads a part of a text. States that are saved on the way are appended to `entries`.
    fn read(
        &mut self,
        mut reading: Reading<'_>,
        entries: &mut Vec<Entry<Self::Saved>>,
    ) -> Result<(), Fail> {
        loop {
            let (from, end) = (reading.offset(), reading.end);
            let stop = self.interrupts().next(reading.text, from, end);
            self.read_to(&mut reading, stop.unwrap_or(end), entries)?;
            if stop.is_none() || reading.is_there() {
                return Ok(());
            }
            if reading.offset() == from {
                // A tag that is longer than a buffer, or a comment with tags in it.
                return self.read_to(&mut reading, end, entries);
            }
            self.interrupt(&mut reading, entries);
        }
    }

    /// Sets the decoder to a saved state whose location is now `mark`. Returns `false` if that is no longer possible.
    fn restore(&mut self, decoder: &mut Decoder, saved: &Self::Saved, mark: Mark) -> bool;

    /// Whether the decoder is in a saved state, apart from the counts of loops and the numbers of slots.
    fn agrees(&mut self, decoder: &mut Decoder, saved: &Self::Saved) -> bool;

    /// The loops that are open in a saved state, outermost first.
    fn loops(&self, saved: &Self::Saved, plan: &Plan) -> Vec<Loop>;

    /// The number of levels that are open in a saved state.
    fn depth(&self, saved: &Self::Saved) -> usize;

    /// Changes the loops of a saved state as `carry` says.
    fn carry(&mut self, saved: &mut Self::Saved, plan: &Plan, carry: &Carry);

    /// Ends a series of calls of [`carry`](Self::carry) with the same `carry`.
    fn carried(&mut self) {}

    /// Bytes held by the states of these entries, besides the entries themselves.
    fn memory(&self, entries: &[Entry<Self::Saved>]) -> usize;

    /// Frees what none of these entries needs.
    fn tidy(&mut self, _entries: &mut [Entry<Self::Saved>]) {}
}

/// A part of a text that a decoder reads.
#[derive(Debug)]
pub(super) struct Reading<'r> {
    pub(super) decoder: &'r mut Decoder,
    pub(super) record: &'r mut Record,
    pub(super) text: &'r [u8],
    /// The end of the part in `text`.
    pub(super) end: usize,
    /// Whether the message ends there.
    pub(super) last: bool,
    /// Where to stop before the end.
    pub(super) until: Until,
}

impl Reading<'_> {
    /// The number of bytes that the decoder has read.
    pub(super) fn offset(&self) -> usize {
        self.decoder.offset() as usize
    }

    /// Lets the decoder read up to an offset, and note places if it gets some.
    pub(super) fn read_to(&mut self, end: usize, places: Option<&mut Places>) -> Result<(), Fail> {
        let from = self.offset();
        let text = self.text.get(from..end).unwrap_or_default();
        let piece = Piece {
            text: simdutf8::basic::from_utf8(text).map_err(|_| Fail)?,
            base: from as u64,
            last: self.last && end == self.end,
            beyond: self.text.len().saturating_sub(end),
        };
        self.decoder
            .read_until(piece, self.record, self.until, places)
            // A decoder that reads all of it reports the error.
            .map_err(|_| Fail)
    }

    /// Whether the decoder is where it is to stop.
    pub(super) fn is_there(&self) -> bool {
        self.record.slots().len() >= self.until.slots
            && self.decoder.depth() <= self.until.depth
            && self.decoder.is_between()
    }

    /// The decoder's location.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            offset: self.decoder.offset() as u32,
            slots: self.record.slots().len() as u32,
        }
    }
}
