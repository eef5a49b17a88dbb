//! Checks the values of attributes in schema documents.

use bsoap_datatypes::Datatype;
use roxmltree::Node;

use crate::name::is_ncname;

/// The kind of an attribute's value.
#[derive(Debug)]
pub(super) struct ValueKind {
    /// Its name in `rules.txt`.
    name: &'static str,
    is_valid: fn(&str, Node<'_, '_>) -> bool,
    expected: &'static str,
}

const fn kind(
    name: &'static str,
    is_valid: fn(&str, Node<'_, '_>) -> bool,
    expected: &'static str,
) -> ValueKind {
    ValueKind {
        name,
        is_valid,
        expected,
    }
}

const KINDS: &[ValueKind] = &[
    kind("Text", |_, _| true, ""),
    kind(
        "AnyUri",
        |text, _| Datatype::AnyUri.check(text).is_ok(),
        "a URI",
    ),
    kind("Name", |text, _| is_ncname(text), "a name without a colon"),
    kind("Id", |text, _| is_ncname(text), "an ID"),
    kind(
        "QualifiedName",
        is_qualified,
        "a name; a prefix must be declared",
    ),
    kind(
        "QualifiedNames",
        |text, node| {
            text.split_ascii_whitespace()
                .all(|name| is_qualified(name, node))
        },
        "a list of names; prefixes must be declared",
    ),
    kind(
        "Boolean",
        |text, _| matches!(text, "true" | "false" | "1" | "0"),
        "true or false",
    ),
    kind("Count", |text, _| is_count(text), "a non-negative integer"),
    kind(
        "MaxOccurs",
        |text, _| text == "unbounded" || is_count(text),
        "a non-negative integer or \"unbounded\"",
    ),
    kind(
        "ZeroOrOne",
        |text, _| is_number(text, &["0", "1"]),
        "0 or 1",
    ),
    kind("One", |text, _| is_number(text, &["1"]), "1"),
    kind(
        "Form",
        |text, _| matches!(text, "qualified" | "unqualified"),
        "qualified or unqualified",
    ),
    kind(
        "Usage",
        |text, _| matches!(text, "optional" | "required" | "prohibited"),
        "optional, required or prohibited",
    ),
    kind(
        "Process",
        |text, _| matches!(text, "strict" | "lax" | "skip"),
        "strict, lax or skip",
    ),
    kind(
        "Namespaces",
        |text, _| is_namespaces(text),
        "##any, ##other or a list of namespaces",
    ),
    // `block` of an element.
    kind(
        "Block",
        |text, _| is_set(text, &["extension", "restriction", "substitution"]),
        "#all or a list of extension, restriction, substitution",
    ),
    // `final` of an element or complex type, `block` of a complex type.
    kind(
        "BlockNoSubstitution",
        |text, _| is_set(text, &["extension", "restriction"]),
        "#all or a list of extension, restriction",
    ),
    kind(
        "SimpleFinal",
        |text, _| is_set(text, &["restriction", "list", "union"]),
        "#all or a list of restriction, list, union",
    ),
    kind(
        "FinalDefault",
        |text, _| is_set(text, &["extension", "restriction", "list", "union"]),
        "#all or a list of extension, restriction, list, union",
    ),
    kind(
        "Selector",
        |text, node| is_selector(text, node, false),
        "a path of child elements",
    ),
    kind(
        "Field",
        |text, node| is_selector(text, node, true),
        "a path of child elements that may end in an attribute",
    ),
];

impl ValueKind {
    /// The kind that `rules.txt` calls so.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Checks a value. The error is the expected form.
    pub(super) fn check(&self, value: &str, node: Node<'_, '_>) -> Result<(), &'static str> {
        match (self.is_valid)(value.trim_matches([' ', '\t', '\r', '\n']), node) {
            true => Ok(()),
            false => Err(self.expected),
        }
    }
}

fn is_count(text: &str) -> bool {
    Datatype::NonNegativeInteger.check(text).is_ok()
}

fn is_number(text: &str, allowed: &[&str]) -> bool {
    let digits = text
        .strip_prefix('+')
        .unwrap_or(text)
        .trim_start_matches('0');
    let digits = if digits.is_empty() && !text.is_empty() {
        "0"
    } else {
        digits
    };
    is_count(text) && allowed.contains(&digits)
}

fn is_qualified(text: &str, node: Node<'_, '_>) -> bool {
    match text.split_once(':') {
        None => is_ncname(text),
        Some((prefix, local)) => {
            is_ncname(prefix)
                && is_ncname(local)
                && (prefix == "xml" || node.lookup_namespace_uri(Some(prefix)).is_some())
        }
    }
}

fn is_namespaces(text: &str) -> bool {
    let one = |token: &str| match token.starts_with("##") {
        true => matches!(token, "##targetNamespace" | "##local"),
        false => Datatype::AnyUri.check(token).is_ok(),
    };
    matches!(text, "##any" | "##other") || text.split_ascii_whitespace().all(one)
}

fn is_set(text: &str, allowed: &[&str]) -> bool {
    text == "#all"
        || text
            .split_ascii_whitespace()
            .all(|token| allowed.contains(&token))
}

/// The paths that selectors and fields may have. (XML Schema Part 1 §3.11.6)
fn is_selector(text: &str, node: Node<'_, '_>, may_end_in_attribute: bool) -> bool {
    text.split('|')
        .all(|path| is_path(path.trim(), node, may_end_in_attribute))
}

fn is_path(path: &str, node: Node<'_, '_>, may_end_in_attribute: bool) -> bool {
    let path: String = path.split_ascii_whitespace().collect();
    let path = path.strip_prefix(".//").unwrap_or(&path);
    let mut steps = path.split('/').peekable();
    while let Some(step) = steps.next() {
        let attribute = step
            .strip_prefix('@')
            .or_else(|| step.strip_prefix("attribute::"));
        let is_step = match attribute {
            Some(name) => {
                may_end_in_attribute && steps.peek().is_none() && is_name_test(name, node)
            }
            None => step == "." || is_name_test(step.strip_prefix("child::").unwrap_or(step), node),
        };
        if !is_step {
            return false;
        }
    }
    true
}

fn is_name_test(text: &str, node: Node<'_, '_>) -> bool {
    match text.strip_suffix(":*") {
        Some(prefix) => is_ncname(prefix) && node.lookup_namespace_uri(Some(prefix)).is_some(),
        None => text == "*" || is_qualified(text, node),
    }
}
