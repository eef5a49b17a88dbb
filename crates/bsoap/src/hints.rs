//! Hints: header blocks that contain the locations of the values of a message, for peers that use them.

use bsoap_http::HeaderMap;
use bsoap_http::header::{HeaderName, HeaderValue};

/// The HTTP header by which a peer announces that it uses hints.
const HEADER: HeaderName = HeaderName::from_static("bsoap-hint");

/// Whether a client or a service uses the hints of its peers, and sends hints.
///
/// A hint is a header block without `mustUnderstand`, so peers that do not know it ignore it. It helps with messages that
/// have the same structure as earlier ones but different values. Messages that are similar to earlier ones are sent without
/// hints, because templates ([`Sending`](crate::tuning::Sending)) and histories ([`Receiving`](crate::tuning::Receiving))
/// save more. Hints are verified: values and errors are the same as without hints.
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
    /// No hints are sent, and received ones are ignored.
    #[default]
    Off,
    /// Received hints are used, and the HTTP header `Bsoap-Hint` of each message announces this. Hints are sent to peers
    /// that announce the same.
    Offered,
    /// Received hints are used, and hints are sent to every peer.
    Always,
}

impl Hints {
    /// True if received hints are used.
    pub(crate) fn is_on(self) -> bool {
        self != Self::Off
    }

    /// True if hints are sent to a peer. `is_wanted` is true if the peer announced that it uses them.
    pub(crate) fn gives(self, is_wanted: bool) -> bool {
        match self {
            Self::Off => false,
            Self::Offered => is_wanted,
            Self::Always => true,
        }
    }

    /// Adds the HTTP header that announces the use of hints, unless hints are off.
    pub(crate) fn offer(self, headers: &mut HeaderMap) {
        if self.is_on() {
            headers.insert(HEADER, HeaderValue::from_static("1"));
        }
    }
}

/// True if the HTTP headers of a peer announce that it uses hints.
pub(crate) fn are_wanted(headers: &HeaderMap) -> bool {
    headers.get(HEADER).is_some_and(|value| value == "1")
}
