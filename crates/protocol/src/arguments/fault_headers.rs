//! The header blocks that are sent with faults: those that the WSDL declares by the names of their parts. (SOAP 1.1 §4.4)
//!
//! Two operations may give one name to different blocks. The called operation is asked first; the others of the binding are, too,
//! since a block of theirs may come with a fault, and a request may be refused before its operation is known.

use std::sync::Arc;

use bsoap_codec::plan::Plan;
use bsoap_codec::{DecodeOptions, Decoder, Object, Value, View};
use bsoap_schema::{AddressingVersion, Binding, HeaderPart, Operation, SoapVersion};

use super::{Sections, alone};
use crate::header::HeaderBlock;
use crate::name::element_name;

impl Sections<'_> {
    /// The header blocks of a fault of the called operation, if it is known, by their keys in the Header.
    pub(crate) fn wrap_fault_headers(
        &self,
        binding: &Binding,
        called: Option<&Operation>,
        headers: &Object,
    ) -> Object {
        let key_of = |name: &str| {
            let part = header_faults(binding, called).find(|part| part.name == name);
            part.map_or(name, |part| self.header_key(part.element))
                .to_owned()
        };
        let blocks = headers.iter();
        blocks
            .map(|(name, block)| (key_of(name), block.clone()))
            .collect()
    }

    /// The header blocks that came with a fault of the called operation, by the names of their parts.
    pub(crate) fn unwrap_fault_headers(
        &self,
        binding: &Binding,
        called: &Operation,
        header: Value,
    ) -> Object {
        let Value::Object(mut blocks) = header else {
            return Object::new();
        };
        if let Some(Value::Array(undeclared)) = blocks.get_mut(ANY) {
            undeclared.retain(|block| !is_of_protocol(binding, block));
            if undeclared.is_empty() {
                blocks.remove(ANY);
            }
        }
        let named = blocks.into_iter().filter(|(key, _)| !key.starts_with('@'));
        let named = named.map(|(key, block)| {
            let mut parts = header_faults(binding, Some(called));
            let part = parts.find(|part| self.header_key(part.element) == key);
            (part.map_or(key, |part| part.name.as_str().into()), block)
        });
        alone(named.collect())
    }
}

/// Adds header blocks that came with a fault of the called operation as XML: the declared ones by the names of their parts, if they
/// match their declarations.
pub(crate) fn add_xml_blocks(
    headers: &mut Object,
    plan: &Arc<Plan>,
    (binding, called): (&Binding, &Operation),
    blocks: impl IntoIterator<Item = String>,
) {
    let mut undeclared = match headers.remove(ANY) {
        Some(Value::Array(blocks)) => blocks,
        _ => Vec::new(),
    };
    for xml in blocks {
        let block = Value::from(xml);
        if is_of_protocol(binding, &block) {
            continue;
        }
        match declared_block(plan, (binding, called), &block) {
            Some((name, value)) if headers.get(name).is_none() => drop(headers.insert(name, value)),
            _ => undeclared.push(block),
        }
    }
    if !undeclared.is_empty() {
        headers.insert(ANY, Value::Array(undeclared));
    }
}

/// The name of the part of a block that is given as XML, and its value. `None` if no part declares it, or it does not match.
fn declared_block<'b>(
    plan: &Arc<Plan>,
    (binding, called): (&'b Binding, &'b Operation),
    block: &Value,
) -> Option<(&'b str, Value)> {
    let xml = block.as_str()?;
    let found = HeaderBlock::of_xml(binding.version, xml).ok()?;
    let part = header_faults(binding, Some(called))
        .find(|part| element_name(plan, part.element) == found.name)?;
    let mut decoder = Decoder::new(Arc::clone(plan), DecodeOptions::default());
    let record = decoder.decode(part.element, xml.as_bytes()).ok()?;
    let value = Object::from_iter([(
        part.name.as_str(),
        Value::Array(vec![View::of(&record).to_value().ok()?]),
    )]);
    alone(value)
        .remove(&part.name)
        .map(|value| (&*part.name, value))
}

/// The member with blocks that the WSDL does not declare, as XML.
const ANY: &str = "#any";

/// True for blocks of SOAP and of WS-Addressing: they are about this one message, and must not be sent on with its fault.
fn is_of_protocol(binding: &Binding, block: &Value) -> bool {
    let namespaces = [
        SoapVersion::Soap11.envelope_namespace(),
        SoapVersion::Soap12.envelope_namespace(),
        AddressingVersion::Recommendation.namespace(),
        AddressingVersion::Submission.namespace(),
    ];
    let xml = block.as_str().unwrap_or_default();
    HeaderBlock::of_xml(binding.version, xml)
        .is_ok_and(|block| namespaces.contains(&&*block.name.namespace))
}

/// The header blocks of faults that the operations of a binding declare, those of the called operation first.
pub(crate) fn header_faults<'b>(
    binding: &'b Binding,
    called: Option<&'b Operation>,
) -> impl Iterator<Item = &'b HeaderPart> {
    let operations = called.into_iter().chain(&binding.operations);
    operations.flat_map(|operation| {
        let output = operation.output.iter();
        std::iter::once(&operation.input)
            .chain(output)
            .flat_map(|message| &message.header_faults)
    })
}
