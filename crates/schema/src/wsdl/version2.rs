//! Reads WSDL 2.0 documents into the components of WSDL 1.1. (WSDL 2.0 Part 1, Core; Part 2, Adjuncts §5: the SOAP binding)
//!
//! ```text
//! interface ─ operation ─► port type, with a message of one part for each input, output and fault
//! binding ───────────────► binding, style document, literal
//! service ─ endpoint ────► service, port
//! ```
//!
//! An interface has the operations of those that it extends, and a binding all operations of its interface, listed or not. Both are
//! known only when all documents are read: [`Version2::complete`] makes the port types and bindings.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use indexmap::IndexMap;
use roxmltree::Node;

use super::read::{Imports, WsdlReader, documentation, is_safe, is_wsdl, wsdl_children};
use super::{
    BindingFault, BindingKind, BindingMessage, BindingOperation, PartContent, RawBinding,
    RawMessage, RawOperation, RawPart, RawPort, RawPortType, RawReference, RawService, SoapHeader,
    Use, Wsdl, addressing, cost_of_policies, find, policy,
};
use crate::components::SchemaSet;
use crate::definitions::{
    Policy, SoapVersion, Style, TransmissionKind, UsingAddressing, UsingMtom,
};
use crate::document::{Position, place_of_value};
use crate::names::work_of_lookup;
use crate::work::CHARACTERS_PER_UNIT;
use crate::{ExpandedName, Result, Sort};

/// The namespace of the SOAP extensions of WSDL 2.0, which is also the type of its SOAP bindings.
const SOAP_NAMESPACE: &str = "http://www.w3.org/ns/wsdl/soap";
/// What WSDL 1.1 calls SOAP over HTTP.
const HTTP_TRANSPORT: &str = "http://schemas.xmlsoap.org/soap/http";

/// The interfaces and bindings of all WSDL 2.0 documents.
#[derive(Debug, Default)]
pub(crate) struct Version2 {
    interfaces: IndexMap<ExpandedName, Interface>,
    bindings: IndexMap<ExpandedName, Binding>,
}

#[derive(Debug)]
struct Interface {
    extends: Vec<RawReference>,
    /// The messages of its faults by their names.
    faults: IndexMap<String, Use>,
    operations: Vec<Operation>,
}

#[derive(Debug)]
struct Operation {
    /// Its faults are those of `faults`.
    declared: RawOperation,
    faults: Vec<RawReference>,
}

#[derive(Debug)]
struct Binding {
    /// `None` if any interface can be bound: then it is that of the service.
    interface: Option<RawReference>,
    kind: BindingKind,
    operations: IndexMap<String, BoundOperation>,
    policies: Vec<Policy>,
    addressing: Option<UsingAddressing>,
    mtom: Option<UsingMtom>,
    documentation: Option<String>,
    place: Position,
}

/// What a binding says of an operation.
#[derive(Debug)]
struct BoundOperation {
    action: Option<String>,
    input: Vec<SoapHeader>,
    output: Vec<SoapHeader>,
    policies: Vec<Policy>,
    documentation: Option<String>,
    place: Position,
}

/// Reads a component, or adds an import or a schema to `imports`.
///
/// # Errors
/// If a name is missing or its prefix is undeclared.
pub(super) fn component<'n, 'input>(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    imports: &mut Imports<'n, 'input>,
    node: Node<'n, 'input>,
) -> Result<()> {
    match node.tag_name().name() {
        "import" | "include" => reader.import(imports, node, "location"),
        "types" => {
            for child in node.children().filter(Node::is_element) {
                match child.tag_name().name() {
                    "schema" => imports.schemas.push(child),
                    "import" => reader.import(imports, child, "schemaLocation"),
                    _ => {}
                }
            }
        }
        "interface" => {
            let name = reader.declared_name(node)?;
            let interface = interface(reader, wsdl, &name, node)?;
            if wsdl.version2.interfaces.contains_key(&name) {
                return reader.duplicate(wsdl, Sort::PortType, name, node);
            }
            wsdl.version2.interfaces.insert(name, interface);
        }
        "binding" => {
            let name = reader.declared_name(node)?;
            let binding = binding(reader, wsdl, &name, node)?;
            if wsdl.version2.bindings.contains_key(&name) {
                return reader.duplicate(wsdl, Sort::Binding, name, node);
            }
            wsdl.version2.bindings.insert(name, binding);
        }
        "service" => service(reader, wsdl, node)?,
        "documentation" => {}
        other => wsdl.note(
            Some(reader.place(node)),
            format!("wsdl:{other} is not an element of WSDL 2.0; it is ignored"),
        ),
    }
    Ok(())
}

fn interface(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    name: &ExpandedName,
    node: Node<'_, '_>,
) -> Result<Interface> {
    let mut faults = IndexMap::new();
    for fault in wsdl_children(node, "fault") {
        let local = reader.required(fault, "name")?;
        let message = format!("{}.{local}", name.local);
        if let Some(mut used) = message_use(reader, wsdl, fault, message)? {
            used.name = Some(local.clone());
            faults.insert(local, used);
        }
    }
    let mut operations = Vec::new();
    for operation in wsdl_children(node, "operation") {
        operations.extend(interface_operation(reader, wsdl, name, operation)?);
    }
    Ok(Interface {
        extends: reader.references(node, "extends")?,
        faults,
        operations,
    })
}

/// An operation of an interface. `None` if its messages are not described, with a note.
fn interface_operation(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    interface: &ExpandedName,
    node: Node<'_, '_>,
) -> Result<Option<Operation>> {
    let name = reader.required(node, "name")?;
    let mut messages = [None, None];
    for (message, local) in messages.iter_mut().zip(["input", "output"]) {
        if let Some(found) = wsdl_children(node, local).next() {
            let key = format!("{}.{name}.{local}", interface.local);
            *message = message_use(reader, wsdl, found, key)?;
            if message.is_none() {
                return Ok(None);
            }
        }
    }
    let [input, output] = messages;
    let pattern = node.attribute("pattern").unwrap_or_default().trim();
    let kind = match pattern.rsplit('/').next() {
        Some("out-only" | "robust-out-only") => TransmissionKind::Notification,
        Some("out-in" | "out-opt-in") => TransmissionKind::SolicitResponse,
        _ if output.is_none() => TransmissionKind::OneWay,
        _ => TransmissionKind::RequestResponse,
    };
    let faults = wsdl_children(node, "outfault").map(|fault| reader.reference(fault, "ref"));
    Ok(Some(Operation {
        faults: faults.collect::<Result<_>>()?,
        declared: RawOperation {
            name,
            documentation: documentation(node),
            kind,
            input,
            output,
            faults: Vec::new(),
            is_safe: is_safe(node),
            policies: policy::of(reader, wsdl, node)?.policies,
            place: reader.place(node),
        },
    }))
}

/// Defines the message of an input, output or fault. `None` if its content is any element, or no XML, with a note.
fn message_use(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    node: Node<'_, '_>,
    name: String,
) -> Result<Option<Use>> {
    let parts = match node.attribute("element").map(str::trim) {
        None | Some("#none") => Vec::new(),
        Some(token @ ("#any" | "#other")) => {
            let note = format!(
                "the message \"{name}\" has the content {token}, which is not supported; its operation is ignored"
            );
            wsdl.note(Some(reader.place(node)), note);
            return Ok(None);
        }
        Some(_) => vec![part(reader, node)?],
    };
    let name = reader.own_name(&name, reader.place(node))?;
    let message = RawReference {
        name: name.clone(),
        fallback: None,
        place: reader.place(node),
    };
    wsdl.messages.entry(name).or_insert(RawMessage { parts });
    Ok(Some(Use {
        name: None,
        message,
        action: reader.action(node),
        policies: policy::of(reader, wsdl, node)?.policies,
        documentation: documentation(node),
    }))
}

/// A part that is the element of an attribute `element`.
fn part(reader: &WsdlReader<'_>, node: Node<'_, '_>) -> Result<RawPart> {
    let element = reader.reference(node, "element")?;
    Ok(RawPart {
        name: element.name.local.to_string(),
        content: PartContent::Element(element),
        place: reader.place(node),
    })
}

fn binding(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    name: &ExpandedName,
    node: Node<'_, '_>,
) -> Result<Binding> {
    let interface = match node.has_attribute("interface") {
        true => Some(reader.reference(node, "interface")?),
        false => None,
    };
    let mut operations = IndexMap::new();
    for operation in wsdl_children(node, "operation") {
        let bound = reader.reference(operation, "ref")?;
        let local = bound.name.local.to_string();
        let said = BoundOperation {
            action: soap_attribute(operation, "action"),
            input: headers(reader, wsdl, operation, "input", name)?,
            output: headers(reader, wsdl, operation, "output", name)?,
            policies: policy::of(reader, wsdl, operation)?.policies,
            documentation: documentation(operation),
            place: reader.place(operation),
        };
        operations.entry(local).or_insert(said);
    }
    for module in node.children().filter(|child| is_module(*child)) {
        reader.extension(wsdl, module);
    }
    let attached = policy::of(reader, wsdl, node)?;
    Ok(Binding {
        interface,
        kind: binding_kind(node),
        operations,
        addressing: addressing::of(node, attached.addressing),
        mtom: attached.mtom,
        policies: attached.policies,
        documentation: documentation(node),
        place: reader.place(node),
    })
}

fn is_module(node: Node<'_, '_>) -> bool {
    node.is_element() && !is_wsdl(node) && !policy::is_policy(node)
}

fn binding_kind(node: Node<'_, '_>) -> BindingKind {
    let kind = node.attribute("type").unwrap_or_default().trim();
    if kind != SOAP_NAMESPACE {
        return BindingKind::Other(kind.to_owned());
    }
    let version = match soap_attribute(node, "version").as_deref() {
        Some("1.1") => SoapVersion::Soap11,
        _ => SoapVersion::Soap12,
    };
    let protocol = soap_attribute(node, "protocol").unwrap_or_default();
    let is_http = protocol.is_empty() || protocol.contains("/bindings/HTTP");
    let transport = match is_http {
        true => HTTP_TRANSPORT.to_owned(),
        false => protocol,
    };
    BindingKind::Soap { version, transport }
}

fn soap_attribute(node: Node<'_, '_>, name: &str) -> Option<String> {
    let value = node.attribute((SOAP_NAMESPACE, name))?;
    Some(value.trim().to_owned())
}

/// The header blocks of a binding's input or output. Each has a message of its own.
fn headers(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    operation: Node<'_, '_>,
    side: &'static str,
    binding: &ExpandedName,
) -> Result<Vec<SoapHeader>> {
    let blocks = wsdl_children(operation, side).flat_map(|side| side.children());
    let blocks = blocks.filter(|child| child.has_tag_name((SOAP_NAMESPACE, "header")));
    let mut headers = Vec::new();
    for block in blocks {
        let part = part(reader, block)?;
        let place = reader.place(block);
        let name = format!("{}.header{}", binding.local, wsdl.messages.len());
        let name = reader.own_name(&name, place)?;
        headers.push(SoapHeader {
            message: RawReference {
                name: name.clone(),
                fallback: None,
                place,
            },
            part: part.name.clone(),
            namespace: None,
            encoded: false,
        });
        let parts = vec![part];
        wsdl.messages.insert(name, RawMessage { parts });
    }
    Ok(headers)
}

fn service(reader: &WsdlReader<'_>, wsdl: &mut Wsdl, node: Node<'_, '_>) -> Result<()> {
    let name = reader.declared_name(node)?;
    if wsdl.services.contains_key(&name) {
        return reader.duplicate(wsdl, Sort::Service, name, node);
    }
    let interface = reader.reference(node, "interface")?;
    let of_service = policy::of(reader, wsdl, node)?;
    let mut ports = Vec::new();
    for endpoint in wsdl_children(node, "endpoint") {
        let attached = policy::of(reader, wsdl, endpoint)?;
        let attached = attached.and(&of_service, reader, endpoint)?;
        let address = endpoint.attribute("address").map(str::trim);
        ports.push(RawPort {
            name: reader.required(endpoint, "name")?,
            binding: reader.reference(endpoint, "binding")?,
            address: address.map(str::to_owned),
            addressing: addressing::of(endpoint, attached.addressing),
            mtom: attached.mtom,
            policies: attached.policies,
            documentation: documentation(endpoint),
            interface: Some(interface.clone()),
        });
    }
    let service = RawService {
        document: reader.document,
        documentation: documentation(node),
        ports,
    };
    wsdl.services.insert(name, service);
    Ok(())
}

impl Version2 {
    /// Adds the port types and bindings to `wsdl`, when all documents are read.
    ///
    /// # Errors
    /// If the budget of loading is used up.
    pub(crate) fn complete(self, wsdl: &mut Wsdl, schemas: &SchemaSet) -> Result<()> {
        for name in self.interfaces.keys() {
            let operations = self.operations(name, wsdl, schemas)?;
            wsdl.port_types
                .entry(name.clone())
                .or_insert(RawPortType { operations });
        }
        let of_ports = interfaces_of_ports(wsdl);
        for (name, binding) in self.bindings {
            let of_ports = of_ports.get(&name);
            let Some(interface) = binding.interface.as_ref().or(of_ports).cloned() else {
                let note = format!(
                    "binding \"{name}\" is ignored: neither it nor a service names its interface"
                );
                wsdl.note(Some(binding.place), note);
                continue;
            };
            let operations = match find(&wsdl.port_types, &interface) {
                Some((_, port_type)) => bound_operations(&binding.operations, port_type, schemas)?,
                // That it is undefined is reported when the binding is resolved.
                None => Vec::new(),
            };
            let made = RawBinding {
                name: name.clone(),
                port_type: interface,
                kind: binding.kind,
                operations,
                policies: binding.policies,
                addressing: binding.addressing,
                mtom: binding.mtom,
                documentation: binding.documentation,
                place: binding.place,
            };
            wsdl.bindings.entry(name).or_insert(made);
        }
        Ok(())
    }

    /// The operations of an interface and of all that it extends.
    fn operations(
        &self,
        name: &ExpandedName,
        wsdl: &mut Wsdl,
        schemas: &SchemaSet,
    ) -> Result<Vec<RawOperation>> {
        let mut seen = HashSet::from_iter([name]);
        let mut to_visit: Vec<_> = self.interfaces.get_key_value(name).into_iter().collect();
        let mut visited = Vec::new();
        while let Some((_, interface)) = to_visit.pop() {
            visited.push(interface);
            for extended in &interface.extends {
                // Many interfaces may extend one, and each looks it up by its whole name.
                let length = name.namespace.len() + extended.name.namespace.len();
                schemas.charge(5 + length / CHARACTERS_PER_UNIT, extended.place)?;
                match find(&self.interfaces, extended) {
                    Some(found) if seen.insert(found.0) => to_visit.push(found),
                    Some(_) => {}
                    None => wsdl.note(
                        Some(extended.place),
                        format!("the interface \"{}\" is not defined; what it has is missing from \"{name}\"", extended.name),
                    ),
                }
            }
        }
        let mut operations: Vec<RawOperation> = Vec::new();
        let mut names = HashSet::new();
        for operation in visited.iter().flat_map(|interface| &interface.operations) {
            let declared = &operation.declared;
            let uses = [&declared.input, &declared.output].into_iter().flatten();
            let of_uses: usize = uses.map(|one| cost_of_policies(&one.policies)).sum();
            let copied = of_uses + cost_of_policies(&declared.policies);
            schemas.charge(10 + operation.faults.len() + copied, declared.place)?;
            if !names.insert(&operation.declared.name) {
                continue;
            }
            let mut declared = operation.declared.clone();
            let faults = operation.faults.iter().filter_map(|fault| {
                let mut known = visited.iter().map(|interface| &interface.faults);
                known.find_map(|faults| faults.get(&*fault.name.local))
            });
            declared.faults = faults.cloned().collect();
            operations.push(declared);
        }
        Ok(operations)
    }
}

/// The interface of the first port of each binding.
fn interfaces_of_ports(wsdl: &Wsdl) -> HashMap<ExpandedName, RawReference> {
    let mut interfaces = HashMap::new();
    for port in wsdl.services.values().flat_map(|service| &service.ports) {
        let Some(interface) = &port.interface else {
            continue;
        };
        for name in port.binding.candidates() {
            interfaces
                .entry(name.clone())
                .or_insert_with(|| interface.clone());
        }
    }
    interfaces
}

/// A binding has all operations of its interface.
fn bound_operations(
    said: &IndexMap<String, BoundOperation>,
    port_type: &RawPortType,
    schemas: &SchemaSet,
) -> Result<Vec<BindingOperation>> {
    let side = |headers: Option<&Vec<SoapHeader>>| BindingMessage {
        headers: headers.cloned().unwrap_or_default(),
        ..BindingMessage::default()
    };
    let mut operations = Vec::with_capacity(port_type.operations.len());
    for declared in &port_type.operations {
        schemas.charge(1, declared.place)?;
        let said = said.get(&declared.name);
        operations.push(BindingOperation {
            name: declared.name.clone(),
            soap_action: said.and_then(|said| said.action.clone()),
            style: Style::Document,
            documentation: said.and_then(|said| said.documentation.clone()),
            policies: said.map_or(Vec::new(), |said| said.policies.clone()),
            input: side(said.map(|said| &said.input)),
            output: side(said.map(|said| &said.output)),
            faults: declared.faults.iter().filter_map(fault_of).collect(),
            responses: None,
            place: said.map_or(declared.place, |said| said.place),
        });
    }
    Ok(operations)
}

fn fault_of(used: &Use) -> Option<BindingFault> {
    Some(BindingFault {
        name: used.name.clone()?,
        namespace: None,
        encoded: false,
        policies: Vec::new(),
    })
}

impl WsdlReader<'_> {
    /// The components that a list of names refers to.
    fn references(&self, node: Node<'_, '_>, attribute: &'static str) -> Result<Vec<RawReference>> {
        let Some(names) = node.attribute(attribute) else {
            return Ok(Vec::new());
        };
        let place = place_of_value(self.document, node, attribute);
        let names = names.split_whitespace();
        names
            .map(|name| {
                self.charge(work_of_lookup(node), node)?;
                self.referred(node, attribute, name, place)
            })
            .collect()
    }
}
