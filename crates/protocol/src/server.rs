//! The server's side of an exchange: [`Endpoint`] → [`UndecodedRequest`] → [`ReceivedRequest`] and [`AwaitingAnswer`] →
//! [`OutgoingReply`].
//!
//! The caller decodes and encodes, fully or differentially:
//!
//! ```text
//! Endpoint::open(Content-Type, SOAPAction, body)
//!   └─► UndecodedRequest: root, text ─ decode ─┬─► decoded(Record) ─► ReceivedRequest, AwaitingAnswer
//!                                              └─► undecodable(error) ─► another root to try | OutgoingReply with a fault
//! Target::response(contents) ─► Record ─ encode ─► AwaitingAnswer::answered(body) ─► OutgoingReply
//! ```
//!
//! [`Endpoint::receive`] and [`AwaitingAnswer::answer`] include a full decoding and encoding.

use std::sync::Arc;

use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::repair::Repair;
use bsoap_codec::{Decoder, Record, decode};
use bsoap_schema::{Binding, Operation, SoapVersion, Style};
use bsoap_xml::DoctypePolicy;
use bytes::Bytes;

use crate::addressing::{self, AddressingPolicy, AddressingProblem, MessageAddressing};
use crate::fault::{Code, Fault};
use crate::header::{self, HeaderBlock, Node};
use crate::limits::MAX_LISTED_ELEMENTS;
use crate::media::{self, MediaType};
use crate::name::{Name, element_name};
use crate::peek::{Peek, peek, peek_body};
use crate::target::{Target, elements_in_body, first_in_body};

mod action;
mod answer;

pub use action::UnknownAction;
pub use answer::{AwaitingAnswer, OutgoingReply, ReceivedRequest, Unanswered};

use answer::Faults;

/// The namespace of the subcodes for remote procedure calls. (SOAP 1.2 Part 2 §4.4)
const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";

/// The bindings that are served at one address. The SOAP version and the element in the Body of a request select one of
/// them.
#[derive(Clone, Debug)]
pub struct Endpoint {
    plan: Arc<Plan>,
    bindings: Vec<Arc<Binding>>,
    node: Node,
    /// `None` if it was not set.
    unknown_action: Option<UnknownAction>,
    /// `None` if WS-Addressing is not used.
    addressing: Option<AddressingPolicy>,
}

// Exhaustive: transports build it, with `..Default::default()` so that it can grow.
/// A request as it came from the transport.
#[derive(Clone, Debug, Default)]
pub struct IncomingRequest<'a> {
    /// The `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The `SOAPAction`.
    pub soap_action: Option<&'a str>,
    /// The message.
    pub body: Bytes,
}

/// A request whose message has not been decoded yet.
#[derive(Debug)]
pub struct UndecodedRequest<'a> {
    endpoint: &'a Endpoint,
    binding: &'a Arc<Binding>,
    media: Option<MediaType>,
    soap_action: Option<&'a str>,
    addressing: Option<Arc<MessageAddressing>>,
    /// The header blocks for other nodes.
    others: Vec<HeaderBlock>,
    text: Bytes,
}

/// The operations that a request may be for.
#[derive(Debug)]
enum Selected {
    /// No operation has such a Body.
    None,
    One(usize),
    /// Their Bodies begin with the same element, and the action names none of them alone.
    Several(Vec<usize>),
}

impl Selected {
    fn first(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::One(index) => Some(*index),
            Self::Several(candidates) => candidates.first().copied(),
        }
    }
}

impl Endpoint {
    /// Creates an endpoint for these bindings. All must have this Plan.
    pub fn new(plan: &Arc<Plan>, bindings: Vec<Arc<Binding>>, node: Node) -> Self {
        Self {
            plan: Arc::clone(plan),
            bindings,
            node,
            unknown_action: None,
            addressing: None,
        }
    }

    /// Sets what to do with a request whose action belongs to no operation. By default, that of a `SOAPAction` is accepted, and that
    /// of WS-Addressing, which demands it, is refused.
    #[must_use]
    pub fn with_unknown_action(mut self, policy: UnknownAction) -> Self {
        self.unknown_action = Some(policy);
        self
    }

    /// Uses WS-Addressing: its header blocks are understood, and answers have them.
    #[must_use]
    pub fn with_addressing(mut self, policy: AddressingPolicy) -> Self {
        for version in [
            addressing::AddressingVersion::Recommendation,
            addressing::AddressingVersion::Submission,
        ] {
            for block in addressing::BLOCKS {
                let name = Name::new(version.namespace(), block);
                self.node = self.node.understanding(name);
            }
        }
        self.addressing = Some(policy);
        self
    }

    /// The bindings that the endpoint serves.
    pub fn bindings(&self) -> &[Arc<Binding>] {
        &self.bindings
    }

    /// Checks the headers of a request, and selects the text to decode and the Envelope to decode it as.
    ///
    /// # Errors
    /// The reply that refuses the request, if its media type is not XML, its charset is not known, or its Header exceeds a
    /// [limit](header::HeaderLimits).
    pub fn open<'a>(
        &'a self,
        request: IncomingRequest<'a>,
    ) -> Result<UndecodedRequest<'a>, Box<OutgoingReply>> {
        let media = request.content_type.and_then(MediaType::parse);
        if media.as_ref().is_some_and(|media| !media.is_xml()) {
            let reply = OutgoingReply::unsupported_media_type(request.content_type);
            return Err(Box::new(reply));
        }
        let text = media::recoded(media.as_ref(), request.body)
            .map_err(|unknown| Box::new(OutgoingReply::unknown_charset(&unknown)))?;
        let version = media.as_ref().and_then(MediaType::version);
        if let Err(exceeded) = self.node.header_limits().check(&text) {
            let version = exceeded.version.or(version).unwrap_or(SoapVersion::Soap11);
            let fault = Fault::sender(exceeded.to_string());
            return Err(Box::new(OutgoingReply::of_text(&fault, version, "")));
        }
        let Some(binding) = self.binding_for(version, &text) else {
            let reply = OutgoingReply::unsupported_media_type(request.content_type);
            return Err(Box::new(reply));
        };
        let addressing = self.addressing_of(&text)?.map(Arc::new);
        let (text, others) = header::take_others(text, &self.node, self.node.header_limits().bytes);
        Ok(UndecodedRequest {
            endpoint: self,
            binding,
            media,
            soap_action: request.soap_action,
            addressing,
            others,
            text,
        })
    }

    /// The addressing headers of a request. `None` if it has none, or WS-Addressing is not used.
    fn addressing_of(&self, text: &[u8]) -> Result<Option<MessageAddressing>, Box<OutgoingReply>> {
        let Some(policy) = &self.addressing else {
            return Ok(None);
        };
        let read = addressing::read(text, &self.node);
        // What is not an Envelope is refused for that when it is decoded.
        let Some(soap) = read.soap else {
            return Ok(None);
        };
        let header = "Action";
        let checked = match (read.problem, &read.addressing) {
            (Some(problem), _) => Err(problem),
            (None, None) if policy.is_required == Some(true) => {
                Err(AddressingProblem::Required { header })
            }
            (None, None) => Ok(()),
            (None, Some(request)) if request.action.is_none() => {
                Err(AddressingProblem::Required { header })
            }
            (None, Some(request)) => policy.check(request),
        };
        match checked {
            Ok(()) => Ok(read.addressing),
            Err(problem) => Err(Box::new(refuse_addressing(
                &problem,
                soap,
                read.addressing.as_ref(),
            ))),
        }
    }

    /// Decodes the message of a request in full and finds its operation.
    ///
    /// # Errors
    /// The reply that says why the request is not processed.
    pub fn receive(
        &self,
        decoder: &mut Decoder,
        request: IncomingRequest<'_>,
    ) -> Result<(ReceivedRequest, AwaitingAnswer), Box<OutgoingReply>> {
        let mut undecoded = self.open(request)?;
        loop {
            match Repair::default().decode(decoder, undecoded.root(), undecoded.text()) {
                Ok(record) => return undecoded.decoded(Arc::new(record)),
                Err(error) => undecoded = undecoded.undecodable(&error)?,
            }
        }
    }

    /// The reply that refuses a request with a fault before it is decoded, in the SOAP version of its media type.
    pub fn refuse(&self, request: &IncomingRequest<'_>, fault: &Fault) -> OutgoingReply {
        let media = request.content_type.and_then(MediaType::parse);
        let version = media.as_ref().and_then(MediaType::version);
        match self.binding_for(version, &request.body) {
            Some(binding) => Faults {
                plan: &self.plan,
                binding,
                called: None,
            }
            .encoded(fault, &[]),
            None => OutgoingReply::of_text(fault, version.unwrap_or(SoapVersion::Soap11), ""),
        }
    }

    /// The binding for a message of this SOAP version. If several have the version, it is the one that has an operation with
    /// the element in the message's Body; if none has the version, the first one.
    fn binding_for(&self, version: Option<SoapVersion>, text: &[u8]) -> Option<&Arc<Binding>> {
        let mut with_version = self
            .bindings
            .iter()
            .filter(|binding| version.is_none_or(|version| binding.version == version));
        let (Some(first), second) = (with_version.next(), with_version.next()) else {
            return self.bindings.first();
        };
        let Some(second) = second else {
            return Some(first);
        };
        let body = peek_body(text, DoctypePolicy::Refuse);
        [first, second]
            .into_iter()
            .chain(with_version)
            .find(|binding| {
                let takes = |name: &Name| self.takes(binding, name);
                body.as_ref().is_some_and(takes)
            })
            .or(Some(first))
    }

    /// True if an operation of this binding has an element of this name in its Body.
    fn takes(&self, binding: &Binding, name: &Name) -> bool {
        let mut elements = binding
            .operations
            .iter()
            .filter_map(|operation| operation.input.body.first_element());
        elements.any(|element| element_name(&self.plan, element) == *name)
    }

    /// The fault for an empty Body if no operation has one. It says what the Body can contain.
    fn no_operation(&self, binding: &Binding) -> Fault {
        let mut expected: Vec<String> = Vec::new();
        for operation in &binding.operations {
            if let Some(element) = operation.input.body.first_element() {
                let name = format!("<{}>", element_name(&self.plan, element));
                if !expected.contains(&name) {
                    expected.push(name);
                }
            }
        }
        let more = expected.len().saturating_sub(MAX_LISTED_ELEMENTS);
        expected.truncate(MAX_LISTED_ELEMENTS);
        let mut reason = format!("the Body is empty, expected {}", expected.join(" or "));
        if more > 0 {
            reason.push_str(&format!(" or one of {more} other elements"));
        }
        Fault::sender(reason)
    }

    /// The reply to an Envelope of an unsupported SOAP version. (SOAP 1.2 Part 1 §5.4.7, Appendix A)
    fn version_mismatch(&self, version: SoapVersion, found: &str) -> OutgoingReply {
        let mut versions: Vec<SoapVersion> = Vec::new();
        for binding in &self.bindings {
            if !versions.contains(&binding.version) {
                versions.push(binding.version);
            }
        }
        let speaks_12 = versions.contains(&SoapVersion::Soap12);
        // A SOAP 1.1 client knows no other version, so the reply must be in SOAP 1.1.
        let reply_in = if speaks_12 && version == SoapVersion::Soap12 {
            SoapVersion::Soap12
        } else {
            SoapVersion::Soap11
        };
        let expected: Vec<String> = versions.iter().map(ToString::to_string).collect();
        let reason = format!(
            "found an Envelope of {found:?}, expected {}",
            expected.join(" or ")
        );
        let header = if speaks_12 {
            header::upgrade_block(&versions)
        } else {
            String::new()
        };
        let fault = Fault::new(Code::VersionMismatch, reason);
        OutgoingReply::of_text(&fault, reply_in, &header)
    }
}

impl UndecodedRequest<'_> {
    /// The element of the Plan that the text is to be decoded as: the request Envelope of a binding.
    pub fn root(&self) -> ElementId {
        self.binding.request
    }

    /// The text to decode: the body itself, unless its charset had to be converted, or header blocks for other nodes were taken out.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// Finds the operation of a decoded message, and checks its header blocks and the request's action.
    ///
    /// # Errors
    /// The reply that says why the message is not processed.
    pub fn decoded(
        self,
        record: Arc<Record>,
    ) -> Result<(ReceivedRequest, AwaitingAnswer), Box<OutgoingReply>> {
        let (endpoint, binding) = (self.endpoint, self.binding);
        let plan = &endpoint.plan;
        let request = self.addressing.as_deref();
        let refuse = |fault: &Fault, header: &[String]| {
            let mut header = header.to_vec();
            header.extend(addressing::refusal_blocks(request, binding.version, fault));
            let called = None;
            let faults = Faults {
                plan,
                binding,
                called,
            };
            Err(Box::new(faults.encoded(fault, &header)))
        };
        let selected = self.select(&record);
        // Operations with the same Body may declare different header blocks: those of the first one are known.
        let input = selected.first();
        let input = input.map(|index| &binding.operations[index].input);
        if binding.version == SoapVersion::Soap12
            && let Some(fault) = header::misplaced_attribute(&record)
        {
            return refuse(&fault, &[]);
        }
        let mut blocks = match header::blocks(plan, binding.version, input, &record) {
            Ok(blocks) => blocks,
            Err(fault) => return refuse(&fault, &[]),
        };
        let unknown = endpoint.node.not_understood(binding.version, &blocks);
        if !unknown.is_empty() {
            let (fault, named) = header::must_understand(binding.version, &unknown);
            return refuse(&fault, &named);
        }
        let index = match selected {
            Selected::One(index) => index,
            Selected::None => return refuse(&endpoint.no_operation(binding), &[]),
            Selected::Several(candidates) => {
                let candidates: Vec<_> = candidates
                    .iter()
                    .map(|&index| &binding.operations[index])
                    .collect();
                return refuse(&action::undecided(plan, &candidates, self.action()), &[]);
            }
        };
        let selected = &binding.operations[index];
        if let Some(request) = request {
            if let Err(problem) = self.check_addressing(selected, request) {
                let reply = refuse_addressing(&problem, binding.version, Some(request));
                return Err(Box::new(reply));
            }
        } else {
            let policy = endpoint.unknown_action.unwrap_or_default();
            if let Err(fault) = action::check(plan, binding, selected, self.action(), policy) {
                return refuse(&fault, &[]);
            }
        }
        let target = Target {
            plan: Arc::clone(plan),
            binding: Arc::clone(binding),
            index,
        };
        let record = match target.shared(record) {
            Ok(record) => record,
            Err(error) => return refuse(&Fault::sender(error.to_string()), &[]),
        };
        blocks.extend(self.others);
        let awaiting = AwaitingAnswer::new(target.clone(), self.addressing.clone());
        let received = ReceivedRequest::new(target, record, blocks, self.addressing);
        Ok((received, awaiting))
    }

    /// Checks the action of WS-Addressing, and where the answer is to go.
    fn check_addressing(
        &self,
        selected: &Operation,
        request: &MessageAddressing,
    ) -> Result<(), AddressingProblem> {
        let stated = request.action.as_deref().unwrap_or_default();
        let transport = self.transport_action().unwrap_or_default();
        action::check_addressing(
            self.binding,
            selected,
            (stated, transport),
            self.endpoint.unknown_action,
        )?;
        match &self.endpoint.addressing {
            Some(policy) if selected.output.is_some() => {
                policy.check_responses(request, selected.responses)
            }
            _ => Ok(()),
        }
    }

    /// Returns the next step for a message that could not be decoded. If the version of its Envelope is not that of its
    /// media type, this is another root to decode the message as.
    ///
    /// # Errors
    /// The reply that says what is wrong with the message.
    pub fn undecodable(mut self, error: &decode::Error) -> Result<Self, Box<OutgoingReply>> {
        let (endpoint, assumed) = (self.endpoint, self.binding.version);
        let reply = match peek(&self.text, DoctypePolicy::Refuse) {
            Peek::Envelope(version) if version != assumed => {
                match endpoint.binding_for(Some(version), &self.text) {
                    Some(other) if other.version == version => {
                        self.binding = other;
                        return Ok(self);
                    }
                    _ => endpoint.version_mismatch(version, version.envelope_namespace()),
                }
            }
            Peek::ForeignEnvelope(namespace) => endpoint.version_mismatch(assumed, &namespace),
            Peek::Envelope(_) | Peek::Other(_) | Peek::Nothing => {
                let fault = decode_fault(self.binding, error);
                let request = self.addressing.as_deref();
                let header = addressing::refusal_blocks(request, assumed, &fault);
                OutgoingReply::of_text(&fault, assumed, &header.concat())
            }
        };
        Err(Box::new(reply))
    }

    /// The operation that has the element in the Record's Body. If there are several, the one with the request's action, or
    /// else the only one with all elements of the Body. If no action could decide, because all have the same, it is the first.
    fn select(&self, record: &Record) -> Selected {
        let element = first_in_body(record).map(|view| view.element_id());
        // Missing means empty, on both sides.
        let action = self.action().unwrap_or_default();
        let operations = &self.binding.operations;
        let mut candidates: Vec<usize> = (0..operations.len())
            .filter(|&index| operations[index].input.body.first_element() == element)
            .collect();
        let action_of = |index: usize| operations[index].soap_action.as_deref().unwrap_or_default();
        let has_addressing = self.addressing.is_some();
        let is_named = |index: &usize| {
            let stated = &operations[*index].input.action;
            action_of(*index) == action || (has_addressing && *stated == action)
        };
        if candidates.len() > 1 && candidates.iter().any(is_named) {
            candidates.retain(is_named);
        }
        if candidates.len() > 1 {
            let found = elements_in_body(record);
            let is_whole = |index: &usize| operations[*index].input.body.elements() == found;
            if candidates.iter().any(is_whole) {
                candidates.retain(is_whole);
            }
        }
        match candidates[..] {
            [] => Selected::None,
            [first, ref others @ ..]
                if others.iter().all(|&it| action_of(it) == action_of(first)) =>
            {
                Selected::One(first)
            }
            _ => Selected::Several(candidates),
        }
    }

    /// The request's action: that of WS-Addressing, or that of the transport.
    fn action(&self) -> Option<&str> {
        let addressing = self.addressing.as_ref();
        let stated = addressing.and_then(|addressing| addressing.action.as_deref());
        stated.or_else(|| self.transport_action())
    }

    /// The `SOAPAction`, or the `action` of the media type in SOAP 1.2.
    fn transport_action(&self) -> Option<&str> {
        match self.binding.version {
            SoapVersion::Soap11 => self.soap_action.map(media::unquoted),
            SoapVersion::Soap12 => self
                .media
                .as_ref()
                .and_then(|media| media.action.as_deref()),
        }
    }
}

/// The reply to a request that breaks a rule of WS-Addressing.
fn refuse_addressing(
    problem: &AddressingProblem,
    soap: SoapVersion,
    request: Option<&MessageAddressing>,
) -> OutgoingReply {
    let version = request.map_or_else(Default::default, |request| request.version);
    let fault = problem.fault(soap, version);
    let mut header = answer::xml_blocks(&fault);
    let empty = MessageAddressing::new(version);
    let request = request.unwrap_or(&empty);
    header.extend(addressing::refusal_blocks(Some(request), soap, &fault));
    OutgoingReply::of_text(&fault, soap, &header.concat())
}

/// The fault for a message that could not be decoded. It says what was found, where, and at which byte.
fn decode_fault(binding: &Binding, error: &decode::Error) -> Fault {
    let mut fault = Fault::sender(error.to_string());
    if let decode::ErrorKind::UnknownEncoding(_) = error.kind() {
        fault.code = Code::DataEncodingUnknown;
        return fault;
    }
    let is_rpc = binding
        .operations
        .iter()
        .any(|operation| operation.style == Style::Rpc);
    if !is_rpc || binding.version != SoapVersion::Soap12 {
        return fault;
    }
    match error.path().strip_prefix("/Envelope/Body") {
        Some("") if matches!(error.kind(), decode::ErrorKind::Unexpected { .. }) => {
            fault.with_subcode(Name::new(RPC, "ProcedureNotPresent"))
        }
        Some(path) if path.starts_with('/') => fault.with_subcode(Name::new(RPC, "BadArguments")),
        _ => fault,
    }
}
