//! Checks rules of the WS-I Basic Profile 1.1 on SOAP bindings in strict loading: without these rules, both sides may
//! interpret a message differently. Only literal messages are checked; the profile allows no others.

use crate::components::SchemaSet;
use crate::definitions::{Operation, Style};
use crate::document::Position;
use crate::wsdl::{BindingMessage, PartContent, RawBinding, RawMessage, RawPart};
use crate::{Error, Result};

/// Checks that all operations have the same style, and that each request has its own first element in the Body.
pub(super) fn of_binding(
    schemas: &SchemaSet,
    raw: &RawBinding,
    operations: &[Operation],
) -> Result<()> {
    for (index, operation) in operations.iter().enumerate() {
        let place = raw
            .operations
            .iter()
            .find(|one| one.name == operation.name)
            .map_or(raw.place, |one| one.place);
        if operation.style != operations[0].style {
            let problem = format!(
                "operation \"{}\" has another style (document or rpc) than the operations before it",
                operation.name
            );
            return Err(schemas.broken("WS-I Basic Profile 1.1 R2705", problem, place));
        }
        let earlier = operations[..index]
            .iter()
            .find(|one| one.input.branch == operation.input.branch);
        if let Some(earlier) = earlier {
            let problem = format!(
                "the requests of operations \"{}\" and \"{}\" have the same first element in the Body",
                earlier.name, operation.name
            );
            return Err(schemas.broken("WS-I Basic Profile 1.1 R2710", problem, place));
        }
    }
    Ok(())
}

/// Checks that parts of a document message refer to elements, and those of an rpc message to types. A document message has
/// at most one part, unless `soap:body` selects one.
pub(super) fn of_body(
    schemas: &SchemaSet,
    side: &BindingMessage,
    style: Style,
    message: &RawMessage,
    place: Position,
) -> Result<()> {
    if side.body.encoded {
        return Ok(());
    }
    if style == Style::Document
        && side.body.parts.is_none()
        && side.attachments.is_empty()
        && message.parts.len() > 1
    {
        let problem =
            "the message has several parts; soap:body needs the attribute parts to select one";
        return Err(schemas.broken("WS-I Basic Profile 1.1 R2210", problem, place));
    }
    let chosen = |part: &&RawPart| match &side.body.parts {
        Some(names) => names.contains(&part.name),
        None => !side.is_attachment(&part.name),
    };
    for part in message.parts.iter().filter(chosen) {
        let (rule, expected) = match (style, &part.content) {
            (Style::Document, PartContent::Type(_)) => (
                "WS-I Basic Profile 1.1 R2204",
                "must have the attribute element, because the style is document",
            ),
            (Style::Rpc, PartContent::Element(_)) => (
                "WS-I Basic Profile 1.1 R2203",
                "must have the attribute type, because the style is rpc",
            ),
            _ => continue,
        };
        let problem = format!("part \"{}\" {expected}", part.name);
        return Err(schemas.broken(rule, problem, part.place));
    }
    Ok(())
}

/// The error for a header block or fault detail that refers to a type instead of an element.
pub(super) fn of_header_or_fault(schemas: &SchemaSet, part: &RawPart) -> Error {
    let problem = format!(
        "part \"{}\" is used as a header block or fault detail and must have the attribute element",
        part.name
    );
    schemas.broken("WS-I Basic Profile 1.1 R2205", problem, part.place)
}
