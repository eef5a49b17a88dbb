//! Rules on combinations of attributes and children, which `rules.txt` cannot express. (`src-…`)

use roxmltree::Node;

use crate::name::{XSD_NAMESPACE, XSI_NAMESPACE};

use super::Checker;

pub(super) fn check(checker: &mut Checker<'_>, node: Node<'_, '_>, name: &'static str) {
    match name {
        "element" => element(checker, node),
        "attribute" => attribute(checker, node),
        "restriction" if is_simple(node) => exactly_one(checker, node, "base", "src-simple-type.2"),
        "list" => exactly_one(checker, node, "itemType", "src-simple-type.3"),
        "union" => {
            let has_members = node
                .attribute("memberTypes")
                .is_some_and(|members| !members.trim().is_empty());
            if !has_members && !has(node, "simpleType") {
                checker.rule(
                    node,
                    "src-union-memberTypes-or-simpleTypes",
                    "<union> needs the attribute memberTypes or a simpleType inside",
                );
            }
        }
        "complexType" => {
            let wrapped = has(node, "simpleContent") || has(node, "complexContent");
            if wrapped
                && (has(node, "attribute")
                    || has(node, "attributeGroup")
                    || has(node, "anyAttribute"))
            {
                checker.rule(
                    node,
                    "schema for schemas",
                    "attributes must be declared inside simpleContent or complexContent, not beside it",
                );
            }
        }
        "import" => import(checker, node),
        "schema"
            if node
                .attribute("targetNamespace")
                .is_some_and(|target| target.trim().is_empty()) =>
        {
            checker.rule(
                node,
                "schema for schemas",
                "the attribute targetNamespace must not be empty",
            );
        }
        _ => {}
    }
}

fn element(checker: &mut Checker<'_>, node: Node<'_, '_>) {
    let is_global = node
        .parent_element()
        .is_some_and(|parent| parent.tag_name().name() == "schema");
    if node.has_attribute("default") && node.has_attribute("fixed") {
        checker.rule(
            node,
            "src-element.1",
            "<element> cannot have both default and fixed",
        );
    }
    if node.has_attribute("type") && (has(node, "simpleType") || has(node, "complexType")) {
        checker.rule(
            node,
            "src-element.3",
            "<element> cannot have both the attribute type and a type inside",
        );
    }
    if is_global {
        return;
    }
    if node.has_attribute("name") == node.has_attribute("ref") {
        checker.rule(
            node,
            "src-element.2.1",
            "a local <element> must have either name or ref",
        );
    }
    if node.has_attribute("ref") {
        let excess = ["type", "nillable", "default", "fixed", "form", "block"]
            .iter()
            .any(|&attribute| node.has_attribute(attribute));
        let children = ["simpleType", "complexType", "key", "keyref", "unique"]
            .iter()
            .any(|&child| has(node, child));
        if excess || children {
            checker.rule(
                node,
                "src-element.2.2",
                "<element ref=…> can only have minOccurs, maxOccurs and id",
            );
        }
    }
}

fn attribute(checker: &mut Checker<'_>, node: Node<'_, '_>) {
    let is_global = node
        .parent_element()
        .is_some_and(|parent| parent.tag_name().name() == "schema");
    if node.has_attribute("default") && node.has_attribute("fixed") {
        checker.rule(
            node,
            "src-attribute.1",
            "<attribute> cannot have both default and fixed",
        );
    }
    if node.has_attribute("default")
        && node
            .attribute("use")
            .is_some_and(|usage| usage.trim() != "optional")
    {
        checker.rule(
            node,
            "src-attribute.2",
            "<attribute> with a default must have use=\"optional\"",
        );
    }
    if node.has_attribute("type") && has(node, "simpleType") {
        checker.rule(
            node,
            "src-attribute.4",
            "<attribute> cannot have both the attribute type and a simpleType inside",
        );
    }
    if node
        .attribute("name")
        .is_some_and(|name| name.trim() == "xmlns")
    {
        checker.rule(node, "no-xmlns", "an attribute cannot be named xmlns");
    }
    check_not_xsi(checker, node, is_global);
    if is_global {
        return;
    }
    if node.has_attribute("name") == node.has_attribute("ref") {
        checker.rule(
            node,
            "src-attribute.3.1",
            "a local <attribute> must have either name or ref",
        );
    }
    if node.has_attribute("ref")
        && (node.has_attribute("type") || node.has_attribute("form") || has(node, "simpleType"))
    {
        checker.rule(
            node,
            "src-attribute.3.2",
            "<attribute ref=…> cannot have type, form or a simpleType inside",
        );
    }
}

/// (§3.2.6, xsi: Not Allowed)
fn check_not_xsi(checker: &mut Checker<'_>, node: Node<'_, '_>, is_global: bool) {
    let schema = node
        .ancestors()
        .find(|node| node.has_tag_name((XSD_NAMESPACE, "schema")));
    let Some(schema) = schema.filter(|_| node.has_attribute("name")) else {
        return;
    };
    let form = node
        .attribute("form")
        .or(schema.attribute("attributeFormDefault"));
    let is_in_target = is_global || form.is_some_and(|form| form.trim() == "qualified");
    if is_in_target && schema.attribute("targetNamespace") == Some(XSI_NAMESPACE) {
        checker.rule(
            node,
            "no-xsi",
            "attributes of the XMLSchema-instance namespace (xsi) cannot be declared",
        );
    }
}

/// An import brings another namespace. (src-import.1)
fn import(checker: &mut Checker<'_>, node: Node<'_, '_>) {
    let target = node
        .parent_element()
        .and_then(|schema| schema.attribute("targetNamespace"));
    match node.attribute("namespace") {
        Some("") => checker.rule(
            node,
            "src-import",
            "the attribute namespace of <import> must not be empty",
        ),
        namespace if namespace == target => checker.rule(
            node,
            "src-import.1",
            "a schema cannot import its own target namespace",
        ),
        _ => {}
    }
}

/// A type named by an attribute or defined inside, not both.
fn exactly_one(checker: &mut Checker<'_>, node: Node<'_, '_>, attribute: &str, rule: &'static str) {
    if node.has_attribute(attribute) == has(node, "simpleType") {
        checker.rule(
            node,
            rule,
            format!(
                "<{}> needs either the attribute {attribute} or a simpleType inside",
                node.tag_name().name()
            ),
        );
    }
}

fn is_simple(restriction: Node<'_, '_>) -> bool {
    restriction
        .parent_element()
        .is_some_and(|parent| parent.tag_name().name() == "simpleType")
}

fn has(node: Node<'_, '_>, child: &str) -> bool {
    node.children()
        .any(|one| one.is_element() && one.has_tag_name((XSD_NAMESPACE, child)))
}
