//! Prefixes that a document uses and does not declare: `wsaw:Action` without `xmlns:wsaw`, as in WSDLs that were written by hand.
//! Such a document is not well-formed, but everybody knows which namespace is meant. Only strict loading refuses it.

use memchr::memmem;

use super::Document;
use crate::name::WSDL_NAMESPACE;

/// The prefixes that are declared, and their namespaces.
const USUAL: [(&str, &str); 4] = [
    ("wsaw", "http://www.w3.org/2006/05/addressing/wsdl"),
    ("wsam", "http://www.w3.org/2007/05/addressing/metadata"),
    ("wsdl", WSDL_NAMESPACE),
    ("wsp", "http://schemas.xmlsoap.org/ws/2004/09/policy"),
];

impl Document {
    /// The usual prefixes that the document seems to use and nowhere declares, with their namespaces.
    pub(crate) fn undeclared_prefixes(&self) -> Vec<(&'static str, &'static str)> {
        let lacks = |(prefix, _): &(&str, &str)| {
            is_used(&self.text, prefix) && !is_declared(&self.text, prefix)
        };
        USUAL.into_iter().filter(lacks).collect()
    }

    /// The document with declarations of these prefixes in its first tag. `None` if that is not found, as behind a DOCTYPE.
    pub(crate) fn declaring(&self, prefixes: &[(&str, &str)]) -> Option<Self> {
        let at = end_of_first_name(&self.text)?;
        let declarations = prefixes
            .iter()
            .map(|(prefix, namespace)| format!(" xmlns:{prefix}=\"{namespace}\""));
        let mut text = self.text.clone();
        text.insert_str(at, &declarations.collect::<String>());
        Some(Self {
            location: self.location.clone(),
            text,
            lines: Default::default(),
        })
    }
}

/// Whether a text has a name with a prefix where an element or an attribute may be.
fn is_used(text: &str, prefix: &str) -> bool {
    let name = format!("{prefix}:");
    memmem::find_iter(text.as_bytes(), name.as_bytes()).any(|at| {
        let before = at.checked_sub(1).map(|at| text.as_bytes()[at]);
        before.is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'<' | b'/'))
    })
}

/// Whether a text seems to declare a prefix.
fn is_declared(text: &str, prefix: &str) -> bool {
    let declaration = format!("xmlns:{prefix}");
    memmem::find_iter(text.as_bytes(), declaration.as_bytes()).any(|at| {
        let behind = text.as_bytes().get(at + declaration.len());
        behind.is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'=')
    })
}

/// Where the name in the first start tag ends.
fn end_of_first_name(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')?;
        let rest = &text[at..];
        let end = match rest {
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<!") => return None,
            _ => {
                let is_end = |char: char| char.is_whitespace() || matches!(char, '>' | '/');
                return Some(at + rest.find(is_end)?);
            }
        };
        at += rest.find(end)? + end.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LoadLimits;

    #[test]
    fn usual_prefixes_are_declared_in_the_first_tag() {
        let limits = LoadLimits::default();
        for (text, expected) in [
            ("<?xml version='1.0'?><!-- <x> --><a wsaw:Action='1'/>", 1),
            ("<a><wsaw:b wsdl:required='1'></wsaw:b></a>", 2),
            ("<a xmlns:wsdli='urn:i'><b wsdl:c='1'/></a>", 1),
            ("<a>wsaw:b, xwsaw:c</a>", 0),
            ("<a xmlns:wsaw='urn:x' wsaw:b='1'/>", 0),
        ] {
            let document = Document::new("a.wsdl", text.as_bytes()).expect("text");
            let lacking = document.undeclared_prefixes();
            assert_eq!(lacking.len(), expected, "{text}");
            let declaring = document.declaring(&lacking).expect("a tag");
            assert!(declaring.parse(&limits).is_ok(), "{}", declaring.text());
        }
        let document = Document::new("a.wsdl", b"<!DOCTYPE a><a wsaw:b='1'/>").expect("text");
        assert!(
            document
                .declaring(&document.undeclared_prefixes())
                .is_none()
        );
    }
}
