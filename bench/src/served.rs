//! The servers of `rpc`: a process on a core of its own that answers calls until its input ends.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use bsoap::tuning::{Receiving, Sending};
use bsoap::{Fault, Message, Service, ServiceBuilder};
use bsoap_codec::{Pack, Unpack};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use crate::generated::{Doubles, Ints, Order};
use crate::machine;
use crate::terms::WSDL;

/// Serves as this engine, on this core: says the address, and ends with its input.
///
/// # Errors
/// What cannot be served, as a sentence.
pub(crate) fn run(engine: &str, core: usize) -> Result<(), String> {
    machine::pin_to(core);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let input = std::thread::spawn(|| {
        // Nothing is said here; the end is what is waited for.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    runtime.block_on(async {
        match engine {
            "hyper" => hyper_server().await.map_err(|error| error.to_string()),
            engine => service(engine).await.map_err(|error| error.to_string()),
        }
    })?;
    input.join().map_err(|_| "the input cannot be read".into())
}

fn say(address: impl std::fmt::Display) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{address}")?;
    out.flush()
}

async fn service(engine: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Service::builder(WSDL);
    builder = match engine {
        "bsoap:value" => builder.handle_others(async |message: Message| message.value()),
        _ => echo::<Order>(
            echo::<Ints>(echo::<Doubles>(builder, "doubles"), "ints"),
            "order",
        ),
    };
    if engine == "bsoap:off" {
        builder = builder.sending(Sending::off()).receiving(Receiving::off());
    }
    let bound = builder.build()?.bind("127.0.0.1:0").await?;
    say(bound.address())?;
    bound.run(std::future::pending()).await;
    Ok(())
}

/// A handler that returns its arguments.
fn echo<T>(builder: ServiceBuilder, operation: &str) -> ServiceBuilder
where
    T: Pack + Unpack + Send + 'static,
{
    builder.handle_typed(operation, async |arguments: T, _: Message| {
        Ok::<T, Fault>(arguments)
    })
}

/// Reads each body, and returns the first that came in at the same path.
async fn hyper_server() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    say(listener.local_addr()?)?;
    let bodies: &Mutex<HashMap<String, Bytes>> = Box::leak(Box::default());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service_fn(move |request: hyper::Request<Incoming>| async move {
            let path = request.uri().path().to_owned();
            let body = request.into_body().collect().await?.to_bytes();
            let mut bodies = bodies.lock().unwrap_or_else(PoisonError::into_inner);
            let body = bodies.entry(path).or_insert(body).clone();
            Ok::<_, hyper::Error>(hyper::Response::new(Full::new(body)))
        });
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
