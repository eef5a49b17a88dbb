//! What all ways to keep a decoder's states have in common.

use std::fmt::Debug;

use bsoap_codec::decode::{Decoder, Loop, Piece, Places, Until};
use bsoap_codec::{Plan, Record};

use super::portion::{Entry, Mark};
use super::portioning::Portioning;
use crate::receive::carry::Carry;
use crate::receive::received::Fail;

/// Saves states of a decoder, sets it back to them, and says whether it has come to one of them again.
pub(super) trait Checkpointer: Debug + Send + Sync {
    /// What is kept of a place, beside where it is.
    type Saved: Debug + Send + Sync;

    /// For messages received like this.
    fn new(way: &Portioning) -> Self;

    /// Forgets all.
    fn clear(&mut self);

    /// Saves the state of the decoder.
    fn save(&mut self, decoder: &mut Decoder, record: &Record) -> Self::Saved;

    /// Reads on in a text, which is there from its beginning; saves states on the way.
    fn read(
        &mut self,
        reading: Reading<'_>,
        entries: &mut Vec<Entry<Self::Saved>>,
    ) -> Result<(), Fail>;

    /// Sets the decoder back to a state.
    fn restore(&mut self, decoder: &mut Decoder, saved: &Self::Saved, mark: Mark) -> bool;

    /// Whether the decoder is in a state, except for the counts of loops and the numbers of slots.
    fn agrees(&mut self, decoder: &mut Decoder, saved: &Self::Saved) -> bool;

    /// The loops open in a state, outermost first.
    fn loops(&self, saved: &Self::Saved, plan: &Plan) -> Vec<Loop>;

    /// How many levels are open in a state.
    fn depth(&self, saved: &Self::Saved) -> usize;

    /// A place that is now somewhere else: its loops are changed.
    fn carry(&mut self, saved: &mut Self::Saved, plan: &Plan, carry: &Carry);

    /// Another carry follows.
    fn carried(&mut self) {}

    /// Bytes that these states hold beside their entries.
    fn memory(&self, entries: &[Entry<Self::Saved>]) -> usize;

    /// Forgets what none of these needs.
    fn tidy(&mut self, _entries: &mut [Entry<Self::Saved>]) {}
}

/// A part of a text to be read.
#[derive(Debug)]
pub(super) struct Reading<'r> {
    pub(super) decoder: &'r mut Decoder,
    pub(super) record: &'r mut Record,
    pub(super) text: &'r [u8],
    /// So far.
    pub(super) end: usize,
    /// Whether the message ends there.
    pub(super) last: bool,
    /// Where to stop before.
    pub(super) until: Until,
}

impl Reading<'_> {
    /// Lets the decoder read up to a byte.
    pub(super) fn read_to(&mut self, end: usize, places: Option<&mut Places>) -> Result<(), Fail> {
        let from = self.decoder.offset() as usize;
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

    /// Whether it has come to where it is to stop.
    pub(super) fn is_there(&self) -> bool {
        self.record.slots().len() >= self.until.slots
            && self.decoder.depth() <= self.until.depth
            && self.decoder.is_between()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            offset: self.decoder.offset() as u32,
            slots: self.record.slots().len() as u32,
        }
    }
}
