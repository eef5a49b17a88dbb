//! Whether an endpoint uses MTOM: an assertion in its policies.
//! (MTOM Serialization Policy Assertion 1.1, W3C Working Group Note, §2; WS-MTOMPolicy of 2006 §3)
//!
//! ```xml
//! <wsp:Policy> <wsoma:OptimizedMimeSerialization wsp:Optional="true"/> </wsp:Policy>
//! <wsp:Policy> <wsoma:MTOM/> </wsp:Policy>
//! ```

use roxmltree::{Document, Node};

use super::policy::is_optional;
use crate::definitions::{Policy, UsingMtom};

/// The assertions, by namespace and local name.
const ASSERTIONS: [(&str, &str); 3] = [
    (
        "http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization",
        "OptimizedMimeSerialization",
    ),
    ("http://www.w3.org/2007/08/soap12-mtom-policy", "MTOM"),
    ("http://www.w3.org/2007/11/soap12-mtom-policy", "MTOM"),
];

/// What the policies of a binding or a port say about MTOM. `None` if they say nothing.
pub(super) fn of(policies: &[Policy]) -> Option<UsingMtom> {
    let mut texts = policies.iter().filter_map(|policy| policy.xml.as_deref());
    texts.find_map(of_policy)
}

fn of_policy(xml: &str) -> Option<UsingMtom> {
    if !ASSERTIONS.iter().any(|(_, local)| xml.contains(local)) {
        return None;
    }
    let document = Document::parse(xml).ok()?;
    let is_assertion = |node: &Node<'_, '_>| ASSERTIONS.iter().any(|&it| node.has_tag_name(it));
    let assertion = document.descendants().find(is_assertion)?;
    Some(UsingMtom {
        is_required: !is_optional(assertion),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_says_whether_mtom_is_used() {
        let required = |content: &str| {
            let namespaces = "xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:o='http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization' xmlns:m='http://www.w3.org/2007/08/soap12-mtom-policy'";
            of_policy(&format!("<p:Policy {namespaces}>{content}</p:Policy>"))
                .map(|found| found.is_required)
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
        assert_eq!(of_policy("MTOM, and no XML"), None);
    }
}
