//! An HTTP client and server with tokio, hyper and rustls. This crate transports bytes and knows nothing of SOAP: handlers
//! decide what a request means and which status its answer has.
//!
//! Features, all on by default: `client`, `server`, `tls` (HTTPS), `gzip`.
//!
//! ```
//! use bsoap_http::{Body, Client, ClientOptions, HeaderMap, Request, Response, Routes, Server, ServerOptions};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let routes = Routes::new().at("/echo", async |request: Request| Response::new(200, "text/xml", request.body));
//! let server = Server::bind("127.0.0.1:0", routes, ServerOptions::default()).await?;
//! let address = format!("http://{}/echo", server.address()).parse()?;
//! let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
//! let serving = tokio::spawn(server.run(async { drop(stopped.await) }));
//!
//! let client = Client::new(ClientOptions::default())?;
//! let response = client.post(&address, HeaderMap::new(), Body::from("<a/>")).await?;
//! assert_eq!(&response.body[..], b"<a/>");
//!
//! drop(stop);
//! serving.await.unwrap();
//! # Ok::<(), bsoap_http::Error>(())
//! # }).unwrap();
//! ```

#![forbid(unsafe_code)]

mod address;
mod body;
#[cfg(feature = "client")]
mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod collect;
#[cfg(any(feature = "client", feature = "server"))]
mod encoding;
mod error;
#[cfg(feature = "gzip")]
mod gzip;
mod limits;
// Without the server, all charges are unlimited.
#[cfg(any(feature = "client", feature = "server"))]
#[cfg_attr(not(feature = "server"), allow(dead_code, unreachable_pub))]
mod memory;
#[cfg(any(feature = "client", feature = "server"))]
#[cfg_attr(not(feature = "server"), allow(dead_code, unreachable_pub))]
mod pace;
#[cfg(any(feature = "client", feature = "server"))]
mod reading;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "tls")]
mod tls;
#[cfg(any(feature = "client", feature = "server"))]
#[cfg_attr(not(feature = "server"), allow(dead_code, unreachable_pub))]
mod work;

pub use bytes::Bytes;
pub use hyper::header;
pub use hyper::http;
pub use hyper::{HeaderMap, Method, StatusCode};

pub use address::{Address, Credentials};
pub use body::{AnyError, Body, BodySource};
#[cfg(feature = "client")]
pub use client::{Client, ClientOptions, Fetched, Proxy, ProxyUrl, Transfer};
#[cfg(all(feature = "client", feature = "tls"))]
pub use client::{Fingerprint, Roots};
pub use error::{Blame, Error, ErrorKind};
#[cfg(any(feature = "client", feature = "server"))]
pub use hyper::http::Extensions;
#[cfg(feature = "server")]
pub use pace::Pace;
#[cfg(any(feature = "client", feature = "server"))]
pub use reading::{BodyReader, BodyRefusal, FinishedReading, ReadAnswer, ReadBody, Reading};
#[cfg(all(feature = "server", feature = "tls"))]
pub use server::Certificates;
#[cfg(feature = "server")]
pub use server::{
    AddressRange, Answered, BoxedAnswer, Connection, Handler, HealthPaths, InvalidRange, OnAnswer,
    OnRefusal, PageRequest, Refusal, Request, RequestClient, RequestHead, Response, RouteService,
    Routes, Server, ServerOptions, Watch,
};
#[cfg(feature = "tls")]
pub use tls::Identity;
#[cfg(feature = "server")]
pub use work::{Charge, Owner, WorkBudget, WorkError};
