//! Reads the components of one WSDL document.

use std::cell::RefCell;
use std::sync::Arc;

use foldhash::{HashSet, HashSetExt as _};
use indexmap::IndexMap;
use indexmap::map::Entry;
use roxmltree::Node;

use super::{
    PartContent, RawMessage, RawOperation, RawPart, RawPort, RawPortType, RawService, Use, Wsdl,
    addressing, policy, soap, version2,
};
use crate::components::SchemaSet;
use crate::definitions::TransmissionKind;
use crate::document::{Position, place_of, place_of_value};
use crate::name::{WSDL_NAMESPACE, WSDL2_NAMESPACE, XSD_NAMESPACE, draft_of, name_since_draft};
use crate::names::Names;
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

/// The namespace of the attribute `safe`. (WSDL 2.0 Part 2 §3.1)
const SAFE_NAMESPACE: &str = "http://www.w3.org/ns/wsdl-extensions";

/// The namespaces of attributes with a WS-Addressing action, newest first.
const ACTION_NAMESPACES: [&str; 4] = [
    "http://www.w3.org/2007/05/addressing/metadata",
    "http://www.w3.org/2006/05/addressing/wsdl",
    "http://www.w3.org/2005/02/addressing/wsdl",
    "http://schemas.xmlsoap.org/ws/2004/08/addressing",
];

/// The imports of a WSDL document and the schemas in it.
#[derive(Debug, Default)]
pub(crate) struct Imports<'a, 'input> {
    /// `wsdl:import`: namespace, location, place.
    pub(crate) documents: Vec<(Option<String>, String, Position)>,
    /// The schemas of `wsdl:types`.
    pub(crate) schemas: Vec<Node<'a, 'input>>,
}

/// The name, namespace and documentation of a document.
#[derive(Debug, Default)]
pub(crate) struct DocumentHead {
    pub(crate) name: Option<String>,
    pub(crate) target_namespace: String,
    pub(crate) is_schema: bool,
    pub(crate) documentation: Option<String>,
}

/// Reads `root`, the `wsdl:definitions` or the `wsdl:description` of document number `document`, into `wsdl`.
///
/// # Errors
/// If a name is missing or undefined, a component is defined twice, or the budget of loading is used up.
pub(crate) fn read<'a, 'input>(
    wsdl: &mut Wsdl,
    document: u32,
    root: Node<'a, 'input>,
    schemas: &SchemaSet,
    names: &mut Names,
) -> Result<(DocumentHead, Imports<'a, 'input>)> {
    let target_namespace = root.attribute("targetNamespace").unwrap_or("").trim();
    let target_namespace = names.intern(target_namespace);
    wsdl.namespaces.insert(target_namespace.clone());
    if target_namespace.is_empty() {
        wsdl.note(
            Some(place_of(document, root)),
            "the WSDL has no targetNamespace; its components are in no namespace",
        );
    }
    let reader = WsdlReader {
        document,
        schemas,
        names: RefCell::new(names),
        target_namespace: target_namespace.clone(),
        is_strict: wsdl.is_strict,
        is_version2: root.tag_name().namespace() == Some(WSDL2_NAMESPACE),
    };
    let mut imports = Imports::default();
    for child in root.children().filter(Node::is_element) {
        if !is_wsdl(child) {
            match is_import_without_namespace(child) && !wsdl.is_strict {
                true => {
                    reader.import(&mut imports, child, "location");
                    let note = "an import in no namespace is read as wsdl:import";
                    wsdl.note(Some(reader.place(child)), note);
                }
                false => reader.extension(wsdl, child),
            }
            continue;
        }
        let read = match reader.is_version2 {
            true => version2::component(&reader, wsdl, &mut imports, child),
            false => reader.component(wsdl, &mut imports, child),
        };
        match read {
            // Whatever refers to it is ignored too, or an error.
            Err(error) if !wsdl.is_strict && !matches!(error.kind(), ErrorKind::Limit { .. }) => {
                let name = match child.attribute("name") {
                    Some(name) => format!(" {name:?}"),
                    None => String::new(),
                };
                let message = format!(
                    "wsdl:{}{name} is ignored: {}",
                    child.tag_name().name(),
                    error.kind()
                );
                wsdl.note(Some(reader.place(child)), message);
            }
            done => done?,
        }
    }
    let name = root.attribute("name").map(str::to_owned);
    Ok((
        DocumentHead {
            name,
            is_schema: false,
            documentation: documentation(root),
            target_namespace: target_namespace.to_string(),
        },
        imports,
    ))
}

/// True if it looks like `wsdl:import`, without its namespace.
fn is_import_without_namespace(node: Node<'_, '_>) -> bool {
    let name = node.tag_name();
    name.name() == "import" && name.namespace().is_none() && node.has_attribute("location")
}

/// Reads one document.
pub(super) struct WsdlReader<'a> {
    pub(super) document: u32,
    pub(super) schemas: &'a SchemaSet,
    pub(super) names: RefCell<&'a mut Names>,
    pub(super) target_namespace: Arc<str>,
    pub(super) is_strict: bool,
    is_version2: bool,
}

impl WsdlReader<'_> {
    /// Adds a component to `wsdl`, or an import or schema to `imports`.
    fn component<'n, 'input>(
        &self,
        wsdl: &mut Wsdl,
        imports: &mut Imports<'n, 'input>,
        child: Node<'n, 'input>,
    ) -> Result<()> {
        match child.tag_name().name() {
            "import" => self.import(imports, child, "location"),
            "types" => imports.schemas.extend(
                child
                    .children()
                    .filter(|node| node.has_tag_name_local("schema")),
            ),
            "message" => {
                let (name, message) = self.message(child)?;
                self.define(
                    wsdl,
                    |wsdl| &mut wsdl.messages,
                    Sort::Message,
                    name,
                    child,
                    message,
                )?;
            }
            "portType" => {
                let (name, port_type) = self.port_type(wsdl, child)?;
                self.define(
                    wsdl,
                    |wsdl| &mut wsdl.port_types,
                    Sort::PortType,
                    name,
                    child,
                    port_type,
                )?;
            }
            "binding" => {
                let binding = soap::read_binding(self, wsdl, child)?;
                self.define(
                    wsdl,
                    |wsdl| &mut wsdl.bindings,
                    Sort::Binding,
                    binding.name.clone(),
                    child,
                    binding,
                )?;
            }
            "service" => self.service(wsdl, child)?,
            "documentation" => {}
            other => wsdl.note(
                Some(self.place(child)),
                format!("wsdl:{other} is not an element of WSDL 1.1; it is ignored"),
            ),
        }
        Ok(())
    }

    pub(super) fn place(&self, node: Node<'_, '_>) -> Position {
        place_of(self.document, node)
    }

    /// The value of a required attribute.
    pub(super) fn required(&self, node: Node<'_, '_>, attribute: &'static str) -> Result<String> {
        match node.attribute(attribute) {
            Some(value) => Ok(value.trim().to_owned()),
            None => {
                let problem = format!(
                    "wsdl:{} has no attribute {attribute}",
                    node.tag_name().name()
                );
                let rule = match self.is_version2 {
                    true => "WSDL 2.0 Part 1 §2",
                    false => "WSDL 1.1 §2.1",
                };
                Err(self.error(ErrorKind::Rule { rule, problem }, self.place(node)))
            }
        }
    }

    pub(super) fn error(&self, kind: ErrorKind, place: Position) -> Error {
        Error::new(kind).at(self.schemas.documents().spell(place))
    }

    /// Takes work from the budget of loading.
    pub(super) fn charge(&self, units: usize, node: Node<'_, '_>) -> Result<()> {
        self.schemas.charge(units, self.place(node))
    }

    /// Adds a component. If its name is defined already, the first definition is kept.
    fn define<T>(
        &self,
        wsdl: &mut Wsdl,
        map: impl Fn(&mut Wsdl) -> &mut IndexMap<ExpandedName, T>,
        sort: Sort,
        name: ExpandedName,
        node: Node<'_, '_>,
        value: T,
    ) -> Result<()> {
        match map(wsdl).entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(value);
                Ok(())
            }
            Entry::Occupied(entry) => {
                let name = entry.key().clone();
                self.duplicate(wsdl, sort, name, node)
            }
        }
    }

    pub(super) fn duplicate(
        &self,
        wsdl: &mut Wsdl,
        sort: Sort,
        name: ExpandedName,
        node: Node<'_, '_>,
    ) -> Result<()> {
        if wsdl.is_strict {
            return Err(self.error(ErrorKind::Duplicate { sort, name }, self.place(node)));
        }
        wsdl.note(
            Some(self.place(node)),
            format!("{sort} \"{name}\" is defined twice; the first definition is used"),
        );
        Ok(())
    }

    pub(super) fn import(
        &self,
        imports: &mut Imports<'_, '_>,
        node: Node<'_, '_>,
        attribute: &'static str,
    ) {
        // An import without a location is ignored; if it was needed, a name will be undefined.
        if let Some(location) = node.attribute(attribute) {
            let namespace = node.attribute("namespace").map(str::to_owned);
            imports.documents.push((
                namespace,
                location.trim().to_owned(),
                place_of_value(self.document, node, attribute),
            ));
        }
    }

    /// An element of another namespace is ignored, with a note if it is marked as required.
    pub(super) fn extension(&self, wsdl: &mut Wsdl, node: Node<'_, '_>) {
        let required = [WSDL_NAMESPACE, WSDL2_NAMESPACE]
            .iter()
            .find_map(|&namespace| node.attribute((namespace, "required")));
        if matches!(required.map(str::trim), Some("true" | "1")) {
            let name = ExpandedName::new(
                node.tag_name().namespace().unwrap_or(""),
                node.tag_name().name(),
            );
            wsdl.note(
                Some(self.place(node)),
                format!("the extension \"{name}\" is marked as required but not supported; it is ignored"),
            );
        }
    }

    fn message(&self, node: Node<'_, '_>) -> Result<(ExpandedName, RawMessage)> {
        let name = self.declared_name(node)?;
        let parts = wsdl_children(node, "part")
            .map(|part| self.part(part))
            .collect::<Result<Vec<_>>>()?;
        let mut names = HashSet::with_capacity(parts.len());
        for part in &parts {
            if !names.insert(part.name.as_str()) {
                let name = ExpandedName::new("", part.name.as_str());
                return Err(self.error(
                    ErrorKind::Duplicate {
                        sort: Sort::Part,
                        name,
                    },
                    part.place,
                ));
            }
        }
        Ok((name, RawMessage { parts }))
    }

    fn part(&self, node: Node<'_, '_>) -> Result<RawPart> {
        let is_ours = |name: &str| matches!(name, "name" | "element" | "type");
        let mut stray = node
            .attributes()
            .filter(|one| one.namespace().is_none() && !is_ours(one.name()));
        if let Some(stray) = stray.next().filter(|_| self.is_strict) {
            let problem = format!("wsdl:part must not have an attribute {}", stray.name());
            return Err(self.error(
                ErrorKind::Rule {
                    rule: "WSDL 1.1 §2.3",
                    problem,
                },
                self.place(node),
            ));
        }
        let content = match (node.attribute("element"), node.attribute("type")) {
            (Some(_), _) => PartContent::Element(self.reference(node, "element")?),
            (None, Some(_)) => {
                let mut reference = self.reference(node, "type")?;
                // Some built-in types of the drafts have other names.
                if draft_of(&reference.name.namespace).is_some() {
                    let local = name_since_draft(&reference.name.local);
                    reference.name = self.expanded(XSD_NAMESPACE, local, reference.place)?;
                }
                PartContent::Type(reference)
            }
            (None, None) => PartContent::Neither,
        };
        Ok(RawPart {
            name: self.required(node, "name")?,
            content,
            place: self.place(node),
        })
    }

    fn port_type(
        &self,
        wsdl: &mut Wsdl,
        node: Node<'_, '_>,
    ) -> Result<(ExpandedName, RawPortType)> {
        let name = self.declared_name(node)?;
        let operations = wsdl_children(node, "operation")
            .map(|one| self.operation(wsdl, one))
            .collect::<Result<_>>()?;
        Ok((name, RawPortType { operations }))
    }

    fn operation(&self, wsdl: &mut Wsdl, node: Node<'_, '_>) -> Result<RawOperation> {
        let mut uses = |local| {
            wsdl_children(node, local)
                .map(|one| self.message_use(wsdl, one))
                .collect::<Result<Vec<_>>>()
        };
        let order: Vec<&str> = node
            .children()
            .filter(|one| is_wsdl(*one))
            .map(|one| one.tag_name().name())
            .collect();
        let (input, output) = (position(&order, "input"), position(&order, "output"));
        let kind = match (input, output) {
            (Some(input), Some(output)) if output < input => TransmissionKind::SolicitResponse,
            (Some(_), Some(_)) => TransmissionKind::RequestResponse,
            (None, Some(_)) => TransmissionKind::Notification,
            _ => TransmissionKind::OneWay,
        };
        let (input, output) = (uses("input")?, uses("output")?);
        let faults = uses("fault")?;
        Ok(RawOperation {
            name: self.required(node, "name")?,
            documentation: documentation(node),
            kind,
            is_safe: is_safe(node),
            input: input.into_iter().next(),
            output: output.into_iter().next(),
            faults,
            policies: policy::of(self, wsdl, node)?.policies,
            place: self.place(node),
        })
    }

    fn message_use(&self, wsdl: &mut Wsdl, node: Node<'_, '_>) -> Result<Use> {
        Ok(Use {
            name: node.attribute("name").map(str::to_owned),
            message: self.reference(node, "message")?,
            action: self.action(node),
            policies: policy::of(self, wsdl, node)?.policies,
            documentation: documentation(node),
        })
    }

    /// The WS-Addressing action of a message.
    pub(super) fn action(&self, node: Node<'_, '_>) -> Option<String> {
        let mut namespaces = ACTION_NAMESPACES.iter();
        let action = namespaces.find_map(|&namespace| node.attribute((namespace, "Action")));
        action.map(|action| action.trim().to_owned())
    }

    fn service(&self, wsdl: &mut Wsdl, node: Node<'_, '_>) -> Result<()> {
        let name = self.own_name(&self.service_name(wsdl, node)?, self.place(node))?;
        if wsdl.services.contains_key(&name) {
            return self.duplicate(wsdl, Sort::Service, name, node);
        }
        let mut ports = Vec::new();
        let of_service = policy::of(self, wsdl, node)?;
        for port in wsdl_children(node, "port") {
            let attached = policy::of(self, wsdl, port)?;
            let attached = attached.and(&of_service, self, port)?;
            for child in port
                .children()
                .filter(|child| child.is_element() && !is_wsdl(*child))
            {
                let is_known = child.has_tag_name_local("address")
                    || policy::is_policy(child)
                    || addressing::is_using_addressing(child);
                if !is_known {
                    self.extension(wsdl, child);
                }
            }
            ports.push(RawPort {
                name: self.required(port, "name")?,
                binding: self.reference(port, "binding")?,
                address: soap::address(port),
                addressing: addressing::of(port, attached.addressing),
                mtom: attached.mtom,
                policies: attached.policies,
                documentation: documentation(port),
                interface: None,
            });
        }
        let service = RawService {
            document: self.document,
            documentation: documentation(node),
            ports,
        };
        wsdl.services.insert(name, service);
        Ok(())
    }
}

impl WsdlReader<'_> {
    /// The name of a service; without one, that of the WSDL, of its first port, or `Service`.
    fn service_name(&self, wsdl: &mut Wsdl, node: Node<'_, '_>) -> Result<String> {
        let is_named = |name: &&str| !name.trim().is_empty();
        if self.is_strict || node.attribute("name").is_some_and(|name| is_named(&name)) {
            return self.required(node, "name");
        }
        let of_wsdl = node.parent().and_then(|root| root.attribute("name"));
        let mut of_ports = wsdl_children(node, "port").filter_map(|port| port.attribute("name"));
        let name = of_wsdl.filter(is_named).or_else(|| of_ports.find(is_named));
        let name = name.unwrap_or("Service").trim().to_owned();
        let note = format!("wsdl:service has no name; it is called {name:?}");
        wsdl.note(Some(self.place(node)), note);
        Ok(name)
    }
}

/// Whether `wsdlx:safe` says that an operation changes nothing.
pub(super) fn is_safe(node: Node<'_, '_>) -> bool {
    let safe = node.attribute((SAFE_NAMESPACE, "safe"));
    matches!(safe.map(str::trim), Some("true" | "1"))
}

fn position(order: &[&str], name: &str) -> Option<usize> {
    order.iter().position(|&one| one == name)
}

pub(super) fn is_wsdl(node: Node<'_, '_>) -> bool {
    let namespace = node.tag_name().namespace();
    node.is_element() && matches!(namespace, Some(WSDL_NAMESPACE | WSDL2_NAMESPACE))
}

/// The child elements with a name in the WSDL namespace.
pub(super) fn wsdl_children<'a, 'input>(
    node: Node<'a, 'input>,
    local: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children()
        .filter(move |child| is_wsdl(*child) && child.tag_name().name() == local)
}

/// The text of `wsdl:documentation`, without the common indentation of its lines and without blank lines around it.
pub(super) fn documentation(node: Node<'_, '_>) -> Option<String> {
    let found = wsdl_children(node, "documentation").next()?;
    let text: String = found
        .descendants()
        .filter(Node::is_text)
        .filter_map(|text| text.text())
        .collect();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let indent = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
    let indent = indent
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let strip = |(index, line): (usize, &&str)| match index {
        0 => line.trim_start().to_owned(),
        _ => line.get(indent..).unwrap_or("").to_owned(),
    };
    let text = lines
        .iter()
        .enumerate()
        .map(strip)
        .collect::<Vec<_>>()
        .join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// `has_tag_name` without the namespace.
pub(super) trait LocalName {
    fn has_tag_name_local(&self, local: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_local(&self, local: &str) -> bool {
        self.is_element() && self.tag_name().name() == local
    }
}
