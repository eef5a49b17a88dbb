//! Checks the values of attributes in schema documents.

use bsoap_datatypes::Datatype;
use roxmltree::Node;

use crate::name::is_ncname;

/// What an attribute's value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Text,
    AnyUri,
    Name,
    Id,
    QualifiedName,
    QualifiedNames,
    Boolean,
    Count,
    MaxOccurs,
    ZeroOrOne,
    One,
    Form,
    Usage,
    Process,
    Namespaces,
    /// `block` of an element.
    Block,
    /// `final` of an element or complex type, `block` of a complex type.
    BlockNoSubstitution,
    /// `final` of a simple type, `finalDefault`.
    SimpleFinal,
    Selector,
    Field,
}

impl Sort {
    /// The sort that the grammar calls so.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Text" => Self::Text,
            "AnyUri" => Self::AnyUri,
            "Name" => Self::Name,
            "Id" => Self::Id,
            "QualifiedName" => Self::QualifiedName,
            "QualifiedNames" => Self::QualifiedNames,
            "Boolean" => Self::Boolean,
            "Count" => Self::Count,
            "MaxOccurs" => Self::MaxOccurs,
            "ZeroOrOne" => Self::ZeroOrOne,
            "One" => Self::One,
            "Form" => Self::Form,
            "Usage" => Self::Usage,
            "Process" => Self::Process,
            "Namespaces" => Self::Namespaces,
            "Block" => Self::Block,
            "BlockNoSubstitution" => Self::BlockNoSubstitution,
            "SimpleFinal" => Self::SimpleFinal,
            "Selector" => Self::Selector,
            "Field" => Self::Field,
            _ => return None,
        })
    }
}

/// Is the value of this sort? If not: what was expected.
pub(super) fn check(sort: Sort, value: &str, node: Node<'_, '_>) -> Result<(), &'static str> {
    let text = value.trim_matches([' ', '\t', '\r', '\n']);
    let one_of = |allowed: &[&str]| allowed.contains(&text);
    let (ok, expected) = match sort {
        Sort::Text => (true, ""),
        Sort::AnyUri => (Datatype::AnyUri.check(text).is_ok(), "a URI"),
        Sort::Name => (is_ncname(text), "a name without a colon"),
        Sort::Id => (is_ncname(text), "an ID"),
        Sort::QualifiedName => (
            is_qualified(text, node),
            "a name; a prefix must be declared",
        ),
        Sort::QualifiedNames => (
            text.split_ascii_whitespace()
                .all(|name| is_qualified(name, node)),
            "a list of names; prefixes must be declared",
        ),
        Sort::Boolean => (one_of(&["true", "false", "1", "0"]), "true or false"),
        Sort::Count => (
            Datatype::NonNegativeInteger.check(text).is_ok(),
            "a non-negative integer",
        ),
        Sort::MaxOccurs => (
            text == "unbounded" || Datatype::NonNegativeInteger.check(text).is_ok(),
            "a non-negative integer or \"unbounded\"",
        ),
        Sort::ZeroOrOne => (is_number(text, &["0", "1"]), "0 or 1"),
        Sort::One => (is_number(text, &["1"]), "1"),
        Sort::Form => (
            one_of(&["qualified", "unqualified"]),
            "qualified or unqualified",
        ),
        Sort::Usage => (
            one_of(&["optional", "required", "prohibited"]),
            "optional, required or prohibited",
        ),
        Sort::Process => (one_of(&["strict", "lax", "skip"]), "strict, lax or skip"),
        Sort::Namespaces => (
            is_namespaces(text),
            "##any, ##other or a list of namespaces",
        ),
        Sort::Block => (
            is_set(text, &["extension", "restriction", "substitution"]),
            "#all or a list of extension, restriction, substitution",
        ),
        Sort::BlockNoSubstitution => (
            is_set(text, &["extension", "restriction"]),
            "#all or a list of extension, restriction",
        ),
        Sort::SimpleFinal => {
            let allowed: &[&str] = match node.tag_name().name() {
                "schema" => &["extension", "restriction", "list", "union"],
                _ => &["restriction", "list", "union"],
            };
            (
                is_set(text, allowed),
                "#all or a list of restriction, list, union",
            )
        }
        Sort::Selector => (is_selector(text, node, false), "a path of child elements"),
        Sort::Field => (
            is_selector(text, node, true),
            "a path of child elements that may end in an attribute",
        ),
    };
    if ok { Ok(()) } else { Err(expected) }
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
    Datatype::NonNegativeInteger.check(text).is_ok() && allowed.contains(&digits)
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
