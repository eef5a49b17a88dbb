//! Change sets: which slots of a message are not what they were in the message before.

use std::ops::Range;

/// What changed since the message before, by slots of both Records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub(super) all: bool,
    pub(super) spans: Vec<Span>,
}

/// Slots that changed. Slots outside of all spans are the same as before, the next to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where they were in the Record before.
    pub before: Range<usize>,
    /// Where they are now. If there are as many, nothing was inserted or left out.
    pub now: Range<usize>,
}

impl Changes {
    /// There is no message before to compare with, or it was not compared: all may have changed.
    pub fn all() -> Self {
        Self {
            all: true,
            spans: Vec::new(),
        }
    }

    /// Whether everything may have changed, and no more is known.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        !self.all && self.spans.is_empty()
    }

    /// Whether all values still stand in the slots they stood in.
    pub fn keeps_places(&self) -> bool {
        !self.all
            && self
                .spans
                .iter()
                .all(|span| span.before.len() == span.now.len())
    }

    /// What changed, in the order of the slots; nothing if [all](Self::is_all) did.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// How many slots of the Record now may have changed, of `slots`.
    pub fn count(&self, slots: usize) -> usize {
        match self.all {
            true => slots,
            false => self.spans.iter().map(|span| span.now.len()).sum(),
        }
    }
}
