//! WS-Addressing: header blocks that say where a message goes, what it is for, and where its answer goes.
//!
//! Version 1.0 is written and read, and the member submission of 2004/08, which older peers still send.
//!
//! | block | what it says |
//! |---|---|
//! | `To` | the address of the receiver; without it the connection says that |
//! | `Action` | what the message is for; the WSDL has one for each message |
//! | `MessageID` | a name of the message, a new one each time |
//! | `RelatesTo` | the `MessageID` of the message that this one answers |
//! | `ReplyTo`, `FaultTo` | where the answer or the fault goes; without it, back on the connection (*anonymous*) |
//! | `From` | who sent the message |
//!
//! The server's side is in [`Endpoint`](crate::Endpoint), which reads the blocks of a request before it is decoded. What is sent
//! is [inserted](MessageAddressing::header_blocks) into the encoded message, so that templates do not contain it.
//! (WS-Addressing 1.0 - Core; - SOAP Binding; - Metadata)

use std::fmt;
use std::sync::Arc;

use bsoap_codec::{Object, Value};
use bsoap_schema::SoapVersion;

pub use bsoap_schema::{AddressingVersion, ResponseEndpoints, UsingAddressing};

mod problem;
mod read;
mod write;

pub use problem::AddressingProblem;
pub(crate) use read::read;
pub use write::UnwritableAddressing;

/// The address of the 1.0 version for an answer on the connection of the request.
pub const ANONYMOUS: &str = "http://www.w3.org/2005/08/addressing/anonymous";
/// The address of the 1.0 version for answers that nobody wants.
pub const NONE: &str = "http://www.w3.org/2005/08/addressing/none";
/// The `RelatesTo` of a message that answers one whose `MessageID` is not known.
pub const UNSPECIFIED: &str = "http://www.w3.org/2005/08/addressing/unspecified";
/// The anonymous address of the submission.
const SUBMISSION_ANONYMOUS: &str =
    "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous";
/// The relationship of an answer to its request in version 1.0.
const REPLY: &str = "http://www.w3.org/2005/08/addressing/reply";

/// The local names of the header blocks.
pub(crate) const BLOCKS: [&str; 7] = [
    "To",
    "Action",
    "MessageID",
    "RelatesTo",
    "From",
    "ReplyTo",
    "FaultTo",
];

/// The address of an endpoint, and the header blocks that a message to it must have.
///
/// ```
/// use bsoap_protocol::addressing::EndpointReference;
///
/// let endpoint = EndpointReference::new("http://replies.example.com/")
///     .with_parameter("<o:order xmlns:o='urn:orders'>7</o:order>");
/// assert!(!endpoint.is_anonymous());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointReference {
    /// The address, an IRI.
    pub address: String,
    /// The reference parameters: elements as XML, each with the namespace declarations that it needs. They become header blocks
    /// of messages to the endpoint. The reference properties of the submission are among them.
    pub reference_parameters: Vec<String>,
}

impl EndpointReference {
    /// An endpoint at an address.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            reference_parameters: Vec::new(),
        }
    }

    /// The endpoint that is the connection of the request.
    pub fn anonymous(version: AddressingVersion) -> Self {
        Self::new(match version {
            AddressingVersion::Recommendation => ANONYMOUS,
            AddressingVersion::Submission => SUBMISSION_ANONYMOUS,
        })
    }

    /// Adds a reference parameter: one element as XML.
    #[must_use]
    pub fn with_parameter(mut self, xml: impl Into<String>) -> Self {
        self.reference_parameters.push(xml.into());
        self
    }

    /// True if an answer for the endpoint goes back on the connection of the request.
    pub fn is_anonymous(&self) -> bool {
        matches!(&*self.address, ANONYMOUS | SUBMISSION_ANONYMOUS)
    }

    /// True if an answer for the endpoint is not sent.
    pub fn is_none(&self) -> bool {
        self.address == NONE
    }
}

/// The message that another one is related to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelatesTo {
    /// The `MessageID` of that message.
    pub message_id: String,
    /// The kind of the relationship, an IRI. `None` if this message is the answer to that one.
    pub relationship: Option<String>,
}

impl RelatesTo {
    /// The relationship of an answer to its request.
    pub fn reply(message_id: impl Into<String>) -> Self {
        Self {
            message_id: message_id.into(),
            relationship: None,
        }
    }
}

/// What the header blocks of a message say.
///
/// ```
/// use bsoap_protocol::SoapVersion;
/// use bsoap_protocol::addressing::MessageAddressing;
///
/// let message = "<s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope'>\
///     <s:Header xmlns:a='http://www.w3.org/2005/08/addressing'>\
///     <a:Action>urn:shop:buy</a:Action><a:MessageID>urn:uuid:1</a:MessageID></s:Header><s:Body/></s:Envelope>";
/// let request = MessageAddressing::read(message.as_bytes())?.expect("addressing headers");
/// assert_eq!(request.action.as_deref(), Some("urn:shop:buy"));
///
/// let answer = request.answer("urn:shop:bought", false);
/// assert_eq!(answer.relates_to[0].message_id, "urn:uuid:1");
/// let blocks = answer.header_blocks(SoapVersion::Soap12, false)?;
/// assert!(blocks[0].starts_with("<wsa:Action xmlns:wsa=\"http://www.w3.org/2005/08/addressing\">urn:shop:bought<"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageAddressing {
    /// The version of the header blocks.
    pub version: AddressingVersion,
    /// The address of the receiver.
    pub to: Option<String>,
    /// What the message is for, an IRI.
    pub action: Option<String>,
    /// The name of the message, an IRI.
    pub message_id: Option<String>,
    /// The messages that this one is related to.
    pub relates_to: Vec<RelatesTo>,
    /// Who sent the message.
    pub from: Option<EndpointReference>,
    /// Where the answer goes.
    pub reply_to: Option<EndpointReference>,
    /// Where a fault goes. Without it, a fault goes where the answer would go.
    pub fault_to: Option<EndpointReference>,
    /// The reference parameters of the endpoint that the message is sent to. They are written only: of a received message they
    /// are ordinary header blocks.
    pub reference_parameters: Vec<String>,
}

impl MessageAddressing {
    /// Nothing yet, of a version.
    pub fn new(version: AddressingVersion) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }

    /// Reads the header blocks of a message that are addressed to its ultimate receiver. `None` if there are none. A message that
    /// is not well-formed has those before its error.
    ///
    /// # Errors
    /// The first block that breaks a rule.
    pub fn read(message: &[u8]) -> Result<Option<Self>, AddressingProblem> {
        let read = read(message, &crate::Node::new());
        match read.problem {
            Some(problem) => Err(problem),
            None => Ok(read.addressing),
        }
    }

    /// Where the answer to this message goes, or the fault.
    pub fn response_endpoint(&self, is_fault: bool) -> EndpointReference {
        let fault_to = self.fault_to.as_ref().filter(|_| is_fault);
        let endpoint = fault_to.or(self.reply_to.as_ref()).cloned();
        endpoint.unwrap_or_else(|| EndpointReference::anonymous(self.version))
    }

    /// The blocks of the answer to this message, or of the fault. It has no `MessageID`, which an answer does not need.
    /// (WS-Addressing 1.0 - Core §3.4)
    #[must_use]
    pub fn answer(&self, action: impl Into<String>, is_fault: bool) -> Self {
        let endpoint = self.response_endpoint(is_fault);
        // Without `To` a message is for the anonymous endpoint, but the submission demands it.
        let is_implied =
            endpoint.is_anonymous() && self.version == AddressingVersion::Recommendation;
        let message_id = self.message_id.clone();
        Self {
            to: (!is_implied).then_some(endpoint.address),
            action: Some(action.into()),
            relates_to: message_id.map(RelatesTo::reply).into_iter().collect(),
            reference_parameters: endpoint.reference_parameters,
            ..Self::new(self.version)
        }
    }

    /// The `MessageID` of the message that this one answers. `None` if it does not say so.
    pub fn answered_id(&self) -> Option<&str> {
        let mut related = self.relates_to.iter();
        let reply = related.find(|related| related.relationship.is_none())?;
        Some(&reply.message_id)
    }
}

/// Blocks of XML as header blocks of a message: [`Contents::with_headers`](crate::Contents::with_headers).
pub fn as_headers(blocks: Vec<String>) -> Object {
    let mut headers = Object::new();
    if !blocks.is_empty() {
        let blocks = blocks.into_iter().map(Value::from).collect();
        headers.insert("#any", Value::Array(blocks));
    }
    headers
}

/// The blocks of a fault that is sent on the connection of a request, wherever that wants faults to be sent.
pub(crate) fn refusal_blocks(
    request: Option<&MessageAddressing>,
    soap: SoapVersion,
    fault: &crate::Fault,
) -> Vec<String> {
    let Some(request) = request else {
        return Vec::new();
    };
    let request = MessageAddressing {
        reply_to: None,
        fault_to: None,
        ..request.clone()
    };
    request.answer_blocks(soap, None, Some(fault))
}

/// How an [`Endpoint`](crate::Endpoint) uses WS-Addressing. By default answers go back on the connection of the request only.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct AddressingPolicy {
    /// Whether a request without addressing headers is refused. `None`: if the WSDL requires them.
    pub is_required: Option<bool>,
    /// The endpoints that answers may be sent to.
    pub responses: ResponseEndpoints,
    allowed: Option<Arc<IsAllowed>>,
    destinations: Option<Arc<IsAllowed>>,
}

/// Whether an address is one that answers may be sent to, or one of the service.
type IsAllowed = dyn Fn(&str) -> bool + Send + Sync;

impl AddressingPolicy {
    /// Requests may have addressing headers; answers go back on the connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a WSDL says.
    pub fn of(using: UsingAddressing) -> Self {
        Self {
            is_required: Some(using.is_required),
            responses: using.responses,
            allowed: None,
            destinations: None,
        }
    }

    /// Refuses messages whose `To` is an address for which the function returns false, with `DestinationUnreachable`. By default
    /// `To` is not looked at: behind a proxy the addresses that clients know are others.
    #[must_use]
    pub fn serving(mut self, is_ours: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.destinations = Some(Arc::new(is_ours));
        self
    }

    /// Allows answers to be sent to the addresses for which the function returns true. A request chooses the address, so the
    /// function must know it: otherwise everybody can make the service send messages to hosts that only the service reaches.
    #[must_use]
    pub fn allowing(mut self, allowed: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.allowed = Some(Arc::new(allowed));
        self
    }

    /// Checks where a request goes and where its answers go.
    pub(crate) fn check(&self, request: &MessageAddressing) -> Result<(), AddressingProblem> {
        if let (Some(is_ours), Some(to)) = (&self.destinations, &request.to)
            && !EndpointReference::new(&**to).is_anonymous()
            && !is_ours(to)
        {
            let address = to.clone();
            return Err(AddressingProblem::DestinationUnreachable { address });
        }
        let endpoints = [
            ("ReplyTo", &request.reply_to),
            ("FaultTo", &request.fault_to),
        ];
        for (header, endpoint) in endpoints {
            let Some(endpoint) = endpoint else { continue };
            let address = endpoint.address.clone();
            if endpoint.is_none() {
                continue;
            }
            if endpoint.is_anonymous() {
                continue;
            }
            let is_allowed = self
                .allowed
                .as_ref()
                .is_some_and(|allowed| allowed(&address));
            if !is_allowed {
                return Err(AddressingProblem::OnlyAnonymous { header, address });
            }
        }
        Ok(())
    }

    /// Checks the endpoints for the answers of a request that has one, by what the WSDL says about its operation, or about the port.
    /// A service that may call no address sends all answers on the connection, also if its WSDL says otherwise.
    pub(crate) fn check_responses(
        &self,
        request: &MessageAddressing,
        of_operation: Option<ResponseEndpoints>,
    ) -> Result<(), AddressingProblem> {
        let anonymous = EndpointReference::anonymous(request.version);
        let reply_to = request.reply_to.as_ref().unwrap_or(&anonymous);
        let fault_to = request.fault_to.as_ref().unwrap_or(reply_to);
        let endpoints = [("ReplyTo", reply_to), ("FaultTo", fault_to)];
        for (header, endpoint) in endpoints.into_iter().filter(|(_, it)| !it.is_none()) {
            match of_operation.unwrap_or(self.responses) {
                ResponseEndpoints::Anonymous if !endpoint.is_anonymous() => {
                    let address = endpoint.address.clone();
                    return Err(AddressingProblem::OnlyAnonymous { header, address });
                }
                ResponseEndpoints::NonAnonymous
                    if endpoint.is_anonymous() && self.allowed.is_some() =>
                {
                    return Err(AddressingProblem::OnlyNonAnonymous { header });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl fmt::Debug for AddressingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressingPolicy")
            .field("is_required", &self.is_required)
            .field("responses", &self.responses)
            .finish_non_exhaustive()
    }
}
