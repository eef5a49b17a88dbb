//! What may be chosen about receiving differentially.

/// How a stream is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// Whether a stream that does not repeat is read without comparing, but for a look from time to time.
    pub may_bypass: bool,
    /// About how many bytes of text lie between two checkpoints. By default a 64th of the text, but at least 2 KiB and at
    /// most 32 KiB: close enough that what lies between two is soon read, and far enough that they are few.
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
    /// How far apart checkpoints are in a text of this length.
    pub(super) fn spacing(&self, length: usize) -> usize {
        match self.spacing {
            Some(spacing) => spacing.max(16),
            None => (length / 64).clamp(2 << 10, 32 << 10),
        }
    }
}
