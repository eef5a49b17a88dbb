//! WSDL 1.1 as it is written: messages, port types, bindings and services by name, nothing resolved yet.
//!
//! ```text
//! definitions ── import ──► other documents          (wsdl/read.rs)
//!   types ─────────────────► schemas, read by `xsd`
//!   message ── part ───────► an element or a type
//!   portType ── operation ─► messages in, out, fault
//!   binding ── operation ──► how SOAP carries them    (wsdl/soap.rs)
//!   service ── port ───────► a binding, an address
//! ```
//!
//! Reading is lenient about what does not matter to a SOAP message (policies, unknown extensions, bindings that are not
//! SOAP) and notes what it left out. `compile/envelope.rs` resolves the names.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::definitions::{Note, SoapVersion, Style, TransmissionKind};
use crate::document::{Documents, Place};
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

mod read;
mod soap;

pub(crate) use read::{Head, Imports, read};

/// The WSDL components of all documents of a load.
#[derive(Debug, Default)]
pub(crate) struct Wsdl {
    pub(crate) messages: IndexMap<ExpandedName, Message>,
    pub(crate) port_types: IndexMap<ExpandedName, PortType>,
    pub(crate) bindings: IndexMap<ExpandedName, Binding>,
    pub(crate) services: Vec<Service>,
    /// The target namespaces of the documents read.
    pub(crate) namespaces: HashSet<String>,
    /// Whether a second definition of a name is an error, and not only passed over.
    pub(crate) is_strict: bool,
    pub(crate) notes: Vec<(Option<Place>, String)>,
}

/// A reference to a WSDL component.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) name: ExpandedName,
    /// What an unprefixed name means where no default namespace helps: a name of the WSDL itself.
    pub(crate) fallback: Option<ExpandedName>,
    pub(crate) place: Place,
}

impl Reference {
    /// What it may mean, the likeliest first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &ExpandedName> {
        std::iter::once(&self.name).chain(&self.fallback)
    }
}

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) content: PartContent,
    pub(crate) place: Place,
}

/// What a part refers to.
#[derive(Debug)]
pub(crate) enum PartContent {
    Element(Reference),
    Type(Reference),
    /// Neither `element` nor `type`: an extension of somebody else's.
    Neither,
}

#[derive(Debug)]
pub(crate) struct PortType {
    pub(crate) operations: Vec<Operation>,
}

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) documentation: Option<String>,
    pub(crate) kind: TransmissionKind,
    pub(crate) input: Option<Use>,
    pub(crate) output: Option<Use>,
    pub(crate) faults: Vec<Use>,
    pub(crate) place: Place,
}

/// How an operation uses a message.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) name: Option<String>,
    pub(crate) message: Reference,
    pub(crate) action: Option<String>,
    pub(crate) documentation: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: ExpandedName,
    pub(crate) port_type: Reference,
    pub(crate) kind: BindingKind,
    pub(crate) operations: Vec<BindingOperation>,
    pub(crate) documentation: Option<String>,
    pub(crate) place: Place,
}

/// What carries the messages.
#[derive(Debug)]
pub(crate) enum BindingKind {
    Soap {
        version: SoapVersion,
        transport: String,
    },
    /// Not SOAP: the namespace of what it is, as far as it is known.
    Other(String),
}

#[derive(Debug)]
pub(crate) struct BindingOperation {
    pub(crate) name: String,
    pub(crate) soap_action: Option<String>,
    pub(crate) style: Style,
    pub(crate) documentation: Option<String>,
    pub(crate) input: BindingMessage,
    pub(crate) output: BindingMessage,
    pub(crate) faults: Vec<BindingFault>,
    pub(crate) place: Place,
}

/// `wsdl:input` or `wsdl:output` of a binding's operation.
#[derive(Debug, Default)]
pub(crate) struct BindingMessage {
    pub(crate) name: Option<String>,
    /// `soap:body`; without one, all parts are in the Body.
    pub(crate) body: SoapBody,
    pub(crate) headers: Vec<SoapHeader>,
    /// Header blocks that only a fault brings.
    pub(crate) header_faults: Vec<SoapHeader>,
    /// Parts that travel as attachments (`mime:content`).
    pub(crate) attachments: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct SoapBody {
    /// The parts in the Body, if not all.
    pub(crate) parts: Option<Vec<String>>,
    pub(crate) namespace: Option<String>,
    pub(crate) encoded: bool,
}

#[derive(Debug)]
pub(crate) struct SoapHeader {
    pub(crate) message: Reference,
    pub(crate) part: String,
    /// The namespace of a block whose part has a type instead of an element.
    pub(crate) namespace: Option<String>,
}

#[derive(Debug)]
pub(crate) struct BindingFault {
    pub(crate) name: String,
    pub(crate) encoded: bool,
}

#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) name: ExpandedName,
    /// The document that defines it.
    pub(crate) document: u32,
    pub(crate) documentation: Option<String>,
    pub(crate) ports: Vec<Port>,
}

#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) name: String,
    pub(crate) binding: Reference,
    pub(crate) address: Option<String>,
    pub(crate) documentation: Option<String>,
}

impl Wsdl {
    /// Notes something tolerated.
    pub(crate) fn note(&mut self, place: Option<Place>, message: impl Into<String>) {
        self.notes.push((place, message.into()));
    }

    /// Who loads a WSDL asks for its services; those of imported documents count only if it has none itself.
    pub(crate) fn prefer_services_of_the_first_document(&mut self) {
        if self.services.iter().any(|service| service.document == 0) {
            self.services.retain(|service| service.document == 0);
        }
    }

    /// The namespaces of the elements and types that parts refer to.
    pub(crate) fn type_namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.messages
            .values()
            .flat_map(|message| &message.parts)
            .filter_map(|part| match &part.content {
                PartContent::Element(reference) | PartContent::Type(reference) => {
                    Some(&reference.name.namespace)
                }
                PartContent::Neither => None,
            })
    }

    /// The notes as a reader wants them.
    pub(crate) fn spell_notes(&self, documents: &Documents) -> Vec<Note> {
        let spell = |(place, message): &(Option<Place>, String)| Note {
            place: place
                .and_then(|place| documents.spell(place))
                .map(|place| place.to_string())
                .unwrap_or_default(),
            message: message.clone(),
        };
        self.notes.iter().map(spell).collect()
    }
}

/// Finds what a reference refers to, if anything.
pub(crate) fn find<'a, T>(
    map: &'a IndexMap<ExpandedName, T>,
    reference: &Reference,
) -> Option<(&'a ExpandedName, &'a T)> {
    reference
        .candidates()
        .find_map(|name| map.get_key_value(name))
}

/// Finds what a reference refers to.
///
/// # Errors
/// When that is nothing.
pub(crate) fn resolve<'a, T>(
    map: &'a IndexMap<ExpandedName, T>,
    reference: &Reference,
    sort: Sort,
    documents: &Documents,
) -> Result<(&'a ExpandedName, &'a T)> {
    find(map, reference).ok_or_else(|| {
        let kind = ErrorKind::Undefined {
            sort,
            name: reference.name.clone(),
            spelled: None,
            cause: None,
        };
        Error::new(kind).at(documents.spell(reference.place))
    })
}
