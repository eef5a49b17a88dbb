//! What all receivers have in common: what they can do, and what they return.

use std::fmt::Debug;
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::change::Changes;

/// A message that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Received {
    /// Its values. They may be kept: they are never changed.
    pub record: Arc<Record>,
    /// What changed since the message before.
    pub changes: Changes,
    /// How it was read.
    pub mode: Mode,
}

/// How a message was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// All of it was read, and kept for the next.
    Regular,
    /// It was compared with the one before, to the end.
    Fast,
    /// All of it was read, and nothing kept: the stream does not repeat.
    Bypassed,
}

/// What has been done since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Messages, those with errors among them.
    pub messages: u64,
    /// Those that were compared to the end.
    pub fast: u64,
    /// Those that were read without looking at the one before, since the stream did not repeat.
    pub bypassed: u64,
    /// Those that were begun to be compared, and then read as a whole.
    pub failed: u64,
    /// Values read again alone.
    pub touched: u64,
    /// How often the decoder read on, where markup differed.
    pub restructured: u64,
}

/// The message cannot be read this way: all of it has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fail;

impl Received {
    /// A message that was read without a previous one.
    pub(super) fn alone(record: Record) -> Self {
        Self {
            record: Arc::new(record),
            changes: Changes::all(),
            mode: Mode::Bypassed,
        }
    }
}

/// One way to receive a stream of messages.
pub(super) trait Receiver: Debug + Send + Sync {
    fn decoder(&mut self) -> &mut Decoder;

    /// See [`Stream::receive`](super::Stream::receive).
    fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error>;

    /// See [`Stream::again`](super::Stream::again).
    fn again(&mut self, _root: ElementId, _message: &[u8]) -> Option<Received> {
        None
    }

    /// See [`Stream::is_bypassed`](super::Stream::is_bypassed).
    fn is_bypassed(&self) -> bool;

    /// See [`Stream::pass`](super::Stream::pass).
    fn pass(&mut self) -> bool {
        false
    }

    fn totals(&self) -> Totals;

    /// Bytes held between messages.
    fn memory(&self) -> usize;

    /// Bytes held for the next message, besides the Record and the decoder.
    fn history_memory(&self) -> usize;

    /// How many checkpoints it holds, and how many bytes they take.
    fn checkpoints(&self) -> (usize, usize);
}

/// Frees unused capacity, unless it is a twentieth or less, or too little to be worth a copy.
pub(super) fn fit<T>(values: &mut Vec<T>, little: usize) {
    if values.capacity() > values.len() + values.len() / 20 + little {
        values.shrink_to_fit();
    }
}
