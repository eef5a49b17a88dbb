//! The header blocks that are sent with faults: those that the WSDL declares by the names of their parts. (SOAP 1.1 §4.4)

use bsoap_codec::{Object, Value};
use bsoap_schema::{Binding, HeaderPart};

use super::{Sections, alone};

impl Sections<'_> {
    /// The header blocks of a fault by their keys in the Header.
    pub(crate) fn wrap_fault_headers(&self, binding: &Binding, headers: &Object) -> Object {
        let key_of = |name: &str| {
            let part = header_faults(binding).find(|part| part.name == name);
            part.map_or(name, |part| self.header_key(part.element))
                .to_owned()
        };
        let blocks = headers.iter();
        blocks
            .map(|(name, block)| (key_of(name), block.clone()))
            .collect()
    }

    /// The header blocks that came with a fault, by the names of their parts.
    pub(crate) fn unwrap_fault_headers(&self, binding: &Binding, header: Value) -> Object {
        let Value::Object(blocks) = header else {
            return Object::new();
        };
        let named = blocks.into_iter().filter(|(key, _)| !key.starts_with('@'));
        let named = named.map(|(key, block)| {
            let part = header_faults(binding).find(|part| self.header_key(part.element) == key);
            (part.map_or(key, |part| part.name.as_str().into()), block)
        });
        alone(named.collect())
    }
}

/// The header blocks of faults that the operations of a binding declare.
pub(crate) fn header_faults(binding: &Binding) -> impl Iterator<Item = &HeaderPart> {
    binding.operations.iter().flat_map(|operation| {
        let output = operation.output.iter();
        std::iter::once(&operation.input)
            .chain(output)
            .flat_map(|message| &message.header_faults)
    })
}
