//! What is kept of a message to compare the next one with it.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Checkpoint, Trace, Warning};
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
    /// Where the warnings of the Record are.
    pub(super) warnings: Vec<WarningPlace>,
    /// The end of the bytes that determine the encoding.
    pub(super) opened: usize,
    /// The number of heap octets when a whole message was last decoded.
    pub(super) heap: usize,
}

/// The place of a warning: before which slot's text, and at which distance from it. The text between them is the same in the next
/// message, unless its markup differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarningPlace {
    next: usize,
    distance: usize,
}

impl History {
    /// Notes where the warnings of a Record are in its text, which has this length.
    pub(super) fn note_warnings(&mut self, record: &Record, length: usize) {
        let starts = &self.trace.starts;
        let place = |warning: &Warning| {
            let offset = warning.offset() as usize;
            let next = starts.partition_point(|&start| start as usize <= offset);
            let from = starts.get(next).map_or(length, |&start| start as usize);
            let distance = from.saturating_sub(offset);
            WarningPlace { next, distance }
        };
        self.warnings = record.warnings().iter().map(place).collect();
    }

    /// The warnings of a Record, with their locations in the new text, which has this length.
    pub(super) fn moved_warnings(&self, record: &Record, length: usize) -> Vec<Warning> {
        let warnings = record.warnings().iter().zip(&self.warnings);
        let moved = warnings.map(|(warning, place)| {
            let next = self.trace.starts.get(place.next);
            let from = next.map_or(length, |&start| start as usize);
            warning.at(from.saturating_sub(place.distance) as u64)
        });
        moved.collect()
    }

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
