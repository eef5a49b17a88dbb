//! A SOAP engine: load a WSDL, call it or serve it.
//!
//! ```
//! use bsoap::{Client, Fault, Message, Service, Value};
//!
//! # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! async fn sum(message: Message) -> Result<Value, Fault> {
//!     let arguments = message.value();
//!     let numbers = arguments["values"]["item"].as_doubles().unwrap_or_default();
//!     Ok(Value::object([("sum", Value::from(numbers.iter().sum::<f64>()))]))
//! }
//!
//! let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
//! let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
//! tokio::spawn(service.run(std::future::pending()));
//!
//! let numbers = Value::object([("item", Value::from(vec![1.5, 2.5, 3.0]))]);
//! let answer = client.call("sumDoubles", &Value::object([("values", numbers)])).await?;
//! assert_eq!(answer["sum"].as_f64(), Some(7.0));
//! # Ok::<(), bsoap::Error>(())
//! # }).unwrap();
//! ```
//!
//! Values come and go as [`Value`]s (whose JSON form is the same everywhere in bsoap), as [`Record`]s, the form in
//! which arrays lie as they are in memory, or as types generated from the WSDL (`bsoap generate`, or `bsoap-generate`
//! in a `build.rs`). Everything is checked against the WSDL on the way out and on the way in; errors say where.

#![forbid(unsafe_code)]

pub mod blocking;
mod budget;
mod changes;
mod client;
mod decoders;
mod error;
mod hints;
mod load;
mod meter;
mod offload;
mod principal;
mod receiving;
mod scope;
mod sending;
mod service;
mod streamed;
pub mod typed;

pub use bsoap_codec::{
    Column, DecodeOptions, Object, Octets, Pack, PackError, Packer, Record, Region, Rows, Unpack,
    Unpacker, Value, View,
};
pub use bsoap_differential::hint::HintCounts;
pub use bsoap_differential::receive::{
    Checkpoints, Policy as ReceivePolicy, Portioning, ReceiveCounts, Sameness, Span,
    Way as ReceiveWay,
};
pub use bsoap_differential::send::{Policy as SendPolicy, Row, SendCounts};
pub use bsoap_differential::stats::{ReceiveStats, SendStats};
pub use bsoap_http::{Credentials, HeaderMap, ServerOptions};
pub use bsoap_protocol::{
    Answer, Block, Code, Contents, Fault, FaultParts, Name, Reason, Reply, Request, SoapVersion,
    Target,
};
pub use bsoap_schema::{Definitions, Operation, Port};

pub use budget::Budget;
pub use changes::Changes;
pub use client::{Client, ClientBuilder, Draft, DraftPlace, Relay};
pub use error::{Blame, Error};
pub use hints::Hints;
pub use load::{Fetch, Wsdl};
pub use meter::{Meter, Traffic};
pub use principal::Principal;
pub use receiving::Receiving;
pub use sending::Sending;
pub use service::{Bound, IntoReply, Message, Payload, Service, ServiceBuilder, Typed};
pub use streamed::Streamed;
