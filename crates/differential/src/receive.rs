//! Receiving: what of a message need not be read again.
//!
//! ```text
//! text of the message before   <i>1.5</i><i>2</i><i>3.25</i>          kept, with the values and where each stands
//! text of this message         <i>1.5</i><i>2.75</i><i>3.25</i>
//!                              ─ same ── read  ──── same ──────        compared; only what differs is read again
//! ```
//!
//! A [`Stream`] does it in one of several [ways](Way); [`Exact`] is the default. See `docs/design/receiving.md`.

mod apply;
mod aside;
mod change;
mod exact;
mod history;
mod kind;
mod locate;
mod pace;
mod pass;
mod policy;
mod restructure;
mod store;
mod stream;
mod stretch;

pub use change::{Changes, Span};
pub use exact::{Exact, Mode, Received, Totals};
pub use policy::Policy;
pub use store::{Arrived, Lease, Reading, ReceiveCounts, Settled, Stamp, Store, StorePolicy};
pub use stream::{Stream, Way};
