//! A rewritten message, and where its pieces were in the message that arrived.

use crate::decode::{Error, Warning};

/// A rewritten message.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    pub(super) text: String,
    /// What was done, with locations in the message as it arrived.
    pub(super) warnings: Vec<Warning>,
    /// Pieces that were copied, by where they begin: in the rewritten message, and in the one that arrived.
    pub(super) pieces: Vec<(usize, usize)>,
}

impl Repaired {
    /// Where a byte of the rewritten message was in the one that arrived.
    fn origin(&self, offset: u64) -> u64 {
        let after = self
            .pieces
            .partition_point(|&(new, _)| new as u64 <= offset);
        let Some(&(new, old)) = after.checked_sub(1).and_then(|at| self.pieces.get(at)) else {
            return 0;
        };
        let next = self
            .pieces
            .get(after)
            .map_or(u64::MAX, |&(_, old)| old as u64);
        let old = old as u64;
        // What was inserted behind a piece is located at its end.
        match next >= old {
            true => (old + offset - new as u64).min(next),
            false => old + offset - new as u64,
        }
    }

    /// All warnings: those of the rewriting, and those of decoding the rewritten message. At most as many as the options say.
    pub(super) fn all_warnings(&self, decoded: &[Warning], most: usize) -> Vec<Warning> {
        let decoded = decoded.iter().map(|it| it.at(self.origin(it.offset())));
        let mut all: Vec<Warning> = self.warnings.iter().cloned().chain(decoded).collect();
        all.sort_by_key(Warning::offset);
        all.truncate(most.max(1));
        all
    }

    /// An error in the rewritten message as one in the message that arrived.
    pub(super) fn located(&self, error: Error) -> Error {
        let offset = self.origin(error.offset());
        error.moved(offset)
    }
}
