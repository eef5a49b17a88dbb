//! The options of the default way to receive.

/// Options for comparing the messages of a stream with the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// Whether a stream without similarity is bypassed: decoded without comparison, except for a message from time to time.
    pub may_bypass: bool,
    /// The approximate number of bytes of text between two checkpoints. `None` means a 64th of the text, but at least 2 KiB and
    /// at most 32 KiB.
    pub spacing: Option<usize>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            may_bypass: true,
            spacing: None,
        }
    }
}

impl Policy {
    /// The distance in bytes between checkpoints in a text of this length.
    pub(super) fn spacing(&self, length: usize) -> usize {
        match self.spacing {
            Some(spacing) => spacing.max(16),
            None => (length / 64).clamp(2 << 10, 32 << 10),
        }
    }
}
