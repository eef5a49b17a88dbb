//! What strictness asks of a SOAP binding beside sense: rules of the WS-I Basic Profile 1.1 without which messages are not
//! what both sides think. Literal messages only: the profile has no others.

use crate::definitions::{Operation, Style};
use crate::document::Place;
use crate::wsdl::{Binding, BindingMessage, Message, Part, PartContent};

/// A rule that is not kept.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) rule: &'static str,
    pub(super) problem: String,
    pub(super) place: Place,
}

/// One style for all operations, and a first body element for each.
pub(super) fn of_binding(raw: &Binding, operations: &[Operation]) -> Result<(), Broken> {
    for (index, operation) in operations.iter().enumerate() {
        let place = raw
            .operations
            .iter()
            .find(|one| one.name == operation.name)
            .map_or(raw.place, |one| one.place);
        if operation.style != operations[0].style {
            let problem = format!(
                "operation \"{}\" is not of the style of those before it",
                operation.name
            );
            return Err(Broken {
                rule: "WS-I Basic Profile 1.1 R2705",
                problem,
                place,
            });
        }
        let earlier = operations[..index]
            .iter()
            .find(|one| one.input.branch == operation.input.branch);
        if let Some(earlier) = earlier {
            let problem = format!(
                "requests of operations \"{}\" and \"{}\" begin with the same element",
                earlier.name, operation.name
            );
            return Err(Broken {
                rule: "WS-I Basic Profile 1.1 R2710",
                problem,
                place,
            });
        }
    }
    Ok(())
}

/// Parts of a document have elements, those of an rpc message types; and a document that does not choose has one at most.
pub(super) fn of_body(
    side: &BindingMessage,
    style: Style,
    message: &Message,
    place: Place,
) -> Result<(), Broken> {
    if side.body.encoded {
        return Ok(());
    }
    if style == Style::Document
        && side.body.parts.is_none()
        && side.attachments.is_empty()
        && message.parts.len() > 1
    {
        let problem =
            "the message has several parts, and soap:body does not say which of them is its own"
                .to_owned();
        return Err(Broken {
            rule: "WS-I Basic Profile 1.1 R2210",
            problem,
            place,
        });
    }
    let chosen = |part: &&Part| match &side.body.parts {
        Some(names) => names.contains(&part.name),
        None => !side.attachments.contains(&part.name),
    };
    for part in message.parts.iter().filter(chosen) {
        let (rule, expected) = match (style, &part.content) {
            (Style::Document, PartContent::Type(_)) => (
                "WS-I Basic Profile 1.1 R2204",
                "an element, being of a document",
            ),
            (Style::Rpc, PartContent::Element(_)) => (
                "WS-I Basic Profile 1.1 R2203",
                "a type, being of an rpc message",
            ),
            _ => continue,
        };
        let problem = format!("part \"{}\" has to refer to {expected}", part.name);
        return Err(Broken {
            rule,
            problem,
            place: part.place,
        });
    }
    Ok(())
}

/// A header block or the detail of a fault is an element.
pub(super) fn of_header_or_fault(part: &Part) -> Result<(), Broken> {
    let problem = format!(
        "part \"{}\" has to refer to an element, being of a header or fault",
        part.name
    );
    Err(Broken {
        rule: "WS-I Basic Profile 1.1 R2205",
        problem,
        place: part.place,
    })
}
