//! Rules on combinations of attributes and children, which `rules.txt` cannot express. (`src-…`)

use roxmltree::Node;

use crate::name::{XSD_NAMESPACE, XSI_NAMESPACE};

use super::Checker;

/// Element, rule, the condition under which the rule is broken, and the message.
type Representation = (
    &'static str,
    &'static str,
    fn(Node<'_, '_>) -> bool,
    &'static str,
);

const REPRESENTATIONS: &[Representation] = &[
    (
        "element",
        "src-element.1",
        has_default_and_fixed,
        "<element> cannot have both default and fixed",
    ),
    (
        "element",
        "src-element.3",
        |node| node.has_attribute("type") && has_child(node, &["simpleType", "complexType"]),
        "<element> cannot have both the attribute type and a type inside",
    ),
    (
        "element",
        "src-element.2.1",
        has_not_name_or_ref,
        "a local <element> must have either name or ref",
    ),
    (
        "element",
        "src-element.2.2",
        |node| {
            is_reference(node)
                && (has_attribute(
                    node,
                    &["type", "nillable", "default", "fixed", "form", "block"],
                ) || has_child(
                    node,
                    &["simpleType", "complexType", "key", "keyref", "unique"],
                ))
        },
        "<element ref=…> can only have minOccurs, maxOccurs and id",
    ),
    (
        "attribute",
        "src-attribute.1",
        has_default_and_fixed,
        "<attribute> cannot have both default and fixed",
    ),
    (
        "attribute",
        "src-attribute.2",
        |node| {
            node.has_attribute("default")
                && trimmed(node, "use").is_some_and(|usage| usage != "optional")
        },
        "<attribute> with a default must have use=\"optional\"",
    ),
    (
        "attribute",
        "src-attribute.4",
        |node| node.has_attribute("type") && has_child(node, &["simpleType"]),
        "<attribute> cannot have both the attribute type and a simpleType inside",
    ),
    (
        "attribute",
        "no-xmlns",
        |node| trimmed(node, "name") == Some("xmlns"),
        "an attribute cannot be named xmlns",
    ),
    (
        "attribute",
        "no-xsi",
        is_in_xsi,
        "attributes of the XMLSchema-instance namespace (xsi) cannot be declared",
    ),
    (
        "attribute",
        "src-attribute.3.1",
        has_not_name_or_ref,
        "a local <attribute> must have either name or ref",
    ),
    (
        "attribute",
        "src-attribute.3.2",
        |node| {
            is_reference(node)
                && (has_attribute(node, &["type", "form"]) || has_child(node, &["simpleType"]))
        },
        "<attribute ref=…> cannot have type, form or a simpleType inside",
    ),
    (
        "restriction",
        "src-simple-type.2",
        |node| {
            is_child_of(node, "simpleType")
                && node.has_attribute("base") == has_child(node, &["simpleType"])
        },
        "<restriction> needs either the attribute base or a simpleType inside",
    ),
    (
        "list",
        "src-simple-type.3",
        |node| node.has_attribute("itemType") == has_child(node, &["simpleType"]),
        "<list> needs either the attribute itemType or a simpleType inside",
    ),
    (
        "union",
        "src-union-memberTypes-or-simpleTypes",
        |node| {
            trimmed(node, "memberTypes").unwrap_or("").is_empty()
                && !has_child(node, &["simpleType"])
        },
        "<union> needs the attribute memberTypes or a simpleType inside",
    ),
    (
        "complexType",
        "schema for schemas",
        |node| {
            has_child(node, &["simpleContent", "complexContent"])
                && has_child(node, &["attribute", "attributeGroup", "anyAttribute"])
        },
        "attributes must be declared inside simpleContent or complexContent, not beside it",
    ),
    (
        "import",
        "src-import",
        |node| node.attribute("namespace") == Some(""),
        "the attribute namespace of <import> must not be empty",
    ),
    (
        "import",
        "src-import.1",
        |node| {
            node.attribute("namespace") != Some("")
                && node
                    .parent_element()
                    .and_then(|schema| schema.attribute("targetNamespace"))
                    == node.attribute("namespace")
        },
        "a schema cannot import its own target namespace",
    ),
    (
        "schema",
        "schema for schemas",
        |node| trimmed(node, "targetNamespace") == Some(""),
        "the attribute targetNamespace must not be empty",
    ),
];

pub(super) fn check(checker: &mut Checker<'_>, node: Node<'_, '_>, name: &'static str) {
    for (element, rule, is_broken, problem) in REPRESENTATIONS {
        if *element == name && is_broken(node) {
            checker.rule(node, rule, *problem);
        }
    }
}

fn has_default_and_fixed(node: Node<'_, '_>) -> bool {
    node.has_attribute("default") && node.has_attribute("fixed")
}

fn has_not_name_or_ref(node: Node<'_, '_>) -> bool {
    !is_child_of(node, "schema") && node.has_attribute("name") == node.has_attribute("ref")
}

fn is_reference(node: Node<'_, '_>) -> bool {
    !is_child_of(node, "schema") && node.has_attribute("ref")
}

/// (§3.2.6, xsi: Not Allowed)
fn is_in_xsi(node: Node<'_, '_>) -> bool {
    let schema = node
        .ancestors()
        .find(|node| node.has_tag_name((XSD_NAMESPACE, "schema")));
    schema.is_some_and(|schema| {
        let form = trimmed(node, "form").or_else(|| trimmed(schema, "attributeFormDefault"));
        node.has_attribute("name")
            && (is_child_of(node, "schema") || form == Some("qualified"))
            && schema.attribute("targetNamespace") == Some(XSI_NAMESPACE)
    })
}

fn is_child_of(node: Node<'_, '_>, name: &str) -> bool {
    node.parent_element()
        .is_some_and(|parent| parent.tag_name().name() == name)
}

fn trimmed<'a>(node: Node<'a, '_>, attribute: &str) -> Option<&'a str> {
    node.attribute(attribute).map(str::trim)
}

fn has_attribute(node: Node<'_, '_>, names: &[&str]) -> bool {
    names.iter().any(|&name| node.has_attribute(name))
}

fn has_child(node: Node<'_, '_>, names: &[&str]) -> bool {
    node.children().any(|child| {
        names
            .iter()
            .any(|&name| child.has_tag_name((XSD_NAMESPACE, name)))
    })
}
