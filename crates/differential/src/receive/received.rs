//! The common parts of all methods to receive: their trait, their result, and decoding a whole message.

use std::fmt::Debug;
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::change::Changes;
use super::pace::Pace;
use crate::bypass::Bypass;
use crate::stats::ReceiveCounts;

/// A message that was received.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Received {
    /// The values. They never change, so the caller may keep them.
    pub record: Arc<Record>,
    /// The slots that changed since the previous message.
    pub changes: Changes,
    /// How the message was read.
    pub mode: Mode,
    /// Identifies the message; `None` if it was received without a history from a [cache](super::HistoryCache).
    pub stamp: Option<Stamp>,
    /// The message that the changes are relative to; `None` if everything may have changed.
    pub since: Option<Stamp>,
}

/// Identifies a message among all messages that this process has received with a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(pub(super) u64);

/// How a message was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The whole message was decoded and kept for the next one.
    Regular,
    /// The message was compared with the previous one to its end.
    Fast,
    /// The whole message was decoded and nothing was kept, because the stream is bypassed.
    Bypassed,
}

impl Received {
    /// A message that was received without a history.
    pub fn alone(record: impl Into<Arc<Record>>) -> Self {
        Self::new(record.into(), Changes::all(), Mode::Bypassed)
    }

    pub(super) fn new(record: Arc<Record>, changes: Changes, mode: Mode) -> Self {
        Self {
            record,
            changes,
            mode,
            stamp: None,
            since: None,
        }
    }
}

/// The message cannot be read by this method: a decoder has to read all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fail;

/// Why a message was not compared to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotCompared {
    /// There is no previous message to compare it with.
    NoHistory,
    /// It has little in common with the previous message, so it is not worth keeping.
    Dissimilar,
    /// The comparison failed, or was given up.
    Failed,
}

/// A method to receive a stream of messages by comparing each with the previous one.
pub(super) trait Method: Debug + Send + Sync {
    /// Decodes a whole message and keeps it for the next one. `text` is the text in `message`.
    ///
    /// # Errors
    /// Fails if the message is invalid.
    fn keep(
        &mut self,
        reader: &mut FullReader,
        root: ElementId,
        text: &str,
        message: &Bytes,
    ) -> Result<Arc<Record>, Fail>;

    /// Compares a message with the one kept, decodes only what differs, and keeps the new message instead.
    fn compare(
        &mut self,
        reader: &mut FullReader,
        bypass: &mut Bypass,
        root: ElementId,
        message: &Bytes,
    ) -> Result<Received, NotCompared>;

    /// See [`Stream::again`](super::Stream::again).
    fn again(&self, _root: ElementId, _message: &[u8]) -> Option<Arc<Record>> {
        None
    }

    /// Whether a message that is compared with one that has warnings gets the same.
    fn keeps_warnings(&self) -> bool {
        false
    }

    /// Drops the message kept.
    fn forget(&mut self, reader: &mut FullReader);

    /// The bytes of the Record that is kept, and the other bytes that are held for the next message.
    fn memory(&self) -> (usize, usize);

    /// The number of checkpoints held, and their size in bytes.
    fn checkpoints(&self) -> (usize, usize);
}

/// Decodes whole messages.
#[derive(Debug)]
pub(super) struct FullReader {
    pub(super) decoder: Decoder,
    pub(super) pace: Pace,
    pub(super) counts: ReceiveCounts,
    /// The Record that was handed out last. Its memory is used for the next message if nobody else holds it.
    pub(super) spare: Option<Arc<Record>>,
}

impl FullReader {
    /// Decodes a whole message and keeps nothing of it.
    pub(super) fn read(&mut self, root: ElementId, message: &[u8]) -> Result<Received, Error> {
        let mut shared = self.record(root);
        let since = self.pace.start(message.len());
        // Weak references to it are lost.
        let record = Arc::make_mut(&mut shared);
        self.decoder.decode_into(root, message, record)?;
        self.pace.learn(message.len(), since, false);
        self.spare = Some(shared.clone());
        Ok(Received::alone(shared))
    }

    /// A Record that nobody else holds: the spare one if possible, otherwise a new one.
    fn record(&mut self, root: ElementId) -> Arc<Record> {
        // Reading the count is cheaper than `Arc::get_mut`, which takes as long as decoding a value.
        let spare = self.spare.take();
        spare
            .filter(|record| Arc::strong_count(record) == 1)
            .unwrap_or_else(|| Arc::new(Record::new(self.decoder.plan().clone(), root)))
    }

    /// An empty Record for a message that is to be kept, in the memory of the spare one if possible.
    pub(super) fn empty_record(&mut self, root: ElementId) -> Record {
        let mut record = Arc::try_unwrap(self.record(root))
            .unwrap_or_else(|held| Record::new(held.plan().clone(), root));
        record.clear(root);
        record
    }
}

/// Frees the unused capacity of a Record that is kept, unless it is at most a twentieth or too little to be worth a copy.
pub(super) fn fit(mut record: Record) -> Arc<Record> {
    fn fit<T>(values: &mut Vec<T>, little: usize) {
        if values.capacity() > values.len() + values.len() / 20 + little {
            values.shrink_to_fit();
        }
    }
    fit(record.parts_mut().0, 32);
    fit(record.parts_mut().1, 256);
    record.assume_checked();
    Arc::new(record)
}

/// The number of bytes of unused strings that are tolerated in a Record.
const MAX_UNUSED_HEAP: usize = 64 << 10;

/// Whether the next message should be decoded as a whole, because many strings in the heap of this Record are no longer used.
/// `heap`: the heap's size in bytes when a whole message was last decoded.
pub(super) fn is_worn(record: &Record, heap: usize) -> bool {
    record.heap().len() > 2 * heap + MAX_UNUSED_HEAP
}
