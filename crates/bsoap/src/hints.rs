//! Hints: header blocks that contain the locations of the values of a message, for peers that use them.

use bsoap_http::HeaderMap;
use bsoap_http::header::{HeaderName, HeaderValue};

/// The HTTP header by which a peer announces that it uses hints.
const HEADER: HeaderName = HeaderName::from_static("bsoap-hint");

/// Whether a client or a service follows the hints of its peers, and gives them some.
///
/// A hint is a header block that is never `mustUnderstand`: peers that do not know it ignore it. It is useful for messages that
/// have their structure in common, and hardly a value; messages that are similar to the ones before are sent without, since
/// [less](crate::tuning::Sending) has to be done [for those](crate::tuning::Receiving). Values and errors are the same with hints as without, and no hint is
/// believed.
///
/// ```
/// use bsoap::{Client, Service};
/// use bsoap::tuning::Hints;
///
/// let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// let client = Client::builder(wsdl).hints(Hints::Offered).build()?;
/// let service = Service::builder(wsdl).hints(Hints::Offered);
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hints {
    /// None are given, received ones are ignored.
    #[default]
    Off,
    /// Received hints are followed, which the HTTP header `Bsoap-Hint` announces with each message; a peer that announces the same
    /// is given some.
    Offered,
    /// Received hints are followed, and each peer is given some.
    Always,
}

impl Hints {
    /// Whether hints that come are followed.
    pub(crate) fn is_on(self) -> bool {
        self != Self::Off
    }

    /// Whether a peer is given hints, which has said so or not.
    pub(crate) fn gives(self, is_wanted: bool) -> bool {
        match self {
            Self::Off => false,
            Self::Offered => is_wanted,
            Self::Always => true,
        }
    }

    /// Says to a peer that its hints are followed, if they are.
    pub(crate) fn offer(self, headers: &mut HeaderMap) {
        if self.is_on() {
            headers.insert(HEADER, HeaderValue::from_static("1"));
        }
    }
}

/// Whether a peer has said that it follows hints.
pub(crate) fn are_wanted(headers: &HeaderMap) -> bool {
    headers.get(HEADER).is_some_and(|value| value == "1")
}
