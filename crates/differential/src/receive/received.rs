//! What a receiver gives back for each message, and what it has done in all.

use std::sync::Arc;

use bsoap_codec::Record;

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
    Aside,
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
    pub aside: u64,
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

/// How far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// More of the text is needed.
    More,
    /// To the end.
    Done,
}
