//! Expanded names.

use std::fmt;
use std::sync::Arc;

/// The namespace of XML Schema itself.
pub const XSD_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";
/// The namespace of the prefix `xml`.
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace of `xsi:type` and `xsi:nil`.
pub const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// What prefixes are bound to that a document uses and does not declare, unless loading is strict.
pub(crate) const UNDECLARED_NAMESPACE: &str = "urn:bsoap:undeclared-prefix";
/// The same for `xs` and `xsd`: elements with them are those of XML Schema, but names of types are not: what is meant is a guess.
pub(crate) const UNDECLARED_SCHEMA_NAMESPACE: &str = "urn:bsoap:undeclared-prefix:schema";
/// What prefixes mean that are often used without being declared: no other namespace is known by them.
pub(crate) const USUAL_PREFIXES: [(&str, &str); 6] = [
    ("xs", UNDECLARED_SCHEMA_NAMESPACE),
    ("xsd", UNDECLARED_SCHEMA_NAMESPACE),
    ("wsdl", WSDL_NAMESPACE),
    ("wsp", "http://schemas.xmlsoap.org/ws/2004/09/policy"),
    ("wsaw", "http://www.w3.org/2006/05/addressing/wsdl"),
    ("wsam", "http://www.w3.org/2007/05/addressing/metadata"),
];
/// The namespace of WSDL 1.1.
pub const WSDL_NAMESPACE: &str = "http://schemas.xmlsoap.org/wsdl/";
/// The namespace of WSDL 2.0.
pub(crate) const WSDL2_NAMESPACE: &str = "http://www.w3.org/ns/wsdl";
/// The namespace of the encoding of SOAP 1.1.
pub const ENCODING_NAMESPACE: &str = "http://schemas.xmlsoap.org/soap/encoding/";
/// The namespace of the encoding of SOAP 1.2.
pub const ENCODING12_NAMESPACE: &str = "http://www.w3.org/2003/05/soap-encoding";

/// The namespace that a document declares for a prefix, or as the default.
pub(crate) fn declared_namespace<'n>(
    node: roxmltree::Node<'n, '_>,
    prefix: Option<&str>,
) -> Option<&'n str> {
    let namespace = node.lookup_namespace_uri(prefix);
    namespace.filter(|it| ![UNDECLARED_NAMESPACE, UNDECLARED_SCHEMA_NAMESPACE].contains(it))
}

/// The prefixes that a document declares for a node, each with its namespace; the empty one is the default namespace.
pub(crate) fn declared_namespaces<'n, 'i>(
    node: roxmltree::Node<'n, 'i>,
) -> impl Iterator<Item = (&'n str, &'n str)> + use<'n, 'i> {
    let declared = node
        .namespaces()
        .map(|it| (it.name().unwrap_or(""), it.uri()));
    let made_up = [UNDECLARED_NAMESPACE, UNDECLARED_SCHEMA_NAMESPACE, ""];
    declared.filter(move |(_, uri)| !made_up.contains(uri))
}

/// The namespaces of drafts of XML Schema.
const DRAFT_NAMESPACES: [&str; 2] = [
    "http://www.w3.org/1999/XMLSchema",
    "http://www.w3.org/2000/10/XMLSchema",
];

/// The namespace, if it is that of a draft of XML Schema.
pub(crate) fn draft_of(namespace: &str) -> Option<&'static str> {
    DRAFT_NAMESPACES
        .into_iter()
        .find(|draft| *draft == namespace)
}

/// True if it is the namespace of XML Schema, or of one of its drafts, which are read as XML Schema 1.0, or of its usual prefixes.
pub(crate) fn is_schema_namespace(namespace: &str) -> bool {
    [XSD_NAMESPACE, UNDECLARED_SCHEMA_NAMESPACE].contains(&namespace)
        || draft_of(namespace).is_some()
}

/// True if it is the `schema` element of XML Schema or of one of its drafts.
pub(crate) fn is_schema(node: roxmltree::Node<'_, '_>) -> bool {
    node.tag_name().name() == "schema"
        && node.tag_name().namespace().is_some_and(is_schema_namespace)
}

/// The built-in types that drafts of XML Schema call by other names.
const RENAMED: [(&str, &str); 10] = [
    ("timeInstant", "dateTime"),
    ("timeDuration", "duration"),
    ("recurringDate", "gMonthDay"),
    ("recurringDay", "gDay"),
    ("month", "gYearMonth"),
    ("year", "gYear"),
    ("binary", "base64Binary"),
    ("uriReference", "anyURI"),
    ("CDATA", "normalizedString"),
    ("number", "decimal"),
];

/// The name in XML Schema 1.0 of a type or element with this local name in a draft's namespace.
pub(crate) fn name_since_draft(local: &str) -> &str {
    let renamed = RENAMED.iter().find(|(old, _)| *old == local);
    renamed.map_or(local, |(_, new)| new)
}

/// A local name and its namespace (empty for none).
///
/// ```
/// let name = bsoap_schema::ExpandedName::new("urn:shop", "order");
/// assert_eq!(name.to_string(), "{urn:shop}order");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpandedName {
    /// The namespace; empty for none.
    pub namespace: Arc<str>,
    /// The local name.
    pub local: Arc<str>,
}

impl ExpandedName {
    /// The name `{namespace}local`.
    pub fn new(namespace: impl Into<Arc<str>>, local: impl Into<Arc<str>>) -> Self {
        Self {
            namespace: namespace.into(),
            local: local.into(),
        }
    }

    /// Whether it is this name.
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        &*self.namespace == namespace && &*self.local == local
    }
}

impl fmt::Display for ExpandedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.local)
        } else {
            write!(f, "{{{}}}{}", self.namespace, self.local)
        }
    }
}

/// Whether the text is a name without a colon. (Namespaces in XML 1.0, production 4)
pub(crate) fn is_ncname(text: &str) -> bool {
    let start = |c: char| {
        matches!(c, 'A'..='Z' | '_' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
            | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
            | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
            | '\u{10000}'..='\u{EFFFF}')
    };
    let rest = |c: char| {
        start(c)
            || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
    };
    let mut chars = text.chars();
    chars.next().is_some_and(start) && chars.all(rest)
}
