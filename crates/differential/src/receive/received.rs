//! What all methods to receive have in common: what they do, what they return, and reading a message in full.

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
    /// Identifies the message; none if no [cache](super::HistoryCache) has a history of it.
    pub stamp: Option<Stamp>,
    /// The message that the changes are relative to.
    pub since: Option<Stamp>,
}

/// Identifies a message among all that were read with a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(pub(super) u64);

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

impl Received {
    /// A message without a history.
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

/// The message cannot be read this way: all of it has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fail;

/// Why a message was not compared to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotCompared {
    /// There is no message to compare it with.
    NoHistory,
    /// It has little in common with the one before, so it is not worth keeping.
    Dissimilar,
    /// Comparing it failed, or was given up.
    Failed,
}

/// A method to receive a stream of messages, each compared with the one before.
pub(super) trait Method: Debug + Send + Sync {
    /// Reads all of a message, which has this text, and keeps it. It fails if the message is invalid.
    fn keep(
        &mut self,
        reader: &mut FullReader,
        root: ElementId,
        text: &str,
        message: &Bytes,
    ) -> Result<Arc<Record>, Fail>;

    /// Reads a message as what differs from the one kept, and keeps it instead.
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

    /// Forgets the message kept.
    fn forget(&mut self, reader: &mut FullReader);

    /// Bytes of the Record that is kept, and those held for the next message besides.
    fn memory(&self) -> (usize, usize);

    /// How many checkpoints it holds, and how many bytes they take.
    fn checkpoints(&self) -> (usize, usize);
}

/// Reads messages in full.
#[derive(Debug)]
pub(super) struct FullReader {
    pub(super) decoder: Decoder,
    pub(super) pace: Pace,
    pub(super) counts: ReceiveCounts,
    /// Memory for the next message: a Record that was given out last, and that nobody else may hold any more.
    pub(super) spare: Option<Arc<Record>>,
}

impl FullReader {
    /// Reads all of a message and keeps nothing.
    pub(super) fn read(&mut self, root: ElementId, message: &[u8]) -> Result<Received, Error> {
        let mut shared = self.record(root);
        let since = self.pace.start(message.len());
        // (If somebody keeps a weak one, he loses it.)
        let record = Arc::make_mut(&mut shared);
        self.decoder.decode_into(root, message, record)?;
        self.pace.learn(message.len(), since, false);
        self.spare = Some(shared.clone());
        Ok(Received::alone(shared))
    }

    /// A Record that nobody else holds: the spare one, if it is one.
    fn record(&mut self, root: ElementId) -> Arc<Record> {
        // (To ask for it to be changed takes as long as a value, and is done where it is.)
        let spare = self.spare.take();
        spare
            .filter(|record| Arc::strong_count(record) == 1)
            .unwrap_or_else(|| Arc::new(Record::new(self.decoder.plan().clone(), root)))
    }

    /// The same, empty, for a message that is to be kept.
    pub(super) fn empty_record(&mut self, root: ElementId) -> Record {
        let mut record = Arc::try_unwrap(self.record(root))
            .unwrap_or_else(|held| Record::new(held.plan().clone(), root));
        record.clear(root);
        record
    }
}

/// Frees unused capacity of a Record that is kept, unless it is a twentieth or less, or too little to be worth a copy.
pub(super) fn fit(mut record: Record) -> Arc<Record> {
    fn fit<T>(values: &mut Vec<T>, little: usize) {
        if values.capacity() > values.len() + values.len() / 20 + little {
            values.shrink_to_fit();
        }
    }
    fit(record.parts_mut().0, 32);
    fit(record.parts_mut().1, 256);
    Arc::new(record)
}

/// Bytes of unused strings that are tolerated in a Record.
const MAX_UNUSED_HEAP: usize = 64 << 10;

/// True if the next message is better read in full, because many strings of a Record are no longer used.
/// `heap`: bytes of its strings when that was done last.
pub(super) fn is_worn(record: &Record, heap: usize) -> bool {
    record.heap().len() > 2 * heap + MAX_UNUSED_HEAP
}
