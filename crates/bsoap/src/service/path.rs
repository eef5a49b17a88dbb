//! What is served at one path.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::plan::ElementId;
use bsoap_http::{OnRefusal, Refusal, Request};
use bsoap_protocol::{Endpoint, SenderStatus};
use bsoap_schema::Definitions;
use http::HeaderMap;
use tracing::Span;

use super::background::Background;
use super::handler::Operation;
use super::load::HandlerLimit;
use crate::Principal;
use crate::attachments::Attachments;
use crate::decoders::Decoders;
use crate::hooks::Hooks;
use crate::principal::Principals;
use crate::scope::{Keeping, PeerScope};
use crate::tuning::{Budget, Meter};

/// The endpoint at one path, with the operations of its ports.
pub(super) struct Path {
    pub(super) definitions: Arc<Definitions>,
    pub(super) endpoint: Endpoint,
    pub(super) decoders: Arc<Decoders>,
    pub(super) budget: Budget,
    pub(super) keeping: Keeping,
    pub(super) principals: Option<Principals>,
    pub(super) operations: Arc<HashMap<String, Operation>>,
    pub(super) fallback: Option<Operation>,
    /// How many handlers may run at a time.
    pub(super) handlers: HandlerLimit,
    /// The time limit of a handler.
    pub(super) handler_timeout: Option<Duration>,
    pub(super) background: Background,
    pub(super) hooks: Hooks,
    pub(super) on_refusal: Option<OnRefusal>,
    pub(super) on_span: Option<OnSpan>,
    /// The HTTP status of SOAP 1.2 faults whose code is Sender.
    pub(super) sender_status: SenderStatus,
    pub(super) meter: Meter,
    pub(super) attachments: Attachments,
    /// The Envelopes of requests whose answers are sent with MTOM, as policies require.
    pub(super) mtom_requests: Vec<ElementId>,
    /// Sends the answers that go to other endpoints.
    #[cfg(feature = "client")]
    pub(super) answers: bsoap_http::Client,
}

/// A function that prepares the span of a request, which has these headers.
pub(super) type OnSpan = Arc<dyn Fn(&Span, &HeaderMap) + Send + Sync>;

impl Path {
    /// Reports a refusal, if anybody wants to know.
    pub(super) fn report(&self, request: &Request, status: u16, reason: &str) {
        if let Some(report) = &self.on_refusal {
            report(&Refusal::new(request, status, reason));
        }
    }

    /// The scope of a request's sender: that of the principal, or that of the connection if there is no principal.
    pub(super) fn scope(&self, request: &Request) -> PeerScope {
        let new = |keeping| PeerScope::new(&self.decoders, &self.budget, keeping);
        let principal = request.extensions.get::<Principal>();
        if let (Some(principals), Some(principal)) = (&self.principals, principal) {
            return principals.scope(principal, || new(self.keeping));
        }
        if !request.connection.is_lasting() {
            return new(self.keeping.off());
        }
        PeerScope::clone(&request.connection.keep(|| new(self.keeping)))
    }
}
