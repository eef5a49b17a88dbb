//! Reads the header blocks from the text of a message, up to the end of its Header.

use std::ops::ControlFlow;
use std::sync::Arc;

use bsoap_schema::{AddressingVersion, SoapVersion};
use bsoap_xml::{EndTag, Event, Options, Reader, Tag, Vocabulary};

use super::problem::block_named;
use super::{AddressingProblem, EndpointReference, MessageAddressing, REPLY, RelatesTo};
use crate::excerpt::tag_with_bindings;
use crate::header::{Node, Seen, walk};
use crate::limits::{MAX_COPIED_DECLARATIONS, MAX_REFERENCE_PARAMETERS};
use crate::peek::version_of;

/// What was read from a message.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The blocks; also if there is a problem, so that its fault can refer to the message. `None` if there are none.
    pub(crate) addressing: Option<MessageAddressing>,
    /// The first rule that a block breaks.
    pub(crate) problem: Option<AddressingProblem>,
    /// The SOAP version of the Envelope.
    pub(crate) soap: Option<SoapVersion>,
}

/// Reads the blocks of a message that are addressed to a node. What is not well-formed ends the reading: the decoder reports it.
pub(crate) fn read(message: &[u8], node: &Node) -> Read {
    let reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
    let mut header = Header::new(node);
    walk(message, reader, |seen| {
        let step = match seen {
            Seen::Event(Event::Start(tag)) => header.start(&tag),
            Seen::Event(Event::Text(text)) => {
                header.text(&text.value, text.raw);
                Step::On
            }
            Seen::Event(Event::End(tag)) => header.end(&tag),
            Seen::Event(Event::EndOfDocument) => Step::Ended,
            _ => Step::On,
        };
        match step {
            Step::On => ControlFlow::Continue(()),
            Step::Ended => ControlFlow::Break(()),
        }
    });
    header.read
}

/// Whether the reading goes on.
enum Step {
    On,
    Ended,
}

/// The depth of a header block. The Envelope has depth 1.
const BLOCK: usize = 3;
/// The depth of the children of an endpoint reference.
const CHILD: usize = BLOCK + 1;
/// The depth of a reference parameter.
const PARAMETER: usize = CHILD + 1;

/// The state of reading a Header.
struct Header<'n> {
    node: &'n Node,
    read: Read,
    depth: usize,
    /// The version and the local name of the open block, if it is one of WS-Addressing for the node.
    block: Option<(AddressingVersion, &'static str)>,
    relationship: Option<String>,
    endpoint: EndpointReference,
    has_two_addresses: bool,
    has_too_many_parameters: bool,
    child: Child,
    text: String,
    /// The bytes of namespace declarations copied so far.
    copied: usize,
}

/// The open child of an endpoint reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Child {
    Address,
    Parameters,
    Other,
}

impl<'n> Header<'n> {
    fn new(node: &'n Node) -> Self {
        Self {
            node,
            read: Read::default(),
            depth: 0,
            block: None,
            relationship: None,
            endpoint: EndpointReference::default(),
            has_two_addresses: false,
            has_too_many_parameters: false,
            child: Child::Other,
            text: String::new(),
            copied: 0,
        }
    }

    fn start(&mut self, tag: &Tag<'_>) -> Step {
        self.depth += 1;
        match self.depth {
            1 => {
                self.read.soap = version_of(tag.namespace());
                if self.read.soap.is_none() || tag.local() != "Envelope" {
                    return Step::Ended;
                }
            }
            2 if tag.local() != "Header" => return Step::Ended,
            BLOCK => self.open(tag),
            CHILD if self.block.is_some() => {
                self.child = match tag.local() {
                    "Address" => Child::Address,
                    "ReferenceParameters" | "ReferenceProperties" => Child::Parameters,
                    _ => Child::Other,
                };
                self.text.clear();
            }
            depth if depth >= PARAMETER && self.is_in_parameters() => {
                let alone = depth == PARAMETER && self.copied < MAX_COPIED_DECLARATIONS;
                if depth == PARAMETER {
                    self.text.clear();
                }
                let text = tag_with_bindings(tag, alone);
                self.copied += text.len() - tag.raw.len();
                self.text.push_str(&text);
            }
            _ => {}
        }
        Step::On
    }

    fn is_in_parameters(&self) -> bool {
        self.block.is_some() && self.child == Child::Parameters
    }

    /// Opens a header block, if it is one of WS-Addressing that is addressed to the node.
    fn open(&mut self, tag: &Tag<'_>) {
        self.text.clear();
        self.relationship = None;
        self.endpoint = EndpointReference::default();
        self.has_two_addresses = false;
        self.has_too_many_parameters = false;
        self.child = Child::Other;
        self.block = None;
        let versions = [
            AddressingVersion::Recommendation,
            AddressingVersion::Submission,
        ];
        let mut versions = versions.into_iter();
        let version = versions.find(|version| version.namespace() == tag.namespace());
        let (Some(version), Some(name)) = (version, block_named(tag.local())) else {
            return;
        };
        let soap = self.read.soap.unwrap_or(SoapVersion::Soap11);
        let role_name = match soap {
            SoapVersion::Soap11 => "actor",
            SoapVersion::Soap12 => "role",
        };
        let mut role = None;
        for attribute in tag.attributes() {
            match (attribute.namespace(), attribute.local) {
                ("", "RelationshipType") => {
                    self.relationship = relationship(version, attribute.value().trim());
                }
                (namespace, local)
                    if namespace == soap.envelope_namespace() && local == role_name =>
                {
                    role = Some(attribute.value().trim().to_owned());
                }
                _ => {}
            }
        }
        // A message has the blocks of one version: those of the other one are not for us.
        let known = self.read.addressing.as_ref().map(|known| known.version);
        if self.node.plays(soap, role.as_deref()) && known.is_none_or(|known| known == version) {
            self.block = Some((version, name));
        }
    }

    fn text(&mut self, value: &str, raw: &str) {
        if self.block.is_none() {
            return;
        }
        match self.depth {
            depth if depth >= PARAMETER && self.is_in_parameters() => self.text.push_str(raw),
            CHILD if self.child == Child::Address => self.text.push_str(value),
            BLOCK if self.child == Child::Other => self.text.push_str(value),
            _ => {}
        }
    }

    fn end(&mut self, tag: &EndTag<'_>) -> Step {
        if self.depth >= PARAMETER && self.is_in_parameters() {
            self.text.push_str(tag.raw);
            if self.depth == PARAMETER {
                let parameter = std::mem::take(&mut self.text);
                let kept = &mut self.endpoint.reference_parameters;
                match kept.len() < MAX_REFERENCE_PARAMETERS {
                    true => kept.push(parameter),
                    false => self.has_too_many_parameters = true,
                }
            }
        } else if self.depth == CHILD && self.block.is_some() {
            if self.child == Child::Address {
                self.has_two_addresses |= !self.endpoint.address.is_empty();
                self.endpoint.address = self.text.trim().to_owned();
            }
            self.child = Child::Other;
            self.text.clear();
        } else if self.depth == BLOCK
            && let Some((version, name)) = self.block.take()
        {
            self.close(version, name);
        }
        self.depth = self.depth.saturating_sub(1);
        // The Header has ended.
        if self.depth <= 1 {
            return Step::Ended;
        }
        Step::On
    }

    /// Stores the value of a block.
    fn close(&mut self, version: AddressingVersion, name: &'static str) {
        let addressing = self
            .read
            .addressing
            .get_or_insert_with(|| MessageAddressing::new(version));
        let text = std::mem::take(&mut self.text).trim().to_owned();
        let endpoint = std::mem::take(&mut self.endpoint);
        let problem = match name {
            "To" => set(&mut addressing.to, name, text),
            "Action" => set(&mut addressing.action, name, text),
            "MessageID" => set(&mut addressing.message_id, name, text),
            "RelatesTo" => {
                addressing.relates_to.push(RelatesTo {
                    message_id: text,
                    relationship: self.relationship.take(),
                });
                None
            }
            "From" | "ReplyTo" | "FaultTo" if self.has_two_addresses => {
                Some(AddressingProblem::InvalidEndpoint { header: name })
            }
            "From" | "ReplyTo" | "FaultTo" if self.has_too_many_parameters => {
                Some(AddressingProblem::TooManyParameters {
                    header: name,
                    limit: MAX_REFERENCE_PARAMETERS,
                })
            }
            "From" => set_endpoint(&mut addressing.from, name, endpoint),
            "ReplyTo" => set_endpoint(&mut addressing.reply_to, name, endpoint),
            _ => set_endpoint(&mut addressing.fault_to, name, endpoint),
        };
        if self.read.problem.is_none() {
            self.read.problem = problem;
        }
    }
}

/// The relationship that an attribute states. `None` for that of an answer: the submission names it by a QName.
fn relationship(version: AddressingVersion, value: &str) -> Option<String> {
    let is_reply = match version {
        AddressingVersion::Recommendation => value == REPLY,
        AddressingVersion::Submission => value.rsplit(':').next() == Some("Reply"),
    };
    (!is_reply).then(|| value.to_owned())
}

fn set(
    place: &mut Option<String>,
    header: &'static str,
    text: String,
) -> Option<AddressingProblem> {
    if place.is_some() {
        return Some(AddressingProblem::Repeated { header });
    }
    *place = Some(text);
    None
}

fn set_endpoint(
    place: &mut Option<EndpointReference>,
    header: &'static str,
    endpoint: EndpointReference,
) -> Option<AddressingProblem> {
    if place.is_some() {
        return Some(AddressingProblem::Repeated { header });
    }
    if endpoint.address.is_empty() {
        return Some(AddressingProblem::NoAddress { header });
    }
    if !is_absolute_iri(&endpoint.address) {
        let address = endpoint.address;
        return Some(AddressingProblem::InvalidAddress { header, address });
    }
    *place = Some(endpoint);
    None
}

/// True if a text begins like an absolute IRI and has no character that no IRI has. (RFC 3987 §2.2)
fn is_absolute_iri(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let starts = scheme
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic());
    let is_outside = |char: char| char <= ' ' || "<>\"{}|\\^`\x7f".contains(char);
    starts && scheme.bytes().all(is_scheme) && !text.contains(is_outside)
}
