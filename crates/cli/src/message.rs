//! Which operation a message belongs to, and its values: what `decode` and `validate` share.

use std::sync::Arc;

use bsoap_codec::plan::ElementId;
use bsoap_protocol::{Name, Peek, Target, has_body, peek, peek_body};
use bsoap_schema::{Binding, Definitions, Message, Operation, SoapVersion};
use bsoap_xml::{DoctypePolicy, Event, Options, Reader, Vocabulary};

use crate::violation::Violation;

/// The meaning of a message in a WSDL.
#[derive(Clone, Debug)]
pub(crate) struct FoundRoot {
    pub(crate) direction: MessageKind,
    /// The element the message must be.
    pub(crate) root: ElementId,
    /// The operation; `None` for a fault, which may belong to any operation, and for a single element.
    pub(crate) target: Option<Target>,
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Request,
    Response,
    Fault,
    /// Not an envelope: a single element of the schemas.
    Element,
}

impl MessageKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Fault => "fault",
            Self::Element => "element",
        }
    }
}

/// Finds the operation by the first element in the body. An element that is both a request and a response is what `prefer` says,
/// otherwise a request.
///
/// # Errors
/// If no operation has such a message, or the text is not a complete XML document: with the location.
pub(crate) fn find(
    definitions: &Definitions,
    text: &[u8],
    doctype: DoctypePolicy,
    prefer: Option<MessageKind>,
) -> Result<FoundRoot, Violation> {
    let found = operation(definitions, text, doctype, prefer);
    found.map_err(|problem| match unreadable(text, doctype) {
        // A violation says where it is.
        Some(error) => Violation::new(
            text,
            error.offset(),
            format!("the message is not well-formed XML: {}", error.kind()),
        ),
        None => Violation::new(text, 0, problem),
    })
}

/// Why a text cannot be read to its end.
fn unreadable(text: &[u8], doctype: DoctypePolicy) -> Option<bsoap_xml::Error> {
    let options = Options::default().doctype(doctype);
    let mut reader = Reader::new(options, Arc::new(Vocabulary::default()));
    let mut read = || -> bsoap_xml::Result<()> {
        reader.feed(text)?;
        reader.finish()?;
        while !matches!(reader.next()?, None | Some(Event::EndOfDocument)) {}
        Ok(())
    };
    read().err()
}

fn operation(
    definitions: &Definitions,
    text: &[u8],
    doctype: DoctypePolicy,
    prefer: Option<MessageKind>,
) -> Result<FoundRoot, String> {
    let version = match peek(text, doctype) {
        Peek::Envelope(version) => version,
        Peek::ForeignEnvelope(namespace) => {
            return Err(format!(
                "the message is an envelope in namespace {namespace:?}; expected that of SOAP 1.1 or SOAP 1.2"
            ));
        }
        Peek::Other(name) => return global_element(definitions, &name),
        Peek::Nothing => return Err("the message is not an XML document".into()),
    };
    let bindings = bindings(definitions, version);
    if bindings.is_empty() {
        return Err(format!(
            "the message is {version}, but the WSDL has no port for that version"
        ));
    }
    let body = peek_body(text, doctype);
    let order = if prefer == Some(MessageKind::Response) {
        [MessageKind::Response, MessageKind::Request]
    } else {
        [MessageKind::Request, MessageKind::Response]
    };
    for direction in order
        .into_iter()
        .filter(|direction| prefer.is_none_or(|prefer| prefer == *direction))
    {
        for binding in &bindings {
            if let Some(found) = among(definitions, binding, body.as_ref(), direction) {
                return Ok(found);
            }
        }
    }
    match body {
        Some(name) if name.local == "Fault" => Ok(FoundRoot {
            direction: MessageKind::Fault,
            root: bindings[0].response,
            target: None,
        }),
        Some(name) => Err(format!(
            "no operation of the WSDL has a message whose Body contains <{name}>"
        )),
        None if !has_body(text, doctype) => Err("the message has no Body".into()),
        None => Err(
            "the Body is empty, but no operation of the WSDL has a message with an empty Body"
                .into(),
        ),
    }
}

/// All bindings of a version, each once.
fn bindings(definitions: &Definitions, version: SoapVersion) -> Vec<&Arc<Binding>> {
    let mut bindings: Vec<&Arc<Binding>> = Vec::new();
    for (_, port) in definitions.ports() {
        if port.binding.version == version
            && !bindings
                .iter()
                .any(|known| Arc::ptr_eq(known, &port.binding))
        {
            bindings.push(&port.binding);
        }
    }
    bindings
}

fn among(
    definitions: &Definitions,
    binding: &Arc<Binding>,
    body: Option<&Name>,
    direction: MessageKind,
) -> Option<FoundRoot> {
    let plan = definitions.plan();
    let has_that_body = |message: &Message| match (message.body.first_element(), body) {
        (None, None) => true,
        (Some(element), Some(name)) => {
            let own = plan.element(element).name;
            plan.vocabulary().local(own) == name.local
                && plan.vocabulary().namespace(own) == name.namespace
        }
        _ => false,
    };
    let has_message = |operation: &&Operation| match direction {
        MessageKind::Request => has_that_body(&operation.input),
        _ => operation.output.as_ref().is_some_and(has_that_body),
    };
    let operation = binding.operations.iter().find(has_message)?;
    let root = if direction == MessageKind::Request {
        binding.request
    } else {
        binding.response
    };
    Some(FoundRoot {
        direction,
        root,
        target: Target::new(plan, binding, &operation.name).ok(),
    })
}

fn global_element(definitions: &Definitions, name: &Name) -> Result<FoundRoot, String> {
    match definitions.element(&name.namespace, &name.local) {
        Some(root) => Ok(FoundRoot {
            direction: MessageKind::Element,
            root,
            target: None,
        }),
        None => Err(format!(
            "<{name}> is neither a SOAP Envelope nor a global element of the WSDL's schemas"
        )),
    }
}
