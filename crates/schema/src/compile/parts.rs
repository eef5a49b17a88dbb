//! Requests the elements and types of message parts from the compiler.

use bsoap_datatypes::Datatype;
use foldhash::{HashSet, HashSetExt as _};

use super::{Compiler, Offers};
use crate::components::{self, SchemaSet, Strictness};
use crate::definitions::TransmissionKind;
use crate::name::XSD_NAMESPACE;
use crate::wsdl::{self, BindingKind, PartContent, Wsdl};
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

/// A compiler that has compiled the elements and types of messages. It compiles first those that ports refer to, then all
/// others and all global elements, as far as they are valid.
pub(super) fn request_parts<'s>(
    wsdl: &Wsdl,
    used: &HashSet<&ExpandedName>,
    schemas: &'s SchemaSet,
    offers: Offers,
) -> Result<Compiler<'s>> {
    let needed = needed_messages(wsdl, used);
    let (needed, others): (Vec<_>, Vec<_>) = wsdl
        .messages
        .iter()
        .partition(|(name, _)| needed.contains(name));
    let mut compiler = Compiler::new(schemas).offering(offers);
    if let Err(error) = request_all(&needed, &mut compiler) {
        if compiler.is_strict() || !is_undefined(&error) {
            return Err(error);
        }
        // The error left types undefined. Start again, with `anyType` for undefined references.
        compiler = Compiler::new(schemas).offering(offers);
        compiler.tolerate();
        request_all(&needed, &mut compiler)?;
        if let Some(error) = compiler.warnings.iter().find(|error| !is_undefined(error)) {
            return Err(error.clone());
        }
    }
    compiler.tolerate();
    // Errors here are reported where the part is used.
    for part in others.iter().flat_map(|(_, message)| &message.parts) {
        let _ = request(&mut compiler, part);
    }
    for element in schemas.global_elements() {
        let _ = compiler.global_element(&element.name);
    }
    Ok(compiler)
}

/// Requests the parts of messages. A part with an undefined reference is skipped: its operation will be ignored, with a note.
fn request_all(
    messages: &[(&ExpandedName, &wsdl::RawMessage)],
    compiler: &mut Compiler<'_>,
) -> Result<()> {
    for part in messages.iter().flat_map(|(_, message)| &message.parts) {
        match request(compiler, part) {
            Ok(Some(error)) if compiler.is_strict() || !is_undefined(&error) => return Err(error),
            Ok(_) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Requests the element or type of a part. Returns the error if its name is undefined.
///
/// # Errors
/// If the name is defined, but the component cannot be compiled.
fn request(compiler: &mut Compiler<'_>, part: &wsdl::RawPart) -> Result<Option<Error>> {
    let schemas = compiler.schemas();
    let (reference, done) = match &part.content {
        PartContent::Element(reference) => {
            let Some(name) = reference
                .candidates()
                .find(|name| schemas.named_element(name).is_some())
            else {
                return Ok(Some(undefined(schemas, Sort::Element, reference)));
            };
            (reference, compiler.global_element(name).map(|_| ()))
        }
        PartContent::Type(reference) => {
            let is_known =
                |name: &&ExpandedName| schemas.named_type(name).is_some() || is_built_in(name);
            let Some(name) = reference.candidates().find(is_known) else {
                return Ok(Some(undefined(schemas, Sort::Type, reference)));
            };
            (reference, compiler.type_named(name).map(|_| ()))
        }
        PartContent::Neither => return Ok(None),
    };
    done.map(|()| None)
        .map_err(|error| error.at(schemas.documents().spell(reference.place)))
}

fn is_built_in(name: &ExpandedName) -> bool {
    *name.namespace == *XSD_NAMESPACE
        && (&*name.local == "anyType" || Datatype::from_name(&name.local).is_some())
}

/// True if the error is an undefined reference although all documents were loaded.
pub(super) fn is_undefined(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Undefined { cause: None, .. } | ErrorKind::UndeclaredPrefix { .. }
    )
}

pub(super) fn undefined(schemas: &SchemaSet, sort: Sort, reference: &wsdl::RawReference) -> Error {
    schemas.undefined(
        sort,
        &components::Reference {
            name: reference.name.clone(),
            place: reference.place,
        },
    )
}

/// The messages that the used bindings refer to.
fn needed_messages<'a>(wsdl: &'a Wsdl, used: &HashSet<&ExpandedName>) -> HashSet<&'a ExpandedName> {
    let mut needed = HashSet::new();
    let mut need = |reference: &wsdl::RawReference| {
        needed.extend(
            reference
                .candidates()
                .find_map(|name| wsdl.messages.get_key_value(name))
                .map(|(name, _)| name),
        );
    };
    let is_used = |(name, binding): &(&ExpandedName, &wsdl::RawBinding)| {
        used.contains(name) && matches!(binding.kind, BindingKind::Soap { .. })
    };
    for (_, binding) in wsdl.bindings.iter().filter(is_used) {
        for side in binding
            .operations
            .iter()
            .flat_map(|operation| [&operation.input, &operation.output])
        {
            side.headers
                .iter()
                .chain(&side.header_faults)
                .for_each(|header| need(&header.message));
        }
        let port_type = binding
            .port_type
            .candidates()
            .find_map(|name| wsdl.port_types.get(name));
        let bound: HashSet<&str> = binding
            .operations
            .iter()
            .map(|bound| bound.name.as_str())
            .collect();
        for operation in port_type
            .into_iter()
            .flat_map(|port_type| &port_type.operations)
        {
            if bound.contains(operation.name.as_str())
                && matches!(
                    operation.kind,
                    TransmissionKind::OneWay | TransmissionKind::RequestResponse
                )
            {
                operation
                    .input
                    .iter()
                    .chain(&operation.output)
                    .chain(&operation.faults)
                    .for_each(|used| need(&used.message));
            }
        }
    }
    needed
}

impl Compiler<'_> {
    pub(super) fn is_strict(&self) -> bool {
        self.set.strictness == Strictness::Strict
    }

    /// Makes errors become warnings from now on.
    fn tolerate(&mut self) {
        self.is_tentative = true;
    }
}
