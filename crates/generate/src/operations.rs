//! Operations as methods: their arguments and results, and where these are in a Body.

use std::collections::HashSet;

use bsoap_codec::plan::{Content, ElementId, ParticleId, Plan, Term};
use bsoap_schema::{Binding, Definitions, Message, Operation};
use proc_macro2::Ident;

use crate::model::{DeclaredFault, FieldSlot, Payload};
use crate::names::NameScope;
use crate::types::Types;

/// A port type as a client and a trait.
#[derive(Debug)]
pub(crate) struct Interface {
    /// The trait.
    pub(crate) name: Ident,
    pub(crate) client: Ident,
    pub(crate) register: Ident,
    pub(crate) documentation: Option<String>,
    /// The static with the fingerprints below.
    pub(crate) schemas_name: Ident,
    /// Fingerprints of the Envelopes, of each binding with the same messages.
    pub(crate) schemas: Vec<(u64, u64)>,
    pub(crate) methods: Vec<Method>,
}

/// An operation as a method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: Ident,
    /// The function that adds the operation to a service.
    pub(crate) register: Ident,
    /// The constant that describes it.
    pub(crate) descriptor: Ident,
    pub(crate) operation: String,
    pub(crate) documentation: Option<String>,
    pub(crate) input: Payload,
    /// The type of the header blocks it takes, if any are declared.
    pub(crate) headers: Option<Ident>,
    pub(crate) output: Option<Payload>,
    /// The type of the header blocks of the answer, if any are declared.
    pub(crate) answer_headers: Option<Ident>,
    /// The type of its errors, if faults are declared.
    pub(crate) error: Option<Ident>,
    pub(crate) faults: Vec<DeclaredFault>,
}

/// A port type with the operations that code is generated for, as its first binding has them.
#[derive(Debug)]
pub(crate) struct PortType<'d> {
    pub(crate) binding: &'d Binding,
    pub(crate) operations: Vec<&'d Operation>,
}

/// The port types that ports lead to, with the operations of these names; with all if there are no names. Port types without
/// operations are left out.
pub(crate) fn port_types<'d>(
    definitions: &'d Definitions,
    operations: &[String],
) -> Vec<PortType<'d>> {
    let mut done = HashSet::new();
    let mut port_types = Vec::new();
    for (_, port) in definitions.ports() {
        let binding = &*port.binding;
        if !done.insert((binding.namespace.as_str(), binding.port_type.as_str())) {
            continue;
        }
        let mut named = HashSet::new();
        let chosen = binding.operations.iter().filter(|operation| {
            let is_chosen = operations.is_empty() || operations.contains(&operation.name);
            is_chosen && named.insert(operation.name.as_str())
        });
        let operations: Vec<&Operation> = chosen.collect();
        if !operations.is_empty() {
            port_types.push(PortType {
                binding,
                operations,
            });
        }
    }
    port_types
}

/// The interfaces of port types.
pub(crate) fn interfaces(
    definitions: &Definitions,
    operations: &[String],
    types: &mut Types<'_>,
) -> Vec<Interface> {
    let mut interfaces = Vec::new();
    let mut functions = NameScope::default();
    // The function that returns embedded documents, and their constant.
    functions.field("wsdl");
    functions.constant("documents");
    for PortType {
        binding,
        operations,
    } in port_types(definitions, operations)
    {
        let same = definitions
            .ports()
            .map(|(_, port)| &*port.binding)
            .filter(|other| {
                other.port_type == binding.port_type && has_same_messages(binding, other)
            });
        let fingerprint = |binding: &Binding| {
            (
                types.plan.fingerprint(binding.request),
                types.plan.fingerprint(binding.response),
            )
        };
        let mut schemas: Vec<(u64, u64)> = same.map(fingerprint).collect();
        schemas.dedup();
        interfaces.push(interface(
            binding,
            &operations,
            schemas,
            &mut functions,
            types,
        ));
    }
    interfaces
}

/// True if code for one of them is right for the other. The SOAP versions may differ if there are no header blocks: their attributes
/// belong to a version.
fn has_same_messages(one: &Binding, other: &Binding) -> bool {
    let same = |a: &Message, b: &Message| {
        a.body == b.body && a.branch == b.branch && a.headers == b.headers
    };
    let same_operation = |a: &Operation, b: &Operation| {
        let outputs = match (&a.output, &b.output) {
            (Some(a), Some(b)) => same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        a.name == b.name && same(&a.input, &b.input) && outputs && a.faults == b.faults
    };
    one.operations.len() == other.operations.len()
        && one
            .operations
            .iter()
            .zip(&other.operations)
            .all(|(a, b)| same_operation(a, b))
}

fn interface(
    binding: &Binding,
    operations: &[&Operation],
    schemas: Vec<(u64, u64)>,
    functions: &mut NameScope,
    types: &mut Types<'_>,
) -> Interface {
    let name = types.scope.ty(&binding.port_type);
    let client = types.scope.ty(&format!("{}_Client", binding.port_type));
    let register = functions.field(&format!("serve_{}", binding.port_type));
    let mut methods = NameScope::default();
    // Names of the client's own methods.
    for taken in ["new", "from_wsdl", "embedded", "with", "inner"] {
        methods.field(taken);
    }
    let methods = operations
        .iter()
        .map(|operation| method(binding, operation, (&mut methods, functions), types))
        .collect();
    Interface {
        name,
        client,
        register,
        schemas_name: functions.constant(&format!("{}_schemas", binding.port_type)),
        documentation: binding.documentation.clone(),
        schemas,
        methods,
    }
}

fn method(
    binding: &Binding,
    operation: &Operation,
    (methods, functions): (&mut NameScope, &mut NameScope),
    types: &mut Types<'_>,
) -> Method {
    let name = methods.field(&operation.name);
    let register = functions.field(&format!("handle_{}_{}", binding.port_type, operation.name));
    let input = payload(
        binding.request,
        &format!("{}_Request", operation.name),
        &operation.input,
        types,
    );
    let headers =
        (!input.headers.is_empty()).then(|| types.scope.ty(&format!("{}_Headers", operation.name)));
    let output = operation.output.as_ref();
    let output = output.map(|output| {
        payload(
            binding.response,
            &format!("{}_Answer", operation.name),
            output,
            types,
        )
    });
    let has_headers = |output: &&Payload| !output.headers.is_empty();
    let answer_headers = output.as_ref().filter(has_headers);
    let answer_headers =
        answer_headers.map(|_| types.scope.ty(&format!("{}_AnswerHeaders", operation.name)));
    let mut variants = NameScope::default();
    // The variant for all other errors.
    variants.variant("Other");
    let mut faults = Vec::new();
    for fault in &operation.faults {
        let Some(element) = fault.detail else {
            continue;
        };
        faults.push(DeclaredFault {
            name: fault.name.clone(),
            variant: variants.variant(&fault.name),
            documentation: fault.documentation.clone(),
            place: types.element(element),
        });
    }
    let error = (!faults.is_empty()).then(|| types.scope.ty(&format!("{}_Error", operation.name)));
    Method {
        name,
        register,
        descriptor: functions.constant(&format!("{}_{}", binding.port_type, operation.name)),
        operation: operation.name.clone(),
        documentation: operation.documentation.clone(),
        input,
        headers,
        output,
        answer_headers,
        error,
        faults,
    }
}

fn payload(envelope: ElementId, owner: &str, message: &Message, types: &mut Types<'_>) -> Payload {
    let particle = message
        .branch
        .and_then(|branch| body_branch(types.plan, envelope, branch));
    let encoded = particle.and_then(|particle| encoded_element(types.plan, particle));
    let place =
        particle.and_then(
            |particle| match types.plan.particle(encoded.unwrap_or(particle)).term {
                Term::Element(element) if is_empty(types.plan, element) => None,
                Term::Element(element) => Some(types.element(element)),
                _ => Some(types.parts(owner, particle)),
            },
        );
    let mut scope = NameScope::default();
    let mut headers: Vec<(Ident, u32, FieldSlot)> = Vec::new();
    for header in &message.headers {
        if headers
            .iter()
            .all(|&(_, branch, _)| branch != header.branch)
        {
            headers.push((
                scope.field(&header.name),
                header.branch,
                types.block(header.element),
            ));
        }
    }
    Payload {
        branch: particle.and(message.branch),
        is_encoded: encoded.is_some(),
        place,
        headers,
    }
}

/// The element of a branch that is one encoded element, and any number of independent values.
fn encoded_element(plan: &Plan, branch: ParticleId) -> Option<ParticleId> {
    let &[first, second] = plan.children_of(branch) else {
        return None;
    };
    let Term::Element(independent) = plan.particle(second).term else {
        return None;
    };
    let encoded = plan.encoded(independent)?;
    (encoded.has_any_name && encoded.style.is_some()).then_some(first)
}

/// True if nothing can be said with this element: it has neither attributes nor content, and may not be nil.
pub(crate) fn is_empty(plan: &Plan, element: ElementId) -> bool {
    let (element, ty) = (plan.element(element), plan.ty(plan.element(element).ty));
    let has_content = match &ty.content {
        Content::Empty => false,
        Content::Particle(particle) => {
            let is_group = !matches!(
                plan.particle(*particle).term,
                Term::Element(_) | Term::Any(_)
            );
            !is_group || !plan.children_of(*particle).is_empty()
        }
        _ => true,
    };
    !has_content && !element.has_state && ty.attributes.is_empty() && ty.any_attribute.is_none()
}

/// A branch of the Body of an Envelope.
fn body_branch(plan: &Plan, envelope: ElementId, branch: u32) -> Option<ParticleId> {
    let children = |element: ElementId| match plan.ty(plan.element(element).ty).content {
        Content::Particle(particle) => plan.children_of(particle),
        _ => &[],
    };
    let body = children(envelope).last()?;
    let Term::Element(body) = plan.particle(*body).term else {
        return None;
    };
    children(body).get(branch as usize).copied()
}
