//! The `Authorization` that layers add to requests.

use bsoap_http::{Address, Body};
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request};

/// In the extensions of requests whose `Authorization` a layer of the client has added.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddedAuthorization;

pub(super) fn set_authorization(request: &mut Request<Body>, value: HeaderValue) {
    request.headers_mut().insert(AUTHORIZATION, value);
    request.extensions_mut().insert(AddedAuthorization);
}

/// Whether the caller has given a request credentials of its own, in a header or in the address. Layers do not replace them.
pub(super) fn has_credentials(request: &Request<Body>) -> bool {
    let address = request.extensions().get::<Address>();
    request.headers().contains_key(AUTHORIZATION)
        || address.is_some_and(|address| address.credentials().is_some())
}
