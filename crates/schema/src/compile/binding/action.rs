//! The WS-Addressing actions of messages for which the WSDL states none. (WS-Addressing 1.0 - Metadata §4.4)
//!
//! ```text
//! input, output   namespace / port type / name of the input or output
//! fault           namespace / port type / operation / Fault / name of the fault
//! ```
//!
//! The delimiter is `/`, or `:` if the namespace is a URN; a namespace that ends with it gets no second one.

use super::{Direction, Matched};
use crate::ExpandedName;
use crate::definitions::TransmissionKind;
use crate::wsdl;

/// The action of a request or a response. The `soapAction` of a request is its action, if the WSDL states no other.
pub(super) fn of_message(
    port_type: &ExpandedName,
    (bound, declared): Matched<'_>,
    direction: Direction,
    used: &wsdl::Use,
) -> String {
    let soap_action = bound.soap_action.as_ref();
    let soap_action = soap_action.filter(|it| !it.is_empty() && direction == Direction::Request);
    if let Some(stated) = used.action.as_ref().or(soap_action) {
        return stated.clone();
    }
    let name = used.name.clone().unwrap_or_else(|| {
        let operation = &declared.name;
        match (direction, declared.kind) {
            (Direction::Response, _) => format!("{operation}Response"),
            (Direction::Request, TransmissionKind::OneWay) => operation.clone(),
            (Direction::Request, _) => format!("{operation}Request"),
        }
    });
    default(port_type, &[&name])
}

/// The default action of a message, which ends with these names.
pub(super) fn default(port_type: &ExpandedName, names: &[&str]) -> String {
    let namespace = &*port_type.namespace;
    let is_urn = namespace
        .get(..4)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("urn:"));
    let delimiter = if is_urn { ':' } else { '/' };
    let mut action = namespace.trim_end_matches(delimiter).to_owned();
    for name in std::iter::once(&&*port_type.local).chain(names) {
        action.push(delimiter);
        action.push_str(name);
    }
    action
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_action_is_made_of_names() {
        for (namespace, expected) in [
            (
                "http://example.com/",
                "http://example.com/Tickets/BuyRequest",
            ),
            (
                "http://example.com",
                "http://example.com/Tickets/BuyRequest",
            ),
            ("urn:tickets", "urn:tickets:Tickets:BuyRequest"),
            ("", "/Tickets/BuyRequest"),
        ] {
            let port_type = ExpandedName::new(namespace, "Tickets");
            assert_eq!(default(&port_type, &["BuyRequest"]), expected);
        }
    }
}
