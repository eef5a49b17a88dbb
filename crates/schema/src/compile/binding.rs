//! Resolves bindings: matches each operation of a binding with the operation of its port type, and its messages with their
//! parts, and adds both Envelopes of the binding to the Plan.

use std::sync::Arc;

use bsoap_codec::plan::{ElementId, PlanBuilder, TypeId};
use foldhash::{HashMap, HashMapExt as _, HashSet};
use indexmap::IndexMap;

use super::array::ArrayInfo;
use super::encoded::{EncodedVariants, EncodingTypes};
use super::envelope::{Accessors, BuiltIns, Envelopes, Faults, Traffic, merge};
use super::parts::{is_undefined, request_parts};
use super::{Compiled, Offers, profile};
use crate::components::SchemaSet;
use crate::definitions::{
    Binding, Operation, Policy, SoapVersion, Style, TransmissionKind, Uncallable,
};
use crate::document::Position;
use crate::name::XSD_NAMESPACE;
use crate::work::CHARACTERS_PER_UNIT;
use crate::wsdl::{self, BindingKind, BindingMessage, BindingOperation, Wsdl};
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

mod action;
mod message;

/// The number of names that are compared for one unit of work.
const COMPARED_PER_UNIT: usize = 32;

/// The rule that each operation of a binding is in its port type and has the same messages.
const OPERATION_RULE: &str = "WSDL 1.1 §2.5";
/// The rule that a part named in a binding is in its message.
const PART_RULE: &str = "WSDL 1.1 §2.3";

/// The resolved bindings of a WSDL and their Plan.
#[derive(Debug)]
pub(crate) struct BoundBindings {
    pub(crate) compiled: Compiled,
    pub(crate) bindings: IndexMap<ExpandedName, Arc<Binding>>,
    pub(crate) notes: Vec<(Option<Position>, String)>,
}

/// Compiles the elements and types of messages, then every SOAP binding. Errors in a binding that no port uses are tolerated.
/// Unless loading is strict, an operation with an undefined reference is ignored.
///
/// # Errors
/// If an element or type in a message of a used binding cannot be compiled; in strict loading also if a name is undefined.
pub(crate) fn bind_all(wsdl: &Wsdl, schemas: &SchemaSet, offers: Offers) -> Result<BoundBindings> {
    let ports = wsdl.services.values().flat_map(|service| &service.ports);
    let used: HashSet<&ExpandedName> = ports
        .filter_map(|port| wsdl::find(&wsdl.bindings, &port.binding))
        .map(|(name, _)| name)
        .collect();
    let mut compiler = request_parts(wsdl, &used, schemas, offers)?;
    let built_ins = BuiltIns {
        boolean: compiler.type_named(&ExpandedName::new(XSD_NAMESPACE, "boolean"))?,
        name: compiler.type_named(&ExpandedName::new(XSD_NAMESPACE, "QName"))?,
        string: compiler.type_named(&ExpandedName::new(XSD_NAMESPACE, "string"))?,
        uri: compiler.type_named(&ExpandedName::new(XSD_NAMESPACE, "anyURI"))?,
    };
    let encoding = match wsdl.bindings.iter().any(|(_, binding)| is_encoded(binding)) {
        true => Some(EncodingTypes {
            any: compiler.type_named(&ExpandedName::new(XSD_NAMESPACE, "anyType"))?,
            string: built_ins.string,
        }),
        false => None,
    };
    for version in [SoapVersion::Soap11, SoapVersion::Soap12] {
        compiler
            .builder()
            .prefix(version.envelope_namespace(), "soap");
    }
    let is_strict = compiler.is_strict();
    let mut compiled = compiler.finish()?;
    let mut bindings = IndexMap::new();
    let mut binder = Binder {
        wsdl,
        schemas,
        elements: &compiled.elements,
        types: &compiled.types,
        arrays: &compiled.arrays,
        encoding,
        encoded: HashMap::new(),
        builder: &mut compiled.builder,
        is_strict,
        envelopes: Envelopes::new(built_ins),
        parts: HashMap::new(),
        wrappers: HashMap::new(),
        notes: Vec::new(),
    };
    for (name, raw) in &wsdl.bindings {
        match binder.bind(raw) {
            Ok(bound) => bindings.extend(bound.map(|bound| (name.clone(), Arc::new(bound)))),
            Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => return Err(error),
            Err(error) if used.contains(name) && (is_strict || !is_loose_end(&error)) => {
                return Err(error);
            }
            Err(error) => binder.notes.push((
                Some(raw.place),
                format!("binding \"{name}\" is ignored: {error}"),
            )),
        }
    }
    let notes = binder.notes;
    Ok(BoundBindings {
        compiled,
        bindings,
        notes,
    })
}

/// True if the error is an undefined reference in the WSDL.
fn is_loose_end(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Rule { rule, .. } => matches!(*rule, OPERATION_RULE | PART_RULE),
        _ => is_undefined(error),
    }
}

/// The key of an rpc wrapper: namespace, local name, order of the parts, and the parts. Wrappers with the same key are the
/// same element.
type WrapperKey = (String, String, Accessors, Vec<(ElementId, bool)>);

/// Resolves bindings. All types must be defined already.
#[derive(Debug)]
struct Binder<'a> {
    wsdl: &'a Wsdl,
    schemas: &'a SchemaSet,
    elements: &'a HashMap<ExpandedName, ElementId>,
    types: &'a HashMap<ExpandedName, TypeId>,
    arrays: &'a HashMap<TypeId, ArrayInfo>,
    /// The types that encoded messages need, if there are such messages.
    encoding: Option<EncodingTypes>,
    encoded: HashMap<SoapVersion, EncodedVariants>,
    builder: &'a mut PlanBuilder,
    is_strict: bool,
    envelopes: Envelopes,
    /// The elements created for parts that have a type. Two bindings of a port type share them.
    parts: HashMap<(String, String, TypeId, bool), ElementId>,
    /// The elements created for rpc messages. Two bindings of a port type share them.
    wrappers: HashMap<WrapperKey, ElementId>,
    notes: Vec<(Option<Position>, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Direction {
    Request,
    Response,
}

/// An operation as declared in the binding and in the port type.
type Matched<'a> = (&'a BindingOperation, &'a wsdl::RawOperation);

/// A part and its element in the Body.
type Placed<'a> = (&'a wsdl::RawPart, ElementId);

/// The state of resolving one binding.
struct Work<'a> {
    port_type: &'a ExpandedName,
    namespace: Arc<str>,
    version: SoapVersion,
    request: Traffic,
    response: Traffic,
    details: Vec<ElementId>,
    /// The element of the independent values that may follow a Fault, if a detail is encoded.
    independent: Option<ElementId>,
    /// The children of each rpc wrapper, merged over all operations with the same wrapper name.
    shapes: IndexMap<(Direction, String, String), Vec<(ElementId, bool)>>,
}

impl Work<'_> {
    fn traffic(&mut self, direction: Direction) -> &mut Traffic {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }
}

impl<'a> Binder<'a> {
    /// Resolves a binding. Returns `None` if it is not a SOAP binding.
    ///
    /// # Errors
    /// If a name that the binding uses is undefined.
    fn bind(&mut self, raw: &'a wsdl::RawBinding) -> Result<Option<Binding>> {
        let BindingKind::Soap { version, transport } = &raw.kind else {
            return Ok(None);
        };
        let documents = self.schemas.documents();
        let (port_type_name, port_type) = wsdl::resolve(
            &self.wsdl.port_types,
            &raw.port_type,
            Sort::PortType,
            documents,
        )?;
        let work_of_each = work_of_operation(raw, port_type_name, port_type);
        let mut uncallable = Vec::new();
        let mut callable: Vec<Matched<'a>> = Vec::new();
        for (index, operation) in raw.operations.iter().enumerate() {
            self.schemas.charge(work_of_each, operation.place)?;
            let matched = self
                .matching(port_type, raw, index)
                .ok_or_else(|| self.no_operation(operation, port_type_name));
            let Some(matched) = self.unless_loose(operation, matched)? else {
                continue;
            };
            match matched.kind {
                TransmissionKind::OneWay | TransmissionKind::RequestResponse => {
                    callable.push((operation, matched));
                }
                kind => uncallable.push(Uncallable {
                    name: operation.name.clone(),
                    kind,
                }),
            }
        }
        let mut work = Work {
            port_type: port_type_name,
            namespace: raw.name.namespace.clone(),
            version: *version,
            request: Traffic::default(),
            response: Traffic::default(),
            details: Vec::new(),
            independent: None,
            shapes: IndexMap::new(),
        };
        let mut shaped = Vec::with_capacity(callable.len());
        for matched in callable {
            let done = self.shape(&mut work, matched);
            shaped.extend(self.unless_loose(matched.0, done)?.map(|()| matched));
        }
        let mut operations = Vec::with_capacity(shaped.len());
        for matched in shaped {
            let operation = self.operation(&mut work, matched);
            operations.extend(self.unless_loose(matched.0, operation)?);
        }
        if self.is_strict {
            profile::of_binding(self.schemas, raw, &operations)?;
        }
        Ok(Some(Binding {
            name: raw.name.local.to_string(),
            namespace: raw.name.namespace.to_string(),
            port_type: port_type_name.local.to_string(),
            version: *version,
            transport: transport.clone(),
            operations,
            uncallable,
            request: self
                .envelopes
                .envelope(self.builder, *version, &work.request, Faults::None),
            response: self.envelopes.envelope(
                self.builder,
                *version,
                &work.response,
                Faults::Declared(&work.details, work.independent),
            ),
            policies: raw.policies.clone(),
            addressing: raw.addressing,
            mtom: raw.mtom,
            documentation: raw.documentation.clone(),
        }))
    }

    /// The result for an operation. If it failed because of an undefined reference and that is tolerated, returns `None` and
    /// adds a note.
    fn unless_loose<T>(
        &mut self,
        operation: &BindingOperation,
        made: Result<T>,
    ) -> Result<Option<T>> {
        match made {
            Ok(made) => Ok(Some(made)),
            Err(error) if is_loose_end(&error) && !self.is_strict => {
                let note = format!("operation \"{}\" is ignored: {error}", operation.name);
                self.ignored(note, operation.place)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Adds a note about what is ignored.
    ///
    /// # Errors
    /// If the budget of loading is used up: a note may have names of long namespaces, again and again.
    fn ignored(&mut self, note: String, place: Position) -> Result<()> {
        self.schemas
            .charge(2 * note.len() / CHARACTERS_PER_UNIT, place)?;
        self.notes.push((Some(place), note));
        Ok(())
    }

    /// Finds the operation of the port type for operation number `index` of the binding, by its name. Overloaded operations
    /// are distinguished by the names of input and output, or else by their order. (WSDL 1.1 §2.5)
    fn matching(
        &self,
        port_type: &'a wsdl::RawPortType,
        raw: &wsdl::RawBinding,
        index: usize,
    ) -> Option<&'a wsdl::RawOperation> {
        let operation = &raw.operations[index];
        let candidates: Vec<_> = port_type
            .operations
            .iter()
            .filter(|one| one.name == operation.name)
            .collect();
        if candidates.len() < 2 {
            return candidates.first().copied();
        }
        let named = |one: &wsdl::RawOperation| {
            let fits = |stated: &Option<String>, used: &Option<wsdl::Use>, default: String| {
                let name = used
                    .as_ref()
                    .map(|used| used.name.clone().unwrap_or(default));
                stated.is_none() || *stated == name
            };
            let input = match one.kind {
                TransmissionKind::OneWay => one.name.clone(),
                _ => format!("{}Request", one.name),
            };
            fits(&operation.input.name, &one.input, input)
                && fits(
                    &operation.output.name,
                    &one.output,
                    format!("{}Response", one.name),
                )
        };
        let by_name: Vec<_> = candidates.iter().filter(|one| named(one)).collect();
        if let [only] = by_name[..] {
            return Some(only);
        }
        let ordinal = raw.operations[..index]
            .iter()
            .filter(|one| one.name == operation.name)
            .count();
        candidates.get(ordinal).copied()
    }

    fn no_operation(&self, operation: &BindingOperation, port_type: &ExpandedName) -> Error {
        let problem = format!(
            "port type \"{port_type}\" has no operation \"{}\"",
            operation.name
        );
        self.schemas
            .broken(OPERATION_RULE, problem, operation.place)
    }

    /// Collects the children of the rpc wrappers that an operation uses.
    fn shape(&mut self, work: &mut Work<'_>, (bound, declared): Matched<'a>) -> Result<()> {
        if bound.style != Style::Rpc {
            return Ok(());
        }
        for (direction, side, used) in sides(bound, declared) {
            let key = self.wrapper_name(work, bound, direction);
            let parts = self.body_parts(work.version, side, used, Style::Rpc)?;
            let elements: Vec<ElementId> = parts.iter().map(|&(_, element)| element).collect();
            let shape = (direction, key.0.clone(), key.1.clone());
            let known = work.shapes.get(&shape).map_or(0, Vec::len);
            let compared = known.saturating_mul(elements.len()) / COMPARED_PER_UNIT;
            self.schemas.charge(compared, bound.place)?;
            match work.shapes.get_mut(&shape) {
                Some(known) => merge(self.builder, known, &elements),
                None => {
                    work.shapes.insert(
                        shape,
                        elements
                            .into_iter()
                            .map(|element| (element, true))
                            .collect(),
                    );
                }
            }
        }
        Ok(())
    }

    /// The wrapper of an rpc message: named after the operation, in the namespace of `soap:body`. (WSDL 1.1 §3.5)
    fn wrapper_name(
        &self,
        work: &Work<'_>,
        bound: &BindingOperation,
        direction: Direction,
    ) -> (String, String) {
        let (side, local) = match direction {
            Direction::Request => (&bound.input, bound.name.clone()),
            Direction::Response => (&bound.output, format!("{}Response", bound.name)),
        };
        (
            side.body
                .namespace
                .clone()
                .unwrap_or_else(|| work.namespace.to_string()),
            local,
        )
    }

    /// The policies of a component in the binding and in the port type. Those of a port type are copied for each binding.
    fn joined(
        &self,
        of_binding: &[Policy],
        of_port_type: &[Policy],
        place: Position,
    ) -> Result<Vec<Policy>> {
        let cost = wsdl::cost_of_policies(of_binding) + wsdl::cost_of_policies(of_port_type);
        self.schemas.charge(cost, place)?;
        Ok([of_binding, of_port_type].concat())
    }

    fn operation(&mut self, work: &mut Work<'_>, matched: Matched<'a>) -> Result<Operation> {
        let (bound, declared) = matched;
        let mut input = None;
        let mut output = None;
        for (direction, side, used) in sides(bound, declared) {
            let message = self.message(work, matched, direction, (side, used))?;
            match direction {
                Direction::Request => input = Some(message),
                Direction::Response => output = Some(message),
            }
        }
        let faults = self.faults(work, matched)?;
        let Some(input) = input else {
            return Err(self.schemas.broken(
                OPERATION_RULE,
                format!("operation \"{}\" has no input message", bound.name),
                declared.place,
            ));
        };
        let encoded = is_operation_encoded(bound);
        Ok(Operation {
            name: bound.name.clone(),
            soap_action: bound.soap_action.clone(),
            style: bound.style,
            encoded,
            is_safe: declared.is_safe,
            documentation: declared
                .documentation
                .clone()
                .or_else(|| bound.documentation.clone()),
            policies: self.joined(&bound.policies, &declared.policies, bound.place)?,
            input,
            output,
            faults,
            responses: bound.responses,
        })
    }
}

/// True if a message of the binding is encoded.
fn is_encoded(binding: &wsdl::RawBinding) -> bool {
    binding.operations.iter().any(is_operation_encoded)
}

/// True if a Body, a header block or the detail of a fault is encoded.
fn is_operation_encoded(operation: &BindingOperation) -> bool {
    let is_encoded = |message: &BindingMessage| {
        let mut headers = message.headers.iter().chain(&message.header_faults);
        message.body.encoded || headers.any(|header| header.encoded)
    };
    is_encoded(&operation.input)
        || is_encoded(&operation.output)
        || operation.faults.iter().any(|fault| fault.encoded)
}

/// The units of work of each operation of a binding, beside those of its messages.
fn work_of_operation(
    binding: &wsdl::RawBinding,
    port_type_name: &ExpandedName,
    port_type: &wsdl::RawPortType,
) -> usize {
    // Operations are compared by name: with those of the port type first, with the branches of the Body later.
    let compared = port_type.operations.len() + binding.operations.len();
    // The namespaces are copied into names of wrappers and into default actions.
    let copied = 4 * binding.name.namespace.len() + 2 * port_type_name.namespace.len();
    1 + compared / COMPARED_PER_UNIT + copied / CHARACTERS_PER_UNIT
}

/// The directions in which an operation has a message.
fn sides<'a>(
    bound: &'a BindingOperation,
    declared: &'a wsdl::RawOperation,
) -> Vec<(Direction, &'a BindingMessage, &'a wsdl::Use)> {
    let input = declared
        .input
        .as_ref()
        .map(|used| (Direction::Request, &bound.input, used));
    let output = declared
        .output
        .as_ref()
        .map(|used| (Direction::Response, &bound.output, used));
    input.into_iter().chain(output).collect()
}
