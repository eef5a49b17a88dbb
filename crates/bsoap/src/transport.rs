//! The transport of a client: HTTP by default, or one of the program's own, with layers over it.
//!
//! Layers add what HTTP itself does not have: authentication with a challenge or a token, cookies, repetitions. Their order is fixed,
//! so that each attempt has the cookies and the token of its moment:
//!
//! ```text
//! client ─► retries ─► layers of the program ─► recording ─► Digest or Bearer ─► cookies ─► transport
//! ```

mod authorization;
mod bearer;
mod carrier;
mod carrying;
mod context;
#[cfg(feature = "cookies")]
mod cookies;
#[cfg(feature = "digest")]
mod digest;
mod files;
mod http;
#[cfg(feature = "server")]
mod in_process;
mod interface;
mod layer;
#[cfg(feature = "retry")]
mod retry;

pub use bearer::{ObtainingToken, Token, TokenSource};
pub(crate) use carrier::{Carrier, Delivered, Outbound, attempts_note};
pub(crate) use carrying::{Authentication, Carrying};
pub use context::CallContext;
pub use files::FileTransport;
#[cfg(feature = "server")]
pub use in_process::InProcess;
pub use interface::{Transport, Transporting};
pub use layer::TransportService;
pub(crate) use layer::wrap;
#[cfg(feature = "retry")]
pub use retry::Retries;
