//! What a WSDL says, resolved and compiled: services, ports, bindings, operations and the one [`Plan`] of all their messages.
//!
//! Everything here is plain data, immutable once loaded; share it by `Arc`. How it is built is described in
//! [`wsdl`](crate::wsdl) (reading) and `compile/envelope.rs` (the Envelopes of each binding).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bsoap_codec::plan::{ElementId, Plan, TypeId};

use crate::document::Documents;
use crate::{Document, Error};

/// A WSDL, loaded with all it imports and compiled. Immutable; share it by `Arc`.
#[derive(Clone, Debug)]
pub struct Definitions {
    pub(crate) plan: Arc<Plan>,
    pub(crate) name: Option<String>,
    pub(crate) target_namespace: String,
    pub(crate) documentation: Option<String>,
    pub(crate) services: Vec<Service>,
    pub(crate) bindings: Vec<Arc<Binding>>,
    pub(crate) documents: Documents,
    pub(crate) elements: HashMap<(String, String), ElementId>,
    pub(crate) element_documentation: HashMap<ElementId, String>,
    pub(crate) type_documentation: HashMap<TypeId, String>,
    pub(crate) notes: Vec<Note>,
}

impl Definitions {
    /// How all messages of this WSDL are written and read: two roots, the Envelopes, for each [`Binding`].
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The services, in the order of the text.
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// The SOAP bindings, also those that no port uses.
    pub fn bindings(&self) -> &[Arc<Binding>] {
        &self.bindings
    }

    /// Location and text of every document, the WSDL itself first.
    pub fn documents(&self) -> &[Arc<Document>] {
        self.documents.as_slice()
    }

    /// The `name` of `wsdl:definitions`.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The namespace the WSDL defines its names in; empty if it has none.
    pub fn target_namespace(&self) -> &str {
        &self.target_namespace
    }

    /// What the WSDL says about itself.
    pub fn documentation(&self) -> Option<&str> {
        self.documentation.as_deref()
    }

    /// A global element of the schemas, by expanded name (empty namespace: none).
    pub fn element(&self, namespace: &str, local: &str) -> Option<ElementId> {
        self.elements
            .get(&(namespace.to_owned(), local.to_owned()))
            .copied()
    }

    /// All global elements, in no particular order.
    pub fn elements(&self) -> impl Iterator<Item = (&str, &str, ElementId)> {
        self.elements
            .iter()
            .map(|((namespace, local), &id)| (namespace.as_str(), local.as_str(), id))
    }

    /// The documentation of an element declaration.
    pub fn element_documentation(&self, id: ElementId) -> Option<&str> {
        self.element_documentation.get(&id).map(String::as_str)
    }

    /// The documentation of a type.
    pub fn type_documentation(&self, id: TypeId) -> Option<&str> {
        self.type_documentation.get(&id).map(String::as_str)
    }

    /// What was tolerated while loading, and why.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// A service by name.
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }

    /// Every port of every service, with its service.
    pub fn ports(&self) -> impl Iterator<Item = (&Service, &Port)> {
        self.services
            .iter()
            .flat_map(|service| service.ports.iter().map(move |port| (service, port)))
    }
}

/// A `wsdl:service`: the ports over which it is reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Service {
    /// Its local name.
    pub name: String,
    /// The namespace of its name.
    pub namespace: String,
    /// What the WSDL says about it.
    pub documentation: Option<String>,
    /// Its SOAP ports, in the order of the text. (Ports of other kinds are in the notes.)
    pub ports: Vec<Port>,
}

impl Service {
    /// A port by name.
    pub fn port(&self, name: &str) -> Option<&Port> {
        self.ports.iter().find(|port| port.name == name)
    }
}

/// A `wsdl:port`: a binding at an address.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Port {
    /// Its local name.
    pub name: String,
    /// The `location` of `soap:address`.
    pub address: Option<String>,
    /// How it is spoken to. Ports of the same binding share it.
    pub binding: Arc<Binding>,
    /// What the WSDL says about it.
    pub documentation: Option<String>,
}

/// A SOAP `wsdl:binding`: the operations of a port type and how their messages look.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Binding {
    /// Its local name.
    pub name: String,
    /// The namespace of its name.
    pub namespace: String,
    /// The local name of the port type it binds.
    pub port_type: String,
    /// Which SOAP.
    pub version: SoapVersion,
    /// The `transport` of `soap:binding`; for HTTP `http://schemas.xmlsoap.org/soap/http`.
    pub transport: String,
    /// Its operations, in the order of the text. Names may repeat (overloading).
    pub operations: Vec<Operation>,
    /// Operations that only the service could start (notification, solicit-response): listed, not callable.
    pub uncallable: Vec<Uncallable>,
    /// The Envelope of all requests: a root of the Plan.
    pub request: ElementId,
    /// The Envelope of all responses, faults included: a root of the Plan.
    pub response: ElementId,
    /// What the WSDL says about it.
    pub documentation: Option<String>,
}

impl Binding {
    /// The first operation of a name; see [`operations_named`](Self::operations_named) for overloaded ones.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations_named(name).next()
    }

    /// Every operation of a name.
    pub fn operations_named(&self, name: &str) -> impl Iterator<Item = &Operation> {
        self.operations
            .iter()
            .filter(move |operation| operation.name == name)
    }

    /// The operations whose request takes `branch` of the Body (`None`: an empty Body); more than one only where
    /// several operations share a first body element.
    pub fn requested_by(&self, branch: Option<u32>) -> impl Iterator<Item = &Operation> {
        self.operations
            .iter()
            .filter(move |operation| operation.input.branch == branch)
    }
}

/// An operation of a binding: one-way if it has no output, otherwise request-response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// Its local name.
    pub name: String,
    /// The `soapAction` of `soap:operation`, if given (it may be empty).
    pub soap_action: Option<String>,
    /// document or rpc.
    pub style: Style,
    /// Whether a message is declared `use="encoded"`. Such messages are treated as literal: `xsi:type` is accepted
    /// everywhere, but references (`href`, `id`) are not resolved.
    pub encoded: bool,
    /// What the WSDL says about it (its port type, otherwise its binding).
    pub documentation: Option<String>,
    /// What is sent to the service.
    pub input: Message,
    /// What the service answers; `None` for a one-way operation.
    pub output: Option<Message>,
    /// The faults it declares.
    pub faults: Vec<FaultMessage>,
}

/// An operation that is listed but cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncallable {
    /// Its local name.
    pub name: String,
    /// Why.
    pub kind: TransmissionKind,
}

/// Who starts an operation and whether it is answered. (WSDL 1.1 §2.4)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmissionKind {
    /// The client sends; no answer.
    OneWay,
    /// The client sends, the service answers.
    RequestResponse,
    /// The service sends, the client answers.
    SolicitResponse,
    /// The service sends; no answer.
    Notification,
}

/// How the parts of a message become the content of the Body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Parts are elements of the Body.
    Document,
    /// Parts are children of an element named after the operation.
    Rpc,
}

/// One direction of an operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Message {
    /// The local name of the `wsdl:message`.
    pub name: String,
    /// What is in the Body.
    pub body: Body,
    /// Its declared header blocks.
    pub headers: Vec<HeaderPart>,
    /// Which branch of the Body's choice it is (the choice marker in a Record is this + 1); `None`: an empty Body.
    pub branch: Option<u32>,
    /// The WS-Addressing action stated for it, if any.
    pub action: Option<String>,
}

/// What the Body of a message holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// document: one element whose children are the arguments.
    Wrapped {
        /// The element under the Body.
        wrapper: ElementId,
    },
    /// document: the parts themselves, one after the other.
    Bare {
        /// In order; at least one.
        parts: Vec<Part>,
    },
    /// rpc: an element named after the operation, its children the parts.
    Rpc {
        /// The element under the Body.
        wrapper: ElementId,
        /// In order; possibly none.
        parts: Vec<Part>,
    },
    /// document without parts: an empty Body.
    Empty,
}

impl Body {
    /// The first element under the Body.
    pub fn first_element(&self) -> Option<ElementId> {
        match self {
            Self::Wrapped { wrapper } | Self::Rpc { wrapper, .. } => Some(*wrapper),
            Self::Bare { parts } => parts.first().map(|part| part.element),
            Self::Empty => None,
        }
    }

    /// The parts by name; a wrapped body has none of its own (its arguments are its wrapper's children).
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
    /// The element it appears as.
    pub element: ElementId,
}

/// A declared header block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderPart {
    /// The `name` of the `wsdl:part`.
    pub name: String,
    /// The header block: a variant of the declared element that may also carry `mustUnderstand` and the like.
    pub element: ElementId,
    /// Which branch of the Header's choice it is (the choice marker in a Record is this + 1).
    pub branch: u32,
}

/// A declared fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultMessage {
    /// The `name` of the `wsdl:fault`.
    pub name: String,
    /// The element in the fault's detail; `None` if its message has no part.
    pub detail: Option<ElementId>,
    /// What the WSDL says about it.
    pub documentation: Option<String>,
}

/// Which SOAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoapVersion {
    /// SOAP 1.1 (W3C Note, 2000).
    Soap11,
    /// SOAP 1.2 (W3C Recommendation, 2007).
    Soap12,
}

impl SoapVersion {
    /// The namespace of its Envelope.
    pub const fn envelope_namespace(self) -> &'static str {
        match self {
            Self::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
            Self::Soap12 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }

    /// The namespace of the WSDL extension that binds to it.
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

/// Something that was tolerated while loading.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Where: `location:line:column`; empty if it is nowhere in particular.
    pub place: String,
    /// What was found and what was done about it.
    pub message: String,
}

impl Note {
    /// What was wrong but could be passed over.
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
