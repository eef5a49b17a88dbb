//! The client: sends messages to a port of a service.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use bsoap_codec::plan::Plan;
use bsoap_codec::{Object, Record};
use bsoap_http::Address;
use bsoap_protocol::{HeaderLimits, SoapVersion, Target};
use bsoap_schema::{Definitions, Operation, Port};

use crate::Error;
use crate::addressing::Addressing;
use crate::attachments::Attachments;
use crate::decoders::Decoders;
use crate::hooks::Hooks;
use crate::scope::{Keeping, PeerScope};
#[cfg(feature = "wsse")]
use crate::security::UsernameToken;
use crate::transport::Carrier;
use crate::tuning::{
    Budget, HintCounts, Hints, Meter, ReceiveCounts, Receiving, SendCounts, SendPolicy, Sending,
};

mod answer;
mod builder;
mod call;
mod calls;
mod draft;
mod exchange;
mod insertions;
mod options;
mod refusal;
mod spans;

pub use answer::Answer;
pub use builder::ClientBuilder;
pub use call::{Call, Calling};
pub use draft::{Draft, DraftPath, DraftPlace, Relay};
pub use options::CallOptions;
pub(crate) use options::call_option_methods;

/// A client of one port of a service. Cloning shares its connections.
///
/// ```no_run
/// use bsoap::{Client, Value};
///
/// # async fn example() -> Result<(), bsoap::Error> {
/// let client = Client::from_wsdl("examples/mesh/mesh.wsdl")?;
/// let arguments = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// let answer = client.call("sumDoubles", &arguments).await?;
/// assert_eq!(answer["sum"].as_f64(), Some(4.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    definitions: Arc<Definitions>,
    service: String,
    port: Port,
    address: Address,
    transport: Carrier,
    /// The time limit of calls.
    timeout: Duration,
    hooks: Hooks,
    /// The SOAP header blocks of every request.
    headers: Object,
    /// The addressing headers. `None` if messages have none.
    addressing: Option<Addressing>,
    #[cfg(feature = "wsse")]
    token: Option<UsernameToken>,
    /// Saved answers of the endpoint.
    scope: PeerScope,
    /// Saved templates of requests. Clients made with [`at`](Client::at) share them.
    templates: PeerScope,
    decoders: Arc<Decoders>,
    budget: Budget,
    /// The template policy of drafts.
    policy: SendPolicy,
    /// Whether and how answers are saved.
    receiving: Receiving,
    /// How large the Header of an answer may be.
    header_limits: HeaderLimits,
    /// How attachments are sent and received.
    attachments: Attachments,
    /// Whether hints are used and sent.
    hints: Hints,
    /// True if the peer has announced that it uses hints.
    follows_hints: AtomicBool,
    /// The number of this endpoint among the clients that share the templates.
    endpoint: u32,
    /// The number of endpoints that share the templates.
    endpoints: Arc<AtomicU32>,
    meter: Meter,
}

/// Shows the endpoint without the credentials that its address may contain.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("service", &self.service())
            .field("port", &self.port().name)
            .field("endpoint", &self.endpoint())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the same port at another address. It shares connections, counts and the templates of messages with this
    /// one.
    ///
    /// # Errors
    /// If `address` is not an `http` or `https` URL.
    pub fn at(&self, address: &str) -> Result<Self, Error> {
        let inner = &*self.inner;
        let endpoint = inner.endpoints.fetch_add(1, Ordering::Relaxed);
        self.with_address(
            address.parse()?,
            inner.templates.clone(),
            endpoint,
            Keeping {
                sending: Sending::off(),
                receiving: inner.receiving,
                hints: inner.hints,
            },
        )
    }

    /// A client of the same port at another address that saves nothing.
    fn once_at(&self, address: &str) -> Result<Self, Error> {
        let inner = &*self.inner;
        let keeping = Keeping {
            sending: Sending::off(),
            receiving: Receiving::off(),
            hints: Hints::default(),
        };
        let templates = PeerScope::new(&inner.decoders, &inner.budget, keeping);
        self.with_address(address.parse()?, templates, 0, keeping)
    }

    fn with_address(
        &self,
        address: Address,
        templates: PeerScope,
        endpoint: u32,
        keeping: Keeping,
    ) -> Result<Self, Error> {
        let inner = &*self.inner;
        let inner = Inner {
            address,
            // Answers are saved for each endpoint: no endpoint can find out, by measuring time, what another one answered.
            scope: PeerScope::new(&inner.decoders, &inner.budget, keeping),
            templates,
            endpoint,
            endpoints: Arc::clone(&inner.endpoints),
            definitions: Arc::clone(&inner.definitions),
            service: inner.service.clone(),
            port: inner.port.clone(),
            transport: inner.transport.clone(),
            timeout: inner.timeout,
            hooks: inner.hooks.clone(),
            headers: inner.headers.clone(),
            addressing: inner.addressing.clone(),
            #[cfg(feature = "wsse")]
            token: inner.token.clone(),
            decoders: Arc::clone(&inner.decoders),
            budget: inner.budget.clone(),
            policy: inner.policy,
            receiving: keeping.receiving,
            header_limits: inner.header_limits,
            attachments: inner.attachments.clone(),
            hints: keeping.hints,
            follows_hints: AtomicBool::new(false),
            meter: inner.meter.clone(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Checks that a request was made for the port of this client: other messages may have another structure.
    fn check_target(&self, target: &Target) -> Result<(), Error> {
        let binding = &self.inner.port.binding;
        let is_own =
            Arc::ptr_eq(target.plan(), self.plan()) && target.binding().request == binding.request;
        if is_own {
            return Ok(());
        }
        Err(Error::Setup(format!(
            "the request for operation {} was made for another WSDL or another port: make it with this client, or load the WSDL once and share it",
            target.operation().name
        )))
    }

    /// Checks that a Record is a request Envelope of this client's port.
    fn check_record(&self, record: &Record) -> Result<(), Error> {
        let (plan, root) = (self.plan(), self.inner.port.binding.request);
        let is_own = match Arc::ptr_eq(record.plan(), plan) {
            true => record.root() == root,
            false => record.plan().fingerprint(record.root()) == plan.fingerprint(root),
        };
        if is_own {
            return Ok(());
        }
        Err(Error::Setup(
            "the Record is not a request Envelope of this client's port: it belongs to another WSDL, another port or another message".into(),
        ))
    }

    /// The operation of this name, with the Plan of its messages.
    ///
    /// # Errors
    /// If the WSDL has no such operation.
    pub fn target(&self, operation: &str) -> Result<Target, Error> {
        Ok(Target::new(
            self.inner.definitions.plan(),
            &self.inner.port.binding,
            operation,
        )?)
    }

    /// The operations that can be called.
    pub fn operations(&self) -> &[Operation] {
        &self.inner.port.binding.operations
    }

    /// Counts of how requests were encoded with templates, and of the work that templates avoided.
    pub fn sender_stats(&self) -> SendCounts {
        self.inner.meter.sending()
    }

    /// Counts of how answers were decoded with histories, and of the work that histories avoided.
    pub fn receiver_stats(&self) -> ReceiveCounts {
        self.inner.meter.receiving()
    }

    /// Counts of the hints sent, and of how received hints were used.
    pub fn hint_stats(&self) -> HintCounts {
        self.inner.meter.hints()
    }

    /// The counts of messages and bytes so far.
    pub fn meter(&self) -> &Meter {
        &self.inner.meter
    }

    /// The loaded WSDL.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.inner.definitions
    }

    /// The Plan of all messages.
    pub fn plan(&self) -> &Arc<Plan> {
        self.inner.definitions.plan()
    }

    /// The name of the service.
    pub fn service(&self) -> &str {
        &self.inner.service
    }

    /// The port that the client calls.
    pub fn port(&self) -> &Port {
        &self.inner.port
    }

    /// The version of SOAP of the port.
    pub fn version(&self) -> SoapVersion {
        self.inner.port.binding.version
    }

    /// The address that messages are sent to.
    pub fn endpoint(&self) -> &str {
        self.inner.address.as_str()
    }
}
