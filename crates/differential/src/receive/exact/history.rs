//! What is kept of a message for the next one to be compared with.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Checkpoint, Trace};
use bsoap_codec::plan::ElementId;

use super::capacities::Capacities;
use crate::receive::text::Text;

/// A message that was read, with all that is needed to read another like it.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The root element. Never absent between messages.
    pub(super) root: Option<ElementId>,
    pub(super) text: Text,
    /// Where the values are in the text.
    pub(super) trace: Trace,
    /// The values. Never absent between messages.
    pub(super) record: Option<Arc<Record>>,
    /// How much longer than they are strings of it may become where they are.
    pub(super) capacities: Capacities,
    /// States of the decoder, by their place in the text. The first is that before the first byte.
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Where the declaration of its encoding ends.
    pub(super) opened: usize,
    /// Strings of the Record when all of it was read.
    pub(super) heap: usize,
}

impl History {
    /// Bytes held, without the Record.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.text.bytes().len()
            + self.trace.memory()
            + self.capacities.memory()
            + self.checkpoint_memory()
    }

    pub(super) fn checkpoint_memory(&self) -> usize {
        self.checkpoints.iter().map(Checkpoint::memory).sum()
    }
}
