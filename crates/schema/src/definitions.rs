//! A loaded WSDL, resolved and compiled: services, ports, bindings, operations, and the [`Plan`] of all their messages.
//!
//! These types are plain, immutable data. `wsdl.rs` describes how a WSDL is read, `compile/envelope.rs` how the Envelopes of
//! each binding are built.

use std::fmt;
use std::sync::Arc;

use bsoap_codec::plan::{ElementId, Plan, TypeId};
use foldhash::HashMap;

use crate::document::Documents;
use crate::loader::scheme_of;
use crate::{Document, Error};

/// A loaded and compiled WSDL with all its imports. Immutable; share it by `Arc`.
#[derive(Clone, Debug)]
pub struct Definitions {
    pub(crate) plan: Arc<Plan>,
    pub(crate) name: Option<String>,
    pub(crate) target_namespace: String,
    pub(crate) is_schema: bool,
    pub(crate) documentation: Option<String>,
    pub(crate) services: Vec<Service>,
    pub(crate) bindings: Vec<Arc<Binding>>,
    pub(crate) documents: Documents,
    pub(crate) elements: HashMap<(String, String), ElementId>,
    pub(crate) element_documentation: HashMap<ElementId, String>,
    pub(crate) element_media_types: HashMap<ElementId, String>,
    pub(crate) type_media_types: HashMap<TypeId, String>,
    pub(crate) type_documentation: HashMap<TypeId, String>,
    pub(crate) notes: Vec<Note>,
}

impl Definitions {
    /// The Plan for all messages of this WSDL. Each [`Binding`] has two root elements in it: its Envelopes.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The services, in document order.
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// The SOAP bindings, including those that no port uses.
    pub fn bindings(&self) -> &[Arc<Binding>] {
        &self.bindings
    }

    /// All loaded documents, the WSDL itself first.
    pub fn documents(&self) -> &[Arc<Document>] {
        self.documents.as_slice()
    }

    /// The `name` of `wsdl:definitions`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The target namespace of the WSDL. Empty if it has none.
    pub fn target_namespace(&self) -> &str {
        &self.target_namespace
    }

    /// True if the first document is a schema and not a WSDL: then there are no services.
    pub fn is_schema(&self) -> bool {
        self.is_schema
    }

    /// The `wsdl:documentation` of the WSDL itself.
    pub fn documentation(&self) -> Option<&str> {
        self.documentation.as_deref()
    }

    /// The global element with this namespace (empty if none) and local name.
    pub fn element(&self, namespace: &str, local: &str) -> Option<ElementId> {
        self.elements
            .get(&(namespace.to_owned(), local.to_owned()))
            .copied()
    }

    /// All global elements, each as namespace, local name and number, in no particular order.
    pub fn elements(&self) -> impl Iterator<Item = (&str, &str, ElementId)> {
        self.elements
            .iter()
            .map(|((namespace, local), &id)| (namespace.as_str(), local.as_str(), id))
    }

    /// The documentation of an element declaration.
    pub fn element_documentation(&self, id: ElementId) -> Option<&str> {
        self.element_documentation.get(&id).map(String::as_str)
    }

    /// The media types that the binary value of an element may have, as `xmime:expectedContentTypes` says for the element or for
    /// its type: `image/png, image/*`. (Describing Media Content of Binary Data in XML §2.2)
    pub fn expected_media_types(&self, id: ElementId) -> Option<&str> {
        let of_element = self.element_media_types.get(&id);
        let of_type = || self.type_media_types.get(&self.plan.element(id).ty);
        of_element.or_else(of_type).map(String::as_str)
    }

    /// The documentation of a type definition.
    pub fn type_documentation(&self, id: TypeId) -> Option<&str> {
        self.type_documentation.get(&id).map(String::as_str)
    }

    /// The problems that were tolerated during loading.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The service with this name.
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }

    /// All ports of all services, each with its service.
    pub fn ports(&self) -> impl Iterator<Item = (&Service, &Port)> {
        self.services
            .iter()
            .flat_map(|service| service.ports.iter().map(move |port| (service, port)))
    }
}

/// A `wsdl:service`: a set of ports.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Service {
    /// Its local name.
    pub name: String,
    /// The namespace of its name.
    pub namespace: String,
    /// Its `wsdl:documentation`.
    pub documentation: Option<String>,
    /// Its SOAP ports, in document order.
    pub ports: Vec<Port>,
    /// Its ports that cannot be called, because their bindings are not SOAP or are ignored, in document order.
    pub other_ports: Vec<OtherPort>,
}

impl Service {
    /// The port with this name.
    pub fn port(&self, name: &str) -> Option<&Port> {
        self.ports.iter().find(|port| port.name == name)
    }
}

/// A `wsdl:port` that cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherPort {
    /// Its local name.
    pub name: String,
    /// The `location` of its address.
    pub address: Option<String>,
    /// The local name of its binding.
    pub binding: String,
    /// The namespace of the extension that its binding has instead of SOAP. `None` if the binding is SOAP, but ignored, or
    /// undefined.
    pub protocol: Option<String>,
    /// Its `wsdl:documentation`.
    pub documentation: Option<String>,
}

/// A policy (WS-Policy) that is attached to a port, a binding, an operation or a message. It is kept, and not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The URI of the `PolicyReference`, if it is attached by one.
    pub reference: Option<String>,
    /// The `Policy` element as XML. `None` if it is not in the document of its reference.
    pub xml: Option<Arc<str>>,
}

/// How an endpoint uses WS-Addressing: by `wsaw:UsingAddressing`, or by an assertion of its policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsingAddressing {
    /// The version of WS-Addressing.
    pub version: AddressingVersion,
    /// True if a message without addressing headers is refused.
    pub is_required: bool,
    /// The endpoints that answers may be sent to.
    pub responses: ResponseEndpoints,
}

/// That an endpoint uses MTOM, by an assertion of its policies. (MTOM Serialization Policy Assertion 1.1)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsingMtom {
    /// True if all messages have to be MIME packages.
    pub is_required: bool,
}

// Exhaustive: these two are in use, and there will be no other.
/// A version of WS-Addressing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressingVersion {
    /// WS-Addressing 1.0, the W3C Recommendation of 2006, with the namespace of 2005/08.
    #[default]
    Recommendation,
    /// The W3C Member Submission of August 2004.
    Submission,
}

impl AddressingVersion {
    /// The namespace of the header blocks.
    pub const fn namespace(self) -> &'static str {
        match self {
            Self::Recommendation => "http://www.w3.org/2005/08/addressing",
            Self::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing",
        }
    }
}

impl fmt::Display for AddressingVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recommendation => "WS-Addressing 1.0",
            Self::Submission => "WS-Addressing 2004/08",
        })
    }
}

// Exhaustive: WS-Addressing 1.0 has no other.
/// The endpoints that a service sends answers to. (WS-Addressing 1.0 - Metadata §3.1)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseEndpoints {
    /// All of them.
    #[default]
    Any,
    /// The anonymous one: the answer comes on the connection of the request.
    Anonymous,
    /// All but the anonymous one.
    NonAnonymous,
}

/// A `wsdl:port`: a binding at an address.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Port {
    /// Its local name.
    pub name: String,
    /// The `location` of `soap:address`.
    pub address: Option<String>,
    /// Its binding, shared by all ports with the same binding.
    pub binding: Arc<Binding>,
    /// The policies of the port and of its service.
    pub policies: Vec<Policy>,
    /// Whether the port uses WS-Addressing, as it or its binding says. `None` if neither says anything.
    pub addressing: Option<UsingAddressing>,
    /// Whether the port uses MTOM, as its policies or those of its binding say. `None` if neither say anything.
    pub mtom: Option<UsingMtom>,
    /// Its `wsdl:documentation`.
    pub documentation: Option<String>,
}

impl Port {
    /// True if its messages are sent over HTTP: neither its address nor the transport of its binding is another one, such as
    /// JMS.
    pub fn is_http(&self) -> bool {
        let is_http = |scheme: &str| matches!(&*scheme.to_ascii_lowercase(), "http" | "https");
        let address = self.address.as_deref().unwrap_or_default();
        let transport = self.binding.transport.to_ascii_lowercase();
        scheme_of(address).is_none_or(is_http)
            && !["jms", "smtp", "tcp", "udp", "amqp"]
                .iter()
                .any(|other| transport.contains(other))
    }
}

/// A SOAP `wsdl:binding`: the operations of a port type and the format of their messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Binding {
    /// Its local name.
    pub name: String,
    /// The namespace of its name.
    pub namespace: String,
    /// The local name of the port type that is bound.
    pub port_type: String,
    /// The SOAP version of the messages.
    pub version: SoapVersion,
    /// The `transport` of `soap:binding`; for HTTP `http://schemas.xmlsoap.org/soap/http`.
    pub transport: String,
    /// Its operations, in document order. Overloaded operations have the same name.
    pub operations: Vec<Operation>,
    /// The operations that only the service can start (notification, solicit-response).
    pub uncallable: Vec<Uncallable>,
    /// The Envelope of all requests: a root element of the Plan.
    pub request: ElementId,
    /// The Envelope of all responses and faults: a root element of the Plan.
    pub response: ElementId,
    /// Its policies.
    pub policies: Vec<Policy>,
    /// Whether its ports use WS-Addressing. `None` if it does not say anything.
    pub addressing: Option<UsingAddressing>,
    /// Whether its ports use MTOM, as its policies say. `None` if they do not say anything.
    pub mtom: Option<UsingMtom>,
    /// Its `wsdl:documentation`.
    pub documentation: Option<String>,
}

impl Binding {
    /// The first operation with this name. See [`operations_named`](Self::operations_named) for overloaded operations.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations_named(name).next()
    }

    /// All operations with this name.
    pub fn operations_named(&self, name: &str) -> impl Iterator<Item = &Operation> {
        self.operations
            .iter()
            .filter(move |operation| operation.name == name)
    }

    /// The operations whose request is this branch of the Body's choice (see [`Message::branch`]). `None` is an empty Body.
    /// There are several only if their requests have the same first element in the Body.
    pub fn requested_by(&self, branch: Option<u32>) -> impl Iterator<Item = &Operation> {
        self.operations
            .iter()
            .filter(move |operation| operation.input.branch == branch)
    }
}

/// An operation of a binding. It is one-way if it has no output, and request-response otherwise.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// Its local name.
    pub name: String,
    /// The `soapAction` of `soap:operation`. It may be empty. `None` if it is missing.
    pub soap_action: Option<String>,
    /// The style: document or rpc.
    pub style: Style,
    /// True if a message has `use="encoded"`: values state their types, can be shared by references, and accessors are in any
    /// order. (SOAP 1.1 §5)
    pub encoded: bool,
    /// True if the port type says `wsdlx:safe="true"`: the operation changes nothing for its caller, so it may run twice. (WSDL 2.0
    /// Part 2 §3.1)
    pub is_safe: bool,
    /// Its `wsdl:documentation` in the port type, or else in the binding.
    pub documentation: Option<String>,
    /// The policies of the operation, in the binding and in the port type.
    pub policies: Vec<Policy>,
    /// The request.
    pub input: Message,
    /// The response; `None` for a one-way operation.
    pub output: Option<Message>,
    /// The declared faults.
    pub faults: Vec<FaultMessage>,
    /// Where its answers may be sent, by `wsaw:Anonymous` of the binding's operation. `None` if it says nothing: then the
    /// [port](UsingAddressing) decides. (WS-Addressing 1.0 - WSDL Binding, Candidate Recommendation of 2006, §3.2)
    pub responses: Option<ResponseEndpoints>,
}

/// An operation that cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncallable {
    /// Its local name.
    pub name: String,
    /// Its transmission primitive, which is the reason.
    pub kind: TransmissionKind,
}

// Exhaustive: WSDL 1.1 has no other.
/// The transmission primitive of an operation. (WSDL 1.1 §2.4)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmissionKind {
    /// The client sends a message, and the service does not answer.
    OneWay,
    /// The client sends a message, and the service answers.
    RequestResponse,
    /// The service sends a message, and the client answers.
    SolicitResponse,
    /// The service sends a message, and the client does not answer.
    Notification,
}

// Exhaustive: WSDL 1.1 has no other.
/// How the parts of a message become the content of the Body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Parts are elements of the Body.
    Document,
    /// Parts are children of an element named after the operation.
    Rpc,
}

/// The request or the response of an operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Message {
    /// The local name of the `wsdl:message`.
    pub name: String,
    /// The content of the Body.
    pub body: Body,
    /// Its declared header blocks.
    pub headers: Vec<HeaderPart>,
    /// The header blocks of faults about these header blocks (`soap:headerfault`). They are blocks of the response Envelope.
    /// (WSDL 1.1 §3.7)
    pub header_faults: Vec<HeaderPart>,
    /// Its parts that are beside the Envelope, in a MIME package.
    pub attachments: Vec<MimePart>,
    /// The branch of the Body's choice that the message uses (the choice marker in a Record is this + 1). `None` for an
    /// empty Body.
    pub branch: Option<u32>,
    /// The WS-Addressing action: the one that the WSDL states; otherwise the `soapAction` of a request; otherwise the default,
    /// which is made of the names of the port type and of the message. (WS-Addressing 1.0 - Metadata §4.4)
    pub action: String,
    /// The policies of this message of the operation, in the binding and in the port type.
    pub policies: Vec<Policy>,
}

/// A part of a message that is an attachment: `mime:content`. It is found by its content id, which begins with the name of the part
/// and `=`. (WSDL 1.1 §5; WS-I Attachments Profile 1.0 §3.8)
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MimePart {
    /// The name of the `wsdl:part`.
    pub name: String,
    /// The media types that it may have; any if there are none.
    pub media_types: Vec<String>,
}

// Exhaustive: whoever builds or reads a Body must handle each of its forms.
/// The content of the Body of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Style document: one element whose children are the arguments.
    Wrapped {
        /// The element in the Body.
        wrapper: ElementId,
    },
    /// Style document: a sequence of the parts.
    Bare {
        /// At least one part, in order.
        parts: Vec<Part>,
    },
    /// Style rpc: an element named after the operation, whose children are the parts.
    Rpc {
        /// The element in the Body.
        wrapper: ElementId,
        /// The parts in order. The list may be empty.
        parts: Vec<Part>,
    },
    /// Style document without parts: an empty Body.
    Empty,
}

impl Body {
    /// The first element in the Body. `None` if the Body is empty.
    pub fn first_element(&self) -> Option<ElementId> {
        match self {
            Self::Wrapped { wrapper } | Self::Rpc { wrapper, .. } => Some(*wrapper),
            Self::Bare { parts } => parts.first().map(|part| part.element),
            Self::Empty => None,
        }
    }

    /// The elements in the Body, in order.
    pub fn elements(&self) -> Vec<ElementId> {
        match self {
            Self::Wrapped { wrapper } | Self::Rpc { wrapper, .. } => vec![*wrapper],
            Self::Bare { parts } => parts.iter().map(|part| part.element).collect(),
            Self::Empty => Vec::new(),
        }
    }

    /// The parts. Empty for a wrapped body: its arguments are the children of its wrapper.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::Bare { parts } | Self::Rpc { parts, .. } => parts,
            Self::Wrapped { .. } | Self::Empty => &[],
        }
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The `name` of the `wsdl:part`.
    pub name: String,
    /// The element that represents the part in the Body.
    pub element: ElementId,
}

/// A declared header block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderPart {
    /// The `name` of the `wsdl:part`.
    pub name: String,
    /// The header block: a variant of the declared element with the attributes of header blocks, such as `mustUnderstand`.
    pub element: ElementId,
    /// The branch of the Header's choice that the block uses (the choice marker in a Record is this + 1).
    pub branch: u32,
}

/// A declared fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultMessage {
    /// The `name` of the `wsdl:fault`.
    pub name: String,
    /// The element in the fault's detail. `None` if the fault's message has no part.
    pub detail: Option<ElementId>,
    /// The WS-Addressing action, as that of a [`Message`].
    pub action: String,
    /// The policies of the fault, in the binding and in the port type.
    pub policies: Vec<Policy>,
    /// Its `wsdl:documentation`.
    pub documentation: Option<String>,
}

// Exhaustive: there are two, and no more will come.
/// A version of SOAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoapVersion {
    /// SOAP 1.1 (W3C Note, 2000).
    Soap11,
    /// SOAP 1.2 (W3C Recommendation, 2007).
    Soap12,
}

impl SoapVersion {
    /// The namespace of this version's Envelope.
    pub const fn envelope_namespace(self) -> &'static str {
        match self {
            Self::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
            Self::Soap12 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }

    /// The namespace of the WSDL extension for this version.
    pub const fn binding_namespace(self) -> &'static str {
        match self {
            Self::Soap11 => "http://schemas.xmlsoap.org/wsdl/soap/",
            Self::Soap12 => "http://schemas.xmlsoap.org/wsdl/soap12/",
        }
    }
}

impl fmt::Display for SoapVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Soap11 => "SOAP 1.1",
            Self::Soap12 => "SOAP 1.2",
        })
    }
}

/// A problem that was tolerated during loading.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The position as `location:line:column`. Empty if it is unknown.
    pub place: String,
    /// The problem and how it was handled.
    pub message: String,
}

impl Note {
    /// A note about an error that was tolerated.
    pub(crate) fn of_error(error: &Error) -> Self {
        let place = error.place().map(ToString::to_string).unwrap_or_default();
        Self {
            place,
            message: error.kind().to_string(),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => f.write_str(&self.message),
            place => write!(f, "{place}: {}", self.message),
        }
    }
}
