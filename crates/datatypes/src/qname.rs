//! `xs:QName` and `xs:NOTATION` (XSD 1.0 Part 2 §3.2.18, §3.2.19): the lexical form has a prefix,
//! the value has a namespace, and the declarations in scope map one to the other.

use std::fmt;
use std::sync::Arc;

use crate::name::is_nc_name;

/// The namespace declarations in scope at a text.
pub trait NamespaceContext {
    /// The namespace bound to `prefix`, `""` being the default namespace. `None` if there is none.
    fn resolve(&self, prefix: &str) -> Option<&str>;
}

/// No declarations: only names without prefix resolve, to no namespace.
///
/// ```
/// use bsoap_datatypes::qname::{self, NoNamespaces};
///
/// assert_eq!(qname::resolve("a", &NoNamespaces).unwrap().to_string(), "a");
/// assert_eq!(qname::resolve("p:a", &NoNamespaces), None);
/// ```
#[derive(Copy, Clone, Default, Debug)]
pub struct NoNamespaces;

impl NamespaceContext for NoNamespaces {
    fn resolve(&self, _prefix: &str) -> Option<&str> {
        None
    }
}

/// Pairs of prefix and namespace; the last pair with a prefix counts.
impl NamespaceContext for [(&str, &str)] {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.iter()
            .rev()
            .find(|(known, _)| *known == prefix)
            .map(|(_, namespace)| *namespace)
    }
}

impl<const N: usize> NamespaceContext for [(&str, &str); N] {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        NamespaceContext::resolve(self.as_slice(), prefix)
    }
}

/// A local name and the namespace it is from: what a QName means.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExpandedName {
    namespace: Option<Arc<str>>,
    local: Arc<str>,
}

impl ExpandedName {
    /// A name from these parts; an empty namespace is none.
    pub fn new(namespace: Option<&str>, local: &str) -> Self {
        Self {
            namespace: namespace
                .filter(|namespace| !namespace.is_empty())
                .map(Arc::from),
            local: local.into(),
        }
    }

    /// The namespace, if it is in one.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The name without its namespace.
    pub fn local(&self) -> &str {
        &self.local
    }
}

/// `{namespace}local`, or `local` alone.
impl fmt::Display for ExpandedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{{{namespace}}}{}", self.local),
            None => f.write_str(&self.local),
        }
    }
}

/// The prefix (`""` if there is none) and the local name, if this is a lexical form.
///
/// ```
/// use bsoap_datatypes::qname;
///
/// assert_eq!(qname::split("soap:Envelope"), Some(("soap", "Envelope")));
/// assert_eq!(qname::split("Envelope"), Some(("", "Envelope")));
/// assert_eq!(qname::split("a:b:c"), None);
/// ```
pub fn split(text: &str) -> Option<(&str, &str)> {
    match text.split_once(':') {
        Some((prefix, local)) => {
            (is_nc_name(prefix) && is_nc_name(local)).then_some((prefix, local))
        }
        None => is_nc_name(text).then_some(("", text)),
    }
}

/// The name that a lexical form denotes. `None` if it is not a lexical form, or its prefix is not bound. A name
/// without prefix is in the default namespace, where there is one.
///
/// ```
/// use bsoap_datatypes::qname;
///
/// let context = [("s", "http://schemas.xmlsoap.org/soap/envelope/")];
/// let name = qname::resolve("s:Client", &context).unwrap();
/// assert_eq!(name.to_string(), "{http://schemas.xmlsoap.org/soap/envelope/}Client");
/// ```
pub fn resolve(text: &str, namespaces: &dyn NamespaceContext) -> Option<ExpandedName> {
    let (prefix, local) = split(text)?;
    is_bound(prefix, namespaces).then(|| ExpandedName::new(namespace_of(prefix, namespaces), local))
}

/// Is the prefix bound to a namespace? The empty one may also be bound to none.
pub(crate) fn is_bound(prefix: &str, namespaces: &dyn NamespaceContext) -> bool {
    prefix.is_empty() || namespace_of(prefix, namespaces).is_some()
}

fn namespace_of<'a>(prefix: &str, namespaces: &'a dyn NamespaceContext) -> Option<&'a str> {
    // `xml` is bound in every document. (Namespaces in XML 1.0 §3)
    let built_in = (prefix == "xml").then_some("http://www.w3.org/XML/1998/namespace");
    namespaces.resolve(prefix).or(built_in)
}
