//! Whether two XML messages mean the same.
//!
//! Compared are expanded names, order, values and attributes. Not compared are prefixes, declarations of namespaces, white
//! space between elements, comments, the place of a schema, and a Header without blocks. Values are the same if their
//! characters are, or if some datatype says so: a number, a boolean, a date, a name in a namespace.
//!
//! ```
//! use bsoap_conformance::compare::{Rules, compare};
//!
//! let ours = r#"<a xmlns="urn:x"><b>3.25325E2</b></a>"#;
//! let theirs = r#"<x:a xmlns:x="urn:x"> <x:b>325.325</x:b> </x:a>"#;
//! assert_eq!(compare(theirs, ours, Rules::Literal), Ok(()));
//!
//! let difference = compare(theirs, r#"<a xmlns="urn:x"><c/></a>"#, Rules::Literal).unwrap_err();
//! assert_eq!(difference.to_string(), "at /a/b: expected <{urn:x}b>, found <{urn:x}c>");
//! ```

use std::collections::BTreeMap;
use std::fmt;

use bsoap_datatypes::{Calendar, Datatype, Decimal, boolean, double};
use bsoap_schema::{ENCODING_NAMESPACE, ENCODING12_NAMESPACE, SoapVersion, XSI_NAMESPACE};
use roxmltree::{Document, Node, NodeType};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// `xsi:type` where both sides state it. (It may be left out where it adds nothing; whether that was right only
    /// a schema can show.)
    Literal,
    /// As if the message were literal: without `xsi:type`, `encodingStyle` and the attributes of SOAP's encoding.
    Encoded,
}

/// Where two messages first differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The element of the expected message, as `/Envelope/Body/a/b[2]`.
    pub path: String,
    /// What the expected message has there.
    pub expected: String,
    /// What the other message has there.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference {
            path,
            expected,
            found,
        } = self;
        write!(f, "at {path}: expected {expected}, found {found}")
    }
}

/// Compares two messages.
///
/// # Errors
/// The first difference. A text that is not XML differs from all others.
pub fn compare(expected: &str, found: &str, rules: Rules) -> Result<(), Difference> {
    let no_xml = |expected: String, found: String| Difference {
        path: "/".into(),
        expected,
        found,
    };
    let left = Document::parse(expected)
        .map_err(|error| no_xml(format!("no XML ({error})"), "XML".into()))?;
    let right = Document::parse(found)
        .map_err(|error| no_xml("XML".into(), format!("no XML ({error})")))?;
    let mut pairs = vec![(left.root_element(), right.root_element())];
    while let Some((left, right)) = pairs.pop() {
        compare_tags(left, right, rules)?;
        compare_contents(left, right, &mut pairs)?;
    }
    Ok(())
}

fn compare_tags(left: Node<'_, '_>, right: Node<'_, '_>, rules: Rules) -> Result<(), Difference> {
    if left.tag_name() != right.tag_name() {
        return Err(differ(left, describe(left), describe(right)));
    }
    let (ours, theirs) = (attributes(left, rules), attributes(right, rules));
    for (&name, &value) in &ours {
        match theirs.get(&name) {
            Some(other) if same_value((left, value), (right, other)) => {}
            None if is_type(name) => {}
            other => {
                let other = other.map_or("none".into(), |other| format!("{other:?}"));
                return Err(differ(left, format!("@{} {value:?}", name.1), other));
            }
        }
    }
    let more = theirs
        .iter()
        .find(|(name, _)| !is_type(**name) && !ours.contains_key(*name));
    match more {
        Some((name, value)) => Err(differ(
            left,
            format!("no @{}", name.1),
            format!("{value:?}"),
        )),
        None => Ok(()),
    }
}

type Name<'a> = (&'a str, &'a str);

fn is_type(name: Name<'_>) -> bool {
    name == (XSI_NAMESPACE, "type")
}

/// The attributes that mean something.
fn attributes<'a>(node: Node<'a, '_>, rules: Rules) -> BTreeMap<Name<'a>, &'a str> {
    let is_meant = |&((namespace, local), value): &(Name<'_>, &str)| match (namespace, local) {
        (XSI_NAMESPACE, "schemaLocation" | "noNamespaceSchemaLocation") => false,
        (XSI_NAMESPACE, "nil") => matches!(boolean::parse(value.as_bytes()), Ok(true)),
        (XSI_NAMESPACE, "type") => rules == Rules::Literal,
        (ENCODING_NAMESPACE | ENCODING12_NAMESPACE, _) => rules == Rules::Literal,
        (_, "encodingStyle") if is_envelope(namespace) => rules == Rules::Literal,
        _ => true,
    };
    node.attributes()
        .map(|attribute| {
            let name = (attribute.namespace().unwrap_or(""), attribute.name());
            (name, attribute.value())
        })
        .filter(is_meant)
        .collect()
}

fn is_envelope(namespace: &str) -> bool {
    [SoapVersion::Soap11, SoapVersion::Soap12]
        .iter()
        .any(|version| version.envelope_namespace() == namespace)
}

/// Compares what is between the tags; child elements are left for later.
fn compare_contents<'a, 'd>(
    left: Node<'a, 'd>,
    right: Node<'a, 'd>,
    pairs: &mut Vec<(Node<'a, 'd>, Node<'a, 'd>)>,
) -> Result<(), Difference> {
    let (ours, theirs) = (contents(left), contents(right));
    let from = pairs.len();
    for index in 0..ours.len().max(theirs.len()) {
        match (ours.get(index), theirs.get(index)) {
            (Some(Item::Element(one)), Some(Item::Element(other))) => pairs.push((*one, *other)),
            (Some(Item::Text(one)), Some(Item::Text(other)))
                if same_value((left, one), (right, other)) => {}
            (one, other) => {
                let say = |item: Option<&Item<'_, '_>>| item.map_or("nothing".into(), Item::say);
                let place = match one {
                    Some(Item::Element(node)) => *node,
                    _ => left,
                };
                return Err(differ(place, say(one), say(other)));
            }
        }
    }
    // The first in the text is the first to be compared.
    pairs[from..].reverse();
    Ok(())
}

/// A child element, or the text between two.
enum Item<'a, 'd> {
    Element(Node<'a, 'd>),
    Text(String),
}

impl Item<'_, '_> {
    fn say(&self) -> String {
        match self {
            Self::Element(node) => describe(*node),
            Self::Text(text) => format!("{text:?}"),
        }
    }
}

fn contents<'a, 'd>(node: Node<'a, 'd>) -> Vec<Item<'a, 'd>> {
    let mut items = Vec::new();
    let mut text = String::new();
    let flush = |text: &mut String, items: &mut Vec<Item<'a, 'd>>, alone: bool| {
        if (alone && !text.is_empty()) || !text.trim().is_empty() {
            items.push(Item::Text(std::mem::take(text)));
        }
        text.clear();
    };
    for child in node.children() {
        match child.node_type() {
            NodeType::Text => text.push_str(child.text().unwrap_or("")),
            NodeType::Element if !is_empty_header(child) => {
                flush(&mut text, &mut items, false);
                items.push(Item::Element(child));
            }
            _ => {}
        }
    }
    // White space alone is a value only where no element could have been.
    let alone = items.is_empty() && !text.contains('\n');
    flush(&mut text, &mut items, alone);
    items
}

/// A Header without blocks means what none means.
fn is_empty_header(node: Node<'_, '_>) -> bool {
    node.tag_name().name() == "Header"
        && node.tag_name().namespace().is_some_and(is_envelope)
        && contents(node).is_empty()
}

/// Whether two lexical forms are of one value.
fn same_value(left: (Node<'_, '_>, &str), right: (Node<'_, '_>, &str)) -> bool {
    let (one, other) = (left.1.trim(), right.1.trim());
    left.1 == right.1
        || same_number(one, other)
        || equal(
            boolean::parse(one.as_bytes()),
            boolean::parse(other.as_bytes()),
        )
        || [Datatype::DateTime, Datatype::Date, Datatype::Time]
            .into_iter()
            .any(|datatype| {
                equal(
                    Calendar::parse(datatype, one),
                    Calendar::parse(datatype, other),
                )
            })
        || same_name((left.0, one), (right.0, other))
}

fn equal<T: PartialEq, E>(left: Result<T, E>, right: Result<T, E>) -> bool {
    matches!((left, right), (Ok(left), Ok(right)) if left == right)
}

fn same_number(one: &str, other: &str) -> bool {
    if let (Ok(one), Ok(other)) = (Decimal::parse(one), Decimal::parse(other)) {
        return one == other;
    }
    match (
        double::parse(one.as_bytes()),
        double::parse(other.as_bytes()),
    ) {
        (Ok(one), Ok(other)) => one.to_bits() == other.to_bits(),
        _ => false,
    }
}

/// Whether both are names with prefixes bound to one namespace.
fn same_name(left: (Node<'_, '_>, &str), right: (Node<'_, '_>, &str)) -> bool {
    let expand = |(node, text): (Node<'_, '_>, &str)| {
        let (prefix, local) = match text.split_once(':') {
            Some((prefix, local)) => (Some(prefix), local),
            None => (None, text),
        };
        let namespace = node.lookup_namespace_uri(prefix).map(str::to_owned);
        (prefix.is_none() || namespace.is_some()).then(|| (namespace, local.to_owned()))
    };
    (left.1.contains(':') || right.1.contains(':'))
        && matches!((expand(left), expand(right)), (Some(one), Some(other)) if one == other)
}

fn differ(node: Node<'_, '_>, expected: String, found: String) -> Difference {
    Difference {
        path: path(node),
        expected,
        found,
    }
}

fn describe(node: Node<'_, '_>) -> String {
    match node.tag_name().namespace() {
        Some(namespace) => format!("<{{{namespace}}}{}>", node.tag_name().name()),
        None => format!("<{}>", node.tag_name().name()),
    }
}

fn path(node: Node<'_, '_>) -> String {
    let mut steps: Vec<String> = node
        .ancestors()
        .filter(Node::is_element)
        .map(|element| {
            let is_namesake = |other: &Node<'_, '_>| other.tag_name() == element.tag_name();
            let name = element.tag_name().name();
            let before = element.prev_siblings().skip(1).filter(is_namesake).count();
            let after = element.next_siblings().skip(1).filter(is_namesake).count();
            match before + after {
                0 => format!("/{name}"),
                _ => format!("/{name}[{}]", before + 1),
            }
        })
        .collect();
    steps.reverse();
    steps.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(expected: &str, found: &str) -> bool {
        compare(expected, found, Rules::Literal).is_ok()
    }

    #[test]
    fn prefixes_white_space_and_comments_mean_nothing() {
        assert!(same(
            "<p:a xmlns:p='urn:x' xmlns:unused='urn:u'>\n <b xmlns=''>t</b><!-- c --></p:a>",
            "<a xmlns='urn:x'><b xmlns=''>t</b></a>"
        ));
        assert!(!same("<a xmlns='urn:x'/>", "<a/>"));
        assert!(!same("<a><b> </b></a>", "<a><b/></a>"));
    }

    #[test]
    fn order_and_number_of_elements_matter() {
        assert!(!same("<a><b/><c/></a>", "<a><c/><b/></a>"));
        let difference = compare("<a><b/><b>1</b></a>", "<a><b/></a>", Rules::Literal);
        let difference = difference.expect_err("one is missing");
        assert_eq!(
            (difference.path.as_str(), difference.found.as_str()),
            ("/a/b[2]", "nothing")
        );
    }

    #[test]
    fn one_value_has_many_forms() {
        for (one, other) in [
            ("1.50", "1.5"),
            ("1E2", "100.0"),
            ("true", "1"),
            ("2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00"),
        ] {
            assert!(
                same(&format!("<a>{one}</a>"), &format!("<a>{other}</a>")),
                "{one}"
            );
        }
        for (one, other) in [
            ("-0.0E0", "0.0E0"),
            ("12345678901234567891", "12345678901234567892"),
            ("a", "A"),
        ] {
            assert!(
                !same(&format!("<a>{one}</a>"), &format!("<a>{other}</a>")),
                "{one}"
            );
        }
        assert!(same(
            "<a xmlns:p='urn:x'>p:n</a>",
            "<a xmlns:q='urn:x'>q:n</a>"
        ));
        assert!(!same(
            "<a xmlns:p='urn:x'>p:n</a>",
            "<a xmlns:q='urn:y'>q:n</a>"
        ));
    }

    #[test]
    fn types_are_compared_where_both_state_them_and_the_message_is_literal() {
        let typed = |name: &str| {
            format!("<a xmlns:i='{XSI_NAMESPACE}' xmlns:p='urn:x' i:type='p:{name}'/>")
        };
        assert!(same(
            &typed("T"),
            &typed("T").replace("p:T", "q:T").replace(":p=", ":q=")
        ));
        assert!(same(&typed("T"), "<a/>") && same("<a/>", &typed("T")));
        assert!(!same(&typed("T"), &typed("U")));
        assert_eq!(compare(&typed("T"), &typed("U"), Rules::Encoded), Ok(()));
    }

    #[test]
    fn deep_messages_are_no_deeper_a_recursion() {
        let deep = format!("{}{}", "<a>".repeat(900), "</a>".repeat(900));
        assert!(same(&deep, &deep));
    }
}
