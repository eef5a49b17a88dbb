//! Expanded names of XML elements, used by faults and header blocks.

use std::fmt;
use std::str::FromStr;

use bsoap_codec::plan::{ElementId, Plan};

/// A namespace and a local name. It is printed and parsed as `{namespace}local`.
///
/// ```
/// use bsoap_protocol::Name;
///
/// let name: Name = "{urn:shop}order".parse().unwrap();
/// assert_eq!((name.namespace.as_str(), name.local.as_str()), ("urn:shop", "order"));
/// assert_eq!(name.to_string(), "{urn:shop}order");
/// ```
// Exhaustive: a name is these two. (Namespaces in XML 1.0 §2.1)
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// The namespace name. Empty if there is no namespace.
    pub namespace: String,
    /// The local name.
    pub local: String,
}

impl Name {
    /// Creates a name from a namespace and a local name.
    pub fn new(namespace: impl Into<String>, local: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            local: local.into(),
        }
    }

    /// True if this is the name: its local name, or the expanded name as `{namespace}local`.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.local == name || self.to_string() == name
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.local),
            namespace => write!(f, "{{{namespace}}}{}", self.local),
        }
    }
}

impl FromStr for Name {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let (namespace, local) = match text.strip_prefix('{') {
            Some(rest) => rest.rsplit_once('}').ok_or(NotAName)?,
            None => ("", text),
        };
        if bsoap_xml::is_ncname(local) {
            Ok(Self::new(namespace, local))
        } else {
            Err(NotAName)
        }
    }
}

/// The name of an element of a Plan.
pub(crate) fn element_name(plan: &Plan, element: ElementId) -> Name {
    let name = plan.element(element).name;
    Name::new(
        plan.vocabulary().namespace(name),
        plan.vocabulary().local(name),
    )
}

/// The error of parsing a text that is neither `{namespace}local` nor `local`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAName;

impl fmt::Display for NotAName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not an expanded name: expected {namespace}local, or local alone for no namespace",
        )
    }
}

impl std::error::Error for NotAName {}
