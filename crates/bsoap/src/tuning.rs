//! Settings for saved messages and limits, and counters of the work that saved messages avoid. The defaults suit most
//! programs.
//!
//! | set on a [`Client`](crate::ClientBuilder) or [`Service`](crate::ServiceBuilder) | with |
//! |---|---|
//! | `sending`: templates of messages sent (differential serialization) | [`Sending`], [`SendPolicy`] |
//! | `receiving`: histories of messages received (differential deserialization) | [`Receiving`], [`ReceiveWay`] |
//! | `hints`: header blocks with the locations of values, for peers that use them | [`Hints`] |
//! | `budget`: memory for all of this | [`Budget`] |
//! | `options` (only of a service): limits and timeouts of the server | `ServerOptions` |
//!
//! [`Meter`] counts messages, bytes and the work avoided.

pub use bsoap_differential::hint::HintCounts;
pub use bsoap_differential::receive::{
    Checkpoints, Policy as ReceivePolicy, Portioning, ReceiveCounts, Sameness, Way as ReceiveWay,
};
pub use bsoap_differential::send::{Policy as SendPolicy, SendCounts};
pub use bsoap_differential::stats::{ReceiveStats, SendStats};

#[cfg(feature = "server")]
pub use bsoap_http::{AddressRange, HealthPaths, Pace, ServerOptions, Watch, WorkBudget};

pub use crate::budget::Budget;
pub use crate::hints::Hints;
pub use crate::meter::{Meter, Traffic};
pub use crate::receiving::Receiving;
pub use crate::sending::Sending;
