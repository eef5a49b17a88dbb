//! The SOAP extensions of WSDL: `soap:binding`, `soap:operation`, `soap:body`, `soap:header`, `soap:fault`, `soap:address`,
//! and the MIME parts that may enclose them. (WSDL 1.1 §3 and §5; "WSDL 1.1 Binding Extension for SOAP 1.2")

use foldhash::{HashMap, HashMapExt as _};
use roxmltree::Node;

use super::addressing;
use super::policy;
use super::read::{WsdlReader, documentation, is_wsdl, wsdl_children};
use super::{
    BindingFault, BindingKind, BindingMessage, BindingOperation, RawBinding, SoapBody, SoapHeader,
    Wsdl,
};
use crate::definitions::{MimePart, SoapVersion, Style};
use crate::{ErrorKind, Result};

const MIME_NAMESPACE: &str = "http://schemas.xmlsoap.org/wsdl/mime/";

/// Reads a `wsdl:binding`.
///
/// # Errors
/// If a required attribute is missing or a prefix is undeclared.
pub(super) fn read_binding(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    node: Node<'_, '_>,
) -> Result<RawBinding> {
    let name = reader.declared_name(node)?;
    let (kind, style) = binding_kind(node);
    let is_soap = matches!(kind, BindingKind::Soap { .. });
    if !is_soap && reader.is_strict && node.descendants().any(is_soap_element) {
        let problem = "the binding has soap:operation but no soap:binding".to_owned();
        let kind = ErrorKind::Rule {
            rule: "WSDL 1.1 §3.3",
            problem,
        };
        return Err(reader.error(kind, reader.place(node)));
    }
    for child in node
        .children()
        .filter(|child| child.is_element() && !is_wsdl(*child) && !is_soap_element(*child))
    {
        if policy::is_policy(child) || addressing::is_using_addressing(child) {
            continue;
        }
        reader.extension(wsdl, child);
    }
    let mut operations = Vec::new();
    for operation in wsdl_children(node, "operation") {
        if is_soap {
            operations.push(read_operation(reader, wsdl, operation, style)?);
        }
    }
    let attached = policy::of(reader, wsdl, node)?;
    Ok(RawBinding {
        name,
        port_type: reader.reference(node, "type")?,
        kind,
        operations,
        addressing: addressing::of(node, attached.addressing),
        mtom: attached.mtom,
        policies: attached.policies,
        documentation: documentation(node),
        place: reader.place(node),
    })
}

/// The address of a port, of any SOAP version.
pub(super) fn address(port: Node<'_, '_>) -> Option<String> {
    let found = port
        .children()
        .find(|child| child.is_element() && child.tag_name().name() == "address")?;
    found
        .attribute("location")
        .map(|location| location.trim().to_owned())
}

fn binding_kind(node: Node<'_, '_>) -> (BindingKind, Style) {
    let soap = node.children().find_map(|child| {
        Some((child, soap_version(child)?)).filter(|_| child.tag_name().name() == "binding")
    });
    let Some((soap, version)) = soap else {
        let other = node.children().find(|child| {
            let is_known = policy::is_policy(*child) || addressing::is_using_addressing(*child);
            child.is_element() && !is_wsdl(*child) && !is_known
        });
        let namespace = other
            .and_then(|other| other.tag_name().namespace())
            .unwrap_or("");
        return (BindingKind::Other(namespace.to_owned()), Style::Document);
    };
    let transport = soap.attribute("transport").unwrap_or("").trim().to_owned();
    (
        BindingKind::Soap { version, transport },
        style_of(soap).unwrap_or(Style::Document),
    )
}

fn style_of(node: Node<'_, '_>) -> Option<Style> {
    match node.attribute("style")?.trim() {
        "rpc" => Some(Style::Rpc),
        _ => Some(Style::Document),
    }
}

/// The SOAP version that an extension element belongs to.
fn soap_version(node: Node<'_, '_>) -> Option<SoapVersion> {
    let namespace = node.tag_name().namespace()?;
    [SoapVersion::Soap11, SoapVersion::Soap12]
        .into_iter()
        .find(|version| version.binding_namespace() == namespace)
}

/// Whether it is an extension element of any SOAP version: some bindings mix the element names of 1.1 and 1.2.
fn is_soap_element(node: Node<'_, '_>) -> bool {
    node.is_element() && soap_version(node).is_some()
}

fn soap_child<'a, 'input>(node: Node<'a, 'input>, local: &str) -> Option<Node<'a, 'input>> {
    node.children()
        .find(|child| is_soap_element(*child) && child.tag_name().name() == local)
}

fn read_operation(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    node: Node<'_, '_>,
    default_style: Style,
) -> Result<BindingOperation> {
    let soap = soap_child(node, "operation");
    let mut message = |local| match wsdl_children(node, local).next() {
        Some(message) => read_message(reader, wsdl, message),
        None => Ok(BindingMessage::default()),
    };
    let (input, output) = (message("input")?, message("output")?);
    let faults = wsdl_children(node, "fault").map(|fault| read_fault(reader, wsdl, fault));
    let faults = faults.collect::<Result<_>>()?;
    Ok(BindingOperation {
        name: reader.required(node, "name")?,
        soap_action: soap
            .and_then(|soap| soap.attribute("soapAction"))
            .map(|action| action.trim().to_owned()),
        style: soap.and_then(style_of).unwrap_or(default_style),
        documentation: documentation(node),
        responses: addressing::anonymous(node),
        input,
        output,
        faults,
        policies: policy::of(reader, wsdl, node)?.policies,
        place: reader.place(node),
    })
}

fn read_message(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    node: Node<'_, '_>,
) -> Result<BindingMessage> {
    let mut message = BindingMessage {
        name: node.attribute("name").map(str::to_owned),
        policies: policy::of(reader, wsdl, node)?.policies,
        ..BindingMessage::default()
    };
    let mut attached = HashMap::new();
    // `soap:body` may be inside a `mime:part` of a `mime:multipartRelated`; the other parts are attachments.
    for child in node.descendants().filter(Node::is_element) {
        match child.tag_name().name() {
            "body" if is_soap_element(child) => message.body = read_body(child),
            "header" if is_soap_element(child) => message.headers.push(read_header(reader, child)?),
            "headerfault" if is_soap_element(child) => {
                message.header_faults.push(read_header(reader, child)?);
            }
            "content" if child.tag_name().namespace() == Some(MIME_NAMESPACE) => {
                read_attachment(&mut message.attachments, &mut attached, child);
            }
            _ => {}
        }
    }
    Ok(message)
}

/// A `mime:content`: of one part there may be several, each with another media type. (WSDL 1.1 §5.3)
/// `known`: where the attachments are, by the names of their parts.
fn read_attachment<'a>(
    attachments: &mut Vec<MimePart>,
    known: &mut HashMap<&'a str, usize>,
    node: Node<'a, '_>,
) {
    let Some(name) = node.attribute("part").map(str::trim) else {
        return;
    };
    let media_type = node.attribute("type").map(|it| it.trim().to_owned());
    let at = *known.entry(name).or_insert(attachments.len());
    match attachments.get_mut(at) {
        Some(part) => part.media_types.extend(media_type),
        None => attachments.push(MimePart {
            name: name.to_owned(),
            media_types: media_type.into_iter().collect(),
        }),
    }
}

fn read_body(node: Node<'_, '_>) -> SoapBody {
    SoapBody {
        parts: node
            .attribute("parts")
            .map(|parts| parts.split_whitespace().map(str::to_owned).collect()),
        namespace: node
            .attribute("namespace")
            .map(|namespace| namespace.trim().to_owned()),
        encoded: is_encoded(node),
    }
}

fn is_encoded(node: Node<'_, '_>) -> bool {
    node.attribute("use").map(str::trim) == Some("encoded")
}

fn read_header(reader: &WsdlReader<'_>, node: Node<'_, '_>) -> Result<SoapHeader> {
    Ok(SoapHeader {
        message: reader.reference(node, "message")?,
        part: reader.required(node, "part")?,
        namespace: node
            .attribute("namespace")
            .map(|namespace| namespace.trim().to_owned()),
        encoded: is_encoded(node),
    })
}

fn read_fault(
    reader: &WsdlReader<'_>,
    wsdl: &mut Wsdl,
    node: Node<'_, '_>,
) -> Result<BindingFault> {
    let soap = soap_child(node, "fault");
    let name = node
        .attribute("name")
        .or_else(|| soap?.attribute("name"))
        .unwrap_or("");
    Ok(BindingFault {
        name: name.trim().to_owned(),
        namespace: soap
            .and_then(|soap| soap.attribute("namespace"))
            .map(|namespace| namespace.trim().to_owned()),
        encoded: soap.is_some_and(is_encoded),
        policies: policy::of(reader, wsdl, node)?.policies,
    })
}
