//! Whether an endpoint uses WS-Addressing: the extension element `UsingAddressing`, or an assertion of that meaning in a policy.
//! (WS-Addressing 1.0 - Metadata §3; WS-Addressing 1.0 - WSDL Binding, Candidate Recommendation of 2006, §3.1)
//!
//! ```xml
//! <wsdl:binding …> <wsaw:UsingAddressing wsdl:required="true"/> … </wsdl:binding>
//! <wsp:Policy> <wsam:Addressing> <wsp:Policy> <wsam:AnonymousResponses/> </wsp:Policy> </wsam:Addressing> </wsp:Policy>
//! ```

use roxmltree::Node;

use super::assertion::{is_optional, is_true};
use crate::definitions::{AddressingVersion, ResponseEndpoints, UsingAddressing};
use crate::name::WSDL_NAMESPACE;

/// The namespace of the metadata of the Recommendation.
const METADATA: &str = "http://www.w3.org/2007/05/addressing/metadata";
/// The namespaces of the extension element `UsingAddressing`, which is a policy assertion, too.
const USING: [&str; 3] = [
    "http://www.w3.org/2006/05/addressing/wsdl",
    "http://www.w3.org/2006/02/addressing/wsdl",
    "http://www.w3.org/2005/02/addressing/wsdl",
];
/// The namespace of the policy assertion for the member submission of 2004.
const SUBMISSION_POLICY: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing/policy";

/// True if it is the extension element that says that WS-Addressing is used.
pub(super) fn is_using_addressing(node: Node<'_, '_>) -> bool {
    let namespace = node.tag_name().namespace().unwrap_or_default();
    node.tag_name().name() == "UsingAddressing" && USING.contains(&namespace)
}

/// What `wsaw:Anonymous` of a binding's operation says about the endpoints for answers.
pub(super) fn anonymous(operation: Node<'_, '_>) -> Option<ResponseEndpoints> {
    let element = operation.children().find(|child| {
        let namespace = child.tag_name().namespace().unwrap_or_default();
        child.tag_name().name() == "Anonymous" && USING.contains(&namespace)
    })?;
    Some(match element.text().map(str::trim) {
        Some("required") => ResponseEndpoints::Anonymous,
        Some("prohibited") => ResponseEndpoints::NonAnonymous,
        _ => ResponseEndpoints::Any,
    })
}

/// What a binding or a port says about WS-Addressing, by its extension elements and by its policies. `None` if it says nothing.
pub(super) fn of(
    node: Node<'_, '_>,
    by_policy: Option<UsingAddressing>,
) -> Option<UsingAddressing> {
    let element = node.children().find(|child| is_using_addressing(*child));
    let by_element = element.map(|element| UsingAddressing {
        version: AddressingVersion::Recommendation,
        is_required: is_true(element.attribute((WSDL_NAMESPACE, "required"))),
        responses: ResponseEndpoints::Any,
    });
    match (by_element, by_policy) {
        (Some(element), Some(policy)) => Some(UsingAddressing {
            is_required: element.is_required || policy.is_required,
            ..policy
        }),
        (element, policy) => element.or(policy),
    }
}

/// What a policy says about WS-Addressing.
pub(super) fn of_policy(policy: Node<'_, '_>) -> Option<UsingAddressing> {
    let version = |node: Node<'_, '_>| match (node.tag_name().namespace()?, node.tag_name().name())
    {
        (METADATA, "Addressing") => Some(AddressingVersion::Recommendation),
        (SUBMISSION_POLICY, "UsingAddressing") => Some(AddressingVersion::Submission),
        _ => is_using_addressing(node).then_some(AddressingVersion::Recommendation),
    };
    let mut nodes = policy.descendants().filter(Node::is_element);
    let (assertion, version) = nodes.find_map(|node| Some((node, version(node)?)))?;
    let has = |local: &str| {
        let mut nested = assertion.descendants();
        nested.any(|node| node.has_tag_name((METADATA, local)))
    };
    let responses = match (has("AnonymousResponses"), has("NonAnonymousResponses")) {
        (true, false) => ResponseEndpoints::Anonymous,
        (false, true) => ResponseEndpoints::NonAnonymous,
        _ => ResponseEndpoints::Any,
    };
    Some(UsingAddressing {
        version,
        is_required: !is_optional(assertion, policy),
        responses,
    })
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    const POLICY: &str = "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:m='http://www.w3.org/2007/05/addressing/metadata' xmlns:w='http://www.w3.org/2006/05/addressing/wsdl' xmlns:s='http://schemas.xmlsoap.org/ws/2004/08/addressing/policy'>";

    fn using(content: &str) -> Option<(AddressingVersion, bool, ResponseEndpoints)> {
        let xml = format!("{POLICY}{content}</p:Policy>");
        let document = Document::parse(&xml).expect("XML");
        let found = of_policy(document.root_element())?;
        Some((found.version, found.is_required, found.responses))
    }

    #[test]
    fn an_operation_says_where_its_answers_may_go() {
        for (content, expected) in [
            ("required", Some(ResponseEndpoints::Anonymous)),
            (" prohibited ", Some(ResponseEndpoints::NonAnonymous)),
            ("optional", Some(ResponseEndpoints::Any)),
        ] {
            let xml = format!(
                "<o><a xmlns='{}'/><Anonymous xmlns='{}'>{content}</Anonymous></o>",
                METADATA, USING[0]
            );
            let document = Document::parse(&xml).expect("XML");
            assert_eq!(anonymous(document.root_element()), expected, "{content}");
        }
        let document = Document::parse("<o><Anonymous>required</Anonymous></o>").expect("XML");
        assert_eq!(anonymous(document.root_element()), None);
    }

    #[test]
    fn a_policy_says_whether_addressing_is_used() {
        use AddressingVersion::{Recommendation, Submission};
        use ResponseEndpoints::{Anonymous, Any, NonAnonymous};
        for (content, expected) in [
            ("<m:Other/>", None),
            ("<m:Addressing/>", Some((Recommendation, true, Any))),
            (
                "<m:Addressing p:Optional='true'/>",
                Some((Recommendation, false, Any)),
            ),
            (
                "<p:ExactlyOne><p:All><m:Addressing><p:Policy><m:AnonymousResponses/></p:Policy></m:Addressing></p:All></p:ExactlyOne>",
                Some((Recommendation, true, Anonymous)),
            ),
            (
                "<p:ExactlyOne><p:All><m:Addressing><p:Policy><m:NonAnonymousResponses/></p:Policy></m:Addressing></p:All><p:All/></p:ExactlyOne>",
                Some((Recommendation, false, NonAnonymous)),
            ),
            ("<w:UsingAddressing/>", Some((Recommendation, true, Any))),
            ("<s:UsingAddressing/>", Some((Submission, true, Any))),
        ] {
            assert_eq!(using(content), expected, "{content}");
        }
    }
}
