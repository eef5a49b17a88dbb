//! SOAP 1.1 and 1.2 without I/O: bytes of a message go in, the next step comes out.
//!
//! An [`exchange`] is a type for each step, so that a wrong order does not compile. The client's side is [`Target`] →
//! [`Request`] → [`AwaitingReply`] → [`Reply`], the server's [`Endpoint`] → [`Received`] and [`AwaitingAnswer`] →
//! [`OutgoingReply`]. Between them lie the rules of SOAP: versions and media types, header blocks that must be understood,
//! dispatch on the body's name, faults.
//!
//! Messages that break the rules are answered, not raised: [`Endpoint::receive`] gives either a request that is for us,
//! or the reply that says why it is not.

#![forbid(unsafe_code)]

pub(crate) mod arguments;
mod error;
pub mod exchange;
mod fault;
pub mod header;
pub mod media;
mod name;
mod peek;

pub use bsoap_schema::SoapVersion;

pub use arguments::{Contents, HEADERS};
pub use error::{Blame, Error, ErrorKind};
pub use exchange::Target;
pub use exchange::client::{Answer, AwaitingReply, IncomingReply, OutgoingRequest, Reply, Request};
pub use exchange::server::{
    AwaitingAnswer, Endpoint, IncomingRequest, OutgoingReply, Received, Unanswered,
};
pub use fault::{Code, Fault, FaultParts, Reason};
pub use header::{Block, Node};
pub use media::MediaType;
pub use name::{Name, NotAName};
pub use peek::{Peek, peek, peek_body, version_of};
