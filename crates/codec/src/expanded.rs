//! Names as text: `local`, or `{namespace}local` where the namespace matters.

use bsoap_xml::{NameId, Vocabulary};

/// The namespace of `xsi:type` and `xsi:nil`.
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Namespace and local name of `{namespace}local`; `None` for a name without braces.
///
/// A namespace name may hold a `}`, a local name never does: the last one ends the namespace.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix('{')?.rsplit_once('}')
}

/// Whether `name`, local or as `{namespace}local`, is the name with this number.
pub(crate) fn is_called(vocabulary: &Vocabulary, id: NameId, name: &str) -> bool {
    match split(name) {
        Some(expanded) => expanded == (vocabulary.namespace(id), vocabulary.local(id)),
        None => name == vocabulary.local(id),
    }
}
