//! HTTP as a transport.

use std::time::Duration;

use ::http::{Request, Response};
use bsoap_http::{Address, Body, ReadAnswer};

use super::interface::{Transport, Transporting};
use crate::attachments::Attachments;

/// HTTP as a transport, below the layers of a client.
pub(crate) struct HttpTransport(pub(crate) bsoap_http::Client);

impl Transport for HttpTransport {
    fn send(&self, request: Request<Body>) -> Transporting {
        let client = self.0.clone();
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            let known = head.extensions.remove::<Address>();
            let address = match known.filter(|address| *address.uri() == head.uri) {
                Some(address) => address,
                None => head.uri.to_string().parse()?,
            };
            // The time limit is that of the whole call, around the layers.
            let attachments = head.extensions.remove::<Attachments>();
            let readers = attachments.as_ref().map(|it| it as &dyn ReadAnswer);
            let posted = client.post_reading(Duration::MAX, &address, head.headers, body, readers);
            let fetched = posted.await?;
            let mut response = Response::new(fetched.body);
            *response.status_mut() = fetched.status;
            *response.headers_mut() = fetched.headers;
            *response.extensions_mut() = fetched.extensions;
            Ok(response)
        })
    }
}
