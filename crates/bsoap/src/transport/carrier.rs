//! Delivers the messages of a client, by HTTP or by a transport with its layers.

use std::sync::Arc;
use std::time::Duration;

use bsoap_http::{Address, AnyError, Body, ErrorKind, Fetched, HeaderMap, ReadAnswer};
use bsoap_protocol::Target;
use http::{Method, Request};

use super::context::CallContext;
use super::interface::Transport;
use crate::attachments::Attachments;

/// What delivers the messages of a client. HTTP without layers needs no allocation for the trait's future.
#[derive(Clone)]
pub(crate) enum Carrier {
    Http(bsoap_http::Client),
    Own {
        transport: Arc<dyn Transport>,
        /// The default HTTP headers of the client.
        headers: HeaderMap,
    },
}

/// A message to deliver.
pub(crate) struct Outbound<'m> {
    pub(crate) target: &'m Target,
    pub(crate) is_idempotent: bool,
    pub(crate) address: &'m Address,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
    /// The time limit of the whole call.
    pub(crate) limit: Duration,
    /// How packages in the answer are read.
    pub(crate) attachments: &'m Attachments,
}

/// The answer to a message.
pub(crate) struct Delivered {
    pub(crate) fetched: Fetched,
    /// How often a layer attempted to deliver the message; 0 if nothing counted.
    pub(crate) attempts: u32,
}

impl Carrier {
    /// Posts a message within its time limit.
    pub(crate) async fn post(&self, message: Outbound<'_>) -> Result<Delivered, crate::Error> {
        let (address, limit) = (message.address, message.limit);
        let (transport, defaults) = match self {
            Self::Http(client) => {
                let (headers, body) = (message.headers, message.body);
                let reading: Option<&dyn ReadAnswer> = Some(message.attachments);
                let posted = client.post_reading(limit, address, headers, body, reading);
                return Ok(Delivered {
                    fetched: posted.await?,
                    attempts: 0,
                });
            }
            Self::Own { transport, headers } => (transport, headers),
        };
        let context = CallContext::new(message.target.clone(), message.is_idempotent, limit);
        let mut request = request(address, defaults, message.headers, message.body);
        request.extensions_mut().insert(context.clone());
        // For HTTP below the layers.
        request.extensions_mut().insert(message.attachments.clone());
        let response = match tokio::time::timeout(limit, transport.send(request)).await {
            Ok(response) => response.map_err(|error| failed(address, error)),
            Err(_) => Err(Failed::Transport(bsoap_http::Error::new(
                ErrorKind::Timeout(limit),
                address.as_str(),
            ))),
        };
        let attempts = context.attempts();
        let (head, body) = response
            .map_err(|failed| failed.after(attempts))?
            .into_parts();
        let fetched = Fetched::new(address.clone(), head.status, head.headers, body);
        Ok(Delivered {
            fetched: fetched.with_extensions(head.extensions),
            attempts,
        })
    }
}

/// For an error: how often a message was sent. `None` if it was sent once.
pub(crate) fn attempts_note(attempts: u32) -> Option<String> {
    (attempts > 1).then(|| format!("after {attempts} attempts"))
}

fn request(
    address: &Address,
    defaults: &HeaderMap,
    headers: HeaderMap,
    body: Body,
) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = address.uri().clone();
    let mut all = defaults.clone();
    crate::http_headers::set_all(&mut all, &headers);
    *request.headers_mut() = all;
    // The address with its credentials, for HTTP below the layers.
    request.extensions_mut().insert(address.clone());
    request
}

/// The error of a transport or a layer.
enum Failed {
    Transport(bsoap_http::Error),
    /// An error of another kind, such as of a client that the transport uses.
    Other(crate::Error),
}

impl Failed {
    fn after(self, attempts: u32) -> crate::Error {
        match (self, attempts_note(attempts)) {
            (Self::Transport(error), Some(note)) => error.noting(note).into(),
            (Self::Transport(error), None) => error.into(),
            (Self::Other(error), _) => error,
        }
    }
}

/// The error of a transport: our own, or another's in one of our own.
fn failed(address: &Address, error: AnyError) -> Failed {
    let error = match error.downcast::<bsoap_http::Error>() {
        Ok(error) => return Failed::Transport(*error),
        Err(error) => error,
    };
    match error.downcast::<crate::Error>() {
        Ok(error) => match *error {
            crate::Error::Transport(error) => Failed::Transport(error),
            error => Failed::Other(error),
        },
        Err(error) => Failed::Transport(
            bsoap_http::Error::new(ErrorKind::Custom, address.as_str()).because(error),
        ),
    }
}
