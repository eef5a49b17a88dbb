//! SOAP over HTTP with tokio, hyper and rustls. This crate moves bytes and decides nothing: what a
//! request means, and which status its answer has, is the handler's business.
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

mod body;
mod client;
mod error;
mod gzip;
mod server;

pub use bytes::Bytes;
pub use hyper::header;
pub use hyper::{HeaderMap, Method, StatusCode};

pub use body::{AnyError, Body, Source};
pub use client::{Address, Client, ClientOptions, Credentials, Fetched, Roots, Transfer};
pub use error::{Blame, Error, ErrorKind};
pub use server::{
    BoxedAnswer, Connection, Document, Handler, Identity, PortInfo, Request, Response, Routes,
    Server, ServerOptions, ServiceInfo, Site,
};
