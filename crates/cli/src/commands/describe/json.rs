//! The description of a WSDL as JSON: all that the text has.

use bsoap_schema::{
    Attached, Definitions, DerivedType, FaultMessage, Member, MemberKind, Message, Operation,
    OtherPort, Outline, Policy, Port, ResponseEndpoints, TransmissionKind, Uncallable,
    UsingAddressing, without_credentials,
};
use serde_json::{Map, Value, json};

use super::Wanted;

/// The description of these operations.
pub(super) fn page(definitions: &Definitions, wanted: &Wanted<'_>) -> Value {
    let services = definitions.services().iter().map(|service| {
        let ports = service.ports.iter();
        let ports: Vec<Value> = ports.map(|one| port(definitions, one, wanted)).collect();
        json!({
            "name": service.name,
            "namespace": service.namespace,
            "documentation": service.documentation,
            "ports": ports,
            "otherPorts": service.other_ports.iter().map(other_port).collect::<Vec<_>>(),
        })
    });
    json!({
        "targetNamespace": definitions.target_namespace(),
        "documentation": definitions.documentation(),
        "services": services.collect::<Vec<_>>(),
        "notes": definitions.notes().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn port(definitions: &Definitions, port: &Port, wanted: &Wanted<'_>) -> Value {
    let operations = port.binding.operations.iter();
    let operations: Vec<Value> = operations
        .filter(|one| wanted.has(one))
        .map(|one| operation(definitions, one))
        .collect();
    let uncallable = port.binding.uncallable.iter();
    let uncallable = uncallable
        .filter(|_| wanted.are_all())
        .map(self::uncallable);
    json!({
        "name": port.name,
        "address": port.address.as_deref().map(without_credentials),
        "soap": port.binding.version.to_string(),
        "transport": port.binding.transport,
        "callable": port.is_http(),
        "addressing": port.addressing.map(addressing),
        "policies": policies(port.policies.iter().chain(&port.binding.policies)),
        "mtom": port.mtom.map(|mtom| if mtom.is_required { "required" } else { "optional" }),
        "documentation": port.documentation,
        "operations": operations,
        "uncallable": uncallable.collect::<Vec<_>>(),
    })
}

/// How a port uses WS-Addressing.
fn addressing(using: UsingAddressing) -> Value {
    json!({
        "version": using.version.to_string(),
        "required": using.is_required,
        "responses": responses(using.responses),
    })
}

/// The endpoints that answers may be sent to.
fn responses(endpoints: ResponseEndpoints) -> &'static str {
    match endpoints {
        ResponseEndpoints::Any => "any",
        ResponseEndpoints::Anonymous => "anonymous",
        ResponseEndpoints::NonAnonymous => "non-anonymous",
    }
}

/// A port that cannot be called; `protocol` is null if its binding is SOAP, but ignored.
fn other_port(port: &OtherPort) -> Value {
    json!({
        "name": port.name,
        "address": port.address.as_deref().map(without_credentials),
        "binding": port.binding,
        "protocol": port.protocol,
        "callable": false,
        "documentation": port.documentation,
    })
}

/// Policies, of which those about WS-Addressing and MTOM are applied.
fn policies<'p>(all: impl IntoIterator<Item = &'p Policy>) -> Value {
    let all = all.into_iter();
    all.map(|policy| json!({"reference": policy.reference, "xml": policy.xml.as_deref()}))
        .collect()
}

fn uncallable(operation: &Uncallable) -> Value {
    let kind = match operation.kind {
        TransmissionKind::OneWay => "one-way",
        TransmissionKind::RequestResponse => "request-response",
        TransmissionKind::SolicitResponse => "solicit-response",
        TransmissionKind::Notification => "notification",
    };
    json!({"name": operation.name, "kind": kind})
}

fn operation(definitions: &Definitions, operation: &Operation) -> Value {
    let answer = operation.output.as_ref();
    let faults = operation.faults.iter().map(|one| fault(definitions, one));
    json!({
        "name": operation.name,
        "signature": definitions.signature(operation),
        "soapAction": operation.soap_action,
        "action": operation.input.action,
        "answerAction": answer.map(|message| &message.action),
        "responses": operation.responses.map(responses),
        "oneWay": operation.output.is_none(),
        "documentation": operation.documentation,
        "policies": policies(&operation.policies),
        "request": message(definitions, &operation.input),
        "answer": answer.map(|answer| message(definitions, answer)),
        "faults": faults.collect::<Vec<_>>(),
    })
}

fn fault(definitions: &Definitions, fault: &FaultMessage) -> Value {
    let detail = fault.detail.map(|detail| definitions.outline_of(detail));
    json!({
        "name": fault.name,
        "action": fault.action,
        "policies": policies(&fault.policies),
        "documentation": fault.documentation,
        "detail": detail.as_ref().map(outline),
    })
}

/// What a message carries, in its Envelope and beside it.
fn message(definitions: &Definitions, message: &Message) -> Value {
    let mut described = outline(&definitions.outline(message));
    described["policies"] = policies(&message.policies);
    let parts = message.attachments.iter();
    let parts: Vec<Value> = parts
        .map(|part| json!({"part": part.name, "mediaTypes": part.media_types}))
        .collect();
    if !parts.is_empty() {
        described["attachments"] = parts.into();
    }
    described
}

fn outline(outline: &Outline) -> Value {
    let mut object = Map::new();
    object.insert("headers".to_owned(), members(&outline.headers));
    object.insert("members".to_owned(), members(&outline.members));
    let types: Vec<Value> = outline.types.iter().map(derived_type).collect();
    object.insert("types".to_owned(), types.into());
    if outline.is_cut {
        object.insert("cut".to_owned(), true.into());
    }
    object.into()
}

fn derived_type(ty: &DerivedType) -> Value {
    json!({
        "name": ty.name,
        "base": ty.base,
        "documentation": ty.documentation,
        "members": members(&ty.members),
    })
}

fn members(members: &[Member]) -> Value {
    members.iter().map(member).collect()
}

/// A member; what it does not have is left out. (An outline bounds the depth.)
fn member(member: &Member) -> Value {
    let kind = match member.kind {
        MemberKind::Element => "element",
        MemberKind::Attribute => "attribute",
        MemberKind::Text => "text",
        MemberKind::Mixed => "mixed",
        MemberKind::Any => "any",
        MemberKind::Choice => "choice",
        MemberKind::Sequence => "sequence",
        _ => "other",
    };
    let mut object = Map::new();
    let mut add = |key: &str, value: Value| object.insert(key.to_owned(), value);
    add("kind", kind.into());
    if !member.name.is_empty() {
        add("name", member.name.as_str().into());
    }
    if let Some(ty) = &member.ty {
        add("type", ty.as_str().into());
    }
    let flags = [
        ("optional", member.is_optional),
        ("repeats", member.repeats),
        ("nillable", member.is_nillable),
        ("abstract", member.is_abstract),
        ("cut", member.is_cut),
    ];
    for (key, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
        add(key, true.into());
    }
    if let Some(attached) = member.attached {
        let how = match attached {
            Attached::Reference => "reference",
            _ => "binary",
        };
        add("attachment", how.into());
    }
    if let Some(types) = &member.media_types {
        add("mediaTypes", types.as_str().into());
    }
    if let Some(documentation) = &member.documentation {
        add("documentation", documentation.as_str().into());
    }
    for (key, names) in [("values", &member.values), ("derived", &member.derived)] {
        if !names.is_empty() {
            add(key, names.as_slice().into());
        }
    }
    if !member.members.is_empty() {
        add("members", members(&member.members));
    }
    object.into()
}
