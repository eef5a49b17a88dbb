//! Port types as clients and services: what their operations take and answer.

use std::collections::HashSet;

use bsoap_schema::{Binding, Body, Definitions, Message, Operation};

use super::model::{DeclaredFault, Interface, Member, Method, Occurs, Payload, Ty};
use super::names::PythonScope;
use super::types::Types;
use super::{Names, Options};
use crate::operations::{PortType, is_empty, port_types};

/// Names that the bases of generated clients have.
const OWN: [&str; 8] = [
    "inner",
    "with_options",
    "_call",
    "_call_options",
    "_call_with_headers",
    "_client_options",
    "_options",
    "_port",
];

pub(super) fn interfaces(
    definitions: &Definitions,
    options: &Options,
    types: &mut Types<'_>,
) -> Vec<Interface> {
    let port_types = port_types(definitions, &options.operations);
    let mut functions = PythonScope::default();
    functions.field("wsdl", Names::Snake);
    let bindings: HashSet<(&str, &str)> = definitions
        .ports()
        .map(|(_, port)| &*port.binding)
        .map(|binding| (&*binding.namespace, &*binding.port_type))
        .collect();
    let is_alone = bindings.len() == 1;
    let interfaces = port_types.iter().map(|port_type| {
        let mut interface = interface(port_type, is_alone, &mut functions, options, types);
        let binding = port_type.binding;
        let port = definitions.ports().find(|(_, port)| {
            port.binding.port_type == binding.port_type
                && port.binding.namespace == binding.namespace
        });
        interface.port = port
            .filter(|_| !is_alone)
            .map(|(_, port)| port.name.clone());
        interface
    });
    interfaces.collect()
}

fn interface(
    PortType {
        binding,
        operations,
    }: &PortType<'_>,
    is_alone: bool,
    functions: &mut PythonScope,
    options: &Options,
    types: &mut Types<'_>,
) -> Interface {
    let name = &binding.port_type;
    let client = types.scope.class(&format!("{name}_Client"));
    let async_client = types.scope.class(&format!("{name}_AsyncClient"));
    let service = types.scope.class(&match name.ends_with("Service") {
        true => name.clone(),
        false => format!("{name}_Service"),
    });
    let register = functions.field(&format!("serve_{name}"), Names::Snake);
    let mut scope = PythonScope::default();
    for own in OWN {
        scope.field(own, Names::Wire);
    }
    let methods = operations.iter().map(|operation| {
        let constant = match is_alone {
            true => functions.constant(&operation.name),
            false => functions.constant(&format!("{name}_{}", operation.name)),
        };
        method(binding, operation, constant, (&mut scope, options), types)
    });
    let methods = methods.collect();
    Interface {
        port_type: name.clone(),
        documentation: binding.documentation.clone(),
        port: None,
        client,
        async_client,
        service,
        register,
        methods,
    }
}

fn method(
    binding: &Binding,
    operation: &Operation,
    constant: String,
    (scope, options): (&mut PythonScope, &Options),
    types: &mut Types<'_>,
) -> Method {
    let name = &operation.name;
    let method = scope.field(name, options.names);
    let input = payload(name, "Request", &operation.input, types);
    let output = operation.output.as_ref();
    let output_payload = output.map(|output| payload(name, "Answer", output, types));
    let about = format!("The header blocks that `{name}` declares.");
    let request_headers = headers(&operation.input, types);
    let headers_class = (!request_headers.is_empty())
        .then(|| types.parts(&format!("{name}_Headers"), &about, request_headers));
    let answer_blocks = output.map_or_else(Vec::new, |output| headers(output, types));
    let about = format!("The header blocks that the answer of `{name}` declares.");
    let answer_headers = (!answer_blocks.is_empty())
        .then(|| types.parts(&format!("{name}_AnswerHeaders"), &about, answer_blocks));
    let with_headers = answer_headers.map(|_| {
        let joined = match options.names {
            Names::Snake => format!("{method}_with_headers"),
            Names::Wire => format!("{method}WithHeaders"),
        };
        scope.field(&joined, options.names)
    });
    Method {
        name: method,
        with_headers,
        constant: format!("_{constant}"),
        operation: name.clone(),
        documentation: operation.documentation.clone(),
        input,
        headers: headers_class,
        output: output_payload,
        answer_headers,
        faults: faults(binding, operation, types),
    }
}

fn payload(operation: &str, what: &str, message: &Message, types: &mut Types<'_>) -> Payload {
    match &message.body {
        Body::Empty => Payload::Nothing,
        Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. } => {
            match is_empty(types.plan, *wrapper) {
                true => Payload::Nothing,
                false => Payload::Whole(types.element(*wrapper, "")),
            }
        }
        Body::Bare { parts } => {
            let members = parts.iter().map(|part| Member {
                nillable: types.plan.element(part.element).nillable,
                ..Member::once(&part.name, types.element(part.element, ""))
            });
            let mut members: Vec<Member> = members.collect();
            if members.len() == 1 {
                return members.pop().map_or(Payload::Nothing, Payload::Part);
            }
            let about = format!("The parts of a message of `{operation}`.");
            let class = types.parts(&format!("{operation}_{what}"), &about, members);
            Payload::Whole(Ty::Class(class))
        }
    }
}

/// The declared header blocks, by the names of their parts.
fn headers(message: &Message, types: &mut Types<'_>) -> Vec<Member> {
    let mut branches = HashSet::new();
    let headers = message.headers.iter();
    let headers = headers.filter(|header| branches.insert(header.branch));
    let members = headers.map(|header| Member {
        occurs: Occurs::Optional,
        nillable: types.plan.element(header.element).nillable,
        ..Member::once(&header.name, types.block(header.element))
    });
    members.collect()
}

fn faults(binding: &Binding, operation: &Operation, types: &mut Types<'_>) -> Vec<usize> {
    let details = |binding: &Binding| -> Vec<_> {
        let faults = binding.operations.iter().flat_map(|one| &one.faults);
        faults.filter_map(|fault| fault.detail).collect()
    };
    let all = details(binding);
    let faults = operation.faults.iter().filter_map(|fault| {
        let element = fault.detail?;
        let plan = types.plan;
        let vocabulary = plan.vocabulary();
        let name = plan.element(element).name;
        let (namespace, local) = (vocabulary.namespace(name), vocabulary.local(name));
        let qualified = match namespace {
            "" => local.to_owned(),
            _ => format!("{{{namespace}}}{local}"),
        };
        // A detail has the namespace in the key where two of its elements have one local name.
        let is_shared = all.iter().any(|&other| {
            plan.element(other).name != name && vocabulary.local(plan.element(other).name) == local
        });
        let keys = match is_shared {
            true => [qualified, local.to_owned()],
            false => [local.to_owned(), qualified],
        };
        let ty = types.element(element, "");
        Some(types.fault(DeclaredFault {
            exception: String::new(),
            name: fault.name.clone(),
            documentation: fault.documentation.clone(),
            keys,
            ty,
            nillable: plan.element(element).nillable,
        }))
    });
    faults.collect()
}
