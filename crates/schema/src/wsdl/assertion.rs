//! What all assertions of policies have.

use roxmltree::Node;

/// True if an assertion has `wsp:Optional`, or other alternatives of its policy need not have it.
pub(super) fn is_optional(assertion: Node<'_, '_>, policy: Node<'_, '_>) -> bool {
    let mut attributes = assertion.attributes();
    let optional = attributes.find(|one| one.name() == "Optional");
    let is_alternative = |node: Node<'_, '_>| {
        node.tag_name().name() == "ExactlyOne"
            && node.children().filter(Node::is_element).count() > 1
    };
    let mut within = assertion.ancestors().take_while(|node| *node != policy);
    is_true(optional.map(|one| one.value())) || within.any(is_alternative)
}

/// The value of a boolean attribute.
pub(super) fn is_true(value: Option<&str>) -> bool {
    matches!(value.map(str::trim), Some("true" | "1"))
}
