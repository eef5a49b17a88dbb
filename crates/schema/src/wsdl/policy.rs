//! Policies that are attached to bindings, ports and services. They are kept as XML, and not applied.
//! (Web Services Policy 1.5 - Attachment §4)

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
                xml: Some(xml_of(child)),
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
    let policies = node.document().descendants();
    let mut policies = policies.filter(|it| is_policy(*it) && it.tag_name().name() == "Policy");
    let has_id = |policy: &Node<'_, '_>| {
        let mut attributes = policy.attributes();
        attributes.any(|one| matches!(one.name(), "Id" | "id") && Some(one.value().trim()) == id)
    };
    let found = id.and_then(|_| policies.find(has_id));
    if found.is_none() {
        let note =
            format!("the policy {uri:?} is not in this document; only its reference is kept");
        wsdl.note(Some(reader.place(node)), note);
    }
    Policy {
        reference: Some(uri.to_owned()),
        xml: found.map(xml_of),
    }
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
