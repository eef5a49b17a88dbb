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
    /// The form in which states are saved.
    pub checkpoints: Checkpoints,
    /// How portions are compared.
    pub sameness: Sameness,
    /// The papers' interrupt frequency N: about one checkpoint in this number of bytes. 32 to 4096 make sense.
    pub interrupt: usize,
    /// The papers' parsing buffer: the number of bytes of text that are read at a time. The state inside a value that is
    /// longer than a buffer is saved at the end of a buffer.
    pub buffer: usize,
    /// Whether a stream without similarity is bypassed: read without comparing, except for a check from time to time.
    pub may_bypass: bool,
}

/// The form in which states of the decoder are saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpoints {
    /// FCP: each state is a complete copy.
    Full,
    /// DCP: each state is stored as its differences to a complete copy.
    Differential,
    /// LCP: each state is a number within a group that shares one complete copy.
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

    /// Full checkpointing: a complete copy of the state at each checkpoint.
    pub fn full() -> Self {
        Self::new(Checkpoints::Full)
    }

    /// Differential checkpointing: the part of the state that has changed since the last complete copy.
    pub fn differential() -> Self {
        Self::new(Checkpoints::Differential)
    }

    /// Lightweight checkpointing: two numbers for each checkpoint, between items of an array or children of an element.
    pub fn lightweight() -> Self {
        Self::new(Checkpoints::Lightweight)
    }

    /// Lightweight checkpoints and keyed digests instead of the text. This takes the least memory: about 3.5 % of the text's
    /// size, besides the Record.
    pub fn hashed() -> Self {
        Self {
            sameness: Sameness::Keyed,
            interrupt: 1024,
            ..Self::lightweight()
        }
    }
}
