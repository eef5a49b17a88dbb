//! What can be chosen about receiving by portions.

use super::portion::Sameness;

/// How a stream is received by portions and checkpoints.
///
/// ```
/// use bsoap_differential::receive::{Portioning, Sameness};
///
/// // As in the paper, but with digests that nobody can forge.
/// let mut way = Portioning::lightweight();
/// way.sameness = Sameness::Keyed;
/// way.interrupt = 512;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Portioning {
    /// How states are kept.
    pub checkpoints: Checkpoints,
    /// How portions are compared.
    pub sameness: Sameness,
    /// The papers' interrupt frequency N: about one checkpoint in this number of bytes. 32 to 4096 make sense.
    pub interrupt: usize,
    /// Bytes of text that are read in one go; the papers' parsing buffer. It bounds how far a long value is read before the state
    /// within it is kept.
    pub buffer: usize,
    /// Whether a stream without similarity is bypassed: read without comparing, except for a check from time to time.
    pub may_bypass: bool,
}

/// How the states of a decoder are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpoints {
    /// FCP: each completely.
    Full,
    /// DCP: each as what differs from one kept completely.
    Differential,
    /// LCP: at places that differ in few numbers from one kept completely.
    Lightweight,
}

impl Portioning {
    fn new(checkpoints: Checkpoints) -> Self {
        Self {
            checkpoints,
            sameness: Sameness::Text,
            interrupt: 512,
            buffer: 32 << 10,
            may_bypass: true,
        }
    }

    /// Full checkpointing: the complete state at each checkpoint.
    pub fn full() -> Self {
        Self::new(Checkpoints::Full)
    }

    /// Differential checkpointing: what of the state has changed since it was last kept completely.
    pub fn differential() -> Self {
        Self::new(Checkpoints::Differential)
    }

    /// Lightweight checkpointing: two numbers, at places between items or children.
    pub fn lightweight() -> Self {
        Self::new(Checkpoints::Lightweight)
    }

    /// For small memory: lightweight checkpoints and keyed digests, no text. About 3.5 % of the text's size, beside the
    /// Record.
    pub fn hashed() -> Self {
        Self {
            sameness: Sameness::Keyed,
            interrupt: 1024,
            ..Self::lightweight()
        }
    }
}
