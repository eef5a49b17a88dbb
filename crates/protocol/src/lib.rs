//! SOAP 1.1 and 1.2 without I/O: versions and media types, header blocks that must be understood, the selection of
//! operations, and faults.
//!
//! An exchange is a chain of types, one for each step. Each step consumes its value, so a wrong order does not compile.
//! The caller encodes and decodes messages, fully or differentially; see [`Request`] for the client's side and [`Endpoint`]
//! for the server's.
//!
//! ```text
//! client   Target ─► Request ─► AwaitingReply ─► UndecodedReply ─► Reply
//! server   Endpoint ─► UndecodedRequest ─► ReceivedRequest, AwaitingAnswer ─► OutgoingReply
//! ```
//!
//! A request that breaks the rules is not an error of the server: [`Endpoint::receive`] returns either a request to
//! process, or the reply with the fault.
//!
//! ```
//! use std::sync::Arc;
//! use bsoap_codec::{DecodeOptions, Decoder, Value};
//! use bsoap_protocol::{Endpoint, IncomingReply, IncomingRequest, Node, Reply, Target};
//! use bsoap_schema::{Definitions, MemoryLoader};
//!
//! let mut loader = MemoryLoader::default();
//! loader.add("mesh.wsdl", include_str!("../../../examples/mesh/mesh.wsdl"));
//! let definitions = Definitions::load("mesh.wsdl", &loader)?;
//! let (plan, binding) = (definitions.plan(), &definitions.bindings()[0]);
//! let mut decoder = Decoder::new(Arc::clone(plan), DecodeOptions::default());
//!
//! let items = Value::object([("item", Value::from(vec![1.5, 2.5]))]);
//! let request = Target::new(plan, binding, "sumDoubles")?.request(Value::object([("values", items)]))?;
//! let (outgoing, awaiting_reply) = request.write()?;
//!
//! let endpoint = Endpoint::new(plan, vec![Arc::clone(binding)], Node::new());
//! let incoming = IncomingRequest {
//!     content_type: Some(&outgoing.headers.content_type),
//!     soap_action: outgoing.headers.soap_action.as_deref(),
//!     body: outgoing.body.into(),
//! };
//! let (received, awaiting_answer) = endpoint.receive(&mut decoder, incoming).expect("a request to process");
//! assert_eq!(received.target().operation().name, "sumDoubles");
//! let answer = awaiting_answer.answer(Value::object([("sum", Value::from(4.0))]))?;
//!
//! let incoming = IncomingReply { status: 200, content_type: answer.content_type.as_deref(), body: answer.body.into() };
//! let reply = awaiting_reply.read(&mut decoder, incoming)?;
//! assert_eq!(reply.into_value()?["sum"].as_f64(), Some(4.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod addressing;
mod arguments;
mod client;
mod envelope;
mod error;
mod excerpt;
mod fault;
pub mod header;
mod limits;
pub mod media;
mod name;
pub mod package;
mod peek;
mod sample;
mod server;
mod target;

pub use bsoap_schema::SoapVersion;

pub use arguments::{Contents, HEADERS};
pub use client::{
    Answer, AwaitingReply, IncomingReply, OpenedReply, OutgoingRequest, Reply, Request,
    RequestHeaders, SentAddressing, UndecodedReply,
};
pub use error::{Blame, Error, ErrorKind};
pub use fault::{Code, Fault, FaultParts, Reason, SenderStatus};
pub use header::{HeaderBlock, HeaderLimits, Node};
pub use media::MediaType;
pub use name::{Name, NotAName};
pub use peek::{Peek, has_body, peek, peek_body, version_of};
pub use server::{
    AwaitingAnswer, Endpoint, IncomingRequest, OutgoingReply, ReceivedRequest, Unanswered,
    UndecodedRequest, UnknownAction,
};
pub use target::Target;
