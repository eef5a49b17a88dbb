//! Answers that do not go back on the connection of their request, but to an endpoint that the request names
//! (WS-Addressing 1.0 - Core §3.4).
//!
//! The [policy](crate::addressing::AddressingPolicy) has allowed the address before: an address in a request is not to be trusted.

use bsoap_protocol::addressing::EndpointReference;
use bsoap_protocol::{AwaitingAnswer, Target};

use super::path::Path;
use super::reply::Reply;

/// Where the answer to a request goes, and where a fault goes.
pub(super) struct Destinations {
    /// `None` if the request has no addressing headers.
    stated: Option<Stated>,
}

struct Stated {
    answer: EndpointReference,
    fault: EndpointReference,
    target: Target,
}

impl Destinations {
    pub(super) fn of(awaiting: &AwaitingAnswer) -> Self {
        let stated = || {
            Some(Stated {
                answer: awaiting.response_endpoint(false)?,
                fault: awaiting.response_endpoint(true)?,
                target: awaiting.target().clone(),
            })
        };
        Self { stated: stated() }
    }

    /// Whether the request says where its answer goes.
    pub(super) fn are_stated(&self) -> bool {
        self.stated.is_some()
    }

    /// Whether the answer or a fault goes to another endpoint.
    pub(super) fn is_any_elsewhere(&self) -> bool {
        let stated = self.stated.as_ref();
        stated.is_some_and(|stated| !stated.answer.is_anonymous() || !stated.fault.is_anonymous())
    }

    /// Whether neither an answer nor a fault goes back on the connection.
    pub(super) fn is_connection_unused(&self) -> bool {
        let is_elsewhere = |endpoint: &EndpointReference| !endpoint.is_anonymous();
        let stated = self.stated.as_ref();
        stated.is_some_and(|stated| is_elsewhere(&stated.answer) && is_elsewhere(&stated.fault))
    }

    /// Whether a reply goes back on the connection.
    pub(super) fn is_for_connection(&self, reply: &Reply) -> bool {
        self.endpoint(reply)
            .is_none_or(EndpointReference::is_anonymous)
    }

    fn endpoint(&self, reply: &Reply) -> Option<&EndpointReference> {
        let stated = self.stated.as_ref()?;
        Some(match reply.fault {
            Some(_) => &stated.fault,
            None => &stated.answer,
        })
    }

    /// Sends a reply to its endpoint. Nobody waits for the outcome: a failure is logged.
    pub(super) async fn send(&self, path: &Path, reply: Reply) {
        let (Some(stated), Some(endpoint)) = (&self.stated, self.endpoint(&reply)) else {
            return;
        };
        if endpoint.is_none() {
            return;
        }
        let (operation, address) = (&*stated.target.operation().name, &*endpoint.address);
        if let Err(problem) = post(path, address, &stated.target, reply).await {
            tracing::warn!(
                operation,
                address,
                problem,
                "an answer could not be sent to its endpoint"
            );
        }
    }
}

#[cfg(feature = "client")]
async fn post(path: &Path, address: &str, target: &Target, reply: Reply) -> Result<(), String> {
    use bsoap_http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
    use bsoap_protocol::{SoapVersion, media};

    use crate::attachments::Prepared;

    let address = address
        .parse::<bsoap_http::Address>()
        .map_err(|error| error.to_string())?;
    let output = target.operation().output.as_ref();
    let action = match (&reply.fault, output) {
        (None, Some(output)) => &*output.action,
        _ => "",
    };
    let soap_action = reply
        .version
        .filter(|version| *version == SoapVersion::Soap11)
        .and_then(|version| media::soap_action(version, Some(action)));
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (CONTENT_TYPE, reply.content_type.as_deref()),
        (
            HeaderName::from_static("soapaction"),
            soap_action.as_deref(),
        ),
    ] {
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            headers.insert(name, value);
        }
    }
    let encoded = reply.body;
    let prepared = Prepared::new(encoded.text, &encoded.attachments, encoded.packing);
    let mut prepared = prepared.map_err(|error| error.to_string())?;
    let text = std::mem::take(&mut prepared.body);
    let text = path.hooks.before_send(target, &mut headers, text);
    prepared.body = text.map_err(|error| crate::error::report(&error))?;
    let body = prepared.frame(&mut headers);
    let sent = path.answers.post(&address, headers, body).await;
    let fetched = sent.map_err(|error| crate::error::report(&error))?;
    match fetched.status.is_success() {
        true => Ok(()),
        false => Err(format!("the HTTP status is {}", fetched.status.as_u16())),
    }
}

/// Without a client, no answer can be sent elsewhere: no policy that allows an address is of use.
#[cfg(not(feature = "client"))]
#[expect(clippy::unused_async)]
async fn post(_: &Path, _: &str, _: &Target, _: Reply) -> Result<(), String> {
    Err("bsoap was built without the feature `client`".to_owned())
}
