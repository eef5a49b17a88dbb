//! Policies that are attached to ports, services, bindings, their operations and messages. They are kept as XML, and not applied.
//! (Web Services Policy 1.5 - Attachment §4)

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use roxmltree::Node;

use super::Wsdl;
use super::read::WsdlReader;
use crate::definitions::Policy;

/// The namespaces of the versions of WS-Policy.
const POLICY_NAMESPACES: [&str; 4] = [
    "http://www.w3.org/ns/ws-policy",
    "http://schemas.xmlsoap.org/ws/2004/09/policy",
    "http://www.w3.org/2006/07/ws-policy",
    "http://schemas.xmlsoap.org/ws/2002/12/policy",
];

/// The policies of documents that have an id. What refers to one shares its text: one may be attached to thousands of operations.
#[derive(Debug, Default)]
pub(crate) struct IdentifiedPolicies {
    /// The documents whose policies are known.
    documents: HashSet<u32>,
    by_id: HashMap<(u32, String), Arc<str>>,
}

impl IdentifiedPolicies {
    /// The policy of a document with this id. `node` is any node of the document.
    fn find(&mut self, document: u32, node: Node<'_, '_>, id: &str) -> Option<Arc<str>> {
        if self.documents.insert(document) {
            let root = node.document().root_element();
            let mut left: Vec<Node<'_, '_>> = vec![root];
            while let Some(node) = left.pop() {
                // A policy in a policy is a part of it.
                if is_policy(node) && node.tag_name().name() == "Policy" {
                    self.add(document, node);
                    continue;
                }
                left.extend(node.children().filter(Node::is_element));
            }
        }
        self.by_id.get(&(document, id.to_owned())).cloned()
    }

    fn add(&mut self, document: u32, policy: Node<'_, '_>) {
        let attributes = policy.attributes();
        let mut ids = attributes.filter(|one| matches!(one.name(), "Id" | "id"));
        if let Some(id) = ids.next() {
            let id = (document, id.value().trim().to_owned());
            self.by_id
                .entry(id)
                .or_insert_with(|| xml_of(policy).into());
        }
    }
}

/// True if it is a policy, or a reference to one.
pub(super) fn is_policy(node: Node<'_, '_>) -> bool {
    is_in_policy_namespace(node) && matches!(node.tag_name().name(), "Policy" | "PolicyReference")
}

fn is_in_policy_namespace(node: Node<'_, '_>) -> bool {
    let namespace = node.tag_name().namespace();
    node.is_element() && namespace.is_some_and(|it| POLICY_NAMESPACES.contains(&it))
}

/// The policies attached to a component: its children, and those that `PolicyURIs` names.
pub(super) fn of(reader: &WsdlReader<'_>, wsdl: &mut Wsdl, node: Node<'_, '_>) -> Vec<Policy> {
    let mut policies = Vec::new();
    for child in node.children().filter(|child| is_policy(*child)) {
        match child.tag_name().name() {
            "Policy" => policies.push(Policy {
                reference: None,
                xml: Some(xml_of(child).into()),
            }),
            _ => {
                let uri = child.attribute("URI").unwrap_or_default();
                policies.push(referenced(reader, wsdl, child, uri));
            }
        }
    }
    let lists = POLICY_NAMESPACES.iter();
    let lists = lists.filter_map(|&namespace| node.attribute((namespace, "PolicyURIs")));
    for uri in lists.flat_map(str::split_whitespace) {
        policies.push(referenced(reader, wsdl, node, uri));
    }
    policies
}

/// The policy that a URI refers to. Only those of the same document are known.
fn referenced(reader: &WsdlReader<'_>, wsdl: &mut Wsdl, node: Node<'_, '_>, uri: &str) -> Policy {
    let uri = uri.trim();
    let id = uri.strip_prefix('#').filter(|id| !id.is_empty());
    let document = reader.document;
    let found = id.and_then(|id| wsdl.policies.find(document, node, id));
    if found.is_none() {
        let note =
            format!("the policy {uri:?} is not in this document; only its reference is kept");
        wsdl.note(Some(reader.place(node)), note);
    }
    Policy {
        reference: Some(uri.to_owned()),
        xml: found,
    }
}

/// True if an assertion has `wsp:Optional`, or other alternatives of its policy need not have it.
pub(super) fn is_optional(assertion: Node<'_, '_>) -> bool {
    let mut attributes = assertion.attributes();
    let optional = attributes.find(|one| one.name() == "Optional");
    let is_alternative = |node: Node<'_, '_>| {
        node.tag_name().name() == "ExactlyOne"
            && node.children().filter(Node::is_element).count() > 1
    };
    is_true(optional.map(|one| one.value())) || assertion.ancestors().any(is_alternative)
}

/// The value of a boolean attribute.
pub(super) fn is_true(value: Option<&str>) -> bool {
    matches!(value.map(str::trim), Some("true" | "1"))
}

/// The text of an element, with the namespace declarations that it inherits.
fn xml_of(node: Node<'_, '_>) -> String {
    let text = &node.document().input_text()[node.range()];
    let name_length = text[1..].find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
    let (name, rest) = text.split_at(1 + name_length.unwrap_or(text.len() - 1));
    let tag = &rest[..rest.find('>').unwrap_or(rest.len())];
    let mut xml = name.to_owned();
    for namespace in node.namespaces() {
        let attribute = match namespace.name() {
            Some("xml") => continue,
            Some(prefix) => format!("xmlns:{prefix}"),
            None => "xmlns".to_owned(),
        };
        let mut declared = tag.match_indices(&*attribute);
        let is_declared = declared.any(|(at, _)| {
            let after = tag[at + attribute.len()..].trim_start();
            after.starts_with('=')
        });
        if !is_declared {
            let uri = namespace.uri().replace('&', "&amp;").replace('"', "&quot;");
            let uri = uri.replace('<', "&lt;");
            xml.push_str(&format!(" {attribute}=\"{uri}\""));
        }
    }
    xml + rest
}
