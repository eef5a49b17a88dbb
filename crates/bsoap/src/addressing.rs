//! WS-Addressing: what clients send, and what services do with it.
//!
//! A client sends the header blocks if its WSDL requires them of the port, or with
//! [`ClientBuilder::addressing`](crate::ClientBuilder::addressing). The blocks are inserted into the encoded message when it is
//! sent, so that each message has a `MessageID` of its own, and templates do not contain it.

#[cfg(feature = "client")]
use bsoap_protocol::Target;

pub use bsoap_protocol::addressing::{
    ANONYMOUS, AddressingPolicy, AddressingProblem, AddressingVersion, EndpointReference,
    MessageAddressing, NONE, RelatesTo, ResponseEndpoints, UsingAddressing,
};

/// What the addressing headers of a client say, or those of one call. What is not set has its default: `To` is the address that
/// the message is sent to, `Action` is that of the WSDL, and `MessageID` is a new one each time.
///
/// ```
/// use bsoap::Client;
/// use bsoap::addressing::{Addressing, EndpointReference};
///
/// let replies = EndpointReference::new("http://replies.example.com/orders");
/// let client = Client::builder("examples/mesh/mesh.wsdl").addressing(Addressing::new().reply_to(replies));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Addressing {
    message: MessageAddressing,
    /// `None` for that of the WSDL.
    version: Option<AddressingVersion>,
    must_understand: bool,
}

impl Addressing {
    /// The version that the WSDL uses, otherwise 1.0, with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the version. Peers that know only the member submission of 2004/08 are rare.
    pub fn version(mut self, version: AddressingVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Marks the header blocks with `mustUnderstand`: a peer that does not know WS-Addressing refuses the message.
    pub fn must_understand(mut self) -> Self {
        self.must_understand = true;
        self
    }

    /// Sets the address of the receiver.
    pub fn to(mut self, address: impl Into<String>) -> Self {
        self.message.to = Some(address.into());
        self
    }

    /// Sends messages to an endpoint that a peer has named: sets its address as that of the receiver, and adds its reference
    /// parameters as header blocks.
    pub fn to_endpoint(mut self, endpoint: &EndpointReference) -> Self {
        let parameters = endpoint.reference_parameters.iter().cloned();
        self.message.reference_parameters.extend(parameters);
        self.to(&*endpoint.address)
    }

    /// Sets the action.
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.message.action = Some(action.into());
        self
    }

    /// Sets the `MessageID`. It must be a new one for each message.
    pub fn message_id(mut self, id: impl Into<String>) -> Self {
        self.message.message_id = Some(id.into());
        self
    }

    /// Adds a message that this one is related to.
    pub fn relates_to(mut self, related: RelatesTo) -> Self {
        self.message.relates_to.push(related);
        self
    }

    /// Sets who sends the messages.
    pub fn from(mut self, endpoint: EndpointReference) -> Self {
        self.message.from = Some(endpoint);
        self
    }

    /// Sets where answers go. Calls then return when the peer has accepted the message, without a result. The program serves the
    /// endpoint, and [`Client::read_answer`](crate::Client::read_answer) reads what arrives there.
    pub fn reply_to(mut self, endpoint: EndpointReference) -> Self {
        self.message.reply_to = Some(endpoint);
        self
    }

    /// Sets where faults go, if that is not where answers go.
    pub fn fault_to(mut self, endpoint: EndpointReference) -> Self {
        self.message.fault_to = Some(endpoint);
        self
    }

    /// Whether the header blocks have `mustUnderstand`.
    #[cfg(feature = "client")]
    pub(crate) fn is_mandatory(&self) -> bool {
        self.must_understand
    }

    /// What the header blocks of a message that is sent now to a port say.
    ///
    /// # Errors
    /// [`Error::Setup`](crate::Error::Setup) if the WSDL does not allow the endpoint for answers.
    #[cfg(feature = "client")]
    pub(crate) fn message(
        &self,
        target: &Target,
        address: &str,
        port: Option<UsingAddressing>,
    ) -> Result<MessageAddressing, crate::Error> {
        self.check_responses(target, port)?;
        let mut message = self.message.clone();
        let of_wsdl = port.map(|using| using.version);
        message.version = self.version.or(of_wsdl).unwrap_or_default();
        message.to.get_or_insert_with(|| address.to_owned());
        let action = &target.operation().input.action;
        message.action.get_or_insert_with(|| action.clone());
        message
            .message_id
            .get_or_insert_with(|| uuid::Uuid::new_v4().urn().to_string());
        if message.version == AddressingVersion::Submission && message.reply_to.is_none() {
            // A request that wants an answer must have it. (WS-Addressing 2004/08 §3.3)
            message.reply_to = Some(EndpointReference::anonymous(message.version));
        }
        Ok(message)
    }

    /// Checks the endpoints for answers by what the WSDL says about the operation, or about the port.
    #[cfg(feature = "client")]
    fn check_responses(
        &self,
        target: &Target,
        port: Option<UsingAddressing>,
    ) -> Result<(), crate::Error> {
        let operation = target.operation();
        let allowed = operation.responses.or(port.map(|using| using.responses));
        let is_answered = operation.output.is_some();
        let answer = self.message.response_endpoint(false);
        let fault = self.message.response_endpoint(true);
        let problem = match allowed.filter(|_| is_answered) {
            Some(ResponseEndpoints::Anonymous)
                if [&answer, &fault]
                    .iter()
                    .any(|it| !it.is_anonymous() && !it.is_none()) =>
            {
                "only on the connection of the request, but the addressing headers name another endpoint for them"
            }
            Some(ResponseEndpoints::NonAnonymous) if answer.is_anonymous() => {
                "only to other endpoints: set one with Addressing::reply_to"
            }
            _ => return Ok(()),
        };
        Err(crate::Error::Setup(format!(
            "by its WSDL, operation {} sends answers {problem}",
            operation.name
        )))
    }
}

/// A function that knows these hosts, for [`AddressingPolicy::allowing`]. A host is given as `replies.example.com`, which is
/// every port of it, or with its port, as `replies.example.com:8080`.
///
/// ```
/// use bsoap::addressing::hosts;
///
/// let is_known = hosts(["replies.example.com:8080"]);
/// assert!(is_known("http://replies.example.com:8080/orders"));
/// assert!(!is_known("http://replies.example.com/orders"));
/// assert!(!is_known("http://replies.example.com:8080@evil.example.com/"));
/// assert!(hosts(["::1"])("http://[::1]:8080/"));
/// ```
pub fn hosts<H: Into<String>>(
    known: impl IntoIterator<Item = H>,
) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    let known: Vec<String> = known
        .into_iter()
        .map(|host| host.into().to_ascii_lowercase())
        // An IPv6 address is in brackets, as in a URL.
        .map(|host| match host.parse::<std::net::Ipv6Addr>() {
            Ok(_) => format!("[{host}]"),
            Err(_) => host,
        })
        .collect();
    move |address| {
        let Ok(address) = address.parse::<bsoap_http::Address>() else {
            return false;
        };
        let uri = address.uri();
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        let port = match (uri.port_u16(), address.is_secure()) {
            (Some(port), _) => port,
            (None, true) => 443,
            (None, false) => 80,
        };
        let with_port = format!("{host}:{port}");
        known.iter().any(|one| *one == host || *one == with_port)
    }
}

/// Whether WS-Addressing is used, as it was configured.
#[derive(Clone, Debug, Default)]
pub(crate) enum Use<T> {
    /// If the WSDL says so.
    #[default]
    OfWsdl,
    /// It is not.
    Off,
    /// It is, with these options.
    On(T),
}

impl<T> Use<T> {
    /// The options. `None` if it is not used.
    pub(crate) fn options(self, of_wsdl: impl FnOnce() -> Option<T>) -> Option<T> {
        match self {
            Self::OfWsdl => of_wsdl(),
            Self::Off => None,
            Self::On(options) => Some(options),
        }
    }
}
