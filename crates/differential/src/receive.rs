//! Receiving: what of a message need not be read again.
//!
//! ```text
//! text of the message before   <i>1.5</i><i>2</i><i>3.25</i>          kept, with the values and where each stands
//! text of this message         <i>1.5</i><i>2.75</i><i>3.25</i>
//!                              ─ same ── read  ──── same ──────        compared; only what differs is read again
//! ```
//!
//! A [`Stream`] does it in one of several [ways](Way); [`Exact`] is the default. See `docs/design/receiving.md`;
//! [`Portioned`] is how the papers do it, see `docs/design/checkpointing.md`.

mod apply;
mod arriving;
mod aside;
mod change;
mod checkpointer;
mod differential;
mod digest;
mod exact;
mod follow;
mod full;
mod history;
mod in_step;
mod interrupt;
mod kind;
mod lightweight;
mod locate;
mod matching;
mod modes;
mod numbers;
mod pace;
mod pass;
mod policy;
mod portion;
mod portioned;
mod portioning;
mod restructure;
mod rooms;
mod scattered;
mod store;
mod stream;
mod stretch;
mod strings;
mod texts;

pub use change::{Changes, Span};
pub use digest::{Crc32ForReproduction, Digest, Keyed};
pub use exact::{Exact, Mode, Received, Totals};
pub use policy::Policy;
pub use portion::Sameness;
pub use portioned::Portioned;
pub use portioning::{Checkpoints, Portioning};
pub use store::{Arrived, Lease, Reading, ReceiveCounts, Settled, Stamp, Store, StorePolicy};
pub use stream::{Stream, Way};
