//! Messages that have the right elements in the wrong form: rewritten to what the schema says, and then decoded.
//!
//! Some [deviations](Deviation) cannot be skipped or read where they are found: an element that comes after its successor has to be
//! decoded before it. So a decoder that accepts them stops at the first one, as at any error. Then the whole message is rewritten:
//!
//! ```text
//! text ─► tree of tags ─► edits: renamed, moved, removed, inserted ─► text ─► decoder, which accepts no more such deviations
//! ```
//!
//! Each edit is a warning. Everything else is copied byte for byte, and a list of the copied pieces maps locations back to the message
//! as it arrived. A message without such deviations is never rewritten, and costs nothing.

mod declared;
mod edits;
mod tree;
mod write;

use bsoap_xml::decode_str;

use super::error::Error;
use super::options::DecodeOptions;
use super::tolerance::{Deviation, Deviations};
use super::warning::Warning;
use crate::plan::{ElementId, Plan};

pub(super) use declared::{
    allows_absence, deviation_of_missing, deviation_of_name, is_envelope_of_soap,
};

/// The most elements of a message that is rewritten: the tree of its tags needs about 150 bytes for each.
const MAX_ELEMENTS: usize = 1 << 18;

/// The deviations that need a rewritten message.
const REPAIRED: [Deviation; 6] = [
    Deviation::MisplacedElement,
    Deviation::OtherNamespace,
    Deviation::OtherItemName,
    Deviation::MissingElement,
    Deviation::NilValue,
    Deviation::OtherVersion,
];

/// Whether an error may be gone in a rewritten message.
pub(super) fn may_help(error: &Error, accepted: Deviations) -> bool {
    let deviation = error.deviation();
    deviation.is_some_and(|it| REPAIRED.contains(&it) && accepted.contains(it))
}

/// The deviations that remain for the decoder of a rewritten message.
pub(super) fn others(accepted: Deviations) -> Deviations {
    REPAIRED.iter().fold(accepted, |left, &it| left.without(it))
}

/// A rewritten message.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    pub(super) text: String,
    /// What was done, with locations in the message as it arrived.
    warnings: Vec<Warning>,
    /// Pieces that were copied, by where they begin: in the rewritten message, and in the one that arrived.
    pieces: Vec<(usize, usize)>,
}

/// Rewrites a message. `None` if it is not well-formed or too large.
pub(super) fn repair(
    plan: &Plan,
    root: ElementId,
    message: &[u8],
    options: &DecodeOptions,
) -> Option<Repaired> {
    let text = decode_str(message).ok()?;
    let tree = tree::Tree::of(plan, &text, options)?;
    let edits = edits::Edits::of(plan, root, &tree, &text, options);
    let mut repaired = write::written(plan, &tree, &edits, &text);
    repaired.warnings = edits.warnings;
    Some(repaired)
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
        let deviation = error.deviation();
        let offset = self.origin(error.offset());
        Error::new(error.kind().clone(), error.path().to_owned(), offset).about(deviation)
    }
}
