//! Names as text: `local`, or `{namespace}local` where the namespace matters.

use bsoap_datatypes::{Datatype, NamespaceContext, SimpleType, Variety};
use bsoap_xml::{NameId, Vocabulary};

/// The namespace of `xsi:type` and `xsi:nil`.
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Namespace and local name of `{namespace}local`; `None` for a name without braces.
///
/// A namespace name may hold a `}`, a local name never does: the last one ends the namespace.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix('{')?.rsplit_once('}')
}

/// Whether values are names, or lists of names: a Plan has their default and fixed values as `{namespace}local`.
pub(crate) fn is_names(simple: &SimpleType) -> bool {
    match simple.variety() {
        Variety::Atomic(datatype) => matches!(datatype, Datatype::QName | Datatype::Notation),
        Variety::List(item) => matches!(item.variety(), Variety::Atomic(_)) && is_names(item),
        Variety::Union(_) => false,
    }
}

/// Names as `{namespace}local`, separated by white space, written with prefixes: `n0:local`. A Plan has the default and fixed values
/// of names in the first form, and datatypes read the second.
#[derive(Debug)]
pub(crate) struct Prefixed<'a> {
    pub(crate) text: String,
    namespaces: Vec<&'a str>,
}

impl<'a> Prefixed<'a> {
    pub(crate) fn new(names: &'a str) -> Self {
        let (mut text, mut namespaces) = (String::new(), Vec::new());
        let mut rest = names.trim_start();
        while !rest.is_empty() {
            // A namespace name may hold spaces.
            let from = match rest.starts_with('{') {
                true => rest.find('}').unwrap_or(0),
                false => 0,
            };
            let end = rest[from..].find(char::is_whitespace);
            let (name, others) = rest.split_at(end.map_or(rest.len(), |end| from + end));
            rest = others.trim_start();
            if !text.is_empty() {
                text.push(' ');
            }
            match split(name) {
                Some((namespace, local)) => {
                    text.push_str(&format!("n{}:{local}", namespaces.len()));
                    namespaces.push(namespace);
                }
                None => text.push_str(name),
            }
        }
        Self { text, namespaces }
    }
}

impl NamespaceContext for Prefixed<'_> {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        let index: usize = prefix.strip_prefix('n')?.parse().ok()?;
        self.namespaces.get(index).copied()
    }
}

/// Whether `name`, local or as `{namespace}local`, is the name with this number.
pub(crate) fn is_called(vocabulary: &Vocabulary, id: NameId, name: &str) -> bool {
    match split(name) {
        Some(expanded) => expanded == (vocabulary.namespace(id), vocabulary.local(id)),
        None => name == vocabulary.local(id),
    }
}
