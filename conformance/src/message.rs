//! What every runner of message samples does: load a WSDL, write a request, read a message.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder, Value};
use bsoap_protocol::package::{PackageError, PackageLimits, Reader};
use bsoap_protocol::{
    Endpoint, IncomingReply, IncomingRequest, Node, ReceivedRequest, Reply, Target,
};
use bytes::Bytes;

use bsoap_schema::{Chain, Definitions, FileLoader, LoadOptions, WellKnown, load};

/// Loads a WSDL from a file, never from the network.
///
/// # Errors
/// What is wrong with it.
pub fn definitions(path: &Path) -> Result<Definitions, String> {
    let loader = Chain::new().then(FileLoader::anywhere()).then(WellKnown);
    load(&path.to_string_lossy(), &loader, &LoadOptions::default())
        .map_err(|error| format!("the WSDL does not load: {}", report(&error)))
}

/// The first operation of a name.
///
/// # Errors
/// If there is none.
pub fn target(definitions: &Definitions, operation: &str) -> Result<Target, String> {
    definitions
        .bindings()
        .iter()
        .find_map(|binding| Target::new(definitions.plan(), binding, operation).ok())
        .ok_or_else(|| format!("the WSDL has no operation {operation}"))
}

/// The text of a request with these arguments.
///
/// # Errors
/// If they do not fit.
pub fn request(target: &Target, arguments: Value) -> Result<String, String> {
    let failed = |error: bsoap_protocol::Error| format!("encode: {}", report(&error));
    let (outgoing, _) = target
        .request(arguments)
        .and_then(bsoap_protocol::Request::write)
        .map_err(failed)?;
    String::from_utf8(outgoing.body).map_err(|error| format!("encode: {error}"))
}

/// The reply that a text is, to a request for this operation.
///
/// # Errors
/// If it is none.
pub fn reply(target: &Target, text: &[u8], options: DecodeOptions) -> Result<Reply, String> {
    let failed = |error: &dyn Error| format!("decode: {}", report(error));
    let (_, awaiting) = target.start();
    let incoming = IncomingReply {
        status: 200,
        content_type: None,
        body: text.to_vec().into(),
    };
    awaiting
        .read(&mut decoder(target, options), incoming)
        .map_err(|error| failed(&error))
}

/// The message in a MIME package that is kept without the `Content-Type` it came with; any other text as it is.
///
/// # Errors
/// If it begins as a package and is none.
pub fn root_of_package(text: &str) -> Result<Bytes, String> {
    let first = text.lines().next().unwrap_or_default();
    let Some(boundary) = first.strip_prefix("--") else {
        return Ok(text.to_owned().into());
    };
    let content_type = format!("multipart/related; boundary=\"{boundary}\"");
    let failed = |error: PackageError| format!("package: {}", report(&error));
    let mut reader = Reader::new(&content_type, PackageLimits::default()).map_err(failed)?;
    reader
        .feed(text.replace('\n', "\r\n").into())
        .map_err(failed)?;
    reader.finish();
    while reader.next().map_err(failed)?.is_some() {}
    let package = reader.into_package().map_err(failed)?;
    package.text(bsoap_xml::Options::default()).map_err(failed)
}

/// The request that a text is, as the service gets it.
///
/// # Errors
/// If it is none, or not for the service.
pub fn receive(
    target: &Target,
    text: &[u8],
    options: DecodeOptions,
) -> Result<ReceivedRequest, String> {
    let bindings = vec![Arc::clone(target.binding())];
    let endpoint = Endpoint::new(target.plan(), bindings, Node::new());
    let incoming = IncomingRequest {
        content_type: None,
        soap_action: None,
        body: text.to_vec().into(),
    };
    match endpoint.receive(&mut decoder(target, options), incoming) {
        Ok((received, _)) => Ok(received),
        Err(reply) => Err(format!("receive: {}", String::from_utf8_lossy(&reply.body))),
    }
}

fn decoder(target: &Target, options: DecodeOptions) -> Decoder {
    Decoder::new(Arc::clone(target.plan()), options)
}

/// An error with its causes, in one line.
pub fn report(error: &dyn Error) -> String {
    let mut report = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        report.push_str(": ");
        report.push_str(&cause.to_string());
        source = cause.source();
    }
    report
}
