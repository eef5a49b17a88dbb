//! Receiving: what of a message need not be read again.
//!
//! ```text
//! text of the message before   <i>1.5</i><i>2</i><i>3.25</i>          kept, with the values and where each is
//! text of this message         <i>1.5</i><i>2.75</i><i>3.25</i>
//!                              ─ same ── read  ──── same ──────        compared; only what differs is read again
//! ```
//!
//! A [`Stream`] does it in one of several [ways](Way). The default is described in `docs/design/receiving.md`, that of the
//! papers (portions and checkpoints) in `docs/design/checkpointing.md`.

mod carry;
mod change;
mod checkpointing;
mod exact;
mod histories;
mod pace;
mod policy;
mod received;
mod similarity;
mod stream;
mod text;

pub use change::{Changes, Span};
pub use checkpointing::{Checkpoints, Crc32ForReproduction, Digest, Keyed, Portioning, Sameness};
pub use histories::{HistoryCache, HistoryCachePolicy, HistoryCheckout};
pub use policy::Policy;
pub use received::{Mode, Received, Stamp};
pub use stream::{Stream, Way};

pub use crate::stats::{ReceiveCounts, ReceiveStats};
