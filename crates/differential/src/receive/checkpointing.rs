//! Receiving by portions and checkpoints, as the papers describe it: selectable, and not used by default.
//!
//! The default way, `receive/exact.rs`, does not depend on this module. See `docs/design/checkpointing.md`.

mod checkpointer;
mod copies;
mod digest;
mod interrupt;
mod lightweight;
mod matching;
mod modes;
mod portion;
mod portioned;
mod portioning;

pub use digest::{Crc32ForReproduction, Digest, Keyed};
pub use portion::Sameness;
pub use portioning::{Checkpoints, Portioning};

use super::received::Method;
use copies::Copies;
use lightweight::Lightweight;
use portioned::Portioned;

/// The method with the checkpoints that were chosen.
pub(super) fn method(portioning: Portioning) -> Box<dyn Method> {
    match portioning.checkpoints {
        Checkpoints::Full | Checkpoints::Differential => {
            Box::new(Portioned::<Copies>::new(portioning))
        }
        Checkpoints::Lightweight => Box::new(Portioned::<Lightweight>::new(portioning)),
    }
}
