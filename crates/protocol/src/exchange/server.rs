//! The server's side: [`Endpoint`] → [`Received`] and [`AwaitingAnswer`] → [`OutgoingReply`].

use std::fmt;
use std::sync::Arc;

use bsoap_codec::decode::{self, ErrorKind as DecodeErrorKind};
use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{Decoder, Item, Object, Record, Unpack, Value, View, build, encode};
use bsoap_schema::{Binding, HeaderPart, Message, SoapVersion, Style};

use super::{Direction, Target, body_element};
use crate::arguments::{Contents, Sections};
use crate::header::{self, Block, Node};
use crate::{Code, Error, ErrorKind, Fault, MediaType, Name, Peek, fault, media, peek};

/// The namespace of the subcodes for remote procedure calls. (SOAP 1.2 Part 2 §4.4)
const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";

/// What stands behind an address: one binding, or several, told apart by version and body.
#[derive(Clone, Debug)]
pub struct Endpoint {
    plan: Arc<Plan>,
    bindings: Vec<Arc<Binding>>,
    node: Node,
}

/// What came in, as the transport tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct IncomingRequest<'a> {
    /// The `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The `SOAPAction`.
    pub soap_action: Option<&'a str>,
    /// The message.
    pub body: &'a [u8],
}

/// A request that was read and is for us.
#[derive(Clone, Debug)]
pub struct Received {
    target: Target,
    record: Arc<Record>,
    blocks: Vec<Block>,
}

/// Somebody waits for the answer to a request: one answer, and no second one.
#[derive(Debug)]
#[must_use]
pub struct AwaitingAnswer {
    target: Target,
}

/// A reply to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutgoingReply<B = Vec<u8>> {
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type`; none for an empty reply.
    pub content_type: Option<String>,
    /// The message.
    pub body: B,
}

/// An answer that could not be given; somebody still waits for one.
#[derive(Debug)]
pub struct Unanswered {
    /// Who waits.
    pub awaiting: AwaitingAnswer,
    /// What is wrong with the answer.
    pub error: Error,
}

impl Endpoint {
    /// An endpoint of these bindings of one Plan.
    pub fn new(plan: &Arc<Plan>, bindings: Vec<Arc<Binding>>, node: Node) -> Self {
        Self {
            plan: Arc::clone(plan),
            bindings,
            node,
        }
    }

    /// The bindings.
    pub fn bindings(&self) -> &[Arc<Binding>] {
        &self.bindings
    }

    /// Reads a request and finds its operation.
    ///
    /// # Errors
    /// The reply that says why it is not processed.
    pub fn receive(
        &self,
        decoder: &mut Decoder,
        request: IncomingRequest<'_>,
    ) -> Result<(Received, AwaitingAnswer), Box<OutgoingReply>> {
        self.receive_by(super::read(decoder), request)
    }

    /// Lets somebody else read the request, who may know most of it already: `read` is given the root element and the
    /// text, which lies in the request's body unless it had to be recoded.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn receive_by(
        &self,
        read: impl FnMut(ElementId, &[u8]) -> Result<Arc<Record>, decode::Error>,
        request: IncomingRequest<'_>,
    ) -> Result<(Received, AwaitingAnswer), Box<OutgoingReply>> {
        let media = request.content_type.and_then(MediaType::parse);
        if media.as_ref().is_some_and(|media| !media.is_xml()) {
            return Err(Box::new(unsupported()));
        }
        let text = media::recoded(media.as_ref(), request.body);
        let (binding, record) = self.decode(read, media.as_ref(), &text)?;
        let action = match binding.version {
            SoapVersion::Soap11 => request.soap_action.map(media::unquoted),
            SoapVersion::Soap12 => media.as_ref().and_then(|media| media.action.as_deref()),
        };
        self.dispatch(binding, record, action)
    }

    /// The binding that can read the message, and what it reads.
    fn decode(
        &self,
        mut read: impl FnMut(ElementId, &[u8]) -> Result<Arc<Record>, decode::Error>,
        media: Option<&MediaType>,
        text: &[u8],
    ) -> Result<(&Arc<Binding>, Arc<Record>), Box<OutgoingReply>> {
        let likely = media.and_then(MediaType::version);
        let Some(first) = self.binding_for(likely, text) else {
            return Err(Box::new(unsupported()));
        };
        let error = match read(first.request, text) {
            Ok(record) => return Ok((first, record)),
            Err(error) => error,
        };
        let refuse =
            |fault: &Fault, version| Err(Box::new(OutgoingReply::of_text(fault, version, "")));
        match peek(text) {
            Peek::Envelope(version) if version == first.version => {
                refuse(&unreadable(first, &error), version)
            }
            Peek::Envelope(version) => match self.binding_for(Some(version), text) {
                Some(second) if second.version == version => match read(second.request, text) {
                    Ok(record) => Ok((second, record)),
                    Err(error) => refuse(&unreadable(second, &error), version),
                },
                _ => Err(Box::new(
                    self.version_mismatch(version, version.envelope_namespace()),
                )),
            },
            Peek::ForeignEnvelope(namespace) => {
                Err(Box::new(self.version_mismatch(first.version, &namespace)))
            }
            Peek::Other(_) | Peek::Nothing => refuse(&unreadable(first, &error), first.version),
        }
    }

    /// The binding for a message of this version, the first one if there is none.
    fn binding_for(&self, version: Option<SoapVersion>, text: &[u8]) -> Option<&Arc<Binding>> {
        let spoken: Vec<&Arc<Binding>> = self
            .bindings
            .iter()
            .filter(|binding| version.is_none_or(|version| binding.version == version))
            .collect();
        match spoken[..] {
            [] => self.bindings.first(),
            [only] => Some(only),
            [first, ..] => {
                let body = crate::peek_body(text);
                let takes = |binding: &&Arc<Binding>| {
                    body.as_ref().is_some_and(|name| self.takes(binding, name))
                };
                spoken.iter().copied().find(takes).or(Some(first))
            }
        }
    }

    /// Whether an operation of this binding has such a body element.
    fn takes(&self, binding: &Binding, name: &Name) -> bool {
        let elements = binding
            .operations
            .iter()
            .filter_map(|operation| operation.input.body.first_element());
        elements
            .into_iter()
            .any(|element| name_of(&self.plan, element) == *name)
    }

    /// The reply to an Envelope of another version. (SOAP 1.2 Part 1 §5.4.7, Appendix A)
    fn version_mismatch(&self, version: SoapVersion, found: &str) -> OutgoingReply {
        let mut versions: Vec<SoapVersion> = Vec::new();
        for binding in &self.bindings {
            if !versions.contains(&binding.version) {
                versions.push(binding.version);
            }
        }
        let speaks_12 = versions.contains(&SoapVersion::Soap12);
        // Who spoke 1.1 must be able to read the answer; 1.1 itself knows no other.
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
        OutgoingReply::of_text(
            &Fault::new(Code::VersionMismatch, reason),
            reply_in,
            &header,
        )
    }

    /// Finds the operation and settles the header blocks.
    fn dispatch(
        &self,
        binding: &Arc<Binding>,
        record: Arc<Record>,
        action: Option<&str>,
    ) -> Result<(Received, AwaitingAnswer), Box<OutgoingReply>> {
        let element = body_element(&record);
        let mut candidates = binding
            .operations
            .iter()
            .enumerate()
            .filter(|(_, operation)| operation.input.body.first_element() == element);
        let first = candidates.next();
        let by_action = first.into_iter().chain(candidates).find(|(_, operation)| {
            action.is_some_and(|action| operation.soap_action.as_deref() == Some(action))
        });
        let found = by_action.or(first);
        let declared = found.map(|(_, operation)| &operation.input);
        let replies = Replies {
            plan: &self.plan,
            binding,
        };
        if binding.version == SoapVersion::Soap12 && styles_envelope(&record) {
            let fault = Fault::sender("encodingStyle may not stand on the Envelope");
            return Err(Box::new(replies.fault(&fault, Vec::new())));
        }
        let blocks = match blocks(&self.plan, binding.version, declared, &record) {
            Ok(blocks) => blocks,
            Err(fault) => return Err(Box::new(replies.fault(&fault, Vec::new()))),
        };
        let unknown = self.node.not_understood(binding.version, &blocks);
        if !unknown.is_empty() {
            let (fault, named) = header::must_understand(binding.version, &unknown);
            return Err(Box::new(replies.fault(&fault, named)));
        }
        let Some((index, _)) = found else {
            return Err(Box::new(replies.fault(
                &Fault::sender("no operation has an empty Body"),
                Vec::new(),
            )));
        };
        let target = Target {
            plan: Arc::clone(&self.plan),
            binding: Arc::clone(binding),
            index,
        };
        let awaiting = AwaitingAnswer {
            target: target.clone(),
        };
        Ok((
            Received {
                target,
                record,
                blocks,
            },
            awaiting,
        ))
    }
}

/// Whether the Envelope says `encodingStyle`. (SOAP 1.2 Part 1 §5.1.1)
fn styles_envelope(record: &Record) -> bool {
    // An Envelope has no declared attributes: what others it has is its first slot.
    let attributes = record.slots().first().map_or("", |&slot| record.text(slot));
    !attributes.is_empty()
        && header::has_attribute(attributes, SoapVersion::Soap12, "encodingStyle")
}

/// What the header blocks of a message say about themselves.
fn blocks(
    plan: &Plan,
    version: SoapVersion,
    input: Option<&Message>,
    record: &Record,
) -> Result<Vec<Block>, Fault> {
    let Some(header) = View::of(record).child("Header") else {
        return Ok(Vec::new());
    };
    let mut blocks = Vec::new();
    for item in header.items() {
        match item {
            Item::Element(view) => {
                let part = |part: &HeaderPart| part.element == view.element_id();
                let is_declared = input.is_some_and(|input| input.headers.iter().any(part));
                blocks.push(declared_block(plan, version, &view, is_declared)?);
            }
            Item::Xml(xml) => blocks.push(Block::of_xml(version, xml)?),
            Item::Text(_) => {}
        }
    }
    Ok(blocks)
}

fn declared_block(
    plan: &Plan,
    version: SoapVersion,
    view: &View<'_>,
    is_declared: bool,
) -> Result<Block, Fault> {
    let name = name_of(plan, view.element_id());
    let says = |local: &str| {
        let attribute = view.attribute(&format!("{{{}}}{local}", version.envelope_namespace()))?;
        Some(attribute.text().into_owned())
    };
    let flag =
        |local: &str| says(local).map_or(Ok(false), |value| header::boolean(&name, local, &value));
    let (must_understand, relay) = (flag("mustUnderstand")?, flag("relay")?);
    let role = says(match version {
        SoapVersion::Soap11 => "actor",
        SoapVersion::Soap12 => "role",
    });
    Ok(Block {
        name,
        is_declared,
        must_understand,
        role,
        relay,
    })
}

fn name_of(plan: &Plan, element: ElementId) -> Name {
    let name = plan.element(element).name;
    Name::new(
        plan.vocabulary().namespace(name),
        plan.vocabulary().local(name),
    )
}

/// The fault for a message that does not decode: what, where, at which byte.
fn unreadable(binding: &Binding, error: &decode::Error) -> Fault {
    let fault = Fault::sender(error.to_string());
    let is_rpc = binding
        .operations
        .iter()
        .any(|operation| operation.style == Style::Rpc);
    if !is_rpc || binding.version != SoapVersion::Soap12 {
        return fault;
    }
    match error.path().strip_prefix("/Envelope/Body") {
        Some("") if matches!(error.kind(), DecodeErrorKind::Unexpected { .. }) => {
            fault.with_subcode(Name::new(RPC, "ProcedureNotPresent"))
        }
        Some(path) if path.starts_with('/') => fault.with_subcode(Name::new(RPC, "BadArguments")),
        _ => fault,
    }
}

fn unsupported() -> OutgoingReply {
    let text = "expected text/xml (SOAP 1.1) or application/soap+xml (SOAP 1.2)\n";
    OutgoingReply {
        status: 415,
        content_type: Some("text/plain; charset=utf-8".into()),
        body: text.into(),
    }
}

impl Received {
    /// What is asked for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The whole message: a Record of the request Envelope.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The same, to be kept: it never changes.
    pub fn shared_record(&self) -> &Arc<Record> {
        &self.record
    }

    /// What its header blocks say about themselves.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The arguments: the children of a wrapper, otherwise the parts by name; header blocks under `@headers`.
    pub fn value(&self) -> Value {
        self.target.request_value(&self.record)
    }

    /// The arguments as a Rust value: the wrapper's, or the only part's.
    ///
    /// # Errors
    /// [`ErrorKind::Type`] if the type was not made for it.
    pub fn unpack<T: Unpack>(&self) -> Result<T, Error> {
        self.target.unpack(&self.record)
    }

    /// The header blocks: declared ones by the name of their part, others as XML under `#any`.
    pub fn headers(&self) -> Object {
        self.target.headers(Direction::Request, &self.record)
    }
}

impl AwaitingAnswer {
    /// What was asked for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Whether it is only waited for a word that the message was taken.
    pub fn is_one_way(&self) -> bool {
        self.target.operation().output.is_none()
    }

    /// Says that a one-way message was taken.
    pub fn accept(self) -> OutgoingReply {
        OutgoingReply {
            status: 202,
            content_type: None,
            body: Vec::new(),
        }
    }

    /// Answers with these contents: the result as a [`Value`], given or lent, or a packed Rust value.
    ///
    /// # Errors
    /// If they are none of the operation's answers. Somebody still waits for one.
    pub fn answer<'c>(
        self,
        contents: impl Into<Contents<'c>>,
    ) -> Result<OutgoingReply, Box<Unanswered>> {
        self.answer_by(contents, super::written)
    }

    /// The same, written by somebody else, who may know most of the text already.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn answer_by<'c, B: From<Vec<u8>>>(
        self,
        contents: impl Into<Contents<'c>>,
        write: impl FnOnce(Record) -> Result<B, encode::Error>,
    ) -> Result<OutgoingReply<B>, Box<Unanswered>> {
        if self.is_one_way() {
            return Ok(self.accept().map(B::from));
        }
        match self.target.response(contents) {
            Ok(record) => self.answer_with_by(record, write),
            Err(error) => Err(Box::new(Unanswered {
                awaiting: self,
                error,
            })),
        }
    }

    /// Answers with the Record of a response Envelope.
    ///
    /// # Errors
    /// If it cannot be written. Somebody still waits for an answer.
    pub fn answer_with(self, record: Record) -> Result<OutgoingReply, Box<Unanswered>> {
        self.answer_with_by(record, super::written)
    }

    /// The same, written by somebody else.
    ///
    /// # Errors
    /// As [`answer_with`](Self::answer_with).
    pub fn answer_with_by<B>(
        self,
        record: Record,
        write: impl FnOnce(Record) -> Result<B, encode::Error>,
    ) -> Result<OutgoingReply<B>, Box<Unanswered>> {
        match write(record) {
            Ok(body) => Ok(OutgoingReply::of(200, self.target.binding.version, body)),
            Err(source) => {
                let error = self
                    .target
                    .error(|operation| ErrorKind::Unwritable { operation })
                    .because(source);
                Err(Box::new(Unanswered {
                    awaiting: self,
                    error,
                }))
            }
        }
    }

    /// Answers with a fault. If its detail is none that the WSDL declares, the fault is sent without it.
    pub fn fault(self, fault: &Fault) -> OutgoingReply {
        self.target.fault(fault)
    }

    /// The same, written by somebody else, if it fits the Plan.
    pub fn fault_by<B: From<Vec<u8>>>(
        self,
        fault: &Fault,
        write: impl FnOnce(Record) -> Result<B, encode::Error>,
    ) -> OutgoingReply<B> {
        let Target { plan, binding, .. } = &self.target;
        Replies { plan, binding }.fault_by(fault, Vec::new(), write)
    }
}

impl Target {
    /// The fault that a request for this operation is answered with, when whoever [awaits](AwaitingAnswer) the answer has
    /// come to grief.
    pub fn fault(&self, fault: &Fault) -> OutgoingReply {
        Replies {
            plan: &self.plan,
            binding: &self.binding,
        }
        .fault(fault, Vec::new())
    }
}

impl Unanswered {
    /// Tells the client that the service failed; why is the service's own business.
    pub fn apologise(self) -> OutgoingReply {
        self.awaiting.fault(&Fault::receiver(
            "the service made an answer that its description does not allow",
        ))
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)
    }
}

impl std::error::Error for Unanswered {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

/// Writes the replies of a binding.
struct Replies<'a> {
    plan: &'a Arc<Plan>,
    binding: &'a Arc<Binding>,
}

impl Replies<'_> {
    /// A fault, with XML for its Header.
    fn fault(&self, fault: &Fault, header: Vec<String>) -> OutgoingReply {
        self.fault_by(fault, header, super::written)
    }

    fn fault_by<B: From<Vec<u8>>>(
        &self,
        fault: &Fault,
        header: Vec<String>,
        write: impl FnOnce(Record) -> Result<B, encode::Error>,
    ) -> OutgoingReply<B> {
        let version = self.binding.version;
        let planned = self.planned(fault, &header);
        match planned.and_then(|record| write(record).ok()) {
            Some(body) => OutgoingReply::of(fault.status(version), version, body),
            None => OutgoingReply::of_text(fault, version, &header.concat()).map(B::from),
        }
    }

    /// The fault by the Plan, if it fits that.
    fn planned(&self, fault: &Fault, header: &[String]) -> Option<Record> {
        let mut envelope = Object::new();
        if !header.is_empty() {
            let blocks = header.iter().map(|xml| Value::from(xml.as_str())).collect();
            envelope.insert("Header", Value::object([("#any", Value::Array(blocks))]));
        }
        let value = fault::to_value(fault, self.binding.version);
        let key = Sections::of(self.plan, self.binding.response).fault_key(self.binding.version);
        envelope.insert("Body", Value::object([(key, value)]));
        build(self.plan, self.binding.response, &envelope.into()).ok()
    }
}

impl<B> OutgoingReply<B> {
    fn of(status: u16, version: SoapVersion, body: B) -> Self {
        Self {
            status,
            content_type: Some(media::content_type(version, None)),
            body,
        }
    }

    /// The same reply with its message as something else.
    pub fn map<C>(self, body: impl FnOnce(B) -> C) -> OutgoingReply<C> {
        OutgoingReply {
            status: self.status,
            content_type: self.content_type,
            body: body(self.body),
        }
    }
}

impl OutgoingReply {
    /// A fault without a Plan.
    fn of_text(fault: &Fault, version: SoapVersion, header: &str) -> Self {
        Self::of(
            fault.status(version),
            version,
            fault::write_text(fault, version, header),
        )
    }
}
