//! Policies that are attached to ports, services, bindings, their operations and messages. They are kept as XML, and not applied.
//! (Web Services Policy 1.5 - Attachment §4)

use std::collections::hash_map::Entry;
use std::sync::Arc;

use foldhash::{HashMap, HashSet, HashSetExt as _};
use roxmltree::Node;

use super::read::WsdlReader;
use super::{Wsdl, addressing, mtom};
use crate::Result;
use crate::definitions::{Policy, UsingAddressing, UsingMtom};
use crate::work::CHARACTERS_PER_UNIT;

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
    by_id: HashMap<(u32, String), Known>,
}

/// A policy of a document, and what it says.
#[derive(Clone, Debug)]
struct Known {
    xml: Arc<str>,
    addressing: Option<UsingAddressing>,
    mtom: Option<UsingMtom>,
}

impl Known {
    fn new(reader: &WsdlReader<'_>, policy: Node<'_, '_>) -> Result<Self> {
        Ok(Self {
            xml: xml_of(reader, policy)?.into(),
            addressing: addressing::of_policy(policy),
            mtom: mtom::of_policy(policy),
        })
    }
}

/// The policies attached to a component, and what the first that says anything says.
#[derive(Debug, Default)]
pub(super) struct Attached {
    pub(super) policies: Vec<Policy>,
    pub(super) addressing: Option<UsingAddressing>,
    pub(super) mtom: Option<UsingMtom>,
}

impl Attached {
    fn add(&mut self, reference: Option<String>, known: Option<Known>) {
        if let Some(known) = &known {
            self.addressing = self.addressing.or(known.addressing);
            self.mtom = self.mtom.or(known.mtom);
        }
        let xml = known.map(|known| known.xml);
        self.policies.push(Policy { reference, xml });
    }

    /// With those of the component that `node`, the owner of these, is in.
    ///
    /// # Errors
    /// If the budget of loading is used up.
    pub(super) fn and(
        mut self,
        outer: &Self,
        reader: &WsdlReader<'_>,
        node: Node<'_, '_>,
    ) -> Result<Self> {
        reader.charge(cost(&outer.policies), node)?;
        self.policies.extend_from_slice(&outer.policies);
        self.addressing = self.addressing.or(outer.addressing);
        self.mtom = self.mtom.or(outer.mtom);
        Ok(self)
    }
}

/// The units of work of copying these policies: they share their texts, and have references of their own.
pub(crate) fn cost(policies: &[Policy]) -> usize {
    let references = policies.iter().filter_map(|it| it.reference.as_deref());
    let references: usize = references.map(str::len).sum();
    4 * policies.len() + references / CHARACTERS_PER_UNIT
}

impl IdentifiedPolicies {
    /// The policy of a document with this id. `node` is any node of the document.
    fn find(
        &mut self,
        reader: &WsdlReader<'_>,
        node: Node<'_, '_>,
        id: &str,
    ) -> Result<Option<Known>> {
        if self.documents.insert(reader.document) {
            let root = node.document().root_element();
            let mut left: Vec<Node<'_, '_>> = vec![root];
            while let Some(node) = left.pop() {
                // A policy in a policy is a part of it.
                if is_policy(node) && node.tag_name().name() == "Policy" {
                    self.add(reader, node)?;
                    continue;
                }
                left.extend(node.children().filter(Node::is_element));
            }
        }
        Ok(self.by_id.get(&(reader.document, id.to_owned())).cloned())
    }

    fn add(&mut self, reader: &WsdlReader<'_>, policy: Node<'_, '_>) -> Result<()> {
        let attributes = policy.attributes();
        let mut ids = attributes.filter(|one| matches!(one.name(), "Id" | "id"));
        if let Some(id) = ids.next() {
            let id = (reader.document, id.value().trim().to_owned());
            if let Entry::Vacant(entry) = self.by_id.entry(id) {
                entry.insert(Known::new(reader, policy)?);
            }
        }
        Ok(())
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

/// The policies attached to a component: its children, and those that `PolicyURIs` names, each once.
///
/// # Errors
/// If the budget of loading is used up.
pub(super) fn of(reader: &WsdlReader<'_>, wsdl: &mut Wsdl, node: Node<'_, '_>) -> Result<Attached> {
    let mut attached = Attached::default();
    for child in node.children().filter(|child| is_policy(*child)) {
        match child.tag_name().name() {
            "Policy" => attached.add(None, Some(Known::new(reader, child)?)),
            _ => {
                let uri = child.attribute("URI").unwrap_or_default().trim();
                let known = referenced(reader, wsdl, child, uri)?;
                attached.add(Some(uri.to_owned()), known);
            }
        }
    }
    let lists = POLICY_NAMESPACES.iter();
    let lists = lists.filter_map(|&namespace| node.attribute((namespace, "PolicyURIs")));
    let mut seen = HashSet::new();
    for uri in lists.flat_map(str::split_whitespace) {
        if seen.insert(uri) {
            let known = referenced(reader, wsdl, node, uri)?;
            attached.add(Some(uri.to_owned()), known);
        }
    }
    Ok(attached)
}

/// The policy that a URI refers to. Only those of the same document are known.
fn referenced(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    node: Node<'_, '_>,
    uri: &str,
) -> Result<Option<Known>> {
    let id = uri.strip_prefix('#').filter(|id| !id.is_empty());
    let found = match id {
        Some(id) => wsdl.policies.find(reader, node, id)?,
        None => None,
    };
    if found.is_none() {
        let note =
            format!("the policy {uri:?} is not in this document; only its reference is kept");
        wsdl.note(Some(reader.place(node)), note);
    }
    Ok(found)
}

/// The text of an element, with the namespace declarations that it inherits.
///
/// # Errors
/// If the budget of loading is used up: each policy may inherit long declarations.
fn xml_of(reader: &WsdlReader<'_>, node: Node<'_, '_>) -> Result<String> {
    let text = &node.document().input_text()[node.range()];
    reader.charge(1 + text.len() / CHARACTERS_PER_UNIT, node)?;
    let name_length = text[1..].find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
    let (name, rest) = text.split_at(1 + name_length.unwrap_or(text.len() - 1));
    let own = own_prefixes(&rest[..rest.find('>').unwrap_or(rest.len())]);
    let mut xml = name.to_owned();
    for namespace in node.namespaces() {
        let prefix = namespace.name().unwrap_or_default();
        reader.charge(1, node)?;
        if prefix == "xml" || own.contains(prefix) {
            continue;
        }
        let escaped = namespace.uri().matches(['&', '"', '<']).count() * "&quot;".len();
        let length = prefix.len() + namespace.uri().len() + escaped;
        reader.charge(length / CHARACTERS_PER_UNIT, node)?;
        let uri = namespace.uri().replace('&', "&amp;").replace('"', "&quot;");
        let uri = uri.replace('<', "&lt;");
        let colon = if prefix.is_empty() { "" } else { ":" };
        xml.push_str(&format!(" xmlns{colon}{prefix}=\"{uri}\""));
    }
    Ok(xml + rest)
}

/// The prefixes that a tag declares; the empty one is that of the default namespace.
fn own_prefixes(tag: &str) -> HashSet<&str> {
    let declarations = tag.split("xmlns").skip(1);
    let names = declarations.filter_map(|it| it.split_once('='));
    let names = names.map(|(name, _)| name.trim());
    names
        .filter_map(|name| match name {
            "" => Some(""),
            name => name.strip_prefix(':'),
        })
        .collect()
}
