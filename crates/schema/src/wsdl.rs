//! The components of WSDL documents by name: messages, port types, bindings and services. Names are not resolved yet.
//!
//! ```text
//! definitions ── import ──► other documents          (wsdl/read.rs)
//!   types ─────────────────► schemas                  (xsd.rs)
//!   message ── part ───────► an element or a type
//!   portType ── operation ─► messages in, out, fault
//!   binding ── operation ──► how SOAP carries them    (wsdl/soap.rs)
//!   service ── port ───────► a binding, an address
//! ```
//!
//! Documents of WSDL 2.0 become the same components. (`wsdl/version2.rs`)
//!
//! What does not affect SOAP messages (unknown extensions, other bindings) is ignored, with a note. Policies are kept as XML.
//! `compile/binding.rs` resolves the names.

use std::sync::Arc;

use foldhash::HashSet;
use indexmap::IndexMap;

use crate::components::{SchemaSet, spelled_at, undeclared_prefix};
use crate::definitions::{
    MimePart, Note, Policy, ResponseEndpoints, SoapVersion, Style, TransmissionKind,
    UsingAddressing, UsingMtom,
};
use crate::document::{Documents, Position};
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

mod addressing;
mod assertion;
mod mtom;
mod names;
mod policy;
mod read;
mod soap;
mod version2;

use policy::IdentifiedPolicies;
use version2::Version2;

pub(crate) use policy::cost as cost_of_policies;
pub(crate) use read::{DocumentHead, Imports, read};

/// The WSDL components of all loaded documents.
#[derive(Debug, Default)]
pub(crate) struct Wsdl {
    pub(crate) messages: IndexMap<ExpandedName, RawMessage>,
    pub(crate) port_types: IndexMap<ExpandedName, RawPortType>,
    pub(crate) bindings: IndexMap<ExpandedName, RawBinding>,
    pub(crate) services: IndexMap<ExpandedName, RawService>,
    /// What documents of WSDL 2.0 have, until [`complete`](Self::complete).
    pub(crate) version2: Version2,
    /// The target namespaces of the documents read.
    pub(crate) namespaces: HashSet<Arc<str>>,
    /// Whether a second definition of a name is an error instead of a note.
    pub(crate) is_strict: bool,
    pub(crate) notes: Vec<(Option<Position>, String)>,
    pub(crate) policies: IdentifiedPolicies,
}

/// A reference to a WSDL component.
#[derive(Clone, Debug)]
pub(crate) struct RawReference {
    pub(crate) name: ExpandedName,
    /// A second candidate for an unprefixed name: in the target namespace of the WSDL.
    pub(crate) fallback: Option<ExpandedName>,
    pub(crate) place: Position,
}

impl RawReference {
    /// The names it may refer to, the most likely first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &ExpandedName> {
        std::iter::once(&self.name).chain(&self.fallback)
    }
}

#[derive(Debug)]
pub(crate) struct RawMessage {
    pub(crate) parts: Vec<RawPart>,
}

#[derive(Debug)]
pub(crate) struct RawPart {
    pub(crate) name: String,
    pub(crate) content: PartContent,
    pub(crate) place: Position,
}

/// The element or type that a part refers to.
#[derive(Debug)]
pub(crate) enum PartContent {
    Element(RawReference),
    Type(RawReference),
    /// Neither `element` nor `type`.
    Neither,
}

#[derive(Debug)]
pub(crate) struct RawPortType {
    pub(crate) operations: Vec<RawOperation>,
}

#[derive(Clone, Debug)]
pub(crate) struct RawOperation {
    pub(crate) name: String,
    pub(crate) documentation: Option<String>,
    pub(crate) kind: TransmissionKind,
    pub(crate) is_safe: bool,
    pub(crate) input: Option<Use>,
    pub(crate) output: Option<Use>,
    pub(crate) faults: Vec<Use>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) place: Position,
}

/// A message as input, output or fault of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) name: Option<String>,
    pub(crate) message: RawReference,
    pub(crate) action: Option<String>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) documentation: Option<String>,
}

#[derive(Debug)]
pub(crate) struct RawBinding {
    pub(crate) name: ExpandedName,
    pub(crate) port_type: RawReference,
    pub(crate) kind: BindingKind,
    pub(crate) operations: Vec<BindingOperation>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) addressing: Option<UsingAddressing>,
    pub(crate) mtom: Option<UsingMtom>,
    pub(crate) documentation: Option<String>,
    pub(crate) place: Position,
}

/// The protocol of a binding.
#[derive(Debug)]
pub(crate) enum BindingKind {
    Soap {
        version: SoapVersion,
        transport: String,
    },
    /// Not SOAP: the namespace of the first extension element.
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
    /// `wsaw:Anonymous`.
    pub(crate) responses: Option<ResponseEndpoints>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) place: Position,
}

/// `wsdl:input` or `wsdl:output` of a binding's operation.
#[derive(Debug, Default)]
pub(crate) struct BindingMessage {
    pub(crate) name: Option<String>,
    /// `soap:body`; without one, all parts are in the Body.
    pub(crate) body: SoapBody,
    pub(crate) headers: Vec<SoapHeader>,
    /// Header blocks that occur only with faults.
    pub(crate) header_faults: Vec<SoapHeader>,
    /// Parts that are attachments (`mime:content`).
    pub(crate) attachments: Vec<MimePart>,
    pub(crate) policies: Vec<Policy>,
}

impl BindingMessage {
    /// Whether a part is beside the Envelope.
    pub(crate) fn is_attachment(&self, part: &str) -> bool {
        self.attachments.iter().any(|known| known.name == part)
    }
}

#[derive(Debug, Default)]
pub(crate) struct SoapBody {
    /// The selected parts; `None` for all.
    pub(crate) parts: Option<Vec<String>>,
    pub(crate) namespace: Option<String>,
    pub(crate) encoded: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct SoapHeader {
    pub(crate) message: RawReference,
    pub(crate) part: String,
    /// The namespace of a block whose part has a type instead of an element.
    pub(crate) namespace: Option<String>,
    pub(crate) encoded: bool,
}

#[derive(Debug)]
pub(crate) struct BindingFault {
    pub(crate) name: String,
    /// The namespace of a detail whose part has a type instead of an element.
    pub(crate) namespace: Option<String>,
    pub(crate) encoded: bool,
    pub(crate) policies: Vec<Policy>,
}

#[derive(Debug)]
pub(crate) struct RawService {
    /// The document that defines it.
    pub(crate) document: u32,
    pub(crate) documentation: Option<String>,
    pub(crate) ports: Vec<RawPort>,
}

#[derive(Debug)]
pub(crate) struct RawPort {
    pub(crate) name: String,
    pub(crate) binding: RawReference,
    pub(crate) address: Option<String>,
    /// Those of the port and of its service.
    pub(crate) policies: Vec<Policy>,
    pub(crate) addressing: Option<UsingAddressing>,
    pub(crate) mtom: Option<UsingMtom>,
    pub(crate) documentation: Option<String>,
    /// The interface of its service, in WSDL 2.0.
    pub(crate) interface: Option<RawReference>,
}

impl Wsdl {
    /// Makes the components of WSDL 2.0, when all documents are read.
    ///
    /// # Errors
    /// If the budget of loading is used up.
    pub(crate) fn complete(&mut self, schemas: &SchemaSet) -> Result<()> {
        std::mem::take(&mut self.version2).complete(self, schemas)
    }

    /// Adds a note about a tolerated problem.
    pub(crate) fn note(&mut self, place: Option<Position>, message: impl Into<String>) {
        self.notes.push((place, message.into()));
    }

    /// Removes the services of imported documents if the first document has services itself.
    pub(crate) fn prefer_services_of_the_first_document(&mut self) {
        if self.services.values().any(|service| service.document == 0) {
            self.services.retain(|_, service| service.document == 0);
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

    /// The notes with location, line and column.
    pub(crate) fn spell_notes(&self, documents: &Documents) -> Vec<Note> {
        let spell = |(place, message): &(Option<Position>, String)| Note {
            place: place
                .and_then(|place| documents.spell(place))
                .map(|place| place.to_string())
                .unwrap_or_default(),
            message: message.clone(),
        };
        self.notes.iter().map(spell).collect()
    }
}

/// The component that a reference refers to, if it is defined.
pub(crate) fn find<'a, T>(
    map: &'a IndexMap<ExpandedName, T>,
    reference: &RawReference,
) -> Option<(&'a ExpandedName, &'a T)> {
    reference
        .candidates()
        .find_map(|name| map.get_key_value(name))
}

/// The component that a reference refers to.
///
/// # Errors
/// If it is undefined.
pub(crate) fn resolve<'a, T>(
    map: &'a IndexMap<ExpandedName, T>,
    reference: &RawReference,
    sort: Sort,
    documents: &Documents,
) -> Result<(&'a ExpandedName, &'a T)> {
    find(map, reference).ok_or_else(|| {
        let name = &reference.name;
        let spelled = spelled_at(documents.text_at(reference.place), &name.local);
        let undeclared = undeclared_prefix(name, spelled.as_deref());
        let kind = undeclared.unwrap_or_else(|| ErrorKind::Undefined {
            sort,
            name: name.clone(),
            spelled: None,
            cause: None,
        });
        Error::new(kind).at(documents.spell(reference.place))
    })
}
