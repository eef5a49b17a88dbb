//! A SOAP engine: load a WSDL, call it or serve it.
//!
//! ```
//! # #[cfg(all(feature = "client", feature = "server"))] {
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
//! # }
//! ```
//!
//! Arguments and results are [`Value`]s (whose JSON form is the same everywhere in bsoap), [`Record`]s, in which arrays
//! are contiguous, or types generated from the WSDL (`bsoap generate`, or `bsoap-generate` in a `build.rs`). Messages are
//! checked against the WSDL in both directions, whatever they are made of: structure, lexical forms and enumerations, and all
//! facets with [`Validation::Full`]. Errors name the location in the message. Of incoming messages, a [`Tolerance`] says which
//! deviations are accepted, with a [`Warning`] each.
//!
//! The types on this page are enough for most programs. [`service`] has the types that handlers return, [`tuning`] has the
//! settings for saved messages and limits. The crates below are modules here: [`codec`] (records, views and conversion),
//! [`schema`] (WSDL), [`protocol`] (envelopes and faults), [`differential`] and [`http`]; and those that their signatures
//! mention: [`xml`] (limits, names and errors of the reader) and [`datatypes`].
//!
//! # Features
//!
//! These features are on by default:
//!
//! | feature | adds |
//! |---|---|
//! | `client` | [`Client`] |
//! | `server` | [`Service`] |
//! | `tls` | HTTPS |
//! | `gzip` | compressed bodies |
//! | `wsse` | [`security`]: user names and passwords by WS-Security |
//!
//! These are off:
//!
//! | feature | adds |
//! |---|---|
//! | `digest` | HTTP Digest authentication |
//! | `cookies` | cookies, for services that keep a session |
//! | `retry` | calls that failed and may be repeated are repeated |
//! | `http2` | HTTP/2 for clients of a service over HTTPS |
//! | `metrics` | `metrics`: requests, durations, memory and savings of a service, for the recorders of the crate of that name |
//! | `macros` | `wsdl!`, which generates code where it is written |
//! | `jiff`, `chrono`, `time`, `rust_decimal` | dates and decimals of these crates in generated code ([`types`]) |
//!
//! Without `client` and `server`, the crate has no HTTP and does not depend on tokio. It can still be used over any other
//! transport: load a [`Wsdl`], and exchange messages with [`protocol`], [`codec`] and [`differential`].

#![forbid(unsafe_code)]

#[cfg(feature = "http")]
pub mod addressing;
#[cfg(feature = "http")]
pub mod attachments;
#[cfg(feature = "http")]
pub mod blocking;
#[cfg(feature = "http")]
mod blocks;
#[cfg(feature = "http")]
mod budget;
#[cfg(feature = "http")]
mod changes;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "http")]
mod decoders;
mod error;
mod exceeded;
#[cfg(all(doctest, feature = "client", feature = "server"))]
mod guides;
#[cfg(feature = "http")]
mod hints;
#[cfg(feature = "http")]
pub mod hooks;
#[cfg(feature = "client")]
mod http_headers;
#[cfg(feature = "http")]
mod insertion;
#[cfg(feature = "http")]
mod limits;
mod load;
#[cfg(feature = "http")]
mod meter;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "http")]
mod offload;
#[cfg(feature = "server")]
mod principal;
#[cfg(feature = "http")]
mod receiving;
#[cfg(feature = "http")]
mod scope;
#[cfg(feature = "wsse")]
pub mod security;
#[cfg(any(feature = "client", feature = "server"))]
mod selection;
#[cfg(feature = "http")]
mod sending;
#[cfg(feature = "server")]
pub mod service;
#[cfg(feature = "http")]
mod settings;
#[cfg(feature = "http")]
mod streamed;
#[cfg(feature = "client")]
pub mod transport;
#[cfg(feature = "http")]
pub mod tuning;
pub mod typed;
pub mod types;

pub use bsoap_codec as codec;
pub use bsoap_datatypes as datatypes;
pub use bsoap_differential as differential;
#[cfg(feature = "http")]
pub use bsoap_http as http;
pub use bsoap_protocol as protocol;
pub use bsoap_schema as schema;
pub use bsoap_xml as xml;

pub use bsoap_codec::decode::{Tolerance, Validation, Warning};
pub use bsoap_codec::{Attachment, HexOctets, Nillable, Object, Octets, Record, SerdeError, Value};
#[cfg(feature = "http")]
pub use bsoap_http::Credentials;
pub use bsoap_protocol::{Contents, Fault, Reply, Request, SoapVersion, Target};

#[cfg(feature = "macros")]
pub use bsoap_macros::wsdl;

#[cfg(feature = "http")]
pub use changes::Changes;
#[cfg(feature = "client")]
pub use client::{Answer, Call, CallOptions, Client, ClientBuilder, Draft, Relay};
pub use error::{Blame, Error};
pub use exceeded::{ExceededLimit, Limited};
pub use load::{Fetch, Wsdl};
#[cfg(feature = "server")]
pub use principal::{Caller, Principal};
#[cfg(feature = "server")]
pub use service::{Message, Service, ServiceBuilder};
#[cfg(feature = "http")]
pub use streamed::Streamed;
#[cfg(feature = "client")]
pub use transport::Transport;
