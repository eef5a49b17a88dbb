//! The HTTP headers of requests.

use bsoap_http::header::{self, HeaderMap, HeaderName, HeaderValue};
use bsoap_protocol::RequestHeaders;

use crate::Error;

/// Replaces the headers that `more` has.
pub(crate) fn set_all(headers: &mut HeaderMap, more: &HeaderMap) {
    for name in more.keys() {
        headers.remove(name);
    }
    for (name, value) in more {
        headers.append(name, value.clone());
    }
}

/// Adds a header. The error says why it cannot be sent.
pub(crate) fn append(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    match (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(is_secret(&name));
            headers.append(name, value);
            Ok(())
        }
        _ => Err(format!(
            "header {name:?} is not valid: its name or its value has characters that HTTP does not allow"
        )),
    }
}

/// The HTTP headers of a request.
pub(crate) fn of_request(headers: RequestHeaders) -> Result<HeaderMap, Error> {
    let pairs = [
        (header::CONTENT_TYPE, Some(headers.content_type)),
        (
            HeaderName::from_static("soapaction"),
            headers.soap_action.map(Into::into),
        ),
    ];
    let mut headers = HeaderMap::with_capacity(4);
    for (name, value) in pairs {
        let Some(value) = value else { continue };
        let value = HeaderValue::try_from(&*value).map_err(|_| {
            Error::Setup(format!(
                "the operation's soapAction {value:?} cannot be sent: it has characters that HTTP headers do not allow"
            ))
        })?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// True if `Debug` must not show the value of this header.
fn is_secret(name: &HeaderName) -> bool {
    [
        header::AUTHORIZATION,
        header::PROXY_AUTHORIZATION,
        header::COOKIE,
    ]
    .contains(name)
}
