//! What is kept of a message to compare the next one with it.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Checkpoint, Trace};
use bsoap_codec::plan::ElementId;

use super::capacities::Capacities;
use crate::receive::text::Text;

/// A message that was read, with all that is needed to read only the differences of the next one.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The root element; `None` only while the history is empty.
    pub(super) root: Option<ElementId>,
    pub(super) text: Text,
    /// The locations of the values in the text.
    pub(super) trace: Trace,
    /// The values; `None` only while the history is empty.
    pub(super) record: Option<Arc<Record>>,
    /// The capacities of the Record's strings.
    pub(super) capacities: Capacities,
    /// States of the decoder, in the order of the text. The first is the state before the first byte.
    pub(super) checkpoints: Vec<Checkpoint>,
    /// The end of the bytes that determine the encoding.
    pub(super) opened: usize,
    /// The number of heap octets when a whole message was last decoded.
    pub(super) heap: usize,
}

impl History {
    /// The number of bytes held, without the Record.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.text.bytes().len()
            + self.trace.memory()
            + self.capacities.memory()
            + self.checkpoint_memory()
    }

    /// The size of the checkpoints in bytes.
    pub(super) fn checkpoint_memory(&self) -> usize {
        self.checkpoints.iter().map(Checkpoint::memory).sum()
    }
}
