//! What is kept of a message for the next one to be compared with.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Checkpoint, Trace};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

/// The text of a message.
#[derive(Debug)]
pub(super) enum Text {
    /// As it came, in UTF-8; so many bytes are a byte order mark.
    Came(Bytes, usize),
    /// Decoded or put together.
    Made(String),
}

impl Default for Text {
    fn default() -> Self {
        Self::Made(String::new())
    }
}

impl Text {
    /// The text, without a byte order mark.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Came(bytes, mark) => bytes.get(*mark..).unwrap_or_default(),
            Self::Made(text) => text.as_bytes(),
        }
    }

    /// The byte order mark's length, if it is as it came.
    pub(super) fn mark(&self) -> Option<usize> {
        match self {
            Self::Came(_, mark) => Some(*mark),
            Self::Made(_) => None,
        }
    }
}

/// A message that was read, with all that is needed to read another like it.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) root: Root,
    pub(super) text: Text,
    /// Where the values stand in the text.
    pub(super) trace: Trace,
    /// The values. Never absent between messages.
    pub(super) record: Option<Arc<Record>>,
    /// States of the decoder, by their place in the text. The first is that before the first byte.
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Up to here the text tells its encoding.
    pub(super) opened: usize,
    /// Strings of the Record when all of it was read.
    pub(super) heap: usize,
}

/// The root element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Root(pub(super) ElementId);

impl Default for Root {
    fn default() -> Self {
        Self(ElementId(0))
    }
}

impl History {
    /// Bytes held, the Record's among them.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.text.bytes().len()
            + self.trace.memory()
            + self.record.as_ref().map_or(0, |record| record.memory())
            + self.checkpoint_memory()
    }

    pub(super) fn checkpoint_memory(&self) -> usize {
        self.checkpoints.iter().map(Checkpoint::memory).sum()
    }
}

/// Where a text tells its encoding: its first bytes, and the XML declaration.
pub(super) fn opening(text: &[u8]) -> usize {
    let declaration = match text.starts_with(b"<?xml") {
        true => memchr::memmem::find(text, b"?>").map_or(text.len(), |at| at + 2),
        false => 0,
    };
    declaration.max(FIRST)
}

/// The bytes that tell UTF-16, a byte order mark, and whether there is a declaration.
const FIRST: usize = 6;

/// A good place to stop, behind a tag: the last one before `end` and behind `from`.
pub(super) fn cut(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let stretch = text.get(from..end)?;
    let tag = memchr::memmem::rfind(stretch, b"</")?;
    let length = memchr::memchr(b'>', &stretch[tag..])?;
    Some(from + tag + length + 1)
}
