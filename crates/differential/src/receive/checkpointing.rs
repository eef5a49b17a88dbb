//! Receiving by portions and checkpoints, as the papers describe it: selectable, and not used by default.
//!
//! The default way, [`Exact`](super::Exact), does not depend on this module. See `docs/design/checkpointing.md`.

mod checkpointer;
mod differential;
mod digest;
mod full;
mod interrupt;
mod lightweight;
mod matching;
mod modes;
mod portion;
mod portioned;
mod portioning;

pub use digest::{Crc32ForReproduction, Digest, Keyed};
pub use portion::Sameness;
pub use portioned::Portioned;
pub use portioning::{Checkpoints, Portioning};
