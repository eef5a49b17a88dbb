//! Whether an endpoint uses MTOM: an assertion in its policies.
//! (MTOM Serialization Policy Assertion 1.1, W3C Working Group Note, §2; WS-MTOMPolicy of 2006 §3)
//!
//! ```xml
//! <wsp:Policy> <wsoma:OptimizedMimeSerialization wsp:Optional="true"/> </wsp:Policy>
//! <wsp:Policy> <wsoma:MTOM/> </wsp:Policy>
//! ```

use roxmltree::Node;

use super::assertion::is_optional;
use crate::definitions::UsingMtom;

/// The assertions, by namespace and local name.
const ASSERTIONS: [(&str, &str); 3] = [
    (
        "http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization",
        "OptimizedMimeSerialization",
    ),
    ("http://www.w3.org/2007/08/soap12-mtom-policy", "MTOM"),
    ("http://www.w3.org/2007/11/soap12-mtom-policy", "MTOM"),
];

/// What a policy says about MTOM. `None` if it says nothing.
pub(super) fn of_policy(policy: Node<'_, '_>) -> Option<UsingMtom> {
    let is_assertion = |node: &Node<'_, '_>| ASSERTIONS.iter().any(|&it| node.has_tag_name(it));
    let assertion = policy.descendants().find(is_assertion)?;
    Some(UsingMtom {
        is_required: !is_optional(assertion, policy),
    })
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn a_policy_says_whether_mtom_is_used() {
        let required = |content: &str| {
            let namespaces = "xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:o='http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization' xmlns:m='http://www.w3.org/2007/08/soap12-mtom-policy'";
            let xml = format!("<p:Policy {namespaces}>{content}</p:Policy>");
            let document = Document::parse(&xml).expect("XML");
            of_policy(document.root_element()).map(|found| found.is_required)
        };
        for (content, expected) in [
            ("<p:MTOM/>", None),
            ("<o:OptimizedMimeSerialization/>", Some(true)),
            (
                "<o:OptimizedMimeSerialization p:Optional='true'/>",
                Some(false),
            ),
            ("<m:MTOM/>", Some(true)),
            (
                "<p:ExactlyOne><p:All><m:MTOM/></p:All><p:All/></p:ExactlyOne>",
                Some(false),
            ),
        ] {
            assert_eq!(required(content), expected, "{content}");
        }
    }
}
